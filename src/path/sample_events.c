/*
 * sample_events.c
 *		Events of sampled pages; see sample_events.h.
 *
 * Runs.  A process that reads a relation sequentially looks at each block a
 * little further on than the one before: a few sampling distances, since only
 * the hits of sampled pages are seen.  Each such step adds one to the run, and
 * each other step takes three away, so random steps never get far.
 *
 * Rings.  A process that evicts a page that it recently read itself goes round
 * in a ring: the hand of the clock would have to come round twice to get there.
 *
 * Drops.  A process that evicts a page brings another in.  One that removes a
 * second page without bringing any in drops or truncates a relation, or frees
 * buffers for several new pages at once: the event of the removal has a run.
 *
 * Damping.  Of the hits of a page in an interval a process reports the first
 * few, as many as could make a difference to the simulated caches (damping.h).
 * The worker sets their number and the length of the interval.  Where that is
 * the present or longer, the page is quiet from then on, until the present ends
 * (sketch.h).  Where it is longer, the first hit in every fourth present is
 * reported even so: what is still used has to be known.
 *
 * So that a page which some use all the time counts for others as well, a
 * damped hit is reported if the page and the present origin were not reported
 * together for some seconds.  Of a page that is used very often this sees only
 * some hits: a hit of a quiet page does not come here.
 */
#include "postgres.h"

#include "executor/instrument.h"
#include "storage/proc.h"

#include "attribution.h"
#include "compat.h"
#include "process_origin.h"
#include "sample_events.h"

/* What a process remembers.  Both are powers of two. */
#define RUNS 64					/* relations that it is in */
#define READS 4096				/* pages that it read */

/* The longest step of a run: the larger of the two. */
#define STEP_BLOCKS		16
#define STEP_DISTANCES	8		/* sampling distances */
#define RUN_BROKEN		3		/* what any other step takes from its length */

/*
 * A process seems to extend a relation, rather than read it, once this many
 * more pages came in than the server counted as read.  It counts a read after
 * all of its pages came in, hundreds where it reads ahead.  A ring for bulk
 * writes goes round later than that.
 */
#define MADE			1024
#define MADE_MAX		2048

/* Of so many presents in a long interval, a damped page is reported in one. */
#define SOME_PRESENTS	4

/* A damped page is reported again for the same origin after this time. */
#define PAIR_TICKS		128

/* Bits of a slot of the damper that count hits. */
#define COUNT_BITS		10
#define COUNT_MAX		((1 << COUNT_BITS) - 1)

StaticAssertDecl(WS_DAMPING_USES_MAX < COUNT_MAX, "a slot can count all hits that are reported");

typedef struct Run
{
	uint32		relation;
	uint32		database;
	uint32		block;			/* the last one */
	uint32		length;			/* 0 .. WS_RUN_MAX */
	uint32		ringed;			/* number of the read at which the process
								 * last evicted a page of its own; 0: never */
	int			made;			/* pages that came in but were not counted as
								 * read: -MADE_MAX .. MADE_MAX */
} Run;

typedef struct Read
{
	uint32		hash;
	uint32		number;			/* of the read; 0: none */
} Read;

/* The state of this process.  Most of it takes no memory until it is used. */
struct Reporting
{
	uint16		process;
	bool		warms;			/* does it only warm the cache? */
	uint32		nreads;			/* pages that this process brought in */
	uint32		removals;		/* since the last of them */
	int64		counted_reads;	/* the server's count at the last of them */
	Run		   *last_run;		/* of the last of them, or NULL */
	uint32		ring_read;		/* reads that are recent for a scan's ring, */
	uint32		ring_write;		/* and for that of a bulk write */
	Run			runs[RUNS];
	Read		reads[READS];
	/* redo only: a page that came in, and the server's count of reads then */
	bool		redo;
	bool		awaits;
	WsEvent		awaited;
	int64		reads_before;
	uint32		last_hash;		/* of the last lookup that came here, */
	int64		last_lookups;	/* and the lookups of the process up to then */
	/* not yet added to the shared counters */
	uint64		scan_reads;
	uint64		dropped;
};

static struct Reporting self;

void
ws_events_begin(bool warms)
{
	self.warms = warms;
	self.redo = AmStartupProcess();
	self.awaits = false;
	self.removals = 0;
	self.counted_reads = pgBufferUsage.shared_blks_read;
	self.last_run = NULL;
	self.process = (uint16) MyProcNumber;
}

static Run *
find_run(const WsPageId *page)
{
	Run		   *run = &self.runs[(page->relation * 0x9E3779B1U) >> 26];

	if (run->relation != page->relation || run->database != page->database)
	{
		memset(run, 0, sizeof(*run));
		run->relation = page->relation;
		run->database = page->database;
		run->block = page->block;
	}
	return run;
}

/* The process is at this page now.  NULL for a fork that no scan reads. */
static Run *
follow(const WsPageId *page, uint32 shift)
{
	Run		   *run;
	uint64		longest = Max(STEP_BLOCKS, (uint64) STEP_DISTANCES << shift);

	if (page->fork != MAIN_FORKNUM)
		return NULL;
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

static bool
extending(const Run *run)
{
	return run->made > MADE;
}

/*
 * Find out whether the process reads or extends the relation, which decides
 * the ring that it would use.  The server counts the pages that it reads, a
 * little later.  Its count since the last page belongs to that page, or to
 * those that came in with it.
 */
static void
count_made(Run *run)
{
	int64		reads = pgBufferUsage.shared_blks_read;
	Run		   *last = self.last_run;

	if (last)
		last->made = Max(last->made - (int) Min(reads - self.counted_reads, 2 * MADE_MAX), -MADE_MAX);
	if (run)
		run->made = Min(run->made + 1, MADE_MAX);
	self.counted_reads = reads;
	self.last_run = run;
}

/* Are this many reads "recently" for the ring that the process would use? */
static bool
within_ring(const Run *run, uint32 nreads)
{
	if (self.ring_read == 0)
	{
		self.ring_read = 2 * ws_ring_pages(WS_RING_READ, NBuffers);
		self.ring_write = 2 * ws_ring_pages(WS_RING_WRITE, NBuffers);
	}
	return nreads <= (extending(run) ? self.ring_write : self.ring_read);
}

static bool
in_ring(const Run *run)
{
	return run->ringed != 0 && within_ring(run, self.nreads - run->ringed);
}

/*
 * Were the page and the origin reported together in the present PAIR_TICKS?
 * If not, they are now.  Pages without pairs (attribution.h) count as reported.
 */
static bool
pair_reported(uint32 hash, uint32 stratum, uint32 origin, uint32 tick)
{
	/* not for all pages at the same moment */
	uint32		period = (tick + hash % PAIR_TICKS) / PAIR_TICKS;
	uint32		mix = (hash * WS_MIX_A ^ origin * WS_MIX_B) + period * WS_MIX_C;
	uint16	   *slot;
	uint16		mark;

	if (stratum < ws_load(&ws_shared->attribution->shift))
		return true;
	mix = (mix ^ mix >> 15) * WS_MIX_A;
	slot = &ws_shared->reported_pairs[mix >> (32 - WS_PAIR_SLOTS_LOG2)];
	mark = (uint16) (mix ^ mix >> 8);
	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == mark)
		return true;
	__atomic_store_n(slot, mark, __ATOMIC_RELAXED);
	return false;
}

static void
write_event(const WsEvent *event)
{
	if (ws_stream_thins(ws_shared->stream, event->tick))
		ws_shared_thin();
	if (!ws_stream_write(ws_shared->stream, event))
		self.dropped++;
}

/*
 * Redo writes most pages that it needs from images in the log.  Those come in
 * without being read, and by now the server has counted the others.
 */
static void
settle(void)
{
	if (!self.awaits)
		return;
	self.awaits = false;
	if (pgBufferUsage.shared_blks_read == self.reads_before)
		self.awaited.type = WS_EVENT_EXTEND;
	write_event(&self.awaited);
}

static void
report(const WsPageId *page, uint32 tick, WsKind kind, WsEventType type, uint32 origin,
	   const Run *run, bool ring)
{
	WsEvent		event = {.tick = tick, .page = *page, .type = type, .origin = origin};

	event.maintenance = kind == WS_MAINTENANCE;
	event.ring = ring;
	event.run = run ? run->length : 0;
	event.process = self.process;
	settle();
	if (!self.redo || type != WS_EVENT_READ)
	{
		write_event(&event);
		return;
	}
	self.awaited = event;
	self.awaits = true;
	self.reads_before = pgBufferUsage.shared_blks_read;
}

/* What counts for a hit in this present (damping.h). */
static WsDamping
present_damping(uint32 present)
{
	uint32		word = ws_load(&ws_shared->damping);
	WsDamping	damping = {.shift = word & 0xFF, .uses = word >> 8};

	return ws_damping_in(damping, present);
}

/*
 * A slot of the damper holds the hash of a page, an interval, and how many hits
 * of the page were reported in it.  This is the interval of a tick, which
 * differs after a reset and between kinds.  Pages that share a slot evict each
 * other, and are reported more often than necessary.
 */
static uint32
interval_of(uint32 tick, uint32 present, WsKind kind, uint32 shift)
{
	uint32		floor = ws_load(&ws_shared->sketch[kind]->floor);
	uint32		interval = shift == WS_DAMPING_LONG ? ~(present / WS_BURST_EVERY) :
		shift == WS_DAMPING_PRESENT ? present : tick >> shift;

	return (interval + (floor ^ kind) * 0x9E3779B1U) << COUNT_BITS;
}

/* Is the page damped in this interval?  If not, count a report. */
static bool
damped(uint32 hash, uint32 tick, WsKind kind)
{
	WsSketch   *sketch = ws_shared->sketch[kind];
	uint32		present = ws_load(&sketch->present);
	WsDamping	damping = present_damping(present);
	uint64	   *slot = &ws_shared->damper[ws_hash_damper_slot(hash, ws_shared->damper_shift)];
	uint64		first = (uint64) hash << 32 | interval_of(tick, present, kind, damping.shift);
	uint64		reported = __atomic_load_n(slot, __ATOMIC_RELAXED) - first;

	if (reported > COUNT_MAX)
		reported = 0;			/* of another page or interval */
	if (reported >= damping.uses &&
		(damping.shift < WS_DAMPING_PRESENT || !ws_sketch_quiet(sketch, hash, present) ||
		 damping.shift == WS_DAMPING_PRESENT || (present / WS_PRESENT + hash) % SOME_PRESENTS != 0))
		return true;
	__atomic_store_n(slot, first + reported + 1, __ATOMIC_RELAXED);
	return false;
}

static pg_noinline void
report_hit(const WsPageId *page, uint32 shift, uint32 tick, WsKind kind, uint32 origin)
{
	Run		   *run = follow(page, shift);

	report(page, tick, kind, WS_EVENT_HIT, origin, run, run && in_ring(run));
}

/*
 * Is this page the one of the last lookup, too?  Then the process still has it
 * pinned, as in an update of a row that it just found, and its usage count
 * stays.
 */
static bool
still_pinned(uint32 hash)
{
	int64		lookups = pgBufferUsage.shared_blks_hit + pgBufferUsage.shared_blks_read;
	bool		again = hash == self.last_hash && lookups == self.last_lookups + 1;

	self.last_hash = hash;
	self.last_lookups = lookups;
	return again;
}

void
ws_events_hit(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);	/* it may change */
	uint32		stratum = ws_hash_stratum(hash, ws_shared->log2m);
	uint32		origin;

	if (stratum < shift)
		(void) ws_sketch_quiet(ws_shared->sketch[kind], hash, ws_load(&ws_shared->sketch[kind]->present));
	if (stratum < shift || self.warms || still_pinned(hash))
		return;
	origin = ws_process_origin();
	if (!damped(hash, tick, kind))
		report_hit(page, shift, tick, kind, origin);
	/* a damped page is used all the time: no part of a scan */
	else if (kind == WS_CLIENT && !pair_reported(hash, stratum, origin, tick))
		report(page, tick, kind, WS_EVENT_HIT, origin, NULL, false);
}

void
ws_events_insert(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);
	Read	   *read = &self.reads[ws_hash_read_slot(hash, READS)];
	bool		scanning;
	Run		   *run;

	self.removals = 0;
	if (shift == WS_SAMPLE_OFF)
		return;
	/* the next lookup may be of this page, too */
	(void) still_pinned(hash);
	run = follow(page, shift);
	count_made(run);
	scanning = run && run->length >= WS_RUN_SCAN;
	self.nreads++;
	read->hash = hash;
	read->number = self.nreads;
	if (scanning && !extending(run) && kind == WS_CLIENT)
		self.scan_reads++;

	if (ws_hash_stratum(hash, ws_shared->log2m) >= shift)
		report(page, tick, kind, self.warms ? WS_EVENT_EXTEND : WS_EVENT_READ, ws_process_origin(), run,
			   scanning && in_ring(run));
}

void
ws_events_remove(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);
	const Read *read = &self.reads[ws_hash_read_slot(hash, READS)];
	bool		ring = false;
	static const Run dropping = {.length = WS_RUN_MAX};
	bool		evicts = ++self.removals == 1;

	if (shift == WS_SAMPLE_OFF)
		return;
	if (read->hash == hash && read->number != 0 && page->fork == MAIN_FORKNUM)
	{
		Run		   *run = find_run(page);

		ring = within_ring(run, self.nreads - read->number);
		if (ring)
			run->ringed = self.nreads;
	}
	if (ws_hash_stratum(hash, ws_shared->log2m) >= shift)
		report(page, tick, kind, WS_EVENT_REMOVE, 0, evicts ? NULL : &dropping, ring);
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
	settle();
	add(&counters->scan_reads, &self.scan_reads);
	add(&counters->dropped, &self.dropped);
}
