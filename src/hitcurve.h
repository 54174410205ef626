/*
 * hitcurve.h
 *		The hit ratio at each size of the cache, over the last days.
 *
 * The cache advice is about the last five minutes, and its sizes are multiples
 * of the present one.  A setting of shared_buffers stays for weeks.  So the
 * predictions of each moment are added up here at fixed sizes, by how many
 * lookups they are about.  Older ones count less: those of a week ago, 1/e.
 * Moments at which the advice is not sure do not count.
 *
 * A size is known if the advice knew it for nine tenths of the lookups.
 */
#ifndef WS_HITCURVE_H
#define WS_HITCURVE_H

#include "advice.h"

#define WS_HIT_CURVE_PER_OCTAVE 16
#define WS_HIT_CURVE_PARTS	64	/* sizes are whole parts of an octave's least */
#define WS_HIT_CURVE_LEAST	16	/* buffers of the smallest size */
#define WS_HIT_CURVE_SIZES	(27 * WS_HIT_CURVE_PER_OCTAVE)

/* All zeros: nothing was added yet. */
typedef struct WsHitCurve
{
	double		lookups;
	double		known[WS_HIT_CURVE_SIZES];	/* of them, at each size, */
	double		missed[WS_HIT_CURVE_SIZES]; /* and of these */
} WsHitCurve;

/* Add the predictions of a moment, which stand for so many seconds. */
extern void ws_hit_curve_add(WsHitCurve *curve, const WsAdviceTable *table, double seconds);

/* Buffers of a size, ascending with its number. */
extern double ws_hit_curve_buffers(int size);

/* Its hit ratio; NaN: not known. */
extern double ws_hit_curve_ratio(const WsHitCurve *curve, int size);

#endif							/* WS_HITCURVE_H */
