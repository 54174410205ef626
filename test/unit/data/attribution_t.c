/*
 * attribution_t.c
 *		Tests of the table of pages and origins: whose pages they are, when it is
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

/* Uses of pages, by groups of origins, in windows that begin at some of them. */
static void
test_divide(void)
{
	enum
	{
		GROUPS = 3, PAGES = 100
	};
	static const struct
	{
		uint32_t	page;		/* and each tenth behind it */
		uint32_t	origin;
		uint32_t	tick;
	}			uses[] = {
		{0, 1, 1100}, {0, 2, 1200}, {1, 1, 1100}, {1, 3, 1200}, {1, 2, 1200}, {2, 2, 1150}, {2, 4, 1150},
		{3, 1, 1300}, {3, 2, 1300}, {3, 4, 1300}, {4, 4, 1250}, {5, 0, 1100}, {5, 4, 1101}, {3, 1, 1299},
	};
	/* origins 0 and 1 are of one group, 2 and 3 of the next */
	static const uint32_t group[WS_ORIGINS] = {0, 0, 1, 1, 2};
	static const struct
	{
		uint32_t	ticks;
		uint32_t	floor;
		uint32_t	distinct;
		WsGroupPages pages[GROUPS];
	}			table[] = {
		{1000, 0, 6, {{4, 0}, {4, 0}, {4, 1}}},
		{201, 0, 6, {{4, 0}, {4, 0}, {4, 1}}},
		{200, 0, 6, {{1, 0}, {4, 2}, {4, 2}}},
		{199, 0, 5, {{1, 0}, {4, 2}, {3, 1}}},
		{150, 0, 4, {{1, 0}, {3, 2}, {2, 1}}},
		{1000, 1200, 4, {{1, 0}, {3, 2}, {2, 1}}},
		{1, 0, 1, {{1, 0}, {1, 0}, {1, 0}}},
		{1, 1301, 0, {{0}}},
	};
	WsAttribution *a = new_table(200);
	WsPageUse	copies[200];
	long		wrong = 0;

	for (size_t u = 0; u < sizeof(uses) / sizeof(uses[0]); u++)
		for (uint32_t page = uses[u].page; page < PAGES; page += 10)
			ws_attribution_touch(a, page_hash(1, page), uses[u].origin, uses[u].tick);
	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		uint32_t	n = ws_attribution_select(a, 1300, table[t].ticks, table[t].floor, 0, copies);
		WsGroupPages pages[GROUPS];

		wrong += ws_attribution_divide(copies, n, group, pages, GROUPS) != 10 * table[t].distinct;
		for (int g = 0; g < GROUPS; g++)
			wrong += pages[g].pages != 10 * table[t].pages[g].pages || pages[g].exclusive != 10 * table[t].pages[g].exclusive;
	}
	ok(wrong == 0 && a->count == 130 && sound(a), "pages and exclusive ones of groups, and what is late changes nothing");
	for (uint32_t shift = 0; shift < 8; shift++)
	{
		uint32_t	n = ws_attribution_select(a, 1300, 50, 0, shift, copies);

		/* by three origins each */
		for (uint32_t page = 3; page < PAGES; page += 10)
			n -= naive_stratum(page_hash(1, page), LOG2M) < shift ? 0 : 3;
		wrong += n != 0;
	}
	is_int(wrong, 0, "those of some strata");
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
	test_divide();
	test_full();
	test_merge();
	test_reads();
	return done();
}
