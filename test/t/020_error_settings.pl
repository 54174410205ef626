# Settings that change what an error or a line of the log does: with each of them
# the server starts, and lookups are tracked.  005_refused.pl has exit_on_error with a
# probe that refuses.

use lib 'test/t';
use server;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');

# Those that are on or off, the other way round; with this one the log would be elsewhere.
my $switched = $node->safe_psql('postgres', q{
	SELECT string_agg(name || CASE boot_val WHEN 'on' THEN ' = off' ELSE ' = on' END, E'\n' ORDER BY name)
	  FROM pg_settings
	 WHERE (category = 'Developer Options' OR category = 'Error Handling' OR category LIKE 'Reporting and Logging%')
	   AND vartype = 'bool' AND context <> 'internal' AND name <> 'logging_collector'});
$node->stop;
like($switched, qr/^\Q$_\E = on$/m, "$_ is among them")
  for qw(exit_on_error debug_print_plan log_duration zero_damaged_pages);
note($switched);

my $configuration = slurp_file($node->data_dir . '/postgresql.conf');

sub tracks
{
	my ($name, $settings) = @_;
	my $logged = -s $node->logfile;

	$node->append_conf('postgresql.conf', $settings);
	$node->start;
	is($node->safe_psql('postgres', q{
		CREATE TABLE served AS SELECT g FROM generate_series(1, 20000) g;
		SELECT count(*), sum(g) FROM served;
		VACUUM served; CHECKPOINT; DROP TABLE served}), '20000|200010000', "$name: the server serves");
	is($node->safe_psql('postgres', q{
		SELECT tracking, reason, lookups > 50, approximate_working_set_size() > 50 FROM working_set_info}),
		't|every lookup of shared buffers is seen|t|t', "$name: tracking");
	ok($node->stop, "$name: and it stops");
	unlike(slurp_file($node->logfile, $logged), qr/TRAP:|PANIC:|terminated by signal|working_set is not tracking/,
		"$name: nothing has crashed");

	open my $file, '>', $node->data_dir . '/postgresql.conf' or die $!;
	print $file $configuration;
	close $file or die $!;
	return;
}

tracks('exit_on_error', 'exit_on_error = on');
tracks('all', $switched);
tracks('log everything', q{
	exit_on_error = on
	log_min_messages = debug5
	log_min_error_statement = debug5
	client_min_messages = error
	log_error_verbosity = verbose
	backtrace_functions = 'errstart,errfinish,ws_attach,ws_buftable_find,make_memory,startup,succeeds'
});
tracks('log nothing', q{
	exit_on_error = on
	log_min_messages = panic
	log_min_error_statement = panic
	log_error_verbosity = terse
	log_destination = ''
});

done_testing();
