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
 * an eighth of the cache, as in freelist.c.
 *
 * Pages are numbers, those of their entries in the sample table.  One process
 * uses the sweeps.  This module knows nothing of PostgreSQL.
 */
#ifndef WS_SWEEP_H
#define WS_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes as multiples of shared_buffers, ascending; some of them by name. */
#define WS_SWEEP_SIZES		20
#define WS_SWEEP_PRESENT	10
#define WS_SWEEP_DOUBLE		15
#define WS_SWEEP_QUADRUPLE	19
extern const double ws_sweep_factors[WS_SWEEP_SIZES];

/* Sets of sizes: of one, and of all. */
#define WS_SWEEP_BIT(i)		(UINT32_C(1) << (i))
#define WS_SWEEP_ALL		(WS_SWEEP_BIT(WS_SWEEP_SIZES) - 1)

typedef enum WsRing
{
	WS_RING_READ,				/* sequential scans */
	WS_RING_VACUUM,
	WS_RING_WRITE				/* COPY and the like */
} WsRing;
#define WS_NRINGS 3

typedef struct WsAccess
{
	uint32_t	page;
	uint32_t	ringed;			/* set of sizes at which it uses a ring, */
	WsRing		ring;			/* if any does: of which kind, */
	uint32_t	process;		/* whose, */
	uint32_t	relation;		/* over which relation, */
	uint32_t	block;			/* and where in it */
} WsAccess;

typedef struct WsSweep WsSweep;

/*
 * Bytes of sweeps over page numbers below this, at most 32768; make empty
 * caches in that memory, aligned to 64.
 */
extern size_t ws_sweep_size(uint32_t pages);
extern void ws_sweep_init(WsSweep *sweep, uint32_t pages);

/* Give the caches so many buffers times their factors; evict what is over. */
extern void ws_sweep_resize(WsSweep *sweep, double buffers);

/* Give rings of one kind so many buffers at each size. */
extern void ws_sweep_set_rings(WsSweep *sweep, WsRing ring, const double *buffers);

/* Use a page; returns the set of sizes at which it was missed. */
extern uint32_t ws_sweep_access(WsSweep *sweep, const WsAccess *access);

/* Take a page out of all caches; its number may be another's next time. */
extern void ws_sweep_forget(WsSweep *sweep, uint32_t page);

/* Is the page in any cache? */
extern bool ws_sweep_holds(const WsSweep *sweep, uint32_t page);

/* Fill empty buffers with these pages, the last used first, while they fit. */
extern void ws_sweep_seed(WsSweep *sweep, const uint32_t *pages, uint32_t n);

/* Buffers of the cache of one size, and how many hold a page. */
extern uint32_t ws_sweep_buffers(const WsSweep *sweep, int size);
extern uint32_t ws_sweep_filled(const WsSweep *sweep, int size);

/* Turns of the hand of the smallest cache since the last call. */
extern double ws_sweep_turns(WsSweep *sweep);

/*
 * Hits that need no report.  A count rises to five and a turn of the hand takes
 * one away, so five uses of a page in one turn of the smallest cache's hand are
 * enough: so many in 2^shift ticks, and more if it makes several in a tick.
 */
typedef struct WsDamping
{
	uint32_t	shift;			/* 0 .. WS_DAMPING_SHIFT_MAX */
	uint32_t	uses;			/* 5 .. WS_DAMPING_USES_MAX */
} WsDamping;

#define WS_DAMPING_SHIFT_MAX	3
#define WS_DAMPING_USES_MAX		1000

/* For a hand that makes so many turns in a tick. */
extern WsDamping ws_sweep_damping(double turns);

/* NULL when all invariants hold, else what is wrong. */
extern const char *ws_sweep_check(const WsSweep *sweep);

#endif							/* WS_SWEEP_H */
