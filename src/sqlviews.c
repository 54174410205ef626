/*
 * sqlviews.c
 *		The rows of working_set_recommendation and working_set_info: what is
 *		published and what it is worth, and the state of everything.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "counters.h"
#include "guc.h"
#include "heuristic.h"
#include "probe.h"
#include "published.h"
#include "shared.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_recommendation);
WS_FUNCTION(ws_working_set_info);

/*
 * A row of which most columns may be NULL: all are, until set.
 */
#define MAX_COLUMNS 32

typedef struct Row
{
	TupleDesc	desc;
	Datum		values[MAX_COLUMNS];
	bool		nulls[MAX_COLUMNS];
	int			n;
} Row;

static void
row_begin(Row *row, FunctionCallInfo fcinfo)
{
	if (get_call_result_type(fcinfo, NULL, &row->desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	Assert(row->desc->natts <= MAX_COLUMNS);
	row->n = 0;
}

static void
row_add(Row *row, bool known, Datum value)
{
	row->values[row->n] = known ? value : (Datum) 0;
	row->nulls[row->n] = !known;
	row->n++;
}

static void
row_add_pages(Row *row, bool known, double pages)
{
	row_add(row, known, Int64GetDatum(ws_pages_to_bytes(pages)));
}

static void
row_add_ratio(Row *row, bool known, double ratio)
{
	row_add(row, known && !isnan(ratio), Float8GetDatum(ratio));
}

static void
row_add_text(Row *row, const char *text)
{
	row_add(row, text != NULL, text ? CStringGetTextDatum(text) : (Datum) 0);
}

static void
row_add_setting(Row *row, bool known, double bytes)
{
	char		setting[32];

	ws_format_setting(bytes, setting, sizeof(setting));
	row_add_text(row, known && bytes > 0 ? setting : NULL);
}

static Datum
row_end(Row *row)
{
	if (row->n != row->desc->natts)
		elog(ERROR, "row has %d columns, not %d", row->n, row->desc->natts);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row->desc), row->values, row->nulls));
}

Datum
ws_working_set_recommendation(PG_FUNCTION_ARGS)
{
	WsReport	report;
	const WsPublished *p = &report.recommendation;
	const WsPublishedAdvice *a = &report.advice;
	bool		known;
	Row			row;

	ws_require_preloaded();
	ws_published_read(&report);
	known = report.known;

	row_begin(&row, fcinfo);
	row_add_text(&row, ws_status_name(report.status));
	row_add_text(&row, known ? ws_verdict_name(p->sizing.verdict) : NULL);
	row_add(&row, known, known ?
			DirectFunctionCall1(pg_size_pretty, Int64GetDatum(ws_pages_to_bytes(p->recommended))) : (Datum) 0);
	row_add_setting(&row, known, p->sizing.suggested_shared_buffers);
	row_add_setting(&row, known, p->sizing.suggested_effective_cache_size);
	row_add_text(&row, ws_report_reason(&report));
	row_add_pages(&row, known, p->recommended);
	row_add_pages(&row, known, p->pages);
	row_add_pages(&row, known, p->low);
	row_add_pages(&row, known && !isinf(p->high), p->high);
	row_add(&row, known, Int32GetDatum(p->window_seconds));
	row_add_pages(&row, known && !isnan(p->live), p->live);
	row_add_pages(&row, known, p->plateau_end);
	row_add_pages(&row, known, p->peak);
	row_add(&row, known, TimestampTzGetDatum(p->peak_at));
	row_add_pages(&row, true, NBuffers);
	row_add(&row, report.memory_limit != 0, Int64GetDatum((int64) report.memory_limit));
	row_add_ratio(&row, report.advised, a->table.hit_ratio);
	row_add_ratio(&row, report.advised && a->table.sure, a->expected_hit_ratio);
	row_add_text(&row, ws_guc_method_name(known ? p->method : ws_method));
	row_add(&row, known, TimestampTzGetDatum(p->computed_at));
	PG_RETURN_DATUM(row_end(&row));
}

/*
 * The share of pages that are sampled.
 */
static double
sample_rate(void)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);

	return shift == WS_SAMPLE_OFF ? 0 : ldexp(1, -(int) shift);
}

/*
 * How many pages the sample table holds.
 */
static int64
sampled_pages(void)
{
	uint32		n;

	if (ws_shared->sampler == NULL)
		return 0;
	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	n = ws_shared->sampler->count;
	LWLockRelease(ws_shared->sample_lock);
	return n;
}

Datum
ws_working_set_info(PG_FUNCTION_ARGS)
{
	WsCounters	counters;
	int64		evictions;
	bool		attached;
	TimestampTz saved;
	TimestampTz began;
	Row			row;

	ws_require_preloaded();
	attached = ws_shared->attached;
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	saved = ws_published->last_saved;
	LWLockRelease(ws_shared->lock);

	ws_probe_flush_counters();
	began = ws_counters_read(&counters, ws_probe_entries(), &evictions);

	row_begin(&row, fcinfo);
	row_add(&row, true, BoolGetDatum(ws_tracking()));
	row_add(&row, true, CStringGetTextDatum(ws_tracking_reason()));
	row_add(&row, ws_tracking(), TimestampTzGetDatum(began));
	row_add(&row, true, Int32GetDatum(ws_sketch_m(ws_shared->sketch[WS_CLIENT])));
	row_add(&row, true, Float8GetDatum(sample_rate()));
	row_add(&row, true, Int64GetDatum(sampled_pages()));
	row_add(&row, attached, Int64GetDatum(counters.hits[WS_CLIENT] + counters.reads[WS_CLIENT]));
	row_add(&row, attached, Int64GetDatum(counters.hits[WS_CLIENT]));
	row_add(&row, attached, Int64GetDatum(evictions));
	row_add(&row, true, Int64GetDatum(counters.dropped));
	row_add(&row, ws_shared_worker_pid() != 0, Int32GetDatum(ws_shared_worker_pid()));
	row_add(&row, saved != 0, TimestampTzGetDatum(saved));
	row_add(&row, true, Int64GetDatum(ws_shared->memory));
	row_add(&row, true, CStringGetTextDatum(WS_VERSION));
	PG_RETURN_DATUM(row_end(&row));
}
