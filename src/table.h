/*
 * table.h
 *		Finding the server's buffer lookup table, and standing in for its
 *		functions.
 *
 * Half of the probe (see probe.h), and of use to it alone: this one knows
 * dynahash.c.
 */
#ifndef WS_TABLE_H
#define WS_TABLE_H

#include "storage/lwlock.h"
#include "utils/hsearch.h"

/* The name of the table in shared memory. */
#define WS_TABLE_NAME "Shared Buffer Lookup Table"

typedef struct WsTable
{
	HTAB	   *header;			/* the server's own, of this process */
	int			hash;			/* which of its words holds which function */
	int			match;
	int			keycopy;
} WsTable;

/*
 * Find the table and verify that it is as expected.  Or tell why not, in at
 * most size bytes, and return false.  What the server itself finds wrong on
 * the way is an error, to be caught.  In the postmaster, while shared memory
 * is being made.
 */
extern bool ws_table_find(WsTable *table, char *why, size_t size);

/*
 * Let the table use these functions in this process, and in those it forks;
 * NULL: its own.
 */
extern void ws_table_set_functions(const WsTable *table, HashCompareFunc match,
								   HashCopyFunc keycopy);

/*
 * Which bit of a lock says that it is held exclusively?  Takes the lock both
 * ways.  False if the answer is not clear: then any bit may say so, and the
 * server has to be asked.
 */
extern bool ws_table_learn_exclusive_bit(LWLock *lock, uint32 *bits);

#endif							/* WS_TABLE_H */
