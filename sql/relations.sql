-- What the working set consists of: relations, names that are gone, bad periods

\d working_set_relations

-- A table of 1000 pages, each used once by a scan.  Wait until the worker has seen all of it,
-- and what else is used meanwhile: its share is that of the sample, which the worker reads in
-- its turn, of a size that is up to date.  Bound: four standard errors of the sample, and
-- four of the sketch's size (0.5 % each).
CREATE TABLE thousand (id int, filler text);
ALTER TABLE thousand ALTER filler SET STORAGE PLAIN;
INSERT INTO thousand SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 1000) g;
VACUUM (FREEZE, ANALYZE) thousand;
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
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT count(filler) FROM thousand;
SELECT wait_for($$(SELECT abs(bytes / current_setting('block_size')::int - 1000) <= 20 + 4 * standard_error_bytes / current_setting('block_size')::float8 AND abs(resident_bytes - bytes) <= 4 * current_setting('block_size')::int FROM working_set_relations WHERE relid = 'thousand'::regclass)$$) AS seen;

-- one row, of the table and its visibility map
SELECT datname = current_database() AS datname, relation, relkind,
       bytes % current_setting('block_size')::int AS part_of_a_page, bytes <= pg_table_size('thousand') AS bytes,
       reused_bytes <= 8 * current_setting('block_size')::int AS used_once
  FROM working_set_relations WHERE relid = 'thousand'::regclass;
-- all of it, each relation once, largest first
SELECT sum(bytes) BETWEEN 0.9 * min(s.size) AND min(s.size) + count(*) * current_setting('block_size')::int AS all_of_it,
       count(relid) = count(DISTINCT relid) AS once, bool_and(relation <> '' AND bytes > 0) AS named
  FROM working_set_relations, working_set_size(interval '5 min') AS s (size);
SELECT relation FROM working_set_relations LIMIT 1;

-- Density: a row to a page, of its header and pointer, a number, and the text with its length.
-- Of what sessions count, the server knows after a second, or at once if asked to.
CREATE TABLE bloated (id int, filler text);
ALTER TABLE bloated ALTER filler SET STORAGE PLAIN;
INSERT INTO bloated SELECT g, repeat('x', current_setting('block_size')::int - 1192) FROM generate_series(1, 200) g;
CREATE INDEX bloated_id ON bloated (id);
SELECT pg_stat_force_next_flush();
SELECT density FROM working_set_relations WHERE relid = 'bloated'::regclass AND density IS NOT NULL;
VACUUM (FREEZE, ANALYZE) bloated;
SELECT count(filler) FROM bloated;
CREATE FUNCTION has_density(expected float8) RETURNS boolean LANGUAGE sql AS $$
	SELECT abs(density - expected * (24 + 4 + 4 + 4 + current_setting('block_size')::int - 1192) / current_setting('block_size')::int) < 0.01
	  FROM working_set_relations WHERE relid = 'bloated'::regclass
$$;
SELECT wait_for('has_density(1)') AS full;
DELETE FROM bloated WHERE id % 2 = 0;
SELECT pg_stat_force_next_flush();
SELECT wait_for('has_density(0.5)') AS half_full;
-- only tables have one
SELECT count(*) FILTER (WHERE density IS NOT NULL AND (relkind NOT IN ('r', 'm') OR density NOT BETWEEN 0 AND 1)) AS wrong,
       count(*) FILTER (WHERE (reads_saved_per_second IS NULL) <> (reads_saved_standard_error IS NULL)) AS without_error
  FROM working_set_relations;
-- a column that ANALYZE has not seen may be of any width
ALTER TABLE bloated ADD later text;
SELECT density FROM working_set_relations WHERE relid = 'bloated'::regclass;
DROP FUNCTION has_density(float8);
DROP TABLE bloated;

-- other periods
SELECT count(*) FROM working_set_relations('0');
SELECT count(*) > 0 AS rows FROM working_set_relations('1 hour');
SELECT count(*) > 0 AS rows FROM working_set_relations(NULL);
SELECT * FROM working_set_relations('-1 s');
SELECT * FROM working_set_relations('1 hour 1 ms');
\set VERBOSITY sqlstate
SELECT * FROM working_set_relations('-1 s');
SELECT * FROM working_set_relations('1 hour 1 ms');
\set VERBOSITY default

-- rewritten: the old file is nobody's now
SELECT 'file ' || pg_relation_filenode('thousand') AS old \gset
VACUUM (FULL) thousand;
SELECT relid IS NULL AND relkind IS NULL AS nameless, bytes > 900 * current_setting('block_size')::int AS bytes, resident_bytes
  FROM working_set_relations WHERE relation = :'old';
-- dropped
SELECT count(filler) FROM thousand;
SELECT 'file ' || pg_relation_filenode('thousand') AS new \gset
SELECT wait_for($$(SELECT bytes > 900 * current_setting('block_size')::int FROM working_set_relations WHERE relid = 'thousand'::regclass)$$) AS seen;
DROP TABLE thousand;
SELECT relid IS NULL AND relkind IS NULL AS nameless, bytes > 900 * current_setting('block_size')::int AS bytes, resident_bytes
  FROM working_set_relations WHERE relation = :'new';

-- asking is no use of the pages asked about: the dropped table's are not used again
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT count(*) FROM working_set_relations('1 hour') WHERE relation = :'new';
DROP FUNCTION wait_for(text);
