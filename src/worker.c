/*
 * worker.c
 *		The background worker: the loop and the clock.
 *
 * The worker connects to no database, so it runs wherever the server has
 * reached a consistent state, on a standby too.
 *
 * The clock.  While lookups are recorded the worker wakes ten times a second
 * to advance the tick, so that no lookup has to read a clock.  After ten
 * seconds without a lookup it leaves the clock to the other processes and
 * rests until the next recommendation is due, until a transaction ends and
 * wakes it, or for ten seconds, because redo and long queries do not wake it.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"

#include "cache_advice.h"
#include "compat.h"
#include "guc.h"
#include "persist.h"
#include "probe.h"
#include "recommender.h"
#include "sample_life.h"
#include "setup.h"
#include "shared.h"

#define REST_MS 10000			/* the longest rest */

PGDLLEXPORT void ws_worker_main(Datum main_arg);

static void
sign_off(int code, Datum arg)
{
	ws_cache_advice_end();
	ws_shared_worker_ticks(false);
	__atomic_store_n(&ws_shared->worker_latch, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&ws_shared->worker_pid, 0, __ATOMIC_RELAXED);
}

static void
reload(void)
{
	bool		was_enabled = ws_enabled;

	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	/* lookups were not recorded meanwhile: start over */
	if (ws_enabled && !was_enabled)
	{
		ws_setup_reset(false);
		ws_cache_advice_begin(true);
	}
}

/*
 * The 32-bit ticks end after 13 years.  Ticks from before and after cannot be
 * compared, so the working set starts over.  A process that advances the clock
 * at that moment may bring it to its end once more.
 */
static void
restart_clock(void)
{
	if (ws_shared_advance() < WS_TICK_LAST)
		return;
	ws_setup_restart_clock();
	ws_cache_advice_begin(true);
	ereport(LOG,
			(errmsg("working_set: the working set starts over, since the clock has come to its end"),
			 errdetail("That happens after 13 years. The history is kept.")));
}

/* Advance the clock; returns for how many ms it may stand still. */
static long
tick(void)
{
	uint32		now = ws_shared_advance();
	bool		busy = (int32) (now - ws_load(&ws_shared->active_tick)) < WS_IDLE_TICKS;

	/* the difference may be negative: others may be a tick ahead */
	ws_shared_worker_ticks(busy);
	return busy ? WS_TICK_MS : REST_MS;
}

/*
 * One turn of the loop.  *due is when the next recommendation is due; returns
 * the ms to wait for the next turn.
 */
static long
turn(int64 *due)
{
	long		delay;
	int64		now;

	if (ConfigReloadPending)
		reload();
	restart_clock();
	delay = tick();
	ws_cache_advice_tick();
	if (ws_tracking())
		ws_sample_life_tick();
	ws_persist_tick();
	now = ws_shared_clock_ms();
	if (now >= *due || *due > now + ws_interval * 1000)
	{
		if (ws_tracking())
			ws_recommender_publish();
		*due = now + ws_interval * 1000;
	}
	return Min(delay, *due - now);
}

void
ws_worker_main(Datum main_arg)
{
	uint32		wait_event;
	int64		due;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();

	/* the postmaster restarts no worker that exits with 0 */
	if (ws_shared == NULL)
	{
		ws_setup_report_refusal();
		proc_exit(0);
	}

	ws_probe_ignore_self();
	ws_persist_load();
	ws_cache_advice_begin(false);
	wait_event = WaitEventExtensionNew("WorkingSetMain");
	__atomic_store_n(&ws_shared->worker_pid, MyProcPid, __ATOMIC_RELAXED);
	__atomic_store_n(&ws_shared->worker_latch, MyLatch, __ATOMIC_RELAXED);
	before_shmem_exit(sign_off, 0);

	due = ws_shared_clock_ms();
	while (!ShutdownRequestPending)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 turn(&due), wait_event);
		ResetLatch(MyLatch);
	}
	ws_cache_advice_drain();
	ws_persist_save();

	/* with 1 the postmaster starts another worker, unless it shuts down */
	proc_exit(1);
}
