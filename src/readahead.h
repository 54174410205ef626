/*
 * readahead.h
 *		How many blocks does the kernel read when a process waits for one?
 *
 * A random read beside cached pages looks to Linux like part of a sequential
 * one: if more pages before it are cached than it asks for, as many are read
 * with it, up to the device's readahead (context readahead).  The last of these
 * is marked, and who comes by there starts the next, larger read, for which
 * nobody waits.  How much that is depends on how much of the file is cached.
 *
 * The numbers come from a simulation of these rules, of a file of which a given
 * share is cached at random, and which is read at random.  A real page cache
 * has its pages in larger pieces, folios, where a file was read or written in
 * order.  Then less of what is read ahead is missing.  How much less is learned
 * from what is really read.
 *
 * Beside a block that was written more is read.  Where a file system has large
 * folios, a block that is written is one folio, and when this is evicted a
 * shadow of the same size stays.  The search for the pages before takes all of
 * the shadow but its first page for cached ones (Linux 6.18,
 * page_cache_prev_miss(): xas_prev() returns sibling entries).  So a read of
 * 8 kB looks like part of a sequential one with one block before it cached, not
 * two, and may end within a block.  If the cached block is such a folio, too,
 * the search counts a page of it less, and nothing of this happens.  With
 * TPC-B, 128 kB of readahead and a fifth of the table cached, 1.18 blocks were
 * read for a wait instead of 1.10.
 *
 * References: Linux, mm/readahead.c and
 * Documentation/ABI/testing/sysfs-class-bdi (6.18); Wu, Xi, Li and Zou 2007 (on
 * the design of a new Linux readahead framework).
 */
#ifndef WS_READAHEAD_H
#define WS_READAHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_READAHEAD_SHARES	24
#define WS_READAHEAD_DEFAULT 128	/* kB, the kernel's */

typedef struct WsReadahead
{
	uint32_t	kilobytes;		/* the device's readahead */
	double		waits;			/* for a block: two if nothing is read ahead */
	double		ahead;			/* the part that is, of what is simulated */

	/*
	 * for a wait, by the share of a file that is cached, where the other
	 * blocks had come in by reads, and where by writes
	 */
	double		blocks[2][WS_READAHEAD_SHARES];
} WsReadahead;

/*
 * Reads are simulated at these shares of a file cached, from 0 to 1.  Near 1
 * they are closer together: there what is read ahead falls steeply.
 */
extern const double ws_readahead_shares[WS_READAHEAD_SHARES];

/*
 * Simulate a device's readahead, for blocks of so many bytes, with large folios
 * or without, in memory of so many bytes for work.  Takes a tenth of a second.
 */
extern size_t ws_readahead_work_size(void);
extern void ws_readahead_learn(WsReadahead *readahead, uint32_t kilobytes, uint32_t block_bytes,
							   bool large_folios, void *work);

/*
 * The readahead in kB of the device that a directory is on; -1: not known.
 * root is put before the paths below /sys: "", but for tests.
 */
extern int64_t ws_readahead_kilobytes(const char *root, const char *directory);

/*
 * Does this kernel write blocks as large folios on file systems of this type
 * (f_type of statfs(2))?  On ext4 since Linux 6.16, where no feature of the
 * file system forbids them (data=journal, encrypt, verity), on XFS since 6.6.
 * root is put before /proc.
 */
extern bool ws_readahead_large_folios(const char *root, unsigned long type);

/*
 * Where the simulation reads so many blocks ahead and the kernel so many, let
 * it come closer: a quarter of the way, as these are of a minute.
 */
extern void ws_readahead_follow(WsReadahead *readahead, double simulated, double real);

/*
 * Blocks read for a wait, where so large a share of a file is cached, and, of
 * the cached blocks with one before them that is not, so large a share came in
 * by a read, and the one before by a write.
 */
extern double ws_readahead_blocks(const WsReadahead *readahead, double cached, double written);

#endif							/* WS_READAHEAD_H */
