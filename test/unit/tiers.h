/*
 * tiers.h
 *		Page caches behind sweeps, for their tests.
 */
#ifndef TIERS_H
#define TIERS_H

#include "sweep.h"
#include "traces.h"
#include "twotier.h"

#define BLOCK	8192
#define ALL		((UINT32_C(1) << 21) - 1)
#define HALF	5				/* of ws_tier_caches: half of the bytes, */
#define WHOLE	7				/* all of them, */
#define DOUBLE	9				/* and twice as many */

/* Strata from "shift" on are the share "rate", and each further one halves it. */
static inline void
resize(WsTwoTier *tiers, uint32_t shift, double rate, double bytes)
{
	double		rates[WS_STRATA] = {0};

	for (uint32_t s = shift; s < WS_STRATA; s++)
		rates[s] = ldexp(rate, (int) shift - (int) s);
	ws_twotier_resize(tiers, shift, rates, bytes);
}

static inline WsTwoTier *
new_tiers(uint32_t entries, double rate, double pages)
{
	WsTwoTier  *tiers = aligned_memory(ws_twotier_size(entries));

	ws_twotier_init(tiers, entries, BLOCK);
	resize(tiers, 0, rate, pages * BLOCK);
	return tiers;
}

/* A count of all groups. */
static inline double
all(const double *groups)
{
	double		sum = 0;

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		sum += groups[g];
	return sum;
}

static inline double
blocks(const WsTierCounts *counts, int b, int c)
{
	return counts->needed[b][c] + counts->ahead[b][c];
}

/* Access a page that was missed in some sizes; groups follow one another. */
static inline void
look(WsTwoTier *tiers, uint32_t page, uint32_t relation, uint32_t missed, WsTierCounts *counts)
{
	WsAccess access = {
		.page = page, .stratum = 0, .group = page % WS_ERROR_GROUPS,
		.id = {1, 2, relation, 0, page}, .missed = missed
	};

	ws_twotier_access(tiers, &access, counts);
}

static inline bool
holds(const WsTwoTier *tiers, int b, int c, uint32_t entry)
{
	return ws_pagecache_holds(tiers->cache[b][c], tiers->page[entry]);
}

static inline WsSweep *
empty_sweep(uint32_t pages)
{
	WsSweep    *sweep = aligned_memory(ws_sweep_size(pages));

	ws_sweep_init(sweep, pages);
	return sweep;
}

/* What a test is about, and what it counts. */
static WsTwoTier *tiers;
static WsSweep *sweep;
static WsTierCounts counts;

/* Page caches of so many pages, and sweeps that all hold the first ones; the last test's go. */
static inline void
begin(uint32_t entries, double cached, uint32_t held)
{
	uint32_t	cold;

	free(sweep);
	free(tiers);
	tiers = new_tiers(entries, 1, cached);
	sweep = empty_sweep(entries);
	ws_sweep_resize(sweep, 500);
	for (uint32_t page = 1; page <= held; page++)
		(void) ws_sweep_access(sweep, &(WsAccess) {.page = page}, &cold);
	memset(&counts, 0, sizeof(counts));
}

#endif							/* TIERS_H */
