/*
 * sample_events.h
 *		What a process reports about sampled pages.
 *
 * The hot path (lookup.h) calls this module for pages of sampled registers and
 * for pages that enter or leave shared buffers.  It writes events into the
 * stream, with what only the process itself can find out: whether it reads a
 * relation block by block, and whether through a ring of buffers.
 *
 * No function allocates, waits, raises an error or makes a system call.
 */
#ifndef WS_SAMPLE_EVENTS_H
#define WS_SAMPLE_EVENTS_H

#include "counters.h"
#include "pagehash.h"
#include "shared.h"
#include "stream.h"

/*
 * Begin, in a process that records for the first time, or again.  What a
 * process brings in that warms the cache is no read, as if it were new.
 */
extern void ws_events_begin(bool warms);

/* A page of a sampled register was found, or any page enters or leaves. */
extern void ws_events_hit(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);
extern void ws_events_insert(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);
extern void ws_events_remove(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* Add the counts since last time. */
extern void ws_events_flush(WsCounters *counters);

#endif							/* WS_SAMPLE_EVENTS_H */
