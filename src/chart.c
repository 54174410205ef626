/*
 * chart.c
 *		Rows, bars, marks and words; see chart.h.
 *
 * The scale.  All bars fit, with their bounds.  A mark may widen the scale, but
 * only while the curve keeps a third of the width: the shape of the curve
 * matters more.  The head line shows that a mark is off to the right.
 */
#include "chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Columns before the bars: mark, window, size, axis. */
#define AXIS			20
#define BARS			(WS_CHART_WIDTH - AXIS - 1)

#define MOST_SQUASHED	3		/* of the scale: a multiple of the curve */
#define ROOM_ABOVE		1.1		/* the scale, if the curve has no bound */
#define TICK_COLUMNS	12		/* between labels of the scale, at least */
#define WORDS_LINES		3		/* below the chart */
#define ELLIPSIS		" ..."
#define MOST_BYTES		0x1p63	/* larger sizes are shown as this one */

#define MINUTE			(60 * WS_TICKS_PER_SECOND)
/* Columns before the bars of reads: mark, two sizes, reads, axis. */
#define READS_AXIS		36
#define READS_BARS		(WS_CHART_WIDTH - READS_AXIS - 1)

#define MOST_READS		9999999 /* more are shown as so many */
#define LESS			0.1		/* part of the reads: fewer are the same */
#define NEARLY_ALL		0.9		/* of what more memory saves is enough */

#define LENGTH(array)	((int) (sizeof(array) / sizeof((array)[0])))

static const char *const unit[] = {"kB", "MB", "GB", "TB", "PB"};

/* windows that are drawn, in seconds, beside the longest */
static const uint32_t base_seconds[] = {1, 5, 10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2700};
#define BELOW_A_MINUTE	4

/* the longest window that is drawn */
static uint32_t
longest(uint32_t known)
{
	uint32_t	step = known <= 2 * MINUTE ? WS_TICKS_PER_SECOND : MINUTE / 10;

	if (known >= WS_CURVE_WINDOWS * MINUTE)
		return WS_CURVE_WINDOWS * MINUTE;
	return known == 0 ? step : (known + step - 1) / step * step;
}

int
ws_chart_windows(uint32_t known, uint32_t *ages)
{
	uint32_t	last = longest(known);
	uint32_t	before = 0;
	int			n = 0;

	for (int i = 0; i < BELOW_A_MINUTE + WS_CURVE_WINDOWS; i++)
	{
		uint32_t	age = i < BELOW_A_MINUTE ? base_seconds[i] * WS_TICKS_PER_SECOND :
			(uint32_t) (i - BELOW_A_MINUTE + 1) * MINUTE;

		if (before < last && last < age)
			ages[n++] = last;
		ages[n++] = before = age;
	}
	return n;
}

void
ws_chart_take(WsChart *chart, uint32_t known, const WsEstimate *estimates,
			  double page_bytes, int min_offset, int window_size, double max_increase)
{
	uint32_t	ages[WS_CHART_WINDOWS];
	int			n = ws_chart_windows(known, ages);
	uint32_t	last = longest(known);
	uint32_t	plateau_age;
	double		series[WS_CURVE_WINDOWS] = {0};
	int			minutes = 0;
	WsPlateau	plateau;

	/* the series has whole minutes only */
	for (int i = 0; i < n; i++)
		if (ages[i] % MINUTE == 0)
			series[minutes++] = estimates[i].pages;
	plateau = ws_plateau(series, minutes, min_offset, window_size, max_increase);
	plateau_age = (uint32_t) plateau.index * MINUTE;
	if (plateau_age > last)
		plateau_age = last;

	chart->stepped = plateau.stepped;
	chart->nrows = 0;
	for (int i = 0; i < n && ages[i] <= last; i++)
	{
		WsChartRow *row = &chart->rows[chart->nrows];
		bool		drawn = ages[i] == last || ages[i] == plateau_age;

		for (int j = 0; j < LENGTH(base_seconds); j++)
			drawn |= ages[i] == base_seconds[j] * WS_TICKS_PER_SECOND;
		if (!drawn)
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

typedef struct Text
{
	char	   *end;			/* where the next line goes */
	int			lines;
} Text;

/* Add a line, cut to the width, in ASCII and without blanks at its end. */
static void
__attribute__((format(printf, 2, 3)))
put_line(Text *text, const char *format, ...)
{
	char		line[WS_CHART_WIDTH + 1];
	va_list		args;

	if (text->lines >= WS_CHART_LINES)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (text->lines++ > 0)
		*text->end++ = '\n';
	for (const char *from = line; *from != '\0'; from++)
		*text->end++ = *from >= ' ' && *from <= '~' ? *from : '?';
	while (text->end[-1] == ' ')
		text->end--;
	*text->end = '\0';
}

/* Add words on so many lines at most, with an ellipsis if they do not fit. */
static void
put_words(Text *text, const char *words, int lines)
{
	for (; lines > 0 && *words != '\0'; lines--)
	{
		bool		cut = lines == 1 && strlen(words) > WS_CHART_WIDTH;
		size_t		most = WS_CHART_WIDTH - (cut ? strlen(ELLIPSIS) : 0);
		size_t		n = strlen(words);

		/* break at a blank, if there is one */
		if (n > most)
			for (n = most; n > 0 && words[n] != ' '; n--)
				;
		if (n == 0)
			n = most;
		put_line(text, "%.*s%s", (int) n, words, cut ? ELLIPSIS : "");
		words += n;
		words += strspn(words, " ");
	}
}

/* A size as pg_size_pretty() writes it, but in kB at least. */
static const char *
format_size(double bytes, char *buf, size_t size)
{
	double		halves = floor(fmin(bytes, MOST_BYTES) / 512);
	int			u;

	/* count halves of a unit, and round them at the end */
	for (u = 0; halves >= 2 * 10240 - 1 && u < LENGTH(unit) - 1; u++)
		halves = floor(halves / 1024);
	snprintf(buf, size, "%.0f %s", floor((halves + 1) / 2), unit[u]);
	return buf;
}

static const char *
format_window(double seconds, char *buf, size_t size)
{
	if (seconds != 60 && seconds < 120)
		snprintf(buf, size, "%.0f s", seconds);
	else
		snprintf(buf, size, "%.*f min", fmod(seconds, 60) == 0 ? 0 : 1, seconds / 60);
	return buf;
}

/* The marks are columns: 0 is the axis, -1 off the chart or not known. */
typedef struct Scale
{
	double		edge;			/* bytes at the right edge */
	int			shared_buffers;
	int			recommended;
} Scale;

/* At least 1, so that any size above 0 is seen. */
static int
column(const Scale *s, double bytes)
{
	return bytes <= 0 ? 0 : (int) fmin(fmax(rint(bytes / s->edge * BARS), 1), BARS);
}

static Scale
choose_scale(const WsChart *c)
{
	Scale		s = {0};
	double		marks[] = {c->shared_buffers, c->recommended};
	double		curve = 0;

	for (int i = 0; i < c->nrows; i++)
		curve = fmax(curve, isinf(c->rows[i].high) ? ROOM_ABOVE * c->rows[i].bytes : c->rows[i].high);
	s.edge = curve;
	/* a NaN is ignored */
	for (int i = 0; i < LENGTH(marks); i++)
		if (curve == 0 || marks[i] <= MOST_SQUASHED * curve)
			s.edge = fmax(s.edge, marks[i]);
	s.edge = fmin(s.edge, MOST_BYTES);
	s.shared_buffers = c->shared_buffers <= s.edge ? column(&s, c->shared_buffers) : -1;
	s.recommended = c->recommended <= s.edge ? column(&s, c->recommended) : -1;
	return s;
}

/* Bounds are shown if they are more than a column apart, or one is missing. */
static bool
shows_bounds(const Scale *s, const WsChartRow *row)
{
	return isinf(row->high) || column(s, row->high) - column(s, row->low) > 1;
}

/*
 * Draw the marks, over whatever is there, so that a long bar does not hide
 * them.  line begins at the axis: its column 0.
 */
static void
draw_marks(const Scale *s, char *line)
{
	if (s->shared_buffers >= 0)
		line[s->shared_buffers] = 'b';
	if (s->recommended >= 0)
		line[s->recommended] = s->recommended == s->shared_buffers ? '*' : 'r';
}

static void
draw_row(Text *text, const Scale *s, const WsChartRow *row)
{
	bool		bounds = shows_bounds(s, row);
	int			sure = column(s, bounds ? row->low : row->bytes);
	int			end = bounds ? column(s, row->high) : 0;
	char		bars[BARS + 2];
	char		window[16];
	char		size[32];

	snprintf(bars, sizeof(bars), "%*s", BARS + 1, "");
	memset(bars + 1, '=', (size_t) end);
	memset(bars + 1, '#', (size_t) sure);
	bars[end] = isinf(row->high) ? '>' : '|';
	draw_marks(s, bars);
	bars[0] = '|';
	put_line(text, "%c %8.8s %8.8s %s", row->plateau ? 'p' : ' ',
			 format_window(row->seconds, window, sizeof(window)),
			 format_size(row->bytes, size, sizeof(size)), bars);
}

static void
draw_scale(Text *text, const Scale *s)
{
	static const int round[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
	char		line[BARS + 2];
	char		labels[WS_CHART_WIDTH + 1];
	double		step = 0;		/* between labels, in bytes */
	int			number = 0;		/* the same in the unit u */
	int			u = 0;

	for (int i = 0; i == 0 || (i < LENGTH(unit) * LENGTH(round) && step * BARS < TICK_COLUMNS * s->edge); i++)
	{
		u = i / LENGTH(round);
		number = round[i % LENGTH(round)];
		step = ldexp(number, 10 * (u + 1));
	}

	snprintf(labels, sizeof(labels), "%*s", WS_CHART_WIDTH, "");
	memset(line, '-', BARS + 1);
	line[BARS + 1] = '\0';
	for (int i = 0; i == 0 || i * step <= s->edge; i++)
	{
		char		label[32];
		int			at = column(s, i * step);
		int			n = snprintf(label, sizeof(label), i > 0 ? "%d %s" : "0", i * number, unit[u]);
		int			from = AXIS + at - n / 2;

		if (from > WS_CHART_WIDTH - n)
			from = WS_CHART_WIDTH - n;
		memcpy(labels + from, label, (size_t) n);
		line[at] = '+';
	}
	draw_marks(s, line);
	put_line(text, "%*s%s", AXIS, "", line);
	put_line(text, "%s", labels);
}

static void
put_heads(Text *text, const WsChart *c, const Scale *s)
{
	static const char *const off = " (off right)";
	char		size[32];
	char		recommended[64] = ": not known";
	bool		bounds = false;
	bool		full = false;

	if (!isnan(c->recommended))
		snprintf(recommended, sizeof(recommended), " %s%s", format_size(c->recommended, size, sizeof(size)),
				 s->recommended < 0 ? off : s->recommended == s->shared_buffers ? "   * both" : "");
	for (int i = 0; i < c->nrows; i++)
	{
		full |= isinf(c->rows[i].high);
		bounds |= !isinf(c->rows[i].high) && shows_bounds(s, &c->rows[i]);
	}
	put_line(text, "Working set: size of the distinct pages that clients used in the last ...");
	put_line(text, "b shared_buffers %s%s   r recommended now%s", format_size(c->shared_buffers, size, sizeof(size)),
			 s->shared_buffers < 0 ? off : "", recommended);
	put_line(text, "%10s %8s %s%s%s%s", "last", "size",
			 bounds ? "=| 95 % bounds  " : "",
			 full ? "=> no upper bound  " : "",
			 bounds || full ? "" : "95 % bounds: too narrow to show  ",
			 c->stepped ? "p end of the plateau" : "p plateau has not ended");
}

static void
put_verdict(Text *text, const WsChart *c)
{
	bool		keep = strcmp(c->verdict, "keep") == 0;

	if (keep)
		put_line(text, "Verdict: keep shared_buffers%s%s",
				 c->suggested ? ". Suggested for the busiest time: " : "", c->suggested ? c->suggested : "");
	else if (!c->suggested)
		put_line(text, "Verdict: %s. To what size is not known: the memory limit is not", c->verdict);
	else
		put_line(text, "Verdict: %s. ALTER SYSTEM SET shared_buffers = '%s'", c->verdict, c->suggested);
	if (c->status)
		return;
	if (c->suggested && !keep)
		put_line(text, strcmp(c->verdict, "exceeds memory") == 0 ?
				 "Not all that the busiest time needs fits; this is the best. r is for now." :
				 "Suggested for the busiest time; it needs a restart. r: enough for now.");
	put_line(text, "Why: SELECT reason FROM working_set_recommendation");
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
	{
		char		words[1024];

		snprintf(words, sizeof(words), "Status: %s: %s", c->status, c->reason ? c->reason : "");
		put_words(&text, words, c->verdict ? WORDS_LINES - 1 : WORDS_LINES);
	}
}

/* Reads as they are shown; NaN: not known. */
static double
whole_reads(const WsMemoryChartRow *row)
{
	return row->reads > MOST_READS ? MOST_READS : rint(row->reads);
}

/* Bars begin at a power of ten, and the longest fills the width. */
typedef struct ReadsScale
{
	double		low;			/* INFINITY: there are no bars */
	double		high;
} ReadsScale;

static ReadsScale
choose_reads_scale(const WsMemoryChart *c)
{
	ReadsScale	s = {INFINITY, 0};

	for (int i = 0; i < c->nrows; i++)
		if (whole_reads(&c->rows[i]) >= 1)
		{
			s.low = fmin(s.low, whole_reads(&c->rows[i]));
			s.high = fmax(s.high, whole_reads(&c->rows[i]));
		}
	if (!isinf(s.low))
	{
		s.low = pow(10, floor(log10(s.low)));
		s.high = fmax(s.high, 10 * s.low);
	}
	return s;
}

/* At least 1, so that any reads are seen; nothing for NaN. */
static int
reads_column(const ReadsScale *s, double reads)
{
	if (!(reads >= 1))
		return 0;
	return 1 + (int) rint((READS_BARS - 1) * log(reads / s->low) / log(s->high / s->low));
}

static void
draw_memory(Text *text, const WsMemoryChart *c, const ReadsScale *s, int i)
{
	const WsMemoryChartRow *row = &c->rows[i];
	double		reads = whole_reads(row);
	const char *mark = "";
	char		memory[32];
	char		buffers[32] = "";
	char		number[32] = "";
	char		bar[READS_BARS + 1] = "";

	if (i == c->present)
		mark = c->suggested == i ? "now, keep" : "now";
	else if (i == c->suggested)
		mark = "suggested";
	if (row->buffers > 0)
		format_size(row->buffers, buffers, sizeof(buffers));
	if (!isnan(reads))
		snprintf(number, sizeof(number), "%.0f", reads);
	memset(bar, '#', (size_t) reads_column(s, reads));
	put_line(text, "%-9s %8.8s %8.8s %7s%c|%s", mark,
			 format_size(row->memory, memory, sizeof(memory)), buffers, number,
			 row->note ? '?' : ' ', bar);
}

/* May the errors explain how much these two differ? */
static bool
reads_same(const WsMemoryChartRow *a, const WsMemoryChartRow *b)
{
	return fabs(a->reads - b->reads) < fmax(fmax(a->error, b->error), 1);
}

/* Does a division read less, as far as is known? */
static bool
reads_less(const WsMemoryChartRow *row, const WsMemoryChartRow *than)
{
	return row->note == NULL && row->reads <= (1 - LESS) * than->reads && !reads_same(row, than);
}

static bool
reads_more(const WsMemoryChartRow *row, const WsMemoryChartRow *than)
{
	return row->note == NULL && row->reads >= (1 + LESS) * than->reads && !reads_same(row, than);
}

/* Add a sentence: "12 GB of memory would read 90 % less". */
static void
add_change(char *words, size_t size, double bytes, const char *what, double reads, double than)
{
	size_t		n = strlen(words);
	char		pretty[32];
	char		change[64] = "nothing";

	if (rint(reads) >= 1 && reads < than)
		snprintf(change, sizeof(change), "%.0f %% less", fmin(rint(100 * (1 - reads / than)), 99));
	else if (rint(reads) >= 1 && rint(than) >= 1)
		snprintf(change, sizeof(change), "%.0f %% more", fmin(rint(100 * (reads / than - 1)), MOST_READS));
	else if (rint(reads) >= 1)
		snprintf(change, sizeof(change), "%.0f a second", fmin(reads, MOST_READS));
	snprintf(words + n, size - n, "%s of %s would read %s. ",
			 format_size(bytes, pretty, sizeof(pretty)), what, change);
}

/*
 * Add what more memory saves; or what less memory is enough.  It is compared
 * with the present memory as it is, or in the best division if that reads less.
 */
static void
conclude_memory(const WsMemoryChart *c, const WsMemoryChartRow *here, double now, char *words, size_t size)
{
	const WsMemoryChartRow *least = NULL;
	const WsMemoryChartRow *enough = NULL;
	char		pretty[32];
	size_t		n = strlen(words);

	for (int i = 0; i < c->nrows; i++)
		if (c->rows[i].memory > here->memory && c->rows[i].note == NULL &&
			(least == NULL || c->rows[i].reads < least->reads))
			least = &c->rows[i];
	if (least == NULL)
	{
		snprintf(words + n, size - n, "What more memory would read is not known.");
		return;
	}
	if (reads_less(least, here))
	{
		for (int i = 0; enough == NULL; i++)
			if (c->rows[i].memory > here->memory && c->rows[i].note == NULL &&
				c->rows[i].reads <= here->reads - NEARLY_ALL * (here->reads - least->reads))
				enough = &c->rows[i];
		add_change(words, size, enough->memory, "memory", enough->reads, now);
		return;
	}
	n += (size_t) snprintf(words + n, size - n, "More memory would not read less.");
	/* from the largest one below on, until there is one that does not do */
	for (int i = c->nrows - 1; i >= 0; i--)
		if (c->rows[i].memory < here->memory)
		{
			if (c->rows[i].note || c->rows[i].reads > here->reads + fmax(LESS * here->reads, 1))
				break;
			enough = &c->rows[i];
		}
	if (enough)
		snprintf(words + n, size - n, " %s of memory would read hardly more.",
				 format_size(enough->memory, pretty, sizeof(pretty)));
}

/* Add what other shared buffers would change, with the memory that there is. */
static void
conclude_division(const WsMemoryChart *c, const WsMemoryChartRow *now, char *words, size_t size)
{
	const WsMemoryChartRow *best = &c->rows[c->best];
	const WsMemoryChartRow *suggested = c->suggested < 0 ? best : &c->rows[c->suggested];

	if (reads_less(suggested, now) || reads_more(suggested, now))
		add_change(words, size, suggested->buffers, "shared_buffers", suggested->reads, now->reads);
	if (!reads_less(suggested, now) && reads_less(best, now))
		add_change(words, size, best->buffers, "shared_buffers", best->reads, now->reads);
}

static void
put_conclusion(Text *text, const WsMemoryChart *c)
{
	const WsMemoryChartRow *now = &c->rows[c->present];
	const WsMemoryChartRow *best = &c->rows[c->best];
	char		words[512] = "";

	if (now->note && best->note)
	{
		snprintf(words, sizeof(words), "Do not rely on this: %s", best->note);
		put_words(text, words, WORDS_LINES);
		return;
	}
	if (now->note)
		now = best;
	else
		conclude_division(c, now, words, sizeof(words));
	conclude_memory(c, best->note || now->reads < best->reads ? now : best, now->reads, words, sizeof(words));
	put_words(text, words, WORDS_LINES);
	if (c->remark)
		put_words(text, c->remark, WORDS_LINES);
}

void
ws_memory_chart_draw(const WsMemoryChart *c, char *buf)
{
	Text		text = {buf, 0};
	ReadsScale	s = choose_reads_scale(c);
	bool		known = false;
	bool		noted = false;
	char		scale[64] = "";

	buf[0] = '\0';
	for (int i = 0; i < c->nrows; i++)
	{
		known |= !isnan(c->rows[i].reads);
		noted |= c->rows[i].note != NULL;
	}
	if (!known)
	{
		char		words[512];

		snprintf(words, sizeof(words), "Reads from disk are not known: %s",
				 c->rows[c->best].note ? c->rows[c->best].note : "");
		put_words(&text, words, WORDS_LINES);
		return;
	}
	if (!isinf(s.low))
		snprintf(scale, sizeof(scale), "bars: %.0f to %.0f, logarithmic", s.low, s.high);
	put_line(&text, "Predicted reads from disk, by memory and the best shared_buffers for it");
	put_line(&text, "%-9s %8s %8s %7s  %s", "", "memory", "shared", "reads/s", scale);
	for (int i = 0; i < c->nrows; i++)
		draw_memory(&text, c, &s, i);
	if (noted)
		put_line(&text, "? not reliable: see note in working_set_memory_advice");
	put_conclusion(&text, c);
}
