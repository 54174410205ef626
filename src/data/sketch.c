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
	return ws_marks_offset(log2_of(m)) + (size_t) m * (33 - log2_of(m)) / 8 + (1 << WS_QUIET_LOG2) / 8;
}

void
ws_sketch_init(WsSketch *sk, uint32_t m, uint32_t tick)
{
	_Static_assert(offsetof(WsSketch, cells) == 64, "the header is a cache line");

	memset(sk, 0, ws_sketch_size(m));
	sk->log2m = log2_of(m);
	sk->tick = tick;
	sk->present = tick;
	sk->floor = tick;
}

/* Raise a word; false: it was not lower. */
static bool
raise(uint32_t *word, uint32_t value)
{
	uint32_t	old = ws_load(word);

	while (old < value)
		if (__atomic_compare_exchange_n(word, &old, value, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
	return false;
}

/*
 * And the quiet bits.  Does not write to lines without any, which are many, so
 * that they stay in the caches of other processors.  A mark that is set
 * meanwhile may be wiped or not (sketch.h); the thread sanitizer need not
 * report that.
 */
__attribute__((no_sanitize("thread")))
static void
wipe_marks(WsSketch *sk)
{
	uint64_t   *line = (uint64_t *) ws_sketch_marks(sk);
	uint64_t   *stop = line + (ws_ncells(sk->log2m) + (1 << WS_QUIET_LOG2)) / 64;

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

void
ws_sketch_begin(WsSketch *sk, uint32_t tick)
{
	if (raise(&sk->present, tick))
		wipe_marks(sk);
}

uint32_t
ws_sketch_advance(WsSketch *sk, uint32_t tick)
{
	uint32_t	now;

	(void) raise(&sk->tick, tick);
	now = ws_load(&sk->tick);
	ws_sketch_begin(sk, now - now % WS_PRESENT);
	return now;
}

void
ws_sketch_raise_floor(WsSketch *sk, uint32_t tick)
{
	if (!raise(&sk->floor, tick))
		return;
	(void) raise(&sk->tick, tick);
	ws_sketch_begin(sk, tick);
}

void
ws_sketch_recall(WsSketch *sk, size_t cell, uint32_t tick)
{
	(void) raise(&sk->cells[cell], tick);
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
	ws_store(&sk->present, tick);
	for (size_t i = 0; i < ws_ncells(sk->log2m); i++)
		ws_store(&sk->cells[i], 0);
	wipe_marks(sk);
	ws_store(&sk->floor, tick);
}
