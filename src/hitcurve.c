/*
 * hitcurve.c
 *		Sums of predictions; see hitcurve.h.
 */
#include "hitcurve.h"

#include <math.h>
#include <string.h>

#define FADES	(7 * 86400.0)	/* seconds until a prediction counts 1/e */
#define ENOUGH	0.9				/* of the lookups: the size is known */
#define SAME_CACHES	0.25		/* in the logarithm */

double
ws_hit_curve_buffers(int size)
{
	double		octave = exp2(size / WS_HIT_CURVE_PER_OCTAVE);
	double		part = exp2(size % WS_HIT_CURVE_PER_OCTAVE / (double) WS_HIT_CURVE_PER_OCTAVE);

	return WS_HIT_CURVE_LEAST * octave * rint(part * WS_HIT_CURVE_PARTS) / WS_HIT_CURVE_PARTS;
}

/* Waits for each lookup with so many bytes of shared buffers; NaN: not sure. */
static double
waits_at(const WsHitCurveMachine *machine, double bytes)
{
	const WsTierTable *tiers = machine->tiers;
	WsPair		pair;

	if (tiers == NULL ||
		!ws_division_predict(tiers, bytes, ws_division_left(tiers, machine->memory, bytes), &pair) ||
		pair.error > WS_DIVISION_TOLERANCE)
		return NAN;
	return pair.waits / tiers->lookups;
}

/* Add lookups to those of which a share is known. */
static void
add_share(double *known, double *sum, double left, double lookups, double share)
{
	*known = left * *known + (isnan(share) ? 0 : lookups);
	*sum = left * *sum + (isnan(share) ? 0 : lookups * share);
}

/* Waits start over if these caches differ from what was added up. */
static void
heed_machine(WsHitCurve *curve, const WsTierTable *tiers, double caches)
{
	if (!(caches > 0) || (fabs(log(caches / curve->caches)) <= SAME_CACHES &&
						  tiers->waits_each == curve->waits_each))
		return;
	curve->caches = caches;
	curve->waits_each = tiers->waits_each;
	curve->lookups_then = 0;
	memset(curve->checked, 0, sizeof(curve->checked));
	memset(curve->waited, 0, sizeof(curve->waited));
}

void
ws_hit_curve_add(WsHitCurve *curve, const WsAdviceTable *table, const WsHitCurveMachine *machine,
				 double seconds)
{
	double		left = exp(-seconds / FADES);
	double		lookups = table->lookups * seconds / table->seconds;

	if (!table->sure || !(lookups > 0))
		return;
	if (machine->tiers)
		heed_machine(curve, machine->tiers, machine->memory - machine->tiers->other);
	curve->lookups = left * curve->lookups + lookups;
	curve->lookups_then = left * curve->lookups_then + lookups;
	for (int i = 0; i < WS_HIT_CURVE_SIZES; i++)
	{
		double		buffers = ws_hit_curve_buffers(i);

		add_share(&curve->known[i], &curve->missed[i], left, lookups,
				  1 - ws_advice_expect(table, buffers));
		add_share(&curve->checked[i], &curve->waited[i], left, lookups,
				  waits_at(machine, buffers * machine->buffer));
	}
}

static double
share_of(double lookups, double known, double sum)
{
	return known > 0 && known >= ENOUGH * lookups ? sum / known : NAN;
}

double
ws_hit_curve_ratio(const WsHitCurve *curve, int size)
{
	return 1 - share_of(curve->lookups, curve->known[size], curve->missed[size]);
}

double
ws_hit_curve_waits(const WsHitCurve *curve, int size)
{
	return share_of(curve->lookups_then, curve->checked[size], curve->waited[size]);
}
