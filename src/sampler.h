/*
 * sampler.h
 *		The sample table: when was each of a sample of the pages used?
 *
 * The idea.  A page is sampled because of its hash, so that all its uses are
 * seen or none (spatial sampling; Waldspurger et al., SHARDS, 2015).  The
 * number of zeros that a hash begins with is its page's stratum: half of all
 * pages are in stratum 0, a quarter in stratum 1, and so on.  With a shift of
 * s the pages of strata s and up are sampled, one page in 2^s.  The table has
 * room for a fixed number of pages, so the shift rises when they do not fit
 * (the sample of smallest hashes, "bottom-k"), and falls again when there is
 * room for many more.
 *
 * A stratum that is newly admitted has no history.  Questions about the last
 * so many seconds are answered from the strata that were admitted before that.
 *
 * Pages are kept for an hour after their last touch.  Where many of them are
 * never touched again, they would leave little room for the others: then only
 * those of the higher strata are kept so long, and those below for a briefer
 * time.  So recent pages are sampled densely, and old ones sparsely, and a
 * question about a long time is answered from the strata that last.
 *
 * Uses.  Touches within five seconds of the beginning of a use belong to it:
 * a query that comes back to a page three times has used it once.
 *
 * Concurrency.  One process writes; what others read they copy under a lock,
 * which is the caller's business.
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_SAMPLER_H
#define WS_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

/* Room for so many pages, if any are sampled. */
#define WS_SAMPLE_PAGES_MIN		1024
#define WS_SAMPLE_PAGES_DEFAULT 16384
#define WS_SAMPLE_PAGES_MAX		32768

/* Shifts are below this. */
#define WS_STRATA			32

/* No page of the table. */
#define WS_NO_SAMPLE		(UINT32_MAX >> 1)

/* Touches so soon after the beginning of a use belong to it. */
#define WS_USE_TICKS		50

/* The table answers for windows up to this. */
#define WS_SAMPLE_SECONDS	3600

typedef struct WsSample
{
	WsPageId	page;
	uint32_t	hash;
	uint32_t	touched;		/* tick of the last touch by anybody; 0: no page */
	uint32_t	last;			/* by a client, as all below; 0: none */
	uint32_t	use;			/* tick at which the last use began */
	uint32_t	before;			/* tick of the last touch of the use before; 0: none */
	uint32_t	next:31;		/* in the same bucket, or free */
	uint32_t	resident:1;		/* in shared buffers, as far as is known */
} WsSample;

typedef struct WsSampler
{
	/* fixed when made */
	uint32_t	capacity;
	uint32_t	buckets;		/* a power of two */
	uint32_t	log2m;			/* of the sketch that the sample goes with */

	uint32_t	shift;
	uint32_t	lasting;		/* strata from this are kept for an hour */
	uint32_t	brief;			/* ticks for which the others are kept */
	uint32_t	count;			/* pages */
	uint32_t	free;			/* first free entry */
	uint32_t	admitted[WS_STRATA];	/* tick since which strata are sampled */
	uint32_t	kept[WS_STRATA];	/* tick since which those that last have been
									 * kept */

	WsSample	samples[];		/* then the heads of the buckets */
} WsSampler;

/*
 * Stratum of the page with this hash, below WS_STRATA.  Registers of the
 * sketch are chosen by the first log2m bits.  Beyond them the sample uses
 * other bits than the sketch's levels do.
 */
static inline uint32_t
ws_stratum(uint32_t hash, uint32_t log2m)
{
	uint32_t	zeros;

	if (hash >> (32 - log2m) != 0)
		return (uint32_t) __builtin_clz(hash);
	zeros = log2m + (uint32_t) __builtin_clz((hash * UINT32_C(0x9E3779B1)) | 1);
	return zeros < WS_STRATA ? zeros : WS_STRATA - 1;
}

/*
 * The first so many values of the hash are those of the registers that hold
 * all pages of strata shift and up.
 */
static inline uint32_t
ws_stratum_bound(uint32_t shift, uint32_t log2m)
{
	if (shift == 0)
		return UINT32_MAX;
	return UINT32_C(1) << (32 - (shift < log2m ? shift : log2m));
}

/* Bytes of a table with room for this many pages. */
extern size_t ws_sampler_size(uint32_t capacity);

/* Make an empty table in memory of that size. */
extern void ws_sampler_init(WsSampler *sampler, uint32_t capacity, uint32_t log2m,
							uint32_t shift, uint32_t tick);

/* The entry of a page, or WS_NO_SAMPLE. */
extern uint32_t ws_sampler_find(const WsSampler *sampler, const WsPageId *page, uint32_t hash);

/*
 * Enter a page that is not there.  WS_NO_SAMPLE: it is not sampled, or the
 * table is full.
 */
extern uint32_t ws_sampler_enter(WsSampler *sampler, const WsPageId *page, uint32_t hash,
								 uint32_t tick);

/* A touch of a page that is there, by a client or by maintenance. */
extern void ws_sampler_touch(WsSampler *sampler, uint32_t entry, uint32_t tick, bool client);

/* Is anybody to be told when a page is forgotten?  It happens right after. */
typedef void (*WsForgotten) (void *arg, uint32_t entry);

/* Forget a page. */
extern void ws_sampler_forget(WsSampler *sampler, uint32_t entry);

/* Forget pages that have been kept for long enough; returns how many. */
extern uint32_t ws_sampler_expire(WsSampler *sampler, uint32_t tick, WsForgotten told, void *arg);

/*
 * After a reset at this tick, pages of before are of use to the simulated
 * caches only.  Where they alone keep the shift from falling, a minute later,
 * forget those that are not in shared buffers; returns how many.
 */
extern uint32_t ws_sampler_forget_before(WsSampler *sampler, uint32_t floor, uint32_t tick,
										 WsForgotten told, void *arg);

/*
 * Keep strata that do not last for so many ticks, at most an hour; 20 minutes
 * at first.
 */
extern void ws_sampler_set_brief(WsSampler *sampler, uint32_t ticks, uint32_t tick);

/*
 * Make room: forget what has been kept for long enough, and if that is less
 * than an eighth of the table, let fewer strata last, if that can make up for
 * the rest, but not less than one page in eight of those that are sampled.
 * False: less than an eighth is free now, and fewer pages have to be sampled.
 */
extern bool ws_sampler_make_room(WsSampler *sampler, uint32_t tick, WsForgotten told, void *arg);

/* Let one stratum more last if there is room for it. */
extern bool ws_sampler_relax(WsSampler *sampler, uint32_t tick);

/*
 * Sample one page in 2^shift from now on; forget those that are no longer
 * sampled.  If it is more than before, one stratum more lasts, too.
 */
extern void ws_sampler_set_shift(WsSampler *sampler, uint32_t shift, uint32_t tick,
								 WsForgotten told, void *arg);

/*
 * The smallest shift whose pages have all been sampled and kept for so many
 * ticks, or since the floor, before which nothing counts; if there is none,
 * the present shift, or the smallest whose pages last if it is about more than
 * the brief time.
 */
extern uint32_t ws_sampler_mature_shift(const WsSampler *sampler, uint32_t now, uint32_t ticks,
										uint32_t floor);

/*
 * What the shift depends on: averages since it was changed, or of the last ten
 * seconds.
 */
typedef struct WsSampleLoad
{
	double		lookups;		/* of all pages, a second */
	double		busy;			/* share of a processor that the reader needs */
	double		events;			/* that it reads, a second */
	double		settled;		/* seconds since the shift was changed */
	double		debt;			/* processor seconds that the reader took beyond
								 * its share, and has not saved since */
} WsSampleLoad;

/*
 * So many seconds more have passed, in which the reader needed so many seconds
 * of a processor for so many events, of so many lookups.
 */
extern void ws_sample_load_follow(WsSampleLoad *load, double seconds, double busy,
								  double events, double lookups);

/*
 * The shift to change to, a second after the last change or later.  Up by one
 * when the table is full, when the reader has taken too much of a processor
 * for more than a few events, or when sampled pages would be felt in the
 * looking up.  Down, after a minute, by as many steps as leave a margin before
 * all of these.
 */
extern uint32_t ws_sampler_next_shift(const WsSampler *sampler, const WsSampleLoad *load);

/*
 * By how many steps the shift has to rise at once when so many events were
 * written, or dropped, in so many seconds: more than a stream with so many
 * places can be trusted to hold until it is read.
 */
extern uint32_t ws_sampler_flood_steps(double events, double seconds, uint32_t places);

/*
 * Entries of all pages of strata shift and up, the last touched first, to an
 * array with room for all; returns how many.
 */
extern uint32_t ws_sampler_by_age(const WsSampler *sampler, uint32_t shift, uint32_t *entries);

/* Pages of strata shift and up that are in shared buffers. */
extern uint32_t ws_sampler_resident(const WsSampler *sampler, uint32_t shift);

/*
 * Copy the pages of strata shift and up that clients touched in the last ticks
 * and not before the floor, to an array with room for all; returns how many.
 */
extern uint32_t ws_sampler_select(const WsSampler *sampler, uint32_t now, uint32_t ticks,
								  uint32_t floor, uint32_t shift, WsSample *out);

/* How many there are. */
extern uint32_t ws_sampler_count(const WsSampler *sampler, uint32_t now, uint32_t ticks,
								 uint32_t floor, uint32_t shift);

/* Was the page used twice in the last ticks, and not before the floor? */
extern bool ws_sample_reused(const WsSample *sample, uint32_t now, uint32_t ticks,
							 uint32_t floor);

/*
 * Standard error, in pages, of the part of a set of "all" pages (itself known
 * with this variance) that is estimated to be "part" pages by a sample of one
 * page in 2^shift.  A binomial share of a finite population.
 */
extern double ws_sample_error(double part, double all, double variance, uint32_t shift);

/* NULL when all invariants hold, else what is wrong. */
extern const char *ws_sampler_check(const WsSampler *sampler);

#endif							/* WS_SAMPLER_H */
