/*
 * sample_events.h
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
#ifndef WS_SAMPLE_EVENTS_H
#define WS_SAMPLE_EVENTS_H

#include "counters.h"
#include "shared.h"
#include "stream.h"

/* Begin, in a process just forked. */
extern void ws_events_begin(void);

/*
 * What a process keeps at hand, in a tick, to see that there is nothing to do
 * about a sampled page.
 */
typedef struct WsDamper
{
	const uint64 *slots;
	uint32		shift;
	uint32		full;			/* lower half of a slot whose page has been
								 * reported often enough */
} WsDamper;

/* Bring it up to date. */
extern void ws_events_damper(WsDamper *damper, uint32 tick, WsKind kind);

/* The slot that counts how often a page with this hash was reported. */
static inline uint32
ws_damper_slot(uint32 hash, uint32 shift)
{
	return hash * UINT32_C(0x85EBCA6B) >> shift;
}

/*
 * Has the page with this hash been reported often enough for now?  False if it
 * is not sampled.
 */
static inline bool
ws_events_damped(const WsDamper *damper, uint32 hash)
{
	/* plain loads will do: any value that was ever there */
	return damper->slots[ws_damper_slot(hash, damper->shift)] ==
		((uint64) hash << 32 | damper->full);
}

/* A page of a watched register, sampled or not, was found in shared buffers. */
extern void ws_events_hit(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* A page, of whatever hash, enters shared buffers. */
extern void ws_events_insert(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* A page, of whatever hash, leaves shared buffers. */
extern void ws_events_remove(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind);

/* Add what was counted since last time. */
extern void ws_events_flush(WsCounters *counters);

#endif							/* WS_SAMPLE_EVENTS_H */
