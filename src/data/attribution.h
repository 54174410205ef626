/*
 * attribution.h
 *		Which origin used which of the sampled pages, and when last?
 *
 * The table has a pair for each sampled page and each origin that used it.  If
 * it is nearly full, first the time for which pairs are kept becomes shorter,
 * down to ten minutes, and then fewer strata of pages have pairs.  So its
 * sampling rate may be below that of the sample, and is the same for all
 * origins.
 *
 * A page counts for each origin that used it, so the parts add up to more than
 * the working set.
 *
 * It also has the reads of each origin in the last minutes.
 *
 * One process writes.  Others copy what they read, under the caller's lock.
 */
#ifndef WS_ATTRIBUTION_H
#define WS_ATTRIBUTION_H

#include <stddef.h>

#include "origins.h"
#include "pagehash.h"

/* The longest and the shortest time for which pairs are kept. */
#define WS_ATTRIBUTION_SECONDS		3600
#define WS_ATTRIBUTION_SECONDS_MIN	600

/* The most pairs that a table can have. */
#define WS_ATTRIBUTION_MAX			32768

/* Reads of five minutes and of the present one. */
#define WS_READ_MINUTES				6

typedef struct WsPageUse
{
	uint32_t	hash;			/* of the page */
	uint32_t	last;			/* tick of the last touch; 0: no pair */
	uint16_t	origin;			/* its entry */
	uint16_t	next;			/* in the same bucket, or free */
} WsPageUse;

typedef struct WsAttribution
{
	uint32_t	capacity;		/* fixed, as the two below */
	uint32_t	buckets;		/* a power of two */
	uint32_t	log2m;			/* of the sketch that the sample goes with */
	uint32_t	shift;			/* pages of strata from this have pairs */
	uint32_t	kept;			/* ticks for which pairs are kept */
	uint32_t	since;			/* no pair used since this tick was dropped */
	uint32_t	count;			/* pairs */
	uint32_t	free;			/* first free one */
	uint32_t	admitted[WS_STRATA];	/* since which tick */
	uint32_t	reads_since;	/* tick at which the counts of reads began */
	uint32_t	minute;			/* that is counted now, since reads_since */
	float		reads[WS_READ_MINUTES][WS_ORIGINS]; /* pages */
	WsPageUse	pairs[];		/* then the heads of the buckets */
} WsAttribution;

/* Bytes of a table for so many pairs; make an empty one in that memory. */
extern size_t ws_attribution_size(uint32_t capacity);
extern void ws_attribution_init(WsAttribution *attribution, uint32_t capacity, uint32_t log2m,
								uint32_t shift, uint32_t tick);

/* An origin uses a page at this tick. */
extern void ws_attribution_touch(WsAttribution *attribution, uint32_t hash, uint32_t origin,
								 uint32_t tick);

/* The page with this hash cannot be used again. */
extern void ws_attribution_forget(WsAttribution *attribution, uint32_t hash);

/* Pages below this stratum are not sampled any more. */
extern void ws_attribution_raise(WsAttribution *attribution, uint32_t shift);

/*
 * Drop pairs whose time is over.  If little of the table is used, keep pairs
 * for longer, or admit one more stratum, but none below that of the sample.
 */
extern void ws_attribution_care(WsAttribution *attribution, uint32_t shift, uint32_t tick);

/* The number of pairs of each origin that were used since this tick. */
extern void ws_attribution_count(const WsAttribution *attribution, uint32_t since,
								 uint32_t *counts);

/*
 * Tick of the last use of a page by an origin that is none of these; 0: there
 * is none.  UINT32_MAX: nothing is known about the page.
 */
extern uint32_t ws_attribution_last(const WsAttribution *attribution, uint32_t hash,
									const bool *origins);

/* Give the pairs and reads of some origins to WS_ORIGIN_OTHER. */
extern void ws_attribution_merge(WsAttribution *attribution, const bool *origins);

/* Drop what was used before the floor, and count reads from zero. */
extern void ws_attribution_reset(WsAttribution *attribution, uint32_t floor, uint32_t tick);

/*
 * Count so many pages that an origin read.  Pass over to the present minute,
 * for which the tick is to be followed each second.
 */
extern void ws_attribution_add_reads(WsAttribution *attribution, uint32_t origin, double pages);
extern void ws_attribution_follow_reads(WsAttribution *attribution, uint32_t tick);

/* Pages a second that an origin read in the last minutes. */
extern double ws_attribution_reads(const WsAttribution *attribution, uint32_t origin,
								   uint32_t now);

/*
 * How many of the last ticks the table knows, if it does not know all since the
 * floor, else "ticks"; and the smallest shift whose pages were sampled for that
 * time, or the present one.
 */
extern uint32_t ws_attribution_known(const WsAttribution *attribution, uint32_t now, uint32_t ticks,
									 uint32_t floor);
extern uint32_t ws_attribution_mature_shift(const WsAttribution *attribution, uint32_t now,
											uint32_t ticks, uint32_t floor);

/*
 * Copy the pairs of strata shift and up that were used in the last ticks and
 * not before the floor; "out" has the table's capacity.
 */
extern uint32_t ws_attribution_select(const WsAttribution *attribution, uint32_t now, uint32_t ticks,
									  uint32_t floor, uint32_t shift, WsPageUse *out);

/* Sampled pages that a group of origins used. */
typedef struct WsGroupPages
{
	uint32_t	pages;
	uint32_t	exclusive;		/* by no other group */
} WsGroupPages;

/*
 * Divide copies of pairs, which are sorted, among the groups to which "group"
 * assigns the origins; returns the number of distinct pages.
 */
extern uint32_t ws_attribution_divide(WsPageUse *pairs, uint32_t n, const uint32_t *group,
									  WsGroupPages *pages, uint32_t ngroups);

#endif							/* WS_ATTRIBUTION_H */
