/*
 * shmem.c
 *		Request, start up, and the few operations on shared memory that more
 *		than one room needs.  The rules are in shmem.h.
 */
#include "postgres.h"

#include <time.h>

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "guard.h"
#include "guc.h"
#include "probe.h"
#include "shmem.h"

/*
 * One register in 64 is watched at least, so that somebody reads the clock where
 * no worker ticks: enough that a busy server meets a page of theirs many times a
 * second, few enough to add an instruction to the mean hit.  A long query over few
 * pages may have none of these; then time passes with other transactions.
 */
#define WATCHED_SHARE 64

#define TRANCHE_NAME "working_set"

WsShared   *ws_shared = NULL;

/*
 * Why there is no shared memory.  Set in the postmaster and inherited.
 */
static struct
{
	bool		requested;		/* did the server ask what we need? */
	bool		reported;		/* is the reason in the log? */
	char		why[256];		/* empty: not preloaded, or there is memory */
} missing;

static Size
aligned(Size size)
{
	return TYPEALIGN(64, size);
}

/* slots of the damper: two for each sampled page, and a power of two */
static uint32
damper_slots(void)
{
	uint32		n = 1;

	while (n < 2 * (uint32) ws_sample_pages)
		n *= 2;
	return n;
}

Size
ws_shmem_size(void)
{
	/* 64 more, to align the beginning */
	Size		size = 64 + aligned(sizeof(WsShared)) + WS_NKINDS * ws_sketch_size(ws_registers);

	if (ws_sample_pages > 0)
		size += aligned(ws_stream_size(WS_STREAM_PLACES)) +
			aligned(ws_sampler_size(ws_sample_pages)) +
			aligned(damper_slots() * sizeof(uint64));
	return size;
}

void
ws_shmem_expect(void)
{
	/* until the server calls ws_shmem_startup() */
	strlcpy(missing.why, "a library that is preloaded after working_set replaces shmem_startup_hook, and does not call what was there before",
			sizeof(missing.why));
}

void
ws_shmem_request(void)
{
	missing.requested = true;
	RequestAddinShmemSpace(ws_shmem_size());
	RequestNamedLWLockTranche(TRANCHE_NAME, 3);
}

bool
ws_tracking(void)
{
	return ws_shared->attached && ws_enabled;
}

int64
ws_shmem_clock_ms(void)
{
	struct timespec ts;

	/* 3 ns, and steps of a few ms are fine enough for ticks of 100 */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * What belongs to the sample, from this address on.
 */
static void
make_sample(WsShared *shared, char *p)
{
	shared->stream = (WsStream *) p;
	ws_stream_init(shared->stream, WS_STREAM_PLACES);
	p += aligned(ws_stream_size(WS_STREAM_PLACES));

	shared->sampler = (WsSampler *) p;
	ws_sampler_init(shared->sampler, ws_sample_pages, shared->log2m, 0,
					shared->sketch[WS_CLIENT]->floor);
	p += aligned(ws_sampler_size(ws_sample_pages));

	shared->damper = (uint64 *) p;
	memset(shared->damper, 0, damper_slots() * sizeof(uint64));
	shared->damper_shift = 32 - pg_leftmost_one_pos32(damper_slots());
}

/*
 * Initialize everything in this memory.
 */
static void
make_shared(char *p, Size size, LWLock *lock, LWLock *sample_lock, LWLock *file_lock, bool sample)
{
	WsShared   *shared = (WsShared *) p;

	memset(shared, 0, sizeof(WsShared));
	shared->lock = lock;
	shared->sample_lock = sample_lock;
	shared->file_lock = file_lock;
	shared->memory = size;
	shared->clock_origin = ws_shmem_clock_ms();
	shared->since = GetCurrentTimestamp();
	ws_history_init(&shared->history);
	p += aligned(sizeof(WsShared));
	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		shared->sketch[kind] = (WsSketch *) p;
		ws_sketch_init(shared->sketch[kind], ws_registers, WS_TICK_ORIGIN);
		p += ws_sketch_size(ws_registers);
	}
	shared->log2m = shared->sketch[WS_CLIENT]->log2m;
	if (sample)
		make_sample(shared, p);

	ws_shared = shared;
	ws_shmem_damp(ws_sweep_damping(1));
	ws_shmem_sample(WS_SAMPLE_OFF);
	ws_shmem_worker_ticks(false);
}

static void
start_up(void)
{
	char	   *memory;
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct("working_set", ws_shmem_size(), &found);
	memory = (char *) TYPEALIGN(64, memory);
	if (!found)
	{
		LWLockPadded *locks = GetNamedLWLockTranche(TRANCHE_NAME);

		make_shared(memory, ws_shmem_size(), &locks[0].lock, &locks[1].lock, &locks[2].lock,
					ws_sample_pages > 0);
	}
	ws_shared = (WsShared *) memory;
	LWLockRelease(AddinShmemInitLock);
}

void
ws_shmem_startup(void)
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
	ws_shmem_report_missing();
}

void
ws_shmem_report_missing(void)
{
	if (!missing.reported)
		ereport(LOG,
				(errmsg("working_set is not tracking: %s", missing.why)));
	missing.reported = true;
}

bool
ws_shmem_stand_in(void)
{
	/* of this process alone, so nobody ever waits for them */
	static LWLock locks[3];
	char	   *memory;

	if (ws_shared != NULL || missing.why[0] == '\0')
		return ws_shared != NULL;

	for (int i = 0; i < 3; i++)
		LWLockInitialize(&locks[i], LWTRANCHE_BUFFER_MAPPING);
	memory = MemoryContextAlloc(TopMemoryContext, 64 + aligned(sizeof(WsShared)) +
								WS_NKINDS * ws_sketch_size(ws_registers));
	make_shared((char *) TYPEALIGN(64, memory), 0, &locks[0], &locks[1], &locks[2], false);
	strlcpy(ws_shared->refusal, missing.why, sizeof(ws_shared->refusal));
	return true;
}

uint32
ws_shmem_advance(void)
{
	WsShared   *shared = ws_shared;
	int64		origin = __atomic_load_n(&shared->clock_origin, __ATOMIC_RELAXED);
	int64		passed = (ws_shmem_clock_ms() - origin) / WS_TICK_MS +
		__atomic_load_n(&shared->clock_ahead, __ATOMIC_ACQUIRE);
	uint32		tick = WS_TICK_ORIGIN + (uint32) Min(passed, WS_TICK_LAST - WS_TICK_ORIGIN);

	ws_sketch_advance(shared->sketch[WS_MAINTENANCE], tick);
	return ws_sketch_advance(shared->sketch[WS_CLIENT], tick);
}

/*
 * Watch the registers of the pages that are sampled, and some in any case.
 */
static void
watch_registers(void)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);
	uint32		bound = shift == WS_SAMPLE_OFF ? 0 : ws_stratum_bound(shift, ws_shared->log2m);
	uint32		some = UINT32_MAX / WATCHED_SHARE + 1;

	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_store(&ws_shared->sketch[kind]->watched, Max(bound, some));
}

void
ws_shmem_worker_ticks(bool ticks)
{
	bool		ticked = !ws_load(&ws_shared->sketch[WS_CLIENT]->unattended);

	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_store(&ws_shared->sketch[kind]->unattended, !ticks);

	/* in a new tick all processes notice */
	if (ticked && !ticks)
	{
		__atomic_fetch_add(&ws_shared->clock_ahead, 1, __ATOMIC_RELEASE);
		ws_shmem_advance();
	}
}

void
ws_shmem_wake_worker(void)
{
	Latch	   *latch = __atomic_load_n(&ws_shared->worker_latch, __ATOMIC_RELAXED);

	/* of a process that has ended, it is another's by now, or nobody's */
	if (latch)
		SetLatch(latch);
}

void
ws_shmem_sample(uint32 shift)
{
	ws_store(&ws_shared->sample_shift, shift);
	watch_registers();
}

static void
sum_counters(WsCounters *sum, int64 *removed)
{
	memset(sum, 0, sizeof(WsCounters));
	for (int i = 0; i < WS_COUNTER_SHARDS; i++)
	{
		WsCounters *c = &ws_shared->shards[i].counters;

		for (int kind = 0; kind < WS_NKINDS; kind++)
		{
			sum->hits[kind] += __atomic_load_n(&c->hits[kind], __ATOMIC_RELAXED);
			sum->reads[kind] += __atomic_load_n(&c->reads[kind], __ATOMIC_RELAXED);
		}
		sum->inserts += __atomic_load_n(&c->inserts, __ATOMIC_RELAXED);
		sum->scan_hits += __atomic_load_n(&c->scan_hits, __ATOMIC_RELAXED);
		sum->scan_reads += __atomic_load_n(&c->scan_reads, __ATOMIC_RELAXED);
		sum->dropped += __atomic_load_n(&c->dropped, __ATOMIC_RELAXED);
	}

	/* what came and is not there any more has left */
	*removed = (int64) sum->inserts - ws_probe_entries();
}

TimestampTz
ws_shmem_reset(bool history)
{
	TimestampTz now;
	WsCounters	sum;
	int64		removed;
	uint32		tick;

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	/* later than any before, whoever comes first and whatever the clock says */
	now = Max(GetCurrentTimestamp(), ws_shared->since + 1);
	__atomic_fetch_or(&ws_shared->memory_state,
					  WS_MEMORY_NO_SET | (history ? WS_MEMORY_NO_HISTORY : 0), __ATOMIC_RELAXED);

	/*
	 * The present may already hold lookups from before.  Move on to a tick
	 * that nothing was recorded in.  The clock is moved with it, or time would
	 * stand still until it has caught up.
	 */
	__atomic_fetch_add(&ws_shared->clock_ahead, 1, __ATOMIC_RELAXED);
	tick = ws_shmem_advance();
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_raise_floor(ws_shared->sketch[kind], tick);

	sum_counters(&sum, &removed);
	ws_shared->at_reset = sum;
	ws_shared->removed_at_reset = removed;
	if (history)
		ws_history_init(&ws_shared->history);
	ws_store(&ws_shared->save_now, 1);
	__atomic_store_n(&ws_shared->since, now, __ATOMIC_RELEASE);
	LWLockRelease(ws_shared->lock);

	ws_shmem_wake_worker();
	return now;
}

void
ws_shmem_restart_clock(void)
{
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	__atomic_store_n(&ws_shared->clock_origin, ws_shmem_clock_ms(), __ATOMIC_RELAXED);
	ws_store(&ws_shared->clock_ahead, 0);
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_restart(ws_shared->sketch[kind], WS_TICK_ORIGIN);
	LWLockRelease(ws_shared->lock);
	(void) ws_shmem_reset(false);
}

void
ws_shmem_recall(uint32 floor)
{
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (!(ws_load(&ws_shared->memory_state) & WS_MEMORY_NO_SET))
		for (int kind = 0; kind < WS_NKINDS; kind++)
			ws_sketch_lower_floor(ws_shared->sketch[kind], floor);
	LWLockRelease(ws_shared->lock);
}

TimestampTz
ws_shmem_read_counters(WsCounters *sum, int64 *removed)
{
	WsCounters	base;
	int64		removed_base;
	TimestampTz since;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	sum_counters(sum, removed);
	base = ws_shared->at_reset;
	removed_base = ws_shared->removed_at_reset;
	since = ws_shared->since;
	LWLockRelease(ws_shared->lock);

	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		sum->hits[kind] -= base.hits[kind];
		sum->reads[kind] -= base.reads[kind];
	}
	sum->inserts -= base.inserts;
	sum->scan_hits -= base.scan_hits;
	sum->scan_reads -= base.scan_reads;
	sum->dropped -= base.dropped;
	*removed = Max(*removed - removed_base, 0);
	return since;
}
