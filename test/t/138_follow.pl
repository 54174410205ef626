# follow/working_set_follow: what it makes of a recommendation, in control groups of both versions
# (files in a directory).

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);
use follower;
use scrape;

find_program('python3') or plan skip_all => 'there is no python3 on PATH';

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'");
$node->safe_psql('postgres', q{
	CREATE TABLE pages AS SELECT g, repeat('x', 1000) AS filler FROM generate_series(1, 7000) g;
});
$clock->let_pass($node, 61);
grant($node);
pretend($node);

# ---- both versions and both files

for my $version (2, 1)
{
	for my $which ('high', 'max')
	{
		my $group = new_group($version, 100 * $mb);
		my $name = $group->{$which};
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
cmp_ok(abs(time - metric($follower, 'round_timestamp_seconds')), '<', patience(), 'and the time');
is(join("\n", lint(slurp_file($follower->{metrics}))), '', 'promtool likes them') if find_program('promtool');
write_file("$tmp/other", 'of somebody');
1 until symlink "$tmp/other", "$follower->{metrics}.new";
for (1, 2)
{
	my $round = metric($follower, 'round_timestamp_seconds');
	wait_for('a round ends', sub { metric($follower, 'round_timestamp_seconds') ne $round });
}
is(slurp_file("$tmp/other"), "of somebody\n", 'a link where they are made is not followed');
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

# ---- the extension itself

$group = new_group(2, 40 * $mb);
$follower = start('--cgroup', $group->{dir}, '--dsn', $node->connstr('postgres') . ' user=working_set_scrape');
my $own_words;
eventually(sub {
	# an idle server needs no cache, and nothing new is recommended while the clock stands still
	$node->safe_psql('postgres', 'SELECT count(*) FROM pg_attribute');
	$clock->let_pass($node, 10);
	printed($follower);
	$own_words = metric($follower, 'recommended_cache_bytes');
	return $own_words ne 'absent' && $own_words > 0;
}) or diag(printed($follower), $node->safe_psql('postgres', 'SELECT * FROM working_set_recommendation'));
cmp_ok($own_words, '>', 0, 'the extension\'s own recommendation is read, as the role of grants.sql');
wait_for('and followed', sub { limit_of($group) ne 40 * $mb });
stop($follower);

all_whole();
$node->stop;
done_testing();
