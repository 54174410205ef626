/*
 * attribution_t.c
 *		Tests of the table of pages and origins: against a model, when it is
 *		full, when origins are merged, and its counts of reads.
 */
#include "tap.h"
#include "attribution.h"
#include "sampler.h"
#include "sketch.h"
#include "traces.h"
#include "yardstick.h"

#define LOG2M		14
#define BEGIN		1000		/* tick */
#define MINUTE		(60 * WS_TICKS_PER_SECOND)

static WsAttribution *
new_table(uint32_t capacity)
{
	WsAttribution *a = aligned_memory(ws_attribution_size(capacity));

	ws_attribution_init(a, capacity, LOG2M, 0, BEGIN);
	return a;
}

/* Nothing is in two buckets or none, and the free ones are the others. */
static bool
sound(const WsAttribution *a)
{
	const uint16_t *heads = (const uint16_t *) &a->pairs[a->capacity];
	uint32_t	found = 0;
	uint32_t	empty = 0;

	for (uint32_t i = 0; i < a->buckets; i++)
		for (uint32_t entry = heads[i]; entry != 0xFFFF; entry = a->pairs[entry].next)
		{
			if (a->pairs[entry].last == 0 || ws_hash_bucket(a->pairs[entry].hash, a->buckets) != i ||
				ws_hash_stratum(a->pairs[entry].hash, a->log2m) < a->shift || found++ > a->count)
				return false;
		}
	for (uint32_t entry = a->free; entry != 0xFFFF; entry = a->pairs[entry].next)
		if (a->pairs[entry].last != 0 || empty++ > a->capacity)
			return false;
	return found == a->count && empty == a->capacity - a->count;
}

/*
 * A model in plain arrays: of each page and origin the last touch.
 */
#define PAGES		200
#define ORIGINS		12
#define GROUPS		5

typedef struct Model
{
	uint32_t	last[PAGES][ORIGINS];
} Model;

static uint32_t
model_divide(const Model *m, uint32_t since, const uint32_t *group, WsGroupPages *pages)
{
	uint32_t	distinct = 0;

	memset(pages, 0, GROUPS * sizeof(*pages));
	for (int page = 0; page < PAGES; page++)
	{
		int			users = 0;
		int			user = 0;

		for (uint32_t g = 0; g < GROUPS; g++)
		{
			uint32_t	last = 0;

			for (int o = 0; o < ORIGINS; o++)
			{
				uint32_t	t = m->last[page][o];

				if (group[o] != g || t == 0 || t < since)
					continue;
				last = t > last ? t : last;
			}
			if (last == 0)
				continue;
			users++;
			user = (int) g;
			pages[g].pages++;
		}
		distinct += users > 0;
		if (users == 1)
			pages[user].exclusive++;
	}
	return distinct;
}

static void
test_model(void)
{
	enum
	{
		STEPS = 20000, CAPACITY = PAGES * ORIGINS
	};
	WsAttribution *a = new_table(CAPACITY);
	static Model m;
	static WsPageUse copies[CAPACITY];
	uint32_t	hashes[PAGES];
	uint32_t	group[WS_ORIGINS] = {0};
	uint32_t	tick = BEGIN;
	uint64_t	seed = seeded(3);
	long		wrong = 0;
	long		exclusive = 0;

	for (int i = 0; i < PAGES; i++)
		hashes[i] = page_hash(1, (uint32_t) i);
	for (int i = 0; i < ORIGINS; i++)
		group[i] = (uint32_t) i % GROUPS;
	for (int step = 0; step < STEPS; step++)
	{
		uint32_t	page = random_below(&seed, PAGES);
		uint32_t	origin = random_below(&seed, 1 + random_below(&seed, ORIGINS));
		WsGroupPages want[GROUPS];
		WsGroupPages got[GROUPS];
		uint32_t	ticks = 1 + random_below(&seed, 600);

		/* pages that are used alone, or by few */
		if (page % 4 == 0)
			origin = page % ORIGINS;
		tick += random_below(&seed, 2);
		ws_attribution_touch(a, hashes[page], origin, tick);
		m.last[page][origin] = tick;
		if (step % 10)
			continue;
		wrong += ws_attribution_divide(copies, ws_attribution_select(a, tick, ticks, 0, 0, copies),
									   group, got, GROUPS) !=
			model_divide(&m, tick - ticks + 1, group, want);
		wrong += memcmp(got, want, sizeof(got)) != 0;
		for (int g = 0; g < GROUPS; g++)
			exclusive += got[g].exclusive;
	}
	ok(wrong == 0 && exclusive > 1000 && sound(a),
	   "pages and exclusive ones of groups are those of a model");
	ws_attribution_touch(a, hashes[0], 0, tick - 100);
	ok(sound(a) && ws_attribution_select(a, tick, 1, tick + 1, 0, copies) == 0,
	   "an event that is late changes nothing, and nothing before the floor counts");
	free(a);
}

/* Pages of these strata whose use is in the table. */
static bool
has_all(const WsAttribution *a, uint32_t relation, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	hash = page_hash(relation, i);
		uint32_t	entry = ((const uint16_t *) &a->pairs[a->capacity])[ws_hash_bucket(hash, a->buckets)];

		while (entry != 0xFFFF && a->pairs[entry].hash != hash)
			entry = a->pairs[entry].next;
		if ((entry != 0xFFFF) != (ws_hash_stratum(hash, LOG2M) >= a->shift))
			return false;
	}
	return true;
}

static void
test_full(void)
{
	WsAttribution *a = new_table(1024);
	uint32_t	later = BEGIN + 20 * MINUTE;
	uint32_t	latest;

	/* old pages leave first */
	for (uint32_t i = 0; i < 800; i++)
		ws_attribution_touch(a, page_hash(1, i), 1, BEGIN);
	for (uint32_t i = 0; i < 800; i++)
		ws_attribution_touch(a, page_hash(2, i), 2, later);
	ok(a->shift == 0 && a->kept < WS_ATTRIBUTION_SECONDS * WS_TICKS_PER_SECOND && a->count == 800 &&
	   has_all(a, 2, 800) && sound(a), "a full table keeps pages for a shorter time");
	is_int(ws_attribution_known(a, later, 30 * MINUTE, 0), later - a->since + 1, "and knows how much shorter");
	is_int(ws_attribution_known(a, later, 30 * MINUTE, later - 10), 30 * MINUTE, "which does not matter after a reset");

	for (uint32_t i = 0; i < 10000; i++)
		ws_attribution_touch(a, page_hash(3, i), i % 7, later + i / 100);
	ok(a->shift >= 3 && a->shift <= 5 && a->count <= 1024 && a->count > 200 && has_all(a, 3, 10000) && sound(a),
	   "and then has one page in %u of the recent ones", 1 << a->shift);

	/* as these expire, more pages are sampled, and none that is not in the sample */
	latest = later + 100;
	for (int i = 0; i < 20 && a->shift > 2; i++)
		ws_attribution_care(a, 2, latest += 10 * MINUTE);
	ok(a->shift == 2 && a->count == 0 && sound(a), "when it is empty, it takes all that are sampled");
	ok(ws_attribution_mature_shift(a, latest, MINUTE, 0) > 2 &&
	   ws_attribution_mature_shift(a, latest + 2 * MINUTE, MINUTE, 0) == 2,
	   "of a stratum that was admitted lately nothing is known of the time before");
	ws_attribution_raise(a, 6);
	ws_attribution_raise(a, 3);
	is_int(a->shift, 6, "pages that are not sampled any more have no pairs");
	free(a);
}

static void
test_merge(void)
{
	WsAttribution *a = new_table(4096);
	WsPageUse  *copies = aligned_memory(4096 * sizeof(WsPageUse));
	bool		merged[WS_ORIGINS] = {false};
	static uint32_t counts[WS_ORIGINS];
	uint32_t	group[WS_ORIGINS] = {0};
	WsGroupPages pages[4];
	uint32_t	tick = BEGIN + 100;

	/* origin 1 uses pages 0 to 99, 2 50 to 149, 3 all, later 1 again some */
	for (uint32_t i = 0; i < 200; i++)
	{
		if (i < 100)
			ws_attribution_touch(a, page_hash(1, i), 1, tick);
		if (i >= 50 && i < 150)
			ws_attribution_touch(a, page_hash(1, i), 2, tick);
		ws_attribution_touch(a, page_hash(1, i), 3, tick);
		if (i < 10)
			ws_attribution_touch(a, page_hash(1, i), 1, tick + WS_USE_TICKS);
	}
	ws_attribution_add_reads(a, 1, 10);
	ws_attribution_add_reads(a, 2, 20);
	ws_attribution_count(a, 0, counts);
	ok(counts[0] == 0 && counts[1] == 100 && counts[2] == 100 && counts[3] == 200, "origins have their pages");
	ws_attribution_count(a, tick + 1, counts);
	ok(counts[0] == 0 && counts[1] == 10 && counts[2] == 0 && counts[3] == 0, "and those that were used since");
	merged[3] = true;
	ok(ws_attribution_last(a, page_hash(1, 5), merged) == tick + WS_USE_TICKS &&
	   ws_attribution_last(a, page_hash(1, 120), merged) == tick, "when others used a page");
	ok(ws_attribution_last(a, page_hash(1, 170), merged) == 0, "that nobody else did");
	ok(ws_attribution_last(a, page_hash(1, 300), merged) == UINT32_MAX, "that nothing is known about the page");
	merged[3] = false;
	merged[1] = merged[2] = true;
	ws_attribution_merge(a, merged);
	ws_attribution_count(a, 0, counts);
	ok(counts[0] == 150 && counts[1] == 0 && counts[2] == 0 && counts[3] == 200 && sound(a),
	   "two merge: a page that both used is one");
	for (uint32_t i = 0; i < 4; i++)
		group[i] = i;
	is_int(ws_attribution_divide(copies, ws_attribution_select(a, tick + WS_USE_TICKS, 1000, 0, 0, copies),
								 group, pages, 4), 200, "all pages are there");
	ok(pages[0].pages == 150 && pages[0].exclusive == 0 && pages[3].exclusive == 50, "and whose they are");
	/* origins 4 and 5 use a page once each, and 5 is merged later */
	for (uint32_t origin = 4; origin <= 5; origin++)
	{
		ws_attribution_touch(a, page_hash(1, 400), origin, tick + (origin - 3) * WS_USE_TICKS);
		merged[origin] = true;
		ws_attribution_merge(a, merged);
	}
	is_int(ws_attribution_divide(copies, ws_attribution_select(a, tick + 2 * WS_USE_TICKS, 1000, 0, 0, copies),
								 group, pages, 4), 201, "a page more");
	ok(pages[0].pages == 151 && pages[0].exclusive == 1, "that others used, whoever they were");
	ok(fabs(ws_attribution_reads(a, 0, BEGIN + MINUTE) - 30 / 60.0) < 1e-6 &&
	   ws_attribution_reads(a, 1, BEGIN + MINUTE) == 0, "reads merge as well");
	free(copies);
	free(a);
}

static void
test_reads(void)
{
	WsAttribution *a = new_table(64);
	long		wrong = 0;

	for (uint32_t tick = BEGIN; tick < BEGIN + 20 * MINUTE; tick += WS_TICKS_PER_SECOND)
	{
		ws_attribution_follow_reads(a, tick);
		ws_attribution_add_reads(a, 5, 100);
		/* up to a second's reads more or less, in ever more seconds */
		if (tick > BEGIN)
			wrong += fabs(ws_attribution_reads(a, 5, tick) - 100) >
				101.0 / fmin((tick - BEGIN) / (double) WS_TICKS_PER_SECOND, 300);
		/* nor at the begin of a minute that is not counted yet */
		wrong += fabs(ws_attribution_reads(a, 5, tick + WS_TICKS_PER_SECOND) - 100) > 0.01;
	}
	is_int(wrong, 0, "reads a second, from the first second on");
	ws_attribution_follow_reads(a, BEGIN + 23 * MINUTE);
	ok(fabs(ws_attribution_reads(a, 5, BEGIN + 23 * MINUTE) - 100 * 2.0 / 5) < 1, "they fall in a pause");
	ws_attribution_follow_reads(a, BEGIN + 1000 * MINUTE);
	ok(ws_attribution_reads(a, 5, BEGIN + 1000 * MINUTE) == 0, "and are 0 after a long one");
	ws_attribution_add_reads(a, 5, 60);
	for (uint32_t i = 0; i < 10; i++)
		ws_attribution_touch(a, page_hash(1, i), 5, BEGIN + 1000 * MINUTE + i);
	ws_attribution_reset(a, BEGIN + 1000 * MINUTE + 4, BEGIN + 1001 * MINUTE);
	ok(ws_attribution_reads(a, 5, BEGIN + 1001 * MINUTE) == 0, "and after a reset");
	ok(a->count == 6 && sound(a), "which drops pages that were used before");
	free(a);
}

int
main(void)
{
	plan(25);
	test_model();
	test_full();
	test_merge();
	test_reads();
	return done();
}
