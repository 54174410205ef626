/*
 * past.c
 *		Give a stopped server's saved file a past: the newest quarter of an hour
 *		that it has costs of is put into all quarters of the days before.
 *
 *	past FILE DAYS [HOUR [SHARE]]
 *
 * HOUR, unless -1: and only into those of this hour of the day, of UTC; the
 * others have a thousandth of it.  SHARE: a client was active all the time, and
 * so much of it it waited for reads.
 */
#include "statefile.c"

#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	char	   *image = malloc(ws_statefile_size_max() + 64);
	FILE	   *file = argc < 3 ? NULL : fopen(argv[1], "r+b");
	int			days = argc < 3 ? 0 : atoi(argv[2]);
	int			hour = argc < 4 ? -1 : atoi(argv[3]);
	double		share = argc < 5 ? -1 : atof(argv[4]);
	const WsCostRow *newest = NULL;
	WsCostRow	row;
	WsCosts    *costs;
	size_t		size;
	uint64_t	sum;

	if (file == NULL || days < 1 || days > 34)
	{
		fprintf(stderr, "usage: past FILE DAYS [HOUR [SHARE]], DAYS from 1 to 34\n");
		return 2;
	}
	size = fread(image, 1, ws_statefile_size_max(), file);
	if (size < sizeof(Header) || ((Header *) image)->format != WS_STATEFILE_FORMAT || size_of((Header *) image) != size)
	{
		fprintf(stderr, "past: %s was not saved by this version\n", argv[1]);
		return 1;
	}
	costs = &layout_of(image).history->costs;
	for (const WsCostRow *r = costs->quarters; r < costs->quarters + WS_COST_QUARTERS; r++)
		if (r->number > (newest ? newest->number : 0))
			newest = r;
	if (newest == NULL)
	{
		fprintf(stderr, "past: there are no costs in %s\n", argv[1]);
		return 1;
	}
	row = *newest;
	if (share >= 0)
	{
		row.active = WS_COST_QUARTER;
		row.waiting = share * row.active;
	}
	for (int i = 1; i <= days * WS_COST_DAY; i++)
	{
		WsCostRow	of = row;

		of.number = row.number - i;
		if (hour >= 0 && of.number % WS_COST_DAY / 4 != hour)
		{
			of.active /= 1000;
			of.waiting /= 1000;
			of.reads /= 1000;
			for (int k = 0; k < WS_COST_KEPT; k++)
				if (of.cost[k] != 0 && of.cost[k] != UINT16_MAX)
					of.cost[k] = of.cost[k] > 10205 ? of.cost[k] - 10205 : 0;	/* ten octaves */
		}
		costs->quarters[of.number % WS_COST_QUARTERS] = of;
	}
	sum = checksum_of(image, size - sizeof(sum));
	memcpy(image + size - sizeof(sum), &sum, sizeof(sum));
	rewind(file);
	if (fwrite(image, 1, size, file) != size || fclose(file) != 0)
	{
		perror(argv[1]);
		return 1;
	}
	return 0;
}
