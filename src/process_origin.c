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

#define NAME_CHECK		64		/* transactions */

/* The state of this process.  A tag of 0 is never valid. */
static struct
{
	WsOrigin	origin;
	uint32		tag;			/* of this origin, when it was entered */
	char		name[WS_ORIGIN_NAME_SIZE];	/* of the application */
	uint32		transactions;	/* that kept the name */
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

uint32
ws_process_origin(void)
{
	uint64		query = present_query();

	if (self.origin.query != query || self.origin.database != MyDatabaseId ||
		ws_origins_entry(ws_shared->origins, self.tag) == WS_ORIGIN_OTHER)
	{
		self.origin.query = query;
		self.origin.database = MyDatabaseId;
		self.tag = ws_origins_enter(ws_shared->origins, &self.origin);
	}
	return self.tag;
}

/* Take over the role.  There is none in a process that starts. */
static void
refresh_role(void)
{
	Oid			role;
	int			context;

	GetUserIdAndSecContext(&role, &context);
	if (OidIsValid(role))
		role = GetOuterUserId();
	if (role != self.origin.role)
		self.tag = WS_ORIGIN_OTHER;
	self.origin.role = role;
}

/* A statement begins: in this transaction the role may have been set. */
static void
executor_start(QueryDesc * query, int flags)
{
	if (ws_enabled)
		refresh_role();
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
ws_process_origin_refresh(void)
{
	const char *name = application_name ? application_name : "";

	if (!ws_enabled || ws_shared == NULL || ws_shared->origins == NULL)
		return;
	refresh_role();
	/* now and then: a name without a place may get one, or have lost it */
	if (strncmp(name, self.name, WS_ORIGIN_NAME_SIZE - 1) == 0 &&
		(self.origin.application == WS_APPLICATION_NONE ||
		 ++self.transactions % NAME_CHECK != 0 ||
		 ws_origins_name(ws_shared->origins, self.origin.application) != NULL))
		return;
	strlcpy(self.name, name, sizeof(self.name));
	self.origin.application = ws_origins_application(ws_shared->origins, self.name);
	self.tag = WS_ORIGIN_OTHER;
}
