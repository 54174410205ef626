/*
 * sqlchart.c
 *		The text of working_set_chart(): the curve from one pass, beside what
 *		working_set_recommendation says at the same time.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "executor/executor.h"
#include "utils/builtins.h"

#include "chart.h"
#include "compat.h"
#include "guc.h"
#include "instant.h"
#include "shmem.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_chart);

/*
 * The row of working_set_recommendation(), from the function itself, so that
 * the chart cannot say anything else: what is published is worth what it says
 * there.
 */
static HeapTupleHeader
get_recommendation(Oid this_function)
{
	Oid			function = ws_sibling_function(this_function, "working_set_recommendation");

	if (!OidIsValid(function))
		elog(ERROR, "working_set_recommendation() of the extension is not in the schema of working_set_chart()");
	return ws_row_of_datum(OidFunctionCall0(function));
}

/* NULL for NULL */
static char *
get_text(HeapTupleHeader row, const char *column)
{
	bool		null;
	Datum		value = GetAttributeByName(row, column, &null);

	return null ? NULL : TextDatumGetCString(value);
}

/* NaN for NULL */
static double
get_bytes(HeapTupleHeader row, const char *column)
{
	bool		null;
	Datum		value = GetAttributeByName(row, column, &null);

	return null ? NAN : (double) DatumGetInt64(value);
}

static void
take_curve(const FmgrInfo *function, WsChart *chart)
{
	uint32		now;
	WsCurve    *curve = ws_instant_curve(function, WS_OF(WS_CLIENT), &now);
	uint32		known = ws_shmem_known(now);
	uint32		ages[WS_CHART_WINDOWS];
	WsEstimate	estimates[WS_CHART_WINDOWS];
	int			n = ws_chart_windows(known, ages);

	StaticAssertStmt(WS_CHART_MINUTES == WS_CURVE_WINDOWS && WS_CURVE_STEP == 60,
					 "the plateau's end is looked for in another curve");
	for (int i = 0; i < n; i++)
		estimates[i] = ws_curve_window(curve, ages[i]);
	ws_chart_take(chart, known, estimates, BLCKSZ, Max(ws_min_wait, ws_window_size),
				  ws_window_size, ws_max_increase);
}

Datum
ws_working_set_chart(PG_FUNCTION_ARGS)
{
	WsChart		chart = {0};
	char		text[WS_CHART_SIZE];
	HeapTupleHeader row;

	ws_require_preloaded();
	row = get_recommendation(fcinfo->flinfo->fn_oid);
	chart.shared_buffers = get_bytes(row, "shared_buffers_bytes");
	chart.recommended = get_bytes(row, "recommended_cache_bytes");
	chart.verdict = get_text(row, "verdict");
	chart.suggested = get_text(row, "suggested_shared_buffers");
	chart.status = get_text(row, "status");
	chart.reason = get_text(row, "reason");
	if (strcmp(chart.status, "ok") == 0)
		chart.status = NULL;

	if (ws_tracking())
		take_curve(fcinfo->flinfo, &chart);
	ws_chart_draw(&chart, text);
	PG_RETURN_TEXT_P(cstring_to_text(text));
}
