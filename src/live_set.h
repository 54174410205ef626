/*
 * live_set.h
 *		The worker's life table of the sampled pages (life.h).
 */
#ifndef WS_LIVE_SET_H
#define WS_LIVE_SET_H

#include "heuristic.h"

/*
 * Take a step if it is due; called at every tick.  The worker reads the stream
 * just before, or the sketch has pages that the sample has not.
 */
extern void ws_live_set_tick(void);

/* Is a step due? */
extern bool ws_live_set_due(void);

/* An entry of the sample table holds another page from now on, or none. */
extern void ws_live_set_forget(uint32 entry);

/*
 * What the heuristic live_set gives, and in *projected where that is going a
 * minute from now (a fifteenth of working_set.break_even).  .known is false
 * where it gives nothing: in the first minute, and without a sample.
 */
extern WsLive ws_live_set_get(double *projected);

#endif							/* WS_LIVE_SET_H */
