/*
 * filling.c
 *		Shared buffers that fill; see filling.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "filling.h"
#include "guc.h"
#include "probe.h"
#include "recent.h"
#include "shared.h"

#define FULL			0.9375	/* share of shared buffers in use */
#define GREW			1.01	/* use of shared buffers */
/* period of the counts */
#define RECENT_MS		((int64) 1000 * WS_RECENT_BUCKETS * WS_RECENT_SECONDS)

bool
ws_nobody_evicts(void)
{
	static bool full;			/* have they been? */
	double		used = (double) ws_probe_entries() / NBuffers;

	full = used >= FULL || (full && used >= FULL / 2);
	return !full;
}

TimestampTz
ws_filling_until(void)
{
	static int64 filling_at;
	static int64 grew_at;
	static int64 used;
	int64		uses = ws_probe_entries();
	int64		now = ws_shared_clock_ms();
	int64		limit = __atomic_load_n(&ws_shared->clock_origin, __ATOMIC_RELAXED) +
		ws_break_even * (int64) 1000;
	int64		left;			/* in ms */

	if (uses > GREW * used || uses < used / 2)
	{
		used = uses;
		grew_at = now;
	}
	limit = Max(limit, grew_at + RECENT_MS);
	if (ws_nobody_evicts() && now < limit)
		filling_at = now;
	left = filling_at == 0 ? 0 : (filling_at == now ? limit : filling_at) + RECENT_MS - now;
	return left <= 0 ? 0 : GetCurrentTimestamp() + left * 1000;
}
