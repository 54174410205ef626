# One size of shared_buffers: nothing for a day, then the same one in the view, the card and the command,
# with its worth in query time; and nothing when nobody waits.  Days are copies of the first minutes (past.pm).

use lib 'test/t';
use server;
use past;

my $node = new_server('main', q{
shared_buffers = '16MB'
working_set.break_even = 30
track_io_timing = on
});
$node->command_ok([ 'pgbench', '-i', '-q', '-s', '5', 'postgres' ], '75 MB of accounts');

sub work
{
	my ($seconds) = @_;
	$node->command_ok([ 'pgbench', '-n', '-S', '-c', '2', '-j', '2', '-T', $seconds, 'postgres' ], "two clients look up for $seconds seconds");
	return;
}

sub card
{
	return $node->safe_psql('postgres', 'SELECT working_set()');
}

# ---- the first minute
like(card(), qr/^COLLECTING: .*\nUsual start until then: [^\n]* a quarter of memory [^\n]*\nDo: ask again in \d+ seconds?$/s, 'in the first minute there is no size');
work(62);
wait_for($node, q{status = 'ok' AND read_time_share IS NOT NULL FROM working_set_recommendation}, 'nothing is known');
is(recommendation($node, 'verdict IS NULL, suggested_shared_buffers IS NULL, query_time_saved IS NULL, confidence'), 't|t|t|low',
	'on the first day there is no verdict and no size');
my $low = card();
like($low, qr/^NOT KNOWN YET: shared_buffers 16 MB\nUsual start until then: .*\nConfidence LOW: \d+ seconds seen\n(.*\n)*Do: ask again after \w+ \d\d:\d\d$/, 'the card says when to ask again');
unlike($low, qr/ALTER SYSTEM| -> /, 'and has no command');

# ---- after a week of the same
$node->stop;
# (two clients that look up from the page cache wait for about 7 % of the time, in which a minute's looks
# find from none to nine: so the past has a tenth)
give_past($node, 7, -1, 0.1);
$node->start;
work(5);
wait_for($node, q{status = 'ok' AND confidence = 'high' FROM working_set_recommendation}, 'a week is not enough');
is($node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE predicted_hit_ratio IS NOT NULL) > 0 OR (SELECT expected_hit_ratio IS NULL FROM working_set_recommendation)
	  FROM working_set_cache_advice}), 't', 'a hit ratio is expected where other sizes are known, too');
my ($verdict, $size, $saved, $share) = split /\|/, recommendation($node, 'verdict, suggested_shared_buffers, query_time_saved, read_time_share');
is("$verdict|$size", 'grow|128MB', 'after a week there is a verdict with one size');
cmp_ok($saved, '>', 0.02, 'that saves more than what is worth a restart');
cmp_ok($saved, '<=', $share, 'and not more than reads take');
my $card = card();
like($card, qr/^GROW shared_buffers 16 MB -> 128 MB( \([^)]*\))?\nWorth: reads take [\d.]+ % of query time, then .*\nConfidence HIGH: 7 days seen\n/, 'the card has the size and its worth');
like($card, qr/^Do: ALTER SYSTEM SET shared_buffers = '\Q$size\E';  then restart$/m, 'and the command, of the same size');
like(recommendation($node, 'reason'), qr/^Grow shared_buffers from 16 MB to 128 MB: .*[.] Based on 7 days[;.]/, 'the reason, too');
# (the quarter of an hour so far is short, and counts for the week only)
is($node->safe_psql('postgres', q{
	SELECT bool_and(predicted_read_time_share BETWEEN 0 AND 1 AND worst_read_time_loss BETWEEN -1 AND 1),
	       bool_and(worst_read_time_loss = 0) FILTER (WHERE size_factor = 1),
	       abs(max(predicted_read_time_share) FILTER (WHERE size_factor = 1) - (SELECT read_time_share FROM working_set_recommendation)) < 0.01
	  FROM working_set_cache_advice}), 't|t|t', 'the cache advice has the shares of each size')
  or diag($node->safe_psql('postgres', 'SELECT size_factor, predicted_read_time_share, worst_read_time_loss FROM working_set_cache_advice'));

# ---- how it is set here
$node->append_conf('postgresql.conf', "cluster_name = 'main'");
$node->stop;
command_ok([ 'pg_ctl', '-w', '-D', $node->data_dir, '-l', $node->logfile, '-o', '-c shared_buffers=16MB', 'start' ], 'started with a size');
# (which fills shared buffers again, or else it is FILLING as soon as the worker has seen that)
work(5);
wait_for($node, q{status = 'ok' AND confidence = 'high' FROM working_set_recommendation}, 'nothing is recommended after the restart');
like(card(), qr/^Do: set shared_buffers=128MB where the server is started$/m, 'set on the command line, ALTER SYSTEM does not help');
command_ok([ 'pg_ctl', '-w', '-D', $node->data_dir, 'stop' ], 'stopped');

done_testing();
