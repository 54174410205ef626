/*
 * report.h
 *		What was published last, for SQL functions: whether it still counts, and
 *		the facts for the words.  In a backend only.
 */
#ifndef WS_REPORT_H
#define WS_REPORT_H

#include "published.h"
#include "summary.h"

/* What was published last, and whether it still counts. */
typedef struct WsReport
{
	WsStatus	status;
	bool		known;			/* is there a recommendation? */
	bool		late;			/* should the worker have published again? */
	char		withheld[256];	/* see WsSharedPublished */
	WsPublished last;
} WsReport;

extern void ws_report_read(WsReport *report);

/* Why the cache advice is not sure; NULL if it is, or too little is known. */
extern const char *ws_report_doubt(const WsPublished *p);

/* Why a row of it is not, and until when, if that is known; NULL if it is. */
extern const char *ws_report_row_note(const WsPublished *p, const WsAdvice *row);

/*
 * Reads a second that others would save without this one, and the standard
 * error; NaN: not known.
 */
extern double ws_report_saved(const WsReport *report, const WsCacheUser *user, double *error);

/*
 * The beginning of the day of UTC on which more than so many pages are expected
 * to be needed at the busiest time, if within a year; 0: not known.  *near: it
 * is near, to come, and sure (forecast.h).
 */
extern TimestampTz ws_report_outgrown(const WsPublished *published, double pages, bool *near);

/* The beginning of the day of UTC that the row is of, or of a later one. */
extern TimestampTz ws_report_day(const WsPublished *published, int later);

/*
 * The facts of a report, but for set_by and the relations, in palloc'd memory.
 */
extern void ws_report_summarize(const WsReport *report, WsSummary *summary);

/*
 * How is shared_buffers set?  From what pg_settings shows to this user, which
 * is less for one who may not read all settings.  That takes milliseconds.
 */
extern WsSetBy ws_report_set_by(void);

/* Whether lookups are recorded, and if not, why. */
extern const char *ws_tracking_reason(void);

#endif							/* WS_REPORT_H */
