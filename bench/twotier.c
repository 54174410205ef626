/*
 * twotier.c
 *		What the simulated caches say of look-ups by a law; see bench/twotier.
 *
 * Arguments: uniform, zipf or loop; pages of the table, buffers, pages of the
 * page cache, readahead in kB, share of the pages that a sample has.  Prints, of
 * eight samples together, the hit ratio of shared buffers, and of its misses
 * what needs no wait, and what is not read from disk.
 */
#include "sweep.h"
#include "traces.h"
#include "twotier.h"

#include <stdio.h>

#define PRESENT_BUFFERS	2		/* of ws_tier_buffers, */
#define PRESENT_CACHE	7		/* and of ws_tier_caches */
#define ROUNDS			40		/* uses of a page, on average; half warm up */
#define SAMPLES			8

static uint32_t pages;
static const char *law;
static double buffers;
static double cache;
static uint32_t kilobytes;
static double rate;

/* Simulate with one sample of the pages, and add up. */
static void
simulate(uint32_t sample, WsTierCounts *counts, double *uses)
{
	Zipf	   *zipf = zipf_new(pages, strcmp(law, "zipf") == 0 ? 1.02 : 0);
	uint32_t   *number = zeroed(pages, sizeof(uint32_t));
	uint64_t	seed = sample;
	uint32_t	n = 0;
	double		rates[WS_STRATA];
	WsSweep    *sweep;
	WsTwoTier  *tiers;

	for (uint32_t i = 0; i < pages; i++)
		number[i] = page_hash(sample, i) < rate * 0x1p32 ? n++ : NO_PAGE;
	sweep = aligned_memory(ws_sweep_size(n));
	ws_sweep_init(sweep, n);
	ws_sweep_resize(sweep, rate * buffers);
	tiers = aligned_memory(ws_twotier_size(n));
	ws_twotier_init(tiers, n, 8192);
	ws_readahead_learn(&tiers->readahead, kilobytes, 8192, zeroed(1, ws_readahead_work_size()));
	for (int i = 0; i < WS_STRATA; i++)
		rates[i] = ldexp(rate, -i);
	ws_twotier_resize(tiers, 0, rates, cache * 8192);

	for (uint64_t i = 0; i < (uint64_t) ROUNDS * pages; i++)
	{
		uint32_t	page = number[strcmp(law, "loop") == 0 ? i % pages : zipf_draw(zipf, &seed)];
		bool		counted = i >= (uint64_t) ROUNDS * pages / 2;
		WsAccess	access = {.page = page};
		WsTierAccess miss = {.page = page, .id = {1, 1, 1, 0, page}};
		uint32_t	cold;

		if (i % pages == 0)
		{
			tiers->relations[0].blocks = pages;
			ws_twotier_survey(tiers, sweep);
		}
		if (page == NO_PAGE)
			continue;
		miss.missed = ws_sweep_access(sweep, &access, &cold);
		ws_twotier_access(tiers, &miss, counted ? counts : NULL);
		*uses += counted;
	}
	if (tiers->shift != 0)
		exit(3);				/* not all of them fit */
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
	double		asked;

	if (argc != 7)
		return 2;
	law = argv[1];
	pages = (uint32_t) atoi(argv[2]);
	buffers = atof(argv[3]);
	cache = atof(argv[4]);
	kilobytes = (uint32_t) atoi(argv[5]);
	rate = atof(argv[6]);
	for (uint32_t sample = 1; sample <= SAMPLES; sample++)
		simulate(sample, &counts, &uses);
	asked = counts.asked[PRESENT_BUFFERS][0];
	printf("%.4f %.4f %.4f\n", 1 - asked / uses,
		   1 - counts.waits[PRESENT_BUFFERS][PRESENT_CACHE][0] / asked,
		   1 - (counts.needed[PRESENT_BUFFERS][PRESENT_CACHE] +
				counts.ahead[PRESENT_BUFFERS][PRESENT_CACHE]) / asked);
	return 0;
}
