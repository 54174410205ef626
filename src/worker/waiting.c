/*
 * waiting.c
 *		Who waits for a read; see waiting.h.
 */
#include "postgres.h"

#include "compat.h"
#include "counters.h"
#include "shared.h"
#include "waiting.h"

#define LOOK_MS			1000	/* from one look to the next */
#define LONG_AGO_MS		60000	/* the last look: what was then says nothing */
#define WAIT_CLASS		0xFF000000	/* of a wait event */

static int64 looked_at;
static double active_ms;		/* since they were taken */
static double waiting_ms;

/* Look at all processes, for so many ms. */
static void
look(int64 ms)
{
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
	{
		/* no lock: as in pg_stat_activity, each figure is of some moment */
		const volatile PGPROC *proc = &ProcGlobal->allProcs[i];

		uint32		event = proc->wait_event_info;
		uint32		class = event & WAIT_CLASS;

		if (proc->pid == 0 || (proc->statusFlags & WS_MAINTENANCE_FLAGS) ||
			class == PG_WAIT_CLIENT || class == PG_WAIT_ACTIVITY || !ws_works_for_client(proc) || !ws_in_transaction(proc))
			continue;
		active_ms += (double) ms;
		if (ws_waits_for_read((int) i, event))
			waiting_ms += (double) ms;
	}
}

void
ws_waiting_tick(bool woken)
{
	int64		now = ws_shared_clock_ms();
	int64		passed = now - looked_at;

	if (passed >= 0 && passed < LOOK_MS)
		return;
	if (!woken && passed >= 0 && passed <= LONG_AGO_MS)
		look(passed);
	looked_at = now;
}

void
ws_waiting_take(double *active, double *waiting)
{
	*active = active_ms / 1000;
	*waiting = waiting_ms / 1000;
	active_ms = waiting_ms = 0;
}
