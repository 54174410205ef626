/*
 * reuse.h
 *		Reuse distances: the hit ratio of a cache with LRU replacement.
 *
 * The reuse distance of an access is the number of distinct pages used since
 * the last access to the same page.  A cache with LRU replacement hits if it
 * is larger, so the distribution of distances is the miss-ratio curve of LRU
 * at all sizes at once (Mattson et al. 1970).  On a sample of the pages they
 * shrink by the sampling rate (SHARDS; Waldspurger et al. 2015).  PostgreSQL
 * does not replace by LRU, and scans go through rings, so this is a
 * cross-check for the miniature sweeps, and goes beyond their sizes.
 *
 * Each page has a place in the order of last accesses, and an access takes the
 * next new place.  A Fenwick tree counts the pages between two places.  When
 * the places are used up, the pages move together.
 */
#ifndef WS_REUSE_H
#define WS_REUSE_H

#include <stddef.h>
#include <stdint.h>

/* The distance of a page that was not there. */
#define WS_REUSE_NEVER UINT32_MAX

/* Bins for distances, eight to an octave; the last: beyond, or never. */
#define WS_REUSE_BINS 248

typedef struct WsReuse WsReuse;

/* Bytes for page numbers below this, at most 32768; start there, empty. */
extern size_t ws_reuse_size(uint32_t pages);
extern void ws_reuse_init(WsReuse *reuse, uint32_t pages);

/* Access a page; returns its reuse distance in pages, or WS_REUSE_NEVER. */
extern uint32_t ws_reuse_access(WsReuse *reuse, uint32_t page);

/* Forget a page: its number may be another page's next time. */
extern void ws_reuse_forget(WsReuse *reuse, uint32_t page);

/* Bin of a distance in pages, and the end, or infinity, that a bin is below. */
extern int	ws_reuse_bin(double distance);
extern double ws_reuse_bin_end(int bin);

/* Of accesses counted in bins: those that LRU with so many buffers misses. */
extern double ws_reuse_misses(const double *bins, double buffers);

#endif							/* WS_REUSE_H */
