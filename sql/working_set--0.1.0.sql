/* working_set--0.1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION working_set" to load this file. \quit

--
-- Size of the working set
--

CREATE FUNCTION approximate_working_set_size_seconds(duration integer DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'ws_approximate_working_set_size_seconds'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION approximate_working_set_size_seconds(integer) IS
'Distinct pages that clients used in shared buffers in the last "duration" seconds; NULL: as far back as is known. Unit: pages of block_size bytes. Range of duration: 0 (no time, no page) and up; a window longer than what is known counts what is known. NULL result: not tracking, see working_set_info.reason. Errors: 22023 if duration is negative, 55000 if the library is not preloaded. Standard error: 0.589 / sqrt(working_set.registers). Rests on probabilistic counting (Flajolet and Martin 1985) over sliding windows (Chabchoub and Hebrail 2010) with the martingale estimator (Ting 2014, Cohen 2015). All calls in one execution of a statement answer for the same instant, as those of working_set_size and working_set_curve do, for a second at most; so sixty calls give a curve that never falls. Same call as the function of this name that Neon users know.';

REVOKE ALL ON FUNCTION approximate_working_set_size_seconds(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION approximate_working_set_size_seconds(integer) TO pg_monitor;

CREATE FUNCTION approximate_working_set_size(reset boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'ws_approximate_working_set_size'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION approximate_working_set_size(boolean) IS
'Distinct pages that clients used in shared buffers as far back as is known: since the last reset, or since the extension was first loaded (what is known survives restarts); "reset" true then forgets them, but not the history, for which the caller needs EXECUTE on working_set_reset(). Unit: pages of block_size bytes. NULL result: not tracking, and nothing is reset. Errors: 42501 if reset is true without the privilege, 55000 if the library is not preloaded. Estimator: see approximate_working_set_size_seconds.';

REVOKE ALL ON FUNCTION approximate_working_set_size(boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION approximate_working_set_size(boolean) TO pg_monitor;

CREATE FUNCTION working_set_size(period interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'ws_working_set_size'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_size(interval) IS
'Size of the distinct pages that clients used in shared buffers in the last "period"; NULL: as far back as is known. Unit: bytes. Range of period: 0 and up in steps of 100 ms, a month counting as 30 days. NULL result: not tracking. Errors: 22023 if period is negative, 55000 if the library is not preloaded. Estimator: see approximate_working_set_size_seconds.';

REVOKE ALL ON FUNCTION working_set_size(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_size(interval) TO pg_monitor;

CREATE FUNCTION working_set_curve(
	periods integer[] DEFAULT NULL,
	kind text DEFAULT 'client',
	OUT seconds integer,
	OUT pages bigint,
	OUT bytes bigint,
	OUT pages_low bigint,
	OUT pages_high bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_curve'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 60;

COMMENT ON FUNCTION working_set_curve(integer[], text) IS
'Size of the working set of many windows, from one consistent pass: distinct pages used in the last "seconds" seconds, the same in bytes, and the 95 % bounds of pages. One row for each element of "periods" (seconds, 0 and up), in their order; NULL: 60 one-minute windows. "kind" is client (default), maintenance (VACUUM and autovacuum) or all. The curve never falls from a shorter window to a longer one, and a window''s size does not depend on which others are asked for. No rows: not tracking. pages_high is NULL if the sketch is full. Errors: 22023 if a period is negative, periods is empty or kind is none of these, 22004 if a period is NULL, 2202E if the array has several dimensions, 54000 above 65536 periods, 55000 if the library is not preloaded. Estimator: see approximate_working_set_size_seconds; bounds are 1.96 of its own standard errors.';

REVOKE ALL ON FUNCTION working_set_curve(integer[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_curve(integer[], text) TO pg_monitor;

CREATE VIEW working_set_curve AS
	SELECT * FROM working_set_curve();

COMMENT ON VIEW working_set_curve IS
'Size of the clients'' working set for windows of 1 to 60 minutes, from one consistent pass; see the function of this name for other windows.';
COMMENT ON COLUMN working_set_curve.seconds IS 'Length of the window, which ends now, in seconds';
COMMENT ON COLUMN working_set_curve.pages IS 'Distinct pages used in the window';
COMMENT ON COLUMN working_set_curve.bytes IS 'The same in bytes';
COMMENT ON COLUMN working_set_curve.pages_low IS 'Lower 95 % bound of pages';
COMMENT ON COLUMN working_set_curve.pages_high IS 'Upper 95 % bound of pages; NULL if the sketch is full';

REVOKE ALL ON working_set_curve FROM PUBLIC;
GRANT SELECT ON working_set_curve TO pg_monitor;

CREATE FUNCTION working_set_chart()
RETURNS text
AS 'MODULE_PATHNAME', 'ws_working_set_chart'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_chart() IS
'The clients'' working set drawn as text: windows of 1 second to 60 minutes, or as far back as is known, from one consistent pass, with their 95 % bounds, the row where the plateau ends, shared_buffers and what is recommended; below it the verdict, or the status if that is not ok. Range: at most 22 lines of at most 78 columns of printable ASCII. Unit: kB, MB and so on of 1024, as pg_size_pretty says them. While nothing is tracked: the reason, in a line or, if it is long, up to three. Errors: 55000 if the library is not preloaded. Estimator: see approximate_working_set_size_seconds.';

REVOKE ALL ON FUNCTION working_set_chart() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_chart() TO pg_monitor;

--
-- Recommendation
--

CREATE FUNCTION working_set_plateau_end(
	series double precision[],
	min_offset integer DEFAULT 5,
	window_size integer DEFAULT 5,
	max_increase double precision DEFAULT 3.0,
	OUT value double precision,
	OUT index integer)
RETURNS record
AS 'MODULE_PATHNAME', 'ws_working_set_plateau_end'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION working_set_plateau_end(double precision[], integer, integer, double precision) IS
'The plateau_end heuristic on any series of sizes over windows of growing length: the first point, counted from 1 and not before min_offset, after which the series rises over window_size points (both ends counted) by more than max_increase times what it rose before it; the last point if there is none. Returns the value there, in the unit of the series, and the index. NULL if any argument is. Ranges: window_size 2 and up, min_offset from window_size to the length of the series, max_increase 0 and up. Errors: 22023 for an empty series, NaN or infinity in it, or an argument out of range, 22004 for a null in it, 2202E if it has several dimensions. Works without preloading. Source: the rule of Neon''s autoscaler (EstimateTrueWorkingSetSize).';

REVOKE ALL ON FUNCTION working_set_plateau_end(double precision[], integer, integer, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_plateau_end(double precision[], integer, integer, double precision) TO pg_monitor;

CREATE FUNCTION working_set_recommendation(
	OUT status text,
	OUT verdict text,
	OUT recommended_cache text,
	OUT suggested_shared_buffers text,
	OUT suggested_effective_cache_size text,
	OUT reason text,
	OUT recommended_cache_bytes bigint,
	OUT working_set_bytes bigint,
	OUT low_bytes bigint,
	OUT high_bytes bigint,
	OUT window_seconds integer,
	OUT live_bytes bigint,
	OUT plateau_end_bytes bigint,
	OUT peak_cache_bytes bigint,
	OUT peak_at timestamp with time zone,
	OUT shared_buffers_bytes bigint,
	OUT memory_limit_bytes bigint,
	OUT current_hit_ratio double precision,
	OUT expected_hit_ratio double precision,
	OUT method text,
	OUT computed_at timestamp with time zone)
RETURNS record
AS 'MODULE_PATHNAME', 'ws_working_set_recommendation'
LANGUAGE C VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION working_set_recommendation() IS
'What the view working_set_recommendation shows. Error: 55000 if the library is not preloaded.';

REVOKE ALL ON FUNCTION working_set_recommendation() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_recommendation() TO pg_monitor;

CREATE VIEW working_set_recommendation AS
	SELECT * FROM working_set_recommendation();

COMMENT ON VIEW working_set_recommendation IS
'How much cache to give, and why: one row, made by the background worker every working_set.interval. NULL means not known (yet).';
COMMENT ON COLUMN working_set_recommendation.status IS 'ok; collecting: less than a minute is known; stale: the worker is late; not tracking: see reason';
COMMENT ON COLUMN working_set_recommendation.verdict IS 'What to do about shared_buffers, for the busiest time: grow, shrink, keep, or exceeds memory: it cannot hold all. Changes only if the difference is clear and lasts for working_set.hold; shrink is not said in the first hour (four times working_set.break_even)';
COMMENT ON COLUMN working_set_recommendation.recommended_cache IS 'recommended_cache_bytes, for people';
COMMENT ON COLUMN working_set_recommendation.suggested_shared_buffers IS 'For ALTER SYSTEM SET shared_buffers: peak_cache_bytes, at least 128 MB, at most three quarters of what memory leaves to caches; if all of it does not fit, the smallest that is as good as the largest possible. NULL: memory is not known';
COMMENT ON COLUMN working_set_recommendation.suggested_effective_cache_size IS 'For ALTER SYSTEM SET effective_cache_size: memory less 2 MB and one work_mem for each of max_connections and what autovacuum may take, half of it at least. NULL: memory is not known';
COMMENT ON COLUMN working_set_recommendation.reason IS 'Why this much, or why nothing can be said, in a sentence';
COMMENT ON COLUMN working_set_recommendation.recommended_cache_bytes IS 'Recommended cache for the present workload: projected_bytes and working_set.headroom on top. For who can give and take cache at once; 0 where probably nothing will be used again soon. For shared_buffers see suggested_shared_buffers';
COMMENT ON COLUMN working_set_recommendation.working_set_bytes IS 'Size of the working set of window_seconds';
COMMENT ON COLUMN working_set_recommendation.low_bytes IS 'Lower 95 % bound of working_set_bytes';
COMMENT ON COLUMN working_set_recommendation.high_bytes IS 'Upper 95 % bound of working_set_bytes';
COMMENT ON COLUMN working_set_recommendation.window_seconds IS 'Length of the window that the heuristic chose, or of what is known if that is less';
COMMENT ON COLUMN working_set_recommendation.live_bytes IS 'What the heuristic live_set says: pages used within working_set.break_even that will probably be used again within it';
COMMENT ON COLUMN working_set_recommendation.plateau_end_bytes IS 'What the heuristic plateau_end says';
COMMENT ON COLUMN working_set_recommendation.peak_cache_bytes IS 'Most that was needed in working_set.history, a week by default: the largest recommended_cache_bytes of working_set_history, without projections. So it can be less than recommended_cache_bytes while the set grows. shared_buffers is sized for it';
COMMENT ON COLUMN working_set_recommendation.peak_at IS 'When that was: beginning of the minute, or of the quarter of an hour if it is more than a day ago';
COMMENT ON COLUMN working_set_recommendation.shared_buffers_bytes IS 'The setting shared_buffers';
COMMENT ON COLUMN working_set_recommendation.memory_limit_bytes IS 'Memory that the server may use: the least of the host''s and its control groups'' limits; NULL: not known, see reason';
COMMENT ON COLUMN working_set_recommendation.current_hit_ratio IS 'Share of the clients'' lookups that found the page in shared buffers, over the last five minutes; NULL if there were none';
COMMENT ON COLUMN working_set_recommendation.expected_hit_ratio IS 'The same if shared_buffers were recommended_cache_bytes, from working_set_cache_advice; NULL if that is not sure';
COMMENT ON COLUMN working_set_recommendation.method IS 'Heuristic that was used: that of working_set.method, or plateau_end where live_set cannot say (yet)';
COMMENT ON COLUMN working_set_recommendation.computed_at IS 'When the recommendation was made';

REVOKE ALL ON working_set_recommendation FROM PUBLIC;
GRANT SELECT ON working_set_recommendation TO pg_monitor;

--
-- Cache advice
--

CREATE FUNCTION working_set_cache_advice(
	OUT size_factor double precision,
	OUT cache_bytes bigint,
	OUT cache text,
	OUT predicted_hit_ratio double precision,
	OUT predicted_hit_ratio_without_scans double precision,
	OUT predicted_hit_ratio_lru double precision,
	OUT predicted_reads_per_second double precision,
	OUT read_factor double precision,
	OUT error double precision,
	OUT note text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_cache_advice'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 20;

COMMENT ON FUNCTION working_set_cache_advice() IS
'What the view working_set_cache_advice shows. No rows: not tracking. Error: 55000 if the library is not preloaded. Sources: PostgreSQL''s own replacement and ring buffers, simulated on a sample of the pages at each size (Waldspurger et al., SHARDS 2015 and miniature simulation 2017); reuse distances after Mattson et al. 1970; without a sample, Denning 1968.';

REVOKE ALL ON FUNCTION working_set_cache_advice() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_cache_advice() TO pg_monitor;

CREATE VIEW working_set_cache_advice AS
	SELECT * FROM working_set_cache_advice();

COMMENT ON VIEW working_set_cache_advice IS
'What the hit ratio of the last five minutes would have been with shared_buffers of other sizes: one row for each of twenty, from a tenth to four times the present one. Holds for the present mix of scans and lookups. NULL where the sample cannot tell.';
COMMENT ON COLUMN working_set_cache_advice.size_factor IS 'Size as a multiple of shared_buffers';
COMMENT ON COLUMN working_set_cache_advice.cache_bytes IS 'Size in bytes';
COMMENT ON COLUMN working_set_cache_advice.cache IS 'The same, for people';
COMMENT ON COLUMN working_set_cache_advice.predicted_hit_ratio IS 'Share of the clients'' lookups that would find their page, 0 to 1';
COMMENT ON COLUMN working_set_cache_advice.predicted_hit_ratio_without_scans IS 'The same for all lookups but those of sequential scans, which holds if there are more or fewer scans tomorrow';
COMMENT ON COLUMN working_set_cache_advice.predicted_hit_ratio_lru IS 'The same with LRU replacement and without ring buffers, as a cross-check: where it is far off, scans go through rings';
COMMENT ON COLUMN working_set_cache_advice.predicted_reads_per_second IS 'Pages that clients would have to read in a second';
COMMENT ON COLUMN working_set_cache_advice.read_factor IS 'These as a multiple of those at the present size';
COMMENT ON COLUMN working_set_cache_advice.error IS '95 % bound of the error of predicted_hit_ratio: of sampling, and how far the prediction for the present size is from what was measured';
COMMENT ON COLUMN working_set_cache_advice.note IS 'Why not to rely on the row; NULL if there is no reason: among others, that the prediction for the present size is more than 3 points from what was measured';

REVOKE ALL ON working_set_cache_advice FROM PUBLIC;
GRANT SELECT ON working_set_cache_advice TO pg_monitor;

--
-- Who is in the set
--

CREATE FUNCTION working_set_relations(
	period interval DEFAULT '5 min',
	OUT datname text,
	OUT relation regclass,
	OUT relkind "char",
	OUT relfilenode oid,
	OUT fork text,
	OUT pages bigint,
	OUT bytes bigint,
	OUT share double precision,
	OUT standard_error_bytes bigint,
	OUT resident_bytes bigint,
	OUT reused_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_relations'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;

COMMENT ON FUNCTION working_set_relations(interval) IS
'The clients'' working set of the last "period" by relation and fork, largest first: estimated from a sample of the pages and the size of the whole set. Range of period: 0 to 1 hour; NULL: 1 hour. A relation of which no page is sampled has no row. A sampled page stands for several, so the estimate is limited to the size of the file where that can be found out without waiting for a lock; for other databases standard_error_bytes says how far off it may be. So rows may add up to less than the set; working_set_databases has all of it. No rows: not tracking, or working_set.sample_pages is 0. Errors: 22023 if period is negative or longer than an hour, 55000 if the library is not preloaded. Source: spatial sampling, Waldspurger et al., SHARDS 2015.';

REVOKE ALL ON FUNCTION working_set_relations(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_relations(interval) TO pg_monitor;

CREATE VIEW working_set_relations AS
	SELECT * FROM working_set_relations();

COMMENT ON VIEW working_set_relations IS
'Tables and indexes that make up the working set of the last five minutes, largest first; see the function of this name for other periods.';
COMMENT ON COLUMN working_set_relations.datname IS 'Database; NULL for relations that all share, and for one that was dropped';
COMMENT ON COLUMN working_set_relations.relation IS 'Relation; NULL if it is of another database, or has got another file or been dropped since';
COMMENT ON COLUMN working_set_relations.relkind IS 'Its kind, as in pg_class: r table, i index, t TOAST table, m materialized view, S sequence';
COMMENT ON COLUMN working_set_relations.relfilenode IS 'Number of its file';
COMMENT ON COLUMN working_set_relations.fork IS 'Fork: main, fsm, vm or init';
COMMENT ON COLUMN working_set_relations.pages IS 'Distinct pages used in the period; not more than the file has now, if it is of this database';
COMMENT ON COLUMN working_set_relations.bytes IS 'The same in bytes';
COMMENT ON COLUMN working_set_relations.share IS 'Share of the set, 0 to 1, as in the sample: not limited by the size of the file';
COMMENT ON COLUMN working_set_relations.standard_error_bytes IS 'Standard error of bytes';
COMMENT ON COLUMN working_set_relations.resident_bytes IS 'How much of bytes is in shared buffers now';
COMMENT ON COLUMN working_set_relations.reused_bytes IS 'How much of bytes was used more than once in the period, at least five seconds apart: what is used once gains nothing from a cache';

REVOKE ALL ON working_set_relations FROM PUBLIC;
GRANT SELECT ON working_set_relations TO pg_monitor;

CREATE FUNCTION working_set_databases(
	period interval DEFAULT '5 min',
	OUT datname text,
	OUT pages bigint,
	OUT bytes bigint,
	OUT share double precision,
	OUT standard_error_bytes bigint,
	OUT resident_bytes bigint,
	OUT reused_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_databases'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 10;

COMMENT ON FUNCTION working_set_databases(interval) IS
'The clients'' working set of the last "period" by database, largest first; columns, range and errors as those of working_set_relations(interval).';

REVOKE ALL ON FUNCTION working_set_databases(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_databases(interval) TO pg_monitor;

CREATE VIEW working_set_databases AS
	SELECT * FROM working_set_databases();

COMMENT ON VIEW working_set_databases IS
'Databases that make up the working set of the last five minutes, largest first; see the function of this name for other periods.';
COMMENT ON COLUMN working_set_databases.datname IS 'Database; NULL for relations that all share, and for one that was dropped';
COMMENT ON COLUMN working_set_databases.pages IS 'Distinct pages used in the period';
COMMENT ON COLUMN working_set_databases.bytes IS 'The same in bytes';
COMMENT ON COLUMN working_set_databases.share IS 'Share of the set, 0 to 1';
COMMENT ON COLUMN working_set_databases.standard_error_bytes IS 'Standard error of bytes';
COMMENT ON COLUMN working_set_databases.resident_bytes IS 'How much of bytes is in shared buffers now';
COMMENT ON COLUMN working_set_databases.reused_bytes IS 'How much of bytes was used more than once in the period, at least five seconds apart';

REVOKE ALL ON working_set_databases FROM PUBLIC;
GRANT SELECT ON working_set_databases TO pg_monitor;

--
-- History
--

CREATE FUNCTION working_set_history(
	OUT at timestamp with time zone,
	OUT minutes integer,
	OUT working_set_bytes bigint,
	OUT recommended_cache_bytes bigint,
	OUT plateau_end_bytes bigint,
	OUT live_bytes bigint,
	OUT lookups bigint,
	OUT hits bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_history'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 4320;

COMMENT ON FUNCTION working_set_history() IS
'What the view working_set_history shows. Error: 55000 if the library is not preloaded.';

REVOKE ALL ON FUNCTION working_set_history() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_history() TO pg_monitor;

CREATE VIEW working_set_history AS
	SELECT at, working_set_bytes, recommended_cache_bytes, plateau_end_bytes, live_bytes, lookups, hits, minutes
	FROM working_set_history();

COMMENT ON VIEW working_set_history IS
'What was recommended when, youngest first: a row for each minute of the last day, and for each quarter of an hour of the 30 days before. Survives a restart; working_set_reset() empties it. A time without a row is one that nobody saw: the server was down, did not track, or had just begun.';
COMMENT ON COLUMN working_set_history.at IS 'When the minute, or quarter of an hour, began';
COMMENT ON COLUMN working_set_history.working_set_bytes IS 'working_set_bytes of working_set_recommendation, at the time of the largest recommendation in it';
COMMENT ON COLUMN working_set_history.recommended_cache_bytes IS 'The most that was needed in it, and working_set.headroom on top: recommended_cache_bytes of working_set_recommendation, without the projection';
COMMENT ON COLUMN working_set_history.plateau_end_bytes IS 'What plateau_end said at that time';
COMMENT ON COLUMN working_set_history.live_bytes IS 'What live_set said at that time';
COMMENT ON COLUMN working_set_history.lookups IS 'Lookups of pages by clients in it';
COMMENT ON COLUMN working_set_history.hits IS 'Those of them that found the page in shared buffers';
COMMENT ON COLUMN working_set_history.minutes IS 'How long it is: 1 or 15';

REVOKE ALL ON working_set_history FROM PUBLIC;
GRANT SELECT ON working_set_history TO pg_monitor;

--
-- State
--

CREATE FUNCTION working_set_info(
	OUT tracking boolean,
	OUT reason text,
	OUT since timestamp with time zone,
	OUT registers integer,
	OUT sample_rate double precision,
	OUT sampled_pages bigint,
	OUT lookups bigint,
	OUT hits bigint,
	OUT evictions bigint,
	OUT dropped_samples bigint,
	OUT worker_pid integer,
	OUT last_saved timestamp with time zone,
	OUT shared_memory_bytes bigint,
	OUT version text)
RETURNS record
AS 'MODULE_PATHNAME', 'ws_working_set_info'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_info() IS
'What the view working_set_info shows. Error: 55000 if the library is not preloaded.';

REVOKE ALL ON FUNCTION working_set_info() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_info() TO pg_monitor;

CREATE VIEW working_set_info AS
	SELECT * FROM working_set_info();

COMMENT ON VIEW working_set_info IS
'State of the extension: one row. NULL means not known (yet).';
COMMENT ON COLUMN working_set_info.tracking IS 'Are lookups counted?';
COMMENT ON COLUMN working_set_info.reason IS 'Why, or why not';
COMMENT ON COLUMN working_set_info.since IS 'The counters here count from this time on: server start, last reset, or when tracking was turned on. Sets are known from before a restart, too, unless there was a reset';
COMMENT ON COLUMN working_set_info.registers IS 'Registers of the sketch; the standard error is 0.589 / sqrt(registers)';
COMMENT ON COLUMN working_set_info.sample_rate IS 'Share of pages that are sampled now: one in a power of two, fewer as the set or the load grows; 0: none';
COMMENT ON COLUMN working_set_info.sampled_pages IS 'Pages in the sample, of which there is room for working_set.sample_pages';
COMMENT ON COLUMN working_set_info.lookups IS 'Lookups of pages by clients since then; a running process may be a tick behind. pg_stat_database counts those of VACUUM and autovacuum as well, so its hit ratio can be another; README shows how to compare';
COMMENT ON COLUMN working_set_info.hits IS 'Those of them that found the page in shared buffers';
COMMENT ON COLUMN working_set_info.evictions IS 'Pages that left shared buffers since then, evicted or dropped, whoever made them';
COMMENT ON COLUMN working_set_info.dropped_samples IS 'Events of sampled pages that were lost since then, because the stream to the background worker was full';
COMMENT ON COLUMN working_set_info.worker_pid IS 'Process ID of the background worker; NULL if there is none';
COMMENT ON COLUMN working_set_info.last_saved IS 'When the set, the sample and the history were last saved; NULL: nothing is saved';
COMMENT ON COLUMN working_set_info.shared_memory_bytes IS 'Shared memory of the extension, all included';
COMMENT ON COLUMN working_set_info.version IS 'Version of the loaded library';

REVOKE ALL ON working_set_info FROM PUBLIC;
GRANT SELECT ON working_set_info TO pg_monitor;

CREATE FUNCTION working_set_reset()
RETURNS timestamp with time zone
AS 'MODULE_PATHNAME', 'ws_working_set_reset'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_reset() IS
'Forget everything that was counted, the history too, for all users of the server; returns the time from which on all is counted. Durable when it returns. May be executed by superusers until granted to others. Error: 55000 if the library is not preloaded.';

REVOKE ALL ON FUNCTION working_set_reset() FROM PUBLIC;
