/*
 * heuristic_t.c
 *		Tests of the heuristics: plateau_end and its projection, live_set, and
 *		the sentences of both.
 *
 * plateau_end must answer as the reference does on the same series, so most of
 * this is tables.  Beside them stands a second implementation by the definition,
 * for very many random series.  The two must agree to the last bit, since both
 * compute the same few differences of the same numbers.
 */
#include "tap.h"
#include "heuristic.h"
#include "traces.h"

#define K_SIGMA 5

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

/* a workload whose pages are of 1 GB */
static WsWorkload
workload(double known_seconds)
{
	WsWorkload	w = {
		.known_seconds = known_seconds,
		.page_bytes = 0x1p30,
		.break_even = 900,
		.hold = 300,
		.min_wait = WS_PLATEAU_MIN_WAIT,
		.window_size = WS_PLATEAU_WINDOW_SIZE,
		.max_increase = WS_PLATEAU_MAX_INCREASE
	};

	return w;
}

/*
 * plateau_end as a method: its sentence, word for word, and all other answers
 * by ws_plateau() on the same curve.
 */
static void
test_recommend_plateau_end(void)
{
	static const struct
	{
		const char *name;
		Stretch		stretch[6];
		double		variance;	/* of each page */
		double		known;		/* seconds */
		const char *want;
	}			table[] = {
		{"a young server", {{60, 1.2}}, 0, 840, "the 14 minutes seen so far need 1.2 GB"},
		{"a young server, a step behind what is known", {{20, 1.2}, {60, 5}}, 0, 840,
		"the 14 minutes seen so far need 1.2 GB"},
		{"a young server that grows", {{1, .1}, {15, 1.5}, {60, 1.5}}, 0, 840,
		"the 14 minutes seen so far need 1.5 GB; the workload may not have shown all its pages yet"},
		{"a young server that has grown", {{1, .1}, {10, 1.5}, {60, 1.5}}, 0, 840,
		"the 14 minutes seen so far need 1.5 GB"},
		{"a young server that grew in the last minute alone",
			{{1, .1}, {12, 1.2}, {14, 1.2}, {15, 1.23}, {60, 1.23}}, 0, 840,
		"the 14 minutes seen so far need 1.2 GB; the workload may not have shown all its pages yet"},
		{"a young server that grows within noise", {{1, .1}, {15, 1.5}, {60, 1.5}}, 1, 840,
		"the 14 minutes seen so far need 1.5 GB"},
		{"a young server at rest", {{60, 0}}, 0, 840,
		"no page was used in the 14 minutes seen so far"},
		{"half a minute", {{60, 1.2}}, 0, 30, "the 30 seconds seen so far need 1.2 GB"},
		{"a minute", {{60, 1.2}}, 0, 60, "the minute seen so far needs 1.2 GB"},
		{"almost an hour", {{60, 1.2}}, 0, 3599, "the 59 minutes seen so far need 1.2 GB"},
		{"an hour", {{60, 1.2}}, 0, 3600,
		"the last hour needs 1.2 GB, and the same pages keep coming back"},
		{"at rest", {{60, 0}}, 0, 1e6, "no page was used in the last hour"},
		{"at rest after a step", {{20, 0}, {60, 5}}, 0, 1e6,
		"no page was used in the last 17 minutes"},
		{"a step", {{18, 1.2}, {60, 5}}, 0, 1e6,
		"the last 15 minutes need 1.2 GB; looking further back includes a workload that ended"},
		{"a step while growing", {{1, .8}, {18, 1.2}, {60, 60}}, 0, 1e6,
		"the last 15 minutes need 1.1 GB; looking further back includes a workload that ended"},
		{"a step of 4.9 %", {{18, 1}, {60, 1.049}}, 0, 1e6,
		"the last 15 minutes need 1.0 GB, and looking further back adds little"},
		{"a step of 5.1 %", {{18, 1}, {60, 1.051}}, 0, 1e6,
		"the last 15 minutes need 1.0 GB; looking further back includes a workload that ended"},
		/* the rise is of 3 pages; twice its error is sqrt(4 * 3 * variance) */
		{"a step within noise", {{18, 1}, {60, 4}}, .76, 1e6,
		"the last 15 minutes need 1.0 GB, and looking further back adds little"},
		{"a step just beyond it", {{18, 1}, {60, 4}}, .74, 1e6,
		"the last 15 minutes need 1.0 GB; looking further back includes a workload that ended"},
		{"growth", {{1, .02}, {60, 1.2}}, 0, 1e6,
		"the last hour needs 1.2 GB, and a longer look would find more pages still"},
		/* of the last twenty minutes, the last twelve count */
		{"growth of 0.9 % in the last fifth", {{1, .1}, {40, 1.182}, {60, 1.2}}, 0, 1e6,
		"the last hour needs 1.2 GB, and the same pages keep coming back"},
		{"growth of 1.1 %", {{1, .1}, {40, 1.178}, {60, 1.2}}, 0, 1e6,
		"the last hour needs 1.2 GB, and a longer look would find more pages still"},
	};
	int			wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsWorkload	w = workload(table[i].known);
		WsRecommendation r;
		WsPlateau	p;
		double		series[MAX_POINTS];
		int			n = draw(table[i].stretch, series);

		for (int k = 0; k < n; k++)
			w.curve[k] = (WsEstimate)
		{
			series[k], table[i].variance * series[k], false
		};
		r = ws_recommend(&ws_heuristics[WS_METHOD_PLATEAU_END], &w);
		is_string(r.reason, table[i].want, table[i].name);
		p = ws_plateau(series, n, DEFAULTS);
		wrong += n != WS_CURVE_WINDOWS || r.pages != p.pages || r.projected != p.projected ||
			r.window_seconds != 60 * p.index || r.window.pages != p.pages ||
			r.window.variance != table[i].variance * p.pages;
	}
	is_int(wrong, 0, "plateau_end: all else is the answer of ws_plateau()");
	is_string(ws_heuristics[WS_METHOD_PLATEAU_END].name, "plateau_end", "plateau_end has its name");
}

/*
 * live_set as a method, likewise.
 */
static void
test_recommend_live_set(void)
{
	static const struct
	{
		double		window;
		double		live;
		int			break_even;
		double		known;
		int			hold;
		bool		holding;
		const char *want;
	}			table[] = {
		{0, 0, 900, 7200, 300, false, "no page was used in the last 15 minutes"},
		{0, 0, 900, 300, 300, false, "no page was used in the 5 minutes seen so far"},
		{1, 1, 900, 7200, 300, false,
		"all of the 1.0 GB used in the last 15 minutes will probably be used again soon"},
		{4, 1, 900, 300, 300, false,
		"of the 4.0 GB used in the 5 minutes seen so far, 1.0 GB will probably be used again soon"},
		{4, 3.97, 900, 7200, 300, false,
		"of the 4.0 GB used in the last 15 minutes, 4.0 GB will probably be used again soon"},
		{4, 3.99, 900, 900, 300, false,
		"all of the 4.0 GB used in the last 15 minutes will probably be used again soon"},
		{4, 0, 900, 7200, 300, false,
		"of the 4.0 GB used in the last 15 minutes, probably none will be used again soon"},
		{4, 0x1p-31, 60, 30, 30, false,
		"of the 4.0 GB used in the 30 seconds seen so far, probably none will be used again soon"},
		{4, 0x1p-30, 900, 899, 300, false,
		"of the 4.0 GB used in the 14 minutes seen so far, 1 byte will probably be used again soon"},
		{4, 1, 900, 7200, 300, true,
		"of the 4.0 GB used in the last 15 minutes, 1.0 GB will probably be used again soon, counting pages used again in the last 5 minutes"},
		{4, 4, 900, 7200, 60, true,
		"all of the 4.0 GB used in the last 15 minutes will probably be used again soon, counting pages used again in the last minute"},
		{4, 4, 3600, 7200, 3600, true,
		"all of the 4.0 GB used in the last hour will probably be used again soon, counting pages used again in the last hour"},
	};
	WsWorkload	w;
	WsRecommendation r;
	int			wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		w = workload(table[i].known);
		w.break_even = table[i].break_even;
		w.hold = table[i].hold;
		w.live = (WsLive)
		{
			.known = true, .holding = table[i].holding, .pages = table[i].live, .projected = 7,
				.window =
			{
				.pages = table[i].window, .variance = 3
			}
		};
		r = ws_recommend(&ws_heuristics[WS_METHOD_LIVE_SET], &w);
		is_string(r.reason, table[i].want, table[i].want);
		wrong += r.pages != table[i].live || r.projected != 7 ||
			r.window_seconds != table[i].break_even || r.window.pages != table[i].window ||
			r.window.variance != 3;
	}
	is_int(wrong, 0, "live_set: all else is the answer of ws_live_set()");
	is_string(ws_heuristics[WS_METHOD_LIVE_SET].name, "live_set", "live_set has its name");

	w = workload(3600);
	w.live.pages = 5;
	w.live.projected = 6;
	r = ws_recommend(&ws_heuristics[WS_METHOD_LIVE_SET], &w);
	ok(isnan(r.pages) && isnan(r.projected), "live_set without a sample has no answer");
}

/*
 * The example of heuristic.h, and one that leaves all to the defaults.
 */
static void
ten_minutes(const WsWorkload *w, WsRecommendation *r)
{
	r->window = w->curve[9];
	r->window_seconds = 10 * WS_CURVE_STEP;
	r->pages = r->window.pages;
}

static void
longest(const WsWorkload *w, WsRecommendation *r)
{
	(void) w;
	r->pages = 5;
}

static void
test_recommend_own(void)
{
	const WsHeuristic own = {"ten_minutes", ten_minutes};
	const WsHeuristic other = {"longest", longest};
	WsWorkload	w = workload(3600);
	WsRecommendation r;

	w.curve[9] = (WsEstimate)
	{
		5, 1, false
	};
	w.curve[WS_CURVE_WINDOWS - 1] = (WsEstimate)
	{
		9, 2, true
	};
	r = ws_recommend(&own, &w);
	ok(r.pages == 5 && r.projected == 5, "a heuristic of three lines: its pages, which stay as they are");
	ok(r.window_seconds == 600 && r.window.pages == 5 && r.window.variance == 1 && !r.window.saturated,
	   "its window");
	is_string(r.reason, "this is the answer of ten_minutes", "its reason is its name");
	r = ws_recommend(&other, &w);
	ok(r.window_seconds == 3600 && r.window.pages == 9 && r.window.variance == 2 && r.window.saturated,
	   "without a window of its own: the longest");
}

/*
 * ----------------------------------------------------------------
 * The live set
 * ----------------------------------------------------------------
 */

/* what is in a life table, written as one would tell it */
typedef struct Counted
{
	int			group;
	int			class;
	double		at_risk;
	double		returned;
} Counted;

typedef struct There
{
	int			group;
	int			step;
	double		items;
} There;

static WsLife *
new_life(uint32_t nitems, int hold)
{
	WsLife	   *life = aligned_memory(ws_life_size(nitems));

	ws_life_init(life, nitems, 900, hold);
	return life;
}

static WsLive
live_of(WsLife *life, double pages)
{
	WsEstimate	window = {.pages = pages, .variance = 2 * pages};

	return ws_live_set(life, &window);
}

/* the probability that one who returns in each step with one of h stays away */
static double
away(double h, double steps)
{
	return pow(1 - h, steps);
}

static void
test_live(void)
{
	/*
	 * 100 items, so what is not known is believed of the younger with the
	 * weight of 10, and of the very youngest that they stay away.
	 */
	const struct
	{
		const char *name;
		Counted		counted[6];
		There		there[6];
		double		in_use;
		double		idle;
		double		marked;
		double		came_back;
		double		share;
		bool		holding;
		bool		mark;
	}			table[] = {
		{"nothing was ever counted", {{0}}, {{0, 0, 100}}, 0, 0, 0, 0, 0, false, false},
		{"one in ten returns in each step",
		{{0, 0, 990, 100}}, {{0, 0, 100}}, 0, 0, 0, 0, 1 - away(.1, 90), false, false},
		{"and those who are older have less time for it",
			{{0, 0, 990, 100}}, {{0, 0, 100}, {0, 89, 100}}, 0, 0, 0, 0,
		(1 - away(.1, 90) + .1) / 2, false, false},
		{"three steps are of one class",
			{{0, 0, 990, 100}}, {{0, 0, 100}, {0, 2, 100}, {0, 88, 100}}, 0, 0, 0, 0,
			/* 200 are of class 0: its weight is 20 */
			(3 - away(100 / 1010.0, 90) - away(100 / 1010.0, 88) - away(100 / 1010.0, 2)) / 3,
		false, false},
		{"a class of its own",
			{{0, 0, 990, 10}, {0, 1, 90, 1.9}}, {{0, 0, 100}}, 0, 0, 0, 0,
		1 - away(.01, 3) * away(.02, 87), false, false},
		{"the youngest return, the others do not",
		{{0, 0, 990, 500}, {0, 1, 1e12, 0}}, {{0, 0, 100}}, 0, 0, 0, 0, 1 - away(.5, 3), false, false},
		{"what little is known is believed, if nothing else is",
		{{0, 0, .4, .2}}, {{0, 89, 1}}, 0, 0, 0, 0, .5, false, false},
		{"a scan counts nothing",
		{{0, 0, 1e6, 0}, {0, 29, 1e6, 0}}, {{0, 0, 100}, {0, 50, 1000}}, 0, 0, 0, 0, 0, false, false},
		{"all return",
			{{0, 0, 1e6, 1e6}}, {{0, 0, 100}, {0, 50, 100}, {0, 89, 100}}, 0, 0, 0, 0,
		1 - away(.9999, 1) / 3, false, false},
		{"the older the fewer are at risk: the younger are believed, from then on",
			{{0, 0, 990, 10}, {0, 10, 10, .3}}, {{0, 0, 100}}, 0, 0, 0, 0,
		1 - away(.01, 30) * away(.02, 60), false, false},
		{"a class with many items has the younger believed more, from then on",
			{{0, 0, 990, 10}, {0, 1, 10, .4}}, {{0, 0, 100}, {0, 3, 50}, {0, 4, 50}, {0, 5, 100}},
			0, 0, 0, 0,
			/* class 1 holds 200: its weight is 20, of those who return by .01 */
			1 - (away(.01, 3) * away(.02, 87) + .5 * away(.02, 87) + .5 * away(.02, 86) + away(.02, 85)) / 3,
		false, false},
		{"groups apart",
			{{0, 0, 990, 10}, {1, 0, 990, 50}}, {{0, 0, 100}, {1, 0, 100}}, 0, 0, 0, 0,

			/*
			 * but the youngest are taken to stay away, so the group below is
			 * heard there
			 */
		1 - (away(.01, 90) + away((50 + .3 * 10) / (1000 + .3 * 990), 90)) / 2, false, false},
		{"the group below is heard where it returns sooner",
			{{0, 0, 990, 400}, {1, 0, 693, 80}}, {{0, 89, 100}, {1, 89, 100}}, 0, 0, 0, 0,
		1 - (away(400 / 990.0, 1) + away((80 + .3 * 400) / (693 + .3 * 990), 1)) / 2, false, false},
		{"what is held, in full", {{0, 0, 1e6, 0}, {1, 0, 1e6, 0}}, {{0, 20, 50}, {1, 8, 50}},
		20, 30, 0, 0, .5, true, true},
		{"what is held, until the hold", {{0, 0, 1e6, 0}, {1, 0, 1e6, 0}}, {{0, 20, 50}, {1, 40, 50}},
		0, 0, 0, 0, 0, false, false},
		{"no more than there is", {{0, 0, 1e6, 0}}, {{1, 8, 50}}, 60, 30, 0, 0, 1, true, true},
		/* 100 items, so 50 are supposed to have come back */
		{"half of the marked came back: in full", {{0}}, {{0, 20, 50}, {1, 8, 50}}, 20, 30, 100, 25,
		.5, true, true},
		{"more of them", {{0}}, {{0, 20, 50}, {1, 8, 50}}, 20, 30, 100, 90, .5, true, true},
		{"more of them than can be", {{0}}, {{0, 20, 50}, {1, 8, 50}}, 20, 30, 100, 130, .5, true, true},
		{"a fifth of them: only what is in use", {{0}}, {{0, 20, 50}, {1, 8, 50}}, 20, 30, 200, 0,
		.2, true, true},
		{"fewer of them", {{0}}, {{0, 20, 50}, {1, 8, 50}}, 20, 30, 1e6, 0, .2, true, true},
		{"between these: in proportion", {{0}}, {{0, 20, 50}, {1, 8, 50}}, 20, 30, 150, 20,
		.2 + .3 * .5, true, true},
	};
	WsLife	   *life = new_life(1, 300);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		double		want = table[i].share;
		WsLive		live;

		ws_life_init(life, 1, 900, 300);
		life->mark = !table[i].mark;
		for (int k = 0; k < 6; k++)
		{
			const Counted *c = &table[i].counted[k];
			const There *t = &table[i].there[k];

			life->table.at_risk[c->group][c->class] += c->at_risk;
			life->table.returned[c->group][c->class] += c->returned;
			life->table.population[t->group][t->step] += t->items;
		}
		life->table.in_use = table[i].in_use;
		life->table.idle = table[i].idle;
		life->table.marked = table[i].marked;
		life->table.came_back = table[i].came_back;
		live = live_of(life, 1000);
		if (!ok(fabs(live.pages - 1000 * want) < 1e-6 && live.window.pages == 1000 &&
				live.window.variance == 2000 && live.known && live.holding == table[i].holding &&
				life->mark == table[i].mark,
				"live set: %s: %.4f", table[i].name, live.pages / 1000))
			diag("want %.9f", want);
	}
	free(life);
}

/*
 * The group below, class by class: it is heard if it is known to return sooner
 * than the younger of one's own.
 */
static void
test_lower(void)
{
	WsLife	   *life = new_life(1, 300);
	WsLifeTable *t = &life->table;
	double		h0;
	double		h1;

	/* group 2, from group 1; the last class only */
	t->population[2][87] = 100;
	t->at_risk[2][0] = 1000;
	t->returned[2][0] = 200;
	t->at_risk[2][29] = 90;
	t->returned[2][29] = 9;
	t->at_risk[1][29] = 100;
	t->returned[1][29] = 20;
	h0 = (9 + 10 * .2) / (90 + 10);
	is_within(live_of(life, 1).pages, 1 - away(h0, 3), 1e-12,
			  "group below: not heard if it returns just as soon as the younger");
	t->returned[1][29] = 20.1;
	h1 = (9 + 10 * .2 + .3 * 20.1) / (90 + 10 + 30);
	is_within(live_of(life, 1).pages, 1 - away(h1, 3), 1e-12,
			  "group below: heard if it returns sooner, for 0.3 of what it knows");
	t->returned[1][29] = 10;
	is_within(live_of(life, 1).pages, 1 - away(h0, 3), 1e-12,
			  "group below: not heard if it returns later, though sooner than one's own");
	t->at_risk[1][29] = t->returned[1][29] = 0;
	t->at_risk[0][29] = 1000;
	t->returned[0][29] = 1000;
	is_within(live_of(life, 1).pages, 1 - away(h0, 3), 1e-12,
			  "group below: not the one below that");
	t->population[2][87] = 0;
	t->population[0][87] = 100;
	t->at_risk[0][29] = t->returned[0][29] = 0;
	t->at_risk[1][29] = t->returned[1][29] = 1000;
	is_within(live_of(life, 1).pages, 0, 0, "group below: nor the one above");
	free(life);
}

static void
test_held(void)
{
	/* 1000 items of which "live" return for sure, as many others as are held */
	static const struct
	{
		const char *name;
		double		live;
		double		in_use;
		double		idle;
		double		share_back; /* of very many marked */
		double		want;
		bool		holding;
		bool		mark;
	}			table[] = {
		{"fewer are held than return", 400, 100, 200, 1, 400, false, false},
		{"as many", 400, 100, 300, 1, 400, false, false},
		{"a few more", 400, 100, 339, 1, 439, true, false},
		{"from a tenth more on it matters who becomes idle", 400, 100, 341, 1, 441, true, true},
		{"a few more, of which none comes back: held nevertheless", 400, 100, 370, 0, 470, true, true},
		{"a fifth more, of which none comes back: held nevertheless", 400, 100, 380, 0, 480, true, true},
		{"more, of which none comes back: held up to that", 400, 100, 500, 0, 480, true, true},
		{"more, of which all come back: all held", 400, 100, 500, 1, 600, true, true},
		{"more, of which a half comes back: all held", 400, 100, 500, .5, 600, true, true},
		{"more, of which some come back: some held", 400, 300, 400, .41, 580, true, true},
		{"more in use than return are held in any case", 400, 700, 100, 0, 700, true, true},
		{"nothing returns, nothing is in use, none comes back: none held", 0, 0, 500, 0, 0, false, true},
		{"nothing returns, and something is in use", 0, 100, 500, 0, 100, true, true},
		{"all return, all are held", 1000, 500, 500, 1, 1000, false, false},
	};
	WsLife	   *life = new_life(1, 300);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsLifeTable *t = &life->table;
		WsLive		live;

		ws_life_init(life, 1, 900, 300);
		t->at_risk[0][0] = t->returned[0][0] = table[i].live > 0 ? 1e9 : 0;
		t->population[0][0] = table[i].live;
		t->population[1][0] = 1000 - table[i].live;
		/* group 1 is known not to return */
		for (int c = 0; c < WS_LIFE_CLASSES; c++)
			t->at_risk[1][c] = 1e15;
		t->in_use = table[i].in_use;
		t->idle = table[i].idle;
		t->marked = 1e9;
		t->came_back = table[i].share_back * 1e9;
		live = live_of(life, 1000);
		if (!ok(fabs(live.pages - table[i].want) < 0.01 && live.holding == table[i].holding &&
				life->mark == table[i].mark,
				"held: %s: %.0f", table[i].name, live.pages))
			diag("want %.9g, got %.9g", table[i].want, live.pages);
	}
	free(life);
}

static void
test_live_any(void)
{
	static const double sizes[] = {0, 1, 1e6, 0x1p40, 0x1p53};
	WsLife	   *life = new_life(1, 300);
	uint64_t	seed = 85;
	long		wrong = 0;
	long		not_known = 0;
	WsLive		live;

	live = live_of(life, 0);
	ok(live.pages == 0 && live.window.pages == 0 && live.known && !live.holding && !life->mark,
	   "no pages: none are live, which is known");
	life->table.population[0][0] = 10;
	life->table.in_use = 5;
	live = live_of(life, 0);
	ok(live.pages == 0 && live.known && !live.holding, "no pages: whatever the table says");
	ok(life->mark, "no pages: though it matters who becomes idle");
	ws_life_init(life, 1, 900, 300);
	live = live_of(life, 5000);
	ok(live.pages == 0 && !live.known && live.window.pages == 5000 && !live.holding,
	   "pages, but none was an item yet: it is not known");
	life->table.population[0][45] = 1e-300;
	ok(live_of(life, 5000).known, "the least that was an item is known");

	/* anything that a table may hold */
	for (int i = 0; i < 20000; i++)
	{
		WsLifeTable *t = &life->table;
		double		pages = sizes[i % 5];
		double		dense = random_unit(&seed);
		double		n = 0;

		ws_life_init(life, 1, 900, 300);
		for (int g = 0; g < WS_LIFE_GROUPS; g++)
		{
			for (int s = 0; s < WS_LIFE_STEPS; s++)
				if (random_unit(&seed) < dense)
					n += t->population[g][s] = floor(exp(10 * random_unit(&seed)));
			for (int c = 0; c < WS_LIFE_CLASSES; c++)
			{
				t->at_risk[g][c] = random_unit(&seed) < dense ? exp(15 * random_unit(&seed)) : 0;
				if (random_below(&seed, 3))
					t->returned[g][c] = t->at_risk[g][c] *
						(random_below(&seed, 4) ? random_unit(&seed) : 1);
			}
		}
		if (random_below(&seed, 2))
		{
			t->in_use = n / 2 * random_unit(&seed);
			t->idle = n / 2 * random_unit(&seed);
			t->marked = n * random_unit(&seed);
			t->came_back = t->marked * random_unit(&seed);
		}
		live = live_of(life, pages);
		wrong += !(live.pages >= 0 && live.pages <= pages && live.window.pages == pages);
		wrong += live.known != (n > 0 || pages == 0);
		wrong += n > 0 && pages > 0 && live.pages < fmin(t->in_use / n, 1) * pages * (1 - 1e-12);
		not_known += !live.known;
	}
	ok(wrong == 0, "any table, up to 2^53 pages: a share of them (%ld not known)",
	   not_known);
	free(life);
}

/*
 * Pages of which each comes back in each step with the same probability,
 * whatever its past.  So of one that is idle for s steps it is known exactly
 * with which it comes back in time: 1 - (1-q)^(90-s).
 *
 * The error.  A hazard is a share of those at risk, remembered with weights a,
 * a^2, ... so that its variance is q(1-q) / (n (1+a)) for a remembered number
 * of n.  By it changes, of a page idle for s steps, (1-q)^(89-s) for each step
 * to come that is of its class.  The prior, that the youngest stay away, takes
 * at most a tenth of those there from q, relative to those remembered.  For
 * the first group alone: for others the ones below are heard, if they seem to
 * return sooner, which is a bias upward of less than the error of theirs.
 */
static void
test_constant(void)
{
	static const double rates[] = {.0005, .002, .01, .05};
	enum
	{
		ITEMS = 20000, STEPS = 270
	};

	for (int r = 0; r < 4; r++)
	{
		double		q = rates[r];
		WsLife	   *life = new_life(ITEMS, 0);
		uint32_t   *last = zeroed(ITEMS, sizeof(uint32_t));
		uint64_t	seed = 86 + (uint64_t) r;
		uint32_t	now = 1000000;
		double		a = exp(-1 / 30.0); /* hardly less than the least */
		double		exact = 0;
		double		variance = 0;
		double		bias = 0;
		double		n = 0;
		WsLive		live;

		for (int step = 0; step < STEPS; step++)
		{
			now += 100;
			ws_life_begin_step(life);
			for (uint32_t i = 0; i < ITEMS; i++)
			{
				/* at first, and when they are gone, pages come as one likes */
				if (last[i] == 0 || now - last[i] > 9000)
				{
					ws_life_forget(life, i);
					last[i] = last[i] == 0 && random_below(&seed, 60) ? 0 : now;
				}
				else if (random_unit(&seed) < q)
					last[i] = now;
				if (last[i] != 0)
					ws_life_item(life, i, last[i], 0, now);
			}
			ws_life_end_step(life, now, true);
		}
		for (int g = 0; g < WS_LIFE_GROUPS; g++)
		{
			const WsLifeTable *t = &life->table;
			double		change[WS_LIFE_CLASSES] = {0};

			for (int s = 0; s < WS_LIFE_STEPS; s++)
			{
				n += t->population[g][s];
				exact += t->population[g][s] * (1 - away(q, 90 - s));
				for (int later = s; later < WS_LIFE_STEPS; later++)
					change[later / 3] += t->population[g][s] * away(q, 89 - s);
			}
			for (int c = 0; c < WS_LIFE_CLASSES; c++)
			{
				double		youngest = t->population[g][0] + t->population[g][1] + t->population[g][2];
				double		there = fmax(t->at_risk[g][c], 1);

				variance += change[c] * change[c] * q * (1 - q) / (there * (1 + a));
				if (c == 0)
					bias += change[c] * q * .1 * youngest / there;
			}
		}
		live = live_of(life, 1);
		ok(fabs(live.pages - exact / n) <= (K_SIGMA * sqrt(variance) + bias) / n &&
		   sqrt(variance) / n < .02,
		   "pages of which %.2f %% return in each step: %.4f are live, exactly %.4f, error %.4f",
		   100 * q, live.pages, exact / n, sqrt(variance) / n);
		free(last);
		free(life);
	}
}

static void
test_project(void)
{
	static const struct
	{
		const char *name;
		double		before;
		double		ago;
		double		now;
		double		want;
	}			table[] = {
		{"nothing", 0, 0, 0, 0},
		{"just begun: half of it, and half of that", 0, 0, 100, 175},
		{"steady", 100, 100, 100, 100},
		{"growing: as much in each", 100, 200, 300, 500},
		{"growing faster: no faster than last", 100, 200, 400, 800},
		{"growing half as fast: a half, and a half of that", 100, 200, 250, 287.5},
		{"growing much more slowly", 100, 200, 210, 211.1},
		{"no longer growing", 100, 200, 200, 200},
		{"shrinking", 300, 200, 100, 100},
		{"shrinking after it grew", 100, 300, 200, 200},
		{"growing after it shrank: as if just begun", 300, 100, 200, 275},
		{"growing after a rest: as if just begun", 100, 100, 150, 187.5},
		{"gone", 100, 100, 0, 0},
		{"a page", 0, 0, 1, 1.75},
		{"very many", 0x1p38, 0x1p39, 0x1p40, 0x1p41},
		{"very many more slowly", 0, 0x1p39, 1.25 * 0x1p39, 1.328125 * 0x1p39},
	};
	uint64_t	seed = 90;
	long		wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		double		got = ws_project(table[i].now, table[i].ago, table[i].before);

		if (!ok(fabs(got - table[i].want) <= 1e-12 * table[i].want, "two periods on: %s", table[i].name))
			diag("got %.12g, want %.12g", got, table[i].want);
	}
	for (int i = 0; i < 100000; i++)
	{
		double		before = floor(1000 * random_unit(&seed));
		double		ago = floor(1000 * random_unit(&seed));
		double		now = floor(1000 * random_unit(&seed));
		double		got = ws_project(now, ago, before);

		double		faster = ws_project(now + 1, ago, before);

		wrong += !(got >= now && got <= now + 2 * fmax(now - ago, 0) && faster >= got);
	}
	is_int(wrong, 0, "two periods on: never below now, nor above twice the growth, and more of more");
}

int
main(void)
{
	plan(204);
	test_golden();
	test_projection();
	test_plateau();
	test_short();
	test_slice();
	test_definition();
	test_format();
	test_recommend_plateau_end();
	test_recommend_live_set();
	test_recommend_own();
	test_live();
	test_lower();
	test_held();
	test_live_any();
	test_constant();
	test_project();
	return done();
}
