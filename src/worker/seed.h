/*
 * seed.h
 *		How large the miniature caches are, and what they hold at the start: of
 *		the sampled pages those that a cache of that size would hold.  A page
 *		that was last read through a ring is in none, and one that was last read
 *		by a sequential scan is in those where the scan needs no ring.
 */
#ifndef WS_SEED_H
#define WS_SEED_H

#include "sampler.h"
#include "scans.h"
#include "sweep.h"

/*
 * Fill the caches of all sizes from "first" on with pages of strata shift and
 * up: with all, or only with those that are in no cache.
 */
extern void ws_seed(WsSweep *sweep, WsScans *scans, const WsSampler *sampler, uint32 shift,
					int first, bool all);

/*
 * For each entry of the table: the tick of the last use that leaves its page in
 * a cache of so many buffers, not through a ring; 0: none.
 */
extern void ws_seed_ages(WsScans *scans, const WsSampler *sampler, double buffers, uint32 *when);

/*
 * The share of all pages that strata shift and up have: of the pages in shared
 * buffers, as far as these are known, once half of the buffers are used.
 */
extern double ws_seed_rate(const WsSampler *sampler, uint32 shift);

#endif							/* WS_SEED_H */
