/*
 * waiting.c
 *		For 031_memory_advice.pl: a client that waits for a read, until its query
 *		is cancelled.
 */
#include "postgres.h"

#include <sys/prctl.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/wait_event.h"

PG_MODULE_MAGIC;

PGDLLEXPORT Datum ws_test_wait(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(ws_test_wait);

/*
 * 'asynchronous': an I/O worker or the kernel reads (18); 'maintenance': VACUUM;
 * 'hidden': the kernel shows others of the same user nothing of its memory, nor
 * what it reads
 */
Datum
ws_test_wait(PG_FUNCTION_ARGS)
{
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
	uint32		event = WAIT_EVENT_DATA_FILE_READ;

#if PG_VERSION_NUM >= 180000
	if (strcmp(kind, "asynchronous") == 0)
		event = WAIT_EVENT_AIO_IO_COMPLETION;
#endif
	if (strcmp(kind, "maintenance") == 0)
	{
		/* in both places, as VACUUM does */
		LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
		MyProc->statusFlags |= PROC_IN_VACUUM;
		ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
		LWLockRelease(ProcArrayLock);
	}
	if (strcmp(kind, "hidden") == 0)
		(void) prctl(PR_SET_DUMPABLE, 0);
	pgstat_report_wait_start(event);
	/* nothing wakes it but the signal to end, so it looks for that */
	for (;;)
	{
		pg_usleep(10000);
		CHECK_FOR_INTERRUPTS();
	}
}
