/*
 * counters.c
 *		Sums of the counters, and their changes; see counters.h.
 */
#include "postgres.h"

#include "counters.h"

#define BUCKET_MS (WS_RECENT_SECONDS * 1000)
#define FIELDS (sizeof(WsCounters) / sizeof(uint64))

StaticAssertDecl(sizeof(WsCounters) % sizeof(uint64) == 0, "all counters are words");

WsSharedCounters *ws_counters = NULL;

static void
sum_shards(WsCounters *sum)
{
	uint64	   *words = (uint64 *) sum;

	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < WS_COUNTER_SHARDS; i++)
		for (size_t field = 0; field < FIELDS; field++)
			words[field] += __atomic_load_n((uint64 *) ws_counters_of(i) + field,
											__ATOMIC_RELAXED);
}

TimestampTz
ws_counters_read(WsCounters *sum, int64 entries, int64 *evictions)
{
	TimestampTz since;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	sum_shards(sum);
	for (size_t field = 0; field < FIELDS; field++)
		((uint64 *) sum)[field] -= ((uint64 *) &ws_counters->at_reset)[field];
	if (evictions)
		*evictions = Max((int64) sum->inserts + ws_counters->entries_at_reset - entries, 0);
	since = ws_shared->since;
	LWLockRelease(ws_shared->lock);
	return since;
}

void
ws_counters_reset(int64 entries)
{
	sum_shards(&ws_counters->at_reset);
	ws_counters->entries_at_reset = entries;
}

void
ws_recent_begin(WsRecent *recent, int64 now)
{
	memset(recent, 0, sizeof(WsRecent));
	recent->bucket_end = now + BUCKET_MS;
	recent->until = now;
	recent->since = ws_counters_read(&recent->counted, 0, NULL);
}

double
ws_recent_count(WsRecent *recent, int64 now)
{
	WsTally    *tally;
	WsCounters	c;

	/* a reset may come at any time: read the counters and its time together */
	int64		since = ws_counters_read(&c, 0, NULL);
	double		hits = (double) c.hits[WS_CLIENT] - recent->counted.hits[WS_CLIENT];
	double		reads = (double) c.reads[WS_CLIENT] - recent->counted.reads[WS_CLIENT];

	if (since != recent->since)
	{
		ws_recent_begin(recent, now);
		return Max(hits + reads, 0);
	}
	for (int i = 0; now >= recent->bucket_end && i < WS_RECENT_BUCKETS; i++)
	{
		recent->bucket = (recent->bucket + 1) % WS_RECENT_BUCKETS;
		memset(&recent->buckets[recent->bucket], 0, sizeof(WsTally));
		recent->bucket_end += BUCKET_MS;
	}
	if (now >= recent->bucket_end)
		recent->bucket_end = now + BUCKET_MS;
	tally = &recent->buckets[recent->bucket];
	tally->seconds += Max(now - recent->until, 0) / 1000.0;
	tally->hits += hits;
	tally->reads += reads;
	tally->scan_hits += (double) c.scan_hits - recent->counted.scan_hits;
	tally->scan_reads += (double) c.scan_reads - recent->counted.scan_reads;
	recent->counted = c;
	recent->until = now;
	return Max(hits + reads, 0);
}
