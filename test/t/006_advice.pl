# The cache advice: for the present size it is what the server itself counted; and after a restart,
# pages that were read through a ring are in no cache that would use one.  Beside it, one statement answers
# for one instant, whatever is used meanwhile, and each has its own.

use lib 'test/t';
use server;
use sampling;

my $node = new_sampled();

wait_until($node, 'sample_rate > 0 FROM working_set_info', 'pages are sampled');
look_up($node, 40000);
$node->safe_psql('postgres', 'SELECT working_set_reset()');
look_up($node, 40000);
wait_until($node, q{predicted_hit_ratio IS NOT NULL FROM working_set_cache_advice WHERE size_factor = 1},
	'there is advice');
# What is predicted rests on the sampled pages of the 4000, of which some share
# is in the cache; bound: four standard errors of such a share.
becomes($node, 'postgres', q{
	SELECT abs(a.predicted_hit_ratio - i.hits::float8 / i.lookups) < 4 * sqrt(0.25 / (4000 * i.sample_rate)),
	       a.note IS NULL OR a.note ~ '^(what other sizes would do is not known|the cache is still filling, probably until|reads are uncertain: )',
	       a.error BETWEEN 0 AND 1
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1},
	't|t|t', 'at the present size it is what was measured')
  or diag($node->safe_psql('postgres', q{
	SELECT 'predicted ' || a.predicted_hit_ratio || ', measured ' || i.hits::float8 / i.lookups || ', rate ' ||
	       i.sample_rate || ', dropped ' || i.dropped_samples || ', ' || coalesce(a.note, 'no note')
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1}));
is($node->safe_psql('postgres', q{
	SELECT l.predicted_hit_ratio > h.predicted_hit_ratio, h.predicted_reads_per_second > p.predicted_reads_per_second,
	       l.predicted_reads_per_second < 0.5 * p.predicted_reads_per_second
	  FROM working_set_cache_advice AS h, working_set_cache_advice AS p, working_set_cache_advice AS l
	 WHERE h.size_factor = 0.5 AND p.size_factor = 1 AND l.size_factor = 2.5}),
	't|t|t', 'half of it would read more, and two and a half times, which hold the table, little');

# ---- one instant

# (for a second; a statement that takes longer proves nothing)
my ($falls, $differences, $asked) = (0, 0, 0);
my $beside = in_background($node, 300000);
eventually(sub {
	my ($n, $down, $other, $in_time) = split /\|/, $node->safe_psql('postgres', q{
		WITH one AS MATERIALIZED (
			SELECT x, approximate_working_set_size_seconds(x) AS pages, working_set_size(make_interval(secs => x)) AS bytes
			  FROM (SELECT 0.1 * power(1.1, i) AS y FROM generate_series(1, 110) i) AS i, LATERAL ceil(y) AS c, CAST(c AS int) AS x),
		compared AS (
			SELECT one.pages < lag(one.pages) OVER (ORDER BY x) AS falls,
			       one.pages <> c.pages OR one.bytes <> c.bytes AS differs
			  FROM one, LATERAL working_set_curve(ARRAY[x]) AS c)
		SELECT count(*), count(*) FILTER (WHERE falls), count(*) FILTER (WHERE differs),
		       clock_timestamp() - statement_timestamp() < '0.9 s' FROM compared});
	return 0 if $in_time ne 't';
	$asked += $n;
	$falls += $down;
	$differences += $other;
	return $asked >= 15 * 110;
});
$beside->finish;
is($asked, 15 * 110, 'many windows were asked for beside a busy session');
is($falls, 0, 'no window is smaller than a shorter one');
is($differences, 0, 'and pages, bytes and the curve agree');
is($node->safe_psql('postgres', q{
	SELECT length(working_set_chart()) > 0, approximate_working_set_size(true) > 2 * approximate_working_set_size()}),
	't|t', 'a reset ends the instant');

# each statement has its own, also those of one message, and those of a function
my ($out, $err);
$node->psql('postgres', '', stdout => \$out, extra_params => [ '-c', q{
	SELECT working_set_reset() IS NULL; SELECT approximate_working_set_size() >= 4000;
	SELECT count(filler) = 0 FROM pages; SELECT approximate_working_set_size() >= 3800} ]);
like($out, qr/^f\nf\nf\nt$/, 'a statement after another of the same message sees what that one used');
$node->safe_psql('postgres', q{
	CREATE FUNCTION grown(patience int, OUT seen bool, OUT in_time bool) LANGUAGE plpgsql AS $$
	DECLARE
		before bigint;
	BEGIN
		PERFORM working_set_reset();
		before := approximate_working_set_size();
		PERFORM count(filler) FROM pages;
		EXECUTE 'SELECT approximate_working_set_size() > 3000' INTO seen;
		/* an expression shares the instant of the one before, but not for long */
		LOOP
			in_time := approximate_working_set_size() > 3000;
			EXIT WHEN in_time OR clock_timestamp() > now() + patience * interval '1 s';
		END LOOP;
	END $$});
is($node->safe_psql('postgres', 'SELECT * FROM grown(' . patience() . ')'), 't|t', 'so do the statements of a function, and its expressions in time');

# ---- turned on again, while the cache is full of pages that are not in the table

# (of 240,000 look-ups the first 4,000 find pages of which nothing is known, so a sixtieth may be off)
for my $enabled ('off', 'on')
{
	$node->safe_psql('postgres', "ALTER SYSTEM SET working_set.enabled = $enabled");
	$node->reload;
	wait_until($node, ($enabled eq 'on' ? '' : 'NOT ') . 'tracking FROM working_set_info', "turned $enabled");
	look_up($node, $enabled eq 'on' ? 240000 : 10000);
}
# (at once: in five minutes these look-ups are forgotten, which proves nothing)
my ($close, $late);
my $looked_up = $node->safe_psql('postgres', 'SELECT clock_timestamp()');
eventually(sub {
	($close, $late) = split /\|/, $node->safe_psql('postgres', qq{
		SELECT abs(a.predicted_hit_ratio - h) < 1 / 60.0 + 4 * sqrt(h * (1 - h) / (4000 * i.sample_rate)),
		       clock_timestamp() > '$looked_up'::timestamptz + '1 min'
		  FROM working_set_cache_advice AS a, working_set_info AS i, CAST(i.hits::float8 / i.lookups AS float8) AS h
		 WHERE a.size_factor = 1 AND i.lookups > 240000});
	return $close eq 't' || $late eq 't';
});
is($close, 't', 'turned on again, it is what was measured')
  or diag($node->safe_psql('postgres', q{
	SELECT a.predicted_hit_ratio, i.hits::float8 / i.lookups, i.sample_rate, a.note
	  FROM working_set_cache_advice AS a, working_set_info AS i WHERE a.size_factor = 1}));

# ---- a ring

# The table of 4000 pages goes through a ring where that is more than a quarter of the cache: up
# to four times the present size, not at eight times.
sub scan
{
	my ($times) = @_;
	$node->safe_psql('postgres', "SET max_parallel_workers_per_gather = 0;\n"
		  . "SELECT count(filler) FROM pages \\g /dev/null\n" x $times);
	return;
}
# (what made the table went through none, so nothing of that is kept)
$node->stop;
unlink $node->data_dir . '/pg_stat/working_set.saved';
$node->start;
wait_for_worker($node);
scan(5);
wait_until($node, 'sampled_pages > 100 FROM working_set_info', 'scanned');
$node->restart;
wait_for_worker($node);
scan(20);
wait_until($node, 'min(predicted_hit_ratio) IS NOT NULL FROM working_set_cache_advice', 'advice after a restart');
is($node->safe_psql('postgres', q{
	SELECT string_agg(size_factor || CASE WHEN predicted_hit_ratio < 0.5 THEN ' misses' WHEN predicted_hit_ratio > 0.9 THEN ' hits' END,
		', ' ORDER BY size_factor)
	  FROM working_set_cache_advice WHERE size_factor IN (1, 4, 8, 16)}),
	'1 misses, 4 misses, 8 hits, 16 hits', 'with a ring nearly all is read, without one it is there from the start');

finish($node);
