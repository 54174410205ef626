/*
 * without_t.c
 *		Tests of the sweeps without one user each: against naive caches of full
 *		size, access by access where all pages are simulated, and within the
 *		error of sampling where some are.
 *
 * Where an assertion is about random numbers its bound is K_SIGMA standard
 * errors, those that the module states.
 */
#include "tap.h"
#include "sketch.h"
#include "sweep_check.h"
#include "traces.h"
#include "without.h"

#define K_SIGMA 5
#define LOG2M 12
#define START 5000				/* ticks */
#define MINUTE (60 * WS_TICKS_PER_SECOND)
#define WARM (WS_WITHOUT_WARM_SECONDS * WS_TICKS_PER_SECOND)

static WsWithout *
new_without(uint32_t entries, uint32_t shift)
{
	WsWithout  *w = aligned_memory(ws_without_size(entries));

	ws_without_init(w, entries, LOG2M, shift, START);
	return w;
}

static WsSampler *
new_sampler(uint32_t entries, uint32_t relation)
{
	WsSampler  *sampler = aligned_memory(ws_sampler_size(entries));

	ws_sampler_init(sampler, entries, LOG2M, 0, START);
	for (uint32_t i = 0; i < entries; i++)
		sampler->samples[i].hash = page_hash(relation, i);
	return sampler;
}

/* NULL, or what is wrong */
static const char *
check(const WsWithout *w, uint32_t entries)
{
	uint32_t	used = 0;

	for (uint32_t i = 0; i < entries; i++)
		if (w->page[i] != UINT16_MAX)
		{
			used++;
			if (w->entry[w->page[i]] != i || w->stratum[w->page[i]] < w->shift)
				return "a page is not that of its entry";
		}
	if (used != w->used)
		return "pages do not add up";
	for (uint32_t i = 0, page = w->free; i < WS_WITHOUT_PAGES - used; i++, page = w->entry[page])
		if (page >= WS_WITHOUT_PAGES || ws_sweep_holds(w->sweep, page))
			return "a page that is free is in a cache";
	for (int c = 0; c < WS_SWEEP_SIZES; c++)
		if (!(w->running & WS_SWEEP_BIT(c)) && sweep_filled(w->sweep, c) > 0)
			return "a cache that does not run has pages";
	return sweep_check(w->sweep);
}

/*
 * ----------------------------------------------------------------
 * The second implementation: a naive cache for each candidate
 * ----------------------------------------------------------------
 */

#define SECONDS_MAX 1200

typedef struct Model
{
	Clock	   *caches[WS_SWEEP_SIZES];
	Ring		rings[WS_SWEEP_SIZES];
	bool		running[WS_SWEEP_SIZES];
	uint32_t	from[WS_SWEEP_SIZES];	/* tick */
	/* misses of others, with the candidate and without it, by tick */
	int			saved[WS_CANDIDATES][START + SECONDS_MAX * WS_TICKS_PER_SECOND];
} Model;

static Model *
new_model(uint32_t npages, uint32_t buffers)
{
	Model	   *m = zeroed(1, sizeof(Model));

	for (int c = 0; c < WS_SWEEP_SIZES; c++)
		m->caches[c] = clock_new(buffers, npages);
	return m;
}

static void
free_model(Model *m)
{
	for (int c = 0; c < WS_SWEEP_SIZES; c++)
		clock_free(m->caches[c]);
	free(m);
}

static void
model_begin(Model *m, int c, const uint32_t *pages, uint32_t n, uint32_t npages, uint32_t tick)
{
	uint32_t	buffers = m->caches[c]->buffers;
	Clock	   *base = m->running[WS_WITHOUT_BASE] && c != WS_WITHOUT_BASE ? m->caches[WS_WITHOUT_BASE] : NULL;
	Clock	   *cache = clock_new(buffers, npages);
	bool	   *kept = zeroed(npages, sizeof(bool));
	uint32_t	others = buffers;
	uint32_t	last = 0;

	for (uint32_t i = 0; i < n && base; i++)
		if (base->where[pages[i]] != UINT32_MAX)
		{
			kept[pages[i]] = true;
			others--;
		}
	for (uint32_t found = 0; last < n && found < others; last++)
		found += !kept[pages[last]];
	while (last-- > 0)
		if (!kept[pages[last]])
		{
			cache->page[cache->filled] = pages[last];
			cache->usage[cache->filled++] = 1;
		}
	for (uint32_t i = 0; base && i < base->filled; i++)
	{
		uint32_t	buffer = (base->hand + i) % base->filled;

		if (kept[base->page[buffer]])
		{
			cache->page[cache->filled] = base->page[buffer];
			cache->usage[cache->filled++] = base->usage[buffer];
		}
	}
	for (uint32_t i = 0; i < cache->filled; i++)
		cache->where[cache->page[i]] = i;
	free(kept);
	clock_free(m->caches[c]);
	m->caches[c] = cache;
	m->running[c] = true;
	m->from[c] = tick + WARM;
	if (c < WS_CANDIDATES)
		memset(m->saved[c], 0, sizeof(m->saved[c]));
}

static bool
model_access(Model *m, uint32_t page, bool scan, uint32_t members, bool counted, uint32_t tick)
{
	int			missed[WS_SWEEP_SIZES] = {0};

	for (int c = 0; c < WS_SWEEP_SIZES; c++)
		if (m->running[c] && !(members >> c & 1))
			missed[c] = !clock_access(m->caches[c], page, scan ? &m->rings[c] : NULL, NULL);
	for (int c = 0; c < WS_CANDIDATES; c++)
		if (m->running[c] && !(members >> c & 1) && counted)
			m->saved[c][tick] += missed[WS_WITHOUT_BASE] - missed[c];
	return missed[WS_WITHOUT_BASE];
}

/* a second, since the last five whole minutes, or since it is counted */
static double
model_saved(const Model *m, int c, uint32_t now)
{
	uint32_t	start = now / MINUTE * MINUTE - 5 * MINUTE;
	long		sum = 0;

	start = start > m->from[c] ? start : m->from[c];
	start = start > m->from[WS_WITHOUT_BASE] ? start : m->from[WS_WITHOUT_BASE];
	for (uint32_t tick = start; tick <= now; tick++)
		sum += m->saved[c][tick];
	return (double) sum * WS_TICKS_PER_SECOND / (now - start);
}

/*
 * ----------------------------------------------------------------
 * Access by access
 * ----------------------------------------------------------------
 */

static void
test_model(void)
{
	static const struct
	{
		const char *name;
		uint32_t	pages;
		uint32_t	buffers;
		double		exponent;	/* of Zipf's law */
		int			each;		/* accesses in a tick */
		int			seconds;
		/* how often something happens, in 10,000 */
		uint32_t	scans;
		uint32_t	uncounted;
		uint32_t	again;
	}			table[] = {
		{"uniform", 1500, 700, 0, 5, 300, 0, 0, 0},
		{"Zipf", 1500, 300, 0.9, 5, 300, 0, 0, 0},
		{"a scan through a ring", 1500, 400, 0.5, 5, 300, 3000, 0, 0},
		{"some are not counted", 1500, 400, 0.5, 5, 300, 0, 3000, 0},
		{"few buffers", 60, 5, 0.5, 2, 100, 1000, 1000, 0},
		{"for longer than minutes are kept", 1500, 400, 0.5, 1, 1000, 500, 500, 0},
		/* no ring, which would remember a number that is another page's now */
		{"candidates begin again", 1500, 400, 0.5, 2, 700, 0, 1000, 3},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		uint32_t	n = table[t].pages;
		WsWithout  *w = new_without(n, 0);
		WsSampler  *sampler = new_sampler(n, (uint32_t) t);
		Model	   *m = new_model(n, table[t].buffers);
		Zipf	   *zipf = zipf_new(n / 2, table[t].exponent);
		double		rings[WS_NRINGS] = {20, 30, 40};
		uint32_t   *seeds = zeroed(n, sizeof(uint32_t));
		uint64_t	seed = seeded(7 + t);
		uint32_t	block = 0;
		uint32_t	tick = START;
		double		worst = 0;
		double		error;
		int			known = 0;

		ws_without_resize(w, 1, table[t].buffers, rings);
		for (int c = 0; c < WS_SWEEP_SIZES; c++)
			ring_begin(&m->rings[c], (uint32_t) fmax(rint(fmin(20, table[t].buffers / 8.0)), 1));
		for (; tick < START + (uint32_t) table[t].seconds * WS_TICKS_PER_SECOND; tick++)
		{
			if (tick % WS_TICKS_PER_SECOND == 0)
				ws_without_follow(w, tick);
			for (int c = 0; c < WS_SWEEP_SIZES; c++)
				/* the last two never begin, the base a little later, and again */
				if ((tick == START + 20 && (c < WS_CANDIDATES - 2 || c == WS_WITHOUT_BASE)) ||
					(tick == START + 5000 && c == WS_WITHOUT_BASE && table[t].again > 0) ||
					(tick > START + 20 && c != WS_WITHOUT_BASE && random_below(&seed, 10000) < table[t].again))
				{
					uint32_t	nseeds = random_below(&seed, n);

					for (uint32_t i = 0; i < n; i++)
						seeds[i] = i;
					for (uint32_t i = 0; i < nseeds; i++)
					{
						uint32_t	j = i + random_below(&seed, n - i);
						uint32_t	swapped = seeds[i];

						seeds[i] = seeds[j];
						seeds[j] = swapped;
					}
					ws_without_begin(w, c, sampler, seeds, nseeds, tick);
					model_begin(m, c, seeds, nseeds, n, tick);
				}
			for (int k = 0; k < table[t].each; k++)
			{
				/* ten users, some of which use the same pages */
				uint32_t	user = random_below(&seed, 10);
				WsAccess	a = {.page = (zipf_draw(zipf, &seed) + user / 2 * n / 8) % n, .ringed = 0, .ring = WS_RING_READ, .process = 1, .relation = 1, .block = 0};
				bool		counted = random_below(&seed, 10000) >= table[t].uncounted;
				/* a user, and groups of them */
				uint32_t	members = 1U << user | 1U << (10 + user % 3) | (uint32_t) (user < 8) << 17;

				if (random_below(&seed, 10000) < table[t].scans)
				{
					/* block numbers only ascend: one scan */
					a.block = block++;
					a.page = a.block % n;
					a.ringed = WS_SWEEP_BIT(WS_SWEEP_PRESENT);
					members = 1;
				}
				ws_without_access(w, &a, sampler->samples[a.page].hash, members, counted,
								  model_access(m, a.page, a.ringed != 0, members, counted, tick), tick);
			}
		}
		for (int c = 0; c < WS_CANDIDATES; c++)
		{
			double		saved = ws_without_saved(w, c, tick - 1, &error);

			if (isnan(saved))
				continue;
			known++;
			worst = fmax(worst, fabs(saved - model_saved(m, c, tick - 1)));
		}
		ok(worst < 1e-4 && known >= 5 && check(w, n) == NULL,
		   "%s: as naive caches without a candidate count it", table[t].name);
		if (worst >= 1e-4 || check(w, n))
			diag("off by %g, %d known, %s", worst, known, check(w, n) ? check(w, n) : "");
		free(w);
		free(sampler);
		free(seeds);
		zipf_free(zipf);
		free_model(m);
	}
}

/*
 * ----------------------------------------------------------------
 * Sampled
 * ----------------------------------------------------------------
 */

#define USERS 4					/* the last is a candidate twice */

typedef struct Load
{
	const char *name;
	uint32_t	buffers;
	struct
	{
		uint32_t	first;		/* page */
		uint32_t	n;
		double		exponent;	/* of Zipf's law; negative: goes round */
		int			each;		/* accesses in a tick */
	}			user[USERS];
} Load;

/* of these: others follow one; everything fits */
#define NFOLLOWED 2
#define NFITS 3

static const Load loads[] = {
	{"look-ups beside one that goes round", 8000,
	{{0, 6000, 0, 40}, {6000, 6000, 0, 10}, {12000, 4000, 0.8, 10}, {16000, 12000, -1, 60}}},
	{"Zipf beside one that looks up everything", 6000,
	{{0, 8000, 0.9, 60}, {8000, 4000, 0.7, 30}, {12000, 2000, 0, 10}, {0, 30000, 0, 60}}},
	{"one that others follow", 4000,
	{{16000, 12000, -1, 30}, {0, 2000, 0.5, 20}, {2000, 2000, 0.5, 20}, {16000, 12000, -1, 30}}},
	{"everything fits", 30000,
	{{0, 6000, 0, 30}, {6000, 6000, 0, 10}, {12000, 4000, 0.8, 10}, {16000, 12000, -1, 60}}},
};

/* Off from the truth by so many stated errors, for each user. */
static void
run_load(const Load *load, uint64_t seed, double *off, double *truth, double *error)
{
	enum
	{
		PAGES = 32768, SECONDS = 240
	};
	WsWithout  *w = new_without(PAGES, 0);
	WsSampler  *sampler = new_sampler(PAGES, (uint32_t) seed);
	Model	   *m = new_model(PAGES, load->buffers);
	double		rings[WS_NRINGS] = {1, 1, 1};
	Zipf	   *zipf[USERS];
	uint32_t	position[USERS] = {0};
	uint32_t	tick;

	for (int u = 0; u < USERS; u++)
		zipf[u] = zipf_new(load->user[u].n, fmax(load->user[u].exponent, 0));
	/* the one that is followed is ahead by some pages */
	position[USERS - 1] = 300;
	ws_without_resize(w, 1, load->buffers, rings);
	for (int c = 0; c < USERS; c++)
	{
		ws_without_begin(w, c, sampler, NULL, 0, START);
		model_begin(m, c, NULL, 0, PAGES, START);
	}
	ws_without_begin(w, WS_WITHOUT_BASE, sampler, NULL, 0, START);
	model_begin(m, WS_WITHOUT_BASE, NULL, 0, PAGES, START);
	for (tick = START; tick < START + SECONDS * WS_TICKS_PER_SECOND; tick++)
	{
		if (tick % WS_TICKS_PER_SECOND == 0)
		{
			uint32_t	sampled = 0;

			/* the share of the pages in the cache, as the server finds it */
			for (uint32_t i = 0; i < m->caches[WS_WITHOUT_BASE]->filled; i++)
				sampled += ws_hash_stratum(sampler->samples[m->caches[WS_WITHOUT_BASE]->page[i]].hash, LOG2M) >= w->shift;
			ws_without_follow(w, tick);
			ws_without_resize(w, m->caches[WS_WITHOUT_BASE]->filled < load->buffers / 2 ? ldexp(1, -(int) w->shift) :
							  sampled / (double) m->caches[WS_WITHOUT_BASE]->filled, load->buffers, rings);
		}
		for (int u = 0; u < USERS; u++)
			for (int k = 0; k < load->user[u].each; k++)
			{
				uint32_t	page = load->user[u].exponent < 0 ? position[u]++ % load->user[u].n : zipf_draw(zipf[u], &seed);
				WsAccess	a = {.page = (load->user[u].first + page * 7919 % load->user[u].n) % PAGES};

				/* in an order in which neighbours are no neighbours */
				ws_without_access(w, &a, sampler->samples[a.page].hash, 1U << u, true,
								  model_access(m, a.page, false, 1U << u, true, tick), tick);
			}
	}
	for (int u = 0; u < USERS; u++)
	{
		truth[u] = model_saved(m, u, tick - 1);
		off[u] = ws_without_saved(w, u, tick - 1, &error[u]) - truth[u];
	}
	if (check(w, PAGES))
		off[0] = NAN;
	free(w);
	free(sampler);
	free_model(m);
	for (int u = 0; u < USERS; u++)
		zipf_free(zipf[u]);
}

static void
test_sampled(void)
{
	const uint64_t nseeds = (uint64_t) trials(6);
	double		squares = 0;
	int			n = 0;

	for (size_t t = 0; t < sizeof(loads) / sizeof(loads[0]); t++)
	{
		double		worst = 0;
		double		most = 0;
		double		least = 0;

		for (uint64_t seed = 0; seed < nseeds; seed++)
		{
			double		off[USERS];
			double		truth[USERS];
			double		error[USERS];

			run_load(&loads[t], seeded(100 + seed), off, truth, error);
			for (int u = 0; u < USERS; u++)
			{
				double		z = off[u] == 0 ? 0 : off[u] / error[u];

				worst = fabs(z) <= worst ? worst : fabs(z);
				squares += z * z;
				n += off[u] != 0;
				most = fmax(most, truth[u]);
				least = fmin(least, truth[u]);
			}
		}
		ok(worst <= student(K_SIGMA, WS_ERROR_GROUPS), "%s: within %d standard errors of the truth", loads[t].name, K_SIGMA);
		diag("off by up to %.1f standard errors; reads saved a second: %.0f to %.0f", worst, least, most);
		ok(t == NFITS ? most == 0 && least == 0 : most > 10, "%s", t == NFITS ? "and then nobody costs reads" : "and somebody costs some");
		if (t == NFOLLOWED)
			ok(least < -100, "one that others follow saves them reads");
	}
	/*
	 * The square of Student's t with 15 degrees of freedom has the mean 1.15
	 * and the standard deviation 1.84.
	 */
	is_within(sqrt(squares / n), 1.07, K_SIGMA * 0.8 / sqrt(n), "error / standard error: root mean square");
}

/*
 * ----------------------------------------------------------------
 * What is not known, and what is forgotten
 * ----------------------------------------------------------------
 */

/* the share of what the base misses that the server reads, too */
static double reading = 1;

/* Does the base miss the page? */
static bool
base_misses(const WsWithout *w, uint32_t entry)
{
	return w->page[entry] == UINT16_MAX || !ws_sweep_holds_at(w->sweep, w->page[entry], WS_WITHOUT_BASE);
}

/* user 0 and user 1 in turn go round through 100 pages each; 150 fit */
static void
go_round(WsWithout *w, const WsSampler *sampler, uint32_t *tick, uint32_t seconds)
{
	for (uint32_t end = *tick + seconds * WS_TICKS_PER_SECOND; *tick < end; (*tick)++)
	{
		ws_without_follow(w, *tick);
		for (int user = 0; user < 2; user++)
		{
			WsAccess	a = {.page = (uint32_t) user * 100 + *tick % 100};

			ws_without_access(w, &a, sampler->samples[a.page].hash, 1U << user, true, base_misses(w, a.page) && *tick % 2 < 2 * reading, *tick);
		}
	}
}

static void
test_known(void)
{
	WsWithout  *w = new_without(200, 0);
	WsSampler  *sampler = new_sampler(200, 1);
	double		rings[WS_NRINGS] = {1, 1, 1};
	double		error = 0;
	uint32_t	tick = START;

	ws_without_resize(w, 1, 150, rings);
	ws_without_begin(w, 0, sampler, NULL, 0, tick);
	go_round(w, sampler, &tick, WS_WITHOUT_WARM_SECONDS + WS_WITHOUT_SECONDS_MIN + 1);
	ok(isnan(ws_without_saved(w, 0, tick, &error)) && isnan(error), "nothing is known without the base");
	ws_without_begin(w, WS_WITHOUT_BASE, sampler, NULL, 0, tick);
	go_round(w, sampler, &tick, WS_WITHOUT_WARM_SECONDS + WS_WITHOUT_SECONDS_MIN - 1);
	ok(isnan(ws_without_saved(w, 0, tick, &error)) && isnan(error), "nor soon after it begins");
	go_round(w, sampler, &tick, 1);
	is_within(ws_without_saved(w, 0, tick, &error), WS_TICKS_PER_SECOND, 0, "then the other misses all of its pages because of one");
	/* a hundred pages, of which each is missed as often: 10 %, from sixteen groups */
	is_within(error, 1, 0.7, "with the error of a sample of so many pages");
	ok(isnan(ws_without_saved(w, 1, tick, &error)), "of one that has not begun, nothing is known");

	go_round(w, sampler, &tick, 7 * 60 + (MINUTE - (tick + 7 * MINUTE) % MINUTE) / WS_TICKS_PER_SECOND);
	is_within(ws_without_saved(w, 0, tick, &error), WS_TICKS_PER_SECOND, 0.01, "at the begin of a minute as well, before it is counted");

	/* a reset, and a candidate that ends */
	ws_without_reset(w, tick);
	ok(isnan(ws_without_saved(w, 0, tick, &error)), "nor after a reset");
	go_round(w, sampler, &tick, WS_WITHOUT_SECONDS_MIN);
	is_within(ws_without_saved(w, 0, tick, &error), WS_TICKS_PER_SECOND, 0, "which does not empty the caches");
	/* 16 pages are added to both, but it cannot be more than was read */
	ws_without_reset(w, tick);
	reading = 0.5;
	go_round(w, sampler, &tick, 60);
	is_within(ws_without_saved(w, 0, tick, &error), WS_TICKS_PER_SECOND / 2.0, 0.01, "half as many if half of what the base misses was read");
	reading = 1;
	ws_without_end(w, 0);
	ok(isnan(ws_without_saved(w, 0, tick, &error)) && check(w, 200) == NULL, "nor of one that has ended");

	/* counts end after five minutes and the present one */
	ws_without_begin(w, 0, sampler, NULL, 0, tick);
	go_round(w, sampler, &tick, WS_WITHOUT_WARM_SECONDS + 120);
	tick += 7 * MINUTE;
	ws_without_follow(w, tick);
	is_within(ws_without_saved(w, 0, tick, &error), 0, 0, "when nothing happens for long, nothing is saved");

	/* pages of the base that are gone are missed with and without */
	for (uint32_t i = 0; i < 200; i++)
		ws_without_forget(w, i);
	ok(w->used == 0 && check(w, 200) == NULL, "all pages are forgotten");
	free(w);
	free(sampler);
}

static void
test_adapt(void)
{
	enum
	{
		PAGES = 16384, BUFFERS = 6000
	};
	WsWithout  *w = new_without(PAGES, 1);
	WsSampler  *sampler = new_sampler(PAGES, 3);
	double		rings[WS_NRINGS] = {1, 1, 1};
	uint64_t	seed = seeded(5);
	uint32_t	lower = 0;
	bool		fine = true;
	bool		held = true;

	ws_without_resize(w, 0.5, BUFFERS, rings);
	ws_without_begin(w, WS_WITHOUT_BASE, sampler, NULL, 0, START);
	ws_without_begin(w, 3, sampler, NULL, 0, START);
	for (int i = 0; i < 200000; i++)
	{
		WsAccess	a = {.page = random_below(&seed, PAGES)};

		ws_without_access(w, &a, sampler->samples[a.page].hash, a.page % 2 ? 8 : 0, true, false, START);
		fine &= w->used <= WS_WITHOUT_PAGES;
	}
	ok(fine && check(w, PAGES) == NULL, "no more pages than there are places for");
	/* 6000 buffers, and as many that only one of the two holds */
	is_int(w->shift, 3, "so fewer strata are simulated");
	is_within(w->sweep->caches[WS_WITHOUT_BASE].buffers, BUFFERS / 8.0, 1, "with caches of so many buffers");
	ok(!ws_without_adapt(w, 1) && w->shift == 3 && w->running != 0, "nothing to adapt while there are many");
	ok(!ws_without_adapt(w, 4) && w->shift == 4 && w->running != 0, "fewer if fewer are sampled");
	ws_without_resize(w, 1 / 16.0, BUFFERS / 4, rings);
	while (ws_without_adapt(w, 1))
	{
		lower++;
		held &= w->running == 0;
	}
	ok(lower == 3 && w->shift == 1 && held, "when few are left, more strata, and all begin again");
	free(w);
	free(sampler);
}

/* What a cache holds at the beginning: the first that fit, if they are simulated. */
static void
test_seeds(void)
{
	WsWithout  *w = new_without(4000, 1);
	WsSampler  *sampler = new_sampler(4000, 4);
	double		rings[WS_NRINGS] = {1, 1, 1};
	uint32_t	entries[4000];
	uint32_t	in_it = 0;
	bool		fine = true;

	for (uint32_t i = 0; i < 4000; i++)
		entries[i] = 3999 - i;
	ws_without_resize(w, 0.5, 1000, rings);
	ws_without_begin(w, 2, sampler, entries, 4000, START);
	for (uint32_t i = 4000; i-- > 0;)
	{
		bool		simulated = ws_hash_stratum(sampler->samples[i].hash, LOG2M) >= 1;
		bool		holds = w->page[i] != UINT16_MAX && ws_sweep_holds_at(w->sweep, w->page[i], 2);

		fine &= holds == (simulated && in_it < 500);
		in_it += holds;
	}
	ok(fine && in_it == 500 && check(w, 4000) == NULL, "a cache begins with the pages that were used last");
	ws_without_begin(w, 2, sampler, NULL, 0, START);
	ok(sweep_filled(w->sweep, 2) == 0 && check(w, 4000) == NULL, "or with none, when it begins again");
	free(w);
	free(sampler);
}

/* One that uses nothing any more costs nothing, from the start. */
static void
test_idle(void)
{
	WsWithout  *w = new_without(1500, 0);
	WsSampler  *sampler = new_sampler(1500, 6);
	Zipf	   *zipf = zipf_new(1500, 0.8);
	double		rings[WS_NRINGS] = {1, 1, 1};
	uint32_t	entries[1500];
	uint64_t	seed = seeded(6);
	uint32_t	tick = START;
	double		error = 0;
	double		saved = 0;

	for (uint32_t i = 0; i < 1500; i++)
		entries[i] = i;
	ws_without_resize(w, 1, 400, rings);
	ws_without_begin(w, WS_WITHOUT_BASE, sampler, NULL, 0, tick);
	for (; tick < START + 300 * WS_TICKS_PER_SECOND; tick++)
	{
		ws_without_follow(w, tick);
		if (tick == START + 200 * WS_TICKS_PER_SECOND)
		{
			ws_without_begin(w, 0, sampler, entries, 1500, tick);
			/* as if it had the odd ones alone; too few for the cache */
			for (uint32_t i = 0; i < 750; i++)
				entries[i] = 2 * i;
			ws_without_begin(w, 1, sampler, entries, 750, tick);
		}
		for (int k = 0; k < 5; k++)
		{
			WsAccess	a = {.page = zipf_draw(zipf, &seed)};

			ws_without_access(w, &a, sampler->samples[a.page].hash, a.page % 2 ? 2 : 0, true, base_misses(w, a.page), tick);
		}
	}
	saved = ws_without_saved(w, 0, tick - 1, &error);
	ok(saved == 0 && error == 0, "one that uses nothing any more costs the others nothing");
	ok(ws_without_saved(w, 1, tick - 1, &error) > 4 * error && check(w, 1500) == NULL, "but one that uses half of the pages does");
	free(w);
	free(sampler);
	zipf_free(zipf);
}

/*
 * Whatever the counts are, nobody saves more than all others read, also where
 * the base misses far more than they do.
 */
static void
test_most(void)
{
	WsWithout  *w = new_without(100, 0);
	WsSampler  *sampler = new_sampler(100, 7);
	double		rings[WS_NRINGS] = {1, 1, 1};
	uint64_t	seed = seeded(8);
	uint32_t	tick = START + WARM + MINUTE;
	int			above = 0;
	int			capped = 0;

	ws_without_resize(w, 1, 50, rings);
	ws_without_begin(w, 0, sampler, NULL, 0, START);
	ws_without_begin(w, WS_WITHOUT_BASE, sampler, NULL, 0, START);
	ws_without_follow(w, tick);
	for (int trial = 0; trial < trials(100000); trial++)
	{
		double		read = 0;
		double		seconds = 60;
		double		share = 2 * random_unit(&seed) - 1;
		double		error;
		double		saved;

		for (int g = 0; g < WS_ERROR_GROUPS; g++)
		{
			WsWithoutCounts *c = &w->counts[w->minute % WS_WITHOUT_MINUTES][0][g];

			c->read = (float) random_below(&seed, random_below(&seed, 3) ? 10 : 1000);
			c->missed = (float) random_below(&seed, random_below(&seed, 3) ? 10 : 1000);
			c->saved = c->missed * (float) share;
			read += c->read;
		}
		saved = ws_without_saved(w, 0, tick, &error);
		above += saved > read / seconds * (1 + 1e-6);
		capped += fabs(saved - read / seconds) <= 1e-6 * saved;
	}
	ok(above == 0 && capped > 0, "nobody saves more than all others read; %d would", capped);
	free(w);
	free(sampler);
}

int
main(void)
{
	plan(40);
	test_model();
	test_sampled();
	test_known();
	test_adapt();
	test_seeds();
	test_idle();
	test_most();
	return done();
}
