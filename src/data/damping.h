/*
 * damping.h
 *		Hits of sampled pages that need no report.
 *
 * A usage count rises to five and a turn of the hand takes one away, so five
 * uses of a page in one turn of the fastest hand are enough: so many in 2^shift
 * ticks, or in one or sixteen presents (sketch.h), and more if it makes several
 * in a tick.
 *
 * But a small cache to which most uses of its pages are not reported misses
 * little, and so seems to turn slowly.  One present of sixteen is a burst, in
 * which next to all hits are reported, so that the hands show how fast they
 * turn.
 *
 * Where sampled pages are looked up very often, but hardly any is read, what
 * smaller caches would do is not worth all these reports.  Then the hands of
 * caches that turn faster do not count, and these caches see bursts, and pages
 * that come, only; what they miss there counts sixteen times.
 */
#ifndef WS_DAMPING_H
#define WS_DAMPING_H

#include <stdbool.h>
#include <stdint.h>

#include "sketch.h"

#define WS_USAGE_MAX	5		/* of a buffer */

typedef struct WsDamping
{
	uint32_t	shift;			/* or WS_DAMPING_PRESENT, or WS_DAMPING_LONG */
	uint32_t	uses;			/* 5 .. WS_DAMPING_USES_MAX */
} WsDamping;

#define WS_DAMPING_PRESENT		3
#define WS_DAMPING_LONG			4
#define WS_DAMPING_BURST		32	/* uses in a tick, at least, in a burst */
#define WS_DAMPING_USES_MAX		1000

#define WS_BURSTS				16	/* one present in so many is one */
#define WS_BURST_EVERY			(WS_BURSTS * WS_PRESENT)

/* Is this tick in a burst? */
static inline bool
ws_in_burst(uint32_t tick)
{
	return tick / WS_PRESENT % WS_BURSTS == 0;
}

/* How many ticks before this one are in bursts. */
static inline uint32_t
ws_burst_ticks(uint32_t tick)
{
	uint32_t	rest = tick % WS_BURST_EVERY;

	return tick / WS_BURST_EVERY * WS_PRESENT + (rest < WS_PRESENT ? rest : WS_PRESENT);
}

/* The share of these ticks that is in bursts; if there are none, is "from"? */
static inline double
ws_burst_share(uint32_t from, uint32_t until)
{
	return from >= until ? ws_in_burst(from) :
		(ws_burst_ticks(until) - ws_burst_ticks(from)) / (double) (until - from);
}

/* What counts in a present; a shift of 0, one tick, is for bursts, too. */
static inline WsDamping
ws_damping_in(WsDamping damping, uint32_t present)
{
	if (damping.shift > 0 && ws_in_burst(present))
	{
		damping.shift = 0;
		damping.uses = WS_DAMPING_BURST;
	}
	return damping;
}

#endif							/* WS_DAMPING_H */
