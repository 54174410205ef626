# Who uses the cache, by how a query runs: parallel plans, prepared statements, functions, roles,
# COPY, CREATE INDEX, VACUUM, and calls by the protocol.

use lib 'test/t';
use server;
use queries;

my $script = PostgreSQL::Test::Utils::tempdir;
my $node = new_queried();

sql($node, q{
	CREATE FUNCTION read_all() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(filler) FROM pages); END$$});

sql($node, 'SELECT working_set_reset()');
sql($node, q{
	SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET cpu_tuple_cost = 1; SET parallel_leader_participation = off;
	SELECT sum(length(filler)) FROM pages});
uses($node, 'SELECT sum(length(filler)) FROM pages', 'parallel workers have their leader\'s query', q{rolname IS NOT NULL});

# a statement that is prepared by the protocol; EXECUTE would be a statement of its own
append_to_file("$script/prepared.sql", "SELECT max(filler) FROM pages WHERE id > 0;\n");
$node->command_ok([ 'pgbench', '-n', '-M', 'prepared', '-t', '3', '-f', "$script/prepared.sql", 'postgres' ], 'pgbench runs');
SKIP: {
	skip 'before 15.9 and 16.5 the server reports no identifier for these', 1
	  if sql($node, q{SELECT v < 150009 OR v BETWEEN 160000 AND 160004 FROM current_setting('server_version_num') s, CAST(s AS int) v}) eq 't';
	uses($node, 'SELECT max(filler) FROM pages WHERE id > 5', 'a prepared statement');
}

sql($node, 'SELECT read_all() FROM generate_series(1, 2) AS one_and_two');
uses($node, 'SELECT read_all() FROM generate_series(1, 2) AS one_and_two', 'a function has the query that calls it');
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE queryid = id_of('(SELECT count(filler) FROM pages)')}), '0',
	'and not its own');

sql($node, 'BEGIN; SET LOCAL ROLE owner; SELECT count(id), count(filler) FROM pages; COMMIT');
uses($node, 'SELECT count(id), count(filler) FROM pages', 'a role that is set in the transaction', q{rolname = 'owner'});

# What is set in one transaction is not of the next, whose statement has no executor.
sql($node, "SELECT working_set_reset();\nBEGIN;\nSET LOCAL ROLE owner;\nSELECT 1;\nCOMMIT;\nCOPY pages TO '/dev/null'");
uses_by_role($node, 'current_user', 'COPY has the role of the session');
sql($node, "SELECT working_set_reset();\nBEGIN;\nSELECT 1;\nSET ROLE owner;\nCOMMIT;\nCOPY pages TO '/dev/null'");
uses_by_role($node, q{'owner'}, 'or the one that was set before');

# Workers of a parallel command have no statement.  In a few of them the first look-ups are of pages
# that others have used in the same tick.
sql($node, 'SELECT working_set_reset()');
sql($node, q{SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; SET maintenance_work_mem = '96MB';
	CREATE INDEX made ON pages (length(filler)); DROP INDEX made}) for 1 .. 10;
uses_by_role($node, 'current_user', 'CREATE INDEX has the role that logged in');
is(sql($node, q{SELECT count(*) FROM working_set_queries('5 min', 'role') WHERE rolname IS NULL AND bytes > 300 * current_setting('block_size')::int}), '0', 'and so have its workers');

# What VACUUM uses is maintenance, and not in the working set.
sql($node, 'SELECT working_set_reset(); VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) pages');
sql($node, 'SELECT count(*) FROM pages WHERE id < 10');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM working_set_queries WHERE queryid = id_of('SELECT count(*) FROM pages WHERE id < 10')}),
	'a query after VACUUM');
is(sql($node, 'SELECT count(*) FROM working_set_queries WHERE bytes > 1000 * current_setting(\'block_size\')::int'), '0', 'VACUUM is no query');

# ---- functions that are called by the protocol, as libpq does for large objects, are no statement

sql($node, 'SELECT working_set_reset()');
my $large = PostgreSQL::Test::Utils::tempdir() . '/large';
system_or_bail('dd', 'if=/dev/urandom', "of=$large", 'bs=1M', 'count=4', 'status=none');
sql($node, "\\lo_import $large");
ok($node->poll_query_until('postgres', q{
	SELECT coalesce(max(bytes) FILTER (WHERE queryid IS NULL AND application_name IS NULL), 0) > 300 * current_setting('block_size')::int AND
	       coalesce(max(bytes) FILTER (WHERE queryid IS NOT NULL), 0) < 200 * current_setting('block_size')::int FROM working_set_queries('1 hour')}), 'they have no identifier')
  or diag(sql($node, q{SELECT * FROM working_set_queries('1 hour')}));

finish($node);
