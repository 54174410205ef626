# What is done while the server holds a lock of the buffer lookup table: nothing is
# called but the clock, so nothing is allocated and no system call is made.  Every call
# that leaves the library is counted between entry and exit of its two functions
# (path.c), on a primary and on a standby.

use lib 'test/t';
use server;
use library;

plan skip_all => 'the code that counts calls is for x86-64' if `uname -m` !~ /^x86_64/;

my $library = PostgreSQL::Test::Utils::tempdir() . '/ws_test_path.so';
build_library($library, 'test/t/path.c', 'src/path/buftable.c', '-ldl');

# few buffers, so that pages are evicted all the time
my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'working_set, $library'
shared_buffers = '4MB'
autovacuum = off
max_locks_per_transaction = 200
});
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION working_set;
	CREATE FUNCTION ws_test_path() RETURNS text LANGUAGE C AS '$library'});
is($node->safe_psql('postgres', 'SELECT tracking FROM working_set_info'), 't', 'tracking');

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;

# Allowed: the clock, which the kernel maps into each process, and the C library's
# memset() and memcpy(), which compilers call for assignments.
sub only_the_clock
{
	my ($server, $what) = @_;
	my %count = map { /^(\S+) (\d+)$/ ? ($1, $2) : () } split /\n/, $server->safe_psql('postgres', 'SELECT ws_test_path()');
	cmp_ok(delete $count{$_} // 0, '>', 1000, "$what: $_ was entered") for 'match()', 'insert()';
	cmp_ok(delete $count{clock_gettime} // 0, '>', 0, "$what: calls are counted, the clock's among them");
	delete @count{qw(memset memcpy)};
	is(join(' ', map { "$_:$count{$_}" } sort keys %count), '', "$what: nothing else was called");
	return;
}

# 2,000 relations opened by one process: the server's tables of them grow meanwhile
$node->safe_psql('postgres', q{
	DO $$ BEGIN
		FOR i IN 1 .. 2000 LOOP
			EXECUTE format('CREATE TABLE t%s AS SELECT %s AS i', i, i);
			IF i % 200 = 0 THEN COMMIT; END IF;
		END LOOP;
	END $$});
is($node->safe_psql('postgres', q{
	DO $$ DECLARE n int; BEGIN
		FOR i IN 1 .. 2000 LOOP
			EXECUTE format('SELECT count(*) FROM t%s', i) INTO n;
			IF n <> 1 THEN RAISE 'table % has % rows', i, n; END IF;
			IF i % 200 = 0 THEN COMMIT; END IF;
		END LOOP;
	END $$;
	SELECT 'done'}), 'done', '2,000 tables made and scanned');
only_the_clock($node, '2,000 tables');

# pages made, read, by parallel workers too, vacuumed, truncated, dropped
$node->safe_psql('postgres', q{
	CREATE TABLE big AS SELECT g, repeat('x', 500) AS t FROM generate_series(1, 30000) g;
	CREATE INDEX ON big (g);
	INSERT INTO big SELECT g, repeat('y', 500) FROM generate_series(30001, 40000) g;
	SET min_parallel_table_scan_size = 0; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SELECT count(t) FROM big;
	RESET ALL;
	SELECT count(t) FROM big WHERE g % 100 = 1 AND g < 30000;
	UPDATE big SET t = 'z' WHERE g % 50 = 0;
	DELETE FROM big WHERE g > 10000});
# (what a session that has not quite ended could see stays until it has, and so does a page that is
# just being written; the next VACUUM would not clear a single page without being told to)
my $size;
eventually(sub {
	$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP ON) big');
	$size = $node->safe_psql('postgres', q{SELECT pg_relation_size('big')});
	return $size < 20000 * 500;
});
cmp_ok($size, '<', 20000 * 500, 'VACUUM has truncated the table');
only_the_clock($node, 'a table that grows and shrinks');

# and what redo makes of it
$node->safe_psql('postgres', 'DROP TABLE big');
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
only_the_clock($standby, 'redo of all that');

$_->stop for $standby, $node;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal/, $_->name . ': nothing has crashed') for $standby, $node;

done_testing();
