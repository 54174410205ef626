/*
 * hotpath.c
 *		What a buffer hit costs, without a server around it; see bench/hotpath.
 *
 *	hotpath time TURNS PROCESSES		figures for bench/lib.sh
 *	hotpath run WAY current|store|unattended ACCESSES	the loop alone, for callgrind
 *	hotpath step WAY current|store	instructions per access, by stepping through them
 *
 * The server finds the entry of a page and calls a function to compare its key,
 * through a pointer.  So does the loop here; the function is memcmp(), which the
 * server uses by itself, or the extension's own, linked in as it was compiled
 * for the library, or one of the other ways to do its work.  Entries are as
 * large as the server's and as scattered, so that what it costs to get at them
 * is in all figures alike; differences to memcmp() are what a way adds.
 */
#include "postgres.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/buf_internals.h"
#include "storage/proc.h"

#include "compat.h"
#include "lookup.h"
#include "process_origin.h"
#include "sample_events.h"
#include "shared.h"

/* the C library's own */
#undef printf
#undef fprintf
#undef qsort

#include "yardstick.h"

#if __has_include(<xxhash.h>)
#define XXH_INLINE_ALL
#include <xxhash.h>
#define HAVE_XXHASH
#endif

/*
 * What the library gets from the server and from its other modules.  The clock is
 * advanced by the loop, in the place of the worker, and no page is sampled.
 */
WsShared   *ws_shared;
WsSharedCounters *ws_counters;
PGPROC	   *MyProc;
PROC_HDR   *ProcGlobal;
int			MyProcPid, MaxBackends, ParallelWorkerNumber = -1;
BackendType MyBackendType;
BackgroundWorker *MyBgworkerEntry;
BufferUsage pgBufferUsage;
ExecutorRun_hook_type ExecutorRun_hook;

void		standard_ExecutorRun(WS_RUN_ARGUMENTS) {}
bool		LWLockHeldByMeInMode(LWLock *lock, LWLockMode mode) { return false; }
uint32		ws_shared_advance(void) { return ws_shared->sketch[0]->tick; }
void		ws_shared_wake_worker(void) {}
void		ws_events_begin(bool warms) {}
void		ws_process_origin_take_role(void) {}
void		ws_events_flush(WsCounters *counters) {}
void		ws_events_hit(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind) {}
void		ws_events_insert(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind) {}
void		ws_events_remove(const WsPageId *page, uint32 hash, uint32 tick, WsKind kind) {}

/* as the server's: 16 bytes, the key, and the number of the buffer */
typedef struct Entry
{
	HASHELEMENT element;
	BufferTag	tag;
	int			id;
} Entry;

static Entry *entries;
static uint32 npages;
#define LOG2M	12			/* of WS_REGISTERS_DEFAULT */
static WsSketch *sketch;
static LWLockPadded locks[NUM_BUFFER_PARTITIONS];

/* ---------------------------------------------------------------- other ways */

static int64 *stamps;

static inline uint32
hash_of(const void *entry_key)
{
	return ((const Entry *) ((const char *) entry_key - offsetof(Entry, tag)))->element.hashvalue;
}

static inline bool
same(const void *a, const void *b)
{
	uint64		a0,
				a1,
				b0,
				b1;
	uint32		a2,
				b2;

	memcpy(&a0, a, 8);
	memcpy(&b0, b, 8);
	memcpy(&a1, (const char *) a + 8, 8);
	memcpy(&b1, (const char *) b + 8, 8);
	memcpy(&a2, (const char *) a + 16, 4);
	memcpy(&b2, (const char *) b + 16, 4);
	return likely(a0 == b0 && a1 == b1 && a2 == b2);
}

static int
nothing(const void *entry_key, const void *key, Size size)
{
	return 0;
}

/* the clock read at each hit, the cheapest there is */
static int
coarse_clock(const void *entry_key, const void *key, Size size)
{
	struct timespec t;
	uint32	   *cell;
	uint32		now;

	if (!same(entry_key, key))
		return 1;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	now = (uint32) (t.tv_sec * 10 + t.tv_nsec / 100000000);
	cell = &sketch->cells[ws_cell(hash_of(entry_key), LOG2M)];
	if (ws_load(cell) != now)
		ws_store(cell, now);
	return 0;
}

#ifdef HAVE_XXHASH
/*
 * The layout known from the literature and from practice, our own making of the
 * idea: a time of 8 bytes for each register and level, the levels of a register
 * together, the time of day, and a hash of the 20-byte tag.
 */
static int
textbook(const void *entry_key, const void *key, Size size)
{
	uint32		hash;
	struct timeval t;

	if (memcmp(entry_key, key, size) != 0)
		return 1;
	hash = (uint32) XXH3_64bits(key, sizeof(BufferTag));
	gettimeofday(&t, NULL);
	stamps[((size_t) (hash >> 18) << 5) + __builtin_ctz(hash | 0x40000)] =
		t.tv_sec * INT64CONST(1000000) + t.tv_usec;
	return 0;
}
#endif

typedef struct Way
{
	const char *name;
	HashCompareFunc function;
} Way;

static Way	ways[] = {
	{"empty", nothing},
	{"memcmp", memcmp},			/* the server's own */
	{"working_set", NULL},
	{"clock", coarse_clock},
#ifdef HAVE_XXHASH
	{"textbook", textbook},
#endif
};

#define NWAYS	((int) lengthof(ways))
#define AHEAD	8
#define ACCESSES	(4 << 20)	/* of one turn */
#define MEMCMP	1			/* what others are compared with */

/* ---------------------------------------------------------------- the loop */

/*
 * Look at n pages.  The server writes a key, and then hashes it and takes a lock
 * before it looks: a key is written a few rounds ahead here, so that it has left
 * the processor's store buffer too.  Its entry is not touched before its turn.
 */
static pg_noinline int
look(const Way *way, const uint32 *pages, uint32 n)
{
	HashCompareFunc volatile match = way->function;
	BufferTag	keys[2 * AHEAD];
	int			differ = 0;

	memset(keys, 0, sizeof(keys));
	for (uint32 i = 0; i < AHEAD; i++)
		memcpy(&keys[i], &pages[i < n ? i : 0], sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		const Entry *e = &entries[pages[i]];

		memcpy(&keys[(i + AHEAD) % (2 * AHEAD)], &pages[i + AHEAD < n ? i + AHEAD : 0], sizeof(uint32));
		differ += match(&e->tag, &keys[i % (2 * AHEAD)], sizeof(BufferTag));
	}
	return differ;
}

static void
check(bool fine, const char *what)
{
	if (!fine)
	{
		perror(what);
		exit(1);
	}
}

static void *
shared_memory(size_t size)
{
	void	   *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	check(p != MAP_FAILED, "mmap");
	memset(p, 0, size);
	return p;
}

static void
set_up(uint32 pages)
{
	uint64		state = 1;

	npages = pages;
	entries = shared_memory((size_t) pages * sizeof(Entry));
	for (uint32 i = 0; i < pages; i++)
	{
		memset(&entries[i].tag, 0, sizeof(BufferTag));
		memcpy(&entries[i].tag, &i, sizeof(i));
		entries[i].element.hashvalue = (uint32) random64(&state);
	}

	ws_shared = shared_memory(sizeof(WsShared));
	ws_counters = shared_memory(sizeof(WsSharedCounters));
	for (int kind = 0; kind < WS_NKINDS; kind++)
	{
		ws_shared->sketch[kind] = shared_memory(ws_sketch_size(1 << LOG2M));
		ws_sketch_init(ws_shared->sketch[kind], 1 << LOG2M, WS_TICK_ORIGIN);
	}
	ws_shared->log2m = LOG2M;
	ws_shared->sample_shift = WS_SAMPLE_OFF;
	sketch = ws_shared->sketch[WS_CLIENT];
	stamps = shared_memory(((size_t) 1 << 14) * 32 * sizeof(int64));

	MyProcPid = getpid();
	ws_lookup_begin(locks, 1 << 24, true);
	for (int i = 0; i < NWAYS; i++)
		if (!ways[i].function)
			ways[i].function = ws_lookup_match(LOG2M);
}

/* ---------------------------------------------------------------- time */

typedef struct Pattern
{
	const char *title;
	uint32		pages;
	double		zipf;			/* exponent; 0: uniform */
	bool		in_turn;		/* a round of all pages in each tick */
} Pattern;

static const Pattern patterns[] = {
	{"64 hot pages", 64, 0, false},
	{"uniform over 16,000 pages", 16000, 0, false},
	{"16,000 pages in turn, each round a new tick", 16000, 0, true},
	{"Zipf 0.99 over 1,000,000 pages", 1000000, 0.99, false},
	{"uniform over 10,000,000 pages", 10000000, 0, false},
};

static uint32 *
draw(const Pattern *p, uint64 seed)
{
	uint32	   *pages = malloc(sizeof(uint32) * ACCESSES);
	double	   *sum = NULL;
	uint64		state = seed;

	check(pages != NULL, "malloc");
	if (p->zipf > 0)
	{
		sum = malloc(sizeof(double) * p->pages);
		check(sum != NULL, "malloc");
		for (uint32 i = 0; i < p->pages; i++)
			sum[i] = (i ? sum[i - 1] : 0) + pow(i + 1.0, -p->zipf);
	}
	for (uint32 i = 0; i < ACCESSES; i++)
	{
		uint32		low = 0;

		if (sum)
		{
			double		x = random_unit(&state) * sum[p->pages - 1];
			uint32		high = p->pages - 1;

			while (low < high)
			{
				uint32		mid = (low + high) / 2;

				if (sum[mid] < x)
					low = mid + 1;
				else
					high = mid;
			}
		}
		else
			low = p->in_turn ? i % p->pages : (uint32) (random_unit(&state) * p->pages);
		/* entries lie where their hash has put them, not by rank */
		pages[i] = (uint32) ((uint64) low * 7368787 % p->pages);
	}
	free(sum);
	return pages;
}

/* all processes go on when all are there */
static void
meet(uint32 *arrived, uint32 processes, uint32 *round)
{
	*round += processes;
	__atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < *round)
		;
}

/*
 * One process's part in the measuring of a pattern: ns[way][turn].  The first
 * process ticks, as the worker would.
 */
static void
measure(const Pattern *p, int process, int processes, int turns, uint32 *arrived, double *ns)
{
	uint32		round = 0;
	uint32	   *pages = draw(p, 17 + process);
	uint32		chunk = p->in_turn ? p->pages : 65536;
	cpu_set_t	cpus;

	CPU_ZERO(&cpus);
	CPU_SET(process % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	MyProcPid = getpid();

	/* the first turn is for the caches */
	for (int turn = -1; turn < turns; turn++)
		for (int i = 0; i < NWAYS; i++)
		{
			int			w = (i + turn + NWAYS) % NWAYS;
			double		took = 0;
			double		ticked = 0;

			meet(arrived, processes, &round);
			for (uint32 done = 0; done < ACCESSES; done += chunk)
			{
				double		start = clock_ms();

				if (process == 0 && (p->in_turn || start - ticked >= 100))
				{
					ws_sketch_advance(sketch, ws_load(&sketch->tick) + 1);
					ticked = start;
					start = clock_ms();
				}
				check(look(&ways[w], pages + done, Min(ACCESSES - done, chunk)) == 0, "match");
				took += clock_ms() - start;
			}
			if (turn >= 0)
				ns[w * turns + turn] = took * 1e6 / ACCESSES;
		}
	free(pages);
}

/*
 * Medians over the turns: of memcmp(), and of what each way adds to it.
 */
static void
time_all(int turns, int processes)
{
	size_t		each = (size_t) NWAYS * turns;
	double	   *ns = shared_memory(sizeof(double) * each * processes);
	uint32	   *arrived = shared_memory(sizeof(uint32));

	for (int i = 0; i < (int) lengthof(patterns); i++)
	{
		const Pattern *p = &patterns[i];

		*arrived = 0;
		for (int process = 0; process < processes; process++)
		{
			pid_t		pid = fork();

			check(pid >= 0, "fork");
			if (pid == 0)
			{
				measure(p, process, processes, turns, arrived, ns + process * each);
				_exit(0);
			}
		}
		for (int process = 0; process < processes; process++)
		{
			int			status;

			check(wait(&status) > 0 && status == 0, "a process of the measuring");
		}

		/* of several processes the slowest counts: a mean would hide one that waits */
		for (size_t j = each; j < each * processes; j++)
			ns[j % each] = Max(ns[j % each], ns[j]);

		for (int j = turns * (MEMCMP + 1); j < (int) each; j++)
			ns[j] -= ns[MEMCMP * turns + j % turns];
		for (int w = MEMCMP; w < NWAYS; w++)
			printf("%s%s|%s%s|%.2f\n", processes > 1 ? "two processes: " : "", p->title,
				   w > MEMCMP ? "added by " : "", ways[w].name, median(&ns[w * turns], turns));
	}
}

/* ---------------------------------------------------------------- instructions */

static const Way *
find_way(const char *name)
{
	for (int i = 0; i < NWAYS; i++)
		if (strcmp(ways[i].name, name) == 0)
			return &ways[i];
	fprintf(stderr, "hotpath: no way \"%s\"\n", name);
	exit(2);
}

/* by its name callgrind knows what to count */
extern __attribute__((noipa)) void counted(const Way *way, const uint32 *pages, uint32 n);

void
counted(const Way *way, const uint32 *pages, uint32 n)
{
	check(look(way, pages, n) == 0, "match");
}

/*
 * Look n times at pages whose cells are current, or at n pages no two of which
 * share a cell and none of whose cells is current.  The signals say what is to be
 * counted when it is done by stepping.
 */
static int
run_loop(const Way *way, bool store, uint32 n)
{
	uint32	   *pages = malloc(sizeof(uint32) * n);
	uint32		distinct = 0;

	check(pages != NULL, "malloc");
	memset(sketch->cells, 0, sizeof(uint32) * ws_ncells(sketch->log2m));
	for (uint32 i = 0; i < npages && distinct < n; i++)
	{
		uint32	   *cell = &sketch->cells[ws_cell(entries[i].element.hashvalue, sketch->log2m)];

		if (*cell == 0)
			pages[distinct++] = i;
		*cell = 1;
	}
	check(distinct == n, "too few pages");

	/* what is done once a tick is done now */
	look(way, pages, n);
	if (store)
	{
		memset(sketch->cells, 0, sizeof(uint32) * ws_ncells(sketch->log2m));
		memset(ws_sketch_marks(sketch), 0, ws_ncells(sketch->log2m) / 8);
		memset(stamps, 0, sizeof(int64) * 32 * (1 << 14));
	}
	raise(SIGCONT);
	counted(way, pages, n);
	raise(SIGCONT);
	return 0;
}

/* instructions between the two signals; -1: not allowed */
static long
count_steps(const Way *way, bool store, uint32 n)
{
	pid_t		pid = fork();
	int			status;
	int			signals = 0;
	long		steps = 0;

	check(pid >= 0, "fork");
	if (pid == 0)
	{
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(9);
		run_loop(way, store, n);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
	{
		if (WSTOPSIG(status) == SIGCONT)
			signals++;
		else
			steps += signals == 1;
		if (ptrace(signals == 1 ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL) != 0)
			return -1;
	}
	return signals == 2 ? steps : -1;
}

int
main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "time") == 0)
	{
		set_up(10000000);
		time_all(atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	set_up(16384);
	/* no worker ticks: then a lookup without a mark reads the clock */
	if (argc > 3 && strcmp(argv[3], "unattended") == 0)
		ws_store(&sketch->unattended, 1);
	if (strcmp(argv[1], "run") == 0 && argc == 5)
		return run_loop(find_way(argv[2]), strcmp(argv[3], "store") == 0, (uint32) atol(argv[4]));
	if (strcmp(argv[1], "step") == 0 && argc == 4)
	{
		bool		store = strcmp(argv[3], "store") == 0;
		long		few = count_steps(find_way(argv[2]), store, 100);
		long		many = count_steps(find_way(argv[2]), store, 300);

		if (few < 0 || many < 0)
			return 3;
		printf("%.2f\n", (many - few) / 200.0);
		return 0;
	}
	return 2;
}
