/*
 * sizing.c
 *		The split of memory and the verdict; see sizing.h.
 */
#include "sizing.h"

#include <math.h>
#include <stdio.h>

#define MB				1048576.0

#define BACKEND			(2 * MB)	/* an idle process */
#define RESERVED_MOST	0.5		/* for processes, as a share of the memory */
#define SHARED_MOST		0.75	/* shared buffers, as a share of the caches */
#define SHARED_LEAST	(128 * MB)	/* the server's default */
#define AS_GOOD			0.005	/* hit ratios so close are equally good */

/* Dead bands of suggested / present shared buffers (of needed / cacheable). */
#define GROW_ENTER		1.2
#define GROW_STAY		1.05
#define SHRINK_ENTER	0.5
#define SHRINK_STAY		0.7
#define EXCEEDS_STAY	0.95

/* The size of step 4 in sizing.h, up to a limit. */
static double
largest_useful(const WsSizingFacts *f, double limit)
{
	double		best = NAN;
	int			known = -1;		/* the largest */

	for (int i = 0; i < f->sizes && f->size[i] <= limit; i++)
		if (!isnan(f->hit_ratio[i]))
		{
			best = fmax(best, f->hit_ratio[i]);
			known = i;
		}
	for (int i = 0; i < known; i++)
		if (f->hit_ratio[i] >= best - AS_GOOD)
			return f->size[i];
	return limit;
}

/* Whole MB, and about 1.5 % up: not to change with every page. */
static double
whole_mb(double bytes)
{
	double		unit = MB;

	while (bytes > 128 * unit)
		unit *= 2;
	return ceil(bytes / unit) * unit;
}

WsSizing
ws_sizing(const WsSizingFacts *f, WsVerdict before)
{
	WsSizing	s = {.verdict = WS_VERDICT_KEEP};
	double		suggested = fmax(f->needed, SHARED_LEAST);
	bool		exceeds = false;
	double		ratio;

	if (f->memory > 0)
	{
		double		processes = f->connections * (BACKEND + f->work_mem) + f->maintenance;
		double		most;

		s.reserved = fmin(processes, RESERVED_MOST * f->memory);
		s.cacheable = f->memory - s.reserved;
		most = fmax(floor(SHARED_MOST * s.cacheable / MB), 1) * MB;
		exceeds = f->needed > s.cacheable * (before == WS_VERDICT_EXCEEDS_MEMORY ? EXCEEDS_STAY : 1);
		if (exceeds)
			suggested = fmax(largest_useful(f, most), SHARED_LEAST);
		suggested = fmin(whole_mb(suggested), most);
		s.useful = exceeds ? suggested : 0;
		s.suggested_shared_buffers = suggested;
		s.suggested_effective_cache_size = fmax(floor(s.cacheable / MB), 1) * MB;
	}

	/* fewer than SHARED_LEAST are enough if no more are needed */
	ratio = suggested / f->shared_buffers;
	if (exceeds)
		s.verdict = WS_VERDICT_EXCEEDS_MEMORY;
	else if ((suggested > SHARED_LEAST ? ratio : fmin(ratio, f->needed / f->shared_buffers)) >
			 (before == WS_VERDICT_GROW ? GROW_STAY : GROW_ENTER))
		s.verdict = WS_VERDICT_GROW;
	else if (f->long_enough && ratio < (before == WS_VERDICT_SHRINK ? SHRINK_STAY : SHRINK_ENTER))
		s.verdict = WS_VERDICT_SHRINK;
	return s;
}

WsVerdict
ws_sizing_steady(WsSteady *steady, WsVerdict verdict, int64_t now, int64_t patience)
{
	bool		at_once = verdict == steady->verdict || verdict == WS_VERDICT_NONE ||
		steady->verdict == WS_VERDICT_NONE;

	if (!at_once && verdict != steady->next)
	{
		steady->next = verdict;
		steady->since = now;
	}
	if (at_once || now - steady->since >= patience)
	{
		steady->verdict = verdict;
		steady->next = WS_VERDICT_NONE;
	}
	return steady->verdict;
}

const char *
ws_verdict_name(WsVerdict verdict)
{
	static const char *const names[] = {NULL, "grow", "shrink", "keep", "exceeds memory"};

	return names[verdict];
}

void
ws_format_setting(double bytes, char *buf, size_t size)
{
	snprintf(buf, size, "%.0fMB", fmax(rint(bytes / MB), 1));
}
