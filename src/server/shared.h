/*
 * shared.h
 *		What all processes share: the sketches, the clock and the sample.
 *
 * Counters and published rows have modules of their own (counters.h,
 * published.h); setup.c makes the memory of all three.
 *
 * Who may access what:
 *	- fixed: written once in the postmaster, before any other process exists.
 *	- atomic: single words, relaxed, from anywhere, with two exceptions.  A
 *	  reset raises the floors of the sketches and then stores since, with
 *	  release; a reader loads since, with acquire, before it reads a sketch.  So
 *	  no data from before a reset are published as data from after it.
 *	  clock_ahead is raised with release after unattended and loaded with
 *	  acquire, so that a process that raises the tick because of it passes
 *	  unattended on (sketch.h).
 *	- under lock: see counters.h and published.h.  The worker computes first,
 *	  and holds the lock for one copy.
 *	- under sample_lock: the sample table and the attribution.  The worker
 *	  writes some events at a time; readers copy what they need.  No process
 *	  holds lock and sample_lock together, and none takes either on the buffer
 *	  path.
 *	- under file_lock: the state file (persist.c), as long as the disk takes.  A
 *	  holder may take the other locks, but not the other way around.
 */
#ifndef WS_SHARED_H
#define WS_SHARED_H

#include "datatype/timestamp.h"
#include "storage/lwlock.h"

#include "damping.h"
#include "sketch.h"

/* Whose lookups: one sketch each. */
typedef enum WsKind
{
	WS_CLIENT,					/* clients, background workers, redo */
	WS_MAINTENANCE				/* VACUUM and autovacuum */
} WsKind;

#define WS_NKINDS 2

/* The worker rests after this time without a lookup. */
#define WS_IDLE_TICKS (10 * WS_TICKS_PER_SECOND)

#define WS_STREAM_PLACES	32768	/* events that the stream holds */
#define WS_PAIR_SLOTS_LOG2	14	/* marks of reported pairs, log2 */
#define WS_SAMPLE_OFF		32	/* sample_shift when no page is sampled */

/* What became of the state file: bits of WsShared.file_state. */
#define WS_FILE_LOADED		1	/* a process has read it, or begun to */
#define WS_FILE_NO_SET		2	/* a reset forgot the working set, or */
#define WS_FILE_NO_HISTORY	4	/* the history */
#define WS_FILE_WITHHELD	8	/* it cannot be read yet */
#define WS_FILE_BESIDE		16	/* as LOADED, of the file beside it; */
#define WS_FILE_NO_SAVE		32	/* that one cannot be read yet */

typedef struct WsShared
{
	/* fixed */
	LWLock	   *lock;
	LWLock	   *sample_lock;
	LWLock	   *file_lock;
	WsSketch   *sketch[WS_NKINDS];
	uint32		log2m;			/* of both */
	uint32		damper_shift;	/* 32 - log2 of the number of its slots */
	struct WsStream *stream;	/* the six are NULL without a sample */
	struct WsSampler *sampler;	/* under sample_lock */
	struct WsAttribution *attribution;	/* under sample_lock */
	struct WsOrigins *origins;	/* entries are freed under sample_lock */
	uint16	   *reported_pairs; /* atomic: marks of pages and origins that
								 * were reported lately */
	uint64	   *damper;			/* atomic: which pages were reported lately */
	struct WsCountedAhead *ahead;	/* by process of the server; MaxBackends */
	bool		attached;		/* are lookups seen? */

	/* atomic */
	int64		clock_origin;	/* monotonic ms of the tick WS_TICK_ORIGIN */
	uint32		clock_ahead;	/* ticks by which resets, and a worker that
								 * came to rest, moved the clock on */
	uint32		active_tick;	/* when a lookup was last recorded, roughly */
	uint32		sample_shift;	/* one page in 2^this is sampled; the worker
								 * sets it, and writers may raise it */
	uint32		damping;		/* of hits: a WsDamping, uses << 8 | shift */
	int32		worker_pid;		/* 0: none */
	struct Latch *worker_latch; /* NULL: none */
	int64		since;			/* TimestampTz of reset, start or re-enabling;
								 * no two are equal */
	uint32		save_now;		/* 1: the state file is out of date */
	uint32		file_state;		/* WS_FILE_* */

	/* under file_lock */
	int64		saved_since;	/* that of the state file; 0: from before the
								 * start */

	/* the worker's */
	bool		was_off;		/* lookups were not recorded */
} WsShared;

/*
 * Lookups of parallel workers that have ended, which the server is about to add
 * to those of their leader, this process.  Atomic.
 */
typedef struct WsCountedAhead
{
	int64		hits;
	int64		reads;
} WsCountedAhead;

/*
 * NULL until shared memory exists: never, if the library is not preloaded or
 * another one keeps the server from calling the hooks.
 */
extern WsShared *ws_shared;

/*
 * Why no lookup is recorded, unless WsShared.attached.  Set in the postmaster;
 * empty if the library is not preloaded.
 */
extern char ws_refusal[256];

/* Are lookups recorded? */
extern bool ws_tracking(void);

/* Milliseconds of the monotonic clock. */
extern int64 ws_shared_clock_ms(void);

/* Start of the counters: time of the last reset, start or re-enabling. */
static inline TimestampTz
ws_shared_since(void)
{
	return __atomic_load_n(&ws_shared->since, __ATOMIC_ACQUIRE);
}

static inline int32
ws_shared_worker_pid(void)
{
	return __atomic_load_n(&ws_shared->worker_pid, __ATOMIC_RELAXED);
}

/* Advance the tick to the clock, up to WS_TICK_LAST, and return it. */
extern uint32 ws_shared_advance(void);

/* Ticks before this one with data in the clients' sketch; 0: reset since. */
static inline uint32
ws_shared_known(uint32 tick)
{
	uint32		floor = ws_load(&ws_shared->sketch[WS_CLIENT]->floor);

	return tick > floor ? tick - floor : 0;
}

/*
 * Set who reads the clock: only the worker while it ticks, and otherwise every
 * lookup whose cell is not marked, the start of a statement that reads tables,
 * and the end of each transaction.  In both cases a process reads the clock
 * when a page enters shared buffers, and now and then for a page of a sampled
 * register, because the worker may hang.
 */
extern void ws_shared_worker_ticks(bool ticks);

/* Wake the worker, if there is one, by a system call. */
extern void ws_shared_wake_worker(void);

/*
 * Sample one page in 2^shift, or none (WS_SAMPLE_OFF).  For the worker, which
 * begins or ends with it.
 */
extern void ws_shared_sample(uint32 shift);

/*
 * Sample half as many pages.  For writers, when the stream fills (stream.h).
 * They leave sampled_below to the worker, which finds the new shift when it
 * next reads the stream: a late store of theirs could hide sampled pages.
 */
extern void ws_shared_thin(void);

/* Have writers raised the shift above this one? */
static inline bool
ws_shared_thinned(uint32 shift)
{
	uint32		held = ws_load(&ws_shared->sample_shift);

	return held > shift && held != WS_SAMPLE_OFF;
}

/*
 * Change the shift from the old one.  If writers have raised it meanwhile, it
 * does not fall.  Returns the shift that holds.  For the worker.
 */
extern uint32 ws_shared_resample(uint32 old, uint32 shift);

/* Report only these hits of a sampled page (damping.h).  For the worker. */
extern void ws_shared_damp(WsDamping damping);

#endif							/* WS_SHARED_H */
