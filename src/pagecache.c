/*
 * pagecache.c
 *		A miniature of the kernel's page cache; see pagecache.h.
 */
#include "pagecache.h"

#include <math.h>
#include <string.h>

/* What is known of a page that is held; else its state is an age, or 0. */
#define HELD			(UINT32_C(1) << 31)
#define ACTIVE			(UINT32_C(1) << 30)
#define REFERENCED		(UINT32_C(1) << 29)
#define AGES			(UINT32_C(1) << 31)

/* Blocks that the kernel reclaims at a time: 32 of its pages of 4 kB. */
#define RECLAIM_BATCH	16

#define REFAULTS_FOLLOW	(1 / 64.0)

enum
{
	INACTIVE_LIST,
	ACTIVE_LIST
};

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
		cache->pages[pages + list].next = cache->pages[pages + list].prev = (uint16_t) (pages + list);
}

static void
grow_older(WsPageCache *cache)
{
	cache->age = cache->age + 1 < AGES ? cache->age + 1 : 1;
}

/* Put a page at the head of a list. */
static void
put(WsPageCache *cache, uint32_t page, int list)
{
	WsPageCachePage *head = &cache->pages[cache->npages + list];

	cache->pages[page].prev = (uint16_t) (cache->npages + list);
	cache->pages[page].next = head->next;
	cache->pages[head->next].prev = (uint16_t) page;
	head->next = (uint16_t) page;
	cache->held[list]++;
	cache->pages[page].state |= HELD;
	if (list == ACTIVE_LIST)
		cache->pages[page].state |= ACTIVE;
}

/* Take it off its list. */
static void
take(WsPageCache *cache, uint32_t page)
{
	WsPageCachePage *p = &cache->pages[page];

	cache->pages[p->prev].next = p->next;
	cache->pages[p->next].prev = p->prev;
	cache->held[p->state & ACTIVE ? ACTIVE_LIST : INACTIVE_LIST]--;
	p->state &= ~(HELD | ACTIVE);
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
	double		chance = 1 - pow(1 - fmin(cache->refaults, 1), RECLAIM_BATCH);

	if (!inactive_is_low(cache))
		cache->owed += chance * cache->held[ACTIVE_LIST] / cache->held[INACTIVE_LIST];
	for (; cache->owed >= 1 || inactive_is_low(cache); cache->owed = fmax(cache->owed - 1, 0))
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
	cache->pages[tail].state = cache->age;
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
ws_pagecache_resize(WsPageCache *cache, double pages, double bytes)
{
	double		gigabytes = floor(bytes / (1 << 30));

	cache->capacity = (uint32_t) fmin(fmax(rint(pages), 1), cache->npages);
	cache->ratio = gigabytes < 1 ? 1 : (uint32_t) sqrt(10 * gigabytes);
	evict_for(cache, 0);
}

/* Bring in a page that is not there: an active one if it should have stayed. */
static void
bring_in(WsPageCache *cache, uint32_t page)
{
	uint32_t	evicted = cache->pages[page].state;
	bool		refault = evicted != 0 &&
		((cache->age - evicted) & (AGES - 1)) <= cache->held[ACTIVE_LIST];

	evict_for(cache, 1);
	cache->pages[page].state = 0;
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
	bool		held = (p->state & HELD) != 0;

	if (!held)
		bring_in(cache, page);
	else if ((p->state & (REFERENCED | ACTIVE)) == REFERENCED)
	{
		take(cache, page);
		p->state = 0;
		put(cache, page, ACTIVE_LIST);
		grow_older(cache);
		return held;
	}
	p->state |= REFERENCED;
	return held;
}

void
ws_pagecache_ahead(WsPageCache *cache, uint32_t page)
{
	if (!(cache->pages[page].state & HELD))
		bring_in(cache, page);
}

void
ws_pagecache_write(WsPageCache *cache, uint32_t page)
{
	if (cache->pages[page].state & HELD)
		return;
	cache->pages[page].state = 0;
	bring_in(cache, page);
}

void
ws_pagecache_forget(WsPageCache *cache, uint32_t page)
{
	if (cache->pages[page].state & HELD)
		take(cache, page);
	cache->pages[page].state = 0;
}

bool
ws_pagecache_holds(const WsPageCache *cache, uint32_t page)
{
	return (cache->pages[page].state & HELD) != 0;
}
