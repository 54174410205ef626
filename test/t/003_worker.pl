# The worker hangs, ends, and is shut down with the server in all ways; and there is none.  Time
# passes when this test says so: what is late, and how old a lookup is, does not depend on how busy
# the machine is.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.method = plateau_end
shared_buffers = 8192
});
make_table($node, 'pages', 2000);
my $scan = 'SELECT count(filler) FROM pages \g /dev/null';
my $worker = worker_pid($node);
$node->safe_psql('postgres', $scan);
$clock->pass(61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');

is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE pid = $worker"), 0, 'it is connected to no database');

# the worker hangs: its last word is shown, as stale
kill 'STOP', $worker;
$clock->pass(5);
is(recommendation($node, 'status'), 'ok', 'a worker that hangs is not late at once');
$clock->pass(2);
is(recommendation($node, q{status, confidence, recommended_cache_bytes > 0, reason ~ '^the background worker has not reported since ',
	working_set() ~ '^STALE: the background worker has not reported since '}),
	'stale|low|t|t|t', 'stale, with the last number and the reason');
# time passes without it, and lookups are recorded
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('postgres', $scan);
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600)'),
	'>=', 2000 - error_of(2000), 'lookups are recorded without the worker');
$clock->pass(3);
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(1)'),
	'<', 1000, 'time passes without the worker');
is(recommendation($node, 'status'), 'collecting', 'after a reset it is waited for');
$clock->pass(67);
is(recommendation($node, 'status'), 'stale', 'for a minute and its turn');
kill 'CONT', $worker;
wait_for($node, "status = 'ok' FROM working_set_recommendation", 'worker does not go on');
pass('and the worker goes on');

# asked to end, it is replaced
kill 'TERM', $worker;
wait_for($node, "worker_pid <> $worker FROM working_set_info", 'worker was not replaced');
pass('a worker that was terminated is replaced');

# an extension dropped and made again while it runs
$worker = worker_pid($node);
$node->safe_psql('postgres', 'DROP EXTENSION working_set');
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
is($node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info'),
	$worker, 'DROP EXTENSION leaves the worker alone');

# shutdowns
$node->stop('fast');
ok(has_ended($worker), 'fast shutdown ends the worker');
$clock->lend(sub { $node->start });
$worker = worker_pid($node);
$node->stop('immediate');
ok(has_ended($worker), 'immediate shutdown ends the worker');
$clock->lend(sub { $node->start });
$worker = worker_pid($node);
kill_postmaster($node);
ok(eventually(sub { has_ended($worker) }), 'the worker does not outlive the postmaster');

# no room for the worker; other processes of the one before may end later than ours
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
ok(eventually(sub { $clock->lend(sub { $node->start(fail_ok => 1) }) }), 'the server starts again');
is($node->safe_psql('postgres', 'SELECT tracking, worker_pid IS NULL FROM working_set_info'),
	't|t', 'without a worker, lookups are counted all the same');
is(recommendation($node, 'status'), 'collecting', 'for a moment it might still come');
$clock->pass(11);
is(recommendation($node, 'status, reason, recommended_cache_bytes IS NULL'),
	'stale|the background worker is not running; see the server log|t', 'then it is missed');
cmp_ok($node->safe_psql('postgres', "SELECT count(filler) FROM pages \\g /dev/null
	SELECT approximate_working_set_size_seconds(60)"),
	'>=', 2000 - error_of(2000), 'the size of the working set does not depend on it');
# in a tick of its own, or only one page in 256 looks at the clock
$clock->pass(1);
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
$clock->pass(8);
$session->query_safe($scan);
cmp_ok($session->query_safe('SELECT approximate_working_set_size_seconds(5)'),
	'>=', 2000 - error_of(2000), 'nor does time');
$session->quit;
finish($node);
