/*
 * memory_advice.h
 *		The worker's part that simulates the kernel's page cache behind the
 *		sweeps, measures what the server really reads from disk, and predicts
 *		what other sizes of both caches would.
 *
 * The counts are of the last five to six minutes, those of the cache advice and
 * up to a minute more.
 */
#ifndef WS_MEMORY_ADVICE_H
#define WS_MEMORY_ADVICE_H

#include <time.h>

#include "published.h"

/* Start over, for so many entries of the sample table; 0: there is none. */
extern void ws_memory_advice_begin(uint32 entries);

/* A sampled page is accessed (twotier.h); counted: a client asks for it. */
extern void ws_memory_advice_access(const WsTierAccess *access, bool counted);

/* The entry of the sample table may be another page's next time. */
extern void ws_memory_advice_forget(uint32 entry);

/* The size that is followed has jumped (twotier.h). */
extern void ws_memory_advice_jump(const WsSweep *sweep);

/*
 * Once a second: pages of strata from shift are simulated.  Returns how much of
 * the clock() went into looking at the server's processes and counting pages:
 * as much with a smaller sample.
 */
extern clock_t ws_memory_advice_care(const WsSweep *sweep, uint32 shift, int64 now);

/* Predict, from the cache advice and the memory in p. */
extern void ws_memory_advice_make(WsPublished *p);

#endif							/* WS_MEMORY_ADVICE_H */
