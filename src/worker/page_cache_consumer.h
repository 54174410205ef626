/*
 * page_cache_consumer.h
 *		The worker's part that simulates the kernel's page cache behind the
 *		sweeps, measures what the server really reads from disk, and predicts
 *		what other sizes of both caches would.
 *
 * The counts are of the last five to six minutes, those of the sweeps and up to
 * a minute more.
 */
#ifndef WS_PAGE_CACHE_CONSUMER_H
#define WS_PAGE_CACHE_CONSUMER_H

#include "consumer.h"

/* The size that is followed has jumped (twotier.h). */
extern void ws_page_cache_consumer_jump(void);

#endif							/* WS_PAGE_CACHE_CONSUMER_H */
