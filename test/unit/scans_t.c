/*
 * scans_t.c
 *		Tests of telling sequential scans from other accesses, and of the sizes
 *		at which they would go through a ring.
 *
 * Events are made up as a process would cause them: a scan in ascending order,
 * an index scan in the table's order that goes back to its index every few
 * blocks, lookups at random.
 */
#include "tap.h"
#include "scans.h"
#include "traces.h"

#define NBUFFERS	16384
#define QUARTER		(NBUFFERS / 4)

static WsScans *
new_scans(void)
{
	WsScans    *scans = aligned_memory(ws_scans_size());

	ws_scans_init(scans, NBUFFERS);
	return scans;
}

/*
 * An event, with the rest as it is most often.
 */
static WsEvent
event_of(uint32_t relation, uint32_t block, WsEventKind act, bool in_run, bool ring)
{
	WsEvent		e;

	memset(&e, 0, sizeof(e));
	e.tick = 1000;
	e.page = (WsPageId)
	{
		1663, 5, relation, 0, block
	};
	e.kind = act;
	e.run = in_run ? WS_RUN_MAX : 0;
	e.ring = ring;
	e.process = 3;
	return e;
}

/*
 * Sizes at which a scan of so many pages goes through a ring: when the table
 * is larger than a quarter of the cache.
 */
static uint32_t
sizes_ringed(double pages)
{
	uint32_t	set = 0;

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (pages > NBUFFERS * ws_sweep_factors[i] / 4)
			set |= UINT32_C(1) << i;
	return set;
}

/*
 * Walk through a table from block to block, all of them sampled.  Counts the
 * accesses that are judged to be a scan's; the set of sizes of the last one.
 */
static long
walk(WsScans *scans, uint32_t relation, uint32_t pages, WsEventKind act, bool ring,
	 uint32_t process, uint32_t *set)
{
	long		judged = 0;

	for (uint32_t block = 0; block < pages; block++)
	{
		WsEvent		e = event_of(relation, block, act, true, ring);
		WsAccess	a;

		e.process = process;
		judged += ws_scans_classify(scans, &e, 0, &a) == WS_CLASS_SCAN;
		if (set)
			*set = a.ringed;
	}
	return judged;
}

static void
test_plain(void)
{
	WsScans    *scans = new_scans();
	uint64_t	seed = 121;
	WsEvent		e;
	WsAccess	a;
	WsAccess	b;
	long		wrong = 0;

	/* lookups, and runs that are still too short */
	for (int i = 0; i < 20000; i++)
	{
		e = event_of(10 + random_below(&seed, 5), random_below(&seed, 100000),
					 random_below(&seed, 2) ? WS_EVENT_READ : WS_EVENT_HIT, false, false);
		e.run = random_below(&seed, WS_RUN_SCAN);
		wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_REST || a.ringed != 0;
	}
	is_int(wrong, 0, "accesses at random are no scan");

	/* the limit itself is a run */
	e = event_of(20, 1, WS_EVENT_READ, false, false);
	e.run = WS_RUN_SCAN - 1;
	wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_REST;
	e.run = WS_RUN_SCAN;
	wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_SCAN;
	is_int(wrong, 0, "those in a run are, from the limit up");

	/* what it says about an access besides */
	e = event_of(10, 4711, WS_EVENT_HIT, false, false);
	e.process = 65535;
	ws_scans_classify(scans, &e, 4, &a);
	e.page.block = 4712;
	e.process = 7;
	ws_scans_classify(scans, &e, 4, &b);
	ok(a.process == 65535 && b.process == 7 && a.block == 4711 && b.block == 4712 &&
	   a.relation == b.relation, "process and block are passed on, and a relation is the same");
	e.page.relation++;
	ws_scans_classify(scans, &e, 4, &a);
	wrong += a.relation == b.relation;
	e.page.relation--;
	e.page.database++;
	ws_scans_classify(scans, &e, 4, &a);
	wrong += a.relation == b.relation;
	e.page.database--;
	e.page.tablespace++;
	ws_scans_classify(scans, &e, 4, &a);
	wrong += a.relation == b.relation;
	is_int(wrong, 0, "while another relation, database or tablespace is another");
	free(scans);
}

static void
test_maintenance(void)
{
	WsScans    *scans = new_scans();
	uint32_t	set = 0;
	long		wrong = 0;

	for (uint32_t block = 0; block < 6000; block++)
	{
		WsEvent		e = event_of(10, block, block % 2 ? WS_EVENT_READ : WS_EVENT_HIT, block % 3, block % 5 == 0);
		WsAccess	a;

		e.maintenance = 1;
		wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_MAINTENANCE ||
			a.ringed != WS_SWEEP_ALL || a.ring != WS_RING_VACUUM || a.block != block || a.process != 3;
	}
	is_int(wrong, 0, "VACUUM goes through its ring at all sizes");
	/* had the 6000 blocks of VACUUM been evidence, this were an index scan */
	is_int(walk(scans, 10, 300, WS_EVENT_READ, false, 3, &set), 300,
		   "and is no evidence of what clients do");
	free(scans);
}

static void
test_small_table(void)
{
	/*
	 * 0.1, 0.5, 0.6, 0.9 and 1 quarters are 409.6, 2048, 2457.6, 3686.4 and
	 * 4096
	 */
	static const uint32_t pages[] = {1, 100, 409, 410, 411, 1000, 2048, 2049, 3686, 3687, 4095, 4096};

	for (size_t t = 0; t < sizeof(pages) / sizeof(pages[0]); t++)
	{
		WsScans    *scans = new_scans();
		long		wrong = 0;
		uint32_t	set = 0;

		is_int(walk(scans, 10, pages[t], WS_EVENT_READ, false, 3, &set), pages[t],
			   "a run through a small table is a scan");
		for (uint32_t block = 0; block < pages[t]; block++)
		{
			WsEvent		e = event_of(10, block, block % 3 ? WS_EVENT_HIT : WS_EVENT_READ, true, false);
			WsAccess	a;

			wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_SCAN ||
				a.ringed != sizes_ringed(pages[t]) || a.ring != WS_RING_READ;
		}
		ok(wrong == 0 && set == sizes_ringed(pages[t]) && !(set & WS_SWEEP_BIT(WS_SWEEP_PRESENT)),
		   "of %u pages: in a ring where it is larger than a quarter of the cache", pages[t]);
		free(scans);
	}
}

static void
test_large_table(void)
{
	static const uint32_t pages[] = {4097, 5000, 8192, 8193, 16384, 16385, 100000};
	WsScans    *scans;
	WsEvent		e;
	WsAccess	a;
	long		wrong;

	for (size_t t = 0; t < sizeof(pages) / sizeof(pages[0]); t++)
	{
		uint32_t	set = 0;

		scans = new_scans();
		wrong = walk(scans, 10, pages[t], WS_EVENT_READ, true, 3, &set) != pages[t];
		ok(wrong == 0 && set == sizes_ringed(pages[t]) && (set & WS_SWEEP_BIT(WS_SWEEP_PRESENT)),
		   "a run through a ring is a scan, %u pages, also at the present size", pages[t]);
		/* hits of the next scan, of which the ring is not to be seen */
		for (uint32_t block = 0; block < 1000; block++)
		{
			e = event_of(10, block, WS_EVENT_HIT, true, false);
			wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_SCAN || a.ringed != set;
		}
		is_int(wrong, 0, "and so are its hits, the next time");
		free(scans);
	}

	/* the same table, read in its order, but not through a ring */
	scans = new_scans();
	e = event_of(10, 19999, WS_EVENT_READ, false, false);
	ws_scans_classify(scans, &e, 0, &a);
	is_int(walk(scans, 10, 20000, WS_EVENT_READ, false, 3, NULL), 0,
		   "a run through a large table, but no ring, is that of an index scan");
	is_int(walk(scans, 10, 20000, WS_EVENT_HIT, false, 3, NULL), 0, "and so are its hits");

	/* now and then something looks like a ring */
	wrong = 0;
	for (uint32_t block = 0; block < 20000; block++)
	{
		e = event_of(10, block, WS_EVENT_READ, true, block % 10 == 0);
		wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_REST || a.ringed != 0;
	}
	is_int(wrong, 0, "also if one in ten reads looks like one through a ring");
	free(scans);

	/* one through a ring and others without: six reads are enough evidence */
	scans = new_scans();
	wrong = 0;
	for (uint32_t block = 0; block < 20; block++)
	{
		e = event_of(10, 10000 + block, WS_EVENT_READ, true, block == 0);
		wrong += ws_scans_classify(scans, &e, 0, &a) != (block < 5 ? WS_CLASS_SCAN : WS_CLASS_REST);
	}
	is_int(wrong, 0, "five reads are not enough evidence against a ring, six are");
	free(scans);

	/* nine in ten: the beginning of each scan does not show its ring */
	scans = new_scans();
	e = event_of(10, 19999, WS_EVENT_READ, false, false);
	ws_scans_classify(scans, &e, 0, &a);
	wrong = 0;
	for (uint32_t block = 0; block < 20000; block++)
	{
		e = event_of(10, block, WS_EVENT_READ, true, block % 10 != 0);
		wrong += block > 20 && (ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_SCAN);
	}
	is_int(wrong, 0, "and it is a scan if most of them do");
	free(scans);
}

/*
 * A size that was looked up is exact, from the first block on.
 */
static void
test_told(void)
{
	static const uint32_t pages[] = {1, 409, 410, 2048, 2049, 4096, 4097, 16384, 16385, 1000000};
	WsScans    *scans;
	WsEvent		e;
	WsAccess	a;
	long		wrong = 0;

	for (size_t t = 0; t < sizeof(pages) / sizeof(pages[0]); t++)
		for (uint32_t shift = 0; shift <= 12; shift += 4)
		{
			scans = new_scans();
			for (uint32_t block = 0; block < pages[t] && block < 500; block += 1 + shift)
			{
				e = event_of(10, block, WS_EVENT_READ, true, pages[t] > QUARTER);
				ws_scans_set_size(scans, &e.page, pages[t]);
				wrong += ws_scans_classify(scans, &e, shift, &a) != WS_CLASS_SCAN ||
					a.ringed != sizes_ringed(pages[t]);
			}
			free(scans);
		}
	is_int(wrong, 0, "a size that was looked up is exact, from the first block on");

	scans = new_scans();
	e = event_of(10, 0, WS_EVENT_HIT, true, false);
	ws_scans_set_size(scans, &e.page, 2000);
	ws_scans_classify(scans, &e, 4, &a);
	e.page.block = 1900;
	ws_scans_classify(scans, &e, 4, &a);
	ok(a.ringed == sizes_ringed(2000), "it is remembered");

	/*
	 * 2861 blocks, and 15 more that may not be sampled; 0.7 quarters are
	 * 2867.2
	 */
	e.page.block = 2860;
	ws_scans_classify(scans, &e, 4, &a);
	ok(a.ringed == sizes_ringed(2876) && sizes_ringed(2876) != sizes_ringed(2861),
	   "until a block is seen that lies beyond");
	e.page.block = 0;
	ws_scans_set_size(scans, &e.page, 500);
	ws_scans_classify(scans, &e, 4, &a);
	ok(a.ringed == sizes_ringed(500), "and a table that has shrunk is smaller");
	free(scans);
}

/*
 * An index scan in the table's order, as events of sampled pages: some blocks
 * of the table, then one of the index, and so on.
 */
static long
index_scan(WsScans *scans, uint32_t table, uint32_t index, uint32_t blocks, uint32_t process,
		   uint64_t *seed, long *late)
{
	long		judged = 0;
	uint32_t	leaf = 0;

	for (uint32_t block = 0; block < blocks; block++)
	{
		WsEvent		e = event_of(table, block, WS_EVENT_READ, true, false);
		WsAccess	a;
		bool		scan;

		e.process = process;
		scan = ws_scans_classify(scans, &e, 0, &a) == WS_CLASS_SCAN;
		if (random_below(seed, 5) == 0)
		{
			e = event_of(index, leaf++, WS_EVENT_READ, true, false);
			e.process = process;
			scan |= ws_scans_classify(scans, &e, 0, &a) == WS_CLASS_SCAN;
		}
		judged += scan;
		*late += scan && block > blocks / 4;
	}
	return judged;
}

static void
test_alongside(void)
{
	WsScans    *scans = new_scans();
	uint64_t	seed = 122;
	long		late = 0;
	long		wrong = 0;
	uint32_t	blocks[2] = {0, 0};

	/* one process, to and fro */
	index_scan(scans, 10, 11, 1000, 3, &seed, &late);
	is_int(late, 0, "who walks through two relations at once scans neither, after a while");
	index_scan(scans, 10, 11, 1000, 3, &seed, &wrong);
	is_int(index_scan(scans, 10, 11, 1000, 4, &seed, &late), 0,
		   "which is remembered of the relations, also with another process");
	free(scans);

	/*
	 * To and fro at each step: the fifth access is the third return in a row.
	 * The sixth of the first relation is the first with enough evidence, two
	 * accesses alone and four not; it is the eleventh of all.
	 */
	scans = new_scans();
	for (uint32_t i = 0; i < 40; i++)
	{
		WsEvent		e = event_of(10 + i % 2, i / 2, WS_EVENT_READ, true, false);
		WsAccess	a;

		wrong += ws_scans_classify(scans, &e, 0, &a) != (i < 10 ? WS_CLASS_SCAN : WS_CLASS_REST);
	}
	is_int(wrong, 0, "to and fro shows after three returns, and six accesses");
	free(scans);

	/*
	 * to and fro, so many steps at a time; who stays longer than 256 more
	 * scans
	 */
	for (uint32_t stay = 256; stay <= 258; stay++)
	{
		scans = new_scans();
		late = 0;
		for (uint32_t i = 0; i < 20 * stay; i++)
		{
			uint32_t	turn = i / stay;
			WsEvent		e = event_of(10 + turn % 2, turn / 2 * stay + i % stay, WS_EVENT_HIT, true, false);
			WsAccess	a;

			late += ws_scans_classify(scans, &e, 0, &a) == WS_CLASS_REST;
		}
		ok((late > 0) == (stay <= 257), "%u steps in one relation, then in the other: %s", stay,
		   stay <= 257 ? "alongside" : "one after the other");
		free(scans);
	}

	/* two processes, each through its own */
	scans = new_scans();
	wrong = 0;
	for (int i = 0; i < 4000; i++)
	{
		uint32_t	which = random_below(&seed, 2);
		WsEvent		e = event_of(10 + which, blocks[which]++, WS_EVENT_READ, true, false);
		WsAccess	a;

		/* any two */
		e.process = 3 + which * (i < 2000 ? 1 : 256);
		wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_SCAN;
	}
	is_int(wrong, 0, "two processes, each with one relation, scan them");
	free(scans);

	/* one process, one after the other, many times */
	scans = new_scans();
	wrong = 0;
	for (int i = 0; i < 20; i++)
		wrong += 600 - walk(scans, 10 + i % 2, 600, WS_EVENT_READ, false, 3, NULL);

	/*
	 * When it comes back to a relation for the third time and later, that
	 * looks like to and fro until it has stayed: 256 of 600.
	 */
	is_int(wrong, 0, "one process that scans one relation after the other scans them");

	/* a third relation in between, looked up at random, is no walk */
	for (uint32_t block = 0; block < 600; block++)
	{
		WsEvent		e = event_of(30, random_below(&seed, 100), WS_EVENT_HIT, false, false);
		WsAccess	a;

		ws_scans_classify(scans, &e, 0, &a);
		e = event_of(40, block, WS_EVENT_READ, true, false);
		wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_SCAN;
	}
	is_int(wrong, 0, "and may look up others meanwhile");

	/* three relations by turns: none is the other one */
	for (int i = 0; i < 900; i++)
	{
		WsEvent		e = event_of(50 + (uint32_t) i % 3, (uint32_t) i, WS_EVENT_READ, true, false);
		WsAccess	a;

		wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_SCAN;
	}
	is_int(wrong, 0, "one that goes on to a third does not come back");
	free(scans);

	/*
	 * alone again, the relation is scanned: as soon as that is most of what
	 * is seen
	 */
	scans = new_scans();
	index_scan(scans, 10, 11, 500, 3, &seed, &late);
	is_int(walk(scans, 10, 400, WS_EVENT_READ, false, 4, NULL), 0,
		   "evidence of to and fro is not undone by less");
	walk(scans, 10, 400, WS_EVENT_READ, false, 4, NULL);
	is_int(walk(scans, 10, 400, WS_EVENT_READ, false, 4, NULL), 400, "but by more");
	/* whose ring is to be seen, scans */
	index_scan(scans, 20, 21, 1000, 3, &seed, &late);
	is_int(walk(scans, 20, 100, WS_EVENT_READ, true, 5, NULL), 100,
		   "a ring is proof, whatever else was seen");
	free(scans);
}

static void
test_extend(void)
{
	WsScans    *scans = new_scans();
	WsEvent		e;
	WsAccess	a;
	long		wrong = 0;
	uint32_t	set = 0;

	for (uint32_t block = 0; block < 1000; block++)
	{
		e = event_of(10, block, WS_EVENT_EXTEND, true, true);
		wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_REST || a.ringed != WS_SWEEP_ALL ||
			a.ring != WS_RING_WRITE;
		e = event_of(11, block, WS_EVENT_EXTEND, block % 2, false);
		wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_REST || a.ringed != 0;
	}
	is_int(wrong, 0, "bulk writes go through their ring at all sizes, others through none");
	is_int(walk(scans, 10, 1, WS_EVENT_READ, false, 4, &set), 1, "a scan follows");
	/* 1000 blocks, and 2^0 - 1 more for what is not sampled */
	ok(set == sizes_ringed(1000), "and the size is known from the writing");
	free(scans);
}

/*
 * The process that lets a page in does not know whether it is new.  Sizes tell: a
 * second is let pass by ws_scans_age().
 */
static void
test_grown(void)
{
	WsScans    *scans = new_scans();
	WsEvent		e = event_of(10, 0, WS_EVENT_READ, false, false);
	long		wrong = 0;

	ok(ws_scans_wants_size(scans, &e), "the size of a relation that is read is wanted");
	ok(ws_scans_event_kind(scans, &e) == WS_EVENT_READ, "where it is not known, a page is taken to be read");

	/* the size already holds what came in this second */
	ws_scans_set_size(scans, &e.page, 1000);
	ok(!ws_scans_wants_size(scans, &e), "it is not wanted twice");
	e = event_of(10, 5000, WS_EVENT_READ, false, false);
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ;
	is_int(wrong, 0, "nor used for the second that it was looked up in");

	ws_scans_age(scans, 0);
	for (uint32_t block = 990; block < 1100; block++)
	{
		WsAccess	a;

		e = event_of(10, block, WS_EVENT_READ, false, false);
		e.kind = ws_scans_event_kind(scans, &e);
		wrong += e.kind != (block < 1000 ? WS_EVENT_READ : WS_EVENT_EXTEND);
		wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_REST;
		e.kind = WS_EVENT_HIT;
		wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_HIT;
	}
	is_int(wrong, 0, "blocks beyond the end are new ones, and a hit is a hit");
	ws_scans_age(scans, 0);
	e = event_of(10, 1099, WS_EVENT_READ, false, false);
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ;
	e.page.block = 1100;
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_EXTEND;
	is_int(wrong, 0, "a second later they are not");

	ws_scans_set_size(scans, &e.page, 500);
	e.page.block = 499;
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ;
	e.page.block = 500;
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_EXTEND;
	is_int(wrong, 0, "a relation that was truncated grows from its new end");

	e.page.fork = 1;
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ || ws_scans_wants_size(scans, &e);
	e.page.fork = 0;
	e.maintenance = true;
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ || ws_scans_wants_size(scans, &e);
	e.maintenance = false;
	for (int second = 0; second < 60 && !ws_scans_wants_size(scans, &e); second++)
		ws_scans_age(scans, 0);
	ok(wrong == 0 && ws_scans_wants_size(scans, &e), "only of main forks and clients; after a while it is looked up again");

	/* a relation that did not exist a second ago has nothing to read */
	ws_scans_age(scans, 20);
	for (uint32_t relation = 18; relation < 22; relation++)
	{
		e = event_of(relation, 0, WS_EVENT_READ, false, false);
		wrong += ws_scans_event_kind(scans, &e) != (relation < 20 ? WS_EVENT_READ : WS_EVENT_EXTEND);
		ws_scans_set_size(scans, &e.page, 100);
		wrong += ws_scans_event_kind(scans, &e) != (relation < 20 ? WS_EVENT_READ : WS_EVENT_EXTEND);
	}
	ws_scans_age(scans, 22);
	e = event_of(21, 99, WS_EVENT_READ, false, false);
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ;
	e.page.block = 100;
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_EXTEND;
	is_int(wrong, 0, "all pages of a new relation are made, for a second");

	/* random look-ups need no size, unless they read */
	e = event_of(11, 7, WS_EVENT_HIT, false, false);
	wrong += ws_scans_wants_size(scans, &e);
	e.run = WS_RUN_SCAN;
	wrong += !ws_scans_wants_size(scans, &e);
	ws_scans_set_size(scans, &e.page, 0);
	wrong += ws_scans_wants_size(scans, &e);
	ws_scans_age(scans, 0);
	e = event_of(11, 7, WS_EVENT_READ, false, false);
	wrong += ws_scans_event_kind(scans, &e) != WS_EVENT_READ;
	is_int(wrong, 0, "scans do; a file that is not there tells nothing, and is not asked for all the time");
	free(scans);
}

static void
test_forks(void)
{
	WsScans    *scans = new_scans();
	long		wrong = 0;
	uint32_t	set = 0;

	for (uint32_t block = 0; block < 6000; block++)
	{
		WsEvent		e = event_of(10, block, WS_EVENT_READ, true, block % 2);
		WsAccess	a;

		e.page.fork = 1 + block % 3;
		wrong += ws_scans_classify(scans, &e, 0, &a) != WS_CLASS_REST || a.ringed != 0;
	}
	is_int(wrong, 0, "other forks are not scanned");
	ok(walk(scans, 10, 100, WS_EVENT_READ, false, 3, &set) == 100 && set == sizes_ringed(100),
	   "and their blocks are not those of the main fork");
	free(scans);
}

/*
 * Relations are told apart; there may be more than are remembered.
 */
static void
test_many_relations(void)
{
	WsScans    *scans = new_scans();
	uint32_t	set = 0;
	long		wrong = 0;
	WsEvent		e;
	WsAccess	a;

	walk(scans, 10, 3000, WS_EVENT_READ, false, 3, NULL);
	for (int i = 0; i < 2; i++)
	{
		e = event_of(10, 99, WS_EVENT_READ, true, false);
		e.page.database += i == 0;
		e.page.tablespace += i == 1;
		ws_scans_classify(scans, &e, 0, &a);
		wrong += a.ringed != sizes_ringed(100);
	}
	is_int(wrong, 0, "a relation of another database or tablespace has a size of its own");
	for (uint32_t relation = 1000; relation < 101000; relation++)
	{
		e = event_of(relation, relation % 900, WS_EVENT_READ, true, false);
		e.process = relation % 1000;
		ws_scans_classify(scans, &e, 0, &a);
		wrong += a.ringed != sizes_ringed(relation % 900 + 1);
	}
	for (uint32_t n = 0; n < 50000; n++)
	{
		e = event_of(200000, n % 900, WS_EVENT_READ, true, false);
		e.page.database = 5 + n;
		e.process = n % 1000;
		ws_scans_classify(scans, &e, 0, &a);
		wrong += a.ringed != sizes_ringed(n % 900 + 1);
		e.page.database = 5;
		e.page.tablespace = 2000 + n;
		ws_scans_classify(scans, &e, 0, &a);
		wrong += a.ringed != sizes_ringed(n % 900 + 1);
	}
	is_int(wrong, 0, "however many there are, none has the size of another");
	walk(scans, 10, 3000, WS_EVENT_READ, false, 3, &set);
	ok(set == sizes_ringed(3000), "and who was forgotten is learnt again");
	free(scans);
}

/*
 * How many reads without a ring does it take, after ten with one and some
 * seconds, until they are most?
 */
static int
reads_to_convince(int seconds)
{
	WsScans    *scans = new_scans();
	WsEvent		e = event_of(10, 9999, WS_EVENT_HIT, false, false);
	WsAccess	a;
	int			reads = 0;

	ws_scans_classify(scans, &e, 0, &a);
	walk(scans, 10, 10, WS_EVENT_READ, true, 3, NULL);
	for (int i = 0; i < seconds; i++)
		ws_scans_age(scans, 0);
	for (;;)
	{
		e = event_of(10, 5000 + (uint32_t) reads++, WS_EVENT_READ, true, false);
		if (ws_scans_classify(scans, &e, 0, &a) == WS_CLASS_REST || reads > 1000)
			break;
	}
	free(scans);
	return reads;
}

static void
test_ageing(void)
{
	WsScans    *scans = new_scans();
	uint64_t	seed = 123;
	long		late = 0;
	long		wrong = 0;

	/* ten with a ring are outweighed by eleven without, aged a minute by six */
	is_int(reads_to_convince(0), 11, "evidence counts");
	is_within(reads_to_convince(60), 6, 1, "half of it after a minute");

	/*
	 * a quarter, 2.5 of ten, is fewer than six in all; six are needed to go
	 * by
	 */
	is_within(reads_to_convince(120), 4, 1, "a quarter after two, but six are needed to go by");
	is_int(reads_to_convince(3600), 1, "nothing after an hour");

	/* what is known of who goes to and fro, too: 500 then, and 60 now */
	index_scan(scans, 10, 11, 500, 3, &seed, &late);
	for (int i = 0; i < 60 * 4; i++)
		ws_scans_age(scans, 0);
	walk(scans, 10, 60, WS_EVENT_READ, false, 4, NULL);
	is_int(walk(scans, 10, 60, WS_EVENT_READ, false, 4, NULL), 60,
		   "to and fro of minutes ago does not outweigh a scan");
	/* and a scan remains one, however long ago its beginning was */
	for (int i = 0; i < 100; i++)
	{
		wrong += 20 - walk(scans, 20, 20, WS_EVENT_READ, false, 4, NULL);
		for (int k = 0; k < 60; k++)
			ws_scans_age(scans, 0);
	}
	is_int(wrong, 0, "and ageing by itself changes no judgement");
	free(scans);
}

/*
 * As above, but one block in 16 is sampled: sizes are not known exactly.  The
 * last sampled block is 16 blocks from the end in the mean, geometrically
 * distributed: more than 16 * 14 in one of a million cases.
 */
static void
test_sampled(void)
{
	static const uint32_t pages[] = {300, 900, 1800, 2250, 3900};
	long		wrong = 0;
	long		ringed = 0;

	for (size_t t = 0; t < sizeof(pages) / sizeof(pages[0]); t++)
		for (uint32_t trial = 0; trial < 200; trial++)
		{
			WsScans    *scans = new_scans();
			WsAccess	a = {.ringed = 0};

			for (uint32_t block = 0; block < pages[t]; block++)
			{
				WsEvent		e = event_of(10, block, WS_EVENT_READ, true, false);

				if (page_hash(trial + 1000, block) >> 28 != 0)
					continue;
				wrong += ws_scans_classify(scans, &e, 4, &a) != WS_CLASS_SCAN;
			}
			/* at all sizes but those that are close */
			for (int i = 0; i < WS_SWEEP_SIZES; i++)
			{
				double		quarter = NBUFFERS * ws_sweep_factors[i] / 4;

				if (pages[t] > quarter + 16 * 14)
					wrong += !(a.ringed & WS_SWEEP_BIT(i));
				if (pages[t] + 16 < quarter)
					wrong += (a.ringed & WS_SWEEP_BIT(i)) != 0;
				ringed += (a.ringed & WS_SWEEP_BIT(i)) != 0;
			}
			free(scans);
		}
	ok(wrong == 0 && ringed > 1000, "sampled, sizes are known to some sampling distances");

	/*
	 * The size is neither too large nor too small in the mean: a table of a
	 * quarter of the cache is taken to be larger in about half of all cases.
	 * P(last sampled block is among the last 15) = 1 - (15/16)^15 = 0.62; of
	 * 2000 trials give or take 5 sqrt(2000 * 0.62 * 0.38).
	 */
	ringed = 0;
	for (uint32_t trial = 0; trial < 2000; trial++)
	{
		WsScans    *scans = new_scans();
		WsAccess	a = {.ringed = 0};
		uint32_t	size = 2048;

		for (uint32_t block = size - 300; block < size; block++)
		{
			WsEvent		e = event_of(10, block, WS_EVENT_READ, true, false);

			if (page_hash(trial + 5000, block) >> 28 == 0)
				ws_scans_classify(scans, &e, 4, &a);
		}
		/* half of the present size */
		ringed += a.ringed >> 5 & 1;
		free(scans);
	}
	is_within(ringed, 2000 * (1 - pow(15 / 16.0, 15)), 5 * sqrt(2000 * 0.62 * 0.38),
			  "and there is no bias");
}

int
main(void)
{
	plan(92);
	test_plain();
	test_maintenance();
	test_small_table();
	test_large_table();
	test_told();
	test_alongside();
	test_extend();
	test_grown();
	test_forks();
	test_many_relations();
	test_ageing();
	test_sampled();
	return done();
}
