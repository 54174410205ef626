/*
 * recommender.c
 *		Curve, life table, history and memory, and what follows; see
 *		recommender.h.
 *
 * Two sizes are told apart.  recommended_cache_bytes is for now: who can give
 * and take cache at once, follows it.  shared_buffers takes a restart to
 * change, so what is suggested for it, and the verdict, are for the busiest
 * time in working_set.history.
 *
 * Time.  What is compared is counted in ticks, by a clock that nobody sets.
 * The wall clock is for people and for the history, which is told when it has
 * been set back.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "cache_advice.h"
#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "heuristic.h"
#include "live_set.h"
#include "published.h"
#include "recommender.h"
#include "shared.h"
#include "sizing.h"

/* The wall clock may be so far off, in seconds, before we call it set back. */
#define CLOCK_SLACK		60

/* Shrinking is advised after so many break-even times. */
#define LONG_ENOUGH		4

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
 * What plateau_end makes of the curve: its number in any case, and all the
 * rest if it is the method.
 */
static void
apply_plateau_end(double known_seconds, WsPublished *p)
{
	WsEstimate	curve[WS_CURVE_WINDOWS];
	double		series[WS_CURVE_WINDOWS];
	WsPlateau	plateau;
	WsReasonFacts facts;
	uint32		ages[WS_CURVE_WINDOWS];
	int			known;

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		ages[i] = (i + 1) * WS_CURVE_STEP * WS_TICKS_PER_SECOND;
	(void) ws_estimate(NULL, WS_OF(WS_CLIENT), ages, WS_CURVE_WINDOWS, curve);
	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		series[i] = curve[i].pages;
	plateau = ws_plateau(series, WS_CURVE_WINDOWS,
						 Max(ws_min_wait, ws_window_size), ws_window_size,
						 ws_max_increase);
	p->plateau_end = plateau.pages;
	if (p->method != WS_METHOD_PLATEAU_END)
		return;

	p->window_seconds = plateau.index * WS_CURVE_STEP;
	p->pages = plateau.pages;
	ws_estimate_bounds(&curve[plateau.index - 1], &p->low, &p->high);
	p->projected = plateau.projected;

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
 * And live_set.  Where it cannot say, plateau_end has to.
 */
static void
apply_live_set(double known_seconds, WsPublished *p)
{
	WsEstimate	window = {0};
	WsLiveFacts facts;
	double		projected;
	WsLive		live = ws_live_set_get(&projected);

	p->live = live.known ? live.pages : NAN;
	if (!live.known)
		p->method = WS_METHOD_PLATEAU_END;
	if (p->method != WS_METHOD_LIVE_SET)
		return;

	p->window_seconds = ws_break_even;
	p->pages = window.pages = live.window;
	window.variance = live.window_variance;
	ws_estimate_bounds(&window, &p->low, &p->high);
	p->projected = projected;

	facts.window_bytes = live.window * BLCKSZ;
	facts.live_bytes = live.pages * BLCKSZ;
	facts.seconds = ws_break_even;
	facts.known_seconds = known_seconds;
	facts.hold_seconds = ws_hold;
	facts.holding = live.holding;
	ws_live_reason(&facts, p->reason, sizeof(p->reason));
}

/*
 * Seconds of the wall clock, and whether it was set back since last time.
 */
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

/*
 * Into the history, and the peak out of it.
 */
static void
remember(const WsHistoryRow *row, int64 now, WsPublished *p)
{
	int64		period = ws_history_period * (int64) 60;
	WsHistoryEntry peak;

	/* what is from before a reset is not to be remembered */
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (p->since == ws_shared_since())
		ws_history_add(&ws_published->history, now, row);
	LWLockRelease(ws_shared->lock);

	/* but for a reset we alone write, so we may read without the lock */
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

/*
 * Lookups since the last time, for the history.
 */
static void
count_lookups(WsHistoryRow *row)
{
	static WsHistoryCount last;
	WsHistoryCount now;
	WsCounters	c;

	/* the counters and the reset that they count from, as they belong together */
	now.since = ws_counters_read(&c, 0, NULL);
	now.hits = c.hits[WS_CLIENT];
	now.lookups = now.hits + c.reads[WS_CLIENT];
	ws_history_count(row, &last, &now);
}

/*
 * What autovacuum may take.
 */
static double
maintenance_bytes(void)
{
	int			kb = autovacuum_work_mem >= 0 ? autovacuum_work_mem : maintenance_work_mem;

	return autovacuum_max_workers * (double) kb * 1024;
}

/*
 * Sizes for ALTER SYSTEM, and the verdict.
 */
static void
size_up(const WsPublishedAdvice *a, double known_seconds, WsPublished *p)
{
	static WsSteady steady;
	static int64 steady_since;
	WsSizingFacts facts = {0};

	facts.needed = p->peak * BLCKSZ;
	facts.shared_buffers = (double) NBuffers * BLCKSZ;
	facts.memory = (double) p->memory.limit;
	facts.connections = MaxConnections;
	facts.work_mem = work_mem * 1024.0;
	facts.maintenance = maintenance_bytes();
	facts.long_enough = Max(known_seconds, p->history_minutes * 60.0) >=
		LONG_ENOUGH * (double) ws_break_even;
	StaticAssertStmt(WS_SWEEP_SIZES <= WS_SIZING_SIZES, "more sizes are simulated than fit");
	for (int i = 0; i < WS_SWEEP_SIZES && a->table.sure; i++)
	{
		facts.size[i] = rint(NBuffers * ws_sweep_factors[i]) * BLCKSZ;
		facts.hit_ratio[i] = a->table.rows[i].hit_ratio;
		facts.sizes++;
	}

	/* after a reset nothing is known about before */
	if (steady_since != p->since)
		memset(&steady, 0, sizeof(steady));
	steady_since = p->since;
	p->sizing = ws_sizing(&facts, steady.verdict);
	p->sizing.verdict = ws_sizing_steady(&steady, p->sizing.verdict,
										 ws_shared_clock_ms() / 1000, ws_hold);
}

void
ws_recommender_publish(void)
{
	WsPublished p;
	WsPublishedAdvice a;
	WsHistoryRow row = {0};
	double		known_seconds;
	int64		now;

	memset(&p, 0, sizeof(p));
	p.since = ws_shared_since();
	p.tick = ws_shared_advance();
	known_seconds = ws_shared_known(p.tick) / (double) WS_TICKS_PER_SECOND;
	p.computed_at = GetCurrentTimestamp();
	now = wall_clock(p.computed_at);
	count_lookups(&row);
	p.recommended = NAN;
	if (known_seconds >= WS_COLLECTING_SECONDS)
	{
		p.interval = ws_interval;
		p.method = ws_method;
			apply_live_set(known_seconds, &p);
		apply_plateau_end(known_seconds, &p);
		p.window_seconds = Min(p.window_seconds, (int) known_seconds);
		p.needed = (p.method == WS_METHOD_LIVE_SET ? p.live : p.plateau_end) * (1 + ws_headroom);
		p.recommended = p.projected * (1 + ws_headroom);
	}
	ws_cache_advice_make(p.recommended, &a);
	ws_memory_read("", &p.memory);
	if (!isnan(p.recommended))
	{
		row.working_set = p.pages;
		/* without the projection: what it foresaw came, or did not */
		row.recommended = p.needed;
		row.plateau_end = p.plateau_end;
		row.live = p.live;
		remember(&row, now, &p);
		size_up(&a, known_seconds, &p);
	}

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (!isnan(p.recommended))
		ws_published->recommendation = p;
	ws_published->memory_limit = p.memory.limit;
	ws_published->advice = a;
	LWLockRelease(ws_shared->lock);
}
