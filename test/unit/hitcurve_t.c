/*
 * hitcurve_t.c
 *		Tests of the hit ratios over days.
 */
#include "tap.h"
#include "hitcurve.h"

#define DAY 86400.0
#define K 1024.0

static const WsHitCurveMachine no_machine = {NULL, 0, 8192};

/* A sure table of five minutes: hit ratios by multiples of "present". */
static WsAdviceTable
table_of(double present, double (*ratio) (double buffers), double lookups)
{
	WsAdviceTable table = {.seconds = 300, .lookups = lookups, .sure = true};

	for (int i = 0; i < WS_SWEEP_GRID; i++)
	{
		table.rows[i].factor = ws_sweep_grid[i];
		table.rows[i].buffers = present * ws_sweep_grid[i];
		table.rows[i].hit_ratio = ratio(table.rows[i].buffers);
	}
	return table;
}

static double
half(double buffers)
{
	(void) buffers;
	return 0.5;
}

static double
all(double buffers)
{
	(void) buffers;
	return 1;
}

static double
rising(double buffers)
{
	return buffers / (1024 * K);
}

/* the size of so many buffers, which is a power of two */
static int
size_of(double buffers)
{
	return (int) (log2(buffers / WS_HIT_CURVE_LEAST) * WS_HIT_CURVE_PER_OCTAVE);
}

static void
test_sizes(void)
{
	bool		ascending = true;

	for (int i = 1; i < WS_HIT_CURVE_SIZES; i++)
		ascending &= ws_hit_curve_buffers(i) > ws_hit_curve_buffers(i - 1);
	ok(ascending, "sizes ascend");
	is_within(ws_hit_curve_buffers(0), 16, 0, "from 128 kB");
	ok(ws_hit_curve_buffers(WS_HIT_CURVE_SIZES - 1) * 8192 > 8 * K * K * K * K, "to more than 8 TB");
	is_within(ws_hit_curve_buffers(size_of(64 * K)), 64 * K, 1e-6, "a power of two is one of them");
}

static void
test_sums(void)
{
	WsHitCurve	curve = {0};
	WsAdviceTable table = table_of(64 * K, rising, 3000);

	ok(isnan(ws_hit_curve_ratio(&curve, size_of(64 * K))), "nothing is known at first");
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	is_within(curve.lookups, 100, 1e-9, "ten seconds count as their part of the five minutes");
	is_within(ws_hit_curve_ratio(&curve, size_of(64 * K)), 1 / 16.0, 1e-9, "what was predicted");
	is_within(ws_hit_curve_ratio(&curve, size_of(64 * K) + 8), 91 / 64.0 / 16, 1e-9,
			  "by interpolation between the rows");
	ok(isnan(ws_hit_curve_ratio(&curve, size_of(4 * K))) &&
	   isnan(ws_hit_curve_ratio(&curve, size_of(2048 * K))), "but not beyond them");

	/* three times as many lookups, all of them hits */
	table = table_of(64 * K, all, 9000);
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	is_within(ws_hit_curve_ratio(&curve, size_of(64 * K)), 1 - (1 - 1 / 16.0) / 4, 1e-4,
			  "moments count by their lookups");

	/* at another size, where 2^13 is known and 2^18 is not: as good as not */
	table = table_of(8 * K, half, 3000);
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	ok(isnan(ws_hit_curve_ratio(&curve, size_of(256 * K))) &&
	   isnan(ws_hit_curve_ratio(&curve, size_of(2 * K))), "what is not known of one in five is not known");
	table = table_of(64 * K, all, 3000);
	for (int i = 0; i < 50; i++)
		ws_hit_curve_add(&curve, &table, &no_machine, 10);
	ok(ws_hit_curve_ratio(&curve, size_of(256 * K)) > 0.97, "of nine tenths it is");
}

static void
test_doubt(void)
{
	WsHitCurve	curve = {0};
	WsHitCurve	before;
	WsAdviceTable table = table_of(64 * K, half, 3000);

	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	before = curve;
	table.sure = false;
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	ok(memcmp(&curve, &before, sizeof(curve)) == 0, "a table that is not sure adds nothing");
	table.sure = true;
	table.lookups = 0;
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	table.lookups = table.seconds = 0;
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	ok(memcmp(&curve, &before, sizeof(curve)) == 0, "nor does one of no lookups, or of no time");
	table = table_of(64 * K, half, 3000);
	table.rows[WS_SWEEP_DOUBLE].unknown = table.lookups;
	for (int i = 0; i < 50; i++)
		ws_hit_curve_add(&curve, &table, &no_machine, 10);
	ok(isnan(ws_hit_curve_ratio(&curve, size_of(128 * K))) &&
	   ws_hit_curve_ratio(&curve, size_of(64 * K)) == 0.5, "nor does a row in doubt");
}

static void
test_fading(void)
{
	WsHitCurve	curve = {0};
	WsAdviceTable table = table_of(64 * K, half, 3000);

	/* by the minute, to more than a thousandth */
	for (int i = 0; i < 7 * 1440; i++)
		ws_hit_curve_add(&curve, &table, &no_machine, 60);
	is_within(curve.lookups, 10 * 7 * DAY * (1 - exp(-1)), 1e-3 * 70 * DAY, "a week fades as it is added");
	table = table_of(64 * K, all, 3000);
	for (int i = 0; i < 7 * 1440; i++)
		ws_hit_curve_add(&curve, &table, &no_machine, 60);
	is_within(ws_hit_curve_ratio(&curve, size_of(64 * K)), 1 - 0.5 / (1 + exp(1)), 1e-3,
			  "those of a week before count 1/e");
}

/* Two sizes of shared buffers and page caches behind them: waits fall with both. */
static void
test_waits(void)
{
	WsHitCurve	curve = {0};
	WsAdviceTable table = table_of(64 * K, half, 3000);
	WsTierTable tiers = {
		.lookups = 10, .other = 0x1p30, .shared_buffers = 0x1p30, .nsizes = 2, .sizes = {0x1p28, 0x1p30}, .reads = {4, 2}, .nbuffers = 2,
		.buffers = {0x1p28, 0x1p30}, .waits_each = 1
	};
	WsHitCurveMachine machine = {&tiers, 5 * 0x1p30, 8192};
	int			large = size_of(0x1p30 / 8192);
	int			small = size_of(0x1p28 / 8192);
	double		ratio;

	tiers.ncaches = WS_TIER_CACHES;
	for (int c = 0; c < WS_TIER_CACHES; c++)
	{
		tiers.caches[c] = 4 * 0x1p30 * ws_tier_caches[c];
		tiers.waits[0][c] = 0.5;
		tiers.waits[1][c] = c == WS_TIER_CACHES - 1 ? 0 : 0.25;
	}
	ws_hit_curve_add(&curve, &table, &no_machine, 10);
	ok(isnan(ws_hit_curve_waits(&curve, large)) && !isnan(ws_hit_curve_ratio(&curve, large)),
	   "waits are not known of a machine of which nothing is sure");
	for (int i = 0; i < 50; i++)
		ws_hit_curve_add(&curve, &table, &machine, 10);
	is_within(ws_hit_curve_waits(&curve, small), 0.5 * 4 / 10, 1e-9, "they are the waits of each lookup");
	is_within(ws_hit_curve_waits(&curve, large), 0.25 * 2 / 10, 1e-9, "with what is left of the memory for the page cache");
	ok(isnan(ws_hit_curve_waits(&curve, large + WS_HIT_CURVE_PER_OCTAVE)), "not known beyond the sizes that are simulated");
	tiers.waits[1][5] = 1;
	for (int i = 0; i < 50; i++)
		ws_hit_curve_add(&curve, &table, &machine, 10);
	is_within(ws_hit_curve_waits(&curve, large), 0.25 * 2 / 10, 1e-9, "also just behind a step of the hit ratio");
	tiers.error[1][6] = 1;		/* three quarters of 4 GB */
	for (int i = 0; i < 20; i++)
		ws_hit_curve_add(&curve, &table, &machine, 10);
	ratio = ws_hit_curve_ratio(&curve, large);
	ok(isnan(ws_hit_curve_waits(&curve, large)), "nor where the error was large for more than a tenth of the lookups");
	/* a container is made larger: all fits */
	tiers.error[1][6] = 0;
	machine.memory *= 4;
	for (int b = 0; b < 2; b++)
		for (int c = 0; c < WS_TIER_CACHES; c++)
			tiers.waits[b][c] = 0;
	ws_hit_curve_add(&curve, &table, &machine, 10);
	ok(ws_hit_curve_waits(&curve, small) == 0 && ws_hit_curve_ratio(&curve, large) == ratio,
	   "if the memory changes the waits start over, and the hit ratios do not");

	/* a moment at which nothing is sure, or the memory is not known */
	machine.tiers = NULL;
	machine.memory = 0;
	ws_hit_curve_add(&curve, &table, &machine, 0.1);
	ok(ws_hit_curve_waits(&curve, small) == 0, "a moment without memory changes nothing");
	/* another program takes most of the page cache */
	machine.tiers = &tiers;
	machine.memory = curve.caches + tiers.other;
	tiers.other += 0.4 * curve.caches;
	tiers.waits[0][0] = tiers.waits[0][1] = 1;
	ws_hit_curve_add(&curve, &table, &machine, 10);
	is_within(curve.lookups_then, table.lookups * 10 / table.seconds, 1e-9, "if other programs take it, they start over, too");
}

int
main(void)
{
	plan(26);
	test_waits();
	test_sizes();
	test_sums();
	test_doubt();
	test_fading();
	return done();
}
