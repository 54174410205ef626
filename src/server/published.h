/*
 * published.h
 *		What the worker publishes, and how to read it: the recommendation, the
 *		cache advice, the history.
 *
 * The worker writes; a reset empties the history.
 */
#ifndef WS_PUBLISHED_H
#define WS_PUBLISHED_H

#include "datatype/timestamp.h"

#include "advice.h"
#include "division.h"
#include "forecast.h"
#include "history.h"
#include "memory_limits.h"
#include "origins.h"
#include "stream.h"
#include "summary.h"
#include "without.h"

/* Seconds of data that a recommendation needs. */
#define WS_COLLECTING_SECONDS	60

/* Both caches of the machine. */
typedef struct WsMemoryAdvice
{
	WsTierTable table;			/* nbuffers is 0: nothing is known, */
	char		reason[192];	/* and why; or empty: not yet */
	double		share;			/* of the pages that the page cache has memory
								 * for, those that are in it; 1: or not known */
	WsPair		present;		/* predicted for the sizes that there are; */
	double		disk_blocks;	/* blocks a second really read; or NaN: not
								 * known, */
	char		unchecked[192]; /* and why; or empty: not yet */
	double		difference;		/* ws_division_difference() of these */
	double		off;			/* or ws_mean_difference(), if that is more */
	bool		sure;			/* known, measured, and not off */
	WsPair		suggested;		/* with the suggested shared_buffers; no
								 * buffers: not sure */
} WsMemoryAdvice;

/* One of those who use the cache. */
typedef struct WsCacheUser
{
	WsBy		by;
	WsOrigin	origin;			/* as from ws_origin_part(), or */
	WsPageId	relation;		/* its fork and block mean nothing */
} WsCacheUser;

/* What others read because of it. */
typedef struct WsSavedReads
{
	WsCacheUser user;
	double		reads;			/* pages a second; negative: they save some */
	double		error;			/* standard error */
} WsSavedReads;

/* Zeros, then what the consumers publish, and what worker.c adds. */
typedef struct WsPublished
{
	TimestampTz computed_at;	/* 0: never */
	uint32		tick;			/* the same, by the monotonic clock */
	int64		since;			/* value of WsShared.since it is about */
	int			interval;		/* seconds until the next one, at most */

	/* the recommendation */
	bool		recommends;		/* is there one? */
	double		data_seconds;	/* that the sketch knows */
	int			method;			/* a WsMethod: the one that was used */
	double		pages;			/* working set of the method's window */
	double		plateau_end;	/* pages */
	double		live;			/* pages; NaN: not known */
	double		recommended;	/* pages: projected, a tenth on top */
	double		needed;			/* pages: what the history gets */
	double		peak;			/* pages: most needed, in history or now */
	TimestampTz peak_at;
	WsForecast	trend;			/* of the peaks of days */
	double		used;			/* pages of the last week, or all that are
								 * known */

	/* about shared_buffers */
	WsDecision	decision;
	WsConfidence confidence;
	char		why[64];		/* of the confidence */
	TimestampTz surer_at;		/* 0: time alone does not help */
	double		promised;		/* see ws_costs_came(); NaN: nothing was */
	double		came;
	double		came_seconds;
	double		expected_hit_ratio; /* of the suggested size; or NaN */

	/* known without a recommendation */
	WsMemory	memory;
	WsAdviceTable table;		/* no seconds: no cache advice */
	TimestampTz filling_until;	/* until then, as it looks, counts are of
								 * buffers that fill; 0: they are not */
	WsMemoryAdvice both;
	double		filling;		/* seconds until shared buffers are full; NaN:
								 * they are, or not known */
	int			nsaved;
	WsSavedReads saved[WS_CANDIDATES];
} WsPublished;

/* Under WsShared.lock. */
typedef struct WsSharedPublished
{
	WsPublished last;
	TimestampTz last_saved;		/* 0: never */
	char		withheld[256];	/* why the state file is not used yet; or
								 * empty */
	WsHistory	history;		/* the worker may read it without the lock */
} WsSharedPublished;

extern WsSharedPublished *ws_published; /* NULL when ws_shared is */

/* Are these one user of the cache? */
extern bool ws_cache_user_equal(const WsCacheUser *a, const WsCacheUser *b);

#endif							/* WS_PUBLISHED_H */
