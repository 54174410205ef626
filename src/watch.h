/*
 * watch.h
 *		What a process does about the pages that are sampled.
 *
 * The other half of the probe's hot path (see probe.h), off it: this is called
 * for sampled pages, for pages that enter shared buffers and for pages that
 * leave.  It writes events into the stream, and knows what only the process
 * itself can: whether it reads a relation block by block, and whether through
 * a ring of buffers.
 *
 * Nothing here allocates, waits, reports or reads a file.
 */
#ifndef WS_WATCH_H
#define WS_WATCH_H

#include "shmem.h"
#include "stream.h"

/* Begin, in a process just forked. */
extern void ws_watch_begin(void);

/* Is the page with this hash sampled? */
static inline bool
ws_watch_sampled(uint32 hash)
{
	return ws_stratum(hash, ws_shared->log2m) >= ws_load(&ws_shared->sample_shift);
}

/* A sampled page was found in shared buffers. */
extern void ws_watch_hit(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* A page, of whatever hash, enters shared buffers. */
extern void ws_watch_insert(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* A page, of whatever hash, leaves shared buffers. */
extern void ws_watch_remove(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* Add what was counted since last time. */
extern void ws_watch_flush(WsCounters *counters);

#endif							/* WS_WATCH_H */
