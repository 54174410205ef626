/*
 * contention.c
 *		How many lines of cache would many processors take from each other?
 *
 * A simulation, since a machine with so many processors is not available.  Each
 * lookup is a hit of a page by Zipf's law, by a processor at random.  Caches are
 * large enough, so a line moves only because another processor wrote it
 * or is to write it: a transfer is a read of a line that the processor does not
 * have, or a write to one that it does not have for itself.
 *
 * The server writes four times in a hit, at the least: it takes the lock of the
 * table's partition and releases it, and pins the buffer and unpins it.
 * working_set reads the mark, and without one it reads the present, and writes
 * the cell and the mark; this is what lookup.c does.  Pages of sampled registers,
 * one in 16, have no mark.  Their reports are not counted.  The worker, on a
 * processor of its own, raises the tick, and each second wipes the marks.
 */
#include "traces.h"
#include "trials.h"

#define PAGES		1000000
#define EXPONENT	0.99
#define PARTITIONS	128
#define MAX_CORES	255
#define WARM		2			/* presents, until caches have what they will */
#define PRESENTS	2
#define SAMPLED		(UINT32_C(1) << 28)

/* What processors have of a line */
typedef struct Line
{
	uint64_t	sharers[(MAX_CORES + 1) / 64];
	int			owner;			/* may write it; -1: nobody */
} Line;

typedef struct Way
{
	const char *name;
	uint32_t	m;
	uint32_t	ticks;			/* that a present lasts */
	bool		marks;			/* or does each cell show whether it is current? */
} Way;

typedef struct World
{
	WsSketch   *sk;
	uint32_t   *before;			/* the marks, before the worker wipes them */
	Line	   *sketch;			/* its lines */
	Line	   *locks;
	Line	   *buffers;
	long		transfers;		/* by working_set, */
	long		server;			/* and by the server */
	long		stores;
	long		found;			/* marks */
} World;

static bool
has(const Line *line, int core)
{
	return line->sharers[core / 64] >> (core % 64) & 1;
}

static int
fetch(Line *line, int core)
{
	int			moved = !has(line, core);

	line->sharers[core / 64] |= UINT64_C(1) << (core % 64);
	if (line->owner != core)
		line->owner = -1;
	return moved;
}

static int
take(Line *line, int core)
{
	int			moved = line->owner != core;

	memset(line->sharers, 0, sizeof(line->sharers));
	line->sharers[core / 64] = UINT64_C(1) << (core % 64);
	line->owner = core;
	return moved;
}

static Line *
line_of(World *w, const void *address)
{
	return &w->sketch[((const char *) address - (const char *) w->sk) / 64];
}

static Line *
new_lines(size_t n)
{
	Line	   *lines = zeroed(n, sizeof(Line));

	for (size_t i = 0; i < n; i++)
		lines[i].owner = -1;
	return lines;
}

static void
store(World *w, uint32_t hash, uint32_t cell, int core)
{
	w->transfers += take(line_of(w, &w->sk->cells[cell]), core);
	w->stores++;
	ws_sketch_touch(w->sk, hash);
}

/* What working_set does in a hit */
static void
record(World *w, const Way *way, uint32_t hash, int core)
{
	uint32_t	cell = ws_sketch_cell(w->sk, hash);
	uint32_t   *marks = ws_sketch_marks(w->sk);

	if (way->marks)
	{
		w->transfers += fetch(line_of(w, &marks[cell / 32]), core);
		if (ws_marked(marks, cell))
		{
			w->found++;
			return;
		}
	}
	w->transfers += fetch(line_of(w, &w->sk->present), core);
	if (way->marks && !ws_hash_in_sampled_register(hash, SAMPLED))
	{
		store(w, hash, cell, core);
		w->transfers += take(line_of(w, &marks[cell / 32]), core);
		ws_mark(marks, cell);
		return;
	}
	w->transfers += fetch(line_of(w, &w->sk->cells[cell]), core);
	if (w->sk->cells[cell] != w->sk->present)
		store(w, hash, cell, core);
}

/* The worker, on a core of its own: what it reads, and what it writes */
static void
begin_present(World *w, uint32_t ticks, int core)
{
	uint32_t   *marks = ws_sketch_marks(w->sk);
	size_t		bytes = ws_sketch_ncells(w->sk) / 8;

	memcpy(w->before, marks, bytes);
	ws_sketch_begin(w->sk, w->sk->present + ticks);
	/* the tick is in the same line */
	for (uint32_t i = 0; i < ticks; i++)
		w->transfers += take(line_of(w, &w->sk->present), core);
	for (size_t line = 0; line < bytes / 64; line++)
	{
		w->transfers += fetch(line_of(w, &marks[line * 16]), core);
		if (memcmp(&w->before[line * 16], &marks[line * 16], 64) != 0)
			w->transfers += take(line_of(w, &marks[line * 16]), core);
	}
}

static void
simulate(const Way *way, int cores, long rate, const Zipf *zipf)
{
	World		w = {.sk = new_sketch(way->m, START)};
	long		hits = rate * way->ticks / WS_TICKS_PER_SECOND;
	uint64_t	seed = 7;

	w.sketch = new_lines(ws_sketch_size(way->m) / 64);
	w.locks = new_lines(PARTITIONS);
	w.buffers = new_lines(PAGES);
	w.before = zeroed(ws_sketch_ncells(w.sk) / 8, 1);
	for (int t = 0; t < WARM + PRESENTS; t++)
	{
		if (t == WARM)
			w.transfers = w.server = w.stores = w.found = 0;
		begin_present(&w, way->ticks, cores);
		for (long i = 0; i < hits; i++)
		{
			uint32_t	page = zipf_draw(zipf, &seed);
			uint32_t	hash = page_hash(1, page);
			int			core = (int) random_below(&seed, (uint32_t) cores);

			w.server += take(&w.locks[hash % PARTITIONS], core);
			record(&w, way, hash, core);
			w.server += take(&w.locks[hash % PARTITIONS], core);
			w.server += take(&w.buffers[page], core);
			w.server += take(&w.buffers[page], core);
		}
	}
	hits *= PRESENTS;
	printf("%-34s %11ld %8.3f %8.4f %10.4f %10.4f\n", way->name, rate, (double) w.found / hits,
		   (double) w.stores / hits, (double) w.transfers / hits, (double) w.server / hits);
	fflush(stdout);
	free(w.sk);
	free(w.sketch);
	free(w.locks);
	free(w.buffers);
	free(w.before);
}

int
main(int argc, char **argv)
{
	static const Way ways[] = {
		{"as it is", WS_REGISTERS_DEFAULT, WS_PRESENT, true},
		{"a present of one tick", WS_REGISTERS_DEFAULT, 1, true},
		{"no marks", WS_REGISTERS_DEFAULT, WS_PRESENT, false},
		{"16384 registers", 16384, WS_PRESENT, true},
	};
	static const long rates[] = {5000000, 50000000};
	int			cores = argc > 1 ? atoi(argv[1]) : 192;
	Zipf	   *zipf = zipf_new(PAGES, EXPONENT);

	if (cores < 1 || cores >= MAX_CORES)
		return 2;
	printf("%d processors, hits of %d pages by Zipf's law (%.2f), %d presents after %d\n\n", cores, PAGES, EXPONENT, PRESENTS, WARM);
	printf("                                                   marks           transfers of lines\n");
	printf("                                    hits/s         found   stores by working_set by the server\n");
	for (size_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++)
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
			simulate(&ways[i], cores, rates[r], zipf);
	zipf_free(zipf);
	return 0;
}
