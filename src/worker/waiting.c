/*
 * waiting.c
 *		Who waits for a read; see waiting.h.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include "counters.h"
#include "waiting.h"

#define LOOK_MS			1000	/* from one look to the next */
#define FADES_MS		900000.0	/* sums fall to 1/e in that time */
#define LONG_AGO_MS		60000	/* the last look: what was then says nothing */
#define LEAST_SEEN		30
#define WAIT_CLASS		0xFF000000	/* of a wait event */

/* Sums that fade. */
typedef struct Sums
{
	double		seen;			/* looks at which a client waited */
	double		waited;			/* clients waiting, times the ms from the look
								 * before; */
	double		reads;			/* of clients, counted meanwhile */
	uint64		counted;		/* reads at the last look, */
	int64		looked_at;		/* and when that was */
	int64		since;			/* value of WsShared.since then */
} Sums;

/* What one look found. */
typedef struct Look
{
	int			waiting;		/* for a read, for a client or in redo */
	int			clients_waiting;	/* of those that are active: */
	int			active;
} Look;

static Sums sums;
static double active_ms;		/* since they were taken */
static double waiting_ms;

static Look
look(void)
{
	Look		found = {0};

	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		/* no lock: as in pg_stat_activity, each figure is of some moment */
		const volatile PGPROC *proc = &ProcGlobal->allProcs[i];

		uint32		event = proc->wait_event_info;
		uint32		class = event & WAIT_CLASS;
		bool		waits;

		if (proc->pid == 0 || (proc->statusFlags & WS_MAINTENANCE_FLAGS))
			continue;
		waits = ws_waits_for_read((int) i, event);
		found.waiting += waits;
		if (class == PG_WAIT_CLIENT || class == PG_WAIT_ACTIVITY || !ws_works_for_client(proc) || !ws_in_transaction(proc))
			continue;
		found.active++;
		found.clients_waiting += waits;
	}
	return found;
}

void
ws_waiting_tick(bool woken)
{
	int64		now = ws_shared_clock_ms();
	int64		passed = now - sums.looked_at;
	WsCounters	c;
	int64		since;

	if (passed >= 0 && passed < LOOK_MS)
		return;
	since = ws_counters_read(&c, 0, NULL);
	if (sums.since != since)
		memset(&sums, 0, sizeof(sums));
	else if (!woken && passed >= 0 && passed <= LONG_AGO_MS)
	{
		double		left = exp(-passed / FADES_MS);
		Look		found = look();

		active_ms += (double) found.active * passed;
		waiting_ms += (double) found.clients_waiting * passed;
		sums.seen = left * sums.seen + (found.waiting > 0);
		sums.waited = left * sums.waited + (double) found.waiting * passed;
		sums.reads = left * sums.reads + ((double) c.reads[WS_CLIENT] - sums.counted);
	}
	sums.counted = c.reads[WS_CLIENT];
	sums.looked_at = now;
	sums.since = since;
}

double
ws_waiting_read_ms(void)
{
	return sums.seen >= LEAST_SEEN && sums.reads > 0 ? sums.waited / sums.reads : NAN;
}

void
ws_waiting_take(double *active, double *waiting)
{
	*active = active_ms / 1000;
	*waiting = waiting_ms / 1000;
	active_ms = waiting_ms = 0;
}
