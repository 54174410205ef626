/*
 * rival.c
 *		For 005_refused.pl: a server that is not what the probe expects.
 *
 * Preloaded after working_set, its hook comes first.  It makes a table of its own
 * with the name, the keys and the functions of the buffer lookup table, whose
 * header leads to shared memory.  It leaves a pointer to this header where the
 * server keeps its data, in a setting that only Windows reads.  So there are two
 * candidates for the server's header.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "utils/hsearch.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

extern PGDLLIMPORT char *event_source;

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
plant(void)
{
	HASHCTL		info;
	HTAB	   *header;

	memset(&info, 0, sizeof(info));
	info.keysize = sizeof(BufferTag);
	info.entrysize = MAXALIGN(sizeof(BufferTag) + sizeof(int));
	header = hash_create("Shared Buffer Lookup Table", 16, &info, HASH_ELEM | HASH_BLOBS);
	*(void **) header = MainLWLockArray;
	event_source = (char *) header;
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
}

void
_PG_init(void)
{
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = plant;
}
