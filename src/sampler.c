/*
 * sampler.c
 *		The table of sampled pages; see sampler.h.
 */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sketch.h"

/*
 * The reader's share of a processor.  The shift rises when the reader has taken
 * so much more, and falls where twice as much stays below.  A burst passes: a
 * cache that is being filled makes many events, and strata that are given up
 * for it are back, with what has to be known of them, minutes later only.  Few
 * events are never too many, however long they took: where others have the
 * processor, or part of it, fewer still would take as long.
 */
#define BUSY_LIMIT		0.008	/* of a processor */
#define DEBT_LIMIT		0.03	/* processor seconds */
#define FEW_EVENTS		4000.0	/* a second */

/*
 * A look at a sampled page takes some 34 instructions more than at another,
 * and 400 if it is reported.  One page in 16 may always be sampled, which is
 * two or three instructions for each look, and more as long as fewer than so
 * many sampled pages are looked at in a second.
 */
#define FREE_SHIFT		4
#define FREE_LOOKS		20000.0

/* The shift falls when less than this share of the table is in use. */
#define FILLED_LOW		0.4

/* It rises at most once in so many seconds, and falls at most once in so many. */
#define RISE_SECONDS	1.0
#define FALL_SECONDS	60.0

/* Loads are averaged over so many seconds. */
#define LOAD_SECONDS	10.0

/*
 * The stream is read ten times a second, or less often where the reader has to
 * wait for a processor.  When a quarter of it fills in that time, there is a
 * flood, and the shift rises at once, by so many steps at most.
 */
#define FLOOD_TURNS		10.0
#define FLOOD_PART		0.25
#define FLOOD_STEPS		3

/* Room that is made is at least one part in so many of the table. */
#define ROOM			8

/* An hour, and the time for which strata that do not last are kept at first. */
#define LONG_TICKS		(WS_SAMPLE_SECONDS * WS_TICKS_PER_SECOND)
#define BRIEF_TICKS		(1200 * WS_TICKS_PER_SECOND)
/* One page in 2^this of those that are sampled lasts, at least. */
#define LASTING_MOST	3

static uint32_t *
heads(const WsSampler *sampler)
{
	return (uint32_t *) &sampler->samples[sampler->capacity];
}

static uint32_t *
bucket(const WsSampler *sampler, uint32_t hash)
{
	/* sampled hashes begin with zeros */
	return &heads(sampler)[(hash * UINT32_C(0x85EBCA6B)) >> 7 & (sampler->buckets - 1)];
}

static uint32_t
buckets_for(uint32_t capacity)
{
	uint32_t	n = 1;

	while (n < capacity)
		n *= 2;
	return n;
}

size_t
ws_sampler_size(uint32_t capacity)
{
	return offsetof(WsSampler, samples) + capacity * sizeof(WsSample) +
		buckets_for(capacity) * sizeof(uint32_t);
}

void
ws_sampler_init(WsSampler *sampler, uint32_t capacity, uint32_t log2m,
				uint32_t shift, uint32_t tick)
{
	memset(sampler, 0, ws_sampler_size(capacity));
	sampler->capacity = capacity;
	sampler->buckets = buckets_for(capacity);
	sampler->log2m = log2m;
	sampler->shift = shift;
	sampler->lasting = shift;
	sampler->brief = BRIEF_TICKS;
	for (int i = 0; i < WS_STRATA; i++)
		sampler->admitted[i] = sampler->kept[i] = tick;
	for (uint32_t i = 0; i < capacity; i++)
		sampler->samples[i].next = i + 1 < capacity ? i + 1 : WS_NO_SAMPLE;
	for (uint32_t i = 0; i < sampler->buckets; i++)
		heads(sampler)[i] = WS_NO_SAMPLE;
}

static bool
same_page(const WsPageId *a, const WsPageId *b)
{
	return a->block == b->block && a->relation == b->relation && a->fork == b->fork &&
		a->database == b->database && a->tablespace == b->tablespace;
}

uint32_t
ws_sampler_find(const WsSampler *sampler, const WsPageId *page, uint32_t hash)
{
	uint32_t	entry = *bucket(sampler, hash);

	while (entry != WS_NO_SAMPLE &&
		   !(sampler->samples[entry].hash == hash &&
			 same_page(&sampler->samples[entry].page, page)))
		entry = sampler->samples[entry].next;
	return entry;
}

uint32_t
ws_sampler_enter(WsSampler *sampler, const WsPageId *page, uint32_t hash, uint32_t tick)
{
	uint32_t	entry = sampler->free;
	WsSample   *sample;
	uint32_t   *head;

	if (sampler->count == sampler->capacity ||
		ws_stratum(hash, sampler->log2m) < sampler->shift)
		return WS_NO_SAMPLE;

	sample = &sampler->samples[entry];
	sampler->free = sample->next;
	sampler->count++;

	head = bucket(sampler, hash);
	sample->page = *page;
	sample->hash = hash;
	sample->touched = tick;
	sample->last = 0;
	sample->use = 0;
	sample->before = 0;
	sample->resident = 0;
	sample->next = *head;
	*head = entry;
	return entry;
}

void
ws_sampler_touch(WsSampler *sampler, uint32_t entry, uint32_t tick, bool client)
{
	WsSample   *sample = &sampler->samples[entry];

	/* events of different processes may be a little out of order */
	if (tick > sample->touched)
		sample->touched = tick;
	if (!client)
		return;
	if (sample->use == 0 || tick >= sample->use + WS_USE_TICKS)
	{
		sample->before = sample->last;
		sample->use = tick;
	}
	if (tick > sample->last)
		sample->last = tick;
}

void
ws_sampler_forget(WsSampler *sampler, uint32_t entry)
{
	WsSample   *sample = &sampler->samples[entry];
	uint32_t   *head = bucket(sampler, sample->hash);
	uint32_t	previous = *head;

	if (previous == entry)
		*head = sample->next;
	else
	{
		while (sampler->samples[previous].next != entry)
			previous = sampler->samples[previous].next;
		sampler->samples[previous].next = sample->next;
	}
	memset(sample, 0, sizeof(*sample));
	sample->next = sampler->free;
	sampler->free = entry;
	sampler->count--;
}

static void
forget_and_tell(WsSampler *sampler, uint32_t entry, WsForgotten told, void *arg)
{
	ws_sampler_forget(sampler, entry);
	if (told)
		told(arg, entry);
}

static uint32_t
stratum_of(const WsSampler *sampler, uint32_t entry)
{
	return ws_stratum(sampler->samples[entry].hash, sampler->log2m);
}

/*
 * Was the page in this entry, if any, last touched more than so many ticks
 * ago?
 */
static bool
idle_for(const WsSampler *sampler, uint32_t entry, uint32_t tick, uint32_t ticks)
{
	uint32_t	touched = sampler->samples[entry].touched;

	return touched != 0 && touched < tick && tick - touched > ticks;
}

uint32_t
ws_sampler_expire(WsSampler *sampler, uint32_t tick, WsForgotten told, void *arg)
{
	uint32_t	before = sampler->count;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (idle_for(sampler, i, tick, sampler->brief) &&
			(stratum_of(sampler, i) < sampler->lasting || idle_for(sampler, i, tick, LONG_TICKS)))
			forget_and_tell(sampler, i, told, arg);
	return before - sampler->count;
}

uint32_t
ws_sampler_forget_before(WsSampler *sampler, uint32_t floor, uint32_t tick,
						 WsForgotten told, void *arg)
{
	uint32_t	before = sampler->count;
	double		room = FILLED_LOW * sampler->capacity;
	uint32_t	used = 0;

	if (sampler->count < room || tick < floor ||
		tick - floor < FALL_SECONDS * WS_TICKS_PER_SECOND)
		return 0;
	for (uint32_t i = 0; i < sampler->capacity; i++)
		used += sampler->samples[i].touched >= floor;
	if (used >= room)
		return 0;
	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		if (sample->touched != 0 && sample->touched < floor && !sample->resident)
			forget_and_tell(sampler, i, told, arg);
	}
	return before - sampler->count;
}

void
ws_sampler_set_brief(WsSampler *sampler, uint32_t ticks, uint32_t tick)
{
	uint32_t	start = tick > sampler->brief ? tick - sampler->brief : 0;

	/* of those that have not lasted for longer, pages from before have gone */
	for (uint32_t i = 0; i < WS_STRATA && ticks > sampler->brief; i++)
	{
		uint32_t	since = i < sampler->lasting ? start : sampler->kept[i];

		if (sampler->admitted[i] < since)
			sampler->admitted[i] = since;
	}
	sampler->brief = ticks < LONG_TICKS ? ticks : LONG_TICKS;
}

bool
ws_sampler_make_room(WsSampler *sampler, uint32_t tick, WsForgotten told, void *arg)
{
	uint32_t	goal = sampler->capacity / ROOM;
	uint32_t	freed = ws_sampler_expire(sampler, tick, told, arg);
	uint32_t	most = sampler->shift + LASTING_MOST;
	uint32_t	old = 0;

	if (most >= WS_STRATA)
		most = WS_STRATA - 1;
	for (uint32_t i = 0; i < sampler->capacity; i++)
		old += idle_for(sampler, i, tick, sampler->brief) && stratum_of(sampler, i) < most;
	if (freed + old < goal)
		return false;

	/* if all of them were kept for the brief time only that would be enough */
	while (freed < goal)
	{
		sampler->lasting++;
		freed += ws_sampler_expire(sampler, tick, told, arg);
	}
	return true;
}

/*
 * One stratum more lasts, from which so far only the recent were kept.
 */
static void
last_longer(WsSampler *sampler, uint32_t tick)
{
	uint32_t	stratum = --sampler->lasting;

	sampler->kept[stratum] = tick > sampler->brief ? tick - sampler->brief : 0;
	if (sampler->kept[stratum] < sampler->admitted[stratum])
		sampler->kept[stratum] = sampler->admitted[stratum];
}

bool
ws_sampler_relax(WsSampler *sampler, uint32_t tick)
{
	if (sampler->lasting == sampler->shift ||
		sampler->count >= FILLED_LOW * sampler->capacity)
		return false;
	last_longer(sampler, tick);
	return true;
}

void
ws_sampler_set_shift(WsSampler *sampler, uint32_t shift, uint32_t tick,
					 WsForgotten told, void *arg)
{
	for (uint32_t i = shift; i < sampler->shift; i++)
		sampler->admitted[i] = tick;
	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 && stratum_of(sampler, i) < shift)
			forget_and_tell(sampler, i, told, arg);
	if (shift < sampler->shift)
		last_longer(sampler, tick);
	sampler->shift = shift;
	if (sampler->lasting < shift)
		sampler->lasting = shift;
}

uint32_t
ws_sampler_mature_shift(const WsSampler *sampler, uint32_t now, uint32_t ticks,
						uint32_t floor)
{
	uint32_t	start = now > ticks && now - ticks > floor ? now - ticks : floor;
	bool		brief = now < start || now - start <= sampler->brief;
	uint32_t	mature = WS_STRATA;

	/* a higher stratum was never admitted, or has lasted, after a lower one */
	while (mature > sampler->shift && sampler->admitted[mature - 1] <= start &&
		   (brief || (mature > sampler->lasting && sampler->kept[mature - 1] <= start)))
		mature--;
	if (mature < WS_STRATA)
		return mature;
	return brief ? sampler->shift : sampler->lasting;
}

void
ws_sample_load_follow(WsSampleLoad *load, double seconds, double busy, double events,
					  double lookups)
{
	double		follow;

	load->settled += seconds;
	follow = fmin(seconds / fmin(load->settled, LOAD_SECONDS), 1);
	load->busy += follow * (busy / seconds - load->busy);
	load->events += follow * (events / seconds - load->events);
	load->lookups += follow * (lookups / seconds - load->lookups);
	load->debt = fmax(load->debt + busy - BUSY_LIMIT * seconds, 0);
}

/* So many lookups that sampled pages would be felt? */
static bool
felt(uint32_t shift, double lookups)
{
	return shift < FREE_SHIFT && ldexp(lookups, -(int) shift) > FREE_LOOKS;
}

uint32_t
ws_sampler_next_shift(const WsSampler *sampler, const WsSampleLoad *load)
{
	uint32_t	shift = sampler->shift;

	if (load->settled < RISE_SECONDS)
		return shift;
	if (shift + 1 < WS_STRATA &&
		(sampler->count == sampler->capacity ||
		 (load->debt > DEBT_LIMIT && load->events > FEW_EVENTS) ||
		 felt(shift, load->lookups)))
		return shift + 1;

	/* each step down doubles everything; let there be room for as much again */
	for (double factor = 1; shift > 0 && load->settled >= FALL_SECONDS; factor *= 2)
	{
		if (sampler->count * factor >= FILLED_LOW * sampler->capacity ||
			(load->busy * 4 * factor > BUSY_LIMIT && load->events * 4 * factor > FEW_EVENTS) ||
			felt(shift - 1, load->lookups * 4 * factor))
			break;
		shift--;
	}
	return shift;
}

uint32_t
ws_sampler_flood_steps(double events, double seconds, uint32_t places)
{
	double		limit = FLOOD_PART * places * fmax(FLOOD_TURNS * seconds, 1);
	uint32_t	steps = 0;

	while (steps < FLOOD_STEPS && ldexp(events, -(int) steps) > limit)
		steps++;
	return steps;
}

/* what qsort() compares entries by */
static const WsSample *sorted;

static int
younger_first(const void *a, const void *b)
{
	uint32_t	x = sorted[*(const uint32_t *) a].touched;
	uint32_t	y = sorted[*(const uint32_t *) b].touched;

	return (x < y) - (x > y);
}

uint32_t
ws_sampler_by_age(const WsSampler *sampler, uint32_t shift, uint32_t *entries)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 &&
			stratum_of(sampler, i) >= shift)
			entries[n++] = i;
	sorted = sampler->samples;
	qsort(entries, n, sizeof(*entries), younger_first);
	return n;
}

uint32_t
ws_sampler_resident(const WsSampler *sampler, uint32_t shift)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		n += sampler->samples[i].resident && stratum_of(sampler, i) >= shift;
	return n;
}

static bool
within(uint32_t tick, uint32_t now, uint32_t ticks, uint32_t floor)
{
	return tick >= floor && tick != 0 && (tick > now || now - tick < ticks);
}

uint32_t
ws_sampler_select(const WsSampler *sampler, uint32_t now, uint32_t ticks,
				  uint32_t floor, uint32_t shift, WsSample *out)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		if (within(sample->last, now, ticks, floor) && stratum_of(sampler, i) >= shift)
			out[n++] = *sample;
	}
	return n;
}

uint32_t
ws_sampler_count(const WsSampler *sampler, uint32_t now, uint32_t ticks,
				 uint32_t floor, uint32_t shift)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		n += within(sampler->samples[i].last, now, ticks, floor) &&
			stratum_of(sampler, i) >= shift;
	return n;
}

bool
ws_sample_reused(const WsSample *sample, uint32_t now, uint32_t ticks, uint32_t floor)
{
	return within(sample->before, now, ticks, floor);
}

double
ws_sample_error(double part, double all, double variance, uint32_t shift)
{
	double		share = all > 0 ? fmin(part / all, 1) : 0;
	double		rate = ldexp(1, -(int) shift);

	return sqrt(all * share * (1 - share) * (1 - rate) / rate + share * share * variance);
}

const char *
ws_sampler_check(const WsSampler *sampler)
{
	uint32_t	used = 0;
	uint32_t	nfree = 0;

	if (sampler->buckets != buckets_for(sampler->capacity))
		return "number of buckets does not belong to the capacity";
	if (sampler->shift >= WS_STRATA)
		return "shift is out of range";
	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		if (sample->touched == 0)
			continue;
		used++;
		if (ws_stratum(sample->hash, sampler->log2m) < sampler->shift)
			return "a page is of a stratum that is not sampled";
		if (ws_sampler_find(sampler, &sample->page, sample->hash) != i)
			return "a page is not found, or twice there";
		if (sample->before > sample->use || sample->use > sample->last ||
			sample->last > sample->touched)
			return "the uses of a page are out of order";
	}
	for (uint32_t i = sampler->free; i != WS_NO_SAMPLE && nfree <= sampler->capacity;
		 i = sampler->samples[i].next)
		nfree++;
	if (used != sampler->count || used + nfree != sampler->capacity)
		return "pages and free entries do not add up";
	if (sampler->lasting < sampler->shift || sampler->lasting >= WS_STRATA)
		return "strata last that are not sampled";
	for (uint32_t i = sampler->shift + 1; i < WS_STRATA; i++)
		if (sampler->admitted[i] > sampler->admitted[i - 1])
			return "a stratum was admitted after a lower one";
	for (uint32_t i = sampler->lasting + 1; i < WS_STRATA; i++)
		if (sampler->kept[i] > sampler->kept[i - 1])
			return "a stratum has lasted for less than a lower one";
	return NULL;
}
