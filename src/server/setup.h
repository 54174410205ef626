/*
 * setup.h
 *		The memory that processes share, and starting over.
 */
#ifndef WS_SETUP_H
#define WS_SETUP_H

#include "datatype/timestamp.h"
#include "storage/lwlock.h"

#define WS_NLOCKS 3

/* What it takes, with a sample or without, and how to make and find it. */
extern Size ws_setup_size(bool sample);
extern void ws_setup_init(char *memory, LWLockPadded *locks, bool sample);
extern void ws_setup_use(char *memory);

/* The server starts, or starts again: there is no memory yet. */
extern void ws_setup_begin(void);

/* Write to the log why nothing is tracked, once for each start. */
extern void ws_setup_report_refusal(void);

/*
 * For SQL functions: if there is no shared memory, use private memory, which
 * shows that nothing is tracked.  False if the library is not preloaded.
 */
extern bool ws_setup_stand_in(void);

/* Forget all data, the history only if asked to.  Returns the new "since". */
extern TimestampTz ws_setup_reset(bool history);

/*
 * Ticks have reached their end: start the clock again, and forget everything
 * but the history.  For the worker.
 */
extern void ws_setup_restart_clock(void);

/*
 * The state file, complete since this tick, is in the sketches: make the tick
 * their floor, unless there was a reset.
 */
extern void ws_setup_recall(uint32 floor);

#endif							/* WS_SETUP_H */
