/*
 * sqlhistory.c
 *		The rows of working_set_history.
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "published.h"
#include "shared.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_history);

static void
set_pages(Datum *value, bool *null, double pages)
{
	*null = isnan(pages);
	*value = *null ? (Datum) 0 : Int64GetDatum(ws_pages_to_bytes(pages));
}

Datum
ws_working_set_history(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	WsHistory  *history;
	WsHistoryEntry *entries;
	int			n;

	ws_require_preloaded();
	InitMaterializedSRF(fcinfo, 0);

	history = palloc(sizeof(WsHistory));
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	*history = ws_published->history;
	LWLockRelease(ws_shared->lock);
	entries = palloc(sizeof(WsHistoryEntry) * WS_HISTORY_ENTRIES);
	n = ws_history_read(history, timestamptz_to_time_t(GetCurrentTimestamp()), entries);

	for (int i = 0; i < n; i++)
	{
		const WsHistoryRow *row = &entries[i].row;
		Datum		values[8];
		bool		nulls[8] = {false};

		values[0] = TimestampTzGetDatum(time_t_to_timestamptz(entries[i].end -
															  entries[i].minutes * 60));
		values[1] = Int32GetDatum(entries[i].minutes);
		set_pages(&values[2], &nulls[2], row->working_set);
		set_pages(&values[3], &nulls[3], row->recommended);
		set_pages(&values[4], &nulls[4], row->plateau_end);
		set_pages(&values[5], &nulls[5], row->live);
		values[6] = Int64GetDatum((int64) Min(row->lookups, (uint64) PG_INT64_MAX));
		values[7] = Int64GetDatum((int64) Min(row->hits, (uint64) PG_INT64_MAX));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
