/*
 * diskreads.c
 *		Bytes that a server's processes fetched from storage; see diskreads.h.
 */
#include "diskreads.h"

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

/* Is it gone, or about to end?  Then the kernel may refuse to show its io. */
static bool
has_ended(const char *root, int pid)
{
	char		path[PATH_SIZE];
	char		text[TEXT_SIZE];
	const char *after;
	unsigned int flags = 0;

	snprintf(path, sizeof(path), "%s/proc/%d/stat", root, pid);
	if (read_text(path, text) < 0)
		return errno == ENOENT || errno == ESRCH;
	/* behind its name, which may have any byte */
	after = strrchr(text, ')');
	return after && sscanf(after, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && (flags & EXITING);
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

void
ws_disk_reads(const char *root, const int *pids, int n, WsDiskReads *reads)
{
	uint64_t	sum = 0;

	reads->processes = 0;
	reads->known = true;
	for (int i = 0; i < n && reads->known; i++)
		reads->known = read_process(reads, root, pids[i], i > 0, &sum);
	if (!reads->known)
		return;
	reads->reason[0] = '\0';
	if (sum > reads->bytes)
		reads->bytes = sum;
}
