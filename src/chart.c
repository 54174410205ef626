/*
 * chart.c
 *		Rows, bars, marks and words; see chart.h.
 *
 * The scale.  All bars have to fit, with their bounds.  A mark may widen the
 * scale, so that one sees how far it is from the curve, but only as long as
 * the curve keeps a third of the width: where shared buffers are a hundred
 * times the working set, the shape of the curve is worth more than a column of
 * letters, and the head line says that the mark is off to the right.
 */
#include "chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "heuristic.h"

/* What stands before the bars: mark, window, size, axis. */
#define AXIS			20
#define BARS			(WS_CHART_WIDTH - AXIS - 1)

/* A mark may make the scale so many times as long as the curve needs. */
#define MOST_SQUASHED	3

/* A curve without an upper bound leaves some room to say so. */
#define ROOM_ABOVE		1.1

/* Columns from one label of the scale to the next, at least. */
#define TICK_COLUMNS	12

/* Lines of words below the chart. */
#define WORDS_LINES		3

#define MINUTE			(60 * WS_TICKS_PER_SECOND)

/*
 * ----------------------------------------------------------------
 * Windows
 * ----------------------------------------------------------------
 */

/* windows that are drawn, in seconds, and then an hour */
static const int base_seconds[] = {1, 5, 10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2700};

#define NBASE ((int) (sizeof(base_seconds) / sizeof(base_seconds[0])))

/*
 * The longest window: what is known, as it is labelled, up to an hour.
 */
static uint32_t
longest(uint32_t known)
{
	uint32_t	unit = known <= 2 * MINUTE ? WS_TICKS_PER_SECOND : MINUTE / 10;

	if (known >= WS_CHART_MINUTES * MINUTE)
		return WS_CHART_MINUTES * MINUTE;
	if (known == 0)
		return WS_TICKS_PER_SECOND;
	return (known + unit - 1) / unit * unit;
}

int
ws_chart_windows(uint32_t known, uint32_t *ages)
{
	uint32_t	extra = longest(known);
	int			n = 0;

	/* the short ones and the minutes, with the longest where it belongs */
	for (int i = 0; i < NBASE && base_seconds[i] < 60; i++)
		ages[n++] = (uint32_t) base_seconds[i] * WS_TICKS_PER_SECOND;
	for (uint32_t i = 1; i <= WS_CHART_MINUTES; i++)
		ages[n++] = i * MINUTE;

	for (int i = 0; i < n; i++)
		if (ages[i] >= extra)
		{
			if (ages[i] > extra)
			{
				memmove(&ages[i + 1], &ages[i], (size_t) (n - i) * sizeof(ages[0]));
				ages[i] = extra;
				n++;
			}
			break;
		}
	return n;
}

/* is this one of the windows that are always drawn? */
static bool
is_base(uint32_t age)
{
	for (int i = 0; i < NBASE; i++)
		if (age == (uint32_t) base_seconds[i] * WS_TICKS_PER_SECOND)
			return true;
	return false;
}

void
ws_chart_take(WsChart *chart, uint32_t known, const WsEstimate *estimates,
			  double page_bytes, int min_offset, int window_size, double max_increase)
{
	uint32_t	ages[WS_CHART_WINDOWS];
	int			n = ws_chart_windows(known, ages);
	uint32_t	last = longest(known);
	uint32_t	plateau_age;
	double		series[WS_CHART_MINUTES];
	int			minutes = 0;
	WsPlateau	plateau;

	/* the longest window, if it is not of whole minutes, is none of the series */
	for (int i = 0; i < n; i++)
		if (ages[i] % MINUTE == 0)
			series[minutes++] = estimates[i].pages;
	plateau = ws_plateau(series, minutes, min_offset, window_size, max_increase);
	plateau_age = (uint32_t) plateau.index * MINUTE;
	if (plateau_age > last)
		plateau_age = last;

	chart->stepped = plateau.stepped;
	chart->nrows = 0;
	for (int i = 0; i < n && ages[i] <= last && chart->nrows < WS_CHART_ROWS; i++)
	{
		WsChartRow *row = &chart->rows[chart->nrows];

		if (!is_base(ages[i]) && ages[i] != last && ages[i] != plateau_age)
			continue;
		ws_estimate_bounds(&estimates[i], &row->low, &row->high);
		row->seconds = (double) ages[i] / WS_TICKS_PER_SECOND;
		row->bytes = rint(estimates[i].pages) * page_bytes;
		row->low *= page_bytes;
		row->high *= page_bytes;
		row->plateau = ages[i] == plateau_age;
		chart->nrows++;
	}
}

/*
 * ----------------------------------------------------------------
 * Lines
 * ----------------------------------------------------------------
 */
typedef struct Text
{
	char	   *end;			/* where the next line goes */
	int			lines;			/* that are there */
} Text;

/*
 * Add a line, without blanks at its end.  What is too long is cut; what is not
 * printable ASCII becomes a question mark.
 */
static void
put_line(Text *text, const char *line)
{
	size_t		n = strnlen(line, WS_CHART_WIDTH);

	if (text->lines >= WS_CHART_LINES)
		return;
	while (n > 0 && line[n - 1] == ' ')
		n--;
	if (text->lines++ > 0)
		*text->end++ = '\n';
	for (size_t i = 0; i < n; i++)
		*text->end++ = line[i] >= ' ' && line[i] <= '~' ? line[i] : '?';
	*text->end = '\0';
}

/*
 * Add words on so many lines at most; an ellipsis if that is not all.
 */
static void
put_words(Text *text, const char *words, int lines)
{
	static const char ellipsis[] = " ...";

	for (; lines > 0 && *words != '\0'; lines--)
	{
		char		line[WS_CHART_WIDTH + 1] = "";
		size_t		n = strlen(words);
		size_t		room = WS_CHART_WIDTH - (lines == 1 ? sizeof(ellipsis) - 1 : 0);

		if (n > WS_CHART_WIDTH)
		{
			/* at a blank, if there is one */
			for (n = room; n > 0 && words[n] != ' '; n--)
				;
			if (n == 0)
				n = room;
		}
		memcpy(line, words, n);
		words += n;
		words += strspn(words, " ");
		if (lines == 1 && *words != '\0')
			memcpy(line + n, ellipsis, sizeof(ellipsis));
		put_line(text, line);
	}
}

static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB"};

#define NUNITS ((int) (sizeof(unit) / sizeof(unit[0])))

/*
 * A size as the server's pg_size_pretty() says it, but from kB on.
 */
static void
format_size(double bytes, char *buf, size_t size)
{
	double		halves = floor(fmin(bytes, 0x1p63) / 512);
	int			u = 0;

	/* in halves of a unit, to be rounded at last */
	while (halves >= 2 * 10240 - 1 && u < NUNITS - 1)
	{
		halves = floor(halves / 1024);
		u++;
	}
	snprintf(buf, size, "%.0f %s", floor((halves + 1) / 2), unit[u]);
}

static void
format_window(double seconds, char *buf, size_t size)
{
	if (seconds != 60 && seconds < 120)
		snprintf(buf, size, "%.0f s", seconds);
	else
		snprintf(buf, size, "%.*f min", fmod(seconds, 60) == 0 ? 0 : 1, seconds / 60);
}

/*
 * ----------------------------------------------------------------
 * The scale, and what is drawn to it
 * ----------------------------------------------------------------
 */
typedef struct Scale
{
	double		edge;			/* bytes at the right edge */
	int			shared_buffers; /* columns of the marks, from 1; the axis is 0, */
	int			recommended;	/* and -1: not there */
} Scale;

static int
column(const Scale *s, double bytes)
{
	if (bytes <= 0)
		return 0;
	/* what is there is seen, however small */
	return (int) fmin(fmax(rint(bytes / s->edge * BARS), 1), BARS);
}

static int
mark_column(const Scale *s, double bytes)
{
	return isnan(bytes) || bytes > s->edge ? -1 : column(s, bytes);
}

static Scale
choose_scale(const WsChart *c)
{
	Scale		s = {0};
	double		curve = 0;

	for (int i = 0; i < c->nrows; i++)
		curve = fmax(curve, isinf(c->rows[i].high) ? ROOM_ABOVE * c->rows[i].bytes : c->rows[i].high);
	s.edge = curve;
	if (curve == 0 || c->shared_buffers <= MOST_SQUASHED * curve)
		s.edge = fmax(s.edge, c->shared_buffers);
	if (!isnan(c->recommended) && (curve == 0 || c->recommended <= MOST_SQUASHED * curve))
		s.edge = fmax(s.edge, c->recommended);
	if (s.edge <= 0)
		s.edge = 1;
	s.shared_buffers = mark_column(&s, c->shared_buffers);
	s.recommended = mark_column(&s, c->recommended);
	return s;
}

/*
 * Does a row show its bounds?  Not if both are within a column.
 */
static bool
shows_bounds(const Scale *s, const WsChartRow *row)
{
	return !isinf(row->high) && column(s, row->high) - column(s, row->low) > 1;
}

/* line begins at the axis: its column 0 */
static void
put_marks(const Scale *s, char *line)
{
	if (s->shared_buffers >= 0)
		line[s->shared_buffers] = 'b';
	if (s->recommended >= 0)
		line[s->recommended] = s->recommended == s->shared_buffers ? '*' : 'r';
}

static void
put_bar(const Scale *s, const WsChartRow *row, char *line)
{
	int			low = column(s, row->low);
	int			high = column(s, row->high);

	if (isinf(row->high))
	{
		memset(line + 1, '=', BARS - 1);
		memset(line + 1, '#', (size_t) low);
		line[BARS] = '>';
	}
	else if (shows_bounds(s, row))
	{
		memset(line + 1, '=', (size_t) high - 1);
		memset(line + 1, '#', (size_t) low);
		line[high] = '|';
	}
	else
		memset(line + 1, '#', (size_t) column(s, row->bytes));
}

static void
draw_row(Text *text, const Scale *s, const WsChartRow *row)
{
	char		line[WS_CHART_WIDTH + 1];
	char		window[16];
	char		size[32];

	format_window(row->seconds, window, sizeof(window));
	format_size(row->bytes, size, sizeof(size));
	memset(line, ' ', WS_CHART_WIDTH);
	line[WS_CHART_WIDTH] = '\0';
	put_marks(s, line + AXIS);
	put_bar(s, row, line + AXIS);
	line[AXIS] = '|';
	/* the blank behind it takes the place of the terminating null */
	snprintf(line, AXIS, "%c %8.8s %8.8s", row->plateau ? 'p' : ' ', window, size);
	line[strlen(line)] = ' ';
	put_line(text, line);
}

/*
 * The distance of the scale's labels: a round number of a unit.  Returns the
 * number.
 */
static int
choose_step(const Scale *s, double *bytes, const char **name)
{
	static const int round[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};

	*bytes = 1024;
	for (int u = 0; u < NUNITS; u++, *bytes *= 1024)
		for (int i = 0; i < 9; i++)
			if (round[i] * *bytes / s->edge * BARS >= TICK_COLUMNS)
			{
				*bytes *= round[i];
				*name = unit[u];
				return round[i];
			}
	/* none but the 0 */
	*bytes = 2 * s->edge;
	*name = "";
	return 0;
}

static void
draw_scale(Text *text, const Scale *s)
{
	char		line[WS_CHART_WIDTH + 1];
	char		labels[WS_CHART_WIDTH + 1];
	double		step;
	const char *name;
	int			number = choose_step(s, &step, &name);

	memset(line, ' ', AXIS);
	memset(line + AXIS, '-', BARS + 1);
	memset(labels, ' ', WS_CHART_WIDTH);
	line[WS_CHART_WIDTH] = labels[WS_CHART_WIDTH] = '\0';

	for (int i = 0; i == 0 || i * step <= s->edge; i++)
	{
		char		label[32] = "0";
		int			at = AXIS + column(s, i * step);
		int			from;

		if (i > 0)
			snprintf(label, sizeof(label), "%d %s", i * number, name);
		from = at - (int) strlen(label) / 2;
		if (from > WS_CHART_WIDTH - (int) strlen(label))
			from = WS_CHART_WIDTH - (int) strlen(label);
		memcpy(labels + from, label, strlen(label));
		line[at] = '+';
	}
	put_marks(s, line + AXIS);
	put_line(text, line);
	put_line(text, labels);
}

/*
 * ----------------------------------------------------------------
 * Words
 * ----------------------------------------------------------------
 */
static void
put_heads(Text *text, const WsChart *c, const Scale *s)
{
	char		line[256];
	char		size[32];
	bool		bounds = false;
	bool		full = false;
	bool		both = s->recommended >= 0 && s->recommended == s->shared_buffers;
	int			n;

	put_line(text, "Working set: size of the distinct pages that clients used in the last ...");

	format_size(c->shared_buffers, size, sizeof(size));
	n = snprintf(line, sizeof(line), "b shared_buffers %s%s   r recommended now", size,
				 s->shared_buffers < 0 ? " (off right)" : "");
	if (isnan(c->recommended))
		snprintf(line + n, sizeof(line) - n, ": not known");
	else
	{
		format_size(c->recommended, size, sizeof(size));
		snprintf(line + n, sizeof(line) - n, " %s%s", size,
				 s->recommended < 0 ? " (off right)" : both ? "   * both" : "");
	}
	put_line(text, line);

	for (int i = 0; i < c->nrows; i++)
	{
		bounds |= shows_bounds(s, &c->rows[i]);
		full |= isinf(c->rows[i].high);
	}
	snprintf(line, sizeof(line), "%10s %8s %s%s%s%s", "last", "size",
			 bounds ? "=| 95 % bounds  " : "",
			 full ? "=> no upper bound  " : "",
			 bounds || full ? "" : "95 % bounds: within a column  ",
			 c->stepped ? "p end of the plateau" : "p plateau: no end seen");
	put_line(text, line);
}

static void
put_verdict(Text *text, const WsChart *c)
{
	char		line[256];

	if (strcmp(c->verdict, "keep") == 0)
	{
		if (c->suggested)
			snprintf(line, sizeof(line), "Verdict: keep shared_buffers as it is. Suggested for the busiest time: %s",
					 c->suggested);
		else
			snprintf(line, sizeof(line), "Verdict: keep shared_buffers as it is");
	}
	else if (c->suggested)
		snprintf(line, sizeof(line), "Verdict: %s. ALTER SYSTEM SET shared_buffers = '%s'", c->verdict,
				 c->suggested);
	else
		snprintf(line, sizeof(line), "Verdict: %s. To what size is not known, since the memory limit is not",
				 c->verdict);
	put_line(text, line);
	if (c->status)
		return;

	if (c->suggested && strcmp(c->verdict, "exceeds memory") == 0)
		put_line(text, "Not all that the busiest time needs fits; this is the best. r is for now.");
	else if (c->suggested && strcmp(c->verdict, "keep") != 0)
		put_line(text, "That is for the busiest time (it takes a restart); r is for now.");
	put_line(text, "Why: SELECT reason FROM working_set_recommendation");
}

static void
put_status(Text *text, const WsChart *c, int lines)
{
	char		words[1024];

	snprintf(words, sizeof(words), "Status: %s: %s", c->status, c->reason ? c->reason : "");
	put_words(text, words, lines);
}

void
ws_chart_draw(const WsChart *c, char *buf)
{
	Text		text = {buf, 0};

	buf[0] = '\0';
	if (c->nrows > 0)
	{
		Scale		s = choose_scale(c);

		put_heads(&text, c, &s);
		for (int i = 0; i < c->nrows; i++)
			draw_row(&text, &s, &c->rows[i]);
		draw_scale(&text, &s);
	}
	if (c->verdict)
		put_verdict(&text, c);
	if (c->status)
		put_status(&text, c, c->verdict ? WORDS_LINES - 1 : WORDS_LINES);
}
