/*
 * counters.c
 *		Sums of the counters; see counters.h.
 */
#include "postgres.h"

#include "counters.h"
#include "probe.h"

#define FIELDS (sizeof(WsCounters) / sizeof(uint64))

StaticAssertDecl(sizeof(WsCounters) % sizeof(uint64) == 0, "all counters are words");

WsSharedCounters *ws_counters = NULL;

static void
sum_shards(WsCounters *sum)
{
	uint64	   *words = (uint64 *) sum;

	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < WS_COUNTER_SHARDS; i++)
		for (size_t field = 0; field < FIELDS; field++)
			words[field] += __atomic_load_n((uint64 *) ws_counters_of(i) + field,
											__ATOMIC_RELAXED);
}

TimestampTz
ws_counters_read(WsCounters *sum, int64 *evictions)
{
	TimestampTz since;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	sum_shards(sum);
	for (size_t field = 0; field < FIELDS; field++)
		((uint64 *) sum)[field] -= ((uint64 *) &ws_counters->at_reset)[field];
	if (evictions)
	{
		int64		most = __atomic_load_n(&ws_counters->evictions, __ATOMIC_RELAXED);

		/* what enters meanwhile is an entry only; no count goes back */
		*evictions = (int64) sum->inserts + ws_counters->entries_at_reset - ws_probe_entries();
		while (*evictions > most &&
			   !__atomic_compare_exchange_n(&ws_counters->evictions, &most, *evictions, false,
											__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		*evictions = Max(*evictions, most);
	}
	since = ws_shared->since;
	LWLockRelease(ws_shared->lock);
	return since;
}

void
ws_counters_reset(void)
{
	sum_shards(&ws_counters->at_reset);
	ws_counters->entries_at_reset = ws_probe_entries();
	__atomic_store_n(&ws_counters->evictions, 0, __ATOMIC_RELAXED);
}
