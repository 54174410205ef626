# A server that hangs loses only itself: what an exporter gives it ends long enough before Prometheus
# gives up the exporter.  Here the figures of the files are compared; what they do was measured by
# hand (monitoring/sql_exporter/README.md).

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

# What the answer of 300 servers needs to be written, sent and read on a busy machine
my $room = 3;

sub seconds
{
	my ($text, $name) = @_;
	my ($number, $unit) = $text =~ /^ *\Q$name\E: (\d+)(ms|s)\b/m or die "no $name";
	return $unit eq 's' ? $number : $number / 1000;
}

my $prometheus = slurp_file(monitoring('prometheus/prometheus.yml'));
my $interval = seconds($prometheus, 'scrape_interval');
my %wait = map { /^(\w+)/ ? ($1 => seconds($_, 'scrape_timeout')) : () } split /^  - job_name: /m, $prometheus =~ s/\A.*?(?=^  - job_name)//msr;
is(scalar(grep { $_ > $interval } values %wait), 0, 'Prometheus waits no longer than until the next scrape');

# who takes the job alone may have an interval of fifteen seconds, for which Prometheus would refuse it
like($prometheus, qr/^    scrape_interval: \d+s\n    scrape_timeout: \Q$wait{$_}\Es$/m, "$_ has an interval of its own") for grep { $wait{$_} > 10 } sort keys %wait;

my ($statement) = slurp_file(monitoring('grants.sql')) =~ /statement_timeout = '(\d+)s'/ or die 'no statement_timeout';
my %file = (
	'sql_exporter.yml' => 'working_set',
	'sql_exporter_jobs.yml' => 'working_set_exporter');
for my $file (sort keys %file)
{
	my $text = slurp_file(monitoring("sql_exporter/$file"));
	my ($timeout, $offset) = map { seconds($text, $_) } qw(scrape_timeout scrape_timeout_offset);
	cmp_ok($timeout, '>', $statement, "$file: a statement that takes too long is ended by its server");
	# with the default of Prometheus, too, for who does not take our job: the exporter takes the less
	for my $waits ($wait{ $file{$file} }, 10)
	{
		my $takes = $timeout < $waits - $offset ? $timeout : $waits - $offset;
		cmp_ok($waits - $takes, '>=', $room, "$file: there is room in the $waits seconds of Prometheus");
		cmp_ok($takes, '>', $statement, 'and for the statement');
	}
}

# A connection that is taken and not answered is kept for ever without this, and it is of a pool of two.
for my $file ((map { "sql_exporter/$_" } sort keys %file), 'prometheus-sql-exporter/README.md')
{
	my @urls = slurp_file(monitoring($file)) =~ m{(postgres://\w+@[^\s'`]+)}g;
	cmp_ok(scalar @urls, '>', 0, "$file: there are URLs");
	is(join(' ', grep { !/[?&]connect_timeout=([1-6])\b/ } @urls), '', 'each ends an attempt to connect before the exporter gives up');
}

done_testing();
