/*
 * gauge.h
 *		What the clients' sketch says, as the worker needs it.
 */
#ifndef WS_GAUGE_H
#define WS_GAUGE_H

#include "curve.h"
#include "reuse.h"

/* Distinct pages that clients used in the last ticks. */
extern WsEstimate ws_gauge_window(uint32 ticks);

/* Take in the present curve. */
extern void ws_gauge_denning(WsDenning *denning);

#endif							/* WS_GAUGE_H */
