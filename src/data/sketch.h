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
 * grows.  Cells are coarser: a use writes the present, the tick with which the
 * present second began, since nobody asks for less than a second, and every
 * cell is written again in each present.  A reset, too, begins a present.  A
 * cell of 0 was never touched.  Cells older than the floor are ignored: a reset
 * raises the floor and wipes nothing under the writers.
 *
 * A mark, one bit per cell, shows that the cell holds the present, and so
 * spares most writes.  The marks are small enough to stay in the processor's
 * cache.  They are wiped when a present begins.  The first few registers are
 * never marked: every use of their pages, those with a hash below
 * sampled_below, does more, since some of these pages are sampled.  Once
 * enough uses of such a page are known in this present, its quiet bit shows
 * that.  There are many more of these bits than such pages, but some share one:
 * then uses of the other page are missed in this present.
 *
 * Concurrency.  Any number of processes read and write the atomic words with
 * relaxed order; the rest is fixed when the sketch is made.  Writers of cells
 * take no lock and need no ordering.  A writer that loses a race stores the
 * present it read earlier; the cell is then too old by at most the writer's
 * delay.  Tick and present are raised by compare-and-swap, so they never fall.
 * Whoever raises the present wipes the marks afterwards.  In between, and when
 * a slow process sets a mark for the present before, uses count as of that.
 *
 * One pair of words has an order.  A process that sets unattended begins a
 * present afterwards, with release; one that sees this, with acquire, sees the
 * flag.  With the old flag, it would not look at the clock.
 */
#ifndef WS_SKETCH_H
#define WS_SKETCH_H

#include <stddef.h>

#include "pagehash.h"

#define WS_REGISTERS_MIN		1024	/* a power of two */
#define WS_REGISTERS_DEFAULT	4096
#define WS_REGISTERS_MAX		65536
#define WS_LEVELS_MAX			23	/* with the fewest registers */

#define WS_TICKS_PER_SECOND		10
#define WS_TICK_MS				(1000 / WS_TICKS_PER_SECOND)
#define WS_PRESENT				10	/* ticks; it begins at a multiple of it */

/* The first tick of a new sketch.  A state file has up to 77 days below it. */
#define WS_TICK_ORIGIN			((uint32_t) 1 << 26)

/* The clock stops here, after 13.2 years, 77 days before it would overflow. */
#define WS_TICK_LAST			(UINT32_MAX - WS_TICK_ORIGIN)

typedef struct WsSketch
{
	/* atomic */
	uint32_t	present;		/* the tick with which it began */
	uint32_t	sampled_below;	/* hashes below are of sampled registers */
	uint32_t	floor;			/* cells older than this tick do not count */

	uint32_t	log2m;			/* of the number of registers: fixed */

	/* atomic */
	uint32_t	unattended;		/* 1: no worker advances the tick */
	uint32_t	tick;			/* now */
	uint32_t	padding[10];	/* to a line of the cache */
	uint32_t	cells[];		/* [level][register]: present of the last use;
								 * then the marks, 32 to a word, and the quiet
								 * bits */
} WsSketch;

extern bool ws_registers_valid(long m);

/* Bytes of a sketch of m registers, a multiple of 64.  m must be valid. */
extern size_t ws_sketch_size(uint32_t m);

/* Make it, aligned to 64.  Its present and its floor are this tick, above 0. */
extern void ws_sketch_init(WsSketch *sk, uint32_t m, uint32_t tick);

/* Raise the tick, which is returned, and with a new second the present. */
extern uint32_t ws_sketch_advance(WsSketch *sk, uint32_t tick);

/* Begin a present with this tick, if it is younger. */
extern void ws_sketch_begin(WsSketch *sk, uint32_t tick);

/* Begin a present with this tick, and forget everything older. */
extern void ws_sketch_raise_floor(WsSketch *sk, uint32_t tick);

/* From a state file: an old use; since when all old uses are known. */
extern void ws_sketch_recall(WsSketch *sk, size_t cell, uint32_t tick);
extern void ws_sketch_lower_floor(WsSketch *sk, uint32_t tick);

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

static inline uint32_t
ws_levels(uint32_t log2m)
{
	return 33 - log2m;
}

static inline size_t
ws_ncells(uint32_t log2m)
{
	return (size_t) ws_levels(log2m) << log2m;
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
	uint32_t	present = __atomic_load_n(&sk->present, __ATOMIC_ACQUIRE);

	*unattended = ws_load(&sk->unattended) != 0;
	return present;
}

static inline void
ws_store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Index of a page's cell.  On the hot path log2m is a constant. */
static inline uint64_t
ws_cell(uint64_t hash, uint32_t log2m)
{
	uint32_t	level = ws_hash_level((uint32_t) hash, UINT32_C(1) << (32 - log2m));

	return (uint64_t) (level << log2m) | ws_hash_register(hash, 32 - log2m);
}

/* Where the marks begin, in bytes. */
static inline size_t
ws_marks_offset(uint32_t log2m)
{
	return offsetof(WsSketch, cells) + ws_ncells(log2m) * sizeof(uint32_t);
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

/* The words of the quiet bits, by the marks before them. */
static inline uint32_t *
ws_quiet_words(uint32_t *marks, uint32_t log2m)
{
	return marks + ws_ncells(log2m) / 32;
}

static inline bool
ws_is_quiet(const uint32_t *words, uint32_t hash, uint32_t present)
{
	uint32_t	bit = ws_hash_quiet_bit(hash, present);

	return ws_peek(&words[bit / 32]) >> (bit % 32) & 1;
}

/*
 * A page of a sampled register, whose cell was written in this present, is
 * quiet from now on.  False: it was before.
 */
static inline bool
ws_sketch_quiet(WsSketch *sk, uint32_t hash, uint32_t present)
{
	uint32_t   *words = ws_quiet_words(ws_sketch_marks(sk), sk->log2m);
	uint32_t	bit = ws_hash_quiet_bit(hash, present);

	if (ws_is_quiet(words, hash, present))
		return false;
	__atomic_fetch_or(&words[bit / 32], UINT32_C(1) << (bit % 32), __ATOMIC_RELAXED);
	return true;
}

/* Record a use of a page, now, and mark nothing. */
static inline void
ws_sketch_touch(WsSketch *sk, uint32_t hash)
{
	uint32_t   *cell = &sk->cells[ws_cell(hash, sk->log2m)];
	uint32_t	present = ws_load(&sk->present);

	if (ws_load(cell) < present)
		ws_store(cell, present);
}

#endif							/* WS_SKETCH_H */
