/*
 * lookup.c
 *		What is done at each lookup of a page; see lookup.h.
 *
 * match() is called when an entry's hash value equals the key's: on every hit.
 * It is also called when an entry is removed, that is on eviction and
 * invalidation.  A lookup holds the lock of the table's partition in shared mode
 * and a removal in exclusive mode.  Since we hold the lock ourselves in one of
 * the modes, its exclusive bit, if set, is ours.
 *
 * insert() is called when an entry is made: on every page that is read in, and
 * on every page by which a relation is extended.  Two processes may read the same
 * page at the same time.  The later one then finds the entry of the other, under
 * the lock in exclusive mode, and match() takes that for a removal.  Such a
 * removal comes within a tick or two of a use of the page, so the worker looks
 * for the page before it believes it (cache_advice.c).
 *
 * Both find the hash value of the page in the entry, right before the key.
 *
 * Every instruction counts here.  A hit on a page whose cell is marked, by far
 * the most common case, compares, finds the mark, and is done.  The geometry is
 * fixed when the server starts, so there is a match() for each, in which it is
 * a constant.  What is rarer is called at the end of what is more common, the
 * rarest last, so that none of it needs a frame.  doc/performance.md tells what
 * was tried, and what each gave.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/proc.h"

#include "compat.h"
#include "counters.h"
#include "lookup.h"
#include "shared.h"
#include "sample_events.h"

/*
 * The worker may hang, so the clock is also read for one in so many hits on pages
 * of watched registers.
 */
#define CLOCK_EVERY 16

/* At the end of a transaction fewer lookups than this stay uncounted. */
#define FEW_LOOKUPS 64

/* What marks a process as one that cleans up, not one that uses. */
#define MAINTENANCE_FLAGS (PROC_IN_VACUUM | PROC_IS_AUTOVACUUM)

/*
 * All that this process knows.  Set in the postmaster and inherited; each
 * process keeps its own books from its first lookup on.
 */
static struct
{
	WsSketch   *sketch;			/* of this process's present kind, */
	uint32	   *marks;			/* and its marks */
	LWLockPadded *locks;		/* of the table's partitions */
	uint32		exclusive;		/* bits that may mean "held exclusively" */
	bool		exclusive_sure; /* do they mean nothing else? */
	WsKind		kind;			/* what sketch is for */
	uint32		settled_tick;	/* settle() has nothing to do in this tick, */
	uint8		settled_flags;	/* as long as the process has these flags */
	const uint8 *status_flags;	/* of this process, as others see them */
	WsDamper	damper;			/* of sampled pages */

	uint32		watched_hits;	/* of pages of watched registers */

	/* the books */
	int			pid;			/* whose they are */
	int64		hits;			/* of pgBufferUsage, already counted */
	int64		reads;
} here;

static const uint8 no_flags = 0;
static const uint8 launcher_flags = PROC_IS_AUTOVACUUM;

StaticAssertDecl(sizeof(BufferTag) == 20, "keys are compared as 8 + 8 + 4 bytes");
StaticAssertDecl(sizeof(WsPageId) == sizeof(BufferTag) &&
				 offsetof(WsPageId, fork) == offsetof(BufferTag, forkNum) &&
				 offsetof(WsPageId, block) == offsetof(BufferTag, blockNum),
				 "the identity of a page is laid out as the server's");

/*
 * A function for what is rare, to be called at the end of another one: not
 * inlined, and by its plain interface, or the compiler makes use of what it
 * knows about it and a call of the jump.
 */
#if defined(__clang__)
#define RARE pg_noinline
#else
#define RARE __attribute__((noipa))
#endif

/* hash value of the entry that a key is in; HASHELEMENT is public */
static inline uint32
entry_hash(const void *entry_key)
{
	return ((const HASHELEMENT *) ((const char *) entry_key -
								   MAXALIGN(sizeof(HASHELEMENT))))->hashvalue;
}

static inline uint64
word64(const void *p, int offset)
{
	uint64		w;

	memcpy(&w, (const char *) p + offset, sizeof(w));
	return w;
}

static inline uint32
word32(const void *p, int offset)
{
	uint32		w;

	memcpy(&w, (const char *) p + offset, sizeof(w));
	return w;
}

/* the marks are at hand, and what is before them is found from there */
static inline WsSketch *
sketch_of(uint32 *marks, uint32 log2m)
{
	return (WsSketch *) ((char *) marks - ws_marks_offset(log2m));
}

static inline void
record_in(WsSketch *sketch)
{
	here.sketch = sketch;
	here.marks = ws_sketch_marks(sketch);
}

/*
 * The lock that this process holds, in one mode or the other, while it looks
 * for an entry with this hash value.
 */
static inline LWLock *
partition_lock(uint32 hash)
{
	return &here.locks[hash % NUM_BUFFER_PARTITIONS].lock;
}

/*
 * Add what the server has counted since last time.
 *
 * The server's own counters cost nothing here, and tell a hit from a removal.
 * A parallel worker's are added to its leader's at its end.
 */
static void
flush_counters(void)
{
	WsCounters *c = ws_counters_of(here.pid);
	int64		hits = pgBufferUsage.shared_blks_hit;
	int64		reads = pgBufferUsage.shared_blks_read;

	if (!IsParallelWorker())
	{
		if (hits > here.hits)
			__atomic_fetch_add(&c->hits[here.kind], hits - here.hits, __ATOMIC_RELAXED);
		if (reads > here.reads)
			__atomic_fetch_add(&c->reads[here.kind], reads - here.reads, __ATOMIC_RELAXED);
	}
	here.hits = hits;
	here.reads = reads;
	ws_events_flush(c);
}

static WsKind
present_kind(void)
{
	return *here.status_flags & MAINTENANCE_FLAGS ? WS_MAINTENANCE : WS_CLIENT;
}

/*
 * The first lookup of this process, or the first that it records again.  What
 * the server has counted so far is counted already, or is not to be.
 */
static void
begin_process(int64 hits, int64 reads)
{
	here.pid = MyProcPid;
	here.hits = hits;
	here.reads = reads;
	if (MyBackendType == B_AUTOVAC_LAUNCHER)
		here.status_flags = &launcher_flags;
	else
		here.status_flags = MyProc ? &MyProc->statusFlags : &no_flags;
	here.kind = present_kind();
	ws_events_begin();
}

/*
 * What has to be done once per tick and process, when the process turns from
 * client to maintenance or back (its flags have changed), and every time if
 * there is no worker that ticks: bring everything else up to date.
 */
static void
settle(void)
{
	uint32		now;
	bool		unattended;

	if (here.pid != MyProcPid)
	{
		begin_process(0, 0);
		ws_shared_advance();
	}

	flush_counters();

	here.settled_flags = *here.status_flags;
	here.kind = present_kind();
	record_in(ws_shared->sketch[here.kind]);

	/* where no worker ticks, nothing is ever settled: the clock is read each time */
	now = ws_sketch_present(here.sketch, &unattended);
	if (unattended)
		now = ws_shared_advance();
	if (ws_load(&ws_shared->active_tick) != now)
		ws_store(&ws_shared->active_tick, now);
	here.settled_tick = unattended ? 0 : now;
	ws_events_damper(&here.damper, now, here.kind);
}

/*
 * A use of a page, by the long way.  It is marked here, too: where no worker
 * ticks, all uses come this way that find no mark.
 */
static RARE int
match_recorded(const void *page, uint32 hash)
{
	WsSketch   *sketch = here.sketch;

	ws_sketch_touch(sketch, hash);
	if (hash >= ws_load(&sketch->watched))
		ws_mark(here.marks, ws_sketch_cell(sketch, hash));
	else
		ws_events_hit(page, hash, ws_load(&here.sketch->tick), here.kind);
	return 0;
}

static RARE int
match_settle(const void *page, uint32 hash)
{
	settle();
	return match_recorded(page, hash);
}

/* Now and then: has a worker that should tick stopped to? */
static RARE int
match_clock(const void *page, uint32 hash)
{
	if (ws_shared_advance() != here.settled_tick)
		settle();
	return match_recorded(page, hash);
}

/*
 * Of a page of a watched register.  Nearly always its cell is current, and the
 * page has been reported often enough.
 */
static RARE int
match_watched(const void *page, uint32 hash, uint32 *marks, uint64 cell)
{
	if (unlikely(++here.watched_hits % CLOCK_EVERY == 0))
		return match_clock(page, hash);
	if (likely(ws_peek(&here.sketch->cells[cell]) == here.settled_tick &&
			   ws_events_damped(&here.damper, hash)))
		return 0;
	return match_recorded(page, hash);
}

/*
 * The lock says that it is held exclusively, or it is not known which bit
 * would say so.  A removal is no use of the page.
 */
static RARE int
match_removal(const void *page, uint32 hash)
{
	if (!here.exclusive_sure &&
		!LWLockHeldByMeInMode(partition_lock(hash), LW_EXCLUSIVE))
		return match_settle(page, hash);
	if (here.pid == MyProcPid)
		ws_events_remove(page, hash, ws_load(&here.sketch->tick), here.kind);
	return 0;
}

/*
 * A match whose cell is not marked.  All that is rarer still is called at
 * the end, so that no frame is needed here.
 */
static pg_always_inline int
match_unmarked(const void *page, uint32 hash, uint32 *marks, uint64 cell, uint32 log2m)
{
	const WsSketch *sketch = sketch_of(marks, log2m);
	uint32	   *cells = marks - ((33 - log2m) << log2m);
	uint32		now = here.settled_tick;

	if (unlikely(pg_atomic_read_u32(&partition_lock(hash)->state) & here.exclusive))
		return match_removal(page, hash);
	if (unlikely(now != ws_peek(&sketch->tick) ||
				 *here.status_flags != here.settled_flags))
		return match_settle(page, hash);
	if (unlikely(hash < ws_peek(&sketch->watched)))
		return match_watched(page, hash, marks, cell);
	ws_store(&cells[cell], now);
	ws_mark(marks, cell);
	return 0;
}

/* out of line, so that equal keys do not pay for the result */
static RARE int
match_not(void)
{
	return 1;
}

/*
 * In place of memcmp(), as a HashCompareFunc.  The hash values are known to
 * be equal, so the keys nearly always are.
 */
static pg_always_inline int
match(const void *entry_key, const void *key, uint32 log2m,
	  int (*unmarked) (const void *page, uint32 hash, uint32 *marks, uint64 cell))
{
	uint32	   *marks = here.marks;
	uint32		hash;
	uint64		cell;

	if (unlikely(word64(entry_key, 0) != word64(key, 0) ||
				 word64(entry_key, 8) != word64(key, 8) ||
				 word32(entry_key, 16) != word32(key, 16)))
		return match_not();

	hash = entry_hash(entry_key);
	cell = ws_cell(hash, log2m);
	if (likely(ws_marked(marks, cell)))
		return 0;
	return unmarked(entry_key, hash, marks, cell);
}

#define MATCH(log2m) \
	static RARE int \
	match_unmarked_##log2m(const void *page, uint32 hash, uint32 *marks, uint64 cell) \
	{ \
		return match_unmarked(page, hash, marks, cell, log2m); \
	} \
	\
	static int \
	match_##log2m(const void *entry_key, const void *key, Size keysize) \
	{ \
		return match(entry_key, key, log2m, match_unmarked_##log2m); \
	}

MATCH(10)
MATCH(11)
MATCH(12)
MATCH(13)
MATCH(14)
MATCH(15)
MATCH(16)

StaticAssertDecl(WS_REGISTERS_MIN == 1 << 10 && WS_REGISTERS_MAX == 1 << 16,
				 "there is a match for each geometry");

/*
 * In place of memcpy(), as a HashCopyFunc.  A page has to be read, or made:
 * next to that, anything we do is cheap.
 */
static void *
insert(void *entry_key, const void *key, Size keysize)
{
	uint32		hash = entry_hash(entry_key);

	memcpy(entry_key, key, sizeof(BufferTag));

	if (ws_shared_advance() != here.settled_tick ||
		*here.status_flags != here.settled_flags)
		settle();
	ws_sketch_touch(here.sketch, hash);
	ws_events_insert(entry_key, hash, ws_load(&here.sketch->tick), here.kind);
	__atomic_fetch_add(&ws_counters_of(here.pid)->inserts, 1, __ATOMIC_RELAXED);
	return entry_key;
}

HashCompareFunc
ws_lookup_match(uint32 log2m)
{
	static const HashCompareFunc functions[] = {
		match_10, match_11, match_12, match_13, match_14, match_15, match_16
	};

	return functions[log2m - 10];
}

HashCopyFunc
ws_lookup_insert(void)
{
	return insert;
}

LWLock *
ws_lookup_lock(uint32 hash)
{
	return partition_lock(hash);
}

void
ws_lookup_begin(LWLockPadded *locks, uint32 exclusive, bool sure)
{
	memset(&here, 0, sizeof(here));
	record_in(ws_shared->sketch[WS_CLIENT]);
	here.kind = WS_CLIENT;
	here.status_flags = &no_flags;
	here.locks = locks;
	here.exclusive = exclusive;
	here.exclusive_sure = sure;
}

void
ws_lookup_settle(void)
{
	settle();
}

void
ws_lookup_end(void)
{
	if (here.pid == MyProcPid)
		flush_counters();
}

void
ws_lookup_resume(void)
{
	/* the logger has no PGPROC, and no shared memory either */
	if (MyProc)
		begin_process(pgBufferUsage.shared_blks_hit, pgBufferUsage.shared_blks_read);
}

void
ws_lookup_pause(void)
{
	uint32		now;

	if (here.pid != MyProcPid)
		return;
	if (pgBufferUsage.shared_blks_hit - here.hits +
		pgBufferUsage.shared_blks_read - here.reads >= FEW_LOOKUPS)
		flush_counters();

	/* transactions that look nothing up do not keep the worker from its rest */
	now = ws_shared_advance();
	if (ws_load(&here.sketch->unattended) &&
		(int32) (now - ws_load(&ws_shared->active_tick)) < WS_IDLE_TICKS)
		ws_shared_wake_worker();
}
