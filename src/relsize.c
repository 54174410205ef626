/*
 * relsize.c
 *		Asking the file system for the size of a relation; see relsize.h.
 *
 * The worker has no database connection, and the server's own functions raise
 * errors and keep files open.  The names of files are public, so it looks at these.
 */
#include "postgres.h"

#include <sys/stat.h>

#include "compat.h"
#include "relsize.h"
#include "segments.h"

static uint32
segment_blocks(void *path, uint32 segment)
{
	char		name[MAXPGPATH];
	struct stat st;

	if (segment == 0)
		strlcpy(name, path, sizeof(name));
	else
		snprintf(name, sizeof(name), "%s.%u", (const char *) path, segment);
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
