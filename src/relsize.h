/*
 * relsize.h
 *		The size of a relation's file, from the file system.
 */
#ifndef WS_RELSIZE_H
#define WS_RELSIZE_H

#include "stream.h"

/*
 * Blocks of the fork of the relation that a page is of; 0 if there is no such
 * file, or it cannot be asked.  Makes a few system calls: not for the buffer
 * path.
 */
extern uint32_t ws_relation_blocks(const WsPageId *page);

#endif							/* WS_RELSIZE_H */
