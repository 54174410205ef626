# What a real Prometheus has scraped through Debian's exporter: every default metric of
# monitoring/README.md and no other, with the values that SQL gives at the same moment.  And a
# quarter of a minute of monitoring/demo, which leaves nothing behind.

use strict;
use warnings;
use File::Temp qw(tempdir);
use HTTP::Tiny;
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

for my $program (qw(prometheus promtool prometheus-sql-exporter))
{
	plan skip_all => "$program is missing" unless grep { -x "$_/$program" } split /:/, $ENV{PATH};
}
plan skip_all => 'monitoring/demo runs in the sandbox only' unless $ENV{WS_SANDBOX};

# ---- the server gets its minute of work, while the demo runs

my $node = PostgreSQL::Test::Cluster->new('scraped');
$node->init;
$node->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.hold = 5
working_set.save = 5
shared_buffers = '16MB'
autovacuum = off
listen_addresses = '127.0.0.1'
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION working_set');
$node->command_ok([ 'psql', '-X', '-d', $node->connstr('postgres'), '-f', 'monitoring/grants.sql' ], 'the role that scrapes');
# five seconds are not much on a busy machine
$node->safe_psql('postgres', q{ALTER ROLE working_set_scrape SET statement_timeout = '10min'});
my @server = ('-h', $node->host, '-p', $node->port, 'postgres');
$node->command_ok([ 'pgbench', '-q', '-i', '-s', '3', @server ], 'tables of 45 MB');
my ($pgbench_out, $pgbench_err) = ('', '');
my $pgbench = IPC::Run::start([ 'pgbench', '-n', '-S', '-c', '2', '-T', '75', '-R', '500', @server ],
	'<', \'', '>', \$pgbench_out, '2>', \$pgbench_err);

sub free
{
	my ($port) = @_;
	return !IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => 5);
}

# 1 while the process is there
sub alive
{
	my ($pattern) = @_;
	for my $dir (glob('/proc/[0-9]*'))
	{
		open my $fh, '<', "$dir/cmdline" or next;
		local $/;
		my $line = <$fh> // '';
		return 1 if index($line, $pattern) >= 0;
	}
	return 0;
}

my ($out, $err) = ('', '');
my $ok = IPC::Run::run([ 'monitoring/demo', '--short' ], '<', \'', '>', \$out, '2>', \$err, IPC::Run::timeout(1800));
ok($ok, 'monitoring/demo --short') or diag("$out\n$err");
like($out, qr/^  $_ /m, "it shows $_") for qw(working_set_tracking working_set_shared_buffers_bytes
  instance:working_set_lookups:rate5m cluster:working_set_instances:count WorkingSetExceedsMemory SharedBuffersOversized);
like($out, qr/metrics of monitoring\/README.md looked for, all there/, 'and says that all is there');
my @ports = $out =~ m{http://127\.0\.0\.1:(\d+)}g;
is(scalar(@ports), 2, 'it has an exporter and Prometheus');
ok(free($_), 'whose port is free again') for @ports;
ok(!alive("$ENV{WS_SANDBOX}/data") && !-e "$ENV{WS_SANDBOX}/data/postmaster.pid", 'its server is stopped');
ok(!alive("$ENV{WS_SANDBOX}/tmp/monitoring"), 'no process of it is left');

# ---- SQL's word

# All that there is to know, at one moment.
sub known
{
	return decode_json($node->safe_psql('postgres', q{
		SELECT json_build_object(
			'recommendation', (SELECT row_to_json(r) FROM working_set_recommendation r),
			'computed_at', (SELECT extract(epoch FROM computed_at) FROM working_set_recommendation),
			'info', (SELECT row_to_json(i) FROM working_set_info i),
			'since', (SELECT extract(epoch FROM since) FROM working_set_info),
			'last_saved', (SELECT extract(epoch FROM last_saved) FROM working_set_info),
			'curve', (SELECT json_agg(c) FROM working_set_curve('{60,300,900,3600}') c),
			'advice', (SELECT json_agg(a) FROM working_set_cache_advice a))}));
}

my %unit = (kB => 1024, MB => 1024**2, GB => 1024**3, TB => 1024**4);

# As the series of README.md: a hash of values.
sub series_of
{
	my ($known) = @_;
	my ($r, $i) = @$known{qw(recommendation info)};
	my %is = (
		tracking => $i->{tracking} ? 1 : 0,
		worker_running => defined $i->{worker_pid} ? 1 : 0,
		info => undef,
		shared_buffers_bytes => $r->{shared_buffers_bytes},
		memory_limit_bytes => $r->{memory_limit_bytes},
		recommendation_timestamp_seconds => $known->{computed_at},
		last_saved_timestamp_seconds => $known->{last_saved},
		shared_memory_bytes => $i->{shared_memory_bytes},
		size_relative_error_ratio => 0.589 / sqrt($i->{registers}),
		lookups_total => $i->{lookups},
		hits_total => $i->{hits},
		evictions_total => $i->{evictions},
		dropped_samples_total => $i->{dropped_samples},
		counters_start_timestamp_seconds => $known->{since},
		sample_ratio => $i->{sample_rate},
		sampled_pages => $i->{sampled_pages},
		recommended_cache_size_bytes => $r->{recommended_cache_bytes},
		peak_cache_size_bytes => $r->{peak_cache_bytes},
		live_bytes => $r->{live_bytes},
		plateau_end_bytes => $r->{plateau_end_bytes},
		current_hit_ratio => $r->{current_hit_ratio},
		expected_hit_ratio => $r->{expected_hit_ratio},
	);
	my ($number, $unit) = $r->{suggested_shared_buffers} =~ /^(\d+)(\w+)$/;
	$is{suggested_shared_buffers_bytes} = $number * $unit{$unit};
	delete $is{info};
	$is{qq(info{method="$r->{method}",reason="$i->{reason}",registers="$i->{registers}",version="$i->{version}"})} = 1;
	$is{qq(status{status="$_"})} = $_ eq $r->{status} ? 1 : 0 for 'ok', 'collecting', 'stale', 'not tracking';
	$is{qq(verdict{verdict="$_"})} = $_ eq $r->{verdict} ? 1 : 0 for 'grow', 'shrink', 'keep', 'exceeds memory';
	for (@{ $known->{curve} })
	{
		my $window = qq({window_seconds="$_->{seconds}"});
		$is{"size_bytes$window"} = $_->{bytes};
		$is{"size_lower_bound_bytes$window"} = $_->{pages_low} * 8192;
		$is{"size_upper_bound_bytes$window"} = $_->{pages_high} * 8192;
	}
	my @sure = grep { !defined $_->{note} } @{ $known->{advice} };
	$is{advice_reliable} = @sure ? 1 : 0;
	for (@sure)
	{
		my $size = qq({cache_size_bytes="$_->{cache_bytes}"});
		$is{"predicted_hit_ratio$size"} = $_->{predicted_hit_ratio};
		$is{"predicted_hit_ratio_error$size"} = $_->{error};
		$is{"predicted_reads_per_second$size"} = $_->{predicted_reads_per_second};
	}
	return { map { ("working_set_$_" => $is{$_}) } grep { defined $is{$_} } keys %is };
}

# ---- Prometheus' word

my $http = HTTP::Tiny->new(timeout => 30);
my @used_ports;

# Start both, the queries to be run every INTERVAL, and call the function with their URLs.
sub with_monitoring
{
	my ($interval, $function) = @_;
	my ($in, $out, $err) = ('', '', '');
	my $handle = IPC::Run::start(
		[
			'bash', '-c', q{
			set -euo pipefail
			. monitoring/lib.sh
			begin_monitoring "$1"
			start_exporter 127.0.0.1 "$2" postgres working_set_scrape "$3"
			start_prometheus 1s
			hold_monitoring}, 'bash', tempdir(CLEANUP => 1), $node->port, $interval
		],
		'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(1800));
	$handle->pump while $handle->pumpable && $out !~ /^prometheus (\S+)\n/m;
	my ($exporter) = $out =~ /^exporter (\S+)\n/m;
	my ($prometheus) = $out =~ /^prometheus (\S+)\n/m;
	push @used_ports, map { /:(\d+)/ } $exporter, $prometheus if $prometheus;
	eval { $function->($exporter, $prometheus); 1 } or diag($@) if $prometheus;
	# a server that was started meanwhile has inherited what should be closed now
	$handle->signal('TERM');
	$handle->finish;
	$prometheus or die "exporter and Prometheus do not start: $err";
	return;
}

# The samples of an instant query.
sub ask
{
	my ($prometheus, $expression) = @_;
	my $answer = $http->post_form("$prometheus/api/v1/query", { query => $expression });
	die "$expression: $answer->{content}" unless $answer->{success};
	return @{ decode_json($answer->{content})->{data}{result} };
}

# Ask until there are so many of them; how many there are.
sub count_of
{
	my ($prometheus, $count, $expression) = @_;
	my @found;
	eventually(sub { @found = ask($prometheus, $expression); return @found == $count });
	return scalar @found;
}

# What one run of the queries found: the series, and the exporter's own words.
sub scrape_once
{
	my (%series, $text);
	with_monitoring('1h', sub {
		my ($exporter, $prometheus) = @_;
		# the last query of the run
		eventually(sub { $text = $http->get($exporter)->{content}; return $text =~ /^sql_working_set_advice_reliable\{/m });
		count_of($prometheus, 1, 'working_set_advice_reliable');
		# a scrape may fail on a busy machine
		for (ask($prometheus, 'last_over_time({__name__=~"working_set_.+"}[5m])'))
		{
			my %label = %{ $_->{metric} };
			my $name = delete $label{__name__};
			my $rest = join ',', map { qq($_="$label{$_}") } grep { !/^(?:cluster|instance|job)$/ } sort keys %label;
			$series{ $rest eq '' ? $name : "$name\{$rest}" } = {
				value => $_->{value}[1], from => "$label{cluster} $label{instance} $label{job}" };
		}
	});
	return (\%series, $text);
}

$pgbench->finish;
# One that lasts, and has all: with an interval of one second it would be stale by the time.
sub recommendation_lasts
{
	my $all = q{SELECT status = 'ok' AND verdict IS NOT NULL AND expected_hit_ratio IS NOT NULL AND
	       EXISTS (SELECT FROM working_set_cache_advice WHERE note IS NULL) FROM working_set_recommendation};
	$node->safe_psql('postgres', q{ALTER SYSTEM RESET working_set.interval; SELECT pg_reload_conf()});
	$node->poll_query_until('postgres', $all) or die 'no recommendation';
	$node->safe_psql('postgres', q{ALTER SYSTEM SET working_set.interval = 3600; SELECT pg_reload_conf()});
	$node->poll_query_until('postgres', q{
		SELECT computed_at < clock_timestamp() - interval '8 s' FROM working_set_recommendation}) or die 'it is made anew';
	return $node->safe_psql('postgres', $all) eq 't';
}

eventually(\&recommendation_lasts) or die 'no recommendation lasts';

my ($before, $after, $series, $text, $seconds);
for my $try (1 .. 4)
{
	my $begin = time;
	$before = known();
	($series, $text) = scrape_once();
	$after = known();
	$seconds = time - $begin;
	last if $before->{computed_at} == $after->{computed_at} && $after->{recommendation}{status} eq 'ok';
}
is($before->{computed_at}, $after->{computed_at}, 'the recommendation is the same before and after the scrape');
is($after->{recommendation}{status}, 'ok', 'and is known');

my ($least, $most) = (series_of($before), series_of($after));
is_deeply([ sort keys %$series ], [ sort keys %$most ], 'Prometheus has the series that SQL has, by the names without a prefix');

# Sizes go down as pages leave the windows, and up by what we ask; a hundredth covers both.
my (@off, @exact);
for my $name (sort keys %$series)
{
	my ($low, $value, $high) = ($least->{$name}, $series->{$name}{value}, $most->{$name});
	# a window that has gone by
	next if $name =~ /window_seconds="(\d+)"/ && $1 <= $seconds;
	($low, $high) = ($high, $low) if $low > $high;
	my $room = $name =~ /^working_set_(?:size_|sample)/ ? 0.01 * $high : 1e-9 * abs $high;
	push @off, "$name: $value, not $low to $high" unless $value >= $low - $room && $value <= $high + $room;
	push @exact, $name if $low == $high;
}
is_deeply(\@off, [], 'with the values that SQL gives');
cmp_ok(scalar(@exact), '>', 60, 'most of which are the same before and after');
is_deeply([ sort keys %{ { map { $_->{from} => 1 } values %$series } } ],
	[ 'main 127.0.0.1:' . $node->port . ' working_set_debian' ], 'all of them of this server');

my %names = map { s/\{.*//r => 1 } keys %$series;
my ($in_section, @documented);
open my $readme, '<', 'monitoring/README.md' or die $!;
while (<$readme>)
{
	if (/^\S.*:$/) { $in_section = /^(?:Always|While)/ }
	elsif ($in_section && /^\| (`[^|]*)\|/) { push @documented, $1 =~ /`(\w+)`/g }
}
is_deeply([ sort keys %names ], [ sort @documented ], 'the metrics of monitoring/README.md, all of them, and no other');

# The exporter calls everything a gauge, which is its own; nothing else may be wrong.
my ($complaints, $problem) = ('', '');
IPC::Run::run([ 'promtool', 'check', 'metrics' ], '<', \$text, '>', \$complaints, '2>', \$problem);
like("$complaints\n$problem", qr/working_set_lookups_total/, 'promtool check metrics looks at them');
my @complaints = grep { /working_set/ && !/_total non-counter metrics should not have "_total" suffix/ } split /\n/, "$complaints\n$problem";
is_deeply(\@complaints, [], 'and has nothing else against them');
like($text, qr/^# HELP sql_$_ \S/m, "help of $_") for sort keys %names;

# ---- the server goes away, and comes back: old figures are recognized as such

with_monitoring('1s', sub {
	my ($exporter, $prometheus) = @_;
	my $size = 'instance:working_set_shared_buffers_bytes:max';
	is(count_of($prometheus, 1, $size), 1, 'a server that is up is in the recording rules');
	$node->stop('immediate');
	is(count_of($prometheus, 1, 'sql_exporter_last_scrape_failed{query="working_set_tracking"} == 1'), 1,
		'the exporter says when it could not ask');
	is(count_of($prometheus, 1, 'working_set_shared_buffers_bytes'), 1, 'and goes on showing what it found before');
	is(count_of($prometheus, 0, $size), 0, 'which the recording rules do not take for new');
	is(count_of($prometheus, 1, 'ALERTS{alertname="WorkingSetScrapeFailing", alertstate="pending"}'), 1,
		'and WorkingSetScrapeFailing is about to be raised');
	$node->start;
	is(count_of($prometheus, 1, $size), 1, 'when it is up again, it is in them again');
	is(count_of($prometheus, 0, 'ALERTS{alertname="WorkingSetScrapeFailing"}'), 0, 'and the alert is none');
});

ok(free($_), 'the port is free again') for @used_ports;
$node->stop;

done_testing();
