# The worker: what is shown before, while and after it works; settings by
# reload; all kinds of shutdown.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# Time passes when this test says so: what is late, and how old a lookup is, does not depend
# on how busy the machine is.
my $clock = clock->new;
my $node = $clock->new_server(q{
working_set.method = plateau_end
shared_buffers = 8192
});
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 2000) g;
	VACUUM (FREEZE, ANALYZE) pages;
});

$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION working_set');

sub recommendation
{
	my ($columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM working_set_recommendation");
}

# There is one, or there will be.
sub worker_pid
{
	$node->poll_query_until('postgres', 'SELECT worker_pid > 0 FROM working_set_info') or die 'no worker';
	return $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
}

# How often it has gone to sleep.
sub naps
{
	my ($pid) = @_;
	my ($switches) = slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s+(\d+)$/m;
	return $switches;
}

# It waits for longer than a tick of 100 ms: in three seconds nothing has woken it.  A process
# that only does not get its turn is ready to run, and not asleep.
sub wait_until_asleep
{
	my ($pid) = @_;
	my ($last, $since) = ('', time);
	eventually(sub {
		my $status = slurp_file("/proc/$pid/status");
		my ($switches) = $status =~ /^voluntary_ctxt_switches:\s+(\d+)$/m;
		$since = time if $status !~ /^State:\s+S/m || $switches ne $last;
		$last = $switches;
		return time - $since > 3;
	}) or die 'the worker does not sleep';
	return;
}

# Wait until the worker has made a recommendation of what has been looked up until now.
sub recommended
{
	my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	$clock->pass(1);
	$node->poll_query_until('postgres', qq{
		SELECT status = 'ok' AND computed_at > '$moment' FROM working_set_recommendation})
	  or die 'no recommendation';
	return;
}

is(recommendation('status, computed_at IS NULL, recommended_cache_bytes IS NULL, reason LIKE \'counting since %\''),
	'collecting|t|t|t', 'collecting at first, without a number');

# before the minute has passed: settings that follow a reload
my $scan = 'SELECT count(filler) FROM pages \g /dev/null';
$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
$node->poll_query_until('postgres', 'SELECT NOT tracking FROM working_set_info')
  or die 'could not turn it off';
is($node->safe_psql('postgres', 'SELECT reason, since IS NULL FROM working_set_info'),
	'working_set.enabled is off|t', 'off, and says so');
is($node->safe_psql('postgres', q{
	SELECT approximate_working_set_size_seconds(60) IS NULL,
	       approximate_working_set_size() IS NULL,
	       approximate_working_set_size(true) IS NULL,
	       working_set_size('1 min') IS NULL,
	       (SELECT count(*) FROM working_set_curve)}),
	't|t|t|t|0', 'nothing is known while it is off');
is(recommendation('status, recommended_cache_bytes IS NULL, reason'),
	'not tracking|t|working_set.enabled is off', 'nor recommended');
# arguments are checked all the same
my ($status, $out, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size_seconds(-1)');
like($err, qr/must not be negative/, 'bad arguments are errors even so');

# what a session that was there before reads while it is off, is not counted
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
$session->query_safe($scan);
# the worker has heard, too: it saves, which it has not done before
$node->append_conf('postgresql.conf', 'working_set.save = 1');
$node->reload;
$clock->pass(2);
$node->poll_query_until('postgres', 'SELECT last_saved IS NOT NULL FROM working_set_info') or die 'nothing is saved';
$node->append_conf('postgresql.conf', "working_set.save = 300\nworking_set.enabled = on");
my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
$node->reload;
$node->poll_query_until('postgres', "SELECT tracking AND since > '$moment' FROM working_set_info")
  or die 'could not turn it on';
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'<', 1000, 'what was read meanwhile is not known');
$session->query_safe($scan);
# 5 standard errors of 0.46 % are 46
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - 46, 'what is read afterwards is');
$session->quit;

# a client that vacuums is maintenance, and client again afterwards
is( $node->safe_psql('postgres', q{
	SELECT working_set_reset() \g /dev/null
	VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages;
	SELECT c.pages < 300, m.pages BETWEEN 2000 - 46 AND 2000 + 46 + 150
	  FROM working_set_curve('{3600}') c, working_set_curve('{3600}', 'maintenance') m}),
	't|t', 'VACUUM is kept apart');
is( $node->safe_psql('postgres', q{
	VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages;
	SELECT working_set_reset() \g /dev/null
	SELECT count(filler) FROM pages \g /dev/null
	SELECT c.pages BETWEEN 2000 - 46 AND 2000 + 46 + 150, m.pages < 100, a.pages >= c.pages
	  FROM working_set_curve('{3600}') c, working_set_curve('{3600}', 'maintenance') m,
	       working_set_curve('{3600}', 'all') a}),
	't|t|t', 'and its session counts as a client again');

# two databases see the same
cmp_ok($node->safe_psql('other', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - 46, 'another database sees the whole server');

# After ten idle seconds the worker sleeps until the next recommendation is due, and does
# not keep the clock.  Whoever comes then reads it himself, or his lookups would seem to be
# eight seconds old.
my $worker = worker_pid();
$node->append_conf('postgresql.conf', 'working_set.interval = 60');
$node->reload;
my $sleeper = $node->background_psql('postgres');
$sleeper->query_safe($scan);
$clock->pass(11);
wait_until_asleep($worker);
# (transactions that look nothing up, as those of a pooler, leave it alone; by itself it wakes
# every ten seconds)
my ($naps, $begin) = (naps($worker), time);
$sleeper->query_safe('SELECT 1') for 1 .. 100;
cmp_ok(naps($worker) - $naps, '<', 20 + (time - $begin) / 5, 'transactions that look up no page do not wake it');
$clock->pass(8);
$sleeper->query_safe($scan);
$sleeper->quit;
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(5)'),
	'>=', 2000 - 46, 'the first lookups after a rest are of now');
$node->append_conf('postgresql.conf', 'working_set.interval = 1');
$node->reload;

# the first recommendation
is(recommendation('status'), 'collecting', 'in the first minute there is none');
$clock->pass(60);
$node->poll_query_until('postgres', "SELECT status = 'ok' FROM working_set_recommendation")
  or die 'no recommendation';
$node->safe_psql('postgres', $scan);
recommended();
# plateau_end recommends what the projection foresees, which is up to half more than the
# plateau's end, and the headroom on top
is( recommendation(q{
	method, working_set_bytes BETWEEN (2000 - 46) * current_setting('block_size')::int AND (2000 + 46 + 600) * current_setting('block_size')::int,
	low_bytes <= working_set_bytes AND working_set_bytes <= high_bytes,
	plateau_end_bytes = working_set_bytes,
	recommended_cache_bytes BETWEEN 1.1 * plateau_end_bytes - current_setting('block_size')::int AND 1.65 * plateau_end_bytes + current_setting('block_size')::int,
	recommended_cache = pg_size_pretty(recommended_cache_bytes),
	window_seconds BETWEEN 60 AND 3599, reason ~ '; now, the .* seen so far need '}),
	'plateau_end|t|t|t|t|t|t|t', 'the recommendation is what was read');

my $doubled = q{recommended_cache_bytes BETWEEN 2 * plateau_end_bytes - current_setting('block_size')::int AND 3 * plateau_end_bytes + current_setting('block_size')::int};
$node->append_conf('postgresql.conf', 'working_set.headroom = 1');
$node->reload;
ok(eventually(sub { recommended(); recommendation($doubled) eq 't' }), 'headroom follows a reload');

# the worker hangs: its last word is shown, as stale
kill 'STOP', $worker;
$clock->pass(5);
is(recommendation('status'), 'ok', 'a worker that hangs is not late at once');
$clock->pass(2);
is(recommendation(q{status, confidence, recommended_cache_bytes > 0, reason ~ '^the background worker has not reported since .*; then: (Grow|Keep|Shrink) shared_buffers',
	working_set() ~ '^STALE: the background worker has not reported since [^\n]*\n(GROW|KEEP|SHRINK) shared_buffers [^\n]* confidence LOW: not of now\n'}),
	'stale|low|t|t|t', 'stale, with the last number and the reason');
# time passes without it, and lookups are recorded
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('postgres', $scan);
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600)'),
	'>=', 2000 - 46, 'lookups are recorded without the worker');
$clock->pass(3);
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(1)'),
	'<', 1000, 'time passes without the worker');
is(recommendation('status'), 'collecting', 'after a reset it is waited for');
$clock->pass(67);
is(recommendation('status'), 'stale', 'for a minute and its turn');
kill 'CONT', $worker;
$node->poll_query_until('postgres', "SELECT status = 'ok' FROM working_set_recommendation")
  or die 'worker does not go on';
pass('and the worker goes on');

# asked to end, it is replaced
kill 'TERM', $worker;
$node->poll_query_until('postgres', "SELECT worker_pid <> $worker FROM working_set_info")
  or die 'worker was not replaced';
pass('a worker that was terminated is replaced');

# an extension dropped and made again while it runs
$worker = worker_pid();
$node->safe_psql('postgres', 'DROP EXTENSION working_set');
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
is($node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info'),
	$worker, 'DROP EXTENSION leaves the worker alone');

# shutdowns
$node->stop('fast');
ok(!kill(0, $worker), 'fast shutdown ends the worker');
$clock->lend(sub { $node->start });
$worker = worker_pid();
$node->stop('immediate');
ok(!kill(0, $worker), 'immediate shutdown ends the worker');
$clock->lend(sub { $node->start });
$worker = worker_pid();
$node->kill9;
ok(eventually(sub { !kill(0, $worker) }), 'the worker does not outlive the postmaster');

# no room for the worker; other processes of the one before may end later than ours
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
ok(eventually(sub { $clock->lend(sub { $node->start(fail_ok => 1) }) }), 'the server starts again');
is($node->safe_psql('postgres', 'SELECT tracking, worker_pid IS NULL FROM working_set_info'),
	't|t', 'without a worker, lookups are counted all the same');
is(recommendation('status'), 'collecting', 'for a moment it might still come');
$clock->pass(11);
is(recommendation('status, reason, recommended_cache_bytes IS NULL'),
	'stale|the background worker is not running; see the server log|t', 'then it is missed');
cmp_ok($node->safe_psql('postgres', "SELECT count(filler) FROM pages \\g /dev/null
	SELECT approximate_working_set_size_seconds(60)"),
	'>=', 2000 - 46, 'the size of the working set does not depend on it');
# in a tick of its own, or only one page in 256 looks at the clock
$clock->pass(1);
$session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
$clock->pass(8);
$session->query_safe($scan);
cmp_ok($session->query_safe('SELECT approximate_working_set_size_seconds(5)'),
	'>=', 2000 - 46, 'nor does time');
$session->quit;
$node->stop;

done_testing();
