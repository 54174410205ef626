/*
 * filecache.h
 *		How much of a part of a file is in the kernel's page cache?
 *
 * mincore(2) shows it of a mapping of the file, which nobody touches, so that
 * nothing is read and no page counts as used.  Since Linux 5.2 it shows it to
 * those who own the file or may write it, and to others that all is there.
 *
 * cachestat(2), which Linux has since 6.5, does not see the pages of a file on
 * an overlay file system: they belong to the file below.
 *
 * References: mincore(2); Linux, mm/mincore.c.
 */
#ifndef WS_FILECACHE_H
#define WS_FILECACHE_H

#include <stddef.h>
#include <stdint.h>

#define WS_FILECACHE_MOST	65536	/* bytes that one can ask for */

/*
 * The share of so many bytes of the file, from "from" on, that is in the page
 * cache, by whole pages of the kernel.  NaN: not known, since the file is gone,
 * shorter, or cannot be opened or mapped now.  Makes six system calls.
 */
extern double ws_file_cached(const char *path, uint64_t from, size_t bytes);

#endif							/* WS_FILECACHE_H */
