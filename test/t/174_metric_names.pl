# The files of exporters are what monitoring/generate makes of monitoring/metrics.sql, and its metrics are those of
# monitoring/README.md, with each exporter.

use strict;
use warnings;
use File::Find;
use FindBin;
use lib $FindBin::Bin;
use patience;
use sql_exporter_stand_in qw(list);
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

# ---- made again

my $made = PostgreSQL::Test::Utils::tempdir();
is(system($^X, monitoring('generate'), $made), 0, 'monitoring/generate');
my @files;
find({ no_chdir => 1, wanted => sub { push @files, s{^\Q$made\E/}{}r if -f } }, $made);
cmp_ok(scalar @files, '>=', 20, 'makes files');
is(slurp_file("$made/$_"), slurp_file(monitoring($_)), "$_ is as it makes it") for sort @files;
my %made = map { $_ => 1 } @files;
for my $file (map { s{.*/monitoring/+}{}r } map { glob monitoring("$_/*.*") } qw(sql_exporter prometheus-sql-exporter postgres_exporter pgwatch opentelemetry telegraf))
{
	next if $made{$file} || $file =~ m{\.(?:md|service)$|/sql_exporter(?:_jobs)?\.yml$};
	fail("$file is made by nothing");
}

# ---- and the metrics of it

my %collectors = %{ collectors_of_sql_exporter() };
my $documented = documented_metrics();
# The windows are in two collectors, each with a label of its own.
my (%type, %labels);
for my $metric (map { @{ $_->{metrics} } } values %collectors)
{
	$type{ $metric->{metric_name} } = $metric->{type};
	$labels{ $metric->{metric_name} }{ join ' ', sort(list($metric->{key_labels})) } = 1;
}
is_deeply(\%type, { map { %$_ } values %$documented }, 'metrics and types are those of the README');
is_deeply([ sort keys %{ { map { $_->{metric_name} => 1 } map { @{ $collectors{$_}{metrics} } } grep { $_ ne 'working_set' } keys %collectors } } ],
	[ sort keys %{ $documented->{'opt-in'} } ], 'and the opt-in ones are those of the README');
my @lines = grep { /^\|/ } split /\n/, slurp_file(monitoring('README.md'));
for my $name (sort keys %type)
{
	my ($line) = grep { /^[^|]*\|[^|]*`$name`/ } @lines;
	for my $label (map { split / / } keys %{ $labels{$name} })
	{
		next if $name =~ /^working_set_advice_reliable$/;
		ok($line =~ /^(?:[^|]*\|){3}[^|]*(?:`$label`|the same)/, "$name: the README has the label $label");
	}
}

# which of them the exporters have whose queries have a row for each
my %other = map { $_ => { map { $_ => 1 } map { metrics_in($_->{sql}) } statements_of($_) } } qw(prometheus-sql-exporter postgres_exporter opentelemetry);
is_deeply([ grep { !$other{'prometheus-sql-exporter'}{$_} } sort keys %type ], [], 'prometheus-sql-exporter has all');
is_deeply([ grep { !$other{opentelemetry}{$_} } sort keys %type ], [ grep { /^lfc_/ } sort keys %type ], 'opentelemetry all but those of Neon');
is_deeply([ grep { !$other{postgres_exporter}{$_} } sort keys %type ], [ grep { /^lfc_|_reason_info$/ } sort keys %type ],
	'postgres_exporter all but these and the reason');

done_testing();
