/*
 * pace.c
 *		For bench/server only: lets the clock tick when told to.
 *
 * Under callgrind a server is some fifty times slower, so that its clock ticks
 * after fewer transactions, and what is done once per tick weighs as many
 * times more.  This module, preloaded after working_set where no worker can
 * start, tells it that a worker ticks and samples one page in 2^shift.  There is
 * none: time passes when SQL calls tick(), so that there can be as many
 * transactions in a tick as there are outside of callgrind.  (It also passes when a
 * page is read.)
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "shmem.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(tick);

/* as it is where nothing is evicted */
#define DAMP_SHIFT 3
#define DAMP_USES 5

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;
static WsShared *shared = NULL;

static void
take_over(void)
{
	/* as ws_shmem_size() at the default settings; another size is refused */
	Size		size = 64 + TYPEALIGN(64, sizeof(WsShared)) +
		WS_NKINDS * ws_sketch_size(WS_REGISTERS_DEFAULT) +
		TYPEALIGN(64, ws_stream_size(WS_STREAM_PLACES)) +
		TYPEALIGN(64, ws_sampler_size(WS_SAMPLE_PAGES_DEFAULT)) +
		2 * WS_SAMPLE_PAGES_DEFAULT * sizeof(uint64);
	const char *value = GetConfigOption("ws_bench_pace.shift", true, false);
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
		ws_store(&shared->sketch[kind]->watched,
				 shift == WS_SAMPLE_OFF ? 0 : ws_stratum_bound(shift, shared->log2m));
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
