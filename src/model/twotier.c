/*
 * twotier.c
 *		Page caches behind the sweeps; see twotier.h.
 */
#include "twotier.h"

#include <math.h>
#include <string.h>

#define NO_PAGE			UINT16_MAX
#define NO_STRATUM		UINT8_MAX	/* of a slot that is free */

#define TRIES			32		/* to find a page to read ahead */

const int	ws_tier_buffers[WS_TIER_BUFFERS] = {3, 6, 9, 12, 15, 17, 19, 20};
const double ws_tier_caches[WS_TIER_CACHES] = {
	1 / 16.0, 1 / 8.0, 3 / 16.0, 1 / 4.0, 3 / 8.0, 1 / 2.0, 3 / 4.0, 1, 1.5, 2, 3, 4
};

static size_t
offset_of_caches(uint32_t entries)
{
	return (sizeof(WsTwoTier) + entries * sizeof(uint16_t) + 63) / 64 * 64;
}

static size_t
cache_size(void)
{
	return (ws_pagecache_size(WS_TIER_PAGES + WS_TIER_WAL) + 63) / 64 * 64;
}

size_t
ws_twotier_size(uint32_t entries)
{
	return offset_of_caches(entries) + WS_TIER_BUFFERS * WS_TIER_CACHES * cache_size();
}

/* The page is free, and "next" is the next that is. */
static void
give_back(WsTwoTier *tiers, uint32_t page, uint32_t next)
{
	tiers->pages[page].stratum = NO_STRATUM;
	tiers->pages[page].entry = (uint16_t) next;
	tiers->free = page;
}

void
ws_twotier_init(WsTwoTier *tiers, uint32_t entries, uint32_t block_bytes)
{
	char	   *next = (char *) tiers + offset_of_caches(entries);

	memset(tiers, 0, offsetof(WsTwoTier, relations));
	memset(tiers->page, 0xFF, entries * sizeof(uint16_t));
	for (uint32_t i = 0; i < WS_TIER_PAGES; i++)
		give_back(tiers, i, i + 1);
	tiers->free = 0;
	tiers->block_bytes = block_bytes;
	tiers->seed = WS_RANDOM_SEED;
	tiers->readahead.waits = tiers->readahead.ahead = 1;
	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
		tiers->readahead.blocks[i] = 1;
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++, next += cache_size())
		{
			tiers->only[b][c] = NAN;
			tiers->cache[b][c] = (WsPageCache *) next;
			ws_pagecache_init(tiers->cache[b][c], WS_TIER_PAGES + WS_TIER_WAL);
		}
}

/* No page cache holds the page. */
static void
drop(WsTwoTier *tiers, uint32_t page)
{
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
			ws_pagecache_forget(tiers->cache[b][c], page);
}

/* What leads to a relation's entry: its number + 1; or 0, where it belongs. */
static uint16_t *
find_link(WsTwoTier *tiers, const WsPageId *id)
{
	uint32_t	hash = id->relation * WS_MIX_A ^ id->database * WS_MIX_B ^
		(id->tablespace + (uint32_t) id->fork) * WS_MIX_C;
	uint16_t   *link = &tiers->heads[(hash ^ hash >> 15) % WS_TIER_HEADS];

	while (*link != 0 && memcmp(&tiers->relations[*link - 1].id, id, offsetof(WsPageId, block)) != 0)
		link = &tiers->relations[*link - 1].chained;
	return link;
}

static void
forget(WsTwoTier *tiers, uint32_t page)
{
	WsTierPage *p = &tiers->pages[page];
	WsTierRelation *relation = &tiers->relations[p->relation];

	drop(tiers, page);
	if (--relation->pages == 0)
	{
		*find_link(tiers, &relation->id) = relation->chained;
		relation->chained = tiers->free_relation;
		tiers->free_relation = p->relation + 1;
	}
	tiers->page[p->entry] = NO_PAGE;
	give_back(tiers, page, tiers->free);
	tiers->used--;
}

static void
resize_caches(WsTwoTier *tiers)
{
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			double		size = tiers->bytes * ws_tier_caches[c];

			ws_pagecache_resize(tiers->cache[b][c], size / tiers->block_bytes * tiers->rate, size, tiers->late);
		}
}

/* Let there be at most so many pages of WAL. */
static void
shrink_wal(WsTwoTier *tiers, uint32_t pages)
{
	for (; tiers->wal_pages > pages; tiers->wal_pages--)
		drop(tiers, WS_TIER_PAGES + tiers->wal_pages - 1);
}

/* Simulate strata from this on. */
static void
set_shift(WsTwoTier *tiers, uint32_t shift)
{
	/* of WAL, too, half of the pages go with each stratum */
	if (shift > tiers->shift)
		shrink_wal(tiers, tiers->wal_pages >> (shift - tiers->shift));
	tiers->rate = tiers->rates[shift];
	tiers->shift = shift;
	for (uint32_t i = 0; i < WS_TIER_PAGES; i++)
		if (tiers->pages[i].stratum != NO_STRATUM && tiers->pages[i].stratum < shift)
			forget(tiers, i);
	resize_caches(tiers);
}

void
ws_twotier_resize(WsTwoTier *tiers, uint32_t shift, const double *rates, double bytes)
{
	uint32_t	mine = tiers->used < WS_TIER_PAGES / 4 && tiers->shift > 0 ?
		tiers->shift - 1 : tiers->shift;

	tiers->bytes = bytes;
	memcpy(tiers->rates, rates, sizeof(tiers->rates));
	set_shift(tiers, mine > shift ? mine : shift);
}

/* The entry of a page's relation; there are as many as pages. */
static uint16_t
find_relation(WsTwoTier *tiers, const WsPageId *id)
{
	uint16_t   *link = find_link(tiers, id);
	WsTierRelation *r;

	if (*link != 0)
		return *link - 1;
	*link = tiers->free_relation ? tiers->free_relation : (uint16_t) ++tiers->nrelations;
	r = &tiers->relations[*link - 1];
	if (tiers->free_relation)
		tiers->free_relation = r->chained;
	*r = (WsTierRelation)
	{
		.id = *id, .region = WS_TIER_NO_REGION
	};
	return *link - 1;
}

/* The region that a block is in: the last one that begins before it. */
static uint16_t
find_region(const WsTwoTier *tiers, uint16_t relation, uint32_t block)
{
	uint32_t	found = tiers->relations[relation].region;

	while (found + 1 < tiers->nregions && tiers->regions[found + 1].relation == relation &&
		   tiers->regions[found + 1].block <= block)
		found++;
	return (uint16_t) found;
}

/* The number of a page here, a new one if it has none, or NO_PAGE. */
static uint32_t
enter(WsTwoTier *tiers, const WsAccess *access)
{
	uint32_t	page = tiers->page[access->page];
	uint16_t	relation;

	if (page != NO_PAGE || access->stratum < tiers->shift)
		return page;
	if (tiers->used == WS_TIER_PAGES && tiers->shift < WS_STRATA - 1)
		set_shift(tiers, tiers->shift + 1);
	if (access->stratum < tiers->shift || tiers->used == WS_TIER_PAGES)
		return NO_PAGE;
	page = tiers->free;
	tiers->free = tiers->pages[page].entry;
	tiers->page[access->page] = (uint16_t) page;
	relation = find_relation(tiers, &access->id);
	tiers->pages[page] = (WsTierPage)
	{
		.entry = (uint16_t) access->page,
			.stratum = (uint8_t) access->stratum,
			.relation = relation,
			.region = find_region(tiers, relation, access->id.block),
			.block = access->id.block,
			.clean = true,
			.cached = NAN,
			.known = access->known ? 0 : UINT8_MAX
	};
	tiers->relations[relation].pages++;
	tiers->used++;
	return page;
}

/* Bring in one of so many pages that is not cached, if one is found soon. */
static bool
bring_in(WsTwoTier *tiers, WsPageCache *cache, uint32_t first, uint32_t n)
{
	for (int i = 0; i < TRIES && n > 1; i++)
	{
		uint32_t	page = tiers->order[first + ws_random_below(&tiers->seed, n)];
		uint16_t	region = tiers->pages[page].region;

		/* since the survey it may have been forgotten */
		if (tiers->pages[page].stratum != NO_STRATUM && region != WS_TIER_NO_REGION &&
			tiers->regions[region].first - first < n && !ws_pagecache_holds(cache, page))
		{
			ws_pagecache_ahead(cache, page);
			return true;
		}
	}
	return false;
}

/*
 * Bring in another page of the region.  What a relation lacks may be none of
 * its few simulated pages; then it is one of another such relation.
 */
static void
read_ahead(WsTwoTier *tiers, WsPageCache *cache, const WsTierRegion *region)
{
	if (!bring_in(tiers, cache, region->first, region->pages) && region->first < tiers->single)
		(void) bring_in(tiers, cache, 0, tiers->single);
}

/* A page cache has to read a page. */
static void
read_from_disk(WsTwoTier *tiers, int b, int c, uint32_t page, const WsAccess *access,
			   WsTierCounts *counts)
{
	uint16_t	region = tiers->pages[page].region;
	double		window = tiers->readahead.kilobytes * 1024.0 / tiers->block_bytes;
	double		waits = tiers->readahead.waits;
	double		blocks = 1;
	bool		cold = ws_pagecache_is_cold(tiers->cache[b][c]);

	if (access->run && window > 1)
		waits = 1 / window;
	else if (region != WS_TIER_NO_REGION)
		blocks = ws_readahead_blocks(&tiers->readahead, tiers->regions[region].cached[b][c]);
	for (tiers->owed[b][c] += blocks - 1; tiers->owed[b][c] >= 1; tiers->owed[b][c]--)
		read_ahead(tiers, tiers->cache[b][c], &tiers->regions[region]);
	if (counts)
	{
		counts->waits[b][c][access->group] += waits;
		counts->needed[b][c]++;
		counts->ahead[b][c] += blocks - 1;
		counts->cold[b][c] += cold;
	}
}

/* Which of the sizes is the nearest one to that which is followed? */
static int
nearest_size(const double *factors)
{
	int			best = 0;

	for (int b = 1; b < WS_TIER_FOLLOWER; b++)
		if (fabs(log(factors[ws_tier_buffers[b]] / factors[ws_tier_buffers[WS_TIER_FOLLOWER]])) <
			fabs(log(factors[ws_tier_buffers[best]] / factors[ws_tier_buffers[WS_TIER_FOLLOWER]])))
			best = b;
	return best;
}

void
ws_twotier_jump(WsTwoTier *tiers, const double *factors)
{
	int			from = nearest_size(factors);

	tiers->wal_next[WS_TIER_FOLLOWER] = tiers->wal_next[from];
	tiers->wal_owed[WS_TIER_FOLLOWER] = tiers->wal_owed[from];
	for (int c = 0; c < WS_TIER_CACHES; c++)
	{
		memcpy(tiers->cache[WS_TIER_FOLLOWER][c], tiers->cache[from][c], cache_size());
		tiers->owed[WS_TIER_FOLLOWER][c] = 0;
		tiers->only[WS_TIER_FOLLOWER][c] = tiers->only[from][c];
	}
	for (uint32_t i = 0; i < tiers->nregions; i++)
		memcpy(tiers->regions[i].cached[WS_TIER_FOLLOWER], tiers->regions[i].cached[from],
			   sizeof(tiers->regions[i].cached[0]));
	for (uint32_t i = 0; i < WS_TIER_PAGES; i++)
	{
		WsTierPage *p = &tiers->pages[i];

		p->known = (p->known & ~(1 << WS_TIER_FOLLOWER)) | (p->known >> from & 1) << WS_TIER_FOLLOWER;
		p->dirty = (p->dirty & ~(1 << WS_TIER_FOLLOWER)) | (p->dirty >> from & 1) << WS_TIER_FOLLOWER;
	}
}

void
ws_tier_counts_jump(WsTierCounts *counts)
{
	memset(counts->asked[WS_TIER_FOLLOWER], 0, sizeof(counts->asked[0]));
	memset(counts->waits[WS_TIER_FOLLOWER], 0, sizeof(counts->waits[0]));
	memset(counts->needed[WS_TIER_FOLLOWER], 0, sizeof(counts->needed[0]));
	memset(counts->ahead[WS_TIER_FOLLOWER], 0, sizeof(counts->ahead[0]));
	memset(counts->cold[WS_TIER_FOLLOWER], 0, sizeof(counts->cold[0]));
}

/* A page is written from shared buffers, */
static void
write_page(WsTwoTier *tiers, int b, uint32_t page)
{
	for (int c = 0; c < WS_TIER_CACHES; c++)
		ws_pagecache_write(tiers->cache[b][c], page);
}

/* and is clean. */
static void
clean_page(WsTwoTier *tiers, int b, uint32_t page)
{
	write_page(tiers, b, page);
	tiers->pages[page].dirty &= ~(1 << b);
}

static bool
is_dirty(const WsTierPage *page, int b)
{
	return page->dirty >> b & 1;
}

/* The server has written a page, or does: for a checkpoint, at all sizes. */
static void
write_present(WsTwoTier *tiers, uint32_t page)
{
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		if (is_dirty(&tiers->pages[page], b) && (b == WS_TIER_PRESENT || tiers->pages[page].checkpoint))
			clean_page(tiers, b, page);
	tiers->pages[page].checkpoint = false;
}

/* A sweep evicts a page. */
static void
evict(WsTwoTier *tiers, int b, uint16_t entry)
{
	uint32_t	page = entry != WS_NOWHERE ? tiers->page[entry] : NO_PAGE;

	if (page == NO_PAGE || !is_dirty(&tiers->pages[page], b))
		return;
	if (b == WS_TIER_PRESENT)
		write_present(tiers, page);
	else
		clean_page(tiers, b, page);
}

void
ws_twotier_access(WsTwoTier *tiers, const WsAccess *access, WsTierCounts *counts)
{
	uint32_t	page = access->missed == 0 ? NO_PAGE : enter(tiers, access);

	if (access->new && page != NO_PAGE)
	{
		tiers->pages[page].dirty = UINT8_MAX;
		tiers->pages[page].clean = tiers->pages[page].checkpoint = false;
	}
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
	{
		bool		known;

		if (!(access->missed >> ws_tier_buffers[b] & 1))
			continue;
		if (access->evicted)
			evict(tiers, b, access->evicted[ws_tier_buffers[b]]);
		if (page == NO_PAGE)
			continue;
		known = tiers->pages[page].known >> b & 1;
		tiers->pages[page].known |= 1 << b;
		if (counts && known && !access->new)
			counts->asked[b][access->group]++;
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			if (access->new)
				ws_pagecache_write(tiers->cache[b][c], page);
			if (!access->new && !ws_pagecache_use(tiers->cache[b][c], page) && known)
				read_from_disk(tiers, b, c, page, access, counts);
		}
	}
}

/* The page is dirty in the server. */
static void
see_dirty(WsTwoTier *tiers, const WsSweep *sweep, uint32_t page, uint32_t unseen)
{
	WsTierPage *p = &tiers->pages[page];

	for (int b = 0; b < WS_TIER_BUFFERS; b++)
	{
		if (b == WS_TIER_PRESENT || ws_sweep_holds_at(sweep, p->entry, ws_tier_buffers[b]))
			p->dirty |= 1 << b;
		else if (unseen >> ws_tier_buffers[b] & 1)
			p->dirty &= ~(1 << b);
		else if (p->clean || is_dirty(p, b))
			/* it is not there any more */
			clean_page(tiers, b, page);
	}
}

void
ws_twotier_seen(WsTwoTier *tiers, const WsSweep *sweep, uint32_t entry, bool dirty, uint32_t unseen)
{
	uint32_t	page = tiers->page[entry];

	if (page == NO_PAGE)
		return;
	if (dirty)
		see_dirty(tiers, sweep, page, unseen);
	else if (is_dirty(&tiers->pages[page], WS_TIER_PRESENT))
		write_present(tiers, page);
	tiers->pages[page].clean = !dirty;
}

void
ws_twotier_checkpoint(WsTwoTier *tiers)
{
	for (uint32_t page = 0; page < WS_TIER_PAGES; page++)
	{
		WsTierPage *p = &tiers->pages[page];

		if (p->stratum == NO_STRATUM)
			continue;
		/* the last one has written it, and it is dirty again */
		for (int b = 0; p->checkpoint && b < WS_TIER_BUFFERS; b++)
			if (is_dirty(p, b))
				write_page(tiers, b, page);
		p->checkpoint = true;
		if (!is_dirty(p, WS_TIER_PRESENT))
			write_present(tiers, page);
	}
}

/* So many pages of WAL are written behind a size, one after the other. */
static void
write_wal(WsTwoTier *tiers, int b, double pages)
{
	double	   *owed = &tiers->wal_owed[b];
	uint32_t   *next = &tiers->wal_next[b];

	for (*owed = fmin(*owed + pages, tiers->wal_pages); *owed >= 1; (*owed)--)
	{
		*next = *next < tiers->wal_pages ? *next : 0;
		write_page(tiers, b, WS_TIER_PAGES + (*next)++);
	}
}

void
ws_twotier_wal(WsTwoTier *tiers, double bytes, double files, uint32_t bursts_only)
{
	double		rate = tiers->rate / tiers->block_bytes;
	uint32_t	pages = (uint32_t) fmin(fmax(rint(files * rate), 1), WS_TIER_WAL);

	shrink_wal(tiers, pages);
	tiers->wal_pages = pages;
	tiers->wal = fmin(tiers->wal + bytes, files);
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		write_wal(tiers, b, bytes * rate / (bursts_only >> ws_tier_buffers[b] & 1 ? WS_BURSTS : 1));
}

double
ws_twotier_blocks(const WsTwoTier *tiers, const WsTierRelation *relation)
{
	return relation->blocks > 0 ? relation->blocks / (1 - pow(1 - tiers->rate, relation->blocks)) :
		relation->pages / tiers->rate;
}

double
ws_twotier_whole(const WsTwoTier *tiers)
{
	double		blocks = 0;

	for (uint32_t i = 0; i < tiers->nrelations; i++)
		if (tiers->relations[i].pages > 0)
			blocks += ws_twotier_blocks(tiers, &tiers->relations[i]);
	return blocks > 0 ? blocks * tiers->block_bytes + tiers->wal : NAN;
}

int
ws_twotier_entry(const WsTwoTier *tiers, uint32_t page)
{
	return tiers->pages[page].stratum == NO_STRATUM ? -1 : tiers->pages[page].entry;
}

void
ws_twotier_forget(WsTwoTier *tiers, uint32_t entry)
{
	if (tiers->page[entry] != NO_PAGE)
		forget(tiers, tiers->page[entry]);
}

void
ws_twotier_forget_relation(WsTwoTier *tiers, uint32_t relation)
{
	for (uint32_t i = 0; i < WS_TIER_PAGES; i++)
		if (tiers->pages[i].stratum != NO_STRATUM && tiers->pages[i].relation == relation)
			forget(tiers, i);
}
