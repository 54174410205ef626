/*
 * summary.h
 *		The recommendation in words, what following it is worth, and how sure it
 *		is: for people who decide whether a restart pays.
 *
 * The caller collects the facts.  All words come from here, so that the views,
 * the chart and working_set() agree.
 *
 * Worth.  The cache advice predicts the hit ratio of the last five minutes with
 * the suggested size.  With the lookups of that time it gives the reads, and
 * with the server's own average time of a read the time that clients wait.
 *
 * Confidence.  Low: the recommendation is stale, less than a day of history
 * stands behind it, the sketch knows less than the break-even time (so the load
 * of the data, or the first use after a start, still counts), or the prediction
 * does not fit what was measured.  Medium: less than a full week of history, no
 * prediction for the suggested size or one with a wide bound, or more than a
 * fifth of the live pages were used only once, as after a load.  Else high.
 */
#ifndef WS_SUMMARY_H
#define WS_SUMMARY_H

#include "sizing.h"

typedef enum WsStatus
{
	WS_STATUS_OK,
	WS_STATUS_COLLECTING,
	WS_STATUS_STALE,
	WS_STATUS_NOT_TRACKING
} WsStatus;

/* "ok", "collecting", "stale", "not tracking" */
extern const char *ws_status_name(WsStatus status);

typedef enum WsConfidence
{
	WS_CONFIDENCE_LOW,
	WS_CONFIDENCE_MEDIUM,
	WS_CONFIDENCE_HIGH
} WsConfidence;

/* "low", "medium", "high" */
extern const char *ws_confidence_name(WsConfidence confidence);

/* History that low (medium) confidence falls short of, in seconds. */
#define WS_CONFIDENCE_DAY	86400.0
#define WS_CONFIDENCE_WEEK	(6.9 * 86400)	/* restarts leave gaps */

/* A wider bound of the predicted hit ratio is of medium confidence. */
#define WS_CONFIDENCE_ERROR 0.02

/* The facts.  Sizes in bytes.  Texts are never null; empty: there is none. */
typedef struct WsSummary
{
	WsStatus	status;
	const char *trouble;		/* unless it is ok: why */
	const char *withheld;		/* why what was saved is not used yet */
	int			wait;			/* while it is collecting: seconds until ok */
	bool		known;			/* is there a recommendation?  The rest of the
								 * fields, but top, are of it */
	WsVerdict	verdict;
	WsKept		kept;			/* why it is keep */
	bool		waits_count;	/* do waits for the disk count in that? */
	double		shared_buffers; /* now */
	double		suggested;		/* 0: not known */
	double		needed;			/* the same now: at most the peak */
	double		now;			/* recommended for the present load, with all
								 * pages that were used once, and growth */
	const char *now_reason;		/* why, from the heuristic */
	double		peak;			/* needed at the busiest time */
	const char *peak_at;		/* "13:52", "Tuesday 14:00" */

	/* what it stands on, in seconds */
	double		history;
	double		data;			/* that the sketch knows */
	double		break_even;
	bool		loading;		/* many live pages were used only once */
	const char *outgrown;		/* "2026-12-12": when shared_buffers will
								 * probably be too small, if near and sure */

	/* the last five minutes; NaN: not known */
	double		lookups;		/* a second */
	double		hit_ratio;
	double		expected_hit_ratio; /* with the suggested size */
	double		expected_error; /* 95 % bound of that */
	double		saved_doubled;	/* reads a second, with twice shared_buffers */
	double		waits;			/* for the disk, a second; NaN: not sure */
	double		expected_waits; /* the same with the suggested size */
	double		read_ms;		/* average time of a read */
	const char *doubt;			/* why the cache advice is not known */
	bool		unfit;			/* does the prediction not fit? */
	bool		filling;		/* because shared buffers were not full? */
	bool		unlike;			/* does this server replace otherwise? */

	/* memory */
	double		memory;			/* 0: not known */
	double		cacheable;		/* of it, for caches */
	bool		by_cgroup;		/* is the limit a control group's? */
	const char *memory_reason;	/* why it is not known */

	const char *top;			/* the largest relations, for the text */
} WsSummary;

/* Reads a second now, and with the suggested size; NaN: not known. */
extern double ws_summary_reads(const WsSummary *s);
extern double ws_summary_expected_reads(const WsSummary *s);

/*
 * Time of reads that the suggested size would save, in ms of waiting a second,
 * added over all clients; negative if it costs more; NaN: not known.  Where it
 * is known how many wait for the disk, the others count as WS_DIVISION_COPY.
 */
extern double ws_summary_saved_ms(const WsSummary *s);

/* How sure, and in a few words why: "5 minutes seen, wait a day". */
extern WsConfidence ws_summary_confidence(const WsSummary *s, char *why, size_t size);

/* Enough for each text below with its null, if the facts' texts are shorter. */
#define WS_SUMMARY_SIZE 2048

/* Why: at most two sentences, the most important first. */
extern void ws_summary_reason(const WsSummary *s, char *buf, size_t size);

/* Up to six lines for a ticket, without a newline at the end. */
extern void ws_summary_text(const WsSummary *s, char *buf, size_t size);

#endif							/* WS_SUMMARY_H */
