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
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "compat.h"
#include "guc.h"
#include "heuristic.h"
#include "probe.h"
#include "shmem.h"
#include "sqlfuncs.h"

WS_FUNCTION(ws_working_set_recommendation);
WS_FUNCTION(ws_working_set_info);

static TimestampTz
since(void)
{
	return ws_shmem_since();
}

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

/*
 * Why there is no tracking, or that there is.
 */
static const char *
tracking_reason(void)
{
	if (!ws_shared->attached)
		return ws_shared->refusal;
	if (!ws_enabled)
		return "working_set.enabled is off";
	return "every lookup of shared buffers is seen";
}

typedef enum Status
{
	WS_STATUS_OK,
	WS_STATUS_COLLECTING,
	WS_STATUS_STALE,
	WS_STATUS_NOT_TRACKING
} Status;

static const char *const status_names[] = {"ok", "collecting", "stale", "not tracking"};

/* how long after start a worker may not be there yet, or again */
#define WORKER_GRACE (10 * WS_TICKS_PER_SECOND)

static int32
worker_pid(void)
{
	return __atomic_load_n(&ws_shared->worker_pid, __ATOMIC_RELAXED);
}

int
ws_late_after(int interval)
{
	return Max(3 * interval, interval + 5);
}

/*
 * What is published worth?  Judged by the clock that nobody sets.
 */
static Status
judge(const WsPublished *p)
{
	bool		current = p->computed_at != 0 && p->since == since();
	uint32		now = ws_shmem_advance();
	uint32		began = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);
	uint32		present;
	uint32		expected;

	if (!ws_tracking())
		return WS_STATUS_NOT_TRACKING;

	/* what was saved goes back to before this server, the worker does not */
	present = Max(began, WS_TICK_ORIGIN);
	if (worker_pid() == 0 && now > present + WORKER_GRACE)
		return WS_STATUS_STALE;

	/* the first after a reset takes a minute, and its turn */
	expected = current ? p->tick :
		Max(began + WS_COLLECTING_SECONDS * WS_TICKS_PER_SECOND, present);
	if (now > expected + ws_late_after(current ? p->interval : ws_interval) * WS_TICKS_PER_SECOND)
		return WS_STATUS_STALE;
	return current ? WS_STATUS_OK : WS_STATUS_COLLECTING;
}

/*
 * What to do about shared_buffers, and why: it is for the busiest time.
 */
static char *
sizing_reason(const WsPublished *p)
{
	const WsSizing *s = &p->sizing;
	char		peak[32];
	char		useful[32];
	char		cacheable[32];
	char		memory[32];
	char		known[32];
	char	   *words;

	ws_format_bytes(p->peak * BLCKSZ, peak, sizeof(peak));
	ws_format_bytes(s->useful, useful, sizeof(useful));
	ws_format_bytes(s->cacheable, cacheable, sizeof(cacheable));
	ws_format_bytes((double) p->memory.limit, memory, sizeof(memory));
	ws_format_window(Max(p->history_minutes, 1) * 60.0, known, sizeof(known));

	words = psprintf("recommended_cache_bytes is for now; shared_buffers and the verdict are for the busiest time of the %s seen, which needed %s at %s",
					 known, peak, timestamptz_to_str(p->peak_at));
	if (p->memory.limit == 0)
		return psprintf("%s; the memory limit is not known: %s", words, p->memory.reason);
	if (s->useful > 0)
		return psprintf("%s: more than the %s that caches can have of %s %s, and of that no more than %s is of use to shared_buffers",
						words, cacheable, memory,
						p->memory.by_cgroup ? "allowed by the control group" : "of memory", useful);
	if (p->memory.by_cgroup)
		return psprintf("%s; caches can have %s of %s allowed by the control group", words, cacheable, memory);
	return words;
}

/*
 * The sentence that goes with the status.
 */
static char *
status_reason(Status status, const WsPublished *p, const WsPublishedAdvice *a, bool current)
{
	switch (status)
	{
		case WS_STATUS_OK:
			return psprintf("%s%s%s; %s", p->reason, a->reason[0] == '\0' ? "" : "; ", a->reason,
							sizing_reason(p));
		case WS_STATUS_COLLECTING:
			return psprintf("counting since %s; the first recommendation comes after a minute",
							timestamptz_to_str(since()));
		case WS_STATUS_STALE:
			if (!current)
				return psprintf("the background worker %s; see the server log",
								worker_pid() == 0 ? "is not running" : "has made no recommendation");
			return psprintf("the background worker has not reported since %s; then: %s",
							timestamptz_to_str(p->computed_at), p->reason);
		case WS_STATUS_NOT_TRACKING:
			return pstrdup(tracking_reason());
	}
	return NULL;
}

Datum
ws_working_set_recommendation(PG_FUNCTION_ARGS)
{
	WsPublished p;
	WsPublishedAdvice a;
	Status		status;
	bool		known;
	bool		advised;
	int64		recommended;
	uint64		memory;
	Row			row;

	ws_require_preloaded();

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	p = ws_shared->published;
	a = ws_shared->advice;
	memory = ws_shared->memory_limit;
	LWLockRelease(ws_shared->lock);

	status = judge(&p);
	known = (status == WS_STATUS_OK || status == WS_STATUS_STALE) &&
		p.computed_at != 0 && p.since == since();
	advised = known && a.computed_at != 0 && a.since == since();
	recommended = ws_pages_to_bytes(p.recommended);

	row_begin(&row, fcinfo);
	row_add(&row, known, TimestampTzGetDatum(p.computed_at));
	row_add(&row, true, CStringGetTextDatum(status_names[status]));
	row_add(&row, true, CStringGetTextDatum(ws_guc_method_name(known ? p.method : ws_method)));
	row_add_pages(&row, known, p.pages);
	row_add_pages(&row, known, p.low);
	row_add_pages(&row, known && !isinf(p.high), isinf(p.high) ? 0 : p.high);
	row_add(&row, known, Int32GetDatum(p.window_seconds));
	row_add_pages(&row, known, p.plateau_end);
	row_add_pages(&row, known && !isnan(p.live), isnan(p.live) ? 0 : p.live);
	row_add_pages(&row, known, p.projected);
	row_add_pages(&row, known, p.recommended);
	row_add(&row, known, known ?
			DirectFunctionCall1(pg_size_pretty, Int64GetDatum(recommended)) : (Datum) 0);
	row_add_pages(&row, known, p.peak);
	row_add(&row, known, TimestampTzGetDatum(p.peak_at));
	row_add_pages(&row, true, NBuffers);
	row_add_pages(&row, true, known ? p.effective_cache_size : effective_cache_size);
	row_add(&row, memory != 0, Int64GetDatum((int64) memory));
	row_add_ratio(&row, advised, a.table.hit_ratio);
	row_add_ratio(&row, advised && a.table.sure, a.expected_hit_ratio);
	row_add_setting(&row, known, p.sizing.suggested_shared_buffers);
	row_add_setting(&row, known, p.sizing.suggested_effective_cache_size);
	row_add_text(&row, known ? ws_verdict_name(p.sizing.verdict) : NULL);
	row_add(&row, true, CStringGetTextDatum(status_reason(status, &p, &a, known)));
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
	int64		removed;
	bool		attached;
	TimestampTz saved;
	TimestampTz began;
	Row			row;

	ws_require_preloaded();
	attached = ws_shared->attached;
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	saved = ws_shared->last_saved;
	LWLockRelease(ws_shared->lock);

	ws_probe_flush_counters();
	began = ws_shmem_read_counters(&counters, &removed);

	row_begin(&row, fcinfo);
	row_add(&row, true, BoolGetDatum(ws_tracking()));
	row_add(&row, true, CStringGetTextDatum(tracking_reason()));
	row_add(&row, ws_tracking(), TimestampTzGetDatum(began));
	row_add(&row, true, Int32GetDatum(ws_sketch_m(ws_shared->sketch[WS_CLIENT])));
	row_add(&row, true, Float8GetDatum(sample_rate()));
	row_add(&row, true, Int64GetDatum(sampled_pages()));
	row_add(&row, attached, Int64GetDatum(counters.hits[WS_CLIENT] + counters.reads[WS_CLIENT]));
	row_add(&row, attached, Int64GetDatum(counters.hits[WS_CLIENT]));
	row_add(&row, attached, Int64GetDatum(removed));
	row_add(&row, true, Int64GetDatum(counters.dropped));
	row_add(&row, worker_pid() != 0, Int32GetDatum(worker_pid()));
	row_add(&row, saved != 0, TimestampTzGetDatum(saved));
	row_add(&row, true, Int64GetDatum(ws_shared->memory));
	row_add(&row, true, CStringGetTextDatum(WS_VERSION));
	PG_RETURN_DATUM(row_end(&row));
}
