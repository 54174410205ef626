# Pages by relation, kind and database: used once or more than once, of another database, cut off, and
# of a relation that is held; and its reads in another period than that of the pages.

use lib 'test/t';
use server;
use clock;
use sampling;

# The clocks go on by themselves.  All pages are sampled.
my $clock = clock->new(running => 1);
my $node = $clock->new_server('shared_buffers = 2048');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION working_set');
make_table($node, 'elsewhere', 300, 'other');
my $file = $node->safe_psql('other', q{SELECT pg_relation_filenode('elsewhere')});
$node->safe_psql('postgres', 'SELECT working_set_reset()');
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
# used more than once is five seconds apart, and the worker notes when it has read of a use
wait_until($node, qq{bytes > 250 * current_setting('block_size')::int FROM working_set_relations WHERE relation = 'file $file'},
	'pages that were used are told');
$clock->pass(6);
$node->safe_psql('other', 'SELECT count(filler) FROM elsewhere');
wait_until($node, qq{reused_bytes > 0 FROM working_set_relations WHERE relation = 'file $file'},
	'pages that were used twice are told');
becomes($node, 'postgres', qq{
	SELECT datname, relid IS NULL, relkind IS NULL,
	       abs(bytes / current_setting('block_size')::float8 - 300) <= 10 + 4 * standard_error_bytes / current_setting('block_size')::float8,
	       reused_bytes >= bytes * 0.98, resident_bytes >= bytes * 0.98
	  FROM working_set_relations WHERE relation = 'file $file'},
	'other|t|t|t|t|t', 'a table of another database, by its name and number');
is($node->safe_psql('other', qq{
	SELECT relation, relkind FROM working_set_relations WHERE relid = 'elsewhere'::regclass}),
	'elsewhere|r', 'which that database can name');
is($node->safe_psql('postgres', q{
	SELECT count(*) FROM working_set_relations WHERE datname IS NULL AND relation LIKE 'pg\_%'}) > 0,
	1, 'shared catalogs have a name, and no database');
$node->safe_psql('postgres', 'DROP DATABASE other WITH (FORCE)');
# (the worker may have noticed that the file is gone)
is($node->safe_psql('postgres', qq{
	SELECT coalesce(bool_and(datname IS NULL AND relid IS NULL AND resident_bytes = 0), true)
	  FROM working_set_relations WHERE relation = 'file $file'}),
	't', 'its database dropped, it has neither');

# --- pages that have been cut off, and a relation that is held

make_table($node, 'cut', 1000);
wait_until($node, q{count(*) = 1 FROM working_set_relations WHERE relid = 'cut'::regclass},
	'a table that was filled has a row');
# (it holds it until it is told to end)
my $holder = in_background($node, 'BEGIN; LOCK TABLE cut; SELECT pg_sleep(3 * ' . patience() . ')');
my $held = q{FROM pg_locks WHERE relation = 'cut'::regclass AND mode = 'AccessExclusiveLock' AND granted};
wait_until($node, "count(*) = 1 $held", 'somebody holds it');
is($node->safe_psql('postgres', qq{
	SET lock_timeout = 1;
	SELECT count(*) FROM working_set_relations WHERE relid = 'cut'::regclass}),
	'1', 'it has one then, too, and nobody waits');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $held");
$holder->finish;
wait_until($node, "count(*) = 0 $held", 'nobody holds it any more');
$node->safe_psql('postgres', 'DELETE FROM cut');
$node->safe_psql('postgres', 'VACUUM cut');
is($node->safe_psql('postgres', q{SELECT pg_relation_size('cut')}), '0', 'emptied, its file has no pages');
is($node->safe_psql('postgres', q{SELECT coalesce(max(bytes), 0) <= pg_table_size('cut') FROM working_set_relations WHERE relid = 'cut'::regclass}),
	't', 'and no more than its maps are in use');

# --- reads are of the last minutes, whatever the period

make_table($node, 'once', 1500);
$clock->lend(sub { $node->restart });
wait_for_worker($node);
$node->safe_psql('postgres', 'SELECT count(filler) FROM once');
wait_until($node, q{bytes > 1400 * current_setting('block_size')::int FROM working_set_relations WHERE relid = 'once'::regclass},
	'a table that was read has a row');
$clock->let_pass($node, 120);
ok(eventually(sub {
	$node->safe_psql('postgres', q{SELECT count(filler) FROM once WHERE ctid < '(1,0)'});
	return $node->safe_psql('postgres', q{
		SELECT s.bytes < 0.1 * l.bytes AND s.reads_per_second BETWEEN 0.9 * l.reads_per_second AND 1.1 * l.reads_per_second
		  FROM working_set_relations('1 min') s JOIN working_set_relations('1 hour') l USING (relid)
		 WHERE relid = 'once'::regclass}) eq 't';
}), 'all its reads are told with the few pages that are used later');

finish($node);
