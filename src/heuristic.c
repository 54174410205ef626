/*
 * heuristic.c
 *		The plateau_end rule and the sentence that explains it; see
 *		heuristic.h for the idea.
 */
#include "heuristic.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double
rise(double from, double to)
{
	return to > from ? to - from : 0;
}

int
ws_plateau_end(const double *series, int n, int min_offset, int window_size,
			   double max_increase)
{
	int			w = window_size - 1;

	/* t is an index, from 0 */
	for (int t = min_offset - 1; t < n - w; t++)
	{
		double		before = rise(series[t - w], series[t]);
		double		after = rise(series[t], series[t + w]);

		if (after > before * max_increase)
			return t + 1;
	}
	return n;
}

double
ws_project_next_highest(const double *series, int n, double factor)
{
	double		highest = series[0];

	for (int i = 1; i < n; i++)
	{
		double		growth = rise(series[i - 1], series[i]);
		double		next = series[i - 1] + growth + growth * factor;

		if (next > highest)
			highest = next;
	}
	return highest;
}

WsPlateau
ws_plateau(const double *series, int n, int min_offset, int window_size,
		   double max_increase)
{
	WsPlateau	p;
	int			end;

	p.index = ws_plateau_end(series, n, min_offset, window_size, max_increase);
	p.stepped = p.index < n;
	p.pages = series[p.index - 1];

	/* up to the first point that exceeds the value, but not before min_offset */
	end = min_offset - 1 < n ? min_offset - 1 : n;
	while (end < n && series[end] <= p.pages)
		end++;
	p.projected = ws_project_next_highest(series, end, WS_PROJECTION_FACTOR);
	return p;
}

/* how much the table believes that the idle fare as the young, for each of these */
#define PRIOR_WEIGHT		0.1
/* and that a group fares as the one below it, for each of those */
#define LOWER_WEIGHT		0.3
/* nobody comes back for sure */
#define HAZARD_MAX			0.9999

/* becoming idle matters when those held exceed the table's answer so much */
#define MATTERS				1.1
/* held in any case up to this much above the table's answer */
#define HELD_IN_ANY_CASE	1.2
/* ends of held pages that we suppose, all happy, as a share of the items */
#define HELD_PRIOR			0.5
/* held not at all, and in full, when so many of the marked came back */
#define HELD_NOT			0.2
#define HELD_IN_FULL		0.5

/* growth is taken to slow down by this factor when nothing is known about it */
#define UNKNOWN_SLOWING		0.5

/*
 * What is not known well is taken from those idle for less: they are younger,
 * but more.  Where the group below is known to come back sooner it is heard
 * too: a page that was used twice is worth no less than one used once.
 */
void
ws_live_hazards(const WsLifeTable *t, int group, double *hazard)
{
	double		younger = 0;
	double		most = 0;

	for (int c = 0; c < WS_LIFE_CLASSES; c++)
	{
		double		mass = 0;
		double		n = t->at_risk[group][c];
		double		r = t->returned[group][c];

		for (int s = 0; s < WS_LIFE_STEPS_PER_CLASS; s++)
			mass += t->population[group][c * WS_LIFE_STEPS_PER_CLASS + s];
		most = fmax(most, mass);
		n += PRIOR_WEIGHT * most;
		r += PRIOR_WEIGHT * most * younger;
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
 * Of the items idle for less than the break-even time, *n, how many will come
 * back before it is over?
 */
static double
will_come_back(const WsLifeTable *t, double *n)
{
	double		live = 0;

	*n = 0;
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		double		hazard[WS_LIFE_CLASSES];
		double		stay_away = 1;

		ws_live_hazards(t, g, hazard);
		for (int s = WS_LIFE_STEPS - 1; s >= 0; s--)
		{
			stay_away *= 1 - hazard[s / WS_LIFE_STEPS_PER_CLASS];
			live += t->population[g][s] * (1 - stay_away);
			*n += t->population[g][s];
		}
	}
	return live;
}

/*
 * How far may held pages be believed to come back, from 0 to 1?
 */
static double
belief(const WsLifeTable *t, double n)
{
	double		prior = HELD_PRIOR * n;
	double		share = (t->came_back + prior) / (t->marked + prior);

	return fmin(fmax((share - HELD_NOT) / (HELD_IN_FULL - HELD_NOT), 0), 1);
}

WsLive
ws_live_set(WsLife *life, const WsEstimate *window, double rate)
{
	const WsLifeTable *t = &life->table;
	WsLive		result = {0};
	double		n;
	double		live = will_come_back(t, &n);
	double		held = t->in_use + t->idle;
	double		p;

	life->mark = held > MATTERS * live;
	result.window = window->pages;
	result.window_variance = window->variance;
	result.known = n > 0 || window->pages <= 0;
	if (n <= 0 || window->pages <= 0)
		return result;

	held = fmax(t->in_use + belief(t, n) * t->idle, fmin(held, HELD_IN_ANY_CASE * live));
	result.holding = held > live;
	p = fmin(fmax(live, held) / n, 1);
	result.share = p;
	result.pages = window->pages * p;
	result.variance = p * p * window->variance;
	if (p > 0)
		result.variance += result.pages * result.pages * (1 - p) * (1 - rate) / (p * n);
	return result;
}

double
ws_project(double now, double ago, double before)
{
	double		growth = rise(ago, now);
	double		earlier = rise(before, ago);
	double		slower = UNKNOWN_SLOWING;

	if (earlier > 0)
		slower = fmin(growth / earlier, 1);
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

/* a window as it is spoken of: how many of what */
static long
window_count(double seconds, const char **what)
{
	if (seconds < 119.5 && seconds != 60)
		return *what = "second", (long) rint(seconds);
	if (seconds < 7200 && seconds != 3600)
		return *what = "minute", (long) floor(seconds / 60 + 0.5 / 60);
	if (seconds < 2 * 86400)
		return *what = "hour", (long) floor(seconds / 3600);
	return *what = "day", (long) floor(seconds / 86400);
}

void
ws_format_window(double seconds, char *buf, size_t size)
{
	const char *what;
	long		n = window_count(seconds, &what);

	if (n == 1)
		snprintf(buf, size, "%s", what);
	else
		snprintf(buf, size, "%ld %ss", n, what);
}

/* the verb that goes with a window */
static const char *
window_needs(double seconds)
{
	const char *what;

	return window_count(seconds, &what) == 1 ? "needs" : "need";
}

void
ws_plateau_reason(const WsReasonFacts *facts, char *buf, size_t size)
{
	/* a window that reaches back beyond the start is as long as we know */
	bool		all_known = facts->known_seconds < facts->window_seconds;
	double		seconds = all_known ? facts->known_seconds : facts->window_seconds;
	const char *what_else = "";
	char		bytes[32];
	char		window[32];

	ws_format_bytes(facts->size_bytes, bytes, sizeof(bytes));
	ws_format_window(seconds, window, sizeof(window));

	if (facts->size_bytes <= 0)
	{
		snprintf(buf, size, all_known ? "no page was used in the %s seen so far" :
				 "no page was used in the last %s", window);
		return;
	}

	if (all_known)
	{
		if (facts->recent_rise > 0)
			what_else = "; the workload may not have shown all its pages yet";
	}
	else if (facts->stepped && facts->further_rise >= WS_STEP_WORTH_TELLING)
		what_else = "; looking further back includes a workload that ended";
	else if (facts->stepped)
		what_else = ", and looking further back adds little";
	else if (facts->recent_rise > 0)
		what_else = ", and a longer look would find more pages still";
	else
		what_else = ", and the same pages keep coming back";

	snprintf(buf, size, all_known ? "the %s seen so far %s %s%s" : "the last %s %s %s%s",
			 window, window_needs(seconds), bytes, what_else);
}

void
ws_live_reason(const WsLiveFacts *facts, char *buf, size_t size)
{
	bool		all_known = facts->known_seconds < facts->seconds;
	const char *so_far = all_known ? " seen so far" : "";
	char		touched[32];
	char		live[32];
	char		window[32];
	char		hold[32];
	int			n;

	ws_format_bytes(facts->window_bytes, touched, sizeof(touched));
	ws_format_bytes(facts->live_bytes, live, sizeof(live));
	ws_format_window(all_known ? facts->known_seconds : facts->seconds, window, sizeof(window));
	ws_format_window(facts->hold_seconds, hold, sizeof(hold));

	if (facts->window_bytes <= 0)
		n = snprintf(buf, size, "no page was used in the %s%s%s", all_known ? "" : "last ",
					 window, so_far);
	else if (facts->live_bytes >= 0.995 * facts->window_bytes)
		n = snprintf(buf, size, "all of the %s used in the %s%s%s will probably be used again soon",
					 touched, all_known ? "" : "last ", window, so_far);
	else if (facts->live_bytes < 1)
		n = snprintf(buf, size, "of the %s used in the %s%s%s, probably none will be used again soon",
					 touched, all_known ? "" : "last ", window, so_far);
	else
		n = snprintf(buf, size, "of the %s used in the %s%s%s, %s will probably be used again soon",
					 touched, all_known ? "" : "last ", window, so_far, live);
	if (facts->holding && n > 0 && (size_t) n < size)
		snprintf(buf + n, size - n, ", or was in use until less than %s%s ago",
				 strchr(hold, ' ') ? "" : hold[0] == 'h' ? "an " : "a ", hold);
}
