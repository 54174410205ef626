-- Cache advice: what the view looks like, and what it says before anything is known

\d working_set_cache_advice

-- twenty sizes, from a tenth to sixteen times shared_buffers, ascending
SELECT size_factor FROM working_set_cache_advice;
SELECT count(*) FILTER (WHERE cache_bytes = round(pg_size_bytes(current_setting('shared_buffers')) * size_factor::numeric / current_setting('block_size')::int) * current_setting('block_size')::int) AS bytes
  FROM working_set_cache_advice;

-- a reset leaves nothing to go by
SELECT working_set_reset() IS NOT NULL AS reset;
SELECT DISTINCT predicted_hit_ratio, predicted_reads_per_second, error, note
  FROM working_set_cache_advice;

-- Memory advice: likewise, with fifteen sizes of memory, and what there is now

\d working_set_memory_advice
-- (each right after a reset: a second later something may be known)
SELECT count(*), count(*) FILTER (WHERE present) AS present,
       bool_and(shared_buffers_bytes = pg_size_bytes(current_setting('shared_buffers'))) FILTER (WHERE present) AS as_set
  FROM working_set_memory_advice;
SELECT working_set_reset() IS NOT NULL AS reset \;
SELECT DISTINCT page_cache_bytes, predicted_hit_ratio, predicted_os_hit_ratio, predicted_disk_reads_per_second,
       predicted_disk_bytes_per_second, predicted_read_time_share, error, note IS NOT NULL AS noted
  FROM working_set_memory_advice;
SELECT working_set_reset() IS NOT NULL AS reset \;
SELECT memory_bytes, shared_buffers_bytes FROM working_set_memory_advice(2147483649);
SELECT memory_bytes, shared_buffers_bytes FROM working_set_memory_advice(2147483648, 134217728);
SELECT count(*), count(*) FILTER (WHERE present) AS present, count(*) FILTER (WHERE shared_buffers_bytes = 136314880) AS as_asked
  FROM working_set_memory_advice(NULL, 136314880);
SELECT working_set_memory_advice(0);
SELECT working_set_memory_advice(-1, -1);
SELECT working_set_memory_advice(1073741824, 0);
SELECT working_set_reset() IS NOT NULL AS reset \;
SELECT memory_bytes, shared_buffers_bytes, page_cache_bytes FROM working_set_memory_advice(1073741824, 1073741824);
\set VERBOSITY sqlstate
SELECT working_set_memory_advice(-9223372036854775808);
\set VERBOSITY default
SELECT memory_bytes FROM working_set_memory_advice(9223372036854775807);
