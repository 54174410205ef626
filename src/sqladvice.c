/*
 * sqladvice.c
 *		The rows of working_set_cache_advice.
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "published.h"
#include "shared.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_cache_advice);

/* Less than this tells nothing yet. */
#define FIRST_SECONDS 10

/*
 * Why the rows, or some of them, should not be trusted; NULL if they may.
 */
static char *
doubt(const WsPublishedAdvice *a, bool known)
{
	char		words[256];

	if (!known)
		return pstrdup("not known yet");
	if (ws_advice_is_late(a))
		return psprintf("the background worker has not reported since %s",
						timestamptz_to_str(a->computed_at));
	if (isnan(a->table.hit_ratio))
		return pstrdup("nothing was looked up in the last minutes");
	if (isnan(a->table.difference))
		return pstrdup("too few pages are sampled to tell");
	ws_advice_doubt(&a->table, words, sizeof(words));
	return words[0] == '\0' ? NULL : pstrdup(words);
}

static void
set_number(Datum *value, bool *null, double number)
{
	*null = isnan(number);
	*value = *null ? (Datum) 0 : Float8GetDatum(number);
}

Datum
ws_working_set_cache_advice(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WsPublishedAdvice a;
	bool		known;
	char	   *note;

	ws_require_preloaded();
	InitMaterializedSRF(fcinfo, 0);
	if (!ws_tracking() || ws_shared->sampler == NULL)
		return (Datum) 0;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	a = ws_published->advice;
	LWLockRelease(ws_shared->lock);
	known = a.computed_at != 0 && a.table.seconds >= FIRST_SECONDS &&
		a.since == ws_shared_since();
	note = doubt(&a, known);

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		const WsAdvice *row = &a.table.rows[i];
		int64		bytes = (int64) rint(ws_sweep_factors[i] * NBuffers) * BLCKSZ;
		Datum		values[10];
		bool		nulls[10] = {false};

		values[0] = Float8GetDatum(ws_sweep_factors[i]);
		values[1] = Int64GetDatum(bytes);
		values[2] = DirectFunctionCall1(pg_size_pretty, Int64GetDatum(bytes));
		set_number(&values[3], &nulls[3], known ? row->hit_ratio : NAN);
		set_number(&values[4], &nulls[4], known ? row->hit_ratio_without_scans : NAN);
		set_number(&values[5], &nulls[5], known ? row->hit_ratio_lru : NAN);
		set_number(&values[6], &nulls[6], known ? row->reads_per_second : NAN);
		set_number(&values[7], &nulls[7], known ? row->read_factor : NAN);
		set_number(&values[8], &nulls[8], known ? row->error : NAN);
		nulls[9] = note == NULL;
		values[9] = note ? CStringGetTextDatum(note) : (Datum) 0;
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
