/*
 * probe.h
 *		Seeing every lookup of a page in shared buffers.
 *
 * The probe is the only room that knows how the buffer manager finds a page.
 * It records into the sketches of shared.h and counts.  When anything about
 * the server is not exactly what it expects, it stays off and says why in
 * WsShared.refusal; it never raises an error.
 */
#ifndef WS_PROBE_H
#define WS_PROBE_H

#include "sampler.h"

/*
 * Find the server's buffer lookup table, verify it, and start to record.  To
 * be called in the postmaster (or a single-user backend) after
 * ws_setup_startup(), each time that shared memory is made.
 */
extern void ws_probe_attach(void);

/*
 * Record lookups in this process, and in those it forks, or leave them
 * alone.  Anytime, also before ws_probe_attach().
 */
extern void ws_probe_switch(bool on);

/*
 * A transaction of this process has ended: see ws_lookup_pause().
 */
extern void ws_probe_end_transaction(void);

/*
 * The lookups of this process are of no interest.  For our own worker.
 */
extern void ws_probe_ignore_self(void);

/*
 * Bring the shared counters up to date with this process.
 */
extern void ws_probe_flush_counters(void);

/*
 * Pages that are in shared buffers now; 0 when not attached.
 */
extern int64 ws_probe_entries(void);

/*
 * Find out which of these pages are in shared buffers now, and set the bits;
 * returns how many.  hash is that of the page's entry.  For each page the lock
 * of its partition is taken, shared, for the time of a lookup, which is not
 * recorded.
 */
extern int	ws_probe_resident(const WsSample *pages, int n, bool *resident);

/* The hash of a page, as the buffer lookup table has it. */
extern uint32 ws_probe_hash(const WsPageId *page);

#endif							/* WS_PROBE_H */
