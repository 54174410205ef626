# Debian's prometheus-sql-exporter with the files of monitoring/prometheus-sql-exporter: what
# it exposes beside what the views say at the same moment, in good times and bad, of one server that
# knows what to recommend.  The role it connects as is made by monitoring/grants.sql.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use clock;
use pages qw(make_pages);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

find_program('prometheus-sql-exporter')
  or plan skip_all => 'there is no prometheus-sql-exporter on PATH';
my $clock = clock->new;

# Not in the default search_path, and has to be quoted.
my $quoted = '"Watch ""it"""';
my $first_in = '';    # a schema in front of it, and a comma

sub sql
{
	my ($n, $sql) = @_;
	return $n->safe_psql('postgres', "SET search_path = $first_in$quoted, pg_catalog, public;\n$sql");
}

sub wait_for
{
	my ($n, $condition, $what) = @_;
	eventually(sub { sql($n, "SELECT $condition") eq 't' }) or die $what;
	return;
}

# What is exposed is what the views say.  Lookups go on; no time passes.
sub agrees
{
	my ($n, $e, $name, @opt_in) = @_;
	my $text;
	my ($series, $complaints, $moving) =
	  agreement(sub { truth(sub { sql($n, $_[0]) }, @opt_in) }, sub { ours($text = scrape_text($e)) }, 0);
	is($complaints, '', "$name: all series, and no others, as the views have them");
	all_failed($e, $text, 0, $name);
	return ($series, $text, $moving);
}

my $documented = documented_metrics();
my @always = sort keys %{ $documented->{always} };
my @tracking = sort keys %{ $documented->{'while it tracks'} };
my @on_time = sort keys %{ $documented->{'while the worker is on time'} };

# ---------------------------------------------------------------- right after start

my $main = PostgreSQL::Test::Cluster->new('main');
$main->init(allows_streaming => 1);
$main->append_conf(
	'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
working_set.save = '10s'
shared_buffers = '16MB'
autovacuum = off
fsync = off
max_connections = 20
});
$clock->lend(sub { $main->start });
$main->safe_psql('postgres', qq{
	CREATE SCHEMA $quoted;
	CREATE EXTENSION working_set SCHEMA $quoted;
	ALTER DATABASE postgres SET search_path = public, $quoted;
});
# connections that are made anew may be there twice
grant($main, '-v', 'connections=20');
wait_for($main, 'worker_pid IS NOT NULL FROM working_set_info', 'no worker');
my $exporter = new_exporter($main);

my ($series) = agrees($main, $exporter, 'right after start');
is($series->{'working_set_status{status="collecting"}'}, 1, 'right after start: collecting');
is_deeply([ grep { /_recommended_|_peak_|_suggested_|_live_|_plateau_|_verdict|_timestamp_seconds$/ } @{ names_of($series) } ],
	['working_set_counters_start_timestamp_seconds'], 'right after start: nothing recommended or saved');
is_deeply([ grep { my $name = $_; !grep { $_ eq $name } @{ names_of($series) } } @tracking ], [],
	'right after start: all that is counted');

# ---------------------------------------------------------------- a workload

make_pages($main);
$main->safe_psql('postgres', q{
	CREATE MATERIALIZED VIEW few AS SELECT id FROM pages WHERE id < 1000;
	CREATE DATABASE elsewhere;
});
$main->safe_psql('elsewhere', q{
	CREATE TABLE unknown AS SELECT g FROM generate_series(1, 100000) g;
});
work_until_known($clock, $main);
# (before its first report the worker has not looked for the limit)
my @unknown = unknown_metrics(sub { sql($main, $_[0]) });

($series, my $text, my $moving) = agrees($main, $exporter, 'after a workload');
is_deeply([ sort @{ names_of($series) }, @unknown ], [ sort @always, @tracking, @on_time ], 'after a workload: every metric is there');
is_deeply([ grep { !/^working_set_(?:size_|\w+_total$|sampled_pages$|sample_ratio$|last_saved_)/ } @$moving ], [],
	'after a workload: all values but counters, sizes and what the worker does meanwhile are compared exactly');
is($series->{'working_set_status{status="ok"}'}, 1, 'after a workload: ok');
cmp_ok($series->{working_set_lookups_total}, '>', 10000, 'after a workload: lookups');
cmp_ok($series->{working_set_hits_total}, '<=', $series->{working_set_lookups_total}, 'after a workload: no more hits');

SKIP:
{
	skip 'there is no promtool on PATH', 1 if !find_program('promtool');
	# the metrics of its own runtime are not ours to name
	my @lint = grep { !/^(?:go|process|promhttp|sql_exporter)_/ } lint($text);
	is(join("\n", @lint), '', 'promtool check metrics');
}

# no label but those that the exporter adds, and ours
is_deeply([ grep { !/\{(?:.*,)?col="value",database="postgres",driver="postgres",host="",.*metric="\w+"/ } $text =~ /^(sql_working_set.*)$/mg ],
	[], "the exporter's own labels");

# ---------------------------------------------------------------- opt-in

my @opt_in = qw(relations memory queries neon reason);
$main->safe_psql('postgres', 'SELECT count(*) FROM few');
$main->safe_psql('elsewhere', 'SELECT count(*) FROM unknown');
$clock->let_pass($main, 1);
my @of_limit = 'working_set_expected_disk_reads_per_second';
pretend_memory_advice($main, $quoted);
pretend_queries($main, $quoted);
$first_in = 'figures, ';
$main->safe_psql('postgres', "ALTER ROLE working_set_scrape IN DATABASE postgres SET search_path = pg_catalog, figures, $quoted, pg_temp");
my $more = new_exporter($main, files => [ 'working_set.yml', map { "working_set_$_.jobs.yml" } @opt_in ]);
($series) = agrees($main, $more, 'with all opt-in jobs', @opt_in);
is_deeply([ sort @{ names_of($series) }, @unknown, map { /_suggested_/ ? @of_limit : () } @unknown ],
	[ sort @always, @tracking, @on_time, keys %{ $documented->{'opt-in'} } ],
	'with all opt-in jobs: every metric is there');
my @relations = grep { /^working_set_relation_size_bytes/ } keys %$series;
cmp_ok(scalar @relations, '<=', 20, 'no more than twenty relations');
ok((grep { $_ eq 'working_set_relation_size_bytes{datname="postgres",relation="public.pages",relkind="r"}' } @relations),
	'the table is among them, with its schema');
ok((grep { /datname="elsewhere",relation="file \d+"\}/ } @relations),
	'and one of another database, by its file');
is(scalar(grep { /^working_set_query_size_bytes/ } keys %$series), 20, 'twenty queries, of more');
cmp_ok($series->{'working_set_query_size_bytes{queryid="7"}'}, '==', 3000000, 'those of the same labels are added up');
is($series->{'working_set_query_reads_per_second{queryid="other",rolname="other"}'}, 3.5, 'those that are not kept apart are other');
ok(exists $series->{'working_set_query_size_bytes{datname="postgres",queryid="8",rolname="none"}'}
	  && !exists $series->{'working_set_query_reads_per_second{datname="postgres",queryid="8",rolname="none"}'}, 'reads that are not known are absent');
is(scalar(grep { /^lfc_approximate.*\{duration_seconds=/ } keys %$series), 60, 'sixty windows for Neon');
is(scalar(grep { /^working_set_memory_predicted_disk_reads_per_second\{/ } keys %$series), 15, 'fifteen sizes of memory');
$first_in = '';

# ---------------------------------------------------------------- two exporters at once

# the first still runs
my ($first, $second) = (ours(scrape_text($exporter)), ours(scrape_text($more)));
is_deeply([ grep { !defined $second->{$_} } keys %$first ], [], 'two exporters expose the same series');
is($second->{$_}, $first->{$_}, "two exporters: $_")
  for qw(working_set_recommended_cache_size_bytes working_set_peak_cache_size_bytes);
# one that was replaced may still be about to end
my $jobs = 2 + @opt_in;
ok($main->poll_query_until('postgres', qq{SELECT count(*) <= $jobs FROM pg_stat_activity WHERE usename = 'working_set_scrape'}),
	'two exporters: one connection for each job');
stop_exporter($more);

# ---------------------------------------------------------------- standby

$main->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($main, 'backup', has_streaming => 1);
# so that it has no advice
$standby->append_conf('postgresql.conf', 'working_set.sample_pages = 0');
$clock->lend(sub { $standby->start });
$main->wait_for_catchup($standby);
$clock->let_pass($standby, 61);
is(sql($standby, 'SELECT status, live_bytes IS NULL FROM working_set_recommendation'), 'ok|t', 'a standby has a recommendation');
my $far = new_exporter($standby);
($series) = agrees($standby, $far, 'standby');
is($series->{'working_set_tracking'}, 1, 'a standby tracks');
is($series->{'working_set_advice_reliable'}, 0, 'without a sample there is no advice to rely on');
is_deeply([ grep { /^working_set_predicted/ } keys %$series ], [], 'and is not exposed');
stop_exporter($far);
$standby->stop;

# ---------------------------------------------------------------- the worker is late

my $worker = $main->safe_psql('postgres', "SELECT worker_pid FROM working_set_info");
kill 'STOP', $worker;
$clock->pass(10);
wait_for($main, "status = 'stale' FROM working_set_recommendation", 'not stale');
($series) = agrees($main, $exporter, 'worker late');
is($series->{'working_set_status{status="stale"}'}, 1, 'worker late: stale');
is_deeply([ grep { my $name = $_; grep { $_ eq $name } @on_time } @{ names_of($series) } ], [],
	'worker late: nothing is recommended');
is_deeply([ sort @{ names_of($series) }, grep { !/suggested|expected|_time_/ } @unknown ], [ sort @always, @tracking ],
	'worker late: the rest is there');
kill 'CONT', $worker;
wait_for($main, "status = 'ok' FROM working_set_recommendation", 'still stale');
($series) = agrees($main, $exporter, 'worker back');
is($series->{'working_set_status{status="ok"}'}, 1, 'worker back: ok');

# ---------------------------------------------------------------- not tracking

$main->append_conf('postgresql.conf', 'working_set.enabled = off');
$main->reload;
wait_for($main, "NOT tracking FROM working_set_info", 'still tracking');
($series) = agrees($main, $exporter, 'not tracking');
is($series->{working_set_tracking}, 0, 'not tracking: says so');
is($series->{'working_set_status{status="not tracking"}'}, 1, 'not tracking: and in the status');
ok(exists $series->{ series_name('working_set_info', { version => sql($main, 'SELECT version FROM working_set_info'),
		registers => 4096, method => 'live_set', reason => 'working_set.enabled is off' }) },
	'not tracking: and why');
is_deeply([ grep { my $name = $_; !grep { $_ eq $name } @always } @{ names_of($series) } ], [],
	'not tracking: nothing else');
$main->append_conf('postgresql.conf', 'working_set.enabled = on');
$main->reload;
wait_for($main, "tracking FROM working_set_info", 'not tracking again');

# ---------------------------------------------------------------- the server goes, and comes back

# This exporter has no way to take back what it had: see its README.  What is to be known is
# that it says so of each query.
($first) = agrees($main, $exporter, 'before the server goes');
$main->stop('immediate');
$text = scrape_text($exporter);
all_failed($exporter, $text, 1, 'server gone');
is_deeply([ sort keys %{ ours($text) } ], [ sort keys %$first ], 'server gone: the last figures stay');
is(ours($text)->{working_set_counters_start_timestamp_seconds}, $first->{working_set_counters_start_timestamp_seconds},
	'server gone: as they were');
$clock->pass(1);
$clock->lend(sub { $main->start });
($series) = agrees($main, $exporter, 'server back');
cmp_ok($series->{working_set_counters_start_timestamp_seconds}, '>', $first->{working_set_counters_start_timestamp_seconds},
	'server back: with new figures');

# The same if the extension goes, but the queries do not answer.
$main->safe_psql('postgres', 'DROP EXTENSION working_set');
$text = scrape_text($exporter);
all_failed($exporter, $text, 1, 'extension dropped');
log_like($exporter, qr/working_set_\w+\\" does not exist/, 'extension dropped');

stop_exporter($exporter);
$main->stop;
done_testing();
