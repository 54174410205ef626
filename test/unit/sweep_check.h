/*
 * sweep_check.h
 *		Are all invariants of the sweeps true, and how many buffers are filled?
 */
#ifndef SWEEP_CHECK_H
#define SWEEP_CHECK_H

#include <string.h>

#include "sweep.h"

/*
 * Buffers of the cache of one size that hold a page.
 */
static inline uint32_t
sweep_filled(const WsSweep *sweep, int size)
{
	return sweep->caches[size].filled - sweep->caches[size].gaps;
}

static inline uint32_t
sweep_usage(const WsSweep *sweep, uint32_t page, int size)
{
	uint32_t	usage = 0;

	for (int j = 0; j < WS_USAGE_BITS; j++)
		usage |= (sweep->pages[page].usage[j] >> size & 1) << j;
	return usage;
}

/*
 * NULL, or what is wrong.
 */
static inline const char *
sweep_check(const WsSweep *sweep)
{
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		const WsSweepCache *cache = &sweep->caches[i];
		static uint8_t found[UINT16_MAX + 1];
		uint32_t	held = 0;
		uint32_t	gaps = 0;

		if (cache->filled - cache->gaps > cache->buffers || cache->buffers > sweep->npages ||
			cache->hand >= (cache->filled ? cache->filled : 1))
			return "a cache or its hand is out of range";
		memset(found, 0, sizeof(found));
		for (uint32_t b = 0; b < cache->filled; b++)
		{
			gaps += !ws_sweep_holds_at(sweep, cache->page[b], i);
			found[cache->page[b]]++;
		}
		for (uint32_t page = 0; page < sweep->npages; page++)
		{
			if (sweep_usage(sweep, page, i) > (ws_sweep_holds_at(sweep, page, i) ? WS_USAGE_MAX : 0))
				return "a usage count is out of range";
			if (!ws_sweep_holds_at(sweep, page, i))
				continue;
			held++;
			if (found[page] != 1)
				return "a page is not in one buffer";
		}
		if (gaps != cache->gaps || held != cache->filled - gaps)
			return "pages and filled buffers do not add up";
	}
	return NULL;
}

#endif							/* SWEEP_CHECK_H */
