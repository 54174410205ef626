/*
 * statefile_t.c
 *		Tests of what is kept over a restart: that it comes back as old as it is,
 *		that what is not ours is not believed, and that nothing in it can do harm.
 *
 * The last is tried with images that were damaged at random, most of them with
 * a checksum that is right again: see fuzz().  What is still believed has to be
 * in range, by a list of ranges of this test's own, and sound when taken over.  MUTANTS in the environment says
 * how many; under -fsanitize=address,undefined (make sanitize) that is where
 * it counts.
 *
 * Seeds are fixed, so a run either always passes or always fails.
 */
#include "tap.h"
#include "curve.h"
#include "sampler_check.h"
#include "statefile.h"
#include "yardstick.h"

#include <math.h>
#include <stdlib.h>

#define M			1024
#define CAPACITY	2048
#define TICK		(WS_TICK_ORIGIN + 100000)
#define NOW			INT64_C(1800000000000)
#define MINUTES(n)	((uint32_t) (n) * 60 * WS_TICKS_PER_SECOND)

static const WsStateFileOwner us = {42, 4711, 8192};

typedef struct World
{
	WsHistory	history;
	WsSketch   *sketches[WS_STATEFILE_SKETCHES];
	WsSampler  *sampler;
} World;

typedef struct Buffer
{
	char	   *bytes;
	size_t		size;
	size_t		room;
	size_t		refuse_at;		/* no bytes beyond these */
	size_t		largest;		/* piece */
} Buffer;

/*
 * Any will do that sees each byte; this one is fast, for the many images
 * below.
 */
static uint32_t
checksum(uint32_t so_far, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;

	/* the pieces of an image but the last are of whole words */
	for (; size > 0; p += 8, size -= size < 8 ? size : 8)
	{
		uint64_t	word = 0;

		memcpy(&word, p, size < 8 ? size : 8);
		so_far = (uint32_t) (((so_far ^ word) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
	}
	return so_far;
}

static bool
put(void *arg, const void *bytes, size_t size)
{
	Buffer	   *b = arg;

	if (b->size + size > b->refuse_at)
		return false;
	if (b->size + size > b->room)
	{
		b->room = (b->size + size) * 2;
		b->bytes = realloc(b->bytes, b->room);
		if (!b->bytes)
			abort();
	}
	memcpy(b->bytes + b->size, bytes, size);
	b->size += size;
	if (size > b->largest)
		b->largest = size;
	return true;
}

static WsSampler *
new_sampler(uint32_t capacity, uint32_t shift, uint32_t tick)
{
	WsSampler  *sampler = malloc(ws_sampler_size(capacity));

	if (!sampler)
		abort();
	ws_sampler_init(sampler, capacity, 10, shift, tick);
	return sampler;
}

static World
new_world(uint32_t registers, uint32_t tick, uint32_t capacity)
{
	World		w;

	ws_history_init(&w.history);
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		w.sketches[i] = new_sketch(registers, tick);
	w.sampler = capacity > 0 ? new_sampler(capacity, 0, tick) : NULL;
	return w;
}

static void
end_world(World *w)
{
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		free(w->sketches[i]);
	free(w->sampler);
}

static WsPageId
page_of(uint32_t n)
{
	return (WsPageId) {1663, 5, 16384 + n % 7, n % 11 == 0, n};
}

/*
 * An hour's traffic up to TICK, of so many pages, and a history.
 */
static World
busy_world(int pages, uint64_t seed)
{
	World		w = new_world(M, TICK - MINUTES(90), CAPACITY);
	WsHistoryRow row = {0};

	for (int i = 0; i < pages; i++)
	{
		uint32_t	tick = TICK - MINUTES(60) + (uint32_t) ((uint64_t) MINUTES(60) * i / pages);
		uint32_t	n = random_below(&seed, 5000);
		uint32_t	hash = (uint32_t) (mix64(n + 1) >> 32);
		WsPageId	page = page_of(n);
		uint32_t	entry = ws_sampler_find(w.sampler, &page, hash);
		int			kind = n % 5 == 0;

		ws_sketch_advance(w.sketches[0], tick);
		ws_sketch_advance(w.sketches[1], tick);
		ws_sketch_touch(w.sketches[kind], hash);
		if (entry == WS_NO_SAMPLE)
		{
			if (w.sampler->count == w.sampler->capacity)
				ws_sampler_set_shift(w.sampler, w.sampler->shift + 1, tick, NULL);
			entry = ws_sampler_enter(w.sampler, &page, hash, tick);
		}
		if (entry != WS_NO_SAMPLE)
			ws_sampler_touch(w.sampler, entry, tick, !kind);
	}
	ws_sketch_advance(w.sketches[0], TICK);
	ws_sketch_advance(w.sketches[1], TICK);
	row.working_set = 100;
	row.recommended = row.plateau_end = row.live = 200;
	row.lookups = 1000;
	row.hits = 900;
	for (int i = 0; i < 60; i++)
		ws_history_add(&w.history, NOW / 1000 - 60 * i, &row);
	return w;
}

static Buffer
image_of(const World *w, const WsStateFileOwner *owner, int64_t now)
{
	WsStateFileParts parts = {(WsHistory *) &w->history, {w->sketches[0], w->sketches[1]}, w->sampler};
	Buffer		b = {.refuse_at = SIZE_MAX};

	if (!ws_statefile_write(&parts, owner, now, checksum, put, &b))
		abort();
	return b;
}

static const char *
distrust(const Buffer *b, const WsStateFileOwner *owner, int64_t now)
{
	const char *why = ws_statefile_distrust(b->bytes, b->size, owner, checksum);

	return why ? why : ws_statefile_distrust_sketches(b->bytes, M, now);
}

/* what a new server makes of it, whose clock stands at the tick */
static World
restored(const Buffer *b, uint32_t tick, uint32_t capacity, int64_t now)
{
	World		w = new_world(M, tick, capacity);
	uint32_t	floor;

	ws_statefile_take_history(b->bytes, &w.history, now);
	if (ws_statefile_distrust_sketches(b->bytes, M, now) != NULL)
		return w;
	floor = ws_statefile_take_sketches(b->bytes, w.sketches, now);
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		ws_sketch_lower_floor(w.sketches[i], floor);
	if (w.sampler)
		(void) ws_statefile_take_sample(b->bytes, w.sampler, tick, now);
	return w;
}

static const char *
unsound(const World *w)
{
	const char *why = ws_history_check(&w->history);

	for (int i = 0; i < WS_STATEFILE_SKETCHES && !why; i++)
		why = ws_sketch_check(w->sketches[i]);
	if (!why && w->sampler)
		why = sampler_check(w->sampler);
	return why;
}

/* ---------------------------------------------------------------- there and back */

/*
 * So many ms later, by a clock that has begun anew.
 */
static void
test_ages(int64_t later, const char *what)
{
	World		w = busy_world(20000, 1);
	Buffer		b = image_of(&w, &us, NOW);
	uint32_t	tick = WS_TICK_ORIGIN + 17;
	World		r = restored(&b, tick, CAPACITY, NOW + later);
	uint32_t	passed = later > 0 ? (uint32_t) (later / WS_TICK_MS) : 0;
	long		wrong = 0;

	ok(distrust(&b, &us, NOW + later) == NULL, "%s: it is believed", what);
	ok(unsound(&r) == NULL, "%s: all is sound", what);
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		for (size_t c = 0; c < ws_sketch_ncells(w.sketches[i]); c++)
		{
			uint32_t	was = w.sketches[i]->cells[c];
			uint32_t	is = r.sketches[i]->cells[c];

			wrong += was == 0 ? is != 0 : TICK - was + passed != tick - is;
		}
	is_int(wrong, 0, "each cell is as old as it was, and what has passed");
	is_int(tick - r.sketches[0]->floor, TICK - w.sketches[0]->floor + passed, "so is the floor");

	is_int(r.sampler->count, w.sampler->count, "all pages are there");
	is_int(r.sampler->shift, w.sampler->shift, "sampled at the same rate");
	for (uint32_t i = 0; i < w.sampler->capacity; i++)
	{
		const WsSample *s = &w.sampler->samples[i];
		uint32_t	entry;
		const WsSample *t;

		if (s->touched == 0)
			continue;
		entry = ws_sampler_find(r.sampler, &s->page, s->hash);
		t = &r.sampler->samples[entry == WS_NO_SAMPLE ? 0 : entry];
		wrong += entry == WS_NO_SAMPLE || TICK - s->touched + passed != tick - t->touched ||
			(s->last == 0 ? t->last != 0 : TICK - s->last + passed != tick - t->last) ||
			(s->before == 0 ? t->before != 0 : TICK - s->before + passed != tick - t->before) ||
			t->resident != 0;
	}
	is_int(wrong, 0, "each as old as it was, and none in shared buffers");
	ok(memcmp(&r.history, &w.history, sizeof(WsHistory)) == 0,
	   "%s: the history is the same", what);
	end_world(&w);
	end_world(&r);
	free(b.bytes);
}

static void
test_merge(void)
{
	World		w = busy_world(20000, 2);
	Buffer		b = image_of(&w, &us, NOW);
	World		r = new_world(M, TICK, CAPACITY);
	uint64_t	seed = 3;
	long		wrong = 0;
	uint32_t   *before = malloc(sizeof(uint32_t) * ws_sketch_ncells(r.sketches[0]));

	if (!before)
		abort();
	/* the new server was used before it was told */
	for (int i = 0; i < 300; i++)
		ws_sketch_touch(r.sketches[0], random32(&seed));
	memcpy(before, r.sketches[0]->cells, sizeof(uint32_t) * ws_sketch_ncells(r.sketches[0]));
	(void) ws_statefile_take_sketches(b.bytes, r.sketches, NOW + 60000);
	for (size_t c = 0; c < ws_sketch_ncells(r.sketches[0]); c++)
	{
		uint32_t	old = w.sketches[0]->cells[c] == 0 ? 0 : w.sketches[0]->cells[c] - MINUTES(1);

		wrong += r.sketches[0]->cells[c] != (old > before[c] ? old : before[c]);
	}
	is_int(wrong, 0, "of the present and the past the younger stays");

	/* what was forgotten before it was saved stays so */
	ws_sketch_raise_floor(w.sketches[0], TICK - MINUTES(10));
	ws_sketch_raise_floor(w.sketches[1], TICK - MINUTES(20));
	free(b.bytes);
	b = image_of(&w, &us, NOW);
	end_world(&r);
	r = new_world(M, TICK, CAPACITY);
	is_int(ws_statefile_take_sketches(b.bytes, r.sketches, NOW), TICK - MINUTES(10),
		   "all is known from the later floor on");
	wrong = 0;
	for (size_t c = 0; c < ws_sketch_ncells(r.sketches[0]); c++)
		wrong += r.sketches[0]->cells[c] != 0 && r.sketches[0]->cells[c] < TICK - MINUTES(10);
	is_int(wrong, 0, "and nothing of before it comes back");
	free(before);
	free(b.bytes);
	end_world(&w);
	end_world(&r);
}

static void
test_limits(void)
{
	World		w = busy_world(5000, 4);
	Buffer		b = image_of(&w, &us, NOW);
	World		r = restored(&b, 1000, CAPACITY, NOW + INT64_C(100) * 86400 * 1000);
	long		wrong = 0;
	WsStateFileParts parts = {&w.history, {w.sketches[0], w.sketches[1]}, w.sampler};

	for (size_t c = 0; c < ws_sketch_ncells(r.sketches[0]); c++)
		wrong += (w.sketches[0]->cells[c] != 0) != (r.sketches[0]->cells[c] == 1);
	is_int(wrong, 0, "older than the clock can tell is of its first tick");
	ok(unsound(&r) == NULL, "and all is sound");
	end_world(&r);

	/* a smaller table */
	r = restored(&b, TICK, WS_SAMPLE_PAGES_MIN, NOW);
	ok(unsound(&r) == NULL && r.sampler->shift > w.sampler->shift &&
	   r.sampler->count <= WS_SAMPLE_PAGES_MIN / 8 * 7 && r.sampler->count > WS_SAMPLE_PAGES_MIN / 4,
	   "a smaller table samples fewer pages (%u, one in %u)", r.sampler->count, 1U << r.sampler->shift);
	end_world(&r);

	/* without a sample */
	parts.sampler = NULL;
	free(b.bytes);
	b = (Buffer) {.refuse_at = SIZE_MAX};
	ok(ws_statefile_write(&parts, &us, NOW, checksum, put, &b) && distrust(&b, &us, NOW) == NULL,
	   "an image may be without a sample");
	r = restored(&b, TICK, CAPACITY, NOW);
	ok(unsound(&r) == NULL && r.sampler->count == 0 && r.sketches[0]->cells[0] == w.sketches[0]->cells[0],
	   "then the table stays as it is, and the rest comes back");
	ok(b.largest <= 8192 && b.size <= ws_statefile_size_max(), "it is written in small pieces");

	/* what is written while others write */
	w.sketches[0]->cells[3] = TICK + 5;
	free(b.bytes);
	b = image_of(&w, &us, NOW);
	ok(distrust(&b, &us, NOW) == NULL, "a cell of after the beginning is of the beginning");

	/* no room */
	wrong = 0;
	for (size_t at = 0; at < b.size; at += 10007)
	{
		Buffer		small = {.refuse_at = at};

		parts.sampler = w.sampler;
		wrong += ws_statefile_write(&parts, &us, NOW, checksum, put, &small);
		wrong += small.size > at;
		free(small.bytes);
	}
	is_int(wrong, 0, "where there is no room, it stops and says so");
	free(b.bytes);
	end_world(&w);
	end_world(&r);
}

/*
 * An image of the history alone; and one whose sketches cannot be used.
 */
static void
test_history_alone(void)
{
	World		w = busy_world(20000, 8);
	World		r = new_world(M, TICK, CAPACITY);
	WsStateFileParts parts = {&w.history, {NULL, NULL}, NULL};
	Buffer		b = {.refuse_at = SIZE_MAX};
	int64_t		earlier = NOW - 40 * WS_STATEFILE_FUTURE_MS;

	ok(ws_statefile_write(&parts, &us, NOW, checksum, put, &b) &&
	   b.size == sizeof(WsHistory) + 84, "an image may have the history alone");
	ok(ws_statefile_distrust(b.bytes, b.size, &us, checksum) == NULL &&
	   !ws_statefile_has_sketches(b.bytes), "it is believed");
	ok(ws_statefile_distrust_sketches(b.bytes, M, NOW) != NULL, "but there is no sketch to use");
	ws_statefile_take_history(b.bytes, &r.history, NOW);
	ok(memcmp(&r.history, &w.history, sizeof(WsHistory)) == 0, "the history is the same");
	free(b.bytes);

	/* a clock that was 40 days ahead, or is behind: nothing is lost, and nothing is shown yet */
	b = image_of(&w, &us, NOW);
	ws_history_init(&r.history);
	ok(ws_statefile_distrust(b.bytes, b.size, &us, checksum) == NULL &&
	   ws_statefile_distrust_sketches(b.bytes, M, earlier) != NULL,
	   "of an image of the future only the history is believed");
	ws_statefile_take_history(b.bytes, &r.history, earlier);
	ok(memcmp(&r.history, &w.history, sizeof(WsHistory)) == 0, "and all of it is taken over");
	is_int(ws_history_known(&r.history, earlier / 1000, 86400), 0, "nothing of it is past");
	is_int(ws_history_known(&r.history, NOW / 1000, 86400), 60, "until its time has come");
	free(b.bytes);
	end_world(&w);
	end_world(&r);
}

/* ---------------------------------------------------------------- not believed */

/* offsets in the header; statefile.c asserts its size */
enum
{
	AT_MAGIC = 0, AT_FORMAT = 8, AT_PAGE_BYTES = 12, AT_SYSTEM = 16, AT_PLACE = 24, AT_SAVED = 32,
	AT_SIZE = 40, AT_RESERVED = 48, AT_TICK_MS = 52, AT_TICK = 56, AT_REGISTERS = 60, AT_FLOOR = 64,
	AT_SAMPLED = 72, AT_PAGES = 76, AT_HISTORY = 80
};

static void
sign(char *bytes, size_t size)
{
	uint32_t	sum;

	if (size < sizeof(sum))
		return;
	sum = checksum(0, bytes, size - sizeof(sum));
	memcpy(bytes + size - sizeof(sum), &sum, sizeof(sum));
}

/* with so many bytes at a place changed, and signed again if so wished */
static void
expect(const Buffer *b, size_t at, const void *bytes, size_t n, bool sign_it, const char *want, const char *name)
{
	char	   *copy = malloc(b->size);
	char		but[200];
	const char *got;

	if (!copy)
		abort();
	memcpy(copy, b->bytes, b->size);
	memcpy(copy + at, bytes, n);
	if (sign_it)
		sign(copy, b->size);
	got = ws_statefile_distrust(copy, b->size, &us, checksum);
	if (!got && (got = ws_statefile_distrust_sketches(copy, M, NOW)) != NULL)
	{
		snprintf(but, sizeof(but), "its history is believed, but %s", got);
		got = but;
	}
	is_string(got ? got : "believed", want, name);
	free(copy);
}

static void
expect32(const Buffer *b, size_t at, uint32_t value, const char *want, const char *name)
{
	expect(b, at, &value, sizeof(value), true, want, name);
}

static void
test_distrust(void)
{
	World		w = busy_world(20000, 5);
	Buffer		b = image_of(&w, &us, NOW);
	Buffer		longer = b;
	uint64_t	wide;
	uint64_t	swapped;
	size_t		cells = AT_HISTORY + sizeof(WsHistory);
	size_t		strata = cells + WS_STATEFILE_SKETCHES * ws_sketch_ncells(w.sketches[0]) * sizeof(uint32_t);
	size_t		pages = strata + 16 + 8 * WS_STRATA;
	WsStateFileOwner other = us;
	const char *why;
	static const char *future = "its history is believed, but it is from the future";
	static const char *size = "a size is out of range";
	static const char *no_page = "a page in it cannot exist";
	static const char *kept = "the time for which it keeps pages is out of range";

	ok(b.size == pages + w.sampler->count * 40 + 4, "the parts are where they are thought to be");

	why = ws_statefile_distrust(b.bytes, 0, &us, checksum);
	is_string(why, "it is empty", "an empty file");
	why = ws_statefile_distrust(b.bytes, 11, &us, checksum);
	is_string(why, "it was not written by working_set on such a machine", "a few bytes");
	why = ws_statefile_distrust(b.bytes, 50, &us, checksum);
	is_string(why, "it is too short", "half a header");
	why = ws_statefile_distrust(b.bytes, b.size - 1, &us, checksum);
	is_string(why, "it has a wrong length", "a byte too few");
	longer.bytes = calloc(1, b.size + 4);
	memcpy(longer.bytes, b.bytes, b.size);
	why = ws_statefile_distrust(longer.bytes, b.size + 4, &us, checksum);
	is_string(why, "it has a wrong length", "four too many");
	free(longer.bytes);

	memcpy(&swapped, b.bytes, 8);
	swapped = __builtin_bswap64(swapped);
	expect(&b, AT_MAGIC, &swapped, 8, true, "it was not written by working_set on such a machine", "another byte order");
	expect32(&b, AT_FORMAT, 1, "it has another format", "an older format");
	expect32(&b, AT_FORMAT, WS_STATEFILE_FORMAT + 1, "it has another format", "a newer format");
	expect32(&b, AT_REGISTERS, 1000, "its header is damaged", "an impossible number of registers");
	expect32(&b, AT_REGISTERS, 2048, "it has a wrong length", "another number of registers than there are");
	expect32(&b, AT_SAMPLED, 2, "its header is damaged", "a flag that is neither");
	expect32(&b, AT_RESERVED, 2, "its header is damaged", "another");
	expect32(&b, AT_RESERVED, 1, "believed", "of a primary or a standby, nobody asks");
	expect32(&b, AT_PAGES, UINT32_MAX, "its header is damaged", "very many pages");
	expect32(&b, AT_PAGES, w.sampler->count + 1, "it has a wrong length", "a page more than there are");
	wide = b.size + 1;
	expect(&b, AT_SIZE, &wide, 8, true, "it has a wrong length", "another length than it has");
	expect(&b, strata, "\x55", 1, false, "its checksum is wrong", "a byte changed");
	wide = us.system + 1;
	expect(&b, AT_SYSTEM, &wide, 8, true, "it belongs to another database cluster", "another cluster");
	wide = us.place + 1;
	expect(&b, AT_PLACE, &wide, 8, true, "it was saved in another directory, which this one is a copy of", "a copy");
	expect32(&b, AT_PAGE_BYTES, 16384, "its pages are of another size", "another page size");
	expect32(&b, AT_TICK_MS, 10, "its history is believed, but its clock ticks differently", "another clock");
	wide = (uint64_t) (NOW + WS_STATEFILE_FUTURE_MS + 1);
	expect(&b, AT_SAVED, &wide, 8, true, future, "the future");
	wide = (uint64_t) (NOW + WS_STATEFILE_FUTURE_MS);
	expect(&b, AT_SAVED, &wide, 8, true, "believed", "a clock that is a day behind is no future");
	wide = 0;
	expect(&b, AT_SAVED, &wide, 8, true, "believed", "1970");
	wide = UINT64_MAX;
	expect(&b, AT_SAVED, &wide, 8, true, "its header is damaged", "before 1970");
	wide = (uint64_t) WS_STATEFILE_TIME_MAX_MS;
	expect(&b, AT_SAVED, &wide, 8, true, future, "the last time that there is");
	wide++;
	expect(&b, AT_SAVED, &wide, 8, true, "its header is damaged", "one more");
	wide = (uint64_t) INT64_MAX;
	expect(&b, AT_SAVED, &wide, 8, true, "its header is damaged", "the end of time");
	expect32(&b, AT_TICK, 5, "a sketch in it begins after its end", "a present that is past");
	expect32(&b, AT_FLOOR, 0, "a sketch in it begins after its end", "a floor of zero");
	expect32(&b, AT_FLOOR + 4, TICK + 1, "a sketch in it begins after its end", "a floor ahead of the present");
	expect32(&b, cells, TICK + 1, "a cell in it is of later than the file", "a cell ahead of the present");
	expect32(&b, strata - 4, TICK + 1, "a cell in it is of later than the file", "so is the last one");
	expect32(&b, strata, WS_STRATA, "its sampling rate is out of range", "a shift too far");
	expect32(&b, strata + 4, 0, w.sampler->shift > 0 ? "its sampling rate is out of range" : "believed", "strata that last and are not sampled");
	expect32(&b, strata + 4, 99, "its sampling rate is out of range", "none that last");
	expect32(&b, strata + 8, 36001, kept, "kept for too long");
	expect32(&b, strata + 8, 36000, "believed", "kept for an hour");
	expect32(&b, strata + 8, 1, "believed", "kept for a tick");
	expect32(&b, strata + 8, 0, kept, "not kept");
	expect32(&b, strata + 16, TICK + 1, "it was sampled later than the file", "admitted ahead of the present");
	expect32(&b, strata + 16 + 4 * 31, TICK, "its strata are out of order", "a stratum admitted after a lower one");
	expect32(&b, pages + 24, 0, "a page in it was used at an impossible time", "a page never touched");
	expect32(&b, pages + 24, TICK + 1, "a page in it was used at an impossible time", "a page touched ahead of the present");
	expect32(&b, pages + 28, TICK + 1, "a page in it was used at an impossible time", "used after it was touched");
	expect32(&b, pages + 12, 0x80000000, no_page, "a fork below zero");
	expect32(&b, pages + 12, UINT32_MAX, no_page, "the one that means none");
	expect32(&b, pages + 12, WS_STATEFILE_FORKS, no_page, "a fork too many");
	expect32(&b, pages + 12, WS_STATEFILE_FORKS - 1, "believed", "the last fork");
	expect32(&b, pages + 12, 0, "believed", "the first fork");
	expect32(&b, pages, 0, no_page, "no tablespace");
	expect32(&b, pages, WS_STATEFILE_GLOBAL_TABLESPACE, no_page, "the tablespace of no database");
	expect32(&b, pages + 4, 0, "believed", "a page that all databases share");
	expect32(&b, pages + 8, 0, no_page, "no relation");
	expect32(&b, pages + 8, UINT32_MAX, "believed", "the last relation");
	expect32(&b, pages + 16, UINT32_MAX, no_page, "no block");
	expect32(&b, pages + 16, UINT32_MAX - 1, "believed", "the last block");
	expect32(&b, pages + 20, UINT32_MAX, w.sampler->shift > 0 ? "a page in it is not of the sample" : "believed", "a page that is not sampled");
	ok(w.sampler->shift > 0, "not all pages are sampled here");

	/* the row of this minute, which is in range, and its sizes */
	for (int field = 0; field < 4; field++)
	{
		size_t		at = AT_HISTORY + NOW / 60000 % 1440 * sizeof(WsHistoryRow) +
			offsetof(WsHistoryRow, working_set) + field * sizeof(double);
		double		sizes[] = {0, 0x1p40, NAN, -1, 1e300, INFINITY};

		for (int i = 0; i < 6; i++)
			expect(&b, at, &sizes[i], 8, true, i < 3 ? "believed" : size, "a size in the history");
	}

	why = ws_statefile_distrust_sketches(b.bytes, 2048, NOW);
	is_string(why, "it is of another number of registers", "another number of registers is set");
	why = ws_statefile_distrust_sketches(b.bytes, M, NOW);
	ok(why == NULL && ws_statefile_has_sketches(b.bytes), "and this one");
	other.system++;
	ok(distrust(&b, &other, NOW) != NULL, "the other cluster does not believe it");
	free(b.bytes);
	end_world(&w);
}

/* ---------------------------------------------------------------- damaged at random */

static const uint32_t interesting[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 255, 1023, 1024, 2048, 16384, 32768, 32769, 65536, 131072,
	0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, TICK - 1, TICK, TICK + 1, WS_TICK_ORIGIN
};

/*
 * The same as floating-point numbers.
 */
static const double interesting_sizes[] = {
	0, -0.0, 1, -1, 0x1p-1074, -0x1p-1074, 0x1p31, 0x1p32, 0x1p40, 0x1p40 + 1, 0x1p50, 0x1p53,
	0x1p62, 0x1p63, 0x1p64, 1e300, -1e300, INFINITY, -INFINITY, NAN
};

/*
 * Is every number of an image that is believed in its range?  What they are is
 * written here once more, from the meaning of each: statefile.c is not asked.
 */
static const char *
out_of_range(const char *bytes, size_t size)
{
	size_t		at = AT_HISTORY + sizeof(WsHistory);
	uint32_t	h[AT_HISTORY / 4];
	uint32_t	strata[4 + 2 * WS_STRATA];
	int64_t		saved;
	uint32_t	now;

	memcpy(h, bytes, sizeof(h));
	memcpy(&saved, bytes + AT_SAVED, sizeof(saved));
	now = h[AT_TICK / 4];
	if (saved < 0 || saved >= INT64_C(9224318016000000))
		return "saved at";
	if (h[AT_REGISTERS / 4] != 0 && h[AT_REGISTERS / 4] != M)
		return "registers";
	if (h[AT_FLOOR / 4] < 1 || h[AT_FLOOR / 4] > now ||
		h[AT_FLOOR / 4 + 1] < 1 || h[AT_FLOOR / 4 + 1] > now)
		return "ticks";

	for (int i = 0; i < WS_HISTORY_ENTRIES; i++)
	{
		const WsHistoryRow *row = (const WsHistoryRow *) (bytes + AT_HISTORY) + i;
		const double pages[] = {row->working_set, row->recommended, row->plateau_end, row->live};
		bool		minute = i < WS_HISTORY_MINUTES;

		if (row->number == 0)
			continue;
		if (row->number < 1 || row->number > INT64_MAX / (minute ? 60 : 900) ||
			(minute ? row->number % WS_HISTORY_MINUTES != i :
			 row->number % WS_HISTORY_QUARTERS != i - WS_HISTORY_MINUTES))
			return "number of a row";
		for (int field = 0; field < 4; field++)
			if (!isnan(pages[field]) && !(pages[field] >= 0 && pages[field] <= 0x1p40))
				return "pages of a row";
		if (row->hits > row->lookups || row->lookups > INT64_MAX)
			return "lookups of a row";
	}

	for (size_t i = 0; h[AT_REGISTERS / 4] != 0 && i < WS_STATEFILE_SKETCHES * 23 * M; i++, at += 4)
		if (*(const uint32_t *) (bytes + at) > now)
			return "cell";
	if (h[AT_SAMPLED / 4] == 0)
		return at + 4 == size && h[AT_PAGES / 4] == 0 ? NULL : "size";

	memcpy(strata, bytes + at, sizeof(strata));
	at += sizeof(strata);
	if (strata[0] > strata[1] || strata[1] >= WS_STRATA || strata[2] < 1 || strata[2] > 36000)
		return "rate";
	for (int i = 4; i < 4 + 2 * WS_STRATA; i++)
		if (strata[i] > now)
			return "stratum";
	for (uint32_t i = 0; i < h[AT_PAGES / 4]; i++, at += 40)
	{
		uint32_t	p[10];

		memcpy(p, bytes + at, sizeof(p));
		if (p[0] == 0 || p[2] == 0 || p[3] > 3 || p[4] == UINT32_MAX)
			return "page";
		if (p[6] < 1 || p[6] > now || p[7] > p[6] || p[8] > p[7] || p[9] > p[8])
			return "use of a page";
	}
	return at + 4 == size ? NULL : "size";
}

/*
 * Can what was taken over be read, as the server reads it?
 */
static const char *
unreadable(const World *w, uint32_t tick, int64_t now)
{
	static WsHistoryEntry entries[WS_HISTORY_ENTRIES];
	static WsSample samples[CAPACITY];
	static void *workspace;
	WsHistoryEntry peak;
	uint32_t	ages[] = {1, 600, UINT32_MAX};
	WsEstimate	e[3];
	int			n = ws_history_read(&w->history, now / 1000, entries);

	for (int i = 0; i < n; i++)
	{
		const WsHistoryRow *row = &entries[i].row;
		const double pages[] = {row->working_set, row->recommended, row->plateau_end, row->live};

		for (int field = 0; field < 4; field++)
			if (pages[field] * 32768 >= 0x1p63 || pages[field] < 0)
				return "a size of the history does not fit";
	}
	if (ws_history_peak(&w->history, now / 1000, 31 * 86400, &peak) &&
		!(peak.row.recommended >= 0 && peak.row.recommended * 32768 < 0x1p63))
		return "the peak does not fit";

	if (!workspace && !(workspace = malloc(ws_curve_size(WS_REGISTERS_MAX))))
		abort();
	ws_curve_estimate((const WsSketch *const *) w->sketches, WS_STATEFILE_SKETCHES, tick, ages, 3, e, workspace);
	for (int i = 0; i < 3; i++)
		if (!(e[i].pages >= 0 && e[i].pages * 32768 < 0x1p63))
			return "the size does not fit";

	if (!w->sampler)
		return NULL;
	n = (int) ws_sampler_select(w->sampler, tick, UINT32_MAX, 1, 0, samples);
	for (int i = 0; i < n; i++)
		if (samples[i].page.tablespace == 0 || samples[i].page.relation == 0 ||
			samples[i].page.fork < 0 || samples[i].page.fork > 3 || samples[i].page.block == UINT32_MAX)
			return "a page that cannot be";
	return NULL;
}

/*
 * A place to damage: often in the header, the history, the strata and the
 * pages, where there is more to go wrong than in the rest.
 */
static size_t
place_to_damage(uint64_t *seed, size_t size, size_t strata)
{
	switch (random_below(seed, 5))
	{
		case 3:
			return AT_HISTORY + random_below(seed, sizeof(WsHistory));
		case 0:
			return random_below(seed, AT_HISTORY);
		case 1:
			return strata + random_below(seed, 16 + 8 * WS_STRATA);
		case 2:
			return strata + 16 + 8 * WS_STRATA + random_below(seed, (uint32_t) (size - strata - 300));
		default:
			return random_below(seed, (uint32_t) size);
	}
}

static void
damage(char *bytes, size_t size, size_t strata, uint64_t *seed)
{
	size_t		at = place_to_damage(seed, size, strata);
	uint32_t	value = random_below(seed, 2) ? random32(seed) :
		interesting[random_below(seed, sizeof(interesting) / sizeof(interesting[0]))];

	if (at >= size)
		at = size - 1;
	switch (random_below(seed, 4))
	{
		case 3:
			/* a number of the history, which has a row at each minute up to now */
			at = AT_HISTORY + ((NOW / 60000 - random_below(seed, 60)) % 1440) * sizeof(WsHistoryRow) +
				random_below(seed, sizeof(WsHistoryRow) / 8) * 8;
			if (at + 8 <= size)
				memcpy(bytes + at, &interesting_sizes[random_below(seed, sizeof(interesting_sizes) / sizeof(double))], 8);
			break;
		case 0:
			bytes[at] ^= (char) (1 << random_below(seed, 8));
			break;
		case 1:
			bytes[at] = (char) value;
			break;
		default:
			at &= ~(size_t) 3;
			if (at + sizeof(value) <= size)
				memcpy(bytes + at, &value, sizeof(value));
	}
}

/*
 * Each mutant has memory of its own, of its own size, so that a look beyond
 * its end is noticed.
 */
static void
fuzz(long mutants)
{
	World		w = busy_world(20000, 6);
	Buffer		with = image_of(&w, &us, NOW);
	Buffer		without = {.refuse_at = SIZE_MAX};
	Buffer		alone = {.refuse_at = SIZE_MAX};
	WsStateFileParts parts = {&w.history, {w.sketches[0], w.sketches[1]}, NULL};
	WsStateFileParts history = {&w.history, {NULL, NULL}, NULL};
	size_t		strata = AT_HISTORY + sizeof(WsHistory) +
		WS_STATEFILE_SKETCHES * ws_sketch_ncells(w.sketches[0]) * sizeof(uint32_t);
	uint64_t	seed = 7;
	long		believed = 0;
	long		harmful = 0;
	long		unsigned_believed = 0;

	if (!ws_statefile_write(&parts, &us, NOW, checksum, put, &without) ||
		!ws_statefile_write(&history, &us, NOW, checksum, put, &alone))
		abort();
	for (long i = 0; i < mutants; i++)
	{
		uint32_t	which = random_below(&seed, 16);
		const Buffer *from = which == 0 ? &alone : which < 3 ? &without : &with;
		bool		sign_it = random_below(&seed, 4) != 0;
		size_t		size = from->size;
		char	   *bytes;
		bool		same;
		const char *why;

		/* shorter, or longer, with a header that says so or not */
		if (random_below(&seed, 4) == 0)
			size = random_below(&seed, (uint32_t) from->size + 1000);
		else if (random_below(&seed, 8) == 0)
			size = random_below(&seed, 2 * AT_HISTORY);
		bytes = malloc(size > 0 ? size : 1);
		if (!bytes)
			abort();
		memcpy(bytes, from->bytes, size < from->size ? size : from->size);
		if (size > from->size)
			memset(bytes + from->size, 0xA5, size - from->size);
		if (size >= AT_HISTORY && size != from->size && random_below(&seed, 2))
		{
			uint64_t	wide = size;
			uint32_t	pages = size > strata + 276 ? (uint32_t) (size - strata - 276) / 40 : 0;

			memcpy(bytes + AT_SIZE, &wide, sizeof(wide));
			memcpy(bytes + AT_PAGES, &pages, sizeof(pages));
		}
		for (uint32_t n = random_below(&seed, 4) == 0 ? 20 : random_below(&seed, 3); n > 0 && size > 0; n--)
			damage(bytes, size, strata, &seed);
		if (sign_it)
			sign(bytes, size);
		same = size == from->size && memcmp(bytes, from->bytes, size) == 0;
		why = ws_statefile_distrust(bytes, size, &us, checksum);
		if (why == NULL)
		{
			static const uint32_t capacities[] = {0, WS_SAMPLE_PAGES_MIN, CAPACITY};
			Buffer		b = {.bytes = bytes, .size = size};
			int64_t		later = (int64_t) random64(&seed) >> random_below(&seed, 60);
			uint32_t	tick = TICK + random_below(&seed, 1000000);
			int64_t		now = later > 0 && later < INT64_MAX - NOW ? NOW + later : NOW;
			World		r = restored(&b, tick, capacities[random_below(&seed, 3)], now);

			believed++;
			unsigned_believed += !sign_it && !same;
			why = out_of_range(bytes, size);
			if (!why)
				why = unsound(&r);
			/* also when the history was just made */
			if (!why)
				why = unreadable(&r, tick, random_below(&seed, 2) ? now : NOW);
			if (why)
			{
				diag("mutant %ld: %s", i, why);
				harmful++;
			}
			end_world(&r);
		}
		free(bytes);
	}
	ok(believed > mutants / 20 && believed < mutants, "of %ld damaged images %ld were believed, being plausible",
	   mutants, believed);
	is_int(harmful, 0, "each number of them is in range, and what they were taken over into is sound");
	/* each slips through a 32-bit checksum with a chance of 2^-32 */
	is_int(unsigned_believed, 0, "none whose checksum was wrong");
	free(with.bytes);
	free(without.bytes);
	free(alone.bytes);
	end_world(&w);
}

int
main(void)
{
	const char *mutants = getenv("MUTANTS");

	plan(141);
	test_ages(0, "at once");
	test_ages(60000, "a minute later");
	test_ages(INT64_C(86400000) * 3 + 12345, "three days later");
	test_ages(-3600000, "with a clock set back by an hour");
	test_merge();
	test_limits();
	test_history_alone();
	test_distrust();
	fuzz(mutants ? atol(mutants) : 2000);
	return done();
}
