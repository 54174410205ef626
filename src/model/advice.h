/*
 * advice.h
 *		From counts of the last minutes to a table: the hit ratio at other
 *		sizes of the cache, and how sure that is.
 *
 * The miniature sweeps count which sampled accesses would miss at each size.
 * Real over sampled reads scale these misses to all pages, apart for
 * sequential scans and for the rest.  If few reads were sampled, the sampling
 * rate scales them, corrected by the size of the working set, which the sketch
 * knows better than the sample.
 *
 * The error.  Leaving out one group of sampled pages at a time shows how much
 * the answer depends on the sample, and leaving out one block of the time, how
 * much it depends on when it was asked (the jackknife; Tukey 1958).  How many
 * sampled pages compete for a larger cache is a matter of chance, too.  The
 * prediction for the present size is not made to agree with the measured hit
 * ratio, so their difference, now and lately, shows how wrong the simulation
 * is.  The farther a size is from the present one, and the more it changes what
 * becomes of scans, the less does any of this prove.
 *
 * People pay for reads, and where these are few, a hit ratio hides a factor of
 * two.  So all of this is in reads, and no more than a share of them where it
 * is a supposition.  Reads of pages that were never seen before, while the
 * cache of a larger size is not full, are not known to be any there: it may
 * have had the page for long.  They are added to the upper bound only.
 */
#ifndef WS_ADVICE_H
#define WS_ADVICE_H

#include "pagehash.h"
#include "scans.h"
#include "sweep.h"

/* Counts of a period, all doubles.  A sampled access counts as 2^shift. */
typedef struct WsTally
{
	double		seconds;
	double		hits;			/* of clients, all pages */
	double		reads;
	double		scan_reads;		/* those of them in runs of blocks */
	double		weight;			/* pages for each sampled one, lately */
	double		pages;			/* sampled pages that were used */
	double		correction;		/* all pages used, over those that the sampled
								 * ones stand for; 0: not known */

	/* events that were read from the stream, and that were lost */
	double		taken;
	double		lost;

	/* sampled reads in runs: all, and those of sequential scans */
	double		run_reads[2];

	/* sampled reads that really happened, and how many events they were */
	double		sampled[WS_CLIENT_CLASSES][WS_ERROR_GROUPS];
	double		events[WS_CLIENT_CLASSES];

	/*
	 * lookups that the caches of these sizes do not see (damping.h), less
	 * what those in bursts count more; so about none
	 */
	double		unseen[WS_SWEEP_SIZES];

	/*
	 * sampled accesses that would miss; of these, those that may not because
	 * what was used between bursts was not seen; and others that may miss
	 */
	double		missed[WS_SWEEP_SIZES][WS_CLIENT_CLASSES][WS_ERROR_GROUPS];
	double		unseen_use[WS_SWEEP_SIZES][WS_CLIENT_CLASSES];
	double		unknown[WS_SWEEP_SIZES][WS_CLIENT_CLASSES];
} WsTally;

/* Count all lookups of a time, of which this share was in bursts. */
extern void ws_tally_lookups(WsTally *tally, double hits, double reads, uint32_t bursts_only,
							 double share);

/*
 * Count a client's access, which stands for so many pages, and what the sweeps
 * made of it.  Of a page that was not used before, the real cache did what it
 * did.  If it read the page, so would smaller ones, and if it had it, so would
 * larger ones.  Beyond that, those that are full with pages used since would
 * have read it, and of the others it is unknown.  settled: the stratum is
 * sampled for as long as the sweeps know others, so that it would be known.
 */
extern void ws_tally_access(WsTally *tally, const WsAccess *access, WsClass class, bool settled,
							double weight, const WsSweep *sweep);

/* Add one tally to another; the later weight is kept. */
extern void ws_tally_add(WsTally *sum, const WsTally *part);

/* Parts of an error, in the order in which they are named if they are equal. */
typedef enum WsErrorPart
{
	WS_ERROR_OF_SAMPLE,
	WS_ERROR_OF_CHANGE,			/* of the load, within the period */
	WS_ERROR_OF_UNKNOWN,		/* first uses of pages */
	WS_ERROR_OF_BURSTS,			/* uses between them */
	WS_ERROR_OF_PRESENT,		/* as at the present size, now and lately */
	WS_ERROR_OF_SCANS,
	WS_ERROR_PARTS
} WsErrorPart;

/* One size; NaN if not known. */
typedef struct WsAdvice
{
	double		factor;			/* size as a multiple of the present one */
	double		buffers;
	double		hit_ratio;
	double		reads_per_second;	/* that are known, and 95 % bounds */
	double		low;
	double		high;
	double		unknown;		/* a second: what high has for first uses */
	double		error;			/* 95 % bound: hit_ratio is off by less */
	WsErrorPart from;			/* most of that comes from this */
} WsAdvice;

/*
 * Errors of a simulation with all pages sampled, as bench/advice finds them: at
 * any size and for each doubling or halving, and as a share of the scans' reads
 * that there are more or fewer of.  The first is at most a share of the reads.
 */
#define WS_ADVICE_MODEL_ERROR 0.001
#define WS_ADVICE_MODEL_SHARE 0.05
#define WS_ADVICE_SCAN_ERROR 0.05
#define WS_ADVICE_TOLERANCE 0.03	/* of a sure one, at the present size */
#define WS_ADVICE_LOST 0.01		/* of the events, at most */

/* So many reads matter: a second, or as a share of the lookups. */
#define WS_ADVICE_READS 20.0
#define WS_ADVICE_READS_SHARE 0.01

typedef struct WsAdviceTable
{
	double		seconds;		/* period of the counts */
	double		lookups;		/* in it */
	double		hit_ratio;		/* measured; NaN without any lookup */
	double		reads_per_second;	/* measured */
	double		difference;		/* present row less hit_ratio, or NaN */
	double		lost;			/* share of the events */
	bool		sure;			/* the difference is known and within the
								 * tolerance, few events were lost, and the
								 * server replaces as simulated */
	int			other_usage;	/* if not: see WsAdviceFacts */
	bool		followed;		/* is the last row of one size? */
	WsAdvice	rows[WS_SWEEP_SIZES];
} WsAdviceTable;

/* What the advice is made from. */
typedef struct WsAdviceFacts
{
	const WsTally *tally;		/* the sum of the parts */
	const WsTally *parts;		/* of the time: a ring of so many */
	int			nparts;
	int			oldest;
	double		nbuffers;		/* of the server */
	const double *factors;		/* simulated sizes, as multiples of that */
	const uint32_t *resident;	/* sampled pages that fit at each size: if
								 * these are few, the row is not known */
	double		off;			/* ws_mean_difference() */
	bool		followed;		/* ws_advice_followed() */
	int			other_usage;	/* the server's largest usage count, if it is
								 * not WS_USAGE_MAX; else 0 */
} WsAdviceFacts;

/* Sum over all groups of pages but one; -1: over all. */
extern double ws_sum_groups(const double *groups, int but);

/* Standard error of an answer, from the answers without one of n parts. */
extern double ws_jackknife(const double *without, int n);

#define WS_QUANTILE_OF_GROUPS 2.13	/* of Student's distribution, 95 % */

extern void ws_advise(const WsAdviceFacts *facts, WsAdviceTable *table);

/* Differences at the present size; sums in which old ones count less. */
typedef struct WsDifferences
{
	double		squares;
	double		weight;
	int64_t		noted_at;		/* in ms */
} WsDifferences;

#define WS_DIFFERENCE_MS 7200000.0	/* until a difference counts half */

/* What it has to be about, at least. */
#define WS_DIFFERENCE_SECONDS 150
#define WS_DIFFERENCE_LOOKUPS 1000

/* Note one of this moment, unless it is NaN; or that of an advice. */
extern void ws_note_difference(WsDifferences *differences, double difference, int64_t now);
extern void ws_advice_note_difference(WsDifferences *differences, const WsAdviceTable *table,
									  int64_t now);

/* The root mean square by time; 0: none was noted. */
extern double ws_mean_difference(const WsDifferences *differences);

/*
 * The hit ratio expected with so many buffers: that of their row, or by
 * interpolation between the two nearest rows, of the grid or the followed one,
 * if they are not in doubt.  Outside the grid by the followed row, if its size
 * is close; or NaN.
 */
extern double ws_advice_expect(const WsAdviceTable *table, double buffers);

/*
 * Reads a second that are expected with so many buffers, in the same way, with
 * those that are unknown; NaN: not known.
 */
extern double ws_advice_expect_reads(const WsAdviceTable *table, double buffers);

/*
 * A size that the sweeps follow: each small change passes for none in the
 * counts, but they are of one size only if the sum is small, too.
 */
typedef struct WsFollower
{
	double		from;			/* size at the last jump; 0: none yet */
	int64_t		jumped_at;		/* when, in ms */
} WsFollower;

#define WS_FOLLOW_LEAST	(1 / 32.0)	/* times the present size */
#define WS_FOLLOW_MOST	64.0
#define WS_FOLLOW_JUMP	(1 / 16.0)	/* of a size */

/*
 * The factor to simulate for so many buffers, if these are known, else the one
 * given.  *jumped: the size is another one, so fill the simulated cache again.
 */
extern double ws_advice_follow(WsFollower *follower, double factor, double buffers,
							   double nbuffers, int64_t now, bool *jumped);

/* Has it followed one size for so many seconds? */
extern bool ws_advice_followed(const WsFollower *follower, double seconds, int64_t now);

/*
 * Why the table is not sure; empty if it is, or if nothing is known.  until is
 * when the cache will have filled, as text; empty: it has.
 */
extern void ws_advice_doubt(const WsAdviceTable *table, const char *until, char *buf, size_t size);

/*
 * Why the bounds of a row are so far apart, a factor of two of reads that
 * matter, that it predicts next to nothing; NULL if they are closer.
 */
extern const char *ws_advice_row_note(const WsAdviceTable *table, const WsAdvice *row);

/* Why a row of a sure table is not; NULL if it is. */
extern const char *ws_advice_row_doubt(const WsAdviceTable *table, const WsAdvice *row);

#endif							/* WS_ADVICE_H */
