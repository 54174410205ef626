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

	return ws_cell(hash, sk->log2m) != cell;
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

static long
bits_of(const uint32_t *words, size_t n)
{
	long		bits = 0;

	for (size_t i = 0; i < n; i++)
		bits += __builtin_popcount(words[i]);
	return bits;
}

/* marks that are set */
static long
marks_of(const WsSketch *sk)
{
	return bits_of(ws_sketch_marks(sk), ws_ncells(sk->log2m) / 32);
}

static long
quiet_of(const WsSketch *sk)
{
	return bits_of((const uint32_t *) ((const char *) sk + ws_sketch_size(ws_sketch_m(sk))) - 65536 / 32, 65536 / 32);
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
	ok(ws_sketch_m(sk) == m && ws_ncells(sk->log2m) == ncells &&
	   ws_sketch_size(m) == 64 + ncells * 33 / 8 + 65536 / 8 && ws_sketch_size(m) % 64 == 0 &&
	   ws_sketch_marks(sk) == sk->cells + ncells,
	   "%u registers: 33 - log2(m) levels; the size is header, cells, a bit for each, and 65,536", m);
	ok(empty && marks_of(sk) == 0 && sk->tick == 7 && sk->present == 7 && sk->floor == 7 && sk->sampled_below == 0 &&
	   sk->unattended == 0 && ws_sketch_check(sk) == NULL, "%u registers: a new sketch is empty and sound", m);

	for (uint32_t bit = 1; bit != 0; bit <<= 1)
		wrong += misplaced(sk, bit) + misplaced(sk, ~bit) + misplaced(sk, -bit);
	for (uint32_t first = 0, j = 0; j < m; j++, first += span)
		wrong += misplaced(sk, first) + misplaced(sk, first + span / 2) + misplaced(sk, first + (span - 1));
	for (int i = 0; i < 200000; i++)
		wrong += misplaced(sk, random32(&seed));
	is_int(wrong, 0, "cells are where plain arithmetic says");
	/* the last two levels hold one hash of each register */
	ok(ws_cell(0, sk->log2m) == (ws_levels(sk->log2m) - 1) * m && ws_cell(span / 2, sk->log2m) == (ws_levels(sk->log2m) - 2) * m,
	   "%u registers: the sentinel ends the count of zeros", m);

	/* the marks have room for all cells, and are not in them */
	for (size_t c = 0; c < ncells; c++)
	{
		wrong += ws_marked(ws_sketch_marks(sk), c);
		ws_mark(ws_sketch_marks(sk), c);
		wrong += !ws_marked(ws_sketch_marks(sk), c) || sk->cells[c] != 0;
	}
	wrong += quiet_of(sk) != 0;
	ws_sketch_advance(sk, 9);
	wrong += marks_of(sk) != (long) ncells;
	ws_sketch_advance(sk, 10);
	ok(wrong == 0 && marks_of(sk) == 0, "%u registers: marks stay in the second, and none in the next", m);

	/* so do quiet bits, which are no marks */
	for (int i = 0; i < 1 << 20; i++)
	{
		uint32_t	hash = random32(&seed);

		ws_sketch_quiet(sk, hash, 10);
		wrong += !ws_is_quiet(ws_quiet_words(ws_sketch_marks(sk), sk->log2m), hash, 10);
	}
	ws_sketch_advance(sk, 19);
	wrong += marks_of(sk) != 0 || quiet_of(sk) < 65530;
	ws_sketch_advance(sk, 20);
	ok(wrong == 0 && quiet_of(sk) == 0, "%u registers: quiet bits, too", m);
	free(sk);
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
	uint32_t	present = START;
	uint32_t	floor = START;
	uint64_t	seed = seeded(18);
	long		done[7] = {0};
	long		wrong = 0;

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
				cells[cell] = cells[cell] > present ? cells[cell] : present;
				ws_mark(ws_sketch_marks(sk), cell);
				marks[cell] = true;
				break;
			case 1:
				ws_sketch_recall(sk, cell, other);
				cells[cell] = cells[cell] > other ? cells[cell] : other;
				break;
			case 2:
				tick = other > tick ? other : tick;
				if (tick / 10 * 10 > present)
				{
					present = tick / 10 * 10;
					memset(marks, 0, sizeof(marks));
				}
				wrong += ws_sketch_advance(sk, other) != tick;
				break;
			case 3:
				ws_sketch_raise_floor(sk, other);
				if (other > floor && other > present)
				{
					present = other;
					memset(marks, 0, sizeof(marks));
				}
				if (other > floor)
					tick = other > tick ? other : tick;
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

					wrong += ws_sketch_present(sk, &unattended) != present || unattended != (i % 3 != 0);
				}
				break;
			default:
				if (i % 8 != 0)
					break;
				ws_sketch_restart(sk, other);
				tick = present = floor = other;
				memset(cells, 0, sizeof(cells));
				memset(marks, 0, sizeof(marks));
				break;
		}
		wrong += sk->tick != tick || sk->present != present || sk->floor != floor || sk->cells[cell] != cells[cell];
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

	/* the ends of time */
	ws_sketch_advance(sk, UINT32_MAX);
	is_int(ws_sketch_advance(sk, 0), UINT32_MAX, "time does not wrap");
	ws_sketch_restart(sk, WS_TICK_ORIGIN);
	ok(sk->tick == WS_TICK_ORIGIN && sk->present == WS_TICK_ORIGIN && ws_sketch_check(sk) == NULL, "but a restart sets it back");
	free(sk);
}

/*
 * A touch in the present of the last one does not write, so that a page in use
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
	ws_sketch_recall(sk, ws_cell(0xDEADBEEF, sk->log2m), 100);
	ok(sk->cells[ws_cell(0xDEADBEEF, sk->log2m)] == 100 && sk->tick == 100 && sk->floor == 100,
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
		{&sk->floor, 0}, {&sk->floor, 51},
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
		ws_sketch_advance(h->sk, HAMMER_START + WS_PRESENT * round);
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
	for (size_t c = h->seed % 2; c < ws_ncells(h->sk->log2m); c += 2)
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
	long		ncells = (long) ws_ncells(sk->log2m);
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
		ws_sketch_advance(sk, HAMMER_START + WS_PRESENT);
	}
	run_two(h, hammer);

	ok(sk->present == HAMMER_START + WS_PRESENT * HAMMER_ROUNDS && ws_sketch_check(sk) == NULL,
	   "%s: the present is the last, and the sketch is sound", name);
	for (long c = 0; c < ncells; c++)
	{
		uint32_t	a = h[0].last[c];
		uint32_t	b = h[1].last[c];
		uint32_t	least = a == 0 || (b > 0 && b < a) ? b : a;

		if (least == 0)
			not_used += sk->cells[c] != 0;
		else
			too_old += sk->cells[c] + WS_PRESENT * marks < HAMMER_START + WS_PRESENT * least;
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
 * A thread that sees a present sees the flag that was stored before it.  One thread
 * does what the worker does when it comes and goes: it stores the flag, here the
 * number of the present to come, and begins it.  Others look.  On a processor
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
		ws_sketch_begin(sk, tick);
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
	ok(wrong == 0 && seen >= PAIR_READERS, "a thread that sees a present sees what was stored before it");
	free(sk);
}

int
main(void)
{
	plan(57);
	test_registers_valid();
	for (uint32_t m = WS_REGISTERS_MIN; m <= WS_REGISTERS_MAX; m *= 2)
		test_geometry(m);
	test_changes();
	test_no_store_when_equal();
	test_check();
	test_hammer(false, "two threads");
	test_hammer(true, "two threads with marks");
	test_pair();
	return done();
}
