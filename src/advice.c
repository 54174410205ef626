/*
 * advice.c
 *		The advice, from the tally; see advice.h.
 */
#include "advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Where fewer reads were sampled than pages, or than so many, the sampling rate
 * says more about how many each of them stands for than their number does.
 */
#define FEW_READS	30.0

/* A cache with room for fewer sampled pages than this tells nothing. */
#define FEW_PAGES	16

/* Reads a second that are not worth talking about. */
#define NO_READS	1

void
ws_tally_add(WsTally *sum, const WsTally *part)
{
	sum->seconds += part->seconds;
	sum->hits += part->hits;
	sum->reads += part->reads;
	sum->scan_hits += part->scan_hits;
	sum->scan_reads += part->scan_reads;
	if (part->weight > 0)
		sum->weight = part->weight;
	for (int i = 0; i < 2; i++)
	{
		sum->run_hits[i] += part->run_hits[i];
		sum->run_reads[i] += part->run_reads[i];
	}
	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
	{
		sum->events[c] += part->events[c];
		for (int g = 0; g < WS_ADVICE_GROUPS; g++)
			sum->sampled[c][g] += part->sampled[c][g];
		for (int i = 0; i < WS_SWEEP_SIZES; i++)
			for (int g = 0; g < WS_ADVICE_GROUPS; g++)
				sum->missed[i][c][g] += part->missed[i][c][g];
	}
	for (int b = 0; b < WS_REUSE_BINS; b++)
		sum->distances[b] += part->distances[b];
}

/*
 * Sum over all groups but one; -1: over all.
 */
static double
sum_double(const double *groups, int but)
{
	double		sum = 0;

	for (int g = 0; g < WS_ADVICE_GROUPS; g++)
		sum += g == but ? 0 : groups[g];
	return sum;
}

static double
sum_float(const float *groups, int but)
{
	double		sum = 0;

	for (int g = 0; g < WS_ADVICE_GROUPS; g++)
		sum += g == but ? 0 : groups[g];
	return sum;
}

/*
 * The probe counts what looks like a scan.  Of that, as large a share is one
 * as of the sampled accesses.
 */
static double
of_scans(double counted, const double *runs, double limit)
{
	double		scans = runs[0] > 0 ? counted * runs[1] / runs[0] : counted;

	return fmin(scans, limit);
}

static double
real_reads(const WsTally *t, int class)
{
	double		scans = of_scans(t->scan_reads, t->run_reads, t->reads);

	return class == WS_CLASS_SCAN ? scans : t->reads - scans;
}

/*
 * Reads of a class that a cache of this size would do, leaving out the sampled
 * pages of one group.
 */
static double
predict_reads(const WsTally *t, int size, int class, int but)
{
	double		part = but < 0 ? 1 : 1 - 1.0 / WS_ADVICE_GROUPS;
	double		missed = sum_float(t->missed[size][class], but);
	double		sampled = sum_double(t->sampled[class], but);
	double		all = sum_double(t->sampled[class], -1);
	double		weight = t->events[class] > 0 ? all / t->events[class] : fmax(t->weight, 1);
	double		prior = fmax(FEW_READS, t->pages) * weight;
	double		correction = t->correction > 0 ? t->correction : 1;

	/* the sampling rate as if a few more had been sampled, just as expected */
	return missed * (real_reads(t, class) + prior * correction) / (sampled + prior * part);
}

static double
hit_ratio(double misses, double accesses)
{
	return fmin(fmax(1 - misses / accesses, 0), 1);
}

static double
predict_ratio(const WsTally *t, int size, int but)
{
	double		misses = 0;

	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		misses += predict_reads(t, size, c, but);
	return hit_ratio(misses, t->hits + t->reads);
}

/*
 * Standard error of a predicted hit ratio, from leaving out one group at a
 * time.
 */
static double
standard_error(const WsTally *t, int size)
{
	double		ratio[WS_ADVICE_GROUPS];
	double		mean = 0;
	double		sum = 0;

	for (int g = 0; g < WS_ADVICE_GROUPS; g++)
	{
		ratio[g] = predict_ratio(t, size, g);
		mean += ratio[g] / WS_ADVICE_GROUPS;
	}
	for (int g = 0; g < WS_ADVICE_GROUPS; g++)
		sum += (ratio[g] - mean) * (ratio[g] - mean);
	return sqrt(sum * (WS_ADVICE_GROUPS - 1) / WS_ADVICE_GROUPS);
}

/*
 * Above the present size there is another error: how many sampled pages
 * compete for the buffers is a matter of chance, too, as if the size were off
 * by so much; how much that is depends on how steep the curve is.  The jackknife
 * does not see it.  For the present size it is corrected, and below the jackknife
 * is enough.
 */
static double
size_error(const WsTally *t, const WsAdvice *rows, int size, uint32_t resident)
{
	int			below = size - 1;
	int			above = size + 1 < WS_SWEEP_SIZES ? size + 1 : size;
	double		unsampled = 1 - 1 / fmax(t->weight, 1);
	double		slope;

	if (size <= WS_SWEEP_PRESENT)
		return 0;
	slope = (rows[above].hit_ratio - rows[below].hit_ratio) /
		log(rows[above].factor / rows[below].factor);
	return isnan(slope) ? 0 : slope * sqrt((1 - 1 / rows[size].factor) * unsampled / resident);
}

static void
advise_size(const WsTally *t, int size, double lru_misses, bool told, WsAdvice *row)
{
	double		accesses = t->hits + t->reads;
	double		rest = t->reads - real_reads(t, WS_CLASS_SCAN) +
		t->hits - of_scans(t->scan_hits, t->run_hits, t->hits);
	double		reads = 0;

	row->hit_ratio = NAN;
	row->hit_ratio_without_scans = NAN;
	row->hit_ratio_lru = NAN;
	row->reads_per_second = NAN;
	row->read_factor = NAN;
	row->error = NAN;
	if (accesses <= 0 || t->seconds <= 0)
		return;

	if (!isnan(lru_misses))
		row->hit_ratio_lru = hit_ratio(lru_misses, accesses);
	if (!told)
		return;

	for (int c = 0; c < WS_CLIENT_CLASSES; c++)
		reads += predict_reads(t, size, c, -1);
	row->hit_ratio = predict_ratio(t, size, -1);
	row->reads_per_second = fmin(reads, accesses) / t->seconds;
	if (rest > 0)
		row->hit_ratio_without_scans = hit_ratio(predict_reads(t, size, WS_CLASS_REST, -1), rest);
}

void
ws_advise(const WsTally *tally, double nbuffers, const uint32_t *resident,
		  const double *denning, WsAdviceTable *table)
{
	double		accesses = tally->hits + tally->reads;
	WsAdvice   *present = &table->rows[WS_SWEEP_PRESENT];

	table->seconds = tally->seconds;
	table->hit_ratio = accesses > 0 ? tally->hits / accesses : NAN;
	table->reads_per_second = tally->seconds > 0 ? tally->reads / tally->seconds : NAN;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		WsAdvice   *row = &table->rows[i];
		double		lru;

		row->factor = ws_sweep_factors[i];
		row->buffers = rint(row->factor * nbuffers);
		lru = denning ? denning[i] * tally->seconds :
			ws_reuse_misses(tally->distances, row->buffers);
		advise_size(tally, i, lru, resident[i] >= FEW_PAGES, row);
	}

	table->difference = present->hit_ratio - table->hit_ratio;
	table->sure = fabs(table->difference) <= WS_ADVICE_TOLERANCE;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		WsAdvice   *row = &table->rows[i];

		if (isnan(row->hit_ratio))
			continue;
		row->error = fmin(1.96 * hypot(standard_error(tally, i), size_error(tally, table->rows, i, resident[i])) +
						  fabs(table->difference) + WS_ADVICE_MODEL_ERROR, 1);
		if (isnan(table->difference))
			row->error = NAN;
		if (present->reads_per_second > 0)
			row->read_factor = row->reads_per_second / present->reads_per_second;
	}
}

static double
lru_ratio(const WsTally *tally, double buffers)
{
	return hit_ratio(ws_reuse_misses(tally->distances, buffers), tally->hits + tally->reads);
}

double
ws_advice_expect(const WsAdviceTable *table, const WsTally *tally, double buffers)
{
	const WsAdvice *below = NULL;
	const WsAdvice *above = NULL;
	const WsAdvice *nearest;

	if (isnan(buffers))
		return NAN;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		const WsAdvice *row = &table->rows[i];

		if (isnan(row->hit_ratio))
			continue;
		if (row->buffers <= buffers)
			below = row;
		else if (above == NULL)
			above = row;
	}

	if (below && above)
		return below->hit_ratio + (above->hit_ratio - below->hit_ratio) *
			(buffers - below->buffers) / (above->buffers - below->buffers);
	nearest = below ? below : above;
	if (nearest == NULL)
		return NAN;
	return fmin(fmax(nearest->hit_ratio + lru_ratio(tally, buffers) -
					 lru_ratio(tally, nearest->buffers), 0), 1);
}

/*
 * A number of reads, as people write it.
 */
static const char *
with_commas(double number, char *buf, size_t size)
{
	char		digits[32];
	size_t		n;
	size_t		out = 0;

	snprintf(digits, sizeof(digits), "%.0f", number < 1e15 ? number : 1e15);
	n = strlen(digits);
	for (size_t i = 0; i < n && out + 2 < size; i++)
	{
		if (i > 0 && (n - i) % 3 == 0)
			buf[out++] = ',';
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

static const WsAdvice *
row_of(const WsAdviceTable *table, double factor)
{
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (table->rows[i].factor == factor)
			return &table->rows[i];
	return NULL;
}

/*
 * Two significant digits: what is predicted is not known better.
 */
static double
rounded(double number)
{
	double		unit = number >= 10 ? pow(10, floor(log10(number)) - 1) : 1;

	return rint(number / unit) * unit;
}

void
ws_advice_reason(const WsAdviceTable *table, char *buf, size_t size)
{
	double		now = row_of(table, 1)->reads_per_second;
	double		doubled = row_of(table, 2)->reads_per_second;
	double		again = row_of(table, 4)->reads_per_second;
	double		saved = rounded(fmax(now - doubled, 0));
	double		saved_again = rounded(fmax(doubled - again, 0));
	char		a[32];
	char		b[32];

	buf[0] = '\0';
	if (!table->sure || isnan(now) || isnan(doubled) || isnan(again))
		return;

	if (table->reads_per_second < NO_READS)
		snprintf(buf, size, "shared_buffers now miss less than one read a second, so more would save nothing");
	else if (saved < NO_READS && saved_again < NO_READS)
		snprintf(buf, size, "neither doubling shared_buffers nor doubling again would save a read a second");
	else
		snprintf(buf, size, "doubling shared_buffers would save %s reads a second; doubling again, %s",
				 with_commas(saved, a, sizeof(a)), with_commas(saved_again, b, sizeof(b)));
}

void
ws_advice_doubt(const WsAdviceTable *table, char *buf, size_t size)
{
	buf[0] = '\0';
	if (!table->sure && !isnan(table->difference))
		snprintf(buf, size, "what other sizes would do is not known: %.1f %% hits are predicted "
				 "for the present one, and %.1f %% were measured",
				 100 * (table->hit_ratio + table->difference), 100 * table->hit_ratio);
}
