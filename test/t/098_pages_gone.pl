# A page whose file is gone, or is now shorter, cannot be used again: whatever took the file away, the
# page is no part of the working set of any relation or query any more, also after a crash, and on
# a standby.

use lib 'test/t';
use server;
use pages qw(make_id_of);

my $place = PostgreSQL::Test::Utils::tempdir();
my $primary = new_server('primary', q{
allow_in_place_tablespaces = on
working_set.save = 1
compute_query_id = on
}, allows_streaming => 1);
$primary->safe_psql('postgres', "CREATE TABLESPACE other LOCATION '$place'");

# a relation of 500 pages, of four rows each, and an index of 50 or so
sub make
{
	my ($node, $name, $kind, $database) = @_;
	$node->safe_psql($database || 'postgres', qq{
		CREATE $kind $name AS SELECT g AS id, repeat('x', 1900) AS filler FROM generate_series(1, 2000) g;
		CREATE UNIQUE INDEX ${name}_key ON $name (id) WITH (fillfactor = 10);
		VACUUM (FREEZE) $name});
	return;
}

# Files of a relation and its index that the statement would take away, after both were used.
sub use_all
{
	my ($node, $name, $database) = @_;
	$database ||= 'postgres';
	my @files = split /\n/, $node->safe_psql($database, "SELECT pg_relation_filenode(r) FROM unnest(ARRAY['$name', '${name}_key']) r");
	$node->safe_psql($database, qq{
		SELECT count(filler) FROM $name \\g /dev/null
		SET enable_seqscan = off;
		SELECT count(id) FROM (SELECT id FROM $name ORDER BY id OFFSET 0) x});
	ok(eventually(sub { pages_of($node, $files[0]) >= 400 && pages_of($node, $files[1]) >= 20 }), "$name: its pages are in the working set");
	return @files;
}

sub pages_of
{
	my ($node, @files) = @_;
	return $node->safe_psql('postgres', q{SELECT coalesce(sum(bytes), 0)::bigint / current_setting('block_size')::int FROM working_set_relations('1h') WHERE coalesce('file ' || pg_relation_filenode(relid), relation) IN (} . join(', ', map { "'file $_'" } @files) . ')');
}

sub all_pages { return $_[0]->safe_psql('postgres', q{SELECT sum(bytes)::bigint / current_setting('block_size')::int FROM working_set_relations('1h')}) }

sub are_gone
{
	my ($node, $name, @files) = @_;
	return ok(eventually(sub { pages_of($node, @files) == 0 }), "$name: of what is gone, nothing is left")
	  || diag(pages_of($node, @files) . " pages");
}

# ---------------------------------------------------------------- what takes files away

for my $case (
	[ vacuum_full => 'TABLE', 'VACUUM FULL vacuum_full' ],
	[ clustered => 'TABLE', 'CLUSTER clustered USING clustered_key' ],
	[ truncated => 'TABLE', 'TRUNCATE truncated' ],
	[ dropped => 'TABLE', 'DROP TABLE dropped' ],
	[ moved => 'TABLE', 'ALTER TABLE moved SET TABLESPACE other; ALTER INDEX moved_key SET TABLESPACE other' ],
	[ refreshed => 'MATERIALIZED VIEW', 'REFRESH MATERIALIZED VIEW refreshed' ],
	[ retyped => 'TABLE', 'ALTER TABLE retyped ALTER id TYPE bigint' ])
{
	my ($name, $kind, $statement) = @$case;
	make($primary, $name, $kind);
	my @files = use_all($primary, $name);
	$primary->safe_psql('postgres', $statement);
	are_gone($primary, $name, @files);
}

make($primary, 'reindexed', 'TABLE');
my ($heap, $index) = use_all($primary, 'reindexed');
$primary->safe_psql('postgres', 'REINDEX INDEX reindexed_key');
are_gone($primary, 'reindexed', $index);
cmp_ok(pages_of($primary, $heap), '>=', 400, 'reindexed: the table stays');
(undef, $index) = use_all($primary, 'reindexed');
$primary->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY reindexed_key');
are_gone($primary, 'reindexed concurrently', $index);

# the end of a file
make($primary, 'cut', 'TABLE');
($heap, $index) = use_all($primary, 'cut');
$primary->safe_psql('postgres', 'DROP INDEX cut_key; DELETE FROM cut WHERE id > 400');
my $before = all_pages($primary);
$primary->safe_psql('postgres', 'VACUUM (TRUNCATE on) cut');
ok(eventually(sub { pages_of($primary, $heap) <= 110 }), 'cut: of a table that was cut off, its pages are left');
ok(eventually(sub { all_pages($primary) <= $before - 300 }), 'and those that are gone are no part of the whole');

# of partitions, as of a retention
$primary->safe_psql('postgres', q{
	CREATE TABLE days (id int, filler text) PARTITION BY RANGE (id);
	CREATE TABLE day1 PARTITION OF days FOR VALUES FROM (0) TO (500);
	CREATE TABLE day2 PARTITION OF days FOR VALUES FROM (500) TO (1000);
	ALTER TABLE days ALTER filler SET STORAGE PLAIN;
	INSERT INTO days SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(0, 999) g});
my @days = split /\n/, $primary->safe_psql('postgres', q{
	SELECT count(filler) FROM days \g /dev/null
	SELECT pg_relation_filenode(r) FROM unnest(ARRAY['day1', 'day2']) r});
ok(eventually(sub { pages_of($primary, @days) >= 900 }), 'partitions: all are there');
$primary->safe_psql('postgres', 'DROP TABLE day1');
are_gone($primary, 'a partition that was dropped', $days[0]);
cmp_ok(pages_of($primary, $days[1]), '>=', 400, 'and the other is there');

# rolled back: the file of a table that never was
my $file = $primary->safe_psql('postgres', q{
	BEGIN;
	CREATE TABLE never AS SELECT g AS id, repeat('x', 1900) AS filler FROM generate_series(1, 2000) g;
	SELECT count(filler) FROM never \g /dev/null
	SELECT count(filler) FROM never \g /dev/null
	SELECT pg_relation_filenode('never');
	ROLLBACK});
are_gone($primary, 'rolled back', $file);
$primary->safe_psql('postgres', 'SELECT 1');
are_gone($primary, 'and it stays so', $file);

# a database
$primary->safe_psql('postgres', 'CREATE DATABASE brief');
make($primary, 'mine', 'TABLE', 'brief');
my @mine = use_all($primary, 'mine', 'brief');
$primary->safe_psql('postgres', 'DROP DATABASE brief');
are_gone($primary, 'a database that was dropped', @mine);
ok(eventually(sub { $primary->safe_psql('postgres', q{
	SELECT count(*) FROM working_set_relations('1h') WHERE datname IS NULL AND relid IS NULL}) == 0 }), 'and no relation of it is left');

# queries
make($primary, 'asked', 'TABLE');
make_id_of($primary);
my $id = $primary->safe_psql('postgres', q{SELECT id_of('SELECT count(filler) FROM asked')});
my $of_query = "SELECT coalesce(sum(bytes), 0)::bigint / current_setting('block_size')::int FROM working_set_queries('1h') WHERE queryid = $id";
my @asked = use_all($primary, 'asked');
cmp_ok($primary->safe_psql('postgres', $of_query), '>=', 400, 'a query used these pages');
$primary->safe_psql('postgres', 'DROP TABLE asked');
are_gone($primary, 'asked', @asked);
ok(eventually(sub { $primary->safe_psql('postgres', $of_query) < 100 }), 'and uses them no more');

# what is there stays
make($primary, 'kept', 'TABLE');
my @kept = use_all($primary, 'kept');
$primary->safe_psql('postgres', 'CHECKPOINT');

# ---------------------------------------------------------------- over a crash

make($primary, 'unlogged', 'UNLOGGED TABLE');
my @unlogged = use_all($primary, 'unlogged');
saved($primary);
$primary->stop('immediate');
$primary->start;
wait_for_worker($primary);
# of the index, the first page is there again; 16 also replays that of its init fork in a buffer
my $left = $primary->pg_version->major == 16 ? 2 : 1;
ok(eventually(sub { pages_of($primary, @unlogged) <= $left }), 'an unlogged table after a crash: of what is gone, nothing is left');
cmp_ok(pages_of($primary, @kept), '>=', 420, 'and other tables are there');

# ---------------------------------------------------------------- a restart

make($primary, 'later', 'TABLE');
my @later = use_all($primary, 'later');
saved($primary);
$primary->stop('immediate');
$primary->adjust_conf('postgresql.conf', 'shared_preload_libraries', "''");
$primary->start;
$primary->safe_psql('postgres', 'DROP TABLE later');
$primary->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'working_set'");
$primary->restart;
wait_for_worker($primary);
are_gone($primary, 'what was dropped while nobody looked', @later);

# ---------------------------------------------------------------- on a standby

$primary->safe_psql('postgres', $_) for 'DROP TABLE moved', 'DROP TABLESPACE other';
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
wait_for_worker($standby);
make($primary, "far$_", 'TABLE') for 1 .. 3;
$primary->wait_for_catchup($standby);
my @far = map { [ use_all($standby, "far$_") ] } 1 .. 3;
$primary->safe_psql('postgres', $_) for 'VACUUM FULL far1', 'TRUNCATE far2', 'DROP TABLE far3';
$primary->wait_for_catchup($standby);
are_gone($standby, 'on a standby, far' . ($_ + 1), @{ $far[$_] }) for 0 .. 2;

$_->stop for $standby, $primary;
unlike(slurp_file($_->logfile), qr/PANIC|TRAP|terminated by signal/, $_->name . ': no crash') for $standby, $primary;

done_testing();
