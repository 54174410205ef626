/*
 * curve_t.c
 *		Tests of the curve: exact small cases, whether its steps solve the
 *		equation of curve.h, and the statistics that the estimator promises.
 *
 * Of N trials, a bias has standard error rms/sqrt(N), and an rms error has
 * relative standard error 1/sqrt(2 N).  Statistical assertions allow K_SIGMA
 * of these: a correct estimator at the very edge of its promise would fail one
 * with a fresh seed once in 3.5 million times (an rms error once in 100,000,
 * its distribution being a little skewed).  A coverage is bounded by
 * at_most().
 */
#include "tap.h"
#include "yardstick.h"

#define K_SIGMA		5

#define START		(WS_TICK_ORIGIN + 6)	/* a second begins */
#define MINUTE		(60 * WS_TICKS_PER_SECOND)
#define HOUR		(60 * MINUTE)

/* the promises: rms error times sqrt(m), bias, coverage of the 95 % bounds */
#define PROMISED_ERROR			0.62
#define PROMISED_BIAS			0.001
#define PROMISED_COVERAGE_LOW	0.93
#define PROMISED_COVERAGE_HIGH	0.98

static WsCurve *
new_curve(uint32_t m)
{
	WsCurve    *curve = malloc(ws_curve_size(m));

	if (!curve)
		abort();
	return curve;
}

static void
estimate(const WsSketch *sk, uint32_t now, const uint32_t *ages, int n,
		 WsEstimate *out)
{
	WsCurve    *workspace = new_curve(ws_sketch_m(sk));

	ws_curve_estimate(&sk, 1, now, ages, n, out, workspace);
	free(workspace);
}

static WsEstimate
estimate_one(const WsSketch *sk, uint32_t now, uint32_t age)
{
	WsEstimate	e;

	estimate(sk, now, &age, 1, &e);
	return e;
}

/* bit for bit */
static bool
same(const WsEstimate *a, const WsEstimate *b)
{
	return memcmp(&a->pages, &b->pages, sizeof(double)) == 0 &&
		memcmp(&a->variance, &b->variance, sizeof(double)) == 0 &&
		a->saturated == b->saturated;
}

static bool
is_nothing(WsEstimate e)
{
	return e.pages == 0 && e.variance == 0 && !e.saturated;
}

/*
 * Of a sketch, or of its union with another: the younger of two cells, and the
 * later of two floors.  Do these ages, in seconds and without the first, add
 * pages that solve the equation of curve.h, to 1e-6, and the variance that the
 * information gives?  "all" are the pages of the whole window: their rounding
 * shows in the variance, a difference of numbers that agree in their first
 * digits.
 */
static bool
solves(const WsSketch *sk, const WsSketch *other, uint32_t now, int64_t first, int64_t last,
	   double pages, double variance, double all)
{
	int			K = (int) ws_levels(sk->log2m);
	uint32_t	m = ws_sketch_m(sk);
	uint32_t	floor = other && other->floor > sk->floor ? other->floor : sk->floor;
	double		s[WS_LEVELS_MAX] = {0};
	double		z[WS_LEVELS_MAX] = {0};
	double		on = 0;
	double		right = 0;
	double		left[2] = {0};
	double		information = 0;

	for (size_t c = 0; c < (size_t) K * m; c++)
	{
		uint32_t	t = other && other->cells[c] > sk->cells[c] ? other->cells[c] : sk->cells[c];
		int64_t		age = t < floor ? INT64_MAX : t > now ? 0 : (int64_t) (now / 10) - t / 10;

		s[c / m] += age > first && age <= last;
		z[c / m] += age > last;
	}
	for (int k = 0; k < K; k++)
	{
		double		q = ldexp(1, -(k < K - 1 ? k + 1 : K - 1));
		double		y = pages / m * q;

		on += s[k];
		right += z[k] * q;
		/* it falls from infinity to 0 */
		for (int i = 0; i < 2 && s[k] > 0; i++)
			left[i] += s[k] * q / expm1(y * (i == 0 ? 1 - 1e-6 : 1 + 1e-6));
		information += y > 0 ? (s[k] + z[k]) * y * y / expm1(y) : 0;
	}
	if (on == 0)
		return pages == 0 && variance == 0;
	return left[0] > right && right > left[1] &&
		fabs(variance - fmax(pages * pages / information - pages, 0)) <= 1e-6 * variance + 1e-12 * all;
}

/* The estimate of the present second and so many before it; -1: of nothing. */
static WsEstimate
of_seconds(WsCurve *curve, uint32_t now, int64_t seconds)
{
	static const WsEstimate none;

	return seconds < 0 ? none : ws_curve_window(curve, (uint32_t) seconds * 10 + now % 10);
}

/*
 * Is a window of so many ticks what windows of whole seconds say?  It has all
 * seconds that lie in it, and of the one in which it begins its share.  What a
 * second adds falls evenly from second to second, also within it.
 */
static bool
is_share(WsCurve *curve, uint32_t now, uint32_t floor, uint32_t age)
{
	int64_t		begin = (int64_t) now - age;
	int64_t		second = begin / 10;
	int64_t		whole = now / 10 - second;
	int64_t		end = whole > 0 ? (second + 1) * 10 : (int64_t) now + 1;
	WsEstimate	e = ws_curve_window(curve, age);
	WsEstimate	less = of_seconds(curve, now, whole - 1);
	WsEstimate	more = of_seconds(curve, now, whole);
	double		share = begin <= floor ? 1 : (double) (end - begin) / (end - second * 10);

	if (whole > 0 && share < 1 && more.pages > less.pages)
	{
		double		ratio = (of_seconds(curve, now, whole + 1).pages - more.pages) / (more.pages - less.pages);

		ratio = fmax(ratio, 0.05);
		if (ratio < 0.999)
			share = (1 - pow(ratio, share)) / (1 - ratio);
	}
	return fabs(e.pages - less.pages - share * (more.pages - less.pages)) <= 1e-9 * more.pages &&
		fabs(e.variance - less.variance - share * share * (more.variance - less.variance)) <= 1e-9 * more.variance;
}

/*
 * Small cases, whose answers are known.
 */
static void
test_small(void)
{
	enum
	{
		M = 1024
	};
	WsSketch   *sk = new_sketch(M, START);
	static const uint32_t lagging[3] = {9, HOUR - 11, HOUR - 1};
	uint64_t	seed = seeded(30);
	WsEstimate	out[4];
	WsEstimate	e = {-7, -7, true};
	uint32_t	now = START + HOUR + 9;
	long		wrong = 0;

	ok(is_nothing(estimate_one(sk, START, 0)) && is_nothing(estimate_one(sk, START, HOUR)),
	   "an empty sketch has no pages in any window");

	/*
	 * One page at level k: S = 1, A = m - q and B = q, and since phi lies
	 * between 1 - y/2 and 1 the answer lies between m/(m - q/2) and m/(m -
	 * q).
	 */
	for (int k = 0; k < (int) ws_levels(sk->log2m); k++)
	{
		double		q = ldexp(1.0, k < (int) ws_levels(sk->log2m) - 1 ? -(k + 1) : -k);

		ws_sketch_init(sk, M, START);
		ws_sketch_touch(sk, k < 22 ? (UINT32_C(5) << 22) | (UINT32_C(1) << k) : 0);
		e = estimate_one(sk, START, 0);
		wrong += !(e.pages >= M / (M - q / 2) - 1e-9 && e.pages <= M / (M - q) + 1e-9 &&
				   !e.saturated && e.variance >= 0 && e.variance < 0.01);
	}
	is_int(wrong, 0, "one page is one page, at whichever level");

	/* every age, up to thirteen years, is the edge of some window */
	for (uint32_t i = 1; i < 5000; i++)
	{
		uint32_t	a = i < 3000 ? i : 1 + (uint32_t) exp(random_unit(&seed) * log(4e9));
		uint32_t	three[3] = {a < 9 ? 0 : a - 9, a, UINT32_MAX};

		/* used in the second from 20 on, and known from 11 on */
		ws_sketch_init(sk, M, 11);
		ws_sketch_advance(sk, 20);
		ws_sketch_touch(sk, 12345);
		estimate(sk, 20 + a, three, 3, out);
		/*
		 * Of the second in which the window begins, the last tenth; nothing was used before, so that
		 * is 0.27 of it.  The present one has a + 1 ticks.
		 */
		wrong += !(fabs(out[0].pages - (a < 9 ? 1 / (a + 1.0) : a == 9 ? 0.1 : (1 - pow(0.05, 0.1)) / 0.95)) < 0.001 &&
				   fabs(out[1].pages - 1) < 0.001 && same(&out[1], &out[2]));
		three[0] = a - 10;
		estimate(sk, 20 + a, three, a < 10 ? 0 : 1, out);
		wrong += a >= 10 && !is_nothing(out[0]);
	}
	is_int(wrong, 0, "a window counts the page as far as it has the page's second");

	/* the reader's now may lag behind the writers' */
	ws_sketch_init(sk, M, START);
	ws_sketch_touch(sk, 12345);
	ws_sketch_advance(sk, now);
	ws_sketch_touch(sk, 0xC0000002);	/* another cell */
	estimate(sk, now - 10, lagging, 3, out);
	ok(fabs(out[0].pages - 1) < 0.001 && same(&out[0], &out[1]) && fabs(out[2].pages - 2) < 0.002,
	   "a cell ahead of now is of age 0, and other ages count from now");

	ws_sketch_raise_floor(sk, START);
	ok(fabs(estimate_one(sk, now, 2 * HOUR).pages - 2) < 0.002, "a cell at the floor counts");
	ws_sketch_raise_floor(sk, START + 10);
	ok(fabs(estimate_one(sk, now, 2 * HOUR).pages - 1) < 0.001, "one that is older does not");
	/* a reset may come between reading the present and reading the floor */
	ws_sketch_raise_floor(sk, now + 1);
	ok(is_nothing(estimate_one(sk, now - 1, 2 * HOUR)) && is_nothing(estimate_one(sk, now - 1, 30)),
	   "a floor ahead of now hides what is older than it");
	sk->cells[0] = now + 1;
	ok(fabs(estimate_one(sk, now - 1, 30).pages - 1) < 0.001, "and not what came after it");

	/* windows that reach beyond the beginning of time */
	ws_sketch_init(sk, M, 10);
	ws_sketch_touch(sk, 12345);
	ok(fabs(estimate_one(sk, 10, UINT32_MAX).pages - 1) < 0.001 && fabs(estimate_one(sk, 10, 11).pages - 1) < 0.001,
	   "a window may begin before tick 0");
	free(sk);
}

static void
test_saturation(void)
{
	enum
	{
		M = 1024
	};
	WsSketch   *sk = new_sketch(M, START);
	size_t		ncells = ws_ncells(sk->log2m);
	uint32_t	now = START + 1000; /* a second begins */
	uint32_t	ages[4] = {490, 500, 501, 5000};
	WsEstimate	out[4];
	double		low;
	double		high;
	bool		good = true;

	/* all cells on, half of them 500 ticks ago and half just now */
	ws_sketch_advance(sk, now);
	for (size_t c = 0; c < ncells; c++)
		sk->cells[c] = c % 2 ? now - 500 : now;
	estimate(sk, now, ages, 4, out);
	ok(!out[0].saturated, "half of the cells on is no saturation");
	ok(out[1].saturated && out[2].saturated && out[3].saturated,
	   "all cells on is, from the window that has them all");
	for (int i = 1; i < 4; i++)
	{
		ws_estimate_bounds(&out[i], &low, &high);
		good &= out[i].pages >= out[i - 1].pages && isfinite(out[i].pages) &&
			isfinite(out[i].variance) && isfinite(low) && high == INFINITY;
	}
	ok(good, "a saturated estimate is a lower bound, and its high is infinite");

	for (size_t c = 0; c < ncells; c++)
		sk->cells[c] = now;
	estimate(sk, now, ages, 4, out);
	ok(out[0].saturated && out[3].saturated && out[3].pages >= 0,
	   "all cells on in one tick");

	/* the rarest cell off: as many pages as the sketch can tell, but it can */
	sk->cells[ncells - 1] = 0;
	estimate(sk, now, ages, 4, out);
	ws_estimate_bounds(&out[3], &low, &high);
	ok(!out[3].saturated && isfinite(out[3].pages) && out[3].pages > 1e9 &&
	   out[3].variance > 0 && isfinite(high) && high > out[3].pages,
	   "one cell short of saturation the estimate is finite");
	free(sk);
}

static void
test_bounds(void)
{
	static const struct
	{
		WsEstimate	e;
		double		low;
		double		high;
	}			table[] = {
		{{0, 0, false}, 0, 0},
		{{1.0002, 0, false}, 1, 2},
		{{100, 25, false}, 90, 110},
		{{100.5, 25, false}, 90, 111},
		{{10, 100, false}, 0, 30},
		{{1000, 0, true}, 1000, INFINITY},
		{{1e9, 1e12, false}, 998040000, 1001960000},
	};
	bool		good = true;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		double		low;
		double		high;

		ws_estimate_bounds(&table[i].e, &low, &high);
		good &= low == table[i].low && high == table[i].high;
	}
	ok(good, "bounds are 1.96 standard errors, rounded outward, low from 0");
}

/*
 * Fill a sketch with pages whose ages are spread in octaves: as many between
 * one age and its double as between the next, which gives each step of the
 * grid something to do.
 */
static void
fill_octaves(WsSketch *sk, uint64_t *seed, int pages, uint32_t now,
			 uint32_t oldest)
{
	for (int i = 0; i < pages; i++)
	{
		uint32_t	age = (uint32_t) (exp(random_unit(seed) * log(oldest + 2.0)) - 1);
		uint32_t	cell = ws_cell(random32(seed), sk->log2m);

		if (sk->cells[cell] < now - age)
			sk->cells[cell] = now - age;
	}
	ws_sketch_advance(sk, now);
}

/*
 * Whole curves, of one sketch and of two, with floors and a reader who lags
 * behind: every step of every fill is a pair of (s, z) that occurs.
 */
static void
test_equation(void)
{
	static const struct
	{
		uint32_t	m;
		int			pages;
		uint32_t	oldest;		/* in ticks */
		int			fills;
		const char *name;
	}			table[] = {
		{1024, 3, 100, 20, "a few pages"},
		{1024, 1000, HOUR, 10, "an hour, 1000 pages"},
		{1024, 30000, HOUR, 10, "an hour, 30,000 pages"},
		{1024, 1000000, HOUR, 3, "an hour, 1,000,000 pages"},
		{1024, 300000, 3, 10, "four ticks, 300,000 pages"},
		{4096, 50000, HOUR, 2, "an hour, 4096 registers"},
		{16384, 200000, HOUR, 1, "an hour, 16384 registers"},
		{1024, 30000, 50000000, 6, "two months, far beyond the table of ages"},
	};
	enum
	{
		N = 40
	};

	for (size_t c = 0; c < sizeof(table) / sizeof(table[0]); c++)
	{
		uint64_t	seed = seeded(40 + c);
		WsCurve    *curve = new_curve(table[c].m);
		WsCurve    *swapped = new_curve(table[c].m);
		long		unsolved = 0;
		long		no_share = 0;
		long		differ = 0;

		for (int fill = 0; fill < trials(table[c].fills); fill++)
		{
			uint32_t	now = START - 1000 + random_below(&seed, 2000);
			const WsSketch *sketches[3] = {new_sketch(table[c].m, 2), fill % 2 ? new_sketch(table[c].m, 2) : NULL};
			WsSketch   *sk = (WsSketch *) sketches[0];
			WsSketch   *other = (WsSketch *) sketches[1];

			sketches[2] = sk;
			fill_octaves(sk, &seed, table[c].pages, now, table[c].oldest);
			if (other)
			{
				fill_octaves(other, &seed, 1 + table[c].pages / 10, now, table[c].oldest);
				ws_sketch_raise_floor(fill % 4 == 1 ? sk : other, now - table[c].oldest / 2);
				now -= random_below(&seed, 3);
			}
			ws_curve_take(curve, sketches, other ? 2 : 1, now, table[c].oldest);
			ws_curve_take(swapped, sketches + (other ? 1 : 0), other ? 2 : 1, now, table[c].oldest);

			/* windows that are spread in octaves like the pages */
			for (int i = 0; i < N; i++)
			{
				uint32_t	age = (uint32_t) (pow(table[c].oldest + 2.0, (i + random_unit(&seed)) / N) - 1);
				int64_t		last = age / 10;
				int64_t		width = 1;	/* of the step: eight are an octave */
				int64_t		first;	/* behind it */
				WsEstimate	before;
				WsEstimate	e;
				WsEstimate	same_e;

				while (last >= 16 * width)
					width *= 2;
				first = last - last % width - 1;
				before = of_seconds(curve, now, first);
				e = of_seconds(curve, now, last);
				same_e = of_seconds(swapped, now, last);
				differ += !same(&e, &same_e) || e.saturated;
				unsolved += !solves(sk, other, now, first, last, e.pages - before.pages, e.variance - before.variance, e.pages);
				no_share += !is_share(curve, now, other && other->floor > sk->floor ? other->floor : sk->floor, age);
			}
			free(sk);
			free(other);
		}
		ok(unsolved == 0 && differ == 0, "%s: what a step adds solves its equation, whichever sketch is the other",
		   table[c].name);
		is_int(no_share, 0, "a window that begins within a second has its share");
		free(curve);
		free(swapped);
	}
}

/*
 * Statistics: n distinct pages arrive steadily over an hour, and
 * 60 windows of a minute each are asked for.  Two of them are judged, the
 * whole hour and one in the middle; beside them the plain maximum likelihood
 * estimate, which is what the same cells give when all are of one tick, and
 * the yardstick.
 */
typedef struct Steady
{
	Tally		hour;
	Tally		middle;			/* 17 of 60 minutes */
	Tally		one_tick;
	Tally		yardstick;
} Steady;

static Steady
run_steady(uint32_t m, int n, int ntrials, uint64_t seed)
{
	Steady		result = {0};
	WsSketch   *sk = new_sketch(m, START);
	uint32_t	ages[60];
	WsEstimate	out[60];
	uint32_t	now = START + HOUR - 1;

	for (int i = 0; i < 60; i++)
		ages[i] = (uint32_t) (i + 1) * MINUTE - 1;

	for (int trial = 0; trial < ntrials; trial++)
	{
		int			in_middle = 0;
		WsEstimate	e;

		ws_sketch_init(sk, m, START);
		for (int i = 0; i < n; i++)
		{
			uint32_t	tick = START + (uint32_t) ((uint64_t) i * HOUR / n);

			ws_store(&sk->present, tick);
			ws_sketch_touch(sk, random32(&seed));
			in_middle += (now - tick <= ages[16]);
		}
		ws_sketch_advance(sk, now);

		estimate(sk, now, ages, 60, out);
		tally_estimate(&result.hour, &out[59], n);
		tally_estimate(&result.middle, &out[16], in_middle);
		tally_error(&result.yardstick, yardstick_estimate(sk, now, ages[59]), n);

		for (size_t c = 0; c < ws_ncells(sk->log2m); c++)
			if (sk->cells[c] > 0)
				sk->cells[c] = now;
		e = estimate_one(sk, now, 9);
		tally_estimate(&result.one_tick, &e, n);
	}
	free(sk);
	return result;
}

/* Do the bounds hold as often as promised? */
static bool
is_covered(const Tally *t)
{
	return t->trials - t->covered <= at_most(t->trials, 1 - PROMISED_COVERAGE_LOW);
}

/*
 * Does a tally keep the promises?  One assertion for each.
 *
 * The bounds are rounded outward to whole pages, so when a standard error is
 * but a few pages they cover more than they need to: up to 5 pages there is
 * no upper limit to the coverage.
 */
static void
judge(const Tally *t, uint32_t m, double truth, const char *name)
{
	double		error = tally_rms(t) * sqrt(m);
	int			n = t->trials;
	double		calibration = sqrt(t->squares / t->variance);

	/* of an rms error; where few pages are missed, their number varies more */
	double		se = sqrt(0.5 / n + 0.25 / (t->variance * truth * truth));

	ok(error <= PROMISED_ERROR * (1 + K_SIGMA * se),
	   "%s: error is %.3f/sqrt(m), at most %.2f", name, error, PROMISED_ERROR);
	ok(fabs(tally_bias(t)) <= PROMISED_BIAS + student(K_SIGMA, n) * tally_bias_se(t),
	   "%s: bias is %.3f %%, standard error %.3f", name, 100 * tally_bias(t),
	   100 * tally_bias_se(t));
	ok(is_covered(t) && (tally_rms(t) * truth <= 5 || t->covered <= at_most(n, PROMISED_COVERAGE_HIGH)),
	   "%s: 95 %% bounds cover %.1f %%", name, 100 * tally_coverage(t));
	ok(fabs(calibration - 1) <= 0.025 + K_SIGMA * se,
	   "%s: the real error is %.2f of the one stated", name, calibration);
}

static void
test_steady(void)
{
	static const struct
	{
		uint32_t	m;
		int			n;
		int			trials;
	}			table[] = {
		{1024, 100, 3000},
		{1024, 1000, 3000},
		{1024, 10000, 3000},
		{1024, 100000, 1500},
		{1024, 1000000, 200},
		{4096, 30000, 600},
		{16384, 100, 300},
		{16384, 100000, 300},
	};

	for (size_t c = 0; c < sizeof(table) / sizeof(table[0]); c++)
	{
		uint32_t	m = table[c].m;
		int			n = table[c].n;
		int			ntrials = trials(table[c].trials);
		Steady		s = run_steady(m, n, ntrials, seeded(1000 * c + 60));
		char		name[100];
		double		ratio;

		snprintf(name, sizeof(name), "m %u, n %d, an hour", m, n);
		judge(&s.hour, m, n, name);
		snprintf(name, sizeof(name), "m %u, n %d, 17 minutes", m, n);
		judge(&s.middle, m, n * 17 / 60.0, name);

		/* what theory says of large sets, of small ones it has no constant */
		if (n < 20 * (int) m)
			continue;

		/*
		 * The theory of the martingale estimator is for pages one by one; the
		 * grid's steps, nine percent of the window, add a little.
		 */
		is_within(tally_rms(&s.hour) * sqrt(m), THEORY_MARTINGALE,
				  0.01 + K_SIGMA * THEORY_MARTINGALE / sqrt(2 * ntrials),
				  "many steps: the martingale's error constant");
		is_within(tally_rms(&s.one_tick) * sqrt(m), THEORY_ML,
				  0.01 + K_SIGMA * THEORY_ML / sqrt(2 * ntrials),
				  "all in one tick: the error constant of maximum likelihood");
		is_within(tally_rms(&s.yardstick) * sqrt(m), THEORY_HLL,
				  0.01 + K_SIGMA * THEORY_HLL / sqrt(2 * ntrials),
				  "the yardstick's error constant");

		/*
		 * Were the two errors independent, the logarithm of their ratio would
		 * have a standard error of 1/sqrt(N); seeing the same pages they go
		 * together and it is less.
		 */
		ratio = tally_rms(&s.yardstick) / tally_rms(&s.hour);
		is_within(log(ratio), log(THEORY_HLL / THEORY_MARTINGALE), 0.02 + K_SIGMA / sqrt(ntrials),
				  "ours is better than the yardstick by the ratio of theory");
	}
}

#define BUSY_PAGES	125000		/* at most */

/*
 * A server that looks up so many pages at random, 400,000 a second: every sixteenth of
 * them, and every sixteenth register of 16384.  Windows of 1, 2, 5 and 60 seconds, which
 * end at any tick of a second, beside exact counts.  From five seconds on bounds hold.
 */
static void
test_busy(const char *name, uint32_t pages, long uses)
{
	enum
	{
		M = 1024, TICKS = 620, WINDOWS = 4
	};
	static const struct
	{
		int			seconds;
		double		bias;
	}			windows[WINDOWS] = {{1, 0.01}, {2, 0.01}, {5, 0.005}, {60, 0.005}};
	const int	ntrials = trials(100);
	static uint32_t last[BUSY_PAGES];
	static long counts[TICKS];
	static WsEstimate all[TICKS];
	uint32_t	ages[TICKS];
	WsSketch   *sk = new_sketch(M, START);
	const WsSketch *sketch = sk;
	WsCurve    *curve = new_curve(M);
	Tally		tallies[WINDOWS] = {0};
	uint64_t	seed = seeded(90);
	long		falls = 0;
	long		differ = 0;
	WsEstimate	e;

	for (uint32_t a = 0; a < TICKS; a++)
		ages[a] = a;
	for (int trial = 0; trial < ntrials; trial++)
	{
		ws_sketch_init(sk, M, START + (uint32_t) trial % WS_PRESENT);
		use_at_random(sk, uses, TICKS, last, pages, &seed);
		count_used(last, pages, TICKS, counts);
		estimate(sk, sk->tick, ages, TICKS, all);
		for (int i = 1; i < TICKS; i++)
			falls += all[i].pages < all[i - 1].pages || !(all[i].variance >= 0);
		e = estimate_one(sk, sk->tick, (uint32_t) trial % TICKS);
		differ += !same(&e, &all[trial % TICKS]);
		/* in any order, though the sketch has moved on */
		ws_curve_take(curve, &sketch, 1, sk->tick, UINT32_MAX);
		use_on(sk, sk->tick, 0, 20, uses, last, pages, 0, &seed);
		ws_sketch_raise_floor(sk, sk->tick);
		for (int i = TICKS - 1; i >= 0; i--)
		{
			e = ws_curve_window(curve, (uint32_t) i);
			differ += !same(&e, &all[i]);
		}
		for (int w = 0; w < WINDOWS; w++)
			tally_estimate(&tallies[w], &all[windows[w].seconds * 10 - 1], counts[windows[w].seconds * 10 - 1]);
	}
	ok(falls == 0, "%s: a curve rises, from tick to tick", name);
	ok(differ == 0, "%s: each window alone and in any order is the same", name);
	for (int w = 0; w < WINDOWS; w++)
	{
		Tally	   *t = &tallies[w];

		ok(fabs(tally_bias(t)) <= windows[w].bias + student(K_SIGMA, ntrials) * tally_bias_se(t),
		   "%s, %d s: bias is %.3f %%, standard error %.3f", name, windows[w].seconds, 100 * tally_bias(t),
		   100 * tally_bias_se(t));
		if (windows[w].seconds >= 5)
			ok(is_covered(t), "%s, %d s: 95 %% bounds cover %.1f %%", name, windows[w].seconds, 100 * tally_coverage(t));
	}

	/* what is used after a reset within a second counts, though cells were marked before */
	ws_sketch_init(sk, M, START + 2);
	use_at_random(sk, uses, 56, last, pages, &seed);
	ws_sketch_raise_floor(sk, sk->tick + 1);
	use_at_random(sk, uses, 1, last, pages, &seed);
	count_used(last, pages, 1, counts);
	e = estimate_one(sk, sk->tick, 0);
	ok(fabs(e.pages / counts[0] - 1) <= K_SIGMA * THEORY_ML / sqrt(M), "%s: what is used after a reset is seen",
	   name);
	free(curve);
	free(sk);
}

/*
 * A few new pages in each tick, beside some that are used all the time: what the window
 * has more than the period before it is little, and the curve rises all the same.
 */
static void
test_trickle(void)
{
	enum
	{
		M = 1024, HOT = 1000, USES = 2500, NEW = 3, TICKS = 400
	};
	static uint32_t last[HOT];
	static WsEstimate all[TICKS];
	uint32_t	ages[TICKS];
	WsSketch   *sk = new_sketch(M, START);
	uint64_t	seed = seeded(92);
	Tally		t = {0};
	const int	ntrials = trials(20);
	long		falls = 0;

	for (uint32_t a = 0; a < TICKS; a++)
		ages[a] = a;
	for (int trial = 0; trial < ntrials; trial++)
	{
		uint32_t	salt = random32(&seed);
		uint32_t	start = START + (uint32_t) trial % WS_PRESENT;

		ws_sketch_init(sk, M, start);
		for (uint32_t i = 0; i < TICKS; i++)
		{
			use_on(sk, start, i, i + 1, USES, last, HOT, salt, &seed);
			for (uint32_t n = 0; n < NEW; n++)
				ws_sketch_touch(sk, random32(&seed));
		}
		estimate(sk, sk->tick, ages, TICKS, all);
		for (int i = 1; i < TICKS; i++)
			falls += all[i].pages < all[i - 1].pages || !(all[i].variance >= 0);
		for (int i = 100; i < TICKS; i += 43)
			tally_estimate(&t, &all[i], HOT + NEW * (i + 1));
	}
	ok(falls == 0, "a trickle: a curve rises, from tick to tick");
	/* the windows of a sketch go together */
	ok(t.trials - t.covered <= t.trials / ntrials * at_most(ntrials, 1 - PROMISED_COVERAGE_LOW),
	   "a trickle: 95 %% bounds cover %.1f %%", 100 * tally_coverage(&t));
	free(sk);
}

int
main(void)
{
	plan(132);
	test_trickle();
	test_busy("2,000,000 pages", BUSY_PAGES, 2500);
	test_busy("40,000 pages", 2500, 2500);
	test_busy("40,000 pages, each once in a third of a second", 2500, 750);
	test_small();
	test_saturation();
	test_bounds();
	test_equation();
	test_steady();
	return done();
}
