/*
 * advisor.h
 *		The worker's other half: it reads the stream of events, keeps the sample
 *		table, runs the miniature sweeps, and advises.
 *
 * All of it happens in the worker, and all but the table in its own memory.
 */
#ifndef WS_ADVISOR_H
#define WS_ADVISOR_H

#include "shmem.h"

/* Begin, with what the table holds; and begin anew, with nothing. */
extern void ws_advisor_begin(void);
extern void ws_advisor_begin_anew(void);

/* Take no more samples. */
extern void ws_advisor_end(void);

/*
 * To be called at every tick: reads the stream once a second, when it fills,
 * or when a step of the life table is due.
 */
extern void ws_advisor_tick(void);

/* Read what there is, whether it is time or not. */
extern void ws_advisor_catch_up(void);

/*
 * Advise, and say what hit ratio to expect with the recommended number of
 * pages; NaN: there is none.
 */
extern void ws_advisor_advise(double recommended, WsPublishedAdvice *a);

#endif							/* WS_ADVISOR_H */
