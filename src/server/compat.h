/*
 * compat.h
 *		All differences between PostgreSQL releases.
 *
 * Older releases imitate the newest, so that callers need no condition.  Each
 * block names the release that makes it superfluous.
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
#include "port/atomics.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgworker_internals.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/wait_event.h"

#include "stream.h"

#if PG_VERSION_NUM < 150000
#error "working_set needs PostgreSQL 15 or later"
#endif

/* 16: files of relations, privileges, and the size of VACUUM's ring. */
#if PG_VERSION_NUM < 160000
#define RelationMapFilenumberToOid(relation, shared) RelationMapFilenodeToOid(relation, shared)
#define VacuumBufferUsageLimit 256	/* kB */

static inline AclResult
object_aclcheck(Oid classid, Oid objectid, Oid roleid, AclMode mode)
{
	Assert(classid == ProcedureRelationId);
	return pg_proc_aclcheck(objectid, roleid, mode);
}

/* 16: ExecutorCheckPerms_hook gets the permissions apart. */
#define WS_CHECK_PERMS_ARGUMENTS List *tables, bool complain
#define WS_CHECK_PERMS_VALUES tables, complain
#else
#define WS_CHECK_PERMS_ARGUMENTS List *tables, List *permissions, bool complain
#define WS_CHECK_PERMS_VALUES tables, permissions, complain
#endif

/* 17: wait events of an extension have names, and two variables have these. */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) PG_WAIT_EXTENSION
#define MyProcNumber (MyProc ? MyProc->pgprocno : -1)
#define TransamVariables ShmemVariableCache
#endif

/* 18: a module states its name and version, and each query is run once. */
#if PG_VERSION_NUM < 180000
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
#define WS_RUN_ARGUMENTS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define WS_RUN_VALUES query, direction, count, once
#else
#define WS_RUN_ARGUMENTS QueryDesc *query, ScanDirection direction, uint64 count
#define WS_RUN_VALUES query, direction, count
#endif

/* The next OID of an object or a relation's file, maybe a little old. */
static inline Oid
ws_next_oid(void)
{
	return TransamVariables->nextOid;	/* without the lock */
}

/*
 * Has a worker of this name a place?  In the postmaster only. 18: the list has
 * links in both directions.
 */
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
	{
		/* slist_container() looks like a null pointer to analysers */
		const void *worker = (const char *) i.cur - offsetof(RegisteredBgWorker, rw_lnode);

		if (strcmp(((const RegisteredBgWorker *) worker)->rw_worker.bgw_name, name) == 0)
			return true;
	}
	return false;
}

/* The path of a relation's fork.  18: the server returns it in a struct. */
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

/* 16: without a limit, VACUUM uses no ring. */
static inline bool
ws_ring_is_used(WsRing ring)
{
	return ring != WS_RING_VACUUM || VacuumBufferUsageLimit != 0;
}

/*
 * Buffers of a ring, on a server with nbuffers in all, as GetAccessStrategy()
 * has them. 18: the ring of a scan grows with the concurrency of I/O.
 */
static inline int
ws_ring_pages(WsRing ring, double nbuffers)
{
	int64		kilobytes = 256;

	if (ring == WS_RING_WRITE)
		kilobytes = 16 * 1024;
	else if (ring == WS_RING_VACUUM)
		kilobytes = VacuumBufferUsageLimit > 0 ? VacuumBufferUsageLimit : INT_MAX;
#if PG_VERSION_NUM >= 180000
	else
	{
		int64		pins = (int64) nbuffers / (MaxBackends + NUM_AUXILIARY_PROCS);
		int64		most = Max(kilobytes, pins * BLCKSZ / 1024);

		kilobytes += (int64) io_combine_limit * effective_io_concurrency * BLCKSZ / 1024;
		kilobytes = Min(kilobytes, most);
	}
#endif
	return Max((int) Min(kilobytes * 1024 / BLCKSZ, nbuffers / 8), 1);
}

/*
 * Does it work for a client: its backend, or a parallel worker of that? 18, 19:
 * the type of a process has another field.
 */
static inline bool
ws_works_for_client(const volatile PGPROC *proc)
{
#if PG_VERSION_NUM >= 190000
	bool		regular = proc->backendType == B_BACKEND;
#elif PG_VERSION_NUM >= 180000
	bool		regular = proc->isRegularBackend;
#else
	bool		regular = !proc->isBackgroundWorker;
#endif

	return OidIsValid(proc->databaseId) &&
		(regular || (proc->lockGroupLeader != NULL && proc->lockGroupLeader != proc));
}

/*
 * Is it in a transaction?  A backend that has ended one, and looks for the next
 * message, does not wait for its client yet. 17: the field has moved.
 */
static inline bool
ws_in_transaction(const volatile PGPROC *proc)
{
#if PG_VERSION_NUM >= 170000
	return proc->vxid.lxid != InvalidLocalTransactionId;
#else
	return proc->lxid != InvalidLocalTransactionId;
#endif
}

/*
 * Does this process wait for a page that it wants to be read?  18: somebody
 * else may read it, an I/O worker or the kernel. 19: its type is in PGPROC.
 */
static inline bool
ws_waits_for_read(int number, uint32 wait_event)
{
#if PG_VERSION_NUM >= 180000
	if (wait_event == WAIT_EVENT_AIO_IO_COMPLETION || wait_event == WAIT_EVENT_AIO_IO_URING_EXECUTION ||
		wait_event == WAIT_EVENT_AIO_IO_URING_SUBMIT)
		return true;
#endif
	if (wait_event != WAIT_EVENT_DATA_FILE_READ)
		return false;
#if PG_VERSION_NUM >= 190000
	return ProcGlobal->allProcs[number].backendType != B_IO_WORKER;
#elif PG_VERSION_NUM >= 180000
	return pgstat_get_backend_type_by_proc_number(number) != B_IO_WORKER;
#else
	return true;
#endif
}

/* 20: the attribute has this name. */
#ifndef pg_always_inline
#define pg_always_inline pg_attribute_always_inline
#endif

#endif							/* WS_COMPAT_H */
