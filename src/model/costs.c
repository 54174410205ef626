/*
 * costs.c
 *		Reads at fixed sizes, by quarters of an hour; see costs.h.
 *
 * Weighed reads of a row are logarithms in steps of 1/1024 octave, 0.07 %.
 */
#include "costs.h"

#include <math.h>
#include <string.h>

#define ENOUGH			0.9		/* of the seconds: the size is known */
#define SAME_SIZE		0.01	/* sizes that differ by less are the same */
#define UNKNOWN			UINT16_MAX	/* codes: not known; 0: none */
#define CODES_PER_OCTAVE 1024
#define OCTAVE_LEAST	(-8)	/* code 1 */

double
ws_cost_buffers(int size)
{
	return WS_COST_LEAST * exp2(size / (double) WS_COST_PER_OCTAVE);
}

static uint16_t
encode(double reads)
{
	double		code;

	if (isnan(reads))
		return UNKNOWN;
	code = rint(CODES_PER_OCTAVE * (log2(fmax(reads, 0)) - OCTAVE_LEAST)) + 1;
	return (uint16_t) fmin(fmax(code, 0), UNKNOWN - 1);
}

static double
decode(uint16_t code)
{
	if (code == UNKNOWN)
		return NAN;
	return code == 0 ? 0 : exp2((code - 1) / (double) CODES_PER_OCTAVE + OCTAVE_LEAST);
}

/* Was no page looked up?  Then none was read, and none would have been. */
static bool
is_idle(const WsCostMoment *m)
{
	return m->table->seconds > 0 && m->table->lookups == 0;
}

/* Weighed reads a second with so many buffers; NaN: not sure. */
static double
predict(const WsCostMoment *m, double buffers, bool tiers)
{
	double		reads = ws_advice_expect_reads(m->table, buffers);
	double		bytes = buffers * m->buffer;
	double		waits;
	WsPair		pair;

	if (is_idle(m))
		return buffers >= ws_sweep_grid[0] * m->buffers &&
			buffers <= ws_sweep_grid[WS_SWEEP_GRID - 1] * m->buffers ? 0 : NAN;
	if (!tiers)
		return reads;
	if (isnan(reads) ||
		!ws_division_predict(m->tiers, bytes, ws_division_left(m->tiers, m->memory, bytes), &pair) ||
		pair.error > WS_DIVISION_TOLERANCE)
		return NAN;
	waits = reads * (1 - pair.cache_hit_ratio) * m->tiers->waits_each;
	return waits + (reads - waits) * WS_DIVISION_COPY;
}

/* Or go on with one whose row is there already, as after a restart. */
static void
begin_quarter(WsCostQuarter *quarter, int64_t time, const WsCostRow *row, const WsCostMoment *m)
{
	memset(quarter, 0, sizeof(*quarter));
	quarter->number = time / WS_COST_QUARTER;
	quarter->tiers = m->tiers != NULL;
	if (row->number != quarter->number || fabs(row->buffers / m->buffers - 1) >= SAME_SIZE)
		return;
	quarter->tiers = row->tiers;
	quarter->active = row->active;
	quarter->waiting = row->waiting;
	quarter->reads = row->reads;
	/* its costs are those of all that has passed of it */
	quarter->seconds = fmax((double) (time % WS_COST_QUARTER), 1);
	for (int i = 0; i < WS_COST_KEPT && row->first + i < WS_COST_SIZES; i++)
		if (row->cost[i] != UNKNOWN)
		{
			quarter->known[row->first + i] = quarter->seconds;
			quarter->cost[row->first + i] = decode(row->cost[i]);
		}
}

/* The sizes of a row: those around the present one. */
static void
end_quarter(const WsCostQuarter *quarter, WsCostRow *row)
{
	int			present = (int) (log2(quarter->buffers / WS_COST_LEAST) * WS_COST_PER_OCTAVE);
	int			first = 0;

	while (first < WS_COST_SIZES - WS_COST_KEPT && first < present && quarter->known[first] == 0)
		first++;
	row->number = quarter->number;
	row->active = (float) quarter->active;
	row->waiting = (float) quarter->waiting;
	row->buffers = (float) quarter->buffers;
	row->reads = (float) quarter->reads;
	row->first = (uint8_t) first;
	row->tiers = quarter->tiers;
	for (int i = 0; i < WS_COST_KEPT; i++)
	{
		double		known = quarter->known[first + i];

		row->cost[i] = encode(known > 0 && known >= ENOUGH * quarter->seconds ?
							  quarter->cost[first + i] * quarter->seconds / known : NAN);
	}
}

void
ws_costs_add(WsCosts *costs, WsCostQuarter *quarter, int64_t time, const WsCostMoment *m)
{
	int64_t		number = time / WS_COST_QUARTER;
	WsCostRow  *row = &costs->quarters[number % WS_COST_QUARTERS];
	double		now;

	if (number < 1 || !(m->table->sure || is_idle(m)))
		return;
	if (quarter->number != number)
		begin_quarter(quarter, time, row, m);
	if (quarter->tiers && m->tiers == NULL && !is_idle(m))
		return;
	now = predict(m, m->buffers, quarter->tiers);
	if (isnan(now))
		return;
	quarter->active += m->active;
	quarter->waiting += m->waiting;
	quarter->buffers = m->buffers;
	quarter->reads += m->seconds * now;
	quarter->seconds += m->seconds;
	for (int i = 0; i < WS_COST_SIZES; i++)
	{
		double		cost = predict(m, ws_cost_buffers(i), quarter->tiers);

		if (isnan(cost))
			continue;
		quarter->known[i] += m->seconds;
		quarter->cost[i] += m->seconds * cost;
	}
	end_quarter(quarter, row);
}

const WsCostRow *
ws_cost_row(const WsCosts *costs, int64_t number)
{
	const WsCostRow *row;

	if (number < 1)
		return NULL;
	row = &costs->quarters[number % WS_COST_QUARTERS];
	return row->number == number ? row : NULL;
}

/* The largest size that is known, as an index of its costs, or 0. */
static int
last_known(const WsCostRow *row)
{
	int			last = WS_COST_KEPT - 1;

	while (last > 0 && row->cost[last] == UNKNOWN)
		last--;
	return last;
}

double
ws_cost_most(const WsCostRow *row)
{
	return ws_cost_buffers(row->first + last_known(row));
}

double
ws_cost_at(const WsCostRow *row, double buffers)
{
	double		at = log2(buffers / WS_COST_LEAST) * WS_COST_PER_OCTAVE - row->first;
	int			last = last_known(row);
	double		below;
	double		above;
	int			i;

	if (fabs(buffers / row->buffers - 1) < SAME_SIZE)
		return row->reads;
	if (!(at >= 0))
		return NAN;
	if (at >= last)
		return decode(row->cost[last]);
	i = (int) at;
	below = decode(row->cost[i]);
	above = decode(row->cost[i + 1]);
	return at > i ? below + (above - below) * (at - i) : below;
}

bool
ws_costs_came(const WsCosts *costs, int64_t now, double buffers, double *came, double *seconds)
{
	int64_t		last = now / WS_COST_QUARTER;
	int64_t		from = costs->promise.at / WS_COST_QUARTER + 1;
	int64_t		first = 0;
	double		active = 0;
	double		waiting = 0;

	if (costs->promise.at == 0 || fabs(buffers / costs->promise.buffers - 1) >= SAME_SIZE)
		return false;
	for (int64_t i = from > last - WS_COST_QUARTERS ? from : last - WS_COST_QUARTERS + 1; i <= last; i++)
	{
		const WsCostRow *row = ws_cost_row(costs, i);

		if (row == NULL || fabs(buffers / row->buffers - 1) >= SAME_SIZE)
			continue;
		first = first == 0 ? i : first;
		active += row->active;
		waiting += row->waiting;
	}
	*came = waiting / active;
	*seconds = (double) (last - first + 1) * WS_COST_QUARTER;
	return first > 0 && last - first < WS_COST_DAY && active > 0;
}

void
ws_costs_set_back(WsCosts *costs, int64_t now, int64_t seconds)
{
	static WsCostRow moving[WS_COST_QUARTERS];
	int64_t		by = seconds / WS_COST_QUARTER + (seconds % WS_COST_QUARTER >= WS_COST_QUARTER / 2);
	int			n = 0;

	for (int i = 0; i < WS_COST_QUARTERS && by > 0; i++)
		if (costs->quarters[i].number > now / WS_COST_QUARTER)
		{
			moving[n++] = costs->quarters[i];
			memset(&costs->quarters[i], 0, sizeof(WsCostRow));
		}
	for (int i = 0; i < n; i++)
	{
		WsCostRow  *place;

		moving[i].number -= by;
		if (moving[i].number < 1)
			continue;
		place = &costs->quarters[moving[i].number % WS_COST_QUARTERS];
		if (place->number < moving[i].number)
			*place = moving[i];
	}
	if (by > 0 && costs->promise.at > now)
		costs->promise.at = now > 0 ? now : 0;
}

void
ws_costs_merge(WsCosts *costs, const WsCosts *other, int64_t now)
{
	int64_t		last = now / WS_COST_QUARTER;

	if (other->promise.at > costs->promise.at)
		costs->promise = other->promise;
	for (int i = 0; i < WS_COST_QUARTERS; i++)
	{
		const WsCostRow *theirs = &other->quarters[i];
		WsCostRow  *ours = &costs->quarters[i];

		if (theirs->number > ours->number ? theirs->number <= last || ours->number == 0 :
			theirs->number == ours->number && theirs->active > ours->active)
			*ours = *theirs;
	}
}

const char *
ws_costs_check(const WsCosts *costs)
{
	const WsPromise *promise = &costs->promise;

	if (promise->at < 0 || !(promise->buffers >= 0 && promise->buffers < INFINITY &&
							 promise->share >= 0 && promise->share <= 1))
		return "what was promised is out of range";
	for (int i = 0; i < WS_COST_QUARTERS; i++)
	{
		const WsCostRow *row = &costs->quarters[i];

		if (row->number == 0)
			continue;
		if (row->number < 0 || row->number > INT64_MAX / WS_COST_QUARTER)
			return "the number of a quarter is out of range";
		if (row->number % WS_COST_QUARTERS != i)
			return "a quarter is not in its place";
		if (!(row->active >= 0 && row->waiting >= 0 && row->reads >= 0 && row->buffers > 0 &&
			  row->active < INFINITY && row->waiting < INFINITY && row->reads < INFINITY &&
			  row->buffers < INFINITY))
			return "a number of a quarter is out of range";
		if (row->first > WS_COST_SIZES - WS_COST_KEPT || row->tiers > 1)
			return "the sizes of a quarter are out of range";
	}
	return NULL;
}
