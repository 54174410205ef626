/*
 * advice.c
 *		The advice, from the tally; see advice.h.
 */
#include "advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FEW_READS	30.0		/* for which the sampling rate counts, or as
								 * many as pages are sampled, if more */
#define FEW_PAGES	16			/* sampled ones in a sweep: its row is known */
#define BLOCKS		8			/* of the time, to compare, */
#define BLOCKS_SUPPOSED 3		/* as if so many more */
#define VARIATION	0.002		/* had varied by this, */
#define VARIATION_SHARE 0.05	/* or at most by this share of the reads */
#define OFF_SHARE	2.0			/* what is off at the present size is so at
								 * another, by as large a share of its reads
								 * or by up to so many times more */
#define NONE_SEEN	3.0			/* events of which none may be seen by chance,
								 * 95 % */
#define FACTOR		2			/* between bounds that say next to nothing */
#define QUANTILE	1.96		/* of the normal distribution, 95 % */

/* Sizes above the present one, or below. */
static uint32_t
sizes_beyond(const double *factors, bool above)
{
	uint32_t	set = 0;

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		set |= (above ? factors[i] > 1 : factors[i] < 1) ? WS_SWEEP_BIT(i) : 0;
	return set;
}

void
ws_tally_lookups(WsTally *tally, double hits, double reads, uint32_t bursts_only, double share)
{
	tally->hits += hits;
	tally->reads += reads;
	for (; bursts_only != 0; bursts_only &= bursts_only - 1)
		tally->unseen[__builtin_ctz(bursts_only)] += (hits + reads) * (1 - WS_BURSTS * share);
}

/* What an access counts at one of the sizes. */
static double
count_at(uint32_t size, double weight, const WsSweep *sweep)
{
	return size & sweep->bursts_only ? WS_BURSTS * weight : weight;
}

void
ws_tally_access(WsTally *tally, const WsAccess *a, WsClass class, bool settled, double weight,
				const WsSweep *sweep)
{
	uint32_t	missed = a->missed;
	uint32_t	unknown = 0;

	if (!a->known)
	{
		uint32_t	beyond = sizes_beyond(sweep->factor, a->read);

		if (!a->read)
			missed &= beyond;
		unknown = missed & beyond & (settled ? a->cold : WS_SWEEP_ALL);
		missed &= ~unknown;
	}
	tally->weight = weight;
	if (a->run && a->read)
	{
		tally->run_reads[0] += weight;
		tally->run_reads[1] += class == WS_CLASS_SCAN ? weight : 0;
	}
	for (uint32_t rest = missed & sweep->unmissed; rest != 0; rest &= rest - 1)
		tally->unseen_use[__builtin_ctz(rest)][class] += count_at(rest & -rest, weight, sweep);
	for (; missed != 0; missed &= missed - 1)
		tally->missed[__builtin_ctz(missed)][class][a->group] += count_at(missed & -missed, weight, sweep);
	for (; unknown != 0; unknown &= unknown - 1)
		tally->unknown[__builtin_ctz(unknown)][class] += count_at(unknown & -unknown, weight, sweep);
	if (a->read)
	{
		tally->sampled[class][a->group] += weight;
		tally->events[class]++;
	}
}

void
ws_tally_add(WsTally *sum, const WsTally *part)
{
	double		weight = part->weight > 0 ? part->weight : sum->weight;

	/* all fields are doubles */
	for (size_t i = 0; i < sizeof(WsTally) / sizeof(double); i++)
		((double *) sum)[i] += ((const double *) part)[i];
	sum->weight = weight;
}

double
ws_sum_groups(const double *groups, int but)
{
	double		sum = 0;

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		sum += g == but ? 0 : groups[g];
	return sum;
}

/* Of scans: the share of all in runs that the sampled ones show. */
static double
real_reads(const WsTally *t, int class)
{
	double		share = t->run_reads[0] > 0 ? t->run_reads[1] / t->run_reads[0] : 1;
	double		scans = fmin(t->scan_reads * share, t->reads);

	return class == WS_CLASS_SCAN ? scans : t->reads - scans;
}

/*
 * All pages' reads for each that is sampled, of a class, by all groups but one:
 * as if a few more reads had been sampled, at the expected rate.
 */
static double
scale(const WsTally *t, int class, int but)
{
	double		part = but < 0 ? 1 : 1 - 1.0 / WS_ERROR_GROUPS;
	double		sampled = ws_sum_groups(t->sampled[class], but);
	double		all = ws_sum_groups(t->sampled[class], -1);
	double		weight = t->events[class] > 0 ? all / t->events[class] : fmax(t->weight, 1);
	double		prior = fmax(FEW_READS, t->pages) * weight;
	double		correction = t->correction > 0 ? t->correction : 1;

	return (real_reads(t, class) + prior * correction) / (sampled + prior * part);
}

/* Lookups that a cache of this size has seen; those in bursts count more. */
static double
seen_by(const WsTally *t, int size)
{
	return t->hits + t->reads - t->unseen[size];
}

/*
 * How many lookups one of these stands for: about one, but a period has a few
 * more bursts or fewer than one in sixteen, or busier ones.
 */
static double
stands_for(const WsTally *t, int size)
{
	double		seen = seen_by(t, size);

	return seen > 0 ? (t->hits + t->reads) / seen : 0;
}

/* Reads of a class with a cache of this size. */
static double
predict_reads(const WsTally *t, int size, int class, int but)
{
	return ws_sum_groups(t->missed[size][class], but) * scale(t, class, but) * stands_for(t, size);
}

static double
hit_ratio(double misses, double accesses)
{
	return fmin(fmax(1 - misses / accesses, 0), 1);
}

static double
predict_all_reads(const WsTally *t, int size, int but)
{
	double		reads = 0;

	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		reads += predict_reads(t, size, c, but);
	return reads;
}

double
ws_jackknife(const double *without, int n)
{
	double		mean = 0;
	double		sum = 0;

	for (int i = 0; i < n; i++)
		mean += without[i] / n;
	for (int i = 0; i < n; i++)
		sum += (without[i] - mean) * (without[i] - mean);
	return sqrt(sum * (n - 1) / n);
}

/* Standard error of a predicted hit ratio by the sample. */
static double
standard_error(const WsTally *t, int size)
{
	double		ratio[WS_ERROR_GROUPS];

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		ratio[g] = hit_ratio(predict_all_reads(t, size, g), t->hits + t->reads);
	return ws_jackknife(ratio, WS_ERROR_GROUPS);
}

/* The counts without one block of the time, for each; returns how many. */
static int
leave_out(const WsAdviceFacts *f, WsTally *without)
{
	int			used = 0;
	int			next = 0;
	int			n;

	for (int i = 0; i < f->nparts; i++)
		used += f->parts[i].hits + f->parts[i].reads > 0;
	n = used < BLOCKS ? used : BLOCKS;
	memset(without, 0, n * sizeof(*without));
	for (int i = 0; i < f->nparts; i++)
	{
		const WsTally *part = &f->parts[(f->oldest + i) % f->nparts];
		int			block = part->hits + part->reads > 0 ? next++ * n / used : -1;

		for (int k = 0; k < n; k++)
			if (k != block)
				ws_tally_add(&without[k], part);
	}
	for (int k = 0; k < n; k++)
	{
		without[k].weight = f->tally->weight;
		without[k].pages = f->tally->pages;
		without[k].correction = f->tally->correction;
	}
	return n;
}

/*
 * How much the answer depends on the time, by n blocks of it.  Few blocks say
 * little of how they vary, so a little is supposed beforehand.
 */
static double
change_error(const WsTally *without, int n, int size, double misses)
{
	/* of Student's distribution, 95 %, for n blocks and the supposed ones */
	static const double quantile[BLOCKS + 1] = {0, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23};
	double		ratio[BLOCKS];
	double		variance = 0;	/* of a block */
	double		supposed = fmin(VARIATION, VARIATION_SHARE * misses);
	double		least;

	for (int i = 0; i < n; i++)
		ratio[i] = hit_ratio(predict_all_reads(&without[i], size, -1),
							 without[i].hits + without[i].reads);
	if (n > 1)
		variance = n * pow(ws_jackknife(ratio, n), 2);
	least = ((n - 1) * variance + BLOCKS_SUPPOSED * supposed * supposed) / (n - 1 + BLOCKS_SUPPOSED);
	return quantile[n] * sqrt(fmax(variance, least) / n);
}

/*
 * A second error: how many sampled pages compete for the buffers is a matter of
 * chance, as if the size were off.  The steeper the curve, the more that
 * matters.  The jackknife does not see it, and at the present size it is
 * corrected.
 */
static double
size_error(const WsTally *t, const WsAdvice *rows, int size, uint32_t resident)
{
	double		unsampled = 1 - 1 / fmax(t->weight, 1);
	double		factor = rows[size].factor;
	int			below = WS_SWEEP_GRID - 2;
	int			above;
	double		slope;

	while (below > 0 && rows[below].factor >= factor)
		below--;
	above = below + 1;
	if (above + 1 < WS_SWEEP_GRID && rows[above].factor <= factor)
		above++;
	if (isnan(rows[below].hit_ratio))
		below = size;
	slope = (rows[above].hit_ratio - rows[below].hit_ratio) /
		log(rows[above].factor / rows[below].factor);
	return isnan(slope) ? 0 :
		slope * sqrt((1 - fmin(factor, 1 / factor)) * unsampled / resident);
}

/* Reads that a cache of this size may need, or not: so many are sampled. */
static double
possible_reads(const WsTally *t, int size, const double *sampled)
{
	double		reads = 0;

	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		reads += sampled[c] * scale(t, c, -1) * stands_for(t, size);
	return reads;
}

static void
predict_row(const WsTally *t, int size, double nbuffers, double factor, bool enough,
			WsAdvice *row)
{
	double		accesses = t->hits + t->reads;
	double		reads = predict_all_reads(t, size, -1);

	row->factor = factor;
	row->buffers = rint(row->factor * nbuffers);
	row->hit_ratio = row->error = NAN;
	row->reads_per_second = row->low = row->high = row->unknown = NAN;
	if (seen_by(t, size) < 1 || t->seconds <= 0 || !enough)
		return;
	row->hit_ratio = hit_ratio(reads, accesses);
	row->reads_per_second = fmin(reads, accesses) / t->seconds;
	row->unknown = fmin(possible_reads(t, size, t->unknown[size]), accesses) / t->seconds;
}

/* Reads of scans that there are more or fewer of than at the present size. */
static double
changed_scans(const WsTally *t, int size)
{
	double		now = predict_reads(t, WS_SWEEP_PRESENT, WS_CLASS_SCAN, -1);

	return fabs(predict_reads(t, size, WS_CLASS_SCAN, -1) - now) / (t->hits + t->reads);
}

/* Set the bounds of a row whose hit ratio is known; see advice.h. */
static void
set_error(const WsAdviceFacts *f, const WsAdviceTable *table, int size, double change,
		  WsAdvice *row)
{
	const WsTally *t = f->tally;
	double		rate = table->lookups / table->seconds;
	double		misses = 1 - row->hit_ratio;
	double		model = fmin(WS_ADVICE_MODEL_ERROR, WS_ADVICE_MODEL_SHARE * misses) *
		(1 + fabs(log2(row->factor)));
	double		parts[WS_ERROR_PARTS] = {
		[WS_ERROR_OF_SAMPLE] = hypot(WS_QUANTILE_OF_GROUPS * standard_error(t, size),
									 QUANTILE * size_error(t, table->rows, size, f->resident[size])),
		[WS_ERROR_OF_CHANGE] = change,
		[WS_ERROR_OF_UNKNOWN] = row->unknown / rate,
		[WS_ERROR_OF_BURSTS] = fmin(possible_reads(t, size, t->unseen_use[size]) / table->lookups, misses),
		[WS_ERROR_OF_PRESENT] = fmax(fabs(table->difference), f->off) *
		(misses > 0 ? fmin(1, OFF_SHARE * misses / (1 - table->hit_ratio)) : 0),
		[WS_ERROR_OF_SCANS] = WS_ADVICE_SCAN_ERROR * changed_scans(t, size)
	};
	double		off = hypot(parts[WS_ERROR_OF_SAMPLE], change) + parts[WS_ERROR_OF_PRESENT] +
		parts[WS_ERROR_OF_SCANS] + model;
	double		less;

	row->from = WS_ERROR_OF_SAMPLE;
	for (int i = 0; i < WS_ERROR_PARTS; i++)
		if (parts[i] > parts[row->from])
			row->from = i;
	less = off + parts[WS_ERROR_OF_BURSTS];
	row->low = fmax(row->reads_per_second - less * rate, 0);
	off += parts[WS_ERROR_OF_UNKNOWN] + NONE_SEEN * fmax(t->weight, 1) *
		(t->unseen[size] == 0 ? 1 : WS_BURSTS) / seen_by(t, size);
	row->high = fmin(row->reads_per_second + off * rate, rate);
	row->error = fmin(fmax(off, less), 1);
}

void
ws_advise(const WsAdviceFacts *f, WsAdviceTable *table)
{
	const WsTally *t = f->tally;
	double		accesses = t->hits + t->reads;
	WsAdvice   *present = &table->rows[WS_SWEEP_PRESENT];
	WsTally		blocks[BLOCKS];
	int			nblocks = leave_out(f, blocks);

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		predict_row(t, i, f->nbuffers, f->factors[i], f->resident[i] >= FEW_PAGES, &table->rows[i]);
	table->seconds = t->seconds;
	table->lookups = accesses;
	table->hit_ratio = accesses > 0 ? t->hits / accesses : NAN;
	table->reads_per_second = t->seconds > 0 ? t->reads / t->seconds : NAN;
	table->difference = present->hit_ratio - table->hit_ratio;
	table->other_usage = f->other_usage;
	table->lost = t->lost > 0 ? t->lost / (t->taken + t->lost) : 0;
	table->sure = fabs(table->difference) <= WS_ADVICE_TOLERANCE && table->lost <= WS_ADVICE_LOST &&
		f->other_usage == 0;
	table->followed = f->followed;

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		WsAdvice   *row = &table->rows[i];

		if (!isnan(row->hit_ratio) && !isnan(table->difference))
			set_error(f, table, i, change_error(blocks, nblocks, i, 1 - row->hit_ratio), row);
	}
}

void
ws_note_difference(WsDifferences *differences, double difference, int64_t now)
{
	double		left = exp2((double) (differences->noted_at - now) / WS_DIFFERENCE_MS);

	if (isnan(difference))
		return;
	differences->squares = left * differences->squares + (1 - left) * difference * difference;
	differences->weight = left * differences->weight + 1 - left;
	differences->noted_at = now;
}

void
ws_advice_note_difference(WsDifferences *differences, const WsAdviceTable *table, int64_t now)
{
	if (table->seconds >= WS_DIFFERENCE_SECONDS && table->lookups >= WS_DIFFERENCE_LOOKUPS)
		ws_note_difference(differences, table->difference, now);
}

double
ws_mean_difference(const WsDifferences *differences)
{
	return differences->weight > 0 ? sqrt(differences->squares / differences->weight) : 0;
}

/* Are two sizes so close that one stands for the other? */
static bool
close_to(double a, double b)
{
	return fabs(log(a / b)) <= WS_FOLLOW_JUMP;
}

/* The nearest rows below and above this size, or twice its own; false: none. */
static bool
neighbours(const WsAdviceTable *table, double buffers, const WsAdvice **below, const WsAdvice **above)
{
	const WsAdvice *own = &table->rows[WS_SWEEP_FOLLOWER];

	for (int i = WS_SWEEP_GRID - 2; i >= 0; i--)
	{
		const WsAdvice *row = &table->rows[i];

		if (!(row[0].buffers <= buffers && buffers <= row[1].buffers && row[0].buffers < row[1].buffers))
			continue;
		*below = &row[0];
		*above = &row[1];
		if (table->followed && row[0].buffers < own->buffers && own->buffers < row[1].buffers)
			*(own->buffers <= buffers ? below : above) = own;
		if ((*below)->buffers == buffers)
			*above = *below;
		else if ((*above)->buffers == buffers)
			*below = *above;
		return true;
	}
	*below = *above = own;
	return table->followed && close_to(own->buffers, buffers);
}

double
ws_advice_expect(const WsAdviceTable *table, double buffers)
{
	const WsAdvice *below;
	const WsAdvice *above;

	if (!neighbours(table, buffers, &below, &above) ||
		ws_advice_row_doubt(table, below) || ws_advice_row_doubt(table, above))
		return NAN;
	if (below == above)
		return below->hit_ratio;
	return below->hit_ratio + (above->hit_ratio - below->hit_ratio) *
		(buffers - below->buffers) / (above->buffers - below->buffers);
}

double
ws_advice_expect_reads(const WsAdviceTable *table, double buffers)
{
	const WsAdvice *below;
	const WsAdvice *above;
	double		less;
	double		more;

	if (!neighbours(table, buffers, &below, &above))
		return NAN;
	less = below->reads_per_second + below->unknown;
	more = above->reads_per_second + above->unknown;
	return below == above ? less :
		less + (more - less) * (buffers - below->buffers) / (above->buffers - below->buffers);
}

double
ws_advice_follow(WsFollower *follower, double factor, double buffers, double nbuffers,
				 int64_t now, bool *jumped)
{
	*jumped = false;
	if (isnan(buffers) || buffers <= 0)
		return factor;
	factor = fmin(fmax(buffers / nbuffers, WS_FOLLOW_LEAST), WS_FOLLOW_MOST);
	*jumped = follower->from == 0 || !close_to(factor, follower->from);
	if (*jumped)
	{
		follower->from = factor;
		follower->jumped_at = now;
	}
	return factor;
}

bool
ws_advice_followed(const WsFollower *follower, double seconds, int64_t now)
{
	return follower->from > 0 && now - follower->jumped_at >= seconds * 1000;
}

void
ws_advice_doubt(const WsAdviceTable *table, const char *until, char *buf, size_t size)
{
	buf[0] = '\0';
	if (table->sure || isnan(table->difference))
		return;
	if (table->other_usage != 0)
		snprintf(buf, size, "how this server replaces pages is not known: it counts up to %d uses of "
				 "each, and %d are simulated", table->other_usage, WS_USAGE_MAX);
	else if (table->lost > WS_ADVICE_LOST)
		snprintf(buf, size, "what other sizes would do is not known: %.0f %% of the events in these minutes were lost",
				 100 * table->lost);
	else if (table->difference > 0 && until[0] != '\0')
		snprintf(buf, size, "the cache is still filling, probably until %s: %.1f %% hits were "
				 "measured, and %.1f %% are predicted when it is full",
				 until, 100 * table->hit_ratio, 100 * (table->hit_ratio + table->difference));
	else
		snprintf(buf, size, "what other sizes would do is not known: %.1f %% hits are predicted "
				 "for the present one, and %.1f %% were measured",
				 100 * (table->hit_ratio + table->difference), 100 * table->hit_ratio);
}

/* Do so many reads a second matter? */
static bool
matters(const WsAdviceTable *table, double reads)
{
	return reads >= WS_ADVICE_READS || reads >= WS_ADVICE_READS_SHARE * table->lookups / table->seconds;
}

const char *
ws_advice_row_note(const WsAdviceTable *table, const WsAdvice *row)
{
	static const char *const notes[WS_ERROR_PARTS] = {
		[WS_ERROR_OF_SAMPLE] = "reads are uncertain: too few of the pages that decide about this size are sampled",
		[WS_ERROR_OF_CHANGE] = "reads are uncertain: the load changed within these minutes",
		[WS_ERROR_OF_UNKNOWN] = "reads are uncertain: a cache of this size may have had some of the pages that were read for the first time",
		[WS_ERROR_OF_BURSTS] = "reads are uncertain: pages are used for seconds, and this size is simulated in one of sixteen",
		[WS_ERROR_OF_PRESENT] = "reads are uncertain: for the present size the prediction was as far off in the last hours",
		[WS_ERROR_OF_SCANS] = "reads are uncertain: scans would read far more, or fewer, pages"
	};

	return row->high > FACTOR * row->low && matters(table, row->high) ? notes[row->from] : NULL;
}

const char *
ws_advice_row_doubt(const WsAdviceTable *table, const WsAdvice *row)
{
	return row->unknown > WS_ADVICE_TOLERANCE * table->lookups / table->seconds ||
		(row->unknown > row->reads_per_second && matters(table, row->unknown)) ?
		"a cache of this size may have had the pages that were read for the first time" : NULL;
}
