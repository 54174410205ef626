# What the tests of follow/working_set_follow share: a server whose recommendation they choose, control
# groups (files in a directory) and followers.
#
#   my $node = pretending_server();
#   recommend(bytes => 300 * $mb, confidence => q{'low'});     from now on
#   my $group = new_group(2, 400 * $mb);                       of version 2, with this limit
#   my $follower = start('--cgroup', $group->{dir});
#   wait_for('it shrinks', sub { limit_of($group) eq 375 * $mb });
#   stop($follower);

package follower;

use strict;
use warnings;
use Cwd qw(abs_path);
use Exporter 'import';
use File::Basename qw(dirname);
use IPC::Run;
use Test::More;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use scrape qw(parse_exposition);

our @EXPORT = qw($mb $own $tmp $top program pretending_server pretend recommend new_group killed_in write_file limit_of
  start stop printed wait_for metric rounds next_round all_whole);

our $mb = 1 << 20;
our $tmp = PostgreSQL::Test::Utils::tempdir();
our $top = abs_path(dirname(__FILE__) . '/../..');

sub program { return "$top/follow/working_set_follow"; }

# ---------------------------------------------------------------- a server

my $node;

sub pretending_server
{
	my $n = PostgreSQL::Test::Cluster->new('main');
	$n->init;
	$n->append_conf('postgresql.conf', 'fsync = off');
	$n->start;
	pretend($n);
	return $n;
}

# What a follower finds first by its search_path: views of one row, whose values the tests choose.
sub pretend
{
	($node) = @_;
	$node->safe_psql('postgres', q{
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
	return;
}

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
our $own = 75;

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
		[ program(), '--dsn', $node->connstr('postgres') . ' user=follower', '--interval', '0.2', '--cooldown', '1',
			'--timeout', patience(), '--metrics', $follower->{metrics}, '--ceiling', '1GB', @options ],
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

sub all_whole { return is($halves, 0, "the file of metrics was whole in $readings readings"); }

1;
