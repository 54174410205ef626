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
put_process(int pid, const char *bytes, int parent)
{
	char		name[100];
	char		content[300];

	snprintf(name, sizeof(name), "/proc/%d/io", pid);
	snprintf(content, sizeof(content), "rchar: 99\nwchar: 98\nsyscr: 97\nsyscw: 96\nread_bytes: %s\n"
			 "write_bytes: 95\ncancelled_write_bytes: 94\n", bytes);
	put(name, content);
	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	snprintf(content, sizeof(content), "%d (post) S 77 (gres) S %d 1 1 0 -1 4194560\n", pid, parent);
	put(name, content);
}

static void
test_sum(void)
{
	WsDiskReads reads = {0};

	new_tree();
	put_process(77, "1000000", 1);
	put_process(80, "20000", 77);
	put_process(81, "0", 77);
	put_process(82, "300", 77);
	put_process(90, "4", 80);
	put("/proc/77/task/77/children", "80 81 82 ");
	ws_disk_reads(root, 77, &reads);
	ok(reads.known && reads.reason[0] == '\0', "what a server read is known");
	is_int(reads.bytes, 1020300, "it is the sum of the postmaster and its children");
	is_int(reads.processes, 4, "which are its processes");

	put("/proc/77/task/77/children", "80 82 12345 ");
	ws_disk_reads(root, 77, &reads);
	ok(reads.known && reads.processes == 3, "a child that has just ended is none");
	is_int(reads.bytes, 1020300, "and the sum does not go back");
	put_process(80, "20500", 77);
	put_process(77, "1000100", 1);
	ws_disk_reads(root, 77, &reads);
	is_int(reads.bytes, 1020900, "it goes on from there");
	put("/proc/83/io", DIRECTORY);
	put("/proc/83/stat", "83 (post) gres) S 77 77 77 0 -1 4194564 1 1\n");
	put("/proc/77/task/77/children", "80 82 83");
	ws_disk_reads(root, 77, &reads);
	ok(reads.known && reads.processes == 3 && reads.bytes == 1020900,
	   "of a child that is about to end nothing need be shown");
	put("/proc/77/task/77/children", "");
	put_process(77, "18446744073709551000", 1);
	ws_disk_reads(root, 77, &reads);
	ok(reads.bytes == UINT64_C(18446744073709551000) && reads.processes == 1, "it may be large");
}

static void
test_parents(void)
{
	WsDiskReads reads = {0};

	new_tree();
	put_process(77, "1000000", 1);
	put_process(80, "20000", 77);
	put_process(81, "3000", 78);
	put_process(82, "400", 77);
	put("/proc/self", DIRECTORY);
	put("/proc/99", DIRECTORY);
	put("/proc/98/stat", "no process");
	put_process(7, "50", 1);
	ws_disk_reads(root, 77, &reads);
	ok(reads.known && reads.bytes == 1020400 && reads.processes == 3,
	   "where the kernel does not list children, they are found by their parent");
}

/* how a reading fails, and whether it works again */
static void
refused(const char *why, const char *name)
{
	WsDiskReads reads = {.known = true, .bytes = 5};

	ws_disk_reads(root, 77, &reads);
	ok(!reads.known && strstr(reads.reason, why) && reads.bytes == 5, "%s: \"%s\"", name, reads.reason);
	new_tree();
	put_process(77, "1000", 1);
	put("/proc/77/task/77/children", "");
	ws_disk_reads(root, 77, &reads);
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
	put_process(77, "1000", 1);
	put("/proc/80/io", DIRECTORY);
	put("/proc/77/task/77/children", "80");
	put("/proc/80/stat", "80 (post) S 77 77 77 0 -1 4194560 1 1\n");
	refused("/proc/80: Is a directory", "a child's that cannot be read");
	put_process(77, "1000", 1);
	put("/proc/77/task", "a file");
	refused("/proc/77: Not a directory", "a list of children that cannot be");
}

/* this process and five children that wait */
static void
test_real(void)
{
	WsDiskReads reads = {0};
	int			ends[2];
	char		byte;
	pid_t		child[5];

	if (pipe(ends) != 0)
		die("pipe");
	for (int i = 0; i < 5; i++)
	{
		child[i] = fork();
		if (child[i] < 0)
			die("fork");
		if (child[i] == 0)
		{
			close(ends[1]);
			_exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
		}
	}
	ws_disk_reads("", getpid(), &reads);
	/* some sandboxes have none, or show it to nobody */
	if (access("/proc/self/io", R_OK) != 0)
		ok(true, "real ones # SKIP /proc/self/io cannot be read");
	else
		ok(reads.known && reads.processes == 6, "real ones are found (%s)", reads.reason);
	close(ends[0]);
	close(ends[1]);
	for (int i = 0; i < 5; i++)
		(void) waitpid(child[i], NULL, 0);
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

	plan(24);
	begin_trees("diskreads_t");
	test_sum();
	test_parents();
	test_refused();
	test_real();
	is_int(next_descriptor(), before, "no file is left open");
	ok(end_trees(), "all is removed");
	return done();
}
