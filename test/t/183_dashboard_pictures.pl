# The pictures of the dashboards in doc have all that the dashboards of monitoring/grafana have.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../monitoring/grafana";
use patience;
use Dashboard;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

my @names = qw(working_set working_set_fleet);
my %dashboard = map { $_ => Dashboard->new(monitoring("grafana/$_.json")) } @names;

# The titles of a table's columns, if they are shown.
sub columns
{
	my ($panel) = @_;
	return map { my $o = $_->{options}; map { $o->{renameByName}{$_} } grep { !$o->{excludeByName}{$_} } sort keys %{ $o->{renameByName} } }
	  grep { $panel->{type} eq 'table' && $panel->{options}{showHeader} && $_->{id} eq 'organize' } @{ $panel->{transformations} // [] };
}

for my $row (map { $dashboard{$_}->rows } @names)
{
	my ($word) = lc($row->{title}) =~ /(\w+)/;
	my $file = "$FindBin::Bin/../../doc/dashboard_$word.svg";
	my $svg = -e $file ? slurp_file($file) : '';
	is(join(', ', grep { $svg !~ />$_</ } map { quotemeta(Dashboard::escaped($_)) =~ s/\\\$instance/[\\w.:-]+/r } $row->{title}, map { ($_->{title}, columns($_)) } @{ $row->{panels} }),
		'', "doc/dashboard_$word.svg has all of the row");
	cmp_ok(length $svg, '<', 150_000, 'and is not large');
	unlike($svg, qr/>-?\d+\.\.\.</, 'and no number is cut off');
}

done_testing();
