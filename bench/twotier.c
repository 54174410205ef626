/*
 * twotier.c
 *		What the simulated caches say of look-ups by a law; see bench/twotier.
 *
 * Arguments: uniform, zipf or loop; pages of the table, buffers, pages of the
 * page cache, readahead in kB, and 1 if reclaim sees late that pages come back,
 * else 0.  Each page is in one of some samples.  Prints, of these together, the
 * hit ratio of shared buffers, and of its misses what needs no wait, what is not
 * read from disk, and what a page cache would find that evicts the page used
 * least recently and reads nothing ahead.
 */
#include "survey.h"
#include "sweep.h"
#include "traces.h"

#include <stdio.h>

#define PRESENT_BUFFERS	2		/* of ws_tier_buffers, */
#define PRESENT_CACHE	7		/* and of ws_tier_caches */
#define ROUNDS			40		/* uses of a page, on average; half warm up */
#define SAMPLES			24		/* of few enough pages to be simulated */

static uint32_t pages;
static const char *law;
static double buffers;
static double cache;
static uint32_t kilobytes;
static bool late;
static const double rate = 1.0 / SAMPLES;

/* Pages from the one used least recently to the one used last, a ring. */
typedef struct Lru
{
	uint32_t	room;			/* for so many more */
	uint32_t   *next;			/* the last one is the ring's own; NO_PAGE: it */
	uint32_t   *prev;			/* is not there */
} Lru;

static void
lru_unlink(Lru *lru, uint32_t page)
{
	lru->next[lru->prev[page]] = lru->next[page];
	lru->prev[lru->next[page]] = lru->prev[page];
	lru->next[page] = NO_PAGE;
}

/* Use a page of n; was it there? */
static bool
lru_use(Lru *lru, uint32_t page, uint32_t n)
{
	bool		there = lru->next[page] != NO_PAGE;

	if (there)
		lru_unlink(lru, page);
	else if (lru->room > 0)
		lru->room--;
	else
		lru_unlink(lru, lru->next[n]);
	lru->prev[page] = lru->prev[n];
	lru->next[page] = n;
	lru->next[lru->prev[n]] = page;
	lru->prev[n] = page;
	return there;
}

/* Simulate with one sample of the pages, and add up. */
static void
simulate(uint32_t sample, WsTierCounts *counts, double *uses, double *lru_hits)
{
	Zipf	   *zipf = zipf_new(pages, strcmp(law, "zipf") == 0 ? 1.02 : 0);
	uint32_t   *number = zeroed(pages, sizeof(uint32_t));
	uint64_t	seed = sample + 1;
	uint32_t	n = 0;
	double		rates[WS_STRATA];
	WsSweep    *sweep;
	WsTwoTier  *tiers;
	Lru			lru = {.room = (uint32_t) (rate * cache)};

	for (uint32_t i = 0; i < pages; i++)
		number[i] = page_hash(1, i) % SAMPLES == sample ? n++ : NO_PAGE;
	lru.next = zeroed(n + 1, sizeof(uint32_t));
	lru.prev = zeroed(n + 1, sizeof(uint32_t));
	memset(lru.next, 0xFF, n * sizeof(uint32_t));
	lru.next[n] = lru.prev[n] = n;
	sweep = aligned_memory(ws_sweep_size(n));
	ws_sweep_init(sweep, n);
	ws_sweep_resize(sweep, rate * buffers);
	tiers = aligned_memory(ws_twotier_size(n));
	ws_twotier_init(tiers, n, 8192);
	ws_readahead_learn(&tiers->readahead, kilobytes, 8192, zeroed(1, ws_readahead_work_size()));
	for (int i = 0; i < WS_STRATA; i++)
		rates[i] = ldexp(rate, -i);
	tiers->late = late;
	ws_twotier_resize(tiers, 0, rates, cache * 8192);

	for (uint64_t i = 0; i < (uint64_t) ROUNDS * pages; i++)
	{
		uint32_t	drawn = strcmp(law, "loop") == 0 ? (uint32_t) (i % pages) : zipf_draw(zipf, &seed);
		uint32_t	page = number[drawn];
		bool		counted = i >= (uint64_t) ROUNDS * pages / 2;
		WsAccess	access = {.page = page};
		/* somewhere in the table */
		uint32_t	block = (uint32_t) ((uint64_t) page_hash(SAMPLES + 1, drawn) * pages >> 32);
		WsTierAccess miss = {.page = page, .id = {1, 1, 1, 0, block}};
		uint32_t	cold;

		if (i % pages == 0)
		{
			tiers->relations[0].blocks = pages;
			ws_survey(tiers, sweep);
		}
		if (page == NO_PAGE)
			continue;
		miss.missed = ws_sweep_access(sweep, &access, &cold);
		ws_twotier_access(tiers, &miss, counted ? counts : NULL);
		*uses += counted;
		if (miss.missed >> ws_tier_buffers[PRESENT_BUFFERS] & 1 && lru_use(&lru, page, n))
			*lru_hits += counted;
	}
	if (tiers->shift != 0)
		exit(3);				/* not all of them fit */
	free(lru.next);
	free(lru.prev);
	free(sweep);
	free(tiers);
	free(number);
	zipf_free(zipf);
}

int
main(int argc, char **argv)
{
	static WsTierCounts counts;
	double		uses = 0;
	double		lru_hits = 0;
	double		asked;

	if (argc != 7)
		return 2;
	law = argv[1];
	pages = (uint32_t) atoi(argv[2]);
	buffers = atof(argv[3]);
	cache = atof(argv[4]);
	kilobytes = (uint32_t) atoi(argv[5]);
	late = atoi(argv[6]) != 0;
	for (uint32_t sample = 0; sample < SAMPLES; sample++)
		simulate(sample, &counts, &uses, &lru_hits);
	asked = counts.asked[PRESENT_BUFFERS][0];
	printf("%.4f %.4f %.4f %.4f\n", 1 - asked / uses,
		   1 - counts.waits[PRESENT_BUFFERS][PRESENT_CACHE][0] / asked,
		   1 - (counts.needed[PRESENT_BUFFERS][PRESENT_CACHE] +
				counts.ahead[PRESENT_BUFFERS][PRESENT_CACHE]) / asked, lru_hits / asked);
	return 0;
}
