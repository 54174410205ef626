/*
 * twotier_t.c
 *		Tests of the page caches behind the sweeps: they see what they should,
 *		count it as they should, and a sample of the pages says what all say.
 */
#include "tap.h"
#include "tiers.h"

static void
test_sizes(void)
{
	bool		rising = true;

	for (int b = 1; b < WS_TIER_BUFFERS; b++)
		rising = rising && ws_tier_buffers[b] > ws_tier_buffers[b - 1] &&
			ws_tier_buffers[b] < WS_SWEEP_SIZES;
	for (int c = 1; c < WS_TIER_CACHES; c++)
		rising = rising && ws_tier_caches[c] > ws_tier_caches[c - 1];
	ok(rising, "sizes are those of sweeps, and ascend");
	ok(ws_sweep_grid[ws_tier_buffers[WS_TIER_PRESENT]] == 1 && ws_tier_caches[WHOLE] == 1 &&
	   ws_tier_caches[HALF] == 0.5 && ws_tier_caches[DOUBLE] == 2 &&
	   ws_tier_buffers[WS_TIER_BUFFERS - 1] == WS_SWEEP_FOLLOWER,
	   "the present ones and the size that is followed are among them");
}

/*
 * With all pages and no readahead, each pair's cache sees what one page cache
 * of its size sees that is given the misses of one sweep.
 */
static void
test_pairs(void)
{
	enum
	{
		PAGES = 1900,
		BUFFERS = 500
	};
	WsTwoTier  *tiers = new_tiers(PAGES, 1, 1300);
	WsSweep    *sweep = aligned_memory(ws_sweep_size(PAGES));
	WsPageCache *one[WS_TIER_BUFFERS][WS_TIER_CACHES];
	static double hits[WS_TIER_BUFFERS][WS_TIER_CACHES];
	static WsTierCounts counts;
	Zipf	   *zipf = zipf_new(PAGES, 0.7);
	uint64_t	seed = seeded(3);
	bool		same = true;
	bool		counted = true;

	ws_sweep_init(sweep, PAGES);
	ws_sweep_resize(sweep, BUFFERS);
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			one[b][c] = aligned_memory(ws_pagecache_size(PAGES));
			ws_pagecache_init(one[b][c], PAGES);
			ws_pagecache_resize(one[b][c], 1300 * ws_tier_caches[c], 0, false);
		}
	for (int i = 0; i < 20 * PAGES; i++)
	{
		WsAccess	access = {.page = zipf_draw(zipf, &seed)};
		uint32_t	cold;
		uint32_t	missed = ws_sweep_access(sweep, &access, &cold);

		look(tiers, access.page, 1, missed, &counts);
		for (int b = 0; b < WS_TIER_BUFFERS; b++)
			for (int c = 0; c < WS_TIER_CACHES && missed >> ws_tier_buffers[b] & 1; c++)
				hits[b][c] += ws_pagecache_use(one[b][c], access.page);
	}
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			same = same && all(counts.asked[b]) - all(counts.waits[b][c]) == hits[b][c];
			counted = counted && blocks(&counts, b, c) == all(counts.waits[b][c]) &&
				counts.cold[b][c] <= all(counts.waits[b][c]);
			free(one[b][c]);
		}
	ok(same, "each pair's cache sees the misses of its sweep");
	ok(counted, "a miss is a wait and a block");
	ok(hits[0][HALF] > 1000 && all(counts.waits[0][HALF]) > 1000, "of which there are many");
	ok(counts.cold[0][WS_TIER_CACHES - 1] == all(counts.waits[0][WS_TIER_CACHES - 1]) &&
	   counts.cold[0][0] < all(counts.waits[0][0]) / 10,
	   "those of a cache that does not become full are cold");
	zipf_free(zipf);
	free(sweep);
	free(tiers);
}

static uint32_t
stratum_of(uint32_t page)
{
	return (uint32_t) __builtin_ctz(page_hash(7, page) | 1U << 20);
}

/*
 * Of a large set some are simulated, and that is as if all were.  A quarter are
 * 3750 pages, give or take 53, and there are places for 4096.
 */
static void
test_sampled(void)
{
	enum
	{
		PAGES = 15000
	};
	WsTwoTier  *tiers = new_tiers(PAGES, 1, 8000);
	WsPageCache *one = aligned_memory(ws_pagecache_size(PAGES));
	static WsTierCounts counts;
	Zipf	   *zipf = zipf_new(PAGES, 0.5);
	uint64_t	seed = seeded(5);
	double		rates[WS_STRATA] = {0};
	double		uses = 0;
	double		hits = 0;
	double		ratio;

	for (uint32_t page = 0; page < PAGES; page++)
		for (uint32_t s = 0; s <= stratum_of(page); s++)
			rates[s] += 1.0 / PAGES;
	ws_twotier_resize(tiers, 0, rates, 8000.0 * BLOCK);
	ws_pagecache_init(one, PAGES);
	ws_pagecache_resize(one, 8000, 0, false);
	for (int i = 0; i < 40 * PAGES; i++)
	{
		uint32_t	page = zipf_draw(zipf, &seed);
		WsAccess access = {
			.page = page, .stratum = stratum_of(page),
			.id = {1, 2, 3, 0, page}, .missed = ALL
		};
		bool		hit = ws_pagecache_use(one, page);

		ws_twotier_access(tiers, &access, i > 20 * PAGES ? &counts : NULL);
		uses += i > 20 * PAGES;
		hits += i > 20 * PAGES && hit;
		if (i % PAGES == 0)
			ws_twotier_resize(tiers, 0, rates, 8000.0 * BLOCK);
	}
	ratio = 1 - all(counts.waits[2][WHOLE]) / all(counts.asked[2]);
	is_int(tiers->shift, 2, "of 15,000 pages a quarter fits");
	ok(tiers->rate != 0.25 && tiers->rate == rates[2], "and stands for all as counted, not as expected");
	is_within(tiers->cache[0][WHOLE]->capacity, rint(8000 * rates[2]), 0, "with smaller caches");
	/* so many pages, each a hit with a chance of p: sqrt(p (1 - p) / 3750) */
	is_within(ratio, hits / uses, 5 * 0.008, "the hit ratio is that of all");
	diag("hit ratio %.4f, of all %.4f", ratio, hits / uses);

	for (uint32_t page = 0; page < PAGES; page++)
		if (page % 8 != 0)
			ws_twotier_forget(tiers, page);
	ok(tiers->used < WS_TIER_PAGES / 4, "most pages go");
	resize(tiers, 0, 1, 8000.0 * BLOCK);
	is_int(tiers->shift, 1, "and more are simulated");
	resize(tiers, 5, 1 / 32.0, 8000.0 * BLOCK);
	is_int(tiers->shift, 5, "but not those that the sweeps do not see");
	is_within(tiers->rate, 1 / 32.0, 1e-12, "and these stand for themselves");
	zipf_free(zipf);
	free(one);
	free(tiers);
}

static uint32_t
held_pages(const WsTwoTier *tiers, int b, int c)
{
	return tiers->cache[b][c]->held[0] + tiers->cache[b][c]->held[1];
}

static void
test_counts(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = empty_sweep(1000);
	WsAccess access = {.page = 7, .id = {1, 2, 3, 0, 7}, .missed = ALL};
	uint32_t	held;

	ws_twotier_access(tiers, &access, NULL);
	look(tiers, 8, 3, 0, &counts);
	is_int(tiers->used, 1, "a page that no sweep misses is none of ours");
	look(tiers, 8, 3, 1U << ws_tier_buffers[1], &counts);
	ok(all(counts.asked[1]) == 1 && all(counts.asked[0]) == 0 && all(counts.waits[1][WHOLE]) == 1 &&
	   all(counts.waits[0][WHOLE]) == 0, "one that a sweep misses is asked for there");
	look(tiers, 8, 3, 1U << ws_tier_buffers[1], &counts);
	ok(all(counts.asked[1]) == 2 && all(counts.waits[1][WHOLE]) == 1, "and found the next time");

	access.page = 9;
	access.new = true;
	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 2 && all(counts.waits[0][WHOLE]) == 0, "a new page is not read");
	look(tiers, 9, 3, ALL, &counts);
	ok(all(counts.asked[1]) == 3 && all(counts.waits[0][WHOLE]) == 0, "but cached");
	ok(counts.asked[1][8] == 2 && counts.asked[1][9] == 1, "each counts in its group");

	memset(&counts, 0, sizeof(counts));
	held = held_pages(tiers, 0, WHOLE);
	for (int i = 0; i < 3; i++)
	{
		ws_twotier_seen(tiers, sweep, 500, i == 0);
		ws_twotier_checkpoint(tiers);
	}
	is_int(held_pages(tiers, 0, WHOLE), held, "what is not simulated is not written");
	for (uint32_t page = 100; page < 600; page++)
		look(tiers, page, 4, 1U << ws_tier_buffers[0], NULL);
	look(tiers, 8, 3, 1U << ws_tier_buffers[0], NULL);
	ws_twotier_forget(tiers, 8);
	ws_twotier_forget(tiers, 8);
	look(tiers, 8, 3, 1U << ws_tier_buffers[1], &counts);
	is_within(all(counts.waits[1][WHOLE]), 1, 0, "a page that was forgotten is another one");
	look(tiers, 1, 3, ALL, NULL);
	ws_twotier_forget(tiers, 1);
	is_int(held_pages(tiers, 0, 0), 24, "and in no cache");
	free(sweep);
	free(tiers);
}

static void
evict_nothing(uint16_t *evicted)
{
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		evicted[i] = WS_NOWHERE;
}

/* The page of an access is in sweeps of all sizes. */
static WsSweep *
holding_sweep(uint32_t pages)
{
	WsSweep    *sweep = empty_sweep(1000);
	uint32_t	cold;

	ws_sweep_resize(sweep, 500);
	for (uint32_t page = 1; page <= pages; page++)
		(void) ws_sweep_access(sweep, &(WsAccess) {.page = page}, &cold);
	return sweep;
}

/* Pages of another table take the place of all others in a page cache of 400. */
static void
fill_cache(WsTwoTier *tiers, int b)
{
	for (uint32_t page = 100; page < 600; page++)
		look(tiers, page, 4, 1U << ws_tier_buffers[b], NULL);
}

/* A checkpoint writes what is dirty, and is seen to have done so. */
static void
test_checkpoint(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = holding_sweep(3);
	uint32_t	held;

	for (uint32_t page = 1; page <= 3; page++)
	{
		look(tiers, page, 3, 1U << ws_tier_buffers[1], NULL);
		ws_twotier_seen(tiers, sweep, page, true);
	}
	ok(ws_twotier_entry(tiers, tiers->page[3]) == 3 && ws_twotier_entry(tiers, tiers->page[3] + 1) == -1,
	   "a page that is simulated has an entry, and another one has none");
	ok(!holds(tiers, 0, WHOLE, 1), "a page that becomes dirty is not written");
	ws_twotier_seen(tiers, sweep, 2, false);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 2) && !holds(tiers, 0, WHOLE, 2) && !holds(tiers, WS_TIER_PRESENT + 1, WHOLE, 2),
	   "the background writer writes one at the present size");
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, 0, WHOLE, 2) && holds(tiers, WS_TIER_BUFFERS - 1, WHOLE, 2), "and a checkpoint elsewhere");
	ok(!holds(tiers, 0, WHOLE, 1), "not yet one that is dirty in the server");
	ws_twotier_seen(tiers, sweep, 1, true);
	ok(!holds(tiers, 0, WHOLE, 1), "nor as long as it is");
	ws_twotier_seen(tiers, sweep, 1, false);
	look(tiers, 1, 3, ALL, &counts);
	ok(all(counts.waits[0][0]) == 0 && all(counts.waits[WS_TIER_BUFFERS - 1][WHOLE]) == 0,
	   "one that is dirty no more is in all caches");
	ws_twotier_seen(tiers, sweep, 3, true);
	ok(!holds(tiers, 0, WHOLE, 3), "one that is dirty all the time is not in any");
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, 0, 0, 3) && holds(tiers, WS_TIER_BUFFERS - 1, WHOLE, 3), "until the next checkpoint begins");
	fill_cache(tiers, 0);
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, 0, WHOLE, 3), "and is by then dirty again, and written again");
	ws_twotier_seen(tiers, sweep, 1, true);
	ws_twotier_forget(tiers, 1);
	look(tiers, 1, 3, 1U << ws_tier_buffers[1], NULL);
	ws_twotier_checkpoint(tiers);
	ws_twotier_seen(tiers, sweep, 1, false);
	ok(!holds(tiers, 0, WHOLE, 1), "another page with its number is not dirty");
	tiers->pages[tiers->page[1]].dirty = 1;
	held = held_pages(tiers, 0, DOUBLE);
	ws_twotier_forget(tiers, 1);
	ws_twotier_checkpoint(tiers);
	is_int(held_pages(tiers, 0, DOUBLE), held, "nor is one that is gone written");
	free(sweep);
	free(tiers);
}

/* What a sweep evicts is written, if it is dirty, to the caches behind this sweep. */
static void
test_written(void)
{
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = holding_sweep(3);
	uint16_t	evicted[WS_SWEEP_SIZES];
	WsAccess access = {.page = 900, .id = {1, 2, 3, 0, 900}, .evicted = evicted};

	evict_nothing(evicted);
	for (uint32_t page = 1; page <= 3; page++)
		look(tiers, page, 3, 1U << ws_tier_buffers[1], NULL);
	ws_twotier_seen(tiers, sweep, 1, true);
	ws_twotier_seen(tiers, sweep, 2, false);
	evicted[ws_tier_buffers[0]] = 1;
	evicted[ws_tier_buffers[2]] = 2;
	ws_twotier_access(tiers, &access, NULL);
	ok(!holds(tiers, 0, WHOLE, 1), "a sweep that misses nothing evicts nothing");
	access.missed = 1U << ws_tier_buffers[0] | 1U << ws_tier_buffers[2] | 1U << ws_tier_buffers[3];
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, 0, 0, 1) && holds(tiers, 0, WHOLE, 1),
	   "a dirty page that is evicted is written");
	ok(!holds(tiers, 2, WHOLE, 1) && !holds(tiers, 3, WHOLE, 1),
	   "not where it is not");
	ok(!holds(tiers, 2, WHOLE, 2), "one that is not dirty is not");

	/* one that is made is dirty, and one that is not simulated evicts, too */
	access.page = 3;
	access.id.block = 3;
	access.new = true;
	access.missed = 1U << ws_tier_buffers[0];
	evicted[ws_tier_buffers[0]] = WS_NOWHERE;
	ws_twotier_access(tiers, &access, NULL);
	access.page = 901;
	access.new = false;
	tiers->shift = 1;
	access.missed = 1U << ws_tier_buffers[4];
	evicted[ws_tier_buffers[4]] = 3;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, 4, WHOLE, 3), "a new page is dirty");
	tiers->shift = 0;
	fill_cache(tiers, 4);
	ws_sweep_empty(sweep, ws_tier_buffers[4]);
	ws_twotier_seen(tiers, sweep, 3, true);
	ok(!holds(tiers, 4, WHOLE, 3), "and is not written a second time when it is first seen to be");
	is_int(tiers->page[901], UINT16_MAX, "and what evicts it need not be simulated");
	free(sweep);
	free(tiers);
}

/* The server still has a dirty page that smaller shared buffers have evicted. */
static void
test_written_before(void)
{
	enum
	{
		SMALLER = WS_TIER_PRESENT - 1
	};
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = holding_sweep(1);
	uint16_t	evicted[WS_SWEEP_SIZES];
	WsAccess access = {
		.page = 900, .id = {1, 2, 3, 0, 900}, .evicted = evicted, .missed = 1U << ws_tier_buffers[SMALLER]
	};

	evict_nothing(evicted);
	look(tiers, 1, 3, 1U << ws_tier_buffers[WS_TIER_PRESENT], NULL);
	ws_sweep_empty(sweep, ws_tier_buffers[SMALLER]);
	ws_twotier_seen(tiers, sweep, 1, true);
	ok(holds(tiers, SMALLER, WHOLE, 1) && !holds(tiers, SMALLER - 1, WHOLE, 1) && !holds(tiers, WS_TIER_PRESENT + 1, WHOLE, 1),
	   "a page that was evicted before it is seen to be dirty was written");
	fill_cache(tiers, SMALLER);
	ws_twotier_seen(tiers, sweep, 1, true);
	ok(!holds(tiers, SMALLER, WHOLE, 1), "once");
	evicted[ws_tier_buffers[SMALLER]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ok(!holds(tiers, SMALLER, WHOLE, 1), "if it is read again, and goes, it is clean");
	/* the present sweep has evicted it, and the server has not */
	access.missed = 1U << ws_tier_buffers[WS_TIER_PRESENT];
	evicted[ws_tier_buffers[WS_TIER_PRESENT]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ws_sweep_empty(sweep, ws_tier_buffers[WS_TIER_PRESENT]);
	fill_cache(tiers, WS_TIER_PRESENT);
	ws_twotier_seen(tiers, sweep, 1, true);
	ok(!holds(tiers, SMALLER, WHOLE, 1), "also if the present sweep has evicted it since");
	ok(!holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "at the present size it is as dirty as it is in the server");
	ws_twotier_seen(tiers, sweep, 1, false);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "and as clean");
	ws_twotier_seen(tiers, sweep, 1, true);
	ok(holds(tiers, SMALLER, WHOLE, 1), "one that was clean in between is written again");
	/* a sweep was filled anew, without it */
	tiers->pages[tiers->page[1]].dirty |= 1 << SMALLER;
	fill_cache(tiers, SMALLER);
	ws_twotier_seen(tiers, sweep, 1, true);
	ok(holds(tiers, SMALLER, WHOLE, 1), "as is one that has got lost");
	ok(!holds(tiers, SMALLER - 1, WHOLE, 1), "but not at a size that has had it all the time");
	access.missed = 1U << ws_tier_buffers[SMALLER - 1];
	evicted[ws_tier_buffers[SMALLER - 1]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, SMALLER - 1, WHOLE, 1), "before it goes there");
	free(sweep);
	free(tiers);
}

/* What the server evicts and writes is dirty for longer in larger shared buffers. */
static void
test_written_later(void)
{
	enum
	{
		LARGER = WS_TIER_PRESENT + 1
	};
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = holding_sweep(4);
	uint16_t	evicted[WS_SWEEP_SIZES];
	WsAccess access = {
		.page = 900, .id = {1, 2, 3, 0, 900}, .evicted = evicted, .missed = 1U << ws_tier_buffers[WS_TIER_PRESENT]
	};

	evict_nothing(evicted);
	for (uint32_t page = 1; page <= 3; page++)
	{
		look(tiers, page, 3, 1U << ws_tier_buffers[1], NULL);
		ws_twotier_seen(tiers, sweep, page, true);
	}
	evicted[ws_tier_buffers[WS_TIER_PRESENT]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "a dirty page that is evicted is in the page cache");
	/* it is read again, and stays clean */
	ws_twotier_seen(tiers, sweep, 1, false);
	ok(!holds(tiers, LARGER, WHOLE, 1), "in larger shared buffers it is dirty as before");
	access.missed = 1U << ws_tier_buffers[LARGER];
	evicted[ws_tier_buffers[LARGER]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, LARGER, WHOLE, 1), "and written when it goes there");

	/* 2 goes before a checkpoint begins, and 3 when it is about to be written */
	access.missed = 1U << ws_tier_buffers[WS_TIER_PRESENT];
	evicted[ws_tier_buffers[WS_TIER_PRESENT]] = 2;
	ws_twotier_access(tiers, &access, NULL);
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, LARGER, WHOLE, 2), "a checkpoint writes what larger ones have left");
	ok(!holds(tiers, LARGER, WHOLE, 3), "but not yet what is dirty in the server, too");
	evicted[ws_tier_buffers[WS_TIER_PRESENT]] = 3;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 3) && holds(tiers, LARGER, WHOLE, 3),
	   "if that goes before, the checkpoint writes it elsewhere all the same");
	fill_cache(tiers, LARGER);
	ws_twotier_seen(tiers, sweep, 3, true);
	ws_twotier_access(tiers, &access, NULL);
	ok(!holds(tiers, LARGER, WHOLE, 3), "once");
	ws_twotier_seen(tiers, sweep, 3, true);
	ws_twotier_checkpoint(tiers);
	ws_twotier_forget(tiers, 3);
	look(tiers, 3, 3, 1U << ws_tier_buffers[1], NULL);
	ws_twotier_seen(tiers, sweep, 3, true);
	ws_twotier_access(tiers, &access, NULL);
	ok(!holds(tiers, LARGER, WHOLE, 3), "no checkpoint has begun since another page has its number");
	free(sweep);
	free(tiers);
}

/* The size that is followed becomes another one. */
static void
test_jump(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = holding_sweep(1);
	const WsTierCounts *none = zeroed(1, sizeof(WsTierCounts));
	int			nearest = 4;

	/* the first 100 pages are read, and then others, behind each size its own */
	for (uint32_t page = 0; page < 100; page++)
		look(tiers, page, 3, ALL, &counts);
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (uint32_t page = 0; page < 50; page++)
			look(tiers, 100 + 50 * (uint32_t) b + page, 3, 1U << ws_tier_buffers[b], &counts);
	tiers->pages[tiers->page[1]].dirty = (uint8_t) (1 << nearest);
	tiers->pages[tiers->page[3]].dirty = 1 << WS_TIER_FOLLOWER | 1;
	tiers->pages[tiers->page[2]].known = (uint8_t) ~(1 << nearest);
	tiers->owed[WS_TIER_FOLLOWER][WHOLE] = 0.5;
	tiers->only[WS_TIER_FOLLOWER][WHOLE] = 0.9F;
	tiers->only[nearest][WHOLE] = 0.25;
	tiers->nregions = 2;
	tiers->regions[1].cached[nearest][HALF] = 0.5;
	counts.ahead[WS_TIER_FOLLOWER][WHOLE] = 1;
	/* by its ratio it is nearest to 4, and by the difference to 2 */
	sweep->factor[WS_SWEEP_FOLLOWER] = 2.9;
	ws_twotier_jump(tiers, sweep->factor);
	ws_tier_counts_jump(&counts);
	ok(holds(tiers, WS_TIER_FOLLOWER, DOUBLE, 100 + 50 * (uint32_t) nearest) && holds(tiers, WS_TIER_FOLLOWER, DOUBLE, 1) &&
	   !holds(tiers, WS_TIER_FOLLOWER, DOUBLE, 100 + 50 * WS_TIER_FOLLOWER), "its page caches are as the nearest size's");
	ok(tiers->owed[WS_TIER_FOLLOWER][WHOLE] == 0 && tiers->only[WS_TIER_FOLLOWER][WHOLE] == 0.25F &&
	   tiers->regions[1].cached[WS_TIER_FOLLOWER][HALF] == 0.5F, "and so is what was surveyed");
	ok(tiers->pages[tiers->page[1]].dirty == (1 << nearest | 1 << WS_TIER_FOLLOWER) && tiers->pages[tiers->page[3]].dirty == 1,
	   "what is dirty there is dirty here, and nothing else");
	ok(memcmp(counts.asked[WS_TIER_FOLLOWER], none->asked[0], sizeof(none->asked[0])) == 0 &&
	   memcmp(counts.waits[WS_TIER_FOLLOWER], none->waits[0], sizeof(none->waits[0])) == 0 &&
	   memcmp(counts.needed[WS_TIER_FOLLOWER], none->needed[0], sizeof(none->needed[0])) == 0 &&
	   memcmp(counts.ahead[WS_TIER_FOLLOWER], none->ahead[0], sizeof(none->ahead[0])) == 0 &&
	   memcmp(counts.cold[WS_TIER_FOLLOWER], none->cold[0], sizeof(none->cold[0])) == 0 &&
	   all(counts.asked[nearest]) == 150, "and nothing of before counts");
	look(tiers, 2, 3, 1U << ws_tier_buffers[WS_TIER_FOLLOWER], &counts);
	is_within(all(counts.asked[WS_TIER_FOLLOWER]), 0, 0, "nor the first miss of what the nearest has not missed");
	look(tiers, 100 + 50 * (uint32_t) nearest, 3, 1U << ws_tier_buffers[WS_TIER_FOLLOWER], &counts);
	ok(all(counts.asked[WS_TIER_FOLLOWER]) == 1 && counts.needed[WS_TIER_FOLLOWER][DOUBLE] == 0, "but one that finds what it has read");
	free((void *) none);
	free(sweep);
	free(tiers);
}

/* A page that was used before it is simulated. */
static void
test_known_before(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsAccess access = {.page = 7, .id = {1, 2, 3, 0, 7}, .missed = 1U << ws_tier_buffers[1], .known = true};

	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 0 && counts.needed[1][WHOLE] == 0 && all(counts.waits[1][WHOLE]) == 0,
	   "whether such a page is cached is not known: its first miss does not count");
	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 1 && counts.needed[1][WHOLE] == 0, "the next one does, and finds it");
	access.missed = ALL;
	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 2 && all(counts.asked[2]) == 0 && counts.needed[2][WHOLE] == 0,
	   "nor does the first behind other shared buffers");
	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 3 && all(counts.asked[2]) == 1 && counts.needed[2][WHOLE] == 0, "but their next one");
	ws_twotier_forget(tiers, 7);
	access.known = false;
	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 4 && counts.needed[1][WHOLE] == 1 && counts.needed[2][WHOLE] == 1,
	   "that of a page that is new has to be read");
	free(tiers);
}

/* Pages of WAL in a page cache, and others. */
static void
count_held(const WsTwoTier *tiers, int b, int c, uint32_t *wal, uint32_t *others)
{
	*wal = *others = 0;
	for (uint32_t page = 0; page < WS_TIER_PAGES + WS_TIER_WAL; page++)
		*(page < WS_TIER_PAGES ? others : wal) += ws_pagecache_holds(tiers->cache[b][c], page);
}

static bool
holds_wal(const WsTwoTier *tiers, int c, uint32_t wal_there, uint32_t others_there)
{
	uint32_t	wal;
	uint32_t	others;

	count_held(tiers, 2, c, &wal, &others);
	return wal == wal_there && others == others_there;
}

/* WAL is written over and over to the same files. */
static void
test_wal(void)
{
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = empty_sweep(1000);
	bool		everywhere = true;
	uint32_t	wal;
	uint32_t	others;

	for (uint32_t page = 0; page < 400; page++)
		look(tiers, page, 3, ALL, NULL);
	tiers->relations[0].blocks = 400;
	for (int i = 0; i < 5; i++)
		ws_twotier_wal(tiers, 0.25 * BLOCK, 50 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 1, 399), "a page of WAL takes the place of another in a cache that is full");
	is_within(ws_twotier_whole(tiers), 401.25 * BLOCK, 0.01 * BLOCK, "and belongs to what may be cached");
	ok(!ws_pagecache_holds(tiers->cache[2][WHOLE], 0) && ws_pagecache_holds(tiers->cache[2][WHOLE], 1),
	   "of the one not used for longest");
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			count_held(tiers, b, c, &wal, &others);
			everywhere = everywhere && wal == 1;
		}
	ok(everywhere, "in all of them");
	for (int i = 0; i < 9; i++)
		ws_twotier_wal(tiers, 10 * BLOCK, 50 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 50, 350), "it takes no more than its files have");
	is_within(ws_twotier_whole(tiers), 450 * BLOCK, 0, "nor is it counted for more");
	ok(holds_wal(tiers, DOUBLE, 50, 400), "nor takes anything where there is room");
	ws_survey(tiers, sweep);
	is_within(tiers->only[2][WHOLE], 350 / 400.0, 1e-6, "it is not part of what both caches hold");
	ws_twotier_wal(tiers, 0, 30 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 30, 350), "files that are gone have no pages");

	for (uint32_t page = 400; page < 800; page++)
		look(tiers, page, 3, ALL, NULL);
	ok(holds_wal(tiers, WHOLE, 0, 400), "it goes when others are read");
	ws_twotier_wal(tiers, 3 * BLOCK, 30 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 3, 397), "and comes back when it is written again");
	for (uint32_t page = 500; page < 600; page++)
		look(tiers, page, 3, ALL, NULL);
	for (uint32_t page = 0; page < 300; page++)
		look(tiers, page, 3, ALL, NULL);
	wal = tiers->cache[2][WHOLE]->held[1];
	ws_twotier_wal(tiers, 30 * BLOCK, 30 * BLOCK, 0);
	ok(wal > 30 && tiers->cache[2][WHOLE]->held[1] <= wal, "not active, though it went only just before");
	ws_twotier_wal(tiers, 200 * BLOCK, 30 * BLOCK, 0);
	ws_twotier_wal(tiers, BLOCK, 30 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 30, 370), "however much is written at once");
	memset(tiers->wal_owed, 0, sizeof(tiers->wal_owed));
	for (uint32_t page = 0; page < 400; page++)
		look(tiers, page, 3, ALL, NULL);
	ws_twotier_wal(tiers, BLOCK, 30 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 1, 399), "and no longer than until then");
	ws_twotier_wal(tiers, 1e15, 1e12, 0);
	ok(holds_wal(tiers, WS_TIER_CACHES - 1, WS_TIER_WAL, 800), "of very much, as much is simulated as can be");
	resize(tiers, 1, 0.5, 400 * BLOCK);
	/* each cache is half as large, and no page has a higher stratum */
	ok(holds_wal(tiers, WS_TIER_CACHES - 1, WS_TIER_WAL / 2, 0), "of half of the pages, half of that");
	free(tiers);

	tiers = new_tiers(1000, 1, 400);
	ws_twotier_wal(tiers, 1000 * BLOCK, 200 * BLOCK, 0);
	memset(tiers->wal_owed, 0, sizeof(tiers->wal_owed));
	resize(tiers, 1, 0.5, 400 * BLOCK);
	ws_twotier_wal(tiers, 0, 200 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 100, 0), "nor do more go when it is written next");
	free(tiers);

	tiers = new_tiers(1000, 0.5, 400);
	ws_twotier_wal(tiers, 10 * BLOCK, 40 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 5, 0), "with every second page, one for two");
	look(tiers, 0, 3, ALL, NULL);
	tiers->relations[0].blocks = 400;
	is_within(ws_twotier_whole(tiers), 410 * BLOCK, 0.01 * BLOCK, "but all of it may be cached");
	ws_twotier_wal(tiers, 100 * BLOCK, 5.2 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 3, 1), "files have the nearest number of pages");
	ws_twotier_wal(tiers, 100 * BLOCK, 4.8 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 2, 1), "below, too");
	ws_twotier_wal(tiers, 100 * BLOCK, 0.4 * BLOCK, 0);
	ok(holds_wal(tiers, WHOLE, 1, 1), "at least one");
	free(sweep);
	free(tiers);
}

/*
 * Page caches behind a size of which the reads are seen in one second of
 * sixteen: of WAL they have to see as much less, or it would displace more.
 */
static void
test_wal_and_bursts(void)
{
	enum
	{
		PAGES = 3000,
		SECONDS = 4800
	};
	WsTwoTier  *tiers = new_tiers(PAGES, 1, 1000);
	static WsTierCounts counts;
	Zipf	   *zipf = zipf_new(PAGES, 0.8);
	uint64_t	seed = seeded(6);
	uint32_t	bursts_only = UINT32_C(1) << ws_tier_buffers[0];
	uint32_t	wal;
	uint32_t	others;
	bool		same = true;

	for (int s = 0; s < 2 * SECONDS; s++)
	{
		if (s == SECONDS)
			memset(&counts, 0, sizeof(counts));
		for (int i = 0; i < 20; i++)
			look(tiers, zipf_draw(zipf, &seed), 1, UINT32_C(1) << ws_tier_buffers[1] | (s % WS_BURSTS == 0 ? bursts_only : 0),
				 &counts);
		ws_twotier_wal(tiers, 1.25 * BLOCK, 500 * BLOCK, bursts_only);
	}
	/* 5 standard errors of the 6,000 reads in bursts */
	for (int c = 0; c <= WHOLE; c++)
		same = same && fabs(all(counts.waits[0][c]) / all(counts.asked[0]) -
							all(counts.waits[1][c]) / all(counts.asked[1])) < 5 * sqrt(0.25 / 6000);
	ok(same, "WAL displaces as much where only the reads of bursts are seen");
	count_held(tiers, 1, HALF, &wal, &others);
	ok(wal > 20 && others > 300, "which is some");
	zipf_free(zipf);
	free(tiers);
}

/* Do the two pages of each relation, page and page + n, have an entry of their own? */
static bool
are_apart(const WsTwoTier *tiers, uint32_t n, uint32_t shift)
{
	static bool seen[WS_TIER_PAGES];

	memset(seen, 0, sizeof(seen));
	for (uint32_t page = 0; page < n; page++)
	{
		uint32_t	number = tiers->pages[tiers->page[page]].relation;

		if (seen[number] || tiers->relations[number].id.relation != page + shift || tiers->relations[number].pages != 2 ||
			tiers->pages[tiers->page[page + n]].relation != number)
			return false;
		seen[number] = true;
	}
	return true;
}

/* There are thousands of relations. */
static void
test_relations(void)
{
	enum
	{
		RELATIONS = 2000, PAGES = 2 * RELATIONS
	};
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(PAGES, 1, 10 * PAGES);
	WsSweep    *sweep = empty_sweep(PAGES);
	WsAccess access = {.page = 0, .id = {1, 2, 5, 1, 0}, .missed = ALL};
	uint16_t	number;

	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		tiers->readahead.blocks[i] = 3;
	for (uint32_t page = 0; page < PAGES; page++)
		look(tiers, page, page % RELATIONS, 1U << ws_tier_buffers[0], NULL);
	ok(tiers->nrelations == RELATIONS && are_apart(tiers, RELATIONS, 0), "each relation has an entry");
	is_within(ws_twotier_whole(tiers), PAGES * (double) BLOCK, 1, "so the size of all is known");
	ws_survey(tiers, sweep);
	is_int(tiers->nregions, RELATIONS, "each is a region");
	for (uint32_t page = 0; page < PAGES; page++)
		look(tiers, page, page % RELATIONS, 1U << ws_tier_buffers[2], &counts);
	is_within(counts.ahead[2][WHOLE], 2 * counts.needed[2][WHOLE], 0, "and a miss of any reads ahead");

	number = tiers->pages[tiers->page[7]].relation;
	ws_twotier_forget(tiers, 7);
	is_int(tiers->relations[number].pages, 1, "a relation has an entry as long as it has a page");
	ws_twotier_forget(tiers, 7 + RELATIONS);
	tiers->relations[number].blocks = 10;
	memset(&counts, 0, sizeof(counts));
	look(tiers, 7, 7777, ALL, &counts);
	ok(tiers->pages[tiers->page[7]].relation == number && tiers->relations[number].pages == 1 &&
	   tiers->relations[number].blocks == 0 && tiers->relations[number].id.relation == 7777,
	   "then it goes to the next relation");
	is_within(blocks(&counts, 2, WHOLE), 1, 0, "which reads nothing ahead, up to the next survey");
	number = tiers->pages[tiers->page[1]].relation;
	ws_twotier_forget_relation(tiers, number);
	ok(tiers->relations[number].pages == 0 && tiers->used == PAGES - 3 && tiers->page[1] == UINT16_MAX &&
	   tiers->page[1 + RELATIONS] == UINT16_MAX, "all pages of one are forgotten");

	for (uint32_t page = 0; page < PAGES; page++)
	{
		ws_twotier_forget(tiers, page * 7 % PAGES);
		look(tiers, page * 7 % PAGES, page * 7 % PAGES % RELATIONS + 100000, ALL, NULL);
	}
	ok(are_apart(tiers, RELATIONS, 100000), "others take the places of all");
	ok(tiers->nrelations <= WS_TIER_PAGES, "and there is no more than one for each page");
	ws_twotier_access(tiers, &access, NULL);
	number = tiers->pages[tiers->page[0]].relation;
	ws_twotier_forget(tiers, 1);
	access = (WsAccess) {.page = 1, .id = {1, 2, 5, 0, 1}, .missed = ALL};
	ws_twotier_access(tiers, &access, NULL);
	ws_twotier_forget(tiers, 2);
	access = (WsAccess) {.page = 2, .id = {1, 3, 5, 0, 1}, .missed = ALL};
	ws_twotier_access(tiers, &access, NULL);
	ok(tiers->pages[tiers->page[1]].relation != tiers->pages[tiers->page[2]].relation,
	   "of another database there is another");
	free(sweep);
	free(tiers);
}

int
main(void)
{
	plan(106);
	test_checkpoint();
	test_written();
	test_written_before();
	test_written_later();
	test_jump();
	test_sizes();
	test_pairs();
	test_sampled();
	test_counts();
	test_known_before();
	test_wal();
	test_wal_and_bursts();
	test_relations();
	return done();
}
