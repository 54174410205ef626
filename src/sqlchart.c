/*
 * sqlchart.c
 *		The text of working_set_chart(): the curve from one pass, with the
 *		recommendation of the same moment.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "chart.h"
#include "estimate.h"
#include "guc.h"
#include "published.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_chart);

static void
take_curve(MemoryContext statement, WsChart *chart)
{
	uint32		now = ws_estimate(statement, WS_OF(WS_CLIENT), NULL, 0, NULL);
	uint32		known = ws_shared_known(now);
	uint32		ages[WS_CHART_WINDOWS];
	WsEstimate	estimates[WS_CHART_WINDOWS];
	int			n = ws_chart_windows(known, ages);

	StaticAssertStmt(WS_CURVE_STEP == 60, "the chart has windows of whole minutes");
	(void) ws_estimate(statement, WS_OF(WS_CLIENT), ages, n, estimates);
	ws_chart_take(chart, known, estimates, BLCKSZ, Max(ws_min_wait, ws_window_size),
				  ws_window_size, ws_max_increase);
}

Datum
ws_working_set_chart(PG_FUNCTION_ARGS)
{
	WsReport	report;
	const WsPublished *p = &report.last;
	WsChart		chart = {0};
	char		suggested[32];
	char		drawing[WS_CHART_SIZE];

	ws_require_preloaded();
	ws_published_read(&report);
	chart.shared_buffers = (double) NBuffers * BLCKSZ;
	chart.recommended = NAN;
	if (report.known)
	{
		chart.recommended = p->recommended * BLCKSZ;
		chart.verdict = ws_verdict_name(p->sizing.verdict);
		if (p->sizing.suggested_shared_buffers > 0)
		{
			ws_format_setting(p->sizing.suggested_shared_buffers, suggested, sizeof(suggested));
			chart.suggested = suggested;
		}
	}
	if (report.status != WS_STATUS_OK)
		chart.status = ws_status_name(report.status);
	chart.reason = ws_report_reason(&report);

	if (ws_tracking())
		take_curve(fcinfo->flinfo->fn_mcxt, &chart);
	ws_chart_draw(&chart, drawing);
	PG_RETURN_TEXT_P(cstring_to_text(drawing));
}
