/*
 * persist.h
 *		What is kept over a restart, in a file of the data directory: the
 *		sketches, the sample and the history.
 *
 * The worker reads and writes it: reads once after each start of the
 * server, before it does anything else, and takes over what is younger than
 * what there is; writes every working_set.save, at shutdown, and soon after a
 * reset.  The file is written aside and renamed, so there is always a whole
 * one.  It stays where it is after it was read.
 *
 * A process that resets writes as well, so that a reset is durable when it
 * returns, also where there is no worker: a file of before the reset is
 * removed, or replaced by one with the history alone.
 *
 * What does not look as it should, is not a file, or is another cluster's, is
 * not trusted: it is put aside under another name, and the log says why.  No
 * fault of the file or the disk keeps the server, or the worker, from anything
 * else.
 */
#ifndef WS_PERSIST_H
#define WS_PERSIST_H

#include "datatype/timestamp.h"

/* Relative to the data directory, where the server keeps such things. */
#define WS_SAVE_FILE	"pg_stat/working_set.saved"

/* Take over what was saved. */
extern void ws_persist_load(void);

/* Save. */
extern void ws_persist_save(void);

/*
 * Forget everything, but the history only if told to, in memory and on disk;
 * returns the time from which on all is counted.
 */
extern TimestampTz ws_persist_reset(bool history);

/* To be called at every tick: saves if it is time. */
extern void ws_persist_tick(void);

#endif							/* WS_PERSIST_H */
