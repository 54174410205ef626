/*
 * attach.c
 *		Seeing every lookup of a page in shared buffers, on a stock server.
 *
 * doc/internals.md has what is touched, how it is found, and what is not seen.
 */
#include "postgres.h"

#include <stdlib.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/lwlock.h"

#include "attach.h"
#include "buffer_compat.h"
#include "buftable.h"
#include "compat.h"
#include "counters.h"
#include "lookup.h"
#include "probe.h"
#include "shared.h"

/* The library must also load into a server that does not export these. */
#pragma weak BufTableHashCode
#pragma weak BufTableLookup
#pragma weak BufTableInsert
#pragma weak BufTableDelete
#pragma weak BufferDescriptors

/* The state of this process, set in the postmaster and inherited. */
struct Probe
{
	bool		attached;		/* is there a table? */
	WsBufTable	table;
	HashCompareFunc match;		/* a copy, since the logger has no shared
								 * memory */
	bool		recording;		/* does the table use the probe's functions? */
	bool		ignored;		/* never record in this process */
	int			usage;			/* largest usage count of a buffer seen */
};

static struct Probe probe;

static void
use_own_functions(bool own)
{
	ws_buftable_set_functions(&probe.table, own ? probe.match : NULL,
							  own ? ws_lookup_insert : NULL);
}

static void
require(bool fine, const char *else_why)
{
	if (!fine)
		ereport(ERROR, (errmsg_internal("%s", else_why)));
}

int64
ws_probe_entries(void)
{
	return probe.attached ? hash_get_num_entries(probe.table.header) : 0;
}

/* The buffer that holds a page, or -1. */
static int
look_up(BufferTag *tag, uint32 hash)
{
	LWLock	   *lock = BufMappingPartitionLock(hash);
	int			buffer;

	LWLockAcquire(lock, LW_SHARED);
	buffer = BufTableLookup(tag, hash);
	LWLockRelease(lock);
	return buffer;
}

/*
 * Verify that lookups by the server's own functions are recorded.  A page that
 * cannot exist is looked up, entered, found and removed, and the sketch must
 * show each step.  No other process is alive; everything is left as it was.
 */
static void
try_out(void)
{
	WsSketch   *sketch = ws_shared->sketch[WS_CLIENT];
	uint32		start = ws_load(&sketch->tick);
	int64		before = ws_probe_entries();
	BufferTag	tag;
	uint32		hash;
	uint32		tick;
	uint32	   *cell;
	LWLock	   *lock;
	int			missed;
	int			inserted;
	int			found;
	int64		entries_then;
	uint32		cells[4];		/* the page's cell after each step */

	memset(&tag, 0xFF, sizeof(tag));
	tag.forkNum = MAIN_FORKNUM;
	tag.blockNum = 0;
	hash = BufTableHashCode(&tag);
	require(hash == tag_hash(&tag, sizeof(tag)), "the hash of a page is not that of its tag");
	cell = &sketch->cells[ws_cell(hash, sketch->log2m)];
	lock = BufMappingPartitionLock(hash);

	/* ticks that the clock does not reach meanwhile; no page is sampled */
	ws_shared_worker_ticks(true);
	tick = (ws_shared_advance() / WS_PRESENT + 10) * WS_PRESENT;
	ws_sketch_advance(sketch, tick);
	missed = look_up(&tag, hash);
	cells[0] = *cell;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	inserted = BufTableInsert(&tag, hash, 0);
	LWLockRelease(lock);
	cells[1] = *cell;
	entries_then = ws_probe_entries();

	ws_sketch_advance(sketch, tick + WS_PRESENT);
	found = look_up(&tag, hash);
	cells[2] = *cell;

	ws_sketch_advance(sketch, tick + 2 * WS_PRESENT);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	if (inserted < 0)
		BufTableDelete(&tag, hash);
	LWLockRelease(lock);
	cells[3] = *cell;

	/* as it was; to begin a present wipes the marks */
	*cell = 0;
	ws_store(&sketch->tick, start);
	ws_store(&sketch->present, start - 1);
	ws_sketch_begin(sketch, start);
	ws_shared_worker_ticks(false);
	ws_store(&ws_shared->active_tick, 0);
	memset(ws_counters->shards, 0, sizeof(ws_counters->shards));

	require(missed == -1 && inserted == -1 && found == 0 && ws_probe_entries() == before,
			"a page entered on trial was not found in the buffer lookup table");
	require(entries_then == before + 1, "a page entered on trial was not among the table's entries");
	require(cells[0] == 0, "looking up a page that is not there was recorded");
	require(cells[1] == tick, "entering a page was not recorded");
	require(cells[2] == tick + WS_PRESENT, "finding a page was not recorded");
	require(cells[3] == tick + WS_PRESENT, "removing a page was recorded as a use");
}

/*
 * Count the last hits of a process that ends.  A callback of the server that
 * the postmaster registers does not survive the fork, but this one does.
 */
static void
at_exit(void)
{
	if (IsUnderPostmaster)
		ws_lookup_stop();
}

void
ws_attach(void)
{
	static bool exit_registered = false;
	LWLockPadded *locks;
	uint32		exclusive;
	bool		sure;
	instr_time	start;
	instr_time	duration;

	INSTR_TIME_SET_CURRENT(start);
	memset(&probe, 0, sizeof(probe));
#ifdef EXEC_BACKEND
	require(false, "processes of this server do not inherit the postmaster's memory");
#endif
	require(BufTableHashCode && BufTableLookup && BufTableInsert && BufTableDelete,
			"the server does not export the functions of its buffer lookup table");
	ws_buftable_find(&probe.table);
	locks = ws_buftable_locks(&exclusive, &sure);

	probe.attached = true;
	probe.match = ws_lookup_match(ws_shared->log2m);
	ws_lookup_begin(locks, exclusive, sure);
	use_own_functions(true);
	try_out();
	ws_lookup_begin(locks, exclusive, sure);
	probe.recording = true;

	if (!exit_registered)
		exit_registered = atexit(at_exit) == 0;
	ws_shared->attached = true;

	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	elog(DEBUG1, "working_set attached to the buffer lookup table in %.3f ms",
		 INSTR_TIME_GET_MILLISEC(duration));
}

void
ws_detach(void)
{
	if (probe.attached)
	{
		use_own_functions(false);
		ws_lookup_stop();
	}
	probe.attached = false;
}

void
ws_attach_record(bool on)
{
	on = on && !probe.ignored;
	if (!probe.attached || on == probe.recording)
		return;
	if (probe.recording)
		ws_lookup_stop();
	else
		ws_lookup_resume();
	use_own_functions(on);
	probe.recording = on;
}

void
ws_probe_ignore_self(void)
{
	probe.ignored = true;
	ws_attach_record(false);
}

void
ws_probe_flush_counters(void)
{
	if (probe.recording)
		ws_lookup_refresh();
}

uint32
ws_probe_hash(const WsPageId *page)
{
	/* laid out alike, as lookup.c asserts */
	return BufTableHashCode((BufferTag *) page);
}

int
ws_probe_usage_max(void)
{
	return Max(probe.usage, BM_MAX_USAGE_COUNT);
}

int
ws_probe_resident(const WsSample *pages, int n, bool *resident, bool *dirty)
{
	int			found = 0;

	memset(resident, 0, n * sizeof(bool));
	if (dirty)
		memset(dirty, 0, n * sizeof(bool));
	if (!probe.attached)
		return 0;

	/* these lookups are not recorded; none of this can fail */
	use_own_functions(false);
	for (int i = 0; i < n; i++)
	{
		int			buffer = look_up((BufferTag *) &pages[i].page, pages[i].hash);

		resident[i] = buffer >= 0;
		found += resident[i];
		if (dirty && resident[i] && &BufferDescriptors != NULL)
		{
			int			usage;

			dirty[i] = ws_buffer_is_dirty(buffer, &usage);
			probe.usage = Max(probe.usage, usage);
		}
	}
	use_own_functions(probe.recording);
	return found;
}
