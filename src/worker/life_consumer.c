/*
 * life_consumer.c
 *		The worker's life table of the sampled pages (life.h).  There is none
 *		without a sample.
 */
#include "postgres.h"

#include <math.h>

#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "consumer.h"
#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "sampler.h"
#include "shared.h"

/*
 * Steps of the life table in a period of the projection: half a minute, or a
 * thirtieth of a break-even time of less than 15 minutes.
 */
#define PERIOD			3
#define VALUES			(2 * PERIOD + 1)

static struct
{
	WsLife	   *life;
	int			break_even;		/* setting that it was made with */
	int64		since;			/* value of WsShared.since that it is about */
	bool		stepped;		/* was there a step? */
	bool		died;			/* have pages gone since the last one? */
	uint32		written;		/* events of the stream until the last step, */
	uint64		dropped;		/* and those that were lost */
	uint32		window;			/* ticks that it was about, */
	uint32		shift;			/* and strata */
	WsLive		now;
	double		values[VALUES]; /* of the last steps, the youngest first */
	double		needed;			/* as published last, */
	double		before;			/* and before the last step */
}			state;

static void
begin(int64 since)
{
	uint32		items = ws_shared->sampler->capacity;

	if (state.life == NULL)
		state.life = MemoryContextAllocHuge(TopMemoryContext, ws_life_size(items));
	state.break_even = ws_break_even;
	state.since = since;
	state.stepped = false;
	memset(&state.now, 0, sizeof(state.now));
	memset(state.values, 0, sizeof(state.values));
	state.needed = state.before = INFINITY;
	ws_life_init(state.life, items, state.break_even, WS_HOLD);
	/* the sample has to keep pages for a little longer than break_even */
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	ws_sampler_set_brief(ws_shared->sampler, state.life->break_even + state.life->break_even / 15,
						 ws_shared_advance());
	LWLockRelease(ws_shared->sample_lock);
}

/* Were nearly all events since the last step received? */
static bool
trusted(void)
{
	uint32		written = ws_load(&ws_shared->stream->head);
	WsCounters	c;
	uint64		lost;
	bool		few;

	(void) ws_counters_read(&c, NULL);
	/* after a reset the count begins at 0 */
	lost = c.dropped >= state.dropped ? c.dropped - state.dropped : c.dropped;
	few = lost * 100 <= written - state.written;
	state.written = written;
	state.dropped = c.dropped;
	return few || !state.stepped;
}

static void
step_sample(uint32 now)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);

	state.window = ws_sampler_known(sampler, now, state.life->break_even, floor);
	state.shift = ws_sampler_mature_shift(sampler, now, state.window, floor);
	ws_life_set_shift(state.life, state.shift);
	ws_life_begin_step(state.life);
	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *s = &sampler->samples[i];

		if (s->last != 0 && !s->dead && s->last >= floor && ws_hash_stratum(s->hash, sampler->log2m) >= state.shift)
			ws_life_item(state.life, i, s->last, s->before >= floor ? s->before : 0,
						 s->scanned > s->held, now);
	}
	ws_life_end_step(state.life, now, trusted());
}

bool
ws_life_consumer_due(void)
{
	return state.life != NULL && ws_life_due(state.life, ws_shared_advance());
}

void
ws_life_consumer_tick(void)
{
	int64		since = ws_shared_since();
	uint32		now = ws_shared_advance();
	WsEstimate	window;

	if (ws_shared->sampler == NULL)
		return;
	if (state.life == NULL || since != state.since || state.break_even != ws_break_even)
		begin(since);
	if (!ws_life_due(state.life, now))
		return;

	step_sample(now);
	(void) ws_estimate(NULL, WS_OF(WS_CLIENT), &state.window, 1, &window);
	ws_estimate_alive(&window, ws_sampler_alive(ws_shared->sampler, now, state.window,
												ws_load(&ws_shared->sketch[WS_CLIENT]->floor), state.shift));
	state.now = ws_live_set(state.life, &window);

	for (int i = VALUES - 1; i > 0; i--)
		state.values[i] = state.stepped ? state.values[i - 1] : state.now.pages;
	state.values[0] = state.now.pages;
	state.stepped = true;
	state.died = false;
	state.before = state.needed;
}

void
ws_life_consumer_died(void)
{
	state.died = true;
}

double
ws_life_consumer_doubt(double needed)
{
	state.needed = needed;
	return state.died ? fmin(needed, state.before) : needed;
}

static void
forget(uint32 entry)
{
	if (state.life)
		ws_life_forget(state.life, entry);
}

WsLive
ws_life_consumer_get(int *seconds)
{
	state.now.projected = ws_project(state.values[0], state.values[PERIOD], state.values[2 * PERIOD]);
	*seconds = state.stepped ? Max((int) state.window / WS_TICKS_PER_SECOND, 1) : ws_break_even;
	return state.now;
}

const WsConsumer ws_life_consumer = {.forget = forget};
