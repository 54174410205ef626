/*
 * seeds.h
 *		How many random trials are made, and with which seeds.
 *
 * WS_TRIALS=all in the environment makes them all; without, or with "few", a
 * tenth of them is made.  WS_SEED is a number that changes all seeds; without,
 * or with 0, they are the ones that are written in the tests.
 */
#ifndef SEEDS_H
#define SEEDS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * splitmix64 (Steele, Lea and Flood, 2014): a counter, well mixed.
 */
static inline uint64_t
mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

static inline uint64_t
fresh_seed(void)
{
	static uint64_t seed;
	static bool known;

	if (!known)
	{
		const char *s = getenv("WS_SEED");

		seed = s ? strtoull(s, NULL, 10) : 0;
		known = true;
	}
	return seed;
}

static inline bool
all_trials(void)
{
	const char *s = getenv("WS_TRIALS");

	return s && strcmp(s, "all") == 0;
}

/* of so many trials, how many to make: not less than two, if there are two */
static inline int
trials(int all)
{
	int			few = all > 20 ? (all + 9) / 10 : 2;

	return all_trials() || all < few ? all : few;
}

/* the seed to take instead of this one */
static inline uint64_t
seeded(uint64_t number)
{
	uint64_t	fresh = fresh_seed();

	return fresh == 0 ? number : mix64(mix64(fresh) + number * UINT64_C(0x9E3779B97F4A7C15));
}

/*
 * What bounds are made of, so that they hold for few trials as for all.
 *
 * Of n numbers that each are counted with a probability, how many are at most:
 * more are once in a million times.
 */
static inline int
at_most(int n, double probability)
{
	double		sum = 0;
	int			k = -1;

	while (1 - sum > 1e-6 && ++k < n)
		sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) +
				   k * log(probability) + (n - k) * log1p(-probability));
	return k;
}

/*
 * So many standard errors that are known are so many, if they are found from n
 * numbers themselves: Student's t, by Wallace's approximation.
 */
static inline double
student(double sigmas, double n)
{
	double		z = sigmas * (8 * (n - 1) + 3) / (8 * (n - 1) + 1);

	return sqrt((n - 1) * expm1(z * z / (n - 1)));
}

#endif							/* SEEDS_H */
