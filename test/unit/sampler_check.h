/*
 * sampler_check.h
 *		Are all invariants of a sample table true?
 */
#ifndef SAMPLER_CHECK_H
#define SAMPLER_CHECK_H

#include "sampler.h"

/*
 * NULL, or what is wrong.
 */
static inline const char *
sampler_check(const WsSampler *sampler)
{
	uint32_t	used = 0;
	uint32_t	nfree = 0;

	if (sampler->buckets < sampler->capacity || sampler->buckets / 2 >= sampler->capacity)
		return "number of buckets does not belong to the capacity";
	if (sampler->shift >= WS_STRATA)
		return "shift is out of range";
	for (uint32_t i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];

		if (sample->touched == 0)
			continue;
		used++;
		if (ws_hash_stratum(sample->hash, sampler->log2m) < sampler->shift)
			return "a page is of a stratum that is not sampled";
		if (ws_sampler_find(sampler, &sample->page, sample->hash) != i)
			return "a page is not found, or twice there";
		if (sample->before > sample->use || sample->use > sample->last ||
			sample->last > sample->touched || sample->held > sample->touched ||
			sample->scanned > sample->touched)
			return "the uses of a page are out of order";
	}
	for (uint32_t i = sampler->free; i != WS_NO_SAMPLE && nfree <= sampler->capacity;
		 i = sampler->samples[i].next)
		nfree++;
	if (used != sampler->count || used + nfree != sampler->capacity)
		return "pages and free entries do not add up";
	if (sampler->lasting < sampler->shift || sampler->lasting >= WS_STRATA)
		return "strata that are not sampled last";
	for (uint32_t i = sampler->shift + 1; i < WS_STRATA; i++)
		if (sampler->admitted[i] > sampler->admitted[i - 1])
			return "a stratum was admitted after a lower one";
	for (uint32_t i = sampler->lasting + 1; i < WS_STRATA; i++)
		if (sampler->kept[i] > sampler->kept[i - 1])
			return "a stratum has lasted for less than a lower one";
	return NULL;
}

#endif							/* SAMPLER_CHECK_H */
