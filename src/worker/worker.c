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
 * rests until the next recommendation is due, until a statement that reads
 * tables begins or a transaction ends and wakes it, or for ten seconds, because
 * redo does not wake it.
 *
 * Sizes.  recommended_cache_bytes is for the current load: for those who can
 * resize a cache at any time.  A change of shared_buffers takes a restart, so
 * its suggested value and the verdict are for the last days, by what clients
 * waited for reads (verdict.h).
 *
 * Time.  Durations are measured in ticks, by a clock that nobody sets.  The
 * wall clock is for people and for the history.
 */
#include "postgres.h"

#include <malloc.h>
#include <math.h>

#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "consumer.h"
#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "heuristic.h"
#include "persist.h"
#include "probe.h"
#include "published.h"
#include "reader.h"
#include "setup.h"
#include "shared.h"
#include "verdict.h"
#include "waiting.h"

#define REST_MS			10000	/* the longest rest */
#define LARGE_BLOCK		65536	/* bytes, from which memory is given back */
#define CLOCK_SLACK		60		/* s; a larger difference: it was set back */
#define MB				1048576.0
#define SAME_SIZE		0.1		/* by logarithm */
#define HEADROOM		1.1		/* estimates err, and so does the clock sweep */
#define DECIDE_MS		60000	/* between two decisions */
#define FULL			0.03	/* of shared buffers may be empty */
#define FORECAST_SECONDS 240	/* that a hit ratio has to be about, */
#define FORECAST_LOOKUPS 1000	/* at least */

PGDLLEXPORT void ws_worker_main(Datum main_arg);

static void
sign_off(int code, Datum arg)
{
	ws_reader_end();
	ws_shared_worker_ticks(false);
	__atomic_store_n(&ws_shared->worker_latch, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&ws_shared->worker_pid, 0, __ATOMIC_RELAXED);
}

/* If lookups were not recorded, also before this worker, start over. */
static void
heed_enabled(void)
{
	if (ws_enabled && ws_shared->was_off)
	{
		ws_setup_reset(false);
		ws_reader_begin(true);
	}
	ws_shared->was_off = !ws_enabled;
}

static void
reload(void)
{
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	heed_enabled();
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
	ws_reader_begin(true);
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
run_heuristics(WsPublished *p)
{
	WsWorkload	w = {
		.min_wait = Max(ws_min_wait, ws_window_size),
		.window_size = ws_window_size,
		.max_increase = ws_max_increase
	};
	uint32		ages[WS_CURVE_WINDOWS];
	uint32		week = (uint32) WS_HISTORY_WEEK * WS_TICKS_PER_SECOND;
	WsEstimate	used;
	WsRecommendation r[WS_METHODS];
	const WsRecommendation *chosen;
	int			break_even;		/* that live is about */

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		ages[i] = (i + 1) * WS_CURVE_STEP * WS_TICKS_PER_SECOND;
	(void) ws_estimate(NULL, WS_OF(WS_CLIENT), ages, WS_CURVE_WINDOWS, w.curve);
	(void) ws_estimate(NULL, WS_OF(WS_CLIENT), &week, 1, &used);
	p->used = used.pages;
	w.live = ws_life_consumer_get(&break_even);
	if (break_even < ws_break_even)
		p->data_seconds = Min(p->data_seconds, break_even);
	for (int i = 0; i < WS_METHODS; i++)
		r[i] = ws_recommend((WsMethod) i, &w);
	p->live = r[WS_METHOD_LIVE_SET].pages;
	p->plateau_end = r[WS_METHOD_PLATEAU_END].pages;
	p->method = isnan(r[ws_method].pages) ? WS_METHOD_PLATEAU_END : ws_method;
	chosen = &r[p->method];
	p->pages = chosen->window.pages;
	p->needed = chosen->needed * HEADROOM;
	p->recommended = chosen->projected * HEADROOM;
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

/* Put the row into the history, and ask the history. */
static void
remember(const WsHistoryRow *row, int64 now, WsPublished *p)
{
	WsHistoryEntry peak;
	double		days[WS_FORECAST_DAYS];

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	/* not a row from before a reset */
	if (p->since == ws_shared_since())
		ws_history_add(&ws_published->history, now, row);
	LWLockRelease(ws_shared->lock);

	/* only the worker adds rows, so it may read without the lock */
	p->peak = p->needed;
	p->peak_at = p->computed_at;
	if (ws_history_peak(&ws_published->history, now, ws_history_period * (int64) 60, &peak) &&
		peak.row.recommended >= p->needed)
	{
		p->peak = peak.row.recommended;
		p->peak_at = Min(time_t_to_timestamptz(peak.end - peak.minutes * 60), p->computed_at);
	}
	ws_history_daily(&ws_published->history, now, days, WS_FORECAST_DAYS);
	p->trend = ws_forecast(days, WS_FORECAST_DAYS);
}

/* Are pages read that shared buffers would have, had they been full before? */
static bool
is_filling(const WsPublished *p)
{
	return p->filling_until > p->computed_at && p->table.difference > 0;
}

/* Were earlier predictions right? */
static void
check_predictions(const WsPublished *p, int64 now)
{
	const WsAdviceTable *table = &p->table;

	if (table->seconds < FORECAST_SECONDS || table->lookups < FORECAST_LOOKUPS)
		return;
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (p->since == ws_shared_since())
	{
		if (!is_filling(p))
			ws_checks_compare(&ws_published->history.checks, now, NBuffers, table->hit_ratio);
		ws_checks_keep(&ws_published->history.checks, now, table);
	}
	LWLockRelease(ws_shared->lock);
}

/*
 * How much both caches would hold with the suggested size, which is what the
 * planner has to know, if that is sure.  What was found last stays if the next
 * differs little, or is not known.
 */
static void
divide(WsPublished *p)
{
	static double effective;
	static double memory;		/* that this was found with */
	static int64 since;
	WsMemoryAdvice *both = &p->both;
	double		limit = (double) p->memory.limit;
	double		cache = ws_division_left(&both->table, limit, p->decision.size);

	if (since != p->since || !(fabs(log(limit / memory)) <= SAME_SIZE))
		effective = 0;
	since = p->since;
	memory = limit;
	if (both->sure && ws_division_predict(&both->table, p->decision.size, cache, &both->suggested) &&
		!isnan(both->suggested.distinct) && !(fabs(log(both->suggested.distinct / effective)) <= SAME_SIZE))
		effective = both->suggested.distinct;
	if (effective > 0)
		p->decision.effective = floor(fmin(effective, p->decision.cacheable) / MB) * MB;
}

/* Count what clients waited for, and what they would have. */
static void
count_costs(int64 now, const WsPublished *p)
{
	static WsCostQuarter quarter;
	static int64 counted_at;	/* ms */
	static int64 since;
	int64		ms = ws_shared_clock_ms();
	WsCostMoment moment = {
		.seconds = Min(ms - counted_at, 2000 * (int64) p->interval) / 1000.0,
		.table = &p->table,
		.tiers = p->both.sure ? &p->both.table : NULL,
		.memory = (double) p->memory.limit,
		.buffers = NBuffers,
		.buffer = BLCKSZ
	};

	ws_waiting_take(&moment.active, &moment.waiting);
	if (since == p->since)
	{
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		if (p->since == ws_shared_since())
			ws_costs_add(&ws_published->history.costs, &quarter, now, &moment);
		LWLockRelease(ws_shared->lock);
	}
	else
		memset(&quarter, 0, sizeof(quarter));
	since = p->since;
	counted_at = ms;
}

/*
 * Note what is promised for another size, and what came of that.  Where no
 * client was active, there is no query time to promise a share of.
 */
static void
keep_promise(int64 now, WsPublished *p)
{
	WsCosts    *costs = &ws_published->history.costs;
	double		buffers = p->decision.size / BLCKSZ;
	WsPromise	promise = {now, (float) buffers, (float) p->decision.suggested.week};

	if (buffers != NBuffers && ws_suggests_size(&p->decision, p->confidence) && p->decision.timed &&
		!isnan(p->decision.suggested.week))
	{
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		if (p->since == ws_shared_since())
			costs->promise = promise;
		LWLockRelease(ws_shared->lock);
	}
	p->promised = p->came = NAN;
	if (ws_costs_came(costs, now, NBuffers, &p->came, &p->came_seconds))
		p->promised = costs->promise.share;
	else
		p->came = NAN;
}

/* Decide about shared_buffers, now and then, and say how sure that is. */
static void
decide(int64 now, WsPublished *p)
{
	static WsQueryTime *times;
	static WsDecision decision;
	static WsSteady steady;
	static int64 decided_at;
	static int64 since;
	int			autovacuum_kb = autovacuum_work_mem >= 0 ? autovacuum_work_mem : maintenance_work_mem;
	WsVerdictFacts facts = {
		.costs = &ws_published->history.costs,
		.now = now,
		.buffer = BLCKSZ,
		.shared_buffers = (double) NBuffers * BLCKSZ,
		.memory = (double) p->memory.limit,
		.connections = MaxConnections,
		.work_mem = work_mem * 1024.0,
		.maintenance = autovacuum_max_workers * (double) autovacuum_kb * 1024,
		.worth = ws_worth
	};
	int64		ms = ws_shared_clock_ms();
	double		empty = NBuffers - (double) ws_probe_entries();
	WsEvidence	evidence;
	double		wait;

	if (times == NULL)
		times = MemoryContextAlloc(TopMemoryContext, sizeof(WsQueryTime));
	if (since != p->since)
		memset(&steady, 0, sizeof(steady));
	/* (a test with a short interval wants to see the decision) */
	if (since != p->since || decided_at == 0 || ms - decided_at >= DECIDE_MS || ws_interval < 10)
	{
		/* only the worker writes costs, so it may read without the lock */
		ws_query_time(times, &facts);
		decision = ws_decide(times, &steady);
		decided_at = ms;
	}
	since = p->since;
	p->decision = decision;
	evidence = (WsEvidence)
	{
		.data = p->data_seconds,
			.break_even = ws_break_even,
			.unsampled = ws_shared->sampler == NULL,
			.unfit = !p->table.sure && !isnan(p->table.difference),
			.unlike = p->table.other_usage != 0,
			.filling = is_filling(p)
	};
	p->confidence = ws_confidence(&p->decision, &evidence, p->why, sizeof(p->why), &wait);
	p->surer_at = wait > 0 ? p->computed_at + (TimestampTz) (wait * USECS_PER_SEC) : 0;
	p->filling = p->filling_until > p->computed_at && p->table.reads_per_second > 0 && empty > FULL * NBuffers ?
		empty / p->table.reads_per_second : NAN;
	divide(p);
	keep_promise(now, p);
	p->expected_hit_ratio = ws_advice_expect(&p->table, p->decision.size / BLCKSZ);
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
	int64		now;

	p.since = ws_shared_since();
	p.tick = ws_shared_advance();
	p.computed_at = GetCurrentTimestamp();
	p.interval = ws_interval;
	p.expected_hit_ratio = NAN;
	now = wall_clock(p.computed_at);
	count.since = ws_counters_read(&c, NULL);
	count.hits = c.hits[WS_CLIENT];
	count.lookups = count.hits + c.reads[WS_CLIENT];
	ws_history_count(&row, &last, &count);
	p.data_seconds = ws_shared_known(p.tick) / (double) WS_TICKS_PER_SECOND;
	p.recommends = p.data_seconds >= WS_COLLECTING_SECONDS;
	if (p.recommends)
		run_heuristics(&p);
	if (p.recommends && p.method == WS_METHOD_LIVE_SET)
		p.needed = ws_life_consumer_doubt(p.needed);
	ws_memory_limits_read("", &p.memory);
	ws_reader_publish(&p);
	check_predictions(&p, now);
	count_costs(now, &p);
	if (p.recommends)
	{
		row.working_set = p.pages;
		row.recommended = p.needed;
		remember(&row, now, &p);
		decide(now, &p);
		/* simulate the size that is suggested, or mentioned, next */
		ws_sweep_consumer_follow((p.decision.size == (double) NBuffers * BLCKSZ && p.decision.other > 0 ?
								  p.decision.other : p.decision.size) / BLCKSZ);
	}
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	ws_published->last = p;
	LWLockRelease(ws_shared->lock);
}

/*
 * One turn of the loop, for which the worker was woken or not.  *due is when
 * the next recommendation is due; returns the ms to wait for the next turn.
 */
static long
turn(int64 *due, bool woken)
{
	static bool resting;
	bool		rested = resting;
	long		delay;
	int64		now;

	if (ConfigReloadPending)
		reload();
	restart_clock();
	delay = tick();
	resting = delay == REST_MS;
	ws_reader_tick();
	if (ws_tracking())
	{
		ws_life_consumer_tick();
		ws_waiting_tick(rested && woken);
	}
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

/*
 * Every few seconds the worker needs 1.4 MB for a curve, and a few more when it
 * saves, each for some milliseconds.  After the first such block glibc would
 * keep the others.
 */
static void
return_large_blocks(void)
{
#ifdef __GLIBC__
	(void) mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
#endif
}

void
ws_worker_main(Datum main_arg)
{
	uint32		wait_event;
	int64		due;
	int			events = 0;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();

	/* the postmaster restarts no worker that exits with 0 */
	if (ws_shared == NULL)
	{
		ws_setup_report_refusal();
		proc_exit(0);
	}

	return_large_blocks();
	/* databases of any encoding show what the system says here */
	SetConfigOption("lc_messages", "C", PGC_SUSET, PGC_S_OVERRIDE);
	ws_probe_ignore_self();
	ws_persist_load();
	ws_reader_begin(false);
	heed_enabled();
	wait_event = WaitEventExtensionNew("WorkingSetMain");
	__atomic_store_n(&ws_shared->worker_pid, MyProcPid, __ATOMIC_RELAXED);
	__atomic_store_n(&ws_shared->worker_latch, MyLatch, __ATOMIC_RELAXED);
	before_shmem_exit(sign_off, 0);

	due = ws_shared_clock_ms();
	while (!ShutdownRequestPending)
	{
		events = WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						   turn(&due, (events & WL_LATCH_SET) != 0), wait_event);
		ResetLatch(MyLatch);
	}
	ws_reader_drain();
	ws_persist_save();

	/* with 1 the postmaster starts another worker, unless it shuts down */
	proc_exit(1);
}
