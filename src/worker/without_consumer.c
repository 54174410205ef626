/*
 * without_consumer.c
 *		Simulating the cache without one of its users: the queries, roles,
 *		applications and relations that use the most pages (without.h).
 *
 * Candidates are the largest by the pages that they used in the last five
 * minutes: those of few pages cannot evict many.  One that is simulated stays
 * until its place is taken by another that is clearly larger, because each has
 * to warm up first.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "attribution.h"
#include "compat.h"
#include "consumer.h"
#include "filling.h"
#include "sampler.h"
#include "seed.h"
#include "shared.h"

#define CHOOSE_TICKS	(10 * WS_TICKS_PER_SECOND)	/* from choice to choice */
#define RECENT_TICKS	(300 * WS_TICKS_PER_SECOND)
#define CLEARLY_LARGER	1.5
#define REMEMBERED		0.9		/* of its pages, from choice to choice */
#define RATE_FOLLOWS	0.05	/* share of a change followed each second */

/* Candidates of each kind; those of relations are the last. */
#define RELATIONS		10
static const int candidates[WS_BYS] = {6, 2, 2, RELATIONS};

/* All users of the cache of one kind are groups of this. */
typedef struct Group
{
	WsCacheUser user;
	double		pages;			/* in the sample */
} Group;

/* Private to the worker. */
static struct
{
	WsWithout  *without;
	WsCacheUser users[WS_CANDIDATES];
	double		pages[WS_CANDIDATES];	/* lately, in the sample */
	uint32		running;		/* set of candidates */
	/* by entry of the table of origins: the set of candidates that it is of */
	uint32		members[WS_ORIGINS];
	uint32		tags[WS_ORIGINS];	/* for which that was found; 0: none */
	int64		since;			/* value of WsShared.since */
	uint32		chosen_at;		/* tick */
}			state;

static void
begin(bool empty)
{
	uint32		entries = ws_shared->sampler->capacity;
	WsWithout  *without = state.without;

	if (without == NULL)
		without = (WsWithout *)
			TYPEALIGN(64, MemoryContextAlloc(TopMemoryContext, ws_without_size(entries) + 64));
	memset(&state, 0, sizeof(state));
	state.without = without;
	state.since = ws_shared_since();
	ws_without_init(without, entries, ws_shared->log2m, ws_shared->sampler->shift, ws_shared_advance());
}

static bool
is_running(int candidate)
{
	return (state.running & WS_SWEEP_BIT(candidate)) != 0;
}

/* Has the user this origin? */
static bool
has_origin(const WsCacheUser *user, const WsOrigin *origin)
{
	WsOrigin	part;

	return user->by != WS_BY_RELATION && ws_origin_part(origin, user->by, &part) &&
		ws_origin_equal(&part, &user->origin);
}

static bool
has_page(const WsCacheUser *user, const WsPageId *page)
{
	WsCacheUser its = {.by = WS_BY_RELATION, .relation = *page};

	return ws_cache_user_equal(user, &its);
}

/* The set of candidates that the origin of an event is of. */
static uint32
find_members(uint32 tag)
{
	uint32		entry = ws_origins_entry(ws_shared->origins, tag);
	WsOrigin	origin;

	if (entry == WS_ORIGIN_OTHER)
		return 0;
	if (state.tags[entry] != tag)
	{
		/* it may still be on its way into the table */
		if (!ws_origins_get(ws_shared->origins, entry, &origin))
			return 0;
		state.tags[entry] = tag;
		state.members[entry] = 0;
		for (int i = 0; i < WS_CANDIDATES; i++)
			if (is_running(i) && has_origin(&state.users[i], &origin))
				state.members[entry] |= WS_SWEEP_BIT(i);
	}
	return state.members[entry];
}

static void
event(WsSeen *seen)
{
	const WsEvent *e = &seen->event;
	uint32		members;

	if (ws_hash_stratum(seen->hash, ws_shared->log2m) < state.without->shift)
		return;
	/* maintenance is nobody's, as in the working set */
	members = e->maintenance ? 0 : find_members(e->origin);
	for (int i = WS_CANDIDATES - RELATIONS; i < WS_CANDIDATES; i++)
		if (is_running(i) && state.users[i].relation.relation == e->page.relation &&
			has_page(&state.users[i], &e->page))
			members |= WS_SWEEP_BIT(i);
	ws_without_access(state.without, &seen->access, seen->hash, members, seen->counted,
					  e->type == WS_EVENT_READ, e->tick);
}

static void
forget(uint32 entry)
{
	ws_without_forget(state.without, entry);
}

/* Largest first. */
static int
by_pages(const void *a, const void *b)
{
	const Group *x = a;
	const Group *y = b;

	return (y->pages > x->pages) - (y->pages < x->pages);
}

static int
by_user(const void *a, const void *b)
{
	return memcmp(&((const Group *) a)->user, &((const Group *) b)->user, sizeof(WsCacheUser));
}

/* One group for each user of n; returns how many there are. */
static int
merge_groups(Group *groups, int n)
{
	int			merged = 0;

	qsort(groups, n, sizeof(Group), by_user);
	for (int i = 0; i < n; i++)
	{
		if (merged > 0 && by_user(&groups[merged - 1], &groups[i]) == 0)
			groups[merged - 1].pages += groups[i].pages;
		else
			groups[merged++] = groups[i];
	}
	return merged;
}

/* A page that several origins of a group use counts for each. */
static int
find_groups(WsBy by, const uint32 *counts, Group *groups)
{
	int			n = 0;
	WsOrigin	origin;
	WsOrigin	part;

	for (uint32 i = 1; i < WS_ORIGINS; i++)
		if (counts[i] > 0 && ws_origins_get(ws_shared->origins, i, &origin) &&
			ws_origin_part(&origin, by, &part))
		{
			memset(&groups[n], 0, sizeof(Group));
			groups[n].user.by = by;
			groups[n].user.origin = part;
			groups[n++].pages = counts[i];
		}
	return merge_groups(groups, n);
}

static int
find_relations(uint32 since, Group *groups)
{
	const WsSampler *sampler = ws_shared->sampler;
	int			n = 0;

	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		if (sample->last < since || sample->last == 0 || sample->dead ||
			ws_hash_stratum(sample->hash, sampler->log2m) < state.without->shift)
			continue;
		memset(&groups[n], 0, sizeof(Group));
		groups[n].user.by = WS_BY_RELATION;
		groups[n].user.relation.tablespace = sample->page.tablespace;
		groups[n].user.relation.database = sample->page.database;
		groups[n].user.relation.relation = sample->page.relation;
		groups[n++].pages = 1;
	}
	return merge_groups(groups, n);
}

/* Entries of pages that others than a candidate used, the last used first. */
static uint32
find_seeds(const WsCacheUser *user, const uint32 *ages, uint32 *when, uint32 *entries)
{
	const WsSampler *sampler = ws_shared->sampler;
	bool		members[WS_ORIGINS] = {false};
	WsOrigin	origin;

	for (uint32 i = 1; i < WS_ORIGINS && user; i++)
		members[i] = ws_origins_get(ws_shared->origins, i, &origin) && has_origin(user, &origin);
	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		when[i] = ages[i];
		if (user == NULL || when[i] == 0)
			continue;
		if (user->by == WS_BY_RELATION)
			when[i] = has_page(user, &sample->page) ? 0 : when[i];
		else
			when[i] = Min(when[i], ws_attribution_last(ws_shared->attribution, sample->hash, members));
	}
	return ws_sampler_by_age(sampler, state.without->shift, when, entries);
}

/* Begin with these candidates, and perhaps with the base. */
static void
begin_with(uint32 set, uint32 now)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32	   *ages = palloc(sampler->capacity * sizeof(uint32));
	uint32	   *when = palloc(sampler->capacity * sizeof(uint32));
	uint32	   *entries = palloc(sampler->capacity * sizeof(uint32));

	ws_seed_ages(ws_reading.scans, sampler, NBuffers, ages);
	for (; set != 0; set &= set - 1)
	{
		int			i = __builtin_ctz(set);
		uint32		n = find_seeds(i == WS_WITHOUT_BASE ? NULL : &state.users[i], ages, when, entries);

		ws_without_begin(state.without, i, sampler, entries, n, now);
	}
	pfree(ages);
	pfree(when);
	pfree(entries);
}

/*
 * Choose the candidates of one kind, from "first" on, among n groups and those
 * that there are: a reset forgets who used how many pages.  Returns the set of
 * those that are new.
 */
static uint32
choose(Group *groups, int n, int first, int most)
{
	bool		there[WS_CANDIDATES] = {false};
	bool		stays[WS_CANDIDATES] = {false};
	uint32		new = 0;

	for (int i = first; i < first + most; i++)
	{
		int			g = 0;

		if (!is_running(i))
			continue;
		while (g < n && !ws_cache_user_equal(&state.users[i], &groups[g].user))
			g++;
		if (g == n)
		{
			groups[n].user = state.users[i];
			groups[n++].pages = 0;
		}
		state.pages[i] = Max(groups[g].pages, REMEMBERED * state.pages[i]);
		groups[g].pages = CLEARLY_LARGER * state.pages[i];
	}
	qsort(groups, n, sizeof(Group), by_pages);
	n = Min(n, most);
	for (int i = first; i < first + most; i++)
		for (int g = 0; g < n && is_running(i); g++)
			if (ws_cache_user_equal(&state.users[i], &groups[g].user))
				there[g] = stays[i] = true;
	for (int g = 0; g < n; g++)
	{
		int			chosen = -1;

		for (int i = first; i < first + most && !there[g]; i++)
			if (!stays[i] && (chosen < 0 || !is_running(i)))
				chosen = i;
		if (chosen < 0)
			continue;
		state.users[chosen] = groups[g].user;
		state.pages[chosen] = groups[g].pages;
		state.running |= WS_SWEEP_BIT(chosen);
		stays[chosen] = true;
		new |= WS_SWEEP_BIT(chosen);
	}
	return new;
}

static void
choose_all(uint32 now)
{
	Group	   *groups = palloc((Max(WS_ORIGINS, ws_shared->sampler->capacity) + WS_CANDIDATES) * sizeof(Group));
	uint32		counts[WS_ORIGINS];
	uint32		since = now > RECENT_TICKS ? now - RECENT_TICKS : 0;
	uint32		new = 0;
	int			first = 0;

	if (ws_without_adapt(state.without, ws_reading.simulated_shift))
		state.running = 0;
	if (!(state.without->running & WS_SWEEP_BIT(WS_WITHOUT_BASE)))
		new = WS_SWEEP_BIT(WS_WITHOUT_BASE);
	ws_attribution_count(ws_shared->attribution, since, counts);
	for (int by = 0; by < WS_BYS; first += candidates[by++])
	{
		int			n = by == WS_BY_RELATION ? find_relations(since, groups) :
			find_groups((WsBy) by, counts, groups);

		new |= choose(groups, n, first, candidates[by]);
	}
	Assert(first == WS_CANDIDATES);
	if (new != 0)
	{
		memset(state.tags, 0, sizeof(state.tags));
		begin_with(new, now);
	}
	pfree(groups);
}

static clock_t
second(int64 ms)
{
	WsWithout  *without = state.without;
	uint32		now = ws_shared_advance();
	double		rings[WS_NRINGS];

	if (ws_nobody_evicts())
	{
		for (int i = 0; i < WS_SWEEP_SIZES && without->running != 0; i++)
			ws_without_end(without, i);
		state.running = 0;
		state.chosen_at = 0;
		return 0;
	}

	if (state.since != ws_shared_since())
	{
		state.since = ws_shared_since();
		ws_without_reset(without, now);
	}
	ws_without_follow(without, now);
	for (int ring = 0; ring < WS_NRINGS; ring++)
		rings[ring] = ws_ring_pages((WsRing) ring, NBuffers);
	ws_without_resize(without, without->rate + RATE_FOLLOWS *
					  (ws_seed_rate(ws_shared->sampler, without->shift) - without->rate),
					  NBuffers, rings);
	if (state.chosen_at == 0 || now - state.chosen_at >= CHOOSE_TICKS)
	{
		choose_all(now);
		state.chosen_at = now;
	}
	return 0;
}

static void
publish(WsPublished *p)
{
	uint32		now = ws_shared_advance();

	p->nsaved = 0;
	for (int i = 0; i < WS_CANDIDATES && state.since == p->since; i++)
	{
		WsSavedReads *saved = &p->saved[p->nsaved];

		if (!is_running(i))
			continue;
		saved->reads = ws_without_saved(state.without, i, now, &saved->error);
		saved->user = state.users[i];
		p->nsaved += !isnan(saved->reads);
	}
}

const WsConsumer ws_without_consumer = {
	.begin = begin, .event = event, .forget = forget, .second = second, .publish = publish
};
