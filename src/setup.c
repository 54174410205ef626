/*
 * setup.c
 *		Making the memory that processes share, and starting over; see setup.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "counters.h"
#include "guard.h"
#include "guc.h"
#include "probe.h"
#include "published.h"
#include "setup.h"
#include "shared.h"

#define NAME "working_set"
#define NLOCKS 3

/* Why there is no shared memory.  Set in the postmaster and inherited. */
static struct
{
	bool		requested;		/* did the server call our request hook? */
	bool		reported;		/* is the reason in the log? */
	char		why[256];		/* empty: not preloaded, or there is memory */
} missing;

static Size
aligned(Size size)
{
	return TYPEALIGN(64, size);
}

/* Slots of the damper: two for each sampled page, rounded up to a power of two. */
static uint32
damper_slots(void)
{
	return pg_nextpower2_32(2 * Max((uint32) ws_sample_pages, 1));
}

/* Bytes of all of it, from the settings. */
static Size
total_size(bool sample)
{
	/* 64 more, to align the start */
	Size		size = 64 + aligned(sizeof(WsShared)) + aligned(sizeof(WsSharedCounters)) +
		aligned(sizeof(WsSharedPublished)) + WS_NKINDS * ws_sketch_size(ws_registers);

	if (sample)
		size += aligned(ws_stream_size(WS_STREAM_PLACES)) +
			aligned(ws_sampler_size(ws_sample_pages)) +
			aligned(damper_slots() * sizeof(uint64));
	return size;
}

/*
 * Point at the fixed parts of this memory; returns what follows them.
 */
static char *
find_parts(char *memory)
{
	char	   *p = (char *) TYPEALIGN(64, memory);

	ws_shared = (WsShared *) p;
	p += aligned(sizeof(WsShared));
	ws_counters = (WsSharedCounters *) p;
	p += aligned(sizeof(WsSharedCounters));
	ws_published = (WsSharedPublished *) p;
	return p + aligned(sizeof(WsSharedPublished));
}

static void
init_sample(char *p)
{
	ws_shared->stream = (WsStream *) p;
	ws_stream_init(ws_shared->stream, WS_STREAM_PLACES);
	p += aligned(ws_stream_size(WS_STREAM_PLACES));

	ws_shared->sampler = (WsSampler *) p;
	ws_sampler_init(ws_shared->sampler, ws_sample_pages, ws_shared->log2m, 0,
					ws_shared->sketch[WS_CLIENT]->floor);
	p += aligned(ws_sampler_size(ws_sample_pages));

	ws_shared->damper = (uint64 *) p;
	memset(p, 0, damper_slots() * sizeof(uint64));
	ws_shared->damper_shift = 32 - pg_leftmost_one_pos32(damper_slots());
}

static void
init(char *memory, Size size, LWLockPadded *locks, bool sample)
{
	char	   *p = find_parts(memory);

	memset(ws_shared, 0, sizeof(*ws_shared));
	memset(ws_counters, 0, sizeof(*ws_counters));
	memset(ws_published, 0, sizeof(*ws_published));
	ws_history_init(&ws_published->history);

	ws_shared->lock = &locks[0].lock;
	ws_shared->sample_lock = &locks[1].lock;
	ws_shared->file_lock = &locks[2].lock;
	ws_shared->memory = size;
	ws_shared->clock_origin = ws_shared_clock_ms();
	ws_shared->since = GetCurrentTimestamp();
	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		ws_shared->sketch[kind] = (WsSketch *) p;
		ws_sketch_init(ws_shared->sketch[kind], ws_registers, WS_TICK_ORIGIN);
		p += ws_sketch_size(ws_registers);
	}
	ws_shared->log2m = ws_shared->sketch[WS_CLIENT]->log2m;
	if (sample)
		init_sample(p);

	ws_shared_damp(ws_sweep_damping(1));
	ws_shared_sample(WS_SAMPLE_OFF);
	ws_shared_worker_ticks(false);
}

void
ws_setup_expect(void)
{
	/* until the server calls ws_setup_startup() */
	strlcpy(missing.why, "a library that is preloaded after working_set replaces shmem_startup_hook, and does not call what was there before",
			sizeof(missing.why));
}

void
ws_setup_request(void)
{
	missing.requested = true;
	RequestAddinShmemSpace(total_size(ws_sample_pages > 0));
	RequestNamedLWLockTranche(NAME, NLOCKS);
}

static void
start_up(void)
{
	Size		size = total_size(ws_sample_pages > 0);
	char	   *memory;
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct(NAME, size, &found);
	if (found)
		(void) find_parts(memory);
	else
		init(memory, size, GetNamedLWLockTranche(NAME), ws_sample_pages > 0);
	LWLockRelease(AddinShmemInitLock);
}

void
ws_setup_startup(void)
{
	ws_shared = NULL;
	if (!missing.requested)
		strlcpy(missing.why, "a library that is preloaded after working_set replaces shmem_request_hook, and does not call what was there before",
				sizeof(missing.why));
	else if (ws_guard(start_up, missing.why, sizeof(missing.why)))
	{
		missing.why[0] = '\0';
		return;
	}

	ws_shared = NULL;
	missing.reported = false;
	ws_setup_report_missing();
}

void
ws_setup_report_missing(void)
{
	if (!missing.reported)
		ereport(LOG,
				(errmsg("working_set is not tracking: %s", missing.why)));
	missing.reported = true;
}

bool
ws_setup_stand_in(void)
{
	/* no other process knows them, so they are always free */
	static LWLockPadded locks[NLOCKS];

	if (ws_shared != NULL || missing.why[0] == '\0')
		return ws_shared != NULL;

	for (int i = 0; i < NLOCKS; i++)
		LWLockInitialize(&locks[i].lock, LWTRANCHE_BUFFER_MAPPING);
	init(MemoryContextAlloc(TopMemoryContext, total_size(false)), 0, locks, false);
	strlcpy(ws_shared->refusal, missing.why, sizeof(ws_shared->refusal));
	return true;
}

TimestampTz
ws_setup_reset(bool history)
{
	TimestampTz now;
	uint32		tick;

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	/* later than any before, whichever comes first and whatever the clock says */
	now = Max(GetCurrentTimestamp(), ws_shared->since + 1);
	__atomic_fetch_or(&ws_shared->file_state,
					  WS_FILE_NO_SET | (history ? WS_FILE_NO_HISTORY : 0), __ATOMIC_RELAXED);

	/*
	 * The present tick may already hold lookups from before the reset.  So move
	 * on to a tick in which nothing was recorded, and move the clock with it, or
	 * time would stand still until the clock has caught up.
	 */
	__atomic_fetch_add(&ws_shared->clock_ahead, 1, __ATOMIC_RELAXED);
	tick = ws_shared_advance();
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_raise_floor(ws_shared->sketch[kind], tick);

	ws_counters_reset(ws_probe_entries());
	if (history)
		ws_history_init(&ws_published->history);
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
