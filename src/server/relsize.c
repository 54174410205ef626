/*
 * relsize.c
 *		The sizes of files, and what the kernel caches of them; see relsize.h.
 *
 * The server's own functions for the size of a relation need a database
 * connection, raise errors and keep files open.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "storage/fd.h"

#include "compat.h"
#include "filecache.h"
#include "relsize.h"
#include "segments.h"

static void
segment_path(const char *path, uint32 segment, char *name, size_t size)
{
	snprintf(name, size, segment == 0 ? "%s" : "%s.%u", path, segment);
}

typedef struct Segments
{
	char		path[MAXPGPATH];
	bool		unknown;		/* did a look at one of them fail? */
} Segments;

static uint32
segment_blocks(void *arg, uint32 segment)
{
	Segments   *segments = arg;
	char		name[MAXPGPATH];
	struct stat st;

	segment_path(segments->path, segment, name, sizeof(name));
	if (stat(name, &st) == 0)
		return (uint32) Min(st.st_size / BLCKSZ, RELSEG_SIZE);
	segments->unknown |= errno != ENOENT;
	return 0;
}

static void
open_segments(const WsPageId *page, Segments *segments)
{
	segments->unknown = false;
	ws_relation_path(page->tablespace, page->database, page->relation, page->fork,
					 segments->path, sizeof(segments->path));
}

uint32
ws_relation_blocks(const WsPageId *page)
{
	Segments	segments;
	uint32		blocks;

	open_segments(page, &segments);
	blocks = ws_segments_blocks(segment_blocks, &segments, RELSEG_SIZE, page->block / RELSEG_SIZE);
	return segments.unknown ? WS_BLOCKS_UNKNOWN : blocks;
}

bool
ws_page_is_gone(const WsPageId *page)
{
	Segments	segments;
	uint32		blocks;

	open_segments(page, &segments);
	blocks = segment_blocks(&segments, page->block / RELSEG_SIZE);
	return !segments.unknown && page->block % RELSEG_SIZE >= blocks;
}

double
ws_page_cached(const WsPageId *page)
{
	char		path[MAXPGPATH];
	char		name[MAXPGPATH];

	ws_relation_path(page->tablespace, page->database, page->relation, page->fork, path, sizeof(path));
	segment_path(path, page->block / RELSEG_SIZE, name, sizeof(name));
	return ws_file_cached(name, (uint64) (page->block % RELSEG_SIZE) * BLCKSZ, BLCKSZ);
}

double
ws_wal_files_bytes(void)
{
	DIR		   *dir = AllocateDir(XLOGDIR);
	struct dirent *entry;
	double		bytes = 0;

	while ((entry = ReadDirExtended(dir, XLOGDIR, DEBUG1)) != NULL)
		if (IsXLogFileName(entry->d_name))
			bytes += wal_segment_size;
	FreeDir(dir);
	return bytes;
}
