/*
 * page_cache_consumer.c
 *		The worker's part that simulates the kernel's page cache behind the
 *		sweeps, measures what the server really reads from disk, and predicts
 *		what other sizes of both caches would.
 *
 * The counts are of the last five to six minutes, those of the sweeps and up to
 * a minute more.
 *
 * How large the page cache is.  It has what it takes and what is free, less the
 * part of shared buffers that no page has used yet.  With memory in huge pages
 * all of shared buffers is taken from the beginning.  Simulated page caches are
 * multiples of that size, or of a quarter of the memory if that is more.
 *
 * Fewer of the server's pages may be in it than fit: other files are there,
 * too, and what was read ahead for nothing.  So now and then some sampled
 * pages that shared buffers do not have are looked for in it.  They count when
 * they are read next: pages that are seldom used are missing first, and do not
 * matter.  If clearly fewer were there than the simulated page cache of the
 * present size held, the predictions find less (ws_division_hits_left()).
 *
 * What is really read.  The kernel counts bytes by process (diskreads.h), for
 * whatever purpose.  Of these the share belongs to clients that their misses
 * have of all.
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "compat.h"
#include "consumer.h"
#include "counters.h"
#include "diskreads.h"
#include "division.h"
#include "estimate.h"
#include "probe.h"
#include "relsize.h"
#include "shared.h"

#define BUCKETS			6
#define BUCKET_MS		60000
#define COUNTED_TICKS	(300 * WS_TICKS_PER_SECOND)
#define MEASURE_MS		10000	/* from one look at what is read to the next */
#define MUCH_MAINTENANCE 0.1	/* of the reads */
#define SURVEY_SECONDS	30		/* from one survey to the next */
#define SIZE_FOLLOWS	0.05	/* share of a change followed each second */
#define SIZE_JUMPS		(1 / 4.0)	/* larger ones are followed at once */
#define LEAST_SHARE		(1 / 4.0)	/* of memory: the unit of page caches */
#define LOOKS			128		/* pages looked for at a time */
#define CHANCE_ERRORS	3		/* fewer than are simulated there by so many
								 * standard errors: not by chance */
#define SAME_SIZE		1.05	/* by which sizes that are the same differ */
#define CHECK_SECONDS	150		/* of counts, to check a prediction */
#define MUCH_AHEAD		0.1		/* blocks ahead of one needed: to learn from */

/* Counts of a minute; all doubles. */
typedef struct Bucket
{
	WsTierCounts counts;
	double		seconds;		/* of which the following is known: */
	double		blocks;			/* really read from disk */
	double		reads[WS_NKINDS];	/* that shared buffers asked for */
	/* of pages that were read, in the page cache when last looked for: */
	double		held;			/* the simulated one, */
	double		cached;			/* and the real one; */
	double		squares;		/* the differences */
} Bucket;

/* Private to the worker.  Times are in ms of the monotonic clock. */
typedef struct Simulation
{
	WsTwoTier  *tiers;
	double		wanted;			/* size 1 of the page caches in bytes, */
	double		bytes;			/* and what they have */
	double		cache;			/* bytes that the real one has */
	double		rates[WS_STRATA];	/* of all pages, from a stratum on, */
	uint32		shift;			/* strata from this are simulated */
	uint32		looked;			/* the next page to look for */
	bool		learned;		/* is the readahead known? */
	Bucket		buckets[BUCKETS];
	int			bucket;			/* the present one */
	bool		learn;			/* from the one before it? */
	int64		bucket_end;
	int64		since;			/* value of WsShared.since */
	XLogRecPtr	redo;			/* where the last checkpoint begins */
	XLogRecPtr	wal;			/* up to here WAL was written, */
	double		wal_files;		/* to files of so many bytes */
	int64		surveyed_at;
	uint32		sized;			/* the next relation whose size is looked at */
	int64		measured_at;	/* 0: not yet */
	WsDiskReads disk;			/* at that time, */
	WsCounters	counted;		/* and the counters */
	WsDifferences differences;	/* of the page cache's hit ratio */
} Simulation;

static Simulation *sim;			/* NULL: there is no sample */

static void
begin(bool empty)
{
	uint32		entries = ws_shared->sampler->capacity;
	WsTwoTier  *tiers;

	if (sim == NULL)
	{
		sim = MemoryContextAlloc(TopMemoryContext, sizeof(Simulation));
		sim->tiers = (WsTwoTier *)
			TYPEALIGN(64, MemoryContextAlloc(TopMemoryContext, ws_twotier_size(entries) + 64));
	}
	tiers = sim->tiers;
	memset(sim, 0, sizeof(*sim));
	ws_twotier_init(tiers, entries, BLCKSZ);
	sim->tiers = tiers;
	for (int s = 0; s < WS_STRATA; s++)
		sim->rates[s] = ldexp(1, -s);
}

/* The page is read: was it where it was looked for? */
static void
count_look(WsTierPage *page)
{
	Bucket	   *bucket = &sim->buckets[sim->bucket];
	double		difference = page->cached - page->held;

	if (!isnan(page->cached))
	{
		bucket->held += page->held;
		bucket->cached += page->cached;
		bucket->squares += difference * difference;
	}
	page->cached = NAN;
}

static void
event(WsSeen *seen)
{
	const WsAccess *access = &seen->access;
	uint32		page = sim->tiers->page[access->page];

	if (sim->bytes <= 0)
		return;
	if (page < WS_TIER_PAGES && (access->missed >> WS_SWEEP_PRESENT & 1) && seen->counted)
		count_look(&sim->tiers->pages[page]);
	ws_twotier_access(sim->tiers, access, seen->counted ? &sim->buckets[sim->bucket].counts : NULL);
}

static void
forget(uint32 entry)
{
	ws_twotier_forget(sim->tiers, entry);
}

void
ws_page_cache_consumer_jump(void)
{
	ws_twotier_jump(sim->tiers, ws_reading.sweep->factor);
	for (int i = 0; i < BUCKETS; i++)
		ws_tier_counts_jump(&sim->buckets[i].counts);
}

/* What was really read since the last time.  Returns the clock() that took. */
static clock_t
measure(int64 now)
{
	clock_t		began = clock();
	Bucket	   *bucket = &sim->buckets[sim->bucket];
	WsDiskReads before = sim->disk;
	WsCounters	c;

	ws_disk_reads("", PostmasterPid, &sim->disk);
	(void) ws_counters_read(&c, NULL);
	if (sim->measured_at != 0 && before.known && sim->disk.known)
	{
		bucket->seconds += (now - sim->measured_at) / 1000.0;
		bucket->blocks += (double) (sim->disk.bytes - before.bytes) / BLCKSZ;
		for (int kind = 0; kind < WS_NKINDS; kind++)
			bucket->reads[kind] += (double) c.reads[kind] - sim->counted.reads[kind];
	}
	sim->counted = c;
	sim->measured_at = now;
	return clock() - began;
}

/* The largest simulated page cache that the real one is as large as; or -1 */
static int
present_cache(void)
{
	int			c = WS_TIER_CACHES - 1;

	while (c >= 0 && ws_tier_caches[c] * sim->bytes > sim->cache * SAME_SIZE)
		c--;
	return c;
}

/*
 * Which simulated pages are in shared buffers now, and dirty?  Where these are
 * small a page may stay for two seconds only.
 */
static void
see_dirty(const WsSweep *sweep)
{
	WsSample	pages[LOOKS];
	uint32		entries[LOOKS];
	bool		resident[LOOKS];
	bool		dirty[LOOKS];
	XLogRecPtr	redo = GetRedoRecPtr();
	uint32		unseen = ws_sweep_unseen(sweep, ws_shared_advance(), false);
	int			n = 0;

	for (uint32 page = 0; page < WS_TIER_PAGES; page++)
	{
		int			entry = ws_twotier_entry(sim->tiers, page);

		if (entry >= 0)
		{
			entries[n] = (uint32) entry;
			pages[n++] = ws_shared->sampler->samples[entry];
		}
		if (n < LOOKS && page < WS_TIER_PAGES - 1)
			continue;
		(void) ws_probe_resident(pages, n, resident, dirty);
		while (n-- > 0)
			ws_twotier_seen(sim->tiers, sweep, entries[n], dirty[n], unseen);
		n = 0;
	}
	if (redo != sim->redo)
		ws_twotier_checkpoint(sim->tiers);
	sim->redo = redo;
}

/* Is this an item of the list in debug_io_direct? */
static bool
is_direct(const char *what)
{
	const char *item = GetConfigOption("debug_io_direct", true, false);
	size_t		n = strlen(what);

	for (; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL)
	{
		item += strspn(item, " \t\n\"");
		if (pg_strncasecmp(item, what, n) == 0 && strchr(", \t\n\"", item[n]))
			return true;
	}
	return false;
}

/*
 * WAL that is written takes some of the page cache.  With wal_level minimal the
 * server drops each file from there when it is full.
 */
static void
see_wal(void)
{
	bool		standby = RecoveryInProgress();
	XLogRecPtr	written = standby ? GetXLogReplayRecPtr(NULL) : GetXLogWriteRecPtr();

	if (sim->wal != InvalidXLogRecPtr && written > sim->wal && sim->wal_files > 0 &&
		(standby || XLogIsNeeded()) && !is_direct("wal"))
		ws_twotier_wal(sim->tiers, (double) (written - sim->wal), sim->wal_files, ws_reading.sweep->bursts_only);
	sim->wal = written;
}

/* Look for some pages in the page cache. */
static void
look(void)
{
	const WsSample *samples = ws_shared->sampler->samples;
	int			c = present_cache();

	for (int i = 0; c >= 0 && i < LOOKS; i++)
	{
		uint32		page = sim->looked++ % WS_TIER_PAGES;
		int			entry = ws_twotier_entry(sim->tiers, page);

		if (entry < 0 || samples[entry].resident)
			continue;
		sim->tiers->pages[page].cached = (float) ws_page_cached(&samples[entry].page);
		sim->tiers->pages[page].held = ws_pagecache_holds(sim->tiers->cache[WS_TIER_PRESENT][c], page);
	}
}

/* Which share of all pages do the strata really have?  Returns the clock(). */
static clock_t
count_strata(void)
{
	clock_t		began = clock();
	uint32		ticks = COUNTED_TICKS;
	WsEstimate	window;
	uint32		now = ws_estimate(NULL, WS_OF(WS_CLIENT), &ticks, 1, &window);

	ws_sampler_rates(ws_shared->sampler, now, ticks, ws_load(&ws_shared->sketch[WS_CLIENT]->floor),
					 window.pages, sim->rates);
	return clock() - began;
}

/*
 * Look at the sizes of some relations, so that each has its turn about once
 * between two surveys, however many there are.
 */
static void
see_sizes(void)
{
	WsTwoTier  *tiers = sim->tiers;

	for (uint32 n = Min(tiers->nrelations, tiers->nrelations / SURVEY_SECONDS + 1); n > 0; n--)
	{
		uint32		i = sim->sized++ % tiers->nrelations;
		WsTierRelation *relation = &tiers->relations[i];
		uint32		blocks;

		if (relation->pages == 0)
			continue;
		blocks = ws_relation_blocks(&relation->id);
		/* the page cache has none of the pages of a file that is gone */
		if (blocks == 0)
			ws_twotier_forget_relation(tiers, i);
		else if (blocks != WS_BLOCKS_UNKNOWN)
			relation->blocks = blocks;
	}
}

static void
forget_counts(int64 now)
{
	memset(sim->buckets, 0, sizeof(sim->buckets));
	memset(&sim->differences, 0, sizeof(sim->differences));
	sim->since = ws_shared_since();
	sim->measured_at = 0;
	sim->bucket_end = now + BUCKET_MS;
	measure(now);
}

static void
next_bucket(int64 now)
{
	for (int i = 0; now >= sim->bucket_end && i < BUCKETS; i++)
	{
		sim->bucket = (sim->bucket + 1) % BUCKETS;
		sim->learn = true;
		memset(&sim->buckets[sim->bucket], 0, sizeof(Bucket));
		sim->bucket_end += BUCKET_MS;
	}
	if (now >= sim->bucket_end)
		sim->bucket_end = now + BUCKET_MS;
}

static clock_t
second(int64 now)
{
	uint32		shift = ws_reading.simulated_shift;
	clock_t		spent = 0;

	if (sim->wanted <= 0)
		return 0;
	if (fabs(log(sim->wanted / fmax(sim->bytes, 1))) > SIZE_JUMPS)
	{
		sim->bytes = sim->wanted;
		forget_counts(now);
	}
	if (sim->since != ws_shared_since())
		forget_counts(now);
	sim->bytes += SIZE_FOLLOWS * (sim->wanted - sim->bytes);
	if (shift < sim->shift || now - sim->surveyed_at >= 1000 * SURVEY_SECONDS)
		spent += count_strata();
	sim->shift = shift;
	ws_twotier_resize(sim->tiers, shift, sim->rates, sim->bytes);
	see_dirty(ws_reading.sweep);
	see_wal();
	/* more rarely for thousands of processes */
	if (now - sim->measured_at >= Max(MEASURE_MS, MEASURE_MS / 1000 * (int64) sim->disk.processes))
	{
		spent += measure(now);
		look();
	}
	next_bucket(now);
	see_sizes();
	if (now - sim->surveyed_at >= 1000 * SURVEY_SECONDS)
	{
		sim->surveyed_at = now;
		sim->wal_files = ws_wal_files_bytes();
		ws_survey(sim->tiers, ws_reading.sweep);
	}
	return spent;
}

/*
 * Bytes that the page cache has, if all of shared buffers is in use.  A buffer
 * that was in use once, such as one of a relation that was dropped, has memory.
 */
static double
page_cache(const WsMemory *memory)
{
	static double most = 0;

	most = fmax(most, ws_probe_entries());
	return fmax((double) memory->page_cache - (memory->huge ? 0 : (NBuffers - most) * BLCKSZ), 0);
}

/* Add up all buckets. */
static const Bucket *
sum_buckets(void)
{
	static Bucket sum;

	memset(&sum, 0, sizeof(sum));
	for (const Bucket *b = sim->buckets; b < sim->buckets + BUCKETS; b++)
		for (size_t i = 0; i < sizeof(Bucket) / sizeof(double); i++)
			((double *) &sum)[i] += ((const double *) b)[i];
	return &sum;
}

/*
 * Of the pages that the page cache has memory for, the share that is in it; 1
 * if all of them may be.
 */
static double
present_share(const Bucket *sum)
{
	return sum->held - sum->cached > CHANCE_ERRORS * sqrt(sum->squares) ? sum->cached / sum->held : 1;
}

/* Blocks really read for each page that shared buffers asked for. */
static double
blocks_for_a_read(const Bucket *b)
{
	return b->blocks / fmax(b->reads[WS_CLIENT] + b->reads[WS_MAINTENANCE], 1);
}

/* Share of the reads that were VACUUM's and the like */
static double
maintenance_share(const Bucket *b)
{
	return b->reads[WS_MAINTENANCE] / fmax(b->reads[WS_CLIENT] + b->reads[WS_MAINTENANCE], 1);
}

/*
 * Blocks a second that clients really read, if as many of their reads are from
 * disk as of VACUUM's; NaN if not known for long.
 */
static double
measured_blocks(const Bucket *sum)
{
	return sum->seconds < CHECK_SECONDS ? NAN : blocks_for_a_read(sum) * sum->reads[WS_CLIENT] / sum->seconds;
}

/*
 * Compare what was read ahead in the last minute with what was simulated then,
 * for the present sizes.
 */
static void
learn_ahead(WsTierFacts facts, double cache)
{
	static WsTierTable table;
	WsReadahead *readahead = &sim->tiers->readahead;
	const Bucket *b = &sim->buckets[(sim->bucket + BUCKETS - 1) % BUCKETS];
	WsPair		pair;

	sim->learn = false;
	if (maintenance_share(b) > MUCH_MAINTENANCE)
		return;
	facts.counts = &b->counts;
	ws_division_table(&facts, &table);
	if (b->seconds == 0 || b->reads[WS_CLIENT] < WS_DIVISION_CHECKED * b->seconds ||
		!ws_division_predict(&table, facts.shared_buffers, cache, &pair) ||
		pair.blocks - pair.needed < MUCH_AHEAD * readahead->ahead * pair.needed ||
		ws_division_others_read(&pair, pair.reads * blocks_for_a_read(b)))
		return;
	ws_readahead_follow(readahead, pair.blocks - pair.needed,
						pair.reads * blocks_for_a_read(b) - pair.needed);
}

/*
 * Simulate the readahead that the device of the data directory has, or the
 * kernel's default if that is not known.
 */
static void
learn_readahead(void)
{
	int64		known = ws_readahead_kilobytes("", DataDir);
	uint32		kilobytes = known < 0 ? WS_READAHEAD_DEFAULT : (uint32) known;

	if (sim->learned && kilobytes == sim->tiers->readahead.kilobytes)
		return;
	/* the counts were of the one before */
	if (sim->learned)
		sim->since = 0;
	sim->learned = ws_readahead_learn(&sim->tiers->readahead, kilobytes, BLCKSZ);
}

/* Why there is no prediction; NULL if there may be one. */
static const char *
why_not(const WsPublished *p)
{
	if (sim == NULL)
		return "working_set.sample_pages is 0";
	if (is_direct("data"))
		return "the server reads past the page cache (debug_io_direct)";
	if (p->memory.limit == 0)
		return p->memory.reason;
	if (!p->memory.page_cache_known)
		return "the size of the page cache is not known";
	return NULL;
}

static void
publish(WsPublished *p)
{
	const Bucket *sum;
	WsMemoryAdvice *advice = &p->both;
	const char *reason = why_not(p);
	double		cache = page_cache(&p->memory);
	double		limit = (double) p->memory.limit;
	WsTierFacts facts = {
		.advice = &p->table,
		.tiers = sim ? sim->tiers : NULL,
		.present = cache,
		.shared_buffers = (double) NBuffers * BLCKSZ
	};

	advice->disk_blocks = advice->difference = NAN;
	advice->share = 1;
	strlcpy(advice->reason, reason ? reason : "", sizeof(advice->reason));
	if (sim)
	{
		sim->wanted = reason ? 0 : fmax(cache, limit * LEAST_SHARE);
		sim->cache = cache;
		sim->tiers->late = p->memory.late;
	}
	if (reason)
		return;
	learn_readahead();
	if (sim->since != p->since)
		return;

	sum = sum_buckets();
	facts.counts = &sum->counts;
	advice->share = present_share(sum);
	facts.left = ws_division_hits_left(advice->share);
	elog(DEBUG1, "working_set: of the pages that the page cache has memory for, %.3f are in it; WAL in %.0f MB", advice->share,
		 sim->tiers->wal / 1048576);
	facts.cache = sim->bytes;
	/* shared buffers that are larger than the memory are not all in use */
	facts.other = fmax(limit - cache - facts.shared_buffers, 0);
	facts.whole = ws_twotier_whole(sim->tiers);
	ws_division_table(&facts, &advice->table);
	if (!sim->disk.known)
		snprintf(advice->unchecked, sizeof(advice->unchecked), "reads from disk cannot be measured: %s",
				 sim->disk.reason);
	advice->disk_blocks = measured_blocks(sum);
	if (ws_division_predict(&advice->table, facts.shared_buffers, cache, &advice->present))
		advice->difference = ws_division_difference(&advice->present, advice->disk_blocks);
	if (!isnan(advice->difference) && ws_division_others_read(&advice->present, advice->disk_blocks))
	{
		strlcpy(advice->unchecked, "the server reads more than its buffers need, as a base backup does",
				sizeof(advice->unchecked));
		advice->difference = NAN;
	}
	else if (ws_division_is_off(advice->difference) && maintenance_share(sum) > MUCH_MAINTENANCE)
	{
		strlcpy(advice->unchecked, "VACUUM or the like reads much, so it is not known how much clients read from disk",
				sizeof(advice->unchecked));
		advice->difference = NAN;
	}
	/* what caches that are not full may explain is over when they are */
	facts.off = fdim(fabs(advice->difference), advice->present.cold);
	ws_note_difference(&sim->differences, facts.off, ws_shared_clock_ms());
	/* again, with the errors */
	facts.off = advice->off = fmax(ws_mean_difference(&sim->differences), facts.off);
	ws_division_table(&facts, &advice->table);
	(void) ws_division_predict(&advice->table, facts.shared_buffers, cache, &advice->present);
	advice->sure = advice->present.buffers > 0 && advice->share >= WS_DIVISION_MOSTLY && !p->memory.generations && p->table.sure && !isnan(advice->disk_blocks) &&
		advice->unchecked[0] == '\0' && advice->present.error <= 2 * WS_DIVISION_TOLERANCE &&
		!ws_division_is_off(advice->difference);
	if (sim->learn)
		learn_ahead(facts, cache);
}

const WsConsumer ws_page_cache_consumer = {
	.begin = begin, .event = event, .forget = forget, .second = second, .publish = publish
};
