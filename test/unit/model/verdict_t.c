/*
 * verdict_t.c
 *		Tests of the one size: what was wrong once, the rule's parts, and random
 *		histories.
 */
#include "tap.h"
#include "verdict.h"
#include "yardstick.h"

#include <math.h>
#include <string.h>

#define MB		0x1p20
#define GB		0x1p30
#define BUFFER	8192.0
#define MONDAY	INT64_C(1767571200)	/* 2026-01-05 */
#define DAYS(n)	((int) ((n) * WS_COST_DAY))

static WsCosts costs;
static WsQueryTime times;
static WsSteady steady;
static WsVerdictFacts facts;

/*
 * Weighed reads a second by bytes of shared_buffers: those of the rest at any
 * size, and those of each part unless it fits; or "evenly", of what does not.
 */
typedef struct Curve
{
	struct
	{
		double		fits;
		double		reads;
		bool		evenly;
	}			part[3];
	double		rest;
	double		known;			/* up to so many bytes; 0: all */
} Curve;

static double
reads_at(const Curve *curve, double bytes)
{
	double		reads = curve->known > 0 && bytes > curve->known ? NAN : curve->rest;

	for (int i = 0; i < 3; i++)
		if (bytes < curve->part[i].fits)
			reads += curve->part[i].reads * (curve->part[i].evenly ? 1 - bytes / curve->part[i].fits : 1);
	return reads;
}

/* a little is gained on the way */
static const Curve to_1120 = {.part = {{.fits = 1100 * MB, .reads = 1000, .evenly = true}}};

/* a ring's threshold: all is read until a quarter of a gigabyte fits */
static const Curve cliff_at_1024 = {.part = {{.fits = 1000 * MB, .reads = 2000}}};

static const Curve flat_from_384 = {.part = {{.fits = 380 * MB, .reads = 3000, .evenly = true}}, .rest = 500};
static const Curve fits_in_96 = {.part = {{.fits = 90 * MB, .reads = 2000}}};
static const Curve fits_in_600 = {.part = {{.fits = 590 * MB, .reads = 2000}}};
static const Curve known_to_800 = {.part = {{.fits = 590 * MB, .reads = 2000}}, .known = 800 * MB};
static const Curve fits_in_8_gb = {.part = {{.fits = 8 * GB, .reads = 2000}}};
static const Curve fits_in_40_gb = {.part = {{.fits = 40 * GB, .reads = 5000}}};

/* most is gained at 256 MB */
static const Curve two_steps = {.part = {{.fits = 250 * MB, .reads = 2000}, {.fits = 2000 * MB, .reads = 1000}}};
static const Curve none;

/* Put a quarter, so many before now, into the costs. */
static void
put(int ago, double now_bytes, double active, double waiting, const Curve *curve)
{
	int64_t		number = MONDAY / WS_COST_QUARTER - ago;
	WsCostRow  *row = &costs.quarters[number % WS_COST_QUARTERS];
	WsCostQuarter quarter = {0};
	WsAdviceTable table = {.seconds = 300, .lookups = 3e6, .sure = true};
	WsCostMoment moment = {
		.seconds = 900, .active = active, .waiting = waiting, .table = &table,
		.buffers = now_bytes / BUFFER, .buffer = BUFFER
	};

	for (int i = 0; i < WS_SWEEP_GRID; i++)
	{
		table.rows[i].factor = ws_sweep_grid[i];
		table.rows[i].buffers = ws_sweep_grid[i] * now_bytes / BUFFER;
		table.rows[i].reads_per_second = reads_at(curve, ws_sweep_grid[i] * now_bytes);
	}
	memset(row, 0, sizeof(*row));
	ws_costs_add(&costs, &quarter, number * WS_COST_QUARTER, &moment);
}

/* So many quarters alike. */
static void
put_all(int from, int to, double now_bytes, double active, double waiting, const Curve *curve)
{
	WsCostRow	row;

	if (from >= to)
		return;
	put(from, now_bytes, active, waiting, curve);
	row = costs.quarters[(MONDAY / WS_COST_QUARTER - from) % WS_COST_QUARTERS];
	for (int ago = from; ago < to; ago++)
	{
		row.number = MONDAY / WS_COST_QUARTER - ago;
		costs.quarters[row.number % WS_COST_QUARTERS] = row;
	}
}

static void
begin(double shared_buffers)
{
	memset(&costs, 0, sizeof(costs));
	memset(&steady, 0, sizeof(steady));
	facts = (WsVerdictFacts)
	{
		.costs = &costs, .now = MONDAY, .buffer = BUFFER, .shared_buffers = shared_buffers,
			.memory = 24 * GB, .connections = 100, .work_mem = 4 * MB, .maintenance = 3 * 64 * MB,
			.worth = WS_WORTH_DEFAULT
	};
}

static WsDecision
decide(void)
{
	ws_query_time(&times, &facts);
	return ws_decide(&times, &steady);
}

/* So many days were alike. */
static void
begin_alike(double shared_buffers, double days, double active, double waiting, const Curve *curve)
{
	begin(shared_buffers);
	put_all(0, DAYS(days), shared_buffers, active, waiting, curve);
}

static WsDecision
is_decided(WsVerdict verdict, double least, double most, const char *name)
{
	WsDecision	d = decide();

	if (!ok(d.verdict == verdict && d.size >= least && d.size <= most, "%s", name))
		diag("%s, %.0f MB; week %.4f, then %.4f", ws_verdict_names[d.verdict], d.size / MB, d.present.week, d.suggested.week);
	return d;
}

/* ---------------------------------------------------------------- once wrong */

static void
test_once_wrong(void)
{
	WsDecision	d;

	/* 30 ms a second of the 3,000 that clients work */
	begin_alike(128 * MB, 7, 2700, 27, &to_1120);
	d = is_decided(WS_VERDICT_KEEP, 128 * MB, 128 * MB, "nine times the memory for 1 % of query time is not worth it");
	ok(d.other > 500 * MB && d.present.week - d.other_share > 0.005 && d.present.week - d.other_share <= 0.0101,
	   "but it is said what it would bring");
	/* of the 60 that clients work */
	begin_alike(128 * MB, 7, 54, 27, &to_1120);
	is_decided(WS_VERDICT_GROW, 1024 * MB, 1460 * MB, "for half of it, it is (1,024 and 1,434 MB are simulated)");

	begin_alike(128 * MB, 7, 900, 300, &cliff_at_1024);
	d = is_decided(WS_VERDICT_GROW, 1000 * MB, 1300 * MB, "768 MB save nothing and 1,024 all: not 608");
	ok(d.other == 0, "and no size before is an alternative");

	begin_alike(128 * MB, 7, 900, 300, &flat_from_384);
	is_decided(WS_VERDICT_GROW, 350 * MB, 384 * 1.3 * MB, "nothing above 384 MB helps: not 760");

	begin_alike(24 * MB, 7, 900, 300, &fits_in_96);
	is_decided(WS_VERDICT_GROW, 128 * MB, 128 * MB, "96 MB are enough: the least that is suggested, not 632");
}

/* ---------------------------------------------------------------- the rule */

static void
test_week(void)
{
	WsDecision	d;

	/* a job of half an hour each night, with all the reads */
	begin(128 * MB);
	put_all(0, DAYS(7), 128 * MB, 900, 0, &none);
	for (int night = 0; night < 7; night++)
		put_all(night * DAYS(1) + 88, night * DAYS(1) + 90, 128 * MB, 900, 500, &fits_in_600);
	d = is_decided(WS_VERDICT_KEEP, 128 * MB, 128 * MB, "a nightly job does not make the memory grow");
	ok(d.job.size >= 590 * MB && d.job.size < 800 * MB && d.job.gain > 0.5 && d.job.quarter >= 6 && d.job.quarter <= 8,
	   "but it is reported, with its size, gain and time");
	/* if it carries the week, it does */
	begin(128 * MB);
	put_all(0, DAYS(7), 128 * MB, 9, 0, &none);
	for (int night = 0; night < 7; night++)
		put_all(night * DAYS(1) + 88, night * DAYS(1) + 92, 128 * MB, 900, 500, &fits_in_600);
	is_decided(WS_VERDICT_GROW, 590 * MB, 800 * MB, "a job that carries the week does");

	/* one quarter of an hour is not four */
	begin(128 * MB);
	put_all(0, DAYS(7), 128 * MB, 1, 0, &none);
	put_all(3 * 96, 3 * 96 + 3, 128 * MB, 900, 500, &fits_in_600);
	is_decided(WS_VERDICT_KEEP, 128 * MB, 128 * MB, "three quarters of an hour are no reason to grow");
	put_all(3 * 96 + 3, 3 * 96 + 4, 128 * MB, 900, 500, &fits_in_600);
	is_decided(WS_VERDICT_GROW, 590 * MB, 800 * MB, "four of a day are");
}

static void
test_shrink(void)
{
	begin_alike(4 * GB, 6.8, 900, 5, &fits_in_600);
	is_decided(WS_VERDICT_KEEP, 4 * GB, 4 * GB, "nothing shrinks before a week is seen");
	begin_alike(4 * GB, 7, 900, 5, &fits_in_600);
	is_decided(WS_VERDICT_SHRINK, 590 * MB, 1.3 * 590 * MB, "then it does, to the smallest size that is as good");

	/* one busy quarter of an hour a month ago needed all */
	put(DAYS(30), 4 * GB, 900, 300, &cliff_at_1024);
	is_decided(WS_VERDICT_SHRINK, 1000 * MB, 1300 * MB, "a quarter of an hour of the month needs what it needs");
	/* an idle one does not count */
	put(DAYS(30), 4 * GB, 20, 10, &cliff_at_1024);
	memset(&steady, 0, sizeof(steady));
	is_decided(WS_VERDICT_SHRINK, 590 * MB, 1.3 * 590 * MB, "unless hardly anybody was active");
	/* nor one that is older */
	put(DAYS(30), 4 * GB, 900, 300, &fits_in_600);
	put(DAYS(36), 4 * GB, 900, 300, &cliff_at_1024);
	is_decided(WS_VERDICT_SHRINK, 590 * MB, 1.3 * 590 * MB, "nor what is older than 35 days");

	begin_alike(650 * MB, 7, 900, 5, &fits_in_600);
	is_decided(WS_VERDICT_KEEP, 650 * MB, 650 * MB, "less than an eighth is not worth a restart");
	begin_alike(128 * MB, 7, 900, 0, &none);
	is_decided(WS_VERDICT_KEEP, 128 * MB, 128 * MB, "nor is less than the server's default suggested");
}

static void
test_waiting(void)
{
	WsDecision	d;

	/* 604,800 looks at an active client, none of which found it waiting */
	begin_alike(128 * MB, 7, 900, 0, &fits_in_600);
	is_decided(WS_VERDICT_KEEP, 128 * MB, 128 * MB, "where nobody waits nothing grows");
	begin_alike(4 * GB, 7, 900, 0, &fits_in_600);
	is_decided(WS_VERDICT_SHRINK, 590 * MB, 1.3 * 590 * MB, "but it shrinks as usual");

	/* nobody was active: 5 % of the reads are a point */
	begin_alike(128 * MB, 7, 0, 0, &fits_in_600);
	d = is_decided(WS_VERDICT_GROW, 590 * MB, 800 * MB, "without active clients, reads count");
	ok(!d.timed && fabs(d.present.week - 0.2) < 1e-6, "as a fifth of the time");

	/* the time of a read is that of the quarter: here slow, there fast */
	begin(128 * MB);
	put_all(0, DAYS(3), 128 * MB, 900, 9, &fits_in_600);
	put_all(DAYS(3), DAYS(6), 128 * MB, 900, 90, &fits_in_600);
	ws_query_time(&times, &facts);
	is_within(times.each[times.n - 1] / times.each[0], 19.0 / 100, 0.03, "a read takes what it took then, as far as looks show");
	is_within(ws_query_time_shares(&times, 128 * MB).week, 0.055, 0.003, "the week is the mean by activity");
	is_within(ws_query_time_shares(&times, 1 * GB).week, 0, 0.001, "and nothing with all in memory");
	is_within(ws_query_time_shares(&times, 1 * GB).loss, -0.01, 0.01, "the least that a quarter gains is what the quiet ones do");
	ok(isnan(ws_query_time_shares(&times, 1 * MB).loss), "what a size that is not known would lose is not known");

	/* and none of what it took weeks ago */
	begin(128 * MB);
	put_all(0, DAYS(7), 128 * MB, 12.5, 0.1, &fits_in_600);
	put_all(DAYS(7), DAYS(35), 128 * MB, 20, 8, &fits_in_600);
	d = is_decided(WS_VERDICT_KEEP, 128 * MB, 128 * MB, "few looks: the verdict is that of the week");
	is_within(d.present.week, 0.008, 1e-4, "and its share is what was measured in it");
	/* hours of many looks, whose reads are slow, do not give way to others */
	begin(128 * MB);
	put_all(0, DAYS(7), 128 * MB, 900, 0, &fits_in_600);
	for (int ago = 0; ago < DAYS(7); ago += 20)
		put(ago, 128 * MB, 900, 600, &fits_in_600);
	ws_query_time(&times, &facts);
	is_within(ws_query_time_shares(&times, 128 * MB).week, 600 / 900.0 / 20, 0.001, "nor is it less where reads differ");
	/* clients of weeks ago are none */
	begin(128 * MB);
	put_all(0, DAYS(20), 128 * MB, 0, 0, &fits_in_600);
	put(DAYS(20), 128 * MB, 1, 0, &fits_in_600);
	d = decide();
	ok(!d.timed && d.verdict == WS_VERDICT_GROW, "one client three weeks ago does not measure the reads of a standby");
}

static void
test_memory(void)
{
	WsDecision	d;
	double		most = floor(0.75 * (24 * GB - 100 * 6 * MB - 192 * MB) / MB) * MB;

	begin_alike(4 * GB, 7, 900, 300, &fits_in_40_gb);
	d = is_decided(WS_VERDICT_EXCEEDS_MEMORY, 4 * GB, most, "what would help does not fit");
	is_within(d.affordable, most, 1, "affordable is three quarters of what processes leave");
	ok(d.other >= 40 * GB && d.other_share < 0.01, "the size that would help is mentioned");
	facts.memory = 128 * GB;
	memset(&steady, 0, sizeof(steady));
	is_decided(WS_VERDICT_GROW, 40 * GB, 56 * GB, "with more memory it is suggested");
	/* three quarters of each day need what does not fit, the others 8 GB */
	begin(4 * GB);
	put_all(0, DAYS(7), 4 * GB, 900, 90, &fits_in_8_gb);
	for (int ago = 10; ago < DAYS(7); ago += ago % DAYS(1) == 12 ? DAYS(1) - 2 : 1)
		put(ago, 4 * GB, 900, 850, &fits_in_40_gb);
	is_decided(WS_VERDICT_GROW, 8 * GB, 12 * GB, "what would help a quarter too few a day is not missing");
	for (int ago = 13; ago < DAYS(7); ago += DAYS(1))
		put(ago, 4 * GB, 900, 850, &fits_in_40_gb);
	memset(&steady, 0, sizeof(steady));
	is_decided(WS_VERDICT_EXCEEDS_MEMORY, 8 * GB, most, "but with one more it is");
	begin_alike(20 * GB, 7, 900, 5, &fits_in_600);
	is_decided(WS_VERDICT_EXCEEDS_MEMORY, most, most, "a setting that is not affordable is too large, but what is may be needed");
	begin(20 * GB);
	is_decided(WS_VERDICT_EXCEEDS_MEMORY, most, most, "also before anything is known");
	begin(128 * MB);
	facts.memory = 0;
	put_all(0, DAYS(7), 128 * MB, 900, 300, &fits_in_600);
	d = decide();
	ok(d.affordable == INFINITY && d.effective == 0 && d.verdict == WS_VERDICT_GROW, "without a limit all is affordable");
}

static void
test_other(void)
{
	WsDecision	d;

	begin_alike(128 * MB, 7, 900, 300, &two_steps);
	d = is_decided(WS_VERDICT_GROW, 2000 * MB, 2600 * MB, "two steps: both");
	is_within(d.simulated, 2048 * MB, 2, "sixteen times the size are known");
	ok(d.other >= 250 * MB && d.other < 330 * MB && d.present.week - d.other_share > 0.6 * d.present.week,
	   "the first already saves two thirds");
}

static void
test_steady(void)
{
	WsDecision	d;

	/* the gain falls below what is worth it, and below three quarters of that */
	begin_alike(128 * MB, 7, 900, 19, &fits_in_600);
	d = decide();
	ok(d.verdict == WS_VERDICT_GROW && !d.rising, "grow begins");
	put_all(0, DAYS(7), 128 * MB, 900, 16, &fits_in_600);
	is_decided(WS_VERDICT_GROW, 0, INFINITY, "and lasts while most of it is left");
	put_all(0, DAYS(7), 128 * MB, 900, 13, &fits_in_600);
	is_decided(WS_VERDICT_KEEP, 0, INFINITY, "but not longer");
	put_all(0, DAYS(7), 128 * MB, 900, 16, &fits_in_600);
	is_decided(WS_VERDICT_KEEP, 0, INFINITY, "nor does it begin again at once");

	/* rising */
	begin_alike(128 * MB, 7, 900, 300, &fits_in_600);
	d = decide();
	ok(!d.rising, "at first nothing rises");
	facts.now += 900;
	put_all(-1, DAYS(6), 128 * MB, 900, 300, &cliff_at_1024);
	d = decide();
	ok(d.rising && d.size > 900 * MB, "a larger target within the hour does");
	facts.shared_buffers = 8 * GB;
	put_all(-1, DAYS(7), 8 * GB, 900, 5, &cliff_at_1024);
	steady = (WsSteady)
	{
		.target = 600 * MB, .before = 600 * MB, .hour = facts.now / 3600
	};
	d = decide();
	ok(d.verdict == WS_VERDICT_KEEP && !d.rising, "and then nothing shrinks");
	facts.now += 7200;
	d = decide();
	facts.now += 3600;
	is_decided(WS_VERDICT_SHRINK, 1000 * MB, 1300 * MB, "until it does no longer");
	facts.now = MONDAY + 900;
	facts.shared_buffers = 128 * MB;
	memset(&steady, 0, sizeof(steady));
	put_all(-1, DAYS(7), 128 * MB, 900, 300, &fits_in_600);
	d = decide();
	put_all(-1, DAYS(6), 128 * MB, 900, 300, &cliff_at_1024);
	d = decide();
	facts.now += 3600;
	d = decide();
	facts.now += 3600;
	d = decide();
	ok(!d.rising && d.size > 900 * MB, "until it has stayed for an hour");

	/* what is old makes nothing surer */
	begin(128 * MB);
	put_all(4, DAYS(7), 128 * MB, 900, 300, &fits_in_600);
	facts.now += 7 * 86400 - 3600;
	put_all(-DAYS(7) + 4, -DAYS(7) + 8, 128 * MB, 900, 300, &fits_in_600);
	d = decide();
	ok(d.history <= 2 * 3600, "of 7 days and an hour only what is of the last week counts as history");

	/* a week after a change */
	begin(600 * MB);
	put_all(DAYS(2), DAYS(7), 128 * MB, 900, 300, &cliff_at_1024);
	put_all(0, DAYS(2), 600 * MB, 900, 60, &cliff_at_1024);
	is_decided(WS_VERDICT_GROW, 0, INFINITY, "within a week of a change only what saves much is suggested");
	begin(600 * MB);
	put_all(DAYS(2), DAYS(7), 128 * MB, 900, 40, &cliff_at_1024);
	put_all(0, DAYS(2), 600 * MB, 900, 40, &cliff_at_1024);
	d = decide();
	ok(d.verdict == WS_VERDICT_KEEP && d.settles == 5 * 86400 + 900, "but nothing else, for so long");
	begin(4 * GB);
	put_all(DAYS(6), DAYS(20), 8 * GB, 900, 5, &fits_in_600);
	put_all(0, DAYS(6), 4 * GB, 900, 5, &fits_in_600);
	d = decide();
	ok(d.verdict == WS_VERDICT_KEEP && d.settles > 0, "nor to shrink");
	put_all(0, DAYS(20), 4 * GB, 900, 5, &fits_in_600);
	d = decide();
	ok(d.verdict == WS_VERDICT_SHRINK && d.settles == 0, "then it does");
	begin_alike(2048 * MB, 7, 900, 900, &two_steps);
	d = decide();
	ok(d.verdict == WS_VERDICT_SHRINK || d.verdict == WS_VERDICT_KEEP, "what is reached is not left again");

	begin(128 * MB);
	put_all(0, DAYS(7), 128 * MB, 900, 300, &known_to_800);
	steady = (WsSteady)
	{
		.verdict = WS_VERDICT_GROW, .size = 900 * MB
	};
	is_decided(WS_VERDICT_GROW, 590 * MB, 800 * MB, "a size of which nothing is known does not stay");
}

/* ---------------------------------------------------------------- random histories */

static uint64_t seed;
static void
random_history(void)
{
	static const double sizes[] = {0.5, 16, 64, 128, 500, 2000, 9000};
	int			n = (int) random_below(&seed, 3);
	Curve		curve = {0};

	begin(sizes[random_below(&seed, 7)] * MB * (1 + random_unit(&seed)));
	facts.memory = random_below(&seed, 10) == 0 ? 0 : exp(log(256 * MB) + random_unit(&seed) * log(2000));
	facts.worth = random_below(&seed, 4) == 0 ? 0.001 + random_unit(&seed) : WS_WORTH_DEFAULT;
	facts.connections = (int) random_below(&seed, 1000);
	for (int i = 0; i <= n; i++)
	{
		double		active = random_below(&seed, 5) == 0 ? 0 : exp(random_unit(&seed) * 10);
		double		waiting = random_below(&seed, 3) == 0 ? 0 : active * random_unit(&seed);
		double		size = random_below(&seed, 4) == 0 ? facts.shared_buffers * exp2(2 * random_unit(&seed) - 1) : facts.shared_buffers;
		int			from = (int) random_below(&seed, DAYS(30));

		for (int k = 0; k < 3; k++)
		{
			curve.part[k].fits = exp(log(MB) + random_unit(&seed) * log(1e5));
			curve.part[k].reads = random_below(&seed, 3) == 0 ? 0 : exp(random_unit(&seed) * 12);
			curve.part[k].evenly = k != 1;
		}
		put_all(from, from + 1 + (int) random_below(&seed, DAYS(10)), size, active, waiting, &curve);
	}
}

/* The least share of the week of all sizes that may be suggested */
static double
best_share(const WsDecision *d)
{
	double		most = fmax(d->affordable, facts.shared_buffers);
	double		least = fmin(WS_SUGGESTED_LEAST, d->affordable);
	double		best = d->present.week;

	for (int i = 0; i < WS_COST_SIZES; i++)
	{
		double		bytes = ws_cost_buffers(i) * BUFFER;
		double		unit = exp2(fmax(ceil(log2(bytes / (128 * MB))), 0)) * MB;

		bytes = ceil(bytes / unit) * unit;
		if (bytes >= least && bytes <= most)
			best = fmin(best, ws_query_time_shares(&times, bytes).week);
	}
	return best;
}

static void
test_random(void)
{
	long		n = trials(1000);
	long		wrong = 0;
	long		verdicts[5] = {0};

	seed = seeded(1);
	for (long i = 0; i < n; i++)
	{
		WsDecision	d;
		const char *what = NULL;
		double		best;
		double		allowed;

		random_history();
		d = decide();
		verdicts[d.verdict]++;
		best = best_share(&d);
		allowed = best + facts.worth / 2 * 1.26;
		if (!(d.size > 0) || isnan(d.size))
			what = "no size";
		else if (d.size > d.affordable && d.size != facts.shared_buffers)
			what = "a size that is not affordable";
		else if (d.verdict == WS_VERDICT_KEEP && d.size != facts.shared_buffers)
			what = "keep another size";
		else if (d.verdict == WS_VERDICT_GROW && !(d.size > facts.shared_buffers && d.present.week - best >= facts.worth))
			what = "grow for nothing";
		else if (d.verdict == WS_VERDICT_GROW && !(d.suggested.week <= allowed))
			what = "grow to what is not as good";
		else if (d.verdict == WS_VERDICT_SHRINK && !(d.size <= facts.shared_buffers * 7 / 8 && d.suggested.week <= allowed && d.suggested.loss <= facts.worth / 2 + 1e-9))
			what = "shrink to what is not as good";
		else if (d.verdict == WS_VERDICT_SHRINK && d.size < WS_SUGGESTED_LEAST && d.size < d.affordable)
			what = "shrink below the least";
		else if (d.other > 0 && (isnan(d.other_share) || d.other == d.size))
			what = "another size without what it brings";
		else if (!(isnan(d.present.week) || (d.present.week >= 0 && d.present.week <= 1)) ||
				 !(isnan(d.suggested.week) || (d.suggested.week >= 0 && d.suggested.week <= 1)))
			what = "a share that is none";
		else if (d.job.size > 0 && !(d.job.gain >= 0.19 && d.job.gain <= 1))
			what = "a job that gains nothing";
		if (what && wrong++ < 5)
			diag("%ld: %s: %s %.0f -> %.0f MB of %.0f, week %.4f -> %.4f, best %.4f, loss %.4f", i, what, ws_verdict_names[d.verdict],
				 facts.shared_buffers / MB, d.size / MB, d.affordable / MB, d.present.week, d.suggested.week, best,
				 d.suggested.loss);
	}
	is_int(wrong, 0, "random histories: a verdict is what the rule says");
	if (!ok(verdicts[WS_VERDICT_GROW] > n / 50 && verdicts[WS_VERDICT_SHRINK] > n / 200 && verdicts[WS_VERDICT_KEEP] > n / 10 &&
			verdicts[WS_VERDICT_EXCEEDS_MEMORY] > n / 50, "random histories: all of them happened"))
		diag("grow %ld, shrink %ld, keep %ld, exceeds %ld", verdicts[1], verdicts[2], verdicts[3], verdicts[4]);
}

static void
test_words(void)
{
	char		setting[32];

	is_string(ws_verdict_names[WS_VERDICT_EXCEEDS_MEMORY], "exceeds memory", "a verdict has a name");
	ws_format_setting(640 * MB, setting, sizeof(setting));
	is_string(setting, "640MB", "a size is a setting");
	ws_format_setting(100000 * 8192.0, setting, sizeof(setting));
	is_string(setting, "800000kB", "also one that is not whole MB, as the present one may be");
}

int
main(void)
{
	plan(7 + 5 + 7 + 13 + 10 + 3 + 15 + 2 + 3);

	test_once_wrong();
	test_week();
	test_shrink();
	test_waiting();
	test_memory();
	test_other();
	test_steady();
	test_random();
	test_words();
	return done();
}
