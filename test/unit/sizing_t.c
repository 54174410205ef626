/*
 * sizing_t.c
 *		Tests of the split of memory and of the verdict.
 *
 * The rule is written a second time, from the text of sizing.h, and compared
 * for random facts; tables show its promises and its limits.
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

static double
naive_worth(const WsSizingFacts *f, int i)
{
	return f->wait_cost > 0 ? f->hit_ratio[i] - f->wait_cost * f->waits[i] : f->hit_ratio[i];
}

/* half a percent, and a twentieth of the waits of the size, or of the one below */
static double
naive_slack(const WsSizingFacts *f, double bytes, double least)
{
	double		waits = 0;

	for (int i = 0; i < f->sizes && bytes <= f->size[f->sizes - 1]; i++)
		if (f->size[i] <= bytes)
			waits = f->waits[i];
	return f->wait_cost > 0 ? least + f->wait_cost * waits / 20 : least;
}

/* NaN unless both neighbours, or the size itself, are known */
static double
naive_ratio(const WsSizingFacts *f, double bytes)
{
	int			above = 0;
	double		part;

	while (above < f->sizes && f->size[above] < bytes)
		above++;
	if (above == f->sizes || (above == 0 && f->size[0] > bytes))
		return NAN;
	if (f->size[above] == bytes)
		return naive_worth(f, above);
	part = (f->size[above] - bytes) / (f->size[above] - f->size[above - 1]);
	return part * naive_worth(f, above - 1) + (1 - part) * naive_worth(f, above);
}

/* what is as good as the best; NaN: nothing is known */
static double
naive_enough(const WsSizingFacts *f, double most)
{
	int			best = -1;

	for (int i = 0; i < f->sizes; i++)
		if (f->size[i] <= most && !isnan(naive_worth(f, i)) &&
			(best < 0 || naive_worth(f, i) > naive_worth(f, best)))
			best = i;
	return best < 0 ? NAN : naive_worth(f, best) - naive_slack(f, f->size[best], 0.005);
}

/* the first from a size on that is as good as the best; NaN: none */
static double
naive_good(const WsSizingFacts *f, double least, double most)
{
	double		enough = naive_enough(f, most);

	if (naive_ratio(f, least) >= enough)
		return least;
	for (int i = 0; i < f->sizes; i++)
		if (f->size[i] >= least && f->size[i] <= most && naive_worth(f, i) >= enough)
			return f->size[i];
	return NAN;
}

static WsSizing
naive_sizing(const WsSizingFacts *f, WsVerdict before)
{
	WsSizing	s = {.verdict = WS_VERDICT_KEEP};
	bool		exceeds = false;
	bool		no_gain = false;
	double		most = INFINITY;
	double		suggested;
	double		ratio;
	double		gain;
	double		next = INFINITY;

	if (f->memory > 0)
	{
		s.reserved = f->connections * (2 * MB + f->work_mem) + f->maintenance;
		if (s.reserved > f->memory / 2)
			s.reserved = f->memory / 2;
		s.cacheable = f->memory - s.reserved;
		most = fmax(floor(s.cacheable * 3 / 4 / MB) * MB, MB);
		exceeds = f->needed > s.cacheable ||
			(before == WS_VERDICT_EXCEEDS_MEMORY && f->needed > 0.95 * s.cacheable);
		s.suggested_effective_cache_size =
			fmax(floor((s.cacheable < 0.75 * f->memory ? s.cacheable : 0.75 * f->memory) / MB) * MB, MB);
	}
	if (exceeds)
	{
		/* of the possible sizes, the largest that is known is no answer */
		int			last = -1;
		double		good = naive_good(f, fmin(128 * MB, most), most);

		for (int i = 0; i < f->sizes; i++)
			if (f->size[i] <= most && !isnan(naive_worth(f, i)))
				last = i;
		suggested = isnan(good) || good == f->size[last] ? most : good;
		gain = naive_ratio(f, isnan(good) ? most : good) - naive_ratio(f, f->shared_buffers);
		if (f->sizes == 0)
			suggested = most;
		else if (suggested > f->shared_buffers ?
				 !(gain > naive_slack(f, isnan(good) ? most : good, 0.005)) :
				 !f->long_enough || suggested >= 0.55 * f->shared_buffers)
			suggested = fmin(f->shared_buffers, most);
	}
	else
	{
		double		floor = fmax(f->needed, 128 * MB);

		if (f->stored > floor)
			floor = fmax(floor, fmin(f->stored, f->shared_buffers));
		/* a size that is known, up to a tenth above */
		for (int i = f->sizes - 1; i >= 0; i--)
			if (f->size[i] >= floor)
				next = f->size[i];
		floor = fmin(next <= 1.1 * floor ? next : floor, most);
		s.simulate = floor;
		suggested = naive_good(f, floor, most);
		if (isnan(suggested))
			suggested = floor;
		if (!f->long_enough && suggested > floor && suggested > f->shared_buffers)
			suggested = floor > f->shared_buffers ? floor : f->shared_buffers;
	}
	gain = naive_ratio(f, suggested) - naive_ratio(f, f->shared_buffers);
	if (!exceeds && suggested > f->shared_buffers &&
		gain <= naive_slack(f, suggested, before == WS_VERDICT_GROW ? 0.004 : 0.005))
	{
		no_gain = true;
		suggested = f->shared_buffers;
	}
	/* the present size may be any */
	if (suggested != f->shared_buffers)
		suggested = fmin(naive_round(suggested), most);
	if (f->memory > 0)
		s.suggested_shared_buffers = suggested;
	ratio = suggested / f->shared_buffers;
	s.useful = exceeds ? s.suggested_shared_buffers : 0;
	s.kept = no_gain ? WS_KEPT_NO_GAIN : WS_KEPT_FITS;
	if (exceeds)
		s.verdict = WS_VERDICT_EXCEEDS_MEMORY;
	else if (ratio > (before == WS_VERDICT_GROW ? 1.05 : 1.2) &&
			 (suggested > 128 * MB ||
			  f->needed / f->shared_buffers > (before == WS_VERDICT_GROW ? 1.05 : 1.2)))
		s.verdict = WS_VERDICT_GROW;
	else if (ratio < (before == WS_VERDICT_SHRINK ? 0.7 : 0.55))
	{
		if (!f->long_enough)
			s.kept = WS_KEPT_SHORT_HISTORY;
		else if (isnan(gain) || !(gain >= -naive_slack(f, f->shared_buffers, 0.005)))
			s.kept = WS_KEPT_NOT_KNOWN;
		else
			s.verdict = WS_VERDICT_SHRINK;
	}
	return s;
}

static void
test_rule(void)
{
	const int	n = trials(300000);
	uint64_t	seed = seeded(81);
	long		wrong = 0;
	long		beyond = 0;
	long		below = 0;
	long		falls_with_needed = 0;
	long		falls_with_memory = 0;
	long		verdicts[5] = {0};
	long		kept[5] = {0};
	long		useful = 0;

	for (int i = 0; i < n; i++)
	{
		WsSizingFacts f = {
			.needed = random_below(&seed, 20) ? random_bytes(&seed, 8192, 8192 * TB) : 0,
			.stored = random_below(&seed, 2) ? random_bytes(&seed, 8192, TB) : 0,
			.shared_buffers = random_bytes(&seed, MB, TB),
			.memory = random_below(&seed, 20) ? random_bytes(&seed, MB / 2, 4 * TB) : 0,
			.connections = (int) random_below(&seed, 5000),
			.work_mem = random_bytes(&seed, 65536, GB),
			.maintenance = random_below(&seed, 2) ? random_bytes(&seed, MB, 16 * GB) : 0,
			.long_enough = random_below(&seed, 2),
			.sizes = (int) random_below(&seed, 25),
			.wait_cost = random_below(&seed, 3) ? 0 : 50
		};
		WsVerdict	before = (WsVerdict) random_below(&seed, 5);
		double		size = random_bytes(&seed, MB, f.memory + 2 * MB);
		double		ratio = random_unit(&seed) / 2;
		double		steep = random_below(&seed, 2) ? 1 : 0.01;
		WsSizing	s;
		WsSizing	want;
		WsSizing	other;

		for (int k = 0; k < f.sizes; k++)
		{
			f.size[k] = size *= 1 + random_unit(&seed) / 2;
			ratio += steep * (random_below(&seed, 3) ? 0.002 * random_unit(&seed) : 0.02);
			f.hit_ratio[k] = random_below(&seed, 6) ? ratio : NAN;
			f.waits[k] = random_below(&seed, 40) ? (1 - ratio) * random_unit(&seed) / 100 : NAN;
		}
		/* often near a limit */
		s = naive_sizing(&f, before);
		if (i % 3 == 0)
			f.needed = s.cacheable * (0.9 + 0.2 * random_unit(&seed));
		else if (i % 3 == 1)
			f.needed = f.shared_buffers * (0.4 + random_unit(&seed));

		/* and of sizes that are known */
		if (random_below(&seed, 2))
		{
			f.shared_buffers = f.sizes > 0 ? f.size[f.sizes / 2] * (0.9 + random_unit(&seed)) : GB;
			f.needed = f.shared_buffers * (0.2 + 2 * random_unit(&seed));
		}

		s = ws_sizing(&f, before);
		want = naive_sizing(&f, before);
		wrong += s.verdict != want.verdict || s.kept != want.kept || fabs(s.reserved - want.reserved) > 1e-9 * want.reserved ||
			fabs(s.cacheable - want.cacheable) > 1e-9 * want.cacheable ||
			s.suggested_shared_buffers != want.suggested_shared_buffers ||
			s.suggested_effective_cache_size != want.suggested_effective_cache_size ||
			s.useful != want.useful || s.simulate != want.simulate || s.fits != (f.needed <= 1.2 * f.shared_buffers);
		verdicts[s.verdict]++;
		kept[s.kept]++;
		useful += s.useful > 0 && s.useful < 0.7 * s.cacheable;
		if (f.memory == 0)
			continue;
		beyond += s.suggested_shared_buffers > fmax(0.75 * s.cacheable, MB) ||
			s.suggested_effective_cache_size > fmax(0.75 * f.memory, MB);
		below += s.verdict == WS_VERDICT_SHRINK &&
			s.suggested_shared_buffers < fmin(fmax(f.needed, f.stored), floor(0.75 * s.cacheable / MB) * MB);

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
	is_int(beyond, 0, "rule: no more is suggested than may be");
	is_int(below, 0, "rule: shrink is not below what was ever needed");
	is_int(falls_with_needed, 0, "rule: if more is needed, no less is suggested");
	is_int(falls_with_memory, 0, "rule: if there is more memory, no less is suggested");
	ok(verdicts[WS_VERDICT_NONE] == 0 && verdicts[WS_VERDICT_GROW] > n / 1000 &&
	   verdicts[WS_VERDICT_SHRINK] > n / 1000 && verdicts[WS_VERDICT_KEEP] > n / 1000 &&
	   verdicts[WS_VERDICT_EXCEEDS_MEMORY] > n / 1000 && useful > n / 1000 && kept[WS_KEPT_NO_GAIN] > n / 1000 &&
	   kept[WS_KEPT_SHORT_HISTORY] > n / 1000 && kept[WS_KEPT_NOT_KNOWN] > n / 1000,
	   "rule: all of it happened (%ld grow, %ld shrink, %ld keep, %ld exceed memory, %ld useful; %ld no gain, %ld short, %ld not known)",
	   verdicts[WS_VERDICT_GROW], verdicts[WS_VERDICT_SHRINK], verdicts[WS_VERDICT_KEEP],
	   verdicts[WS_VERDICT_EXCEEDS_MEMORY], useful, kept[WS_KEPT_NO_GAIN],
	   kept[WS_KEPT_SHORT_HISTORY], kept[WS_KEPT_NOT_KNOWN]);
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

		ok(s.reserved == GB && s.cacheable == 15 * GB,
		   "of 16 GB one is reserved for processes, and 15 are for the caches");
		is_within(s.suggested_effective_cache_size, 12 * GB, 0,
				  "effective_cache_size is three quarters of the memory");
		f.connections = 1000;
		is_within(ws_sizing(&f, WS_VERDICT_NONE).suggested_effective_cache_size, 16 * GB -
				  1000 * 6 * MB - 424 * MB, 0, "or the rest, if that is less");
		f.connections = 100;
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
		{"there is no sample: all that may be", 0, {0}, {0}, 12},
		{"a curve that rises to the end", 4, {2, 4, 8, 12}, {.5, .6, .8, .9}, 12},
		{"what is too large does not count", 5, {2, 4, 8, 12, 20}, {.2, .2, .2, .2, .9}, 2},
		{"rising, then flat", 5, {2, 4, 8, 10, 12}, {.5, .7, .9, .903, .904}, 8},
		{"half a percent less is as good", 3, {2, 4, 8}, {.8, .9 - .005, .9}, 4},
		{"more than that is not, and 8 may not be the best", 3, {2, 4, 8}, {.8, .895, .9 + 1e-9}, 12},
		{"more than that is not, and 8 is the best", 4, {2, 4, 8, 9}, {.8, .895, .9 + 1e-9, .9 + 1e-9}, 8},
		{"some are not known", 5, {2, 4, 6, 8, 12}, {.5, NAN, .9, .902, NAN}, 6},
		{"none is known: the present size", 3, {2, 4, 8}, {NAN, NAN, NAN}, 2},
		{"none is small enough", 3, {13, 14, 18}, {.5, .6, .7}, 2},
		{"not less than the default", 2, {.01, 2}, {.5, .5}, .125},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {.needed = 20 * GB, .shared_buffers = 2 * GB, .memory = 16 * GB,
		.long_enough = true, .sizes = table[i].sizes};

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
/* every size has the same hit ratio */
static void
make_flat(WsSizingFacts *f)
{
	f->sizes = 2;
	f->size[0] = 1;
	f->size[1] = 8192 * TB;
	f->hit_ratio[0] = f->hit_ratio[1] = 0.9;
}

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

		if (table[i].want == WS_VERDICT_SHRINK)
			make_flat(&f);
		is_string(named(ws_sizing(&f, WS_VERDICT_NONE).verdict), named(table[i].want), table[i].name);
	}
}

/*
 * 8 GB of shared buffers, of 64, and hit ratios by size: what is suggested, in
 * GB, the verdict, and why it is keep.
 */
static void
test_hit_ratios(void)
{
	static const struct
	{
		const char *name;
		double		needed;		/* GB */
		double		stored;		/* GB */
		bool		short_history;
		double		ratio[6];	/* of 1, 2, 4, 8, 16, 32 GB */
		double		want;		/* GB */
		WsVerdict	verdict;
		WsKept		kept;
	}			table[] = {
		{"more is needed, and would help", 16, 16, false, {.1, .2, .3, .5, .9, .9},
		16, WS_VERDICT_GROW, WS_KEPT_FITS},
		{"more is needed, and would not help", 16, 16, false, {.9, .9, .9, .9, .9049, .9049},
		8, WS_VERDICT_KEEP, WS_KEPT_NO_GAIN},
		{"it helps by more than half a percent", 16, 16, false, {.9, .9, .9, .9, .906, .906},
		16, WS_VERDICT_GROW, WS_KEPT_FITS},
		{"what is needed goes through a ring, and does not at twice the size", 16, 16, false,
		{.02, .02, .02, .02, .07, .99}, 32, WS_VERDICT_GROW, WS_KEPT_FITS},
		{"what is needed fits, but goes through a ring", 2, 2, false,
		{.02, .02, .03, .03, .99, .99}, 16, WS_VERDICT_GROW, WS_KEPT_FITS},
		{"not beyond what is needed in the first week", 12, 12, true,
		{.02, .02, .02, .02, .07, .99}, 12, WS_VERDICT_GROW, WS_KEPT_FITS},
		{"nor beyond the present size", 2, 2, true,
		{.02, .02, .03, .03, .99, .99}, 8, WS_VERDICT_KEEP, WS_KEPT_FITS},
		{"it went through a ring if there were less", 2, 2, false,
		{.02, .02, .03, .99, .99, .99}, 8, WS_VERDICT_KEEP, WS_KEPT_FITS},
		{"less is needed, and enough", 2, 2, false, {.1, .9, .9, .9, .9, .9},
		2, WS_VERDICT_SHRINK, WS_KEPT_FITS},
		{"and half a percent less hits do not matter", 2, 2, false, {.1, .8951, .9, .9, .9, .9},
		2, WS_VERDICT_SHRINK, WS_KEPT_FITS},
		{"but more do", 2, 2, false, {.1, .894, .894, .9, .9, .9},
		8, WS_VERDICT_KEEP, WS_KEPT_FITS},
		{"not in the first week", 2, 2, true, {.1, .9, .9, .9, .9, .9},
		2, WS_VERDICT_KEEP, WS_KEPT_SHORT_HISTORY},
		{"not below what was needed weeks ago", 2, 6, false, {.1, .9, .9, .9, .9, .9},
		6, WS_VERDICT_KEEP, WS_KEPT_FITS},
		{"what was needed weeks ago asks for no more", 8, 32, false, {.1, .2, .3, .9, .9, .9},
		8, WS_VERDICT_KEEP, WS_KEPT_FITS},
		{"if what is needed is not known, the next that is", 1, 1, false, {NAN, NAN, .9, .9, .9, .9},
		4, WS_VERDICT_SHRINK, WS_KEPT_FITS},
		{"if nothing is known, keep", 2, 2, false, {NAN, NAN, NAN, NAN, NAN, NAN},
		2, WS_VERDICT_KEEP, WS_KEPT_NOT_KNOWN},
		{"if nothing is known, grow", 16, 16, false, {NAN, NAN, NAN, NAN, NAN, NAN},
		16, WS_VERDICT_GROW, WS_KEPT_FITS},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		WsSizingFacts f = {
			.needed = table[i].needed * GB, .stored = table[i].stored * GB,
			.shared_buffers = 8 * GB, .memory = 64 * GB,
			.long_enough = !table[i].short_history, .sizes = 6
		};
		WsSizing	s;

		for (int k = 0; k < 6; k++)
		{
			f.size[k] = ldexp(GB, k);
			f.hit_ratio[k] = table[i].ratio[k];
		}
		s = ws_sizing(&f, WS_VERDICT_NONE);
		ok(s.suggested_shared_buffers == table[i].want * GB && s.verdict == table[i].verdict &&
		   s.kept == table[i].kept, "hit ratios: %s: %s, %g GB, %d", table[i].name, named(s.verdict),
		   s.suggested_shared_buffers / GB, s.kept);
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
		{0.55, WS_VERDICT_NONE, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.55, WS_VERDICT_KEEP, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.55, WS_VERDICT_GROW, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.55, WS_VERDICT_EXCEEDS_MEMORY, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
		{0.7, WS_VERDICT_SHRINK, WS_VERDICT_SHRINK, WS_VERDICT_KEEP},
	};
	static const double centers[] = {1.2 * 16, 0.5 * 16, 128};
	WsSizingFacts f = {.shared_buffers = GB, .long_enough = true};
	uint64_t	seed = seeded(83);

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		/* whole MB of 4 GB: in steps of 32 */
		double		step = 32 * MB;
		WsVerdict	at;
		WsVerdict	above;

		f.shared_buffers = 4 * GB / table[i].ratio;
		f.needed = 4 * GB - (table[i].ratio < 1 ? step : 0);
		f.sizes = 0;
		if (table[i].ratio < 1)
			make_flat(&f);
		at = ws_sizing(&f, table[i].before).verdict;
		f.needed += step;
		if (table[i].ratio < 1)
			f.needed = 4 * GB;
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

		f.sizes = 0;
		if (c == 1)
			make_flat(&f);
		for (int i = 0; i < 5000; i++)
		{
			WsVerdict	before = verdict;

			f.needed = centers[c] * GB * (0.98 + 0.04 * random_unit(&seed));
			verdict = ws_sizing(&f, verdict).verdict;
			changes += before != WS_VERDICT_NONE && verdict != before;
		}
		ok(changes <= 1, "band: noise of 2 %% around %g GB changes the verdict once at most", centers[c]);
	}

	/* 8 GB are as good as 16, nearly: the gain is at the half percent */
	f = (WsSizingFacts)
	{
		.needed = 16 * GB, .shared_buffers = 8 * GB, .sizes = 2, .size =
		{
			8		   *GB,
						16 * GB
		}
	};
	f.hit_ratio[0] = 0.9;
	f.hit_ratio[1] = 0.9045;
	ok(ws_sizing(&f, WS_VERDICT_KEEP).verdict == WS_VERDICT_KEEP &&
	   ws_sizing(&f, WS_VERDICT_GROW).verdict == WS_VERDICT_GROW,
	   "band: a gain of 0.45 %% does not begin grow, nor end it");
}

/* Keep waits for 100 seconds, shrink for 2 days, and others for 10 minutes. */
static WsSizing
give(WsSteady *steady, WsVerdict verdict, double suggested, int minute)
{
	WsSizing	s = {.verdict = verdict, .suggested_shared_buffers = suggested};

	ws_sizing_steady(steady, &s, 60 * (int64_t) minute, 100);
	return s;
}

/* A letter for each minute: what is given, and what counts. */
static void
test_steady(void)
{
	static const struct
	{
		const char *name;
		const char *given;
		const char *want;
	}			table[] = {
		{"the first is keep", "KKK", "KKK"},
		{"grow when it has lasted", "GGGGGGGGGGGG", "KKKKKKKKKKGG"},
		{"also after keep", "KGGGGGGGGGGGG", "KKKKKKKKKKKGG"},
		{"if it is interrupted, it starts over", "GGGGGGGGGKGGGGGGGGGGG", "KKKKKKKKKKKKKKKKKKKKG"},
		{"also by a third, which has to last itself", "GGGGGGGGGEEEEEEEEEEE", "KKKKKKKKKKKKKKKKKKKE"},
		{"keep sooner than the others", "GGGGGGGGGGGKKKKKK", "KKKKKKKKKKGGGKKKK"},
		{"keep as soon, if less would do", "GGGGGGGGGGGSSSSS", "KKKKKKKKKKGGGKKK"},
		{"shrink later", "SSSSSSSSSSSSSSSSSS", "KKKKKKKKKKKKKKKKKK"},
		{"none counts at once, and starts over", "GGGGGGGGGGG-GG", "KKKKKKKKKKG-KK"},
	};
	static const char letters[] = "-GSKE";
	WsSteady	steady;
	WsSizing	s = {0};
	int			changes = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		char		got[32] = "";

		memset(&steady, 0, sizeof(steady));
		for (int k = 0; table[i].given[k]; k++)
		{
			s = give(&steady, (WsVerdict) (strchr(letters, table[i].given[k]) - letters), GB, k - 2);
			got[k] = letters[s.verdict];
		}
		is_string(got, table[i].want, table[i].name);
	}

	memset(&steady, 0, sizeof(steady));
	(void) give(&steady, WS_VERDICT_SHRINK, GB, 0);
	s = give(&steady, WS_VERDICT_SHRINK, GB, 2 * 1440 - 1);
	ok(s.verdict == WS_VERDICT_KEEP && s.kept == WS_KEPT_WAITING &&
	   give(&steady, WS_VERDICT_SHRINK, GB, 2 * 1440).verdict == WS_VERDICT_SHRINK,
	   "shrink counts after two days");

	/* what a verdict asks for does not change when it is over */
	memset(&steady, 0, sizeof(steady));
	for (int k = 0; k <= 10; k++)
		s = give(&steady, WS_VERDICT_EXCEEDS_MEMORY, 8 * GB, k);
	ok(s.verdict == WS_VERDICT_EXCEEDS_MEMORY && s.suggested_shared_buffers == 8 * GB, "more than there is is needed");
	s = give(&steady, WS_VERDICT_SHRINK, 2 * GB, 11);
	ok(s.verdict == WS_VERDICT_EXCEEDS_MEMORY && s.suggested_shared_buffers == 8 * GB, "no longer: for a moment that stays, and its size");
	s = give(&steady, WS_VERDICT_SHRINK, 2 * GB, 13);
	ok(s.verdict == WS_VERDICT_KEEP && s.kept == WS_KEPT_WAITING && s.suggested_shared_buffers == 2 * GB,
	   "then nothing is to be done until less has been enough for two days");
	ok(give(&steady, WS_VERDICT_SHRINK, 2 * GB, 11 + 2 * 1440 - 1).verdict == WS_VERDICT_KEEP &&
	   give(&steady, WS_VERDICT_SHRINK, 2 * GB, 11 + 2 * 1440).verdict == WS_VERDICT_SHRINK, "counted from its end");

	memset(&steady, 0, sizeof(steady));
	for (int k = 0; k <= 7 * 1440; k++)
	{
		s = (WsSizing)
		{
			.verdict = WS_VERDICT_GROW, .suggested_shared_buffers = GB, .fits = true
		};
		ws_sizing_steady(&steady, &s, 60 * k, 100);
		changes += s.verdict == WS_VERDICT_GROW;
	}
	is_int(changes, 1, "grow after a week, if what is needed fits");
}

/* What is suggested: a ramp asks for one restart, and noise changes nothing. */
static void
test_steady_size(void)
{
	WsSteady	steady = {0};
	WsSizing	s;
	uint64_t	seed = seeded(85);
	int			grows = 0;
	double		last = 0;
	int			changes = 0;

	/* two hours of growth by 2 % each five minutes, and then none */
	for (int k = 0; k < 180; k++)
	{
		s = give(&steady, WS_VERDICT_GROW, GB * (1 + 0.02 * (k < 120 ? k / 5 : 24)), k);
		if (s.verdict == WS_VERDICT_GROW && grows++ == 0)
			ok(k == 130 && s.suggested_shared_buffers == 1.48 * GB,
			   "a ramp asks for one restart, to its end, when it is over (minute %d)", k);
	}
	is_int(grows, 50, "and then goes on to ask for it");

	/* to and fro by up to 4 %: the first stays */
	memset(&steady, 0, sizeof(steady));
	for (int k = 0; k < 1000; k++)
	{
		s = give(&steady, WS_VERDICT_KEEP, GB * (0.98 + 0.04 * random_unit(&seed)), k);
		changes += k > 0 && s.suggested_shared_buffers != last;
		last = s.suggested_shared_buffers;
	}
	is_int(changes, 0, "a suggestion with noise of 2 %% does not change");
	for (int k = 1000; k < 1011; k++)
		s = give(&steady, WS_VERDICT_KEEP, 1.09 * GB, k);
	ok(s.suggested_shared_buffers == 1.09 * GB, "one that has lasted counts");
	is_within(give(&steady, WS_VERDICT_KEEP, 1.25 * GB, 1011).suggested_shared_buffers, 1.25 * GB, 0,
			  "one that differs clearly counts at once");

	/* 1.25 GB is suggested, and 1.3 GB are needed */
	s = (WsSizing)
	{
		.verdict = WS_VERDICT_KEEP, .suggested_shared_buffers = 1.3 * GB, .simulate = 1.3 * GB
	};
	ws_sizing_steady(&steady, &s, 60 * 1012, 100);
	ok(s.suggested_shared_buffers == 1.3 * GB, "and so does one if that before is less than needed");
	s = (WsSizing)
	{
		.verdict = WS_VERDICT_KEEP, .suggested_shared_buffers = 1.35 * GB, .simulate = 1.2 * GB
	};
	ws_sizing_steady(&steady, &s, 60 * 1013, 100);
	ok(s.suggested_shared_buffers == 1.3 * GB && s.simulate == 1.2 * GB,
	   "while it is keep, what may do is simulated");
	ok(give(&steady, WS_VERDICT_GROW, 2 * GB, 1014).simulate == 2 * GB,
	   "and while another verdict waits, what is suggested");
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

/*
 * Random look-ups in a set of twice the memory: the page cache has what shared
 * buffers have, too, if it is the larger one, so the worst division is half.
 */
static void
test_waits(void)
{
	WsSizingFacts f = {
		.needed = 32 * GB, .shared_buffers = 8 * GB, .memory = 17 * GB, .maintenance = GB,
		.long_enough = true, .sizes = 12
	};
	WsSizing	s;

	for (int i = 0; i < f.sizes; i++)
	{
		f.size[i] = (i + 1) * GB;
		f.hit_ratio[i] = f.size[i] / f.needed;
		f.waits[i] = 1 - fmax(f.size[i], 16 * GB - f.size[i]) / f.needed;
	}
	s = ws_sizing(&f, WS_VERDICT_NONE);
	is_within(s.suggested_shared_buffers, 12 * GB, 0, "waits that are not known do not count");
	f.wait_cost = 50;
	s = ws_sizing(&f, WS_VERDICT_NONE);
	is_within(s.suggested_shared_buffers, GB, 0, "of sizes that wait about as often, the smallest");
	f.long_enough = false;
	s = ws_sizing(&f, WS_VERDICT_NONE);
	is_within(s.suggested_shared_buffers, 8 * GB, 0, "not less after a short time");
	for (int i = 0; i < f.sizes; i++)
		f.waits[i] = 1 - f.size[i] / f.needed;
	s = ws_sizing(&f, WS_VERDICT_NONE);
	is_within(s.suggested_shared_buffers, 12 * GB, 0, "all that there is, where it saves waits");
	for (int i = 0; i < f.sizes; i++)
		f.waits[i] = NAN;
	s = ws_sizing(&f, WS_VERDICT_NONE);
	is_within(s.suggested_shared_buffers, 8 * GB, 0, "and what there is where nothing is known");
}

int
main(void)
{
	plan(117);
	test_waits();
	test_rule();
	test_suggested();
	test_useful();
	test_verdict();
	test_hit_ratios();
	test_bands();
	test_steady();
	test_steady_size();
	test_words();
	return done();
}
