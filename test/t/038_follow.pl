# follow/working_set_follow: what it makes of a recommendation, in control groups of both versions
# (files in a directory), and of a pod (an API that this file plays), and that it never shrinks while
# something is in doubt.

use strict;
use warnings;
use CPAN::Meta::YAML;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use FindBin;
use IO::Select;
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);
use patience;
use scrape;

find_program('python3') or plan skip_all => 'there is no python3 on PATH';

my $mb = 1 << 20;
my $patience = $PostgreSQL::Test::Utils::timeout_default;
my $tmp = PostgreSQL::Test::Utils::tempdir();
my $top = abs_path(dirname(__FILE__) . '/../..');
my $program = "$top/follow/working_set_follow";
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
shared_buffers = '16MB'
fsync = off
});
$node->start;

# What a follower finds first by its search_path: views of one row, whose values the tests choose.
$node->safe_psql('postgres', q{
	CREATE EXTENSION working_set SCHEMA public;
	CREATE TABLE pages AS SELECT g, repeat('x', 1000) AS filler FROM generate_series(1, 7000) g;
	CREATE SCHEMA pretended;
	CREATE TABLE pretended.row (status text, confidence text, bytes numeric, since timestamptz, reason text, age interval);
	INSERT INTO pretended.row VALUES ('ok', 'high', 0, '2026-01-01', 'a reason', '0');
	CREATE VIEW pretended.working_set_recommendation AS
		SELECT status, confidence, bytes AS recommended_cache_bytes, reason,
		       CASE WHEN age < '0' THEN 'infinity' ELSE clock_timestamp() - age END AS computed_at FROM pretended.row;
	CREATE VIEW pretended.working_set_info AS SELECT since, 'why it does not track'::text AS reason FROM pretended.row;
	CREATE ROLE follower LOGIN;
	GRANT pg_monitor TO follower;
	GRANT USAGE ON SCHEMA pretended TO follower;
	GRANT SELECT ON ALL TABLES IN SCHEMA pretended TO follower;
	ALTER ROLE follower SET search_path = pretended, pg_catalog;
});
$node->command_ok([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-f', monitoring('grants.sql') ], 'grants.sql');

# recommend(COLUMN => SQL...)
sub recommend
{
	my %columns = (status => q{'ok'}, confidence => q{'high'}, since => q{'2026-01-01'}, age => q{'0'}, @_);
	$node->safe_psql('postgres', 'UPDATE pretended.row SET ' . join ', ', map { "$_ = $columns{$_}" } sort keys %columns);
	return;
}

# ---------------------------------------------------------------- a control group

my %files = (
	2 => { high => 'memory.high', max => 'memory.max', used => 'memory.current', events => 'memory.events' },
	1 => { high => 'memory.soft_limit_in_bytes', max => 'memory.limit_in_bytes', used => 'memory.usage_in_bytes', events => 'memory.oom_control' });
my $groups = 0;
# The server takes 50 MB of anonymous memory, 20 MB shared and 5 MB of the kernel's: 75 MB.
my $own = 75;

sub new_group
{
	my ($version, $limit) = @_;
	my $dir = "$tmp/group" . ++$groups;
	mkdir $dir or die $!;
	my %stat = $version == 2
	  ? (anon => 50, file => 60, shmem => 20)
	  : (cache => 1, rss => 1, shmem => 1, total_cache => 60, total_rss => 50, total_shmem => 20);
	my %group = (dir => $dir, %{ $files{$version} });
	write_file("$dir/$group{used}", 115 * $mb);
	write_file("$dir/memory.stat", join "\n", map { "$_ " . $stat{$_} * $mb } sort keys %stat);
	killed_in(\%group, 3);
	# of the file that is not used, whatever it has has to stay
	write_file("$dir/$group{$_}", $limit) for qw(high max);
	return \%group;
}

# so many processes were ended by the kernel
sub killed_in
{
	my ($group, $count) = @_;
	write_file("$group->{dir}/$group->{events}",
		$group->{events} eq 'memory.events' ? "low 0\nhigh 5\nmax 2\noom 7\noom_kill $count" : "oom_kill_disable 0\nunder_oom 0\noom_kill $count");
	return;
}

sub write_file
{
	my ($name, $text) = @_;
	# at once, so that nobody reads half of it
	open my $fh, '>', "$name.new" or die "$name: $!";
	print $fh "$text\n";
	close $fh or die $!;
	rename "$name.new", $name or die $!;
	return;
}

sub limit_of
{
	my ($group, $which) = @_;
	return slurp_file("$group->{dir}/" . $group->{ $which // 'high' }) =~ s/\n//r;
}

# ---------------------------------------------------------------- a follower

my $followers = 0;

# start(OPTION...): a follower that waits for nothing but two tenths of a second; answers may take long on a busy machine
sub start
{
	my @options = @_;
	my $follower = { out => '', metrics => "$tmp/metrics" . ++$followers . '.prom' };
	$follower->{h} = IPC::Run::start(
		[ $program, '--dsn', $node->connstr('postgres') . ' user=follower', '--interval', '0.2', '--cooldown', '1',
			'--timeout', $patience, '--metrics', $follower->{metrics}, '--ceiling', '1GB', @options ],
		'<', '/dev/null', '>', \$follower->{out}, '2>&1');
	return $follower;
}

sub stop
{
	my ($follower) = @_;
	$follower->{h}->signal('TERM');
	$follower->{h}->finish;
	is($follower->{h}->result(0), 0, 'it ends when it is asked to');
	return $follower->{out};
}

# what it has printed until now
sub printed
{
	my ($follower) = @_;
	$follower->{h}->pump_nb;
	return $follower->{out};
}

sub wait_for
{
	my ($name, $is_so) = @_;
	eventually($is_so) or die "waited without result: $name";
	return pass($name);
}

# Every reading is of a whole file.
my ($readings, $halves) = (0, 0);
sub metrics_of
{
	my ($follower) = @_;
	return {} if !-e $follower->{metrics};
	my $text = slurp_file($follower->{metrics});
	$readings++;
	$halves++ if $text !~ /^working_set_follow_round_timestamp_seconds \d+\n\z/m;
	return parse_exposition($text);
}

sub metric { my ($follower, $name) = @_; return metrics_of($follower)->{"working_set_follow_$name"} // 'absent'; }

# Rounds go by; one that was under way does not count.
sub rounds
{
	my ($follower, $state) = @_;
	my $seen = 0;
	my $file = '';
	wait_for("it is in the state $state", sub { printed($follower); metric($follower, qq(state{state="$state"})) == 1 });
	eventually(sub {
		my $now = -e $follower->{metrics} ? (stat _)[1] : '';
		$seen++ if $now ne $file;
		$file = $now;
		return $seen > 10;
	});
	cmp_ok($seen, '>', 10, 'ten rounds go by');
	return;
}

# What it did is printed, and in its metrics, a moment after the limit has changed.
sub next_round
{
	my ($follower) = @_;
	for (1, 2)
	{
		my $was = (stat $follower->{metrics})[1] // '';
		wait_for('a round ends', sub { ((stat $follower->{metrics})[1] // '') ne $was });
	}
	return printed($follower);
}

# ---- both versions and both files

for my $version (2, 1)
{
	for my $which ('high', 'max')
	{
		my $name = $files{$version}{$which};
		my $group = new_group($version, 100 * $mb);
		recommend(bytes => 300 * $mb);
		my $follower = start('--cgroup', $group->{dir}, '--limit', $which, '--max-shrink', '50MB');
		wait_for("$name: it grows to what is recommended and the server takes", sub { limit_of($group, $which) eq (300 + $own) * $mb });
		is(() = next_round($follower) =~ /^control group .*->/mg, 1, 'at once');
		recommend(bytes => 100 * $mb);
		wait_for('it shrinks', sub { limit_of($group, $which) eq (100 + $own) * $mb });
		my @steps = next_round($follower) =~ /limit \d+ MB -> (\d+) MB, cache of 100 MB and 75 MB for the server itself$/mg;
		is("@steps", '325 275 225 175', 'in steps of the size that was asked for');
		is(limit_of($group, $which eq 'max' ? 'high' : 'max'), 100 * $mb, 'the other file is left alone');
		stop($follower);
	}
}

# ---- what is swapped out

for my $version (2, 1)
{
	my $group = new_group($version, 100 * $mb);
	my ($file, $text) = $version == 2 ? ('memory.swap.current', 30 * $mb)
	  : ('memory.stat', slurp_file("$group->{dir}/memory.stat") . 'total_swap ' . 30 * $mb);
	write_file("$group->{dir}/$file", $text);
	recommend(bytes => 300 * $mb);
	my $follower = start('--cgroup', $group->{dir});
	wait_for("version $version: what is swapped out is the server's, too", sub { limit_of($group) eq (300 + $own + 30) * $mb });
	stop($follower);
}

# ---- a limit that is none, floor and ceiling, steps up

my $group = new_group(2, 'max');
recommend(bytes => 2000 * $mb);
my $follower = start('--cgroup', $group->{dir}, '--ceiling', '400MB', '--floor', '200MB', '--max-shrink', '100%', '--max-grow', '10%');
wait_for('from no limit it goes to the ceiling', sub { limit_of($group) eq 400 * $mb });
recommend(bytes => 0);
wait_for('with nothing recommended, to the floor', sub { limit_of($group) eq 200 * $mb });
recommend(bytes => 2000 * $mb);
wait_for('and up again', sub { limit_of($group) eq 400 * $mb });
my @steps = next_round($follower) =~ /limit \d+ MB -> (\d+) MB, cache of 2000/g;
is("@steps[-8 .. -1]", '220 242 267 294 324 357 393 400', 'in steps of a tenth') or diag(printed($follower));
is(metric($follower, $_->[0]), $_->[1], "metric $_->[0]")
  for [ limit_bytes => 400 * $mb ], [ target_bytes => 400 * $mb ], [ recommended_cache_bytes => 2000 * $mb ], [ own_bytes => $own * $mb ],
  [ floor_bytes => 200 * $mb ], [ ceiling_bytes => 400 * $mb ], [ 'changes_total{direction="down"}' => 2 ],
  [ 'changes_total{direction="up"}' => 8 ], [ failures_total => 0 ], [ dry_run => 0 ], [ 'state{state="following"}' => 1 ];
cmp_ok(abs(time - metric($follower, 'round_timestamp_seconds')), '<', $patience, 'and the time');
is(join("\n", lint(slurp_file($follower->{metrics}))), '', 'promtool likes them') if find_program('promtool');
stop($follower);

$group = new_group(2, 400 * $mb);
recommend(bytes => 0);
$follower = start('--cgroup', $group->{dir}, '--max-shrink', '100%');
wait_for('without a floor, what the server takes and 16 MB stay', sub { limit_of($group) eq ($own + 16) * $mb });
stop($follower);

# ---- sizes that are no whole megabytes: the kernel would round them, and so they would seem to be another's

$group = new_group(2, 'max');
recommend(bytes => '1' . '0' x 30);
$follower = start('--cgroup', $group->{dir}, '--ceiling', '409700kB', '--floor', '100001kB', '--max-shrink', '100%');
wait_for('an endless size is recommended: to the ceiling, in whole megabytes', sub { limit_of($group) eq 400 * $mb });
rounds($follower, 'following');
recommend(bytes => 0);
wait_for('to the floor, likewise', sub { limit_of($group) eq 98 * $mb });
next_round($follower);
is(() = stop($follower) =~ /->/g, 2, 'once each');

# ---- two followers of one group, by mistake: one stops, and what the other does is not undone again and again
# Only the second may shrink with so little confidence, so that it changes what the first has set.

$group = new_group(2, 100 * $mb);
recommend(bytes => 300 * $mb, confidence => q{'medium'});
my $first = start('--cgroup', $group->{dir}, '--confidence', 'high', '--max-shrink', '30MB');
wait_for('it grows', sub { limit_of($group) eq (300 + $own) * $mb });
my $second = start('--cgroup', $group->{dir}, '--confidence', 'medium', '--max-shrink', '50MB');
wait_for('a second one', sub { metric($second, 'state{state="following"}') eq 1 });
recommend(bytes => 100 * $mb, confidence => q{'medium'});
wait_for('it shrinks', sub { limit_of($group) eq (100 + $own) * $mb });
wait_for('the first stops', sub { metric($first, 'state{state="changed by others"}') eq 1 });
recommend(bytes => 150 * $mb, confidence => q{'high'});
wait_for('the second goes on', sub { limit_of($group) eq (150 + $own) * $mb });
next_round($_) for $first, $second;
is(metric($_->[0], $_->[1]), $_->[2], "$_->[1]")
  for [ $first, 'state{state="changed by others"}', 1 ], [ $first, 'changes_total{direction="up"}', 1 ], [ $first, 'changes_total{direction="down"}', 0 ],
  [ $second, 'state{state="following"}', 1 ], [ $second, 'changes_total{direction="up"}', 1 ], [ $second, 'changes_total{direction="down"}', 4 ];
stop($_) for $first, $second;

# ---- the cooldown

$group = new_group(2, 400 * $mb);
recommend(bytes => 100 * $mb);
my $began = time;
$follower = start('--cgroup', $group->{dir}, '--max-shrink', '100%', '--cooldown', '3');
wait_for('it shrinks', sub { limit_of($group) eq (100 + $own) * $mb });
cmp_ok(time - $began, '>=', 3, 'not before the cooldown after its start');
recommend(bytes => 300 * $mb);
wait_for('it grows', sub { limit_of($group) eq (300 + $own) * $mb });
$began = time;
next_round($follower);
# one that began after that has seen the high one
recommend(bytes => 100 * $mb);
wait_for('it shrinks', sub { limit_of($group) eq (100 + $own) * $mb });
cmp_ok(time - $began, '>=', 3, 'not before the cooldown after the last time that more was needed');
next_round($follower);
is(stop($follower) =~ tr/\n//, 4, 'a line for each change, and one for its state');

# ---- a small change

$group = new_group(2, 300 * $mb);
recommend(bytes => (303 - $own) * $mb);
$follower = start('--cgroup', $group->{dir}, '--dead-band', '2%');
rounds($follower, 'following');
recommend(bytes => (297 - $own) * $mb);
rounds($follower, 'following');
is(limit_of($group), 300 * $mb, 'a change of a hundredth is left out');
recommend(bytes => (307 - $own) * $mb);
wait_for('one of more than a fiftieth is not', sub { limit_of($group) eq 307 * $mb });
stop($follower);

# ---- a dry run

$group = new_group(2, 300 * $mb);
recommend(bytes => 500 * $mb);
$follower = start('--cgroup', $group->{dir}, '--dry-run');
rounds($follower, 'following');
is(limit_of($group), 300 * $mb, 'a dry run changes nothing');
is(metric($follower, 'dry_run'), 1, 'and its metrics show that');
is(() = stop($follower) =~ /^would set control group \S+: limit 300 MB -> 575 MB, cache of 500 MB and 75 MB/mg, 1, 'it prints once what it would do');

# ---------------------------------------------------------------- in doubt

# doubtful(STATE, REASON, WHAT, SQL or a sub...): the limit of 400 MB stays though 100 MB are
# recommended, and the reason is printed once.
sub doubtful
{
	my ($what, $state, $reason, $doubt, @options) = @_;
	my $group = new_group(2, 400 * $mb);
	recommend(bytes => 325 * $mb);
	my $follower = start('--cgroup', $group->{dir}, '--max-shrink', '100%', @options);
	wait_for("$what: it follows", sub { printed($follower); metric($follower, 'state{state="following"}') == 1 });
	ref $doubt eq 'CODE' ? $doubt->($group) : recommend(bytes => 100 * $mb, @$doubt);
	rounds($follower, $state);
	is(() = printed($follower) =~ /^\Q$state\E: (?:$reason)/mg, 1, 'the reason is printed once') or diag(printed($follower));
	return ($group, $follower);
}

for my $case (
	[ 'no recommendation yet', 'no recommendation', 'the status is collecting: a reason$', [ status => q{'collecting'} ] ],
	[ 'a late worker', 'no recommendation', 'the status is stale: a reason$', [ status => q{'stale'} ] ],
	[ 'tracking off', 'no recommendation', 'the status is not tracking: why it does not track$', [ status => q{'not tracking'} ] ],
	[ 'NULL', 'no recommendation', 'no size is recommended: a reason$', [ bytes => 'NULL' ] ],
	[ 'an unknown confidence', 'no recommendation', 'the server\'s answer has another form', [ confidence => q{'very high'} ] ],
	[ 'an unknown status', 'no recommendation', 'the status is not known: a reason$', [ status => q{NULL} ] ],
	[ 'a negative size', 'no recommendation', 'the server\'s answer has another form', [ bytes => '-1' ] ],
	[ 'no number', 'no recommendation', 'the server\'s answer has another form', [ bytes => q{'NaN'} ] ],
	[ 'an infinite one', 'no recommendation', 'the server\'s answer has another form', [ bytes => q{'Infinity'} ] ],
	[ 'a reason without end', 'no recommendation', 'the server\'s answer has another form', [ reason => q{repeat('x', 1000000)} ] ],
	[ 'low confidence', 'growing only', 'the confidence is low: the limit does not shrink$', [ confidence => q{'low'} ] ],
	[ 'one that was made at no time', 'no recommendation', 'the server(?:\'s answer has another form| does not answer: .* infinite)', [ age => q{'-1 s'} ] ],
	[ 'an old one', 'growing only', 'the recommendation is 1\d\d s old: the limit does not shrink$', [ age => q{'130 s'} ] ],
	[ 'no rows', 'no recommendation', 'the server\'s answer has another form',
		sub { $node->safe_psql('postgres', 'CREATE TABLE pretended.kept AS TABLE pretended.row; DELETE FROM pretended.row') } ])
{
	my ($what, $state, $reason, $doubt) = @$case;
	my ($group, $follower) = doubtful(@$case);
	is(limit_of($group), 400 * $mb, "$what: nothing shrinks");
	$node->safe_psql('postgres', 'INSERT INTO pretended.row TABLE pretended.kept; DROP TABLE pretended.kept') if $what eq 'no rows';
	recommend(bytes => 425 * $mb, reason => q{'a reason'}, $state eq 'growing only' ? @$doubt : ());
	wait_for("$what: it grows as soon as it is clear", sub { limit_of($group) eq (425 + $own) * $mb });
	stop($follower);
}

($group, $follower) = doubtful('medium confidence', 'growing only', 'the confidence is medium', [ confidence => q{'medium'} ], '--confidence', 'high');
is(limit_of($group), 400 * $mb, 'where high is asked for, nothing shrinks');
recommend(bytes => 100 * $mb);
wait_for('with high it does', sub { limit_of($group) eq (100 + $own) * $mb });
stop($follower);

# a reset: what counts from now on has not seen everything yet
$group = new_group(2, 400 * $mb);
recommend(bytes => 325 * $mb);
$follower = start('--cgroup', $group->{dir}, '--max-shrink', '100%', '--cooldown', 10);
rounds($follower, 'following');
recommend(bytes => 100 * $mb);
next_round($follower);
sleep 2;
# the round that sees it begins later than this one
$began = (stat $follower->{metrics})[9];
recommend(bytes => 100 * $mb, since => 'clock_timestamp()');
wait_for('after a reset', sub { limit_of($group) eq (100 + $own) * $mb });
cmp_ok(time - $began, '>=', 10, 'the cooldown begins again');
stop($follower);

# somebody else
($group, $follower) = doubtful('another limit', 'changed by others', 'control group \S+: the limit was set to 600 MB by somebody else. It stays until it is 425 MB again',
	sub {
		my ($group) = @_;
		recommend(bytes => 350 * $mb);
		wait_for('it sets a limit', sub { limit_of($group) eq 425 * $mb });
		write_file("$group->{dir}/memory.high", 600 * $mb);
		recommend(bytes => 900 * $mb);
	});
is(limit_of($group), 600 * $mb, 'what somebody else has set stays, whatever is recommended');
write_file("$group->{dir}/memory.high", 425 * $mb);
wait_for('until it is as before', sub { limit_of($group) eq (900 + $own) * $mb });
# systemd reads its files again, and sets the limit that was there first: that is no decision of anybody's
write_file("$group->{dir}/memory.high", 400 * $mb);
wait_for('what was there first is where it begins again', sub { limit_of($group) eq (900 + $own) * $mb });
next_round($follower);
write_file("$group->{dir}/memory.high", 'max');
wait_for('and none, likewise', sub { limit_of($group) eq (900 + $own) * $mb });
# a new group of the same name, as after a restart of the server
rename $group->{dir}, "$group->{dir}.old" or die $!;
recommend(bytes => 100 * $mb);
rounds($follower, 'target not read');
my $other = new_group(2, 700 * $mb);
rename $other->{dir}, $group->{dir} or die $!;
wait_for('a new group\'s limit is where it begins', sub { limit_of($group) eq (100 + $own) * $mb });
like(next_round($follower), qr/^target not read: .* cannot be read: No such file or directory\n(?:following\n)?control group \S+: limit 700 MB -> /m, 'with a line for each');
stop($follower);

# the kernel ends processes of the server: what it takes was more than was seen
for my $version (2, 1)
{
	$group = new_group($version, 400 * $mb);
	recommend(bytes => 100 * $mb);
	$follower = start('--cgroup', $group->{dir}, '--limit', 'max', '--max-shrink', '100%');
	wait_for('it shrinks, whatever was ended before', sub { limit_of($group, 'max') eq (100 + $own) * $mb });
	recommend(bytes => 100 * $mb, status => q{'collecting'});
	killed_in($group, 4);
	wait_for('after one more all memory is given, without a recommendation', sub { limit_of($group, 'max') eq 1024 * $mb });
	recommend(bytes => 100 * $mb);
	rounds($follower, 'growing only');
	is(limit_of($group, 'max'), 1024 * $mb, 'and with one nothing shrinks');
	is(() = printed($follower) =~ /^growing only: the kernel has ended processes for want of memory: /mg, 1, 'the reason is printed once');
	# the service manager makes a new group, which has counted no kill
	my $again = new_group($version, 400 * $mb);
	killed_in($again, 0);
	rename $group->{dir}, "$group->{dir}.old" or die $!;
	rename $again->{dir}, $group->{dir} or die $!;
	wait_for('a new group gets all memory, too', sub { limit_of($group, 'max') eq 1024 * $mb });
	stop($follower);
}

# files of another kernel, or of a group that is being removed
for my $case (
	[ 'memory.events', '', 'dictionary' ],
	[ 'memory.events', 'oom_kill x', 'invalid literal' ],
	[ 'memory.stat', "anon 1\nfile 2", "'shmem'" ],
	[ 'memory.stat', 'file x', 'invalid literal' ],
	[ 'memory.stat', 'file', 'dictionary' ],
	[ 'memory.current', '', 'invalid literal' ],
	[ 'memory.high', '-', 'invalid literal' ])
{
	my ($file, $text, $pattern) = @$case;
	my $was;
	($group, $follower) = doubtful("$file of another form", 'target not read', "a file of control group \\S+ has another form: .*$pattern",
		sub { my ($group) = @_; $was = slurp_file("$group->{dir}/$file"); write_file("$group->{dir}/$file", $text); recommend(bytes => 100 * $mb) });
	write_file("$group->{dir}/$file", $was =~ s/\n\z//r);
	wait_for('as before, it follows', sub { limit_of($group) eq (100 + $own) * $mb });
	stop($follower);
}

# ten minutes without a target, and then one without an answer of the server: by a clock of its own
{
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'python3', '-', $program ], '<', \<<'PYTHON', '>', \$out, '2>', \$err);
import importlib.machinery, importlib.util, sys
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("follow", sys.argv[1])
follow = importlib.util.module_from_spec(importlib.util.spec_from_loader("follow", loader))
loader.exec_module(follow)

class Group:
    limit, away = 400 << 20, False
    def read(self):
        if self.away:
            raise follow.Doubt("away")
        return follow.Target(self.limit, 0, 1, 0, 0, None, False)
    def write(self, limit, target):
        self.limit = limit
        return limit

def answer(options):
    if missing:
        raise follow.Doubt("missing")
    return follow.Recommendation("ok", "high", 400 << 20, "2026-01-01", 0)

follow.read_recommendation = answer
group = Group()
follower = follow.Follower(follow.parse_options(["--cgroup", "x", "--ceiling", "1GB"]), group, 0)
missing = False
for now in range(0, 710, 10):
    group.away = now > 0
    follower.round(now)
group.away, missing = False, True
follower.round(710)
print("limit", group.limit >> 20)
follower.round(1300)
print("limit", group.limit >> 20)
PYTHON
	is(join(' ', $out =~ /^limit (\d+)$/mg), '400 1024', 'a target that could not be read is not a server that does not answer') or diag("$out$err");
}

# a file that cannot be written (root could)
SKIP:
{
	skip 'root writes to every file', 4 if $> == 0;
	($group, $follower) = doubtful('a file that cannot be written', 'target not written', '\S+/memory\.high cannot be written: Permission denied$',
		sub { my ($group) = @_; chmod 0444, "$group->{dir}/memory.high" or die $!; recommend(bytes => 500 * $mb) });
	cmp_ok(metric($follower, 'failures_total'), '>', 1, 'it tries again');
	chmod 0644, "$group->{dir}/memory.high" or die $!;
	wait_for('until it can', sub { limit_of($group) eq (500 + $own) * $mb });
	stop($follower);
}

# a server that accepts and does not answer, and then one that is not there
my $mute = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 100) or die $!;
$group = new_group(2, 400 * $mb);
$follower = start('--cgroup', $group->{dir}, '--dsn', 'host=127.0.0.1 port=' . $mute->sockport . ' dbname=postgres user=x', '--timeout', '0.5');
rounds($follower, 'no recommendation');
is(() = printed($follower) =~ /^no recommendation: the server does not answer within 0\.5 s$/mg, 1, 'a server that hangs');
close $mute;
wait_for('a server that is gone', sub { printed($follower) =~ /^no recommendation: the server does not answer: .*refused/m });
is(limit_of($group), 400 * $mb, 'nothing changes');
stop($follower);

# for long
($group, $follower) = doubtful('for long', 'no recommendation', 'the status is stale', [ status => q{'stale'} ], '--patience', '2', '--max-grow', '300MB');
wait_for('after a time all memory is given', sub { limit_of($group) eq 1024 * $mb });
like(next_round($follower), qr/limit 400 MB -> 700 MB, no recommendation for 2 s\n(?s:.*)limit 700 MB -> 1000 MB, (?s:.*)-> 1024 MB, /m, 'in the steps that are allowed');
recommend(bytes => 100 * $mb);
wait_for('and taken back when there is one', sub { limit_of($group) eq (100 + $own) * $mb });
stop($follower);

is($halves, 0, "the file of metrics was whole in $readings readings");

# ---------------------------------------------------------------- the extension itself

$group = new_group(2, 40 * $mb);
$node->poll_query_until('postgres', q{SELECT status = 'ok' AND recommended_cache_bytes > 0 FROM working_set_recommendation}) or die 'no recommendation';
$follower = start('--cgroup', $group->{dir}, '--dsn', $node->connstr('postgres') . ' user=working_set_scrape');
my $recommended = $node->safe_psql('postgres', 'SELECT recommended_cache_bytes FROM working_set_recommendation');
my $own_words;
wait_for('the extension\'s own recommendation, as the role of grants.sql', sub {
	printed($follower);
	return ($own_words = metric($follower, 'recommended_cache_bytes')) ne 'absent';
});
cmp_ok($own_words, '>', 0, 'is read') or diag(printed($follower));
wait_for('and followed', sub { limit_of($group) ne 40 * $mb });
stop($follower);

# ---------------------------------------------------------------- a pod

# The API: it answers as the real one does, as far as the program asks.  $api->{METHOD} may be
# instead: [code, reason, message], or a text that is sent with 200.
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 10, ReuseAddr => 1) or die $!;
my $selector = IO::Select->new($listener);
my $api;

sub new_pod
{
	my (%memory) = @_;
	$api = { requests => [], pod => {
		apiVersion => 'v1', kind => 'Pod',
		metadata => { name => 'db-1', namespace => 'prod', uid => 'uid-1', resourceVersion => '100' },
		spec => { containers => [
			{ name => 'exporter', resources => {} },
			{ name => 'postgres', resources => {
				limits => { cpu => '2', memory => $memory{limit} }, requests => { cpu => '2', $memory{request} ? (memory => $memory{request}) : () } } } ] },
		status => { phase => 'Running', conditions => [ { type => 'Ready', status => 'True' } ],
			qosClass => ($memory{limit} // '') eq ($memory{request} // '') ? 'Guaranteed' : 'Burstable',
			containerStatuses => [ { name => 'postgres', restartCount => 2, state => { running => {} },
				lastState => { terminated => { reason => 'OOMKilled', exitCode => 137 } } } ] } } };
	return;
}

sub resources { return $api->{pod}{spec}{containers}[1]{resources}; }

sub failure
{
	my ($code, $reason, $message) = @_;
	return ($code, { kind => 'Status', apiVersion => 'v1', status => 'Failure', message => $message, reason => $reason, code => $code });
}

sub answer
{
	my ($method, $path, $headers, $body) = @_;
	return failure(401, 'Unauthorized', 'Unauthorized') if ($headers->{authorization} // '') ne "Bearer $api->{token}";
	my $instead = $api->{$method};
	return failure(@$instead) if ref $instead eq 'ARRAY';
	return (200, $instead) if defined $instead;
	return failure(404, 'NotFound', 'pods "?" not found') if $path !~ m{^/api/v1/namespaces/prod/pods/db-1(/resize)?$};
	return (200, $api->{pod}) if $method eq 'GET' && !$1;
	return failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource') if $method ne 'PATCH' || !$1;
	return failure(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format')
	  if $headers->{'content-type'} ne 'application/strategic-merge-patch+json';
	my $patch = decode_json($body);
	my $meta = $api->{pod}{metadata};
	return failure(409, 'Conflict', 'the object has been modified; please apply your changes to the latest version and try again')
	  if $patch->{metadata}{resourceVersion} ne $meta->{resourceVersion};
	my ($change) = @{ $patch->{spec}{containers} };
	# containers are merged by their names, resources key by key
	my %class = map { $_ => resources()->{$_}{memory} } qw(limits requests);
	my %next = map { $_ => $change->{resources}{$_}{memory} // $class{$_} } qw(limits requests);
	my $guaranteed = sub { my ($of) = @_; return ($of->{limits} // '') eq ($of->{requests} // '') };
	return failure(422, 'Invalid', 'Pod "db-1" is invalid: spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing')
	  if $guaranteed->(\%class) != $guaranteed->(\%next);
	$next{$_} && (resources()->{$_}{memory} = $next{$_}) for keys %next;
	$meta->{resourceVersion}++;
	return (200, $api->{pod});
}

# Answer what comes until something is so.
sub serve_until
{
	my ($name, $is_so) = @_;
	my $end = time + $patience;
	while (time < $end)
	{
		return pass($name) if $is_so->();
		$selector->can_read(0.1) or next;
		my $client = $listener->accept or next;
		my $text = '';
		1 while $text !~ /\r\n\r\n/ && sysread $client, $text, 65536, length $text;
		my ($head, $body) = split /\r\n\r\n/, $text, 2;
		my ($line, @headers) = split /\r\n/, $head // next;
		my %headers = map { my ($key, $value) = split /: */, $_, 2; (lc $key => $value) } @headers;
		1 while length $body < ($headers{'content-length'} // 0) && sysread $client, $body, 65536, length $body;
		my ($method, $path) = split / /, $line;
		push @{ $api->{requests} }, { method => $method, path => $path, headers => \%headers, body => $body };
		my ($code, $content) = answer($method, $path, \%headers, $body);
		my $json = ref $content ? JSON::PP->new->canonical->encode($content) : $content;
		my $length = length($json) + ($api->{missing} // 0);
		print $client "HTTP/1.1 $code X\r\nContent-Type: application/json\r\nContent-Length: $length\r\nConnection: close\r\n\r\n$json";
		close $client;
	}
	die "waited without result: $name; " . printed($follower);
}

sub patches { return grep { $_->{method} eq 'PATCH' } @{ $api->{requests} }; }
sub requests_of { my ($method) = @_; return scalar grep { $_->{method} eq $method } @{ $api->{requests} }; }
# so many more rounds
sub serve_rounds
{
	my ($name, $count) = @_;
	my $from = requests_of('GET');
	return serve_until($name, sub { requests_of('GET') >= $from + $count });
}

my $token = "$tmp/token";
sub new_token { my ($text) = @_; write_file($token, $text); $api->{token} = $text; return; }
my @pod = ('--pod', 'prod/db-1', '--container', 'postgres', '--own', '75MB', '--api', 'http://127.0.0.1:' . $listener->sockport, '--token', $token);

# ---- of the class Guaranteed: both the request and the limit

new_pod(limit => '256Mi', request => '256Mi');
new_token('first');
recommend(bytes => 300 * $mb);
$follower = start(@pod, '--max-shrink', '100%');
serve_until('a pod grows', sub { resources()->{limits}{memory} eq '375Mi' });
my ($patch) = patches();
is("$patch->{method} $patch->{path}", 'PATCH /api/v1/namespaces/prod/pods/db-1/resize', 'by the subresource for it');
is($patch->{headers}{'content-type'}, 'application/strategic-merge-patch+json', 'as a patch that merges containers');
is_deeply(decode_json($patch->{body}),
	{ metadata => { resourceVersion => '100' },
		spec => { containers => [ { name => 'postgres', resources => { limits => { memory => '375Mi' }, requests => { memory => '375Mi' } } } ] } },
	'of the memory of that container, request and limit, in the version that was read');
is_deeply(resources(), { limits => { cpu => '2', memory => '375Mi' }, requests => { cpu => '2', memory => '375Mi' } }, 'the rest stays');
serve_rounds('and then', 5);
is(requests_of('PATCH'), 1, 'no request without a change');
# the token is renewed
new_token('second');
recommend(bytes => 100 * $mb);
serve_until('it shrinks, with a new token', sub { resources()->{limits}{memory} eq '175Mi' });

# ---- what can be answered

# refused(WHAT, METHOD, ANSWER, STATE, PATTERN)
sub refused
{
	my ($what, $method, $answer, $state, $pattern) = @_;
	my $was = resources()->{limits}{memory};
	my $failures = metric($follower, 'failures_total');
	$api->{$method} = $answer;
	recommend(bytes => 500 * $mb);
	serve_until("$what: reported", sub { printed($follower) =~ /^$state: $pattern$/m });
	serve_rounds("$what: then", 4);
	is(() = printed($follower) =~ /^$state: $pattern$/mg, 1, 'once');
	cmp_ok(metric($follower, 'failures_total'), '>', $failures + 1, 'it tries again');
	is(resources()->{limits}{memory}, $was, 'nothing has changed');
	delete $api->{$method};
	serve_until("$what: it goes on", sub { resources()->{limits}{memory} eq '575Mi' });
	recommend(bytes => 100 * $mb);
	serve_until("$what: and back", sub { resources()->{limits}{memory} eq '175Mi' });
	return;
}

my $forbidden = 'pods "db-1" is forbidden: User "x" cannot patch resource "pods/resize"';
refused('no right', 'PATCH', [ 403, 'Forbidden', $forbidden ], 'target not written', "the Kubernetes API answers 403 to PATCH \\S+/resize: \Q$forbidden\E");
refused('no such subresource', 'PATCH', [ 404, 'NotFound', 'the server could not find the requested resource' ], 'target not written', '.* answers 404 to PATCH .*');
refused('not valid', 'PATCH', [ 422, 'Invalid', 'Pod "db-1" is invalid' ], 'target not written', '.* answers 422 to PATCH \S+: Pod "db-1" is invalid');
refused('no right to read', 'GET', [ 403, 'Forbidden', 'pods "db-1" is forbidden' ], 'target not read', '.* answers 403 to GET .*');
refused('a failure', 'GET', [ 500, 'InternalError', 'etcd' ], 'target not read', '.* answers 500 to GET .*');

# answers that are no pod: neither is anything asked for, nor does the program end
sub another_pod
{
	my ($change) = @_;
	my $pod = decode_json(encode_json($api->{pod}));
	$change->($pod);
	return encode_json($pod);
}

for my $case (
	[ 'no JSON', '<html>log in</html>', 'the Kubernetes API answers 200 to GET \S+: not an object of JSON' ],
	[ 'nothing', '', '.*: not an object of JSON' ],
	[ 'a list', '[1]', '.*: not an object of JSON' ],
	[ 'a deep one', '[' x 100000, '.*: not an object of JSON' ],
	[ 'bytes', "\xff\xfe\0", '.*: not an object of JSON' ],
	[ 'half of it', substr(encode_json($api->{pod}), 0, 100), 'the Kubernetes API does not answer: IncompleteRead.*' ],
	[ 'another object', '{"kind":"Status"}', 'pod prod/db-1 has another form than expected: KeyError.*' ],
	[ 'no containers', another_pod(sub { $_[0]{spec}{containers} = undef }), '.* another form than expected: TypeError.*' ],
	[ 'no version', another_pod(sub { delete $_[0]{metadata}{resourceVersion} }), '.* another form than expected: KeyError.*' ],
	[ 'no status of containers', another_pod(sub { $_[0]{status}{containerStatuses} = undef }), '.* another form than expected: TypeError.*' ],
	[ 'no count of restarts', another_pod(sub { delete $_[0]{status}{containerStatuses}[0]{restartCount} }), '.* another form than expected: KeyError.*' ],
	[ 'no list of conditions', another_pod(sub { $_[0]{status}{conditions} = undef }), '.* another form than expected: TypeError.*' ],
	(map {
		my $size = $_;
		[ 'a limit of ' . ($size || 'no text'), another_pod(sub { $_[0]{spec}{containers}[1]{resources}{limits}{memory} = $size }), '.* another form than expected: \w+Error.*' ]
	} '', 'much', '1.2.3Gi', '1e999', '-1Gi', [1]))
{
	my ($what, $answer, $pattern) = @$case;
	$api->{missing} = 1000 if $what eq 'half of it';
	$api->{GET} = $answer;
	my $patches = requests_of('PATCH');
	my $seen = length printed($follower);
	recommend(bytes => 500 * $mb);
	serve_until("$what: reported", sub { substr(printed($follower), $seen) =~ /^target not read: $pattern$/m });
	serve_rounds("$what: then", 2);
	is(requests_of('PATCH'), $patches, 'nothing is asked for');
	recommend(bytes => 100 * $mb);
	delete $api->{$_} for qw(GET missing);
	# nor has a round that read the one and then the other
	serve_until("$what: it goes on", sub {
		printed($follower);
		metric($follower, 'state{state="following"}') == 1 && resources()->{limits}{memory} eq '175Mi';
	});
}
serve_until('as before', sub { resources()->{limits}{memory} eq '175Mi' });

# changed between reading and writing: the API refuses, and the next round finds a limit of another's
my $changed;
{
	no warnings 'redefine';
	my $real = \&answer;
	local *answer = sub {
		my ($method) = @_;
		if ($method eq 'PATCH' && !$changed++)
		{
			resources()->{$_}{memory} = '900Mi' for qw(limits requests);
			$api->{pod}{metadata}{resourceVersion}++;
		}
		return $real->(@_);
	};
	recommend(bytes => 500 * $mb);
	serve_until('somebody else was faster', sub { printed($follower) =~ /^target not written: .* answers 409 to PATCH/m });
}
serve_until('and the limit stays theirs', sub { printed($follower) =~ /^changed by others: pod prod\/db-1: the limit was set to 900 MB/m });
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '900Mi', 'it does');
# a new pod of that name
$api->{pod}{metadata}{uid} = 'uid-2';
serve_until('of a new pod it is where it begins', sub { resources()->{limits}{memory} eq '575Mi' });

# it is done, but the answer does not come
{
	no warnings 'redefine';
	my ($real, $lost) = \&answer;
	local *answer = sub {
		my @answer = $real->(@_);
		return $_[0] eq 'PATCH' && !$lost++ ? (200, '') : @answer;
	};
	recommend(bytes => 300 * $mb);
	serve_until('the answer is lost', sub { printed($follower) =~ /^target not written: .* answers 200 to PATCH/m });
}
is(resources()->{limits}{memory}, '375Mi', 'and the limit is another');
recommend(bytes => 500 * $mb);
serve_until('it knows its own limit', sub { resources()->{limits}{memory} eq '575Mi' });

# a container that would be restarted
my $policy = $api->{pod}{spec}{containers}[1]{resizePolicy} =
  [ { resourceName => 'cpu', restartPolicy => 'RestartContainer' }, { resourceName => 'memory', restartPolicy => 'RestartContainer' } ];
recommend(bytes => 600 * $mb);
serve_until('it would be restarted', sub { printed($follower) =~ /^target not read: the container postgres of pod prod\/db-1 is restarted when its memory changes/m });
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '575Mi', 'nothing changes');
$policy->[1]{restartPolicy} = 'NotRequired';
serve_until('if it is not, it is followed', sub { resources()->{limits}{memory} eq '675Mi' });

# ---- resizing that the node cannot do, or not yet

for my $condition (
	[ 'PodResizePending', 'Infeasible', 'Node didn\'t have enough capacity: memory, requested: 900, capacity: 800' ],
	[ 'PodResizePending', 'Deferred', 'Node didn\'t have enough resource: memory' ],
	[ 'PodResizeInProgress', 'Error', 'a failure of the runtime' ])
{
	my ($type, $reason, $message) = @$condition;
	my $conditions = $api->{pod}{status}{conditions};
	push @$conditions, { type => $type, status => 'True', reason => $reason, message => $message };
	my $patches = requests_of('PATCH');
	recommend(bytes => 700 * $mb);
	serve_until("$reason: reported", sub { printed($follower) =~ /^resize pending: the last change is not done, $reason: \Q$message\E$/m });
	serve_rounds("$reason: then", 4);
	is(() = printed($follower) =~ /^resize pending: .*, $reason: /mg, 1, 'once');
	is(requests_of('PATCH'), $patches, 'it does not ask for more');
	recommend(bytes => 100 * $mb);
	serve_until("$reason: less can be asked for", sub { resources()->{limits}{memory} eq '175Mi' });
	pop @$conditions;
	recommend(bytes => 500 * $mb);
	serve_until("$reason: and more when that is over", sub { resources()->{limits}{memory} eq '575Mi' });
}

# A lower limit that Kubernetes does not set while the container uses more, page cache included: it must
# not become many steps, and growth must not wait for it.
my ($running) = @{ $api->{pod}{status}{containerStatuses} };
$running->{resources}{limits}{memory} = '575Mi';
recommend(bytes => 400 * $mb);
serve_until('a lower limit is asked for', sub { resources()->{limits}{memory} eq '475Mi' });
my @conditions = @{ $api->{pod}{status}{conditions} };
recommend(bytes => 100 * $mb);
serve_until('while it is not there, that is said', sub { printed($follower) =~ /^resize pending: the limit is still 575 MB$/m });
push @{ $api->{pod}{status}{conditions} },
  { type => 'PodResizeInProgress', status => 'True', reason => 'Error', message => 'memory limit cannot be decreased below usage' };
serve_until('with the reason', sub { printed($follower) =~ /^resize pending: .* cannot be decreased below usage$/m });
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '475Mi', 'and no lower one');
recommend(bytes => 450 * $mb);
serve_until('but more can be asked for', sub { resources()->{limits}{memory} eq '525Mi' });
$api->{pod}{status}{conditions} = \@conditions;
$running->{resources}{limits}{memory} = '525Mi';
recommend(bytes => 100 * $mb);
serve_until('when it is there, it goes on', sub { resources()->{limits}{memory} eq '175Mi' });
$running->{resources}{limits}{memory} = '175Mi';

# the container is ended for want of memory, and starts again with the same limit
$running->{restartCount} = 3;
serve_until('after that all memory is given', sub { resources()->{limits}{memory} eq '1024Mi' });
$running->{resources}{limits}{memory} = '1024Mi';
serve_rounds('for some rounds', 4);
is(resources()->{limits}{memory}, '1024Mi', 'and it stays');
is(metric($follower, 'state{state="growing only"}'), 1, 'the state says so');
stop($follower);

# ---- a ceiling that is no whole number of megabytes

new_pod(limit => '256Mi', request => '256Mi');
new_token('whole');
recommend(bytes => 2000 * $mb);
$follower = start(@pod, '--ceiling', '409700kB');
serve_until('whole megabytes', sub { resources()->{limits}{memory} eq '400Mi' });
serve_rounds('for some rounds', 4);
is(requests_of('PATCH'), 1, 'asked for once');
is(metric($follower, 'state{state="following"}'), 1, 'it is its own limit');
stop($follower);

# ---- of the class Burstable: the request is not ours

new_pod(limit => '1G', request => '200Mi');
new_token('third');
recommend(bytes => 200 * $mb);
$follower = start(@pod, '--max-shrink', '100%');
serve_until('with a request below the limit', sub { resources()->{limits}{memory} eq '275Mi' });
is(resources()->{requests}{memory}, '200Mi', 'only the limit changes');
recommend(bytes => 100 * $mb);
serve_until('not to the request, which could change the class', sub { resources()->{limits}{memory} eq '201Mi' });
serve_rounds('for some rounds', 4);
is(requests_of('PATCH'), 2, 'which is asked for once');
recommend(bytes => 200 * $mb);
serve_until('and up again', sub { resources()->{limits}{memory} eq '275Mi' });
is(resources()->{requests}{memory}, '200Mi', 'without the request');
stop($follower);

# ---- pods that cannot be followed

new_pod();
new_token('fourth');
delete resources()->{limits}{memory};
$follower = start(@pod);
serve_until('no limit', sub { printed($follower) =~ /^target not read: the container postgres of pod prod\/db-1 has no memory limit/m });
stop($follower);
new_pod(limit => '1Gi');
new_token('fifth');
$follower = start(@pod, '--container', 'pg');
serve_until('no such container', sub { printed($follower) =~ /^target not read: pod prod\/db-1 has no container pg$/m });
write_file($token, 'another');
serve_until('a wrong token', sub { printed($follower) =~ /^target not read: the Kubernetes API answers 401 to GET/m });
for my $case ([ 'two words', 'is empty, or not one word' ], [ "\xff", 'is not text' ], [ '', 'is empty, or not one word' ])
{
	my ($text, $what) = @$case;
	my $seen = length printed($follower);
	write_file($token, $text);
	serve_until("a token that $what", sub { substr(printed($follower), $seen) =~ /^target not read: the token \S+ \Q$what\E$/m });
}
unlink $token;
serve_until('no token', sub { printed($follower) =~ /^target not read: the token \S+ cannot be read: No such file/m });
write_file($token, 'fifth');
close $listener;
wait_for('no API', sub { printed($follower) =~ /^target not read: the Kubernetes API does not answer: .*refused/m });
is(requests_of('PATCH'), 0, 'nothing was asked for');
stop($follower);

# ---------------------------------------------------------------- options

my @group = ('--cgroup', $tmp, '--ceiling', '1GB');
my @remote = ('--pod', 'a/b', '--container', 'c', '--own', '1MB', '--ceiling', '1GB');
for my $case (
	[ 'no target', qr/one of --cgroup and --pod is needed/, '--ceiling', '1GB' ],
	[ 'two targets', qr/one of --cgroup and --pod is needed/, @group, @remote ],
	[ 'no ceiling', qr/required: --ceiling/, '--cgroup', $tmp ],
	[ 'a size without a unit', qr/argument --ceiling: '100' is not a size like 512MB or 2GB/, @group, '--ceiling', '100' ],
	[ 'a floor above the ceiling', qr/the floor is above the ceiling/, @group, '--floor', '2GB' ],
	[ 'a file of a group for a pod', qr/--limit is for --cgroup/, @remote, '--limit', 'max' ],
	[ 'no step', qr/argument --max-shrink: a step of 0% changes nothing/, @group, '--max-shrink', '0%' ],
	[ 'a ceiling of nothing', qr/the ceiling is below 1MB/, '--cgroup', $tmp, '--ceiling', '1000kB' ],
	[ 'a share above all', qr/argument --dead-band: '101%' is not a share from 0% to 100%/, @group, '--dead-band', '101%' ],
	[ 'no time', qr/--interval and --timeout cannot be 0/, @group, '--interval', '0' ],
	[ 'negative time', qr/argument --cooldown: '-1' is not a number of seconds/, @group, '--cooldown=-1' ],
	[ 'endless time', qr/argument --interval: 'inf' is not a number of seconds/, @group, '--interval', 'inf' ],
	[ 'an unknown confidence', qr/argument --confidence: invalid choice/, @group, '--confidence', 'some' ],
	[ 'a pod without a container', qr/--pod needs --container and --own/, '--pod', 'a/b', '--ceiling', '1GB' ],
	[ 'a pod without a namespace', qr/argument --pod: 'b' is not NAMESPACE\/NAME/, @remote, '--pod', 'b' ],
	[ 'a pod with a path', qr/argument --pod: 'a\/\.\.' is not NAMESPACE\/NAME/, @remote, '--pod', 'a/..' ],
	[ 'a pod, outside of one', qr/outside of a pod, --api is needed/, @remote ],
	[ 'a group with a token', qr/are for --pod/, @group, '--token', 'x' ],
	[ 'no URL', qr/'ftp:\/\/x' is not the URL of an API/, @remote, '--api', 'ftp://x' ],
	[ 'a token without TLS', qr/a token is not sent to example\.org without TLS/, @remote, '--api', 'http://example.org' ],
	[ 'no directory for metrics', qr/there is no directory for \S+\/none\/x/, @group, '--metrics', "$tmp/none/x" ],
	[ 'another option', qr/unrecognized arguments: --shrink/, @group, '--shrink' ])
{
	my ($what, $pattern, @options) = @$case;
	delete local $ENV{KUBERNETES_SERVICE_HOST};
	my $err = '';
	IPC::Run::run([ $program, @options ], '<', '/dev/null', '>', '/dev/null', '2>', \$err);
	is($? >> 8, 2, "$what: status 2");
	like($err, qr/^working_set_follow: error: .*$pattern/m, 'and a clear message');
}

# ---------------------------------------------------------------- documents

my $help = `'$program' --help`;
is($?, 0, '--help');
my %known = map { $_ => 1 } $help =~ /(--[a-z-]+)/g;
my $page = slurp_file("$top/doc/follow.md");
for my $file ('doc/follow.md', 'follow/working_set_follow.1', glob("$top/follow/*.{yaml,service}"))
{
	my $text = slurp_file($file =~ m{^/} ? $file : "$top/$file") =~ s/\\-/-/gr;
	# those of other programs
	my @options = grep { !/^--(?:from-literal|no-install-recommends|now|port|selector)$/ } $text =~ /(?<![\w-])(--[a-z][a-z-]*)/g;
	cmp_ok(scalar @options, '>', 0, "$file has options");
	is(join(' ', grep { !$known{$_} } @options), '', 'and the program has them');
}
my %default;
for ($help =~ s/\s+/ /gr =~ /(--[a-z-]+ [A-Z{][^-]*?\(default: [^)]*\))/g)
{
	my ($option, $value) = /^(--[a-z-]+) .*\(default: ([^ )]+)/;
	$default{$option} = $value;
}
my %documented = $page =~ /^\| `(--[a-z-]+)` \| `?(\w+%?)`?(?: s)? \|/mg;
is($documented{$_}, $default{$_}, "the default of $_")
  for grep { $documented{$_} } sort keys %default;
cmp_ok(scalar(grep { $documented{$_} } keys %default), '>=', 6, 'defaults are documented');
my %states = map { $_ => 1 } slurp_file($program) =~ /^STATES = \[(.*?)\]/ms ? $1 =~ /"([^"]+)"/g : ();
is(join(', ', sort keys %{ { map { $_ => 1 } ($page =~ /^## When something is in doubt$(.*?)^## /ms)[0] =~ /^\| [^|]+ \| `([a-z ]+)` \| [^|]+\|$/mg } }), join(', ', sort keys %states), 'every state is documented');

# The rights in kubernetes.yaml are those for the requests above.
my ($rules) = grep { $_->{kind} eq 'Role' } @{ CPAN::Meta::YAML->read_string(slurp_file("$top/follow/kubernetes.yaml")) };
is(join(' ', map { "$_->{resources} $_->{resourceNames} $_->{verbs}" } @{ $rules->{rules} }), '[pods] [db-1] [get] [pods/resize] [db-1] [patch]', 'no right but those that it needs');

$node->stop;
done_testing();
