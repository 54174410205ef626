-- Cache advice: what the view looks like, and what it says before anything is known

\d working_set_cache_advice

-- twenty sizes, from a tenth to sixteen times shared_buffers, ascending
SELECT size_factor FROM working_set_cache_advice;
SELECT count(*) FILTER (WHERE cache_bytes = round(pg_size_bytes(current_setting('shared_buffers')) * size_factor::numeric / current_setting('block_size')::int) * current_setting('block_size')::int) AS bytes,
       count(*) FILTER (WHERE cache = pg_size_pretty(cache_bytes)) AS pretty
  FROM working_set_cache_advice;

-- a reset leaves nothing to go by
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT DISTINCT predicted_hit_ratio, predicted_hit_ratio_without_scans,
       predicted_reads_per_second, read_factor, error, note
  FROM working_set_cache_advice;
