/*
 * advice_t.c
 *		Tests of the advice: on tallies made by hand, of which the answer is
 *		known, and from end to end, against caches of all sizes.
 *
 * Seeds are fixed, so a run either always passes or always fails.  Where an
 * assertion is about random numbers its bound is stated beside it.
 */
#include "tap.h"
#include "advice.h"
#include "sampler_check.h"
#include "sweep_check.h"
#include "traces.h"

#define K_SIGMA		5
#define SIZES		WS_SWEEP_SIZES
#define GROUPS		WS_ERROR_GROUPS
#define PRESENT		WS_SWEEP_PRESENT
#define REST		WS_CLASS_REST
#define SCAN		WS_CLASS_SCAN

/* room enough for any size to be advised upon */
static uint32_t room[SIZES];

static WsAdviceTable
advise(const WsTally *t, double nbuffers)
{
	WsAdviceTable table;

	memset(&table, 0xA5, sizeof(table));
	ws_advise(t, nbuffers, room, &table);
	return table;
}

/*
 * A tally over ten seconds.
 */
static WsTally *
new_tally(double hits, double reads)
{
	WsTally    *t = zeroed(1, sizeof(WsTally));

	t->seconds = 10;
	t->hits = hits;
	t->reads = reads;
	return t;
}

/* so many reads, each sampled one standing for "weight" */
static void
sample_reads(WsTally *t, WsClass class, double events, double weight)
{
	for (int g = 0; g < GROUPS; g++)
		t->sampled[class][g] += events * weight / GROUPS;
	t->events[class] += events;
}

static void
miss(WsTally *t, int size, WsClass class, double misses)
{
	for (int g = 0; g < GROUPS; g++)
		t->missed[size][class][g] += misses / GROUPS;
}

/*
 * Misses that fall with the size, whole numbers in each group.
 */
static double
sloping(int size)
{
	return 160.0 * (SIZES - 1 - size) + (size == PRESENT ? 1000 - 160 * 9 : 0);
}

static void
test_add(void)
{
	WsTally    *a = zeroed(1, sizeof(WsTally));
	WsTally    *b = zeroed(1, sizeof(WsTally));
	WsTally    *sum = zeroed(1, sizeof(WsTally));
	uint64_t	seed = 161;
	bool		fine = true;

	/* every field of its own value */
	for (int n = 0; n < 2; n++)
	{
		WsTally    *t = n == 0 ? a : b;

		t->seconds = random_below(&seed, 1000);
		t->hits = random_below(&seed, 1000);
		t->reads = random_below(&seed, 1000);
		t->scan_hits = random_below(&seed, 1000);
		t->scan_reads = random_below(&seed, 1000);
		t->weight = 1 + random_below(&seed, 1000);
		for (int i = 0; i < 2; i++)
		{
			t->run_hits[i] = random_below(&seed, 1000);
			t->run_reads[i] = random_below(&seed, 1000);
		}
		for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		{
			t->events[c] = random_below(&seed, 1000);
			for (int g = 0; g < GROUPS; g++)
			{
				t->sampled[c][g] = random_below(&seed, 1000);
				for (int i = 0; i < SIZES; i++)
					t->missed[i][c][g] = random_below(&seed, 1000);
			}
		}
		for (int i = 0; i < WS_REUSE_BINS; i++)
			t->distances[i] = random_below(&seed, 1000);
	}
	ws_tally_add(sum, a);
	fine &= memcmp(sum, a, sizeof(WsTally)) == 0;
	ok(fine, "adding to nothing gives the same");
	ws_tally_add(sum, b);
	fine &= sum->seconds == a->seconds + b->seconds && sum->hits == a->hits + b->hits &&
		sum->reads == a->reads + b->reads && sum->scan_hits == a->scan_hits + b->scan_hits &&
		sum->scan_reads == a->scan_reads + b->scan_reads;
	for (int i = 0; i < 2; i++)
		fine &= sum->run_hits[i] == a->run_hits[i] + b->run_hits[i] &&
			sum->run_reads[i] == a->run_reads[i] + b->run_reads[i];
	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
	{
		fine &= sum->events[c] == a->events[c] + b->events[c];
		for (int g = 0; g < GROUPS; g++)
		{
			fine &= sum->sampled[c][g] == a->sampled[c][g] + b->sampled[c][g];
			for (int i = 0; i < SIZES; i++)
				fine &= sum->missed[i][c][g] == a->missed[i][c][g] + b->missed[i][c][g];
		}
	}
	for (int i = 0; i < WS_REUSE_BINS; i++)
		fine &= sum->distances[i] == a->distances[i] + b->distances[i];
	ok(fine, "and adding two adds everything");
	fine &= sum->weight == b->weight;
	b->weight = 0;
	ws_tally_add(sum, b);
	ok(fine && sum->weight > 0, "but the weight, of which the last that is known counts");
	free(a);
	free(b);
	free(sum);
}

/*
 * All pages seen: what is predicted is what was counted.
 */
static void
test_all_seen(void)
{
	WsTally    *t = new_tally(9000, 1000);
	WsAdviceTable table;
	double		farthest = 0;

	sample_reads(t, REST, 1000, 1);
	for (int i = 0; i < SIZES; i++)
		miss(t, i, REST, sloping(i));
	table = advise(t, 1000);
	for (int i = 0; i < SIZES; i++)
	{
		double		misses = sloping(i);

		farthest = fmax(farthest, fabs(table.rows[i].hit_ratio - (1 - misses / 10000)));
		farthest = fmax(farthest, fabs(table.rows[i].hit_ratio_without_scans - (1 - misses / 10000)));
		farthest = fmax(farthest, fabs(table.rows[i].reads_per_second - misses / 10) / 1000);
		farthest = fmax(farthest, fabs(table.rows[i].read_factor - misses / 1000));
		farthest = fmax(farthest, fabs(table.rows[i].factor - ws_sweep_factors[i]));
		farthest = fmax(farthest, fabs(table.rows[i].buffers - 1000 * ws_sweep_factors[i]));
	}
	is_within(farthest, 0, 1e-9, "all pages seen: misses are those counted, at every size");
	ok(table.seconds == 10 && table.hit_ratio == 0.9 && table.reads_per_second == 100,
	   "what was measured is passed on");
	is_within(table.difference, 0, 1e-12, "and it agrees");
	ok(table.sure, "so it is sure");

	/* alike in all groups: there is no error of sampling */
	farthest = 0;
	for (int i = 0; i < SIZES; i++)
		farthest = fmax(farthest, table.rows[i].error - WS_ADVICE_MODEL_ERROR);
	is_within(farthest, 0, 1e-7, "groups that are alike have no error");
	free(t);
}

/*
 * Misses are scaled by real over sampled reads, or by the sampling rate where
 * few were sampled.  Sampled reads of weight 16.
 */
static double
scaled(double real, double events, double misses)
{
	WsTally    *t = new_tally(1e9, real);
	WsAdviceTable table;
	double		factor;

	t->weight = 16;
	sample_reads(t, REST, events, 16);
	miss(t, 0, REST, misses);
	table = advise(t, 1000);
	factor = table.rows[0].reads_per_second * 10 / misses;
	free(t);
	return factor;
}

static void
test_scaling(void)
{
	/*
	 * 16 * 10,000 reads sampled; 30 more as expected do not weigh much:
	 * 30/10,000
	 */
	is_within(scaled(160000, 10000, 50000), 1, 1e-9, "sampled as expected, misses are as they are");
	is_within(scaled(320000, 10000, 50000), 2, 2 * 30 / 10000.0, "half as many: twice");
	is_within(scaled(80000, 10000, 50000), 0.5, 30 / 10000.0, "twice as many: half");
	/* 30 sampled and 30 as expected: half way */
	is_within(scaled(960, 30, 50000), 1.5, 0.01, "half of 60 expected: half way to twice");
	/* one of two: no more than 16 in 480 and some */
	is_within(scaled(32, 1, 50000), 1, 0.05, "one of two expected: nearly as the sampling rate says");

	/*
	 * None at all.  The misses themselves still count 16 each, and thirty
	 * reads as expected stand for 480.
	 */
	is_within(scaled(60, 0, 50000), (60 + 480) / 480.0, 0.01,
			  "none sampled where four were expected: nearly as the sampling rate says");
	is_within(scaled(0, 0, 50000), 1, 1e-9, "no reads at all: as the sampling rate says");
}

/*
 * Sequential scans are scaled apart.
 */
static void
test_scans(void)
{
	WsTally    *t = new_tally(70000, 30000);
	WsAdviceTable table;

	/* of the rest all are sampled, of scans only half by mischance */
	t->scan_hits = 10000;
	t->scan_reads = 20000;
	sample_reads(t, REST, 10000, 1);
	sample_reads(t, SCAN, 10000, 1);
	for (int i = 0; i < SIZES; i++)
	{
		miss(t, i, REST, 4000);
		miss(t, i, SCAN, 3000);
	}
	table = advise(t, 1000);
	/* 4000, and 3000 * (20000 + 30)/(10000 + 30) */
	is_within(table.rows[3].hit_ratio, 1 - (4000 + 3000 * 20030 / 10030.0) / 100000, 1e-9,
			  "scans are scaled by their own reads");
	is_within(table.rows[3].hit_ratio_without_scans, 1 - 4000 / 70000.0, 1e-9,
			  "and the rest is told without them");

	t->scan_hits = 70000;
	t->scan_reads = 30000;
	table = advise(t, 1000);
	ok(isnan(table.rows[3].hit_ratio_without_scans) && !isnan(table.rows[3].hit_ratio),
	   "if all are scans there is no rest");
	/* scan hits are an estimate, and may be more than there are */
	t->scan_hits = 90000;
	table = advise(t, 1000);
	ok(isnan(table.rows[3].hit_ratio_without_scans), "nor if more than all are");
	t->scan_reads = 31000;
	table = advise(t, 1000);
	is_within(table.rows[3].hit_ratio, 1 - (4000 * 30 / 10030.0 + 3000 * 30030 / 10030.0) / 100000,
			  1e-9, "nor are more reads by scans than there are");

	/*
	 * Of 20,000 reads and 10,000 hits that look like scans, three quarters
	 * and half of the sampled ones were taken for scans: 15,000 and 5,000 of
	 * 100,000 accesses.
	 */
	t->scan_hits = 10000;
	t->scan_reads = 20000;
	t->run_reads[0] = 400;
	t->run_reads[1] = 300;
	t->run_hits[0] = 50;
	t->run_hits[1] = 25;
	table = advise(t, 1000);
	/* the other 15,000 reads are of the rest, of which 10,000 are sampled */
	is_within(table.rows[3].hit_ratio,
			  1 - (4000 * 15030 / 10030.0 + 3000 * 15030 / 10030.0) / 100000, 1e-9,
			  "what looks like a scan counts as one as often as it is taken for one");
	is_within(table.rows[3].hit_ratio_without_scans, 1 - 4000 * 15030 / 10030.0 / 80000, 1e-9,
			  "also where scans are left out");
	t->run_reads[1] = 0;
	t->run_hits[1] = 0;
	table = advise(t, 1000);
	is_within(table.rows[3].hit_ratio_without_scans, 1 - 4000 * 30030 / 10030.0 / 100000, 1e-9,
			  "if it is never taken for one, there are none");
	free(t);
}

static void
test_unknown(void)
{
	WsTally    *t = new_tally(0, 0);
	WsAdviceTable table = advise(t, 1000);
	uint32_t	some[SIZES];
	bool		fine = true;
	char		reason[256];

	for (int i = 0; i < SIZES; i++)
		fine &= isnan(table.rows[i].hit_ratio) && isnan(table.rows[i].hit_ratio_lru) &&
			isnan(table.rows[i].hit_ratio_without_scans) && isnan(table.rows[i].error) &&
			isnan(table.rows[i].read_factor) && isnan(table.rows[i].reads_per_second) &&
			table.rows[i].buffers == 1000 * ws_sweep_factors[i];
	ok(fine && isnan(table.hit_ratio) && isnan(table.difference) && !table.sure,
	   "without an access nothing is known but the sizes");
	ok(isnan(ws_advice_expect(&table, t, 1000)), "nor to be expected");
	free(t);

	/* sizes with room for few pages */
	t = new_tally(9000, 1000);
	sample_reads(t, REST, 1000, 1);
	for (int i = 0; i < SIZES; i++)
	{
		miss(t, i, REST, 1000);
		some[i] = i < 3 ? 15 : 16;
	}
	ws_advise(t, 1000, some, &table);
	for (int i = 0; i < SIZES; i++)
		fine &= isnan(table.rows[i].hit_ratio) == (i < 3) && isnan(table.rows[i].error) == (i < 3) &&
			isnan(table.rows[i].reads_per_second) == (i < 3) &&
			isnan(table.rows[i].hit_ratio_without_scans) == (i < 3) &&
			isnan(table.rows[i].read_factor) == (i < 3) && !isnan(table.rows[i].hit_ratio_lru);
	ok(fine && table.sure, "sizes with room for fewer than 16 sampled pages are not told");
	for (int i = 0; i < SIZES; i++)
		some[i] = i <= PRESENT ? 15 : 16;
	ws_advise(t, 1000, some, &table);
	ws_advice_reason(&table, reason, sizeof(reason));
	ok(isnan(table.difference) && !table.sure && reason[0] == '\0' && table.hit_ratio == 0.9 &&
	   !isnan(table.rows[SIZES - 1].hit_ratio) && isnan(table.rows[SIZES - 1].error),
	   "if the present one is not, it is not sure");
	free(t);

	/* no reads */
	t = new_tally(1000, 0);
	table = advise(t, 1000);
	ok(table.rows[PRESENT].hit_ratio == 1 && table.difference == 0 && table.sure &&
	   table.rows[PRESENT].reads_per_second == 0 && isnan(table.rows[0].read_factor),
	   "without a read all hits are predicted, and no factor can be told");
	t->seconds = 0;
	table = advise(t, 1000);
	ok(isnan(table.rows[PRESENT].hit_ratio) && isnan(table.reads_per_second) && !table.sure,
	   "in no time nothing is known");
	free(t);
}

static void
test_sure(void)
{
	static const struct
	{
		double		misses;		/* of 1000 real ones, of 10,000 accesses */
		bool		sure;
	}			table[] = {
		{1000, true}, {1290, true}, {1310, false}, {710, true}, {690, false}, {5000, false},
	};
	bool		fine = true;

	for (size_t n = 0; n < sizeof(table) / sizeof(table[0]); n++)
	{
		WsTally    *t = new_tally(9000, 1000);
		WsAdviceTable a;

		sample_reads(t, REST, 1000, 1);
		for (int i = 0; i < SIZES; i++)
			miss(t, i, REST, table[n].misses);
		a = advise(t, 1000);
		/* predicted less measured: more misses, lower */
		fine &= a.sure == table[n].sure && fabs(a.difference - (1000 - table[n].misses) / 10000) < 1e-7;
		/* groups are alike, so the difference is all of the error */
		for (int i = 0; i < SIZES; i++)
			fine &= fabs(a.rows[i].error - fabs(a.difference) - WS_ADVICE_MODEL_ERROR) < 1e-6;
		free(t);
	}
	ok(fine, "it is sure if prediction and measurement agree to 3 points; the difference is an error");
}

/*
 * More misses than accesses cannot be.
 */
static void
test_limits(void)
{
	WsTally    *t = new_tally(100, 900);
	WsAdviceTable table;

	t->scan_reads = 400;
	sample_reads(t, REST, 500, 1);
	sample_reads(t, SCAN, 400, 1);
	for (int i = 0; i < SIZES; i++)
	{
		miss(t, i, REST, i == 0 ? 800 : 500);
		miss(t, i, SCAN, i == 0 ? 700 : 400);
	}
	table = advise(t, 1000);
	ok(table.rows[0].hit_ratio == 0 && table.rows[1].hit_ratio > 0, "no hit ratio is below 0");
	ok(table.rows[0].reads_per_second <= 1000 / 10.0,
	   "no more reads are predicted than there are accesses (%g of 100)", table.rows[0].reads_per_second);
	free(t);
}

/*
 * The standard error, computed another way: from the sums of what is left when
 * a group is taken away.
 */
static void
test_jackknife(void)
{
	WsTally    *t = new_tally(400000, 100000);
	WsAdviceTable table;
	uint64_t	seed = 162;
	double		farthest = 0;
	double		smallest = 1;

	/* few enough that thirty more make a difference */
	t->scan_reads = 30000;
	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		for (int g = 0; g < GROUPS; g++)
		{
			int			events = 5 + (int) random_below(&seed, 30);

			t->sampled[c][g] = 100 * events;
			t->events[c] += events;
			for (int i = 0; i < SIZES; i++)
				t->missed[i][c][g] = (100 * (1 + random_below(&seed, 90)));
		}
	table = advise(t, 1000);
	for (int i = 0; i < SIZES; i++)
	{
		double		sum = 0;
		double		squares = 0;
		double		whole = 0;
		double		se;

		for (int g = -1; g < GROUPS; g++)
		{
			double		misses = 0;

			for (int c = 0; c < WS_CLIENT_CLASSES; c++)
			{
				double		m = 0;
				double		s = 0;

				/* thirty reads, each for a hundred */
				double		extra = 30 * 100;

				for (int h = 0; h < GROUPS; h++)
				{
					m += h == g ? 0 : t->missed[i][c][h];
					s += h == g ? 0 : t->sampled[c][h];
				}
				misses += m * ((c == SCAN ? 30000 : 70000) + extra) /
					(s + (g < 0 ? extra : extra * 15 / 16));
			}
			if (g < 0)
				whole = 1 - misses / 500000;
			else
			{
				sum += 1 - misses / 500000;
				squares += (1 - misses / 500000) * (1 - misses / 500000);
			}
		}
		se = sqrt((squares - sum * sum / GROUPS) * (GROUPS - 1) / GROUPS);
		smallest = fmin(smallest, se);
		farthest = fmax(farthest, fabs(table.rows[i].hit_ratio - whole));
		farthest = fmax(farthest, fabs(table.rows[i].error - fmin(1, 1.96 * se + fabs(table.difference) + WS_ADVICE_MODEL_ERROR)));
	}
	ok(farthest < 1e-6 && smallest > 1e-3, "the error is the jackknife's (and the difference), off by %.1g",
	   farthest);

	/*
	 * With one page in 16, the number of those that compete is uncertain,
	 * too, above the present size: worth a change of size by sqrt((1 - 1/f)
	 * (1 - 1/16) / 1000).
	 */
	{
		WsAdviceTable before = table;
		int			last = SIZES - 1;
		double		slope;
		double		se;

		t->weight = 16;
		table = advise(t, 1000);
		farthest = 0;
		for (int i = 0; i <= WS_SWEEP_PRESENT; i++)
			farthest = fmax(farthest, fabs(table.rows[i].error - before.rows[i].error));
		is_within(farthest, 0, 1e-12, "which is all, up to the present size");
		slope = (table.rows[last].hit_ratio - table.rows[last - 1].hit_ratio) / log(4 / 3.5);
		se = (before.rows[last].error - fabs(table.difference) - WS_ADVICE_MODEL_ERROR) / 1.96;
		is_within(table.rows[last].error,
				  fmin(1, 1.96 * sqrt(se * se + slope * slope * 0.75 * 15 / 16 / 1000) +
					   fabs(table.difference) + WS_ADVICE_MODEL_ERROR),
				  1e-9, "beyond it, the steeper the curve the larger");
	}
	free(t);
}

/*
 * Does the truth lie within the error as often as it says?  Pages of different
 * use are sampled, one in 8, again and again; the present cache is predicted
 * without an error, so that all of it is the error of sampling.
 *
 * With 16 groups 1.96 standard errors cover what Student's t with 15 degrees of
 * freedom has within, 93 %.  Of TRIALS that is give or take K_SIGMA
 * sqrt(0.93 * 0.07 * TRIALS); and at the upper end, too, lest the error be far
 * too large.
 */
static void
test_coverage(void)
{
	enum
	{
		PAGES = 8000, TRIALS = 400, WEIGHT = 8
	};
	double	   *reads = zeroed(PAGES, sizeof(double));
	double	   *misses = zeroed(PAGES, sizeof(double));
	double		all_reads = 0;
	double		all_misses = 0;
	uint64_t	seed = 163;
	int			covered = 0;
	double		bias = 0;
	double		squares = 0;
	double		stated = 0;

	for (int p = 0; p < PAGES; p++)
	{
		/* misses of the smaller cache: its reads, and some more */
		all_reads += reads[p] = floor(3 * -log(random_unit(&seed)));
		all_misses += misses[p] = reads[p] + floor(4 * -log(random_unit(&seed)));
	}
	for (int trial = 0; trial < TRIALS; trial++)
	{
		WsTally    *t = new_tally(19 * all_misses, all_reads);
		WsAdviceTable table;
		double		off;

		for (int p = 0; p < PAGES; p++)
		{
			uint32_t	hash = random32(&seed);
			uint32_t	g = ws_hash_group(hash);

			if (ws_hash_stratum(hash, 14) < 3)
				continue;
			t->sampled[REST][g] += WEIGHT * reads[p];
			t->events[REST] += reads[p];
			t->missed[0][REST][g] += (WEIGHT * misses[p]);
			t->missed[PRESENT][REST][g] += (WEIGHT * reads[p]);
		}
		table = advise(t, 1000);
		off = table.rows[0].hit_ratio - (1 - all_misses / (t->hits + t->reads));
		bias += off;
		squares += off * off;
		stated += pow((table.rows[0].error - fabs(table.difference) - WS_ADVICE_MODEL_ERROR) / 1.96, 2);
		covered += fabs(off) <= table.rows[0].error - WS_ADVICE_MODEL_ERROR;
		free(t);
	}
	is_within(covered, 0.93 * TRIALS, K_SIGMA * sqrt(0.93 * 0.07 * TRIALS),
			  "the truth is within the error as often as it says");

	/*
	 * Both mean squares have relative standard errors of sqrt(2/TRIALS), and
	 * that of the jackknife less; a jackknife may be too large by a little.
	 */
	is_within(sqrt(stated / squares), 1, K_SIGMA * sqrt(2.0 / TRIALS) / 2 + 0.05,
			  "and it is as large as it should be");
	is_within(bias / TRIALS, 0, K_SIGMA * sqrt(squares) / TRIALS, "and there is no bias");
	free(reads);
	free(misses);
}

/*
 * ----------------------------------------------------------------
 * What to expect, and what to say
 * ----------------------------------------------------------------
 */
static void
test_expect(void)
{
	WsTally    *t = new_tally(9000, 1000);
	WsAdviceTable table;
	bool		fine = true;
	double		top;

	sample_reads(t, REST, 1000, 1);
	for (int i = 0; i < SIZES; i++)
		miss(t, i, REST, i == PRESENT ? 1000 : 2000 - 50 * i);
	/* 500 accesses are at a distance of 64, 1000 at 4500, 100 never */
	t->distances[ws_reuse_bin(64)] = 500;
	t->distances[ws_reuse_bin(4500)] = 1000;
	t->distances[WS_REUSE_BINS - 1] = 100;
	table = advise(t, 1000);

	for (int i = 0; i < SIZES; i++)
		fine &= fabs(ws_advice_expect(&table, t, table.rows[i].buffers) - table.rows[i].hit_ratio) < 1e-12;
	ok(fine, "expect: at the sizes of rows what they say");
	for (int i = 0; i + 1 < SIZES; i++)
		for (int q = 1; q < 10; q++)
		{
			double		between = table.rows[i].buffers +
				q / 10.0 * (table.rows[i + 1].buffers - table.rows[i].buffers);
			double		want = table.rows[i].hit_ratio +
				q / 10.0 * (table.rows[i + 1].hit_ratio - table.rows[i].hit_ratio);

			fine &= fabs(ws_advice_expect(&table, t, between) - want) < 1e-9;
		}
	ok(fine, "expect: between them on a straight line");

	/* larger than all: LRU has those at 4500 as hits, too */
	top = table.rows[SIZES - 1].hit_ratio;
	is_within(ws_advice_expect(&table, t, 10000), fmin(1, top + 1000 / 10000.0), 1e-12,
			  "expect: beyond the last what LRU would make of it");
	is_within(ws_advice_expect(&table, t, 4050), top, 1e-12, "expect: that may be nothing");
	is_within(ws_advice_expect(&table, t, INFINITY), fmin(1, top + 1000 / 10000.0), 1e-12,
			  "expect: for any size");
	is_within(ws_advice_expect(&table, t, 10), table.rows[0].hit_ratio - 500 / 10000.0, 1e-12,
			  "expect: below the first, too");
	t->distances[ws_reuse_bin(4500)] = 90000;
	is_within(ws_advice_expect(&table, t, 10000), 1, 0, "expect: nothing is above 1");
	t->distances[ws_reuse_bin(64)] = 90000;
	t->distances[ws_reuse_bin(4500)] = 0;
	is_within(ws_advice_expect(&table, t, 10), 0, 0, "expect: or below 0");
	ok(isnan(ws_advice_expect(&table, t, NAN)), "expect: for no size nothing");

	/* rows that are not known are passed over */
	for (int i = 0; i < SIZES; i++)
		if (i < 3 || i == 12)
			table.rows[i].hit_ratio = NAN;
	t->distances[ws_reuse_bin(64)] = 0;
	is_within(ws_advice_expect(&table, t, 1250),
			  (table.rows[11].hit_ratio * 250 + table.rows[13].hit_ratio * 150) / 400, 1e-9,
			  "expect: between those that are known");
	is_within(ws_advice_expect(&table, t, 100), table.rows[3].hit_ratio, 1e-12,
			  "expect: and from the first that is");
	for (int i = 0; i < SIZES; i++)
		table.rows[i].hit_ratio = NAN;
	ok(isnan(ws_advice_expect(&table, t, 1000)), "expect: nothing if none is known");
	free(t);
}

static const char *
reason_for(double now, double doubled, double again, double measured, bool sure)
{
	static char buf[256];
	WsAdviceTable table;

	memset(&table, 0, sizeof(table));
	for (int i = 0; i < SIZES; i++)
	{
		table.rows[i].factor = ws_sweep_factors[i];
		table.rows[i].reads_per_second = ws_sweep_factors[i] < 2 ? now :
			ws_sweep_factors[i] < 4 ? doubled : again;
	}
	table.reads_per_second = measured;
	table.sure = sure;
	memset(buf, 'x', sizeof(buf));
	ws_advice_reason(&table, buf, sizeof(buf));
	return buf;
}

static void
test_doubt(void)
{
	WsAdviceTable table;
	char		buf[256] = "x";

	memset(&table, 0, sizeof(table));
	table.hit_ratio = 0.914;
	table.difference = -0.052;
	ws_advice_doubt(&table, buf, sizeof(buf));
	is_string(buf, "what other sizes would do is not known: 86.2 % hits are predicted for the "
			  "present one, and 91.4 % were measured", "doubt: predicted and measured");
	table.sure = true;
	ws_advice_doubt(&table, buf, sizeof(buf));
	is_string(buf, "", "doubt: none if it is sure");
	table.sure = false;
	table.difference = NAN;
	memset(buf, 'x', sizeof(buf));
	ws_advice_doubt(&table, buf, sizeof(buf));
	is_string(buf, "", "doubt: nothing to be said if nothing is known");
}

static void
test_reason(void)
{
	static const struct
	{
		double		now;
		double		doubled;
		double		again;
		const char *saved;
		const char *saved_again;
	}			table[] = {
		{2000, 100, 60, "1,900", "40"},
		{2345, 1000, 990, "1,300", "10"},
		{1234567, 0, 0, "1,200,000", "0"},
		{100, 1, 0, "99", "1"},
		{100, 0.3, 0.1, "100", "0"},
		{12, 6.4, 3, "6", "3"},
		{1000, 1, 0, "1,000", "1"},
		{10994, 1000, 4, "10,000", "1,000"},
		{5, 5, 2, "0", "3"},

		/*
		 * what a larger cache would cost is noise, and nothing to be spoken
		 * of
		 */
		{5, 5.2, 2, "0", "3"},
		{500, 800, 100, "0", "700"},
		{900, 200, 500, "700", "0"},
	};
	char		want[256];
	char		small[30];
	WsAdviceTable t;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		snprintf(want, sizeof(want),
				 "doubling shared_buffers would save %s reads a second; doubling again, %s",
				 table[i].saved, table[i].saved_again);
		is_string(reason_for(table[i].now, table[i].doubled, table[i].again, table[i].now, true),
				  want, "reason: what doubling would save");
	}
	is_string(reason_for(100, 99.8, 99.7, 100, true),
			  "neither doubling shared_buffers nor doubling again would save a read a second",
			  "reason: nothing to save");
	is_string(reason_for(100, 120, 150, 100, true),
			  "neither doubling shared_buffers nor doubling again would save a read a second",
			  "reason: less than nothing");
	is_string(reason_for(0.5, 0.2, 0, 0.5, true),
			  "shared_buffers now miss less than one read a second, so more would save nothing",
			  "reason: nothing missed");
	is_string(reason_for(2000, 100, 60, 2000, false), "", "reason: nothing to say if not sure");
	is_string(reason_for(NAN, 100, 60, 2000, true), "", "reason: nor if the present is not known");
	is_string(reason_for(2000, NAN, 60, 2000, true), "", "reason: nor the double of it");
	is_string(reason_for(2000, 100, NAN, 2000, true), "", "reason: nor the fourfold");

	memset(&t, 0, sizeof(t));
	for (int i = 0; i < SIZES; i++)
		t.rows[i].factor = ws_sweep_factors[i];
	t.rows[PRESENT].reads_per_second = t.reads_per_second = 1e22;
	t.sure = true;
	memset(small, 'x', sizeof(small));
	ws_advice_reason(&t, small, sizeof(small) - 2);
	ok(strlen(small) < sizeof(small) - 2 && small[sizeof(small) - 2] == 'x' &&
	   small[sizeof(small) - 1] == 'x',
	   "reason: no more than there is room for");
}

/*
 * ----------------------------------------------------------------
 * From end to end
 * ----------------------------------------------------------------
 */

/*
 * A server whose shared buffers are a naive cache.  A main table is used by
 * Zipf's law; one process scans a small table over and over, another one a
 * large table.
 */
typedef struct Workload
{
	uint32_t	buffers;
	uint32_t	pages[3];		/* of the main, the small and the large table */
	double		exponent;
	uint32_t	shift;			/* one page in 2^this is sampled */
	uint32_t	per_tick;		/* accesses in 100 ms */
	uint32_t	warm;			/* accesses before anything is counted, */
	uint32_t	length;			/* and after */
} Workload;

#define LOG2M		14
#define CAPACITY	16384
#define TESTED		8

static const int tested[TESTED] = {0, 3, 5, 7, PRESENT, 13, 15, 19};

/*
 * What the worker has, as far as it has to do with the advice.
 */
typedef struct Advisor
{
	const Workload *load;
	WsSampler  *sampler;
	WsSweep    *sweep;
	WsReuse    *reuse;
	WsScans    *scans;
	WsTally    *tally;
	double		rate;
	bool		damping;
	WsDamping	damp;
	double		ndamped;
	uint32_t   *interval;		/* of each page: when hits were reported, */
	uint32_t   *reported;		/* and how many */
} Advisor;

static uint32_t
npages(const Workload *w)
{
	return w->pages[0] + w->pages[1] + w->pages[2];
}

static Advisor *
advisor_new(const Workload *w, bool damping)
{
	Advisor    *a = zeroed(1, sizeof(Advisor));

	a->load = w;
	a->sampler = aligned_memory(ws_sampler_size(CAPACITY));
	a->sweep = aligned_memory(ws_sweep_size(CAPACITY));
	a->reuse = aligned_memory(ws_reuse_size(CAPACITY));
	a->scans = aligned_memory(ws_scans_size());
	a->tally = zeroed(1, sizeof(WsTally));
	a->interval = zeroed(npages(w), sizeof(uint32_t));
	a->reported = zeroed(npages(w), sizeof(uint32_t));
	a->rate = ldexp(1, -(int) w->shift);
	a->damping = damping;
	ws_sampler_init(a->sampler, CAPACITY, LOG2M, w->shift, 1000);
	ws_sweep_init(a->sweep, CAPACITY);
	ws_reuse_init(a->reuse, CAPACITY);
	ws_scans_init(a->scans, w->buffers);
	return a;
}

static void
advisor_free(Advisor *a)
{
	free(a->sampler);
	free(a->sweep);
	free(a->reuse);
	free(a->scans);
	free(a->tally);
	free(a->interval);
	free(a->reported);
	free(a);
}

/* the size of a ring for reading, as the server has it */
static double
ring_size(double buffers)
{
	return fmax(floor(fmin(32, buffers / 8)), 1);
}

/*
 * Once a second: the sampled caches have the share of sampled pages that the
 * server's has; rings and damping follow.
 */
static void
advisor_second(Advisor *a, double entries, double follow)
{
	const Workload *w = a->load;
	double		expected = ldexp(1, -(int) w->shift);
	double		rings[SIZES];

	if (entries * 2 >= w->buffers)
	{
		double		rate = (ws_sampler_resident(a->sampler, w->shift) + 16) / (entries + 16 / expected);

		a->rate += follow * (rate - a->rate);
	}
	ws_sweep_resize(a->sweep, a->rate * w->buffers);
	for (int i = 0; i < SIZES; i++)
		rings[i] = ring_size(w->buffers * ws_sweep_factors[i]) * a->rate;
	ws_sweep_set_rings(a->sweep, WS_RING_READ, rings);
	ws_scans_age(a->scans, 0);

	a->damp = ws_sweep_damping(ws_sweep_turns(a->sweep) / 10);
}

static void
advisor_event(Advisor *a, const WsEvent *e, uint32_t hash)
{
	const double weight = ldexp(1, (int) a->load->shift);
	uint32_t	entry = ws_sampler_find(a->sampler, &e->page, hash);
	bool		known = entry != WS_NO_SAMPLE;
	uint32_t	group = ws_hash_group(hash);
	WsAccess	access;
	WsClass		class;
	uint32_t	missed;
	uint32_t	distance;

	if (e->kind == WS_EVENT_REMOVE)
	{
		if (known)
			a->sampler->samples[entry].resident = 0;
		return;
	}
	if (!known)
		entry = ws_sampler_enter(a->sampler, &e->page, hash, e->tick);
	if (entry == WS_NO_SAMPLE)
		abort();
	ws_sampler_touch(a->sampler, entry, e->tick, true);
	a->sampler->samples[entry].resident = 1;

	class = ws_scans_classify(a->scans, e, a->load->shift, &access);
	access.page = entry;
	missed = ws_sweep_access(a->sweep, &access);
	distance = ws_reuse_access(a->reuse, entry);
	if (!known && e->kind == WS_EVENT_HIT)
		return;
	a->tally->weight = weight;
	if (e->run >= WS_RUN_SCAN)
	{
		double	   *runs = e->kind == WS_EVENT_READ ? a->tally->run_reads : a->tally->run_hits;

		runs[0] += weight;
		runs[1] += class == WS_CLASS_SCAN ? weight : 0;
	}
	for (int i = 0; i < SIZES; i++)
		if (missed >> i & 1)
			a->tally->missed[i][class][group] += weight;
	a->tally->distances[distance == WS_REUSE_NEVER ? WS_REUSE_BINS - 1 :
						ws_reuse_bin(distance / a->rate)] += weight;
	if (e->kind == WS_EVENT_READ)
	{
		a->tally->sampled[class][group] += weight;
		a->tally->events[class]++;
	}
}

/* has it been told often enough in this interval? */
static bool
damped(Advisor *a, uint32_t page, uint32_t tick)
{
	uint32_t	interval = tick >> a->damp.shift;

	if (!a->damping)
		return false;
	if (a->interval[page] != interval)
	{
		a->interval[page] = interval;
		a->reported[page] = 0;
	}
	if (a->reported[page] >= a->damp.uses)
	{
		a->ndamped++;
		return true;
	}
	a->reported[page]++;
	return false;
}

/* the identity of page number n of all tables */
static WsPageId
page_id(const Workload *w, uint32_t n)
{
	uint32_t	relation = 0;

	while (n >= w->pages[relation])
		n -= w->pages[relation++];
	return (WsPageId)
	{
		1663, 5, 10 + relation, 0, n
	};
}

/*
 * What servers of other sizes would have done.
 */
typedef struct Truth
{
	double		hit_ratio[TESTED];
	double		hit_ratio_without_scans[TESTED];
	double		hit_ratio_lru[TESTED];
	double		error_lru[TESTED];	/* standard error of a sample, see below */
	double		told;			/* share of the sampled hits that were told */
} Truth;

/*
 * Run a workload on servers of some sizes, or only on the one that there is,
 * and let it be advised upon, without damping and with.
 */
static void
run(const Workload *w, bool others, uint64_t seed, Truth *truth, WsAdviceTable table[2])
{
	static Ring rings[TESTED][2];
	uint32_t	n = npages(w);
	uint32_t	block[2] = {0, 0};
	Clock	   *clocks[TESTED] = {NULL};
	Lru		   *lru[TESTED] = {NULL};
	uint16_t   *missed_lru[TESTED] = {NULL};
	Zipf	   *zipf = zipf_new(w->pages[0], w->exponent);
	Advisor    *advisor[2] = {advisor_new(w, false), advisor_new(w, true)};
	double		hits[TESTED] = {0};
	double		rest_hits[TESTED] = {0};
	double		scans = 0;
	double		scan_hits = 0;
	double		sampled_hits = 0;
	uint32_t   *hash = zeroed(n, sizeof(uint32_t));
	int			present = 0;
	double		rate = ldexp(1, -(int) w->shift);

	for (uint32_t page = 0; page < n; page++)
		hash[page] = page_hash((uint32_t) seed, page);
	for (int t = 0; t < TESTED; t++)
	{
		uint32_t	buffers = (uint32_t) (w->buffers * ws_sweep_factors[tested[t]]);

		if (tested[t] == PRESENT)
			present = t;
		if (tested[t] != PRESENT && !others)
			continue;
		clocks[t] = clock_new(buffers, n);
		lru[t] = lru_new(buffers, n);
		missed_lru[t] = zeroed(n, sizeof(uint16_t));
		for (int s = 0; s < 2; s++)
			ring_begin(&rings[t][s], (uint32_t) ring_size(buffers));
	}
	for (int k = 0; k < 2; k++)
		advisor_second(advisor[k], 0, 1);

	for (uint32_t i = 0; i < w->warm + w->length; i++)
	{
		uint32_t	tick = 1000 + i / w->per_tick;
		uint32_t	what = random_below(&seed, 20);
		int			s = what < 1 ? 0 : what < 4 ? 1 : -1;
		uint32_t	page;
		uint32_t	gone = NO_PAGE;
		bool		server_hit = false;

		if (i == w->warm)
			for (int k = 0; k < 2; k++)
			{
				memset(advisor[k]->tally, 0, sizeof(WsTally));
				advisor[	k]->ndamped = 0;
			}
		if (s >= 0 && w->pages[s + 1] == 0)
			s = -1;
		if (s < 0)
			page = zipf_draw(zipf, &seed);
		else
		{
			if (block[s] == w->pages[s + 1])
			{
				block[s] = 0;
				for (int t = 0; t < TESTED; t++)
					ring_begin(&rings[t][s], rings[t][s].size);
			}
			page = w->pages[0] + (s > 0 ? w->pages[1] : 0) + block[s]++;
			scans += i >= w->warm;
		}

		for (int t = 0; t < TESTED; t++)
		{
			bool		ringed;
			bool		hit;

			if (clocks[t] == NULL)
				continue;
			ringed = s >= 0 && w->pages[s + 1] > clocks[t]->buffers / 4.0;
			hit = clock_access(clocks[t], page, ringed ? &rings[t][s] : NULL,
							   t == present ? &gone : NULL);
			if (t == present)
				server_hit = hit;
			if (!lru_access(lru[t], page) && i >= w->warm)
				missed_lru[t][page]++;
			if (i < w->warm)
				continue;
			hits[t] += hit;
			rest_hits[t] += hit && s < 0;
			scan_hits += t == present && hit && s >= 0;
		}

		/* what the process tells of it */
		for (int k = 0; k < 2; k++)
		{
			WsEvent		e;

			memset(&e, 0, sizeof(e));
			e.tick = tick;
			e.process = 10 + (unsigned int) (s + 1);
			if (gone != NO_PAGE && ws_hash_stratum(hash[gone], LOG2M) >= w->shift)
			{
				e.kind = WS_EVENT_REMOVE;
				e.page = page_id(w, gone);
				advisor_event(advisor[k], &e, hash[gone]);
			}
			if (ws_hash_stratum(hash[page], LOG2M) >= w->shift)
			{
				sampled_hits += k == 1 && server_hit && i >= w->warm;
				e.kind = server_hit ? WS_EVENT_HIT : WS_EVENT_READ;
				e.page = page_id(w, page);
				e.run = s >= 0 ? WS_RUN_MAX : 0;
				if (s >= 0)
					ws_scans_set_size(advisor[k]->scans, &e.page, w->pages[s + 1]);
				e.ring = s >= 0 && w->pages[s + 1] > w->buffers / 4.0;
				if (!server_hit || !damped(advisor[k], page, tick))
					advisor_event(advisor[k], &e, hash[page]);
			}
			if (i % (10 * w->per_tick) == 0)
				advisor_second(advisor[k], clocks[present]->filled, 0.05);
		}
	}

	truth->told = 1 - advisor[1]->ndamped / sampled_hits;

	for (int k = 0; k < 2; k++)
	{
		WsTally    *t = advisor[k]->tally;
		uint32_t	buffers[SIZES];

		t->seconds = w->length / 10.0 / w->per_tick;
		t->hits = hits[present];
		t->reads = w->length - hits[present];
		t->scan_hits = scan_hits;
		t->scan_reads = scans - scan_hits;
		for (int i = 0; i < SIZES; i++)
			buffers[i] = ws_sweep_buffers(advisor[k]->sweep, i);
		ws_advise(t, w->buffers, buffers, &table[k]);
		if (sweep_check(advisor[k]->sweep) != NULL || sampler_check(advisor[k]->sampler) != NULL)
			abort();
		advisor_free(advisor[k]);
	}
	for (int t = 0; t < TESTED; t++)
	{
		double		misses = 0;
		double		squares = 0;

		if (clocks[t] == NULL)
			continue;
		for (uint32_t page = 0; page < n; page++)
		{
			misses += missed_lru[t][page];
			squares += (double) missed_lru[t][page] * missed_lru[t][page];
		}
		truth->hit_ratio[t] = hits[t] / w->length;
		truth->hit_ratio_without_scans[t] = rest_hits[t] / (w->length - scans);
		truth->hit_ratio_lru[t] = 1 - misses / w->length;
		truth->error_lru[t] = sqrt((1 - rate) / rate * squares) / w->length;
		clock_free(clocks[t]);
		lru_free(lru[t]);
		free(missed_lru[t]);
	}
	free(hash);
	zipf_free(zipf);
}

/*
 * Twenty scanning and eighty random accesses of a hundred; the large table goes
 * through a ring at all sizes, the small one at those up to 0.7 times the
 * present.
 */
static void
test_end_to_end(uint32_t shift, uint64_t seed)
{
	const Workload w = {8000, {60000, 1500, 9000}, 0.9, shift, 400, 400000, 800000};
	Truth		truth;
	WsAdviceTable table[2];
	int			within = 0;
	int			close = 0;
	double		farthest = 0;
	double		worst_lru = 0;

	run(&w, true, seed, &truth, table);
	for (int t = 0; t < TESTED; t++)
	{
		const WsAdvice *row = &table[0].rows[tested[t]];
		double		off = fabs(row->hit_ratio - truth.hit_ratio[t]);

		within += off <= row->error;
		farthest = fmax(farthest, off);
		close += fabs(row->hit_ratio_without_scans - truth.hit_ratio_without_scans[t]) <=
			row->error / (1 - 0.2);
		worst_lru = fmax(worst_lru, fabs(row->hit_ratio_lru - truth.hit_ratio_lru[t]) / truth.error_lru[t]);
		diag("%5.0f buffers: %.4f predicted, %.4f real, error %.4f; without scans %.4f, %.4f; LRU %.4f, %.4f",
			 row->buffers, row->hit_ratio, truth.hit_ratio[t], row->error,
			 row->hit_ratio_without_scans, truth.hit_ratio_without_scans[t],
			 row->hit_ratio_lru, truth.hit_ratio_lru[t]);
	}
	ok(table[0].sure && fabs(table[0].difference) <= 0.01,
	   "1/%d sampled: the present hit ratio is predicted within a point (%.4f)", 1 << shift,
	   table[0].difference);
	/* with a probability of 95 % each, and they go together */
	ok(within >= TESTED - 2, "1/%d sampled: %d of %d sizes are predicted within their errors, worst is %.4f",
	   1 << shift, within, TESTED, farthest);
	ok(close >= TESTED - 2, "1/%d sampled: so they are without scans, which are a fifth", 1 << shift);

	/*
	 * The part of the error that comes from what pages are in the sample: (1
	 * - R)/R sum(m_p^2), from each page's misses in the naive caches.
	 */
	ok(worst_lru < K_SIGMA, "1/%d sampled: LRU is predicted, worst is %.1f sigma", 1 << shift, worst_lru);
}

/*
 * What is not told does not change the answers: five hits of a page in an
 * interval that is no longer than a turn of the smallest cache's hand, or more
 * where it makes some or many in a tick.
 */
static void
test_damping(const Workload *w, double most, const char *name)
{
	Truth		truth;
	WsAdviceTable table[2];
	double		farthest = 0;

	run(w, false, 181, &truth, table);
	for (int i = 0; i < SIZES; i++)
		farthest = fmax(farthest, fabs(table[0].rows[i].hit_ratio - table[1].rows[i].hit_ratio));
	ok(truth.told < most, "damping: %s: %.0f %% of the hits are told", name, 100 * truth.told);
	ok(farthest <= 0.001, "damping: %s: and hit ratios are the same (%.5f)", name, farthest);
}

int
main(void)
{
	static const Workload hot = {4000, {14000, 0, 0}, 1.2, 0, 100, 200000, 400000};
	static const Workload warm = {4000, {12000, 300, 2000}, 1, 0, 40, 200000, 400000};
	static const Workload sampled = {16000, {100000, 1500, 9000}, 1.1, 3, 200, 300000, 600000};
	static const Workload fast = {4000, {12000, 300, 2000}, 1, 0, 1000, 200000, 400000};
	static const Workload faster = {1000, {6000, 100, 600}, 1.5, 0, 10000, 400000, 2000000};
	static const Workload fastest = {3000, {20000, 100, 900}, 1.4, 2, 50000, 1500000, 3000000};

	for (int i = 0; i < SIZES; i++)
		room[i] = 1000;
	plan(93);
	test_add();
	test_all_seen();
	test_scaling();
	test_scans();
	test_unknown();
	test_sure();
	test_limits();
	test_jackknife();
	test_coverage();
	test_expect();
	test_doubt();
	test_reason();
	test_end_to_end(3, 171);
	test_end_to_end(4, 172);
	test_damping(&hot, 0.9, "few hot pages");
	test_damping(&warm, 0.9, "warm pages, and scans");
	test_damping(&sampled, 0.9, "a sample");
	test_damping(&fast, 0.9, "some turns in a tick");
	test_damping(&faster, 0.9, "many turns");
	test_damping(&fastest, 0.95, "many more, and a sample");
	return done();
}
