/*
 * sql_common.h
 *		What the functions that SQL can call have in common.
 *
 * A column is NULL, or there are no rows, where there is no answer (yet).
 */
#ifndef WS_SQL_COMMON_H
#define WS_SQL_COMMON_H

#include "access/tupdesc.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/tuplestore.h"

/* The head of a function that SQL can call. */
#define WS_FUNCTION(name) \
	PGDLLEXPORT Datum name(PG_FUNCTION_ARGS); \
	PG_FUNCTION_INFO_V1(name); \
	Datum name(PG_FUNCTION_ARGS)

/* Raise the error for the value of an argument. */
#define WS_REJECT(...) \
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg(__VA_ARGS__)))

/* Raise an error if the library is not preloaded; to be called first. */
extern void ws_require_preloaded(void);

/* The window since the last reset or start, and the longest. */
#define WS_ALL_TICKS UINT32_MAX

/*
 * Seconds, and a period, as ticks, rounded up; an error, which calls them by
 * the name, if they are negative.  A month counts as 30 days.
 */
extern uint32 ws_seconds_to_ticks(double seconds, const char *name);
extern uint32 ws_period_to_ticks(const Interval *period);

/* Pages in bytes: at most all that fit; 0 for NaN and negative numbers. */
extern int64 ws_pages_to_bytes(double pages);

/*
 * The row of a function that returns a record, or each row of a set.  Begin
 * once; then for each row add all columns in their order, and end it.
 */
#define WS_MAX_COLUMNS 22

typedef struct WsRow
{
	TupleDesc	desc;
	Tuplestorestate *set;		/* NULL: a single row */
	int			n;				/* columns added so far */
	Datum		values[WS_MAX_COLUMNS];
	bool		nulls[WS_MAX_COLUMNS];
} WsRow;

extern void ws_row_begin(WsRow *row, FunctionCallInfo fcinfo);

/*
 * Add a column: any value, a float8, pages as bytes or a text.  It is NULL if
 * the value is not known, NaN, a size of infinity or a null pointer.
 */
extern void ws_row_add(WsRow *row, bool known, Datum value);
extern void ws_row_add_number(WsRow *row, bool known, double number);
extern void ws_row_add_pages(WsRow *row, bool known, double pages);
extern void ws_row_add_text(WsRow *row, const char *words);

/*
 * Returns the result of a function that returns a single row.  A set's can be
 * cancelled here, at each row.
 */
extern Datum ws_row_end(WsRow *row);

/*
 * The largest relations of the last five minutes with their sizes, or an empty
 * string: sql_relations.c's part of working_set().  The FmgrInfo is that of the
 * SQL function.
 */
extern const char *ws_relations_top(const FmgrInfo *function);

#endif							/* WS_SQL_COMMON_H */
