# The queries for all exporters, run on a server: what each program would expose is made of the
# answers and set beside what the views say at the same moment, in good times and bad.  The set-up,
# a server that knows what to recommend, is the same for all of them.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use pages qw(make_pages);
use sql_exporter_stand_in qw(list expose);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;
use exporter_files;

my $clock = clock->new;
my $node = new_monitored_node("shared_buffers = '16MB'\nworking_set.interval = 1\nworking_set.save = '10s'\ntrack_io_timing = on\n", sub { $clock->lend(@_) });
wait_for('worker_pid IS NOT NULL FROM working_set_info', 'no worker');
my %collectors = %{ collectors_of_sql_exporter() };
my $pgwatch = read_yaml(monitoring('pgwatch/working_set.yaml'));
my $queries = queries_of_postgres_exporter(qw(queries queries_relations queries_databases queries_memory queries_queries));
my %in_queries = %{ metrics_of_queries($queries) };
my $documented = documented_metrics();

sub wait_for
{
	my ($condition, $what) = @_;
	$node->poll_query_until('postgres', "SELECT $condition") or die $what;
	return;
}

# ---------------------------------------------------------------- what the programs would expose

sub exposed
{
	return expose(\&rows, @_);
}

# its figures by the names that they have elsewhere
sub pgwatch_series
{
	my %series;
	for my $row (@{ rows($pgwatch->{metrics}{working_set}{sqls}{15}) })
	{
		my %name = (
			(map { $_ => "${_}_seconds" } qw(recommendation_timestamp last_saved_timestamp counters_start_timestamp)),
			(map { $_ => "${_}_total" } qw(lookups hits evictions dropped_samples)),
			sample_rate => 'sample_ratio', recommended_cache_bytes => 'recommended_cache_size_bytes',
			peak_cache_bytes => 'peak_cache_size_bytes');
		for my $column (grep { defined $row->{$_} && !/^tag_|^epoch_ns$/ } keys %$row)
		{
			$series{ 'working_set_' . ($name{$column} // $column) } = $row->{$column};
		}
	}
	for my $name (qw(status verdict))
	{
		$series{ series_name("working_set_$name", { $name => $_->{"tag_$name"} }) } = $_->{present}
		  for @{ rows($pgwatch->{metrics}{"working_set_$name"}{sqls}{15}) };
	}
	for my $name (qw(relation database))
	{
		for my $row (@{ rows($pgwatch->{metrics}{"working_set_${name}s"}{sqls}{15}) })
		{
			my %labels = map { $_ => $row->{"tag_$_"} } grep { exists $row->{"tag_$_"} } qw(datname relation relkind);
			$series{ series_name("working_set_${name}_size_bytes", \%labels) } = $row->{bytes};
			$series{ series_name("working_set_${name}_resident_bytes", \%labels) } = $row->{resident_bytes};
			$series{ series_name("working_set_relation_unused_index_reads_per_second", \%labels) } = $row->{unused_index_reads_per_second}
			  if $name eq 'relation';
		}
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_queries}{sqls}{15}) })
	{
		my %labels = map { $_ => $row->{"tag_$_"} } qw(datname rolname queryid);
		my %name = (bytes => 'size_bytes');
		for my $column (grep { defined $row->{$_} && !/^tag_|^epoch_ns$/ } keys %$row)
		{
			$series{ series_name('working_set_query_' . ($name{$column} // $column), \%labels) } = $row->{$column};
		}
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_memory}{sqls}{15}) })
	{
		$series{ series_name("working_set_memory_$_", { memory_bytes => $row->{tag_memory_bytes} }) } = $row->{$_}
		  for qw(predicted_disk_reads_per_second best_shared_buffers_bytes);
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_disk}{sqls}{15}) })
	{
		$series{"working_set_$_"} = $row->{$_} for grep { defined $row->{$_} && $_ ne 'epoch_ns' } keys %$row;
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_size}{sqls}{15}) })
	{
		my %labels = (window_seconds => $row->{tag_window_seconds});
		$series{ series_name('working_set_size_bytes', \%labels) } = $row->{bytes};
		$series{ series_name('working_set_size_lower_bound_bytes', \%labels) } = $row->{lower_bound_bytes};
		$series{ series_name('working_set_size_upper_bound_bytes', \%labels) } = $row->{upper_bound_bytes};
	}
	for my $row (@{ rows($pgwatch->{metrics}{working_set_advice}{sqls}{15}) })
	{
		$series{ series_name("working_set_$_", { cache_size_bytes => $row->{tag_cache_size_bytes} }) } = $row->{$_}
		  for grep { defined $row->{$_} } qw(predicted_hit_ratio predicted_hit_ratio_error predicted_reads_per_second);
	}
	return \%series;
}

sub postgres_exporter_series
{
	my %series;
	my $steps = relabelling('working_set_postgres_exporter');
	for my $block (sort keys %$queries)
	{
		my %usage = map { my ($column) = keys %$_; ($column => $_->{$column}{usage}) } @{ $queries->{$block}{metrics} };
		for my $row (@{ rows($queries->{$block}{query}) })
		{
			my %labels = map { $_ => $row->{$_} } grep { $usage{$_} eq 'LABEL' } keys %usage;
			# NULL would be exposed as NaN
			for my $column (grep { $usage{$_} ne 'LABEL' } keys %usage)
			{
				my $value = $row->{$column} // die "$block.$column is NULL";
				# status and verdict are of one block: the rows of one are 0 in the other
				if ($block eq 'working' && $labels{ $column eq 'set_status' ? 'verdict' : 'status' } ne '')
				{
					die "$block.$column is not 0" if $value != 0;
					next;
				}
				my %left = %labels;
				my $name = relabelled($steps, "${block}_$column", \%left);
				$series{ series_name($name, \%left) } = $value;
			}
		}
	}
	return \%series;
}

# Debian's sql_exporter
sub other_series
{
	my %series;
	my $steps = relabelling('working_set_debian');
	for my $query (map { @{ $_->{queries} } } grep { $_->{name} =~ /^working_set(?:_memory|_queries)?$/ } jobs_of_sql_exporter())
	{
		for my $row (@{ rows($query->{query}) })
		{
			for my $value (list($query->{values}))
			{
				my %labels = (col => $value, map { $_ => $row->{$_} // die "$query->{name}: label $_ is NULL" } list($query->{labels}));
				my $name = relabelled($steps, "sql_$query->{name}", \%labels);
				$series{ series_name($name, \%labels) } = $row->{$value} // die "$query->{name}: $value is NULL";
			}
		}
	}
	return \%series;
}

# ---------------------------------------------------------------- beside the truth

# No time passes.  $wanted chooses what of the truth is to be there.
sub agrees
{
	my ($name, $get, $wanted, @opt_in) = @_;
	my ($got, $complaints) = agreement(
		sub {
			my $truth = truth(sub { $node->safe_psql('postgres', 'SET search_path = ' . search_path() . ";\n$_[0]") }, @opt_in);
			delete @$truth{ grep { !$wanted->($_) } keys %$truth };
			return $truth;
		},
		$get, 0);
	is($complaints, '', "$name: all series, and no others, as the views have them");
	return $got;
}

sub in_queries
{
	my ($series) = @_;
	return $series =~ /^(\w+)/ && $in_queries{$1};
}

# pgwatch has neither info nor what is made of other figures
sub in_pgwatch
{
	my ($series) = @_;
	return $series !~ /^working_set_(?:info\{|advice_reliable$|size_relative_error_ratio$)/;
}

my $text;
my @opt_in = qw(relations databases memory queries);

sub all_agree
{
	my ($name) = @_;
	my $everything = sub { 1 };
	agrees("$name: sql_exporter", sub { $text = exposed($collectors{working_set}); parse_exposition($text) }, $everything);
	my $got = agrees("$name: sql_exporter with all collectors",
		sub { $text = exposed(@collectors{ sort keys %collectors }); parse_exposition($text) },
		$everything, @opt_in, qw(neon reason));
	agrees("$name: postgres_exporter", \&postgres_exporter_series, \&in_queries, @opt_in);
	agrees("$name: pgwatch", \&pgwatch_series, \&in_pgwatch, @opt_in);
	SKIP:
	{
		skip 'there is no promtool on PATH', 1 if !find_program('promtool');
		is(join("\n", lint($text)), '', "$name: promtool check metrics");
	}
	return $got;
}

my $got = all_agree('right after start');
is($got->{'working_set_status{status="collecting"}'}, 1, 'right after start: collecting');

make_pages($node);
work_until_known($clock, $node);
pretend_memory_advice($node, 'watch');
pretend_queries($node, 'watch');
put_first('figures');
$got = all_agree('after a workload');
my @unknown = unknown_metrics(sub { $node->safe_psql('postgres', $_[0]) });
push @unknown, 'working_set_expected_disk_reads_per_second' if grep { /memory/ } @unknown;
is_deeply([ sort @{ names_of($got) }, @unknown ], [ sort map { keys %$_ } values %$documented ], 'after a workload: every metric is there');
my ($series) = grep { /^working_set_relation_size_bytes\{.*relation="public\.pages"/ } keys %$got;
is($series, 'working_set_relation_size_bytes{datname="postgres",relation="public.pages",relkind="r"}', 'the table by its name');
is(scalar(grep { /^working_set_memory_predicted_disk_reads_per_second\{/ } keys %$got), 15, 'fifteen sizes of memory');

# what the suggestion is worth
SKIP:
{
	skip 'nothing is suggested', 1 if grep { /memory/ } @unknown;
	is($node->safe_psql('postgres', q{
		SELECT reads_per_second >= 0,
		       abs(expected_reads_per_second * (1 - current_hit_ratio) - reads_per_second * (1 - expected_hit_ratio)) < 1e-6,
		       (saved_read_ms_per_second IS NULL) = (query_time_saved IS NULL), s ~ E'\nWorth: '
		  FROM watch.working_set_recommendation, watch.working_set() AS s}), 't|t|t|t',
		'reads now and then are of the hit ratios, and their worth is in both views or in none');
}

# pgwatch's recommendation of a changed setting
my $reco = rows($pgwatch->{metrics}{reco_shared_buffers}{sqls}{15});
my ($verdict, $suggested) = split /\|/,
  $node->safe_psql('postgres', 'SELECT verdict, suggested_shared_buffers FROM watch.working_set_recommendation');
is_deeply([ map { $_->{recommendation} } @$reco ],
	$verdict =~ /^(?:grow|shrink)$/ && $suggested ? ["ALTER SYSTEM SET shared_buffers = '$suggested'; -- and restart"] : [],
	"pgwatch recommends what the verdict is ($verdict)");

# What does not come about here at will: tables in place of the views, with what is known now,
# and changes to it.
$node->safe_psql('postgres', q{
	CREATE SCHEMA stub;
	SET search_path = stub, watch, pg_catalog;
	CREATE TABLE stub.working_set_info AS SELECT * FROM watch.working_set_info;
	CREATE TABLE stub.working_set_recommendation AS SELECT * FROM watch.working_set_recommendation;
	CREATE TABLE stub.working_set_cache_advice AS SELECT * FROM watch.working_set_cache_advice;
	CREATE TABLE stub.curve AS SELECT * FROM watch.working_set_curve('{60,300,900,3600}');
	CREATE FUNCTION stub.working_set_curve(integer[], text) RETURNS SETOF stub.curve LANGUAGE sql AS 'SELECT * FROM stub.curve';
	GRANT USAGE ON SCHEMA stub TO working_set_scrape;
	GRANT SELECT ON ALL TABLES IN SCHEMA stub TO working_set_scrape;
});
sub stub_agrees
{
	my ($name, $change, %expected) = @_;
	$node->safe_psql('postgres', "SET search_path = stub;\n$change");
	for my $get ([ 'sql_exporter', sub { parse_exposition(exposed(@collectors{qw(working_set working_set_memory working_set_queries)})) } ],
		[ 'prometheus-sql-exporter', \&other_series ])
	{
		my $got = agrees("$name: $get->[0]", $get->[1], sub { 1 }, 'memory', 'queries');
		is($got->{$_} // 'none', $expected{$_}, "$name: $_") for sort keys %expected;
	}
	agrees("$name: postgres_exporter", \&postgres_exporter_series, \&in_queries, @opt_in);
	agrees("$name: pgwatch", \&pgwatch_series, \&in_pgwatch, @opt_in);
	return;
}
put_first('stub, figures');
stub_agrees('as it is', q{UPDATE working_set_info SET reason = E'a "word", a back\\\\slash';
	UPDATE working_set_recommendation SET read_time_share = 0.125, query_time_saved = 0.03125, confidence = 'medium'}, working_set_advice_reliable => 1,
	working_set_read_time_ratio => 0.125, working_set_query_time_saved_ratio => 0.03125, working_set_confidence => 1);
stub_agrees('a full sketch', 'UPDATE curve SET pages_high = NULL WHERE seconds > 60',
	'working_set_size_upper_bound_bytes{window_seconds="300"}' => 'none');
my ($size) = split /\n/, $node->safe_psql('postgres', 'SELECT min(cache_bytes) FROM stub.working_set_cache_advice');
stub_agrees('a doubt about one size', "UPDATE working_set_cache_advice SET note = 'why not' WHERE cache_bytes = $size",
	qq(working_set_predicted_hit_ratio{cache_size_bytes="$size"}) => 'none', working_set_advice_reliable => 1);
stub_agrees('a doubt about all', q{UPDATE working_set_cache_advice SET note = 'why not'}, working_set_advice_reliable => 0);
my @memory = split /\n/, $node->safe_psql('postgres', 'SELECT memory_bytes FROM figures.memory WHERE NOT present ORDER BY 1');
stub_agrees('a doubt about one size of memory', "UPDATE figures.memory SET note = 'why not' WHERE NOT present AND memory_bytes = $memory[2]",
	qq(working_set_memory_predicted_disk_reads_per_second{memory_bytes="$memory[2]"}) => 'none',
	qq(working_set_memory_predicted_disk_reads_per_second{memory_bytes="$memory[3]"}) => 2000);
stub_agrees('a doubt about all sizes of memory', "UPDATE figures.memory SET note = 'why not'",
	(map { $_ => 'none' } qq(working_set_memory_best_shared_buffers_bytes{memory_bytes="$memory[3]"}), map { "working_set_${_}_per_second" }
		  qw(predicted_disk_reads expected_disk_reads predicted_disk_bytes)),
	working_set_measured_disk_bytes_per_second => 5000000);
stub_agrees('reads are not known yet', 'UPDATE figures.working_set_queries SET reads_per_second = NULL',
	'working_set_query_reads_per_second{queryid="other"}' => 'none', 'working_set_query_size_bytes{queryid="other"}' => 500000);
stub_agrees('little is known', q{
	UPDATE figures.memory SET note = NULL;
	UPDATE working_set_recommendation SET live_bytes = NULL, memory_limit_bytes = NULL, suggested_shared_buffers = NULL,
		verdict = NULL, current_hit_ratio = NULL, expected_hit_ratio = NULL;
	UPDATE working_set_info SET last_saved = NULL}, working_set_memory_limit_bytes => 'none', working_set_expected_disk_reads_per_second => 'none');
stub_agrees('no worker', 'UPDATE working_set_info SET worker_pid = NULL', working_set_worker_running => 0);
stub_agrees('stale', q{UPDATE working_set_recommendation SET status = 'stale'; UPDATE working_set_cache_advice SET note = NULL},
	working_set_recommended_cache_size_bytes => 'none', working_set_advice_reliable => 'none',
	working_set_measured_disk_bytes_per_second => 'none');
stub_agrees('not tracking', q{
	UPDATE working_set_info SET tracking = false, reason = NULL;
	UPDATE working_set_recommendation SET status = 'not tracking'; DELETE FROM curve; DELETE FROM figures.working_set_queries},
	working_set_lookups_total => 'none', working_set_tracking => 0, 'working_set_query_size_bytes{queryid="other"}' => 'none');
put_first('');

my $worker = $node->safe_psql('postgres', "SELECT worker_pid FROM watch.working_set_info");
kill 'STOP', $worker;
$clock->pass(10);
wait_for(q{status = 'stale' FROM watch.working_set_recommendation}, 'not stale');
$got = all_agree('worker late');
is_deeply([ grep { my $name = $_; grep { $_ eq $name } keys %{ $documented->{'while the worker is on time'} } } @{ names_of($got) } ],
	[], 'worker late: nothing is recommended');
kill 'CONT', $worker;

$node->append_conf('postgresql.conf', 'working_set.enabled = off');
$node->reload;
wait_for('NOT tracking FROM watch.working_set_info', 'still tracking');
$got = all_agree('not tracking');
is_deeply([ grep { my $name = $_; $name ne 'working_set_reason_info' && !$documented->{always}{$name} } @{ names_of($got) } ], [],
	'not tracking: nothing else');

$node->stop;
done_testing();
