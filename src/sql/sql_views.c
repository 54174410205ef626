/*
 * sql_views.c
 *		The rows of working_set_recommendation, working_set_cache_advice,
 *		working_set_history, working_set_forecast and working_set_info, and the
 *		text of working_set().
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "counters.h"
#include "estimate.h"
#include "guc.h"
#include "probe.h"
#include "report.h"
#include "shared.h"
#include "sql_common.h"

/* There is no advice from counts of fewer seconds than these. */
#define FIRST_SECONDS 10

#define SAME_SIZE 0.001			/* sizes that differ by less are one row */

/* Bytes as the value of a setting, or NULL for 0. */
static void
add_setting(WsRow *row, bool known, double bytes)
{
	char		setting[32];

	ws_format_setting(bytes, setting, sizeof(setting));
	ws_row_add_text(row, known && bytes > 0 ? setting : NULL);
}

WS_FUNCTION(ws_working_set_recommendation)
{
	WsReport	report;
	const WsPublished *p = &report.last;
	const WsAdviceTable *table = &p->table;
	WsSummary	s;
	char		words[WS_SUMMARY_SIZE];
	char		job[128];
	double		size;
	bool		known;
	bool		looked_up;
	bool		expects;		/* as working_set_cache_advice does */
	WsRow		row;

	ws_require_preloaded();
	ws_report_read(&report);
	known = report.known;
	looked_up = known && table->seconds > 0 && table->lookups > 0;
	ws_report_summarize(&report, &s);
	size = ws_summary_size(&s);
	expects = looked_up && size > 0 && table->sure && table->seconds >= FIRST_SECONDS;
	ws_summary_reason(&s, words, sizeof(words));
	ws_summary_job(&s, job, sizeof(job));
	ws_row_begin(&row, fcinfo);
	ws_row_add_text(&row, ws_status_names[report.status]);
	ws_row_add_text(&row, size > 0 ? ws_verdict_names[p->decision.verdict] : NULL);
	ws_row_add_text(&row, known ? ws_confidence_names[s.confidence] : NULL);
	add_setting(&row, known, size);
	add_setting(&row, size > 0, p->decision.effective);
	ws_row_add_text(&row, words);
	ws_row_add_pages(&row, known, p->recommended);
	ws_row_add_pages(&row, known, p->pages);
	ws_row_add_pages(&row, known, p->live);
	ws_row_add_pages(&row, known, p->plateau_end);
	ws_row_add_pages(&row, known, p->peak);
	ws_row_add(&row, known, TimestampTzGetDatum(p->peak_at));
	ws_row_add_pages(&row, true, NBuffers);
	ws_row_add(&row, p->memory.limit != 0, Int64GetDatum((int64) p->memory.limit));
	ws_row_add_number(&row, looked_up, table->hit_ratio);
	ws_row_add_number(&row, expects, p->expected_hit_ratio);
	ws_row_add_number(&row, looked_up, table->reads_per_second);
	ws_row_add_number(&row, expects, (1 - p->expected_hit_ratio) * table->lookups / table->seconds);
	/* what nobody was seen waiting for is not more than that, to decide by */
	ws_row_add_number(&row, known, !p->decision.timed ? NAN :
					  p->decision.waiting > 0 ? p->decision.present.week : 0);
	ws_row_add_number(&row, known && p->decision.timed, ws_summary_saved(&s));
	ws_row_add_text(&row, job[0] != '\0' ? job : NULL);
	ws_row_add(&row, known, TimestampTzGetDatum(p->computed_at));
	return ws_row_end(&row);
}

/* Why the rows, or some of them, are not reliable; NULL if they are. */
static const char *
doubt(const WsReport *report, bool known)
{
	const WsAdviceTable *table = &report->last.table;

	if (!known)
		return "there is too little data yet";
	if (report->late)
		return psprintf("the background worker has not reported since %s",
						timestamptz_to_str(report->last.computed_at));
	if (isnan(table->hit_ratio))
		return "no page was looked up in the last minutes";
	if (isnan(table->difference))
		return "too few pages are sampled";
	return ws_report_doubt(&report->last);
}

static void
add_advice(WsRow *row, const WsReport *report, const WsQueryTime *times, bool known, double factor,
		   const WsAdvice *advice, const char *note)
{
	double		buffers = rint(factor * NBuffers);
	WsShares	shares = ws_query_time_shares(times, buffers * BLCKSZ);

	ws_row_add_number(row, true, factor);
	ws_row_add_pages(row, true, buffers);
	ws_row_add_number(row, known, advice->hit_ratio);
	ws_row_add_number(row, known, advice->reads_per_second);
	ws_row_add_number(row, known, advice->low);
	ws_row_add_number(row, known, advice->high);
	ws_row_add_number(row, times->timed, shares.week);
	ws_row_add_number(row, times->timed, shares.loss);
	ws_row_add_number(row, known, advice->error);
	ws_row_add_text(row, note ? note : ws_report_row_note(&report->last, advice));
	ws_row_end(row);
}

/* Is the followed size the suggested one, and none of the others? */
static bool
suggests_between(const WsPublished *p)
{
	double		factor = p->table.rows[WS_SWEEP_FOLLOWER].factor;
	double		suggested = p->decision.size / BLCKSZ;

	for (int i = 0; i < WS_SWEEP_GRID; i++)
		if (fabs(factor / ws_sweep_grid[i] - 1) < SAME_SIZE)
			return false;
	return p->table.followed && fabs(suggested / (factor * NBuffers) - 1) < SAME_SIZE;
}

/* What reads took, from a copy of the costs, since it takes a while. */
static WsQueryTime *
read_query_time(void)
{
	WsQueryTime *times = palloc(sizeof(WsQueryTime));
	WsCosts    *costs = palloc(sizeof(WsCosts));
	WsVerdictFacts *facts = palloc0(sizeof(WsVerdictFacts));

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	*costs = ws_published->history.costs;
	LWLockRelease(ws_shared->lock);
	facts->costs = costs;
	facts->now = timestamptz_to_time_t(GetCurrentTimestamp());
	facts->buffer = BLCKSZ;
	facts->shared_buffers = (double) NBuffers * BLCKSZ;
	facts->worth = ws_worth;
	ws_query_time(times, facts);
	return times;
}

WS_FUNCTION(ws_working_set_cache_advice)
{
	WsReport	report;
	const WsPublished *p = &report.last;
	WsQueryTime *times;
	const WsAdvice *own;
	double		between;
	bool		known;
	const char *note;
	WsRow		row;

	ws_require_preloaded();
	ws_row_begin(&row, fcinfo);
	if (!ws_tracking() || ws_shared->sampler == NULL)
		return (Datum) 0;
	ws_report_read(&report);
	known = p->since == ws_shared_since() && p->table.seconds >= FIRST_SECONDS;
	note = doubt(&report, known);
	times = read_query_time();
	own = &p->table.rows[WS_SWEEP_FOLLOWER];
	between = known && suggests_between(p) ? own->factor : INFINITY;
	for (int i = 0; i < WS_SWEEP_GRID; i++)
	{
		if (between < ws_sweep_grid[i])
		{
			add_advice(&row, &report, times, known, between, own, note);
			between = INFINITY;
		}
		add_advice(&row, &report, times, known, ws_sweep_grid[i], &p->table.rows[i], note);
	}
	if (between < INFINITY)
		add_advice(&row, &report, times, known, between, own, note);
	return (Datum) 0;
}

WS_FUNCTION(ws_working_set_history)
{
	WsHistory  *history;
	WsHistoryEntry *entries;
	int			n;
	WsRow		row;

	ws_require_preloaded();
	ws_row_begin(&row, fcinfo);
	history = palloc(sizeof(WsHistory));
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	*history = ws_published->history;
	LWLockRelease(ws_shared->lock);
	entries = palloc(sizeof(WsHistoryEntry) * WS_HISTORY_ENTRIES);
	n = ws_history_read(history, timestamptz_to_time_t(GetCurrentTimestamp()), entries);
	for (int i = 0; i < n; i++)
	{
		const WsHistoryEntry *e = &entries[i];

		ws_row_add(&row, true, TimestampTzGetDatum(time_t_to_timestamptz(e->end - e->minutes * 60)));
		ws_row_add(&row, true, Int32GetDatum(e->minutes));
		ws_row_add_pages(&row, true, e->row.working_set);
		ws_row_add_pages(&row, true, e->row.recommended);
		ws_row_add(&row, true, Int64GetDatum((int64) e->row.lookups));
		ws_row_add(&row, true, Int64GetDatum((int64) e->row.hits));
		ws_row_end(&row);
	}
	return (Datum) 0;
}

/* The size that is expected in so many days. */
static void
add_forecast(WsRow *row, const WsReport *report, int days)
{
	const WsPublished *p = &report->last;
	double		low;
	double		high;
	double		pages = ws_forecast_size(&p->trend, days, &low, &high);

	ws_row_add_text(row, psprintf("in %d days", days));
	ws_row_add(row, report->known, TimestampTzGetDatum(ws_report_day(p, days)));
	ws_row_add_pages(row, report->known, pages);
	ws_row_add_pages(row, report->known, low);
	ws_row_add_pages(row, report->known, high);
	ws_row_end(row);
}

/* When a size is outgrown; 0: the size is not known. */
static void
add_outgrown(WsRow *row, const WsReport *report, const char *what, double pages)
{
	bool		near;
	TimestampTz at = ws_report_outgrown(&report->last, pages, &near);
	bool		known = report->known && pages > 0;

	ws_row_add_text(row, what);
	ws_row_add(row, known && at != 0, TimestampTzGetDatum(at));
	for (int i = 0; i < 3; i++)
		ws_row_add_pages(row, known, pages);
	ws_row_end(row);
}

WS_FUNCTION(ws_working_set_forecast)
{
	WsReport	report;
	WsRow		row;

	ws_require_preloaded();
	ws_report_read(&report);
	ws_row_begin(&row, fcinfo);
	add_forecast(&row, &report, 7);
	add_forecast(&row, &report, 30);
	add_forecast(&row, &report, 90);
	add_outgrown(&row, &report, "shared_buffers outgrown", NBuffers);
	add_outgrown(&row, &report, "memory outgrown", report.last.decision.cacheable / BLCKSZ);
	return (Datum) 0;
}

WS_FUNCTION(ws_working_set_info)
{
	WsCounters	counters;
	int64		evictions;
	int64		sampled = 0;
	uint32		shift;
	bool		attached;
	TimestampTz saved;
	TimestampTz began;
	int			checked;
	int			right;
	WsRow		row;

	ws_require_preloaded();
	attached = ws_shared->attached;
	shift = ws_load(&ws_shared->sample_shift);
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	saved = ws_published->last_saved;
	ws_checks_count(&ws_published->history.checks,
					timestamptz_to_time_t(GetCurrentTimestamp()), &checked, &right);
	LWLockRelease(ws_shared->lock);
	if (ws_shared->sampler)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
		sampled = ws_shared->sampler->count;
		LWLockRelease(ws_shared->sample_lock);
	}
	ws_probe_flush_counters();
	began = ws_counters_read(&counters, &evictions);
	ws_row_begin(&row, fcinfo);
	ws_row_add(&row, true, BoolGetDatum(ws_tracking()));
	ws_row_add_text(&row, ws_tracking_reason());
	ws_row_add(&row, ws_tracking(), TimestampTzGetDatum(began));
	ws_row_add_number(&row, true, shift == WS_SAMPLE_OFF ? 0 : ldexp(1, -(int) shift));
	ws_row_add(&row, true, Int64GetDatum(sampled));
	ws_row_add(&row, attached, Int64GetDatum(counters.hits[WS_CLIENT] + counters.reads[WS_CLIENT]));
	ws_row_add(&row, attached, Int64GetDatum(counters.hits[WS_CLIENT]));
	ws_row_add(&row, attached, Int64GetDatum(evictions));
	ws_row_add(&row, true, Int64GetDatum(counters.dropped));
	ws_row_add(&row, true, Int32GetDatum(checked));
	ws_row_add(&row, true, Int32GetDatum(right));
	ws_row_add(&row, ws_shared_worker_pid() != 0, Int32GetDatum(ws_shared_worker_pid()));
	ws_row_add(&row, saved != 0, TimestampTzGetDatum(saved));
	ws_row_add_text(&row, WS_VERSION);
	return ws_row_end(&row);
}

WS_FUNCTION(ws_working_set)
{
	WsReport	report;
	WsSummary	s;
	char		words[WS_SUMMARY_SIZE];

	ws_require_preloaded();
	ws_report_read(&report);
	ws_report_summarize(&report, &s);
	if (s.known)
	{
		s.set_by = ws_report_set_by();
		s.top = ws_relations_top(fcinfo->flinfo);
	}
	ws_summary_text(&s, words, sizeof(words));
	PG_RETURN_TEXT_P(cstring_to_text(words));
}
