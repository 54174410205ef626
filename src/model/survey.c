/*
 * survey.c
 *		How much of each relation do the page caches hold, and where?
 *
 * What the kernel reads ahead depends on it: relations are divided into
 * regions, of which some share is cached (twotier.h).
 */
#include "twotier.h"

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

static uint32_t
regions_of(const WsTierRelation *relation)
{
	return relation->pages > WS_TIER_REGION ? relation->pages / WS_TIER_REGION : 1;
}

/*
 * Put the pages in order, by relation and by block; first those of relations of
 * one region each.
 */
static void
sort_pages(WsTwoTier *tiers)
{
	uint64_t	places[WS_TIER_PAGES];
	uint32_t	n = 0;

	tiers->single = 0;
	for (uint32_t page = 0; page < WS_TIER_PAGES; page++)
	{
		const WsTierPage *p = &tiers->pages[page];
		bool		several;

		if (ws_twotier_entry(tiers, page) < 0)
			continue;
		several = regions_of(&tiers->relations[p->relation]) > 1;
		tiers->single += !several;
		places[n++] = (uint64_t) several << 63 | (uint64_t) p->relation << 48 | (uint64_t) p->block << 16 | page;
	}
	if (n > 0)
		qsort(places, n, sizeof(places[0]), compare_places);
	for (uint32_t i = 0; i < n; i++)
		tiers->order[i] = places[i] & UINT16_MAX;
}

/* Are there clearly fewer pages than by chance, if all blocks were used? */
static bool
partly_used(const WsTwoTier *tiers, double pages, double expected)
{
	return pages + CHANCE_ERRORS * sqrt(pages * (1 - tiers->rate)) < expected;
}

/* The pages of a relation, had all of its blocks been used */
static double
expected_pages(const WsTwoTier *tiers, const WsTierRelation *relation)
{
	return ws_twotier_blocks(tiers, relation) * tiers->rate;
}

/*
 * Of a relation of few pages that says nothing.  Are there clearly fewer of all
 * these together?
 */
static bool
small_are_partly_used(const WsTwoTier *tiers)
{
	double		pages = 0;
	double		expected = 0;

	for (uint32_t i = 0; i < tiers->nrelations; i++)
	{
		const WsTierRelation *relation = &tiers->relations[i];
		double		all = expected_pages(tiers, relation);

		if (relation->pages == 0 || regions_of(relation) > 1 || partly_used(tiers, relation->pages, all))
			continue;
		pages += relation->pages;
		expected += all;
	}
	return partly_used(tiers, pages, expected);
}

/* Divide a relation, whose pages begin here in "order", into regions. */
static void
divide(WsTwoTier *tiers, uint32_t first, bool small_partly)
{
	const uint16_t *order = tiers->order + first;
	uint16_t	number = tiers->pages[order[0]].relation;
	WsTierRelation *relation = &tiers->relations[number];
	uint32_t	n = relation->pages;
	double		expected = expected_pages(tiers, relation);
	uint32_t	nregions = regions_of(relation);
	bool		partly = partly_used(tiers, n, expected) || (nregions == 1 && small_partly);

	relation->region = (uint16_t) tiers->nregions;
	for (uint32_t i = 0; i < nregions; i++)
	{
		WsTierRegion *region = &tiers->regions[tiers->nregions + i];
		uint32_t	begin = n * i / nregions;
		uint32_t	end = n * (i + 1) / nregions;

		memset(region, 0, sizeof(WsTierRegion));
		region->relation = number;
		region->block = tiers->pages[order[begin]].block;
		region->first = (uint16_t) (first + begin);
		region->pages = (uint16_t) (end - begin);
		region->whole = end - begin;
		if (partly)
		{
			/* unused ends of a relation are in none of several regions */
			uint32_t	last = tiers->pages[order[end - 1]].block;

			region->whole = nregions == 1 ? expected :
				fmax((last - region->block) * (1 + 1.0 / (end - begin - 1)) * tiers->rate, 1);
		}
		for (uint32_t j = begin; j < end; j++)
			tiers->pages[order[j]].region = (uint16_t) (tiers->nregions + i);
	}
	tiers->nregions += nregions;
}

/* Add up which page caches hold a page, and whether shared buffers do, too. */
static void
survey_page(WsTwoTier *tiers, const WsSweep *sweep, uint32_t page,
			double twice[WS_TIER_BUFFERS][WS_TIER_CACHES])
{
	WsTierRegion *region = &tiers->regions[tiers->pages[page].region];

	for (int b = 0; b < WS_TIER_BUFFERS; b++)
	{
		bool		buffered = ws_sweep_holds_at(sweep, tiers->pages[page].entry, ws_tier_buffers[b]);

		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			bool		held = ws_pagecache_holds(tiers->cache[b][c], page);

			region->cached[b][c] += held;
			twice[b][c] += held && buffered;
		}
	}
}

/* Do all of the blocks count that a region has by its pages? */
static bool
is_exact(const WsTierRegion *region)
{
	return region->whole == region->pages;
}

/*
 * The variance of a region's share by chance, times its pages, of regions whose
 * shares really vary by so much.
 */
static double
by_chance(const WsTierRegion *region, double share, double real)
{
	/* how many pages a span of blocks has is chance, too */
	return is_exact(region) ? share * (1 - share) - real : share;
}

/* How much of a region's difference from the mean is not chance? */
static double
own_part(const WsTierRegion *region, double share, double real)
{
	return real > 0 ? real / (real + by_chance(region, share, real) / region->whole) : 0;
}

/*
 * Make the counts of some regions the shares that are cached: those of one
 * relation, or those of all relations with one each.  They differ by chance,
 * too: they are moved toward their mean by as much of their variance as chance
 * explains, which is the more, the fewer pages a region has (empirical Bayes;
 * Efron and Morris 1975; Kleinman 1973 for these moments).
 */
static void
find_share(WsTierRegion *regions, uint32_t n, int b, int c)
{
	double		held = 0;
	double		whole = 0;
	double		squares = 0;	/* of differences from the share of all, */
	double		chance = 0;		/* and what they would be by chance, */
	double		each = 0;		/* and more for a real variance of one */
	double		real;
	double		share;
	double		weight = 0;
	double		sum = 0;
	double		mean;

	for (uint32_t i = 0; i < n; i++)
	{
		held += regions[i].cached[b][c];
		whole += regions[i].whole;
		regions[i].cached[b][c] /= (float) regions[i].whole;
	}
	share = held / whole;
	for (uint32_t i = 0; i < n; i++)
	{
		double		difference = regions[i].cached[b][c] - share;
		double		others = 1 - regions[i].whole / whole;

		squares += regions[i].whole * difference * difference;
		chance += by_chance(&regions[i], share, 0) * others;
		each += (regions[i].whole - is_exact(&regions[i])) * others;
	}
	/* a share cannot vary by more than the last */
	real = squares > chance && each > 0 ? fmin((squares - chance) / each, share * (1 - share)) : 0;
	for (uint32_t i = 0; i < n; i++)
	{
		double		own = own_part(&regions[i], share, real);

		weight += own;
		sum += own * regions[i].cached[b][c];
	}
	mean = weight > 0 ? sum / weight : share;
	for (uint32_t i = 0; i < n; i++)
		regions[i].cached[b][c] = (float)
			(mean + own_part(&regions[i], share, real) * (regions[i].cached[b][c] - mean));
}

/* Of regions from this one on, how many belong together, as above? */
static uint32_t
belong_together(const WsTwoTier *tiers, uint32_t first)
{
	uint32_t	i = first + 1;

	while (i < tiers->nregions &&
		   (tiers->regions[i].first < tiers->single || tiers->regions[i].relation == tiers->regions[first].relation))
		i++;
	return i - first;
}

void
ws_survey(WsTwoTier *tiers, const WsSweep *sweep)
{
	double		twice[WS_TIER_BUFFERS][WS_TIER_CACHES] = {{0}};
	uint32_t	n;
	bool		small_partly;

	sort_pages(tiers);
	small_partly = small_are_partly_used(tiers);
	tiers->nregions = 0;
	for (uint32_t first = 0; first < tiers->used; first += n)
	{
		n = tiers->relations[tiers->pages[tiers->order[first]].relation].pages;
		divide(tiers, first, small_partly);
	}
	for (uint32_t i = 0; i < tiers->used; i++)
		survey_page(tiers, sweep, tiers->order[i], twice);
	for (uint32_t first = 0; first < tiers->nregions; first += n)
	{
		n = belong_together(tiers, first);
		for (int b = 0; b < WS_TIER_BUFFERS; b++)
			for (int c = 0; c < WS_TIER_CACHES; c++)
				find_share(&tiers->regions[first], n, b, c);
	}
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
		{
			for (uint32_t page = 0; page < tiers->wal_pages; page++)
				twice[b][c] += ws_pagecache_holds(tiers->cache[b][c], WS_TIER_PAGES + page);
			tiers->only[b][c] = ws_pagecache_is_cold(tiers->cache[b][c]) ? NAN :
				(float) fmax(1 - twice[b][c] / tiers->cache[b][c]->capacity, 0);
		}
}
