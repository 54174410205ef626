/*
 * relsize.h
 *		What the file system knows of a relation's file: its size, and which
 *		pages are in the page cache; and the size of the WAL files.
 */
#ifndef WS_RELSIZE_H
#define WS_RELSIZE_H

#include "stream.h"

/*
 * Blocks of the fork that a page belongs to; 0: it has no file, or an empty
 * one; WS_BLOCKS_UNKNOWN: the file system gives no answer now, which says
 * nothing about the file.  Makes a few system calls: not for the hot path.
 */
#define WS_BLOCKS_UNKNOWN UINT32_MAX
extern uint32_t ws_relation_blocks(const WsPageId *page);

/* Is the page's file gone, or shorter, as far as is known?  One system call. */
extern bool ws_page_is_gone(const WsPageId *page);

/*
 * The share of the page, 0 to 1, that is in the kernel's page cache; NaN: not
 * known, as of a relation that was dropped (filecache.h).  Makes some system
 * calls, too.
 */
extern double ws_page_cached(const WsPageId *page);

/* Bytes of the WAL files, which are used over and over. */
extern double ws_wal_files_bytes(void);

#endif							/* WS_RELSIZE_H */
