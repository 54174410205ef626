# Relations of databases that one may not connect to: no name of theirs, but that there is a file.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use Test::More;
use members;
use roles;
use server;

my $node = new_server_with_roles();

my $superuser = sql($node, 'SELECT current_user');
sql($node, 'CREATE SCHEMA ws; CREATE EXTENSION working_set SCHEMA ws; GRANT USAGE ON SCHEMA ws TO public');
my @functions = functions($node);
my @views = views($node);

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

$node->stop;

done_testing();
