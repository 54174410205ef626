-- All metrics for all exporters: each query once, and beside each column what it is.  The files for the exporters
-- are made of this one by monitoring/generate; psql runs it as it is.
--
--   -- file NAME INTERVAL       the queries that follow are switched on together, and asked at this interval
--   -- query NAME: TEXT         one statement, ended by a semicolon
--   AS NAME, -- gauge: TEXT     a column that is a metric, in double precision; also counter.  NULL: it is not known, and absent
--   AS NAME, -- label: TEXT     a column that is a label, as text that is not NULL; an empty one is absent
--
-- The queries have names without a schema: grants.sql sets search_path for the role that scrapes.  psql
-- does the same here, whoever runs this.
SELECT pg_catalog.set_config('search_path', pg_catalog.format('pg_catalog, %I, pg_temp', n.nspname), false)
  FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
 WHERE e.extname OPERATOR(pg_catalog.=) 'working_set'::pg_catalog.name;

-- file working_set 15s
-- What is always of use.  Tracking and status have statements of their own, which read nothing else: they
-- are there whenever the exporter can ask the extension at all.

-- query working_set_tracking: Whether lookups of pages are counted, and whether the background worker runs
SELECT tracking::int::float8 AS working_set_tracking, -- gauge: 1: lookups of pages are counted, 0: they are not
       (worker_pid IS NOT NULL)::int::float8 AS working_set_worker_running -- gauge: 1: the background worker runs, 0: it does not
FROM working_set_info;

-- query working_set_status: Status of the recommendation
SELECT s::text AS status, -- label: Status
       (r.status = s)::int::float8 AS working_set_status -- gauge: 1 for the present status, 0 for the others
FROM working_set_recommendation r, pg_catalog.unnest('{ok,collecting,stale,not tracking}'::text[]) s;

-- query working_set_info: Version, registers of the sketch, heuristic in use, and why it tracks or not
SELECT i.version::text AS version, -- label: Version of the extension
       current_setting('working_set.registers')::text AS registers, -- label: Registers of the sketch
       current_setting('working_set.method')::text AS method, -- label: Heuristic in use
       coalesce(i.reason, '')::text AS reason, -- label: Why it tracks or not
       1::float8 AS working_set_info -- gauge: Version, registers of the sketch, heuristic in use, and why it tracks or not; always 1
FROM working_set_info i;

-- query working_set: Figures of which there is one each; what is counted while it tracks, and what is recommended while the worker is on time
SELECT r.shared_buffers_bytes::float8 AS working_set_shared_buffers_bytes, -- gauge: The setting shared_buffers
       r.memory_limit_bytes::float8 AS working_set_memory_limit_bytes, -- gauge: Memory of the host, or of its control group if that is less
       extract(epoch FROM r.computed_at)::float8 AS working_set_recommendation_timestamp_seconds, -- gauge: When the recommendation was made
       extract(epoch FROM i.last_saved)::float8 AS working_set_last_saved_timestamp_seconds, -- gauge: When the set, the sample and the history were last saved
       t.hits::float8 AS working_set_hits_total, -- counter: Lookups of pages by clients that found the page in shared buffers
       t.lookups::float8 AS working_set_lookups_total, -- counter: Lookups of pages by clients
       t.evictions::float8 AS working_set_evictions_total, -- counter: Pages that left shared buffers
       t.dropped_samples::float8 AS working_set_dropped_samples_total, -- counter: Events of sampled pages that were lost
       extract(epoch FROM t.since)::float8 AS working_set_counters_start_timestamp_seconds, -- gauge: Since when lookups, hits, evictions and dropped samples count
       t.sample_rate::float8 AS working_set_sample_ratio, -- gauge: Share of pages that are sampled
       t.sampled_pages::float8 AS working_set_sampled_pages, -- gauge: Pages in the sample
       o.recommended_cache_bytes::float8 AS working_set_recommended_cache_size_bytes, -- gauge: Recommended cache for the present workload
       o.peak_cache_bytes::float8 AS working_set_peak_cache_size_bytes, -- gauge: Most that was needed in working_set.history, a week by default
       pg_size_bytes(o.suggested_shared_buffers)::float8 AS working_set_suggested_shared_buffers_bytes, -- gauge: What to set shared_buffers to
       o.live_bytes::float8 AS working_set_live_bytes, -- gauge: What the heuristic live_set says
       o.plateau_end_bytes::float8 AS working_set_plateau_end_bytes, -- gauge: What the heuristic plateau_end says
       o.current_hit_ratio::float8 AS working_set_current_hit_ratio, -- gauge: Share of lookups of the last five minutes that found their page
       o.expected_hit_ratio::float8 AS working_set_expected_hit_ratio, -- gauge: The same if shared_buffers were as suggested
       o.read_time_share::float8 AS working_set_read_time_ratio, -- gauge: Share of query time of the last week that clients waited for reads
       o.query_time_saved::float8 AS working_set_query_time_saved_ratio, -- gauge: Share of query time that shared_buffers as suggested would save
       (CASE o.confidence WHEN 'low' THEN 0 WHEN 'medium' THEN 1 WHEN 'high' THEN 2 END)::float8 AS working_set_confidence -- gauge: How sure the recommendation is: 0 low, 1 medium, 2 high
FROM working_set_info i CROSS JOIN working_set_recommendation r
LEFT JOIN LATERAL (SELECT i.*) t ON i.tracking
LEFT JOIN LATERAL (SELECT r.*) o ON r.status IN ('ok', 'collecting');

-- query working_set_size: Distinct pages used in the last window_seconds, with 95 % bounds; windows nest, so do not add them up
SELECT seconds::text AS window_seconds, -- label: Length of the window
       bytes::float8 AS working_set_size_bytes, -- gauge: Distinct pages used in the last window_seconds; windows nest, so do not add them up
       low_bytes::float8 AS working_set_size_lower_bound_bytes, -- gauge: Lower 95 % bound of working_set_size_bytes
       high_bytes::float8 AS working_set_size_upper_bound_bytes -- gauge: Upper 95 % bound of working_set_size_bytes
FROM working_set_curve('{60,300,900,3600}'::integer[], 'client'::text);

-- query working_set_verdict: What to do about shared_buffers
SELECT v::text AS verdict, -- label: Verdict
       (r.verdict = v)::int::float8 AS working_set_verdict -- gauge: What to do about shared_buffers: 1 for the present verdict, 0 for the others
FROM working_set_recommendation r, pg_catalog.unnest('{grow,shrink,keep,exceeds memory}'::text[]) v
WHERE r.status IN ('ok', 'collecting') AND r.verdict IS NOT NULL;

-- query working_set_advice: What the hit ratio and the reads would be with shared buffers of other sizes, and whether that is known
-- the first row has no size: it says whether the others can be there
WITH r AS (SELECT FROM working_set_recommendation WHERE status IN ('ok', 'collecting')),
     a AS MATERIALIZED (SELECT * FROM working_set_cache_advice)
SELECT ''::text AS cache_size_bytes, -- label: Size of shared buffers
       NULL::float8 AS working_set_predicted_hit_ratio, -- gauge: Share of lookups that would find their page with shared buffers of cache_size_bytes
       NULL::float8 AS working_set_predicted_hit_ratio_error, -- gauge: 95 % bound of the error of working_set_predicted_hit_ratio
       NULL::float8 AS working_set_predicted_reads_per_second, -- gauge: Pages that clients would have to read in a second with shared buffers of cache_size_bytes
       NULL::float8 AS working_set_predicted_read_time_ratio, -- gauge: Share of query time of the last week that clients would have waited for reads with shared buffers of cache_size_bytes
       (SELECT count(*) > 0 FROM a WHERE a.note IS NULL AND a.predicted_hit_ratio IS NOT NULL)::int::float8 AS working_set_advice_reliable -- gauge: 1: what other sizes would do is known, 0: it is not
FROM r
UNION ALL
SELECT a.cache_bytes::text, min(CASE WHEN a.note IS NULL THEN a.predicted_hit_ratio END)::float8, max(CASE WHEN a.note IS NULL THEN a.error END)::float8,
       max(CASE WHEN a.note IS NULL THEN a.predicted_reads_per_second END)::float8, max(a.predicted_read_time_share)::float8, NULL
FROM r, a GROUP BY 1;

-- file working_set_relations 60s
-- Opt-in: the twenty largest relations of the set.  Up to sixty series, and others as other
-- relations come into the set.  Names have their schema, whatever search_path is.  A relation
-- whose name cannot be known in the database that is connected to, since it is of another, goes
-- by the number of its file.

-- query working_set_relations: The twenty largest relations of the last five minutes, how much of each is in shared buffers, and reads that others would save without an index that nobody uses
SELECT coalesce(w.datname, '')::text AS datname, -- label: Database
       (coalesce(CASE WHEN pg_table_is_visible(w.relid) THEN quote_ident(n.nspname::text) || '.' END, '') || w.relation)::text AS relation, -- label: Relation with its schema
       coalesce(w.relkind::text, '')::text AS relkind, -- label: Kind of relation
       sum(w.bytes)::float8 AS working_set_relation_size_bytes, -- gauge: Distinct pages of the relation, all forks, that were used in the last five minutes; the twenty largest
       sum(w.resident_bytes)::float8 AS working_set_relation_resident_bytes, -- gauge: How much of working_set_relation_size_bytes is in shared buffers
       coalesce(sum(CASE WHEN pg_stat_get_numscans(i.indexrelid) = 0::bigint AND NOT (i.indisunique OR i.indisexclusion OR i.indisreplident)
                            AND w.reads_saved_per_second > 2.0::float8 * w.reads_saved_standard_error THEN w.reads_saved_per_second END), 0.0::float8) AS working_set_relation_unused_index_reads_per_second -- gauge: Reads per second that others would save without the index, if nobody has scanned it since the statistics began and it enforces nothing; else 0
FROM working_set_relations w
LEFT JOIN pg_class c ON c.oid = w.relid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_index i ON i.indexrelid = c.oid
GROUP BY 1, 2, 3 ORDER BY sum(w.bytes) DESC, 1, 2, 3 LIMIT 20;

-- file working_set_memory 60s
-- Opt-in: reads from disk with other sizes of memory.  Up to 34 series.  A prediction that has a
-- note cannot be relied on, and is left out; what was measured stays.

-- query working_set_memory: How often in a second clients would wait for the disk with other sizes of memory, best divided between shared_buffers and the page cache
SELECT m.memory_bytes::text AS memory_bytes, -- label: Memory of the machine or control group
       min(m.predicted_disk_reads_per_second)::float8 AS working_set_memory_predicted_disk_reads_per_second, -- gauge: How often in a second clients would wait for the disk with memory_bytes of memory, best divided between shared_buffers and the page cache
       min(m.shared_buffers_bytes)::float8 AS working_set_memory_best_shared_buffers_bytes -- gauge: shared_buffers of that division of memory_bytes
FROM working_set_recommendation r, working_set_memory_advice m
WHERE r.status IN ('ok', 'collecting') AND NOT m.present AND m.note IS NULL
GROUP BY 1;

-- query working_set_disk: Reads from disk with memory and shared_buffers as they are, as predicted, and if shared_buffers were as suggested
SELECT CASE WHEN m.note IS NULL THEN m.predicted_disk_reads_per_second::float8 END AS working_set_predicted_disk_reads_per_second, -- gauge: How often in a second clients wait for the disk with memory and shared_buffers as they are, as predicted
       s.predicted_disk_reads_per_second::float8 AS working_set_expected_disk_reads_per_second, -- gauge: The same as working_set_predicted_disk_reads_per_second if shared_buffers were as suggested
       CASE WHEN m.note IS NULL THEN m.predicted_disk_bytes_per_second::float8 END AS working_set_predicted_disk_bytes_per_second -- gauge: Bytes read from disk in a second with memory and shared_buffers as they are, as predicted
FROM working_set_recommendation r
JOIN working_set_memory_advice m ON m.present
-- with NULL as argument it would have the rows of the view
LEFT JOIN LATERAL working_set_memory_advice(r.memory_limit_bytes, pg_size_bytes(r.suggested_shared_buffers)) s
       ON r.memory_limit_bytes IS NOT NULL AND r.suggested_shared_buffers IS NOT NULL AND s.note IS NULL
WHERE r.status IN ('ok', 'collecting');

-- file working_set_queries 60s
-- Opt-in: the twenty queries that use most of the cache.  Up to eighty series, and others as other
-- queries come in.  Those that are not kept apart have the queryid other; without an identifier
-- there is no label queryid.  What no name is known for any more is added up.

-- query working_set_queries: The twenty queries that use most of the cache in the last five minutes, how much no other query uses, their reads, and what they make others read
SELECT coalesce(w.datname, '')::text AS datname, -- label: Database
       coalesce(w.rolname, '')::text AS rolname, -- label: Role
       CASE WHEN w.rolname = 'other' AND w.application_name = 'other' THEN 'other' ELSE coalesce(w.queryid::text, '') END::text AS queryid, -- label: Identifier of the query; other: those that are not kept apart
       sum(w.bytes)::float8 AS working_set_query_size_bytes, -- gauge: Distinct pages that the query used in the last five minutes; the twenty largest
       sum(w.exclusive_bytes)::float8 AS working_set_query_exclusive_bytes, -- gauge: Part of working_set_query_size_bytes that no other query used
       sum(w.reads_per_second)::float8 AS working_set_query_reads_per_second, -- gauge: Pages per second that the query had to read in the last five minutes
       sum(w.reads_saved_per_second)::float8 AS working_set_query_reads_saved_per_second -- gauge: Pages per second that all others would not have to read without the query
FROM working_set_queries w
GROUP BY 1, 2, 3 ORDER BY sum(w.bytes) DESC, 1, 2, 3 LIMIT 20;

-- file working_set_neon 15s
-- Opt-in: what the agent of Neon's autoscaler reads of a compute, for that agent or for one
-- that was written like it.  The cache is shared buffers.  The types are gauges, and the windows are
-- those of every minute, because the agent refuses others.
--
-- The agent refuses windows that have another label, too: do not use working_set_neon_dashboard in
-- the exporter that it scrapes.

-- query working_set_neon_windows: Approximate working set size in pages
SELECT seconds::text AS duration_seconds, -- label: Length of the window
       pages::float8 AS lfc_approximate_working_set_size_windows -- gauge: Approximate working set size in pages
FROM working_set_curve;

-- query working_set_neon: Lookups, allocations and size of the cache
SELECT i.hits::float8 AS lfc_hits, -- gauge: Lookups of pages by clients that found the page in shared buffers, the cache that is meant here
       (i.lookups - i.hits)::float8 AS lfc_misses, -- gauge: Lookups of pages by clients that did not find the page in shared buffers
       b.buffers_alloc::float8 AS lfc_writes, -- gauge: Buffers that any process allocated in shared buffers to put a page there (buffers_alloc of pg_stat_bgwriter); stock PostgreSQL writes to no file cache
       r.shared_buffers_bytes::float8 AS lfc_cache_size_limit -- gauge: The setting shared_buffers in bytes, as the limit of the cache
FROM working_set_info i, working_set_recommendation r, pg_stat_bgwriter b
WHERE i.tracking;

-- query working_set_neon_used: How much of the working set of the last five minutes is in shared buffers
SELECT round(sum(resident_bytes)::float8 / 1048576::float8) AS lfc_used -- gauge: How much of the working set of the last five minutes is in shared buffers, in MB; pages that nobody used in this time are not counted
FROM working_set_relations;

-- file working_set_neon_dashboard 15s
-- Opt-in: the windows that Neon's dashboards show, beside what working_set_neon has.  In an
-- exporter of its own, as Neon has it, if an agent reads the other: the agent refuses this label.

-- query working_set_neon_dashboard: Approximate working set size in pages
SELECT CASE seconds WHEN 300 THEN '5m' WHEN 900 THEN '15m' ELSE '1h' END::text AS duration, -- label: Length of the window
       pages::float8 AS lfc_approximate_working_set_size_windows -- gauge: Approximate working set size in pages
FROM working_set_curve('{300,900,3600}'::integer[], 'client'::text);

-- file working_set_reason 15m
-- Opt-in: why the recommendation is what it is, in a sentence.  It has figures in it, so each
-- is a new series: asked for no oftener than this.

-- query working_set_reason_info: Why the recommendation is what it is
SELECT reason::text AS reason, -- label: Why the recommendation is what it is
       1::float8 AS working_set_reason_info -- gauge: Why the recommendation is what it is; always 1
FROM working_set_recommendation WHERE reason IS NOT NULL;
