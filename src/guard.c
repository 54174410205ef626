/*
 * guard.c
 *		Steps of the server's start that must not stop it; see guard.h.
 *
 * An error in the postmaster ends it, unless somebody catches it.  With
 * exit_on_error = on the server makes each error fatal, so that nobody can.
 * That setting is meant for errors of sessions.  The guard therefore takes it
 * back for the time of the step.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lwlock.h"
#include "utils/memutils.h"

#include "guard.h"

bool
ws_guard(void (*step) (void), char *why, size_t size)
{
	MemoryContext context = CurrentMemoryContext;
	bool		exit_on_error = ExitOnAnyError;
	volatile bool done = false;

	ExitOnAnyError = false;
	PG_TRY();
	{
		step();
		done = true;
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		LWLockReleaseAll();		/* 19 leaves its own to the end of the process */
		strlcpy(why, error->message, size);
		FreeErrorData(error);
	}
	PG_END_TRY();
	ExitOnAnyError = exit_on_error;

	return done;
}
