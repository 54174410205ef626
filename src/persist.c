/*
 * persist.c
 *		Saving and loading what is to be kept over a restart; see persist.h.
 *
 * What is in the file, and what is believed of it, is statefile.c's business.
 *
 * Whatever else is found under one of the names, nobody waits for it: only
 * regular files are opened, and only files that are made here are written.
 *
 * Resets.  WsShared.file_lock is held for each use of the file as a whole:
 * from the copy of memory to the renaming when it is saved, from the reading
 * to the merging when it is loaded.  A reset forgets in memory first, and then
 * looks at the file under this lock.  The file holds what was there before the
 * reset, and the reset corrects it, or the worker has saved since, and there
 * is nothing to do.
 *
 * Messages.  A client may not read what it is sent, and whoever holds
 * file_lock must not wait for it.  So what is found wrong under the lock goes to
 * the server's log only; the client of a reset is warned afterwards.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xlog.h"
#include "catalog/pg_tablespace_d.h"
#include "common/relpath.h"
#include "storage/block.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "tcop/tcopprot.h"
#include "utils/timestamp.h"

#include "guc.h"
#include "statefile.h"
#include "persist.h"
#include "published.h"
#include "setup.h"
#include "shared.h"

#define ASIDE			WS_SAVE_FILE ".tmp"
#define REFUSED			WS_SAVE_FILE ".bad"

/* ms from 1970 to 2000 */
#define EPOCH_MS \
	((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY * 1000)

StaticAssertDecl(WS_NKINDS == WS_STATEFILE_SKETCHES, "all sketches are kept");
StaticAssertDecl(WS_STATEFILE_FORKS == MAX_FORKNUM + 1 && WS_STATEFILE_NO_BLOCK == InvalidBlockNumber &&
				 WS_STATEFILE_GLOBAL_TABLESPACE == GLOBALTABLESPACE_OID,
				 "pages of a file are pages of the server");
StaticAssertDecl((WS_STATEFILE_TIME_MAX_MS - EPOCH_MS) * 1000 < END_TIMESTAMP,
				 "times of a file are timestamps");

/*
 * CRC-32C, piece by piece; that of nothing is 0.  The server has a function for
 * it, but its name differs between servers of one version: it depends on the
 * compiler that built the server.
 */
static uint32
checksum(uint32 so_far, const void *bytes, size_t size)
{
	static uint32 table[256];
	const uint8 *p = bytes;
	uint32		crc = ~so_far;

	if (table[1] == 0)
		for (uint32 i = 0; i < lengthof(table); i++)
		{
			table[i] = i;
			for (int bit = 0; bit < 8; bit++)
				table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82F63B78 : 0);
		}
	while (size-- > 0)
		crc = table[(crc ^ *p++) & 255] ^ crc >> 8;
	return ~crc;
}

/* ms since 1970 */
static int64
wall_ms(void)
{
	return GetCurrentTimestamp() / 1000 + EPOCH_MS;
}

static TimestampTz
timestamp_of(int64 ms)
{
	return (ms - EPOCH_MS) * 1000;
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

static WsStateFileOwner
owner(void)
{
	return (WsStateFileOwner)
	{
		.system = GetSystemIdentifier(),
		.place = place(),
		.page_bytes = BLCKSZ
	};
}

/*
 * What is there under a name, if it is something and not a regular file; else
 * NULL.
 */
static const char *
irregular(const char *name)
{
	struct stat st;

	if (lstat(name, &st) != 0 || S_ISREG(st.st_mode))
		return NULL;
	if (S_ISDIR(st.st_mode))
		return "it is a directory";
	if (S_ISLNK(st.st_mode))
		return "it is a symbolic link";
	if (S_ISFIFO(st.st_mode))
		return "it is a FIFO";
	if (S_ISSOCK(st.st_mode))
		return "it is a socket";
	return "it is a device";
}

/*
 * Rename what is not used, so that it is kept and the name is free.
 */
static bool
put_aside(const char *why, int elevel)
{
	bool		renamed = rename(WS_SAVE_FILE, REFUSED) == 0;

	ereport(elevel,
			(errmsg("working_set: what was saved in file \"%s\" is not used: %s",
					WS_SAVE_FILE, why),
			 renamed ? errdetail("It is kept as \"%s\".", REFUSED) :
			 errdetail("It could not be renamed to \"%s\": %m.", REFUSED)));
	return renamed;
}

/*
 * Read the file, as far as it can be of interest, to memory of the caller's
 * context.  Returns its length, or -1 if there is none.  If it cannot be read,
 * *why says so.
 */
static ssize_t
read_file(void **image, const char **why)
{
	int			fd;
	size_t		most = ws_statefile_size_max() + 1;
	size_t		size = 0;
	ssize_t		n = 0;
	struct stat st;

	*image = NULL;
	*why = irregular(WS_SAVE_FILE);
	if (*why)
		return 0;
	/* if it is replaced just now, by whatever it may be: do not wait */
	fd = OpenTransientFile(WS_SAVE_FILE, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | PG_BINARY);
	if (fd < 0)
	{
		if (errno == ENOENT)
			return -1;
		*why = psprintf("it cannot be opened: %m");
		return 0;
	}
	if (fstat(fd, &st) == 0 && st.st_size >= 0 && (uint64) st.st_size < most)
		most = (size_t) st.st_size + 1;
	*image = palloc_extended(most, MCXT_ALLOC_NO_OOM);
	while (*image && size < most && (n = read(fd, (char *) *image + size, most - size)) > 0)
		size += n;
	if (*image == NULL)
		errno = ENOMEM;
	if (*image == NULL || n < 0)
		*why = psprintf("it cannot be read: %m");
	CloseTransientFile(fd);
	return (ssize_t) size;
}

static void
take_history(const void *image, int64 now)
{
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (!(ws_load(&ws_shared->file_state) & WS_FILE_NO_HISTORY))
		ws_statefile_take_history(image, &ws_published->history, now);
	if (ws_published->last_saved == 0)
		ws_published->last_saved = timestamp_of(ws_statefile_saved_at(image));
	LWLockRelease(ws_shared->lock);
}

/*
 * A reset that comes meanwhile raises the floor above all of it.
 */
static void
take_set(const void *image, int64 now)
{
	uint32		tick = ws_shared_advance();

	ws_setup_recall(ws_statefile_take_sketches(image, ws_shared->sketch, now));
	if (ws_shared->sampler)
	{
		LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
		(void) ws_statefile_take_sample(image, ws_shared->sampler, tick, now);
		LWLockRelease(ws_shared->sample_lock);
	}
}

/*
 * Load the file if nobody has.  The caller holds file_lock.
 */
static void
load(void)
{
	void	   *image;
	ssize_t		size;
	int64		now = wall_ms();
	WsStateFileOwner me = owner();
	const char *why;

	/* once, and not again if that is what ended the last worker */
	if (__atomic_fetch_or(&ws_shared->file_state, WS_FILE_LOADED, __ATOMIC_RELAXED) & WS_FILE_LOADED)
		return;

	size = read_file(&image, &why);
	if (size < 0)
		return;
	if (!why)
		why = ws_statefile_distrust(image, size, &me, checksum);
	if (why)
		(void) put_aside(why, LOG_SERVER_ONLY);
	else
	{
		take_history(image, now);
		if (ws_statefile_has_sketches(image) && !(ws_load(&ws_shared->file_state) & WS_FILE_NO_SET))
		{
			why = ws_statefile_distrust_sketches(image, ws_sketch_m(ws_shared->sketch[WS_CLIENT]), now);
			if (why)
				ereport(LOG_SERVER_ONLY,
						(errmsg("working_set: of what was saved in file \"%s\" only the history is used: %s",
								WS_SAVE_FILE, why)));
			else
				take_set(image, now);
		}
	}
	if (image)
		pfree(image);
}

void
ws_persist_load(void)
{
	if (!ws_shared->attached)
		return;
	LWLockAcquire(ws_shared->file_lock, LW_EXCLUSIVE);
	load();
	LWLockRelease(ws_shared->file_lock);
}

/* the level of messages, under file_lock, that the server's log should have */
static int
level(void)
{
	return whereToSendOutput == DestRemote ? LOG_SERVER_ONLY : WARNING;
}

/*
 * Complain, but not each time anew.
 */
static void
complain(const char *what, const char *name, bool *complained)
{
	if (!*complained)
		ereport(level(),
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

/*
 * Make the file that is written aside, in the place of whatever has its name:
 * what was there before is not written to.
 */
static int
create_aside(void)
{
	if (unlink(ASIDE) != 0 && errno != ENOENT)
		return -1;
	return OpenTransientFile(ASIDE, O_CREAT | O_EXCL | O_WRONLY | PG_BINARY);
}

static bool
write_file(const WsStateFileParts *parts, int64 now, bool *complained)
{
	const char *why = irregular(WS_SAVE_FILE);
	WsStateFileOwner me = owner();
	int			fd;

	/* only a file can take the place of what is there */
	if (why && !put_aside(why, *complained ? DEBUG1 : LOG_SERVER_ONLY))
	{
		*complained = true;
		return false;
	}
	fd = create_aside();
	if (fd < 0)
	{
		complain("create", ASIDE, complained);
		return false;
	}
	if (!ws_statefile_write(parts, &me, now, checksum, put, &fd))
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
	if (durable_rename(ASIDE, WS_SAVE_FILE, level()) == 0)
		return true;
	*complained = true;
	return false;
}

/*
 * Save all, or the history alone; false if that failed.  The caller holds
 * file_lock.
 */
static bool
save(bool all, bool *complained)
{
	WsStateFileParts parts = {0};
	int64		since;
	int64		now;
	bool		saved;

	/* what is saved from here on is true, or a reset has come meanwhile */
	if (all)
		ws_store(&ws_shared->save_now, 0);

	/* the history may be emptied by others, so it is copied under its lock */
	parts.history = palloc(sizeof(WsHistory));
	LWLockAcquire(ws_shared->lock, LW_SHARED);
	memcpy(parts.history, &ws_published->history, sizeof(WsHistory));
	since = ws_shared->since;
	LWLockRelease(ws_shared->lock);
	if (all)
	{
		for (int kind = 0; kind < WS_NKINDS; kind++)
			parts.sketches[kind] = ws_shared->sketch[kind];
		parts.sampler = ws_shared->sampler;
		ws_shared_advance();
	}

	now = wall_ms();
	saved = write_file(&parts, now, complained);
	if (saved)
	{
		*complained = false;
		ws_shared->saved_since = since;
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		ws_published->last_saved = timestamp_of(now);
		LWLockRelease(ws_shared->lock);
	}
	pfree(parts.history);
	return saved;
}

void
ws_persist_save(void)
{
	static bool complained = false;

	/* nothing was counted, so nothing is to be kept that was not before */
	if (!ws_shared->attached)
		return;
	LWLockAcquire(ws_shared->file_lock, LW_EXCLUSIVE);
	(void) save(true, &complained);
	LWLockRelease(ws_shared->file_lock);
}

/*
 * Remove the file; false if that failed.  What is not a file would not be used
 * anyway.
 */
static bool
remove_file(int64 since)
{
	struct stat st;

	if (lstat(WS_SAVE_FILE, &st) == 0 ? S_ISREG(st.st_mode) : errno != ENOENT)
	{
		if (durable_unlink(WS_SAVE_FILE, level()) != 0)
			return false;
		LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
		ws_published->last_saved = 0;
		LWLockRelease(ws_shared->lock);
	}
	ws_shared->saved_since = since;
	return true;
}

TimestampTz
ws_persist_reset(bool history)
{
	TimestampTz since = ws_setup_reset(history);
	bool		complained = false;
	bool		durable = true;

	LWLockAcquire(ws_shared->file_lock, LW_EXCLUSIVE);
	if (ws_shared->saved_since < since)
	{
		if (history)
			durable = remove_file(since);
		else
		{
			/* the worker may never have run */
			load();
			durable = save(false, &complained);
		}
	}
	LWLockRelease(ws_shared->file_lock);

	if (!durable)
		ereport(WARNING,
				(errmsg("working_set: could not correct file \"%s\"", WS_SAVE_FILE),
				 errdetail("What was forgotten comes back if the server is restarted before it is saved again."),
				 errhint("See the server log.")));
	return since;
}

void
ws_persist_tick(void)
{
	static int64 last;
	int64		now = ws_shared_clock_ms();

	if (last == 0)
		last = now;
	if (ws_load(&ws_shared->save_now) ||
		(ws_save > 0 && now - last >= ws_save * INT64CONST(1000)))
	{
		ws_persist_save();
		last = now;
	}
}
