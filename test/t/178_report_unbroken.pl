# monitoring/report.sql: neither a name of a table or database nor a setting of the session can break the
# page, and the session is as it was afterwards.  Both need a server with such names that were used.

use strict;
use warnings;
use FindBin;
use IPC::Run;
use lib $FindBin::Bin;
use patience;
use clock;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use report_page;

my $clock = clock->new;
my $node = new_report_node('', sub { $clock->lend(@_) });
$node->safe_psql('postgres', "ALTER DATABASE postgres SET search_path = public, $ws");
$node->safe_psql('postgres', q{
	CREATE DATABASE "<b>&'""]]>";
	CREATE DATABASE octets TEMPLATE template0 ENCODING SQL_ASCII;
});

# Names with all that could break a page; those of databases need not even be UTF-8.
my $make = q{
	SELECT format('CREATE TABLE %I AS SELECT g, repeat(''x'', 1000) AS filler FROM generate_series(1, 20000) g', '<script>&"''];--') \gexec
	SELECT format('CREATE TABLE %I AS SELECT g, repeat(''x'', 1000) AS filler FROM generate_series(1, 6000) g',
	              concat(chr(1), chr(10), chr(9), chr(127), ' <!-- ]]> \ &lt; and long enough to be cut short', chr(233), chr(20013), chr(128512))) \gexec
};
# run a script in the database of that name, once it is made
sub in_odd
{
	my ($make_it, $sql) = @_;
	local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';
	my $out = '';
	IPC::Run::run([ 'psql', '-X', '-q', '-At', '-d', $node->connstr('octets'), '-v', 'ON_ERROR_STOP=1' ], '<',
		\"SELECT convert_from('\\x6361665c64e9', 'SQL_ASCII') AS odd \\gset\n$make_it\n\\c :\"odd\"\n$sql", '>', \$out, '2>&1')
	  or die $out;
	return;
}
in_odd('CREATE DATABASE :"odd";', q{CREATE TABLE pages AS SELECT g, repeat('x', 1000) AS filler FROM generate_series(1, 3000) g;});
$node->safe_psql($_, $make) for 'postgres', q{<b>&'"]]>};
$node->safe_psql(q{<b>&'"]]>}, 'CREATE EXTENSION working_set');

# Reads all tables until they are seen among the largest of the last five minutes: the sample is read once a second.
my $touch = q{SELECT format('SELECT count(*) FROM %s', oid::regclass) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace \gexec};
sub use_all
{
	my ($database, $schema) = @_;
	eventually(sub {
		$node->safe_psql($database, $touch);
		$clock->pass(1);
		return $node->safe_psql($database, "SELECT count(*) FROM $schema.working_set_relations WHERE relation::text LIKE '%;--%' AND bytes > 8e6 OR relation::text LIKE '%long%' AND bytes > 4e6") == 2;
	}) or die "the tables of $database are not seen";
	return;
}

$node->safe_psql('octets', 'CREATE EXTENSION working_set');
for my $database ('postgres', q{<b>&'"]]>}, 'octets')
{
	use_all('postgres', $ws);
	use_all(q{<b>&'"]]>}, 'public');
	in_odd('', 'SELECT count(*) FROM pages;');
	my $tree = page_of("names, from $database", $node, role => 'ws_monitor', database => $database);
	my $all = text($tree);
	my $here = $database eq 'octets' ? 'pg_' : q{public."<script>&""'];--"};
	my @names = map { text($_) } by_class(by_id($tree, 'relation'), 'text', 'name');
	ok((grep { index($_, $here) >= 0 } @names), 'a relation has its name') or diag(join("\n", @names));
	ok((grep { $_ =~ /^(<b>&'"\]\]>|postgres): file \d+$/ } @names), 'one of another database has a number');
	if ($database ne 'octets')
	{
		ok((grep { /^public\.\"\?\?\?\? <!-- \]\]> \\ &lt; and long/ && /\.\.\.$/ } @names), 'one name is cut short');
		like($all, qr/ &lt; and long enough to be cut short\x{e9}\x{4e2d}\x{1f600}/, 'and is there in full');
	}
	ok((grep { /^caf\\+d\? \(\d+\): file \d+$/ } @names), 'a name that is not UTF-8 is shown with its OID') or diag(join("\n", @names));
}

# ---- whatever the session is like, and there is a recommendation

$clock->let_pass($node, 61);
my $ask = q{
\echo === :AUTOCOMMIT :ON_ERROR_STOP :SINGLELINE :SHOW_CONTEXT :QUIET :ENCODING :file
\echo === :{?ws_report_page} :{?ws_report_path} :{?ws_report_schema} :{?ws_report_file} :{?ws_report_problem} :{?ws_report_newpath}
\pset
SHOW search_path;
SHOW client_encoding;
SELECT pg_catalog.count(*) FROM pg_catalog.pg_class WHERE relnamespace = pg_catalog.pg_my_temp_schema();
};
my $hostile = q{
	CREATE SCHEMA IF NOT EXISTS hostile;
	CREATE OR REPLACE FUNCTION hostile.spring() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE OR REPLACE FUNCTION hostile.trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE OR REPLACE FUNCTION hostile.concat(text, text) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE OPERATOR hostile.> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = hostile.trap);
	CREATE VIEW hostile.pg_extension AS SELECT hostile.spring();
	CREATE VIEW hostile.working_set_info AS SELECT hostile.spring();
	GRANT ALL ON SCHEMA hostile TO public;
};
$node->safe_psql('postgres', $hostile);
my %session = (
	'standard_conforming_strings off' => "SET standard_conforming_strings = off;",
	'a hostile path' => 'SET search_path = hostile, pg_catalog, public; CREATE TEMP VIEW pg_settings AS SELECT hostile.spring();',
	'odd formats' => "SET datestyle = 'German'; SET timezone = '<A\"B>-5:30'; SET extra_float_digits = -10; SET intervalstyle = iso_8601; SET bytea_output = escape;",
	'another encoding' => "\\encoding LATIN1",
	'the printing of psql' => "\\x on\n\\pset format html\n\\pset null nothing\n\\pset recordsep_zero on\n\\pset title title\n\\pset footer on\n\\set FETCH_COUNT 1",
	'single lines' => '\set SINGLELINE on',
	'no plans' => 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit_above_cost = 0; SET work_mem = 64;',
	'parallel plans' => 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
	  . ($node->pg_version >= 16 ? 'SET debug_parallel_query = on;' : 'SET force_parallel_mode = on;'),
	'a transaction' => 'BEGIN READ ONLY;',
	'no autocommit' => '\set AUTOCOMMIT off',
	'errors do not stop' => '\unset ON_ERROR_STOP');
# from 19 on it cannot be turned off
delete $session{'standard_conforming_strings off'} if $node->psql('postgres', 'SET standard_conforming_strings = off') != 0;
for my $what (sort keys %session)
{
	my $before = $session{$what};
	my ($status, $out, $err, $page) = run_report($node, role => $what =~ /hostile/ ? undef : 'ws_monitor', before => "$before\n$ask\\echo ----", after => "\\echo ----\n$ask");
	is("$status $err", '0 ', "$what: no error");
	is(verdict($page // ''), '', "$what: a good page");
	my ($then, $said, $now) = split /^----\n/m, $out;
	is($now, $then, "$what: all is as it was");
}
$node->safe_psql('postgres', 'DROP SCHEMA hostile CASCADE');

$node->stop;
done_testing();
