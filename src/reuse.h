/*
 * reuse.h
 *		Reuse distances, and Denning's curve: two other ways to a miss ratio.
 *
 * The reuse distance of an access is the number of distinct pages used since
 * the last access to the same page.  A cache with LRU replacement holds the
 * page if its size is larger than that (Mattson et al. 1970), so the
 * distribution of distances is the miss-ratio curve of LRU at all sizes at
 * once.  On a sample of the pages distances shrink by the sampling rate
 * (SHARDS; Waldspurger et al. 2015).  They are counted here with a Fenwick
 * tree over the order of last accesses.
 *
 * PostgreSQL does not replace by LRU, and scans go through rings, so this is a
 * cross-check for the miniature sweeps, and goes beyond the sizes of these.
 *
 * Denning's curve (Denning 1968; as the HOTL theory of Xiang et al. 2013 has
 * it): while a working set grows with its window by ds pages in dT seconds,
 * that is the rate of misses of a cache of the size s that it has reached.  It
 * needs no sample, only the curve of the sketch, averaged over randomised
 * instants: taken at a fixed period, it would see only one phase of a workload
 * that has that period.
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_REUSE_H
#define WS_REUSE_H

#include <stddef.h>
#include <stdint.h>

/* The distance of a page that was not there. */
#define WS_REUSE_NEVER UINT32_MAX

/*
 * Distances, in pages, are kept in bins of eight to an octave; bin b is of
 * those below ws_reuse_bin_end(b).  The last one is of all beyond, and of
 * WS_REUSE_NEVER.
 */
#define WS_REUSE_BINS 248

typedef struct WsReuse WsReuse;

/* Bytes for page numbers below this, 32768 at most. */
extern size_t ws_reuse_size(uint32_t pages);

/* Begin in memory of that size, with no page. */
extern void ws_reuse_init(WsReuse *reuse, uint32_t pages);

/*
 * Access a page; returns how many other pages were accessed since its last
 * access, or WS_REUSE_NEVER.
 */
extern uint32_t ws_reuse_access(WsReuse *reuse, uint32_t page);

/* The number may be another page's next time. */
extern void ws_reuse_forget(WsReuse *reuse, uint32_t page);

/* Bin of a distance in pages. */
extern int	ws_reuse_bin(double distance);

/* Where a bin ends; infinity for the last one. */
extern double ws_reuse_bin_end(int bin);

/*
 * Accesses, of those counted in bins, that a cache with so many buffers and
 * LRU replacement misses.  Within a bin distances are taken as evenly spread.
 */
extern double ws_reuse_misses(const double *bins, double buffers);

/*
 * The curve, averaged over the last ten or so instants that it was taken at.
 * Begin with zeros.
 */
#define WS_DENNING_POINTS	60

typedef struct WsDenning
{
	double		weight;			/* of what was averaged; 0: nothing */
	double		seconds[WS_DENNING_POINTS];
	double		pages[WS_DENNING_POINTS];
} WsDenning;

/* Seconds of its points, four to an octave from a tenth of a second on. */
extern double ws_denning_seconds(int point);

/* Take in the curve: distinct pages of so many seconds, for each point. */
extern void ws_denning_follow(WsDenning *denning, const double *pages);

/*
 * Denning's curve: misses a second of a cache with so many buffers, from the
 * distinct pages of the last seconds[i] seconds, ascending.  A cache larger
 * than the set of the longest window misses as if it were of that size; NaN if
 * nothing is known.
 */
extern double ws_denning_misses(const double *seconds, const double *pages, int n,
								double buffers);

#endif							/* WS_REUSE_H */
