/*
 * division_t.c
 *		Tests of the division of memory: tables made by hand, and a model whose
 *		answers are known.
 */
#include "tap.h"
#include "division.h"

#include <stdlib.h>

#define GB			1073741824.0
#define FOLLOWER	(WS_TIER_BUFFERS - 1)
#define WHOLE		7			/* of ws_tier_caches */

static WsTwoTier tiers;			/* nothing is cached twice, but as said */
static WsAdviceTable advice;
static WsTierCounts counts;
static WsTierFacts facts;
static WsTierTable table;
static WsPair pair;

/*
 * Begin anew, with an advice and counts in which size b misses 0.1 * (b + 1) of
 * 1,000 lookups, and their table.
 */
static void
make(void)
{
	facts = (WsTierFacts)
	{
		&counts, &advice, &tiers, GB, 8 * GB, 8 * GB, 1, 2 * GB, 0, NAN
	};
	memset(&advice, 0, sizeof(advice));
	memset(&counts, 0, sizeof(counts));
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
			tiers.only[b][c] = 1;
	tiers.readahead.waits = 1;
	advice.seconds = 10;
	advice.lookups = 10000;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		advice.rows[i].factor = i < WS_SWEEP_GRID ? ws_sweep_grid[i] : 3;
		advice.rows[i].reads_per_second = NAN;
	}
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
	{
		advice.rows[ws_tier_buffers[b]].reads_per_second = 100 * (b + 1);
		for (int g = 0; g < WS_ERROR_GROUPS; g++)
		{
			counts.asked[b][g] = 1000.0 / WS_ERROR_GROUPS;
			for (int c = 0; c < WS_TIER_CACHES; c++)
				counts.waits[b][c][g] = (500.0 - 10 * c - b) / WS_ERROR_GROUPS;
		}
		for (int c = 0; c < WS_TIER_CACHES; c++)
			counts.needed[b][c] = counts.ahead[b][c] = 500 - 10 * c - b;
	}
	ws_division_table(&facts, &table);
}

/* Of the reads so many wait, for so many blocks, and as many ahead. */
static bool
counts_are(int b, int c, double want)
{
	return fabs(table.waits[b][c] - want) < 1e-12 && fabs(table.needed[b][c] - want) < 1e-12 &&
		fabs(table.ahead[b][c] - want) < 1e-12;
}

static void
test_table(void)
{
	bool		ascending = true;
	double		error;

	make();
	error = table.error[2][WS_TIER_CACHES - 1];
	is_int(table.nbuffers, WS_TIER_BUFFERS - 1, "a size that is not followed is not known");
	is_within(table.lookups, 1000, 0, "all is by the second");
	is_within(table.other, 2 * GB, 0, "what else takes memory is noted");
	is_within(table.caches[WHOLE], 8 * GB, 0, "and so are the sizes of the page cache");
	facts.left = 0.5;
	ws_division_table(&facts, &table);
	ok(counts_are(2, 1, 0.744), "if half of what was found is displaced, so many more wait and are read");
	is_within(table.waits[2][WS_TIER_CACHES - 1], 0.388 + 0.612 / 8, 1e-12, "with four times as much an eighth of it");
	is_within(table.error[2][WS_TIER_CACHES - 1], error + 0.612 / 16, 1e-12, "or none, or a quarter");
	facts.present = 2 * GB;
	ws_division_table(&facts, &table);
	ok(fabs(table.waits[2][WHOLE] - (0.428 + 0.572 / 8)) < 1e-12 && fabs(table.waits[2][1] - (0.488 + 0.512 / 2)) < 1e-12,
	   "it is half of the present page cache, whatever the others are multiples of");
	facts.present = 8 * GB;
	counts.needed[2][1] = counts.ahead[2][1] = 0;
	memset(counts.waits[2][1], 0, sizeof(counts.waits[2][1]));
	counts.needed[2][2] /= 2;
	ws_division_table(&facts, &table);
	ok(table.waits[2][1] == 0.5 && table.needed[2][1] == 0.5 && table.ahead[2][1] == 0, "if all was found, half of it");
	ok(fabs(table.needed[2][2] - (0.239 + 0.761 / 2)) < 1e-12 && table.waits[2][2] == 1,
	   "and not more than all wait");
	make();
	facts.left = 1;
	ws_division_table(&facts, &table);
	is_within(table.buffers[2], GB, 0, "and those of shared buffers");
	ok(counts_are(2, 1, 0.488), "of the reads so many wait for so many blocks, and as many ahead");

	advice.followed = true;
	ws_division_table(&facts, &table);
	is_int(table.nbuffers, WS_TIER_BUFFERS, "one that is followed is");
	for (int b = 1; b < table.nbuffers; b++)
		ascending = ascending && table.buffers[b] > table.buffers[b - 1];
	ok(ascending && table.buffers[4] == 3 * GB && table.sizes[4] == 3 * GB && table.reads[4] == 800 && counts_are(4, 1, 0.483) &&
	   table.buffers[5] == 4 * GB && table.reads[5] == 500 && counts_are(5, 1, 0.486), "at its place among the others");
	advice.rows[WS_SWEEP_FOLLOWER].factor = 4;
	ws_division_table(&facts, &table);
	ok(table.nbuffers == WS_TIER_BUFFERS - 1 && table.reads[4] == 500,
	   "unless it is one of them");

	advice.rows[ws_tier_buffers[1]].reads_per_second = NAN;
	memset(counts.asked[2], 0, 2 * sizeof(counts.asked[2]));
	counts.asked[2][0] = WS_DIVISION_READS - 1;
	advice.rows[ws_tier_buffers[3]].reads_per_second = 1;
	ws_division_table(&facts, &table);
	ok(table.nbuffers == WS_TIER_BUFFERS - 3 && table.buffers[0] == 0.25 * GB &&
	   table.buffers[1] == 2 * GB, "nor is one whose reads are not known, or of which few were simulated");
	ok(table.reads[1] == 300 && table.reads[2] == 1 && table.nsizes == WS_TIER_BUFFERS - 2,
	   "but one that hardly reads may be");
	/* nearly all hit: a thousandth of 100,000 lookups a second is much, if few of them are simulated */
	make();
	advice.lookups = 1e6;
	memset(counts.asked[2], 0, sizeof(counts.asked[2]));
	memset(counts.waits[2], 0, sizeof(counts.waits[2]));
	advice.rows[ws_tier_buffers[2]].reads_per_second = 50;
	counts.asked[2][0] = 12;
	ws_division_table(&facts, &table);
	is_within(table.error[2][WHOLE], hypot(0.25, WS_DIVISION_ERROR), 1e-12, "if none of twelve reads waits, a quarter may");
	advice.rows[ws_tier_buffers[2]].reads_per_second = 5;
	ws_division_table(&facts, &table);
	is_within(table.error[2][WHOLE], WS_DIVISION_ERROR, 1e-12, "which does not matter if there are next to none");

	/* without readahead a read that waits does so twice */
	make();
	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		counts.waits[2][WHOLE][g] *= 2;
	tiers.readahead.waits = 2;
	ws_division_table(&facts, &table);
	ok(ws_division_predict(&table, GB, 8 * GB, &pair) && fabs(pair.cache_hit_ratio - 0.572) < 1e-12 &&
	   fabs(pair.waits - 2 * 300 * 0.428) < 1e-9, "without readahead a read waits twice, or not at all");
	make();
	advice.seconds = 0;
	ws_division_table(&facts, &table);
	ok(table.nbuffers == 0 && table.lookups == 0, "before anything was counted nothing is known");
}

static void
test_error(void)
{
	double		sampling;

	make();
	is_within(table.error[2][WHOLE], WS_DIVISION_ERROR, 1e-12,
			  "if all groups agree, the error of the present pair is the model's");
	is_within(table.error[3][WHOLE - 4], WS_DIVISION_ERROR + 3 * WS_DIVISION_SIZE_ERROR, 1e-12,
			  "and more with each doubling");
	ok(ws_division_predict(&table, 2 * GB, 2 * GB, &pair) && pair.error == table.error[3][WHOLE - 4],
	   "a pair has it");
	ok(ws_division_predict(&table, sqrt(2) * GB, 2 * GB, &pair) && pair.error == table.error[3][WHOLE - 4],
	   "one between two has the larger one");
	for (double part = 0.1; part < 1; part += 0.8)
		ok(ws_division_predict(&table, GB, part * 8 / 16.0 * GB, &pair) && fabs(pair.error - 0.9 * 0.502) < 1e-9,
		   "below the smallest it is what that has more, or what there is, whichever is more");
	ok(ws_division_predict(&table, GB, 33 * GB, &pair) &&
	   fabs(pair.error - 0.388) < 1e-9, "and above the largest, all that waits");
	facts.off = 0.05;
	counts.cold[2][WHOLE] = 107;
	ws_division_table(&facts, &table);
	is_within(table.error[2][WHOLE], 0.1 + 0.428 / 8, 1e-12, "it is twice what the model was off by, and half of what a cache that is not full reads");
	ok(counts_are(2, WHOLE, 0.428 * 7 / 8) && fabs(table.cold[2][WHOLE] - 0.428 / 8) < 1e-12, "of which half counts");

	/*
	 * Without the group that has no waits the ratio is 16 / 15 of the one of all,
	 * without the one that has them 14 / 15, and without any other one the same
	 */
	facts.off = 0;
	counts.cold[2][WHOLE] = 0;
	counts.waits[2][WHOLE][1] += counts.waits[2][WHOLE][0];
	counts.waits[2][WHOLE][0] = 0;
	ws_division_table(&facts, &table);
	sampling = WS_QUANTILE_OF_GROUPS * sqrt(15 / 16.0 * 2) / 15 * 0.428;
	is_within(table.error[2][WHOLE], hypot(sampling, WS_DIVISION_ERROR), 1e-12,
			  "if they do not agree, it is larger");
	facts.off = 1;
	ws_division_table(&facts, &table);
	is_within(table.error[2][WHOLE], 1, 0, "and at most 1");

	make();
	(void) ws_division_predict(&table, GB, 8 * GB, &pair);
	is_within(ws_division_difference(&pair, pair.blocks), 0, 1e-12, "blocks as predicted: no difference");
	is_within(ws_division_difference(&pair, 2 * 300 * 0.5), 0.5 - 0.428, 1e-12,
			  "more blocks: fewer hits than predicted");
	is_within(ws_division_difference(&pair, 1e9), 1, 0, "many more: at most all");
	ok(isnan(ws_division_difference(&pair, NAN)), "blocks not known: nothing");
	/* 300 reads a second, of two blocks each */
	ok(ws_division_others_read(&pair, 1.3 * 600) && !ws_division_others_read(&pair, 1.2 * 600) &&
	   !ws_division_others_read(&pair, NAN), "more than if all were missed: some is for others");
	pair.waits = pair.needed = pair.blocks = 0;
	is_within(ws_division_difference(&pair, 30), 0.1, 1e-12, "if none are predicted, each is one");
	ok(ws_division_others_read(&pair, 380) && !ws_division_others_read(&pair, 370), "then, too");
	ok(!ws_division_is_off(-0.1) && ws_division_is_off(0.11) && ws_division_is_off(-0.11) && !ws_division_is_off(NAN),
	   "a difference above a tenth is too much");
	pair.reads = WS_DIVISION_CHECKED - 1;
	ok(isnan(ws_division_difference(&pair, 30)), "of few reads it says nothing");
}

/* A page cache as large as all relations reads nothing in the end. */
static void
test_whole(void)
{
	double		here;

	make();
	facts.whole = 10 * GB;
	ws_division_table(&facts, &table);
	is_int(table.ncaches, WS_TIER_CACHES + 1, "it is one of the sizes");
	ok(table.caches[WHOLE] == 8 * GB && table.caches[WHOLE + 1] == 10 * GB && table.caches[WHOLE + 2] == 12 * GB,
	   "in its place");
	here = table.waits[2][WHOLE];
	for (double cache = 10 * GB; cache <= 30 * GB; cache += 20 * GB)
		ok(ws_division_predict(&table, GB, cache, &pair) && pair.waits == 0 && pair.blocks == 0 && pair.cache_hit_ratio == 1,
		   "and reads nothing, nor does a larger one");
	(void) ws_division_predict(&table, GB, sqrt(80) * GB, &pair);
	is_within(1 - pair.cache_hit_ratio, here / 2, 1e-12, "below, it is between the next size and that");
	ok(fabs(here - 0.428) < 1e-12 && table.cold[2][WHOLE] == 0 && fabs(table.cold[2][WHOLE + 1] - 0.418) < 1e-12,
	   "what the simulated one read is what may still be missing");
	facts.whole = 8.05 * GB;
	ws_division_table(&facts, &table);
	ok(table.ncaches == WS_TIER_CACHES && table.waits[2][WHOLE] == 0, "if it is one of the sizes there is no other");
	facts.whole = 33 * GB;
	ws_division_table(&facts, &table);
	ok(table.ncaches == WS_TIER_CACHES && fabs(table.waits[2][WS_TIER_CACHES - 1] - 0.388) < 1e-12,
	   "beyond these sizes it is not known how fast it falls");
	facts.left = 0.5;
	facts.whole = 10 * GB;
	ws_division_table(&facts, &table);
	(void) ws_division_predict(&table, GB, 16 * GB, &pair);
	is_within(pair.cache_hit_ratio, 0.75, 1e-12, "but what others displace");
}

/* What a page cache has that acts as one up to 15 % off is within the error. */
static void
test_steep(void)
{
	WsPair		real;
	bool		within = true;
	bool		outside = false;

	make();
	(void) ws_division_predict(&table, GB, 8 * GB, &pair);
	is_within(pair.steep, 0.01 * WS_DIVISION_EFFECTIVE / log(8 / 6.0), 1e-12,
			  "it is what the steeper side changes");
	ok(pair.error == table.error[3][WHOLE] && ws_division_error(&pair) == hypot(pair.error, pair.steep),
	   "it is not in the error that decides, but in the one that is shown");

	/* a loop over 8 GB: nothing is found before it fits */
	for (int b = 0; b < table.nbuffers; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
			table.waits[b][c] = c < WHOLE ? 1 : 0;
	for (double cache = GB; cache < 30 * GB; cache *= 1.03)
		for (double off = -0.99; off < 1; off += 0.33)
		{
			(void) ws_division_predict(&table, GB, cache, &pair);
			(void) ws_division_predict(&table, GB, cache * exp(off * WS_DIVISION_EFFECTIVE), &real);
			within = within && fabs(real.cache_hit_ratio - pair.cache_hit_ratio) <= ws_division_error(&pair);
			outside = outside || fabs(real.cache_hit_ratio - pair.cache_hit_ratio) > 5 * pair.error;
		}
	ok(within && outside, "a page cache that acts as another size is within the one, far outside the other");
	(void) ws_division_predict(&table, GB, 12 * GB, &pair);
	is_within(ws_division_error(&pair), pair.error, 0, "where nothing depends on the size both are the same");
	pair.error = pair.steep = 0.9;
	is_within(ws_division_error(&pair), 1, 0, "and it is at most 1");
	ok(ws_division_error(&pair) >= 2 * WS_DIVISION_TOLERANCE, "which is nothing to rely on");
}

static void
test_predict(void)
{
	make();
	ok(ws_division_predict(&table, GB, 8 * GB, &pair), "a pair that was simulated is known");
	ok(pair.buffers == GB && pair.cache == 8 * GB && fabs(pair.hit_ratio - 0.7) < 1e-12 &&
	   fabs(pair.reads - 300) < 1e-9 && fabs(pair.cache_hit_ratio - (1 - 0.428)) < 1e-12 &&
	   fabs(pair.waits - 300 * 0.428) < 1e-9 && fabs(pair.blocks - 600 * 0.428) < 1e-9,
	   "with what was counted");
	is_int(table.nsizes, WS_TIER_BUFFERS - 1, "reads are known of each size");
	is_within(pair.distinct, 9 * GB, 0, "both hold as much as they have");
	tiers.only[2][WHOLE] = 0.75;
	tiers.only[3][WHOLE] = NAN;
	for (facts.left = 1; facts.left > 0; facts.left -= 0.5)
	{
		ws_division_table(&facts, &table);
		(void) ws_division_predict(&table, GB, 8 * GB, &pair);
		is_within(pair.distinct, facts.left == 1 ? 7 * GB : 4 * GB, 0, "less what they have twice, and what others have");
		(void) ws_division_predict(&table, GB, -GB, &pair);
		is_within(pair.distinct, GB, 0, "and that is shared buffers without a page cache");
		(void) ws_division_predict(&table, 2 * GB, 8 * GB, &pair);
		ok(isnan(pair.distinct), "of one that is not full it is not known");
	}
	make();
	/* half way from 1 to 2 GB, and from 8 to 12 GB, in logarithms */
	ok(ws_division_predict(&table, sqrt(2) * GB, sqrt(96) * GB, &pair) &&
	   fabs(pair.reads - 350) < 1e-6 && fabs(pair.cache_hit_ratio - (1 - 0.4225)) < 1e-9,
	   "one between four of them is between them");
	for (double cache = 0; cache >= -GB; cache -= GB)
		ok(ws_division_predict(&table, GB, cache, &pair) && pair.cache_hit_ratio == 0 && fabs(pair.waits - 300) < 1e-9 &&
		   fabs(pair.blocks - 300) < 1e-9, "without a page cache each read waits, and with less");
	ok(ws_division_predict(&table, GB, 0.25 * GB, &pair) &&
	   fabs(pair.cache_hit_ratio - 0.251) < 1e-12, "with a very small one half as many as of the smallest do not");
	ok(ws_division_predict(&table, GB, 1000 * GB, &pair) &&
	   fabs(pair.cache_hit_ratio - (1 - 0.388)) < 1e-12, "a larger one than was simulated is as good as the largest");
	ok(!ws_division_predict(&table, 0.2 * GB, GB, &pair) &&
	   !ws_division_predict(&table, 20 * GB, GB, &pair), "other shared buffers than that are not known");
	table.lookups = 0;
	ok(ws_division_predict(&table, GB, GB, &pair) && isnan(pair.hit_ratio), "without lookups there is no hit ratio");
	table.nbuffers = 0;
	ok(!ws_division_predict(&table, GB, GB, &pair) && !ws_division_best(&table, 8 * GB, &pair),
	   "nor is anything without a size");
	make();
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (i != WS_SWEEP_PRESENT)
			advice.rows[i].reads_per_second = NAN;
	ws_division_table(&facts, &table);
	ok(table.nbuffers == 1 && ws_division_predict(&table, GB, 8 * GB, &pair) &&
	   fabs(pair.waits - 300 * 0.428) < 1e-9, "of one size, this is");
}

/*
 * Random look-ups in a set of 9 GB.  The page cache holds what shared buffers
 * hold, too, as it does if it is the larger one.
 */
static void
model(void)
{
	memset(&table, 0, sizeof(table));
	table.lookups = 1000;
	table.other = GB;
	table.shared_buffers = 4 * GB;
	table.waits_each = 1;
	table.nbuffers = WS_TIER_BUFFERS - 1;
	table.nsizes = WS_SWEEP_GRID;
	table.ncaches = WS_TIER_CACHES;
	for (int i = 0; i < WS_SWEEP_GRID; i++)
	{
		table.sizes[i] = 4 * GB * ws_sweep_grid[i];
		table.reads[i] = 1000 * fmax(1 - table.sizes[i] / (9 * GB), 0);
	}
	for (int c = 0; c < WS_TIER_CACHES; c++)
		table.caches[c] = 16 * GB * ws_tier_caches[c];
	for (int b = 0; b < table.nbuffers; b++)
	{
		double		buffers = table.buffers[b] = 4 * GB * ws_sweep_grid[ws_tier_buffers[b]];
		double		missed = fmax(1 - buffers / (9 * GB), 0);

		for (int c = 0; c < WS_TIER_CACHES; c++)
			table.waits[b][c] = table.needed[b][c] = missed > 0 ?
				fmax(1 - fmax(buffers, table.caches[c]) / (9 * GB), 0) / missed : 0;
	}
}

static void
test_best(void)
{
	WsPair		tried;
	bool		best = true;
	bool		fits = true;

	model();
	is_within(ws_division_left(&table, 16 * GB, 4 * GB), 11 * GB, 1, "what is left for the page cache now");
	/* shared_memory_size of PostgreSQL 15 with 4 and 8 GB: 4,201 and 8,387 MB */
	is_within(ws_division_left(&table, 16 * GB, 8 * GB), 11 * GB - (8387 - 4201) * GB / 1024, 3 * GB / 1024,
			  "larger shared buffers take their descriptors, too");
	ok(ws_division_best(&table, 16 * GB, &pair) && pair.buffers == 10 * GB && pair.waits == 0,
	   "16 GB for a set of 9 GB: all of it in shared buffers");
	ok(ws_division_best(&table, 10.5 * GB, &pair) && pair.buffers == GB && pair.waits < 100,
	   "10.5 GB: small ones, so that the page cache holds the set");
	ok(ws_division_best(&table, 64 * GB, &pair) && pair.buffers == 10 * GB && pair.reads == 0,
	   "64 GB: not more than is of use");
	for (double memory = 3 * GB; memory < 70 * GB; memory *= 1.1)
	{
		fits = fits && ws_division_best(&table, memory, &pair) &&
			pair.buffers <= 0.75 * (memory - GB) &&
			pair.cache == ws_division_left(&table, memory, pair.buffers);
		/* as good as any: the sizes that are tried are 19 % apart */
		for (double buffers = GB; buffers < 0.75 * (memory - GB) && buffers < 64 * GB; buffers *= 1.19)
			if (ws_division_predict(&table, buffers, ws_division_left(&table, memory, buffers), &tried))
				best = best && pair.waits + pair.reads / 50 <=
					(tried.waits + tried.reads / 50) * 1.1 + 1;
	}
	ok(fits, "whatever the memory, both fit");
	ok(best, "and none is much better");
	ok(!ws_division_best(&table, 1.5 * GB, &pair), "too little for the smallest size is too little");
}

static void
test_hits_left(void)
{
	bool		rising = true;

	is_within(ws_division_hits_left(0.56), 0.56, 1e-12, "where nearly half of the pages are missing, so are the hits");
	is_within(ws_division_hits_left(0.79), 0.79, 1e-12, "and where a fifth is");
	is_within(ws_division_hits_left(0.85), 0.9, 1e-12, "of fewer, half of them");
	ok(ws_division_hits_left(0.9) == 1 && ws_division_hits_left(1) == 1, "and up to a tenth, none");
	for (int i = 1; i <= 1000; i++)
	{
		double		more = ws_division_hits_left(i / 1000.0) - ws_division_hits_left((i - 1) / 1000.0);

		/* twice as fast as the pages at most */
		rising &= more >= 0 && more < 0.00201;
	}
	ok(rising, "with more pages found more are left, by no jump");
}

int
main(void)
{
	plan(88);
	test_hits_left();
	test_table();
	test_error();
	test_whole();
	test_steep();
	test_predict();
	test_best();
	return done();
}
