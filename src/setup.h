/*
 * setup.h
 *		Making the memory that processes share, and starting over.
 */
#ifndef WS_SETUP_H
#define WS_SETUP_H

#include "datatype/timestamp.h"

/* Note that both hooks below are in place. */
extern void ws_setup_expect(void);

/* Ask for the memory and the locks; from shmem_request_hook. */
extern void ws_setup_request(void);

/*
 * Make all of it; from shmem_startup_hook.  If that fails, the log has the
 * reason, and ws_shared is NULL.
 */
extern void ws_setup_startup(void);

/* Write to the log why there is no shared memory, unless it is there already. */
extern void ws_setup_report_missing(void);

/*
 * For SQL functions in a process without shared memory: if the library is
 * preloaded, make memory of this process alone in its place.  It reports that
 * nothing is tracked, and why.  False if the library is not preloaded.
 */
extern bool ws_setup_stand_in(void);

/*
 * Forget everything in memory, and the history if asked to.  Returns the time
 * from which on everything is counted.
 */
extern TimestampTz ws_setup_reset(bool history);

/*
 * The ticks have come to their end: start the clock again, and forget everything
 * but the history.  The worker only.
 */
extern void ws_setup_restart_clock(void);

/*
 * The sketches were filled from the state file, all from this tick on.  Make it
 * their floor, unless there was a reset.
 */
extern void ws_setup_recall(uint32 floor);

#endif							/* WS_SETUP_H */
