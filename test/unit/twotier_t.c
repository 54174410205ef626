/*
 * twotier_t.c
 *		Tests of the page caches behind the sweeps: they see what they should,
 *		count it as they should, and a sample of the pages says what all say.
 *
 * Seeds are fixed, so a run either always passes or always fails.
 */
#include "tap.h"
#include "twotier.h"
#include "sweep.h"
#include "traces.h"

#define BLOCK	8192
#define ALL		((UINT32_C(1) << 21) - 1)
#define HALF	5				/* of ws_tier_caches: half of the bytes, */
#define WHOLE	7				/* all of them, */
#define DOUBLE	9				/* and twice as many */

/* Strata from "shift" on are the share "rate", and each further one halves it. */
static void
resize(WsTwoTier *tiers, uint32_t shift, double rate, double bytes)
{
	double		rates[WS_STRATA] = {0};

	for (uint32_t s = shift; s < WS_STRATA; s++)
		rates[s] = ldexp(rate, (int) shift - (int) s);
	ws_twotier_resize(tiers, shift, rates, bytes);
}

static WsTwoTier *
new_tiers(uint32_t entries, double rate, double pages)
{
	WsTwoTier  *tiers = aligned_memory(ws_twotier_size(entries));

	ws_twotier_init(tiers, entries, BLOCK);
	resize(tiers, 0, rate, pages * BLOCK);
	return tiers;
}

/* A count of all groups. */
static double
all(const double *groups)
{
	double		sum = 0;

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		sum += groups[g];
	return sum;
}

static double
blocks(const WsTierCounts *counts, int b, int c)
{
	return counts->needed[b][c] + counts->ahead[b][c];
}

/* Access a page that was missed in some sizes; groups follow one another. */
static void
look(WsTwoTier *tiers, uint32_t page, uint32_t relation, uint32_t missed, WsTierCounts *counts)
{
	WsTierAccess access = {
		.page = page, .stratum = 0, .group = page % WS_ERROR_GROUPS,
		.id = {1, 2, relation, 0, page}, .missed = missed
	};

	ws_twotier_access(tiers, &access, counts);
}

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
	uint64_t	seed = 3;
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

/* Of a large set some are simulated, and that is as if all were. */
static void
test_sampled(void)
{
	enum
	{
		PAGES = 16000
	};
	WsTwoTier  *tiers = new_tiers(PAGES, 1, 8000);
	WsPageCache *one = aligned_memory(ws_pagecache_size(PAGES));
	static WsTierCounts counts;
	Zipf	   *zipf = zipf_new(PAGES, 0.5);
	uint64_t	seed = 5;
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
		WsTierAccess access = {
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
	is_int(tiers->shift, 2, "of 16,000 pages a quarter fits");
	ok(tiers->rate != 0.25 && tiers->rate == rates[2], "and stands for all as counted, not as expected");
	is_within(tiers->cache[0][WHOLE]->capacity, rint(8000 * rates[2]), 0, "with smaller caches");
	/* 4,000 sampled pages, each a hit with a chance of p: sqrt(p (1 - p) / 4000) */
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

static bool
holds(const WsTwoTier *tiers, int b, int c, uint32_t entry)
{
	return ws_pagecache_holds(tiers->cache[b][c], tiers->page[entry]);
}

static void
test_counts(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsTierAccess access = {.page = 7, .id = {1, 2, 3, 0, 7}, .missed = ALL};

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

	counts.cold[WS_TIER_BUFFERS - 1][WS_TIER_CACHES - 1] = 5;
	ws_tier_counts_add(&counts, &counts);
	ok(counts.asked[1][8] == 4 && counts.cold[WS_TIER_BUFFERS - 1][WS_TIER_CACHES - 1] == 10,
	   "counts can be added");
	memset(&counts, 0, sizeof(counts));

	ws_twotier_seen(tiers, 500, true);
	ws_twotier_seen(tiers, 500, false);
	ok(!ws_pagecache_holds(tiers->cache[0][WHOLE], 1), "what is not simulated is not written");
	for (uint32_t page = 100; page < 600; page++)
		look(tiers, page, 4, 1U << ws_tier_buffers[0], NULL);
	look(tiers, 8, 3, 1U << ws_tier_buffers[0], NULL);
	ws_twotier_forget(tiers, 8);
	ws_twotier_forget(tiers, 8);
	look(tiers, 8, 3, 1U << ws_tier_buffers[1], &counts);
	is_within(all(counts.waits[1][WHOLE]), 1, 0, "a page that was forgotten is another one");
	look(tiers, 1, 3, ALL, NULL);
	ws_twotier_forget(tiers, 1);
	is_int(tiers->cache[0][0]->held[0] + tiers->cache[0][0]->held[1], 24, "and in no cache");
	free(tiers);

	tiers = new_tiers(1000, 1, 400);
	look(tiers, 1, 3, 1U << ws_tier_buffers[1], NULL);
	ws_twotier_seen(tiers, 1, true);
	ok(ws_twotier_entry(tiers, tiers->page[1]) == 1 && ws_twotier_entry(tiers, tiers->page[1] + 1) == -1,
	   "a page that is simulated has an entry, and another one has none");
	ok(!ws_pagecache_holds(tiers->cache[0][WHOLE], tiers->page[1]), "a page that becomes dirty is not written");
	ws_twotier_seen(tiers, 1, false);
	ok(!holds(tiers, 0, WHOLE, 1), "nor is one that is clean, as far as was seen once");
	ws_twotier_seen(tiers, 1, false);
	memset(&counts, 0, sizeof(counts));
	look(tiers, 1, 3, ALL, &counts);
	ok(all(counts.waits[0][0]) == 0 && all(counts.waits[WS_TIER_BUFFERS - 1][WHOLE]) == 0,
	   "a page that is dirty no more is in all caches");
	free(tiers);
}

/* What a sweep evicts is written, if it is dirty, to the caches behind this sweep. */
static void
test_written(void)
{
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	uint16_t	evicted[WS_SWEEP_SIZES];
	WsTierAccess access = {.page = 900, .id = {1, 2, 3, 0, 900}, .evicted = evicted};

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		evicted[i] = WS_NOWHERE;
	for (uint32_t page = 1; page <= 3; page++)
		look(tiers, page, 3, 1U << ws_tier_buffers[1], NULL);
	ws_twotier_seen(tiers, 1, true);
	ws_twotier_seen(tiers, 2, false);
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
	is_int(tiers->page[901], UINT16_MAX, "and what evicts it need not be simulated");
	free(tiers);
}

/* What the server writes for want of room is dirty for longer in larger shared buffers. */
static void
test_written_later(void)
{
	enum
	{
		LARGER = WS_TIER_PRESENT + 1
	};
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	uint16_t	evicted[WS_SWEEP_SIZES];
	WsTierAccess access = {
		.page = 900, .id = {1, 2, 3, 0, 900}, .evicted = evicted, .missed = 1U << ws_tier_buffers[WS_TIER_PRESENT]
	};

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		evicted[i] = WS_NOWHERE;
	for (uint32_t page = 1; page <= 4; page++)
	{
		look(tiers, page, 3, 1U << ws_tier_buffers[1], NULL);
		ws_twotier_seen(tiers, page, true);
	}
	/* the background writer writes 1 just before it goes; then it is read again, and stays clean */
	ws_twotier_seen(tiers, 1, false);
	evicted[ws_tier_buffers[WS_TIER_PRESENT]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, WS_TIER_PRESENT, WHOLE, 1), "a page that is written and evicted is in the page cache");
	ws_twotier_seen(tiers, 1, false);
	ws_twotier_seen(tiers, 1, false);
	ok(!holds(tiers, LARGER, WHOLE, 1), "in larger shared buffers it is dirty as before");
	access.missed = 1U << ws_tier_buffers[LARGER];
	evicted[ws_tier_buffers[LARGER]] = 1;
	ws_twotier_access(tiers, &access, NULL);
	ok(holds(tiers, LARGER, WHOLE, 1), "and written when it goes there");
	ws_twotier_forget(tiers, 1);
	look(tiers, 1, 3, 1U << ws_tier_buffers[1], NULL);
	ws_twotier_access(tiers, &access, NULL);
	ok(!holds(tiers, LARGER, WHOLE, 1), "another page with its number is not dirty");

	/* 2 goes, too; 3 is dirty, and 4 clean once */
	access.missed = 1U << ws_tier_buffers[WS_TIER_PRESENT];
	evicted[ws_tier_buffers[WS_TIER_PRESENT]] = 2;
	ws_twotier_access(tiers, &access, NULL);
	ws_twotier_seen(tiers, 4, false);
	ws_twotier_checkpoint(tiers);
	ok(holds(tiers, LARGER, WHOLE, 2), "a checkpoint writes what larger ones have left");
	ok(!holds(tiers, LARGER, WHOLE, 3) && !holds(tiers, LARGER, WHOLE, 4), "but it is seen when it has written others");
	ws_twotier_seen(tiers, 4, true);
	ws_twotier_seen(tiers, 4, false);
	ok(!holds(tiers, LARGER, WHOLE, 4), "a page that was dirty in between was not clean twice");
	free(tiers);
}

static WsSweep *
empty_sweep(uint32_t pages)
{
	WsSweep    *sweep = aligned_memory(ws_sweep_size(pages));

	ws_sweep_init(sweep, pages);
	return sweep;
}

/* Shared buffers have half of what the page caches of their size have, too. */
static void
test_twice(void)
{
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsSweep    *sweep = empty_sweep(1000);

	ws_sweep_resize(sweep, 200);
	ok(isnan(tiers->only[2][WHOLE]), "how much is cached twice is not known at first");
	for (uint32_t page = 0; page < 400; page++)
	{
		WsAccess	access = {.page = page};
		uint32_t	cold;

		if (page < 200)
			(void) ws_sweep_access(sweep, &access, &cold);
		look(tiers, page, 1, ALL, NULL);
	}
	ws_twotier_survey(tiers, sweep);
	is_within(tiers->only[2][WHOLE], 0.5, 1e-6, "half of a page cache is not in shared buffers");
	is_within(tiers->only[1][WHOLE], 0.75, 1e-6, "of one behind smaller ones more");
	is_within(tiers->only[2][HALF], 1, 1e-6, "a smaller one has the pages that came last");
	ok(isnan(tiers->only[2][DOUBLE]), "of one that is not full it is not known");
	free(sweep);
	free(tiers);
}

/* A quarter of a table is cached; what does a miss read? */
static void
test_readahead(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(4000, 1, 8000);
	WsReadahead *readahead = &tiers->readahead;
	WsSweep    *sweep = empty_sweep(4000);
	WsTierAccess run = {.page = 999, .id = {1, 2, 3, 0, 999}, .missed = ALL, .run = true};
	uint32_t	before;

	readahead->kilobytes = 64;
	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		readahead->blocks[i] = 1 + 2.0 * ws_readahead_shares[i];
	for (uint32_t page = 0; page < 1000; page += 4)
		look(tiers, page, 3, ALL, &counts);
	ok(blocks(&counts, 2, WHOLE) == 250, "before a survey nothing is known to be cached");
	is_within(ws_twotier_whole(tiers), 250 * 8192, 0, "and the table is as large as what was used");
	tiers->relations[0].blocks = 1000;
	is_within(ws_twotier_whole(tiers), 1000 * 8192, 0, "then it is");
	ws_twotier_survey(tiers, sweep);
	is_int(tiers->nregions, 3, "the table has regions");
	is_within(tiers->regions[1].cached[2][WHOLE], 0.25, 1e-6, "the survey counts what is cached of each");
	is_within(tiers->regions[0].cached[0][0], 0.25, 1e-6, "in each cache");

	/* others, in the sample but not in this cache */
	for (uint32_t page = 1; page < 1000; page += 4)
		look(tiers, page, 3, 1U << ws_tier_buffers[0], NULL);
	ws_twotier_survey(tiers, sweep);
	memset(&counts, 0, sizeof(counts));
	before = tiers->cache[2][WHOLE]->held[0];
	for (uint32_t page = 1; page < 140; page += 4)
		look(tiers, page, 3, 1U << ws_tier_buffers[2], &counts);
	/* a quarter of the region, but for where it ends */
	ok(all(counts.waits[2][WHOLE]) < 35 && all(counts.waits[2][WHOLE]) > 20 &&
	   fabs(tiers->regions[0].cached[2][WHOLE] - 0.25) < 0.005 &&
	   fabs(blocks(&counts, 2, WHOLE) / all(counts.waits[2][WHOLE]) - 1 - 2 * tiers->regions[0].cached[2][WHOLE]) < 1e-6,
	   "a miss reads as much more as the kernel does there");
	/* one block is owed at most, and of others few are not found */
	ok(fabs(tiers->cache[2][WHOLE]->held[0] - before - blocks(&counts, 2, WHOLE)) < 4,
	   "and brings that in, pages of the table (%u, %.1f)",
	   tiers->cache[2][WHOLE]->held[0] - before, blocks(&counts, 2, WHOLE));

	memset(&counts, 0, sizeof(counts));
	ws_twotier_access(tiers, &run, &counts);
	is_within(all(counts.waits[2][WHOLE]), 1 / 8.0, 1e-12, "a scan waits once for all that is read ahead");
	is_within(blocks(&counts, 2, WHOLE), 1, 0, "and reads what it needs");
	is_within(counts.cold[2][WHOLE], 1, 1e-12, "and counts in full where the cache is not full");
	readahead->kilobytes = 0;
	readahead->waits = 2;
	run.page = 998;
	memset(&counts, 0, sizeof(counts));
	ws_twotier_access(tiers, &run, &counts);
	is_within(all(counts.waits[2][WHOLE]), 2, 0, "without readahead it waits as others do");
	is_within(counts.cold[2][WHOLE], 1, 1e-12, "for one block");
	free(sweep);
	free(tiers);
}

/* Let pages from..to - 1 of a relation be simulated, and some of them be in cache [2][WHOLE]. */
static void
fill(WsTwoTier *tiers, uint32_t relation, uint32_t from, uint32_t to, double cached, uint64_t *seed)
{
	for (uint32_t page = from; page < to; page++)
		look(tiers, page, relation, random_below(seed, 1000) < cached * 1000 ? ALL : 1U << ws_tier_buffers[0], NULL);
}

static WsTwoTier *
new_regions(double blocks_each)
{
	WsTwoTier  *tiers = new_tiers(2100, 1, 8000);

	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		tiers->readahead.blocks[i] = 1 + blocks_each * ws_readahead_shares[i];
	return tiers;
}

/* Standard deviation of what is cached of regions from..to - 1, and the mean. */
static double
spread(const WsTwoTier *tiers, uint32_t from, uint32_t to, double *mean)
{
	double		sum = 0;
	double		squares = 0;
	uint32_t	n = to - from;

	for (uint32_t i = from; i < to; i++)
	{
		sum += tiers->regions[i].cached[2][WHOLE];
		squares += pow(tiers->regions[i].cached[2][WHOLE], 2);
	}
	*mean = sum / n;
	return sqrt(fmax(squares / n - *mean * *mean, 0));
}

/* Three quarters of the first half of a table are cached, and a quarter of the second; half of another. */
static void
test_regions(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_regions(4);
	WsSweep    *sweep = empty_sweep(2100);
	uint64_t	seed = 11;
	double		share[3];
	double		held[3];
	double		differs;
	float		first;

	fill(tiers, 3, 0, 512, 0.75, &seed);
	fill(tiers, 3, 512, 1024, 0.25, &seed);
	fill(tiers, 4, 1024, 2048, 0.5, &seed);
	tiers->relations[0].blocks = 1024;
	/* blocks have the numbers of pages here, so half of them were not used */
	tiers->relations[1].blocks = 2048;
	ws_twotier_survey(tiers, sweep);
	first = tiers->regions[0].cached[2][WHOLE];
	ws_twotier_survey(tiers, sweep);
	ok(tiers->regions[0].cached[2][WHOLE] == first, "another survey finds the same");
	is_int(tiers->nregions, 32, "tables have as many regions as their pages allow");
	ok(tiers->regions[3].first == 192 && tiers->regions[3].pages == 64 && tiers->order[200] == tiers->page[200] &&
	   tiers->regions[3].block == 192 && tiers->regions[16].relation == 1,
	   "of pages that are next to each other");
	(void) spread(tiers, 0, 8, &share[0]);
	(void) spread(tiers, 8, 16, &share[1]);
	differs = spread(tiers, 16, 32, &share[2]);
	/* sqrt(p (1 - p) / 512), and half of that for two tables' halves; moved toward each other by less */
	is_within(share[0], 0.75, 4 * 0.019 + 0.02, "where three quarters are cached");
	is_within(share[1], 0.25, 4 * 0.019 + 0.02, "and where one is");
	is_within(share[2], 0.5, 4 * 0.016, "and, where a half of what was used is, that of these");
	/* by chance regions of 64 pages differ by 0.0625, so with 16 of them by 0.0625 / sqrt(32) more or less */
	ok(differs < 0.0625 / 2, "regions that differ by chance hardly differ (%.4f)", differs);

	/* pages of the second half are missed, and some are read with others */
	memset(&counts, 0, sizeof(counts));
	for (uint32_t page = 512; page < 1024; page++)
		look(tiers, page, 3, 1U << ws_tier_buffers[2], &counts);
	/* more is missed where less is cached, so the mean is a little lower */
	is_within(counts.ahead[2][WHOLE] / all(counts.waits[2][WHOLE]), 4 * share[1], 0.1,
			  "what a miss reads ahead depends on its region");
	memset(held, 0, sizeof(held));
	for (uint32_t page = 0; page < 2048; page++)
		held[page / 512 < 2 ? page / 512 : 2] += holds(tiers, 2, WHOLE, page);
	seed = 11;
	for (uint32_t page = 0; page < 512; page++)
		held[0] -= random_below(&seed, 1000) < 750;
	is_within(held[0], 0, 0, "nothing of the first half comes in with it");
	is_within(held[1], 512, 0, "but all of its own");

	/* a page that was not simulated reads as those next to it do */
	memset(&counts, 0, sizeof(counts));
	ws_twotier_forget(tiers, 100);
	look(tiers, 100, 3, 1U << ws_tier_buffers[2], &counts);
	is_within(counts.ahead[2][WHOLE], 4 * tiers->regions[1].cached[2][WHOLE], 1e-6,
			  "a new page reads ahead as its region does");
	for (uint32_t page = 1024; page < 2048; page++)
		ws_twotier_forget(tiers, page);
	memset(&counts, 0, sizeof(counts));
	fill(tiers, 5, 1024, 1100, 0, &seed);
	for (uint32_t page = 1024; page < 1100; page++)
		look(tiers, page, 5, 1U << ws_tier_buffers[2], &counts);
	is_within(blocks(&counts, 2, WHOLE), 76, 0, "one of another relation does not, up to the next survey");

	/* most pages of the first region go, and some of their numbers to other pages */
	for (uint32_t page = 1; page < 64; page++)
		ws_twotier_forget(tiers, page);
	fill(tiers, 6, 2000, 2030, 0, &seed);
	for (int i = 0; i < 50; i++)
	{
		ws_twotier_forget(tiers, 0);
		tiers->owed[2][WHOLE] = 1;
		look(tiers, 0, 3, 1U << ws_tier_buffers[2], NULL);
	}
	held[0] = 0;
	for (uint32_t page = 0; page < 2100; page++)
		held[0] += tiers->page[page] != UINT16_MAX && holds(tiers, 2, WHOLE, page);
	for (uint32_t page = 2000; page < 2030; page++)
		held[1] -= 1000 * holds(tiers, 2, WHOLE, page);
	is_within(held[0], tiers->cache[2][WHOLE]->held[0] + tiers->cache[2][WHOLE]->held[1], 0,
			  "nothing that is gone is read ahead");
	is_within(held[1], 512, 0, "and no page that has its number");
	free(sweep);
	free(tiers);
}

/* Of a table not all was used, here and there or only its end. */
static void
test_partly_used(void)
{
	WsTwoTier  *tiers = new_regions(4);
	WsSweep    *sweep = empty_sweep(2100);
	uint64_t	seed = 12;
	double		share;
	double		raw = 0;

	resize(tiers, 0, 0.5, 8000.0 * BLOCK);
	/* blocks as pages: of 2,048 each second one is simulated, if it was used; a tenth was not */
	for (uint32_t page = 0; page < 2048; page++)
		if (random_below(&seed, 100) < 45)
			look(tiers, page, 3, random_below(&seed, 10) < 8 ? ALL : 1U << ws_tier_buffers[0], NULL);
	tiers->relations[0].blocks = 2048;
	ws_twotier_survey(tiers, sweep);
	/* counted in a span of blocks: sqrt(0.72 / 64) each */
	ok(spread(tiers, 0, tiers->nregions, &share) < 0.106 / 2, "regions of which not all was used differ by chance");
	/* sqrt(0.36 / 2048), and of the share */
	is_within(share, 0.72, 4 * 0.02, "what was not used is not cached");
	/* by one standard error, sqrt(pages / 2) */
	tiers->relations[0].blocks = (uint32_t) (2 * (tiers->used + sqrt(tiers->used / 2)));
	ws_twotier_survey(tiers, sweep);
	(void) spread(tiers, 0, tiers->nregions, &share);
	is_within(share, 0.8, 4 * 0.0135, "fewer pages by chance are all that there are");
	ok(tiers->regions[0].whole == tiers->regions[0].pages, "exactly");
	free(tiers);

	tiers = new_regions(4);
	fill(tiers, 3, 0, 1024, 1, &seed);
	tiers->relations[0].blocks = 1060;
	tiers->pages[tiers->page[1023]].block = 1059;
	ws_twotier_survey(tiers, sweep);
	ok(tiers->regions[15].cached[2][WHOLE] < 1, "but it is no chance if all pages are simulated");
	free(tiers);

	/* 0.6 and 0.4 of the halves: differences of 0.1 either way, and 0.061 by chance; 0.73 of the variance is theirs */
	tiers = new_regions(4);
	fill(tiers, 3, 0, 1024, 0.6, &seed);
	fill(tiers, 3, 1024, 2048, 0.4, &seed);
	ws_twotier_survey(tiers, sweep);
	for (int i = 0; i < 32; i++)
	{
		double		held = 0;

		for (int j = 0; j < 64; j++)
			held += ws_pagecache_holds(tiers->cache[2][WHOLE], tiers->order[64 * i + j]);
		raw += pow(held / 64 - 0.5, 2) / 32;
	}
	is_within(spread(tiers, 0, 32, &share) / sqrt(raw), 0.73, 0.15, "a part of the variance is by chance");
	free(tiers);

	tiers = new_regions(4);
	fill(tiers, 3, 1600, 2000, 0.5, &seed);
	tiers->relations[0].blocks = 2000;
	ws_twotier_survey(tiers, sweep);
	is_int(tiers->nregions, 6, "of a table of which the end was used, that is divided");
	/* 0.0615 each, and that is known to 0.0615 / sqrt(12) */
	ok(spread(tiers, 0, 6, &share) < 0.0615 + 4 * 0.018 && fabs(share - 0.5) < 4 * 0.025, "and cached as it is");
	free(sweep);
	free(tiers);
}

/* A page that was used before it is simulated. */
static void
test_known_before(void)
{
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(1000, 1, 400);
	WsTierAccess access = {.page = 7, .id = {1, 2, 3, 0, 7}, .missed = 1U << ws_tier_buffers[1], .used = true};

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
	access.used = false;
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
		ws_twotier_wal(tiers, 0.25 * BLOCK, 50 * BLOCK);
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
		ws_twotier_wal(tiers, 10 * BLOCK, 50 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 50, 350), "it takes no more than its files have");
	is_within(ws_twotier_whole(tiers), 450 * BLOCK, 0, "nor is it counted for more");
	ok(holds_wal(tiers, DOUBLE, 50, 400), "nor takes anything where there is room");
	ws_twotier_survey(tiers, sweep);
	is_within(tiers->only[2][WHOLE], 350 / 400.0, 1e-6, "it is not part of what both caches hold");
	ws_twotier_wal(tiers, 0, 30 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 30, 350), "files that are gone have no pages");

	for (uint32_t page = 400; page < 800; page++)
		look(tiers, page, 3, ALL, NULL);
	ok(holds_wal(tiers, WHOLE, 0, 400), "it goes when others are read");
	ws_twotier_wal(tiers, 3 * BLOCK, 30 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 3, 397), "and comes back when it is written again");
	for (uint32_t page = 500; page < 600; page++)
		look(tiers, page, 3, ALL, NULL);
	for (uint32_t page = 0; page < 300; page++)
		look(tiers, page, 3, ALL, NULL);
	wal = tiers->cache[2][WHOLE]->held[1];
	ws_twotier_wal(tiers, 30 * BLOCK, 30 * BLOCK);
	ok(wal > 30 && tiers->cache[2][WHOLE]->held[1] <= wal, "not active, though it went only just before");
	ws_twotier_wal(tiers, 200 * BLOCK, 30 * BLOCK);
	ws_twotier_wal(tiers, BLOCK, 30 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 30, 370), "however much is written at once");
	tiers->wal_owed = 0;
	for (uint32_t page = 0; page < 400; page++)
		look(tiers, page, 3, ALL, NULL);
	ws_twotier_wal(tiers, BLOCK, 30 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 1, 399), "and no longer than until then");
	ws_twotier_wal(tiers, 1e15, 1e12);
	ok(holds_wal(tiers, WS_TIER_CACHES - 1, WS_TIER_WAL, 800), "of very much, as much is simulated as can be");
	resize(tiers, 1, 0.5, 400 * BLOCK);
	/* each cache is half as large, and no page has a higher stratum */
	ok(holds_wal(tiers, WS_TIER_CACHES - 1, WS_TIER_WAL / 2, 0), "of half of the pages, half of that");
	free(tiers);

	tiers = new_tiers(1000, 0.5, 400);
	ws_twotier_wal(tiers, 10 * BLOCK, 40 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 5, 0), "with every second page, one for two");
	look(tiers, 0, 3, ALL, NULL);
	tiers->relations[0].blocks = 400;
	is_within(ws_twotier_whole(tiers), 410 * BLOCK, 0.01 * BLOCK, "but all of it may be cached");
	ws_twotier_wal(tiers, 100 * BLOCK, 5.2 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 3, 1), "files have the nearest number of pages");
	ws_twotier_wal(tiers, 100 * BLOCK, 4.8 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 2, 1), "below, too");
	ws_twotier_wal(tiers, 100 * BLOCK, 0.4 * BLOCK);
	ok(holds_wal(tiers, WHOLE, 1, 1), "at least one");
	free(sweep);
	free(tiers);
}

/* There are more relations than have an entry. */
static void
test_relations(void)
{
	enum
	{
		RELATIONS = WS_TIER_RELATIONS + 8, PAGES = 10 * RELATIONS
	};
	static WsTierCounts counts;
	WsTwoTier  *tiers = new_tiers(PAGES, 1, 10 * PAGES);
	WsSweep    *sweep = empty_sweep(PAGES);

	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		tiers->readahead.blocks[i] = 3;
	for (uint32_t page = 0; page < PAGES; page++)
		look(tiers, page, page % RELATIONS, 1U << ws_tier_buffers[0], NULL);
	ok(tiers->relations[WS_TIER_RELATIONS - 1].pages == 90 && tiers->relations[0].pages == 10,
	   "the relations that come last share an entry");
	ok(isnan(ws_twotier_whole(tiers)), "so that the size of all is not known");
	ws_twotier_survey(tiers, sweep);
	is_int(tiers->nregions, WS_TIER_RELATIONS - 1, "each of the others is a region");
	for (uint32_t page = 0; page < PAGES; page++)
		if (page % RELATIONS >= WS_TIER_RELATIONS - 1)
			look(tiers, page, page % RELATIONS, 1U << ws_tier_buffers[2], &counts);
	is_within(blocks(&counts, 2, WHOLE), 90, 0, "those that share read nothing ahead");
	look(tiers, 0, 0, 1U << ws_tier_buffers[2], &counts);
	is_within(blocks(&counts, 2, WHOLE), 93, 0, "and others do");
	for (uint32_t page = 0; page < PAGES; page += RELATIONS)
		ws_twotier_forget(tiers, page);
	is_int(tiers->relations[0].pages, 0, "an entry without pages is free");
	look(tiers, 0, 7777, ALL, NULL);
	ok(tiers->relations[0].pages == 1 && tiers->relations[0].id.relation == 7777,
	   "and goes to the next relation");
	ws_twotier_forget_relation(tiers, 1);
	ws_twotier_forget_relation(tiers, WS_TIER_RELATIONS - 1);
	ok(tiers->relations[1].pages == 0 && tiers->relations[2].pages == 10 && tiers->relations[WS_TIER_RELATIONS - 1].pages == 90 &&
	   tiers->page[1] == UINT16_MAX, "all pages of one are forgotten, unless it has no entry of its own");
	free(sweep);
	free(tiers);
}

int
main(void)
{
	plan(115);
	test_written();
	test_written_later();
	test_twice();
	test_sizes();
	test_pairs();
	test_sampled();
	test_counts();
	test_readahead();
	test_regions();
	test_partly_used();
	test_known_before();
	test_wal();
	test_relations();
	return done();
}
