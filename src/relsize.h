/*
 * relsize.h
 *		The size of a relation's file, from the file system.
 */
#ifndef WS_RELSIZE_H
#define WS_RELSIZE_H

#include "stream.h"

/*
 * Blocks of the fork that a page belongs to; 0 if its file cannot be read.
 * Makes a few system calls: not for the buffer path.
 */
extern uint32_t ws_relation_blocks(const WsPageId *page);

#endif							/* WS_RELSIZE_H */
