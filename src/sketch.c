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
 * Wipe the marks of this level and those above.
 *
 * Does not write to lines without marks, which are many, so that they stay in
 * the caches of other processors.  A mark that is set meanwhile may be wiped
 * or not (sketch.h); the thread sanitizer need not report that.
 */
__attribute__((no_sanitize("thread")))
static void
wipe_marks(WsSketch *sk, uint32_t level)
{
	uint64_t   *line = (uint64_t *) ws_sketch_marks(sk) + (((size_t) level << sk->log2m) / 64);
	uint64_t   *end = (uint64_t *) ws_sketch_marks(sk) + ws_sketch_ncells(sk) / 64;

	/* plain accesses, so that compilers may take several at once */
	for (; line < end; line += 8)
	{
		uint64_t	any = 0;

		for (int i = 0; i < 8; i++)
			any |= line[i];
		if (any != 0)
			memset(line, 0, 64);
	}
}

/*
 * Is it worthwhile that a level keeps its marks for a period?  The period that
 * ends tells: at least half of the stores have to be saved, or three eighths if
 * the level is coarse.  So cells have to be used again and again, each period.
 * And they have to be many, a quarter of the level, or a fifth.  The other
 * levels, which alone know windows of less than a period, then have no fewer.
 *
 * A cell holds the first tick of the period if the level kept its marks, and so
 * was used in that tick, or else the last tick, if it was used in that.  A part
 * of the level will do.  The first registers have no marks if they are sampled,
 * so it is the last ones.
 */
#define JUDGED			2048	/* cells */

static bool
worth_a_period(const WsSketch *sk, uint32_t level, uint32_t last, bool marks_kept, bool coarse)
{
	uint32_t	judged = ws_sketch_m(sk) < JUDGED ? ws_sketch_m(sk) : JUDGED;
	const uint32_t *cells = sk->cells + ((size_t) (level + 1) << sk->log2m) - judged;
	uint32_t	begin = last - last % WS_PERIOD;
	uint32_t	tick = marks_kept ? begin : last;
	uint32_t	in_period = 0;
	uint32_t	in_tick = 0;

	for (uint32_t i = 0; i < judged; i++)
	{
		uint32_t	used = ws_load(&cells[i]);

		in_period += used >= begin;
		in_tick += used == tick;
	}
	/* stores in a period: in_period, or in_tick in each tick */
	if (coarse)
		return in_period * 8 >= judged && in_period * 8 <= in_tick * WS_PERIOD * 5;
	return in_period * 6 >= judged && in_period * 8 <= in_tick * WS_PERIOD * 4;
}

/*
 * Which levels are coarse in the next period?
 *
 * One more, if that is worthwhile.  When it is not for the highest of them any
 * more, marks last a tick again, so that cells are exact.  The levels cease to
 * be coarse when that has lasted for so long that the estimator's steps for
 * older cells, of coarse levels, are no shorter than a period (curve.h).
 */
#define SPARSE_PERIODS	8

static void
choose_coarse(WsSketch *sk, uint32_t last, uint32_t periods)
{
	uint32_t	coarse = ws_load(&sk->coarse);
	uint32_t	sparse = ws_load(&sk->sparse);
	bool		kept = sparse == 0;

	if (coarse > 0 && !worth_a_period(sk, coarse - 1, last, kept, true))
		sparse += periods;
	else
	{
		sparse = 0;
		if (coarse + 1 < sk->levels && worth_a_period(sk, coarse, last, false, false))
			coarse++;
	}
	while (sparse > SPARSE_PERIODS && coarse > 0 && !worth_a_period(sk, coarse - 1, last, kept, true))
		coarse--;
	ws_store(&sk->coarse, coarse);
	ws_store(&sk->sparse, coarse > 0 ? sparse : 0);
}

uint32_t
ws_sketch_advance(WsSketch *sk, uint32_t tick)
{
	uint32_t	old = ws_load(&sk->tick);

	while (old < tick)
		if (__atomic_compare_exchange_n(&sk->tick, &old, tick, true,
										__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		{
			uint32_t	periods = tick / WS_PERIOD - old / WS_PERIOD;

			if (periods > 0)
				choose_coarse(sk, old, periods);
			wipe_marks(sk, periods > 0 || ws_load(&sk->sparse) > 0 ? 0 : ws_load(&sk->coarse));
			return tick;
		}
	return old;
}

void
ws_sketch_raise_floor(WsSketch *sk, uint32_t tick)
{
	if (ws_load(&sk->floor) >= tick)
		return;
	raise(&sk->floor, tick);
	/* cells of coarse levels may hold an older tick than their last use */
	ws_store(&sk->coarse, 0);
	wipe_marks(sk, 0);
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
ws_sketch_restart(WsSketch *sk, uint32_t tick)
{
	/* no cell counts until all are wiped */
	ws_store(&sk->floor, UINT32_MAX);
	ws_store(&sk->tick, tick);
	for (size_t i = 0; i < ws_sketch_ncells(sk); i++)
		ws_store(&sk->cells[i], 0);
	ws_store(&sk->coarse, 0);
	wipe_marks(sk, 0);
	ws_store(&sk->floor, tick);
}
