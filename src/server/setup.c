/*
 * setup.c
 *		The memory that processes share, and starting over; see setup.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "attribution.h"
#include "counters.h"
#include "damping.h"
#include "guc.h"
#include "origins.h"
#include "published.h"
#include "sampler.h"
#include "setup.h"
#include "shared.h"
#include "stream.h"

static bool reported = false;	/* is the reason in the log? */

#define CACHE_LINE 64

/* The parts of fixed size.  Those whose size depends on settings follow. */
typedef struct Parts
{
	WsShared	shared pg_attribute_aligned(CACHE_LINE);
	WsSharedCounters counters pg_attribute_aligned(CACHE_LINE);
	WsSharedPublished published pg_attribute_aligned(CACHE_LINE);
} Parts;

/* Two for each sampled page, rounded up to a power of two. */
static uint32
damper_slots(void)
{
	return pg_nextpower2_32(2 * Max((uint32) ws_sample_pages, 1));
}

/* Half as many pairs of page and origin as sampled pages. */
static uint32
pairs(void)
{
	return Max((uint32) ws_sample_pages / 2, 1);
}

static void *
next_part(char *memory, Size *used, Size size)
{
	void	   *part = (void *) ((uintptr_t) memory + *used);

	*used += TYPEALIGN(CACHE_LINE, size);
	return part;
}

/* Where each part is, from this memory on; returns the bytes of all. */
static Size
lay_out(WsShared *s, char *memory, bool sample)
{
	Size		used = sizeof(Parts);

	for (int kind = 0; kind < WS_NKINDS; kind++)
		s->sketch[kind] = next_part(memory, &used, ws_sketch_size(ws_registers));
	s->ahead = next_part(memory, &used, MaxBackends * sizeof(WsCountedAhead));
	if (sample)
	{
		s->stream = next_part(memory, &used, ws_stream_size(WS_STREAM_PLACES));
		s->sampler = next_part(memory, &used, ws_sampler_size(ws_sample_pages));
		s->attribution = next_part(memory, &used, ws_attribution_size(pairs()));
		s->origins = next_part(memory, &used, sizeof(WsOrigins));
		s->reported_pairs = next_part(memory, &used, sizeof(uint16) << WS_PAIR_SLOTS_LOG2);
		s->damper = next_part(memory, &used, damper_slots() * sizeof(uint64));
	}
	return used;
}

Size
ws_setup_size(bool sample)
{
	WsShared	nowhere;

	/* a line more, to align the start */
	return CACHE_LINE + lay_out(&nowhere, NULL, sample);
}

void
ws_setup_use(char *memory)
{
	Parts	   *parts = (Parts *) TYPEALIGN(CACHE_LINE, memory);

	ws_shared = &parts->shared;
	ws_counters = &parts->counters;
	ws_published = &parts->published;
}

void
ws_setup_init(char *memory, LWLockPadded *locks, bool sample)
{
	const WsDamping damping = {0, WS_USAGE_MAX};

	memset(memory, 0, ws_setup_size(sample));
	ws_setup_use(memory);
	(void) lay_out(ws_shared, (char *) ws_shared, sample);
	ws_shared->lock = &locks[0].lock;
	ws_shared->sample_lock = &locks[1].lock;
	ws_shared->file_lock = &locks[2].lock;
	ws_shared->clock_origin = ws_shared_clock_ms();
	ws_shared->since = GetCurrentTimestamp();
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_init(ws_shared->sketch[kind], ws_registers, WS_TICK_ORIGIN);
	ws_shared->log2m = ws_shared->sketch[WS_CLIENT]->log2m;

	if (sample)
	{
		ws_stream_init(ws_shared->stream, WS_STREAM_PLACES);
		ws_sampler_init(ws_shared->sampler, ws_sample_pages, ws_shared->log2m, 0, WS_TICK_ORIGIN);
		ws_attribution_init(ws_shared->attribution, pairs(), ws_shared->log2m, 0, WS_TICK_ORIGIN);
		ws_shared->damper_shift = 32 - pg_leftmost_one_pos32(damper_slots());
	}

	ws_shared_damp(damping);
	ws_shared_sample(WS_SAMPLE_OFF);
	ws_shared_worker_ticks(false);
}

void
ws_setup_begin(void)
{
	ws_shared = NULL;
	reported = false;
}

void
ws_setup_report_refusal(void)
{
	if (!reported)
		ereport(LOG, (errmsg("working_set is not tracking: %s", ws_refusal)));
	reported = true;
}

bool
ws_setup_stand_in(void)
{
	/* no other process knows these locks, so they are always free */
	static LWLockPadded locks[WS_NLOCKS];

	if (ws_shared == NULL && ws_refusal[0] != '\0')
	{
		for (int i = 0; i < WS_NLOCKS; i++)
			LWLockInitialize(&locks[i].lock, LWTRANCHE_BUFFER_MAPPING);
		ws_setup_init(MemoryContextAlloc(TopMemoryContext, ws_setup_size(false)), locks, false);
	}
	return ws_shared != NULL;
}

TimestampTz
ws_setup_reset(bool history)
{
	TimestampTz now;
	uint32		tick;

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	/* later than any before, also if the clock was set back */
	now = Max(GetCurrentTimestamp(), ws_shared->since + 1);
	__atomic_fetch_or(&ws_shared->file_state,
					  WS_FILE_NO_SET | (history ? WS_FILE_NO_HISTORY : 0), __ATOMIC_RELAXED);

	/*
	 * The present tick may hold lookups from before the reset, so move on to
	 * one that holds none.  Move the clock with it, or time would stand still
	 * until the clock has caught up.
	 */
	__atomic_fetch_add(&ws_shared->clock_ahead, 1, __ATOMIC_RELAXED);
	tick = ws_shared_advance();
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_raise_floor(ws_shared->sketch[kind], tick);
	ws_counters_reset();
	if (history)
		memset(&ws_published->history, 0, sizeof(WsHistory));
	ws_store(&ws_shared->save_now, 1);
	__atomic_store_n(&ws_shared->since, now, __ATOMIC_RELEASE);
	LWLockRelease(ws_shared->lock);
	ws_shared_wake_worker();
	return now;
}

void
ws_setup_restart_clock(void)
{
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	__atomic_store_n(&ws_shared->clock_origin, ws_shared_clock_ms(), __ATOMIC_RELAXED);
	ws_store(&ws_shared->clock_ahead, 0);
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_restart(ws_shared->sketch[kind], WS_TICK_ORIGIN);
	LWLockRelease(ws_shared->lock);
	(void) ws_setup_reset(false);
}

void
ws_setup_recall(uint32 floor)
{
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (!(ws_load(&ws_shared->file_state) & WS_FILE_NO_SET))
		for (int kind = 0; kind < WS_NKINDS; kind++)
			ws_sketch_lower_floor(ws_shared->sketch[kind], floor);
	LWLockRelease(ws_shared->lock);
}
