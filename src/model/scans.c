/*
 * scans.c
 *		Classes of accesses; see scans.h.
 */
#include "scans.h"

#include <math.h>
#include <string.h>

#define RELATIONS 32768			/* remembered at a time, */
#define HEADS 16384				/* in so many chains; a power of two */
#define PROCESS_SETS 512		/* a power of two */
#define PROCESSES 8				/* remembered in each set */
#define EVICT_FROM 8			/* entries, of which the longest idle goes */
#define MEMORY_SECONDS	60		/* of use, in which evidence halves */
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
	uint32_t	tablespace;
	uint32_t	database;
	uint32_t	number;
	uint32_t	chained;		/* the next of its chain, + 1; 0: none */
	uint32_t	second;			/* that it was last used in */
	uint32_t	looked;			/* second of the last look at its size */
	uint32_t	blocks;			/* as looked up, or the highest seen + 1 */
	uint32_t	before;			/* a second ago; 0: it did not exist;
								 * UINT32_MAX: not known */
	bool		known;			/* was there a look, */
	bool		sized;			/* one that gave the size, */
	bool		exact;			/* and no block was seen beyond */

	/* evidence: accesses in runs */
	float		reads;
	float		ringed;			/* reads through a ring */
	float		runs;			/* all accesses */
	float		alone;			/* those with no other run alongside */
} Relation;

/* The last two relations that a process went through block by block. */
typedef struct Walker
{
	uint32_t	used;			/* number of the last access; 0: no process */
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
	uint32_t	next;			/* number of the next relation, a second ago; */
	uint32_t	next_now;		/* and now; 0: not known */
	uint32_t	second;
	uint32_t	accesses;		/* in runs */
	uint32_t	count;			/* relations */
	uint32_t	hand;			/* where the search for one to evict begins */
	uint32_t	heads[HEADS];	/* first of the chain, + 1 */
	Walker		walkers[PROCESS_SETS][PROCESSES];
	Relation	relations[RELATIONS];	/* not written until they are used */
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
	memset(scans, 0, offsetof(WsScans, relations));
	scans->nbuffers = nbuffers;
}

static uint32_t
relation_hash(const WsPageId *page)
{
	return (page->relation * UINT32_C(0x9E3779B1)) ^ (page->database * UINT32_C(0x85EBCA6B)) ^
		page->tablespace;
}

static uint32_t *
head_of(WsScans *scans, uint32_t hash)
{
	return &scans->heads[(hash ^ hash >> 15) % HEADS];
}

/* Free the entry that was idle for longest, of a few. */
static Relation *
evict(WsScans *scans)
{
	Relation   *oldest = &scans->relations[scans->hand];
	WsPageId	page;
	uint32_t   *link;

	for (int i = 0; i < EVICT_FROM; i++)
	{
		Relation   *r = &scans->relations[scans->hand];

		if (scans->second - r->second > scans->second - oldest->second)
			oldest = r;
		scans->hand = (scans->hand + 1) % RELATIONS;
	}
	page = (WsPageId)
	{
		.tablespace = oldest->tablespace, .database = oldest->database, .relation = oldest->number
	};
	link = head_of(scans, relation_hash(&page));
	while (&scans->relations[*link - 1] != oldest)
		link = &scans->relations[*link - 1].chained;
	*link = oldest->chained;
	return oldest;
}

static Relation *
enter(WsScans *scans, const WsPageId *page, uint32_t *head)
{
	Relation   *r = scans->count < RELATIONS ? &scans->relations[scans->count++] : evict(scans);

	memset(r, 0, sizeof(*r));
	r->tablespace = page->tablespace;
	r->database = page->database;
	r->number = page->relation;
	r->chained = *head;
	r->second = scans->second;
	/* numbers go round */
	r->before = page->relation - scans->next < scans->next_now - scans->next ? 0 : UINT32_MAX;
	*head = (uint32_t) (r - scans->relations) + 1;
	return r;
}

/* The first use in a second. */
static void
begin_second(Relation *r, uint32_t second)
{
	float		keep = (float) exp2(-1.0 / MEMORY_SECONDS);

	r->second = second;
	r->reads *= keep;
	r->ringed *= keep;
	r->runs *= keep;
	r->alone *= keep;
	if (r->ringed < 0.01f)
		r->ringed = 0;
	if (r->sized || r->before == 0)
		r->before = r->blocks;
}

/* The entry of a relation, which may be a new one. */
static Relation *
find_relation(WsScans *scans, const WsPageId *page)
{
	uint32_t   *head = head_of(scans, relation_hash(page));

	for (uint32_t i = *head; i != 0; i = scans->relations[i - 1].chained)
	{
		Relation   *r = &scans->relations[i - 1];

		if (r->number != page->relation || r->database != page->database || r->tablespace != page->tablespace)
			continue;
		if (r->second != scans->second)
			begin_second(r, scans->second);
		return r;
	}
	return enter(scans, page, head);
}

static bool
size_is_good(const WsScans *scans, const Relation *r)
{
	return r->known && scans->second - r->looked < SIZE_SECONDS;
}

bool
ws_scans_wants_size(WsScans *scans, const WsEvent *event)
{
	if (event->maintenance || event->page.fork != 0 || event->type == WS_EVENT_REMOVE ||
		(event->type == WS_EVENT_HIT && event->run < WS_RUN_SCAN))
		return false;
	return !size_is_good(scans, find_relation(scans, &event->page));
}

void
ws_scans_set_size(WsScans *scans, const WsPageId *page, uint32_t blocks)
{
	Relation   *r = find_relation(scans, page);

	r->known = true;
	r->looked = scans->second;
	if (blocks == 0 || blocks == UINT32_MAX)
		return;
	/* if it has shrunk, blocks beyond its end are new */
	if (r->sized && r->before > blocks)
		r->before = blocks;
	r->blocks = blocks;
	r->sized = r->exact = true;
}

WsEventType
ws_scans_event_type(WsScans *scans, const WsEvent *event)
{
	if (event->type == WS_EVENT_READ && !event->maintenance && event->page.fork == 0 &&
		event->page.block >= find_relation(scans, &event->page)->before)
		return WS_EVENT_EXTEND;
	return event->type;
}

/* The entry of a process; a new one takes the place that was idle longest. */
static Walker *
find_walker(WsScans *scans, uint32_t process)
{
	Walker	   *set = scans->walkers[(process * UINT32_C(0x9E3779B1)) >> 16 & (PROCESS_SETS - 1)];
	Walker	   *w = set;

	for (Walker *other = set; other < set + PROCESSES; other++)
	{
		if (other->used != 0 && other->process == process)
		{
			w = other;
			break;
		}
		if (scans->accesses - other->used > scans->accesses - w->used)
			w = other;
	}
	if (w->used == 0 || w->process != process)
		memset(w, 0, sizeof(*w));
	w->process = process;
	w->used = ++scans->accesses;
	return w;
}

/* Does the process, in a run through a relation, walk through another, too? */
static bool
walks_alongside(WsScans *scans, uint32_t process, uint32_t relation, uint32_t block)
{
	Walker	   *w = find_walker(scans, process);

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
	r->reads += event->type == WS_EVENT_READ;
	r->ringed += event->type == WS_EVENT_READ && event->ring;

	/* a scan would go through a ring now, and events would show it */
	if (ws_scans_uses_ring(blocks, scans->nbuffers))
		return r->ringed > 0 && (r->reads < ENOUGH || r->ringed >= r->reads / 2);
	return event->ring || r->runs < ENOUGH || r->alone >= r->runs / 2;
}

bool
ws_scans_knows_size(WsScans *scans, const WsPageId *page, uint32_t *blocks)
{
	const Relation *r = find_relation(scans, page);

	*blocks = r->exact ? r->blocks : 0;
	return size_is_good(scans, r);
}

WsClass
ws_scans_classify(WsScans *scans, const WsEvent *event, uint32_t shift, const double *factors,
				  WsAccess *access)
{
	Relation   *r;
	double		blocks;

	/* what warms the cache uses no ring */
	access->ringed = event->maintenance && event->type != WS_EVENT_EXTEND ? WS_SWEEP_ALL : 0;
	access->ring = event->maintenance ? WS_RING_VACUUM : WS_RING_READ;
	access->process = event->process;
	access->relation = relation_hash(&event->page);
	access->block = event->page.block;
	access->absent = 0;
	access->id = event->page;
	access->read = event->type == WS_EVENT_READ;
	access->run = event->run >= WS_RUN_SCAN;
	access->new = event->type == WS_EVENT_EXTEND && !event->maintenance;
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
	if (event->type == WS_EVENT_EXTEND && event->ring)
	{
		access->ringed = WS_SWEEP_ALL;
		access->ring = WS_RING_WRITE;
	}
	if (event->type == WS_EVENT_EXTEND || event->run < WS_RUN_SCAN ||
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
	scans->second++;
	scans->next = scans->next_now = next;
}

void
ws_scans_set_server(WsScans *scans, uint32_t next, double nbuffers)
{
	scans->nbuffers = nbuffers;
	scans->next_now = scans->next != 0 && next != 0 ? next : scans->next;
}
