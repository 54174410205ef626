/*
 * scans.c
 *		Classes of accesses; see scans.h.
 */
#include "scans.h"

#include <math.h>
#include <string.h>

/* Relations and processes remembered at a time; powers of two. */
#define RELATIONS 2048
#define PROCESSES 256
#define MEMORY_SECONDS	60		/* in which evidence halves */
#define ENOUGH			6		/* sampled accesses of a run to believe it */
#define SIZE_SECONDS	10		/* for which a size is used again */
#define RING_SHARE		0.25	/* of shared_buffers: above a ring is used */

/*
 * A process walks through two relations once it has come back to either so
 * many times in a row, without staying longer than so many sampled accesses.
 */
#define RETURNS_ALONGSIDE	3
#define STEPS_ALONE			256

typedef struct Relation
{
	WsPageId	page;			/* any page of it */
	uint32_t	blocks;			/* as looked up, or the highest seen + 1 */
	uint32_t	before;			/* a second ago; 0: it did not exist;
								 * UINT32_MAX: not known */
	bool		sized;			/* the size was looked up at some time, */
	bool		exact;			/* and no block was seen beyond */
	uint8_t		good;			/* seconds until the size is too old */

	/* evidence: accesses in runs */
	float		reads;
	float		ringed;			/* reads through a ring */
	float		runs;			/* all accesses */
	float		alone;			/* those with no other run alongside */
} Relation;

/* The last two relations that a process went through block by block. */
typedef struct Walker
{
	uint32_t	process;
	uint32_t	here;			/* the present one */
	uint32_t	steps;			/* since it came from the other */
	uint32_t	block;			/* the last one here */
	uint32_t	there;			/* the other one */
	uint32_t	there_block;	/* the last one there */
	int			returns;		/* from one to the other, in a row */
} Walker;

struct WsScans
{
	double		nbuffers;
	uint32_t	next;			/* first new relation number; 0: not known */
	Relation	relations[RELATIONS];
	Walker		walkers[PROCESSES];
};

bool
ws_scans_uses_ring(double blocks, double nbuffers)
{
	return blocks > nbuffers * RING_SHARE;
}

size_t
ws_scans_size(void)
{
	return sizeof(WsScans);
}

void
ws_scans_init(WsScans *scans, double nbuffers)
{
	memset(scans, 0, sizeof(*scans));
	scans->nbuffers = nbuffers;
}

static uint32_t
relation_hash(const WsPageId *page)
{
	return (page->relation * UINT32_C(0x9E3779B1)) ^ (page->database * UINT32_C(0x85EBCA6B)) ^
		page->tablespace;
}

/* The entry of a relation, which may displace another. */
static Relation *
find_relation(WsScans *scans, const WsPageId *page)
{
	uint32_t	hash = relation_hash(page);
	Relation   *r = &scans->relations[(hash ^ hash >> 15) % RELATIONS];

	if (memcmp(&r->page, page, offsetof(WsPageId, fork)) != 0)
	{
		memset(r, 0, sizeof(*r));
		r->page = *page;
		r->before = scans->next != 0 && page->relation >= scans->next ? 0 : UINT32_MAX;
	}
	return r;
}

bool
ws_scans_wants_size(WsScans *scans, const WsEvent *event)
{
	if (event->maintenance || event->page.fork != 0 || event->kind == WS_EVENT_REMOVE ||
		(event->kind == WS_EVENT_HIT && event->run < WS_RUN_SCAN))
		return false;
	return find_relation(scans, &event->page)->good == 0;
}

void
ws_scans_set_size(WsScans *scans, const WsPageId *page, uint32_t blocks)
{
	Relation   *r = find_relation(scans, page);

	r->good = SIZE_SECONDS;
	if (blocks == 0)
		return;
	/* if it has shrunk, blocks beyond its end are new */
	if (r->sized && r->before > blocks)
		r->before = blocks;
	r->blocks = blocks;
	r->sized = r->exact = true;
}

WsEventKind
ws_scans_event_kind(WsScans *scans, const WsEvent *event)
{
	if (event->kind == WS_EVENT_READ && !event->maintenance && event->page.fork == 0 &&
		event->page.block >= find_relation(scans, &event->page)->before)
		return WS_EVENT_EXTEND;
	return event->kind;
}

/* Does the process, in a run through a relation, walk through another, too? */
static bool
walks_alongside(WsScans *scans, uint32_t process, uint32_t relation, uint32_t block)
{
	Walker	   *w = &scans->walkers[process % PROCESSES];

	if (w->process != process)
		memset(w, 0, sizeof(*w));
	w->process = process;
	if (relation == w->here)
		w->steps++;
	else
	{
		/* it goes on where it left, or starts another scan */
		if (relation != w->there || block <= w->there_block)
			w->returns = 0;
		else if (w->returns < RETURNS_ALONGSIDE)
			w->returns++;
		w->there = w->here;
		w->there_block = w->block;
		w->here = relation;
		w->steps = 0;
	}
	if (w->steps > STEPS_ALONE)
		w->returns = 0;
	w->block = block;
	return w->returns == RETURNS_ALONGSIDE;
}

/* Add an access in a run to the evidence: was it by a sequential scan? */
static bool
is_scan(WsScans *scans, Relation *r, const WsEvent *event, const WsAccess *access, double blocks)
{
	r->runs += 1;
	r->alone += !walks_alongside(scans, event->process, access->relation, access->block);
	r->reads += event->kind == WS_EVENT_READ;
	r->ringed += event->kind == WS_EVENT_READ && event->ring;

	/* a scan would go through a ring now, and events would show it */
	if (ws_scans_uses_ring(blocks, scans->nbuffers))
		return r->ringed > 0 && (r->reads < ENOUGH || r->ringed >= r->reads / 2);
	return event->ring || r->runs < ENOUGH || r->alone >= r->runs / 2;
}

bool
ws_scans_knows_size(WsScans *scans, const WsPageId *page)
{
	return find_relation(scans, page)->good > 0;
}

uint32_t
ws_scans_blocks(WsScans *scans, const WsPageId *page)
{
	const Relation *r = find_relation(scans, page);

	return r->exact ? r->blocks : 0;
}

WsClass
ws_scans_classify(WsScans *scans, const WsEvent *event, uint32_t shift, const double *factors,
				  WsAccess *access)
{
	Relation   *r;
	double		blocks;

	access->ringed = event->maintenance ? WS_SWEEP_ALL : 0;
	access->ring = event->maintenance ? WS_RING_VACUUM : WS_RING_READ;
	access->process = event->process;
	access->relation = relation_hash(&event->page);
	access->block = event->page.block;
	access->absent = 0;
	if (event->maintenance)
		return WS_CLASS_MAINTENANCE;
	if (event->page.fork != 0)
		return WS_CLASS_REST;

	r = find_relation(scans, &event->page);
	if (event->page.block >= r->blocks)
	{
		r->blocks = event->page.block + 1;
		r->exact = false;
	}
	blocks = r->blocks + (r->exact ? 0 : ldexp(1, (int) shift) - 1);

	/* bulk writes go through their rings at all sizes */
	if (event->kind == WS_EVENT_EXTEND && event->ring)
	{
		access->ringed = WS_SWEEP_ALL;
		access->ring = WS_RING_WRITE;
	}
	if (event->kind == WS_EVENT_EXTEND || event->run < WS_RUN_SCAN ||
		!is_scan(scans, r, event, access, blocks))
		return WS_CLASS_REST;
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		if (ws_scans_uses_ring(blocks, scans->nbuffers * factors[i]))
			access->ringed |= WS_SWEEP_BIT(i);
	return WS_CLASS_SCAN;
}

void
ws_scans_age(WsScans *scans, uint32_t next)
{
	float		keep = (float) exp2(-1.0 / MEMORY_SECONDS);

	scans->next = next;
	for (Relation *r = scans->relations; r < scans->relations + RELATIONS; r++)
	{
		r->reads *= keep;
		r->ringed *= keep;
		r->runs *= keep;
		r->alone *= keep;
		if (r->sized || r->before == 0)
			r->before = r->blocks;
		if (r->good > 0)
			r->good--;
		if (r->ringed < 0.01f)
			r->ringed = 0;
	}
}
