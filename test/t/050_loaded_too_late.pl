# Loaded by a session, and not by the server: that is no error, calls say what to do, and the
# session goes on.

use lib 'test/t';
use server;
use IPC::Run;
use library;

my $node = new_node('main', "shared_preload_libraries = ''");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION working_set;
	CREATE TABLE t AS SELECT g FROM generate_series(1, 1000) g;
	CREATE ROLE somebody LOGIN;
	GRANT pg_monitor TO somebody;
	GRANT SELECT ON t TO somebody;
	CREATE DATABASE preloading;
});
$node->safe_psql('preloading', 'CREATE EXTENSION working_set');

my $too_late = qr/^(?:psql:<stdin>:\d+: )?ERROR:  55000: working_set must be loaded via shared_preload_libraries\nHINT:  Add .* and restart the server\.$/m;

# The session is of use afterwards, with parallel workers, which load what their leader
# has loaded; and settings of ours are nobody's.
my $goes_on = q{
	SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
	SET working_set.interval = '1s';
	SELECT sum(g) FROM t;
};

sub loaded_in_vain
{
	my ($name, $database, $load, %params) = @_;
	is($node->safe_psql($database, "$load SELECT 1", %params), '1', "$name: is no error");
	like(refusal($node, $database, "$load SELECT approximate_working_set_size();", %params),
		$too_late, "$name: but calls say what to do");
	like(refusal($node, $database, "$load SELECT * FROM working_set_info;", %params),
		$too_late, "$name: so do views");
	return;
}

loaded_in_vain('LOAD', 'postgres', q{LOAD 'working_set';});
is($node->safe_psql('postgres', "LOAD 'working_set'; $goes_on"), '500500',
	'LOAD: the session goes on');
is($node->safe_psql('postgres', "LOAD 'working_set'; LOAD 'working_set'; $goes_on"), '500500',
	'LOAD twice, too');
# once more after an error, in the same session
my ($status, $out, $err) = $node->psql('postgres',
	"LOAD 'working_set'; SELECT approximate_working_set_size(); $goes_on", on_error_stop => 0);
like($out, qr/^500500$/m, 'and after the error');
like($err, qr/must be loaded via/, 'which there was');

$node->safe_psql('postgres', q{ALTER DATABASE preloading SET session_preload_libraries = 'working_set'});
is($node->safe_psql('preloading', 'SHOW session_preload_libraries'), 'working_set',
	'session_preload_libraries is set');
loaded_in_vain('session_preload_libraries', 'preloading', '');
$node->safe_psql('preloading', 'CREATE TABLE t AS SELECT g FROM generate_series(1, 1000) g');
is($node->safe_psql('preloading', $goes_on), '500500', 'session_preload_libraries: the session goes on');
is($node->safe_psql('postgres', $goes_on), '500500', 'and those of other databases');

# Anybody may load what is in a directory of its own, where nobody puts us by himself.
my @as_somebody = (connstr => $node->connstr('postgres') .
	q{ user=somebody options='-c local_preload_libraries=working_set'});
my $libdir = pg_config('pkglibdir');
SKIP:
{
	skip 'the library is among the plugins', 1 if -e "$libdir/plugins/working_set.so";
	# it cannot connect, and reads no statement from a pipe
	IPC::Run::run([ 'psql', '-X', '-c', 'SELECT 1', '-d', $as_somebody[1] ], '<', '/dev/null', '2>', \my $stderr);
	like($stderr, qr/could not access file "\$libdir\/plugins\/working_set"/,
		'local_preload_libraries: not to be found there, and says so');
}
my $made = !-e "$libdir/plugins" && -w $libdir && mkdir "$libdir/plugins";
SKIP:
{
	skip 'the library cannot be put among the plugins', 4
	  unless -w "$libdir/plugins" && symlink "$libdir/working_set.so", "$libdir/plugins/working_set.so";
	loaded_in_vain('local_preload_libraries', 'postgres', '', @as_somebody);
	is($node->safe_psql('postgres', $goes_on, @as_somebody), '500500',
		'local_preload_libraries: the session goes on');
}
unlink "$libdir/plugins/working_set.so" if -l "$libdir/plugins/working_set.so";
rmdir "$libdir/plugins" if $made;

# set, but not yet restarted
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'");
$node->reload;
wait_for($node, q{pending_restart FROM pg_settings WHERE name = 'shared_preload_libraries'}, 'no reload');
like(refusal($node, 'postgres', 'SELECT approximate_working_set_size();'), $too_late,
	'preloading waits for the restart');
unlike(log_from($node, 0), qr/PANIC|TRAP|terminated by signal|working_set is not tracking/,
	'no process was disturbed');
$node->restart;
is(info($node, 'tracking'), 't', 'after which it tracks');

# loading it once more changes nothing
make_table($node, 'pages', 3000);
my $since = info($node, 'since');
is($node->safe_psql('postgres', q{
	LOAD 'working_set';
	SELECT count(filler) FROM pages \g /dev/null
	SELECT tracking, since = '} . $since . q{', approximate_working_set_size() >= 2900 FROM working_set_info}),
	't|t|t', 'LOAD where it is preloaded is nothing');
finish($node);
