/*
 * instant.h
 *		The one instant that all calls in a statement answer for.
 *
 * Sixty calls of a function with a window each, in one statement, have to
 * give a curve that rises with the window, as one call for sixty windows does.
 * So the first call takes the curve of its instant (curve.h), and the others
 * answer from it.  That also makes them cheap.
 *
 * The instant lasts for one execution of the statement, for a second at most,
 * and not beyond a reset.  A statement that a function runs is one of its own.
 * PL/pgSQL runs no statement for an expression such as "x := f()": all
 * expressions of a transaction share an instant, until the client sends its
 * next statement or the second is over.
 */
#ifndef WS_INSTANT_H
#define WS_INSTANT_H

#include "fmgr.h"

#include "curve.h"
#include "shmem.h"

/* Whose lookups: one kind, or both. */
#define WS_OF(kind)	(1 << (kind))
#define WS_OF_ALL	(WS_OF(WS_CLIENT) | WS_OF(WS_MAINTENANCE))

/*
 * The curve of the instant of the statement that calls this function; the tick
 * of the instant in *now, unless that is NULL.
 */
extern WsCurve *ws_instant_curve(const FmgrInfo *function, int whose, uint32 *now);

#endif							/* WS_INSTANT_H */
