/*
 * hitcurve.c
 *		Sums of predictions; see hitcurve.h.
 */
#include "hitcurve.h"

#include <math.h>

#define FADES	(7 * 86400.0)	/* seconds until a prediction counts 1/e */
#define ENOUGH	0.9				/* of the lookups: the size is known */

double
ws_hit_curve_buffers(int size)
{
	double		octave = exp2(size / WS_HIT_CURVE_PER_OCTAVE);
	double		part = exp2(size % WS_HIT_CURVE_PER_OCTAVE / (double) WS_HIT_CURVE_PER_OCTAVE);

	return WS_HIT_CURVE_LEAST * octave * rint(part * WS_HIT_CURVE_PARTS) / WS_HIT_CURVE_PARTS;
}

void
ws_hit_curve_add(WsHitCurve *curve, const WsAdviceTable *table, double seconds)
{
	double		left = exp(-seconds / FADES);
	double		lookups = table->lookups * seconds / table->seconds;

	if (!table->sure || !(lookups > 0))
		return;
	curve->lookups = left * curve->lookups + lookups;
	for (int i = 0; i < WS_HIT_CURVE_SIZES; i++)
	{
		double		ratio = ws_advice_expect(table, ws_hit_curve_buffers(i));

		curve->known[i] = left * curve->known[i] + (isnan(ratio) ? 0 : lookups);
		curve->missed[i] = left * curve->missed[i] + (isnan(ratio) ? 0 : lookups * (1 - ratio));
	}
}

double
ws_hit_curve_ratio(const WsHitCurve *curve, int size)
{
	double		known = curve->known[size];

	return known > 0 && known >= ENOUGH * curve->lookups ? 1 - curve->missed[size] / known : NAN;
}
