/*
 * sketch_t.c
 *		Tests of the sketch: geometry, addressing, time, merging, checking, and
 *		two threads at once.
 *
 * Seeds are fixed, so a run either always passes or always fails.  Where an
 * assertion is about counts of random hashes, its bound is K_SIGMA standard
 * errors by the formula beside it: a correct sketch and a fresh seed would
 * fail such an assertion once in 1.7 million times.
 */
#include "tap.h"
#include "yardstick.h"

#include <pthread.h>
#include <sys/mman.h>

#define K_SIGMA 5

static const uint32_t geometry[] = {1024, 2048, 4096, 8192, 16384, 32768, 65536};

#define NGEOMETRY ((int) (sizeof(geometry) / sizeof(geometry[0])))

/*
 * The cell of a hash in words of arithmetic: a quotient chooses the register,
 * and the level is how often the remainder can be halved.  A remainder of 0
 * is halved for ever and goes to the last level.
 */
static uint32_t
naive_cell(uint32_t m, uint32_t hash)
{
	uint32_t	log2m = 0;
	uint32_t	span;
	uint32_t	rest;
	uint32_t	level = 0;
	uint32_t	last_level;

	for (uint32_t i = m; i > 1; i /= 2)
		log2m++;
	last_level = 32 - log2m;
	span = (uint32_t) (UINT64_C(0x100000000) / m);
	rest = hash % span;
	while (level < last_level && rest % 2 == 0)
	{
		rest /= 2;
		level++;
	}
	return level * m + hash / span;
}

static void
test_registers_valid(void)
{
	static const struct
	{
		long		m;
		bool		valid;
	}			table[] = {
		{-16384, false}, {-1, false}, {0, false}, {1, false}, {512, false},
		{1023, false}, {1024, true}, {1025, false}, {1536, false},
		{2048, true}, {4096, true}, {8192, true}, {16384, true},
		{16385, false}, {32768, true}, {65535, false}, {65536, true},
		{65537, false}, {131072, false}, {2147483647, false},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		ok(ws_registers_valid(table[i].m) == table[i].valid,
		   "%ld registers are %s", table[i].m,
		   table[i].valid ? "valid" : "not valid");
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
test_geometry(void)
{
	is_int(offsetof(WsSketch, cells), 64, "the header is one cache line");
	is_int(WS_LEVELS_MAX, 23, "the smallest geometry has the most levels");

	for (int g = 0; g < NGEOMETRY; g++)
	{
		uint32_t	m = geometry[g];
		WsSketch   *sk = new_sketch(m, 7);
		uint32_t	log2m = (uint32_t) (log2(m) + 0.5);
		bool		empty = true;

		for (size_t i = 0; i < ws_sketch_ncells(sk); i++)
			empty &= (sk->cells[i] == 0);
		ok(ws_sketch_m(sk) == m && sk->levels == 33 - log2m &&
		   ws_sketch_ncells(sk) == (size_t) m * (33 - log2m) &&
		   ws_sketch_size(m) == 64 + ws_sketch_ncells(sk) * 33 / 8 &&
		   ws_sketch_size(m) % 64 == 0,
		   "%u registers: 33 - log2(m) levels; the size is header, cells, and a bit for each", m);
		ok(ws_sketch_marks(sk) == sk->cells + ws_sketch_ncells(sk) && marks_of(sk) == 0,
		   "%u registers: there are no marks at first, and they follow the cells", m);
		ok(empty && sk->tick == 7 && sk->floor == 7 && sk->sampled_below == 0 &&
		   ws_sketch_check(sk) == NULL,
		   "%u registers: a new sketch is empty and sound", m);
		free(sk);
	}
}

static void
test_addressing(void)
{
	static const uint32_t edge[] = {
		0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF,
	};
	uint64_t	seed = 11;

	for (int g = 0; g < NGEOMETRY; g++)
	{
		uint32_t	m = geometry[g];
		WsSketch   *sk = new_sketch(m, 100);
		uint32_t	span = (uint32_t) (UINT64_C(0x100000000) / m);
		uint32_t	K = sk->levels;
		long		wrong = 0;

		for (size_t i = 0; i < sizeof(edge) / sizeof(edge[0]); i++)
			wrong += (ws_sketch_cell(sk, edge[i]) != naive_cell(m, edge[i]));
		/* each single bit, each run of zeros, each register's ends */
		for (int bit = 0; bit < 32; bit++)
		{
			uint32_t	one = UINT32_C(1) << bit;

			wrong += (ws_sketch_cell(sk, one) != naive_cell(m, one));
			wrong += (ws_sketch_cell(sk, ~one) != naive_cell(m, ~one));
			wrong += (ws_sketch_cell(sk, -one) != naive_cell(m, -one));
		}
		for (uint32_t j = 0; j < m; j++)
		{
			uint32_t	first = j * span;
			uint32_t	last = first + (span - 1);

			wrong += (ws_sketch_cell(sk, first) != naive_cell(m, first));
			wrong += (ws_sketch_cell(sk, first + span / 2) !=
					  naive_cell(m, first + span / 2));
			wrong += (ws_sketch_cell(sk, last) != naive_cell(m, last));
		}
		for (int i = 0; i < 200000; i++)
		{
			uint32_t	hash = random32(&seed);

			wrong += (ws_sketch_cell(sk, hash) != naive_cell(m, hash));
		}
		is_int(wrong, 0, "cells are where plain arithmetic says");

		/*
		 * The last two levels hold one hash of each register: all zeros, and
		 * all zeros but the highest bit.
		 */
		ok(ws_sketch_cell(sk, 0) == (K - 1) * m &&
		   ws_sketch_cell(sk, span / 2) == (K - 2) * m &&
		   ws_sketch_cell(sk, 0xFFFFFFFF) == m - 1 &&
		   ws_sketch_cell(sk, -span) == (K - 1) * m + (m - 1),
		   "%u registers: the sentinel ends the count of zeros", m);
		free(sk);
	}
}

/*
 * Level k gets one page in 2^(k+1); the last gets what is left, as many as
 * the one before.  Of N hashes the count of a level is binomial, with
 * standard error sqrt(N q (1 - q)).
 */
static void
test_level_share(void)
{
	enum
	{
		N = 4000000
	};
	uint64_t	seed = 12;
	WsSketch   *sk = new_sketch(1024, 100);
	long		count[WS_LEVELS_MAX] = {0};
	double		worst = 0;
	double		total = 0;

	for (int i = 0; i < N; i++)
		count[ws_sketch_cell(sk, random32(&seed)) / 1024]++;
	for (int k = 0; k < WS_LEVELS_MAX; k++)
	{
		double		q = ldexp(1.0, k < WS_LEVELS_MAX - 1 ? -(k + 1) : -k);
		double		sigma = sqrt(N * q * (1 - q));

		total += q;
		/* below 10 expected a count is Poisson, not normal: skewed */
		if (N * q < 10)
			continue;
		if (fabs(count[k] - N * q) / sigma > worst)
			worst = fabs(count[k] - N * q) / sigma;
	}
	is_within(total, 1, 0, "the shares of all levels make one");
	ok(worst < K_SIGMA, "each level has its share, worst is %.1f sigma", worst);
	free(sk);
}

static void
test_time(void)
{
	WsSketch   *sk = new_sketch(1024, 100);
	uint32_t	cell = ws_sketch_cell(sk, 0xDEADBEEF);
	uint32_t	others = 0;

	is_int(ws_sketch_advance(sk, 105), 105, "time advances");
	is_int(ws_sketch_advance(sk, 103), 105, "and never falls");
	is_int(ws_sketch_advance(sk, 105), 105, "nor moves when told the same");
	is_int(sk->tick, 105, "the present is what was said");

	ws_sketch_touch(sk, 0xDEADBEEF);
	is_int(sk->cells[cell], 105, "a touch writes the present");
	for (size_t i = 0; i < ws_sketch_ncells(sk); i++)
		others += (i != cell && sk->cells[i] != 0);
	is_int(others, 0, "and nothing else");

	ws_sketch_advance(sk, 106);
	ws_sketch_touch(sk, 0xDEADBEEF);
	is_int(sk->cells[cell], 106, "a later touch moves the cell on");

	ws_sketch_raise_floor(sk, 104);
	is_int(sk->floor, 104, "the floor rises");
	ws_sketch_raise_floor(sk, 102);
	is_int(sk->floor, 104, "and only rises");
	is_int(sk->cells[cell], 106, "a floor wipes nothing");
	ok(ws_sketch_check(sk) == NULL, "the sketch is sound");

	ws_sketch_advance(sk, UINT32_MAX);
	is_int(ws_sketch_advance(sk, 0), UINT32_MAX, "time does not wrap");

	/* at the end of ticks, from where a restart goes back */
	ws_sketch_advance(sk, WS_TICK_LAST);
	for (uint32_t h = 0; h < 5000; h++)
	{
		ws_sketch_touch(sk, h * UINT32_C(0x9E3779B1));
		ws_mark(ws_sketch_marks(sk), ws_sketch_cell(sk, h * UINT32_C(0x9E3779B1)));
	}
	ws_sketch_restart(sk, WS_TICK_ORIGIN);
	ok(sk->tick == WS_TICK_ORIGIN && sk->floor == WS_TICK_ORIGIN, "a restart sets tick and floor back");
	others = 0;
	for (size_t i = 0; i < ws_sketch_ncells(sk); i++)
		others += sk->cells[i] != 0 || ws_marked(ws_sketch_marks(sk), i);
	is_int(others, 0, "and leaves neither times nor marks");
	ok(ws_sketch_check(sk) == NULL, "so that the sketch is sound");
	is_int(ws_sketch_advance(sk, WS_TICK_ORIGIN + 1), WS_TICK_ORIGIN + 1, "and time passes again");
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
	ok(sk->cells[ws_sketch_cell(sk, 0xDEADBEEF)] == 100,
	   "a second touch in one tick stores nothing");
	ws_sketch_advance(sk, 100);
	ws_sketch_advance(sk, 99);
	ws_sketch_raise_floor(sk, 99);
	ok(sk->tick == 100 && sk->floor == 100,
	   "nor does time that does not pass");
	munmap(sk, size);
}

static void
fill(WsSketch *sk, uint64_t seed, int pages, uint32_t ticks)
{
	uint32_t	start = sk->tick;

	for (int i = 0; i < pages; i++)
	{
		ws_sketch_advance(sk, start + (uint32_t) ((uint64_t) i * ticks / pages));
		ws_sketch_touch(sk, random32(&seed));
	}
}

/*
 * Break each invariant once, see it reported, and mend it.
 */
static void
test_check(void)
{
	WsSketch   *sk = new_sketch(1024, 50);
	size_t		last = ws_sketch_ncells(sk) - 1;

	fill(sk, 17, 5000, 100);
	ok(ws_sketch_check(sk) == NULL, "a filled sketch is sound");

	sk->log2m = 9;
	ok(ws_sketch_check(sk) != NULL, "too few registers are reported");
	sk->log2m = 17;
	ok(ws_sketch_check(sk) != NULL, "too many registers are reported");
	sk->log2m = 32;
	ok(ws_sketch_check(sk) != NULL, "so is a log2m that no shift can take");
	sk->log2m = UINT32_MAX;
	ok(ws_sketch_check(sk) != NULL, "so is the largest");
	sk->log2m = 10;

	sk->shift++;
	ok(ws_sketch_check(sk) != NULL, "a shift too far is reported");
	sk->shift -= 2;
	ok(ws_sketch_check(sk) != NULL, "a shift too short is reported");
	sk->shift++;

	sk->levels++;
	ok(ws_sketch_check(sk) != NULL, "a level too many is reported");
	sk->levels -= 2;
	ok(ws_sketch_check(sk) != NULL, "a level too few is reported");
	sk->levels++;

	sk->sentinel >>= 1;
	ok(ws_sketch_check(sk) != NULL, "a displaced sentinel is reported");
	sk->sentinel = 0;
	ok(ws_sketch_check(sk) != NULL, "a missing sentinel is reported");
	sk->sentinel = UINT32_C(1) << 22;

	sk->floor = 0;
	ok(ws_sketch_check(sk) != NULL, "a floor of zero is reported");
	sk->floor = sk->tick + 1;
	ok(ws_sketch_check(sk) != NULL, "a floor ahead of the present is reported");
	sk->floor = 50;

	for (int i = 0; i < 2; i++)
	{
		size_t		c = i == 0 ? 0 : last;
		uint32_t	saved = sk->cells[c];

		sk->cells[c] = sk->tick + 1;
		ok(ws_sketch_check(sk) != NULL, "the %s cell ahead of the present is reported",
		   i == 0 ? "first" : "last");
		sk->cells[c] = saved;
	}
	ok(ws_sketch_check(sk) == NULL, "mended, it is sound again");
	free(sk);
}

/*
 * A mark is of its cell and of no other, stays until time passes, and not
 * longer.
 */
static void
test_marks(void)
{
	for (int g = 0; g < NGEOMETRY; g++)
	{
		uint32_t	m = geometry[g];
		WsSketch   *sk = new_sketch(m, 100);
		uint32_t	log2m = sk->log2m;
		uint64_t	seed = 18;
		long		wrong = 0;
		long		n = 0;

		for (int i = 0; i < 20000; i++)
		{
			uint32_t	hash = random32(&seed);
			uint64_t	cell = ws_cell(hash, log2m);
			bool		marked = ws_marked(ws_sketch_marks(sk), cell);

			wrong += cell != naive_cell(m, hash);
			wrong += marked != (sk->cells[cell] == 100);
			ws_sketch_touch(sk, hash);
			ws_mark(ws_sketch_marks(sk), cell);
			n += !marked;
			wrong += !ws_marked(ws_sketch_marks(sk), cell);
		}
		ok(wrong == 0 && marks_of(sk) == n && n > 0,
		   "%u registers: marks are those of the cells that were marked", m);
		for (uint32_t c = 0; c < ws_sketch_ncells(sk); c++)
			ws_mark(ws_sketch_marks(sk), c);
		ok(marks_of(sk) == (long) ws_sketch_ncells(sk) && sk->levels == 33 - log2m &&
		   sk->cells[ws_sketch_ncells(sk) - 1] <= 100,
		   "%u registers: there is room for all of them, and they touch nothing else", m);
		ws_sketch_advance(sk, 100);
		ok(marks_of(sk) == (long) ws_sketch_ncells(sk), "%u registers: they stay in the tick", m);
		ws_sketch_advance(sk, 101);
		ok(marks_of(sk) == 0, "%u registers: and none stays in the next", m);
		free(sk);
	}
}

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
 */
#define HAMMER_M		1024
#define HAMMER_START	1000
#define HAMMER_ROUNDS	20000
#define HAMMER_PAGES	100		/* per round */

typedef struct Hammer
{
	WsSketch   *sk;
	uint64_t	seed;
	pthread_barrier_t *gate;
	uint32_t   *last;			/* per cell: last round that used it, from 1 */
} Hammer;

static void *
hammer(void *arg)
{
	Hammer	   *h = arg;
	uint64_t	seed = h->seed;

	pthread_barrier_wait(h->gate);
	for (uint32_t round = 1; round <= HAMMER_ROUNDS; round++)
	{
		ws_sketch_advance(h->sk, HAMMER_START + round);
		for (int i = 0; i < HAMMER_PAGES; i++)
		{
			uint32_t	hash = random32(&seed);

			ws_sketch_touch(h->sk, hash);
			h->last[ws_sketch_cell(h->sk, hash)] = round;
		}
	}
	return NULL;
}

static void
test_hammer(void)
{
	WsSketch   *sk = new_sketch(HAMMER_M, HAMMER_START);
	size_t		ncells = ws_sketch_ncells(sk);
	pthread_barrier_t gate;
	pthread_t	thread[2];
	Hammer		h[2];
	long		too_old = 0;
	long		not_used = 0;

	pthread_barrier_init(&gate, NULL, 2);
	for (int i = 0; i < 2; i++)
	{
		h[i] = (Hammer)
		{
			sk, 20 + i, &gate, calloc(ncells, sizeof(uint32_t))
		};
		if (pthread_create(&thread[i], NULL, hammer, &h[i]) != 0)
			abort();
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);

	is_int(sk->tick, HAMMER_START + HAMMER_ROUNDS, "two threads: the present is the last");
	ok(ws_sketch_check(sk) == NULL, "two threads: the sketch is sound");
	for (size_t c = 0; c < ncells; c++)
	{
		uint32_t	a = h[0].last[c];
		uint32_t	b = h[1].last[c];
		uint32_t	least = a == 0 || (b > 0 && b < a) ? b : a;

		if (least == 0)
			not_used += (sk->cells[c] != 0);
		else
			too_old += (sk->cells[c] < HAMMER_START + least);
	}
	is_int(too_old, 0, "two threads: no cell is older than one of them leaves it");
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
 * The same by the way that the probe takes: who finds a mark does nothing.
 * Marks in one word are set by both threads at once, and none may be lost
 * within a tick: that is counted.  Then each thread moves time on as it likes.
 * A use may pass for one of the round before, or of an earlier one if its
 * thread was interrupted between storing and marking.  That takes an
 * interruption just there; the test allows it for one cell in a hundred.
 */
static void *
mark_all(void *arg)
{
	Hammer	   *h = arg;
	size_t		ncells = ws_sketch_ncells(h->sk);

	pthread_barrier_wait(h->gate);
	for (size_t c = h->seed % 2; c < ncells; c += 2)
		ws_mark(ws_sketch_marks(h->sk), c);
	return NULL;
}

static void *
hammer_marks(void *arg)
{
	Hammer	   *h = arg;
	uint64_t	seed = h->seed;

	pthread_barrier_wait(h->gate);
	for (uint32_t round = 1; round <= HAMMER_ROUNDS; round++)
	{
		ws_sketch_advance(h->sk, HAMMER_START + round);
		for (int i = 0; i < HAMMER_PAGES; i++)
		{
			uint32_t	hash = random32(&seed);
			uint64_t	cell = ws_cell(hash, h->sk->log2m);

			if (!ws_marked(ws_sketch_marks(h->sk), cell))
			{
				ws_sketch_touch(h->sk, hash);
				ws_mark(ws_sketch_marks(h->sk), cell);
			}
			h->last[cell] = round;
		}
	}
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
test_hammer_marks(void)
{
	WsSketch   *sk = new_sketch(HAMMER_M, HAMMER_START);
	long		ncells = (long) ws_sketch_ncells(sk);
	pthread_barrier_t gate;
	Hammer		h[2];
	long		too_old = 0;
	long		not_used = 0;

	pthread_barrier_init(&gate, NULL, 2);
	for (int i = 0; i < 2; i++)
		h[i] = (Hammer)
	{
		sk, 30 + i, &gate, calloc(ncells, sizeof(uint32_t))
	};
	run_two(h, mark_all);
	is_int(marks_of(sk), ncells, "two threads: no mark is lost");
	ws_sketch_advance(sk, HAMMER_START);
	run_two(h, hammer_marks);

	is_int(sk->tick, HAMMER_START + HAMMER_ROUNDS, "two threads with marks: the present is the last");
	ok(ws_sketch_check(sk) == NULL, "two threads with marks: the sketch is sound");
	for (long c = 0; c < ncells; c++)
	{
		uint32_t	a = h[0].last[c];
		uint32_t	b = h[1].last[c];
		uint32_t	least = a == 0 || (b > 0 && b < a) ? b : a;

		if (least == 0)
			not_used += sk->cells[c] != 0;
		else
			too_old += sk->cells[c] + 1 < HAMMER_START + least;
	}
	ok(too_old <= ncells / 100, "two threads with marks: %ld of %ld cells are older than a round before, at most one in 100",
	   too_old, ncells);
	is_int(not_used, 0, "two threads with marks: no cell is on that none used");
	free(h[0].last);
	free(h[1].last);
	free(sk);
	pthread_barrier_destroy(&gate);
}

int
main(void)
{
	plan(131);
	test_registers_valid();
	test_geometry();
	test_addressing();
	test_level_share();
	test_time();
	test_no_store_when_equal();
	test_check();
	test_marks();
	test_hammer();
	test_pair();
	test_hammer_marks();
	return done();
}
