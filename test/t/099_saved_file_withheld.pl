# A state file that cannot be used now and may be later: one that cannot be read, one of a later
# version.  It stays as it is, the log and the views say so, what is saved meanwhile goes into a file
# beside it, and both are merged.  If that one cannot be read either, it stays, too, and nothing is
# saved.  What is put aside replaces nothing that was put aside before.

use File::Basename;
use lib 'test/t';
use server;
use state_file;

plan skip_all => 'root reads every file' if $> == 0;

my $node = new_server('main', q{
working_set.registers = 1024
working_set.sample_pages = 1024
working_set.save = 0
});
my $path = $node->data_dir . '/pg_stat/working_set.saved';

sub rows { return $node->safe_psql('postgres', 'SELECT count(*) FROM working_set_history') }
sub reason { return recommendation($node, 'reason') }

# an hour, three hours ago
$node->stop;
my $good = read_state($path);
minute_row($good, time - 10800 + 60 * $_, 4000, 4321, 1000, 900) for 1 .. 60;
my $content = state_of($good);
my $minutes = 60;

sub begin_with
{
	my ($bytes, $mode) = @_;
	unlink glob "$path*";
	write_raw($path, $bytes);
	chmod $mode, $path or die $!;
	my $offset = log_size($node);
	$node->start;
	wait_for_worker($node);
	return $offset;
}

# ---------------------------------------------------------------- for a while

my $offset = begin_with($content, 0);
like(log_from($node, $offset), qr/LOG: .*file "pg_stat\/working_set\.saved" is not used yet: it cannot be opened: Permission denied\n.*DETAIL:  It is kept as it is/,
	'a file that cannot be read: the log says so');
like(reason(), qr/^file "pg_stat\/working_set\.saved" is not used yet: it cannot be opened: Permission denied; /,
	'and so does the recommendation');
like($node->safe_psql('postgres', 'SELECT working_set()'), qr/^History: file [^\n]*\n?[^\n]* Permission denied$/m, 'and working_set()');
is(rows(), 0, 'there is no history');
ok(!-e "$path.bad" && !-e "$path.new", 'nothing is put aside, nothing saved beside');
chmod 0600, $path or die $!;
ok(eventually(sub { rows() >= $minutes }), 'once it can be read, its history is there');
unlike(reason(), qr/working_set\.saved/, 'and nothing is said of it');
is(scalar(() = log_from($node, $offset) =~ /working_set\.saved/g), 3, 'the log has two messages of it');
$node->stop;
ok(!-e "$path.new", 'there is one file');
$node->start;
wait_for_worker($node);
cmp_ok(rows(), '>=', $minutes, 'which has the history, over a restart');
$node->stop;

# ---------------------------------------------------------------- for as long as the server runs

begin_with($content, 0);
$node->stop;
chmod 0600, $path or die $!;
ok(slurp_file($path) eq $content, 'a shutdown leaves it as it was');
ok(-s "$path.new", 'and saves beside it');
chmod 0, $path or die $!;
$offset = log_size($node);
$node->start;
wait_for_worker($node);
unlike(log_from($node, $offset), qr/cannot be read either|\.bad/, 'the file beside is read');
$node->stop('immediate');
my $beside = read_state("$path.new");
minute_row($beside, time - 3600 + 60 * $_, 4000, 4321, 1000, 900) for 1 .. 5;
write_raw("$path.new", state_of($beside));
chmod 0600, $path or die $!;
$node->start;
wait_for_worker($node);
cmp_ok(rows(), '>=', $minutes + 5, 'both are merged');
ok(eventually(sub { !-e "$path.new" }), 'into one file');
$node->stop('immediate');
$node->start;
wait_for_worker($node);
cmp_ok(rows(), '>=', $minutes + 5, 'which has all, also after a crash');
$node->stop;

# ---------------------------------------------------------------- the file beside it

$beside = read_state("$path");
minute_row($beside, time - 3600 + 60 * $_, 4000, 4321, 1000, 900) for 1 .. 20;
my $younger = state_of($beside);
my $directory = dirname($path);
for my $case (
	[ 'the file beside', sub { chmod 0, "$path.new" or die $! }, "$path.new" ],
	[ 'both', sub { chmod(0, $path, "$path.new") == 2 or die $! }, $path ],
	[ 'the directory', sub { chmod 0, $directory or die $! }, $path ])
{
	my ($name, $take, $named) = @$case;
	unlink glob "$path*";
	write_raw($path, $content);
	write_raw("$path.new", $younger);
	$take->();
	$offset = log_size($node);
	$node->start;
	wait_for_worker($node);
	$named =~ s/.*(?=pg_stat)//;
	like(log_from($node, $offset), qr/file "\Q$named\E" is not used yet: .*\n.*Nothing is saved until then/, "$name cannot be read: the log says so");
	my ($status, $out, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size(true)');
	like($err, qr/could not correct/, "$name: a reset that cannot be saved warns");
	chmod 0700, $directory or die $!;
	chmod(0600, $path, "$path.new") == 2 or die $!;
	ok(slurp_file($path) eq $content && slurp_file("$path.new") eq $younger, "$name: both are as they were");
	ok(eventually(sub { rows() >= $minutes + 20 }), "$name: once they can be read, both are there");
	ok(eventually(sub { !-e "$path.new" }), "$name: in one file");
	$node->stop('immediate');
	$node->start;
	wait_for_worker($node);
	cmp_ok(rows(), '>=', $minutes + 20, "$name: over a crash, too");
	ok(!glob("$path.bad*"), "$name: nothing is put aside");
	$node->stop;
}

# ---------------------------------------------------------------- a reset

begin_with($content, 0);
$node->restart;
wait_for_worker($node);
ok(-e $path && -e "$path.new", 'before a reset there are both');
$node->safe_psql('postgres', 'SELECT working_set_reset()');
ok(!-e $path || slurp_file($path) ne $content, 'a reset discards the file that cannot be read');
ok(!-e "$path.new", 'and the one beside');
$node->restart;
wait_for_worker($node);
cmp_ok(rows(), '<', $minutes, 'nothing of them comes back');
$node->stop;

# of the set only: the history is not forgotten, nor is the set remembered
begin_with($content, 0);
$node->safe_psql('postgres', 'SELECT approximate_working_set_size(true)');
ok(-e "$path.new", 'a reset of the set saves beside');
chmod 0600, $path or die $!;
ok(slurp_file($path) eq $content, 'and leaves the file');
$node->restart;
wait_for_worker($node);
cmp_ok(rows(), '>=', $minutes, 'the history comes back');
$node->stop;

# ---------------------------------------------------------------- of a later version

my $later = state_of({ %$good, format => $good->{format} + 1 });
$offset = begin_with($later, 0600);
like(log_from($node, $offset), qr/is not used yet: a later version of working_set wrote it/, 'of a later version: the log says so');
$node->stop;
ok(slurp_file($path) eq $later, 'a shutdown leaves it');
ok(-s "$path.new" && !-e "$path.bad", 'and saves beside it');

# ---------------------------------------------------------------- put aside

my @damaged = map { substr($content, 0, -$_) } 8, 16, 24;
unlink glob "$path*";
for my $bytes (@damaged)
{
	write_raw($path, $bytes);
	$node->start;
	wait_for_worker($node);
	$node->stop;
}
ok(slurp_file("$path.bad") eq $damaged[0] && slurp_file("$path.bad.1") eq $damaged[1] && slurp_file("$path.bad.2") eq $damaged[2],
	'three damaged files are kept, each');

# ---------------------------------------------------------------- a save that failed is owed

unlink glob "$path*";
$node->start;
wait_for_worker($node);
eventually(sub { mkdir "$path.tmp" }) or die $!;
my ($status, $out, $err) = $node->psql('postgres', 'SELECT approximate_working_set_size(true)');
like($err, qr/WARNING:  working_set: could not correct file/, 'a reset that cannot be saved warns');
ok(!-e $path, 'nothing is saved');
rmdir "$path.tmp" or die $!;
ok(eventually(sub { -s $path }), 'it is saved once that is possible, with working_set.save = 0');
finish($node);
