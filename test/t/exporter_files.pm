# The files of monitoring/ for exporters, and a server on which their queries are run as the role of
# grants.sql.
#
#   my $node = new_monitored_node("shared_buffers = '32MB'");    the extension in the schema watch
#   rows($sql), columns($sql)       of that server, by the role
#   put_first('stub, figures')      schemas that the role looks into first, from now on
#   series_of($exporter, @files)    what the exporter would expose now, with these files of it

package exporter_files;

use strict;
use warnings;
use Exporter 'import';
use JSON::PP;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils qw(slurp_file);
use scrape;
use sql_exporter_stand_in qw(list);

our @EXPORT = qw(new_monitored_node put_first search_path columns rows collectors_of_sql_exporter jobs_of_sql_exporter statements_of series_of reads_more);

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
		  qw(working_set working_set_relations working_set_memory working_set_queries working_set_neon working_set_neon_dashboard working_set_reason) };
}

# jobs of Debian's prometheus-sql-exporter; both of Neon's collectors are in one
sub jobs_of_sql_exporter
{
	return map { @{ $_->{jobs} } } read_yaml(monitoring('prometheus-sql-exporter/working_set.yml')),
	  map { { jobs => read_yaml(monitoring("prometheus-sql-exporter/$_.jobs.yml")) } }
	  grep { $_ ne 'working_set' && $_ ne 'working_set_neon_dashboard' } sort keys %{ collectors_of_sql_exporter() };
}

# One statement of an exporter's files.  $labels has the names of columns that are labels; $name_of->(column,
# labels), which may change these, is the name of what is no label.  $nulls: such a column may be NULL.
sub statement
{
	my ($name, $sql, $labels, $nulls, $name_of) = @_;
	return { name => $name, sql => $sql, labels => [ sort values %$labels ], series => sub {
			my ($row) = @_;
			my @series;
			for my $column (grep { !defined $labels->{$_} } sort keys %$row)
			{
				my %labels = map { $labels->{$_} => $row->{$_} // die "$name: label $_ is NULL" } keys %$labels;
				die "$name: $column is NULL" if !$nulls && !defined $row->{$column};
				my $metric = $name_of->($column, \%labels);
				push @series, series_name($metric, \%labels), $row->{$column} if defined $row->{$column} && defined $metric;
			}
			return @series;
		} };
}

sub same { return { map { $_ => $_ } @_ }; }

my %documented = map { %$_ } values %{ documented_metrics() };
my %statements_of = (
	'prometheus-sql-exporter' => sub {
		my $steps = relabelling('working_set_debian');
		return map {
			my $job = $_->{name};
			map { my $query = $_; [ $job, statement($query->{name}, $query->{query}, same(list($query->{labels})), 0,
					sub { $_[1]{col} = $_[0]; relabelled($steps, "sql_$query->{name}", $_[1]) }) ] } @{ $_->{queries} } } jobs_of_sql_exporter();
	},
	postgres_exporter => sub {
		my $steps = relabelling('working_set_postgres_exporter');
		return map {
			my ($part, $queries) = ($_, queries_of_postgres_exporter("queries$_"));
			map { my $block = $_; [ "working_set$part", statement($block, $queries->{$block}{query},
					same(map { my ($column) = keys %$_; $_->{$column}{usage} eq 'LABEL' ? $column : () } @{ $queries->{$block}{metrics} }), 0,
					sub { relabelled($steps, "${block}_$_[0]", $_[1]) }) ] } sort keys %$queries } '', map { "_$_" } qw(relations memory queries);
	},
	# A name is of the metric and the column, where such a metric is documented.
	pgwatch => sub {
		my $metrics = read_yaml(monitoring('pgwatch/working_set.yaml'))->{metrics};
		return map { my $name = $_; my $sql = $metrics->{$name}{sqls}{15};
			['', statement($name, $sql, { map { ("tag_$_" => $_) } $sql =~ /\bAS tag_(\w+)/g }, 1, sub {
					return if $_[0] eq 'epoch_ns';
					return (grep { $documented{$_} } $_[0] eq 'value' ? $name : "${name}_$_[0]", "working_set_$_[0]")[0] // die "$name: $_[0]";
				}) ] } grep { !/^reco_/ } sort keys %$metrics;
	},
	opentelemetry => sub {
		my $receivers = read_yaml(monitoring('opentelemetry/working_set.yaml'))->{receivers};
		return map {
			my ($part) = m{^sqlquery/(.*)};
			map { my $query = $_; [ $part, statement($part, $query->{sql}, same('metric', list($query->{metrics}[0]{attribute_columns})), 0, sub {
						my ($column, $labels) = @_;
						my $name = delete $labels->{metric};
						return (grep { $_->{row_condition}{column} eq 'metric' && $_->{row_condition}{value} eq $name && $_->{value_column} eq $column }
							@{ $query->{metrics} })[0]{metric_name} // die "nobody wants $name";
					}) ] } @{ $receivers->{$_}{queries} } } sort keys %$receivers;
	},
	# (as its own output for Prometheus names them)
	telegraf => sub {
		my $text = slurp_file(monitoring('telegraf/working_set.conf'));
		my @found;
		while ($text =~ /^  alias = "(\w+)"|^ +measurement = "(\w+)"\n +tagvalue = "([\w,]*)"\n +sqlquery = """\n(.*?)^ *"""$/msg)
		{
			if (defined $1) { push @found, [$1]; next }
			my ($part, $measurement, $tags, $sql) = ($found[-1][0], $2, $3, $4);
			push @found, [ $part, statement($part, $sql, same(split /,/, $tags), 1, sub { $measurement eq 'prometheus' ? $_[0] : "${measurement}_$_[0]" }) ];
		}
		return grep { $_->[1] } @found;
	});

# of those of these files, or of all, where they are in several
sub statements_of
{
	my ($exporter, @files) = @_;
	my %wanted = map { $_ => 1 } @files;
	return map { $_->[1] } grep { !@files || $_->[0] eq '' || $wanted{ $_->[0] } } $statements_of{$exporter}->();
}

sub series_of
{
	my %series;
	for my $statement (statements_of(@_))
	{
		for my $row (@{ rows($statement->{sql}) })
		{
			my %found = $statement->{series}->($row);
			defined $series{$_} and die "$statement->{name}: $_ twice" for keys %found;
			%series = (%series, %found);
		}
	}
	return \%series;
}

# What a query reads besides the two views that status and tracking are columns of.
sub reads_more
{
	my $sql = $_[0] =~ s/\bAS \w+|\bq\.\w+|'\w+'//gr;
	return join ' ', grep { !/^working_set_(?:info|recommendation)$/ } $sql =~ /\b(working_set_\w+)\b/g;
}

1;
