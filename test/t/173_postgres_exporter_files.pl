# The files of monitoring/postgres_exporter: the format, and the columns of the queries.
# 141_scrape_postgres_exporter runs the program.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

my $node = new_monitored_node();

# the opt-in files are appended to the first
my $queries = queries_of_postgres_exporter(qw(queries queries_relations queries_memory queries_queries));
for my $block (sort keys %$queries)
{
	is_deeply([ sort keys %{ $queries->{$block} } ], [qw(master metrics query)], "$block has no unknown fields");
	is($queries->{$block}{master}, 'true', "$block is for one database, if the exporter looks for others");
	my %wanted;
	for my $metric (@{ $queries->{$block}{metrics} })
	{
		my ($column) = keys %$metric;
		is_deeply([ sort keys %{ $metric->{$column} } ], [qw(description usage)], "$block.$column");
		$wanted{$column} = $metric->{$column}{usage} eq 'LABEL' ? 'text' : 'double precision';
	}
	is_deeply({ map { $_->[0] => $_->[1] } @{ columns($queries->{$block}{query}) } }, \%wanted,
		"columns of $block");
}

is(reads_more($queries->{$_}{query}), '', "$_ reads nothing else") for qw(working_set_tracking working_set_status);

$node->stop;
done_testing();
