-- which_instance.sql - which of these machines is enough for this load, and what does it cost?
--
--   psql -X -d DATABASE -v file=machines.csv -f monitoring/which_instance.sql
--
-- The file has one machine in each line, without a header; what follows the price may be empty:
--
--   name,memory,price a month,price of a million reads,limit of reads a second
--   large,7.6GB,130,0.20,3000
--
-- For each machine working_set_memory_advice() predicts what the load of the last five minutes
-- would read from disk, with the best shared_buffers and with the present ones; the row is for
-- those that read less from disk. A machine is good enough if it reads no more than the variable
-- `reads' a second (by default a tenth more than is predicted for the present machine, or one
-- read more; if that has a note, no machine is known to be good enough), takes no more than the
-- share `share' of query time for reads (by default any), and reads no more than its own limit. The cheapest
-- of these is marked. A machine whose prediction has a note is not known to be good enough.
-- Prices are in any currency. The first row is the present machine.
--
-- It is for any PostgreSQL from 15 on, primary or standby, any schema that the extension is in,
-- and any member of pg_monitor; nothing is created in the database. After an error psql's status
-- is not 0. In a transaction that was begun before it does nothing, and reports that.

\set ON_ERROR_STOP on
\if :{?reads}
\else
	\set reads ''
\endif
\if :{?share}
\else
	\set share ''
\endif

\set ws_quiet :QUIET
\set QUIET on
-- its end would be the end of a transaction that was begun before
SELECT pg_catalog.now() OPERATOR(pg_catalog.<>) pg_catalog.statement_timestamp() AS ws_inside \gset
\if :ws_inside
	\set QUIET :ws_quiet
	\echo 'End the transaction first: which_instance.sql is one of its own.'
	\quit
\endif
\if :{?file}
	\set ws_csv `cat :'file'`
\else
	\set QUIET :ws_quiet
	DO $$ BEGIN RAISE 'name the machines: psql -v file=machines.csv -f which_instance.sql'; END $$;
\endif
BEGIN READ ONLY;
-- nobody's objects but the server's, and those of the extension by their schema
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) AS path \gset ws_
SELECT (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
         WHERE e.extname = 'working_set') AS ws_schema \gset
\if :{?ws_schema}
\else
	ROLLBACK;
	\set QUIET :ws_quiet
	DO $$ BEGIN RAISE 'the extension working_set is not installed in this database'; END $$;
\endif
SELECT :'ws_csv' ~ '[^[:space:]]' AS ws_any \gset
\if :ws_any
\else
	ROLLBACK;
	\set QUIET :ws_quiet
	DO $$ BEGIN RAISE 'there is no machine in the file'; END $$;
\endif

WITH line AS (
	SELECT string_to_array(line, ',') AS f
	  FROM regexp_split_to_table(:'ws_csv', E'\r?\n') line
	 WHERE line ~ '[^[:space:]]'
), machine AS (
	SELECT btrim(f[1]) AS name,
	       btrim(f[2]) AS size_given,
	       pg_size_bytes(coalesce(btrim(f[2]), '')) AS memory,
	       nullif(btrim(f[3]), '')::numeric AS price,
	       coalesce(nullif(btrim(f[4]), '')::numeric, 0) AS million,
	       nullif(btrim(f[5]), '')::float8 AS most
	  FROM line
), present AS (
	SELECT * FROM :ws_schema.working_set_memory_advice WHERE present
), bound AS (
	SELECT coalesce(nullif(:'reads', '')::float8,
	                CASE WHEN now.note IS NULL
	                     THEN greatest(1.1 * now.predicted_disk_reads_per_second, now.predicted_disk_reads_per_second + 1)
	                END) AS reads,
	       coalesce(nullif(:'share', '')::float8, 1) AS share
	  FROM present now
), predicted AS (
	SELECT m.*, a.*,
	       a.predicted_disk_reads_per_second AS reads,
	       m.price + (a.predicted_disk_reads_per_second * 86400 * 365 / 12 / 1e6)::numeric * m.million AS cost
	  FROM machine m, present now, LATERAL (
	       SELECT a.*
	         FROM (VALUES (1, NULL::bigint), (2, now.shared_buffers_bytes)) division (n, shared_buffers),
	              LATERAL :ws_schema.working_set_memory_advice(m.memory, division.shared_buffers) a
	        ORDER BY a.note IS NOT NULL, CASE WHEN a.note IS NULL THEN a.predicted_disk_reads_per_second END, n
	        LIMIT 1) a
), classified AS (
	SELECT p.*,
	       CASE WHEN p.reads IS NULL OR b.reads IS NULL OR p.note IS NOT NULL THEN 'not known'
	            WHEN p.reads > p.most THEN 'above its limit of reads'
	            WHEN p.reads > b.reads THEN 'reads too much'
	            WHEN b.share < 1 AND p.predicted_read_time_share IS NULL THEN 'read time not known'
	            WHEN p.predicted_read_time_share > b.share THEN 'waits too long'
	            ELSE 'enough' END AS verdict
	  FROM predicted p, bound b
), shown AS (
	SELECT name, size_given, cost,
	       CASE WHEN verdict = 'enough' AND cost = min(cost) FILTER (WHERE verdict = 'enough') OVER ()
	            THEN 'cheapest that is enough' ELSE verdict END AS verdict,
	       memory_bytes, shared_buffers_bytes, predicted_hit_ratio, predicted_os_hit_ratio, error, reads,
	       predicted_disk_bytes_per_second, predicted_read_time_share, note
	  FROM classified
	 UNION ALL
	SELECT to_char(now(), '"now, "YYYY-MM-DD HH24:MI'), round(memory_bytes / 1048576.0) || 'MB', NULL, 'the present machine',
	       memory_bytes, shared_buffers_bytes, predicted_hit_ratio, predicted_os_hit_ratio, error, predicted_disk_reads_per_second,
	       predicted_disk_bytes_per_second, predicted_read_time_share, note
	  FROM present
)
SELECT name AS machine,
       size_given AS memory,
       round(shared_buffers_bytes / 1048576.0) || 'MB' AS shared_buffers,
       round((1 - (1 - predicted_hit_ratio) * (1 - predicted_os_hit_ratio))::numeric, 4) AS cached,
       round(((1 - predicted_hit_ratio) * error)::numeric, 4) AS error,
       round(reads::numeric) AS "reads/s",
       round((predicted_disk_bytes_per_second / 1048576)::numeric, 1) AS "MB/s",
       round(predicted_read_time_share::numeric, 2) AS "read time",
       round(cost, 2) AS "a month",
       verdict,
       coalesce(note, '') AS note
  FROM shown
 ORDER BY verdict <> 'the present machine', cost, memory_bytes;
COMMIT;
\set QUIET :ws_quiet
