/*
 * setup.h
 *		Making the memory that processes share, and starting over.
 */
#ifndef WS_SETUP_H
#define WS_SETUP_H

#include "datatype/timestamp.h"

/* Note that the two hooks below are in place. */
extern void ws_setup_expect(void);

/* Request the memory and the locks; from shmem_request_hook. */
extern void ws_setup_request(void);

/* Make all of it, or raise an error; from shmem_startup_hook. */
extern void ws_setup_startup(void);

/* Write to the log why nothing is tracked, once for each start. */
extern void ws_setup_report_refusal(void);

/*
 * For SQL functions in a process without shared memory: if the library is
 * preloaded, use private memory instead, which shows that nothing is tracked.
 * False if the library is not preloaded.
 */
extern bool ws_setup_stand_in(void);

/*
 * Forget all data in memory, and the history if asked to.  Returns the time
 * from which lookups count.
 */
extern TimestampTz ws_setup_reset(bool history);

/*
 * Ticks have reached their end: start the clock again, and forget everything
 * but the history.  Only the worker calls it.
 */
extern void ws_setup_restart_clock(void);

/*
 * The sketches now hold the data of the state file, complete since this tick.
 * Make it their floor, unless there was a reset.
 */
extern void ws_setup_recall(uint32 floor);

#endif							/* WS_SETUP_H */
