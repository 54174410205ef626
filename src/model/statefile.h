/*
 * statefile.h
 *		The state that survives a restart, as a row of bytes: the sketches, the
 *		sample and the history.
 *
 * An image is a header, the history, the cells of the sketches and the sampled
 * pages; its last eight bytes are a checksum of everything before.  Numbers
 * have the machine's own byte order: a machine of another order does not
 * recognise the magic number.
 *
 * Time.  The clock of ticks starts over with the server, so an image has ages,
 * in ticks before the time of day at which it was made.
 *
 * Trust.  A right checksum proves nothing.  Lengths are computed and compared
 * before anything else is read, and each number is checked against its range.
 * Loading an image that passed cannot fail, and what it is loaded into is
 * sound.  The sketches and the sample also need the same number of registers,
 * and a time of day that is not before the image's.
 *
 * Owner.  A copy of a data directory has not seen what the original has seen.
 * So the header names the cluster and the place, a number that a copy does not
 * share (persist.c).  A primary that comes back as a standby keeps its state.
 */
#ifndef WS_STATEFILE_H
#define WS_STATEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history.h"
#include "sampler.h"
#include "sketch.h"

#define WS_STATEFILE_MAGIC	UINT64_C(0x776f726b73657431)
#define WS_STATEFILE_FORMAT 8

#define WS_STATEFILE_SKETCHES 2 /* of clients, and of maintenance */

/* An image may be this far ahead of the time of day. */
#define WS_STATEFILE_FUTURE_MS INT64_C(86400000)

/*
 * PostgreSQL's: the end of timestamps, in ms since 1970; the number of forks;
 * the tablespace of the pages of no database; the block number of no page.
 */
#define WS_STATEFILE_TIME_MAX_MS INT64_C(9224318015999999)
#define WS_STATEFILE_FORKS 4
#define WS_STATEFILE_GLOBAL_TABLESPACE 1664
#define WS_STATEFILE_NO_BLOCK UINT32_C(0xFFFFFFFF)

/* These must be the same when an image is made and when it is loaded. */
typedef struct WsStateFileOwner
{
	uint64_t	system;			/* identifier of the cluster */
	uint64_t	place;			/* of its directory */
	uint32_t	page_bytes;
} WsStateFileOwner;

typedef struct WsStateFileParts
{
	WsHistory  *history;
	WsSketch   *sketches[WS_STATEFILE_SKETCHES];	/* of one size and clock */
	WsSampler  *sampler;		/* NULL: no sample */
} WsStateFileParts;

extern size_t ws_statefile_size_max(void);

/*
 * Make an image of the parts at a time of day in ms since 1970, in memory of
 * ws_statefile_size_max() bytes; returns its size.  Other processes may write
 * to the sketches meanwhile, but not to the history or the sampler.
 */
extern size_t ws_statefile_make(const WsStateFileParts *parts, const WsStateFileOwner *owner,
								int64_t now_ms, void *image);

/* Is this, whatever it is, of a format that a later version made? */
extern bool ws_statefile_is_newer(const void *image, size_t size);

/* Can this image, aligned to 8 bytes, be trusted?  NULL, or why it cannot. */
extern const char *ws_statefile_distrust(const void *image, size_t size,
										 const WsStateFileOwner *owner);

/* The functions below take images that can be trusted. */

/* When the image was made, in ms since 1970. */
extern int64_t ws_statefile_saved_at(const void *image);

/* NULL: sketches of so many registers can take these now; else why not. */
extern const char *ws_statefile_distrust_sketches(const void *image, uint32_t registers,
												  int64_t now_ms);

extern void ws_statefile_load_history(const void *image, WsHistory *history, int64_t now_ms);

/*
 * Merge the sketches of the image into others: of two cells the younger stays.
 * Returns the tick since which the image has all data; the floors stay.
 *
 * The sampler, if not NULL, is empty and gets the pages of the image, none
 * marked as resident.  If they do not fit, it samples fewer pages.
 */
extern uint32_t ws_statefile_load_sketches(const void *image, WsSketch *const *sketches,
										   WsSampler *sampler, int64_t now_ms);

#endif							/* WS_STATEFILE_H */
