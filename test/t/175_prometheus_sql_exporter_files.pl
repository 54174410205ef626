# The files of monitoring/prometheus-sql-exporter: the columns of the queries are as that exporter
# wants them.  126_scrape and 113_exporter run the program.

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
my %other = map { $_->{name} => $_ } map { @{ $_->{queries} } } jobs_of_sql_exporter();

# as that exporter wants it, whatever the answer is
for my $name (sort keys %other)
{
	my %column = map { $_->[0] => $_->[1] } @{ columns($other{$name}{query}) };
	my %wanted = ((map { $_ => 'text' } list($other{$name}{labels})), map { $_ => 'double precision' } list($other{$name}{values}));
	is_deeply(\%column, \%wanted, "types of $name");
	is($other{$name}{allow_zero_rows}, 'true', "no row is no error in $name");
}

is(reads_more($other{$_}{query}), '', "$_ reads nothing else") for qw(working_set_status working_set_tracking);

$node->stop;
done_testing();
