/*
 * counters.h
 *		Counts of lookups since the last reset.
 *
 * Each process adds to one of several shards, each on cache lines of its own,
 * with atomic additions.  A reader subtracts their sum at the last reset.
 */
#ifndef WS_COUNTERS_H
#define WS_COUNTERS_H

#include "shared.h"

/* PGPROC.statusFlags of WS_MAINTENANCE, which the launcher is without them */
#define WS_MAINTENANCE_FLAGS (PROC_IN_VACUUM | PROC_IS_AUTOVACUUM)

typedef struct WsCounters
{
	uint64		hits[WS_NKINDS];	/* found in shared buffers */
	uint64		reads[WS_NKINDS];	/* had to be read */
	uint64		inserts;		/* pages that entered shared buffers */
	uint64		scan_reads;		/* of reads[WS_CLIENT], by sequential scans */
	uint64		dropped;		/* events lost: the stream was full, or one
								 * was damaged */
} WsCounters;
#define WS_COUNTER_SHARDS 64

typedef union WsCounterShard
{
	WsCounters	counters;
	char		pad[128];
} WsCounterShard;

typedef struct WsSharedCounters
{
	WsCounterShard shards[WS_COUNTER_SHARDS];	/* atomic */
	int64		evictions;		/* atomic: the most shown since the reset */
	/* under WsShared.lock */
	WsCounters	at_reset;		/* sum of the shards at WsShared.since */
	int64		entries_at_reset;	/* pages in shared buffers at that time */
} WsSharedCounters;

/* NULL when ws_shared is. */
extern WsSharedCounters *ws_counters;

/* The shard of a process. */
static inline WsCounters *
ws_counters_of(int pid)
{
	return &ws_counters->shards[pid % WS_COUNTER_SHARDS].counters;
}

/*
 * Counts since the last reset; returns its time.  *evictions, unless NULL, is
 * how many pages left shared buffers since.
 */
extern TimestampTz ws_counters_read(WsCounters *sum, int64 *evictions);

/* Count from now on.  The caller holds WsShared.lock exclusively. */
extern void ws_counters_reset(void);

#endif							/* WS_COUNTERS_H */
