/*
 * report.c
 *		Reading what was published; see report.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_namespace_d.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "guc.h"
#include "heuristic.h"
#include "report.h"
#include "shared.h"

/* Ticks for which the worker may be missing after a start. */
#define WORKER_GRACE (10 * WS_TICKS_PER_SECOND)

/* Should the worker have published since this tick? */
static bool
is_late(uint32 tick, int interval)
{
	int			seconds = Max(3 * interval, interval + 5);

	return ws_shared_advance() > tick + seconds * WS_TICKS_PER_SECOND;
}

static WsStatus
get_status(bool current, bool late)
{
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);

	/* the data may be older than this server, the worker is not */
	uint32		start = Max(floor, WS_TICK_ORIGIN);

	if (!ws_tracking())
		return WS_STATUS_NOT_TRACKING;
	if (ws_shared_worker_pid() == 0 && ws_shared_advance() > start + WORKER_GRACE)
		return WS_STATUS_STALE;
	/* the first recommendation after a reset takes a minute and an interval */
	if (current ? late :
		is_late(Max(floor + WS_COLLECTING_SECONDS * WS_TICKS_PER_SECOND, start), ws_interval))
		return WS_STATUS_STALE;
	return current ? WS_STATUS_OK : WS_STATUS_COLLECTING;
}

void
ws_report_read(WsReport *report)
{
	bool		current;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	report->last = ws_published->last;
	strlcpy(report->withheld, ws_published->withheld, sizeof(report->withheld));
	LWLockRelease(ws_shared->lock);

	current = report->last.recommends && report->last.since == ws_shared_since();
	report->late = is_late(report->last.tick, report->last.interval);
	report->status = get_status(current, report->late);
	report->known = current && ws_tracking();
}

double
ws_report_saved(const WsReport *report, const WsCacheUser *user, double *error)
{
	*error = NAN;
	if (report->late || report->last.since != ws_shared_since())
		return NAN;
	for (int i = 0; i < report->last.nsaved; i++)
		if (ws_cache_user_equal(&report->last.saved[i].user, user))
		{
			*error = report->last.saved[i].error;
			return report->last.saved[i].reads;
		}
	return NAN;
}

const char *
ws_tracking_reason(void)
{
	if (!ws_shared->attached)
		return ws_refusal;
	if (!ws_enabled)
		return "working_set.enabled is off";
	return "every lookup of shared buffers is seen";
}

TimestampTz
ws_report_day(const WsPublished *p, int later)
{
	return (p->computed_at / USECS_PER_DAY + later) * USECS_PER_DAY;
}

TimestampTz
ws_report_outgrown(const WsPublished *p, double pages, bool *near)
{
	WsForecastDate date = ws_forecast_exceeds(&p->trend, pages);

	*near = date.near;
	return date.expected < 0 ? 0 : ws_report_day(p, date.expected);
}

/* "13:52" of today, "Tuesday 14:00" or "2026-11-03 14:00" */
static const char *
format_time(TimestampTz at, TimestampTz now)
{
	pg_time_t	seconds = timestamptz_to_time_t(at);
	pg_time_t	present = timestamptz_to_time_t(now);
	struct pg_tm then = *pg_localtime(&seconds, session_timezone);
	struct pg_tm today = *pg_localtime(&present, session_timezone);
	TimestampTz days = (at > now ? at - now : now - at) / USECS_PER_DAY;
	bool		same = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
	char	   *buf = palloc(64);

	pg_strftime(buf, 64, same ? "%H:%M" : days < 6 ? "%A %H:%M" : "%Y-%m-%d %H:%M", &then);
	return buf;
}

const char *
ws_report_doubt(const WsPublished *p)
{
	char	   *buf = palloc(256);

	if (ws_shared->sampler == NULL)
		return "there is no cache advice, because working_set.sample_pages is 0";
	ws_advice_doubt(&p->table, p->filling_until <= GetCurrentTimestamp() ? "" :
					format_time(p->filling_until, GetCurrentTimestamp()), buf, 256);
	return buf[0] == '\0' ? NULL : buf;
}

const char *
ws_report_row_note(const WsPublished *p, const WsAdvice *row)
{
	const char *doubt = ws_advice_row_doubt(&p->table, row);
	TimestampTz until = p->computed_at + (TimestampTz) ((ws_break_even - p->data_seconds) * USECS_PER_SEC);

	if (doubt == NULL)
		return ws_advice_row_note(&p->table, row);
	return until <= p->computed_at ? doubt : psprintf("%s, until %s", doubt, format_time(until, p->computed_at));
}

/* The day on which shared_buffers are outgrown, if near and sure; or "". */
static const char *
format_outgrown(const WsPublished *p)
{
	bool		near;
	pg_time_t	seconds = timestamptz_to_time_t(ws_report_outgrown(p, NBuffers, &near));
	char	   *buf = palloc0(16);

	/* days are those of UTC */
	if (near)
		pg_strftime(buf, 16, "%Y-%m-%d", pg_gmtime(&seconds));
	return buf;
}

/* Why the status is not ok, or an empty string. */
static const char *
status_reason(const WsReport *report)
{
	switch (report->status)
	{
		case WS_STATUS_OK:
			break;
		case WS_STATUS_COLLECTING:
			return psprintf("counting since %s; the first recommendation comes after a minute",
							timestamptz_to_str(ws_shared_since()));
		case WS_STATUS_STALE:
			if (!report->known)
				return psprintf("the background worker %s; see the server log",
								ws_shared_worker_pid() == 0 ? "is not running" : "has made no recommendation");
			return psprintf("the background worker has not reported since %s",
							timestamptz_to_str(report->last.computed_at));
		case WS_STATUS_NOT_TRACKING:
			return ws_tracking_reason();
	}
	return "";
}

WsSetBy
ws_report_set_by(void)
{
	WsSetBy		how = WS_SET_BY_ALTER_SYSTEM;

	/* names are complete, so that search_path does not matter */
	SPI_connect();
	if (SPI_execute("SELECT pg_catalog.bool_or(name OPERATOR(pg_catalog.=) 'shared_buffers' AND source OPERATOR(pg_catalog.=) 'command line'),"
					" pg_catalog.bool_or(name OPERATOR(pg_catalog.=) 'allow_alter_system' AND setting OPERATOR(pg_catalog.=) 'off'),"
					" pg_catalog.bool_or(name OPERATOR(pg_catalog.=) 'unix_socket_directories' AND setting OPERATOR(pg_catalog.=) '/controller/run'),"
					" pg_catalog.count(*) FILTER (WHERE source OPERATOR(pg_catalog.=) 'command line' AND"
					" name OPERATOR(pg_catalog.=) ANY ('{cluster_name,track_commit_timestamp,max_locks_per_transaction}')) OPERATOR(pg_catalog.=) 3"
					" FROM pg_catalog.pg_settings", true, 1) == SPI_OK_SELECT && SPI_processed == 1)
	{
		static const WsSetBy ways[] = {WS_SET_BY_COMMAND_LINE, WS_SET_BY_FILES, WS_SET_BY_CLOUDNATIVEPG, WS_SET_BY_PATRONI};

		/* the later ones say more */
		for (int i = 0; i < (int) lengthof(ways); i++)
		{
			bool		isnull;
			Datum		is = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1, &isnull);

			if (!isnull && DatumGetBool(is))
				how = ways[i];
		}
	}
	SPI_finish();
	return how;
}

/* "02:15", of a quarter of an hour of the day of UTC, in the session's zone */
static const char *
format_quarter(int quarter, TimestampTz now)
{
	TimestampTz at = now / USECS_PER_DAY * USECS_PER_DAY + quarter * (int64) WS_COST_QUARTER * USECS_PER_SEC;

	return format_time(at, at);
}

void
ws_report_summarize(const WsReport *report, WsSummary *s)
{
	const WsPublished *p = &report->last;
	double		known = ws_shared_known(ws_shared_advance()) / (double) WS_TICKS_PER_SECOND;
	TimestampTz now = GetCurrentTimestamp();

	memset(s, 0, sizeof(*s));
	s->status = report->status;
	s->trouble = status_reason(report);
	s->withheld = report->withheld;
	s->wait = Max((int) (WS_COLLECTING_SECONDS + ws_interval - known), 1);
	s->known = report->known;
	s->top = s->why = s->ask_again = s->job_at = s->outgrown = s->memory_reason = "";
	s->memory = (double) p->memory.limit;
	s->by_cgroup = p->memory.by_cgroup;
	if (!report->known)
		return;
	s->decision = p->decision;
	s->shared_buffers = (double) NBuffers * BLCKSZ;
	s->confidence = report->status == WS_STATUS_OK ? p->confidence : WS_CONFIDENCE_LOW;
	s->why = report->status == WS_STATUS_OK ? p->why : "not of now";
	s->ask_again = p->surer_at > now ? format_time(p->surer_at, now) : "";
	s->filling = p->filling;
	s->promised = p->promised;
	s->came = p->came;
	s->since = p->came_seconds;
	s->job_at = format_quarter(p->decision.job.quarter, now);
	s->outgrown = format_outgrown(p);
	s->memory_reason = p->memory.reason;
	s->used = p->used * BLCKSZ;
	s->used_seconds = Min(p->data_seconds, WS_HISTORY_WEEK);
}
