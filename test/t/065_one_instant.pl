# One statement answers for one instant, whatever is used meanwhile, and each has its own.

use lib 'test/t';
use server;
use sampling;

my $node = new_sampled();

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
		FOR i IN 1 .. 10 * patience LOOP
			in_time := approximate_working_set_size() > 3000;
			EXIT WHEN in_time;
			/* a time, since there is nothing else to wait for */
			PERFORM pg_sleep(0.1);
		END LOOP;
	END $$});
is($node->safe_psql('postgres', 'SELECT * FROM grown(' . patience() . ')'), 't|t', 'so do the statements of a function, and its expressions in time');

finish($node);
