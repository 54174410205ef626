# Dump and restore: what is in the dump, and that what is restored is as it was, with what was
# granted and what lies on top.

use lib 'test/t';
use server;
use members;

my $node = new_server('main');
my $tmp = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', 'CREATE ROLE resetter; CREATE ROLE watcher; CREATE DATABASE dumped');
$node->safe_psql('dumped', q{
	CREATE SCHEMA size_of_it;
	CREATE EXTENSION working_set SCHEMA size_of_it;
	GRANT USAGE ON SCHEMA size_of_it TO resetter;
	GRANT EXECUTE ON FUNCTION size_of_it.working_set_reset() TO resetter;
	REVOKE SELECT ON size_of_it.working_set_info FROM pg_monitor;
	CREATE VIEW my_curve AS
		SELECT seconds / 60 AS minutes, pages FROM size_of_it.working_set_curve;
	GRANT pg_monitor TO watcher;
	GRANT SELECT ON my_curve TO watcher;
	CREATE TABLE my_notes AS SELECT 'mine' AS note;
});

my %dump = (plain => "$tmp/dump.sql", custom => "$tmp/dump.custom");
$node->command_ok([ 'pg_dump', '--format', $_, '--file', $dump{$_}, 'dumped' ], "$_ dump") for sort keys %dump;
my $dump = slurp_file($dump{plain});
like($dump, qr/^CREATE EXTENSION IF NOT EXISTS working_set WITH SCHEMA size_of_it;$/m, 'the extension is dumped as such');
unlike($dump, qr/CREATE (OR REPLACE )?(FUNCTION|PROCEDURE|TYPE|OPERATOR)|\bws_/, 'none of its functions is');
is(join(' ', $dump =~ /^CREATE (?:OR REPLACE )?VIEW (\S+)/mg), 'public.my_curve', 'nor any of its views');
is(join(' ', $dump =~ /^COPY (\S+)/mg), 'public.my_notes', 'nor any data');
like($dump, qr/^GRANT ALL ON FUNCTION size_of_it\.working_set_reset\(\) TO resetter;$/m, 'what was granted is');
like($dump, qr/^REVOKE .* ON TABLE size_of_it\.working_set_info FROM pg_monitor;$/m, 'and what was revoked');

my $as_dumped = members($node, 'dumped');
like($as_dumped, qr/function: .*resetter=X/, 'a grant is among what is compared');
for my $format (sort keys %dump)
{
	my $db = "restored_$format";
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->command_ok(
		$format eq 'plain'
		? [ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $db, '-o', "$tmp/restored", '-f', $dump{plain} ]
		: [ 'pg_restore', '--exit-on-error', '--dbname', $db, $dump{custom} ],
		"$format dump: restored");
	is(members($node, $db), $as_dumped, "$format dump: the extension is as it was, with grants and schema");
	is($node->safe_psql($db, 'SELECT count(*), min(minutes), max(minutes), min(pages) > 0 FROM my_curve'),
		'60|1|60|t', "$format dump: the view on top of it works");
	is($node->safe_psql($db, q{
		SET ROLE watcher; SELECT count(*) FROM my_curve; RESET ROLE;
		SET ROLE resetter; SELECT size_of_it.working_set_reset() IS NOT NULL; RESET ROLE;
		SELECT note FROM my_notes}), "60\nt\nmine", "$format dump: for those who may");
	like(refusal($node, $db, 'SET ROLE watcher; SELECT size_of_it.working_set_reset();'), qr/42501/,
		"$format dump: and not for others");
}

finish($node);
