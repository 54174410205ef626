/*
 * recent.c
 *		Changes of the counters; see recent.h.
 */
#include "postgres.h"

#include "recent.h"

#define BUCKET_MS (WS_RECENT_SECONDS * 1000)

void
ws_recent_begin(WsRecent *recent, int64 now, uint32 tick)
{
	memset(recent, 0, sizeof(WsRecent));
	recent->bucket_end = now + BUCKET_MS;
	recent->until = now;
	recent->tick = tick;
	recent->since = ws_counters_read(&recent->counted, NULL);
}

double
ws_recent_count(WsRecent *recent, int64 now, uint32 tick, uint32 bursts_only)
{
	WsTally    *tally;
	WsCounters	c;

	/* a reset may come at any time: read the counters and its time together */
	int64		since = ws_counters_read(&c, NULL);
	double		hits = (double) c.hits[WS_CLIENT] - recent->counted.hits[WS_CLIENT];
	double		reads = (double) c.reads[WS_CLIENT] - recent->counted.reads[WS_CLIENT];

	if (since != recent->since)
	{
		ws_recent_begin(recent, now, tick);
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
	ws_tally_lookups(tally, hits, reads, bursts_only, ws_burst_share(recent->tick, tick));
	tally->lost += (double) c.dropped - recent->counted.dropped;
	tally->scan_reads += (double) c.scan_reads - recent->counted.scan_reads;
	recent->counted = c;
	recent->until = now;
	recent->tick = tick;
	return Max(hits + reads, 0);
}
