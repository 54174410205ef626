/*
 * life_consumer.h
 *		The worker's life table of the sampled pages (life.h).  There is none
 *		without a sample.
 */
#ifndef WS_LIFE_CONSUMER_H
#define WS_LIFE_CONSUMER_H

#include "heuristic.h"

/*
 * Take a step if it is due; at every tick, after the events were read, or else
 * the sample lacks pages that the sketch has.
 */
extern void ws_life_consumer_tick(void);
extern bool ws_life_consumer_due(void);

/* Pages are gone; do they still count, until the next step? */
extern void ws_life_consumer_died(void);
extern bool ws_life_consumer_counts_dead(void);

/* So many steps were taken. */
extern uint32 ws_life_consumer_steps(void);

/*
 * The answer of live_set at the last step, with a projection for a minute from
 * now, or a fifteenth of a shorter working_set.break_even.  It is about so many
 * seconds: working_set.break_even, or less after that was raised, since older
 * pages are not sampled.  At first and without a sample .known is false.
 */
extern WsLive ws_life_consumer_get(int *seconds);

#endif							/* WS_LIFE_CONSUMER_H */
