# What is no query of a client, or no plan, is not ascribed to the wrong one: autovacuum, COPY,
# logical decoding, and redo on a standby, on servers where queries run beside it.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use IPC::Run;
use pages;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

chomp(my $libraries = `@{[ $ENV{PG_CONFIG} || 'pg_config' ]} --pkglibdir`);
for my $library (qw(pg_stat_statements test_decoding))
{
	plan skip_all => "there is no $library" unless -e "$libraries/$library.so";
}

my $tmp = PostgreSQL::Test::Utils::tempdir;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 'logical');
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'pg_stat_statements, working_set'
working_set.interval = 1
shared_buffers = 16384
autovacuum_naptime = 1
autovacuum = off
fsync = off
max_parallel_workers_per_gather = 0
wal_keep_size = '1GB'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
wait_for_worker($node);
$node->safe_psql('postgres', q{
	CREATE EXTENSION pg_stat_statements;
	CREATE FUNCTION make(name text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('CREATE TABLE %I (id int, filler text) WITH (autovacuum_enabled = off)', name);
		EXECUTE format('ALTER TABLE %I ALTER filler SET STORAGE PLAIN', name);
	END $$;
	CREATE FUNCTION fill(name text) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE format('INSERT INTO %I SELECT g, repeat(''x'', current_setting(''block_size'')::int - 1192) FROM generate_series(1, 1500) g', name);
	END $$;
	SELECT make('pages'), make('dead');
	SELECT fill('pages'), fill('dead');
	DELETE FROM dead WHERE id % 10 = 0});
$node->backup('backup');

sub sql
{
	my ($query, $on) = @_;
	return ($on // $node)->safe_psql('postgres', $query);
}

# The pages of these rows are about so many, 1,500 by default: four standard errors, and some of
# the catalog, up to 150 by default.
sub uses
{
	my ($where, $name, %how) = @_;
	my ($on, $pages, $catalog) = ($how{on} // $node, $how{pages} // 1500, $how{catalog} // 150);
	my $rows = $how{rows} // q{working_set_queries('1 hour', 'query')};
	return ok($on->poll_query_until('postgres', qq{
		SELECT count(*) = 1 AND bool_and(abs(pages - $pages) <= $catalog + 4 * standard_error_bytes / current_setting('block_size')::int)
		  FROM $rows WHERE $where}), $name) || diag(sql("SELECT * FROM $rows", $on));
}

# The identifier by pg_stat_statements, which has those of COPY, too.
sub of_statement
{
	my ($like, $on) = @_;
	return sprintf q{queryid = (SELECT queryid FROM pg_stat_statements WHERE query LIKE '%s' AND toplevel)}, $like =~ s/'/''/gr;
}

# The rows of other identifiers have none of the pages of what runs beside: those of the
# catalog that a query of this test uses are fewer.
sub nothing_else
{
	my ($name, $but, $on) = @_;
	return is(sql("SELECT count(*) FROM working_set_queries WHERE queryid IS NOT NULL AND pages > 400 AND NOT ($but)", $on), '0', $name)
	  || diag(sql('SELECT * FROM working_set_queries', $on));
}

# ---- autovacuum, which reads all pages of a table, while a query reads another one

sql('SELECT working_set_reset()');
sql('ALTER TABLE dead SET (autovacuum_enabled = on, autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0, autovacuum_analyze_threshold = 1, autovacuum_analyze_scale_factor = 0)');
$node->append_conf('postgresql.conf', 'autovacuum = on');
$node->reload;
my $vacuumed = q{SELECT autovacuum_count > 0 AND autoanalyze_count > 0 FROM pg_stat_user_tables WHERE relname = 'dead'};
ok(eventually(sub { sql('SELECT count(filler) FROM pages'); return sql($vacuumed) eq 't' }), 'autovacuum has vacuumed and analyzed');
# 5 standard errors of 0.46 %
cmp_ok(sql(q{SELECT pages FROM working_set_curve('{3600}', 'maintenance')}), '>=', 1500 - 35, 'what it uses is maintenance');
my $count = of_statement('SELECT count(filler) FROM pages');
uses($count, 'a query beside it has its own pages');
# (and what all its queries use of the catalog)
uses(q{rolname IS NOT NULL}, 'and so has its role', catalog => 400, rows => q{working_set_queries('5 min', 'role')});
is(sql(q{SELECT count(*) FROM working_set_queries WHERE queryid IS NULL AND pages > 400}), '0', 'autovacuum has no row');
nothing_else('nor are its pages in another', $count);
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->reload;

# ---- COPY

sql("COPY pages TO '$tmp/pages'");
sql('SELECT working_set_reset()');
sql("SELECT make('copied'); COPY copied FROM '$tmp/pages'");
my $from = of_statement('COPY copied FROM%');
sub reads_none
{
	my ($where, $name, $on) = @_;
	# right after a reset a few of the catalog are many in a second, which 1,500 are for long
	return ok(($on // $node)->poll_query_until('postgres',
		"SELECT reads_per_second * extract(epoch FROM clock_timestamp() - since) < 150 FROM working_set_queries, working_set_info WHERE $where"), $name) || diag(sql('SELECT * FROM working_set_queries', $on));
}

uses($from, 'COPY FROM has the pages that it makes');
reads_none($from, 'and has not read those of a new table');
sql("COPY copied FROM '$tmp/pages'");
uses($from, 'those by which it extends the table, too', pages => 3000);
reads_none($from, 'and has not read them either');
sql(q{COPY pages TO '/dev/null'});
my $to = of_statement(q{COPY pages TO '/dev/null'});
uses($to, 'COPY TO has the pages that it reads');
sql(q{COPY (SELECT max(filler) FROM copied) TO '/dev/null'});
my $of_query = of_statement('COPY (SELECT%');
uses($of_query, 'COPY of a query has those of the query', pages => 3000);
nothing_else('no other has them', join(' OR ', $from, $to, $of_query));

# ---- logical decoding

# It looks up each table and its columns in the catalog: so it uses many pages, if there are
# many tables.
sql(q{SELECT pg_create_logical_replication_slot('slot', 'test_decoding')});
sql(q{
	DO $$BEGIN
		FOR i IN 1 .. 1500 LOOP
			EXECUTE format('CREATE TABLE small_%s (a int, b int, c int, d int, e int)', i);
		END LOOP;
	END$$});
sql(q{DO $$BEGIN FOR i IN 1 .. 1500 LOOP EXECUTE format('INSERT INTO small_%s VALUES (1)', i); END LOOP; END$$});
my $end = sql('SELECT pg_current_wal_insert_lsn()');
sql('CHECKPOINT');

sql('SELECT working_set_reset()');
sql(q{SELECT count(*) FROM pg_logical_slot_peek_changes('slot', NULL, NULL)});
my $peek = of_statement('SELECT count(*) FROM pg_logical_slot_peek_changes%');
ok($node->poll_query_until('postgres', "SELECT max(pages) > 400 FROM working_set_queries WHERE $peek"), 'decoding by a function counts for the statement')
  or diag(sql('SELECT * FROM working_set_queries'));
nothing_else('and for no other', $peek);

sql('SELECT working_set_reset()');
my ($out, $err) = ('', '');
my $decoder = IPC::Run::start([ 'pg_recvlogical', '-d', $node->connstr('postgres') . ' application_name=decoder', '-S', 'slot', '--start', '-f', "$tmp/decoded", '--no-loop', '-E', $end ],
	'<', \undef, '>', \$out, '2>', \$err);
sql('SELECT count(filler) FROM pages');
ok($decoder->finish, 'a walsender has decoded all') or diag($err);
like(slurp_file("$tmp/decoded"), qr/^table public\.small_1500: INSERT/m, 'of each table');
ok($node->poll_query_until('postgres', q{SELECT max(pages) > 400 FROM working_set_queries('5 min', 'application') WHERE application_name = 'decoder'}),
	'it has an application') or diag(sql(q{SELECT * FROM working_set_queries('5 min', 'application')}));
is(sql(q{SELECT count(*) FROM working_set_queries WHERE queryid IS NULL AND NOT is_other AND pages > 400 AND datname = 'postgres' AND rolname = current_user}), '1',
	'a database and a role, but no identifier') or diag(sql('SELECT * FROM working_set_queries'));
uses($count, 'a query beside it has its own pages');
nothing_else('and no other has them', $count);

# ---- a standby

my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
wait_for_worker($standby);
sql('SELECT working_set_reset()', $standby);
sql(q{SELECT make('more')});
sql(q{SELECT fill('more')});
$node->wait_for_catchup($standby);
my $redo = 'datname IS NULL AND rolname IS NULL AND queryid IS NULL AND NOT is_other';
uses($redo, 'redo has neither query nor role nor database', on => $standby);
my $fill = sql('SELECT queryid FROM pg_stat_statements WHERE query LIKE ' . q{'SELECT fill($1)'} . ' AND toplevel');
is(sql("SELECT count(*) FROM working_set_queries WHERE queryid = $fill", $standby), '0', 'and not the query of the primary');
sql('SELECT count(filler) FROM pages', $standby);
my $there = of_statement('SELECT count(filler) FROM pages');
uses($there, 'a query on a standby has its own pages', on => $standby);
sql('SELECT min(filler) FROM more', $standby);
my $min = of_statement('SELECT min(filler) FROM more');
uses($min, 'also of what redo brought', on => $standby);
reads_none($min, 'which it need not read', $standby);
nothing_else('no other has them', "$there OR $min", $standby);
uses($redo, 'redo has those that it had', on => $standby);

$standby->stop;
$node->stop;
done_testing();
