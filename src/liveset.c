/*
 * liveset.c
 *		Feeding the life table; see liveset.h.
 */
#include "postgres.h"

#include <math.h>

#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "gauge.h"
#include "guc.h"
#include "liveset.h"
#include "shmem.h"

/* Values of the last two periods, of half a minute by default, a step apart. */
#define PERIOD			(WS_LIFE_STEPS / 30)
#define VALUES			(2 * PERIOD + 1)

static struct
{
	WsLife	   *life;
	int			break_even;		/* settings that it was made with */
	int			hold;
	int64		since;			/* value of WsShared.since that it is about */
	uint32		written;		/* events of the stream by the last step, */
	uint64		dropped;		/* and those that were lost */
	uint32		seen;			/* tick of the first step */

	WsLive		now;
	double		values[VALUES]; /* youngest first */
} state;

static uint32
items(void)
{
	return ws_shared->sampler ? ws_shared->sampler->capacity :
		(uint32) ws_sketch_ncells(ws_shared->sketch[WS_CLIENT]);
}

static void
begin(int64 since)
{
	if (state.life == NULL)
		state.life = MemoryContextAllocHuge(TopMemoryContext, ws_life_size(items()));
	state.break_even = ws_break_even;
	state.hold = Min(ws_hold, ws_break_even);
	state.since = since;
	state.seen = 0;
	memset(&state.now, 0, sizeof(state.now));
	memset(state.values, 0, sizeof(state.values));
	ws_life_init(state.life, items(), state.break_even, state.hold);

	/* pages that are asked about have to be there, and a little longer */
	if (ws_shared->sampler)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		ws_sampler_set_brief(ws_shared->sampler,
							 state.life->break_even + state.life->break_even / 15,
							 ws_shmem_advance());
		LWLockRelease(ws_shared->sample_lock);
	}
}

/*
 * Did too many events get lost in this step for it to be believed?
 */
static bool
trusted(void)
{
	uint32		written = ws_shared->stream ? ws_load(&ws_shared->stream->head) : 0;
	WsCounters	c;
	int64		removed;
	uint64		lost;
	bool		few;

	(void) ws_shmem_read_counters(&c, &removed);
	/* after a reset the count begins at 0 */
	lost = c.dropped >= state.dropped ? c.dropped - state.dropped : c.dropped;
	few = lost * 100 <= written - state.written;
	state.written = written;
	state.dropped = c.dropped;
	return few || state.seen == 0;
}

/*
 * A step over the sampled pages; returns the share of all pages they are.
 */
static double
step_sample(uint32 now, bool good)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);
	uint32		shift = ws_sampler_mature_shift(sampler, now, state.life->break_even, floor);

	ws_life_begin_step(state.life);
	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *s = &sampler->samples[i];

		if (s->last != 0 && s->last >= floor && ws_stratum(s->hash, sampler->log2m) >= shift)
			ws_life_item(state.life, i, s->last, s->before >= floor ? s->before : 0, now);
	}
	ws_life_end_step(state.life, now, good);
	return ldexp(1, -(int) shift);
}

bool
ws_liveset_due(void)
{
	return state.life != NULL && ws_life_due(state.life, ws_shmem_advance());
}

void
ws_liveset_tick(void)
{
	int64		since = ws_shmem_since();
	uint32		now = ws_shmem_advance();
	WsEstimate	window;
	bool		good;
	double		rate;

	if (state.life == NULL || since != state.since || state.break_even != ws_break_even ||
		state.hold != Min(ws_hold, ws_break_even))
		begin(since);
	if (!ws_life_due(state.life, now))
		return;

	good = trusted();
	window = ws_gauge_window(state.life->break_even);
	if (ws_shared->sampler)
		rate = step_sample(now, good);
	else
		rate = ws_life_step_cells(state.life, ws_shared->sketch[WS_CLIENT], window.pages,
								  now, good);
	state.now = ws_live_set(state.life, &window, rate);

	memmove(&state.values[1], &state.values[0], sizeof(state.values) - sizeof(state.values[0]));
	state.values[0] = state.now.pages;
	if (state.seen == 0)
	{
		/* what there was before we began to look did not grow by it */
		state.seen = now;
		for (int i = 1; i < VALUES; i++)
			state.values[i] = state.values[0];
	}
}

void
ws_liveset_forget(uint32 entry)
{
	if (state.life)
		ws_life_forget(state.life, entry);
}

WsLive
ws_liveset_get(double *projected)
{
	*projected = ws_project(state.values[0], state.values[PERIOD], state.values[2 * PERIOD]);
	return state.now;
}
