/*
 * probe.h
 *		What the probe knows of shared buffers and their lookup table.
 *
 * What knows the buffer manager, and has these functions, is src/path
 * (attach.c), which those who ask may not include.
 */
#ifndef WS_PROBE_H
#define WS_PROBE_H

#include "sampler.h"

/* Number of pages in shared buffers now; 0 when not attached. */
extern int64 ws_probe_entries(void);

/*
 * Find out which pages are in shared buffers now; returns how many.  It takes
 * the lock of each page's partition, shared, for a lookup that is not recorded.
 * Which are dirty, unless NULL, is read without a lock.
 */
extern int	ws_probe_resident(const WsSample *pages, int n, bool *resident, bool *dirty);

/*
 * How many uses of a page this server counts at most: that of its headers, or
 * what ws_probe_resident() saw, where it looked for dirty pages, if that is
 * more.
 */
extern int	ws_probe_usage_max(void);

/* The hash of a page, as the buffer lookup table has it. */
extern uint32 ws_probe_hash(const WsPageId *page);

/* Never record the lookups of this process.  For the worker. */
extern void ws_probe_ignore_self(void);

/* Bring the shared counters up to date with this process. */
extern void ws_probe_flush_counters(void);

#endif							/* WS_PROBE_H */
