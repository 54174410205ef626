/*
 * lookup.h
 *		What is done at each lookup of a page in shared buffers: the hot path.
 *
 * The probe (probe.h) puts the two functions of this room in the place of those
 * that the buffer lookup table compares and copies keys with.  The server calls
 * them with the lock of a partition held, and sometimes in a critical section.
 * So they touch the state of that lock, the server's counters of buffer usage,
 * and shared memory of our own; they call nothing of the server's and make no
 * system call.
 */
#ifndef WS_LOOKUP_H
#define WS_LOOKUP_H

#include "storage/lwlock.h"
#include "utils/hsearch.h"

/*
 * Begin anew in this process, and in those it forks: nothing is settled, and
 * the process's own books are empty.  locks are those of the table's
 * partitions.  Of the state of one, exclusive are the bits that may say that it
 * is held exclusively; sure says that they say nothing else.
 */
extern void ws_lookup_begin(LWLockPadded *locks, uint32 exclusive, bool sure);

/*
 * The functions for sketches of 2^log2m registers: to compare keys, and to copy
 * one.
 */
extern HashCompareFunc ws_lookup_match(uint32 log2m);
extern HashCopyFunc ws_lookup_insert(void);

/*
 * Bring the shared counters, and what this process knows of the rest, up to
 * date.
 */
extern void ws_lookup_settle(void);

/* Count the last hits of this process, if it had any, before it stops to record. */
extern void ws_lookup_end(void);

/* This process records again: what it looked up meanwhile does not count. */
extern void ws_lookup_resume(void);

/*
 * A transaction has ended, and no lightweight lock is held: count its lookups if
 * there are more than a few, let time pass, and wake the worker if it rests
 * while pages are looked up.
 */
extern void ws_lookup_pause(void);

/*
 * The lock that is held, in one mode or the other, while a page with this hash
 * value is looked for.
 */
extern LWLock *ws_lookup_lock(uint32 hash);

#endif							/* WS_LOOKUP_H */
