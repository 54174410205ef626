-- report.sql - writes what working_set knows as one page of HTML, with pictures.
--
--   \i monitoring/report.sql                            in psql, or:
--   psql -f monitoring/report.sql
--   psql -v file=cache.html -f monitoring/report.sql
--
-- The page is working_set_report.html in the current directory, or the variable `file'
-- (which may be '|command', as for \g).  Its permissions are what umask makes them, and it
-- has names of relations and texts of queries in it; do not write it to a directory like /tmp,
-- where others may have put a link in its place.  It needs nothing but itself: no script, no font,
-- no server.  It is for any PostgreSQL from 15 on, primary or standby, any schema that the
-- extension is in, and any member of pg_monitor; nothing is created in the database.
-- Relations are named if they are of the database that one is connected to.  Queries have their
-- text if pg_stat_statements is in that database and can be read; without it, their identifier.
--
-- If the extension is missing, not preloaded, or may not be read, there is an error that
-- says so, and no page.  Whatever else is not known yet, the page says itself.
--
-- What is changed meanwhile is put back: search_path, and psql's AUTOCOMMIT, ON_ERROR_STOP,
-- SINGLELINE, SHOW_CONTEXT and QUIET.  \pset and \o are not touched.  Variables that begin with
-- ws_report_ are this script's own, and are unset at the end; the setting ws_report.texts is empty.

\set ws_report_autocommit :AUTOCOMMIT
\set ws_report_on_error_stop :ON_ERROR_STOP
\set ws_report_singleline :SINGLELINE
\set ws_report_show_context :SHOW_CONTEXT
\set ws_report_quiet :QUIET
\set SINGLELINE off
\set AUTOCOMMIT on
\set ON_ERROR_STOP off
\set SHOW_CONTEXT never
\set ws_report_problem 'there is no report'
\set ws_report_hint 'See the error above.'
\unset ws_report_page
\set ws_report_file working_set_report.html
\if :{?file}
	\set ws_report_file :file
\endif
-- Where the server is, as this psql is connected to it; over a socket it is this machine.
\set ws_report_host ''
\set ws_report_port ''
\set ws_report_here `hostname`
\if :{?HOST}
	\set ws_report_host :HOST
\endif
\if :{?PORT}
	\set ws_report_port :PORT
\endif

-- Nobody's objects but the server's, whatever the path was: the query of the page finds its names by
-- this path, and the extension's by their schema; all others say where they are.
SELECT pg_catalog.current_setting('search_path') AS path \gset ws_report_
\if :ERROR
\else
	SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', false) AS newpath \gset ws_report_

	-- Is all there that is needed?  If it is, problem is NULL, and so not set.
	SELECT n.nspname AS schema, w.words[1] AS problem, w.words[2] AS hint
	  FROM (VALUES (1)) one
	  LEFT JOIN pg_catalog.pg_extension e ON e.extname = 'working_set'
	  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
	  LEFT JOIN LATERAL (
		SELECT pg_catalog.bool_or(CASE d.classid
		               WHEN 'pg_class'::pg_catalog.regclass THEN NOT pg_catalog.has_table_privilege(d.objid, 'SELECT')
		               WHEN 'pg_proc'::pg_catalog.regclass THEN NOT pg_catalog.has_function_privilege(d.objid, 'EXECUTE') END) AS out
		  FROM pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_proc p ON d.classid = 'pg_proc'::pg_catalog.regclass AND p.oid = d.objid
		 WHERE d.refclassid = 'pg_extension'::pg_catalog.regclass AND d.refobjid = e.oid AND d.deptype = 'e'
		   AND d.classid IN ('pg_class'::pg_catalog.regclass, 'pg_proc'::pg_catalog.regclass)
		   AND p.proname IS DISTINCT FROM 'working_set_reset') locked ON true
	 CROSS JOIN LATERAL (SELECT CASE
		WHEN e.oid IS NULL
		THEN ARRAY[pg_catalog.format('the extension working_set is not installed in database "%s"', pg_catalog.current_database()),
		           'CREATE EXTENSION working_set;']
		WHEN NOT EXISTS (SELECT FROM pg_catalog.pg_settings WHERE name = 'working_set.registers')
		THEN ARRAY['working_set must be loaded via shared_preload_libraries',
		           'Add "working_set" to shared_preload_libraries in postgresql.conf and restart the server.']
		WHEN locked.out OR NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE')
		THEN ARRAY[pg_catalog.format('role "%s" may not read what working_set knows', current_user),
		           CASE WHEN locked.out THEN pg_catalog.format('GRANT pg_monitor TO %I;', current_user)
		                ELSE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I;', n.nspname, current_user) END]
	       END) w(words) \gset ws_report_

	\if :{?ws_report_problem}
	\else
		\set ws_report_problem 'there is no report'
		\set ws_report_hint 'See the error above.'

		-- Texts of queries.  Much can keep them away: pg_stat_statements is not preloaded, not
		-- to be read, or has a text that has no form in the encoding of this database.
		\set QUIET on
		DO $$
		BEGIN
			PERFORM pg_catalog.set_config('ws_report.texts', '{}', false);
			DECLARE
				command pg_catalog.text;
				texts pg_catalog.text;
			BEGIN
				SELECT pg_catalog.format('SELECT json_object_agg(key, t) FROM (
						SELECT concat(s.dbid, '' '', s.queryid) AS key, min(regexp_replace(left(s.query, 2000), ''[[:space:]]+'', '' '', ''g'')) AS t
						  FROM %I.pg_stat_statements s
						 WHERE (s.dbid, s.queryid) IN (SELECT d.oid, q.queryid FROM %I.working_set_queries q
						                                 JOIN pg_database d ON d.datname = q.datname COLLATE "C" ORDER BY q.bytes DESC LIMIT 100)
						 GROUP BY 1) k', s.nspname, w.nspname)
				  INTO command
				  FROM pg_catalog.pg_namespace s, pg_catalog.pg_namespace w
				 WHERE s.oid = (SELECT extnamespace FROM pg_catalog.pg_extension WHERE extname = 'pg_stat_statements')
				   AND w.oid = (SELECT extnamespace FROM pg_catalog.pg_extension WHERE extname = 'working_set');
				IF command IS NOT NULL THEN
					EXECUTE command INTO texts;
					PERFORM pg_catalog.set_config('ws_report.texts', coalesce(texts, '{}'), false);
				END IF;
			EXCEPTION WHEN OTHERS THEN
				NULL;
			END;
		END
		$$;
		\set QUIET :ws_report_quiet

		-- The page.  One statement, so that all of it is of the same moment; what is read is
		-- read once, and all pictures and tables are made from that.  Pictures are rows: of
		-- panels, points, rules and ticks, which the same few lines scale and draw.  Text is
		-- put together by concat() and format(), to which NULL is nothing; || is for
		-- what is left out if a part of it is NULL.  There is no backslash, so that
		-- standard_conforming_strings does not matter.
		WITH
		-- ------------------------------------------------------------ what is known
		moment AS MATERIALIZED (
			SELECT statement_timestamp() AS at
		),
		info AS MATERIALIZED (SELECT * FROM :"ws_report_schema".working_set_info),
		rec AS MATERIALIZED (SELECT * FROM :"ws_report_schema".working_set_recommendation),
		advice AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY cache_bytes) AS n, * FROM :"ws_report_schema".working_set_cache_advice
		),
		-- the best divisions of memory (set), what there is (have), and shared_buffers as suggested (want)
		memory AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY series = 'set', series, memory_bytes) AS n, m.*
			  FROM (SELECT CASE WHEN a.present THEN 'have' ELSE 'set' END AS series, a.* FROM :"ws_report_schema".working_set_memory_advice a
			        UNION ALL
			        SELECT 'want', p.* FROM rec, :"ws_report_schema".working_set_memory_advice(memory_limit_bytes, pg_size_bytes(suggested_shared_buffers)) p
			         WHERE memory_limit_bytes IS NOT NULL AND suggested_shared_buffers IS NOT NULL) m
		),
		history AS MATERIALIZED (
			SELECT * FROM :"ws_report_schema".working_set_history, LATERAL (SELECT extract(epoch FROM at)::float8 AS x) e
		),
		-- the curve: from a second to as far back as is surely known, a day at most
		windows AS (
			SELECT array_agg(DISTINCT round(exp(ln(longest) * g / 60))::integer) AS seconds
			  FROM (SELECT least(86400, greatest(10, ceil(coalesce(extract(epoch FROM moment.at -
			                     least(since, (SELECT min(at) FROM history WHERE since <= pg_postmaster_start_time()))), 0))))::float8 AS longest
			          FROM moment, info) l, generate_series(0, 60) g
		),
		curve AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY c.seconds) AS n, c.seconds, c.bytes, c.pages,
			       c.low_bytes AS low, c.high_bytes AS high
			  FROM windows, :"ws_report_schema".working_set_curve(windows.seconds, text 'client') c
			 WHERE c.seconds > 0
		),
		relation AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY bytes DESC, relid, relation COLLATE "C") AS n, *, bytes / nullif(sum(bytes) OVER (), 0) AS share
			  FROM :"ws_report_schema".working_set_relations
		),
		query AS MATERIALIZED (
			SELECT row_number() OVER (ORDER BY bytes DESC, queryid, datname COLLATE "C", rolname COLLATE "C") AS n, *,
			       bytes / nullif(sum(bytes) OVER (), 0) AS share
			  FROM :"ws_report_schema".working_set_queries
		),
		known AS MATERIALIZED (SELECT * FROM json_each_text(nullif(current_setting('ws_report.texts', true), '')::json) AS k(key, t)),
		bar AS (
			SELECT 'relation' AS kind, n, bytes, share, standard_error_bytes::float8 AS error, resident_bytes AS resident, reused_bytes AS reused,
			       CASE WHEN relid IS NOT NULL THEN concat(relation, CASE WHEN datname IS NULL THEN ' (shared)' END)
			            WHEN datname IS NULL THEN concat(relation, ' of no database')
			            WHEN datname COLLATE "C" = current_database() THEN concat(relation, ' (dropped or rewritten)')
			            ELSE concat(datname, ': ', relation) END AS name,
			       CASE relkind WHEN 'r' THEN 'table' WHEN 'i' THEN 'index' WHEN 't' THEN 'TOAST table'
			                    WHEN 'm' THEN 'materialized view' WHEN 'S' THEN 'sequence' END AS what
			  FROM relation WHERE n <= 20
			UNION ALL
			SELECT 'query', n, bytes, share, standard_error_bytes, exclusive_bytes, NULL,
			       CASE WHEN rolname COLLATE "C" = 'other' AND application_name COLLATE "C" = 'other' THEN 'all that are not kept apart' ELSE coalesce(left(known.t, 80), 'query ' || queryid, 'without an identifier') END, queryid::text
			  FROM query LEFT JOIN pg_database d ON d.datname = query.datname COLLATE "C"
			  LEFT JOIN known ON known.key = concat(d.oid, ' ', queryid) WHERE n <= 20
		),
		-- All text that is not ours comes through here, and leaves as ASCII.  Names of databases can
		-- have any encoding: what is not UTF-8 (the pattern is of its bytes in hexadecimal), or not
		-- allowed in XML, is shown by its bytes.
		foreign_text(kind, n, t) AS (
			SELECT kind, n, name FROM bar
			UNION ALL SELECT 'who', n, concat_ws(', ', rolname, datname) FROM query WHERE n <= 20
			UNION ALL SELECT 'why', 0, rec.reason FROM rec
			-- indexes that enforce nothing, that nobody scans, and that cost others reads
			UNION ALL SELECT 'useless', 0, string_agg(format('%s (%s, %s reads per second)', name, pg_size_pretty(bytes), round(reads::numeric, 1)), ', ' ORDER BY reads DESC)
			            FROM (SELECT r.relation AS name, r.bytes, r.reads_saved_per_second AS reads
			                    FROM relation r JOIN pg_index i ON i.indexrelid = r.relid
			                   WHERE pg_stat_get_numscans(i.indexrelid) = 0 AND NOT (i.indisunique OR i.indisexclusion OR i.indisreplident)
			                     AND r.reads_saved_per_second > 2 * r.reads_saved_standard_error) u
			UNION ALL SELECT CASE line.n WHEN 1 THEN 'headline' ELSE 'summary' END, line.n, line.t
			            FROM regexp_split_to_table(:"ws_report_schema".working_set(), chr(10)) WITH ORDINALITY AS line(t, n)
			UNION ALL SELECT 'note', row_number() OVER (ORDER BY min(n)), note FROM advice WHERE note IS NOT NULL GROUP BY note
			UNION ALL SELECT 'memory_note', row_number() OVER (ORDER BY min(n)), note FROM memory WHERE note IS NOT NULL GROUP BY note
			UNION ALL SELECT v.kind, 0, v.t
			            FROM rec, info, LATERAL (VALUES
				('host', CASE WHEN :'ws_report_host' = '' OR :'ws_report_host' ~ '^[/@]' THEN :'ws_report_here' ELSE :'ws_report_host' END),
				('port', coalesce(nullif(:'ws_report_port', ''), current_setting('port'))), ('cluster', nullif(current_setting('cluster_name'), '')),
				('database', current_database()::text), ('server', current_setting('server_version')), ('zone', current_setting('TimeZone')),
				('version', info.version), ('state', info.reason), ('status', rec.status), ('suggested', rec.suggested_shared_buffers), ('suggested_ecs', rec.suggested_effective_cache_size)) v(kind, t)
		),
		clean AS (
			SELECT kind, n,
			       CASE WHEN getdatabaseencoding() = 'UTF8'
			             AND encode(raw, 'hex') ~ concat('^([0-7].|(c[2-9a-f]|d.)[89ab].|e0[ab].[89ab].|e[1-9abce]([89ab].){2}|ed[89].[89ab].',
				'|ef([89a].|b[0-9a-e])[89ab].|efbf([89a].|b[0-d])|f0[9ab].([89ab].){2}|f[1-3]([89ab].){3}|f48.([89ab].){2})*$')
			            THEN t ELSE encode(raw, 'escape') END AS t
			  FROM foreign_text, LATERAL (SELECT replace(t, chr(92), concat(chr(92), chr(92)))::bytea AS raw) r
			 WHERE t IS NOT NULL
		),
		safe AS MATERIALIZED (
			SELECT kind, n, coalesce(full_text, '') AS t, CASE WHEN length(t) <= 44 THEN full_text ELSE concat(beginning, '...') END AS short
			  FROM clean, LATERAL (
				SELECT string_agg(c, NULL ORDER BY i) AS full_text, string_agg(c, NULL ORDER BY i) FILTER (WHERE i <= 43) AS beginning
				  FROM (SELECT i, CASE WHEN ascii(c) < 32 OR ascii(c) BETWEEN 127 AND 159 OR ascii(c) IN (1564, 8206, 8207) OR
				                            ascii(c) BETWEEN 8232 AND 8238 OR ascii(c) BETWEEN 8294 AND 8297 THEN '?'
				                       WHEN ascii(c) > 127 OR strpos('&<>"''', c) > 0 THEN format('&#%s;', ascii(c)) ELSE c END AS c
				          FROM unnest(string_to_array(t, NULL)) WITH ORDINALITY AS u(c, i)) e) l
		),

		-- ------------------------------------------------------------ what is drawn
		-- history of the week that the suggestion is of, in buckets that one can see
		span AS MATERIALIZED (
			SELECT 'week' AS chart, start, finish, greatest(60, ceil((finish - start) / 480 / 60) * 60) AS bucket
			  FROM (SELECT finish, greatest(finish - 604800, least(finish - 600, min(x))) AS start
			          FROM (SELECT extract(epoch FROM at)::float8 AS finish FROM moment) m, history
			         WHERE x BETWEEN finish - 604800 AND finish GROUP BY finish) s
		),
		past AS MATERIALIZED (
			SELECT chart, floor(x / bucket) AS n, floor(x / bucket) * bucket AS x, greatest(bucket, 60 * max(minutes)) AS wide,
			       max(working_set_bytes) AS size,
			       sum(hits) / nullif(sum(lookups), 0) AS hit_ratio
			  FROM span, history WHERE history.x BETWEEN start AND finish
			 GROUP BY chart, bucket, floor(x / bucket)
		),
		-- a point of a line; low and high are a band around it, wide makes a step of it
		point(panel, series, n, x, wide, y, low, high) AS (
			SELECT 'curve', 'set', n, seconds::float8, 0::float8, bytes::float8, low::float8, coalesce(high::float8, 1e30) FROM curve
			UNION ALL
			SELECT 'hit', 'set', n, cache_bytes, 0, predicted_hit_ratio, greatest(0, predicted_hit_ratio - error),
			       least(1, predicted_hit_ratio + error)
			  FROM advice WHERE predicted_hit_ratio IS NOT NULL
			UNION ALL
			SELECT 'reads', 'set', n, cache_bytes, 0, predicted_reads_per_second, NULL, NULL
			  FROM advice WHERE predicted_reads_per_second IS NOT NULL
			UNION ALL
			SELECT 'disk', 'set', n, memory_bytes, 0, predicted_disk_reads_per_second, NULL, NULL
			  FROM memory WHERE series = 'set' AND predicted_disk_reads_per_second IS NOT NULL
			UNION ALL
			SELECT concat(chart, v.panel), v.series, n, x, wide, v.y, NULL, NULL
			  FROM past, LATERAL (VALUES ('_size', 'set', size::float8), ('_hit', 'set', hit_ratio::float8)) v(panel, series, y)
			 WHERE v.y IS NOT NULL
		),
		-- a value that is marked: a line across (y) or up and down (x), or a dot (both)
		mark(panel, series, x, y, label) AS (
			SELECT p.panel, m.series, NULL::float8, m.y::float8, m.label
			  FROM rec, (VALUES ('curve'), ('week_size')) p(panel),
			       LATERAL (VALUES ('have', shared_buffers_bytes, 'shared_buffers'),
				('want', pg_size_bytes(suggested_shared_buffers), 'suggested')) m(series, y, label)
			 WHERE m.y IS NOT NULL AND (p.panel = 'curve' OR m.series = 'have')
			UNION ALL
			SELECT p.panel, m.series, m.x::float8, NULL, CASE p.panel WHEN 'hit' THEN m.label END
			  FROM rec, (VALUES ('hit'), ('reads')) p(panel),
			       LATERAL (VALUES ('have', shared_buffers_bytes, 'shared_buffers'),
				('want', pg_size_bytes(suggested_shared_buffers), 'suggested')) m(series, x, label)
			 WHERE m.x BETWEEN (SELECT min(cache_bytes) FROM advice) AND (SELECT max(cache_bytes) FROM advice)
			UNION ALL
			SELECT 'hit', 'have', shared_buffers_bytes, current_hit_ratio, NULL FROM rec WHERE current_hit_ratio IS NOT NULL
			UNION ALL
			SELECT 'disk', 'have', memory_bytes, NULL, 'memory' FROM memory WHERE series = 'have'
			UNION ALL
			SELECT 'disk', series, memory_bytes, predicted_disk_reads_per_second, NULL
			  FROM memory WHERE series <> 'set' AND predicted_disk_reads_per_second IS NOT NULL
		),
		-- panels: two of a chart are one above the other, and share the lower one's axis
		box(chart, panel, up, height, steps, kind, title) AS (
			VALUES ('curve', 'curve', 28, 290, 5, 'bytes', 'distinct pages used in the window'),
			       ('advice', 'hit', 28, 170, 4, 'ratio', 'predicted hit ratio'),
			       ('advice', 'reads', 232, 86, 2, 'number', 'predicted reads per second'),
			       ('memory', 'disk', 28, 290, 5, 'number', 'predicted reads from disk per second'),
			       ('week', 'week_size', 28, 170, 4, 'bytes', 'size'),
			       ('week', 'week_hit', 232, 86, 2, 'ratio', 'hit ratio')
		),
		-- the largest, or for ratios the smallest, that a panel has to show; shared_buffers only
		-- if the rest is not squeezed by it, and not all of a wide band
		need AS (
			SELECT panel, max(top) AS top, min(bottom) AS bottom, min(x) AS first, max(x) AS final
			  FROM (SELECT panel, x, CASE WHEN high < 1e30 THEN high ELSE y END AS top,
			               greatest(coalesce(low, y), y - 0.2) AS bottom FROM point
			        UNION ALL
			        SELECT panel, NULL, y, y FROM mark WHERE y IS NOT NULL AND (series <> 'have' OR panel IN ('hit', 'disk'))) a
			 GROUP BY panel HAVING count(x) > 0
		),
		extent AS (
			SELECT box.*, first, final,
			       CASE kind WHEN 'bytes' THEN 1.08 * greatest(top, CASE WHEN shared_buffers_bytes <= 4 * top THEN shared_buffers_bytes END, 65536)
			                 WHEN 'number' THEN greatest(top, 1)
			                 ELSE greatest(1 - bottom, 0.002) END AS range
			  FROM box JOIN need USING (panel), rec
		),
		scale AS MATERIALIZED (
			SELECT e.chart, e.panel, e.up, e.height, e.kind, e.title, step,
			       CASE kind WHEN 'ratio' THEN greatest(0, 1 - step * ceil(range / step - 1e-9)) ELSE 0 END AS ylo,
			       CASE kind WHEN 'ratio' THEN 1 WHEN 'number' THEN step * ceil(range / step - 1e-9) ELSE range END AS yhi,
			       span.chart IS NULL AS logarithmic, coalesce(start, ln(first)) AS xlo,
			       CASE WHEN span.chart IS NOT NULL THEN finish
			            WHEN final > first THEN ln(final) ELSE ln(first * 2) END AS xhi,
			       row_number() OVER (PARTITION BY e.chart ORDER BY up DESC) = 1 AS lowest
			  FROM extent e LEFT JOIN span USING (chart),
			       LATERAL (SELECT CASE kind
			                       WHEN 'bytes' THEN 2 ^ ceil(ln(range / steps) / ln(2))
			                       WHEN 'ratio' THEN (SELECT min(s) FROM unnest('{0.0001,0.0002,0.0005,0.001,0.002,0.005,0.01,0.02,0.05,0.1,0.2,0.25,0.5}'::float8[]) s
			                                           WHERE range / s <= steps OR s = 0.5)
			                       ELSE (SELECT min(s * 10 ^ p) FROM unnest('{1,2,5}'::float8[]) s, generate_series(-4, 12) p
			                              WHERE range / (s * 10 ^ p) <= steps) END AS step) st
		),
		-- ticks: values and what is written beside them
		tick(panel, axis, v, label) AS (
			SELECT panel, 'y', v,
			       CASE kind WHEN 'ratio' THEN concat(trim_scale(round((100 * v)::numeric, 2)), ' %')
			                 WHEN 'bytes' THEN CASE v WHEN 0 THEN '0' ELSE pg_size_pretty(v::bigint) END
			                 ELSE CASE WHEN v >= 1e6 THEN concat(trim_scale(round((v / 1e6)::numeric, 2)), ' M')
			                           WHEN v >= 1e4 THEN concat(trim_scale(round((v / 1e3)::numeric, 2)), ' k')
			                           ELSE trim_scale(round(v::numeric, 4))::text END END
			  FROM scale, generate_series(0, 10) g, LATERAL (SELECT ylo + g * step AS v) t
			 WHERE v <= yhi * (1 + 1e-9)
			UNION ALL
			SELECT panel, 'x', ln(s), label
			  FROM scale, (VALUES (1, '1 s'), (5, '5 s'), (30, '30 s'), (120, '2 min'), (600, '10 min'), (3600, '1 h'), (21600, '6 h'), (86400, '1 day')) t(s, label)
			 WHERE chart = 'curve' AND ln(s) BETWEEN xlo - 1e-9 AND xhi + 1e-9
			UNION ALL
			SELECT panel, 'x', ln(size), CASE WHEN size BETWEEN 2 ^ 20 AND 10 * 2 ^ 30 THEN concat(round(size / 2 ^ 20), ' MB') ELSE pg_size_pretty(size) END
			  FROM scale JOIN (SELECT 'advice' AS chart, cache_bytes AS size, size_factor AS factor FROM advice
			                   UNION ALL
			                   SELECT 'memory', memory_bytes, round(memory_bytes::numeric / nullif(memory_limit_bytes, 0), 2) FROM memory, rec WHERE series = 'set') s USING (chart)
			 WHERE factor IN (0.125, 0.25, 0.5, 1, 2, 4, 8, 16) AND ln(size) BETWEEN xlo AND xhi
			UNION ALL
			SELECT panel, 'x', extract(epoch FROM t), to_char(t, CASE WHEN every < '1 day' THEN 'HH24:MI' ELSE 'DD Mon' END)
			  FROM scale,
			       LATERAL (SELECT min(e) AS every FROM unnest('{2 min,5 min,15 min,30 min,1 h,2 h,4 h,6 h,1 day,2 days}'::interval[]) e
			                 WHERE (xhi - xlo) / extract(epoch FROM e) <= 6.5) s,
			       LATERAL generate_series(date_trunc('day', to_timestamp(xlo)), to_timestamp(xhi), every) t
			 WHERE chart = 'week' AND extract(epoch FROM t) BETWEEN xlo AND xhi
		),
		-- to coordinates: panels are 544 wide and begin at 84; nothing leaves them
		spot AS (
			SELECT s.chart, s.panel, p.series, p.n, p.low IS NOT NULL AND p.high IS NOT NULL AS banded, px, py, plow, phigh,
			       round(least(84 + 544 - px, wide / (xhi - xlo) * 544)::numeric, 2) AS pw,
			       sum(CASE WHEN p.n = before + 1 OR p.x <= covered THEN 0 ELSE 1 END) OVER (PARTITION BY s.panel, p.series ORDER BY p.n) AS run
			  FROM (SELECT *, lag(n) OVER w AS before, lag(x + wide) OVER w AS covered
			          FROM point WINDOW w AS (PARTITION BY panel, series ORDER BY n)) p JOIN scale s USING (panel),
			       LATERAL (SELECT round((84 + 544 * least(1, greatest(0, (CASE WHEN logarithmic THEN ln(greatest(x, 1)) ELSE x END - xlo) / (xhi - xlo))))::numeric, 1) AS px,
			                       round((up + height * (1 - least(1, greatest(0, (y - ylo) / (yhi - ylo)))))::numeric, 1) AS py,
			                       round((up + height * (1 - least(1, greatest(0, (low - ylo) / (yhi - ylo)))))::numeric, 1) AS plow,
			                       round((up + height * (1 - least(1, greatest(0, (high - ylo) / (yhi - ylo)))))::numeric, 1) AS phigh) c
		),
		marked AS (
			SELECT s.chart, s.panel, s.up, s.height, m.series, m.label, m.x, m.y, m.y > s.yhi AS outside,
			       round((84 + 544 * least(1, greatest(0, (CASE WHEN logarithmic THEN ln(greatest(x, 1)) ELSE x END - xlo) / (xhi - xlo))))::numeric, 1) AS px,
			       round((up + height * (1 - least(1, greatest(0, (y - ylo) / (yhi - ylo)))))::numeric, 1) AS py
			  FROM mark m JOIN scale s USING (panel)
		),
		-- labels of lines across: above their line, moved down, and up again from what is written
		-- at the bottom, until they are 22 apart
		placed AS (
			SELECT *, least(max(wish - 22 * k) OVER (PARTITION BY panel ORDER BY k) + 22 * k,
			                up + height - 30 - 22 * (count(*) OVER (PARTITION BY panel) - k)) AS ty
			  FROM (SELECT *, greatest(py - 8, up + 18) AS wish, row_number() OVER (PARTITION BY panel ORDER BY py, series) AS k
			          FROM marked WHERE x IS NULL) w
		),
		drawn(chart, layer, svg) AS (
			SELECT chart, 0, format('<rect class="plot" x="84" y="%s" width="544" height="%s"/><text class="title" x="84" y="%s">%s</text>',
			                        up, height, up - 9, title) FROM scale
			UNION ALL
			SELECT chart, 1, CASE axis
			       WHEN 'y' THEN format('<line class="grid" x1="84" x2="628" y1="%s" y2="%s"/><text class="tick" text-anchor="end" x="78" y="%s">%s</text>',
			                            py, py, py + 4.5, label)
			       ELSE concat(format('<line class="grid" x1="%s" x2="%s" y1="%s" y2="%s"/>', px, px, up, up + height),
			                   CASE WHEN lowest AND (next IS NULL OR next < 600 OR next - px > 100)
			                        THEN format('<text class="tick" text-anchor="%s" x="%s" y="%s">%s</text>',
			                        CASE WHEN px > 600 THEN 'end' WHEN px < 100 THEN 'start' ELSE 'middle' END, CASE WHEN px > 600 THEN least(px + 18, 636) ELSE px END, up + height + 20, label) END) END
			  FROM (SELECT tick.*, scale.chart, up, height, lowest, px, py, lead(px) OVER (PARTITION BY panel, axis ORDER BY px) AS next
			          FROM tick JOIN scale USING (panel),
			               LATERAL (SELECT round((84 + 544 * least(1, greatest(0, (v - xlo) / (xhi - xlo))))::numeric, 1) AS px,
			                               round((up + height * (1 - least(1, greatest(0, (v - ylo) / (yhi - ylo)))))::numeric, 1) AS py) c) t
			UNION ALL
			SELECT chart, 2, format('<path class="band" d="M%sL%sZ"/>', string_agg(concat(px, ' ', phigh), 'L' ORDER BY n),
			                        string_agg(concat(px, ' ', plow), 'L' ORDER BY n DESC))
			  FROM spot WHERE banded GROUP BY chart, panel, series, run
			UNION ALL
			SELECT chart, 3, format('<line class="rule %s" x1="84" x2="628" y1="%s" y2="%s"/>', series, py, py)
			  FROM marked WHERE x IS NULL AND NOT outside
			UNION ALL
			SELECT chart, 3, format('<line class="rule %s" x1="%s" x2="%s" y1="%s" y2="%s"/>', series, px, px, up, up + height)
			  FROM marked WHERE y IS NULL
			UNION ALL
			SELECT chart, 4, format('<path class="line %s" d="M%sh0"/>', series,
			                        string_agg(concat(px, ' ', py, CASE WHEN pw > 0 THEN concat('h', pw) END), 'L' ORDER BY n))
			  FROM spot GROUP BY chart, panel, series, run
			UNION ALL
			SELECT chart, 5, format('<circle class="%s" cx="%s" cy="%s" r="3"/>', series, px, py) FROM spot WHERE chart IN ('advice', 'memory')
			UNION ALL
			SELECT chart, 6, format('<circle class="%s" cx="%s" cy="%s" r="%s"/>', series, px, py, CASE series WHEN 'want' THEN 4 ELSE 6 END) FROM marked WHERE x IS NOT NULL AND y IS NOT NULL
			UNION ALL
			SELECT chart, 7, format('<text class="label %s" x="92" y="%s">%s %s%s</text>', series, ty, label, pg_size_pretty(y::bigint),
			                        CASE WHEN outside THEN ', above' END) FROM placed WHERE chart = 'curve' OR outside
			UNION ALL
			SELECT chart, 7, format('<text class="label %s" text-anchor="%s" x="%s" y="%s">%s %s</text>', series,
			                        CASE WHEN px > 356 THEN 'end' ELSE 'start' END, CASE WHEN px > 356 THEN px - 7 ELSE px + 7 END,
			                        CASE chart WHEN 'memory' THEN up + 18 ELSE up + height - 8 - CASE series WHEN 'want' THEN 22 ELSE 0 END END, label,
			                        CASE WHEN chart IN ('advice', 'memory') THEN pg_size_pretty(x::bigint)
			                                   ELSE CASE WHEN x < 120 THEN concat(x, ' s') WHEN x < 7200 THEN concat(floor(x / 60), ' min')
			                                             ELSE concat(floor(x / 3600), ' h') END END)
			  FROM marked WHERE y IS NULL AND label IS NOT NULL
		),
		-- the pictures, with a title for who does not see them
		picture AS MATERIALIZED (
			SELECT chart, format('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 370" role="img" aria-labelledby="%1$s-t"><title id="%1$s-t">%2$s</title>%3$s<text class="title" text-anchor="end" x="628" y="362">%4$s</text></svg>',
			                     chart, min(title), string_agg(svg, NULL ORDER BY layer, svg COLLATE "C"), min(axis)) AS svg
			  FROM drawn JOIN (VALUES ('curve', 'Size of the working set against the length of the window', 'length of the window, up to now'),
				('advice', 'Predicted hit ratio and reads per second against the size of shared buffers', 'size of shared_buffers'),
				('memory', 'Predicted reads from disk per second against memory', 'memory'),
				('week', 'Working set and hit ratio of the last week', 'time')) t(chart, title, axis) USING (chart)
			 GROUP BY chart
		),
		bars AS MATERIALIZED (
			SELECT kind, concat('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 ', 38 * count(*) + 4, '" role="img" aria-labelledby="', kind, '-t"><title id="', kind, '-t">Working set of the last five minutes by ', kind, '</title>',
			       string_agg(format(concat('<text class="name" x="0" y="%1$s">%2$s</text><text class="size" text-anchor="end" x="640" y="%1$s">%3$s</text>',
			                                '<rect class="all" x="0" y="%4$s" width="%5$s" height="12"/><rect class="resident" x="0" y="%4$s" width="%6$s" height="6"/>',
			                                '<rect class="reused" x="0" y="%7$s" width="%8$s" height="6"/>'),
			                         38 * n - 22, short, pg_size_pretty(bytes), 38 * n - 16, wide, least(wide, round(640 * resident / most, 1)),
			                         38 * n - 10, least(wide, round(640 * coalesce(reused, 0) / most, 1))), NULL ORDER BY n), '</svg>') AS svg,
			       string_agg(concat('<tr><th scope="row">', t, '</th>', '<td>', what, '</td>',
			                         CASE kind WHEN 'query' THEN concat('<td>', who, '</td>') END,
			                         '<td><data value="', bytes, '">', pg_size_pretty(bytes), '</data> &#177; ', pg_size_pretty((1.96 * error)::bigint), '</td><td>',
			                         round((100 * share)::numeric, 1), ' %</td><td>', pg_size_pretty(resident), '</td>',
			                         CASE kind WHEN 'relation' THEN concat('<td>', pg_size_pretty(reused), '</td>') ELSE concat('<td>', round(reads_per_second::numeric, 1), '</td><td>', round(reads_saved_per_second::numeric, 1), '</td>') END,
			                         '</tr>'), NULL ORDER BY n) AS rows
			  FROM (SELECT bar.*, safe.t, safe.short, who.t AS who, query.reads_per_second, query.reads_saved_per_second, most, round(640 * bar.bytes / most, 1) AS wide
			          FROM bar JOIN safe USING (kind, n) LEFT JOIN safe who ON bar.kind = 'query' AND who.kind = 'who' AND who.n = bar.n
			          LEFT JOIN query ON bar.kind = 'query' AND query.n = bar.n, LATERAL (SELECT greatest(max(b.bytes), 1) AS most FROM bar b WHERE b.kind = bar.kind) m) b
			 GROUP BY kind
		),

		-- ------------------------------------------------------------ what is written
		word AS MATERIALIZED (
			SELECT json_object_agg(kind, all_of_it) AS w
			  FROM (SELECT kind, string_agg(CASE WHEN kind LIKE '%note' THEN concat('<p class="note">', t, '</p>') ELSE t END, CASE kind WHEN 'summary' THEN chr(10) END ORDER BY n) AS all_of_it
			          FROM safe WHERE kind NOT IN ('relation', 'query', 'who') GROUP BY kind) k
		),
		head AS (
			SELECT CASE WHEN NOT tracking OR rec.status = 'stale' THEN 'bad' WHEN rec.verdict = 'exceeds memory' THEN 'bad'
			            WHEN rec.verdict IN ('grow', 'shrink') THEN 'act' WHEN rec.verdict = 'keep' THEN 'good' ELSE 'wait' END AS class,
			       -- (the card says how shared_buffers are set here)
			       CASE WHEN rec.verdict <> 'keep' AND abs(ln(pg_size_bytes(suggested_effective_cache_size)::float8 / pg_size_bytes(current_setting('effective_cache_size')))) > 0.1
			            THEN concat('With it: effective_cache_size = ''', (w ->> 'suggested_ecs'), ''', for which a reload is enough') END AS commands
			  FROM info, rec, word
		),
		tile(n, name, bytes, share) AS (
			SELECT v.* FROM rec, LATERAL (VALUES
				(1, 'Working set', working_set_bytes, NULL::float8), (2, 'shared_buffers', shared_buffers_bytes, NULL),
				(3, 'Suggested', pg_size_bytes(suggested_shared_buffers), NULL), (4, 'Memory', memory_limit_bytes, NULL),
				(5, 'Reads, of query time', NULL, read_time_share), (6, 'The suggested size saves', NULL, query_time_saved)) v
		),
		fact(n, name, words) AS (
			SELECT v.* FROM info, rec, word, LATERAL (VALUES
				(1, 'Tracking', concat(CASE WHEN tracking THEN 'yes: ' ELSE 'no: ' END, (w ->> 'state'))),
				(2, 'Status', concat((w ->> 'status'), ', recommended at ' || to_char(computed_at, 'YYYY-MM-DD HH24:MI:SS'))),
				(3, 'Counting since', to_char(since, 'YYYY-MM-DD HH24:MI:SS')),
				(4, 'Server', concat('PostgreSQL ', (w ->> 'server'), CASE WHEN pg_is_in_recovery() THEN ', standby' ELSE ', primary' END, '; working_set ', (w ->> 'version'))),
				(5, 'Worker', coalesce('process ' || worker_pid, 'does not run')),
				(6, 'Sample', CASE WHEN sample_rate > 0 THEN concat(sampled_pages, ' pages, one in ', round(1 / sample_rate), '; events lost: ', dropped_samples) ELSE 'none' END)) v
		),
		-- tables that tell what the pictures do
		written(chart, rows) AS (
			SELECT 'curve', string_agg(concat('<tr><th scope="row">', seconds, ' s</th><td>', pages, '</td><td><data value="', bytes, '">', pg_size_pretty(bytes),
			       '</data></td><td>', pg_size_pretty(low), ' to ', coalesce(pg_size_pretty(high), 'more'), '</td></tr>'), NULL ORDER BY n) FROM curve
			UNION ALL
			SELECT 'advice', string_agg(concat('<tr><th scope="row"><data value="', cache_bytes, '">', pg_size_pretty(cache_bytes), '</data></th><td>', size_factor, '</td><td>',
			       coalesce(round((100 * predicted_hit_ratio)::numeric, 2) || ' %', 'not known'), '</td><td>', '&#177; ' || round((100 * error)::numeric, 2), '</td><td>',
			       round(predicted_reads_per_second::numeric, 1), '</td><td>', round((100 * predicted_read_time_share)::numeric, 1) || ' %', '</td></tr>'), NULL ORDER BY n) FROM advice
			UNION ALL
			SELECT 'memory', string_agg(concat('<tr><th scope="row"><data value="', memory_bytes, '">', pg_size_pretty(memory_bytes), '</data>',
			       CASE series WHEN 'have' THEN ', now' WHEN 'want' THEN ', suggested' END, '</th><td>', pg_size_pretty(shared_buffers_bytes), '</td><td>',
			       coalesce(round(predicted_disk_reads_per_second::numeric, 1)::text, 'not known'), '</td><td>', round((predicted_disk_bytes_per_second / 1048576)::numeric, 2), '</td><td>',
			       round((100 * predicted_os_hit_ratio)::numeric, 2) || ' %', '</td><td>', '&#177; ' || round((100 * error)::numeric, 2), '</td></tr>'), NULL ORDER BY n) FROM memory
			UNION ALL
			SELECT 'week', string_agg(concat('<tr><th scope="row">', day, '</th><td>', pg_size_pretty(size), '</td><td>', round(100 * hit_ratio, 2) || ' %', '</td></tr>'), NULL ORDER BY day DESC)
			  FROM (SELECT to_char(at, 'YYYY-MM-DD') AS day, max(working_set_bytes) AS size, sum(hits) / nullif(sum(lookups), 0) AS hit_ratio
			          FROM span, history WHERE x BETWEEN start AND finish GROUP BY 1) t
		),
		-- sections: a picture, its key, and the table; or why there is none
		key(chart, html) AS (
			SELECT chart, concat('<ul class="key">', string_agg(format('<li><i class="%s"></i>%s%s</li>', class, label, CASE WHEN label LIKE '%, ' THEN concat(pg_size_pretty(shared_buffers_bytes), ' now') END), NULL ORDER BY n), '</ul>')
			  FROM (VALUES ('curve', 1, 'set', 'working set, with 95 % bounds'), ('curve', 2, 'have', 'shared_buffers'), ('curve', 3, 'want', 'suggested'),
				('advice', 1, 'set', 'predicted, with 95 % bounds'), ('advice', 2, 'have', 'shared_buffers; the dot is what was measured'),
				('advice', 3, 'want', 'suggested'), ('memory', 1, 'set', 'best division between shared_buffers and the page cache'),
				('memory', 2, 'have', 'memory now; the ring is with the present shared_buffers'), ('memory', 3, 'want', 'the dot: with the suggested shared_buffers'),
				('week', 1, 'set', 'working set; hit ratio'), ('week', 3, 'have', 'shared_buffers, '),
				('relation', 1, 'all', 'used in the last five minutes'), ('relation', 2, 'resident', 'in shared buffers now'), ('relation', 3, 'reused', 'used more than once'),
				('query', 1, 'all', 'used in the last five minutes'), ('query', 2, 'resident', 'used by no other query')) k(chart, n, class, label), rec
			 WHERE chart IN ('relation', 'query') OR (chart, class) IN (SELECT chart, series FROM spot UNION SELECT chart, series FROM marked)
			 GROUP BY chart
		),
		section(chart, n, title, intro, missing, columns) AS (
			SELECT v.* FROM info, (SELECT count(*) AS relations, sum(bytes) FILTER (WHERE n > 20) AS other FROM relation) r,
			       (SELECT current_setting('working_set.sample_pages', true) = '0' AS unsampled) u, (SELECT count(*) AS rows FROM history) h,
			       (SELECT count(*) AS queries, count(queryid) AS identifiers, EXISTS (SELECT FROM known) AS known FROM query) q,
			       LATERAL (SELECT CASE WHEN NOT tracking THEN 'Nothing is tracked.' WHEN unsampled THEN 'No page is sampled: working_set.sample_pages is 0.'
			                            ELSE 'No sampled page was used in the last five minutes.' END AS nobody) b,
			       LATERAL (VALUES
				('curve', 1, 'How much is used', 'Where it is level, the same pages are used again and again; where it rises, new ones come in.',
				 CASE WHEN tracking THEN 'The curve is not known.' ELSE 'Nothing is tracked.' END, 'window|pages|size|95 % bounds'),
				('advice', 2, 'What another size would do', 'If shared_buffers had been larger or smaller in the last five minutes.',
				 CASE WHEN tracking AND NOT unsampled THEN 'What other sizes would do is not known.' ELSE nobody END, 'cache|of the present|hit ratio|error, points|reads per second|reads, of query time'),
				('memory', 3, 'What more or less memory would do',
				 'If there had been more or less memory in the last five minutes.',
				 CASE WHEN tracking THEN 'This is not known.' ELSE 'Nothing is tracked.' END,
				 'memory|shared_buffers|reads from disk per second|MB per second|hit ratio of the page cache|error, points'),
				('relation', 6, 'Tables and indexes', nullif(concat(CASE WHEN relations > 20 THEN format('The twenty largest; %s more have %s together. ', relations - 20, pg_size_pretty(other)) END,
				        'Nobody has used these indexes since the statistics began, and others would read less without them: ' || (SELECT t FROM safe WHERE kind = 'useless') || '.'), ''),
				 nobody, 'relation|kind|used|share|in shared buffers|more than once'),
				('query', 7, 'Queries', concat('A page counts for each query that used it.', CASE WHEN queries > 20 THEN format(' The twenty largest of %s.', queries) END,
				        CASE WHEN identifiers = 0 THEN ' There are no identifiers: set compute_query_id to on.'
				             WHEN NOT known THEN ' Their texts are shown if pg_stat_statements is in this database.' END),
				 nobody, 'query|identifier|role and database|used|share|by no other|reads per second|makes others read per second'),
				('week', 4, 'The last week', NULL, CASE WHEN rows = 0 THEN 'There is no history yet: the first entry comes after a minute or two.' ELSE 'Nothing was recorded in the last week.' END,
				 'day|working set, at most|hit ratio')) v
		),
		-- a card for each picture; what has none is said in a line of the last card
		html(n, shown, html) AS (
			SELECT n, svg IS NOT NULL, CASE WHEN svg IS NULL
			       THEN concat('<div class="none" id="', chart, '">', title, ': ', missing, CASE chart WHEN 'advice' THEN (w ->> 'note') WHEN 'memory' THEN (w ->> 'memory_note') END, '</div>')
			       ELSE concat('<section class="card" id="', chart, '"><h2>', title, '</h2>', '<p>' || intro || '</p>', svg, key.html,
			       CASE chart WHEN 'advice' THEN (w ->> 'note') WHEN 'memory' THEN (w ->> 'memory_note') END,
			       CASE WHEN rows IS NOT NULL THEN concat('<details><summary>The figures</summary><div class="scroll"><table><thead><tr><th scope="col">',
			            replace(columns, '|', '</th><th scope="col">'), '</th></tr></thead><tbody>', rows, '</tbody></table></div></details>') END, '</section>', chr(10)) END
			  FROM section LEFT JOIN key USING (chart)
			  LEFT JOIN (SELECT chart, svg FROM picture UNION ALL SELECT kind, svg FROM bars) p USING (chart)
			  LEFT JOIN (SELECT chart, rows FROM written UNION ALL SELECT kind, rows FROM bars) w USING (chart), word
		)
		SELECT concat('<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en"><head><meta charset="UTF-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/>
<title>', concat(w ->> 'host', ':', w ->> 'port'), ' - ', (w ->> 'headline'), '</title><style>
:root { --paper: #f3f5f8; --card: #ffffff; --ink: #1c2127; --dim: #59626e; --grid: #e4e8ec; --plot: #fafbfc; --set: #1f6fb4; --want: #14804a; --have: #1c2127; --all: #d5dde6; --good: #14804a; --act: #b25a00; --bad: #b3261e; --wait: #59626e }
@media (prefers-color-scheme: dark) { :root { --paper: #12161b; --card: #1b2128; --ink: #e6eaef; --dim: #9aa5b1; --grid: #2c343d; --plot: #171c22; --set: #64b0f2; --want: #4cc585; --have: #e6eaef; --all: #35404b; --good: #4cc585; --act: #f2a65a; --bad: #ff8a80; --wait: #9aa5b1 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif }
main { max-width: 76rem; margin: 0 auto; padding: 1.2rem 1rem 2rem }
h1 { font-size: 1rem; font-weight: 600; margin: 0 } h2 { font-size: 1.1rem; margin: 0 0 .3rem } p { margin: 0 0 .6rem }
header p, .card > p { color: var(--dim) }
.card { background: var(--card); border-radius: .6rem; padding: 1rem 1.1rem; min-width: 0; box-shadow: 0 1px 3px rgba(0, 0, 0, .12) }
.verdict { border-left: .4rem solid var(--wait); margin: 1rem 0 } .verdict h2 { font-size: 1.4rem; white-space: nowrap; overflow-x: auto; margin-bottom: .5rem }
.good { border-color: var(--good) } .act { border-color: var(--act) } .bad { border-color: var(--bad) }
.verdict pre + p { margin: .8rem 0 0 } pre { margin: .8rem 0 0; padding: .6rem .8rem; background: var(--paper); border-radius: .4rem; white-space: pre-wrap }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.4rem, 1fr)); gap: .8rem; margin: 0 0 1rem }
.tiles dt { color: var(--dim); font-size: .87rem } .tiles dd { margin: 0; font-size: 1.5rem; font-weight: 600 }
.grid2 { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem }
svg { display: block; width: 100%; height: auto; font-family: inherit; font-size: 15px }
text { fill: var(--ink) } .tick, .title { fill: var(--dim) } .plot { fill: var(--plot) } .grid { stroke: var(--grid) }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round } .rule { stroke-width: 1.6 }
.line.set, .rule.set { stroke: var(--set) } .line.want, .rule.want { stroke: var(--want) } .rule.have { stroke: var(--have) }
.rule.have { stroke-dasharray: 8 4 } .rule.want { stroke-dasharray: 3 3 } .rule.set { stroke-dasharray: 2 4 }
.band { fill: var(--set); fill-opacity: .2 } circle.set { fill: var(--set) } circle.want { fill: var(--want) } circle.have { fill: var(--card); stroke: var(--have); stroke-width: 2 }
#week .line { stroke-width: 1.7 } .label { font-weight: 600; paint-order: stroke; stroke: var(--plot); stroke-width: 4px; stroke-linejoin: round }
.label.set { fill: var(--set) } .label.want { fill: var(--want) } .label.have { fill: var(--have) }
.size { fill: var(--dim) } rect.all { fill: var(--all) } rect.resident { fill: var(--set) } rect.reused { fill: var(--want) }
.key { list-style: none; margin: .5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; font-size: .87rem; color: var(--dim) }
.key i { display: inline-block; width: 1.5rem; margin-right: .4rem; vertical-align: middle; border-top: .2rem solid var(--set) }
.key i.have { border-top: .16rem dashed var(--have) } .key i.want { border-top: .16rem dashed var(--want) }
.key i.all, .key i.resident, .key i.reused { border: 0; height: .6rem; background: var(--all) } .key i.resident { background: var(--set) } .key i.reused { background: var(--want) }
.note { margin: .6rem 0 0; color: var(--act) } .none { margin: .3rem 0; color: var(--dim) } details { margin-top: .6rem; font-size: .87rem } summary { cursor: pointer; color: var(--dim) }
.scroll { overflow: auto; max-height: 26rem } table { border-collapse: collapse; width: 100% } th, td { text-align: right; padding: .2rem .5rem; border-bottom: 1px solid var(--grid); white-space: nowrap }
th:first-child { text-align: left; font-weight: 400 } thead th, thead th:first-child { font-weight: 600; white-space: normal; vertical-align: bottom }
#relation, #query { grid-row: span 2 } #state { font-size: .87rem } #state dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0 } #state dt { color: var(--dim) } #state dd { margin: 0; overflow-wrap: anywhere }
@media (max-width: 40rem) { svg { font-size: 18px } .verdict h2 { font-size: 1.1rem } }
@media print { body { background: none } .card { box-shadow: none; break-inside: avoid } }
</style></head><body><main>
<header><h1>', concat(w ->> 'host', ':', w ->> 'port'), ', cluster ' || (w ->> 'cluster'), '</h1><p>PostgreSQL ', split_part((w ->> 'server'), ' ', 1), '; cache report of ', to_char(moment.at, 'FMDD FMMonth YYYY, HH24:MI:SS'), ' (', (w ->> 'zone'), ')</p></header>
<section class="card verdict ', head.class, '"><h2>', (w ->> 'headline'), '</h2>', '<pre>' || (w ->> 'summary') || '</pre>', '<p>', (w ->> 'why'), '</p>',
		       '<pre>' || head.commands || '</pre>', '</section>
<dl class="tiles">', (SELECT string_agg(concat('<div class="card"><dt>', name, '</dt><dd>', '<data value="' || bytes || '">' || pg_size_pretty(bytes) || '</data>', round((100 * share)::numeric, 1) || ' %', '</dd></div>'), NULL ORDER BY n)
		                           FROM tile WHERE coalesce(bytes, share) IS NOT NULL), '</dl>
<div class="grid2">
', (SELECT string_agg(html, NULL ORDER BY n) FROM html WHERE shown), '<section class="card" id="state"><h2>State</h2><dl>',
		       (SELECT string_agg(concat('<dt>', name, '</dt><dd>', coalesce(words, 'not known'), '</dd>'), NULL ORDER BY n) FROM fact), '</dl>
<p>All figures are of the whole server. Relations are named if they are of the database ', (w ->> 'database'), ', all others are told by database and number of the file.</p>', (SELECT string_agg(html, NULL ORDER BY n) FROM html WHERE NOT shown), '</section>
</div>
</main></body></html>') AS page
		  FROM moment, word, head
		\gset ws_report_
	\endif
	SELECT pg_catalog.set_config('ws_report.texts', '', false) AS newpath \gset ws_report_
	SELECT pg_catalog.set_config('search_path', :'ws_report_path', false) AS newpath \gset ws_report_
\endif

-- With everything put back, what can fail and stop the script comes last; each on one line,
-- for SINGLELINE.
\set AUTOCOMMIT :ws_report_autocommit
\set ON_ERROR_STOP :ws_report_on_error_stop
\set SINGLELINE :ws_report_singleline
\set SHOW_CONTEXT :ws_report_show_context
\if :{?ws_report_page}
	\if :QUIET
	\else
		\echo writing :ws_report_file
	\endif
	SELECT :'ws_report_page' \g (format=unaligned tuples_only=on expanded=off recordsep='\n') :ws_report_file
\else
	\set SHOW_CONTEXT never
	SELECT pg_catalog.format('DO %L', pg_catalog.format('BEGIN RAISE EXCEPTION USING MESSAGE = %L, HINT = %L; END', :'ws_report_problem', :'ws_report_hint')) \gexec
	\set SHOW_CONTEXT :ws_report_show_context
\endif
\unset ws_report_autocommit
\unset ws_report_on_error_stop
\unset ws_report_singleline
\unset ws_report_show_context
\unset ws_report_quiet
\unset ws_report_problem
\unset ws_report_hint
\unset ws_report_file
\unset ws_report_host
\unset ws_report_port
\unset ws_report_here
\unset ws_report_path
\unset ws_report_newpath
\unset ws_report_schema
\unset ws_report_page
