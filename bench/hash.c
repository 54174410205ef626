/*
 * hash.c
 *		Does the hash of the server's own buffer table serve the sketch?
 *
 * The server finds a page's buffer by a 32-bit hash of its tag: tablespace,
 * database, relation, fork and block, 20 bytes, through hash_bytes(), which
 * is Jenkins' lookup3.  That hash is there for nothing at every lookup.  A
 * sketch is only as good as its hash is random, and tags are anything but:
 * blocks count up, relations have neighbouring numbers.  So feed tags as they
 * occur to two sketches, one by this hash and one by XXH3 (64 bits, cut to
 * 32), and compare the errors of both with what theory says of a random hash.
 *
 * Theory is the standard error that the estimator itself states, which holds
 * for any number of pages; accuracy.c shows that it is right for random
 * hashes.
 *
 * One trial is one set of tags.  Its pages are fed in block order, relation
 * by relation, in 60 minutes of as many pages each, so the estimate of
 * curve.h has steps to use ("steps"); then the same cells are estimated with all
 * pages in a single tick ("one tick").  Each hash fills sketches of 1024, 4096
 * and 16384 registers.
 *
 * Real tags come from a file that the driver dumps from a server, one
 * relation fork to a line: tablespace, database, relation, fork, pages.  A
 * trial takes some of them at random, in random order, with the numbers of
 * databases and of users' relations moved to where other servers might have
 * them.
 */
#include "postgres_fe.h"
#include "common/hashfn.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* the C library's own */
#undef printf
#undef fprintf
#undef qsort

#include "trials.h"

#define STEPS		60
#define NOW			(START + STEPS * MINUTE - 1)

#define NREGISTERS	3

static const uint32_t registers[NREGISTERS] = {1024, 4096, 16384};

/* an error beyond theory by this many standard errors is the hash's fault */
#define K_SIGMA		4

/* the first number that a relation or database of users can have */
#define FIRST_NORMAL_OID	16384

/* as the server lays it out, and hashes it */
typedef struct Tag
{
	uint32_t	tablespace;
	uint32_t	database;
	uint32_t	relation;
	uint32_t	fork;
	uint32_t	block;
} Tag;

StaticAssertDecl(sizeof(Tag) == 20, "a tag is 20 bytes without padding");

typedef enum Hash
{
	LOOKUP3,
	XXH3,
	NHASHES
} Hash;

static const char *const hash_name[NHASHES] = {"lookup3", "XXH3"};

typedef struct Result
{
	Tally		pages;			/* of the trials, as an error against 1 */
	Tally		steps[NREGISTERS][NHASHES];
	Tally		one_tick[NREGISTERS][NHASHES];
} Result;

#define NTALLIES	((int) (sizeof(Result) / sizeof(Tally)))

typedef struct Fork
{
	Tag			tag;
	uint32_t	pages;
} Fork;

typedef struct Lab
{
	WsSketch   *sk[NHASHES][NREGISTERS];
	void	   *workspace;
	uint64_t	seed;
	int64_t		pages;			/* of the trial */
	int64_t		fed;
} Lab;

static void
open_lab(Lab *lab)
{
	for (int h = 0; h < NHASHES; h++)
		for (int g = 0; g < NREGISTERS; g++)
			lab->sk[h][g] = new_sketch(registers[g], START);
	lab->workspace = workspace_of(registers[NREGISTERS - 1]);
}

/*
 * Begin a trial of so many pages.
 */
static void
begin(Lab *lab, int64_t pages)
{
	for (int h = 0; h < NHASHES; h++)
		for (int g = 0; g < NREGISTERS; g++)
			ws_sketch_init(lab->sk[h][g], registers[g], START);
	lab->pages = pages;
	lab->fed = 0;
}

/*
 * Feed the blocks 0, stride, 2 stride ... of a fork, count of them.
 */
static void
feed(Lab *lab, Tag tag, uint32_t count, uint32_t stride)
{
	tag.block = 0;
	while (count > 0)
	{
		int64_t		step = lab->fed * STEPS / lab->pages;
		int64_t		step_ends = ((step + 1) * lab->pages + STEPS - 1) / STEPS;
		uint32_t	here = count;

		if (here > step_ends - lab->fed)
			here = (uint32_t) (step_ends - lab->fed);
		for (int h = 0; h < NHASHES; h++)
			for (int g = 0; g < NREGISTERS; g++)
				ws_sketch_advance(lab->sk[h][g], START + (uint32_t) step * MINUTE);
		for (uint32_t i = 0; i < here; i++)
		{
			uint32_t	hash[NHASHES] = {
				hash_bytes((const unsigned char *) &tag, sizeof(tag)),
				(uint32_t) XXH3_64bits(&tag, sizeof(tag))
			};

			for (int h = 0; h < NHASHES; h++)
				for (int g = 0; g < NREGISTERS; g++)
					ws_sketch_touch(lab->sk[h][g], hash[h]);
			tag.block += stride;
		}
		lab->fed += here;
		count -= here;
	}
}

/*
 * Add the errors of a finished trial.
 */
static void
take_errors(Lab *lab, Result *result)
{
	uint32_t	hour = STEPS * MINUTE - 1;
	uint32_t	present = 0;

	tally_error(&result->pages, lab->pages, 1);
	for (int h = 0; h < NHASHES; h++)
		for (int g = 0; g < NREGISTERS; g++)
		{
			WsSketch   *sk = lab->sk[h][g];
			const WsSketch *one = sk;
			WsEstimate	e;

			ws_curve_estimate(&one, 1, NOW, &hour, 1, &e, lab->workspace);
			tally_estimate(&result->steps[g][h], &e, lab->pages);
			press(sk, NOW);
			ws_curve_estimate(&one, 1, NOW, &present, 1, &e, lab->workspace);
			tally_estimate(&result->one_tick[g][h], &e, lab->pages);
		}
}

/*
 * Workloads.
 */
typedef struct Workload
{
	const char *name;
	void		(*trial) (Lab *lab, const struct Workload *w);
	int64_t		pages;
	int			trials;
} Workload;

static Fork *forks;
static int	nforks;

static void
read_forks(const char *path)
{
	FILE	   *f = fopen(path, "r");
	Fork		fork;
	int			space = 0;

	if (!f)
	{
		perror(path);
		exit(2);
	}
	while (fscanf(f, "%u %u %u %u %u", &fork.tag.tablespace, &fork.tag.database,
				  &fork.tag.relation, &fork.tag.fork, &fork.pages) == 5)
	{
		if (nforks == space)
			forks = realloc(forks, sizeof(Fork) * (space = 2 * space + 1000));
		fork.tag.block = 0;
		forks[nforks++] = fork;
	}
	fclose(f);
}

static Tag
random_tag(Lab *lab)
{
	Tag			tag = {1663, 0, 0, 0, 0};

	tag.database = random_below(&lab->seed, 4) == 0 ? 5 :
		FIRST_NORMAL_OID + random_below(&lab->seed, 1 << 20);
	tag.relation = FIRST_NORMAL_OID + random_below(&lab->seed, 1 << 24);
	return tag;
}

/* some of a server's relations */
static void
catalog_trial(Lab *lab, const Workload *w)
{
	Fork	   *chosen = malloc(sizeof(Fork) * nforks);
	uint32_t	share = UINT32_MAX / 4 + random_below(&lab->seed, UINT32_MAX / 4 * 3);
	uint32_t	salt = random32(&lab->seed);
	int64_t		pages = 0;
	int			n = 0;

	if (!chosen)
		abort();
	for (int i = 0; i < nforks; i++)
	{
		Fork		f = forks[i];

		if (random32(&lab->seed) > share)
			continue;

		/*
		 * All relations of users in a database move together; catalogs keep
		 * their numbers.  Every database moves, even those that have the same
		 * number everywhere, since trials that share pages would not be
		 * independent; only the few relations common to all databases stay.
		 */
		if (f.tag.relation >= FIRST_NORMAL_OID)
			f.tag.relation += (uint32_t) (mix64(salt + f.tag.database) >> 42);
		if (f.tag.database != 0)
			f.tag.database += (uint32_t) (mix64(salt) >> 44);
		pages += f.pages;
		chosen[n++] = f;
	}
	for (int i = n - 1; i > 0; i--)
	{
		int			j = (int) random_below(&lab->seed, i + 1);
		Fork		f = chosen[i];

		chosen[i] = chosen[j];
		chosen[j] = f;
	}
	begin(lab, pages);
	for (int i = 0; i < n; i++)
		feed(lab, chosen[i].tag, chosen[i].pages, 1);
	free(chosen);
	(void) w;
}

/*
 * Relations of so many percent of the pages, or of ten pages each if that is 0,
 * of which every stride-th block is used; their numbers are up to `apart' apart.
 */
static void
feed_relations(Lab *lab, int64_t pages, int nrelations, const int *percent, uint32_t stride, int apart)
{
	Tag			tag = random_tag(lab);

	begin(lab, pages);
	for (int i = 0; i < nrelations; i++)
	{
		feed(lab, tag, percent ? (uint32_t) (pages * percent[i] / 100) : 10, stride);
		tag.relation += apart == 3 ? 3 : 1 + random_below(&lab->seed, apart);
	}
}

/* five large relations, created one after the other */
static void
large_trial(Lab *lab, const Workload *w)
{
	static const int percent[] = {40, 30, 15, 10, 5};

	feed_relations(lab, w->pages, 5, percent, 1, 5);
}

/* a great many relations of ten pages, numbered in threes */
static void
small_trial(Lab *lab, const Workload *w)
{
	feed_relations(lab, w->pages, w->pages / 10, NULL, 1, 3);
}

/* every 128th block of five relations */
static void
stride_trial(Lab *lab, const Workload *w)
{
	static const int percent[] = {20, 20, 20, 20, 20};

	feed_relations(lab, w->pages, 5, percent, 128, 5);
}

typedef struct Row
{
	const Workload *w;
	uint64_t	seed;
} Row;

static void
make_row(const void *what, int first, int trials, Tally *tallies)
{
	const Row  *row = what;
	Lab			lab;

	open_lab(&lab);
	for (int i = first; i < trials; i += PROCESSES)
	{
		lab.seed = mix64(row->seed + i);
		row->w->trial(&lab, row->w);
		take_errors(&lab, (Result *) tallies);
	}
}

/* the worst of each hash, in standard errors beyond theory */
static double worst_error[NHASHES] = {-INFINITY, -INFINITY};
static double worst_bias[NHASHES];

static void
print_tally(const Tally *t, Hash h, uint32_t m)
{
	double		n = t->trials;
	double		rms = tally_rms(t) * sqrt(m);
	double		theory = sqrt(t->variance / n) * sqrt(m);

	printf(" | %5.3f (%.3f) %+6.3f (%.3f)", rms, rms / sqrt(2 * n),
		   100 * tally_bias(t), 100 * tally_bias_se(t));
	worst_error[h] = Max(worst_error[h], (rms / theory - 1) * sqrt(2 * n));
	worst_bias[h] = Max(worst_bias[h], fabs(tally_bias(t)) / tally_bias_se(t));
}

static void
print_result(const Workload *w, const Result *r)
{
	for (int one_tick = 0; one_tick < 2; one_tick++)
		for (int g = 0; g < NREGISTERS; g++)
		{
			const Tally *t = one_tick ? r->one_tick[g] : r->steps[g];

			printf("%-30s %6d %10.0f  %-8s %5u  %5.3f ", w->name, t->trials,
				   tally_bias(&r->pages) + 1, one_tick ? "one tick" : "steps",
				   registers[g], sqrt(t[XXH3].variance / t->trials * registers[g]));
			for (int h = 0; h < NHASHES; h++)
				print_tally(&t[h], h, registers[g]);
			printf("\n");
		}
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	static const Workload workloads[] = {
		{"relations of a real server", catalog_trial, 0, 4000},
		{"100,000 relations of 10 pages", small_trial, 1000000, 800},
		{"every 128th block", stride_trial, 1000000, 800},
		{"5 relations in order", large_trial, 1000000, 800},
		{"5 relations in order", large_trial, 10000000, 400},
		{"5 relations in order", large_trial, 100000000, 200},
	};
	uint64_t	seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	int			percent = argc > 2 ? atoi(argv[2]) : 100;
	time_t		began = time(NULL);
	bool		good = true;

	if (argc > 3)
		read_forks(argv[3]);

	printf("XXH3 of xxhash %d.%d.%d, hash_bytes of PostgreSQL %s, seed %llu, %d %% of the usual trials\n",
		   XXH_VERSION_MAJOR, XXH_VERSION_MINOR, XXH_VERSION_RELEASE, PG_VERSION,
		   (unsigned long long) seed, percent);
	if (nforks > 0)
		printf("%d relation forks of a real server\n", nforks);
	printf("\nrms error times sqrt(m), and bias in %%, each with its standard error.\n\n");
	printf("%-30s %6s %10s  %-8s %5s  %-6s | %-29s | %s\n", "workload", "trials",
		   "pages", "estimate", "m", "theory", "lookup3", "XXH3");

	for (size_t i = 0; i < lengthof(workloads); i++)
	{
		const Workload *w = &workloads[i];
		Result		r;

		if (w->trial == catalog_trial && nforks == 0)
			continue;
		run_trials(make_row, &(Row) {w, mix64(seed * 100 + i)}, Max(w->trials * percent / 100, 2),
				   (Tally *) &r, NTALLIES);
		print_result(w, &r);
	}

	printf("\ntheory for large sets: %.3f in steps, %.3f in one tick\n\n",
		   THEORY_MARTINGALE, THEORY_ML);
	for (int h = 0; h < NHASHES; h++)
	{
		bool		fits = worst_error[h] < K_SIGMA && worst_bias[h] < K_SIGMA;

		printf("%-8s %s: the worst rms is %+.1f, the worst bias %.1f standard errors from theory\n",
			   hash_name[h], fits ? "serves as a random hash" : "DEPARTS FROM THEORY",
			   worst_error[h], worst_bias[h]);
		good &= fits;
	}
	printf("%ld s\n", (long) (time(NULL) - began));
	return !good;
}
