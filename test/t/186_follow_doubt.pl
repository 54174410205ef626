# follow/working_set_follow never shrinks while something is in doubt: the recommendation, the limit,
# the files, the server.

use strict;
use warnings;
use FindBin;
use IO::Socket::INET;
use IPC::Run;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils;
use Test::More;
use follower;
use scrape;

find_program('python3') or plan skip_all => 'there is no python3 on PATH';

my $node = pretending_server();

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

my ($group, $follower) = doubtful('medium confidence', 'growing only', 'the confidence is medium', [ confidence => q{'medium'} ], '--confidence', 'high');
is(limit_of($group), 400 * $mb, 'where high is asked for, nothing shrinks');
recommend(bytes => 100 * $mb);
wait_for('with high it does', sub { limit_of($group) eq (100 + $own) * $mb });
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

# ten minutes without a target, and then one without an answer of the server; and a reset: by a clock of its own
{
	my ($out, $err) = ('', '');
	IPC::Run::run([ 'python3', '-', program() ], '<', \<<'PYTHON', '>', \$out, '2>', \$err);
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
    return follow.Recommendation("ok", "high", size << 20, since, 0)

follow.read_recommendation = answer
group = Group()
follower = follow.Follower(follow.parse_options(["--cgroup", "x", "--ceiling", "1GB"]), group, 0)
missing, size, since = False, 400, "2026-01-01"
for now in range(0, 710, 10):
    group.away = now > 0
    follower.round(now)
group.away, missing = False, True
follower.round(710)
print("limit", group.limit >> 20)
follower.round(1300)
print("limit", group.limit >> 20)

# less is recommended all the time, and counting starts over at 8
group = Group()
follower = follow.Follower(follow.parse_options(["--cgroup", "x", "--ceiling", "1GB", "--max-shrink", "100%", "--cooldown", "10"]), group, 0)
missing, size = False, 100
for now in range(0, 30):
    since = "2026-01-01" if now < 8 else "2026-02-01"
    follower.round(now)
    if group.limit < 400 << 20:
        print("shrinks at", now)
        break
PYTHON
	is(join(' ', $out =~ /^limit (\d+)$/mg), '400 1024', 'a target that could not be read is not a server that does not answer') or diag("$out$err");
	is(join(' ', $out =~ /^shrinks at (\d+)$/mg), 18, 'after a reset the cooldown begins again') or diag("$out$err");
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

all_whole();
$node->stop;
done_testing();
