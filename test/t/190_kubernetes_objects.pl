# monitoring/kubernetes: the objects that are made of the rules and of the dashboards have them as they are.

use strict;
use warnings;
use CPAN::Meta::YAML;
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

# ---- the rules

my $rules = `'${\ monitoring('kubernetes/prometheus_rule')}'`;
is($?, 0, 'prometheus_rule');
my @objects = split /^---\n/m, $rules;
shift @objects;
my @files = sort glob(monitoring('prometheus/working_set*.yml'));
is(scalar @objects, scalar @files, 'an object for each file');
for my $i (0 .. $#files)
{
	my ($head, $spec) = split /^spec:\n/m, $objects[$i], 2;
	like($head, qr/\AapiVersion: monitoring\.coreos\.com\/v1\nkind: PrometheusRule\nmetadata:\n  name: [a-z]+(?:-[a-z]+)*\n\z/,
		"$files[$i]: the head");
	is($spec =~ s/^  //mgr, slurp_file($files[$i]), 'the rules, as they are');
}

# ---- the dashboards

my $maps = `'${\ monitoring('kubernetes/dashboards')}'`;
is($?, 0, 'dashboards');
# kubectl and the API server take no object above a megabyte, and kubectl apply keeps a copy in an annotation of at most a quarter of that
cmp_ok(length $maps, '<', 1 << 18, 'are not too large');
my @maps = @{ CPAN::Meta::YAML->read_string($maps) };
@files = sort glob(monitoring('grafana/working_set*.json'));
is(scalar @maps, scalar @files, 'an object for each file');
for my $i (0 .. $#files)
{
	my ($base) = $files[$i] =~ m{([^/]+)$};
	my $map = $maps[$i];
	is("$map->{apiVersion} $map->{kind}", 'v1 ConfigMap', "$base: a ConfigMap");
	like($map->{metadata}{name}, qr/^[a-z]+(?:-[a-z]+)*$/, 'with a name that is allowed');
	is_deeply($map->{metadata}{labels}, { grafana_dashboard => 1 }, 'and the label that the sidecar looks for');
	is(join(' ', keys %{ $map->{data} }), $base, 'has one file');
	is_deeply(decode_json($map->{data}{$base}), decode_json(slurp_file($files[$i])), 'which is the dashboard, as it is');
}

done_testing();
