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
#include "tcop/utility.h"
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
	bool		had_statement;	/* had this transaction a statement? */
}			self;

static ExecutorStart_hook_type prev_executor_start = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;

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

/*
 * Take over the name.  One without a place may get one, and one that has lost
 * it with its last origin gets another.
 */
static void
take_name(const char *name)
{
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
	const char *name = application_name ? application_name : "";
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

/* A statement begins: in this transaction the role may have been set. */
static void
begin_statement(void)
{
	set_role(GetOuterUserId());
	self.had_statement = true;
}

static void
executor_start(QueryDesc * query, int flags)
{
	begin_statement();
	if (prev_executor_start)
		prev_executor_start(query, flags);
	else
		standard_ExecutorStart(query, flags);
}

/* SET ROLE is one of these: its role counts while the next is planned. */
static void
process_utility(PlannedStmt * statement, const char *text, bool read_only,
				ProcessUtilityContext context, ParamListInfo parameters,
				QueryEnvironment * environment, DestReceiver * receiver, QueryCompletion * completion)
{
	begin_statement();
	if (prev_process_utility)
		prev_process_utility(statement, text, read_only, context, parameters, environment,
							 receiver, completion);
	else
		standard_ProcessUtility(statement, text, read_only, context, parameters, environment,
								receiver, completion);
	begin_statement();
}

void
ws_process_origin_install(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

void
ws_process_origin_end_transaction(void)
{
	Oid			role;
	int			context;

	/* what was set for the transaction still holds, if it had a statement */
	if (!self.had_statement)
	{
		/* a process that starts has no role */
		GetUserIdAndSecContext(&role, &context);
		set_role(OidIsValid(role) ? GetOuterUserId() : InvalidOid);
	}
	self.had_statement = false;
}
