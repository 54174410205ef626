/*
 * gone_pages.h
 *		What has become of the sampled pages: are they in shared buffers, and do
 *		they still exist?
 *
 * A page whose file is gone, or is now shorter, cannot be used again, and
 * leaves all but the sample table.  A process that drops or truncates a
 * relation removes its pages from shared buffers, more of them than it brings
 * pages in.  The events of such removals make the worker look at the relation's
 * files: at once, and a few times more, since the files go a little later.
 * What has no page in shared buffers is found within a minute: each second some
 * of the sampled pages are looked up in the file system.  Only a file that does
 * not exist, or is too short, is an answer.
 *
 * For the worker, which holds no lock while it looks.
 */
#ifndef WS_GONE_PAGES_H
#define WS_GONE_PAGES_H

#include "sampler.h"

/* Begin, with a look at all.  "died" is called for each that is gone. */
extern void ws_gone_pages_begin(WsEvicted died);

/* The relation of this page may have lost pages. */
extern void ws_gone_pages_suspect(const WsPageId *page);

/* Look at what is due, at ms of the monotonic clock. */
extern void ws_gone_pages_look(int64 now, WsEvicted died);

/* Events report which pages are in shared buffers, but some may be lost. */
extern void ws_gone_pages_check_resident(void);

#endif							/* WS_GONE_PAGES_H */
