/*
 * trees.h
 *		Directories of small files that imitate a machine.
 *
 * All trees of a program are below one directory, which end_trees() removes.
 * Names of files begin with a slash, and are below the present tree.
 */
#ifndef TREES_H
#define TREES_H

#include "tap.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* contents of files that are none */
#define DIRECTORY		"a directory"
#define LOOP			"a link to itself"

static char base[1024];			/* all trees are in here */
static char root[1100];			/* the present one */

static inline void
die(const char *what)
{
	diag("%s: %s", what, strerror(errno));
	exit(1);
}

static inline void
begin_trees(const char *program)
{
	const char *directory = getenv("TMPDIR");

	snprintf(base, sizeof(base), "%s/%s.XXXXXX", directory && *directory ? directory : "/tmp", program);
	if (!mkdtemp(base))
		die(base);
}

/* a new one, which is empty */
static inline void
new_tree(void)
{
	static int	trees;

	snprintf(root, sizeof(root), "%s/%d", base, trees++);
	if (mkdir(root, 0755) != 0)
		die(root);
}

static inline int
remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void) status;
	(void) type;
	(void) ftw;
	return remove(path);
}

/* Are they gone? */
static inline bool
end_trees(void)
{
	return nftw(base, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0 && access(base, F_OK) != 0;
}

static inline const char *
in_tree(const char *name)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return path;
}

/* make a directory with all above it, or only those above it */
static inline void
make_dirs(const char *name, bool last)
{
	char		path[8192];

	snprintf(path, sizeof(path), "%s%s%s", root, name, last ? "/" : "");
	for (char *p = path + strlen(base) + 1; (p = strchr(p, '/')) != NULL; p++)
	{
		*p = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			die(path);
		*p = '/';
	}
}

static inline void
put_bytes(const char *name, const char *content, size_t size)
{
	FILE	   *f;

	make_dirs(name, false);
	/* a new file, as some file systems write one that is cut to the disk at once */
	unlink(in_tree(name));
	f = fopen(in_tree(name), "w");
	if (!f || fwrite(content, 1, size, f) != size || fclose(f) != 0)
		die(name);
}

static inline void
put(const char *name, const char *content)
{
	if (strcmp(content, DIRECTORY) == 0)
		make_dirs(name, true);
	else if (strcmp(content, LOOP) == 0)
	{
		make_dirs(name, false);
		if (symlink(strrchr(name, '/') + 1, in_tree(name)) != 0)
			die(name);
	}
	else
		put_bytes(name, content, strlen(content));
}

#endif							/* TREES_H */
