/*
 * persist.c
 *		Saving and loading the history; see persist.h.
 *
 * The file is a header and the history as it is in memory.  The header says
 * what it is, in which format, of which cluster, and the checksum, CRC-32C, is
 * over all but itself.  A machine of another byte order reads the magic number
 * wrongly, and goes no further.
 */
#include "postgres.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "guc.h"
#include "persist.h"
#include "shmem.h"

#define MAGIC			UINT64CONST(0x776f726b73657431)
#define FORMAT			1

#define ASIDE			WS_SAVE_FILE ".tmp"
#define REFUSED			WS_SAVE_FILE ".bad"

/* A file may be so far ahead of the clock, in seconds, before it is not. */
#define FUTURE_SLACK	86400

typedef struct Header
{
	uint64		magic;
	uint32		format;
	uint32		block_size;		/* pages are of so many bytes */
	uint64		system;			/* identifier of the cluster */
	int64		saved_at;		/* seconds since 1970 */
	uint32		size;			/* bytes of all */
	pg_crc32c	crc;			/* of all but this */
} Header;

typedef struct Image
{
	Header		header;
	WsHistory	history;
} Image;

static pg_crc32c
checksum(const Image *image)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &image->header, offsetof(Header, crc));
	COMP_CRC32C(crc, &image->history, sizeof(image->history));
	FIN_CRC32C(crc);
	return crc;
}

static int64
wall_seconds(void)
{
	return timestamptz_to_time_t(GetCurrentTimestamp());
}

/*
 * NULL if the file is to be trusted, else why not.
 */
static const char *
distrust(const Image *image, ssize_t size, int64 now)
{
	const Header *h = &image->header;

	if (size == 0)
		return "it is empty, or cannot be read";
	if (size < (ssize_t) offsetof(Header, block_size) || h->magic != MAGIC)
		return "it is not a history of working_set on such a machine";
	if (h->format != FORMAT)
		return "it has another format";
	if (size != sizeof(Image) || h->size != sizeof(Image))
		return "it has a wrong length";
	if (h->crc != checksum(image))
		return "its checksum is wrong";
	if (h->system != GetSystemIdentifier())
		return "it belongs to another database cluster";
	if (h->block_size != BLCKSZ)
		return "its pages are of another size";
	if (h->saved_at > now + FUTURE_SLACK)
		return "it is from the future";
	return ws_history_check(&image->history);
}

/*
 * Read the file, as far as it is of interest, and return its length.  -1: there
 * is none.  If it cannot be read, that is said, and its length is 0.
 */
static ssize_t
read_file(Image *image)
{
	int			fd = OpenTransientFile(WS_SAVE_FILE, O_RDONLY | PG_BINARY);
	ssize_t		size;
	struct stat st;

	if (fd < 0)
	{
		if (errno == ENOENT)
			return -1;
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("working_set: could not open file \"%s\": %m", WS_SAVE_FILE)));
		return 0;
	}
	size = read(fd, image, sizeof(Image));
	if (size < 0)
	{
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("working_set: could not read file \"%s\": %m", WS_SAVE_FILE)));
		size = 0;
	}
	else if (fstat(fd, &st) == 0 && st.st_size > size)
		size = st.st_size;
	CloseTransientFile(fd);
	return size;
}

void
ws_persist_load(void)
{
	Image	   *image = palloc0(sizeof(Image));
	ssize_t		size = read_file(image);
	int64		now = wall_seconds();
	const char *why = size >= 0 ? distrust(image, size, now) : NULL;

	if (why)
	{
		ereport(LOG,
				(errmsg("working_set: the saved history in file \"%s\" is not used: %s",
						WS_SAVE_FILE, why),
				 errdetail("It is kept as \"%s\".", REFUSED)));
		if (rename(WS_SAVE_FILE, REFUSED) != 0)
			ereport(LOG,
					(errcode_for_file_access(),
					 errmsg("working_set: could not rename file \"%s\" to \"%s\": %m",
							WS_SAVE_FILE, REFUSED)));
	}
	else if (size >= 0)
	{
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		if (!ws_load(&ws_shared->save_now))
		{
			ws_history_merge(&ws_shared->history, &image->history, now);
			if (ws_shared->last_saved == 0)
				ws_shared->last_saved = time_t_to_timestamptz(image->header.saved_at);
		}
		LWLockRelease(ws_shared->lock);
	}
	pfree(image);
}

/*
 * Complain, but not each time anew.
 */
static void
complain(const char *what, const char *name, bool *complained)
{
	if (!*complained)
		ereport(WARNING,
				(errcode_for_file_access(),
				 errmsg("working_set: could not %s file \"%s\": %m", what, name),
				 errdetail("The history is kept in memory, and saving is tried again.")));
	*complained = true;
}

static bool
write_file(const Image *image, bool *complained)
{
	int			fd = OpenTransientFile(ASIDE, O_CREAT | O_WRONLY | O_TRUNC | PG_BINARY);

	if (fd < 0)
	{
		complain("create", ASIDE, complained);
		return false;
	}
	errno = 0;
	if (write(fd, image, sizeof(Image)) != sizeof(Image))
	{
		if (errno == 0)
			errno = ENOSPC;
		complain("write", ASIDE, complained);
		CloseTransientFile(fd);
		unlink(ASIDE);
		return false;
	}
	if (CloseTransientFile(fd) != 0)
	{
		complain("close", ASIDE, complained);
		unlink(ASIDE);
		return false;
	}
	if (*complained)
		return durable_rename(ASIDE, WS_SAVE_FILE, DEBUG1) == 0;
	if (durable_rename(ASIDE, WS_SAVE_FILE, LOG) == 0)
		return true;
	*complained = true;
	return false;
}

void
ws_persist_save(void)
{
	static bool complained = false;
	Image	   *image;

	/* nothing was counted, so nothing is to be kept that was not before */
	if (!ws_shared->attached)
		return;

	image = palloc0(sizeof(Image));
	image->header.magic = MAGIC;
	image->header.format = FORMAT;
	image->header.block_size = BLCKSZ;
	image->header.system = GetSystemIdentifier();
	image->header.saved_at = wall_seconds();
	image->header.size = sizeof(Image);
	ws_store(&ws_shared->save_now, 0);
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	image->history = ws_shared->history;
	LWLockRelease(ws_shared->lock);
	image->header.crc = checksum(image);

	if (write_file(image, &complained))
	{
		complained = false;
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		ws_shared->last_saved = time_t_to_timestamptz(image->header.saved_at);
		LWLockRelease(ws_shared->lock);
	}
	pfree(image);
}

void
ws_persist_tick(void)
{
	static int64 last;
	int64		now = ws_shmem_clock_ms();

	if (last == 0)
		last = now;
	if (ws_load(&ws_shared->save_now) ||
		(ws_save > 0 && now - last >= ws_save * INT64CONST(1000)))
	{
		ws_persist_save();
		last = now;
	}
}
