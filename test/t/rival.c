/*
 * rival.c
 *		For 005_refused.pl: a server that is not what the probe expects.
 *
 * Preloaded after working_set, its hook comes first.  It attaches to the
 * buffer lookup table, too, and leaves a pointer to its own header where the
 * server keeps its data, in a setting that only Windows reads.  So there are
 * two candidates for the server's header.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/elog.h"
#include "utils/guc.h"

#include "compat.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

extern PGDLLIMPORT char *event_source;

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
plant(void)
{
	HASHCTL		info;

	memset(&info, 0, sizeof(info));
	info.keysize = sizeof(BufferTag);
	info.entrysize = MAXALIGN(sizeof(BufferTag) + sizeof(int));
	info.num_partitions = NUM_BUFFER_PARTITIONS;
	event_source = (char *) ws_shmem_attach_hash("Shared Buffer Lookup Table",
												 NBuffers + NUM_BUFFER_PARTITIONS, &info,
												 HASH_ELEM | HASH_BLOBS | HASH_PARTITION);
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
}

void
_PG_init(void)
{
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = plant;
}
