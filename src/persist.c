/*
 * persist.c
 *		Saving and loading what is to be kept over a restart; see persist.h.
 *
 * What is in the file, and what is believed of it, is image.c's business.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "port/pg_crc32c.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "guc.h"
#include "image.h"
#include "persist.h"
#include "shmem.h"

#define ASIDE			WS_SAVE_FILE ".tmp"
#define REFUSED			WS_SAVE_FILE ".bad"

StaticAssertDecl(WS_NKINDS == WS_IMAGE_SKETCHES, "all sketches are kept");

/* CRC-32C, piece by piece; that of nothing is 0 */
static uint32
checksum(uint32 so_far, const void *bytes, size_t size)
{
	pg_crc32c	crc = so_far ^ 0xFFFFFFFF;

	COMP_CRC32C(crc, bytes, size);
	FIN_CRC32C(crc);
	return crc;
}

/* ms since 1970 */
static int64
wall_ms(void)
{
	return GetCurrentTimestamp() / 1000 +
		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY * 1000;
}

static TimestampTz
timestamp_of(int64 ms)
{
	return (ms - (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY * 1000) * 1000;
}

/*
 * A number that a copy of the data directory does not share: files that are
 * made with the cluster, and written in place or never again, keep their
 * inodes until then.  (A copy of the whole file system does share it.)
 */
static uint64
place(void)
{
	static const char *const files[] = {"PG_VERSION", "global/pg_control"};
	uint64		sum = 0;
	struct stat st;

	for (int i = 0; i < (int) lengthof(files); i++)
		if (stat(files[i], &st) == 0)
			sum = (sum ^ (uint64) st.st_ino) * UINT64CONST(0x9E3779B97F4A7C15);
	return sum;
}

static WsImageOwner
owner(void)
{
	return (WsImageOwner)
	{
		.system = GetSystemIdentifier(),
		.place = place(),
		.page_bytes = BLCKSZ,
		.standby = RecoveryInProgress()
	};
}

/*
 * Read the file, as far as it can be of interest, to memory of the caller's
 * context.  Returns its length, and -1 if there is none.  If it cannot be read,
 * that is said, and its length is 0.
 */
static ssize_t
read_file(void **image)
{
	int			fd = OpenTransientFile(WS_SAVE_FILE, O_RDONLY | PG_BINARY);
	size_t		most = ws_image_size_max() + 1;
	size_t		size = 0;
	ssize_t		n = 0;
	struct stat st;

	*image = NULL;
	if (fd < 0)
	{
		if (errno == ENOENT)
			return -1;
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("working_set: could not open file \"%s\": %m", WS_SAVE_FILE)));
		return 0;
	}
	if (fstat(fd, &st) == 0 && st.st_size >= 0 && (uint64) st.st_size < most)
		most = (size_t) st.st_size + 1;
	*image = palloc_extended(most, MCXT_ALLOC_NO_OOM);
	while (*image && size < most && (n = read(fd, (char *) *image + size, most - size)) > 0)
		size += n;
	if (*image == NULL || n < 0)
	{
		if (*image == NULL)
			errno = ENOMEM;
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("working_set: could not read file \"%s\": %m", WS_SAVE_FILE)));
		size = 0;
	}
	CloseTransientFile(fd);
	return (ssize_t) size;
}

static void
put_aside(const char *why)
{
	ereport(LOG,
			(errmsg("working_set: what was saved in file \"%s\" is not used: %s",
					WS_SAVE_FILE, why),
			 errdetail("It is kept as \"%s\".", REFUSED)));
	if (rename(WS_SAVE_FILE, REFUSED) != 0)
		ereport(LOG,
				(errcode_for_file_access(),
				 errmsg("working_set: could not rename file \"%s\" to \"%s\": %m",
						WS_SAVE_FILE, REFUSED)));
}

static void
take_history(const void *image, int64 now)
{
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (!(ws_load(&ws_shared->memory_state) & WS_MEMORY_NO_HISTORY))
		ws_image_take_history(image, &ws_shared->history, now);
	if (ws_shared->last_saved == 0)
		ws_shared->last_saved = timestamp_of(ws_image_saved_at(image));
	LWLockRelease(ws_shared->lock);
}

/*
 * A reset that comes meanwhile raises the floor above all of it.
 */
static void
take_set(const void *image, int64 now)
{
	uint32		tick = ws_shmem_advance();

	ws_shmem_recall(ws_image_take_sketches(image, ws_shared->sketch, now));
	if (ws_shared->sampler)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		(void) ws_image_take_sample(image, ws_shared->sampler, tick, now);
		LWLockRelease(ws_shared->sample_lock);
	}
}

void
ws_persist_load(void)
{
	void	   *image;
	ssize_t		size;
	int64		now = wall_ms();
	WsImageOwner me;
	const char *why;

	/* once, and not again if that is what ended the last worker */
	if (!ws_shared->attached ||
		__atomic_fetch_or(&ws_shared->memory_state, WS_MEMORY_LOADED, __ATOMIC_RELAXED) & WS_MEMORY_LOADED)
		return;

	size = read_file(&image);
	if (size < 0)
		return;
	me = owner();
	why = ws_image_distrust(image, size, &me, ws_sketch_m(ws_shared->sketch[WS_CLIENT]), now,
							checksum);
	if (why)
		put_aside(why);
	else
	{
		take_history(image, now);
		if (!(ws_load(&ws_shared->memory_state) & WS_MEMORY_NO_SET))
			take_set(image, now);
	}
	if (image)
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
				 errdetail("All is kept in memory, and saving is tried again.")));
	*complained = true;
}

static bool
put(void *arg, const void *bytes, size_t size)
{
	errno = 0;
	if (write(*(int *) arg, bytes, size) == (ssize_t) size)
		return true;
	if (errno == 0)
		errno = ENOSPC;
	return false;
}

static bool
write_file(const WsImageParts *parts, int64 now, bool *complained)
{
	int			fd = OpenTransientFile(ASIDE, O_CREAT | O_WRONLY | O_TRUNC | PG_BINARY);
	WsImageOwner me = owner();

	if (fd < 0)
	{
		complain("create", ASIDE, complained);
		return false;
	}
	if (!ws_image_write(parts, &me, now, checksum, put, &fd))
	{
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
	if (durable_rename(ASIDE, WS_SAVE_FILE, WARNING) == 0)
		return true;
	*complained = true;
	return false;
}

void
ws_persist_save(void)
{
	static bool complained = false;
	WsImageParts parts;
	int64		now;

	/* nothing was counted, so nothing is to be kept that was not before */
	if (!ws_shared->attached)
		return;

	/* what is saved from here on is true, or a reset has come meanwhile */
	ws_store(&ws_shared->save_now, 0);

	/* the history may be emptied by others, so it is copied under its lock */
	parts.history = palloc(sizeof(WsHistory));
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	memcpy(parts.history, &ws_shared->history, sizeof(WsHistory));
	LWLockRelease(ws_shared->lock);
	for (int kind = 0; kind < WS_NKINDS; kind++)
		parts.sketches[kind] = ws_shared->sketch[kind];
	parts.sampler = ws_shared->sampler;

	ws_shmem_advance();
	now = wall_ms();
	if (write_file(&parts, now, &complained))
	{
		complained = false;
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		ws_shared->last_saved = timestamp_of(now);
		LWLockRelease(ws_shared->lock);
	}
	pfree(parts.history);
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
