/*
 * summary.h
 *		The recommendation in words, and how sure it is: for people who decide
 *		whether a restart pays.
 *
 * The caller collects the facts.  All words come from here, so that the views,
 * the chart and working_set() agree.
 *
 * One size of shared_buffers is recommended, and only while confidence is not
 * low and the target does not rise.  Another is mentioned as an alternative,
 * one at most, with what it saves or costs.
 *
 * When confidence is low, medium or high is in doc/recommendation.md, "How sure
 * it is".  Few clients were seen waiting if chance could be half of what is
 * saved.
 */
#ifndef WS_SUMMARY_H
#define WS_SUMMARY_H

#include "verdict.h"

typedef enum WsStatus
{
	WS_STATUS_OK,
	WS_STATUS_COLLECTING,
	WS_STATUS_STALE,
	WS_STATUS_NOT_TRACKING
} WsStatus;

extern const char *const ws_status_names[];

typedef enum WsConfidence
{
	WS_CONFIDENCE_LOW,
	WS_CONFIDENCE_MEDIUM,
	WS_CONFIDENCE_HIGH
} WsConfidence;

extern const char *const ws_confidence_names[];

/* History that low (medium) confidence falls short of, in seconds. */
#define WS_CONFIDENCE_DAY	86400.0
#define WS_CONFIDENCE_WEEK	(6.9 * 86400)	/* restarts leave gaps */

/* What a decision stands on, beside the history. */
typedef struct WsEvidence
{
	double		data;			/* seconds that the sketch knows */
	double		break_even;
	bool		unsampled;		/* are no pages sampled? */
	bool		unfit;			/* do the predictions not fit? */
	bool		unlike;			/* because this server replaces otherwise? */
	bool		filling;		/* because shared buffers are not full? */
} WsEvidence;

/*
 * How sure is the decision?  *why is a few words for people: "5 minutes seen";
 * *wait the seconds until it may be surer, or 0 if time alone does not help.
 */
extern WsConfidence ws_confidence(const WsDecision *decision, const WsEvidence *evidence,
								  char *why, size_t size, double *wait);

/* Is a size recommended with that confidence? */
extern bool ws_suggests_size(const WsDecision *decision, WsConfidence confidence);

/* How shared_buffers are set on this server. */
typedef enum WsSetBy
{
	WS_SET_BY_ALTER_SYSTEM,
	WS_SET_BY_COMMAND_LINE,
	WS_SET_BY_FILES,			/* ALTER SYSTEM is not allowed */
	WS_SET_BY_CLOUDNATIVEPG,
	WS_SET_BY_PATRONI
} WsSetBy;

/*
 * The facts.  Sizes in bytes.  Texts are never null; empty: there is none.  But
 * for "top" they are ASCII, so that lines may be cut anywhere.
 */
typedef struct WsSummary
{
	WsStatus	status;
	const char *trouble;		/* unless it is ok: why */
	const char *withheld;		/* why what was saved is not used yet */
	int			wait;			/* while it is collecting: seconds until ok */
	bool		known;			/* is there a recommendation?  The rest of the
								 * fields, but set_by and top, are of it */
	WsDecision	decision;
	double		shared_buffers; /* now */
	WsConfidence confidence;
	const char *why;			/* of the confidence, */
	const char *ask_again;		/* and "Tuesday 14:00" */
	double		filling;		/* seconds until shared buffers are full; NaN:
								 * they are, or not known */
	double		promised;		/* share of query time for reads that was
								 * predicted for the size that was then set, */
	double		came;			/* and measured since; NaN: nothing was set */
	double		since;			/* for so many seconds */
	const char *job_at;			/* "02:15": when the job gains most */
	const char *outgrown;		/* "2026-12-12": when shared_buffers will
								 * probably be too small, if near and sure */
	WsSetBy		set_by;

	/* memory */
	double		memory;			/* 0: not known */
	bool		by_cgroup;		/* is the limit a control group's? */
	const char *memory_reason;	/* why it is not known */
	double		used;			/* by all that was used in the last week, or
								 * since the data begin; NaN: not known */
	double		used_seconds;	/* of that */

	const char *top;			/* the largest relations, for the text: bytes
								 * past WS_SUMMARY_TOP are cut */
} WsSummary;

#define WS_SUMMARY_WIDTH	78	/* columns */
#define WS_SUMMARY_TOP		(WS_SUMMARY_WIDTH - 5)

/* Enough for each text below with its null, if the facts' texts are shorter. */
#define WS_SUMMARY_SIZE 2048

/* The bytes that are recommended; 0: none. */
extern double ws_summary_size(const WsSummary *s);

/* Share of query time that the recommended size saves; NaN: none is. */
extern double ws_summary_saved(const WsSummary *s);

/* Why: at most two sentences, the most important first. */
extern void ws_summary_reason(const WsSummary *s, char *buf, size_t size);

/* The job of WsDecision: "02:15: 1.2 GB would save 35 % of ..."; or empty. */
extern void ws_summary_job(const WsSummary *s, char *buf, size_t size);

/* Six lines for a ticket, at most, without a newline at the end. */
extern void ws_summary_text(const WsSummary *s, char *buf, size_t size);

#endif							/* WS_SUMMARY_H */
