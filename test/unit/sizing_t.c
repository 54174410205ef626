/*
 * sizing_t.c
 *		Tests of the split of memory and of the verdict.
 *
 * The rule is told sentence by sentence, in tables.  What must hold whatever
 * the facts is asked of random ones.  Seeds are fixed, so a run either always
 * passes or always fails.  Where an assertion is about a frequency its bound
 * is K_SIGMA standard errors, by the formula beside it.
 */
#include "tap.h"
#include "sizing.h"
#include "yardstick.h"

#define K_SIGMA 5

#define MB 0x1p20
#define GB 0x1p30
#define TB 0x1p40

/* a server of 16 GB of which 1 GB is for processes: 15 GB are for the caches */
static WsSizingFacts
usual(void)
{
	WsSizingFacts f = {
		.needed = 2 * GB, .shared_buffers = 2 * GB, .memory = 16 * GB,
		.connections = 100, .work_mem = 4 * MB, .maintenance = 424 * MB,
		.long_enough = true
	};

	return f;
}

static WsSizing
sized(const WsSizingFacts *f)
{
	return ws_sizing(f, WS_VERDICT_NONE);
}

/*
 * ----------------------------------------------------------------
 * The rule
 * ----------------------------------------------------------------
 */
static void
test_reserve(void)
{
	static const struct
	{
		const char *name;
		double		memory;
		int			connections;
		double		work_mem;
		double		maintenance;
		double		reserved;
	}			table[] = {
		{"2 MB for each connection", 16 * GB, 100, 0, 0, 200 * MB},
		{"and one work_mem", 16 * GB, 100, 4 * MB, 0, 600 * MB},
		{"and what autovacuum may take", 16 * GB, 100, 4 * MB, 192 * MB, 792 * MB},
		{"that alone", 16 * GB, 0, 4 * MB, 192 * MB, 192 * MB},
		{"nothing", 16 * GB, 0, 0, 0, 0},
		{"half of the memory", 2 * GB, 256, 2 * MB, 0, 1 * GB},
		{"no more than that", 2 * GB, 5000, 64 * MB, 3 * GB, 1 * GB},
		{"of little memory, half of that", 64 * MB, 100, 4 * MB, 192 * MB, 32 * MB},
		{"of much", TB, 1000, 64 * MB, 3 * GB, 66000 * MB + 3 * GB},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {
			.needed = GB, .shared_buffers = GB, .memory = table[i].memory,
			.connections = table[i].connections, .work_mem = table[i].work_mem,
			.maintenance = table[i].maintenance
		};
		WsSizing	s = sized(&f);

		if (!ok(s.reserved == table[i].reserved && s.cacheable == table[i].memory - table[i].reserved,
				"reserved: %s; the rest is for the caches", table[i].name))
			diag("%.3f MB", s.reserved / MB);
		ok(s.suggested_effective_cache_size == floor(s.cacheable / MB) * MB,
		   "effective_cache_size: the rest, in whole MB");
	}
}

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
		/* no processes: all of the memory is for the caches */
		{"what was needed", 2 * GB, 16 * GB, 2 * GB},
		{"in whole MB", 200 * MB + 1, 16 * GB, 202 * MB},
		{"the default, if nothing was needed", 0, 16 * GB, 128 * MB},
		{"the default, if a page was needed", 8192, 16 * GB, 128 * MB},
		{"the default, if no more was needed", 128 * MB, 16 * GB, 128 * MB},
		{"more, if a page more was needed", 128 * MB + 8192, 16 * GB, 130 * MB},
		{"three quarters of the rest", 12 * GB, 16 * GB, 12 * GB},
		{"no more than that", 13 * GB, 16 * GB, 12 * GB},
		{"no more if all is needed", 16 * GB, 16 * GB, 12 * GB},
		{"no more if more than all is needed", 0x1p53, 16 * GB, 12 * GB},
		{"not rounded up beyond it", 750 * MB - 8192, 1000 * MB, 750 * MB},
		{"not in the middle of a MB", GB, 1001 * MB, 750 * MB},
		{"of little memory, three quarters", GB, 64 * MB, 48 * MB},
		{"of little memory, even if little is needed", 8192, 64 * MB, 48 * MB},
		{"of least memory, a MB", GB, MB, 1 * MB},
		{"of much memory, what was needed", 700 * GB, TB, 704 * GB},
		{"of much memory, three quarters", 0x1p53, TB, 768 * GB},
		{"if the memory is not known, nothing", 2 * GB, 0, 0},
		{"if the memory is not known, nothing of nothing", 0, 0, 0},

		/* 64 to 128 steps to a doubling, upward */
		{"in MB up to 128", 127.5 * MB, 16 * GB, 128 * MB},
		{"in 2 MB up to 256", 255 * MB, 16 * GB, 256 * MB},
		{"in 4 MB beyond", 257 * MB, 16 * GB, 260 * MB},
		{"in 8 MB beyond 512", 513 * MB, 16 * GB, 520 * MB},
		{"in 64 MB beyond 4 GB", 4 * GB + 8192, 16 * GB, 4 * GB + 64 * MB},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {
			.needed = table[i].needed, .shared_buffers = GB, .memory = table[i].memory,
		};
		WsSizing	s = sized(&f);

		if (!ok(s.suggested_shared_buffers == table[i].want, "shared_buffers: %s", table[i].name))
			diag("%.3f MB", s.suggested_shared_buffers / MB);
	}

	{
		WsSizingFacts f = {.needed = 2 * GB, .shared_buffers = 2 * GB, .connections = 100};
		WsSizing	s = sized(&f);

		ok(s.reserved == 0 && s.cacheable == 0 && s.suggested_effective_cache_size == 0 &&
		   s.useful == 0 && s.verdict == WS_VERDICT_KEEP,
		   "of memory that is not known nothing is divided");
		f.memory = 512 * 1024;
		s = sized(&f);
		ok(s.suggested_shared_buffers == MB && s.suggested_effective_cache_size == MB,
		   "a setting is never less than a MB");
	}
}

/*
 * The largest useful size, where not all that is needed can be cached.
 */
static void
test_useful(void)
{
	/* 16 GB for the caches, so 12 at most */
	static const struct
	{
		const char *name;
		int			sizes;
		double		size[6];		/* GB */
		double		ratio[6];
		double		want;			/* GB */
	}			table[] = {
		{"nothing is predicted: all that may be", 0, {0}, {0}, 12},
		{"a curve that rises to the end", 4, {2, 4, 8, 12}, {.5, .6, .8, .9}, 12},
		{"what is too large does not count", 6, {2, 4, 8, 12, 16, 24}, {.5, .6, .8, .9, .95, .99}, 12},
		{"a flat curve: the smallest", 4, {2, 4, 8, 12}, {.9, .9, .9, .9}, 2},
		{"a cache that is of no use", 4, {2, 4, 8, 12}, {0, 0, 0, 0}, 2},
		{"flat, then rising beyond what may be", 5, {2, 4, 8, 12, 20}, {.2, .2, .2, .2, .9}, 2},
		{"rising, then flat", 5, {2, 4, 8, 10, 12}, {.5, .7, .9, .903, .904}, 8},
		{"half a percent less is as good", 3, {2, 4, 8}, {.8, .895, .9 - 1e-9}, 4},
		{"just half a percent less is", 3, {2, 4, 8}, {.8, .9 - .005, .9}, 4},
		{"more than that is not, and 8 may not be the best either", 3, {2, 4, 8}, {.8, .895, .9 + 1e-9}, 12},
		{"more than that is not, and 8 is the best", 4, {2, 4, 8, 9}, {.8, .895, .9 + 1e-9, .9 + 1e-9}, 8},
		{"rising slowly", 4, {2, 4, 6, 8}, {.900, .904, .908, .912}, 6},
		{"some are not known", 5, {2, 4, 6, 8, 12}, {NAN, .9, NAN, .902, NAN}, 4},
		{"the best is not known", 3, {2, 4, 8}, {.5, .9, NAN}, 12},
		{"none is known", 3, {2, 4, 8}, {NAN, NAN, NAN}, 12},
		{"none is small enough", 3, {13, 14, 18}, {.5, .6, .7}, 12},
		{"one is, and more may be better", 3, {11, 14, 18}, {.5, .6, .7}, 12},
		{"only one of the larger is known", 3, {2, 4, 18}, {NAN, NAN, .7}, 12},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {.needed = 20 * GB, .shared_buffers = GB, .memory = 16 * GB};
		WsSizing	s;
		WsSizing	enough;

		f.sizes = table[i].sizes;
		for (int k = 0; k < f.sizes; k++)
		{
			f.size[k] = table[i].size[k] * GB;
			f.hit_ratio[k] = table[i].ratio[k];
		}
		s = sized(&f);
		f.needed = 16 * GB;
		enough = sized(&f);
		if (!ok(s.useful == table[i].want * GB && s.suggested_shared_buffers == s.useful &&
				s.verdict == WS_VERDICT_EXCEEDS_MEMORY &&
				enough.useful == 0 && enough.suggested_shared_buffers == 12 * GB,
				"useful: %s; and all counts if what is needed fits", table[i].name))
			diag("%.3f GB, %.3f GB", s.useful / GB, s.suggested_shared_buffers / GB);
	}

	{
		WsSizingFacts f = {.needed = 20 * GB, .shared_buffers = GB, .memory = 16 * GB};
		WsSizing	s;

		/* as many as there can be */
		f.sizes = WS_SIZING_SIZES;
		for (int k = 0; k < WS_SIZING_SIZES; k++)
		{
			f.size[k] = (k + 1) * 0.5 * GB;
			f.hit_ratio[k] = (k + 1) * 0.01;
		}
		s = sized(&f);
		ok(s.useful == 12 * GB, "useful: with as many sizes as there can be");
		f.sizes = 2;
		f.size[0] = 1000.5 * MB;
		f.size[1] = 2000.5 * MB;
		f.hit_ratio[0] = f.hit_ratio[1] = 0.5;
		s = sized(&f);
		ok(s.useful == 1008 * MB && s.suggested_shared_buffers == 1008 * MB,
		   "useful: as it is written in a setting");
		f.size[0] = 12.8 * MB;
		s = sized(&f);
		ok(s.useful == 128 * MB && s.suggested_shared_buffers == 128 * MB,
		   "useful: not less than the default");

		/* the dead band is that of the verdict */
		f.needed = 15.9 * GB;
		s = ws_sizing(&f, WS_VERDICT_EXCEEDS_MEMORY);
		ok(s.verdict == WS_VERDICT_EXCEEDS_MEMORY && s.useful == 128 * MB &&
		   s.suggested_shared_buffers == 128 * MB, "useful: as long as the verdict is that it exceeds memory");
		s = ws_sizing(&f, WS_VERDICT_KEEP);
		ok(s.verdict == WS_VERDICT_GROW && s.useful == 0 && s.suggested_shared_buffers == 12 * GB,
		   "useful: and not before");
	}

	{
		WsSteady	steady = {WS_VERDICT_NONE, WS_VERDICT_NONE, 0};

		(void) ws_sizing_steady(&steady, WS_VERDICT_KEEP, 1000, 300);
		ok(ws_sizing_steady(&steady, WS_VERDICT_NONE, 1001, 300) == WS_VERDICT_NONE &&
		   ws_sizing_steady(&steady, WS_VERDICT_GROW, 1002, 300) == WS_VERDICT_GROW,
		   "steady: none counts at once, and so does the next");
	}
}

/*
 * ----------------------------------------------------------------
 * Whatever the facts
 * ----------------------------------------------------------------
 */
static double
random_bytes(uint64_t *seed, double least, double most)
{
	return least * exp(random_unit(seed) * log(most / least));
}

static void
test_bounds(void)
{
	enum
	{
		TRIALS = 300000
	};
	uint64_t	seed = 81;
	long		beyond = 0;
	long		too_little = 0;
	long		not_whole = 0;
	long		not_added = 0;
	long		falls_with_needed = 0;
	long		falls_with_memory = 0;
	long		verdicts[5] = {0};
	long		far = 0;

	for (int i = 0; i < TRIALS; i++)
	{
		WsSizingFacts f = {
			.needed = random_below(&seed, 20) ? random_bytes(&seed, 8192, 0x1p53) : 0,
			.shared_buffers = random_bytes(&seed, MB, TB),
			.memory = random_below(&seed, 20) ? random_bytes(&seed, 8 * MB, 4 * TB) : 0,
			.connections = (int) random_below(&seed, 5000),
			.work_mem = random_bytes(&seed, 65536, GB),
			.maintenance = random_below(&seed, 2) ? random_bytes(&seed, MB, 16 * GB) : 0,
			.long_enough = random_below(&seed, 2)
		};
		WsVerdict	before = (WsVerdict) random_below(&seed, 5);
		WsSizing	s = ws_sizing(&f, before);
		WsSizing	other;
		double		most = fmax(0.75 * s.cacheable, MB);

		if (i % 3 == 0)
		{
			f.needed = s.cacheable * (0.9 + 0.2 * random_unit(&seed));
			s = ws_sizing(&f, before);
		}
		verdicts[s.verdict]++;
		beyond += f.memory > 0 && s.suggested_shared_buffers > most;
		beyond += f.memory > 0 && s.suggested_effective_cache_size > fmax(s.cacheable, MB);
		beyond += s.useful > most || s.reserved > f.memory / 2;
		not_added += f.memory > 0 && fabs(s.reserved + s.cacheable - f.memory) > 1e-6 * f.memory;
		too_little += f.memory > 0 && s.suggested_shared_buffers <
			fmin(fmax(f.needed, 128 * MB), floor(most / MB) * MB);
		not_whole += fmod(s.suggested_shared_buffers, MB) != 0 ||
			fmod(s.suggested_effective_cache_size, MB) != 0;
		/* never more than a 64th too much */
		far += f.memory > 0 && s.suggested_shared_buffers >
			fmax(f.needed, 128 * MB) * (1 + 1.0 / 64);

		/* more is needed */
		other = f.memory > 0 ? s : (WsSizing) {0};
		f.needed *= 1 + (i % 2 ? 0.01 : 1) * random_unit(&seed);
		s = ws_sizing(&f, before);
		falls_with_needed += s.suggested_shared_buffers < other.suggested_shared_buffers ||
			s.suggested_effective_cache_size != other.suggested_effective_cache_size;

		/* there is more */
		other = s;
		f.memory *= 1 + (i % 4 < 2 ? 0.01 : 1) * random_unit(&seed);
		s = ws_sizing(&f, before);
		falls_with_memory += s.suggested_shared_buffers < other.suggested_shared_buffers ||
			s.suggested_effective_cache_size < other.suggested_effective_cache_size ||
			s.cacheable < other.cacheable;
	}
	is_int(beyond, 0, "never more is suggested than may be");
	is_int(too_little, 0, "nor less than is needed, or the default, if that may be");
	is_int(far, 0, "nor more than that and a 64th");
	is_int(not_added, 0, "what is reserved and the rest are the memory");
	is_int(not_whole, 0, "whole MB are suggested");
	is_int(falls_with_needed, 0, "if more is needed, no less is suggested");
	is_int(falls_with_memory, 0, "if there is more memory, no less is suggested");
	ok(verdicts[WS_VERDICT_NONE] == 0 && verdicts[WS_VERDICT_GROW] > 1000 &&
	   verdicts[WS_VERDICT_SHRINK] > 1000 && verdicts[WS_VERDICT_KEEP] > 1000 &&
	   verdicts[WS_VERDICT_EXCEEDS_MEMORY] > 1000, "every verdict was given, and always one");
}

/*
 * Noise of 0.1 % moves what is suggested only where a step is near.  Two
 * values are on different sides of one with probability |x1 - x2| / step, if
 * they are anywhere.  Steps are a 64th to a 128th of the size.
 */
static void
test_noise(void)
{
	enum
	{
		TRIALS = 200000
	};
	uint64_t	seed = 82;
	WsSizingFacts f = {.shared_buffers = GB, .memory = 4 * TB};
	double		expected = 0;
	double		variance = 0;
	long		changed = 0;

	for (int i = 0; i < TRIALS; i++)
	{
		double		size = random_bytes(&seed, 256 * MB, TB);
		double		x1 = size * (1 + 0.001 * random_normal(&seed));
		double		x2 = size * (1 + 0.001 * random_normal(&seed));
		double		unit = exp2(ceil(log2(size)) - 7);
		double		p = fmin(fabs(x1 - x2) / unit, 1);
		double		first;

		f.needed = x1;
		first = sized(&f).suggested_shared_buffers;
		f.needed = x2;
		changed += sized(&f).suggested_shared_buffers != first;
		expected += p;
		variance += p * (1 - p);
	}
	ok(fabs(changed - expected) <= K_SIGMA * sqrt(variance) && expected / TRIALS < 0.11,
	   "noise of 0.1 %% changes what is suggested %.2f times in a hundred, expected %.2f",
	   100.0 * changed / TRIALS, 100 * expected / TRIALS);
}

/*
 * ----------------------------------------------------------------
 * The verdict
 * ----------------------------------------------------------------
 */
static const char *
named(WsVerdict verdict)
{
	return verdict == WS_VERDICT_NONE ? "none" : ws_verdict_name(verdict);
}

static void
test_verdict(void)
{
	static const struct
	{
		const char *name;
		double		needed;			/* GB */
		double		shared_buffers; /* GB */
		double		memory;			/* GB */
		bool		long_enough;
		WsVerdict	before;
		WsVerdict	want;
	}			table[] = {
		{"all is well", 2, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_KEEP},
		{"much more is needed", 4, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_GROW},
		{"a little more is needed", 2.1, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_KEEP},
		{"much less is needed", 2, 8, 16, true, WS_VERDICT_NONE, WS_VERDICT_SHRINK},
		{"much less, but that may change", 2, 8, 16, false, WS_VERDICT_NONE, WS_VERDICT_KEEP},
		{"much less, but that may change, whatever was said", 2, 8, 16, false,
		WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{"a little less is needed", 6, 8, 16, true, WS_VERDICT_NONE, WS_VERDICT_KEEP},
		{"more than there is", 17, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_EXCEEDS_MEMORY},
		{"more than there is, but all is given", 17, 12, 16, false, WS_VERDICT_NONE,
		WS_VERDICT_EXCEEDS_MEMORY},
		{"all there is", 16, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_GROW},
		{"all there is, and as much is given as may be", 16, 12, 16, true, WS_VERDICT_NONE,
		WS_VERDICT_KEEP},
		{"the largest need", 0x1p23, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_EXCEEDS_MEMORY},
		{"nothing is needed", 0, 2, 16, true, WS_VERDICT_NONE, WS_VERDICT_SHRINK},
		{"nothing is needed, of the default", 0, 0.125, 16, true, WS_VERDICT_NONE, WS_VERDICT_KEEP},
		{"nothing is needed, of less than the default", 0, 0.0625, 16, true, WS_VERDICT_NONE,
		WS_VERDICT_KEEP},
		{"half is needed of half the default", 0.03125, 0.0625, 16, true, WS_VERDICT_NONE,
		WS_VERDICT_KEEP},
		{"more is needed than half the default, and memory has no more", 0.08, 0.0625, 0.085, true,
		WS_VERDICT_NONE, WS_VERDICT_KEEP},
		{"a third more is needed than half the default", 0.08, 0.0625, 16, true, WS_VERDICT_NONE,
		WS_VERDICT_GROW},
		{"memory is not known, and much more is needed", 4, 2, 0, true, WS_VERDICT_NONE,
		WS_VERDICT_GROW},
		{"memory is not known, and less", 0.5, 2, 0, true, WS_VERDICT_NONE, WS_VERDICT_SHRINK},
		{"memory is not known, and it is well", 2, 2, 0, true, WS_VERDICT_EXCEEDS_MEMORY,
		WS_VERDICT_KEEP},
		{"memory is not known, and however much is needed", 0x1p23, 2, 0, true,
		WS_VERDICT_EXCEEDS_MEMORY, WS_VERDICT_GROW},
		{"too much is given", 2, 14, 16, true, WS_VERDICT_GROW, WS_VERDICT_SHRINK},
		{"too little is given", 8, 2, 16, true, WS_VERDICT_SHRINK, WS_VERDICT_GROW},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {
			.needed = table[i].needed * GB, .shared_buffers = table[i].shared_buffers * GB,
			.memory = table[i].memory * GB, .long_enough = table[i].long_enough
		};
		WsVerdict	got = ws_sizing(&f, table[i].before).verdict;

		ok(got == table[i].want, "verdict: %s: %s", table[i].name, named(got));
	}
}

/*
 * Walk what is needed up or down by small steps; the ratio to "all" at which
 * the verdict first is another.
 */
static double
flips(WsSizingFacts f, double all, double from, double to, WsVerdict start, WsVerdict *next)
{
	WsVerdict	verdict = start;

	for (int i = 0; i <= 20000 && verdict == start; i++)
	{
		f.needed = all * (from + (to - from) * i / 20000);
		verdict = ws_sizing(&f, verdict).verdict;
	}
	*next = verdict;
	return f.needed / all;
}

static void
test_bands(void)
{
	/*
	 * What is needed as a share of 32 GB, of which half is set, or of all the
	 * memory.  What is suggested is in steps of up to 1.6 %, upward, so it is
	 * reached by that much less.
	 */
	static const struct
	{
		const char *name;
		bool		of_memory;
		double		from;
		double		to;
		WsVerdict	start;
		WsVerdict	next;
		double		low;
		double		high;
	}			table[] = {
		{"grow: from a fifth more", false, 1, 2, WS_VERDICT_KEEP, WS_VERDICT_GROW, 1.18, 1.2},
		{"grow: down to a twentieth more", false, 2, 1, WS_VERDICT_GROW, WS_VERDICT_KEEP, 1.03, 1.05},
		{"shrink: from half", false, 1, 0.2, WS_VERDICT_KEEP, WS_VERDICT_SHRINK, 0.49, 0.5},
		{"shrink: up to seven tenths", false, 0.2, 1, WS_VERDICT_SHRINK, WS_VERDICT_KEEP, 0.69, 0.7},
		{"exceeds memory: more than all", true, 0.5, 2, WS_VERDICT_GROW,
		WS_VERDICT_EXCEEDS_MEMORY, 1, 1.0001},
		{"exceeds memory: down to a twentieth less", true, 2, 0.5, WS_VERDICT_EXCEEDS_MEMORY,
		WS_VERDICT_GROW, 0.9499, 0.95},
	};
	uint64_t	seed = 83;
	WsVerdict	verdict = WS_VERDICT_NONE;
	long		changes = 0;
	long		flips_here = 0;
	WsSizingFacts f = {.shared_buffers = 16 * GB, .memory = 128 * GB, .long_enough = true};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsVerdict	next;
		double		all = table[i].of_memory ? 128 * GB : 16 * GB;
		double		at = flips(f, all, table[i].from, table[i].to, table[i].start, &next);

		ok(next == table[i].next && at >= table[i].low && at <= table[i].high,
		   "band: %s: at %.4f it becomes %s", table[i].name, at, named(next));
	}

	/* without rounding, to the bit */
	f.memory = 0;
	f.shared_buffers = GB;
	{
		static const struct
		{
			WsVerdict	before;
			double		ratio;
			WsVerdict	at;
			WsVerdict	above;
		}			exact[] = {
			{WS_VERDICT_NONE, 1.2, WS_VERDICT_KEEP, WS_VERDICT_GROW},
			{WS_VERDICT_KEEP, 1.2, WS_VERDICT_KEEP, WS_VERDICT_GROW},
			{WS_VERDICT_SHRINK, 1.2, WS_VERDICT_KEEP, WS_VERDICT_GROW},
			{WS_VERDICT_EXCEEDS_MEMORY, 1.2, WS_VERDICT_KEEP, WS_VERDICT_GROW},
			{WS_VERDICT_GROW, 1.05, WS_VERDICT_KEEP, WS_VERDICT_GROW},
			{WS_VERDICT_NONE, 0.5 - 1e-12, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
			{WS_VERDICT_KEEP, 0.5 - 1e-12, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
			{WS_VERDICT_GROW, 0.5 - 1e-12, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
			{WS_VERDICT_EXCEEDS_MEMORY, 0.5 - 1e-12, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
			{WS_VERDICT_SHRINK, 0.7 - 1e-12, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		};

		for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		{
			WsVerdict	at;
			WsVerdict	above;

			f.needed = exact[i].ratio * GB;
			at = ws_sizing(&f, exact[i].before).verdict;
			f.needed = (exact[i].ratio + 2e-12) * GB;
			above = ws_sizing(&f, exact[i].before).verdict;
			ok(at == exact[i].at && above == exact[i].above,
			   "band: after %s, %s at %.2f and %s above", named(exact[i].before), named(at),
			   exact[i].ratio, named(above));
		}
	}

	/*
	 * Where a single threshold would change the verdict, noise of 2 % does so
	 * no more than once.
	 */
	f.memory = 128 * GB;
	f.shared_buffers = 16 * GB;
	for (int center = 0; center < 3; center++)
	{
		static const double centers[] = {1.2 * 16, 0.5 * 16, 128};

		verdict = WS_VERDICT_NONE;
		flips_here = 0;
		for (int i = 0; i < 5000; i++)
		{
			WsVerdict	next;

			f.needed = centers[center] * GB * (0.98 + 0.04 * random_unit(&seed));
			next = ws_sizing(&f, verdict).verdict;
			flips_here += verdict != WS_VERDICT_NONE && next != verdict;
			verdict = next;
		}
		changes += flips_here > 1;
	}
	is_int(changes, 0, "band: noise around a threshold changes the verdict once at most");
}

static void
test_steady(void)
{
	/* a letter for each minute: what is heard, and what counts; patience of 5 */
	static const struct
	{
		const char *name;
		int			patience;		/* seconds */
		const char *heard;
		const char *want;
	}			table[] = {
		{"the first counts at once", 300, "G", "G"},
		{"whatever it is", 300, "K", "K"},
		{"and stays", 300, "GGGGGGGGGG", "GGGGGGGGGG"},
		{"another counts when it has lasted", 300, "KGGGGGGG", "KKKKKKGG"},
		{"if it is interrupted, it begins anew", 300, "KGGGGGKGGGGGGG", "KKKKKKKKKKKKGG"},
		{"also by a third", 300, "KGGGGGSGGGGGGG", "KKKKKKKKKKKKGG"},
		{"which has to last itself", 300, "KGGGGGSSSSSSS", "KKKKKKKKKKKSS"},
		{"back and forth each minute", 300, "KGKGKGKGKGKGKGKGKG", "KKKKKKKKKKKKKKKKKK"},
		{"among three", 300, "KGSGSGSGSGSGSGSG", "KKKKKKKKKKKKKKKK"},
		{"among all", 300, "KGSEGSEGSEGSEGSE", "KKKKKKKKKKKKKKKK"},
		{"and then back, when that has lasted", 300, "KGGGGGGKKKKKKK", "KKKKKKGGGGGGKK"},
		{"with no patience at all", 0, "KGSEK", "KGSEK"},
		{"with little", 60, "KGGSS", "KKGGS"},
		{"with a little more than a minute", 61, "KGGGSS", "KKKGGG"},
		{"nothing before is nothing to keep to", 300, "---G", "---G"},
	};
	WsSteady	steady = {0};
	uint64_t	seed = 84;
	long		wrong = 0;
	long		changed = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		static const char letters[] = "-GSKE";
		char		got[32] = "";

		memset(&steady, 0, sizeof(steady));
		for (int k = 0; table[i].heard[k]; k++)
		{
			WsVerdict	heard = (WsVerdict) (strchr(letters, table[i].heard[k]) - letters);
			WsVerdict	counts = ws_sizing_steady(&steady, heard, 1000 + 60 * k, table[i].patience);

			got[k] = letters[counts];
			wrong += counts != steady.verdict;
		}
		ok(strcmp(got, table[i].want) == 0, "steady: %s: %s is %s", table[i].name,
		   table[i].heard, got);
	}

	/* to the second, from any time on */
	memset(&steady, 0, sizeof(steady));
	(void) ws_sizing_steady(&steady, WS_VERDICT_KEEP, -500, 300);
	(void) ws_sizing_steady(&steady, WS_VERDICT_GROW, -400, 300);
	ok(ws_sizing_steady(&steady, WS_VERDICT_GROW, -101, 300) == WS_VERDICT_KEEP &&
	   ws_sizing_steady(&steady, WS_VERDICT_GROW, -100, 300) == WS_VERDICT_GROW,
	   "steady: to the second");

	/* at random: another has been heard at every moment of the last so many */
	for (int trial = 0; trial < 300; trial++)
	{
		int64_t		now = random_below(&seed, 1000);
		int64_t		patience = random_below(&seed, 400);
		WsVerdict	heard[60];
		int64_t		at[60];
		WsVerdict	counts = WS_VERDICT_NONE;
		int			since = 0;	/* it counts, so nothing from before does */

		memset(&steady, 0, sizeof(steady));
		for (int i = 0; i < 60; i++)
		{
			int			first = i;

			now += random_below(&seed, 90);
			at[i] = now;
			heard[i] = i > 0 && random_below(&seed, 4) > 0 ? heard[i - 1] :
				(WsVerdict) (1 + random_below(&seed, 4));
			while (first > since && heard[first - 1] == heard[i])
				first--;
			if (i == 0 || (heard[i] != counts && now - at[first] >= patience))
			{
				changed += i > 0;
				counts = heard[i];
				since = i;
			}
			wrong += ws_sizing_steady(&steady, heard[i], now, patience) != counts;
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
		{640 * MB, "640MB"}, {MB, "1MB"}, {0, "1MB"}, {8192, "1MB"}, {1.4 * MB, "1MB"},
		{1.6 * MB, "2MB"}, {16 * GB, "16384MB"}, {640 * MB - 1, "640MB"}, {640 * MB + 1, "640MB"},
		{4 * TB, "4194304MB"}, {0x1p53, "8589934592MB"},
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

	is_string(ws_verdict_name(WS_VERDICT_GROW), "grow", "a verdict");
	is_string(ws_verdict_name(WS_VERDICT_SHRINK), "shrink", "a verdict");
	is_string(ws_verdict_name(WS_VERDICT_KEEP), "keep", "a verdict");
	is_string(ws_verdict_name(WS_VERDICT_EXCEEDS_MEMORY), "exceeds memory", "a verdict");
	ok(ws_verdict_name(WS_VERDICT_NONE) == NULL, "no verdict has no name");
}

int
main(void)
{
	WsSizingFacts f = usual();
	WsSizing	s;

	plan(153);
	s = sized(&f);
	ok(s.reserved == GB + 0 * MB && s.cacheable == 15 * GB && s.useful == 0 &&
	   s.suggested_shared_buffers == 2 * GB && s.suggested_effective_cache_size == 15 * GB &&
	   s.verdict == WS_VERDICT_KEEP, "a usual server");
	test_reserve();
	test_suggested();
	test_useful();
	test_bounds();
	test_noise();
	test_verdict();
	test_bands();
	test_steady();
	test_words();
	return done();
}
