/*
 * life_t.c
 *		Tests of the life table: groups, classes, what is counted and for how
 *		long it is remembered, and marks.
 *
 * A second implementation goes by the definition: it keeps the whole past of
 * each item and of the steps, and computes everything again at each step.
 * Both see random items, which often are idle for a limit, to the tick.
 */
#include "tap.h"
#include "life.h"
#include "traces.h"

/* a beginning, in ticks */
#define T 1000000

static WsLife *
new_life(uint32_t nitems, int break_even, int hold)
{
	WsLife	   *life = aligned_memory(ws_life_size(nitems));

	ws_life_init(life, nitems, break_even, hold);
	return life;
}

static bool
near(double got, double want)
{
	return fabs(got - want) <= 1e-9 * fmax(fabs(want), 1e-9);
}

/*
 * Idle time by its definition: 90 bins of a step each, and of what is beyond 15
 * minutes, the share (c/30)^4 before class c, divided among its three bins.
 */
static uint32_t
short_part(uint32_t be)
{
	return be < 9000 ? be : 9000;
}

static double
bin_begin(uint32_t be, uint32_t bin)
{
	double		before = pow(bin / 3 / 30., 4);
	double		wider = pow((bin / 3 + 1) / 30., 4) - before;

	return bin * (double) short_part(be) / 90 + (be - short_part(be)) * (before + bin % 3 / 3. * wider);
}

/* the first tick of each bin */
static const uint32_t *
bins_of(uint32_t be)
{
	static uint32_t bins[90];
	static uint32_t of;

	for (uint32_t bin = 0; bin < 90 && of != be; bin++)
		bins[bin] = (uint32_t) ceil(bin_begin(be, bin) - 1e-6);
	of = be;
	return bins;
}

static uint32_t
bin_at(uint32_t be, uint32_t idle)
{
	const uint32_t *bins = bins_of(be);
	uint32_t	bin = 0;

	while (bin < 89 && bins[bin + 1] <= idle)
		bin++;
	return bin;
}

/* the part of a bin of a class that a step of so many ticks takes */
static double
part_of_bin(uint32_t be, uint32_t class, uint32_t ticks)
{
	return 3 * ticks / (bin_begin(be, 3 * class + 3) - bin_begin(be, 3 * class));
}

static void
test_new(void)
{
	WsLife	   *life = new_life(7, 3600, 300);
	static WsLifeTable empty;
	static const WsLifeItem none;
	long		wrong = 0;

	memcpy(empty.bin_steps, life->table.bin_steps, sizeof(empty.bin_steps));
	for (uint32_t k = 0; k < 7; k++)
		wrong += memcmp(&life->items[k], &none, sizeof(none)) != 0;
	ok(wrong == 0 && memcmp(&life->table, &empty, sizeof(empty)) == 0 && life->nitems == 7 &&
	   !life->mark && life->stepped == 0 && life->break_even == 36000 && life->hold == 3000,
	   "a new table is empty, and knows its times in ticks");
	is_int(ws_life_size(100) - ws_life_size(0), 100 * sizeof(WsLifeItem), "its size goes with its items");
	ws_life_begin_step(life);
	ws_life_item(life, 0, 500, 0, false, 500);
	ws_life_end_step(life, 500, true);
	ok(life->items[0].group == WS_LIFE_ONCE && life->items[0].born == 500, "a first use in the beginning of time is a first use");
	free(life);
}

/* On both sides of where each bin begins, one of two items was used before. */
static void
test_bins(int break_even)
{
	WsLife	   *life = new_life(2, break_even, 0);
	const WsLifeTable *t = &life->table;
	uint32_t	be = life->break_even;
	long		wrong = life->bin[WS_LIFE_BINS] != be;

	for (uint32_t i = 0; i < 2 * WS_LIFE_BINS + 1; i++)
	{
		uint32_t	edge = i < WS_LIFE_BINS * 2 - 1 ? bins_of(be)[(i + 1) / 2] : be;
		uint32_t	idle = edge - i % 2;
		uint32_t	class = bin_at(be, idle) / 3;

		wrong += !near(part_of_bin(be, class, 1) * t->bin_steps[class], 90. / short_part(be));
		ws_life_begin_step(life);
		ws_life_item(life, 0, T - idle, 0, false, T);
		ws_life_item(life, 1, T - idle, T - idle - 50, false, T);
		ws_life_end_step(life, T, true);
		for (uint32_t s = 0; s < WS_LIFE_BINS; s++)
		{
			bool		here = idle < be && s == bin_at(be, idle);

			wrong += t->population[WS_LIFE_ONCE][s] != here || t->population[WS_LIFE_AGAIN][s] != here;
		}
		ws_life_forget(life, 0);
		ws_life_forget(life, 1);
	}
	is_int(wrong, 0, "90 bins of idle time, to the tick");
	free(life);
}

/* a quarter of the items is sampled, then more again */
static void
test_shift(void)
{
	WsLife	   *life = new_life(1, 900, 300);
	WsLifeTable *t = &life->table;
	long		wrong = 0;

	ws_life_set_shift(life, 5);
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
		for (int c = 0; c < WS_LIFE_CLASSES; c++)
		{
			t->at_risk[g][c] = 100 * g + c + 1;
			t->returned[g][c] = 50 * g + c;
		}
	t->marked = 12;
	t->came_back = 6;
	t->population[WS_LIFE_AGAIN][7] = t->in_use = t->idle = 4;
	for (uint32_t shift = 7; shift >= 4; shift -= 3)
	{
		ws_life_set_shift(life, shift);
		for (int g = 0; g < WS_LIFE_GROUPS; g++)
			for (int c = 0; c < WS_LIFE_CLASSES; c++)
				wrong += t->at_risk[g][c] != (100 * g + c + 1) / 4. ||
					t->returned[g][c] != (50 * g + c) / 4.;
		wrong += t->marked != 12 / 4. || t->came_back != 6 / 4. || life->shift != shift;
	}
	is_int(wrong, 0, "counts and marks follow the rate of sampling down, but not up");
	ok(t->population[WS_LIFE_AGAIN][7] == 4 && t->in_use == 4 && t->idle == 4, "what is of this step does not");
	free(life);
}

/*
 * ----------------------------------------------------------------
 * Against the definition, with the whole past of everything
 * ----------------------------------------------------------------
 */
#define ITEMS		24
#define STEPS		150
#define PASTS		60			/* items, and those that are no more */

typedef struct Past
{
	int			n;
	uint32_t	use[STEPS];		/* that were reported, ascending, */
	int			reported[STEPS];	/* in this step, */
	bool		scanned[STEPS]; /* by a scan */
	uint32_t	before;
	int			until;			/* step after which it was no more */
	bool		left_out[STEPS];	/* was not reported in this step */
} Past;

typedef struct Steps
{
	uint32_t	be;
	uint32_t	hold;
	int			n;
	uint32_t	now[STEPS];
	bool		trusted[STEPS];
	bool		mark[STEPS];
	int			npasts;
	Past		past[PASTS];
} Steps;

/* uses of an item that were reported up to a step */
static int
uses_until(const Past *p, int step)
{
	int			n = 0;

	while (n < p->n && p->reported[n] <= step)
		n++;
	return n;
}

/* of a page that is known for long: by the gap before its last use began */
static int
naive_gap_group(const Steps *s, const Past *p, int first, int n)
{
	uint32_t	start = first == 0 && p->before != 0 && p->use[0] - p->before <= s->be ? p->before : p->use[first];
	int			began = first + 1;

	while (p->use[began] - start < s->be)
		began++;
	for (int i = began + 1; i < n; i++)
		if (p->use[i] - p->use[began] >= 50)
			began = i;
	return WS_LIFE_GROUPS - 1 - (int) ceil((p->use[began] - p->use[began - 1]) * 4. / s->be) + 1;
}

static int
naive_group(const Steps *s, const Past *p, int n)
{
	int			first = n - 1;
	bool		earlier;
	uint32_t	known;
	int			once;

	while (first > 0 && p->use[first] - p->use[first - 1] <= s->be)
		first--;
	earlier = first == 0 && p->before != 0 && p->use[0] - p->before <= s->be;
	once = p->scanned[first] ? WS_LIFE_SCANNED : WS_LIFE_ONCE;
	if (first == n - 1)
		return earlier ? WS_LIFE_AGAIN : once;
	known = p->use[n - 1] - (earlier ? p->before : p->use[first]);
	if (known >= s->be)
		return naive_gap_group(s, p, first, n);
	return known >= 50 || earlier ? WS_LIFE_AGAIN : once;
}

static uint32_t
idle_for(uint32_t last, uint32_t now)
{
	return now > last ? now - last : 0;
}

static uint32_t
step_took(const Steps *s, int step)
{
	return step > 0 ? s->now[step] - s->now[step - 1] : 0;
}

static bool
is_trusted(const Steps *s, int step)
{
	return s->trusted[step] && step_took(s, step) * 90 <= 3 * short_part(s->be) + 900;
}

/* what is left of an end counted in this step, after the last */
static double
end_left(const Steps *s, int step)
{
	double		ticks = s->now[s->n - 1] - s->now[step > 0 ? step - 1 : 0];

	return exp(-ticks / (4.0 * short_part(s->be)));
}

/* ends of one item's marks: all, and those that came back */
static void
naive_ends(const Steps *s, const Past *p, double *ends)
{
	bool		marked = false;
	bool		given_up = false;

	ends[0] = ends[1] = 0;
	for (int step = 0; step < s->n && step <= p->until; step++)
	{
		int			then = uses_until(p, step - 1);
		int			n = uses_until(p, step);
		uint32_t	idle;

		if (n == 0 || p->left_out[step])
			continue;
		if (n > then && marked)
		{
			if (!given_up)
				ends[0] += end_left(s, step);
			if (p->use[n - 1] - p->use[n - 2] <= s->be)
				ends[1] += end_left(s, step);
			marked = given_up = false;
		}
		idle = idle_for(p->use[n - 1], s->now[step]);
		if (marked && !given_up && idle >= s->hold)
		{
			given_up = true;
			ends[0] += end_left(s, step);
		}
		if (s->mark[step] && naive_group(s, p, n) > WS_LIFE_ONCE && idle * 15 >= short_part(s->be) && idle < s->hold &&
			idle < s->be)
			marked = true;
	}
}

/* the table by its definition, all of it */
static void
naive_table(const Steps *s, WsLifeTable *t)
{
	int			end = s->n - 1;

	memset(t, 0, sizeof(*t));
	for (int i = 0; i < s->npasts; i++)
	{
		const Past *p = &s->past[i];
		double		ends[2];
		int			n = uses_until(p, end);

		naive_ends(s, p, ends);
		t->marked += ends[0];
		t->came_back += ends[1];
		if (n > 0 && p->until >= end && !p->left_out[end])
		{
			uint32_t	idle = idle_for(p->use[n - 1], s->now[end]);
			int			group = naive_group(s, p, n);

			if (idle < s->be)
				t->population[group][bin_at(s->be, idle)]++;
			if (group > WS_LIFE_ONCE && idle < s->hold && idle < s->be)
			{
				if (idle * 15 < short_part(s->be))
					t->in_use++;
				else
					t->idle++;
			}
		}
		for (int step = 1; step <= end && step <= p->until; step++)
		{
			uint32_t	idle;
			uint32_t	class;
			double		since = 0;
			double		memory;
			double		share;
			int			gap;		/* quarters */

			n = uses_until(p, step - 1);
			if (n == 0 || !is_trusted(s, step) || p->use[n - 1] > s->now[step - 1] ||
				p->left_out[step] || p->left_out[step - 1])
				continue;
			idle = idle_for(p->use[n - 1], s->now[step - 1]);
			if (idle >= s->be)
				continue;
			class = bin_at(s->be, idle) / 3;
			for (int later = step + 1; later <= end; later++)
				if (is_trusted(s, later))
					since += step_took(s, later);
			memory = fmin(s->be, short_part(s->be) + 4. * bins_of(s->be)[3 * class]);
			gap = naive_group(s, p, n) < WS_LIFE_LONG ? 0 : 3 - (naive_group(s, p, n) - WS_LIFE_LONG);
			share = exp(-since / (memory * (10 + 3 * (class + 0.5) / 30 + 7.5 * gap) / 30));
			t->at_risk[naive_group(s, p, n)][class] += share * part_of_bin(s->be, class, step_took(s, step));
			if (uses_until(p, step) > n)
				t->returned[naive_group(s, p, n)][class] += share;
		}
	}
}

/* ticks at which something changes, or one more or less */
static uint32_t
limit_of(const Steps *s, uint64_t *seed)
{
	const uint32_t limits[] = {
		50, s->be / 4, s->be / 2, s->be / 4 * 3, s->be, s->hold, (short_part(s->be) + 14) / 15,
		bins_of(s->be)[random_below(seed, 90)]
	};

	return limits[random_below(seed, 8)] + 1 - random_below(seed, 3);
}

static void
test_definition(int break_even, int hold, uint64_t seed)
{
	const int	n = trials(6) + 1;
	static Steps s;
	WsLife	   *life = new_life(ITEMS, break_even, hold);
	long		wrong_risk = 0;
	long		wrong_population = 0;
	long		wrong_marks = 0;
	long		left_out = 0;
	long		late = 0;
	long		ahead = 0;
	long		untrusted = 0;
	long		overlong = 0;
	double		seen[WS_LIFE_GROUPS] = {0};
	double		back[WS_LIFE_GROUPS] = {0};
	double		least_seen = INFINITY;
	double		least_back = INFINITY;
	double		most_ends = 0;
	double		most_back = 0;

	for (int trial = 0; trial < n; trial++)
	{
		uint32_t	now = T;
		uint32_t	pace[ITEMS];
		int			past_of[ITEMS];

		ws_life_init(life, ITEMS, break_even, hold);
		memset(&s, 0, sizeof(s));
		s.be = life->break_even;
		s.hold = (uint32_t) (hold < break_even / 3 ? hold : break_even / 3) * WS_TICKS_PER_SECOND;
		for (int i = 0; i < PASTS; i++)
			s.past[i].until = STEPS;
		s.npasts = ITEMS;
		for (int i = 0; i < ITEMS; i++)
		{
			past_of[i] = i;
			pace[i] = (uint32_t) exp(log(s.be / 100.0) + random_unit(&seed) * log(250)) + 1;
		}

		for (int step = 0; step < STEPS; step++)
		{
			uint32_t	took = short_part(s.be) / 90 + random_below(&seed, 2);
			uint32_t	dice = random_below(&seed, 30);
			WsLifeTable want;

			if (dice == 0)
				took = 3 * short_part(s.be) / 90 + 8 + random_below(&seed, 6);
			else if (dice == 1 || dice == 3)
				took = s.be / 4;
			else if (dice == 2)
				took = 1 + random_below(&seed, short_part(s.be) / 90);
			else if (dice < 20 && step > 0)
			{
				/* one item is idle for a limit when the step ends */
				const Past *p = &s.past[past_of[random_below(&seed, ITEMS)]];
				uint32_t	end = p->n > 0 ? p->use[p->n - 1] + limit_of(&s, &seed) : 0;

				took = end > now + took / 2 && end < now + 3 * took ? end - now : took;
			}
			now += took;
			s.now[step] = now;
			s.n = step + 1;
			s.trusted[step] = random_below(&seed, 20) > 0;
			s.mark[step] = random_below(&seed, 3) > 0;
			untrusted += !s.trusted[step];
			overlong += s.trusted[step] && !is_trusted(&s, step);

			life->mark = s.mark[step];
			ws_life_begin_step(life);
			for (int i = 0; i < ITEMS; i++)
			{
				Past	   *p = &s.past[past_of[i]];
				uint32_t	last = p->n > 0 ? p->use[p->n - 1] : 0;
				uint32_t	before = 0;
				bool		scanned = random_below(&seed, 2) == 0;

				p->left_out[step] = p->n > 0 && random_below(&seed, 30) == 0;
				left_out += p->left_out[step];
				if (p->left_out[step])
					continue;
				if (random_unit(&seed) > exp(-(double) took / pace[i]))
				{
					uint32_t	use = now - random_below(&seed, took);

					if (random_below(&seed, 10) == 0)
						use = now - random_below(&seed, 3 * took);
					else if (random_below(&seed, 10) == 0)
						use = now + random_below(&seed, 3);
					else if (p->n > 0 && random_below(&seed, 3) == 0)
					{
						/* as long after the last use as a limit is */
						uint32_t	at = last + limit_of(&s, &seed);

						use = at + 3 * took > now && at <= now ? at : use;
					}
					if (p->n == 0 && random_below(&seed, 2) == 0)
						before = use - random_below(&seed, s.be + s.be / 4);
					if (use > last)
					{
						late += step > 0 && p->n > 0 && use <= s.now[step - 1];
						ahead += use > now;
						if (p->n == 0)
							p->before = before;
						p->reported[p->n] = step;
						p->scanned[p->n] = scanned;
						p->use[p->n++] = use;
						last = use;
					}
				}
				if (last != 0)
					ws_life_item(life, (uint32_t) i, last, before, scanned, now);
			}
			ws_life_end_step(life, now, s.trusted[step]);

			naive_table(&s, &want);
			for (int g = 0; g < WS_LIFE_GROUPS; g++)
			{
				for (int c = 0; c < WS_LIFE_CLASSES; c++)
				{
					wrong_risk += !near(life->table.at_risk[g][c], want.at_risk[g][c]);
					wrong_risk += !near(life->table.returned[g][c], want.returned[g][c]);
					seen[g] += want.at_risk[g][c];
					back[g] += want.returned[g][c];
				}
			}
			wrong_population += memcmp(life->table.population, want.population,
									   sizeof(want.population)) != 0;
			wrong_population += life->table.in_use != want.in_use || life->table.idle != want.idle;
			wrong_marks += !near(life->table.marked, want.marked) ||
				!near(life->table.came_back, want.came_back);
			most_ends = fmax(most_ends, want.marked);
			most_back = fmax(most_back, want.came_back);

			/* now and then an item becomes another */
			if (s.npasts < PASTS && random_below(&seed, 4) == 0)
			{
				int			i = (int) random_below(&seed, ITEMS);

				s.past[past_of[i]].until = step;
				past_of[i] = s.npasts++;
				ws_life_forget(life, (uint32_t) i);
			}
		}
	}
	for (int g = 0; g < WS_LIFE_GROUPS; g++)
	{
		least_seen = fmin(least_seen, seen[g]);
		if (g > WS_LIFE_LONG)
			back[WS_LIFE_LONG] += back[g];
	}
	for (int g = 0; g <= WS_LIFE_LONG; g++)
		least_back = fmin(least_back, back[g]);
	is_int(wrong_risk, 0, "at random: who was at risk, and who returned");
	is_int(wrong_population, 0, "at random: who is there, in use and idle");
	is_int(wrong_marks, 0, "at random: the ends of marks");
	ok(late > 2 * n && left_out > 20 * n && ahead > 2 * n && untrusted > n / 2 && overlong > n / 2 && least_seen > 30 && least_back > 10 &&
	   (hold == 0) == (most_ends == 0) && (hold == 0 || (most_back > 1 && most_ends > 1)),
	   "%d seconds, hold %d: all of it happened", break_even, hold);
	free(life);
}

static void
test_due(void)
{
	static const struct
	{
		int			break_even;
		uint32_t	stepped;
		uint32_t	now;
		bool		want;
		const char *name;
	}			table[] = {
		{900, 0, 0, true, "the first, at once"},
		{900, T, T + 99, false, "not before ten seconds"},
		{900, T, T + 100, true, "after ten seconds"},
		{86400, T, T + 99, false, "a day: not before ten seconds"},
		{86400, T, T + 100, true, "a day: after ten seconds, too"},
		{900, T, T - 1, false, "not if the clock goes back"},
		{30, T, T + 3, false, "not before a third of a second"},
		{30, T, T + 4, true, "after that, to the tick"},
		{900, UINT32_MAX - 50, UINT32_MAX, false, "not at the end of time"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsLife	   *life = new_life(0, table[i].break_even, 0);

		life->stepped = table[i].stepped;
		ok(ws_life_due(life, table[i].now) == table[i].want, "due: %s", table[i].name);
		free(life);
	}
}

int
main(void)
{
	plan(3 + 3 + 2 + 5 * 4 + 9);
	test_new();
	test_bins(30);
	test_bins(900);
	test_bins(86400);
	test_shift();
	test_definition(30, 20, seeded(93));
	test_definition(30, 0, seeded(94));
	test_definition(900, 300, seeded(95));
	test_definition(900, 900, seeded(96));
	test_definition(3600, 300, seeded(99));
	test_due();
	return done();
}
