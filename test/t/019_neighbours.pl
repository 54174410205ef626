# Another library keeps the server from calling our hooks, or leaves no shared
# memory: the server starts and serves, and says why nothing is tracked.

use lib 'test/t';
use server;
use library;

my $dir = PostgreSQL::Test::Utils::tempdir();

sub build
{
	my ($library, @arguments) = @_;
	build_library("$dir/$library.so", @arguments);
	return "$dir/$library";
}
my $no_request = build('no_request', '-DNO_REQUEST', 'test/t/neighbour.c');
my $no_startup = build('no_startup', '-DNO_STARTUP', 'test/t/neighbour.c');
my $neither = build('neither', '-DNO_REQUEST', '-DNO_STARTUP', 'test/t/neighbour.c');
my $polite = build('polite', 'test/t/neighbour.c');
my $fault = build('fault', 'test/t/fault.c', 'src/path/buftable.c');

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'working_set, $polite'
working_set.interval = 1
log_min_messages = debug1
ws_test.fault = no_memory
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
is($node->safe_psql('postgres', 'SELECT tracking FROM working_set_info'), 't', 'beside one that chains: tracking');
$node->stop;

sub stays_off
{
	my ($name, $libraries, $why) = @_;
	my $logged = -s $node->logfile;

	$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'$libraries'");
	$node->start;
	is($node->safe_psql('postgres', q{
		CREATE TABLE served AS SELECT g FROM generate_series(1, 20000) g;
		SELECT count(*), sum(g) FROM served;
		VACUUM served; CHECKPOINT; DROP TABLE served}), '20000|200010000', "$name: the server serves");
	is($node->safe_psql('postgres', q{
		SELECT tracking, reason, since IS NULL, lookups IS NULL, worker_pid IS NULL, sampled_pages
		  FROM working_set_info}), "f|$why|t|t|t|0", "$name: the view says why");
	is($node->safe_psql('postgres', q{
		SELECT approximate_working_set_size_seconds(60) IS NULL,
		       approximate_working_set_size() IS NULL,
		       approximate_working_set_size(true) IS NULL,
		       working_set_size(interval '1 min') IS NULL,
		       working_set_reset() IS NOT NULL,
		       (SELECT count(*) FROM working_set_curve),
		       (SELECT count(*) FROM working_set_relations),
		       (SELECT count(*) FROM working_set_queries),
		       (SELECT count(*) FROM working_set_cache_advice),
		       (SELECT count(*) FROM working_set_history)}),
		't|t|t|t|t|0|0|0|0|0', "$name: sizes are not known");
	is($node->safe_psql('postgres', q{SELECT status, reason FROM working_set_recommendation}),
		"not tracking|$why", "$name: nothing is recommended");
	isnt($node->safe_psql('postgres', q{SELECT count(*) FROM working_set_chart()}), '0', "$name: there is a chart");

	# the worker ends, once and for all
	my $ended = qr/background worker "working_set" \(PID \d+\) exited with exit code/;
	eventually(sub { slurp_file($node->logfile, $logged) =~ $ended }) or die "the worker does not end";
	ok($node->stop, "$name: and it stops");

	my $log = slurp_file($node->logfile, $logged);
	is(scalar(() = $log =~ /$ended/g), 1, "$name: one worker");
	like($log, qr/$ended 0/, "$name: which is not started again");
	my @lines = grep { /^\d.*(?:LOG|WARNING|ERROR|FATAL|PANIC):.*working_set/ && !/LOG:  statement:/ } split /\n/, $log;
	is(scalar(@lines), 1, "$name: one line in the log");
	like($lines[0] // '', qr/ LOG:  working_set is not tracking: \Q$why\E$/, "$name: and that says why");
	unlike($log, qr/TRAP:|PANIC:|terminated by signal/, "$name: nothing has crashed");
	return;
}

my $replaced = 'a library that is preloaded after working_set replaces %s, and does not call what was there before';
stays_off('no request', "working_set, $no_request", sprintf($replaced, 'shmem_request_hook'));
stays_off('no startup', "working_set, $no_startup", sprintf($replaced, 'shmem_startup_hook'));
stays_off('neither', "working_set, $neither", sprintf($replaced, 'shmem_startup_hook'));
stays_off('no memory', "working_set, $fault", 'out of shared memory');

# each error is fatal
$node->append_conf('postgresql.conf', 'exit_on_error = on');
stays_off('no memory, exit_on_error', "working_set, $fault", 'out of shared memory');

# in the other order, all is well
$node->adjust_conf('postgresql.conf', 'shared_preload_libraries', "'$no_request, $no_startup, working_set'");
$node->start;
is($node->safe_psql('postgres', 'SELECT tracking FROM working_set_info'), 't', 'preloaded last: tracking');
finish($node);
