/*
 * books.c
 *		Keeping the books; see books.h.
 */
#include "postgres.h"

#include "books.h"

#define BUCKET_MS (WS_BOOKS_SECONDS * 1000)

void
ws_books_begin(WsBooks *books, int64 now)
{
	int64		removed;

	memset(books, 0, sizeof(WsBooks));
	books->bucket_end = now + BUCKET_MS;
	books->until = now;
	books->since = ws_shmem_read_counters(&books->counted, &removed);
}

bool
ws_books_closed(const WsBooks *books)
{
	return books->since != ws_shmem_since();
}

void
ws_books_count(WsBooks *books, int64 now)
{
	WsTally    *tally;
	WsCounters	c;
	int64		removed;

	/* a reset may come at any time, so what is compared with it is read with them */
	if (ws_shmem_read_counters(&c, &removed) != books->since)
	{
		ws_books_begin(books, now);
		return;
	}

	for (int i = 0; now >= books->bucket_end && i < WS_BOOKS_BUCKETS; i++)
	{
		books->bucket = (books->bucket + 1) % WS_BOOKS_BUCKETS;
		memset(ws_books_present(books), 0, sizeof(WsTally));
		books->bucket_end += BUCKET_MS;
	}
	if (now >= books->bucket_end)
		books->bucket_end = now + BUCKET_MS;

	tally = ws_books_present(books);
	tally->seconds += Max(now - books->until, 0) / 1000.0;
	tally->hits += (double) c.hits[WS_CLIENT] - books->counted.hits[WS_CLIENT];
	tally->reads += (double) c.reads[WS_CLIENT] - books->counted.reads[WS_CLIENT];
	tally->scan_hits += (double) c.scan_hits - books->counted.scan_hits;
	tally->scan_reads += (double) c.scan_reads - books->counted.scan_reads;
	books->counted = c;
	books->until = now;
}

void
ws_books_sum(const WsBooks *books, WsTally *sum)
{
	memset(sum, 0, sizeof(WsTally));
	for (int i = 0; i < WS_BOOKS_BUCKETS; i++)
		ws_tally_add(sum, &books->buckets[i]);
}
