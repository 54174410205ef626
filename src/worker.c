/*
 * worker.c
 *		The background worker: it keeps the clock, and every
 *		working_set.interval turns the sketch into a curve, the curve into a
 *		recommendation, and publishes it.  What it makes of the sample is
 *		advisor.c's business.
 *
 * It connects to no database, so it runs wherever the server has reached a
 * consistent state, on a standby too.
 *
 * The clock.  While lookups are recorded the worker wakes ten times a second
 * to advance the tick, so that no lookup has to read a clock.  After ten
 * seconds without any it lets the processes look after the clock themselves
 * and sleeps until the next recommendation is due, or the first of them wakes
 * it: an idle server is not woken for nothing.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "advisor.h"
#include "compat.h"
#include "curve.h"
#include "guc.h"
#include "heuristic.h"
#include "probe.h"
#include "shmem.h"
#include "worker.h"

/* seconds until the postmaster starts a worker that has ended anew */
#define RESTART_SECONDS 5

/* without a lookup for so long, the worker stops ticking */
#define IDLE_TICKS (10 * WS_TICKS_PER_SECOND)

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
}

static void
sign_off(int code, Datum arg)
{
	ws_advisor_end();
	ws_shmem_worker_ticks(false);
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
		ws_shmem_reset();
		ws_advisor_begin_anew();
	}
}

/*
 * Advance the clock.  Returns how many milliseconds it may be left alone.
 */
static long
tick(void)
{
	uint32		now = ws_shmem_advance();
	bool		busy = now - ws_load(&ws_shared->active_tick) < IDLE_TICKS;

	ws_shmem_worker_ticks(busy);
	return busy ? WS_TICK_MS : ws_interval * 1000L;
}

/*
 * The default curve, of clients.
 */
static void
take_curve(WsEstimate *curve)
{
	static void *workspace = NULL;
	const WsSketch *sketch = ws_shared->sketch[WS_CLIENT];
	uint32		ages[WS_CURVE_WINDOWS];

	if (workspace == NULL)
		workspace = MemoryContextAlloc(TopMemoryContext,
									   ws_curve_workspace_size(WS_CURVE_WINDOWS));
	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		ages[i] = (i + 1) * WS_CURVE_STEP * WS_TICKS_PER_SECOND;
	ws_curve_estimate(&sketch, 1, ws_shmem_advance(), ages, WS_CURVE_WINDOWS,
					  curve, workspace);
}

/*
 * The growth of the curve between two of its points, as a share of a size; 0
 * unless it is more than twice its standard error.
 */
static double
rise_between(const WsEstimate *from, const WsEstimate *to, double size)
{
	double		rise = to->pages - from->pages;
	double		error = sqrt(Max(to->variance - from->variance, 0));

	return size > 0 && rise > 2 * error ? rise / size : 0;
}

/*
 * How much the curve has grown over the last fifth of a window; 0 for less
 * than a percent.
 */
static double
recent_rise(const WsEstimate *curve, int index)
{
	const WsEstimate *end = &curve[index - 1];
	const WsEstimate *before = &curve[Max(index - 1 - Max(index / 5, 1), 0)];
	double		rise = rise_between(before, end, end->pages);

	return rise > 0.01 ? rise : 0;
}

/*
 * What plateau_end makes of the curve.
 */
static void
recommend(const WsEstimate *curve, double known_seconds, WsPublished *p)
{
	double		series[WS_CURVE_WINDOWS];
	WsPlateau	plateau;
	WsReasonFacts facts;
	int			known;

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		series[i] = curve[i].pages;
	plateau = ws_plateau(series, WS_CURVE_WINDOWS,
						 Max(ws_min_wait, ws_window_size), ws_window_size,
						 ws_max_increase);

	p->window_seconds = plateau.index * WS_CURVE_STEP;
	p->pages = plateau.pages;
	ws_estimate_bounds(&curve[plateau.index - 1], &p->low, &p->high);
	p->plateau_end = plateau.pages;
	p->projected = plateau.projected;
	p->recommended = plateau.projected * (1 + ws_headroom);

	/* windows beyond the beginning of our knowledge are flat, not settled */
	known = (int) Min(known_seconds / WS_CURVE_STEP + 1, plateau.index);
	facts.size_bytes = plateau.pages * BLCKSZ;
	facts.window_seconds = p->window_seconds;
	facts.known_seconds = known_seconds;
	facts.stepped = plateau.stepped;
	facts.further_rise = rise_between(&curve[plateau.index - 1],
									  &curve[WS_CURVE_WINDOWS - 1], plateau.pages);
	facts.recent_rise = recent_rise(curve, known);
	ws_plateau_reason(&facts, p->reason, sizeof(p->reason));
}

/*
 * Take a curve, make a recommendation, publish it.
 */
static void
compute_and_publish(void)
{
	WsEstimate	curve[WS_CURVE_WINDOWS];
	WsPublished p;
	WsPublishedAdvice a;
	double		known_seconds;

	memset(&p, 0, sizeof(p));
	p.since = __atomic_load_n(&ws_shared->since, __ATOMIC_RELAXED);
	p.computed_at = GetCurrentTimestamp();
	known_seconds = (p.computed_at - p.since) / (double) USECS_PER_SEC;
	if (known_seconds >= WS_COLLECTING_SECONDS)
	{
		p.interval = ws_interval;
		p.method = ws_method;
		p.effective_cache_size = effective_cache_size;
		take_curve(curve);
		recommend(curve, known_seconds, &p);
	}
	else
	{
		/* too early for a recommendation, but not for advice */
		p.computed_at = 0;
		p.recommended = NAN;
	}
	ws_advisor_advise(p.recommended, &a);

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (p.computed_at != 0)
		ws_shared->published = p;
	ws_shared->advice = a;
	LWLockRelease(ws_shared->lock);
}

void
ws_worker_main(Datum main_arg)
{
	uint32		wait_event;
	TimestampTz due;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();

	ws_probe_ignore_self();
	ws_advisor_begin();
	wait_event = WaitEventExtensionNew("WorkingSetMain");
	__atomic_store_n(&ws_shared->worker_pid, MyProcPid, __ATOMIC_RELAXED);
	__atomic_store_n(&ws_shared->worker_latch, MyLatch, __ATOMIC_RELAXED);
	before_shmem_exit(sign_off, 0);

	due = GetCurrentTimestamp();
	while (!ShutdownRequestPending)
	{
		TimestampTz now;
		long		delay;

		if (ConfigReloadPending)
			reload();

		delay = tick();
		ws_advisor_tick();

		now = GetCurrentTimestamp();
		if (now >= due || due > TimestampTzPlusMilliseconds(now, ws_interval * 1000L))
		{
			if (ws_enabled && ws_shared->attached)
				compute_and_publish();
			due = TimestampTzPlusMilliseconds(now, ws_interval * 1000L);
		}
		delay = Min(delay, TimestampDifferenceMilliseconds(now, due));

		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 delay, wait_event);
		ResetLatch(MyLatch);
	}

	/* not 0, so that the postmaster starts another unless it shuts down */
	proc_exit(1);
}
