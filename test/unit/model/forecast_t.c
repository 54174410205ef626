/*
 * forecast_t.c
 *		Tests of the trend of daily peaks: a date foretold at week 4 is right, and
 *		what does not grow raises no alarm.
 *
 * Bounds of shares of many series are stated beside the assertions.
 */
#include "tap.h"
#include "history.h"
#include "forecast.h"
#include "yardstick.h"

#define DAY INT64_C(86400)
#define MONDAY (INT64_C(20780) * DAY)	/* a Monday of 2026 */
#define WEEKS(n) (7 * (n))

static WsHistory h;

/* the week of an office, from Monday */
static double
of_week(int day)
{
	static const double busy[] = {1, 1, 1, 1, 1, 0.5, 0.4};

	return busy[day % 7];
}

/* ---------------------------------------------------------------- by hand */

static void
test_line(void)
{
	double		peaks[WS_FORECAST_DAYS];
	double		low;
	double		high;
	WsForecast	t;
	WsForecastDate date;

	for (int i = 0; i < 28; i++)
		peaks[i] = 1000 * of_week(i) + 10 * i;
	t = ws_forecast(peaks, 20);
	ok(t.known == 0 && isnan(ws_forecast_size(&t, 7, &low, &high)) && isnan(low) && isnan(high),
	   "three weeks less a day are too few");
	date = ws_forecast_exceeds(&t, 0);
	ok(date.expected == -1 && date.latest == -1 && !date.near,
	   "and foretell no date");
	t = ws_forecast(peaks, 28);
	ok(t.known == 28 && t.sure && fabs(t.slope - 10) < 1e-9 && fabs(t.slope_low - 10) < 1e-9 &&
	   fabs(t.slope_high - 10) < 1e-9 && fabs(t.spread) < 1e-9 && t.centre == -14.5,
	   "a line beside a week's season is found exactly");
	/* Mondays are 1000 + 10 i, and Sundays are the last days */
	is_within(ws_forecast_size(&t, 0, &low, &high), 1280, 20.001, "its size is the peak of a week around that day");
	ok(fabs(ws_forecast_size(&t, 30, &low, &high) - ws_forecast_size(&t, 0, &low, &high) - 300) < 1e-9, "which grows with it");
	date = ws_forecast_exceeds(&t, ws_forecast_size(&t, 11, &low, &high) + 1);
	ok(date.expected == 12 && date.latest == 12 && date.near,
	   "it exceeds a size on one day");
	date = ws_forecast_exceeds(&t, ws_forecast_size(&t, 30, &low, &high) + 1);
	ok(date.expected == 31 && !date.near, "31 days are not near");
	date = ws_forecast_exceeds(&t, ws_forecast_size(&t, 365, &low, &high) - 1);
	is_int(date.expected, 365, "a year from now is foretold");
	date = ws_forecast_exceeds(&t, ws_forecast_size(&t, 365, &low, &high) + 1);
	ok(date.expected == -1 && date.latest == -1, "and no later day");
	date = ws_forecast_exceeds(&t, 500);
	ok(date.expected == 0 && date.latest == 0 && !date.near, "a size that is exceeded now has no day to come");

	for (int i = 0; i < 28; i++)
		peaks[i] = 300 - 10 * i;
	t = ws_forecast(peaks, 28);
	ok(t.slope < 0 && !t.sure && ws_forecast_size(&t, 90, &low, &high) == 0 && low == 0 && high == 0 &&
	   ws_forecast_exceeds(&t, 500).expected == -1, "what shrinks is nothing in the end, and exceeds nothing");
	for (int i = 0; i < 28; i++)
		peaks[i] = 300;
	t = ws_forecast(peaks, 28);
	ok(t.slope == 0 && !t.sure && ws_forecast_size(&t, 90, &low, &high) == 300 && low == 300 && high == 300 &&
	   ws_forecast_exceeds(&t, 300).expected == -1 && ws_forecast_exceeds(&t, 299).latest == 0,
	   "what is always the same stays");

	/* days that are missing, or strange, move little */
	for (int i = 0; i < 56; i++)
		peaks[i] = i % 9 == 4 ? NAN : i == 20 || i == 40 ? 9000 : i == 30 ? 0 : 1000 + 10 * i;
	t = ws_forecast(peaks, 56);
	ok(t.sure && fabs(t.slope - 10) < 1 && fabs(ws_forecast_size(&t, 0, &low, &high) - 1560) < 90,
	   "days that are missing or strange move little: %g a day, %g", t.slope, ws_forecast_size(&t, 0, &low, &high));
	for (int i = 0; i < WS_FORECAST_DAYS; i++)
		peaks[i] = i < WS_FORECAST_DAYS - 21 ? NAN : 1000 + i * i % 11;
	t = ws_forecast(peaks, WS_FORECAST_DAYS);
	ok(t.spread > 0 && fabs(ws_forecast(peaks + WS_FORECAST_DAYS - 21, 21).spread / t.spread - 1) < 1e-9,
	   "days before the first one make nothing surer");
	for (int i = 0; i < WS_FORECAST_DAYS; i++)
		peaks[i] = i % 3 == 0 ? 0x1p40 : NAN;
	ok(!ws_forecast(peaks, WS_FORECAST_DAYS).sure && ws_forecast(peaks, 0).known == 0, "weeks that are known in part have no peak");
}

/* Of any numbers that a history can have, nothing is out of range. */
static void
test_any(void)
{
	const double values[] = {NAN, 0, 0, 1, 1000, 1000, 0x1p-1074, 0x1p40};
	uint64_t	seed = seeded(3);
	int			wrong = 0;
	int			known = 0;
	const int	ntrials = trials(20000);

	for (int trial = 0; trial < ntrials; trial++)
	{
		double		peaks[WS_FORECAST_DAYS];
		int			n = (int) random_below(&seed, WS_FORECAST_DAYS + 1);
		int			kinds = 1 + (int) random_below(&seed, 8);
		WsForecast	t;
		WsForecastDate d;

		for (int i = 0; i < n; i++)
			peaks[i] = values[(trial + random_below(&seed, (uint32_t) kinds)) % 8];
		t = ws_forecast(peaks, n);
		d = ws_forecast_exceeds(&t, values[1 + random_below(&seed, 7)]);
		known += t.known > 0;
		for (int day = 0; day <= 90; day += 30)
		{
			double		low;
			double		high;
			double		size = ws_forecast_size(&t, day, &low, &high);

			wrong += t.known == 0 ? !isnan(size) : !(0 <= low && low <= size && size <= high && isfinite(high));
		}
		wrong += d.latest >= 0 && (d.expected < 0 || d.latest < d.expected);
	}
	ok(wrong == 0 && known > ntrials / 4, "any days: sizes are between their bounds, and so are dates (%d)", known);
}

/* ---------------------------------------------------------------- eight weeks */

/*
 * Eight weeks that double from 100,000 pages, by the clock of a history: each
 * minute from 9:00 to 17:00, with noise of 5 %, of each minute or of each day.
 * Sets the trend at the end of the fourth week.  Returns the day on which a
 * size is exceeded first, counted from then.
 */
static int
eight_weeks(bool daily, uint64_t seed, double size, WsForecast *trend)
{
	double		peaks[WEEKS(8)];
	double		four[WS_FORECAST_DAYS];

	memset(&h, 0, sizeof(h));
	for (int day = 0; day < WEEKS(8); day++)
	{
		double		noise = random_normal(&seed);

		for (int minute = 540; minute < 1020; minute++)
		{
			WsHistoryRow row = {0};

			row.recommended = 100000 * (1 + day / 56.0) * of_week(day) *
				(1 + 0.05 * (daily ? noise : random_normal(&seed)));
			ws_history_add(&h, MONDAY + day * DAY + minute * 60, &row);
		}
		if (day == WEEKS(4))
		{
			ws_history_daily(&h, MONDAY + day * DAY + 600, four, WS_FORECAST_DAYS);
			*trend = ws_forecast(four, WS_FORECAST_DAYS);
		}
	}
	ws_history_daily(&h, MONDAY + WEEKS(8) * DAY, peaks, WEEKS(8));
	for (int day = WEEKS(4); day < WEEKS(8); day++)
		if (peaks[day] > size)
			return day - WEEKS(4);
	return WEEKS(4);
}

#define SERIES 60

/*
 * 175,000 pages without noise are those of the sixth week.  The highest of 480
 * normal numbers is 3 standard deviations above the mean, so noise of each
 * minute adds 15 % to each day.
 */
static void
test_eight_weeks(bool daily)
{
	double		size = daily ? 175000 : 175000 * 1.15;
	double		errors[SERIES];
	int			right = 0;
	int			inside = 0;
	int			near = 0;
	int			none = 0;
	double		middle;

	for (int i = 0; i < SERIES; i++)
	{
		WsForecast	t;
		int			day = eight_weeks(daily, seeded(1000 + (uint64_t) i), size, &t);
		WsForecastDate d = ws_forecast_exceeds(&t, size);

		errors[i] = d.expected < 0 ? 999 : abs(d.expected - day);
		none += d.expected < 0;
		right += errors[i] <= (daily ? 4 : 3);
		inside += d.expected >= 0 && (d.latest < 0 || day <= d.latest);
		near += d.near;
	}
	middle = median(errors, SERIES);
	diag("noise of each %s: median error %g days, 90 %% within %g, the largest %g, %d of %d within the bound, %d near",
		 daily ? "day" : "minute", middle, errors[SERIES * 9 / 10], errors[SERIES - 1], inside, SERIES, near);
	if (daily)
	{
		/*
		 * Least squares, which know the season, would have a standard error
		 * of 3.4 days.
		 */
		ok(SERIES - right <= at_most(SERIES, 0.5), "noise of each day: half of the dates are within 4 days");
		ok(none <= at_most(SERIES, 0.03), "noise of each day: growth is seen");
	}
	else
	{
		ok(SERIES - right <= at_most(SERIES, 0.1), "noise of each minute: the date foretold at week 4 is within 3 days in 9 of 10 series");
		ok(SERIES - near <= at_most(SERIES, 0.1), "noise of each minute: that is near and sure");
	}
	/* of many more series with noise of each minute it is in 90 % */
	ok(SERIES - inside <= at_most(SERIES, 0.1), "noise of each %s: the day is not after the bound", daily ? "day" : "minute");
}

/* ---------------------------------------------------------------- no alarm */

/* Days of an office or all alike, with noise of 5 %, and what is beside it. */
typedef struct Series
{
	const char *name;
	bool		office;
	double		common;			/* of what the day before had more */
	double		job;			/* once in 30 days */
	double		period;			/* days of a fifth more and less */
	double		first;			/* level of the first 50 days */
} Series;

/* "before": what the day before had more; "phase": a day */
static double
peak_of(const Series *s, int day, int phase, double *before, uint64_t *seed)
{
	double		level = day < 50 ? s->first : 1;

	*before = s->common * *before + (s->common > 0 ? 0.04 : 0.05) * random_normal(seed);
	if (s->period > 0)
		level *= 1 + 0.2 * sin(6.2832 * (day + phase) / s->period);
	return level * (s->office ? of_week(day) : 1) * (1 + *before) + (day % 30 == phase ? s->job : 0);
}

/*
 * Looks once a day, from the third week to the twentieth, with room of a tenth
 * or a quarter above the highest level.
 */
static void
test_alarms(const Series *series)
{
	double		level = series->period > 0 ? 1.2 : 1;
	int			alarms = 0;
	int			looks = 0;
	const int	n = trials(100);

	for (int i = 0; i < n; i++)
	{
		uint64_t	seed = seeded(77 + (uint64_t) i);
		double		before = 0;
		double		peaks[WEEKS(20)];
		bool		alarm = false;

		for (int day = 0; day < WEEKS(20); day++)
		{
			double		size = level * (i % 2 ? 1.1 : 1.25);
			int			from = day > WS_FORECAST_DAYS ? day - WS_FORECAST_DAYS : 0;
			WsForecast	t = ws_forecast(peaks + from, day - from);
			WsForecastDate d = ws_forecast_exceeds(&t, size);

			if (d.near)
			{
				alarm = true;
				looks++;
			}
			peaks[day] = peak_of(series, day, i % 30, &before, &seed);
		}
		alarms += alarm;
	}
	/* 2 % of the series, each of 119 looks */
	ok(alarms <= at_most(n, 0.02), "no alarm: %s (%d of %d series, %d of %d looks)", series->name, alarms, n, looks, n * 119);
}

int
main(void)
{
	static const Series series[] = {
		{"days that are all alike but for noise of 5 %", false, 0, 0, 0, 1},
		{"a week's season", true, 0, 0, 0, 1},
		{"days that resemble the one before", false, 0.5, 0, 0, 1},
		{"a monthly job", true, 0, 1, 0, 1},
		{"a month's season", true, 0, 0, 30.4, 1},
		{"a fortnight's season", true, 0, 0, 14, 1},
		{"a step", true, 0, 0, 0, 0.6},
	};

	plan(15 + 1 + 6 + 7);

	test_line();
	test_any();
	test_eight_weeks(false);
	test_eight_weeks(true);
	for (int i = 0; i < 7; i++)
		test_alarms(&series[i]);
	return done();
}
