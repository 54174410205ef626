# Updates of the extension from each older version: the result is a fresh one of the present
# version, in all that makes an extension.

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

finish($node);
