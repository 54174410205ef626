# Something else is in the place of the file that survives a restart, or of the one that is written
# aside: the server runs, says so, and saves a file.

use lib 'test/t';
use server;
use IO::Socket::UNIX;
use POSIX qw(mkfifo);
use kept;
use state_file;

my ($node, $path, undef, $content) = new_kept();

# ---- something else in the place of the file
my $elsewhere = PostgreSQL::Test::Utils::tempdir_short() . '/other';
write_raw($elsewhere, $content);

sub make_socket
{
	my ($name) = @_;
	# names of sockets are short
	my $short = PostgreSQL::Test::Utils::tempdir_short() . '/s';
	IO::Socket::UNIX->new(Local => $short, Listen => 1) or die "$short: $!";
	rename $short, $name or die "$name: $!";
	return;
}

my %make = (
	fifo => sub { mkfifo($_[0], 0600) or die $! },
	directory => sub { mkdir $_[0] or die $! },
	symlink => sub { symlink $elsewhere, $_[0] or die $! },
	device => sub { symlink '/dev/zero', $_[0] or die $! },
	socket => \&make_socket);

for my $case (
	[ 'a FIFO', $make{fifo}, 'it is a FIFO' ],
	[ 'a directory', $make{directory}, 'it is a directory' ],
	[ 'a symbolic link to a good file', $make{symlink}, 'it is a symbolic link' ],
	[ 'a socket', $make{socket}, 'it is a socket' ])
{
	my ($name, $make, $why) = @$case;
	clear($path, "$path.bad");
	$make->($path);
	mark_log($node);
	start($node);
	is(sql($node, 'SELECT tracking FROM working_set_info'), 't', "$name: the server runs, and so does the worker");
	saved($node);
	$node->stop('fast');
	my $log = log_since($node);
	like($log, qr/LOG: .*working_set\.saved" is not used: $why\n.*DETAIL:  It is kept as/, "$name: the log says so");
	is(scalar(() = $log =~ /working_set\.saved/g), 2, "$name: and nothing else");
	ok(-f $path && !-l $path && -s $path, "$name: what is saved is a file");
	ok(-e "$path.bad" || -l "$path.bad", "$name: and it is kept");
}
ok(slurp_file($elsewhere) eq $content, 'what a link points to was not written to');
clear("$path.bad");

# ---- and meanwhile; also in the place of the file that is written aside
start($node);
for my $case ([ 'a FIFO', $make{fifo} ], [ 'a symbolic link', $make{symlink} ],
	[ 'a link to a device', $make{device} ], [ 'a socket', $make{socket} ])
{
	my ($name, $make) = @$case;
	clear("$path.made");
	$make->("$path.made");
	rename "$path.made", "$path.tmp" or die $!;
	saved($node);
	pass("$name is in the way: it is saved all the same");
}
for my $case ([ 'a FIFO', $make{fifo} ], [ 'a directory', $make{directory} ])
{
	my ($name, $make) = @$case;
	clear("$path.bad", "$path.made");
	$make->("$path.made");
	# the worker may be writing just now
	eventually(sub { unlink $path; return rename "$path.made", $path }) or die "$path: $!";
	saved($node);
	ok(-f $path, "$name has taken the place of the file: it is saved all the same");
}
clear("$path.bad");
mark_log($node);
# the worker may be writing just now
eventually(sub { mkdir "$path.tmp" }) or die "$path.tmp: $!";
my $warning = qr/WARNING: .*could not create file "pg_stat\/working_set\.saved\.tmp": (?:Is a directory|File exists)/;
eventually(sub { log_since($node) =~ $warning }) or die 'no warning';
is(sql($node, 'SELECT tracking, worker_pid IS NOT NULL FROM working_set_info'), 't|t', 'a directory is in the way: tracking goes on');
clear("$path.tmp");
saved($node);
is(scalar(() = log_since($node) =~ /$warning/g), 1, 'one warning says so, and when it has gone it is saved');
mark_log($node);
$make{fifo}->("$path.made");
rename "$path.made", "$path.tmp" or die $!;
$node->stop('fast');
ok(!-e "$path.tmp", 'a fast shutdown does not wait for a FIFO');
ok($content eq slurp_file($elsewhere), 'what a link points to was not written to');

done_testing();
