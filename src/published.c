/*
 * published.c
 *		Status and reasons; see published.h.
 *
 * Ages are measured by the monotonic clock, so that a system clock that is set
 * makes nothing look stale.
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "guc.h"
#include "heuristic.h"
#include "published.h"
#include "shared.h"

/* Ticks for which the worker may be missing after a start. */
#define WORKER_GRACE (10 * WS_TICKS_PER_SECOND)

WsSharedPublished *ws_published = NULL;

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
ws_published_read(WsReport *report)
{
	bool		current;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	report->last = ws_published->last;
	LWLockRelease(ws_shared->lock);

	current = report->last.recommends && report->last.since == ws_shared_since();
	report->late = is_late(report->last.tick, report->last.interval);
	report->status = get_status(current, report->late);
	report->known = current && ws_tracking();
}

const char *
ws_status_name(WsStatus status)
{
	static const char *const names[] = {"ok", "collecting", "stale", "not tracking"};

	return names[status];
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

/* The part of the reason that explains shared_buffers and the verdict. */
static char *
sizing_reason(const WsPublished *p)
{
	const WsSizing *s = &p->sizing;
	const char *limit = p->memory.by_cgroup ? "allowed by the control group" : "of memory";
	char		peak[32];
	char		useful[32];
	char		cacheable[32];
	char		memory[32];
	char		history[32];
	char	   *words;

	ws_format_bytes(p->peak * BLCKSZ, peak, sizeof(peak));
	ws_format_bytes(s->useful, useful, sizeof(useful));
	ws_format_bytes(s->cacheable, cacheable, sizeof(cacheable));
	ws_format_bytes((double) p->memory.limit, memory, sizeof(memory));
	ws_format_window(Max(p->history_minutes, 1) * 60.0, history, sizeof(history));

	words = psprintf("recommended_cache is for the current load; suggested_shared_buffers and the verdict are for the busiest time in the %s of history, which needed %s at %s",
					 history, peak, timestamptz_to_str(p->peak_at));
	if (p->memory.limit == 0)
		return psprintf("%s; the memory limit is not known: %s", words, p->memory.reason);
	if (s->useful > 0)
		return psprintf("%s; caches can have only %s of %s %s, and shared_buffers of more than %s would save hardly any reads",
						words, cacheable, memory, limit, useful);
	if (p->memory.by_cgroup)
		return psprintf("%s; caches can have %s of %s %s", words, cacheable, memory, limit);
	return words;
}

char *
ws_report_reason(const WsReport *report)
{
	const WsPublished *p = &report->last;

	switch (report->status)
	{
		case WS_STATUS_OK:
			return psprintf("%s%s%s; %s", p->reason, p->advice_reason[0] != '\0' ? "; " : "",
							p->advice_reason, sizing_reason(p));
		case WS_STATUS_COLLECTING:
			return psprintf("counting since %s; the first recommendation comes after a minute",
							timestamptz_to_str(ws_shared_since()));
		case WS_STATUS_STALE:
			if (!report->known)
				return psprintf("the background worker %s; see the server log",
								ws_shared_worker_pid() == 0 ? "is not running" : "has made no recommendation");
			return psprintf("the background worker has not reported since %s; then: %s",
							timestamptz_to_str(p->computed_at), p->reason);
		case WS_STATUS_NOT_TRACKING:
			break;
	}
	return pstrdup(ws_tracking_reason());
}
