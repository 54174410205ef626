/*
 * sketch.c
 *		Making and changing sketches; see sketch.h.
 */
#include "sketch.h"

#include <string.h>

bool
ws_registers_valid(long m)
{
	return m >= WS_REGISTERS_MIN && m <= WS_REGISTERS_MAX && (m & (m - 1)) == 0;
}

static uint32_t
log2_of(uint32_t m)
{
	return 31 - (uint32_t) __builtin_clz(m);
}

size_t
ws_sketch_size(uint32_t m)
{
	/* m is a multiple of 512, so this is one of the alignment too */
	return ws_marks_offset(log2_of(m)) + (size_t) m * (33 - log2_of(m)) / 8;
}

void
ws_sketch_init(WsSketch *sk, uint32_t m, uint32_t tick)
{
	_Static_assert(offsetof(WsSketch, cells) == 64, "the header is a cache line");

	memset(sk, 0, ws_sketch_size(m));
	sk->log2m = log2_of(m);
	sk->shift = 32 - sk->log2m;
	sk->levels = sk->shift + 1;
	sk->sentinel = UINT32_C(1) << sk->shift;
	sk->tick = tick;
	sk->floor = tick;
	sk->begun = tick;
	sk->exact_since = tick;
}

static void
raise(uint32_t *word, uint32_t value)
{
	uint32_t	old = ws_load(word);

	while (old < value &&
		   !__atomic_compare_exchange_n(word, &old, value, true,
										__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/*
 * Wipe the marks of these levels.
 *
 * Does not write to lines without marks, which are many, so that they stay in
 * the caches of other processors.  A mark that is set meanwhile may be wiped
 * or not (sketch.h); the thread sanitizer need not report that.
 */
__attribute__((no_sanitize("thread")))
static void
wipe_marks(WsSketch *sk, uint32_t first, uint32_t end)
{
	uint64_t   *line = (uint64_t *) ws_sketch_marks(sk) + (((size_t) first << sk->log2m) / 64);
	uint64_t   *stop = (uint64_t *) ws_sketch_marks(sk) + (((size_t) end << sk->log2m) / 64);

	/* plain accesses, so that compilers may take several at once */
	for (; line < stop; line += 8)
	{
		uint64_t	any = 0;

		for (int i = 0; i < 8; i++)
			any |= line[i];
		if (any != 0)
			memset(line, 0, 64);
	}
}

/*
 * Is it worth it that a level keeps its marks for a period?  At least half of
 * the stores of the period that ends have to be saved, or three eighths if it
 * keeps them already.  And a sixth of its cells have to be used, or an eighth:
 * all levels above, which alone know windows of less than a period, have about
 * as many pages as this one.
 *
 * Stores are counted by the cells.  Marks that are kept save all but the first
 * one of each cell.  Without, there is one in each tick that a cell is used in:
 * one tick stands for all.  A cell shows that it was used in the first tick if
 * marks are kept, or else in the last one.  A part of the level will do, of
 * registers that are not sampled, since those have no marks.
 */
#define EXAMINED		1024	/* cells, or at least an eighth */

static bool
worth_keeping(const WsSketch *sk, uint32_t level, uint32_t begun, uint32_t last, bool kept)
{
	uint32_t	unsampled = ws_sketch_m(sk) - (ws_load(&sk->sampled_below) >> sk->shift);
	uint32_t	examined = unsampled < EXAMINED ? unsampled : EXAMINED;
	const uint32_t *cells = sk->cells + ((size_t) (level + 1) << sk->log2m) - examined;
	uint32_t	in_period = 0;
	uint32_t	in_tick = 0;

	for (uint32_t i = 0; i < examined; i++)
	{
		uint32_t	used = ws_load(&cells[i]);

		in_period += used >= begun;
		in_tick += used == (kept ? begun : last);
	}
	return examined >= EXAMINED / 8 && in_period * (kept ? 8 : 6) >= examined &&
		in_period * 8 <= in_tick * WS_PERIOD * (kept ? 5 : 4);
}

/*
 * At the end of a period: which levels keep their marks from now on?  A level
 * begins when that was worth it in two periods in a row, and all levels below
 * keep theirs.  It ends when it was not in two in a row, so a burst now and
 * then changes nothing.  After that it stays coarse until its cells have been
 * exact for some time, since the estimator can do less with older ones.
 */
#define EXACT_PERIODS	9		/* the first of them begins */

static void
choose_coarse(WsSketch *sk, uint32_t last, uint32_t tick)
{
	uint32_t	periods = tick / WS_PERIOD - last / WS_PERIOD;
	uint32_t	begun = ws_load(&sk->begun);
	uint32_t	before = ws_load(&sk->worthwhile);
	uint32_t	after = 0;
	uint32_t	old = ws_load(&sk->coarse);
	uint32_t	coarse = 0;
	bool		more = true;	/* do all levels below keep theirs? */

	for (uint32_t k = 0; k + 1 < sk->levels && k < WS_COARSE_MAX && (more || k < old); k++)
	{
		uint32_t	exact = __atomic_load_n(&sk->exact[k], __ATOMIC_RELAXED);
		bool		worth = worth_keeping(sk, k, begun, last, k < old && exact == 0);
		bool		twice = worth == (before >> k & 1);

		if (k >= old)
			exact = EXACT_PERIODS;
		if (worth && twice)
			exact = 0;
		else if (exact > 0 || (!worth && twice))
			exact = exact + periods < EXACT_PERIODS ? exact + periods : EXACT_PERIODS;
		__atomic_store_n(&sk->exact[k], (uint8_t) exact, __ATOMIC_RELAXED);
		after |= (uint32_t) worth << k;
		more = exact == 0;
		if (exact < EXACT_PERIODS)
			coarse = k + 1;
	}
	ws_store(&sk->worthwhile, after);
	if (coarse < old)
		raise(&sk->exact_since, tick - (EXACT_PERIODS - 1) * WS_PERIOD);
	raise(&sk->was_coarse, coarse);
	/* who sees it sees the others (curve.c) */
	__atomic_store_n(&sk->coarse, coarse, __ATOMIC_RELEASE);
}

uint32_t
ws_sketch_advance(WsSketch *sk, uint32_t tick)
{
	uint32_t	old = ws_load(&sk->tick);
	uint32_t	level = 0;
	uint32_t	coarse;

	do
	{
		if (old >= tick)
			return old;
	} while (!__atomic_compare_exchange_n(&sk->tick, &old, tick, true,
										  __ATOMIC_RELEASE, __ATOMIC_RELAXED));

	if (tick / WS_PERIOD != old / WS_PERIOD)
	{
		wipe_marks(sk, 0, sk->levels);
		choose_coarse(sk, old, tick);
		raise(&sk->begun, tick);
		return tick;
	}
	/* another process may not have come to wipe all for this period yet */
	coarse = ws_load(&sk->begun) / WS_PERIOD == tick / WS_PERIOD ? ws_load(&sk->coarse) : 0;
	for (; level < coarse; level++)
		if (__atomic_load_n(&sk->exact[level], __ATOMIC_RELAXED) > 0)
			wipe_marks(sk, level, level + 1);
	wipe_marks(sk, level, sk->levels);
	return tick;
}

static void
forget_coarse(WsSketch *sk)
{
	ws_store(&sk->coarse, 0);
	ws_store(&sk->was_coarse, 0);
	ws_store(&sk->worthwhile, 0);
	wipe_marks(sk, 0, sk->levels);
}

void
ws_sketch_raise_floor(WsSketch *sk, uint32_t tick)
{
	if (ws_load(&sk->floor) >= tick)
		return;
	raise(&sk->floor, tick);
	/* cells of coarse levels may hold an older tick than their last use */
	forget_coarse(sk);
}

void
ws_sketch_recall(WsSketch *sk, size_t cell, uint32_t tick)
{
	raise(&sk->cells[cell], tick);
}

void
ws_sketch_lower_floor(WsSketch *sk, uint32_t tick)
{
	if (tick < ws_load(&sk->floor))
		ws_store(&sk->floor, tick);
}

void
ws_sketch_doubt(WsSketch *sk, uint32_t was_coarse)
{
	if (was_coarse == 0)
		return;
	raise(&sk->exact_since, ws_load(&sk->tick));
	raise(&sk->was_coarse, was_coarse);
}

void
ws_sketch_restart(WsSketch *sk, uint32_t tick)
{
	/* no cell counts until all are wiped */
	ws_store(&sk->floor, UINT32_MAX);
	ws_store(&sk->tick, tick);
	ws_store(&sk->begun, tick);
	ws_store(&sk->exact_since, tick);
	for (size_t i = 0; i < ws_sketch_ncells(sk); i++)
		ws_store(&sk->cells[i], 0);
	forget_coarse(sk);
	ws_store(&sk->floor, tick);
}
