/*
 * recommender.h
 *		The worker's conclusion: from curve, life table, history and memory to
 *		one row, which it publishes.
 */
#ifndef WS_RECOMMENDER_H
#define WS_RECOMMENDER_H

/* Recommend, advise, remember, publish. */
extern void ws_recommender_publish(void);

#endif							/* WS_RECOMMENDER_H */
