/*
 * diskreads.c
 *		Bytes that a server's processes fetched from storage; see diskreads.h.
 */
#include "diskreads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_SIZE		1024
#define TEXT_SIZE		4096	/* of a file whose start is enough */
#define EXITING			4		/* PF_EXITING of a process's flags */

static bool
refuse(WsDiskReads *reads, int pid, const char *what)
{
	snprintf(reads->reason, sizeof(reads->reason), "/proc/%d: %.80s", pid, what);
	return false;
}

/* The start of a file as a string; its length, or -1 and errno. */
static ssize_t
read_text(const char *path, char *text)
{
	int			fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t		length;
	int			error;

	if (fd < 0)
		return -1;
	length = read(fd, text, TEXT_SIZE - 1);
	error = errno;
	close(fd);
	errno = error;
	if (length >= 0)
		text[length] = '\0';
	return length;
}

/* The start of a process's stat behind its name, which may have any byte. */
static const char *
read_stat(const char *root, int pid, char *text)
{
	char		path[PATH_SIZE];
	const char *after;

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root, pid);
	if (read_text(path, text) < 0)
		return NULL;
	after = strrchr(text, ')');
	return after ? after + 1 : NULL;
}

static int
parent_of(const char *root, int pid)
{
	char		text[TEXT_SIZE];
	const char *stat = read_stat(root, pid, text);
	int			parent;

	return stat && sscanf(stat, " %*c %d", &parent) == 1 ? parent : -1;
}

/* Is it gone, or about to end?  Then the kernel may refuse to show its io. */
static bool
has_ended(const char *root, int pid)
{
	char		text[TEXT_SIZE];
	const char *stat = read_stat(root, pid, text);
	unsigned int flags = 0;

	return stat == NULL ? errno == ENOENT || errno == ESRCH :
		sscanf(stat, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && (flags & EXITING);
}

/* Bytes of a process.  A child that ends has none: its parent has them. */
static bool
read_process(WsDiskReads *reads, const char *root, int pid, bool child, uint64_t *sum)
{
	char		path[PATH_SIZE];
	char		text[TEXT_SIZE];
	const char *line;

	snprintf(path, sizeof(path), "%s/proc/%d/io", root, pid);
	if (read_text(path, text) < 0)
	{
		int			error = errno;

		return (child && has_ended(root, pid)) || refuse(reads, pid, strerror(error));
	}
	line = strstr(text, "\nread_bytes: ");
	if (line == NULL)
		return refuse(reads, pid, "io has no read_bytes");
	*sum += strtoull(line + strlen("\nread_bytes: "), NULL, 10);
	reads->processes++;
	return true;
}

static bool
read_by_parents(WsDiskReads *reads, const char *root, int postmaster, uint64_t *sum)
{
	char		path[PATH_SIZE];
	DIR		   *dir;
	struct dirent *entry;
	bool		fine = true;

	snprintf(path, sizeof(path), "%s/proc", root);
	dir = opendir(path);
	if (dir == NULL)
		return refuse(reads, postmaster, strerror(errno));
	while (fine && (entry = readdir(dir)) != NULL)
	{
		int			pid = atoi(entry->d_name);

		if (pid > 0 && parent_of(root, pid) == postmaster)
			fine = read_process(reads, root, pid, true, sum);
	}
	closedir(dir);
	return fine;
}

static bool
read_children(WsDiskReads *reads, const char *root, int postmaster, uint64_t *sum)
{
	char		path[PATH_SIZE];
	FILE	   *file;
	int			pid;
	bool		fine = true;

	snprintf(path, sizeof(path), "%s/proc/%d/task/%d/children", root, postmaster, postmaster);
	file = fopen(path, "re");
	if (file == NULL)
		return errno == ENOENT ? read_by_parents(reads, root, postmaster, sum) :
			refuse(reads, postmaster, strerror(errno));
	while (fine && fscanf(file, "%d", &pid) == 1)
		fine = read_process(reads, root, pid, true, sum);
	fclose(file);
	return fine;
}

void
ws_disk_reads(const char *root, int postmaster, WsDiskReads *reads)
{
	uint64_t	sum = 0;

	reads->processes = 0;
	reads->known = read_process(reads, root, postmaster, false, &sum) &&
		read_children(reads, root, postmaster, &sum);
	if (!reads->known)
		return;
	reads->reason[0] = '\0';
	if (sum > reads->bytes)
		reads->bytes = sum;
}
