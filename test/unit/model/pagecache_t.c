/*
 * pagecache_t.c
 *		Tests of the miniature page cache: against a naive one, operation by
 *		operation.  That a sample of the pages says what all say is in twotier_t.
 */
#include "tap.h"
#include "pagecache.h"
#include "traces.h"

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
	int			wanted;
	int			capacity;		/* as many, or all pages */
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

static int
naive_take(Naive *c, int list, int i)
{
	int			page = c->list[list][i];

	c->n[list]--;
	memmove(&c->list[list][i], &c->list[list][i + 1], (c->n[list] - i) * sizeof(int));
	return page;
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
	double		each = fmin((double) c->n[1] / (c->n[0] > 0 ? c->n[0] : 1), 16);

	if (c->n[0] * c->ratio < c->n[1])
		c->owed += each;
	else if (!c->late)
		c->owed += (1 - pow(1 - c->lately, 16)) * each;
	while (c->owed >= 1 && c->n[1] > 0)
	{
		naive_put(c, 0, naive_take(c, 1, c->n[1] - 1));
		c->owed--;
	}
	c->evicted[naive_take(c, 0, c->n[0] - 1)] = c->age++;
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
			naive_put(c, 1, naive_take(c, 0, i));
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
		(void) naive_take(c, list, i);
	c->evicted[page] = 0;
	c->referenced[page] = false;
}

/* both hold the same pages, and with 15 of 16 that it should have a cache is full */
static bool
agree(const Naive *naive, const WsPageCache *cache)
{
	int			list;

	for (int page = 0; page < NAIVE_PAGES; page++)
		if (ws_pagecache_holds(cache, page) != (naive_where(naive, page, &list) >= 0))
			return false;
	return naive->n[0] == (int) cache->held[0] && naive->n[1] == (int) cache->held[1] &&
		ws_pagecache_is_cold(cache) == ((naive->n[0] + naive->n[1]) * 16 < naive->wanted * 15);
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
			/* at times there is room for one page */
			naive.wanted = 1 + (int) random_below(&seed, i / 3000 % 4 == 1 ? 1 : NAIVE_PAGES + 20);
			naive.capacity = naive.wanted < NAIVE_PAGES ? naive.wanted : NAIVE_PAGES;
			naive_shrink(&naive, naive.capacity);
			ws_pagecache_resize(cache, naive.wanted + ((int) (what % 3) - 1) * 0.4, bytes, late);
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
		else if (what < 130)
		{
			/* however soon it comes back, it is not active */
			naive.evicted[page] = 0;
			(void) naive_use(&naive, page, false);
			ws_pagecache_write(cache, page);
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

/* ---- the kernel's table */

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
	static const struct
	{
		double		gigabytes;
		uint32_t	most;		/* of a thousand pages, */
		uint32_t	missing;	/* less than so many */
	}			cases[] = {{0, 500, 1}, {0.9, 500, 1}, {1, 750, 3}, {10, 909, 10}, {100, 968, 16}};

	for (int i = 0; i < 5; i++)
	{
		uint32_t	active = stays_active(cases[i].gigabytes * GB);

		ok(active <= cases[i].most && active > cases[i].most - cases[i].missing, "of %g GB %u of 1000 pages may be active",
		   cases[i].gigabytes, cases[i].most);
	}
}

int
main(void)
{
	plan(13);
	test_naive(seeded(1), 0, 1, false, "small");
	test_naive(seeded(2), 10 * GB, 10, false, "as of ten gigabytes");
	test_naive(seeded(3), 0, 1, true, "small, reclaim is late");
	test_naive(seeded(4), 10 * GB, 10, true, "as of ten gigabytes, reclaim is late");
	test_ratio();
	return done();
}
