/*
 * worker.c
 *		The background worker: the loop, the clock and the recommendation.
 *
 * The worker connects to no database, so it runs wherever the server has
 * reached a consistent state, on a standby too.
 *
 * The clock.  While lookups are recorded the worker wakes ten times a second
 * to advance the tick, so that no lookup has to read a clock.  After ten
 * seconds without a lookup it leaves the clock to the other processes and
 * rests until the next recommendation is due, until a transaction ends and
 * wakes it, or for ten seconds, because redo and long queries do not wake it.
 *
 * Sizes.  recommended_cache_bytes is for the current load: for those who can
 * resize a cache at any time.  A change of shared_buffers takes a restart, so
 * its suggested value and the verdict are for the busiest time of the history,
 * in which pages that were used once hardly count (heuristic.h).
 *
 * Time.  Durations are measured in ticks, by a clock that nobody sets.  The
 * wall clock is for people and for the history.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "cache_advice.h"
#include "compat.h"
#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "heuristic.h"
#include "persist.h"
#include "probe.h"
#include "published.h"
#include "sample_life.h"
#include "setup.h"
#include "shared.h"
#include "sizing.h"

#define REST_MS 10000			/* the longest rest */
#define CLOCK_SLACK		60		/* s; a larger difference: it was set back */
#define LONG_ENOUGH		4		/* break-even times until shrink is advised */
#define FORECAST_SECONDS 240	/* that a hit ratio has to be about, */
#define FORECAST_LOOKUPS 1000	/* at least */

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
 * Run all heuristics, and publish the answer of the chosen one.  If it has
 * none, as live_set without a sample, plateau_end is the method.
 */
static void
run_heuristics(double data_seconds, WsPublished *p)
{
	WsWorkload	w = {
		.known_seconds = data_seconds,
		.page_bytes = BLCKSZ,
		.break_even = ws_break_even,
		.hold = ws_hold,
		.min_wait = Max(ws_min_wait, ws_window_size),
		.window_size = ws_window_size,
		.max_increase = ws_max_increase
	};
	uint32		ages[WS_CURVE_WINDOWS];
	WsRecommendation r[WS_METHODS];
	const WsRecommendation *chosen;
	double		growth;			/* expected; the bounds are without its error */

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		ages[i] = (i + 1) * WS_CURVE_STEP * WS_TICKS_PER_SECOND;
	(void) ws_estimate(NULL, WS_OF(WS_CLIENT), ages, WS_CURVE_WINDOWS, w.curve);
	w.live = ws_sample_life_get(&w.table);
	for (int i = 0; i < WS_METHODS; i++)
		r[i] = ws_recommend(&ws_heuristics[i], &w);
	p->live = r[WS_METHOD_LIVE_SET].pages;
	p->live_low = r[WS_METHOD_LIVE_SET].low;
	p->live_high = r[WS_METHOD_LIVE_SET].high;
	p->plateau_end = r[WS_METHOD_PLATEAU_END].pages;
	p->method = isnan(r[ws_method].pages) ? WS_METHOD_PLATEAU_END : ws_method;
	chosen = &r[p->method];
	p->window_seconds = Min(chosen->window_seconds, (int) data_seconds);
	p->pages = chosen->window.pages;
	ws_estimate_bounds(&chosen->window, &p->low, &p->high);
	p->needed = chosen->needed * (1 + ws_headroom);
	p->recommended = chosen->projected * (1 + ws_headroom);
	growth = chosen->projected - chosen->pages;
	p->recommended_low = (chosen->low + growth) * (1 + ws_headroom);
	p->recommended_high = (chosen->high + growth) * (1 + ws_headroom);
	strlcpy(p->reason, chosen->reason, sizeof(p->reason));
}

/* Seconds since 1970.  Moves the history if the clock was set back. */
static int64
wall_clock(TimestampTz wall)
{
	static int64 last_wall;
	static int64 last_ms;
	int64		seconds = timestamptz_to_time_t(wall);
	int64		ms = ws_shared_clock_ms();
	int64		back = last_wall + (ms - last_ms) / 1000 - seconds;

	if (last_ms != 0 && back > CLOCK_SLACK)
	{
		int			moved;

		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		moved = ws_history_set_back(&ws_published->history, seconds, back);
		LWLockRelease(ws_shared->lock);
		ereport(LOG,
				(errmsg("working_set: the system clock was set back by %lld seconds", (long long) back),
				 errdetail("%d entries of the history were moved with it.", moved)));
	}
	last_wall = seconds;
	last_ms = ms;
	return seconds;
}

/* Put the row into the history, and find the history's peak. */
static void
remember(const WsHistoryRow *row, int64 now, WsPublished *p)
{
	int64		period = ws_history_period * (int64) 60;
	WsHistoryEntry peak;

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	/* not a row from before a reset */
	if (p->since == ws_shared_since())
		ws_history_add(&ws_published->history, now, row);
	LWLockRelease(ws_shared->lock);

	/* only the worker adds rows, so it may read without the lock */
	p->peak = p->needed;
	p->peak_at = p->computed_at;
	if (ws_history_peak(&ws_published->history, now, period, &peak) &&
		peak.row.recommended >= p->needed)
	{
		p->peak = peak.row.recommended;
		p->peak_at = Min(time_t_to_timestamptz(peak.end - peak.minutes * 60), p->computed_at);
	}
	p->history_minutes = ws_history_known(&ws_published->history, now, period);
}

/* Were earlier predictions right? */
static void
check_forecasts(const WsAdviceTable *table, int64 now, int64 since)
{
	if (table->seconds < FORECAST_SECONDS || table->lookups < FORECAST_LOOKUPS)
		return;
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (since == ws_shared_since())
	{
		ws_forecast_check(&ws_published->history.forecasts, now, NBuffers, table->hit_ratio);
		ws_forecast_keep(&ws_published->history.forecasts, now, table);
	}
	LWLockRelease(ws_shared->lock);
}

/* Suggest settings, and give the verdict. */
static void
give_verdict(double data_seconds, WsPublished *p)
{
	static WsSteady steady;
	static int64 steady_since;
	int			autovacuum_kb = autovacuum_work_mem >= 0 ? autovacuum_work_mem : maintenance_work_mem;
	WsSizingFacts facts = {
		.needed = p->peak * BLCKSZ,
		.shared_buffers = (double) NBuffers * BLCKSZ,
		.memory = (double) p->memory.limit,
		.connections = MaxConnections,
		.work_mem = work_mem * 1024.0,
		.maintenance = autovacuum_max_workers * (double) autovacuum_kb * 1024,
		.long_enough = Max(data_seconds, p->history_minutes * 60.0) >=
		LONG_ENOUGH * (double) ws_break_even
	};

	StaticAssertStmt(WS_SWEEP_GRID <= WS_SIZING_SIZES, "more sizes are simulated than fit");
	for (int i = 0; i < WS_SWEEP_GRID && p->table.sure; i++)
	{
		facts.size[i] = rint(NBuffers * ws_sweep_grid[i]) * BLCKSZ;
		facts.hit_ratio[i] = ws_advice_row_doubt(&p->table.rows[i]) ? NAN : p->table.rows[i].hit_ratio;
		facts.sizes++;
	}

	/* a reset forgets the verdict */
	if (steady_since != p->since)
		memset(&steady, 0, sizeof(steady));
	steady_since = p->since;
	p->sizing = ws_sizing(&facts, steady.verdict);
	p->sizing.verdict = ws_sizing_steady(&steady, p->sizing.verdict,
										 ws_shared_clock_ms() / 1000, ws_hold);
}

/*
 * From the sketches, the sample, the history and the memory limit to one row,
 * which is published.
 */
static void
publish(void)
{
	static WsHistoryCount last;
	WsHistoryCount count;
	WsCounters	c;
	WsPublished p = {0};
	WsHistoryRow row = {0};
	double		data_seconds;
	int64		now;

	p.since = ws_shared_since();
	p.tick = ws_shared_advance();
	p.computed_at = GetCurrentTimestamp();
	p.interval = ws_interval;
	p.recommended = NAN;
	now = wall_clock(p.computed_at);
	count.since = ws_counters_read(&c, 0, NULL);
	count.hits = c.hits[WS_CLIENT];
	count.lookups = count.hits + c.reads[WS_CLIENT];
	ws_history_count(&row, &last, &count);
	data_seconds = ws_shared_known(p.tick) / (double) WS_TICKS_PER_SECOND;
	p.recommends = data_seconds >= WS_COLLECTING_SECONDS;
	if (p.recommends)
		run_heuristics(data_seconds, &p);
	ws_cache_advice_make(&p);
	check_forecasts(&p.table, now, p.since);
	ws_memory_read("", &p.memory);
	if (p.recommends)
	{
		row.working_set = p.pages;
		row.recommended = p.needed;
		row.plateau_end = p.plateau_end;
		row.live = p.live;
		remember(&row, now, &p);
		give_verdict(data_seconds, &p);
		ws_cache_advice_follow(p.recommended);
	}
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	ws_published->last = p;
	LWLockRelease(ws_shared->lock);
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
			publish();
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
