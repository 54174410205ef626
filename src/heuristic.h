/*
 * heuristic.h
 *		From a curve to one number: how much cache to give.
 *
 * plateau_end is the reference: the rule of the autoscaler that Neon runs for
 * its own Postgres (neondatabase/autoscaling, pkg/agent/core/wss.go, 2025;
 * described in Neon's article on dynamically estimating working set size).
 * Its idea: while one workload runs, the curve of size against window rises
 * fast and then levels off, since the same pages come again.  A new steep
 * rise further back belongs to an earlier workload.  So walk from short
 * windows to long, and stop at the last point of the plateau, before the
 * curve starts to climb again.
 *
 * Pure functions over a series: values in, values out.  Point i of a series,
 * counted from 1, is the size of a window of i minutes (or any other step).
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_HEURISTIC_H
#define WS_HEURISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve.h"
#include "life.h"

/* Neon's parameters */
#define WS_PLATEAU_MIN_WAIT			5
#define WS_PLATEAU_WINDOW_SIZE		5
#define WS_PLATEAU_MAX_INCREASE		3.0
#define WS_PROJECTION_FACTOR		0.5

/*
 * After a flat stretch plateau_end takes any rise for a step, be it noise.  A
 * step is spoken of as another workload's from this share of the size on.
 */
#define WS_STEP_WORTH_TELLING		0.05

/*
 * The end of the plateau of series[0 .. n-1].
 *
 * With w = window_size - 1, and points counted from 1: the first t from
 * min_offset to n - w at which the rise after t, over w points, is more than
 * max_increase times the rise before it; falls count as no rise.  Returns
 * that t, or n when there is none.
 *
 * n >= 1, window_size >= 2, min_offset >= window_size.
 */
extern int	ws_plateau_end(const double *series, int n, int min_offset,
						   int window_size, double max_increase);

/*
 * Where a growing series will be at the next decision: the highest of
 * x1 + (x1 - x0) * factor over its neighbours x0, x1, so that a workload that
 * is still reading its data in gets room before it asks.  A fall counts as no
 * growth.  Of one point, the point.  n >= 1, factor >= 0.
 */
extern double ws_project_next_highest(const double *series, int n,
									  double factor);

/*
 * The recommendation by plateau_end.
 */
typedef struct WsPlateau
{
	int			index;			/* point where the plateau ends, from 1 */
	bool		stepped;		/* did a steep rise end it, or the series? */
	double		pages;			/* the series there */
	double		projected;		/* where the series up to there is heading */
} WsPlateau;

/*
 * Both steps of the reference: the end of the plateau, and the projection
 * over the points from the first up to the one before the series exceeds it.
 */
extern WsPlateau ws_plateau(const double *series, int n, int min_offset,
							int window_size, double max_increase);

/*
 * The recommendation by live_set, in pages.
 */
typedef struct WsLive
{
	double		pages;			/* that are worth their memory */
	double		variance;		/* of pages */
	double		window;			/* pages touched within the break-even time */
	double		window_variance;
	double		share;			/* pages, as a share of these */
	bool		holding;		/* more than the life table alone would say */
	bool		known;			/* false: pages were touched, but none of them has
								 * been an item yet */
} WsLive;

/*
 * The live set: how many of the pages that were touched within the break-even
 * time will be used again within it, counted from their last use?
 *
 * window is what the sketch says about the break-even time, and rate the share
 * of all pages that the life table's items are; the table tells the share that
 * will come back.  With p this share of n items, the relative variance is
 * (1-p)(1-rate)/(p n) and that of the window.
 *
 * The table's answer is not let fall too soon: pages that were used more than
 * once and are idle for less than the hold are kept, so that a pause does not
 * cost the cache.  That is not for ever: where pages that were held so came
 * back too seldom, they are kept up to a fifth above the table's answer only.
 *
 * Also decides whether those who now become idle are to be marked
 * (life->mark), for the next step.
 *
 * Of no pages, no pages.  Any number of pages up to 2^40 and beyond.
 */
extern WsLive ws_live_set(WsLife *life, const WsEstimate *window, double rate);

/*
 * The hazards of a group, for each class: the probability that a page idle for
 * so long is used within a step.
 */
extern void ws_live_hazards(const WsLifeTable *table, int group, double *hazard);

/*
 * Where a growing size will be two periods on, from its values now, one and
 * two periods ago: growth goes on, and slows down from period to period by the
 * same factor as it did, or by half if it has only begun.  It does not speed
 * up.  Never below now.
 */
extern double ws_project(double now, double ago, double before);

/*
 * What a sentence about a recommendation has to know.
 */
typedef struct WsReasonFacts
{
	double		size_bytes;		/* the working set of the window */
	double		window_seconds;
	double		known_seconds;	/* how long everything is known: uptime */
	bool		stepped;		/* the plateau ended in a rise, by the rule */
	double		further_rise;	/* by how much the longest window exceeds it,
								 * as a share of the size, beyond 2 standard
								 * errors; 0 if within noise */
	double		recent_rise;	/* growth over the window's last fifth, as a
								 * share of the whole, beyond 2 standard
								 * errors; 0 if within noise */
} WsReasonFacts;

/*
 * Why this much, in words a DBA can read aloud.  Writes at most size bytes,
 * always terminated.
 */
extern void ws_plateau_reason(const WsReasonFacts *facts, char *buf, size_t size);

/*
 * What a sentence about the live set has to know.
 */
typedef struct WsLiveFacts
{
	double		window_bytes;	/* touched within the break-even time */
	double		live_bytes;		/* of these, worth their memory */
	double		seconds;		/* the break-even time */
	double		known_seconds;	/* how long everything is known: uptime */
	double		hold_seconds;
	bool		holding;		/* more than the life table would say */
} WsLiveFacts;

/* Why this much, by live_set.  As ws_plateau_reason(). */
extern void ws_live_reason(const WsLiveFacts *facts, char *buf, size_t size);

/* "1.2 GB", "640 kB": three digits at most, as a person would say it. */
extern void ws_format_bytes(double bytes, char *buf, size_t size);

/* "14 minutes", "40 seconds", "hour": follows "the last". */
extern void ws_format_window(double seconds, char *buf, size_t size);

#endif							/* WS_HEURISTIC_H */
