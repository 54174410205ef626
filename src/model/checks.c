/*
 * checks.c
 *		Were the predictions right?  See checks.h.
 *
 * Anything may be in memory that was loaded: no number of it is an index.
 */
#include "checks.h"

#include <math.h>

/* The number of the period; the first is 1. */
static uint64_t
period_of(int64_t now)
{
	return now < WS_CHECK_SECONDS ? 1 : (uint64_t) now / WS_CHECK_SECONDS;
}

void
ws_checks_keep(WsChecks *checks, int64_t now, const WsAdviceTable *table)
{
	uint64_t	period = period_of(now);
	WsCheck    *made = &checks->made[period % (WS_CHECK_AHEAD + 1)];

	if (made->period == period || !table->sure)
		return;
	made->period = period;
	for (int i = 0; i < WS_SWEEP_GRID; i++)
	{
		const WsAdvice *row = &table->rows[i];
		bool		known = !isnan(row->error) && ws_advice_row_doubt(table, row) == NULL;

		made->points[i].buffers = (float) row->buffers;
		made->points[i].hit_ratio = known ? (float) row->hit_ratio : NAN;
		made->points[i].error = known ? (float) row->error : NAN;
	}
}

/* Right for so many buffers?  Between two sizes, by both.  -1: not known. */
static int
was_right(const WsCheck *made, double buffers, double hit_ratio)
{
	for (int i = 0; i + 1 < WS_SWEEP_GRID; i++)
	{
		const WsCheckPoint *a = &made->points[i];
		const WsCheckPoint *b = &made->points[i + 1];
		double		part;
		double		off;

		if (!(a->buffers <= buffers && buffers <= b->buffers && a->buffers < b->buffers))
			continue;
		part = (buffers - a->buffers) / (b->buffers - a->buffers);
		off = hit_ratio - (a->hit_ratio + part * (b->hit_ratio - a->hit_ratio));
		if (!isnan(off))
			return fabs(off) <= a->error + part * (b->error - a->error);
	}
	return -1;
}

void
ws_checks_compare(WsChecks *checks, int64_t now, double buffers, double hit_ratio)
{
	uint64_t	period = period_of(now);
	WsCheck    *made = &checks->made[(period + 1) % (WS_CHECK_AHEAD + 1)];
	uint64_t   *outcome = &checks->outcomes[period % WS_CHECK_DAY];
	int			is;

	if (made->period + WS_CHECK_AHEAD != period || *outcome / 2 == period)
		return;
	is = was_right(made, buffers, hit_ratio);
	if (is >= 0)
		*outcome = 2 * period + (uint64_t) is;
}

void
ws_checks_count(const WsChecks *checks, int64_t now, int *checked, int *right)
{
	uint64_t	period = period_of(now);

	*checked = *right = 0;
	for (int i = 0; i < WS_CHECK_DAY; i++)
	{
		uint64_t	of = checks->outcomes[i] / 2;

		if (of == 0 || of > period || period - of >= WS_CHECK_DAY)
			continue;
		(*checked)++;
		*right += checks->outcomes[i] % 2;
	}
}

void
ws_checks_merge(WsChecks *checks, const WsChecks *other, int64_t now)
{
	uint64_t	last = period_of(now);

	for (int i = 0; i <= WS_CHECK_AHEAD; i++)
		if (other->made[i].period > checks->made[i].period && other->made[i].period <= last)
			checks->made[i] = other->made[i];
	for (int i = 0; i < WS_CHECK_DAY; i++)
		if (other->outcomes[i] > checks->outcomes[i] && other->outcomes[i] / 2 <= last)
			checks->outcomes[i] = other->outcomes[i];
}
