/*
 * probe.h
 *		What the probe knows of shared buffers and their lookup table.
 *
 * All who ask are above it, and what knows the buffer manager is the path of a
 * lookup (attach.h), which puts its functions here when the library is loaded.
 */
#ifndef WS_PROBE_H
#define WS_PROBE_H

#include "sampler.h"

typedef struct WsProbe
{
	/* Number of pages in shared buffers now; 0 when not attached. */
	int64		(*entries) (void);

	/*
	 * Find out which pages are in shared buffers now; returns how many.  It
	 * takes the lock of each page's partition, shared, for a lookup that is
	 * not recorded.  Which are dirty, unless NULL, is read without a lock.
	 */
	int			(*resident) (const WsSample *pages, int n, bool *resident, bool *dirty);

	/*
	 * How many uses of a page this server counts at most: that of its
	 * headers, or what resident() saw, where it looked for dirty pages, if
	 * that is more.
	 */
	int			(*usage_max) (void);

	/* The hash of a page, as the buffer lookup table has it. */
	uint32		(*hash) (const WsPageId *page);

	/* Never record the lookups of this process.  For the worker. */
	void		(*ignore_self) (void);

	/* Bring the shared counters up to date with this process. */
	void		(*flush_counters) (void);
} WsProbe;

/* Set when the library is loaded. */
extern WsProbe ws_probe;

#endif							/* WS_PROBE_H */
