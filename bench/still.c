/*
 * still.c
 *		For bench/instructions only: holds the clock still.
 *
 * A single-user backend has no worker, so its lookups look after the clock
 * themselves.  To count what a lookup costs beside a worker, this module,
 * preloaded after working_set, tells it that a worker ticks.  Lookups read the
 * clock now and then all the same; still_clock.c shows them one that stands still.
 * So the tick moves only when SQL asks for it.  If ws_bench_still.sample is
 * on, all pages are sampled, else none.
 */
#include "postgres.h"

#include "fmgr.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "shmem.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
hold_still(void)
{
	/* as ws_shmem_size() at the default settings; another size is refused */
	Size		size = 64 + TYPEALIGN(64, sizeof(WsShared)) +
		WS_NKINDS * ws_sketch_size(WS_REGISTERS_DEFAULT) +
		TYPEALIGN(64, ws_stream_size(WS_STREAM_PLACES)) +
		TYPEALIGN(64, ws_sampler_size(WS_SAMPLE_PAGES_DEFAULT)) +
		2 * WS_SAMPLE_PAGES_DEFAULT * sizeof(uint64);
	const char *sample = GetConfigOption("ws_bench_still.sample", true, false);
	bool		all = sample && strcmp(sample, "on") == 0;
	bool		found;
	WsShared   *shared;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	/* by its name and size, as working_set itself finds it */
	shared = (WsShared *) TYPEALIGN(64, ShmemInitStruct("working_set", size, &found));
	if (!found || !shared->attached)
		elog(FATAL, "working_set is not attached");
	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		ws_store(&shared->sketch[kind]->unattended, 0);
		if (all)
			ws_store(&shared->sketch[kind]->watched, UINT32_MAX);
	}
	ws_store(&shared->sample_shift, all ? 0 : WS_SAMPLE_OFF);
}

void
_PG_init(void)
{
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = hold_still;
}
