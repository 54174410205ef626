# The worker that samples is stopped, is to reset while it drains, ends amid events, and is killed.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils;
use Test::More;
use crashing;
use sampling;
use server;

my $node = new_sampled('restart_after_crash = on');

# --- stopped: the stream fills, and nobody waits

my $pid = info($node, 'worker_pid');
my $before = info($node, 'dropped_samples, sample_rate');
kill 'STOP', $pid;
look_up($node, 100000);
kill 'CONT', $pid;
# which of the two depends on how fast the machine is (034_floods.pl)
isnt(info($node, 'dropped_samples, sample_rate'), $before, 'while the worker is stopped events are dropped, or the sample is thinned');
wait_until($node, 'sample_rate > 0 FROM working_set_info', 'it goes on');
# Until it gets its turn the stream is still full; once that is read, nothing more is lost.
my $lost;
eventually(sub {
	my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	$lost = info($node, 'dropped_samples');
	# of a sample that is thin a thousand look-ups may have no page
	eventually(sub {
		look_up($node, 1000);
		return $node->safe_psql('postgres', qq{
			SELECT count(*) FROM working_set_relations(clock_timestamp() - '$moment') WHERE relid = 'pages'::regclass});
	}) or die 'what comes next is not seen';
	return info($node, 'dropped_samples') == $lost;
});
is(info($node, 'dropped_samples'), $lost, 'what comes next is seen, and nothing more is lost');

# --- resets while the worker drains

my $background = in_background($node, 60000);
for (1 .. 50)
{
	$node->safe_psql('postgres', 'SELECT working_set_reset()');
}
$background->finish;
is(info($node, 'dropped_samples >= 0, lookups >= 0, lookups >= hits'), 't|t|t', 'fifty resets under load');
is($node->safe_psql('postgres', q{
	SELECT count(*) FILTER (WHERE NOT predicted_hit_ratio BETWEEN 0 AND 1) FROM working_set_cache_advice}),
	'0', 'leave nothing absurd');

# --- a worker that ends amid events, and its successor

$background = in_background($node, 100000);
$pid = info($node, 'worker_pid');
# no successor comes while the postmaster is stopped, however long we look
my $postmaster = postmaster_pid($node);
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
kill 'STOP', $postmaster;
kill 'TERM', $pid;
my $ended = '';
eventually(sub {
	$ended = $session->query_safe('SELECT worker_pid IS NULL, sample_rate FROM working_set_info');
	return $ended =~ /^t/;
});
kill 'CONT', $postmaster;
$session->quit;
like($ended, qr/^t\|0$/, 'the worker ends, and no page is sampled meanwhile');
$node->poll_query_until('postgres', "SELECT worker_pid <> $pid FROM working_set_info")
  or die 'no new worker';
$background->finish;
look_up($node, 20000);
wait_until($node, 'sample_rate > 0 AND sampled_pages > 20 FROM working_set_info',
	'its successor goes on with the table');
# (it may sample few pages at first, and more after a minute of this)
ok(eventually(sub {
		look_up($node, 20000);
		return $node->safe_psql('postgres', q{
			SELECT predicted_hit_ratio BETWEEN 0.3 AND 0.99 FROM working_set_cache_advice WHERE size_factor = 1}) eq 't';
	}), 'and advises');

# --- killed: the server starts again, and so does the sample

$pid = info($node, 'worker_pid');
kill 'KILL', $pid;
until_true($node, "count(*) > 0 FROM working_set_info WHERE sample_rate > 0 AND worker_pid <> $pid", 'server is not back');
look_up($node, 5000);
wait_until($node, 'sampled_pages > 20 FROM working_set_info', 'killed in the act, it begins anew');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11/, 'no crash but the one that was made');

done_testing();
