/*
 * sample_without.h
 *		The worker's part that simulates the cache without one of its users
 *		(without.h): the queries, roles, applications and relations that use the
 *		most pages.
 *
 * To be called where pages are sampled.
 */
#ifndef WS_SAMPLE_WITHOUT_H
#define WS_SAMPLE_WITHOUT_H

#include "published.h"
#include "scans.h"

/* Begin, or start over. */
extern void ws_sample_without_begin(void);

/* A sampled page is accessed, as the sweeps see it; counted: by a client. */
extern void ws_sample_without_access(const WsEvent *event, const WsAccess *access, uint32 hash,
									 bool counted);

/* The entry of the sample table may be another page's next time. */
extern void ws_sample_without_forget(uint32 entry);

/* What is due once a second: pages of strata from shift are simulated. */
extern void ws_sample_without_care(WsScans *scans, uint32 shift);

/* Add what is known to p, unless that is about another period. */
extern void ws_sample_without_make(WsPublished *p);

#endif							/* WS_SAMPLE_WITHOUT_H */
