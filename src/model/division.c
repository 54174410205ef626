/*
 * division.c
 *		What two caches read, and how to divide memory; see division.h.
 */
#include "division.h"

#include <math.h>
#include <string.h>

#define SLACK			1.01	/* by which sizes that are the same differ */

/* Where a size belongs among n ascending ones; -1: it is one of them. */
static int
place(const double *sizes, int n, double size)
{
	int			at = n;

	while (at > 0 && sizes[at - 1] > size * SLACK)
		at--;
	return at > 0 && sizes[at - 1] * SLACK > size ? -1 : at;
}

/* Insert one more, and move those behind it on. */
static void
insert(double *values, int n, int at, double value)
{
	memmove(values + at + 1, values + at, (n - at) * sizeof(*values));
	values[at] = value;
}

/* Note the reads of a size. */
static void
take_reads(WsTierTable *table, double size, double reads)
{
	int			at = place(table->sizes, table->nsizes, size);

	if (at < 0)
		return;
	insert(table->sizes, table->nsizes, at, size);
	insert(table->reads, table->nsizes, at, reads);
	table->nsizes++;
}

/* The share of the reads that a size of shared buffers asked for that wait. */
static double
wait_ratio(const WsTierFacts *f, int b, int c, int but)
{
	double		waiting = ws_sum_groups(f->counts->waits[b][c], but) / f->tiers->readahead.waits;

	return fmin(waiting / fmax(ws_sum_groups(f->counts->asked[b], but), 1), 1);
}

/*
 * The share of what is read from disk that a cache which is not full reads: it
 * may or may not have had these pages, had it been so large for long.
 */
static double
cold_share(const WsTierCounts *counts, int b, int c)
{
	return fmin(counts->cold[b][c] / fmax(counts->needed[b][c], 1), 1);
}

/* The 95 % bound of that; see division.h. */
static double
error_of(const WsTierFacts *f, int b, int c)
{
	const WsAdvice *row = &f->advice->rows[ws_tier_buffers[b]];
	double		asked = ws_sum_groups(f->counts->asked[b], -1);
	double		without[WS_ERROR_GROUPS];
	double		sampling;
	double		model = WS_DIVISION_ERROR +
		WS_DIVISION_SIZE_ERROR * (fabs(log2(row->factor)) + fabs(log2(ws_tier_caches[c])));

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		without[g] = wait_ratio(f, b, c, g);
	sampling = WS_QUANTILE_OF_GROUPS * ws_jackknife(without, WS_ERROR_GROUPS);
	/* if none of n waits, up to 3/n may (Hanley and Lippman-Hand 1983) */
	if (asked < WS_DIVISION_READS && row->reads_per_second >= WS_DIVISION_CHECKED)
		sampling = fmax(sampling, fmin(3 / fmax(asked, 1), 1));
	return fmin(hypot(sampling, fmax(model, 2 * f->off)) +
				wait_ratio(f, b, c, -1) * cold_share(f->counts, b, c) / 2, 1);
}

/*
 * The share of its hits that a cache has: other programs' files take as many
 * bytes of a larger one, and as large a part of a smaller one.
 */
static double
share_of(const WsTierFacts *f, int c)
{
	return 1 - (1 - f->left) * fmin(f->present / (f->cache * ws_tier_caches[c]), 1);
}

double
ws_division_hits_left(double found)
{
	const double steepness = (1 - WS_DIVISION_LOST) / (WS_DIVISION_ALL - WS_DIVISION_LOST);

	return fmin(fmax(found, WS_DIVISION_LOST + (found - WS_DIVISION_LOST) * steepness), 1);
}

/* Note what was counted behind a size. */
static void
take_counts(WsTierTable *table, const WsTierFacts *f, int b)
{
	double		size = f->advice->rows[ws_tier_buffers[b]].factor * f->shared_buffers;
	int			at = place(table->buffers, table->nbuffers, size);
	int			after = table->nbuffers - at;

	if (at < 0)
		return;
	memmove(table->waits + at + 1, table->waits + at, after * sizeof(*table->waits));
	memmove(table->needed + at + 1, table->needed + at, after * sizeof(*table->needed));
	memmove(table->ahead + at + 1, table->ahead + at, after * sizeof(*table->ahead));
	memmove(table->error + at + 1, table->error + at, after * sizeof(*table->error));
	memmove(table->cold + at + 1, table->cold + at, after * sizeof(*table->cold));
	memmove(table->only + at + 1, table->only + at, after * sizeof(*table->only));
	insert(table->buffers, table->nbuffers++, at, size);
	for (int c = 0; c < WS_TIER_CACHES; c++)
	{
		double		asked = fmax(ws_sum_groups(f->counts->asked[b], -1), 1);

		/* what is missing from a cache that holds all is there in the end */
		bool		all = f->cache * ws_tier_caches[c] * SLACK >= f->whole;
		double		cold = all ? 1 : cold_share(f->counts, b, c) / 2;
		double		needed = f->counts->needed[b][c] / asked * (1 - cold);
		double		share = share_of(f, c);
		double		displaced = (1 - share) * fmax(1 - needed, 0);
		double		times = needed > 0 ? 1 + displaced / needed : 1;

		/* what is displaced is read as what is needed anyway */
		table->waits[at][c] = needed > 0 ?
			fmin(wait_ratio(f, b, c, -1) * (1 - cold) * times, 1) : displaced;
		table->needed[at][c] = needed + displaced;
		table->ahead[at][c] = f->counts->ahead[b][c] / asked * (1 - cold) * times;
		/* what the others do with more memory is not known */
		table->error[at][c] = fmin(error_of(f, b, c) + displaced / 2, 1);
		table->cold[at][c] = f->counts->needed[b][c] / asked * cold;
		table->only[at][c] = f->tiers->only[b][c] * share;
	}
}

/* Let a page cache that just holds all be one of the sizes. */
static void
add_whole(WsTierTable *table, double whole)
{
	int			at = whole > 0 ? place(table->caches, table->ncaches, whole) : -1;

	if (at < 1 || at == table->ncaches)
		return;
	insert(table->caches, table->ncaches, at, whole);
	for (int b = 0; b < table->nbuffers; b++)
	{
		double	   *rows[] = {table->waits[b], table->needed[b], table->ahead[b], table->error[b],
		table->cold[b], table->only[b]};

		/* as the next larger one, which holds all, too */
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			insert(rows[i], table->ncaches, at, rows[i][at]);
	}
	table->ncaches++;
}

static bool
is_known(const WsAdviceTable *advice, int size)
{
	return !isnan(advice->rows[size].reads_per_second) && advice->rows[size].factor > 0 &&
		(size != WS_SWEEP_FOLLOWER || advice->followed);
}

void
ws_division_table(const WsTierFacts *f, WsTierTable *table)
{
	const WsAdviceTable *advice = f->advice;

	memset(table, 0, sizeof(*table));
	if (!(advice->seconds > 0))
		return;
	table->lookups = advice->lookups / advice->seconds;
	table->other = f->other;
	table->shared_buffers = f->shared_buffers;
	table->waits_each = f->tiers->readahead.waits;
	table->ncaches = WS_TIER_CACHES;
	for (int c = 0; c < WS_TIER_CACHES; c++)
		table->caches[c] = f->cache * ws_tier_caches[c];
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (is_known(advice, i))
			take_reads(table, advice->rows[i].factor * f->shared_buffers,
					   advice->rows[i].reads_per_second);
	for (int b = 0; b < WS_TIER_BUFFERS; b++)
	{
		const WsAdvice *row = &advice->rows[ws_tier_buffers[b]];

		/* of few reads little is known, nor does it matter */
		if (is_known(advice, ws_tier_buffers[b]) &&
			(ws_sum_groups(f->counts->asked[b], -1) >= WS_DIVISION_READS ||
			 row->reads_per_second <= WS_DIVISION_FEW * table->lookups))
			take_counts(table, f, b);
	}
	add_whole(table, f->whole);
}

/* Between which two sizes, and how far from the first, is this one? */
static int
find(const double *sizes, int n, double size, double *part)
{
	int			i = 0;

	while (i < n - 2 && sizes[i + 1] < size)
		i++;
	*part = n < 2 ? 0 : fmin(fmax(log(size / sizes[i]) / log(sizes[i + 1] / sizes[i]), 0), 1);
	return i;
}

static double
between(double a, double b, double part)
{
	return part > 0 ? a + part * (b - a) : a;
}

/*
 * Beyond the simulated page caches the hit ratio is between that of the nearest
 * one and that of none, or of one that holds all.
 */
static double
error_beyond(const WsTierTable *table, const WsPair *pair, double nearest)
{
	if (pair->cache < table->caches[0])
		return fmax(pair->cache_hit_ratio, nearest - pair->cache_hit_ratio);
	if (pair->cache > table->caches[table->ncaches - 1] * SLACK)
		return 1 - pair->cache_hit_ratio;
	return 0;
}

/* A number of a row, at this size of the page cache, and without one. */
static double
at_cache(const WsTierTable *table, const double *row, double cache, double none)
{
	double		part;
	int			c = find(table->caches, table->ncaches, fmax(cache, 1), &part);

	if (cache < table->caches[0])
		return between(none, row[0], fmax(cache, 0) / table->caches[0]);
	return between(row[c], row[c + 1], part);
}

/* The page cache's hit ratio behind the size at i and the next one. */
static double
hit_ratio_at(const WsTierTable *table, int i, double part, double cache)
{
	int			next = i + (table->nbuffers > 1);

	return 1 - between(at_cache(table, table->waits[i], cache, 1),
					   at_cache(table, table->waits[next], cache, 1), part);
}

double
ws_division_left(const WsTierTable *table, double memory, double buffers)
{
	return memory - table->other - buffers - WS_DIVISION_BUFFER * (buffers - table->shared_buffers);
}

bool
ws_division_predict(const WsTierTable *table, double buffers, double cache, WsPair *pair)
{
	int			n = table->nbuffers;
	double		part;
	int			i;
	int			next;

	memset(pair, 0, sizeof(*pair));
	if (n == 0 || buffers * SLACK < table->buffers[0] || buffers > table->buffers[n - 1] * SLACK)
		return false;
	pair->buffers = buffers;
	pair->cache = cache;
	i = find(table->sizes, table->nsizes, buffers, &part);
	pair->reads = between(table->reads[i], table->reads[i + (table->nsizes > 1)], part);
	pair->hit_ratio = table->lookups > 0 ? fmax(1 - pair->reads / table->lookups, 0) : NAN;
	i = find(table->buffers, n, buffers, &part);
	next = i + (n > 1);
	pair->cache_hit_ratio = hit_ratio_at(table, i, part, cache);
	pair->steep = fmax(fabs(hit_ratio_at(table, i, part, cache * exp(WS_DIVISION_EFFECTIVE)) - pair->cache_hit_ratio),
					   fabs(hit_ratio_at(table, i, part, cache / exp(WS_DIVISION_EFFECTIVE)) - pair->cache_hit_ratio));
	pair->error = fmax(at_cache(table, table->error[i], cache, WS_DIVISION_ERROR),
					   at_cache(table, table->error[next], cache, WS_DIVISION_ERROR));
	pair->cold = fmax(at_cache(table, table->cold[i], cache, 0), at_cache(table, table->cold[next], cache, 0));
	pair->distinct = buffers + fmax(cache, 0) * between(at_cache(table, table->only[i], cache, 1),
														at_cache(table, table->only[next], cache, 1), part);
	if (cache > 0)
		pair->error = fmax(pair->error, error_beyond(table, pair,
													 1 - between(table->waits[i][0],
																 table->waits[next][0], part)));
	pair->waits = pair->reads * (1 - pair->cache_hit_ratio) * table->waits_each;
	pair->needed = pair->reads * between(at_cache(table, table->needed[i], cache, 1),
										 at_cache(table, table->needed[next], cache, 1), part);
	pair->blocks = pair->needed + pair->reads * between(at_cache(table, table->ahead[i], cache, 0),
														at_cache(table, table->ahead[next], cache, 0), part);
	return true;
}

double
ws_division_error(const WsPair *pair)
{
	return fmin(hypot(pair->error, pair->steep), 1);
}

/* Blocks that would be read if the page cache found nothing. */
static double
most_blocks(const WsPair *pair)
{
	return pair->needed > 0 ? pair->blocks / pair->needed * pair->reads : pair->reads;
}

double
ws_division_difference(const WsPair *pair, double blocks)
{
	if (isnan(blocks) || pair->reads < WS_DIVISION_CHECKED)
		return NAN;
	return fmin(fmax((blocks - pair->blocks) / most_blocks(pair), -1), 1);
}

bool
ws_division_others_read(const WsPair *pair, double blocks)
{
	return blocks > WS_DIVISION_OTHERS * most_blocks(pair);
}

bool
ws_division_is_off(double difference)
{
	return fabs(difference) > WS_DIVISION_TOLERANCE;
}

static double
cost(const WsPair *pair)
{
	return pair->waits + WS_DIVISION_COPY * pair->reads;
}

bool
ws_division_best(const WsTierTable *table, double memory, WsPair *pair)
{
	double		both = memory - table->other;
	double		slack = WS_DIVISION_SAME * WS_DIVISION_COPY * table->lookups;
	bool		found = false;

	/* each known size, and the one half way to the next */
	for (int i = 0; i < 2 * table->nsizes - 1; i++)
	{
		double		size = sqrt(table->sizes[i / 2] * table->sizes[(i + 1) / 2]);
		WsPair		tried;

		if (size > WS_DIVISION_MOST * both ||
			!ws_division_predict(table, size, ws_division_left(table, memory, size), &tried))
			continue;
		/* smaller ones come first */
		if (!found || cost(&tried) < (1 - WS_DIVISION_SAME) * cost(pair) - slack)
			*pair = tried;
		found = true;
	}
	return found;
}
