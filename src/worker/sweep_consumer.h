/*
 * sweep_consumer.h
 *		The worker's miniature caches (sweep.h), and the hit ratios that follow
 *		from them (advice.h).  Without a sample only lookups are counted.
 */
#ifndef WS_SWEEP_CONSUMER_H
#define WS_SWEEP_CONSUMER_H

#include "consumer.h"
#include "damping.h"

/* Strata below this are not sampled any more. */
extern void ws_sweep_consumer_thin(uint32 shift);

/* Simulate strata no more that do not last. */
extern void ws_sweep_consumer_remove_brief(void);

/* What hits to report, after so many seconds; often: see sweep.h. */
extern WsDamping ws_sweep_consumer_damping(double seconds, bool often);

/* From now on simulate so many buffers, too; 0: as before. */
extern void ws_sweep_consumer_follow(double buffers);

#endif							/* WS_SWEEP_CONSUMER_H */
