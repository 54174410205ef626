# monitoring/kubernetes: the objects for CloudNativePG and the Prometheus Operator name each other
# rightly, series get the names and labels that the rules expect, and the queries work as the
# operator's exporter runs them.

use strict;
use warnings;
use CPAN::Meta::YAML;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my $text = slurp_file(monitoring('kubernetes/cloudnative-pg.yaml'));
my ($cluster, $database, $monitor) = @{ CPAN::Meta::YAML->read_string($text) };
is(join(' ', map { "$_->{apiVersion}/$_->{kind}" } $cluster, $database, $monitor),
	'postgresql.cnpg.io/v1/Cluster postgresql.cnpg.io/v1/Database monitoring.coreos.com/v1/PodMonitor', 'the objects');

# ---- what they name

my $name = $cluster->{metadata}{name};
is_deeply($database->{spec}{cluster}, { name => $name }, 'the database is of the cluster');
is_deeply($monitor->{spec}{selector}{matchLabels}, { 'cnpg.io/cluster' => $name }, 'its pods are scraped');
my $initdb = $cluster->{spec}{bootstrap}{initdb};
is("$database->{spec}{name} $database->{spec}{owner}", "$initdb->{database} $initdb->{owner}", 'the exporter queries that database');
is_deeply($database->{spec}{extensions}, [ { name => 'working_set', schema => 'public' } ], 'which gets the extension, in public');
my $postgresql = $cluster->{spec}{postgresql};
is_deeply([ map { $_->{name} } @{ $postgresql->{extensions} } ], ['working-set'], 'the image is mounted');
is_deeply($postgresql->{shared_preload_libraries}, ['working_set'], 'and its library preloaded');
my ($filter, $map, $key) = $text =~ /^# +(grep .*) \|\n# +kubectl create configmap (\S+) --from-file=(\w+)=\/dev\/stdin$/m;
is_deeply($cluster->{spec}{monitoring}{customQueriesConfigMap}, [ { name => $map, key => $key } ], 'the queries are those of the command');

# ---- the names and labels of series

my ($endpoint) = @{ $monitor->{spec}{podMetricsEndpoints} };
my %label = map { $_->{targetLabel} => $_->{replacement} // ($_->{sourceLabels} =~ s/^\[(.*)\]$/$1/r) } @{ $endpoint->{relabelings} };
is_deeply(\%label, {
	job => 'working_set_cnpg',
	instance => '__meta_kubernetes_pod_name',
	cluster => '__meta_kubernetes_pod_label_cnpg_io_cluster'
}, 'labels');
my @selectors = map { slurp_file($_) =~ /\bup\{job=~"([^"]+)"\}/g } glob monitoring('prometheus/working_set*.yml');
cmp_ok(scalar @selectors, '>', 0, 'rules look at up');
like($label{job}, qr/^(?:$_)$/, "and sees this job: $_") for @selectors;

sub relabel
{
	return relabelled($endpoint->{metricRelabelings}, @_);
}

my $queries = CPAN::Meta::YAML->read_string(scalar `$filter`)->[0];
is_deeply([ grep { $queries->{$_}{master} || $queries->{$_}{primary} } keys %$queries ], [], 'the standbys run them, too');
my %documented = map { %$_ } values %{ documented_metrics() };
my %names;
for my $block (sort keys %$queries)
{
	$names{ relabel("cnpg_${block}_value", $_) } = $_ for map { { metric => $_ } } metrics_in($queries->{$block}{query});
}
is_deeply([ sort keys %names ], [ sort map { metrics_in($_->{query}) } values %$queries ], 'names are those of the label metric');
is_deeply([ grep { keys %$_ } values %names ], [], 'which is gone');
is_deeply([ grep { !$documented{$_} } keys %names ], [], 'and documented');
is(scalar relabel($_, {}), undef, "$_ is left out") for qw(cnpg_collector_up go_goroutines);

# ---- the queries

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'\nworking_set.interval = 1\nfsync = off\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION working_set SCHEMA public;
	CREATE ROLE cnpg_metrics_exporter LOGIN;
	GRANT pg_monitor TO cnpg_metrics_exporter;
});
for my $block (sort keys %$queries)
{
	my ($status, undef, $err) = $node->psql('postgres',
		"BEGIN READ ONLY; SET LOCAL search_path = pg_catalog, public, pg_temp; $queries->{$block}{query}; COMMIT;",
		extra_params => [ '-U', 'cnpg_metrics_exporter' ]);
	is("$status $err", '0 ', "the exporter's role can run $block");
}
$node->stop;

done_testing();
