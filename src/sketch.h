/*
 * sketch.h
 *		The timestamped sketch: when was each cell last touched?
 *
 * The idea.  A page's identity is hashed to 32 bits.  The top log2(m) bits
 * choose one of m registers; the number of trailing zeros of the others
 * chooses a level, so that level k receives one page in 2^(k+1).  Register and
 * level name one cell of a matrix, and every use of the page writes the
 * current time into its cell.  Looking back d seconds, the cells younger than
 * d are exactly the bitmap of Flajolet and Martin's probabilistic counting
 * (PCSA, 1985) for the distinct pages of these d seconds, for any d.  Keeping
 * times instead of bits is the sliding HyperLogLog of Chabchoub and Hebrail
 * (2010), which keeps only the largest level.  curve.h counts the pages.
 *
 * Time is counted in ticks of 100 ms, an unsigned 32-bit number that only
 * grows.  A cell of 0 was never touched.  Cells older than the floor are
 * ignored: a reset raises the floor and wipes nothing under the writers.
 *
 * A mark, one bit per cell, shows that the cell holds the present tick, and so
 * spares most writes.  The marks are small enough to stay in the processor's
 * cache.  They are wiped when the tick rises.  The first few registers are
 * never marked: every use of their pages, those with a hash below
 * sampled_below, takes the slow path, which looks at a sample of them.
 *
 * On a busy server the same cells of the low levels are used again in each
 * tick, and show little.  Such levels keep their marks for a period of eight
 * ticks.  A cell of theirs that is marked in its first use in a period holds
 * that tick, and so shows in which period it was used last, but not when.  A
 * level is coarse while it has such cells, and so are all levels below it.
 *
 * Concurrency.  Any number of processes read and write the atomic words with
 * relaxed order; the rest is fixed when the sketch is made.  Writers of cells
 * take no lock and need no ordering.  A writer that loses a race stores the
 * tick it read earlier; the cell is then too old by at most the writer's
 * delay.  The tick is raised by compare-and-swap, so it never falls.  Whoever
 * raises it wipes the marks afterwards.  In between, and when a slow process
 * sets a mark for the tick before, uses count as uses of the tick before.
 *
 * One pair of words has an order.  A process that sets unattended raises the
 * tick afterwards, with release; one that sees this tick, with acquire, sees
 * the flag.  With the old flag, it would not look at the clock.
 */
#ifndef WS_SKETCH_H
#define WS_SKETCH_H

#include <stddef.h>

#include "pagehash.h"

#define WS_REGISTERS_MIN		1024	/* a power of two */
#define WS_REGISTERS_DEFAULT	16384
#define WS_REGISTERS_MAX		65536
#define WS_LEVELS_MAX			23	/* with the fewest registers */

#define WS_TICKS_PER_SECOND		10
#define WS_TICK_MS				(1000 / WS_TICKS_PER_SECOND)
#define WS_PERIOD				8	/* ticks; it begins at a multiple */
#define WS_COARSE_MAX			12	/* levels */

/* The first tick of a new sketch.  A state file has up to 77 days below it. */
#define WS_TICK_ORIGIN			((uint32_t) 1 << 26)

/* The clock stops here, after 13.2 years, 77 days before it would overflow. */
#define WS_TICK_LAST			(UINT32_MAX - WS_TICK_ORIGIN)

typedef struct WsSketch
{
	/* atomic */
	uint32_t	tick;			/* the present, in ticks */
	uint32_t	sampled_below;	/* pages whose hash is below are sampled */
	uint32_t	floor;			/* cells older than this tick do not count */

	/* fixed when made */
	uint32_t	sentinel;		/* bit that ends the count of trailing zeros */
	uint32_t	log2m;			/* log2 of the number of registers */
	uint32_t	shift;			/* 32 - log2m */
	uint32_t	levels;			/* 33 - log2m */

	/* atomic */
	uint32_t	unattended;		/* 1: no worker advances the tick */
	uint32_t	coarse;			/* so many of the low levels are coarse; */
	uint32_t	was_coarse;		/* the most that were, since the floor; */
	uint32_t	exact_since;	/* from this tick on only the former count */
	uint32_t	begun;			/* the first tick of the present period */
	uint32_t	worthwhile;		/* a bit for each level: were kept marks worth
								 * it, or would they have been, last time? */
	uint8_t		exact[WS_COARSE_MAX];	/* periods with marks of a tick */
	uint32_t	cells[];		/* [level][register]: tick of the last use;
								 * then the marks, 32 to a word */
} WsSketch;

extern bool ws_registers_valid(long m);

/* Bytes of a sketch of m registers, a multiple of 64.  m must be valid. */
extern size_t ws_sketch_size(uint32_t m);

/* Make it, aligned to 64.  Its present and its floor are the tick, above 0. */
extern void ws_sketch_init(WsSketch *sk, uint32_t m, uint32_t tick);

/*
 * Raise the present, which is returned; forget everything older than a tick.
 * After the second no level is coarse, nor was one.
 */
extern uint32_t ws_sketch_advance(WsSketch *sk, uint32_t tick);
extern void ws_sketch_raise_floor(WsSketch *sk, uint32_t tick);

/* From a state file: an old use; since when all old uses are known. */
extern void ws_sketch_recall(WsSketch *sk, size_t cell, uint32_t tick);
extern void ws_sketch_lower_floor(WsSketch *sk, uint32_t tick);

/* Recalled cells may be of levels that were coarse, with the same periods. */
extern void ws_sketch_doubt(WsSketch *sk, uint32_t was_coarse);

/*
 * Empty the sketch and set the clock back, while others write.  A slow writer
 * may leave a cell ahead of the present, until its page is used again.
 */
extern void ws_sketch_restart(WsSketch *sk, uint32_t tick);

static inline uint32_t
ws_sketch_m(const WsSketch *sk)
{
	return (uint32_t) 1 << sk->log2m;
}

static inline size_t
ws_sketch_ncells(const WsSketch *sk)
{
	return (size_t) sk->levels << sk->log2m;
}

static inline uint32_t
ws_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/*
 * Read a word that may be read twice.  Compilers can make this part of another
 * instruction, which they do not do with an atomic load.
 */
static inline uint32_t
ws_peek(const uint32_t *word)
{
#ifdef __SANITIZE_THREAD__
	return ws_load(word);
#else
	return *word;
#endif
}

static inline uint32_t
ws_sketch_present(const WsSketch *sk, bool *unattended)
{
	uint32_t	tick = __atomic_load_n(&sk->tick, __ATOMIC_ACQUIRE);

	*unattended = ws_load(&sk->unattended) != 0;
	return tick;
}

static inline void
ws_store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Index of a page's cell, on the hot path: log2m is a constant there. */
static inline uint64_t
ws_cell(uint64_t hash, uint32_t log2m)
{
	uint32_t	level = ws_hash_level((uint32_t) hash, UINT32_C(1) << (32 - log2m));

	return (uint64_t) (level << log2m) | ws_hash_register(hash, 32 - log2m);
}

/* The same for a sketch of any geometry. */
static inline uint32_t
ws_sketch_cell(const WsSketch *sk, uint32_t hash)
{
	return (ws_hash_level(hash, sk->sentinel) << sk->log2m) +
		(uint32_t) ws_hash_register(hash, sk->shift);
}

/* Where the marks begin, in bytes. */
static inline size_t
ws_marks_offset(uint32_t log2m)
{
	return offsetof(WsSketch, cells) + (((size_t) 33 - log2m) << log2m) * sizeof(uint32_t);
}

static inline uint32_t *
ws_sketch_marks(const WsSketch *sk)
{
	return (uint32_t *) ((char *) sk + ws_marks_offset(sk->log2m));
}

static inline bool
ws_marked(const uint32_t *marks, uint64_t cell)
{
	return ws_peek(&marks[cell / 32]) >> (cell % 32) & 1;
}

/* Mark a cell that was written now.  Not for sampled registers. */
static inline void
ws_mark(uint32_t *marks, uint64_t cell)
{
	__atomic_fetch_or(&marks[cell / 32], UINT32_C(1) << (cell % 32), __ATOMIC_RELAXED);
}

/* Record a use of a page, now, and mark nothing. */
static inline void
ws_sketch_touch(WsSketch *sk, uint32_t hash)
{
	uint32_t   *cell = &sk->cells[ws_sketch_cell(sk, hash)];
	uint32_t	tick = ws_load(&sk->tick);

	if (ws_load(cell) < tick)
		ws_store(cell, tick);
}

#endif							/* WS_SKETCH_H */
