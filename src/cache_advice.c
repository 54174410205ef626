/*
 * cache_advice.c
 *		Reading the sample events and predicting from them; see cache_advice.h.
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
#include <time.h>

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "attribution.h"
#include "cache_advice.h"
#include "compat.h"
#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "memory_advice.h"
#include "probe.h"
#include "relsize.h"
#include "sample_life.h"
#include "sample_origins.h"
#include "sample_pages.h"
#include "sample_without.h"
#include "scans.h"
#include "seed.h"
#include "sweep.h"

#define RECENT_TICKS	(WS_RECENT_BUCKETS * WS_RECENT_SECONDS * WS_TICKS_PER_SECOND)
#define BATCH			256		/* events read under one lock of the table, */
#define BATCH_PART		16		/* and at most this part of it */
#define RELAX_MS		60000	/* until one more stratum may last */
#define RATE_FOLLOWS	0.05	/* share of a change followed each second */
#define OFTEN			4000	/* lookups of sampled pages a second */

/* Private to the worker.  Times are in ms of the monotonic clock. */
static struct
{
	bool		running;
	WsSweep    *sweep;
	WsScans    *scans;
	uint32		shift;			/* pages of strata from this are simulated */
	double		rate;			/* simulated buffers for each real one */
	uint32		began;			/* since this tick */
	WsRecent	recent;
	int64		drained_at;
	int64		cared_at;		/* when care_for_table() was last called */
	int64		relax_at;		/* when the next stratum may last */
	int			checked;		/* bucket at care_for_table(), */
	uint64		dropped;		/* and the number of lost events at that time */
	int64		flood_dropped;	/* the same at stem_flood() */
	WsSampleLoad load;
	WsStreamWait wait;
	WsFollower	follower;		/* of the recommended size */
	WsDifferences differences;	/* of the last hours */
}			sim;

/* Memory on a cache line, for as long as the worker lives. */
static void *
allocate(Size size)
{
	return (void *) TYPEALIGN(64, MemoryContextAlloc(TopMemoryContext, size + 64));
}

/*
 * Resize the sweeps to the share of all pages that are simulated.  The sizes
 * move towards it by "follow" of the difference.
 */
static void
resize_sweeps(double follow)
{
	double		rings[WS_SWEEP_SIZES];

	sim.rate += follow * (ws_seed_rate(ws_shared->sampler, sim.shift) - sim.rate);
	ws_sweep_resize(sim.sweep, sim.rate * NBuffers);
	for (int ring = 0; ring < WS_NRINGS; ring++)
	{
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			rings[i] = ws_ring_pages(ring, NBuffers * sim.sweep->factor[i]) * sim.rate;
		ws_sweep_set_rings(sim.sweep, ring, rings);
	}
}

/* follow 0: in a flood the table lags behind, and does not show the share. */
static void
set_simulated_shift(uint32 shift, double follow)
{
	sim.rate = ldexp(sim.rate, (int) sim.shift - (int) shift);
	sim.shift = shift;
	resize_sweeps(follow);
}

/* Simulate strata that have been in the table for long enough. */
static void
simulate_mature(void)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32		now = ws_shared_advance();
	uint32		mature = ws_sampler_mature_shift(sampler, now, RECENT_TICKS, 0);

	mature = Max(mature, sampler->lasting);
	if (mature < sim.shift && sampler->admitted[mature] + RECENT_TICKS <= now)
	{
		set_simulated_shift(mature, 1);
		ws_seed(sim.sweep, sim.scans, ws_shared->sampler, sim.shift, 0, false);
	}
}

/* Simulate strata no more that do not last. */
static void
remove_brief(void)
{
	const WsSampler *sampler = ws_shared->sampler;

	if (sampler->lasting <= sim.shift)
		return;
	for (uint32 i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 &&
			ws_hash_stratum(sampler->samples[i].hash, sampler->log2m) < sampler->lasting)
			ws_sweep_forget(sim.sweep, i);
	set_simulated_shift(sampler->lasting, 0);
}

/* A page leaves the table, or cannot be used again. */
static void
on_evict(uint32 page)
{
	ws_sweep_forget(sim.sweep, page);
	ws_memory_advice_forget(page);
	ws_sample_life_forget(page);
	ws_sample_without_forget(page);
}

/* Sample one page in 2^shift from now on, or as few as the writers chose. */
static void
change_shift(uint32 wanted)
{
	uint32		shift = ws_shared_resample(ws_shared->sampler->shift, wanted);
	bool		guessed = shift != wanted || (sim.load.guessed && shift < ws_shared->sampler->shift);

	elog(DEBUG1, "working_set samples one page in 2^%u; it was in 2^%u for %.1f s, with %u pages, %.0f events a second and %.2f %% of a processor",
		 shift, ws_shared->sampler->shift, sim.load.settled, ws_shared->sampler->count, sim.load.events, 100 * sim.load.busy);
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	ws_sampler_set_shift(ws_shared->sampler, shift, ws_shared_advance(), on_evict);
	ws_attribution_raise(ws_shared->attribution, shift);
	LWLockRelease(ws_shared->sample_lock);
	memset(&sim.load, 0, sizeof(sim.load));
	sim.load.guessed = guessed;
	set_simulated_shift(Max(sim.shift, shift), 0);
}

/*
 * Free entries of the table for so many pages: evict some, and sample fewer
 * pages if that is too little.  If the table became full, the pages of a whole
 * relation, read together, would be missing.
 */
static void
free_entries(uint32 pages)
{
	WsSampler  *sampler = ws_shared->sampler;
	bool		enough;

	while (sampler->capacity - sampler->count < pages && sampler->shift + 1 < WS_STRATA)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		enough = ws_sampler_thin(sampler, ws_shared_advance(), on_evict);
		LWLockRelease(ws_shared->sample_lock);
		remove_brief();
		if (!enough && sampler->capacity - sampler->count < pages)
			change_shift(sampler->shift + 1);
	}
}

/*
 * Expire pages that were kept for long enough or that a reset made useless,
 * and let one more stratum last if the table has free entries.
 */
static void
expire(int64 now)
{
	uint32		tick = ws_shared_advance();

	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	(void) ws_sampler_expire(ws_shared->sampler, tick, on_evict);
	(void) ws_sampler_evict_before(ws_shared->sampler,
								   ws_load(&ws_shared->sketch[WS_CLIENT]->floor), tick, on_evict);
	if (now >= sim.relax_at && ws_sampler_widen(ws_shared->sampler, tick))
		sim.relax_at = now + RELAX_MS;
	LWLockRelease(ws_shared->sample_lock);
}

/* Once a second.  Returns what of clock() a smaller sample would not save. */
static clock_t
care_for_table(int64 now)
{
	bool		next_bucket = sim.checked != sim.recent.bucket;

	sim.cared_at = now;
	ws_scans_age(sim.scans, ws_next_oid());
	if (next_bucket || sim.dropped != sim.recent.counted.dropped)
		ws_sample_pages_check_resident();
	if (next_bucket)
		expire(now);
	sim.checked = sim.recent.bucket;
	sim.dropped = sim.recent.counted.dropped;
	resize_sweeps(RATE_FOLLOWS);
	simulate_mature();
	ws_sample_origins_care();
	ws_sample_without_care(sim.scans, sim.shift);
	return ws_memory_advice_care(sim.sweep, sim.shift, now);
}

/* An event, and what is found out about it. */
typedef struct Seen
{
	WsEvent		event;
	uint32		hash;
	bool		sampled;		/* still, after the shift has risen */
	WsClass		class;
	WsAccess	access;			/* .page: WS_NO_SAMPLE: nothing to simulate */
	bool		known;			/* was the page in the table? */
} Seen;

static void
classify(Seen *seen)
{
	WsEvent    *event = &seen->event;

	seen->hash = ws_probe_hash(&event->page);
	seen->sampled = ws_hash_stratum(seen->hash, ws_shared->log2m) >= ws_shared->sampler->shift;
	seen->class = WS_CLASS_REST;
	seen->access.page = WS_NO_SAMPLE;
	if (!seen->sampled || event->kind == WS_EVENT_REMOVE)
		return;
	if (ws_scans_wants_size(sim.scans, event))
		ws_scans_set_size(sim.scans, &event->page, ws_relation_blocks(&event->page));
	event->kind = ws_scans_event_kind(sim.scans, event);
	seen->class = ws_scans_classify(sim.scans, event, ws_shared->sampler->shift,
									sim.sweep->factor, &seen->access);
	seen->access.ringed = ws_ring_is_used(seen->access.ring) ? seen->access.ringed : 0;
}

/* Update the table with an event. */
static void
update_table(Seen *seen)
{
	WsSampler  *sampler = ws_shared->sampler;
	const WsEvent *event = &seen->event;
	uint32		entry = ws_sampler_find(sampler, &event->page, seen->hash);

	seen->known = entry != WS_NO_SAMPLE;
	if (event->kind == WS_EVENT_REMOVE)
	{
		WsSample   *sample = &sampler->samples[entry];
		bool		resident;

		if (event->run > 0)
			ws_sample_pages_suspect(&event->page);
		/* soon after a use it may be no removal (lookup.c), so look it up */
		if (seen->known)
			sample->resident = sample->touched + 1 >= event->tick && ws_probe_resident(sample, 1, &resident, NULL) > 0;
		return;
	}
	if (seen->known && sampler->samples[entry].dead)
	{
		/* the file has grown again: a new page */
		ws_sampler_evict(sampler, entry, on_evict);
		seen->known = false;
	}
	if (!seen->known)
		entry = ws_sampler_enter(sampler, &event->page, seen->hash, event->tick);
	if (entry == WS_NO_SAMPLE)
		return;
	ws_sampler_touch(sampler, entry, event->tick, !event->maintenance);
	ws_sample_origins_use(event, seen->hash);
	if (seen->class == WS_CLASS_SCAN || seen->access.ringed == 0)
		ws_sampler_hold(sampler, entry, event->tick, seen->class == WS_CLASS_SCAN);
	sampler->samples[entry].resident = 1;
	if (ws_hash_stratum(seen->hash, sampler->log2m) >= sim.shift)
		seen->access.page = entry;
}

/* Is a page of this stratum that is not in the table one that was not used? */
static bool
is_settled(uint32 stratum)
{
	const WsSampler *sampler = ws_shared->sampler;

	return sampler->admitted[stratum] <= sim.began || sampler->admitted[stratum] + sampler->brief <= ws_shared_advance();
}

/* Run an access through the sweeps, and count. */
static void
simulate(Seen *seen)
{
	const WsEvent *event = &seen->event;
	bool		clients = seen->class != WS_CLASS_MAINTENANCE && event->kind != WS_EVENT_EXTEND;
	bool		counted = clients && (seen->known || event->kind != WS_EVENT_HIT);
	WsTierAccess access = {
		.page = seen->access.page,
		.stratum = ws_hash_stratum(seen->hash, ws_shared->log2m),
		.group = ws_hash_group(seen->hash),
		.id = event->page,
		.evicted = sim.sweep->evicted,
		.used = seen->known,
		.run = event->run >= WS_RUN_SCAN,
		.new = event->kind == WS_EVENT_EXTEND && !event->maintenance
	};
	WsTallied	tallied = {
		.class = seen->class,
		.read = event->kind == WS_EVENT_READ,
		.run = access.run,
		.known = seen->known,
		.settled = seen->known || is_settled(access.stratum),
		.group = access.group,
		.weight = ldexp(1, (int) sim.shift),
		.factors = sim.sweep->factor,
		.fast = sim.sweep->fast
	};

	ws_sample_without_access(event, &seen->access, seen->hash, counted);
	if (!ws_sweep_in_burst(event->tick))
		seen->access.absent |= sim.sweep->fast;
	tallied.missed = access.missed = ws_sweep_access(sim.sweep, &seen->access, &tallied.cold);
	ws_memory_advice_access(&access, counted);
	if (clients)
		ws_tally_access(&sim.recent.buckets[sim.recent.bucket], &tallied);
}

/* Read up to "most" from the stream; returns how many events are sound. */
static int
read_events(WsEvent *events, int most)
{
	int			lost = 0;
	int			n = ws_stream_take(ws_shared->stream, &sim.wait, events, most, &lost);
	uint32		now = ws_shared_advance();
	int			good = 0;

	/* a check byte misses some damage, and the clock may have been restarted */
	for (int i = 0; i < n; i++)
	{
		events[i].tick = Min(events[i].tick, now);
		if (events[i].page.fork >= 0 && events[i].page.fork <= MAX_FORKNUM)
			events[good++] = events[i];
	}
	__atomic_fetch_add(&ws_counters_of(0)->dropped, lost + n - good, __ATOMIC_RELAXED);
	return good;
}

/*
 * Read the stream until it is empty, but no more events than it has places: if
 * writers are faster than this, fewer pages have to be sampled first.  Returns
 * how many events were of pages that are still sampled: after the shift has
 * risen, the others show nothing about the events to come.
 */
static int
drain(void)
{
	WsEvent		events[BATCH];
	Seen		seen[BATCH];
	int			sum = 0;
	int			most = Min(BATCH, ws_shared->sampler->capacity / BATCH_PART);
	int			n = most;

	for (int batch = 0; n == most && batch < WS_STREAM_PLACES / most; batch++)
	{
		n = read_events(events, most);
		ws_scans_set_server(sim.scans, ws_next_oid(), NBuffers);
		if (ws_shared_thinned(ws_shared->sampler->shift))
			change_shift(ws_shared->sampler->shift);
		free_entries(n);
		for (int i = 0; i < n; i++)
		{
			seen[i].event = events[i];
			classify(&seen[i]);
			sum += seen[i].sampled;
		}
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		for (int i = 0; i < n; i++)
			update_table(&seen[i]);
		LWLockRelease(ws_shared->sample_lock);
		for (int i = 0; i < n; i++)
			if (seen[i].access.page != WS_NO_SAMPLE)
				simulate(&seen[i]);
	}
	ws_stream_end_turn(ws_shared->stream, &sim.wait);
	return sum;
}

static void
begin_sample(bool empty)
{
	WsSampler  *sampler = ws_shared->sampler;

	if (empty)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		ws_sampler_init(sampler, sampler->capacity, sampler->log2m, sampler->shift,
						ws_load(&ws_shared->sketch[WS_CLIENT]->floor));
		LWLockRelease(ws_shared->sample_lock);
	}
	if (sim.sweep == NULL)
	{
		sim.sweep = allocate(ws_sweep_size(sampler->capacity));
		sim.scans = allocate(ws_scans_size());
	}
	ws_sample_origins_begin(empty);
	ws_sample_without_begin();
	ws_sweep_init(sim.sweep, sampler->capacity);
	sim.began = ws_shared_advance();
	ws_memory_advice_begin(sampler->capacity);
	memset(&sim.follower, 0, sizeof(sim.follower));
	memset(&sim.differences, 0, sizeof(sim.differences));
	ws_scans_init(sim.scans, NBuffers);
	memset(&sim.load, 0, sizeof(sim.load));
	/* of what was saved, some may be gone */
	ws_sample_pages_begin(on_evict);
	set_simulated_shift(sampler->shift, 1);
	ws_seed(sim.sweep, sim.scans, ws_shared->sampler, sim.shift, 0, true);
	/* events that a former worker left are not part of the load to come */
	(void) drain();
	ws_shared_sample(sampler->shift);
}

void
ws_cache_advice_begin(bool empty)
{
	if (!ws_shared->attached)
		return;
	sim.running = true;
	if (ws_shared->sampler)
		begin_sample(empty);
	sim.drained_at = ws_shared_clock_ms();
	ws_recent_begin(&sim.recent, sim.drained_at);
	sim.flood_dropped = sim.recent.counted.dropped;
}

void
ws_cache_advice_end(void)
{
	if (sim.running)
		ws_shared_sample(WS_SAMPLE_OFF);
	sim.running = false;
}

/* Sample far fewer pages at once if so many events came in so many seconds. */
static void
stem_flood(int events, double seconds)
{
	int64		lost = sim.recent.counted.dropped - sim.flood_dropped;
	uint32		steps = ws_sampler_flood_steps(events + Max(lost, 0), Max(seconds, 0), WS_STREAM_PLACES);

	sim.flood_dropped += lost;
	if (steps > 0)
		change_shift(Min(ws_shared->sampler->shift + steps, WS_STRATA - 1));
}

/* Follow the load, and adapt what is sampled and reported to it. */
static void
follow_load(double seconds, double busy, double events, double lookups)
{
	uint32		recent = ws_sampler_select(ws_shared->sampler, ws_load(&ws_shared->sketch[WS_CLIENT]->tick),
										   60 * WS_TICKS_PER_SECOND, 0, 0, NULL);
	uint32		shift;

	ws_sample_load_follow(&sim.load, seconds, busy, events, lookups, recent);
	shift = ws_sampler_next_shift(ws_shared->sampler, &sim.load);
	if (shift != ws_shared->sampler->shift)
		change_shift(shift);
	ws_sweep_measure(sim.sweep, seconds);
	ws_shared_damp(ws_sweep_damping(sim.sweep, ldexp(sim.load.lookups, -(int) shift) > OFTEN));
}

static bool
is_due(double seconds)
{
	return seconds >= 1 || seconds < 0 || ws_sample_life_due() ||
		sim.recent.since != ws_shared_since() ||
		(ws_shared->stream && ws_stream_filled(ws_shared->stream) >= WS_STREAM_PLACES / 4);
}

void
ws_cache_advice_tick(void)
{
	int64		now = ws_shared_clock_ms();
	double		seconds = (now - sim.drained_at) / 1000.0;
	clock_t		start;
	double		lookups;

	if (!sim.running || !ws_enabled || !is_due(seconds))
		return;
	start = clock();
	sim.drained_at = now;
	lookups = ws_recent_count(&sim.recent, now);
	if (ws_shared->sampler)
	{
		int			events = drain();

		ws_sample_pages_look(now, on_evict);
		stem_flood(events, seconds);
		if (now - sim.cared_at >= 1000)
			start += care_for_table(now);
		follow_load(Max(seconds, 0.1), (clock() - start) / (double) CLOCKS_PER_SEC,
					events, lookups);
	}
}

void
ws_cache_advice_drain(void)
{
	if (sim.running && ws_enabled && ws_shared->sampler)
		(void) drain();
}

/* Compare the simulated pages that were used with the estimate of all. */
static void
count_pages(WsTally *sum)
{
	uint32		ticks = (uint32) (sum->seconds * WS_TICKS_PER_SECOND) + 1;
	WsEstimate	window;

	sum->pages = ws_sampler_select(ws_shared->sampler, ws_shared_advance(), ticks,
								   ws_load(&ws_shared->sketch[WS_CLIENT]->floor), sim.shift, NULL);
	if (sum->pages > 0)
	{
		(void) ws_estimate(NULL, WS_OF(WS_CLIENT), &ticks, 1, &window);
		ws_estimate_alive(&window, ws_sampler_alive(ws_shared->sampler, ws_shared_advance(), ticks,
													ws_load(&ws_shared->sketch[WS_CLIENT]->floor), sim.shift));
		sum->correction = window.pages / ldexp(sum->pages, (int) sim.shift);
	}
}

void
ws_cache_advice_make(WsPublished *p)
{
	static WsTally sum;
	static const double nothing[WS_SWEEP_SIZES];
	uint32		buffers[WS_SWEEP_SIZES] = {0};
	WsAdviceFacts facts = {
		.tally = &sum,
		.parts = sim.recent.buckets,
		.nparts = WS_RECENT_BUCKETS,
		.oldest = (sim.recent.bucket + 1) % WS_RECENT_BUCKETS,
		.nbuffers = NBuffers,
		.other_usage = ws_probe_usage_max() == WS_USAGE_MAX ? 0 : ws_probe_usage_max(),
		.factors = nothing,
		.resident = buffers
	};

	if (!sim.running || sim.recent.since != p->since)
		return;

	memset(&sum, 0, sizeof(sum));
	for (int i = 0; i < WS_RECENT_BUCKETS; i++)
		ws_tally_add(&sum, &sim.recent.buckets[i]);
	if (ws_shared->sampler)
	{
		count_pages(&sum);
		ws_sample_without_make(p);
		facts.factors = sim.sweep->factor;
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			buffers[i] = ws_sweep_buffers(sim.sweep, i);
	}
	facts.followed = ws_advice_followed(&sim.follower, sum.seconds, ws_shared_clock_ms());
	facts.off = ws_mean_difference(&sim.differences);
	ws_advise(&facts, &p->table);
	/* what is due to buffers that fill is over when they are full */
	if (p->filling_until == 0)
		ws_advice_note_difference(&sim.differences, &p->table, ws_shared_clock_ms());
}

void
ws_cache_advice_follow(double buffers)
{
	double	   *factor;
	bool		jumped;

	if (!sim.running || ws_shared->sampler == NULL)
		return;
	factor = &sim.sweep->factor[WS_SWEEP_FOLLOWER];
	*factor = ws_advice_follow(&sim.follower, *factor, buffers, NBuffers, ws_shared_clock_ms(),
							   &jumped);
	if (!jumped)
		return;
	resize_sweeps(0);
	ws_seed(sim.sweep, sim.scans, ws_shared->sampler, sim.shift, WS_SWEEP_FOLLOWER, true);
	ws_memory_advice_jump(sim.sweep);
}
