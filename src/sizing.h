/*
 * sizing.h
 *		What to set shared_buffers and effective_cache_size to.
 *
 * PostgreSQL's pages are cached twice, in shared buffers and by the operating
 * system.  A page in both takes memory twice and is found no sooner, so what
 * is wanted often belongs into one of them; and into shared buffers, for a hit
 * there takes a tenth of the time.  The rule:
 *
 *	1. Reserve for the server's processes: 2 MB and one work_mem for each
 *	   connection that is allowed, and what autovacuum's workers may take; but
 *	   no more than half of the memory.  The rest is for the two caches.
 *	2. shared_buffers: what was needed at the busiest time, since it takes a
 *	   restart to change; not less than 128 MB, the server's default, and not
 *	   more than three quarters of the rest, so that the operating system can
 *	   do its part: write, read ahead, log.
 *	3. effective_cache_size: the rest, which is the two caches together.
 *	4. What is needed may exceed the rest.  A cache that cannot hold all is not
 *	   always worth as much as it can get: of the sizes that are possible and
 *	   simulated, the smallest is suggested whose hit ratio is within half a
 *	   percent of the best, unless the largest of them is the only one, for
 *	   then more might be better still.
 *
 * The verdict compares shared_buffers with what is suggested, or with what is
 * needed if that is less and the suggestion is only the least.  It changes only
 * when the two differ clearly, changes back only when they clearly do not,
 * and only when that has lasted for some time.
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_SIZING_H
#define WS_SIZING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum WsVerdict
{
	WS_VERDICT_NONE,			/* not known */
	WS_VERDICT_GROW,
	WS_VERDICT_SHRINK,
	WS_VERDICT_KEEP,
	WS_VERDICT_EXCEEDS_MEMORY
} WsVerdict;

/* Hit ratios that are predicted for other sizes of shared buffers. */
#define WS_SIZING_SIZES 24

typedef struct WsSizingFacts
{
	double		needed;			/* bytes, at the busiest time */
	double		shared_buffers; /* bytes, as it is */
	double		memory;			/* bytes; 0: not known */
	int			connections;	/* that are allowed */
	double		work_mem;		/* bytes */
	double		maintenance;	/* bytes that autovacuum may take */
	bool		long_enough;	/* has enough been seen to advise to shrink? */

	int			sizes;			/* of the arrays; 0: nothing is predicted */
	double		size[WS_SIZING_SIZES];	/* bytes, ascending */
	double		hit_ratio[WS_SIZING_SIZES]; /* NaN: not known */
} WsSizingFacts;

typedef struct WsSizing
{
	WsVerdict	verdict;
	double		reserved;		/* bytes for processes */
	double		cacheable;		/* bytes for the two caches; 0: not known */
	double		suggested_shared_buffers;	/* bytes, whole MB; 0: not known */
	double		suggested_effective_cache_size; /* bytes, whole MB; 0: not known */
	double		useful;			/* if needed exceeds cacheable (with the dead
								 * band): bytes of the largest useful
								 * shared_buffers; else 0 */
} WsSizing;

/*
 * Size it.  The verdict is that of the moment, with the dead band around the
 * one before; WS_VERDICT_NONE: there is none before.
 */
extern WsSizing ws_sizing(const WsSizingFacts *facts, WsVerdict before);

/*
 * A verdict that waits for its time.
 */
typedef struct WsSteady
{
	WsVerdict	verdict;		/* that counts */
	WsVerdict	next;			/* that would, if it lasted */
	int64_t		since;			/* when it was first heard of, in seconds */
} WsSteady;

/*
 * Hear the verdict of this moment, in seconds by a clock that is not set;
 * returns the one that counts.  Another counts when it has been heard without
 * a break for so many seconds; the first at once, and so does none.
 */
extern WsVerdict ws_sizing_steady(WsSteady *steady, WsVerdict verdict, int64_t now,
								  int64_t patience);

/* "grow", "shrink", "keep", "exceeds memory"; NULL for none. */
extern const char *ws_verdict_name(WsVerdict verdict);

/*
 * A size as it is written in a setting: "640MB".  Whole MB, of which there is
 * at least one.
 */
extern void ws_format_setting(double bytes, char *buf, size_t size);

#endif							/* WS_SIZING_H */
