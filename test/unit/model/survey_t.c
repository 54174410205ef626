/*
 * survey_t.c
 *		Tests of the survey of page caches: what is cached of each relation, and
 *		what that makes a miss read.
 *
 * Seeds are fixed: how 16 regions of one draw differ by chance varies so much
 * that bounds for any draw would tell nothing.
 */
#include "tap.h"
#include "tiers.h"

static uint64_t seed;			/* fixed, see above */

/* Page caches of 8,000 pages, where a miss reads up to so many blocks ahead. */
static void
begin_regions(uint32_t entries, double ahead)
{
	begin(entries, 8000, 0);
	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		tiers->readahead.blocks[i] = 1 + ahead * ws_readahead_shares[i];
}

/* Misses of pages behind a size of shared buffers; counts are of these only. */
static void
miss(int b, uint32_t relation, uint32_t from, uint32_t to, uint32_t step)
{
	memset(&counts, 0, sizeof(counts));
	for (uint32_t page = from; page < to; page += step)
		look(tiers, page, relation, 1U << ws_tier_buffers[b], &counts);
}

/* Shared buffers have half of what the page caches of their size have, too. */
static void
test_twice(void)
{
	begin(1000, 400, 0);
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
	ws_survey(tiers, sweep);
	is_within(tiers->only[2][WHOLE], 0.5, 1e-6, "half of a page cache is not in shared buffers");
	is_within(tiers->only[1][WHOLE], 0.75, 1e-6, "of one behind smaller ones more");
	is_within(tiers->only[2][HALF], 1, 1e-6, "a smaller one has the pages that came last");
	ok(isnan(tiers->only[2][DOUBLE]), "of one that is not full it is not known");
}

/* A quarter of a table is cached; what does a miss read? */
static void
test_readahead(void)
{
	WsAccess run = {.page = 999, .id = {1, 2, 3, 0, 999}, .missed = ALL, .run = true};
	uint32_t	before;

	begin_regions(4000, 2);
	tiers->readahead.kilobytes = 64;
	for (uint32_t page = 0; page < 1000; page += 4)
		look(tiers, page, 3, ALL, &counts);
	ok(blocks(&counts, 2, WHOLE) == 250, "before a survey nothing is known to be cached");
	is_within(ws_twotier_whole(tiers), 250 * 8192, 0, "and the table is as large as what was used");
	tiers->relations[0].blocks = 1000;
	is_within(ws_twotier_whole(tiers), 1000 * 8192, 0, "then it is");
	ws_survey(tiers, sweep);
	is_int(tiers->nregions, 3, "the table has regions");
	is_within(tiers->regions[1].cached[2][WHOLE], 0.25, 1e-6, "the survey counts what is cached of each");
	is_within(tiers->regions[0].cached[0][0], 0.25, 1e-6, "in each cache");

	/* others, in the sample but not in this cache */
	miss(0, 3, 1, 1000, 4);
	ws_survey(tiers, sweep);
	before = tiers->cache[2][WHOLE]->held[0];
	miss(2, 3, 1, 140, 4);
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
	tiers->readahead.kilobytes = 0;
	tiers->readahead.waits = 2;
	run.page = 998;
	memset(&counts, 0, sizeof(counts));
	ws_twotier_access(tiers, &run, &counts);
	is_within(all(counts.waits[2][WHOLE]), 2, 0, "without readahead it waits as others do");
	is_within(counts.cold[2][WHOLE], 1, 1e-12, "for one block");
}

/* Let pages from..to - 1 of a relation be simulated, and some of them be in cache [2][WHOLE]. */
static void
fill(uint32_t relation, uint32_t from, uint32_t to, double cached)
{
	for (uint32_t page = from; page < to; page++)
		look(tiers, page, relation, random_below(&seed, 1000) < cached * 1000 ? ALL : 1U << ws_tier_buffers[0], NULL);
}

/* The mean of what is cached of regions from..to - 1, */
static double
mean(uint32_t from, uint32_t to)
{
	double		sum = 0;

	for (uint32_t i = from; i < to; i++)
		sum += tiers->regions[i].cached[2][WHOLE];
	return sum / (to - from);
}

/* and the standard deviation. */
static double
spread(uint32_t from, uint32_t to)
{
	double		squares = 0;

	for (uint32_t i = from; i < to; i++)
		squares += pow(tiers->regions[i].cached[2][WHOLE] - mean(from, to), 2);
	return sqrt(squares / (to - from));
}

/* Three quarters of the first half of a table are cached, and a quarter of the second; half of another. */
static void
test_regions(void)
{
	double		held[3] = {0};
	float		first;

	begin_regions(2100, 4);
	seed = 11;
	fill(3, 0, 512, 0.75);
	fill(3, 512, 1024, 0.25);
	fill(4, 1024, 2048, 0.5);
	tiers->relations[0].blocks = 1024;
	/* blocks have the numbers of pages here, so half of them were not used */
	tiers->relations[1].blocks = 2048;
	ws_survey(tiers, sweep);
	first = tiers->regions[0].cached[2][WHOLE];
	ws_survey(tiers, sweep);
	ok(tiers->regions[0].cached[2][WHOLE] == first, "another survey finds the same");
	is_int(tiers->nregions, 32, "tables have as many regions as their pages allow");
	ok(tiers->regions[3].first == 192 && tiers->regions[3].pages == 64 && tiers->order[200] == tiers->page[200] &&
	   tiers->regions[3].block == 192 && tiers->regions[16].relation == 1,
	   "of pages that are next to each other");
	/* sqrt(p (1 - p) / 512), and half of that for two tables' halves; moved toward each other by less */
	is_within(mean(0, 8), 0.75, 4 * 0.019 + 0.02, "where three quarters are cached");
	is_within(mean(8, 16), 0.25, 4 * 0.019 + 0.02, "and where one is");
	is_within(mean(16, 32), 0.5, 4 * 0.016, "and, where a half of what was used is, that of these");
	/* by chance regions of 64 pages differ by 0.0625, so with 16 of them by 0.0625 / sqrt(32) more or less */
	ok(spread(16, 32) < 0.0625 / 2, "regions that differ by chance hardly differ (%.4f)", spread(16, 32));

	/* pages of the second half are missed, and some are read with others */
	miss(2, 3, 512, 1024, 1);
	/* more is missed where less is cached, so the mean is a little lower */
	is_within(counts.ahead[2][WHOLE] / all(counts.waits[2][WHOLE]), 4 * mean(8, 16), 0.1,
			  "what a miss reads ahead depends on its region");
	for (uint32_t page = 0; page < 2048; page++)
		held[page / 512 < 2 ? page / 512 : 2] += holds(tiers, 2, WHOLE, page);
	seed = 11;
	for (uint32_t page = 0; page < 512; page++)
		held[0] -= random_below(&seed, 1000) < 750;
	is_within(held[0], 0, 0, "nothing of the first half comes in with it");
	is_within(held[1], 512, 0, "but all of its own");

	/* a page that was not simulated reads as those next to it do */
	ws_twotier_forget(tiers, 100);
	miss(2, 3, 100, 101, 1);
	is_within(counts.ahead[2][WHOLE], 4 * tiers->regions[1].cached[2][WHOLE], 1e-6,
			  "a new page reads ahead as its region does");
	for (uint32_t page = 1024; page < 2048; page++)
		ws_twotier_forget(tiers, page);
	fill(5, 1024, 1100, 0);
	miss(2, 5, 1024, 1100, 1);
	is_within(blocks(&counts, 2, WHOLE), 76, 0, "one of another relation does not, up to the next survey");

	/* most pages of the first region go, and some of their numbers to other pages */
	for (uint32_t page = 1; page < 64; page++)
		ws_twotier_forget(tiers, page);
	fill(6, 2000, 2030, 0);
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
}

/* Of a table not all was used, here and there or only its end. */
static void
test_partly_used(void)
{
	double		raw = 0;

	begin_regions(2100, 4);
	seed = 12;
	resize(tiers, 0, 0.5, 8000.0 * BLOCK);
	/* blocks as pages: of 2,048 each second one is simulated, if it was used; a tenth was not */
	for (uint32_t page = 0; page < 2048; page++)
		if (random_below(&seed, 100) < 45)
			look(tiers, page, 3, random_below(&seed, 10) < 8 ? ALL : 1U << ws_tier_buffers[0], NULL);
	tiers->relations[0].blocks = 2048;
	ws_survey(tiers, sweep);
	/* counted in a span of blocks: sqrt(0.72 / 64) each */
	ok(spread(0, tiers->nregions) < 0.106 / 2, "regions of which not all was used differ by chance");
	/* sqrt(0.36 / 2048), and of the share */
	is_within(mean(0, tiers->nregions), 0.72, 4 * 0.02, "what was not used is not cached");
	/* by one standard error, sqrt(pages / 2) */
	tiers->relations[0].blocks = (uint32_t) (2 * (tiers->used + sqrt(tiers->used / 2)));
	ws_survey(tiers, sweep);
	is_within(mean(0, tiers->nregions), 0.8, 4 * 0.0135, "fewer pages by chance are all that there are");
	ok(tiers->regions[0].whole == tiers->regions[0].pages, "exactly");

	begin_regions(2100, 4);
	fill(3, 0, 1024, 1);
	tiers->relations[0].blocks = 1060;
	tiers->pages[tiers->page[1023]].block = 1059;
	ws_survey(tiers, sweep);
	ok(tiers->regions[15].cached[2][WHOLE] < 1, "but it is no chance if all pages are simulated");

	/* 0.6 and 0.4 of the halves: differences of 0.1 either way, and 0.061 by chance; 0.73 of the variance is theirs */
	begin_regions(2100, 4);
	fill(3, 0, 1024, 0.6);
	fill(3, 1024, 2048, 0.4);
	ws_survey(tiers, sweep);
	for (int i = 0; i < 32; i++)
	{
		double		held = 0;

		for (int j = 0; j < 64; j++)
			held += ws_pagecache_holds(tiers->cache[2][WHOLE], tiers->order[64 * i + j]);
		raw += pow(held / 64 - 0.5, 2) / 32;
	}
	is_within(spread(0, 32) / sqrt(raw), 0.73, 0.15, "a part of the variance is by chance");

	begin_regions(2100, 4);
	fill(3, 1600, 2000, 0.5);
	tiers->relations[0].blocks = 2000;
	ws_survey(tiers, sweep);
	is_int(tiers->nregions, 6, "of a table of which the end was used, that is divided");
	/* 0.0615 each, and that is known to 0.0615 / sqrt(12) */
	ok(spread(0, 6) < 0.0615 + 4 * 0.018 && fabs(mean(0, 6) - 0.5) < 4 * 0.025, "and cached as it is");
}

/*
 * Thousands of tables of so many simulated pages each, "hot" of those of the first
 * half in cache [2][WHOLE], and "cold" of the others.
 */
static void
begin_small(uint32_t tables, uint32_t pages, double hot, double cold)
{
	begin_regions(4100, 2);
	for (uint32_t t = 0; t < tables; t++)
		fill(10 + t, t * pages, (t + 1) * pages, t < tables / 2 ? hot : cold);
}

/* One page or two of a table say little about it. */
static void
test_small(void)
{
	uint32_t	before;

	seed = 13;
	begin_small(2000, 2, 0.5, 0.5);
	ws_survey(tiers, sweep);
	is_int(tiers->nregions, 2000, "each of 2,000 tables is a region");
	/* 0.35 by chance; how much of the variance that is, is known to sqrt(2 / 2000) */
	ok(spread(0, 2000) < 0.35 * 2 * sqrt(2.0 / 2000), "tables that differ by chance hardly differ");
	is_within(mean(0, 2000), 0.5, 4 * 0.0079, "they are cached as all of them");

	/* a variance of 0.16, and 0.045 by chance: 0.78 of a difference is its own */
	begin_small(2000, 2, 0.9, 0.1);
	ws_survey(tiers, sweep);
	is_within(mean(0, 1000), 0.5 + 0.78 * 0.4, 0.03, "where tables differ, each is moved toward the mean of all");
	is_within(mean(1000, 2000), 0.5 - 0.78 * 0.4, 0.03, "from below, too");

	/* all but 40 of 60 pages are of tables that are cached; 10000 blocks of one more were not used */
	begin_small(1000, 3, 0.9, 0.5);
	fill(9, 3000, 3060, 0.3);
	for (uint32_t i = 0; i <= 1000; i++)
		tiers->relations[i].blocks = i < 1000 ? 3 : 10000;
	ws_survey(tiers, sweep);
	is_within(mean(0, 1000), 0.7, 4 * 0.01, "a table of which little is used is one of them, however large it is");
	ok(mean(1000, 1001) < 0.01, "and is cached as it is (%.4f)", mean(1000, 1001));

	/* every tenth block is simulated, if it was used: one of two, and some tables have none */
	begin_small(2000, 1, 0.5, 0.5);
	resize(tiers, 0, 0.1, 80000.0 * BLOCK);
	for (uint32_t i = 0; i < 2000; i++)
		tiers->relations[i].blocks = 20;
	ws_survey(tiers, sweep);
	/* 2 of each, or 2.28 of one that has any */
	is_within(mean(0, 2000), 0.5 / 2.277, 4 * 0.005, "small tables that are used in part have parts that are not cached");
	for (uint32_t i = 0; i < 2000; i++)
		tiers->relations[i].blocks = 1;
	ws_survey(tiers, sweep);
	is_within(mean(0, 2000), 0.5, 4 * 0.0112, "of others the share is that of what was used");

	/* what a table lacks is none of its one page */
	begin_small(4000, 1, 0.25, 0.25);
	ws_survey(tiers, sweep);
	before = tiers->cache[2][WHOLE]->held[0];
	for (uint32_t page = 0; page < 1000; page++)
		look(tiers, page, 10 + page, 1U << ws_tier_buffers[2], &counts);
	ok(counts.ahead[2][WHOLE] > 200, "misses of small tables read ahead");
	is_within(tiers->cache[2][WHOLE]->held[0] + tiers->cache[2][WHOLE]->held[1] - before, blocks(&counts, 2, WHOLE), 1.01,
			  "pages of such tables");
}

int
main(void)
{
	plan(51);
	test_twice();
	test_readahead();
	test_regions();
	test_partly_used();
	test_small();
	return done();
}
