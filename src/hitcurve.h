/*
 * hitcurve.h
 *		The hit ratio at each size of the cache, and the waits for the disk that
 *		are left with this machine's memory, over the last days.
 *
 * The cache advice is about the last five minutes, and its sizes are multiples
 * of the present one.  A setting of shared_buffers stays for weeks.  So the
 * predictions of each moment are added up here at fixed sizes, by how many
 * lookups they are about.  Older ones count less: those of a week ago, 1/e.
 * Moments at which the advice is not sure do not count.
 *
 * A size is known if the advice knew it for nine tenths of the lookups, and its
 * waits if they were sure for as many.  If the memory for both caches changes
 * by more than a quarter, or the waits of a read, these counts start over.
 */
#ifndef WS_HITCURVE_H
#define WS_HITCURVE_H

#include "advice.h"
#include "division.h"

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
	double		waits_each;		/* as of the tiers that these are for, */
	double		caches;			/* bytes of both, */
	double		lookups_then;	/* those with it, */
	double		checked[WS_HIT_CURVE_SIZES];	/* of which waits are known, */
	double		waited[WS_HIT_CURVE_SIZES]; /* and these */
} WsHitCurve;

/* Both caches of a machine, in bytes. */
typedef struct WsHitCurveMachine
{
	const WsTierTable *tiers;	/* NULL: not sure */
	double		memory;
	double		buffer;
} WsHitCurveMachine;

/* Add the predictions of a moment, which stand for so many seconds. */
extern void ws_hit_curve_add(WsHitCurve *curve, const WsAdviceTable *table,
							 const WsHitCurveMachine *machine, double seconds);

/* Buffers of a size, ascending with its number. */
extern double ws_hit_curve_buffers(int size);

/* Its hit ratio; NaN: not known. */
extern double ws_hit_curve_ratio(const WsHitCurve *curve, int size);

/* Its waits for each lookup; NaN: not known. */
extern double ws_hit_curve_waits(const WsHitCurve *curve, int size);

#endif							/* WS_HITCURVE_H */
