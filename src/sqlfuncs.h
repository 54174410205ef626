/*
 * sqlfuncs.h
 *		What the functions that SQL can call have in common.
 *
 * A column is NULL, or there are no rows, where there is no answer (yet).  If
 * the library is not preloaded, every function that needs the server's data
 * raises object_not_in_prerequisite_state.
 */
#ifndef WS_SQLFUNCS_H
#define WS_SQLFUNCS_H

#include "access/tupdesc.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/tuplestore.h"

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
 * as 30 days, and a period beyond the range of ticks is UINT32_MAX.
 */
extern uint32 ws_period_to_ticks(const Interval *period);

/*
 * Pages in bytes.  NaN and negative numbers are 0, and a size that does not
 * fit is the largest that does.
 */
extern int64 ws_pages_to_bytes(double pages);

/*
 * A row of an answer: the one row of a function that returns a record, or each
 * row of a set.  Begin once; then for each row add all columns in their order,
 * and end it.
 */
#define WS_MAX_COLUMNS 32

typedef struct WsRow
{
	TupleDesc	desc;
	Tuplestorestate *set;		/* NULL: a single row */
	int			n;				/* columns added so far */
	Datum		values[WS_MAX_COLUMNS];
	bool		nulls[WS_MAX_COLUMNS];
} WsRow;

extern void ws_row_begin(WsRow *row, FunctionCallInfo fcinfo);

/* Add a column: the value, or NULL if it is not known. */
extern void ws_row_add(WsRow *row, bool known, Datum value);

/* Add a float8, or NULL for NaN. */
extern void ws_row_add_number(WsRow *row, bool known, double number);

/* Add pages as bytes, or NULL for NaN and infinity. */
extern void ws_row_add_pages(WsRow *row, bool known, double pages);

/* Add a text, or NULL for a null pointer. */
extern void ws_row_add_text(WsRow *row, const char *words);

/* End the row; returns the result of a function that returns a single row. */
extern Datum ws_row_end(WsRow *row);

#endif							/* WS_SQLFUNCS_H */
