/*
 * attribution_consumer.c
 *		Attributing the sampled pages to origins (attribution.h).
 *
 * Processes enter origins into a table of fixed size.  When it becomes full,
 * the worker frees the entries of those with the fewest pages, and adds what
 * they have to WS_ORIGIN_OTHER.  So the largest stay, however many there are.
 */
#include "postgres.h"

#include <math.h>

#include "storage/lwlock.h"

#include "attribution.h"
#include "consumer.h"
#include "origins.h"
#include "shared.h"

#define CARE_TICKS		(30 * WS_TICKS_PER_SECOND)	/* until pairs expire */

/* With so many entries some are freed, until so many are left. */
#define MANY			(WS_ORIGINS * 3 / 4)
#define ENOUGH			(WS_ORIGINS / 2)

/* Private to the worker. */
static struct
{
	int64		since;			/* value of WsShared.since that data are of */
	uint32		cared_at;		/* tick */
	bool		idle[WS_ORIGINS];	/* had no pages at the last look */
}			state;

static uint32
client_floor(void)
{
	return ws_load(&ws_shared->sketch[WS_CLIENT]->floor);
}

/* Follow a reset. */
static void
follow_reset(void)
{
	state.since = ws_shared_since();
	ws_attribution_reset(ws_shared->attribution, client_floor(), ws_shared_advance());
	ws_sampler_begin_reads(ws_shared->sampler, ws_shared_advance());
}

static void
begin(bool empty)
{
	WsAttribution *attribution = ws_shared->attribution;

	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	if (empty)
		ws_attribution_init(attribution, attribution->capacity, attribution->log2m,
							ws_shared->sampler->shift, client_floor());
	ws_attribution_raise(attribution, ws_shared->sampler->shift);
	memset(&state, 0, sizeof(state));
	follow_reset();
	LWLockRelease(ws_shared->sample_lock);
}

static void
use(const WsSeen *seen)
{
	const WsEvent *event = &seen->event;
	uint32		origin = ws_origins_entry(ws_shared->origins, event->origin);

	/* what clients use, as in the working set */
	if (event->maintenance)
		return;
	if (ws_shared_since() != state.since)
		follow_reset();
	ws_attribution_touch(ws_shared->attribution, seen->hash, origin, event->tick);
	/* events of before a reset may still come */
	if (event->type == WS_EVENT_READ && event->tick >= client_floor())
	{
		ws_attribution_add_reads(ws_shared->attribution, origin, seen->sampled_weight);
		ws_shared->sampler->samples[seen->access.page].reads++;
	}
	state.idle[origin] = false;
}

static int
compare(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return (x > y) - (x < y);
}

/*
 * Choose entries to free: of those without pages, from the second look on,
 * since an event may be on its way; and if too many are left, of those with
 * the fewest pages.
 */
static void
choose(const uint32 *counts, bool *freed)
{
	uint32		sorted[WS_ORIGINS];
	uint32		n = 0;
	uint32		few = 0;		/* entries with fewer pages than this go, */
	uint32		ties = 0;		/* and so many that have as many */
	WsOrigin	origin;

	for (uint32 i = 1; i < WS_ORIGINS; i++)
		if (ws_origins_get(ws_shared->origins, i, &origin))
			sorted[n++] = counts[i];
	if (n > MANY)
	{
		qsort(sorted, n, sizeof(*sorted), compare);
		few = sorted[n - ENOUGH - 1];
		for (uint32 i = 0; i < n - ENOUGH; i++)
			ties += sorted[i] == few;
	}
	for (uint32 i = 1; i < WS_ORIGINS; i++)
	{
		bool		there = ws_origins_get(ws_shared->origins, i, &origin);
		bool		tie = there && ties > 0 && counts[i] == few;

		ties -= tie;
		freed[i] = there && (tie || counts[i] < few || (counts[i] == 0 && state.idle[i]));
		state.idle[i] = there && counts[i] == 0 && !freed[i];
	}
}

static void
free_entries(void)
{
	uint32		counts[WS_ORIGINS];
	bool		freed[WS_ORIGINS] = {false};

	ws_attribution_count(ws_shared->attribution, 0, counts);
	choose(counts, freed);
	ws_attribution_merge(ws_shared->attribution, freed);
	for (uint32 i = 1; i < WS_ORIGINS; i++)
		if (freed[i])
			ws_origins_free(ws_shared->origins, i);
	ws_origins_free_names(ws_shared->origins);
}

static clock_t
second(int64 ms)
{
	WsAttribution *attribution = ws_shared->attribution;
	uint32		now = ws_shared_advance();
	uint32		taken = 0;

	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	if (ws_shared_since() != state.since)
		follow_reset();
	ws_attribution_follow_reads(attribution, now);
	for (uint32 i = 1; i < WS_ORIGINS; i++)
		taken += ws_origins_taken(ws_shared->origins, i);
	if (now - state.cared_at >= CARE_TICKS)
	{
		ws_attribution_care(attribution, ws_shared->sampler->shift, now);
		ws_sampler_age_reads(ws_shared->sampler, now);
		free_entries();
		state.cared_at = now;
	}
	else if (taken > MANY)
		free_entries();
	LWLockRelease(ws_shared->sample_lock);
	return 0;
}

const WsConsumer ws_attribution_consumer = {.begin = begin, .use = use, .second = second};
