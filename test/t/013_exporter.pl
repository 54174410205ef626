# Debian's prometheus-sql-exporter with the files of monitoring/prometheus-sql-exporter: what
# it exposes beside what the views say at the same moment, and what it exposes in bad times.
# The role it connects as is made by monitoring/grants.sql.

use strict;
use warnings;
use FindBin;
use HTTP::Tiny;
use IPC::Run;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use scrape;

find_program('prometheus-sql-exporter')
  or plan skip_all => 'there is no prometheus-sql-exporter on PATH';
my $patience = 10 * $PostgreSQL::Test::Utils::timeout_default;
my $tmp = PostgreSQL::Test::Utils::tempdir();

# Not in the default search_path, and has to be quoted.
my $schema = 'Watch "it"';
my $quoted = '"Watch ""it"""';
my $first_in = '';    # a schema in front of it, and a comma

sub new_node
{
	my ($name, $settings, %params) = @_;
	my $n = PostgreSQL::Test::Cluster->new($name);
	$n->init(%params);
	$n->append_conf(
		'postgresql.conf', q{
shared_preload_libraries = 'working_set'
working_set.interval = 1
max_connections = 20
shared_buffers = '32MB'
autovacuum = off
fsync = off
} . ($settings || ''));
	$n->start;
	$n->safe_psql('postgres', qq{CREATE SCHEMA $quoted; CREATE EXTENSION working_set SCHEMA $quoted});
	return $n;
}

sub grant
{
	my ($n, @options) = @_;
	$n->command_ok([ 'psql', '-X', '-q', '-d', $n->connstr('postgres'), @options, '-f', monitoring('grants.sql') ],
		'grants.sql on ' . $n->name);
	# five seconds are not much on a busy machine
	$n->safe_psql('postgres', q{
		DO $$ DECLARE r name; BEGIN
			FOR r IN SELECT rolname FROM pg_roles WHERE 'statement_timeout=5s' = ANY (rolconfig) LOOP
				EXECUTE format('ALTER ROLE %I SET statement_timeout = ''10min''', r);
			END LOOP;
		END $$});
	return;
}

sub sql
{
	my ($n, $sql) = @_;
	return $n->safe_psql('postgres', "SET search_path = $first_in$quoted, pg_catalog, public;\n$sql");
}

sub wait_for
{
	my ($n, $condition, $what) = @_;
	$n->poll_query_until('postgres', "SELECT $condition") or die $what;
	return;
}

# What is recommended does not move any more.
sub publish_no_more
{
	my ($n) = @_;
	$n->append_conf('postgresql.conf', 'working_set.interval = 3600');
	$n->reload;
	# With an interval of one second it would be stale by now.
	wait_for($n, "status = 'ok' AND computed_at < clock_timestamp() - interval '8 s' FROM $quoted.working_set_recommendation",
		'the recommendation is made anew');
	return;
}

# ---------------------------------------------------------------- exporters

sub all_failed
{
	my ($e, $text, $failed, $name) = @_;
	my $found = failed($text);
	is(scalar(grep { $_ == $failed } values %$found), $e->{queries},
		"$name: " . ($failed ? 'every query is said to have failed' : 'no query failed'))
	  || diag(join(' ', grep { $found->{$_} != $failed } sort keys %$found), "\n", grep { /error|warn/i } split /^/, slurp_file($e->{log}));
	is(scalar keys %$found, $e->{queries}, "$name: of all there are");
	return;
}

sub log_like
{
	my ($e, $pattern, $name) = @_;
	like(slurp_file($e->{log}), $pattern, "$name: the exporter's log says why");
	return;
}

# What is exposed is what the views say.  Some of it moves while it is scraped, and more so
# at the end of a window: a few tries, and all have to fit in one of them.
sub agrees
{
	my ($n, $e, $name, @opt_in) = @_;
	my (@complaints, $text, $before, $after);
	for (1 .. 10)
	{
		my $begin = time;
		$before = truth(sub { sql($n, $_[0]) }, @opt_in);
		$text = scrape_text($e);
		$after = truth(sub { sql($n, $_[0]) }, @opt_in);
		@complaints = differences($before, ours($text), $after, time - $begin);
		last if !@complaints;
	}
	is(join("\n", @complaints), '', "$name: all series, and no others, as the views have them");
	all_failed($e, $text, 0, $name);
	my @moving = grep { !defined $after->{$_} || $before->{$_} != $after->{$_} } sort keys %$before;
	return (ours($text), $text, \@moving);
}

# names of metrics in a set of series
sub names
{
	my ($series) = @_;
	my %names = map { /^(\w+)/ ? ($1 => 1) : () } keys %$series;
	return [ sort keys %names ];
}

my $documented = documented_metrics();
my @always = sort keys %{ $documented->{always} };
my @tracking = sort keys %{ $documented->{'while it tracks'} };
my @on_time = sort keys %{ $documented->{'while the worker is on time'} };

# A control group may be there that cannot be seen from here.
sub unknown
{
	my ($n) = @_;
	return () if sql($n, 'SELECT memory_limit_bytes FROM working_set_recommendation') ne '';
	return qw(working_set_memory_limit_bytes working_set_suggested_shared_buffers_bytes working_set_expected_hit_ratio);
}

# ---------------------------------------------------------------- right after start

# The worker publishes once, at its start: what is scraped right after start stays so, however long that takes.
my $main = new_node('main', q{
working_set.save = 1h
working_set.interval = 3600
}, allows_streaming => 1);
# connections that are made anew may be there twice
grant($main, '-v', 'connections=20');
my $exporter = new_exporter($main);

my ($series) = agrees($main, $exporter, 'right after start');
is($series->{'working_set_status{status="collecting"}'}, 1, 'right after start: collecting');
is_deeply([ grep { /_recommended_|_peak_|_suggested_|_live_|_plateau_|_verdict|_timestamp_seconds$/ } @{ names($series) } ],
	['working_set_counters_start_timestamp_seconds'], 'right after start: nothing recommended or saved');
is_deeply([ grep { my $name = $_; !grep { $_ eq $name } @{ names($series) } } @tracking ], [],
	'right after start: all that is counted');

# ---------------------------------------------------------------- meanwhile, servers that never tell anything

# down from the beginning
my $down = new_node('down');
grant($down);
$down->stop;
my $blind = new_exporter($down);
my $text = scrape_text($blind);
all_failed($blind, $text, 1, 'server down');
is_deeply(ours($text), {}, 'server down: no series');
log_like($blind, qr/connect: .*"Failed to connect"/, 'server down');
stop_exporter($blind);

# up, but without us
$down->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$down->start;
$blind = new_exporter($down);
$text = scrape_text($blind);
all_failed($blind, $text, 1, 'not preloaded');
is_deeply(ours($text), {}, 'not preloaded: no series');
log_like($blind, qr/must be loaded via shared_preload_libraries/, 'not preloaded');
stop_exporter($blind);

# a role that nobody gave anything, with the right search_path
$main->safe_psql('postgres', qq{
	CREATE ROLE stranger LOGIN;
	ALTER ROLE stranger SET search_path = $quoted;
	GRANT USAGE ON SCHEMA $quoted TO stranger;
	CREATE DATABASE other;
});
$blind = new_exporter($main, user => 'stranger');
$text = scrape_text($blind);
all_failed($blind, $text, 1, 'role without the grant');
is_deeply(ours($text), {}, 'role without the grant: no series');
log_like($blind, qr/permission denied for (?:view|function|table) working_set_/, 'role without the grant');
stop_exporter($blind);

# a database without the extension
$blind = new_exporter($main, database => 'other');
$text = scrape_text($blind);
all_failed($blind, $text, 1, 'extension missing');
is_deeply(ours($text), {}, 'extension missing: no series');
log_like($blind, qr/relation \\"working_set_info\\" does not exist/, 'extension missing');
stop_exporter($blind);

# ---------------------------------------------------------------- a workload

$main->append_conf('postgresql.conf', 'working_set.interval = 1');
$main->reload;
$main->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($main, 'backup', has_streaming => 1);
# so that it has no advice
$standby->append_conf('postgresql.conf', 'working_set.sample_pages = 0');
$standby->start;

$main->safe_psql('postgres', q{
	CREATE TABLE pages (id int PRIMARY KEY, filler text);
	ALTER TABLE pages ALTER filler SET STORAGE PLAIN;
	INSERT INTO pages SELECT g, repeat('x', 3500) FROM generate_series(1, 12000) g;
	CREATE MATERIALIZED VIEW few AS SELECT id FROM pages WHERE id < 1000;
	VACUUM (FREEZE, ANALYZE);
	CREATE DATABASE elsewhere;
});
$main->safe_psql('elsewhere', q{
	CREATE TABLE unknown AS SELECT g FROM generate_series(1, 100000) g;
});
$main->safe_psql('postgres', 'SELECT count(*) FROM few');
open my $fh, '>', "$tmp/workload.sql" or die $!;
print $fh "\\set id random_zipfian(1, 3000, 1.1)\nSELECT length(filler) FROM pages WHERE id = :id;\n";
close $fh;
my $workload = IPC::Run::start([ 'pgbench', '-n', '-c', 1, '-R', 2000, '-T', $patience, '-f', "$tmp/workload.sql",
	'-h', $main->host, '-p', $main->port, 'postgres' ], '<', \undef, '>', "$tmp/pgbench.log", '2>&1');
# an answer of each kind, and all of it can be relied on
wait_for($main, qq{status = 'ok' AND (expected_hit_ratio IS NOT NULL OR memory_limit_bytes IS NULL) AND verdict IS NOT NULL AND live_bytes IS NOT NULL
	AND (SELECT bool_and(note IS NULL) FROM $quoted.working_set_cache_advice)
	FROM $quoted.working_set_recommendation}, 'no recommendation');
$workload->kill_kill;
$main->append_conf('postgresql.conf', 'working_set.save = 1s');
$main->reload;
wait_for($main, "last_saved IS NOT NULL FROM $quoted.working_set_info", 'nothing is saved');
$main->append_conf('postgresql.conf', 'working_set.save = 1h');
publish_no_more($main);

($series, $text, my $moving) = agrees($main, $exporter, 'after a workload');
is_deeply([ sort @{ names($series) }, unknown($main) ], [ sort @always, @tracking, @on_time ], 'after a workload: every metric is there');
is_deeply([ grep { !/^working_set_(?:size_|\w+_total$|sampled_pages$|sample_ratio$|last_saved_)/ } @$moving ], [],
	'after a workload: all values but counters, sizes and what the worker does meanwhile are compared exactly');
is($series->{'working_set_status{status="ok"}'}, 1, 'after a workload: ok');
cmp_ok($series->{working_set_lookups_total}, '>', 10000, 'after a workload: lookups');
cmp_ok($series->{working_set_hits_total}, '<=', $series->{working_set_lookups_total}, 'after a workload: no more hits');

SKIP:
{
	skip 'there is no promtool on PATH', 1 if !find_program('promtool');
	# Two of its rules cannot be kept here: this exporter makes gauges of everything, also of
	# counters, and the metrics of its own runtime are not ours to name.
	my @lint = grep { !/^sql_working_set_(?:hits|lookups|evictions|dropped_samples)_total non-counter metrics should not have "_total" suffix$/
		  && !/^(?:go|process|promhttp|sql_exporter)_/ } lint($text);
	is(join("\n", @lint), '', 'promtool check metrics');
}

# no label but those that the exporter adds, and ours, and each value came from the column `value'
is_deeply([ grep { !/\{(?:.*,)?col="value",(?:.*,)?database="postgres",driver="postgres",host=""/ } $text =~ /^(sql_working_set_.*)$/mg ],
	[], "the exporter's own labels");

# ---------------------------------------------------------------- opt-in

my @opt_in = qw(relations databases memory queries neon reason);
# of the last five minutes, whenever that is
$main->safe_psql('postgres', 'SELECT count(filler) FROM pages');
wait_for($main, "count(*) > 0 FROM $quoted.working_set_relations WHERE datname = 'elsewhere'", 'its table is not in the set')
  if $main->safe_psql('elsewhere', 'SELECT count(*) FROM unknown') > 0;
my @of_limit = 'working_set_expected_disk_reads_per_second';
pretend_memory_advice($main, $quoted);
pretend_queries($main, $quoted);
$first_in = 'figures, ';
$main->safe_psql('postgres', "ALTER ROLE working_set_scrape IN DATABASE postgres SET search_path = pg_catalog, figures, $quoted, pg_temp");
my $more = new_exporter($main, files => [ 'working_set.yml', map { "working_set_$_.jobs.yml" } @opt_in ]);
($series) = agrees($main, $more, 'with all opt-in jobs', @opt_in);
is_deeply([ sort @{ names($series) }, unknown($main), map { /_suggested_/ ? @of_limit : () } unknown($main) ],
	[ sort @always, @tracking, @on_time, keys %{ $documented->{'opt-in'} } ],
	'with all opt-in jobs: every metric is there');
my @relations = grep { /^working_set_relation_size_bytes/ } keys %$series;
cmp_ok(scalar @relations, '<=', 20, 'no more than twenty relations');
ok((grep { $_ eq 'working_set_relation_size_bytes{datname="postgres",relation="public.pages",relkind="r"}' } @relations),
	'the table is among them, with its schema');
ok((grep { /datname="elsewhere",relation="relfilenode \d+"\}/ } @relations),
	'and one of another database, by its file');
is(scalar(grep { /^working_set_query_size_bytes/ } keys %$series), 20, 'twenty queries, of more');
cmp_ok($series->{'working_set_query_size_bytes{queryid="7"}'}, '==', 3000000, 'those of the same labels are added up');
is($series->{'working_set_query_reads_per_second{queryid="other"}'}, 3.5, 'those that are not kept apart are other');
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

$main->wait_for_catchup($standby);
wait_for($standby, "status = 'ok' AND method = 'plateau_end' FROM $quoted.working_set_recommendation", 'no recommendation');
publish_no_more($standby);
my $far = new_exporter($standby);
($series) = agrees($standby, $far, 'standby');
is($series->{'working_set_tracking'}, 1, 'a standby tracks');
is($series->{'working_set_advice_reliable'}, 0, 'without a sample there is no advice to rely on');
is_deeply([ grep { /^working_set_predicted/ } keys %$series ], [], 'and is not exposed');
stop_exporter($far);
$standby->stop;

# ---------------------------------------------------------------- the worker is late

# a second is the interval again, so that it is late after a few
$main->append_conf('postgresql.conf', 'working_set.interval = 1');
my $then = sql($main, 'SELECT computed_at FROM working_set_recommendation');
$main->reload;
wait_for($main, "computed_at > '$then' FROM $quoted.working_set_recommendation", 'the worker does not go on');
my $worker = $main->safe_psql('postgres', "SELECT worker_pid FROM $quoted.working_set_info");
kill 'STOP', $worker;
wait_for($main, "status = 'stale' FROM $quoted.working_set_recommendation", 'not stale');
($series) = agrees($main, $exporter, 'worker late');
is($series->{'working_set_status{status="stale"}'}, 1, 'worker late: stale');
is_deeply([ grep { my $name = $_; grep { $_ eq $name } @on_time } @{ names($series) } ], [],
	'worker late: nothing is recommended');
is_deeply([ sort @{ names($series) }, grep { !/suggested|expected/ } unknown($main) ], [ sort @always, @tracking ],
	'worker late: the rest is there');
kill 'CONT', $worker;
publish_no_more($main);
($series) = agrees($main, $exporter, 'worker back');
is($series->{'working_set_status{status="ok"}'}, 1, 'worker back: ok');

# ---------------------------------------------------------------- not tracking

$main->append_conf('postgresql.conf', 'working_set.enabled = off');
$main->reload;
wait_for($main, "NOT tracking FROM $quoted.working_set_info", 'still tracking');
($series) = agrees($main, $exporter, 'not tracking');
is($series->{working_set_tracking}, 0, 'not tracking: says so');
is($series->{'working_set_status{status="not tracking"}'}, 1, 'not tracking: and in the status');
ok(exists $series->{ series_name('working_set_info', { version => sql($main, 'SELECT version FROM working_set_info'),
		registers => 16384, method => 'live_set', reason => 'working_set.enabled is off' }) },
	'not tracking: and why');
is_deeply([ grep { my $name = $_; !grep { $_ eq $name } @always } @{ names($series) } ], [],
	'not tracking: nothing else');
$main->append_conf('postgresql.conf', 'working_set.enabled = on');
$main->reload;
wait_for($main, "tracking FROM $quoted.working_set_info", 'not tracking again');

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
$main->start;
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
$down->stop;
done_testing();
