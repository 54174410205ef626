/*
 * heuristic.c
 *		plateau_end, live_set, and their sentences; see heuristic.h.
 */
#include "heuristic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRIOR_WEIGHT		0.1 /* of the younger's hazard, per item */
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

/* Shares of the size from which the reason names them. */
#define STEP_WORTH_NAMING	0.05	/* in the curve: another workload's */
#define GROWTH_WORTH_NAMING	0.01

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
	WsPlateau	p = {.index = index, .stepped = index < n, .pages = series[index - 1]};
	int			end = min_offset - 1 < n ? min_offset - 1 : n;

	while (end < n && series[end] <= p.pages)
		end++;
	p.projected = ws_project_next_highest(series, end, WS_PROJECTION_FACTOR);
	return p;
}

/*
 * A class with few counts leans on the younger classes, which have more, and on
 * the group below where that comes back sooner: a page that was used twice is
 * worth no less than one that was used once.
 */
void
ws_live_hazards(const WsLifeTable *t, int group, double *hazard)
{
	double		younger = 0;
	double		most = 0;

	for (int c = 0; c < WS_LIFE_CLASSES; c++)
	{
		double		mass = 0;
		double		n;
		double		r;

		for (int s = 0; s < WS_LIFE_STEPS_PER_CLASS; s++)
			mass += t->population[group][c * WS_LIFE_STEPS_PER_CLASS + s];
		most = fmax(most, mass);
		n = t->at_risk[group][c] + PRIOR_WEIGHT * most;
		r = t->returned[group][c] + PRIOR_WEIGHT * most * younger;
		if (group > 0 && t->returned[group - 1][c] > t->at_risk[group - 1][c] * younger)
		{
			n += LOWER_WEIGHT * t->at_risk[group - 1][c];
			r += LOWER_WEIGHT * t->returned[group - 1][c];
		}
		if (n > 0)
			younger = fmin(r / n, HAZARD_MAX);
		hazard[c] = younger;
	}
}

/*
 * How many of the items, *n, will be used again in the break-even time; *again
 * are those of them that were used more than once.
 */
static double
will_come_back(const WsLifeTable *t, double *n, double *again)
{
	double		live = 0;

	*n = *again = 0;
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		double		hazard[WS_LIFE_CLASSES];
		double		stay_away = 1;

		ws_live_hazards(t, g, hazard);
		for (int s = WS_LIFE_STEPS - 1; s >= 0; s--)
		{
			stay_away *= 1 - hazard[s / WS_LIFE_STEPS_PER_CLASS];
			live += t->population[g][s] * (1 - stay_away);
			*again += g > 0 ? t->population[g][s] * (1 - stay_away) : 0;
			*n += t->population[g][s];
		}
	}
	return live;
}

/* The share of idle pages to hold, by how many marked pages came back. */
static double
share_to_hold(const WsLifeTable *t, double n)
{
	double		prior = HELD_PRIOR * n;
	double		came_back = (t->came_back + prior) / (t->marked + prior);

	return fmin(fmax((came_back - HELD_NOT) / (HELD_IN_FULL - HELD_NOT), 0), 1);
}

/* How many items to keep if so many come back, held ones included. */
static double
to_keep(const WsLifeTable *t, double n, double live)
{
	double		held = fmax(t->in_use + share_to_hold(t, n) * t->idle,
							fmin(t->in_use + t->idle, HELD_IN_ANY_CASE * live));

	return fmax(live, held);
}

WsLive
ws_live_set(WsLife *life, const WsEstimate *window)
{
	const WsLifeTable *t = &life->table;
	double		n;
	double		again;
	double		live = will_come_back(t, &n, &again);
	WsLive		result = {.known = n > 0 || window->pages <= 0, .window = *window};

	life->mark = t->in_use + t->idle > MATTERS * live;
	if (n <= 0 || window->pages <= 0)
		return result;

	result.holding = to_keep(t, n, live) > live;
	result.pages = window->pages * fmin(to_keep(t, n, live) / n, 1);
	result.proved = window->pages * fmin(to_keep(t, n, again) / n, 1);
	return result;
}

double
ws_project(double now, double ago, double before)
{
	double		growth = rise(ago, now);
	double		earlier = rise(before, ago);
	double		slower = earlier > 0 ? fmin(growth / earlier, 1) : UNKNOWN_SLOWING;

	return now + growth * slower + growth * slower * slower;
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

/* "last 14 minutes", or "5 minutes seen so far" and false: less is known */
static bool
name_period(const WsWorkload *w, double seconds, char *buf, size_t size)
{
	bool		all_seen = w->known_seconds >= seconds;
	char		window[32];

	ws_format_window(all_seen ? seconds : w->known_seconds, window, sizeof(window));
	snprintf(buf, size, all_seen ? "last %s" : "%s seen so far", window);
	return all_seen;
}

/* Growth as a share of a size; 0 unless above two standard errors. */
static double
growth_share(const WsEstimate *from, const WsEstimate *to, const WsEstimate *of)
{
	double		pages = to->pages - from->pages;
	double		error = sqrt(fmax(to->variance - from->variance, 0));

	return of->pages > 0 && pages > 2 * error ? pages / of->pages : 0;
}

/* Does the curve grow over the last fifth of a window, or of the data? */
static bool
still_grows(const WsWorkload *w, int index)
{
	int			known = (int) fmin(w->known_seconds / WS_CURVE_STEP + 1, index);
	int			fifth = known / 5 > 1 ? known / 5 : 1;
	const WsEstimate *end = &w->curve[known - 1];

	return growth_share(known > fifth ? end - fifth : w->curve, end, end) > GROWTH_WORTH_NAMING;
}

static void
name_plateau(const WsWorkload *w, const WsPlateau *p, char *buf, size_t size)
{
	const WsEstimate *end = &w->curve[p->index - 1];
	const char *what_else = "";
	char		bytes[32];
	char		period[64];
	bool		all_seen = name_period(w, p->index * WS_CURVE_STEP, period, sizeof(period));

	if (p->pages <= 0)
	{
		snprintf(buf, size, "no page was used in the %s", period);
		return;
	}
	if (all_seen && p->stepped)
		what_else = growth_share(end, &w->curve[WS_CURVE_WINDOWS - 1], end) >= STEP_WORTH_NAMING ?
			"; looking further back includes a workload that ended" :
			", and looking further back adds little";
	else if (still_grows(w, p->index))
		what_else = all_seen ? ", and a longer look would find more pages still" :
			"; the workload may not have shown all its pages yet";
	else if (all_seen)
		what_else = ", and the same pages keep coming back";
	ws_format_bytes(p->pages * w->page_bytes, bytes, sizeof(bytes));
	/* "last hour" and "minute seen so far" have no number and are singular */
	snprintf(buf, size, "the %s %s %s%s", period,
			 strpbrk(period, "0123456789") ? "need" : "needs", bytes, what_else);
}

static void
name_live_set(const WsWorkload *w, char *buf, size_t size)
{
	double		window_bytes = w->live.window.pages * w->page_bytes;
	double		live_bytes = w->live.pages * w->page_bytes;
	char		used[32];
	char		live[32];
	char		hold[32];
	char		period[64];
	int			n;

	ws_format_bytes(window_bytes, used, sizeof(used));
	ws_format_bytes(live_bytes, live, sizeof(live));
	ws_format_window(w->hold, hold, sizeof(hold));
	name_period(w, w->break_even, period, sizeof(period));
	if (window_bytes <= 0)
		n = snprintf(buf, size, "no page was used in the %s", period);
	else if (live_bytes >= 0.995 * window_bytes)
		n = snprintf(buf, size, "all of the %s used in the %s will probably be used again soon",
					 used, period);
	else if (live_bytes < 1)
		n = snprintf(buf, size, "of the %s used in the %s, probably none will be used again soon",
					 used, period);
	else
		n = snprintf(buf, size, "of the %s used in the %s, %s will probably be used again soon",
					 used, period, live);
	if (w->live.holding && n > 0 && (size_t) n < size)
		snprintf(buf + n, size - n, ", counting pages used again in the last %s", hold);
}

static void
live_set(const WsWorkload *w, WsRecommendation *r)
{
	if (!w->live.known)
		return;
	r->pages = w->live.pages;
	r->projected = w->live.projected;
	r->needed = fmin(r->pages, NEEDED_MOST * w->live.proved);
	r->window_seconds = w->break_even;
	r->window = w->live.window;
	name_live_set(w, r->reason, sizeof(r->reason));
}

static void
plateau_end(const WsWorkload *w, WsRecommendation *r)
{
	double		series[WS_CURVE_WINDOWS];
	WsPlateau	p;

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		series[i] = w->curve[i].pages;
	p = ws_plateau(series, WS_CURVE_WINDOWS, w->min_wait, w->window_size, w->max_increase);
	r->pages = p.pages;
	r->projected = p.projected;
	r->window_seconds = p.index * WS_CURVE_STEP;
	r->window = w->curve[p.index - 1];
	name_plateau(w, &p, r->reason, sizeof(r->reason));
}

const WsHeuristic ws_heuristics[WS_METHODS] = {
	[WS_METHOD_LIVE_SET] = {"live_set", live_set},
	[WS_METHOD_PLATEAU_END] = {"plateau_end", plateau_end},
};

WsRecommendation
ws_recommend(const WsHeuristic *h, const WsWorkload *w)
{
	WsRecommendation r = {
		.pages = NAN,
		.projected = NAN,
		.needed = NAN,
		.window_seconds = WS_CURVE_WINDOWS * WS_CURVE_STEP,
		.window = w->curve[WS_CURVE_WINDOWS - 1]
	};

	h->recommend(w, &r);
	if (isnan(r.projected))
		r.projected = r.pages;
	if (isnan(r.needed))
		r.needed = r.pages;
	if (r.reason[0] == '\0')
		snprintf(r.reason, sizeof(r.reason), "this is the answer of %s", h->name);
	return r;
}
