/*
 * statefile_t.c
 *		Tests of the state that survives a restart: it comes back as old as it
 *		is, a file of another owner is not used, and no number in it does harm.
 *
 * There are two properties.  An image of any state, loaded at any time into any
 * other state, gives what the definition says (test_there_and_back()).  An
 * image that was damaged at random, with a checksum that is right again, is
 * refused, or what it is loaded into is sound and can be read (fuzz()).
 * MUTANTS in the environment is the number of damaged images; under
 * -fsanitize=address,undefined (make sanitize) they matter most.  Each range is
 * tried at its ends, those of rows of the history in history_t.
 */
#include "tap.h"
#include "curve.h"
#include "sampler_check.h"
#include "statefile.h"
#include "traces.h"

#define M			1024
#define LOG2M		10
#define CAPACITY	2048
#define TICK		(WS_TICK_ORIGIN + 100003)	/* no beginning of a second */
#define NOW			INT64_C(1800000000000)
#define MINUTES(n)	((uint32_t) (n) * 60 * WS_TICKS_PER_SECOND)

static const WsStateFileOwner us = {42, 4711, 8192};
static WsHistoryEntry entries[WS_HISTORY_ENTRIES];

typedef struct World
{
	WsHistory	history;
	WsSketch   *sketches[WS_STATEFILE_SKETCHES];
	WsSampler  *sampler;
} World;

typedef struct Image
{
	char	   *bytes;
	size_t		size;
} Image;

static World
new_world(uint32_t registers, uint32_t tick, uint32_t capacity)
{
	World		w;

	memset(&w.history, 0, sizeof(w.history));
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		w.sketches[i] = new_sketch(registers, tick);
	w.sampler = capacity > 0 ? aligned_memory(ws_sampler_size(capacity)) : NULL;
	if (w.sampler)
		ws_sampler_init(w.sampler, capacity, LOG2M, 0, tick);
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
	return (WsPageId)
	{
		1663, 5, 16384 + n % 7, n % 11 == 0, n
	};
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
		uint32_t	hash = (uint32_t) (mix64(n + seeded(1)) >> 32);
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
		if (entry == WS_NO_SAMPLE)
			continue;
		ws_sampler_touch(w.sampler, entry, tick, !kind);
		if (n % 3 > 0)
			ws_sampler_hold(w.sampler, entry, tick, n % 3 == 1);
	}
	ws_sketch_advance(w.sketches[0], TICK);
	ws_sketch_advance(w.sketches[1], TICK);
	row.working_set = 100;
	row.recommended = 200;
	row.lookups = 1000;
	row.hits = 900;
	for (int i = 0; i < 60; i++)
		ws_history_add(&w.history, NOW / 1000 - 60 * i, &row);
	for (int i = 0; i < WS_CHECK_DAY; i++)
		w.history.checks.outcomes[i] = 1 + random_below(&seed, 5000000);
	for (int i = 0; i <= WS_CHECK_AHEAD; i++)
	{
		w.history.checks.made[i].period = 1 + random_below(&seed, 2500000);
		w.history.checks.made[i].points[i].hit_ratio = (float) random_unit(&seed);
	}
	for (int64_t i = NOW / 1000 / WS_COST_QUARTER - 200; i <= NOW / 1000 / WS_COST_QUARTER; i++)
	{
		WsCostRow  *cost = &w.history.costs.quarters[i % WS_COST_QUARTERS];

		*cost = (WsCostRow)
		{
			.number = i, .active = 900, .waiting = 90, .buffers = 16384, .reads = 5000, .first = 20, .tiers = i % 2
		};
		for (int k = 0; k < WS_COST_KEPT; k++)
			cost->cost[k] = (uint16_t) random_below(&seed, UINT16_MAX + 1);
	}
	w.history.costs.promise = (WsPromise)
	{
		NOW / 1000 - 5000, 32768, 0.01f
	};
	return w;
}

static Image
image_of(const World *w)
{
	WsStateFileParts parts = {(WsHistory *) &w->history, {w->sketches[0], w->sketches[1]}, w->sampler};
	Image		image = {.bytes = zeroed(1, ws_statefile_size_max())};

	image.size = ws_statefile_make(&parts, &us, NOW, image.bytes);
	return image;
}

static const char *
distrust(const Image *image, int64_t now)
{
	const char *why = ws_statefile_distrust(image->bytes, image->size, &us);

	return why ? why : ws_statefile_distrust_sketches(image->bytes, M, now);
}

/* what a new server makes of it, whose clock stands at the tick */
static World
restored(const char *bytes, uint32_t tick, uint32_t capacity, int64_t now)
{
	World		w = new_world(M, tick, capacity);
	uint32_t	floor;

	ws_statefile_load_history(bytes, &w.history, now);
	if (ws_statefile_distrust_sketches(bytes, M, now) != NULL)
		return w;
	floor = ws_statefile_load_sketches(bytes, w.sketches, w.sampler, now);
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		ws_sketch_lower_floor(w.sketches[i], floor);
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

/* one of the first numbers from 0, most of them small */
static uint64_t
random_size(uint64_t *seed)
{
	return random64(seed) >> random_below(seed, 64);
}

/* the tick, now, of what was at a tick of a world whose clock stood at TICK */
static uint32_t
moved(uint32_t was, uint32_t tick, int64_t passed)
{
	int64_t		is = (int64_t) tick - passed - ((int64_t) TICK - was);

	return was == 0 ? 0 : is < 1 ? 1 : (uint32_t) is;
}

/* Cells that differ from what they should be.  before: the cells before loading */
static long
wrong_cells(const World *w, const World *r, int kind, const uint32_t *before, int64_t passed)
{
	const WsSketch *from = w->sketches[kind];
	const WsSketch *to = r->sketches[kind];
	long		wrong = 0;

	for (size_t c = 0; c < ws_ncells(from->log2m); c++)
	{
		uint32_t	cell = from->cells[c] > TICK ? TICK : from->cells[c];
		uint32_t	old = cell < from->floor ? 0 : moved(cell, to->tick, passed);

		wrong += to->cells[c] != (old > before[c] ? old : before[c]);
	}
	return wrong;
}

/*
 * Pages that are of no sample, differ from what they should be, or are missing.
 * If not all fit, the shift is the smallest that leaves an eighth free.
 */
static long
wrong_pages(const World *w, const World *r, int64_t passed)
{
	const WsSampler *from = w->sampler;
	const WsSampler *to = r->sampler;
	uint32_t	tick = r->sketches[0]->tick;
	uint32_t	most = to->capacity / 8 * 7;
	long		wrong = 0;
	uint32_t	n = 0;
	uint32_t	more = 0;		/* with the shift below */

	for (uint32_t i = 0; i < from->capacity; i++)
	{
		const WsSample *s = &from->samples[i];
		uint32_t	entry;
		const WsSample *t;

		more += s->touched != 0 && ws_hash_stratum(s->hash, LOG2M) + 1 >= to->shift;
		if (s->touched == 0 || ws_hash_stratum(s->hash, LOG2M) < to->shift)
			continue;
		n++;
		entry = ws_sampler_find(to, &s->page, s->hash);
		t = &to->samples[entry == WS_NO_SAMPLE ? 0 : entry];
		wrong += entry == WS_NO_SAMPLE || t->touched != moved(s->touched, tick, passed) ||
			t->last != moved(s->last, tick, passed) || t->use != moved(s->use, tick, passed) ||
			t->before != moved(s->before, tick, passed) || t->held != moved(s->held, tick, passed) ||
			t->scanned != moved(s->scanned, tick, passed) || t->resident != 0;
	}
	for (int i = 0; i < WS_STRATA; i++)
		wrong += to->admitted[i] != moved(from->admitted[i], tick, passed) ||
			to->kept[i] != moved(from->kept[i], tick, passed);
	if (from->count <= to->capacity)
		wrong += to->shift != from->shift;
	else
		wrong += n > most || to->shift <= from->shift || (to->shift > from->shift + 1 && more <= most);
	return wrong + (n != to->count) + (to->brief != from->brief) +
		(to->lasting != (from->lasting > to->shift ? from->lasting : to->shift));
}

/*
 * A state of random size, saved, and loaded after a random time, or with a
 * clock that was set back by less than a day, into a server of random age that
 * has been used already and may have a smaller table, or none.
 */
static void
test_there_and_back(int ntrials)
{
	static const uint32_t capacities[] = {CAPACITY, CAPACITY, WS_SAMPLE_PAGES_MIN, 0};
	uint64_t	seed = seeded(1);
	size_t		bytes = 23 * M * sizeof(uint32_t);
	uint32_t   *before = zeroed(1, WS_STATEFILE_SKETCHES * bytes);
	long		refused = 0;
	long		insane = 0;
	long		cells = 0;
	long		floors = 0;
	long		pages = 0;
	long		smaller = 0;
	long		histories = 0;

	for (int trial = 0; trial < ntrials; trial++)
	{
		World		w = busy_world(1 + (int) random_below(&seed, 20000), seeded((uint64_t) trial + 1));
		uint32_t	n = w.sampler->count;
		uint32_t	capacity = capacities[random_below(&seed, 4)];
		uint32_t	tick = random_below(&seed, 3) == 0 ? 1 + random_below(&seed, 1000) : WS_TICK_ORIGIN + random_below(&seed, 200000);
		int64_t		later = random_below(&seed, 4) == 0 ? -(int64_t) random_below(&seed, WS_STATEFILE_FUTURE_MS) :
			(int64_t) (random_size(&seed) % (UINT64_C(1) << 43));
		int64_t		passed = later > 0 ? later / WS_TICK_MS : 0;

		/* as far from the beginning of a second as it was */
		passed += (((int64_t) tick - TICK - passed) % WS_PRESENT + WS_PRESENT) % WS_PRESENT;

		if (n > WS_SAMPLE_PAGES_MIN && random_below(&seed, 2))
			capacity = random_below(&seed, 4) ? WS_SAMPLE_PAGES_MIN + random_below(&seed, n - WS_SAMPLE_PAGES_MIN) : n;

		World		r = new_world(M, tick, capacity);
		uint32_t	floor = 0;
		Image		image;

		/* what was forgotten, and what was used while the image was made */
		for (int kind = 0; kind < WS_STATEFILE_SKETCHES; kind++)
		{
			if (random_below(&seed, 2))
				ws_sketch_raise_floor(w.sketches[kind], TICK - random_below(&seed, MINUTES(60)));
			floor = w.sketches[kind]->floor > floor ? w.sketches[kind]->floor : floor;
			w.sketches[kind]->cells[random_below(&seed, M)] = TICK + 5;
			for (uint32_t n = random_below(&seed, 300); n > 0; n--)
				ws_sketch_touch(r.sketches[kind], random32(&seed));
			memcpy(before + kind * bytes / sizeof(uint32_t), r.sketches[kind]->cells, bytes);
		}
		/* strata that do not last were kept at any time */
		w.sampler->brief = 1 + random_below(&seed, random_below(&seed, 2) ? 36000 : 921600);
		if (random_below(&seed, 2))
			w.sampler->kept[++w.sampler->lasting] = TICK - random_below(&seed, MINUTES(1));
		if (random_below(&seed, 8) == 0)
		{
			free(w.sampler);
			w.sampler = NULL;
		}

		image = image_of(&w);
		refused += distrust(&image, NOW + later) != NULL;
		floors += ws_statefile_load_sketches(image.bytes, r.sketches, r.sampler, NOW + later) !=
			moved(floor, tick, passed);
		ws_statefile_load_history(image.bytes, &r.history, NOW + later);
		for (int kind = 0; kind < WS_STATEFILE_SKETCHES; kind++)
			cells += wrong_cells(&w, &r, kind, before + kind * bytes / sizeof(uint32_t), passed);
		insane += unsound(&r) != NULL;
		histories += memcmp(&r.history, &w.history, sizeof(WsHistory)) != 0;
		if (r.sampler && w.sampler)
		{
			pages += wrong_pages(&w, &r, passed);
			smaller += r.sampler->shift > w.sampler->shift;
		}
		else if (r.sampler)
			pages += r.sampler->count + r.sampler->shift;
		free(image.bytes);
		end_world(&w);
		end_world(&r);
	}
	is_int(refused, 0, "no image is refused");
	is_int(insane, 0, "what they are loaded into is sound");
	is_int(cells, 0, "each cell is as old as it was and as the time that has passed, or younger by a later use");
	is_int(floors, 0, "all data is there since the later floor");
	is_int(pages, 0, "each sampled page is as old as it should be, and none in shared buffers");
	ok(smaller > 0, "a smaller table sampled fewer pages %ld times", smaller);
	is_int(histories, 0, "the histories are the same");
	free(before);
}

/* A clock that was 40 days ahead, or is behind: nothing is lost, and nothing is shown yet. */
static void
test_future(void)
{
	World		w = busy_world(20000, seeded(8));
	Image		image = image_of(&w);
	int64_t		earlier = NOW - 40 * WS_STATEFILE_FUTURE_MS;
	World		r = restored(image.bytes, TICK, CAPACITY, earlier);

	ok(ws_statefile_distrust(image.bytes, image.size, &us) == NULL &&
	   ws_statefile_distrust_sketches(image.bytes, M, earlier) != NULL,
	   "of an image of the future only the history is believed");
	ok(memcmp(&r.history, &w.history, sizeof(WsHistory)) == 0, "all of it is loaded");
	is_int(ws_history_read(&r.history, earlier / 1000, entries), 0, "nothing of it is past");
	is_int(ws_history_read(&r.history, NOW / 1000, entries), 60, "until its time has come");
	is_int(ws_statefile_saved_at(image.bytes), NOW, "it says when it was made");
	free(image.bytes);
	end_world(&w);
	end_world(&r);
}

/* ---------------------------------------------------------------- not believed */

/* offsets in the header; statefile.c asserts its size */
enum
{
	AT_MAGIC = 0, AT_FORMAT = 8, AT_PAGE_BYTES = 12, AT_SYSTEM = 16, AT_PLACE = 24, AT_SAVED = 32,
	AT_SIZE = 40, AT_TICK_MS = 48, AT_REGISTERS = 52, AT_FLOOR = 56, AT_PAGES = 60, AT_SAMPLED = 64,
	AT_SHIFT = 68, AT_LASTING = 72, AT_BRIEF = 76, AT_ADMITTED = 80, AT_KEPT = 208, AT_HISTORY = 336,
	PAGE = 48, AT_CELLS = AT_HISTORY + sizeof(WsHistory), AT_PAGE = AT_CELLS + WS_STATEFILE_SKETCHES * 23 * M * 4
};

static void
sign(char *bytes, size_t size)
{
	uint64_t	sum = size - sizeof(sum);
	uint64_t	word;
	size_t		i = 0;

	if (size < sizeof(sum))
		return;
	for (; i + 2 * sizeof(word) <= size; i += sizeof(word))
	{
		memcpy(&word, bytes + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 32;
	}
	memcpy(bytes + size - sizeof(sum), &sum, sizeof(sum));
}

/* why it is refused with so many bytes at a place changed; "": it is not */
static const char *
verdict(const Image *image, size_t at, const void *bytes, size_t n, bool sign_it)
{
	Image		copy = {zeroed(1, image->size), image->size};
	const char *why;

	memcpy(copy.bytes, image->bytes, image->size);
	memcpy(copy.bytes + at, bytes, n);
	if (sign_it)
		sign(copy.bytes, copy.size);
	why = distrust(&copy, NOW);
	free(copy.bytes);
	return why ? why : "";
}

/* Numbers that have to be equal to something else, or that end what can be said about the rest. */
static void
test_identity(const Image *image)
{
	char		name[64];
	const struct
	{
		size_t		at;
		size_t		bytes;
		uint64_t	value;
		const char *why;
	}			cases[] = {
		{AT_MAGIC, 8, __builtin_bswap64(WS_STATEFILE_MAGIC), "it was not written by working_set on such a machine"},
		{AT_FORMAT, 4, WS_STATEFILE_FORMAT - 1, "it has another format"},
		{AT_FORMAT, 4, WS_STATEFILE_FORMAT + 1, "a later version of working_set wrote it"},
		{AT_REGISTERS, 4, 1000, "its header is damaged"},
		{AT_REGISTERS, 4, 0, "its header is damaged"},
		{AT_REGISTERS, 4, 2048, "it has a wrong length"},
		{AT_SAMPLED, 4, 2, "its header is damaged"},
		{AT_SAMPLED, 4, 0, "its header is damaged"},
		{AT_SAMPLED + 2, 1, 13, ""},
		{AT_SAMPLED + 3, 1, 9, ""},
		{AT_SAMPLED + 3, 1, 10, "its header is damaged"},
		{AT_PAGES, 4, UINT32_MAX, "its header is damaged"},
		{AT_PAGES, 4, WS_SAMPLE_PAGES_MAX + 1, "its header is damaged"},
		{AT_PAGES, 4, WS_SAMPLE_PAGES_MAX, "it has a wrong length"},
		{AT_SIZE, 8, image->size + 1, "it has a wrong length"},
		{AT_SYSTEM, 8, us.system + 1, "it belongs to another database cluster"},
		{AT_PLACE, 8, us.place + 1, "it was saved in another directory, which this one is a copy of"},
		{AT_PAGE_BYTES, 4, 16384, "its pages are of another size"},
		{AT_TICK_MS, 4, 10, "its clock ticks differently"},
		{AT_SAVED, 8, NOW + WS_STATEFILE_FUTURE_MS, ""},
		{AT_SAVED, 8, NOW + WS_STATEFILE_FUTURE_MS + 1, "it is from the future"},
		{AT_SAVED, 8, 0, ""},
		{AT_SAVED, 8, UINT64_MAX, "its header is damaged"},
		{AT_SAVED, 8, WS_STATEFILE_TIME_MAX_MS, "it is from the future"},
		{AT_SAVED, 8, WS_STATEFILE_TIME_MAX_MS + 1, "its header is damaged"},
		{AT_FLOOR, 4, UINT32_MAX, ""},
		{AT_CELLS, 4, UINT32_MAX, ""},
		{AT_HISTORY, 8, UINT64_MAX, "the number of a row is out of range"},
		{AT_ADMITTED + 4 * 31, 4, 0, "its strata are out of order"},
		{AT_PAGE + 12, 4, UINT32_MAX, "a page in it cannot exist"},
		{AT_PAGE + 20, 4, UINT32_MAX, "a page in it is not of the sample"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		snprintf(name, sizeof(name), "offset %zu is %llu", cases[i].at, (unsigned long long) cases[i].value);
		is_string(verdict(image, cases[i].at, &cases[i].value, cases[i].bytes, true), cases[i].why, name);
	}

	is_string(verdict(image, AT_CELLS + 5, "\x55", 1, false), "its checksum is wrong", "a byte changed");
	is_string(ws_statefile_distrust_sketches(image->bytes, 2 * M, NOW), "it is of another number of registers",
			  "another number of registers is set");
}

/* Numbers with a range: the ends are believed, and the next ones not. */
static void
test_ranges(const Image *image)
{
	static const char *rate = "its sampling rate is out of range";
	static const char *kept = "the time for which it keeps pages is out of range";
	static const char *no_page = "a page in it cannot exist";
	static const char *time = "a page in it was used at an impossible time";
	uint32_t	n[AT_HISTORY / 4];
	uint32_t	page[12];
	uint32_t	touched = UINT32_MAX - 1;

	memcpy(n, image->bytes, sizeof(n));
	memcpy(page, image->bytes + AT_PAGE, sizeof(page));
	/* it is touched for all that happens to it, which need be no use */
	for (int k = 7; k < 12; k++)
		touched = page[k] < touched ? page[k] : touched;

	const struct
	{
		size_t		at;
		uint32_t	low;
		uint32_t	high;
		const char *why;
	}			ranges[] = {
		{AT_SHIFT, 0, n[AT_LASTING / 4], rate},
		{AT_LASTING, n[AT_SHIFT / 4], WS_STRATA - 1, rate},
		{AT_BRIEF, 1, 921600, kept},
		{AT_ADMITTED + 4 * (n[AT_SHIFT / 4] + 1), n[AT_ADMITTED / 4 + n[AT_SHIFT / 4]],
		n[AT_ADMITTED / 4 + n[AT_SHIFT / 4] + 2], "its strata are out of order"},
		{AT_KEPT + 4 * (n[AT_LASTING / 4] + 1), n[AT_KEPT / 4 + n[AT_LASTING / 4]],
		n[AT_KEPT / 4 + n[AT_LASTING / 4] + 2], "its strata are out of order"},
		{AT_PAGE, 1, WS_STATEFILE_GLOBAL_TABLESPACE - 1, no_page},
		{AT_PAGE, WS_STATEFILE_GLOBAL_TABLESPACE + 1, UINT32_MAX, no_page},
		{AT_PAGE + 4, 0, UINT32_MAX, NULL},
		{AT_PAGE + 8, 1, UINT32_MAX, no_page},
		{AT_PAGE + 12, 0, WS_STATEFILE_FORKS - 1, no_page},
		{AT_PAGE + 16, 0, WS_STATEFILE_NO_BLOCK - 1, no_page},
		{AT_PAGE + 24, 0, touched, time},
		{AT_PAGE + 28, page[6], page[8], time},
		{AT_PAGE + 32, page[7], page[9], time},
		{AT_PAGE + 36, page[8], UINT32_MAX, time},
	};

	ok(n[AT_SHIFT / 4] > 0, "not all pages are sampled here");
	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
	{
		uint32_t	low = ranges[i].low;
		uint32_t	high = ranges[i].high;
		uint32_t	below = low - 1;
		uint32_t	above = high + 1;
		bool		good = verdict(image, ranges[i].at, &low, 4, true)[0] == '\0' &&
			verdict(image, ranges[i].at, &high, 4, true)[0] == '\0';

		if (low > 0)
			good &= strcmp(verdict(image, ranges[i].at, &below, 4, true), ranges[i].why) == 0;
		if (high < UINT32_MAX)
			good &= strcmp(verdict(image, ranges[i].at, &above, 4, true), ranges[i].why) == 0;
		ok(good, "offset %zu is from %u to %u", ranges[i].at, low, high);
	}
}

/* What no writer makes, and what does no harm. */
static void
test_possible(const World *w, const Image *image)
{
	const uint32_t never[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
	World		r = new_world(M, TICK, CAPACITY);

	is_string(verdict(image, AT_PAGE + 24, never, sizeof(never), true),
			  "a page in it was used at an impossible time", "a page that was never used");
	memcpy(image->bytes + AT_PAGE + PAGE, image->bytes + AT_PAGE, PAGE);
	memcpy(image->bytes + AT_FLOOR, never, 4);
	is_int(ws_statefile_load_sketches(image->bytes, r.sketches, r.sampler, NOW), 1,
		   "all data of all time");
	ok(unsound(&r) == NULL && r.sampler->count == w->sampler->count - 1, "a page that is there twice is loaded once");
	end_world(&r);
}

static void
test_distrust(void)
{
	World		w = busy_world(20000, seeded(5));
	Image		image = image_of(&w);
	long		size = (long) image.size;
	const struct
	{
		long		bytes;
		const char *why;
	}			lengths[] = {
		{0, "it is empty"}, {11, "it was not written by working_set on such a machine"},
		{50, "it is too short"}, {AT_HISTORY - 1, "it is too short"},
		{size - 99, "it has a wrong length"}, {size - 1, "it has a wrong length"}, {size + 8, "it has a wrong length"}
	};

	ok(image.size == AT_PAGE + w.sampler->count * PAGE + 8 && image.size <= ws_statefile_size_max(),
	   "the parts are where they are thought to be");
	for (int i = 0; i < 7; i++)
		is_string(ws_statefile_distrust(image.bytes, (size_t) lengths[i].bytes, &us), lengths[i].why, "another length");

	test_identity(&image);
	test_ranges(&image);
	test_possible(&w, &image);
	free(image.bytes);
	end_world(&w);
}

/* ---------------------------------------------------------------- damaged at random */

static const uint32_t interesting[] = {
	0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 255, 1023, 1024, 2048, 16384, 32768, 32769, 65536, 131072,
	0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF, TICK - 1, TICK, TICK + 1, WS_TICK_ORIGIN
};

/*
 * Can the loaded state be read, as the server reads it?
 */
static bool
is_readable(const World *w, uint32_t tick, int64_t now)
{
	static WsSample samples[CAPACITY];
	static WsCurve *workspace;
	WsHistoryEntry peak;
	uint32_t	ages[] = {1, 600, UINT32_MAX};
	WsEstimate	e[3];
	bool		fits = true;

	if (!workspace)
		workspace = zeroed(1, ws_curve_size(WS_REGISTERS_MAX));
	ws_history_read(&w->history, now / 1000, entries);
	ws_history_peak(&w->history, now / 1000, 31 * 86400, &peak);
	ws_curve_estimate((const WsSketch *const *) w->sketches, WS_STATEFILE_SKETCHES, tick, ages, 3, e, workspace);
	for (int i = 0; i < 3; i++)
		fits &= e[i].pages >= 0 && e[i].pages * 32768 < 0x1p63;
	if (w->sampler)
		ws_sampler_select(w->sampler, tick, UINT32_MAX, 1, 0, samples);
	return fits;
}

/*
 * Damage a place: often in the header, the history and the pages, where there
 * is more to go wrong than in the rest.
 */
static void
damage(char *bytes, size_t size, uint64_t *seed)
{
	static const size_t begin[] = {0, AT_SHIFT, AT_HISTORY, AT_PAGE, 0};
	static const size_t end[] = {AT_HISTORY, AT_HISTORY, AT_CELLS, SIZE_MAX, SIZE_MAX};
	uint32_t	part = random_below(seed, 5);
	size_t		last = end[part] < size ? end[part] : size;
	size_t		at = begin[part] < last ? begin[part] + random_below(seed, (uint32_t) (last - begin[part])) : size - 1;
	uint32_t	value = random_below(seed, 2) ? random32(seed) :
		interesting[random_below(seed, sizeof(interesting) / sizeof(interesting[0]))];

	switch (random_below(seed, 3))
	{
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
	World		w = busy_world(20000, seeded(6));
	Image		with = image_of(&w);
	World		unsampled = w;
	Image		without;
	uint64_t	seed = seeded(7);
	long		believed = 0;
	long		harmful = 0;
	long		unsigned_believed = 0;

	unsampled.sampler = NULL;
	without = image_of(&unsampled);
	for (long i = 0; i < mutants; i++)
	{
		const Image *from = random_below(&seed, 8) == 0 ? &without : &with;
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
		bytes = zeroed(1, size > 0 ? size : 1);
		memcpy(bytes, from->bytes, size < from->size ? size : from->size);
		if (size > from->size)
			memset(bytes + from->size, 0xA5, size - from->size);
		if (size >= AT_HISTORY && size != from->size && random_below(&seed, 2))
		{
			uint64_t	wide = size;
			uint32_t	pages = size > AT_PAGE + 8 ? (uint32_t) (size - AT_PAGE - 8) / PAGE : 0;

			memcpy(bytes + AT_SIZE, &wide, sizeof(wide));
			memcpy(bytes + AT_PAGES, &pages, sizeof(pages));
		}
		for (uint32_t n = random_below(&seed, 4) == 0 ? 20 : random_below(&seed, 3); n > 0 && size > 0; n--)
			damage(bytes, size, &seed);
		if (sign_it)
			sign(bytes, size);
		same = size == from->size && memcmp(bytes, from->bytes, size) == 0;
		if (ws_statefile_distrust(bytes, size, &us) == NULL)
		{
			static const uint32_t capacities[] = {0, WS_SAMPLE_PAGES_MIN, CAPACITY};
			int64_t		later = (int64_t) random_size(&seed) / 2;
			uint32_t	tick = TICK + random_below(&seed, 1000000);
			int64_t		now = later < INT64_MAX - NOW ? NOW + later : NOW;
			World		r = restored(bytes, tick, capacities[random_below(&seed, 3)], now);

			believed++;
			unsigned_believed += !sign_it && !same;
			why = unsound(&r);
			/* also when the history was just made */
			if (!why && !is_readable(&r, tick, random_below(&seed, 2) ? now : NOW))
				why = "a size does not fit";
			if (why)
			{
				diag("mutant %ld: %s", i, why);
				harmful++;
			}
			end_world(&r);
		}
		free(bytes);
	}
	ok(believed > mutants / 20 && believed < mutants,
	   "of %ld damaged images %ld were believed, being plausible", mutants, believed);
	is_int(harmful, 0, "what they were loaded into is sound, and can be read");
	/* each slips through a 64-bit checksum with a chance of 2^-64 */
	is_int(unsigned_believed, 0, "none whose checksum was wrong");
	free(with.bytes);
	free(without.bytes);
	end_world(&w);
}

int
main(void)
{
	const char *mutants = getenv("MUTANTS");

	plan(75);
	test_there_and_back(trials(200));
	test_future();
	test_distrust();
	fuzz(mutants ? atol(mutants) : trials(2000));
	return done();
}
