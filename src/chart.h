/*
 * chart.h
 *		The curve as text, for a terminal of 80 columns.
 *
 * What a person wants to see at once: how the size grows with the time that
 * one looks back, where that levels off, and on which side of it are
 * shared_buffers and what is recommended.  So windows go down the page,
 * closer together where they are short, sizes go to the right, and the two
 * settings run down the page as columns of letters wherever no bar covers
 * them.  Whatever sign is drawn is explained above.
 *
 * Lines are of printable ASCII, so that they are the same in any client
 * encoding, and of at most 78 columns: psql puts a blank before and a sign of
 * continuation behind each line of a value.
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_CHART_H
#define WS_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "curve.h"

/* Columns of a line, lines, and bytes of a whole chart with its final null. */
#define WS_CHART_WIDTH		78
#define WS_CHART_LINES		22
#define WS_CHART_SIZE		(WS_CHART_LINES * (WS_CHART_WIDTH + 1) + 1)

/* Windows that are drawn, and windows that have to be known to draw them. */
#define WS_CHART_ROWS		14
#define WS_CHART_WINDOWS	65

/* The minutes that the plateau's end is looked for in. */
#define WS_CHART_MINUTES	60

typedef struct WsChartRow
{
	double		seconds;		/* length of the window */
	double		bytes;			/* size of its working set */
	double		low;			/* 95 % bounds, in bytes */
	double		high;			/* INFINITY: none, the sketch is full */
	bool		plateau;		/* does the plateau end here? */
} WsChartRow;

typedef struct WsChart
{
	int			nrows;			/* 0: only the status is to be told */
	WsChartRow	rows[WS_CHART_ROWS];	/* from the shortest to the longest */
	bool		stepped;		/* is there more beyond the plateau? */
	double		shared_buffers; /* bytes */
	double		recommended;	/* bytes, for now; NaN: not known */
	const char *verdict;		/* NULL: none */
	const char *suggested;		/* shared_buffers, as a setting; NULL: not known */
	const char *status;			/* NULL: nothing to be told of */
	const char *reason;			/* of the status */
} WsChart;

/*
 * The windows that the chart needs to know, in ticks, strictly ascending, when
 * so many ticks are known.  ages has room for WS_CHART_WINDOWS; returns how
 * many they are.
 *
 * A window that is longer than what is known is as large as what is known,
 * which says nothing about the workload.  So what is known is the longest
 * window that is drawn, if it is less than an hour; rounded up, to the next
 * second or tenth of a minute, so that its label is the whole truth.
 */
extern int	ws_chart_windows(uint32_t known, uint32_t *ages);

/*
 * Choose the rows from the estimates of these windows, in pages of so many
 * bytes, and find the end of the plateau by ws_plateau() with the settings
 * given.  The row at its end is one of the rows.
 */
extern void ws_chart_take(WsChart *chart, uint32_t known, const WsEstimate *estimates,
						  double page_bytes, int min_offset, int window_size,
						  double max_increase);

/*
 * Draw it into WS_CHART_SIZE bytes; always terminated, without a newline at
 * the end.  Sizes must not be negative; low <= bytes <= high.
 */
extern void ws_chart_draw(const WsChart *chart, char *buf);

#endif							/* WS_CHART_H */
