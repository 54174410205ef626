/*
 * clock.c
 *		Clocks that a test sets, for one server: to be preloaded before it.
 *
 * The file WS_TEST_CLOCK holds one number or two.  The first is added to the
 * wall clock, gettimeofday(), in seconds.  The second is the time that
 * CLOCK_MONOTONIC_COARSE shows, in milliseconds: it stands still until the file
 * changes.  With a + before it, it is added to that clock, which goes on.  The
 * extension measures ages by that clock, and PostgreSQL does not
 * use it.  All other clocks, and this one without a second number, go on as
 * they are.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

extern int	gettimeofday(struct timeval *restrict tv, void *restrict tz);

/*
 * Reads the file.  Returns how many numbers there are.  *added: does the second
 * begin with a plus sign?
 */
static int
read_file(long *wall, long *elapsed, int *added)
{
	char		text[64] = "";
	const char *name = getenv("WS_TEST_CLOCK");
	int			fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	char	   *rest;
	char	   *end;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	*wall = strtol(text, &rest, 10);
	*elapsed = strtol(rest, &end, 10);
	*added = strchr(rest, '+') != NULL;
	return (rest > text) + (end > rest);
}

int
gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec ts;
	long		wall;
	long		elapsed;
	int			added;

	(void) tz;
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec + (read_file(&wall, &elapsed, &added) > 0 ? wall : 0);
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	long		wall;
	long		elapsed;
	int			added;

	if (id != CLOCK_MONOTONIC_COARSE || read_file(&wall, &elapsed, &added) < 2)
		return syscall(SYS_clock_gettime, id, ts);
	if (added)
	{
		syscall(SYS_clock_gettime, id, ts);
		elapsed += ts->tv_sec * 1000 + ts->tv_nsec / 1000000;
	}
	ts->tv_sec = elapsed / 1000;
	ts->tv_nsec = elapsed % 1000 * 1000000;
	return 0;
}
