/*
 * probe.h
 *		Seeing every lookup of a page in shared buffers.
 *
 * The probe attaches lookup.c to the server's buffer lookup table, or refuses a
 * server that differs from what it expects.  It, lookup.c, sample_events.c and
 * buftable.c alone know how the buffer manager finds a page.
 */
#ifndef WS_PROBE_H
#define WS_PROBE_H

#include "sampler.h"

/*
 * Find the server's buffer lookup table, verify it, and start to record.  For
 * the postmaster (or a single-user backend), each time that shared memory was
 * made.  A refusal is an error; the caller then detaches.
 */
extern void ws_probe_attach(void);
extern void ws_probe_detach(void);

/* Start or stop to record lookups in this process and those that it forks. */
extern void ws_probe_switch(bool on);

/* Never record the lookups of this process.  For the worker. */
extern void ws_probe_ignore_self(void);

/* Bring the shared counters up to date with this process. */
extern void ws_probe_flush_counters(void);

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

#endif							/* WS_PROBE_H */
