/*
 * costs.h
 *		What clients waited for reads, and what they would have waited with
 *		other sizes of the cache: a row for each quarter of an hour of 35 days.
 *
 * The cache advice is about the last five minutes, and its sizes are multiples
 * of the present one.  A setting of shared_buffers stays for weeks.  So what
 * is predicted at each moment is added up here, at fixed sizes in steps of a
 * fourth of an octave (1.19: the ring of a scan makes the curve a cliff), over
 * quarters of an hour.  A week, or the worst quarter, is a sum or a maximum of
 * rows.
 *
 * Reads are weighed.  One that waits for the disk counts as one, and one that
 * the operating system's page cache answers as a fiftieth (division.h).  Where
 * it is not sure which of them wait, each counts as one.  A quarter has weights
 * of one kind only.  What a weighed read takes follows from how long clients
 * were seen waiting (waiting.h).
 *
 * A row belongs to a quarter of the wall clock, as in history.h.  A row is 96
 * bytes, so 35 days are 322,560 bytes, and a year would be 3.4 MB.
 */
#ifndef WS_COSTS_H
#define WS_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "advice.h"
#include "division.h"

#define WS_COST_QUARTERS	3360	/* places: 35 days */
#define WS_COST_QUARTER		900 /* seconds */
#define WS_COST_DAY			96	/* quarters */
#define WS_COST_WEEK		(7 * WS_COST_DAY)
#define WS_COST_PER_OCTAVE	4
#define WS_COST_LEAST		16	/* buffers of size 0 */
#define WS_COST_SIZES		124 /* the last has 2^34 buffers */
#define WS_COST_KEPT		35	/* sizes of a row */

/* Numbers are not negative. */
typedef struct WsCostRow
{
	int64_t		number;			/* quarters since 1970; 0: no row */
	float		active;			/* seconds that clients were active, added, */
	float		waiting;		/* and of these, waited for reads */
	float		buffers;		/* the size that there was, in the end */
	float		reads;			/* weighed, as predicted for it */
	uint8_t		first;			/* the first size of these: */
	uint8_t		tiers;			/* is it sure which reads wait?  0 or 1 */
	uint16_t	cost[WS_COST_KEPT]; /* weighed reads, coded (costs.c) */
} WsCostRow;

/* What was promised for the size that was suggested last. */
typedef struct WsPromise
{
	int64_t		at;				/* seconds since 1970; 0: nothing was
								 * suggested */
	float		buffers;
	float		share;			/* of query time, for reads */
} WsPromise;

typedef struct WsCosts
{
	WsPromise	promise;
	WsCostRow	quarters[WS_COST_QUARTERS];
} WsCosts;

/* The present quarter, as it is added up.  All zeros: nothing yet. */
typedef struct WsCostQuarter
{
	int64_t		number;
	double		active;
	double		waiting;
	double		buffers;
	double		reads;
	bool		tiers;
	double		seconds;		/* that were predicted, */
	double		known[WS_COST_SIZES];	/* of these, each size */
	double		cost[WS_COST_SIZES];
} WsCostQuarter;

/* A moment, which stands for so many seconds. */
typedef struct WsCostMoment
{
	double		seconds;
	double		active;			/* as in a row, in these seconds */
	double		waiting;
	const WsAdviceTable *table;
	const WsTierTable *tiers;	/* NULL: it is not sure which reads wait */
	double		memory;			/* bytes, for both caches and all else */
	double		buffers;		/* the present size, */
	double		buffer;			/* in bytes each */
} WsCostMoment;

/* Buffers of a size, ascending with its number. */
extern double ws_cost_buffers(int size);

/*
 * Add a moment to the quarter of a time in seconds since 1970, and put that
 * into its row.  Moments without a prediction that is sure do not count, nor
 * those without one of waits in a quarter that began with these: in each row
 * all numbers are of the same time, and of one kind.  While no page is looked
 * up nothing is read, at any size.
 */
extern void ws_costs_add(WsCosts *costs, WsCostQuarter *quarter, int64_t time,
						 const WsCostMoment *moment);

/* The row of a quarter; NULL: there is none. */
extern const WsCostRow *ws_cost_row(const WsCosts *costs, int64_t number);

/*
 * Weighed reads of a quarter with so many buffers, by interpolation; NaN: not
 * known.  More than the largest size that is known would read no more than that
 * one, as far as only shared buffers matter, so they count as it.
 */
extern double ws_cost_at(const WsCostRow *row, double buffers);

/* The most buffers of which that is known. */
extern double ws_cost_most(const WsCostRow *row);

/*
 * Was the present size set as promised, within the last day?  Then *came is the
 * share of query time that clients have waited since, for so many seconds.
 */
extern bool ws_costs_came(const WsCosts *costs, int64_t now, double buffers,
						  double *came, double *seconds);

/*
 * The clock was set back by so many seconds to "now".  Rows that would be from
 * before 1970, or of a quarter that has one, are forgotten; what was promised
 * later was promised now.
 */
extern void ws_costs_set_back(WsCosts *costs, int64_t now, int64_t seconds);

/* As ws_history_merge(); of equals the one of the longer activity stays. */
extern void ws_costs_merge(WsCosts *costs, const WsCosts *other, int64_t now);

/* NULL when all rows are sound, else what is wrong.  For data from outside. */
extern const char *ws_costs_check(const WsCosts *costs);

#endif							/* WS_COSTS_H */
