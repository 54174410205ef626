/*
 * segments_t.c
 *		Tests of finding the end of what is stored in segments, for all lengths
 *		near the boundaries and all places to begin to look.
 */
#include "tap.h"
#include "segments.h"
#include "traces.h"

typedef struct File
{
	uint64_t	blocks;
	uint32_t	full;
	long		asked;
} File;

static uint32_t
blocks_of(void *arg, uint32_t segment)
{
	File	   *file = arg;
	uint64_t	first = (uint64_t) segment * file->full;

	file->asked++;
	if (first >= file->blocks)
		return 0;
	return file->blocks - first < file->full ? (uint32_t) (file->blocks - first) : file->full;
}

int
main(void)
{
	static const uint32_t fulls[] = {1, 2, 3, 7, 131072};
	uint64_t	seed = seeded(20);
	long		wrong = 0;
	long		worst = 0;

	plan(3);
	for (size_t f = 0; f < sizeof(fulls) / sizeof(fulls[0]); f++)
		for (uint32_t segments = 0; segments < 70; segments++)
			for (int off = -1; off <= 1; off++)
				for (uint32_t guess = 0; guess < 80; guess += 1 + guess / 8)
				{
					File		file = {(uint64_t) segments * fulls[f] + off, fulls[f], 0};

					if (segments == 0 && off < 0)
						continue;
					wrong += ws_segments_blocks(blocks_of, &file, fulls[f], guess) != file.blocks;
				}
	is_int(wrong, 0, "the end is found, from wherever one looks");

	for (int i = 0; i < 100000; i++)
	{
		File		file = {random_below(&seed, UINT32_MAX - 131072), 131072, 0};

		wrong += ws_segments_blocks(blocks_of, &file, file.full, random_below(&seed, UINT32_MAX / 131072 + 2)) !=
			file.blocks;
		worst = file.asked > worst ? file.asked : worst;
	}
	is_int(wrong, 0, "of the largest relations, too");
	/* up in steps that double and down by halves, each at most 16 to pass 2^15 segments, and one more for either */
	ok(worst <= 2 * 16 + 2, "by asking few segments, at most %ld", worst);
	return done();
}
