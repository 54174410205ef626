/*
 * setup.c
 *		The library's entry point, the memory that processes share, and starting
 *		over; see setup.h.
 *
 * When the library is preloaded, settings come first, then shared memory with
 * the probe, then the worker.  When a session loads it, nothing is set up, and
 * the functions report what is missing.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "attribution.h"
#include "compat.h"
#include "counters.h"
#include "guc.h"
#include "lookup.h"
#include "origins.h"
#include "probe.h"
#include "process_origin.h"
#include "published.h"
#include "sampler.h"
#include "setup.h"
#include "shared.h"
#include "stream.h"
#include "sweep.h"

#define NAME "working_set"
#define NLOCKS 3
#define REPLACED(hook) "a library that is preloaded after working_set replaces " hook ", and does not call what was there before"

PG_MODULE_MAGIC_EXT(.name = "working_set", .version = WS_VERSION);

PGDLLEXPORT void _PG_init(void);

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static bool requested = false;	/* did the server call request()? */
static bool reported = false;	/* is the reason in the log? */

#define CACHE_LINE 64
#define PAIR_MARKS_SIZE (sizeof(uint16) << WS_PAIR_SLOTS_LOG2)

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
next_part(char **memory, Size size)
{
	void	   *part = *memory;

	*memory += TYPEALIGN(CACHE_LINE, size);
	return part;
}

static Parts *
use_memory(char *memory)
{
	Parts	   *parts = (Parts *) TYPEALIGN(CACHE_LINE, memory);

	ws_shared = &parts->shared;
	ws_counters = &parts->counters;
	ws_published = &parts->published;
	return parts;
}

static void
init(char *memory, LWLockPadded *locks, bool sample)
{
	const WsDamping damping = {0, WS_USAGE_MAX};
	Parts	   *parts = use_memory(memory);

	memory = (char *) (parts + 1);
	memset(parts, 0, sizeof(Parts));
	ws_history_init(&ws_published->history);

	ws_shared->lock = &locks[0].lock;
	ws_shared->sample_lock = &locks[1].lock;
	ws_shared->file_lock = &locks[2].lock;
	ws_shared->clock_origin = ws_shared_clock_ms();
	ws_shared->since = GetCurrentTimestamp();
	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		ws_shared->sketch[kind] = next_part(&memory, ws_sketch_size(ws_registers));
		ws_sketch_init(ws_shared->sketch[kind], ws_registers, WS_TICK_ORIGIN);
	}
	ws_shared->log2m = ws_shared->sketch[WS_CLIENT]->log2m;

	if (sample)
	{
		ws_shared->stream = next_part(&memory, ws_stream_size(WS_STREAM_PLACES));
		ws_stream_init(ws_shared->stream, WS_STREAM_PLACES);
		ws_shared->sampler = next_part(&memory, ws_sampler_size(ws_sample_pages));
		ws_sampler_init(ws_shared->sampler, ws_sample_pages, ws_shared->log2m, 0, WS_TICK_ORIGIN);
		ws_shared->attribution = next_part(&memory, ws_attribution_size(pairs()));
		ws_attribution_init(ws_shared->attribution, pairs(), ws_shared->log2m, 0, WS_TICK_ORIGIN);
		ws_shared->origins = next_part(&memory, sizeof(WsOrigins));
		ws_origins_init(ws_shared->origins);
		ws_shared->reported_pairs = next_part(&memory, PAIR_MARKS_SIZE);
		memset(ws_shared->reported_pairs, 0, PAIR_MARKS_SIZE);
		ws_shared->damper = next_part(&memory, damper_slots() * sizeof(uint64));
		memset(ws_shared->damper, 0, damper_slots() * sizeof(uint64));
		ws_shared->damper_shift = 32 - pg_leftmost_one_pos32(damper_slots());
	}

	ws_shared_damp(damping);
	ws_shared_sample(WS_SAMPLE_OFF);
	ws_shared_worker_ticks(false);
}

static Size
total_size(bool sample)
{
	/* a line more, to align the start */
	Size		size = CACHE_LINE + sizeof(Parts) + WS_NKINDS * ws_sketch_size(ws_registers);

	if (sample)
		size += TYPEALIGN(CACHE_LINE, ws_stream_size(WS_STREAM_PLACES)) +
			TYPEALIGN(CACHE_LINE, ws_sampler_size(ws_sample_pages)) +
			TYPEALIGN(CACHE_LINE, ws_attribution_size(pairs())) +
			TYPEALIGN(CACHE_LINE, sizeof(WsOrigins)) + PAIR_MARKS_SIZE +
			TYPEALIGN(CACHE_LINE, damper_slots() * sizeof(uint64));
	return size;
}

static void
request(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	requested = true;
	RequestAddinShmemSpace(total_size(ws_sample_pages > 0));
	RequestNamedLWLockTranche(NAME, NLOCKS);
}

static void
make_memory(void)
{
	bool		sample = ws_sample_pages > 0;
	char	   *memory;
	bool		found;

	if (!requested)
		ereport(ERROR, (errmsg_internal(REPLACED("shmem_request_hook"))));

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct(NAME, total_size(sample), &found);
	if (found)
		(void) use_memory(memory);
	else
	{
		init(memory, GetNamedLWLockTranche(NAME), sample);
		ws_shared->memory = total_size(sample);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
ws_setup_report_refusal(void)
{
	if (!reported)
		ereport(LOG, (errmsg("working_set is not tracking: %s", ws_refusal)));
	reported = true;
}

/*
 * Run a step of the server's start; true if it succeeds.  An error would end
 * the postmaster, so it becomes the reason why nothing is tracked.  The setting
 * exit_on_error, meant for sessions, would make it fatal, so it is off here.
 */
static bool
succeeds(void (*step) (void))
{
	MemoryContext context = CurrentMemoryContext;
	bool		exit_on_error = ExitOnAnyError;
	volatile bool done = false;

	ExitOnAnyError = false;
	PG_TRY();
	{
		step();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();		/* 19 keeps its own until exit */
		strlcpy(ws_refusal, error->message, sizeof(ws_refusal));
		FreeErrorData(error);
	}
	PG_END_TRY();
	ExitOnAnyError = exit_on_error;
	return done;
}

static void
startup(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	ws_shared = NULL;
	reported = false;
	if (succeeds(make_memory) && succeeds(ws_probe_attach))
		ws_probe_switch(ws_enabled);
	else
	{
		ws_probe_detach();
		ws_setup_report_refusal();
	}
}

static void
assign_enabled(bool newval, void *extra)
{
	/* a parallel worker inherits the state, and restores settings only */
	if (!InitializingParallelWorker)
		ws_probe_switch(newval);
}

static void
register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_name = NAME,
		.bgw_type = NAME,
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = 5,	/* seconds */
		.bgw_library_name = "working_set",
		.bgw_function_name = "ws_worker_main"
	};

	RegisterBackgroundWorker(&worker);
	/* the server's own message does not name the worker that has no place */
	if (IsPostmasterEnvironment && !ws_worker_has_place(worker.bgw_name))
		ereport(LOG,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("working_set has no place for its background worker"),
				 errdetail("Lookups are counted, but nothing is recommended, sampled or saved."),
				 errhint("Increase \"max_worker_processes\" and restart the server.")));
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;

	ws_guc_define(assign_enabled);
	strlcpy(ws_refusal, REPLACED("shmem_startup_hook"), sizeof(ws_refusal));
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
	RegisterXactCallback(ws_lookup_transaction_event, NULL);
	ws_process_origin_install();
	register_worker();
}

bool
ws_setup_stand_in(void)
{
	/* no other process knows these locks, so they are always free */
	static LWLockPadded locks[NLOCKS];

	if (ws_shared == NULL && ws_refusal[0] != '\0')
	{
		for (int i = 0; i < NLOCKS; i++)
			LWLockInitialize(&locks[i].lock, LWTRANCHE_BUFFER_MAPPING);
		init(MemoryContextAlloc(TopMemoryContext, total_size(false)), locks, false);
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
