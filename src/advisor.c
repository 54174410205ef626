/*
 * advisor.c
 *		Reading the stream, and what is made of it; see advisor.h.
 *
 * Which pages are simulated.  All that are sampled, but for strata that were
 * admitted lately: their pages come into the sweeps when they have been in the
 * table for as long as the books look back.  A reset empties the books but not
 * the sweeps, just as it leaves shared buffers as they are.
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
#include "books.h"
#include "compat.h"
#include "gauge.h"
#include "guc.h"
#include "liveset.h"
#include "probe.h"
#include "relsize.h"
#include "reuse.h"
#include "scans.h"
#include "sweep.h"

/* What the books look back. */
#define BOOKS_TICKS		(WS_BOOKS_BUCKETS * WS_BOOKS_SECONDS * WS_TICKS_PER_SECOND)

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

	WsBooks		books;
	int			checked;		/* bucket in which residency was last checked, */
	uint64		dropped;		/* and how many events had been lost then */
	int64		drained_at;		/* times are in ms, by the clock that nobody sets */
	int64		minded_at;		/* when what is due each second was last done */
	int64		relax_at;		/* when to let more last again */
	int64		lost;			/* events, when a flood was last looked for */
	WsSampleLoad load;
	WsStreamWait wait;

	int64		curve_at;		/* when to take the next */
	WsDenning	denning;
} advisor;

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

/* Let pages that are in the table but not in the sweeps come in. */
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
leave_sweeps(uint32 page)
{
	ws_sweep_forget(advisor.sweep, page);
	ws_reuse_forget(advisor.reuse, page);
}

static void
forgotten(void *arg, uint32 page)
{
	leave_sweeps(page);
	ws_liveset_forget(page);
}

/* Sample one page in 2^shift from now on. */
static void
change_shift(uint32 shift)
{
	elog(DEBUG1, "working_set samples one page in 2^%u; it was in 2^%u for %.1f s, with %u pages, %.0f events a second and %.2f %% of a processor",
		 shift, ws_shared->sampler->shift, advisor.load.settled, ws_shared->sampler->count,
		 advisor.load.events, 100 * advisor.load.busy);
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
	WsTally    *tally = ws_books_present(&advisor.books);
	double		weight = ldexp(1, (int) advisor.shift);
	int			group = ws_advice_group(hash);
	WsAccess	access;
	WsClass		class;
	uint32		missed;
	uint32		distance;

	if (ws_scans_wants_size(advisor.scans, event))
		ws_scans_set_size(advisor.scans, &event->page, ws_relation_blocks(&event->page));
	event->act = ws_scans_act(advisor.scans, event);
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

/* Take the next events from the stream; returns how many. */
static int
read_events(WsEvent *events)
{
	int			lost = 0;
	int			n = ws_stream_take(ws_shared->stream, &advisor.wait, events, BATCH, &lost);
	uint32		now = ws_shmem_advance();
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
		__atomic_fetch_add(&ws_shared->shards[0].counters.dropped, lost, __ATOMIC_RELAXED);
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

	if (sampler->lasting <= advisor.shift)
		return;
	for (uint32 i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 &&
			ws_stratum(sampler->samples[i].hash, sampler->log2m) < sampler->lasting)
			leave_sweeps(i);
	advisor.shift = sampler->lasting;
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
	made = ws_sampler_make_room(sampler, ws_shmem_advance(), forgotten, NULL);
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
	uint32		tick = ws_shmem_advance();
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);

	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	(void) ws_sampler_expire(ws_shared->sampler, tick, forgotten, NULL);
	(void) ws_sampler_forget_before(ws_shared->sampler, floor, tick, forgotten, NULL);
	if (now >= advisor.relax_at && ws_sampler_relax(ws_shared->sampler, tick))
		advisor.relax_at = now + RELAX_SECONDS * 1000;
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
				ws_stratum(hashes[i], ws_shared->log2m) >= advisor.shift)
				simulate(&events[i], hashes[i], pages[i], known[i]);
		make_room();
		if (n < BATCH)
			break;
	}
	ws_stream_end_turn(ws_shared->stream, &advisor.wait);
	return sum;
}

static void
begin_sample(void)
{
	uint32		pages = ws_shared->sampler->capacity;

	if (advisor.sweep == NULL)
	{
		advisor.sweep = allocate(ws_sweep_size(pages));
		advisor.reuse = allocate(ws_reuse_size(pages));
		advisor.scans = allocate(ws_scans_size());
	}
	ws_sweep_init(advisor.sweep, pages);
	ws_reuse_init(advisor.reuse, pages);
	ws_scans_init(advisor.scans, NBuffers);
	advisor.shift = ws_shared->sampler->shift;
	memset(&advisor.load, 0, sizeof(advisor.load));
	set_sizes(1);
	seed();

	/* what a predecessor left there is not what comes in a moment */
	(void) drain();
}

void
ws_advisor_begin(void)
{
	if (!ws_shared->attached)
		return;
	advisor.running = true;
	if (ws_shared->sampler)
		begin_sample();
	advisor.curve_at = advisor.drained_at = ws_shmem_clock_ms();
	ws_books_begin(&advisor.books, advisor.drained_at);
	advisor.lost = advisor.books.counted.dropped;
	if (ws_shared->sampler)
		ws_shmem_sample(ws_shared->sampler->shift);
}

void
ws_advisor_begin_anew(void)
{
	WsSampler  *sampler = ws_shared->sampler;

	if (sampler)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		ws_sampler_init(sampler, sampler->capacity, sampler->log2m, sampler->shift,
						ws_load(&ws_shared->sketch[WS_CLIENT]->floor));
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
	WsSampleLoad *load = &advisor.load;
	uint32		shift;

	ws_sample_load_follow(load, seconds, busy, events, lookups);
	shift = ws_sampler_next_shift(ws_shared->sampler, load);
	if (shift != ws_shared->sampler->shift)
		change_shift(shift);

	ws_shmem_damp(ws_sweep_damping(ws_sweep_turns(advisor.sweep) / (seconds * WS_TICKS_PER_SECOND)));
}

/* Strata that have been in the table for long enough join the sweeps. */
static void
admit_mature(void)
{
	uint32		now = ws_shmem_advance();
	uint32		mature = Max(ws_sampler_mature_shift(ws_shared->sampler, now, BOOKS_TICKS, 0),
							 ws_shared->sampler->lasting);

	if (mature < advisor.shift && ws_shared->sampler->admitted[mature] + BOOKS_TICKS <= now)
	{
		advisor.shift = mature;
		set_sizes(1);
		seed();
	}
}

/* Without a sample: follow the curve, at random instants. */
static void
follow_curve(int64 now)
{
	ws_gauge_denning(&advisor.denning);
	advisor.curve_at = now +
		(int64) ((0.5 + pg_prng_double(&pg_global_prng_state)) * WS_BOOKS_SECONDS * 1000);
}

void
ws_advisor_tick(void)
{
	int64		now;
	double		seconds;
	double		start;
	double		lookups;
	double		events;
	uint32		filled;
	int64		lost;
	uint32		steps;

	if (!advisor.running || !ws_enabled)
		return;

	now = ws_shmem_clock_ms();
	filled = ws_shared->stream ? ws_stream_filled(ws_shared->stream) : 0;
	seconds = (now - advisor.drained_at) / 1000.0;
	if (seconds < 1 && seconds >= 0 && filled < WS_STREAM_PLACES / 4 &&
		!ws_books_closed(&advisor.books) && !ws_liveset_due())
		return;

	lookups = ws_books_lookups(&advisor.books);
	start = cpu_seconds();
	ws_books_count(&advisor.books, now);
	if (ws_shared->sampler == NULL)
	{
		if (now >= advisor.curve_at)
			follow_curve(now);
		advisor.drained_at = now;
		return;
	}

	events = drain();
	lookups = ws_books_lookups(&advisor.books) - lookups;
	lost = advisor.books.counted.dropped - advisor.lost;
	advisor.lost += lost;
	steps = ws_sampler_flood_steps(events + Max(lost, 0), Max(seconds, 0), WS_STREAM_PLACES);
	if (steps > 0)
		change_shift(Min(ws_shared->sampler->shift + steps, WS_STRATA - 1));
	if (now - advisor.minded_at >= 1000)
	{
		advisor.minded_at = now;
		ws_scans_age(advisor.scans, ws_next_oid());
		if (advisor.checked != advisor.books.bucket || advisor.dropped != advisor.books.counted.dropped)
			check_resident();
		if (advisor.checked != advisor.books.bucket)
			keep_up(now);
		advisor.checked = advisor.books.bucket;
		advisor.dropped = advisor.books.counted.dropped;
		set_sizes(RATE_FOLLOWS);
		admit_mature();
	}
	follow_load(Max(seconds, 0.1), cpu_seconds() - start, events, Max(lookups, 0));
	advisor.drained_at = now;
}

void
ws_advisor_catch_up(void)
{
	if (advisor.running && ws_enabled && ws_shared->sampler)
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

	sum->pages = ws_sampler_count(ws_shared->sampler, ws_shmem_advance(), ticks,
								  ws_load(&ws_shared->sketch[WS_CLIENT]->floor), advisor.shift);
	if (sum->pages > 0)
		sum->correction = ws_gauge_window(ticks).pages / ldexp(sum->pages, (int) advisor.shift);
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

	ws_books_sum(&advisor.books, &sum);
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
	a->tick = ws_shmem_advance();
	a->since = advisor.books.since;
	a->interval = ws_interval;
	a->expected_hit_ratio = ws_advice_expect(&a->table, &sum, recommended);
	ws_advice_doubt(&a->table, a->reason, sizeof(a->reason));
	if (a->table.sure)
		ws_advice_reason(&a->table, a->reason, sizeof(a->reason));
}
