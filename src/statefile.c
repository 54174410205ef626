/*
 * statefile.c
 *		Writing, checking and taking over an image; see statefile.h.
 */
#include "statefile.h"

#include <string.h>

/* pieces in which it is written */
#define PIECE			8192

/* the ages that a sketch can tell */
#define TICK_MIN		1

typedef struct Header
{
	uint64_t	magic;
	uint32_t	format;
	uint32_t	page_bytes;
	uint64_t	system;
	uint64_t	place;
	int64_t		saved_at;		/* ms since 1970 */
	uint64_t	size;			/* bytes of all, the checksum included */
	uint32_t	reserved;		/* 0 or 1; nobody asks */
	uint32_t	tick_ms;
	uint32_t	tick;			/* the present */
	uint32_t	registers;		/* 0: no sketches */
	uint32_t	floor[WS_STATEFILE_SKETCHES];
	uint32_t	sampled;		/* 0 or 1: is there a sample? */
	uint32_t	pages;			/* of it */
} Header;

/* of the sample, before its pages */
typedef struct Strata
{
	uint32_t	shift;
	uint32_t	lasting;
	uint32_t	brief;
	uint32_t	reserved;
	uint32_t	admitted[WS_STRATA];
	uint32_t	kept[WS_STRATA];
} Strata;

typedef struct Page
{
	WsPageId	page;
	uint32_t	hash;
	uint32_t	touched;
	uint32_t	last;
	uint32_t	use;
	uint32_t	before;
} Page;

_Static_assert(sizeof(Header) == 80 && sizeof(Header) % 8 == 0, "a header has no gaps");
_Static_assert(sizeof(WsHistory) % 8 == 0, "parts are aligned");
_Static_assert(sizeof(Strata) == 16 + 8 * WS_STRATA && sizeof(Strata) % 8 == 0, "strata have no gaps");
_Static_assert(sizeof(Page) == 40, "a page has no gaps");

/* where the parts are */
typedef struct Layout
{
	const Header *header;
	const WsHistory *history;
	const uint32_t *cells[WS_STATEFILE_SKETCHES];
	const Strata *strata;		/* NULL: no sample */
	const Page *pages;
} Layout;

static size_t
cells_of(uint32_t registers)
{
	if (registers == 0)
		return 0;
	/* without the header, and without the marks */
	return (ws_sketch_size(registers) - offsetof(WsSketch, cells)) / 33 * 8;
}

/*
 * Bytes of an image, by its header, whose number of registers is valid and
 * whose number of pages is not too large.
 */
static size_t
size_of(const Header *header)
{
	size_t		size = sizeof(Header) + sizeof(WsHistory) +
		WS_STATEFILE_SKETCHES * cells_of(header->registers) * sizeof(uint32_t) + sizeof(uint32_t);

	if (header->sampled)
		size += sizeof(Strata) + header->pages * sizeof(Page);
	return size;
}

size_t
ws_statefile_size_max(void)
{
	Header		largest = {0};

	largest.registers = WS_REGISTERS_MAX;
	largest.sampled = 1;
	largest.pages = WS_SAMPLE_PAGES_MAX;
	return size_of(&largest);
}

static Layout
layout_of(const void *image)
{
	Layout		layout;
	const char *p = image;

	layout.header = (const Header *) p;
	p += sizeof(Header);
	layout.history = (const WsHistory *) p;
	p += sizeof(WsHistory);
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
	{
		layout.cells[i] = (const uint32_t *) p;
		p += cells_of(layout.header->registers) * sizeof(uint32_t);
	}
	layout.strata = layout.header->sampled ? (const Strata *) p : NULL;
	layout.pages = layout.header->sampled ? (const Page *) (p + sizeof(Strata)) : NULL;
	return layout;
}

/* ---------------------------------------------------------------- writing */

typedef struct Writer
{
	WsChecksum	checksum;
	WsStateFilePut	put;
	void	   *arg;
	bool		fine;
	uint32_t	sum;
	size_t		filled;
	char		piece[PIECE];
} Writer;

static void
flush(Writer *w)
{
	if (w->fine && w->filled > 0)
	{
		w->sum = w->checksum(w->sum, w->piece, w->filled);
		w->fine = w->put(w->arg, w->piece, w->filled);
	}
	w->filled = 0;
}

static void
write_bytes(Writer *w, const void *bytes, size_t size)
{
	const char *p = bytes;

	while (size > 0)
	{
		size_t		n = PIECE - w->filled < size ? PIECE - w->filled : size;

		memcpy(w->piece + w->filled, p, n);
		w->filled += n;
		p += n;
		size -= n;
		if (w->filled == PIECE)
			flush(w);
	}
}

/*
 * Cells that are younger than the image are of its last tick.
 */
static void
write_cells(Writer *w, const WsSketch *sketch, uint32_t tick)
{
	size_t		n = ws_sketch_ncells(sketch);

	for (size_t i = 0; i < n && w->fine; i++)
	{
		uint32_t	cell = ws_load(&sketch->cells[i]);

		if (cell > tick)
			cell = tick;
		write_bytes(w, &cell, sizeof(cell));
	}
}

static uint32_t
at_most(uint32_t value, uint32_t most)
{
	return value < most ? value : most;
}

static void
write_sample(Writer *w, const WsSampler *sampler, uint32_t tick)
{
	Strata		strata;

	memset(&strata, 0, sizeof(strata));
	strata.shift = sampler->shift;
	strata.lasting = sampler->lasting;
	strata.brief = sampler->brief;
	for (int i = 0; i < WS_STRATA; i++)
	{
		strata.admitted[i] = at_most(sampler->admitted[i], tick);
		strata.kept[i] = at_most(sampler->kept[i], tick);
	}
	write_bytes(w, &strata, sizeof(strata));
	for (uint32_t i = 0; i < sampler->capacity && w->fine; i++)
	{
		const WsSample *s = &sampler->samples[i];
		Page		page;

		if (s->touched == 0)
			continue;
		page.page = s->page;
		page.hash = s->hash;
		page.touched = at_most(s->touched, tick);
		page.last = at_most(s->last, tick);
		page.use = at_most(s->use, tick);
		page.before = at_most(s->before, tick);
		write_bytes(w, &page, sizeof(page));
	}
}

bool
ws_statefile_write(const WsStateFileParts *parts, const WsStateFileOwner *owner, int64_t now_ms,
			   WsChecksum checksum, WsStateFilePut put, void *arg)
{
	Writer		w;
	Header		h;
	uint32_t	sum;

	memset(&h, 0, sizeof(h));
	h.magic = WS_STATEFILE_MAGIC;
	h.format = WS_STATEFILE_FORMAT;
	h.page_bytes = owner->page_bytes;
	h.system = owner->system;
	h.place = owner->place;
	h.saved_at = now_ms;
	h.tick_ms = WS_TICK_MS;
	h.tick = parts->sketches[0] ? ws_load(&parts->sketches[0]->tick) : TICK_MIN;
	h.registers = parts->sketches[0] ? ws_sketch_m(parts->sketches[0]) : 0;
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		h.floor[i] = parts->sketches[i] ?
			at_most(ws_load(&parts->sketches[i]->floor), h.tick) : TICK_MIN;
	h.sampled = parts->sampler != NULL;
	h.pages = parts->sampler ? parts->sampler->count : 0;
	h.size = size_of(&h);

	w.checksum = checksum;
	w.put = put;
	w.arg = arg;
	w.fine = true;
	w.sum = 0;
	w.filled = 0;
	write_bytes(&w, &h, sizeof(h));
	write_bytes(&w, parts->history, sizeof(WsHistory));
	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
		if (parts->sketches[i])
			write_cells(&w, parts->sketches[i], h.tick);
	if (parts->sampler)
		write_sample(&w, parts->sampler, h.tick);
	flush(&w);
	sum = w.sum;
	return w.fine && put(arg, &sum, sizeof(sum));
}

/* ---------------------------------------------------------------- checking */

/*
 * Are the numbers in range that the length depends on, and those that are not
 * compared with anything?
 */
static bool
header_possible(const Header *h)
{
	if (h->registers != 0 && !ws_registers_valid((long) h->registers))
		return false;
	if (h->sampled > 1 || (h->sampled && h->registers == 0))
		return false;
	if (h->pages > (h->sampled ? WS_SAMPLE_PAGES_MAX : 0))
		return false;
	return h->saved_at >= 0 && h->saved_at <= WS_STATEFILE_TIME_MAX_MS && h->reserved <= 1;
}

/* The server answers questions about pages by their numbers. */
static bool
page_possible(const WsPageId *page)
{
	return page->tablespace != 0 && page->relation != 0 &&
		(page->tablespace != WS_STATEFILE_GLOBAL_TABLESPACE || page->database == 0) &&
		page->fork >= 0 && page->fork < WS_STATEFILE_FORKS && page->block != WS_STATEFILE_NO_BLOCK;
}

static const char *
distrust_cells(const Layout *l)
{
	size_t		n = cells_of(l->header->registers);

	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
	{
		if (l->header->floor[i] < TICK_MIN || l->header->floor[i] > l->header->tick)
			return "a sketch in it begins after its end";
		for (size_t c = 0; c < n; c++)
			if (l->cells[i][c] > l->header->tick)
				return "a cell in it is of later than the file";
	}
	return NULL;
}

static const char *
distrust_sample(const Layout *l, uint32_t log2m)
{
	const Strata *s = l->strata;
	uint32_t	tick = l->header->tick;

	if (s->shift >= WS_STRATA || s->lasting < s->shift || s->lasting >= WS_STRATA)
		return "its sampling rate is out of range";
	if (s->brief < 1 || s->brief > WS_SAMPLE_SECONDS * WS_TICKS_PER_SECOND)
		return "the time for which it keeps pages is out of range";
	for (int i = 0; i < WS_STRATA; i++)
		if (s->admitted[i] > tick || s->kept[i] > tick)
			return "it was sampled later than the file";
	for (uint32_t i = s->shift + 1; i < WS_STRATA; i++)
		if (s->admitted[i] > s->admitted[i - 1] ||
			(i > s->lasting && s->kept[i] > s->kept[i - 1]))
			return "its strata are out of order";
	for (uint32_t i = 0; i < l->header->pages; i++)
	{
		const Page *p = &l->pages[i];

		if (p->touched < TICK_MIN || p->touched > tick || p->last > p->touched ||
			p->use > p->last || p->before > p->use)
			return "a page in it was used at an impossible time";
		if (!page_possible(&p->page))
			return "a page in it cannot exist";
		if (ws_stratum(p->hash, log2m) < s->shift)
			return "a page in it is not of the sample";
	}
	return NULL;
}

const char *
ws_statefile_distrust(const void *image, size_t size, const WsStateFileOwner *owner,
				  WsChecksum checksum)
{
	const Header *h = image;
	uint32_t	sum;
	Layout		layout;
	const char *why;

	if (size == 0)
		return "it is empty";
	if (size < offsetof(Header, page_bytes) || h->magic != WS_STATEFILE_MAGIC)
		return "it was not written by working_set on such a machine";
	if (h->format != WS_STATEFILE_FORMAT)
		return "it has another format";
	if (size < sizeof(Header))
		return "it is too short";
	if (!header_possible(h))
		return "its header is damaged";
	if (h->size != size || size_of(h) != size)
		return "it has a wrong length";
	memcpy(&sum, (const char *) image + size - sizeof(sum), sizeof(sum));
	if (checksum(0, image, size - sizeof(sum)) != sum)
		return "its checksum is wrong";
	if (h->system != owner->system)
		return "it belongs to another database cluster";
	if (h->place != owner->place)
		return "it was saved in another directory, which this one is a copy of";
	if (h->page_bytes != owner->page_bytes)
		return "its pages are of another size";
	layout = layout_of(image);
	why = ws_history_check(layout.history);
	if (!why)
		why = distrust_cells(&layout);
	if (!why && layout.strata)
		why = distrust_sample(&layout, (uint32_t) __builtin_ctz(h->registers));
	return why;
}

const char *
ws_statefile_distrust_sketches(const void *image, uint32_t registers, int64_t now_ms)
{
	const Header *h = image;

	if (h->registers == 0)
		return "it has the history alone";
	if (h->registers != registers)
		return "it is of another number of registers";
	if (h->tick_ms != WS_TICK_MS)
		return "its clock ticks differently";
	if (h->saved_at - WS_STATEFILE_FUTURE_MS > now_ms)
		return "it is from the future";
	return NULL;
}

/* ---------------------------------------------------------------- taking over */

/* a tick of the image by the present clock */
typedef struct Clock
{
	int64_t		ahead;			/* of the image's */
} Clock;

static Clock
clock_of(const Header *h, uint32_t tick, int64_t now_ms)
{
	/* a time of day that was set back does not make anything younger */
	int64_t		passed = now_ms > h->saved_at ? (now_ms - h->saved_at) / WS_TICK_MS : 0;

	return (Clock) {(int64_t) tick - passed - (int64_t) h->tick};
}

/*
 * 0 stays 0, never; what is older than the present clock can tell is of its
 * first tick.
 */
static uint32_t
by_clock(Clock clock, uint32_t tick)
{
	int64_t		there = clock.ahead + (int64_t) tick;

	if (tick == 0)
		return 0;
	return there < TICK_MIN ? TICK_MIN : (uint32_t) there;
}

int64_t
ws_statefile_saved_at(const void *image)
{
	return ((const Header *) image)->saved_at;
}

bool
ws_statefile_has_sketches(const void *image)
{
	return ((const Header *) image)->registers != 0;
}

void
ws_statefile_take_history(const void *image, WsHistory *history, int64_t now_ms)
{
	ws_history_merge(history, layout_of(image).history, now_ms / 1000);
}

uint32_t
ws_statefile_take_sketches(const void *image, WsSketch *const *sketches, int64_t now_ms)
{
	Layout		l = layout_of(image);
	Clock		clock = clock_of(l.header, ws_load(&sketches[0]->tick), now_ms);
	size_t		n = cells_of(l.header->registers);
	uint32_t	floor = 0;

	for (int i = 0; i < WS_STATEFILE_SKETCHES; i++)
	{
		for (size_t c = 0; c < n; c++)
			if (l.cells[i][c] >= l.header->floor[i])
				ws_sketch_recall(sketches[i], c, by_clock(clock, l.cells[i][c]));
		if (by_clock(clock, l.header->floor[i]) > floor)
			floor = by_clock(clock, l.header->floor[i]);
	}
	return floor;
}

/*
 * The smallest shift whose pages leave an eighth of the room.
 */
static uint32_t
shift_that_fits(const Layout *l, uint32_t log2m, uint32_t capacity)
{
	uint32_t	shift = l->strata->shift;
	uint32_t	n = l->header->pages;

	while (n > capacity / 8 * 7 && shift + 1 < WS_STRATA)
	{
		shift++;
		n = 0;
		for (uint32_t i = 0; i < l->header->pages; i++)
			n += ws_stratum(l->pages[i].hash, log2m) >= shift;
	}
	return shift;
}

bool
ws_statefile_take_sample(const void *image, WsSampler *sampler, uint32_t tick, int64_t now_ms)
{
	Layout		l = layout_of(image);
	Clock		clock = clock_of(l.header, tick, now_ms);

	if (!l.strata)
		return false;
	ws_sampler_init(sampler, sampler->capacity, sampler->log2m,
					l.header->pages > sampler->capacity ?
					shift_that_fits(&l, sampler->log2m, sampler->capacity) : l.strata->shift, tick);
	sampler->lasting = l.strata->lasting > sampler->shift ? l.strata->lasting : sampler->shift;
	sampler->brief = l.strata->brief;
	for (int i = 0; i < WS_STRATA; i++)
	{
		sampler->admitted[i] = by_clock(clock, l.strata->admitted[i]);
		sampler->kept[i] = by_clock(clock, l.strata->kept[i]);
	}
	for (uint32_t i = 0; i < l.header->pages; i++)
	{
		const Page *p = &l.pages[i];
		uint32_t	entry;
		WsSample   *s;

		if (ws_sampler_find(sampler, &p->page, p->hash) != WS_NO_SAMPLE)
			continue;
		entry = ws_sampler_enter(sampler, &p->page, p->hash, by_clock(clock, p->touched));
		if (entry == WS_NO_SAMPLE)
			continue;
		s = &sampler->samples[entry];
		s->last = by_clock(clock, p->last);
		s->use = by_clock(clock, p->use);
		s->before = by_clock(clock, p->before);
	}
	return true;
}
