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

/* "1.2 GB", "640 kB": three digits at most, as a person would say it. */
extern void ws_format_bytes(double bytes, char *buf, size_t size);

/* "14 minutes", "40 seconds", "hour": follows "the last". */
extern void ws_format_window(double seconds, char *buf, size_t size);

#endif							/* WS_HEURISTIC_H */
