# Updates of the extension from each older version: the result is a fresh one of the present
# version, in all that makes an extension.  And it is dumped as such: only that is in the dump, and what is
# restored is as it was, with what was granted and what lies on top.

use lib 'test/t';
use server;
use library;
use members;

my $node = new_server('main');
$node->safe_psql('postgres', 'CREATE ROLE watcher');

my $scripts = pg_config('sharedir') . '/extension';
my $present = $node->safe_psql('postgres', q{
	SELECT default_version FROM pg_available_extensions WHERE name = 'working_set'});

$node->safe_psql('postgres', 'CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION working_set');
my $fresh = members($node, 'fresh');
# a comparison of nothing would find no difference
cmp_ok(scalar(() = $fresh =~ /^function: /mg), '>=', 10, 'functions are compared');
cmp_ok(scalar(() = $fresh =~ /^relation: /mg), '>=', 6, 'views');
cmp_ok(scalar(() = $fresh =~ /^column: .* comment '.+'$/mg), '>=', 60, 'and their columns');
is(scalar(() = $fresh =~ /^member: /mg), $node->safe_psql('fresh', q{
	SELECT count(*) FROM pg_depend WHERE deptype = 'e' AND refobjid = (
		SELECT oid FROM pg_extension WHERE extname = 'working_set')}), 'all members');

# whatever is changed, is found
for my $change (
	q{COMMENT ON FUNCTION working_set_reset() IS 'other'},
	q{COMMENT ON VIEW working_set_info IS NULL},
	q{COMMENT ON COLUMN working_set_info.reason IS 'other'},
	q{COMMENT ON EXTENSION working_set IS 'other'},
	q{GRANT EXECUTE ON FUNCTION working_set_reset() TO watcher},
	q{REVOKE SELECT ON working_set_info FROM pg_monitor},
	q{GRANT SELECT (reason) ON working_set_info TO watcher},
	q{ALTER FUNCTION working_set_history() STABLE},
	q{ALTER FUNCTION working_set_history() PARALLEL UNSAFE},
	q{ALTER FUNCTION working_set_history() ROWS 7},
	q{ALTER FUNCTION working_set_history() STRICT},
	q{ALTER FUNCTION working_set_history() OWNER TO watcher},
	q{ALTER VIEW working_set_info SET (security_barrier)},
	q{CREATE OR REPLACE VIEW working_set_curve AS SELECT * FROM working_set_curve(NULL, 'all')},
	q{CREATE OR REPLACE VIEW working_set_curve AS SELECT *, 1 AS one FROM working_set_curve()},
	q{CREATE OR REPLACE FUNCTION working_set_size(period interval DEFAULT '1 h') RETURNS bigint
		AS '$libdir/working_set', 'ws_working_set_size' LANGUAGE C VOLATILE PARALLEL SAFE},
	q{CREATE OR REPLACE FUNCTION working_set_size(period interval DEFAULT NULL) RETURNS bigint
		AS '$libdir/working_set', 'ws_approximate_working_set_size' LANGUAGE C VOLATILE PARALLEL SAFE},
	q{ALTER EXTENSION working_set DROP FUNCTION working_set_reset()},
	q{CREATE TABLE t (); ALTER EXTENSION working_set ADD TABLE t})
{
	isnt(members($node, 'fresh', "BEGIN; $change;"), $fresh, "found: $change");
}
is(members($node, 'fresh'), $fresh, 'and all is as it was');

my $updates = 0;
sub updated
{
	my ($from) = @_;
	my $db = 'updated_' . ++$updates;
	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, "CREATE EXTENSION working_set VERSION '$from'");
	is($node->safe_psql($db, q{SELECT extversion FROM pg_extension WHERE extname = 'working_set'}),
		$from, "version $from is there");
	$node->safe_psql($db, 'ALTER EXTENSION working_set UPDATE');
	is($node->safe_psql($db, q{SELECT extversion FROM pg_extension WHERE extname = 'working_set'}),
		$present, "and updated to $present");
	my $got = members($node, $db);
	is($node->safe_psql($db, 'SELECT tracking FROM working_set_info'), 't', 'which works');
	return $got;
}

my %older;
for my $script (glob "'$scripts'/working_set--*--*.sql")
{
	$older{$1} = 1 if $script =~ /working_set--(.+?)--.+\.sql$/ && $1 ne $present;
}
is(updated($_), $fresh, "$_, updated, is a fresh $present") for sort keys %older;

my ($status, $out, $err) = $node->psql('fresh', 'ALTER EXTENSION working_set UPDATE');
is($status, 0, 'an update to the present version is no error');
like($err, qr/NOTICE:  version "\Q$present\E" of extension "working_set" is already installed/, 'but a notice');
is(members($node, 'fresh'), $fresh, 'and changes nothing');
like(refusal($node, 'fresh', q{ALTER EXTENSION working_set UPDATE TO '0.0.0';}),
	qr/22023: extension "working_set" has no update path/, 'one to no version is an error');

# Scripts made up here show that the comparison is one: of two updates one leaves behind
# a comment that is not that of the present version.
SKIP:
{
	skip "cannot write to $scripts", 9 unless -w $scripts;
	my $script = slurp_file("$scripts/working_set--$present.sql");
	my %made_up = (
		'0.0.8'           => $script,
		"0.0.8--$present" => "COMMENT ON FUNCTION working_set_reset() IS 'left behind';",
		'0.0.9'           => "$script\nCOMMENT ON FUNCTION working_set_reset() IS 'to be put right';",
		"0.0.9--$present" => ($script =~ /(COMMENT ON FUNCTION working_set_reset\(\).*?';\n)/s)[0]);
	for my $name (keys %made_up)
	{
		open my $fh, '>', "$scripts/working_set--$name.sql" or die $!;
		print $fh $made_up{$name};
		close $fh;
	}
	my @got = eval { (updated('0.0.8'), updated('0.0.9')) };
	my $died = $@;
	unlink map { "$scripts/working_set--$_.sql" } keys %made_up;
	die $died if $died;

	my %expected = map { $_ => 1 } split /\n/, $fresh;
	my @differs = grep { !$expected{$_} } split /\n/, $got[0];
	is(scalar(@differs), 1, 'an update that leaves something behind is found out');
	like($differs[0], qr/^member: function working_set_reset\(\), comment 'left behind'/, 'by what it left');
	is($got[1], $fresh, 'one that puts all right is a fresh install');
}

# ---- dumped and restored

my $tmp = PostgreSQL::Test::Utils::tempdir();

$node->safe_psql('postgres', 'CREATE ROLE resetter; CREATE DATABASE dumped');
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
