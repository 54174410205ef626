/*
 * shmem.h
 *		What the processes share: the sketches, the clock, counters, and what
 *		the worker has published.
 *
 * Who may touch what:
 *	- fixed: written once in the postmaster before any other process lives.
 *	- atomic: single words, relaxed, from anywhere and without order, but for
 *	  two pairs.  A reset raises the floors of the sketches and then stores
 *	  since, with release; a reader loads since, with acquire, before it reads a
 *	  sketch (ws_shmem_since()), so that nothing from before a reset is published
 *	  as from after it.  clock_ahead is raised with release after unattended and
 *	  loaded with acquire, so that whoever raises the tick because of it passes
 *	  unattended on (sketch.h).
 *	- under lock: WsShared.lock, shared to read and exclusive to write.  Only
 *	  the worker writes what is published; it computes first and holds the
 *	  lock for one copy.  The sample table has a lock of its own: the worker
 *	  writes some events at a time, and readers copy what they want.  The two
 *	  are never held together, and neither is ever taken on the buffer path.
 *	- under file_lock: the file that survives a restart (persist.c).  It may be
 *	  held for as long as the disk takes; the other locks may be taken while it
 *	  is held, but not the other way around.
 */
#ifndef WS_SHMEM_H
#define WS_SHMEM_H

#include "datatype/timestamp.h"
#include "storage/lwlock.h"

#include "advice.h"
#include "history.h"
#include "memory.h"
#include "sampler.h"
#include "sizing.h"
#include "sketch.h"
#include "stream.h"
#include "sweep.h"

/* Whose lookups: one sketch each. */
typedef enum WsKind
{
	WS_CLIENT,					/* clients, their parallel workers, other
								 * background workers, redo */
	WS_MAINTENANCE				/* VACUUM and autovacuum */
} WsKind;

#define WS_NKINDS 2

/* The windows of the default curve: 60 of one minute. */
#define WS_CURVE_WINDOWS	60
#define WS_CURVE_STEP		60	/* seconds */

/* Without a lookup for so long, the worker rests. */
#define WS_IDLE_TICKS (10 * WS_TICKS_PER_SECOND)

/* A recommendation needs to have seen this much. */
#define WS_COLLECTING_SECONDS	60

/*
 * Counters are spread over lines of cache by process, and summed to be read.
 * Atomic.
 */
#define WS_COUNTER_SHARDS 64

typedef struct WsCounters
{
	uint64		hits[WS_NKINDS];	/* found in shared buffers */
	uint64		reads[WS_NKINDS];	/* had to be read */
	uint64		inserts;		/* pages that entered shared buffers */
	uint64		scan_hits;		/* of hits[WS_CLIENT], those by sequential scans,
								 * estimated from sampled pages */
	uint64		scan_reads;		/* of reads[WS_CLIENT], those by sequential scans */
	uint64		dropped;		/* events that the stream had no room for */
} WsCounters;

typedef union WsCounterShard
{
	WsCounters	counters;
	char		pad[128];
} WsCounterShard;

/* Events that the stream has room for. */
#define WS_STREAM_PLACES	32768

/* Value of WsShared.sample_shift when no page is sampled. */
#define WS_SAMPLE_OFF		WS_STRATA

/*
 * What has become of the memory of times before the start: bits of
 * WsShared.memory_state.
 */
#define WS_MEMORY_LOADED	1	/* the file was read, or somebody began to */
#define WS_MEMORY_NO_SET	2	/* a reset forgot the set, or */
#define WS_MEMORY_NO_HISTORY 4	/* the history */

/*
 * The worker's last word.
 */
typedef struct WsPublished
{
	TimestampTz computed_at;	/* 0: never */
	uint32		tick;			/* the same, by the clock that nobody sets */
	int64		since;			/* value of WsShared.since it is about */
	int			interval;		/* seconds to the next, at most */
	int			method;			/* a WsMethod: the one that was used */
	int			window_seconds;
	double		pages;			/* working set of the window, with bounds */
	double		low;
	double		high;
	double		plateau_end;	/* pages */
	double		live;			/* pages; NaN: not known */
	double		projected;		/* pages */
	double		recommended;	/* pages */
	double		needed;			/* pages: recommended without the projection */
	double		peak;			/* pages: most that was needed, in the history and now */
	TimestampTz peak_at;
	int			history_minutes;	/* that are known of the history */
	int64		effective_cache_size;	/* pages */
	WsMemory	memory;
	WsSizing	sizing;
	char		reason[256];
} WsPublished;

/*
 * And about other sizes of the cache.
 */
typedef struct WsPublishedAdvice
{
	TimestampTz computed_at;	/* 0: never */
	uint32		tick;			/* the same, by the clock that nobody sets */
	int64		since;			/* value of WsShared.since it is about */
	int			interval;		/* seconds to the next, at most */
	WsAdviceTable table;
	double		expected_hit_ratio; /* with the recommended cache; NaN: not known */
	char		reason[256];	/* what to add to that of the recommendation */
} WsPublishedAdvice;

typedef struct WsShared
{
	/* fixed */
	LWLock	   *lock;
	LWLock	   *sample_lock;
	LWLock	   *file_lock;
	size_t		memory;			/* bytes of shared memory, all included */
	WsSketch   *sketch[WS_NKINDS];
	uint32		log2m;			/* of both */
	uint32		damper_shift;	/* 32 - log2 of the number of its slots */
	WsStream   *stream;			/* the three are NULL without a sample */
	WsSampler  *sampler;		/* under sample_lock */
	uint64	   *damper;			/* atomic: which pages were reported lately */
	bool		attached;		/* does the probe see the lookups? */
	char		refusal[256];	/* if not, why */

	/* atomic */
	int64		clock_origin;	/* monotonic ms of the tick WS_TICK_ORIGIN */
	uint32		clock_ahead;	/* ticks by which resets, and a worker that went to
								 * rest, moved the clock on */
	uint32		active_tick;	/* when a lookup was last recorded, roughly */
	uint32		sample_shift;	/* one page in 2^this is sampled */
	uint32		damping;		/* of hits: a WsDamping, uses << 8 | shift */
	int32		worker_pid;		/* 0: none */
	struct Latch *worker_latch; /* NULL: none */
	int64		since;			/* TimestampTz of reset, start or re-enabling; no
								 * two are equal */
	uint32		save_now;		/* 1: what is saved is not true any more */
	uint32		memory_state;	/* of what was saved, WS_MEMORY_* */
	WsCounterShard shards[WS_COUNTER_SHARDS];

	/* under lock */
	WsCounters	at_reset;		/* counters as they were at since */
	int64		removed_at_reset;	/* pages that had left by then */
	WsPublished published;
	WsPublishedAdvice advice;
	uint64		memory_limit;	/* bytes, known before all else; 0: not known */
	TimestampTz last_saved;		/* 0: never */
	WsHistory	history;		/* the worker may read it without */

	/* under file_lock */
	int64		saved_since;	/* value of "since" that the file is about; 0: it
								 * is of before the start */
} WsShared;

/*
 * NULL until the library has been preloaded and shared memory exists.  It never
 * exists if another library keeps the server from calling our hooks.
 */
extern WsShared *ws_shared;

/* Bytes of shared memory for everything, from the settings. */
extern Size ws_shmem_size(void);

/* The two hooks below are in place. */
extern void ws_shmem_expect(void);

/* Ask for the memory and the lock; from shmem_request_hook. */
extern void ws_shmem_request(void);

/*
 * Make everything anew; from shmem_startup_hook.  If that cannot be done, the
 * log has the reason, and ws_shared is NULL.
 */
extern void ws_shmem_startup(void);

/* Write to the log why there is no shared memory, unless it is there already. */
extern void ws_shmem_report_missing(void);

/*
 * For SQL functions of a process without shared memory: if the library is
 * preloaded, give the process memory of its own in place of it, which says that
 * nothing is tracked, and why.  False if the library is not preloaded.
 */
extern bool ws_shmem_stand_in(void);

/* Are lookups recorded? */
extern bool ws_tracking(void);

/* Milliseconds by a clock that nobody sets. */
extern int64 ws_shmem_clock_ms(void);

/* Of what time on everything is counted. */
static inline int64
ws_shmem_since(void)
{
	return __atomic_load_n(&ws_shared->since, __ATOMIC_ACQUIRE);
}

/*
 * Let the present catch up with the coarse clock; returns it.  At WS_TICK_LAST
 * it stops.
 */
extern uint32 ws_shmem_advance(void);

/*
 * For how many ticks before this one the clients' lookups are known: none if
 * there has been a reset since.
 */
static inline uint32
ws_shmem_known(uint32 tick)
{
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);

	return tick > floor ? tick - floor : 0;
}

/*
 * Who reads the clock?  With a worker that ticks, nobody else has to.
 * Without, every recorded lookup does, and watched pages make sure that there
 * are recorded lookups.  In both cases the clock is read when a page enters
 * shared buffers, at the end of each transaction, and now and then for a watched
 * page, because the worker may hang.
 */
extern void ws_shmem_worker_ticks(bool ticks);

/*
 * Wake the worker, if there is one: something is going on.  A system call, so
 * never on the buffer path.
 */
extern void ws_shmem_wake_worker(void);

/*
 * Sample one page in 2^shift, or none (WS_SAMPLE_OFF).  The worker only.
 */
extern void ws_shmem_sample(uint32 shift);

/* Which hits of a sampled page are reported. */
static inline WsDamping
ws_shmem_damping(void)
{
	uint32		damping = ws_load(&ws_shared->damping);

	return (WsDamping) {damping & 0xFF, damping >> 8};
}

static inline void
ws_shmem_damp(WsDamping damping)
{
	ws_store(&ws_shared->damping, damping.uses << 8 | damping.shift);
}

/*
 * Forget everything in memory, but the history only if told to; returns the
 * time from which on all is counted.
 */
extern TimestampTz ws_shmem_reset(bool history);

/*
 * Ticks have come to their end.  Let them begin anew: forget everything but the
 * history.  The worker only.
 */
extern void ws_shmem_restart_clock(void);

/*
 * The sketches have been told of times before the start, all from this tick
 * on.  Let it count, unless there was a reset.
 */
extern void ws_shmem_recall(uint32 floor);

/*
 * Counters since reset, and when that was; pages that left shared buffers in
 * *removed.
 */
extern TimestampTz ws_shmem_read_counters(WsCounters *sum, int64 *removed);

#endif							/* WS_SHMEM_H */
