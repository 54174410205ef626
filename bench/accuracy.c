/*
 * accuracy.c
 *		How far from the truth is the sketch?
 *
 * One table: for sets of 100 to 100,000,000 pages and three numbers of
 * registers, the rms error, bias and coverage of the estimate for an hour and
 * for 20 minutes of it, when distinct pages arrive steadily through the hour
 * and 60 one-minute windows are asked for; beside them the same cells with
 * all pages in one tick, and HyperLogLog as others publish it.
 *
 * Direct simulation hashes every page.  That is out of reach for the largest
 * sets, so these are simulated cell by cell, without approximation:
 *
 *		Let the number of pages be Poisson instead of fixed, the pages being
 *		a Poisson process of rate 1 over a "page index" t, from the youngest
 *		at 0 to the oldest at n.  A page falls into the cell of level k and
 *		register j with probability p = q_k/m, independently of all others.
 *		Thinning a Poisson process yields independent ones: so each cell has
 *		its own process of rate p, the cells are independent, and the youngest
 *		page of a cell lies at an exponential t of mean 1/p.  If it is beyond
 *		n the cell stays off.  Pages arriving steadily, t tells the age.
 *
 *		What is still to know is the true number of pages up to an index T.
 *		It is the number of cells turned on by then, plus the pages that
 *		found their cell on already: given the cells, at index t they are a
 *		Poisson process of rate equal to the sum of p over the cells that are
 *		on.  So their number is Poisson with mean
 *
 *				SUM over cells of p (T - min(T, t_cell)) = T - SUM p min(T, t_cell)
 *
 *		and one draw gives the truth of this very sketch.  Nothing is
 *		approximate but the number of pages itself, which varies by its square
 *		root; errors are relative to the truth drawn.
 *
 * Neither way corrects for equal 32-bit hashes.  None is needed: a cell is
 * off exactly when no page's hash falls into it, and the pages' hashes are
 * independent whether or not some are equal.
 *
 * For 1,000,000 pages both ways are run, and must agree.
 *
 * A second table is about a busy server: pages are used at random, as lookup.c
 * records it.
 *
 * At last the time of a curve of 60 windows at the usual registers: in one pass as
 * the extension computes it, with one of its passes for each window, and in the
 * manner known from Neon, one pass of HyperLogLog with timestamps for each
 * window, written to be fast.
 */
#include "yardstick.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* to which trials are dealt, each with random numbers of its own: a seed always makes the same table */
#define PROCESSES	2

#define START		(WS_TICK_ORIGIN + 6)	/* a second begins */
#define MINUTE		(60 * WS_TICKS_PER_SECOND)
#define HOUR		(60 * MINUTE)
#define WINDOWS		60
#define MIDDLE		20			/* minutes */

/* the goals */
#define GOAL_ERROR			0.62
#define GOAL_BIAS			0.001
#define GOAL_COVERAGE_LOW	0.93
#define GOAL_COVERAGE_HIGH	0.98

/* makes the trials first, first + PROCESSES, ... and adds to the tallies */
typedef void (*MakeTrials) (const void *what, int first, int trials, Tally *tallies);

/*
 * Sets n tallies to the sums over the processes, which send theirs through pipes.
 */
static void
run_trials(MakeTrials make, const void *what, int trials, Tally *sums, int n)
{
	size_t		size = n * sizeof(Tally);
	Tally	   *part = calloc(n, sizeof(Tally));
	int			fd[PROCESSES];

	fflush(stdout);
	for (int p = 0; p < PROCESSES; p++)
	{
		int			ends[2];
		pid_t		pid;

		if (!part || pipe(ends) != 0 || (pid = fork()) < 0)
		{
			perror("trials");
			exit(2);
		}
		if (pid == 0)
		{
			make(what, p, trials, part);
			_exit(write(ends[1], part, size) != (ssize_t) size);
		}
		close(ends[1]);
		fd[p] = ends[0];
	}
	memset(sums, 0, size);
	for (int p = 0; p < PROCESSES; p++)
	{
		if (read(fd[p], part, size) != (ssize_t) size)
		{
			fprintf(stderr, "trials: a process failed\n");
			exit(2);
		}
		close(fd[p]);
		for (int i = 0; i < n; i++)
			tally_merge(&sums[i], &part[i]);
	}
	free(part);
	while (wait(NULL) > 0)
		;
}

/* all pages of the sketch as if they had been used just now */
static void
press(WsSketch *sk, uint32_t now)
{
	for (size_t c = 0; c < ws_ncells(sk->log2m); c++)
		if (sk->cells[c] > 0)
			sk->cells[c] = now;
}

static void *
workspace_of(uint32_t m)
{
	void	   *workspace = malloc(ws_curve_size(m));

	if (!workspace)
		abort();
	return workspace;
}

/* a miss is beyond its goal by this many standard errors */
#define K_SIGMA				3

typedef struct Result
{
	Tally		hour;
	Tally		middle;
	Tally		one_tick;
	Tally		yardstick;
} Result;

#define NTALLIES	((int) (sizeof(Result) / sizeof(Tally)))

typedef enum Method
{
	DIRECT,
	BY_CELLS
} Method;

/*
 * Everything that one trial needs, made once.
 */
typedef struct Lab
{
	uint32_t	m;
	WsSketch   *sk;
	uint32_t	ages[WINDOWS];
	WsEstimate	out[WINDOWS];
	void	   *workspace;
	uint64_t	seed;
} Lab;

static void
open_lab(Lab *lab, uint32_t m, uint64_t seed)
{
	lab->m = m;
	lab->sk = new_sketch(m, START);
	for (int i = 0; i < WINDOWS; i++)
		lab->ages[i] = (uint32_t) (i + 1) * MINUTE - 1;
	lab->workspace = workspace_of(m);
	lab->seed = seed;
}

static void
close_lab(Lab *lab)
{
	free(lab->sk);
	free(lab->workspace);
}

typedef struct Truth
{
	double		hour;
	double		middle;
} Truth;

/*
 * Page i of n, counted from the oldest, is used in tick i * HOUR / n.
 */
static Truth
simulate_directly(Lab *lab, double n)
{
	long		pages = (long) n;
	Truth		truth = {n, 0};

	for (long i = 0; i < pages; i++)
	{
		uint32_t	tick = (uint32_t) (i * HOUR / pages);

		ws_store(&lab->sk->present, START + tick);
		ws_sketch_touch(lab->sk, random32(&lab->seed));
		truth.middle += (tick >= HOUR - MIDDLE * MINUTE);
	}
	ws_sketch_advance(lab->sk, START + HOUR - 1);
	return truth;
}

/* for large means only, where Poisson and normal are the same */
static double
random_poisson(Lab *lab, double mean)
{
	return floor(mean + sqrt(mean) * random_normal(&lab->seed) + 0.5);
}

static Truth
simulate_by_cells(Lab *lab, double n)
{
	WsSketch   *sk = lab->sk;
	int			K = (int) ws_levels(sk->log2m);
	double		middle = n * MIDDLE / 60;
	double		on_middle = 0;	/* cells turned on */
	double		on_hour = 0;
	double		off_middle = 0; /* SUM p min(T, t) */
	double		off_hour = 0;
	double		repeats_middle;
	double		repeats_later;
	Truth		truth;

	ws_sketch_advance(sk, START + HOUR - 1);
	for (int k = 0; k < K; k++)
	{
		double		p = ldexp(1.0, k < K - 1 ? -(k + 1) : -(K - 1)) / lab->m;
		double		never = exp(-p * n);
		uint32_t   *row = sk->cells + (size_t) k * lab->m;

		for (uint32_t j = 0; j < lab->m; j++)
		{
			/* exp(-p t) is uniform */
			double		u = random_unit(&lab->seed);
			double		t;

			if (u < never)
			{
				off_middle += p * middle;
				off_hour += p * n;
				continue;
			}
			t = -log(u) / p;
			if (t < middle)
			{
				on_middle++;
				off_middle += p * t;
			}
			else
				off_middle += p * middle;
			on_hour++;
			off_hour += p * t;
			row[j] = sk->tick - (uint32_t) (t * HOUR / n);
		}
	}

	repeats_middle = middle - off_middle;
	repeats_later = (n - off_hour) - repeats_middle;
	truth.middle = on_middle + random_poisson(lab, repeats_middle);
	truth.hour = truth.middle + (on_hour - on_middle) +
		random_poisson(lab, repeats_later);
	return truth;
}

static void
run_trial(Lab *lab, double n, Method method, Result *result)
{
	const WsSketch *sketches[1] = {lab->sk};
	uint32_t	now = START + HOUR - 1;
	uint32_t	age = WS_PRESENT - 1;
	WsEstimate	e;
	Truth		truth;

	ws_sketch_init(lab->sk, lab->m, START);
	truth = method == DIRECT ? simulate_directly(lab, n) :
		simulate_by_cells(lab, n);

	ws_curve_estimate(sketches, 1, now, lab->ages, WINDOWS, lab->out,
					  lab->workspace);
	tally_estimate(&result->hour, &lab->out[WINDOWS - 1], truth.hour);
	tally_estimate(&result->middle, &lab->out[MIDDLE - 1], truth.middle);
	tally_error(&result->yardstick,
				yardstick_estimate(lab->sk, now, HOUR - 1), truth.hour);

	press(lab->sk, now);
	ws_curve_estimate(sketches, 1, now, &age, 1, &e, lab->workspace);
	tally_estimate(&result->one_tick, &e, truth.hour);
}

typedef struct Row
{
	double		n;
	uint32_t	m;
	Method		method;
	uint64_t	seed;
} Row;

static void
make_row(const void *what, int first, int trials, Tally *tallies)
{
	const Row  *row = what;
	Lab			lab;

	open_lab(&lab, row->m, mix64(row->seed * PROCESSES + first + 1));
	for (int i = first; i < trials; i += PROCESSES)
		run_trial(&lab, row->n, row->method, (Result *) tallies);
	close_lab(&lab);
}

static Result
run(uint32_t m, double n, Method method, int trials, uint64_t seed)
{
	Row			row = {n, m, method, seed};
	Result		result;

	run_trials(make_row, &row, trials, (Tally *) &result, NTALLIES);
	return result;
}

/*
 * Does a tally miss a goal?  Returns a mark for the table.
 *
 * Each number has noise, and misses when it is beyond its goal by more than
 * that; the usual trials are so many that noise is a fraction of the goal.
 * Bounds are rounded outward to whole pages, so their coverage has no upper
 * limit when a standard error is less than ten pages.
 */
static char
mark(const Tally *t, uint32_t m, double n)
{
	double		coverage = tally_coverage(t);
	double		se_low = sqrt(GOAL_COVERAGE_LOW * (1 - GOAL_COVERAGE_LOW) / t->trials);
	double		se_high = sqrt(GOAL_COVERAGE_HIGH * (1 - GOAL_COVERAGE_HIGH) / t->trials);

	if (tally_rms(t) * sqrt(m) > GOAL_ERROR * (1 + K_SIGMA / sqrt(2.0 * t->trials)))
		return '!';
	if (fabs(tally_bias(t)) > GOAL_BIAS + K_SIGMA * tally_bias_se(t))
		return '!';
	if (coverage < GOAL_COVERAGE_LOW - K_SIGMA * se_low)
		return '!';
	if (coverage > GOAL_COVERAGE_HIGH + K_SIGMA * se_high)
		return tally_rms(t) * n < 10 ? '*' : '!';
	return ' ';
}

static void
print_tally(const Tally *t, uint32_t m, double n, int *missed)
{
	char		c = mark(t, m, n);

	printf(" | %5.3f %+6.3f (%.3f) %5.1f%c", tally_rms(t) * sqrt(m),
		   100 * tally_bias(t), 100 * tally_bias_se(t),
		   100 * tally_coverage(t), c);
	*missed += (c == '!');
}

static void
print_row(double n, uint32_t m, Method method, const Result *r, int *missed)
{
	printf("%9.0f %6u %-6s %6d", n, m, method == DIRECT ? "pages" : "cells",
		   r->hour.trials);
	print_tally(&r->hour, m, n, missed);
	print_tally(&r->middle, m, n * MIDDLE / 60, missed);
	printf(" | %5.3f %+6.3f", tally_rms(&r->one_tick) * sqrt(m),
		   100 * tally_bias(&r->one_tick));
	printf(" | %5.3f %+6.3f\n", tally_rms(&r->yardstick) * sqrt(m),
		   100 * tally_bias(&r->yardstick));
	fflush(stdout);
}

/*
 * Do two ways of simulation agree?  An rms has relative standard error
 * 1/sqrt(2 N), a bias has rms/sqrt(N).
 */
static bool
agree(const char *name, uint32_t m, const Tally *a, const Tally *b)
{
	double		rms_z = (tally_rms(a) / tally_rms(b) - 1) /
		sqrt(0.5 / a->trials + 0.5 / b->trials);
	double		bias_z = (tally_bias(a) - tally_bias(b)) /
		hypot(tally_bias_se(a), tally_bias_se(b));

	printf("  m %5u, %-10s pages %.4f/sqrt(m) %+.3f %%, cells %.4f/sqrt(m) %+.3f %%; differ by %+.1f and %+.1f standard errors\n",
		   m, name, tally_rms(a) * sqrt(m), 100 * tally_bias(a),
		   tally_rms(b) * sqrt(m), 100 * tally_bias(b), rms_z, bias_z);
	return fabs(rms_z) < 4 && fabs(bias_z) < 4;
}

/*
 * HyperLogLog's estimate, as yardstick_estimate() has it, but fast: it follows
 * the layout of the matrix, so that the compiler turns it into vector
 * instructions, GROUP registers at a time, so that their ranks stay in the
 * first cache.
 */
#define GROUP		1024

static double
hll_estimate(const WsSketch *sk, uint32_t now, uint32_t age)
{
	uint32_t	m = ws_sketch_m(sk);
	uint32_t	first = now - age > sk->floor ? now - age : sk->floor;
	uint32_t	count[WS_LEVELS_MAX + 1] = {0};
	double		sum = 0;
	double		raw;

	for (uint32_t j = 0; j < m; j += GROUP)
	{
		uint32_t	rank[GROUP] = {0};

		for (uint32_t k = 0; k < ws_levels(sk->log2m); k++)
		{
			const uint32_t *row = sk->cells + ((size_t) k << sk->log2m) + j;

			/* ticks are less than 2^31 apart, and signed numbers compare faster */
			for (uint32_t i = 0; i < GROUP; i++)
				rank[i] = (int32_t) (row[i] - first) >= 0 ? k + 1 : rank[i];
		}
		for (uint32_t i = 0; i < GROUP; i++)
			count[rank[i]]++;
	}
	for (uint32_t r = 0; r <= ws_levels(sk->log2m); r++)
		sum += ldexp(count[r], -(int) r);
	raw = 0.7213 / (1 + 1.079 / m) * m * m / sum;
	if (raw <= 2.5 * m && count[0] > 0)
		return m * log((double) m / count[0]);
	return raw;
}

/*
 * Prints medians; the three ways take turns.  Returns false if they disagree.
 */
static bool
time_curve(uint64_t seed)
{
	enum {ONE_PASS, ONE_WINDOW, OUR_PASSES, HLL_PASSES, WAYS};
	enum {RUNS = 21};
	uint32_t	now = START + HOUR - 1;
	double		ms[WAYS][RUNS];
	double		hll[WINDOWS];
	WsEstimate	single[WINDOWS];
	const WsSketch *sk;
	Lab			lab;
	bool		same = true;

	open_lab(&lab, WS_REGISTERS_DEFAULT, seed);
	simulate_directly(&lab, 1e6);
	sk = lab.sk;
	for (int run = 0; run < RUNS; run++)
		for (int way = 0; way < WAYS; way++)
		{
			double		start = clock_ms();

			if (way == ONE_PASS)
				ws_curve_estimate(&sk, 1, now, lab.ages, WINDOWS, lab.out, lab.workspace);
			if (way == ONE_WINDOW)
				ws_curve_estimate(&sk, 1, now, lab.ages, 1, single, lab.workspace);
			for (int i = 0; i < WINDOWS && way == OUR_PASSES; i++)
				ws_curve_estimate(&sk, 1, now, &lab.ages[i], 1, &single[i], lab.workspace);
			for (int i = 0; i < WINDOWS && way == HLL_PASSES; i++)
				hll[i] = hll_estimate(sk, now, lab.ages[i]);
			ms[way][run] = clock_ms() - start;
		}
	for (int i = 0; i < WINDOWS; i++)
		same &= single[i].pages == lab.out[i].pages &&
			fabs(hll[i] / yardstick_estimate(sk, now, lab.ages[i]) - 1) < 1e-9;
	printf("60 windows of %d registers, milliseconds (medians of %d): one pass %.3f (goal 1), the first window\n"
		   "alone %.3f, a pass for each window %.3f, a pass of HyperLogLog for each %.3f; the estimates %s\n",
		   WS_REGISTERS_DEFAULT, RUNS, median(ms[ONE_PASS], RUNS), median(ms[ONE_WINDOW], RUNS), median(ms[OUR_PASSES], RUNS), median(ms[HLL_PASSES], RUNS),
		   same ? "are the same" : "DIFFER");
	close_lab(&lab);
	return same;
}

/* ---------------------------------------------------------------- a busy server */

/*
 * A quarter of the pages, and of the registers: errors and shares are the same as
 * for all of them.
 */
#define BUSY_M		1024
#define BUSY_PART	(WS_REGISTERS_DEFAULT / BUSY_M)
#define BUSY_TICKS	(61 * WS_TICKS_PER_SECOND)

static const int busy_windows[] = {10, 20, 50, 100, 200, 600};	/* ticks */

#define BUSY_WINDOWS	((int) (sizeof(busy_windows) / sizeof(int)))

typedef struct Busy
{
	int			pages;
	int			rate;			/* uses a second */
	int			trials;
} Busy;

/* Tallies of each window, and of the uses that found a mark */
#define BUSY_TALLIES	(BUSY_WINDOWS + 1)

static void
busy_trial(const Busy *busy, WsSketch *sk, uint32_t *last, void *workspace, uint64_t *seed, Tally *tallies)
{
	const WsSketch *sketch = sk;
	uint32_t	pages = (uint32_t) busy->pages / BUSY_PART;
	long		uses = busy->rate / BUSY_PART / WS_TICKS_PER_SECOND;
	long		counts[BUSY_TICKS];
	long		marked;

	/* it ends at any tick of a second */
	ws_sketch_init(sk, BUSY_M, START + random_below(seed, WS_PRESENT));
	marked = use_at_random(sk, uses, BUSY_TICKS, last, pages, seed);
	tally_error(&tallies[BUSY_WINDOWS], marked, uses * BUSY_TICKS);
	count_used(last, pages, BUSY_TICKS, counts);
	for (int w = 0; w < BUSY_WINDOWS; w++)
	{
		uint32_t	age = (uint32_t) busy_windows[w] - 1;
		WsEstimate	e;

		ws_curve_estimate(&sketch, 1, sk->tick, &age, 1, &e, workspace);
		tally_estimate(&tallies[w], &e, counts[age]);
	}
}

static void
make_busy(const void *what, int first, int trials, Tally *tallies)
{
	const Busy *busy = what;
	WsSketch   *sk = new_sketch(BUSY_M, START);
	uint32_t   *last = malloc(busy->pages / BUSY_PART * sizeof(uint32_t));
	void	   *workspace = workspace_of(BUSY_M);
	uint64_t	seed = mix64((uint64_t) (busy->rate + busy->pages) * PROCESSES + first);

	if (!last)
		abort();
	for (int i = first; i < trials; i += PROCESSES)
		busy_trial(busy, sk, last, workspace, &seed, tallies);
	free(sk);
	free(last);
	free(workspace);
}

/* Returns how many goals of windows of five seconds and more are missed. */
static int
print_busy(int percent)
{
	static const Busy rows[] = {
		{2000000, 20000, 300}, {2000000, 100000, 300}, {2000000, 400000, 300}, {2000000, 1000000, 200},
		{2000000, 5000000, 50}, {2000000, 10000000, 50},
		{40000, 20000, 300}, {40000, 100000, 300}, {40000, 400000, 300}, {40000, 1000000, 300},
		{40000, 5000000, 50},
		{10000, 400000, 300},
	};
	int			missed = 0;

	printf("Random uses of so many pages, %d registers: err, bias, cover.  short: share of uses that find a mark.\n\n",
		   WS_REGISTERS_DEFAULT);
	printf("  pages uses a second trials short");
	for (int w = 0; w < BUSY_WINDOWS; w++)
		printf(" | %4.1f s           ", busy_windows[w] / (double) WS_TICKS_PER_SECOND);
	printf("\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		Tally		tallies[BUSY_TALLIES];
		int			n = rows[i].trials * percent / 100;

		run_trials(make_busy, &rows[i], n, tallies, BUSY_TALLIES);
		printf("%7d %13d %6d %5.2f", rows[i].pages, rows[i].rate, n, 1 + tally_bias(&tallies[BUSY_WINDOWS]));
		for (int w = 0; w < BUSY_WINDOWS; w++)
		{
			const Tally *t = &tallies[w];
			char		c = busy_windows[w] < 5 * WS_TICKS_PER_SECOND ? ' ' : mark(t, BUSY_M, rows[i].pages);

			printf(" | %5.3f %+6.3f %5.1f%c", tally_rms(t) * sqrt(BUSY_M),
				   100 * tally_bias(t), 100 * tally_coverage(t), c);
			missed += c == '!';
		}
		printf("\n");
		fflush(stdout);
	}
	printf("\n");
	return missed;
}

int
main(int argc, char **argv)
{
	static const uint32_t registers[] = {1024, 4096, 16384};

	/* so many that the standard error of the bias is 0.02 % or less */
	static const int trials[] = {12000, 5000, 3000};
	static const double pages[] = {1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int			percent = argc > 2 ? atoi(argv[2]) : 100;
	Result		directly[3];
	Result		by_cells[3];
	int			missed = 0;
	bool		agreed = true;
	time_t		began = time(NULL);

	printf("seed %llu, %d %% of the usual trials, %d processes\n\n",
		   (unsigned long long) seed, percent, PROCESSES);
	printf("Distinct pages arriving steadily over an hour.  err is the rms error times sqrt(m);\n"
		   "bias, its standard error and cover (of the 95 %% bounds) are in %%.\n\n");
	printf("                                | 60 minutes of 60            | 20 minutes of 60            | one tick     | HyperLogLog\n");
	printf("    pages      m method trials  | err     bias (s.e.)   cover | err     bias (s.e.)   cover | err     bias | err     bias\n");

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
	{
		for (int g = 0; g < 3; g++)
		{
			double		n = pages[i];
			uint32_t	m = registers[g];
			int			t = (int) ((long) trials[g] * percent / 100);
			uint64_t	s = seed * 1000 + i * 10 + g;
			Result		r;

			if (n <= 1e6)
			{
				r = run(m, n, DIRECT, t, s);
				print_row(n, m, DIRECT, &r, &missed);
				directly[g] = r;
			}
			if (n >= 1e6)
			{
				r = run(m, n, BY_CELLS, t, s + 500);
				print_row(n, m, BY_CELLS, &r, &missed);
				if (n == 1e6)
					by_cells[g] = r;
			}
		}
	}
	printf("    theory, large sets          | %5.3f                       | %5.3f                       | %5.3f        | %5.3f\n\n",
		   THEORY_MARTINGALE, THEORY_MARTINGALE, THEORY_ML, THEORY_HLL);
	printf("* not counted: a standard error is less than ten pages, and bounds rounded outward to\n"
		   "  whole pages cover more than 95 %%.\n");
	printf("! misses a goal by more than %d standard errors: err <= %.2f, |bias| < %.1f %%, cover %.0f-%.0f %%.\n"
		   "  Goals are for the two windows; one tick and HyperLogLog are for comparison.\n\n",
		   K_SIGMA, GOAL_ERROR, 100 * GOAL_BIAS, 100 * GOAL_COVERAGE_LOW,
		   100 * GOAL_COVERAGE_HIGH);

	printf("Simulation page by page against simulation by cells, 1,000,000 pages:\n");
	for (int g = 0; g < 3; g++)
	{
		uint32_t	m = registers[g];

		agreed &= agree("60 minutes", m, &directly[g].hour, &by_cells[g].hour);
		agreed &= agree("20 minutes", m, &directly[g].middle, &by_cells[g].middle);
		agreed &= agree("one tick", m, &directly[g].one_tick, &by_cells[g].one_tick);
		agreed &= agree("yardstick", m, &directly[g].yardstick, &by_cells[g].yardstick);
	}
	printf("\n");
	missed += print_busy(percent);
	agreed &= time_curve(seed);
	printf("\n%d goals missed, simulations %s, %ld s\n", missed,
		   agreed ? "agree" : "DO NOT agree", (long) (time(NULL) - began));
	return missed > 0 || !agreed;
}
