/*
 * sample_events.c
 *		Events of sampled pages; see sample_events.h.
 *
 * Runs.  A process that reads a relation sequentially looks at each block a
 * little further on than the one before.  Of the hits only those of sampled
 * pages are seen here, so "a little" is some times the sampling distance.
 * Each such step counts one, each other takes three away; random steps never
 * get far.  A scan that begins again loses little.
 *
 * Rings.  A process that evicts a page that it has itself lately read goes
 * round in a ring: the hand of the clock would have to come round twice to
 * get there.  How lately depends on the size of the ring.
 *
 * Damping.  Of the hits of a page in an interval only the first are reported, as
 * many as could make a difference to the simulated caches; see sweep.h.  The
 * worker says how many those are, and how long the interval is.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "storage/proc.h"

#include "compat.h"
#include "guc.h"
#include "sample_events.h"

/* Relations that a process's place in is known of; a power of two. */
#define RUNS 64

/* The pages that the process read last; a power of two. */
#define READS 4096

/*
 * A step belongs to a run if it is no longer than this many blocks, or this
 * many sampling distances.
 */
#define STEP_BLOCKS		16
#define STEP_DISTANCES	8

/* A step that does not takes so much away. */
#define RUN_BROKEN		3

/*
 * A process seems to make pages of a relation, rather than read them, once so
 * many more came in than the server counted as read.  The server counts a read
 * after it has let in all of its pages; where it reads ahead these are hundreds.
 * A ring for bulk writes goes round later than that.
 */
#define MADE			1024
#define MADE_MAX		2048

/* Bits of a slot of the damper that count hits, and what they can hold. */
#define COUNT_BITS		10
#define COUNT_MAX		((1 << COUNT_BITS) - 1)

StaticAssertDecl(WS_DAMPING_USES_MAX < COUNT_MAX, "a slot has room for the hits that are reported");

typedef struct Run
{
	uint32		relation;
	uint32		database;
	uint32		block;			/* the last one */
	uint32		length;			/* 0 .. WS_RUN_MAX */
	uint32		ringed;			/* number of the read at which the process last
								 * evicted a page of its own; 0: never */
	int			made;			/* pages let in that the server did not count as
								 * read: -MADE_MAX .. MADE_MAX */
} Run;

static struct
{
	uint16		process;
	uint32		nreads;			/* pages that the process let in */
	int64		counted_reads;	/* as the server had counted them at the last */
	Run		   *last_let_in;	/* of the last, or NULL */
	uint32		ring_read;		/* ring of a scan, and of a bulk write: */
	uint32		ring_write;		/* within so many reads is "lately" */
	Run			runs[RUNS];
	struct
	{
		uint32		hash;
		uint32		number;		/* of the read; 0: none */
	}			reads[READS];

	uint32		last_hash;		/* sampled page that was last found, and how many */
	int64		last_looks;		/* pages the process had looked at before */

	/* not yet added to the shared counters */
	uint64		scan_hits;
	uint64		scan_reads;
	uint64		dropped;
} watch;

void
ws_events_begin(void)
{
	/* the rest is as the postmaster left it, which is zeros, and not yet memory */
	watch.counted_reads = pgBufferUsage.shared_blks_read;
	watch.last_let_in = NULL;
	watch.process = (uint16) ws_process_number();
	watch.ring_read = 2 * ws_ring_read_pages(NBuffers);
	watch.ring_write = 2 * ws_ring_write_pages(NBuffers);
}

static Run *
find_run(const WsPageId *page)
{
	Run		   *run = &watch.runs[(page->relation * 0x9E3779B1U) >> 26];

	if (run->relation != page->relation || run->database != page->database)
	{
		memset(run, 0, sizeof(*run));
		run->relation = page->relation;
		run->database = page->database;
		run->block = page->block;
	}
	return run;
}

/*
 * The process is at this page now.  NULL for pages that nobody scans.
 */
static Run *
follow(const WsPageId *page, uint32 shift)
{
	Run		   *run;
	uint64		longest = STEP_BLOCKS;

	if (page->fork != MAIN_FORKNUM)
		return NULL;

	longest = Max(longest, (uint64) STEP_DISTANCES << shift);
	run = find_run(page);
	if (page->block == run->block)
		return run;
	if (page->block > run->block && page->block - run->block <= longest)
		run->length = Min(run->length + 1, WS_RUN_MAX);
	else
		run->length = run->length < RUN_BROKEN ? 0 : run->length - RUN_BROKEN;
	run->block = page->block;
	return run;
}

/* Does the process seem to make pages of this relation, rather than read them? */
static bool
extending(const Run *run)
{
	return run->made > MADE;
}

/*
 * Which ring would the process use?  That depends on whether it reads or makes
 * pages.  No argument of the callback says which, but the server counts those
 * that are read, a little later: what it counted since the page before was that
 * page's, or those' that came in with it.
 */
static void
count_made(Run *run)
{
	int64		reads = pgBufferUsage.shared_blks_read;
	Run		   *before = watch.last_let_in;

	if (before)
		before->made = Max(before->made - (int) Min(reads - watch.counted_reads, 2 * MADE_MAX),
						   -MADE_MAX);
	if (run)
		run->made = Min(run->made + 1, MADE_MAX);
	watch.counted_reads = reads;
	watch.last_let_in = run;
}

/*
 * Is so long ago, in pages that the process let in, "lately" for the ring that
 * it would use in this relation?
 */
static bool
within_ring(const Run *run, uint32 nreads)
{
	return nreads <= (extending(run) ? watch.ring_write : watch.ring_read);
}

/*
 * Is the process going through a ring in this relation?
 */
static bool
in_ring(const Run *run)
{
	return run->ringed != 0 && within_ring(run, watch.nreads - run->ringed);
}

static void
tell(const WsPageId *page, uint32 tick, WsKind kind, WsAct act, const Run *run, bool ring)
{
	WsEvent		event;

	memset(&event, 0, sizeof(event));
	event.tick = tick;
	event.page = *page;
	event.act = act;
	event.maintenance = kind == WS_MAINTENANCE;
	event.ring = ring;
	event.run = run ? run->length : 0;
	event.process = watch.process;
	if (!ws_stream_write(ws_shared->stream, &event))
		watch.dropped++;
}

/*
 * The interval that a tick is in, as it is in the slots of the damper.
 *
 * A slot holds a hash, this, and how many hits of the page were reported.
 * What was reported before a reset, or of the other kind, does not count.
 * Pages that share a slot drive each other out, and are reported more often
 * than needed.
 */
static uint32
interval_of(uint32 tick, WsKind kind, uint32 shift)
{
	uint32		floor = ws_load(&ws_shared->sketch[kind]->floor);

	return ((tick >> shift) + (floor ^ kind) * 0x9E3779B1U) << COUNT_BITS;
}

void
ws_events_damper(WsDamper *damper, uint32 tick, WsKind kind)
{
	static const uint64 none[2];
	WsDamping	damping = ws_shared_damping();

	damper->slots = ws_shared->damper ? ws_shared->damper : none;
	damper->shift = ws_shared->damper ? ws_shared->damper_shift : 31;
	damper->full = interval_of(tick, kind, damping.shift) + damping.uses;
}

/*
 * Has the page been reported often enough for now?  Counts this time.
 */
static bool
damped(uint32 hash, uint32 tick, WsKind kind)
{
	WsDamping	damping = ws_shared_damping();
	uint64	   *slot = &ws_shared->damper[ws_damper_slot(hash, ws_shared->damper_shift)];
	uint64		old = __atomic_load_n(slot, __ATOMIC_RELAXED);
	uint64		first = (uint64) hash << 32 | interval_of(tick, kind, damping.shift);
	uint64		told = old - first;

	/* more than enough, when fewer are enough now than a moment ago */
	if (told >= damping.uses && told <= COUNT_MAX)
		return true;
	if (told > COUNT_MAX)
		told = 0;
	__atomic_store_n(slot, first + told + 1, __ATOMIC_RELAXED);
	return false;
}

/*
 * A hit that is reported.
 */
static pg_noinline void
tell_hit(const WsPageId *page, uint32 shift, uint32 tick, WsKind kind)
{
	Run		   *run = follow(page, shift);

	if (run && run->length >= WS_RUN_SCAN && kind == WS_CLIENT)
		watch.scan_hits += UINT64CONST(1) << shift;
	tell(page, tick, kind, WS_ACT_HIT, run, run && in_ring(run));
}

/*
 * Is the page with this hash sampled, where one page in 2^shift is?  The shift
 * changes at any time, so each event loads it once.
 */
static bool
sampled(uint32 hash, uint32 shift)
{
	return ws_stratum(hash, ws_shared->log2m) >= shift;
}

void
ws_events_hit(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);
	int64		looks = pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read;
	bool		again = hash == watch.last_hash && looks == watch.last_looks + 1;

	if (!sampled(hash, shift))
		return;
	watch.last_hash = hash;
	watch.last_looks = looks;

	/*
	 * A process that looks at the same page twice running has it still pinned,
	 * as who updates a row that he has just found: its usage count stays as it
	 * is.  And nobody scans a page that is used all the time.
	 */
	if (!again && !damped(hash, tick, kind))
		tell_hit(page, shift, tick, kind);
}

void
ws_events_insert(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);
	bool		scanning;
	Run		   *run;

	if (shift == WS_SAMPLE_OFF)
		return;
	run = follow(page, shift);
	count_made(run);
	scanning = run && run->length >= WS_RUN_SCAN;
	watch.nreads++;
	watch.reads[hash % READS].hash = hash;
	watch.reads[hash % READS].number = watch.nreads;

	if (scanning && !extending(run) && kind == WS_CLIENT)
		watch.scan_reads++;
	if (sampled(hash, shift))
		tell(page, tick, kind, WS_ACT_READ, run, scanning && in_ring(run));
}

void
ws_events_remove(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);
	bool		own = watch.reads[hash % READS].hash == hash &&
		watch.reads[hash % READS].number != 0;
	bool		ring = false;

	if (shift == WS_SAMPLE_OFF)
		return;
	if (own && page->fork == MAIN_FORKNUM)
	{
		Run		   *run = find_run(page);

		ring = within_ring(run, watch.nreads - watch.reads[hash % READS].number);
		if (ring)
			run->ringed = watch.nreads;
	}
	if (sampled(hash, shift))
		tell(page, tick, kind, WS_ACT_REMOVE, NULL, ring);
}

static void
add(uint64 *counter, uint64 *count)
{
	if (*count > 0)
		__atomic_fetch_add(counter, *count, __ATOMIC_RELAXED);
	*count = 0;
}

void
ws_events_flush(WsCounters *counters)
{
	add(&counters->scan_hits, &watch.scan_hits);
	add(&counters->scan_reads, &watch.scan_reads);
	add(&counters->dropped, &watch.dropped);
}
