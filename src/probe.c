/*
 * probe.c
 *		Seeing every lookup of a page in shared buffers, on a stock server.
 *
 * The idea.  The buffer manager has no hook, but every lookup goes through
 * one hash table, "Shared Buffer Lookup Table" (buf_buftable.c, dynahash.c).  The
 * table's header, of which each process has a copy inherited from the
 * postmaster, holds pointers to the functions that compare and copy keys;
 * for this table they are memcmp and memcpy.  We put our own in their place:
 *
 *	- match() is called when an entry's hash value equals the key's: on every
 *	  hit, and when an entry is removed;
 *	- keycopy() is called when an entry is made: on every page that is read
 *	  in, and on every page by which a relation is extended.
 *
 * What ours do is told in lookup.c.  No code is patched, no protection of memory changed; in a process of its
 * own, each backend goes through two other pointers.
 *
 * What is not seen: temporary tables, which have buffers of their own; a page
 * that is looked at again while it is pinned; ReadRecentBuffer(), of which
 * redo alone makes use, after a lookup.  What is seen though it is no use:
 * dropping a small relation's buffers during recovery.
 *
 * How the table is found is told in buftable.c.  Before anything is recorded it
 * is tried out, see try_out().
 */
#include "postgres.h"

#include <stdlib.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/buf_internals.h"
#include "storage/lwlock.h"

#include "compat.h"
#include "counters.h"
#include "guard.h"
#include "guc.h"
#include "lookup.h"
#include "probe.h"
#include "shared.h"
#include "buftable.h"

/*
 * The table's own functions are not meant for modules.  A server that does
 * not export them must still be able to load this one.
 */
#pragma weak BufTableHashCode
#pragma weak BufTableLookup
#pragma weak BufTableInsert
#pragma weak BufTableDelete

/*
 * What this process knows; set in the postmaster and inherited.
 */
static struct
{
	bool		attached;		/* is there a table? */
	WsBufTable		table;
	HashCompareFunc match;		/* for the geometry of the sketches.  Not taken from
								 * shared memory, which the logger does not have. */
	bool		recording;		/* do our functions stand in? */
	bool		ignored;		/* record nothing in this process */
} probe;

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
	ws_buftable_set_functions(&probe.table, on ? probe.match : NULL, on ? ws_lookup_insert() : NULL);
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
	int64		entries_then;

	memset(&tag, 0xFF, sizeof(tag));
	tag.forkNum = MAIN_FORKNUM;
	tag.blockNum = 0;
	hash = BufTableHashCode(&tag);
	if (hash != tag_hash(&tag, sizeof(tag)))
		return refuse("the hash of a page is not that of its tag");
	cell = &sketch->cells[ws_sketch_cell(sketch, hash)];
	lock = BufMappingPartitionLock(hash);

	/* each step in a tick of its own, none behind the clock, nothing sampled */
	ws_shared_worker_ticks(true);
	ws_sketch_advance(sketch, ws_shared_advance() + 100);
	LWLockAcquire(lock, LW_SHARED);
	missed = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	after_miss = *cell;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	inserted = BufTableInsert(&tag, hash, 0);
	LWLockRelease(lock);
	after_insert = *cell;
	entries_then = ws_probe_entries();

	ws_sketch_advance(sketch, sketch->tick + 1);
	LWLockAcquire(lock, LW_SHARED);
	hit = BufTableLookup(&tag, hash);
	LWLockRelease(lock);
	after_hit = *cell;

	ws_sketch_advance(sketch, sketch->tick + 1);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (inserted < 0)
		BufTableDelete(&tag, hash);
	LWLockRelease(lock);
	after_removal = *cell;

	sketch->tick -= 2;
	if (missed != -1 || inserted != -1 || hit != 0 || ws_probe_entries() != entries)
		refuse("a page entered on trial was not found in the buffer lookup table");
	else if (entries_then != entries + 1)
		refuse("a page entered on trial was not among the table's entries");
	else if (after_miss != 0)
		refuse("looking up a page that is not there was recorded");
	else if (after_insert != sketch->tick)
		refuse("entering a page was not recorded");
	else if (after_hit != sketch->tick + 1)
		refuse("finding a page was not recorded");
	else if (after_removal != after_hit)
		refuse("removing a page was recorded as a use");

	/* as if nothing had happened, with no mark left */
	*cell = 0;
	ws_store(&sketch->tick, start - 1);
	ws_sketch_advance(sketch, start);
	ws_shared_worker_ticks(false);
	ws_store(&ws_shared->active_tick, 0);
	memset(ws_counters->shards, 0, sizeof(ws_counters->shards));

	return ws_shared->refusal[0] == '\0';
}

/*
 * All the steps, any of which may refuse, or raise an error.
 */
static bool
try_attach(void)
{
	LWLockPadded *locks;
	uint32		exclusive;
	bool		sure;

#ifdef EXEC_BACKEND
	return refuse("processes of this server do not inherit the postmaster's memory");
#endif
	if (!BufTableHashCode || !BufTableLookup || !BufTableInsert || !BufTableDelete)
		return refuse("the server does not export the functions of its buffer lookup table");
	if (!ws_buftable_find(&probe.table, ws_shared->refusal, sizeof(ws_shared->refusal)))
		return false;
	if (!ws_buftable_locks_are_expected(MainLWLockArray))
		return refuse("the locks of the buffer lookup table are not where they are expected");

	locks = &MainLWLockArray[BUFFER_MAPPING_LWLOCK_OFFSET];
	sure = ws_buftable_learn_exclusive_bit(&locks[0].lock, &exclusive);

	probe.attached = true;
	probe.match = ws_lookup_match(ws_shared->log2m);
	ws_lookup_begin(locks, exclusive, sure);
	stand_in(true);
	if (!try_out())
		return false;
	ws_lookup_begin(locks, exclusive, sure);
	probe.recording = true;
	return true;
}

static void
attach(void)
{
	ws_shared->attached = try_attach();
}

/*
 * The last hits of a process are counted when it ends.  Neither a callback
 * of the server can be registered from the hot path, nor one in the
 * postmaster survive the fork; this one does.
 */
static void
at_exit(void)
{
	if (IsUnderPostmaster && probe.recording)
		ws_lookup_stop();
}

void
ws_probe_attach(void)
{
	static bool exit_registered = false;
	instr_time	start;
	instr_time	duration;

	INSTR_TIME_SET_CURRENT(start);
	memset(&probe, 0, sizeof(probe));

	(void) ws_guard(attach, ws_shared->refusal, sizeof(ws_shared->refusal));
	if (!ws_shared->attached)
	{
		if (probe.attached)
			stand_in(false);
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
	on = on && !probe.ignored;
	if (!probe.attached || on == probe.recording)
		return;

	/* count what was recorded, and nothing of what is not */
	if (probe.recording)
		ws_lookup_stop();
	else
		ws_lookup_resume();
	stand_in(on);
	probe.recording = on;
}

void
ws_probe_end_transaction(void)
{
	if (probe.recording)
		ws_lookup_end_transaction();
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
	if (probe.recording)
		ws_lookup_refresh();
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
	stand_in(false);
	for (int i = 0; i < n; i++)
	{
		LWLock	   *lock = ws_lookup_lock(pages[i].hash);
		BufferTag	tag;

		memcpy(&tag, &pages[i].page, sizeof(tag));
		LWLockAcquire(lock, LW_SHARED);
		resident[i] = BufTableLookup(&tag, pages[i].hash) >= 0;
		LWLockRelease(lock);
		found += resident[i];
	}
	stand_in(probe.recording);
	return found;
}
