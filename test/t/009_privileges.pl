# Who may do what: privileges of every function and view that the extension has; and of databases that one
# may not connect to there is no name of a relation, but that there is a file.

use lib 'test/t';
use server;
use members;
use roles;

my $node = new_server_with_roles();

# with a path to it, so that what is refused is the object itself
sql($node, 'CREATE SCHEMA ws; CREATE EXTENSION working_set SCHEMA ws; GRANT USAGE ON SCHEMA ws TO public');
my @functions = functions($node);
my @views = views($node);
cmp_ok(scalar(@functions), '>=', 12, 'functions are found');
cmp_ok(scalar(@views), '>=', 7, 'and views');
# (newer versions tell of the row type that a view has, too, and of the array type of that)
is(sql($node, qq{
	SELECT string_agg(pg_describe_object(d.classid, d.objid, d.objsubid), ', ') FROM $of_extension
	  LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind = 'v'
	  LEFT JOIN pg_type t ON d.classid = 'pg_type'::regclass AND d.objid = t.oid
	  LEFT JOIN pg_type r ON r.oid = coalesce(nullif(t.typelem, 0), t.oid)
	  LEFT JOIN pg_class v ON v.oid = r.typrelid AND v.relkind = 'v'
	 WHERE d.classid <> 'pg_proc'::regclass AND c.oid IS NULL AND v.oid IS NULL}),
	'', 'and nothing else that could have privileges');

is(sql($node, qq{
	SELECT string_agg(p.oid::regprocedure::text, ', ')
	  FROM $of_extension JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 WHERE p.prosecdef OR p.proconfig IS NOT NULL OR p.proowner <> e.extowner}),
	'', 'no function is SECURITY DEFINER, has settings, or another owner than the extension');
is(sql($node, qq{
	SELECT string_agg(c.oid::regclass::text, ', ')
	  FROM $of_extension JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
	 WHERE c.reloptions IS NOT NULL OR c.relowner <> e.extowner}),
	'', 'no view has options or another owner');
is(sql($node, qq{
	SELECT string_agg(DISTINCT concat_ws(' ', kind, CASE a.grantee WHEN 0 THEN 'public' ELSE a.grantee::regrole::text END,
	                                     a.privilege_type, nullif(a.is_grantable, false)), ', ')
	  FROM (SELECT 'function' AS kind, coalesce(p.proacl, acldefault('f', p.proowner)) AS acl, p.proowner AS owner
	          FROM $of_extension JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	        UNION ALL
	        SELECT 'view', coalesce(c.relacl, acldefault('r', c.relowner)), c.relowner
	          FROM $of_extension JOIN pg_class c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid) o,
	       aclexplode(o.acl) a
	 WHERE a.grantee <> o.owner}),
	'function pg_monitor EXECUTE, view pg_monitor SELECT', 'only pg_monitor is granted anything, and not to grant it');
is(sql($node, qq{
	SELECT string_agg(p.oid::regprocedure::text, ', ')
	  FROM $of_extension JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
	 WHERE NOT has_function_privilege('pg_monitor', p.oid, 'EXECUTE')}),
	'ws.working_set_reset()', 'all but the reset');

for my $f (@functions)
{
	my $reset = $f->{name} eq 'working_set_reset';
	for my $call (@{ $f->{calls} })
	{
		is((run_as($node, 'ws_nobody', "SELECT * FROM $call"))[1], '42501', "nobody may not: $call");
		is((run_as($node, 'ws_monitor', "SELECT * FROM $call"))[1], $reset ? '42501' : '',
			$reset ? "a monitor may not: $call" : "a monitor may: $call");
	}
}
for my $view (@views)
{
	is((run_as($node, 'ws_nobody', "SELECT * FROM ws.$view"))[1], '42501', "nobody may not read $view");
	is((run_as($node, 'ws_monitor', "SELECT * FROM ws.$view"))[1], '', "a monitor may read $view");
}
is(as($node, 'ws_monitor', 'SELECT tracking FROM ws.working_set_info'), 't', 'what a monitor reads is really there');

my $forget = 'SELECT ws.approximate_working_set_size(true) IS NOT NULL';
is((run_as($node, 'ws_monitor', $forget))[1], '42501', 'a monitor may not reset by the other way');
# the privilege that counts is that on the extension's own function, not on what has its name
sql($node, 'GRANT pg_monitor TO ws_mallory');
as($node, 'ws_mallory', q{
	CREATE SCHEMA hostile;
	CREATE FUNCTION hostile.working_set_reset() RETURNS bigint LANGUAGE sql AS 'SELECT 1'});
is(as($node, 'ws_mallory', 'SELECT hostile.working_set_reset() > 0'), 't', 'a function of that name is no help:');
is((run_as($node, 'ws_mallory', "SET search_path = pg_temp, hostile, pg_catalog, public, ws; $forget"))[1], '42501', 'it does not let one reset');
sql($node, 'REVOKE pg_monitor FROM ws_mallory');

sql($node, 'GRANT EXECUTE ON FUNCTION ws.working_set_reset() TO ws_resetter, ws_nobody');
is(as($node, 'ws_resetter', 'SELECT ws.working_set_reset() IS NOT NULL'), 't', 'who is granted it, resets');
is(as($node, 'ws_resetter', $forget), 't', 'and by the other way');
is(as($node, 'ws_nobody', 'SELECT ws.working_set_reset() IS NOT NULL'), 't', 'the grant is enough to reset');
is((run_as($node, 'ws_nobody', $forget))[1], '42501', 'but not to read');
sql($node, 'REVOKE EXECUTE ON FUNCTION ws.working_set_reset() FROM ws_nobody');

# a view runs its function as the one who reads it, so it gives nothing away
sql($node, 'GRANT SELECT ON ws.working_set_info TO ws_nobody');
my ($status, $out, $err) = $node->psql('postgres', 'SELECT * FROM ws.working_set_info',
	extra_params => [ '-U', 'ws_nobody' ]);
like($err, qr/permission denied for function working_set_info/, 'a view alone is not enough');
sql($node, 'GRANT EXECUTE ON FUNCTION ws.working_set_info() TO ws_nobody');
is(as($node, 'ws_nobody', 'SELECT tracking FROM ws.working_set_info'), 't', 'with its function it is');
sql($node, q{REVOKE SELECT ON ws.working_set_info FROM ws_nobody;
	REVOKE EXECUTE ON FUNCTION ws.working_set_info() FROM ws_nobody});

# ---- relations of another database

my $superuser = sql($node, 'SELECT current_user');
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
	 WHERE relid = 'hidden_salaries'::regclass AND bytes > 100 * current_setting('block_size')::int})
  or die 'the table was not sampled';
$node->command_fails([ 'psql', '-X', '-U', 'ws_monitor', '-d', 'private', '-c', 'SELECT 1' ],
	'a monitor may not connect to the database');
for my $role ('ws_monitor', $superuser)
{
	is(as($node, $role, qq{SELECT datname, relid IS NULL, relkind IS NULL, bytes > 100 * current_setting('block_size')::int
	                  FROM ws.working_set_relations WHERE relation = 'file $file'}),
		'private|t|t|t', "$role sees the database and its file, without the relation");
}
my $everything = as($node, 'ws_monitor', join('', map { "SELECT * FROM $_;\n" } map({ "ws.$_" } @views),
	map { @{ $_->{calls} } } grep { $_->{name} ne 'working_set_reset' } @functions));
like($everything, qr/^private\|/m, 'among all that a monitor can read');
unlike($everything, qr/hidden/, 'there is no name of its relations');
is(as($node, 'ws_monitor', q{
	SELECT count(*) FROM ws.working_set_relations
	 WHERE datname <> current_database() AND (relid IS NOT NULL OR relkind IS NOT NULL OR relation !~ '^file [0-9]+$')}),
	'0', 'nor of any database but his own');
cmp_ok(as($node, 'ws_monitor', q{SELECT count(*) FROM ws.working_set_relations WHERE relid IS NOT NULL}),
	'>', 0, 'where he sees them');

finish($node);
