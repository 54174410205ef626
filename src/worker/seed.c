/*
 * seed.c
 *		What the miniature caches hold at the start, and how large they are; see
 *		seed.h.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "probe.h"
#include "relsize.h"
#include "seed.h"

#define PRIOR_PAGES		16		/* added as if sampled exactly at the rate */

/* Blocks of the relation of a page; 0: it has none any more. */
static uint32
blocks_of(WsScans *scans, const WsPageId *page)
{
	if (!ws_scans_knows_size(scans, page))
		ws_scans_set_size(scans, page, ws_relation_blocks(page));
	return ws_scans_blocks(scans, page);
}

/*
 * When was the page last used so that a cache of so many buffers would hold it:
 * not through a ring?
 */
static uint32
held_at(const WsSample *sample, uint32 blocks, double buffers)
{
	if (sample->scanned <= sample->held || blocks == 0 || ws_scans_uses_ring(blocks, buffers))
		return sample->held;
	return sample->scanned;
}

void
ws_seed_ages(WsScans *scans, const WsSampler *sampler, uint32 *when)
{
	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];
		bool		scanned = sample->touched != 0 && sample->scanned > sample->held;

		when[i] = held_at(sample, scanned ? blocks_of(scans, &sample->page) : 0, NBuffers);
	}
}

double
ws_seed_rate(const WsSampler *sampler, uint32 shift)
{
	double		expected = ldexp(1, -(int) shift);
	double		entries = ws_probe.entries();

	if (entries * 2 < NBuffers)
		return expected;
	return (ws_sampler_resident(sampler, shift) + PRIOR_PAGES) / (entries + PRIOR_PAGES / expected);
}

void
ws_seed(WsSweep *sweep, WsScans *scans, const WsSampler *sampler, uint32 shift, int first,
		bool all)
{
	uint32	   *blocks = palloc0(sampler->capacity * sizeof(uint32));
	uint32	   *when = palloc0(sampler->capacity * sizeof(uint32));
	uint32	   *pages = palloc(sampler->capacity * sizeof(uint32));
	bool	   *wanted = palloc(sampler->capacity * sizeof(bool));
	bool		changed = true;
	uint32		n = 0;

	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		wanted[i] = all || !ws_sweep_holds(sweep, i);
		if (sampler->samples[i].scanned > sampler->samples[i].held)
			blocks[i] = blocks_of(scans, &sampler->samples[i].page);
	}
	for (int size = first; size < WS_SWEEP_SIZES; size++)
	{
		for (uint32 i = 0; i < sampler->capacity; i++)
		{
			uint32		tick = wanted[i] ? held_at(&sampler->samples[i], blocks[i],
												   NBuffers * sweep->factor[size]) : 0;

			changed |= tick != when[i];
			when[i] = tick;
		}
		if (changed)
			n = ws_sampler_by_age(sampler, shift, when, pages);
		changed = false;
		ws_sweep_seed(sweep, size, pages, n);
	}
	pfree(blocks);
	pfree(when);
	pfree(pages);
	pfree(wanted);
}
