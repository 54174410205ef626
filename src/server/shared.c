/*
 * shared.c
 *		The clock and the sampling rate; see shared.h.
 */
#include "postgres.h"

#include <time.h>

#include "storage/latch.h"

#include "guc.h"
#include "shared.h"

/*
 * At least one register in this many is sampled, so that some process reads
 * the clock where no worker ticks; the mean hit costs one instruction more.  A
 * long query over few pages may have none; then other transactions advance it.
 */
#define SAMPLED_SHARE 64

StaticAssertDecl(WS_SAMPLE_OFF >= WS_STRATA, "no page is sampled when sampling is off");

WsShared   *ws_shared = NULL;
char		ws_refusal[256] = "";

bool
ws_tracking(void)
{
	return ws_shared->attached && ws_enabled;
}

int64
ws_shared_clock_ms(void)
{
	struct timespec ts;

	/* takes 3 ns; steps of a few ms are fine enough for ticks of 100 */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (int64) ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint32
ws_shared_advance(void)
{
	int64		origin = __atomic_load_n(&ws_shared->clock_origin, __ATOMIC_RELAXED);
	int64		passed = (ws_shared_clock_ms() - origin) / WS_TICK_MS +
		__atomic_load_n(&ws_shared->clock_ahead, __ATOMIC_ACQUIRE);
	uint32		tick = WS_TICK_ORIGIN + (uint32) Min(passed, WS_TICK_LAST - WS_TICK_ORIGIN);

	ws_sketch_advance(ws_shared->sketch[WS_MAINTENANCE], tick);
	return ws_sketch_advance(ws_shared->sketch[WS_CLIENT], tick);
}

void
ws_shared_worker_ticks(bool ticks)
{
	bool		ticked = !ws_load(&ws_shared->sketch[WS_CLIENT]->unattended);

	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_store(&ws_shared->sketch[kind]->unattended, !ticks);

	/* a new present makes all processes look at it */
	if (ticked && !ticks)
	{
		uint32		tick;

		__atomic_fetch_add(&ws_shared->clock_ahead, 1, __ATOMIC_RELEASE);
		tick = ws_shared_advance();
		for (int kind = 0; kind < WS_NKINDS; kind++)
			ws_sketch_begin(ws_shared->sketch[kind], tick);
	}
}

void
ws_shared_wake_worker(void)
{
	Latch	   *latch = __atomic_load_n(&ws_shared->worker_latch, __ATOMIC_RELAXED);

	/* harmless if the worker has ended and another process uses its latch */
	if (latch)
		SetLatch(latch);
}

static void
set_bound(uint32 shift)
{
	uint32		bound = shift == WS_SAMPLE_OFF ? 0 : ws_hash_bound(shift, ws_shared->log2m);
	uint32		least = UINT32_MAX / SAMPLED_SHARE + 1;

	for (int kind = 0; kind < WS_NKINDS; kind++)
		ws_store(&ws_shared->sketch[kind]->sampled_below, Max(bound, least));
}

void
ws_shared_sample(uint32 shift)
{
	ws_store(&ws_shared->sample_shift, shift);
	set_bound(shift);
}

uint32
ws_shared_resample(uint32 old, uint32 shift)
{
	uint32		held = old;
	uint32		chosen;

	do
		chosen = held == old || held == WS_SAMPLE_OFF ? shift : Max(held, shift);
	while (!__atomic_compare_exchange_n(&ws_shared->sample_shift, &held, chosen, false,
										__ATOMIC_RELAXED, __ATOMIC_RELAXED));
	set_bound(chosen);
	return chosen;
}

void
ws_shared_thin(void)
{
	uint32		shift = ws_load(&ws_shared->sample_shift);

	/* WS_SAMPLE_OFF is larger */
	while (shift < WS_STRATA - 1 &&
		   !__atomic_compare_exchange_n(&ws_shared->sample_shift, &shift, shift + 1, false,
										__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void
ws_shared_damp(WsDamping damping)
{
	ws_store(&ws_shared->damping, damping.uses << 8 | damping.shift);
}
