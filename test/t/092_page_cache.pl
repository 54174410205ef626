# What WAL takes of the page cache, by wal_level, by the size of its files, and where it is written
# past the page cache.  The clock is the test's.  And where there is no memory advice, it says why.

use lib 'test/t';
use server;
use clock;

plan skip_all => 'no control groups are mounted here' unless memory_known();

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'");
# nothing is published in the first minute
$clock->let_pass($node, 61);

sub wal_megabytes
{
	$node->safe_psql('postgres', q{SELECT pg_logical_emit_message(false, 'test', repeat('x', 1048576)) FROM generate_series(1, 20)});
	$node->safe_psql('postgres', 'CHECKPOINT');
	my $before = -s $node->logfile;
	$clock->let_pass($node, 10) for 1 .. 4;
	return (slurp_file($node->logfile, $before) =~ /WAL in (\d+) MB/g)[-1];
}
$node->append_conf('postgresql.conf', "log_min_messages = debug1");
$node->reload;
is(wal_megabytes(), 0, 'WAL of wal_level minimal takes nothing of the page cache');
$node->append_conf('postgresql.conf', "wal_level = replica\nmin_wal_size = '32MB'\nmax_wal_size = '32MB'");
$clock->lend(sub { $node->restart });
$clock->let_pass($node, 10) for 1 .. 4;
# (the last is still in its buffers; segments of 16 MB)
cmp_ok(wal_megabytes(), '>=', 19, 'other WAL takes what is written');
wal_megabytes() for 1 .. 7;
my $files = () = glob($node->data_dir . '/pg_wal/' . '[0-9A-F]' x 24);
cmp_ok(wal_megabytes(), '<=', 16 * ($files + 2), 'and no more than its files have, which are used again');
cmp_ok(16 * ($files + 2), '<', 8 * 20, '(there are not as many as were written)');

SKIP: {
	skip 'this release has no direct I/O', 2 if $node->pg_version < 16;
	for ([ 'wal_init', '>=', 19, 'WAL whose files are only made past the page cache takes some of it' ],
		[ 'wal_init, wal', '==', 0, 'and WAL that is written past it takes nothing' ])
	{
		my ($direct, $is, $megabytes, $what) = @$_;
		$node->append_conf('postgresql.conf', "debug_io_direct = '$direct'");
		my $started = $clock->lend(sub { $node->stop('fast', fail_ok => 1); $node->start(fail_ok => 1) });
		skip 'these files cannot be written directly', 1 unless $started;
		$clock->let_pass($node, 10) for 1 .. 4;
		cmp_ok(wal_megabytes(), $is, $megabytes, $what);
	}
}
if ($node->pg_version >= 16)
{
	$node->append_conf('postgresql.conf', "debug_io_direct = ''");
	$clock->lend(sub { $node->stop('fast', fail_ok => 1); $node->start });
}

# ---- no advice

sub doubt { return $node->safe_psql('postgres', 'SELECT coalesce(note, \'\') FROM working_set_memory_advice WHERE present') }

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
wait_for($node, 'NOT tracking FROM working_set_info', 'it tracks');
is(doubt(), 'working_set.enabled is off', 'what is not tracked is not predicted');
$node->append_conf('postgresql.conf', "working_set.enabled = on\nworking_set.sample_pages = 0");
$clock->lend(sub { $node->restart });
$node->poll_query_until('postgres', q{SELECT note = 'working_set.sample_pages is 0' FROM working_set_memory_advice WHERE present});
is(doubt(), 'working_set.sample_pages is 0', 'nor is anything without a sample');
SKIP: {
	skip 'this release has no direct I/O', 1 if $node->pg_version < 16;
	$node->append_conf('postgresql.conf', "working_set.sample_pages = 16384\ndebug_io_direct = 'wal_init, data'");
	my $started = $clock->lend(sub { $node->stop && $node->start(fail_ok => 1) });
	skip 'these files cannot be read directly', 1 unless $started;
	$node->poll_query_until('postgres', q{SELECT note ~ 'debug_io_direct' FROM working_set_memory_advice WHERE present});
	is(doubt(), 'the server reads past the page cache (debug_io_direct)', 'nor where there is no page cache');
}

done_testing();
