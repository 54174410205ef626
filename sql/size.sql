-- Size of the working set: what the functions accept and answer
CREATE EXTENSION working_set;

-- no time at all holds no page
SELECT approximate_working_set_size_seconds(0);
SELECT working_set_size('0');

-- windows of any length; longer than uptime is all that is known
-- (a second is long, but a busy machine may take it between a look-up and the question)
CREATE FUNCTION comes_true(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	met boolean;
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXECUTE 'SELECT (SELECT count(*) FROM pg_class) > 0 AND ' || condition INTO met;
		EXIT WHEN met;
	END LOOP;
	RETURN met;
END $$;
SELECT comes_true('approximate_working_set_size_seconds(1) > 0') AS a_second,
       approximate_working_set_size_seconds(2147483647) > 0 AS longest,
       approximate_working_set_size_seconds() > 0 AS since_reset,
       approximate_working_set_size_seconds(NULL) > 0 AS also_since_reset;
SELECT comes_true('working_set_size(interval ''1 second'') > 0') AS a_second,
       working_set_size('100 years') > 0 AS a_century,
       working_set_size() > 0 AS since_reset,
       working_set_size(NULL) > 0 AS also_since_reset;

-- whole pages
SELECT working_set_size() % current_setting('block_size')::bigint AS rest;

-- negative ones are refused
SELECT approximate_working_set_size_seconds(-1);
SELECT working_set_size('-1 second');
SELECT working_set_size('-2 months');
\set VERBOSITY sqlstate
SELECT approximate_working_set_size_seconds(-2147483648);
SELECT working_set_size('-1 second');
\set VERBOSITY default

-- reset forgets what was before, and says since when all is known
CREATE TABLE pages AS
  SELECT g AS id, repeat('x', current_setting('block_size')::int / 8 - 24) AS filler FROM generate_series(1, 7000) g;
VACUUM (FREEZE, ANALYZE) pages;
CREATE TEMP TABLE moment AS SELECT working_set_reset() AS at;
SELECT at <= clock_timestamp() AS past, at = since AS told
  FROM moment, working_set_info;
SELECT count(length(filler)) FROM pages;
-- 1000 pages, and those of a few catalogs; the bound is more than ten standard errors
-- (some servers extend a table by several pages at once)
SELECT relpages BETWEEN 1000 AND 1032 AS pages FROM pg_class WHERE relname = 'pages';
SELECT approximate_working_set_size() BETWEEN 1000 AND 1250 AS about_1000;
SELECT approximate_working_set_size(true) BETWEEN 1000 AND 1250 AS about_1000;
SELECT approximate_working_set_size(false) < 250 AS forgotten;
SELECT approximate_working_set_size(NULL) < 250 AS forgotten;

-- what Neon users write
SELECT count(*), min(duration_seconds::int), max(duration_seconds::int), bool_and(size > 0) AS sized
  FROM (SELECT x::text AS duration_seconds, approximate_working_set_size_seconds(x) AS size
          FROM (SELECT generate_series * 60 AS x FROM generate_series(1, 60)) AS t (x)) AS series;

DROP TABLE pages;
DROP FUNCTION comes_true(text);
