/*
 * sample_origins.h
 *		The worker's attribution of sampled pages to origins (attribution.h).
 *
 * To be called where pages are sampled.
 */
#ifndef WS_SAMPLE_ORIGINS_H
#define WS_SAMPLE_ORIGINS_H

#include "sampler.h"
#include "stream.h"

/* Begin, with an empty table if data start over. */
extern void ws_sample_origins_begin(bool empty);

/* Attribute an event, with sample_lock held. */
extern void ws_sample_origins_use(const WsEvent *event, uint32 hash);

/* What is due once a second. */
extern void ws_sample_origins_care(void);

#endif							/* WS_SAMPLE_ORIGINS_H */
