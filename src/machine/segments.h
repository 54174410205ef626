/*
 * segments.h
 *		The length of what is stored in segments, as relations in 1 GB files.
 *
 * All segments but the last are full, and no segment after it has blocks.  So
 * the lengths of a few segments show which is the last.
 */
#ifndef WS_SEGMENTS_H
#define WS_SEGMENTS_H

#include <stdint.h>

/* Blocks of a segment; 0 if it does not exist. */
typedef uint32_t (*WsSegmentBlocks) (void *arg, uint32_t segment);

/*
 * Blocks in all, if a full segment has "full" of them.  The search starts at
 * "guess", doubles its steps until it is beyond the end, and then bisects.
 */
static inline uint32_t
ws_segments_blocks(WsSegmentBlocks blocks_of, void *arg, uint32_t full, uint32_t guess)
{
	uint32_t	most = UINT32_MAX / full;	/* no block has a number above it */
	uint32_t	segment = guess < most ? guess : most;
	uint64_t	lo = 0;			/* all segments before are full, */
	uint64_t	hi = (uint64_t) most + 1;	/* and this one is not */
	uint32_t	step = 1;

	while (lo < hi)
	{
		uint32_t	blocks = blocks_of(arg, segment);

		if (blocks > 0 && blocks < full)
			return segment * full + blocks;
		if (blocks == 0)
			hi = segment;
		else
			lo = (uint64_t) segment + 1;
		if (hi <= most)
			segment = (uint32_t) (lo + (hi - lo) / 2);
		else
			segment = most - segment > step ? segment + step : most;
		step *= 2;
	}
	return (uint32_t) (lo * full);
}

#endif							/* WS_SEGMENTS_H */
