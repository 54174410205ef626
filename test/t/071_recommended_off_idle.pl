# The first recommendation comes after a minute, and is what was read; switched off by a reload nothing is
# known, nor counted; and after ten idle seconds the worker sleeps until the next recommendation is
# due, and does not keep the clock.  The clock is the test's.

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

is(recommendation($node, 'status'), 'collecting', 'in the first minute there is none');
$clock->pass(60);
wait_for($node, "status = 'ok' FROM working_set_recommendation", 'no recommendation');
$node->safe_psql('postgres', $scan);
recommended();
# plateau_end recommends what the projection foresees, which is up to half more than the
# plateau's end, and a tenth on top
is(recommendation($node, q{
	working_set_bytes BETWEEN (2000 - 46) * current_setting('block_size')::int AND (2000 + 46 + 600) * current_setting('block_size')::int,
	plateau_end_bytes = working_set_bytes,
	recommended_cache_bytes BETWEEN 1.1 * plateau_end_bytes - current_setting('block_size')::int AND 1.65 * plateau_end_bytes + current_setting('block_size')::int,
	reason <> ''}),
	't|t|t|t', 'the recommendation is what was read');

# ---- switched off and on

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'could not turn it off');
is($node->safe_psql('postgres', 'SELECT reason, since IS NULL FROM working_set_info'),
	'working_set.enabled is off|t', 'off, and says so');
is($node->safe_psql('postgres', q{
	SELECT approximate_working_set_size_seconds(60) IS NULL,
	       approximate_working_set_size() IS NULL,
	       approximate_working_set_size(true) IS NULL,
	       working_set_size('1 min') IS NULL,
	       (SELECT count(*) FROM working_set_curve)}),
	't|t|t|t|0', 'nothing is known while it is off');
is(recommendation($node, 'status, recommended_cache_bytes IS NULL, reason'),
	'not tracking|t|working_set.enabled is off', 'nor recommended');
# arguments are checked all the same
my ($status, $out, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size_seconds(-1)');
like($err, qr/must not be negative/, 'bad arguments are errors even so');

# what a session that was there before reads while it is off, is not counted
my $session = $node->background_psql('postgres');
$session->query_safe('SELECT 1');
$session->query_safe($scan);
# the worker has heard, too: it saves
my $moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
$node->append_conf('postgresql.conf', 'working_set.save = 1');
$node->reload;
$clock->pass(2);
wait_for($node, "last_saved > '$moment' FROM working_set_info", 'nothing is saved');
$node->append_conf('postgresql.conf', "working_set.save = 300\nworking_set.enabled = on");
$moment = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
$node->reload;
wait_for($node, "tracking AND since > '$moment' FROM working_set_info", 'could not turn it on');
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'<', 1000, 'what was read meanwhile is not known');
$session->query_safe($scan);
# 5 standard errors of 0.46 % are 46
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'),
	'>=', 2000 - error_of(2000), 'what is read afterwards is');
$session->quit;

# ---- idle

# How often it has gone to sleep.
sub naps
{
	my ($pid) = @_;
	my ($switches) = slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s+(\d+)$/m;
	return $switches;
}

# It waits for longer than a tick of 100 ms: in three seconds nothing has woken it, which takes a
# time to see.  A process that only does not get its turn is ready to run, and not asleep.
sub wait_until_asleep
{
	my ($pid) = @_;
	my ($last, $since) = ('', time);
	eventually(sub {
		my $naps = naps($pid);
		$since = time if slurp_file("/proc/$pid/status") !~ /^State:\s+S/m || $naps ne $last;
		$last = $naps;
		return time - $since > 3;
	}) or die 'the worker does not sleep';
	return;
}

# Whoever comes then reads the clock himself, or his lookups would seem to be eight seconds old.
my $worker = worker_pid($node);
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
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(5)'),
	'>=', 2000 - error_of(2000), 'the first lookups after a rest are of now');

# A long statement does not have to end before it is awake: it is not by its own next look, ten
# seconds after the last.  (One time is enough: where this process waits for its turn, it is too late.)
my $holder = $node->background_psql('postgres');
my $in_time = 0;
for (1 .. 5)
{
	# which the statement waits for, until all is seen
	$holder->query_safe('SELECT pg_advisory_lock(7)');
	$clock->pass(11);
	wait_until_asleep($worker);
	$naps = naps($worker);
	eventually(sub { naps($worker) > $naps }) or die 'the worker does not look';
	($naps, $begin) = (naps($worker), time);
	$sleeper->query_until(qr/begun/, "\\echo begun\nSELECT pg_advisory_xact_lock(7) FROM pages LIMIT 1;\n");
	eventually(sub { naps($worker) - $naps > 20 || time - $begin > 8 });
	$in_time = time - $begin <= 8;
	$holder->query_safe('SELECT pg_advisory_unlock(7)');
	last if $in_time;
}
ok($in_time, 'a statement wakes it when it begins');
$holder->quit;
$sleeper->quit;

finish($node);
