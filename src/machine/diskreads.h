/*
 * diskreads.h
 *		How much did a server really read from disk?
 *
 * The kernel counts for each process the bytes that it fetched from storage:
 * read_bytes of /proc/PID/io, which the same user may read.  What the page
 * cache had is not in it, and what was read ahead is.  The postmaster's figure
 * includes that of its children that have ended, since it waits for them.  So
 * the server's is that of the postmaster and of its children, which are all its
 * processes.
 *
 * The postmaster is read first.  A child that ends before its turn is missing
 * this time, and in the postmaster's figure the next time; no child counts
 * twice.  So that the sum does not go back, it is the largest so far.
 * Of a process that is about to end the kernel may refuse to show anything.
 *
 * Children come from /proc/PID/task/PID/children, or where the kernel does not
 * have that, from the parents named in /proc/PID/stat.
 * ProcGlobal cannot replace that: on PostgreSQL 15 the place of a process that
 * has ended keeps its PID (ProcKill()), which another program may have by now.
 *
 * References: proc(5); Linux, Documentation/filesystems/proc.rst.
 */
#ifndef WS_DISKREADS_H
#define WS_DISKREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Zeros at first. */
typedef struct WsDiskReads
{
	bool		known;
	uint64_t	bytes;			/* since the postmaster started */
	uint32_t	processes;		/* that were read the last time */
	char		reason[128];	/* why it is not known, or empty */
} WsDiskReads;

/* Read them.  root is put before each path: "", but for tests. */
extern void ws_disk_reads(const char *root, int postmaster, WsDiskReads *reads);

#endif							/* WS_DISKREADS_H */
