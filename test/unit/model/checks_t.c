/*
 * checks_t.c
 *		Tests of the self-check: days of random predictions against a list.
 */
#include "tap.h"
#include "checks.h"
#include "yardstick.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START		INT64_C(1800000000)
#define PERIODS		1000		/* a week */
#define GRID		WS_SWEEP_GRID

/* What a list knows of a period. */
typedef struct Known
{
	bool		kept;
	double		size[GRID];
	double		ratio[GRID];
	double		error[GRID];
	int			outcome;		/* -1: none; 0; 1: right */
}			Known;

static WsAdviceTable
random_table(uint64_t *seed, double nbuffers)
{
	WsAdviceTable table;

	memset(&table, 0, sizeof(table));
	table.sure = random_below(seed, 10) > 0;
	table.seconds = 1;
	table.lookups = 100;
	for (int i = 0; i < GRID; i++)
	{
		table.rows[i].buffers = rint(nbuffers * ws_sweep_grid[i]);
		table.rows[i].hit_ratio = (i + random_unit(seed)) / GRID;
		table.rows[i].error = random_below(seed, 30) ? 0.05 * random_unit(seed) : NAN;
		table.rows[i].unknown = random_below(seed, 30) ? 0 : 5;
	}
	return table;
}

/* numbers are kept as floats */
static void
list_keep(Known * known, const WsAdviceTable *table)
{
	known->kept = true;
	for (int i = 0; i < GRID; i++)
	{
		bool		doubtful = isnan(table->rows[i].error) || table->rows[i].unknown > 3;

		known->size[i] = (float) table->rows[i].buffers;
		known->ratio[i] = doubtful ? NAN : (float) table->rows[i].hit_ratio;
		known->error[i] = (float) table->rows[i].error;
	}
}

/* by the line between two neighbours, whose errors go along it as well */
static int
list_check(const Known * known, double buffers, double ratio)
{
	for (int i = 1; i < GRID && known->kept; i++)
		if (known->size[i - 1] <= buffers && buffers <= known->size[i])
		{
			double		t = (buffers - known->size[i - 1]) / (known->size[i] - known->size[i - 1]);
			double		expected = (1 - t) * known->ratio[i - 1] + t * known->ratio[i];
			double		error = (1 - t) * known->error[i - 1] + t * known->error[i];

			if (!isnan(expected))
				return fabs(ratio - expected) <= error;
		}
	return -1;
}

/*
 * A week with pauses, changes of size and merges with what was saved earlier.
 * The size is changed to one of the grid's or to one between them.
 */
static void
test_week(void)
{
	static WsChecks checks;
	static WsChecks saved;
	static Known list[PERIODS];
	uint64_t	seed = seeded(191);
	double		nbuffers = 1000;
	long		wrong = 0;
	long		outcomes[3] = {0, 0, 0};
	long		twice = 0;

	for (int p = 0; p < PERIODS; p++)
		list[p].outcome = -1;
	for (int p = 0; p < PERIODS; p++)
	{
		int64_t		now = START + (int64_t) p * WS_CHECK_SECONDS;
		int			checked = 0;
		int			right = 0;
		int			is_checked;
		int			is_right;

		if (random_below(&seed, 20) == 0)
			nbuffers = 1000 * (1 << random_below(&seed, 4)) + random_below(&seed, 2) * random_below(&seed, 3000);
		if (random_below(&seed, 10) == 0)
			continue;

		/*
		 * the second call in a period does not count, unless the first had
		 * nothing
		 */
		for (int k = 0; k < 2; k++)
		{
			WsAdviceTable table = random_table(&seed, nbuffers);
			double		ratio = p < 6 || !list[p - 6].kept || random_below(&seed, 3) == 0 ? random_unit(&seed) :
				list[p - 6].ratio[WS_SWEEP_PRESENT] + 0.1 * (random_unit(&seed) - 0.5);

			twice += list[p].kept && table.sure;
			if (isnan(ratio))
				ratio = 0.5;
			ws_checks_compare(&checks, now + 290 * k, nbuffers, ratio);
			ws_checks_keep(&checks, now + 290 * k, &table);
			if (p >= 6 && list[p].outcome < 0)
				list[p].outcome = list_check(&list[p - 6], nbuffers, ratio);
			if (table.sure && !list[p].kept)
				list_keep(&list[p], &table);
		}
		outcomes[list[p].outcome + 1]++;
		/* a restart that finds what was saved some time ago, merged both ways */
		if (p % 50 == 0)
			saved = checks;
		if (p % 50 == 40)
		{
			WsChecks other = checks;

			ws_checks_merge(&other, &saved, now);
			wrong += memcmp(&other, &checks, sizeof(other)) != 0;
			other = saved;
			ws_checks_merge(&other, &checks, now);
			wrong += memcmp(&other, &checks, sizeof(other)) != 0;
		}
		for (int q = p > 143 ? p - 143 : 0; q <= p; q++)
		{
			checked += list[q].outcome >= 0;
			right += list[q].outcome > 0;
		}
		ws_checks_count(&checks, now + 599, &is_checked, &is_right);
		wrong += is_checked != checked || is_right != right;
	}
	is_int(wrong, 0, "a week: as many are checked in each day, and as many right, as by a list");
	if (!ok(outcomes[0] > 100 && outcomes[1] > 100 && outcomes[2] > 100 && twice > 100, "a week: all of it happened"))
		diag("unknown %ld, wrong %ld, right %ld, twice %ld", outcomes[0], outcomes[1], outcomes[2], twice);
}

/* What a file may hold: any bytes.  Nothing is written elsewhere (sanitize). */
static void
test_any_bytes(void)
{
	static struct
	{
		uint64_t	before;
		WsChecks checks;
		uint64_t	behind;
	}			f;
	static WsChecks other;
	uint64_t	seed = seeded(192);
	bool		fine = true;
	int			checked;
	int			right;

	for (int trial = 0; trial < 200; trial++)
	{
		WsAdviceTable table = random_table(&seed, 1000);

		for (size_t i = 0; i < sizeof(other); i++)
		{
			((unsigned char *) &f.checks)[i] = (unsigned char) random32(&seed);
			((unsigned char *) &other)[i] = (unsigned char) random32(&seed);
		}
		f.before = f.behind = 42;
		ws_checks_merge(&f.checks, &other, START);
		ws_checks_compare(&f.checks, START, 1000, 0.5);
		ws_checks_keep(&f.checks, START, &table);
		ws_checks_count(&f.checks, START, &checked, &right);
		fine &= checked >= 0 && checked <= WS_CHECK_DAY && right >= 0 && right <= checked;
		fine &= f.before == 42 && f.behind == 42;
	}
	ok(fine, "any bytes: counts are in range, and nothing else is written");
}

/* A clock that was wrong leaves a future behind, which does not count and goes. */
static void
test_future(void)
{
	static WsChecks checks;
	static WsChecks present;
	uint64_t	seed = seeded(193);
	WsAdviceTable table = random_table(&seed, 1000);
	int			checked;
	int			right;

	table.sure = true;
	for (int i = 0; i < GRID; i++)
	{
		table.rows[i].hit_ratio = 0.5;
		table.rows[i].error = 0.1;
		table.rows[i].unknown = 0;
	}
	for (int year = 1; year >= 0; year--)
	{
		for (int p = 0; p < 20; p++)
		{
			int64_t		now = START + year * INT64_C(31536000) + p * WS_CHECK_SECONDS;

			ws_checks_compare(&checks, now, 1000, 0.55);
			ws_checks_keep(&checks, now, &table);
		}
		ws_checks_count(&checks, START + 19 * WS_CHECK_SECONDS, &checked, &right);
		is_int(checked, year ? 0 : 14, year ? "future: does not count" : "future: gives way to the present");
	}
	ws_checks_count(&checks, -5, &checked, &right);
	is_int(checked, 0, "future: nor does anything before 1970");
	memset(&present, 0, sizeof(present));
	ws_checks_merge(&present, &checks, START + 9 * WS_CHECK_SECONDS);
	ws_checks_count(&present, START + 19 * WS_CHECK_SECONDS, &checked, &right);
	is_int(checked, 4, "future: nor is it taken from others");
}

int
main(void)
{
	plan(2 + 1 + 4);
	test_week();
	test_any_bytes();
	test_future();
	return done();
}
