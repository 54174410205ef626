/*
 * sqlfuncs.h
 *		What the functions that SQL can call have in common.
 *
 * NULL, or no rows, means "not known", or not yet.  When the library was not
 * preloaded, every function that asks the server raises
 * object_not_in_prerequisite_state.
 */
#ifndef WS_SQLFUNCS_H
#define WS_SQLFUNCS_H

#include "datatype/timestamp.h"
#include "fmgr.h"

/* Declare a function that SQL can call. */
#define WS_FUNCTION(name) \
	PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name)

/*
 * Raise the error for a library that is not preloaded.  To be called before
 * anything else.
 */
extern void ws_require_preloaded(void);

/*
 * A period as ticks, rounded up; an error if it is negative.  A month counts
 * as 30 days, and what is longer than all time is all time.
 */
extern uint32 ws_period_to_ticks(const Interval *period);

/*
 * Pages in bytes.  What is not known or negative is 0, and what does not fit is
 * the most that fits.
 */
extern int64 ws_pages_to_bytes(double pages);

#endif							/* WS_SQLFUNCS_H */
