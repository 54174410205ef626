# Functions that loop over the sample, or make many rows, are cancelled before the next step; what a
# relation costs them.

use lib 'test/t';
use server;
use clock;
use library;
use sampling;

# No time is measured: a library cancels the query of its own session at the n-th step, and counts
# those that come after.
my $library = PostgreSQL::Test::Utils::tempdir() . '/ws_test_interrupts.so';
build_library($library, 'test/t/interrupts.c');
my $clock = clock->new(running => 1);
my $node = $clock->new_server('shared_buffers = 2048');
my $resident = 1024;    # src/sql/sql_relations.c: RESIDENT_STEP

sql($node, qq{
	CREATE FUNCTION ws_test_interrupt(text, int) RETURNS void LANGUAGE C STRICT AS '$library';
	CREATE FUNCTION ws_test_calls() RETURNS int LANGUAGE C AS '$library';
	DO \$\$ BEGIN FOR i IN 1 .. 200 LOOP EXECUTE format('CREATE TABLE many_%s AS SELECT 1 AS id', i); END LOOP; END \$\$});
make_table($node, 'pages', 4000);
# what a rush has thinned is sampled again a minute later, and the history has a row a minute; a rush
# is many pages in a short time, so a time between some of them is what avoids it
ok(eventually(sub {
	$clock->pass(61);
	sql($node, q{
		SELECT count(filler) FROM pages;
		DO $$ BEGIN FOR i IN 1 .. 200 LOOP
			EXECUTE format('SELECT FROM many_%s', i);
			IF i % 20 = 0 THEN COMMIT; PERFORM pg_sleep(0.02); END IF;
		END LOOP; END $$});
	return sql($node, q{
		SELECT count(*) FILTER (WHERE relation::text LIKE 'many\_%') > 120 AND
		       (SELECT sampled_pages > 2000 FROM working_set_info) AND (SELECT count(*) > 2 FROM working_set_history) AND
		       (SELECT status = 'ok' FROM working_set_recommendation)
		  FROM working_set_relations('1 hour')}) eq 't';
}), 'many relations and pages are sampled, and there is a recommendation');

# The number of steps after the n-th, or what happened instead; whatever the session has cached.
sub steps_after
{
	my ($symbol, $n, $query) = @_;
	my ($status, $out, $err) = $node->psql('postgres', qq{
		\\set VERBOSITY sqlstate
		$query \\g /dev/null
		SELECT ws_test_interrupt('$symbol', $n) \\g /dev/null
		$query \\g /dev/null
		SELECT ws_test_calls()}, on_error_stop => 0);
	return $n == 0 || $err =~ /57014/ ? $out : "not cancelled: $out$err";
}

my $after = steps_after('BufTableLookup', 100, q{SELECT * FROM working_set_relations('1 hour')});
cmp_ok($after, '<', $resident, 'cancelled among the pages that may be in shared buffers') if $after =~ /^\d+$/
  or fail($after);
for my $query (q{SELECT * FROM working_set_relations('1 hour')}, 'SELECT working_set()')
{
	is(steps_after('pg_snprintf', 100, $query), '0', "$query: among the files");
}
is(steps_after('systable_beginscan', 100, q{SELECT * FROM working_set_relations('1 hour')}), '0', 'among the names');
for my $function (q{relations('1 hour')}, q{queries('1 hour')}, 'history', 'memory_advice', 'cache_advice', 'curve', 'forecast')
{
	is(steps_after('tuplestore_putvalues', 1, "SELECT * FROM working_set_$function"), '0', "working_set_$function: among the rows");
}

# ---- a look into the catalog for a relation, whatever its forks, and one for the statistics of a table

is(steps_after('systable_beginscan', 0, 'SELECT working_set()') <= 3, 1, 'working_set() looks for the relations that it shows');
my ($rows, $looks) = split /\n/, $node->safe_psql('postgres', q{
	SELECT ws_test_interrupt('systable_beginscan', 0) \g /dev/null
	SELECT count(*) FILTER (WHERE datname = current_database()) + count(density) FROM working_set_relations('1 hour');
	SELECT ws_test_calls()});
is($looks, $rows, 'working_set_relations looks for each relation once');

finish($node);
