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

/* Share of a level's cells that are marked */
static double
marked_share(const WsSketch *sk, uint32_t level)
{
	const uint32_t *words = ws_sketch_marks(sk) + (((size_t) level << sk->log2m) / 32);
	uint32_t	n = 0;

	for (uint32_t i = 0; i < ws_sketch_m(sk) / 32; i++)
		n += (uint32_t) __builtin_popcount(ws_load(&words[i]));
	return (double) n / ws_sketch_m(sk);
}

/*
 * Which levels are coarse in the next period?
 *
 * If 1 - f of a level's cells is left without a mark at the end of a period,
 * the root of that is left of the next level, which has half as many uses.  So
 * one more level becomes coarse when FULL of its cells will be marked in a
 * period; level 0, when a tick, an eighth of it, marks so many as to let one
 * expect that.
 *
 * When the highest of them is not even STILL_FULL, marks last a tick again, so
 * that cells are exact, and it is judged by a tick.  The levels cease to be
 * coarse when that has lasted for so long that the estimator's steps for older
 * cells, of coarse levels, are no shorter than a period (curve.h).
 */
#define FULL			0.86
#define FULL_IN_A_TICK	0.22	/* 1 - (1 - FULL)^(1/8) */
#define STILL_FULL		0.72
#define STILL_FULL_IN_A_TICK	0.147
#define SPARSE_PERIODS	8

static void
choose_coarse(WsSketch *sk, uint32_t periods)
{
	uint32_t	coarse = ws_load(&sk->coarse);
	uint32_t	sparse = ws_load(&sk->sparse);
	double		full = sparse == 0 ? STILL_FULL : STILL_FULL_IN_A_TICK;
	double		share = marked_share(sk, coarse > 0 ? coarse - 1 : 0);

	sparse = coarse == 0 || share >= full ? 0 : sparse + periods;
	if (coarse == 0)
		coarse = share >= FULL_IN_A_TICK;
	else if (1 - share <= (1 - FULL) * (1 - FULL) && coarse + 1 < sk->levels)
		coarse++;
	else if (sparse > SPARSE_PERIODS)
		while (coarse > 0 && marked_share(sk, coarse - 1) < full)
			coarse--;
	ws_store(&sk->coarse, coarse);
	ws_store(&sk->sparse, sparse);
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
				choose_coarse(sk, periods);
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
