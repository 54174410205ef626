/*
 * sketch_t.c
 *		Tests of the sketch: geometry, addressing, time, marks, and several
 *		threads at once.
 */
#include "tap.h"
#include "yardstick.h"

#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>

/*
 * The cell of a hash in words of arithmetic: a quotient chooses the register,
 * and the level is how often the remainder can be halved.  A remainder of 0
 * is halved for ever and goes to the last level.
 */
static uint32_t
naive_cell(uint32_t m, uint32_t hash)
{
	uint32_t	span = (uint32_t) (UINT64_C(0x100000000) / m);
	uint32_t	rest = hash % span;
	uint32_t	level = 0;
	uint32_t	last_level = 0;

	for (uint32_t i = span; i > 1; i /= 2)
		last_level++;
	while (level < last_level && rest % 2 == 0)
	{
		rest /= 2;
		level++;
	}
	return level * m + hash / span;
}

static int
misplaced(const WsSketch *sk, uint32_t hash)
{
	uint32_t	cell = naive_cell(ws_sketch_m(sk), hash);

	return (ws_sketch_cell(sk, hash) != cell) + (ws_cell(hash, sk->log2m) != cell);
}

static void
test_registers_valid(void)
{
	long		wrong = 0;

	for (long m = -20000; m <= 140000; m++)
	{
		long		power = WS_REGISTERS_MIN;

		while (power < m && power < WS_REGISTERS_MAX)
			power *= 2;
		wrong += ws_registers_valid(m) != (m == power);
	}
	ok(wrong == 0 && WS_REGISTERS_MIN == 1024 && WS_REGISTERS_MAX == 65536 &&
	   !ws_registers_valid(LONG_MIN) && !ws_registers_valid(LONG_MAX) &&
	   !ws_registers_valid(INT_MIN), "numbers of registers are the powers of two from 1024 to 65536");
}

/* marks that are set */
static long
marks_of(const WsSketch *sk)
{
	long		n = 0;

	for (size_t i = 0; i < ws_sketch_ncells(sk) / 32; i++)
		n += __builtin_popcount(ws_sketch_marks(sk)[i]);
	return n;
}

static void
test_geometry(uint32_t m)
{
	WsSketch   *sk = new_sketch(m, 7);
	size_t		ncells = (size_t) m * (33 - (uint32_t) log2(m));
	uint32_t	span = (uint32_t) (UINT64_C(0x100000000) / m);
	uint64_t	seed = seeded(11);
	long		wrong = 0;
	bool		empty = true;

	for (size_t i = 0; i < ncells; i++)
		empty &= sk->cells[i] == 0;
	ok(ws_sketch_m(sk) == m && ws_sketch_ncells(sk) == ncells &&
	   ws_sketch_size(m) == 64 + ncells * 33 / 8 && ws_sketch_size(m) % 64 == 0 &&
	   ws_sketch_marks(sk) == sk->cells + ncells,
	   "%u registers: 33 - log2(m) levels; the size is header, cells, and a bit for each", m);
	ok(empty && marks_of(sk) == 0 && sk->tick == 7 && sk->floor == 7 && sk->sampled_below == 0 &&
	   sk->unattended == 0 && ws_sketch_check(sk) == NULL, "%u registers: a new sketch is empty and sound", m);

	for (uint32_t bit = 1; bit != 0; bit <<= 1)
		wrong += misplaced(sk, bit) + misplaced(sk, ~bit) + misplaced(sk, -bit);
	for (uint32_t first = 0, j = 0; j < m; j++, first += span)
		wrong += misplaced(sk, first) + misplaced(sk, first + span / 2) + misplaced(sk, first + (span - 1));
	for (int i = 0; i < 200000; i++)
		wrong += misplaced(sk, random32(&seed));
	is_int(wrong, 0, "cells are where plain arithmetic says");
	/* the last two levels hold one hash of each register */
	ok(ws_sketch_cell(sk, 0) == (sk->levels - 1) * m && ws_sketch_cell(sk, span / 2) == (sk->levels - 2) * m,
	   "%u registers: the sentinel ends the count of zeros", m);

	/* the marks have room for all cells, and are not in them */
	for (size_t c = 0; c < ncells; c++)
	{
		wrong += ws_marked(ws_sketch_marks(sk), c);
		ws_mark(ws_sketch_marks(sk), c);
		wrong += !ws_marked(ws_sketch_marks(sk), c) || sk->cells[c] != 0;
	}
	ws_sketch_advance(sk, 7);
	wrong += marks_of(sk) != (long) ncells;
	ws_sketch_advance(sk, 8);
	ok(wrong == 0 && marks_of(sk) == 0, "%u registers: marks stay in the tick, and none in the next", m);
	free(sk);
}

/* What is known of the levels, in plain arrays */
typedef struct Naive
{
	uint32_t	begun;			/* first tick of the period */
	uint32_t	coarse;
	uint32_t	was_coarse;
	uint32_t	exact_since;	/* all but those of coarse levels */
	uint32_t	exact[16];		/* periods with marks for a tick; 0: for a period */
	bool		worth[16];		/* last time */
} Naive;

/*
 * Which share of the stores into a level, of 1024 cells, is saved by marks that last for
 * the period that ends?  -1 if fewer cells were used than this share.  Uses in the
 * period's first tick can be seen if marks lasted, those in its last if not.
 */
static double
share_saved(const uint32_t *cells, uint32_t level, uint32_t begun, uint32_t seen, double least)
{
	double		period = 0;
	double		tick = 0;

	for (const uint32_t *cell = cells + level * 1024; cell < cells + (level + 1) * 1024; cell++)
	{
		period += *cell >= begun;
		tick += *cell == seen;
	}
	return period / 1024 < least || tick == 0 ? -1 : 1 - period / (8 * tick);
}

/*
 * At the end of a period, in other words: a level begins to keep its marks if that would
 * have saved half of its stores, twice, and all below it do.  It ends when less than three
 * eighths were saved, twice, but is coarse for eight periods more.
 */
static void
naive_choose(Naive *n, const uint32_t *cells, uint32_t last, uint32_t tick)
{
	uint32_t	periods = tick / 8 - last / 8;
	uint32_t	coarse = n->coarse;
	bool		below = true;

	for (uint32_t k = 0; k < 16; k++)
	{
		bool		kept = k < coarse && n->exact[k] == 0;
		bool		worth = kept ? share_saved(cells, k, n->begun, n->begun, 1 / 8.0) >= 3 / 8.0 :
			share_saved(cells, k, n->begun, last, 1 / 6.0) >= 1 / 2.0;

		if (!below && k >= coarse)
		{
			n->worth[k] = false;
			continue;
		}
		if (worth && n->worth[k])
			n->exact[k] = 0;
		else if (k < coarse && !(kept && (worth || n->worth[k])))
			n->exact[k] += periods;
		else if (k >= coarse)
			n->exact[k] = 9;
		n->worth[k] = worth;
		below = n->exact[k] == 0;
	}
	for (n->coarse = 16; n->coarse > 0 && n->exact[n->coarse - 1] >= 9; n->coarse--)
		;
	if (n->coarse < coarse && tick - 64 > n->exact_since)
		n->exact_since = tick - 64;
	n->was_coarse = n->coarse > n->was_coarse ? n->coarse : n->was_coarse;
}

/* No level is coarse, nor was one. */
static void
naive_forget(Naive *n)
{
	n->coarse = n->was_coarse = 0;
	for (int k = 0; k < 16; k++)
	{
		n->exact[k] = 9;
		n->worth[k] = false;
	}
}

/*
 * Everything that changes a sketch, at random, against plain arrays.
 */
static void
test_changes(void)
{
	enum
	{
		M = 1024, NCELLS = 23 * M, START = 1000, OPERATIONS = 1000000, PAGES = 20000
	};
	WsSketch   *sk = new_sketch(M, START);
	static uint32_t cells[NCELLS];
	static bool marks[NCELLS];
	uint32_t	tick = START;
	uint32_t	floor = START;
	Naive		naive = {.begun = START, .exact_since = START};
	uint64_t	seed = seeded(18);
	long		done[7] = {0};
	long		coarse_at[23] = {0};
	long		wrong = 0;

	naive_forget(&naive);
	for (long i = 0; i < OPERATIONS; i++)
	{
		uint32_t	what = random_below(&seed, 10000);
		uint32_t	hash = (uint32_t) mix64(random_below(&seed, PAGES));
		uint32_t	cell = naive_cell(M, hash);
		uint32_t	other = tick + 2 - random_below(&seed, 5);

		what = what < 9000 ? 0 : what < 9900 ? 1 : what < 9940 ? 2 : what < 9960 ? 3 : what < 9980 ? 4 :
			what < 9999 ? 5 : 6;
		done[what]++;
		switch (what)
		{
			case 0:
				/* a use, and its mark unless it has one */
				wrong += ws_marked(ws_sketch_marks(sk), cell) != marks[cell];
				if (marks[cell])
					break;
				ws_sketch_touch(sk, hash);
				cells[cell] = cells[cell] > tick ? cells[cell] : tick;
				ws_mark(ws_sketch_marks(sk), cell);
				marks[cell] = true;
				break;
			case 1:
				ws_sketch_recall(sk, cell, other);
				cells[cell] = cells[cell] > other ? cells[cell] : other;
				break;
			case 2:
				/* by turns much is used in a period, and little */
				if (i % 100000 < 60000 && i % 6 != 0)
					break;
				if (other / 8 > tick / 8)
				{
					naive_choose(&naive, cells, tick, other);
					naive.begun = other;
					memset(marks, 0, sizeof(marks));
				}
				for (uint32_t k = 0; other > tick && k < NCELLS / M; k++)
					if (k >= naive.coarse || naive.exact[k] > 0)
						memset(marks + k * M, 0, M * sizeof(bool));
				tick = other > tick ? other : tick;
				coarse_at[naive.coarse]++;
				wrong += ws_sketch_advance(sk, other) != tick;
				break;
			case 3:
				if (i % 70 != 0)
					break;
				ws_sketch_raise_floor(sk, other);
				if (other > floor)
				{
					memset(marks, 0, sizeof(marks));
					naive_forget(&naive);
				}
				floor = floor > other ? floor : other;
				break;
			case 4:
				other -= 2;
				ws_sketch_lower_floor(sk, other);
				floor = floor < other ? floor : other;
				break;
			case 5:
				ws_store(&sk->unattended, (uint32_t) i % 3);
				{
					bool		unattended;

					wrong += ws_sketch_present(sk, &unattended) != tick || unattended != (i % 3 != 0);
				}
				break;
			default:
				if (i % 8 != 0)
					break;
				ws_sketch_restart(sk, other);
				tick = floor = other;
				memset(cells, 0, sizeof(cells));
				memset(marks, 0, sizeof(marks));
				naive_forget(&naive);
				naive.begun = naive.exact_since = other;
				break;
		}
		wrong += sk->tick != tick || sk->floor != floor || sk->coarse != naive.coarse ||
			sk->was_coarse != naive.was_coarse || sk->begun != naive.begun || sk->exact_since != naive.exact_since || sk->cells[cell] != cells[cell];
		if (what > 1)
		{
			wrong += memcmp(sk->cells, cells, sizeof(cells)) != 0;
			for (uint32_t c = 0; c < NCELLS; c++)
				wrong += ws_marked(ws_sketch_marks(sk), c) != marks[c];
		}
	}
	is_int(wrong, 0, "changes: each leaves what the arrays have");
	ok(done[2] > 100 && done[3] > 100 && done[4] > 100 && done[5] > 100 && done[6] > 10,
	   "changes: all of them happened");
	ok(coarse_at[0] > 100 && coarse_at[1] > 50 && coarse_at[2] > 0, "changes: no, one and two levels were coarse");

	/* the ends of time */
	ws_sketch_advance(sk, UINT32_MAX);
	is_int(ws_sketch_advance(sk, 0), UINT32_MAX, "time does not wrap");
	ws_sketch_restart(sk, WS_TICK_ORIGIN);
	ok(sk->tick == WS_TICK_ORIGIN && ws_sketch_check(sk) == NULL, "but a restart sets it back");
	free(sk);
}

/*
 * A touch in the tick of the last one does not write, so that a page in use
 * by many processes does not bounce between their caches.  A sketch in memory
 * that cannot be written shows it: a store would end the program.
 */
static void
test_no_store_when_equal(void)
{
	size_t		size = ws_sketch_size(1024);
	WsSketch   *sk = mmap(NULL, size, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (sk == MAP_FAILED)
		abort();
	ws_sketch_init(sk, 1024, 100);
	ws_sketch_touch(sk, 0xDEADBEEF);
	if (mprotect(sk, size, PROT_READ) != 0)
		abort();
	ws_sketch_touch(sk, 0xDEADBEEF);
	ws_sketch_advance(sk, 100);
	ws_sketch_advance(sk, 99);
	ws_sketch_raise_floor(sk, 99);
	ws_sketch_raise_floor(sk, 100);
	ws_sketch_lower_floor(sk, 100);
	ws_sketch_recall(sk, ws_sketch_cell(sk, 0xDEADBEEF), 100);
	ok(sk->cells[ws_sketch_cell(sk, 0xDEADBEEF)] == 100 && sk->tick == 100 && sk->floor == 100,
	   "what changes nothing stores nothing");
	munmap(sk, size);
}

/*
 * The check that other tests rely on reports each invariant that is broken.
 */
static void
test_check(void)
{
	WsSketch   *sk = new_sketch(1024, 50);
	const struct
	{
		uint32_t   *field;
		uint32_t	broken;
	}			table[] = {
		{&sk->log2m, 9}, {&sk->log2m, 17}, {&sk->log2m, 32}, {&sk->log2m, UINT32_MAX},
		{&sk->shift, 21}, {&sk->shift, 23}, {&sk->levels, 22}, {&sk->levels, 24},
		{&sk->sentinel, 0}, {&sk->sentinel, UINT32_C(1) << 21}, {&sk->floor, 0}, {&sk->floor, 51},
		{&sk->cells[0], 51}, {&sk->cells[23 * 1024 - 1], 51},
	};
	long		wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		uint32_t	saved = *table[i].field;

		*table[i].field = table[i].broken;
		wrong += ws_sketch_check(sk) == NULL;
		*table[i].field = saved;
		wrong += ws_sketch_check(sk) != NULL;
	}
	is_int(wrong, 0, "check: each broken invariant is reported");
	free(sk);
}

/*
 * ----------------------------------------------------------------
 * Threads
 * ----------------------------------------------------------------
 */

/*
 * Two threads use one sketch at once, each with its own pages and both with
 * some in common, each moving time on before every round.  In round i a
 * thread reads a present of at least START + i, so alone it leaves its last
 * round with a cell in that cell, or a later one.  With two, a store can be
 * overtaken by one that began earlier, which is the lost race that the sketch
 * allows; but the thread that overtakes has a last round of its own.  So no
 * cell is older than what the thread that used it less lately would leave,
 * and a cell that only one thread uses is not older than this thread leaves.
 * That holds for any interleaving; the test asserts nothing about time.
 *
 * With marks, a thread that finds one does nothing.  A use may then pass for
 * one of the round before, or of an earlier one if its thread was interrupted
 * between storing and marking.  That takes an interruption just there; the
 * test allows it for one cell in a hundred.
 */
#define HAMMER_M		1024
#define HAMMER_START	1000
#define HAMMER_ROUNDS	20000
#define HAMMER_PAGES	100		/* per round */

typedef struct Hammer
{
	WsSketch   *sk;
	uint64_t	seed;
	bool		marks;
	pthread_barrier_t *gate;	/* both begin together */
	uint32_t   *last;			/* per cell: last round that used it, from 1 */
} Hammer;

static void *
hammer(void *arg)
{
	Hammer	   *h = arg;
	uint64_t	seed = seeded(h->seed);

	pthread_barrier_wait(h->gate);
	for (uint32_t round = 1; round <= HAMMER_ROUNDS; round++)
	{
		ws_sketch_advance(h->sk, HAMMER_START + round);
		for (int i = 0; i < HAMMER_PAGES; i++)
		{
			uint32_t	hash = random32(&seed);
			uint64_t	cell = ws_cell(hash, h->sk->log2m);

			if (!h->marks)
				ws_sketch_touch(h->sk, hash);
			else if (!ws_marked(ws_sketch_marks(h->sk), cell))
			{
				ws_sketch_touch(h->sk, hash);
				ws_mark(ws_sketch_marks(h->sk), cell);
			}
			h->last[cell] = round;
		}
	}
	return NULL;
}

/* Marks in one word are set by both threads: none may be lost. */
static void *
mark_all(void *arg)
{
	Hammer	   *h = arg;

	pthread_barrier_wait(h->gate);
	for (size_t c = h->seed % 2; c < ws_sketch_ncells(h->sk); c += 2)
		ws_mark(ws_sketch_marks(h->sk), c);
	return NULL;
}

static void
run_two(Hammer *h, void *(*work) (void *))
{
	pthread_t	thread[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, &h[i]) != 0)
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void
test_hammer(bool marks, const char *name)
{
	WsSketch   *sk = new_sketch(HAMMER_M, HAMMER_START);
	long		ncells = (long) ws_sketch_ncells(sk);
	pthread_barrier_t gate;
	Hammer		h[2];
	long		too_old = 0;
	long		not_used = 0;

	pthread_barrier_init(&gate, NULL, 2);
	for (int i = 0; i < 2; i++)
	{
		h[i] = (Hammer)
		{
			sk, 20 + i, marks, &gate, calloc(ncells, sizeof(uint32_t))
		};
		if (h[i].last == NULL)
			abort();
	}
	if (marks)
	{
		run_two(h, mark_all);
		is_int(marks_of(sk), ncells, "two threads: no mark is lost");
		ws_sketch_advance(sk, HAMMER_START + 1);
	}
	run_two(h, hammer);

	ok(sk->tick == HAMMER_START + HAMMER_ROUNDS && ws_sketch_check(sk) == NULL,
	   "%s: the present is the last, and the sketch is sound", name);
	for (long c = 0; c < ncells; c++)
	{
		uint32_t	a = h[0].last[c];
		uint32_t	b = h[1].last[c];
		uint32_t	least = a == 0 || (b > 0 && b < a) ? b : a;

		if (least == 0)
			not_used += sk->cells[c] != 0;
		else
			too_old += sk->cells[c] + marks < HAMMER_START + least;
	}
	ok(too_old <= (marks ? ncells / 100 : 0), "%s: %ld of %ld cells are older than one of them leaves it",
	   name, too_old, ncells);
	is_int(not_used, 0, "two threads: no cell is on that none used");
	free(h[0].last);
	free(h[1].last);
	free(sk);
	pthread_barrier_destroy(&gate);
}

/*
 * A thread that sees a tick sees the flag that was stored before it.  One thread
 * does what the worker does when it comes and goes: it stores the flag, here the
 * number of the tick to come, and raises the tick.  Others look.  On a processor
 * that keeps stores in order only the compiler could break this.
 */
#define PAIR_TICKS		200000
#define PAIR_READERS	3

typedef struct Looker
{
	const WsSketch *sk;
	long		wrong;
	long		seen;			/* ticks */
} Looker;

static void *
come_and_go(void *arg)
{
	WsSketch   *sk = arg;

	for (uint32_t tick = HAMMER_START + 1; tick <= HAMMER_START + PAIR_TICKS; tick++)
	{
		ws_store(&sk->unattended, tick);
		ws_sketch_advance(sk, tick);
	}
	return NULL;
}

static void *
look(void *arg)
{
	Looker	   *l = arg;
	uint32_t	last = HAMMER_START;

	while (last < HAMMER_START + PAIR_TICKS)
	{
		bool		unattended;
		uint32_t	tick = ws_sketch_present(l->sk, &unattended);

		/* the flag of this tick or of a later one, never of one before */
		if (tick != HAMMER_START)
			l->wrong += !unattended || ws_load(&l->sk->unattended) < tick;
		l->seen += tick != last;
		last = tick;
	}
	return NULL;
}

static void
test_pair(void)
{
	WsSketch   *sk = new_sketch(HAMMER_M, HAMMER_START);
	pthread_t	writer;
	pthread_t	readers[PAIR_READERS];
	Looker		lookers[PAIR_READERS];
	long		wrong = 0;
	long		seen = 0;

	for (int i = 0; i < PAIR_READERS; i++)
	{
		lookers[i] = (Looker)
		{
			sk, 0, 0
		};
		if (pthread_create(&readers[i], NULL, look, &lookers[i]) != 0)
			abort();
	}
	if (pthread_create(&writer, NULL, come_and_go, sk) != 0)
		abort();
	pthread_join(writer, NULL);
	for (int i = 0; i < PAIR_READERS; i++)
	{
		pthread_join(readers[i], NULL);
		wrong += lookers[i].wrong;
		seen += lookers[i].seen;
	}
	ok(wrong == 0 && seen >= PAIR_READERS, "a thread that sees a tick sees what was stored before it");
	free(sk);
}

/*
 * Which levels keep their marks?  So many pages of 4096 registers are used twice in each
 * tick that is in the pattern, a bit for each of eight ticks, or in one of ten ticks.  Returns
 * how many are coarse in the end; *marked becomes the share of uses that found a mark.
 */
static uint32_t
coarse_after(uint32_t pages, uint32_t sampled_below, uint32_t pattern, uint32_t periods, double *marked)
{
	WsSketch   *sk = new_sketch(4096, 8000);
	uint32_t	most = 0;
	long		uses = 0;
	long		found = 0;

	ws_store(&sk->sampled_below, sampled_below);
	for (uint32_t t = 8000; t < 8000 + 8 * periods; t++)
	{
		if (pattern == 0 || pattern >> (t % 8) & 1)
			ws_sketch_advance(sk, t);
		most = sk->coarse > most ? sk->coarse : most;
		if (pattern == 0 ? t % 10 != 0 : !(pattern >> (t % 8) & 1))
			continue;
		for (uint32_t use = 0; use < 2 * pages; use++)
		{
			uint32_t	hash = (uint32_t) mix64(use % pages + seeded(0));
			uint32_t	cell = ws_sketch_cell(sk, hash);

			uses++;
			if (ws_marked(ws_sketch_marks(sk), cell))
			{
				found++;
				continue;
			}
			ws_sketch_touch(sk, hash);
			if (hash >= sampled_below)
				ws_mark(ws_sketch_marks(sk), cell);
		}
	}
	*marked = (double) found / uses;
	free(sk);
	return most;
}

static void
test_levels(void)
{
	double		marked;
	uint32_t	coarse = coarse_after(20000, 0, 0xFF, 10, &marked);

	ok(coarse >= 3 && marked > 0.8, "pages used in each tick: %.2f find a mark", marked);
	ok(coarse_after(20000, UINT32_C(1) << 30, 0xFF, 10, &marked) >= 3, "the registers that have marks decide");
	is_int(coarse_after(20000, UINT32_MAX, 0xFF, 10, &marked), 0, "if no register has, no level is coarse");
	is_int(coarse_after(400, 0, 0xFF, 10, &marked), 0, "nor if few pages are used");
	is_int(coarse_after(20000, 0, 0, 100, &marked), 0, "nor if all are used in one tick of ten");
	coarse = coarse_after(20000, 0, 0xFE, 10, &marked);
	ok(coarse >= 3 && marked > 0.8, "the first tick of a period may be left out: %.2f", marked);
}

int
main(void)
{
	plan(57);
	test_registers_valid();
	for (uint32_t m = WS_REGISTERS_MIN; m <= WS_REGISTERS_MAX; m *= 2)
		test_geometry(m);
	test_changes();
	test_levels();
	test_no_store_when_equal();
	test_check();
	test_hammer(false, "two threads");
	test_hammer(true, "two threads with marks");
	test_pair();
	return done();
}
