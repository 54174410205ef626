# Processes are killed: the worker, a backend, the checkpointer, and the postmaster with nobody left
# to clean up.  The server is back, counts, and knows what was saved.

use lib 'test/t';
use server;
use clock;
use IPC::Run;
use crashing;
use lateness;

# The clocks go on by themselves, but for the minute until there is a recommendation.
my $clock = clock->new(running => 1);
my $node = $clock->new_server(q{
shared_buffers = 8192
working_set.save = 1
restart_after_crash = on
});
make_table($node, 'pages', 3000);
$clock->pass(61);
wait_for($node, q{status = 'ok' FROM working_set_recommendation}, 'no recommendation');
$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');

# Somebody reads all the time.  Each statement takes a moment, and then the postmaster
# is missed.
sub reader
{
	my $script = PostgreSQL::Test::Utils::tempdir() . '/reader.sql';
	open my $fh, '>', $script or die $!;
	print $fh 'SELECT sum((SELECT count(filler) FROM pages WHERE id > -g)) FROM generate_series(1, 100) g',
	  "\n\\watch 0.01\n";
	close $fh;
	my $h = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=reader', '-f', $script ],
		'<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
	wait_for($node, q{count(*) = 1 FROM pg_stat_activity WHERE application_name = 'reader' AND state = 'active'},
		'nobody reads');
	return $h;
}

sub pid_of
{
	my ($condition) = @_;
	my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $condition");
	die "no process, or several: $pid" unless $pid =~ /^\d+$/;
	return $pid;
}

sub is_counted
{
	my ($name) = @_;
	# as many whole seconds as have passed hold the scan, and nothing from before; two of them have
	# to pass, or there would be none
	about($node->safe_psql('postgres', q{
		SELECT clock_timestamp() AS moment \gset
		SELECT pg_sleep(2) \g /dev/null
		SELECT count(filler) FROM pages \g /dev/null
		SELECT approximate_working_set_size_seconds(floor(extract(epoch FROM clock_timestamp() - :'moment'))::int)}),
		3000, 300, "$name: a scan is counted");
	return;
}

# All have gone that shared the memory, and the server is there with new ones.
sub is_back
{
	my ($name, $said, $before) = @_;
	until_true($node, "worker_pid <> $before->{worker} FROM working_set_info", "$name: no worker");
	truthful($name, @$said,
		ask_until($node, sub { $_[0] && $_[0]{status} eq 'ok' && $_[0]{most} < time - $before->{time} }));
	is(info($node, "tracking, since > '$before->{now}'"), 't|t', "$name: the worker is back, and all anew");
	is($node->safe_psql('postgres', "SELECT computed_at > '$before->{now}' FROM working_set_recommendation"),
		't', "$name: what is said is new");
	isnt(pid_of(q{backend_type = 'checkpointer'}), $before->{checkpointer}, "$name: all processes are new");
	cmp_ok($node->safe_psql('postgres', 'SELECT approximate_working_set_size_seconds(3600)'),
		'>=', 3000 - error_of(3000), "$name: what was saved is known");
	return;
}

sub before
{
	# saved with what has been read until now
	saved($node);
	return {
		worker => info($node, 'worker_pid'),
		now => $node->safe_psql('postgres', 'SELECT clock_timestamp()'),
		time => time,
		checkpointer => pid_of(q{backend_type = 'checkpointer'}),
		postmaster => postmaster_pid($node)
	};
}

for my $case (
	[ 'the worker', sub { info($node, 'worker_pid') } ],
	[ 'a backend',  sub { pid_of(q{application_name = 'reader'}) } ],
	[ 'the checkpointer', sub { pid_of(q{backend_type = 'checkpointer'}) } ])
{
	my ($name, $victim) = @$case;
	my $reader = reader();
	my $before = before();
	my $offset = log_size($node);
	my $pid = $victim->();
	is(kill('KILL', $pid), 1, "$name: killed");
	my @heard = ask_until($node, sub { log_from($node, $offset) =~ /all server processes terminated; reinitializing/ });
	eval { $reader->finish };
	is_back($name, \@heard, $before);
	like(log_from($node, $offset), qr/PID $pid\) was terminated by signal 9/, "$name: it was he");
	is(postmaster_pid($node), $before->{postmaster},
		"$name: the postmaster is the same");
	is_counted($name);
	$node->safe_psql('postgres', 'SELECT count(filler) FROM pages');
}

# the postmaster, with nobody left to clean up
my $reader = reader();
my $before = before();
my $victim = pid_of(q{application_name = 'reader'});
my $offset = log_size($node);
kill_postmaster($node);
for my $pid ($victim, $before->{worker})
{
	ok(eventually(sub { has_ended($pid) }), 'the postmaster: its children follow it');
}
eval { $reader->finish };
# the last of them may still be at it
ok(eventually(sub { $clock->lend(sub { $node->start(fail_ok => 1) }) }), 'the postmaster: the server starts again on its directory');
is_back('the postmaster', [], $before);
like(log_from($node, $offset), qr/database system was not properly shut down/, 'the postmaster: from a crash');
unlike(log_from($node, $offset), qr/is not used|working_set is not tracking/, 'the postmaster: nothing is refused');
is_counted('the postmaster');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal (?!9\b)/, 'no crash but those that were made');

done_testing();
