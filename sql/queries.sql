-- Who uses the cache: by query, role and application, and who may see it

\d working_set_queries

-- Two tables, of 1000 and of 500 pages.  Wait until the worker has seen what a query used.
-- Bound: four standard errors of the sample, and four of the sketch's size (0.5 % each); and
-- pages of the catalog: a query uses some while it runs, more while it is parsed.
CREATE TABLE thousand (id int, filler text);
CREATE TABLE five_hundred (id int, filler text);
ALTER TABLE thousand ALTER filler SET STORAGE PLAIN;
ALTER TABLE five_hundred ALTER filler SET STORAGE PLAIN;
INSERT INTO thousand SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 1000) g;
INSERT INTO five_hundred SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 500) g;
VACUUM (FREEZE, ANALYZE) thousand;
VACUUM (FREEZE, ANALYZE) five_hundred;
CREATE ROLE regress_ws_reader;
GRANT SELECT ON thousand TO regress_ws_reader;
CREATE FUNCTION wait_for(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	met boolean;
BEGIN
	-- ten minutes at least, with a pause between two questions
	FOR i IN 1 .. 6000 LOOP
		EXECUTE 'SELECT ' || condition INTO met;
		IF met THEN
			RETURN true;
		END IF;
		PERFORM pg_sleep(0.1);
	END LOOP;
	RETURN false;
END $$;
CREATE FUNCTION id_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (VERBOSE, FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 ->> 'Query Identifier';
END $$;
-- has it so many pages, and so many of its own?
CREATE FUNCTION uses(query text, expected int, own int) RETURNS boolean LANGUAGE sql AS $$
	SELECT coalesce(bool_and(abs(bytes / current_setting('block_size')::int - expected) <= bound AND abs(exclusive_bytes / current_setting('block_size')::int - own) <= bound), false)
	  FROM (SELECT *, 40 + 4 * standard_error_bytes / current_setting('block_size')::int AS bound FROM working_set_queries) q
	 WHERE q.queryid IS NOT DISTINCT FROM id_of(query) AND datname = current_database()
$$;
SET max_parallel_workers_per_gather = 0;

-- an identifier is computed only if a module or the setting wants one
SET compute_query_id = off;
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT count(filler) FROM thousand;
SELECT wait_for($$(SELECT abs(bytes / current_setting('block_size')::int - 1000) <= 150 + 4 * standard_error_bytes / current_setting('block_size')::int FROM working_set_queries WHERE queryid IS NULL AND datname = current_database())$$) AS seen;
SELECT count(*) FROM working_set_queries WHERE queryid IS NOT NULL;

SET compute_query_id = on;
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT count(filler) FROM thousand;
SELECT wait_for($$uses('SELECT count(filler) FROM thousand', 1000, 1000)$$) AS alone;
-- another one uses the same pages, and more
SELECT max(a.filler) > min(b.filler) AS more FROM thousand a, (SELECT min(filler) AS filler FROM five_hundred) b;
SELECT wait_for($$uses('SELECT max(a.filler) > min(b.filler) AS more FROM thousand a, (SELECT min(filler) AS filler FROM five_hundred) b', 1500, 500)$$) AS another,
       wait_for($$uses('SELECT count(filler) FROM thousand', 1000, 0)$$) AS no_longer_alone;
-- constants make no difference, the role does
SET ROLE regress_ws_reader;
SET application_name = 'a reader';
SELECT count(filler) FROM thousand WHERE id > 0;
RESET ROLE;
SET application_name = 'an owner';
SELECT count(filler) FROM thousand WHERE id > 1;
SELECT wait_for($$(SELECT count(*) = 2 FROM working_set_queries WHERE queryid = id_of('SELECT count(filler) FROM thousand WHERE id > 2') AND bytes > 900 * current_setting('block_size')::int)$$) AS two_roles;

-- by role and by application: no other column of these is known
SELECT wait_for($$(SELECT count(*) = 1 FROM working_set_queries('5 min', 'role') WHERE rolname = 'regress_ws_reader' AND abs(bytes / current_setting('block_size')::int - 1000) <= 150 + 4 * standard_error_bytes / current_setting('block_size')::int)$$) AS role;
SELECT datname, application_name, queryid, reads_per_second >= 0 AS reads, exclusive_bytes <= bytes AS exclusive
  FROM working_set_queries('5 min', 'role') WHERE rolname = 'regress_ws_reader';
SELECT application_name, datname, rolname, queryid, abs(bytes / current_setting('block_size')::int - 1000) <= 150 + 4 * standard_error_bytes / current_setting('block_size')::int AS pages
  FROM working_set_queries('5 min', 'application') WHERE application_name = 'a reader';
SELECT count(*) FROM working_set_queries('5 min', 'application') WHERE application_name = 'an owner';

-- whatever the rows are, they fit together
SELECT by, bool_and(bytes > 0 AND exclusive_bytes BETWEEN 0 AND bytes
                    AND reads_per_second >= 0 AND standard_error_bytes >= 0
                    AND (reads_saved_per_second IS NULL) = (reads_saved_standard_error IS NULL)) AS fine,
       sum(bytes) >= min(s.size) * 0.99 - 8 * current_setting('block_size')::int AS all_of_it, sum(exclusive_bytes) <= min(s.size) * 1.01 + 8 * current_setting('block_size')::int AS exclusive, bool_or(rolname = 'other' AND application_name = 'other') AS other
  FROM unnest('{query,role,application}'::text[]) AS by, working_set_queries('5 min', by), working_set_size('5 min') AS s (size)
 GROUP BY by ORDER BY by;

-- others than the privileged see the identifiers of their own role
GRANT EXECUTE ON FUNCTION working_set_queries(interval, text) TO regress_ws_reader;
GRANT SELECT ON working_set_queries TO regress_ws_reader;
SET application_name = 'a reader';
SET ROLE regress_ws_reader;
SELECT rolname = current_user AS own, bool_or(queryid IS NOT NULL) AS queryid, sum(bytes) > 0 AS bytes
  FROM working_set_queries WHERE bytes > 900 * current_setting('block_size')::int GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE application_name = 'a reader') AS own, count(*) FILTER (WHERE application_name = 'an owner') AS anothers,
       count(*) FILTER (WHERE application_name IS NULL) > 0 AS hidden
  FROM working_set_queries('5 min', 'application');
RESET ROLE;
-- those of pg_read_all_stats see all
GRANT pg_read_all_stats TO regress_ws_reader;
SET ROLE regress_ws_reader;
SELECT rolname = current_user AS own, bool_or(queryid IS NOT NULL) AS queryid
  FROM working_set_queries WHERE bytes > 900 * current_setting('block_size')::int GROUP BY 1 ORDER BY 1;
RESET ROLE;

-- a role that is gone has no name
REVOKE ALL ON FUNCTION working_set_queries(interval, text) FROM regress_ws_reader;
REVOKE ALL ON working_set_queries FROM regress_ws_reader;
REVOKE ALL ON thousand FROM regress_ws_reader;
DROP ROLE regress_ws_reader;
SELECT count(*) FROM working_set_queries('5 min', 'role') WHERE rolname IS NULL AND bytes > 900 * current_setting('block_size')::int;

-- other periods
SELECT count(*) FROM working_set_queries('0');
SELECT count(*) > 0 AS rows FROM working_set_queries('1 hour');
SELECT count(*) > 0 AS rows FROM working_set_queries(NULL);
SELECT count(*) > 0 AS rows FROM working_set_queries('5 min', NULL);
SELECT * FROM working_set_queries('-1 s');
SELECT * FROM working_set_queries('1 hour 1 ms');
SELECT * FROM working_set_queries('1 min', 'user');
\set VERBOSITY sqlstate
SELECT * FROM working_set_queries('1 min', '');
\set VERBOSITY default

-- nothing from before a reset
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT count(*) FROM working_set_queries WHERE bytes > 900 * current_setting('block_size')::int;
RESET compute_query_id;
RESET application_name;
DROP FUNCTION uses(text, int, int);
DROP FUNCTION id_of(text);
DROP FUNCTION wait_for(text);
DROP TABLE thousand, five_hundred;
