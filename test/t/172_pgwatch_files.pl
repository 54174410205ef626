# monitoring/pgwatch/working_set.yaml: the format, and the columns of the queries.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use sql_exporter_stand_in qw(list);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

my $node = new_monitored_node();

my $pgwatch = read_yaml(monitoring('pgwatch/working_set.yaml'));
is_deeply([ sort keys %$pgwatch ], [qw(metrics presets)], 'metrics and presets');
for my $name (sort keys %{ $pgwatch->{metrics} })
{
	my $metric = $pgwatch->{metrics}{$name};
	is_deeply([ grep { !/^(?:description|sqls|gauges|is_instance_level|storage_name)$/ } keys %$metric ], [],
		"$name has no unknown fields");
	is_deeply([ keys %{ $metric->{sqls} } ], [15], "$name is for 15 and later");
	my %column = map { $_->[0] => $_->[1] } @{ columns($metric->{sqls}{15}) };
	is(delete $column{epoch_ns}, 'bigint', "$name has a time");
	is_deeply([ grep { !$column{$_} } grep { $_ ne '*' } list($metric->{gauges}) ], [], "gauges of $name are columns");
	is_deeply([ grep { /^tag_/ && $column{$_} ne 'text' } keys %column ], [], "tags of $name are text");
	my @counters = grep { my $column = $_; !/^tag_/ && !grep { $_ eq $column || $_ eq '*' } list($metric->{gauges}) } keys %column;
	is_deeply([ sort @counters ], $name eq 'working_set' ? [qw(dropped_samples_total evictions_total hits_total lookups_total)]
		: $name eq 'reco_shared_buffers' ? [qw(extra_info recommendation)] : [], "what of $name is no gauge");
}
for my $preset (values %{ $pgwatch->{presets} })
{
	is_deeply([ grep { !$pgwatch->{metrics}{$_} || $preset->{metrics}{$_} !~ /^\d+$/ } keys %{ $preset->{metrics} } ], [],
		'the preset has metrics that there are, and intervals');
}

$node->stop;
done_testing();
