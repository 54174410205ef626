# The file that survives a restart: what else can be in its place, numbers that are out of range
# under a checksum that is right, clocks that are wrong, another number of registers, and resets
# where there is no worker.  What is known is kept, and what was forgotten stays forgotten.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX qw(mkfifo);
use Test::More;
use state_file;

my $clock = PostgreSQL::Test::Utils::tempdir() . '/clock';
my $library = PostgreSQL::Test::Utils::tempdir() . '/clock.so';
my $cc = $ENV{CC} || 'gcc';
my $clocked = system("$cc -shared -fPIC -O2 -o $library test/t/clock.c") == 0;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.save = 1
working_set.registers = 1024
working_set.sample_pages = 1024
shared_buffers = 2048
autovacuum = off
fsync = off
timezone = 'UTC'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
wait_for('SELECT worker_pid IS NOT NULL FROM working_set_info', 'no worker');
$node->safe_psql('postgres', q{
	CREATE TABLE pages (id int, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 1500) g;
	CHECKPOINT;
	SELECT count(filler) FROM pages;
});
my $dir = $node->data_dir . '/pg_stat';
my $path = "$dir/working_set.saved";

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub wait_for
{
	my ($query, $what) = @_;
	$node->poll_query_until('postgres', $query) or die $what;
	return;
}

# The worker has read the file, if there is one, before it says who it is.
sub start
{
	$node->start;
	wait_for('SELECT worker_pid IS NOT NULL FROM working_set_info', 'no worker');
	return;
}

sub saved
{
	my $now = sql('SELECT clock_timestamp()');
	wait_for("SELECT last_saved > '$now' FROM working_set_info", 'not saved');
	return;
}

sub size
{
	return sql('SELECT approximate_working_set_size_seconds(NULL)');
}

my $offset = 0;

# what is new in the log
sub log_since
{
	return substr slurp_file($node->logfile), $offset;
}

sub mark_log
{
	$offset = -s $node->logfile;
	return;
}

$node->stop;
my $good = read_state($path);
is($good->{registers}, 1024, 'the file is as it is described');

# five minutes of two hours ago, and four quarters of two days ago; all known for ten minutes
my $now = time;
minute_row($good, $now - 7200 - 60 * $_, 4000, 4321, 4000, 4000, 1000, 900) for 1 .. 5;
quarter_row($good, $now - 2 * 86400 - 900 * $_, 4000, 4321, 4000, 4000, 1000, 900) for 1 .. 4;
$good->{floor} = 6000;
my $block = $good->{block};
my $content = state_of($good);
# rows that the test has put there
my $rows = "SELECT count(*) FROM working_set_history WHERE recommended_cache_bytes = 4321 * $block";

# 5 standard errors of 1.84 % of 1,500 pages are 138; an idle server uses some hundred of catalogs
my $used = 1500 - 138;
my $forgotten = 1000;

write_raw($path, $content);
start();
is(sql($rows), 9, 'what is put into the file is in the history');
cmp_ok(size(), '>', $used, 'and the set is there');
$node->stop;

# ---- a file of the format before
write_raw($path, state_before($good));
mark_log();
start();
is(sql($rows), 9, 'a file of the format before: its history is there');
cmp_ok(size(), '>', $used, 'and the set');
unlike(log_since(), qr/working_set\.saved/, 'and the log does not complain');
saved();
$node->stop;
is(read_state($path)->{format}, 6, 'what is saved has the format of today');
write_raw($path, state_before($good) =~ s/.{8}\z/8 bytes!/sr);
mark_log();
start();
$node->stop;
like(log_since(), qr/is not used: its checksum is wrong/, 'one that is damaged is not used');
unlink "$path.bad";

# ---- days: eight weeks that grow by ten pages a day, and a quiet hour in each of the last three
my $growing = { %$good };
my $today = int($now / 86400);
my $quiet = int($now / 3600 + 12) % 24;
day_row($growing, ($today - $_) * 86400, 4000, 1900 - 10 * $_, 4000, 4000, 1000, 900) for 1 .. 56;
for my $quarter (1 .. 288)
{
	my $time = $now - 900 * $quarter;
	my $pages = int($time / 3600) % 24 == $quiet ? 700 : 1800;
	quarter_row($growing, $time, 4000, $pages, 4000, 4000, 1000, 900);
}
write_raw($path, state_of($growing));
start();
wait_for('SELECT bool_and(bytes > 0) FROM working_set_forecast', 'nothing is foretold');
is(sql(q{SELECT string_agg((extract(epoch FROM x)::bigint / 86400 - } . $today . q{)::text, ' ' ORDER BY n) FROM working_set_forecast,
	LATERAL (VALUES (1, at), (2, earliest), (3, latest)) v (n, x) WHERE forecast = 'shared_buffers outgrown'}),
	'15 15 15', 'growth: the day on which shared_buffers of 2048 pages are outgrown');
is(sql(qq{SELECT f.bytes = r.shared_buffers_bytes AND f.low_bytes = f.bytes AND f.high_bytes = f.bytes
	FROM working_set_forecast f, working_set_recommendation r WHERE forecast = 'shared_buffers outgrown'}), 't', 'which is the size of its row');
is(sql(qq{SELECT string_agg(round((extract(epoch FROM at - current_timestamp) / 86400)::numeric) || ' ' || (bytes > 1900 * $block AND bytes < 3000 * $block), '; ' ORDER BY at)
	FROM working_set_forecast WHERE forecast LIKE 'in %'}) =~ s/\b(6|29|89)\b/$1 + 1/ger, '7 true; 30 true; 90 true', 'sizes in 7, 30 and 90 days');
is(sql("SELECT count(*) BETWEEN 20 AND 22, bool_and(at = date_trunc('day', at) AND mean_cache_bytes IS NULL) FROM working_set_history WHERE minutes = 1440"),
	't|t', 'days are in the history where there are no quarters any more');
is(sql("SELECT idle_cache_bytes = 700 * $block, peak_cache_bytes >= 1890 * $block FROM working_set_recommendation"), 't|t', 'the quietest hour, and the peak');
$node->stop;
write_raw($path, state_of({ %$growing, body => $good->{body} }));
start();
wait_for('SELECT computed_at IS NOT NULL FROM working_set_recommendation', 'nothing is recommended');
is(sql('SELECT count(*), count(bytes) FROM working_set_forecast') . sql('SELECT idle_cache_bytes FROM working_set_recommendation'), '5|2',
	'without days nothing is foretold, and no hour is quiet');
$node->stop;

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

sub clear
{
	for my $name (@_)
	{
		-d $name && !-l $name ? rmdir $name : unlink $name;
	}
	return;
}

for my $case (
	[ 'a FIFO', $make{fifo}, 'it is a FIFO' ],
	[ 'a directory', $make{directory}, 'it is a directory' ],
	[ 'a symbolic link to a good file', $make{symlink}, 'it is a symbolic link' ],
	[ 'a socket', $make{socket}, 'it is a socket' ],
	[ 'a file that may not be read', sub { write_raw($_[0], $content); chmod 0, $_[0] or die $! },
		'it cannot be opened: Permission denied' ])
{
	my ($name, $make, $why) = @$case;
	next if $> == 0 && $why =~ /Permission/;
	clear($path, "$path.bad");
	$make->($path);
	mark_log();
	start();
	is(sql('SELECT tracking FROM working_set_info'), 't', "$name: the server runs, and so does the worker");
	saved();
	$node->stop('fast');
	my $log = log_since();
	like($log, qr/LOG: .*working_set\.saved" is not used: $why\n.*DETAIL:  It is kept as/, "$name: the log says so");
	is(scalar(() = $log =~ /working_set\.saved/g), 2, "$name: and nothing else");
	ok(-f $path && !-l $path && -s $path, "$name: what is saved is a file");
	ok(-e "$path.bad" || -l "$path.bad", "$name: and it is kept");
}
ok(slurp_file($elsewhere) eq $content, 'what a link points to was not written to');
clear("$path.bad");

# ---- and meanwhile; also in the place of the file that is written aside
start();
for my $case ([ 'a FIFO', $make{fifo} ], [ 'a symbolic link', $make{symlink} ],
	[ 'a link to a device', $make{device} ], [ 'a socket', $make{socket} ])
{
	my ($name, $make) = @$case;
	clear("$path.new");
	$make->("$path.new");
	rename "$path.new", "$path.tmp" or die $!;
	saved();
	pass("$name is in the way: it is saved all the same");
}
for my $case ([ 'a FIFO', $make{fifo} ], [ 'a directory', $make{directory} ])
{
	my ($name, $make) = @$case;
	clear("$path.bad", "$path.new");
	$make->("$path.new");
	# the worker may be writing just now
	eventually(sub { unlink $path; return rename "$path.new", $path }) or die "$path: $!";
	saved();
	ok(-f $path, "$name has taken the place of the file: it is saved all the same");
}
clear("$path.bad");
mark_log();
# the worker may be writing just now
eventually(sub { mkdir "$path.tmp" }) or die "$path.tmp: $!";
my $warning = qr/WARNING: .*could not create file "pg_stat\/working_set\.saved\.tmp": (?:Is a directory|File exists)/;
eventually(sub { log_since() =~ $warning }) or die 'no warning';
is(sql('SELECT tracking, worker_pid IS NOT NULL FROM working_set_info'), 't|t', 'a directory is in the way: tracking goes on');
clear("$path.tmp");
saved();
is(scalar(() = log_since() =~ /$warning/g), 1, 'one warning says so, and when it has gone it is saved');
mark_log();
$make{fifo}->("$path.new");
rename "$path.new", "$path.tmp" or die $!;
$node->stop('fast');
ok(!-e "$path.tmp", 'a fast shutdown does not wait for a FIFO');
ok($content eq slurp_file($elsewhere), 'what a link points to was not written to');

# ---- numbers out of range, and numbers at random, under a right checksum

# Everything that reads what was taken over; all sizes are sizes.
my $read_all = q{
	SELECT count(*), coalesce(bool_and(least(pages, bytes, resident_bytes, reused_bytes) >= 0 AND relfilenode <> 0 AND fork IS NOT NULL), true)
	  FROM working_set_relations('1 hour');
	SELECT count(*), coalesce(bool_and(least(pages, bytes, resident_bytes, reused_bytes) >= 0), true) FROM working_set_databases('1 hour');
	SELECT count(*), coalesce(bool_and(coalesce(least(working_set_bytes, recommended_cache_bytes, plateau_end_bytes, live_bytes), 0) >= 0
	                                   AND hits BETWEEN 0 AND lookups), true) FROM working_set_history;
	SELECT status, coalesce(least(working_set_bytes, low_bytes, high_bytes, plateau_end_bytes, live_bytes,
	                              recommended_cache_bytes, peak_cache_bytes, live_low_bytes, live_high_bytes,
	                              recommended_low_bytes, recommended_high_bytes), 0) >= 0 AND reason IS NOT NULL FROM working_set_recommendation;
	SELECT tracking, sampled_pages >= 0 FROM working_set_info;
	SELECT count(*), bool_and(pages >= 0) FROM working_set_curve;
	SELECT count(*), bool_and(predicted_hit_ratio IS NULL OR predicted_hit_ratio BETWEEN 0 AND 1) FROM working_set_cache_advice;
};

sub try_state
{
	my ($name, $state, $why) = @_;
	write_raw($path, state_of($state));
	unlink "$path.bad";
	mark_log();
	start();
	wait_for(q{SELECT computed_at IS NOT NULL OR (pg_stat_file('pg_stat/working_set.saved.bad', true)).size IS NOT NULL
		FROM working_set_recommendation}, 'nothing is recommended');
	my $answer = sql($read_all);
	is(scalar(() = $answer =~ /\|t$/mg), 7, "$name: all functions answer, and sizes are sizes") or diag($answer);
	$node->stop;
	my $log = log_since();
	like($log, qr/is not used: $why$/m, "$name: the log says why") if $why;
	unlike($log, qr/terminated by signal|PANIC|TRAP/, "$name: nothing has crashed");
	return $log !~ /is not used/;
}

sub copy_of
{
	return { %$good };
}

cmp_ok($good->{pages}, '>', 100, 'there are sampled pages');
for my $case (
	[ 'a fork too many', 12, 4, 'a page in it cannot exist' ],
	[ 'relation 0', 8, 0, 'a page in it cannot exist' ],
	[ 'tablespace 0', 0, 0, 'a page in it cannot exist' ],
	[ 'no block', 16, 0xFFFFFFFF, 'a page in it cannot exist' ])
{
	my ($name, $at, $value, $why) = @$case;
	my $state = copy_of();
	set_u32($state, page_at($good, $_) + $at, $value) for 0 .. $good->{pages} - 1;
	ok(!try_state($name, $state, $why), "$name: it is not used");
}
for my $pages (1e300, -1, 9e15)
{
	my $state = copy_of();
	minute_row($state, $now - 60, ($pages) x 4, 10, 5);
	ok(!try_state("$pages pages", $state, 'a size is out of range'), "$pages pages: it is not used");
}

# At random: half of what is changed is in range, so that some of the files are used.
srand(42);
my $used_files = 0;
for my $i (1 .. 5)
{
	my $state = copy_of();
	for (1 .. 1 + rand 4)
	{
		my $kind = int rand 6;
		my $any = page_at($good, int rand $good->{pages});
		set_u32($state, $any + 4 * int(rand 3), int rand 2**32) if $kind == 0;
		set_u32($state, $any + 12, int rand 6) if $kind == 1;
		set_u32($state, $any + 16, int rand 2**32) if $kind == 2;
		minute_row($state, $now - 60 * int(rand 60), (2**rand(50)) x 4, 2**40, 2**39) if $kind == 3;
		quarter_row($state, $now - 900 * int(rand 2000), (2**rand(41)) x 4, 5, int rand 6) if $kind == 4;
		set_u32($state, int(rand(length($state->{body}) / 4)) * 4, int rand 2**32) if $kind == 5;
	}
	$used_files += try_state("random file $i", $state);
}
cmp_ok($used_files, '>', 0, "of 5 random files $used_files were used");

# ---- another number of registers: the history comes along
write_raw($path, $content);
unlink "$path.bad";
mark_log();
$node->append_conf('postgresql.conf', 'working_set.registers = 2048');
start();
is(sql($rows), 9, 'with another number of registers the history is kept');
cmp_ok(size(), '<', $forgotten, 'but not the set');
$node->stop;
is(scalar(() = log_since() =~ /LOG: .*of what was saved in file .* only the history is used: it is of another number of registers$/mg),
	1, 'which one line of the log says');
ok(!-e "$path.bad", 'and nothing is put aside');
start();
is(sql($rows), 9, 'it is still there after the next restart');
$node->stop;
$node->append_conf('postgresql.conf', 'working_set.registers = 1024');

# ---- a clock that is wrong
SKIP:
{
	skip 'no compiler', 11 unless $clocked;
	local $ENV{LD_PRELOAD} = $library;
	local $ENV{WS_TEST_CLOCK} = $clock;
	my $forty_days = 40 * 86400;

	# the same file as if it were from then: to it the clock is behind
	my $later = copy_of();
	$later->{at} += $forty_days * 1000;
	minute_row($later, $now + $forty_days - 60 * $_, 4000, 4321, 4000, 4000, 1000, 900) for 1 .. 3;
	write_raw($path, state_of($later));
	mark_log();
	write_raw($clock, 0);
	start();
	cmp_ok(size(), '<', $forgotten, 'a clock that is 40 days behind: the set is not believed');
	like(log_since(), qr/LOG: .*of what was saved in file .* only the history is used: it is from the future$/m, 'which the log says');
	ok(!-e "$path.bad", 'nothing is put aside');
	is(sql($rows), 9, 'the history is there as far as it is past');
	saved();
	write_raw($clock, $forty_days);
	wait_for("SELECT ($rows) = 3", 'the history does not come back');
	pass('and the rest when the clock is right');
	$node->stop;

	# saved by a clock that is ahead, and read by one that is right
	write_raw($path, $content);
	write_raw($clock, $forty_days);
	start();
	saved();
	is(sql($rows), 0, 'a clock that is 40 days ahead: the history is of long ago');
	$node->stop;
	write_raw($clock, 0);
	mark_log();
	start();
	is(sql($rows), 9, 'after a restart with the right clock it is there');
	like(log_since(), qr/LOG: .*only the history is used: it is from the future$/m, 'and the log says that the set is not');
	ok(!-e "$path.bad", 'nothing is put aside');
	saved();
	$node->stop;
	start();
	is(sql($rows), 9, 'nor is it lost later');
	$node->stop;
}

# ---- what is forgotten where there is no worker stays forgotten
my $no_worker = 'max_worker_processes = 0';
my $worker = 'max_worker_processes = 8';

write_raw($path, $content);
$node->append_conf('postgresql.conf', $no_worker);
$node->start;
is(sql('SELECT worker_pid FROM working_set_info'), '', 'there is no worker');
sql('SELECT approximate_working_set_size(true)');
$node->stop('immediate');
$node->append_conf('postgresql.conf', $worker);
mark_log();
start();
cmp_ok(size(), '<', $forgotten, 'the set stays forgotten');
is(sql($rows), 9, 'the history, which was not to be forgotten, is there');
unlike(log_since(), qr/working_set\.saved/, 'and the log does not complain');
$node->stop;

write_raw($path, $content);
$node->append_conf('postgresql.conf', $no_worker);
$node->start;
sql('SELECT working_set_reset()');
$node->stop('immediate');
$node->append_conf('postgresql.conf', $worker);
start();
cmp_ok(size(), '<', $forgotten, 'after the other reset the set stays forgotten');
is(sql($rows), 0, 'and so does the history');
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
	sql('SELECT working_set_reset()');
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
is(sql('SELECT last_saved FROM working_set_info'), '', 'and nothing is saved');
$node->stop;
clear("$path.tmp");
done_testing();
