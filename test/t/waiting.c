/*
 * waiting.c
 *		For 031_memory_advice.pl: a client that waits for a read, until its query
 *		is cancelled.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/wait_event.h"

PG_MODULE_MAGIC;

PGDLLEXPORT Datum ws_test_wait(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(ws_test_wait);

/* The argument: is it an I/O worker or the kernel that reads?  (18) */
Datum
ws_test_wait(PG_FUNCTION_ARGS)
{
	uint32		event = WAIT_EVENT_DATA_FILE_READ;

#if PG_VERSION_NUM >= 180000
	if (PG_GETARG_BOOL(0))
		event = WAIT_EVENT_AIO_IO_COMPLETION;
#endif
	pgstat_report_wait_start(event);
	for (;;)
	{
		pg_usleep(10000);
		CHECK_FOR_INTERRUPTS();
	}
}
