/*
 * weeks.c
 *		What becomes of a server over weeks if every verdict is followed?
 *
 * One scenario: some weeks, in steps of ten seconds.  All pages are sampled, so
 * there are no sketches and no errors of a sample.  The life table, the
 * heuristic, the history, the miniature sweeps, the advice and the verdict are
 * the extension's own; what the worker does around them is done here in the
 * same order, once a minute.  A page here stands for 1 MB, 128 pages of the
 * server, and rates are in such pages.  A request keeps a client busy for 3.2 ms,
 * and if it misses it waits for a read of 12.8 ms: 25 and 100 us for each of the
 * server's pages.  Who is seen to wait, and to be active, is drawn (Poisson).
 *
 * The operator follows each verdict that has stood for ten minutes: sets
 * shared_buffers to what is suggested, and restarts.  That empties the cache,
 * and what the worker keeps in memory only.
 *
 * Beside this server, others see the same accesses: one whose setting stays as
 * it was at the start, and several of constant sizes.  The oracle has the
 * smallest of these that is not worse than the largest: by no more than a
 * percent of query time in all, nor in any busy quarter of an hour.  A quarter
 * is busy if it has a tenth of the requests of an average one.  What is scored:
 *
 *	harm	requests that miss, less those of the server that stays, as a share
 *			of all requests; and less those of the oracle; and the first as a
 *			share of query time
 *	saved	shared_buffers at the start less at the end, over what the oracle
 *			would save, where that needs less than 45 %: the
 *			headroom comes on top, and shrink begins at half
 *	restarts	in all, most in a week, and in the first 28 days
 */
#include "costs.h"
#include "heuristic.h"
#include "life.h"
#include "scans.h"
#include "sweep.h"
#include "verdict.h"
#include "yardstick.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TPS			WS_TICKS_PER_SECOND
#define MB			1048576.0
#define BLOCKS		128			/* pages of the server in a page */
#define STEP		10			/* seconds */
#define MINUTE		60
#define HOUR		3600.0
#define DAY			86400.0
#define BREAK_EVEN	(WS_BREAK_EVEN_DEFAULT * TPS)
#define MONDAY		INT64_C(1767571200) /* 2026-01-05, when all begin */
#define FOLLOWS		600			/* seconds until the operator obeys */
#define MEMORY		(8192 * MB)
#define REQUEST		0.0032		/* seconds of a client */
#define READ		0.0128

#define PAGES		16384
#define PARTS		6
#define PARTS_OF_ADVICE 30		/* of ten seconds */
#define SIZES		19			/* constant ones, for the oracle */
#define SMALLEST	128.0
#define LARGEST		5504.0

/* A part of a workload. */
typedef enum Kind
{
	UNIFORM,
	SKEWED,						/* half of the uses are of a tenth of the
								 * pages */
	LOOP,						/* in order, and over again; no ring */
	SCAN						/* the same by a sequential scan */
}			Kind;

typedef struct Part
{
	Kind		kind;
	double		base;			/* its first page */
	double		pages;
	double		rate;			/* uses a second */
} Part;

static Part parts[PARTS];
static int	nparts;

static void
part(Kind kind, double base, double pages, double rate)
{
	parts[nparts++] = (Part)
	{
		kind, base, pages, rate
	};
}

/*
 * ----------------------------------------------------------------
 * The scenarios.  t is in seconds since Monday, 0:00.
 * ----------------------------------------------------------------
 */
static double
hour_of_day(double t)
{
	return (t - DAY * floor(t / DAY)) / HOUR;
}

static int
day_of_week(double t)
{
	return (int) fmod(floor(t / DAY), 7);
}

static bool
between(double t, double from, double to)
{
	double		hour = hour_of_day(t);

	return hour >= from && hour < to;
}

/* How busy an office is, 0 to 1: weekdays from 7 to 18, most from 10 to 16. */
static double
office_hours(double t)
{
	double		hour = hour_of_day(t);

	if (day_of_week(t) > 4)
		return 0;
	return fmax(fmin(fmin((hour - 7) / 3, (18 - hour) / 2), 1), 0);
}

/* A working set that follows the office's day, beside what is always used. */
static void
office(double t, double pages)
{
	double		busy = office_hours(t);

	part(UNIFORM, 0, 60, 1);
	if (busy > 0)
		part(UNIFORM, 100, pages * (0.3 + 0.7 * busy), 10 * busy);
}

static void
parts_at(int scenario, double t)
{
	nparts = 0;
	switch (scenario)
	{
		case 0:
		case 1:
			office(t, 800);
			if (between(t, 2, 2.02))
				part(SCAN, 8000, 7000, 97);
			break;
		case 2:
			part(UNIFORM, 0, 400, 5);
			if (between(t, 1, 1 + 200 / HOUR))
				part(LOOP, 1000, 1500, 15);
			break;
		case 3:
			part(SKEWED, floor(t / 300), 300, 6);
			if (between(t, 6, 6.1))
				part(SCAN, fmax(floor(t / 300) - 288, 0), 288, 5);
			break;
		case 4:
			part(UNIFORM, 0, 150, 4);
			part(SKEWED, 200, 3000, 8);
			part(UNIFORM, 4000 + floor(t / 600), 30, 2);
			break;
		case 5:
			part(UNIFORM, 0, 60, 4);
			if (day_of_week(t) == 1 && between(t, 10, 14))
				part(LOOP, 1000, 14400, 0.5);
			if (day_of_week(t) == 1 && between(t, 14, 15))
				part(LOOP, 1000, 7200, 2);
			break;
		case 6:
			part(UNIFORM, 0, 60, 2);
			for (int tenant = 0; tenant < 20; tenant++)
				if (day_of_week(t) < 5 && nparts < PARTS &&
					between(t, 8 + tenant / 2, 9 + tenant / 2))
					part(UNIFORM, 200 + tenant * 150, 100, 5);
			break;
		case 7:
			part(UNIFORM, 0, 250, 5);
			part(LOOP, 1000, 10000, 14);
			break;
		case 8:
			part(UNIFORM, 0, 250, 5);
			part(UNIFORM, 1000, 10000, 14);
			break;
		case 9:
			office(t, 1500);
			break;
		case 10:
			part(UNIFORM, 0, 400, 5);
			if (t >= 3 * DAY + 14 * HOUR && t < 3 * DAY + 15 * HOUR)
				part(UNIFORM, 1000, 2500, 30);
			break;
		case 11:
			office(t, 600);
			if (day_of_week(t) == 0 && floor(t / (7 * DAY)) != 2 && between(t, 9, 17))
				part(UNIFORM, 3000, 2200, 10);
			break;
		case 12:
			office(t, 400);
			if (fmod(floor(t / DAY), 30) == 0 && between(t, 9, 12))
				part(UNIFORM, 2000, 2500, 20);
			break;
		case 13:
			office(t, 800 * (1 + 2 * t / (56 * DAY)));
			break;
		case 14:
			part(UNIFORM, 0, 60, 5);
			part(UNIFORM, 4000, 6000, 1);
			part(SCAN, 1000, 600, 20);
			break;
		case 15:
			part(UNIFORM, 0, 60, 5);
			if (t < 80)
				part(SCAN, 1000, 1200, 60);
			else
				office(t, 250);
			break;
	}
}

typedef struct Scenario
{
	const char *name;
	int			weeks;
	double		shared_buffers; /* MB, at the start */
	double		starts;			/* seconds after Monday, 0:00 */
}			Scenario;

static const Scenario scenarios[] = {
	{"office, nightly dump", 4, 4096, 0},
	{"office, small start", 4, 256, 0},
	{"ETL in two passes", 3, 1024, 0},
	{"time series, hot end", 3, 3072, 0},
	{"TPC-C like", 2, 512, 0},
	{"queue with backlog", 3, 2048, 0},
	{"twenty tenants", 3, 4096, 0},
	{"loop above memory", 1, 2048, 0},
	{"random above memory", 1, 2048, 0},
	{"Saturday evening", 4, 4096, 5 * DAY + 20 * HOUR},
	{"one-off report", 6, 1024, 0},
	{"holiday Monday", 5, 3072, 0},
	{"monthly job", 7, 3072, 0},
	{"slow growth", 8, 1024, 0},
	{"scans of one table", 2, 300, 0},
	{"load, then little", 3, 512, 9 * HOUR},
};

#define NSCENARIOS ((int) (sizeof(scenarios) / sizeof(scenarios[0])))

/*
 * ----------------------------------------------------------------
 * The servers
 * ----------------------------------------------------------------
 */
static uint64_t seed;
static uint32_t last[PAGES];	/* tick of the last use; 0: none */
static uint32_t before[PAGES];	/* and of the one before */
static uint32_t scanned[PAGES]; /* blocks of the table if the last was a
								 * scan's */
static uint16_t active[PAGES];	/* pages used in the break-even time or so */
static bool is_active[PAGES];
static int	nactive;

static WsSweep *servers;		/* factors are MB; the follower obeys */
static WsSweep *sweep;			/* the extension's */
static double shared_buffers;	/* MB */

/* Misses of all servers, in all, in the present quarter, and in each. */
static double missed[WS_SWEEP_SIZES];
static double quarter_missed[WS_SWEEP_SIZES];
static double quarters_missed[SIZES + 1][96 * 7 * 9];
static double quarters_requests[96 * 7 * 9];
static double requests;
static double quarter_requests;
static int	quarters;

/* What the worker has in memory. */
static WsLife *life;
static uint64_t lookups;		/* of the server, since it started */
static uint64_t hits;
static WsTally recent[PARTS_OF_ADVICE];
static int	bucket;
static WsDifferences differences;
static WsCosts costs;
static WsCostQuarter quarter;
static double step_hits;		/* in this minute */
static double step_misses;
static WsFollower follower;
static WsSteady steady;
static WsLive live;
static int64_t restarted;		/* t of the last restart, or of the start */
static WsDecision decision;

static void *
memory(size_t size)
{
	void	   *p;

	if (posix_memalign(&p, 64, size) != 0)
		abort();
	memset(p, 0, size);
	return p;
}

/* At which sizes does the scan of a table go through a ring? */
static uint32_t
ringed(double blocks, const WsSweep *sw, double unit)
{
	uint32_t	set = 0;

	for (int i = 0; blocks > 0 && i < WS_SWEEP_SIZES; i++)
		if (ws_scans_uses_ring(blocks, sw->factor[i] * unit * BLOCKS))
			set |= WS_SWEEP_BIT(i);
	return set;
}

static void
count(const WsAccess *access, bool scan, bool miss)
{
	WsTally    *tally = &recent[bucket];
	WsAccess	tallied = *access;

	tallied.read = miss;
	tallied.run = scan;
	tallied.known = last[access->page] != 0;
	tallied.group = access->page * 7 % WS_ERROR_GROUPS;
	tallied.missed = ws_sweep_access(sweep, access, &tallied.cold);
	ws_tally_access(tally, &tallied, scan ? WS_CLASS_SCAN : WS_CLASS_REST, true, 1, sweep);
	if (miss)
		tally->reads++;
	else
		tally->hits++;
	if (scan && miss)
		tally->scan_reads++;
	lookups++;
	hits += !miss;
	step_misses += miss;
	step_hits += !miss;
}

static void
use(const Part *p, uint32_t page, uint32_t tick)
{
	double		blocks = p->kind == SCAN ? p->pages * BLOCKS : 0;
	WsAccess	access = {
		.page = page, .ring = WS_RING_READ, .process = 1,
		.relation = (uint32_t) p->base, .block = page
	};
	uint32_t	set;
	uint32_t	cold;

	if (page >= PAGES)
		abort();
	access.ringed = ringed(blocks, servers, 1);
	set = ws_sweep_access(servers, &access, &cold);
	for (uint32_t rest = set; rest != 0; rest &= rest - 1)
		quarter_missed[__builtin_ctz(rest)]++;
	quarter_requests++;

	access.ringed = ringed(blocks, sweep, shared_buffers);
	count(&access, p->kind == SCAN, (set & WS_SWEEP_BIT(WS_SWEEP_FOLLOWER)) != 0);

	before[page] = last[page];
	last[page] = tick;
	scanned[page] = (uint32_t) blocks;
	if (!is_active[page])
	{
		is_active[page] = true;
		active[nactive++] = (uint16_t) page;
	}
}

static uint32_t
choose(int i, const Part *p)
{
	static double position[PARTS];
	static double base_of[PARTS];
	double		r;

	switch (p->kind)
	{
		case UNIFORM:
			return (uint32_t) (p->base + random_unit(&seed) * p->pages);
		case SKEWED:
			r = random_below(&seed, 2) ? 1 : 0.1;
			return (uint32_t) (p->base + p->pages - 1 - floor(random_unit(&seed) * p->pages * r));
		default:
			if (base_of[i] != p->base)
				position[i] = 0;
			base_of[i] = p->base;
			r = position[i];
			position[i] = fmod(r + 1, p->pages);
			return (uint32_t) (p->base + r);
	}
}

static void
work(uint32_t tick)
{
	static double owed[PARTS];

	for (int second = 0; second < STEP; second++)
		for (int i = 0; i < nparts; i++)
			for (owed[i] += parts[i].rate; owed[i] >= 1; owed[i]--)
				use(&parts[i], choose(i, &parts[i]), tick + second * TPS);
}

/* Of the sampled pages, the youngest first, those that a cache would hold. */
static int
younger(const void *a, const void *b)
{
	uint32_t	x = last[*(const uint32_t *) a];
	uint32_t	y = last[*(const uint32_t *) b];

	return (x < y) - (x > y);
}

static void
seed_sweeps(int first)
{
	uint32_t	pages[PAGES];
	uint32_t	order[PAGES];
	uint32_t	n = 0;

	for (uint32_t i = 0; i < PAGES; i++)
		if (last[i] != 0)
			order[n++] = i;
	qsort(order, n, sizeof(order[0]), younger);
	for (int size = first; size < WS_SWEEP_SIZES; size++)
	{
		uint32_t	fit = 0;

		for (uint32_t i = 0; i < n; i++)
			if (!ws_scans_uses_ring(scanned[order[i]], sweep->factor[size] * shared_buffers * BLOCKS))
				pages[fit++] = order[i];
		ws_sweep_seed(sweep, size, pages, fit);
	}
}

static void
restart(double mb, int64_t t)
{

	shared_buffers = mb;
	servers->factor[WS_SWEEP_FOLLOWER] = 1e-9;
	ws_sweep_resize(servers, 1);
	servers->factor[WS_SWEEP_FOLLOWER] = mb;
	ws_sweep_resize(servers, 1);

	ws_sweep_init(sweep, PAGES);
	ws_sweep_resize(sweep, mb);
	seed_sweeps(0);

	ws_life_init(life, PAGES, WS_BREAK_EVEN_DEFAULT, WS_HOLD);
	memset(recent, 0, sizeof(recent));
	memset(&differences, 0, sizeof(differences));
	memset(&quarter, 0, sizeof(quarter));
	memset(&follower, 0, sizeof(follower));
	memset(&steady, 0, sizeof(steady));
	lookups = hits = 0;
	restarted = t;
}

/*
 * ----------------------------------------------------------------
 * What the worker does
 * ----------------------------------------------------------------
 */
static void
step(uint32_t tick)
{
	WsEstimate	window = {0};
	int			n = 0;

	ws_life_begin_step(life);
	for (int i = 0; i < nactive; i++)
	{
		uint32_t	page = active[i];

		window.pages += tick - last[page] <= BREAK_EVEN;
		if (tick - last[page] <= BREAK_EVEN + BREAK_EVEN / 15)
		{
			ws_life_item(life, page, last[page], before[page], scanned[page] > 0, tick);
			active[n++] = (uint16_t) page;
			continue;
		}
		ws_life_forget(life, page);
		is_active[page] = false;
	}
	nactive = n;
	ws_life_end_step(life, tick, true);
	live = ws_live_set(life, &window);
	bucket = (bucket + 1) % PARTS_OF_ADVICE;
	memset(&recent[bucket], 0, sizeof(recent[bucket]));
	recent[bucket].seconds = STEP;
}

static void
advise(int64_t t, WsAdviceTable *table)
{
	uint32_t	buffers[WS_SWEEP_SIZES];
	WsTally		sum = {0};
	WsAdviceFacts facts = {
		.tally = &sum, .parts = recent, .nparts = PARTS_OF_ADVICE,
		.oldest = (bucket + 1) % PARTS_OF_ADVICE, .nbuffers = shared_buffers,
		.factors = sweep->factor, .resident = buffers
	};

	for (int i = 0; i < PARTS_OF_ADVICE; i++)
		ws_tally_add(&sum, &recent[i]);
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
		buffers[i] = sweep->caches[i].buffers;
	facts.followed = ws_advice_followed(&follower, sum.seconds, t * 1000);
	facts.off = ws_mean_difference(&differences);
	memset(table, 0, sizeof(*table));
	ws_advise(&facts, table);
	ws_advice_note_difference(&differences, table, t * 1000);
}

/* So many are seen where so many are expected (Knuth 1969). */
static double
poisson(double mean)
{
	double		limit = exp(-fmin(mean, 500));
	double		product = random_unit(&seed);
	double		n = 0;

	if (mean > 500)
		return rint(mean + sqrt(mean) * (random_unit(&seed) + random_unit(&seed) + random_unit(&seed) - 1.5) * 2);
	for (; product > limit; n++)
		product *= random_unit(&seed);
	return n;
}

static void
give_verdict(int64_t t, const WsAdviceTable *table)
{
	static WsQueryTime times;
	double		waiting = poisson(step_misses * READ);
	WsCostMoment moment = {
		.seconds = MINUTE, .waiting = waiting, .table = table, .buffers = shared_buffers, .buffer = MB,
		.active = waiting + poisson((step_hits + step_misses) * REQUEST)
	};
	WsVerdictFacts facts = {
		.costs = &costs, .now = MONDAY + t, .buffer = MB, .shared_buffers = shared_buffers * MB,
		.memory = MEMORY, .connections = 100, .work_mem = 4 * MB, .maintenance = 3 * 64 * MB,
		.worth = WS_WORTH_DEFAULT
	};
	double	   *factor = &sweep->factor[WS_SWEEP_FOLLOWER];
	bool		jumped;

	step_hits = step_misses = 0;
	ws_costs_add(&costs, &quarter, MONDAY + t, &moment);
	/* seldom enough to take no time */
	if (t % WS_COST_QUARTER != WS_COST_QUARTER - STEP)
		return;
	ws_query_time(&times, &facts);
	decision = ws_decide(&times, &steady);

	*factor = ws_advice_follow(&follower, *factor, decision.size / MB, shared_buffers, t * 1000, &jumped);
	if (!jumped)
		return;
	ws_sweep_resize(sweep, shared_buffers);
	seed_sweeps(WS_SWEEP_FOLLOWER);
}

/*
 * ----------------------------------------------------------------
 * The operator, and the score
 * ----------------------------------------------------------------
 */
static int	restarts;
static int	in_month;
static int	in_week;
static int64_t restart_at[1000];

/* Does it ask for another setting?  Not in the first day, nor while it rises. */
static bool
wants_change(int64_t t, int64_t start)
{
	return decision.verdict != WS_VERDICT_KEEP && !decision.rising && t - start >= DAY &&
		fabs(log(decision.size / MB / shared_buffers)) > 0.01;
}

static void
operate(int64_t t, int64_t start, bool trace)
{
	static int64_t stood;		/* for so many seconds */
	static WsVerdict verdict;
	double		mb = decision.size / MB;
	int			week = 1;

	stood = wants_change(t, start) && verdict == decision.verdict ? stood + MINUTE : 0;
	verdict = decision.verdict;
	if (stood < FOLLOWS)
		return;
	if (trace)
		printf("day %.2f (%d, %05.2f h): %s %.0f -> %.0f MB; query time %.4f -> %.4f, worst %.3f, %.0f s active, %.0f waiting\n",
			   (t - start) / DAY, day_of_week((double) t), hour_of_day((double) t),
			   ws_verdict_names[decision.verdict], shared_buffers, mb, decision.present.week,
			   decision.suggested.week, decision.suggested.loss, decision.active, decision.waiting);
	restart_at[restarts] = t;
	for (int i = restarts - 1; i >= 0 && restart_at[i] > t - 7 * DAY; i--)
		week++;
	in_week = week > in_week ? week : in_week;
	in_month += t - start <= 28 * DAY;
	restarts++;
	restart(mb, t);
	stood = 0;
}

static void
end_quarter(void)
{
	for (int i = 0; i < WS_SWEEP_SIZES; i++)
	{
		missed[i] += quarter_missed[i];
		if (i <= SIZES)
			quarters_missed[i][quarters] = quarter_missed[i];
	}
	quarters_requests[quarters++] = quarter_requests;
	requests += quarter_requests;
	memset(quarter_missed, 0, sizeof(quarter_missed));
	quarter_requests = 0;
}

/* Share of query time that waits for so many misses. */
static double
waits(double misses, double of)
{
	return misses * READ / (of * REQUEST + misses * READ);
}

/* See the top. */
static int
oracle(void)
{
	double		allowed = WS_WORTH_DEFAULT / 2;

	for (int i = 0; i < SIZES; i++)
	{
		bool		good = waits(missed[i], requests) - waits(missed[SIZES - 1], requests) <= allowed;

		for (int q = 0; q < quarters && good; q++)
			good = quarters_requests[q] < 0.1 * requests / quarters ||
				waits(quarters_missed[i][q], quarters_requests[q]) -
				waits(quarters_missed[SIZES - 1][q], quarters_requests[q]) <= allowed;
		if (good)
			return i;
	}
	return SIZES - 1;
}

int
main(int argc, char **argv)
{
	int			number = argc > 1 ? atoi(argv[1]) : -1;
	bool		trace = argc > 3;
	const		Scenario *s;
	WsAdviceTable table;
	int64_t		start;
	int			best;
	double		saved;

	if (number < 0 || number >= NSCENARIOS || argc < 3 || atoi(argv[2]) < 1)
	{
		fprintf(stderr, "usage: weeks NUMBER SEED [trace], NUMBER from 0 to %d\n", NSCENARIOS - 1);
		return 2;
	}
	s = &scenarios[number];
	seed = mix64((uint64_t) atoi(argv[2]) * 1000 + number);
	servers = memory(ws_sweep_size(PAGES));
	sweep = memory(ws_sweep_size(PAGES));
	life = memory(ws_life_size(PAGES));
	ws_sweep_init(servers, PAGES);
	for (int i = 0; i < SIZES; i++)
		servers->factor[i] = SMALLEST * pow(LARGEST / SMALLEST, i / (SIZES - 1.0));
	servers->factor[SIZES] = s->shared_buffers;
	start = (int64_t) s->starts;
	restart(s->shared_buffers, start);

	for (int64_t t = start; t < start + s->weeks * (int64_t) (7 * DAY); t += STEP)
	{
		uint32_t	tick = WS_TICK_ORIGIN + (uint32_t) (t - start) * TPS;

		parts_at(number, (double) t);
		work(tick);
		step(tick + (STEP - 1) * TPS);
		if ((t - start) % MINUTE == MINUTE - STEP)
		{
			advise(t, &table);
			give_verdict(t, &table);
			operate(t, start, trace);
		}
		if ((t - start) % WS_COST_QUARTER == WS_COST_QUARTER - STEP)
			end_quarter();
	}
	best = oracle();
	saved = s->shared_buffers - servers->factor[best];
	printf("%d\t%s\t%d\t%d\t%.0f\t%.0f\t%.0f", number, s->name, atoi(argv[2]), s->weeks,
		   s->shared_buffers, servers->factor[best], shared_buffers);
	printf("\t%.6f\t%.6f\t%.6f\t%.4f\t%d\t%d\t%d\t%.6f\n", missed[SIZES] / requests,
		   (missed[WS_SWEEP_FOLLOWER] - missed[SIZES]) / requests,
		   (missed[WS_SWEEP_FOLLOWER] - missed[best]) / requests,
		   servers->factor[best] < 0.45 * s->shared_buffers ? (s->shared_buffers - shared_buffers) / saved : NAN,
		   restarts, in_week, in_month,
		   waits(missed[WS_SWEEP_FOLLOWER], requests) - waits(missed[SIZES], requests));
	return 0;
}
