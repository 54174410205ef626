/*
 * statefile.c
 *		Making, checking and loading an image of the state; see statefile.h.
 */
#include "statefile.h"

#include <string.h>

#define NEVER			UINT32_MAX	/* the age of what never happened */
#define TICK_MIN		1

typedef struct Header
{
	uint64_t	magic;
	uint32_t	format;
	uint32_t	page_bytes;
	uint64_t	system;
	uint64_t	place;
	int64_t		saved_at;		/* ms since 1970 */
	uint64_t	size;			/* bytes of the image */
	uint32_t	tick_ms;
	uint32_t	registers;
	uint32_t	floor;			/* age of the data */
	uint32_t	pages;			/* of the sample */
	/* the sample: see WsSampler; times are ages */
	uint16_t	sampled;		/* 0: there is none; 1 */
	uint8_t		unused;
	uint8_t		in_second;		/* ticks of a second before saved_at */
	uint32_t	shift;
	uint32_t	lasting;
	uint32_t	brief;
	uint32_t	admitted[WS_STRATA];
	uint32_t	kept[WS_STRATA];
} Header;

typedef struct Page
{
	WsPageId	page;
	uint32_t	hash;
	uint32_t	touched;		/* ages; of four, none below the one before */
	uint32_t	last;
	uint32_t	use;
	uint32_t	before;
	uint32_t	held;			/* these two are not below the first */
	uint32_t	scanned;
} Page;

_Static_assert(sizeof(Header) == 80 + 8 * WS_STRATA, "a header has no gaps");
_Static_assert(sizeof(Header) % 8 == 0 && sizeof(WsHistory) % 8 == 0, "parts are aligned");
_Static_assert(sizeof(Page) == 48, "a page has no gaps");

/* Where the parts of an image are. */
typedef struct Layout
{
	Header	   *header;
	WsHistory  *history;
	uint32_t   *cells;			/* of all sketches, one after the other: ages */
	size_t		ncells;			/* of one sketch */
	Page	   *pages;
} Layout;

static size_t
cells_of(uint32_t registers)
{
	return ws_ncells((uint32_t) __builtin_ctz(registers));
}

/* Bytes of an image, whose numbers of registers and pages are possible. */
static size_t
size_of(const Header *h)
{
	return sizeof(Header) + sizeof(WsHistory) +
		WS_STATEFILE_SKETCHES * cells_of(h->registers) * sizeof(uint32_t) +
		h->pages * sizeof(Page) + sizeof(uint64_t);
}

size_t
ws_statefile_size_max(void)
{
	const Header largest = {.registers = WS_REGISTERS_MAX, .pages = WS_SAMPLE_PAGES_MAX};

	return size_of(&largest);
}

static Layout
layout_of(const void *image)
{
	Layout		l = {.header = (Header *) image};

	l.history = (WsHistory *) (l.header + 1);
	l.cells = (uint32_t *) (l.history + 1);
	l.ncells = cells_of(l.header->registers);
	l.pages = (Page *) (l.cells + WS_STATEFILE_SKETCHES * l.ncells);
	return l;
}

/* Of whole words.  Images that differ in a single word have different sums. */
static uint64_t
checksum_of(const char *bytes, size_t size)
{
	uint64_t	sum = size;

	for (size_t i = 0; i < size; i += sizeof(uint64_t))
	{
		uint64_t	word;

		memcpy(&word, bytes + i, sizeof(word));
		sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
		sum ^= sum >> 32;
	}
	return sum;
}

/* Ticks that are younger than the image have its age, 0. */
static uint32_t
age_of(uint32_t tick, uint32_t now)
{
	return tick == 0 ? NEVER : tick < now ? now - tick : 0;
}

static void
put_sample(Layout *l, const WsSampler *sampler, uint32_t now)
{
	Header	   *h = l->header;

	h->sampled = 1;
	h->shift = sampler->shift;
	h->lasting = sampler->lasting;
	h->brief = sampler->brief;
	for (int i = 0; i < WS_STRATA; i++)
	{
		h->admitted[i] = age_of(sampler->admitted[i], now);
		h->kept[i] = age_of(sampler->kept[i], now);
	}
	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *s = &sampler->samples[i];
		const Page	page = {s->page, s->hash, age_of(s->touched, now), age_of(s->last, now),
			age_of(s->use, now), age_of(s->before, now), age_of(s->held, now),
		age_of(s->scanned, now)};

		if (s->touched != 0)
			l->pages[h->pages++] = page;
	}
}

size_t
ws_statefile_make(const WsStateFileParts *parts, const WsStateFileOwner *owner, int64_t now_ms,
				  void *image)
{
	uint32_t	now = ws_load(&parts->sketches[0]->tick);
	const Header header = {
		.magic = WS_STATEFILE_MAGIC,
		.format = WS_STATEFILE_FORMAT,
		.page_bytes = owner->page_bytes,
		.system = owner->system,
		.place = owner->place,
		.saved_at = now_ms,
		.tick_ms = WS_TICK_MS,
		.registers = ws_sketch_m(parts->sketches[0]),
		.floor = NEVER,
		.in_second = now % WS_PRESENT
	};
	Header	   *h = image;
	Layout		l;
	uint64_t	sum;

	*h = header;
	l = layout_of(image);
	memcpy(l.history, parts->history, sizeof(WsHistory));
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
	{
		const WsSketch *sketch = parts->sketches[i];
		uint32_t	floor = ws_load(&sketch->floor);
		uint32_t	age = age_of(floor, now);

		h->floor = age < h->floor ? age : h->floor;
		for (size_t c = 0; c < l.ncells; c++)
		{
			uint32_t	cell = ws_load(&sketch->cells[c]);

			l.cells[i * l.ncells + c] = age_of(cell < floor ? 0 : cell, now);
		}
	}
	if (parts->sampler)
		put_sample(&l, parts->sampler, now);

	h->size = size_of(h);
	sum = checksum_of(image, h->size - sizeof(sum));
	memcpy((char *) image + h->size - sizeof(sum), &sum, sizeof(sum));
	return h->size;
}

/* Are the numbers in range that the length depends on, and saved_at? */
static bool
header_possible(const Header *h)
{
	return ws_registers_valid((long) h->registers) && h->sampled <= 1 &&
		h->in_second < WS_PRESENT && h->pages <= (h->sampled ? WS_SAMPLE_PAGES_MAX : 0) &&
		h->saved_at >= 0 && h->saved_at <= WS_STATEFILE_TIME_MAX_MS;
}

/* The server looks pages up by these numbers. */
static bool
page_possible(const WsPageId *page)
{
	return page->tablespace != 0 && page->relation != 0 &&
		(page->tablespace != WS_STATEFILE_GLOBAL_TABLESPACE || page->database == 0) &&
		page->fork >= 0 && page->fork < WS_STATEFILE_FORKS && page->block != WS_STATEFILE_NO_BLOCK;
}

static const char *
distrust_sample(const Layout *l)
{
	const Header *h = l->header;
	uint32_t	log2m = (uint32_t) __builtin_ctz(h->registers);

	if (h->shift > h->lasting || h->lasting >= WS_STRATA)
		return "its sampling rate is out of range";
	if (h->brief < 1 || h->brief > WS_SAMPLE_SECONDS_MAX * WS_TICKS_PER_SECOND)
		return "the time for which it keeps pages is out of range";
	for (uint32_t i = h->shift + 1; i < WS_STRATA; i++)
		if (h->admitted[i] < h->admitted[i - 1] ||
			(i > h->lasting && h->kept[i] < h->kept[i - 1]))
			return "its strata are out of order";
	for (const Page *p = l->pages; p < l->pages + h->pages; p++)
	{
		if (p->touched == NEVER || p->last < p->touched || p->use < p->last || p->before < p->use ||
			p->held < p->touched || p->scanned < p->touched)
			return "a page in it was used at an impossible time";
		if (!page_possible(&p->page))
			return "a page in it cannot exist";
		if (ws_hash_stratum(p->hash, log2m) < h->shift)
			return "a page in it is not of the sample";
	}
	return NULL;
}

bool
ws_statefile_is_newer(const void *image, size_t size)
{
	const Header *h = image;

	return size >= offsetof(Header, page_bytes) && h->magic == WS_STATEFILE_MAGIC &&
		h->format > WS_STATEFILE_FORMAT;
}

const char *
ws_statefile_distrust(const void *image, size_t size, const WsStateFileOwner *owner)
{
	const Header *h = image;
	Layout		l;
	uint64_t	sum;
	const char *why;

	if (size == 0)
		return "it is empty";
	if (size < offsetof(Header, page_bytes) || h->magic != WS_STATEFILE_MAGIC)
		return "it was not written by working_set on such a machine";
	if (ws_statefile_is_newer(image, size))
		return "a later version of working_set wrote it";
	if (h->format != WS_STATEFILE_FORMAT)
		return "it has another format";
	if (size < sizeof(Header))
		return "it is too short";
	if (!header_possible(h))
		return "its header is damaged";
	if (h->size != size || size_of(h) != size)
		return "it has a wrong length";
	memcpy(&sum, (const char *) image + size - sizeof(sum), sizeof(sum));
	if (checksum_of(image, size - sizeof(sum)) != sum)
		return "its checksum is wrong";
	if (h->system != owner->system)
		return "it belongs to another database cluster";
	if (h->place != owner->place)
		return "it was saved in another directory, which this one is a copy of";
	if (h->page_bytes != owner->page_bytes)
		return "its pages are of another size";
	l = layout_of(image);
	why = ws_history_check(l.history);
	return why || !h->sampled ? why : distrust_sample(&l);
}

const char *
ws_statefile_distrust_sketches(const void *image, uint32_t registers, int64_t now_ms)
{
	const Header *h = image;

	if (h->registers != registers)
		return "it is of another number of registers";
	if (h->tick_ms != WS_TICK_MS)
		return "its clock ticks differently";
	if (h->saved_at - WS_STATEFILE_FUTURE_MS > now_ms)
		return "it is from the future";
	return NULL;
}

/* The tick of an age at "made", which may be below 0; at least the first. */
static uint32_t
tick_of(uint32_t age, int64_t made)
{
	if (age == NEVER)
		return 0;
	return made - age < TICK_MIN ? TICK_MIN : (uint32_t) (made - age);
}

/* The smallest shift whose pages leave an eighth of the table free. */
static uint32_t
shift_that_fits(const Layout *l, uint32_t log2m, uint32_t capacity)
{
	uint32_t	shift = l->header->shift;
	uint32_t	n = l->header->pages;

	if (n <= capacity)
		return shift;
	while (n > capacity / 8 * 7 && shift + 1 < WS_STRATA)
	{
		shift++;
		n = 0;
		for (uint32_t i = 0; i < l->header->pages; i++)
			n += ws_hash_stratum(l->pages[i].hash, log2m) >= shift;
	}
	return shift;
}

static void
load_sample(const Layout *l, WsSampler *sampler, uint32_t now, int64_t made)
{
	const Header *h = l->header;

	ws_sampler_init(sampler, sampler->capacity, sampler->log2m,
					shift_that_fits(l, sampler->log2m, sampler->capacity), now);
	sampler->lasting = h->lasting > sampler->shift ? h->lasting : sampler->shift;
	sampler->brief = h->brief;
	for (int i = 0; i < WS_STRATA; i++)
	{
		sampler->admitted[i] = tick_of(h->admitted[i], made);
		sampler->kept[i] = tick_of(h->kept[i], made);
	}
	for (const Page *p = l->pages; p < l->pages + h->pages; p++)
	{
		uint32_t	entry = WS_NO_SAMPLE;

		if (ws_sampler_find(sampler, &p->page, p->hash) == WS_NO_SAMPLE)
			entry = ws_sampler_enter(sampler, &p->page, p->hash, tick_of(p->touched, made));
		if (entry == WS_NO_SAMPLE)
			continue;
		sampler->samples[entry].last = tick_of(p->last, made);
		sampler->samples[entry].use = tick_of(p->use, made);
		sampler->samples[entry].before = tick_of(p->before, made);
		sampler->samples[entry].held = tick_of(p->held, made);
		sampler->samples[entry].scanned = tick_of(p->scanned, made);
	}
}

int64_t
ws_statefile_saved_at(const void *image)
{
	return ((const Header *) image)->saved_at;
}

void
ws_statefile_load_history(const void *image, WsHistory *history, int64_t now_ms)
{
	ws_history_merge(history, layout_of(image).history, now_ms / 1000);
}

uint32_t
ws_statefile_load_sketches(const void *image, WsSketch *const *sketches, WsSampler *sampler,
						   int64_t now_ms)
{
	Layout		l = layout_of(image);
	const Header *h = l.header;
	uint32_t	now = ws_load(&sketches[0]->tick);

	/* a time of day that was set back makes nothing younger */
	int64_t		passed = now_ms > h->saved_at ? (now_ms - h->saved_at) / WS_TICK_MS : 0;
	int64_t		made = (int64_t) now - passed;
	uint32_t	floor;

	/* its seconds begin where those of today do */
	made -= (made % WS_PRESENT + WS_PRESENT - h->in_second) % WS_PRESENT;
	floor = tick_of(h->floor, made);
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		for (size_t c = 0; c < l.ncells; c++)
			ws_sketch_recall(sketches[i], c, tick_of(l.cells[i * l.ncells + c], made));
	if (h->sampled && sampler)
		load_sample(&l, sampler, now, made);
	return floor > TICK_MIN ? floor : TICK_MIN;
}
