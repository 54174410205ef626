/*
 * memory.h
 *		How much memory may this server use?
 *
 * The least of what the machine has (MemTotal of /proc/meminfo) and of what
 * the control groups allow: the one the process is in and all above it, of
 * version 2 (memory.max, memory.high) or 1 (memory.limit_in_bytes), wherever
 * they are mounted (/proc/self/mountinfo), and in a container as far as it can
 * see.  Page cache counts against these limits as shared buffers do, so they
 * are what bounds both caches together.
 *
 * A machine without control groups has the limit of the machine.  What cannot
 * be read, or does not look as it should, makes the limit unknown: nothing is
 * guessed.  Only where the machine's memory is not known does a group's limit,
 * if there is one, stand alone.
 *
 * References: Linux, Documentation/admin-guide/cgroup-v1/memory.rst and
 * cgroup-v2.rst; proc(5), cgroups(7).
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_MEMORY_H
#define WS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct WsMemory
{
	uint64_t	limit;			/* bytes that may be used; 0: not known */
	uint64_t	host;			/* bytes that the machine has; 0: not known */
	bool		by_cgroup;		/* is the limit a control group's? */
	char		reason[192];	/* if not known, why, as the end of a sentence: "the
								 * memory limit is not known: ..."; else empty */
} WsMemory;

/*
 * Read it.  root is put before each path: "" for the real thing, a directory
 * with copies for tests.  Allocates nothing, needs some 20 kB of stack, and
 * leaves no file open.
 */
extern void ws_memory_read(const char *root, WsMemory *memory);

#endif							/* WS_MEMORY_H */
