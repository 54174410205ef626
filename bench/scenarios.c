/*
 * scenarios.c
 *		How well do the recommendations follow what a workload needs?
 *
 * One scenario and one seed: seven hours and a quarter of simulated seconds, of
 * which six hours are scored, once a minute.  Every access goes, as in the
 * server, to the sketch and, if its page is sampled, to the sample table; from
 * these come the curve, plateau_end and live_set.  The modules are the
 * extension's own; what the worker does around them is done here in the same
 * order.  The clock is simulated, so an hour passes in a second or two.
 *
 * Truth at a time: the pages whose gap between the last access at or before it
 * and the next access after it is at most the break-even time, 15 minutes.
 * Where a workload changes in no time, no page is between two accesses of it at
 * that time.  So a minute whose truth is less than half of that of the minute
 * before and of that after it is given the lower of these two.
 *
 * What is scored:
 *
 *	ale			mean |ln(recommended / truth)|
 *	over, under integral of excess and shortfall, over the integral of truth
 *	flips		reversals by more than 10 %
 *	least		recommended / truth at its least from a minute after a step up
 *
 * The traces that follow have break-even times of 120, 300 and 900 seconds; with
 * these all their times, and "minutes", are longer or shorter.  Of live_set only,
 * and also the least and the most of recommended / truth before the shift.
 *
 * The reference is plateau_end as its inventors run it: on the maximum-level
 * estimate (HyperLogLog) of 1024 registers.
 *
 * Numbers of a page: each component of a workload has its own; those that are
 * used once count up.  The accesses of a tick (100 ms) are all at its time.
 */
#include "heuristic.h"
#include "life.h"
#include "sampler.h"
#include "yardstick.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define TPS			WS_TICKS_PER_SECOND
#define MINUTE		(60 * TPS)
#define HOUR		3600.0
#define WARM_UP		60			/* minutes */
#define SCORED		360			/* minutes */
#define MINUTES		(WARM_UP + SCORED + 15 + 2)

#define REGISTERS	WS_REGISTERS_DEFAULT
#define REFERENCE_REGISTERS 1024
#define SAMPLE		WS_SAMPLE_PAGES_DEFAULT
#define WINDOWS		60

#define PERIOD		3			/* of projection, in steps */

#define PAGES		(1u << 23)
#define USED_ONCE	(1u << 22)	/* where the pages begin that are */
#define ZIPF_PAGES	1000000
#define ZIPF_SCENARIO 12
#define REFILL		31
#define REFILL_TIME	15			/* s */
#define REFILL_SHIFT 7			/* s: not in time with the minutes */
#define RETENTION	32
#define RETENTION_TIME 90		/* s */
#define LOG_RATE	15			/* new pages a second */
#define PARTS		4
#define PI			3.14159265358979323846

/* A part of a workload. */
typedef enum Kind
{
	UNIFORM,					/* over all its pages */
	SEQUENTIAL,					/* scans, in order, and over again */
	FILL,						/* the same, but by INSERT */
	ZIPF,						/* the r-th by r^-0.9 */
	ONCE,						/* never the same page */
	THRICE						/* each three times */
} Kind;

typedef struct Part
{
	Kind		kind;
	double		base;			/* its first page */
	double		pages;
	double		rate;			/* accesses a second */
} Part;

/* What is traced, beside look-ups by Zipf's law. */
enum
{
	LOG = 1,					/* new pages, each read three times */
	LOOP = 2,					/* through pages in 3/4 of the break-even time */
	ROUNDS = 4,					/* as often, but fast, and then a pause */
	SHIFT = 8					/* half way, the look-ups are of other pages */
};

typedef struct Scenario
{
	const char *name;
	double		given;			/* ale that is given for the reference */
	int			step;			/* minute of a step up; 0: none */
} Scenario;

static const Scenario scenarios[] = {
	{"steady", 0.032, 0},
	{"heavy to light", 0.074, 0},
	{"step up", 0.024, 120},
	{"burst 1/1 min", 0.035, 0},
	{"batch 1 h/1 h", 0.134, 0},
	{"growing", 0.017, 0},
	{"drifting", 0.376, 0},
	{"hourly scan", 0.329, 0},
	{"diurnal", 0.309, 0},
	{"tiny and noise", 4.97, 0},
	{"fast loop", 0.021, 0},
	{"one-off", 0.066, 0},
	{"Zipf", 0.865, 0},
	{"slow loop", 0.028, 0},
	{"burst 5/5 min", 0.328, 0},
	{"new slow loop", NAN, 0},
	{"phases of 3 min", NAN, 0},
	{"cycle of 3 x 3 min", NAN, 0},
	{"burst 10/10 min", NAN, 0},
	{"burst 20/20 min", NAN, 0},
	{"scan each 10 min", NAN, 0},
	{"scan each 20 min", NAN, 0},
	{"step in noise", NAN, 180},
	{"pause of 12 min", NAN, 0},
	{"slow uniform", NAN, 0},
	{"appending", NAN, 0},
	{"scan, slow traffic", NAN, 0},
	{"dump beside OLTP", NAN, 0},
	{"burst 5/35 min", NAN, 0},
	{"Zipf, hourly scan", NAN, 0},
	{"Zipf, scan 20 min", NAN, 0},
	{"refilled table", NAN, 0},
	{"dropped partitions", NAN, 0},
};

#define NSCENARIOS ((int) (sizeof(scenarios) / sizeof(scenarios[0])))

/* Their numbers follow, each with three break-even times. */
static const struct
{
	const char *name;
	int			what;
}			traces[] = {
	{"look-ups", 0},
	{"log", LOG},
	{"loop", LOOP},
	{"rounds", ROUNDS},
	{"shift", SHIFT},
	{"all", LOG | LOOP | ROUNDS | SHIFT},
};

#define NTRACES ((int) (sizeof(traces) / sizeof(traces[0])))

static uint32_t break_even = WS_BREAK_EVEN_DEFAULT * TPS;
static uint32_t minute_ticks;	/* always a 15th of it */

/*
 * Time t is in seconds; the scored six hours begin at 0, the hour before is
 * the warm-up.
 */
static Part *
part(Part *p, Kind kind, double base, double pages, double rate)
{
	*p = (Part) {kind, base, pages, rate};
	return p + 1;
}

#define uni(p, base, pages, rate)	part(p, UNIFORM, base, pages, rate)
#define seq(p, base, pages, rate)	part(p, SEQUENTIAL, base, pages, rate)
#define once(p, rate)				part(p, ONCE, USED_ONCE, PAGES - USED_ONCE, rate)

static bool
odd(double t, double length)
{
	return ((long) floor(t / length) & 1) != 0;
}

/* between two minutes of each period */
static bool
during(double t, double period, double from, double to)
{
	double		minute = (t - period * floor(t / period)) / 60;

	return minute >= from && minute < to;
}

/*
 * The first page of the file of so many pages that is the present one of a
 * series, in which each lasts for so many seconds.  Numbers come again after
 * hours.
 */
static double
replaced(double t, double length, double pages)
{
	return 1e6 + fmod(floor((t + 2 * HOUR) / length), floor(3e6 / pages)) * pages;
}

/*
 * The file whose pages can be used no more from a time on: emptied and filled
 * again, or dropped when the next but one begins.  Returns its first page, and
 * how many there are.
 */
static double
gone_at(int scenario, double t, double *pages)
{
	*pages = scenario == REFILL ? 4224 : scenario == RETENTION ? 3e3 : 0;
	return scenario == REFILL ? replaced(t + REFILL_SHIFT - REFILL_TIME, REFILL_TIME, *pages) :
		replaced(t - 2 * RETENTION_TIME, RETENTION_TIME, *pages);
}

/* A trace: with each break-even time the same uses in a minute. */
static Part *
trace_at(int trace, Part *p, double t)
{
	const double rate = 60.0 * TPS / minute_ticks;

	p = part(p, ZIPF, (trace & SHIFT) && t >= 3 * HOUR ? ZIPF_PAGES : 0, ZIPF_PAGES, 200 * rate);
	if (trace & LOG)
		p = part(p, THRICE, USED_ONCE, PAGES - USED_ONCE, LOG_RATE * rate);
	if (trace & LOOP)
		p = part(p, FILL, 3e6, 675 * 25, 25 * rate);
	if ((trace & ROUNDS) && during(t, 675, 0, 0.75))
		p = part(p, FILL, 3.5e6, 675 * 25, 15 * 25 * rate);
	return p;
}

/*
 * The parts of a scenario at a time; returns what follows the last.  Numbers are
 * those of the table below.
 */
static Part *
parts_at(int scenario, Part *p, double t)
{
	if (scenario >= NSCENARIOS)
		return trace_at(traces[(scenario - NSCENARIOS) / 3].what, p, t);
	switch (scenario)
	{
		case 0:
			return uni(p, 0, 100e3, 1500);
		case 1:
			return t < 2 * HOUR ? uni(p, 0, 400e3, 5000) : uni(p, 500e3, 40e3, 1000);
		case 2:
			return t < 2 * HOUR ? uni(p, 0, 40e3, 1000) : uni(p, 500e3, 400e3, 5000);
		case 3:
			p = uni(p, 0, 2e3, 200);
			return odd(t, 60) ? uni(p, 100e3, 200e3, 8000) : p;
		case 4:
			p = uni(p, 0, 30e3, 800);
			return odd(t, HOUR) ? uni(p, 100e3, 300e3, 5000) : p;
		case 5:
			return uni(p, 0, 50e3 + 450e3 * fmin(fmax(t / (6 * HOUR), 0), 1), 5000);
		case 6:
			return uni(p, floor(833 * (t + HOUR) / 60), 100e3, 2000);
		case 7:
			p = uni(p, 0, 80e3, 1500);
			return during(t, HOUR, 20, 25) ? seq(p, 1e6, 1e6, 3333) : p;
		case 8:
			return uni(p, 0, 165e3 + 135e3 * sin(2 * PI * t / (6 * HOUR)), 4000);
		case 9:
			return once(uni(p, 0, 500, 500), 20);
		case 10:
			return once(seq(p, 0, 300e3, 15000), 5);
		case 11:
			p = uni(p, 0, 50e3, 1000);
			return t >= 2 * HOUR && t < 2 * HOUR + 600 ? seq(p, 1e6, 500e3, 5000) : p;
		case ZIPF_SCENARIO:
			return part(p, ZIPF, 0, ZIPF_PAGES, 5000);
		case 13:
			return uni(seq(p, 0, 360e3, 500), 500e3, 5e3, 300);
		case 14:
			p = uni(p, 0, 20e3, 500);
			return odd(t, 300) ? uni(p, 100e3, 200e3, 4000) : p;

			/* others, so that the methods are not tuned to those alone */
		case 15:
			p = uni(p, 500e3, 50e3, 1000);
			return t >= 2 * HOUR ? seq(p, 0, 200e3, 500) : p;
		case 16:
			return uni(uni(p, 4e6, 5e3, 300), floor((t + HOUR) / 180) * 25e3, 25e3, 1300);
		case 17:
			return uni(uni(p, 500e3, 5e3, 300), (long) floor((t + HOUR) / 180) % 3 * 50e3, 50e3, 2000);
		case 18:
		case 19:
			p = uni(p, 0, 20e3, 500);
			return odd(t, scenario == 18 ? 600 : 1200) ? uni(p, 100e3, 100e3, 3000) : p;
		case 20:
		case 21:
			p = uni(p, 0, 80e3, 1500);
			return during(t, scenario == 20 ? 600 : 1200, 0, 2) ? seq(p, 1e6, 200e3, 1700) : p;
		case 22:
			p = once(p, 50);
			return t < 3 * HOUR ? uni(p, 0, 20e3, 400) : uni(p, 500e3, 100e3, 1500);
		case 23:
			return t >= 2 * HOUR && t < 2.2 * HOUR ? uni(p, 0, 1e3, 2) : uni(p, 0, 50e3, 1000);
		case 24:
			return uni(p, 0, 100e3, 120);
		case 25:
			return uni(uni(p, 0, 20e3, 500), 1e6 + floor(20 * (t + HOUR)), 2000, 300);

			/* files that are replaced: their pages are gone, see gone_at() */
		case REFILL:
			p = uni(p, 0, 1e3, 500);
			t += REFILL_SHIFT;
			return during(t, REFILL_TIME, 0, 3 / 60.0) ?
				part(p, FILL, replaced(t, REFILL_TIME, 4224), 4224, 1408) :
				uni(p, replaced(t, REFILL_TIME, 4224), 4224, 2000);
		case RETENTION:
			p = uni(p, 0, 5e3, 300);
			p = uni(p, replaced(t, RETENTION_TIME, 3e3), 3e3, 1000);
			return uni(p, replaced(t - RETENTION_TIME, RETENTION_TIME, 3e3), 3e3, 200);

			/* many pages beside a few that come back slowly */
		case 26:
			p = uni(p, 0, 80e3, 400);
			return during(t, HOUR, 20, 25) ? seq(p, 1e6, 1e6, 3333) : p;
		case 27:
			p = uni(p, 0, 100e3, 500);
			return during(t, 3 * HOUR, 60, 75) ? seq(p, 1e6, 3e6, 3333) : p;
		case 29:
			p = part(p, ZIPF, 0, ZIPF_PAGES, 1500);
			return during(t, HOUR, 20, 25) ? seq(p, 1e6, 1e6, 3333) : p;
		case 30:
			p = part(p, ZIPF, 0, ZIPF_PAGES, 1500);
			return during(t, 1200, 0, 4) ? seq(p, 1e6, 400e3, 1700) : p;
		default:
			p = uni(p, 0, 50e3, 250);
			return during(t, 2400, 20, 25) ? uni(p, 100e3, 200e3, 4000) : p;
	}
}

/* What is scored. */
enum
{
	REFERENCE,
	PLATEAU_END,
	LIVE_SET,
	PROJECTED,
	NSERIES
};

static const char *const series_names[] = {
	"reference", "plateau_end", "live_set", "projected"
};

static double series[NSERIES][SCORED];
static double truth[SCORED];
static double known[2][SCORED]; /* see know() */

static uint64_t seed;
static uint64_t salt;			/* of the hash */

static uint32_t last[PAGES];	/* tick of the last access */
static double change[MINUTES];	/* of truth, from this minute on */

static WsSketch *sketch;
static WsSketch *reference;
static WsSampler *sampler;
static WsLife *life;
static WsLive live;
static double ago[2 * PERIOD + 1];	/* live_set at the last steps */

static void *
memory(size_t size)
{
	void	   *p;

	if (posix_memalign(&p, 64, size) != 0)
		abort();
	return p;
}

/*
 * Zipf's law by the alias method (Walker 1977; Vose 1991).
 */
static uint32_t *alias;
static float *keep;
static float *zipf_uses;		/* of a page, when all have 1 on average */

static void
prepare_zipf(double exponent)
{
	double	   *p = memory(ZIPF_PAGES * sizeof(double));
	uint32_t   *small = memory(ZIPF_PAGES * sizeof(uint32_t));
	uint32_t   *large = memory(ZIPF_PAGES * sizeof(uint32_t));
	uint32_t	nsmall = 0;
	uint32_t	nlarge = 0;
	double		sum = 0;

	alias = memory(ZIPF_PAGES * sizeof(uint32_t));
	keep = memory(ZIPF_PAGES * sizeof(float));
	zipf_uses = memory(ZIPF_PAGES * sizeof(float));
	for (uint32_t i = 0; i < ZIPF_PAGES; i++)
		sum += p[i] = pow(i + 1, -exponent);
	for (uint32_t i = 0; i < ZIPF_PAGES; i++)
	{
		p[i] *= ZIPF_PAGES / sum;
		zipf_uses[i] = (float) p[i];
		keep[i] = 1;
		if (p[i] < 1)
			small[nsmall++] = i;
		else
			large[nlarge++] = i;
	}
	while (nsmall > 0 && nlarge > 0)
	{
		uint32_t	i = small[--nsmall];
		uint32_t	j = large[--nlarge];

		keep[i] = (float) p[i];
		alias[i] = j;
		p[j] -= 1 - p[i];
		if (p[j] < 1)
			small[nsmall++] = j;
		else
			large[nlarge++] = j;
	}
	free(p);
	free(small);
	free(large);
}

static uint32_t
draw_zipf(void)
{
	uint32_t	i = random_below(&seed, ZIPF_PAGES);

	return random_unit(&seed) < keep[i] ? i : alias[i];
}

static void
forget(uint32_t entry)
{
	ws_life_forget(life, entry);
}

static void
sample(uint32_t page, uint32_t hash, uint32_t tick, bool scan)
{
	WsPageId	id = {0, 0, 0, 0, page};
	uint32_t	entry;

	if (ws_hash_stratum(hash, sketch->log2m) < sampler->shift)
		return;
	entry = ws_sampler_find(sampler, &id, hash);
	if (entry == WS_NO_SAMPLE)
		entry = ws_sampler_enter(sampler, &id, hash, tick);
	if (entry != WS_NO_SAMPLE)
	{
		ws_sampler_touch(sampler, entry, tick, true);
		ws_sampler_hold(sampler, entry, tick, scan);
	}
	if (sampler->count == sampler->capacity &&
		!ws_sampler_thin(sampler, tick, forget))
		ws_sampler_set_shift(sampler, sampler->shift + 1, tick, forget);
}

/* seconds of the scenario: a minute is always a 15th of the break-even time */
static double
seconds_at(uint32_t tick)
{
	return ((double) tick - WS_TICK_ORIGIN - WARM_UP * minute_ticks) * 60 / minute_ticks;
}

/* the first minute that ends at a tick or after it */
static uint32_t
minute_after(uint32_t tick)
{
	return (tick - WS_TICK_ORIGIN + minute_ticks - 1) / minute_ticks;
}

static void
touch(uint32_t page, uint32_t tick, bool scan)
{
	uint32_t	hash = (uint32_t) (mix64(page * UINT64_C(0x9E3779B97F4A7C15) + salt) >> 32);

	if (page >= PAGES)
		abort();
	if (last[page] != 0 && tick - last[page] <= break_even)
	{
		change[minute_after(last[page])]++;
		change[minute_after(tick)]--;
	}
	last[page] = tick;
	ws_sketch_touch(sketch, hash);
	if (reference)
		ws_sketch_touch(reference, hash);
	sample(page, hash, tick, scan);
}

/*
 * What the worker does about pages that are gone, once a second.
 */
static void
bury(int scenario, uint32_t tick)
{
	double		pages;
	double		first = gone_at(scenario, seconds_at(tick), &pages);

	for (uint32_t i = 0; i < sampler->capacity && pages > 0; i++)
	{
		const WsSample *s = &sampler->samples[i];

		if (s->last != 0 && !s->dead && s->page.block >= first && s->page.block < first + pages)
		{
			ws_sampler_die(sampler, i);
			forget(i);
		}
	}
}

/*
 * The accesses of a tick; returns how many.
 */
static double
work(int scenario, uint32_t tick)
{
	static double owed[PARTS];
	static double position[PARTS];
	static uint32_t used_once;
	double		t = seconds_at(tick);
	Part		parts[PARTS];
	int			n = (int) (parts_at(scenario, parts, t) - parts);
	double		done = 0;

	for (int i = 0; i < n; i++)
	{
		const Part *p = &parts[i];

		for (owed[i] += p->rate / TPS; owed[i] >= 1; owed[i]--, done++)
			switch (p->kind)
			{
				case UNIFORM:
					touch((uint32_t) (p->base + random_unit(&seed) * p->pages), tick, false);
					break;
				case SEQUENTIAL:
				case FILL:
					touch((uint32_t) (p->base + position[i]), tick, p->kind == SEQUENTIAL);
					position[i] = fmod(position[i] + 1, p->pages);
					break;
				case ZIPF:
					touch((uint32_t) p->base + draw_zipf(), tick, false);
					break;
				case ONCE:
					touch(USED_ONCE + used_once++, tick, false);
					break;
				case THRICE:
					/* a minute apart */
					for (uint32_t ago = 0; ago <= 2 * 60 * LOG_RATE && ago <= used_once; ago += 60 * LOG_RATE)
						touch(USED_ONCE + used_once - ago, tick, false);
					used_once++;
					break;
			}
	}
	return done;
}

/*
 * What the worker does about the rate of sampling, once a second.
 */
static void
follow_load(double lookups, uint32_t tick)
{
	static WsSampleLoad load;
	uint32_t	shift;

	ws_sample_load_follow(&load, 1, 0, 0, lookups,
						  ws_sampler_select(sampler, tick, MINUTE, 0, 0, NULL));
	shift = ws_sampler_next_shift(sampler, &load);
	if (shift != sampler->shift)
	{
		ws_sampler_set_shift(sampler, shift, tick, forget);
		memset(&load, 0, sizeof(load));
	}
	if ((tick - WS_TICK_ORIGIN) % MINUTE == 0)
	{
		(void) ws_sampler_expire(sampler, tick, forget);
		(void) ws_sampler_widen(sampler, tick);
	}
}

static void
estimate(uint32_t tick, const uint32_t *ages, int n, WsEstimate *curve)
{
	static void *workspace;
	const WsSketch *sk = sketch;

	if (!workspace)
		workspace = memory(ws_curve_size(ws_sketch_m(sk)));
	ws_curve_estimate(&sk, 1, tick, ages, n, curve, workspace);
}

static void
step(uint32_t tick)
{
	WsEstimate	window;
	uint32_t	age = break_even;
	uint32_t	shift = ws_sampler_mature_shift(sampler, tick, break_even, WS_TICK_ORIGIN);

	double		alive = ws_sampler_alive(sampler, tick, age, WS_TICK_ORIGIN, shift);

	estimate(tick, &age, 1, &window);
	window.pages *= alive;
	window.variance *= alive * alive;
	ws_life_set_shift(life, shift);
	ws_life_begin_step(life);
	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *s = &sampler->samples[i];

		if (s->last != 0 && !s->dead && ws_hash_stratum(s->hash, sketch->log2m) >= shift)
			ws_life_item(life, i, s->last, s->before, s->scanned > s->held, tick);
	}
	ws_life_end_step(life, tick, true);
	live = ws_live_set(life, &window);
	memmove(&ago[1], &ago[0], 2 * PERIOD * sizeof(ago[0]));
	ago[0] = live.pages;
}

static double
plateau_end_of(const double *values)
{
	return ws_plateau(values, WINDOWS, WS_PLATEAU_MIN_WAIT, WS_PLATEAU_WINDOW_SIZE,
					  WS_PLATEAU_MAX_INCREASE).pages;
}

static void
score(int minute, uint32_t tick)
{
	uint32_t	ages[WINDOWS];
	WsEstimate	curve[WINDOWS];
	double		own[WINDOWS];
	double		theirs[WINDOWS];

	if (minute < 0 || minute >= SCORED)
		return;

	series[LIVE_SET][minute] = live.pages;
	if (!reference)
		return;
	for (int i = 0; i < WINDOWS; i++)
		ages[i] = (i + 1) * MINUTE;
	estimate(tick, ages, WINDOWS, curve);
	for (int i = 0; i < WINDOWS; i++)
	{
		own[i] = curve[i].pages;
		theirs[i] = yardstick_estimate(reference, tick, ages[i]);
	}
	series[REFERENCE][minute] = plateau_end_of(theirs);
	series[PLATEAU_END][minute] = plateau_end_of(own);
	series[PROJECTED][minute] = ws_project(ago[0], ago[PERIOD], ago[2 * PERIOD]);
}

/*
 * What a rule could reach that knows the workload: which parts run and how often
 * they use which pages, but not when they will stop.  It expects those that run
 * to go on.  Of scans and of parts that have stopped, it takes no page for live,
 * or all that were used in the break-even time; the better one knows whether
 * they come back in time.
 */
static void
know(int scenario, int minute, uint32_t tick)
{
	Part		parts[PARTS];
	int			n = (int) (parts_at(scenario, parts, minute * 60.0) - parts);
	double		sum = 0;
	double		others = 0;

	if (minute < 0 || minute >= SCORED)
		return;
	for (uint32_t page = 0; page < USED_ONCE; page++)
		others += last[page] != 0 && tick - last[page] <= break_even;
	for (int i = 0; i < n; i++)
	{
		const Part *p = &parts[i];
		double		per_tick = p->rate / p->pages / TPS;

		if (p->kind != UNIFORM && p->kind != ZIPF)
			continue;
		for (uint32_t page = (uint32_t) p->base; page < p->base + p->pages; page++)
		{
			double		uses = per_tick * (p->kind == ZIPF ? zipf_uses[page] : 1);
			uint32_t	idle = tick - last[page];

			if (last[page] == 0 || idle > break_even)
				continue;
			others--;
			sum += 1 - exp(-uses * (break_even - idle));
		}
	}
	known[0][minute] = sum;
	known[1][minute] = sum + others;
}

/*
 * How often does a series turn back by more than 10 %?
 */
static int
flips_of(const double *values)
{
	double		low = values[0];
	double		high = values[0];
	int			direction = 0;
	int			flips = 0;

	for (int i = 1; i < SCORED; i++)
	{
		double		v = fmax(values[i], 1);

		low = fmin(low, v);
		high = fmax(high, v);
		if ((direction >= 0 && v < high / 1.1) || (direction <= 0 && v > low * 1.1))
		{
			int			turn = v < high / 1.1 && direction >= 0 ? -1 : 1;

			flips += direction == -turn;
			direction = turn;
			low = high = v;
		}
	}
	return flips;
}

/*
 * Fill dips of one minute; see above.
 */
static void
fill_dips(double *values, int n)
{
	for (int i = 1; i < n - 1; i++)
	{
		double		lower = fmin(values[i - 1], values[i + 1]);

		if (values[i] < lower / 2)
			values[i] = lower;
	}
}

static double
ale_of(const double *values)
{
	double		sum = 0;

	for (int i = 0; i < SCORED; i++)
		sum += fabs(log(fmax(values[i], 1) / fmax(truth[i], 1)));
	return sum / SCORED;
}

static void
print_score(const char *name, const double *values, int step_minute)
{
	double		over = 0;
	double		under = 0;
	double		all = 0;
	double		least = INFINITY;
	double		low = INFINITY;
	double		high = 0;

	for (int i = 0; i < SCORED; i++)
	{
		double		v = fmax(values[i], 1);
		double		t = fmax(truth[i], 1);

		over += fmax(v - t, 0);
		under += fmax(t - v, 0);
		all += t;
		if (step_minute > 0 && i > step_minute)
			least = fmin(least, v / t);
		if (i < SCORED / 2)
		{
			low = fmin(low, v / t);
			high = fmax(high, v / t);
		}
	}
	printf("\t%s\t%.5f\t%.5f\t%.5f\t%d", name, ale_of(values), over / all, under / all, flips_of(values));
	if (step_minute > 0)
		printf("\t%.4f", least);
	else
		printf("\t-");
	if (!reference)
		printf("\t%.3f\t%.3f", low, high);
}

/*
 * The table of the present: of pages of each group idle for so long, the share
 * that will be used again within the break-even time, and how many there are.
 */
static void
print_life(void)
{
	double		hazard[WS_LIFE_CLASSES];

	printf("group\tminutes\tagain\tpages\n");
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		double		again[WS_LIFE_BINS];
		double		stay_away = 1;

		ws_live_hazards(&life->table, g, hazard);
		for (int i = WS_LIFE_BINS - 1; i >= 0; i--)
		{
			stay_away *= 1 - hazard[i / WS_LIFE_BINS_PER_CLASS];
			again[i] = 1 - stay_away;
		}
		for (int i = 0; i < WS_LIFE_BINS; i++)
			printf("%d\t%.4f\t%.4f\t%.0f\n", g, i * 15.0 / WS_LIFE_BINS, again[i],
				   life->table.population[g][i]);
	}
}

/*
 * scenarios NUMBER SEED [trace | know | life MINUTE]: prints one line; with
 * trace, one for each minute; with know, what a rule could reach that knows
 * the workload; with life, the life table at that minute.
 */
int
main(int argc, char **argv)
{
	int			number = argc > 1 ? atoi(argv[1]) : -1;
	int			number_of_seed = argc > 2 ? atoi(argv[2]) : 0;
	char		name[64];
	Scenario	s = {name, NAN, 0};
	bool		knows = argc > 3 && strcmp(argv[3], "know") == 0;
	double		lookups = 0;
	double		sum = 0;
	double		mean = 0;

	if (number < 0 || number >= NSCENARIOS + 3 * NTRACES || number_of_seed < 1)
	{
		fprintf(stderr, "usage: scenarios NUMBER SEED [trace | know], NUMBER from 0 to %d\n",
				NSCENARIOS + 3 * NTRACES - 1);
		return 2;
	}
	if (number >= NSCENARIOS)
	{
		int			seconds = (int[]) {120, 300, 900}[(number - NSCENARIOS) % 3];

		snprintf(name, sizeof(name), "%s, %d s", traces[(number - NSCENARIOS) / 3].name, seconds);
		break_even = (uint32_t) seconds * TPS;
	}
	else
		s = scenarios[number];
	minute_ticks = break_even / 15;
	seed = mix64((uint64_t) number_of_seed * 1000 + number);
	salt = random64(&seed);
	if (number == ZIPF_SCENARIO || number == 29 || number == 30 || number >= NSCENARIOS)
		prepare_zipf(0.9);

	sketch = new_sketch(REGISTERS, WS_TICK_ORIGIN);
	reference = number < NSCENARIOS ? new_sketch(REFERENCE_REGISTERS, WS_TICK_ORIGIN) : NULL;
	sampler = memory(ws_sampler_size(SAMPLE));
	ws_sampler_init(sampler, SAMPLE, sketch->log2m, 0, WS_TICK_ORIGIN);
	ws_sampler_set_brief(sampler, break_even + break_even / 15, WS_TICK_ORIGIN);
	life = memory(ws_life_size(SAMPLE));
	ws_life_init(life, SAMPLE, (int) break_even / TPS, WS_HOLD);

	for (uint32_t t = 0; t < (WARM_UP + SCORED + 15) * minute_ticks; t++)
	{
		uint32_t	tick = WS_TICK_ORIGIN + t;

		(void) ws_sketch_advance(sketch, tick);
		if (reference)
			(void) ws_sketch_advance(reference, tick);
		lookups += work(number, tick);
		if (t % TPS == 0)
			bury(number, tick);
		if (t % TPS == 0)
		{
			follow_load(lookups, tick);
			lookups = 0;
		}
		if (ws_life_due(life, tick))
			step(tick);
		if (t % minute_ticks == 0)
			score((int) (t / minute_ticks) - WARM_UP, tick);
		if (t % minute_ticks == 0 && knows)
			know(number, (int) (t / minute_ticks) - WARM_UP, tick);
		if (argc > 4 && t == (WARM_UP + (uint32_t) atoi(argv[4])) * minute_ticks)
		{
			print_life();
			return 0;
		}
	}

	for (int i = 0; i < WARM_UP + SCORED; i++)
	{
		sum += change[i];
		if (i >= WARM_UP)
			truth[i - WARM_UP] = sum;
	}
	fill_dips(truth, SCORED);
	for (int i = 0; i < SCORED; i++)
		mean += truth[i] / SCORED;

	if (knows)
	{
		fill_dips(known[0], SCORED);
		fill_dips(known[1], SCORED);
		printf("%s, with the workload known: ale %.3f without what has stopped and scans, %.3f with it\n",
			   s.name, ale_of(known[0]), ale_of(known[1]));
		return 0;
	}
	if (argc > 3)
	{
		printf("minute\ttruth");
		for (int i = 0; i < NSERIES; i++)
			printf("\t%s", series_names[i]);
		for (int m = 0; m < SCORED; m++)
		{
			printf("\n%d\t%.0f", m, truth[m]);
			for (int i = 0; i < NSERIES; i++)
				printf("\t%.0f", series[i][m]);
		}
		printf("\n");
		return 0;
	}
	printf("%d\t%s\t%d\t%.3f\t%.0f", number, s.name, number_of_seed, s.given, mean);
	for (int i = 0; i < NSERIES; i++)
		if (reference || i == LIVE_SET)
			print_score(series_names[i], series[i], s.step);
	printf("\n");
	return 0;
}
