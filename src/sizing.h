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
 *	   takes a restart, or a known size just above.  At least 128 MB, the
 *	   server's default, and at most three quarters of the rest: the operating
 *	   system needs some.
 *	3. Not all of that size may be of use: the scan of a table larger than a
 *	   quarter of shared_buffers goes through a ring.  So of the sizes from
 *	   there on take the smallest whose hit ratio, over the last days, is within
 *	   half a percent of the best possible one.  If the present size is as good
 *	   as a larger one, it stays.  To grow beyond what was needed takes a full
 *	   week of history: the first days may be those of a load.
 *	   Where it is known how often the disk is waited for (division.h), because
 *	   both caches are simulated, a hit counts less by as many reads from the
 *	   operating system's cache as a wait costs.  Then sizes are as good within
 *	   a twentieth of these waits, too.
 *	4. If more is needed than the rest, take the smallest of all sizes by the
 *	   same rule; if that is the largest that is known, the largest possible
 *	   size.  The present size stays unless more is better, or about half of it
 *	   is as good and the history is long enough.  If there is no sample, take
 *	   the largest possible size.
 *	5. effective_cache_size: the rest, which is the two caches together, but at
 *	   most three quarters of the memory: the kernel and others need some, and
 *	   some pages are in both caches.  (The worker knows better where it
 *	   simulates both.)
 *
 * The verdict compares shared_buffers with the suggestion, or with what is
 * needed if that is less and the suggestion is only the minimum.
 *
 * Each verdict but keep costs a restart, and a wrong one costs two.  Shrinking
 * is never urgent: not before a full week of history, not below the peak of
 * the last 35 days, and not to a size whose hit ratio is not known.
 *
 * References: PostgreSQL documentation, effective_cache_size; PostgreSQL wiki,
 * Tuning Your PostgreSQL Server (three quarters of the memory).
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

/* Why a verdict is keep. */
typedef enum WsKept
{
	WS_KEPT_FITS,				/* it is not keep, or the size is right */
	WS_KEPT_NO_GAIN,			/* more is needed, but would save hardly a
								 * read */
	WS_KEPT_SHORT_HISTORY,		/* less may do; a week has not been seen */
	WS_KEPT_NOT_KNOWN,			/* less may do; its hit ratio is not known */
	WS_KEPT_WAITING				/* another verdict waits until it has lasted */
} WsKept;

#define WS_SIZING_SIZES 432		/* whose hit ratio may be known, at most */
#define WS_SIZING_LEAST 0x1p27	/* bytes: fewer shared_buffers are not
								 * suggested, unless memory is too small */

typedef struct WsSizingFacts
{
	double		needed;			/* bytes, at the busiest time */
	double		stored;			/* bytes, the same of the last 35 days */
	double		shared_buffers; /* bytes, the present setting */
	double		memory;			/* bytes; 0: not known */
	int			connections;	/* allowed ones */
	double		work_mem;		/* bytes */
	double		maintenance;	/* bytes that autovacuum may take */
	bool		long_enough;	/* is the history long enough to shrink? */
	int			sizes;			/* of the arrays; 0: there is no sample */
	double		size[WS_SIZING_SIZES];	/* bytes, ascending */
	double		hit_ratio[WS_SIZING_SIZES]; /* NaN: not known */
	double		waits[WS_SIZING_SIZES]; /* for each lookup; NaN: not known */
	double		wait_cost;		/* of a wait, in reads that need none; 0: the
								 * waits do not count */
} WsSizingFacts;

typedef struct WsSizing
{
	WsVerdict	verdict;
	WsKept		kept;
	double		reserved;		/* bytes for processes */
	double		cacheable;		/* bytes for the two caches; 0: not known */
	/* bytes, whole MB; 0: not known */
	double		suggested_shared_buffers;
	double		suggested_effective_cache_size;
	double		simulate;		/* bytes, a size to find out about: the
								 * suggestion while a change is asked for or
								 * waits, else the least that may do */
	bool		fits;			/* is hardly more needed than there is? */
	bool		waits_count;	/* do waits for the disk? */
	double		useful;			/* bytes of the largest useful shared_buffers
								 * if needed exceeds cacheable; else 0 */
} WsSizing;

/* The verdict is that of the moment, with a dead band around the one before. */
extern WsSizing ws_sizing(const WsSizingFacts *facts, WsVerdict before);

#define WS_SHRINK_WAITS (2 * 86400) /* seconds */
#define WS_FITS_WAITS	(7 * 86400)
#define WS_SETTLE_HOLDS 6

/*
 * A verdict that waits until it has lasted, and a suggestion with a dead band.
 * Zeros: none yet.
 */
typedef struct WsSteady
{
	WsVerdict	verdict;		/* the one that counts */
	WsVerdict	next;			/* the one that waits */
	int64_t		since;			/* when it began to wait, in seconds */
	double		rising;			/* bytes suggested when it began */
	double		suggested;		/* bytes, the suggestion that counts */
	double		other;			/* bytes, the one that waits; 0: none */
	int64_t		other_since;
} WsSteady;

/*
 * Replace the verdict and the suggestion of the moment by those that count; now
 * and hold are in seconds, by a clock that nobody sets.  The first verdict is
 * keep.  Another counts after the hold if it is keep, after WS_SHRINK_WAITS if
 * it is shrink, and else after WS_SETTLE_HOLDS holds in which the suggestion
 * has not risen, so that a working set that grows asks for one restart.  If
 * what is needed fits, and more would only raise the hit ratio, grow waits for
 * WS_FITS_WAITS: there is time to see a week.  While shrink waits after grow or
 * exceeds memory, it is keep from the hold on.
 * WS_VERDICT_NONE counts at once, and starts over.
 *
 * A suggestion counts at once if it differs by more than a tenth, if it belongs
 * to a new verdict, or if the one before is less than what is needed.  Another
 * one counts after WS_SETTLE_HOLDS holds.  It stays as it is while a verdict
 * other than keep counts that is no longer that of the moment.
 */
extern void ws_sizing_steady(WsSteady *steady, WsSizing *sizing, int64_t now, int64_t hold);

/* "grow", "shrink", "keep", "exceeds memory"; NULL for WS_VERDICT_NONE. */
extern const char *ws_verdict_name(WsVerdict verdict);

/* A size as a setting: "640MB".  Whole MB, at least 1. */
extern void ws_format_setting(double bytes, char *buf, size_t size);

#endif							/* WS_SIZING_H */
