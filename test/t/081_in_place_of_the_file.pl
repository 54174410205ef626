# Something else is in the place of the file that survives a restart, or of the one that is written
# aside: the server runs, says so, and saves a file.  And what is forgotten where there is no worker stays
# forgotten, which is said when it is not possible.

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

# ---- without a worker

my $dir = $node->data_dir . '/pg_stat';
my $no_worker = 'max_worker_processes = 0';
my $worker = 'max_worker_processes = 8';

write_raw($path, $content);
$node->append_conf('postgresql.conf', $no_worker);
$node->start;
is(sql($node, 'SELECT worker_pid FROM working_set_info'), '', 'there is no worker');
sql($node, 'SELECT approximate_working_set_size(true)');
$node->stop('immediate');
$node->append_conf('postgresql.conf', $worker);
mark_log($node);
start($node);
cmp_ok(size($node, 'NULL'), '<', $forgotten, 'the set stays forgotten');
is(rows_put($node), 9, 'the history, which was not to be forgotten, is there');
unlike(log_since($node), qr/working_set\.saved/, 'and the log does not complain');
$node->stop;

write_raw($path, $content);
$node->append_conf('postgresql.conf', $no_worker);
$node->start;
sql($node, 'SELECT working_set_reset()');
$node->stop('immediate');
$node->append_conf('postgresql.conf', $worker);
start($node);
cmp_ok(size($node, 'NULL'), '<', $forgotten, 'after the other reset the set stays forgotten');
is(rows_put($node), 0, 'and so does the history');
$node->stop;

# it is said when that is not possible
SKIP:
{
	skip 'root may write anywhere', 5 if $> == 0;
	write_raw($path, $content);
	$node->append_conf('postgresql.conf', $no_worker);
	$node->start;
	chmod 0500, $dir or die $!;
	my (undef, undef, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size(true)');
	my $warned = qr/WARNING:  working_set: could not correct file .*\nDETAIL:  What was forgotten comes back/;
	like($err, $warned, 'a reset that does not last says so');
	(undef, undef, $err) = $node->psql('postgres', 'SELECT working_set_reset()');
	like($err, $warned, 'as does the other');
	like(slurp_file($node->logfile), $_, 'and the log says why')
	  for qr/LOG:  working_set: could not create file .*working_set\.saved\.tmp": Permission denied/,
	  qr/LOG:  could not remove file .*working_set\.saved": Permission denied/;
	chmod 0700, $dir or die $!;
	sql($node, 'SELECT working_set_reset()');
	ok(!-e $path, 'and when it is possible again, it is done');
	$node->stop;
}

# a reset needs no space, and leaves nothing that an untracked hour could be counted from
write_raw($path, $content);
$node->append_conf('postgresql.conf', "$no_worker\nworking_set.enabled = off");
$node->start;
mkdir "$path.tmp" or die $!;
is(($node->psql('postgres', 'SELECT working_set_reset()'))[2], '', 'a reset that cannot write a file removes it');
ok(!-e $path, 'so that nothing comes back');
is(sql($node, 'SELECT last_saved FROM working_set_info'), '', 'and nothing is saved');
$node->stop;
clear("$path.tmp");

done_testing();
