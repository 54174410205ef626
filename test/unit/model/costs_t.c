/*
 * costs_t.c
 *		Tests of what is added up by quarters of an hour.
 */
#include "tap.h"
#include "costs.h"
#include "yardstick.h"

#include <math.h>
#include <string.h>

#define NOW		(INT64_C(1767571200) + 450)	/* in the middle of a quarter */
#define NUMBER	(NOW / WS_COST_QUARTER)
#define NBUFFERS 16384

static WsCosts costs;
static WsCosts other;
static WsCostQuarter quarter;
static WsAdviceTable table;

static void
begin(void)
{
	memset(&costs, 0, sizeof(costs));
	memset(&quarter, 0, sizeof(quarter));
}

/* Reads a second of a size: 1000 at an eighth of 2048 buffers, and so on. */
static double
reads_of(double buffers)
{
	return 1e6 / buffers;
}

static void
fill_table(double nbuffers)
{
	memset(&table, 0, sizeof(table));
	table.seconds = 300;
	table.lookups = 3e6;
	table.sure = true;
	for (int i = 0; i < WS_SWEEP_GRID; i++)
	{
		table.rows[i].factor = ws_sweep_grid[i];
		table.rows[i].buffers = ws_sweep_grid[i] * nbuffers;
		table.rows[i].reads_per_second = reads_of(ws_sweep_grid[i] * nbuffers);
	}
}

static void
add(int64_t at, double seconds, double active, double waiting)
{
	WsCostMoment moment = {
		.seconds = seconds, .active = active, .waiting = waiting, .table = &table,
		.buffers = NBUFFERS, .buffer = 8192
	};

	ws_costs_add(&costs, &quarter, at, &moment);
}

static void
test_sizes(void)
{
	double		step = 0;
	bool		ascending = true;

	for (int i = 1; i < WS_COST_SIZES; i++)
	{
		ascending &= ws_cost_buffers(i) > ws_cost_buffers(i - 1);
		step = fmax(step, ws_cost_buffers(i) / ws_cost_buffers(i - 1));
	}
	ok(ascending && step <= 1.25, "sizes ascend in steps of %.3f", step);
	ok(ws_cost_buffers(0) == 16 && ws_cost_buffers(WS_COST_SIZES - 1) > 0x1p34, "from 16 buffers to 2^34 and more");
	ok(ws_cost_buffers(WS_COST_KEPT - 1) / ws_cost_buffers(0) >= 16 / 0.125, "a row has all sizes that are predicted");
	ok(sizeof(WsCostRow) == 96 && sizeof(WsCosts) == 96 * 3360 + 16, "a row is 96 bytes");
}

static void
test_sums(void)
{
	const WsCostRow *row;
	double		worst = 0;
	int			known = 0;

	begin();
	fill_table(NBUFFERS);
	for (int i = 0; i < 10; i++)
		add(NOW + 10 * i, 10, 20, 5);
	row = ws_cost_row(&costs, NUMBER);
	ok(row && row->active == 200 && row->waiting == 50 && row->buffers == NBUFFERS && row->tiers == 0,
	   "what clients did is added up");
	is_within(row->reads, 100 * reads_of(NBUFFERS), 0.01, "reads at the present size, too");
	for (int i = 0; i < WS_COST_SIZES; i++)
	{
		double		cost = ws_cost_at(row, ws_cost_buffers(i));
		double		want = 100 * ws_advice_expect_reads(&table, ws_cost_buffers(i));

		if (!isnan(want))
		{
			worst = fmax(worst, isnan(cost) ? INFINITY : fabs(cost / want - 1));
			known++;
		}
	}
	ok(worst < 0.0004 && known >= 28, "at %d fixed sizes they are those predicted, %.5f off", known, worst);
	is_within(ws_cost_at(row, NBUFFERS * 1.09), (row->reads + ws_cost_at(row, NBUFFERS * exp2(0.25))) / 2, 0.1 * row->reads,
			  "between two sizes, by both");
	ok(isnan(ws_cost_at(row, NBUFFERS / 10.0)) && isnan(ws_cost_at(row, 1)), "smaller sizes are not known");
	ok(ws_cost_at(row, NBUFFERS * 100.0) == ws_cost_at(row, ws_cost_buffers(40 + 16)), "larger ones count as the largest");
	ok(ws_cost_row(&costs, NUMBER - 1) == NULL && ws_cost_row(&costs, NUMBER + 3360) == NULL && ws_cost_row(&costs, 0) == NULL &&
	   ws_cost_row(&costs, -1) == NULL, "other quarters have no row");

	/* the next quarter, and the sizes of which less is known */
	for (int i = 0; i < WS_SWEEP_GRID; i++)
		table.rows[i].reads_per_second = i < 5 ? NAN : 0;
	add(NOW + 900, 85, 85, 0);
	fill_table(NBUFFERS);
	add(NOW + 910, 15, 15, 0);
	row = ws_cost_row(&costs, NUMBER + 1);
	ok(row && row->active == 100 && ws_cost_row(&costs, NUMBER)->active == 200, "the next quarter has another row");
	ok(isnan(ws_cost_at(row, ws_sweep_grid[3] * NBUFFERS)) && ws_cost_at(row, NBUFFERS * 2) > 0,
	   "a size that was known for too short is not");

	/* not sure */
	table.sure = false;
	add(NOW + 1800, 10, 10, 0);
	ok(ws_cost_row(&costs, NUMBER + 2) == NULL, "what is not sure does not count");
	/* nobody looked up a page, and then somebody did */
	table.lookups = 0;
	add(NOW + 1800, 10, 10, 0);
	row = ws_cost_row(&costs, NUMBER + 2);
	ok(row && row->active == 10 && row->reads == 0 && ws_cost_at(row, NBUFFERS / 4) == 0 && ws_cost_at(row, NBUFFERS * 8) == 0,
	   "but what is not used at all is known");
	fill_table(NBUFFERS);
	add(NOW + 1810, 10, 10, 0);
	ok(row->active == 20 && fabs(row->reads / (10 * reads_of(NBUFFERS)) - 1) < 1e-3 &&
	   fabs(ws_cost_at(row, NBUFFERS * 8) / (10 * reads_of(NBUFFERS * 8)) - 1) < 0.02 && ws_cost_most(row) == ws_cost_buffers(40 + 16),
	   "and what is used later is added");
	add(-5, 10, 10, 0);
	add(899, 10, 10, 0);
	ok(ws_cost_row(&costs, NUMBER)->active == 200 && ws_costs_check(&costs) == NULL, "nor what was before 1970");
}

static void
test_restart(void)
{
	WsCostRow	before;
	const WsCostRow *row;
	WsCostMoment larger = {
		.seconds = 10, .active = 10, .table = &table, .buffers = 2 * NBUFFERS, .buffer = 8192
	};

	begin();
	fill_table(NBUFFERS);
	add(NOW, 100, 50, 10);
	before = *ws_cost_row(&costs, NUMBER);
	memset(&quarter, 0, sizeof(quarter));
	add(NOW + 200, 100, 50, 10);
	row = ws_cost_row(&costs, NUMBER);
	ok(row->active == 100 && row->waiting == 20, "after a restart the quarter goes on");
	is_within(row->reads / before.reads, 2, 0.001, "and so do its reads,");
	is_within(ws_cost_at(row, ws_cost_buffers(38)) / ws_cost_at(&before, ws_cost_buffers(38)), 2, 0.002, "at all sizes");

	/* an eighth of the size, of which nothing is known before the restart */
	for (int i = 0; i < WS_SWEEP_PRESENT; i++)
		table.rows[i].reads_per_second = NAN;
	begin();
	add(NOW, 100, 50, 10);
	fill_table(NBUFFERS);
	memset(&quarter, 0, sizeof(quarter));
	add(NOW + 200, 100, 50, 10);
	ok(isnan(ws_cost_at(row, NBUFFERS / 8)), "what is known after it only is not taken for the whole");

	fill_table(2 * NBUFFERS);
	memset(&quarter, 0, sizeof(quarter));
	ws_costs_add(&costs, &quarter, NOW + 400, &larger);
	ok(row->active == 10 && row->waiting == 0 && row->buffers == 2 * NBUFFERS, "with other buffers the quarter starts over");
}

/* A table of two tiers with which nothing waits, or all does. */
static WsTierTable
tiers_of(double waits)
{
	WsTierTable tiers = {
		.lookups = 1e4, .shared_buffers = NBUFFERS * 8192.0, .waits_each = 1, .nsizes = 2, .nbuffers = 2, .ncaches = 2,
		.sizes = {1e6, 1e12}, .buffers = {1e6, 1e12}, .caches = {1e6, 1e13}
	};

	for (int b = 0; b < 2; b++)
		for (int c = 0; c < 2; c++)
			tiers.waits[b][c] = waits;
	return tiers;
}

static void
test_kinds(void)
{
	WsTierTable none = tiers_of(0);
	WsTierTable all = tiers_of(1);
	WsCostMoment moment = {
		.seconds = 100, .active = 50, .waiting = 5, .table = &table, .tiers = &none, .memory = 1e10,
		.buffers = NBUFFERS, .buffer = 8192
	};
	const WsCostRow *row;

	begin();
	fill_table(NBUFFERS);
	ws_costs_add(&costs, &quarter, NOW, &moment);
	row = ws_cost_row(&costs, NUMBER);
	is_within(row->reads, 100 * reads_of(NBUFFERS) / 50, 0.01, "a read that the page cache answers is a fiftieth");
	moment.tiers = &all;
	ws_costs_add(&costs, &quarter, NOW + 100, &moment);
	is_within(row->reads, 100 * reads_of(NBUFFERS) * 51 / 50, 0.1, "one that waits is one");
	is_int(row->tiers, 1, "the row shows which weights these are");
	moment.tiers = NULL;
	ws_costs_add(&costs, &quarter, NOW + 200, &moment);
	ok(row->active == 100, "others are not mixed in");
	ws_costs_add(&costs, &quarter, NOW + 900, &moment);
	moment.tiers = &none;
	ws_costs_add(&costs, &quarter, NOW + 910, &moment);
	row = ws_cost_row(&costs, NUMBER + 1);
	is_within(row->reads, 200 * reads_of(NBUFFERS), 0.1, "a quarter that began without has all reads alike");
	is_int(row->tiers, 0, "and shows that, too");
}

static void
test_unknown_reads(void)
{
	begin();
	fill_table(NBUFFERS);
	for (int i = 0; i < WS_SWEEP_GRID; i++)
		table.rows[i].unknown = i > WS_SWEEP_PRESENT ? 7 : 0;
	add(NOW, 100, 50, 10);
	is_within(ws_cost_at(ws_cost_row(&costs, NUMBER), NBUFFERS * 4), 100 * (reads_of(NBUFFERS * 4) + 7), 1,
			  "a larger size is not credited with first reads");
}

static void
test_clock(void)
{
	begin();
	fill_table(NBUFFERS);
	for (int i = 0; i < 10; i++)
		add(NOW + 900 * i, 100, 50 + i, 10);
	costs.promise.at = NOW + 900 * 9;
	ws_costs_set_back(&costs, NOW + 900 * 4, 900 * 5);
	ok(costs.promise.at == NOW + 900 * 4, "what was promised later was promised now");
	ok(ws_cost_row(&costs, NUMBER + 9) == NULL && ws_cost_row(&costs, NUMBER + 4)->active == 54 &&
	   ws_cost_row(&costs, NUMBER)->active == 50 && ws_costs_check(&costs) == NULL,
	   "rows of the future move back, but not over younger ones");
	ws_costs_set_back(&costs, 0, NOW);
	ok(ws_cost_row(&costs, NUMBER) == NULL && ws_costs_check(&costs) == NULL, "none moves to before 1970");
}

static void
test_merge(void)
{
	fill_table(NBUFFERS);
	begin();
	add(NOW, 100, 10, 1);
	add(NOW + 900, 100, 30, 1);
	other = costs;
	begin();
	add(NOW, 100, 20, 1);
	other.promise = (WsPromise)
	{
		NOW, 100, 0.5f
	};
	ws_costs_merge(&costs, &other, NOW + 900);
	ok(ws_cost_row(&costs, NUMBER)->active == 20 && ws_cost_row(&costs, NUMBER + 1)->active == 30 && costs.promise.buffers == 100,
	   "of two rows the busier stays, and the younger promise");
	begin();
	add(NOW - 900 * 3360, 100, 20, 1);
	ws_costs_merge(&costs, &other, NOW - 900);
	ok(ws_cost_row(&costs, NUMBER) == NULL && ws_cost_row(&costs, NUMBER + 1) != NULL,
	   "rows of the future take free places only");
}

static void
test_check(void)
{
	static const struct
	{
		const char *name;
		WsCostRow	row;
	}			cases[] = {
		{"a negative number", {.number = -NUMBER, .buffers = 1}},
		{"the place of another", {.number = NUMBER + 1, .buffers = 1}},
		{"no buffers", {.number = NUMBER}},
		{"negative activity", {.number = NUMBER, .buffers = 1, .active = -1}},
		{"an activity that is no number", {.number = NUMBER, .buffers = 1, .active = NAN}},
		{"endless waiting", {.number = NUMBER, .buffers = 1, .waiting = INFINITY}},
		{"reads that are no number", {.number = NUMBER, .buffers = 1, .reads = NAN}},
		{"sizes beyond the last", {.number = NUMBER, .buffers = 1, .first = 90}},
		{"an odd kind", {.number = NUMBER, .buffers = 1, .tiers = 2}}
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		begin();
		costs.quarters[NUMBER % WS_COST_QUARTERS] = cases[i].row;
		ok(ws_costs_check(&costs) != NULL, "%s is refused", cases[i].name);
	}
	begin();
	ok(ws_costs_check(&costs) == NULL, "nothing is sound");
	costs.promise.share = NAN;
	ok(ws_costs_check(&costs) != NULL, "a promise that is no number is refused");
}

static void
test_came(void)
{
	double		came;
	double		seconds;

	begin();
	fill_table(NBUFFERS);
	for (int i = 0; i < 8; i++)
		add(NOW + 900 * i, 100, 100, i < 4 ? 50 : 10);
	ok(!ws_costs_came(&costs, NOW + 900 * 8, NBUFFERS, &came, &seconds), "nothing was promised");
	costs.promise = (WsPromise)
	{
		NOW + 900 * 3, NBUFFERS, 0.09f
	};
	ok(ws_costs_came(&costs, NOW + 900 * 8, NBUFFERS, &came, &seconds), "a size that was suggested is there:");
	is_within(came, 0.1, 1e-6, "what came counts since then");
	is_within(seconds, 900 * 5, 0, "for so long");
	ok(!ws_costs_came(&costs, NOW + 900 * 8, NBUFFERS * 2, &came, &seconds), "another size was not promised");
	ok(!ws_costs_came(&costs, NOW + 900 * 110, NBUFFERS, &came, &seconds), "for a day");
}

int
main(void)
{
	plan(4 + 13 + 5 + 6 + 1 + 3 + 2 + 11 + 6);

	test_sizes();
	test_sums();
	test_restart();
	test_kinds();
	test_unknown_reads();
	test_clock();
	test_merge();
	test_check();
	test_came();
	return done();
}
