# The same metrics everywhere: those of monitoring/README.md, with the same types, labels and help, in
# the files of both SQL exporters.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use sql_exporter_stand_in qw(list);
use Test::More;
use scrape;
use exporter_files;

my %collectors = %{ collectors_of_sql_exporter() };
my $documented = documented_metrics();
my %type = map { %$_ } values %$documented;
# The windows are in two collectors, each with a label of its own.
my (%described, %labels_of);
for my $metric (map { @{ $_->{metrics} } } values %collectors)
{
	my $name = $metric->{metric_name};
	is($metric->{help}, ($described{$name} || $metric)->{help}, "$name: one help");
	$described{$name} = $metric;
	push @{ $labels_of{$name} }, list($metric->{key_labels}), $metric->{value_label} // ();
}
is_deeply({ map { $_ => $described{$_}{type} } keys %described }, \%type, 'metrics and types are those of the README');
is_deeply([ sort keys %{ { map { $_->{metric_name} => 1 } map { @{ $collectors{$_}{metrics} } } grep { $_ ne 'working_set' } keys %collectors } } ],
	[ sort keys %{ $documented->{'opt-in'} } ], 'and the opt-in ones are those of the README');

my @jobs = jobs_of_sql_exporter();
my %other = %{ metrics_of_jobs(@jobs) };
is_deeply([ sort keys %other ], [ sort keys %described ], 'prometheus-sql-exporter has the same metrics');
is_deeply([ map { $_->{name} } @jobs ], [ grep { $_ ne 'working_set_neon_dashboard' } sort keys %collectors ],
	'in jobs of the same names, but that both labels of the windows are in one');
my @alone = grep { $other{$_}{query}{name} eq $_ } keys %other;
is_deeply({ map { $_ => $other{$_}{query}{help} } @alone }, { map { $_ => $described{$_}{help} } @alone },
	'with the same help, where a query has one metric');
is_deeply({ map { $_ => [ sort @{ $other{$_}{labels} } ] } keys %other },
	{ map { $_ => [ sort @{ $labels_of{$_} } ] } keys %described },
	'and the same labels');

done_testing();
