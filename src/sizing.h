/*
 * sizing.h
 *		What to set shared_buffers and effective_cache_size to.
 *
 * Shared buffers and the operating system both cache pages.  A page in both
 * takes memory twice and is found no sooner.  So most of the cache belongs into
 * shared buffers, where a hit takes a tenth of the time.  The rule:
 *
 *	1. Reserve memory for the server's processes: 2 MB and one work_mem for
 *	   each allowed connection, and what autovacuum's workers may take, but at
 *	   most half of the memory.  The rest is for the two caches.
 *	2. shared_buffers: what was needed at the busiest time, since a change
 *	   takes a restart.  At least 128 MB, the server's default, and at most
 *	   three quarters of the rest: the operating system needs some.
 *	3. effective_cache_size: the rest, which is the two caches together.
 *	4. If more is needed than the rest, the largest possible cache may be a
 *	   waste.  Of the possible sizes that were simulated, take the smallest
 *	   whose hit ratio is within half a percent of the best.  If that is the
 *	   largest of them, or none, take the largest possible size.
 *
 * The verdict compares shared_buffers with the suggestion, or with what is
 * needed if that is less and the suggestion is only the minimum.
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

#define WS_SIZING_SIZES 24		/* simulated ones, at most */

typedef struct WsSizingFacts
{
	double		needed;			/* bytes, at the busiest time */
	double		shared_buffers; /* bytes, the present setting */
	double		memory;			/* bytes; 0: not known */
	int			connections;	/* allowed ones */
	double		work_mem;		/* bytes */
	double		maintenance;	/* bytes that autovacuum may take */
	bool		long_enough;	/* is the history long enough to shrink? */
	int			sizes;			/* of the arrays; 0: nothing is simulated */
	double		size[WS_SIZING_SIZES];	/* bytes, ascending */
	double		hit_ratio[WS_SIZING_SIZES]; /* NaN: not known */
} WsSizingFacts;

typedef struct WsSizing
{
	WsVerdict	verdict;
	double		reserved;		/* bytes for processes */
	double		cacheable;		/* bytes for the two caches; 0: not known */
	/* bytes, whole MB; 0: not known */
	double		suggested_shared_buffers;
	double		suggested_effective_cache_size;
	double		useful;			/* bytes of the largest useful shared_buffers
								 * if needed exceeds cacheable; else 0 */
} WsSizing;

/* The verdict is that of the moment, with a dead band around the one before. */
extern WsSizing ws_sizing(const WsSizingFacts *facts, WsVerdict before);

/* A verdict that waits until it has lasted.  Zeros: none yet. */
typedef struct WsSteady
{
	WsVerdict	verdict;		/* the one that counts */
	WsVerdict	next;			/* the one that waits */
	int64_t		since;			/* when it began to wait, in seconds */
} WsSteady;

/*
 * Return the verdict that counts.  Another counts after "patience" seconds, by
 * a clock that nobody sets; the first and WS_VERDICT_NONE count at once.
 */
extern WsVerdict ws_sizing_steady(WsSteady *steady, WsVerdict verdict, int64_t now,
								  int64_t patience);

/* "grow", "shrink", "keep", "exceeds memory"; NULL for WS_VERDICT_NONE. */
extern const char *ws_verdict_name(WsVerdict verdict);

/* A size as a setting: "640MB".  Whole MB, at least 1. */
extern void ws_format_setting(double bytes, char *buf, size_t size);

#endif							/* WS_SIZING_H */
