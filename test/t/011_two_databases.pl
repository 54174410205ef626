# Two databases: one, or both of them, have the extension, and both show the same server; one is
# dropped while its pages are known.

use lib 'test/t';
use server;

my $node = new_server('main');
make_table($node, 'pages', 3000);
$node->safe_psql('postgres', 'CREATE DATABASE other');
make_table($node, 'elsewhere', 2000, 'other');
my $other_file = $node->safe_psql('other', q{SELECT pg_relation_filenode('elsewhere')});

# only the first has the extension; what the second does counts
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
about($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'), 2000, 300,
	'a database without the extension counts');
like(refusal($node, 'other', 'SELECT approximate_working_set_size();'), qr/42883/,
	'and cannot ask');

# both have it, in different schemas
$node->safe_psql('other', 'CREATE SCHEMA tools; CREATE EXTENSION working_set SCHEMA tools');
is($node->safe_psql('other', q{SET search_path = tools; SELECT worker_pid, since, sampled_pages IS NOT NULL, version FROM working_set_info}),
	info($node, 'worker_pid, since, sampled_pages IS NOT NULL, version'), 'both show the same server');
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
about($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'), 5000, 600, 'seen by the one');
about($node->safe_psql('other', 'SELECT tools.approximate_working_set_size()'), 5000, 600, 'by the other');
about($node->safe_psql('other', q{SELECT pages FROM tools.working_set_curve('{600}')}), 5000, 600,
	'and in its curve');
# the one who resets, resets for all
is($node->safe_psql('other', q{
	SELECT tools.working_set_reset() \g /dev/null
	SELECT since FROM tools.working_set_info}), info($node, 'since'), 'a reset is for all');
cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'), '<', 1000, 'and forgets for all');

# in each, the other's relations are numbers
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
wait_for($node, qq{count(*) = 1 FROM working_set_relations WHERE relation = 'file $other_file'
	AND datname = 'other' AND relid IS NULL}, 'the sample does not know the table');
wait_for($node, qq{count(*) = 1 FROM tools.working_set_relations WHERE relid = 'elsewhere'::regclass
	AND datname = 'other' AND relation = 'elsewhere'}, 'nor does its own database', 'other');
pass('a table has a name in its own database');

# dropped from the one, it stays in the other
my $worker = info($node, 'worker_pid');
$node->safe_psql('other', 'DROP EXTENSION working_set');
like(refusal($node, 'other', 'SELECT tools.approximate_working_set_size();'), qr/42883/, 'dropped from one database');
is(info($node, 'tracking, worker_pid'), "t|$worker", 'the other still has it');
about($node->safe_psql('postgres', q{
	SELECT working_set_reset() \g /dev/null
	SELECT count(filler) FROM pages \g /dev/null
	SELECT approximate_working_set_size()}), 3000, 300, 'and counts on');

# a database is dropped while its pages are known
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
wait_for($node, qq{sum(bytes) > 1000 * current_setting('block_size')::int AND sum(resident_bytes) > 0 FROM working_set_relations WHERE datname = 'other'},
	'the sample does not know the database');
my $oid = $node->safe_psql('postgres', q{SELECT oid FROM pg_database WHERE datname = 'other'});
$node->safe_psql('postgres', 'DROP DATABASE other WITH (FORCE)');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM working_set_relations WHERE datname = 'other'}),
	'0', 'a dropped database has no name');
is($node->safe_psql('postgres', qq{
	SELECT count(*), bool_and(datname IS NULL AND relid IS NULL AND resident_bytes = 0)
	  FROM working_set_relations WHERE relation = 'file $other_file'}),
	'1|t', 'nor has its table, nor is it in the cache');
# they were used, and so they count, until the window has gone by
about($node->safe_psql('postgres', 'SELECT approximate_working_set_size()'), 5000, 600, 'its pages were used');
# another of the same name is another
$node->safe_psql('postgres', 'CREATE DATABASE other');
isnt($node->safe_psql('postgres', q{SELECT oid FROM pg_database WHERE datname = 'other'}), $oid, 'made anew');
is($node->safe_psql('postgres', qq{
	SELECT datname IS NULL FROM working_set_relations WHERE relation = 'file $other_file'}),
	't', 'it does not inherit the pages');

finish($node);
