/*
 * heuristic_t.c
 *		Tests of the heuristics: what each of them promises, plateau_end and its
 *		projection, live_set, and the sentences of both.
 *
 * test_all() runs every method on random workloads.  live_set is compared with
 * its definition, written a second time and plainly, on many life tables.
 */
#include "tap.h"
#include "heuristic.h"
#include "traces.h"

#define K_SIGMA 5

/* ---------------------------------------------------------------- plateau_end */

/* Windows of three points, whose rise may double. */
static void
test_plateau(void)
{
	static const struct
	{
		const char *name;
		int			n;
		int			min_offset;
		double		s[8];
		int			end;
		double		projected;
	}			table[] = {
		{"flat", 8, 3, {5, 5, 5, 5, 5, 5, 5, 5}, 8, 5},
		{"more than twice the rise", 8, 3, {0, 1, 2, 3, 7, 7, 7, 7}, 3, 2.5},
		{"twice the rise", 8, 3, {0, 1, 2, 3, 6, 6, 6, 6}, 8, 7.5},
		{"more of it before the first that counts", 8, 4, {0, 1, 2, 3, 8, 9, 9, 9}, 4, 3.5},
		{"more at the last that counts", 8, 3, {0, 1, 2, 3, 4, 5, 6, 11}, 6, 5.5},
		{"twice the rise there", 8, 3, {0, 1, 2, 3, 4, 5, 6, 9}, 8, 10.5},
		{"more after it", 7, 3, {0, 1, 2, 3, 4, 4, 20}, 5, 4.5},
		{"a fall is no rise, and the first point may be the highest", 8, 3, {9, 5, 4, 4, 4, 6, 6, 6}, 4, 9},
		{"the end is exceeded before it", 6, 3, {0, 1, 9, 3, 3, 3}, 6, 1.5},
		{"a rise, a fall, and as high again", 8, 3, {0, 4, 6, 6, 5, 5, 6, 6}, 5, 6},
		{"one point", 1, 3, {4}, 1, 4},
		{"fewer than count", 2, 5, {1, 3}, 2, 4},
	};
	static const double steep[] = {0, 1, 4, 8};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		const double *s = table[i].s;
		WsPlateau	p = ws_plateau(s, table[i].n, table[i].min_offset, 3, 2);

		if (!ok(p.index == table[i].end && p.pages == s[p.index - 1] && p.projected == table[i].projected,
				"plateau: %s", table[i].name))
			diag("ends at %d, projected %g", p.index, p.projected);
	}
	ok(ws_plateau_end(steep, 4, 2, 2, 3) == 4 && ws_plateau_end(steep, 4, 2, 2, 2.9) == 2,
	   "plateau: other windows, and another rise");
	ok(ws_project_next_highest(steep, 4, 0) == 8 && ws_project_next_highest(steep, 3, 2) == 10,
	   "plateau: other factors of the projection");
}

/* ---------------------------------------------------------------- the live set */

static WsLife *
new_life(uint32_t nitems, int hold)
{
	WsLife	   *life = aligned_memory(ws_life_size(nitems));

	ws_life_init(life, nitems, 900, hold);
	return life;
}

static WsLive
live_of(WsLife *life, double pages)
{
	WsEstimate	window = {.pages = pages, .variance = 2 * pages};

	return ws_live_set(life, &window);
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
				exact += t->population[g][s] * (1 - pow(1 - q, 90 - s));
				for (int later = s; later < WS_LIFE_BINS; later++)
					change[later / 3] += t->population[g][s] * pow(1 - q, 89 - s);
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

/* ---------------------------------------------------------------- projection */

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

		wrong += !(got >= now && got <= now + fmin(2 * fmax(now - ago, 0), .15 * now + 1e-9));
		wrong += ws_project(now + 1, ago, before) < got;
	}
	is_int(wrong, 0, "two periods on: never below now, nor above twice the growth or 15 %, and more of more");
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
 * A random workload: a curve of stretches of different steepness that does not
 * fall, and live pages of a random table, or no sample.  At times all are 0.
 */
static WsWorkload
random_workload(uint64_t *seed, WsLife *life)
{
	WsWorkload	w = workload();
	double		scale = random_count(seed, 1e9);
	double		noise = random_count(seed, 1e6);
	double		level = 0;
	double		speed = 1;

	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
	{
		if (random_below(seed, 8) == 0)
			speed = random_below(seed, 3) == 0 ? 0 : exp(4 * random_unit(seed));
		level += speed * random_unit(seed);
		w.curve[i] = (WsEstimate) {.pages = scale * level, .variance = noise * level};
	}
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

/* Is it what the functions say that the method is made of? */
static bool
is_of_method(int method, const WsRecommendation *r, const WsWorkload *w)
{
	double		series[WS_CURVE_WINDOWS];
	WsPlateau	p;

	if (method == WS_METHOD_LIVE_SET)
		/* at most a quarter more is needed than proved */
		return !w->live.known ? isnan(r->pages) :
			r->pages == w->live.pages && r->projected == w->live.projected &&
			r->needed == fmin(w->live.pages, 1.25 * w->live.proved) &&
			r->window.pages == w->live.window.pages && r->window.variance == w->live.window.variance;
	if (method != WS_METHOD_PLATEAU_END)
		return true;
	for (int i = 0; i < WS_CURVE_WINDOWS; i++)
		series[i] = w->curve[i].pages;
	p = ws_plateau(series, WS_CURVE_WINDOWS, w->min_wait, w->window_size, w->max_increase);
	return r->pages == p.pages && r->projected == p.projected && r->needed == p.pages &&
		r->window.pages == p.pages && r->window.variance == w->curve[p.index - 1].variance;
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
			wrong += !is_of_method(m, &r, &w);
		}
		ok(broken == NULL && answers > ntrials / 2, "%s: %s (%ld answers)", name,
		   broken ? broken : "its answers keep all promises", answers);
		ok(wrong == 0, "%s: the answer is that of its functions, twice the same, and the workload does not change", name);
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

int
main(void)
{
	plan(67 + 3 * WS_METHODS);
	test_plateau();
	test_live_definition();
	test_constant();
	test_project();
	test_all();
	test_format();
	is_string(ws_method_names[WS_METHOD_PLATEAU_END], "plateau_end", "plateau_end has its name");
	is_string(ws_method_names[WS_METHOD_LIVE_SET], "live_set", "live_set has its name");
	return done();
}
