/*
 * sqlfuncs.c
 *		Functions that SQL can call: check the arguments, ask the room that
 *		knows, hand out the answer.  The rules are in sqlfuncs.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "curve.h"
#include "guc.h"
#include "heuristic.h"
#include "estimate.h"
#include "persist.h"
#include "setup.h"
#include "shared.h"
#include "sqlfuncs.h"

#define MAX_PERIODS 65536

WS_FUNCTION(ws_approximate_working_set_size_seconds);
WS_FUNCTION(ws_approximate_working_set_size);
WS_FUNCTION(ws_working_set_size);
WS_FUNCTION(ws_working_set_curve);
WS_FUNCTION(ws_working_set_plateau_end);
WS_FUNCTION(ws_working_set_reset);

void
ws_require_preloaded(void)
{
	if (ws_shared == NULL && !ws_setup_stand_in())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("working_set must be loaded via shared_preload_libraries"),
				 errhint("Add \"working_set\" to shared_preload_libraries in postgresql.conf and restart the server.")));
}

/* the window from the last reset, or from start */
#define ALL_TICKS UINT32_MAX

/* seconds to ticks; what is longer than all time is all time */
static uint32
seconds_to_ticks(double seconds)
{
	double		ticks = ceil(seconds * WS_TICKS_PER_SECOND);

	return ticks < (double) ALL_TICKS ? (uint32) ticks : ALL_TICKS;
}

/* Distinct pages that clients used in one window. */
static double
client_pages(const FmgrInfo *function, uint32 ticks)
{
	WsEstimate	estimate;

	(void) ws_estimate(function->fn_mcxt, WS_OF(WS_CLIENT), &ticks, 1, &estimate);
	return rint(estimate.pages);
}

int64
ws_pages_to_bytes(double pages)
{
	int64		most = PG_INT64_MAX / BLCKSZ;

	if (!(pages > 0))
		return 0;
	return (pages < (double) most ? (int64) rint(pages) : most) * BLCKSZ;
}

static void
reject_negative_seconds(int64 seconds)
{
	if (seconds < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("duration must not be negative"),
				 errdetail("The duration is %lld seconds.", (long long) seconds),
				 errhint("Give the length of the window in seconds, or NULL for everything since the last reset.")));
}

Datum
ws_approximate_working_set_size_seconds(PG_FUNCTION_ARGS)
{
	uint32		ticks = ALL_TICKS;

	ws_require_preloaded();
	if (!PG_ARGISNULL(0))
	{
		reject_negative_seconds(PG_GETARG_INT32(0));
		ticks = seconds_to_ticks(PG_GETARG_INT32(0));
	}
	if (!ws_tracking())
		PG_RETURN_NULL();
	PG_RETURN_INT64((int64) client_pages(fcinfo->flinfo, ticks));
}

/*
 * May the current user execute working_set_reset() of this function's
 * extension?  A function of that name that somebody else made does not count.
 */
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

Datum
ws_approximate_working_set_size(PG_FUNCTION_ARGS)
{
	bool		reset = !PG_ARGISNULL(0) && PG_GETARG_BOOL(0);
	double		pages;

	ws_require_preloaded();
	if (reset && !may_reset(fcinfo->flinfo->fn_oid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to reset the working set"),
				 errhint("Grant EXECUTE on function working_set_reset() to the role that should be able to do this.")));
	if (!ws_tracking())
		PG_RETURN_NULL();

	pages = client_pages(fcinfo->flinfo, ALL_TICKS);
	if (reset)
		ws_persist_reset(false);
	PG_RETURN_INT64((int64) pages);
}

uint32
ws_period_to_ticks(const Interval *period)
{
	double		seconds;

	/* an infinite interval, which is one of extreme fields, is all time */
	seconds = period->time / (double) USECS_PER_SEC +
		(period->day + (double) DAYS_PER_MONTH * period->month) * SECS_PER_DAY;
	if (seconds < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("period must not be negative"),
				 errdetail("The period is %.0f seconds, a month counting as 30 days.", seconds),
				 errhint("Give the length of a window that ends now, or NULL for the longest one.")));
	return seconds_to_ticks(seconds);
}

Datum
ws_working_set_size(PG_FUNCTION_ARGS)
{
	uint32		ticks = ALL_TICKS;

	ws_require_preloaded();
	if (!PG_ARGISNULL(0))
		ticks = ws_period_to_ticks(PG_GETARG_INTERVAL_P(0));
	if (!ws_tracking())
		PG_RETURN_NULL();
	PG_RETURN_INT64(ws_pages_to_bytes(client_pages(fcinfo->flinfo, ticks)));
}

/*
 * The windows to answer, in seconds: those of an array, or the default ones.
 */
static int32 *
get_periods(ArrayType *array, int *n)
{
	int32	   *seconds;

	if (array == NULL)
	{
		*n = WS_CURVE_WINDOWS;
		seconds = palloc(*n * sizeof(int32));
		for (int i = 0; i < *n; i++)
			seconds[i] = (i + 1) * WS_CURVE_STEP;
		return seconds;
	}

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of periods must be one-dimensional"),
				 errdetail("The array has %d dimensions.", ARR_NDIM(array)),
				 errhint("Give a plain list of seconds, such as '{60,300,3600}'.")));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of periods must not contain nulls"),
				 errdetail("A null does not name a window."),
				 errhint("Pass NULL instead of the array for 60 one-minute windows.")));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (*n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("array of periods must not be empty"),
				 errdetail("Without a window there is no curve."),
				 errhint("Pass NULL instead of the array for 60 one-minute windows.")));
	if (*n > MAX_PERIODS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many periods"),
				 errdetail("The array has %d elements, the limit is %d.", *n, MAX_PERIODS),
				 errhint("Ask in several calls: answers do not depend on what else is asked.")));

	seconds = (int32 *) ARR_DATA_PTR(array);
	for (int i = 0; i < *n; i++)
		reject_negative_seconds(seconds[i]);
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
	if (strcmp(kind, "all") == 0)
		return WS_OF_ALL;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized kind of lookups: \"%s\"", kind),
			 errdetail("Lookups are those of clients, or of maintenance such as VACUUM."),
			 errhint("Valid kinds are \"client\", \"maintenance\" and \"all\".")));
	return 0;					/* keep compiler quiet */
}

Datum
ws_working_set_curve(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WsEstimate *estimates;
	uint32	   *ages;
	int			kinds;
	int			n;
	int32	   *seconds;
	char	   *kind;

	ws_require_preloaded();
	seconds = get_periods(PG_ARGISNULL(0) ? NULL : PG_GETARG_ARRAYTYPE_P(0), &n);
	kind = PG_ARGISNULL(1) ? "client" : text_to_cstring(PG_GETARG_TEXT_PP(1));
	kinds = get_kinds(kind);

	InitMaterializedSRF(fcinfo, 0);
	if (!ws_tracking())
		return (Datum) 0;

	ages = palloc(n * sizeof(uint32));
	estimates = palloc(n * sizeof(WsEstimate));
	for (int i = 0; i < n; i++)
		ages[i] = seconds_to_ticks(seconds[i]);
	(void) ws_estimate(fcinfo->flinfo->fn_mcxt, kinds, ages, n, estimates);
	for (int i = 0; i < n; i++)
	{
		WsEstimate	e = estimates[i];
		double		low;
		double		high;
		Datum		values[5];
		bool		nulls[5] = {false};

		ws_estimate_bounds(&e, &low, &high);

		values[0] = Int32GetDatum(seconds[i]);
		values[1] = Int64GetDatum((int64) rint(e.pages));
		values[2] = Int64GetDatum(ws_pages_to_bytes(e.pages));
		values[3] = Int64GetDatum((int64) low);
		nulls[4] = e.saturated;
		values[4] = e.saturated ? (Datum) 0 : Int64GetDatum((int64) high);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * A series of finite numbers.
 */
static double *
get_series(ArrayType *array, int *n)
{
	double	   *series;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("series must be one-dimensional"),
				 errdetail("The array has %d dimensions.", ARR_NDIM(array)),
				 errhint("Give a plain list of sizes, one for each window.")));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("series must not contain nulls"),
				 errdetail("Slopes cannot be computed across a null."),
				 errhint("Leave out windows whose size is not known.")));
	*n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (*n == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("series must not be empty"),
				 errdetail("Without a point there is no plateau."),
				 errhint("Give a list of sizes, one for each window.")));

	series = (double *) ARR_DATA_PTR(array);
	for (int i = 0; i < *n; i++)
		if (isnan(series[i]) || isinf(series[i]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("series must be of finite numbers"),
					 errdetail("Element %d is %s.", i + 1,
							   isnan(series[i]) ? "NaN" : series[i] > 0 ? "Infinity" : "-Infinity"),
					 errhint("Leave out windows whose size is not known.")));
	return series;
}

Datum
ws_working_set_plateau_end(PG_FUNCTION_ARGS)
{
	int32		min_offset;
	int32		window_size;
	double		max_increase;
	double	   *series;
	int			n;
	int			index;
	TupleDesc	desc;
	Datum		values[2];
	bool		nulls[2] = {false};

	series = get_series(PG_GETARG_ARRAYTYPE_P(0), &n);
	min_offset = PG_GETARG_INT32(1);
	window_size = PG_GETARG_INT32(2);
	max_increase = PG_GETARG_FLOAT8(3);

	if (window_size < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("window size must be at least 2"),
				 errdetail("The window size is %d, and a slope needs two points.", window_size),
				 errhint("The default is %d.", WS_PLATEAU_WINDOW_SIZE)));
	if (n < window_size)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("series is too short"),
				 errdetail("It has %d points, and the window size is %d.", n, window_size),
				 errhint("Give more points, or a smaller window size and minimal offset.")));
	if (min_offset < window_size || min_offset > n)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("minimal offset is outside the series"),
				 errdetail("The offset is %d; with a window size of %d and %d points it must be from %d to %d.",
						   min_offset, window_size, n, window_size, n),
				 errhint("Offsets count points from 1, and there must be a whole window before the first one considered.")));
	if (isnan(max_increase) || isinf(max_increase) || max_increase < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("maximal increase must be a finite number and not negative"),
				 errdetail("It says how many times steeper the series must become to end the plateau."),
				 errhint("The default is %.1f.", WS_PLATEAU_MAX_INCREASE)));

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	index = ws_plateau_end(series, n, min_offset, window_size, max_increase);
	values[0] = Float8GetDatum(series[index - 1]);
	values[1] = Int32GetDatum(index);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

Datum
ws_working_set_reset(PG_FUNCTION_ARGS)
{
	ws_require_preloaded();
	PG_RETURN_TIMESTAMPTZ(ws_persist_reset(true));
}
