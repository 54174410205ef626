/*
 * liveset.h
 *		The worker keeps the life table: of the sampled pages, or, without a
 *		sample, of the clients' sketch's cells.
 */
#ifndef WS_LIVESET_H
#define WS_LIVESET_H

#include "heuristic.h"

/*
 * To be called at every tick: takes a step if it is due.  The stream should
 * have been read just before, or the sketch knows pages that the sample does
 * not.
 */
extern void ws_liveset_tick(void);

/* Will it? */
extern bool ws_liveset_due(void);

/* An entry of the sample table is another page from now on, or none. */
extern void ws_liveset_forget(uint32 entry);

/*
 * What live_set says, and where that is going a minute from now (a fifteenth
 * of working_set.break_even).  .known is false where it cannot say.
 */
extern WsLive ws_liveset_get(double *projected);

#endif							/* WS_LIVESET_H */
