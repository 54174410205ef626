/*
 * sampler_t.c
 *		Tests of the sample table: strata, the table itself, uses, the shift, what
 *		a sample says about the whole, and for how long pages are kept.
 *
 * Where an assertion is about random numbers its bound is K_SIGMA standard
 * errors, by the formula beside it: a correct table and a fresh seed would
 * fail such an assertion once in 1.7 million times.
 */
#include "tap.h"
#include "sampler_check.h"
#include "traces.h"

#define K_SIGMA 5

static WsSampler *
new_sampler(uint32_t capacity, uint32_t log2m, uint32_t shift, uint32_t tick)
{
	WsSampler  *s = aligned_memory(ws_sampler_size(capacity));

	ws_sampler_init(s, capacity, log2m, shift, tick);
	return s;
}

static WsPageId
make_page(uint32_t relation, uint32_t block)
{
	return (WsPageId) {1663, 5, relation, 0, block};
}

/* a hash of this stratum or a higher one, for few enough registers */
static uint32_t
hash_from(uint32_t stratum, uint64_t *seed)
{
	return random32(seed) >> stratum;
}

/* How often each entry was evicted, by what the table reports. */
typedef struct Evictions
{
	int			times[2048];
	int			total;
} Evictions;

static Evictions evictions;

static void
evicted(uint32_t entry)
{
	evictions.times[entry]++;
	evictions.total++;
}

static void
count_evictions(void)
{
	memset(&evictions, 0, sizeof(evictions));
}

/*
 * Break each invariant once, and see it reported.
 */
static void
test_check(void)
{
	WsSampler  *s = new_sampler(100, 10, 2, 1000);
	WsPageId	page = make_page(1, 1);
	uint32_t	entry;
	uint32_t	other;

	for (uint32_t capacity = 1; capacity < 1100; capacity++)
	{
		WsSampler  *new = new_sampler(capacity, 10, 2, 1000);

		if (sampler_check(new) != NULL || new->count != 0 || new->shift != 2 || new->capacity != capacity)
			abort();
		free(new);
	}
	entry = ws_sampler_enter(s, &page, UINT32_C(1) << 20, 1000);
	page.block = 2;
	other = ws_sampler_enter(s, &page, UINT32_C(1) << 20, 1000);
	ws_sampler_touch(s, entry, 1000, true);
	ws_sampler_touch(s, entry, 1100, true);
	ok(sampler_check(s) == NULL, "new tables of any size are sound, and one with two pages of one hash");
	{
		WsSample   *sample = &s->samples[entry];
		const struct
		{
			uint32_t   *field;
			uint32_t	broken;
			const char *name;
		}			table[] = {
			{&s->buckets, s->buckets * 2, "a wrong number of buckets"},
			{&s->shift, WS_STRATA, "a shift out of range"},
			{&s->shift, 12, "a page that is not sampled"},
			{&sample->hash, sample->hash + 1, "one whose hash has changed"},
			{&sample->page.block, s->samples[other].page.block, "one that is there twice"},
			{&sample->before, sample->use + 1, "an earlier use that is later"},
			{&sample->use, sample->last + 1, "a use after the last touch"},
			{&sample->last, sample->touched + 1, "a client's touch after the last of all"},
			{&s->count, s->count + 1, "a wrong count"},
			{&s->free, s->samples[s->free].next, "a lost entry"},
			{&s->admitted[5], 1001, "a stratum that was admitted after a lower one"},
			{&s->lasting, 1, "strata that last and are not sampled"},
			{&s->lasting, WS_STRATA, "that none lasts"},
			{&s->kept[5], 1001, "a stratum that has lasted for less than a lower one"},
			{&s->kept[31], 1001, "the last of all that has"},
		};

		for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		{
			uint32_t	saved = *table[i].field;

			*table[i].field = table[i].broken;
			ok(sampler_check(s) != NULL, "check: %s is reported", table[i].name);
			*table[i].field = saved;
		}
	}
	s->lasting = 4;
	s->kept[3] = 7;
	ok(sampler_check(s) == NULL, "check: strata that do not last do not matter");
	free(s);
}

/*
 * ----------------------------------------------------------------
 * Uses
 * ----------------------------------------------------------------
 */

/* Touches of a page that entered at 1000, and what is known of it after each. */
static void
test_touch(void)
{
	static const struct
	{
		uint32_t	tick;
		bool		client;
		uint32_t	touched;
		uint32_t	last;
		uint32_t	use;
		uint32_t	before;
		const char *name;
	}			table[] = {
		{1010, false, 1010, 0, 0, 0, "by maintenance it is no use"},
		{1005, true, 1010, 1005, 1005, 0, "of a client, though a little late, it is"},
		{1054, true, 1054, 1054, 1005, 0, "soon after, it goes on"},
		{1055, true, 1055, 1055, 1055, 1054, "after five seconds it is another, and the one before has ended"},
		{1050, true, 1055, 1055, 1055, 1054, "one that is late changes nothing"},
		{2000, false, 2000, 1055, 1055, 1054, "nor does maintenance"},
		{1990, true, 2000, 1990, 1990, 1055, "of two uses the later counts"},
	};
	WsSampler  *s = new_sampler(100, 10, 0, 1000);
	WsPageId	page = make_page(1, 1);
	uint32_t	entry = ws_sampler_enter(s, &page, 7, 1000);
	WsSample   *sample = &s->samples[entry];

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		ws_sampler_touch(s, entry, table[t].tick, table[t].client);
		ok(sample->touched == table[t].touched && sample->last == table[t].last && sample->use == table[t].use &&
		   sample->before == table[t].before, "touch: %s", table[t].name);
	}
	ok(ws_sample_reused(sample, 2010, 956, 0) && ws_sample_reused(sample, 2010, 956, 1055) &&
	   ws_sample_reused(sample, 990, 100, 0), "reused: by two uses in the window, and those of the future count");
	ok(!ws_sample_reused(sample, 2010, 955, 0) && !ws_sample_reused(sample, 2010, 956, 1056),
	   "reused: not if the first ended before it, or before the floor");
	sample->resident = true;
	ws_sampler_hold(s, entry, 1990, true);
	ws_sampler_hold(s, entry, 1980, true);
	ok(sample->held == 0 && sample->scanned == 1990, "hold: of scans, the last");
	ws_sampler_hold(s, entry, 1985, false);
	ok(sample->held == 1985 && sample->scanned == 1990, "hold: and apart, of others");

	count_evictions();
	ws_sampler_evict(s, entry, evicted);
	ok(evictions.total == 1 && evictions.times[entry] == 1 && s->count == 0, "evicted: it is reported");
	is_int(ws_sampler_enter(s, &page, 7, 3000), entry, "evicted: and its place is the next to be taken");
	ok(sample->touched == 3000 && sample->last == 0 && sample->use == 0 && sample->before == 0 && !sample->resident &&
	   sample->held == 0 && sample->scanned == 0 && !ws_sample_reused(sample, 3000, 5000, 0),
	   "evicted: nothing is left of the uses before, and it came through a ring");
	free(s);
}

/*
 * ----------------------------------------------------------------
 * The shift
 * ----------------------------------------------------------------
 */

/*
 * A history of shifts.  The mature shift is the smallest all of whose strata, up
 * from it, were sampled by then.
 */
static void
test_mature(void)
{
	static const struct
	{
		uint32_t	shift;
		uint32_t	lasting;
		uint32_t	admitted[8];	/* of strata 0 to 7 */
	}			history[] = {
		{4, 4, {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}},
		{2, 3, {1000, 1000, 1200, 1200, 1000, 1000, 1000, 1000}},
		{6, 6, {1000, 1000, 1200, 1200, 1000, 1000, 1000, 1000}},
		{3, 5, {1000, 1000, 1200, 1600, 1600, 1600, 1000, 1000}},
		{2, 4, {1000, 1000, 1800, 1600, 1600, 1600, 1000, 1000}},
	};
	static const struct
	{
		uint32_t	ticks;
		uint32_t	floor;
		uint32_t	want;
		const char *name;
	}			table[] = {
		{100, 1, 2, "of a stratum since it was admitted, at 1900"},
		{101, 1, 3, "for longer, of one that was admitted before"},
		{300, 1, 3, "at 1600"},
		{301, 1, 6, "then only of those that were never given up"},
		{900, 1, 6, "since the beginning"},
		{901, 1, 2, "before that there is no such shift, and it is the present one"},
		{901, 1000, 6, "but with a floor it goes back to that"},
		{301, 1600, 3, "before which nothing counts"},
		{301, 1599, 6, "to the tick"},
		{UINT32_MAX, 1000, 6, "also for more than time itself"},
		{1901, 1000, 6, "or a little more than that"},
		{100, 1905, 2, "also if the floor is ahead of the clock"},
	};
	WsSampler  *s = new_sampler(100, 10, history[0].shift, 1000);

	for (uint32_t h = 0; h < sizeof(history) / sizeof(history[0]); h++)
	{
		if (h > 0)
			ws_sampler_set_shift(s, history[h].shift, 1000 + h * 200, NULL);
		ok(s->lasting == history[h].lasting && memcmp(s->admitted, history[h].admitted, sizeof(history[h].admitted)) == 0 &&
		   sampler_check(s) == NULL, "shift: to %u", history[h].shift);
	}
	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
		is_int(ws_sampler_mature_shift(s, 1900, table[t].ticks, table[t].floor), table[t].want, table[t].name);
	free(s);
}

/* in seconds */
#define LONG_AGO	1000.0
#define BUSY_ENOUGH	0.031		/* of a processor: more than may be owed */

static void
test_next_shift(void)
{
	static const struct
	{
		uint32_t	shift;
		uint32_t	count;			/* of 1000 */
		WsSampleLoad load;		/* lookups, busy, events, settled, debt, recent, guessed */
		uint32_t	want;
		const char *name;
	}			table[] = {
		/* up */
		{5, 1000, {0, 0, 0, 1, 0, 0, false}, 6, "a full table"},
		{5, 999, {0, 0, 0, 1, 0, 0, false}, 5, "one that is not quite full"},
		{5, 1000, {0, 0, 0, 0.99, 0, 0, false}, 5, "not within a second of the last change"},
		{5, 500, {0, 0.006, 1e5, 10, BUSY_ENOUGH, 0, false}, 6, "when it owes more than 0.03 s"},
		{5, 500, {0, 0.006, 1e5, 10, 0.029, 0, false}, 5, "not when it owes less"},
		{5, 500, {0, 0.006, 1e5, 0.9, BUSY_ENOUGH, 0, false}, 5, "nor within a second"},
		{0, 500, {21000, 0, 0, 1, 0, 0, false}, 1, "sampled pages looked up more than 20,000 times a second"},
		{0, 500, {19000, 0, 0, 1, 0, 0, false}, 0, "less often"},
		{3, 500, {161000, 0, 0, 1, 0, 0, false}, 4, "sampled by one in eight, more than 160,000 lookups"},
		{3, 500, {159000, 0, 0, 1, 0, 0, false}, 3, "less"},
		{4, 500, {1e9, 0, 0, 1, 0, 0, false}, 4, "one page in 16 may always be sampled"},
		{5, 500, {0, 1, 3900, 1, 10, 0, false}, 5, "never for fewer than 4,000 events a second"},
		{5, 500, {0, 0.009, 4100, 1, BUSY_ENOUGH, 0, false}, 6, "for more than that, if it owes too much"},
		{5, 500, {0, 0.004, 1e7, 1, 0, 0, false}, 5, "not if it does not"},
		{5, 1000, {1e9, 1, 1e5, LONG_AGO, 1, 0, false}, 6, "up by one step, however much it is"},
		{5, 500, {0, 0, 4100, 1, 0, 4096, false}, 6, "for 4,000 events a second, if half of the pages is enough"},
		{5, 500, {0, 0, 3900, 1, 0, 1e6, false}, 5, "not for fewer"},
		{5, 500, {0, 0, 1e5, 1, 0, 4095, false}, 5, "not if 2,048 pages would not remain"},
		{5, 500, {641000, 0, 0, 1, 0, 4096, false}, 6, "for 20,000 hits a second of sampled pages, if it is enough"},
		{5, 500, {639000, 0, 0, 1, 0, 1e6, false}, 5, "not for fewer hits"},
		{5, 500, {1e9, 0, 0, 1, 0, 4095, false}, 5, "not if it is not enough"},
		{31, 1000, {0, 1, 1e5, 1, 1, 0, false}, 31, "not beyond the last"},
		{30, 1000, {0, 1, 1e5, 1, 1, 0, false}, 31, "but up to it"},
		/* down */
		{5, 210, {0, 0, 0, 61, 0, 0, false}, 4, "a table that is not used much falls"},
		{5, 210, {0, 0, 0, 59, 0, 0, false}, 5, "after a minute"},
		{5, 390, {0, 0, 0, LONG_AGO, 0, 0, false}, 4, "below 40 % of the room"},
		{5, 410, {0, 0, 0, LONG_AGO, 0, 0, false}, 5, "not above"},
		{5, 190, {0, 0, 0, 100, 0, 0, false}, 3, "by two steps when it stays below after the first"},
		{9, 20, {0, 0, 0, 61, 0, 0, false}, 4, "by five when it stays below for so long"},
		{5, 0, {0, 0, 0, 100000, 0, 0, false}, 0, "an empty one, to 0"},
		{0, 0, {0, 0, 0, LONG_AGO, 0, 0, false}, 0, "not below 0"},
		{5, 210, {0, 0.001, 1e5, LONG_AGO, 0, 0, false}, 4, "with little to do"},
		{5, 210, {0, 0.002, 1e5, LONG_AGO, 0, 0, false}, 5, "not with so much that there is no margin"},
		{5, 210, {0, 0.5, 900, LONG_AGO, 10, 0, false}, 4, "with few events, whatever keeps it busy"},
		{5, 210, {0, 0.5, 1100, LONG_AGO, 0, 0, false}, 5, "as long as they will be few"},
		{8, 1, {0, 0.5, 100, LONG_AGO, 0, 0, false}, 4, "by as many steps as they stay few"},
		{8, 1, {0, 0.0002, 1e5, LONG_AGO, 0, 0, false}, 5, "or the reader idle"},
		{5, 210, {1e9, 0, 0, LONG_AGO, 0, 0, false}, 4, "to one in 16 with any number of lookups"},
		{7, 1, {1e9, 0, 0, LONG_AGO, 0, 0, false}, 4, "by three steps"},
		{4, 210, {81000, 0, 0, LONG_AGO, 0, 0, false}, 4, "a margin of two"},
		{4, 210, {79000, 0, 0, LONG_AGO, 0, 0, false}, 3, "and no larger one"},
		{4, 90, {39000, 0, 0, LONG_AGO, 0, 0, false}, 2, "by two steps, with the same margin"},
		{4, 90, {41000, 0, 0, LONG_AGO, 0, 0, false}, 3, "or by one"},
		{1, 100, {2000, 0, 0, LONG_AGO, 0, 0, false}, 0, "to 0"},
		{5, 210, {0, 0, 1100, LONG_AGO, 0, 2048, false}, 5, "not if the events of 4,096 pages had no margin"},
		{5, 210, {0, 0, 900, LONG_AGO, 0, 2048, false}, 4, "but if they have one"},
		{5, 210, {0, 0, 1100, LONG_AGO, 0, 2047, false}, 4, "or if the pages are fewer"},
		{5, 210, {161000, 0, 0, LONG_AGO, 0, 2048, false}, 5, "nor if their hits had no margin"},
		{5, 210, {159000, 0, 0, LONG_AGO, 0, 2048, false}, 4, "but if they have one"},
		{31, 210, {0, 0, 0, LONG_AGO, 0, 0, false}, 30, "from the last"},
		{5, 210, {0, 0, 0, 11, 0, 0, true}, 4, "after ten seconds if the writers raised it"},
		{5, 210, {0, 0, 0, 9, 0, 0, true}, 5, "not before"},
		{9, 20, {0, 0, 0, 11, 0, 0, true}, 4, "by several steps"},
		{5, 210, {0, 0.002, 1e5, 11, 0, 0, true}, 5, "with the same margin"},
		{5, 999, {0, 0, 0, 1, 0, 0, true}, 5, "and it rises"},
		{5, 1000, {0, 0, 0, 1, 0, 0, true}, 6, "as it does otherwise"},
	};
	WsSampler  *s = new_sampler(1000, 10, 0, 100);
	uint64_t	seed = seeded(68);
	long		swings = 0;
	long		falls = 0;
	long		rises = 0;
	long		jumps = 0;
	const int	n = trials(300000);

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		s->shift = table[t].shift;
		s->count = table[t].count;
		ok(ws_sampler_next_shift(s, &table[t].load) == table[t].want, "next shift: %s", table[t].name);
	}

	/* what falling doubles must not make it rise again, however long it is so */
	for (int i = 0; i < n; i++)
	{
		WsSampleLoad load = {
			exp(random_unit(&seed) * 16), exp(-3 - random_unit(&seed) * 7),
			exp(random_unit(&seed) * 14), LONG_AGO, random_unit(&seed) * 0.06,
			random_below(&seed, 3) * 3000.0, false
		};
		uint32_t	next;

		s->shift = random_below(&seed, WS_STRATA);
		s->count = random_below(&seed, 1001);
		next = ws_sampler_next_shift(s, &load);
		jumps += next > s->shift + 1;
		rises += next > s->shift;
		if (next < s->shift)
		{
			double		factor = ldexp(1, (int) (s->shift - next));
			WsSampleLoad after = {0};

			falls++;
			s->shift = next;
			s->count *= factor;
			for (int second = 0; second < 30; second++)
			{
				ws_sample_load_follow(&after, 1, load.busy * factor, load.events * factor, load.lookups,
									  (uint32_t) (load.recent * factor));
				swings += ws_sampler_next_shift(s, &after) > next;
			}
		}
	}
	ok(jumps == 0 && swings == 0 && falls > n / 30 && rises > n / 30,
	   "next shift: whatever the load, it does not swing");
	free(s);
}

/*
 * A load of so much for so many seconds, told in so many parts of a second.
 */
static void
add_load(WsSampleLoad *load, double seconds, int parts, double busy, double events, double lookups)
{
	int			n = (int) rint(seconds * parts);

	for (int i = 0; i < n; i++)
		ws_sample_load_follow(load, 1.0 / parts, busy / parts, events / parts, lookups / parts, 0);
}

/* seconds until the shift rises for a load of so much; 1000: it does not */
static int
patience(double busy)
{
	WsSampler  *s = new_sampler(1000, 10, 5, 100);
	WsSampleLoad load = {0};
	int			seconds = 0;

	do
	{
		ws_sample_load_follow(&load, 1, busy, 50000, 0, 0);
		seconds++;
	} while (seconds < 1000 && ws_sampler_next_shift(s, &load) == 5);
	free(s);
	return seconds;
}

static void
test_load(void)
{
	for (int parts = 1; parts <= 10; parts += 9)
	{
		WsSampleLoad load = {0};

		add_load(&load, 4, parts, 0.004, 9000, 1e6);
		ok(fabs(load.busy - 0.004) < 1e-12 && fabs(load.events - 9000) < 1e-6 &&
		   fabs(load.lookups - 1e6) < 1e-6 && fabs(load.settled - 4) < 1e-9 && load.debt == 0,
		   "load: what is steady is told as it is, in %d parts of a second", parts);
		add_load(&load, 4, parts, 0.014, 3000, 0);
		ok(fabs(load.busy - 0.009) < 1e-12 && fabs(load.events - 6000) < 1e-6 &&
		   fabs(load.lookups - 5e5) < 1e-6, "load: the average since the shift was changed");
		ok(fabs(load.debt - 4 * 0.009) < 1e-12, "load: what is above 0.5 %% is owed");
		add_load(&load, 1, parts, 0.002, 3000, 0);
		ok(fabs(load.debt - 0.033) < 1e-12, "load: what is below is saved");
		add_load(&load, 7, parts, 0, 3000, 0);
		ok(load.debt == 0, "load: nothing is saved beyond that");

		/* each time, a tenth of the difference in a second, or by its parts */
		add_load(&load, 60, parts, 0.02, 100, 50);
		ok(fabs(load.busy - 0.02) < 1e-4 && fabs(load.events - 100) < 20 && fabs(load.lookups - 50) < 1e3,
		   "load: after a minute the time before has faded");
	}
	{
		WsSampleLoad load = {0};

		ws_sample_load_follow(&load, 0.1, 0.005, 1000, 2000, 0);
		ok(fabs(load.busy - 0.05) < 1e-12 && fabs(load.events - 10000) < 1e-6 &&
		   fabs(load.lookups - 20000) < 1e-6 && fabs(load.debt - 0.0045) < 1e-12,
		   "load: a tenth of a second alone");
		ws_sample_load_follow(&load, 50, 0.5, 5000, 0, 0);
		ok(fabs(load.busy - 0.01) < 1e-12 && fabs(load.events - 100) < 1e-9, "load: a time longer than is averaged over");
	}

	/* 0.03 s above 0.5 % of the time */
	ok(patience(0.3) == 1, "load: far too much is thinned after a second");
	ok(patience(0.015) == 4, "load: 1.5 %% of a processor, after 4 s");
	ok(patience(0.0072) == 14, "load: 0.72 %%, after 14 s");
	ok(patience(0.0049) == 1000, "load: less than 0.5 %%, never");
}

static void
test_flood(void)
{
	static const struct
	{
		double		events;
		double		seconds;
		uint32_t	places;
		uint32_t	want;
		const char *name;
	}			table[] = {
		{0, 0, 32768, 0, "nothing"},
		{8192, 0.1, 32768, 0, "a quarter of the stream in a tenth of a second"},
		{8193, 0.1, 32768, 1, "more than that"},
		{8193, 0, 32768, 1, "in no time"},
		{8192, 0.05, 32768, 0, "or less than a tenth of a second, from which nothing is concluded"},
		{8193, 0.11, 32768, 0, "but not in more"},
		{81920, 1, 32768, 0, "ten times a quarter in a second"},
		{81921, 1, 32768, 1, "more"},
		{16384, 0.1, 32768, 1, "twice the quarter"},
		{16385, 0.1, 32768, 2, "more than twice"},
		{32769, 0.1, 32768, 3, "more than four times"},
		{1e12, 0.1, 32768, 3, "by three steps at most"},
		{1e12, 1e9, 32768, 0, "as many in a long time"},
		{257, 0.1, 1024, 1, "a small stream"},
	};

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
		ok(ws_sampler_flood_steps(table[t].events, table[t].seconds, table[t].places) == table[t].want,
		   "flood: %s", table[t].name);
}

/*
 * ----------------------------------------------------------------
 * What the sample says
 * ----------------------------------------------------------------
 */
#define SELECT_PAGES 800

static void
test_select(void)
{
	WsSampler  *s = new_sampler(1000, 10, 0, 1000);
	WsSample   *out = zeroed(1000, sizeof(WsSample));
	uint64_t	seed = seeded(69);
	uint32_t	last[SELECT_PAGES];
	uint32_t	stratum[SELECT_PAGES];
	uint32_t	resident[WS_STRATA] = {0};
	long		wrong = 0;

	for (uint32_t i = 0; i < SELECT_PAGES; i++)
	{
		WsPageId	page = make_page(1, i);
		uint32_t	hash = hash_from(i % 12, &seed);

		stratum[i] = naive_stratum(hash, 10);
		last[i] = i % 7 == 0 ? 0 : 1000 + random_below(&seed, 1000);
		/* the entries of a new table are taken in turn */
		wrong += ws_sampler_enter(s, &page, hash, 1000) != i;
		if (last[i] != 0)
			ws_sampler_touch(s, i, last[i], true);
		ws_sampler_touch(s, i, 1000 + random_below(&seed, 1000), false);
		s->samples[i].resident = i % 3 == 0;
		for (uint32_t k = 0; k <= stratum[i]; k++)
			resident[k] += i % 3 == 0;
	}
	for (int trial = 0; trial < 1000; trial++)
	{
		uint32_t	now = 1500 + random_below(&seed, 600);
		uint32_t	ticks = random_below(&seed, trial % 2 ? 700 : 3000);
		uint32_t	floor = 1 + random_below(&seed, 1800);
		uint32_t	shift = random_below(&seed, 12);
		uint32_t	n = ws_sampler_select(s, now, ticks, floor, shift, out);
		uint32_t	count = 0;

		/*
		 * The last "ticks" ticks, of which the present is one.  Whose clock is
		 * ahead uses a page now.
		 */
		for (uint32_t i = 0; i < SELECT_PAGES; i++)
			if (last[i] != 0 && (int64_t) last[i] > (int64_t) now - ticks && last[i] >= floor && stratum[i] >= shift)
			{
				wrong += count >= n || memcmp(&out[count], &s->samples[i], sizeof(WsSample)) != 0;
				count++;
			}
		wrong += count != n;
	}
	is_int(wrong, 0, "select: by window, floor and stratum, and only what clients touched");
	wrong = 0;
	for (uint32_t k = 0; k < 12; k++)
	{
		double		rate = pow(2, -(double) k);

		wrong += ws_sampler_resident(s, k) != resident[k];
		for (double held = fmax(resident[k], 1) / rate / 2; held <= 4 * resident[k] / rate + 8; held *= 1.1)
		{
			bool		few = resident[k] - held * rate < -3 * sqrt(held * rate * (1 - rate));

			wrong += fabs(ws_sampler_share(s, k, held) / (few ? rate : (resident[k] + 16) / (held + 16 / rate)) - 1) > 1e-12;
		}
	}
	is_int(wrong, 0, "share: of what is held, with 16 pages more; but if by more than 3 standard errors are missing, not");

	/* shares: what there is of all, and 16 pages more as expected */
	wrong = 0;
	for (uint32_t floor = 1; floor < 2000; floor += 400)
	{
		double		rates[WS_STRATA];

		ws_sampler_rates(s, 2000, 900, floor, 700, rates);
		for (uint32_t k = 0; k < WS_STRATA; k++)
			wrong += fabs(rates[k] - (ws_sampler_select(s, 2000, 900, floor, k, NULL) + 16) / (700 + 16 * pow(2, k))) > 1e-12;
	}
	is_int(wrong, 0, "shares: of the pages that clients touched lately, by stratum");

	/* by age: all of these strata that have a time, once, the latest first */
	wrong = 0;
	for (uint32_t shift = 0; shift < 12; shift++)
	{
		uint32_t	entries[SELECT_PAGES];
		uint32_t	when[1000] = {0};
		uint32_t	before = UINT32_MAX;
		uint32_t	count = 0;
		uint32_t	n;

		for (uint32_t i = 0; i < SELECT_PAGES; i++)
		{
			when[i] = i % 5 == 0 ? 0 : s->samples[i].touched;
			count += when[i] != 0 && stratum[i] >= shift;
		}
		n = ws_sampler_by_age(s, shift, when, entries);
		wrong += n != count;
		for (uint32_t i = 0; i < n; i++)
		{
			wrong += stratum[entries[i]] < shift || when[entries[i]] == 0 || when[entries[i]] > before;
			before = when[entries[i]];
			when[entries[i]] = 0;	/* it is listed */
		}
	}
	is_int(wrong, 0, "by age: the latest first, and none that has no time");
	ws_sampler_set_shift(s, 31, 3000, NULL);
	is_int(ws_sampler_by_age(s, 0, (uint32_t[1000]) {[5] = 1}, (uint32_t[1]) {0}), 0, "by age: none, if there are none");
	free(out);
	free(s);
}

/*
 * Many samples of the same pages, chosen by new hashes each time.
 *
 * The root of the mean of N squared errors has a relative standard error of
 * 1/sqrt(2 N).  That a quotient is estimated, and the normal approximation,
 * add a term of the order of one in the number of pages sampled, here 1.5/n.
 */
static void
test_error(void)
{
	const int	ntrials = trials(1500);
	static const struct
	{
		uint32_t	part;
		uint32_t	all;
		double		sd;				/* standard error of the set, in pages */
		uint32_t	shift;
	}			table[] = {
		{5000, 20000, 0, 3},
		{5000, 20000, 600, 3},
		{10000, 20000, 300, 1},
		{1000, 20000, 0, 5},
		{19500, 20000, 400, 4},
		{20000, 20000, 500, 4},
		{3000, 6000, 0, 2},
	};
	uint64_t	seed = seeded(70);

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		double		sum = 0;
		double		bias = 0;
		double		stated = ws_sample_error(table[t].part, table[t].all,
											 table[t].sd * table[t].sd, table[t].shift);
		double		n = ldexp(table[t].all, -(int) table[t].shift);
		double		ratio;

		for (int trial = 0; trial < ntrials; trial++)
		{
			uint32_t	sampled = 0;
			uint32_t	of_part = 0;
			double		set = table[t].all + table[t].sd * random_normal(&seed);
			double		error;

			for (uint32_t i = 0; i < table[t].all; i++)
			{
				bool		in = ws_hash_stratum(random32(&seed), 14) >= table[t].shift;

				sampled += in;
				of_part += in && i < table[t].part;
			}
			error = set * of_part / sampled - table[t].part;
			sum += error * error;
			bias += error;
		}
		ratio = sqrt(sum / ntrials) / stated;
		ok(fabs(ratio - 1) <= K_SIGMA / sqrt(2 * ntrials) + 1.5 / n,
		   "error: %u of %u pages at 1/%u: it is %.3f of what is stated",
		   table[t].part, table[t].all, 1 << table[t].shift, ratio);
		/* sqrt(mean square / N) */
		ok(fabs(bias / ntrials) <= student(K_SIGMA, ntrials) * sqrt(sum / ntrials / ntrials),
		   "error: and there is no bias");
	}
	is_within(ws_sample_error(100, 1000, 400, 0), 2, 1e-12,
			  "error: all sampled, it is that of the set, in proportion");
	is_within(ws_sample_error(0, 0, 0, 4), 0, 0, "error: of nothing it is 0");
	is_within(ws_sample_error(0, 1000, 400, 4), 0, 0, "error: of no part, too");
	is_within(ws_sample_error(1100, 1000, 400, 4), 20, 1e-12,
			  "error: a part is no larger than the whole");
}

/*
 * Parts of a population, whole or partly used, some of them cut off since.
 */
static void
test_divide(void)
{
	enum
	{
		PARTS = 23, TRIALS = 2000
	};

	/*
	 * A table, all of it used; a third of one; one that was cut off since; and
	 * 20 tables of a page, few of them sampled.
	 */
	uint32_t	used[PARTS] = {10000, 10000, 4000};
	double		limit[PARTS] = {10000, 30000, 1000};	/* of the part's file */
	const uint32_t shift = 4;
	const double all = 24020;
	double		sum[PARTS] = {0};
	double		gain = 0;
	double		gains = 0;
	long		beyond = 0;
	uint64_t	seed = seeded(190);

	for (int i = 3; i < PARTS; i++)
		used[i] = limit[i] = 1;
	for (int trial = 0; trial < TRIALS; trial++)
	{
		uint32_t	sampled[PARTS] = {0};
		double		pages[PARTS];
		double		all_sampled = 0;
		double		less;

		for (int i = 0; i < PARTS; i++)
		{
			for (uint32_t page = 0; page < used[i]; page++)
				sampled[i] += random32(&seed) >> (32 - shift) == 0;
			all_sampled += sampled[i];
		}
		ws_sample_divide(sampled, limit, PARTS, all, shift, pages);
		for (int i = 0; i < PARTS; i++)
		{
			beyond += pages[i] > limit[i] || pages[i] < 0;
			sum[i] += pages[i] / TRIALS;
		}
		/* squares of errors of the second part: by its share, and so */
		less = pow(all * sampled[1] / all_sampled - 10000, 2) - pow(pages[1] - 10000, 2);
		gain += less;
		gains += less * less;
	}
	is_int(beyond, 0, "divide: no part has more pages than its file");
	/* it is about 8 of them */
	ok(gain > 3 * sqrt(gains), "divide: others become more exact by what one cannot have, %.1f sigma",
	   gain / sqrt(gains));
	ok(sum[0] > 9800 && sum[2] == 1000, "divide: a part that is used as a whole, and one that was cut off");

	/* what one cannot have goes to the others; and what nothing is to be divided into */
	{
		double		pages[3];

		ws_sample_divide((uint32_t[]) {110, 100, 100}, (double[]) {1600, 1e9, 1e9}, 3, 4960, 4, pages);
		ok(pages[0] == 1600 && pages[1] == 1680 && pages[2] == 1680, "divide: an excess by chance goes to the others");
		ws_sample_divide((uint32_t[]) {110, 100, 100}, (double[]) {200, 1e9, 1e9}, 3, 4960, 4, pages);
		ok(pages[0] == 200 && pages[1] == 1600, "divide: that of a small part does not");
		ws_sample_divide((uint32_t[]) {0, 0}, (double[]) {5, 0}, 2, 100, 4, pages);
		ok(pages[0] == 0 && pages[1] == 0, "divide: without a sample, nothing");
	}
}

/*
 * ----------------------------------------------------------------
 * Recent pages densely, old ones sparsely
 * ----------------------------------------------------------------
 */
#define HOUR_TICKS 36000

/* the n-th hash of just this stratum, for 2^10 registers */
static uint32_t
hash_of(uint32_t stratum, uint32_t n)
{
	if (stratum == WS_STRATA - 1)
		return 0;
	return (UINT32_C(1) << (31 - stratum)) + n;
}

/* enter pages of a stratum, last touched then */
static void
enter_pages(WsSampler *s, uint32_t stratum, int n, uint32_t touched)
{
	static uint32_t block = 0;

	for (int i = 0; i < n; i++)
	{
		WsPageId	page = make_page(7, block++);
		uint32_t	entry = ws_sampler_enter(s, &page, hash_of(stratum, block % 1000), touched);

		ws_sampler_touch(s, entry, touched, true);
	}
}

static void
test_new(void)
{
	WsSampler  *s = new_sampler(100, 10, 0, 1000);

	is_int(s->brief, 12000, "a new table keeps for 20 minutes");
	is_int(s->lasting, 0, "what does not last, but all of it does");
	ok(s->kept[0] == 1000 && s->kept[WS_STRATA - 1] == 1000, "since it was made");
	ws_sampler_set_brief(s, UINT32_MAX, 1000000);
	is_int(s->brief, 921600, "the brief time is 25.6 hours at most");
	free(s);
}

static void
test_forget_before(void)
{
	const uint32_t floor = 1000000;
	const uint32_t now = floor + 600;
	WsSampler  *s = new_sampler(80, 10, 5, 1000);
	WsSampleLoad idle = {0, 0, 0, LONG_AGO, 0, 0, false};

	count_evictions();
	enter_pages(s, 5, 40, floor - 1);
	enter_pages(s, 5, 3, floor);
	enter_pages(s, 5, 4, now);
	is_int(ws_sampler_next_shift(s, &idle), 5, "reset: pages of before keep the shift up");
	is_int(ws_sampler_evict_before(s, floor, now - 1, evicted), 0, "reset: for a minute");
	is_int(ws_sampler_evict_before(s, now + 1, now, evicted), 0, "reset: also at one that comes this moment");
	is_int(ws_sampler_evict_before(s, 100, now, evicted), 0, "reset: pages of after it stay");
	for (uint32_t i = 0; i < 10; i++)
		s->samples[i].resident = s->samples[i].touched != 0;
	is_int(ws_sampler_resident(s, 0), 10, "reset: ten are in shared buffers");
	ok(ws_sampler_evict_before(s, floor, now, evicted) == 30 && evictions.total == 30 &&
	   s->count == 17 && ws_sampler_resident(s, 0) == 10 && sampler_check(s) == NULL,
	   "reset: what was used before and is not in shared buffers goes, and nothing else");
	is_int(ws_sampler_next_shift(s, &idle), 4, "reset: so that the shift falls");

	ws_sampler_init(s, 80, 10, 5, 1000);
	enter_pages(s, 5, 40, floor - 1);
	enter_pages(s, 5, 32, floor);
	is_int(ws_sampler_evict_before(s, floor, now, NULL), 0, "reset: not if it could not fall anyway");
	ws_sampler_init(s, 80, 10, 5, 1000);
	enter_pages(s, 5, 31, floor - 1);
	is_int(ws_sampler_evict_before(s, floor, now, NULL), 0, "reset: nor if it can");
	free(s);
}

static void
test_relax(void)
{
	const uint32_t now = 1000000;
	WsSampler  *s = new_sampler(100, 10, 2, 1000);

	ok(!ws_sampler_widen(s, now) && s->lasting == 2, "relax: not if all that are sampled last");
	s->lasting = 5;
	enter_pages(s, 3, 40, now);
	ok(!ws_sampler_widen(s, now) && s->lasting == 5, "relax: not with 40 %% of the table in use");
	ws_sampler_evict(s, 7, NULL);
	ok(ws_sampler_widen(s, now) && s->lasting == 4, "relax: one stratum more, with less");
	is_int(ws_sampler_mature_shift(s, now, 12000, 1), 2, "relax: all that are sampled tell of 20 minutes");
	is_int(ws_sampler_mature_shift(s, now, 12001, 1), 5, "relax: those that have lasted, of longer");
	is_int(ws_sampler_mature_shift(s, now + 23999, HOUR_TICKS, 1), 5, "relax: the other is not yet among them");
	is_int(ws_sampler_mature_shift(s, now + 24000, HOUR_TICKS, 1), 4, "relax: but in due time");
	is_int(ws_sampler_mature_shift(s, now + 1, HOUR_TICKS, now - 12000), 4,
		   "relax: or if nothing before counts");
	is_int(ws_sampler_mature_shift(s, now + 1, HOUR_TICKS, now - 12001), 5, "relax: to the tick");
	ok(ws_sampler_widen(s, now + 100) && ws_sampler_widen(s, now + 200) &&
	   !ws_sampler_widen(s, now + 300) && s->lasting == 2 && sampler_check(s) == NULL,
	   "relax: down to all that are sampled");

	/* one that has been sampled for less than the brief time */
	ws_sampler_init(s, 100, 10, 2, now - 5000);
	s->lasting = 3;
	ok(ws_sampler_widen(s, now) && ws_sampler_mature_shift(s, now + 7001, HOUR_TICKS, now - 5000) == 2 &&
	   ws_sampler_mature_shift(s, now + 7002, HOUR_TICKS, now - 5001) == 2 &&
	   s->kept[2] == now - 5000, "relax: it has lasted no longer than it was sampled");
	/* before the brief time has passed at all */
	ws_sampler_init(s, 100, 10, 2, 100);
	s->lasting = 3;
	ok(ws_sampler_widen(s, 200) && s->kept[2] == 100, "relax: nor than there is time");
	free(s);
}

static void
test_brief(void)
{
	const uint32_t now = 1000000;
	WsSampler  *s = new_sampler(100, 10, 2, 1000);

	s->lasting = 5;
	ws_sampler_set_brief(s, 6000, now);
	ok(s->brief == 6000 && s->admitted[2] == 1000 && s->admitted[4] == 1000,
	   "brief: a shorter time changes nothing that was sampled");
	is_int(ws_sampler_mature_shift(s, now, 6001, 1), 5, "brief: but only those that last tell of longer");
	ws_sampler_set_brief(s, 6000, now + 10);
	ok(s->admitted[4] == 1000, "brief: nor does the same time");
	ws_sampler_set_brief(s, 20000, now + 100);
	is_int(s->admitted[4], now + 100 - 6000, "brief: with a longer time, pages from before are gone");
	ok(s->admitted[2] == now + 100 - 6000 && s->admitted[5] == 1000 && s->admitted[31] == 1000,
	   "brief: but not of those that last");
	is_int(ws_sampler_mature_shift(s, now + 100, 6000, 1), 2, "brief: all tell of the time they were kept");
	is_int(ws_sampler_mature_shift(s, now + 100, 6001, 1), 5, "brief: not yet of longer");
	is_int(ws_sampler_mature_shift(s, now + 14100, 20000, 1), 2, "brief: but in due time");
	s->admitted[2] = now + 90;
	ws_sampler_set_brief(s, 30000, now + 200);
	ok(s->admitted[2] == now + 90 && s->admitted[3] == now + 100 - 6000,
	   "brief: what is sampled since later is so still");
	ok(sampler_check(s) == NULL, "brief: the table is sound");

	/* and lasting from then on */
	ws_sampler_init(s, 100, 10, 2, 1000);
	s->lasting = 5;
	ws_sampler_set_brief(s, 3000, now);
	ws_sampler_set_brief(s, 30000, now);
	ok(ws_sampler_widen(s, now) && s->kept[4] == now - 3000 &&
	   ws_sampler_mature_shift(s, now + 1000, 36000, now - 3001) == 5,
	   "brief: what lasts from then on has not been kept for longer than before");

	/* two hours, when those that last have been kept for one */
	ws_sampler_init(s, 100, 10, 2, 1000);
	s->lasting = 5;
	ws_sampler_set_brief(s, 2 * HOUR_TICKS, now);
	is_int(ws_sampler_known(s, now + 100, 2 * HOUR_TICKS, 1), HOUR_TICKS + 100, "brief: it is known how much is known");
	is_int(ws_sampler_mature_shift(s, now + 100, ws_sampler_known(s, now + 100, 2 * HOUR_TICKS, 1), 1), 5,
		   "brief: of all that, only those that last tell");

	/* before there is so much time */
	ws_sampler_init(s, 100, 10, 2, 100);
	s->lasting = 5;
	ws_sampler_set_brief(s, 20000, 5000);
	ok(s->admitted[2] == 100, "brief: in the beginning nothing has gone");
	free(s);
}

static void
test_reads(void)
{
	const uint32_t now = 1000000;
	WsSampler  *s = new_sampler(100, 10, 2, now);
	double		recent;

	enter_pages(s, 5, 1, now);
	is_int((int) ws_sampler_read_seconds(s, now - 1), 0, "reads: none, in no time");
	s->samples[0].reads = 7;
	ws_sampler_begin_reads(s, now + 100);
	ok(s->samples[0].reads == 0 && ws_sampler_read_seconds(s, now + 130) == 3, "reads: from zero");
	/* three a second, looked at as the worker does, and once after a pause */
	for (uint32_t tick = 1; tick <= 20000; tick++)
	{
		s->samples[0].reads += 0.3F;
		if (tick % 300 == 0 && tick != 9900)
			ws_sampler_age_reads(s, now + 100 + tick);
	}
	ok(fabs(s->samples[0].reads / ws_sampler_read_seconds(s, now + 20100) - 3) < 0.01, "reads: as many a second as there are");
	/* a sum of exp(-0.2 * n) times 30 s, and 20 s that are not aged yet */
	ok(fabs(ws_sampler_read_seconds(s, now + 20100) - 155.5) < 0.1, "reads: of about the last five minutes");
	recent = s->samples[0].reads;
	ws_sampler_age_reads(s, now + 20100 + 3000);
	ok(fabs(s->samples[0].reads / recent - exp(-3200 / 1500.0)) < 0.001, "reads: those of five minutes before weigh little");
	free(s);
}

/* An eighth of 80 entries, ten, are to be freed, by as few strata as can be. */
static void
test_thin(void)
{
	static const struct
	{
		int			pages[4];	/* that are old, of strata 2 to 5 */
		int			older;		/* than an hour, of stratum 3 */
		bool		room;
		uint32_t	lasting;
		uint32_t	left;
		const char *name;
	}			table[] = {
		{{10, 9, 8, 20}, 0, true, 3, 37, "one stratum less may be enough"},
		{{9, 1, 8, 20}, 0, true, 4, 28, "or two"},
		{{4, 3, 3, 20}, 0, true, 5, 20, "or three"},
		{{4, 3, 2, 20}, 0, false, 2, 29, "not four: one sampled page in eight lasts"},
		{{4, 3, 2, 20}, 1, true, 5, 20, "with one whose time is over"},
		{{0, 0, 0, 30}, 10, true, 2, 30, "or ten of these, and nothing else"},
		{{0, 0, 0, 30}, 9, false, 2, 30, "fewer go, too"},
	};
	const uint32_t now = 1000000;

	for (size_t t = 0; t < sizeof(table) / sizeof(table[0]); t++)
	{
		WsSampler  *s = new_sampler(80, 10, 2, 1000);
		uint32_t	count;

		count_evictions();
		for (uint32_t k = 0; k < 4; k++)
			enter_pages(s, 2 + k, table[t].pages[k], now - s->brief - 1);
		enter_pages(s, 3, table[t].older, now - HOUR_TICKS - 1);
		/* whose time is over in a tick */
		enter_pages(s, 2, 10, now - s->brief);
		count = s->count;
		ok(ws_sampler_thin(s, now, evicted) == table[t].room && s->lasting == table[t].lasting &&
		   s->count == table[t].left + 10 && evictions.total == (int) (count - s->count) && sampler_check(s) == NULL,
		   "thin: %s", table[t].name);
		free(s);
	}
}

/*
 * Beside a list of all the pages there ever were, with their ages.  A page is
 * evicted when its time is over and not before, and where the table promises to
 * know all pages of a window it must know all of them.
 */
enum
{
	EVER = 12000, HOT = 150, ROOM_FOR = 400
};

typedef struct Listed
{
	WsPageId	page;
	uint32_t	hash;
	uint32_t	stratum;
	uint32_t	ever;			/* last touch by a client, whether or not it is there */
	uint32_t	entry;			/* WS_NO_SAMPLE: it is not */
	uint32_t	touched;
} Listed;

static Listed list[EVER];

/*
 * Take off the list what was evicted.  How many of these should have stayed, or
 * others should have gone?
 */
static long
settle(const WsSampler *s, uint32_t now)
{
	uint32_t	longest = s->brief > HOUR_TICKS ? s->brief : HOUR_TICKS;
	long		wrong = 0;
	int			gone = 0;

	for (Listed *l = list; l < list + EVER; l++)
	{
		int64_t		age = (int64_t) now - l->touched;

		if (l->entry == WS_NO_SAMPLE)
			continue;
		wrong += evictions.times[l->entry] !=
			(l->stratum < s->shift || age > (l->stratum < s->lasting ? s->brief : longest));
		if (evictions.times[l->entry] == 0)
			continue;
		l->entry = WS_NO_SAMPLE;
		gone++;
	}
	wrong += evictions.total != gone;
	count_evictions();
	return wrong;
}

static long
differences(const WsSampler *s)
{
	long		wrong = 0;
	uint32_t	count = 0;

	for (const Listed *l = list; l < list + EVER; l++)
	{
		wrong += ws_sampler_find(s, &l->page, l->hash) != l->entry;
		if (l->entry == WS_NO_SAMPLE)
			continue;
		count++;
		wrong += s->samples[l->entry].touched != l->touched;
	}
	return wrong + (s->count != count) + (sampler_check(s) != NULL);
}

static void
test_tiers(void)
{
	WsSampler  *s = new_sampler(ROOM_FOR, 10, 0, 1000);
	uint64_t	seed = seeded(75);
	uint32_t	now = 1000;
	uint32_t	fresh = HOT;
	long		wrong = 0;
	long		missing = 0;
	long		asked[2] = {0}; /* of brief times, and of long ones, */
	long		dense[2] = {0}; /* answered by all strata that there are */
	long		over_an_hour = 0;
	long		rooms[2] = {0}; /* not made, and made */
	long		relaxed = 0;
	long		returned = 0;

	/* pages by fours of one hash, that differ in one field or more */
	for (uint32_t i = 0; i < EVER; i++)
	{
		uint32_t	hash = page_hash(76, i / 4) >> (i / 4 % 3 == 0 ? i / 4 % 9 : 0);

		list[i] = (Listed) {{1663, 5 + i % 2, 16384 + i / 40, i / 2 % 2, i / 4}, hash, naive_stratum(hash, 10), 0,
			WS_NO_SAMPLE, 0};
	}
	count_evictions();
	for (int step = 0; step < 100000; step++)
	{
		int			phase = step / 4000 % 3;
		uint32_t	dice = random_below(&seed, 1000);
		bool		client = random_below(&seed, 8) > 0;
		Listed	   *l;
		uint32_t	tick;

		/* much in little time, and less; at times little but hot pages */
		now += random_below(&seed, phase == 1 ? 8 : 60);
		/* hot pages; pages used once, in turn; old ones */
		if (dice < (phase == 2 ? 980 : 500))
			l = &list[random_below(&seed, HOT)];
		else if (dice < 900 || phase == 2)
			l = &list[fresh = fresh + 1 < EVER ? fresh + 1 : HOT];
		else
			l = &list[random_below(&seed, EVER)];
		tick = now - random_below(&seed, 3);
		if (l->entry == WS_NO_SAMPLE)
		{
			returned += l->ever != 0;
			while (s->count == ROOM_FOR && l->stratum >= s->shift)
			{
				bool		enough;

				wrong += ws_sampler_enter(s, &l->page, l->hash, tick) != WS_NO_SAMPLE;
				enough = ws_sampler_thin(s, now, evicted);
				rooms[enough]++;
				wrong += enough != (s->count <= ROOM_FOR - ROOM_FOR / 8);
				wrong += settle(s, now);
				if (!enough)
					ws_sampler_set_shift(s, s->shift + 1, now, evicted);
				wrong += settle(s, now);
			}
			l->entry = ws_sampler_enter(s, &l->page, l->hash, tick);
			l->touched = tick;
			wrong += (l->entry != WS_NO_SAMPLE) != (l->stratum >= s->shift);
		}
		if (l->entry != WS_NO_SAMPLE)
		{
			ws_sampler_touch(s, l->entry, tick, client);
			l->touched = tick > l->touched ? tick : l->touched;
		}
		if (client && tick > l->ever)
			l->ever = tick;

		dice = random_below(&seed, 3000);
		if (dice < 300)
			relaxed += ws_sampler_widen(s, now);
		else if (dice < 305)
			/* in the end often longer than an hour */
			ws_sampler_set_brief(s, 2000 + random_below(&seed, step < 60000 ? 20000 : 60000), now);
		else if (dice < 310 && s->shift > 0)
			ws_sampler_set_shift(s, s->shift - 1, now, NULL);
		else if (dice < 330)
		{
			uint32_t	before = s->count;

			wrong += ws_sampler_expire(s, now, evicted) != before - s->count;
			wrong += settle(s, now);
		}
		else if (dice < 500 && l->entry != WS_NO_SAMPLE)
		{
			ws_sampler_evict(s, l->entry, NULL);
			l->entry = WS_NO_SAMPLE;
			l->ever = 0;
		}
		if (step % 100 == 0)
			wrong += differences(s);

		/* are all pages of a window known? */
		for (int k = 0; k < 4 && step % 20 == 0; k++)
		{
			uint32_t	ticks = random_below(&seed, k % 2 ? (s->brief > HOUR_TICKS ? s->brief : HOUR_TICKS) + 1 : 15000);
			uint32_t	floor = k < 2 ? 1000 : now - random_below(&seed, now - 1000 < 40000 ? now - 999 : 40000);
			uint32_t	shift = ws_sampler_mature_shift(s, now, ticks, floor);
			uint32_t	start = now > ticks && now - ticks > floor ? now - ticks : floor;
			bool		long_ago = now - start > s->brief;
			uint32_t	known = 0;

			/* there is no such shift */
			if (s->admitted[WS_STRATA - 1] > start || (long_ago && s->kept[WS_STRATA - 1] > start))
				continue;
			for (const Listed *p = list; p < list + EVER; p++)
				known += p->ever >= floor && (int64_t) p->ever > (int64_t) now - ticks && p->stratum >= shift;
			missing += ws_sampler_select(s, now, ticks, floor, shift, NULL) != known;
			asked[long_ago]++;
			dense[long_ago] += shift == (long_ago ? s->lasting : s->shift);
			over_an_hour += now - start > HOUR_TICKS;
			wrong += shift < (long_ago ? s->lasting : s->shift);
		}
	}
	is_int(wrong, 0, "tiers: pages are there until their time is over, and the table is sound");
	ok(missing == 0, "tiers: of a window all pages are known that are said to be (%ld asked, %ld long)",
	   asked[0] + asked[1], asked[1]);
	if (!ok(rooms[0] > 20 && rooms[1] > 20 && relaxed > 0 && returned > 1000 && over_an_hour > 10 &&
			asked[0] + asked[1] > 10000 && dense[0] * 3 > asked[0] && dense[1] * 3 > asked[1],
			"tiers: all of it happened, and most is known of strata that are dense"))
		diag("rooms %ld, none %ld, relaxed %ld, returned %ld, over an hour %ld, dense %ld of %ld, and long ago %ld of %ld",
			 rooms[1], rooms[0], relaxed, returned, over_an_hour, dense[0], asked[0], dense[1], asked[1]);
	free(s);
}

int
main(void)
{
	plan(220);
	test_check();
	test_touch();
	test_mature();
	test_next_shift();
	test_load();
	test_flood();
	test_select();
	test_error();
	test_divide();
	test_new();
	test_forget_before();
	test_relax();
	test_brief();
	test_reads();
	test_thin();
	test_tiers();
	return done();
}
