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
#define SHARED_LEAST	WS_SIZING_LEAST /* the server's default */
#define EFFECTIVE_MOST	0.75	/* effective_cache_size, of the memory */
#define AS_GOOD			0.005	/* hit ratios so close are equally good, */
#define GAIN_STAY		0.004	/* where more was advised, if so close */
#define SAME_WAITS		0.05	/* and so are waits, as a part of them */
#define NEXT_SIZE		1.1		/* times a size: another close to it */
#define SAME_SIZE		0.1		/* suggestions so close wait, by logarithm */

/* Dead bands of suggested / present shared buffers (of needed / cacheable). */
#define GROW_ENTER		1.2
#define GROW_STAY		1.05
#define SHRINK_ENTER	0.55
#define SHRINK_STAY		0.7
#define EXCEEDS_STAY	0.95

/* A size's hit ratio, less what its waits cost; NaN: not known. */
static double
worth(const WsSizingFacts *f, int i)
{
	return f->hit_ratio[i] - (f->wait_cost > 0 ? f->wait_cost * f->waits[i] : 0);
}

/* The size, or the next smaller one; -1: it is outside of them. */
static int
find_size(const WsSizingFacts *f, double bytes)
{
	int			i = f->sizes - 1;

	while (i >= 0 && f->size[i] > bytes)
		i--;
	return i == f->sizes - 1 && i >= 0 && f->size[i] < bytes ? -1 : i;
}

/* What a size is worth, by interpolation. */
static double
worth_at(const WsSizingFacts *f, double bytes)
{
	int			i = find_size(f, bytes);

	if (i < 0 || f->size[i] == bytes)
		return i < 0 ? NAN : worth(f, i);
	return worth(f, i) + (worth(f, i + 1) - worth(f, i)) *
		(bytes - f->size[i]) / (f->size[i + 1] - f->size[i]);
}

/* By how much less another size may be worth, and be as good as this one. */
static double
slack(const WsSizingFacts *f, double bytes, double least)
{
	int			i = find_size(f, bytes);

	return least + (f->wait_cost > 0 && i >= 0 ? SAME_WAITS * f->wait_cost * f->waits[i] : 0);
}

/*
 * The smallest size from "least" to "most" that is as good as the best up to
 * "most"; NaN: none is known.  *largest: no larger one is known.
 */
static double
smallest_good(const WsSizingFacts *f, double least, double most, bool *largest)
{
	int			best = -1;
	int			known = -1;		/* the largest */
	double		enough;

	*largest = true;
	for (int i = 0; i < f->sizes && f->size[i] <= most; i++)
		if (!isnan(worth(f, i)))
		{
			if (best < 0 || worth(f, i) > worth(f, best))
				best = i;
			known = i;
		}
	if (best < 0)
		return NAN;
	enough = worth(f, best) - slack(f, f->size[best], AS_GOOD);
	if (worth_at(f, least) >= enough)
	{
		*largest = false;
		return least;
	}
	for (int i = 0; i <= known; i++)
		if (f->size[i] >= least && worth(f, i) >= enough)
		{
			*largest = i == known;
			return f->size[i];
		}
	return NAN;
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

/* The next known size from "least" on, if it is close, or "least". */
static double
size_from(const WsSizingFacts *f, double least)
{
	for (int i = 0; i < f->sizes; i++)
		if (f->size[i] >= least)
			return f->size[i] <= NEXT_SIZE * least ? f->size[i] : least;
	return least;
}

/* What to suggest where all that is needed can be cached; up to "most". */
static double
suggest(const WsSizingFacts *f, double most, WsVerdict before, WsSizing *s)
{
	double		enough = fmax(fmax(f->needed, fmin(f->stored, f->shared_buffers)), SHARED_LEAST);
	double		least = fmin(size_from(f, enough), most);
	bool		largest;
	double		good = smallest_good(f, least, most, &largest);
	double		suggested = isnan(good) ? least : good;
	double		gain;

	s->simulate = least;
	if (!f->long_enough)
		suggested = fmin(suggested, fmax(least, f->shared_buffers));
	gain = worth_at(f, suggested) - worth_at(f, f->shared_buffers);
	if (suggested > f->shared_buffers &&
		gain <= slack(f, suggested, before == WS_VERDICT_GROW ? GAIN_STAY : AS_GOOD))
	{
		s->kept = WS_KEPT_NO_GAIN;
		return f->shared_buffers;
	}
	if (suggested < f->shared_buffers && !(gain >= -slack(f, f->shared_buffers, AS_GOOD)))
		s->kept = WS_KEPT_NOT_KNOWN;
	return suggested;
}

/* The same where it cannot. */
static double
suggest_useful(const WsSizingFacts *f, double most)
{
	bool		largest = true;
	double		good = smallest_good(f, fmin(SHARED_LEAST, most), most, &largest);
	double		suggested = largest ? most : good;
	double		to = isnan(good) ? suggested : good;
	double		gain = worth_at(f, to) - worth_at(f, f->shared_buffers);

	if (f->sizes == 0)
		return most;
	if (suggested > f->shared_buffers ? gain > slack(f, to, AS_GOOD) :
		f->long_enough && suggested < SHRINK_ENTER * f->shared_buffers)
		return suggested;
	return fmin(f->shared_buffers, most);
}

WsSizing
ws_sizing(const WsSizingFacts *f, WsVerdict before)
{
	WsSizing	s = {.verdict = WS_VERDICT_KEEP};
	double		most = INFINITY;
	bool		exceeds = false;
	double		suggested;
	double		ratio;

	if (f->memory > 0)
	{
		double		processes = f->connections * (BACKEND + f->work_mem) + f->maintenance;

		s.reserved = fmin(processes, RESERVED_MOST * f->memory);
		s.cacheable = f->memory - s.reserved;
		most = fmax(floor(SHARED_MOST * s.cacheable / MB), 1) * MB;
		exceeds = f->needed > s.cacheable * (before == WS_VERDICT_EXCEEDS_MEMORY ? EXCEEDS_STAY : 1);
		s.suggested_effective_cache_size =
			fmax(floor(fmin(s.cacheable, EFFECTIVE_MOST * f->memory) / MB), 1) * MB;
	}
	if (exceeds)
		suggested = suggest_useful(f, most);
	else
		suggested = suggest(f, most, before, &s);
	if (suggested != f->shared_buffers)
		suggested = fmin(whole_mb(suggested), most);
	s.fits = f->needed <= GROW_ENTER * f->shared_buffers;
	s.waits_count = f->wait_cost > 0;
	s.useful = exceeds ? suggested : 0;
	s.suggested_shared_buffers = f->memory > 0 ? suggested : 0;

	/* fewer than SHARED_LEAST are enough if no more are needed */
	ratio = suggested / f->shared_buffers;
	if (exceeds)
		s.verdict = WS_VERDICT_EXCEEDS_MEMORY;
	else if ((suggested > SHARED_LEAST ? ratio : fmin(ratio, f->needed / f->shared_buffers)) >
			 (before == WS_VERDICT_GROW ? GROW_STAY : GROW_ENTER))
		s.verdict = WS_VERDICT_GROW;
	else if (ratio >= (before == WS_VERDICT_SHRINK ? SHRINK_STAY : SHRINK_ENTER))
	{
		if (s.kept != WS_KEPT_NO_GAIN)
			s.kept = WS_KEPT_FITS;
	}
	else if (!f->long_enough)
		s.kept = WS_KEPT_SHORT_HISTORY;
	else if (s.kept == WS_KEPT_FITS)
		s.verdict = WS_VERDICT_SHRINK;
	return s;
}

/* Let a verdict wait until it has lasted. */
static void
steady_verdict(WsSteady *steady, WsSizing *s, int64_t now, int64_t hold)
{
	int64_t		wait = s->verdict == WS_VERDICT_KEEP ? hold :
		s->verdict == WS_VERDICT_SHRINK ? WS_SHRINK_WAITS :
		s->verdict == WS_VERDICT_GROW && s->fits ? WS_FITS_WAITS : WS_SETTLE_HOLDS * hold;

	if (s->verdict == steady->verdict)
	{
		steady->next = WS_VERDICT_NONE;
		return;
	}
	if (s->verdict != steady->next ||
		(s->verdict != WS_VERDICT_KEEP && s->suggested_shared_buffers > steady->rising))
	{
		steady->next = s->verdict;
		steady->since = now;
		steady->rising = s->suggested_shared_buffers;
	}
	if (now - steady->since >= wait)
	{
		steady->verdict = s->verdict;
		steady->next = WS_VERDICT_NONE;
		steady->suggested = s->suggested_shared_buffers;
	}
	/* more is not asked for any longer, and less not yet */
	else if (s->verdict == WS_VERDICT_SHRINK && now - steady->since >= hold)
		steady->verdict = WS_VERDICT_KEEP;
	if (s->verdict != steady->verdict && steady->verdict == WS_VERDICT_KEEP)
		s->kept = WS_KEPT_WAITING;
}

/*
 * Let a suggestion that differs little wait until it has lasted, unless the one
 * before is less than what is needed.
 */
static void
steady_size(WsSteady *steady, double suggested, double least, int64_t now, int64_t hold)
{
	if (suggested != steady->other)
	{
		steady->other = suggested;
		steady->other_since = now;
	}
	if (!(fabs(log(suggested / steady->suggested)) <= SAME_SIZE) ||
		(steady->suggested < least && least <= suggested) ||
		now - steady->other_since >= WS_SETTLE_HOLDS * hold)
		steady->suggested = suggested;
}

void
ws_sizing_steady(WsSteady *steady, WsSizing *s, int64_t now, int64_t hold)
{
	if (s->verdict == WS_VERDICT_NONE)
	{
		*steady = (WsSteady)
		{
			0
		};
		return;
	}
	if (steady->verdict == WS_VERDICT_NONE)
		*steady = (WsSteady)
	{
		.verdict = WS_VERDICT_KEEP, .suggested = s->suggested_shared_buffers
	};
	steady_verdict(steady, s, now, hold);
	/* a verdict that the one of the moment contradicts keeps its size */
	if (steady->verdict == WS_VERDICT_KEEP || steady->verdict == s->verdict)
		steady_size(steady, s->suggested_shared_buffers, s->simulate, now, hold);
	s->verdict = steady->verdict;
	s->suggested_shared_buffers = steady->suggested;
	if ((s->verdict != WS_VERDICT_KEEP || s->kept == WS_KEPT_WAITING) && steady->suggested > 0)
		s->simulate = steady->suggested;
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
