/*
 * compat.h
 *		Every difference between PostgreSQL releases, and no other file's.
 *
 * The newest server is imitated on the older ones, so that callers read as if
 * only the newest existed.  Each block says with which release it can go.
 */
#ifndef WS_COMPAT_H
#define WS_COMPAT_H

#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "common/relpath.h"
#include "fmgr.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgworker_internals.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/wait_event.h"

#if PG_VERSION_NUM < 150000
#error "working_set needs PostgreSQL 15 or later"
#endif

/*
 * A module can tell its name and version since 18.
 */
#if PG_VERSION_NUM >= 180000
#define WS_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "working_set", .version = WS_VERSION)
#else
#define WS_MODULE_MAGIC PG_MODULE_MAGIC
#endif

/*
 * What makes the compiler inline a function has a shorter name alone since 20;
 * first minor releases of the others do not know it.
 */
#ifndef pg_always_inline
#define pg_always_inline pg_attribute_always_inline
#endif

/*
 * Extensions can name their wait events since 17.
 */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#endif

/*
 * One check of privileges serves every kind of object since 16.
 */
#if PG_VERSION_NUM < 160000
static inline AclResult
object_aclcheck(Oid classid, Oid objectid, Oid roleid, AclMode mode)
{
	Assert(classid == ProcedureRelationId);
	return pg_proc_aclcheck(objectid, roleid, mode);
}
#endif

/*
 * The number of a process among all is a variable since 17.
 */
#if PG_VERSION_NUM < 170000
#define ws_process_number() (MyProc ? MyProc->pgprocno : -1)
#else
#define ws_process_number() (MyProcNumber)
#endif

/*
 * Has a worker of this name a place?  The list of them can be walked in both
 * directions since 18; who is on it is computed by hand, because analysers take
 * the macros for a null pointer.  In the postmaster only.
 */
static inline bool
ws_is_worker(const void *node, const char *name)
{
	const RegisteredBgWorker *worker = (const RegisteredBgWorker *)
		((const char *) node - offsetof(RegisteredBgWorker, rw_lnode));

	return strcmp(worker->rw_worker.bgw_name, name) == 0;
}

static inline bool
ws_worker_has_place(const char *name)
{
#if PG_VERSION_NUM < 180000
	slist_iter	i;

	slist_foreach(i, &BackgroundWorkerList)
#else
	dlist_iter	i;

	dlist_foreach(i, &BackgroundWorkerList)
#endif
		if (ws_is_worker(i.cur, name))
			return true;
	return false;
}

/*
 * The next number that an object, or the file of a relation, is given.  Read
 * without the lock: it may be a little old.  Its variable has had another name
 * since 17.
 */
static inline Oid
ws_next_oid(void)
{
#if PG_VERSION_NUM < 170000
	return ShmemVariableCache->nextOid;
#else
	return TransamVariables->nextOid;
#endif
}

/*
 * The path of a relation's fork is a string in a struct since 18, and one
 * that was allocated before.
 */
static inline void
ws_relation_path(Oid tablespace, Oid database, uint32 relation, int fork, char *path, size_t size)
{
#if PG_VERSION_NUM < 180000
	char	   *allocated = GetRelationPath(database, tablespace, relation, -1, (ForkNumber) fork);

	strlcpy(path, allocated, size);
	pfree(allocated);
#else
	strlcpy(path, GetRelationPath(database, tablespace, relation, INVALID_PROC_NUMBER, (ForkNumber) fork).str, size);
#endif
}

#if PG_VERSION_NUM >= 160000
#include "utils/relfilenumbermap.h"
#else
#include "utils/relfilenodemap.h"
#define RelidByRelfilenumber(tablespace, relation) RelidByRelfilenode(tablespace, relation)
#endif

/*
 * Buffers of a ring, on a server with so many buffers: see GetAccessStrategy()
 * in freelist.c.  That of a sequential scan is made for the configured
 * concurrency of I/O since 18; VACUUM's has had a setting since 16.
 */
static inline int
ws_ring_pages(int64 kilobytes, double nbuffers)
{
	return Max((int) Min(kilobytes * 1024 / BLCKSZ, nbuffers / 8), 1);
}

static inline int
ws_ring_read_pages(double nbuffers)
{
	int64		kilobytes = 256;

#if PG_VERSION_NUM >= 180000
	int64		pins = (int64) nbuffers / (MaxBackends + NUM_AUXILIARY_PROCS);
	int64		most = Max(kilobytes, pins * BLCKSZ / 1024);

	kilobytes += (int64) io_combine_limit * effective_io_concurrency * BLCKSZ / 1024;
	kilobytes = Min(kilobytes, most);
#endif
	return ws_ring_pages(kilobytes, nbuffers);
}

static inline int
ws_ring_vacuum_pages(double nbuffers)
{
#if PG_VERSION_NUM < 160000
	return ws_ring_pages(256, nbuffers);
#else
	return ws_ring_pages(VacuumBufferUsageLimit > 0 ? VacuumBufferUsageLimit : INT_MAX, nbuffers);
#endif
}

static inline int
ws_ring_write_pages(double nbuffers)
{
	return ws_ring_pages(16 * 1024, nbuffers);
}

#endif							/* WS_COMPAT_H */
