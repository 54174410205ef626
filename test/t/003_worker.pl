# The worker: what is shown before, while and after it works; settings by
# reload; all kinds of shutdown.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.method = plateau_end
shared_buffers = '64MB'
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', 7000) FROM generate_series(1, 2000) g;
	VACUUM (FREEZE, ANALYZE) pages;
});

$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION working_set');

sub recommendation
{
	my ($columns) = @_;
	return $node->safe_psql('postgres', "SELECT $columns FROM working_set_recommendation");
}

sub log_has
{
	my ($pattern, $name) = @_;
	for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return pass($name) if slurp_file($node->logfile) =~ $pattern;
		select(undef, undef, undef, 0.1);
	}
	return fail($name);
}

is(recommendation('status, computed_at IS NULL, recommended_cache_bytes IS NULL, reason LIKE \'counting since %\''),
	'collecting|t|t|t', 'collecting at first, without a number');

# while we wait for the minute to pass: settings that follow a reload
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
$node->append_conf('postgresql.conf', 'working_set.enabled = on');
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
$node->append_conf('postgresql.conf', 'working_set.interval = 60');
$node->reload;
my $sleeper = $node->background_psql('postgres');
$sleeper->query_safe($scan);
$sleeper->query_safe('SELECT pg_sleep(18)');
$sleeper->query_safe($scan);
$sleeper->quit;
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(5)'),
	'>=', 2000 - 46, 'the first lookups after a rest are of now');
$node->append_conf('postgresql.conf', 'working_set.interval = 1');
$node->reload;

# the first recommendation
$node->poll_query_until('postgres', "SELECT status = 'ok' FROM working_set_recommendation")
  or die 'no recommendation';
$node->safe_psql('postgres', $scan);
$node->poll_query_until('postgres', q{
	SELECT computed_at > clock_timestamp() - interval '1 s' FROM working_set_recommendation})
  or die 'worker does not go on';
is( recommendation(q{
	method, working_set_bytes BETWEEN (2000 - 46) * 8192 AND (2000 + 46 + 600) * 8192,
	low_bytes <= working_set_bytes AND working_set_bytes <= high_bytes,
	plateau_end_bytes = working_set_bytes, projected_bytes >= plateau_end_bytes,
	abs(recommended_cache_bytes - 1.1 * projected_bytes) <= 8192,
	recommended_cache = pg_size_pretty(recommended_cache_bytes),
	window_seconds BETWEEN 60 AND 3599, reason ~ '^the .* seen so far need '}),
	'plateau_end|t|t|t|t|t|t|t|t', 'the recommendation is what was read');

$node->append_conf('postgresql.conf', 'working_set.headroom = 1');
$node->reload;
$node->poll_query_until('postgres', q{
	SELECT abs(recommended_cache_bytes - 2 * projected_bytes) <= 8192 FROM working_set_recommendation})
  or die 'headroom does not follow a reload';
pass('headroom follows a reload');

# the worker hangs: its last word is shown, as stale
my $worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
kill 'STOP', $worker;
$node->poll_query_until('postgres', "SELECT status = 'stale' FROM working_set_recommendation")
  or die 'never stale';
is(recommendation('recommended_cache_bytes > 0, reason LIKE \'the background worker has not reported since %\''),
	't|t', 'stale, with the last number and the reason');
# time passes without it, and lookups are recorded
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('postgres', $scan);
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600)'),
	'>=', 2000 - 46, 'lookups are recorded without the worker');
$node->poll_query_until('postgres', 'SELECT approximate_working_set_size_seconds(1) < 1000')
  or die 'time does not pass';
pass('time passes without the worker');
kill 'CONT', $worker;
$node->poll_query_until('postgres', "SELECT status = 'collecting' FROM working_set_recommendation")
  or die 'worker does not go on';
pass('and the worker goes on');

# asked to end, it is replaced
kill 'TERM', $worker;
$node->poll_query_until('postgres', "SELECT worker_pid <> $worker FROM working_set_info")
  or die 'worker was not replaced';
pass('a worker that was terminated is replaced');

# an extension dropped and made again while it runs
$worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
$node->safe_psql('postgres', 'DROP EXTENSION working_set');
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
is($node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info'),
	$worker, 'DROP EXTENSION leaves the worker alone');

# shutdowns
$node->stop('fast');
ok(!kill(0, $worker), 'fast shutdown ends the worker');
$node->start;
$worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
$node->stop('immediate');
ok(!kill(0, $worker), 'immediate shutdown ends the worker');
$node->start;
$node->poll_query_until('postgres', 'SELECT worker_pid > 0 FROM working_set_info');
$worker = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
$node->kill9;
my $gone = 0;
for (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
{
	last if $gone = !kill(0, $worker);
	select(undef, undef, undef, 0.1);
}
ok($gone, 'the worker does not outlive the postmaster');

# no room for the worker
$node->append_conf('postgresql.conf', 'max_worker_processes = 0');
$node->start;
is($node->safe_psql('postgres', 'SELECT tracking, worker_pid IS NULL FROM working_set_info'),
	't|t', 'without a worker, lookups are counted all the same');
is(recommendation('status'), 'collecting', 'for a moment it might still come');
$node->poll_query_until('postgres', "SELECT status = 'stale' FROM working_set_recommendation")
  or die 'a missing worker is not noticed';
is(recommendation('reason, recommended_cache_bytes IS NULL'),
	'the background worker is not running; see the server log|t', 'then it is missed');
cmp_ok($node->safe_psql('postgres', "SELECT count(filler) FROM pages \\g /dev/null
	SELECT approximate_working_set_size_seconds(60)"),
	'>=', 2000 - 46, 'the size of the working set does not depend on it');
# in a tick of its own, or only one page in 256 looks at the clock
select(undef, undef, undef, 0.3);
cmp_ok($node->safe_psql('postgres', "SELECT pg_sleep(8) \\g /dev/null
	SELECT count(filler) FROM pages \\g /dev/null
	SELECT approximate_working_set_size_seconds(5)"),
	'>=', 2000 - 46, 'nor does time');
$node->stop;

done_testing();
