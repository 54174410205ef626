/*
 * sql_sizes.c
 *		Functions that SQL can call for sizes and for a reset.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
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
#include "shared.h"
#include "sql_common.h"

#define MAX_PERIODS 65536

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
	uint32		ticks = WS_ALL_TICKS;

	ws_require_preloaded();
	if (!PG_ARGISNULL(0))
		ticks = ws_seconds_to_ticks(PG_GETARG_INT32(0), "duration");
	if (!ws_tracking())
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) client_pages(fcinfo->flinfo, ticks));
}

WS_FUNCTION(ws_working_set_size)
{
	uint32		ticks = WS_ALL_TICKS;

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
	pages = client_pages(fcinfo->flinfo, WS_ALL_TICKS);
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
		ages[i] = ws_seconds_to_ticks(seconds[i], "period");
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
