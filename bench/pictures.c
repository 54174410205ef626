/*
 * pictures.c
 *		What is suggested for more and more that is needed: the numbers for
 *		bench/pictures.
 */
#include <stdio.h>

#include "sizing.h"

#define GB (1024.0 * 1024 * 1024)

int
main(void)
{
	WsSizingFacts f = {.shared_buffers = 4 * GB, .memory = 16 * GB, .connections = 200,
		.work_mem = GB / 128, .maintenance = GB / 4, .long_enough = true};
	WsVerdict	verdict = WS_VERDICT_NONE;

	/* a hit ratio that rises up to 6 GB, and then no more */
	for (f.sizes = 0; f.sizes < 16; f.sizes++)
	{
		f.size[f.sizes] = (f.sizes + 1) * GB;
		f.hit_ratio[f.sizes] = f.sizes < 5 ? 0.5 + 0.08 * f.sizes : 0.9;
	}
	for (f.needed = 0; f.needed <= 20 * GB; f.needed += GB / 16)
	{
		WsSizing	s = ws_sizing(&f, WS_VERDICT_NONE);

		verdict = ws_sizing(&f, verdict).verdict;
		printf("%.4f\t%.4f\t%.4f\t%.4f\t%s\n", f.needed / GB, s.suggested_shared_buffers / GB,
			   s.suggested_effective_cache_size / GB, s.reserved / GB, ws_verdict_name(verdict));
	}
	return 0;
}
