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
	snprintf(buf, size, "%.*f %s", u > 0 && bytes < 9.95 ? 1 : 0, bytes, unit[u]);
}

void
ws_format_window(double seconds, char *buf, size_t size)
{
	if (seconds == 3600)
		snprintf(buf, size, "hour");
	else if (seconds == 60)
		snprintf(buf, size, "minute");
	else if (seconds < 120)
		snprintf(buf, size, "%.0f seconds", seconds);
	else if (seconds < 7200)
		snprintf(buf, size, "%.0f minutes", floor(seconds / 60));
	else
		snprintf(buf, size, "%.0f hours", floor(seconds / 3600));
}

void
ws_plateau_reason(const WsReasonFacts *facts, char *buf, size_t size)
{
	char		bytes[32];
	char		window[32];

	ws_format_bytes(facts->size_bytes, bytes, sizeof(bytes));

	/* a window that reaches back beyond the start is as long as we know */
	if (facts->known_seconds < facts->window_seconds)
	{
		ws_format_window(facts->known_seconds, window, sizeof(window));
		if (facts->size_bytes <= 0)
			snprintf(buf, size, "no page was used in the %s seen so far", window);
		else
			snprintf(buf, size, "the %s seen so far need %s%s", window, bytes,
					 facts->recent_rise > 0 ?
					 "; the workload may not have shown all its pages yet" : "");
		return;
	}

	ws_format_window(facts->window_seconds, window, sizeof(window));
	if (facts->size_bytes <= 0)
		snprintf(buf, size, "no page was used in the last %s", window);
	else if (facts->stepped)
		snprintf(buf, size, "the last %s need %s; looking further back includes a workload that ended",
				 window, bytes);
	else if (facts->recent_rise > 0)
		snprintf(buf, size, "the last %s needs %s, and a longer look would find more pages still",
				 window, bytes);
	else
		snprintf(buf, size, "the last %s needs %s, and the same pages keep coming back",
				 window, bytes);
}
