/*
 * curve.c
 *		What does a curve of many windows cost?
 *
 * Three ways to it, from the same cells:
 *
 *	one pass	ws_curve_estimate() of curve.c, as the extension calls it: all
 *				windows from one pass over the matrix.
 *	our passes	the same function called once for each window.  The answers
 *				must be the same to the last bit.
 *	HLL passes	the practice known for HyperLogLog with timestamps: one pass for
 *				each window, that finds for each register the highest level
 *				whose cell is younger, and HyperLogLog's estimate from these.
 *				Written to be fast: it follows the layout of the matrix, so
 *				that the compiler turns it into vector instructions, and needs
 *				no power and no logarithm for a register.  It reads the cells
 *				plainly, which spares it what relaxed atomics cost ours.
 *
 * The matrix is filled as by an hour of look-ups of 1,000,000 pages by Zipf's
 * law, so that there are cells of all ages.  Only the last use of a page
 * matters for that, so the hour is drawn once and all matrices follow from it;
 * so does the truth, which both estimators have to meet within five standard
 * errors.  (HyperLogLog is known to be biased where the pages are between two
 * and six times the registers; windows there are left out for it.)
 *
 * Timing.  The matrix lies in shared memory as the server's does, and the
 * workspace is allocated beforehand.  "warm": three untimed calls of the one pass
 * come just before, so that matrix and workspace are in the caches as far as
 * they fit.  "cold": a buffer is written through just before, so that they are
 * not in the caches that are smaller than it, as a backend finds them that asks
 * once a minute; of many passes only the first is cold.  All combinations take
 * turns in rounds, in another order each round, so that a drift of the
 * processor's clock meets all alike.  What takes long takes part in fewer rounds.
 *
 * With WS_BENCH_MODULE this is instead a library to be preloaded into a server
 * after working_set, which gives the clients' sketch the same hour for its past,
 * so that SQL can be timed on it.
 */
#ifdef WS_BENCH_MODULE
#include "postgres.h"

#include "fmgr.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"

#include "shmem.h"
#endif

#include "yardstick.h"

#include <stdio.h>
#include <string.h>

#define PAGES		1000000
#define EXPONENT	0.99
#define HITS		20000		/* a second */
#define HOUR		(3600 * WS_TICKS_PER_SECOND)
#define NEVER		UINT32_MAX

static void *
memory(size_t size)
{
	void	   *p = malloc(size);

	if (!p)
		abort();
	return p;
}

/*
 * Zipf's law by the alias method (Walker 1977; Vose 1991).
 */
typedef struct Urn
{
	float		keep;
	uint32_t	alias;
} Urn;

static Urn *
make_zipf(void)
{
	Urn		   *urns = memory(PAGES * sizeof(Urn));
	double	   *p = memory(PAGES * sizeof(double));
	uint32_t   *few = memory(PAGES * sizeof(uint32_t));
	uint32_t   *many = memory(PAGES * sizeof(uint32_t));
	uint32_t	nfew = 0;
	uint32_t	nmany = 0;
	double		sum = 0;

	for (uint32_t i = 0; i < PAGES; i++)
		sum += p[i] = pow(i + 1, -EXPONENT);
	for (uint32_t i = 0; i < PAGES; i++)
	{
		p[i] *= PAGES / sum;
		urns[i] = (Urn) {1, i};
		if (p[i] < 1)
			few[nfew++] = i;
		else
			many[nmany++] = i;
	}
	while (nfew > 0 && nmany > 0)
	{
		uint32_t	i = few[--nfew];
		uint32_t	j = many[--nmany];

		urns[i] = (Urn) {(float) p[i], j};
		p[j] -= 1 - p[i];
		if (p[j] < 1)
			few[nfew++] = j;
		else
			many[nmany++] = j;
	}
	free(p);
	free(few);
	free(many);
	return urns;
}

/*
 * How many ticks ago was each page last used, at the end of the hour?
 */
static uint32_t *
make_hour(uint64_t seed)
{
	Urn		   *urns = make_zipf();
	uint32_t   *ages = memory(PAGES * sizeof(uint32_t));

	for (uint32_t i = 0; i < PAGES; i++)
		ages[i] = NEVER;
	for (uint32_t age = HOUR; age-- > 0;)
	{
		for (int n = 0; n < HITS / WS_TICKS_PER_SECOND; n++)
		{
			uint64_t	r = random64(&seed);
			uint32_t	i = (uint32_t) (((r >> 32) * PAGES) >> 32);

			/* the two halves of r are independent */
			if ((uint32_t) r * 0x1p-32f >= urns[i].keep)
				i = urns[i].alias;
			ages[i] = age;
		}
	}
	free(urns);
	return ages;
}

/*
 * Let the sketch, an empty one, have seen that hour.
 */
static void
see_hour(WsSketch *sk, const uint32_t *ages, uint64_t seed)
{
	uint32_t	now = ws_load(&sk->tick);

	ws_store(&sk->floor, now - HOUR);
	for (uint32_t i = 0; i < PAGES; i++)
	{
		uint32_t	hash = (uint32_t) (mix64(seed ^ (i + 1) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
		uint32_t   *cell = &sk->cells[ws_sketch_cell(sk, hash)];

		if (ages[i] != NEVER && *cell < now - ages[i])
			ws_store(cell, now - ages[i]);
	}
}

#ifdef WS_BENCH_MODULE

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static int
setting(const char *name)
{
	const char *value = GetConfigOption(name, true, false);

	if (!value)
		elog(FATAL, "%s is not set", name);
	return atoi(value);
}

static void
give_past(void)
{
	uint64_t	seed = setting("ws_bench_curve.seed");
	uint32_t   *ages;
	bool		found;
	WsShared   *shared;

	/* as ws_shmem_size() at the default settings otherwise; another size is refused */
	Size		size = 64 + TYPEALIGN(64, sizeof(WsShared)) +
		WS_NKINDS * ws_sketch_size(setting("working_set.registers")) +
		TYPEALIGN(64, ws_stream_size(WS_STREAM_PLACES)) +
		TYPEALIGN(64, ws_sampler_size(WS_SAMPLE_PAGES_DEFAULT)) +
		2 * WS_SAMPLE_PAGES_DEFAULT * sizeof(uint64);

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	/* by its name and size, as working_set itself finds it */
	shared = (WsShared *) TYPEALIGN(64, ShmemInitStruct("working_set", size, &found));
	if (!found || !shared->attached)
		elog(FATAL, "working_set is not attached");
	ages = make_hour(seed);
	see_hour(shared->sketch[WS_CLIENT], ages, seed);
	free(ages);
}

void
_PG_init(void)
{
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = give_past;
}

#else							/* the program */

#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_WINDOWS	3600

/* the goal: 60 windows at the default geometry, in ms */
#define GOAL_MS		1.0

/* statistical checks allow so many standard errors */
#define K_SIGMA		5

/* untimed calls before a warm one */
#define WARM_UPS	3

/* registers that HyperLogLog looks at together */
#define GROUP		1024

typedef enum Way
{
	ONE_PASS,
	HLL_PASSES,
	OUR_PASSES,
	NWAYS
} Way;

static const char *const way_names[] = {"one pass", "HLL passes", "our passes"};

typedef struct Case
{
	const WsSketch *sk;
	uint32_t	now;
	int			n;				/* windows */
	uint32_t   *ages;			/* of them, in ticks before now */
	void	   *workspace;
} Case;

/*
 * One way for one case, with the matrix warm or cold.
 */
typedef struct Item
{
	const Case *c;
	Way			way;
	bool		cold;
	int			runs;
	int			done;
	double	   *ms;
} Item;

/* what was computed, so that the compiler cannot leave it out */
static volatile double checksum;

static double
clock_ms(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec * 1e-6;
}

static double
now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/* of what is timed: how long it took, and for how long we had the processor */
static double total_ms;
static double processor_ms;

/*
 * HyperLogLog's estimate, as yardstick_estimate() has it, but fast.  GROUP
 * registers at a time, so that their ranks stay in the first cache.
 */
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

		for (uint32_t k = 0; k < sk->levels; k++)
		{
			const uint32_t *row = sk->cells + ((size_t) k << sk->log2m) + j;

			/* ticks are less than 2^31 apart, and signed numbers compare faster */
			for (uint32_t i = 0; i < GROUP; i++)
				rank[i] = (int32_t) (row[i] - first) >= 0 ? k + 1 : rank[i];
		}
		for (uint32_t i = 0; i < GROUP; i++)
			count[rank[i]]++;
	}

	for (uint32_t r = 0; r <= sk->levels; r++)
		sum += count[r] / (double) (UINT32_C(1) << r);
	raw = 0.7213 / (1 + 1.079 / m) * m * m / sum;
	if (raw <= 2.5 * m && count[0] > 0)
		return m * log((double) m / count[0]);
	if (raw > 0x1p32 / 30)
		return -0x1p32 * log(1 - raw / 0x1p32);
	return raw;
}

/*
 * The curve of a case in one of the ways.
 */
static void
compute(const Case *c, Way way, WsEstimate *out)
{
	switch (way)
	{
		case ONE_PASS:
			ws_curve_estimate(&c->sk, 1, c->now, c->ages, c->n, out, c->workspace);
			break;
		case OUR_PASSES:
			for (int i = 0; i < c->n; i++)
				ws_curve_estimate(&c->sk, 1, c->now, &c->ages[i], 1, &out[i], c->workspace);
			break;
		case HLL_PASSES:
			for (int i = 0; i < c->n; i++)
				out[i].pages = hll_estimate(c->sk, c->now, c->ages[i]);
			break;
		case NWAYS:
			break;
	}
}

static double
time_it(const Case *c, Way way)
{
	static WsEstimate out[MAX_WINDOWS];
	double		processor = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
	double		start = now_ms();
	double		took;

	compute(c, way, out);
	took = now_ms() - start;
	processor_ms += clock_ms(CLOCK_PROCESS_CPUTIME_ID) - processor;
	total_ms += took;
	for (int i = 0; i < c->n; i++)
		checksum += out[i].pages;
	return took;
}

static unsigned char *evictor;
static size_t evictor_size;

static void
evict(void)
{
	static unsigned char value;

	value++;
	for (size_t i = 0; i < evictor_size; i += 64)
		((volatile unsigned char *) evictor)[i] = value;
}

static void
measure(Item *item)
{
	if (item->cold)
		evict();
	for (int i = 0; i < WARM_UPS && !item->cold; i++)
		time_it(item->c, ONE_PASS);
	item->ms[item->done++] = time_it(item->c, item->way);
}

static void *
shared_memory(size_t size)
{
	void	   *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/*
 * Do the ways agree with each other, and with the truth?
 */
static bool
check(const Case *c, const uint32_t *page_ages)
{
	uint32_t	m = ws_sketch_m(c->sk);
	WsEstimate *one = memory(c->n * sizeof(WsEstimate));
	WsEstimate *single = memory(c->n * sizeof(WsEstimate));
	WsEstimate *hll = memory(c->n * sizeof(WsEstimate));
	uint32_t   *used = calloc(HOUR + 1, sizeof(uint32_t));
	uint32_t	truth = 0;
	uint32_t	age = 0;
	double		worst = 0;
	double		worst_hll = 0;
	int			differ = 0;
	int			judged = 0;
	bool		fine;

	if (!used)
		abort();
	for (uint32_t i = 0; i < PAGES; i++)
		if (page_ages[i] != NEVER)
			used[page_ages[i]]++;

	compute(c, ONE_PASS, one);
	compute(c, OUR_PASSES, single);
	compute(c, HLL_PASSES, hll);
	for (int i = 0; i < c->n; i++)
	{
		double		error;

		for (; age <= c->ages[i]; age++)
			truth += used[age];

		differ += memcmp(&one[i].pages, &single[i].pages, sizeof(double)) != 0 ||
			memcmp(&one[i].variance, &single[i].variance, sizeof(double)) != 0;
		error = fabs(one[i].pages / truth - 1) * sqrt(m) / THEORY_MARTINGALE;
		worst = error > worst ? error : worst;

		/* that one is slow */
		if (i % (c->n / 60) == 0 &&
			fabs(hll[i].pages - yardstick_estimate(c->sk, c->now, c->ages[i])) > 1e-9 * hll[i].pages)
			differ++;
		if (truth > 2.0 * m && truth < 6.0 * m)
			continue;
		error = fabs(hll[i].pages / truth - 1) * sqrt(m) / THEORY_HLL;
		worst_hll = error > worst_hll ? error : worst_hll;
		judged++;
	}
	fine = differ == 0 && worst < K_SIGMA && worst_hll < K_SIGMA && judged > 0;
	printf("%9u %8d %11.0f %11.0f %11u %9.2f %13.2f of %4d %10s\n", m, c->n, one[c->n - 1].pages,
		   hll[c->n - 1].pages, truth, worst, worst_hll, judged,
		   differ > 0 ? "NOT SAME" : fine ? "ok" : "WRONG");
	free(one);
	free(single);
	free(hll);
	free(used);
	return fine;
}

static int
compare_double(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* of sorted values, between two of them where need be */
static double
quantile(const double *sorted, int n, double q)
{
	double		at = q * (n - 1);
	int			i = (int) at;

	return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
}

static double
median(const Item *item)
{
	return quantile(item->ms, item->done, 0.5);
}

static void
print_times(const Item *item)
{
	printf(" | %8.3f %8.3f %8.3f", median(item),
		   quantile(item->ms, item->done, 0.25), quantile(item->ms, item->done, 0.75));
	if (!item->cold)
		printf(" %8.3f %8.3f", item->ms[0], item->ms[item->done - 1]);
}

/*
 * How old are the cells?
 */
static void
print_ages(const WsSketch *sk)
{
	static const uint32_t limits[] = {10, 100, 600, 6000, HOUR};
	size_t		ncells = ws_sketch_ncells(sk);
	size_t		count[6] = {0};

	for (size_t i = 0; i < ncells; i++)
	{
		int			a = 0;

		while (a < 5 && (sk->cells[i] == 0 || sk->tick - sk->cells[i] >= limits[a]))
			a++;
		count[a]++;
	}
	printf("%9u %8.0f", ws_sketch_m(sk), ws_sketch_size(ws_sketch_m(sk)) / 1024.0);
	for (int a = 0; a < 6; a++)
		printf(" %9.1f", 100.0 * count[a] / ncells);
	printf("\n");
}

static long
kilobytes(int name)
{
	long		bytes = sysconf(name);

	return bytes > 0 ? bytes / 1024 : 0;
}

/*
 * Arguments: seed, runs, seconds for a way and case, MB of the evicting buffer.
 */
int
main(int argc, char **argv)
{
	static const uint32_t registers[] = {1024, 4096, 16384, 65536};
	static const int windows[] = {60, 3600};
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int			runs = argc > 2 ? atoi(argv[2]) : 21;
	double		budget = argc > 3 ? atof(argv[3]) : 3;
	size_t		megabytes = argc > 4 ? strtoull(argv[4], NULL, 10) : 64;
	uint32_t   *page_ages;
	WsSketch   *sketches[4];
	Case		cases[8];
	Item		items[8 * NWAYS * 2];
	Item	   *order[8 * NWAYS * 2];
	int			ncases = 0;
	int			nitems = 0;
	bool		fine = true;
	bool		fewer = false;
	double		began = now_ms();

	evictor_size = megabytes << 20;
	evictor = shared_memory(evictor_size);
	page_ages = make_hour(seed);

	printf("Caches:   L1 %ld kB, L2 %ld kB, L3 %ld kB; \"cold\" is after writing %zu MB%s\n",
		   kilobytes(_SC_LEVEL1_DCACHE_SIZE), kilobytes(_SC_LEVEL2_CACHE_SIZE),
		   kilobytes(_SC_LEVEL3_CACHE_SIZE), megabytes,
		   kilobytes(_SC_LEVEL3_CACHE_SIZE) > (long) megabytes << 10 ?
		   ", so not in L2, but perhaps in L3" : "");
	printf("Filled:   an hour of %d look-ups a second, Zipf %.2f over %d pages, seed %llu\n\n",
		   HITS, EXPONENT, PAGES, (unsigned long long) seed);

	printf("Share of cells by age, in %%:\n");
	printf("registers       kB      <1 s     <10 s    <1 min   <10 min      <1 h     never\n");
	for (int g = 0; g < 4; g++)
	{
		sketches[g] = shared_memory(ws_sketch_size(registers[g]));
		ws_sketch_init(sketches[g], registers[g], WS_TICK_ORIGIN + HOUR);
		see_hour(sketches[g], page_ages, seed);
		print_ages(sketches[g]);
	}

	printf("\nThe longest window, and the largest error of all in standard errors (%d allowed).  One\n"
		   "pass and passes of ours must be the same to the last bit:\n", K_SIGMA);
	printf("registers  windows        ours         HLL       truth  of ours        of HLL, of windows\n");
	for (int g = 0; g < 4; g++)
	{
		for (int w = 0; w < 2; w++)
		{
			Case	   *c = &cases[ncases++];

			c->sk = sketches[g];
			c->now = sketches[g]->tick;
			c->n = windows[w];
			c->ages = memory(c->n * sizeof(uint32_t));
			for (int i = 0; i < c->n; i++)
				c->ages[i] = (uint32_t) (i + 1) * (HOUR / c->n) - 1;
			c->workspace = memory(ws_curve_size(ws_sketch_m(c->sk)));
			fine &= check(c, page_ages);
		}
	}

	/* one run tells how many there is time for */
	for (int i = 0; i < ncases; i++)
	{
		for (int way = 0; way < NWAYS; way++)
		{
			double		fit = budget * 1000 / (2 * time_it(&cases[i], way));
			int			n = fit < 3 ? 3 : fit < runs ? (int) fit : runs;

			n = n < runs ? n : runs;
			fewer |= n < runs;
			for (int cold = 0; cold < 2; cold++)
				items[nitems++] = (Item) {&cases[i], way, cold, n, 0, memory(n * sizeof(double))};
		}
	}

	for (int i = 0; i < nitems; i++)
		order[i] = &items[i];
	for (int round = 0; round < runs; round++)
	{
		for (int i = nitems - 1; i > 0; i--)
		{
			int			j = (int) random_below(&seed, i + 1);
			Item	   *swap = order[i];

			order[i] = order[j];
			order[j] = swap;
		}
		/* fewer runs are spread over the rounds */
		for (int i = 0; i < nitems; i++)
			if ((round + 1) * order[i]->runs / runs > round * order[i]->runs / runs)
				measure(order[i]);
	}
	for (int i = 0; i < nitems; i++)
		qsort(items[i].ms, items[i].done, sizeof(double), compare_double);

	printf("\nMilliseconds for the whole curve, and how many times those of the one pass (medians):\n");
	printf("                              |                    warm                      |            cold            | times one pass |\n");
	printf("registers  windows  way       |   median    quartiles          min       max |   median    quartiles       |   warm   cold  | runs\n");
	for (int i = 0; i < nitems; i += 2)
	{
		const Item *warm = &items[i];
		const Item *cold = warm + 1;
		const Item *one = warm - 2 * warm->way;

		printf("%9u %8d  %-10s", ws_sketch_m(warm->c->sk), warm->c->n, way_names[warm->way]);
		print_times(warm);
		print_times(cold);
		printf(" | %6.1f %6.1f  | %4d\n", median(warm) / median(one), median(cold) / median(one + 1),
			   warm->runs);
	}
	for (int i = 0; i < nitems; i += 2 * NWAYS)
	{
		const Item *one = &items[i];

		if (ws_sketch_m(one->c->sk) != WS_REGISTERS_DEFAULT || one->c->n != 60)
			continue;
		printf("\nGoal for %d windows of %d registers %.0f ms: %.3f warm (%s), %.3f cold (%s).  A single window\n"
			   "takes ours %.3f ms and HyperLogLog %.3f (warm, a sixtieth of the passes).\n",
			   one->c->n, WS_REGISTERS_DEFAULT, GOAL_MS,
			   median(one), median(one) <= GOAL_MS ? "met" : "MISSED",
			   median(one + 1), median(one + 1) <= GOAL_MS ? "met" : "MISSED",
			   median(one + 2 * OUR_PASSES) / 60, median(one + 2 * HLL_PASSES) / 60);
	}
	if (fewer)
		printf("Fewer runs where there was no time for %d.\n", runs);
	printf("The process had a processor for %.1f %% of the time measured%s.\n", 100 * processor_ms / total_ms,
		   processor_ms < 0.97 * total_ms ? ": others were busy, and what takes long is shown too slow" : "");
	printf("%s, checksum %.6e, %.0f s\n", fine ? "All estimates agree" : "Estimates DO NOT agree",
		   checksum, (now_ms() - began) / 1000);
	return !fine;
}

#endif
