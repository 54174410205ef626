/*
 * pagehash_t.c
 *		Tests of how a page's hash is divided: which bits each division takes,
 *		that it is in range and even, and that those that must be independent are.
 *
 * Where an assertion is about random hashes, chance alone would fail it once
 * in more than a million runs; the formula stands beside it.
 */
#include "tap.h"
#include "pagehash.h"
#include "yardstick.h"

#define K_SIGMA 5

#define LOG2M_MIN 10
#define LOG2M_MAX 16

static uint32_t
level(uint32_t hash, uint32_t log2m)
{
	return ws_hash_level(hash, UINT32_C(1) << (32 - log2m));
}

static uint32_t
reg(uint32_t hash, uint32_t log2m)
{
	return (uint32_t) ws_hash_register(hash, 32 - log2m);
}

/* random, and in turn with up to 31 zeros at the beginning or at the end */
static uint32_t
any_hash(uint32_t i, uint64_t *seed)
{
	return i % 2 ? random32(seed) >> i / 2 % 32 : random32(seed) << i / 2 % 32;
}

/* a hash of these strata; *seed is left behind it */
static uint32_t
sampled_hash(uint32_t shift, uint32_t log2m, uint64_t *seed)
{
	uint32_t	hash;

	do
		hash = random32(seed) >> (shift < log2m ? shift : log2m);
	while (ws_hash_stratum(hash, log2m) < shift);
	return hash;
}

/*
 * Which bits a division takes shows when each bit is turned over.
 */
static void
test_bits(uint32_t log2m)
{
	uint32_t	inner = 32 - log2m; /* bits that the register leaves */
	uint64_t	seed = seeded(201 + log2m);
	long		registers = 0;
	long		levels = 0;
	long		strata = 0;
	long		others = 0;

	for (uint32_t i = 0; i < 64000; i++)
	{
		uint32_t	hash = any_hash(i, &seed);
		uint32_t	r = reg(hash, log2m);
		uint32_t	l = level(hash, log2m);
		uint32_t	s = ws_hash_stratum(hash, log2m);
		uint32_t	slot = ws_hash_read_slot(hash, 4096);

		registers += r >> log2m != 0;
		levels += l > inner || (l < inner && !(hash >> l & 1)) || (hash & ((UINT32_C(1) << l) - 1)) != 0;
		strata += s != naive_stratum(hash, log2m);
		others += slot >= 4096;
		for (uint32_t bit = 0; bit < 32; bit++)
		{
			uint32_t	turned = hash ^ UINT32_C(1) << bit;

			/* the first log2m bits, in their order, and none of the others */
			registers += reg(turned, log2m) !=
				(bit >= inner ? r ^ UINT32_C(1) << (bit - inner) : r);
			/* only the others, up to the lowest that is set */
			levels += level(turned, log2m) != (bit > l || bit >= inner ? l : bit < l ? bit :
											   level(turned, log2m));
			/* of those only where the register is 0 */
			strata += bit < inner && s < log2m && ws_hash_stratum(turned, log2m) != s;
			others += (ws_hash_read_slot(turned, 4096) != slot) != (bit < 12);
		}
	}
	is_int(registers, 0, "register: the first log2m bits");
	is_int(levels, 0, "level: trailing zeros of the others");
	is_int(strata, 0, "stratum: leading zeros, and those of a product if the register is 0");
	is_int(others, 0, "slot of a read: the last bits");
}

/*
 * All values of the bits that the register leaves, with the register 0.
 */
static void
test_inner(uint32_t log2m)
{
	uint32_t	inner = 32 - log2m;
	uint32_t	n = UINT32_C(1) << inner;
	static uint32_t table[WS_STRATA][33];
	uint32_t	of_level[33] = {0};
	uint32_t	of_stratum[WS_STRATA] = {0};
	double		farthest_level = 0;
	double		farthest = 0;
	double		farthest_both = 0;

	memset(table, 0, sizeof(table));
	for (uint32_t hash = 0; hash < n; hash++)
	{
		uint32_t	l = level(hash, log2m);
		uint32_t	s = ws_hash_stratum(hash, log2m);

		of_level[l]++;
		of_stratum[s]++;
		table[s][l]++;
	}
	for (uint32_t l = 0; l <= inner; l++)
		farthest_level = fmax(farthest_level, fabs(of_level[l] - (l < inner ? ldexp(n, -(int) l - 1) : 1)));
	is_within(farthest_level, 0, 0, "level: half of all hashes, a quarter, ..., and one in the last");

	/*
	 * Multiples of the golden ratio are spread more evenly than random
	 * numbers: of k of them, the number in an interval is off by less than 2
	 * + log2(k). Hashes of one level are such multiples, too.
	 */
	for (uint32_t s = 0; s < WS_STRATA; s++)
	{
		double		want = s < log2m ? 0 : ldexp(n, -(int) (s - log2m + 1)) * (s == WS_STRATA - 1 ? 2 : 1);

		farthest = fmax(farthest, s < log2m && of_stratum[s] > 0 ? INFINITY : fabs(of_stratum[s] - want));
		for (uint32_t l = 0; l < inner; l++)
			farthest_both = fmax(farthest_both, fabs(table[s][l] - ldexp(want, -(int) l - 1)));
	}
	ok(farthest < 2 + inner, "stratum, beyond 2^%u registers: half of the hashes, a quarter, ..., worst is off by %.0f",
	   log2m, farthest);
	ok(farthest_both < 2 + inner, "stratum and level, beyond 2^%u registers: independent, worst is off by %.0f",
	   log2m, farthest_both);
}

/*
 * All pages of the strata sampled are in sampled registers; and up to the
 * number of registers no others are.
 */
static void
test_bound(uint32_t log2m)
{
	uint64_t	seed = seeded(221 + log2m);
	long		outside = 0;
	long		loose = 0;
	long		torn = 0;

	for (uint32_t shift = 1; shift < WS_STRATA; shift++)
	{
		uint32_t	bound = ws_hash_bound(shift, log2m);

		for (uint32_t i = 0; i < 6400; i++)
		{
			uint32_t	hash = any_hash(i, &seed);
			bool		in = ws_hash_in_sampled_register(hash, bound);
			bool		sampled = ws_hash_stratum(hash, log2m) >= shift;

			outside += sampled && !in;
			loose += shift <= log2m && in && !sampled;
		}
		for (uint32_t i = 0; i < 2; i++)
		{
			/* the last hash within, and the first beyond */
			uint32_t	hash = bound - 1 + i;

			torn += ws_hash_in_sampled_register(hash, bound) != (i == 0) ||
				(reg(hash, log2m) != reg(bound - 1, log2m)) != (i == 1);
		}
	}
	outside += ws_hash_bound(0, log2m) != UINT32_MAX;
	is_int(outside, 0, "sampled register: of every page that is sampled");
	is_int(loose, 0, "sampled register: up to the number of registers, of no other");
	is_int(torn, 0, "sampled register: whole, and at least one");
}

/*
 * The chi-square statistic of a table of counts against independence, as so
 * many standard errors from what is expected: it has the mean df and the
 * variance 2 df, and its cube root is nearly normal (Wilson and Hilferty
 * 1931).
 */
#define COLUMNS 16

static double
dependence(uint32_t count[WS_ERROR_GROUPS][COLUMNS])
{
	double		row[WS_ERROR_GROUPS] = {0};
	double		column[COLUMNS] = {0};
	double		chi2 = 0;
	double		df = 0;

	for (int g = 0; g < WS_ERROR_GROUPS; g++)
		for (int c = 0; c < COLUMNS; c++)
		{
			row[g] += count[g][c];
			column[c] += count[g][c];
		}
	for (int c = 0; c < COLUMNS; c++)
	{
		if (column[c] == 0)
			continue;
		df += WS_ERROR_GROUPS;
		for (int g = 0; g < WS_ERROR_GROUPS; g++)
		{
			/* the share of each group is known: it is a sixteenth */
			double		want = column[c] / WS_ERROR_GROUPS;

			chi2 += (count[g][c] - want) * (count[g][c] - want) / want;
		}
		df -= 1;
	}
	return (cbrt(chi2 / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}

/*
 * Groups are equal, and independent of stratum, level and register, at any
 * rate of sampling.
 */
static void
test_groups(uint32_t log2m)
{
	uint64_t	seed = seeded(231 + log2m);
	double		worst[3] = {-INFINITY, -INFINITY, -INFINITY};
	long		out = 0;

	for (uint32_t shift = 0; shift <= 18; shift += 2)
	{
		/* few enough that hashes drawn twice do not matter */
		uint32_t	n = shift <= 14 ? 40000 : 2000;
		static uint32_t by[3][WS_ERROR_GROUPS][COLUMNS];

		memset(by, 0, sizeof(by));
		for (uint32_t i = 0; i < n; i++)
		{
			uint32_t	hash = sampled_hash(shift, log2m, &seed);
			uint32_t	g = ws_hash_group(hash);
			uint32_t	higher = ws_hash_stratum(hash, log2m) - shift;
			uint32_t	l = level(hash, log2m);

			out += g >= WS_ERROR_GROUPS;
			g %= WS_ERROR_GROUPS;
			/* those beyond together, so that enough are expected */
			by[0][g][higher < 6 ? higher : 6]++;
			by[1][g][l < 6 ? l : 6]++;
			by[2][g][reg(hash, log2m) % COLUMNS]++;
		}
		for (int k = 0; k < 3; k++)
			worst[k] = fmax(worst[k], dependence(by[k]));
	}
	is_int(out, 0, "error group: in range");
	ok(worst[0] < K_SIGMA, "error group and stratum, 2^%u registers: independent, worst is %.1f sigma", log2m, worst[0]);
	ok(worst[1] < K_SIGMA, "error group and level: independent, worst is %.1f sigma", worst[1]);
	ok(worst[2] < K_SIGMA, "error group and register: independent, worst is %.1f sigma", worst[2]);
}

/*
 * Slots used by as many hashes as a table has slots.  Of n at random 1 - (1 -
 * 1/n)^n are used, with a standard error below sqrt(n)/2.  Hashes drawn twice
 * use one slot, and those of a product are spread more evenly than random
 * ones, so it is fewer that would be wrong.
 */
static double
shortfall(uint32_t shift, uint32_t log2m, uint32_t slots, bool damper, uint64_t *seed, long *out)
{
	static bool used[1 << 17];
	uint32_t	log2 = (uint32_t) __builtin_ctz(slots);
	double		n = 0;

	memset(used, 0, sizeof(used));
	for (uint32_t i = 0; i < slots; i++)
	{
		uint32_t	hash = sampled_hash(shift, log2m, seed);
		uint32_t	slot = damper ? ws_hash_damper_slot(hash, 32 - log2) : ws_hash_bucket(hash, slots);

		*out += slot >= slots;
		n += !used[slot % slots];
		used[slot % slots] = true;
	}
	return (slots * (1 - pow(1 - 1.0 / slots, slots)) - n) / (sqrt(slots) / 2);
}

static void
test_slots(uint32_t log2m)
{
	uint64_t	seed = seeded(241 + log2m);
	double		worst[2] = {-INFINITY, -INFINITY};
	long		out = 0;

	for (uint32_t shift = 0; shift <= 12; shift += 3)
		for (uint32_t slots = 1024; slots <= 65536; slots *= 8)
		{
			/* enough that hashes drawn twice do not matter */
			if (ldexp(1, 32 - (int) shift) < 1024.0 * slots)
				continue;
			for (int k = 0; k < 2; k++)
				worst[k] = fmax(worst[k], shortfall(shift, log2m, slots, k == 1, &seed, &out));
		}
	is_int(out, 0, "bucket, damper slot: in range");
	ok(worst[0] < K_SIGMA, "bucket, 2^%u registers: evenly used at any rate, worst is %.1f sigma", log2m, worst[0]);
	ok(worst[1] < K_SIGMA, "damper slot: evenly used at any rate, worst is %.1f sigma", worst[1]);
}

/*
 * Of n sampled pages, how many pairs share a quiet bit, and how many of these
 * still do in the next present?  By chance one pair in 65,536 in each.
 */
static void
test_quiet(uint32_t shift, uint32_t log2m)
{
	enum
	{
		N = 4096
	};
	static uint32_t hashes[N];
	uint64_t	seed = seeded(251 + shift);
	double		expected = N * (N - 1) / 2 / 65536.0;
	long		pairs = 0;
	long		still = 0;
	long		out = 0;

	for (int i = 0; i < N; i++)
		hashes[i] = sampled_hash(shift, log2m, &seed);
	for (uint32_t present = 1000; present < 1100; present += 10)
		for (int i = 0; i < N; i++)
			for (int j = 0; j < i; j++)
				if (hashes[i] != hashes[j] &&
					ws_hash_quiet_bit(hashes[i], present) == ws_hash_quiet_bit(hashes[j], present))
				{
					pairs++;
					out += ws_hash_quiet_bit(hashes[i], present) > 65535;
					still += ws_hash_quiet_bit(hashes[i], present + 10) == ws_hash_quiet_bit(hashes[j], present + 10);
				}
	ok(out == 0 && pairs < 10 * expected + K_SIGMA * sqrt(10 * expected),
	   "quiet bit, one page in %u sampled: %ld pairs share one, %.0f expected", 1U << shift, pairs, 10 * expected);
	ok(still < pairs / 4, "quiet bit: %ld of these in the next present, too", still);
}

int
main(void)
{
	plan(7 * 17 + 2 * 3);
	for (uint32_t shift = 0; shift <= 12; shift += 6)
		test_quiet(shift, 14);
	for (uint32_t log2m = LOG2M_MIN; log2m <= LOG2M_MAX; log2m++)
	{
		test_bits(log2m);
		test_inner(log2m);
		test_bound(log2m);
		test_groups(log2m);
		test_slots(log2m);
	}
	return done();
}
