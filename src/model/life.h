/*
 * life.h
 *		The life table: do pages come back, by how long they have been idle?
 *
 * The idea.  A page is worth its memory if it is used again within the
 * break-even time.  Of the pages that were idle for as long, and had a similar
 * past, the table has counted how many came back: an actuary's life table, with
 * idle time for age and the next use for the event.  At each step every sampled
 * page that was at risk at the step before is counted in its class of idle
 * time, and counted again if it was used since.
 *
 * Up to 15 minutes, the break-even time has 90 steps, 30 classes of three bins,
 * and a bin is a step long.  If it is longer, steps stay at ten seconds, so
 * that a new working set is seen as soon.  Classes become wider, the old ones
 * most: class c begins at 3 c steps and (c/30)^4 of the steps beyond 90.  Of 24
 * hours the first class is 30 seconds wide and the last three hours.  What is
 * at risk is counted in bins, by the time since the last step: that may be more
 * than a step, since it is whole ticks.
 *
 * A page's past, its group: used once, by a sequential scan; used once
 * otherwise; used again, and known for less than the break-even time; known for
 * longer, by the gap before its last use, in quarters of it, so that what comes
 * back in rounds is known after two.  Uses within five seconds of the first
 * count as one, since one query may look at a page several times.  A page idle
 * for more than the break-even time starts over.
 *
 * Pages that were used again may be held although the table gives them up
 * (heuristic.h).  While it matters, the table marks those that become idle, to
 * count whether they come back.  A mark ends when the page is used again, or
 * when it has been idle for longer than the hold.
 *
 * References: Kaplan and Meier 1958 and the actuarial life table; Denning 1968
 * (working set); Gray and Putzolu 1987 (the five-minute rule: the price of
 * memory against the price of reading again).
 */
#ifndef WS_LIFE_H
#define WS_LIFE_H

#include "sketch.h"

#define WS_LIFE_CLASSES		30	/* of idle time, up to the break-even time */
#define WS_LIFE_BINS		90	/* of idle time, likewise */
#define WS_LIFE_BINS_PER_CLASS (WS_LIFE_BINS / WS_LIFE_CLASSES)

#define WS_LIFE_GAPS		4	/* groups of pages known for long */
#define WS_LIFE_IN_USE		6	/* pages idle for fewer steps are not held */

/* In seconds.  A step is at least one tick.  The hold is that of a pause. */
#define WS_BREAK_EVEN_MIN		30
#define WS_BREAK_EVEN_DEFAULT	900
#define WS_BREAK_EVEN_MAX		86400
#define WS_HOLD					300

/* groups */
enum
{
	WS_LIFE_SCANNED,
	WS_LIFE_ONCE,
	WS_LIFE_AGAIN,
	WS_LIFE_LONG,				/* the first, of the longest gaps */
	WS_LIFE_GROUPS = WS_LIFE_LONG + WS_LIFE_GAPS	/* how many there are */
};

typedef struct WsLifeItem
{
	uint32_t	last;			/* tick of the last known use; 0: no page */
	uint32_t	born;			/* tick of the first use that counts; of the
								 * last, if it is known for longer */
	unsigned int group:3;
	unsigned int marked:1;		/* became idle while it mattered */
	unsigned int given_up:1;	/* marked, and counted as not coming back */
	unsigned int reported:16;	/* number of the last step that reported it */
} WsLifeItem;

/* The counts, all in items. */
typedef struct WsLifeTable
{
	double		bin_steps[WS_LIFE_CLASSES]; /* steps in a bin, fixed */

	/* of all steps; older steps weigh less */
	double		at_risk[WS_LIFE_GROUPS][WS_LIFE_CLASSES];	/* for a bin */
	double		returned[WS_LIFE_GROUPS][WS_LIFE_CLASSES];
	double		marked;			/* marks that ended, */
	double		came_back;		/* and those that ended in a use */

	/* of this step */
	double		population[WS_LIFE_GROUPS][WS_LIFE_BINS];	/* by idle time */

	double		in_use;			/* could be held, idle below WS_LIFE_IN_USE, */
	double		idle;			/* and above */
} WsLifeTable;

typedef struct WsLife
{
	uint32_t	nitems;
	uint32_t	break_even;		/* ticks */
	uint32_t	hold;			/* ticks */
	uint32_t	bin[WS_LIFE_BINS + 1];	/* ticks of idle time where it begins */
	uint32_t	stepped;		/* tick of the last step; 0: none yet */
	uint32_t	steps;			/* number of this step, or of the last */
	uint32_t	shift;			/* items are one page in 2^shift */
	bool		mark;			/* mark pages that become idle? */
	WsLifeTable table;

	/* counted in this step */
	double		at_risk[WS_LIFE_GROUPS][WS_LIFE_CLASSES];
	double		returned[WS_LIFE_GROUPS][WS_LIFE_CLASSES];

	WsLifeItem	items[];
} WsLife;

/* Bytes of a life table of so many items. */
extern size_t ws_life_size(uint32_t nitems);

/* Make it empty.  Times are in seconds; it holds for break_even / 3 at most. */
extern void ws_life_init(WsLife *life, uint32_t nitems, int break_even, int hold);

/*
 * From now on, items are one page in 2^shift.  If these are fewer, earlier
 * counts are converted, so that they keep their proportion to the population.
 * If they are more, they are not: no more was seen than was counted.
 */
extern void ws_life_set_shift(WsLife *life, uint32_t shift);

extern bool ws_life_due(const WsLife *life, uint32_t now);

/*
 * A step: begin, report the last use of every item that counts now, end.
 * "before" is the tick of the use before the last, 0 if it is not known; only a
 * new item needs it.  "scanned": was the last use a sequential scan's?
 *
 * An item that the step before did not report is not counted at risk, since it
 * may have been used at any time since.  If events were lost, or the step took
 * far too long, it is not trusted: its counts of risk are dropped, and only the
 * population and the marks are taken.
 */
extern void ws_life_begin_step(WsLife *life);
extern void ws_life_item(WsLife *life, uint32_t item, uint32_t last, uint32_t before,
						 bool scanned, uint32_t now);
extern void ws_life_end_step(WsLife *life, uint32_t now, bool trusted);

/* An item is gone, or becomes another page. */
extern void ws_life_forget(WsLife *life, uint32_t item);

#endif							/* WS_LIFE_H */
