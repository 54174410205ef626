/*
 * curve.c
 *		The windowed martingale estimator; see curve.h for the idea.
 *
 * Work is done in two rounds.  The first counts cells by level and age, the
 * ages being cut at every grid point and at every window asked for ("fine"
 * steps).  The second walks the grid from young to old and solves one
 * equation for each step in which any cell turned on.
 */
#include "curve.h"

#include <math.h>
#include <string.h>

/*
 * The grid: ages 0..15 one by one, then eight steps to an octave.
 */
#define GRID_STEPS 240

/* the oldest age of a step */
static inline uint32_t
grid_end(uint32_t step)
{
	uint32_t	e;

	if (step < 16)
		return step;
	e = step / 8 - 1;
	return (uint32_t) ((((uint64_t) (step - 8 * e) + 1) << e) - 1);
}

/*
 * Ages below this find their fine step in a table, older ones by search.
 */
#define TABLE_SIZE 65536

/*
 * Cells are looked at in groups of this many, a divisor of every number of
 * registers.
 */
#define GROUP 256

typedef struct Fine
{
	uint32_t	end;			/* oldest age of this step */
	bool		ends_grid;		/* does a grid step end here, too? */
	int			window;			/* which window ends here, or -1 */
} Fine;

typedef struct Workspace
{
	Fine	   *fine;			/* fine steps, young to old */
	int			nfine;
	uint16_t   *table;			/* fine step of an age below table_size */
	uint32_t	table_size;
	uint32_t   *hist;			/* [level][fine step] cells that turn on */
} Workspace;

static inline size_t
align8(size_t n)
{
	return (n + 7) & ~(size_t) 7;
}

static inline int
max_fine(int n)
{
	return GRID_STEPS + n + 1;
}

size_t
ws_curve_workspace_size(int n)
{
	return align8((size_t) max_fine(n) * sizeof(Fine)) +
		align8(TABLE_SIZE * sizeof(uint16_t)) +
		align8((size_t) max_fine(n) * WS_LEVELS_MAX * sizeof(uint32_t));
}

static void
lay_out(Workspace *ws, void *memory, int n)
{
	char	   *p = memory;

	ws->fine = (Fine *) p;
	p += align8((size_t) max_fine(n) * sizeof(Fine));
	ws->table = (uint16_t *) p;
	p += align8(TABLE_SIZE * sizeof(uint16_t));
	ws->hist = (uint32_t *) p;
}

/*
 * Cut the ages up to the oldest window at grid points and windows.
 */
static void
cut_ages(Workspace *ws, const uint32_t *ages, int n)
{
	uint32_t	oldest = ages[n - 1];
	uint32_t	step = 0;
	int			window = 0;
	int			nfine = 0;
	uint32_t	age;

	while (window < n)
	{
		uint32_t	end = grid_end(step);
		Fine	   *f = &ws->fine[nfine++];

		f->end = end < ages[window] ? end : ages[window];
		f->ends_grid = (f->end == end);
		f->window = (f->end == ages[window]) ? window++ : -1;
		if (f->ends_grid)
			step++;
	}
	ws->nfine = nfine;

	ws->table_size = oldest < TABLE_SIZE - 1 ? oldest + 1 : TABLE_SIZE;
	age = 0;
	for (int i = 0; i < nfine && i <= UINT16_MAX; i++)
		for (; age < ws->table_size && age <= ws->fine[i].end; age++)
			ws->table[age] = (uint16_t) i;
}

/*
 * The fine step of an age not in the table.
 */
static int
search_fine(const Workspace *ws, uint32_t age)
{
	int			lo = 0;
	int			hi = ws->nfine - 1;

	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (ws->fine[mid].end < age)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * Count the cells of each level by the fine step in which they turn on.  A
 * cell that is younger than now was touched while we looked: it is of age 0.
 *
 * Whether a cell counts at all is a toss-up in the levels that matter, which
 * no processor can predict.  So the ages of those that do are packed first,
 * without a branch.
 */
static void
count_cells(Workspace *ws, const WsSketch *const *sketches, int nsketches,
			uint32_t now, uint32_t oldest)
{
	const WsSketch *sk = sketches[0];
	uint32_t	m = ws_sketch_m(sk);
	uint32_t	first = ws_load(&sk->floor);

	if (nsketches > 1 && ws_load(&sketches[1]->floor) > first)
		first = ws_load(&sketches[1]->floor);
	if (first < now && now - first > oldest)
		first = now - oldest;

	memset(ws->hist, 0, (size_t) sk->levels * ws->nfine * sizeof(uint32_t));

	for (uint32_t k = 0; k < sk->levels; k++)
	{
		const uint32_t *row = sk->cells + ((size_t) k << sk->log2m);
		const uint32_t *other = nsketches > 1 ?
			sketches[1]->cells + ((size_t) k << sk->log2m) : NULL;
		uint32_t   *hist = ws->hist + (size_t) k * ws->nfine;

		for (uint32_t j = 0; j < m; j += GROUP)
		{
			uint32_t	ages[GROUP];
			uint32_t	n = 0;

			for (uint32_t i = j; i < j + GROUP; i++)
			{
				uint32_t	tick = ws_load(&row[i]);

				if (other)
				{
					uint32_t	t2 = ws_load(&other[i]);

					tick = t2 > tick ? t2 : tick;
				}
				ages[n] = tick > now ? 0 : now - tick;
				n += tick >= first;
			}
			for (uint32_t i = 0; i < n; i++)
			{
				if (ages[i] < ws->table_size)
					hist[ws->table[ages[i]]]++;
				else
					hist[search_fine(ws, ages[i])]++;
			}
		}
	}
}

/* share of pages that go to level k, of K levels */
static inline double
level_share(int k, int K)
{
	return 1.0 / (UINT32_C(1) << (k < K - 1 ? k + 1 : K - 1));
}

typedef struct Increment
{
	double		pages;
	double		variance;
	bool		saturated;
} Increment;

/*
 * Solve one step: s[k] cells of level k turned on, z[k] stayed off.
 *
 * With phi(y) = y / (exp(y) - 1) and A = SUM z q, the equation of curve.h is
 * SUM s phi(x q) = A x.  On the logarithms of both sides, in u = log x, it is
 * so nearly straight that Newton needs two or three steps; y phi'(y) =
 * phi (1 - phi - y).  From the lowest share to the highest, y doubles with
 * each level, and exp(2y) - 1 = t (2 + t) where t = exp(y) - 1, so one
 * exponential serves all levels.
 */
static Increment
solve_step(const uint32_t *s, const uint32_t *z, int K, double m)
{
	Increment	inc = {0, 0, false};
	double		q_min = level_share(K - 1, K);
	double		S = 0;
	double		A = 0;
	double		B = 0;
	double		lo;
	double		hi;
	double		x;
	double		information;

	for (int k = 0; k < K; k++)
	{
		double		q = level_share(k, K);

		S += s[k];
		A += z[k] * q;
		B += s[k] * q;
	}
	if (S == 0)
		return inc;
	if (A == 0)
	{
		inc.saturated = true;
		return inc;
	}

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
		double		step;
		double		next;

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

		/* sum falls and A x rises with x: each look narrows the bracket */
		if (sum > A * x)
			lo = x;
		else
			hi = x;
		step = log(sum / (A * x)) / (1 - slope / sum);
		next = x * exp(step);
		if (!(next > lo && next < hi))
			next = 0.5 * (lo + hi);
		if (fabs(next - x) <= 1e-9 * x)
		{
			x = next;
			break;
		}
		x = next;
	}

	information = 0;
	for (int k = 0; k < K; k++)
	{
		double		y = x * level_share(k, K);

		/* beyond this, exp(y) is all there is and y^2/exp(y) is nothing */
		if (y < 500)
			information += (s[k] + (double) z[k]) * y * y / expm1(y);
	}

	inc.pages = m * x;
	inc.variance = inc.pages * inc.pages / information - inc.pages;
	if (!(inc.variance > 0))
		inc.variance = 0;
	return inc;
}

static WsEstimate
add(WsEstimate base, Increment inc)
{
	base.pages += inc.pages;
	base.variance += inc.variance;
	base.saturated |= inc.saturated;
	return base;
}

void
ws_curve_estimate(const WsSketch *const *sketches, int nsketches,
				  uint32_t now, const uint32_t *ages, int n,
				  WsEstimate *out, void *workspace)
{
	int			K = (int) sketches[0]->levels;
	double		m = ws_sketch_m(sketches[0]);
	uint32_t	s[WS_LEVELS_MAX];	/* cells turned on since the last grid point */
	uint32_t	z[WS_LEVELS_MAX];	/* cells still off */
	WsEstimate	base = {0, 0, false};	/* the estimate at the last grid point */
	Increment	inc = {0, 0, false};	/* the growth since then */
	bool		inc_known = true;	/* has it been solved for s? */
	Workspace	ws;

	if (n <= 0)
		return;

	lay_out(&ws, workspace, n);
	cut_ages(&ws, ages, n);
	count_cells(&ws, sketches, nsketches, now, ages[n - 1]);

	for (int k = 0; k < K; k++)
	{
		s[k] = 0;
		z[k] = (uint32_t) m;
	}

	for (int f = 0; f < ws.nfine; f++)
	{
		for (int k = 0; k < K; k++)
		{
			uint32_t	on = ws.hist[(size_t) k * ws.nfine + f];

			if (on > 0)
			{
				s[k] += on;
				z[k] -= on;
				inc_known = false;
			}
		}

		if (ws.fine[f].window < 0 && !ws.fine[f].ends_grid)
			continue;

		if (!inc_known)
		{
			inc = solve_step(s, z, K, m);
			inc_known = true;
		}
		if (ws.fine[f].window >= 0)
			out[ws.fine[f].window] = add(base, inc);
		if (ws.fine[f].ends_grid)
		{
			base = add(base, inc);
			memset(s, 0, sizeof(s));
			inc = (Increment) {0, 0, false};
		}
	}
}

void
ws_estimate_bounds(const WsEstimate *e, double *low, double *high)
{
	double		reach = 1.96 * sqrt(e->variance);

	*low = e->pages > reach ? floor(e->pages - reach) : 0;
	*high = e->saturated ? INFINITY : ceil(e->pages + reach);
}
