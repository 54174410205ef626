# The dashboards of monitoring/grafana are what monitoring/mixin/generate makes, with jsonnet.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../monitoring/grafana";
use patience;
use Dashboard;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

find_program('jsonnet') or plan skip_all => 'there is no jsonnet on PATH';
my $tmp = PostgreSQL::Test::Utils::tempdir();
my @names = qw(working_set working_set_fleet);

system_or_bail(monitoring('mixin/generate'), $tmp);
for my $name (@names)
{
	ok(slurp_file("$tmp/$name.json") eq slurp_file(monitoring("grafana/$name.json")),
		"$name.json is what monitoring/mixin/generate makes");
}
system_or_bail(monitoring('mixin/generate'), "$tmp/other", q({ clusterLabel: 'env', selector: 'job="db"' }));
is(join("\n", grep { !/\benv=~"\$cluster"/ || !/\bjob="db"/ || /\bcluster=/ } map { /(\{[^}]*\})/g }
		map { map { $_->{expr} } @{ $_->{targets} } } Dashboard->new("$tmp/other/working_set.json")->panels),
	'', 'another label and a selector are in each query');

# (of another database, catalogs are known by the numbers of their files, as working_set_relations has them)
my ($catalogs) = map { map { $_->{expr} =~ /relation!~"(.*?)"/ } @{ $_->{targets} } } Dashboard->new(monitoring('grafana/working_set.json'))->panels;
$catalogs =~ s/\\\\/\\/g;
is(join(', ', grep { !/^(?:$catalogs)$/ } 'pg_catalog.pg_class', 'file 1255', 'file 16384', 'public.files'), 'file 16384, public.files',
	'which relations are catalogs, that are listed from a megabyte on');

done_testing();
