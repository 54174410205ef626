-- The views: columns, one row each, and what they say before anything is known

\d working_set_curve
\d working_set_recommendation
\d working_set_info
\d working_set_history
\d working_set_forecast

SELECT count(*) FROM working_set_recommendation;
SELECT count(*) FROM working_set_info;

-- tracking from the start
SELECT tracking, reason, since <= clock_timestamp() AS since,
       lookups >= hits AS lookups, hits > 0 AS hits, evictions >= 0 AS evictions,
       worker_pid > 0 AS worker,
       version = extversion AS version
  FROM working_set_info, pg_extension WHERE extname = 'working_set';
-- (how many samples are dropped, and how far the rate goes down for it, depends on how often
-- the worker gets its turn)
SELECT sample_rate BETWEEN 0.000001 AND 1 AND log(2, sample_rate::numeric) % 1 = 0 AS sample_rate, sampled_pages >= 0 AS sampled_pages,
       dropped_samples >= 0 AS dropped_samples, last_saved <= clock_timestamp() IS NOT FALSE AS last_saved,
       predictions_within_error BETWEEN 0 AND predictions_checked AS predictions
  FROM working_set_info;

-- for a minute after a reset nothing is recommended
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT status, confidence, computed_at, working_set_bytes, plateau_end_bytes,
       recommended_cache_bytes, live_bytes, peak_cache_bytes, peak_at,
       suggested_shared_buffers, suggested_effective_cache_size, verdict,
       reads_per_second, expected_reads_per_second, query_time_saved
  FROM working_set_recommendation;
-- and the reset emptied the history
SELECT * FROM working_set_history;
-- so nothing is foretold
SELECT * FROM working_set_forecast;
SELECT reason LIKE 'counting since %; the first recommendation comes after a minute' AS reason,
       translate(working_set(), E'\n', ' ') ~ ('^COLLECTING: ' || reason || '( Usual start until then: .*)? Do: ask again in \d+ seconds?$') AS in_words,
       shared_buffers_bytes = pg_size_bytes(current_setting('shared_buffers')) AS shared_buffers
  FROM working_set_recommendation;

-- lookups are the server's own: a scan of 100 cached pages is 100 hits
CREATE TABLE hundred AS
  SELECT g AS id, repeat('x', current_setting('block_size')::int / 8 - 24) AS filler FROM generate_series(1, 700) g;
VACUUM (FREEZE, ANALYZE) hundred;
SELECT relpages FROM pg_class WHERE relname = 'hundred';
SELECT count(filler) FROM hundred;
SELECT lookups AS lookups_before, hits AS hits_before FROM working_set_info \gset
SELECT count(filler) FROM hundred;
SELECT hits - :hits_before BETWEEN 100 AND 200 AS hits,
       lookups - hits = :lookups_before - :hits_before AS nothing_read
  FROM working_set_info;
DROP TABLE hundred;
-- pages of a dropped table have left
SELECT evictions >= 100 AS dropped FROM working_set_info;

-- everything is commented (but row types, which are members on some servers)
SELECT classid::regclass, objid, objsubid
  FROM pg_depend AS d
 WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND classid <> 'pg_type'::regclass
   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'working_set')
   AND obj_description(objid, classid::regclass::text) IS NULL;
SELECT attrelid::regclass, attname FROM pg_attribute
 WHERE attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'v' AND relname LIKE 'working\_set\_%')
   AND attnum > 0 AND col_description(attrelid, attnum) IS NULL;

-- what there is to learn: at most 100 columns in 9 views, and 12 settings
SELECT count(DISTINCT attrelid) <= 9 AS views, count(*) <= 100 AS columns
  FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'v' AND relname LIKE 'working\_set\_%') AND attnum > 0;
SELECT attrelid::regclass AS view, count(*) AS columns
  FROM pg_attribute WHERE attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'v' AND relname LIKE 'working\_set\_%') AND attnum > 0
 GROUP BY attrelid ORDER BY attrelid::regclass::text COLLATE "C";
SELECT count(*) <= 12 AS settings FROM pg_settings WHERE name LIKE 'working\_set.%';
SELECT count(*) AS functions FROM pg_depend
 WHERE classid = 'pg_proc'::regclass AND refclassid = 'pg_extension'::regclass AND deptype = 'e'
   AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'working_set');
