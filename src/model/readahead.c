/*
 * readahead.c
 *		Simulation of the kernel's readahead; see readahead.h.
 */
#include "readahead.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define BLOCKS			8192	/* of the file, */
#define KERNEL_PAGE		4096	/* bytes */
#define PAGES_MAX		16		/* of the kernel's in a block */
#define FOLLOWS			0.25	/* part of a change followed at a time */
#define AHEAD_LEAST		0.01	/* with none there is nothing to compare */
#define AHEAD_MOST		1.25

/*
 * Reads of each block, to warm up, and then: this many, or more where little is
 * missing, since what was there at first stays longer.
 */
#define READS			4
#define READS_OF_MISSING 0.8	/* over the share that is not cached */

const double ws_readahead_shares[WS_READAHEAD_SHARES] = {
	0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
	0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 1
};

enum
{
	CACHED = 1,
	MARKED = 2
};

typedef struct CachedFile
{
	uint64_t	seed;
	uint32_t	per_block;		/* the kernel's pages in a block */
	uint32_t	npages;
	uint32_t	most;			/* pages read at a time */
	double		read;			/* pages so far */
	uint32_t	ncached;		/* blocks of which a page is cached */
	uint32_t	order[BLOCKS];	/* these, */
	uint32_t	place[BLOCKS];	/* and where in there, or BLOCKS */
	uint8_t		page[BLOCKS * PAGES_MAX];
} CachedFile;

uint32_t
ws_random_below(uint64_t *seed, uint32_t n)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t) (((*seed >> 32) * n) >> 32);
}

static void
cache_block(CachedFile *file, uint32_t block)
{
	if (file->place[block] != BLOCKS)
		return;
	file->place[block] = file->ncached;
	file->order[file->ncached++] = block;
}

/* The kernel evicts pages in the order in which they came, so whole blocks. */
static void
evict_block(CachedFile *file)
{
	uint32_t	place = ws_random_below(&file->seed, file->ncached);
	uint32_t	block = file->order[place];

	file->order[place] = file->order[--file->ncached];
	file->place[file->order[place]] = place;
	file->place[block] = BLOCKS;
	memset(file->page + block * file->per_block, 0, file->per_block);
}

/* Read what is not cached of so many pages, and mark one of them. */
static void
read_pages(CachedFile *file, uint32_t from, uint32_t n, uint32_t mark)
{
	for (uint32_t page = from; page < from + n && page < file->npages; page++)
		if (!(file->page[page] & CACHED))
		{
			file->page[page] = page == mark ? CACHED | MARKED : CACHED;
			cache_block(file, page / file->per_block);
			file->read++;
		}
}

/* A process waits for a page: it and the rest of the block are read. */
static void
read_now(CachedFile *file, uint32_t page, uint32_t asked)
{
	uint32_t	before = 0;
	uint32_t	n = asked;

	while (before < file->most && before < page && file->page[page - 1 - before] & CACHED)
		before++;
	if (before > asked)
		n = before + asked < file->most ? before + asked : file->most;
	read_pages(file, page, n, before > asked ? page + n - 1 : file->npages);
}

/* A process comes by the mark: what follows is read, and nobody waits. */
static void
read_ahead(CachedFile *file, uint32_t page, uint32_t asked)
{
	uint32_t	gap = page + 1;
	uint32_t	n;

	file->page[page] = CACHED;
	while (gap < file->npages && gap - page <= file->most && file->page[gap] & CACHED)
		gap++;
	if (gap == file->npages || gap - page > file->most)
		return;
	n = gap - page + asked;
	if (n < file->most / 16)
		n *= 4;
	else
		n = n <= file->most / 2 ? 2 * n : file->most;
	read_pages(file, gap, n, gap);
}

/* Read a block; did the process wait? */
static bool
read_block(CachedFile *file, uint32_t block)
{
	bool		waited = false;

	for (uint32_t i = 0; i < file->per_block; i++)
	{
		uint32_t	page = block * file->per_block + i;

		if (file->page[page] & MARKED)
			read_ahead(file, page, file->per_block - i);
		else if (!(file->page[page] & CACHED))
		{
			read_now(file, page, file->per_block - i);
			waited = true;
		}
	}
	return waited;
}

/* Blocks read for each wait, if so many blocks are cached. */
static double
simulate(CachedFile *file, uint32_t cached)
{
	double		waits = 0;
	uint32_t	reads = (uint32_t) (BLOCKS * fmax(READS, READS_OF_MISSING * BLOCKS / (BLOCKS - cached)));

	for (uint32_t block = 0; block < BLOCKS; block++)
		file->place[block] = BLOCKS;
	memset(file->page, 0, sizeof(file->page));
	file->ncached = 0;
	for (uint32_t n = 0; n < 2 * reads; n++)
	{
		if (n == reads)
			file->read = waits = 0;
		waits += read_block(file, ws_random_below(&file->seed, BLOCKS));
		while (file->ncached > cached)
			evict_block(file);
	}
	return waits > 0 ? file->read / file->per_block / waits : 1;
}

bool
ws_readahead_learn(WsReadahead *readahead, uint32_t kilobytes, uint32_t block_bytes)
{
	CachedFile *file = malloc(sizeof(CachedFile));

	if (file == NULL)
		return false;
	file->seed = WS_RANDOM_SEED;
	file->per_block = block_bytes / KERNEL_PAGE > 1 ? block_bytes / KERNEL_PAGE : 1;
	file->npages = BLOCKS * file->per_block;
	file->most = kilobytes / (KERNEL_PAGE / 1024);
	readahead->kilobytes = kilobytes;
	readahead->ahead = 1;
	/* without readahead the kernel's pages are read one by one */
	readahead->waits = file->most == 0 ? file->per_block : 1;
	for (int i = 0; i < WS_READAHEAD_SHARES; i++)
	{
		uint32_t	cached = (uint32_t) (BLOCKS * ws_readahead_shares[i]);

		readahead->blocks[i] = file->most <= file->per_block || cached == 0 || cached == BLOCKS ?
			1 : fmax(simulate(file, cached), 1);
	}
	free(file);
	return true;
}

int64_t
ws_readahead_kilobytes(const char *root, const char *directory)
{
	/* a partition has what its disk has; some file systems are no disk's */
	static const char *const names[] = {
		"%s/sys/dev/block/%u:%u/queue/read_ahead_kb",
		"%s/sys/dev/block/%u:%u/../queue/read_ahead_kb",
		"%s/sys/class/bdi/%u:%u/read_ahead_kb"
	};
	struct stat entry;

	if (stat(directory, &entry) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
	{
		char		path[1024];
		FILE	   *file;
		uint32_t	kilobytes;
		bool		known;

		snprintf(path, sizeof(path), names[i], root, major(entry.st_dev), minor(entry.st_dev));
		file = fopen(path, "re");
		if (file == NULL)
			continue;
		known = fscanf(file, "%" SCNu32, &kilobytes) == 1;
		fclose(file);
		if (known)
			return kilobytes;
	}
	return -1;
}

void
ws_readahead_follow(WsReadahead *readahead, double simulated, double real)
{
	double		wanted = fmin(fmax(real, 0) / simulated, 1 / FOLLOWS) * readahead->ahead;

	if (simulated > 0)
		readahead->ahead = fmax(readahead->ahead + FOLLOWS * (fmin(wanted, AHEAD_MOST) - readahead->ahead),
								AHEAD_LEAST);
}

double
ws_readahead_blocks(const WsReadahead *readahead, double cached)
{
	const double *share = ws_readahead_shares;
	const double *blocks = readahead->blocks;
	double		between;
	int			i = 1;

	cached = fmin(fmax(cached, 0), 1);
	while (i < WS_READAHEAD_SHARES - 1 && share[i] < cached)
		i++;
	between = (cached - share[i - 1]) / (share[i] - share[i - 1]);
	return 1 + readahead->ahead * (blocks[i - 1] + between * (blocks[i] - blocks[i - 1]) - 1);
}
