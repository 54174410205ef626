# The worker hangs, ends, and is shut down with the server in all ways.  (054 has none.)  Time
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

done_testing();
