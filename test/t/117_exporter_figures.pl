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
use sql_exporter_stand_in qw(expose);
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
my @others = qw(prometheus-sql-exporter postgres_exporter pgwatch opentelemetry telegraf);
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

# ---------------------------------------------------------------- beside the truth

# No time passes.
sub agrees
{
	my ($name, $get, @opt_in) = @_;
	my ($got, $complaints) = agreement(
		sub { truth(sub { $node->safe_psql('postgres', 'SET search_path = ' . search_path() . ";\n$_[0]") }, @opt_in) }, $get, 0);
	is($complaints, '', "$name: all series, and no others, as the views have them");
	return $got;
}

my $text;
my @opt_in = qw(relations memory queries);

sub others_agree
{
	my ($name) = @_;
	for my $exporter (@others)
	{
		agrees("$name: $exporter", sub { series_of($exporter, 'working_set', map { "working_set_$_" } @opt_in) }, @opt_in);
	}
	return;
}

sub all_agree
{
	my ($name) = @_;
	agrees("$name: sql_exporter", sub { $text = exposed($collectors{working_set}); parse_exposition($text) });
	my $got = agrees("$name: sql_exporter with all collectors",
		sub { $text = exposed(@collectors{ sort keys %collectors }); parse_exposition($text) }, @opt_in, qw(neon reason));
	others_agree($name);
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
		       (query_time_saved IS NULL) = (read_time_share IS NULL), s ~ E'\nWorth: '
		  FROM watch.working_set_recommendation, watch.working_set() AS s}), 't|t|t|t',
		'reads now and then are of the hit ratios, and their worth is in both views or in none');
}

# pgwatch's recommendation of a changed setting
my $reco = rows($pgwatch->{metrics}{reco_shared_buffers}{sqls}{15});
my ($verdict, $suggested) = split /\|/,
  $node->safe_psql('postgres', 'SELECT verdict, suggested_shared_buffers FROM watch.working_set_recommendation');
is_deeply([ map { $_->{recommendation} } @$reco ],
	$verdict =~ /^(?:grow|shrink)$/ && $suggested ? ["set shared_buffers = '$suggested' and restart: SELECT working_set() says how"] : [],
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
	my $got = agrees("$name: sql_exporter", sub { parse_exposition(exposed(@collectors{ 'working_set', map { "working_set_$_" } @opt_in })) }, @opt_in);
	is($got->{$_} // 'none', $expected{$_}, "$name: $_") for sort keys %expected;
	others_agree($name);
	return;
}
put_first('stub, figures');
stub_agrees('as it is', q{UPDATE working_set_info SET reason = E'a "word", a back\\\\slash';
	UPDATE working_set_recommendation SET read_time_share = 0.125, query_time_saved = 0.03125, confidence = 'medium'}, working_set_advice_reliable => 1,
	working_set_read_time_ratio => 0.125, working_set_query_time_saved_ratio => 0.03125, working_set_confidence => 1);
stub_agrees('a full sketch', 'UPDATE curve SET high_bytes = NULL WHERE seconds > 60',
	'working_set_size_upper_bound_bytes{window_seconds="300"}' => 'none');
my ($size) = split /\n/, $node->safe_psql('postgres', 'SELECT min(cache_bytes) FROM stub.working_set_cache_advice');
stub_agrees('a doubt about one size', "UPDATE working_set_cache_advice SET note = 'why not', predicted_read_time_share = 0.25 WHERE cache_bytes = $size",
	qq(working_set_predicted_hit_ratio{cache_size_bytes="$size"}) => 'none', qq(working_set_predicted_read_time_ratio{cache_size_bytes="$size"}) => 0.25,
	working_set_advice_reliable => 1);
stub_agrees('a doubt about all', q{UPDATE working_set_cache_advice SET note = 'why not'}, working_set_advice_reliable => 0);
my @memory = split /\n/, $node->safe_psql('postgres', 'SELECT memory_bytes FROM figures.memory WHERE NOT present ORDER BY 1');
stub_agrees('a doubt about one size of memory', "UPDATE figures.memory SET note = 'why not' WHERE NOT present AND memory_bytes = $memory[2]",
	qq(working_set_memory_predicted_disk_reads_per_second{memory_bytes="$memory[2]"}) => 'none',
	qq(working_set_memory_predicted_disk_reads_per_second{memory_bytes="$memory[3]"}) => 2000);
stub_agrees('a doubt about all sizes of memory', "UPDATE figures.memory SET note = 'why not'",
	(map { $_ => 'none' } qq(working_set_memory_best_shared_buffers_bytes{memory_bytes="$memory[3]"}), map { "working_set_${_}_per_second" }
		  qw(predicted_disk_reads expected_disk_reads predicted_disk_bytes)));
stub_agrees('reads are not known yet', 'UPDATE figures.working_set_queries SET reads_per_second = NULL',
	'working_set_query_reads_per_second{queryid="other",rolname="other"}' => 'none', 'working_set_query_size_bytes{queryid="other",rolname="other"}' => 500000);
stub_agrees('little is known', q{
	UPDATE figures.memory SET note = NULL;
	UPDATE working_set_recommendation SET live_bytes = NULL, memory_limit_bytes = NULL, suggested_shared_buffers = NULL,
		verdict = NULL, current_hit_ratio = NULL, expected_hit_ratio = NULL;
	UPDATE working_set_info SET last_saved = NULL}, working_set_memory_limit_bytes => 'none', working_set_expected_disk_reads_per_second => 'none');
stub_agrees('no worker', 'UPDATE working_set_info SET worker_pid = NULL', working_set_worker_running => 0);
stub_agrees('stale', q{UPDATE working_set_recommendation SET status = 'stale'; UPDATE working_set_cache_advice SET note = NULL},
	working_set_recommended_cache_size_bytes => 'none', working_set_advice_reliable => 'none');
stub_agrees('not tracking', q{
	UPDATE working_set_info SET tracking = false, reason = NULL;
	UPDATE working_set_recommendation SET status = 'not tracking'; DELETE FROM curve; DELETE FROM figures.working_set_queries},
	working_set_lookups_total => 'none', working_set_tracking => 0, 'working_set_query_size_bytes{queryid="other",rolname="other"}' => 'none');
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
