/*
 * pagehash.h
 *		How the 32 bits of a page's hash are divided.
 *
 * The server hashes the identity of a page to 32 bits.  Whatever working_set
 * chooses by that hash takes a few of its bits, or of its product with an odd
 * constant, a "mix".  Bit n of a mix depends on bits 0 to n of the hash.  The
 * first bits are the most significant.
 *
 *	division			which bits						for
 *	------------------	------------------------------	-----------------------
 *	register			the first log2m					columns of the sketch
 *	level				trailing zeros of the others	rows of the sketch
 *	stratum				leading zeros; if the first		which pages are sampled
 *						log2m are all zero, log2m and
 *						the leading zeros of mix A
 *	sampled register	the value, below a bound		what the hot path sees
 *	error group			the first 4 of mix C			errors of the advice
 *	bucket				from bit 7 of mix B				the table of the sample
 *	damper slot			the first of mix B				hits reported so far
 *	quiet bit			the first 16 of a mix B with	which sampled pages
 *						the present, too				need no report now
 *	slot of a read		the last 12						a process's own reads
 *	partition			the last 7						the server's locks
 *
 * What has to be independent:
 *
 *	register and level: the estimate from the sketch relies on it.
 *	stratum and level: the estimate is compared with the size of the sample.
 *	error group and stratum, register, level: each group stands for all sampled
 *		pages when the spread between groups becomes a standard error.
 *	bucket and stratum, damper slot and stratum: all sampled hashes begin with
 *		zeros, and have to fill these tables evenly nevertheless.
 *
 * Stratum and register depend on each other on purpose.  The sampled pages
 * fill whole registers, those of the smallest hashes, so the hot path
 * recognises all other pages by one comparison.
 */
#ifndef WS_PAGEHASH_H
#define WS_PAGEHASH_H

#include <stdbool.h>
#include <stdint.h>

#define WS_STRATA			32	/* strata are below this */
#define WS_ERROR_GROUPS		16

/* 2^32 divided by the golden ratio, and two constants of MurmurHash3's. */
#define WS_MIX_A			UINT32_C(0x9E3779B1)
#define WS_MIX_B			UINT32_C(0x85EBCA6B)
#define WS_MIX_C			UINT32_C(0xC2B2AE35)

/*
 * Register and level in a sketch of 2^log2m registers, where shift is 32 -
 * log2m, and the sentinel is 2^shift, the bit that ends the count of zeros.
 * Half of all pages are in level 0, a quarter in level 1, and so on.  The
 * register has 64 bits because that saves the hot path an instruction.
 */
static inline uint64_t
ws_hash_register(uint64_t hash, uint32_t shift)
{
	return hash >> shift;
}

static inline uint32_t
ws_hash_level(uint32_t hash, uint32_t sentinel)
{
	return (uint32_t) __builtin_ctz(hash | sentinel);
}

/* Half of all pages are in stratum 0, a quarter in 1, and so on. */
static inline uint32_t
ws_hash_stratum(uint32_t hash, uint32_t log2m)
{
	uint32_t	zeros;

	if (hash >> (32 - log2m) != 0)
		return (uint32_t) __builtin_clz(hash);
	zeros = log2m + (uint32_t) __builtin_clz((hash * WS_MIX_A) | 1);
	return zeros < WS_STRATA ? zeros : WS_STRATA - 1;
}

/* Hashes of sampled registers, those of strata shift and up, are below it. */
static inline uint32_t
ws_hash_bound(uint32_t shift, uint32_t log2m)
{
	if (shift == 0)
		return UINT32_MAX;
	return UINT32_C(1) << (32 - (shift < log2m ? shift : log2m));
}

/* Is the page in a sampled register?  Not all pages in these are sampled. */
static inline bool
ws_hash_in_sampled_register(uint32_t hash, uint32_t bound)
{
	return hash < bound;
}

static inline uint32_t
ws_hash_group(uint32_t hash)
{
	return (hash * WS_MIX_C) >> 28;
}

/* Buckets of a table of so many entries: a power of two, not below these. */
static inline uint32_t
ws_hash_buckets(uint32_t capacity)
{
	return UINT32_C(1) << (31 - __builtin_clz(2 * capacity - 1));
}

/* Of so many buckets, a power of two up to 2^25. */
static inline uint32_t
ws_hash_bucket(uint32_t hash, uint32_t buckets)
{
	return (hash * WS_MIX_B) >> 7 & (buckets - 1);
}

/* Of 2^(32 - shift) slots. */
static inline uint32_t
ws_hash_damper_slot(uint32_t hash, uint32_t shift)
{
	return (hash * WS_MIX_B) >> shift;
}

/*
 * Of 2^WS_QUIET_LOG2 bits.  Two pages that share a bit in one present rarely
 * do in the next.
 */
#define WS_QUIET_LOG2		16

static inline uint32_t
ws_hash_quiet_bit(uint32_t hash, uint32_t present)
{
	return ((hash ^ present) * WS_MIX_B) >> (32 - WS_QUIET_LOG2);
}

/* Of so many slots, a power of two. */
static inline uint32_t
ws_hash_read_slot(uint32_t hash, uint32_t slots)
{
	return hash & (slots - 1);
}

#endif							/* WS_PAGEHASH_H */
