/*
 * pictures.c
 *		What is suggested for more and more that is needed: the numbers for
 *		bench/pictures.
 */
#include <math.h>
#include <stdio.h>

#include "sizing.h"

#define GB (1024.0 * 1024 * 1024)

int
main(void)
{
	WsSizingFacts f = {.shared_buffers = 4 * GB, .memory = 16 * GB, .connections = 200,
	.work_mem = GB / 128, .maintenance = GB / 4, .long_enough = true};
	WsVerdict	verdict = WS_VERDICT_NONE;

	for (f.needed = 0; f.needed <= 20 * GB; f.needed += GB / 16)
	{
		/*
		 * all is used alike, so the hit ratio rises up to what is needed, or
		 * up to 6 GB, where memory cannot hold it
		 */
		double		useful = f.needed > 13.75 * GB ? 6 * GB : f.needed;
		WsSizing	s;

		for (f.sizes = 0; f.sizes < 200; f.sizes++)
		{
			f.size[f.sizes] = (f.sizes + 1) * GB / 16;
			f.hit_ratio[f.sizes] = fmin(f.size[f.sizes] / fmax(useful, 1), 1);
		}
		s = ws_sizing(&f, WS_VERDICT_NONE);
		verdict = ws_sizing(&f, verdict).verdict;
		printf("%.4f\t%.4f\t%.4f\t%.4f\t%s\n", f.needed / GB, s.suggested_shared_buffers / GB,
			   s.suggested_effective_cache_size / GB, s.reserved / GB, ws_verdict_name(verdict));
	}
	return 0;
}
