/*
 * sql_sizes.c
 *		Functions that SQL can call for sizes and for a reset, and what all such
 *		functions share; see sql_sizes.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "estimate.h"
#include "heuristic.h"
#include "persist.h"
#include "setup.h"
#include "shared.h"
#include "sql_sizes.h"

#define MAX_PERIODS 65536
#define ALL_TICKS UINT32_MAX	/* the window since the last reset or start */

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

/* Seconds to ticks; name is for the error if they are negative. */
static uint32
seconds_to_ticks(double seconds, const char *name)
{
	double		ticks = ceil(seconds * WS_TICKS_PER_SECOND);

	if (seconds < 0)
		WS_REJECT("%s must not be negative", name);
	return ticks < (double) ALL_TICKS ? (uint32) ticks : ALL_TICKS;
}

uint32
ws_period_to_ticks(const Interval *period)
{
	/* the fields of an infinite interval are extreme, so it needs no care */
	return seconds_to_ticks(period->time / (double) USECS_PER_SEC +
							(period->day + (double) DAYS_PER_MONTH * period->month) * SECS_PER_DAY,
							"period");
}

/* Distinct pages that clients used in one window. */
static double
client_pages(const FmgrInfo *function, uint32 ticks)
{
	WsEstimate	estimate;

	(void) ws_estimate(function->fn_mcxt, WS_OF(WS_CLIENT), &ticks, 1, &estimate);
	return rint(estimate.pages);
}

WS_FUNCTION(ws_approximate_working_set_size_seconds)
{
	uint32		ticks = ALL_TICKS;

	ws_require_preloaded();
	if (!PG_ARGISNULL(0))
		ticks = seconds_to_ticks(PG_GETARG_INT32(0), "duration");
	if (!ws_tracking())
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) client_pages(fcinfo->flinfo, ticks));
}

WS_FUNCTION(ws_working_set_size)
{
	uint32		ticks = ALL_TICKS;

	ws_require_preloaded();
	if (!PG_ARGISNULL(0))
		ticks = ws_period_to_ticks(PG_GETARG_INTERVAL_P(0));
	if (!ws_tracking())
		PG_RETURN_NULL();
	PG_RETURN_INT64(ws_pages_to_bytes(client_pages(fcinfo->flinfo, ticks)));
}

/* May the user execute this extension's own working_set_reset()? */
static bool
may_reset(Oid this_function)
{
	Oid			extension = getExtensionOfObject(ProcedureRelationId, this_function);
	Oid			reset = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
										CStringGetDatum("working_set_reset"),
										PointerGetDatum(buildoidvector(NULL, 0)),
										ObjectIdGetDatum(get_func_namespace(this_function)));

	return OidIsValid(extension) && OidIsValid(reset) &&
		getExtensionOfObject(ProcedureRelationId, reset) == extension &&
		object_aclcheck(ProcedureRelationId, reset, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

WS_FUNCTION(ws_approximate_working_set_size)
{
	bool		reset = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	double		pages;

	ws_require_preloaded();
	if (reset && !may_reset(fcinfo->flinfo->fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to reset the working set"),
				 errdetail("Only roles with EXECUTE privilege on function working_set_reset() may reset it.")));
	if (!ws_tracking())
		PG_RETURN_NULL();
	pages = client_pages(fcinfo->flinfo, ALL_TICKS);
	if (reset)
		ws_persist_reset(false);
	PG_RETURN_INT64((int64) pages);
}

WS_FUNCTION(ws_working_set_reset)
{
	ws_require_preloaded();
	PG_RETURN_TIMESTAMPTZ(ws_persist_reset(true));
}

/* Check an array argument, and return how many elements it has. */
static int
check_array(ArrayType *array, const char *argument)
{
	int			n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("argument \"%s\" must be a one-dimensional array", argument)));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not contain nulls", argument)));
	if (n == 0)
		WS_REJECT("argument \"%s\" must not be empty", argument);
	return n;
}

/* The windows of an array, in seconds, or the default ones if it is NULL. */
static int32 *
get_periods(ArrayType *array, int *n)
{
	int32	   *seconds;

	*n = array ? check_array(array, "periods") : WS_CURVE_WINDOWS;
	if (*n > MAX_PERIODS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("number of periods (%d) exceeds the limit (%d)", *n, MAX_PERIODS)));
	if (array)
		return (int32 *) ARR_DATA_PTR(array);
	seconds = palloc(*n * sizeof(int32));
	for (int i = 0; i < *n; i++)
		seconds[i] = (i + 1) * WS_CURVE_STEP;
	return seconds;
}

/* The sketches that a kind names. */
static int
get_kinds(const char *kind)
{
	if (strcmp(kind, "client") == 0)
		return WS_OF(WS_CLIENT);
	if (strcmp(kind, "maintenance") == 0)
		return WS_OF(WS_MAINTENANCE);
	if (strcmp(kind, "all") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized kind of lookups: \"%s\"", kind),
				 errhint("Valid kinds are \"client\", \"maintenance\", and \"all\".")));
	return WS_OF_ALL;
}

WS_FUNCTION(ws_working_set_curve)
{
	WsEstimate *estimates;
	uint32	   *ages;
	int32	   *seconds;
	int			kinds;
	int			n;
	WsRow		row;

	ws_require_preloaded();
	seconds = get_periods(PG_ARGISNULL(0) ? NULL : PG_GETARG_ARRAYTYPE_P(0), &n);
	ages = palloc(n * sizeof(uint32));
	for (int i = 0; i < n; i++)
		ages[i] = seconds_to_ticks(seconds[i], "period");
	kinds = get_kinds(PG_ARGISNULL(1) ? "client" : text_to_cstring(PG_GETARG_TEXT_PP(1)));
	ws_row_begin(&row, fcinfo);
	if (!ws_tracking())
		return (Datum) 0;

	estimates = palloc(n * sizeof(WsEstimate));
	(void) ws_estimate(fcinfo->flinfo->fn_mcxt, kinds, ages, n, estimates);
	for (int i = 0; i < n; i++)
	{
		double		low;
		double		high;

		ws_estimate_bounds(&estimates[i], &low, &high);
		ws_row_add(&row, true, Int32GetDatum(seconds[i]));
		ws_row_add(&row, true, Int64GetDatum((int64) rint(estimates[i].pages)));
		ws_row_add_pages(&row, true, estimates[i].pages);
		ws_row_add_pages(&row, true, low);
		ws_row_add_pages(&row, true, high);
		ws_row_end(&row);
	}
	return (Datum) 0;
}

WS_FUNCTION(ws_working_set_plateau_end)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int			n = check_array(array, "series");
	double	   *series = (double *) ARR_DATA_PTR(array);
	int32		min_offset = PG_GETARG_INT32(1);
	int32		window_size = PG_GETARG_INT32(2);
	double		max_increase = PG_GETARG_FLOAT8(3);
	int			index;
	WsRow		row;

	for (int i = 0; i < n; i++)
		if (!isfinite(series[i]))
			WS_REJECT("element %d of argument \"series\" is not a finite number", i + 1);
	if (window_size < 2)
		WS_REJECT("argument \"window_size\" must be at least 2");
	if (n < window_size)
		WS_REJECT("argument \"series\" must have at least \"window_size\" (%d) elements",
				  window_size);
	if (min_offset < window_size || min_offset > n)
		WS_REJECT("argument \"min_offset\" must be between \"window_size\" (%d) and the length of \"series\" (%d)",
				  window_size, n);
	if (!isfinite(max_increase) || max_increase < 0)
		WS_REJECT("argument \"max_increase\" must be finite and not negative");

	index = ws_plateau_end(series, n, min_offset, window_size, max_increase);
	ws_row_begin(&row, fcinfo);
	ws_row_add_number(&row, true, series[index - 1]);
	ws_row_add(&row, true, Int32GetDatum(index));
	return ws_row_end(&row);
}
