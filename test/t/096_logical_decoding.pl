# Logical decoding: by a function it is that statement's, by a walsender it has no identifier, but a
# database, a role and an application.

use lib 'test/t';
use server;
use IPC::Run;
use beside;

skip_without('test_decoding');
my $tmp = PostgreSQL::Test::Utils::tempdir;
my $node = new_stated();
my $count = of_statement('SELECT count(filler) FROM pages');

# It looks up each table and its columns in the catalog: so it uses many pages, if there are
# many tables.
sql($node, q{SELECT pg_create_logical_replication_slot('slot', 'test_decoding')});
sql($node, q{
	DO $$BEGIN
		FOR i IN 1 .. 1500 LOOP
			EXECUTE format('CREATE TABLE small_%s (a int, b int, c int, d int, e int)', i);
		END LOOP;
	END$$});
sql($node, q{DO $$BEGIN FOR i IN 1 .. 1500 LOOP EXECUTE format('INSERT INTO small_%s VALUES (1)', i); END LOOP; END$$});
my $end = sql($node, 'SELECT pg_current_wal_insert_lsn()');
sql($node, 'CHECKPOINT');

sql($node, 'SELECT working_set_reset()');
sql($node, q{SELECT count(*) FROM pg_logical_slot_peek_changes('slot', NULL, NULL)});
my $peek = of_statement('SELECT count(*) FROM pg_logical_slot_peek_changes%');
ok($node->poll_query_until('postgres', "SELECT max(bytes) > 400 * current_setting('block_size')::int FROM working_set_queries WHERE $peek"), 'decoding by a function counts for the statement')
  or diag(sql($node, 'SELECT * FROM working_set_queries'));
nothing_else($node, 'and for no other', $peek);

sql($node, 'SELECT working_set_reset()');
my ($out, $err) = ('', '');
my $decoder = IPC::Run::start([ 'pg_recvlogical', '-d', $node->connstr('postgres') . ' application_name=decoder', '-S', 'slot', '--start', '-f', "$tmp/decoded", '--no-loop', '-E', $end ],
	'<', \undef, '>', \$out, '2>', \$err);
sql($node, 'SELECT count(filler) FROM pages');
ok($decoder->finish, 'a walsender has decoded all') or diag($err);
like(slurp_file("$tmp/decoded"), qr/^table public\.small_1500: INSERT/m, 'of each table');
ok($node->poll_query_until('postgres', q{SELECT max(bytes) > 400 * current_setting('block_size')::int FROM working_set_queries('5 min', 'application') WHERE application_name = 'decoder'}),
	'it has an application') or diag(sql($node, q{SELECT * FROM working_set_queries('5 min', 'application')}));
is(sql($node, q{SELECT count(*) FROM working_set_queries WHERE queryid IS NULL AND application_name IS NULL AND bytes > 400 * current_setting('block_size')::int AND datname = 'postgres' AND rolname = current_user}), '1',
	'a database and a role, but no identifier') or diag(sql($node, 'SELECT * FROM working_set_queries'));
has_pages($node, $count, 'a query beside it has its own pages');
nothing_else($node, 'and no other has them', $count);

finish($node);
