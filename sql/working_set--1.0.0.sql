/* working_set--1.0.0.sql */

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
'Number of distinct pages that clients used in the last "duration" seconds (NULL: as far back as there is data), or NULL if lookups are not tracked';

REVOKE ALL ON FUNCTION approximate_working_set_size_seconds(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION approximate_working_set_size_seconds(integer) TO pg_monitor;

CREATE FUNCTION approximate_working_set_size(reset boolean DEFAULT false)
RETURNS bigint
AS 'MODULE_PATHNAME', 'ws_approximate_working_set_size'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION approximate_working_set_size(boolean) IS
'Number of distinct pages that clients used as far back as there is data, or NULL if lookups are not tracked; "reset" starts the working set over';

REVOKE ALL ON FUNCTION approximate_working_set_size(boolean) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION approximate_working_set_size(boolean) TO pg_monitor;

CREATE FUNCTION working_set_size(period interval DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'ws_working_set_size'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_size(interval) IS
'Size in bytes of the distinct pages that clients used in the last "period" (NULL: as far back as there is data), or NULL if lookups are not tracked';

REVOKE ALL ON FUNCTION working_set_size(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_size(interval) TO pg_monitor;

CREATE FUNCTION working_set_curve(
	periods integer[] DEFAULT NULL,
	kind text DEFAULT 'client',
	OUT seconds integer,
	OUT pages bigint,
	OUT bytes bigint,
	OUT low_bytes bigint,
	OUT high_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_curve'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 60;

COMMENT ON FUNCTION working_set_curve(integer[], text) IS
'Size of the working set for each window of "periods" in seconds (NULL: 60 one-minute windows), used by processes of the "kind" client, maintenance, or all';

REVOKE ALL ON FUNCTION working_set_curve(integer[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_curve(integer[], text) TO pg_monitor;

CREATE VIEW working_set_curve AS
	SELECT * FROM working_set_curve();

COMMENT ON VIEW working_set_curve IS
'Size of the clients'' working set for windows of 1 to 60 minutes';
COMMENT ON COLUMN working_set_curve.seconds IS 'Length in seconds of the window, which ends now';
COMMENT ON COLUMN working_set_curve.pages IS 'Number of distinct pages used in the window';
COMMENT ON COLUMN working_set_curve.bytes IS 'Size of these pages in bytes';
COMMENT ON COLUMN working_set_curve.low_bytes IS 'Lower 95 % bound of bytes';
COMMENT ON COLUMN working_set_curve.high_bytes IS 'Upper 95 % bound of bytes, or NULL if the sketch is full';

REVOKE ALL ON working_set_curve FROM PUBLIC;
GRANT SELECT ON working_set_curve TO pg_monitor;

--
-- Recommendation
--

CREATE FUNCTION working_set()
RETURNS text
AS 'MODULE_PATHNAME', 'ws_working_set'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set() IS
'What to do about shared_buffers and why, in about six lines of text';

REVOKE ALL ON FUNCTION working_set() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set() TO pg_monitor;

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
'Value and index, counted from 1, of the first point of a series from "min_offset" on after which it rises over "window_size" points more than "max_increase" times as much as before, or of the last point if there is none';

REVOKE ALL ON FUNCTION working_set_plateau_end(double precision[], integer, integer, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_plateau_end(double precision[], integer, integer, double precision) TO pg_monitor;

CREATE FUNCTION working_set_recommendation(
	OUT status text,
	OUT verdict text,
	OUT confidence text,
	OUT suggested_shared_buffers text,
	OUT suggested_effective_cache_size text,
	OUT reason text,
	OUT recommended_cache_bytes bigint,
	OUT working_set_bytes bigint,
	OUT live_bytes bigint,
	OUT plateau_end_bytes bigint,
	OUT peak_cache_bytes bigint,
	OUT peak_at timestamp with time zone,
	OUT shared_buffers_bytes bigint,
	OUT memory_limit_bytes bigint,
	OUT current_hit_ratio double precision,
	OUT expected_hit_ratio double precision,
	OUT reads_per_second double precision,
	OUT expected_reads_per_second double precision,
	OUT read_time_share double precision,
	OUT query_time_saved double precision,
	OUT recurring_job text,
	OUT computed_at timestamp with time zone)
RETURNS record
AS 'MODULE_PATHNAME', 'ws_working_set_recommendation'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_recommendation() IS
'Row of the view working_set_recommendation';

REVOKE ALL ON FUNCTION working_set_recommendation() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_recommendation() TO pg_monitor;

CREATE VIEW working_set_recommendation AS
	SELECT * FROM working_set_recommendation();

COMMENT ON VIEW working_set_recommendation IS
'How much cache the server needs and what to set shared_buffers to: one row, renewed by the background worker every working_set.interval seconds';
COMMENT ON COLUMN working_set_recommendation.status IS 'ok, collecting (less than a minute of data), stale (the background worker is late), or not tracking';
COMMENT ON COLUMN working_set_recommendation.verdict IS 'What to do about shared_buffers: grow, shrink, keep, exceeds memory, or NULL while confidence is low or the size still rises';
COMMENT ON COLUMN working_set_recommendation.confidence IS 'How sure verdict and suggestion are: low, medium, high, or NULL if there is no recommendation';
COMMENT ON COLUMN working_set_recommendation.suggested_shared_buffers IS 'The one size to set shared_buffers to, the present one if it is to be kept, or NULL while confidence is low, the size still rises, or the memory limit is not known';
COMMENT ON COLUMN working_set_recommendation.suggested_effective_cache_size IS 'Value for ALTER SYSTEM SET effective_cache_size with suggested_shared_buffers, or NULL if that is NULL';
COMMENT ON COLUMN working_set_recommendation.reason IS 'What to do about shared_buffers, what that is worth, and what it is based on, or why there is no recommendation: at most two sentences';
COMMENT ON COLUMN working_set_recommendation.recommended_cache_bytes IS 'Cache in bytes that the present workload needs, with its expected growth and a tenth on top, or NULL if there is no recommendation';
COMMENT ON COLUMN working_set_recommendation.working_set_bytes IS 'Size in bytes of the working set of the last working_set.break_even, or up to the end of the plateau, or NULL if there is no recommendation';
COMMENT ON COLUMN working_set_recommendation.live_bytes IS 'Result in bytes of the method live_set, or NULL if it has too little data or no sample';
COMMENT ON COLUMN working_set_recommendation.plateau_end_bytes IS 'Result in bytes of the method plateau_end, or NULL if there is no recommendation';
COMMENT ON COLUMN working_set_recommendation.peak_cache_bytes IS 'Largest cache in bytes that was needed within working_set.history, for a cache that can change its size at once, or NULL if there is no recommendation';
COMMENT ON COLUMN working_set_recommendation.peak_at IS 'Start of the minute, quarter of an hour or day in which peak_cache_bytes was needed, or NULL if there is no recommendation';
COMMENT ON COLUMN working_set_recommendation.shared_buffers_bytes IS 'Setting shared_buffers in bytes';
COMMENT ON COLUMN working_set_recommendation.memory_limit_bytes IS 'Memory in bytes that the server may use, the least of the limits of its host and its control groups, or NULL if they cannot be read';
COMMENT ON COLUMN working_set_recommendation.current_hit_ratio IS 'Share of clients'' lookups in the last five minutes that found their page in shared buffers, 0 to 1, or NULL if there were none';
COMMENT ON COLUMN working_set_recommendation.expected_hit_ratio IS 'Hit ratio expected with suggested_shared_buffers for the load of the last five minutes, 0 to 1, or NULL if that is NULL or the cache advice is not reliable';
COMMENT ON COLUMN working_set_recommendation.reads_per_second IS 'Pages per second that clients had to read in the last five minutes, or NULL if there were no lookups';
COMMENT ON COLUMN working_set_recommendation.expected_reads_per_second IS 'Same expected with suggested_shared_buffers, or NULL if expected_hit_ratio is NULL';
COMMENT ON COLUMN working_set_recommendation.read_time_share IS 'Share of the time in which clients were active, in the last week, that they waited for reads, 0 to 1, or NULL if not known';
COMMENT ON COLUMN working_set_recommendation.query_time_saved IS 'Share of that time that suggested_shared_buffers would save, negative if it would cost some, or NULL if that is NULL';
COMMENT ON COLUMN working_set_recommendation.recurring_job IS 'When on at least three of the last seven days a job ran that a larger cache would save a fifth of its time, with the size, or NULL';
COMMENT ON COLUMN working_set_recommendation.computed_at IS 'When the recommendation was made, or NULL if there is no recommendation';

REVOKE ALL ON working_set_recommendation FROM PUBLIC;
GRANT SELECT ON working_set_recommendation TO pg_monitor;

--
-- Cache advice
--

CREATE FUNCTION working_set_cache_advice(
	OUT size_factor double precision,
	OUT cache_bytes bigint,
	OUT predicted_hit_ratio double precision,
	OUT predicted_reads_per_second double precision,
	OUT low_reads_per_second double precision,
	OUT high_reads_per_second double precision,
	OUT predicted_read_time_share double precision,
	OUT worst_read_time_loss double precision,
	OUT error double precision,
	OUT note text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_cache_advice'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 21;

COMMENT ON FUNCTION working_set_cache_advice() IS
'Rows of the view working_set_cache_advice';

REVOKE ALL ON FUNCTION working_set_cache_advice() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_cache_advice() TO pg_monitor;

CREATE VIEW working_set_cache_advice AS
	SELECT * FROM working_set_cache_advice();

COMMENT ON VIEW working_set_cache_advice IS
'Predicted hit ratio of the last five minutes for twenty sizes of shared_buffers and the suggested one; no rows if lookups are not tracked or no pages are sampled';
COMMENT ON COLUMN working_set_cache_advice.size_factor IS 'Size as a multiple of shared_buffers';
COMMENT ON COLUMN working_set_cache_advice.cache_bytes IS 'Size in bytes';
COMMENT ON COLUMN working_set_cache_advice.predicted_hit_ratio IS 'Share of clients'' lookups that would find their page, 0 to 1, or NULL if the sample is too small';
COMMENT ON COLUMN working_set_cache_advice.predicted_reads_per_second IS 'Pages per second that clients would have to read, as far as is known, or NULL if the sample is too small';
COMMENT ON COLUMN working_set_cache_advice.low_reads_per_second IS 'Lower 95 % bound of predicted_reads_per_second, or NULL if the sample is too small';
COMMENT ON COLUMN working_set_cache_advice.high_reads_per_second IS 'Upper 95 % bound of predicted_reads_per_second, with all first reads, or NULL if the sample is too small';
COMMENT ON COLUMN working_set_cache_advice.predicted_read_time_share IS 'Share of the time in which clients were active, in the last week, that they would have waited for reads, 0 to 1, or NULL if not known';
COMMENT ON COLUMN working_set_cache_advice.worst_read_time_loss IS 'How much larger the share would be in the quarter of an hour of the last 35 days that loses most, of those with a tenth of the average activity, -1 (it gains) to 1, or NULL if not known';
COMMENT ON COLUMN working_set_cache_advice.error IS '95 % bound of the error of predicted_hit_ratio, or NULL if the sample is too small';
COMMENT ON COLUMN working_set_cache_advice.note IS 'Why the row is not reliable, or NULL if it is';

REVOKE ALL ON working_set_cache_advice FROM PUBLIC;
GRANT SELECT ON working_set_cache_advice TO pg_monitor;

--
-- Memory advice
--

CREATE FUNCTION working_set_memory_advice(
	memory bigint DEFAULT NULL,
	shared_buffers bigint DEFAULT NULL,
	OUT memory_bytes bigint,
	OUT shared_buffers_bytes bigint,
	OUT page_cache_bytes bigint,
	OUT predicted_hit_ratio double precision,
	OUT predicted_os_hit_ratio double precision,
	OUT predicted_disk_reads_per_second double precision,
	OUT predicted_disk_bytes_per_second double precision,
	OUT predicted_read_time_share double precision,
	OUT error double precision,
	OUT present boolean,
	OUT note text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_memory_advice'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 16;

COMMENT ON FUNCTION working_set_memory_advice(bigint, bigint) IS
'Row of the view working_set_memory_advice for a machine with "memory" bytes (NULL: all rows), and "shared_buffers" of so many bytes (NULL: those that cost least)';

REVOKE ALL ON FUNCTION working_set_memory_advice(bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_memory_advice(bigint, bigint) TO pg_monitor;

CREATE VIEW working_set_memory_advice AS
	SELECT * FROM working_set_memory_advice();

COMMENT ON VIEW working_set_memory_advice IS
'What clients would read from disk, by the last five minutes, with a quarter to four times the memory, best divided between shared_buffers and the kernel''s page cache, and with both as they are';
COMMENT ON COLUMN working_set_memory_advice.memory_bytes IS 'Memory of the machine or control group in bytes';
COMMENT ON COLUMN working_set_memory_advice.shared_buffers_bytes IS 'Part of it for shared_buffers, in bytes';
COMMENT ON COLUMN working_set_memory_advice.page_cache_bytes IS 'Part of it that is left for the kernel''s page cache, if all else takes what it takes now';
COMMENT ON COLUMN working_set_memory_advice.predicted_hit_ratio IS 'Share of clients'' lookups that would find their page in shared buffers, 0 to 1';
COMMENT ON COLUMN working_set_memory_advice.predicted_os_hit_ratio IS 'Share of the other lookups that would not wait for the disk, 0 to 1';
COMMENT ON COLUMN working_set_memory_advice.predicted_disk_reads_per_second IS 'Times per second that clients would wait for the disk';
COMMENT ON COLUMN working_set_memory_advice.predicted_disk_bytes_per_second IS 'Bytes per second that would be read from disk, readahead included';
COMMENT ON COLUMN working_set_memory_advice.predicted_read_time_share IS 'Share of the time in which clients are active that they would wait for reads, by their share in the last week, 0 to 1, or NULL if not known';
COMMENT ON COLUMN working_set_memory_advice.error IS '95 % bound of the error of predicted_os_hit_ratio';
COMMENT ON COLUMN working_set_memory_advice.present IS 'Whether the row is of the memory and shared_buffers that there are now';
COMMENT ON COLUMN working_set_memory_advice.note IS 'Why the row is not reliable, or NULL if it is';

REVOKE ALL ON working_set_memory_advice FROM PUBLIC;
GRANT SELECT ON working_set_memory_advice TO pg_monitor;

--
-- Relations and queries of the working set
--

CREATE FUNCTION working_set_relations(
	period interval DEFAULT '5 min',
	OUT datname text,
	OUT relid oid,
	OUT relation text,
	OUT relkind "char",
	OUT bytes bigint,
	OUT resident_bytes bigint,
	OUT reused_bytes bigint,
	OUT standard_error_bytes bigint,
	OUT reads_per_second double precision,
	OUT reads_saved_per_second double precision,
	OUT reads_saved_standard_error double precision,
	OUT density double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_relations'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;

COMMENT ON FUNCTION working_set_relations(interval) IS
'Clients'' working set of the last "period" by relation, for up to an hour or working_set.break_even, whichever is longer (NULL: for that long); no rows if lookups are not tracked or no pages are sampled';

REVOKE ALL ON FUNCTION working_set_relations(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_relations(interval) TO pg_monitor;

CREATE VIEW working_set_relations AS
	SELECT * FROM working_set_relations();

COMMENT ON VIEW working_set_relations IS
'Clients'' working set of the last five minutes by relation, all forks together, largest first';
COMMENT ON COLUMN working_set_relations.datname IS 'Database, or NULL for a relation that all databases share or whose database was dropped';
COMMENT ON COLUMN working_set_relations.relid IS 'OID of the relation, or NULL if it is of another database, was dropped, or was rewritten, or if pg_class gives its file to two';
COMMENT ON COLUMN working_set_relations.relation IS 'Name of the relation, or "file" and the number of its file where relid is NULL';
COMMENT ON COLUMN working_set_relations.relkind IS 'Kind of relation as in pg_class, or NULL like relid';
COMMENT ON COLUMN working_set_relations.bytes IS 'Estimated size in bytes of the distinct pages used in the period, at most that of the file';
COMMENT ON COLUMN working_set_relations.resident_bytes IS 'Part of bytes that is in shared buffers now';
COMMENT ON COLUMN working_set_relations.reused_bytes IS 'Part of bytes that was used twice in the period, at least five seconds apart';
COMMENT ON COLUMN working_set_relations.standard_error_bytes IS 'Standard error of bytes';
COMMENT ON COLUMN working_set_relations.reads_per_second IS 'Pages of bytes per second that clients had to read in about the last five minutes, estimated from the sample';
COMMENT ON COLUMN working_set_relations.reads_saved_per_second IS 'Pages per second that clients would not have to read of other relations, if this one were not used: simulated with the present shared_buffers over the last five minutes, whatever the period; its own reads do not count; negative: reads that it saves the others; NULL if not simulated, or not for long enough: the ten largest are, once shared buffers are full and somebody can evict something';
COMMENT ON COLUMN working_set_relations.reads_saved_standard_error IS 'Standard error of reads_saved_per_second, by sampling';
COMMENT ON COLUMN working_set_relations.density IS 'Share of the bytes of the main fork that live rows take, 0 to 1: the live rows that the server counts (n_live_tup of pg_stat_all_tables) times their average width at the last ANALYZE. It is that of the whole file, not only of the pages that were used, and what aligns columns counts as empty; NULL for all but tables and materialized views of this database, or if not analyzed since statistics were reset, or a column has none';

REVOKE ALL ON working_set_relations FROM PUBLIC;
GRANT SELECT ON working_set_relations TO pg_monitor;

CREATE FUNCTION working_set_queries(
	period interval DEFAULT '5 min',
	by text DEFAULT 'query',
	OUT datname text,
	OUT rolname text,
	OUT application_name text,
	OUT queryid bigint,
	OUT bytes bigint,
	OUT exclusive_bytes bigint,
	OUT standard_error_bytes bigint,
	OUT reads_per_second double precision,
	OUT reads_saved_per_second double precision,
	OUT reads_saved_standard_error double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_queries'
LANGUAGE C VOLATILE PARALLEL RESTRICTED ROWS 100;

COMMENT ON FUNCTION working_set_queries(interval, text) IS
'Clients'' working set of the last "period", of up to an hour (NULL: an hour), by "by": query, role, or application; no rows if lookups are not tracked or no pages are sampled';

REVOKE ALL ON FUNCTION working_set_queries(interval, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_queries(interval, text) TO pg_monitor;

CREATE VIEW working_set_queries AS
	SELECT * FROM working_set_queries();

COMMENT ON VIEW working_set_queries IS
'Clients'' working set of the last five minutes by query, largest first; a page counts for each query that used it, so the rows add up to more than the working set';
COMMENT ON COLUMN working_set_queries.datname IS 'Database that the query ran in, or NULL for processes without one and for a dropped database';
COMMENT ON COLUMN working_set_queries.rolname IS 'Role that ran the query, or NULL for processes without one and for a dropped role, or other: see application_name';
COMMENT ON COLUMN working_set_queries.application_name IS 'NULL; other, with the same in rolname, in the row that is the sum of all queries that are not among the largest';
COMMENT ON COLUMN working_set_queries.queryid IS 'Identifier of the top-level query, as in pg_stat_statements and pg_stat_activity; NULL if none was computed (set compute_query_id to on, or preload pg_stat_statements), or if the query is of another role and you do not have the privileges of pg_read_all_stats';
COMMENT ON COLUMN working_set_queries.bytes IS 'Estimated size in bytes of the distinct pages that the query used in the period';
COMMENT ON COLUMN working_set_queries.standard_error_bytes IS 'Standard error of bytes';
COMMENT ON COLUMN working_set_queries.exclusive_bytes IS 'Part of bytes that no other query used in the period';
COMMENT ON COLUMN working_set_queries.reads_per_second IS 'Pages per second that the query had to read in the last five minutes, or NULL for a second after a reset';
COMMENT ON COLUMN working_set_queries.reads_saved_per_second IS 'Pages per second that all others would not have to read, if the query did not run: simulated with the present shared_buffers over the last five minutes, whatever the period; its own reads (reads_per_second) do not count; negative: reads that it saves the others, because they find what it brought in; NULL if not simulated, or not for long enough: the six largest queries are, and the two largest roles and applications, once shared buffers are full and somebody can evict something';
COMMENT ON COLUMN working_set_queries.reads_saved_standard_error IS 'Standard error of reads_saved_per_second, by sampling';

REVOKE ALL ON working_set_queries FROM PUBLIC;
GRANT SELECT ON working_set_queries TO pg_monitor;

--
-- History
--

CREATE FUNCTION working_set_history(
	OUT at timestamp with time zone,
	OUT minutes integer,
	OUT working_set_bytes bigint,
	OUT recommended_cache_bytes bigint,
	OUT lookups bigint,
	OUT hits bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_history'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 5200;

COMMENT ON FUNCTION working_set_history() IS
'Rows of the view working_set_history';

REVOKE ALL ON FUNCTION working_set_history() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_history() TO pg_monitor;

CREATE VIEW working_set_history AS
	SELECT * FROM working_set_history();

COMMENT ON VIEW working_set_history IS
'Past recommendations, latest first: a row per minute of the last day, a row per quarter of an hour of the last 35 days, and a row per day of the last 400';
COMMENT ON COLUMN working_set_history.at IS 'Start of the minute, quarter of an hour, or day of UTC';
COMMENT ON COLUMN working_set_history.minutes IS 'Length of the row''s time in minutes: 1, 15 or 1440';
COMMENT ON COLUMN working_set_history.working_set_bytes IS 'Size of the working set in bytes when recommended_cache_bytes was largest, or NULL if there was no recommendation';
COMMENT ON COLUMN working_set_history.recommended_cache_bytes IS 'Largest cache in bytes that was needed, with a tenth on top, or NULL if there was no recommendation; with live_set, pages that were used once count as at most a quarter of the others';
COMMENT ON COLUMN working_set_history.lookups IS 'Number of lookups of pages by clients';
COMMENT ON COLUMN working_set_history.hits IS 'Number of these lookups that found the page in shared buffers';

REVOKE ALL ON working_set_history FROM PUBLIC;
GRANT SELECT ON working_set_history TO pg_monitor;

CREATE FUNCTION working_set_forecast(
	OUT forecast text,
	OUT at timestamp with time zone,
	OUT bytes bigint,
	OUT low_bytes bigint,
	OUT high_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'ws_working_set_forecast'
LANGUAGE C VOLATILE PARALLEL SAFE ROWS 5;

COMMENT ON FUNCTION working_set_forecast() IS
'Rows of the view working_set_forecast';

REVOKE ALL ON FUNCTION working_set_forecast() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_forecast() TO pg_monitor;

CREATE VIEW working_set_forecast AS
	SELECT * FROM working_set_forecast();

COMMENT ON VIEW working_set_forecast IS
'Where the peaks of weeks are heading, from the trend of up to 84 days: three rows for the cache needed in 7, 30 and 90 days, and two for the days on which shared_buffers and memory are outgrown';
COMMENT ON COLUMN working_set_forecast.forecast IS 'What is foretold: in 7 days, in 30 days, in 90 days, shared_buffers outgrown, or memory outgrown';
COMMENT ON COLUMN working_set_forecast.at IS 'Start of the day of UTC, today''s if a size is outgrown already, or NULL if there is no recommendation, the growth is not certain, or the day is not within a year';
COMMENT ON COLUMN working_set_forecast.bytes IS 'Cache in bytes that the busiest time of a week will need then, or the size that is outgrown, or NULL if fewer than 21 days are known or there is no recommendation';
COMMENT ON COLUMN working_set_forecast.low_bytes IS 'Lower 95 % bound of bytes, or NULL if that is NULL';
COMMENT ON COLUMN working_set_forecast.high_bytes IS 'Upper 95 % bound of bytes, or NULL if that is NULL';

REVOKE ALL ON working_set_forecast FROM PUBLIC;
GRANT SELECT ON working_set_forecast TO pg_monitor;

--
-- State
--

CREATE FUNCTION working_set_info(
	OUT tracking boolean,
	OUT reason text,
	OUT since timestamp with time zone,
	OUT sample_rate double precision,
	OUT sampled_pages bigint,
	OUT lookups bigint,
	OUT hits bigint,
	OUT evictions bigint,
	OUT dropped_samples bigint,
	OUT predictions_checked integer,
	OUT predictions_within_error integer,
	OUT worker_pid integer,
	OUT last_saved timestamp with time zone,
	OUT version text)
RETURNS record
AS 'MODULE_PATHNAME', 'ws_working_set_info'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_info() IS
'Row of the view working_set_info';

REVOKE ALL ON FUNCTION working_set_info() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_info() TO pg_monitor;

CREATE VIEW working_set_info AS
	SELECT * FROM working_set_info();

COMMENT ON VIEW working_set_info IS
'State of the extension: one row';
COMMENT ON COLUMN working_set_info.tracking IS 'True if lookups of pages are counted';
COMMENT ON COLUMN working_set_info.reason IS 'Why lookups are counted or not';
COMMENT ON COLUMN working_set_info.since IS 'Start of the counters: server start, last reset, or when tracking was turned on, or NULL if lookups are not tracked';
COMMENT ON COLUMN working_set_info.sample_rate IS 'Share of pages that are sampled now, 0 to 1';
COMMENT ON COLUMN working_set_info.sampled_pages IS 'Number of pages in the sample, at most working_set.sample_pages';
COMMENT ON COLUMN working_set_info.lookups IS 'Number of lookups of pages by clients, or NULL if the probe is not attached';
COMMENT ON COLUMN working_set_info.hits IS 'Number of these lookups that found the page in shared buffers, or NULL if the probe is not attached';
COMMENT ON COLUMN working_set_info.evictions IS 'Number of pages that left shared buffers, evicted or dropped, or NULL if the probe is not attached';
COMMENT ON COLUMN working_set_info.dropped_samples IS 'Number of events of sampled pages that were lost because the stream to the background worker was full';
COMMENT ON COLUMN working_set_info.predictions_checked IS 'Number of predictions of the last day, one in ten minutes, that were compared with the hit ratio measured an hour later, at the shared_buffers of that time';
COMMENT ON COLUMN working_set_info.predictions_within_error IS 'Number of these that differed by no more than their error';
COMMENT ON COLUMN working_set_info.worker_pid IS 'Process ID of the background worker, or NULL if it does not run';
COMMENT ON COLUMN working_set_info.last_saved IS 'When the state file was last written, or NULL if it was not';
COMMENT ON COLUMN working_set_info.version IS 'Version of the loaded library';

REVOKE ALL ON working_set_info FROM PUBLIC;
GRANT SELECT ON working_set_info TO pg_monitor;

CREATE FUNCTION working_set_reset()
RETURNS timestamp with time zone
AS 'MODULE_PATHNAME', 'ws_working_set_reset'
LANGUAGE C VOLATILE PARALLEL RESTRICTED;

COMMENT ON FUNCTION working_set_reset() IS
'Discard all data, the history included, for the whole server, and return the time from which new data counts';

REVOKE ALL ON FUNCTION working_set_reset() FROM PUBLIC;

--
-- Charts: text over the views, 78 columns wide
--

-- Whoever owns the schema that the extension is created in could have operators and functions there that
-- fit these bodies better than the system's.  So only pg_catalog is looked into while they are bound.
DO $do$
DECLARE
	path pg_catalog.text := pg_catalog.current_setting('search_path');
	ws pg_catalog.text := pg_catalog.quote_ident(pg_catalog.current_schema());
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	EXECUTE pg_catalog.replace($chart$
CREATE FUNCTION @ws@.working_set_chart()
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
BEGIN ATOMIC
WITH r AS MATERIALIZED (
	SELECT *, shared_buffers_bytes::float8 AS b, pg_size_bytes(suggested_shared_buffers)::float8 AS s FROM @ws@.working_set_recommendation()),
-- the data are as old as the counts, or, if these began with the server, as a history that outlived a restart
age AS MATERIALIZED (
	SELECT least(3600, greatest(1, CASE WHEN s <= 120 THEN ceil(s) ELSE 6 * ceil(s / 6) END))::integer AS longest
	  FROM (SELECT extract(epoch FROM clock_timestamp() - least(since, (SELECT min(at) FROM @ws@.working_set_history() WHERE minutes = 1 AND since <= pg_postmaster_start_time())))
	          FROM @ws@.working_set_info() WHERE tracking) i (s)),
curve AS MATERIALIZED (
	SELECT c.seconds, c.pages, c.bytes::float8 AS bytes, c.low_bytes::float8 AS low, c.high_bytes::float8 AS high
	  FROM age,
	       @ws@.working_set_curve(ARRAY(SELECT unnest('{1,5,10,30}'::integer[]) UNION SELECT 60 * m FROM generate_series(1, 60) m UNION SELECT longest)) c),
plateau AS (
	SELECT least(60 * e.index, longest) AS ends, e.index < 60 AS stepped
	  FROM age, CAST(extract(epoch FROM current_setting('working_set.window_size')::interval) / 60 AS integer) AS size,
	       @ws@.working_set_plateau_end((SELECT array_agg(pages::float8 ORDER BY seconds) FROM curve WHERE seconds % 60 = 0),
	           greatest(size, (extract(epoch FROM current_setting('working_set.min_wait')::interval) / 60)::integer), size,
	           current_setting('working_set.max_increase')::float8) e),
drawn AS (
	SELECT curve.*, seconds = ends AS plateau FROM age, plateau, curve
	 WHERE seconds <= longest AND seconds IN (1, 5, 10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2700, longest, ends)),
-- a mark may widen the scale to three times the curve
scale AS (
	SELECT edge, greatest(sign(b), round(57 * b / edge)) AS b, greatest(sign(s), round(57 * s / edge)) AS s, stepped, wide, endless,
	       CASE WHEN r.b > edge THEN ' (off right)' ELSE '' END AS off_b, CASE WHEN r.s > edge THEN ' (off right)' ELSE '' END AS off_s
	  FROM r, plateau,
	       (SELECT greatest(max(coalesce(high, 1.1 * bytes)), 1) AS curve, bool_or(high IS NULL) AS endless FROM drawn) m,
	       greatest(curve, CASE WHEN r.b <= 3 * curve THEN r.b END, CASE WHEN r.s <= 3 * curve THEN r.s END) AS edge,
	       LATERAL (SELECT bool_or(round(57 * high / edge) - round(57 * low / edge) > 1) AS wide FROM drawn) w),
step AS (
	SELECT n, u, n * 1024.0 ^ u AS bytes FROM scale, unnest('{1,2,5,10,20,50,100,200,500}'::integer[]) n, generate_series(1, 5) u
	 WHERE 57 * n * 1024.0 ^ u >= 12 * edge ORDER BY bytes LIMIT 1),
tick AS (
	SELECT k, label, least(20 + k - length(label) / 2, 78 - length(label)) + length(label) AS ends
	  FROM scale, step, generate_series(0, floor(edge / bytes)::integer) i,
	       CAST(greatest(sign(i), round(57 * i * bytes / edge)) AS integer) AS k,
	       CAST(CASE WHEN i = 0 THEN '0' ELSE i * n || ' ' || ('{kB,MB,GB,TB,PB}'::text[])[u] END AS text) AS label),
line (n, words) AS (
	SELECT -3, 'Working set: size of the distinct pages that clients used in the last ...' FROM age
	UNION ALL
	SELECT -2, concat('b shared_buffers ', pg_size_pretty(r.b::bigint), off_b, '   s suggested',
	                  CASE WHEN r.s IS NULL THEN ': not known yet' ELSE concat(' ', pg_size_pretty(r.s::bigint), off_s, CASE WHEN scale.b = scale.s THEN '   * both' END) END)
	  FROM r, scale
	UNION ALL
	SELECT -1, concat('      last     size ', CASE WHEN wide THEN '=| 95 % bounds  ' END, CASE WHEN endless THEN '=> no upper bound  ' END,
	                  CASE WHEN NOT wide AND NOT endless THEN '95 % bounds: too narrow to show  ' END,
	                  CASE WHEN stepped THEN 'p end of the plateau' ELSE 'p plateau has not ended' END) FROM scale
	UNION ALL
	SELECT seconds, format('%s %8s %8s ', CASE WHEN plateau THEN 'p' ELSE ' ' END,
	                       CASE WHEN seconds <> 60 AND seconds < 120 THEN seconds || ' s' ELSE round(seconds / 60.0, (seconds % 60 > 0)::integer) || ' min' END,
	                       CASE WHEN bytes < 10240 THEN round(bytes / 1024) || ' kB' ELSE pg_size_pretty(bytes::bigint) END) ||
	       (SELECT string_agg(CASE WHEN k = 0 THEN '|' WHEN k = b AND k = s THEN '*' WHEN k = b THEN 'b' WHEN k = s THEN 's'
	                               WHEN bounds AND k = most THEN CASE WHEN high IS NULL THEN '>' ELSE '|' END
	                               WHEN k <= least THEN '#' WHEN bounds AND k < most THEN '=' ELSE ' ' END, '' ORDER BY k)
	          FROM generate_series(0, 57) k)
	  FROM scale, drawn, greatest(sign(bytes), round(57 * coalesce(high, 1.1 * bytes) / edge)) AS most,
	       LATERAL (SELECT high IS NULL OR most - round(57 * low / edge) > 1 AS bounds) x,
	       LATERAL (SELECT greatest(sign(bytes), round(57 * CASE WHEN bounds THEN low ELSE bytes END / edge)) AS least) y
	UNION ALL
	SELECT 3601, repeat(' ', 20) || string_agg(CASE WHEN k = b AND k = s THEN '*' WHEN k = b THEN 'b' WHEN k = s THEN 's'
	                                                WHEN k IN (SELECT t.k FROM tick t) THEN '+' ELSE '-' END, '' ORDER BY k)
	  FROM scale, generate_series(0, 57) k GROUP BY b, s
	UNION ALL
	SELECT 3602, string_agg(lpad(label, width::integer), '' ORDER BY k) FROM (SELECT label, k, ends - coalesce(lag(ends) OVER (ORDER BY k), 0) AS width FROM tick) t
	UNION ALL
	SELECT 3603, concat('Verdict: ', verdict, CASE WHEN s = b THEN '. shared_buffers stay as they are'
	                    ELSE format(': shared_buffers = %L', suggested_shared_buffers) END) FROM r WHERE verdict IS NOT NULL
	UNION ALL
	SELECT 3604, 'Why, and how: SELECT working_set()' FROM r WHERE verdict IS NOT NULL
	UNION ALL
	SELECT 3605, rtrim(regexp_replace(regexp_replace('Status: ' || status || ': ' || reason, '[^ -~]', '?', 'g'), '(.{1,78})( +|$)', E'\\1\n', 'g'), E'\n')
	  FROM r WHERE status <> 'ok')
SELECT string_agg(rtrim(words), E'\n' ORDER BY n) FROM line WHERE words IS NOT NULL;
END
$chart$, '@ws@', ws);
	PERFORM pg_catalog.set_config('search_path', path, true);
END $do$;

COMMENT ON FUNCTION working_set_chart() IS
'Text chart of the clients'' working set for windows of up to 60 minutes, with shared_buffers, the suggested size, and the verdict';

REVOKE ALL ON FUNCTION working_set_chart() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_chart() TO pg_monitor;

DO $do$
DECLARE
	path pg_catalog.text := pg_catalog.current_setting('search_path');
	ws pg_catalog.text := pg_catalog.quote_ident(pg_catalog.current_schema());
BEGIN
	PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
	EXECUTE pg_catalog.replace($chart$
CREATE FUNCTION @ws@.working_set_memory_chart()
RETURNS text
LANGUAGE sql VOLATILE PARALLEL RESTRICTED
BEGIN ATOMIC
WITH r AS MATERIALIZED (
	SELECT memory_limit_bytes, shared_buffers_bytes, pg_size_bytes(suggested_shared_buffers) AS suggested FROM @ws@.working_set_recommendation()),
-- best divisions, what there is (now), and the suggested shared_buffers; what may be an error of the model
mem AS MATERIALIZED (
	SELECT m.*, CASE WHEN reads >= 0 THEN round(least(reads, 9999999)) END AS whole, 0.03 * reads / nullif(1 - os, 0) AS err,
	       row_number() OVER (ORDER BY memory, kind) AS n
	  FROM (SELECT CASE WHEN present THEN 1 ELSE 3 END AS kind, row_number() OVER (PARTITION BY present ORDER BY memory_bytes) AS of_kind,
	               memory_bytes AS memory, shared_buffers_bytes AS buffers, predicted_disk_reads_per_second AS reads, predicted_os_hit_ratio AS os, note
	          FROM @ws@.working_set_memory_advice()
	        UNION ALL
	        SELECT 2, 1, a.memory_bytes, a.shared_buffers_bytes, a.predicted_disk_reads_per_second, a.predicted_os_hit_ratio, a.note
	          FROM r, @ws@.working_set_memory_advice(memory_limit_bytes, suggested) a WHERE suggested <> r.shared_buffers_bytes AND memory_limit_bytes > 0) m
	 WHERE of_kind IN (1, 2, 3, 5, 7, 8, 9, 10, 12, 14, 15)),
scale AS (
	SELECT low, greatest(most, 10 * low) AS high FROM (SELECT 10 ^ floor(log(min(whole))) AS low, max(whole) AS most FROM mem WHERE whole >= 1) m),
-- how other rows differ from what there is, or from the best division if that is not reliable
base AS (
	SELECT CASE WHEN now.note IS NULL THEN now.n ELSE best.n END AS n, CASE WHEN best.note IS NOT NULL OR now.note IS NULL AND now.reads < best.reads THEN now.n ELSE best.n END AS here,
	       coalesce(want.n, best.n) AS want, best.n AS best, CASE WHEN now.note IS NOT NULL THEN best.note END AS doubt
	  FROM mem now JOIN mem best ON best.kind = 3 AND best.memory IS NOT DISTINCT FROM now.memory LEFT JOIN mem want ON want.kind = 2 WHERE now.kind = 1),
pair AS MATERIALIZED (
	SELECT m.*, o.n AS than, m.note IS NULL AND NOT same AND m.reads <= 0.9 * o.reads AS less, m.note IS NULL AND NOT same AND m.reads >= 1.1 * o.reads AS more,
	       CASE WHEN round(m.reads) >= 1 AND m.reads < o.reads THEN least(round(100 * (1 - m.reads / o.reads)), 99) || ' % less'
	            WHEN round(m.reads) >= 1 AND round(o.reads) >= 1 THEN least(round(100 * (m.reads / o.reads - 1)), 9999999) || ' % more'
	            WHEN round(m.reads) >= 1 THEN m.whole || ' a second' ELSE 'nothing' END AS change
	  FROM mem m, mem o, LATERAL (SELECT abs(m.reads - o.reads) < greatest(m.err, o.err, 1) AS same) x),
above AS (
	SELECT m.* FROM base, mem here, mem m WHERE here.n = base.here AND m.memory > here.memory AND m.note IS NULL),
enough AS (
	SELECT a.n FROM base, mem here, above a, (SELECT min(reads) AS reads FROM above) l
	 WHERE here.n = base.here AND l.reads <= 0.9 * here.reads AND here.reads - l.reads >= greatest(here.err, 1) AND a.reads <= here.reads - 0.9 * (here.reads - l.reads)
	 ORDER BY a.memory LIMIT 1),
less_memory AS (
	SELECT min(m.memory) AS memory FROM base, mem here, mem m
	 WHERE here.n = base.here AND m.memory < here.memory AND m.kind = 3
	   AND NOT EXISTS (SELECT 1 FROM mem x WHERE x.kind = 3 AND x.memory BETWEEN m.memory AND here.memory - 1
	                      AND (x.note IS NOT NULL OR NOT x.reads <= here.reads + greatest(0.1 * here.reads, 1)))),
conclusion AS (
	SELECT CASE WHEN doubt IS NOT NULL THEN 'Do not rely on this: ' || doubt ELSE concat_ws(' ',
	       (SELECT format('%s of shared_buffers would read %s.', pg_size_pretty(buffers), change) FROM pair p WHERE p.n = want AND than = base.n AND base.n <> base.best AND (less OR more)),
	       (SELECT format('%s of shared_buffers would read %s.', pg_size_pretty(buffers), change) FROM pair p WHERE p.n = best AND than = base.n AND less
	           AND NOT EXISTS (SELECT 1 FROM pair q WHERE q.n = want AND q.than = base.n AND q.less)),
	       CASE WHEN NOT EXISTS (SELECT 1 FROM above) THEN 'What more memory would read is not known.'
	            WHEN EXISTS (SELECT 1 FROM enough) THEN
	                 (SELECT format('%s of memory would read %s.', pg_size_pretty(memory), change) FROM enough, pair p WHERE p.n = enough.n AND than = base.n)
	            ELSE 'More memory would not read less.' || coalesce(' ' || pg_size_pretty((SELECT memory FROM less_memory)) || ' of memory would read hardly more.', '') END) END AS words
	  FROM base),
line (n, words) AS (
	SELECT -2, 'Predicted reads from disk, by memory and the best shared_buffers for it'
	UNION ALL
	SELECT -1, format('%-9s %8s %8s %7s  %s', '', 'memory', 'shared', 'reads/s', (SELECT format('bars: %s to %s, logarithmic', low, high) FROM scale WHERE low IS NOT NULL))
	UNION ALL
	SELECT n, format('%-9s %8s %8s %7s%s|%s',
	                 CASE WHEN kind = 2 THEN 'suggested' WHEN kind = 1 THEN CASE WHEN suggested = buffers THEN 'now, keep' ELSE 'now' END END,
	                 pg_size_pretty(memory), pg_size_pretty(buffers), whole, CASE WHEN note IS NULL THEN ' ' ELSE '?' END,
	                 repeat('#', CASE WHEN whole >= 1 THEN 1 + round(40 * ln(whole / low) / ln(high / low)) ELSE 0 END::integer))
	  FROM mem, r, scale
	UNION ALL
	SELECT 100, '? not reliable: see note in working_set_memory_advice' WHERE EXISTS (SELECT 1 FROM mem WHERE note IS NOT NULL)
	UNION ALL
	SELECT 101, rtrim(regexp_replace(words, '(.{1,78})( +|$)', E'\\1\n', 'g'), E'\n') FROM conclusion)
SELECT CASE WHEN EXISTS (SELECT 1 FROM mem WHERE whole IS NOT NULL) THEN string_agg(rtrim(words), E'\n' ORDER BY n)
            ELSE rtrim(regexp_replace('Reads from disk are not known: ' || coalesce((SELECT max(note) FROM mem), ''), '(.{1,78})( +|$)', E'\\1\n', 'g'), E'\n') END
  FROM line;
END
$chart$, '@ws@', ws);
	PERFORM pg_catalog.set_config('search_path', path, true);
END $do$;

COMMENT ON FUNCTION working_set_memory_chart() IS
'Text chart of the predicted reads from disk with a quarter to four times the memory, now, and with the suggested shared_buffers';

REVOKE ALL ON FUNCTION working_set_memory_chart() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION working_set_memory_chart() TO pg_monitor;
