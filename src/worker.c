/*
 * worker.c
 *		The background worker: it keeps the clock, and every
 *		working_set.interval turns what is known into a recommendation
 *		(recommender.c) and publishes it.  What it makes of the sample is
 *		cache_advice.c's business; what is kept over a restart, persist.c's.
 *
 * It connects to no database, so it runs wherever the server has reached a
 * consistent state, on a standby too.
 *
 * The clock.  While lookups are recorded the worker wakes ten times a second
 * to advance the tick, so that no lookup has to read a clock.  After ten
 * seconds without any it lets the processes look after the clock themselves
 * and rests until the next recommendation is due, or the first transaction ends
 * and wakes it, or for ten seconds, since redo and long queries do not.  So an
 * idle server is hardly ever woken for nothing.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "cache_advice.h"
#include "compat.h"
#include "guc.h"
#include "live_set.h"
#include "persist.h"
#include "probe.h"
#include "recommender.h"
#include "setup.h"
#include "shared.h"
#include "worker.h"

/* seconds until the postmaster starts a worker that has ended anew */
#define RESTART_SECONDS 5

/* a worker that rests looks again after so many ms, if nobody wakes it */
#define REST_MS 10000

PGDLLEXPORT void ws_worker_main(Datum main_arg);

void
ws_worker_register(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = RESTART_SECONDS;
	strlcpy(worker.bgw_library_name, "working_set", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "ws_worker_main", sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "working_set", sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, "working_set", sizeof(worker.bgw_type));
	RegisterBackgroundWorker(&worker);

	/* the server says that somebody's has no place, but not whose */
	if (!ws_worker_has_place(worker.bgw_name))
		ereport(LOG,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("working_set has no place for its background worker"),
				 errdetail("Lookups are counted, but nothing is recommended, sampled or saved."),
				 errhint("Increase \"max_worker_processes\" and restart the server.")));
}

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

	/* nobody knows what was looked up meanwhile: begin anew */
	if (ws_enabled && !was_enabled)
	{
		ws_setup_reset(false);
		ws_cache_advice_restart();
	}
}

/*
 * Ticks are numbers of 32 bits.  After 13 years they come to their end; ticks
 * from before and after cannot be compared.  A process that advances the clock
 * at that moment may bring it to the end once more.
 */
static void
restart_clock(void)
{
	if (ws_shared_advance() < WS_TICK_LAST)
		return;
	ws_setup_restart_clock();
	ws_cache_advice_restart();
	ereport(LOG,
			(errmsg("working_set: the working set starts over, since the clock has come to its end"),
			 errdetail("That happens after 13 years. The history is kept.")));
}

/*
 * Advance the clock.  Returns how many milliseconds it may be left alone.
 */
static long
tick(void)
{
	uint32		now = ws_shared_advance();
	/* others may be a tick ahead */
	bool		busy = (int32) (now - ws_load(&ws_shared->active_tick)) < WS_IDLE_TICKS;

	ws_shared_worker_ticks(busy);
	return busy ? WS_TICK_MS : REST_MS;
}

void
ws_worker_main(Datum main_arg)
{
	uint32		wait_event;
	int64		due;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();

	/* with 0, the postmaster does not start another one */
	if (ws_shared == NULL)
	{
		ws_setup_report_refusal();
		proc_exit(0);
	}

	ws_probe_ignore_self();
	ws_persist_load();
	ws_cache_advice_begin();
	wait_event = WaitEventExtensionNew("WorkingSetMain");
	__atomic_store_n(&ws_shared->worker_pid, MyProcPid, __ATOMIC_RELAXED);
	__atomic_store_n(&ws_shared->worker_latch, MyLatch, __ATOMIC_RELAXED);
	before_shmem_exit(sign_off, 0);

	due = ws_shared_clock_ms();
	while (!ShutdownRequestPending)
	{
		int64		now;
		long		delay;

		if (ConfigReloadPending)
			reload();

		restart_clock();
		delay = tick();
		ws_cache_advice_tick();
		if (ws_tracking())
			ws_live_set_tick();
		ws_persist_tick();

		now = ws_shared_clock_ms();
		if (now >= due || due > now + ws_interval * 1000)
		{
			if (ws_tracking())
				ws_recommender_publish();
			due = now + ws_interval * 1000;
		}
		delay = Min(delay, due - now);

		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 delay, wait_event);
		ResetLatch(MyLatch);
	}

	ws_cache_advice_drain();
	ws_persist_save();

	/* not 0, so that the postmaster starts another unless it shuts down */
	proc_exit(1);
}
