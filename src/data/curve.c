/*
 * curve.c
 *		The windowed martingale estimator; see curve.h.
 *
 * A counting sort groups the ages of each level into fine steps, eight to a
 * step of the grid.  ws_curve_window() walks the grid from young to old, solves
 * one equation for each step, and remembers the sums.  The number of cells that
 * turn on between two fine steps is a difference of two places.  Only the fine
 * step in which a window ends has its ages looked at.
 *
 * Ages of cells are in whole seconds, as numbers of seconds of the clock: a use
 * of the present second is of age 0.
 */
#include "curve.h"

#include <math.h>
#include <string.h>

/* The grid: ages 0..15 one by one, then eight steps to an octave. */
#define GRID_BITS 3
#define GRID_STEPS 240

/* Fine steps: ages 0..127 one by one, then 64 to an octave. */
#define FINE_BITS 6
#define FINE_STEPS 1728

#define LEAST_RATIO 0.05		/* of what a second adds: less may be a burst */

#define LINE_CELLS 16			/* of the processor's cache */

struct WsCurve
{
	uint32_t	log2m;
	uint32_t	now;			/* tick */
	uint32_t	first;			/* the oldest tick that counts */
	uint32_t	known;			/* so many ages are known, from 0 */
	uint32_t	solved;			/* steps of the grid that have been solved */
	WsEstimate	before[GRID_STEPS]; /* sum of all steps before this one */

	/* [k][f]: place in level k's row of ages where fine step f begins */
	uint32_t	begin[WS_LEVELS_MAX][FINE_STEPS + 2];
	/* [level][2^log2m], grouped by fine step; then one row more to work in */
	uint32_t	ages[];
};

size_t
ws_curve_size(uint32_t m)
{
	uint32_t	levels = 2 + (uint32_t) __builtin_clz(m);

	return offsetof(WsCurve, ages) + ((size_t) levels + 1) * m * sizeof(uint32_t);
}

/* the step of an age when 2^bits steps make an octave */
static inline uint32_t
step_of(uint32_t age, uint32_t bits)
{
	/* the first 2^(bits + 1) ages have a step each: no shift */
	uint32_t	octave = 31 - (uint32_t) __builtin_clz(age | UINT32_C(1) << bits) - bits;

	return (octave << bits) + (age >> octave);
}

/* the youngest age of a step of the grid */
static inline uint32_t
grid_begin(uint32_t step)
{
	uint32_t	octave = step < 16 ? 0 : step / 8 - 1;

	return (step - 8 * octave) << octave;
}

/*
 * Does a cell of this line count?  Plain loads, which a compiler can do many at
 * a time; a cell that is written meanwhile was used after now.
 */
static inline bool
line_counts(const uint32_t *line, uint32_t first)
{
	uint32_t	young = 0;

	for (int i = 0; i < LINE_CELLS; i++)
		young |= line[i] >= first;
	return young != 0;
}

/*
 * Pack the ages of a level's cells that count, and return how many.  A cell
 * younger than now was touched during the pass: it is of age 0.  Within a line
 * no branch: no processor can predict which cells count.
 */
static inline uint32_t
pack_ages(const uint32_t *row, const uint32_t *other, uint32_t m,
		  uint32_t now, uint32_t first, uint32_t *ages)
{
	uint32_t	n = 0;

	for (uint32_t line = 0; line < m; line += LINE_CELLS)
	{
		if (!line_counts(row + line, first) && (!other || !line_counts(other + line, first)))
			continue;
		for (uint32_t i = line; i < line + LINE_CELLS; i++)
		{
			uint32_t	tick = ws_load(&row[i]);

			if (other)
			{
				uint32_t	t2 = ws_load(&other[i]);

				tick = t2 > tick ? t2 : tick;
			}
			ages[n] = tick > now ? 0 : now / WS_PRESENT - tick / WS_PRESENT;
			n += tick >= first;
		}
	}
	return n;
}

/* So many ages are in order.  Age 0 always is: cells may be used after now. */
static inline uint32_t
ages_sorted(const WsCurve *curve)
{
	return curve->known > 0 ? curve->known : 1;
}

/* Group n ages by fine step, of which there are so many. */
static void
sort_ages(const uint32_t *ages, uint32_t n, uint32_t *begin, uint32_t steps, uint32_t *sorted)
{
	memset(begin, 0, (steps + 2) * sizeof(*begin));
	if (n == 0)
		return;
	/* two places further on: each step's own place advances while it fills */
	for (uint32_t i = 0; i < n; i++)
		begin[step_of(ages[i], FINE_BITS) + 2]++;
	for (uint32_t f = 2; f < steps + 2; f++)
		begin[f] += begin[f - 1];
	for (uint32_t i = 0; i < n; i++)
		sorted[begin[step_of(ages[i], FINE_BITS) + 1]++] = ages[i];
}

void
ws_curve_take(WsCurve *curve, const WsSketch *const *sketches, int nsketches,
			  uint32_t now, uint32_t oldest)
{
	const WsSketch *sk = sketches[0];
	uint32_t	m = ws_sketch_m(sk);
	uint32_t	first = ws_load(&sk->floor);
	uint32_t   *packed = curve->ages + ws_ncells(sk->log2m);
	uint32_t	steps;

	if (nsketches > 1 && ws_load(&sketches[1]->floor) > first)
		first = ws_load(&sketches[1]->floor);
	memset(curve, 0, offsetof(WsCurve, before[1]));
	curve->log2m = sk->log2m;
	curve->now = now;
	/* a window that ends within a second needs all of it, and the next */
	if (oldest > WS_TICK_LAST)
		oldest = WS_TICK_LAST;
	oldest += 2 * WS_PRESENT;
	if (first < now && now - first > oldest)
		first = now - oldest;
	curve->first = first;
	curve->known = first <= now ? now / WS_PRESENT - first / WS_PRESENT + 1 : 0;
	steps = step_of(ages_sorted(curve), FINE_BITS) + 1;

	for (uint32_t k = 0; k < ws_levels(sk->log2m); k++)
	{
		size_t		row = (size_t) k << sk->log2m;
		uint32_t	n;

		/* two calls, so that each gets a loop of its own */
		if (nsketches > 1)
			n = pack_ages(sk->cells + row, sketches[1]->cells + row, m, now, first, packed);
		else
			n = pack_ages(sk->cells + row, NULL, m, now, first, packed);
		sort_ages(packed, n, curve->begin[k], steps, curve->ages + row);
	}
}

/* share of pages that go to level k, of K levels */
static inline double
level_share(int k, int K)
{
	return 1.0 / (UINT32_C(1) << (k < K - 1 ? k + 1 : K - 1));
}

/*
 * The increment of one step: s[k] cells of level k turned on, z[k] stayed off.
 *
 * With phi(y) = y / (exp(y) - 1) and A = SUM z q, the equation of curve.h is
 * SUM s phi(x q) = A x.  On the logarithms of both sides, in log x, it is so
 * nearly straight that Newton needs two or three steps; y phi'(y) = phi (1 -
 * phi - y).  From the last level to the first y doubles, and exp(2y) - 1 = t (2
 * + t) where t = exp(y) - 1, so one exponential serves all levels.
 */
static WsEstimate
solve_step(const uint32_t *s, const uint32_t *z, int K, double m)
{
	WsEstimate	inc = {0, 0, false};
	double		q_min;
	double		S = 0;
	double		A = 0;
	double		B = 0;
	double		lo;
	double		hi;
	double		x;
	double		information = 0;

	for (int k = 0; k < K; k++)
	{
		double		q = level_share(k, K);

		S += s[k];
		A += z[k] * q;
		B += s[k] * q;
	}
	inc.saturated = S > 0 && A == 0;
	if (K < 1 || S == 0 || A == 0)
		return inc;
	q_min = level_share(K - 1, K);

	/* phi(y) lies between 1 - y/2 and 1, which brackets the root */
	lo = S / (A + 0.5 * B);
	hi = S / A;
	x = lo;
	for (int round = 0; round < 50; round++)
	{
		double		y = x * q_min;
		double		t = expm1(y);
		double		sum = 0;
		double		slope = 0;
		double		last = x;

		for (int k = K - 1; k >= 0; k--)
		{
			double		phi = y / t;

			sum += s[k] * phi;
			slope += s[k] * phi * (1 - phi - y);
			if (k < K - 1)
			{
				y *= 2;
				t *= 2 + t;
			}
		}

		/* sum falls and A x rises with x, so each round narrows the bracket */
		if (sum > A * x)
			lo = x;
		else
			hi = x;
		x *= exp(log(sum / (A * x)) / (1 - slope / sum));
		if (!(x > lo && x < hi))
			x = 0.5 * (lo + hi);
		if (fabs(x - last) <= 1e-9 * last)
			break;
	}

	for (int k = 0; k < K; k++)
	{
		double		y = x * level_share(k, K);

		information += (s[k] + (double) z[k]) * y * y / expm1(y);
	}

	inc.pages = m * x;
	inc.variance = fmax(inc.pages * inc.pages / information - inc.pages, 0);
	return inc;
}

/* Cells of a level that are on, looking back so many ages, from 0. */
static uint32_t
cells_on(const WsCurve *curve, uint32_t level, uint32_t nages)
{
	const uint32_t *ages = curve->ages + ((size_t) level << curve->log2m);
	uint32_t	fine;
	uint32_t	on;

	if (nages > ages_sorted(curve))
		nages = ages_sorted(curve);
	fine = step_of(nages, FINE_BITS);
	on = curve->begin[level][fine];

	/* are some of this fine step older? */
	if (nages > 0 && step_of(nages - 1, FINE_BITS) == fine)
		for (uint32_t i = on; i < curve->begin[level][fine + 1]; i++)
			on += ages[i] < nages;
	return on;
}

/* The sum, and what ages first to end - 1 add to it. */
static WsEstimate
add_ages(const WsCurve *curve, WsEstimate sum, uint32_t first, uint32_t end)
{
	uint32_t	s[WS_LEVELS_MAX];
	uint32_t	z[WS_LEVELS_MAX];
	WsEstimate	inc;

	if (first >= end)
		return sum;
	for (uint32_t k = 0; k < ws_levels(curve->log2m); k++)
	{
		uint32_t	on = cells_on(curve, k, end);

		s[k] = on - cells_on(curve, k, first);
		z[k] = (UINT32_C(1) << curve->log2m) - on;
	}
	inc = solve_step(s, z, (int) ws_levels(curve->log2m), UINT32_C(1) << curve->log2m);
	sum.pages += inc.pages;
	sum.variance += inc.variance;
	sum.saturated |= inc.saturated;
	return sum;
}

/* Estimate of so many ages. */
static WsEstimate
add_steps(WsCurve *curve, uint32_t nages)
{
	static const WsEstimate none;
	uint32_t	step;

	if (nages > ages_sorted(curve))
		nages = ages_sorted(curve);
	if (nages == 0)
		return none;
	step = step_of(nages - 1, GRID_BITS);
	for (uint32_t g = curve->solved; g < step; g = ++curve->solved)
		curve->before[g + 1] = add_ages(curve, curve->before[g], grid_begin(g), grid_begin(g + 1));
	return add_ages(curve, curve->before[step], grid_begin(step), nages);
}

/*
 * Which share of a second's pages belongs to its younger part?  Looking back,
 * each second adds a part of what the one after it does, and if uses are evenly
 * spread each moment so does of the moment after it.  The present second, which
 * has only begun, and one that adds less than the one before it, are taken to
 * add all at the same rate.
 */
static double
share_of(double part, double pages, double older)
{
	double		ratio = pages > 0 ? fmax(older / pages, LEAST_RATIO) : 1;

	return ratio < 0.999 ? (1 - pow(ratio, part)) / (1 - ratio) : part;
}

WsEstimate
ws_curve_window(WsCurve *curve, uint32_t age)
{
	/* no cell is as old as the last ages */
	uint32_t	begin = age < curve->now ? curve->now - age : 0;
	uint32_t	second = begin / WS_PRESENT;
	uint32_t	whole = curve->now / WS_PRESENT - second;	/* younger ones */
	uint32_t	end = whole > 0 ? (second + 1) * WS_PRESENT : curve->now + 1;
	WsEstimate	e = add_steps(curve, whole);
	WsEstimate	all = add_steps(curve, whole + 1);
	double		share = (double) (end - begin) / (end - second * WS_PRESENT);

	if (begin <= curve->first)
		return all;
	if (whole > 0)
		share = share_of(share, all.pages - e.pages, add_steps(curve, whole + 2).pages - all.pages);
	e.pages += share * (all.pages - e.pages);
	e.variance += share * share * (all.variance - e.variance);
	e.saturated |= all.saturated;
	return e;
}

void
ws_estimate_bounds(const WsEstimate *e, double *low, double *high)
{
	double		reach = 1.96 * sqrt(e->variance);

	*low = e->pages > reach ? floor(e->pages - reach) : 0;
	*high = e->saturated ? INFINITY : ceil(e->pages + reach);
}
