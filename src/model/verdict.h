/*
 * verdict.h
 *		What to set shared_buffers to, and what that is worth.
 *
 * A change of shared_buffers takes a restart and stays for weeks, so it is
 * decided by what clients waited for reads, and would have waited with other
 * sizes, over the last days (costs.h).  All is compared as a share of query
 * time: of the time that clients were active.
 *
 * The rule is in doc/recommendation.md, "One size": its 2 points are "worth".
 * In addition, a suggested size stays while it is nearly as good as the target,
 * and not much larger.  If nobody was ever seen waiting, a read takes less than
 * three looks' time for all reads (95 %, Hanley and Lippman-Hand 1983).
 */
#ifndef WS_VERDICT_H
#define WS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costs.h"

typedef enum WsVerdict
{
	WS_VERDICT_NONE,			/* not known */
	WS_VERDICT_GROW,
	WS_VERDICT_SHRINK,
	WS_VERDICT_KEEP,
	WS_VERDICT_EXCEEDS_MEMORY
} WsVerdict;

#define WS_SUGGESTED_LEAST 0x1p27	/* bytes: fewer shared_buffers are not
									 * suggested, unless memory is too small */
#define WS_WORTH_DEFAULT 0.02

typedef struct WsVerdictFacts
{
	const WsCosts *costs;
	int64_t		now;			/* seconds since 1970 */
	double		buffer;			/* bytes of one */
	double		shared_buffers; /* bytes, the present setting */
	double		memory;			/* bytes; 0: not known */
	int			connections;	/* allowed ones */
	double		work_mem;		/* bytes */
	double		maintenance;	/* bytes that autovacuum may take */
	double		worth;			/* share of query time */
} WsVerdictFacts;

/* Shares of query time that reads take; NaN: not known. */
typedef struct WsShares
{
	double		week;			/* in the last week, or what was seen of it */
	double		loss;			/* the most that a quarter of 35 days would
								 * lose or, below 0, gain by the change to
								 * this size */
} WsShares;

/* What a job would gain that runs on at least three of the last seven days. */
typedef struct WsJob
{
	double		size;			/* bytes; 0: there is none */
	double		gain;			/* share of its query time */
	int			quarter;		/* of the day of UTC, when it gains most */
} WsJob;

typedef struct WsDecision
{
	WsVerdict	verdict;
	double		cacheable;		/* bytes for the two caches; 0: not known */
	double		affordable;		/* bytes of shared_buffers, at most */
	double		size;			/* bytes, whole MB: what is suggested; the
								 * present size if that is to be kept */
	bool		rising;			/* is that, and larger than the present size? */
	double		settles;		/* seconds for which the size is kept because
								 * it was changed lately; else 0 */
	double		effective;		/* bytes for effective_cache_size; 0: not
								 * known */

	/* what it stands on */
	double		history;		/* seconds of the last week that are known */
	double		active;			/* seconds that clients were active in the
								 * week, */
	double		waiting;		/* and waited for reads */
	bool		timed;			/* or do reads count instead? */
	double		simulated;		/* bytes: of larger sizes nothing is known */

	/* shares of query time in the week; NaN: not known */
	WsShares	present;
	WsShares	suggested;
	double		other;			/* bytes, an alternative: for grow a smaller
								 * one that already saves half; for keep a
								 * larger one that saves a little, or a
								 * smaller one; else one that is not
								 * affordable; 0: none */
	double		other_share;
	WsJob		job;
} WsDecision;

/* What is kept from one decision to the next.  Zeros: none yet. */
typedef struct WsSteady
{
	WsVerdict	verdict;
	double		size;			/* bytes */
	double		target;			/* bytes, the largest in this hour, */
	double		before;			/* and in the hour before */
	int64_t		hour;			/* its number since 1970 */
} WsSteady;

/* What reads took; large, and read by the functions below. */
typedef struct WsQueryTime
{
	const WsVerdictFacts *facts;
	int			n;				/* rows, the oldest first; from */
	int			week;			/* this one on, of the last week */
	bool		timed;
	double		least_active;	/* for a quarter to count */
	int64_t		changed;		/* number of the last quarter of another size;
								 * 0 */
	const WsCostRow *row[WS_COST_QUARTERS];
	double		active[WS_COST_QUARTERS];	/* seconds, */
	double		each[WS_COST_QUARTERS]; /* seconds for each weighed read, */
	double		now[WS_COST_QUARTERS];	/* and for all of them */
	double		week_active;
	double		week_waiting;
	double		week_share;		/* at the present size */
} WsQueryTime;

/* Read the costs; facts and costs have to stay. */
extern void ws_query_time(WsQueryTime *t, const WsVerdictFacts *facts);

/* What reads take with so many bytes of shared_buffers. */
extern WsShares ws_query_time_shares(const WsQueryTime *t, double bytes);

extern WsDecision ws_decide(const WsQueryTime *t, WsSteady *steady);

extern const char *const ws_verdict_names[];

/* A size as a setting: "640MB", or "800000kB" if that is exact. */
extern void ws_format_setting(double bytes, char *buf, size_t size);

#endif							/* WS_VERDICT_H */
