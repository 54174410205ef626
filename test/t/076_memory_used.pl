# The memory that the extension takes, also after several saves.

use lib 'test/t';
use server;

my $node = new_server('main', 'working_set.save = 1');
make_table($node, 'pages', 4000);
$node->safe_psql('postgres', 'CHECKPOINT');

$node->safe_psql('postgres', 'SELECT count(filler) FROM pages') for 1 .. 6;

# While the worker saves, or computes a curve, it is more for some milliseconds.
sub private_kb
{
	my ($pid) = $node->safe_psql('postgres', $_[0]);
	my ($kb) = slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+) kB$/m;
	return $kb;
}

sub memory_mb
{
	return $node->safe_psql('postgres', q{SELECT allocated_size FROM pg_shmem_allocations WHERE name = 'working_set'}) / 1048576 +
	  (private_kb('SELECT worker_pid FROM working_set_info') -
		private_kb(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'})) / 1024;
}
saved($node) for 1 .. 4;
my $memory;
eventually(sub { ($memory = memory_mb()) <= 9 });
cmp_ok($memory, '<=', 9, sprintf('after four saves the extension takes %.1f MB in all', $memory));

finish($node);
