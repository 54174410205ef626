# Nowhere to write to: that is said once, tracking goes on, and it is saved when that is possible
# again.  The clock is the test's.

use lib 'test/t';
use server;
use clock;

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = 8192\nworking_set.save = 1");
# it publishes after a minute
$clock->let_pass($node, 61);

sub saved_again
{
	my $now = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
	$clock->pass(2);
	wait_for($node, "last_saved > '$now' FROM working_set_info", 'not saved');
	return;
}
saved_again();

sub complains
{
	my ($name, $prepare, $mend, $pattern) = @_;
	my $offset = log_size($node);
	$prepare->();
	# it is said at the first time, and not at the next ones: it is due each second
	$clock->pass(2);
	eventually(sub { log_from($node, $offset) =~ /could not .*working_set\.saved/ });
	$clock->let_pass($node, 2) for 1 .. 4;
	is($node->safe_psql('postgres', 'SELECT tracking, worker_pid IS NOT NULL FROM working_set_info'), 't|t',
		"$name: tracking goes on");
	my $log = log_from($node, $offset);
	is(scalar(() = $log =~ /WARNING: .*could not $pattern/g), 1, "$name: and one warning says so");
	is(scalar(() = $log =~ /^.*working_set\.saved/mg), 1, "$name: and nothing else does");
	$mend->();
	saved_again();
	pass("$name: it is saved when that is possible again");
	return;
}

my $dir = $node->data_dir . '/pg_stat';
complains('no directory', sub { rename $dir, "$dir.away" or die $! }, sub { rename "$dir.away", $dir or die $! },
	# the file may have been written when the directory went
	qr/(?:create|open|rename|fsync) file "pg_stat\/working_set\.saved(?:\.tmp)?".*: No such file or directory/);
my $limit = sub {
	my ($bytes) = @_;
	my $pid = $node->safe_psql('postgres', 'SELECT worker_pid FROM working_set_info');
	system('prlimit', "--pid=$pid", "--fsize=$bytes:") == 0 or die 'prlimit';
};
complains('no room', sub { $limit->(100 * 8192) }, sub { $limit->('unlimited') },
	qr/write file "pg_stat\/working_set\.saved\.tmp": File too large/);
SKIP:
{
	skip 'root may write anywhere', 4 if $> == 0;
	complains('no permission', sub { chmod 0500, $dir or die $! }, sub { chmod 0700, $dir or die $! },
		qr/(?:create file "pg_stat\/working_set\.saved\.tmp"|rename file .*): Permission denied/);
}

finish($node);
