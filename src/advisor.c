/*
 * advisor.c
 *		Reading the stream, and what is made of it; see advisor.h.
 *
 * Which pages are simulated.  All that are sampled, but for strata that were
 * admitted lately: their pages come into the sweeps when they have been in the
 * table for as long as the tally looks back.
 *
 * The tally.  Counts go into one of thirty buckets of ten seconds, so that
 * their sum is about the last five minutes.  A reset empties the buckets but
 * not the sweeps, just as it leaves shared buffers as they are.
 */
#include "postgres.h"

#include <math.h>
#include <time.h>

#include "common/pg_prng.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "advisor.h"
#include "compat.h"
#include "gauge.h"
#include "guc.h"
#include "probe.h"
#include "reuse.h"
#include "scans.h"
#include "sweep.h"

#define BUCKETS			30
#define BUCKET_SECONDS	10
#define TALLY_TICKS		(BUCKETS * BUCKET_SECONDS * WS_TICKS_PER_SECOND)

/* Events that are taken over at a time, with the table locked. */
#define BATCH			256

/* Seconds over which the load is averaged. */
#define LOAD_SECONDS	10
/*
 * When so many events a second come that the stream would soon overflow,
 * sample one page in 2^this of those before, at once.
 */
#define FLOOD_EVENTS	(3.0 * WS_STREAM_PLACES)
#define FLOOD_STEPS		3

/* How fast sweeps follow the share of resident pages, a second. */
#define RATE_FOLLOWS	0.05
/* Resident pages as if they had been sampled just as expected. */
#define PRIOR_PAGES		16

/* Hits are damped over 2^this ticks, at most. */
#define DAMP_SHIFT_MAX	3

static struct
{
	bool		running;
	WsSweep    *sweep;
	WsReuse    *reuse;
	WsScans    *scans;
	uint32		shift;			/* pages of these strata are simulated */
	double		rate;			/* simulated buffers for each real one */

	WsTally		buckets[BUCKETS];
	int			bucket;			/* the present one */
	TimestampTz bucket_end;
	TimestampTz counted_until;
	TimestampTz since;			/* value of WsShared.since that it is about */
	WsCounters	counted;		/* counters as they were then */

	int			checked;		/* bucket in which residency was last checked, */
	uint64		dropped;		/* and how many events had been lost then */
	TimestampTz drained_at;
	WsSampleLoad load;			/* averages since the shift was changed, or lately */
	WsStreamWait wait;

	TimestampTz curve_at;		/* when to take the next */
	WsDenning	denning;
} advisor;

/*
 * Memory for as long as the worker lives, on a line of cache.
 */
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
	double		expected = ldexp(1, -(int) advisor.shift);
	double		entries = ws_probe_entries();
	double		rate = expected;
	double		rings[WS_NRINGS][WS_SWEEP_SIZES];
	uint32		resident = ws_sampler_resident(ws_shared->sampler, advisor.shift);

	if (entries * 2 >= NBuffers)
		rate = (resident + PRIOR_PAGES) / (entries + PRIOR_PAGES / expected);
	advisor.rate += follow * (rate - advisor.rate);
	ws_sweep_resize(advisor.sweep, advisor.rate * NBuffers);

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		double		buffers = NBuffers * ws_sweep_factors[i];

		rings[WS_RING_READ][i] = ws_ring_read_pages(buffers) * advisor.rate;
		rings[WS_RING_VACUUM][i] = ws_ring_vacuum_pages(buffers) * advisor.rate;
		rings[WS_RING_WRITE][i] = ws_ring_write_pages(buffers) * advisor.rate;
	}
	for (int r = 0; r < WS_NRINGS; r++)
		ws_sweep_set_rings(advisor.sweep, r, rings[r]);
}

/*
 * Let pages that are in the table but not in the sweeps come in.
 */
static void
seed(void)
{
	WsSampler  *sampler = ws_shared->sampler;
	uint32	   *pages = palloc(sampler->capacity * sizeof(uint32));
	uint32		all = ws_sampler_by_age(sampler, advisor.shift, pages);
	uint32		n = 0;

	for (uint32 i = 0; i < all; i++)
		if (!ws_sweep_holds(advisor.sweep, pages[i]))
			pages[n++] = pages[i];
	ws_sweep_seed(advisor.sweep, pages, n);
	while (n-- > 0)
		(void) ws_reuse_access(advisor.reuse, pages[n]);
	pfree(pages);
}

static void
begin_tally(TimestampTz now)
{
	int64		removed;

	memset(advisor.buckets, 0, sizeof(advisor.buckets));
	advisor.bucket = 0;
	advisor.bucket_end = now + BUCKET_SECONDS * USECS_PER_SEC;
	advisor.counted_until = now;
	advisor.since = __atomic_load_n(&ws_shared->since, __ATOMIC_RELAXED);
	ws_shmem_read_counters(&advisor.counted, &removed);
}

void
ws_advisor_begin(void)
{
	TimestampTz now = GetCurrentTimestamp();

	if (!ws_shared->attached)
		return;
	advisor.running = true;
	begin_tally(now);
	advisor.curve_at = now;
	if (ws_shared->sampler == NULL)
		return;

	if (advisor.sweep == NULL)
	{
		uint32		pages = ws_shared->sampler->capacity;

		advisor.sweep = allocate(ws_sweep_size(pages));
		advisor.reuse = allocate(ws_reuse_size(pages));
		advisor.scans = allocate(ws_scans_size());
	}
	ws_sweep_init(advisor.sweep, ws_shared->sampler->capacity);
	ws_reuse_init(advisor.reuse, ws_shared->sampler->capacity);
	ws_scans_init(advisor.scans, NBuffers);
	advisor.shift = ws_shared->sampler->shift;
	advisor.drained_at = now;
	memset(&advisor.load, 0, sizeof(advisor.load));
	set_sizes(1);
	seed();
	ws_shmem_sample(ws_shared->sampler->shift);
}

void
ws_advisor_begin_anew(void)
{
	if (ws_shared->sampler)
	{
		WsSampler  *sampler = ws_shared->sampler;

		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		ws_sampler_init(sampler, sampler->capacity, sampler->log2m, sampler->shift,
						ws_shmem_advance());
		LWLockRelease(ws_shared->sample_lock);
	}
	ws_advisor_begin();
}

void
ws_advisor_end(void)
{
	if (advisor.running)
		ws_shmem_sample(WS_SAMPLE_OFF);
	advisor.running = false;
}

static void
forgotten(void *arg, uint32 page)
{
	ws_sweep_forget(advisor.sweep, page);
	ws_reuse_forget(advisor.reuse, page);
}

/*
 * Sample one page in 2^shift from now on.
 */
static void
change_shift(uint32 shift)
{
	elog(DEBUG1, "working_set samples one page in 2^%u; it was in 2^%u for %.1f s, with %u pages and %.2f %% of a processor",
		 shift, ws_shared->sampler->shift, advisor.load.settled, ws_shared->sampler->count,
		 100 * advisor.load.busy);
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	ws_sampler_set_shift(ws_shared->sampler, shift, ws_shmem_advance(), forgotten, NULL);
	LWLockRelease(ws_shared->sample_lock);
	ws_shmem_sample(shift);
	advisor.shift = Max(advisor.shift, shift);
	memset(&advisor.load, 0, sizeof(advisor.load));
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
		if (*known)
			sampler->samples[entry].resident = 0;
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
simulate(const WsEvent *event, uint32 hash, uint32 page, bool known)
{
	WsTally    *tally = &advisor.buckets[advisor.bucket];
	double		weight = ldexp(1, (int) advisor.shift);
	int			group = ws_advice_group(hash);
	WsAccess	access;
	WsClass		class;
	uint32		missed;
	uint32		distance;

	class = ws_scans_judge(advisor.scans, event, advisor.shift, &access);
	access.page = page;
	missed = ws_sweep_access(advisor.sweep, &access);
	if (class == WS_CLASS_MAINTENANCE)
		return;
	distance = ws_reuse_access(advisor.reuse, page);
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
					 ws_reuse_bin(distance / advisor.rate)] += weight;
	if (event->act == WS_ACT_READ)
	{
		tally->sampled[class][group] += weight;
		tally->events[class]++;
	}
}

/*
 * Take the next events from the stream; returns how many.
 */
static int
read_events(WsEvent *events)
{
	int			lost = 0;
	int			n = ws_stream_take(ws_shared->stream, &advisor.wait, events, BATCH, &lost);
	int			good = 0;

	/* what its check byte did not betray */
	for (int i = 0; i < n; i++)
		if (events[i].page.fork >= 0 && events[i].page.fork <= MAX_FORKNUM)
			events[good++] = events[i];
	lost += n - good;
	if (lost > 0)
		__atomic_fetch_add(&ws_shared->shards[0].counters.dropped, lost, __ATOMIC_RELAXED);
	return good;
}

/*
 * Make room in the table if it is full: what was not used for an hour goes
 * first, and if that is little, half of the pages.
 */
static void
make_room(void)
{
	WsSampler  *sampler = ws_shared->sampler;
	uint32		now = ws_shmem_advance();
	uint32		gone;

	if (sampler->count < sampler->capacity)
		return;
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	gone = ws_sampler_expire(sampler, now - WS_SAMPLE_SECONDS * WS_TICKS_PER_SECOND,
							 forgotten, NULL);
	LWLockRelease(ws_shared->sample_lock);
	if (gone < sampler->capacity / 8 && sampler->shift + 1 < WS_STRATA)
		change_shift(sampler->shift + 1);
}

/*
 * Read the stream until it is empty, but no more than it has places: whoever
 * writes faster than that has to be slowed down first.
 */
static void
drain(void)
{
	WsEvent		events[BATCH];
	uint32		hashes[BATCH];
	uint32		pages[BATCH];
	bool		known[BATCH];
	int			n;

	for (int batch = 0; batch < WS_STREAM_PLACES / BATCH; batch++)
	{
		n = read_events(events);
		for (int i = 0; i < n; i++)
			hashes[i] = ws_probe_hash(&events[i].page);

		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		for (int i = 0; i < n; i++)
			pages[i] = take_over(&events[i], hashes[i], &known[i]);
		LWLockRelease(ws_shared->sample_lock);

		for (int i = 0; i < n; i++)
			if (pages[i] != WS_NO_SAMPLE &&
				ws_stratum(hashes[i], ws_shared->log2m) >= advisor.shift)
				simulate(&events[i], hashes[i], pages[i], known[i]);
		make_room();
		if (n < BATCH)
			break;
	}
	ws_stream_end_turn(ws_shared->stream, &advisor.wait);
}

/*
 * Count what the server has counted since last time.
 */
static void
count(TimestampTz now)
{
	WsTally    *tally;
	WsCounters	c;
	int64		removed;

	if (advisor.since != __atomic_load_n(&ws_shared->since, __ATOMIC_RELAXED))
		begin_tally(now);

	for (int i = 0; now >= advisor.bucket_end && i < BUCKETS; i++)
	{
		advisor.bucket = (advisor.bucket + 1) % BUCKETS;
		memset(&advisor.buckets[advisor.bucket], 0, sizeof(WsTally));
		advisor.bucket_end += BUCKET_SECONDS * USECS_PER_SEC;
	}
	if (now >= advisor.bucket_end)
		advisor.bucket_end = now + BUCKET_SECONDS * USECS_PER_SEC;

	ws_shmem_read_counters(&c, &removed);
	tally = &advisor.buckets[advisor.bucket];
	tally->seconds += Max(now - advisor.counted_until, 0) / (double) USECS_PER_SEC;
	tally->hits += (double) c.hits[WS_CLIENT] - advisor.counted.hits[WS_CLIENT];
	tally->reads += (double) c.reads[WS_CLIENT] - advisor.counted.reads[WS_CLIENT];
	tally->scan_hits += (double) c.scan_hits - advisor.counted.scan_hits;
	tally->scan_reads += (double) c.scan_reads - advisor.counted.scan_reads;
	advisor.counted = c;
	advisor.counted_until = now;
}

static double
cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

/*
 * Follow the load, and change what is sampled accordingly.
 */
static void
follow_load(double seconds, double busy, double lookups)
{
	WsSampleLoad *load = &advisor.load;
	double		turns = ws_sweep_turns(advisor.sweep);
	double		ticks = turns > 0 ? seconds * WS_TICKS_PER_SECOND / turns : INFINITY;
	double		follow;
	uint32		shift;
	int			damp = 0;

	load->settled += seconds;
	follow = Min(seconds / Min(load->settled, LOAD_SECONDS), 1);
	load->busy += follow * (busy / seconds - load->busy);
	load->lookups += follow * (lookups / seconds - load->lookups);

	/* one step at a time, and then see for a second what it does */
	shift = ws_sampler_next_shift(ws_shared->sampler, load);
	if (shift != ws_shared->sampler->shift && load->settled >= 1)
		change_shift(shift);

	/* no longer than a turn of the smallest cache */
	while (damp < DAMP_SHIFT_MAX && 2 << damp <= ticks)
		damp++;
	ws_store(&ws_shared->damp_shift, ticks < 0.5 ? WS_DAMP_OFF : damp);
}

/*
 * Strata that have been in the table for long enough join the sweeps.
 */
static void
admit_mature(void)
{
	uint32		now = ws_shmem_advance();
	uint32		mature = ws_sampler_mature_shift(ws_shared->sampler, now, TALLY_TICKS, 0);

	if (mature < advisor.shift && ws_shared->sampler->admitted[mature] + TALLY_TICKS <= now)
	{
		advisor.shift = mature;
		set_sizes(1);
		seed();
	}
}

/*
 * Without a sample: follow the curve, at random instants.
 */
static void
follow_curve(TimestampTz now)
{
	ws_gauge_denning(&advisor.denning);
	advisor.curve_at = now +
		(int64) ((0.5 + pg_prng_double(&pg_global_prng_state)) * BUCKET_SECONDS * USECS_PER_SEC);
}

void
ws_advisor_tick(void)
{
	TimestampTz now;
	double		seconds;
	double		start;
	double		lookups;
	uint32		filled;

	if (!advisor.running || !ws_enabled)
		return;

	now = GetCurrentTimestamp();
	filled = ws_shared->stream ? ws_stream_filled(ws_shared->stream) : 0;
	seconds = (now - advisor.drained_at) / (double) USECS_PER_SEC;
	if (seconds < 1 && seconds >= 0 && filled < WS_STREAM_PLACES / 4 &&
		advisor.since == __atomic_load_n(&ws_shared->since, __ATOMIC_RELAXED))
		return;

	lookups = (double) advisor.counted.hits[WS_CLIENT] + advisor.counted.reads[WS_CLIENT];
	start = cpu_seconds();
	count(now);
	if (ws_shared->sampler == NULL)
	{
		if (now >= advisor.curve_at)
			follow_curve(now);
		advisor.drained_at = now;
		return;
	}

	drain();
	lookups = advisor.counted.hits[WS_CLIENT] + advisor.counted.reads[WS_CLIENT] - lookups;
	if (filled > WS_STREAM_PLACES / 4 && filled > FLOOD_EVENTS * seconds)
		change_shift(Min(ws_shared->sampler->shift + FLOOD_STEPS, WS_STRATA - 1));
	if (seconds >= 1)
	{
		ws_scans_age(advisor.scans);
		if (advisor.checked != advisor.bucket || advisor.dropped != advisor.counted.dropped)
			check_resident();
		advisor.checked = advisor.bucket;
		advisor.dropped = advisor.counted.dropped;
		set_sizes(RATE_FOLLOWS);
		admit_mature();
	}
	follow_load(Max(seconds, 0.1), cpu_seconds() - start, Max(lookups, 0));
	advisor.drained_at = now;
}

/*
 * How many sampled pages were used, and by how much there were more than they
 * stand for.
 */
static void
count_pages(WsTally *sum)
{
	uint32		ticks = (uint32) (sum->seconds * WS_TICKS_PER_SECOND) + 1;

	sum->pages = ws_sampler_count(ws_shared->sampler, ws_shmem_advance(), ticks,
								  ws_load(&ws_shared->sketch[WS_CLIENT]->floor), advisor.shift);
	if (sum->pages > 0)
		sum->correction = ws_gauge_pages(ticks) / ldexp(sum->pages, (int) advisor.shift);
}

void
ws_advisor_advise(double recommended, WsPublishedAdvice *a)
{
	static WsTally sum;
	uint32		buffers[WS_SWEEP_SIZES] = {0};
	double		denning[WS_SWEEP_SIZES];

	memset(a, 0, sizeof(*a));
	if (!advisor.running)
		return;

	memset(&sum, 0, sizeof(sum));
	for (int i = 0; i < BUCKETS; i++)
		ws_tally_add(&sum, &advisor.buckets[i]);
	if (ws_shared->sampler)
		count_pages(&sum);

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		if (ws_shared->sampler)
			buffers[i] = ws_sweep_buffers(advisor.sweep, i);
		else
			denning[i] = ws_denning_misses(advisor.denning.seconds, advisor.denning.pages,
										   WS_DENNING_POINTS, NBuffers * ws_sweep_factors[i]);
	}
	ws_advise(&sum, NBuffers, buffers, ws_shared->sampler ? NULL : denning, &a->table);
	a->computed_at = GetCurrentTimestamp();
	a->since = advisor.since;
	a->interval = ws_interval;
	a->expected_hit_ratio = ws_advice_expect(&a->table, &sum, recommended);
	ws_advice_doubt(&a->table, a->reason, sizeof(a->reason));
	if (a->table.sure)
		ws_advice_reason(&a->table, a->reason, sizeof(a->reason));
}
