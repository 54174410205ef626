/*
 * without.c
 *		Sweeps without one of the users of the cache each; see without.h.
 *
 * The caches are those of all sizes of a sweep, given one size.
 */
#include "without.h"

#include <math.h>
#include <string.h>

#include "advice.h"
#include "sketch.h"

#define NO_PAGE			UINT16_MAX
#define NO_STRATUM		UINT8_MAX	/* of a page that is free */
#define MINUTE			(60 * WS_TICKS_PER_SECOND)
#define WARM_TICKS		(WS_WITHOUT_WARM_SECONDS * WS_TICKS_PER_SECOND)
#define LEAST_TICKS		(WS_WITHOUT_SECONDS_MIN * WS_TICKS_PER_SECOND)

/* Rings of scans at a time: each sees few of the simulated pages. */
#define SCANS			8

/* What has to be free when the pages were full, and when they count as few. */
#define FREED_PART		16
#define FEW_PART		4

#define PRIOR_PAGES		16		/* added to those read, and missed */

_Static_assert(WS_WITHOUT_PAGES < NO_PAGE, "16 bits hold the number of a page");

static size_t
offset_of_sweep(uint32_t entries)
{
	return (sizeof(WsWithout) + entries * sizeof(uint16_t) + 63) / 64 * 64;
}

size_t
ws_without_size(uint32_t entries)
{
	return offset_of_sweep(entries) + ws_sweep_size(WS_WITHOUT_PAGES);
}

/* The page is free, and "next" is the next that is. */
static void
give_back(WsWithout *w, uint32_t page, uint32_t next)
{
	w->stratum[page] = NO_STRATUM;
	w->entry[page] = (uint16_t) next;
	w->free = page;
}

void
ws_without_init(WsWithout *w, uint32_t entries, uint32_t log2m, uint32_t shift, uint32_t tick)
{
	memset(w, 0, sizeof(*w));
	memset(w->page, 0xFF, entries * sizeof(uint16_t));
	for (uint32_t i = WS_WITHOUT_PAGES; i-- > 0;)
		give_back(w, i, i + 1);
	w->log2m = log2m;
	w->shift = shift;
	w->rate = ldexp(1, -(int) shift);
	w->minute = tick / MINUTE;
	w->sweep = (WsSweep *) ((char *) w + offset_of_sweep(entries));
	ws_sweep_init(w->sweep, WS_WITHOUT_PAGES);
	w->sweep->nscans = SCANS;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		w->sweep->factor[i] = 1;
}

static void
forget(WsWithout *w, uint32_t page)
{
	ws_sweep_forget(w->sweep, page);
	w->page[w->entry[page]] = NO_PAGE;
	give_back(w, page, w->free);
	w->used--;
}

/* Forget pages that are in no cache. */
static void
forget_absent(WsWithout *w)
{
	for (uint32_t i = 0; i < WS_WITHOUT_PAGES; i++)
		if (w->stratum[i] != NO_STRATUM && !ws_sweep_holds(w->sweep, i))
			forget(w, i);
}

/* Simulate strata from this on; fewer than before. */
static void
raise_shift(WsWithout *w, uint32_t shift)
{
	for (uint32_t i = 0; i < WS_WITHOUT_PAGES; i++)
		if (w->stratum[i] != NO_STRATUM && w->stratum[i] < shift)
			forget(w, i);
	w->rate = ldexp(w->rate, (int) w->shift - (int) shift);
	w->shift = shift;
	ws_sweep_resize(w->sweep, w->rate * w->nbuffers);
}

/* Free some pages. */
static void
free_pages(WsWithout *w)
{
	forget_absent(w);
	while (w->used > WS_WITHOUT_PAGES - WS_WITHOUT_PAGES / FREED_PART && w->shift + 1 < WS_STRATA)
		raise_shift(w, w->shift + 1);
}

/* The number of a page here, a new one if it has none, or NO_PAGE. */
static uint32_t
enter(WsWithout *w, uint32_t entry, uint32_t hash)
{
	uint32_t	stratum = ws_hash_stratum(hash, w->log2m);
	uint32_t	page = w->page[entry];

	if (page != NO_PAGE || stratum < w->shift || w->used == WS_WITHOUT_PAGES)
		return page;
	page = w->free;
	w->free = w->entry[page];
	w->page[entry] = (uint16_t) page;
	w->entry[page] = (uint16_t) entry;
	w->stratum[page] = (uint8_t) stratum;
	w->used++;
	return page;
}

void
ws_without_resize(WsWithout *w, double rate, double nbuffers, const double rings[WS_NRINGS])
{
	double		each[WS_SWEEP_SIZES];

	w->rate = rate;
	w->nbuffers = nbuffers;
	ws_sweep_resize(w->sweep, rate * nbuffers);
	for (int ring = 0; ring < WS_NRINGS; ring++)
	{
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			each[i] = rings[ring] * rate;
		ws_sweep_set_rings(w->sweep, (WsRing) ring, each);
	}
}

bool
ws_without_adapt(WsWithout *w, uint32_t shift)
{
	if (w->shift < shift)
		raise_shift(w, shift);
	forget_absent(w);
	if (w->shift == shift || w->used >= WS_WITHOUT_PAGES / FEW_PART)
		return false;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		ws_without_end(w, i);
	w->shift--;
	w->rate *= 2;
	ws_sweep_resize(w->sweep, w->rate * w->nbuffers);
	return true;
}

void
ws_without_end(WsWithout *w, int candidate)
{
	ws_sweep_empty(w->sweep, candidate);
	w->running &= ~WS_SWEEP_BIT(candidate);
}

void
ws_without_begin(WsWithout *w, int candidate, const WsSampler *sampler, const uint32_t *entries,
				 uint32_t n, uint32_t tick)
{
	uint32_t	pages[WS_WITHOUT_PAGES];
	bool		kept[WS_WITHOUT_PAGES] = {false};	/* of what the base has */
	uint32_t	nkept = 0;
	uint32_t	npages = 0;

	ws_without_end(w, candidate);
	forget_absent(w);
	for (uint32_t i = 0; i < n && w->running & WS_SWEEP_BIT(WS_WITHOUT_BASE); i++)
	{
		uint32_t	page = w->page[entries[i]];

		if (page != NO_PAGE && ws_sweep_holds_at(w->sweep, page, WS_WITHOUT_BASE))
			nkept += kept[page] = true;
	}
	for (uint32_t i = 0; i < n && npages + nkept < w->sweep->caches[candidate].buffers; i++)
	{
		uint32_t	page = enter(w, entries[i], sampler->samples[entries[i]].hash);

		if (page != NO_PAGE && !kept[page])
			pages[npages++] = page;
	}
	/* these are older, so the hand comes to them first */
	ws_sweep_seed(w->sweep, candidate, pages, npages);
	ws_sweep_copy(w->sweep, WS_WITHOUT_BASE, candidate, kept);
	w->running |= WS_SWEEP_BIT(candidate);
	w->from[candidate] = tick + WARM_TICKS;
	for (int minute = 0; minute < WS_WITHOUT_MINUTES && candidate != WS_WITHOUT_BASE; minute++)
		memset(w->counts[minute][candidate], 0, sizeof(w->counts[0][0]));
	/* all are compared with the base */
	if (candidate == WS_WITHOUT_BASE)
		memset(w->counts, 0, sizeof(w->counts));
}

void
ws_without_reset(WsWithout *w, uint32_t tick)
{
	memset(w->counts, 0, sizeof(w->counts));
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		w->from[i] = w->from[i] > tick ? w->from[i] : tick;
}

void
ws_without_follow(WsWithout *w, uint32_t tick)
{
	uint32_t	minute = tick / MINUTE;

	/* after a pause all are over */
	if (minute > w->minute + WS_WITHOUT_MINUTES)
		w->minute = minute - WS_WITHOUT_MINUTES;
	while (w->minute < minute)
	{
		w->minute++;
		memset(w->counts[w->minute % WS_WITHOUT_MINUTES], 0, sizeof(w->counts[0]));
	}
}

/* Count for candidates that the access is not of, by the caches that missed. */
static void
count(WsWithout *w, uint32_t candidates, uint32_t missed, uint32_t group, bool read, uint32_t tick)
{
	uint32_t	base = missed >> WS_WITHOUT_BASE & 1;
	float		pages = (float) (1 / w->rate);

	candidates &= ~WS_SWEEP_BIT(WS_WITHOUT_BASE);
	/* most pages are in all caches */
	if (!read && !base)
		candidates &= missed;
	for (; candidates != 0; candidates &= candidates - 1)
	{
		int			i = __builtin_ctz(candidates);
		WsWithoutCounts *counts = &w->counts[w->minute % WS_WITHOUT_MINUTES][i][group];

		if (tick < w->from[i] || tick < w->from[WS_WITHOUT_BASE])
			continue;
		counts->read += read ? pages : 0;
		counts->missed += base ? pages : 0;
		counts->saved += pages * ((float) base - (float) (missed >> i & 1));
	}
}

void
ws_without_access(WsWithout *w, const WsAccess *access, uint32_t hash, uint32_t members, bool counted,
				  bool read, uint32_t tick)
{
	WsAccess	mine = *access;
	uint32_t	others = w->running & ~members;
	uint32_t	missed;
	uint32_t	cold;

	if (w->used == WS_WITHOUT_PAGES && w->page[access->page] == NO_PAGE)
		free_pages(w);
	mine.page = enter(w, access->page, hash);
	if (mine.page == NO_PAGE)
		return;
	mine.ringed = access->ringed & WS_SWEEP_BIT(WS_SWEEP_PRESENT) ? WS_SWEEP_ALL : 0;
	mine.absent = WS_SWEEP_ALL & ~others;
	missed = ws_sweep_access(w->sweep, &mine, &cold);
	if (!counted || !(others & WS_SWEEP_BIT(WS_WITHOUT_BASE)))
		return;
	count(w, others, missed, ws_hash_group(hash), read, tick);
}

void
ws_without_forget(WsWithout *w, uint32_t entry)
{
	if (w->page[entry] != NO_PAGE)
		forget(w, w->page[entry]);
}

/*
 * Pages that others would save, by all groups but one; -1: by all.  They cannot
 * save more than they read.
 */
static double
saved_but(const WsWithout *w, const WsWithoutCounts *groups, int but)
{
	double		prior = PRIOR_PAGES / w->rate;
	double		read = 0;
	double		missed = 0;
	double		saved = 0;

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
	{
		if (g == but)
			continue;
		read += groups[g].read;
		missed += groups[g].missed;
		saved += groups[g].saved;
	}
	saved = fmin(saved * (read + prior) / (missed + prior), read);
	return saved * WS_ERROR_GROUPS / (but < 0 ? WS_ERROR_GROUPS : WS_ERROR_GROUPS - 1);
}

double
ws_without_saved(const WsWithout *w, int candidate, uint32_t now, double *error)
{
	/* not the present minute's, which may not be counted yet */
	uint32_t	first = w->minute >= WS_WITHOUT_MINUTES ? w->minute + 1 - WS_WITHOUT_MINUTES : 0;
	uint32_t	most = now - first * MINUTE;
	uint32_t	from = w->from[candidate] > w->from[WS_WITHOUT_BASE] ?
		w->from[candidate] : w->from[WS_WITHOUT_BASE];
	uint32_t	running = w->running >> candidate & w->running >> WS_WITHOUT_BASE & 1;
	WsWithoutCounts groups[WS_ERROR_GROUPS] = {{0}};
	double		without[WS_ERROR_GROUPS];
	double		seconds;

	*error = NAN;
	if (!running || now < from + LEAST_TICKS)
		return NAN;
	seconds = (double) (now - from < most ? now - from : most) / WS_TICKS_PER_SECOND;
	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		for (int minute = 0; minute < WS_WITHOUT_MINUTES; minute++)
		{
			groups[g].read += w->counts[minute][candidate][g].read;
			groups[g].missed += w->counts[minute][candidate][g].missed;
			groups[g].saved += w->counts[minute][candidate][g].saved;
		}
	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		without[g] = saved_but(w, groups, g);
	*error = ws_jackknife(without, WS_ERROR_GROUPS) / seconds;
	return saved_but(w, groups, -1) / seconds;
}
