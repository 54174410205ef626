/*
 * break_even.c
 *		How exact are the live set and relations with a long break-even time?
 *
 * Arguments: the break-even time in seconds; how many times as many pages are
 * used in a day as in an hour; how many populations of pages.  200,000 pages
 * are each used every 20 minutes on average, at random, and others once.  Both
 * go to the sample and its life table, for three hours, or for 30 if the
 * break-even time is above an hour.
 *
 * Prints one page in how many is sampled; the standard error of the live set,
 * beside the pages that are truly used again in time; and that of a relation
 * with a twentieth of the pages of the last hour.
 */
#include "heuristic.h"
#include "sampler.h"
#include "traces.h"

#include <stdio.h>
#include <stdlib.h>

#define LOG2M		12
#define LIVE		200000.0
#define MEAN_GAP	1200.0		/* seconds */
#define ROOM		256			/* entries that are free before each step */
#define START		100000000

/* No lower stratum is sampled anyway, with so many pages. */
#define LOWEST		4

static WsSampler *sampler;
static WsLife *life;

static void
on_evict(uint32_t entry)
{
	ws_life_forget(life, entry);
}

static void
use(uint32_t number, uint32_t hash, uint32_t tick)
{
	WsPageId	page = {.tablespace = 1, .relation = 1, .block = number};
	uint32_t	entry = ws_sampler_find(sampler, &page, hash);

	if (entry == WS_NO_SAMPLE)
		entry = ws_sampler_enter(sampler, &page, hash, tick);
	if (entry != WS_NO_SAMPLE)
		ws_sampler_touch(sampler, entry, tick, true);
}

/* A whole number with this mean. */
static int
about(double mean, uint64_t *seed)
{
	return (int) (mean + random_unit(seed));
}

/* As the worker does it (cache_advice.c). */
static void
free_entries(uint32_t tick)
{
	while (sampler->capacity - sampler->count < ROOM && sampler->shift + 1 < WS_STRATA)
		if (!ws_sampler_thin(sampler, tick, on_evict) && sampler->capacity - sampler->count < ROOM)
			ws_sampler_set_shift(sampler, sampler->shift + 1, tick, on_evict);
}

static void
step_life(uint32_t tick)
{
	uint32_t	shift = ws_sampler_mature_shift(sampler, tick, life->break_even, START);

	ws_life_set_shift(life, shift);
	ws_life_begin_step(life);
	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *s = &sampler->samples[i];

		if (s->last != 0 && ws_hash_stratum(s->hash, LOG2M) >= shift)
			ws_life_item(life, i, s->last, s->before, false, tick);
	}
	ws_life_end_step(life, tick, true);
}

/* One population, up to its end; returns the tick. */
static uint32_t
run(int break_even, double once_an_hour, uint32_t population)
{
	static uint32_t hashes[2 * (int) LIVE >> LOWEST];
	uint64_t	seed = population;
	uint32_t	live = 0;
	uint32_t	once = 1 << 24;
	uint32_t	tick = START;
	int			steps = 360 * (break_even > 3600 ? 30 : 3);

	ws_sampler_init(sampler, WS_SAMPLE_PAGES_DEFAULT, LOG2M, LOWEST, START);
	ws_life_init(life, WS_SAMPLE_PAGES_DEFAULT, break_even, WS_HOLD);
	ws_sampler_set_brief(sampler, life->break_even + life->break_even / 15, START);
	for (uint32_t i = 0; i < (uint32_t) LIVE; i++)
		if (ws_hash_stratum(page_hash(population, i), LOG2M) >= LOWEST)
			hashes[live++] = page_hash(population, i);
	for (int step = 1; step <= steps; step++)
	{
		tick = START + (uint32_t) step * 100;
		free_entries(tick);
		for (int i = about(10 * live / MEAN_GAP, &seed); i > 0; i--)
		{
			uint32_t	page = random_below(&seed, live);

			use(page, hashes[page], tick - random_below(&seed, 100));
		}
		for (int i = about(once_an_hour / 360, &seed); i > 0; i--, once++)
			if (ws_hash_stratum(page_hash(population, once), LOG2M) >= LOWEST)
				use(once, page_hash(population, once), tick - random_below(&seed, 100));
		(void) ws_sampler_expire(sampler, tick, on_evict);
		step_life(tick);
	}
	return tick;
}

int
main(int argc, char **argv)
{
	int			break_even = argc == 4 ? atoi(argv[1]) : 0;
	double		times = argc == 4 ? atof(argv[2]) : 0;
	int			populations = argc == 4 ? atoi(argv[3]) : 0;
	double		once = LIVE * (times - 1) / (24 - times);	/* an hour */
	double		gaps = break_even / MEAN_GAP;

	/* gaps between uses are exponential */
	double		window = LIVE * (1 - exp(-gaps)) + once * break_even / 3600;
	double		truth = LIVE * (1 - exp(-gaps) * (1 + gaps));
	double		hour = LIVE * (1 - exp(-3600 / MEAN_GAP)) + once;
	double		squares = 0;
	double		relation = 0;
	double		sampled = 0;

	if (populations < 1 || break_even < WS_BREAK_EVEN_MIN || times < 1 || times >= 24)
		return 2;
	sampler = zeroed(1, ws_sampler_size(WS_SAMPLE_PAGES_DEFAULT));
	life = aligned_memory(ws_life_size(WS_SAMPLE_PAGES_DEFAULT));
	for (int k = 1; k <= populations; k++)
	{
		uint32_t	now = run(break_even, once, (uint32_t) k);
		WsEstimate	all = {.pages = window};
		uint32_t	shift = ws_sampler_mature_shift(sampler, now, 36000, START);
		double		error = ws_live_set(life, &all).pages / truth - 1;

		squares += error * error;
		relation += ws_sample_error(.05 * hour, hour, 0, shift) / (.05 * hour);
		sampled += sampler->shift;
	}
	printf("%d\t%g\t%.0f\t%.1f\t%.1f\n", break_even, times, exp2(sampled / populations),
		   100 * sqrt(squares / populations), 100 * relation / populations);
	return 0;
}
