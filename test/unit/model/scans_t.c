/*
 * scans_t.c
 *		Tests of telling sequential scans from other accesses, and of the sizes
 *		at which they would go through a ring.
 *
 * A second implementation by the text of scans.h forgets no relation and
 * remembers all that each process did.  Both see random traffic: scans, index
 * scans in the table's order that go back to their index every few blocks,
 * lookups, bulk writes and VACUUM.  Cases show the limits.
 */
#include "tap.h"
#include "scans.h"
#include "traces.h"

#define NBUFFERS	16384

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
event_of(uint32_t relation, uint32_t block, WsEventType type, bool in_run, bool ring)
{
	return (WsEvent)
	{
		.tick = 1000, .page = {1663, 5, relation, 0, block}, .type = type, .run = in_run ? WS_RUN_MAX : 0, .ring = ring, .process = 3
	};
}

/* of the grid, and one that is none of it */
static double factors[WS_SWEEP_SIZES];

/*
 * Sizes at which a scan of so many pages goes through a ring: when the table
 * is larger than a quarter of the cache.
 */
static uint32_t
sizes_ringed(double pages)
{
	uint32_t	set = 0;

	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (pages > NBUFFERS * factors[i] / 4)
			set |= UINT32_C(1) << i;
	return set;
}

/*
 * ----------------------------------------------------------------
 * Against the second implementation
 * ----------------------------------------------------------------
 */
#define RELATIONS	12
#define PROCESSES	10
#define STAYS		4
#define FIRST		(UINT32_MAX - 5)	/* number of the first relation; they go
									 * round */

typedef struct ModelRelation
{
	bool		known;
	bool		used;			/* in this second */
	double		blocks;
	bool		looked_up;
	bool		exact;
	double		end;			/* a second ago; infinite if not known */
	int			good;

	/* evidence, older accesses weigh less */
	double		reads;
	double		ringed;
	double		runs;
	double		alone;
} ModelRelation;

/* One relation after another that a process went through, the present last. */
typedef struct Stay
{
	int			relation;
	uint32_t	first;
	uint32_t	last;
	int			steps;
} Stay;

typedef struct Model
{
	uint32_t	next;			/* number of the next relation, a second ago */
	uint32_t	given;			/* numbers that were given since */
	ModelRelation relations[RELATIONS];
	Stay		stays[3 * PROCESSES][STAYS + 1];
	bool		close;			/* rounding may decide */
} Model;

static ModelRelation *
model_relation(Model *m, uint32_t number)
{
	ModelRelation *r = &m->relations[number - FIRST];

	if (!r->known)
		r->end = number - m->next < m->given ? 0 : INFINITY;
	r->known = r->used = true;
	return r;
}

/* Three times in a row it came back, further on, and did not stay. */
static bool
model_alongside(Stay *stays, int relation, uint32_t block)
{
	Stay	   *now = &stays[STAYS];

	if (now->relation == relation && now->steps > 0)
		now->steps++;
	else
	{
		memmove(stays, stays + 1, STAYS * sizeof(Stay));
		*now = (Stay)
		{
			relation, block, block, 1
		};
	}
	now->last = block;
	for (Stay *s = now; s > now - 3; s--)
		if (s[-2].steps == 0 || s[-2].relation != s->relation || s[-2].last >= s->first || s->steps > 257)
			return false;
	return true;
}

static bool
at_least(Model *m, double a, double b)
{
	m->close |= a != b && fabs(a - b) < 1e-3 * (a + b);
	return a >= b;
}

static WsClass
model_classify(Model *m, const WsEvent *e, uint32_t shift, uint32_t *ringed, WsRing *ring)
{
	uint32_t	p = e->process % 256 / 3 + PROCESSES * (e->process / 256);
	ModelRelation *r;
	double		blocks;
	bool		scan;

	*ringed = e->maintenance && e->type != WS_EVENT_EXTEND ? WS_SWEEP_ALL : 0;
	*ring = e->maintenance ? WS_RING_VACUUM : WS_RING_READ;
	m->close = false;
	if (e->maintenance)
		return WS_CLASS_MAINTENANCE;
	if (e->page.fork != 0)
		return WS_CLASS_REST;
	r = model_relation(m, e->page.relation);
	if (e->page.block + 1 > r->blocks)
	{
		r->blocks = e->page.block + 1;
		r->exact = false;
	}
	blocks = r->exact ? r->blocks : r->blocks + exp2(shift) - 1;
	if (e->type == WS_EVENT_EXTEND)
	{
		*ringed = e->ring ? WS_SWEEP_ALL : 0;
		*ring = e->ring ? WS_RING_WRITE : WS_RING_READ;
		return WS_CLASS_REST;
	}
	if (e->run < 8)
		return WS_CLASS_REST;
	r->runs++;
	if (!model_alongside(m->stays[p], (int) e->page.relation, e->page.block))
		r->alone++;
	r->reads += e->type == WS_EVENT_READ;
	r->ringed += e->type == WS_EVENT_READ && e->ring;
	if (blocks > NBUFFERS / 4)
		scan = r->ringed > 0 && (!at_least(m, r->reads, 6) || at_least(m, 2 * r->ringed, r->reads));
	else
		scan = e->ring || !at_least(m, r->runs, 6) || at_least(m, 2 * r->alone, r->runs);
	*ringed = scan ? sizes_ringed(blocks) : 0;
	return scan ? WS_CLASS_SCAN : WS_CLASS_REST;
}

static void
model_age(Model *m, uint32_t next)
{
	m->next = next;
	m->given = 0;
	for (ModelRelation *r = m->relations; r < m->relations + RELATIONS; r++)
	{
		double		keep = r->used ? exp2(-1 / 60.0) : 1;

		if (!r->known)
			continue;
		r->used = false;
		r->reads *= keep;
		r->runs *= keep;
		r->alone *= keep;
		r->ringed = r->ringed * keep < 0.01 ? 0 : r->ringed * keep;
		r->good -= r->good > 0;
		if (r->looked_up || r->end == 0)
			r->end = r->blocks;
	}
}

/* What a process does for a while. */
typedef struct Doing
{
	enum
	{
		SCAN, INDEX_SCAN, LOOKUPS, WRITE, VACUUM, DOINGS
	}			what;
	uint32_t	relation;
	uint32_t	block;
	uint32_t	leaf;
	uint32_t	left;
} Doing;

static WsEvent
next_event(Doing *d, uint64_t *seed, const uint32_t *size)
{
	WsEvent		e;

	if (d->left-- == 0)
	{
		uint32_t	n = size[d->relation = random_below(seed, RELATIONS)];

		d->what = random_below(seed, DOINGS);
		d->left = random_below(seed, 1000);
		d->block = random_below(seed, n);
	}
	e = event_of(FIRST + d->relation, d->block, random_below(seed, 3) ? WS_EVENT_READ : WS_EVENT_HIT,
				 random_below(seed, 50) > 0, false);
	e.page.fork = random_below(seed, 30) == 0;
	switch (d->what)
	{
		case SCAN:
			d->block += 1 + random_below(seed, 8);
			e.ring = size[d->relation] > NBUFFERS / 4 && random_below(seed, 8) > 0;
			break;
		case INDEX_SCAN:
			d->block++;
			if (random_below(seed, d->relation == 5 ? 200 : 5) == 0)
			{
				e.page.relation = FIRST + (d->relation + 1) % RELATIONS;
				e.page.block = d->leaf++ % size[(d->relation + 1) % RELATIONS];
			}
			break;
		case LOOKUPS:
			e.page.block = random_below(seed, size[d->relation]);
			e.run = random_below(seed, 10);
			break;
		case WRITE:
			d->block++;
			e.type = WS_EVENT_EXTEND;
			e.ring = d->leaf % 2;
			break;
		default:
			/* VACUUM, or what warms the cache */
			d->block++;
			e.maintenance = 1;
			e.type = random_below(seed, 10) ? e.type : WS_EVENT_EXTEND;
	}
	if (d->block >= size[d->relation])
		d->block = 0;
	if (random_below(seed, 100) == 0)
		e.type = WS_EVENT_REMOVE;
	return e;
}

static void
test_model(void)
{
	enum
	{
		TRIALS = 20, EVENTS = 20000
	};
	uint64_t	seed = seeded(124);
	long		wrong = 0;
	long		wrong_type = 0;
	long		close = 0;
	long		class[3][2] = {{0}};
	long		types[4] = {0};

	for (int trial = 0; trial < TRIALS; trial++)
	{
		WsScans    *scans = new_scans();
		static Model m;
		Doing		doing[PROCESSES] = {{0}};
		uint32_t	size[RELATIONS];
		uint32_t	shift = random_below(&seed, 5);

		memset(&m, 0, sizeof(m));
		for (int i = 0; i < RELATIONS; i++)
			size[i] = 1 + (uint32_t) exp(random_unit(&seed) * log(70000));
		for (int i = 0; i < EVENTS; i++)
		{
			uint32_t	process = random_below(&seed, PROCESSES);
			WsEvent		e = next_event(&doing[process], &seed, size);
			ModelRelation *r = &m.relations[e.page.relation - FIRST];
			WsAccess	a;
			uint32_t	ringed;
			WsRing		ring;
			WsClass		got;
			WsClass		want;
			WsEventType type;
			bool		wants;

			/* now and then another process goes on, whose number is like this one's */
			e.process = process * 3 + 256 * (uint32_t) (i / 5000 % 3);
			wants = !e.maintenance && e.page.fork == 0 && e.type != WS_EVENT_REMOVE &&
				(e.type != WS_EVENT_HIT || e.run >= 8) && model_relation(&m, e.page.relation)->good == 0;
			wrong_type += ws_scans_wants_size(scans, &e) != wants;
			if (wants && random_below(&seed, 10) == 0)
			{
				uint32_t   *n = &size[e.page.relation - FIRST];
				uint32_t	blocks = random_below(&seed, 20) ? *n : 0;

				ws_scans_set_size(scans, &e.page, blocks);
				r->good = 10;
				if (blocks > 0)
				{
					r->end = r->looked_up && r->end > blocks ? blocks : r->end;
					r->blocks = blocks;
					r->exact = r->looked_up = true;
				}
				/* it grows, or shrinks */
				*n = random_below(&seed, 3) ? *n + random_below(&seed, 20) : 1 + random_below(&seed, *n);
			}
			type = ws_scans_event_type(scans, &e);
			if (e.type == WS_EVENT_READ && !e.maintenance && e.page.fork == 0 &&
				e.page.block >= model_relation(&m, e.page.relation)->end)
				e.type = WS_EVENT_EXTEND;
			wrong_type += type != e.type;
			types[e.type]++;
			if (e.type == WS_EVENT_REMOVE)
				continue;

			got = ws_scans_classify(scans, &e, shift, factors, &a);
			want = model_classify(&m, &e, shift, &ringed, &ring);
			close += m.close;
			wrong += !m.close && (got != want || a.ringed != ringed || a.ring != ring || a.process != e.process ||
								  a.block != e.page.block);
			class[want][m.relations[e.page.relation - FIRST].blocks > NBUFFERS / 4]++;
			if (random_below(&seed, 100) == 0)
			{
				uint32_t	next = trial % 2 ? FIRST + random_below(&seed, RELATIONS + 2) : 0;

				ws_scans_age(scans, next);
				model_age(&m, next);
			}
			else if (m.next != 0 && random_below(&seed, 100) == 0)
			{
				m.given = random_below(&seed, RELATIONS);
				m.given += m.next + m.given == 0;	/* is not known */
				ws_scans_set_server(scans, m.next + m.given, NBUFFERS);
			}
		}
		free(scans);
	}
	is_int(wrong, 0, "model: classes, and sizes at which accesses go through a ring; rings, processes and blocks");
	is_int(wrong_type, 0, "model: new pages are made, and sizes wanted if they are not known");
	ok(close < TRIALS * EVENTS / 100 && class[0][0] > 10000 && class[0][1] > 10000 && class[1][0] > 10000 &&
	   class[1][1] > 1000 && class[2][0] > 10000 && types[WS_EVENT_READ] > 10000 &&
	   types[WS_EVENT_EXTEND] > 10000 && types[WS_EVENT_REMOVE] > 1000,
	   "model: all of it happened, and rounding decided %ld times", close);
}

/*
 * ----------------------------------------------------------------
 * Limits
 * ----------------------------------------------------------------
 */

/* A process that goes to and fro between two relations scans neither, unless it stays. */
static void
test_alongside(void)
{
	WsScans    *scans = new_scans();
	WsEvent		e;
	WsAccess	a;
	long		wrong = 0;

	/*
	 * At each step: the fifth access is the third return in a row.  The sixth
	 * of the first relation is the first with enough evidence, two accesses
	 * alone and four not; it is the eleventh of all.
	 */
	for (uint32_t i = 0; i < 40; i++)
	{
		e = event_of(10 + i % 2, i / 2, WS_EVENT_READ, true, false);
		wrong += ws_scans_classify(scans, &e, 0, factors, &a) != (i < 10 ? WS_CLASS_SCAN : WS_CLASS_REST);
	}
	is_int(wrong, 0, "to and fro shows after three returns, and six accesses");
	free(scans);

	for (uint32_t stay = 256; stay <= 258; stay++)
	{
		long		rest = 0;

		scans = new_scans();
		for (uint32_t i = 0; i < 20 * stay; i++)
		{
			e = event_of(10 + i / stay % 2, i / stay / 2 * stay + i % stay, WS_EVENT_HIT, true, false);
			rest += ws_scans_classify(scans, &e, 0, factors, &a) == WS_CLASS_REST;
		}
		ok((rest > 0) == (stay <= 257), "%u steps in one relation, then in the other: %s", stay,
		   stay <= 257 ? "alongside" : "one after the other");
		free(scans);
	}
}

/*
 * Relations are recognised by all of their identity, and one that displaces
 * another has nothing of it.
 */
static void
test_many_relations(void)
{
	WsScans    *scans = new_scans();
	uint32_t	number[4];
	long		wrong = 0;
	WsAccess	a;

	for (uint32_t n = 0; n < 200000; n++)
	{
		WsEvent		e = event_of(1000, n / 4 % 900, WS_EVENT_READ, true, false);

		e.process = n % 1000;
		e.page.relation += n % 4 == 1 ? 1 + n : 0;
		e.page.database += n % 4 == 2 ? 1 + n : 0;
		e.page.tablespace += n % 4 == 3 ? 1 + n : 0;
		ws_scans_classify(scans, &e, 0, factors, &a);
		number[n % 4] = a.relation;
		wrong += n % 4 != 0 && a.ringed != sizes_ringed(e.page.block + 1);
		wrong += n % 4 != 0 && a.relation == number[0];
	}
	is_int(wrong, 0, "however many relations there are, none has the size of another");
	for (uint32_t block = 0; block < 3000; block++)
	{
		WsEvent		e = event_of(10, block, WS_EVENT_READ, true, false);

		wrong += ws_scans_classify(scans, &e, 0, factors, &a) != WS_CLASS_SCAN;
	}
	ok(wrong == 0 && a.ringed == sizes_ringed(3000), "and one that was displaced starts over");
	free(scans);
}

/*
 * Index scans in the table's order: forty steps of an index and its table, then
 * another of so many.  Returns the share of accesses that are classified as a
 * sequential scan's, and the share of reads for which a size is looked up.
 */
static double
share_scanned(uint32_t tables, double *wanted)
{
	WsScans    *scans = new_scans();
	uint64_t	seed = 125;
	long		scanned = 0;
	long		all = 0;
	long		wants = 0;

	for (uint32_t visit = 0; visit < 4 * tables; visit++)
	{
		/* all of them once, then at random */
		uint32_t	table = visit < tables ? visit : random_below(&seed, tables);

		for (uint32_t i = 0; i < 80; i++)
		{
			WsEvent		e = event_of(1000 + 2 * table + i % 2, i / 2 * 8, WS_EVENT_HIT, i / 2 > 8, false);
			WsAccess	a;

			if (ws_scans_wants_size(scans, &e))
			{
				ws_scans_set_size(scans, &e.page, 1000);
				wants++;
			}
			scanned += ws_scans_classify(scans, &e, 0, factors, &a) == WS_CLASS_SCAN && visit >= tables;
			all += i / 2 > 8 && visit >= tables;
		}
		if (visit % 50 == 49)
			ws_scans_age(scans, 0);
	}
	free(scans);
	*wanted = wants / (4.0 * tables);
	return scanned / (double) all;
}

/*
 * However many tables have their turn, what was found out about each is there
 * when it comes again.  In a visit there are two sizes to look up, at most.
 */
static void
test_many_tables(void)
{
	double		wanted[3];
	double		few = share_scanned(100, &wanted[0]);
	double		many = share_scanned(5000, &wanted[1]);
	double		most = share_scanned(15000, &wanted[2]);

	ok(few < 0.02 && many < 0.02 && most < 0.02,
	   "of 100, 5000 and 15000 tables %.3f, %.3f and %.3f of index scans are classified as sequential", few, many, most);
	ok(wanted[0] < 1 && wanted[1] <= 2 && wanted[2] <= 2, "and a size is looked up once in ten seconds: %.2f, %.2f and %.2f in a visit",
	   wanted[0], wanted[1], wanted[2]);
}

int
main(void)
{
	plan(11);
	memcpy(factors, ws_sweep_grid, sizeof(ws_sweep_grid));
	factors[WS_SWEEP_FOLLOWER] = 40;
	test_model();
	test_alongside();
	test_many_relations();
	test_many_tables();
	return done();
}
