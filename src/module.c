/*
 * module.c
 *		The order in which everything is set up.
 *
 * Preloaded, settings come first, then shared memory, the probe and the
 * worker.  Loaded later, by CREATE EXTENSION or a first call, there is nothing
 * to set up: the functions then tell what is missing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"

#include "compat.h"
#include "guc.h"
#include "probe.h"
#include "setup.h"
#include "shared.h"
#include "worker.h"

WS_MODULE_MAGIC;

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
 * The buffer path must not make a system call, so what needs one waits for the
 * end of the transaction.
 */
static void
transaction_ends(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PARALLEL_ABORT:
		case XACT_EVENT_PREPARE:
			ws_probe_end_transaction();
			break;
		default:
			break;
	}
}

static void
assign_enabled(bool newval, void *extra)
{
	ws_probe_switch(newval);
}

static void
startup(void)
{
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	ws_setup_startup();
	if (ws_shared != NULL)
		ws_probe_attach();
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

	RegisterXactCallback(transaction_ends, NULL);
	ws_worker_register();
}
