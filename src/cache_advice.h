/*
 * cache_advice.h
 *		The worker's part that reads the stream of events, keeps the sample
 *		table, runs the miniature sweeps, and predicts hit ratios from them.
 *
 * All of it but the table is in the worker's own memory.
 */
#ifndef WS_CACHE_ADVICE_H
#define WS_CACHE_ADVICE_H

#include "published.h"

/* Start with what the table holds, or start over with an empty table. */
extern void ws_cache_advice_begin(void);
extern void ws_cache_advice_restart(void);

/* Take no more samples. */
extern void ws_cache_advice_end(void);

/*
 * To be called at every tick: reads the stream once a second, when it fills,
 * or when a step of the life table is due.
 */
extern void ws_cache_advice_tick(void);

/* Read what the stream holds, whether a read is due or not. */
extern void ws_cache_advice_drain(void);

/*
 * Make the advice, and the hit ratio to expect with the recommended number of
 * pages (NaN: there is no recommendation).
 */
extern void ws_cache_advice_make(double recommended, WsPublishedAdvice *a);

#endif							/* WS_CACHE_ADVICE_H */
