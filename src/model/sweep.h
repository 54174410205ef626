/*
 * sweep.h
 *		Miniature clock sweeps: what would caches of other sizes do?
 *
 * A cache of N buffers that sees all pages behaves like one of N/2^s buffers
 * that sees one page in 2^s (miniature simulation; Waldspurger et al. 2017).
 * So the sampled pages run through small caches with PostgreSQL's replacement.
 * A page comes in with a usage count of one, and each use adds one, up to
 * five.  A hand goes round, takes one from the count of each page that it
 * passes, and evicts the first with none.
 *
 * Scans of tables larger than a quarter of the cache, VACUUM, and bulk writes
 * go round in a ring of a few buffers and leave the others alone; their pages'
 * counts do not rise above one.  At which sizes an access uses a ring is the
 * caller's decision.  A ring of n buffers has max(1, n/2^s) here, and at most
 * an eighth of the cache, as in freelist.c.  If that is less than one, what is
 * left of a scan stays with this probability when the next one of the relation
 * begins.
 *
 * The sizes are a fixed grid, and one that follows what the caller asks about.
 *
 * One process uses them.  Pages are numbers of entries in the sample table.
 */
#ifndef WS_SWEEP_H
#define WS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "damping.h"
#include "stream.h"

/*
 * Sizes as multiples of shared_buffers: the grid, ascending, with the
 * present size, and the one that follows.
 */
#define WS_SWEEP_GRID		20
#define WS_SWEEP_PRESENT	9
#define WS_SWEEP_FOLLOWER	WS_SWEEP_GRID
#define WS_SWEEP_SIZES		(WS_SWEEP_GRID + 1)
extern const double ws_sweep_grid[WS_SWEEP_GRID];

/* Sets of sizes: of one, and of all. */
#define WS_SWEEP_BIT(i)		(UINT32_C(1) << (i))
#define WS_SWEEP_ALL		(WS_SWEEP_BIT(WS_SWEEP_SIZES) - 1)

/* A use of a sampled page; sweeps need the first fields only. */
typedef struct WsAccess
{
	uint32_t	page;
	uint32_t	tick;
	uint32_t	ringed;			/* set of sizes at which it uses a ring, */
	WsRing		ring;			/* if any does: of which kind, */
	uint32_t	process;		/* whose, */
	uint32_t	relation;		/* over which relation, */
	uint32_t	block;			/* and where in it */
	uint32_t	absent;			/* set of sizes whose cache does not see it */
	WsPageId	id;
	uint32_t	stratum;
	uint32_t	group;			/* of pages, for errors */
	bool		read;			/* or a hit */
	bool		run;			/* in a run of blocks */
	bool		new;			/* made, not read */
	bool		known;			/* was the page used before, as far as is
								 * known? */
	/* what the sweeps made of it; the caller's to set */
	uint32_t	missed;			/* set of sizes, */
	uint32_t	cold;			/* those of which the cache is not full, */
	const uint16_t *evicted;	/* and the pages that went for it, or NULL */
} WsAccess;

#define WS_NOWHERE	UINT16_MAX
#define WS_SWEEP_SCANS		32	/* at a time, at most */
#define WS_SWEEP_RING_MAX	320 /* buffers of a ring, at most */

/*
 * A page in all caches.  Its usage counts are bit-sliced, so that a use raises
 * all of them in a few operations: bit i of word j is worth 2^j at size i.
 * Where the page is not held they are 0.
 */
#define WS_USAGE_BITS	3
typedef struct WsSweepPage
{
	uint32_t	held;			/* set of sizes */
	uint32_t	usage[WS_USAGE_BITS];
	uint32_t	used;			/* tick of the last access, seen or not */
} WsSweepPage;

typedef struct WsSweepCache
{
	uint16_t   *page;			/* by buffer; the first "filled" hold one */
	double		wanted;			/* buffers, were there enough pages */
	uint32_t	buffers;
	uint32_t	filled;
	uint32_t	hand;
	uint32_t	gaps;			/* filled buffers whose page is gone */
	uint64_t	moved;			/* by the hand, since ws_sweep_measure(), in
								 * bursts if it sees these only; */
	double		turns;			/* it found so many a second */
	double		ring[WS_NRINGS];	/* buffers of a ring */
} WsSweepCache;

/* A buffer of a ring has this page, and was this buffer of the cache. */
typedef struct WsSweepRing
{
	uint16_t	page;			/* or WS_NOWHERE: none */
	uint16_t	buffer;			/* the page may have moved */
} WsSweepRing;

/*
 * The rings of one scan: one for each size.  Most are much smaller than they
 * may be, and memory that no ring has reached is never touched.
 */
typedef struct WsSweepScan
{
	WsAccess	last;
	uint32_t	reached;		/* the first buffers of all rings that were
								 * begun with: so many */
	uint16_t	next[WS_SWEEP_SIZES];
	WsSweepRing ring[WS_SWEEP_RING_MAX][WS_SWEEP_SIZES];
} WsSweepScan;

typedef struct WsSweep
{
	uint32_t	npages;
	double		factor[WS_SWEEP_SIZES]; /* size over the present one */
	uint16_t	evicted[WS_SWEEP_SIZES];	/* by the last access, where it
											 * missed; or WS_NOWHERE */
	uint64_t	scan_accesses;
	double		luck;			/* 0 to 1, of the last scan that began */
	uint32_t	unmissed;		/* set of sizes at which the last access
								 * missed what was used less than a turn
								 * before */
	uint32_t	bursts_only;	/* set of sizes that see bursts only, and what
								 * comes */
	uint32_t	nscans;			/* at a time; the caller may lower it */
	uint32_t	last_scan;		/* the one last used */
	WsSweepCache caches[WS_SWEEP_SIZES];
	/* when a scan was last used, counted in accesses; 0: never */
	uint64_t	used[WS_SWEEP_SCANS];
	WsSweepScan scans[WS_SWEEP_SCANS];	/* not touched before they are used */
	bool		gaps;			/* any cache has some */
	uint16_t   *scratch;
	WsSweepPage pages[] __attribute__((aligned(64)));	/* then arrays */
} WsSweep;

/* Bytes for page numbers below this (32768 at most); begin, aligned to 64. */
extern size_t ws_sweep_size(uint32_t pages);
extern void ws_sweep_init(WsSweep *sweep, uint32_t pages);

/*
 * Give the caches so many buffers times their factors; evict what is over.  The
 * caller may have set the factor of the follower.
 */
extern void ws_sweep_resize(WsSweep *sweep, double buffers);

/* Give rings of one kind so many buffers at each size. */
extern void ws_sweep_set_rings(WsSweep *sweep, WsRing ring, const double *buffers);

/*
 * Use a page; returns the set of sizes at which it was missed.  *cold is the
 * set of those whose cache is not full: one that is might have held the page.
 * A sixteenth of the buffers may be empty, because sizes follow an estimate.
 * sweep->evicted has the pages that went for it.  A page that was used less
 * than a turn of the hand before is held; a cache that sees bursts only may
 * miss it because it did not see that: then it is in sweep->unmissed.
 */
extern uint32_t ws_sweep_access(WsSweep *sweep, const WsAccess *access, uint32_t *cold);

/* Take a page out of all caches; its number may be another's next time. */
extern void ws_sweep_forget(WsSweep *sweep, uint32_t page);

/* Is the page in any cache, or in that of one size? */
extern bool ws_sweep_holds(const WsSweep *sweep, uint32_t page);

static inline bool
ws_sweep_holds_at(const WsSweep *sweep, uint32_t page, int size)
{
	return (sweep->pages[page].held & WS_SWEEP_BIT(size)) != 0;
}

/* Take all pages out of the cache of one size. */
extern void ws_sweep_empty(WsSweep *sweep, int size);

/*
 * Fill empty buffers of the cache of one size with these pages, the last used
 * first, while they fit.
 */
extern void ws_sweep_seed(WsSweep *sweep, int size, const uint32_t *pages, uint32_t n);

/*
 * Add to the cache of one size what that of another holds and "keep" has, with
 * its counts and in the order of the hand, while it fits.
 */
extern void ws_sweep_copy(WsSweep *sweep, int from, int to, const bool *keep);

/*
 * How fast do the hands turn?  To be called after so many seconds, about one.
 * What damping hides is seen in bursts, so of caches that see all presents the
 * fastest counts, and is half forgotten after a minute; of those that see
 * bursts only it is the average of some.
 */
extern void ws_sweep_measure(WsSweep *sweep, double seconds);

/*
 * What hits to report; often: sampled pages are looked up very often.
 * sweep->bursts_only is the set of sizes that see bursts only.
 */
extern WsDamping ws_sweep_damping(WsSweep *sweep, bool often);

/*
 * The set of sizes that do not see an access.  All see a page that comes, made
 * or read: it is used most then, and would otherwise be missed in a burst.
 */
static inline uint32_t
ws_sweep_unseen(const WsSweep *sweep, uint32_t tick, bool comes)
{
	return comes || ws_in_burst(tick) ? 0 : sweep->bursts_only;
}

#endif							/* WS_SWEEP_H */
