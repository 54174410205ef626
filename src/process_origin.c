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

#include "miscadmin.h"
#include "utils/backend_status.h"

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
}			self;

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
 * Take over role and name.  A name without a place may get one, and one that
 * has lost it with its last origin gets another.
 */
static void
take_name(Oid role, const char *name)
{
	self.events = 0;
	memcpy(self.name, name, sizeof(self.name));
	self.origin.role = role;
	self.origin.application = ws_origins_application(ws_shared->origins, role, name);
	self.tag = WS_ORIGIN_OTHER;
}

/*
 * These two functions of the server return a variable each, which it does not
 * export.  A process that starts has no role.
 */
static Oid
present_role(void)
{
	Oid			role;
	int			context;

	GetUserIdAndSecContext(&role, &context);
	return OidIsValid(role) ? GetOuterUserId() : InvalidOid;
}

uint32
ws_process_origin(void)
{
	static const char none[WS_ORIGIN_NAME_SIZE];

	/* an entry that is not filled yet is that of the process before */
	PgBackendStatus *entry = MyBEEntry && MyBEEntry->st_procpid == MyProcPid ? MyBEEntry : NULL;
	uint64		query = entry && entry->st_state != STATE_FASTPATH ? (uint64) entry->st_query_id : 0;
	const char *name = entry ? entry->st_appname : none;
	Oid			role = present_role();
	bool		known = ws_origins_entry(ws_shared->origins, self.tag) != WS_ORIGIN_OTHER;

	if (!known || role != self.origin.role || !same_name(name) || ++self.events >= NAME_CHECK)
		take_name(role, name);
	if (self.tag == WS_ORIGIN_OTHER || self.origin.query != query ||
		self.origin.database != MyDatabaseId)
	{
		self.origin.query = query;
		self.origin.database = MyDatabaseId;
		self.tag = ws_origins_enter(ws_shared->origins, &self.origin);
	}
	return self.tag;
}
