/*
 * statefile.h
 *		What is kept over a restart, as a row of bytes: the sketches, the sample
 *		and the history.
 *
 * The image is a header, the history, the cells of the sketches, and the
 * sampled pages; its last four bytes are a checksum of all before.  Numbers are
 * as the machine has them in memory.  A machine of another byte order reads the
 * magic number wrongly and goes no further.
 *
 * Time.  Cells and pages hold ticks of a clock that begins anew with each
 * start of the server.  The header has the tick and the time of day at which
 * it was written, so each has an age then; the time of day at which the image
 * is taken over says how much older it is by now.
 *
 * Trust.  Nothing is believed because the checksum is right: lengths are
 * computed and compared before anything is looked at, and every number is
 * checked against its range, both ends of it.  An image that was checked can be
 * taken over without further ado, and what it is taken over into is sound.
 *
 * Two questions.  Can the image be trusted?  Then its history can be used.
 * Can its sketches and its sample be used here and now?  They depend on the
 * number of registers, and on the clock: their ages are not known if the image
 * was saved in what is now the future.  An image may also be without them.
 *
 * Whose it is.  A copy of a data directory brings the file along, and what the
 * original remembers is not what the copy has seen.  So the header names the
 * cluster and the place, a number that a copy does not share (persist.c).
 * Primary or standby makes no difference: a primary that was stopped and comes
 * back as a standby has seen what it has seen.
 *
 * This room knows nothing of PostgreSQL.
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
#define WS_STATEFILE_FORMAT 2

/* Sketches of an image: of clients, and of maintenance. */
#define WS_STATEFILE_SKETCHES 2

/* An image may be so far ahead of the time of day before its ages are not believed. */
#define WS_STATEFILE_FUTURE_MS INT64_C(86400000)

/* No clock is beyond this, in ms since 1970: the end of PostgreSQL's timestamps. */
#define WS_STATEFILE_TIME_MAX_MS INT64_C(9224318015999999)

/* Pages are of forks from 0 to below this. */
#define WS_STATEFILE_FORKS 4

/* The tablespace of pages that belong to no database, and of these only. */
#define WS_STATEFILE_GLOBAL_TABLESPACE 1664

/* The block number that no page has. */
#define WS_STATEFILE_NO_BLOCK UINT32_C(0xFFFFFFFF)

/*
 * What has to be the same when it is taken over.
 */
typedef struct WsStateFileOwner
{
	uint64_t	system;			/* identifier of the cluster */
	uint64_t	place;			/* of its directory */
	uint32_t	page_bytes;
} WsStateFileOwner;

/*
 * What goes into an image, or comes out of it.
 */
typedef struct WsStateFileParts
{
	WsHistory  *history;
	WsSketch   *sketches[WS_STATEFILE_SKETCHES];	/* of one geometry and clock;
												 * NULL: the history alone */
	WsSampler  *sampler;		/* NULL: no sample, as where no sketches are */
} WsStateFileParts;

typedef uint32_t (*WsChecksum) (uint32_t so_far, const void *bytes, size_t size);

/* Takes the next bytes of an image; false: it cannot, and no more will come. */
typedef bool (*WsStateFilePut) (void *arg, const void *bytes, size_t size);

/* The size of no image is above this. */
extern size_t ws_statefile_size_max(void);

/*
 * Write an image of the parts as they are at a time of day in ms since 1970,
 * in pieces of at most a few thousand bytes.  Others may write to the sketches
 * meanwhile, but not to the history or the sampler.  The sum begins at 0.
 */
extern bool ws_statefile_write(const WsStateFileParts *parts, const WsStateFileOwner *owner, int64_t now_ms,
						   WsChecksum checksum, WsStateFilePut put, void *arg);

/*
 * NULL if the image can be trusted, else why not.  The image is aligned to 8
 * bytes.
 */
extern const char *ws_statefile_distrust(const void *image, size_t size, const WsStateFileOwner *owner,
									 WsChecksum checksum);

/* All below is for an image that can be trusted. */

/* When it was written, in ms since 1970. */
extern int64_t ws_statefile_saved_at(const void *image);

/* Merge its history into another. */
extern void ws_statefile_take_history(const void *image, WsHistory *history, int64_t now_ms);

/* Does it have sketches? */
extern bool ws_statefile_has_sketches(const void *image);

/*
 * NULL if its sketches and its sample can be used with so many registers at
 * this time of day, else why not.
 */
extern const char *ws_statefile_distrust_sketches(const void *image, uint32_t registers,
											  int64_t now_ms);

/*
 * Merge its sketches, which can be used, into others, whose clock stands at
 * their tick: of each two cells the younger stays.  Floors are left as they
 * are.  Returns the tick from which on the image knows all, for the floor.
 */
extern uint32_t ws_statefile_take_sketches(const void *image, WsSketch *const *sketches,
									   int64_t now_ms);

/*
 * Make a sampler that has no pages yet what it was in the image, whose
 * sketches can be used, as far as it has room: if there is too little, fewer pages are sampled.  False, and
 * nothing done, if the image has no sample.  Pages are not in shared buffers.
 */
extern bool ws_statefile_take_sample(const void *image, WsSampler *sampler, uint32_t tick,
								 int64_t now_ms);

#endif							/* WS_STATEFILE_H */
