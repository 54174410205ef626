/*
 * tap.h
 *		Unit tests that speak TAP, the protocol prove understands.
 *
 * A test program calls plan() with the number of its assertions, makes them,
 * and returns done() from main.  An assertion prints one line, and on failure
 * says where it stands and what it saw, as a comment.  A program that dies
 * half way leaves its plan unfulfilled, which prove reports.  Where its seeds
 * are not the fixed ones (see seeds.h), the second line says what to set to
 * run it again.
 *
 * Header only; one translation unit per program.
 */
#ifndef TAP_H
#define TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "seeds.h"

static int	tap_planned;
static int	tap_run;
static int	tap_failed;

static inline void
plan(int n)
{
	tap_planned = n;
	printf("1..%d\n", n);
	if (fresh_seed() != 0)
		printf("# WS_SEED=%" PRIu64 " WS_TRIALS=%s\n", fresh_seed(), all_trials() ? "all" : "few");
	fflush(stdout);
}

static inline void __attribute__((format(printf, 1, 2)))
diag(const char *format, ...)
{
	va_list		args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	fflush(stdout);
}

static inline bool __attribute__((format(printf, 4, 5)))
tap_ok(bool passed, const char *file, int line, const char *name, ...)
{
	va_list		args;

	va_start(args, name);
	printf("%sok %d - ", passed ? "" : "not ", ++tap_run);
	vprintf(name, args);
	printf("\n");
	va_end(args);
	fflush(stdout);
	if (!passed)
	{
		tap_failed++;
		diag("failed at %s:%d", file, line);
	}
	return passed;
}

static inline bool
tap_is_int(long long got, long long want, const char *file, int line,
		   const char *name)
{
	bool		passed = tap_ok(got == want, file, line, "%s", name);

	if (!passed)
		diag("got %lld, want %lld", got, want);
	return passed;
}

static inline bool
tap_is_string(const char *got, const char *want, const char *file, int line,
			  const char *name)
{
	bool		passed = tap_ok(strcmp(got, want) == 0, file, line, "%s", name);

	if (!passed)
		diag("got \"%s\", want \"%s\"", got, want);
	return passed;
}

static inline bool
tap_is_within(double got, double want, double tolerance, const char *file,
			  int line, const char *name)
{
	/* a NaN is within nothing */
	bool		passed = tap_ok(fabs(got - want) <= tolerance, file, line, "%s",
								name);

	if (!passed)
		diag("got %.12g, want %.12g within %.3g", got, want, tolerance);
	return passed;
}

/* ok(condition, format, ...) */
#define ok(passed, ...) \
	tap_ok((passed), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, name) \
	tap_is_int((long long) (got), (long long) (want), __FILE__, __LINE__, (name))
#define is_string(got, want, name) \
	tap_is_string((got), (want), __FILE__, __LINE__, (name))
#define is_within(got, want, tolerance, name) \
	tap_is_within((got), (want), (tolerance), __FILE__, __LINE__, (name))

/*
 * The exit status of the program.
 */
static inline int
done(void)
{
	if (tap_run != tap_planned)
		diag("planned %d assertions but made %d", tap_planned, tap_run);
	if (tap_failed > 0)
		diag("failed %d of %d", tap_failed, tap_run);
	return tap_failed > 0 || tap_run != tap_planned;
}

#endif							/* TAP_H */
