# A planned switchover and back, with real servers: who comes back to its own directory keeps what
# it has seen, as primary and as standby.  And pg_rewind, which replaces the file by the source's:
# that is not used, and one's own, put back by hand, is.

use lib 'test/t';
use server;
use File::Copy qw(copy);
use state_file;

my $file = 'pg_stat/working_set.saved';

# rows of the history that the test has put there
sub rows
{
	return $_[0]->safe_psql('postgres', q{
		SELECT count(*) FROM working_set_history
		 WHERE recommended_cache_bytes = 4321 * current_setting('block_size')::bigint});
}

sub put_rows
{
	my ($node) = @_;
	my $path = $node->data_dir . "/$file";
	my $state = read_state($path);
	minute_row($state, time - 7200 - 60 * $_, 4000, 4321, 1000, 900) for 1 .. 5;
	write_raw($path, state_of($state));
	return;
}

my $a = new_server('a', q{
working_set.registers = 1024
working_set.sample_pages = 1024
shared_buffers = 2048
wal_log_hints = on
wal_keep_size = '128MB'
}, allows_streaming => 1);
make_table($a, 'pages', 1500);
$a->safe_psql('postgres', 'CHECKPOINT');
$a->backup('backup');
my $b = PostgreSQL::Test::Cluster->new('b');
$b->init_from_backup($a, 'backup', has_streaming => 1);
$b->start;
wait_for_worker($b);
$a->wait_for_catchup($b);

# 5 standard errors of 1.84 % of 1,500 pages are 138; an idle server uses some hundred of catalogs
my $used = 1500 - 138;
my $forgotten = 1000;

# A has seen more than the standby, which reads nothing but the end of the log
$a->safe_psql('postgres', 'SELECT count(filler) FROM pages');
cmp_ok(size($a, 'NULL'), '>', $used, 'the primary has a set');

# ---- there
$a->stop('fast');
put_rows($a);
$b->promote;
$a->enable_streaming($b);
$a->set_standby_mode;
my $offset = log_size($a);
$a->start;
wait_for_worker($a);
is($a->safe_psql('postgres', 'SELECT pg_is_in_recovery()'), 't', 'the primary is a standby now');
cmp_ok(size($a, 'NULL'), '>', $used, 'and has its set');
is(rows($a), 5, 'and its history');
unlike(log_from($a, $offset), qr/working_set: /, 'and nothing to complain about');
$b->safe_psql('postgres', 'CREATE TABLE since (id int)');
$b->wait_for_catchup($a, 'replay', $b->lsn('insert'));

# ---- and back
$b->stop('fast');
$a->promote;
$a->stop;
$a->start;
wait_for_worker($a);
cmp_ok(size($a, 'NULL'), '>', $used, 'a primary again it has its set still');
is(rows($a), 5, 'and its history');

# ---- pg_rewind: B, which was not stopped in time, has gone its own way
$b->start;
$b->safe_psql('postgres', 'CREATE TABLE astray (id int); SELECT count(filler) FROM pages');
# on B's own timeline, A is ahead
$b->stop('fast');
put_rows($b);
my $own = slurp_file($b->data_dir . "/$file");
my $copy = PostgreSQL::Test::Utils::tempdir() . '/working_set.saved';
copy($b->data_dir . "/$file", $copy) or die $!;
my $conf = slurp_file($b->data_dir . '/postgresql.conf');
$a->safe_psql('postgres', 'CHECKPOINT');
command_ok([ 'pg_rewind', '--no-sync', '--source-server', $a->connstr('postgres'), '--target-pgdata', $b->data_dir ],
	'pg_rewind rewinds the other');
write_raw($b->data_dir . '/postgresql.conf', $conf);
my $theirs = slurp_file($b->data_dir . "/$file");
ok($theirs eq slurp_file($a->data_dir . "/$file"), 'and brings the file of its source along');
$b->enable_streaming($a);
$b->set_standby_mode;
$offset = log_size($b);
$b->start;
wait_for_worker($b);
cmp_ok(size($b, 'NULL'), '<', $forgotten, 'which is not used');
is(rows($b), 0, 'nor is its history');
like(log_from($b, $offset), qr/is not used: it was saved in another directory, which this one is a copy of$/m,
	'which the log says');
$b->stop('fast');

# what was copied before is its own still
copy($copy, $b->data_dir . "/$file") or die $!;
$b->start;
wait_for_worker($b);
cmp_ok(size($b, 'NULL'), '>', $used, 'its own, put back, it uses');
is(rows($b), 5, 'and has its history');
finish($b, $a);
