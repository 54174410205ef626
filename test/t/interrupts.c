/*
 * interrupts.c
 *		For 042_cancelled.pl: cancels the query of this session when working_set.so
 *		calls a function for the n-th time, and counts its calls.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "access/genam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "rewire.h"

PG_MODULE_MAGIC;

PGDLLEXPORT Datum ws_test_interrupt(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum ws_test_calls(PG_FUNCTION_ARGS);

static int	calls = 0;
static int	cancelled_at = 0;

/* as the signal to cancel does, which comes when a call has been made */
static void
count_call(void)
{
	if (++calls == cancelled_at)
		InterruptPending = QueryCancelPending = true;
}

static int
count_lookup(BufferTag *tag, uint32 hash)
{
	int			buffer = BufTableLookup(tag, hash);

	count_call();
	return buffer;
}

static int
count_path(char *text, size_t size, const char *format,...)
{
	va_list		args;
	int			n;

	va_start(args, format);
	n = vsnprintf(text, size, format, args);
	va_end(args);
	count_call();
	return n;
}

static SysScanDesc
count_scan(Relation relation, Oid index, bool with_index, Snapshot snapshot, int n, ScanKey key)
{
	SysScanDesc scan = systable_beginscan(relation, index, with_index, snapshot, n, key);

	count_call();
	return scan;
}

static void
count_row(Tuplestorestate *set, TupleDesc desc, Datum *values, bool *nulls)
{
	tuplestore_putvalues(set, desc, values, nulls);
	count_call();
}

/* From now on: the calls of a symbol.  0: the query is not cancelled. */
PG_FUNCTION_INFO_V1(ws_test_interrupt);
Datum
ws_test_interrupt(PG_FUNCTION_ARGS)
{
	static const struct
	{
		const char *symbol;
		void	   *function;
	}			counted[] = {
		{"BufTableLookup", (void *) count_lookup},
		{"pg_snprintf", (void *) count_path},
		{"systable_beginscan", (void *) count_scan},
		{"tuplestore_putvalues", (void *) count_row}
	};
	char	   *symbol = text_to_cstring(PG_GETARG_TEXT_PP(0));

	for (int i = 0; i < (int) lengthof(counted); i++)
		rewire(counted[i].symbol, strcmp(counted[i].symbol, symbol) == 0 ? counted[i].function :
			   dlsym(RTLD_DEFAULT, counted[i].symbol));
	calls = 0;
	cancelled_at = PG_GETARG_INT32(1);
	PG_RETURN_VOID();
}

/* Their number; after the one that cancelled the query, if one did. */
PG_FUNCTION_INFO_V1(ws_test_calls);
Datum
ws_test_calls(PG_FUNCTION_ARGS)
{
	int			n = calls - cancelled_at;

	calls = cancelled_at = 0;
	PG_RETURN_INT32(n);
}
