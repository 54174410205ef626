# monitoring/report.sql writes the page where it is told to; and where none can be made, it says what is
# missing, and writes nothing.

use strict;
use warnings;
use Cwd;
use FindBin;
use IPC::Run;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use report_page;

# ---- the extension

my $plain = PostgreSQL::Test::Cluster->new('plain');
$plain->init;
$plain->start;
my ($status, $out, $err, $page) = run_report($plain);
is($status, 3, 'not installed: an error');
like($err, qr/^psql:\S+ ERROR:  the extension working_set is not installed in database "postgres"\nHINT:  CREATE EXTENSION working_set;\n\z/,
	'that says so, and nothing else');
is($page, undef, 'and no page');

$plain->safe_psql('postgres', 'CREATE EXTENSION working_set');
($status, $out, $err, $page) = run_report($plain);
is($status, 3, 'not preloaded: an error');
like($err, qr/^psql:\S+ ERROR:  working_set must be loaded via shared_preload_libraries\nHINT:  .*restart the server\.\n\z/, 'that says so, and nothing else');
is($page, undef, 'and no page');
# with placeholders for the settings, all the same
$plain->append_conf('postgresql.conf', 'working_set.registers = 1024');
$plain->restart;
($status, $out, $err, $page) = run_report($plain);
like($err, qr/must be loaded via shared_preload_libraries/, 'whatever settings there are');
$plain->stop;

# ---- privileges

my $node = new_report_node();
$node->safe_psql('postgres', "CREATE ROLE ws_nobody LOGIN; REVOKE USAGE ON SCHEMA $ws FROM public");
($status, $out, $err, $page) = run_report($node, role => 'ws_nobody');
is($status, 3, 'without privileges: an error');
like($err, qr/^psql:\S+ ERROR:  role "ws_nobody" may not read what working_set knows\nHINT:  GRANT pg_monitor TO ws_nobody;\n\z/, 'that says so, and nothing else');
is($page, undef, 'and no page');
($status, $out, $err, $page) = run_report($node, role => 'ws_monitor');
like($err, qr/^psql:\S+ ERROR:  role "ws_monitor" may not read .*\nHINT:  GRANT USAGE ON SCHEMA "w's ""<&>" TO ws_monitor;\n\z/, 'or may not use the schema');
$node->safe_psql('postgres', "GRANT USAGE ON SCHEMA $ws TO public");

# ---- where it goes

my $dir = PostgreSQL::Test::Utils::tempdir();
($status, $out, $err, $page) = run_report($node, role => 'ws_monitor', file => "$dir/a name.html");
is(verdict($page // ''), '', 'into a file with a space in its name');
($status, $out, $err) = run_report($node, role => 'ws_monitor', file => "|cat");
like($out, qr/^<!DOCTYPE html>$/m, 'to another program');
{
	my $back = Cwd::getcwd();
	chdir $dir;
	IPC::Run::run([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-U', 'ws_monitor', '-f', report_script() ], '>', \$out, '2>', \$err);
	chdir $back;
	is(verdict(-e "$dir/working_set_report.html" ? slurp_file("$dir/working_set_report.html") : ''), '', 'without a name, into the current directory');
}
($status, $out, $err, $page) = run_report($node, role => 'ws_monitor', before => "\\set ON_ERROR_STOP off\nBEGIN; SELECT 1/0;\n");
like($err, qr/current transaction is aborted/, 'in a failed transaction, it fails');
is($page, undef, 'and writes nothing');
($status, $out, $err) = run_report($node, role => 'ws_monitor', file => "$dir/nowhere/page.html");
is($status, 3, 'a file that cannot be written is an error');
like($err, qr/nowhere\/page\.html: No such file/, 'of psql');

$node->stop;
done_testing();
