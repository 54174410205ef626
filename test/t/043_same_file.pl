# Two relations that have a file of the same number, by pg_class.

use lib 'test/t';
use server;
use clock;
use sampling;

my $clock = clock->new(running => 1);
my $node = $clock->new_server("shared_buffers = 2048\nallow_system_table_mods = on");
make_table($node, 'first', 1000);
make_table($node, 'pages', 100);
sql($node, 'CREATE TABLE second (id int)');
my $file = sql($node, q{SELECT pg_relation_filenode('first')});
my $where = "WHERE relation IN ('first', 'file $file')";
wait_until($node, "bytes > 900 * current_setting('block_size')::int FROM working_set_relations $where", 'a table is sampled');
$clock->pass(61);
wait_until($node, q{status = 'ok' FROM working_set_recommendation}, 'there is a recommendation');

sub names
{
	my ($relation, $top, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is(sql($node, qq{SELECT relid::regclass, relkind, bytes > 900 * current_setting('block_size')::int FROM working_set_relations $where}), "$relation|t", "$name: its row");
	is(sql($node, q{SELECT relation FROM working_set_relations WHERE relid = 'pages'::regclass}), 'pages', "$name: others");
	return like(sql($node, 'SELECT working_set()'), qr/\b$top\b/, "$name: working_set()");
}

names('first|r', 'first', 'one table');
sql($node, "UPDATE pg_class SET relfilenode = $file WHERE relname = 'second'");
names('|', "file $file of postgres", 'two tables');
# files of temporary tables are numbered apart, so a number may be that of another's
sql($node, "UPDATE pg_class SET relpersistence = 't' WHERE relname = 'second'");
names('first|r', 'first', 'a temporary one');
sql($node, "UPDATE pg_class SET relfilenode = 0 WHERE relname = 'second'");
# catalogs whose files are not in pg_class, of this database and of all
is(sql($node, q{SELECT count(*) FROM working_set_relations WHERE relation IN ('pg_class', 'pg_database')}),
	'2', 'mapped catalogs have their names');

finish($node);
