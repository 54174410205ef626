/*
 * filecache.c
 *		Is a file in the page cache?  See filecache.h.
 */
#include "filecache.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_PAGE		4096	/* bytes of the kernel's pages, at least */

/* The share of a part that begins with a whole page. */
static double
cached_share(int fd, uint64_t from, size_t bytes, size_t page)
{
	unsigned char in[WS_FILECACHE_MOST / LEAST_PAGE + 1];
	size_t		pages = (bytes + page - 1) / page;
	size_t		cached = 0;
	void	   *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t) from);
	bool		known;

	if (map == MAP_FAILED)
		return NAN;
	known = mincore(map, bytes, in) == 0;
	munmap(map, bytes);
	if (!known)
		return NAN;
	for (size_t i = 0; i < pages; i++)
		cached += in[i] & 1;
	return (double) cached / (double) pages;
}

double
ws_file_cached(const char *path, uint64_t from, size_t bytes)
{
	size_t		page = (size_t) sysconf(_SC_PAGESIZE);
	size_t		before = from % page;
	int			fd;
	struct stat st;
	double		share = NAN;

	if (bytes == 0 || bytes > WS_FILECACHE_MOST || page < LEAST_PAGE)
		return NAN;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NAN;
	if (fstat(fd, &st) == 0 && from + bytes <= (uint64_t) st.st_size)
		share = cached_share(fd, from - before, bytes + before, page);
	close(fd);
	return share;
}
