/*
 * without.h
 *		What would the others read, if one of them did not use the cache?
 *
 * Miniature sweeps (sweep.h), all of the present size: the base sees all
 * accesses, and of each candidate, such as a query or a table, one sees all but
 * the candidate's.  What the others miss in the base and not without a
 * candidate are reads that it costs them.  The number is negative if they find
 * more pages that it brought in than they lose because of it.  What the
 * candidate itself reads is no part of it.
 *
 * All candidates are compared with the base access by access, so what is wrong
 * with both, as while the caches fill, cancels out.  What the others really
 * read, over what they miss in the base, corrects the scale.  A cache begins
 * with what the base has of the others' pages, and then those that they used
 * last.  It is not counted at once, because it does not know yet how often the
 * latter are used.
 *
 * These sweeps see fewer pages than those of the advice: those of the highest
 * strata, as many as fit.  A page that is in no cache takes no place for long.
 *
 * One process uses them.  Pages are numbers of entries in the sample table.
 */
#ifndef WS_WITHOUT_H
#define WS_WITHOUT_H

#include "pagehash.h"
#include "sampler.h"
#include "sweep.h"

#define WS_WITHOUT_PAGES	2048	/* simulated */

/* Candidates; the last cache is the base. */
#define WS_CANDIDATES		(WS_SWEEP_SIZES - 1)
#define WS_WITHOUT_BASE		WS_CANDIDATES

/* Until a cache is counted, and until what was counted is an answer. */
#define WS_WITHOUT_WARM_SECONDS		30
#define WS_WITHOUT_SECONDS_MIN		10

/* Reads of five minutes and of the present one. */
#define WS_WITHOUT_MINUTES	6

/* Pages that others than a candidate ... */
typedef struct WsWithoutCounts
{
	float		read;			/* really read, */
	float		missed;			/* miss in the base, */
	float		saved;			/* and would not without the candidate */
} WsWithoutCounts;

typedef struct WsWithout
{
	uint32_t	log2m;			/* of the sketch that the sample goes with */
	uint32_t	shift;			/* pages of strata from this are simulated */
	uint32_t	used;			/* pages */
	uint32_t	free;			/* the first that is not */
	double		rate;			/* simulated pages for each real one */
	double		nbuffers;		/* of the server */
	uint32_t	running;		/* set of caches */
	uint32_t	minute;			/* that is counted now */
	uint32_t	from[WS_SWEEP_SIZES];	/* tick from which a cache is counted */
	WsWithoutCounts counts[WS_WITHOUT_MINUTES][WS_CANDIDATES][WS_ERROR_GROUPS];
	uint16_t	entry[WS_WITHOUT_PAGES];	/* or the next page that is free */
	uint8_t		stratum[WS_WITHOUT_PAGES];
	WsSweep    *sweep;
	uint16_t	page[];			/* by entry; then the sweep */
} WsWithout;

/* Bytes for entries below this; begin, aligned to 64. */
extern size_t ws_without_size(uint32_t entries);
extern void ws_without_init(WsWithout *without, uint32_t entries, uint32_t log2m, uint32_t shift,
							uint32_t tick);

/*
 * The server has so many buffers, and rings of so many; strata from
 * without->shift on have one page in 1/rate.  To be called now and then.
 */
extern void ws_without_resize(WsWithout *without, double rate, double nbuffers,
							  const double rings[WS_NRINGS]);

/*
 * Strata below "shift" are not sampled any more.  If few pages are simulated,
 * simulate one more stratum and stop all caches, which then have to begin
 * again: true.
 */
extern bool ws_without_adapt(WsWithout *without, uint32_t shift);

/*
 * Begin with a candidate, or with the base, at this tick.  The entries are of
 * all pages that others used, the last used first.
 */
extern void ws_without_begin(WsWithout *without, int candidate, const WsSampler *sampler,
							 const uint32_t *entries, uint32_t n, uint32_t tick);
extern void ws_without_end(WsWithout *without, int candidate);

/* Count from zero, after a reset. */
extern void ws_without_reset(WsWithout *without, uint32_t tick);

/* Pass over to the present minute: to be called each second. */
extern void ws_without_follow(WsWithout *without, uint32_t tick);

/*
 * An access of the sweeps of the advice, by members of a set of candidates;
 * counted: a client asks for the page; read: the server had to read it.
 */
extern void ws_without_access(WsWithout *without, const WsAccess *access, uint32_t hash,
							  uint32_t members, bool counted, bool read, uint32_t tick);

/* The entry's number may be another page's next time. */
extern void ws_without_forget(WsWithout *without, uint32_t entry);

/*
 * Pages a second that the others read because of the candidate, in the last
 * minutes, and the standard error by the sample; NaN: not known yet.
 */
extern double ws_without_saved(const WsWithout *without, int candidate, uint32_t now,
							   double *error);

#endif							/* WS_WITHOUT_H */
