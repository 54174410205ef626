/*
 * division.h
 *		Both caches of a machine: what a pair of sizes would read from disk, and
 *		how to divide so much memory between them.
 *
 * The reads of shared buffers come from the cache advice, which scales the
 * sample to all pages.  What share of them waits for the disk, and how many
 * blocks come from there, is counted by the simulated page caches (twotier.h).
 * Between the simulated sizes it is interpolated in the logarithms of both.
 * A page cache as large as all relations in use has all of them after some
 * time, whatever the simulated one still lacks; at that size the curve has its
 * knee, so it is one of those that are interpolated.  If other files displace
 * pages from the real page cache, these are missing from all sizes, but of
 * larger ones they are a smaller share.
 *
 * The error of the page cache's hit ratio.  Leaving out one group of pages at a
 * time shows how much it depends on the sample (advice.h).  Misses of a cache
 * that is not full yet may be hits of one that has been so large for long: half
 * of them count, and the error covers both.
 * What the model is off by at the present sizes is measured, and it may be off
 * by more, the farther both are from these.
 *
 * A page cache acts as a simulated one of another size would: it also has what
 * was read ahead and nobody used, and reclaim is not exact.  That matters where
 * the hit ratio depends steeply on the size, as for a loop over a table.  So
 * the error that is shown covers sizes 15 % smaller and larger, too.
 * (bench/memory, two runs: with 15 %, 212 of 220 measurements were within it,
 * and without it 196.)  What decides about a setting does not look at it: the
 * best size is often just behind a steep part.
 *
 * The best division costs least: a wait for the disk costs one, and a read that
 * the page cache answers a fiftieth of that, 2 of 100 microseconds, as of a
 * fast disk.  Of divisions that cost the same, the smallest shared_buffers are
 * best, since the page cache is also of use to others.
 */
#ifndef WS_DIVISION_H
#define WS_DIVISION_H

#include "advice.h"
#include "twotier.h"

#define WS_DIVISION_COPY	(1 / 50.0)	/* cost of a read from the page cache */
#define WS_DIVISION_SAME	0.01	/* costs that differ by less are the same */
#define WS_DIVISION_MOST	0.75	/* of both caches for shared buffers */
#define WS_DIVISION_BUFFER	0.022	/* of each of the buffers, beside it: its
									 * descriptor, its entry of the lookup
									 * table, what checkpoints sort and sync
									 * (180 bytes of 8 kB, PostgreSQL 15) */
#define WS_DIVISION_READS	100 /* simulated, for a size to be known, */
#define WS_DIVISION_CHECKED	10	/* a second, for a pair to be checked */
#define WS_DIVISION_FEW		0.001	/* unless it misses so few of the lookups */

/* Errors of the page cache's hit ratio: at any size, and for each doubling. */
#define WS_DIVISION_ERROR	0.03
#define WS_DIVISION_SIZE_ERROR 0.01
#define WS_DIVISION_MOSTLY	0.5 /* of the pages are not displaced, or nothing
								 * is sure */
#define WS_DIVISION_ALL		0.9 /* of the pages are found: no hits are lost; */
#define WS_DIVISION_LOST	0.8 /* up to this: as many as pages */
#define WS_DIVISION_TOLERANCE 0.1	/* at the present sizes, of a sure one */
#define WS_DIVISION_OTHERS	1.25	/* times what shared buffers can ask for:
									 * some of it is for others */

/* 95 % bound of the logarithm of (size that a page cache acts as / its size) */
#define WS_DIVISION_EFFECTIVE 0.15

#define WS_ALL_CACHES	(WS_TIER_CACHES + 1)	/* and one that holds all */

typedef struct WsTierTable
{
	double		lookups;		/* a second; 0: nothing is known */
	double		other;			/* bytes that are neither of the caches, with */
	double		shared_buffers; /* the present shared_buffers, in bytes */
	double		waits_each;		/* of a read that waits: as readahead.h */
	/* sizes of shared buffers, ascending, and reads that they ask for */
	int			nsizes;
	double		sizes[WS_SWEEP_SIZES];	/* bytes */
	double		reads[WS_SWEEP_SIZES];	/* a second */
	/* some of these, and page caches behind them, in bytes, ascending */
	int			nbuffers;
	double		buffers[WS_TIER_BUFFERS];
	int			ncaches;
	double		caches[WS_ALL_CACHES];
	/* shares that wait for the disk; blocks needed, and ahead, for each read */
	double		waits[WS_TIER_BUFFERS][WS_ALL_CACHES];
	double		needed[WS_TIER_BUFFERS][WS_ALL_CACHES];
	double		ahead[WS_TIER_BUFFERS][WS_ALL_CACHES];
	double		error[WS_TIER_BUFFERS][WS_ALL_CACHES];	/* of the waits */
	double		cold[WS_TIER_BUFFERS][WS_ALL_CACHES];	/* part of it: the cache
														 * was not full */
	double		only[WS_TIER_BUFFERS][WS_ALL_CACHES];	/* see twotier.h; of all
														 * of the page cache */
} WsTierTable;

/* What the table is made from. */
typedef struct WsTierFacts
{
	const WsTierCounts *counts;
	const WsAdviceTable *advice;	/* of the same time */
	const WsTwoTier *tiers;		/* that were counted */
	double		shared_buffers; /* bytes: size 1 of the advice */
	double		cache;			/* bytes: size 1 of the page caches */
	double		present;		/* bytes: the page cache that there is */
	double		left;			/* share of the hits of a simulated one of
								 * that size that others do not displace */
	double		other;
	double		off;			/* the page cache's hit ratio, at the present
								 * sizes: now, or on average if that is more */
	double		whole;			/* bytes of all relations; NaN: not known */
} WsTierFacts;

typedef struct WsPair
{
	double		buffers;		/* bytes */
	double		cache;
	double		distinct;		/* bytes of pages in either; NaN: the page
								 * cache is not full */
	double		hit_ratio;		/* of shared buffers */
	double		cache_hit_ratio;	/* reads that do not wait, of all, */
	double		error;			/* and its 95 % bound at this very size, */
	double		steep;			/* and what it changes by if the page cache
								 * acts as one of another size */
	double		cold;			/* part of the error: due to caches not full */
	double		reads;			/* a second: asked for by shared buffers, */
	double		waits;			/* waited for, */
	double		needed;			/* not in the page cache, */
	double		blocks;			/* and read from disk */
} WsPair;

/*
 * The share of a simulated page cache's hits that are left if this share of its
 * pages is in the real one; both 0 to 1.
 *
 * Where there are no other files 0.86 to 0.95 of the pages are, with skewed
 * workloads, and at least 0.94 of the hits (bench/memory --stranger): what is
 * missing is seldom used.  So from nine tenths on none are lost.
 */
extern double ws_division_hits_left(double found);

extern void ws_division_table(const WsTierFacts *facts, WsTierTable *table);

/*
 * Bytes of so much memory that are left for the page cache beside so many of
 * shared buffers; negative if these do not fit.
 */
extern double ws_division_left(const WsTierTable *table, double memory, double buffers);

/* Predict for a pair; false if its shared buffers are outside what is known. */
extern bool ws_division_predict(const WsTierTable *table, double buffers, double cache,
								WsPair *pair);

/* The 95 % bound of the page cache's hit ratio, 0 to 1, at whatever size. */
extern double ws_division_error(const WsPair *pair);

/*
 * What the page cache's hit ratio is off by, if so many blocks a second are
 * really read with this pair; NaN if these are NaN, or it asks for too few.
 */
extern double ws_division_difference(const WsPair *pair, double blocks);

/*
 * Is so much read with this pair that not all of it is for shared buffers, even
 * if the page cache found nothing?  Then it tells nothing about the page cache.
 */
extern bool ws_division_others_read(const WsPair *pair, double blocks);

/* Is that too much for a prediction that one can rely on? */
extern bool ws_division_is_off(double difference);

/* Divide so much memory; false if nothing is known that fits. */
extern bool ws_division_best(const WsTierTable *table, double memory, WsPair *pair);

#endif							/* WS_DIVISION_H */
