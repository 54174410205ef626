/*
 * forecast.c
 *		The trend of daily peaks, and what it foretells; see forecast.h.
 */
#include "forecast.h"

#include <math.h>
#include <stdlib.h>

#define WEEK	7
#define Z		1.96			/* of 95 % bounds */
#define Z_TREND 2.58			/* of a slope that is not 0, 99 % */
#define Z_SURE	3.29			/* and of one that is sure, 99.9 % */
#define BUSY	0.8				/* of the busiest weekday's median */

/* Of each weekday, every pair of weeks. */
#define PAIRS	(WEEK * (WS_FORECAST_DAYS / WEEK) * (WS_FORECAST_DAYS / WEEK - 1) / 2)

#define MAD_SIGMA	1.4826		/* standard deviations in a median deviation */
#define SERIAL_MAX	0.8			/* correlation of neighbours, at most */
#define WEEK_MIN	5			/* known days of a week that has a peak */

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* The value of a rank, from 0, between two by both; values are sorted. */
static double
value_of_rank(const double *values, int n, double rank)
{
	int			below = rank < 0 ? 0 : rank > n - 1 ? n - 1 : (int) rank;
	int			above = below < n - 1 ? below + 1 : below;

	return values[below] + fmin(fmax(rank - below, 0), 1) * (values[above] - values[below]);
}

/* Sorts the values; NaN if there are none. */
static double
median(double *values, int n)
{
	if (n == 0)
		return NAN;
	qsort(values, (size_t) n, sizeof(double), compare);
	return value_of_rank(values, n, (n - 1) / 2.0);
}

/* Slopes between known days of one weekday, from a day to below another. */
static int
slopes_of(const double *peaks, int from, int to, double *slopes)
{
	int			n = 0;

	for (int i = from; i < to; i++)
		for (int j = i + WEEK; j < to && !isnan(peaks[i]); j += WEEK)
			if (!isnan(peaks[j]))
				slopes[n++] = (peaks[j] - peaks[i]) / (j - i);
	return n;
}

/* Variance of Kendall's S, the sum of those of all weekdays. */
static double
variance_of_s(const double *peaks, int n)
{
	double		variance = 0;

	for (int weekday = 0; weekday < WEEK; weekday++)
	{
		double		k = 0;

		for (int i = weekday; i < n; i += WEEK)
			k += !isnan(peaks[i]);
		variance += k * (k - 1) * (2 * k + 5) / 18;
	}
	return variance;
}

/* The median of a weekday without the trend, as of the day n. */
static double
weekday_median(const double *peaks, int n, int weekday, double slope)
{
	double		values[WS_FORECAST_DAYS / WEEK + 1];
	int			k = 0;

	for (int i = weekday; i < n; i += WEEK)
		if (!isnan(peaks[i]))
			values[k++] = peaks[i] + slope * (n - i);
	return median(values, k);
}

/*
 * Copy the weekdays that can have the peak of a week, and leave out quiet ones,
 * which may grow less.  Returns how many weekdays are left.
 */
static int
busy_weekdays(const double *peaks, int n, double *busy)
{
	double		medians[WEEK];
	double		highest = 0;
	int			weekdays = 0;

	for (int w = 0; w < WEEK; w++)
	{
		medians[w] = weekday_median(peaks, n, w, 0);
		highest = fmax(highest, medians[w]);
	}
	for (int i = 0; i < n; i++)
		busy[i] = medians[i % WEEK] >= BUSY * highest ? peaks[i] : NAN;
	for (int w = 0; w < WEEK; w++)
		weekdays += medians[w] >= BUSY * highest;
	return weekdays;
}

/* What is left of each day without the trend and the median of its weekday. */
static void
residuals_of(const double *peaks, int n, double slope, double *residuals)
{
	for (int i = 0; i < n; i++)
		residuals[i] = peaks[i] + slope * (n - i) - weekday_median(peaks, n, i % WEEK, slope);
}

/* By how much S varies more because a day resembles the one before. */
static double
serial_factor(const double *residuals, int n)
{
	double		products = 0;
	double		squares = 0;
	double		r;

	for (int i = 0; i < n; i++)
	{
		if (isnan(residuals[i]))
			continue;
		squares += residuals[i] * residuals[i];
		if (i > 0 && !isnan(residuals[i - 1]))
			products += residuals[i] * residuals[i - 1];
	}
	r = squares > 0 ? fmin(fmax(products / squares, 0), SERIAL_MAX) : 0;
	return (1 + r) / (1 - r);
}

static double
spread_of(const double *residuals, int n, int weekdays)
{
	double		deviations[WS_FORECAST_DAYS];
	int			k = 0;

	for (int i = 0; i < n; i++)
		if (!isnan(residuals[i]))
			deviations[k++] = fabs(residuals[i]);

	/*
	 * The medians of weekdays took some of it away; the error of the level,
	 * which is a median of the weeks that are known, adds to it.
	 */
	return MAD_SIGMA * median(deviations, k) *
		sqrt(k / (double) (k - weekdays) * (1 + M_PI / 2 * weekdays / k));
}

/* The median of the peaks of whole weeks up to now, as of the day "centre". */
static double
level_of(const double *peaks, int n, double slope, double centre)
{
	double		weeks[WS_FORECAST_DAYS / WEEK];
	int			k = 0;

	for (int end = n; end >= WEEK; end -= WEEK)
	{
		double		peak = -INFINITY;
		int			known = 0;

		for (int i = end - WEEK; i < end; i++)
			if (!isnan(peaks[i]))
			{
				peak = fmax(peak, peaks[i] - slope * (i - n - centre));
				known++;
			}
		if (known >= WEEK_MIN)
			weeks[k++] = peak;
	}
	return median(weeks, k);
}

static double
median_slope(const double *peaks, int from, int to)
{
	double		slopes[PAIRS];
	int			n = slopes_of(peaks, from, to, slopes);

	return median(slopes, n);
}

/* Did it grow in both halves, by half of the slope at least? */
static bool
is_steady(const double *peaks, int n, double centre, double slope)
{
	int			middle = n + (int) floor(centre) + 1;

	return slope > 0 && median_slope(peaks, 0, middle) >= slope / 2 &&
		median_slope(peaks, middle, n) >= slope / 2;
}

/* Are all slopes of ranks this close to the median above 0, or all below? */
static bool
differs_from_0(const double *slopes, int pairs, double width)
{
	return width < pairs && value_of_rank(slopes, pairs, (pairs - width) / 2 - 1) *
		value_of_rank(slopes, pairs, (pairs + width) / 2) > 0;
}

/*
 * Set the slope, its bounds, and the spread, from busy weekdays only.  NaN: no
 * busy weekday is known twice.
 */
static void
fit_slope(WsForecast *t, const double *busy, int n, int weekdays)
{
	double		slopes[PAIRS];
	double		residuals[WS_FORECAST_DAYS];
	int			pairs = slopes_of(busy, 0, n, slopes);
	double		sigma;			/* of S */

	t->slope = median(slopes, pairs);
	if (pairs == 0)
		return;
	residuals_of(busy, n, t->slope, residuals);
	t->spread = spread_of(residuals, n, weekdays);
	sigma = sqrt(variance_of_s(busy, n) * serial_factor(residuals, n));
	t->slope_low = value_of_rank(slopes, pairs, (pairs - Z * sigma) / 2 - 1);
	t->slope_high = value_of_rank(slopes, pairs, (pairs + Z * sigma) / 2);
	t->sure = differs_from_0(slopes, pairs, Z_SURE * sigma);
	if (!differs_from_0(slopes, pairs, Z_TREND * sigma))
	{
		t->slope = 0;
		t->slope_low = fmin(t->slope_low, 0);
		t->slope_high = fmax(t->slope_high, 0);
	}
}

WsForecast
ws_forecast(const double *peaks, int n)
{
	WsForecast	t = {0};
	double		busy[WS_FORECAST_DAYS];
	double		sum = 0;
	int			known = 0;
	int			weekdays;

	for (int i = 0; i < n; i++)
		if (!isnan(peaks[i]))
		{
			known++;
			sum += i - n;
		}
	if (known < WS_FORECAST_DAYS_MIN)
		return t;
	weekdays = busy_weekdays(peaks, n, busy);
	fit_slope(&t, busy, n, weekdays);
	if (isnan(t.slope))
		return t;
	t.centre = sum / known;
	t.level = level_of(peaks, n, t.slope, t.centre);
	if (isnan(t.level) || isnan(t.spread))
		return t;
	t.sure = t.sure && is_steady(busy, n, t.centre, t.slope);
	t.known = known;
	return t;
}

double
ws_forecast_size(const WsForecast *t, int day, double *low, double *high)
{
	double		ahead = day - t->centre;
	double		size = t->level + t->slope * ahead;

	*low = *high = NAN;
	if (t->known == 0)
		return NAN;
	*low = fmax(size - hypot(Z * t->spread, (t->slope - t->slope_low) * ahead), 0);
	*high = fmax(size + hypot(Z * t->spread, (t->slope_high - t->slope) * ahead), 0);
	return fmax(size, 0);
}

WsForecastDate
ws_forecast_exceeds(const WsForecast *t, double size)
{
	WsForecastDate date = {-1, -1, false};

	for (int day = 0; day <= WS_FORECAST_DAYS_AHEAD && date.latest < 0; day++)
	{
		double		low;
		double		high;
		double		expected = ws_forecast_size(t, day, &low, &high);

		if (date.expected < 0 && expected > size)
			date.expected = day;
		if (low > size)
			date.latest = day;
	}
	date.near = t->sure && date.latest >= 0 && date.expected > 0 && date.expected <= WS_FORECAST_DAYS_NEAR;
	return date;
}
