/*
 * survey.c
 *		Where page caches hold what they hold; see survey.h.
 */
#include "survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANCE_ERRORS	2		/* fewer pages by so many standard errors: not
								 * by chance */

static int
compare_places(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

/* Put the pages of relations with an entry in order, by this and by block. */
static void
sort_pages(WsTwoTier *tiers)
{
	uint64_t	places[WS_TIER_PAGES];
	uint32_t	n = 0;

	for (uint32_t page = 0; page < WS_TIER_PAGES; page++)
	{
		const WsTierPage *p = &tiers->pages[page];

		if (ws_twotier_entry(tiers, page) >= 0 && p->relation != WS_TIER_OTHERS)
			places[n++] = (uint64_t) p->relation << 48 | (uint64_t) p->block << 16 | page;
	}
	if (n > 0)
		qsort(places, n, sizeof(places[0]), compare_places);
	for (uint32_t i = 0; i < n; i++)
		tiers->order[i] = places[i] & UINT16_MAX;
}

/* Are there clearly fewer pages than so many blocks have by chance? */
static bool
partly_used(const WsTwoTier *tiers, uint32_t blocks, uint32_t pages)
{
	return pages + CHANCE_ERRORS * sqrt(pages * (1 - tiers->rate)) < blocks * tiers->rate;
}

static uint32_t
regions_of(const WsTierRelation *relation)
{
	return relation->pages > WS_TIER_REGION ? relation->pages / WS_TIER_REGION : 1;
}

/* Divide a relation, whose pages begin here in "order", into regions. */
static void
divide(WsTwoTier *tiers, uint8_t relation, uint32_t first)
{
	const uint16_t *order = tiers->order + first;
	uint32_t	blocks = tiers->relations[relation].blocks;
	uint32_t	n = tiers->relations[relation].pages;
	bool		partly = partly_used(tiers, blocks, n);
	uint32_t	nregions = regions_of(&tiers->relations[relation]);

	for (uint32_t i = 0; i < nregions; i++)
	{
		WsTierRegion *region = &tiers->regions[tiers->nregions + i];
		uint32_t	begin = n * i / nregions;
		uint32_t	end = n * (i + 1) / nregions;

		memset(region, 0, sizeof(WsTierRegion));
		region->relation = relation;
		region->block = tiers->pages[order[begin]].block;
		region->first = (uint16_t) (first + begin);
		region->pages = (uint16_t) (end - begin);
		region->whole = end - begin;
		if (partly)
		{
			/* unused ends of a relation are in none of several regions */
			uint32_t	last = tiers->pages[order[end - 1]].block;
			double		span = nregions == 1 ? blocks :
				(last - region->block) * (1 + 1.0 / (end - begin - 1));

			region->whole = fmax(span * tiers->rate, 1);
		}
		for (uint32_t j = begin; j < end; j++)
			tiers->pages[order[j]].region = (uint8_t) (tiers->nregions + i);
	}
	tiers->nregions += nregions;
}

/* Add up which page caches hold a page, and whether shared buffers do, too. */
static void
survey_page(WsTwoTier *tiers, const WsSweep *sweep, uint32_t page,
			double twice[WS_TIER_BUFFERS][WS_TIER_CACHES])
{
	uint8_t		region = tiers->pages[page].region;

	for (int b = 0; b < WS_TIER_BUFFERS; b++)
	{
		bool		buffered = ws_sweep_holds_at(sweep, tiers->pages[page].entry, ws_tier_buffers[b]);

		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			bool		held = ws_pagecache_holds(tiers->cache[b][c], page);

			if (region != WS_TIER_NO_REGION)
				tiers->regions[region].cached[b][c] += held;
			twice[b][c] += held && buffered;
		}
	}
}

/*
 * Make the counts of a relation's regions the shares that are cached.  They
 * differ by chance, too: they are moved toward the relation's by as much of
 * their variance as chance explains (empirical Bayes; Efron and Morris 1975).
 */
static void
find_share(WsTierRegion *regions, uint32_t n, int b, int c)
{
	double		held = 0;
	double		whole = 0;
	double		squares = 0;
	double		chance = 0;
	double		share;
	double		own;

	for (uint32_t i = 0; i < n; i++)
	{
		held += regions[i].cached[b][c];
		whole += regions[i].whole;
	}
	share = held / whole;
	for (uint32_t i = 0; i < n; i++)
	{
		double		difference = regions[i].cached[b][c] / regions[i].whole - share;

		squares += regions[i].whole * difference * difference;
		/* how many pages a span of blocks has is chance, too */
		chance += share * (regions[i].whole == regions[i].pages ? 1 - share : 1) * (1 - regions[i].whole / whole);
	}
	own = squares > chance ? 1 - chance / squares : 0;
	for (uint32_t i = 0; i < n; i++)
		regions[i].cached[b][c] = (float)
			(share + own * (regions[i].cached[b][c] / regions[i].whole - share));
}

static void
find_shares(WsTwoTier *tiers, uint32_t first)
{
	WsTierRegion *regions = &tiers->regions[first];

	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
			find_share(regions, regions_of(&tiers->relations[regions->relation]), b, c);
}

void
ws_survey(WsTwoTier *tiers, const WsSweep *sweep)
{
	double		twice[WS_TIER_BUFFERS][WS_TIER_CACHES] = {{0}};
	uint32_t	first = 0;

	sort_pages(tiers);
	tiers->nregions = 0;
	for (int i = 0; i < WS_TIER_OTHERS; first += tiers->relations[i++].pages)
		if (tiers->relations[i].pages > 0)
			divide(tiers, (uint8_t) i, first);
	for (uint32_t page = 0; page < WS_TIER_PAGES; page++)
		if (ws_twotier_entry(tiers, page) >= 0)
			survey_page(tiers, sweep, page, twice);
	for (uint32_t i = 0; i < tiers->nregions; i += regions_of(&tiers->relations[tiers->regions[i].relation]))
		find_shares(tiers, i);
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			for (uint32_t page = 0; page < tiers->wal_pages; page++)
				twice[b][c] += ws_pagecache_holds(tiers->cache[b][c], WS_TIER_PAGES + page);
			tiers->only[b][c] = ws_pagecache_is_cold(tiers->cache[b][c]) ? NAN :
				(float) fmax(1 - twice[b][c] / tiers->cache[b][c]->capacity, 0);
		}
}
