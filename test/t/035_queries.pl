# Who uses the cache: parallel plans, prepared statements, functions, roles and names that are
# strange, more queries than there are places for, a crash, a database that is dropped.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use pages;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $script = PostgreSQL::Test::Utils::tempdir;
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
compute_query_id = on
shared_buffers = 8192
autovacuum = off
fsync = off
max_parallel_workers_per_gather = 0
restart_after_crash = on
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
wait_for_worker($node);
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 1500) g;
	CREATE INDEX ON pages (id);
	VACUUM (FREEZE, ANALYZE) pages;
	CREATE FUNCTION read_all() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(filler) FROM pages); END$$;
	CREATE ROLE owner SUPERUSER LOGIN});
make_id_of($node);

sub sql
{
	my ($query) = @_;
	return $node->safe_psql('postgres', $query);
}

# A row by its query, with about so many pages: four standard errors, and some of the catalog.
sub uses
{
	my ($query, $name, $where) = @_;
	$where //= 'true';
	return ok($node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM working_set_queries('1 hour')
		 WHERE queryid = id_of(\$id\$$query\$id\$) AND $where
		   AND abs(pages - 1500) <= 150 + 4 * standard_error_bytes / current_setting('block_size')::int}), $name)
	  || diag(sql(q{SELECT * FROM working_set_queries('1 hour')}));
}

# All the pages are of this role, and of no other.
sub uses_by_role
{
	my ($role, $name) = @_;
	return ok($node->poll_query_until('postgres', qq{
		SELECT bool_or(rolname = $role AND pages > 1000) AND NOT bool_or(rolname <> $role AND pages > 1000)
		  FROM working_set_queries('5 min', 'role')}), $name)
	  || diag(sql(q{SELECT * FROM working_set_queries('5 min', 'role')}));
}

# ---- how a query runs

sql('SELECT working_set_reset()');
sql(q{
	SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;
	SELECT sum(length(filler)) FROM pages});
uses('SELECT sum(length(filler)) FROM pages', 'parallel workers have their leader\'s query', q{rolname IS NOT NULL});

# a statement that is prepared by the protocol; EXECUTE would be a statement of its own
append_to_file("$script/prepared.sql", "SELECT max(filler) FROM pages WHERE id > 0;\n");
$node->command_ok([ 'pgbench', '-n', '-M', 'prepared', '-t', '3', '-f', "$script/prepared.sql", 'postgres' ], 'pgbench runs');
SKIP: {
	skip 'before 15.9 and 16.5 the server reports no identifier for these', 1
	  if sql(q{SELECT v < 150009 OR v BETWEEN 160000 AND 160004 FROM current_setting('server_version_num') s, CAST(s AS int) v}) eq 't';
	uses('SELECT max(filler) FROM pages WHERE id > 5', 'a prepared statement');
}

sql('SELECT read_all() FROM generate_series(1, 2) AS one_and_two');
uses('SELECT read_all() FROM generate_series(1, 2) AS one_and_two', 'a function has the query that calls it');
is(sql(q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('(SELECT count(filler) FROM pages)')}), '0',
	'and not its own');

sql('BEGIN; SET LOCAL ROLE owner; SELECT count(id), count(filler) FROM pages; COMMIT');
uses('SELECT count(id), count(filler) FROM pages', 'a role that is set in the transaction', q{rolname = 'owner'});

# What is set in one transaction is not of the next, whose statement has no executor.
sql("SELECT working_set_reset();\nBEGIN;\nSET LOCAL ROLE owner;\nSELECT 1;\nCOMMIT;\nCOPY pages TO '/dev/null'");
uses_by_role('current_user', 'COPY has the role of the session');
sql("SELECT working_set_reset();\nBEGIN;\nSELECT 1;\nSET ROLE owner;\nCOMMIT;\nCOPY pages TO '/dev/null'");
uses_by_role(q{'owner'}, 'or the one that was set before');

# Workers of a parallel command have no statement.  In a few of them the first look-ups are of pages
# that others have used in the same tick.
sql('SELECT working_set_reset()');
sql(q{SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; SET maintenance_work_mem = '96MB';
	CREATE INDEX made ON pages (length(filler)); DROP INDEX made}) for 1 .. 10;
uses_by_role('current_user', 'CREATE INDEX has the role that logged in');
is(sql(q{SELECT count(*) FROM working_set_queries('5 min', 'role') WHERE rolname IS NULL AND pages > 300}), '0', 'and so have its workers');

# What VACUUM uses is maintenance, and not in the working set.
sql('SELECT working_set_reset(); VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages');
sql('SELECT count(*) FROM pages WHERE id < 10');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM working_set_queries WHERE queryid = id_of('SELECT count(*) FROM pages WHERE id < 10')}),
	'a query after VACUUM');
is(sql('SELECT count(*) FROM working_set_queries WHERE pages > 1000'), '0', 'VACUUM is no query');

# ---- reads

$node->restart;
wait_for_worker($node);
sql('SELECT count(filler) FROM pages');
# 1,500 pages, all of them sampled or not: four standard errors of a sample of one in four
ok($node->poll_query_until('postgres', q{
	SELECT abs(reads_per_second * extract(epoch FROM clock_timestamp() - since) - 1500) < 1500 * 0.25
	  FROM working_set_queries, working_set_info WHERE queryid = id_of('SELECT count(filler) FROM pages')}), 'a query reads so many pages')
  or diag(sql('SELECT queryid, pages, reads_per_second, clock_timestamp() - since FROM working_set_queries, working_set_info'));
sql('SELECT avg(length(filler)) FROM pages');
uses('SELECT avg(length(filler)) FROM pages', 'another one finds them');
# of the 1,500 pages; the catalog's few weigh much in the first seconds
ok($node->poll_query_until('postgres', q{SELECT reads_per_second < 1 FROM working_set_queries WHERE queryid = id_of('SELECT avg(length(filler)) FROM pages')}),
	'and reads none, or a few of the catalog');

# Reads of before a reset, whose events the worker has not seen yet, are no reads after it.
$node->restart;
wait_for_worker($node);
sql("SELECT count(filler), 9 FROM pages;\nSELECT working_set_reset()");
sql('SELECT count(filler), 9 FROM pages');
uses('SELECT count(filler), 9 FROM pages', 'after a reset', 'reads_per_second IS NOT NULL');
ok($node->poll_query_until('postgres', q{SELECT reads_per_second < 1 FROM working_set_queries WHERE queryid = id_of('SELECT count(filler), 9 FROM pages')}),
	'what was read before it does not count');

# A session that tells nobody what it does has no identifier.
sql(q{SET track_activities = off; SELECT stddev(length(filler)) FROM pages});
sql(q{SELECT variance(length(filler)) FROM pages});
uses('SELECT variance(length(filler)) FROM pages', 'one with an identifier');
is(sql(q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('SELECT stddev(length(filler)) FROM pages')}), '0', 'and one without');

# ---- more queries than there are places for

# Each of 2,048 differs in its operators, and reads thirty pages.  Beside them, one that is large.
my $expression = sub {
	my ($n) = @_;
	return join(' ', 'id', map { ($n >> $_ & 1 ? '+' : '-') . " $_" } 0 .. 10);
};
my $many = join('', map { 'SELECT sum(length(filler)), sum(' . $expression->($_) . ') FROM pages WHERE id BETWEEN ' . $_ % 1450 . ' AND ' . ($_ % 1450 + 30) . ";\n" } 0 .. 2047);

sql('SELECT working_set_reset()');
# if the worker is late in a flood, little of it is sampled
my $kept = q{
	SELECT count(*) > 200 AND bool_or(is_other AND datname IS NULL AND rolname IS NULL AND queryid IS NULL AND pages > 100)
	  FROM working_set_queries};
ok(eventually(sub {
		sql('SELECT count(filler), 1 FROM pages');
		sql("SET enable_seqscan = off;\n$many") for 1 .. 2;
		return sql($kept) eq 't';
	}), 'of thousands the largest are kept, and the others are one')
  or diag(sql('SELECT count(*), bool_or(is_other), max(pages) FILTER (WHERE is_other) FROM working_set_queries'));
uses('SELECT count(filler), 1 FROM pages', 'a large one among them', 'reused_bytes IS NOT NULL');
is(sql('SELECT count(*) FROM working_set_queries WHERE is_other'), '1', 'there is one row of others');
# once the worker has freed some places, which it does each second
eventually(sub {
	sql('SELECT count(filler), 2, 3 FROM pages');
	return sql(q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('SELECT count(filler), 2, 3 FROM pages') AND pages > 1000}) eq '1';
});
uses('SELECT count(filler), 2, 3 FROM pages', 'and a new one finds a place');

# ---- functions that are called by the protocol, as libpq does for large objects, are no statement

sql('SELECT working_set_reset()');
my $large = PostgreSQL::Test::Utils::tempdir() . '/large';
system_or_bail('dd', 'if=/dev/urandom', "of=$large", 'bs=1M', 'count=4', 'status=none');
sql("\\lo_import $large");
ok($node->poll_query_until('postgres', q{
	SELECT coalesce(max(pages) FILTER (WHERE queryid IS NULL AND NOT is_other), 0) > 300 AND
	       coalesce(max(pages) FILTER (WHERE queryid IS NOT NULL), 0) < 200 FROM working_set_queries('1 hour')}), 'they have no identifier')
  or diag(sql(q{SELECT * FROM working_set_queries('1 hour')}));

# ---- names: a flood at last, which thins the sample for longer than this test runs

for my $name ('', "\x{c3}\x{a4}; DROP TABLE pages; --", 'x' x 200, "tab\there", '%s%n')
{
	my $quoted = $name =~ s/'/''/gr;
	sql("SET application_name = '$quoted'; SELECT count(filler) FROM pages");
}
ok($node->poll_query_until('postgres', q{
	SELECT count(*) FILTER (WHERE application_name = '') = 1 AND count(*) FILTER (WHERE application_name ~ 'DROP TABLE pages; --$') = 1 AND
	       count(*) FILTER (WHERE application_name = repeat('x', 63)) = 1 AND count(*) FILTER (WHERE application_name = '%s%n') = 1
	  FROM working_set_queries('5 min', 'application')}), 'names of applications')
  or diag(sql(q{SELECT * FROM working_set_queries('5 min', 'application')}));
is(sql(q{SELECT count(*) FROM working_set_queries('5 min', 'application') WHERE application_name ~ '[^ -~]'}), '0', 'which are text');

# As many as jobs that are called after their number, in one session; again if the worker was late
ok(eventually(sub {
		sql(join('', map { "SET application_name = 'job $_'; SELECT count(filler) FROM pages WHERE id > $_;" } 1 .. 200));
		return sql(q{
			SELECT count(*) BETWEEN 30 AND 34 AND bool_or(is_other AND application_name IS NULL AND pages > 1000)
			  FROM working_set_queries('5 min', 'application')}) eq 't';
	}), 'too many applications are one')
  or diag(sql(q{SELECT * FROM working_set_queries('5 min', 'application')}));
uses('SELECT count(filler) FROM pages WHERE id > 5', 'and their query is still one');

# ---- a database and a role that are dropped

sql('CREATE DATABASE other');
$node->safe_psql('other', q{SET ROLE owner; CREATE TABLE big AS SELECT g, repeat('y', 500) AS y FROM generate_series(1, 20000) g});
$node->safe_psql('other', q{SET ROLE owner; SELECT count(y) FROM big});
ok($node->poll_query_until('postgres', q{SELECT bool_or(pages > 500) FROM working_set_queries WHERE datname = 'other' AND rolname = 'owner'}),
	'the database that the query ran in, and its role');
is(sql(q{SELECT count(*) FROM working_set_queries WHERE datname = 'other' AND pages > 500 AND queryid IS NULL}), '0', 'with its identifier');
# (the server waits five seconds for a session that is about to end)
eventually(sub { ($node->psql('postgres', 'DROP DATABASE IF EXISTS other WITH (FORCE)'))[0] == 0 }) or die 'it is not dropped';
sql('DROP ROLE owner');
ok(sql(q{SELECT count(*) FROM working_set_queries WHERE datname IS NULL AND rolname IS NULL AND queryid IS NOT NULL AND pages > 500}) > 0,
	'they have no names when they are gone');
is(sql(q{SELECT count(*) FROM working_set_queries WHERE datname = 'other' OR rolname = 'owner'}), '0', 'none at all');

# ---- the worker ends, the server crashes, nothing is sampled

sql('SELECT count(filler), 2, 3 FROM pages');
my $worker = sql('SELECT worker_pid FROM working_set_info');
kill TERM => $worker;
ok($node->poll_query_until('postgres', "SELECT worker_pid <> $worker FROM working_set_info"), 'another worker');
uses('SELECT count(filler), 2, 3 FROM pages', 'goes on with what was there');

# An update of the server may change identifiers, so none is kept where the sample is.
sql('SELECT count(filler), 2, 3 FROM pages');
uses('SELECT count(filler), 2, 3 FROM pages', 'used in the last five minutes');
my $before = sql('SELECT array_agg(queryid) FROM working_set_queries WHERE queryid IS NOT NULL');
$node->restart;
ok($node->poll_query_until('postgres', 'SELECT sum(pages) > 1000 FROM working_set_relations'), 'over a restart it knows the pages');
is(sql("SELECT count(*) FROM working_set_queries WHERE queryid = ANY ('$before')"), '0', 'and no query');

$node->stop('immediate');
$node->start;
wait_for_worker($node);
is(sql('SELECT count(*) FROM working_set_queries WHERE pages > 1000'), '0', 'after a restart it starts over');
sql('SELECT count(filler), 4 FROM pages');
uses('SELECT count(filler), 4 FROM pages', 'and sees what comes');

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
ok($node->poll_query_until('postgres', 'SELECT NOT tracking FROM working_set_info'), 'switched off');
is(sql('SELECT count(*) FROM working_set_queries'), '0', 'there are no rows');
$node->append_conf('postgresql.conf', "working_set.enabled = on\nworking_set.sample_pages = 0");
$node->restart;
is(sql('SELECT tracking, (SELECT count(*) FROM working_set_queries) FROM working_set_info'), 't|0', 'nor without a sample');
$node->append_conf('postgresql.conf', "working_set.sample_pages = 1024");
$node->restart;
wait_for_worker($node);
sql('SELECT count(filler), 5 FROM pages');
uses('SELECT count(filler), 5 FROM pages', 'the smallest sample gives an answer');

# 32 names at most, also under load; and no server process has crashed but by this test
unlike(slurp_file($node->logfile), qr/was terminated by signal|PANIC:|TRAP:/, 'no crash');
$node->stop;
done_testing();
