/*
 * sampler.h
 *		The sample table: when was each of a sample of the pages used?
 *
 * A page is sampled because of its hash, so that all its uses are seen or none
 * (spatial sampling; Waldspurger et al., SHARDS, 2015).  With a shift of s the
 * pages of strata s and up (pagehash.h) are sampled, one page in 2^s.  The
 * shift rises when they do not fit into the table (the sample of smallest
 * hashes, "bottom-k"), and falls again when many more would fit.
 *
 * A newly admitted stratum has no history: questions about a period go to the
 * strata that were admitted before.  Pages are kept for an hour after their
 * last touch.  If pages that are never touched again fill the table, only
 * those of higher strata, the lasting ones, are kept for an hour, and the
 * others for a brief time: recent pages are sampled densely, old ones sparsely.
 * A brief time of more than an hour holds for all pages.  The table then holds
 * the pages of that time, so that fewer are sampled.
 *
 * A page whose file is gone, or is now shorter, cannot be used again.  It is
 * dead, and stays in the table until its time is over: the sketch counted it,
 * and cannot forget it, so the share of the dead in the sample is what has to
 * be taken off.
 *
 * One process writes.  Others copy what they read, under the caller's lock.
 */
#ifndef WS_SAMPLER_H
#define WS_SAMPLER_H

#include "pagehash.h"
#include "stream.h"

/* Pages that the table holds, if any are sampled. */
#define WS_SAMPLE_PAGES_MIN		1024
#define WS_SAMPLE_PAGES_DEFAULT 16384
#define WS_SAMPLE_PAGES_MAX		32768

#define WS_NO_SAMPLE		(UINT32_MAX >> 2)	/* no entry of the table */

/* For which pages are kept, and the most that the brief time may be. */
#define WS_SAMPLE_SECONDS		3600
#define WS_SAMPLE_SECONDS_MAX	(86400 / 15 * 16)

/* Touches so soon after a use began belong to it, as those of one query. */
#define WS_USE_TICKS		50

typedef struct WsSample
{
	WsPageId	page;
	uint32_t	hash;
	/* ticks, of the last touch by anybody, and of clients; 0: none */
	uint32_t	touched;		/* 0: no page */
	uint32_t	last;			/* touch by a client */
	uint32_t	use;			/* the last use began */
	uint32_t	before;			/* last touch of the use before */
	/* last touch that leaves it in a cache, */
	uint32_t	held;			/* not through a ring */
	uint32_t	scanned;		/* by a sequential scan: if there was no ring */
	float		reads;			/* by clients, see ws_sampler_age_reads() */
	uint32_t	next:30;		/* in the same bucket, or free */
	uint32_t	resident:1;		/* in shared buffers, by the events so far */
	uint32_t	dead:1;			/* it cannot be used again */
} WsSample;

typedef struct WsSampler
{
	uint32_t	capacity;		/* fixed, as the two below */
	uint32_t	buckets;		/* a power of two */
	uint32_t	log2m;			/* of the sketch that the sample goes with */
	uint32_t	shift;
	uint32_t	lasting;		/* strata from this on are kept for an hour */
	uint32_t	brief;			/* ticks for which the others are kept */
	uint32_t	count;			/* pages */
	uint32_t	free;			/* first free entry */
	uint32_t	aged_at;		/* tick at which reads were aged, */
	float		aged;			/* and the ticks before it that still count */
	uint32_t	admitted[WS_STRATA];	/* since which tick */
	uint32_t	kept[WS_STRATA];	/* tick since which a lasting one lasts */
	WsSample	samples[];		/* then the heads of the buckets */
} WsSampler;

/* Bytes of a table for so many pages; make an empty one in that memory. */
extern size_t ws_sampler_size(uint32_t capacity);
extern void ws_sampler_init(WsSampler *sampler, uint32_t capacity, uint32_t log2m,
							uint32_t shift, uint32_t tick);

/* The entry of a page, or WS_NO_SAMPLE. */
extern uint32_t ws_sampler_find(const WsSampler *sampler, const WsPageId *page, uint32_t hash);

/* Enter a page; WS_NO_SAMPLE if it is not sampled, or the table is full. */
extern uint32_t ws_sampler_enter(WsSampler *sampler, const WsPageId *page, uint32_t hash,
								 uint32_t tick);

/* A client, or maintenance, touches a page that is there. */
extern void ws_sampler_touch(WsSampler *sampler, uint32_t entry, uint32_t tick, bool client);

/* The touch leaves the page in a cache: of a scan, if that needs no ring. */
extern void ws_sampler_hold(WsSampler *sampler, uint32_t entry, uint32_t tick, bool scan);

/*
 * Count reads, in .reads of the pages, from zero at this tick.  Now and then
 * they are to be aged: then a read of so long ago weighs exp(-age / 150 s), and
 * so does the time that they are of.  The quotient is a rate of about the last
 * five minutes.
 */
extern void ws_sampler_begin_reads(WsSampler *sampler, uint32_t tick);
extern void ws_sampler_age_reads(WsSampler *sampler, uint32_t tick);
extern double ws_sampler_read_seconds(const WsSampler *sampler, uint32_t now);

/* The page cannot be used again. */
extern void ws_sampler_die(WsSampler *sampler, uint32_t entry);

/*
 * Of the pages of strata shift and up that clients touched in the last ticks
 * and not before the floor, the share that is not dead; 1 if there are none.
 */
extern double ws_sampler_alive(const WsSampler *sampler, uint32_t now, uint32_t ticks,
							   uint32_t floor, uint32_t shift);

/* Take a page out.  Functions below call "evicted", unless NULL, for each. */
typedef void (*WsEvicted) (uint32_t entry);
extern void ws_sampler_evict(WsSampler *sampler, uint32_t entry, WsEvicted evicted);

/* Evict pages whose time is over; returns how many. */
extern uint32_t ws_sampler_expire(WsSampler *sampler, uint32_t tick, WsEvicted evicted);

/*
 * After a reset at the tick "floor" only the simulated caches need older
 * pages.  If these alone keep the shift from falling a minute later, evict
 * those that are not in shared buffers; returns how many.
 */
extern uint32_t ws_sampler_evict_before(WsSampler *sampler, uint32_t floor, uint32_t tick,
										WsEvicted evicted);

/* Change the brief time, 25.6 hours at most; at first it is 20 minutes. */
extern void ws_sampler_set_brief(WsSampler *sampler, uint32_t ticks, uint32_t tick);

/*
 * Free an eighth of the table: evict pages whose time is over, and if these
 * are too few, let fewer strata last, but at least one sampled page in eight.
 * False: that is not enough, so the shift has to rise.
 */
extern bool ws_sampler_thin(WsSampler *sampler, uint32_t tick, WsEvicted evicted);

/* Let one more stratum last if little of the table is used, else false. */
extern bool ws_sampler_widen(WsSampler *sampler, uint32_t tick);

/* Change the shift: evict pages below it, or let one more stratum last. */
extern void ws_sampler_set_shift(WsSampler *sampler, uint32_t shift, uint32_t tick,
								 WsEvicted evicted);

/*
 * The smallest shift whose pages were all sampled and kept for the last ticks,
 * or since the floor, before which nothing counts.  If there is none: the
 * present shift, or for more than the brief time the lowest lasting stratum.
 */
extern uint32_t ws_sampler_mature_shift(const WsSampler *sampler, uint32_t now, uint32_t ticks,
										uint32_t floor);

/*
 * How many of the last ticks the table knows, if it does not know all since the
 * floor, as after a rise of the brief time; else "ticks".  At least 1.
 */
extern uint32_t ws_sampler_known(const WsSampler *sampler, uint32_t now, uint32_t ticks,
								 uint32_t floor);

/* The load of sampling, averaged over ten seconds; zeros after each shift. */
typedef struct WsSampleLoad
{
	double		lookups;		/* of all pages, a second */
	double		busy;			/* share of a processor that the reader takes */
	double		events;			/* that it reads, a second */
	double		settled;		/* seconds since the shift changed */
	double		debt;			/* processor seconds over the reader's share */
	double		recent;			/* sampled pages that were used in a minute */
	bool		guessed;		/* did the writers raise the shift, and the
								 * reader has not raised it since? */
} WsSampleLoad;

/*
 * Add so many seconds, and counts and the reader's processor time in these.
 * "recent" is the number of sampled pages that clients used in a minute.
 */
extern void ws_sample_load_follow(WsSampleLoad *load, double seconds, double busy,
								  double events, double lookups, uint32_t recent);

/*
 * The shift to change to.  From a second after the last change it rises by one
 * when the table is full, when the reader has taken too much of a processor
 * for more than a few events, or when clients have so much to do with sampled
 * pages that they could feel it and fewer pages are enough.
 * From a minute on it falls as far as leaves a margin before all of these.
 * Once the writers have raised it (stream.h) it falls after ten seconds: they
 * do not know what the reader can take.
 */
extern uint32_t ws_sampler_next_shift(const WsSampler *sampler, const WsSampleLoad *load);

/*
 * Steps by which the shift has to rise at once because a stream of so many
 * places may not hold so many events, written or dropped, in so many seconds.
 */
extern uint32_t ws_sampler_flood_steps(double events, double seconds, uint32_t places);

/*
 * Entries of strata shift and up that are not dead, the latest first by the
 * ticks when[entry]; those with 0 are left out.
 */
extern uint32_t ws_sampler_by_age(const WsSampler *sampler, uint32_t shift, const uint32_t *when,
								  uint32_t *entries);

/* Pages of strata shift and up that are in shared buffers. */
extern uint32_t ws_sampler_resident(const WsSampler *sampler, uint32_t shift);

/*
 * The share that they have of all pages there, "held".  If there are fewer than
 * by chance, then some are not in the table, since they were not used after it
 * began, or not for long; so nothing is known but 2^-shift.
 */
extern double ws_sampler_share(const WsSampler *sampler, uint32_t shift, double held);

/*
 * Pages of strata shift and up, not dead, that clients touched in the last
 * ticks and not before the floor; copied to "out", of the table's capacity, if
 * not NULL.
 */
extern uint32_t ws_sampler_select(const WsSampler *sampler, uint32_t now, uint32_t ticks,
								  uint32_t floor, uint32_t shift, WsSample *out);

/*
 * For each s, the share that strata s and up have of all pages that clients
 * touched in the last ticks and not before the floor: "all", as estimated.
 * Dead ones are left out.
 * It means nothing below the shift.  Where few are sampled it is nearer 2^-s.
 */
extern void ws_sampler_rates(const WsSampler *sampler, uint32_t now, uint32_t ticks,
							 uint32_t floor, double all, double rates[WS_STRATA]);

/* Is this tick, unless 0, one of the last ones, and not before the floor? */
static inline bool
ws_tick_within(uint32_t tick, uint32_t now, uint32_t ticks, uint32_t floor)
{
	return tick >= floor && tick != 0 && (tick > now || now - tick < ticks);
}

/* Was the page used twice in that time? */
static inline bool
ws_sample_reused(const WsSample *sample, uint32_t now, uint32_t ticks, uint32_t floor)
{
	return ws_tick_within(sample->before, now, ticks, floor);
}

/*
 * Standard error of a number of pages, "part" of "all", by a sample of one in
 * 2^shift: a binomial share of a finite population; "variance" is of "all".
 */
extern double ws_sample_error(double part, double all, double variance, uint32_t shift);

/*
 * Divide "all" pages among n parts by their sampled pages.  A part has no more
 * pages than its limit.  What it would have beyond that by an error of sampling
 * goes to the others; more is of pages that were used and are gone.
 */
extern void ws_sample_divide(const uint32_t *sampled, const double *limit, int n, double all,
							 uint32_t shift, double *pages);

#endif							/* WS_SAMPLER_H */
