/*
 * recent.h
 *		Counts of lookups of the last five minutes.
 */
#ifndef WS_RECENT_H
#define WS_RECENT_H

#include "advice.h"
#include "counters.h"

/*
 * Counts of the last five minutes, in thirty buckets of ten seconds.  A reset
 * empties them.
 */
#define WS_RECENT_BUCKETS	30
#define WS_RECENT_SECONDS	10	/* of a bucket */

typedef struct WsRecent
{
	WsTally		buckets[WS_RECENT_BUCKETS];
	int			bucket;			/* the present one */
	int64		bucket_end;		/* ms of the monotonic clock */
	int64		until;			/* when the counters were last read, */
	uint32		tick;			/* the same by the clock of events, */
	int64		since;			/* the value of WsShared.since then, */
	WsCounters	counted;		/* and the counters */
} WsRecent;

/* Start with empty buckets. */
extern void ws_recent_begin(WsRecent *recent, int64 now, uint32 tick);

/*
 * Count what happened since the last call, while caches of the set bursts_only
 * saw bursts only; returns the clients' lookups.
 */
extern double ws_recent_count(WsRecent *recent, int64 now, uint32 tick, uint32 bursts_only);

#endif							/* WS_RECENT_H */
