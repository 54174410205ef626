/*
 * sweep_t.c
 *		Tests of the miniature clock sweeps: against naive caches of full size,
 *		access by access where all pages are seen, and within the error of
 *		sampling where some are.
 *
 * Seeds are fixed, so a run either always passes or always fails.  Where an
 * assertion is about random numbers its bound is K_SIGMA standard errors, by
 * the formula beside it.
 */
#include "tap.h"
#include "sweep.h"
#include "sweep_check.h"
#include "traces.h"

#define K_SIGMA 5
#define ALL WS_SWEEP_SIZES

static WsSweep *
new_sweep(uint32_t pages, double buffers)
{
	WsSweep    *sweep = aligned_memory(ws_sweep_size(pages));

	ws_sweep_init(sweep, pages);
	ws_sweep_resize(sweep, buffers);
	return sweep;
}

static void
set_ring(WsSweep *sweep, WsRing ring, double buffers)
{
	double		each[ALL];

	for (int i = 0; i < ALL; i++)
		each[i] = buffers;
	ws_sweep_set_rings(sweep, ring, each);
}

/* a plain access */
static uint32_t
use(WsSweep *sweep, uint32_t page)
{
	WsAccess	access = {.page = page};

	return ws_sweep_access(sweep, &access);
}

/* one of a scan by this process, through a ring at these sizes */
static uint32_t
scan(WsSweep *sweep, uint32_t page, uint32_t ringed, uint32_t process, uint32_t block)
{
	WsAccess	access = {page, ringed, WS_RING_READ, process, 1, block};

	return ws_sweep_access(sweep, &access);
}

static bool
held(const WsSweep *sweep, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!ws_sweep_holds(sweep, first + i))
			return false;
	return true;
}

static void
test_sizes(void)
{
	WsSweep    *sweep = new_sweep(1000, 100);
	bool		fine = true;
	int			present = 0;

	for (int i = 0; i < ALL; i++)
	{
		fine &= i == 0 || ws_sweep_factors[i] > ws_sweep_factors[i - 1];
		present += ws_sweep_factors[i] == 1 && i == WS_SWEEP_PRESENT;
	}
	ok(fine && present == 1 && ws_sweep_factors[0] == 0.1 && ws_sweep_factors[ALL - 1] == 4,
	   "sizes ascend from a tenth to four times the present one");

	for (int i = 0; i < ALL; i++)
		fine &= fabs(ws_sweep_buffers(sweep, i) - 100 * ws_sweep_factors[i]) <= 0.5 &&
			sweep_filled(sweep, i) == 0;
	ok(fine && sweep_check(sweep) == NULL && !ws_sweep_holds(sweep, 0),
	   "caches are of these sizes, and empty");
	ws_sweep_resize(sweep, 0.001);
	for (int i = 0; i < ALL; i++)
		fine &= ws_sweep_buffers(sweep, i) == 1;
	ok(fine, "each has one buffer at least");
	ws_sweep_resize(sweep, 1e12);
	for (int i = 0; i < ALL; i++)
		fine &= ws_sweep_buffers(sweep, i) == 1000;
	ok(fine && sweep_check(sweep) == NULL, "and one for each page at most");
	free(sweep);
}

/*
 * ----------------------------------------------------------------
 * Access by access
 * ----------------------------------------------------------------
 */

/*
 * The pages of a trace, from a rule.
 */
typedef enum Rule
{
	UNIFORM,
	ZIPF,
	LOOP,
	PHASES,						/* half of the pages for a while, then others */
	MIXED						/* Zipf, with a loop going on slowly */
} Rule;

typedef struct Trace
{
	Rule		rule;
	uint32_t	n;
	Zipf	   *zipf;
	uint64_t	seed;
	uint32_t	i;
} Trace;

static Trace
trace_of(Rule rule, uint32_t n, uint64_t seed)
{
	return (Trace) {rule, n, zipf_new(n, 0.9), seed, 0};
}

static uint32_t
next_page(Trace *t)
{
	uint32_t	i = t->i++;

	switch (t->rule)
	{
		case UNIFORM:
			return random_below(&t->seed, t->n);
		case ZIPF:
			return zipf_draw(t->zipf, &t->seed);
		case LOOP:
			return i % t->n;
		case PHASES:
			return (zipf_draw(t->zipf, &t->seed) / 2 + i / 20000 * (t->n / 3)) % t->n;
		default:
			return i % 3 ? zipf_draw(t->zipf, &t->seed) : i / 3 % t->n;
	}
}

static void
test_identity(void)
{
	static const struct
	{
		Rule		rule;
		uint32_t	pages;
		double		buffers;
		long		length;
		const char *name;
	}			table[] = {
		{UNIFORM, 3000, 700, 60000, "uniform"},
		{ZIPF, 3000, 300, 60000, "Zipf"},
		{LOOP, 1000, 500, 30000, "a loop"},
		{PHASES, 3000, 300, 80000, "phases"},
		{MIXED, 2000, 250, 60000, "Zipf and a loop"},
		{ZIPF, 50, 3, 30000, "caches of few buffers"},
		{ZIPF, 32768, 4000, 60000, "as many pages as there can be"},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		WsSweep    *sweep = new_sweep(table[t].pages, table[t].buffers);
		Trace		trace = trace_of(table[t].rule, table[t].pages, 80 + t);
		Clock	   *clocks[ALL];
		long		wrong = 0;
		long		hits = 0;
		double		turns;
		uint64_t	moved;

		for (int i = 0; i < ALL; i++)
			clocks[i] = clock_new(ws_sweep_buffers(sweep, i), table[t].pages);
		for (long n = 0; n < table[t].length; n++)
		{
			uint32_t	page = next_page(&trace);
			uint32_t	missed = use(sweep, page);

			for (int i = 0; i < ALL; i++)
			{
				bool		hit = clock_access(clocks[i], page, NULL, NULL);

				wrong += hit == (missed >> i & 1);
				hits += hit;
			}
			wrong += missed > WS_SWEEP_ALL;
		}
		for (int i = 0; i < ALL; i++)
		{
			wrong += clocks[i]->filled != sweep_filled(sweep, i);
			for (uint32_t page = 0; page < table[t].pages && i == ALL - 1; page++)
				wrong += clocks[i]->where[page] != NO_PAGE && !ws_sweep_holds(sweep, page);
		}
		ok(wrong == 0 && hits > 0, "%s: every hit and miss at all sizes is that of a naive cache",
		   table[t].name);
		turns = ws_sweep_turns(sweep);
		moved = clocks[0]->moved;
		ok(fabs(turns * ws_sweep_buffers(sweep, 0) - moved) < 1e-6 * moved + 1e-6 && moved > 0 &&
		   ws_sweep_turns(sweep) == 0, "%s: and so are the turns of the hand, counted once",
		   table[t].name);
		ok(sweep_check(sweep) == NULL, "%s: all is sound", table[t].name);
		for (int i = 0; i < ALL; i++)
			clock_free(clocks[i]);
		zipf_free(trace.zipf);
		free(sweep);
	}
}

/*
 * Two processes scan, each its own table, one of them again and again; a third
 * goes on at random, now and then on pages of the tables, too.  Tables go
 * through rings at some sizes.  Sizes are multiples of 8, so that it needs no
 * rounding to know how large a ring is.
 */
static void
test_rings_identity(void)
{
	enum
	{
		MAIN = 2000, TABLE = 900, OTHER = 600, PAGES = MAIN + TABLE + OTHER, LENGTH = 120000
	};
	static const struct
	{
		double		buffers;
		double		ring;
	}			table[] = {{320, 32}, {320, 4}, {640, 150}, {320, 0.5}, {640, 32}};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		WsSweep    *sweep = new_sweep(PAGES, table[t].buffers);
		Zipf	   *zipf = zipf_new(MAIN, 0.9);
		Clock	   *clocks[ALL];
		static Ring rings[ALL][2];
		uint32_t	ringed[2] = {0, 0};
		uint32_t	sizes[ALL];
		uint32_t	block[2] = {0, 0};
		uint64_t	seed = 90 + t;
		long		wrong = 0;
		long		hits[ALL][2] = {{0}};

		set_ring(sweep, WS_RING_READ, table[t].ring);
		for (int i = 0; i < ALL; i++)
		{
			uint32_t	n = ws_sweep_buffers(sweep, i);

			clocks[i] = clock_new(n, PAGES);
			sizes[i] = (uint32_t) fmax(1, fmin(table[t].ring, n / 8));
			if (n % 8 != 0)
				wrong++;
			if (TABLE > n / 4)
				ringed[0] |= WS_SWEEP_BIT(i);
			if (OTHER > n / 4)
				ringed[1] |= WS_SWEEP_BIT(i);
			ring_begin(&rings[i][0], sizes[i]);
			ring_begin(&rings[i][1], sizes[i]);
		}
		for (long n = 0; n < LENGTH; n++)
		{
			uint32_t	what = random_below(&seed, 10);
			WsAccess	a = {0, 0, WS_RING_READ, 99, 1, 0};
			int			s = what < 3 ? 0 : what < 5 ? 1 : -1;
			uint32_t	missed;

			if (s >= 0)
			{
				/* two scans by different processes, one a new relation each time */
				uint32_t	begin = s == 0 ? MAIN : MAIN + TABLE;
				uint32_t	length = s == 0 ? TABLE : OTHER;

				if (block[s] == length)
				{
					block[s] = 0;
					for (int i = 0; i < ALL; i++)
						ring_begin(&rings[i][s], sizes[i]);
				}
				a.ringed = ringed[s];
				a.process = 3 + (uint32_t) s;
				a.relation = 20 + (uint32_t) s;
				a.page = begin + block[s];
				a.block = block[s]++;
			}
			else
			{
				a.page = what == 9 ? random_below(&seed, PAGES) : zipf_draw(zipf, &seed);
				a.block = random_below(&seed, 1000);
			}
			missed = ws_sweep_access(sweep, &a);
			for (int i = 0; i < ALL; i++)
			{
				Ring	   *ring = a.ringed >> i & 1 ? &rings[i][s] : NULL;
				bool		hit = clock_access(clocks[i], a.page, ring, NULL);

				wrong += hit == (missed >> i & 1);
				hits[i][s >= 0] += hit;
			}
		}
		ok(wrong == 0, "rings of %g of %g: every hit and miss at all sizes is that of a naive cache",
		   table[t].ring, table[t].buffers);
		ok(sweep_check(sweep) == NULL && hits[0][1] > 0, "rings of %g of %g: all is sound",
		   table[t].ring, table[t].buffers);
		for (int i = 0; i < ALL; i++)
			clock_free(clocks[i]);
		zipf_free(zipf);
		free(sweep);
	}
}

/*
 * ----------------------------------------------------------------
 * What is known without another cache
 * ----------------------------------------------------------------
 */

/*
 * Pages in a loop that is larger than the cache: the hand finds the counts of
 * all to be the same, so the page that came first goes first, just before it
 * is used.
 */
static void
test_loop(void)
{
	enum
	{
		LOOP_PAGES = 1010, LAPS = 6
	};
	WsSweep    *sweep = new_sweep(LOOP_PAGES, 1000);
	long		wrong = 0;

	for (int lap = 0; lap < LAPS; lap++)
		for (uint32_t page = 0; page < LOOP_PAGES; page++)
		{
			uint32_t	missed = use(sweep, page);

			for (int i = 0; i < ALL; i++)
				wrong += (missed >> i & 1) !=
					(lap == 0 || ws_sweep_buffers(sweep, i) < LOOP_PAGES);
		}
	ok(wrong == 0 && ws_sweep_buffers(sweep, WS_SWEEP_PRESENT) == 1000,
	   "a loop: one page too many for a cache misses all, all others hit");
	free(sweep);
}

/*
 * All pages equally likely, whatever came before: a full cache of C of n pages
 * has the next one with probability C/n, so hits are binomial.
 */
static void
test_uniform(void)
{
	enum
	{
		PAGES = 2500, WARM = 40000, LENGTH = 200000
	};
	WsSweep    *sweep = new_sweep(PAGES, 500);
	uint64_t	seed = 101;
	long		hits[ALL] = {0};
	double		worst = 0;

	for (long n = 0; n < WARM + LENGTH; n++)
	{
		uint32_t	missed = use(sweep, random_below(&seed, PAGES));

		for (int i = 0; i < ALL && n >= WARM; i++)
			hits[i] += !(missed >> i & 1);
	}
	for (int i = 0; i < ALL; i++)
	{
		double		p = ws_sweep_buffers(sweep, i) / (double) PAGES;

		worst = fmax(worst, fabs(hits[i] - LENGTH * p) / sqrt(LENGTH * p * (1 - p)));
	}
	ok(worst < K_SIGMA, "uniform: a cache of C of n pages hits C/n, worst is %.1f sigma", worst);
	free(sweep);
}

/*
 * Let every cache have room for all its pages, so that asking for one no longer
 * drives out another.
 */
static void
make_room(WsSweep *sweep)
{
	ws_sweep_resize(sweep, 1e9);
}

/*
 * How many of 40 pages that were used so often are gone from a cache of 100
 * after so many others came, each used once?
 */
static uint32_t
outlived(int uses, uint32_t ringed, uint32_t others)
{
	enum
	{
		HOT = 40
	};
	WsSweep    *sweep = new_sweep(1000, 1000);
	uint32_t	gone = 0;

	/* the smallest cache is the one of 100 */
	set_ring(sweep, WS_RING_READ, 1000);
	for (int n = 0; n < uses; n++)
		for (uint32_t page = 0; page < HOT; page++)
			if (n > 0)
				scan(sweep, page, ringed, 1, page);
			else
				use(sweep, page);
	for (uint32_t page = HOT; page < HOT + others; page++)
		use(sweep, page);
	make_room(sweep);
	for (uint32_t page = 0; page < HOT; page++)
		gone += use(sweep, page) & 1;
	free(sweep);
	return gone;
}

/*
 * Sixty buffers are left to pages that are used once.  When these are full the
 * hand goes round the whole cache and takes one from each count, passes the 40
 * once more, and has 60 buffers with nothing.  So each sixty pages take two
 * from the counts of the 40, and one of these goes when the hand finds nothing.
 */
static void
test_usage(void)
{
	static const struct
	{
		int			uses;
		uint32_t	outlives;	/* so many others, and not one more */
	}			table[] = {{1, 60}, {2, 120}, {3, 120}, {4, 180}, {5, 180}, {6, 180}, {50, 180}};
	bool		fine = true;

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		fine &= outlived(table[t].uses, 0, table[t].outlives) == 0;
		fine &= outlived(table[t].uses, 0, table[t].outlives + 1) == 1;
		fine &= outlived(table[t].uses, 0, table[t].outlives + 7) == 7;
	}
	ok(fine, "a page outlives others for as often as it was used, up to five times");
	ok(outlived(1, WS_SWEEP_ALL, 60) == 0 && outlived(6, WS_SWEEP_ALL, 60) == 0 &&
	   outlived(6, WS_SWEEP_ALL, 61) == 1, "uses through a ring count no more than one");
	ok(outlived(6, WS_SWEEP_ALL & ~WS_SWEEP_BIT(0), 180) == 0,
	   "at the sizes where they go through it");
}

/*
 * How many of a full cache's pages a scan of many pages drives out: the buffers
 * of its ring, those of its table, or none.
 */
static uint32_t
driven_out(double ring, uint32_t ringed, uint32_t length, uint32_t process, int size)
{
	enum
	{
		OLD = 1600
	};
	WsSweep    *sweep = new_sweep(OLD + 6000, 400);
	uint32_t	filled = ws_sweep_buffers(sweep, size);
	uint32_t	out = 0;

	set_ring(sweep, WS_RING_READ, ring);
	/* as many as the cache holds, and used twice */
	for (uint32_t page = OLD - filled; page < OLD; page++)
	{
		use(sweep, page);
		use(sweep, page);
	}
	for (uint32_t n = 0; n < length; n++)
		scan(sweep, OLD + n, ringed, process, n);
	if (sweep_filled(sweep, size) != filled || sweep_check(sweep) != NULL)
		abort();
	make_room(sweep);
	for (uint32_t page = OLD - filled; page < OLD; page++)
		out += use(sweep, page) >> size & 1;
	free(sweep);
	return out;
}

static void
test_rings(void)
{
	enum
	{
		LAST = ALL - 1			/* of 1600 buffers */
	};
	WsSweep    *sweep;
	uint32_t	missed;
	long		wrong;

	is_int(driven_out(32, 0, 1600, 1, LAST), 1600, "without a ring a scan drives out all");
	is_int(driven_out(32, WS_SWEEP_ALL, 5000, 1, LAST), 32, "through a ring, what that holds");
	is_int(driven_out(32, WS_SWEEP_BIT(LAST), 5000, 1, LAST), 32,
		   "also if it is one at this size only");
	is_int(driven_out(32, WS_SWEEP_ALL & ~WS_SWEEP_BIT(LAST), 1600, 1, LAST), 1600,
		   "but not if it is one at all others");
	is_int(driven_out(1000, WS_SWEEP_ALL, 5000, 1, LAST), 200, "a ring is an eighth of the cache at most");
	is_int(driven_out(32, WS_SWEEP_ALL, 5000, 1, 0), 5, "so it is in a small one");
	is_int(driven_out(0.01, WS_SWEEP_ALL, 5000, 1, LAST), 1, "and it is one buffer at least");
	is_int(driven_out(3, WS_SWEEP_ALL, 2, 1, LAST), 2, "a scan of less than a ring takes as much as it is");

	/* empty buffers: a ring takes as many as it has, too */
	sweep = new_sweep(3000, 400);
	set_ring(sweep, WS_RING_READ, 16);
	set_ring(sweep, WS_RING_VACUUM, 20);
	set_ring(sweep, WS_RING_WRITE, 24);
	for (uint32_t n = 0; n < 1000; n++)
		scan(sweep, n, WS_SWEEP_ALL, 1, n);
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 16, "rings leave empty buffers empty");

	/* kinds have sizes of their own, and the same process may have one of each */
	for (uint32_t n = 0; n < 1000; n++)
	{
		WsAccess	a = {1000 + n, WS_SWEEP_ALL, WS_RING_VACUUM, 1, 1, n};

		ws_sweep_access(sweep, &a);
		a.page += 1000;
		a.ring = WS_RING_WRITE;
		ws_sweep_access(sweep, &a);
	}
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 16 + 20 + 24,
		   "kinds of rings have their own sizes, and do not get in each other's way");

	/* a scan that begins again has a new ring, and one that goes on has its old one */
	for (uint32_t n = 1000; n < 1100; n++)
		scan(sweep, n - 1000 + 1000 * (n & 1), WS_SWEEP_ALL, 1, n);
	ok(sweep_filled(sweep, WS_SWEEP_PRESENT) <= 16 + 20 + 24,
	   "a scan that goes on keeps its ring");
	for (uint32_t n = 0; n < 100; n++)
		scan(sweep, n, WS_SWEEP_ALL, 1, n);
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 2 * 16 + 20 + 24,
		   "one that begins again has a new one");
	for (uint32_t n = 0; n < 100; n++)
		scan(sweep, 200 + n, WS_SWEEP_ALL, 2, n);
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 3 * 16 + 20 + 24,
		   "and so has another process");
	free(sweep);

	/* pages of the ring that others use are left to them */
	sweep = new_sweep(3000, 400);
	set_ring(sweep, WS_RING_READ, 10);
	wrong = 0;
	for (uint32_t n = 0; n < 100; n++)
	{
		scan(sweep, n, WS_SWEEP_ALL, 1, n);
		use(sweep, n);
	}
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 100, "a page that others use leaves its ring");
	for (uint32_t n = 0; n < 100; n++)
		wrong += use(sweep, n) >> WS_SWEEP_PRESENT & 1;
	is_int(wrong, 0, "and stays where it is");

	/* the scan itself may look at a page again */
	for (uint32_t n = 100; n < 200; n++)
	{
		scan(sweep, n, WS_SWEEP_ALL, 1, n);
		missed = scan(sweep, n, WS_SWEEP_ALL, 1, n);
		wrong += missed != 0;
	}
	ok(wrong == 0 && sweep_filled(sweep, WS_SWEEP_PRESENT) == 110,
	   "what the scan itself looks at again does not");
	ok(sweep_check(sweep) == NULL, "all is sound");
	free(sweep);
}

/*
 * Many scans at once, by any 32 processes of a server with many more.
 */
static void
test_many_scans(void)
{
	enum
	{
		LENGTH = 60
	};
	static const struct
	{
		uint32_t	processes;
		uint32_t	step;
		const char *name;
	}			table[] = {
		{32, 1, "32 processes in a row"},
		{8, 5, "eight that are apart"},
		{2, 32, "two, 32 apart"},
		{4, 64, "four, 64 apart"},
		{32, 4711, "32 anywhere"},
	};
	WsSweep    *sweep;
	WsAccess	a = {.ringed = WS_SWEEP_ALL, .ring = WS_RING_READ};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		sweep = new_sweep(32 * LENGTH, 32 * LENGTH);
		set_ring(sweep, WS_RING_READ, 4);
		for (uint32_t n = 0; n < LENGTH; n++)
			for (uint32_t p = 0; p < table[t].processes; p++)
				scan(sweep, p * LENGTH + n, WS_SWEEP_ALL, 7 + p * table[t].step, n);
		ok(sweep_filled(sweep, WS_SWEEP_PRESENT) == 4 * table[t].processes,
		   "scans at once, each in its ring: %s", table[t].name);
		free(sweep);
	}

	/* one process, in two relations by turns */
	sweep = new_sweep(1000, 1000);
	set_ring(sweep, WS_RING_READ, 4);
	for (a.block = 0; a.block < 200; a.block++)
		for (a.relation = 1; a.relation <= 2; a.relation++)
		{
			a.page = 300 * a.relation + a.block;
			ws_sweep_access(sweep, &a);
		}
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 8, "a process has a ring for each of its scans");
	free(sweep);

	/* a hundred short scans while a long one goes on */
	sweep = new_sweep(2000, 2000);
	set_ring(sweep, WS_RING_READ, 4);
	for (uint32_t n = 0; n < 1000; n++)
	{
		scan(sweep, n, WS_SWEEP_ALL, 999, n);
		scan(sweep, 1000 + n, WS_SWEEP_ALL, n / 10, n % 10);
	}
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 4 + 100 * 4,
		   "a scan that goes on keeps its ring, however many others come and go");
	free(sweep);

	/* a hundred short scans, each of which starts where the one before ended */
	sweep = new_sweep(2000, 2000);
	set_ring(sweep, WS_RING_READ, 4);
	for (uint32_t n = 0; n < 1000; n++)
		scan(sweep, n, WS_SWEEP_ALL, n / 10, n);
	is_int(sweep_filled(sweep, WS_SWEEP_PRESENT), 100 * 4,
		   "a scan that takes the place of another has a ring of its own");
	free(sweep);
}

/*
 * ----------------------------------------------------------------
 * Changes from outside
 * ----------------------------------------------------------------
 */
static void
test_resize(void)
{
	enum
	{
		PAGES = 4000
	};
	WsSweep    *sweep = new_sweep(PAGES, 1000);
	uint64_t	seed = 102;
	long		wrong = 0;
	uint32_t	hot_lost = 0;
	uint32_t	cold_kept = 0;

	/* the largest cache has room for all: every tenth page is used often */
	for (uint32_t page = 0; page < PAGES; page++)
		use(sweep, page);
	for (int n = 0; n < 5; n++)
		for (uint32_t page = 0; page < PAGES; page += 10)
			use(sweep, page);
	/* to a size with room for these and as many more */
	ws_sweep_resize(sweep, 200);
	ok(sweep_check(sweep) == NULL && sweep_filled(sweep, ALL - 1) == 800 &&
	   ws_sweep_buffers(sweep, ALL - 1) == 800, "smaller caches are full, and sound");
	/* larger again: what is there stays, and what is empty is filled first */
	ws_sweep_resize(sweep, 1000);
	ok(sweep_check(sweep) == NULL && sweep_filled(sweep, ALL - 1) == 800 &&
	   ws_sweep_buffers(sweep, ALL - 1) == 4000, "larger ones have room, and are sound");
	for (uint32_t page = 0; page < PAGES; page++)
	{
		bool		there = !(use(sweep, page) >> (ALL - 1) & 1);

		hot_lost += page % 10 == 0 && !there;
		cold_kept += page % 10 != 0 && there;
	}
	ok(hot_lost == 0 && cold_kept == 400, "what was used often is not what had to go");
	is_int(sweep_filled(sweep, ALL - 1), PAGES, "nothing goes as long as there is room");

	/* at random, through all sizes */
	for (int n = 0; n < 400; n++)
	{
		double		buffers = exp(random_unit(&seed) * log(PAGES));

		ws_sweep_resize(sweep, buffers);
		for (int i = 0; i < ALL; i++)
		{
			double		want = fmin(fmax(buffers * ws_sweep_factors[i], 1), PAGES);

			wrong += fabs(ws_sweep_buffers(sweep, i) - want) > 0.5;
			wrong += sweep_filled(sweep, i) > ws_sweep_buffers(sweep, i);
		}
		for (int i = 0; i < 50; i++)
		{
			if (i % 5 == 0)
				ws_sweep_forget(sweep, random_below(&seed, PAGES));
			if (i % 3 == 0)
				scan(sweep, random_below(&seed, PAGES), random32(&seed) & WS_SWEEP_ALL,
					 random_below(&seed, 9), random_below(&seed, 9));
			else
				use(sweep, random_below(&seed, PAGES));
		}
		if (n % 4 == 0)
			wrong += sweep_check(sweep) != NULL;
	}
	is_int(wrong, 0, "sizes may change at any time");
	free(sweep);
}

/*
 * The page that the hand comes to first goes first, also when the cache
 * shrinks: pages that all came once go in the order of their coming.
 */
static void
test_shrink_order(void)
{
	WsSweep    *sweep = new_sweep(1000, 100);
	uint32_t	lost = 0;
	uint32_t	wrong = 0;

	/*
	 * Of the largest, which has 400 buffers: 400 to 599 are before the hand,
	 * 200 to 399 behind it.  The last 200 have a count of one, the others none.
	 */
	for (uint32_t page = 0; page < 600; page++)
		use(sweep, page);
	ws_sweep_resize(sweep, 97.5);
	is_int(sweep_filled(sweep, ALL - 1), 390, "a cache shrinks by ten");
	make_room(sweep);
	/* a page that goes leaves its place to the last one, 399 at first */
	for (uint32_t page = 200; page < 600; page++)
	{
		bool		gone = use(sweep, page) >> (ALL - 1) & 1;

		lost += gone;
		wrong += gone != (page < 210);
	}
	ok(lost == 10 && wrong == 0, "what the hand comes to first goes first");
	free(sweep);
}

static void
test_forget(void)
{
	enum
	{
		PAGES = 500
	};
	WsSweep    *sweep = new_sweep(PAGES, 100);
	uint64_t	seed = 103;
	uint32_t	before;
	long		wrong = 0;

	for (uint32_t page = 0; page < 50; page++)
		use(sweep, page);
	before = sweep_filled(sweep, WS_SWEEP_PRESENT);
	ok(held(sweep, 0, 50), "pages are there");
	ws_sweep_forget(sweep, 20);
	ws_sweep_forget(sweep, 49);
	ws_sweep_forget(sweep, 0);
	ok(!ws_sweep_holds(sweep, 20) && !ws_sweep_holds(sweep, 49) && !ws_sweep_holds(sweep, 0) &&
	   held(sweep, 1, 19) && held(sweep, 21, 28) &&
	   sweep_filled(sweep, WS_SWEEP_PRESENT) == before - 3 && sweep_check(sweep) == NULL,
	   "those forgotten are not, and no others are lost");
	ws_sweep_forget(sweep, 20);
	ws_sweep_forget(sweep, 400);
	ok(sweep_filled(sweep, WS_SWEEP_PRESENT) == before - 3 && sweep_check(sweep) == NULL,
	   "what is not there cannot be forgotten");
	ok(use(sweep, 20) == WS_SWEEP_ALL, "a number that comes again is a new page");
	for (int n = 0; n < 20000; n++)
	{
		uint32_t	page = random_below(&seed, PAGES);

		if (n % 3 == 0)
		{
			ws_sweep_forget(sweep, page);
			wrong += ws_sweep_holds(sweep, page);
		}
		else
		{
			use(sweep, page);
			wrong += use(sweep, page) != 0;
		}
		if (n % 100 == 0)
			wrong += sweep_check(sweep) != NULL;
	}
	is_int(wrong, 0, "and so at random");
	for (uint32_t page = 0; page < PAGES; page++)
		ws_sweep_forget(sweep, page);
	for (int i = 0; i < ALL; i++)
		wrong += sweep_filled(sweep, i);
	ok(wrong == 0 && sweep_check(sweep) == NULL, "to the last page");
	free(sweep);
}

static void
test_seed(void)
{
	WsSweep    *sweep = new_sweep(1000, 100);
	uint32_t	pages[500];
	long		wrong = 0;
	uint32_t	missed;

	/* 0 was used last, 499 longest ago; sizes have 10 to 400 buffers */
	for (uint32_t i = 0; i < 500; i++)
		pages[i] = i;
	ws_sweep_seed(sweep, pages, 500);
	ok(sweep_check(sweep) == NULL && held(sweep, 0, 400) && !ws_sweep_holds(sweep, 400),
	   "seed: those used last are there, as far as they fit");
	for (int i = 0; i < ALL; i++)
		wrong += sweep_filled(sweep, i) != ws_sweep_buffers(sweep, i);
	is_int(wrong, 0, "seed: all caches are full");
	for (uint32_t i = 0; i < 400; i++)
	{
		/* hits move nothing */
		WsAccess	a = {.page = i};

		missed = i < 10 ? ws_sweep_access(sweep, &a) : 0;
		wrong += missed != 0;
	}
	is_int(wrong, 0, "seed: the last used ones at all sizes");
	/* the smallest holds 9 to 0 in that order, all used alike: the oldest goes first */
	for (uint32_t i = 0; i < 10; i++)
		use(sweep, i);
	use(sweep, 900);
	ok((use(sweep, 9) & 1) == 1, "seed: the one used longest ago goes first");
	free(sweep);

	/* with something there: it stays, and does not come twice */
	sweep = new_sweep(1000, 100);
	for (uint32_t page = 600; page < 605; page++)
		use(sweep, page);
	pages[0] = 602;
	ws_sweep_seed(sweep, pages, 500);
	/* 10 buffers: five were taken, 602 is there, then 1 to 5 */
	wrong = 0;
	for (uint32_t page = 600; page < 605; page++)
		wrong += use(sweep, page) & 1;
	for (uint32_t page = 1; page <= 5; page++)
		wrong += use(sweep, page) & 1;
	ok(wrong == 0 && sweep_filled(sweep, 0) == 10 && sweep_check(sweep) == NULL,
	   "seed: what was there stays, and the rest is filled");
	ok(use(sweep, 6) & 1, "seed: no further than there is room");
	free(sweep);

	/* fewer than fit; none; and a full cache */
	sweep = new_sweep(1000, 100);
	ws_sweep_seed(sweep, pages + 1, 7);
	ws_sweep_seed(sweep, pages + 1, 0);
	ok(sweep_filled(sweep, 0) == 7 && sweep_filled(sweep, ALL - 1) == 7 &&
	   held(sweep, 1, 7) && sweep_check(sweep) == NULL, "seed: few pages leave room");
	for (uint32_t page = 100; page < 600; page++)
		use(sweep, page);
	ws_sweep_seed(sweep, pages + 1, 50);
	ok(!ws_sweep_holds(sweep, 1) && sweep_check(sweep) == NULL, "seed: a full cache is left as it is");
	free(sweep);
}

static void
test_turns(void)
{
	WsSweep    *sweep = new_sweep(2000, 1000);

	for (uint32_t page = 0; page < 100; page++)
		use(sweep, page);
	is_within(ws_sweep_turns(sweep), 0, 0, "no turn of the hand while there is room");
	/* 100 pages with a count of one: round once, and one on for the first to go */
	use(sweep, 100);
	is_within(ws_sweep_turns(sweep), 1.01, 1e-12, "one turn and a step for the first that does not fit");
	for (uint32_t page = 101; page < 200; page++)
		use(sweep, page);
	is_within(ws_sweep_turns(sweep), 0.99, 1e-12, "a step for each of those that follow");
	is_within(ws_sweep_turns(sweep), 0, 0, "counted since the last call");
	set_ring(sweep, WS_RING_READ, 8);
	for (uint32_t page = 200; page < 1000; page++)
		scan(sweep, page, WS_SWEEP_ALL, 1, page);
	/* 100/8 = 12.5 buffers: eight in the ring, for which the hand goes round once */
	is_within(ws_sweep_turns(sweep), 1.08, 1e-12, "a ring moves it only to get its buffers");
	free(sweep);
}

static void
test_damping(void)
{
	static const struct
	{
		double		turns;			/* in a tick */
		uint32_t	shift;
		uint32_t	uses;
	}			table[] = {
		{0, 3, 5}, {1e-9, 3, 5}, {0.125, 3, 5}, {0.126, 2, 5}, {0.25, 2, 5}, {0.26, 1, 5},
		{0.5, 1, 5}, {0.51, 0, 5}, {1, 0, 5}, {1.01, 0, 6}, {2, 0, 15}, {33.31, 0, 329},
		{100.5, 0, 1000}, {100.7, 0, 1000}, {1e300, 0, 1000},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		WsDamping	damping = ws_sweep_damping(table[t].turns);

		ok(damping.shift == table[t].shift && damping.uses == table[t].uses,
		   "%g turns in a tick: %u uses in 2^%u ticks tell all", table[t].turns, damping.uses, damping.shift);
	}
}

/*
 * ----------------------------------------------------------------
 * Samples
 * ----------------------------------------------------------------
 */

/*
 * A trace of 40,000 pages goes through naive caches of full size, and the
 * pages in samples of 1 in 8 and 1 in 16 through miniatures.
 *
 * How far may the miniature's misses, scaled, be from the real ones?  By what
 * pages are in the sample: page p with m_p misses adds (1 - R)/R m_p^2 to the
 * variance; m_p is from the naive caches.  And by how many are: n R pages, give
 * or take sqrt(n R (1 - R)), share R C buffers, as if the cache were so much
 * larger or smaller; what that does to the hit ratio is its slope against
 * log(C), here from the sizes on both sides.  Lastly the miniature has a whole
 * number of buffers, which is off by half a buffer at most, with the same
 * slope.
 */
#define PAGES		40000
#define TABLE		30000
#define BUFFERS		8000
#define WARM		250000
#define LENGTH		300000
#define TESTED		6
#define SAMPLES		2

static void
test_sampled(Rule rule, bool with_scan, const char *name)
{
	static const int tested[TESTED] = {0, 3, 5, 10, 15, 19};
	static const uint32_t shifts[SAMPLES] = {3, 4};
	uint32_t	npages = PAGES + (with_scan ? TABLE : 0);
	Trace		trace = trace_of(rule, PAGES, 110);
	WsSweep    *sweep[SAMPLES];
	uint32_t   *number[SAMPLES];
	uint32_t	sampled[SAMPLES] = {0};
	Clock	   *clocks[TESTED];
	Ring	   *rings = zeroed(TESTED, sizeof(Ring));
	uint16_t   *misses[TESTED];
	uint32_t	ringed = 0;
	long		missed_mini[SAMPLES][ALL] = {{0}};
	double		real[TESTED] = {0};
	uint32_t	block = 0;

	for (int i = 0; i < ALL; i++)
		if (TABLE > BUFFERS * ws_sweep_factors[i] / 4)
			ringed |= WS_SWEEP_BIT(i);
	for (int k = 0; k < SAMPLES; k++)
	{
		sweep[k] = new_sweep(16384, ldexp(BUFFERS, -(int) shifts[k]));
		set_ring(sweep[k], WS_RING_READ, ldexp(32, -(int) shifts[k]));
		number[k] = zeroed(npages, sizeof(uint32_t));
		for (uint32_t page = 0; page < npages; page++)
			number[k][page] = page_hash(110, page) >> (32 - shifts[k]) == 0 ?
				sampled[k]++ : NO_PAGE;
	}
	for (int t = 0; t < TESTED; t++)
	{
		clocks[t] = clock_new((uint32_t) (BUFFERS * ws_sweep_factors[tested[t]]), npages);
		ring_begin(&rings[t], 32);
		misses[t] = zeroed(npages, sizeof(uint16_t));
	}

	for (long n = 0; n < WARM + LENGTH; n++)
	{
		bool		scanning = with_scan && n % 4 == 0;
		uint32_t	page = scanning ? PAGES + block : next_page(&trace);
		WsAccess	a = {0, scanning ? ringed : 0, WS_RING_READ, 1, 1, page};

		if (scanning && ++block == TABLE)
			block = 0;
		for (int t = 0; t < TESTED; t++)
		{
			Ring	   *ring = a.ringed >> tested[t] & 1 ? &rings[t] : NULL;

			if (!clock_access(clocks[t], page, ring, NULL) && n >= WARM)
			{
				misses[t][page]++;
				real[t] += 1.0 / LENGTH;
			}
		}
		for (int k = 0; k < SAMPLES; k++)
			if ((a.page = number[k][page]) != NO_PAGE)
			{
				uint32_t	missed = ws_sweep_access(sweep[k], &a);

				for (int i = 0; i < ALL && n >= WARM; i++)
					missed_mini[k][i] += missed >> i & 1;
			}
	}

	for (int k = 0; k < SAMPLES; k++)
	{
		double		rate = ldexp(1, -(int) shifts[k]);
		double		worst = 0;
		double		largest = 0;

		for (int t = 0; t < TESTED; t++)
		{
			int			below = t > 0 ? t - 1 : t;
			int			above = t < TESTED - 1 ? t + 1 : t;
			double		mini = missed_mini[k][tested[t]] / rate / LENGTH;
			double		slope = (real[below] - real[above]) /
				log(ws_sweep_factors[tested[above]] / ws_sweep_factors[tested[below]]);
			double		half = 0.5 * slope / ws_sweep_buffers(sweep[k], tested[t]);
			double		squares = 0;
			double		sigma;

			for (uint32_t page = 0; page < npages; page++)
				squares += (double) misses[t][page] * misses[t][page];
			sigma = hypot(sqrt((1 - rate) / rate * squares) / LENGTH,
						  slope * sqrt((1 - rate) / (PAGES * rate)));
			worst = fmax(worst, (fabs(mini - real[t]) - half) / sigma);
			largest = fmax(largest, fabs(mini - real[t]));
		}
		ok(worst < K_SIGMA, "%s, 1/%d sampled: hit ratios of miniatures, worst is %.1f sigma (%.4f)",
		   name, 1 << shifts[k], worst, largest);
		/* binomial */
		ok(sweep_check(sweep[k]) == NULL && fabs(sampled[k] - npages * rate) <
		   K_SIGMA * sqrt(npages * rate * (1 - rate)), "%s, 1/%d sampled: all is sound",
		   name, 1 << shifts[k]);
		free(sweep[k]);
		free(number[k]);
	}
	for (int t = 0; t < TESTED; t++)
	{
		clock_free(clocks[t]);
		free(misses[t]);
	}
	zipf_free(trace.zipf);
	free(rings);
}

int
main(void)
{
	plan(118);
	test_sizes();
	test_identity();
	test_rings_identity();
	test_loop();
	test_uniform();
	test_usage();
	test_rings();
	test_many_scans();
	test_resize();
	test_shrink_order();
	test_forget();
	test_seed();
	test_turns();
	test_damping();
	test_sampled(UNIFORM, false, "uniform");
	test_sampled(ZIPF, false, "Zipf");
	test_sampled(ZIPF, true, "Zipf and a scan in a ring");
	return done();
}
