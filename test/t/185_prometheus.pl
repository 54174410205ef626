# What a real Prometheus has scraped through Debian's exporter: every default metric of
# monitoring/README.md and no other, with the values that SQL gives at the same moment; and when the
# server goes away, its old figures are recognized as such.  Time stands still for the server.

use strict;
use warnings;
use FindBin;
use HTTP::Tiny;
use IO::Socket::INET;
use lib $FindBin::Bin;
use patience;
use clock;
use pages qw(make_pages);
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

my @used_ports;

# Both, the queries to be run every INTERVAL.
sub start
{
	my ($interval) = @_;
	my $p = start_prometheus(qq{start_exporter 127.0.0.1 "\$1" postgres working_set_scrape "\$2"; start_prometheus 1s}, $node->port, $interval);
	push @used_ports, map { /:(\d+)/ } @$p{qw(exporter url)};
	return $p;
}

# What one run of the queries found: {series => value}, which servers it says they are of, and the
# exporter's own words.
sub scrape_once
{
	my (%series, %from, $text);
	my $p = start('1h');
	# the last query of the run
	eventually(sub { $text = HTTP::Tiny->new(timeout => patience())->get($p->{exporter})->{content}; return $text =~ /^sql_working_set_advice\{.*"working_set_advice_reliable"/m });
	have_in_prometheus($p, 1, 'working_set_advice_reliable');
	# a scrape may fail on a busy machine
	for (@{ ask_prometheus($p, 'query', query => 'last_over_time({__name__=~"working_set_.+"}[5m])')->{result} })
	{
		my %label = %{ $_->{metric} };
		$from{ join ' ', delete @label{qw(cluster instance job)} } = 1;
		$series{ series_name(delete $label{__name__}, \%label) } = $_->{value}[1];
	}
	stop_prometheus($p);
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

is_deeply([ grep { /working_set/ } lint($text) ], [], 'promtool check metrics has nothing against them');
my %exposed = map { $_ => 1 } $text =~ /^(sql_working_set\w*)\{/mg;
cmp_ok(scalar keys %exposed, '>', 5, 'names that the exporter has');
like($text, qr/^# HELP $_ \S/m, "help of $_") for sort keys %exposed;

# ---- the server goes away, and comes back

my $p = start('1s');
sub count_of
{
	my ($count, $query) = @_;
	return scalar(my @found = have_in_prometheus($p, $count, $query));
}
my $size = 'instance:working_set_shared_buffers_bytes:max';
is(count_of(1, $size), 1, 'a server that is up is in the recording rules');
$node->stop('immediate');
is(count_of(1, 'sql_exporter_last_scrape_failed{query="working_set_tracking"} == 1'), 1,
	'the exporter says when it could not ask');
is(count_of(1, 'working_set_shared_buffers_bytes'), 1, 'and goes on showing what it found before');
is(count_of(0, $size), 0, 'which the recording rules do not take for new');
is(count_of(1, 'ALERTS{alertname="WorkingSetScrapeFailing", alertstate="pending"}'), 1,
	'and WorkingSetScrapeFailing is about to be raised');
$clock->pass(1);
$clock->lend(sub { $node->start });
is(count_of(1, $size), 1, 'when it is up again, it is in them again');
is(count_of(0, 'ALERTS{alertname="WorkingSetScrapeFailing"}'), 0, 'and the alert is none');
stop_prometheus($p);

ok(free($_), 'the port is free again') for @used_ports;
$node->stop;

done_testing();
