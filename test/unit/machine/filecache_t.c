/*
 * filecache_t.c
 *		Tests of what is in the page cache: a file of this test's.
 *
 * Whether the file system can forget a file is tried out: on tmpfs it cannot.
 */
#define _GNU_SOURCE
#include "tap.h"
#include "filecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define BLOCK	8192
#define BLOCKS	64

static char path[] = "/tmp/filecache_t.XXXXXX";

static void
die(const char *what)
{
	diag("%s: %s", what, strerror(errno));
	unlink(path);
	exit(1);
}

/* A file of so many blocks on disk. */
static int
make_file(void)
{
	char		block[BLOCK];
	int			fd = mkstemp(path);

	memset(block, 'x', sizeof(block));
	if (fd < 0)
		die("mkstemp");
	for (int i = 0; i < BLOCKS; i++)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die("write");
	if (fsync(fd) != 0)
		die("fsync");
	return fd;
}

static double
share_of_all(void)
{
	return ws_file_cached(path, 0, WS_FILECACHE_MOST);
}

static void
test_forgotten(int fd)
{
	char		block[BLOCK];
	bool		forgets;

	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) != 0)
		die("posix_fadvise");
	forgets = share_of_all() < 1;
	if (!forgets)
		diag("the file system of /tmp forgets nothing");
	ok(!forgets || share_of_all() == 0, "what is forgotten is not, and asking brings in nothing");
	if (pread(fd, block, BLOCK, BLOCK) != BLOCK)
		die("pread");
	is_within(ws_file_cached(path, BLOCK, BLOCK), 1, 0, "a block that is read is there");
	ok(!forgets || share_of_all() < 1, "and others are not");
}

static void
test_not_known(void)
{
	struct rlimit limit;
	struct rlimit none;

	ok(isnan(ws_file_cached("/tmp/filecache_t.missing", 0, BLOCK)), "of a file that is gone nothing is known");
	ok(isnan(ws_file_cached(path, BLOCKS * BLOCK, BLOCK)), "nor behind the end of one");
	ok(isnan(ws_file_cached(path, (BLOCKS - 1) * BLOCK, 2 * BLOCK)), "or across it");
	ok(isnan(ws_file_cached("/", 0, BLOCK)) && isnan(ws_file_cached("/dev/null", 0, BLOCK)),
	   "nor of what is no file");
	ok(isnan(ws_file_cached(path, 0, 0)) && isnan(ws_file_cached(path, 0, WS_FILECACHE_MOST + 1)),
	   "nor of no byte, or too many");
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("getrlimit");
	none = limit;
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		die("setrlimit");
	ok(isnan(ws_file_cached(path, 0, BLOCK)), "nor if no file can be opened");
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		die("setrlimit");
	ok(!isnan(ws_file_cached(path, 0, BLOCK)), "until one can be again");
}

int
main(void)
{
	int			fd = make_file();
	int			next;

	plan(13);
	is_within(share_of_all(), 1, 0, "what was just written is in the page cache");
	is_within(ws_file_cached(path, 100, BLOCK), 1, 0, "from any byte on");
	test_forgotten(fd);
	test_not_known();
	next = dup(fd);
	is_int(next, fd + 1, "no descriptor is left open");
	close(next);
	close(fd);
	unlink(path);
	return done();
}
