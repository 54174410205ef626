/*
 * diskreads_t.c
 *		Tests of the bytes that a server really read: trees of small files that
 *		imitate /proc, and this process with children of its own.
 */
#define _GNU_SOURCE
#include "diskreads.h"
#include "trees.h"

#include <signal.h>
#include <sys/wait.h>

/* a process that read so many bytes */
static void
put_process(int pid, const char *bytes)
{
	char		name[100];
	char		content[300];

	snprintf(name, sizeof(name), "/proc/%d/io", pid);
	snprintf(content, sizeof(content), "rchar: 99\nwchar: 98\nsyscr: 97\nsyscw: 96\nread_bytes: %s\n"
			 "write_bytes: 95\ncancelled_write_bytes: 94\n", bytes);
	put(name, content);
	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	snprintf(content, sizeof(content), "%d (post) S 77 (gres) S 1 1 1 0 -1 4194560\n", pid);
	put(name, content);
}

/* of the postmaster and up to three others; 0: none */
static void
read_of(WsDiskReads *reads, int a, int b, int c)
{
	int			pids[] = {77, a, b, c};

	ws_disk_reads(root, pids, a == 0 ? 1 : b == 0 ? 2 : 4, reads);
}

static void
test_sum(void)
{
	WsDiskReads reads = {0};

	new_tree();
	put_process(77, "1000000");
	put_process(80, "20000");
	put_process(81, "0");
	put_process(82, "300");
	put_process(90, "4");
	read_of(&reads, 80, 81, 82);
	ok(reads.known && reads.reason[0] == '\0', "what a server read is known");
	is_int(reads.bytes, 1020300, "it is the sum of the postmaster and its processes");
	is_int(reads.processes, 4, "of which there are four");

	read_of(&reads, 80, 82, 12345);
	ok(reads.known && reads.processes == 3, "a child that has just ended is none");
	is_int(reads.bytes, 1020300, "and the sum does not go back");
	put_process(80, "20500");
	put_process(77, "1000100");
	read_of(&reads, 80, 82, 12345);
	is_int(reads.bytes, 1020900, "it goes on from there");
	put("/proc/83/io", DIRECTORY);
	put("/proc/83/stat", "83 (post) gres) S 77 77 77 0 -1 4194564 1 1\n");
	read_of(&reads, 80, 82, 83);
	ok(reads.known && reads.processes == 3 && reads.bytes == 1020900,
	   "of a child that is about to end nothing need be shown");
	put_process(77, "18446744073709551000");
	read_of(&reads, 0, 0, 0);
	ok(reads.bytes == UINT64_C(18446744073709551000) && reads.processes == 1, "it may be large");
}

/* how a reading fails, and whether it works again */
static void
refused(const char *why, const char *name)
{
	WsDiskReads reads = {.known = true, .bytes = 5};

	read_of(&reads, 80, 0, 0);
	ok(!reads.known && strstr(reads.reason, why) && reads.bytes == 5, "%s: \"%s\"", name, reads.reason);
	new_tree();
	put_process(77, "1000");
	read_of(&reads, 80, 0, 0);
	ok(reads.known && reads.reason[0] == '\0' && reads.bytes == 1000, "and is known when it can be read");
	new_tree();
}

static void
test_refused(void)
{
	new_tree();
	refused("/proc/77: No such file", "a postmaster that is not there");
	put("/proc/77/io", "rchar: 1\nwchar: 2\n");
	refused("/proc/77: io has no read_bytes", "a kernel that does not count");
	put("/proc/77/io", "");
	refused("/proc/77: io has no read_bytes", "a file that is empty");
	put("/proc/77/io", DIRECTORY);
	refused("/proc/77: Is a directory", "what cannot be read");
	put_process(77, "1000");
	put("/proc/80/io", DIRECTORY);
	put("/proc/80/stat", "80 (post) S 77 77 77 0 -1 4194560 1 1\n");
	refused("/proc/80: Is a directory", "a child's that cannot be read");
}

/* this process and five children that wait */
static void
test_real(void)
{
	WsDiskReads reads = {0};
	int			ends[2];
	char		byte;
	int			pids[6] = {getpid()};

	if (pipe(ends) != 0)
		die("pipe");
	for (int i = 0; i < 5; i++)
	{
		pids[i + 1] = fork();
		if (pids[i + 1] < 0)
			die("fork");
		if (pids[i + 1] == 0)
		{
			close(ends[1]);
			_exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
		}
	}
	ws_disk_reads("", pids, 6, &reads);
	/* some sandboxes have none, or show it to nobody */
	if (access("/proc/self/io", R_OK) != 0)
		ok(true, "real ones # SKIP /proc/self/io cannot be read");
	else
		ok(reads.known && reads.processes == 6, "real ones are found (%s)", reads.reason);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < 5; i++)
		(void) waitpid(pids[i + 1], NULL, 0);
}

/* the descriptor that the next file gets: higher if one was left open */
static int
next_descriptor(void)
{
	int			fd = dup(0);

	close(fd);
	return fd;
}

int
main(void)
{
	int			before = next_descriptor();

	plan(21);
	begin_trees("diskreads_t");
	test_sum();
	test_refused();
	test_real();
	is_int(next_descriptor(), before, "no file is left open");
	ok(end_trees(), "all is removed");
	return done();
}
