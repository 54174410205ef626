/*
 * sweep.c
 *		Miniature clock sweeps; see sweep.h.
 *
 * What a page is in all caches lies together, and most accesses are hits at
 * all sizes, which need no more.  Only the cache knows the page's buffer: hands
 * go from there to the pages, and rings remember it.
 */
#include "sweep.h"

#include <math.h>
#include <string.h>

/*
 * Uses of a page to report for each further turn of the hand in a tick: twice
 * the five that would do if they came evenly, and not all early in the tick.
 */
#define FURTHER_USES	10

/* Turns a second of hands that turn often, and no longer do. */
#define FAST_TURNS		(1.0 / WS_BURSTS)
#define SLOW_TURNS		(0.25 / WS_BURSTS)
#define MEASURE_SECONDS	16.0	/* to average over */
#define FORGET_SECONDS	60.0	/* until half is forgotten */

#define MOSTLY_FULL		(15 / 16.0)
#define GOLDEN			0.6180339887498949	/* steps of it, modulo 1, are
											 * spread evenly */

const double ws_sweep_grid[WS_SWEEP_GRID] = {
	0.125, 0.16, 0.2, 0.25, 0.32, 0.4, 0.5, 0.63, 0.8, 1,
	1.25, 1.6, 2, 2.5, 3.2, 4, 5.6, 8, 11.2, 16
};

_Static_assert(WS_USAGE_MAX == 5 && WS_USAGE_BITS == 3, "nonzero() and saturated() know the bits");

size_t
ws_sweep_size(uint32_t pages)
{
	return sizeof(WsSweep) +
		pages * (sizeof(WsSweepPage) + (WS_SWEEP_SIZES + 1) * sizeof(uint16_t));
}

void
ws_sweep_init(WsSweep *sweep, uint32_t pages)
{
	memset(sweep, 0, offsetof(WsSweep, scans));
	sweep->npages = pages;
	sweep->nscans = WS_SWEEP_SCANS;
	sweep->gaps = false;
	sweep->scratch = (uint16_t *) &sweep->pages[pages];
	for (uint32_t i = 0; i < WS_SWEEP_SIZES; i++)
	{
		sweep->caches[i].page = sweep->scratch + (i + 1) * pages;
		sweep->factor[i] = i < WS_SWEEP_GRID ? ws_sweep_grid[i] : 1;
	}
	memset(sweep->pages, 0, pages * sizeof(WsSweepPage));
	ws_sweep_resize(sweep, 1);
}

/* The sizes at which the page's count is not 0, */
static uint32_t
nonzero(const WsSweepPage *page)
{
	return page->usage[0] | page->usage[1] | page->usage[2];
}

/* and those at which it does not rise: in a ring above one. */
static uint32_t
saturated(const WsSweepPage *page, uint32_t ringed)
{
	return (page->usage[0] & page->usage[2]) | (nonzero(page) & ringed);
}

/* Held at this size, and not used again since a ring brought it in? */
static bool
used_once(const WsSweepPage *page, int size)
{
	return (page->held & ~(page->usage[1] | page->usage[2]) & WS_SWEEP_BIT(size)) != 0;
}

/* Add one to the counts of a set of sizes, none of which is all ones. */
static void
count_up(WsSweepPage *page, uint32_t set)
{
	for (int j = 0; j < WS_USAGE_BITS; j++)
	{
		uint32_t	carry = page->usage[j] & set;

		page->usage[j] ^= set;
		set = carry;
	}
}

/* Take one from them, none of which is 0. */
static void
count_down(WsSweepPage *page, uint32_t set)
{
	for (int j = 0; j < WS_USAGE_BITS; j++)
	{
		page->usage[j] ^= set;
		set &= page->usage[j];
	}
}

static void
take_out(WsSweepPage *page, uint32_t set)
{
	page->held &= ~set;
	for (int j = 0; j < WS_USAGE_BITS; j++)
		page->usage[j] &= ~set;
}

/* At a size where it is not held it becomes what it is at another. */
static void
make_same(WsSweepPage *page, int from, int to)
{
	page->held |= (page->held >> from & 1) << to;
	for (int j = 0; j < WS_USAGE_BITS; j++)
		page->usage[j] |= (page->usage[j] >> from & 1) << to;
}

/* The buffer whose page has to go, of a full cache. */
static uint32_t
victim(WsSweep *sweep, int size)
{
	WsSweepCache *cache = &sweep->caches[size];
	uint32_t	moved = 0;

	for (;;)
	{
		uint32_t	buffer = cache->hand;
		WsSweepPage *page = &sweep->pages[cache->page[buffer]];

		cache->hand = buffer + 1 < cache->filled ? buffer + 1 : 0;
		moved++;
		if (page->held & ~nonzero(page) & WS_SWEEP_BIT(size))
		{
			cache->moved += moved;
			return buffer;
		}
		count_down(page, page->held & WS_SWEEP_BIT(size));
	}
}

/*
 * Close the gaps of pages that are gone.  The others keep the order in which
 * the hand comes by: in another one a loop would hit pages that it must miss.
 */
static void
close_gaps(WsSweep *sweep)
{
	for (int size = 0; size < WS_SWEEP_SIZES && sweep->gaps; size++)
	{
		WsSweepCache *cache = &sweep->caches[size];
		uint32_t	n = 0;

		if (cache->gaps == 0)
			continue;
		for (uint32_t i = 0; i < cache->filled; i++)
		{
			uint32_t	b = cache->hand + i;
			uint32_t	buffer = b < cache->filled ? b : b - cache->filled;
			uint16_t	page = cache->page[buffer];

			if (ws_sweep_holds_at(sweep, page, size))
				sweep->scratch[n++] = page;
		}
		memcpy(cache->page, sweep->scratch, n * sizeof(*cache->page));
		cache->filled = n;
		cache->hand = cache->gaps = 0;
	}
	sweep->gaps = false;
}

void
ws_sweep_resize(WsSweep *sweep, double buffers)
{
	close_gaps(sweep);
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		WsSweepCache *cache = &sweep->caches[i];
		uint64_t	moved = cache->moved;	/* by accesses, not by this */

		cache->wanted = fmax(rint(buffers * sweep->factor[i]), 1);
		cache->buffers = (uint32_t) fmin(cache->wanted, sweep->npages);
		for (; cache->filled - cache->gaps > cache->buffers; cache->gaps++)
		{
			/* the hand passes by it until the gap closes */
			take_out(&sweep->pages[cache->page[victim(sweep, i)]], WS_SWEEP_BIT(i));
			sweep->gaps = true;
		}
		cache->moved = moved;
	}
}

void
ws_sweep_set_rings(WsSweep *sweep, WsRing ring, const double *buffers)
{
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		sweep->caches[i].ring[ring] = buffers[i];
}

static void
evict(WsSweep *sweep, int size, uint16_t page)
{
	take_out(&sweep->pages[page], WS_SWEEP_BIT(size));
	sweep->evicted[size] = page;
}

/* A buffer for a page that comes in: an empty one, or one the hand finds. */
static uint32_t
allocate(WsSweep *sweep, int size)
{
	WsSweepCache *cache = &sweep->caches[size];
	uint32_t	buffer;

	sweep->evicted[size] = WS_NOWHERE;
	if (cache->filled < cache->buffers)
		return cache->filled++;
	buffer = victim(sweep, size);
	evict(sweep, size, cache->page[buffer]);
	return buffer;
}

/* The page is not held at this size. */
static void
bring_in(WsSweep *sweep, int size, uint32_t buffer, uint32_t page)
{
	sweep->caches[size].page[buffer] = (uint16_t) page;
	sweep->pages[page].held |= WS_SWEEP_BIT(size);
	sweep->pages[page].usage[0] |= WS_SWEEP_BIT(size);
}

static bool
same_scan(const WsSweep *sweep, uint32_t i, const WsAccess *access)
{
	const WsAccess *last = &sweep->scans[i].last;

	return sweep->used[i] != 0 && last->process == access->process &&
		last->ring == access->ring && last->relation == access->relation;
}

/* Buffers of a ring of this kind: it may be less than one. */
static double
ring_buffers(const WsSweepCache *cache, WsRing ring)
{
	return fmin(cache->ring[ring], cache->buffers / 8.0);
}

/*
 * A scan begins.  The last one of this relation, of whatever process, has left
 * a page in the cache where its ring is smaller than that: too much, if scans
 * come again and again.  Forget it in as many cases as it is too large.
 */
static void
forget_left(WsSweep *sweep, const WsAccess *access)
{
	sweep->luck = fmod(sweep->luck + GOLDEN, 1);
	for (uint32_t i = 0; i < sweep->nscans; i++)
	{
		WsSweepScan *scan = &sweep->scans[i];

		if (sweep->used[i] == 0 || scan->reached == 0 || scan->last.ring != access->ring ||
			scan->last.relation != access->relation)
			continue;
		for (int size = 0; size < WS_SWEEP_SIZES; size++)
		{
			uint16_t   *page = &scan->ring[0][size].page;

			if (*page == WS_NOWHERE || ring_buffers(&sweep->caches[size], access->ring) >= 1)
				continue;
			if (used_once(&sweep->pages[*page], size) &&
				sweep->luck >= ring_buffers(&sweep->caches[size], access->ring))
			{
				take_out(&sweep->pages[*page], WS_SWEEP_BIT(size));
				sweep->caches[size].gaps++;
				sweep->gaps = true;
			}
			*page = WS_NOWHERE;
		}
	}
}

/* The rings of an access's scan: emptied if it starts over, oldest if new. */
static WsSweepScan *
find_scan(WsSweep *sweep, const WsAccess *access)
{
	WsSweepScan *scan;
	uint32_t	i = sweep->last_scan;

	if (!same_scan(sweep, i, access))
	{
		uint32_t	oldest = 0;

		for (i = 0; i < sweep->nscans && !same_scan(sweep, i, access); i++)
			if (sweep->used[i] < sweep->used[oldest])
				oldest = i;
		if (i == sweep->nscans)
			i = oldest;
		sweep->last_scan = i;
	}
	scan = &sweep->scans[i];
	if (!same_scan(sweep, i, access) || scan->last.block > access->block)
	{
		forget_left(sweep, access);
		memset(scan->next, 0, sizeof(scan->next));
		scan->reached = 0;
	}
	scan->last = *access;
	sweep->used[i] = ++sweep->scan_accesses;
	return scan;
}

/* The buffer of a page that the cache holds and a ring remembers. */
static uint32_t
buffer_of(const WsSweepCache *cache, const WsSweepRing *ring)
{
	uint32_t	buffer = ring->buffer;

	/* it moves when gaps close, which is rare */
	if (buffer >= cache->filled || cache->page[buffer] != ring->page)
		for (buffer = 0; cache->page[buffer] != ring->page; buffer++)
			;
	return buffer;
}

/* As GetBufferFromRing(): the next of the ring, or another if others use it. */
static uint32_t
allocate_in_ring(WsSweep *sweep, int size, WsSweepScan *scan, uint32_t page)
{
	WsSweepCache *cache = &sweep->caches[size];
	double		most = ring_buffers(cache, scan->last.ring);
	uint32_t	n = (uint32_t) rint(fmin(fmax(most, 1), WS_SWEEP_RING_MAX));
	uint32_t	i = scan->next[size] < n ? scan->next[size] : 0;
	WsSweepRing *ring = &scan->ring[i][size];

	for (; scan->reached <= i; scan->reached++)
		memset(scan->ring[scan->reached], 0xFF, sizeof(scan->ring[0]));
	scan->next[size] = (uint16_t) (i + 1);
	if (ring->page == WS_NOWHERE || !used_once(&sweep->pages[ring->page], size))
		ring->buffer = (uint16_t) allocate(sweep, size);
	else
	{
		ring->buffer = (uint16_t) buffer_of(cache, ring);
		evict(sweep, size, ring->page);
	}
	ring->page = (uint16_t) page;
	return ring->buffer;
}

uint32_t
ws_sweep_access(WsSweep *sweep, const WsAccess *access, uint32_t *cold)
{
	WsSweepPage *page = &sweep->pages[access->page];
	WsSweepScan *scan = access->ringed ? find_scan(sweep, access) : NULL;
	uint32_t	seen = WS_SWEEP_ALL & ~access->absent;
	uint32_t	between = ws_sweep_unseen(sweep, access->tick, false);
	uint32_t	missed;

	*cold = 0;
	if (sweep->gaps)
		close_gaps(sweep);
	/* after find_scan(), which may forget this page */
	missed = seen & ~page->held;
	sweep->unmissed = 0;
	for (uint32_t rest = missed & sweep->bursts_only; rest != 0; rest &= rest - 1)
		if ((access->tick - page->used) * sweep->caches[__builtin_ctz(rest)].turns < WS_TICKS_PER_SECOND)
			sweep->unmissed |= rest & -rest;
	page->used = access->tick;
	count_up(page, page->held & seen & ~saturated(page, access->ringed));
	for (uint32_t rest = missed; rest != 0; rest &= rest - 1)
	{
		int			i = __builtin_ctz(rest);
		bool		ringed = (access->ringed & WS_SWEEP_BIT(i)) != 0;
		uint64_t	moved = sweep->caches[i].moved;

		if (!ringed && sweep->caches[i].filled < sweep->caches[i].wanted * MOSTLY_FULL)
			*cold |= WS_SWEEP_BIT(i);
		bring_in(sweep, i, ringed ? allocate_in_ring(sweep, i, scan, access->page) :
				 allocate(sweep, i), access->page);
		/* bursts, which count sixteen times, have such moves, too */
		if (between & WS_SWEEP_BIT(i))
			sweep->caches[i].moved = moved;
	}
	return missed;
}

void
ws_sweep_forget(WsSweep *sweep, uint32_t page)
{
	for (uint32_t rest = sweep->pages[page].held; rest != 0; rest &= rest - 1)
	{
		sweep->caches[__builtin_ctz(rest)].gaps++;
		sweep->gaps = true;
	}
	take_out(&sweep->pages[page], WS_SWEEP_ALL);
	sweep->pages[page].used = 0;
}

bool
ws_sweep_holds(const WsSweep *sweep, uint32_t page)
{
	return sweep->pages[page].held != 0;
}

void
ws_sweep_empty(WsSweep *sweep, int size)
{
	WsSweepCache *cache = &sweep->caches[size];

	for (uint32_t i = 0; i < sweep->npages; i++)
		take_out(&sweep->pages[i], WS_SWEEP_BIT(size));
	cache->filled = cache->hand = cache->gaps = 0;
}

void
ws_sweep_seed(WsSweep *sweep, int size, const uint32_t *pages, uint32_t n)
{
	WsSweepCache *cache = &sweep->caches[size];
	uint32_t	last = 0;		/* of the pages that fit, and one on */
	uint32_t	empty;

	close_gaps(sweep);
	empty = cache->buffers - cache->filled;
	for (uint32_t fit = 0; last < n && fit < empty; last++)
		fit += !ws_sweep_holds_at(sweep, pages[last], size);

	/* the oldest first, because the hand starts there */
	while (last-- > 0)
		if (!ws_sweep_holds_at(sweep, pages[last], size))
			bring_in(sweep, size, cache->filled++, pages[last]);
}

void
ws_sweep_copy(WsSweep *sweep, int from, int to, const bool *keep)
{
	const WsSweepCache *source = &sweep->caches[from];
	WsSweepCache *cache = &sweep->caches[to];

	close_gaps(sweep);
	for (uint32_t i = 0; i < source->filled && cache->filled < cache->buffers; i++)
	{
		uint32_t	b = source->hand + i;
		uint16_t	page = source->page[b < source->filled ? b : b - source->filled];

		if (!keep[page] || ws_sweep_holds_at(sweep, page, to))
			continue;
		cache->page[cache->filled++] = page;
		make_same(&sweep->pages[page], from, to);
	}
}

void
ws_sweep_measure(WsSweep *sweep, double seconds)
{
	double		follow = fmin(seconds / MEASURE_SECONDS, 1);

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		WsSweepCache *cache = &sweep->caches[i];
		double		turns = cache->moved / (double) cache->buffers / seconds;

		if (sweep->bursts_only & WS_SWEEP_BIT(i))
			cache->turns += follow * (WS_BURSTS * turns - cache->turns);
		else
			cache->turns = fmax(turns, cache->turns * exp2(-seconds / FORGET_SECONDS));
		cache->moved = 0;
	}
}

/* The sizes whose hands turn often; those that do already stay for longer. */
static uint32_t
bursts_only_sizes(const WsSweep *sweep)
{
	uint32_t	set = 0;

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (sweep->caches[i].turns > (sweep->bursts_only & WS_SWEEP_BIT(i) ? SLOW_TURNS : FAST_TURNS))
			set |= WS_SWEEP_BIT(i);
	return set;
}

WsDamping
ws_sweep_damping(WsSweep *sweep, bool often)
{
	WsDamping	damping = {0, WS_USAGE_MAX};
	double		turns = 0;		/* in a tick */

	sweep->bursts_only = often ? bursts_only_sizes(sweep) : 0;
	/* caches that are as large as the present one see everything */
	if (sweep->bursts_only & WS_SWEEP_BIT(WS_SWEEP_PRESENT))
		sweep->bursts_only = 0;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (!(sweep->bursts_only & WS_SWEEP_BIT(i)))
			turns = fmax(turns, sweep->caches[i].turns / WS_TICKS_PER_SECOND);
	if (turns * WS_BURST_EVERY <= 1)
		damping.shift = WS_DAMPING_LONG;
	else if (turns * WS_PRESENT <= 1)
		damping.shift = WS_DAMPING_PRESENT;
	else
		while (damping.shift + 1 < WS_DAMPING_PRESENT && ldexp(turns, (int) damping.shift + 1) <= 1)
			damping.shift++;
	if (turns > 1)
		damping.uses = (uint32_t) fmin(WS_USAGE_MAX + ceil(FURTHER_USES * (turns - 1)),
									   WS_DAMPING_USES_MAX);
	return damping;
}
