/*
 * working_set.c
 *		The library's entry point: hooks, and the background worker's
 *		registration.
 *
 * When the library is preloaded, settings come first, then shared memory with
 * the probe, then the worker.  When a session loads it, nothing is set up, and
 * the functions report what is missing.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "attach.h"
#include "compat.h"
#include "guc.h"
#include "lookup.h"
#include "process_origin.h"
#include "setup.h"
#include "shared.h"

#define NAME "working_set"
#define REPLACED(hook) "a library that is preloaded after working_set replaces " hook ", and does not call what was there before"

PG_MODULE_MAGIC_EXT(.name = "working_set", .version = WS_VERSION);

PGDLLEXPORT void _PG_init(void);

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static bool requested = false;	/* did the server call request()? */

static void
request(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	requested = true;
	RequestAddinShmemSpace(ws_setup_size(ws_sample_pages > 0));
	RequestNamedLWLockTranche(NAME, WS_NLOCKS);
}

static void
make_memory(void)
{
	bool		sample = ws_sample_pages > 0;
	char	   *memory;
	bool		found;

	if (!requested)
		ereport(ERROR, (errmsg_internal(REPLACED("shmem_request_hook"))));

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	memory = ShmemInitStruct(NAME, ws_setup_size(sample), &found);
	if (found)
		ws_setup_use(memory);
	else
		ws_setup_init(memory, GetNamedLWLockTranche(NAME), sample);
	LWLockRelease(AddinShmemInitLock);
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
		/* databases of any encoding show it */
		for (char *c = ws_refusal; *c != '\0'; c++)
			if (*c < ' ' || *c > '~')
				*c = '?';
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

	ws_setup_begin();
	if (succeeds(make_memory) && succeeds(ws_attach))
		ws_attach_record(ws_enabled);
	else
	{
		ws_detach();
		ws_setup_report_refusal();
	}
}

static void
assign_enabled(bool newval, void *extra)
{
	/* a parallel worker inherits the state, and restores settings only */
	if (!InitializingParallelWorker)
		ws_attach_record(newval);
}

static void
register_worker(void)
{
	BackgroundWorker worker = {
		.bgw_name = NAME,
		.bgw_type = NAME,
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = 5,	/* seconds */
		.bgw_library_name = "working_set",
		.bgw_function_name = "ws_worker_main"
	};

	RegisterBackgroundWorker(&worker);
	/* the server's own message does not name the worker that has no place */
	if (IsPostmasterEnvironment && !ws_worker_has_place(worker.bgw_name))
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
	strlcpy(ws_refusal, REPLACED("shmem_startup_hook"), sizeof(ws_refusal));
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
	RegisterXactCallback(ws_lookup_transaction_event, NULL);
	ws_process_origin_install();
	register_worker();
}
