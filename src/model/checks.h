/*
 * checks.h
 *		Were the predictions right?
 *
 * Every ten minutes the prediction for all sizes is kept.  An hour later the
 * measured hit ratio is compared with what was predicted for the size that the
 * server has by then: was it off by more than the stated error?  So a changed
 * shared_buffers is checked, too: the predictions survive the restart.
 *
 * A prediction belongs to a period of ten minutes of the wall clock.  Its place
 * is that period's number modulo the number of places, as in history.h.  One
 * process writes.
 */
#ifndef WS_CHECKS_H
#define WS_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "advice.h"

#define WS_CHECK_SECONDS	600 /* of a period */
#define WS_CHECK_AHEAD	6		/* periods until a prediction is checked */
#define WS_CHECK_DAY		144 /* periods that count */

/* A size of the grid; the ratio is NaN where there is a doubt. */
typedef struct WsCheckPoint
{
	float		buffers;
	float		hit_ratio;
	float		error;
} WsCheckPoint;

typedef struct WsCheck
{
	uint64_t	period;			/* its number since 1970; 0: none */
	WsCheckPoint points[WS_SWEEP_GRID];
} WsCheck;

typedef struct WsChecks
{
	WsCheck		made[WS_CHECK_AHEAD + 1];
	/* twice the period's number, and one more if the prediction was right */
	uint64_t	outcomes[WS_CHECK_DAY];
} WsChecks;

/*
 * Keep the prediction of this time, in seconds since 1970, and check the one
 * of an hour ago by the hit ratio that was measured with so many buffers.  Only
 * the first call in a period counts.
 */
extern void ws_checks_keep(WsChecks *checks, int64_t now, const WsAdviceTable *table);
extern void ws_checks_compare(WsChecks *checks, int64_t now, double buffers,
							  double hit_ratio);

/* The predictions that were checked in the last day, and those right. */
extern void ws_checks_count(const WsChecks *checks, int64_t now, int *checked, int *right);

/* Add what others know up to now: in each place the younger stays. */
extern void ws_checks_merge(WsChecks *checks, const WsChecks *other, int64_t now);

#endif							/* WS_CHECKS_H */
