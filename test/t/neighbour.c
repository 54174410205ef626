/*
 * neighbour.c
 *		For 019_neighbours.pl: a library that is preloaded after working_set,
 *		and does not call the hook that was there before.
 *
 * It asks for shared memory of its own, as such a library would.  The server
 * calls only the last function that was put into a hook.  Compiled with
 * NO_REQUEST, it is shmem_request_hook that is not chained, and with NO_STARTUP
 * shmem_startup_hook.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
request(void)
{
#ifndef NO_REQUEST
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
#endif
	RequestAddinShmemSpace(1024);
}

static void
startup(void)
{
	bool		found;

#ifndef NO_STARTUP
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
#endif
	(void) ShmemInitStruct("ws_test_neighbour", 1024, &found);
}

void
_PG_init(void)
{
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
}
