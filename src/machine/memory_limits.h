/*
 * memory_limits.h
 *		How much memory may this server use?
 *
 * The answer is the least of what the machine has (MemTotal of /proc/meminfo)
 * and of what the control groups allow: the process's group and all groups
 * above it that it can see, of version 2 (memory.max, memory.high) or version 1
 * (memory.limit_in_bytes), wherever they are mounted (/proc/self/mountinfo).
 * Both shared buffers and the page cache count against these limits, unless
 * shared buffers are in huge pages: then a group's limit is not theirs.
 *
 * That, and a file that cannot be read or has unexpected contents, makes the
 * limit unknown; nothing is guessed.  If only the machine's memory is unknown,
 * a group's limit counts alone.
 *
 * The page cache may take what is free, and has what it takes now.  Of the
 * machine that is MemFree, Buffers and Cached, which includes shared memory
 * (Shmem); of a group with a limit, that limit less its usage, and its cached
 * files.  The page cache may have the least of these.  Memory in huge
 * pages (HugetlbPages of /proc/self/status) is part of none.
 *
 * References: Linux, Documentation/admin-guide/cgroup-v1/memory.rst,
 * cgroup-v2.rst and mm/multigen_lru.rst; proc(5), cgroups(7).
 */
#ifndef WS_MEMORY_LIMITS_H
#define WS_MEMORY_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct WsMemory
{
	uint64_t	limit;			/* bytes that may be used; 0: not known */
	uint64_t	host;			/* bytes that the machine has; 0: not known */
	bool		by_cgroup;		/* is the limit a control group's? */
	bool		page_cache_known;
	uint64_t	page_cache;		/* bytes that it may have */
	bool		huge;			/* has this process touched huge pages? */
	bool		generations;	/* does the kernel replace pages by MGLRU? */
	bool		late;			/* does reclaim see late that evicted pages
								 * come back? (pagecache.h) */
	char		reason[192];	/* why the limit is not known, or empty */
} WsMemory;

/* Read the limit.  root is put before each path: "", but for tests. */
extern void ws_memory_limits_read(const char *root, WsMemory *memory);

#endif							/* WS_MEMORY_LIMITS_H */
