/*
 * sizing_t.c
 *		Tests of the split of memory and of the verdict.
 *
 * The rule is written a second time, from the text of sizing.h, and compared
 * for random facts; tables show its promises and its limits.  Seeds are fixed,
 * so a run either always passes or always fails.
 */
#include "tap.h"
#include "sizing.h"
#include "yardstick.h"

#define MB 0x1p20
#define GB 0x1p30
#define TB 0x1p40

static const char *
named(WsVerdict verdict)
{
	return verdict == WS_VERDICT_NONE ? "none" : ws_verdict_name(verdict);
}

static double
random_bytes(uint64_t *seed, double least, double most)
{
	return least * exp(random_unit(seed) * log(most / least));
}

/*
 * ----------------------------------------------------------------
 * Whatever the facts
 * ----------------------------------------------------------------
 */

/* whole MB; above 128 of them in steps of a 64th to a 128th of the size */
static double
naive_round(double bytes)
{
	double		step = MB * exp2(fmax(ceil(log2(bytes / MB)) - 7, 0));

	return ceil(bytes / step) * step;
}

static WsSizing
naive_sizing(const WsSizingFacts *f, WsVerdict before)
{
	WsSizing	s = {.verdict = WS_VERDICT_KEEP};
	bool		exceeds = false;
	double		suggested = fmax(f->needed, 128 * MB);
	double		ratio;

	if (f->memory > 0)
	{
		double		most;

		s.reserved = f->connections * (2 * MB + f->work_mem) + f->maintenance;
		if (s.reserved > f->memory / 2)
			s.reserved = f->memory / 2;
		s.cacheable = f->memory - s.reserved;
		most = fmax(floor(s.cacheable * 3 / 4 / MB) * MB, MB);
		exceeds = f->needed > s.cacheable ||
			(before == WS_VERDICT_EXCEEDS_MEMORY && f->needed > 0.95 * s.cacheable);
		if (exceeds)
		{
			/* of the possible sizes, the largest that is known is no answer */
			int			last = -1;
			double		best = 0;

			for (int i = 0; i < f->sizes; i++)
				if (f->size[i] <= most && !isnan(f->hit_ratio[i]))
				{
					last = i;
					best = fmax(best, f->hit_ratio[i]);
				}
			suggested = most;
			for (int i = last - 1; i >= 0; i--)
				if (f->hit_ratio[i] >= best - 0.005)
					suggested = f->size[i];
		}
		suggested = fmin(naive_round(fmax(suggested, 128 * MB)), most);
		s.suggested_shared_buffers = suggested;
		s.suggested_effective_cache_size = fmax(floor(s.cacheable / MB) * MB, MB);
		s.useful = exceeds ? suggested : 0;
	}
	ratio = suggested / f->shared_buffers;
	if (exceeds)
		s.verdict = WS_VERDICT_EXCEEDS_MEMORY;
	else if (ratio > (before == WS_VERDICT_GROW ? 1.05 : 1.2) &&
			 (suggested > 128 * MB ||
			  f->needed / f->shared_buffers > (before == WS_VERDICT_GROW ? 1.05 : 1.2)))
		s.verdict = WS_VERDICT_GROW;
	else if (ratio < (before == WS_VERDICT_SHRINK ? 0.7 : 0.5) && f->long_enough)
		s.verdict = WS_VERDICT_SHRINK;
	return s;
}

static void
test_rule(void)
{
	enum
	{
		TRIALS = 300000
	};
	uint64_t	seed = 81;
	long		wrong = 0;
	long		beyond = 0;
	long		falls_with_needed = 0;
	long		falls_with_memory = 0;
	long		verdicts[5] = {0};
	long		useful = 0;

	for (int i = 0; i < TRIALS; i++)
	{
		WsSizingFacts f = {
			.needed = random_below(&seed, 20) ? random_bytes(&seed, 8192, 8192 * TB) : 0,
			.shared_buffers = random_bytes(&seed, MB, TB),
			.memory = random_below(&seed, 20) ? random_bytes(&seed, MB / 2, 4 * TB) : 0,
			.connections = (int) random_below(&seed, 5000),
			.work_mem = random_bytes(&seed, 65536, GB),
			.maintenance = random_below(&seed, 2) ? random_bytes(&seed, MB, 16 * GB) : 0,
			.long_enough = random_below(&seed, 2),
			.sizes = (int) random_below(&seed, WS_SIZING_SIZES + 1)
		};
		WsVerdict	before = (WsVerdict) random_below(&seed, 5);
		double		size = random_bytes(&seed, MB, f.memory + 2 * MB);
		double		ratio = random_unit(&seed) / 2;
		WsSizing	s;
		WsSizing	want;
		WsSizing	other;

		for (int k = 0; k < f.sizes; k++)
		{
			f.size[k] = size *= 1 + random_unit(&seed) / 2;
			ratio += random_below(&seed, 3) ? 0.002 * random_unit(&seed) : 0.02;
			f.hit_ratio[k] = random_below(&seed, 6) ? ratio : NAN;
		}
		/* often near a limit */
		s = naive_sizing(&f, before);
		if (i % 3 == 0)
			f.needed = s.cacheable * (0.9 + 0.2 * random_unit(&seed));
		else if (i % 3 == 1)
			f.needed = f.shared_buffers * (0.4 + random_unit(&seed));

		s = ws_sizing(&f, before);
		want = naive_sizing(&f, before);
		wrong += s.verdict != want.verdict || fabs(s.reserved - want.reserved) > 1e-9 * want.reserved ||
			fabs(s.cacheable - want.cacheable) > 1e-9 * want.cacheable ||
			s.suggested_shared_buffers != want.suggested_shared_buffers ||
			s.suggested_effective_cache_size != want.suggested_effective_cache_size ||
			s.useful != want.useful;
		verdicts[s.verdict]++;
		useful += s.useful > 0 && s.useful < 0.7 * s.cacheable;
		if (f.memory == 0)
			continue;
		beyond += s.suggested_shared_buffers > fmax(f.needed, 128 * MB) * (1 + 1.0 / 64) ||
			s.suggested_shared_buffers > fmax(0.75 * s.cacheable, MB);

		/* more is needed, then there is more; nothing is simulated */
		f.sizes = 0;
		other = ws_sizing(&f, before);
		f.needed *= 1 + (i % 2 ? 0.01 : 1) * random_unit(&seed);
		s = ws_sizing(&f, before);
		falls_with_needed += s.suggested_shared_buffers < other.suggested_shared_buffers;
		other = s;
		f.memory *= 1 + (i % 4 < 2 ? 0.01 : 1) * random_unit(&seed);
		s = ws_sizing(&f, before);
		falls_with_memory += s.suggested_shared_buffers < other.suggested_shared_buffers ||
			s.suggested_effective_cache_size < other.suggested_effective_cache_size;
	}
	is_int(wrong, 0, "rule: everything is as the second implementation has it");
	is_int(beyond, 0, "rule: no more is suggested than may be, or than is needed and a 64th");
	is_int(falls_with_needed, 0, "rule: if more is needed, no less is suggested");
	is_int(falls_with_memory, 0, "rule: if there is more memory, no less is suggested");
	ok(verdicts[WS_VERDICT_NONE] == 0 && verdicts[WS_VERDICT_GROW] > 1000 &&
	   verdicts[WS_VERDICT_SHRINK] > 1000 && verdicts[WS_VERDICT_KEEP] > 1000 &&
	   verdicts[WS_VERDICT_EXCEEDS_MEMORY] > 1000 && useful > 1000, "rule: all of it happened");
}

/*
 * ----------------------------------------------------------------
 * The rule by examples
 * ----------------------------------------------------------------
 */

/* No processes: all of the memory is for the caches. */
static void
test_suggested(void)
{
	static const struct
	{
		const char *name;
		double		needed;
		double		memory;
		double		want;
	}			table[] = {
		{"what was needed", 2 * GB, 16 * GB, 2 * GB},
		{"the default, if nothing was needed", 0, 16 * GB, 128 * MB},
		{"the default, if no more was needed", 128 * MB, 16 * GB, 128 * MB},
		{"more, if a page more was needed", 128 * MB + 8192, 16 * GB, 130 * MB},
		{"up to three quarters of the rest", 12 * GB, 16 * GB, 12 * GB},
		{"no more than that", 13 * GB, 16 * GB, 12 * GB},
		{"no more if more than all is needed", 8192 * TB, 16 * GB, 12 * GB},
		{"not rounded up beyond it", 750 * MB - 8192, 1000 * MB, 750 * MB},
		{"not in the middle of a MB", GB, 1001 * MB, 750 * MB},
		{"of little memory, three quarters, even if little is needed", 8192, 64 * MB, 48 * MB},
		{"never less than a MB", GB, MB / 2, 1 * MB},
		{"if the memory is not known, nothing", 2 * GB, 0, 0},
		{"in 2 MB up to 256", 255 * MB, 16 * GB, 256 * MB},
		{"in 4 MB beyond", 257 * MB, 16 * GB, 260 * MB},
		{"in 64 MB beyond 4 GB", 4 * GB + 8192, 16 * GB, 4 * GB + 64 * MB},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {
			.needed = table[i].needed, .shared_buffers = GB, .memory = table[i].memory,
		};
		WsSizing	s = ws_sizing(&f, WS_VERDICT_NONE);

		is_within(s.suggested_shared_buffers, table[i].want, 0, table[i].name);
	}
	{
		/* 2 MB and a work_mem for each of 100 connections, and autovacuum */
		WsSizingFacts f = {
			.needed = 2 * GB, .shared_buffers = 2 * GB, .memory = 16 * GB,
			.connections = 100, .work_mem = 4 * MB, .maintenance = 424 * MB
		};
		WsSizing	s = ws_sizing(&f, WS_VERDICT_NONE);

		ok(s.reserved == GB && s.cacheable == 15 * GB && s.suggested_effective_cache_size == 15 * GB,
		   "of 16 GB one is reserved for processes, and 15 are for the caches");
		f.memory = 1.5 * GB;
		is_within(ws_sizing(&f, WS_VERDICT_NONE).reserved, 0.75 * GB, 0, "at most half is reserved");
	}
}

/*
 * The largest useful size, where not all that is needed can be cached: 16 GB
 * are for the caches, so 12 at most.
 */
static void
test_useful(void)
{
	static const struct
	{
		const char *name;
		int			sizes;
		double		size[6];	/* GB */
		double		ratio[6];
		double		want;		/* GB */
	}			table[] = {
		{"nothing is predicted: all that may be", 0, {0}, {0}, 12},
		{"a curve that rises to the end", 4, {2, 4, 8, 12}, {.5, .6, .8, .9}, 12},
		{"what is too large does not count", 5, {2, 4, 8, 12, 20}, {.2, .2, .2, .2, .9}, 2},
		{"rising, then flat", 5, {2, 4, 8, 10, 12}, {.5, .7, .9, .903, .904}, 8},
		{"half a percent less is as good", 3, {2, 4, 8}, {.8, .9 - .005, .9}, 4},
		{"more than that is not, and 8 may not be the best", 3, {2, 4, 8}, {.8, .895, .9 + 1e-9}, 12},
		{"more than that is not, and 8 is the best", 4, {2, 4, 8, 9}, {.8, .895, .9 + 1e-9, .9 + 1e-9}, 8},
		{"some are not known", 5, {2, 4, 6, 8, 12}, {NAN, .9, NAN, .902, NAN}, 4},
		{"none is known", 3, {2, 4, 8}, {NAN, NAN, NAN}, 12},
		{"none is small enough", 3, {13, 14, 18}, {.5, .6, .7}, 12},
		{"not less than the default", 2, {.01, 2}, {.5, .5}, .125},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {.needed = 20 * GB, .shared_buffers = GB, .memory = 16 * GB, .sizes = table[i].sizes};

		for (int k = 0; k < f.sizes; k++)
		{
			f.size[k] = table[i].size[k] * GB;
			f.hit_ratio[k] = table[i].ratio[k];
		}
		is_within(ws_sizing(&f, WS_VERDICT_NONE).useful, table[i].want * GB, 0, table[i].name);
	}
}

/*
 * ----------------------------------------------------------------
 * The verdict
 * ----------------------------------------------------------------
 */
static void
test_verdict(void)
{
	static const struct
	{
		const char *name;
		double		needed;		/* GB */
		double		shared_buffers; /* GB */
		double		memory;		/* GB */
		WsVerdict	want;
	}			table[] = {
		{"a little more is needed", 2.1, 2, 16, WS_VERDICT_KEEP},
		{"much more is needed", 4, 2, 16, WS_VERDICT_GROW},
		{"a little less is needed", 6, 8, 16, WS_VERDICT_KEEP},
		{"much less is needed", 2, 8, 16, WS_VERDICT_SHRINK},
		{"all there is", 16, 2, 16, WS_VERDICT_GROW},
		{"all there is, and as much is given as may be", 16, 12, 16, WS_VERDICT_KEEP},
		{"more than there is", 17, 12, 16, WS_VERDICT_EXCEEDS_MEMORY},
		{"nothing is needed, of the default", 0, 0.125, 16, WS_VERDICT_KEEP},
		{"half is needed of half the default", 0.03125, 0.0625, 16, WS_VERDICT_KEEP},
		{"a third more is needed than half the default", 0.08, 0.0625, 16, WS_VERDICT_GROW},
		{"the same, but memory has no more", 0.08, 0.0625, 0.085, WS_VERDICT_KEEP},
		{"memory is not known, however much is needed", 8388608, 2, 0, WS_VERDICT_GROW},
		{"memory is not known, and less is needed", 0.5, 2, 0, WS_VERDICT_SHRINK},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {
			.needed = table[i].needed * GB, .shared_buffers = table[i].shared_buffers * GB,
			.memory = table[i].memory * GB, .long_enough = true
		};

		is_string(named(ws_sizing(&f, WS_VERDICT_NONE).verdict), named(table[i].want), table[i].name);
		f.long_enough = false;
		if (table[i].want == WS_VERDICT_SHRINK)
			ok(ws_sizing(&f, WS_VERDICT_SHRINK).verdict == WS_VERDICT_KEEP, "but that may change");
	}
}

static void
test_bands(void)
{
	/* to the bit: nothing is rounded where the memory is not known */
	static const struct
	{
		double		ratio;
		WsVerdict	before;
		WsVerdict	at;
		WsVerdict	above;
	}			table[] = {
		{1.2, WS_VERDICT_NONE, WS_VERDICT_KEEP, WS_VERDICT_GROW},
		{1.2, WS_VERDICT_KEEP, WS_VERDICT_KEEP, WS_VERDICT_GROW},
		{1.2, WS_VERDICT_SHRINK, WS_VERDICT_KEEP, WS_VERDICT_GROW},
		{1.2, WS_VERDICT_EXCEEDS_MEMORY, WS_VERDICT_KEEP, WS_VERDICT_GROW},
		{1.05, WS_VERDICT_GROW, WS_VERDICT_KEEP, WS_VERDICT_GROW},
		{0.5 - 1e-12, WS_VERDICT_NONE, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.5 - 1e-12, WS_VERDICT_KEEP, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.5 - 1e-12, WS_VERDICT_GROW, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.5 - 1e-12, WS_VERDICT_EXCEEDS_MEMORY, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.7 - 1e-12, WS_VERDICT_SHRINK, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
	};
	static const double centers[] = {1.2 * 16, 0.5 * 16, 128};
	WsSizingFacts f = {.shared_buffers = GB, .long_enough = true};
	uint64_t	seed = 83;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsVerdict	at;
		WsVerdict	above;

		f.needed = table[i].ratio * GB;
		at = ws_sizing(&f, table[i].before).verdict;
		f.needed = (table[i].ratio + 2e-12) * GB;
		above = ws_sizing(&f, table[i].before).verdict;
		ok(at == table[i].at && above == table[i].above, "band: after %s, %s at %.2f and %s above",
		   named(table[i].before), named(at), table[i].ratio, named(above));
	}

	f.memory = 128 * GB;
	f.shared_buffers = 16 * GB;
	for (int c = 0; c < 3; c++)
	{
		WsVerdict	verdict = WS_VERDICT_NONE;
		int			changes = 0;

		for (int i = 0; i < 5000; i++)
		{
			WsVerdict	before = verdict;

			f.needed = centers[c] * GB * (0.98 + 0.04 * random_unit(&seed));
			verdict = ws_sizing(&f, verdict).verdict;
			changes += before != WS_VERDICT_NONE && verdict != before;
		}
		ok(changes <= 1, "band: noise of 2 %% around %g GB changes the verdict once at most", centers[c]);
	}
}

static void
test_steady(void)
{
	/* a letter for each minute: what is given, and what counts */
	static const struct
	{
		const char *name;
		int			patience;	/* seconds */
		const char *given;
		const char *want;
	}			table[] = {
		{"the first counts at once", 300, "GG", "GG"},
		{"another when it has lasted", 300, "KGGGGGGG", "KKKKKKGG"},
		{"if it is interrupted, it starts over", 300, "KGGGGGKGGGGGGG", "KKKKKKKKKKKKGG"},
		{"also by a third, which has to last itself", 300, "KGGGGGSSSSSSS", "KKKKKKKKKKKSS"},
		{"with no patience at all", 0, "KGSEK", "KGSEK"},
		{"with little", 60, "KGGSS", "KKGGS"},
		{"with a little more than a minute", 61, "KGGGSS", "KKKGGG"},
		{"none counts at once, and so does the next", 300, "K--G", "K--G"},
	};
	WsSteady	steady;
	uint64_t	seed = 84;
	long		wrong = 0;
	long		changed = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		static const char letters[] = "-GSKE";
		char		got[32] = "";

		memset(&steady, 0, sizeof(steady));
		for (int k = 0; table[i].given[k]; k++)
		{
			WsVerdict	given = (WsVerdict) (strchr(letters, table[i].given[k]) - letters);

			got[k] = letters[ws_sizing_steady(&steady, given, 60 * k - 100, table[i].patience)];
		}
		is_string(got, table[i].want, table[i].name);
	}

	/* at random: another has been given at every moment of the last so many */
	for (int trial = 0; trial < 300; trial++)
	{
		int64_t		now = random_below(&seed, 1000);
		int64_t		patience = random_below(&seed, 400);
		WsVerdict	given[60];
		int64_t		at[60];
		WsVerdict	counts = WS_VERDICT_NONE;
		int			since = 0;	/* it counts, so nothing from before does */

		memset(&steady, 0, sizeof(steady));
		for (int i = 0; i < 60; i++)
		{
			int			first = i;

			now += random_below(&seed, 90);
			at[i] = now;
			given[i] = i > 0 && random_below(&seed, 4) > 0 ? given[i - 1] :
				(WsVerdict) (1 + random_below(&seed, 4));
			while (first > since && given[first - 1] == given[i])
				first--;
			if (i == 0 || (given[i] != counts && now - at[first] >= patience))
			{
				changed += i > 0;
				counts = given[i];
				since = i;
			}
			wrong += ws_sizing_steady(&steady, given[i], now, patience) != counts;
		}
	}
	ok(wrong == 0 && changed > 500, "steady: at random, by the definition; it changed %ld times",
	   changed);
}

static void
test_words(void)
{
	static const struct
	{
		double		bytes;
		const char *want;
	}			table[] = {
		{640 * MB, "640MB"}, {0, "1MB"}, {1.4 * MB, "1MB"}, {1.6 * MB, "2MB"},
		{640 * MB - 1, "640MB"}, {4 * TB, "4194304MB"}, {8192 * TB, "8589934592MB"},
	};
	char		buf[32];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		ws_format_setting(table[i].bytes, buf, sizeof(buf));
		is_string(buf, table[i].want, "a setting");
	}
	memset(buf, '#', sizeof(buf));
	ws_format_setting(640 * MB, buf, 4);
	ok(strcmp(buf, "640") == 0 && buf[4] == '#', "a buffer too small is not overrun");

	ok(strcmp(ws_verdict_name(WS_VERDICT_GROW), "grow") == 0 &&
	   strcmp(ws_verdict_name(WS_VERDICT_SHRINK), "shrink") == 0 &&
	   strcmp(ws_verdict_name(WS_VERDICT_KEEP), "keep") == 0 &&
	   strcmp(ws_verdict_name(WS_VERDICT_EXCEEDS_MEMORY), "exceeds memory") == 0 &&
	   ws_verdict_name(WS_VERDICT_NONE) == NULL, "verdicts have names, but none has none");
}

int
main(void)
{
	plan(79);
	test_rule();
	test_suggested();
	test_useful();
	test_verdict();
	test_bands();
	test_steady();
	test_words();
	return done();
}
