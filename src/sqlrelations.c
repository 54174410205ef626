/*
 * sqlrelations.c
 *		Who is in the working set: the sample, by relation and by database.
 *
 * The sample says which share of the set is whose, and the sketch how large
 * the set is; together they are better than the sample alone.
 *
 * Of a small relation a sampled page stands for more pages than there are.  So
 * the size of its file is the limit.
 */
#include "postgres.h"

#include <math.h>

#include "commands/dbcommands.h"
#include "common/relpath.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "guc.h"
#include "estimate.h"
#include "probe.h"
#include "relsize.h"
#include "sampler.h"
#include "shared.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_relations);
WS_FUNCTION(ws_working_set_databases);

/*
 * The pages of a relation's fork, or of a database, that are in the sample.
 */
typedef struct Part
{
	WsPageId	whose;			/* its block means nothing */
	int			pages;
	int			reused;
	int			resident;
	Oid			relation;		/* found by find_relation() */
	int64		limit;			/* pages that it has at most */
} Part;

typedef struct Parts
{
	int			n;
	Part	   *part;
	int			pages;			/* in all */
	uint32		shift;			/* one page in 2^shift was looked at */
	WsEstimate	set;			/* the whole of it, from the sketch */
} Parts;

typedef int (*Order) (const void *, const void *);

static int
compare(uint32 a, uint32 b)
{
	return (a > b) - (a < b);
}

static int
by_database(const void *a, const void *b)
{
	const WsPageId *x = &((const Part *) a)->whose;
	const WsPageId *y = &((const Part *) b)->whose;

	return compare(x->database, y->database);
}

static int
by_relation(const void *a, const void *b)
{
	const WsPageId *x = &((const Part *) a)->whose;
	const WsPageId *y = &((const Part *) b)->whose;
	int			order = by_database(a, b);

	if (order == 0)
		order = compare(x->tablespace, y->tablespace);
	if (order == 0)
		order = compare(x->relation, y->relation);
	if (order == 0)
		order = compare(x->fork, y->fork);
	return order;
}

/*
 * Largest first, and in a fixed order among equals.
 */
static int
by_pages(const void *a, const void *b)
{
	int			order = compare(((const Part *) b)->pages, ((const Part *) a)->pages);

	return order != 0 ? order : by_relation(a, b);
}

static uint32
get_period(FunctionCallInfo fcinfo)
{
	uint32		longest = WS_SAMPLE_SECONDS * WS_TICKS_PER_SECOND;
	uint32		ticks;

	if (PG_ARGISNULL(0))
		return longest;
	ticks = ws_period_to_ticks(PG_GETARG_INTERVAL_P(0));
	if (ticks > longest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("period must not be longer than an hour"),
				 errdetail("The sample remembers a page for an hour after its last use."),
				 errhint("Give up to '1 hour', or NULL for that.")));
	return ticks;
}

/*
 * The sampled pages that clients used in a period, divided.
 */
static void
divide(const FmgrInfo *function, uint32 ticks, Order order, Parts *parts)
{
	WsSampler  *sampler = ws_shared->sampler;
	WsSample   *samples = palloc(sampler->capacity * sizeof(WsSample));
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);
	uint32		now = ws_estimate(function->fn_mcxt, WS_OF(WS_CLIENT), &ticks, 1, &parts->set);
	bool	   *resident;

	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	parts->shift = ws_sampler_mature_shift(sampler, now, ticks, floor);
	parts->pages = ws_sampler_select(sampler, now, ticks, floor, parts->shift, samples);
	LWLockRelease(ws_shared->sample_lock);

	resident = palloc(Max(parts->pages, 1) * sizeof(bool));
	(void) ws_probe_resident(samples, parts->pages, resident);

	/* each page a part, then those of the same relation or database one */
	parts->part = palloc(Max(parts->pages, 1) * sizeof(Part));
	for (int i = 0; i < parts->pages; i++)
	{
		parts->part[i].whose = samples[i].page;
		parts->part[i].pages = 1;
		parts->part[i].reused = ws_sample_reused(&samples[i], now, ticks, floor);
		parts->part[i].resident = resident[i];
		parts->part[i].relation = InvalidOid;
		parts->part[i].limit = PG_INT64_MAX;
	}
	qsort(parts->part, parts->pages, sizeof(Part), order);
	parts->n = 0;
	for (int i = 0; i < parts->pages; i++)
	{
		Part	   *last = &parts->part[Max(parts->n - 1, 0)];

		if (parts->n > 0 && order(last, &parts->part[i]) == 0)
		{
			last->pages++;
			last->reused += parts->part[i].reused;
			last->resident += parts->part[i].resident;
		}
		else
			parts->part[parts->n++] = parts->part[i];
	}
	qsort(parts->part, parts->n, sizeof(Part), by_pages);
	pfree(samples);
}

/*
 * What both functions begin with.  No parts, if there is nothing to divide.
 */
static void
answer(FunctionCallInfo fcinfo, Order order, Parts *parts)
{
	uint32		ticks;

	ws_require_preloaded();
	ticks = get_period(fcinfo);
	InitMaterializedSRF(fcinfo, 0);
	parts->n = 0;
	if (ws_tracking() && ws_shared->sampler != NULL && ticks > 0)
		divide(fcinfo->flinfo, ticks, order, parts);
}

/*
 * Sampled pages of a part as pages of the set.
 */
static int64
to_pages(const Parts *parts, const Part *part, int pages)
{
	return Min((int64) rint(parts->set.pages * pages / parts->pages), part->limit);
}

/*
 * Largest first, in pages of the set.
 */
static int
by_size(const void *a, const void *b, void *arg)
{
	const Part *x = a;
	const Part *y = b;
	int64		pages_x = to_pages(arg, x, x->pages);
	int64		pages_y = to_pages(arg, y, y->pages);

	return pages_x != pages_y ? (pages_x < pages_y) - (pages_x > pages_y) : by_pages(a, b);
}

/*
 * The columns that relations and databases have in common.
 */
static void
put_sizes(const Parts *parts, const Part *part, Datum *values)
{
	double		share = part->pages / (double) parts->pages;
	double		error = ws_sample_error(parts->set.pages * share, parts->set.pages,
										parts->set.variance, parts->shift);

	error = Min(error, (double) part->limit);
	values[0] = Int64GetDatum(to_pages(parts, part, part->pages));
	values[1] = Int64GetDatum(ws_pages_to_bytes(to_pages(parts, part, part->pages)));
	values[2] = Float8GetDatum(share);
	values[3] = Int64GetDatum((int64) rint(error * BLCKSZ));
	values[4] = Int64GetDatum(ws_pages_to_bytes(to_pages(parts, part, part->resident)));
	values[5] = Int64GetDatum(ws_pages_to_bytes(to_pages(parts, part, part->reused)));
}

/*
 * The name of a database.  Relations that all databases share have none, and
 * neither has one that was dropped.
 */
static void
put_database(Oid database, Datum *value, bool *null)
{
	char	   *name = OidIsValid(database) ? get_database_name(database) : NULL;

	*null = name == NULL;
	*value = name ? CStringGetTextDatum(name) : (Datum) 0;
}

/*
 * The relation that a file is of now, if it can be told from here.
 */
static Oid
find_relation(const WsPageId *whose)
{
	if (!OidIsValid(whose->relation) ||
		(OidIsValid(whose->database) && whose->database != MyDatabaseId))
		return InvalidOid;
	return RelidByRelfilenumber(whose->tablespace, whose->relation);
}

/*
 * Pages that a fork of a relation has at most.  A file that is gone, or was
 * dropped and is empty until the next checkpoint, sets no limit to what was used
 * of it.
 */
static int64
most_pages(Oid relation, const WsPageId *whose)
{
	uint32		blocks = ws_relation_blocks(whose);

	return blocks > 0 || OidIsValid(relation) ? blocks : PG_INT64_MAX;
}

Datum
ws_working_set_relations(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Parts		parts;

	answer(fcinfo, by_relation, &parts);
	for (int i = 0; i < parts.n; i++)
	{
		Part	   *part = &parts.part[i];

		part->relation = find_relation(&part->whose);
		part->limit = most_pages(part->relation, &part->whose);
	}
	if (parts.n > 0)
		qsort_arg(parts.part, parts.n, sizeof(Part), by_size, &parts);

	for (int i = 0; i < parts.n; i++)
	{
		const WsPageId *whose = &parts.part[i].whose;
		Oid			relation = parts.part[i].relation;
		char		kind = OidIsValid(relation) ? get_rel_relkind(relation) : '\0';
		Datum		values[11];
		bool		nulls[11] = {false};

		/* all that was used of it has been cut off, or was never much */
		if (to_pages(&parts, &parts.part[i], parts.part[i].pages) == 0)
			continue;
		put_database(whose->database, &values[0], &nulls[0]);
		nulls[1] = kind == '\0';
		values[1] = ObjectIdGetDatum(relation);
		nulls[2] = kind == '\0';
		values[2] = CharGetDatum(kind);
		values[3] = ObjectIdGetDatum(whose->relation);
		nulls[4] = whose->fork < 0 || whose->fork > MAX_FORKNUM;
		values[4] = nulls[4] ? (Datum) 0 : CStringGetTextDatum(forkNames[whose->fork]);
		put_sizes(&parts, &parts.part[i], &values[5]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
ws_working_set_databases(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Parts		parts;

	answer(fcinfo, by_database, &parts);
	for (int i = 0; i < parts.n; i++)
	{
		Datum		values[7];
		bool		nulls[7] = {false};

		put_database(parts.part[i].whose.database, &values[0], &nulls[0]);
		put_sizes(&parts, &parts.part[i], &values[1]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
