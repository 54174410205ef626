/*
 * pagecache_t.c
 *		Tests of the miniature page cache: against a naive one, operation by
 *		operation; by hand, where the kernel's rules decide; and within the error
 *		of sampling where it sees some of the pages.
 */
#include "tap.h"
#include "pagecache.h"
#include "traces.h"

#define K_SIGMA	5
#define GB		1073741824.0

static WsPageCache *
new_cache(uint32_t pages, double capacity)
{
	WsPageCache *cache = aligned_memory(ws_pagecache_size(pages));

	ws_pagecache_init(cache, pages);
	ws_pagecache_resize(cache, capacity, 0, false);
	return cache;
}

/* ---- a naive one: lists are arrays, the head first; ages are 64 bits long */

#define NAIVE_PAGES 300

typedef struct Naive
{
	int			list[2][NAIVE_PAGES];	/* inactive, active */
	int			n[2];
	int			capacity;
	double		ratio;
	int64_t		age;
	int64_t		evicted[NAIVE_PAGES];	/* 0: never */
	bool		referenced[NAIVE_PAGES];
	bool		late;
	int			refaults;		/* so far, */
	double		lately;			/* and for each evicted page */
	double		owed;
} Naive;

static int
naive_where(const Naive *c, int page, int *list)
{
	for (*list = 0; *list < 2; ++*list)
		for (int i = 0; i < c->n[*list]; i++)
			if (c->list[*list][i] == page)
				return i;
	return -1;
}

static void
naive_take(Naive *c, int list, int i)
{
	c->n[list]--;
	memmove(&c->list[list][i], &c->list[list][i + 1], (c->n[list] - i) * sizeof(int));
}

static void
naive_put(Naive *c, int list, int page)
{
	memmove(&c->list[list][1], &c->list[list][0], c->n[list] * sizeof(int));
	c->list[list][0] = page;
	c->n[list]++;
}

static void
naive_evict(Naive *c)
{
	int			page;
	double		each = fmin((double) c->n[1] / (c->n[0] > 0 ? c->n[0] : 1), 16);

	if (c->n[0] * c->ratio < c->n[1])
		c->owed += each;
	else if (!c->late)
		c->owed += (1 - pow(1 - c->lately, 16)) * each;
	while (c->owed >= 1 && c->n[1] > 0)
	{
		page = c->list[1][c->n[1] - 1];
		naive_take(c, 1, c->n[1] - 1);
		naive_put(c, 0, page);
		c->owed--;
	}
	page = c->list[0][c->n[0] - 1];
	naive_take(c, 0, c->n[0] - 1);
	c->evicted[page] = c->age++;
	c->lately -= c->lately / 64;
}

static void
naive_shrink(Naive *c, int most)
{
	while (c->n[0] + c->n[1] > most && c->n[0] + c->n[1] > 0)
		naive_evict(c);
}

static bool
naive_use(Naive *c, int page, bool asked)
{
	int			list;
	int			i = naive_where(c, page, &list);

	if (i >= 0)
	{
		if (asked && list == 0 && c->referenced[page])
		{
			naive_take(c, 0, i);
			naive_put(c, 1, page);
			c->referenced[page] = false;
			c->age++;
		}
		else if (asked)
			c->referenced[page] = true;
		return true;
	}
	list = c->evicted[page] != 0 && c->age - c->evicted[page] <= c->n[1] + (c->late ? c->capacity / 16.0 : 0);
	naive_shrink(c, c->capacity - 1);
	naive_put(c, list, page);
	c->age += list;
	c->refaults += list;
	c->lately += list / 64.0;
	c->referenced[page] = asked;
	c->evicted[page] = 0;
	return false;
}

static void
naive_forget(Naive *c, int page)
{
	int			list;
	int			i = naive_where(c, page, &list);

	if (i >= 0)
		naive_take(c, list, i);
	c->evicted[page] = 0;
	c->referenced[page] = false;
}

/* both hold the same pages */
static bool
agree(const Naive *naive, const WsPageCache *cache)
{
	int			list;

	for (int page = 0; page < NAIVE_PAGES; page++)
		if (ws_pagecache_holds(cache, page) != (naive_where(naive, page, &list) >= 0))
			return false;
	return naive->n[0] == (int) cache->held[0] && naive->n[1] == (int) cache->held[1];
}

/*
 * Zipf's law, of a set that moves, in bursts; sizes change, pages go.  The
 * size in bytes makes the active list up to ten times as long.
 */
static void
test_naive(uint64_t seed, double bytes, double ratio, bool late, const char *name)
{
	static Naive naive;
	WsPageCache *cache = new_cache(NAIVE_PAGES, 0);
	Zipf	   *zipf = zipf_new(NAIVE_PAGES, 0.8);
	bool		same = true;
	int			hits = 0;

	memset(&naive, 0, sizeof(naive));
	naive.age = 1;
	naive.ratio = ratio;
	naive.late = late;
	for (int i = 0; i < 60000 && same; i++)
	{
		uint32_t	page = (zipf_draw(zipf, &seed) + i / 5000 * 20) % NAIVE_PAGES;
		uint32_t	what = random_below(&seed, 1000);

		if (i % 3000 == 0)
		{
			naive.capacity = 1 + (int) random_below(&seed, NAIVE_PAGES + 20);
			if (naive.capacity > NAIVE_PAGES)
				naive.capacity = NAIVE_PAGES;
			naive_shrink(&naive, naive.capacity);
			ws_pagecache_resize(cache, naive.capacity + (int) (what % 3 - 1) * 0.4, bytes, late);
		}
		if (what < 20)
		{
			naive_forget(&naive, page);
			ws_pagecache_forget(cache, page);
		}
		else if (what < 100)
		{
			(void) naive_use(&naive, page, false);
			ws_pagecache_ahead(cache, page);
		}
		else
		{
			bool		hit = naive_use(&naive, page, true);

			hits += hit;
			same = ws_pagecache_use(cache, page) == hit;
		}
		same = same && (i % 10 != 0 || agree(&naive, cache));
		if (!same)
			diag("they differ at operation %d", i);
	}
	ok(same, "%s: as a naive one does", name);
	ok(hits > 10000 && hits < 50000 && naive.refaults > 1000, "where much is hit, and much comes back (%d, %d)",
	   hits, naive.refaults);
	zipf_free(zipf);
	free(cache);
}

/* ---- by hand */

static void
test_rules(void)
{
	WsPageCache *cache = new_cache(1000, 100);
	int			hits = 0;

	for (uint32_t i = 0; i < 100; i++)
		hits += ws_pagecache_use(cache, i);
	is_int(hits, 0, "a page that comes in is not there");
	for (uint32_t i = 0; i < 50; i++)
		hits += ws_pagecache_use(cache, i);
	is_int(hits, 50, "one that was used is");
	is_int(cache->held[1], 50, "and is active when it was used again");

	for (uint32_t i = 100; i < 1000; i++)
		(void) ws_pagecache_use(cache, i);
	hits = 0;
	for (uint32_t i = 0; i < 50; i++)
		hits += ws_pagecache_holds(cache, i);
	is_int(hits, 50, "pages that are used once do not evict active ones");
	hits = 0;
	for (uint32_t i = 950; i < 1000; i++)
		hits += ws_pagecache_holds(cache, i);
	is_int(hits, 50, "but each other, the oldest first");

	/* 950 others were evicted since page 50, 51 with page 948 included */
	(void) ws_pagecache_use(cache, 50);
	is_int(cache->held[1], 50, "one that comes back late is used for the first time");
	for (uint32_t i = 51; i < 100; i++)
		ws_pagecache_ahead(cache, i);
	is_int(cache->held[1], 50, "and so is one that is read ahead");
	ok(ws_pagecache_use(cache, 60), "which is there when it is asked for");
	is_int(cache->held[1], 50, "but that is its first use");
	(void) ws_pagecache_use(cache, 60);
	is_int(cache->held[1], 51, "and the next one makes it active");
	ws_pagecache_forget(cache, 60);
	ok(!ws_pagecache_holds(cache, 60), "a page that is forgotten is gone");
	is_int(cache->held[1], 50, "from its list");

	/* page 999 was evicted last */
	ok(!ws_pagecache_holds(cache, 999), "what is read ahead evicts others");
	ws_pagecache_write(cache, 999);
	ok(ws_pagecache_holds(cache, 999) && cache->held[1] == 50,
	   "one that is written is there, but not active, however soon it comes back");
	ws_pagecache_write(cache, 999);
	ws_pagecache_write(cache, 999);
	is_int(cache->held[1], 50, "nor after more writes");
	(void) ws_pagecache_use(cache, 999);
	is_int(cache->held[1], 50, "nor when it is read for the first time");
	(void) ws_pagecache_use(cache, 999);
	is_int(cache->held[1], 51, "but by the second read");
	free(cache);
}

/* room for one page, which is active */
static void
test_smallest(void)
{
	WsPageCache *cache = new_cache(2, 1);

	(void) ws_pagecache_use(cache, 0);
	(void) ws_pagecache_use(cache, 0);
	(void) ws_pagecache_use(cache, 1);
	ok(ws_pagecache_holds(cache, 1) && !ws_pagecache_holds(cache, 0) && cache->held[0] == 1 &&
	   cache->held[1] == 0, "the only page is evicted, though it is active");
	free(cache);
}

/* A cache is full with 15 of 16 pages; one that is larger than all pages never is. */
static void
test_cold(void)
{
	WsPageCache *cache = new_cache(32, 16);

	for (uint32_t page = 0; page < 14; page++)
		(void) ws_pagecache_use(cache, page);
	ok(ws_pagecache_is_cold(cache), "an eighth of a cache is empty");
	ws_pagecache_ahead(cache, 14);
	ok(!ws_pagecache_is_cold(cache), "a sixteenth may be");
	ws_pagecache_resize(cache, 40, 0, false);
	for (uint32_t page = 0; page < 32; page++)
		(void) ws_pagecache_use(cache, page);
	ok(cache->held[0] + cache->held[1] == 32 && ws_pagecache_is_cold(cache), "all pages do not fill a larger cache");
	ws_pagecache_resize(cache, 2.4, 0, false);
	ok(!ws_pagecache_is_cold(cache), "a small one is full with as many pages as it may have");
	free(cache);
}

/* Evict page 0, then as many others, and use it again: is it active at once? */
static bool
comes_back_active(uint32_t active, uint32_t others, bool late)
{
	WsPageCache *cache = new_cache(1000, 100);
	bool		result;

	ws_pagecache_resize(cache, 100, 0, late);
	for (uint32_t i = 500; i < 500 + active; i++)
	{
		(void) ws_pagecache_use(cache, i);
		(void) ws_pagecache_use(cache, i);
	}
	for (uint32_t i = 0; cache->held[0] + cache->held[1] < 100; i++)
		(void) ws_pagecache_use(cache, i);
	(void) ws_pagecache_use(cache, 300);	/* evicts page 0 */
	for (uint32_t i = 301; i < 301 + others; i++)
		(void) ws_pagecache_use(cache, i);
	(void) ws_pagecache_use(cache, 0);
	result = cache->held[1] == active + 1;
	free(cache);
	return result;
}

static void
test_refault(void)
{
	ok(comes_back_active(30, 29, false), "a page that comes back as soon as the active list is long is active");
	ok(!comes_back_active(30, 30, false), "but not one that comes back later");
	ok(comes_back_active(20, 19, false) && !comes_back_active(20, 20, false), "and so with another length");
	/* a sixteenth of the cache, which has 100 pages */
	ok(comes_back_active(30, 35, true) && !comes_back_active(30, 36, true) &&
	   comes_back_active(0, 5, true) && !comes_back_active(0, 6, true),
	   "where reclaim is late, a little later, and though no page is active yet");
}

/* pages that are used again and again, then as many others: who stays? */
static uint32_t
stays_active(double bytes)
{
	WsPageCache *cache = new_cache(4000, 1000);
	uint32_t	active;

	ws_pagecache_resize(cache, 1000, bytes, true);
	for (int n = 0; n < 3; n++)
		for (uint32_t i = 0; i < 1000; i++)
			(void) ws_pagecache_use(cache, i);
	for (uint32_t i = 1000; i < 4000; i++)
		(void) ws_pagecache_use(cache, i);
	active = cache->held[1];
	free(cache);
	return active;
}

/* the kernel's own table: of 1 GB three quarters may be active, of 10 GB ten elevenths */
static void
test_ratio(void)
{
	/* one eviction at the bound moves active / inactive pages, 16 at most: no more are missing */
	ok(stays_active(0) == 500, "half of a small cache may be active");
	ok(stays_active(0.9 * GB) == 500, "and of one below a gigabyte");
	ok(stays_active(1 * GB) <= 750 && stays_active(1 * GB) > 750 - 3, "three quarters of a gigabyte");
	ok(stays_active(10 * GB) <= 909 && stays_active(10 * GB) > 909 - 10, "ten elevenths of ten");
	ok(stays_active(100 * GB) <= 968 && stays_active(100 * GB) > 968 - 16, "31 of 32 parts of a hundred");
}

/* A loop over more pages than fit; each miss also reads a random page ahead. */
static uint32_t
active_in_loop(bool late)
{
	uint32_t	pages = 1200;
	WsPageCache *cache = new_cache(pages, 0);
	uint64_t	seed = seeded(6);
	uint32_t	active;

	ws_pagecache_resize(cache, 800, 0, late);
	for (uint32_t i = 0; i < 40 * pages; i++)
		if (!ws_pagecache_use(cache, i % pages))
			ws_pagecache_ahead(cache, random_below(&seed, pages));
	active = cache->held[1];
	free(cache);
	return active;
}

static void
test_loop(void)
{
	is_within(active_in_loop(true), 400, 4,
			  "pages that come back soon fill the active list, which was empty, where reclaim is late");
	is_int(active_in_loop(false), 0, "and where it is not, none comes back soon enough");
}

/* ---- sampled */

/*
 * The share of uses of a Zipf distribution that are misses, found from pages
 * that are sampled at a rate.  Misses are counted, and not hits: those are of
 * few pages, which are in the sample or not.
 */
static double
sampled_misses(uint32_t pages, double capacity, double rate, uint64_t seed)
{
	Zipf	   *zipf = zipf_new(pages, 0.9);
	uint32_t   *number = zeroed(pages, sizeof(uint32_t));
	uint32_t	n = 0;
	WsPageCache *cache;
	double		misses = 0;

	for (uint32_t i = 0; i < pages; i++)
		number[i] = page_hash((uint32_t) seed, i) < rate * 0x1p32 ? n++ : NO_PAGE;
	cache = new_cache(n, capacity * rate);
	for (int64_t i = 0; i < 40 * (int64_t) pages; i++)
	{
		uint32_t	page = number[zipf_draw(zipf, &seed)];

		if (page != NO_PAGE)
			misses += !ws_pagecache_use(cache, page) && i >= 20 * (int64_t) pages;
	}
	free(number);
	zipf_free(zipf);
	free(cache);
	return misses / (20.0 * pages * rate);
}

static void
test_sampled(void)
{
	double		all = sampled_misses(15000, 4500, 1, seeded(1));
	double		sum = 0;
	double		squares = 0;

	for (uint64_t seed = 11; seed < 27; seed++)
	{
		double		off = sampled_misses(15000, 4500, 0.1, seeded(seed)) - all;

		sum += off;
		squares += off * off;
	}
	/* the standard error of a mean of 16 */
	ok(fabs(sum / 16) < student(K_SIGMA, 16) * sqrt(squares / 16 / 15) && fabs(sum / 16) < 0.015,
	   "a tenth of the pages miss as all do, %.4f (%+.4f, one sample is off by %.4f)",
	   all, sum / 16, sqrt(squares / 16));
	ok(all > 0.1 && all < 0.7, "which is no extreme case");
}

int
main(void)
{
	plan(43);
	test_naive(seeded(1), 0, 1, false, "small");
	test_naive(seeded(2), 10 * GB, 10, false, "as of ten gigabytes");
	test_naive(seeded(3), 0, 1, true, "small, reclaim is late");
	test_naive(seeded(4), 10 * GB, 10, true, "as of ten gigabytes, reclaim is late");
	test_rules();
	test_smallest();
	test_cold();
	test_refault();
	test_ratio();
	test_loop();
	test_sampled();
	return done();
}
