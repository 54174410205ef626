/*
 * contention.c
 *		How often would many cores take the sketch's cache lines from each other?
 *
 * A simulation that counts; nothing is timed.  Cores draw pages at random and
 * look them up.  Each keeps every line that it has seen until another core
 * writes to it:
 *
 *	- a load of a line that the core does not hold is one miss: the line is
 *	  transferred.  Now both hold it.
 *	- a store, or an atomic operation, to a line that the core does not hold
 *	  alone is one miss: the line is transferred, or the others' are made
 *	  invalid.  Now only the writer holds it.
 *
 * So a load followed by a store may be two misses.  For every hit are counted
 *
 *	the server's	an atomic operation to take the lock of the partition, one of
 *	own				128, and one to release it; the same to pin and to unpin the
 *					buffer, in its header.  Locks and headers have a line each.
 *	marks			the load of the mark; if there is none, the mark is set.  A core
 *					of its own, the worker's, wipes those that are set, once a tick.
 *	cells			without marks the load of the cell, and the store if the rule
 *					says so; with marks only that
 *	tick			the load of the tick, which the worker's core raises; with marks
 *					only by who stores
 *	books			what every process does once a tick, when it first stores:
 *					look at the tick of last activity, which the first one
 *					writes, and add to its counters, of which there are 64.
 *					There is one process for a core.
 *	sample			for a page that is sampled: the sampling rate (it is in the
 *					line of last activity), the slot that damps, and of the hits
 *					that are reported the head, tail and place of the stream.
 *					The worker empties it once a tick.
 *
 * The order is random: each hit is by another core, and is over before the next
 * one begins.  That makes the server's own share smaller than it is, since no
 * core comes between taking a lock and releasing it, or between pin and unpin.
 * What is left is known in advance: the last one to use a lock was any core, so
 * a hit has 2 (1 - 1/cores) misses there.
 *
 * Limits.  Caches are infinite, so no line is ever lost for want of room.
 * There is no limit of bandwidth, no queue for a line, and all cores are equally
 * far away.  No process prefers certain pages.  Races are not modelled: of cores
 * that find the same old cell at the same instant, here the first stores and the
 * others see it; really each would store, once.  If a store takes so long to be
 * seen as a miss takes, then to each are added as many as there are hits of the
 * cell in that time, and to all of a tick as many as there are hits: few.
 * Nothing but hits is there, and nothing else that a server does.  So counts are
 * what they are, but the time of a miss is an assumption, and the share of time
 * that it makes is no more than that.
 *
 * The first fifth of a second is not counted.  To begin with, each line is held
 * by some core.  With five times as long, cells differ by a few in a thousand,
 * and the sample's misses, of which pages new to it have a part, are a tenth less.
 *
 * Checked against what can be computed: the share of misses in lines that are
 * always written; stores, which are the distinct cells touched in a tick (for
 * each cell 1 - (1 - p)^n), and at most one for a cell and tick; and a single hot
 * page, where each core has exactly one miss a tick.
 */
#include "sampler.h"
#include "yardstick.h"

#include <stdio.h>
#include <string.h>

#define CORES_MAX		256
#define WORDS			(CORES_MAX / 64)

/* time is in slices, short enough for the shortest tick */
#define SLICES			100		/* a second */
#define WARM_UP			20		/* slices */
#define MEASURED		20		/* slices that are counted */
#define MEASURED_LONG	100		/* for ticks of a second */

/* of the server */
#define LOCKS			128		/* NUM_BUFFER_PARTITIONS */

/* of the extension: shmem.h, watch.c, advisor.c, sampler.c */
#define SHARDS			64
#define STREAM_PLACES	32768
#define HITS_TOLD		5
#define DAMP_TICKS		8
#define DAMPER_SLOTS	(2 * WS_SAMPLE_PAGES_DEFAULT)
#define SHIFT_MIN		4

/* statistical checks allow so many standard deviations */
#define K_SIGMA			5

static void *
zeroed(size_t n, size_t size)
{
	void	   *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

/* ---------------------------------------------------------------- lines */

/* which cores hold the line */
typedef struct Line
{
	uint64_t	held[WORDS];
} Line;

typedef struct Count
{
	uint64_t	loads;
	uint64_t	stores;
	uint64_t	transfers;		/* misses of loads */
	uint64_t	upgrades;		/* misses of stores */
} Count;

static inline void
load(Line *line, int core, Count *count)
{
	uint64_t	bit = UINT64_C(1) << (core & 63);

	count->loads++;
	count->transfers += (line->held[core >> 6] & bit) == 0;
	line->held[core >> 6] |= bit;
}

/* hold it alone; was that not so before? */
static inline bool
take(Line *line, int core)
{
	Line		alone = {{0}};
	bool		missed;

	alone.held[core >> 6] = UINT64_C(1) << (core & 63);
	missed = memcmp(line, &alone, sizeof(Line)) != 0;
	*line = alone;
	return missed;
}

static inline void
store(Line *line, int core, Count *count)
{
	count->stores++;
	count->upgrades += take(line, core);
}

static uint64_t
misses(const Count *count)
{
	return count->transfers + count->upgrades;
}

/* ---------------------------------------------------------------- traffic */

typedef enum Law
{
	ZIPF,
	UNIFORM,
	HOT,
	SINGLE,						/* for a check */
	NLAWS
} Law;

static const struct
{
	const char *option;
	const char *name;
	uint32_t	pages;
}			laws[] = {
	{"zipf", "Zipf 0.99 over 1,000,000 pages", 1000000},
	{"uniform", "uniform over 10,000,000 pages", 10000000},
	{"hot", "64 hot pages", 64},
	{"single", "one page", 1}
};

static uint64_t seed = 1;

/* Zipf's law by the alias method (Walker 1977; Vose 1991) */
static struct
{
	float		keep;
	uint32_t	alias;
}		   *urns;
static double *zipf_share;

static void
prepare_zipf(void)
{
	uint32_t	pages = laws[ZIPF].pages;
	double	   *p = zeroed(pages, sizeof(double));
	uint32_t   *few = zeroed(pages, sizeof(uint32_t));
	uint32_t   *many = zeroed(pages, sizeof(uint32_t));
	uint32_t	nfew = 0;
	uint32_t	nmany = 0;
	double		sum = 0;

	urns = zeroed(pages, sizeof(*urns));
	zipf_share = zeroed(pages, sizeof(double));
	for (uint32_t i = 0; i < pages; i++)
		sum += zipf_share[i] = pow(i + 1, -0.99);
	for (uint32_t i = 0; i < pages; i++)
	{
		zipf_share[i] /= sum;
		p[i] = zipf_share[i] * pages;
		urns[i].keep = 1;
		urns[i].alias = i;
		if (p[i] < 1)
			few[nfew++] = i;
		else
			many[nmany++] = i;
	}
	while (nfew > 0 && nmany > 0)
	{
		uint32_t	i = few[--nfew];
		uint32_t	j = many[--nmany];

		urns[i].keep = (float) p[i];
		urns[i].alias = j;
		p[j] -= 1 - p[i];
		if (p[j] < 1)
			few[nfew++] = j;
		else
			many[nmany++] = j;
	}
	free(p);
	free(few);
	free(many);
}

static inline uint32_t
draw_page(Law law)
{
	uint64_t	r = random64(&seed);
	uint32_t	i = (uint32_t) (((r >> 32) * laws[law].pages) >> 32);

	/* the two halves of r are independent */
	if (law == ZIPF && (uint32_t) r * 0x1p-32f >= urns[i].keep)
		i = urns[i].alias;
	return i;
}

static double
page_share(Law law, uint32_t page)
{
	return law == ZIPF ? zipf_share[page] : 1.0 / laws[law].pages;
}

static inline uint32_t
page_hash(uint32_t page)
{
	return (uint32_t) (mix64((page + 1) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
}

/* ---------------------------------------------------------------- sketches */

/*
 * When a cell is written, and where it lies.
 */
typedef struct Plan
{
	const char *name;
	uint32_t	registers;
	bool		marks;			/* a bit says whether the cell is current */
	bool		always;			/* store even if the cell is current */
	int			tick;			/* in slices */
	bool		by_register;	/* the levels of a register are neighbours, in 32
								 * places; else the registers of a level */
	int			line_shift;		/* 2^this cells are in a line */
} Plan;

static const Plan plans[] = {
	{"ours: 16384 registers, marks, 100 ms", 16384, true, false, 10, false, 4},
	{"  without marks: skip if the cell is equal", 16384, false, false, 10, false, 4},
	{"  store always", 16384, false, true, 10, false, 4},
	{"  ticks of 10 ms", 16384, true, false, 1, false, 4},
	{"  ticks of 1 s", 16384, true, false, 100, false, 4},
	{"  4096 registers", 4096, true, false, 10, false, 4},
	{"  65536 registers", 65536, true, false, 10, false, 4},
	{"  without marks, cells of 16 bits", 16384, false, false, 10, false, 5},
	{"  without marks, by register, 4 bytes", 16384, false, false, 10, true, 4},
	{"  without marks, by register, 8 bytes", 16384, false, false, 10, true, 3}
};

#define NPLANS ((int) (sizeof(plans) / sizeof(plans[0])))

/*
 * A sketch, and everything else that its plan adds to a hit.
 */
typedef struct Model
{
	const Plan *plan;
	bool		counting;
	WsSketch   *sk;				/* cells hold ticks, whatever their size */
	size_t		ncells;
	size_t		nlines;
	Line	   *lines;
	uint32_t   *line_stores;	/* while counting */
	uint32_t   *cell_stores;
	Count		cells;

	/* marks: of 512 cells in a line */
	size_t		nmark_lines;
	Line	   *mark_lines;
	uint32_t   *marked;			/* tick for which a cell is marked */
	uint32_t   *marks_in;		/* how many of a line are set */
	uint32_t   *mark_stores;	/* while counting */
	Count		marks;

	/* tick, and books */
	Line		tick_line;
	Line		active_line;
	uint32_t	active_tick;
	Line		shards[SHARDS];
	uint32_t	settled[CORES_MAX];
	Count		tick;
	Count		books;

	/* sample: shift 0 for none */
	uint32_t	shift;
	Line		slot_lines[DAMPER_SLOTS / 8];
	struct
	{
		uint32_t	hash;
		uint32_t	interval;
		uint32_t	told;
	}			slots[DAMPER_SLOTS];
	Line		head_line;
	Line		tail_line;
	Line		places[STREAM_PLACES * sizeof(WsEvent) / 64 + 1];
	uint32_t	head;
	uint32_t	tail;
	uint64_t	events;
	uint64_t	dropped;
	Count		sample;
} Model;

/*
 * Lines have been used before, by any core.
 */
static Model *
new_model(const Plan *plan, int cores)
{
	Model	   *model = zeroed(1, sizeof(Model));

	model->plan = plan;
	model->sk = new_sketch(plan->registers, WS_TICK_ORIGIN);
	model->ncells = ws_sketch_ncells(model->sk);
	model->nlines = (plan->by_register ? 32 * (size_t) plan->registers : model->ncells) >> plan->line_shift;
	model->lines = zeroed(model->nlines, sizeof(Line));
	model->line_stores = zeroed(model->nlines, sizeof(uint32_t));
	model->cell_stores = zeroed(model->ncells, sizeof(uint32_t));
	model->nmark_lines = model->ncells / 512;
	model->mark_lines = zeroed(model->nmark_lines, sizeof(Line));
	model->marked = zeroed(model->ncells, sizeof(uint32_t));
	model->marks_in = zeroed(model->nmark_lines, sizeof(uint32_t));
	model->mark_stores = zeroed(model->nmark_lines, sizeof(uint32_t));
	for (size_t i = 0; i < model->nlines; i++)
		take(&model->lines[i], (int) random_below(&seed, cores));
	for (size_t i = 0; i < model->nmark_lines; i++)
		take(&model->mark_lines[i], (int) random_below(&seed, cores));
	return model;
}

static void
free_model(Model *model)
{
	free(model->sk);
	free(model->lines);
	free(model->line_stores);
	free(model->cell_stores);
	free(model->mark_lines);
	free(model->marked);
	free(model->marks_in);
	free(model->mark_stores);
	free(model);
}

static inline size_t
line_of(const Model *model, uint32_t cell)
{
	if (model->plan->by_register)
	{
		uint32_t	level = cell >> model->sk->log2m;
		uint32_t	reg = cell & (model->plan->registers - 1);

		return (reg * 32 + level) >> model->plan->line_shift;
	}
	return cell >> model->plan->line_shift;
}

/*
 * The worker, on a core of its own, begins a tick.
 */
static void
begin_tick(Model *model, uint32_t tick, int worker)
{
	Count		its_own = {0};	/* no hit waits for these */

	ws_store(&model->sk->tick, tick);
	store(&model->tick_line, worker, &its_own);

	for (size_t i = 0; i < model->nmark_lines; i++)
	{
		load(&model->mark_lines[i], worker, &its_own);
		if (model->marks_in[i] > 0)
			store(&model->mark_lines[i], worker, &its_own);
		model->marks_in[i] = 0;
	}

	if (model->tail != model->head)
	{
		load(&model->head_line, worker, &its_own);
		for (; model->tail != model->head; model->tail++)
		{
			size_t		at = model->tail % STREAM_PLACES * sizeof(WsEvent);

			load(&model->places[at / 64], worker, &its_own);
			load(&model->places[(at + sizeof(WsEvent) - 1) / 64], worker, &its_own);
		}
		store(&model->tail_line, worker, &its_own);
	}
}

/*
 * What every process does once a tick.
 */
static void
settle(Model *model, int core, uint32_t tick)
{
	model->settled[core] = tick;
	store(&model->shards[core % SHARDS], core, &model->books);
	load(&model->active_line, core, &model->books);
	if (model->active_tick != tick)
	{
		model->active_tick = tick;
		store(&model->active_line, core, &model->books);
	}
}

/*
 * A hit of a page that is sampled.
 */
static void
sampled_hit(Model *model, uint32_t hash, int core, uint32_t tick)
{
	uint32_t	slot = hash * 0x85EBCA6BU >> (32 - __builtin_ctz(DAMPER_SLOTS));
	Line	   *slot_line = &model->slot_lines[slot / 8];
	/* intervals really begin together; by turns, few ticks show the average */
	uint32_t	interval = (tick + slot) / DAMP_TICKS;
	size_t		at;

	load(&model->active_line, core, &model->sample);
	load(slot_line, core, &model->sample);
	if (model->slots[slot].hash != hash || model->slots[slot].interval != interval)
	{
		model->slots[slot].hash = hash;
		model->slots[slot].interval = interval;
		model->slots[slot].told = 0;
	}
	if (model->slots[slot].told == HITS_TOLD)
		return;
	model->slots[slot].told++;
	store(slot_line, core, &model->sample);

	load(&model->head_line, core, &model->sample);
	load(&model->tail_line, core, &model->sample);
	if (model->head - model->tail == STREAM_PLACES)
	{
		model->dropped++;
		return;
	}
	store(&model->head_line, core, &model->sample);
	at = model->head++ % STREAM_PLACES * sizeof(WsEvent);
	store(&model->places[at / 64], core, &model->sample);
	if ((at + sizeof(WsEvent) - 1) / 64 != at / 64)
		store(&model->places[at / 64 + 1], core, &model->sample);
	model->events++;
}

static void
store_cell(Model *model, uint32_t cell, int core, uint32_t tick)
{
	size_t		at = line_of(model, cell);

	model->sk->cells[cell] = tick;
	store(&model->lines[at], core, &model->cells);
	if (model->counting)
	{
		model->line_stores[at]++;
		model->cell_stores[cell]++;
	}
	if (model->settled[core] != tick)
		settle(model, core, tick);
}

static inline void
hit(Model *model, uint32_t hash, int core)
{
	uint32_t	tick = ws_load(&model->sk->tick);
	uint32_t	cell = ws_sketch_cell(model->sk, hash);
	bool		sampled = model->shift > 0 && ws_stratum(hash, model->sk->log2m) >= model->shift;

	if (model->plan->marks)
	{
		size_t		at = cell / 512;

		load(&model->mark_lines[at], core, &model->marks);
		/* the cells of sampled pages are never marked, and looked at themselves */
		if (model->marked[cell] != tick || sampled)
		{
			load(&model->tick_line, core, &model->tick);
			if (sampled)
				load(&model->lines[line_of(model, cell)], core, &model->cells);
			if (model->sk->cells[cell] != tick)
				store_cell(model, cell, core, tick);
			if (!sampled)
			{
				store(&model->mark_lines[at], core, &model->marks);
				model->marks_in[at]++;
				model->marked[cell] = tick;
				if (model->counting)
					model->mark_stores[at]++;
			}
		}
	}
	else
	{
		load(&model->tick_line, core, &model->tick);
		if (!model->plan->always)
			load(&model->lines[line_of(model, cell)], core, &model->cells);
		if (model->plan->always || model->sk->cells[cell] != tick)
			store_cell(model, cell, core, tick);
	}
	if (sampled)
	{
		if (model->settled[core] != tick)
			settle(model, core, tick);
		sampled_hit(model, hash, core, tick);
	}
}

static void
begin_counting(Model *model)
{
	model->counting = true;
	model->cells = model->marks = model->tick = model->books = model->sample = (Count) {0};
	model->events = model->dropped = 0;
}

static uint32_t
largest(const uint32_t *counts, size_t n)
{
	uint32_t	most = 0;

	for (size_t i = 0; i < n; i++)
		most = counts[i] > most ? counts[i] : most;
	return most;
}

/* ---------------------------------------------------------------- a run */

typedef struct Run
{
	Law			law;
	int			cores;
	double		rate;			/* hits a second, of all */
	uint64_t	hits;			/* of the slices in which all but long ticks are counted */
	int			nmodels;
	Model	   *models[NPLANS];
	Count		locks;
	Count		headers;
	uint32_t	lock_stores[LOCKS];
	uint32_t   *page_hits;		/* NULL if nobody asks */
} Run;

/* slices in which a plan is counted */
static int
measured(const Plan *plan)
{
	return plan->tick > MEASURED ? MEASURED_LONG : MEASURED;
}

/*
 * As many pages as the table has room for, give or take.
 */
static uint32_t
sample_shift(Law law)
{
	uint32_t	shift = SHIFT_MIN;

	while (laws[law].pages >> shift > WS_SAMPLE_PAGES_DEFAULT / 8 * 7)
		shift++;
	return shift;
}

/*
 * The locks and headers have been used before, by any core.
 */
static void
simulate(Run *run)
{
	Line	   *locks = zeroed(LOCKS, sizeof(Line));
	uint32_t	pages = laws[run->law].pages;
	uint8_t    *holder = zeroed(pages, 1);	/* of the buffer's header, always alone */
	int			per_slice = (int) (run->rate / SLICES);
	int			slices = 0;

	for (uint32_t i = 0; i < pages; i++)
		holder[i] = (uint8_t) random_below(&seed, run->cores);
	for (int i = 0; i < LOCKS; i++)
		take(&locks[i], (int) random_below(&seed, run->cores));
	for (int i = 0; i < run->nmodels; i++)
		if (slices < WARM_UP + measured(run->models[i]->plan))
			slices = WARM_UP + measured(run->models[i]->plan);

	for (int slice = 0; slice < slices; slice++)
	{
		Model	   *active[NPLANS];
		int			nactive = 0;
		bool		server = slice >= WARM_UP && slice < WARM_UP + MEASURED;

		for (int i = 0; i < run->nmodels; i++)
		{
			Model	   *model = run->models[i];

			if (slice == WARM_UP)
				begin_counting(model);
			if (slice >= WARM_UP + measured(model->plan))
				continue;
			/* all ticks begin where counting does */
			if ((slice - WARM_UP) % model->plan->tick == 0)
				begin_tick(model, ws_load(&model->sk->tick) + 1, run->cores);
			active[nactive++] = model;
		}

		for (int n = 0; n < per_slice; n++)
		{
			uint32_t	page = draw_page(run->law);
			int			core = (int) random_below(&seed, run->cores);
			uint32_t	hash = page_hash(page);

			if (server)
			{
				Line	   *lock = &locks[hash % LOCKS];

				store(lock, core, &run->locks);
				store(lock, core, &run->locks);
				run->headers.stores += 2;
				run->headers.upgrades += holder[page] != core;
				holder[page] = (uint8_t) core;
				run->lock_stores[hash % LOCKS] += 2;
				if (run->page_hits)
					run->page_hits[page]++;
				run->hits++;
			}
			for (int i = 0; i < nactive; i++)
				hit(active[i], hash, core);
		}
	}
	free(locks);
	free(holder);
}

static void
end_run(Run *run)
{
	for (int i = 0; i < run->nmodels; i++)
		free_model(run->models[i]);
	free(run->page_hits);
}

/* ---------------------------------------------------------------- checks */

static int	failed = 0;

static void
check(bool fine, const char *what, const char *where, double expected, double got, double deviations)
{
	if (!fine)
	{
		failed++;
		printf("FAILED: %s (%s): expected %.6g, got %.6g, %.1f standard deviations\n", what, where,
			   expected, got, deviations);
	}
}

static void
check_share(const char *what, const char *where, double p, uint64_t got, uint64_t of)
{
	double		deviations = (got - p * of) / sqrt(p * (1 - p) * of);

	check(fabs(deviations) < K_SIGMA, what, where, p, (double) got / of, deviations);
}

/* the largest difference in standard deviations is told */
static double worst_stores = 0;

/*
 * Stores of a plan that skips are the distinct cells of each tick.  Whether
 * one is touched makes it a little less likely that others are, so the
 * variance is at most the sum of the cells' own.
 */
static void
check_stores(const Run *run, const Model *model)
{
	const Plan *plan = model->plan;
	double	   *share = zeroed(model->ncells, sizeof(double));
	int			ticks = measured(plan) / plan->tick;
	double		hits = (double) (int) (run->rate / SLICES) * plan->tick;
	double		expected = 0;
	double		variance = 0;
	double		deviations;
	uint64_t	most = largest(model->cell_stores, model->ncells);

	for (uint32_t i = 0; i < laws[run->law].pages; i++)
		share[ws_sketch_cell(model->sk, page_hash(i))] += page_share(run->law, i);
	for (size_t c = 0; c < model->ncells; c++)
	{
		double		q = share[c] > 0 ? -expm1(hits * log1p(-fmin(share[c], 1 - 1e-15))) : 0;

		expected += ticks * q;
		variance += ticks * q * (1 - q);
	}
	deviations = (model->cells.stores - expected) / sqrt(fmax(variance, 1));
	worst_stores = fmax(worst_stores, fabs(deviations));
	check(fabs(deviations) < K_SIGMA, "stores", plan->name, expected, model->cells.stores, deviations);
	check(most <= (uint64_t) ticks, "stores to a cell, at most", plan->name, ticks, most, 0);
	free(share);
}

static void
check_run(const Run *run)
{
	double		foreign = 1 - 1.0 / run->cores;

	/* of two operations in a row the second never misses */
	check_share("misses on locks", laws[run->law].name, foreign, run->locks.upgrades, run->hits);
	check_share("misses on headers", laws[run->law].name, foreign, run->headers.upgrades, run->hits);
	for (int i = 0; i < run->nmodels; i++)
	{
		const Model *model = run->models[i];

		if (!model->plan->always)
			check_stores(run, model);
		else
		{
			check(model->cells.stores == run->hits, "stores", model->plan->name, run->hits,
				  model->cells.stores, 0);
			check_share("misses of all stores", model->plan->name, foreign,
						model->cells.upgrades, run->hits);
		}
	}
}

/*
 * A page that all cores use all the time.  Without marks one of them stores, the
 * others load, so each has one miss a tick; the same for the tick.  With marks
 * each has one miss of the mark a tick, and one has to set it; only that one
 * looks at the tick.
 */
static void
check_single(int cores)
{
	Run			run = {.law = SINGLE, .cores = cores, .rate = 200.0 * cores * SLICES};
	uint64_t	ticks = MEASURED / plans[0].tick;
	Model	   *ours = new_model(&plans[0], cores);
	Model	   *plain = new_model(&plans[1], cores);

	run.models[run.nmodels++] = ours;
	run.models[run.nmodels++] = plain;
	simulate(&run);
	check(ours->marks.transfers == cores * ticks, "misses of the mark", "one page", cores * ticks,
		  ours->marks.transfers, 0);
	check(ours->marks.stores == ticks && ours->marks.upgrades == ticks, "marks set", "one page", ticks,
		  ours->marks.stores, 0);
	check(misses(&ours->tick) == ticks, "misses of the tick", "one page", ticks, misses(&ours->tick), 0);
	check(misses(&plain->cells) == cores * ticks, "misses without marks", "one page", cores * ticks,
		  misses(&plain->cells), 0);
	check(misses(&plain->tick) == cores * ticks, "misses of the tick without marks", "one page",
		  cores * ticks, misses(&plain->tick), 0);
	for (int i = 0; i < run.nmodels; i++)
		check(run.models[i]->cells.stores == ticks, "stores", "one page", ticks,
			  run.models[i]->cells.stores, 0);
	end_run(&run);
}

/* ---------------------------------------------------------------- output */

static double cost = 150;		/* of a miss, in ns */

/*
 * A row; hits and misses are in that many seconds.
 */
static void
print_row(const Run *run, const char *name, const Count *count, double hits, double most)
{
	double		seconds = hits / run->rate;
	double		missed = (double) misses(count);
	double		own = (double) (misses(&run->locks) + misses(&run->headers)) / run->hits;

	printf("  %-46s %6.2f %12.0f %9.5f %11.0f", name, count->loads / hits, count->stores / seconds,
		   missed / hits, missed / seconds / run->cores);
	if (most >= 0)
		printf(" %11.0f", most / seconds);
	else
		printf(" %11s", "");
	printf(" %9.3f %% %9.5f\n", missed / seconds / run->cores * cost * 1e-7, missed / hits / own);
}

static Count
sum(const Count *a, const Count *b)
{
	return (Count) {a->loads + b->loads, a->stores + b->stores,
		a->transfers + b->transfers, a->upgrades + b->upgrades};
}

static Count
all_of(const Model *model)
{
	Count		count = sum(&model->cells, &model->tick);

	count = sum(&count, &model->marks);
	count = sum(&count, &model->books);
	return sum(&count, &model->sample);
}

static void
print_plans(Law law, int cores, double rate)
{
	Run			run = {.law = law, .cores = cores, .rate = rate};
	const Model *ours;
	Count		count;
	uint32_t	most_header;

	run.page_hits = zeroed(laws[law].pages, sizeof(uint32_t));
	for (int i = 0; i < NPLANS; i++)
		run.models[run.nmodels++] = new_model(&plans[i], cores);
	run.models[0]->shift = sample_shift(law);
	simulate(&run);
	check_run(&run);

	printf("\n%s; %d cores, %g million hits a second, %.0f a core\n", laws[law].name, cores, rate / 1e6, rate / cores);
	printf("  %-46s %6s %12s %9s %11s %11s %11s %9s\n", "", "loads", "stores", "misses", "misses", "stores to", "time of", "of the");
	printf("  %-46s %6s %12s %9s %11s %11s %11s %9s\n", "", "a hit", "/s", "a hit", "/s and core", "a line, /s", "a core", "server's");

	most_header = 2 * largest(run.page_hits, laws[law].pages);
	print_row(&run, "server: lock of the partition", &run.locks, run.hits, largest(run.lock_stores, LOCKS));
	print_row(&run, "server: header of the buffer", &run.headers, run.hits, most_header);
	count = sum(&run.locks, &run.headers);
	print_row(&run, "server: both, at least", &count, run.hits, -1);
	for (int i = 0; i < run.nmodels; i++)
	{
		const Model *model = run.models[i];
		double		hits = (double) (int) (rate / SLICES) * measured(model->plan);

		count = sum(&model->cells, &model->marks);
		print_row(&run, model->plan->name, &count, hits,
				  fmax(largest(model->line_stores, model->nlines), largest(model->mark_stores, model->nmark_lines)));
	}
	ours = run.models[0];
	print_row(&run, "ours: marks", &ours->marks, run.hits, largest(ours->mark_stores, ours->nmark_lines));
	print_row(&run, "ours: cells", &ours->cells, run.hits, largest(ours->line_stores, ours->nlines));
	print_row(&run, "ours: tick", &ours->tick, run.hits, 1.0 * MEASURED / plans[0].tick);
	print_row(&run, "ours: books", &ours->books, run.hits, -1);
	print_row(&run, "ours: sample", &ours->sample, run.hits, -1);
	count = all_of(ours);
	print_row(&run, "ours: all of it", &count, run.hits, -1);
	count = sum(&ours->cells, &ours->marks);
	printf("  Of the misses of our cells and marks %.0f %% are loads.  One page in %u is sampled: %.0f events a second, %.0f dropped.\n"
		   "  Races: if a store took as long to be seen as a miss takes, %.0f ns, some %.0f stores a second would be added.\n",
		   100.0 * count.transfers / fmax(misses(&count), 1), 1U << ours->shift,
		   ours->events * (rate / run.hits), ours->dropped * (rate / run.hits),
		   cost, rate * cost * 1e-9 * SLICES / plans[0].tick);
	fflush(stdout);
	end_run(&run);
}

static void
print_sizes(Law law, const int *cores, int ncores, const double *rates, int nrates)
{
	printf("\n%s\n  %6s", laws[law].name, "cores");
	for (int r = 0; r < nrates; r++)
		printf(" |%15.0f million hits a second%9s", rates[r] / 1e6, "");
	printf("\n  %6s", "");
	for (int r = 0; r < nrates; r++)
		printf(" | %8s %8s %9s %9s %10s", "ours", "server's", "ratio", "ours", "server's");
	printf("\n");
	for (int c = 0; c < ncores; c++)
	{
		printf("  %6d", cores[c]);
		for (int r = 0; r < nrates; r++)
		{
			Run			run = {.law = law, .cores = cores[c], .rate = rates[r]};
			Count		count;
			double		ours;
			double		own;
			double		share;		/* of time, of one miss a hit */

			run.models[run.nmodels++] = new_model(&plans[0], cores[c]);
			run.models[0]->shift = sample_shift(law);
			simulate(&run);
			check_run(&run);
			count = all_of(run.models[0]);
			ours = (double) misses(&count) / run.hits;
			own = (double) (misses(&run.locks) + misses(&run.headers)) / run.hits;
			share = rates[r] / cores[c] * cost * 1e-7;
			printf(" | %8.4f %8.4f %9.4f %7.2f %% %7.1f %%%c", ours, own, ours / own, ours * share,
				   own * share, (ours + own) * share > 100 ? '!' : ' ');
			end_run(&run);
		}
		printf("\n");
		fflush(stdout);
	}
}

/* ---------------------------------------------------------------- main */

static int
usage(void)
{
	fprintf(stderr, "usage: contention [--cores N] [--rate HITS] [--traffic zipf|uniform|hot] [--cost NS] [--seed N]\n");
	return 2;
}

int
main(int argc, char **argv)
{
	int			cores[] = {2, 16, 64, 192};
	double		rates[] = {1e6, 1e7, 5e7};
	int			many = 192;
	double		rate = 5e7;
	Law			only = NLAWS;
	bool		sizes = true;

	for (int i = 1; i < argc; i += 2)
	{
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (strcmp(argv[i], "--cores") == 0)
		{
			many = atoi(value);
			sizes = false;
		}
		else if (strcmp(argv[i], "--rate") == 0)
		{
			rate = atof(value);
			sizes = false;
		}
		else if (strcmp(argv[i], "--traffic") == 0)
		{
			for (only = ZIPF; only < SINGLE; only++)
				if (strcmp(value, laws[only].option) == 0)
					break;
			if (only == SINGLE)
				return usage();
		}
		else if (strcmp(argv[i], "--cost") == 0)
			cost = atof(value);
		else if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(value, NULL, 10);
		else
			return usage();
	}
	/* one more is the worker's */
	if (many < 2 || many >= CORES_MAX || rate < 1e5 || rate > 2e8 || cost < 0)
	{
		fprintf(stderr, "contention: 2 to %d cores, 100,000 to 200 million hits a second\n", CORES_MAX - 1);
		return 2;
	}

	printf("Simulated: seed %llu.  A count of cache lines that cores take from each other; nothing is timed.\n"
		   "Assumed:   a miss costs %.0f ns, the same for all.  Time is no more than misses by that.\n"
		   "Not there: finite caches, bandwidth, queues, distances between cores, races for a cell, misses\n"
		   "           of shared buffers, and everything else that a server does.\n",
		   (unsigned long long) seed, cost);

	prepare_zipf();
	check_single(many);
	for (Law law = ZIPF; law < SINGLE; law++)
		if (only == NLAWS || only == law)
			print_plans(law, many, rate);
	if (sizes)
	{
		printf("\nMisses a hit of all that is ours (marks, cells, tick, books, sample) and of the server's own; their ratio;\n"
			   "time of a core for them (! more than there is: so many cores cannot have so many hits)\n");
		for (Law law = ZIPF; law < SINGLE; law++)
			if (only == NLAWS || only == law)
				print_sizes(law, cores, 4, rates, 3);
	}

	printf("\nChecks: stores are the distinct cells of a tick, to %.1f standard deviations, and one each at most;\n"
		   "locks, headers and storing always miss by 1 - 1/cores: %s\n", worst_stores,
		   failed ? "NOT ALL HOLD" : "all hold");
	free(urns);
	free(zipf_share);
	return failed > 0;
}
