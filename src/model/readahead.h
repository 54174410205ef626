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
	/* for a wait, by the share of a file that is cached */
	double		blocks[WS_READAHEAD_SHARES];
} WsReadahead;

/*
 * Reads are simulated at these shares of a file cached, from 0 to 1.  Near 1
 * they are closer together: there what is read ahead falls steeply.
 */
extern const double ws_readahead_shares[WS_READAHEAD_SHARES];

/*
 * Simulate a device's readahead, for blocks of so many bytes.  Takes about a
 * tenth of a second.  Without memory it returns false, and all stays.
 */
extern bool ws_readahead_learn(WsReadahead *readahead, uint32_t kilobytes, uint32_t block_bytes);

/*
 * The readahead in kB of the device that a directory is on; -1: not known.
 * root is put before the paths below /sys: "", but for tests.
 */
extern int64_t ws_readahead_kilobytes(const char *root, const char *directory);

/*
 * Where the simulation reads so many blocks ahead and the kernel so many, let
 * it come closer: a quarter of the way, as these are of a minute.
 */
extern void ws_readahead_follow(WsReadahead *readahead, double simulated, double real);

/* Blocks read for a wait, where so large a share of a file is cached. */
extern double ws_readahead_blocks(const WsReadahead *readahead, double cached);

/* A random number below n (xorshift; Marsaglia 2003). */
#define WS_RANDOM_SEED		UINT64_C(88172645463325252)
extern uint32_t ws_random_below(uint64_t *seed, uint32_t n);

#endif							/* WS_READAHEAD_H */
