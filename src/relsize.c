/*
 * relsize.c
 *		The size of a relation's file, by stat(); see relsize.h.
 *
 * The server's own functions need a database connection, raise errors and keep
 * files open.
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

	snprintf(name, sizeof(name), segment == 0 ? "%s" : "%s.%u", (const char *) path, segment);
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
