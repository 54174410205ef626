/*
 * heuristic_t.c
 *		Tests of the heuristics: what each of them promises, plateau_end and its
 *		projection, live_set, and the sentences of both.
 *
 * test_all() runs every method on random workloads.  plateau_end and live_set
 * are compared with their definitions, written a second time and plainly, on
 * many random series and life tables.  Workloads made up of pages show what
 * enters the history.
 */
#include "tap.h"
#include "heuristic.h"
#include "history.h"
#include "traces.h"

#define K_SIGMA 5

#define MAX_POINTS 80

/* the reference's defaults */
#define DEFAULTS WS_PLATEAU_MIN_WAIT, WS_PLATEAU_WINDOW_SIZE, WS_PLATEAU_MAX_INCREASE

/*
 * A series is written as stretches: until point, value there, in a straight
 * line from the stretch before (the first from its own value).
 */
typedef struct Stretch
{
	int			until;
	double		value;
} Stretch;

static int
draw(const Stretch *stretch, double *series)
{
	int			n = 0;
	double		from = stretch->value;

	for (; stretch->until > 0; stretch++)
	{
		int			start = n;

		for (; n < stretch->until; n++)
			series[n] = from + (stretch->value - from) * (n + 1 - start) /
				(stretch->until - start);
		from = stretch->value;
	}
	return n;
}

/*
 * Stretches of different steepness; whole numbers make many ties.  A series
 * that is not monotone falls at times.
 */
static void
random_series(uint64_t *seed, double *s, int n, bool monotone)
{
	bool		whole = random_below(seed, 2) == 0;
	double		level = 0;
	double		speed = 1;

	for (int i = 0; i < n; i++)
	{
		if (random_below(seed, 8) == 0)
			speed = random_below(seed, 3) == 0 ? 0 : exp(4 * random_unit(seed));
		level += speed * random_unit(seed);
		s[i] = monotone ? level : level + 10 * speed * random_unit(seed);
		if (whole)
			s[i] = floor(s[i]);
	}
}

/* ---------------------------------------------------------------- plateau_end */

/* the rule by its definition, points counted from 1 */
static int
definition_end(const double *series, int n, int min_offset, int window_size,
			   double max_increase)
{
	int			w = window_size - 1;

	for (int t = min_offset; t + w <= n; t++)
	{
		const double *point = &series[t - 1];

		if (fmax(0, point[w] - point[0]) > fmax(0, point[0] - point[-w]) * max_increase)
			return t;
	}
	return n;
}

/* the highest x1 + (x1 - x0) * factor, a fall counting as no growth */
static double
definition_projection(const double *s, int n, double factor)
{
	double		highest = s[0];

	for (int i = 0; i + 1 < n; i++)
	{
		double		x1 = fmax(s[i], s[i + 1]);

		highest = fmax(highest, x1 + (x1 - s[i]) * factor);
	}
	return highest;
}

/*
 * How many points the projection looks at: from the first up to the one
 * before the series exceeds the value, at least min_offset - 1.
 */
static int
definition_slice(const double *s, int n, int min_offset, double value)
{
	for (int points = min_offset - 1; points < n; points++)
		if (s[points] > value)
			return points;
	return n;
}

static void
test_golden(void)
{
	static const double plateau[] = {
		.1, .2, .3, .4, .5, .6, .7, .8, .9, 1.0,
		1.0, 1.0, 1.0, 1.0, 1.0,
		1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0
	};
	static const double early_plateau[] = {
		.1, .2, .3, .3, .3, .3, .3,
		.4, .5, .6, .7, .8, .9, 1.0, 1.1
	};
	static const double rising[] = {.5, .6, .7, .8, .9, 1, 1, 1, 1, 1};
	static const double falling[] = {0, .3, .5, .6};
	WsPlateau	p;

	/* from the reference's own tests, with factor 2 */
	p = ws_plateau(plateau, 25, 10, 5, 2.0);
	is_within(p.pages, 1.0, 0, "golden: the plateau of a rise, a rest and a rise");
	ok(p.index >= 10 && p.index <= 15, "golden: it ends in a step");
	p = ws_plateau(early_plateau, 15, 10, 5, 2.0);
	is_within(p.pages, 1.1, 0, "golden: a plateau before the offset is not looked at");
	ok(p.index == 15, "golden: so there is no step");
	is_within(ws_project_next_highest(rising, 10, 0.5), 1.05, 1e-12,
			  "golden: projection of a rise that rests");
	is_within(ws_project_next_highest(falling, 4, 2), 0.9, 1e-12,
			  "golden: the steepest rise decides, not the last");
}

static void
test_definition(void)
{
	const int	ntrials = trials(100000);
	uint64_t	seed = seeded(80);
	long		wrong = 0;
	long		stepped = 0;
	long		inner = 0;

	for (int trial = 0; trial < ntrials; trial++)
	{
		double		s[MAX_POINTS];
		int			n = 1 + (int) random_below(&seed, MAX_POINTS);
		int			window_size = 2 + (int) random_below(&seed, 9);
		int			min_offset = window_size + (int) random_below(&seed, 12);
		double		max_increase = random_below(&seed, 4) == 0 ? 3.0 : 1 + 9 * random_unit(&seed);
		double		factor = random_below(&seed, 4) * random_unit(&seed);
		double		want;
		int			slice;
		WsPlateau	p;

		random_series(&seed, s, n, trial % 2 == 0);
		p = ws_plateau(s, n, min_offset, window_size, max_increase);
		wrong += p.index != definition_end(s, n, min_offset, window_size, max_increase);
		wrong += p.index != ws_plateau_end(s, n, min_offset, window_size, max_increase);
		wrong += p.pages != s[p.index - 1];
		slice = definition_slice(s, n, min_offset, p.pages);

		/* the same sum in another order may differ in the last digit */
		want = definition_projection(s, slice, WS_PROJECTION_FACTOR);
		wrong += !(fabs(p.projected - want) <= 1e-12 * want);
		want = definition_projection(s, n, factor);
		wrong += !(fabs(ws_project_next_highest(s, n, factor) - want) <= 1e-12 * want);
		stepped += p.index < n;
		inner += slice < n;
	}
	is_int(wrong, 0, "plateau: random series agree with the definition");
	ok(stepped > ntrials / 10 && stepped < ntrials * 9 / 10 && inner > ntrials / 10,
	   "plateau: %ld of %d have a step, %ld a shorter slice", stepped, ntrials, inner);
}

/* ---------------------------------------------------------------- the live set */

static WsLife *
new_life_of(uint32_t nitems, int break_even, int hold)
{
	WsLife	   *life = aligned_memory(ws_life_size(nitems));

	ws_life_init(life, nitems, break_even, hold);
	return life;
}

static WsLife *
new_life(uint32_t nitems, int hold)
{
	return new_life_of(nitems, 900, hold);
}

static WsLive
live_of(WsLife *life, double pages)
{
	WsEstimate	window = {.pages = pages, .variance = 2 * pages};

	return ws_live_set(life, &window);
}

/* the probability that a page that is used in each step with h stays away */
static double
away(double h, double steps)
{
	return pow(1 - h, steps);
}

/* zero with the probability of a third, else up to most, all magnitudes alike */
static double
random_count(uint64_t *seed, double most)
{
	return random_below(seed, 3) == 0 ? 0 : exp(random_unit(seed) * log(most));
}

/*
 * A life table with few or many counts.  Returns its number of items; pages
 * that are held may be more or fewer than those that will come back.
 */
static double
random_table(WsLife *life, int break_even, uint64_t *seed)
{
	WsLifeTable *t = &life->table;
	double		dense = random_below(seed, 4) == 0 ? 0 : random_unit(seed);
	double		typical = exp(-8 * random_unit(seed));
	double		size = random_below(seed, 4) == 0 ? 1e-9 : 1;
	double		n = 0;

	ws_life_init(life, 1, break_even, 300);
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		if (random_below(seed, 8) != 0)
			for (int s = 0; s < WS_LIFE_BINS; s++)
				if (random_unit(seed) < dense)
					n += t->population[g][s] = size * floor(random_count(seed, 20000));
		for (int c = 0; c < WS_LIFE_CLASSES; c++)
		{
			t->at_risk[g][c] = random_unit(seed) < dense ? random_count(seed, 3e6) : 0;
			t->returned[g][c] = t->at_risk[g][c] * fmin(t->bin_steps[c], typical * random_count(seed, 10));
		}
	}
	if (random_below(seed, 3))
	{
		t->in_use = n * random_unit(seed) * random_unit(seed);
		t->idle = n * random_unit(seed) * random_unit(seed);
		t->marked = random_count(seed, 10 * n + 2);
		t->came_back = t->marked * random_unit(seed);
	}
	return n;
}

/* what definition_live() computed on its way */
typedef struct Found
{
	double		live;			/* items that come back */
	double		share;			/* of the idle ones, that is held */
	double		proved;			/* share that is kept, of those used again */
	int			lower;			/* classes that counted the group below, */
	int			few;			/* and that had few for what is to come */
} Found;

/*
 * live_set by its definition, for a table of n > 0 items.  A page is used in
 * each bin with the hazard of its class, in each of its steps alike.  Of older
 * classes little is known, so each counts the younger ones' hazard, too: as a
 * tenth of the items that are in the class or would come to it at these
 * hazards, or as all of these but ten for each at risk, or that came back if
 * that is more, if these are more.  It counts 0.3 of the group below if that comes
 * back sooner, of pages known for long that of those known for less.  Of a class, the next takes over the part that is its own, by
 * the share of its own counts.  "mark": do pages that become idle matter?
 */
static double
definition_live(const WsLifeTable *t, double n, bool *mark, Found *found)
{
	double		all = t->in_use + t->idle;
	double		once = 0;
	double		held;

	memset(found, 0, sizeof(*found));
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		double		hazard[WS_LIFE_BINS];
		double		younger = 0;
		int			below = g < WS_LIFE_AGAIN ? g - 1 : g == WS_LIFE_AGAIN ? WS_LIFE_ONCE : WS_LIFE_AGAIN;

		for (int c = 0; c < 30; c++)
		{
			double		risk = t->at_risk[g][c];
			double		back = t->returned[g][c];
			double		coming = 0;
			double		items;
			double		prior;
			double		mixed = younger;

			for (int s = 0; s < 3 * c + 3; s++)
			{
				double		items = t->population[g][s];

				for (int later = s / 3 * 3; later < 3 * c; later++)
					items *= 1 - hazard[later];
				coming += items;
			}
			if (g > 0 && t->returned[below][c] > t->at_risk[below][c] * younger)
			{
				risk += 0.3 * t->at_risk[below][c];
				back += 0.3 * t->returned[below][c];
				found->lower++;
			}
			/* a return counts for an item, also early in a wide bin */
			items = fmax(risk, back);
			prior = 0.1 * coming;
			if (prior < coming - 10 * items)
			{
				prior = coming - 10 * items;
				found->few++;
			}
			if (risk > 0)
			{
				double		own = 1 - pow(fmax(1 - back / risk / t->bin_steps[c], 0), t->bin_steps[c]);

				mixed = fmin((items * own + prior * younger) / (items + prior), 0.9999);
				younger = (items * mixed + prior * younger) / (items + prior);
			}
			hazard[3 * c] = hazard[3 * c + 1] = hazard[3 * c + 2] = mixed;
		}
		for (int s = 0; s < WS_LIFE_BINS; s++)
		{
			double		stays_away = 1;

			for (int later = s; later < WS_LIFE_BINS; later++)
				stays_away *= 1 - hazard[later];
			found->live += t->population[g][s] * (1 - stays_away);
		}
		if (g <= WS_LIFE_ONCE)
			once = found->live;
	}

	/* of a share of n/2 supposed marks, half of the items came back */
	found->share = (t->came_back + 0.5 * n) / (t->marked + 0.5 * n);
	found->share = found->share < 0.2 ? 0 : found->share > 0.5 ? 1 : (found->share - 0.2) / 0.3;
	*mark = all > 1.1 * found->live;
	/* all may be held up to a fifth more than come back; beyond, the share */
	held = t->in_use + found->share * t->idle;
	found->proved = found->live - once;
	found->proved = fmax(fmax(found->proved, held), fmin(all, 1.2 * found->proved));
	found->proved = fmin(1, found->proved / n);
	held = fmax(held, fmin(all, 1.2 * found->live));
	return fmin(1, fmax(found->live, held) / n);
}

static void
test_live_definition(void)
{
	const int	ntrials = trials(20000);
	static const double sizes[] = {0, 1, 1e6, 0x1p40, 0x1p53};
	WsLife	   *life = new_life(1, 300);
	uint64_t	seed = seeded(85);
	long		wrong = 0;
	long		unknown = 0;
	long		holding = 0;
	long		marks = 0;
	long		lower = 0;
	long		few = 0;
	long		parts = 0;
	double		farthest = 0;
	double		farthest_proved = 0;
	long		unproved = 0;

	for (int i = 0; i < ntrials; i++)
	{
		double		n = random_table(life, i % 2 ? 900 : 86400, &seed);
		double		pages = sizes[i % 5];
		bool		mark = life->table.in_use + life->table.idle > 0;
		double		share = 0;
		Found		found = {0};
		WsLive		live;

		if (n > 0)
			share = definition_live(&life->table, n, &mark, &found);
		life->mark = !mark;
		live = live_of(life, pages);
		wrong += live.known != (n > 0 || pages == 0) || life->mark != mark ||
			live.window.pages != pages || live.window.variance != 2 * pages;
		wrong += !(live.pages >= 0 && live.pages <= pages);
		wrong += !(live.proved >= 0 && live.proved <= live.pages * (1 + 1e-9));
		unknown += !live.known;
		if (n == 0 || pages == 0)
		{
			wrong += live.pages != 0 || live.proved != 0;
			continue;
		}
		farthest_proved = fmax(farthest_proved, fabs(live.proved / pages - found.proved));
		unproved += live.proved < .8 * live.pages;
		farthest = fmax(farthest, fabs(live.pages / pages - share));
		if (fabs(share * n - found.live) > 1e-9 * n || found.live == 0)
		holding += share * n > found.live;
		marks += mark;
		lower += found.lower > 0;
		few += found.few > 0;
		parts += found.share > 0 && found.share < 1;
	}
	is_int(wrong, 0, "live set: any table, up to 2^53 pages: known, held and marked by the definition");
	is_within(farthest, 0, 1e-9, "live set: and the share of live pages");
	is_within(farthest_proved, 0, 1e-9, "live set: and of those used more than once");
	if (!ok(fmin(fmin(fmin(unknown, unproved), fmin(holding, marks)), fmin(fmin(lower, few), parts)) > ntrials / 100 &&
			holding < ntrials / 2 && marks < ntrials / 2, "live set: all of it happened"))
		diag("unknown %ld, holding %ld, marks %ld, lower %ld, few %ld, parts %ld", unknown, holding,
			 marks, lower, few, parts);
	free(life);
}

/*
 * A scan beside slow pages.  In each class of a group, slow items have been at
 * risk, and one in twenty came back.  Then many come at once, and half of the
 * classes have seen them stay away.  The slow ones' counts in the other half
 * are worth no more than the returns that they make.
 */
static void
test_scan(void)
{
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		WsLife	   *life = new_life(1, 0);
		WsLifeTable *t = &life->table;
		double		hazard[WS_LIFE_CLASSES];
		double		pages;
		double		most = 0;
		long		wrong = 0;

		for (int c = 0; c < WS_LIFE_CLASSES; c++)
		{
			t->at_risk[g][c] = 20;
			t->returned[g][c] = 1;
		}
		for (int s = 0; s < 45; s++)
			t->population[g][s] = 1000;
		for (int c = 0; c < 15; c++)
			t->at_risk[g][c] += 30000;
		pages = live_of(life, 45000).pages;
		ok(pages < 200, "group %d: a scan stays away beside slow pages: %.0f of 45000 are live", g, pages);
		ws_live_hazards(t, g, hazard);
		for (int c = 15; c < WS_LIFE_CLASSES; c++)
			most = fmax(most, hazard[c]);
		is_within(most, 1 / 30020.0 + 1 / 45000.0, 1e-6,
				  "their returns are a share of the scan, and do not add up from class to class");

		/* a wave that has passed before, of which a tenth is remembered */
		for (int c = 0; c < WS_LIFE_CLASSES; c++)
		{
			t->at_risk[g][c] = c < 15 ? 30000 : 4500;
			t->returned[g][c] = c < 15 ? 0 : 450;
		}
		ws_live_hazards(t, g, hazard);
		for (int c = 15; c < WS_LIFE_CLASSES; c++)
			wrong += hazard[c] < 0.05;
		pages = live_of(life, 45000).pages;
		ok(wrong == 0 && pages > 40000, "a wave that came back is known to: %.0f of 45000", pages);
		free(life);
	}
}

/*
 * Pages of which each comes back in each step with the same probability,
 * whatever its past.  So of one that is idle for s steps it is known exactly
 * with which it comes back in time: 1 - (1-q)^(90-s).
 *
 * The error.  A hazard is a share of those at risk, remembered with weights a,
 * a^2, ... so that its variance is q(1-q) / (n (1+a)) for a remembered number
 * of n.  By it changes, of a page idle for s steps, (1-q)^(89-s) for each step
 * to come that is of its class.  The prior, that the youngest stay away, takes
 * at most a tenth of those there from q, relative to those remembered.  For
 * the first group alone: others count the group below if it seems to return
 * sooner, which is a bias upward of less than the error of theirs.
 */
static void
test_constant(void)
{
	static const double rates[] = {.0005, .002, .01, .05};
	enum
	{
		STEPS = 270
	};
	const uint32_t items = (uint32_t) trials(20000);

	for (int r = 0; r < 4; r++)
	{
		double		q = rates[r];
		WsLife	   *life = new_life(items, 0);
		uint32_t   *last = zeroed(items, sizeof(uint32_t));
		uint64_t	seed = seeded(86 + (uint64_t) r);
		uint32_t	now = 1000000;
		double		a = exp(-1 / 30.0); /* hardly less than the least */
		double		exact = 0;
		double		variance = 0;
		double		bias = 0;
		double		n = 0;
		WsLive		live;

		for (int step = 0; step < STEPS; step++)
		{
			now += 100;
			ws_life_begin_step(life);
			for (uint32_t i = 0; i < items; i++)
			{
				/* at first, and after they are gone, pages come at random */
				if (last[i] == 0 || now - last[i] > 9000)
				{
					ws_life_forget(life, i);
					last[i] = last[i] == 0 && random_below(&seed, 60) ? 0 : now;
				}
				else if (random_unit(&seed) < q)
					last[i] = now;
				if (last[i] != 0)
					ws_life_item(life, i, last[i], 0, false, now);
			}
			ws_life_end_step(life, now, true);
		}
		for (int g = 0; g < WS_LIFE_GROUPS; g++)
		{
			const WsLifeTable *t = &life->table;
			double		change[WS_LIFE_CLASSES] = {0};

			for (int s = 0; s < WS_LIFE_BINS; s++)
			{
				n += t->population[g][s];
				exact += t->population[g][s] * (1 - away(q, 90 - s));
				for (int later = s; later < WS_LIFE_BINS; later++)
					change[later / 3] += t->population[g][s] * away(q, 89 - s);
			}
			for (int c = 0; c < WS_LIFE_CLASSES; c++)
			{
				double		youngest = t->population[g][0] + t->population[g][1] + t->population[g][2];
				double		there = fmax(t->at_risk[g][c], 1);

				variance += change[c] * change[c] * q * (1 - q) / (there * (1 + a));
				if (c == 0)
					bias += change[c] * q * .1 * youngest / there;
			}
		}
		live = live_of(life, 1);
		ok(fabs(live.pages - exact / n) <= (K_SIGMA * sqrt(variance) + bias) / n &&
		   sqrt(variance) / n < .02,
		   "pages of which %.2f %% return in each step: %.4f are live, exactly %.4f, error %.4f",
		   100 * q, live.pages, exact / n, sqrt(variance) / n);
		free(last);
		free(life);
	}
}

/* ---------------------------------------------------------------- workloads of pages */

#define STEP	100				/* ticks; the break-even time has 90 steps */

typedef enum Order
{
	ANY, IN_ORDER, ZIPF
} Order;

/* A part of a workload uses some pages so often in each of its steps. */
typedef struct Part
{
	int			from;
	int			until;			/* steps */
	Order		order;
	uint32_t	first;
	uint32_t	pages;			/* 0: the part after the last */
	uint32_t	uses;
} Part;

#define PARTS 4
#define ALWAYS 0, 100000

/* The uses of a step that ends now. */
static void
use_pages(const Part *part, const Zipf *zipf, int step, uint32_t now, uint32_t *last,
		  uint64_t *seed)
{
	for (; part->pages > 0; part++)
		for (uint32_t i = 0; i < part->uses && step >= part->from && step < part->until; i++)
		{
			uint32_t	page = part->order == ZIPF ? zipf_draw(zipf, seed) :
				part->order == ANY ? random_below(seed, part->pages) :
				((uint32_t) (step - part->from) * part->uses + i) % part->pages;
			uint32_t	tick = now - random_below(seed, STEP);

			page += part->first;
			last[page] = tick > last[page] ? tick : last[page];
		}
}

static Zipf *
zipf_of(const Part *part)
{
	for (; part->pages > 0; part++)
		if (part->order == ZIPF)
			return zipf_new(part->pages, 0.9);
	return NULL;
}

/* A step of a life table that knows every page; how many are in its window? */
static WsEstimate
step_all(WsLife *life, const uint32_t *last, uint32_t now)
{
	WsEstimate	window = {0};

	ws_life_begin_step(life);
	for (uint32_t i = 0; i < life->nitems; i++)
		if (last[i] != 0)
		{
			ws_life_item(life, i, last[i], 0, false, now);
			window.pages += now - last[i] < life->break_even;
		}
	ws_life_end_step(life, now, true);
	return window;
}

/* Pages that turn out to be used again in time live from their last use on. */
static void
count_truth(const uint32_t *was, const uint32_t *last, uint32_t pages, uint32_t start,
			double *change)
{
	for (uint32_t i = 0; i < pages; i++)
		if (was[i] != 0 && last[i] != was[i] && last[i] - was[i] <= 9000)
		{
			change[(was[i] - start + STEP - 1) / STEP]++;
			change[(last[i] - start + STEP - 1) / STEP]--;
		}
}

/*
 * The busiest time of whole workloads, from all their pages: the peak of the
 * recommendations, the peak of what is needed, and the most that was true.
 */
static void
test_busiest_time(void)
{
	enum
	{
		PAGES = 30000, STEPS = 360, START = 1000000
	};
	static const struct
	{
		const char *name;
		int			from;		/* the first step that counts */
		double		near;		/* error of the peak; 0: far too high, and cut */
		Part		parts[PARTS];
	}			table[] = {
		/* a part of what was loaded is used then, and so all looks live */
		{"bulk load before a smaller set", 1, 0, {{0, 30, IN_ORDER, 0, 2740, 92}, {30, 1000, ANY, 0, 760, 150}}},
		{"dump beside a set", 1, .25, {{ALWAYS, ANY, 0, 1390, 250}, {180, 204, IN_ORDER, 1390, 20000, 500}}},
		{"step up", 1, .1, {{0, 180, ANY, 0, 400, 100}, {180, 1000, ANY, 400, 4000, 500}}},
		{"batch of 10 minutes", 1, .1, {{ALWAYS, ANY, 0, 300, 80}, {180, 240, ANY, 300, 3000, 500}}},
		{"loop of 12 minutes", 1, .1, {{ALWAYS, IN_ORDER, 0, 3600, 50}}},
		{"uniform use, a mean gap of 5 minutes", 180, .1, {{ALWAYS, ANY, 0, 3000, 100}}},
		{"Zipf", 180, .1, {{ALWAYS, ZIPF, 0, 10000, 500}}},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		static WsHistory before;
		static WsHistory after;
		static uint32_t was[PAGES];
		WsLife	   *life = new_life(PAGES, 300);
		uint32_t   *last = zeroed(PAGES, sizeof(uint32_t));
		Zipf	   *zipf = zipf_of(table[i].parts);
		uint64_t	seed = seeded(180 + i);
		double		change[STEPS + 91] = {0};
		double		sum = 0;
		double		most = 0;
		WsWorkload	w = {0};
		WsHistoryEntry old;
		WsHistoryEntry new;

		memset(&before, 0, sizeof(before));
		memset(&after, 0, sizeof(after));
		for (int step = 0; step < STEPS + 90; step++)
		{
			uint32_t	now = START + (uint32_t) step * STEP;
			WsHistoryRow row = {0};
			WsEstimate	window;
			WsRecommendation r;

			memcpy(was, last, sizeof(was));
			use_pages(table[i].parts, zipf, step, now, last, &seed);
			count_truth(was, last, PAGES, START - STEP, change);
			window = step_all(life, last, now);
			w.live = ws_live_set(life, &window);
			if (step < table[i].from || step >= STEPS)
				continue;
			w.live.projected = w.live.pages;
			r = ws_recommend(WS_METHOD_LIVE_SET, &w);
			row.recommended = r.pages;
			ws_history_add(&before, now / WS_TICKS_PER_SECOND, &row);
			row.recommended = r.needed;
			ws_history_add(&after, now / WS_TICKS_PER_SECOND, &row);
		}
		for (int step = 0; step <= STEPS; step++)
		{
			sum += change[step];
			most = step > table[i].from ? fmax(most, sum) : 0;
		}
		(void) ws_history_peak(&before, INT64_C(1) << 40, INT64_C(1) << 40, &old);
		(void) ws_history_peak(&after, INT64_C(1) << 40, INT64_C(1) << 40, &new);
		ok(table[i].near > 0 ? new.row.recommended == old.row.recommended && fabs(new.row.recommended / most - 1) < table[i].near :
		   old.row.recommended > 2.5 * most && new.row.recommended > most && new.row.recommended < 1.25 * 1.1 * most,
		   "busiest time, %s: %.0f pages were live, before %.0f, after %.0f", table[i].name, most,
		   old.row.recommended, new.row.recommended);
		if (zipf)
			zipf_free(zipf);
		free(last);
		free(life);
	}
}

/*
 * A job of ten minutes that runs every six hours, beside a small set: with a
 * break-even time of a day its pages are live all the time after the third run,
 * and with 15 minutes they are not.  After a restart they are when it has run
 * again.  A new set is seen as soon with both.
 */
static void
test_day(void)
{
	enum
	{
		PAGES = 1200, STEPS = 2 * 8640, EVERY = 2160, JOB = 500, HOT = 100, NEW = 600, START = 1000000,
		RESTART = 6 * EVERY + EVERY / 2
	};
	static const int break_even[2] = {900, 86400};
	const int	every = all_trials() ? 1 : 10;
	static double live[2][STEPS];
	int			seen[2] = {0};

	for (int k = 0; k < 2; k++)
	{
		WsLife	   *life = new_life_of(PAGES, break_even[k], 300);
		uint32_t   *last = zeroed(PAGES, sizeof(uint32_t));
		uint64_t	seed = seeded(190);
		double		least = INFINITY;
		double		most = 0;

		for (int step = 0; step < STEPS; step++)
		{
			uint32_t	now = START + (uint32_t) step * STEP;
			int			from = step / EVERY * EVERY;
			const Part	parts[] = {
				{ALWAYS, ANY, 0, HOT, 50},
				{from, from + 60, IN_ORDER, HOT, JOB, 9},
				{STEPS - 60, STEPS, ANY, HOT + JOB, NEW, 100},
				{0}
			};
			WsEstimate	window;

			use_pages(parts, NULL, step, now, last, &seed);
			window = step_all(life, last, now);
			if (step % every == 0 || step >= STEPS - 61)
				live[k][step] = ws_live_set(life, &window).pages;
			if (step == RESTART)
			{
				/* the sample still has the two last uses */
				ws_life_init(life, PAGES, break_even[k], 300);
				ws_life_begin_step(life);
				for (uint32_t i = 0; i < HOT + JOB; i++)
					ws_life_item(life, i, last[i], last[i] - (i < HOT ? 50 : EVERY * STEP), false, now);
				ws_life_end_step(life, now, true);
			}
			if (step % every == 0 &&
				((step >= 2 * EVERY + 60 && step < RESTART) || (step >= 7 * EVERY + 60 && step < STEPS - 60)))
			{
				least = fmin(least, live[k][step]);
				most = fmax(most, live[k][step]);
			}
		}
		if (k == 0)
			ok(least < 1.1 * HOT, "a job every 6 hours, 15 minutes: not live between its runs: %.0f of %d", least, HOT + JOB);
		else
			ok(least > .98 * (HOT + JOB) && most < HOT + JOB + 1, "a job every 6 hours, 24 hours: always live: %.0f to %.0f of %d",
			   least, most, HOT + JOB);
		free(last);
		free(life);
	}
	for (int k = 0; k < 2; k++)
		while (seen[k] < 60 && live[k][STEPS - 60 + seen[k]] - live[k][STEPS - 61] < .9 * NEW)
			seen[k]++;
	ok(seen[0] < 20 && abs(seen[0] - seen[1]) <= 1, "nine tenths of a new set are live after %d and %d steps of ten seconds",
	   seen[0], seen[1]);
}

/* The most that is expected of a series, as a multiple of the most there is. */
static double
most_expected(const double *series, int n)
{
	double		expected = 0;
	double		most = series[0];

	for (int t = 6; t < n; t++)
	{
		expected = fmax(expected, ws_project(series[t], series[t - 3], series[t - 6]));
		most = fmax(most, series[t]);
	}
	return expected / most;
}

/*
 * A new working set comes in as pages are used at random, or evenly until it is
 * there, at once or slowly, and begins anywhere in a step.
 */
static void
test_project_step(void)
{
	double		worst = 0;

	for (double steps = 0.01; steps < 100; steps *= 1.1)
		for (double begun = 0; begun < 1; begun += 0.1)
		{
			double		random[600];
			double		even[600];

			for (int t = 0; t < 600; t++)
			{
				double		since = t < 10 ? 0 : (t - 10 + begun) / steps;

				random[t] = 40 + 360 * (1 - exp(-since));
				even[t] = 40 + 360 * fmin(since, 1);
			}
			worst = fmax(worst, fmax(most_expected(random, 600), most_expected(even, 600)));
		}
	ok(worst > 1 && worst <= 1.15 + 1e-9,
	   "project: a step up is expected to be at most 15 %% too large (%.3f)", worst);
}

/* A size that grows steadily, exact and with noise, and what it is a minute later. */
static void
test_project_growth(void)
{
	uint64_t	seed = seeded(91);
	double		expected = 0;

	for (int t = 0; t < 10000; t++)
	{
		double		value[3];

		for (int i = 0; i < 3; i++)
			value[i] = 1000 - 3 * i + random_unit(&seed) - 0.5;
		expected += (ws_project(value[0], value[1], value[2]) - value[0]) / 6 / 10000;
	}
	is_within(ws_project(1000, 997, 994), 1006, 1e-9, "project: steady growth is expected to go on");
	ok(expected > 0.8, "project: %.3f of it with noise of a third of a step's growth", expected);
}

static void
test_project(void)
{
	static const struct
	{
		const char *name;
		double		before;
		double		ago;
		double		now;
		double		want;
	}			table[] = {
		{"just begun: half of it, and half of that", 1000, 1000, 1100, 1175},
		{"growing: as much in each", 2000, 2100, 2200, 2400},
		{"growing faster: no faster than last", 2000, 2100, 2250, 2550},
		{"growing half as fast: a half, and a half of that", 1000, 1100, 1150, 1187.5},
		{"growing fast: 15 % at most", 100, 200, 300, 345},
		{"no longer growing", 100, 200, 200, 200},
		{"shrinking after it grew", 100, 300, 200, 200},
		{"growing after it shrank: as if just begun", 1300, 1100, 1200, 1275},
		{"very many more slowly", 0, 0x1p39, 1.25 * 0x1p39, 1.328125 * 0x1p39},
	};
	uint64_t	seed = seeded(90);
	long		wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		is_within(ws_project(table[i].now, table[i].ago, table[i].before), table[i].want,
				  1e-12 * table[i].want, table[i].name);
	for (int i = 0; i < 100000; i++)
	{
		double		before = floor(1000 * random_unit(&seed));
		double		ago = floor(1000 * random_unit(&seed));
		double		now = floor(1000 * random_unit(&seed));
		double		got = ws_project(now, ago, before);

		wrong += !(got >= now && got <= now + 2 * fmax(now - ago, 0));
		wrong += ws_project(now + 1, ago, before) < got;
	}
	is_int(wrong, 0, "two periods on: never below now, nor above twice the growth, and more of more");
	test_project_step();
	test_project_growth();
}

/* ---------------------------------------------------------------- every heuristic */

/* a workload with the default settings */
static WsWorkload
workload(void)
{
	return (WsWorkload)
	{
		.min_wait = WS_PLATEAU_MIN_WAIT, .window_size = WS_PLATEAU_WINDOW_SIZE,
			.max_increase = WS_PLATEAU_MAX_INCREASE
	};
}

/*
 * A random workload: a curve that does not fall, and live pages of a random
 * table, or no sample.  At times all are 0.
 */
static WsWorkload
random_workload(uint64_t *seed, WsLife *life)
{
	WsWorkload	w = workload();
	double		series[WS_CURVE_WINDOWS];
	double		scale = random_count(seed, 1e9);
	double		noise = random_count(seed, 1e6);

	random_series(seed, series, WS_CURVE_WINDOWS, true);
	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		w.curve[i] = (WsEstimate) {.pages = scale * series[i], .variance = noise * series[i]};
	w.window_size = 2 + (int) random_below(seed, 20);
	w.min_wait = w.window_size + (int) random_below(seed, 60);
	w.max_increase = 1 + 9 * random_unit(seed);
	if (random_below(seed, 4))
	{
		const WsEstimate *window = &w.curve[random_below(seed, WS_CURVE_WINDOWS)];
		double		ago = window->pages * random_unit(seed);

		random_table(life, random_below(seed, 2) ? WS_BREAK_EVEN_DEFAULT : WS_BREAK_EVEN_MAX, seed);
		w.live = ws_live_set(life, window);
		w.live.projected = ws_project(w.live.pages, ago, ago * random_unit(seed));
	}
	return w;
}

/* NULL, or which promise a recommendation breaks. */
static const char *
broken_promise(const WsRecommendation *r, const WsWorkload *w)
{
	double		longest = w->curve[WS_CURVE_WINDOWS - 1].pages;

	if (isnan(r->pages) != isnan(r->projected))
		return "only one of pages and projected is NaN";
	if (isnan(r->pages) && w->live.known)
		return "no answer, though there is a sample";
	if (!isnan(r->pages) && !(r->pages >= 0 && r->pages <= r->window.pages))
		return "fewer pages than 0, or more than its window has";
	if (isnan(r->pages) != isnan(r->needed) || r->needed < 0 || r->needed > r->pages)
		return "needed are fewer than 0, or more than its pages";
	if (!isnan(r->pages) && !(r->projected >= r->pages && isfinite(r->projected)))
		return "projected to be fewer, of a curve that does not fall";
	if (!(r->window.pages >= 0 && r->window.pages <= longest && isfinite(r->window.variance)))
		return "its window is not of the curve";
	return NULL;
}

/* What heuristic.h promises of any heuristic, of all those there are. */
static void
test_all(void)
{
	WsLife	   *life = new_life(1, 300);
	const int	ntrials = trials(20000);

	for (int m = 0; m < WS_METHODS; m++)
	{
		const char *name = ws_method_names[m];
		uint64_t	seed = seeded(91);
		const char *broken = NULL;
		long		wrong = 0;
		long		answers = 0;
		bool		unique = name[0] != '\0';

		for (int i = 0; i < m; i++)
			unique &= strcmp(name, ws_method_names[i]) != 0;
		ok(unique, "%s: a name of its own", name);
		for (int i = 0; i < ntrials; i++)
		{
			WsWorkload	w = random_workload(&seed, life);
			WsWorkload	before = w;
			WsRecommendation r = ws_recommend((WsMethod) m, &w);
			WsRecommendation again = ws_recommend((WsMethod) m, &w);
			const char *what = broken_promise(&r, &w);

			broken = broken ? broken : what;
			wrong += memcmp(&w, &before, sizeof(w)) != 0 || (r.pages != again.pages && !isnan(r.pages));
			answers += !isnan(r.pages);
			/* the one that is recommended where another has no answer */
			wrong += m == WS_METHOD_PLATEAU_END && isnan(r.pages);
		}
		ok(broken == NULL && answers > ntrials / 2, "%s: %s (%ld answers)", name,
		   broken ? broken : "its answers keep all promises", answers);
		ok(wrong == 0, "%s: the same workload has the same answer, and does not change", name);
	}
	free(life);
}

/* ---------------------------------------------------------------- sentences */

static void
test_format(void)
{
	static const struct
	{
		double		bytes;
		const char *want;
	}			size[] = {
		{0, "0 bytes"}, {1, "1 byte"}, {999.4, "999 bytes"}, {1000, "1.0 kB"}, {8192, "8.0 kB"},
		{9.94 * 1024, "9.9 kB"}, {9.95 * 1024, "10 kB"}, {999.4 * 1024, "999 kB"},
		{999.5 * 1024, "1.0 MB"}, {0x1p27, "128 MB"}, {1.2 * 0x1p30, "1.2 GB"}, {0x1p40, "1.0 TB"},
		{3.5 * 0x1p50, "3.5 PB"}, {0x1p60, "1024 PB"},
	};
	static const struct
	{
		double		seconds;
		const char *want;
	}			window[] = {
		{1, "second"}, {10, "10 seconds"}, {59, "59 seconds"}, {60, "minute"}, {61, "61 seconds"},
		{119, "119 seconds"}, {119.5, "2 minutes"}, {119.7, "2 minutes"}, {179, "2 minutes"},
		{180, "3 minutes"}, {3599, "59 minutes"}, {3600, "hour"}, {3601, "60 minutes"},
		{7199, "119 minutes"}, {7200, "2 hours"}, {86400, "24 hours"}, {2 * 86400 - 1, "47 hours"},
		{2 * 86400, "2 days"}, {864000, "10 days"},
	};
	char		buf[64];

	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++)
	{
		ws_format_bytes(size[i].bytes, buf, sizeof(buf));
		is_string(buf, size[i].want, size[i].want);
	}
	for (size_t i = 0; i < sizeof(window) / sizeof(window[0]); i++)
	{
		ws_format_window(window[i].seconds, buf, sizeof(buf));
		is_string(buf, window[i].want, window[i].want);
	}
}

/*
 * plateau_end as a method: its answers are those of ws_plateau() on the same
 * curve.
 */
static void
test_plateau_end(void)
{
	static const struct
	{
		Stretch		stretch[6];
		double		variance;	/* of each page */
	}			table[] = {
		{{{60, 1.2}}, 0},
		{{{20, 1.2}, {60, 5}}, 0},
		{{{1, .1}, {15, 1.5}, {60, 1.5}}, 1},
		{{{60, 0}}, 0},
		{{{20, 0}, {60, 5}}, 0},
		{{{18, 1.2}, {60, 5}}, 0},
		{{{1, .8}, {18, 1.2}, {60, 60}}, 0},
		{{{18, 1}, {60, 1.049}}, 0},
		{{{18, 1}, {60, 4}}, .76},
		{{{1, .1}, {40, 1.182}, {60, 1.2}}, 0},
	};
	int			wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsWorkload	w = workload();
		WsRecommendation r;
		WsPlateau	p;
		double		series[MAX_POINTS];
		int			n = draw(table[i].stretch, series);

		for (int k = 0; k < n; k++)
			w.curve[k] = (WsEstimate) {series[k], table[i].variance * series[k], false};
		r = ws_recommend(WS_METHOD_PLATEAU_END, &w);
		p = ws_plateau(series, n, DEFAULTS);
		wrong += n != WS_CURVE_WINDOWS || r.pages != p.pages || r.projected != p.projected ||
			r.needed != p.pages || r.window.pages != p.pages ||
			r.window.variance != table[i].variance * p.pages;
	}
	is_int(wrong, 0, "plateau_end: all else is the answer of ws_plateau()");
	is_string(ws_method_names[WS_METHOD_PLATEAU_END], "plateau_end", "plateau_end has its name");
}

/*
 * live_set as a method, likewise.
 */
static void
test_live_set(void)
{
	static const struct
	{
		double		window;
		double		live;
	}			table[] = {
		{0, 0}, {1, 1}, {4, 1}, {4, 3.97}, {4, 0}, {4, 0x1p-31}, {4, 4},
	};
	WsWorkload	w;
	WsRecommendation r;
	int			wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		w = workload();
		w.live = (WsLive)
		{
			.known = true, .pages = table[i].live, .projected = 7,
				.proved = i % 3 * table[i].live / 2,
				.window =
			{
				.pages = table[i].window, .variance = 3
			}
		};
		r = ws_recommend(WS_METHOD_LIVE_SET, &w);
		/* at most a quarter more than proved */
		wrong += r.needed != table[i].live * (i % 3 == 0 ? 0 : i % 3 == 1 ? .625 : 1);
		wrong += r.pages != table[i].live || r.projected != 7 || r.window.pages != table[i].window ||
			r.window.variance != 3;
	}
	is_int(wrong, 0, "live_set: all else is the answer of ws_live_set()");
	is_string(ws_method_names[WS_METHOD_LIVE_SET], "live_set", "live_set has its name");

	w = workload();
	w.live.pages = 5;
	w.live.projected = 6;
	r = ws_recommend(WS_METHOD_LIVE_SET, &w);
	ok(isnan(r.pages) && isnan(r.projected) && isnan(r.needed), "live_set without a sample has no answer");
}

int
main(void)
{
	plan(77 + 3 * WS_METHODS + 3 * WS_LIFE_GROUPS);
	test_golden();
	test_definition();
	test_live_definition();
	test_scan();
	test_constant();
	test_project();
	test_busiest_time();
	test_day();
	test_all();
	test_format();
	test_plateau_end();
	test_live_set();
	return done();
}
