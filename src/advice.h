/*
 * advice.h
 *		From counts of the last minutes to a table: the hit ratio at other sizes
 *		of the cache, and how sure that is.
 *
 * The miniature sweeps say how many of the sampled accesses would have been
 * misses at each size.  Scaled by the sampling rate that is an estimate for
 * all pages, but one that can be corrected: how many reads there really were
 * is counted, and how many of these were of sampled pages is too.  So misses
 * are scaled, apart for sequential scans and for the rest, by real reads over
 * sampled reads; where few were sampled, by the sampling rate, corrected by the
 * size of the set, which the sketch knows better than the sample.
 *
 * Nothing is scaled so that the prediction for the present size agrees with
 * the measured hit ratio.  It has to agree by itself, and how far it does not
 * is part of the error.
 *
 * The other part is the error of sampling.  Sampled pages are divided in groups by
 * their hashes, everything is counted by group, and leaving out one group at a
 * time shows how much the answer depends on which pages are in the sample (the
 * jackknife; Tukey 1958).
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_ADVICE_H
#define WS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reuse.h"
#include "scans.h"
#include "sweep.h"

/* Groups of pages. */
#define WS_ADVICE_GROUPS 16

/* Of a page with this hash: bits that neither register nor stratum use. */
static inline int
ws_advice_group(uint32_t hash)
{
	return (int) ((hash * UINT32_C(0xC2B2AE35)) >> 28);
}

/*
 * What is counted over a while.  A sampled access counts as 2^shift, for the
 * pages that it stands for.
 */
typedef struct WsTally
{
	double		seconds;
	double		hits;			/* of clients, all pages */
	double		reads;
	double		scan_hits;		/* those of them in runs of blocks; estimated */
	double		scan_reads;		/* and counted */
	double		weight;			/* pages that a sampled one stands for, lately */
	double		pages;			/* sampled pages that were used */
	double		correction;		/* pages that there really were, over those that
								 * the sampled ones stand for; 0: not known */

	/*
	 * Sampled hits and reads in runs, and those of them that were taken for a
	 * sequential scan's
	 */
	double		run_hits[2];
	double		run_reads[2];

	/* sampled reads that really happened, and how many events they were */
	double		sampled[WS_CLIENT_CLASSES][WS_ADVICE_GROUPS];
	double		events[WS_CLIENT_CLASSES];

	/* sampled accesses that would miss */
	float		missed[WS_SWEEP_SIZES][WS_CLIENT_CLASSES][WS_ADVICE_GROUPS];

	/* reuse distances of sampled accesses */
	double		distances[WS_REUSE_BINS];
} WsTally;

/* Add one tally to another. */
extern void ws_tally_add(WsTally *sum, const WsTally *part);

/*
 * One size.  NaN where it cannot be told.
 */
typedef struct WsAdvice
{
	double		factor;			/* size as a multiple of the present one */
	double		buffers;
	double		hit_ratio;
	double		hit_ratio_without_scans;
	double		hit_ratio_lru;
	double		reads_per_second;
	double		read_factor;	/* reads relative to the present size */
	double		error;			/* hit_ratio is this far off at most, with a
								 * probability of 95 % */
} WsAdvice;

/*
 * However many pages are sampled, a simulation is not the server, and other
 * lookups than the workload's are counted with it: so much bench/advice finds
 * where sampling makes no difference.
 */
#define WS_ADVICE_MODEL_ERROR 0.001

/* The prediction for the present size may be off by this much. */
#define WS_ADVICE_TOLERANCE 0.03

typedef struct WsAdviceTable
{
	double		seconds;		/* that it is about */
	double		hit_ratio;		/* measured; NaN without any access */
	double		reads_per_second;	/* measured */
	double		difference;		/* what is predicted for the present size,
								 * less what was measured; NaN if not known */
	bool		sure;			/* known and within the tolerance */
	WsAdvice	rows[WS_SWEEP_SIZES];
} WsAdviceTable;

/*
 * Advise.  resident[i] is how many sampled pages the sweep of size i has room
 * for; with few of them a size is not advised upon.  denning, if not NULL,
 * gives misses a second for buffers, in place of reuse distances.
 */
extern void ws_advise(const WsTally *tally, double nbuffers, const uint32_t *resident,
					  const double *denning, WsAdviceTable *table);

/*
 * The hit ratio expected with so many buffers: between the rows by
 * interpolation, beyond them by the difference that LRU makes, NaN if not
 * known.  "tally" is the one that the table was made from.
 */
extern double ws_advice_expect(const WsAdviceTable *table, const WsTally *tally,
							   double buffers);

/*
 * What a larger cache would save, or that it would save nothing, as the rest
 * of a sentence.  Empty if the table is not sure.
 */
extern void ws_advice_reason(const WsAdviceTable *table, char *buf, size_t size);

/*
 * Why the table is not sure, as a sentence; empty if it is, or if nothing is
 * known.
 */
extern void ws_advice_doubt(const WsAdviceTable *table, char *buf, size_t size);

#endif							/* WS_ADVICE_H */
