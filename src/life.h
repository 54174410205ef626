/*
 * life.h
 *		The life table: do pages come back, by how long they have been idle?
 *
 * The idea.  A page is worth its memory if it will be used again within the
 * break-even time.  Whether it will, nobody knows; but of the pages that were
 * as long idle as this one, and had as much of a past, we have counted how
 * many came back.  That is the life table of actuaries, with idle time for
 * age and the next use for the event.  Every 90th of the break-even time (ten
 * seconds, by default) takes one step: each page that was at risk then is
 * counted in its class, and again if it was used since.
 *
 * A page's past is its group: used once; used again, and known for less than
 * the break-even time; known for longer.  Uses within five seconds of the
 * first are one use, for a query may come back to a page.  A page that was
 * idle for more than the break-even time begins anew.
 *
 * The held.  Pages of the upper two groups that are idle for more than a 15th
 * of the break-even time may be held although the table says that they are
 * gone (heuristic.h).  To learn whether such pages do come back, those that
 * become idle while it matters are marked, and their ends are counted: used
 * again, or idle for longer than the hold.
 *
 * Items are the pages of the sample, or the cells of a sketch whose levels
 * are sparse enough for a cell to stand for one page.
 *
 * References: Kaplan and Meier 1958 and the actuarial life table; Denning
 * 1968 (working set); Gray and Putzolu 1987 (the five-minute rule: memory
 * against reading again).
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_LIFE_H
#define WS_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sketch.h"

#define WS_LIFE_GROUPS		3
#define WS_LIFE_CLASSES		30	/* of idle time, up to the break-even time */
#define WS_LIFE_STEPS		90	/* steps in the break-even time */
#define WS_LIFE_STEPS_PER_CLASS (WS_LIFE_STEPS / WS_LIFE_CLASSES)

/* Pages idle for less, in steps, are in use: nobody holds them. */
#define WS_LIFE_IN_USE		6

/* The break-even time, in seconds: a step must be a tick at least. */
#define WS_BREAK_EVEN_MIN		30
#define WS_BREAK_EVEN_DEFAULT	900
#define WS_BREAK_EVEN_MAX		3600

/* The hold, in seconds. */
#define WS_HOLD_DEFAULT			300

typedef struct WsLifeItem
{
	uint32_t	last;			/* tick of the last use known of; 0: no page */
	uint32_t	born;			/* tick of the first of the uses that count */
	unsigned int group:2;
	unsigned int marked:1;		/* became idle while it mattered */
	unsigned int given_up:1;	/* marked, and counted as not coming back */
	unsigned int told:16;		/* number of the step it was last told in */
} WsLifeItem;

/*
 * What has been counted.  Everything in items.
 */
typedef struct WsLifeTable
{
	/* remembered, older steps less */
	double		at_risk[WS_LIFE_GROUPS][WS_LIFE_CLASSES];
	double		returned[WS_LIFE_GROUPS][WS_LIFE_CLASSES];
	double		marked;			/* ends of marked pages, */
	double		came_back;		/* and how many were a use */

	/* of this step */
	double		population[WS_LIFE_GROUPS][WS_LIFE_STEPS];	/* by idle time */
	double		in_use;			/* of groups 1 and 2, idle for less than
								 * WS_LIFE_IN_USE steps and the hold */
	double		idle;			/* and for longer, but less than the hold */
} WsLifeTable;

typedef struct WsLife
{
	uint32_t	nitems;
	uint32_t	break_even;		/* ticks */
	uint32_t	hold;			/* ticks */
	uint32_t	stepped;		/* tick of the last step; 0: none yet */
	uint32_t	steps;			/* number of the present step, or the last */
	bool		mark;			/* does it matter who becomes idle? */
	WsLifeTable table;

	/* counted in this step */
	double		at_risk[WS_LIFE_GROUPS][WS_LIFE_CLASSES];
	double		returned[WS_LIFE_GROUPS][WS_LIFE_CLASSES];

	WsLifeItem	items[];
} WsLife;

/* Bytes of a life table of so many items. */
extern size_t ws_life_size(uint32_t nitems);

/*
 * Make an empty one in memory of that size.  Times are in seconds, the
 * break-even time within its bounds, the hold at most as long.
 */
extern void ws_life_init(WsLife *life, uint32_t nitems, int break_even, int hold);

/* Is a step due? */
extern bool ws_life_due(const WsLife *life, uint32_t now);

/*
 * A step: begin; tell the last use of every item that counts now; end.  An
 * item's "before" is the tick of the use before the last, or 0 if there was
 * none or it is not known; it is asked for when the item is first seen.  An
 * item that was not told in the step before is not counted at risk: it may
 * have been used at any time since.
 *
 * trusted: may this step's counts be believed?  Not if uses were lost, or if
 * the step was far too long: then the tables of risk are left as they are, and
 * only the population and the marks are taken.
 */
extern void ws_life_begin_step(WsLife *life);
extern void ws_life_item(WsLife *life, uint32_t item, uint32_t last, uint32_t before,
						 uint32_t now);
extern void ws_life_end_step(WsLife *life, uint32_t now, bool trusted);

/*
 * A whole step, with the cells of a sketch for items: as many as it has, cell
 * i being item i.  Of the pages of the window, that many in all, those count
 * whose levels have at most a page in eight cells; returns which share of all
 * pages these are.
 */
extern double ws_life_step_cells(WsLife *life, const WsSketch *sketch, double pages,
								 uint32_t now, bool trusted);

/* An item is no more, or will be another page. */
extern void ws_life_forget(WsLife *life, uint32_t item);

/* NULL when all invariants hold, else what is wrong. */
extern const char *ws_life_check(const WsLife *life);

#endif							/* WS_LIFE_H */
