/*
 * sweep_consumer.c
 *		The worker's miniature caches (sweep.h), and the hit ratios that follow
 *		from them (advice.h).  Without a sample only lookups are counted.
 *
 * Simulated pages.  The pages of a stratum that was admitted lately join the
 * sweeps when they have been in the table for as long as the recent counts
 * cover.  Strata that do not last are not simulated, because the table would
 * forget their pages while a large cache still holds them.
 *
 * A reset empties the recent counts but not the sweeps, as it leaves shared
 * buffers as they are.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "compat.h"
#include "consumer.h"
#include "estimate.h"
#include "filling.h"
#include "probe.h"
#include "sampler.h"
#include "seed.h"
#include "shared.h"

#define RECENT_TICKS	(WS_RECENT_BUCKETS * WS_RECENT_SECONDS * WS_TICKS_PER_SECOND)
#define RATE_FOLLOWS	0.05	/* share of a change followed each second */

/* Private to the worker. */
static WsSweep *sweep;			/* NULL: there is no sample */
static WsFollower follower;		/* of the recommended size */
static WsDifferences differences;	/* of the last hours */

/*
 * Resize the sweeps to the share of all pages that are simulated.  The sizes
 * move towards it by "follow" of the difference.
 */
static void
resize_sweeps(double follow)
{
	double		rings[WS_SWEEP_SIZES];

	ws_reading.rate += follow * (ws_seed_rate(ws_shared->sampler, ws_reading.simulated_shift) - ws_reading.rate);
	ws_sweep_resize(sweep, ws_reading.rate * NBuffers);
	for (int ring = 0; ring < WS_NRINGS; ring++)
	{
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			rings[i] = ws_ring_pages(ring, NBuffers * sweep->factor[i]) * ws_reading.rate;
		ws_sweep_set_rings(sweep, ring, rings);
	}
}

/* follow 0: in a flood the table lags behind, and does not show the share. */
static void
set_shift(uint32 shift, double follow)
{
	ws_reading.rate = ldexp(ws_reading.rate, (int) ws_reading.simulated_shift - (int) shift);
	ws_reading.simulated_shift = shift;
	resize_sweeps(follow);
}

static void
begin(bool empty)
{
	uint32		entries = ws_shared->sampler->capacity;

	if (sweep == NULL)
		sweep = (WsSweep *)
			TYPEALIGN(64, MemoryContextAlloc(TopMemoryContext, ws_sweep_size(entries) + 64));
	ws_sweep_init(sweep, entries);
	ws_reading.sweep = sweep;
	memset(&follower, 0, sizeof(follower));
	memset(&differences, 0, sizeof(differences));
	set_shift(ws_shared->sampler->shift, 1);
	ws_seed(sweep, ws_reading.scans, ws_shared->sampler, ws_reading.simulated_shift, 0, true);
}

/* Is a page of this stratum that is not in the table one that was not used? */
static bool
is_settled(uint32 stratum)
{
	const WsSampler *sampler = ws_shared->sampler;

	return sampler->admitted[stratum] <= ws_reading.began ||
		sampler->admitted[stratum] + sampler->brief <= ws_shared_advance();
}

static void
event(WsSeen *seen)
{
	const WsEvent *e = &seen->event;
	WsAccess   *access = &seen->access;

	access->tick = e->tick;
	access->absent |= ws_sweep_unseen(sweep, e->tick, e->type != WS_EVENT_HIT);
	access->missed = ws_sweep_access(sweep, access, &access->cold);
	/* such misses count in bursts only, and for the page caches behind, too */
	access->missed &= ~ws_sweep_unseen(sweep, e->tick, false);
	access->evicted = sweep->evicted;
	if (seen->class != WS_CLASS_MAINTENANCE && e->type != WS_EVENT_EXTEND)
		ws_tally_access(&ws_reading.recent.buckets[ws_reading.recent.bucket], access, seen->class,
						access->known || is_settled(access->stratum), seen->simulated_weight, sweep);
}

static void
forget(uint32 entry)
{
	ws_sweep_forget(sweep, entry);
}

/* Simulate strata that have been in the table for long enough. */
static void
simulate_mature(void)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32		now = ws_shared_advance();
	uint32		mature = ws_sampler_mature_shift(sampler, now, RECENT_TICKS, 0);

	mature = Max(mature, sampler->lasting);
	if (mature < ws_reading.simulated_shift && sampler->admitted[mature] + RECENT_TICKS <= now)
	{
		set_shift(mature, 1);
		ws_seed(sweep, ws_reading.scans, sampler, ws_reading.simulated_shift, 0, false);
	}
}

static clock_t
second(int64 now)
{
	resize_sweeps(RATE_FOLLOWS);
	simulate_mature();
	return 0;
}

void
ws_sweep_consumer_thin(uint32 shift)
{
	set_shift(Max(ws_reading.simulated_shift, shift), 0);
}

void
ws_sweep_consumer_remove_brief(void)
{
	const WsSampler *sampler = ws_shared->sampler;

	if (sampler->lasting <= ws_reading.simulated_shift)
		return;
	for (uint32 i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 &&
			ws_hash_stratum(sampler->samples[i].hash, sampler->log2m) < sampler->lasting)
			ws_sweep_forget(sweep, i);
	set_shift(sampler->lasting, 0);
}

WsDamping
ws_sweep_consumer_damping(double seconds, bool often)
{
	ws_sweep_measure(sweep, seconds);
	return ws_sweep_damping(sweep, often);
}

/* Compare the simulated pages that were used with the estimate of all. */
static void
count_pages(WsTally *sum)
{
	uint32		ticks = (uint32) (sum->seconds * WS_TICKS_PER_SECOND) + 1;
	WsEstimate	window;

	sum->pages = ws_sampler_select(ws_shared->sampler, ws_shared_advance(), ticks,
								   ws_load(&ws_shared->sketch[WS_CLIENT]->floor), ws_reading.simulated_shift, NULL);
	if (sum->pages > 0)
	{
		(void) ws_estimate(NULL, WS_OF(WS_CLIENT), &ticks, 1, &window);
		ws_estimate_alive(&window, ws_sampler_alive(ws_shared->sampler, ws_shared_advance(), ticks,
													ws_load(&ws_shared->sketch[WS_CLIENT]->floor), ws_reading.simulated_shift));
		sum->correction = window.pages / ldexp(sum->pages, (int) ws_reading.simulated_shift);
	}
}

static void
publish(WsPublished *p)
{
	static WsTally sum;
	static const double nothing[WS_SWEEP_SIZES];
	const WsRecent *recent = &ws_reading.recent;
	uint32		buffers[WS_SWEEP_SIZES] = {0};
	WsAdviceFacts facts = {
		.tally = &sum,
		.parts = recent->buckets,
		.nparts = WS_RECENT_BUCKETS,
		.oldest = (recent->bucket + 1) % WS_RECENT_BUCKETS,
		.nbuffers = NBuffers,
		.other_usage = ws_probe_usage_max() == WS_USAGE_MAX ? 0 : ws_probe_usage_max(),
		.factors = nothing,
		.resident = buffers
	};

	if (recent->since != p->since)
		return;
	memset(&sum, 0, sizeof(sum));
	for (int i = 0; i < WS_RECENT_BUCKETS; i++)
		ws_tally_add(&sum, &recent->buckets[i]);
	if (sweep)
	{
		count_pages(&sum);
		p->filling_until = ws_filling_until();
		facts.factors = sweep->factor;
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			buffers[i] = sweep->caches[i].buffers;
	}
	facts.followed = ws_advice_followed(&follower, sum.seconds, ws_shared_clock_ms());
	facts.off = ws_mean_difference(&differences);
	ws_advise(&facts, &p->table);
	/* what is due to buffers that fill is over when they are full */
	if (p->filling_until == 0)
		ws_advice_note_difference(&differences, &p->table, ws_shared_clock_ms());
}

void
ws_sweep_consumer_follow(double buffers)
{
	double	   *factor;
	bool		jumped;

	if (sweep == NULL)
		return;
	factor = &sweep->factor[WS_SWEEP_FOLLOWER];
	*factor = ws_advice_follow(&follower, *factor, buffers, NBuffers, ws_shared_clock_ms(), &jumped);
	if (!jumped)
		return;
	resize_sweeps(0);
	ws_seed(sweep, ws_reading.scans, ws_shared->sampler, ws_reading.simulated_shift, WS_SWEEP_FOLLOWER, true);
	ws_page_cache_consumer_jump();
}

const WsConsumer ws_sweep_consumer = {
	.begin = begin, .event = event, .forget = forget, .second = second, .publish = publish
};
