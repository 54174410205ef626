# After ten idle seconds the worker sleeps until the next recommendation is due, and does not keep
# the clock.  The clock is the test's.

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

# How often it has gone to sleep.
sub naps
{
	my ($pid) = @_;
	my ($switches) = slurp_file("/proc/$pid/status") =~ /^voluntary_ctxt_switches:\s+(\d+)$/m;
	return $switches;
}

# It waits for longer than a tick of 100 ms: in three seconds nothing has woken it, which takes a
# time to see.  A process
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

# After ten idle seconds the worker sleeps until the next recommendation is due, and does
# not keep the clock.  Whoever comes then reads it himself, or his lookups would seem to be
# eight seconds old.
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
$sleeper->quit;
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(5)'),
	'>=', 2000 - error_of(2000), 'the first lookups after a rest are of now');

finish($node);
