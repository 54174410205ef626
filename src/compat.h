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

#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "postmaster/autovacuum.h"
#include "storage/shmem.h"
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
 * A shared hash table has one size, and a fixed one, since 19; before, there
 * was an initial and a maximal one.
 */
#if PG_VERSION_NUM < 190000
static inline HTAB *
ws_shmem_attach_hash(const char *name, long nelems, HASHCTL *info, int flags)
{
	return ShmemInitHash(name, nelems, nelems, info, flags);
}
#else
static inline HTAB *
ws_shmem_attach_hash(const char *name, int64 nelems, HASHCTL *info, int flags)
{
	return ShmemInitHash(name, nelems, info, flags | HASH_FIXED_SIZE);
}
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
 * Process kinds are asked for alike since 17.
 */
#if PG_VERSION_NUM < 170000
#define AmAutoVacuumLauncherProcess() IsAutoVacuumLauncherProcess()
#endif

#endif							/* WS_COMPAT_H */
