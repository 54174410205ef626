# No room for the worker: lookups are counted without it, its absence is told, and when there is
# room it comes.

use lib 'test/t';
use server;

# The server's own launcher of logical replication comes first.
my $node = new_node('main', 'max_worker_processes = 1');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
ok($node->poll_query_until('postgres', q{
	SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'logical replication launcher'}),
	'another worker has the only place');
like(slurp_file($node->logfile),
	qr/LOG:  too many background workers\n.*DETAIL:  Up to 1 background worker can be registered with the current settings\.\n.*HINT:  .*max_worker_processes/,
	'and the log says so');
like(slurp_file($node->logfile),
	qr/LOG:  working_set has no place for its background worker\n.*DETAIL:  .*\n.*HINT:  .*max_worker_processes/,
	'and whose it is');
is(info($node, 'tracking, worker_pid IS NULL, sample_rate'), 't|t|0', 'lookups are counted without the worker');
wait_for($node, q{status = 'stale' FROM working_set_recommendation}, 'a missing worker is not noticed');
is($node->safe_psql('postgres', 'SELECT reason FROM working_set_recommendation'),
	'the background worker is not running; see the server log', 'which is told');

make_table($node, 'first', 2000);
make_table($node, 'second', 1000);
# (in the first seconds; a process that does not get its turn may miss them)
ok(eventually(sub {
		sql($node, q{
			SELECT working_set_reset() \g /dev/null
			SELECT status, computed_at IS NULL FROM working_set_recommendation}) eq 'collecting|t';
	}), 'after a reset it may come, for a moment');
$node->safe_psql('postgres', 'SELECT count(filler) FROM first');
my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
# a time, since it is the age of lookups that is tested
$node->safe_psql('postgres', 'SELECT pg_sleep(4)');
# A window that is as long as the time that has passed, less two seconds, holds the second
# table and not the first, however slow this is: it is made in the moment of asking.
my ($young, $all) = split /\|/, $node->safe_psql('postgres', qq{
	SELECT count(filler) FROM second \\g /dev/null
	SELECT approximate_working_set_size_seconds(extract(epoch FROM clock_timestamp() - '$moment')::int - 2),
	       approximate_working_set_size_seconds(3600)});
about($young, 1000, 300, 'time passes: what is young is told');
about($all, 3000, 600, 'from all that there is');
wait_for($node, 'approximate_working_set_size_seconds(1) < 800', 'time does not pass');
is($node->safe_psql('postgres', q{
	SELECT bool_and(pages >= before) FROM (
		SELECT pages, lag(pages, 1, 0::bigint) OVER (ORDER BY seconds) AS before FROM working_set_curve) AS c}),
	't', 'and the curve rises');
wait_for($node, q{status = 'stale' FROM working_set_recommendation}, 'a missing worker is forgotten');

# room again
my $offset = log_size($node);
$node->append_conf('postgresql.conf', 'max_logical_replication_workers = 0');
$node->restart;
wait_for($node, 'worker_pid > 0 FROM working_set_info', 'no worker');
pass('when there is room, the worker comes');
unlike(log_from($node, $offset), qr/too many background workers/, 'and nothing is said');
wait_for($node, q{status IN ('collecting', 'ok') FROM working_set_recommendation}, 'it does not collect');
wait_for($node, 'sample_rate > 0 FROM working_set_info', 'it takes no sample');
# its place stays its own: a parallel query does without, and a new worker gets it
my $worker = info($node, 'worker_pid');
is($node->safe_psql('postgres', q{
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET cpu_tuple_cost = 1;
	SELECT count(filler) FROM first}), '2000', 'a query that wants workers goes on without');
kill 'TERM', $worker;
wait_for($node, "worker_pid <> $worker FROM working_set_info", 'the worker was not replaced');
pass('a worker that ends gets its place again');
finish($node);
