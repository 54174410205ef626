/*
 * gauge.c
 *		Asking the clients' sketch; see gauge.h.
 */
#include "postgres.h"

#include <math.h>

#include "curve.h"
#include "gauge.h"
#include "shmem.h"

static void
ask(const uint32 *ticks, int n, WsEstimate *estimates)
{
	const WsSketch *sketch = ws_shared->sketch[WS_CLIENT];
	void	   *workspace = palloc(ws_curve_size(ws_sketch_m(sketch)));

	ws_curve_estimate(&sketch, 1, ws_shmem_advance(), ticks, n, estimates, workspace);
	pfree(workspace);
}

WsEstimate
ws_gauge_window(uint32 ticks)
{
	WsEstimate	estimate;

	ask(&ticks, 1, &estimate);
	return estimate;
}

void
ws_gauge_denning(WsDenning *denning)
{
	uint32		ticks[WS_DENNING_POINTS];
	WsEstimate	estimates[WS_DENNING_POINTS];
	double		pages[WS_DENNING_POINTS];

	for (int i = 0; i < WS_DENNING_POINTS; i++)
		ticks[i] = (uint32) rint(ws_denning_seconds(i) * WS_TICKS_PER_SECOND);
	ask(ticks, WS_DENNING_POINTS, estimates);
	for (int i = 0; i < WS_DENNING_POINTS; i++)
		pages[i] = estimates[i].pages;
	ws_denning_follow(denning, pages);
}
