# The files of monitoring/sql_exporter, for burningalchemist/sql_exporter, which is not packaged: the
# format, checked as the program does when it reads them, and the columns of the queries.

use strict;
use warnings;
use FindBin;
use JSON::PP;
use lib $FindBin::Bin;
use patience;
use sql_exporter_stand_in qw(check_collector check_configuration list queries_of);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

my $node = new_monitored_node();

# A column is of a type that can be scanned to what it is wanted for, and nothing is left over.
sub check_columns
{
	my ($name, $sql, @metrics) = @_;
	my %is;
	for my $metric (@metrics)
	{
		for my $use ([ 'key', list($metric->{key_labels}) ], [ 'value', list($metric->{values}) ])
		{
			my ($what, @columns) = @$use;
			for my $column (@columns)
			{
				die "$name: $column both as key and value" if ($is{$column} //= $what) ne $what;
			}
		}
	}
	my %have;
	for my $column (@{ columns($sql) })
	{
		my ($column, $type) = @$column;
		die "$name: $column twice" if $have{$column}++;
		die "$name: nobody wants $column" if !$is{$column};
		die "$name: $column is $type" if $type ne ($is{$column} eq 'key' ? 'text' : 'double precision');
	}
	$have{$_} or die "$name: there is no column $_" for keys %is;
	return;
}

# What the exporter itself checks, and that each query is used and has the columns it should.
sub check_all
{
	my ($collector) = @_;
	my ($used, $queries) = (check_collector($collector), queries_of($collector));
	$used->{$_} or die "query $_ is not used" for keys %$queries;
	check_columns($_, $queries->{$_}, @{ $used->{$_} }) for sort keys %$used;
	return;
}

my %collectors = %{ collectors_of_sql_exporter() };
for my $name (sort keys %collectors)
{
	ok(eval { check_all($collectors{$name}); 1 }, "$name.collector.yml is in order") or diag $@;
	is($collectors{$name}{collector_name}, $name, "$name.collector.yml has its name");
}

# the checks themselves: each of these has to be refused
sub spoiled
{
	my ($how, $pattern) = @_;
	my $copy = JSON::PP->new->decode(JSON::PP->new->encode($collectors{working_set}));
	$how->($copy);
	like(eval { check_all($copy); 'accepted' } // $@, $pattern, "refused: $pattern");
	return;
}
spoiled(sub { $_[0]{colour} = 'red' }, qr/unknown fields in collector: colour/);
spoiled(sub { $_[0]{metrics}[0]{label} = 'x' }, qr/unknown fields in metric: label/);
spoiled(sub { $_[0]{queries}[0]{name} = 'x' }, qr/unknown fields in query: name/);
spoiled(sub { delete $_[0]{metrics}[0]{help} }, qr/missing help/);
spoiled(sub { $_[0]{metrics}[0]{type} = 'histogram' }, qr/unsupported type/);
spoiled(sub { $_[0]{metrics}[0]{query} = 'SELECT 1' }, qr/exactly one of query and query_ref/);
spoiled(sub { $_[0]{metrics}[0]{query_ref} = 'nowhere' }, qr/unresolved query_ref/);
spoiled(sub { push @{ $_[0]{metrics}[0]{values} }, 'hits' }, qr/value_label needed/);
spoiled(sub { $_[0]{metrics}[0]{key_labels} = ['target'] }, qr/reserved label/);
spoiled(sub { $_[0]{metrics}[0]{key_labels} = ['nobody'] }, qr/no column nobody/);
spoiled(sub { $_[0]{metrics}[0]{key_labels} = ['working_set_worker_running'] }, qr/both as key and value/);
spoiled(sub { $_[0]{queries}[0]{query} =~ s/\btracking::int::float8/tracking/ }, qr/tracking is boolean/);
spoiled(sub { $_[0]{queries}[2]{query} =~ s/current_setting\('working_set\.registers'\)::text/4096/ }, qr/registers is integer/);
spoiled(sub { $_[0]{queries}[2]{query} =~ s/1::float8 AS/2 AS more, 1::float8 AS/ }, qr/nobody wants more/);
spoiled(sub { push @{ $_[0]{queries} }, { query_name => 'idle', query => 'SELECT 1' } }, qr/query idle is not used/);

# the sample configuration
my $config = read_yaml(monitoring('sql_exporter/sql_exporter.yml'));
ok(eval { check_configuration($config); 1 }, 'sql_exporter.yml has no unknown fields') or diag $@;
ok(!defined $config->{jobs} && !defined $config->{target}{name}, 'sql_exporter.yml: one target without a name');
like($config->{target}{data_source_name}, qr{^postgres://working_set_scrape@}, 'sql_exporter.yml: the role of grants.sql');
my @found = map { glob monitoring("sql_exporter/$_") } list($config->{collector_files});
is(scalar @found, keys %collectors, 'sql_exporter.yml finds all collectors');
is_deeply([ grep { !$collectors{$_} } list($config->{target}{collectors}) ], [], 'sql_exporter.yml: there are those it names');
my $commented = slurp_file(monitoring('sql_exporter/sql_exporter.yml'));
is_deeply([ sort(list($config->{target}{collectors}), $commented =~ /^    # - (\w+)$/mg) ], [ sort keys %collectors ],
	'sql_exporter.yml: the others are there to be chosen');

# one exporter for many servers
my $jobs_file = read_yaml(monitoring('sql_exporter/sql_exporter_jobs.yml'));
ok(eval { check_configuration($jobs_file); 1 }, 'sql_exporter_jobs.yml has no unknown fields') or diag $@;
is_deeply($jobs_file->{$_}, $config->{$_}, "sql_exporter_jobs.yml: $_ as in sql_exporter.yml") for qw(global collector_files);
for my $job (@{ $jobs_file->{jobs} })
{
	is_deeply($job->{collectors}, ['working_set'], "sql_exporter_jobs.yml: collectors of $job->{job_name}");
	my %targets = map { %{ $_->{targets} } } @{ $job->{static_configs} };
	is_deeply([ grep { $targets{$_} !~ m{^postgres://working_set_scrape\@\Q$_\E:5432/} } keys %targets ], [],
		"sql_exporter_jobs.yml: targets of $job->{job_name} have the names of servers");
}

# Status and tracking refer to queries that read nothing else.
for my $metric (grep { $_->{metric_name} =~ /^working_set_(?:status|tracking|worker_running)$/ } @{ $collectors{working_set}{metrics} })
{
	is(reads_more(queries_of($collectors{working_set})->{ $metric->{query_ref} }), '', "$metric->{metric_name}: its query reads nothing else");
}

$node->stop;
done_testing();
