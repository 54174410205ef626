/*
 * heuristic_t.c
 *		Tests of the plateau rule, its projection and its words.
 *
 * The rule must answer as the reference does on the same series, so most of
 * this is tables.  Beside them stands a second implementation, in the terms
 * of the definition, for very many random series; the two must agree to the
 * last bit, since both are the same few differences of the same numbers.
 */
#include "tap.h"
#include "heuristic.h"
#include "yardstick.h"

#define MAX_POINTS 80

/* the reference's defaults */
#define DEFAULTS WS_PLATEAU_MIN_WAIT, WS_PLATEAU_WINDOW_SIZE, WS_PLATEAU_MAX_INCREASE

/*
 * The rule by its definition, points counted from 1.
 */
static int
definition_end(const double *series, int n, int min_offset, int window_size,
			   double max_increase)
{
	double		s[MAX_POINTS + 1];
	int			w = window_size - 1;

	memcpy(s + 1, series, (size_t) n * sizeof(double));
	for (int t = min_offset; t + w <= n; t++)
	{
		double		d0 = fmax(0, s[t] - s[t - w]);
		double		d1 = fmax(0, s[t + w] - s[t]);

		if (d1 > d0 * max_increase)
			return t;
	}
	return n;
}

/*
 * The highest x1 + (x1 - x0) * factor, a fall counting as no growth.
 */
static double
definition_projection(const double *s, int n, double factor)
{
	double		highest = s[0];

	for (int i = 0; i + 1 < n; i++)
	{
		double		x1 = fmax(s[i], s[i + 1]);

		highest = fmax(highest, x1 + (x1 - s[i]) * factor);
	}
	return highest;
}

/*
 * How many points the projection looks at: from the first up to the one
 * before the series exceeds the value, at least min_offset - 1.
 */
static int
definition_slice(const double *s, int n, int min_offset, double value)
{
	for (int points = min_offset - 1; points < n; points++)
		if (s[points] > value)
			return points;
	return n;
}

static void
test_golden(void)
{
	static const double plateau[] = {
		.1, .2, .3, .4, .5, .6, .7, .8, .9, 1.0,
		1.0, 1.0, 1.0, 1.0, 1.0,
		1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0
	};
	static const double early_plateau[] = {
		.1, .2, .3, .3, .3, .3, .3,
		.4, .5, .6, .7, .8, .9, 1.0, 1.1
	};
	static const double rising[] = {.5, .6, .7, .8, .9, 1, 1, 1, 1, 1};
	static const double falling[] = {0, .3, .5, .6};
	WsPlateau	p;

	/* what the reference's own tests say, with factor 2 */
	p = ws_plateau(plateau, 25, 10, 5, 2.0);
	is_within(p.pages, 1.0, 0, "golden: the plateau of a rise, a rest and a rise");
	ok(p.stepped && p.index >= 10 && p.index <= 15, "golden: it ends in a step");
	p = ws_plateau(early_plateau, 15, 10, 5, 2.0);
	is_within(p.pages, 1.1, 0, "golden: a plateau before the offset is not looked at");
	ok(!p.stepped && p.index == 15, "golden: so there is no step");
	is_within(ws_project_next_highest(rising, 10, 0.5), 1.05, 1e-12,
			  "golden: projection of a rise that rests");
	is_within(ws_project_next_highest(falling, 4, 2), 0.9, 1e-12,
			  "golden: the steepest rise decides, not the last");
}

static void
test_projection(void)
{
	static const struct
	{
		double		series[6];
		int			n;
		double		factor;
		double		want;
		const char *name;
	}			table[] = {
		{{3}, 1, 0.5, 3, "one point"},
		{{0}, 1, 0.5, 0, "one point, nothing"},
		{{3, 3}, 2, 0.5, 3, "two equal points"},
		{{3, 5}, 2, 0.5, 6, "a rise"},
		{{3, 5}, 2, 0, 5, "a rise, factor 0"},
		{{3, 5}, 2, 1, 7, "a rise, factor 1"},
		{{5, 3}, 2, 0.5, 5, "a fall is no growth"},
		{{9, 5, 6}, 3, 0.5, 9, "nor does it hide the height before it"},
		{{9, 5, 9}, 3, 0.5, 11, "a rise after a fall"},
		{{1, 2, 4, 8, 16, 32}, 6, 0.5, 40, "doubling"},
		{{0, 10, 11, 12, 13, 14}, 6, 0.5, 15, "an early steep rise"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		double		got = ws_project_next_highest(table[i].series, table[i].n,
												  table[i].factor);

		ok(got == table[i].want, "projection of %s: %g", table[i].name, got);
	}
}

/*
 * A series is written as stretches: until point, value there, in a straight
 * line from the stretch before (the first from its own value).
 */
typedef struct Stretch
{
	int			until;
	double		value;
} Stretch;

static int
draw(const Stretch *stretch, double *series)
{
	int			n = 0;
	double		from = stretch->value;

	for (; stretch->until > 0; stretch++)
	{
		int			start = n;

		for (; n < stretch->until; n++)
			series[n] = from + (stretch->value - from) * (n + 1 - start) /
				(stretch->until - start);
		from = stretch->value;
	}
	return n;
}

static void
test_plateau(void)
{
	static const struct
	{
		const char *name;
		Stretch		stretch[6];
		int			index;
		bool		stepped;
		double		pages;
		double		projected;
	}			table[] = {
		{"flat", {{60, 7}}, 60, false, 7, 7},
		{"nothing at all", {{60, 0}}, 60, false, 0, 0},
		{"linear growth has no step", {{1, 1}, {60, 60}}, 60, false, 60, 60.5},
		{"falling", {{1, 120}, {60, 2}}, 60, false, 2, 120},
		{"flat, then up at once",
		{{5, 40}, {10, 100}, {30, 100}, {60, 1000}}, 5, true, 40, 40},
		{"flat, then up later",
		{{30, 100}, {60, 1000}}, 27, true, 100, 100},
		{"up, flat, up",
		{{1, 20}, {10, 200}, {30, 210}, {60, 1000}}, 27, true, 208.5, 210},

		/* candidates are the points 5 to 56 */
		{"a step behind the first candidate",
		{{5, 1}, {6, 10}, {60, 10}}, 5, true, 1, 1},
		{"a step that is over before the first candidate",
		{{1, 1}, {2, 10}, {60, 10}}, 60, false, 10, 14.5},
		{"a step in front of the first candidate",
		{{4, 1}, {5, 10}, {60, 10}}, 60, false, 10, 14.5},
		{"a step that only the last candidate sees",
		{{59, 1}, {60, 10}}, 56, true, 1, 1},

		/* after a perfectly flat stretch any rise is infinitely steeper */
		{"a tiny rise after a flat stretch",
		{{20, 100}, {21, 100.001}, {60, 100.001}}, 17, true, 100, 100},
		{"a fall, then a tiny rise",
		{{1, 200}, {20, 100}, {21, 100.001}, {60, 100.001}}, 20, true, 100, 200},
	};
	double		series[MAX_POINTS];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		int			n = draw(table[i].stretch, series);
		WsPlateau	p = ws_plateau(series, n, DEFAULTS);

		ok(n == 60 && p.index == table[i].index &&
		   p.stepped == table[i].stepped && series[p.index - 1] == p.pages &&
		   fabs(p.pages - table[i].pages) < 1e-9 &&
		   ws_plateau_end(series, n, DEFAULTS) == p.index,
		   "plateau of %s: %g at point %d", table[i].name, p.pages, p.index);
		if (!ok(fabs(p.projected - table[i].projected) < 1e-9,
				"its projection: %g", p.projected))
			diag("want %g", table[i].projected);
	}
}

/*
 * Series too short for any candidate, and the smallest that has one.
 */
static void
test_short(void)
{
	static const double series[] = {1, 1, 1, 1, 1, 50, 50, 50, 50};
	bool		good = true;

	for (int n = 1; n <= 8; n++)
	{
		WsPlateau	p = ws_plateau(series, n, DEFAULTS);

		good &= p.index == n && !p.stepped && p.pages == series[n - 1];
	}
	ok(good, "no candidate in one to eight points: the last point");
	is_int(ws_plateau_end(series, 9, DEFAULTS), 5,
		   "nine points have one candidate");
	is_int(ws_plateau_end(series, 9, 60, 5, 3), 9,
		   "an offset beyond the series: the last point");
	is_within(ws_plateau(series, 1, DEFAULTS).projected, 1, 0,
			  "the projection of a single point is the point");
	is_int(ws_plateau_end(series, 9, 2, 2, 3), 5,
		   "the smallest offset and window size");
}

/*
 * The projection looks at all points before the offset, whatever their
 * height, and from there on until one is higher than the plateau.
 */
static void
test_slice(void)
{
	static const struct
	{
		const char *name;
		double		series[10];
		double		want;
	}			table[] = {
		/* plateau 5 at point 10; the steep rise to 9 is before the offset */
		{"high points before the offset", {1, 9, 5, 5, 5, 5, 5, 5, 5, 5}, 13},
		{"a high point at the offset", {1, 1, 1, 1, 9, 5, 5, 5, 5, 5}, 1},
		{"the first point at the offset is in, when not higher",
		{1, 1, 1, 1, 5, 5, 5, 5, 5, 5}, 7},
		{"a point behind a higher one is not", {1, 1, 1, 1, 2, 9, 3, 5, 5, 5}, 2.5},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		/* with a factor that no rise reaches, the plateau is the last point */
		WsPlateau	p = ws_plateau(table[i].series, 10, 5, 5, 1e9);

		ok(!p.stepped && p.projected == table[i].want, "slice with %s: %g", table[i].name,
		   p.projected);
	}
}

static void
test_definition(void)
{
	enum
	{
		TRIALS = 100000
	};
	uint64_t	seed = 80;
	long		wrong = 0;
	long		stepped = 0;
	long		inner = 0;

	for (int trial = 0; trial < TRIALS; trial++)
	{
		double		s[MAX_POINTS];
		int			n = 1 + (int) random_below(&seed, MAX_POINTS);
		int			window_size = 2 + (int) random_below(&seed, 9);
		int			min_offset = window_size + (int) random_below(&seed, 12);
		double		max_increase = random_below(&seed, 4) == 0 ? 3.0 :
			1 + 9 * random_unit(&seed);
		bool		monotone = trial % 2 == 0;
		bool		whole = random_below(&seed, 2) == 0;
		double		level = 0;
		double		speed = 1;
		int			slice;
		WsPlateau	p;

		/* stretches of different steepness; whole numbers make many ties */
		for (int i = 0; i < n; i++)
		{
			if (random_below(&seed, 8) == 0)
				speed = random_below(&seed, 3) == 0 ? 0 :
					exp(4 * random_unit(&seed));
			level += speed * random_unit(&seed);
			s[i] = monotone ? level : level + 10 * speed * random_unit(&seed);
			if (whole)
				s[i] = floor(s[i]);
		}

		p = ws_plateau(s, n, min_offset, window_size, max_increase);
		wrong += p.index != definition_end(s, n, min_offset, window_size,
										   max_increase);
		wrong += p.stepped != (p.index < n);
		wrong += p.pages != s[p.index - 1];
		slice = definition_slice(s, n, min_offset, p.pages);
		wrong += slice < 1;

		/*
		 * The same sum in another order may round differently in the last
		 * digit.
		 */
		wrong += !(fabs(p.projected -
						definition_projection(s, slice, WS_PROJECTION_FACTOR)) <=
				   1e-12 * p.projected);
		stepped += p.stepped;
		inner += slice < n;
	}
	is_int(wrong, 0, "100,000 random series: both implementations agree");
	ok(stepped > TRIALS / 10 && stepped < TRIALS * 9 / 10 && inner > TRIALS / 10,
	   "%ld of them have a step, %ld a shorter slice", stepped, inner);
}

static void
test_format(void)
{
	static const struct
	{
		double		bytes;
		const char *want;
	}			size[] = {
		{0, "0 bytes"},
		{999, "999 bytes"},
		{999.4, "999 bytes"},
		{1000, "1.0 kB"},
		{1024, "1.0 kB"},
		{8192, "8.0 kB"},
		{9.94 * 1024, "9.9 kB"},
		{9.95 * 1024, "10 kB"},
		{10 * 1024, "10 kB"},
		{640 * 1024, "640 kB"},
		{999.4 * 1024, "999 kB"},
		{999.5 * 1024, "1.0 MB"},
		{1024.0 * 1024, "1.0 MB"},
		{1.2 * 1024 * 1024 * 1024, "1.2 GB"},
		{128.0 * 1024 * 1024, "128 MB"},
		{0x1p40, "1.0 TB"},
		{3.5 * 0x1p50, "3.5 PB"},
	};
	static const struct
	{
		double		seconds;
		const char *want;
	}			window[] = {
		{10, "10 seconds"},
		{40, "40 seconds"},
		{59, "59 seconds"},
		{60, "minute"},
		{61, "61 seconds"},
		{90, "90 seconds"},
		{119, "119 seconds"},
		{120, "2 minutes"},
		{179, "2 minutes"},
		{180, "3 minutes"},
		{840, "14 minutes"},
		{3599, "59 minutes"},
		{3600, "hour"},
		{3601, "60 minutes"},
		{5400, "90 minutes"},
		{7199, "119 minutes"},
		{7200, "2 hours"},
		{86400, "24 hours"},
		{1, "second"},
		{119.7, "2 minutes"},
		{1800, "30 minutes"},
		{864000, "10 days"}
	};
	char		buf[64];
	char		name[64];

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++)
	{
		ws_format_bytes(size[i].bytes, buf, sizeof(buf));
		snprintf(name, sizeof(name), "%.0f bytes", size[i].bytes);
		is_string(buf, size[i].want, name);
	}
	for (size_t i = 0; i < sizeof(window) / sizeof(window[0]); i++)
	{
		ws_format_window(window[i].seconds, buf, sizeof(buf));
		snprintf(name, sizeof(name), "%.0f seconds", window[i].seconds);
		is_string(buf, window[i].want, name);
	}
}

static void
test_reason(void)
{
	static const double GB = 0x1p30;
	static const struct
	{
		const char *name;
		double		size_gb;
		double		window;
		double		known;
		bool		stepped;
		double		further;
		double		rise;
		const char *want;
	}			table[] = {
		{"a young server", 1.2, 3600, 840, false, 0, 0,
		"the 14 minutes seen so far need 1.2 GB"},
		{"a young server, a step", 1.2, 3600, 840, true, 0.5, 0,
		"the 14 minutes seen so far need 1.2 GB"},
		{"a young server that grows", 1.2, 3600, 840, false, 0, 0.1,
		"the 14 minutes seen so far need 1.2 GB; the workload may not have shown all its pages yet"},
		{"a young server at rest", 0, 3600, 840, false, 0, 0,
		"no page was used in the 14 minutes seen so far"},
		{"at rest", 0, 3600, 1e6, false, 0, 0,
		"no page was used in the last hour"},
		{"at rest after a step", 0, 840, 1e6, true, 0.5, 0,
		"no page was used in the last 14 minutes"},
		{"a step", 1.2, 840, 1e6, true, 0.5, 0,
		"the last 14 minutes need 1.2 GB; looking further back includes a workload that ended"},
		{"a step while growing", 1.2, 840, 1e6, true, 0.5, 0.2,
		"the last 14 minutes need 1.2 GB; looking further back includes a workload that ended"},
		{"a step that is hardly one", 1.2, 840, 1e6, true, 0.04, 0,
		"the last 14 minutes need 1.2 GB, and looking further back adds little"},
		{"a step within noise", 1.2, 300, 1e6, true, 0, 0,
		"the last 5 minutes need 1.2 GB, and looking further back adds little"},
		{"growth", 1.2, 3600, 1e6, false, 0, 0.2,
		"the last hour needs 1.2 GB, and a longer look would find more pages still"},
		{"a plateau", 1.2, 3600, 1e6, false, 0, 0,
		"the last hour needs 1.2 GB, and the same pages keep coming back"},
		{"a plateau of half an hour", 1.2, 1800, 1e6, false, 0, 0,
		"the last 30 minutes need 1.2 GB, and the same pages keep coming back"},
		{"a minute", 1.2, 3600, 60, false, 0, 0,
		"the minute seen so far needs 1.2 GB"},
		{"a step within the hour", 1.2, 3600, 1e6, true, 0.5, 0,
		"the last hour needs 1.2 GB; looking further back includes a workload that ended"},
		{"a plateau, known just long enough", 1.2, 3600, 3600, false, 0, 0,
		"the last hour needs 1.2 GB, and the same pages keep coming back"},
	};
	bool		good = true;
	char		buf[256];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsReasonFacts facts = {
			table[i].size_gb * GB, table[i].window, table[i].known,
			table[i].stepped, table[i].further, table[i].rise
		};

		ws_plateau_reason(&facts, buf, sizeof(buf));
		is_string(buf, table[i].want, table[i].name);

		/* every shorter buffer holds a terminated beginning, and no more */
		for (size_t size = 1; size <= strlen(table[i].want); size++)
		{
			memset(buf, '#', sizeof(buf));
			ws_plateau_reason(&facts, buf, size);
			good &= strlen(buf) == size - 1 &&
				strncmp(buf, table[i].want, size - 1) == 0 && buf[size] == '#';
		}
	}
	ok(good, "a buffer too small is terminated and not overrun");
}

int
main(void)
{
	plan(110);
	test_golden();
	test_projection();
	test_plateau();
	test_short();
	test_slice();
	test_definition();
	test_format();
	test_reason();
	return done();
}
