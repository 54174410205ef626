/*
 * readahead_t.c
 *		Tests of the simulated readahead: beside what a kernel was seen to do,
 *		where there is none, and by its limits.
 */
#define _GNU_SOURCE
#include "readahead.h"
#include "trees.h"

#include <sys/sysmacros.h>

static WsReadahead
learn(uint32_t kilobytes, uint32_t block_bytes)
{
	WsReadahead readahead;

	ws_readahead_learn(&readahead, kilobytes, block_bytes);
	return readahead;
}

/*
 * Linux 6.18, ext4: bytes read for each byte waited for, by random reads of
 * 8 kB from a file of 340 MB of which a tenth, two tenths, ... were cached.
 */
static const double seen_128[9] = {1.02, 1.10, 1.23, 1.39, 1.59, 1.81, 2.07, 2.27, 2.08};
static const double seen_8192[9] = {1.02, 1.14, 1.33, 1.60, 1.94, 2.43, 2.99, 3.90, 5.62};

static double
worst(const WsReadahead *readahead, const double *seen, int n)
{
	double		off = 0;

	for (int i = 0; i < n; i++)
		off = fmax(off, fabs(ws_readahead_blocks(readahead, 0.1 * (i + 1)) / seen[i] - 1));
	return off;
}

static void
test_seen(void)
{
	WsReadahead usual = learn(128, 8192);
	WsReadahead large = learn(8192, 8192);

	ok(worst(&usual, seen_128, 8) < 0.03, "128 kB: within 3 %% of what was seen up to four fifths (%.3f)",
	   worst(&usual, seen_128, 8));
	ok(worst(&usual, seen_128, 9) < 0.06, "and within 6 %% where nine tenths are cached (%.3f)",
	   worst(&usual, seen_128, 9));
	ok(worst(&large, seen_8192, 5) < 0.10, "8 MB: within 10 %% while half the file is cached (%.3f)",
	   worst(&large, seen_8192, 5));
	ok(worst(&large, seen_8192, 8) < 0.25, "and within 25 %% up to four fifths (%.3f)",
	   worst(&large, seen_8192, 8));
}

static void
test_limits(void)
{
	static const uint32_t windows[] = {8, 16, 32, 64, 128, 256, 512, 1024, 4096};
	WsReadahead none = learn(0, 8192);
	WsReadahead usual = learn(128, 8192);
	WsReadahead last = none;
	bool		ascending = true;
	bool		rising = true;
	bool		bounded = true;

	ok(none.waits == 2 && ws_readahead_blocks(&none, 0.9) == 1,
	   "without readahead a process waits for each page of the kernel, and reads no more");
	is_int((int) learn(0, 32768).waits, 8, "of which a large block has many");
	is_int((int) learn(0, 2048).waits, 1, "and a small one one");

	/* a little apart where chance decides: of 32768 reads a twentieth misses */
	for (int w = 0; w < 9; w++)
	{
		WsReadahead this = learn(windows[w], 8192);

		for (int i = 0; i <= 20; i++)
		{
			double		blocks = ws_readahead_blocks(&this, i / 20.0);

			rising = rising && blocks > 0.9 * ws_readahead_blocks(&last, i / 20.0);
			bounded = bounded && blocks >= 1 && blocks <= fmax(1, windows[w] / 8.0);
		}
		bounded = bounded && this.waits == 1 && this.kilobytes == windows[w];
		last = this;
	}
	ok(rising, "a larger readahead reads more");
	ok(bounded, "at least what is waited for, and not more than it is");
	ok(ws_readahead_blocks(&last, 0.5) > 1.5 && ws_readahead_blocks(&last, 0.9) > 3, "which is much");
	is_within(ws_readahead_blocks(&last, 0), 1, 0, "nothing more where nothing is cached");
	is_within(ws_readahead_blocks(&last, -1), 1, 0, "or less than that");
	is_within(ws_readahead_blocks(&last, 1), 1, 0, "or where nothing is missing");
	is_within(ws_readahead_blocks(&last, 7), 1, 0, "or less than nothing");
	ok(ws_readahead_blocks(&last, 0.995) > 1.8 && ws_readahead_blocks(&last, 0.99) > 2.2 && ws_readahead_blocks(&usual, 0.99) < 1.3,
	   "of 4 MB beside a missing block another is often missing, of 128 kB rarely");
	for (int i = 0; i < WS_READAHEAD_SHARES - 1; i++)
		ascending = ascending && ws_readahead_shares[i] < ws_readahead_shares[i + 1];
	ok(ascending && ws_readahead_shares[0] == 0 && ws_readahead_shares[WS_READAHEAD_SHARES - 1] == 1,
	   "it is simulated at ascending shares, from none to all");
	is_within(ws_readahead_blocks(&last, 0.475),
			 (ws_readahead_blocks(&last, 0.45) + ws_readahead_blocks(&last, 0.5)) / 2, 1e-9,
			 "between two steps it is between them");
}

/* Where little is missing, the simulation goes on until it tells nothing of how it began. */
static void
test_steady(void)
{
	/* 200 reads of each block and more, the mean of three seeds */
	static const double steady_128[] = {1.62, 1.28, 1.145, 1.07};
	static const double steady_8192[] = {3.88, 3.60, 2.87, 2.22};
	WsReadahead usual = learn(128, 8192);
	WsReadahead large = learn(8192, 8192);
	double		off[2] = {0};

	for (int i = 0; i < 4; i++)
	{
		double		cached = ws_readahead_shares[WS_READAHEAD_SHARES - 5 + i];

		off[0] = fmax(off[0], fabs(ws_readahead_blocks(&usual, cached) / steady_128[i] - 1));
		off[1] = fmax(off[1], fabs(ws_readahead_blocks(&large, cached) / steady_8192[i] - 1));
	}
	/* of six seeds and lengths the farthest were 1 % off, and 7 % for 8 MB */
	ok(off[0] < 0.02, "128 kB: near the end all is as after a long time (%.3f)", off[0]);
	ok(off[1] < 0.12, "and of 8 MB (%.3f)", off[1]);
}

/* of a block of one page of the kernel, the same rules give other numbers */
static void
test_blocks(void)
{
	WsReadahead small = learn(128, 4096);
	WsReadahead large = learn(128, 32768);

	ok(ws_readahead_blocks(&small, 0.5) > 1.5, "small blocks have many before them");
	ok(ws_readahead_blocks(&large, 0.8) > 1.2 && ws_readahead_blocks(&large, 0.8) < 4,
	   "large ones at most three");
}

/* Make a file of the device of the root directory. */
static void
put_device(const char *name, const char *content)
{
	struct stat entry;
	char		path[400];

	stat("/", &entry);
	snprintf(path, sizeof(path), name, major(entry.st_dev), minor(entry.st_dev));
	put(path, content);
}

static void
test_device(void)
{
	begin_trees("readahead_t");
	new_tree();
	is_int(ws_readahead_kilobytes(root, "/"), -1, "of an unknown device: not known");
	is_int(ws_readahead_kilobytes(root, "/no such directory"), -1, "nor of none");
	put_device("/sys/class/bdi/%u:%u/read_ahead_kb", "512\n");
	is_int(ws_readahead_kilobytes(root, "/"), 512, "of a file system that is no disk's");
	put_device("/sys/dev/block/%u:%u/partition", "1\n");
	put_device("/sys/dev/block/queue/read_ahead_kb", "x\n");
	is_int(ws_readahead_kilobytes(root, "/"), 512, "what is no number does not count");
	put_device("/sys/dev/block/queue/read_ahead_kb", "8192\n");
	is_int(ws_readahead_kilobytes(root, "/"), 8192, "of a partition: its disk's");
	put_device("/sys/dev/block/%u:%u/queue/read_ahead_kb", "0\n");
	is_int(ws_readahead_kilobytes(root, "/"), 0, "of a disk: its own");
	ok(ws_readahead_kilobytes("", "/") <= 1 << 20, "of this machine: something");
	ok(end_trees(), "all is removed");
}

/* The simulation reads as much ahead as its factor says, and learns it. */
static void
test_follow(void)
{
	WsReadahead readahead = learn(128, 8192);
	double		all = ws_readahead_blocks(&readahead, 0.5) - 1;

	is_within(readahead.ahead, 1, 0, "at first all that is simulated is read ahead");
	ws_readahead_follow(&readahead, 100, 0);
	is_within(readahead.ahead, 0.75, 1e-12, "where nothing is, it becomes less, but not at once");
	is_within(ws_readahead_blocks(&readahead, 0.5) - 1, 0.75 * all, 1e-12, "by so much");
	for (int i = 0; i < 300; i++)
		ws_readahead_follow(&readahead, ws_readahead_blocks(&readahead, 0.5) - 1, 0.4 * all);
	is_within(readahead.ahead, 0.4, 0.001, "where some is, it becomes that");
	for (int i = 0; i < 300; i++)
		ws_readahead_follow(&readahead, 100, -50);
	is_within(readahead.ahead, 0.01, 1e-12, "fewer blocks than waits are next to none");
	for (int i = 0; i < 600; i++)
		ws_readahead_follow(&readahead, ws_readahead_blocks(&readahead, 0.5) - 1, 10 * all);
	is_within(readahead.ahead, 1.25, 0.01, "many are at most a quarter more");
	ws_readahead_follow(&readahead, 0, 10);
	is_within(readahead.ahead, 1.25, 0.01, "and where nothing is simulated, there is nothing to learn");
}

int
main(void)
{
	plan(36);
	test_follow();
	test_device();
	test_seen();
	test_limits();
	test_steady();
	test_blocks();
	return done();
}
