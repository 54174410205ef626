/*
 * sql_relations.c
 *		The rows of working_set_relations: the sample, by relation.
 *
 * The sample gives each relation's share of the working set, and the sketch
 * gives the size of the whole, which it knows better than the sample does.
 * A sampled page may stand for more pages than its relation has.  So the size
 * of its files is the limit.
 *
 * The density of a table is that of the whole file, by the server's own
 * statistics.  To look into the pages of the set would be to use them.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_tablespace_d.h"
#include "common/relpath.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/relmapper.h"
#include "utils/syscache.h"

#include "compat.h"
#include "estimate.h"
#include "guc.h"
#include "heuristic.h"
#include "names.h"
#include "probe.h"
#include "report.h"
#include "relsize.h"
#include "sampler.h"
#include "shared.h"
#include "sql_common.h"
#include "summary.h"

/* What working_set() shows. */
#define TOP_SECONDS 300
#define TOP_PARTS	3			/* at most, */
#define TOP_SHARE	0.01		/* each of at least this part of the set */

#define READ_TICKS	(300 * WS_TICKS_PER_SECOND) /* that reads are of, about */

#define RESIDENT_STEP	1024	/* pages that are looked up without a check
								 * for interrupts */

/* The sampled pages of a relation, in all forks. */
typedef struct Part
{
	WsPageId	whose;			/* its fork and block mean nothing */
	int			pages;			/* in the sample */
	int			reused;
	int			resident;
	double		reads;			/* of all pages */
	Oid			relation;		/* InvalidOid: none, or of another database */
	char		relkind;
	int			columns;		/* of it, with those that were dropped */
	bool		forks[MAX_FORKNUM + 1]; /* that have pages in the sample */
	uint32		blocks;			/* of its main fork, if that has */
	int64		limit;			/* pages that it has at most */
	int64		size;			/* pages of the working set */
} Part;

typedef struct Parts
{
	int			n;
	Part	   *part;
	int			pages;			/* in the sample, of all parts */
	uint32		shift;			/* one page in 2^shift was sampled */
	double		seconds;		/* of the reads */
	WsEstimate	set;			/* the whole working set, from the sketch */
	WsReport	report;			/* what was published last */
	Oid			database;		/* of the last row, */
	const char *datname;		/* and its name */
} Parts;

static int
compare(int64 a, int64 b)
{
	return (a > b) - (a < b);
}

static int
by_relation(const void *a, const void *b)
{
	const WsPageId *x = &((const Part *) a)->whose;
	const WsPageId *y = &((const Part *) b)->whose;
	int			order = compare(x->database, y->database);

	CHECK_FOR_INTERRUPTS();
	if (order == 0)
		order = compare(x->tablespace, y->tablespace);
	return order != 0 ? order : compare(x->relation, y->relation);
}

/* Largest first, and in a fixed order among equals. */
static int
by_size(const void *a, const void *b)
{
	int			order = compare(((const Part *) b)->size, ((const Part *) a)->size);

	CHECK_FOR_INTERRUPTS();
	if (order == 0)
		order = compare(((const Part *) b)->pages, ((const Part *) a)->pages);
	return order != 0 ? order : by_relation(a, b);
}

static uint32
get_period(FunctionCallInfo fcinfo)
{
	uint32		longest = Max(WS_SAMPLE_SECONDS, ws_break_even) * WS_TICKS_PER_SECOND;
	uint32		ticks;

	if (PG_ARGISNULL(0))
		return longest;
	ticks = ws_period_to_ticks(PG_GETARG_INTERVAL_P(0));
	if (ticks > longest)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("period must not be longer than an hour or \"working_set.break_even\""),
				 errhint("Raise \"working_set.break_even\", up to a day.")));
	return ticks;
}

/*
 * Divide the sampled pages that clients used in a period into parts.  Reads are
 * also of pages that were used before, and of strata that were sampled then.
 */
static void
divide(const FmgrInfo *function, uint32 ticks, Parts *parts)
{
	WsSampler  *sampler = ws_shared->sampler;
	WsSample   *samples = palloc(sampler->capacity * sizeof(WsSample));
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);
	uint32		now;
	uint32		read_shift;
	int			n;
	bool	   *resident;
	Part	   *part;

	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	ticks = ws_sampler_known(sampler, ws_shared_advance(), ticks, floor);
	LWLockRelease(ws_shared->sample_lock);
	now = ws_estimate(function->fn_mcxt, WS_OF(WS_CLIENT), &ticks, 1, &parts->set);

	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	parts->shift = ws_sampler_mature_shift(sampler, now, ticks, floor);
	read_shift = Max(parts->shift, ws_sampler_mature_shift(sampler, now, Max(ticks, READ_TICKS), floor));
	n = ws_sampler_select(sampler, now, UINT32_MAX, floor, parts->shift, samples);
	parts->seconds = ws_sampler_read_seconds(sampler, now);
	ws_estimate_alive(&parts->set, ws_sampler_alive(sampler, now, ticks, floor, parts->shift));
	LWLockRelease(ws_shared->sample_lock);

	resident = palloc(Max(n, 1) * sizeof(bool));
	for (int i = 0; i < n; i += RESIDENT_STEP)
	{
		CHECK_FOR_INTERRUPTS();
		(void) ws_probe_resident(&samples[i], Min(n - i, RESIDENT_STEP), &resident[i], NULL);
	}
	/* first each page is a part, then neighbours of one relation are joined */
	part = parts->part = palloc0(Max(n, 1) * sizeof(Part));
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		part[i].whose = samples[i].page;
		part[i].pages = ws_tick_within(samples[i].last, now, ticks, floor);
		parts->pages += part[i].pages;
		part[i].reused = ws_sample_reused(&samples[i], now, ticks, floor);
		part[i].resident = part[i].pages > 0 && resident[i];
		if (ws_hash_stratum(samples[i].hash, sampler->log2m) >= read_shift)
			part[i].reads = ldexp(samples[i].reads, (int) read_shift);
		part[i].forks[samples[i].page.fork] = part[i].pages > 0;
		part[i].limit = PG_INT64_MAX;
	}
	qsort(part, n, sizeof(Part), by_relation);
	for (int i = 0; i < n; i++)
	{
		Part	   *last;

		if (parts->n == 0 || by_relation(&part[parts->n - 1], &part[i]) != 0)
		{
			part[parts->n++] = part[i];
			continue;
		}
		last = &part[parts->n - 1];
		last->pages += part[i].pages;
		last->reused += part[i].reused;
		last->resident += part[i].resident;
		last->reads += part[i].reads;
		last->forks[part[i].whose.fork] |= part[i].pages > 0;
	}
	n = parts->n;
	parts->n = 0;
	for (int i = 0; i < n; i++)
		if (part[i].pages > 0)
			part[parts->n++] = part[i];
}

static void
take_class(Part *part, HeapTuple tuple)
{
	Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

	part->relation = form->oid;
	part->relkind = form->relkind;
	part->columns = form->relnatts;
}

/*
 * Find the relation of a part, if it is of this database or shared by all.  The
 * server's own function raises an error where two have a file of this number,
 * and on some releases even if one of them is a temporary table of another
 * session, whose files are numbered apart.  Here that one does not count, and
 * the file of two has no name.
 */
static void
find_relation(Part *part)
{
	const WsPageId *whose = &part->whose;
	bool		shared = whose->tablespace == GLOBALTABLESPACE_OID;
	int			found = 0;
	HeapTuple	tuple;

	if (!OidIsValid(whose->relation) ||
		(OidIsValid(whose->database) && whose->database != MyDatabaseId))
		return;
	if (!shared)
	{
		Relation	classes = table_open(RelationRelationId, AccessShareLock);
		SysScanDesc scan;
		ScanKeyData key[2];

		/* the database's own tablespace is 0 there */
		ScanKeyInit(&key[0], Anum_pg_class_reltablespace, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(whose->tablespace == MyDatabaseTableSpace ? InvalidOid : whose->tablespace));
		ScanKeyInit(&key[1], Anum_pg_class_relfilenode, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(whose->relation));
		scan = systable_beginscan(classes, ClassTblspcRelfilenodeIndexId, true, NULL, 2, key);
		while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		{
			if (((Form_pg_class) GETSTRUCT(tuple))->relpersistence == RELPERSISTENCE_TEMP)
				continue;
			take_class(part, tuple);
			found++;
		}
		systable_endscan(scan);
		table_close(classes, AccessShareLock);
	}
	if (found > 1)
		part->relation = InvalidOid;
	/* files of some catalogs are not in pg_class */
	if (found == 0 && OidIsValid(part->relation = RelationMapFilenumberToOid(whose->relation, shared)))
	{
		tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(part->relation));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for relation %u", part->relation);
		take_class(part, tuple);
		ReleaseSysCache(tuple);
	}
}

/*
 * Find the number of blocks that a part's files have.  One that is gone, or was
 * dropped and is empty until the next checkpoint, sets no limit to the pages
 * that were used.
 */
static void
find_limit(Part *part)
{
	int64		limit = 0;

	for (int fork = 0; fork <= MAX_FORKNUM; fork++)
	{
		uint32		blocks;

		if (!part->forks[fork])
			continue;
		part->whose.fork = fork;
		blocks = ws_relation_blocks(&part->whose);
		if (blocks == WS_BLOCKS_UNKNOWN)
			return;
		if (fork == MAIN_FORKNUM)
			part->blocks = blocks;
		limit += blocks;
	}
	if (limit == 0)
		find_relation(part);
	if (limit > 0 || OidIsValid(part->relation))
		part->limit = limit;
}

/* Find the number of pages of each part. */
static void
find_sizes(Parts *parts)
{
	uint32	   *sampled = palloc(parts->n * sizeof(uint32));
	double	   *limit = palloc(parts->n * sizeof(double));
	double	   *pages = palloc(parts->n * sizeof(double));

	for (int i = 0; i < parts->n; i++)
	{
		sampled[i] = parts->part[i].pages;
		limit[i] = (double) parts->part[i].limit;
	}
	ws_sample_divide(sampled, limit, parts->n, parts->set.pages, parts->shift, pages);
	for (int i = 0; i < parts->n; i++)
		parts->part[i].size = (int64) rint(pages[i]);
}

/*
 * Some of the sampled pages of a part, as pages of the working set.  Of a part
 * that has been cut off they may be as many as it still has.
 */
static int64
to_pages(const Parts *parts, const Part *part, int pages)
{
	double		each = Max(part->size / (double) part->pages, parts->set.pages / parts->pages);

	return Min((int64) rint(each * pages), part->size);
}

/*
 * Average bytes of a row in its page, at the last ANALYZE, without what aligns
 * its columns; NaN if a column has no statistics.  That needs neither a lock on
 * the table, for which to wait, nor its relcache entry.
 */
static double
row_width(const Part *part)
{
	Relation	statistics = table_open(StatisticRelationId, AccessShareLock);
	double		width = MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);
	Bitmapset  *known = NULL;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_statistic_starelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(part->relation));
	scan = systable_beginscan(statistics, StatisticRelidAttnumInhIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_statistic column = (Form_pg_statistic) GETSTRUCT(tuple);

		if (column->stainherit)
			continue;
		known = bms_add_member(known, column->staattnum);
		width += column->stawidth * (1 - (double) column->stanullfrac);
	}
	systable_endscan(scan);
	table_close(statistics, AccessShareLock);
	for (int i = 1; i <= part->columns && !isnan(width); i++)
	{
		if (bms_is_member(i, known))
			continue;
		/* none if the column was dropped */
		tuple = SearchSysCacheAttNum(part->relation, (AttrNumber) i);
		if (HeapTupleIsValid(tuple))
		{
			int			length = ((Form_pg_attribute) GETSTRUCT(tuple))->attlen;

			width += length > 0 ? length : NAN;
			ReleaseSysCache(tuple);
		}
	}
	bms_free(known);
	return width;
}

/* One of the server's counters of a relation. */
static double
count_of(PGFunction function, Oid relation)
{
	return (double) DatumGetInt64(DirectFunctionCall1(function, ObjectIdGetDatum(relation)));
}

/* What live rows take of a table's file, 0 to 1; NaN if not known. */
static double
find_density(const Part *part)
{
	Oid			oid = part->relation;
	double		full;

	if (!OidIsValid(oid) || (part->relkind != RELKIND_RELATION && part->relkind != RELKIND_MATVIEW) ||
		part->blocks == 0 ||
		count_of(pg_stat_get_analyze_count, oid) + count_of(pg_stat_get_autoanalyze_count, oid) == 0)
		return NAN;
	full = count_of(pg_stat_get_live_tuples, oid) * row_width(part) / ((double) part->blocks * BLCKSZ);
	return full > 1 ? 1 : full;
}

/* "accounts" or "file 16385" */
static const char *
name_of(const Part *part)
{
	Datum		name;

	if (!OidIsValid(part->relation))
		return psprintf("file %u", part->whose.relation);
	name = DirectFunctionCall1(regclassout, ObjectIdGetDatum(part->relation));
	return ws_valid_name(DatumGetCString(name), part->relation);
}

static void
add_row(WsRow *row, Parts *parts, const Part *part)
{
	const WsPageId *whose = &part->whose;
	bool		named = OidIsValid(part->relation);
	double		share = part->pages / (double) parts->pages;
	double		error = ws_sample_error(parts->set.pages * share, parts->set.pages,
										parts->set.variance, parts->shift);
	WsCacheUser user = {.by = WS_BY_RELATION, .relation = *whose};
	double		saved_error;

	if (parts->database != whose->database)
		parts->datname = ws_database_name(parts->database = whose->database);
	/* NULL: the database was dropped, or all databases share the relation */
	ws_row_add_text(row, parts->datname);
	ws_row_add(row, named, ObjectIdGetDatum(part->relation));
	ws_row_add_text(row, name_of(part));
	ws_row_add(row, named, CharGetDatum(part->relkind));
	ws_row_add_pages(row, true, part->size);
	ws_row_add_pages(row, true, to_pages(parts, part, part->resident));
	ws_row_add_pages(row, true, to_pages(parts, part, part->reused));
	ws_row_add(row, true, Int64GetDatum((int64) rint(Min(error, (double) part->limit) * BLCKSZ)));
	ws_row_add_number(row, parts->seconds > 0, part->reads / parts->seconds);
	ws_row_add_number(row, true, ws_report_saved(&parts->report, &user, &saved_error));
	ws_row_add_number(row, true, saved_error);
	ws_row_add_number(row, true, find_density(part));
	ws_row_end(row);
}

/* The relations of a period, the largest first. */
static void
find_parts(const FmgrInfo *function, uint32 ticks, Parts *parts)
{
	if (!ws_tracking() || ws_shared->sampler == NULL || ticks == 0)
		return;
	divide(function, ticks, parts);
	if (parts->n == 0)
		return;
	for (int i = 0; i < parts->n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		find_limit(&parts->part[i]);
	}
	find_sizes(parts);
	qsort(parts->part, parts->n, sizeof(Part), by_size);
}

WS_FUNCTION(ws_working_set_relations)
{
	Parts		parts = {0};
	uint32		ticks;
	WsRow		row;

	ws_require_preloaded();
	ticks = get_period(fcinfo);
	ws_row_begin(&row, fcinfo);
	find_parts(fcinfo->flinfo, ticks, &parts);
	ws_report_read(&parts.report);
	/* without pages: all that were used have been cut off, or it had few */
	for (int i = 0; i < parts.n && parts.part[i].size > 0; i++)
	{
		find_relation(&parts.part[i]);
		add_row(&row, &parts, &parts.part[i]);
	}
	return (Datum) 0;
}

const char *
ws_relations_top(const FmgrInfo *function)
{
	Parts		parts = {0};
	StringInfoData words;

	initStringInfo(&words);
	find_parts(function, TOP_SECONDS * WS_TICKS_PER_SECOND, &parts);
	for (int i = 0; i < Min(parts.n, TOP_PARTS); i++)
	{
		Part	   *part = &parts.part[i];
		const char *database = ws_database_name(part->whose.database);
		char		size[32];

		if (part->size < TOP_SHARE * parts.set.pages)
			break;
		find_relation(part);
		appendStringInfoString(&words, i > 0 ? ", " : "");
		appendStringInfoString(&words, name_of(part));
		if (!OidIsValid(part->relation))
			appendStringInfo(&words, " of %s", database ? database : "no database");
		ws_format_bytes((double) part->size * BLCKSZ, size, sizeof(size));
		appendStringInfo(&words, " %s", size);
	}
	/* a cut within a character would be an error of conversion */
	if (words.len > WS_SUMMARY_TOP)
	{
		words.len = pg_mbcliplen(words.data, words.len, WS_SUMMARY_TOP - 3);
		words.data[words.len] = '\0';
		appendStringInfoString(&words, "...");
	}
	return words.data;
}
