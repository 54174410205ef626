/*
 * lookup.c
 *		What happens at each lookup of a page; see lookup.h.
 *
 * The server calls match() when an entry's hash value equals the key's: at
 * every hit, with the lock of the table's partition in shared mode, and when it
 * removes an entry, with the lock in exclusive mode.  This process holds the
 * lock itself, so a set exclusive bit is its own.
 *
 * The server calls ws_lookup_insert() when it makes an entry, for a page that
 * it reads or by which it extends a relation.  If two processes read the same
 * page at once, the later one finds the entry of the other, with the lock in
 * exclusive mode, and match() takes that for a removal.  It comes within a tick
 * or two of a use of the page, so the worker looks for the page before it
 * believes such a removal (reader.c).
 *
 * Every instruction counts.  By far the most hits are on pages whose cell is
 * marked: match() compares the keys, finds the mark and returns.  There is one
 * for each number of registers, in which it is a constant.  Each function calls
 * the code for a rarer case as its last act, so that the common ones need no
 * frame.  bench/results/performance.md lists what was tried, and what each
 * attempt gave.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/buf_internals.h"
#include "storage/proc.h"

#include "compat.h"
#include "counters.h"
#include "lookup.h"
#include "process_origin.h"
#include "sample_events.h"
#include "shared.h"

#define CLOCK_EVERY 16			/* sampled hits, not quiet, per look at it */
#define FEW_LOOKUPS 128			/* uncounted between transactions */

/*
 * The state of this process, set in the postmaster and inherited.  What is
 * needed at each hit and at each end of a transaction is in one line of the
 * processor's cache: it is the misses that cost.
 */
struct Recording
{
	uint32	   *marks;			/* of the sketch below, */
	const uint32 *quiet;		/* and its quiet bits */
	const BufferUsage *usage;	/* what the server counts */
	int64		due;			/* a transaction that ends with so many
								 * lookups adds them to the shared counters */
	LWLockPadded *locks;		/* of the table's partitions */
	const uint8 *status_flags;	/* of this process, in shared memory */
	uint32		exclusive;		/* bits that may mean "held exclusively" */
	uint32		refreshed;		/* nothing to refresh in this present, */
	uint8		refreshed_flags;	/* while the process has these flags */
	bool		exclusive_sure; /* do the bits mean nothing else? */
	uint32		sampled_below;	/* of the sketch, when it was refreshed */

	WsSketch   *sketch pg_attribute_aligned(64);	/* of the kind below */
	WsKind		kind;			/* of this process at present */
	int			pid;			/* of this process; 0: no lookup yet */
	/* what the shared counters have of the server's */
	int64		hits;
	int64		reads;
	int64		few;			/* fewer stay uncounted between transactions */
	/* of a parallel worker, before it runs its query */
	int64		start_hits;
	int64		start_reads;
	uint32		sampled_hits;	/* of pages that were not quiet */
};

StaticAssertDecl(offsetof(struct Recording, sketch) == 64, "what hits need is in one line");

/* as it is where nothing is attached, too */
static struct Recording self = {.usage = &pgBufferUsage, .due = PG_INT64_MAX};
static ExecutorRun_hook_type next_run = NULL;	/* in a parallel worker only */
static const uint8 no_flags = 0;
static const uint8 maintenance_flags = PROC_IS_AUTOVACUUM;

/* A BufferTag, as it is compared. */
struct Key
{
	uint64		first;
	uint64		second;
	uint32		third;
}			pg_attribute_packed();

StaticAssertDecl(sizeof(struct Key) == sizeof(BufferTag), "keys are compared as 8 + 8 + 4 bytes");
StaticAssertDecl(sizeof(WsPageId) == sizeof(BufferTag) &&
				 offsetof(WsPageId, fork) == offsetof(BufferTag, forkNum) &&
				 offsetof(WsPageId, block) == offsetof(BufferTag, blockNum),
				 "the identity of a page is laid out as the server's");

/*
 * A rare case, called as another function's last act.  If the compiler inlined
 * it or adapted its interface, the jump would become a call.
 */
#if defined(__clang__)
#define RARE pg_noinline
#else
#define RARE __attribute__((noipa))
#endif

/* The server keeps the hash value in the entry, right before the key. */
static inline uint32
entry_hash(const void *entry_key)
{
	return ((const HASHELEMENT *) ((const char *) entry_key -
								   MAXALIGN(sizeof(HASHELEMENT))))->hashvalue;
}

static inline void
record_in(WsSketch *sketch)
{
	self.sketch = sketch;
	self.marks = ws_sketch_marks(sketch);
	self.quiet = ws_quiet_words(self.marks, sketch->log2m);
}

static inline LWLock *
partition_lock(uint32 hash)
{
	return &self.locks[hash % NUM_BUFFER_PARTITIONS].lock;
}

/* What was counted ahead for this process or another; NULL: for none. */
static WsCountedAhead *
ahead_of(const PGPROC *process)
{
	return process && process - ProcGlobal->allProcs < MaxBackends ?
		&ws_shared->ahead[process - ProcGlobal->allProcs] : NULL;
}

/* Of so many more, take what was counted ahead; returns the others. */
static int64
take_ahead(int64 *ahead, int64 more)
{
	int64		taken = Min(__atomic_load_n(ahead, __ATOMIC_RELAXED), more);

	if (taken > 0)
		__atomic_fetch_sub(ahead, taken, __ATOMIC_RELAXED);
	return more - Max(taken, 0);
}

/*
 * Add to the shared counters what the server has counted since last time, which
 * costs nothing and has no removals.  The server adds the counts of a parallel
 * worker to its leader's, but late, when the query ends.
 */
static void
flush_counters(void)
{
	WsCounters *c = ws_counters_of(self.pid);
	int64		hits = pgBufferUsage.shared_blks_hit - self.hits;
	int64		reads = pgBufferUsage.shared_blks_read - self.reads;
	WsCountedAhead *ahead = IsParallelWorker() ? NULL : ahead_of(MyProc);

	self.hits += hits;
	self.reads += reads;
	self.due = self.hits + self.reads + self.few;
	if (ahead)
	{
		hits = take_ahead(&ahead->hits, hits);
		reads = take_ahead(&ahead->reads, reads);
	}
	if (hits > 0)
		__atomic_fetch_add(&c->hits[self.kind], hits, __ATOMIC_RELAXED);
	if (reads > 0)
		__atomic_fetch_add(&c->reads[self.kind], reads, __ATOMIC_RELAXED);
	ws_events_flush(c);
}

static WsKind
present_kind(void)
{
	return *self.status_flags & WS_MAINTENANCE_FLAGS ? WS_MAINTENANCE : WS_CLIENT;
}

/*
 * What the workers of autoprewarm read is not needed for that.  (pg_prewarm(),
 * which somebody calls, is a client's.)
 */
static bool
warms_cache(void)
{
	static const char library[] = "pg_prewarm";

	return MyBgworkerEntry != NULL && memcmp(MyBgworkerEntry->bgw_library_name, library, sizeof(library)) == 0;
}

/*
 * A parallel worker runs its query, after it has looked for all that it needs:
 * the server adds only what follows to the leader's counts.
 */
static void
run(WS_RUN_ARGUMENTS)
{
	static bool runs = false;

	if (!runs)
	{
		self.start_hits = pgBufferUsage.shared_blks_hit;
		self.start_reads = pgBufferUsage.shared_blks_read;
	}
	runs = true;
	next_run(WS_RUN_VALUES);
}

/*
 * The transaction ends.  A parallel worker's counts go to its leader next; if
 * the transaction of a leader ends, none come any more.
 */
static void
pass_on_counts(XactEvent event)
{
	WsCountedAhead *ahead = ahead_of(IsParallelWorker() ? MyProc->lockGroupLeader : MyProc);

	if (ahead == NULL)
		return;
	if (!IsParallelWorker())
	{
		__atomic_store_n(&ahead->hits, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&ahead->reads, 0, __ATOMIC_RELAXED);
	}
	else if (event == XACT_EVENT_PARALLEL_COMMIT)
	{
		__atomic_fetch_add(&ahead->hits, self.hits - self.start_hits, __ATOMIC_RELAXED);
		__atomic_fetch_add(&ahead->reads, self.reads - self.start_reads, __ATOMIC_RELAXED);
	}
}

/* Begin to record, after these hits and reads of pgBufferUsage. */
static void
begin_process(int64 hits, int64 reads)
{
	bool		warms = warms_cache();

	self.pid = MyProcPid;
	self.hits = hits;
	self.reads = reads;
	self.few = 0;
	self.due = 0;
	if (MyBackendType == B_AUTOVAC_LAUNCHER || warms)
		self.status_flags = &maintenance_flags;
	else
		self.status_flags = MyProc ? &MyProc->statusFlags : &no_flags;
	self.kind = present_kind();
	/* of a process that had the place before */
	if (!IsParallelWorker())
		pass_on_counts(XACT_EVENT_ABORT);
	else if (next_run == NULL)
	{
		next_run = ExecutorRun_hook ? ExecutorRun_hook : standard_ExecutorRun;
		ExecutorRun_hook = run;
	}
	ws_events_begin(warms);
}

/*
 * Bring all but the cell of the page up to date: once in each present, when the
 * process turns from client to maintenance or back, and at every lookup if no
 * worker ticks.
 */
void
ws_lookup_refresh(void)
{
	uint32		present;
	uint32		now;
	bool		unattended;

	if (self.pid != MyProcPid)
	{
		begin_process(0, 0);
		ws_shared_advance();
	}
	flush_counters();
	self.refreshed_flags = *self.status_flags;
	self.kind = present_kind();
	record_in(ws_shared->sketch[self.kind]);
	self.sampled_below = ws_load(&self.sketch->sampled_below);

	present = ws_sketch_present(self.sketch, &unattended);
	if (unattended)
	{
		ws_shared_advance();
		self.due = 0;
	}
	now = ws_load(&self.sketch->tick);
	if (ws_load(&ws_shared->active_tick) != now)
		ws_store(&ws_shared->active_tick, now);
	/* none is 0, so that without a worker each lookup comes here */
	self.refreshed = unattended ? 0 : present;
}

/*
 * A use of a page, the long way.  It sets the mark as well: without a worker
 * that ticks, all uses without a mark come here.
 */
static RARE int
match_recorded(const void *page, uint32 hash)
{
	WsSketch   *sketch = self.sketch;

	ws_sketch_touch(sketch, hash);
	if (!ws_hash_in_sampled_register(hash, ws_load(&sketch->sampled_below)))
		ws_mark(self.marks, ws_cell(hash, sketch->log2m));
	else
		ws_events_hit(page, hash, ws_load(&self.sketch->tick), self.kind);
	return 0;
}

static RARE int
match_refresh(const void *page, uint32 hash)
{
	ws_lookup_refresh();
	return match_recorded(page, hash);
}

/* Read the clock, because the worker may hang. */
static RARE int
match_clock(const void *page, uint32 hash)
{
	ws_shared_advance();
	if (ws_load(&self.sketch->present) != self.refreshed)
		ws_lookup_refresh();
	return match_recorded(page, hash);
}

static RARE int
match_event(const void *page, uint32 hash)
{
	ws_events_hit(page, hash, ws_load(&self.sketch->tick), self.kind);
	return 0;
}

/* Most pages that are used often were reported often enough. */
static RARE int
match_sampled(const void *page, uint32 hash, uint32 *marks, uint64 cell)
{
	if (likely(ws_is_quiet(self.quiet, hash, self.refreshed)))
		return 0;
	if (unlikely(self.refreshed != ws_load(&self.sketch->present) ||
				 *self.status_flags != self.refreshed_flags))
		return match_refresh(page, hash);
	if (unlikely(++self.sampled_hits % CLOCK_EVERY == 0))
		return match_clock(page, hash);
	if (ws_load(&self.sketch->cells[cell]) != self.refreshed)
		ws_store(&self.sketch->cells[cell], self.refreshed);
	return match_event(page, hash);
}

/* The lock is held exclusively, or may be.  A removal is no use of the page. */
static RARE int
match_removal(const void *page, uint32 hash)
{
	if (!self.exclusive_sure &&
		!LWLockHeldByMeInMode(partition_lock(hash), LW_EXCLUSIVE))
		return match_refresh(page, hash);
	if (self.pid == MyProcPid)
		ws_events_remove(page, hash, ws_load(&self.sketch->tick), self.kind);
	return 0;
}

static pg_always_inline int
match_unmarked(const void *page, uint32 hash, uint32 *marks, uint64 cell, uint32 log2m)
{
	/* computed from the marks, which are in a register already */
	const WsSketch *sketch = (const WsSketch *) ((char *) marks - ws_marks_offset(log2m));
	uint32	   *cells = marks - ws_ncells(log2m);
	uint32		now = self.refreshed;

	if (unlikely(pg_atomic_read_u32(&partition_lock(hash)->state) & self.exclusive))
		return match_removal(page, hash);
	if (unlikely(ws_hash_in_sampled_register(hash, self.sampled_below)))
		return match_sampled(page, hash, marks, cell);
	if (unlikely(now != ws_peek(&sketch->present) ||
				 *self.status_flags != self.refreshed_flags))
		return match_refresh(page, hash);
	ws_store(&cells[cell], now);
	ws_mark(marks, cell);
	return 0;
}

/* Out of line, so that equal keys need no instruction for the result. */
static RARE int
match_not(void)
{
	return 1;
}

/* A HashCompareFunc.  Hash values are equal, so keys nearly always are. */
static pg_always_inline int
match(const void *entry_key, const void *key, uint32 log2m,
	  int (*unmarked) (const void *page, uint32 hash, uint32 *marks, uint64 cell))
{
	const struct Key *a = entry_key;
	const struct Key *b = key;
	uint32	   *marks = self.marks;
	uint32		hash;
	uint64		cell;

	if (unlikely(a->first != b->first || a->second != b->second || a->third != b->third))
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

/* A HashCopyFunc.  Cheap beside reading a page or extending a relation. */
void *
ws_lookup_insert(void *entry_key, const void *key, Size keysize)
{
	uint32		hash = entry_hash(entry_key);

	memcpy(entry_key, key, sizeof(BufferTag));
	ws_shared_advance();
	if (ws_load(&self.sketch->present) != self.refreshed ||
		*self.status_flags != self.refreshed_flags)
		ws_lookup_refresh();
	ws_sketch_touch(self.sketch, hash);
	ws_events_insert(entry_key, hash, ws_load(&self.sketch->tick), self.kind);
	__atomic_fetch_add(&ws_counters_of(self.pid)->inserts, 1, __ATOMIC_RELAXED);
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

void
ws_lookup_begin(LWLockPadded *locks, uint32 exclusive, bool sure)
{
	memset(&self, 0, sizeof(self));
	self.usage = &pgBufferUsage;
	self.due = PG_INT64_MAX;
	record_in(ws_shared->sketch[WS_CLIENT]);
	self.status_flags = &no_flags;
	self.locks = locks;
	self.exclusive = exclusive;
	self.exclusive_sure = sure;
}

void
ws_lookup_stop(void)
{
	if (self.pid == MyProcPid)
		flush_counters();
	self.pid = 0;
	self.due = PG_INT64_MAX;
}

void
ws_lookup_resume(void)
{
	/* the logger has neither a PGPROC nor shared memory */
	if (MyProc)
		begin_process(pgBufferUsage.shared_blks_hit, pgBufferUsage.shared_blks_read);
}

/*
 * Called at the end of the first transaction that is recorded, when some
 * lookups are to be counted, and after lookups while the worker rests.
 */
static pg_noinline void
end_transaction(XactEvent event)
{
	uint32		now;

	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PARALLEL_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE)
		return;
	ws_process_origin_take_role();
	if (self.pid != MyProcPid)
		return;
	self.few = IsParallelWorker() ? 0 : FEW_LOOKUPS;
	flush_counters();
	pass_on_counts(event);
	if (!ws_load(&self.sketch->unattended))
		return;
	/* transactions without lookups do not keep the worker awake */
	now = ws_shared_advance();
	if ((int32) (now - ws_load(&ws_shared->active_tick)) < WS_IDLE_TICKS)
		ws_shared_wake_worker();
}

void
ws_lookup_transaction_event(XactEvent event, void *arg)
{
	/* a leader that fails gets no counts of its workers any more */
	int64		due = self.due - (event == XACT_EVENT_ABORT ? self.few : 0);

	if (unlikely(self.usage->shared_blks_hit + self.usage->shared_blks_read >= due))
		end_transaction(event);
}
