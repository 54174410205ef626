/*
 * probe.c
 *		Seeing every lookup of a page in shared buffers, on a stock server.
 *
 * The idea.  The buffer manager has no hook, but every lookup goes through
 * one hash table, "Shared Buffer Lookup Table" (buf_table.c, dynahash.c).  The
 * table's header, of which each process has a copy inherited from the
 * postmaster, holds pointers to the functions that compare and copy keys;
 * for this table they are memcmp and memcpy.  We put our own in their place:
 *
 *	- match() is called when an entry's hash value equals the key's: on every
 *	  hit.  It is also called when an entry is removed, that is on eviction
 *	  and invalidation.  A lookup holds the lock of the table's partition in
 *	  shared mode and a removal in exclusive mode.  Since we hold the lock
 *	  ourselves in one of the modes, its exclusive bit, if set, is ours.
 *	- keycopy() is called when an entry is made: on every page that is read
 *	  in, and on every page by which a relation is extended.
 *
 * Both find the hash value of the page in the entry, right before the key.
 * No code is patched, no protection of memory changed; in a process of its
 * own, each backend goes through two other pointers.
 *
 * What is not seen: temporary tables, which have buffers of their own; a page
 * that is looked at again while it is pinned; ReadRecentBuffer(), of which
 * redo alone makes use, after a lookup.  What is seen though it is no use:
 * dropping a small relation's buffers during recovery.
 *
 * How the table is found is told in table.c.  Before anything is recorded it
 * is tried out, see try_out().
 *
 * On the hot path (match, insert and their callees) nothing is allocated,
 * waited for, reported or read from a file.
 */
#include "postgres.h"

#include <stdlib.h>

#include "access/parallel.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/buf_internals.h"
#include "storage/lwlock.h"
#include "storage/proc.h"

#include "compat.h"
#include "guc.h"
#include "probe.h"
#include "shmem.h"
#include "table.h"
#include "watch.h"

/*
 * The table's own functions are not meant for modules.  A server that does
 * not export them must still be able to load this one.
 */
#pragma weak BufTableHashCode
#pragma weak BufTableLookup
#pragma weak BufTableInsert
#pragma weak BufTableDelete

/* What marks a process as one that cleans up, not one that uses. */
#define MAINTENANCE_FLAGS (PROC_IN_VACUUM | PROC_IS_AUTOVACUUM)

/*
 * All that this process knows.  Set in the postmaster and inherited, but for
 * the second half, in which each process keeps its own books.
 */
static struct
{
	/* the hot path: where to record, and how to tell a removal */
	WsSketch   *sketch;			/* of this process's present kind */
	LWLockPadded *locks;		/* of the table's partitions */
	uint32		exclusive;		/* bits that may mean "held exclusively" */
	bool		exclusive_sure; /* do they mean nothing else? */
	WsKind		kind;			/* what sketch is for */
	uint32		settled_tick;	/* settle() has nothing to do in this tick, */
	uint8		settled_flags;	/* as long as the process is of this kind */
	const uint8 *status_flags;	/* of this process, as others see them */

	/* the table */
	bool		attached;		/* is there one? */
	WsTable		table;
	bool		ignored;		/* record nothing in this process */

	/* the books of this process */
	int			pid;			/* whose they are */
	int64		hits;			/* of pgBufferUsage, already counted */
	int64		reads;
} probe;

static const uint8 no_flags = 0;
static const uint8 launcher_flags = PROC_IS_AUTOVACUUM;

StaticAssertDecl(sizeof(BufferTag) == 20, "keys are compared as 8 + 8 + 4 bytes");
StaticAssertDecl(sizeof(WsPageId) == sizeof(BufferTag) &&
				 offsetof(WsPageId, fork) == offsetof(BufferTag, forkNum) &&
				 offsetof(WsPageId, block) == offsetof(BufferTag, blockNum),
				 "the identity of a page is laid out as the server's");


/*
 * ----------------------------------------------------------------
 * The hot path
 * ----------------------------------------------------------------
 */

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

/*
 * The lock that this process holds, in one mode or the other, while it looks
 * for an entry with this hash value.
 */
static inline LWLock *
partition_lock(uint32 hash)
{
	return &probe.locks[hash % NUM_BUFFER_PARTITIONS].lock;
}

static inline uint8
present_flags(void)
{
	return *probe.status_flags & MAINTENANCE_FLAGS;
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
	WsCounters *c = &ws_shared->shards[probe.pid % WS_COUNTER_SHARDS].counters;
	int64		hits = pgBufferUsage.shared_blks_hit;
	int64		reads = pgBufferUsage.shared_blks_read;

	if (!IsParallelWorker())
	{
		if (hits > probe.hits)
			__atomic_fetch_add(&c->hits[probe.kind], hits - probe.hits, __ATOMIC_RELAXED);
		if (reads > probe.reads)
			__atomic_fetch_add(&c->reads[probe.kind], reads - probe.reads, __ATOMIC_RELAXED);
	}
	probe.hits = hits;
	probe.reads = reads;
	ws_watch_flush(c);
}

/*
 * What has to be done once per tick and process, when the process turns from
 * client to maintenance or back, and every time if there is no worker that
 * ticks: bring everything else up to date.
 */
static void
settle(void)
{
	uint32		now;
	bool		unattended;

	if (probe.pid != MyProcPid)
	{
		/* first lookup of this process */
		probe.pid = MyProcPid;
		probe.hits = 0;
		probe.reads = 0;
		if (AmAutoVacuumLauncherProcess())
			probe.status_flags = &launcher_flags;
		else
			probe.status_flags = MyProc ? &MyProc->statusFlags : &no_flags;
		probe.kind = present_flags() ? WS_MAINTENANCE : WS_CLIENT;
		ws_watch_begin();
	}

	flush_counters();

	probe.settled_flags = present_flags();
	probe.kind = probe.settled_flags ? WS_MAINTENANCE : WS_CLIENT;
	probe.sketch = ws_shared->sketch[probe.kind];
	unattended = ws_load(&probe.sketch->unattended);
	if (unattended)
		ws_shmem_advance();

	now = ws_load(&probe.sketch->tick);
	if (ws_load(&ws_shared->active_tick) != now)
		ws_store(&ws_shared->active_tick, now);

	/* a worker that rests will tick again; if there is none, look at the clock */
	if (unattended)
		ws_shmem_wake_worker();
	probe.settled_tick = unattended ? 0 : now;
}

/*
 * A use of a page of a watched register.
 */
static RARE int
match_watched(const void *page, uint32 hash)
{
	ws_sketch_touch(probe.sketch, hash);
	if (ws_watch_sampled(hash))
		ws_watch_hit(page, hash, ws_load(&probe.sketch->tick), probe.kind);
	return 0;
}

static RARE int
match_settle(const void *page, uint32 hash)
{
	settle();
	return match_watched(page, hash);
}

/*
 * The lock says that it is held exclusively, or it is not known which bit
 * would say so.  A removal is no use of the page.
 */
static RARE int
match_removal(const void *page, uint32 hash)
{
	if (!probe.exclusive_sure &&
		!LWLockHeldByMeInMode(partition_lock(hash), LW_EXCLUSIVE))
		return match_settle(page, hash);
	if (probe.pid == MyProcPid)
		ws_watch_remove(page, hash, ws_load(&probe.sketch->tick), probe.kind);
	return 0;
}

/*
 * A match whose cell is not current.  All that is rarer still is called at
 * the end, so that no frame is needed here.
 */
static RARE int
match_slow(const void *page, uint32 hash, uint32 *cell)
{
	const WsSketch *sketch = probe.sketch;
	uint32		now = ws_load(&sketch->tick);

	if (unlikely(pg_atomic_read_u32(&partition_lock(hash)->state) & probe.exclusive))
		return match_removal(page, hash);
	if (unlikely(now != probe.settled_tick ||
				 present_flags() != probe.settled_flags))
		return match_settle(page, hash);
	if (unlikely(hash < ws_load(&sketch->watched)))
		return match_watched(page, hash);
	ws_store(cell, now);
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
static int
match(const void *entry_key, const void *key, Size keysize)
{
	WsSketch   *sketch;
	uint32		hash;
	uint32	   *cell;

	if (unlikely(word64(entry_key, 0) != word64(key, 0) ||
				 word64(entry_key, 8) != word64(key, 8) ||
				 word32(entry_key, 16) != word32(key, 16)))
		return match_not();

	hash = entry_hash(entry_key);
	sketch = probe.sketch;
	cell = &sketch->cells[ws_sketch_cell(sketch, hash)];
	if (likely(ws_load(cell) == ws_load(&sketch->tick)))
		return 0;
	return match_slow(entry_key, hash, cell);
}

/*
 * In place of memcpy(), as a HashCopyFunc.  A page has to be read, or made:
 * next to that, anything we do is cheap.
 */
static void *
insert(void *entry_key, const void *key, Size keysize)
{
	uint32		hash = entry_hash(entry_key);

	memcpy(entry_key, key, sizeof(BufferTag));

	ws_shmem_advance();
	if (ws_load(&probe.sketch->tick) != probe.settled_tick ||
		present_flags() != probe.settled_flags)
		settle();
	ws_sketch_touch(probe.sketch, hash);
	ws_watch_insert(entry_key, hash, ws_load(&probe.sketch->tick), probe.kind);
	__atomic_fetch_add(&ws_shared->shards[probe.pid % WS_COUNTER_SHARDS].counters.inserts,
					   1, __ATOMIC_RELAXED);
	return entry_key;
}


/*
 * ----------------------------------------------------------------
 * Attaching
 * ----------------------------------------------------------------
 */

/* note why there will be no tracking */
static bool
refuse(const char *why)
{
	strlcpy(ws_shared->refusal, why, sizeof(ws_shared->refusal));
	return false;
}

static void
stand_in(bool on)
{
	ws_table_set_functions(&probe.table, on ? match : NULL, on ? insert : NULL);
}

/*
 * Try out, with the server's own functions and its own table, that all works
 * as it is thought to.  A page that cannot exist is looked up in vain, entered,
 * found and removed, and each time the sketch must show what it should.  No
 * other process is alive, and all is left as it was.
 */
static bool
try_out(void)
{
	WsSketch   *sketch = ws_shared->sketch[WS_CLIENT];
	uint32		start = ws_load(&sketch->tick);
	BufferTag	tag;
	uint32		hash;
	uint32	   *cell;
	LWLock	   *lock;
	uint32		after_miss;
	uint32		after_insert;
	uint32		after_hit;
	uint32		after_removal;
	int			missed;
	int			inserted;
	int			hit;
	int64		entries = ws_probe_entries();

	memset(&tag, 0xFF, sizeof(tag));
	tag.forkNum = MAIN_FORKNUM;
	tag.blockNum = 0;
	hash = BufTableHashCode(&tag);
	cell = &sketch->cells[ws_sketch_cell(sketch, hash)];
	lock = BufMappingPartitionLock(hash);

	/* each step in a tick of its own, none behind the clock, nothing sampled */
	ws_shmem_worker_ticks(true);
	ws_store(&sketch->tick, ws_shmem_advance() + 100);
	LWLockAcquire(lock, LW_SHARED);
	missed = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	after_miss = *cell;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	inserted = BufTableInsert(&tag, hash, 0);
	LWLockRelease(lock);
	after_insert = *cell;

	sketch->tick++;
	LWLockAcquire(lock, LW_SHARED);
	hit = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	after_hit = *cell;

	sketch->tick++;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (inserted < 0)
		BufTableDelete(&tag, hash);
	LWLockRelease(lock);
	after_removal = *cell;

	sketch->tick -= 2;
	if (missed != -1 || inserted != -1 || hit != 0 || ws_probe_entries() != entries)
		refuse("a page entered on trial was not found in the buffer lookup table");
	else if (after_miss != 0)
		refuse("looking up a page that is not there was recorded");
	else if (after_insert != sketch->tick)
		refuse("entering a page was not recorded");
	else if (after_hit != sketch->tick + 1)
		refuse("finding a page was not recorded");
	else if (after_removal != after_hit)
		refuse("removing a page was recorded as a use");

	/* as if nothing had happened */
	*cell = 0;
	ws_store(&sketch->tick, start);
	ws_shmem_worker_ticks(false);
	ws_store(&ws_shared->active_tick, 0);
	memset(ws_shared->shards, 0, sizeof(ws_shared->shards));
	probe.settled_tick = 0;
	probe.pid = 0;
	probe.status_flags = &no_flags;

	return ws_shared->refusal[0] == '\0';
}

/*
 * All the steps, any of which may refuse.
 */
static bool
attach(void)
{
#ifdef EXEC_BACKEND
	return refuse("processes of this server do not inherit the postmaster's memory");
#endif
	if (!BufTableHashCode || !BufTableLookup || !BufTableInsert || !BufTableDelete)
		return refuse("the server does not export the functions of its buffer lookup table");
	if (!ws_table_find(&probe.table, ws_shared->refusal, sizeof(ws_shared->refusal)))
		return false;

	probe.locks = &MainLWLockArray[BUFFER_MAPPING_LWLOCK_OFFSET];
	probe.exclusive_sure = ws_table_learn_exclusive_bit(&probe.locks[0].lock, &probe.exclusive);

	probe.attached = true;
	stand_in(true);
	if (try_out())
		return true;

	stand_in(false);
	return false;
}

/*
 * The last hits of a process are counted when it ends.  Neither a callback
 * of the server can be registered from the hot path, nor one in the
 * postmaster survive the fork; this one does.
 */
static void
at_exit(void)
{
	if (IsUnderPostmaster && probe.pid == MyProcPid && probe.attached)
		flush_counters();
}

void
ws_probe_attach(void)
{
	static bool exit_registered = false;
	MemoryContext context = CurrentMemoryContext;
	instr_time	start;
	instr_time	duration;

	INSTR_TIME_SET_CURRENT(start);
	memset(&probe, 0, sizeof(probe));
	probe.sketch = ws_shared->sketch[WS_CLIENT];
	probe.kind = WS_CLIENT;
	probe.status_flags = &no_flags;

	PG_TRY();
	{
		ws_shared->attached = attach();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();
		if (probe.attached)
			stand_in(false);
		refuse(error->message);
		FreeErrorData(error);
		ws_shared->attached = false;
	}
	PG_END_TRY();

	if (!ws_shared->attached)
	{
		probe.attached = false;
		ereport(LOG,
				(errmsg("working_set is not tracking: %s", ws_shared->refusal)));
		return;
	}

	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	elog(DEBUG1, "working_set attached to the buffer lookup table in %.3f ms",
		 INSTR_TIME_GET_MILLISEC(duration));

	if (!exit_registered)
		exit_registered = atexit(at_exit) == 0;
	ws_probe_switch(ws_enabled);
}

void
ws_probe_switch(bool on)
{
	if (probe.attached)
		stand_in(on && !probe.ignored);
}

void
ws_probe_ignore_self(void)
{
	probe.ignored = true;
	ws_probe_switch(false);
}

void
ws_probe_flush_counters(void)
{
	if (probe.attached && !probe.ignored)
		settle();
}

int64
ws_probe_entries(void)
{
	return probe.attached ? hash_get_num_entries(probe.table.header) : 0;
}

uint32
ws_probe_hash(const WsPageId *page)
{
	BufferTag	tag;

	memcpy(&tag, page, sizeof(tag));
	return BufTableHashCode(&tag);
}

int
ws_probe_resident(const WsSample *pages, int n, bool *resident)
{
	int			found = 0;

	if (!probe.attached)
	{
		memset(resident, 0, n * sizeof(bool));
		return 0;
	}

	/* look without being seen; none of this can fail */
	ws_probe_switch(false);
	for (int i = 0; i < n; i++)
	{
		LWLock	   *lock = partition_lock(pages[i].hash);
		BufferTag	tag;

		memcpy(&tag, &pages[i].page, sizeof(tag));
		LWLockAcquire(lock, LW_SHARED);
		resident[i] = BufTableLookup(&tag, pages[i].hash) >= 0;
		LWLockRelease(lock);
		found += resident[i];
	}
	ws_probe_switch(ws_enabled);
	return found;
}
