/*
 * traces.h
 *		Accesses to pages made up by rules, and caches of full size that are
 *		simulated naively, to compare with.
 *
 * What is here shares nothing with the code under test: pages are looked up in
 * plain arrays, each cache is of one size, and nothing is sampled.
 */
#ifndef TRACES_H
#define TRACES_H

#include "yardstick.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_PAGE UINT32_MAX

static inline void *
zeroed(size_t n, size_t size)
{
	void	   *memory = calloc(n ? n : 1, size);

	if (memory == NULL)
		abort();
	return memory;
}

/* memory on a line of cache, filled with what nobody should rely on */
static inline void *
aligned_memory(size_t size)
{
	void	   *memory;

	if (posix_memalign(&memory, 64, size) != 0)
		abort();
	memset(memory, 0xA5, size);
	return memory;
}

/*
 * The hash of page number n of relation r, as good as random.
 */
static inline uint32_t
page_hash(uint32_t r, uint32_t n)
{
	return (uint32_t) (mix64(((uint64_t) r << 32 | n) * UINT64_C(0x9E3779B97F4A7C15) + seeded(1)) >> 32);
}

/*
 * Zipf's law: page number i of n is used in proportion to (i + 1)^-exponent.
 * Drawn by Walker's method: each number shares its part of the unit interval
 * with one other.
 */
typedef struct Zipf
{
	uint32_t	n;
	double	   *own;
	uint32_t   *other;
} Zipf;

static inline Zipf *
zipf_new(uint32_t n, double exponent)
{
	Zipf	   *z = zeroed(1, sizeof(Zipf));
	uint32_t   *small = zeroed(n, sizeof(uint32_t));
	uint32_t   *large = zeroed(n, sizeof(uint32_t));
	uint32_t	nsmall = 0;
	uint32_t	nlarge = 0;
	double		sum = 0;

	z->n = n;
	z->own = zeroed(n, sizeof(double));
	z->other = zeroed(n, sizeof(uint32_t));
	for (uint32_t i = 0; i < n; i++)
		sum += z->own[i] = pow(i + 1, -exponent);
	for (uint32_t i = 0; i < n; i++)
	{
		z->own[i] *= n / sum;
		z->other[i] = i;
		if (z->own[i] < 1)
			small[nsmall++] = i;
		else
			large[nlarge++] = i;
	}
	while (nsmall > 0 && nlarge > 0)
	{
		uint32_t	s = small[--nsmall];
		uint32_t	l = large[nlarge - 1];

		z->other[s] = l;
		z->own[l] -= 1 - z->own[s];
		if (z->own[l] < 1)
		{
			nlarge--;
			small[nsmall++] = l;
		}
	}
	free(small);
	free(large);
	return z;
}

static inline uint32_t
zipf_draw(const Zipf *z, uint64_t *seed)
{
	uint32_t	i = random_below(seed, z->n);

	return random_unit(seed) < z->own[i] ? i : z->other[i];
}

static inline void
zipf_free(Zipf *z)
{
	free(z->own);
	free(z->other);
	free(z);
}

/*
 * A ring of buffers for a scan.  It remembers the pages it brought in.
 */
#define RING_SLOTS 512

typedef struct Ring
{
	uint32_t	size;
	uint32_t	turn;
	uint32_t	page[RING_SLOTS];
} Ring;

static inline void
ring_begin(Ring *ring, uint32_t size)
{
	ring->size = size;
	ring->turn = 0;
	for (int i = 0; i < RING_SLOTS; i++)
		ring->page[i] = NO_PAGE;
}

/*
 * PostgreSQL's clock sweep.  Usage counts belong to buffers.
 */
typedef struct Clock
{
	uint32_t	buffers;
	uint32_t	filled;
	uint32_t	hand;
	uint64_t	moved;
	uint32_t   *page;			/* of each buffer */
	uint8_t    *usage;			/* of each buffer */
	uint32_t   *where;			/* of each page, or NO_PAGE */
} Clock;

static inline Clock *
clock_new(uint32_t buffers, uint32_t npages)
{
	Clock	   *c = zeroed(1, sizeof(Clock));

	c->buffers = buffers;
	c->page = zeroed(buffers, sizeof(uint32_t));
	c->usage = zeroed(buffers, sizeof(uint8_t));
	c->where = zeroed(npages, sizeof(uint32_t));
	memset(c->where, 0xFF, npages * sizeof(uint32_t));
	return c;
}

static inline void
clock_free(Clock *c)
{
	free(c->page);
	free(c->usage);
	free(c->where);
	free(c);
}

static inline uint32_t
clock_take(Clock *c)
{
	if (c->filled < c->buffers)
		return c->filled++;
	for (;;)
	{
		uint32_t	b = c->hand;

		c->hand = (c->hand + 1) % c->buffers;
		c->moved++;
		if (c->usage[b] == 0)
		{
			c->where[c->page[b]] = NO_PAGE;
			return b;
		}
		c->usage[b]--;
	}
}

/*
 * Access a page, through a ring if one is given.  Was it there?  *gone, if not
 * NULL, is the page that had to go, or NO_PAGE.
 */
static inline bool
clock_access(Clock *c, uint32_t page, Ring *ring, uint32_t *gone)
{
	uint32_t	b = c->where[page];
	uint32_t	filled = c->filled;
	uint32_t	old = NO_PAGE;

	if (gone)
		*gone = NO_PAGE;
	if (b != NO_PAGE)
	{
		if (c->usage[b] < (ring ? 1 : 5))
			c->usage[b]++;
		return true;
	}

	if (ring)
	{
		uint32_t   *slot = &ring->page[ring->turn++ % ring->size];

		old = *slot;
		*slot = page;
	}
	if (old != NO_PAGE && c->where[old] != NO_PAGE && c->usage[c->where[old]] <= 1)
	{
		b = c->where[old];
		c->where[old] = NO_PAGE;
	}
	else
		b = clock_take(c);
	if (gone && c->filled == filled)
		*gone = c->page[b];
	c->page[b] = page;
	c->usage[b] = 1;
	c->where[page] = b;
	return false;
}

#endif							/* TRACES_H */
