/*
 * sweep_t.c
 *		Tests of the miniature clock sweeps: against naive caches of full size,
 *		operation by operation where all pages are seen, and within the error of
 *		sampling where some are.
 *
 * Where an assertion is about random numbers its bound is K_SIGMA standard
 * errors, by the formula beside it.
 */
#include "tap.h"
#include "sweep.h"
#include "sweep_check.h"
#include "traces.h"

#define K_SIGMA 5
#define ALL WS_SWEEP_SIZES

/* of the grid, and one that is none of it */
static double
factor(int size)
{
	return size < WS_SWEEP_GRID ? ws_sweep_grid[size] : 5.5;
}

static WsSweep *
new_sweep(uint32_t pages, double buffers)
{
	WsSweep    *sweep = aligned_memory(ws_sweep_size(pages));

	ws_sweep_init(sweep, pages);
	sweep->factor[WS_SWEEP_FOLLOWER] = factor(WS_SWEEP_FOLLOWER);
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

static void
test_sizes(void)
{
	WsSweep    *sweep = new_sweep(1000, 100);
	bool		fine = true;

	for (int i = 1; i < WS_SWEEP_GRID; i++)
		fine &= ws_sweep_grid[i] > ws_sweep_grid[i - 1];
	ok(fine && ws_sweep_grid[0] == 0.125 && ws_sweep_grid[WS_SWEEP_PRESENT] == 1 &&
	   ws_sweep_grid[WS_SWEEP_GRID - 1] == 16, "sizes ascend from an eighth to sixteen times the present one");
	for (int i = 0; i < ALL; i++)
		fine &= sweep_filled(sweep, i) == 0;
	ok(fine && !ws_sweep_holds(sweep, 0), "new caches are empty");
	ws_sweep_resize(sweep, 0.001);
	ok(sweep->caches[0].buffers == 1 && sweep->caches[ALL - 1].buffers == 1,
	   "each has one buffer at least");
	ws_sweep_resize(sweep, 1e12);
	ok(sweep->caches[0].buffers == 1000 && sweep->caches[ALL - 1].buffers == 1000,
	   "and one for each page at most");
	free(sweep);
}

/*
 * ----------------------------------------------------------------
 * Operation by operation
 * ----------------------------------------------------------------
 */

/*
 * The model: a naive cache for each size, and the rings of the last 32 scans.
 * A clock that loses a page turns its buffers so that the hand is at the
 * first, as the sweeps do.
 */
#define SCANS 32

typedef struct ModelScan
{
	long		used;			/* in which access; 0: never */
	WsAccess	last;
	Ring		rings[ALL];
} ModelScan;

typedef struct Model
{
	uint32_t	npages;
	long		accesses;
	Clock	   *caches[ALL];
	double		wanted[ALL];	/* buffers, were there enough pages */
	double		ring[WS_NRINGS][ALL];
	ModelScan	scans[SCANS];
	double		luck;
	uint32_t	gone[ALL];		/* for the last access, or NO_PAGE */
	uint32_t	empty;			/* sizes that were not mostly full then */
} Model;

static void
clock_remove(Clock *c, uint32_t page)
{
	uint32_t	n = c->filled;
	uint32_t   *pages = zeroed(n, sizeof(uint32_t));
	uint8_t    *usage = zeroed(n, sizeof(uint8_t));

	for (uint32_t i = 0; i < n; i++)
	{
		pages[i] = c->page[(c->hand + i) % n];
		usage[i] = c->usage[(c->hand + i) % n];
	}
	c->filled = 0;
	for (uint32_t i = 0; i < n; i++)
		if (pages[i] != page)
		{
			c->where[pages[i]] = c->filled;
			c->page[c->filled] = pages[i];
			c->usage[c->filled++] = usage[i];
		}
	c->where[page] = NO_PAGE;
	c->hand = 0;
	free(pages);
	free(usage);
}

static void
clock_resize(Clock *c, uint32_t buffers)
{
	while (c->filled > buffers)
	{
		c->buffers = c->filled; /* full, so the hand finds one */
		clock_remove(c, c->page[clock_take(c)]);
	}
	c->buffers = buffers;
}

static void
clock_seed(Clock *c, const uint32_t *pages, uint32_t n)
{
	uint32_t	last = 0;

	for (uint32_t empty = c->buffers - c->filled; last < n && empty > 0; last++)
		empty -= c->where[pages[last]] == NO_PAGE;
	while (last-- > 0)
		if (c->where[pages[last]] == NO_PAGE)
		{
			c->where[pages[last]] = c->filled;
			c->page[c->filled] = pages[last];
			c->usage[c->filled++] = 1;
		}
}

static void
model_resize(Model *m, double buffers)
{
	for (int i = 0; i < ALL; i++)
	{
		m->wanted[i] = fmax(rint(buffers * factor(i)), 1);
		clock_resize(m->caches[i], (uint32_t) fmin(m->wanted[i], m->npages));
	}
}

/* What scans of a relation left in rings that are smaller than a page may go. */
static void
model_left(Model *m, const WsAccess *a)
{
	m->luck = fmod(m->luck + 0.6180339887498949, 1);
	for (ModelScan *t = m->scans; t < m->scans + SCANS; t++)
		for (int i = 0; i < ALL && t->used != 0; i++)
		{
			Clock	   *c = m->caches[i];
			uint32_t	page = t->rings[i].page[0];
			double		size = fmin(m->ring[a->ring][i], c->buffers / 8.0);

			if (t->last.ring != a->ring || t->last.relation != a->relation || size >= 1 || page == NO_PAGE)
				continue;
			t->rings[i].page[0] = NO_PAGE;
			if (m->luck >= size && c->where[page] != NO_PAGE && c->usage[c->where[page]] <= 1)
				clock_remove(c, page);
		}
}

static uint32_t
model_access(Model *m, const WsAccess *a)
{
	uint32_t	missed = 0;
	ModelScan  *s = NULL;
	ModelScan  *oldest = m->scans;

	for (ModelScan *t = m->scans; a->ringed != 0 && t < m->scans + SCANS; t++)
	{
		if (t->used != 0 && t->last.process == a->process && t->last.ring == a->ring &&
			t->last.relation == a->relation)
			s = t;
		if (t->used < oldest->used)
			oldest = t;
	}
	if (a->ringed != 0)
	{
		/* a new scan, or one that begins again, has new rings */
		if (s == NULL || a->block < s->last.block)
		{
			s = s == NULL ? oldest : s;
			model_left(m, a);
			for (int i = 0; i < ALL; i++)
				ring_begin(&s->rings[i], 1);
		}
		s->used = ++m->accesses;
		s->last = *a;
	}
	m->empty = 0;
	for (int i = 0; i < ALL; i++)
	{
		Clock	   *c = m->caches[i];
		Ring	   *ring = a->ringed >> i & 1 ? &s->rings[i] : NULL;

		/* the rings of a scan that begins may have left less */
		if (c->filled < m->wanted[i] * 15 / 16)
			m->empty |= WS_SWEEP_BIT(i);
		if (a->absent >> i & 1)
			continue;
		if (ring && c->where[a->page] == NO_PAGE)
		{
			ring->size = (uint32_t) rint(fmin(fmax(fmin(m->ring[a->ring][i], c->buffers / 8.0), 1), 320));
			if (ring->turn >= ring->size)
				ring->turn = 0;
		}
		missed |= (uint32_t) !clock_access(c, a->page, ring, &m->gone[i]) << i;
	}
	return missed;
}

static void
test_model(void)
{
	/* how often something happens, in 10,000 */
	static const struct
	{
		const char *name;
		uint32_t	pages;
		double		buffers;
		long		length;
		double		exponent;	/* of Zipf's law for plain accesses */
		uint32_t	ringed;
		uint32_t	scans;		/* going on at a time */
		uint32_t	restart;
		uint32_t	forget;
		uint32_t	resize;
		uint32_t	seed;
		uint32_t	absent;
		uint32_t	empty;
	}			table[] = {
		{"uniform", 3000, 700, 40000, 0, 0, 1, 0, 0, 0, 0, 0, 0},
		{"Zipf", 3000, 300, 40000, 0.9, 0, 1, 0, 0, 0, 0, 0, 0},
		{"as many pages as there can be", 32768, 4000, 40000, 0.5, 0, 1, 0, 0, 0, 0, 0, 0},
		{"caches of few buffers", 50, 3, 20000, 0.9, 1000, 2, 100, 50, 0, 0, 0, 0},
		{"two scans", 4000, 320, 40000, 0.9, 5000, 2, 10, 0, 0, 0, 0, 0},
		{"as many scans as rings", 4000, 500, 40000, 0.9, 9000, 32, 10, 0, 0, 0, 0, 0},
		{"more scans than rings", 4000, 900, 40000, 0.9, 9000, 36, 100, 0, 0, 0, 0, 0},
		{"pages are forgotten", 1000, 200, 20000, 0.5, 1000, 3, 10, 500, 0, 0, 0, 0},
		{"sizes change", 1000, 200, 20000, 0.5, 3000, 3, 10, 0, 50, 0, 0, 0},
		{"seeded", 1000, 200, 20000, 0.5, 100, 1, 10, 50, 10, 50, 0, 0},
		{"some see less than others", 2000, 500, 40000, 0.7, 3000, 5, 50, 0, 0, 0, 5000, 0},
		{"emptied", 1000, 200, 20000, 0.5, 1000, 3, 10, 100, 20, 20, 0, 50},
		{"everything", 2000, 500, 40000, 0.7, 5000, 34, 50, 100, 20, 20, 3000, 20},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		uint32_t	n = table[t].pages;
		WsSweep    *sweep = new_sweep(n, table[t].buffers);
		Model	   *m = zeroed(1, sizeof(Model));
		Zipf	   *zipf = zipf_new(n, table[t].exponent);
		uint32_t	block[40] = {0};
		uint64_t	seed = seeded(80 + t);
		long		wrong = 0;
		long		hits = 0;
		long		evicted = 0;
		double		turns[ALL] = {0};

		m->npages = n;
		for (int i = 0; i < ALL; i++)
			m->caches[i] = clock_new(n, n);
		model_resize(m, table[t].buffers);
		for (int kind = 0; kind < WS_NRINGS; kind++)
		{
			for (int i = 0; i < ALL; i++)
				m->ring[kind][i] = exp(random_unit(&seed) * log(1000)) - 0.9;
			ws_sweep_set_rings(sweep, (WsRing) kind, m->ring[kind]);
		}
		for (long k = 0; k < table[t].length; k++)
		{
			uint32_t	s = random_below(&seed, table[t].scans);
			WsAccess	a = {.page = zipf_draw(zipf, &seed), .ringed = 0, .ring = WS_RING_READ, .process = s, .relation = 1, .block = 0};
			uint32_t	missed;
			uint32_t	cold;

			if (random_below(&seed, 10000) < table[t].ringed)
			{
				/* neighbours differ in process, relation or kind only */
				if (random_below(&seed, 10000) < table[t].restart)
					block[s] = 0;
				a.block = block[s]++;
				a.page = (s * n / 7 + a.block) % n;
				a.ringed = s % 3 == 0 ? WS_SWEEP_ALL : page_hash(t, s) & WS_SWEEP_ALL;
				a.ring = (WsRing) (s % WS_NRINGS);
				a.process = s / 6 * 64;
				a.relation = s / 3 % 2;
			}
			if (random_below(&seed, 10000) < table[t].absent)
				a.absent = page_hash(t, random_below(&seed, 1000)) & WS_SWEEP_ALL;
			missed = ws_sweep_access(sweep, &a, &cold);
			wrong += missed != model_access(m, &a) || cold != (missed & m->empty & ~a.ringed);
			hits += missed == 0;
			for (int i = 0; i < ALL; i++)
				wrong += missed >> i & 1 &&
					(sweep->evicted[i] == WS_NOWHERE ? NO_PAGE : sweep->evicted[i]) != m->gone[i];

			if (random_below(&seed, 10000) < table[t].forget)
				for (uint32_t times = 1 + random_below(&seed, 3); times > 0; times--)
				{
					uint32_t	page = zipf_draw(zipf, &seed);

					ws_sweep_forget(sweep, page);
					for (int i = 0; i < ALL; i++)
						if (m->caches[i]->where[page] != NO_PAGE)
							clock_remove(m->caches[i], page);
				}
			if (random_below(&seed, 10000) < table[t].empty)
			{
				int			size = (int) random_below(&seed, ALL);
				Clock	   *c = m->caches[size];

				ws_sweep_empty(sweep, size);
				while (c->filled > 0)
					clock_remove(c, c->page[c->filled - 1]);
			}
			if (random_below(&seed, 10000) < table[t].seed)
			{
				uint32_t	pages[300];
				uint32_t	number = random_below(&seed, 300);

				for (uint32_t i = 0; i < number; i++)
					pages[i] = (a.page + i * 3) % n;
				for (int i = 0; i < ALL; i++)
				{
					/* at each size other ones */
					ws_sweep_seed(sweep, i, pages + i, number > (uint32_t) i ? number - i : 0);
					clock_seed(m->caches[i], pages + i, number > (uint32_t) i ? number - i : 0);
				}
			}
			if (k % 1000 == 0)
			{
				/* the hand's way through gaps counts, too: not after a resize */
				evicted += m->caches[0]->moved > 0;
				ws_sweep_measure(sweep, 2);
				for (int i = 0; i < ALL; i++)
				{
					/* of the time before, a thirtieth of an octave is forgotten */
					turns[i] = fmax(m->caches[i]->moved / (double) m->caches[i]->buffers / 2, turns[i] * exp2(-2 / 60.0));
					wrong += table[t].resize == 0 && fabs(turns[i] - sweep->caches[i].turns) > 1e-6;
					m->caches[i]->moved = 0;
				}
			}
			if (random_below(&seed, 10000) < table[t].resize)
			{
				double		buffers = table[t].buffers * exp(2 * random_unit(&seed) - 1);

				ws_sweep_resize(sweep, buffers);
				model_resize(m, buffers);
			}
			if (k % 16 == 0)
			{
				uint32_t	page = random_below(&seed, n);
				bool		holds = false;

				for (int i = 0; i < ALL; i++)
				{
					holds |= m->caches[i]->where[page] != NO_PAGE;
					wrong += sweep_filled(sweep, i) != m->caches[i]->filled ||
						sweep->caches[i].buffers != m->caches[i]->buffers;
				}
				wrong += ws_sweep_holds(sweep, page) != holds;
			}
		}
		ok(wrong == 0 && hits > 0 && evicted > 0 && sweep_check(sweep) == NULL,
		   "model: %s: hits and misses at all sizes are those of naive caches", table[t].name);
		for (int i = 0; i < ALL; i++)
			clock_free(m->caches[i]);
		zipf_free(zipf);
		free(m);
		free(sweep);
	}
}

/*
 * ----------------------------------------------------------------
 * Damping
 * ----------------------------------------------------------------
 */

static void
test_damping(void)
{
	static const struct
	{
		double		turns;		/* in a tick, of the smallest cache */
		uint32_t	shift;
		uint32_t	uses;
	}			table[] = {
		{0, 4, 5}, {0.00625, 4, 5}, {0.00626, 3, 5}, {0.1, 3, 5}, {0.101, 2, 5}, {0.125, 2, 5}, {0.25, 2, 5}, {0.26, 1, 5},
		{0.5, 1, 5}, {0.51, 0, 5}, {1, 0, 5}, {1.01, 0, 6}, {2, 0, 15}, {33.31, 0, 329},
		{100.5, 0, 1000}, {100.7, 0, 1000}, {1e300, 0, 1000},
	};
	WsSweep    *sweep = new_sweep(100, 100);

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		WsDamping	damping;
		WsDamping	often;
		WsDamping	burst;
		WsDamping	between;

		sweep->caches[0].turns = 10 * table[t].turns;
		damping = ws_sweep_damping(sweep, false);
		ok(damping.shift == table[t].shift && damping.uses == table[t].uses && sweep->bursts_only == 0,
		   "%g turns in a tick: %u uses are enough in %s", table[t].turns, damping.uses,
		   damping.shift == WS_DAMPING_LONG ? "16 presents" : damping.shift == WS_DAMPING_PRESENT ? "a present" :
		   damping.shift == 2 ? "four ticks" : damping.shift == 1 ? "two" : "one");
		burst = ws_damping_in(damping, 320 * WS_PRESENT);
		between = ws_damping_in(damping, 335 * WS_PRESENT);
		often = ws_sweep_damping(sweep, true);
		ok(burst.shift == 0 && burst.uses == (damping.shift > 0 ? WS_DAMPING_BURST : damping.uses) &&
		   between.shift == damping.shift && between.uses == damping.uses,
		   "and in a burst more");
		ok(often.shift == WS_DAMPING_LONG && often.uses == 5 && sweep->bursts_only == (table[t].shift == WS_DAMPING_LONG ? 0 : 1),
		   "often: it does not count for what is reported else");
		sweep->bursts_only = 0;
	}
	sweep->caches[0].turns = 1;
	sweep->caches[WS_SWEEP_PRESENT].turns = 0.0626;
	(void) ws_sweep_damping(sweep, true);
	is_int(sweep->bursts_only, 0, "no bursts if the present cache turns");
	sweep->caches[WS_SWEEP_PRESENT].turns = 0.0624;
	(void) ws_sweep_damping(sweep, true);
	is_int(sweep->bursts_only, 1, "bursts if it hardly does");
	sweep->caches[0].turns = 0.016;
	(void) ws_sweep_damping(sweep, true);
	is_int(sweep->bursts_only, 1, "a size stays fast for a while");
	sweep->caches[0].turns = 0.015;
	(void) ws_sweep_damping(sweep, true);
	is_int(sweep->bursts_only, 0, "and then is not");

	/* 3 turns of 100 buffers in two seconds */
	sweep->caches[0].buffers = 100;
	sweep->caches[0].moved = 300;
	ws_sweep_measure(sweep, 2);
	is_within(sweep->caches[0].turns, 1.5, 1e-9, "turns of the last seconds");
	sweep->caches[0].moved = 10;
	ws_sweep_measure(sweep, 30);
	is_within(sweep->caches[0].turns, 1.5 / sqrt(2), 1e-9, "are half forgotten after a minute");
	sweep->bursts_only = 1;
	sweep->caches[0].turns = 1.5;
	sweep->caches[0].moved = 100;
	ws_sweep_measure(sweep, 1);
	is_within(sweep->caches[0].turns, 1.5 + (16 - 1.5) / 16, 1e-9, "what is seen in bursts stands for sixteen,");
	ws_sweep_measure(sweep, 4);
	is_within(sweep->caches[0].turns, (1.5 + (16 - 1.5) / 16) * 0.75, 1e-9, "and is averaged over several");

	/* pages come all the time: each moves the hand of one buffer twice */
	for (uint32_t page = 0; page < 20; page++)
	{
		WsAccess	access = {.page = page, .tick = WS_BURST_EVERY + (page < 10 ? WS_PRESENT : 0)};
		uint32_t	cold;

		if (page % 10 == 0)
		{
			ws_sweep_init(sweep, 20);
			sweep->bursts_only = 1;
		}
		(void) ws_sweep_access(sweep, &access, &cold);
		if (page % 10 == 9)
			ok(sweep->caches[0].moved == (page < 10 ? 0 : 18) && sweep->caches[1].moved == 18,
			   "the hand of a cache that sees bursts only %s", page < 10 ? "is not measured between them" : "is in one");
	}
	free(sweep);
}

/*
 * What a process knows of a page: in which interval its hits were reported, how
 * many, and in which present none is reported any more.
 */
#define VISITED	150				/* pages that are used for some seconds */

typedef struct Reported
{
	uint32_t	interval;
	uint32_t	uses;
	uint32_t	quiet;
} Reported;

/*
 * Has the page been reported often enough in this interval?  In a long one, the
 * first hit in every fourth present is reported, too.
 */
static bool
is_damped(Reported *r, WsDamping most, uint32_t page, uint32_t tick)
{
	uint32_t	present = tick / WS_PRESENT;
	WsDamping	damping = ws_damping_in(most, tick);
	uint32_t	interval = damping.shift == WS_DAMPING_LONG ? ~(present / WS_BURSTS) :
		damping.shift == WS_DAMPING_PRESENT ? present : tick >> damping.shift;
	bool		again = r->quiet == present;

	if (r->interval != interval)
	{
		r->interval = interval;
		r->uses = 0;
	}
	if (r->uses++ < damping.uses)
		return false;
	r->quiet = present;
	return again || damping.shift != WS_DAMPING_LONG || (present + page) % 4 != 0;
}

/*
 * Damped hits do not change the answers: five hits of a page are reported in an
 * interval that is no longer than a turn of the smallest cache's hand, or more
 * where it makes some or many in a tick.  Misses are the same but for what is
 * "near": many turns in a tick are not followed one by one.  Where pages are
 * looked up often, those that matter come near all the same.
 */
static void
test_damped(void)
{
	static const struct
	{
		const char *name;
		uint32_t	buffers;
		uint32_t	pages;
		double		exponent;	/* of Zipf's law */
		uint32_t	table;		/* pages of one that is scanned through a ring */
		uint32_t	each;		/* accesses in a tick */
		uint32_t	warm;		/* accesses before anything is counted, */
		uint32_t	length;		/* and after */
		bool		often;
		uint32_t	made;		/* accesses, and a new page is the hottest */
		uint32_t	visit;		/* or another page is begun with, and used for
								 * some seconds, a few times */
		uint32_t	others;		/* of so many */
		double		most;		/* share of hits that are reported */
		double		near;
	}			table[] = {
		{"few hot pages", 4000, 14000, 1.2, 0, 100, 200000, 400000, false, 0, 0, 0, 0.9, 0.001},
		{"warm pages, and scans", 4000, 12000, 1, 2000, 40, 200000, 400000, false, 0, 0, 0, 0.95, 0.001},
		{"some turns in a tick", 4000, 12000, 1, 2000, 1000, 200000, 400000, false, 0, 0, 0, 0.9, 0.001},
		{"many turns", 1000, 6000, 1.5, 600, 10000, 500000, 2000000, false, 0, 0, 0, 0.9, 0.002},
		{"often, all cached", 4000, 3750, 0.01, 0, 2500, 750000, 2400000, true, 0, 0, 0, 0.5, 0.1},
		{"often, a skewed load, and scans", 4000, 3500, 1, 125, 2500, 750000, 2400000, true, 0, 0, 0, 0.5, 0.1},
		{"often, the hottest pages are new", 4000, 3500, 1, 0, 2500, 750000, 2400000, true, 500, 0, 0, 0.5, 0.1},
		{"often, pages are read, and used for seconds", 4000, 200, 0.01, 0, 600, 100000, 600000, true, 0, 200, 26000, 0.5, 0.15},
		{"often, pages are used for seconds", 3700, 100, 0.01, 0, 300, 900000, 600000, true, 0, 75, 3500, 0.5, 0.25},
		{"many more turns", 750, 5000, 1.4, 225, 12500, 375000, 750000, false, 0, 0, 0, 0.95, 0.004},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		uint32_t	n = table[t].pages + table[t].table + table[t].others;
		WsSweep    *all = new_sweep(n, table[t].buffers);
		WsSweep    *few = new_sweep(n, table[t].buffers);
		Clock	   *server = clock_new(table[t].buffers, n);
		Ring		ring;
		Reported   *reported = zeroed(n, sizeof(Reported));
		Zipf	   *zipf = zipf_new(table[t].pages, table[t].exponent);
		WsDamping	damping = {0, WS_USAGE_MAX};
		uint64_t	seed = seeded(181 + t);
		uint32_t	block = 0;
		uint32_t	ringed = 0;
		uint32_t	hottest = 0;
		uint32_t	visited[VISITED] = {0};
		double		missed[3][ALL] = {{0}};
		double		hits = 0;
		double		damped = 0;
		double		farthest = 0;

		for (int i = 0; i < ALL; i++)
			if (table[t].table > table[t].buffers * factor(i) / 4)
				ringed |= WS_SWEEP_BIT(i);
		ring_begin(&ring, 32);
		set_ring(all, WS_RING_READ, 32);
		set_ring(few, WS_RING_READ, 32);
		for (uint32_t k = 0; k < table[t].warm + table[t].length; k++)
		{
			bool		scanning = table[t].table > 0 && k % 7 == 0;
			bool		made = table[t].made > 0 && k % table[t].made == 0;
			uint32_t	page = scanning ? table[t].pages + block++ % table[t].table :
				(zipf_draw(zipf, &seed) + hottest) % table[t].pages;
			WsAccess	a = {.page = page, .ringed = scanning ? ringed : 0, .ring = WS_RING_READ, .process = 1, .relation = 1, .block = page};
			uint32_t	tick = 1000 + k / table[t].each;
			bool		counts = k >= table[t].warm && !made;
			bool		hit;
			uint32_t	cold;
			uint32_t	here;

			if (table[t].visit > 0 && k % table[t].visit == 0)
				page = a.page = visited[k / table[t].visit % VISITED] = table[t].pages + random_below(&seed, table[t].others);
			else if (table[t].visit > 0 && k % (table[t].visit / 2) == 1)
				page = a.page = visited[random_below(&seed, VISITED)];
			if (made)
			{
				/* in the place of the coldest, which is gone */
				page = a.page = hottest = (hottest + table[t].pages - 1) % table[t].pages;
				ws_sweep_forget(all, page);
				ws_sweep_forget(few, page);
				if (server->where[page] != NO_PAGE)
					clock_remove(server, page);
			}
			hit = clock_access(server, page, a.ringed >> WS_SWEEP_PRESENT & 1 ? &ring : NULL, NULL);
			if (k % (WS_TICKS_PER_SECOND * table[t].each) == 0)
			{
				ws_sweep_measure(few, 1);
				damping = ws_sweep_damping(few, table[t].often);
			}
			here = ws_sweep_access(all, &a, &cold);
			for (int i = 0; i < ALL && counts; i++)
				missed[0][i] += here >> i & 1;
			hits += hit && counts;
			if (hit && is_damped(&reported[page], damping, page, tick))
			{
				damped += counts;
				continue;
			}
			a.tick = tick;
			a.absent = ws_sweep_unseen(few, tick, made || !hit);
			here = ws_sweep_access(few, &a, &cold) & ~ws_sweep_unseen(few, tick, false);
			for (int i = 0; i < ALL && counts; i++)
			{
				double		each = few->bursts_only >> i & 1 ? WS_BURSTS : 1;

				missed[1][i] += (here >> i & 1) * each;
				missed[2][i] += ((here & ~few->unmissed) >> i & 1) * each;
			}
		}
		for (int i = 0; i < ALL; i++)
			if (!table[t].often)
				farthest = fmax(farthest, fabs(missed[1][i] - missed[0][i]) / table[t].length);
			else if (table[t].visit > 0)
				/* at least and at most */
				farthest = fmax(farthest, fmax(log(missed[2][i] / missed[0][i]), log(missed[0][i] / missed[1][i])));
			else if (missed[0][i] > 0.001 * table[t].length)
				/* beyond 3 standard errors of the misses in bursts */
				farthest = fmax(farthest, fabs(log(missed[1][i] / missed[0][i])) - 3 * sqrt(WS_BURSTS / missed[0][i]));
		ok(1 - damped / hits < table[t].most, "damping: %s: %.0f %% of the hits are reported", table[t].name,
		   100 * (1 - damped / hits));
		ok(farthest <= table[t].near && sweep_check(few) == NULL, "damping: %s: misses are the same (%.5f)",
		   table[t].name, farthest);
		clock_free(server);
		zipf_free(zipf);
		free(reported);
		free(all);
		free(few);
	}
}

/*
 * ----------------------------------------------------------------
 * Samples
 * ----------------------------------------------------------------
 */

/*
 * A trace of 40,000 pages goes through naive caches of full size, and the pages
 * in a sample through miniatures.
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

static void
test_sampled(uint32_t shift, bool with_scan, const char *name)
{
	static const int tested[TESTED] = {0, 2, 4, 9, 14, 17};
	const double rate = ldexp(1, -(int) shift);
	WsSweep    *sweep = new_sweep(16384, BUFFERS * rate);
	Zipf	   *zipf = zipf_new(PAGES, 0.9);
	uint32_t	npages = PAGES + TABLE;
	uint32_t   *number = zeroed(npages, sizeof(uint32_t));
	uint32_t	sampled = 0;
	Clock	   *clocks[TESTED];
	static Ring rings[TESTED];
	uint16_t   *misses[TESTED];
	uint32_t	ringed = 0;
	long		missed_mini[ALL] = {0};
	double		real[TESTED] = {0};
	uint64_t	seed = seeded(110);
	uint32_t	block = 0;
	double		worst = 0;

	for (int i = 0; i < ALL; i++)
		if (TABLE > BUFFERS * factor(i) / 4)
			ringed |= WS_SWEEP_BIT(i);
	set_ring(sweep, WS_RING_READ, 32 * rate);
	for (uint32_t page = 0; page < npages; page++)
		number[page] = page_hash(110, page) >> (32 - shift) == 0 ? sampled++ : NO_PAGE;
	for (int t = 0; t < TESTED; t++)
	{
		clocks[t] = clock_new((uint32_t) (BUFFERS * factor(tested[t])), npages);
		ring_begin(&rings[t], 32);
		misses[t] = zeroed(npages, sizeof(uint16_t));
	}

	for (long n = 0; n < WARM + LENGTH; n++)
	{
		bool		scanning = with_scan && n % 4 == 0;
		uint32_t	page = scanning ? PAGES + block++ % TABLE : zipf_draw(zipf, &seed);
		WsAccess	a = {.page = number[page], .ringed = scanning ? ringed : 0, .ring = WS_RING_READ, .process = 1, .relation = 1, .block = page};

		for (int t = 0; t < TESTED; t++)
			if (!clock_access(clocks[t], page, a.ringed >> tested[t] & 1 ? &rings[t] : NULL, NULL) && n >= WARM)
			{
				misses[t][page]++;
				real[t] += 1.0 / LENGTH;
			}
		if (a.page != NO_PAGE)
		{
			uint32_t	cold;
			uint32_t	missed = ws_sweep_access(sweep, &a, &cold);

			for (int i = 0; i < ALL && n >= WARM; i++)
				missed_mini[i] += missed >> i & 1;
		}
	}

	for (int t = 0; t < TESTED; t++)
	{
		int			below = t > 0 ? t - 1 : t;
		int			above = t < TESTED - 1 ? t + 1 : t;
		double		mini = missed_mini[tested[t]] / rate / LENGTH;
		double		slope = (real[below] - real[above]) /
			log(factor(tested[above]) / factor(tested[below]));
		double		half = 0.5 * slope / sweep->caches[tested[t]].buffers;
		double		squares = 0;
		double		sigma;

		for (uint32_t page = 0; page < npages; page++)
			squares += (double) misses[t][page] * misses[t][page];
		sigma = hypot(sqrt((1 - rate) / rate * squares) / LENGTH,
					  slope * sqrt((1 - rate) / (PAGES * rate)));
		worst = fmax(worst, (fabs(mini - real[t]) - half) / sigma);
		clock_free(clocks[t]);
		free(misses[t]);
	}
	ok(worst < K_SIGMA, "%s, 1/%d sampled: hit ratios of miniatures, worst is %.1f sigma",
	   name, 1 << shift, worst);
	zipf_free(zipf);
	free(number);
	free(sweep);
}

int
main(void)
{
	plan(100);
	test_sizes();
	test_model();
	test_damping();
	test_damped();
	test_sampled(3, false, "Zipf");
	test_sampled(4, true, "Zipf and a scan in a ring");
	return done();
}
