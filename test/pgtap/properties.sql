-- Properties of the answers, on a server that does other things, too.
--
-- Bounds: the standard error of n pages is at most 0.589 n / sqrt(registers), 0.46 %
-- with 16384; five of them are allowed, so a sound build fails once in a million
-- runs.  Catalogs that a statement looks at come on top: 200 pages.

\set ECHO none
\set QUIET 1
\pset format unaligned
\pset tuples_only true
\pset pager off
\set ON_ERROR_STOP 1

BEGIN;
CREATE EXTENSION IF NOT EXISTS pgtap;
CREATE EXTENSION working_set;
SET max_parallel_workers_per_gather = 0;
SET synchronize_seqscans = off;

SELECT plan(21);

CREATE FUNCTION pg_temp.five_errors(pages float8) RETURNS float8 LANGUAGE sql AS
  $$SELECT 5 * 0.589 * pages / sqrt(current_setting('working_set.registers')::int)$$;

-- A table of so many pages, one row each.
CREATE PROCEDURE pg_temp.make_table(name text, pages int) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE %I (id int, filler text)', name);
  EXECUTE format('ALTER TABLE %I ALTER filler SET STORAGE PLAIN', name);
  EXECUTE format('INSERT INTO %I SELECT g, repeat(''x'', current_setting(''block_size'')::int - 1192) FROM generate_series(1, %s) g', name, pages);
END $$;

-- Scan a table and say what that was: estimate since a reset.
CREATE FUNCTION pg_temp.size_of_scan(name text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  PERFORM working_set_reset();
  EXECUTE format('SELECT count(filler) FROM %I', name);
  RETURN approximate_working_set_size();
END $$;

CALL pg_temp.make_table('a', 300);
CALL pg_temp.make_table('b', 1000);
CALL pg_temp.make_table('c', 3000);

-- every page of a scan is counted, and none of a removal or a second look
SELECT cmp_ok(pg_temp.size_of_scan(name), '>=', floor(pages - pg_temp.five_errors(pages))::bigint,
              name || ': all pages of a scan are counted')
  FROM (VALUES ('a', 300), ('b', 1000), ('c', 3000)) AS t (name, pages);
SELECT cmp_ok(pg_temp.size_of_scan(name), '<=', ceil(pages + 200 + pg_temp.five_errors(pages))::bigint,
              name || ': once')
  FROM (VALUES ('a', 300), ('b', 1000), ('c', 3000)) AS t (name, pages);

-- scanned five times, a table is as large as scanned once
CREATE TEMP TABLE once AS SELECT pg_temp.size_of_scan('c') AS pages;
SELECT count(filler) FROM c \g /dev/null
SELECT count(filler) FROM c \g /dev/null
SELECT count(filler) FROM c \g /dev/null
SELECT cmp_ok(abs(approximate_working_set_size() - pages), '<=', ceil(200 + 2 * pg_temp.five_errors(3000))::bigint,
              'scanned again, nothing is added') FROM once;

-- Windows: first c, eight seconds later a.  The short window is five seconds longer than
-- what has passed since the eight were over, so that it holds all of a and nothing of c,
-- however slow this is.  The eight have to be a time: ages are by the server's clock.
SELECT count(filler) FROM c \g /dev/null
SELECT pg_sleep(8) \g /dev/null
CREATE TEMP TABLE rested AS SELECT clock_timestamp() AS at;
SELECT count(filler) FROM a \g /dev/null
CREATE TEMP TABLE curve AS
  SELECT c.*, c.seconds NOT IN (1, 3600) AS short
    FROM rested, working_set_curve(ARRAY[1, floor(extract(epoch FROM clock_timestamp() - at))::int + 5, 3600]) AS c;
SELECT cmp_ok(pages, '>=', floor(300 - pg_temp.five_errors(300))::bigint, 'the last seconds hold the last table')
  FROM curve WHERE short;
SELECT cmp_ok(pages, '<=', 300 + 200 + ceil(pg_temp.five_errors(500))::bigint, 'and not the one before')
  FROM curve WHERE short;
SELECT cmp_ok(pages, '>=', floor(3300 - pg_temp.five_errors(3300))::bigint, 'a longer window holds both')
  FROM curve WHERE seconds = 3600;
SELECT ok(bool_and(low_bytes <= bytes AND bytes <= high_bytes), 'bounds enclose the estimate') FROM curve;
SELECT ok(bool_and(pages >= before), 'the curve rises')
  FROM (SELECT pages, lag(pages, 1, 0::bigint) OVER (ORDER BY seconds) AS before FROM curve) AS c;

-- one moment, one answer: whatever windows are asked for together
SELECT is(count(DISTINCT pages), 1::bigint, 'a window asked for twice is the same')
  FROM working_set_curve('{7,7,7,1,7,3600,7}') WHERE seconds = 7;
-- A window long past changes only by what is looked up now.
SELECT cmp_ok(abs(max(pages) - min(pages)), '<=', 200::bigint,
              'neighbouring windows without a lookup between them agree')
  FROM working_set_curve('{1000,1001,1500,2000,3000,3600}');

-- the seconds function, the bytes function and the curve agree
SELECT cmp_ok(abs(approximate_working_set_size_seconds(3600) - pages), '<=', 200::bigint, 'seconds and curve agree')
  FROM working_set_curve('{3600}');
SELECT cmp_ok(abs(working_set_size('1 hour') / current_setting('block_size')::bigint - pages), '<=', 200::bigint,
              'bytes and curve agree')
  FROM working_set_curve('{3600}');

-- a temporary table has buffers of its own: not seen, as the documentation says
CREATE TEMP TABLE temporary AS SELECT g AS id, repeat('x', 1000) AS filler FROM generate_series(1, 14000) g;
SELECT cmp_ok(pg_temp.size_of_scan('temporary'), '<=', 300::bigint, 'temporary tables are not seen');

-- parallel workers are clients
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT working_set_reset() \g /dev/null
SELECT count(filler) FROM c \g /dev/null
SELECT cmp_ok(approximate_working_set_size(), '>=', floor(3000 - pg_temp.five_errors(3000))::bigint,
              'pages read by parallel workers are counted');

-- and lookups are counted once, not by worker and leader
SELECT hits AS before FROM working_set_info \gset
SELECT count(filler) FROM c \g /dev/null
SELECT hits AS after FROM working_set_info \gset
SELECT cmp_ok(:after - :before, '<', 5500, 'hits of parallel workers are counted once');
SELECT cmp_ok(:after - :before, '>=', 3000, 'all of them');
RESET max_parallel_workers_per_gather;

-- plateau_end against the rule, written out in SQL, on random series
SELECT setseed(0.5) \g /dev/null
CREATE TEMP TABLE series AS
  SELECT i, array_agg(value ORDER BY t) AS s
    FROM (SELECT i, t, CASE WHEN i % 2 = 0 THEN random() * 10 ELSE sum(floor(random() * 4)) OVER (PARTITION BY i ORDER BY t) END AS value
            FROM generate_series(1, 500) i, generate_series(1, 60) t) AS v
   GROUP BY i;
SELECT is(count(*), 0::bigint, 'plateau_end is the rule')
  FROM series, working_set_plateau_end(s) AS got,
       LATERAL (SELECT coalesce(min(t), 60) AS t FROM generate_series(5, 56) t
                 WHERE greatest(0, s[t + 4] - s[t]) > greatest(0, s[t] - s[t - 4]) * 3.0) AS want
 WHERE got.index <> want.t OR got.value <> s[want.t];

SELECT * FROM finish();
ROLLBACK;
