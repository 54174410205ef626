# Who may do what, and who cannot make others do it: privileges of every function and
# view that the extension has, a hostile schema first in the search path, names of
# relations of other databases, and ten thousand calls with random arguments.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
shared_buffers = '16MB'
autovacuum = off
fsync = off
work_mem = '16MB'
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE ROLE ws_nobody LOGIN;
	CREATE ROLE ws_monitor LOGIN;
	GRANT pg_monitor TO ws_monitor;
	CREATE ROLE ws_resetter LOGIN;
	GRANT pg_monitor TO ws_resetter;
	CREATE ROLE ws_mallory LOGIN;
	GRANT CREATE ON DATABASE postgres TO ws_mallory;
});

# Run SQL as a role; returns what it printed, and the sqlstate of the error, if any.
sub run_as
{
	my ($role, $sql, $database) = @_;
	my ($status, $out, $err) = $node->psql($database // 'postgres',
		"\\set VERBOSITY sqlstate\n$sql", extra_params => [ '-U', $role ]);
	my ($state) = $err =~ /ERROR:  (\w{5})$/m;
	return ($out, $status == 0 ? '' : $state // $err);
}

sub as
{
	my ($role, $sql, $database) = @_;
	my ($out, $state) = run_as($role, $sql, $database);
	die "$sql\nas $role: $state" if $state ne '';
	return $out;
}

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

my $superuser = sql('SELECT current_user');

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
	'working_set_cache_advice()', 'working_set_relations()', 'working_set_databases()', 'working_set_queries()',
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
	working_set_databases working_set_queries working_set_history working_set_forecast working_set_info))
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
as('ws_mallory', "SET search_path = pg_catalog; $hostile" . join('', map { "$_->[1];\n" } @traps)
	  . 'GRANT SELECT ON ALL TABLES IN SCHEMA hostile TO public');

my $hostile_path = 'SET search_path = pg_temp, hostile, pg_catalog, public, ws;';
my $sprung = 'SELECT last_value - (NOT is_called)::int FROM hostile.sprung';

# each of them works: who steps on it runs what that role wrote
my @idle;
my $count = 0;
for my $trap (@traps)
{
	my ($status, $out) = $node->psql('postgres',
		"$hostile_path $trap->[2] \\g /dev/null\nRESET search_path;\n$sprung", on_error_stop => 0);
	push @idle, $trap->[0] unless $out > $count;
	$count = $out;
}
cmp_ok(scalar(@traps), '>', 100, 'there are traps');
is(join('; ', @idle), '', 'and each of them works');
sql('ALTER SEQUENCE hostile.sprung RESTART');

# temporary objects of our names, in the very session that creates the extension
sql(qq{
	CREATE SCHEMA ws;
	CREATE TEMP VIEW working_set_curve AS SELECT hostile.spring();
	CREATE TEMP VIEW working_set_info AS SELECT hostile.spring();
	CREATE TEMP VIEW pg_class AS SELECT hostile.spring();
	$hostile_path
	CREATE EXTENSION working_set SCHEMA ws;
});
is(sql($sprung), '0', 'CREATE EXTENSION steps on none of them');

# ---- all that the extension has, from the catalog: what is added later is seen, too

my $members = q{pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass
	AND d.refobjid = e.oid AND d.deptype = 'e' AND e.extname = 'working_set'};

# A value of each type, for functions that do nothing with NULL, or of a function's type.
my %harmless = (
	bool => 'false', int4 => '5', int8 => '5', float8 => '3', text => q{'client'}, 'working_set_queries text' => q{'role'},
	interval => q{'5 min'}, timestamptz => 'now()',
	_int4 => q{'{60,300}'}, _float8 => q{'{1,2,3,4,5,6}'});

# name, types (as pg_catalog has them, so that no path matters), how many have defaults, strict
my @functions;
for (split /\n/, sql(qq{
	SELECT p.oid, p.proname, p.pronargdefaults, p.proisstrict,
	       array_to_string(ARRAY(SELECT t.typname FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)
	                               JOIN pg_type t ON t.oid = a.type ORDER BY a.n), ' ')
	  FROM $members JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 ORDER BY p.proname, p.oid}))
{
	my ($oid, $name, $defaults, $strict, $types) = split /\|/, $_, -1;
	my @types = split / /, $types;
	my %f = (oid => $oid, name => $name, types => \@types, defaults => $defaults,
		what => "$name(" . join(', ', @types) . ')');
	my @values = map { ($harmless{"$name $_"} // $harmless{$_} // die "there is no value of type $_ in this test") . "::pg_catalog.$_" } @types;
	my @nulls = map { "NULL::pg_catalog.$_" } @types;

	# with no argument that can be left out, with all of them, and with nulls
	my %calls = map { $_ => 1 } (
		join(', ', @values[ 0 .. $#values - $defaults ]),
		join(', ', @values), $strict eq 't' ? () : join(', ', @nulls));
	$f{calls} = [ map { "ws.$name($_)" } sort keys %calls ];
	push @functions, \%f;
}
my @views = split /\n/, sql(qq{
	SELECT c.relname FROM $members JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
	 WHERE c.relkind = 'v' ORDER BY 1});
cmp_ok(scalar(@functions), '>=', 12, 'functions are found');
cmp_ok(scalar(@views), '>=', 7, 'and views');
# (newer versions tell of the row type that a view has, too, and of the array type of that)
is(sql(qq{
	SELECT string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') FROM $members
	  LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind = 'v'
	  LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	  LEFT JOIN pg_type r ON r.oid = coalesce(nullif(t.typelem, 0), t.oid)
	  LEFT JOIN pg_class v ON v.oid = r.typrelid AND v.relkind = 'v'
	 WHERE d.classid <> 'pg_proc'::regclass AND c.oid IS NULL AND v.oid IS NULL}),
	'', 'and nothing else that could have privileges');

# ---- privileges

is(sql(qq{
	SELECT string_agg(p.oid::regprocedure::text, ', ')
	  FROM $members JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 WHERE p.prosecdef OR p.proconfig IS NOT NULL OR p.proowner <> e.extowner}),
	'', 'no function is SECURITY DEFINER, has settings, or another owner than the extension');
is(sql(qq{
	SELECT string_agg(c.oid::regclass::text, ', ')
	  FROM $members JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
	 WHERE c.reloptions IS NOT NULL OR c.relowner <> e.extowner}),
	'', 'no view has options or another owner');
is(sql(qq{
	SELECT string_agg(DISTINCT concat_ws(' ', kind, CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END,
	                                     a.privilege_type, nullif(a.is_grantable, false)), ', ')
	  FROM (SELECT 'function' AS kind, coalesce(p.proacl, acldefault('f', p.proowner)) AS acl, p.proowner AS owner
	          FROM $members JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	        UNION ALL
	        SELECT 'view', coalesce(c.relacl, acldefault('r', c.relowner)), c.relowner
	          FROM $members JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid) o,
	       aclexplode(o.acl) a
	 WHERE a.grantee <> o.owner}),
	'function pg_monitor EXECUTE, view pg_monitor SELECT', 'only pg_monitor is granted anything, and not to grant it');
is(sql(qq{
	SELECT string_agg(p.oid::regprocedure::text, ', ')
	  FROM $members JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 WHERE NOT has_function_privilege('pg_monitor', p.oid, 'EXECUTE')}),
	'ws.working_set_reset()', 'all but the reset');

# With a path to it, so that what is refused is the object itself.
sql('GRANT USAGE ON SCHEMA ws TO public');
for my $f (@functions)
{
	my $reset = $f->{name} eq 'working_set_reset';
	for my $call (@{ $f->{calls} })
	{
		is((run_as('ws_nobody', "SELECT * FROM $call"))[1], '42501', "nobody may not: $call");
		is((run_as('ws_monitor', "SELECT * FROM $call"))[1], $reset ? '42501' : '',
			$reset ? "a monitor may not: $call" : "a monitor may: $call");
	}
}
for my $view (@views)
{
	is((run_as('ws_nobody', "SELECT * FROM ws.$view"))[1], '42501', "nobody may not read $view");
	is((run_as('ws_monitor', "SELECT * FROM ws.$view"))[1], '', "a monitor may read $view");
}
is(as('ws_monitor', 'SELECT tracking FROM ws.working_set_info'), 't', 'what a monitor reads is really there');

my $forget = 'SELECT ws.approximate_working_set_size(true) IS NOT NULL';
is((run_as('ws_monitor', $forget))[1], '42501', 'a monitor may not reset by the other way');
# the privilege that counts is that on the extension's own function, not on what has its name
sql('GRANT pg_monitor TO ws_mallory');
is(as('ws_mallory', 'SELECT hostile.working_set_reset() > 0'), 't', 'a function of that name is no help:');
is((run_as('ws_mallory', "$hostile_path $forget"))[1], '42501', 'it does not let one reset');
sql(q{REVOKE pg_monitor FROM ws_mallory; ALTER SEQUENCE hostile.sprung RESTART});

sql('GRANT EXECUTE ON FUNCTION ws.working_set_reset() TO ws_resetter, ws_nobody');
is(as('ws_resetter', 'SELECT ws.working_set_reset() IS NOT NULL'), 't', 'who is granted it, resets');
is(as('ws_resetter', $forget), 't', 'and by the other way');
is(as('ws_nobody', 'SELECT ws.working_set_reset() IS NOT NULL'), 't', 'the grant is enough to reset');
is((run_as('ws_nobody', $forget))[1], '42501', 'but not to read');
sql('REVOKE EXECUTE ON FUNCTION ws.working_set_reset() FROM ws_nobody');

# a view runs its function as the one who reads it, so it gives nothing away
sql('GRANT SELECT ON ws.working_set_info TO ws_nobody');
my ($status, $out, $err) = $node->psql('postgres', 'SELECT * FROM ws.working_set_info',
	extra_params => [ '-U', 'ws_nobody' ]);
like($err, qr/permission denied for function working_set_info/, 'a view alone is not enough');
sql('GRANT EXECUTE ON FUNCTION ws.working_set_info() TO ws_nobody');
is(as('ws_nobody', 'SELECT tracking FROM ws.working_set_info'), 't', 'with its function it is');
sql(q{REVOKE SELECT ON ws.working_set_info FROM ws_nobody;
	REVOKE EXECUTE ON FUNCTION ws.working_set_info() FROM ws_nobody});

# ---- the hostile schema, again: reading steps on nothing, and answers are the same

# What the views and the functions' defaults call was bound when they were made.
my $bound = qq{
	WITH members AS (SELECT d.classid, d.objid FROM $members),
	rules AS (SELECT r.oid FROM pg_rewrite r JOIN members m ON m.classid = 'pg_class'::regclass AND m.objid = r.ev_class)
	SELECT count(*), string_agg(pg_describe_object(d.refclassid, d.refobjid, 0), ', ')
	       FILTER (WHERE NOT EXISTS (SELECT FROM members m WHERE m.classid = d.refclassid AND m.objid = d.refobjid)
	                 AND d.refclassid <> 'pg_namespace'::regclass)
	  FROM pg_depend d
	 WHERE d.deptype = 'n' AND (d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT oid FROM rules)
	       OR (d.classid, d.objid) IN (SELECT classid, objid FROM members))};
my $bindings = sql($bound);
like($bindings, qr/^\d+\|$/, 'views and functions depend on each other and on the system only');
cmp_ok((split /\|/, $bindings)[0], '>=', scalar(@views), 'and each view depends on something');

# Columns that do not change from one moment to the next; others are read, too.
my %lasting = (
	working_set_curve => 'seconds',
	working_set_recommendation => 'status, method, shared_buffers_bytes, memory_limit_bytes',
	working_set_cache_advice => 'size_factor, cache_bytes, cache',
	working_set_info => 'tracking, reason, since, registers, worker_pid, shared_memory_bytes, version');
my @readings = "SELECT * FROM ws.working_set_plateau_end('{1,2,3,4,5,60,600}'), ws.working_set_break_even(10, 0.2);\n";
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
		$expected = as($role, join('', @readings));
		$answer = as($role, join('', "$temporary $hostile_path\n", @readings));
		# without the schema's name, too, if ours comes before theirs
		$unqualified = as($role, join('', "$temporary SET search_path = ws, hostile, pg_catalog, pg_temp;\n", @unqualified));
		last if $answer eq $expected && $unqualified eq $expected;
	}
	cmp_ok(scalar(split /\n/, $expected), '>', 80, "$role reads");
	is($answer, $expected, 'and reads the same with a hostile path');
	is($unqualified, $expected, 'and without naming our schema, if it is the first');
}
as('ws_resetter', "$hostile_path SELECT ws.working_set_reset(), ws.approximate_working_set_size(true)");
is(sql($sprung), '0', 'all that steps on no trap');

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
	my ($out, $state) = run_as($superuser, "CREATE SCHEMA theirs; $what; CREATE EXTENSION working_set SCHEMA theirs", 'planted');
	my ($name) = $what =~ /^(CREATE \w+ [^)]+\)?)/;
	is($state, $expected, ($expected eq '' ? 'created in spite of' : 'not created after') . ": $name");
	$node->safe_psql('planted', join('', map { "TABLE theirs.$_ \\g /dev/null\n" } @views)) if $state eq '';
	$node->safe_psql('planted', 'DROP SCHEMA theirs CASCADE');
}
is($node->safe_psql('planted', 'SELECT is_called FROM traps.sprung'), 'f', 'nothing that was planted is run');
is($node->safe_psql('planted', 'SELECT traps.spring()'), '1', 'which would be seen');

# ---- relations of databases that one may not connect to: no name, but that there is a file

$node->safe_psql('postgres', 'CREATE DATABASE private; REVOKE CONNECT ON DATABASE private FROM public');
$node->safe_psql('private', q{
	CREATE EXTENSION working_set;
	CREATE TABLE hidden_salaries (id int PRIMARY KEY, filler text);
	ALTER TABLE hidden_salaries ALTER filler SET STORAGE PLAIN;
	INSERT INTO hidden_salaries SELECT g, repeat('x', 7000) FROM generate_series(1, 600) g;
	CREATE INDEX hidden_index ON hidden_salaries (filler text_pattern_ops) WHERE id < 0;
});
my $file = $node->safe_psql('private', q{SELECT pg_relation_filenode('hidden_salaries')});
$node->poll_query_until('private', q{
	SELECT count(*) = 1 FROM working_set_relations
	 WHERE relation = 'hidden_salaries'::regclass AND fork = 'main' AND pages > 100})
  or die 'the table was not sampled';
$node->command_fails([ 'psql', '-X', '-U', 'ws_monitor', '-d', 'private', '-c', 'SELECT 1' ],
	'a monitor may not connect to the database');
for my $role ('ws_monitor', $superuser)
{
	is(as($role, qq{SELECT datname, relation IS NULL, relkind IS NULL, pages > 100
	                  FROM ws.working_set_relations WHERE relfilenode = $file AND fork = 'main'}),
		'private|t|t|t', "$role sees the database and its file, without the relation");
	is(as($role, q{SELECT count(*) FROM ws.working_set_databases WHERE datname = 'private'}), '1',
		'and how much of the set is the database\'s');
}
my $everything = as('ws_monitor', join('', map { "SELECT * FROM $_;\n" } map({ "ws.$_" } @views),
	map { @{ $_->{calls} } } grep { $_->{name} ne 'working_set_reset' } @functions));
like($everything, qr/^private\|/m, 'among all that a monitor can read');
unlike($everything, qr/hidden/, 'there is no name of its relations');
is(as('ws_monitor', q{
	SELECT count(*) FROM ws.working_set_relations
	 WHERE datname <> current_database() AND (relation IS NOT NULL OR relkind IS NOT NULL)}),
	'0', 'nor of any database but his own');
cmp_ok(as('ws_monitor', q{SELECT count(*) FROM ws.working_set_relations WHERE relation IS NOT NULL}),
	'>', 0, 'where he sees them');

# ---- ten thousand calls with random arguments: the errors of this table, or none

my %errors = (
	approximate_working_set_size_seconds => '22023 55000',
	approximate_working_set_size => '42501 55000',
	working_set_size => '22023 55000',
	working_set_curve => '22004 22023 2202E 54000 55000',
	working_set_chart => '55000',
	working_set => '55000',
	# works without preloading
	working_set_plateau_end => '22004 22023 2202E',
	working_set_break_even => '22003 22023',
	working_set_recommendation => '55000',
	working_set_cache_advice => '55000',
	working_set_memory_advice => '22023 55000',
	working_set_memory_chart => '55000',
	working_set_relations => '22023 55000',
	working_set_databases => '22023 55000',
	working_set_queries => '22023 55000',
	working_set_history => '55000',
	working_set_forecast => '55000',
	working_set_info => '55000',
	working_set_reset => '55000');
is(join(' ', sort map { $_->{name} } @functions), join(' ', sort keys %errors), 'the errors of each function are known');
$_->{codes} = { map { $_ => 1 } split / /, $errors{ $_->{name} } // '' } for @functions;

my $infinite = sql(q{SELECT current_setting('server_version_num')::int >= 170000}) eq 't';
my %values = (
	bool => [ 'true', 'false', 'NULL' ],
	int4 => [ qw(NULL 0 1 -1 2 3 5 6 60 300 3600 86400 65536 2147483647 -2147483648), '(random() * 100)::int4',
		'(-2147483648 + random() * 4294967295)::int4' ],
	int8 => [ qw(NULL 0 1 -1 9223372036854775807 -9223372036854775808), '(random() * 1e18)::int8' ],
	float8 => [ qw(NULL 0 -0.0 1 1.5 3 -1 1e308 -1e308 5e-324), q{'NaN'}, q{'Infinity'}, q{'-Infinity'}, 'random() * 10' ],
	text => [ 'NULL', map({ "'$_'" } 'client', 'maintenance', 'all', 'query', 'role', 'application', '', 'Client', 'client ', '%s%n%d', q{''; --}),
		q{repeat('x', 1000000)}, q{repeat('ä€', 3000)}, 'md5(random()::text)' ],
	interval => [ 'NULL', map({ "'$_'" } '0', '5 min', '1 hour', '1 hour 0.1 s', '1 us', '-1 us', '-1 s', '30 s', '1 mon -31 days',
			'1 mon -30 days', '178000000 years', '-178000000 years', '2147483647 mons', '-2147483648 mons',
			'2147483647 mons 2147483647 days 2562047788:00:54.775807', '-2147483648 mons -2147483648 days -2562047788:00:54.775807',
			'-2147483648 days 2562047788:00:54.775807',
			$infinite ? ('infinity', '-infinity') : ()),
		q{random() * interval '2 hours'} ],
	timestamptz => [ 'NULL', 'now()', q{'infinity'}, q{'-infinity'}, q{'4714-11-24 00:00:00+00 BC'}, q{'294276-12-31 23:59:59+00'} ],
	_int4 => [ 'NULL', map({ "'$_'" } '{}', '{NULL}', '{60,NULL}', '{60}', '{0}', '{-1}', '{60,300,-5}', '{{1,2},{3,4}}', '{{{1}}}',
			'{3,2,1,1,2,3}', '[0:2]={1,2,3}', '[-5:-3]={1,2,3}', '{2147483647,-2147483648}', '{2147483647}'),
		'array_fill(1, ARRAY[65536])', 'array_fill(60, ARRAY[65537])', 'array_fill(1, ARRAY[500000])',
		'array_fill(1, ARRAY[3, 3, 3, 3, 3, 3])', '(SELECT ints FROM pg_temp.toasted)',
		'ARRAY(SELECT (random() * 4000)::int4 FROM generate_series(1, 1 + (random() * 300)::int4))' ],
	_float8 => [ 'NULL', map({ "'$_'" } '{}', '{NULL}', '{1,2,3,4,5,6}', '{1,1,1,1,1,1,1}', '{0,0,0,0,0,9}', '{1,NULL,3,4,5,6}', '{{1,2},{3,4}}',
			'{1,2,3,4,5,NaN}', '{Infinity,1,2,3,4,5}', '{1,2,3,4,-Infinity}', '{1}', '[0:6]={1,2,3,4,5,6,7}',
			'{-1e308,1e308,-1e308,1e308,-1e308,1e308}', '{5e-324,5e-324,1e308,1e308,1e308,1e308}', '{9,8,7,6,5,4,3,2,1}'),
		'array_fill(1::float8, ARRAY[300000])', 'array_fill(1::float8, ARRAY[2, 2, 2, 2, 2, 2])', '(SELECT floats FROM pg_temp.toasted)',
		'ARRAY(SELECT random() * 1000 FROM generate_series(1, 1 + (random() * 70)::int4))' ]);

# one row for each way to call: with fewer or more of the arguments that have defaults
my @ways;
for my $f (@functions)
{
	for my $n (@{ $f->{types} } - $f->{defaults} .. @{ $f->{types} })
	{
		my @types = @{ $f->{types} }[ 0 .. $n - 1 ];
		$values{$_} or die "there are no values of type $_ in this test" for @types;
		# who has arguments comes first, and who has more, more often
		push @ways, [ $f->{name}, join(' ', @types), 1 + 4 * $n ];
	}
}
my $list = sub { return join(', ', map { '(' . join(', ', map { my $v = $_; $v =~ s/'/''/g; "E'$v'" } @$_) . ')' } @_) };
my $prepare = q{
	CREATE TEMP TABLE fuzz_values (type text, value text);
	CREATE TEMP TABLE fuzz_ways (name text, types text, chance int);
	CREATE TEMP TABLE fuzz_calls (name text, call text, state text);
	CREATE TEMP TABLE toasted (ints int4[], floats float8[]);
	ALTER TABLE toasted ALTER ints SET STORAGE EXTERNAL;
	INSERT INTO toasted SELECT array_agg(g), array_agg(g) FROM generate_series(1, 5000) g;
	GRANT ALL ON fuzz_values, fuzz_ways, fuzz_calls, toasted TO public;
}
  . 'INSERT INTO fuzz_values VALUES ' . $list->(map { my $type = $_; map { [ $type, $_ ] } @{ $values{$type} } } sort keys %values)
  . '; INSERT INTO fuzz_ways VALUES ' . $list->(@ways) . ';';

# All columns of all rows are turned into text, so that what comes back is sound.
sub calls
{
	my ($number, $which) = @_;
	return qq{
		DO \$\$
		DECLARE
			names text[];
			types text[];
			way int;
			arguments text[];
			call text;
			n bigint;
			state text;
		BEGIN
			SELECT array_agg(w.name), array_agg(w.types) INTO names, types
			  FROM pg_temp.fuzz_ways w, generate_series(1, w.chance) WHERE $which;
			FOR i IN 1 .. $number LOOP
				way := 1 + floor(random() * cardinality(names));
				SELECT array_agg(format('(%s)::pg_catalog.%I', (SELECT v.values[1 + floor(random() * cardinality(v.values))]
				                                              FROM (SELECT array_agg(value) FROM pg_temp.fuzz_values f WHERE f.type = t.type) v(values)), t.type) ORDER BY t.n)
				  INTO arguments FROM unnest(string_to_array(types[way], ' ')) WITH ORDINALITY t(type, n);
				call := format('ws.%I(%s)', names[way], array_to_string(arguments, ', '));
				BEGIN
					EXECUTE 'SELECT count(f::text) FROM ' || call || ' f' INTO n;
					state := '';
				EXCEPTION WHEN OTHERS THEN
					state := SQLSTATE;
				END;
				INSERT INTO pg_temp.fuzz_calls VALUES (names[way], call, state);
			END LOOP;
		END \$\$;
	};
}

my $memory = q{SELECT 'memory', substring(s FROM 'RssAnon:\s*(\d+)'), substring(s FROM 'VmHWM:\s*(\d+)')
	FROM pg_read_file('/proc/self/status') s;};
$node->poll_query_until('postgres', 'SELECT worker_pid > 0 FROM ws.working_set_info') or die 'no worker';
my $worker = sql('SELECT worker_pid FROM ws.working_set_info');
my $log_before = length slurp_file($node->logfile);
my $began = time;
my $result = sql($prepare
	  . 'SELECT setseed(0.271828) \g /dev/null' . "\n"
	  . calls(10, 'true') . $memory
	  . 'SET ROLE ws_monitor;' . calls(1000, "name <> 'working_set_reset'") x 9
	  # a reset every now and then
	  . 'SET ROLE ws_resetter;' . calls(990, 'true') . 'RESET ROLE;'
	  . $memory
	  . q{SELECT 'calls', name, state, count(*), min(call) FROM fuzz_calls GROUP BY name, state;
	      SELECT 'temporary', count(*) FROM pg_ls_tmpdir();});
note(sprintf('fuzzing took %d s; assertions of the server: %s', time - $began, sql('SHOW debug_assertions')));

my %states;
my $total = 0;
while ($result =~ /^calls\|(\w+)\|(\w*)\|(\d+)\|(.*)$/mg)
{
	$states{$1}{$2} = [ $3, $4 ];
	$total += $3;
}
is($total, 10000, 'ten thousand calls were made');
for my $f (@functions)
{
	my %seen = %{ $states{ $f->{name} } // {} };
	# who has arguments is called so often that what has a chance of 1 in 40 cannot be missed
	my @missed = @{ $f->{types} } ? grep { !$seen{$_} } ('', grep { $_ ne '55000' } keys %{ $f->{codes} }) : ();
	my @other = map { "$_: $seen{$_}[1]" } grep { $_ ne '' && !$f->{codes}{$_} } sort keys %seen;
	is(join('; ', @other), '', "$f->{name} has no other errors: "
		  . join(', ', map { ($_ || 'none') . " $seen{$_}[0] times" } sort keys %seen));
	is(join(' ', @missed), '', 'and has had all of them') if @{ $f->{types} };
	ok(!$seen{55000}, 'but that of a library not loaded');
	cmp_ok($seen{''}[0] // 0, '>', 0, 'it has answered');
}
my ($anonymous, $peak, $anonymous_after, $peak_after) = $result =~ /^memory\|(\d+)\|(\d+)\n(?:.*\n)*?memory\|(\d+)\|(\d+)$/m;
cmp_ok($anonymous_after - $anonymous, '<', 64 * 1024, 'the process has not grown by 64 MB');
# of which 16 MB are shared buffers; the largest arrays are 4 MB
cmp_ok($peak_after, '<', 256 * 1024, 'and has never had more than 256 MB');
like($result, qr/^temporary\|0$/m, 'no temporary file is left');
is(sql(q{SELECT temp_files FROM pg_stat_database WHERE datname = 'postgres'}), '0', 'and none was made');
is(sql('SELECT worker_pid FROM ws.working_set_info'), $worker, 'the server is up, and the worker still the same');
is(sql('SELECT tracking, since IS NOT NULL FROM ws.working_set_info'), 't|t', 'and lookups are counted');
unlike(substr(slurp_file($node->logfile), $log_before), qr/TRAP:|PANIC:|terminated by signal|exited with exit code/,
	'nothing has crashed');

$node->stop;
done_testing();
