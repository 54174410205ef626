/*
 * reuse.c
 *		Reuse distances; see reuse.h.
 */
#include "reuse.h"

#include <math.h>
#include <string.h>

#define BINS_PER_OCTAVE 8
#define EMPTY UINT16_MAX
#define PLACES 4				/* for each page: few accesses move them */

struct WsReuse
{
	uint32_t	nplaces;
	uint32_t	next;			/* the next new place, from 1 */
	uint32_t	count;			/* pages that have one */
	uint32_t   *tree;			/* Fenwick tree, 1 .. nplaces */
	uint32_t   *place;			/* of each page; 0: none */
	uint16_t   *page;			/* in each place, or EMPTY */
};

size_t
ws_reuse_size(uint32_t pages)
{
	return sizeof(WsReuse) +
		(pages * PLACES + 1) * (sizeof(uint32_t) + sizeof(uint16_t)) +
		pages * sizeof(uint32_t);
}

void
ws_reuse_init(WsReuse *reuse, uint32_t pages)
{
	memset(reuse, 0, ws_reuse_size(pages));
	reuse->nplaces = pages * PLACES;
	reuse->next = 1;
	reuse->tree = (uint32_t *) (reuse + 1);
	reuse->place = reuse->tree + reuse->nplaces + 1;
	reuse->page = (uint16_t *) (reuse->place + pages);
	memset(reuse->page, 0xFF, (reuse->nplaces + 1) * sizeof(uint16_t));
}

static void
add(WsReuse *reuse, uint32_t place, int32_t n)
{
	for (; place <= reuse->nplaces; place += place & -place)
		reuse->tree[place] += (uint32_t) n;
}

/* Pages in places up to this one. */
static uint32_t
count_up_to(const WsReuse *reuse, uint32_t place)
{
	uint32_t	sum = 0;

	for (; place > 0; place &= place - 1)
		sum += reuse->tree[place];
	return sum;
}

/* Give a page the next new place. */
static void
append(WsReuse *reuse, uint32_t page)
{
	add(reuse, reuse->next, 1);
	reuse->page[reuse->next] = (uint16_t) page;
	reuse->place[page] = reuse->next++;
}

static void
move_together(WsReuse *reuse)
{
	memset(reuse->tree, 0, (reuse->nplaces + 1) * sizeof(uint32_t));
	reuse->next = 1;
	for (uint32_t from = 1; from <= reuse->nplaces; from++)
	{
		uint16_t	page = reuse->page[from];

		reuse->page[from] = EMPTY;
		if (page != EMPTY)
			append(reuse, page);
	}
}

void
ws_reuse_forget(WsReuse *reuse, uint32_t page)
{
	uint32_t	place = reuse->place[page];

	if (place == 0)
		return;
	add(reuse, place, -1);
	reuse->page[place] = EMPTY;
	reuse->place[page] = 0;
	reuse->count--;
}

uint32_t
ws_reuse_access(WsReuse *reuse, uint32_t page)
{
	uint32_t	place = reuse->place[page];
	uint32_t	distance = WS_REUSE_NEVER;

	if (place != 0)
	{
		distance = reuse->count - count_up_to(reuse, place);
		if (place + 1 == reuse->next)
			return distance;	/* it has the last place already */
		ws_reuse_forget(reuse, page);
	}

	if (reuse->next > reuse->nplaces)
		move_together(reuse);
	append(reuse, page);
	reuse->count++;
	return distance;
}

/* Bins 0 to 7 are of the distances 0 to 7; from 8 on, each octave has eight. */
int
ws_reuse_bin(double distance)
{
	int			exponent;
	double		mantissa;

	if (!(distance >= BINS_PER_OCTAVE))
		return (int) fmax(distance, 0);
	mantissa = frexp(fmin(distance, 1e300), &exponent); /* in [0.5, 1) */
	return (int) fmin((exponent - 3) * BINS_PER_OCTAVE +
					  floor((mantissa - 0.5) * 2 * BINS_PER_OCTAVE), WS_REUSE_BINS - 1);
}

double
ws_reuse_bin_end(int bin)
{
	int			octave = bin / BINS_PER_OCTAVE;
	int			step = bin % BINS_PER_OCTAVE;

	if (bin >= WS_REUSE_BINS - 1)
		return INFINITY;
	return octave == 0 ? bin + 1 : ldexp(BINS_PER_OCTAVE + step + 1, octave - 1);
}

double
ws_reuse_misses(const double *bins, double buffers)
{
	double		misses = bins[WS_REUSE_BINS - 1];

	/* within a bin distances are taken as evenly spread */
	for (int bin = WS_REUSE_BINS - 2; bin >= 0 && ws_reuse_bin_end(bin) > buffers; bin--)
	{
		double		end = ws_reuse_bin_end(bin);
		double		start = bin > 0 ? ws_reuse_bin_end(bin - 1) : 0;

		misses += bins[bin] * (start >= buffers ? 1 : (end - buffers) / (end - start));
	}
	return misses;
}
