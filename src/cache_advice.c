/*
 * cache_advice.c
 *		Reading the stream, and what is made of it; see cache_advice.h.
 *
 * Which pages are simulated.  All that are sampled, but for strata that were
 * admitted lately: their pages come into the sweeps when they have been in the
 * table for as long as the recent counts go back.  A reset empties these counts
 * but not the sweeps, just as it leaves shared buffers as they are.
 */
#include "postgres.h"

#include <math.h>
#include <time.h>

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "cache_advice.h"
#include "compat.h"
#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "live_set.h"
#include "probe.h"
#include "recent.h"
#include "relsize.h"
#include "reuse.h"
#include "scans.h"
#include "sweep.h"

/* The time that recent counts cover. */
#define RECENT_TICKS		(WS_RECENT_BUCKETS * WS_RECENT_SECONDS * WS_TICKS_PER_SECOND)

/* Events that are taken over at a time, with the table locked. */
#define BATCH			256

/* One stratum more lasts after so long, if there is room. */
#define RELAX_SECONDS	60

/* How fast sweeps follow the share of resident pages, a second. */
#define RATE_FOLLOWS	0.05
/* Resident pages as if they had been sampled just as expected. */
#define PRIOR_PAGES		16

static struct
{
	bool		running;
	WsSweep    *sweep;
	WsReuse    *reuse;
	WsScans    *scans;
	uint32		shift;			/* pages of these strata are simulated */
	double		rate;			/* simulated buffers for each real one */

	WsRecent	recent;
	int			checked;		/* bucket in which residency was last checked, */
	uint64		dropped;		/* and how many events had been lost then */
	int64		drained_at;		/* times are in ms, of the monotonic clock */
	int64		minded_at;		/* when what is due each second was last done */
	int64		relax_at;		/* when to let more last again */
	int64		lost;			/* events, when a flood was last looked for */
	WsSampleLoad load;
	WsStreamWait wait;

} advice;

/* Memory for as long as the worker lives, on a line of cache. */
static void *
allocate(Size size)
{
	return (void *) TYPEALIGN(64, MemoryContextAlloc(TopMemoryContext, size + 64));
}

/*
 * Which sampled pages are in shared buffers is told by their events; find out,
 * because some may have been lost.
 */
static void
check_resident(void)
{
	WsSampler  *sampler = ws_shared->sampler;
	bool	   *resident = palloc(sampler->capacity * sizeof(bool));

	(void) ws_probe_resident(sampler->samples, sampler->capacity, resident);
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	for (uint32 i = 0; i < sampler->capacity; i++)
		sampler->samples[i].resident = resident[i] && sampler->samples[i].touched != 0;
	LWLockRelease(ws_shared->sample_lock);
	pfree(resident);
}

/*
 * Let sweeps have the size that belongs to the sample.
 *
 * Shared buffers hold so many sampled pages, and so many in all: their ratio,
 * not the nominal rate, is that of the sampled cache to the real one.  What
 * was there before is followed by this share of the difference.
 */
static void
set_sizes(double follow)
{
	double		expected = ldexp(1, -(int) advice.shift);
	double		entries = ws_probe_entries();
	double		rate = expected;
	double		rings[WS_NRINGS][WS_SWEEP_SIZES];
	uint32		resident = ws_sampler_resident(ws_shared->sampler, advice.shift);

	if (entries * 2 >= NBuffers)
		rate = (resident + PRIOR_PAGES) / (entries + PRIOR_PAGES / expected);
	advice.rate += follow * (rate - advice.rate);
	ws_sweep_resize(advice.sweep, advice.rate * NBuffers);

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		double		buffers = NBuffers * ws_sweep_factors[i];

		rings[WS_RING_READ][i] = ws_ring_read_pages(buffers) * advice.rate;
		rings[WS_RING_VACUUM][i] = ws_ring_vacuum_pages(buffers) * advice.rate;
		rings[WS_RING_WRITE][i] = ws_ring_write_pages(buffers) * advice.rate;
	}
	for (int r = 0; r < WS_NRINGS; r++)
		ws_sweep_set_rings(advice.sweep, r, rings[r]);
}

/* Let pages that are in the table but not in the sweeps come in. */
static void
seed(void)
{
	WsSampler  *sampler = ws_shared->sampler;
	uint32	   *pages = palloc(sampler->capacity * sizeof(uint32));
	uint32		all = ws_sampler_by_age(sampler, advice.shift, pages);
	uint32		n = 0;

	for (uint32 i = 0; i < all; i++)
		if (!ws_sweep_holds(advice.sweep, pages[i]))
			pages[n++] = pages[i];
	ws_sweep_seed(advice.sweep, pages, n);
	while (n-- > 0)
		(void) ws_reuse_access(advice.reuse, pages[n]);
	pfree(pages);
}

static void
leave_sweeps(uint32 page)
{
	ws_sweep_forget(advice.sweep, page);
	ws_reuse_forget(advice.reuse, page);
}

static void
forgotten(void *arg, uint32 page)
{
	leave_sweeps(page);
	ws_live_set_forget(page);
}

/* Sample one page in 2^shift from now on. */
static void
change_shift(uint32 shift)
{
	elog(DEBUG1, "working_set samples one page in 2^%u; it was in 2^%u for %.1f s, with %u pages, %.0f events a second and %.2f %% of a processor",
		 shift, ws_shared->sampler->shift, advice.load.settled, ws_shared->sampler->count,
		 advice.load.events, 100 * advice.load.busy);
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	ws_sampler_set_shift(ws_shared->sampler, shift, ws_shared_advance(), forgotten, NULL);
	LWLockRelease(ws_shared->sample_lock);
	ws_shared_sample(shift);
	advice.shift = Max(advice.shift, shift);
	memset(&advice.load, 0, sizeof(advice.load));
	set_sizes(1);
}

/*
 * Bring the table up to date with an event.  Returns the entry of its page, or
 * WS_NO_SAMPLE if the event is of no further interest; *known: was it there
 * before?
 */
static uint32
take_over(const WsEvent *event, uint32 hash, bool *known)
{
	WsSampler  *sampler = ws_shared->sampler;
	uint32		entry = ws_sampler_find(sampler, &event->page, hash);

	*known = entry != WS_NO_SAMPLE;
	if (event->act == WS_ACT_REMOVE)
	{
		WsSample   *sample = &sampler->samples[entry];
		bool		resident;

		/* soon after a use it may be no removal (lookup.c), so look for the page */
		if (*known)
			sample->resident = sample->touched + 1 >= event->tick &&
				ws_probe_resident(sample, 1, &resident) > 0;
		return WS_NO_SAMPLE;
	}
	if (!*known)
		entry = ws_sampler_enter(sampler, &event->page, hash, event->tick);
	if (entry != WS_NO_SAMPLE)
	{
		ws_sampler_touch(sampler, entry, event->tick, !event->maintenance);
		sampler->samples[entry].resident = 1;
	}
	return entry;
}

/*
 * Run an access through the sweeps, and count.
 *
 * The first access to a page that was in shared buffers tells nothing: since
 * when it was there, and whether it would have been in others, is not known.
 */
static void
simulate(WsEvent *event, uint32 hash, uint32 page, bool known)
{
	WsTally    *tally = ws_recent_present(&advice.recent);
	double		weight = ldexp(1, (int) advice.shift);
	int			group = ws_advice_group(hash);
	WsAccess	access;
	WsClass		class;
	uint32		missed;
	uint32		distance;

	if (ws_scans_wants_size(advice.scans, event))
		ws_scans_set_size(advice.scans, &event->page, ws_relation_blocks(&event->page));
	event->act = ws_scans_act(advice.scans, event);
	class = ws_scans_judge(advice.scans, event, advice.shift, &access);
	access.page = page;
	missed = ws_sweep_access(advice.sweep, &access);
	if (class == WS_CLASS_MAINTENANCE)
		return;
	distance = ws_reuse_access(advice.reuse, page);
	if (event->act == WS_ACT_EXTEND || (!known && event->act == WS_ACT_HIT))
		return;

	tally->weight = weight;
	if (event->run >= WS_RUN_SCAN)
	{
		double	   *runs = event->act == WS_ACT_READ ? tally->run_reads : tally->run_hits;

		runs[0] += weight;
		runs[1] += class == WS_CLASS_SCAN ? weight : 0;
	}
	for (; missed != 0; missed &= missed - 1)
		tally->missed[__builtin_ctz(missed)][class][group] += weight;
	tally->distances[distance == WS_REUSE_NEVER ? WS_REUSE_BINS - 1 :
					 ws_reuse_bin(distance / advice.rate)] += weight;
	if (event->act == WS_ACT_READ)
	{
		tally->sampled[class][group] += weight;
		tally->events[class]++;
	}
}

/* Take the next events from the stream; returns how many. */
static int
read_events(WsEvent *events)
{
	int			lost = 0;
	int			n = ws_stream_take(ws_shared->stream, &advice.wait, events, BATCH, &lost);
	uint32		now = ws_shared_advance();
	int			good = 0;

	/* what its check byte did not betray; the clock may have been restarted since */
	for (int i = 0; i < n; i++)
	{
		events[i].tick = Min(events[i].tick, now);
		if (events[i].page.fork >= 0 && events[i].page.fork <= MAX_FORKNUM)
			events[good++] = events[i];
	}
	lost += n - good;
	if (lost > 0)
		__atomic_fetch_add(&ws_counters_of(0)->dropped, lost, __ATOMIC_RELAXED);
	return good;
}

/*
 * Pages of strata that do not last are not simulated: they would be forgotten
 * while a large cache still holds them.
 */
static void
leave_brief(void)
{
	WsSampler  *sampler = ws_shared->sampler;

	if (sampler->lasting <= advice.shift)
		return;
	for (uint32 i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 &&
			ws_stratum(sampler->samples[i].hash, sampler->log2m) < sampler->lasting)
			leave_sweeps(i);
	advice.shift = sampler->lasting;
	set_sizes(1);
}

/*
 * Make room in the table if it is full; if that helps little, sample fewer
 * pages.
 */
static void
make_room(void)
{
	WsSampler  *sampler = ws_shared->sampler;
	bool		made;

	if (sampler->count < sampler->capacity)
		return;
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	made = ws_sampler_make_room(sampler, ws_shared_advance(), forgotten, NULL);
	LWLockRelease(ws_shared->sample_lock);
	leave_brief();
	if (!made && sampler->shift + 1 < WS_STRATA)
		change_shift(sampler->shift + 1);
}

/*
 * Forget what has been kept for long enough, or what a reset has made useless,
 * and let more last if there is room.
 */
static void
keep_up(int64 now)
{
	uint32		tick = ws_shared_advance();
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);

	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	(void) ws_sampler_expire(ws_shared->sampler, tick, forgotten, NULL);
	(void) ws_sampler_forget_before(ws_shared->sampler, floor, tick, forgotten, NULL);
	if (now >= advice.relax_at && ws_sampler_relax(ws_shared->sampler, tick))
		advice.relax_at = now + RELAX_SECONDS * 1000;
	LWLockRelease(ws_shared->sample_lock);
}

/*
 * Read the stream until it is empty, but no more than it has places: whoever
 * writes faster has to be slowed down first.  Returns how many events there
 * were, without those of pages that are no longer sampled: when the shift has
 * just risen, most that are still there are of that kind, and say nothing
 * about what comes.
 */
static int
drain(void)
{
	WsEvent		events[BATCH];
	uint32		hashes[BATCH];
	uint32		pages[BATCH];
	bool		known[BATCH];
	int			sum = 0;
	int			n;

	for (int batch = 0; batch < WS_STREAM_PLACES / BATCH; batch++)
	{
		n = read_events(events);
		for (int i = 0; i < n; i++)
		{
			hashes[i] = ws_probe_hash(&events[i].page);
			sum += ws_stratum(hashes[i], ws_shared->log2m) >= ws_shared->sampler->shift;
		}

		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		for (int i = 0; i < n; i++)
			pages[i] = take_over(&events[i], hashes[i], &known[i]);
		LWLockRelease(ws_shared->sample_lock);

		for (int i = 0; i < n; i++)
			if (pages[i] != WS_NO_SAMPLE &&
				ws_stratum(hashes[i], ws_shared->log2m) >= advice.shift)
				simulate(&events[i], hashes[i], pages[i], known[i]);
		make_room();
		if (n < BATCH)
			break;
	}
	ws_stream_end_turn(ws_shared->stream, &advice.wait);
	return sum;
}

static void
begin_sample(void)
{
	uint32		pages = ws_shared->sampler->capacity;

	if (advice.sweep == NULL)
	{
		advice.sweep = allocate(ws_sweep_size(pages));
		advice.reuse = allocate(ws_reuse_size(pages));
		advice.scans = allocate(ws_scans_size());
	}
	ws_sweep_init(advice.sweep, pages);
	ws_reuse_init(advice.reuse, pages);
	ws_scans_init(advice.scans, NBuffers);
	advice.shift = ws_shared->sampler->shift;
	memset(&advice.load, 0, sizeof(advice.load));
	set_sizes(1);
	seed();

	/* what a predecessor left there is not what comes in a moment */
	(void) drain();
}

void
ws_cache_advice_begin(void)
{
	if (!ws_shared->attached)
		return;
	advice.running = true;
	if (ws_shared->sampler)
		begin_sample();
	advice.drained_at = ws_shared_clock_ms();
	ws_recent_begin(&advice.recent, advice.drained_at);
	advice.lost = advice.recent.counted.dropped;
	if (ws_shared->sampler)
		ws_shared_sample(ws_shared->sampler->shift);
}

void
ws_cache_advice_restart(void)
{
	WsSampler  *sampler = ws_shared->sampler;

	if (sampler)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		ws_sampler_init(sampler, sampler->capacity, sampler->log2m, sampler->shift,
						ws_load(&ws_shared->sketch[WS_CLIENT]->floor));
		LWLockRelease(ws_shared->sample_lock);
	}
	ws_cache_advice_begin();
}

void
ws_cache_advice_end(void)
{
	if (advice.running)
		ws_shared_sample(WS_SAMPLE_OFF);
	advice.running = false;
}

static double
cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/* Follow the load, and change what is sampled accordingly. */
static void
follow_load(double seconds, double busy, double events, double lookups)
{
	WsSampleLoad *load = &advice.load;
	uint32		shift;

	ws_sample_load_follow(load, seconds, busy, events, lookups);
	shift = ws_sampler_next_shift(ws_shared->sampler, load);
	if (shift != ws_shared->sampler->shift)
		change_shift(shift);

	ws_shared_damp(ws_sweep_damping(ws_sweep_turns(advice.sweep) / (seconds * WS_TICKS_PER_SECOND)));
}

/* Strata that have been in the table for long enough join the sweeps. */
static void
admit_mature(void)
{
	uint32		now = ws_shared_advance();
	uint32		mature = Max(ws_sampler_mature_shift(ws_shared->sampler, now, RECENT_TICKS, 0),
							 ws_shared->sampler->lasting);

	if (mature < advice.shift && ws_shared->sampler->admitted[mature] + RECENT_TICKS <= now)
	{
		advice.shift = mature;
		set_sizes(1);
		seed();
	}
}

void
ws_cache_advice_tick(void)
{
	int64		now;
	double		seconds;
	double		start;
	double		lookups;
	double		events;
	uint32		filled;
	int64		lost;
	uint32		steps;

	if (!advice.running || !ws_enabled)
		return;

	now = ws_shared_clock_ms();
	filled = ws_shared->stream ? ws_stream_filled(ws_shared->stream) : 0;
	seconds = (now - advice.drained_at) / 1000.0;
	if (seconds < 1 && seconds >= 0 && filled < WS_STREAM_PLACES / 4 &&
		!ws_recent_outdated(&advice.recent) && !ws_live_set_due())
		return;

	lookups = ws_recent_lookups(&advice.recent);
	start = cpu_seconds();
	ws_recent_count(&advice.recent, now);
	if (ws_shared->sampler == NULL)
	{
		advice.drained_at = now;
		return;
	}

	events = drain();
	lookups = ws_recent_lookups(&advice.recent) - lookups;
	lost = advice.recent.counted.dropped - advice.lost;
	advice.lost += lost;
	steps = ws_sampler_flood_steps(events + Max(lost, 0), Max(seconds, 0), WS_STREAM_PLACES);
	if (steps > 0)
		change_shift(Min(ws_shared->sampler->shift + steps, WS_STRATA - 1));
	if (now - advice.minded_at >= 1000)
	{
		advice.minded_at = now;
		ws_scans_age(advice.scans, ws_next_oid());
		if (advice.checked != advice.recent.bucket || advice.dropped != advice.recent.counted.dropped)
			check_resident();
		if (advice.checked != advice.recent.bucket)
			keep_up(now);
		advice.checked = advice.recent.bucket;
		advice.dropped = advice.recent.counted.dropped;
		set_sizes(RATE_FOLLOWS);
		admit_mature();
	}
	follow_load(Max(seconds, 0.1), cpu_seconds() - start, events, Max(lookups, 0));
	advice.drained_at = now;
}

void
ws_cache_advice_drain(void)
{
	if (advice.running && ws_enabled && ws_shared->sampler)
		(void) drain();
}

/*
 * How many sampled pages were used, and by how much there were more than they
 * stand for.
 */
static void
count_pages(WsTally *sum)
{
	uint32		ticks = (uint32) (sum->seconds * WS_TICKS_PER_SECOND) + 1;
	WsEstimate	window;

	sum->pages = ws_sampler_count(ws_shared->sampler, ws_shared_advance(), ticks,
								  ws_load(&ws_shared->sketch[WS_CLIENT]->floor), advice.shift);
	if (sum->pages > 0)
	{
		(void) ws_estimate(NULL, WS_OF(WS_CLIENT), &ticks, 1, &window);
		sum->correction = window.pages / ldexp(sum->pages, (int) advice.shift);
	}
}

void
ws_cache_advice_make(double recommended, WsPublishedAdvice *a)
{
	static WsTally sum;
	uint32		buffers[WS_SWEEP_SIZES] = {0};

	memset(a, 0, sizeof(*a));
	if (!advice.running)
		return;

	ws_recent_sum(&advice.recent, &sum);
	if (ws_shared->sampler)
	{
		count_pages(&sum);
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			buffers[i] = ws_sweep_buffers(advice.sweep, i);
	}
	ws_advise(&sum, NBuffers, buffers, NULL, &a->table);
	a->computed_at = GetCurrentTimestamp();
	a->tick = ws_shared_advance();
	a->since = advice.recent.since;
	a->interval = ws_interval;
	a->expected_hit_ratio = ws_advice_expect(&a->table, &sum, recommended);
	if (ws_shared->sampler == NULL)
		strlcpy(a->reason, "there is no cache advice, because working_set.sample_pages is 0",
				sizeof(a->reason));
	else if (a->table.sure)
		ws_advice_reason(&a->table, a->reason, sizeof(a->reason));
	else
		ws_advice_doubt(&a->table, a->reason, sizeof(a->reason));
}
