/*
 * twotier_t.c
 *		Tests of the page caches behind the sweeps: they see what they should,
 *		count it as they should, and a sample of the pages says what all say.
 */
#include "tap.h"
#include "tiers.h"

/* the bit of the sweep that this size of shared buffers has */
#define BEHIND(b)	(UINT32_C(1) << ws_tier_buffers[b])

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
		PAGES = 1900
	};
	WsPageCache *one[WS_TIER_BUFFERS][WS_TIER_CACHES];
	static double hits[WS_TIER_BUFFERS][WS_TIER_CACHES];
	Zipf	   *zipf = zipf_new(PAGES, 0.7);
	uint64_t	seed = seeded(3);
	bool		same = true;
	bool		counted = true;

	begin(PAGES, 1300, 0);
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
	WsPageCache *one = aligned_memory(ws_pagecache_size(PAGES));
	Zipf	   *zipf = zipf_new(PAGES, 0.5);
	uint64_t	seed = seeded(5);
	double		rates[WS_STRATA] = {0};
	double		uses = 0;
	double		hits = 0;
	double		ratio;

	begin(PAGES, 8000, 0);
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
}

static uint32_t
held_pages(int b, int c)
{
	return tiers->cache[b][c]->held[0] + tiers->cache[b][c]->held[1];
}

/* Pages of another table take the place of all others in a page cache of 400. */
static void
fill_cache(int b)
{
	for (uint32_t page = 100; page < 600; page++)
		look(tiers, page, 4, BEHIND(b), NULL);
}

static void
test_counts(void)
{
	WsAccess access = {.page = 7, .id = {1, 2, 3, 0, 7}, .missed = ALL};
	uint32_t	held;

	begin(1000, 400, 0);
	ws_twotier_access(tiers, &access, NULL);
	look(tiers, 8, 3, 0, &counts);
	is_int(tiers->used, 1, "a page that no sweep misses is none of ours");
	look(tiers, 8, 3, BEHIND(1), &counts);
	ok(all(counts.asked[1]) == 1 && all(counts.asked[0]) == 0 && all(counts.waits[1][WHOLE]) == 1 &&
	   all(counts.waits[0][WHOLE]) == 0, "one that a sweep misses is asked for there");
	look(tiers, 8, 3, BEHIND(1), &counts);
	ok(all(counts.asked[1]) == 2 && all(counts.waits[1][WHOLE]) == 1, "and found the next time");

	access.page = 9;
	access.new = true;
	ws_twotier_access(tiers, &access, &counts);
	ok(all(counts.asked[1]) == 2 && all(counts.waits[0][WHOLE]) == 0, "a new page is not read");
	look(tiers, 9, 3, ALL, &counts);
	ok(all(counts.asked[1]) == 3 && all(counts.waits[0][WHOLE]) == 0, "but cached");
	ok(counts.asked[1][8] == 2 && counts.asked[1][9] == 1, "each counts in its group");

	memset(&counts, 0, sizeof(counts));
	held = held_pages(0, WHOLE);
	for (int i = 0; i < 3; i++)
	{
		ws_twotier_seen(tiers, sweep, 500, i == 0, 0);
		ws_twotier_checkpoint(tiers);
	}
	is_int(held_pages(0, WHOLE), held, "what is not simulated is not written");
	fill_cache(0);
	look(tiers, 8, 3, BEHIND(0), NULL);
	ws_twotier_forget(tiers, 8);
	ws_twotier_forget(tiers, 8);
	look(tiers, 8, 3, BEHIND(1), &counts);
	is_within(all(counts.waits[1][WHOLE]), 1, 0, "a page that was forgotten is another one");
	look(tiers, 1, 3, ALL, NULL);
	ws_twotier_forget(tiers, 1);
	is_int(held_pages(0, 0), 24, "and in no cache");
}

/* A miss of another page behind these shared buffers takes the place of this one. */
static void
evict(int b, uint16_t page)
{
	uint16_t	evicted[WS_SWEEP_SIZES];

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		evicted[i] = i == (int) ws_tier_buffers[b] ? page : WS_NOWHERE;
	ws_twotier_access(tiers, &(WsAccess)
	{
		.page = 900, .id = {1, 2, 3, 0, 900}, .evicted = evicted, .missed = BEHIND(b)
	}, NULL);
}

/* A checkpoint writes what is dirty, and is seen to have done so. */
static void
test_checkpoint(void)
{
	uint32_t	held;

	begin(1000, 400, 3);
	for (uint32_t page = 1; page <= 3; page++)
	{
		look(tiers, page, 3, BEHIND(1), NULL);
		ws_twotier_seen(tiers, sweep, page, true, 0);
	}
	ok(ws_twotier_entry(tiers, tiers->page[3]) == 3 && ws_twotier_entry(tiers, tiers->page[3] + 1) == -1,
	   "a page that is simulated has an entry, and another one has none");
	ok(!holds(tiers, 0, WHOLE, 1), "a page that becomes dirty is not written");
	ws_twotier_seen(tiers, sweep, 2, false, 0);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 2) && !holds(tiers, 0, WHOLE, 2) && !holds(tiers, WS_TIER_PRESENT + 1, WHOLE, 2),
	   "the background writer writes one at the present size");
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, 0, WHOLE, 2) && holds(tiers, WS_TIER_BUFFERS - 1, WHOLE, 2), "and a checkpoint elsewhere");
	ok(!holds(tiers, 0, WHOLE, 1), "not yet one that is dirty in the server");
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ok(!holds(tiers, 0, WHOLE, 1), "nor as long as it is");
	ws_twotier_seen(tiers, sweep, 1, false, 0);
	look(tiers, 1, 3, ALL, &counts);
	ok(all(counts.waits[0][0]) == 0 && all(counts.waits[WS_TIER_BUFFERS - 1][WHOLE]) == 0,
	   "one that is dirty no more is in all caches");
	ws_twotier_seen(tiers, sweep, 3, true, 0);
	ok(!holds(tiers, 0, WHOLE, 3), "one that is dirty all the time is not in any");
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, 0, 0, 3) && holds(tiers, WS_TIER_BUFFERS - 1, WHOLE, 3), "until the next checkpoint begins");
	fill_cache(0);
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, 0, WHOLE, 3), "and is by then dirty again, and written again");
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ws_twotier_forget(tiers, 1);
	look(tiers, 1, 3, BEHIND(1), NULL);
	ws_twotier_checkpoint(tiers);
	ws_twotier_seen(tiers, sweep, 1, false, 0);
	ok(!holds(tiers, 0, WHOLE, 1), "another page with its number is not dirty");
	tiers->pages[tiers->page[1]].dirty = 1;
	held = held_pages(0, DOUBLE);
	ws_twotier_forget(tiers, 1);
	ws_twotier_checkpoint(tiers);
	is_int(held_pages(0, DOUBLE), held, "nor is one that is gone written");
}

/* What a sweep evicts is written, if it is dirty, to the caches behind this sweep. */
static void
test_written(void)
{
	WsAccess access = {.page = 3, .id = {1, 2, 3, 0, 3}, .missed = BEHIND(0), .new = true};
	uint16_t	evicted[WS_SWEEP_SIZES];

	begin(1000, 400, 3);
	for (uint32_t page = 1; page <= 3; page++)
		look(tiers, page, 3, BEHIND(1), NULL);
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ws_twotier_seen(tiers, sweep, 2, false, 0);
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		evicted[i] = 1;
	ws_twotier_access(tiers, &(WsAccess) {.page = 900, .evicted = evicted}, NULL);
	ok(!holds(tiers, 0, WHOLE, 1), "a sweep that misses nothing evicts nothing");
	evict(0, 1);
	evict(2, 2);
	evict(3, WS_NOWHERE);
	ok(holds(tiers, 0, 0, 1) && holds(tiers, 0, WHOLE, 1), "a dirty page that is evicted is written");
	ok(!holds(tiers, 2, WHOLE, 1) && !holds(tiers, 3, WHOLE, 1), "not where it is not");
	ok(!holds(tiers, 2, WHOLE, 2), "one that is not dirty is not");

	/* one that is made is dirty, and one that is not simulated evicts, too */
	ws_twotier_access(tiers, &access, NULL);
	ws_twotier_forget(tiers, 900);
	tiers->shift = 1;
	evict(4, 3);
	ok(holds(tiers, 4, WHOLE, 3), "a new page is dirty");
	tiers->shift = 0;
	fill_cache(4);
	ws_sweep_empty(sweep, ws_tier_buffers[4]);
	ws_twotier_seen(tiers, sweep, 3, true, 0);
	ok(!holds(tiers, 4, WHOLE, 3), "and is not written a second time when it is first seen to be");
	is_int(tiers->page[900], UINT16_MAX, "and what evicts it need not be simulated");
}

/* The server still has a dirty page that smaller shared buffers have evicted. */
static void
test_written_before(void)
{
	enum
	{
		SMALLER = WS_TIER_PRESENT - 1
	};

	begin(1000, 400, 1);
	look(tiers, 1, 3, BEHIND(WS_TIER_PRESENT), NULL);
	ws_sweep_empty(sweep, ws_tier_buffers[SMALLER]);
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ok(holds(tiers, SMALLER, WHOLE, 1) && !holds(tiers, SMALLER - 1, WHOLE, 1) && !holds(tiers, WS_TIER_PRESENT + 1, WHOLE, 1),
	   "a page that was evicted before it is seen to be dirty was written");
	fill_cache(SMALLER);
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ok(!holds(tiers, SMALLER, WHOLE, 1), "once");
	/* as often as it is read */
	ws_twotier_seen(tiers, sweep, 1, false, 0);
	ws_twotier_seen(tiers, sweep, 1, true, BEHIND(SMALLER));
	ok(!holds(tiers, SMALLER, WHOLE, 1), "and not outside a burst, if only these are seen");
	evict(SMALLER, 1);
	ok(!holds(tiers, SMALLER, WHOLE, 1), "if it is read again, and goes, it is clean");
	/* the present sweep has evicted it, and the server has not */
	evict(WS_TIER_PRESENT, 1);
	ws_sweep_empty(sweep, ws_tier_buffers[WS_TIER_PRESENT]);
	fill_cache(WS_TIER_PRESENT);
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ok(!holds(tiers, SMALLER, WHOLE, 1), "also if the present sweep has evicted it since");
	ok(!holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "at the present size it is as dirty as it is in the server");
	ws_twotier_seen(tiers, sweep, 1, false, 0);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "and as clean");
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ok(holds(tiers, SMALLER, WHOLE, 1), "one that was clean in between is written again");
	/* a sweep was filled anew, without it */
	tiers->pages[tiers->page[1]].dirty |= 1 << SMALLER;
	fill_cache(SMALLER);
	ws_twotier_seen(tiers, sweep, 1, true, 0);
	ok(holds(tiers, SMALLER, WHOLE, 1), "as is one that has got lost");
	ok(!holds(tiers, SMALLER - 1, WHOLE, 1), "but not at a size that has had it all the time");
	evict(SMALLER - 1, 1);
	ok(holds(tiers, SMALLER - 1, WHOLE, 1), "before it goes there");
}

/* What the server evicts and writes is dirty for longer in larger shared buffers. */
static void
test_written_later(void)
{
	enum
	{
		LARGER = WS_TIER_PRESENT + 1
	};

	begin(1000, 400, 4);
	for (uint32_t page = 1; page <= 3; page++)
	{
		look(tiers, page, 3, BEHIND(1), NULL);
		ws_twotier_seen(tiers, sweep, page, true, 0);
	}
	evict(WS_TIER_PRESENT, 1);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "a dirty page that is evicted is in the page cache");
	/* it is read again, and stays clean */
	ws_twotier_seen(tiers, sweep, 1, false, 0);
	ok(!holds(tiers, LARGER, WHOLE, 1), "in larger shared buffers it is dirty as before");
	evict(LARGER, 1);
	ok(holds(tiers, LARGER, WHOLE, 1), "and written when it goes there");

	/* 2 goes before a checkpoint begins, and 3 when it is about to be written */
	evict(WS_TIER_PRESENT, 2);
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, LARGER, WHOLE, 2), "a checkpoint writes what larger ones have left");
	ok(!holds(tiers, LARGER, WHOLE, 3), "but not yet what is dirty in the server, too");
	evict(WS_TIER_PRESENT, 3);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 3) && holds(tiers, LARGER, WHOLE, 3),
	   "if that goes before, the checkpoint writes it elsewhere all the same");
	fill_cache(LARGER);
	ws_twotier_seen(tiers, sweep, 3, true, 0);
	evict(WS_TIER_PRESENT, 3);
	ok(!holds(tiers, LARGER, WHOLE, 3), "once");
	ws_twotier_seen(tiers, sweep, 3, true, 0);
	ws_twotier_checkpoint(tiers);
	ws_twotier_forget(tiers, 3);
	look(tiers, 3, 3, BEHIND(1), NULL);
	ws_twotier_seen(tiers, sweep, 3, true, 0);
	evict(WS_TIER_PRESENT, 3);
	ok(!holds(tiers, LARGER, WHOLE, 3), "no checkpoint has begun since another page has its number");
}

/* The size that is followed becomes another one. */
static void
test_jump(void)
{
	const int	nearest = 4;
	WsTierCounts before;

	begin(1000, 400, 1);
	/* the first 100 pages are read, and then others, behind each size its own */
	for (uint32_t page = 0; page < 100; page++)
		look(tiers, page, 3, ALL, &counts);
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (uint32_t page = 0; page < 50; page++)
			look(tiers, 100 + 50 * (uint32_t) b + page, 3, BEHIND(b), &counts);
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
	before = counts;
	ws_twotier_jump(tiers, sweep->factor);
	ws_tier_counts_jump(&counts);
	ok(holds(tiers, WS_TIER_FOLLOWER, DOUBLE, 100 + 50 * (uint32_t) nearest) && holds(tiers, WS_TIER_FOLLOWER, DOUBLE, 1) &&
	   !holds(tiers, WS_TIER_FOLLOWER, DOUBLE, 100 + 50 * WS_TIER_FOLLOWER), "its page caches are as the nearest size's");
	ok(tiers->owed[WS_TIER_FOLLOWER][WHOLE] == 0 && tiers->only[WS_TIER_FOLLOWER][WHOLE] == 0.25F &&
	   tiers->regions[1].cached[WS_TIER_FOLLOWER][HALF] == 0.5F, "and so is what was surveyed");
	ok(tiers->pages[tiers->page[1]].dirty == (1 << nearest | 1 << WS_TIER_FOLLOWER) && tiers->pages[tiers->page[3]].dirty == 1,
	   "what is dirty there is dirty here, and nothing else");
	memset(before.asked[WS_TIER_FOLLOWER], 0, sizeof(before.asked[0]));
	memset(before.waits[WS_TIER_FOLLOWER], 0, sizeof(before.waits[0]));
	memset(before.needed[WS_TIER_FOLLOWER], 0, sizeof(before.needed[0]));
	memset(before.ahead[WS_TIER_FOLLOWER], 0, sizeof(before.ahead[0]));
	memset(before.cold[WS_TIER_FOLLOWER], 0, sizeof(before.cold[0]));
	ok(memcmp(&counts, &before, sizeof(counts)) == 0, "and nothing of before counts, but elsewhere");
	look(tiers, 2, 3, BEHIND(WS_TIER_FOLLOWER), &counts);
	is_within(all(counts.asked[WS_TIER_FOLLOWER]), 0, 0, "nor the first miss of what the nearest has not missed");
	look(tiers, 100 + 50 * (uint32_t) nearest, 3, BEHIND(WS_TIER_FOLLOWER), &counts);
	ok(all(counts.asked[WS_TIER_FOLLOWER]) == 1 && counts.needed[WS_TIER_FOLLOWER][DOUBLE] == 0, "but one that finds what it has read");
}

/* A page that was used before it is simulated. */
static void
test_known_before(void)
{
	WsAccess access = {.page = 7, .id = {1, 2, 3, 0, 7}, .missed = BEHIND(1), .known = true};

	begin(1000, 400, 0);
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
}

/* Pages of WAL in a page cache, and others. */
static void
count_held(int b, int c, uint32_t *wal, uint32_t *others)
{
	*wal = *others = 0;
	for (uint32_t page = 0; page < WS_TIER_PAGES + WS_TIER_WAL; page++)
		*(page < WS_TIER_PAGES ? others : wal) += ws_pagecache_holds(tiers->cache[b][c], page);
}

static bool
holds_wal(int c, uint32_t wal_there, uint32_t others_there)
{
	uint32_t	wal;
	uint32_t	others;

	count_held(2, c, &wal, &others);
	return wal == wal_there && others == others_there;
}

/* Write so much WAL to files of so much, and say what one of the page caches has then. */
static void
write_wal(double bytes, double files, int c, uint32_t wal, uint32_t others, const char *name)
{
	ws_twotier_wal(tiers, bytes, files, 0);
	ok(holds_wal(c, wal, others), "%s", name);
}

/* WAL is written over and over to the same files. */
static void
test_wal(void)
{
	bool		everywhere = true;
	uint32_t	wal;
	uint32_t	others;

	begin(1000, 400, 0);
	for (uint32_t page = 0; page < 400; page++)
		look(tiers, page, 3, ALL, NULL);
	tiers->relations[0].blocks = 400;
	for (int i = 0; i < 4; i++)
		ws_twotier_wal(tiers, 0.25 * BLOCK, 50 * BLOCK, 0);
	write_wal(0.25 * BLOCK, 50 * BLOCK, WHOLE, 1, 399, "a page of WAL takes the place of another in a cache that is full");
	is_within(ws_twotier_whole(tiers), 401.25 * BLOCK, 0.01 * BLOCK, "and belongs to what may be cached");
	ok(!ws_pagecache_holds(tiers->cache[2][WHOLE], 0) && ws_pagecache_holds(tiers->cache[2][WHOLE], 1),
	   "of the one not used for longest");
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			count_held(b, c, &wal, &others);
			everywhere = everywhere && wal == 1;
		}
	ok(everywhere, "in all of them");
	for (int i = 0; i < 8; i++)
		ws_twotier_wal(tiers, 10 * BLOCK, 50 * BLOCK, 0);
	write_wal(10 * BLOCK, 50 * BLOCK, WHOLE, 50, 350, "it takes no more than its files have");
	is_within(ws_twotier_whole(tiers), 450 * BLOCK, 0, "nor is it counted for more");
	ok(holds_wal(DOUBLE, 50, 400), "nor takes anything where there is room");
	ws_survey(tiers, sweep);
	is_within(tiers->only[2][WHOLE], 350 / 400.0, 1e-6, "it is not part of what both caches hold");
	write_wal(0, 30 * BLOCK, WHOLE, 30, 350, "files that are gone have no pages");

	for (uint32_t page = 400; page < 800; page++)
		look(tiers, page, 3, ALL, NULL);
	ok(holds_wal(WHOLE, 0, 400), "it goes when others are read");
	write_wal(3 * BLOCK, 30 * BLOCK, WHOLE, 3, 397, "and comes back when it is written again");
	for (uint32_t page = 500; page < 600; page++)
		look(tiers, page, 3, ALL, NULL);
	for (uint32_t page = 0; page < 300; page++)
		look(tiers, page, 3, ALL, NULL);
	wal = tiers->cache[2][WHOLE]->held[1];
	ws_twotier_wal(tiers, 30 * BLOCK, 30 * BLOCK, 0);
	ok(wal > 30 && tiers->cache[2][WHOLE]->held[1] <= wal, "not active, though it went only just before");
	ws_twotier_wal(tiers, 200 * BLOCK, 30 * BLOCK, 0);
	write_wal(BLOCK, 30 * BLOCK, WHOLE, 30, 370, "however much is written at once");
	memset(tiers->wal_owed, 0, sizeof(tiers->wal_owed));
	for (uint32_t page = 0; page < 400; page++)
		look(tiers, page, 3, ALL, NULL);
	write_wal(BLOCK, 30 * BLOCK, WHOLE, 1, 399, "and no longer than until then");
	write_wal(1e15, 1e12, WS_TIER_CACHES - 1, WS_TIER_WAL, 800, "of very much, as much is simulated as can be");
	resize(tiers, 1, 0.5, 400 * BLOCK);
	/* each cache is half as large, and no page has a higher stratum */
	ok(holds_wal(WS_TIER_CACHES - 1, WS_TIER_WAL / 2, 0), "of half of the pages, half of that");

	begin(1000, 400, 0);
	ws_twotier_wal(tiers, 1000 * BLOCK, 200 * BLOCK, 0);
	memset(tiers->wal_owed, 0, sizeof(tiers->wal_owed));
	resize(tiers, 1, 0.5, 400 * BLOCK);
	write_wal(0, 200 * BLOCK, WHOLE, 100, 0, "nor do more go when it is written next");
	free(tiers);
	tiers = new_tiers(1000, 0.5, 400);
	write_wal(10 * BLOCK, 40 * BLOCK, WHOLE, 5, 0, "with every second page, one for two");
	look(tiers, 0, 3, ALL, NULL);
	tiers->relations[0].blocks = 400;
	is_within(ws_twotier_whole(tiers), 410 * BLOCK, 0.01 * BLOCK, "but all of it may be cached");
	write_wal(100 * BLOCK, 5.2 * BLOCK, WHOLE, 3, 1, "files have the nearest number of pages");
	write_wal(100 * BLOCK, 4.8 * BLOCK, WHOLE, 2, 1, "below, too");
	write_wal(100 * BLOCK, 0.4 * BLOCK, WHOLE, 1, 1, "at least one");
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
	Zipf	   *zipf = zipf_new(PAGES, 0.8);
	uint64_t	seed = seeded(6);
	uint32_t	bursts_only = BEHIND(0);
	uint32_t	wal;
	uint32_t	others;
	bool		same = true;

	begin(PAGES, 1000, 0);
	for (int s = 0; s < 2 * SECONDS; s++)
	{
		if (s == SECONDS)
			memset(&counts, 0, sizeof(counts));
		for (int i = 0; i < 20; i++)
			look(tiers, zipf_draw(zipf, &seed), 1, BEHIND(1) | (s % WS_BURSTS == 0 ? bursts_only : 0),
				 &counts);
		ws_twotier_wal(tiers, 1.25 * BLOCK, 500 * BLOCK, bursts_only);
	}
	/* 5 standard errors of the 6,000 reads in bursts */
	for (int c = 0; c <= WHOLE; c++)
		same = same && fabs(all(counts.waits[0][c]) / all(counts.asked[0]) -
							all(counts.waits[1][c]) / all(counts.asked[1])) < 5 * sqrt(0.25 / 6000);
	ok(same, "WAL displaces as much where only the reads of bursts are seen");
	count_held(1, HALF, &wal, &others);
	ok(wal > 20 && others > 300, "which is some");
	zipf_free(zipf);
}

/* Do the two pages of each relation, page and page + n, have an entry of their own? */
static bool
are_apart(uint32_t n, uint32_t shift)
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
	WsAccess access = {.page = 0, .id = {1, 2, 5, 1, 0}, .missed = ALL};
	uint16_t	number;

	begin(PAGES, 10 * PAGES, 0);
	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		tiers->readahead.blocks[i] = 3;
	for (uint32_t page = 0; page < PAGES; page++)
		look(tiers, page, page % RELATIONS, BEHIND(0), NULL);
	ok(tiers->nrelations == RELATIONS && are_apart(RELATIONS, 0), "each relation has an entry");
	is_within(ws_twotier_whole(tiers), PAGES * (double) BLOCK, 1, "so the size of all is known");
	ws_survey(tiers, sweep);
	is_int(tiers->nregions, RELATIONS, "each is a region");
	for (uint32_t page = 0; page < PAGES; page++)
		look(tiers, page, page % RELATIONS, BEHIND(2), &counts);
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
	ok(are_apart(RELATIONS, 100000), "others take the places of all");
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
}

int
main(void)
{
	plan(107);
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
