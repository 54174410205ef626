/*
 * seed.h
 *		What the miniature caches hold at the start: of the sampled pages those
 *		that a cache of that size would hold.  A page that was last read through
 *		a ring is in none, and one that was last read by a sequential scan is in
 *		those where the scan needs no ring.
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

#endif							/* WS_SEED_H */
