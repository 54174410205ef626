# The files of monitoring/ for exporters, and a server on which their queries are run as the role of
# grants.sql.
#
#   my $node = new_monitored_node("shared_buffers = '32MB'");    the extension in the schema watch
#   rows($sql), columns($sql)       of that server, by the role
#   put_first('stub, figures')      schemas that the role looks into first, from now on

package exporter_files;

use strict;
use warnings;
use Exporter 'import';
use JSON::PP;
use patience;
use PostgreSQL::Test::Cluster;
use scrape;
use sql_exporter_stand_in qw(list);

our @EXPORT = qw(new_monitored_node put_first search_path columns rows collectors_of_sql_exporter jobs_of_sql_exporter metrics_of_jobs reads_more);

my ($node, $first) = (undef, '');

# A server, by whose clocks time stands still if $start lends it some.
sub new_monitored_node
{
	my ($settings, $start) = @_;
	$node = PostgreSQL::Test::Cluster->new('main');
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'working_set'\nautovacuum = off\nfsync = off\n" . ($settings // ''));
	$start ? $start->(sub { $node->start }) : $node->start;
	$node->safe_psql('postgres', 'CREATE SCHEMA watch; CREATE EXTENSION working_set SCHEMA watch');
	$node->safe_psql('postgres', q{ALTER DATABASE postgres SET search_path = public, watch});
	grant($node);
	return $node;
}

sub put_first
{
	($first) = @_;
	return;
}

sub search_path { return join ', ', grep { length } $first, qw(watch pg_catalog public); }

sub query
{
	my ($sql) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $first eq '' ? $sql : "SET search_path = $first, watch, pg_catalog;\n$sql",
		extra_params => [ '-U', 'working_set_scrape' ]);
	die "$err\n$sql" if $status != 0;
	return $out;
}

# [[column, type], ...] as the server describes them
sub columns
{
	my ($sql) = @_;
	return [ map { [ split /\|/ ] } split /\n/, query("$sql\n\\gdesc") ];
}

# [{column => value}, ...], values as text, which keeps all digits
sub rows
{
	my ($sql) = @_;
	return [ map { JSON::PP->new->decode($_) } split /\n/, query(qq{
		SELECT (SELECT json_object_agg(key, value) FROM json_each_text(row_to_json(q))) FROM (\n$sql\n) q}) ];
}

# {name => collector} of burningalchemist/sql_exporter
sub collectors_of_sql_exporter
{
	return { map { $_ => read_yaml(monitoring("sql_exporter/$_.collector.yml")) }
		  qw(working_set working_set_relations working_set_databases working_set_memory working_set_queries working_set_neon working_set_neon_dashboard working_set_reason) };
}

# jobs of Debian's prometheus-sql-exporter; both of Neon's collectors are in one
sub jobs_of_sql_exporter
{
	return map { @{ $_->{jobs} } } read_yaml(monitoring('prometheus-sql-exporter/working_set.yml')),
	  map { { jobs => read_yaml(monitoring("prometheus-sql-exporter/$_.jobs.yml")) } }
	  grep { $_ ne 'working_set' && $_ ne 'working_set_neon_dashboard' } sort keys %{ collectors_of_sql_exporter() };
}

# {metric => {query, labels}} of these jobs, by the names that Prometheus has
sub metrics_of_jobs
{
	my (@jobs) = @_;
	my %metrics;
	my $steps = relabelling('working_set_debian');
	for my $query (map { @{ $_->{queries} } } @jobs)
	{
		my %more = (query => $query, labels => [ grep { $_ ne 'figure' } list($query->{labels}) ]);
		for my $column (list($query->{values}))
		{
			$metrics{ relabelled($steps, "sql_$query->{name}", { %$_, col => $column }) } = \%more for figures_of($query->{query});
		}
	}
	return \%metrics;
}

# What a query reads besides the two views that status and tracking are columns of.
sub reads_more
{
	my ($sql) = @_;
	return join ' ', grep { !/^working_set_(?:info|recommendation)$/ } $sql =~ /\b(working_set_\w+)\b/g;
}

1;
