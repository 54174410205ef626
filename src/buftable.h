/*
 * table.h
 *		Finding the server's buffer lookup table, and standing in for its
 *		functions.
 *
 * Half of the probe (see probe.h), and of use to it alone: this one knows
 * dynahash.c.
 */
#ifndef WS_BUFTABLE_H
#define WS_BUFTABLE_H

#include "storage/lwlock.h"
#include "utils/hsearch.h"

/* The name of the table in shared memory. */
#define WS_BUFTABLE_NAME "Shared Buffer Lookup Table"

typedef struct WsBufTable
{
	HTAB	   *header;			/* the server's own, of this process */
	int			name;			/* which of its words leads to the name */
	int			hash;			/* and which ones hold the functions */
	int			match;
	int			keycopy;
} WsBufTable;

/*
 * Find the table and verify that it is as expected.  Or say why not, in at
 * most size bytes, and return false.  In the postmaster, once shared memory is
 * made.  Nothing raises an error on purpose, but the caller has to expect one:
 * memory may run out, for example.
 */
extern bool ws_buftable_find(WsBufTable *table, char *why, size_t size);

/*
 * Are the locks of the table's partitions, as many as this library was built
 * for, where it expects them among all locks?
 */
extern bool ws_buftable_locks_are_expected(const LWLockPadded *all);

/*
 * Let the table use these functions in this process, and in those it forks;
 * NULL: its own.
 */
extern void ws_buftable_set_functions(const WsBufTable *table, HashCompareFunc match,
								   HashCopyFunc keycopy);

/*
 * Which bit of a lock says that it is held exclusively?  Takes the lock both
 * ways.  False if the answer is not clear: then any bit may say so, and the
 * server has to be asked.
 */
extern bool ws_buftable_learn_exclusive_bit(LWLock *lock, uint32 *bits);

#endif							/* WS_BUFTABLE_H */
