# monitoring/report.sql: each picture shows what it should, at its place, whatever the figures are, and
# what is missing is said.  The views are pretended.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use patience;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use report_page;

my $node = new_report_node();
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION working_set; CREATE TABLE t (a int, b int UNIQUE); CREATE INDEX unused ON t (a)');
my %usual = (
	recommendation => {
		computed_at => 'now()', status => "'ok'::text", method => "'live_set'::text", working_set_bytes => '160440320::bigint',
		low_bytes => '159383552::bigint', high_bytes => '161505280::bigint', window_seconds => 900, plateau_end_bytes => '120481280::bigint',
		live_bytes => '159514624::bigint',
		recommended_cache_bytes => '175472640::bigint', recommended_low_bytes => '173015040::bigint', recommended_high_bytes => '177635328::bigint',
		peak_cache_bytes => '195472640::bigint', peak_at => "now() - interval '2 days'", idle_cache_bytes => 'NULL::bigint',
		shared_buffers_bytes => '67108864::bigint', memory_limit_bytes => '25276502016::bigint',
		current_hit_ratio => '0.99::float8', expected_hit_ratio => '0.999::float8', confidence => "'low'::text",
		reads_per_second => '1000::float8', expected_reads_per_second => '400::float8', read_time_share => '0.123::float8', query_time_saved => '0.034::float8',
		recurring_job => 'NULL::text', saved_read_ms_per_second => '100::float8', suggested_shared_buffers => "'187MB'::text",
		suggested_effective_cache_size => "'23313MB'::text", verdict => "'grow'::text", reason => "'because; and <so> on'::text" },
	info => {
		tracking => 'true', reason => "'every lookup of shared buffers is seen'::text", since => "now() - interval '3 hours'", registers => 4096,
		sample_rate => '0.0625::float8', sampled_pages => '1234::bigint', lookups => '123456789::bigint', hits => '123000000::bigint',
		evictions => '10::bigint', dropped_samples => '0::bigint', predictions_checked => 144, predictions_within_error => 140, worker_pid => 4711, last_saved => 'now()', shared_memory_bytes => '4800000::bigint',
		version => "'1.0.0'::text" });
my $arguments = $node->safe_psql('other', q{SELECT pg_get_function_arguments('working_set_memory_advice(bigint, bigint)'::regprocedure)});
my %columns = map { $_ => [ split /\n/, $node->safe_psql('other', "SELECT attname FROM pg_attribute WHERE attrelid = 'working_set_$_'::regclass AND attnum > 0 ORDER BY attnum") ] }
  qw(recommendation info cache_advice history relations queries);
my %from = (
	cache_advice => q{SELECT f::float8 AS size_factor, (67108864 * f)::bigint AS cache_bytes, ''::text AS cache, %s AS predicted_hit_ratio,
		NULL::float8 AS predicted_hit_ratio_without_scans, %s AS predicted_reads_per_second,
		NULL::float8 AS low_reads_per_second, NULL::float8 AS high_reads_per_second, 1::float8 AS read_factor, NULL::float8 AS predicted_read_time_share,
		NULL::float8 AS worst_read_time_loss, %s AS error, %s AS note
		FROM unnest('{0.125,0.16,0.2,0.25,0.32,0.4,0.5,0.63,0.8,1,1.25,1.6,2,2.5,3.2,4,5.6,8,11.2,16}'::float8[]) f},
	history => q{SELECT now() - m * interval '15 min' + interval '%5$s' AS at, %1$s AS working_set_bytes, (180000000 + 1e7 * sin(m))::bigint AS recommended_cache_bytes,
		NULL::bigint AS mean_cache_bytes,
		NULL::bigint AS plateau_end_bytes, NULL::bigint AS live_bytes, %2$s AS lookups, %3$s AS hits, 15 AS minutes FROM generate_series(1, 2900) m WHERE %4$s},
	relations => q{SELECT 'other'::text AS datname, %1$s::regclass::oid AS relid, coalesce(%1$s::regclass::text, 'file ' || 20000 + g) AS relation, NULL::"char" AS relkind,
		(8192 * g)::bigint AS bytes, 8192::bigint AS standard_error_bytes, (4096 * g)::bigint AS resident_bytes,
		(2048 * g)::bigint AS reused_bytes, 2::float8 AS reads_per_second, 1::float8 AS reads_saved_per_second, 0.4::float8 AS reads_saved_standard_error, 0.5::float8 AS density
		FROM generate_series(1, %2$s) g},
	queries => q{SELECT 'd <1>'::text AS datname, CASE g WHEN 7 THEN 'other' ELSE 'r&' || g END AS rolname, %3$s AS queryid, CASE g WHEN 7 THEN 'other' END AS application_name,
		(8192 * g)::bigint AS bytes, 8192::bigint AS standard_error_bytes,
		(4096 * g)::bigint AS exclusive_bytes, %1$s AS reads_per_second, 10 * %1$s AS reads_saved_per_second, 1::float8 AS reads_saved_standard_error
		FROM generate_series(1, %2$s) g});
my @rows = (
	cache_advice => [ '1 - 0.3 / (1 + f)', '1000 / f', '0.02::float8', 'NULL::text' ],
	history => [ '(150000000 + 1e7 * cos(m / 50.0))::bigint', '1000::bigint', '990::bigint', 'true', '0' ],
	relations => [ 'NULL', 25 ],
	queries => [ '100 / g::float8', 23, 'g::bigint' ]);

# %change: a view's columns, or what its rows are made from; curve and words: how these functions begin;
# memory: reads with f times the memory, and the note (with what there is, as with 0.8 times, as suggested, as with 0.9)
sub pretend
{
	my (%change) = @_;
	my $sql = '';
	for my $view (sort keys %usual)
	{
		my %row = (recommended_cache => 'NULL::text', %{ $usual{$view} }, %{ $change{$view} // {} });
		$sql .= "CREATE OR REPLACE VIEW working_set_$view AS SELECT " . join(', ', map { "$row{$_} AS $_" } @{ $columns{$view} }) . ";\n";
	}
	my %rows = (@rows, map { $_ => $change{$_} } grep { exists $from{$_} } keys %change);
	for my $view (sort keys %from)
	{
		$sql .= "CREATE OR REPLACE VIEW working_set_$view AS SELECT " . join(', ', @{ $columns{$view} }) . ' FROM (' . sprintf($from{$view}, @{ $rows{$view} }) . ") v;\n";
	}
	my $curve = $change{curve} // 'SELECT s, (100 * sqrt(s))::bigint, (819200 * sqrt(s))::bigint, (811008 * sqrt(s))::bigint, (827392 * sqrt(s))::bigint FROM unnest($1) s';
	$sql .= "CREATE OR REPLACE FUNCTION working_set_curve(periods integer[] DEFAULT NULL, kind text DEFAULT 'client', OUT seconds integer, OUT pages bigint,
		OUT bytes bigint, OUT low_bytes bigint, OUT high_bytes bigint) RETURNS SETOF record LANGUAGE sql AS \$sql\$$curve\$sql\$;";
	my ($reads, $note) = @{ $change{memory} // [ '1000 / f', 'NULL' ] };
	$sql .= "CREATE OR REPLACE FUNCTION working_set_memory_advice($arguments) RETURNS SETOF record LANGUAGE sql AS \$sql\$
		SELECT " . join(', ', $arguments =~ /OUT (\w+)/g) . "
		  FROM (SELECT NULL::text AS size, NULL::text AS setting, bytes AS memory_bytes, bytes / 4 AS shared_buffers_bytes, bytes / 2 AS page_cache_bytes,
		               0.9::float8 AS predicted_hit_ratio, 0.95::float8 AS predicted_os_hit_ratio, $reads AS predicted_disk_reads_per_second,
		               8192 * $reads AS predicted_disk_bytes_per_second, CASE WHEN now THEN 3145728 END::float8 AS measured_disk_bytes_per_second,
		               NULL::float8 AS predicted_read_seconds_per_second, NULL::float8 AS predicted_read_time_share, 0.02::float8 AS error,
		               now AS present, $note\::text AS note
		  FROM (SELECT round(25276502016 * f)::bigint AS bytes, f, false AS now
		          FROM unnest('{0.25,0.35,0.5,0.6,0.7,0.8,0.9,1,1.25,1.5,1.75,2,2.5,3,4}'::float8[]) f WHERE \$1 IS NULL
		        UNION ALL SELECT 25276502016, 0.8, true WHERE \$1 IS NULL
		        UNION ALL SELECT \$1, 0.9, false WHERE \$2 = 196083712) v) w\$sql\$;";
	my $words = $change{words} // q{'GROW shared_buffers 64 MB -> 187 MB  confidence LOW' || chr(10) || 'Do: this'};
	$sql .= "CREATE OR REPLACE FUNCTION working_set() RETURNS text LANGUAGE sql AS \$sql\$SELECT $words\$sql\$;";
	$node->safe_psql('other', $sql);
	return;
}

# From a place in a picture to a value, by what is written at the ticks between two heights.
sub scale_of
{
	my ($svg, $from, $to) = @_;
	my %unit = ('' => 1, k => 1e3, M => 1e6, '%' => 0.01, bytes => 1, kB => 1024, MB => 1024**2, GB => 1024**3, TB => 1024**4);
	my @ticks = map { [ $_->{at}{y} - 4.5, text($_) =~ /^([\d.]+) ?(\S*)$/ ? $1 * $unit{$2} : die text($_) ] }
	  grep { $_->{at}{x} eq '78' && $_->{at}{y} >= $from && $_->{at}{y} <= $to } by_class($svg, 'text', 'tick');
	my ($a, $b) = (sort { $a->[0] <=> $b->[0] } @ticks)[ 0, -1 ];
	return sub { $a->[1] + ($b->[1] - $a->[1]) * ($_[0] - $a->[0]) / ($b->[0] - $a->[0]) };
}

# Largest difference of two lists, as a share of the largest value; coordinates have one decimal.
sub far
{
	my ($shown, $true) = @_;
	my ($most) = sort { $b <=> $a } map { abs } @$true;
	my ($worst) = sort { $b <=> $a } map { abs($shown->[$_] - $true->[$_]) / $most } 0 .. $#$true;
	return @$shown == @$true ? $worst : 'other lengths: ' . @$shown . ' and ' . @$true;
}

pretend();
my $tree = page_of('usual', $node, database => 'other');
is(pictures($tree), 'curve advice memory week relation query', 'all pictures are there');
says($tree, qr/GROW shared_buffers 64 MB -> 187 MB  confidence LOW.*Do: this.*because; and <so> on.*With it: effective_cache_size = '23313MB'/s,
	'what to do, and why');
says($tree, qr/The twenty largest; 5 more have 120 kB together/, 'and who is left out', 'relation');
says($tree, qr/A page counts for each query that used it\. The twenty largest of 23\. Their texts are shown if/, 'of the queries, too', 'query');
is(join('|', @{ (rows_of($tree, 'query'))[0] }), "query 23|23|r&23, d <1>|184 kB \x{b1} 16 kB|8.3 %|92 kB|4.3|43.5", 'a query has its figures');
is((rows_of($tree, 'query'))[16][0], 'all that are not kept apart', 'and so have all others together');
says($tree, qr/Suggested187 MBMemory24 GBReads, of query time12\.3 %The suggested size saves3\.4 %/, 'what it is worth is there');
my $place = scale_of(by_id($tree, 'curve'), 0, 330);
for (['want', 196083712], ['have', 67108864])
{
	my ($line) = by_class(by_id($tree, 'curve'), 'line', "rule $_->[0]");
	cmp_ok(far([ $place->($line->{at}{y1}) ], [ $_->[1] ]), '<', 0.01, "the line $_->[0] is where the scale says");
}
my @seconds = map { /^(\d+) s$/ } map { $_->[0] } rows_of($tree, 'curve');
my ($path) = map { $_->{at}{d} } by_class(by_id($tree, 'curve'), 'path', 'line set');
cmp_ok(far([ map { $place->($_) } $path =~ /[ML][\d.]+ ([\d.]+)/g ], [ map { 819200 * sqrt($_) } @seconds ]), '<', 0.01, 'and so is the curve');
cmp_ok(far([ map { exp(($_ - 84) / 544 * log($seconds[-1])) } $path =~ /[ML]([\d.]+) /g ], \@seconds), '<', 0.01, 'from left to right, too');
my $block = $node->safe_psql('postgres', 'SHOW block_size');
($path) = map { $_->{at}{d} } by_class(by_id($tree, 'curve'), 'path', 'band');
cmp_ok(far([ map { $place->($_) } $path =~ /[ML][\d.]+ ([\d.]+)/g ],
	[ map({ $block * 101 * sqrt($_) } @seconds), map({ $block * 99 * sqrt($_) } reverse @seconds) ]), '<', 0.01, 'and its bounds');
my @factors = (0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.63, 0.8, 1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5.6, 8, 11.2, 16);
my @dots = grep { $_->{at}{r} == 3 } by_class(by_id($tree, 'advice'), 'circle', 'set');
# the points of both panels are in no order
$place = scale_of(by_id($tree, 'advice'), 0, 210);
cmp_ok(far([ sort { $a <=> $b } map { $place->($_->{at}{cy}) } grep { $_->{at}{cy} < 210 } @dots ], [ map { 1 - 0.3 / (1 + $_) } @factors ]), '<', 0.01, 'predicted hit ratios, too');
$place = scale_of(by_id($tree, 'advice'), 210, 330);
cmp_ok(far([ sort { $b <=> $a } map { $place->($_->{at}{cy}) } grep { $_->{at}{cy} > 210 } @dots ], [ map { 1000 / $_ } @factors ]), '<', 0.01, 'and reads');
my $memory = by_id($tree, 'memory');
my @sizes = (0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4);
@dots = sort { $a->{at}{cx} <=> $b->{at}{cx} } grep { $_->{at}{r} == 3 } by_class($memory, 'circle', 'set');
$place = scale_of($memory, 0, 330);
cmp_ok(far([ map { $place->($_->{at}{cy}) } @dots ], [ map { 1000 / $_ } @sizes ]), '<', 0.01, 'reads from disk, too');
cmp_ok(far([ map { 0.25 * exp(($_->{at}{cx} - 84) / 544 * log(16)) } @dots ], \@sizes), '<', 0.01, 'against memory');
for (['have', 0.8], ['want', 0.9])
{
	my ($dot, @more) = grep { $_->{at}{r} != 3 } by_class($memory, 'circle', $_->[0]);
	is(scalar(@more), 0, "one dot $_->[0]");
	cmp_ok(far([ $place->($dot->{at}{cy}) ], [ 1000 / $_->[1] ]), '<', 0.01, 'is where its reads are');
	is($dot->{at}{cx}, '356.0', 'with the present memory');
}
is(join(' ', map { text($_) } by_class($memory, 'text', 'label have')), 'memory 24 GB', 'which has a name');
my @figures = rows_of($tree, 'memory');
is(scalar(@figures), 17, 'each size of memory has a row');
is(join('; ', map { join(' ', @$_[ 0 .. 4 ]) } @figures[ 0 .. 2 ]), join('; ', '24 GB, now 6026 MB 1250.0 9.77 95.00 %', '24 GB, suggested 6026 MB 1111.1 8.68 95.00 %',
	'6026 MB 1507 MB 4000.0 31.25 95.00 %'), 'what there is and what is suggested come first');
my ($line) = grep { /M[\d.]+ ([\d.]+)/ && $1 < 210 } map { $_->{at}{d} } by_class(by_id($tree, 'week'), 'path', 'line set');
my @values = sort { $a <=> $b } map { scale_of(by_id($tree, 'week'), 0, 210)->($_) } $line =~ /[ML][\d.]+ ([\d.]+)/g;
cmp_ok(far([ @values[ 0, -1 ] ], [ 140e6, 160e6 ]), '<', 0.02, 'the history of the week is where it should be');
my ($longest) = map { $_->{at}{d} } by_class(by_id($tree, 'curve'), 'path', 'line set');
like($longest, qr/^M84\.0 [\d.]+L.*L628\.0 [\d.]+h0$/, 'the curve fills its picture');
is(scalar(my @steps = $longest =~ /L/g), scalar(rows_of($tree, 'curve')) - 1, 'with all of its points');

my %nothing = map { $_ => 'NULL::' . ($usual{recommendation}{$_} =~ /(bigint|text|float8)$/ ? $1 : /_at$/ ? 'timestamptz' : 'integer') }
  grep { !/^(status|method|reason|shared_buffers_bytes)$/ } keys %{ $usual{recommendation} };
my @cases = (
	[ 'no advice', { cache_advice => [ 'NULL::float8', 'NULL::float8', 'NULL::float8', q{'too <few> & "so"'::text} ] },
		'advice', qr/not known\.too <few> & "so"/, 'curve memory week relation query' ],
	[ 'advice but for some sizes', { cache_advice => [ 'CASE WHEN f < 0.3 OR f BETWEEN 0.9 AND 1.1 THEN NULL ELSE 1 - 0.1 / f END', '1 / f', '0.5::float8', 'NULL::text' ] },
		'advice', qr/The figures/, 'curve advice memory week relation query' ],
	[ 'a perfect cache', { cache_advice => [ '1::float8', '0::float8', '0::float8', 'NULL::text' ], recommendation => { current_hit_ratio => '1::float8' } },
		'advice', qr/100 %/, 'curve advice memory week relation query' ],
	[ 'a useless cache', { cache_advice => [ '0::float8', '1e9 * f', '1::float8', 'NULL::text' ], recommendation => { current_hit_ratio => '0::float8' } },
		'advice', qr/\b0 %/, 'curve advice memory week relation query' ],
	[ 'no hit ratio', { cache_advice => [ '1 - 0.1 / f', 'NULL::float8', 'NULL::float8', q{'because'::text} ] },
		'advice', qr/because/, 'curve advice memory week relation query' ],
	[ 'no memory advice', { memory => [ 'NULL::float8', q{'too <few> & "so"'} ] },
		'memory', qr/^What more or less memory would do: This is not known\.too <few> & "so"$/, 'curve advice week relation query' ],
	[ 'memory advice with a doubt', { memory => [ 'CASE WHEN f < 0.5 THEN NULL ELSE 100 / f END', q{CASE WHEN f > 1 THEN 'a <doubt>' END} ] },
		'memory', qr/a <doubt>The figures.*not known/, 'curve advice memory week relation query' ],
	[ 'nothing is read from disk', { memory => [ '0::float8', 'NULL' ] }, 'memory', qr/24 GB, now6026 MB0\.00\.00/, 'curve advice memory week relation query' ],
	[ 'no history', { history => [ 'NULL::bigint', '0::bigint', '0::bigint', 'false', '0' ] }, 'week', qr/There is no history yet/, 'curve advice memory relation query' ],
	[ 'one row of history', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm = 1', '0' ] }, 'week', qr/50\.00 %/, 'curve advice memory week relation query' ],
	[ 'an old history', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm > 2000', '0' ] }, 'week', qr/Nothing was recorded in the last week/, 'curve advice memory relation query' ],
	[ 'history with holes', { history => [ 'NULLIF(m, 7)::bigint', '(m % 10)::bigint', '(m % 10)::bigint', 'm % 7 < 2', '0' ] }, 'week', qr/100\.00 %/, 'curve advice memory week relation query' ],
	[ 'history from the future', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm < 103', '1 day' ] }, 'week', qr/50\.00 %/, 'curve advice memory week relation query' ],
	[ 'nothing but the future', { history => [ '8192::bigint', '10::bigint', '5::bigint', 'm < 3', '10 days' ] }, 'week', qr/Nothing was recorded/, 'curve advice memory relation query' ],
	[ 'no relations', { relations => [ 'NULL', 0 ] }, 'relation', qr/No sampled page was used in the last five minutes/, 'curve advice memory week query' ],
	[ 'an index that nobody uses', { relations => [ q{'unused'}, 1 ] }, 'relation', qr/others would read less without them: public\.unused \(8192 bytes, 1\.0 reads per second\)\./,
		'curve advice memory week relation query' ],
	[ 'one that enforces something', { relations => [ q{'t_b_key'}, 1 ] }, 'relation', qr/^(?!.*others would read)/, 'curve advice memory week relation query' ],
	[ 'no queries', { queries => [ '1::float8', 0, 'g::bigint' ] }, 'query', qr/No sampled page was used in the last five minutes/, 'curve advice memory week relation' ],
	[ 'no identifiers', { queries => [ '1::float8', 2, 'NULL::bigint' ] }, 'query', qr/There are no identifiers: set compute_query_id to on.*without an identifier/,
		'curve advice memory week relation query' ],
	[ 'no reads of queries', { queries => [ 'NULL::float8', 1, 'g::bigint' ] }, 'query', qr/query 11r&1, d <1>8192 bytes/, 'curve advice memory week relation query' ],
	[ 'a curve of one row', { curve => q{SELECT 60, 1000::bigint, 8192000::bigint, 8110080::bigint, 8273920::bigint} }, 'curve', qr/60 s1000/, 'curve advice memory week relation query' ],
	[ 'a curve of nothing', { curve => q{SELECT s, 0::bigint, 0::bigint, 0::bigint, 0::bigint FROM unnest($1) s},
			recommendation => { map { $_ => '0::bigint' } qw(working_set_bytes low_bytes high_bytes plateau_end_bytes recommended_cache_bytes peak_cache_bytes) } },
		'curve', qr/0 bytes/, 'curve advice memory week relation query' ],
	[ 'no curve', { curve => q{SELECT 1, 1::bigint, 1::bigint, 1::bigint, 1::bigint WHERE false} }, 'curve', qr/The curve is not known/, 'advice memory week relation query' ],
	[ 'a sketch that is full', { curve => q{SELECT s, 1000000000000 + s, 8192000000000000 + s, 7372800000000000, NULL::bigint FROM unnest($1) s},
			recommendation => { high_bytes => 'NULL::bigint', working_set_bytes => '8192000000000000::bigint' } }, 'curve', qr/to more/, 'curve advice memory week relation query' ],
	[ 'shared_buffers far above', { recommendation => { shared_buffers_bytes => '1099511627776::bigint', verdict => "'shrink'::text" } },
		'curve', qr/shared_buffers 1024 GB, above/, 'curve advice memory week relation query' ],
	[ 'memory is not known', { recommendation => { map { $_ => $nothing{$_} } qw(memory_limit_bytes suggested_shared_buffers suggested_effective_cache_size) } },
		undef, qr/^(?!.*Memory)/s, 'curve advice memory week relation query' ],
	[ 'it exceeds memory', { recommendation => { verdict => "'exceeds memory'::text" }, words => "'EXCEEDS MEMORY: and so on'" }, undef, qr/EXCEEDS MEMORY: and so on/, 'curve advice memory week relation query' ],
	[ 'no recommendation', { recommendation => { %nothing, status => "'collecting'::text" }, words => "'COLLECTING: wait'" }, undef, qr/COLLECTING: wait/, 'curve advice memory week relation query' ],
	[ 'a stale one', { recommendation => { %nothing, status => "'stale'::text" }, info => { worker_pid => 'NULL::integer' }, words => "'STALE: because'" }, undef, qr/STALE: because/, 'curve advice memory week relation query' ],
	[ 'nothing at all', {
			recommendation => { %nothing, status => "'not tracking'::text", reason => "'because'::text" },
			info => { tracking => 'false', map({ $_ => 'NULL::bigint' } qw(lookups hits evictions)), since => 'NULL::timestamptz', last_saved => 'NULL::timestamptz' },
			history => [ '0::bigint', '0::bigint', '0::bigint', 'false', '0' ], relations => [ 'NULL', 0 ], queries => [ '1::float8', 0, 'g::bigint' ],
			memory => [ 'NULL::float8', q{'because'} ],
			cache_advice => [ 'NULL::float8', 'NULL::float8', 'NULL::float8', 'NULL::text' ], curve => 'SELECT 1, 1::bigint, 1::bigint, 1::bigint, 1::bigint WHERE false' },
		undef, qr/because/s, '' ],
	[ 'words that are hostile', { words => q{concat('<b>', chr(1), chr(10), '<i>&amp;')} }, undef, qr/<b>\?.*<i>&amp;/s, 'curve advice memory week relation query' ],
	[ 'text that is hostile', { recommendation => { reason => q{concat('<script>alert(1)</script>; &amp; " '' ]]>', chr(1), chr(65534), chr(233))::text}, status => q{'<i>'::text},
			method => q{'<b>'::text}, verdict => q{'<u>'::text} }, info => { version => q{'<s>'::text}, reason => q{'&&&'::text} } },
		undef, qr/<script>alert\(1\)<\/script>/, 'curve advice memory week relation query' ]);
for (@cases)
{
	my ($case, $change, $section, $pattern, $pictures) = @$_;
	pretend(%$change);
	my $tree = page_of($case, $node, database => 'other', before => 'SET timezone = \'America/St_Johns\';');
	says($tree, $pattern, "$case: said", $section);
	is(pictures($tree), $pictures, "$case: and the pictures that there can be");
}
$node->stop;

done_testing();
