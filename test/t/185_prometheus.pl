# What a real Prometheus has scraped through Debian's exporter: every default metric of
# monitoring/README.md and no other, with the values that SQL gives at the same moment; and when the
# server goes away, its old figures are recognized as such.  Time stands still for the server.

use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use HTTP::Tiny;
use IO::Socket::INET;
use IPC::Run;
use JSON::PP;
use lib $FindBin::Bin;
use patience;
use clock;
use pages qw(make_pages);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

for my $program (qw(prometheus promtool prometheus-sql-exporter))
{
	plan skip_all => "$program is missing" unless find_program($program);
}

my $clock = clock->new;
my $node = $clock->new_server("shared_buffers = '16MB'\nworking_set.save = '10s'\nlisten_addresses = '127.0.0.1'");
grant($node);
make_pages($node);
work_until_known($clock, $node);

sub free
{
	my ($port) = @_;
	return !IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Timeout => patience());
}

# ---- Prometheus' word

my $http = HTTP::Tiny->new(timeout => patience());
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
		'<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(10 * patience()));
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

# What one run of the queries found: {series => value}, which servers it says they are of, and the
# exporter's own words.
sub scrape_once
{
	my (%series, %from, $text);
	with_monitoring('1h', sub {
		my ($exporter, $prometheus) = @_;
		# the last query of the run
		eventually(sub { $text = $http->get($exporter)->{content}; return $text =~ /^sql_working_set_advice_reliable\{/m });
		count_of($prometheus, 1, 'working_set_advice_reliable');
		# a scrape may fail on a busy machine
		for (ask($prometheus, 'last_over_time({__name__=~"working_set_.+"}[5m])'))
		{
			my %label = %{ $_->{metric} };
			$from{ join ' ', delete @label{qw(cluster instance job)} } = 1;
			$series{ series_name(delete $label{__name__}, \%label) } = $_->{value}[1];
		}
	});
	return (\%series, \%from, $text);
}

my ($from, $text);
my ($series, $complaints, $moving) = agreement(sub { truth(sub { $node->safe_psql('postgres', $_[0]) }) },
	sub { (my $found, $from, $text) = scrape_once(); return $found }, 0);
is($complaints, '', 'Prometheus has the series that SQL has, by the names without a prefix, with the values that SQL gives');
is($series->{'working_set_status{status="ok"}'}, 1, 'the recommendation is known');
is_deeply([ grep { !/^working_set_(?:size_|\w+_total$|sampled_pages$|sample_ratio$)/ } @$moving ], [], 'all but counters and sizes are the same before and after');
is_deeply([ keys %$from ], [ 'main 127.0.0.1:' . $node->port . ' working_set_debian' ], 'all of them of this server');
my $documented = documented_metrics();
is_deeply([ sort @{ names_of($series) }, unknown_metrics(sub { $node->safe_psql('postgres', $_[0]) }) ],
	[ sort map { keys %{ $documented->{$_} } } 'always', 'while it tracks', 'while the worker is on time' ],
	'the metrics of monitoring/README.md, all of them, and no other');

# The exporter calls everything a gauge, which is its own; nothing else may be wrong.
my @complaints = grep { /working_set/ } lint($text);
ok((grep { /working_set_lookups_total/ } @complaints), 'promtool check metrics looks at them');
is_deeply([ grep { !/_total non-counter metrics should not have "_total" suffix/ } @complaints ], [], 'and has nothing else against them');
like($text, qr/^# HELP sql_$_ \S/m, "help of $_") for @{ names_of($series) };

# ---- the server goes away, and comes back

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
	$clock->pass(1);
	$clock->lend(sub { $node->start });
	is(count_of($prometheus, 1, $size), 1, 'when it is up again, it is in them again');
	is(count_of($prometheus, 0, 'ALERTS{alertname="WorkingSetScrapeFailing"}'), 0, 'and the alert is none');
});

ok(free($_), 'the port is free again') for @used_ports;
$node->stop;

done_testing();
