/*
 * forecast.h
 *		Where are the peaks of days heading?
 *
 * Only days of the same weekday are compared, so a week's season makes no
 * trend.  The slope is the median of the slopes of all such pairs (the seasonal
 * Kendall slope), which a few strange days do not move.  Its bounds are slopes
 * of ranks around the median, by the variance of Kendall's S; that is larger
 * where a day resembles the one before.  A slope that may be 0, by 99 % bounds,
 * counts as 0.  Weekdays that are less busy than others may grow less, and are
 * left out.
 *
 * What is foretold is the peak of a week.  The level is the median of the peaks
 * of the weeks that were seen, each without its trend.  Bounds are for a peak
 * to come: they cover the errors of slope and level and the spread of days.
 *
 * Growth is taken to go on as a line.  A step, and a season longer than the
 * days that are known, look like growth for a while.  So it is called sure only
 * if 99.9 % bounds have no 0 between them, and if both halves of these days
 * grew.
 *
 * References: Theil 1950, Sen 1968 (slope and bounds); Hirsch, Slack and Smith
 * 1982 (seasons); Yue and Wang 2004 (days that resemble the one before).
 */
#ifndef WS_FORECAST_H
#define WS_FORECAST_H

#include <stdbool.h>

#define WS_FORECAST_DAYS		84	/* that are looked at, at most */
#define WS_FORECAST_DAYS_MIN	21	/* that have to be known */
#define WS_FORECAST_DAYS_AHEAD 365	/* up to which dates are foretold */
#define WS_FORECAST_DAYS_NEAR	30

/* Days are counted from the present one, which is 0.  Sizes are in pages. */
typedef struct WsForecast
{
	int			known;			/* days; 0: too few, and nothing else is set */
	double		centre;			/* day of the level, below 0 */
	double		level;			/* peak of a week */
	double		slope;			/* a day, with 95 % bounds */
	double		slope_low;
	double		slope_high;
	double		spread;			/* standard deviation of a day's peak */
	bool		sure;			/* does it surely grow? */
} WsForecast;

/* Days until something, at most WS_FORECAST_DAYS_AHEAD; -1: not in these. */
typedef struct WsForecastDate
{
	int			expected;
	int			latest;			/* 95 % bound */
	bool		near;			/* is expected near, but to come, with a known
								 * bound, and the growth sure? */
} WsForecastDate;

/*
 * The trend of n days in a row, WS_FORECAST_DAYS at most, the last of which is
 * yesterday.  NaN: the day is not known.
 */
extern WsForecast ws_forecast(const double *peaks, int n);

/*
 * The peak of a week to expect around a day, 0 or more, with 95 % bounds for
 * it.  All are at least 0, and NaN without a trend.
 */
extern double ws_forecast_size(const WsForecast *trend, int day, double *low, double *high);

/*
 * When does the peak of a week exceed a size?  0: it does now.  The bound is
 * -1 if it is not within these.
 */
extern WsForecastDate ws_forecast_exceeds(const WsForecast *trend, double size);

#endif							/* WS_FORECAST_H */
