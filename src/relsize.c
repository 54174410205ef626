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

static uint32
segment_blocks(void *path, uint32 segment)
{
	char		name[MAXPGPATH];
	struct stat st;

	segment_path(path, segment, name, sizeof(name));
	if (stat(name, &st) != 0)
		return 0;
	return (uint32) Min(st.st_size / BLCKSZ, RELSEG_SIZE);
}

uint32
ws_relation_blocks(const WsPageId *page)
{
	char		path[MAXPGPATH];

	ws_relation_path(page->tablespace, page->database, page->relation, page->fork, path, sizeof(path));
	return ws_segments_blocks(segment_blocks, path, RELSEG_SIZE, page->block / RELSEG_SIZE);
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
