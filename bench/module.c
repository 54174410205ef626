/*
 * module.c
 *		For bench/instructions and bench/server: a library to be preloaded after
 *		working_set, which takes the place of its worker under valgrind.
 *
 * A single-user backend has no worker, so its lookups look after the clock
 * themselves.  A server under callgrind is some fifty times slower, so that its
 * clock ticks after fewer transactions, and what is done once per tick weighs as
 * many times more.  This library tells working_set that a worker ticks.  There
 * is none: time passes when SQL calls tick().  (It also passes when a page is
 * read.)  One page in 2^ws_bench.shift is sampled, or none if that is not set.
 *
 * Lookups read the clock now and then all the same.  With STILL_CLOCK this is
 * instead a library for the loader (LD_PRELOAD), which shows them a clock of
 * ages that stands still.
 */
#ifdef STILL_CLOCK

#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_MONOTONIC_COARSE)
		return syscall(SYS_clock_gettime, id, ts);
	ts->tv_sec = 1000000;
	ts->tv_nsec = 0;
	return 0;
}

#else

#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "attribution.h"
#include "counters.h"
#include "origins.h"
#include "pagehash.h"
#include "published.h"
#include "sampler.h"
#include "shared.h"
#include "stream.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(tick);

/* as it is where nothing is evicted, and nearly always where sampled pages are looked up often */
#define DAMP_SHIFT 4
#define DAMP_USES 5

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;
static WsShared *shared = NULL;

static void
take_over(void)
{
	/* as total_size() of setup.c, at the default of sample_pages; another is refused */
	uint32		registers = atoi(GetConfigOption("working_set.registers", false, false));
	Size		size = 64 + TYPEALIGN(64, sizeof(WsShared)) + TYPEALIGN(64, sizeof(WsSharedCounters)) +
		TYPEALIGN(64, sizeof(WsSharedPublished)) + WS_NKINDS * ws_sketch_size(registers) +
		TYPEALIGN(64, ws_stream_size(WS_STREAM_PLACES)) +
		TYPEALIGN(64, ws_sampler_size(WS_SAMPLE_PAGES_DEFAULT)) +
		TYPEALIGN(64, ws_attribution_size(WS_SAMPLE_PAGES_DEFAULT / 2)) +
		TYPEALIGN(64, sizeof(WsOrigins)) + (sizeof(uint16) << WS_PAIR_SLOTS_LOG2) +
		2 * WS_SAMPLE_PAGES_DEFAULT * sizeof(uint64);
	const char *value = GetConfigOption("ws_bench.shift", true, false);
	uint32		shift = value ? atoi(value) : WS_SAMPLE_OFF;
	bool		found;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	/* by its name and size, as working_set itself finds it */
	shared = (WsShared *) TYPEALIGN(64, ShmemInitStruct("working_set", size, &found));
	if (!found || !shared->attached)
		elog(FATAL, "working_set is not attached");
	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		ws_store(&shared->sketch[kind]->unattended, 0);
		ws_store(&shared->sketch[kind]->sampled_below,
				 shift == WS_SAMPLE_OFF ? 0 : ws_hash_bound(shift, shared->log2m));
	}
	ws_store(&shared->damping, DAMP_USES << 8 | DAMP_SHIFT);
	ws_store(&shared->sample_shift, shift);
}

Datum
tick(PG_FUNCTION_ARGS)
{
	if (!shared)
		elog(ERROR, "not preloaded");
	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_sketch_advance(shared->sketch[kind], ws_load(&shared->sketch[kind]->tick) + 1);
	PG_RETURN_VOID();
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = take_over;
}

#endif
