# monitoring/grants.sql: the role that an exporter connects as, what it may do and what not.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'\nautovacuum = off\nfsync = off\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE SCHEMA watch;
	CREATE EXTENSION working_set SCHEMA watch;
	CREATE TABLE secret AS SELECT 1 AS it;
});

sub grants
{
	my ($database, @options) = @_;
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ 'psql', '-X', '-q', '-d', $node->connstr($database), @options, '-f', monitoring('grants.sql') ],
		'<', \undef, '>', \$out, '2>', \$err);
	return ($ok ? 'done' : 'failed') . "|$out$err";
}

my $attributes = q{SELECT rolcanlogin, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls, rolconnlimit,
	rolpassword IS NULL, (SELECT string_agg(g.rolname, ',') FROM pg_auth_members JOIN pg_roles g ON g.oid = roleid WHERE member = r.oid)
	FROM pg_authid r WHERE rolname = };
is(grants('postgres'), 'done|', 'grants.sql');
is($node->safe_psql('postgres', "$attributes 'working_set_scrape'"), 't|f|f|f|f|f|30|t|pg_monitor',
	'the role may log in and is a member of pg_monitor, nothing else');
my $settings = q{SELECT string_agg(unnest, ' ' ORDER BY unnest) FROM pg_db_role_setting, unnest(setconfig)};
my $once = $node->safe_psql('postgres', $settings);
is(grants('postgres'), 'done|', 'grants.sql a second time');
is($node->safe_psql('postgres', "$attributes 'working_set_scrape'"), 't|f|f|f|f|f|30|t|pg_monitor', 'changes nothing');
is($node->safe_psql('postgres', $settings), $once, 'and no setting');
is(grants('postgres', '-v', 'role=Other "one"', '-v', 'connections=3'), 'done|', 'grants.sql with another name');
is($node->safe_psql('postgres', qq{$attributes 'Other "one"'}), 't|f|f|f|f|f|3|t|pg_monitor', 'makes a role of that name');

# ---- the limit of connections: what was asked for; without that, never a lower one
for my $case ([ 100, [], 100 ], [ -1, [], -1 ], [ 10, [], 30 ], [ 100, [40], 40 ], [ 40, [5], 5 ], [ 5, [-1], -1 ])
{
	my ($before, $wanted, $after) = @$case;
	$node->safe_psql('postgres', qq{ALTER ROLE "Other ""one""" CONNECTION LIMIT $before});
	is(grants('postgres', '-v', 'role=Other "one"', map { ('-v', "connections=$_") } @$wanted), 'done|', "from $before connections, with -v @$wanted");
	is($node->safe_psql('postgres', q{SELECT rolconnlimit FROM pg_roles WHERE rolname = 'Other "one"'}), $after, "to $after");
}
# what the exporters of Debian need: a connection for each job, two exporters at a time, and as many new ones as old
my $jobs = () = map { slurp_file($_) =~ /^ *interval:/mg } glob monitoring('prometheus-sql-exporter/*.yml');
cmp_ok(4 * $jobs, '<=', 30, 'two exporters with all jobs have room');

# what is no number, and a name that the server cuts to that of a superuser
like(grants('postgres', '-v', 'connections=5 SUPERUSER'), qr/^failed\|.*invalid input syntax for type integer/, 'a limit is a number');
my $long = 'x' x 63;
$node->safe_psql('postgres', "CREATE ROLE $long SUPERUSER");
like(grants('postgres', '-v', "role=${long}yz"), qr/^failed\|.*exists and is a superuser/, 'nor a name that is cut');
is($node->safe_psql('postgres', "SELECT rolcanlogin FROM pg_roles WHERE rolname = '$long'"), 'f', 'which changes nothing');

like(grants('template1'), qr/^failed\|.*working_set is not in database "template1"/, 'not where the extension is missing');
like(grants('postgres', '-v', 'role=' . $node->safe_psql('postgres', 'SELECT current_user')),
	qr/^failed\|.*exists and is a superuser/, 'not a role that can do more');
$node->safe_psql('postgres', 'CREATE DATABASE "Closed one"');
$node->safe_psql('Closed one', q{
	CREATE EXTENSION working_set;
	REVOKE ALL ON DATABASE "Closed one" FROM PUBLIC;
	REVOKE ALL ON SCHEMA public FROM PUBLIC;
});
is(grants('Closed one'), 'done|', 'grants.sql where PUBLIC may nothing');

sub as_scraper
{
	my ($sql, $database) = @_;
	my ($status, $out, $err) = $node->psql($database // 'postgres', "\\set VERBOSITY sqlstate\n$sql",
		extra_params => [ '-U', 'working_set_scrape' ]);
	my ($state) = $err =~ /ERROR:  (\w{5})$/m;
	return $status == 0 ? $out : $state // $err;
}

# on a busy machine five seconds may go by meanwhile
my $limit;
eventually(sub { ($limit = as_scraper('SHOW statement_timeout')) ne '57014' });
is($limit, '5s', 'a statement may take five seconds');
$node->safe_psql('postgres', q{ALTER ROLE working_set_scrape SET statement_timeout = '10min'});
is(as_scraper('SELECT count(*) FROM working_set_info'), '1', 'the role finds the extension by itself');
is(as_scraper('SELECT count(*) FROM working_set_info', 'Closed one'), '1', 'in the other database too');
is(as_scraper('SELECT working_set_reset()'), '42501', 'the role cannot reset');
is(as_scraper('SELECT approximate_working_set_size(true)'), '42501', 'not by the other function either');
is(as_scraper('SELECT * FROM public.secret'), '42501', 'nor read a table');
is(as_scraper('CREATE TABLE public.t (a int)'), '25006', 'nor make one');
is(as_scraper('SET default_transaction_read_only = off; CREATE TABLE public.t (a int)'), '42501', 'not even if it tries');
is(as_scraper('ALTER SYSTEM SET work_mem = 64'), '42501', 'nor change a setting');
is(as_scraper('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usesysid = 10'), '42501',
	'nor end a session of others');
is(as_scraper('CREATE ROLE r'), '25006', 'nor make a role');
is(as_scraper('SELECT rolpassword FROM pg_authid'), '42501', 'nor read passwords');
is(as_scraper(q{SELECT pg_read_file('PG_VERSION')}), '42501', 'nor read a file');
# (longer than that)
is(as_scraper(q{SET statement_timeout = '100ms'; SELECT pg_sleep(600)}), '57014', 'and is timed out at will');

$node->stop;
done_testing();
