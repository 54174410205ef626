/*
 * chart.h
 *		The curve, and reads from disk against memory, as text for a terminal of
 *		80 columns.
 *
 * The chart of the curve shows how the size grows with the window, where it
 * levels off, and on which side of it shared_buffers and the recommendation
 * are.  Windows go down the page, closer together where they are short.  Sizes
 * go to the right.  The two settings run down the page as columns of letters,
 * over the bars.
 *
 * The chart of memory has a row for each size of memory and its shared_buffers,
 * with a bar of the predicted reads from disk.  Bars are logarithmic, because
 * reads fall steeply: a bar shows how many digits, the number how many reads.
 * The last words are what to conclude.
 *
 * Lines are of printable ASCII, so that they are the same in any client
 * encoding, and at most 78 columns wide: psql puts a blank before and a sign
 * of continuation behind each line of a value.
 */
#ifndef WS_CHART_H
#define WS_CHART_H

#include "heuristic.h"

/* Columns of a line, lines, and bytes of a whole chart with its final null. */
#define WS_CHART_WIDTH		78
#define WS_CHART_LINES		22
#define WS_CHART_SIZE		(WS_CHART_LINES * (WS_CHART_WIDTH + 1) + 1)

/* The most windows that are drawn, and that are estimated for that. */
#define WS_CHART_ROWS		14
#define WS_CHART_WINDOWS	(4 + WS_CURVE_WINDOWS + 1)

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
	int			nrows;			/* 0: show only the status */
	WsChartRow	rows[WS_CHART_ROWS];	/* from the shortest to the longest */
	bool		stepped;		/* is there more beyond the plateau? */
	double		shared_buffers; /* bytes */
	double		recommended;	/* bytes, for now; NaN: not known */
	const char *verdict;		/* NULL: none */
	const char *suggested;		/* as a setting; NULL: not known */
	const char *status;			/* NULL: ok */
	const char *reason;			/* of the status */
} WsChart;

/*
 * Find the windows to estimate, in ticks, strictly ascending, when the data are
 * so many ticks old.  ages has WS_CHART_WINDOWS places; returns how many are
 * used.  The longest that is drawn is as long as the data, at most an hour,
 * rounded up to a second or a tenth of a minute for its label.
 */
extern int	ws_chart_windows(uint32_t known, uint32_t *ages);

/*
 * Choose the rows from the estimates of these windows.  The end of the plateau,
 * by ws_plateau(), has a row.
 */
extern void ws_chart_take(WsChart *chart, uint32_t known, const WsEstimate *estimates,
						  double page_bytes, int min_offset, int window_size,
						  double max_increase);

/*
 * Draw it into WS_CHART_SIZE bytes, without a newline at the end.  Sizes must
 * not be negative; low <= bytes <= high.
 */
extern void ws_chart_draw(const WsChart *chart, char *buf);

/* The most rows of a chart of memory. */
#define WS_MEMORY_CHART_ROWS	13

typedef struct WsMemoryChartRow
{
	double		memory;			/* bytes */
	double		buffers;		/* of them for shared buffers; 0: not known */
	double		reads;			/* a second from disk; NaN: not known */
	const char *note;			/* why not to rely on it; NULL: reliable */
	double		error;			/* a second: another division of the memory
								 * has to differ by more than both errors */
} WsMemoryChartRow;

typedef struct WsMemoryChart
{
	int			nrows;			/* at least 1 */
	WsMemoryChartRow rows[WS_MEMORY_CHART_ROWS];	/* by memory, ascending */
	int			present;		/* the row of what there is now, */
	int			best;			/* of the best division of that memory, */
	int			suggested;		/* and of the suggested one; -1: none */
	const char *remark;			/* a last sentence; NULL: none */
} WsMemoryChart;

/*
 * Draw it into WS_CHART_SIZE bytes, without a newline at the end.  If no reads
 * are known there is only a line with the note of the best division.
 */
extern void ws_memory_chart_draw(const WsMemoryChart *chart, char *buf);

#endif							/* WS_CHART_H */
