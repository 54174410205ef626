/*
 * module.c
 *		What happens when the server loads the library.
 *
 * When the library is preloaded, settings come first, then shared memory with
 * the probe, then the worker.  When a session loads it, nothing is set up, and
 * the functions report what is missing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"

#include "compat.h"
#include "guc.h"
#include "lookup.h"
#include "probe.h"
#include "setup.h"

PG_MODULE_MAGIC_EXT(.name = "working_set", .version = WS_VERSION);

PGDLLEXPORT void _PG_init(void);

/* Make the system calls that are due, as the buffer path must not. */
static void
transaction_event(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PARALLEL_PRE_COMMIT &&
		event != XACT_EVENT_PRE_PREPARE)
		ws_lookup_end_transaction();
}

static void
assign_enabled(bool newval, void *extra)
{
	ws_probe_switch(newval);
}

static void
register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_name = "working_set",
		.bgw_type = "working_set",
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = 5,	/* seconds */
		.bgw_library_name = "working_set",
		.bgw_function_name = "ws_worker_main"
	};

	RegisterBackgroundWorker(&worker);
	/* the server's own message does not name the worker that has no place */
	if (!ws_worker_has_place(worker.bgw_name))
		ereport(LOG,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("working_set has no place for its background worker"),
				 errdetail("Lookups are counted, but nothing is recommended, sampled or saved."),
				 errhint("Increase \"max_worker_processes\" and restart the server.")));
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;

	ws_guc_define(assign_enabled);
	ws_setup_prepare();
	RegisterXactCallback(transaction_event, NULL);
	register_worker();
}
