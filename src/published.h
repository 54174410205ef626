/*
 * published.h
 *		What the worker publishes, and how to read it: the recommendation, the
 *		cache advice, the history.
 *
 * The worker writes; a reset empties the history.  All readers of the
 * recommendation call ws_published_read(), so that they agree on
 * the status and the verdict.
 */
#ifndef WS_PUBLISHED_H
#define WS_PUBLISHED_H

#include "datatype/timestamp.h"

#include "advice.h"
#include "history.h"
#include "memory.h"
#include "sizing.h"

/* Seconds of data that a recommendation needs. */
#define WS_COLLECTING_SECONDS	60

typedef struct WsPublished
{
	TimestampTz computed_at;	/* 0: never */
	uint32		tick;			/* the same, by the monotonic clock */
	int64		since;			/* value of WsShared.since it is about */
	int			interval;		/* seconds until the next one, at most */

	/* the recommendation */
	bool		recommends;		/* is there one? */
	int			method;			/* a WsMethod: the one that was used */
	int			window_seconds;
	double		pages;			/* working set of the window, with bounds */
	double		low;
	double		high;
	double		plateau_end;	/* pages */
	double		live;			/* pages; NaN: not known */
	double		live_low;		/* its bounds */
	double		live_high;
	double		recommended;	/* pages: projected, with headroom */
	double		recommended_low;	/* its bounds */
	double		recommended_high;
	double		needed;			/* pages: what the history gets */
	double		peak;			/* pages: most needed, in history or now */
	TimestampTz peak_at;
	int			history_minutes;	/* of data in the history */
	WsSizing	sizing;
	char		reason[256];

	/* known without a recommendation */
	WsMemory	memory;
	WsAdviceTable table;		/* no seconds: no cache advice */
	double		expected_hit_ratio; /* of the recommendation; or NaN */
	char		advice_reason[256]; /* added to that of the recommendation */
} WsPublished;

/* Under WsShared.lock. */
typedef struct WsSharedPublished
{
	WsPublished last;
	TimestampTz last_saved;		/* 0: never */
	WsHistory	history;		/* the worker may read it without the lock */
} WsSharedPublished;

extern WsSharedPublished *ws_published; /* NULL when ws_shared is */

typedef enum WsStatus
{
	WS_STATUS_OK,
	WS_STATUS_COLLECTING,
	WS_STATUS_STALE,
	WS_STATUS_NOT_TRACKING
} WsStatus;

/* What was published last, and whether it still counts. */
typedef struct WsReport
{
	WsStatus	status;
	bool		known;			/* is there a recommendation? */
	bool		late;			/* should the worker have published again? */
	WsPublished last;
} WsReport;

extern void ws_published_read(WsReport *report);

/* Why this size is recommended, or why none is, in palloc'd memory. */
extern char *ws_report_reason(const WsReport *report);

extern const char *ws_status_name(WsStatus status);

/* Whether lookups are recorded, and if not, why. */
extern const char *ws_tracking_reason(void);

#endif							/* WS_PUBLISHED_H */
