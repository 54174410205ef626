# Where there is no memory advice, it says why.

use lib 'test/t';
use server;

plan skip_all => 'no control groups are mounted here' unless memory_known();

my $node = new_server('main', "shared_buffers = '16MB'");

sub doubt { return $node->safe_psql('postgres', 'SELECT coalesce(note, \'\') FROM working_set_memory_advice WHERE present') }

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'it tracks');
is(doubt(), 'working_set.enabled is off', 'what is not tracked is not predicted');
$node->append_conf('postgresql.conf', "working_set.enabled = on\nworking_set.sample_pages = 0");
$node->restart;
$node->poll_query_until('postgres', q{SELECT note = 'working_set.sample_pages is 0' FROM working_set_memory_advice WHERE present});
is(doubt(), 'working_set.sample_pages is 0', 'nor is anything without a sample');
SKIP: {
	skip 'this release has no direct I/O', 1 if $node->pg_version < 16;
	$node->append_conf('postgresql.conf', "working_set.sample_pages = 16384\ndebug_io_direct = 'wal_init, data'");
	my $started = $node->stop && $node->start(fail_ok => 1);
	skip 'these files cannot be read directly', 1 unless $started;
	$node->poll_query_until('postgres', q{SELECT note ~ 'debug_io_direct' FROM working_set_memory_advice WHERE present});
	is(doubt(), 'the server reads past the page cache (debug_io_direct)', 'nor where there is no page cache');
}

done_testing();
