/*
 * recommender.h
 *		The worker's recommendation: from the sketches, the sample, the history
 *		and the memory limit to one row, which is published.
 */
#ifndef WS_RECOMMENDER_H
#define WS_RECOMMENDER_H

extern void ws_recommender_publish(void);

#endif							/* WS_RECOMMENDER_H */
