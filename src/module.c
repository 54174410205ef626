/*
 * module.c
 *		The order of set-up.
 *
 * When the library is preloaded, settings come first, then shared memory, the
 * probe and the worker.  When a session loads it, nothing is set up, and the
 * functions report what is missing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"

#include "compat.h"
#include "guc.h"
#include "lookup.h"
#include "probe.h"
#include "setup.h"
#include "shared.h"
#include "worker.h"

PG_MODULE_MAGIC_EXT(.name = "working_set", .version = WS_VERSION);

PGDLLEXPORT void _PG_init(void);

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
request(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	ws_setup_request();
}

/*
 * Run a step of the server's start; true if it succeeds.  An error would end
 * the postmaster, so it becomes the reason why nothing is tracked.  The setting
 * exit_on_error, meant for sessions, would make it fatal, so it is off here.
 */
static bool
succeeds(void (*step) (void))
{
	MemoryContext context = CurrentMemoryContext;
	bool		exit_on_error = ExitOnAnyError;
	volatile bool done = false;

	ExitOnAnyError = false;
	PG_TRY();
	{
		step();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();		/* 19 keeps its own until exit */
		strlcpy(ws_refusal, error->message, sizeof(ws_refusal));
		FreeErrorData(error);
	}
	PG_END_TRY();
	ExitOnAnyError = exit_on_error;
	return done;
}

static void
startup(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	ws_shared = NULL;
	if (succeeds(ws_setup_startup) && succeeds(ws_probe_attach))
		ws_probe_switch(ws_enabled);
	else
	{
		ws_probe_detach();
		ws_setup_report_refusal();
	}
}

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

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;

	ws_guc_define(assign_enabled);
	ws_setup_expect();

	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;

	RegisterXactCallback(transaction_event, NULL);
	ws_worker_register();
}
