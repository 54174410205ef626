/*
 * heuristic.h
 *		How much cache to recommend for a workload.
 *
 * A heuristic is a function from a WsWorkload to a number of pages.
 * working_set.method chooses the one that is recommended.  There are two:
 *
 * plateau_end is the reference: the rule of the autoscaler that Neon runs for
 * its own Postgres (neondatabase/autoscaling, pkg/agent/core/wss.go, 2025).
 * The curve of size against window levels off when the same pages are used
 * again.  A steep rise further back belongs to an earlier workload.  The rule
 * walks from short windows to long ones, up to where the curve climbs again.
 *
 * live_set multiplies the size of the break-even time's window by the share of
 * its pages that will probably be used again in time.  The share comes from
 * the life table (life.h), and so from the sample.  Without a sample live_set
 * has no answer, and plateau_end is recommended.
 *
 * The busiest time counts for days, so one wrong minute must not set it.  After
 * a bulk load, and less so beside a dump, pages that were used once look live
 * until the table has seen that they stay away.  So for the busiest time
 * live_set counts at most a quarter more than what pages prove that were used
 * more than once.
 */
#ifndef WS_HEURISTIC_H
#define WS_HEURISTIC_H

#include "curve.h"
#include "life.h"

/* The curve that heuristics see: windows of 1 to 60 steps. */
#define WS_CURVE_WINDOWS	60
#define WS_CURVE_STEP		60	/* seconds */

/* Neon's parameters of plateau_end */
#define WS_PLATEAU_MIN_WAIT			5
#define WS_PLATEAU_WINDOW_SIZE		5
#define WS_PLATEAU_MAX_INCREASE		3.0
#define WS_PROJECTION_FACTOR		0.5

/* The answer of live_set at a step of the life table. */
typedef struct WsLive
{
	bool		known;			/* false: no item was seen yet */
	double		pages;			/* that are worth their memory */
	double		proved;			/* pages of those used more than once */
	double		projected;		/* the caller's part, by ws_project() */
	WsEstimate	window;			/* all pages of the break-even time */
} WsLive;

typedef struct WsWorkload
{
	WsEstimate	curve[WS_CURVE_WINDOWS];	/* point i is i + 1 steps long */
	WsLive		live;			/* unknown without a sample */

	/* settings */
	int			min_wait;		/* steps of the curve, at least window_size */
	int			window_size;	/* steps of the curve, at least 2 */
	double		max_increase;
} WsWorkload;

typedef struct WsRecommendation
{
	double		pages;			/* to cache; NaN: no answer */
	double		projected;		/* pages a little later */
	double		needed;			/* pages for the busiest time */
	WsEstimate	window;			/* that pages is about */
} WsRecommendation;

typedef enum WsMethod
{
	WS_METHOD_LIVE_SET,
	WS_METHOD_PLATEAU_END,
	WS_METHODS					/* how many there are */
} WsMethod;

/* Values of working_set.method. */
extern const char *const ws_method_names[WS_METHODS];

/* The answer of a heuristic. */
extern WsRecommendation ws_recommend(WsMethod method, const WsWorkload *workload);

/*
 * The end of the plateau of n points, counted from 1.  With w = window_size -
 * 1: the first t from min_offset to n - w at which the rise after t, over w
 * points, is more than max_increase times the rise before it; n if there is
 * none.  n >= 1, window_size >= 2, min_offset >= window_size.
 */
extern int	ws_plateau_end(const double *series, int n, int min_offset,
						   int window_size, double max_increase);

/*
 * Where a growing series will be at the next decision: the highest of x1 + (x1
 * - x0) * factor over all neighbours x0, x1, or the one point.  A fall counts
 * as no growth.  n >= 1, factor >= 0.
 */
extern double ws_project_next_highest(const double *series, int n, double factor);

typedef struct WsPlateau
{
	int			index;			/* point where the plateau ends, from 1 */
	double		pages;			/* the series there */
	double		projected;		/* where the series up to there is heading */
} WsPlateau;

/* The reference: the end, projected by what does not exceed it. */
extern WsPlateau ws_plateau(const double *series, int n, int min_offset,
							int window_size, double max_increase);

/*
 * live_set.  Pages that were used more than once and are idle for less than the
 * hold are kept even if the table gives them up, so that a pause does not empty
 * the cache.  Where too few of these came back, only a fifth more than the
 * table's answer is kept.  Sets life->mark for the next step.
 */
extern WsLive ws_live_set(WsLife *life, const WsEstimate *window);

/* The probability that a page of each class of a group is used in a bin. */
extern void ws_live_hazards(const WsLifeTable *table, int group, double *hazard);

/*
 * Where a growing size will be two periods from now, from its values now, one
 * period ago and two periods ago.  Growth slows down by the same factor as it
 * did, or by half if it has just begun.  Never below now, and at most 15 %
 * above it: fast growth, as after a step up, may be over at once.
 */
extern double ws_project(double now, double ago, double before);

/* "1.2 GB", "640 kB": three digits at most. */
extern void ws_format_bytes(double bytes, char *buf, size_t size);

/* "14 minutes", "40 seconds", "hour": to follow "the last". */
extern void ws_format_window(double seconds, char *buf, size_t size);

#endif							/* WS_HEURISTIC_H */
