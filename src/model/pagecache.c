/*
 * pagecache.c
 *		A miniature of the kernel's page cache; see pagecache.h.
 */
#include "pagecache.h"

#include <math.h>
#include <string.h>

/* Halves of an age. */
#define LINK_BITS		14
#define LINK_MASK		((1 << LINK_BITS) - 1)
#define AGES			(UINT32_C(1) << 2 * LINK_BITS)

/*
 * Blocks that the kernel reclaims at a time (32 of its pages of 4 kB); one
 * eviction makes no more inactive.
 */
#define RECLAIM_BATCH	16

#define REFAULTS_FOLLOW	(1 / 64.0)
#define MOSTLY_FULL		(15 / 16.0)

/*
 * Where reclaim is late, the refault distance may exceed the active list by
 * this part of the cache.
 */
#define DISTANCE_SLACK	(1 / 16.0)

enum
{
	INACTIVE_LIST,
	ACTIVE_LIST
};

_Static_assert(sizeof(WsPageCachePage) == sizeof(uint32_t), "a page is one word");
_Static_assert(WS_PAGECACHE_PAGES_MAX + 2 <= LINK_MASK, "links lead to all pages and heads");

size_t
ws_pagecache_size(uint32_t pages)
{
	return sizeof(WsPageCache) + (pages + 2) * sizeof(WsPageCachePage);
}

void
ws_pagecache_init(WsPageCache *cache, uint32_t pages)
{
	memset(cache, 0, ws_pagecache_size(pages));
	cache->npages = pages;
	cache->ratio = 1;
	cache->age = 1;
	for (uint32_t list = INACTIVE_LIST; list <= ACTIVE_LIST; list++)
		cache->pages[pages + list].next = cache->pages[pages + list].prev = (pages + list) & LINK_MASK;
}

static void
grow_older(WsPageCache *cache)
{
	cache->age = cache->age + 1 < AGES ? cache->age + 1 : 1;
}

/* The page is not held, and was evicted at this age; 0: never. */
static void
set_age(WsPageCachePage *page, uint32_t age)
{
	memset(page, 0, sizeof(*page));
	page->next = age & LINK_MASK;
	page->prev = age >> LINK_BITS & LINK_MASK;
}

static uint32_t
age_of(const WsPageCachePage *page)
{
	return page->prev << LINK_BITS | page->next;
}

/* Put a page at the head of a list. */
static void
put(WsPageCache *cache, uint32_t page, int list)
{
	WsPageCachePage *p = &cache->pages[page];
	WsPageCachePage *head = &cache->pages[cache->npages + list];

	p->prev = (cache->npages + list) & LINK_MASK;
	p->next = head->next;
	cache->pages[head->next].prev = page & LINK_MASK;
	head->next = page & LINK_MASK;
	cache->held[list]++;
	p->held = true;
	p->active = list == ACTIVE_LIST;
}

/* Take it off its list. */
static void
take(WsPageCache *cache, uint32_t page)
{
	WsPageCachePage *p = &cache->pages[page];

	cache->pages[p->prev].next = p->next;
	cache->pages[p->next].prev = p->prev;
	cache->held[p->active ? ACTIVE_LIST : INACTIVE_LIST]--;
	p->held = p->active = false;
}

static bool
inactive_is_low(const WsPageCache *cache)
{
	return cache->held[INACTIVE_LIST] * (double) cache->ratio < cache->held[ACTIVE_LIST];
}

/*
 * Move pages from the active list to the inactive one as reclaim does.  It
 * looks for refaults once in a batch.
 */
static void
deactivate(WsPageCache *cache)
{
	double		each = fmin(cache->held[ACTIVE_LIST] / fmax(cache->held[INACTIVE_LIST], 1), RECLAIM_BATCH);

	if (inactive_is_low(cache))
		cache->owed += each;
	else if (!cache->late)
		cache->owed += each * (1 - pow(1 - fmin(cache->refaults, 1), RECLAIM_BATCH));
	for (; cache->owed >= 1 && cache->held[ACTIVE_LIST] > 0; cache->owed--)
	{
		uint32_t	tail = cache->pages[cache->npages + ACTIVE_LIST].prev;

		take(cache, tail);
		put(cache, tail, INACTIVE_LIST);
	}
}

static void
evict(WsPageCache *cache)
{
	uint32_t	tail;

	deactivate(cache);
	tail = cache->pages[cache->npages + INACTIVE_LIST].prev;
	take(cache, tail);
	set_age(&cache->pages[tail], cache->age);
	grow_older(cache);
	cache->refaults -= REFAULTS_FOLLOW * cache->refaults;
}

static void
evict_for(WsPageCache *cache, uint32_t pages)
{
	while (cache->held[INACTIVE_LIST] + cache->held[ACTIVE_LIST] + pages > cache->capacity &&
		   cache->held[INACTIVE_LIST] + cache->held[ACTIVE_LIST] > 0)
		evict(cache);
}

void
ws_pagecache_resize(WsPageCache *cache, double pages, double bytes, bool late)
{
	double		gigabytes = floor(bytes / (1 << 30));

	cache->wanted = fmax(rint(pages), 1);
	cache->capacity = (uint32_t) fmin(cache->wanted, cache->npages);
	cache->ratio = gigabytes < 1 ? 1 : (uint32_t) sqrt(10 * gigabytes);
	cache->late = late;
	evict_for(cache, 0);
}

/* Bring in a page that is not there: an active one if it should have stayed. */
static void
bring_in(WsPageCache *cache, uint32_t page)
{
	uint32_t	evicted = age_of(&cache->pages[page]);
	double		most = cache->held[ACTIVE_LIST] + (cache->late ? DISTANCE_SLACK * cache->capacity : 0);
	bool		refault = evicted != 0 && ((cache->age - evicted) & (AGES - 1)) <= most;

	evict_for(cache, 1);
	set_age(&cache->pages[page], 0);
	put(cache, page, refault ? ACTIVE_LIST : INACTIVE_LIST);
	if (refault)
	{
		grow_older(cache);
		cache->refaults += REFAULTS_FOLLOW;
	}
}

bool
ws_pagecache_use(WsPageCache *cache, uint32_t page)
{
	WsPageCachePage *p = &cache->pages[page];
	bool		held = p->held;

	if (!held)
		bring_in(cache, page);
	else if (p->referenced && !p->active)
	{
		take(cache, page);
		p->referenced = false;
		put(cache, page, ACTIVE_LIST);
		grow_older(cache);
		return held;
	}
	p->referenced = true;
	return held;
}

void
ws_pagecache_ahead(WsPageCache *cache, uint32_t page)
{
	if (!cache->pages[page].held)
		bring_in(cache, page);
}

void
ws_pagecache_write(WsPageCache *cache, uint32_t page)
{
	if (cache->pages[page].held)
		return;
	set_age(&cache->pages[page], 0);
	bring_in(cache, page);
}

void
ws_pagecache_forget(WsPageCache *cache, uint32_t page)
{
	if (cache->pages[page].held)
		take(cache, page);
	set_age(&cache->pages[page], 0);
}

bool
ws_pagecache_is_cold(const WsPageCache *cache)
{
	return cache->held[INACTIVE_LIST] + cache->held[ACTIVE_LIST] < cache->wanted * MOSTLY_FULL;
}

bool
ws_pagecache_holds(const WsPageCache *cache, uint32_t page)
{
	return cache->pages[page].held;
}
