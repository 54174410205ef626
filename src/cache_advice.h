/*
 * cache_advice.h
 *		The worker's part that reads the sample events, keeps the sample table,
 *		runs the miniature sweeps and predicts hit ratios from them.  Without a
 *		sample it counts lookups only.
 */
#ifndef WS_CACHE_ADVICE_H
#define WS_CACHE_ADVICE_H

#include "published.h"

/* Start or start over, with the pages of the table or with an empty one. */
extern void ws_cache_advice_begin(bool empty);

extern void ws_cache_advice_end(void);

/*
 * Read the events: at every tick, if a read is due (once a second, when the
 * stream fills, or for a step of the life table), or at once.
 */
extern void ws_cache_advice_tick(void);
extern void ws_cache_advice_drain(void);

/* Make the advice.  Nothing is added if the counts are from before p->since. */
extern void ws_cache_advice_make(WsPublished *p);

/* From now on simulate so many buffers, too; 0: as before. */
extern void ws_cache_advice_follow(double buffers);

#endif							/* WS_CACHE_ADVICE_H */
