/*
 * heuristic.c
 *		The plateau_end rule and the sentence that explains it; see
 *		heuristic.h for the idea.
 */
#include "heuristic.h"

#include <math.h>
#include <stdio.h>

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
