# The history: what its rows are; it survives a crash, and a reset forgets it, also on disk.  The
# clocks are the test's, and go on by themselves.  (What is kept over a restart is 008's.)

use lib 'test/t';
use server;
use clock;

my $clock = clock->new(running => 1);
my $node = $clock->new_server(q{
working_set.break_even = 30
working_set.save = 2
shared_buffers = 2048
timezone = 'UTC'
});
my $hot = 'SELECT count(filler) FROM hot \g /dev/null';

# in each second a table is scanned, until there is a recommendation, and a row of it
make_table($node, 'hot', 3000);
$clock->pass(61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
eventually(sub {
	$node->safe_psql('postgres', $hot);
	$clock->let_pass($node, 1);
	return history($node, "max(recommended_cache_bytes) > 3000 * current_setting('block_size')::int") eq 't';
}) or die 'there is no history';

my $rows = history($node, 'count(*)');
cmp_ok($rows, '>=', 1, 'a row for each minute');
is(history($node, q{bool_and(minutes = 1), bool_and(date_trunc('minute', at) = at), bool_and(at <= clock_timestamp()),
	bool_and(hits BETWEEN 0 AND lookups) AND sum(hits) > 0, bool_and(recommended_cache_bytes <= 1.1 * working_set_bytes + current_setting('block_size')::int),
	max(recommended_cache_bytes) > 1000 * current_setting('block_size')::int,
	count(DISTINCT at) = count(*)}), 't|t|t|t|t|t|t', 'which says what there was');
saved($node);

# of a crash no more than the time since the last save is lost
# (read before and after, as it may rise meanwhile)
my $before;
eventually(sub {
	$before = history($node, 'max(recommended_cache_bytes)');
	saved($node);
	return history($node, 'max(recommended_cache_bytes)') eq $before;
});
$node->stop('immediate');
ok(-s $node->data_dir . '/pg_stat/working_set.saved', 'there is a file');
$clock->lend(sub { $node->start });
wait_for($node, 'count(*) > 0 FROM working_set_history', 'history is not loaded');
is(history($node, 'max(recommended_cache_bytes)'), $before, 'the history survives a crash');
$node->stop;

# ---- a reset forgets the history, also that on disk
$clock->lend(sub { $node->start });
wait_for($node, 'count(*) > 0 FROM working_set_history', 'history is not loaded');
$node->safe_psql('postgres', 'SELECT approximate_working_set_size(true)');
cmp_ok(history($node, 'count(*)'), '>', 0, 'forgetting the set keeps the history');
my $reset = $node->safe_psql('postgres', 'SELECT date_trunc(\'minute\', clock_timestamp()) FROM working_set_reset()');
is(history($node, 'count(*)'), 0, 'a reset empties it');
saved($node);
$node->stop('immediate');
$clock->lend(sub { $node->start });
wait_for_worker($node);
is(history($node, "count(*) FILTER (WHERE at < '$reset')"), 0, 'also that on disk');

done_testing();
