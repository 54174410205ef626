/*
 * process_origin.c
 *		The origin of this process's events; see process_origin.h.
 *
 * The identifier of the query is in the process's own entry of
 * pg_stat_activity, where the server keeps that of the statement at the top.
 * It is 0 if none was computed, and while a statement is parsed.  A function
 * that is called by the fast path has none; the entry keeps that of the
 * statement before.  The name of the application is there, too.  All of its
 * bytes are compared, those behind the end as well: that is less work than to
 * look for the end.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/backend_status.h"

#include "compat.h"
#include "origins.h"
#include "process_origin.h"
#include "shared.h"

#define NAME_CHECK		64		/* events */

/*
 * The state of this process.  A tag of 0 is never valid.  What each statement
 * needs is in one line of the processor's cache, also where to find the
 * server's function.
 */
static struct
{
	WsOrigin	origin pg_attribute_aligned(64);
	Oid			(*outer_user) (void);
	ExecutorCheckPerms_hook_type next_check_perms;
	uint32		tag;			/* of this origin, when it was entered */
	char		name[WS_ORIGIN_NAME_SIZE];	/* of the application */
	uint32		events;			/* since the name was looked up */
}			self = {.outer_user = GetOuterUserId};

static ProcessUtility_hook_type next_process_utility = NULL;

StaticAssertDecl(NAMEDATALEN >= WS_ORIGIN_NAME_SIZE, "the name of an application has all the bytes that are read");

/* Are all bytes the same? */
static inline bool
same_name(const char *name)
{
	uint64		differ = 0;

	for (int i = 0; i < WS_ORIGIN_NAME_SIZE; i += sizeof(uint64))
	{
		uint64		a;
		uint64		b;

		memcpy(&a, name + i, sizeof(a));
		memcpy(&b, self.name + i, sizeof(b));
		differ |= a ^ b;
	}
	return differ == 0;
}

/*
 * Take over the name.  One without a place may get one, and one that has lost
 * it with its last origin gets another.
 */
static void
take_name(const char *name)
{
	self.events = 0;
	memcpy(self.name, name, sizeof(self.name));
	self.origin.application = ws_origins_application(ws_shared->origins, self.origin.role, name);
	self.tag = WS_ORIGIN_OTHER;
}

uint32
ws_process_origin(void)
{
	static const char none[WS_ORIGIN_NAME_SIZE];

	/* an entry that is not filled yet is that of the process before */
	PgBackendStatus *entry = MyBEEntry && MyBEEntry->st_procpid == MyProcPid ? MyBEEntry : NULL;
	uint64		query = entry && entry->st_state != STATE_FASTPATH ? (uint64) entry->st_query_id : 0;
	const char *name = entry ? entry->st_appname : none;
	bool		known = ws_origins_entry(ws_shared->origins, self.tag) != WS_ORIGIN_OTHER;

	if (!known || !same_name(name) || ++self.events >= NAME_CHECK)
		take_name(name);
	if (self.tag == WS_ORIGIN_OTHER || self.origin.query != query ||
		self.origin.database != MyDatabaseId)
	{
		self.origin.query = query;
		self.origin.database = MyDatabaseId;
		self.tag = ws_origins_enter(ws_shared->origins, &self.origin);
	}
	return self.tag;
}

static void
set_role(Oid role)
{
	if (role == self.origin.role)
		return;
	self.origin.role = role;
	self.tag = WS_ORIGIN_OTHER;
}

/* Out of line, so that without another hook no argument is kept. */
static pg_noinline bool
check_next(WS_CHECK_PERMS_ARGUMENTS)
{
	set_role(self.outer_user());
	return self.next_check_perms(WS_CHECK_PERMS_VALUES);
}

/*
 * A statement on tables may look up pages for long, and only the end of its
 * transaction would wake a worker that rests: the stream would be full by then.
 */
static pg_noinline void
wake_worker(void)
{
	ws_store(&ws_shared->active_tick, ws_shared_advance());
	ws_shared_wake_worker();
}

/*
 * A statement begins.  In this transaction the role may have been set.  Unlike
 * a hook at ExecutorStart(), this one has no part of the server to call.
 */
static bool
check_perms(WS_CHECK_PERMS_ARGUMENTS)
{
	/* where other libraries drop a hook there is no shared memory */
	if (likely(ws_shared) && unlikely(ws_load(&ws_shared->sketch[WS_CLIENT]->unattended)) &&
		tables != NIL && ws_tracking())
		wake_worker();
	if (unlikely(self.next_check_perms))
		return check_next(WS_CHECK_PERMS_VALUES);
	set_role(self.outer_user());
	return true;
}

/* SET ROLE is one of these: its role counts while the next is planned. */
static void
process_utility(PlannedStmt * statement, const char *text, bool read_only,
				ProcessUtilityContext context, ParamListInfo parameters,
				QueryEnvironment * environment, DestReceiver * receiver, QueryCompletion * completion)
{
	set_role(GetOuterUserId());
	next_process_utility(statement, text, read_only, context, parameters, environment,
						 receiver, completion);
	set_role(GetOuterUserId());
}

void
ws_process_origin_install(void)
{
	self.next_check_perms = ExecutorCheckPerms_hook;
	ExecutorCheckPerms_hook = check_perms;
	next_process_utility = ProcessUtility_hook ? ProcessUtility_hook : standard_ProcessUtility;
	ProcessUtility_hook = process_utility;
}

void
ws_process_origin_take_role(void)
{
	Oid			role;
	int			context;

	/* a process that starts has no role */
	GetUserIdAndSecContext(&role, &context);
	set_role(OidIsValid(role) ? GetOuterUserId() : InvalidOid);
}
