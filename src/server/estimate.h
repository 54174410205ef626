/*
 * estimate.h
 *		Sizes of the working set, from the sketches.
 *
 * All calls in one statement answer for the same instant: sixty calls with a
 * window each have to give a curve that rises with the window, as one call for
 * sixty windows does.  The first call takes the curve (curve.h) up to
 * its own window, and the first one that needs more takes all for the others.
 *
 * An instant lasts for one execution of the statement, for a second at most,
 * and not beyond a reset.  A statement that a function runs has its own.
 * PL/pgSQL runs no statement for an expression such as "x := f()": all
 * expressions of a transaction share an instant until the client's next
 * statement or the end of the second.
 */
#ifndef WS_ESTIMATE_H
#define WS_ESTIMATE_H

#include "curve.h"
#include "shared.h"

/* Whose lookups: one kind, or both. */
#define WS_OF(kind)	(1 << (kind))
#define WS_OF_ALL	(WS_OF(WS_CLIENT) | WS_OF(WS_MAINTENANCE))

/*
 * Estimate the distinct pages that these kinds of processes used in n windows,
 * whose ages are in ticks, in any order.  Returns the tick at which they end.
 * statement is fn_mcxt of the calling SQL function; NULL: the present.
 */
extern uint32 ws_estimate(MemoryContext statement, int kinds,
						  const uint32 *ages, int n, WsEstimate *out);

/* The part of an estimate that can be used again, by its share. */
static inline void
ws_estimate_alive(WsEstimate *estimate, double alive)
{
	estimate->pages *= alive;
	estimate->variance *= alive * alive;
}

#endif							/* WS_ESTIMATE_H */
