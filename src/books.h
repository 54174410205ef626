/*
 * books.h
 *		The worker's books: what was counted in the last five minutes, in thirty
 *		buckets of ten seconds.  A reset empties them.
 */
#ifndef WS_BOOKS_H
#define WS_BOOKS_H

#include "shmem.h"

#define WS_BOOKS_BUCKETS	30
#define WS_BOOKS_SECONDS	10	/* of a bucket */

typedef struct WsBooks
{
	WsTally		buckets[WS_BOOKS_BUCKETS];
	int			bucket;			/* the present one */
	int64		bucket_end;		/* ms, by the clock that nobody sets */
	int64		until;			/* when the server's counters were last taken, */
	int64		since;			/* the value of WsShared.since they are about, */
	WsCounters	counted;		/* and what they were */
} WsBooks;

/* Begin with empty books. */
extern void ws_books_begin(WsBooks *books, int64 now);

/* Count what the server has counted since last time. */
extern void ws_books_count(WsBooks *books, int64 now);

/* Are they about a time before the last reset? */
extern bool ws_books_closed(const WsBooks *books);

/* The present bucket. */
static inline WsTally *
ws_books_present(WsBooks *books)
{
	return &books->buckets[books->bucket];
}

/* The clients' lookups that were counted since reset. */
static inline double
ws_books_lookups(const WsBooks *books)
{
	return (double) books->counted.hits[WS_CLIENT] + books->counted.reads[WS_CLIENT];
}

/* The sum of all buckets. */
extern void ws_books_sum(const WsBooks *books, WsTally *sum);

#endif							/* WS_BOOKS_H */
