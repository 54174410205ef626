/*
 * buftable.h
 *		Finding the server's buffer lookup table, and replacing its functions.
 *
 * This part of attach.h knows the private structs of dynahash.c.
 */
#ifndef WS_BUFTABLE_H
#define WS_BUFTABLE_H

#include "storage/lwlock.h"
#include "utils/hsearch.h"

#define WS_BUFTABLE_NAME "Shared Buffer Lookup Table"

typedef struct WsBufTable
{
	HTAB	   *header;			/* the server's own, of this process */
	int			name;			/* which of its words leads to the name, */
	int			hash;			/* and which ones hold the functions */
	int			match;
	int			keycopy;
} WsBufTable;

/*
 * Find the table and verify it, or raise an error that says why not.  In the
 * postmaster, once shared memory is made.
 */
extern void ws_buftable_find(WsBufTable *table);

/* In this process and those that it forks.  NULL: the server's own. */
extern void ws_buftable_set_functions(const WsBufTable *table, HashCompareFunc match,
									  HashCopyFunc keycopy);

/*
 * The locks of the table's partitions, or an error.  exclusive are the bits of
 * a lock's state that may say that it is held exclusively, learned by taking
 * one in both modes; sure: they say nothing else.
 */
extern LWLockPadded *ws_buftable_locks(uint32 *exclusive, bool *sure);

#endif							/* WS_BUFTABLE_H */
