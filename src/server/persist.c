/*
 * persist.c
 *		Saving and loading the state file; see persist.h.
 *
 * Files.  Another program may put anything under the names used here.  So only
 * regular files are opened, none of them blocks, and only files that are made
 * here are written.
 *
 * Never overwritten.  A file that is there and cannot be used is one of two
 * kinds.  A damaged one, or one that is not this cluster's, is renamed.  One
 * that cannot be read now, for any errno but ENOENT, or that a later version
 * wrote, is left alone, and so is one that cannot be renamed.  Until it can be
 * read, which is tried again, what is saved goes into a file beside it.  Then
 * both are merged, and the file beside is removed.  While the file beside is
 * one of an earlier start and cannot be read, nothing is saved: it is the
 * younger one.
 *
 * Resets.  WsShared.file_lock is held from the copy of memory to the renaming
 * when the state is saved, and from the reading to the merging when it is
 * loaded.  A reset forgets in memory first and then takes this lock.  If nobody
 * has saved since, the file holds data from before the reset, and the reset
 * saves what is left.
 *
 * Messages.  Sending to a client may block, and a holder of file_lock must not
 * block.  So under the lock messages go to the server's log only; the client of
 * a reset is warned afterwards.
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
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "guc.h"
#include "persist.h"
#include "published.h"
#include "setup.h"
#include "shared.h"
#include "statefile.h"

#define ASIDE			WS_SAVE_FILE ".tmp"
#define BESIDE			WS_SAVE_FILE ".new"

#define REFUSED_MAX		100		/* files that are put aside, by number */
#define RETRY_MS		10000	/* until a file is read, or saved, again */

/* ms from 1970 to 2000 */
#define EPOCH_MS ((POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * (int64) SECS_PER_DAY * 1000)

StaticAssertDecl(WS_NKINDS == WS_STATEFILE_SKETCHES, "all sketches are kept");
StaticAssertDecl(WS_STATEFILE_FORKS == MAX_FORKNUM + 1 && WS_STATEFILE_NO_BLOCK == InvalidBlockNumber &&
				 WS_STATEFILE_GLOBAL_TABLESPACE == GLOBALTABLESPACE_OID,
				 "pages of a file are pages of the server");
StaticAssertDecl((WS_STATEFILE_TIME_MAX_MS - EPOCH_MS) * 1000 < END_TIMESTAMP,
				 "times of a file are timestamps");

static bool failing = false;	/* did the last attempt to save fail? */

/* What became of reading a file. */
typedef enum Outcome
{
	READ,						/* it can be trusted */
	ABSENT,
	REFUSED,					/* it is of no use, now or later */
	WITHHELD					/* it may be of use later */
} Outcome;

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
 * The place is made of inodes, which a copy of the data directory does not
 * share (one of the whole file system does).  These files are made with the
 * cluster and written in place or never again.
 */
static WsStateFileOwner
owner(void)
{
	static const char *const files[] = {"PG_VERSION", "global/pg_control"};
	WsStateFileOwner me = {.system = GetSystemIdentifier(), .page_bytes = BLCKSZ};
	struct stat st;

	for (int i = 0; i < (int) lengthof(files); i++)
		if (stat(files[i], &st) == 0)
			me.place = (me.place ^ (uint64) st.st_ino) * UINT64CONST(0x9E3779B97F4A7C15);
	return me;
}

/* Memory for any image, and a byte; NULL: there is none, and errno says so. */
static void *
allocate_image(void)
{
	void	   *image = palloc_extended(ws_statefile_size_max() + 1, MCXT_ALLOC_NO_OOM);

	if (image == NULL)
		errno = ENOMEM;
	return image;
}

/* Why the file is not used; NULL: it is regular, or there is none. */
static const char *
irregular(const char *name)
{
	struct stat st;

	if (lstat(name, &st) != 0 || S_ISREG(st.st_mode))
		return NULL;
	return S_ISDIR(st.st_mode) ? "it is a directory" :
		S_ISLNK(st.st_mode) ? "it is a symbolic link" :
		S_ISFIFO(st.st_mode) ? "it is a FIFO" :
		S_ISSOCK(st.st_mode) ? "it is a socket" : "it is a device";
}

/*
 * Rename a file that is not used, to a name that is free, so that it is kept.
 * False: it is where it was.
 */
static bool
put_aside(const char *name, const char *why)
{
	char		to[MAXPGPATH];
	struct stat st;
	bool		renamed = false;

	for (int i = 0; i < REFUSED_MAX && !renamed; i++)
	{
		snprintf(to, sizeof(to), i == 0 ? "%s.bad" : "%s.bad.%d", WS_SAVE_FILE, i);
		if (lstat(to, &st) == 0)
			errno = EEXIST;
		else if (errno != ENOENT || rename(name, to) != 0)
			break;
		else
			renamed = true;
	}
	ereport(LOG_SERVER_ONLY,
			(errmsg("working_set: what was saved in file \"%s\" is not used: %s", name, why),
			 renamed ? errdetail("It is kept as \"%s\".", to) :
			 errdetail("It could not be renamed to \"%s\": %m.", to)));
	return renamed;
}

/*
 * Read a file, up to a byte more than an image has.  *why is set if it cannot
 * be used.
 */
static Outcome
read_file(const char *name, char **image, size_t *size, const char **why)
{
	size_t		most = ws_statefile_size_max() + 1;
	WsStateFileOwner me = owner();
	ssize_t		n = -1;
	int			fd;

	*image = NULL;
	*size = 0;
	*why = irregular(name);
	if (*why)
		return REFUSED;
	/* O_NONBLOCK and others: the file may just be replaced by anything */
	fd = OpenTransientFile(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | PG_BINARY);
	if (fd < 0 && errno == ENOENT)
		return ABSENT;
	if (fd < 0)
	{
		*why = psprintf("it cannot be opened: %m");
		return WITHHELD;
	}
	*image = allocate_image();
	while (*image && *size < most &&
		   ((n = read(fd, *image + *size, most - *size)) > 0 || (n < 0 && errno == EINTR)))
		*size += Max(n, 0);
	if (n < 0)
		*why = psprintf("it cannot be read: %m");
	CloseTransientFile(fd);
	if (*why)
		return WITHHELD;
	*why = ws_statefile_distrust(*image, *size, &me);
	if (!*why)
		return READ;
	return ws_statefile_is_newer(*image, *size) ? WITHHELD : REFUSED;
}

/*
 * A reset at this moment raises the floors above everything that is loaded.
 * The sample is the worker's once it has begun to sample.
 */
static void
load_image(const char *name, const void *image, bool set)
{
	int64		now = wall_ms();
	const char *why;
	uint32		floor;

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	if (!(ws_load(&ws_shared->file_state) & WS_FILE_NO_HISTORY))
		ws_statefile_load_history(image, &ws_published->history, now);
	if (ws_published->last_saved == 0)
		ws_published->last_saved = timestamp_of(ws_statefile_saved_at(image));
	LWLockRelease(ws_shared->lock);
	if (!set || (ws_load(&ws_shared->file_state) & WS_FILE_NO_SET))
		return;
	why = ws_statefile_distrust_sketches(image, ws_sketch_m(ws_shared->sketch[WS_CLIENT]), now);
	if (why)
	{
		ereport(LOG_SERVER_ONLY,
				(errmsg("working_set: of what was saved in file \"%s\" only the history is used: %s",
						name, why)));
		return;
	}
	ws_shared_advance();
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	floor = ws_statefile_load_sketches(image, ws_shared->sketch,
									   ws_load(&ws_shared->sample_shift) == WS_SAMPLE_OFF ? ws_shared->sampler : NULL,
									   now);
	LWLockRelease(ws_shared->sample_lock);
	ws_setup_recall(floor);
}

/*
 * The files are withheld, for these reasons; NULL: not, or no more.  The log
 * and the views report one, the log only when it changes.
 */
static void
withhold(const char *why, const char *why_beside)
{
	uint32		set = (why ? WS_FILE_WITHHELD : 0) | (why_beside ? WS_FILE_NO_SAVE : 0);
	char	   *text = set == 0 ? "" : psprintf("file \"%s\" is not used yet: %s",
												why ? WS_SAVE_FILE : BESIDE, why ? why : why_beside);
	bool		changed;

	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	changed = strcmp(ws_published->withheld, text) != 0;
	strlcpy(ws_published->withheld, text, sizeof(ws_published->withheld));
	LWLockRelease(ws_shared->lock);
	__atomic_fetch_or(&ws_shared->file_state, set, __ATOMIC_RELAXED);
	__atomic_fetch_and(&ws_shared->file_state, set | ~(WS_FILE_WITHHELD | WS_FILE_NO_SAVE), __ATOMIC_RELAXED);
	if (changed && set)
		ereport(LOG_SERVER_ONLY,
				(errmsg("working_set: %s", text),
				 why_beside ? errdetail("It is kept as it is, and tried again.  Nothing is saved until then.") :
				 errdetail("It is kept as it is, and tried again.  What is saved until then goes to file \"%s\".",
						   BESIDE)));
	else if (changed)
		ereport(LOG_SERVER_ONLY,
				(errmsg("working_set: file \"%s\" is in use again", WS_SAVE_FILE)));
}

static bool
withheld(uint32 which)
{
	return (ws_load(&ws_shared->file_state) & which) != 0;
}

/*
 * Load one of the two files, unless a process has (so this bit says), or put it
 * aside, or say why it is withheld.
 */
static const char *
load_one(const char *name, uint32 loaded, bool set)
{
	char	   *image;
	size_t		size;
	const char *why;
	Outcome		outcome;

	/* mark it first: a file that ends this process must not end the next */
	if (__atomic_fetch_or(&ws_shared->file_state, loaded, __ATOMIC_RELAXED) & (loaded | WS_FILE_NO_HISTORY))
		return NULL;
	outcome = read_file(name, &image, &size, &why);
	if (outcome == READ)
		load_image(name, image, set);
	if (image)
		pfree(image);
	if (outcome != WITHHELD && (outcome != REFUSED || put_aside(name, why)))
		return NULL;
	__atomic_fetch_and(&ws_shared->file_state, ~loaded, __ATOMIC_RELAXED);
	return why;
}

/* Is there a file, whatever it is? */
static bool
exists(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0 || errno != ENOENT;
}

/*
 * Load the files if no process has, and if not everything in them is forgotten.
 * The file beside is the younger, and may be from after a reset, so that the
 * other gives its history only.  The caller holds file_lock.
 */
static void
load(void)
{
	const uint32 both = WS_FILE_LOADED | WS_FILE_BESIDE;
	const char *why;
	const char *why_beside;

	if ((ws_load(&ws_shared->file_state) & both) == both)
		return;
	why = load_one(WS_SAVE_FILE, WS_FILE_LOADED, !exists(BESIDE));
	why_beside = load_one(BESIDE, WS_FILE_BESIDE, true);
	withhold(why, why_beside);
	if (!why && !why_beside && exists(BESIDE))
		ws_store(&ws_shared->save_now, 1);	/* into one file */
}

void
ws_persist_load(void)
{
	MemoryContext context;
	MemoryContext before;

	if (!ws_shared->attached)
		return;
	/* the worker tries for as long as it takes, and has no other that ends */
	context = AllocSetContextCreate(CurrentMemoryContext, "working_set load", ALLOCSET_SMALL_SIZES);
	before = MemoryContextSwitchTo(context);
	LWLockAcquire(ws_shared->file_lock, LW_EXCLUSIVE);
	load();
	LWLockRelease(ws_shared->file_lock);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(context);
}

/* The level of warnings under file_lock. */
static int
level(void)
{
	return whereToSendOutput == DestRemote ? LOG_SERVER_ONLY : failing ? DEBUG1 : WARNING;
}

/* Report a failure, the first time in a row; returns false. */
static bool
failed_to(const char *what)
{
	if (!failing)
		ereport(level(),
				(errcode_for_file_access(),
				 errmsg("working_set: could not %s file \"%s\": %m", what, ASIDE),
				 errdetail("All is kept in memory, and saving is tried again.")));
	return false;
}

static bool
write_aside(const char *image, size_t size)
{
	int			fd = -1;
	ssize_t		n;
	bool		written;

	/* a new file, since whatever has this name must not be written to */
	if (unlink(ASIDE) == 0 || errno == ENOENT)
		fd = OpenTransientFile(ASIDE, O_CREAT | O_EXCL | O_WRONLY | PG_BINARY);
	if (fd < 0)
		return failed_to("create");
	errno = ENOSPC;				/* in case nothing is written */
	while (size > 0 && (n = write(fd, image, size)) > 0)
	{
		image += n;
		size -= n;
	}
	written = size == 0 || failed_to("write");
	if (CloseTransientFile(fd) != 0 && written)
		written = failed_to("close");
	if (!written)
		unlink(ASIDE);
	return written;
}

/* Other processes write to the sketches meanwhile. */
static size_t
make_image(void *image, int64 now, int64 *since)
{
	WsStateFileOwner me = owner();
	WsStateFileParts parts = {.history = palloc(sizeof(WsHistory)), .sampler = ws_shared->sampler};
	uint32		tick;
	size_t		size;

	LWLockAcquire(ws_shared->lock, LW_SHARED);
	*parts.history = ws_published->history;
	*since = ws_shared->since;
	LWLockRelease(ws_shared->lock);
	memcpy(parts.sketches, ws_shared->sketch, sizeof(parts.sketches));
	tick = ws_shared_advance();
	/* while nothing is recorded nobody knows what is used */
	if (!ws_enabled)
	{
		for (int kind = 0; kind < WS_NKINDS; kind++)
			ws_sketch_raise_floor(ws_shared->sketch[kind], tick);
		parts.sampler = NULL;
	}
	LWLockAcquire(ws_shared->sample_lock, LW_SHARED);
	size = ws_statefile_make(&parts, &me, now, image);
	LWLockRelease(ws_shared->sample_lock);
	pfree(parts.history);
	return size;
}

/* The caller holds file_lock.  False: it failed, which was reported. */
static bool
save(void)
{
	int64		now = wall_ms();
	bool		beside = withheld(WS_FILE_WITHHELD);
	const char *name = beside ? BESIDE : WS_SAVE_FILE;
	const char *why = irregular(name);
	void	   *image = NULL;
	int64		since = 0;
	bool		saved = false;

	/* before the image is made: a reset after this moment sets it again */
	uint32		wanted = __atomic_exchange_n(&ws_shared->save_now, 0, __ATOMIC_RELAXED);

	/* the rename would fail for a directory, and remove anything else */
	if (!withheld(WS_FILE_NO_SAVE) && (!why || put_aside(name, why)))
	{
		image = allocate_image();
		saved = image ? write_aside(image, make_image(image, now, &since)) &&
			durable_rename(ASIDE, name, level()) == 0 : failed_to("write");
	}
	failing = !saved;
	if (image)
		pfree(image);
	if (!saved)
	{
		if (wanted)
			ws_store(&ws_shared->save_now, 1);
		return false;
	}
	/* what a reset forgot is still in a file that is withheld */
	if (!beside && (!exists(BESIDE) || durable_unlink(BESIDE, level()) == 0))
		ws_shared->saved_since = since;
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	ws_published->last_saved = timestamp_of(now);
	LWLockRelease(ws_shared->lock);
	return true;
}

void
ws_persist_save(void)
{
	if (!ws_shared->attached)
		return;					/* nothing was counted */
	LWLockAcquire(ws_shared->file_lock, LW_EXCLUSIVE);
	(void) save();
	LWLockRelease(ws_shared->file_lock);
}

/*
 * What is not a regular file would not be loaded, and stays.  The caller holds
 * file_lock.
 */
static bool
remove_files(int64 since)
{
	static const char *const names[] = {WS_SAVE_FILE, BESIDE};
	struct stat st;

	withhold(NULL, NULL);
	for (int i = 0; i < (int) lengthof(names); i++)
		if ((lstat(names[i], &st) == 0 ? S_ISREG(st.st_mode) : errno != ENOENT) &&
			durable_unlink(names[i], level()) != 0)
			return false;
	LWLockAcquire(ws_shared->lock, LW_EXCLUSIVE);
	ws_published->last_saved = 0;
	LWLockRelease(ws_shared->lock);
	ws_shared->saved_since = since;
	return true;
}

TimestampTz
ws_persist_reset(bool history)
{
	TimestampTz since = ws_setup_reset(history);
	bool		durable = true;

	failing = false;			/* what fails in this reset is logged */
	LWLockAcquire(ws_shared->file_lock, LW_EXCLUSIVE);
	if (ws_shared->saved_since < since)
	{
		/* without a history to keep: no file, also where nothing is tracked */
		if (history)
			durable = remove_files(since);
		else
		{
			load();				/* the worker may never have run */
			durable = save();
		}
	}
	LWLockRelease(ws_shared->file_lock);

	if (!durable)
	{
		ws_store(&ws_shared->save_now, 1);	/* the worker tries next */
		ereport(WARNING,
				(errmsg("working_set: could not correct file \"%s\"", WS_SAVE_FILE),
				 errdetail("What was forgotten comes back if the server is restarted before it is saved again."),
				 errhint("See the server log.")));
	}
	return since;
}

void
ws_persist_tick(void)
{
	static int64 last;			/* saved, or tried to */
	static int64 tried;			/* to load */
	int64		now = ws_shared_clock_ms();

	if (last == 0)
		last = tried = now;
	if (withheld(WS_FILE_WITHHELD | WS_FILE_NO_SAVE) && now - tried >= RETRY_MS)
	{
		tried = now;
		ws_persist_load();
	}
	if ((ws_load(&ws_shared->save_now) && (!failing || now - last >= RETRY_MS)) ||
		(ws_save > 0 && now - last >= ws_save * INT64CONST(1000)))
	{
		ws_persist_save();
		last = now;
	}
}
