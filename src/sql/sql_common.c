/*
 * sql_common.c
 *		What the functions that SQL can call share; see sql_common.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "setup.h"
#include "shared.h"
#include "sql_common.h"

void
ws_require_preloaded(void)
{
	if (ws_shared == NULL && !ws_setup_stand_in())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("working_set must be loaded via shared_preload_libraries"),
				 errhint("Add \"working_set\" to shared_preload_libraries in postgresql.conf and restart the server.")));
}

int64
ws_pages_to_bytes(double pages)
{
	int64		most = PG_INT64_MAX / BLCKSZ;

	if (!(pages > 0))
		return 0;
	return (pages < (double) most ? (int64) rint(pages) : most) * BLCKSZ;
}

void
ws_row_begin(WsRow *row, FunctionCallInfo fcinfo)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	row->set = NULL;
	row->n = 0;
	if (fcinfo->flinfo->fn_retset)
	{
		InitMaterializedSRF(fcinfo, 0);
		row->set = rsinfo->setResult;
		row->desc = rsinfo->setDesc;
	}
	else if (get_call_result_type(fcinfo, NULL, &row->desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	Assert(row->desc->natts <= WS_MAX_COLUMNS);
}

void
ws_row_add(WsRow *row, bool known, Datum value)
{
	row->values[row->n] = known ? value : (Datum) 0;
	row->nulls[row->n] = !known;
	row->n++;
}

void
ws_row_add_number(WsRow *row, bool known, double number)
{
	ws_row_add(row, known && !isnan(number), Float8GetDatum(number));
}

void
ws_row_add_pages(WsRow *row, bool known, double pages)
{
	ws_row_add(row, known && isfinite(pages), Int64GetDatum(ws_pages_to_bytes(pages)));
}

void
ws_row_add_text(WsRow *row, const char *words)
{
	ws_row_add(row, words != NULL, words ? CStringGetTextDatum(words) : (Datum) 0);
}

Datum
ws_row_end(WsRow *row)
{
	if (row->n != row->desc->natts)
		elog(ERROR, "row has %d columns, not %d", row->n, row->desc->natts);
	row->n = 0;
	if (row->set == NULL)
		return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row->desc), row->values, row->nulls));
	CHECK_FOR_INTERRUPTS();
	tuplestore_putvalues(row->set, row->desc, row->values, row->nulls);
	return (Datum) 0;
}

uint32
ws_seconds_to_ticks(double seconds, const char *name)
{
	double		ticks = ceil(seconds * WS_TICKS_PER_SECOND);

	if (seconds < 0)
		WS_REJECT("%s must not be negative", name);
	return ticks < (double) WS_ALL_TICKS ? (uint32) ticks : WS_ALL_TICKS;
}

uint32
ws_period_to_ticks(const Interval *period)
{
	/* the fields of an infinite interval are extreme, so it needs no care */
	return ws_seconds_to_ticks(period->time / (double) USECS_PER_SEC +
							   (period->day + (double) DAYS_PER_MONTH * period->month) * SECS_PER_DAY,
							   "period");
}
