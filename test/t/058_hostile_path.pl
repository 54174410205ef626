# A hostile schema, and temporary objects, are first in the search_path: neither creating the
# extension nor reading steps on a trap, and what is planted in the schema that it is created in is
# not run.

use lib 'test/t';
use server;
use members;
use roles;

my $node = new_server_with_roles();

my $superuser = sql($node, 'SELECT current_user');

# ---- a hostile schema, and temporary objects, are first in the path all the time

# An unprivileged role puts traps there: [what, how it is laid, how one steps on it].
my @traps;
for my $name (qw(bigint float8 text oid timestamptz interval boolean))
{
	my $type = $name =~ /^(bigint|interval|boolean)$/ ? $name : "pg_catalog.$name";
	for my $operator ('=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||')
	{
		push @traps, [ "operator $operator ($name, $name)",
			"CREATE OPERATOR hostile.$operator (LEFTARG = $type, RIGHTARG = $type, FUNCTION = hostile.trap_$name)",
			"SELECT NULL::$type $operator NULL::$type" ];
	}
}
for my $call ('pg_size_pretty(bigint)', 'current_setting(pg_catalog.text)', 'round(float8)',
	'format(pg_catalog.text, bigint)', 'now()', 'clock_timestamp()', 'pg_relation_size(regclass)',
	'generate_series(integer, integer)', 'has_function_privilege(pg_catalog.text, pg_catalog.text)',
	# those of our own names; with no argument, they fit a call without better than ours
	'approximate_working_set_size_seconds()', 'approximate_working_set_size()',
	'working_set_size()', 'working_set_curve()', 'working_set_chart()', 'working_set_memory_chart()', 'working_set()', 'working_set_recommendation()',
	'working_set_cache_advice()', 'working_set_relations()', 'working_set_queries()',
	'working_set_history()', 'working_set_forecast()', 'working_set_info()', 'working_set_reset()')
{
	my ($name, $types) = $call =~ /^(\w+)\((.*)\)$/;
	my $arguments = join(', ', map { "NULL::$_" } split(/, /, $types));
	push @traps, [ $call,
		"CREATE FUNCTION hostile.$call RETURNS bigint LANGUAGE plpgsql AS \$\$BEGIN RETURN hostile.spring(); END\$\$",
		"SELECT $name($arguments)" ];
}
push @traps, [ 'count(*)',
	'CREATE AGGREGATE hostile.count(*) (SFUNC = hostile.trap_aggregate, STYPE = bigint)',
	'SELECT count(*) FROM (VALUES (1)) v' ];
for my $name (qw(text oid int4 int8 float8 regclass timestamptz bool char name))
{
	push @traps, [ "type $name",
		qq{CREATE DOMAIN hostile."$name" AS pg_catalog."$name" CHECK (hostile.spring() > 0)},
		qq{SELECT NULL::"$name"} ];
}
push @traps, [ 'cast',
	q{CREATE TYPE hostile.coat AS ENUM ('cloth');
	  CREATE FUNCTION hostile.undress(hostile.coat) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN hostile.spring(); END';
	  CREATE CAST (hostile.coat AS bigint) WITH FUNCTION hostile.undress AS IMPLICIT},
	q{SELECT int8abs('cloth'::coat)} ];
for my $name (qw(pg_class pg_database pg_proc pg_settings pg_extension pg_tablespace pg_authid
	working_set_curve working_set_recommendation working_set_cache_advice working_set_relations
	working_set_queries working_set_history working_set_forecast working_set_info))
{
	push @traps, [ "view $name", "CREATE VIEW hostile.$name AS SELECT hostile.spring()",
		"SELECT * FROM $name" ];
}

# A sequence, because what it counts is not undone with the transaction.
my $hostile = q{
	CREATE SCHEMA hostile;
	GRANT USAGE ON SCHEMA hostile TO public;
	CREATE SEQUENCE hostile.sprung;
	GRANT ALL ON SEQUENCE hostile.sprung TO public;
	CREATE FUNCTION hostile.spring() RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN RETURN pg_catalog.nextval('hostile.sprung'); END$$;
	CREATE FUNCTION hostile.trap_aggregate(bigint) RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN RETURN hostile.spring(); END$$;
};
for my $name (qw(bigint float8 text oid timestamptz interval boolean))
{
	$hostile .= "CREATE FUNCTION hostile.trap_$name($name, $name) RETURNS boolean LANGUAGE plpgsql AS "
	  . "\$\$BEGIN RETURN hostile.spring() > 0; END\$\$;\n";
}
as($node, 'ws_mallory', "SET search_path = pg_catalog; $hostile" . join('', map { "$_->[1];\n" } @traps)
	  . 'GRANT SELECT ON ALL TABLES IN SCHEMA hostile TO public');

my $hostile_path = 'SET search_path = pg_temp, hostile, pg_catalog, public, ws;';
my $sprung = 'SELECT last_value - (NOT is_called)::int FROM hostile.sprung';

# each of them works: who steps on it runs what that role wrote
my (undef, $counts) = $node->psql('postgres',
	join('', map { "$hostile_path $_->[2] \\g /dev/null\nRESET search_path;\n$sprung;\n" } @traps), on_error_stop => 0);
my @counts = (0, split /\n/, $counts);
my @idle = map { $traps[$_][0] } grep { $counts[ $_ + 1 ] <= $counts[$_] } 0 .. $#traps;
is(scalar(@counts), 1 + @traps, 'each of them was stepped on');
cmp_ok(scalar(@traps), '>', 100, 'there are traps');
is(join('; ', @idle), '', 'and each of them works');
sql($node, 'ALTER SEQUENCE hostile.sprung RESTART');

# temporary objects of our names, in the very session that creates the extension
sql($node, qq{
	CREATE SCHEMA ws;
	CREATE TEMP VIEW working_set_curve AS SELECT hostile.spring();
	CREATE TEMP VIEW working_set_info AS SELECT hostile.spring();
	CREATE TEMP VIEW pg_class AS SELECT hostile.spring();
	$hostile_path
	CREATE EXTENSION working_set SCHEMA ws;
});
is(sql($node, $sprung), '0', 'CREATE EXTENSION steps on none of them');

# all that the extension has, from the catalog: what is added later is seen, too
sql($node, 'GRANT USAGE ON SCHEMA ws TO public; GRANT EXECUTE ON FUNCTION ws.working_set_reset() TO ws_resetter');
my @functions = functions($node);
my @views = views($node);

# ---- the hostile schema, again: reading steps on nothing, and answers are the same

# What the views and the functions' defaults call was bound when they were made.
my $bound = qq{
	WITH members AS (SELECT d.classid, d.objid FROM $of_extension),
	rules AS (SELECT r.oid FROM pg_rewrite r JOIN members m ON m.classid = 'pg_class'::regclass AND m.objid = r.ev_class)
	SELECT count(*), string_agg(pg_describe_object(d.refclassid, d.refobjid, 0), ', ')
	       FILTER (WHERE NOT EXISTS (SELECT FROM members m WHERE m.classid = d.refclassid AND m.objid = d.refobjid)
	                 AND d.refclassid <> 'pg_namespace'::regclass)
	  FROM pg_depend d
	 WHERE d.deptype = 'n' AND (d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT oid FROM rules)
	       OR (d.classid, d.objid) IN (SELECT classid, objid FROM members))};
my $bindings = sql($node, $bound);
like($bindings, qr/^\d+\|$/, 'views and functions depend on each other and on the system only');
cmp_ok((split /\|/, $bindings)[0], '>=', scalar(@views), 'and each view depends on something');

# Columns that do not change from one moment to the next; others are read, too.
my %lasting = (
	working_set_curve => 'seconds',
	working_set_recommendation => 'status, shared_buffers_bytes, memory_limit_bytes',
	working_set_cache_advice => 'size_factor, cache_bytes',
	working_set_info => 'tracking, reason, since, worker_pid, version');
my @readings = "SELECT * FROM ws.working_set_plateau_end('{1,2,3,4,5,60,600}');\n";
for my $view (@views)
{
	push @readings, "TABLE ws.$view \\g /dev/null\n";
	push @readings, "SELECT $lasting{$view} FROM ws.$view;\n" if $lasting{$view};
}
for my $f (grep { $_->{name} ne 'working_set_reset' } @functions)
{
	push @readings, map { "SELECT * FROM $_ \\g /dev/null\n" } @{ $f->{calls} };
}
for my $role ($superuser, 'ws_monitor')
{
	my $temporary = 'CREATE TEMP VIEW pg_class AS SELECT hostile.spring(); CREATE TEMP VIEW working_set_info AS SELECT hostile.spring();';
	my @unqualified = map { s/\bws\.//gr } @readings;
	my ($expected, $answer, $unqualified);
	# The worker may come, be late, or report between two readings; a difference that comes
	# from the path is there each time.
	for (1 .. 10)
	{
		$expected = as($node, $role, join('', @readings));
		$answer = as($node, $role, join('', "$temporary $hostile_path\n", @readings));
		# without the schema's name, too, if ours comes before theirs
		$unqualified = as($node, $role, join('', "$temporary SET search_path = ws, hostile, pg_catalog, pg_temp;\n", @unqualified));
		last if $answer eq $expected && $unqualified eq $expected;
	}
	cmp_ok(scalar(split /\n/, $expected), '>', 80, "$role reads");
	is($answer, $expected, 'and reads the same with a hostile path');
	is($unqualified, $expected, 'and without naming our schema, if it is the first');
}
as($node, 'ws_resetter', "$hostile_path SELECT ws.working_set_reset(), ws.approximate_working_set_size(true)");
is(sql($node, $sprung), '0', 'all that steps on no trap');

# The schema that the extension is created in is theirs, and has something in it that the
# script could take for its own, or call instead.  It is not made then, or does not call it.
$node->safe_psql('postgres', 'CREATE DATABASE planted');
$node->safe_psql('planted', q{
	CREATE SCHEMA traps;
	CREATE SEQUENCE traps.sprung;
	CREATE FUNCTION traps.spring() RETURNS bigint LANGUAGE plpgsql AS
		$$BEGIN RETURN pg_catalog.nextval('traps.sprung'); END$$});
my $body = 'RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN traps.spring(); END$$';
my @plants = map { [ "CREATE VIEW theirs.$_ AS SELECT traps.spring()", '42P07' ] } @views;
for my $f (@functions)
{
	push @plants, [ "CREATE FUNCTION theirs.$f->{name}(" . join(', ', @{ $f->{types} }) . ") $body", '42723' ];
	# without arguments, it fits our call as well as ours with its defaults; a view calls it so
	push @plants, [ "CREATE FUNCTION theirs.$f->{name}() $body", (grep { $_ eq $f->{name} } @views) ? '42725' : '' ]
	  if @{ $f->{types} };
}
for my $plant (@plants)
{
	my ($what, $expected) = @$plant;
	my ($out, $state) = run_as($node, $superuser, "CREATE SCHEMA theirs; $what; CREATE EXTENSION working_set SCHEMA theirs", 'planted');
	my ($name) = $what =~ /^(CREATE \w+ [^)]+\)?)/;
	is($state, $expected, ($expected eq '' ? 'created in spite of' : 'not created after') . ": $name");
	$node->safe_psql('planted', join('', map { "TABLE theirs.$_ \\g /dev/null\n" } @views)) if $state eq '';
	$node->safe_psql('planted', 'DROP SCHEMA theirs CASCADE');
}
# operators and functions that fit mixed types better than the system's, which takes them by a cast
my %made = (float8 => '1::float8', boolean => 'true', text => q{'1'::text});
my $better = 'CREATE SCHEMA theirs;';
my @types = qw(int4 int8 float8 numeric text);
for my $left (@types)
{
	for my $right (@types)
	{
		for my $result (sort keys %made)
		{
			$better .= "CREATE FUNCTION theirs.trap_$result($left, $right) RETURNS $result LANGUAGE plpgsql AS "
			  . "\$\$BEGIN PERFORM traps.spring(); RETURN $made{$result}; END\$\$;";
		}
		$better .= "CREATE OPERATOR theirs.$_ (LEFTARG = $left, RIGHTARG = $right, FUNCTION = theirs.trap_float8);" for qw(+ - * / ^ %);
		$better .= "CREATE OPERATOR theirs.$_ (LEFTARG = $left, RIGHTARG = $right, FUNCTION = theirs.trap_boolean);" for qw(= <> < <= > >=);
		$better .= "CREATE OPERATOR theirs.|| (LEFTARG = $left, RIGHTARG = $right, FUNCTION = theirs.trap_text);";
	}
}
for my $name (qw(format concat concat_ws))
{
	$better .= "CREATE FUNCTION theirs.$name(" . join(', ', ('text') x $_) . ") RETURNS text LANGUAGE plpgsql AS "
	  . "\$\$BEGIN PERFORM traps.spring(); RETURN '1'; END\$\$;" for 1 .. 8;
}
$node->safe_psql('planted', "$better CREATE EXTENSION working_set SCHEMA theirs;" . join('', map { "TABLE theirs.$_ \\g /dev/null\n" } @views)
	  . 'SELECT theirs.working_set_chart(), theirs.working_set_memory_chart() \g /dev/null');
is($node->safe_psql('planted', 'SELECT 1.5::numeric OPERATOR(theirs.*) 2::float8'), '1', 'what fits better is there');
is($node->safe_psql('planted', 'SELECT last_value FROM traps.sprung'), '1', 'and only this ran it');
$node->safe_psql('planted', 'ALTER SEQUENCE traps.sprung RESTART');
is($node->safe_psql('planted', 'SELECT is_called FROM traps.sprung'), 'f', 'nothing that was planted is run');
is($node->safe_psql('planted', 'SELECT traps.spring()'), '1', 'which would be seen');

finish($node);
