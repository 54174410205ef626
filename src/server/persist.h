/*
 * persist.h
 *		The state file, in the data directory: the sketches, the sample and the
 *		history over a restart.
 *
 * The worker loads it once after each start of the server, before anything
 * else; where memory has newer data, these stay.  It saves every
 * working_set.save, at shutdown, and soon after a reset.  The file is written
 * aside and renamed, so that there is always a whole one; loading does not
 * remove it.  A process that resets saves as well.  So a reset is durable when
 * it returns, also without a worker.
 *
 * A file that cannot be trusted (statefile.h) is renamed, and the log has the
 * reason.  No fault of the file or the disk stops the server or the worker.
 */
#ifndef WS_PERSIST_H
#define WS_PERSIST_H

#include "datatype/timestamp.h"

/* Relative to the data directory; the server keeps such files there. */
#define WS_SAVE_FILE	"pg_stat/working_set.saved"

extern void ws_persist_load(void);
extern void ws_persist_save(void);

/*
 * Forget everything in memory and on disk, the history only if asked to;
 * returns the time from which on everything is counted.
 */
extern TimestampTz ws_persist_reset(bool history);

/* Save if it is time; at every tick. */
extern void ws_persist_tick(void);

#endif							/* WS_PERSIST_H */
