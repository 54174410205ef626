/*
 * sql_memory.c
 *		The rows of working_set_memory_advice.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "report.h"
#include "shared.h"
#include "sql_common.h"

/* Sizes of memory, as multiples of what the server has. */
static const double factors[] = {
	0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4
};

typedef struct Advice
{
	WsReport	report;
	const WsMemoryAdvice *both;
	bool		known;
	const char *doubt;			/* why no row is reliable; or NULL */
} Advice;

/* A note if less than this share of the pages is in the page cache; or NULL */
static const char *
get_displaced(const WsMemoryAdvice *both, double share)
{
	return both->share >= share ? NULL :
		psprintf("only %.0f %% of the pages that the page cache has memory for are in it", 100 * both->share);
}

static const char *
get_doubt(const Advice *a)
{
	const WsMemoryAdvice *both = a->both;
	const WsPublished *p = &a->report.last;
	const char *displaced = get_displaced(both, WS_DIVISION_MOSTLY);

	if (!ws_tracking())
		return ws_tracking_reason();
	if (both->reason[0] != '\0')
		return both->reason;
	if (!a->known)
		return a->report.status == WS_STATUS_STALE ? "the background worker does not run, or is late" :
			"there is too little data yet";
	if (a->report.late)
		return psprintf("the background worker has not reported since %s",
						timestamptz_to_str(p->computed_at));
	if (!p->table.sure)
	{
		const char *doubt = ws_report_doubt(p);

		return doubt ? doubt : "too few pages are sampled";
	}
	if (p->memory.generations)
		return "the kernel replaces pages by generations (MGLRU), which is not simulated";
	if (both->unchecked[0] != '\0')
		return displaced ? displaced :
			psprintf("not checked: %s", both->unchecked);
	if (both->present.buffers <= 0)
		return "not checked: too little is read with the present sizes to predict it";
	if (isnan(both->disk_blocks))
		return "not checked yet: reads from disk are being measured";
	if (ws_division_is_off(both->difference))
		return psprintf("for the present sizes %.0f blocks a second from disk were predicted and %.0f read%s%s",
						both->present.blocks, both->disk_blocks, displaced ? ", and " : "",
						displaced ? displaced : "");
	return displaced;
}

static void
get_advice(Advice *a)
{
	const WsPublished *p = &a->report.last;

	ws_require_preloaded();
	ws_report_read(&a->report);
	a->both = &p->both;
	a->known = ws_tracking() && p->since == ws_shared_since() && a->both->table.nbuffers > 0;
	a->doubt = get_doubt(a);
}

/* Bytes, at most all that fit. */
static Datum
to_bytes(double bytes)
{
	return Int64GetDatum(bytes < (double) PG_INT64_MAX ? (int64) bytes : PG_INT64_MAX);
}

static const char *
pretty(double bytes)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_size_pretty, to_bytes(bytes)));
}

/* Why a row is not reliable, or NULL. */
static const char *
get_note(const Advice *a, const WsPair *pair)
{
	const WsMemoryAdvice *both = a->both;

	/* of those that are simulated, some are not known if little is read */
	if (pair == NULL && a->known && both->present.buffers > 0)
		return psprintf("outside the shared_buffers that are predicted: %s to %s",
						pretty(both->table.buffers[0]),
						pretty(both->table.buffers[both->table.nbuffers - 1]));
	if (pair == NULL || a->doubt)
		return a->doubt;
	if (pair->cache <= 0)
		return psprintf("nothing is left for the page cache: all else takes %s",
						pretty(both->table.other));
	if (pair->error >= 2 * WS_DIVISION_TOLERANCE)
		return pair->cache > both->table.caches[both->table.ncaches - 1] ?
			"the page cache is larger than those that are simulated" :
			pair->cache < both->table.caches[0] ?
			"the page cache is smaller than those that are simulated" :
			both->off >= WS_DIVISION_TOLERANCE ?
			psprintf("in the last hours the predictions for the present sizes were off by %.0f points", 100 * both->off) :
			both->share < WS_DIVISION_ALL ? get_displaced(both, WS_DIVISION_ALL) :
			"too little has been read for a page cache of this size";
	if (ws_division_error(pair) >= 2 * WS_DIVISION_TOLERANCE)
		return "the hit ratio depends steeply on the size of the page cache here";
	return NULL;
}

static double
cost_of(const WsPair *pair)
{
	return pair->waits + WS_DIVISION_COPY * (pair->reads - pair->waits);
}

/* The share of query time that reads would take, by what they take now. */
static double
read_time_share(const Advice *a, const WsPair *pair)
{
	const WsDecision *d = &a->report.last.decision;
	double		share = d->present.week * cost_of(pair) / cost_of(&a->both->present);

	/* nothing is read at present: 0 / 0 */
	return a->report.known && d->timed && isfinite(share) ? fmin(share, 1) : NAN;
}

/* Sizes of memory and of shared buffers, 0 if not known; the prediction. */
static void
add_pair(WsRow *row, const Advice *a, double memory, double buffers, const WsPair *pair,
		 bool present)
{
	bool		known = pair != NULL;

	ws_row_add(row, memory > 0, to_bytes(memory));
	ws_row_add(row, buffers > 0, to_bytes(buffers));
	ws_row_add(row, known, to_bytes(known ? fmax(pair->cache, 0) : 0));
	ws_row_add_number(row, known, known ? pair->hit_ratio : 0);
	ws_row_add_number(row, known, known ? pair->cache_hit_ratio : 0);
	ws_row_add_number(row, known, known ? pair->waits : 0);
	ws_row_add_number(row, known, known ? pair->blocks * BLCKSZ : 0);
	ws_row_add_number(row, known, known ? read_time_share(a, pair) : 0);
	ws_row_add_number(row, known, known ? ws_division_error(pair) : 0);
	ws_row_add(row, true, BoolGetDatum(present));
	ws_row_add_text(row, get_note(a, pair));
}

/* What the server has, times a factor. */
static double
memory_of(const Advice *a, double factor)
{
	double		limit = (double) a->report.last.memory.limit;

	return factor == 1 ? limit : floor(factor * limit / BLCKSZ) * BLCKSZ;
}

/* So much memory, with so much for shared buffers; NaN: the best division. */
static bool
predict(const Advice *a, double memory, double buffers, WsPair *pair)
{
	const WsTierTable *table = &a->both->table;

	if (!a->known)
		return false;
	if (isnan(buffers))
		return ws_division_best(table, memory, pair);
	return ws_division_predict(table, buffers, ws_division_left(table, memory, buffers), pair);
}

static void
add_memory(WsRow *row, const Advice *a, double memory, double buffers)
{
	WsPair		pair = {0};
	bool		found = predict(a, memory, buffers, &pair);

	if (isnan(buffers))
		buffers = found ? pair.buffers : 0;
	add_pair(row, a, memory, buffers, found ? &pair : NULL, false);
	ws_row_end(row);
}

WS_FUNCTION(ws_working_set_memory_advice)
{
	double		memory = PG_ARGISNULL(0) ? NAN : (double) PG_GETARG_INT64(0);
	double		buffers = PG_ARGISNULL(1) ? NAN : (double) PG_GETARG_INT64(1);
	Advice		a;
	WsRow		row;

	ws_require_preloaded();
	if (memory <= 0)
		WS_REJECT("memory must be greater than zero");
	if (buffers <= 0)
		WS_REJECT("shared_buffers must be greater than zero");
	get_advice(&a);
	ws_row_begin(&row, fcinfo);
	if (!isnan(memory))
	{
		add_memory(&row, &a, memory, buffers);
		return (Datum) 0;
	}
	for (size_t i = 0; i < lengthof(factors); i++)
	{
		if (factors[i] == 1)
		{
			add_pair(&row, &a, memory_of(&a, 1), (double) NBuffers * BLCKSZ,
					 a.known && a.both->present.buffers > 0 ? &a.both->present : NULL, true);
			ws_row_end(&row);
		}
		add_memory(&row, &a, memory_of(&a, factors[i]), buffers);
	}
	return (Datum) 0;
}
