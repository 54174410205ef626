/*
 * yardstick.h
 *		What tests and benchmarks measure with: reproducible random numbers, a
 *		tally of errors, and the estimate that others publish.
 *
 * The yardstick is HyperLogLog as Flajolet et al. (2007) give it for 32-bit
 * hashes: only the highest level of each register counts, with the harmonic
 * mean, linear counting for small sets and the correction for large ones.
 * Its relative error for sets well above the number of registers is
 * 1.04/sqrt(m).  It reads the same sketch as ours, so the two see the same
 * pages and the same hashes.  The extension itself never uses it.
 */
#ifndef YARDSTICK_H
#define YARDSTICK_H

#include "curve.h"
#include "seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The relative errors, times sqrt(m), that theory gives for large sets:
 * HyperLogLog, maximum likelihood on the whole bitmap, and the martingale
 * estimator.
 */
#define THEORY_HLL			1.04
#define THEORY_ML			0.649
#define THEORY_MARTINGALE	0.589

static inline uint64_t
random64(uint64_t *state)
{
	return mix64(*state += UINT64_C(0x9E3779B97F4A7C15));
}

static inline uint32_t
random32(uint64_t *state)
{
	return (uint32_t) (random64(state) >> 32);
}

/* uniform below n */
static inline uint32_t
random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t) (((uint64_t) random32(state) * n) >> 32);
}

/* uniform between 0 and 1, neither included */
static inline double
random_unit(uint64_t *state)
{
	return ((random64(state) >> 11) + 0.5) * 0x1p-53;
}

static inline double
random_normal(uint64_t *state)
{
	double		r = sqrt(-2 * log(random_unit(state)));

	return r * cos(2 * 3.14159265358979323846 * random_unit(state));
}

/*
 * Strata by arithmetic: how often can the hash be doubled before it
 * overflows?  If its register is 0, the product with the golden ratio goes on.
 */
static inline uint32_t
naive_stratum(uint32_t hash, uint32_t log2m)
{
	uint32_t	stratum = 0;
	uint64_t	top = UINT64_C(1) << 32;
	uint64_t	rest = hash;

	while (stratum < log2m && rest * 2 < top)
	{
		rest *= 2;
		stratum++;
	}
	if (stratum < log2m)
		return stratum;
	rest = (uint64_t) hash * 2654435761u % top;
	while (stratum < WS_STRATA - 1 && rest * 2 < top)
	{
		rest *= 2;
		stratum++;
	}
	return stratum;
}

/*
 * A new sketch whose present is the tick.  The caller frees it.
 */
static inline WsSketch *
new_sketch(uint32_t m, uint32_t tick)
{
	void	   *memory;

	if (posix_memalign(&memory, 64, ws_sketch_size(m)) != 0)
		abort();
	ws_sketch_init(memory, m, tick);
	return memory;
}

/*
 * HyperLogLog's estimate of the pages of a window.
 */
static inline double
yardstick_estimate(const WsSketch *sk, uint32_t now, uint32_t age)
{
	uint32_t	m = ws_sketch_m(sk);
	double		alpha = 0.7213 / (1 + 1.079 / m);
	double		sum = 0;
	uint32_t	zeros = 0;
	double		raw;

	for (uint32_t j = 0; j < m; j++)
	{
		uint32_t	rank = ws_levels(sk->log2m);

		while (rank > 0)
		{
			uint32_t	cell = sk->cells[((size_t) (rank - 1) << sk->log2m) + j];

			if (cell >= sk->floor && (cell >= now || now - cell <= age))
				break;
			rank--;
		}
		sum += ldexp(1.0, -(int) rank);
		zeros += (rank == 0);
	}

	raw = alpha * m * m / sum;
	if (raw <= 2.5 * m && zeros > 0)
		return m * log((double) m / zeros);
	if (raw > 0x1p32 / 30)
		return -0x1p32 * log(1 - raw / 0x1p32);
	return raw;
}

/*
 * The invariants of a sketch: NULL when all hold, else what is wrong.
 */
static inline const char *
ws_sketch_check(const WsSketch *sk)
{
	size_t		ncells;
	uint32_t	tick;

	if (sk->log2m >= 32 || !ws_registers_valid((long) ws_sketch_m(sk)))
		return "number of registers is out of range";
	if (ws_load(&sk->floor) == 0)
		return "floor is zero, so untouched cells would count";

	ncells = ws_ncells(sk->log2m);
	for (size_t i = 0; i < ncells; i++)
	{
		uint32_t	cell = ws_load(&sk->cells[i]);

		/* the present is read after the cell: it may move on meanwhile */
		tick = ws_load(&sk->tick);
		if (cell > tick)
			return "a cell is ahead of the present";
	}
	if (ws_load(&sk->floor) > ws_load(&sk->tick))
		return "floor is ahead of the present";
	return NULL;
}

/*
 * The relative errors of many estimates.
 */
typedef struct Tally
{
	int			trials;
	double		sum;			/* of relative errors */
	double		squares;		/* of relative errors */
	double		variance;		/* sum of the variances the estimator states,
								 * relative to truth squared */
	int			covered;		/* truths within the 95 % bounds */
} Tally;

static inline void
tally_error(Tally *t, double estimate, double truth)
{
	double		e = estimate / truth - 1;

	t->trials++;
	t->sum += e;
	t->squares += e * e;
}

static inline void
tally_estimate(Tally *t, const WsEstimate *e, double truth)
{
	double		low;
	double		high;

	ws_estimate_bounds(e, &low, &high);
	tally_error(t, e->pages, truth);
	t->variance += e->variance / (truth * truth);
	t->covered += (low <= truth && truth <= high);
}

static inline void
tally_merge(Tally *t, const Tally *other)
{
	t->trials += other->trials;
	t->sum += other->sum;
	t->squares += other->squares;
	t->variance += other->variance;
	t->covered += other->covered;
}

static inline double
tally_rms(const Tally *t)
{
	return sqrt(t->squares / t->trials);
}

static inline double
tally_bias(const Tally *t)
{
	return t->sum / t->trials;
}

/* the standard error of the bias */
static inline double
tally_bias_se(const Tally *t)
{
	double		bias = tally_bias(t);

	return sqrt((t->squares / t->trials - bias * bias) / t->trials);
}

static inline double
tally_coverage(const Tally *t)
{
	return (double) t->covered / t->trials;
}

/* Take a curve and estimate n windows, whose ages are strictly ascending. */
static inline void
ws_curve_estimate(const WsSketch *const *sketches, int nsketches,
				  uint32_t now, const uint32_t *ages, int n,
				  WsEstimate *out, WsCurve *workspace)
{
	if (n <= 0)
		return;
	ws_curve_take(workspace, sketches, nsketches, now, ages[n - 1]);
	for (int i = 0; i < n; i++)
		out[i] = ws_curve_window(workspace, ages[i]);
}

/*
 * A server in short: uses of random pages, so many a tick, in ticks from one to
 * below another after "start", recorded as lookup.c does it.  last[page] becomes
 * the number of the tick of its last use, from 1.  Returns how many uses found a
 * mark.  "salt" makes other pages of the same numbers.
 */
static inline long
use_on(WsSketch *sk, uint32_t start, uint32_t from, uint32_t to, long uses,
	   uint32_t *last, uint32_t pages, uint32_t salt, uint64_t *seed)
{
	long		marked = 0;

	for (uint32_t i = from; i < to; i++)
	{
		ws_sketch_advance(sk, start + i);
		for (long u = 0; u < uses; u++)
		{
			uint32_t	page = random_below(seed, pages);
			uint32_t	hash = (uint32_t) mix64((uint64_t) salt << 32 | page);
			uint32_t	cell = ws_cell(hash, sk->log2m);

			last[page] = i + 1;
			if (ws_marked(ws_sketch_marks(sk), cell))
			{
				marked++;
				continue;
			}
			ws_sketch_touch(sk, hash);
			ws_mark(ws_sketch_marks(sk), cell);
		}
	}
	return marked;
}

/* From the present on, for so many ticks; the last use of the others is 0. */
static inline long
use_at_random(WsSketch *sk, long uses, uint32_t ticks, uint32_t *last, uint32_t pages, uint64_t *seed)
{
	uint32_t	salt = random32(seed);

	memset(last, 0, pages * sizeof(uint32_t));
	return use_on(sk, sk->tick, 0, ticks, uses, last, pages, salt, seed);
}

/* counts[i]: pages last used in the last i + 1 of the ticks */
static inline void
count_used(const uint32_t *last, uint32_t pages, uint32_t ticks, long *counts)
{
	memset(counts, 0, ticks * sizeof(long));
	for (uint32_t p = 0; p < pages; p++)
		if (last[p] > 0)
			counts[ticks - last[p]]++;
	for (uint32_t i = 1; i < ticks; i++)
		counts[i] += counts[i - 1];
}

static inline double
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static inline int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* sorts the values */
static inline double
median(double *values, int n)
{
	qsort(values, n, sizeof(double), compare_doubles);
	return values[n / 2];
}

#endif							/* YARDSTICK_H */
