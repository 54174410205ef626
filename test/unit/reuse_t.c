/*
 * reuse_t.c
 *		Tests of reuse distances, of their bins, and of the miss ratios that
 *		follow from them.
 *
 * Seeds are fixed, so a run either always passes or always fails.  Where an
 * assertion is about random numbers its bound is K_SIGMA standard errors, by
 * the formula beside it.
 */
#include "tap.h"
#include "reuse.h"
#include "sweep.h"
#include "traces.h"

#define K_SIGMA 5

static WsReuse *
new_reuse(uint32_t pages)
{
	WsReuse    *reuse = aligned_memory(ws_reuse_size(pages));

	ws_reuse_init(reuse, pages);
	return reuse;
}

/*
 * ----------------------------------------------------------------
 * Distances
 * ----------------------------------------------------------------
 */

/*
 * LRU stack: the last used page on top.  The distance is where a page is.
 */
typedef struct Stack
{
	uint32_t	n;
	uint32_t   *page;
} Stack;

static uint32_t
stack_take_out(Stack *s, uint32_t page)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->page[i] == page)
		{
			memmove(&s->page[i], &s->page[i + 1], (s->n - i - 1) * sizeof(uint32_t));
			s->n--;
			return i;
		}
	return WS_REUSE_NEVER;
}

static uint32_t
stack_access(Stack *s, uint32_t page)
{
	uint32_t	depth = stack_take_out(s, page);

	memmove(&s->page[1], s->page, s->n++ * sizeof(uint32_t));
	s->page[0] = page;
	return depth;
}

static void
test_distances(void)
{
	static const struct
	{
		uint32_t	pages;
		double		exponent;
		int			forget;		/* one access in so many is a forgetting */
		long		length;
		const char *name;
	}			table[] = {
		{1, 0, 0, 100, "one page"},
		{2, 0, 0, 1000, "two pages"},
		{500, 0, 0, 50000, "uniform"},
		{500, 0.9, 0, 50000, "Zipf"},
		{500, 0.9, 9, 50000, "Zipf, and pages are forgotten"},
		{64, 0, 2, 30000, "more is forgotten than is there"},
		{1000, 1.5, 50, 100000, "few pages used over and over"},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		uint32_t	n = table[t].pages;
		WsReuse    *reuse = new_reuse(n);
		Stack		stack = {0, zeroed(n + 1, sizeof(uint32_t))};
		Zipf	   *zipf = zipf_new(n, table[t].exponent);
		uint64_t	seed = 131 + t;
		long		wrong = 0;

		for (long i = 0; i < table[t].length; i++)
		{
			uint32_t	page = zipf_draw(zipf, &seed);

			if (table[t].forget && random_below(&seed, (uint32_t) table[t].forget) == 0)
			{
				ws_reuse_forget(reuse, page);
				(void) stack_take_out(&stack, page);
			}
			else
				wrong += ws_reuse_access(reuse, page) != stack_access(&stack, page);
		}
		ok(wrong == 0, "distances: %s", table[t].name);
		zipf_free(zipf);
		free(stack.page);
		free(reuse);
	}
}

/*
 * As many pages as there can be, in a loop: each comes back after all others.
 */
static void
test_loop(void)
{
	enum
	{
		PAGES = 32768, SMALL = 100
	};
	WsReuse    *reuse = new_reuse(PAGES);
	double		bins[WS_REUSE_BINS] = {0};
	long		wrong = 0;

	for (uint32_t i = 0; i < 6 * PAGES; i++)
		wrong += ws_reuse_access(reuse, i % PAGES) != (i < PAGES ? WS_REUSE_NEVER : PAGES - 1);
	is_int(wrong, 0, "a loop: each page comes back after all the others");
	free(reuse);

	reuse = new_reuse(SMALL);
	for (uint32_t i = 0; i < 50 * SMALL; i++)
	{
		uint32_t	distance = ws_reuse_access(reuse, i % SMALL);

		if (distance != WS_REUSE_NEVER)
			bins[ws_reuse_bin(distance)]++;
	}
	/* 99 is in the bin of 96 to 103 */
	is_within(ws_reuse_misses(bins, SMALL - 4), 49 * SMALL, 0,
			  "a loop: LRU misses all if it is too large for it");
	is_within(ws_reuse_misses(bins, SMALL + 4), 0, 0, "a loop: and none if it is not");
	free(reuse);
}

/*
 * ----------------------------------------------------------------
 * Bins
 * ----------------------------------------------------------------
 */
static void
test_bins(void)
{
	uint64_t	seed = 141;
	long		outside = 0;
	long		descending = 0;
	long		apart = 0;
	long		wide = 0;

	for (int b = 0; b < WS_REUSE_BINS; b++)
	{
		double		end = ws_reuse_bin_end(b);
		double		start = b > 0 ? ws_reuse_bin_end(b - 1) : 0;

		descending += !(end > start);
		/* a bin begins where the one before ends */
		apart += ws_reuse_bin(start) != b;
		if (b < WS_REUSE_BINS - 1)
		{
			apart += ws_reuse_bin(end) != b + 1;
			apart += ws_reuse_bin(nextafter(end, 0)) != b;
			/* eight to an octave: no wider than an eighth of where it begins */
			wide += start >= 8 && end - start > start / 8;
			wide += start < 8 && end - start != 1;
		}
	}
	is_int(descending, 0, "bins: ends ascend");
	is_int(apart, 0, "bins: each begins where the one before ends");
	is_int(wide, 0, "bins: eight to an octave");
	ok(ws_reuse_bin(0) == 0 && ws_reuse_bin(0.5) == 0 && ws_reuse_bin(1) == 1 &&
	   ws_reuse_bin(7.9) == 7 && isinf(ws_reuse_bin_end(WS_REUSE_BINS - 1)),
	   "bins: single pages at first, and all beyond at last");

	for (uint32_t i = 0; i < 1000000; i++)
	{
		int			b = ws_reuse_bin(i);

		outside += b < 0 || b >= WS_REUSE_BINS || !(i < ws_reuse_bin_end(b)) ||
			(b > 0 && !(ws_reuse_bin_end(b - 1) <= i));
	}
	for (int i = 0; i < 100000; i++)
	{
		double		distance = exp(random_unit(&seed) * 35);
		int			b = ws_reuse_bin(distance);

		outside += b < 0 || b >= WS_REUSE_BINS || !(distance < ws_reuse_bin_end(b)) ||
			(b > 0 && !(ws_reuse_bin_end(b - 1) <= distance));
	}
	is_int(outside, 0, "bins: every distance lies in its own");
	is_int(ws_reuse_bin(1e300), WS_REUSE_BINS - 1, "bins: the last has no end");
}

/*
 * What LRU misses is known exactly where a bin ends; within a bin, if it is
 * filled evenly.
 */
static void
test_misses(void)
{
	enum
	{
		PAGES = 3000, WARM = 20000, LENGTH = 60000, CACHES = 8
	};
	static const uint32_t size[CACHES] = {1, 7, 8, 40, 240, 832, 1024, 2560};
	WsReuse    *reuse = new_reuse(PAGES);
	Zipf	   *zipf = zipf_new(PAGES, 0.7);
	Lru		   *lru[CACHES];
	uint64_t	seed = 142;
	double		bins[WS_REUSE_BINS] = {0};
	double		even[WS_REUSE_BINS] = {0};
	long		missed[CACHES] = {0};
	long		wrong = 0;
	double		farthest = 0;

	for (int c = 0; c < CACHES; c++)
	{
		bool		end = false;

		for (int b = 0; b < WS_REUSE_BINS; b++)
			end |= ws_reuse_bin_end(b) == size[c];
		wrong += !end;
		lru[c] = lru_new(size[c], PAGES);
	}
	for (long i = 0; i < WARM + LENGTH; i++)
	{
		uint32_t	page = zipf_draw(zipf, &seed);
		uint32_t	distance = ws_reuse_access(reuse, page);

		for (int c = 0; c < CACHES; c++)
			missed[c] += !lru_access(lru[c], page) && i >= WARM;
		if (i >= WARM)
			bins[distance == WS_REUSE_NEVER ? WS_REUSE_BINS - 1 : ws_reuse_bin(distance)]++;
	}
	for (int c = 0; c < CACHES; c++)
	{
		wrong += ws_reuse_misses(bins, size[c]) != missed[c];
		lru_free(lru[c]);
	}
	is_int(wrong, 0, "misses: at the ends of bins those of a naive LRU cache, each of them");
	is_within(ws_reuse_misses(bins, 0), LENGTH, 0, "misses: no buffers miss all");
	is_within(ws_reuse_misses(bins, 1e9), bins[WS_REUSE_BINS - 1], 0,
			  "misses: any number misses what never was there");

	/* each distance below 10,000 once: a cache of C misses those from C on */
	for (int i = 0; i < 10000; i++)
		even[ws_reuse_bin(i)]++;
	for (int i = 0; i <= 9216; i++)
		farthest = fmax(farthest, fabs(ws_reuse_misses(even, i) - (10000 - i)));
	is_within(farthest, 0, 1e-9, "misses: within bins in proportion");
	is_within(ws_reuse_misses(even, 100.25), 9899.75, 1e-9, "misses: of any number of buffers");
	zipf_free(zipf);
	free(reuse);
}

/*
 * ----------------------------------------------------------------
 * Miss ratios
 * ----------------------------------------------------------------
 */

/*
 * Uniform accesses to n pages.  All caches of C pages miss 1 - C/n of them,
 * binomially.
 */
static void
test_agreement(void)
{
	enum
	{
		PAGES = 4000, WARM = 60000, LENGTH = 200000
	};
	WsReuse    *reuse = new_reuse(PAGES);
	WsSweep    *sweep = aligned_memory(ws_sweep_size(PAGES));
	uint64_t	seed = 153;
	double		bins[WS_REUSE_BINS] = {0};
	long		missed[WS_SWEEP_SIZES] = {0};
	double		worst_lru = 0;
	double		worst_clock = 0;

	ws_sweep_init(sweep, PAGES);
	ws_sweep_resize(sweep, 900);
	for (uint32_t i = 0; i < WARM + LENGTH; i++)
	{
		WsAccess	a = {.page = random_below(&seed, PAGES)};
		uint32_t	distance = ws_reuse_access(reuse, a.page);
		uint32_t	misses = ws_sweep_access(sweep, &a);

		if (i < WARM)
			continue;
		bins[distance == WS_REUSE_NEVER ? WS_REUSE_BINS - 1 : ws_reuse_bin(distance)]++;
		for (int k = 0; k < WS_SWEEP_SIZES; k++)
			missed[k] += misses >> k & 1;
	}
	for (int k = 0; k < WS_SWEEP_SIZES; k++)
	{
		double		buffers = ws_sweep_buffers(sweep, k);
		double		p = 1 - buffers / PAGES;
		double		sigma = sqrt(LENGTH * p * (1 - p));

		worst_lru = fmax(worst_lru, fabs(ws_reuse_misses(bins, buffers) - LENGTH * p) / sigma);
		worst_clock = fmax(worst_clock, fabs(missed[k] - LENGTH * p) / sigma);
	}
	ok(worst_lru < K_SIGMA, "uniform: LRU misses 1 - C/n, worst is %.1f sigma", worst_lru);
	ok(worst_clock < K_SIGMA, "uniform: so does the clock, worst is %.1f sigma", worst_clock);
	free(reuse);
	free(sweep);
}

/*
 * A sample of the pages: distances count for 1/R of what they are.  Accesses
 * that are not reported, since the page was just used, are hits of any cache.
 *
 * The standard error is that of what pages are sampled, from each page's
 * misses in a naive LRU cache: (1 - R)/R sum(m_p^2), and that of how many, as
 * if the cache were larger or smaller: the slope of the miss ratio against
 * log(C), from the naive caches next to it, times sqrt((1 - R)/(n R)).
 * Distances are whole numbers of sampled pages: the cache may be off by one.
 */
static void
test_sampled(bool damped)
{
	enum
	{
		PAGES = 30000, WARM = 200000, LENGTH = 400000, CACHES = 5, SHIFT = 3
	};
	static const uint32_t size[CACHES] = {1000, 2000, 4000, 8000, 16000};
	const double rate = ldexp(1, -SHIFT);
	WsReuse    *reuse = new_reuse(8192);
	Zipf	   *zipf = zipf_new(PAGES, 0.8);
	Lru		   *lru[CACHES];
	uint16_t   *misses[CACHES];
	double		real[CACHES] = {0};
	double		bins[WS_REUSE_BINS] = {0};
	uint32_t   *number = zeroed(PAGES, sizeof(uint32_t));
	uint32_t   *reported = zeroed(PAGES, sizeof(uint32_t));
	uint32_t	sampled = 0;
	long		unreported = 0;
	uint64_t	seed = 152;
	double		worst = 0;
	double		largest = 0;

	for (uint32_t page = 0; page < PAGES; page++)
		number[page] = page_hash(152, page) >> (32 - SHIFT) == 0 ? sampled++ : NO_PAGE;
	for (int c = 0; c < CACHES; c++)
	{
		lru[c] = lru_new(size[c], PAGES);
		misses[c] = zeroed(PAGES, sizeof(uint16_t));
	}
	for (uint32_t i = 1; i <= WARM + LENGTH; i++)
	{
		uint32_t	page = zipf_draw(zipf, &seed);
		uint32_t	distance;

		for (int c = 0; c < CACHES; c++)
			if (!lru_access(lru[c], page) && i > WARM)
			{
				misses[c][page]++;
				real[c] += 1.0 / LENGTH;
			}
		if (number[page] == NO_PAGE)
			continue;

		/*
		 * reported at most every 500 accesses, in which no cache is turned
		 * over
		 */
		if (damped && reported[page] != 0 && i - reported[page] < 500)
		{
			unreported++;
			continue;
		}
		reported[page] = i;
		distance = ws_reuse_access(reuse, number[page]);
		if (i > WARM)
			bins[distance == WS_REUSE_NEVER ? WS_REUSE_BINS - 1 : ws_reuse_bin(distance / rate)] +=
				1 / rate;
	}
	for (int c = 0; c < CACHES; c++)
	{
		int			below = c > 0 ? c - 1 : c;
		int			above = c < CACHES - 1 ? c + 1 : c;
		double		slope = (real[below] - real[above]) / log((double) size[above] / size[below]);
		double		found = ws_reuse_misses(bins, size[c]) / LENGTH;
		double		squares = 0;
		double		sigma;

		for (uint32_t page = 0; page < PAGES; page++)
			squares += (double) misses[c][page] * misses[c][page];
		sigma = hypot(sqrt((1 - rate) / rate * squares) / LENGTH,
					  slope * sqrt((1 - rate) / (PAGES * rate)));
		worst = fmax(worst, (fabs(found - real[c]) - slope / (size[c] * rate)) / sigma);
		largest = fmax(largest, fabs(found - real[c]));
	}
	ok(worst < K_SIGMA && (unreported > 1000) == damped,
	   "sampled%s: miss ratios of LRU, worst is %.1f sigma (%.4f)", damped ? ", repeated hits left out" : "",
	   worst, largest);
	for (int c = 0; c < CACHES; c++)
	{
		lru_free(lru[c]);
		free(misses[c]);
	}
	zipf_free(zipf);
	free(reuse);
	free(number);
	free(reported);
}

int
main(void)
{
	plan(25);
	test_distances();
	test_loop();
	test_bins();
	test_misses();
	test_agreement();
	test_sampled(false);
	test_sampled(true);
	return done();
}
