/*
 * advice_t.c
 *		Tests of the advice: random tallies against a plain definition, and
 *		whether truth lies within the stated errors.
 *
 * Where an assertion is about random numbers its bound is stated beside it.
 */
#include "tap.h"
#include "advice.h"
#include "traces.h"

#define K_SIGMA		5
#define SIZES		WS_SWEEP_SIZES
#define GRID		WS_SWEEP_GRID
#define GROUPS		WS_ERROR_GROUPS
#define PRESENT		WS_SWEEP_PRESENT
#define REST		WS_CLASS_REST
#define SCAN		WS_CLASS_SCAN

#define DOUBLES		(sizeof(WsTally) / sizeof(double))
#define PARTS		12			/* of the time, at most */

/* of the grid, and one that is none of it */
static double factors[SIZES];
static uint32_t many[SIZES];	/* sampled pages fit at each size */

/*
 * The advice from so many parts of the time and their sum, or from eight parts
 * that are alike.
 */
static void
advise(const WsTally *t, const WsTally *parts, int nparts, const uint32_t *resident, WsAdviceTable *table)
{
	WsTally		eighths[8];
	WsAdviceFacts facts = {t, parts ? parts : eighths, nparts, 0, 1000, factors, resident, 0, false, 0};

	for (int p = 0; p < 8; p++)
		for (size_t i = 0; i < DOUBLES; i++)
			((double *) &eighths[p])[i] = ((const double *) t)[i] / 8;
	ws_advise(&facts, table);
}

static void
test_add(void)
{
	static WsTally sum;
	static WsTally part;
	static WsTally want;
	uint64_t	seed = seeded(161);
	bool		fine = true;

	for (int n = 0; n < 3; n++)
	{
		for (size_t i = 0; i < DOUBLES; i++)
		{
			((double *) &part)[i] = 1 + random_below(&seed, 1000);
			((double *) &want)[i] += ((double *) &part)[i];
		}
		part.weight = n == 2 ? 0 : part.weight;
		want.weight = n == 2 ? sum.weight : part.weight;
		ws_tally_add(&sum, &part);
		fine &= memcmp(&sum, &want, sizeof(want)) == 0;
	}
	ok(fine, "adding adds everything but the weight, of which the last that is known counts");
	is_within(ws_jackknife((const double[]) {5, 1, 3}, 3), sqrt(8 * 2 / 3.0), 1e-12, "the jackknife of three answers");
}

/*
 * What counts where, of an access that misses everywhere: sizes are half, the
 * present one, and twice that, of which some caches are not full.
 */
static void
test_access(void)
{
	static const struct
	{
		bool		read;
		bool		known;
		bool		settled;
		uint32_t	cold;
		uint32_t	missed;		/* by sizes, bit by bit */
		uint32_t	unknown;
	}			cases[] = {
		{true, true, true, 7, 7, 0},
		{false, true, true, 7, 7, 0},
		/* a first read: a larger cache may have had the page */
		{true, false, true, 7, 3, 4},
		{true, false, true, 3, 7, 0},
		{true, false, false, 0, 3, 4},
		/* a first hit: a smaller one may not have had it */
		{false, false, true, 7, 0, 1},
		{false, false, true, 0, 1, 0},
		{false, false, false, 0, 0, 1}
	};
	static WsSweep some = {.bursts_only = 1};
	WsTally		fast = {0};

	for (int i = 0; i < SIZES; i++)
		some.factor[i] = i == 0 ? 0.5 : i == 2 ? 2 : 1;
	ws_tally_access(&fast, &(WsAccess) {.read = true, .known = true, .missed = 7}, WS_CLASS_REST, false, 4, &some);
	ws_tally_access(&fast, &(WsAccess) {.missed = 7}, WS_CLASS_REST, false, 4, &some);
	some.bursts_only = 0;
	ok(fast.missed[0][0][0] == 64 && fast.missed[1][0][0] == 4 && fast.sampled[0][0] == 4 && fast.unknown[0][0] == 64,
	   "a miss in a burst counts sixteen times, one that is unknown, too");
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		for (int class = 0; class < WS_CLIENT_CLASSES; class++)
		{
			WsTally		t = {.seconds = 1};
			bool		fine;

			ws_tally_access(&t, &(WsAccess)
			{
				.read = cases[c].read, .run = class == SCAN, .known = cases[c].known, .group = 5, .missed = 7,
					.cold = cases[c].cold
			}, class, cases[c].settled, 4, &some);
			fine = t.weight == 4 && t.seconds == 1 && t.events[class] == cases[c].read && t.sampled[class][5] == 4 * cases[c].read;
			for (int k = 0; k < 2; k++)
				fine &= t.run_reads[k] == (class == SCAN && cases[c].read ? 4 : 0);
			for (int i = 0; i < SIZES; i++)
				fine &= t.missed[i][class][5] == (cases[c].missed >> i & 1) * 4 && t.unknown[i][class] == (cases[c].unknown >> i & 1) * 4 &&
					ws_sum_groups(t.missed[i][1 - class], -1) == 0 && t.unknown[i][1 - class] == 0;
			ok(fine, "an access of class %d: case %zu", class, c);
		}
}

/* ---------------------------------------------------------------- the definition */

static double
real_reads(const WsTally *t, int class)
{
	/* of accesses in runs, as many are of scans as the sampled ones show; all, if none was sampled */
	double		in_runs = t->scan_reads * (t->run_reads[0] > 0 ? t->run_reads[1] / t->run_reads[0] : 1);
	double		scans = in_runs < t->reads ? in_runs : t->reads;

	return class == SCAN ? scans : t->reads - scans;
}

/*
 * Real over sampled reads.  Both have 30 more, or one for each sampled page, at
 * the sampling rate.  Without one group of pages, so much less is sampled.
 */
static double
define_scale(const WsTally *t, int class, int without)
{
	double		sampled = 0;
	double		all = 0;
	double		each = t->weight > 1 ? t->weight : 1;
	double		more;

	for (int g = 0; g < GROUPS; g++)
	{
		all += t->sampled[class][g];
		sampled += g == without ? 0 : t->sampled[class][g];
	}
	if (t->events[class] > 0)
		each = all / t->events[class];
	more = each * (t->pages > 30 ? t->pages : 30);
	return (real_reads(t, class) + more * (t->correction > 0 ? t->correction : 1)) /
		(sampled + (without < 0 ? more : more * (GROUPS - 1) / GROUPS));
}

/* A cache that sees bursts only has missed as large a share of the others. */
static double
define_all_for_seen(const WsTally *t, int size)
{
	double		all = t->hits + t->reads;

	return t->unseen[size] < all ? all / (all - t->unseen[size]) : 0;
}

static double
define_reads(const WsTally *t, int size, int class, int without)
{
	double		misses = 0;

	for (int g = 0; g < GROUPS; g++)
		misses += g == without ? 0 : t->missed[size][class][g];
	return misses * define_scale(t, class, without) * define_all_for_seen(t, size);
}

static double
define_ratio(const WsTally *t, int size, int without)
{
	double		reads = define_reads(t, size, REST, without) + define_reads(t, size, SCAN, without);

	return fmin(fmax(1 - reads / (t->hits + t->reads), 0), 1);
}

/*
 * The standard error by the sample: the jackknife's, and that of the number of
 * sampled pages, given how many the present size has, which is as if the size
 * were off by so much.  The first counts 2.13 times, by Student's distribution.
 */
static double
define_sampling(const WsTally *t, const WsAdvice *rows, int size, double resident)
{
	int			below = 0;
	int			above = GRID - 1;
	double		without[GROUPS];
	double		slope = 0;
	double		off = 0;

	for (int g = 0; g < GROUPS; g++)
		without[g] = define_ratio(t, size, g);
	/* the sizes of the grid next to it, or itself if one is not there */
	for (int i = 0; i < GRID; i++)
		if (factors[i] < factors[size])
			below = i;
	for (int i = GRID - 1; i >= 0; i--)
		if (factors[i] > factors[size])
			above = i;
	if (isnan(rows[below].hit_ratio))
		below = size;
	if (below != above && !isnan(rows[above].hit_ratio))
	{
		slope = (rows[above].hit_ratio - rows[below].hit_ratio) / log(factors[above] / factors[below]);
		off = t->weight > 1 ? (1 - fmin(factors[size], 1 / factors[size])) * (1 - 1 / t->weight) / resident : 0;
	}
	return sqrt(pow(2.13 * ws_jackknife(without, GROUPS), 2) + pow(1.96 * slope, 2) * off);
}

/*
 * The time: what the parts say that saw any access, in up to eight blocks of
 * about as many parts.  Returns how many blocks, and the hit ratio without each.
 */
static int
define_blocks(const WsAdviceFacts *f, int size, double *without)
{
	int			number[PARTS];	/* of a part that saw any access; -1 */
	int			n = 0;
	int			blocks;

	for (int i = 0; i < f->nparts; i++)
	{
		const WsTally *part = &f->parts[(f->oldest + i) % f->nparts];

		number[i] = part->hits > 0 || part->reads > 0 ? n++ : -1;
	}
	blocks = n < 8 ? n : 8;
	for (int b = 0; b < blocks; b++)
	{
		WsTally		sum;

		memset(&sum, 0, sizeof(sum));
		for (int i = 0; i < f->nparts; i++)
			if (number[i] < 0 || number[i] * blocks / n != b)
				ws_tally_add(&sum, &f->parts[(f->oldest + i) % f->nparts]);
		sum.weight = f->tally->weight;
		sum.pages = f->tally->pages;
		sum.correction = f->tally->correction;
		without[b] = define_ratio(&sum, size, -1);
	}
	return blocks;
}

/*
 * How much depends on the time: blocks vary as the jackknife says, but not by
 * less than with three more that differ by 0.002, or by a twentieth of the reads
 * if that is less; Student's quantile for all.
 */
static double
define_change(const WsAdviceFacts *f, int size)
{
	static const double student[] = {3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
	double		without[8];
	int			n = define_blocks(f, size, without);
	double		of_block = n > 1 ? n * pow(ws_jackknife(without, n), 2) : 0;
	double		little = fmin(0.002, 0.05 * (1 - define_ratio(f->tally, size, -1)));

	of_block = fmax(of_block, (of_block * (n - 1) + 3 * little * little) / (n - 1 + 3));
	return student[n - 1] * sqrt(of_block / n);
}

/* Reads that a size may need, or not, by what was counted of the classes, but not more than so many. */
static double
define_possible(const WsTally *t, int size, const double *counted, double most)
{
	double		reads = 0;

	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		reads += counted[c] * define_scale(t, c, -1) * define_all_for_seen(t, size);
	return fmin(reads, most);
}

static void
define(const WsAdviceFacts *f, WsAdviceTable *table)
{
	const WsTally *t = f->tally;
	const uint32_t *resident = f->resident;
	double		nbuffers = f->nbuffers;
	double		accesses = t->hits + t->reads;
	bool		any = accesses > 0 && t->seconds > 0;
	const WsAdvice *present = &table->rows[PRESENT];

	for (int i = 0; i < SIZES; i++)
	{
		WsAdvice   *row = &table->rows[i];
		bool		known = any && resident[i] >= 16 && accesses - t->unseen[i] >= 1;
		double		reads = define_reads(t, i, REST, -1) + define_reads(t, i, SCAN, -1);

		row->factor = factors[i];
		row->buffers = rint(nbuffers * factors[i]);
		row->hit_ratio = known ? define_ratio(t, i, -1) : NAN;
		row->reads_per_second = known ? (reads < accesses ? reads : accesses) / t->seconds : NAN;
		row->unknown = known ? define_possible(t, i, t->unknown[i], accesses) / t->seconds : NAN;
	}
	table->seconds = t->seconds;
	table->lookups = accesses;
	table->hit_ratio = accesses > 0 ? t->hits / accesses : NAN;
	table->reads_per_second = t->seconds > 0 ? t->reads / t->seconds : NAN;
	table->difference = present->hit_ratio - table->hit_ratio;
	table->lost = t->lost > 0 ? t->lost / (t->lost + t->taken) : 0;
	table->sure = fabs(table->difference) <= 0.03 && table->lost <= 0.01 && f->other_usage == 0;
	for (int i = 0; i < SIZES; i++)
	{
		WsAdvice   *row = &table->rows[i];

		row->error = row->low = row->high = NAN;
		if (!isnan(row->hit_ratio) && !isnan(table->difference))
		{
			const double rate = accesses / t->seconds;
			const double misses = 1 - row->hit_ratio;
			/* as a share of the reads, at most as large a one as at the present size */
			const double times = misses > 0 ? fmin(2 * misses / (1 - table->hit_ratio), 1) : 0;
			const double parts[] = {
				define_sampling(t, table->rows, i, resident[i]), define_change(f, i), row->unknown / rate,
				define_possible(t, i, t->unseen_use[i], misses * accesses) / accesses,
				fmax(fabs(table->difference), f->off) * times,
				0.05 * fabs(define_reads(t, i, SCAN, -1) - define_reads(t, PRESENT, SCAN, -1)) / accesses
			};
			const double model = fmin(0.001, 0.05 * misses) * (1 + fabs(log2(row->factor)));
			const double down = model + parts[4] + parts[5] + hypot(parts[0], parts[1]);
			/* three sampled events may not have come, by chance */
			const double up = down + parts[2] + 3 * (t->weight > 1 ? t->weight : 1) * (t->unseen[i] != 0 ? 16 : 1) / (accesses - t->unseen[i]);

			for (int part = 1; part < 6; part++)
				row->from = parts[part] > parts[row->from] ? part : (int) row->from;
			row->error = fmin(1, fmax(up, down + parts[3]));
			row->low = fmax(0, row->reads_per_second - rate * (down + parts[3]));
			row->high = fmin(rate, row->reads_per_second + rate * up);
		}
	}
}

/* zero with the probability of a quarter, else up to most, all magnitudes alike */
static double
random_count(uint64_t *seed, double most)
{
	return random_below(seed, 4) == 0 ? 0 : floor(exp(random_unit(seed) * log(most)));
}

/*
 * A part of the time, or an empty one; of the others some things are as given.
 * Often the present size has about as many misses as there were reads.
 */
static void
random_part(WsTally *t, const WsTally *like, double agree, uint64_t *seed)
{
	double		weight = fmax(like->weight, 1);

	memset(t, 0, sizeof(*t));
	if (random_below(seed, 4) == 0)
		return;
	t->seconds = like->seconds;
	t->weight = like->weight;
	t->hits = random_count(seed, 1e7);
	t->taken = random_count(seed, 1e6);
	t->lost = random_unit(seed) * like->lost;
	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
	{
		double		events = random_count(seed, 2000);
		/* at other sizes some miss what is a hit at the present one */
		double		others = random_below(seed, 2) ? events : random_count(seed, 2000);

		for (int g = 0; g < GROUPS; g++)
		{
			double		n = floor(events * random_unit(seed));

			t->sampled[c][g] = weight * n;
			t->events[c] += n;
			for (int i = 0; i < SIZES; i++)
				t->missed[i][c][g] = i == PRESENT ? agree * weight * n :
					random_below(seed, 4) ? weight * floor((SIZES - i) / 10.0 * others * random_unit(seed)) : 0;
		}
		t->reads += rint(weight * t->events[c] * (0.8 + 0.4 * random_unit(seed)));
	}
	t->scan_reads = random_below(seed, 3) ? t->reads * 1.3 * random_unit(seed) : 0;
	t->run_reads[0] = random_count(seed, 100);
	t->run_reads[1] = floor(t->run_reads[0] * random_unit(seed));
	for (int i = 0; i < SIZES; i++)
	{
		/* all is always all, so that nothing was seen */
		t->unseen[i] = (t->hits + t->reads) * like->unseen[i] * (like->unseen[i] == 1 ? 1 : random_unit(seed));
		for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		{
			t->unknown[i][c] = random_below(seed, 3) ? 0 : random_unit(seed) * t->missed[i][REST][0];
			t->unseen_use[i][c] = random_below(seed, 3) ? 0 : 2 * random_unit(seed) * t->missed[i][REST][0];
		}
	}
}

static bool
same(double a, double b, double tolerance)
{
	return isnan(b) ? isnan(a) : fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

static void
test_definition(void)
{
	const int	n = trials(3000);
	static WsTally t;
	static WsTally parts[PARTS];
	WsAdvice	untouched;
	uint64_t	seed = seeded(162);
	long		wrong = 0;
	long		errors = 0;
	long		sure = 0;
	long		known = 0;

	memset(&untouched, 0xA5, sizeof(untouched));
	for (int trial = 0; trial < n; trial++)
	{
		uint32_t	resident[SIZES];
		int			nparts = 1 + (int) random_below(&seed, PARTS);
		double		agree = random_below(&seed, 3) ? 1 + 0.2 * (random_unit(&seed) - 0.5) : 3 * random_unit(&seed);
		WsTally		like = {
			.seconds = random_below(&seed, 20) ? 10 : 0,
			.weight = random_below(&seed, 10) ? ldexp(1, (int) random_below(&seed, 7)) : 0,
			.lost = random_below(&seed, 4) ? 0 : random_count(&seed, 1e4)
		};
		WsAdviceFacts facts = {
			&t, parts, nparts, (int) random_below(&seed, nparts),
			16 + random_below(&seed, 100000), factors, resident,
			random_below(&seed, 2) ? 0.02 * random_unit(&seed) : 0, false, random_below(&seed, 4) ? 0 : 1
		};
		WsAdviceTable want;
		struct
		{
			WsAdviceTable table;
			WsAdvice	behind;
		}			guarded;
		WsAdviceTable *table = &guarded.table;

		for (int i = 0; i < PRESENT; i++)
			like.unseen[i] = random_below(&seed, 3) ? 0 : random_below(&seed, 9) ? 1 - 2 * random_unit(&seed) : 1;
		memset(&t, 0, sizeof(t));
		for (int p = 0; p < nparts; p++)
		{
			random_part(&parts[p], &like, agree, &seed);
			ws_tally_add(&t, &parts[p]);
		}
		t.pages = random_count(&seed, 1000);
		t.correction = random_below(&seed, 4) ? 0.5 + random_unit(&seed) : 0;
		for (int i = 0; i < SIZES; i++)
			resident[i] = random_below(&seed, 30) ? 16 + (uint32_t) random_count(&seed, 10000) : 14 + random_below(&seed, 3);
		memset(&guarded, 0xA5, sizeof(guarded));
		memset(&want, 0, sizeof(want));
		ws_advise(&facts, table);
		define(&facts, &want);

		wrong += table->seconds != want.seconds || table->lookups != want.lookups || !same(table->hit_ratio, want.hit_ratio, 0) ||
			!same(table->reads_per_second, want.reads_per_second, 0) || table->sure != want.sure ||
			!same(table->difference, want.difference, 1e-9);
		for (int i = 0; i < SIZES; i++)
		{
			const WsAdvice *a = &table->rows[i];
			const WsAdvice *b = &want.rows[i];

			wrong += a->factor != b->factor || a->buffers != b->buffers || !same(a->hit_ratio, b->hit_ratio, 1e-9) ||
				!same(a->unknown, b->unknown, 1e-9) ||
				!same(a->reads_per_second, b->reads_per_second, 1e-9);
			errors += !same(a->error, b->error, 1e-9) || !same(a->low, b->low, 1e-9) || !same(a->high, b->high, 1e-9);
			errors += !isnan(a->error) && a->from != b->from;
			known += !isnan(a->error);
		}
		wrong += memcmp(&guarded.behind, &untouched, sizeof(untouched)) != 0;
		sure += table->sure;
	}
	is_int(wrong, 0, "random tallies: the table is that of the definition");
	is_int(errors, 0, "random tallies: its errors are those of the definition");
	if (!ok(sure > n / 4 && sure < n * 3 / 4 && known > n * SIZES / 2, "random tallies: all of it happened"))
		diag("sure %ld, known %ld", sure, known);
}

/* By how much may the smallest size have fewer reads, as a share of the lookups? */
static double
below(const WsAdviceTable *table)
{
	return (table->rows[0].reads_per_second - table->rows[0].low) * table->seconds / table->lookups;
}

/*
 * Does the truth lie within the stated error often enough?  Pages of different
 * use are sampled, one in 8, again and again; the present cache is predicted
 * without an error and the time does not change, so that all of it is the error
 * of sampling.
 *
 * 2.13 standard errors cover what Student's t with 15 degrees of freedom has
 * within, 95 %.  A coverage above that fails, too: then the error is far too
 * large.
 */
static void
test_coverage(void)
{
	enum
	{
		PAGES = 8000, TRIALS = 400, WEIGHT = 8
	};

	/* of the model, and of a time that does not change: see define_change() */
	const double model = 0.001 + 0.001 * fabs(log2(factors[0]));
	const double change = 2.23 * sqrt(3 * 0.002 * 0.002 / (7 + 3) / 8);
	double	   *reads = zeroed(PAGES, sizeof(double));
	double	   *misses = zeroed(PAGES, sizeof(double));
	double		all_reads = 0;
	double		all_misses = 0;
	uint64_t	seed = seeded(163);
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
		WsTally		t = {.seconds = 10, .hits = 19 * all_misses, .reads = all_reads};
		WsAdviceTable table;
		double		off;
		double		sampling;

		for (int p = 0; p < PAGES; p++)
		{
			uint32_t	hash = random32(&seed);
			uint32_t	g = ws_hash_group(hash);

			if (ws_hash_stratum(hash, 14) < 3)
				continue;
			t.sampled[REST][g] += WEIGHT * reads[p];
			t.events[REST] += reads[p];
			/* flat below: how many pages compete does not matter */
			t.missed[0][REST][g] += WEIGHT * misses[p];
			t.missed[1][REST][g] += WEIGHT * misses[p];
			t.missed[PRESENT][REST][g] += WEIGHT * reads[p];
		}
		advise(&t, NULL, 8, many, &table);
		off = table.rows[0].hit_ratio - (1 - all_misses / (t.hits + t.reads));
		sampling = sqrt(pow(below(&table) - fabs(table.difference) - model, 2) - change * change);
		bias += off;
		squares += off * off;
		stated += pow(sampling / 2.13, 2);
		covered += fabs(off) <= sampling;
	}
	ok(covered <= at_most(TRIALS, 0.95) && TRIALS - covered <= at_most(TRIALS, 0.05),
	   "coverage: the truth is within the stated error often enough");

	/*
	 * Both mean squares have relative standard errors of sqrt(2/TRIALS), and
	 * that of the jackknife less; a jackknife may be too large by a little.
	 */
	is_within(sqrt(stated / squares), 1, K_SIGMA * sqrt(2.0 / TRIALS) / 2 + 0.05,
			  "coverage: the error is as large as it should be");
	is_within(bias / TRIALS, 0, K_SIGMA * sqrt(squares) / TRIALS, "coverage: there is no bias");
	free(reads);
	free(misses);
}

/*
 * Below the present size, the sampled pages that compete for the buffers are few
 * as well: one page of 128 is sampled, in many ways, of pages that are less used
 * the older they are.  The truth is that of whole caches.  Large errors fail,
 * too: what is stated of them is at most twice what they are.
 */
static void
test_coverage_of_size(void)
{
	enum
	{
		PAGES = 65536, BUFFERS = 32768, TRIALS = 64, SHIFT = 7, WARM = 500000, LENGTH = 500000, TESTED = 3
	};
	static const int tested[TESTED] = {0, 3, 6};
	static struct
	{
		uint32_t	n;
		uint32_t	trial[TRIALS];
		uint32_t	number[TRIALS];
	}			samples[PAGES];	/* that a page is in */
	static WsTally tallies[TRIALS];
	WsSweep    *sweeps[TRIALS];
	Clock	   *clocks[SIZES] = {NULL};
	double		missed[SIZES] = {0};
	double		squares[TESTED] = {0};
	double		stated[TESTED] = {0};
	int			covered[TESTED] = {0};
	uint64_t	seed = seeded(164);
	uint32_t	resident[SIZES];

	for (int i = 0; i < TESTED; i++)
		clocks[tested[i]] = clock_new((uint32_t) (BUFFERS * factors[tested[i]]), PAGES);
	clocks[PRESENT] = clock_new(BUFFERS, PAGES);
	for (int trial = 0; trial < TRIALS; trial++)
	{
		uint32_t	n = 0;

		for (uint32_t p = 0; p < PAGES; p++)
			if (page_hash(trial, p) >> (32 - SHIFT) == 0)
			{
				samples[p].trial[samples[p].n] = trial;
				samples[p].number[samples[p].n++] = n++;
			}
		sweeps[trial] = aligned_memory(ws_sweep_size(n));
		ws_sweep_init(sweeps[trial], n);
		/* as the worker does: the same share of the pages as of the buffers */
		ws_sweep_resize(sweeps[trial], (double) BUFFERS * n / PAGES);
		tallies[trial].pages = n;
	}
	for (int k = 0; k < WARM + LENGTH; k++)
	{
		uint32_t	page = (uint32_t) fmin(-7000 * log(1 - random_unit(&seed)), PAGES - 1);

		for (int i = 0; i < SIZES; i++)
			missed[i] += clocks[i] && !clock_access(clocks[i], page, NULL, NULL) && k >= WARM;
		for (uint32_t i = 0; i < samples[page].n; i++)
		{
			uint32_t	trial = samples[page].trial[i];
			WsAccess	a = {.page = samples[page].number[i], .group = page_hash(77, page) % GROUPS, .known = true};

			a.missed = ws_sweep_access(sweeps[trial], &a, &a.cold);
			a.read = a.missed >> PRESENT & 1;
			if (k >= WARM)
				ws_tally_access(&tallies[trial], &a, REST, true, 1 << SHIFT, sweeps[trial]);
		}
	}
	for (int trial = 0; trial < TRIALS; trial++)
	{
		WsTally    *t = &tallies[trial];
		WsAdviceTable table;

		t->seconds = 60;
		t->reads = missed[PRESENT];
		t->hits = LENGTH - t->reads;
		t->correction = PAGES / (t->pages * (1 << SHIFT));
		for (int i = 0; i < SIZES; i++)
			resident[i] = sweeps[trial]->caches[i].buffers;
		advise(t, NULL, 8, resident, &table);
		for (int i = 0; i < TESTED; i++)
		{
			const WsAdvice *row = &table.rows[tested[i]];
			double		off = row->hit_ratio - (1 - missed[tested[i]] / LENGTH);

			squares[i] += off * off;
			stated[i] += pow(row->error / 1.96, 2);
			covered[i] += fabs(off) <= row->error;
		}
		free(sweeps[trial]);
	}
	for (int i = 0; i < TESTED; i++)
		ok(TRIALS - covered[i] <= at_most(TRIALS, 0.05) && stated[i] <= 4 * squares[i],
		   "coverage of few pages: %g of the present size: %d of %d, stated %.2f of the error", factors[tested[i]], covered[i],
		   TRIALS, sqrt(stated[i] / squares[i]));
	for (int i = 0; i < SIZES; i++)
		if (clocks[i])
			clock_free(clocks[i]);
}

/*
 * And the error of the time: hit ratios of n parts vary, and the prediction is
 * to hold for their law's mean.  With eight blocks or more, Student's quantile
 * for ten degrees of freedom holds with their seven in 93.9 % of the trials;
 * more often where the parts vary little, as some variation is supposed.
 */
static void
test_coverage_of_time(void)
{
	const int	n = trials(1000);
	static const double deviations[] = {0.0005, 0.002, 0.005, 0.02, 0.05};
	static WsTally parts[PARTS];
	uint64_t	seed = seeded(164);

	for (size_t d = 0; d < sizeof(deviations) / sizeof(deviations[0]); d++)
	{
		int			covered = 0;

		for (int trial = 0; trial < n; trial++)
		{
			WsTally		t = {.weight = 1};
			WsAdviceTable table;
			double		model = 0.001 + 0.001 * fabs(log2(factors[0]));
			double		off;

			memset(parts, 0, sizeof(parts));
			for (int p = 0; p < 8; p++)
			{
				double		reads = 1e5;
				double		off = deviations[d] * random_normal(&seed);

				parts[p] = (WsTally)
				{
					.seconds = 10, .hits = 9e5, .reads = reads, .weight = 1
				};
				for (int g = 0; g < GROUPS; g++)
				{
					parts[p].sampled[REST][g] = reads / GROUPS;
					parts[p].missed[PRESENT][REST][g] = reads / GROUPS;
					parts[p].missed[0][REST][g] = (reads + 1e6 * (0.3 + off)) / GROUPS;
				}
				parts[p].events[REST] = reads;
				ws_tally_add(&t, &parts[p]);
			}
			advise(&t, parts, 8, many, &table);
			off = fabs(table.rows[0].hit_ratio - 0.6);
			covered += off <= below(&table) - fabs(table.difference) - model;
		}
		if (!ok(n - covered <= at_most(n, 0.061),
				"coverage: blocks that differ by %g: the mean is within the error", deviations[d]))
			diag("%d of %d", covered, n);
	}
}

/*
 * A small cache sees one second in sixteen, and a period a few more bursts or
 * fewer, or busier ones; its hit ratio is the same.
 */
static void
test_bursts(void)
{
	const int	n = trials(300);
	static WsTally parts[PARTS];
	uint64_t	seed = seeded(165);
	double		off[2] = {0};	/* from the start, or after three seconds of all */
	int			notes = 0;

	for (int trial = 0; trial < n; trial++)
	{
		WsTally		t = {.weight = 1};
		WsAdviceTable table;
		int			late = trial % 2;
		uint32_t	tick = 1000 + random_below(&seed, WS_BURST_EVERY);
		uint32_t	sees_all = tick + late * 30;
		uint32_t	end = tick + 2 * WS_BURST_EVERY + random_below(&seed, 5 * WS_BURST_EVERY);

		memset(parts, 0, sizeof(parts));
		for (uint32_t begin = tick; tick < end;)
		{
			WsTally    *part = &parts[(tick - begin) / 100];
			uint32_t	until = tick + 8 + random_below(&seed, 5);
			double		lookups = 1e4 * (1 + random_below(&seed, 4));	/* in a tick */
			bool		all = tick < sees_all;

			ws_tally_lookups(part, 0.9 * lookups * (until - tick), 0.1 * lookups * (until - tick), !all, ws_burst_share(tick, until));
			for (; tick < until; tick++)
				for (int g = 0; g < GROUPS; g++)
				{
					part->sampled[REST][g] += 0.1 * lookups / GROUPS;
					part->events[REST] += 0.1 * lookups / GROUPS;
					part->missed[PRESENT][REST][g] += 0.1 * lookups / GROUPS;
					part->missed[0][REST][g] += all ? 0.1 * lookups / GROUPS : ws_in_burst(tick) ? WS_BURSTS * 0.3 * lookups / GROUPS : 0;
				}
		}
		for (int p = 0; p < PARTS; p++)
		{
			parts[p].seconds = 10;
			parts[p].weight = 1;
			ws_tally_add(&t, &parts[p]);
		}
		advise(&t, parts, PARTS, many, &table);
		off[late] = fmax(off[late], fabs(table.rows[0].hit_ratio - 0.7));
		notes += !late && ws_advice_row_note(&table, &table.rows[0]) != NULL;
	}
	is_within(off[0], 0, 1e-9, "bursts: as many hits are predicted, however many bursts there were");
	/* of 32 s and more, three with a third of the misses, and up to four times as busy */
	is_within(off[1], 0, 0.06, "bursts: seconds in which all was seen count no more than others");
	is_int(notes, 0, "bursts: the load did not change");
	ok(ws_burst_share(WS_BURST_EVERY, WS_BURST_EVERY) == 1 && ws_burst_share(WS_BURST_EVERY - 1, WS_BURST_EVERY - 1) == 0 &&
	   ws_burst_share(5, 5 + WS_BURST_EVERY) == 1.0 / WS_BURSTS && ws_burst_share(5, 25) == 0.25 &&
	   ws_burst_share(0, 4000000000) == 1.0 / WS_BURSTS, "bursts: their share of some ticks");
}

static void
test_differences(void)
{
	WsDifferences d = {0};
	WsAdviceTable table = {.seconds = 300, .lookups = 1000, .difference = -0.02};
	double		both = sqrt((0.5 * 4e-4 + 0.5 * 25e-6) / 1);

	ok(ws_mean_difference(&d) == 0, "differences: none at first");
	ws_advice_note_difference(&d, &table, INT64_C(1) << 40);
	is_within(ws_mean_difference(&d), 0.02, 1e-12, "differences: the first, whatever its sign");
	table.difference = 0.005;
	ws_advice_note_difference(&d, &table, (INT64_C(1) << 40) + 7200000);
	is_within(ws_mean_difference(&d), both, 1e-12, "differences: after two hours half");
	table.difference = NAN;
	ws_advice_note_difference(&d, &table, INT64_C(1) << 41);
	table.difference = 0.5;
	table.seconds = 149;
	ws_advice_note_difference(&d, &table, INT64_C(1) << 41);
	table.seconds = 300;
	table.lookups = 999;
	ws_advice_note_difference(&d, &table, INT64_C(1) << 41);
	is_within(ws_mean_difference(&d), both, 1e-12, "differences: not if unknown, or of too little");
}

/* ---------------------------------------------------------------- the size that is followed */

static void
test_follow(void)
{
	WsAdviceTable table = {.seconds = 300, .lookups = 3e6};
	WsFollower	f = {0};
	WsAdvice   *row = &table.rows[WS_SWEEP_FOLLOWER];
	bool		jumped;
	int			jumps = 0;
	double		factor = 1;

	for (int i = 0; i < GRID; i++)
		table.rows[i] = (WsAdvice)
	{
		.factor = factors[i], .buffers = 1000 * factors[i], .hit_ratio = 0.9
	};
	*row = (WsAdvice)
	{
		.factor = 1, .buffers = 1000, .hit_ratio = 0.5
	};
	ok(!ws_advice_followed(&f, 300, 1000000), "follow: before there is a size, none is followed");
	ok(ws_advice_follow(&f, factor, NAN, 1000, 5, &jumped) == 1 && !jumped, "follow: what is not known changes nothing");
	ok(ws_advice_follow(&f, factor, 3300, 1000, 5000, &jumped) == 3.3 && jumped, "follow: the first size is a jump");
	ok(!ws_advice_followed(&f, 300, 304999) && ws_advice_followed(&f, 300, 305000),
	   "follow: it is followed when all counts are from after the jump");

	/* 3200, 4000 and 5600 are sizes of the grid, 16000 is the last */
	row->buffers = 3600;
	is_within(ws_advice_expect(&table, 3600), 0.9, 1e-9, "follow: before that its row does not count");
	table.followed = true;
	is_within(ws_advice_expect(&table, 3600), 0.5, 1e-9, "follow: then it counts for its size,");
	is_within(ws_advice_expect(&table, 3400), 0.7, 1e-9, "follow: between it and the next below,");
	is_within(ws_advice_expect(&table, 3800), 0.7, 1e-9, "follow: and the next above");
	is_within(ws_advice_expect(&table, 4200), 0.9, 1e-9, "follow: for no other");
	row->buffers = 33000;
	ok(ws_advice_expect(&table, 34000) == 0.5 && ws_advice_expect(&table, 32000) == 0.5 &&
	   isnan(ws_advice_expect(&table, 35500)) && isnan(ws_advice_expect(&table, 17000)),
	   "follow: beyond the grid it counts for a size that is close");
	row->unknown = 301;
	ok(isnan(ws_advice_expect(&table, 33000)), "follow: not if it is in doubt");
	table.rows[WS_SWEEP_PRESENT + 1].unknown = 301;
	ok(ws_advice_expect(&table, 1000) == 0.9 && isnan(ws_advice_expect(&table, 1001)),
	   "expected with a size that has a row: that of no other, which may be in doubt");
	table.rows[WS_SWEEP_PRESENT + 1].unknown = 0;
	table.rows[WS_SWEEP_PRESENT].hit_ratio = NAN;
	ok(isnan(ws_advice_expect(&table, 1000)) && isnan(ws_advice_expect(&table, 1001)) && isnan(ws_advice_expect(&table, 999)),
	   "none if it is not known, nor beside it");
	table.followed = false;
	ok(ws_advice_expect(&table, 125) == 0.9 && isnan(ws_advice_expect(&table, 124)) && ws_advice_expect(&table, 16000) == 0.9 &&
	   isnan(ws_advice_expect(&table, 16001)) && isnan(ws_advice_expect(&table, 0)) && isnan(ws_advice_expect(&table, INFINITY)) &&
	   isnan(ws_advice_expect(&table, NAN)), "none beyond the grid");

	/*
	 * one percent a minute: each seventh step is a jump, as 1/16 is 6.3 times
	 * ln 1.01
	 */
	for (int minute = 1; minute <= 70; minute++)
	{
		factor = ws_advice_follow(&f, factor, 3000 * pow(1.01, minute), 1000, 400000 + minute, &jumped);
		jumps += jumped;
	}
	is_int(jumps, 10, "follow: many small steps are a jump, too");
	is_within(factor, 3 * pow(1.01, 70), 1e-9, "follow: each step is followed");
	ok(ws_advice_follow(&f, factor, 1, 1000, 0, &jumped) == 1 / 32.0 &&
	   ws_advice_follow(&f, factor, 1e9, 1000, 0, &jumped) == 64, "follow: within limits");
}

/* ---------------------------------------------------------------- sentences */

static void
test_doubt(void)
{
	static const struct
	{
		double		difference;
		double		lost;
		int			other_usage;
		bool		sure;
		const char *until;
		const char *doubt;
		const char *name;
	}			cases[] = {
		{-0.052, 0, 0, false, "", "what other sizes would do is not known: 86.2 % hits are predicted for the present one, and "
		"91.4 % were measured", "predicted and measured"},
		{-0.052, 0, 0, false, "13:12", "what other sizes would do is not known: 86.2 % hits are predicted for the present one, and "
		"91.4 % were measured", "a cache that fills has fewer hits, not more"},
		{0.052, 0, 0, false, "13:12", "the cache is still filling, probably until 13:12: 91.4 % hits were measured, and 96.6 % are "
		"predicted when it is full", "while the cache fills"},
		{0.052, 0.3, 0, false, "13:12", "what other sizes would do is not known: 30 % of the events in these minutes were lost",
		"lost events"},
		{0.052, 0.3, 1, false, "13:12", "how this server replaces pages is not known: it counts up to 1 uses of each, and 5 are "
		"simulated", "a server with another replacement"},
		{0.052, 0.3, 1, true, "13:12", "", "none if it is sure"},
		{NAN, 0.3, 1, false, "", "", "none if nothing is known"}
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		WsAdviceTable table = {
			.hit_ratio = 0.914, .difference = cases[i].difference, .lost = cases[i].lost, .other_usage = cases[i].other_usage,
			.sure = cases[i].sure
		};
		char		buf[256] = "x";

		ws_advice_doubt(&table, cases[i].until, buf, sizeof(buf));
		is_string(buf, cases[i].doubt, cases[i].name);
	}
}

/* What makes reads that matter uncertain is named: 20 a second, or 1 % of the lookups. */
static void
test_note(void)
{
	static const struct
	{
		double		lookups;	/* a second */
		double		low;
		double		high;
		bool		noted;
	}			cases[] = {
		{10000, 10, 20, false}, {10000, 9.9, 20, true}, {10000, 0, 19, false}, {10000, 0, 20, true},
		{1000, 3, 9.9, false}, {1000, 4, 10, true}, {1000, 5, 10, false}, {10, 0, 0.05, false}
	};
	WsAdviceTable table = {.seconds = 10};
	WsAdvice	row = {.from = WS_ERROR_OF_CHANGE};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		table.lookups = 10 * cases[i].lookups;
		row.low = cases[i].low;
		row.high = cases[i].high;
		ok((ws_advice_row_note(&table, &row) != NULL) == cases[i].noted, "note: case %zu", i);
	}
	table.lookups = 100;
	row.high = 30;
	is_string(ws_advice_row_note(&table, &row), "reads are uncertain: the load changed within these minutes", "note: where it comes from");
	for (row.from = 0; row.from < WS_ERROR_PARTS; row.from++)
		ok(ws_advice_row_note(&table, &row) != NULL, "note: part %d has one", (int) row.from);

	/* first reads that a larger cache may have had */
	table.lookups = 10000;
	row = (WsAdvice)
	{
		.reads_per_second = 40, .unknown = 30
	};
	ok(ws_advice_row_doubt(&table, &row) == NULL, "doubt of a row: not for 3 %% of the lookups, fewer than the known reads");
	row.unknown = 30.1;
	ok(ws_advice_row_doubt(&table, &row) != NULL, "doubt of a row: for more");
	table.lookups = 20000;
	row.reads_per_second = 21;
	row.unknown = 20.9;
	ok(ws_advice_row_doubt(&table, &row) == NULL, "doubt of a row: not if most reads are known");
	row.unknown = 21.1;
	ok(ws_advice_row_doubt(&table, &row) != NULL, "doubt of a row: if most are not, and matter");
	row.reads_per_second = 1;
	row.unknown = 19.9;
	ok(ws_advice_row_doubt(&table, &row) == NULL, "doubt of a row: not if they do not matter");
}

int
main(void)
{
	plan(85);
	memcpy(factors, ws_sweep_grid, sizeof(ws_sweep_grid));
	factors[WS_SWEEP_FOLLOWER] = 5.5;
	for (int i = 0; i < SIZES; i++)
		many[i] = 1000;
	test_add();
	test_access();
	test_definition();
	test_coverage();
	test_coverage_of_size();
	test_coverage_of_time();
	test_bursts();
	test_differences();
	test_follow();
	test_doubt();
	test_note();
	return done();
}
