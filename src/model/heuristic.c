/*
 * heuristic.c
 *		plateau_end, live_set, and their sentences; see heuristic.h.
 */
#include "heuristic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRIOR_WEIGHT		0.1 /* of the younger's hazard, per item to come */
#define FEW				10		/* times as many to come as are counted */
#define LOWER_WEIGHT		0.3 /* of the group below, per item at risk */
#define HAZARD_MAX			0.9999	/* no page comes back for sure */

/* Held pages, as a multiple of the table's answer. */
#define MATTERS				1.1 /* above, pages that become idle are marked */
#define HELD_IN_ANY_CASE	1.2

/* Marks that end in a use, as a share of all. */
#define HELD_PRIOR			0.5 /* supposed ones, as a share of the items */
#define HELD_NOT			0.2 /* no idle page is held below, */
#define HELD_IN_FULL		0.5 /* and all above */

#define NEEDED_MOST			1.25	/* times the proved pages */

#define UNKNOWN_SLOWING		0.5 /* of growth that has just begun */
#define EXPECTED_MOST		0.15	/* growth, as a share of the size */

static double
rise(double from, double to)
{
	return to > from ? to - from : 0;
}

int
ws_plateau_end(const double *series, int n, int min_offset, int window_size, double max_increase)
{
	int			w = window_size - 1;

	/* t is an index, from 0 */
	for (int t = min_offset - 1; t < n - w; t++)
		if (rise(series[t], series[t + w]) > rise(series[t - w], series[t]) * max_increase)
			return t + 1;
	return n;
}

double
ws_project_next_highest(const double *series, int n, double factor)
{
	double		highest = series[0];

	for (int i = 1; i < n; i++)
	{
		double		growth = rise(series[i - 1], series[i]);

		highest = fmax(highest, series[i - 1] + growth + growth * factor);
	}
	return highest;
}

WsPlateau
ws_plateau(const double *series, int n, int min_offset, int window_size, double max_increase)
{
	int			index = ws_plateau_end(series, n, min_offset, window_size, max_increase);
	WsPlateau	p = {.index = index, .pages = series[index - 1]};
	int			end = min_offset - 1 < n ? min_offset - 1 : n;

	while (end < n && series[end] <= p.pages)
		end++;
	p.projected = ws_project_next_highest(series, end, WS_PROJECTION_FACTOR);
	return p;
}

/* The probability of a use in a bin of so many steps, by its mean number. */
static double
in_bin(double uses, double steps)
{
	return steps > 1 ? 1 - pow(fmax(1 - uses / steps, 0), steps) : uses;
}

/*
 * A class with few counts leans on the younger classes, which have more, and on
 * the group below where that comes back sooner: a page that was used twice is
 * worth no less than one that was used once.
 *
 * How much is few is relative to the items that are in the class or will come
 * to it.  The counts of a class that a scan has not reached are of the few slow
 * pages that were there before, and tell nothing about so many more.  Counts
 * fade, so the tenth part is enough: pages that come in waves have to be known
 * again at the next wave.  What a class leans on is the hazard at the ages that
 * these items have reached: counts of others do not add up from class to class.
 */
void
ws_live_hazards(const WsLifeTable *t, int group, double *hazard)
{
	int			below = group > WS_LIFE_LONG ? WS_LIFE_AGAIN : group - 1;
	double		reached = 0;	/* hazard of the younger classes */
	double		coming = 0;

	for (int c = 0; c < WS_LIFE_CLASSES; c++)
	{
		double		n = t->at_risk[group][c];
		double		r = t->returned[group][c];
		double		h = reached;

		if (c > 0)
			coming *= pow(1 - hazard[c - 1], WS_LIFE_BINS_PER_CLASS);
		for (int s = 0; s < WS_LIFE_BINS_PER_CLASS; s++)
			coming += t->population[group][c * WS_LIFE_BINS_PER_CLASS + s];
		if (group > 0 && t->returned[below][c] > t->at_risk[below][c] * reached)
		{
			n += LOWER_WEIGHT * t->at_risk[below][c];
			r += LOWER_WEIGHT * t->returned[below][c];
		}
		if (n > 0)
		{
			/* a return early in a wide bin is an item, too */
			double		items = fmax(n, r);
			double		trust = items / (items + fmax(PRIOR_WEIGHT * coming, coming - FEW * items));

			h = fmin(reached + trust * (in_bin(r / n, t->bin_steps[c]) - reached), HAZARD_MAX);
			reached += trust * (h - reached);
		}
		hazard[c] = h;
	}
}

/* What a life table makes of its items; in items. */
typedef struct Tally
{
	double		n;				/* all items */
	double		live;			/* used again within the break-even time, */
	double		again;			/* and used more than once before */
	double		held;			/* whatever the table predicts */
} Tally;

static void
count_live(const WsLifeTable *t, Tally *y)
{
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		double		hazard[WS_LIFE_CLASSES];
		double		stay_away = 1;

		ws_live_hazards(t, g, hazard);
		for (int s = WS_LIFE_BINS - 1; s >= 0; s--)
		{
			double		live;

			stay_away *= 1 - hazard[s / WS_LIFE_BINS_PER_CLASS];
			live = t->population[g][s] * (1 - stay_away);
			y->n += t->population[g][s];
			y->live += live;
			y->again += g > WS_LIFE_ONCE ? live : 0;
		}
	}
}

/* Hold a share of the idle pages, by how many marked pages came back. */
static void
count_held(const WsLifeTable *t, Tally *y)
{
	double		prior = HELD_PRIOR * y->n;
	double		marked = t->marked + prior;
	double		came_back = (t->came_back + prior) / marked;
	double		share = (came_back - HELD_NOT) / (HELD_IN_FULL - HELD_NOT);

	y->held = t->in_use + fmin(fmax(share, 0), 1) * t->idle;
}

/* How many items to keep if so many come back. */
static double
to_keep(const Tally *y, double live, double most)
{
	return fmin(fmax(live, fmax(y->held, fmin(most, HELD_IN_ANY_CASE * live))), y->n);
}

WsLive
ws_live_set(WsLife *life, const WsEstimate *window)
{
	const WsLifeTable *t = &life->table;
	double		most = t->in_use + t->idle;
	Tally		y = {0};
	WsLive		result = {.window = *window};

	count_live(t, &y);
	result.known = y.n > 0 || window->pages <= 0;
	life->mark = most > MATTERS * y.live;
	if (y.n <= 0 || window->pages <= 0)
		return result;

	count_held(t, &y);
	result.pages = window->pages * (to_keep(&y, y.live, most) / y.n);
	result.proved = window->pages * (to_keep(&y, y.again, most) / y.n);
	return result;
}

double
ws_project(double now, double ago, double before)
{
	double		growth = rise(ago, now);
	double		earlier = rise(before, ago);
	double		slower = earlier > 0 ? fmin(growth / earlier, 1) : UNKNOWN_SLOWING;

	return now + fmin(growth * slower + growth * slower * slower, EXPECTED_MOST * now);
}

void
ws_format_bytes(double bytes, char *buf, size_t size)
{
	static const char *const unit[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
	int			u = 0;

	while (bytes >= 999.5 && u < 5)
	{
		bytes /= 1024;
		u++;
	}
	snprintf(buf, size, "%.*f %s", u > 0 && bytes < 9.95 ? 1 : 0, bytes,
			 u == 0 && bytes == 1 ? "byte" : unit[u]);
}

void
ws_format_window(double seconds, char *buf, size_t size)
{
	const char *unit = "day";
	double		n = floor(seconds / 86400);

	if (seconds < 119.5 && seconds != 60)
	{
		unit = "second";
		n = rint(seconds);
	}
	else if (seconds < 7200 && seconds != 3600)
	{
		unit = "minute";
		n = floor(seconds / 60 + 0.5 / 60);
	}
	else if (seconds < 2 * 86400)
	{
		unit = "hour";
		n = floor(seconds / 3600);
	}
	if (n == 1)
		snprintf(buf, size, "%s", unit);
	else
		snprintf(buf, size, "%.0f %ss", n, unit);
}

const char *const ws_method_names[WS_METHODS] = {
	[WS_METHOD_LIVE_SET] = "live_set",
	[WS_METHOD_PLATEAU_END] = "plateau_end",
};

static WsRecommendation
live_set(const WsWorkload *w)
{
	const WsLive *live = &w->live;

	if (!live->known)
		return (WsRecommendation)
	{
		NAN, NAN, NAN, w->curve[WS_CURVE_WINDOWS - 1]
	};
	return (WsRecommendation)
	{
		live->pages, live->projected, fmin(live->pages, NEEDED_MOST * live->proved), live->window
	};
}

static WsRecommendation
plateau_end(const WsWorkload *w)
{
	double		series[WS_CURVE_WINDOWS];
	WsPlateau	p;

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		series[i] = w->curve[i].pages;
	p = ws_plateau(series, WS_CURVE_WINDOWS, w->min_wait, w->window_size, w->max_increase);
	return (WsRecommendation)
	{
		p.pages, p.projected, p.pages, w->curve[p.index - 1]
	};
}

WsRecommendation
ws_recommend(WsMethod method, const WsWorkload *w)
{
	return method == WS_METHOD_LIVE_SET ? live_set(w) : plateau_end(w);
}
