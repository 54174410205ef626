/*
 * sql_queries.c
 *		The rows of working_set_queries: the sampled pages by query, by role or
 *		by application.
 *
 * As with relations (sql_relations.c), the sample gives each part's share, and
 * the sketch gives the size of the whole.  The parts overlap: a page counts for
 * each query that used it.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "attribution.h"
#include "compat.h"
#include "estimate.h"
#include "names.h"
#include "origins.h"
#include "report.h"
#include "sampler.h"
#include "shared.h"
#include "sql_common.h"

#define OTHER	"other"			/* the row of those without a place in the
								 * table */
#define LONGEST (WS_ATTRIBUTION_SECONDS * WS_TICKS_PER_SECOND)

static const char *const by_names[] = {"query", "role", "application"};

typedef struct Group
{
	WsOrigin	origin;			/* what its origins have in common, others 0 */
	bool		other;			/* those without a place in the table */
	bool		own;			/* has it an origin of the user's own role? */
	char		name[WS_ORIGIN_NAME_SIZE];	/* of the application */
	bool		named;
	double		reads;			/* a second */
	WsGroupPages pages;			/* in the sample */
} Group;

typedef struct Groups
{
	int			n;
	Group		group[WS_ORIGINS];
	uint32		of[WS_ORIGINS]; /* the group of each origin */
	uint32		shift;			/* one page in 2^shift was sampled */
	uint32		pages;			/* in the sample, of all groups */
	bool		reads;			/* are they known? */
	WsEstimate	set;			/* the whole working set, from the sketch */
	WsReport	report;			/* what was published last */
} Groups;

static WsBy
get_by(FunctionCallInfo fcinfo)
{
	const char *by;

	if (PG_ARGISNULL(1))
		return WS_BY_QUERY;
	by = text_to_cstring(PG_GETARG_TEXT_PP(1));
	for (int i = 0; i < (int) lengthof(by_names); i++)
		if (strcmp(by, by_names[i]) == 0)
			return (WsBy) i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"by\" must be query, role or application")));
}

static uint32
get_period(FunctionCallInfo fcinfo)
{
	uint32		ticks;

	if (PG_ARGISNULL(0))
		return LONGEST;
	ticks = ws_period_to_ticks(PG_GETARG_INTERVAL_P(0));
	if (ticks > LONGEST)
		WS_REJECT("period must not be longer than an hour");
	return ticks;
}

static Group *
find_group(Groups *groups, const WsOrigin *origin, bool other)
{
	Group	   *group = groups->group;

	while (group < groups->group + groups->n &&
		   (group->other != other || !ws_origin_equal(&group->origin, origin)))
		group++;
	if (group == groups->group + groups->n)
	{
		group->origin = *origin;
		group->other = other;
		groups->n++;
	}
	return group;
}

/* The server lets no other bytes into the name. */
static void
copy_name(Group *group)
{
	const char *name = ws_origins_name(ws_shared->origins, group->origin.application);

	group->named = name != NULL;
	strlcpy(group->name, name ? name : "", sizeof(group->name));
	for (char *c = group->name; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* Assign the origins to groups.  The caller has sample_lock. */
static void
assign_groups(Groups *groups, WsBy by, uint32 now)
{
	WsAttribution *attribution = ws_shared->attribution;

	for (uint32 i = 0; i < WS_ORIGINS; i++)
	{
		WsOrigin	origin = {0};
		bool		known = ws_origins_get(ws_shared->origins, i, &origin);
		WsOrigin	part;
		bool		other = !ws_origin_part(&origin, by, &part) || !known;
		Group	   *group;

		if (other)
			memset(&part, 0, sizeof(part));
		group = find_group(groups, &part, other);
		groups->of[i] = (uint32) (group - groups->group);
		group->own |= known && origin.role == GetUserId();
		group->reads += ws_attribution_reads(attribution, i, now);
		if (by == WS_BY_APPLICATION && !other)
			copy_name(group);
	}
}

static void
find_groups(const FmgrInfo *function, uint32 ticks, WsBy by, Groups *groups)
{
	WsAttribution *attribution = ws_shared->attribution;
	WsPageUse  *uses = palloc(attribution->capacity * sizeof(WsPageUse));
	WsGroupPages *pages = palloc(WS_ORIGINS * sizeof(WsGroupPages));
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);
	uint32		now;
	uint32		n;

	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	ticks = ws_attribution_known(attribution, ws_shared_advance(), ticks, floor);
	LWLockRelease(ws_shared->sample_lock);
	now = ws_estimate(function->fn_mcxt, WS_OF(WS_CLIENT), &ticks, 1, &groups->set);

	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	groups->shift = ws_attribution_mature_shift(attribution, now, ticks, floor);
	n = ws_attribution_select(attribution, now, ticks, floor, groups->shift, uses);
	ws_estimate_alive(&groups->set, ws_sampler_alive(ws_shared->sampler, now, ticks, floor, groups->shift));
	groups->reads = attribution->reads_since >= floor;
	assign_groups(groups, by, now);
	LWLockRelease(ws_shared->sample_lock);

	groups->pages = ws_attribution_divide(uses, n, groups->of, pages, (uint32) groups->n);
	for (int i = 0; i < groups->n; i++)
		groups->group[i].pages = pages[i];
	pfree(uses);
	pfree(pages);
}

static int
compare(uint64 a, uint64 b)
{
	return (a > b) - (a < b);
}

/* Largest first, and in a fixed order among equals. */
static int
by_size(const void *a, const void *b)
{
	const Group *x = a;
	const Group *y = b;
	int			order = compare(y->pages.pages, x->pages.pages);

	if (order == 0)
		order = compare(x->origin.database, y->origin.database);
	if (order == 0)
		order = compare(x->origin.role, y->origin.role);
	if (order == 0)
		order = compare(x->origin.query, y->origin.query);
	return order != 0 ? order : strcmp(x->name, y->name);
}

static void
add_row(WsRow *row, const Groups *groups, const Group *group, WsBy by, bool all)
{
	const WsOrigin *origin = &group->origin;
	double		share = group->pages.pages / (double) groups->pages;
	double		each = groups->set.pages / groups->pages;
	double		error = ws_sample_error(groups->set.pages * share, groups->set.pages,
										groups->set.variance, groups->shift);
	bool		shown = all || group->own;
	const char *application = by == WS_BY_APPLICATION && group->named && shown ? group->name : NULL;
	WsCacheUser user = {.by = by, .origin = group->origin};
	double		saved_error;

	ws_row_add_text(row, ws_database_name(origin->database));
	/* no other row has both */
	ws_row_add_text(row, group->other ? OTHER : ws_role_name(origin->role));
	ws_row_add_text(row, group->other ? OTHER : application);
	ws_row_add(row, shown && origin->query != 0, Int64GetDatum((int64) origin->query));
	ws_row_add_pages(row, true, rint(each * group->pages.pages));
	ws_row_add_pages(row, true, rint(each * group->pages.exclusive));
	ws_row_add_pages(row, true, error);
	ws_row_add_number(row, groups->reads, group->reads);
	ws_row_add_number(row, !group->other, ws_report_saved(&groups->report, &user, &saved_error));
	ws_row_add_number(row, !group->other, saved_error);
	ws_row_end(row);
}

WS_FUNCTION(ws_working_set_queries)
{
	uint32		ticks;
	WsBy		by;
	bool		all;
	Groups	   *groups;
	WsRow		row;

	ws_require_preloaded();
	ticks = get_period(fcinfo);
	by = get_by(fcinfo);
	ws_row_begin(&row, fcinfo);
	if (!ws_tracking() || ws_shared->attribution == NULL || ticks == 0)
		return (Datum) 0;

	all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	groups = palloc0(sizeof(Groups));
	find_groups(fcinfo->flinfo, ticks, by, groups);
	ws_report_read(&groups->report);
	qsort(groups->group, groups->n, sizeof(Group), by_size);
	for (int i = 0; i < groups->n && groups->group[i].pages.pages > 0; i++)
		add_row(&row, groups, &groups->group[i], by, all);
	return (Datum) 0;
}
