/*
 * lookup.h
 *		What happens at each lookup of a page in shared buffers: the hot path.
 *
 * The server calls the function of ws_lookup_match(), and ws_lookup_insert(),
 * with the lock of a partition held, and sometimes in a critical section.  So
 * they only read the state of that lock and the server's counters of buffer
 * usage, and use working_set's shared memory.  They make no system call, and
 * call no function of the server (one where the lock's state is not
 * understood, see ws_buftable_locks()).
 */
#ifndef WS_LOOKUP_H
#define WS_LOOKUP_H

#include "access/xact.h"
#include "storage/lwlock.h"
#include "utils/hsearch.h"

/*
 * Set the state of this process and of those that it forks, with nothing
 * counted.  The arguments are from ws_buftable_locks().
 */
extern void ws_lookup_begin(LWLockPadded *locks, uint32 exclusive, bool sure);

/* Compare two keys, and record a hit, in sketches of 2^log2m registers. */
extern HashCompareFunc ws_lookup_match(uint32 log2m);

/* Copy a key, and record a page that enters shared buffers. */
extern void *ws_lookup_insert(void *entry_key, const void *key, Size keysize);

/* Count this process's lookups so far, and catch up with the clock. */
extern void ws_lookup_refresh(void);

/* This process stops recording, or ends.  Count its last lookups. */
extern void ws_lookup_stop(void);

/* This process records again.  Its lookups in the meantime do not count. */
extern void ws_lookup_resume(void);

/*
 * An XactCallback.  When a transaction has ended, this process holds no
 * lightweight lock: it may make the system calls that are due, as the buffer
 * path must not.  It counts its lookups if they are more than a few.  If the
 * worker rests, it advances the clock, and wakes it if pages were looked up
 * lately.
 */
extern void ws_lookup_transaction_event(XactEvent event, void *arg);

#endif							/* WS_LOOKUP_H */
