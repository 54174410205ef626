/*
 * trials.h
 *		What bench/accuracy and bench/hotpath share: trials dealt to
 *		processes, and time.
 *
 * Each process has random numbers of its own, so that a table is the same each
 * time for the same seed.
 */
#ifndef TRIALS_H
#define TRIALS_H

#include "yardstick.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES	2

#define START		(WS_TICK_ORIGIN + 6)	/* a second begins */
#define MINUTE		(60 * WS_TICKS_PER_SECOND)

/* makes the trials first, first + PROCESSES, ... and adds to the tallies */
typedef void (*MakeTrials) (const void *what, int first, int trials, Tally *tallies);

/*
 * Sets n tallies to the sums over the processes, which send theirs through pipes.
 */
static inline void
run_trials(MakeTrials make, const void *what, int trials, Tally *sums, int n)
{
	size_t		size = n * sizeof(Tally);
	Tally	   *part = calloc(n, sizeof(Tally));
	int			fd[PROCESSES];

	fflush(stdout);
	for (int p = 0; p < PROCESSES; p++)
	{
		int			ends[2];
		pid_t		pid;

		if (!part || pipe(ends) != 0 || (pid = fork()) < 0)
		{
			perror("trials");
			exit(2);
		}
		if (pid == 0)
		{
			make(what, p, trials, part);
			_exit(write(ends[1], part, size) != (ssize_t) size);
		}
		close(ends[1]);
		fd[p] = ends[0];
	}
	memset(sums, 0, size);
	for (int p = 0; p < PROCESSES; p++)
	{
		if (read(fd[p], part, size) != (ssize_t) size)
		{
			fprintf(stderr, "trials: a process failed\n");
			exit(2);
		}
		close(fd[p]);
		for (int i = 0; i < n; i++)
			tally_merge(&sums[i], &part[i]);
	}
	free(part);
	while (wait(NULL) > 0)
		;
}

/* all pages of the sketch as if they had been used just now */
static inline void
press(WsSketch *sk, uint32_t now)
{
	for (size_t c = 0; c < ws_sketch_ncells(sk); c++)
		if (sk->cells[c] > 0)
			sk->cells[c] = now;
}

static inline double
clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static inline int
compare_doubles(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* sorts the values */
static inline double
median(double *values, int n)
{
	qsort(values, n, sizeof(double), compare_doubles);
	return values[n / 2];
}

static inline void *
workspace_of(uint32_t m)
{
	void	   *workspace = malloc(ws_curve_size(m));

	if (!workspace)
		abort();
	return workspace;
}

#endif							/* TRIALS_H */
