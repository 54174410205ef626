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

/* Blocks of the relation of a page; 0: it has none any more. */
static uint32
blocks_of(WsScans *scans, const WsPageId *page)
{
	uint32		blocks;

	if (!ws_scans_knows_size(scans, page, &blocks))
	{
		ws_scans_set_size(scans, page, ws_relation_blocks(page));
		(void) ws_scans_knows_size(scans, page, &blocks);
	}
	return blocks;
}

/* For each entry: blocks of the relation if its last use was a scan, else 0. */
static void
find_scanned(WsScans *scans, const WsSampler *sampler, uint32 *blocks)
{
	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		blocks[i] = sample->scanned > sample->held ? blocks_of(scans, &sample->page) : 0;
	}
}

static uint32
age_of(const WsSample *sample, uint32 blocks, double buffers)
{
	return blocks == 0 || ws_scans_uses_ring(blocks, buffers) ? sample->held : sample->scanned;
}

void
ws_seed_ages(WsScans *scans, const WsSampler *sampler, double buffers, uint32 *when)
{
	find_scanned(scans, sampler, when);
	for (uint32 i = 0; i < sampler->capacity; i++)
		when[i] = age_of(&sampler->samples[i], when[i], buffers);
}

double
ws_seed_rate(const WsSampler *sampler, uint32 shift)
{
	double		entries = ws_probe_entries();

	return entries * 2 < NBuffers ? ldexp(1, -(int) shift) : ws_sampler_share(sampler, shift, entries);
}

void
ws_seed(WsSweep *sweep, WsScans *scans, const WsSampler *sampler, uint32 shift, int first,
		bool all)
{
	uint32	   *blocks = palloc(sampler->capacity * sizeof(uint32));
	uint32	   *when = palloc0(sampler->capacity * sizeof(uint32));
	uint32	   *pages = palloc(sampler->capacity * sizeof(uint32));
	bool	   *wanted = palloc(sampler->capacity * sizeof(bool));
	bool		changed = true;
	uint32		n = 0;

	for (uint32 i = 0; i < sampler->capacity; i++)
		wanted[i] = all || !ws_sweep_holds(sweep, i);
	find_scanned(scans, sampler, blocks);
	for (int size = first; size < WS_SWEEP_SIZES; size++)
	{
		for (uint32 i = 0; i < sampler->capacity; i++)
		{
			uint32		tick = wanted[i] ? age_of(&sampler->samples[i], blocks[i], NBuffers * sweep->factor[size]) : 0;

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
