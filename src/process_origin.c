/*
 * process_origin.c
 *		The origin of this process's events; see process_origin.h.
 *
 * The identifier of the query is in the process's own entry of
 * pg_stat_activity, where the server keeps that of the statement at the top.
 * It is 0 if none was computed, and while a statement is parsed.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/backend_status.h"
#include "utils/guc.h"

#include "guc.h"
#include "origins.h"
#include "process_origin.h"
#include "shared.h"

#define NAME_CHECK		64		/* events */

/* The state of this process.  A tag of 0 is never valid. */
static struct
{
	WsOrigin	origin;
	uint32		tag;			/* of this origin, when it was entered */
	char		name[WS_ORIGIN_NAME_SIZE];	/* of the application */
	uint32		events;			/* since the name was looked up */
	bool		executed;		/* a statement in this transaction */
}			self;

static ExecutorStart_hook_type prev_executor_start = NULL;

/* Before the process has filled its entry, that is of the one before it. */
static uint64
present_query(void)
{
	if (MyBEEntry == NULL || MyBEEntry->st_procpid != MyProcPid)
		return 0;
	return (uint64) MyBEEntry->st_query_id;
}

/* Is this the name of the application, as far as names are kept? */
static bool
same_name(const char *name)
{
	for (int i = 0; i < WS_ORIGIN_NAME_SIZE - 1; i++)
	{
		if (name[i] != self.name[i])
			return false;
		if (name[i] == '\0')
			break;
	}
	return true;
}

/* Take over the name.  One without a place may get one, or have lost it. */
static void
refresh_application(void)
{
	const char *name = application_name ? application_name : "";

	if (same_name(name) && ++self.events < NAME_CHECK)
		return;
	self.events = 0;
	for (int i = 0; i < WS_ORIGIN_NAME_SIZE - 1 && (self.name[i] = name[i]) != '\0'; i++)
		;
	self.origin.application = ws_origins_application(ws_shared->origins, name);
	self.tag = WS_ORIGIN_OTHER;
}

uint32
ws_process_origin(void)
{
	uint64		query = present_query();

	refresh_application();
	if (self.origin.query != query || self.origin.database != MyDatabaseId ||
		ws_origins_entry(ws_shared->origins, self.tag) == WS_ORIGIN_OTHER)
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

/* A statement begins: in this transaction the role may have been set. */
static void
executor_start(QueryDesc * query, int flags)
{
	set_role(GetOuterUserId());
	self.executed = true;
	if (prev_executor_start)
		prev_executor_start(query, flags);
	else
		standard_ExecutorStart(query, flags);
}

void
ws_process_origin_install(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
}

void
ws_process_origin_end_transaction(void)
{
	Oid			role;
	int			context;

	if (!self.executed)
	{
		/* a process that starts has none */
		GetUserIdAndSecContext(&role, &context);
		set_role(OidIsValid(role) ? GetOuterUserId() : InvalidOid);
	}
	self.executed = false;
}
