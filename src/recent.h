/*
 * recent.h
 *		Counts of the last five minutes, in thirty buckets of ten seconds.  A
 *		reset empties them.
 */
#ifndef WS_RECENT_H
#define WS_RECENT_H

#include "advice.h"
#include "counters.h"

#define WS_RECENT_BUCKETS	30
#define WS_RECENT_SECONDS	10	/* of a bucket */

typedef struct WsRecent
{
	WsTally		buckets[WS_RECENT_BUCKETS];
	int			bucket;			/* the present one */
	int64		bucket_end;		/* ms of the monotonic clock */
	int64		until;			/* when the counters were last read, */
	int64		since;			/* the value of WsShared.since then, */
	WsCounters	counted;		/* and the counters */
} WsRecent;

/* Start with empty buckets; count what happened since the last call. */
extern void ws_recent_begin(WsRecent *recent, int64 now);
extern void ws_recent_count(WsRecent *recent, int64 now);

/* Was there a reset since the last call of ws_recent_count()? */
extern bool ws_recent_outdated(const WsRecent *recent);

extern void ws_recent_sum(const WsRecent *recent, WsTally *sum);

static inline WsTally *
ws_recent_present(WsRecent *recent)
{
	return &recent->buckets[recent->bucket];
}

/* The clients' lookups that were counted since reset. */
static inline double
ws_recent_lookups(const WsRecent *recent)
{
	return (double) recent->counted.hits[WS_CLIENT] + recent->counted.reads[WS_CLIENT];
}

#endif							/* WS_RECENT_H */
