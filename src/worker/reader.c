/*
 * reader.c
 *		Reading the events of sampled pages, and keeping the table of these; see
 *		reader.h.
 */
#include "postgres.h"

#include <math.h>
#include <time.h>

#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "attribution.h"
#include "compat.h"
#include "consumer.h"
#include "counters.h"
#include "gone_pages.h"
#include "guc.h"
#include "probe.h"
#include "reader.h"
#include "relsize.h"
#include "sampler.h"
#include "shared.h"

#define BATCH			256		/* events read under one lock of the table, */
#define BATCH_PART		16		/* and at most this part of it */
#define RELAX_MS		60000	/* until one more stratum may last */
#define OFTEN			4000	/* lookups of sampled pages a second */

/* In this order: those after the sweeps see what these missed. */
static const WsConsumer *const consumers[] = {
	&ws_attribution_consumer,
	&ws_sweep_consumer,
	&ws_page_cache_consumer,
	&ws_without_consumer,
	&ws_life_consumer
};

#define CONSUMERS		((int) lengthof(consumers))

WsReading	ws_reading;

/* Private to the worker.  Times are in ms of the monotonic clock. */
static struct
{
	bool		running;
	int64		read_at;
	int64		cared_at;		/* when care_for_table() was last called */
	int64		relax_at;		/* when the next stratum may last */
	int			checked;		/* bucket at care_for_table(), */
	uint64		dropped;		/* and the number of lost events at that time */
	int64		flood_dropped;	/* the same at stem_flood() */
	WsSampleLoad load;
	WsStreamWait wait;
}			state;

/* A page leaves the table, or cannot be used again. */
static void
on_evict(uint32 entry)
{
	for (int c = 0; c < CONSUMERS; c++)
		if (consumers[c]->forget)
			consumers[c]->forget(entry);
}

/* Sample one page in 2^shift from now on, or as few as the writers chose. */
static void
change_shift(uint32 wanted)
{
	uint32		shift = ws_shared_resample(ws_shared->sampler->shift, wanted);
	bool		guessed = shift != wanted || (state.load.guessed && shift < ws_shared->sampler->shift);

	elog(DEBUG1, "working_set samples one page in 2^%u; it was in 2^%u for %.1f s, with %u pages, %.0f events a second and %.2f %% of a processor",
		 shift, ws_shared->sampler->shift, state.load.settled, ws_shared->sampler->count, state.load.events, 100 * state.load.busy);
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	ws_sampler_set_shift(ws_shared->sampler, shift, ws_shared_advance(), on_evict);
	ws_attribution_raise(ws_shared->attribution, shift);
	LWLockRelease(ws_shared->sample_lock);
	memset(&state.load, 0, sizeof(state.load));
	state.load.guessed = guessed;
	ws_sweep_consumer_thin(shift);
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
		ws_sweep_consumer_remove_brief();
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
	if (now >= state.relax_at && ws_sampler_widen(ws_shared->sampler, tick))
		state.relax_at = now + RELAX_MS;
	LWLockRelease(ws_shared->sample_lock);
}

/* Once a second.  Returns what of clock() a smaller sample would not save. */
static clock_t
care_for_table(int64 now)
{
	const WsRecent *recent = &ws_reading.recent;
	bool		next_bucket = state.checked != recent->bucket;
	clock_t		spent = 0;

	state.cared_at = now;
	ws_scans_age(ws_reading.scans, ws_next_oid());
	if (next_bucket || state.dropped != recent->counted.dropped)
		ws_gone_pages_check_resident();
	if (next_bucket)
		expire(now);
	state.checked = recent->bucket;
	state.dropped = recent->counted.dropped;
	for (int c = 0; c < CONSUMERS; c++)
		if (consumers[c]->second)
			spent += consumers[c]->second(now);
	return spent;
}

static void
classify(WsSeen *seen)
{
	WsEvent    *event = &seen->event;

	seen->hash = ws_probe_hash(&event->page);
	seen->access.stratum = ws_hash_stratum(seen->hash, ws_shared->log2m);
	seen->access.group = ws_hash_group(seen->hash);
	seen->sampled = seen->access.stratum >= ws_shared->sampler->shift;
	seen->sampled_weight = ldexp(1, (int) ws_shared->sampler->shift);
	seen->class = WS_CLASS_REST;
	seen->access.page = WS_NO_SAMPLE;
	if (!seen->sampled || event->type == WS_EVENT_REMOVE)
		return;
	if (ws_scans_wants_size(ws_reading.scans, event))
		ws_scans_set_size(ws_reading.scans, &event->page, ws_relation_blocks(&event->page));
	event->type = ws_scans_event_type(ws_reading.scans, event);
	seen->class = ws_scans_classify(ws_reading.scans, event, ws_shared->sampler->shift,
									ws_reading.sweep->factor, &seen->access);
	seen->access.ringed = ws_ring_is_used(seen->access.ring) ? seen->access.ringed : 0;
}

/* Update the table with an event. */
static void
update_table(WsSeen *seen)
{
	WsSampler  *sampler = ws_shared->sampler;
	const WsEvent *event = &seen->event;
	uint32		entry = ws_sampler_find(sampler, &event->page, seen->hash);

	seen->access.known = entry != WS_NO_SAMPLE;
	if (event->type == WS_EVENT_REMOVE)
	{
		if (event->run > 0)
			ws_gone_pages_suspect(&event->page);
		if (seen->access.known)
		{
			WsSample   *sample = &sampler->samples[entry];
			bool		resident;

			/* soon after a use it may be none (lookup.c): look it up */
			sample->resident = sample->touched + 1 >= event->tick && ws_probe_resident(sample, 1, &resident, NULL) > 0;
		}
		return;
	}
	if (seen->access.known && sampler->samples[entry].dead)
	{
		/* the file has grown again: a new page */
		ws_sampler_evict(sampler, entry, on_evict);
		seen->access.known = false;
	}
	/* not if the page is no longer sampled */
	if (!seen->access.known)
		entry = ws_sampler_enter(sampler, &event->page, seen->hash, event->tick);
	if (entry == WS_NO_SAMPLE)
		return;
	ws_sampler_touch(sampler, entry, event->tick, !event->maintenance);
	seen->access.page = entry;
	for (int c = 0; c < CONSUMERS; c++)
		if (consumers[c]->use)
			consumers[c]->use(seen);
	if (seen->class == WS_CLASS_SCAN || seen->access.ringed == 0)
		ws_sampler_hold(sampler, entry, event->tick, seen->class == WS_CLASS_SCAN);
	sampler->samples[entry].resident = 1;
	if (seen->access.stratum < ws_reading.simulated_shift)
		seen->access.page = WS_NO_SAMPLE;
}

/* Read up to "most" from the stream; returns how many events are sound. */
static int
read_events(WsEvent *events, int most)
{
	int			lost = 0;
	int			n = ws_stream_take(ws_shared->stream, &state.wait, events, most, &lost);
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
	ws_reading.recent.buckets[ws_reading.recent.bucket].taken += good;
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
	WsSeen		seen[BATCH];
	int			sum = 0;
	int			most = Min(BATCH, ws_shared->sampler->capacity / BATCH_PART);
	int			n = most;

	for (int batch = 0; n == most && batch < WS_STREAM_PLACES / most; batch++)
	{
		n = read_events(events, most);
		ws_scans_set_server(ws_reading.scans, ws_next_oid(), NBuffers);
		if (ws_shared_thinned(ws_shared->sampler->shift))
			change_shift(ws_shared->sampler->shift);
		free_entries(n);
		for (int i = 0; i < n; i++)
		{
			seen[i] = (WsSeen)
			{
				.event = events[i]
			};
			classify(&seen[i]);
			sum += seen[i].sampled;
		}
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		for (int i = 0; i < n; i++)
			update_table(&seen[i]);
		LWLockRelease(ws_shared->sample_lock);
		for (int i = 0; i < n; i++)
		{
			if (seen[i].access.page == WS_NO_SAMPLE)
				continue;
			seen[i].simulated_weight = ldexp(1, (int) ws_reading.simulated_shift);
			seen[i].counted = seen[i].class != WS_CLASS_MAINTENANCE && seen[i].event.type != WS_EVENT_EXTEND &&
				(seen[i].access.known || seen[i].event.type != WS_EVENT_HIT);
			for (int c = 0; c < CONSUMERS; c++)
				if (consumers[c]->event)
					consumers[c]->event(&seen[i]);
		}
	}
	ws_stream_end_turn(ws_shared->stream, &state.wait);
	return sum;
}

static void
on_nothing(uint32 entry)
{
	(void) entry;
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
	if (ws_reading.scans == NULL)
		ws_reading.scans = (WsScans *)
			TYPEALIGN(64, MemoryContextAlloc(TopMemoryContext, ws_scans_size() + 64));
	ws_scans_init(ws_reading.scans, NBuffers);
	ws_reading.began = ws_shared_advance();
	memset(&state.load, 0, sizeof(state.load));
	/* of what was saved, some may be gone; consumers begin without these */
	ws_gone_pages_begin(on_nothing);
	for (int c = 0; c < CONSUMERS; c++)
		if (consumers[c]->begin)
			consumers[c]->begin(empty);
	/* events that a former worker left are not part of the load to come */
	(void) drain();
	ws_shared_sample(sampler->shift);
}

void
ws_reader_begin(bool empty)
{
	if (!ws_shared->attached)
		return;
	state.running = true;
	if (ws_shared->sampler)
		begin_sample(empty);
	state.read_at = ws_shared_clock_ms();
	ws_recent_begin(&ws_reading.recent, state.read_at, ws_shared_advance());
	state.flood_dropped = ws_reading.recent.counted.dropped;
}

void
ws_reader_end(void)
{
	if (state.running)
		ws_shared_sample(WS_SAMPLE_OFF);
	state.running = false;
}

/* Sample far fewer pages at once if so many events came in so many seconds. */
static void
stem_flood(int events, double seconds)
{
	int64		lost = ws_reading.recent.counted.dropped - state.flood_dropped;
	uint32		steps = ws_sampler_flood_steps(events + Max(lost, 0), Max(seconds, 0), WS_STREAM_PLACES);

	state.flood_dropped += lost;
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

	ws_sample_load_follow(&state.load, seconds, busy, events, lookups, recent);
	shift = ws_sampler_next_shift(ws_shared->sampler, &state.load);
	if (shift != ws_shared->sampler->shift)
		change_shift(shift);
	ws_shared_damp(ws_sweep_consumer_damping(seconds, ldexp(state.load.lookups, -(int) shift) > OFTEN));
}

static bool
is_due(double seconds)
{
	return seconds >= 1 || seconds < 0 || ws_life_consumer_due() ||
		ws_reading.recent.since != ws_shared_since() ||
		(ws_shared->stream && ws_stream_filled(ws_shared->stream) >= WS_STREAM_PLACES / 4);
}

void
ws_reader_tick(void)
{
	int64		now = ws_shared_clock_ms();
	double		seconds = (now - state.read_at) / 1000.0;
	clock_t		start;
	double		lookups;

	if (!state.running || !ws_enabled || !is_due(seconds))
		return;
	start = clock();
	state.read_at = now;
	lookups = ws_recent_count(&ws_reading.recent, now, ws_shared_advance(),
							  ws_reading.sweep ? ws_reading.sweep->bursts_only : 0);
	if (ws_shared->sampler)
	{
		int			events = drain();

		ws_gone_pages_look(now, on_evict);
		stem_flood(events, seconds);
		if (now - state.cared_at >= 1000)
			start += care_for_table(now);
		follow_load(Max(seconds, 0.1), (clock() - start) / (double) CLOCKS_PER_SEC,
					events, lookups);
	}
}

void
ws_reader_drain(void)
{
	if (state.running && ws_enabled && ws_shared->sampler)
		(void) drain();
}

void
ws_reader_publish(WsPublished *p)
{
	if (!state.running)
		return;
	for (int c = 0; c < CONSUMERS; c++)
		if (consumers[c]->publish)
			consumers[c]->publish(p);
}
