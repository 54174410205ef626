/*
 * attribution.c
 *		The table of pages and origins; see attribution.h.
 *
 * The bucket of a pair depends on its page alone, so that it can change its
 * origin in place.
 */
#include "attribution.h"

#include <stdlib.h>
#include <string.h>

#include "sampler.h"
#include "sketch.h"

#define NONE			0xFFFF
#define LONGEST			(WS_ATTRIBUTION_SECONDS * WS_TICKS_PER_SECOND)
#define SHORTEST		(WS_ATTRIBUTION_SECONDS_MIN * WS_TICKS_PER_SECOND)
#define MINUTE			(60 * WS_TICKS_PER_SECOND)

/* What is freed when the table is full, and when it counts as nearly empty. */
#define FREED_PART		8
#define FILLED_LOW		0.4

_Static_assert(sizeof(WsPageUse) == 12, "a pair has no gaps");
_Static_assert(WS_ORIGINS <= UINT16_MAX, "16 bits hold an origin");
_Static_assert(WS_ATTRIBUTION_MAX <= NONE, "16 bits hold the number of a pair");

/* The head of the bucket of a hash. */
static uint16_t *
bucket(const WsAttribution *a, uint32_t hash)
{
	return (uint16_t *) &a->pairs[a->capacity] + ws_hash_bucket(hash, a->buckets);
}

size_t
ws_attribution_size(uint32_t capacity)
{
	return offsetof(WsAttribution, pairs) + capacity * sizeof(WsPageUse) +
		ws_hash_buckets(capacity) * sizeof(uint16_t);
}

void
ws_attribution_init(WsAttribution *a, uint32_t capacity, uint32_t log2m, uint32_t shift, uint32_t tick)
{
	uint16_t   *heads = (uint16_t *) &a->pairs[capacity];

	/* processes read what is fixed without the lock, also of a table in use */
	memset((char *) a + offsetof(WsAttribution, shift), 0,
		   ws_attribution_size(capacity) - offsetof(WsAttribution, shift));
	a->capacity = capacity;
	a->buckets = ws_hash_buckets(capacity);
	a->log2m = log2m;
	a->shift = shift;
	a->kept = LONGEST;
	a->since = a->reads_since = tick;
	for (int i = 0; i < WS_STRATA; i++)
		a->admitted[i] = tick;
	for (uint32_t i = 0; i < capacity; i++)
		a->pairs[i].next = i + 1 < capacity ? i + 1 : NONE;
	for (uint32_t i = 0; i < a->buckets; i++)
		heads[i] = NONE;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static void
drop(WsAttribution *a, uint32_t entry)
{
	WsPageUse  *pair = &a->pairs[entry];
	uint16_t   *head = bucket(a, pair->hash);
	uint32_t	previous = *head;

	while (previous != entry && a->pairs[previous].next != entry)
		previous = a->pairs[previous].next;
	if (previous == entry)
		*head = pair->next;
	else
		a->pairs[previous].next = pair->next;
	memset(pair, 0, sizeof(*pair));
	pair->next = (uint16_t) a->free;
	a->free = entry;
	a->count--;
}

void
ws_attribution_forget(WsAttribution *a, uint32_t hash)
{
	uint32_t	entry = *bucket(a, hash);

	while (entry != NONE)
	{
		uint32_t	next = a->pairs[entry].next;

		if (a->pairs[entry].hash == hash)
			drop(a, entry);
		entry = next;
	}
}

/* Drop pairs that were not used for as long as pairs are kept. */
static void
expire(WsAttribution *a, uint32_t tick)
{
	if (tick > a->kept && tick - a->kept > a->since)
		a->since = tick - a->kept;
	for (uint32_t i = 0; i < a->capacity; i++)
		if (a->pairs[i].last != 0 && a->pairs[i].last < a->since)
			drop(a, i);
}

void
ws_attribution_raise(WsAttribution *a, uint32_t shift)
{
	if (shift <= a->shift)
		return;
	for (uint32_t i = 0; i < a->capacity; i++)
		if (a->pairs[i].last != 0 && ws_hash_stratum(a->pairs[i].hash, a->log2m) < shift)
			drop(a, i);
	a->shift = shift;
}

static bool
filled(const WsAttribution *a)
{
	return a->count > a->capacity - a->capacity / FREED_PART;
}

static void
free_pairs(WsAttribution *a, uint32_t tick)
{
	expire(a, tick);
	while (filled(a) && a->kept > SHORTEST)
	{
		a->kept = a->kept / 2 > SHORTEST ? a->kept / 2 : SHORTEST;
		expire(a, tick);
	}
	while (filled(a) && a->shift + 1 < WS_STRATA)
		ws_attribution_raise(a, a->shift + 1);
}

static uint32_t
find(const WsAttribution *a, uint32_t hash, uint32_t origin)
{
	uint32_t	entry = *bucket(a, hash);

	while (entry != NONE && (a->pairs[entry].hash != hash || a->pairs[entry].origin != origin))
		entry = a->pairs[entry].next;
	return entry;
}

void
ws_attribution_touch(WsAttribution *a, uint32_t hash, uint32_t origin, uint32_t tick)
{
	uint32_t	entry;
	WsPageUse  *pair;

	if (ws_hash_stratum(hash, a->log2m) < a->shift)
		return;
	entry = find(a, hash, origin);
	if (entry == NONE)
	{
		if (a->count == a->capacity)
			free_pairs(a, tick);
		if (ws_hash_stratum(hash, a->log2m) < a->shift || a->count == a->capacity)
			return;
		entry = a->free;
		a->free = a->pairs[entry].next;
		a->count++;
		a->pairs[entry] = (WsPageUse)
		{
			.hash = hash, .last = tick, .origin = (uint16_t) origin, .next = *bucket(a, hash)
		};
		*bucket(a, hash) = (uint16_t) entry;
		return;
	}
	pair = &a->pairs[entry];
	/* events of different processes are slightly out of order */
	pair->last = larger(pair->last, tick);
}

void
ws_attribution_care(WsAttribution *a, uint32_t shift, uint32_t tick)
{
	expire(a, tick);
	ws_attribution_raise(a, shift);
	if (a->count >= FILLED_LOW * a->capacity)
		return;
	if (a->kept < LONGEST)
		a->kept = 2 * a->kept < LONGEST ? 2 * a->kept : LONGEST;
	else if (a->shift > shift)
		a->admitted[--a->shift] = tick;
}

void
ws_attribution_count(const WsAttribution *a, uint32_t since, uint32_t *counts)
{
	memset(counts, 0, WS_ORIGINS * sizeof(*counts));
	for (uint32_t i = 0; i < a->capacity; i++)
		if (a->pairs[i].last != 0 && a->pairs[i].last >= since)
			counts[a->pairs[i].origin]++;
}

uint32_t
ws_attribution_last(const WsAttribution *a, uint32_t hash, const bool *origins)
{
	uint32_t	last = UINT32_MAX;

	for (uint32_t i = *bucket(a, hash); i != NONE; i = a->pairs[i].next)
	{
		if (a->pairs[i].hash != hash)
			continue;
		last = last == UINT32_MAX ? 0 : last;
		if (!origins[a->pairs[i].origin])
			last = larger(last, a->pairs[i].last);
	}
	return last;
}

void
ws_attribution_merge(WsAttribution *a, const bool *origins)
{
	for (uint32_t i = 0; i < a->capacity; i++)
	{
		WsPageUse  *pair = &a->pairs[i];
		uint32_t	other;

		if (pair->last == 0 || !origins[pair->origin] || pair->origin == WS_ORIGIN_OTHER)
			continue;
		other = find(a, pair->hash, WS_ORIGIN_OTHER);
		if (other == NONE)
		{
			pair->origin = WS_ORIGIN_OTHER;
			continue;
		}
		a->pairs[other].last = larger(a->pairs[other].last, pair->last);
		drop(a, i);
	}
	for (uint32_t i = 0; i < WS_ORIGINS; i++)
		for (int minute = 0; minute < WS_READ_MINUTES && origins[i] && i != WS_ORIGIN_OTHER; minute++)
		{
			a->reads[minute][WS_ORIGIN_OTHER] += a->reads[minute][i];
			a->reads[minute][i] = 0;
		}
}

void
ws_attribution_reset(WsAttribution *a, uint32_t floor, uint32_t tick)
{
	a->since = larger(a->since, floor);
	expire(a, tick);
	memset(a->reads, 0, sizeof(a->reads));
	a->reads_since = tick;
	a->minute = 0;
}

void
ws_attribution_follow_reads(WsAttribution *a, uint32_t tick)
{
	uint32_t	minute = tick > a->reads_since ? (tick - a->reads_since) / MINUTE : 0;

	/* after a pause all are over */
	if (minute > a->minute + WS_READ_MINUTES)
		a->minute = minute - WS_READ_MINUTES;
	while (a->minute < minute)
	{
		a->minute++;
		memset(a->reads[a->minute % WS_READ_MINUTES], 0, sizeof(a->reads[0]));
	}
}

void
ws_attribution_add_reads(WsAttribution *a, uint32_t origin, double pages)
{
	a->reads[a->minute % WS_READ_MINUTES][origin] += (float) pages;
}

double
ws_attribution_reads(const WsAttribution *a, uint32_t origin, uint32_t now)
{
	/* not by the present minute, which may not be counted yet */
	uint32_t	first = a->minute >= WS_READ_MINUTES ? a->minute + 1 - WS_READ_MINUTES : 0;
	uint32_t	from = a->reads_since + first * MINUTE;
	uint32_t	ticks = now > from ? now - from : 1;
	double		sum = 0;

	for (int minute = 0; minute < WS_READ_MINUTES; minute++)
		sum += a->reads[minute][origin];
	return sum * WS_TICKS_PER_SECOND / ticks;
}

uint32_t
ws_attribution_known(const WsAttribution *a, uint32_t now, uint32_t ticks, uint32_t floor)
{
	uint32_t	known = now > a->since ? now - a->since + 1 : 1;

	return a->since <= floor || ticks < known ? ticks : known;
}

uint32_t
ws_attribution_mature_shift(const WsAttribution *a, uint32_t now, uint32_t ticks, uint32_t floor)
{
	uint32_t	start = larger(now > ticks ? now - ticks : 0, larger(floor, a->since));
	uint32_t	mature = WS_STRATA;

	/* the higher a stratum, the longer it has been admitted */
	while (mature > a->shift && a->admitted[mature - 1] <= start)
		mature--;
	return mature < WS_STRATA ? mature : a->shift;
}

uint32_t
ws_attribution_select(const WsAttribution *a, uint32_t now, uint32_t ticks, uint32_t floor,
					  uint32_t shift, WsPageUse *out)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < a->capacity; i++)
		if (ws_tick_within(a->pairs[i].last, now, ticks, floor) &&
			ws_hash_stratum(a->pairs[i].hash, a->log2m) >= shift)
			out[n++] = a->pairs[i];
	return n;
}

/* Copies of pairs have the group in "next". */
static int
by_page_and_group(const void *a, const void *b)
{
	const WsPageUse *x = a;
	const WsPageUse *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->next > y->next) - (x->next < y->next);
}

uint32_t
ws_attribution_divide(WsPageUse *pairs, uint32_t n, const uint32_t *group, WsGroupPages *pages,
					  uint32_t ngroups)
{
	uint32_t	distinct = 0;

	memset(pages, 0, ngroups * sizeof(*pages));
	for (uint32_t i = 0; i < n; i++)
		pairs[i].next = (uint16_t) group[pairs[i].origin];
	qsort(pairs, n, sizeof(*pairs), by_page_and_group);
	for (uint32_t i = 0, of_group; i < n; i += of_group)
	{
		WsGroupPages *p = &pages[pairs[i].next];
		bool		first = i == 0 || pairs[i - 1].hash != pairs[i].hash;

		for (of_group = 1; i + of_group < n && pairs[i + of_group].hash == pairs[i].hash &&
			 pairs[i + of_group].next == pairs[i].next; of_group++)
			;
		distinct += first;
		p->pages++;
		p->exclusive += first && (i + of_group == n || pairs[i + of_group].hash != pairs[i].hash);
	}
	return distinct;
}
