/*
 * buffer_compat.h
 *		Differences between PostgreSQL releases in the header of a buffer.
 */
#ifndef WS_BUFFER_COMPAT_H
#define WS_BUFFER_COMPAT_H

#include "storage/buf_internals.h"

/*
 * Does a buffer differ from what is on disk, and what is its usage count?  It
 * may be another page's by now.  19: its state has 64 bits.
 */
static inline bool
ws_buffer_is_dirty(int buffer, int *usage)
{
#if PG_VERSION_NUM < 190000
	uint32		state = pg_atomic_read_u32(&GetBufferDescriptor(buffer)->state);
#else
	uint64		state = pg_atomic_read_u64(&GetBufferDescriptor(buffer)->state);
#endif

	*usage = (int) BUF_STATE_GET_USAGECOUNT(state);
	return (state & BM_DIRTY) != 0;
}

#endif							/* WS_BUFFER_COMPAT_H */
