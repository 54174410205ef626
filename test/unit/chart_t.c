/*
 * chart_t.c
 *		Tests of the chart.
 *
 * A whole chart shows how it looks, to the letter.  Everything else is a
 * property of random charts, checked by a second reading of the rules.
 */
#include "tap.h"
#include "chart.h"
#include "yardstick.h"

#include <stdlib.h>

#define KB 0x1p10
#define MB 0x1p20
#define GB 0x1p30
#define TB 0x1p40

/* columns of the bars, and the first of them */
#define BARS	57
#define FIRST	21

#define OFF		" (off right)"

/* line i of a chart, counted from 0; empty behind the last */
static const char *
line_of(const char *chart, int i)
{
	static char line[WS_CHART_WIDTH + 1];

	while (i-- > 0 && *chart != '\0')
	{
		chart += strcspn(chart, "\n");
		chart += *chart == '\n';
	}
	snprintf(line, sizeof(line), "%.*s", (int) strcspn(chart, "\n"), chart);
	return line;
}

/* a size in the smallest unit in which it is at most 10239 */
static const char *
size_of(double bytes, char *buf)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
	double		value = fmin(bytes, 0x1p63) / 1024;
	int			u = 0;

	for (; floor(value + 0.5) >= 10240 && u < 4; u++)
		value /= 1024;
	sprintf(buf, "%.0f %s", floor(value + 0.5), units[u]);
	return buf;
}

static double
random_size(uint64_t *seed)
{
	return random_below(seed, 20) == 0 ? 0 :
		8192 * rint(exp(random_unit(seed) * log(100 * TB / 8192)));
}

/*
 * ----------------------------------------------------------------
 * A whole chart, and special ones
 * ----------------------------------------------------------------
 */
#define GOLDEN_STEP \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 1024 MB   r recommended now 1946 MB\n" \
	"      last     size 95 % bounds: too narrow to show  p end of the plateau\n" \
	"       1 s   600 MB |######    b        r\n" \
	"       5 s  1100 MB |##########b#       r\n" \
	"      10 s  1300 MB |##########b###     r\n" \
	"      30 s  1500 MB |##########b#####   r\n" \
	"     1 min  1600 MB |##########b######  r\n" \
	"     2 min  1650 MB |##########b######  r\n" \
	"     5 min  1700 MB |##########b####### r\n" \
	"    10 min  1710 MB |##########b####### r\n" \
	"    15 min  1710 MB |##########b####### r\n" \
	"p   17 min  1710 MB |##########b####### r\n" \
	"    20 min  3072 MB |##########b########r############\n" \
	"    30 min  5120 MB |##########b########r##################################\n" \
	"    45 min  5325 MB |##########b########r####################################\n" \
	"    60 min  5427 MB |##########b########r#####################################\n" \
	"                    +----------b--------r+---------------------+--------------\n" \
	"                    0                  2 GB                  4 GB\n" \
	"Verdict: grow. ALTER SYSTEM SET shared_buffers = '5760MB'\n" \
	"Suggested for the busiest time; it needs a restart. r: enough for now.\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_LONG \
	"Status: not tracking:\n" \
	"012345678901234567890123456789012345678901234567890123456789012345678901234567\n" \
	"89012345678901234567890123456789012345678901234567890123456789012345678901 ..."

static void
is_chart(const WsChart *c, const char *want, const char *name)
{
	char		buf[WS_CHART_SIZE];

	ws_chart_draw(c, buf);
	if (!ok(strcmp(buf, want) == 0, "%s", name))
	{
		for (char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n"))
			diag("%s", line);
	}
}

static void
test_charts(void)
{
	static const double hour[][2] = {
		{1, 600 * MB}, {5, 1100 * MB}, {10, 1300 * MB}, {30, 1500 * MB}, {60, 1600 * MB},
		{120, 1650 * MB}, {300, 1700 * MB}, {600, 1710 * MB}, {900, 1710 * MB},
		{1020, 1710 * MB}, {1200, 3 * GB}, {1800, 5 * GB}, {2700, 5.2 * GB}, {3600, 5.3 * GB},
	};
	WsChart		c = {.nrows = 14, .stepped = true, .shared_buffers = 1 * GB, .recommended = 1.9 * GB,
	.verdict = "grow", .suggested = "5760MB"};
	char		word[240];

	for (int i = 0; i < c.nrows; i++)
		c.rows[i] = (WsChartRow) {hour[i][0], hour[i][1], hour[i][1] * 0.999, hour[i][1] * 1.001, i == 9};
	is_chart(&c, GOLDEN_STEP, "a plateau with a step behind it, an hour known");

	/* no chart at all */
	c = (WsChart) {.shared_buffers = 256 * MB, .recommended = NAN, .status = "not tracking", .reason = "a b\tc\xc3\xa9\x7f~!"};
	is_chart(&c, "Status: not tracking: a b?c???~!", "whatever is no printable ASCII is a question mark");
	c.reason = NULL;
	is_chart(&c, "Status: not tracking:", "without a reason");
	for (int i = 0; i < (int) sizeof(word) - 1; i++)
		word[i] = (char) ('0' + i % 10);
	word[sizeof(word) - 1] = '\0';
	c.reason = word;
	is_chart(&c, GOLDEN_LONG, "a word that is longer than all lines");
	c = (WsChart) {.verdict = "keep", .suggested = "0123456789012345678", .status = "stale"};
	is_chart(&c, "Verdict: keep shared_buffers. Suggested for the busiest time: 0123456789012345\nStatus: stale:", "a line is cut");
	c = (WsChart) {.nrows = 1, .recommended = NAN, .rows = {{1, 0, 0, 0, true}}};
	is_chart(&c, "Working set: size of the distinct pages that clients used in the last ...\n"
			 "b shared_buffers 0 kB   r recommended now: not known\n"
			 "      last     size 95 % bounds: too narrow to show  p plateau has not ended\n"
			 "p      1 s     0 kB |\n"
			 "                    b---------------------------------------------------------\n"
			 "                    0", "nothing at all");
}

/*
 * ----------------------------------------------------------------
 * Sizes and windows, as they are written
 * ----------------------------------------------------------------
 */

/* Does the first row say so? */
static bool
writes(double seconds, double bytes, const char *window, const char *size)
{
	WsChart		c = {.nrows = 1, .recommended = NAN, .rows = {{seconds, bytes, bytes, bytes, false}}};
	char		buf[WS_CHART_SIZE];
	char		want[64];

	ws_chart_draw(&c, buf);
	snprintf(want, sizeof(want), "  %8s %8s |", window, size);
	return strncmp(line_of(buf, 3), want, FIRST) == 0;
}

static void
test_words(void)
{
	static const struct
	{
		double		seconds;
		const char *window;
		double		bytes;
		const char *size;
	}			table[] = {
		{1, "1 s", 0, "0 kB"}, {59, "59 s", 640 * KB, "640 kB"}, {60, "1 min", 10239.5 * KB - 1, "10239 kB"},
		{61, "61 s", 10239.5 * KB, "10 MB"}, {119, "119 s", 10.5 * MB - 1, "10 MB"}, {120, "2 min", 10.5 * MB, "11 MB"},
		{126, "2.1 min", 10239.5 * MB - 1, "10239 MB"}, {150, "2.5 min", 10239.5 * MB, "10 GB"},
		{3594, "59.9 min", 10240 * TB, "10 PB"}, {3600, "60 min", 0x1p80, "8192 PB"},
	};
	uint64_t	seed = seeded(7);
	long		wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		ok(writes(table[i].seconds, table[i].bytes, table[i].window, table[i].size),
		   "%s and %s, as they are written", table[i].window, table[i].size);
	for (int i = 0; i < 20000; i++)
	{
		double		bytes = random_size(&seed);
		char		size[32];

		wrong += !writes(1, bytes, "1 s", size_of(bytes, size));
	}
	is_int(wrong, 0, "sizes from 8 kB to 100 TB");
}

/*
 * ----------------------------------------------------------------
 * Which windows
 * ----------------------------------------------------------------
 */

/*
 * Whatever is known: all minutes are estimated, and some seconds, and what is
 * drawn are the base windows, the end of the plateau, and one that is as long
 * as the data, rounded up.
 */
static void
test_windows(void)
{
	static const uint32_t base[] = {1, 5, 10, 30, 60, 120, 300, 600, 900, 1200, 1800, 2700};
	uint64_t	seed = seeded(8);
	long		wrong = 0;
	long		stepped = 0;
	const int	ntrials = trials(20000);

	for (int trial = 0; trial < ntrials; trial++)
	{
		uint32_t	known = trial < 1300 ? (uint32_t) trial : trial == 1300 ? UINT32_MAX :
			random_below(&seed, 2 * 36000) >> random_below(&seed, 16);
		uint32_t	unit = known <= 1200 ? 10 : 60;
		uint32_t	last = known > 36000 ? 36000 : known == 0 ? 10 : (known + unit - 1) / unit * unit;
		uint32_t	ages[WS_CHART_WINDOWS + 1];
		WsEstimate	estimates[WS_CHART_WINDOWS];
		double		series[60] = {0};
		WsChart		c = {.nrows = 3};
		WsPlateau	plateau;
		uint32_t	end;
		int			n = ws_chart_windows(known, ages);
		double		pages = 0;
		int			row = 0;

		for (int i = 0; i < n; i++)
		{
			wrong += i > 0 && ages[i] <= ages[i - 1];
			if (random_below(&seed, trial % 2 ? 5 : 100) == 0)
				pages += random_below(&seed, 1000000);
			estimates[i] = (WsEstimate) {pages, pages / 10, random_below(&seed, 100) == 0};
			if (ages[i] % 600 == 0)
				series[ages[i] / 600 - 1] = pages;
		}
		plateau = ws_plateau(series, 60, 5, 5, 3.0);
		end = 600 * (uint32_t) plateau.index < last ? 600 * (uint32_t) plateau.index : last;
		ws_chart_take(&c, known, estimates, 8192, 5, 5, 3.0);
		wrong += c.stepped != plateau.stepped || n > WS_CHART_WINDOWS;
		stepped += c.stepped;
		for (int i = 0; i < n && ages[i] <= last; i++)
		{
			WsChartRow *got = &c.rows[row];
			bool		drawn = ages[i] == last || ages[i] == end;

			for (size_t k = 0; k < sizeof(base) / sizeof(base[0]); k++)
				drawn |= ages[i] == 10 * base[k];
			if (!drawn)
				continue;
			wrong += row++ >= c.nrows || got->seconds != ages[i] / 10.0 || got->plateau != (ages[i] == end) ||
				got->bytes != estimates[i].pages * 8192 || isinf(got->high) != estimates[i].saturated ||
				!(got->low <= got->bytes && got->bytes <= got->high);
		}
		wrong += row != c.nrows || c.rows[row - 1].seconds != last / 10.0;
	}
	is_int(wrong, 0, "windows: whatever is known and found");
	ok(stepped > ntrials / 20 && stepped < ntrials / 20 * 19, "windows: a step behind the plateau %ld times", stepped);
}

/*
 * ----------------------------------------------------------------
 * Random charts
 * ----------------------------------------------------------------
 */
static WsChart
random_chart(uint64_t *seed)
{
	static const char *const verdicts[] = {NULL, "grow", "shrink", "keep", "exceeds memory"};
	static const char *const suggestions[] = {NULL, "128MB", "104857600MB"};
	static const char *const statuses[] = {NULL, NULL, "collecting", "stale"};
	static char reason[400];
	WsChart		c = {.nrows = 1 + (int) random_below(seed, WS_CHART_ROWS)};
	double		error = random_below(seed, 2) ? 0.01 : 0.2 * random_unit(seed);
	double		bytes = random_size(seed);
	bool		full = false;
	uint32_t	letters = random_below(seed, sizeof(reason));

	for (int i = 0; i < c.nrows; i++)
	{
		if (random_below(seed, 3) == 0)
			bytes = fmax(bytes, random_below(seed, 2) ? random_size(seed) : bytes * 1.3);
		full = full || random_below(seed, 200) == 0;
		c.rows[i].seconds = i == 0 ? 1 + random_below(seed, 10) : c.rows[i - 1].seconds + 1 + random_below(seed, 300);
		c.rows[i].bytes = bytes;
		c.rows[i].low = bytes * (1 - error);
		c.rows[i].high = full ? INFINITY : bytes * (1 + error);
	}
	c.rows[random_below(seed, (uint32_t) c.nrows)].plateau = true;
	c.stepped = random_below(seed, 2) == 0;
	c.shared_buffers = random_below(seed, 2) ? random_size(seed) : bytes * 4 * random_unit(seed);
	c.recommended = random_below(seed, 4) == 0 ? NAN : random_below(seed, 2) ? random_size(seed) :
		bytes * 4 * random_unit(seed);
	c.verdict = verdicts[random_below(seed, 5)];
	c.suggested = suggestions[random_below(seed, 3)];
	c.status = statuses[random_below(seed, 4)];
	for (uint32_t i = 0; i < letters; i++)
		reason[i] = random_below(seed, 6) == 0 ? ' ' : (char) (1 + random_below(seed, 255));
	reason[letters] = '\0';
	c.reason = reason;
	return c;
}

/* where a size is, in columns: 0 is none, and what is there is seen */
static int
columns(double bytes, double edge)
{
	int			n = (int) rint(fmin(bytes / edge, 1) * BARS);

	return bytes > 0 && n == 0 ? 1 : n;
}

/*
 * The right edge, by the rule: the curve with its bounds, and what is on the
 * chart of the two marks.
 */
static double
edge_of(const WsChart *c)
{
	double		curve = 0;
	double		edge;

	for (int i = 0; i < c->nrows; i++)
		curve = fmax(curve, isinf(c->rows[i].high) ? c->rows[i].bytes * 1.1 : c->rows[i].high);
	edge = curve;
	if (curve == 0 || c->shared_buffers <= 3 * curve)
		edge = fmax(edge, c->shared_buffers);
	if (c->recommended > 0 && (curve == 0 || c->recommended <= 3 * curve))
		edge = fmax(edge, c->recommended);
	return edge > 0 ? edge : 1;
}

/*
 * The text has no more, and nothing else, than it may have.
 */
static bool
well_formed(const char *text, int *lines)
{
	int			width = 0;
	int			widest = 0;
	char		before = '\n';
	bool		fair = true;

	*lines = 1;
	for (const char *p = text; *p; before = *p++)
	{
		if (*p == '\n')
		{
			fair = fair && before != ' ' && before != '\n';
			width = 0;
			(*lines)++;
			continue;
		}
		fair = fair && *p >= ' ' && *p <= '~';
		if (++width > widest)
			widest = width;
	}
	return fair && before != ' ' && before != '\n' && widest <= WS_CHART_WIDTH && *lines <= WS_CHART_LINES;
}

/*
 * The status as lines: broken at blanks, as much on each as fits, and with an
 * ellipsis if that is not all.  What is no printable ASCII is a question mark.
 */
static int
wrapped(const WsChart *c, int most, char (*want)[200])
{
	char		text[500];
	const char *rest = text;
	int			lines = 0;

	snprintf(text, sizeof(text), "Status: %s: %s", c->status, c->reason);
	for (char *p = text; *p; p++)
		*p = *p < ' ' || *p > '~' ? '?' : *p;
	while (*rest && lines < most)
	{
		bool		cut = lines == most - 1 && strlen(rest) > WS_CHART_WIDTH;
		int			whole = cut ? WS_CHART_WIDTH - 4 : WS_CHART_WIDTH;
		int			n = (int) strlen(rest);

		if (n > WS_CHART_WIDTH)
			for (n = whole; n > 0 && rest[n] != ' '; n--)
				;
		/* a word that is longer than a line */
		if (n == 0)
			n = whole;
		sprintf(want[lines], "%.*s%s", n, rest, cut ? " ..." : "");
		for (char *end = want[lines] + strlen(want[lines]); end[-1] == ' ';)
			*--end = '\0';
		rest += n;
		rest += strspn(rest, " ");
		lines++;
	}
	return lines;
}

/*
 * The words around a chart: heads, verdict and status.  Returns how many lines
 * of them are wrong.
 */
static int
wrong_words(const WsChart *c, const char *buf, int b, int r, bool bounds, bool full)
{
	char		want[8][200];
	char		size[32];
	bool		keep = c->verdict && strcmp(c->verdict, "keep") == 0;
	bool		exceeds = c->verdict && strcmp(c->verdict, "exceeds memory") == 0;
	int			n = 2;
	int			wrong = 0;

	sprintf(want[0], "b shared_buffers %s%s   r recommended now", size_of(c->shared_buffers, size), b < 0 ? OFF : "");
	if (isnan(c->recommended))
		strcat(want[0], ": not known");
	else
		sprintf(want[0] + strlen(want[0]), " %s%s", size_of(c->recommended, size),
				r < 0 ? OFF : r == b ? "   * both" : "");
	sprintf(want[1], "      last     size %s%s%s%s", bounds ? "=| 95 % bounds  " : "", full ? "=> no upper bound  " : "",
			bounds || full ? "" : "95 % bounds: too narrow to show  ", c->stepped ? "p end of the plateau" : "p plateau has not ended");
	if (c->verdict)
	{
		if (keep)
			sprintf(want[n++], "Verdict: keep shared_buffers%s%s",
					c->suggested ? ". Suggested for the busiest time: " : "", c->suggested ? c->suggested : "");
		else if (c->suggested)
			sprintf(want[n++], "Verdict: %s. ALTER SYSTEM SET shared_buffers = '%s'", c->verdict, c->suggested);
		else
			sprintf(want[n++], "Verdict: %s. To what size is not known: the memory limit is not", c->verdict);
		if (!c->status && c->suggested && !keep)
			strcpy(want[n++], exceeds ? "Not all that the busiest time needs fits; this is the best. r is for now." :
				   "Suggested for the busiest time; it needs a restart. r: enough for now.");
		if (!c->status)
			strcpy(want[n++], "Why: SELECT reason FROM working_set_recommendation");
	}
	for (int i = 0; i < n; i++)
		wrong += strlen(want[i]) > WS_CHART_WIDTH;
	if (c->status)
		n += wrapped(c, c->verdict ? 2 : 3, want + n);
	strcpy(want[n++], "");
	for (int i = 0; i < n; i++)
		wrong += strcmp(line_of(buf, i < 2 ? i + 1 : c->nrows + 3 + i), want[i]) != 0;
	return wrong;
}

static void
test_random(void)
{
	uint64_t	seed = seeded(9);
	long		malformed = 0;
	long		overrun = 0;
	long		bars = 0;
	long		marks = 0;
	long		words = 0;
	long		squashed = 0;
	long		off = 0;
	long		together = 0;
	long		covered = 0;
	const int	n = trials(60000);

	for (int trial = 0; trial < n; trial++)
	{
		WsChart		c = random_chart(&seed);
		char		buf[WS_CHART_SIZE + 8];
		double		edge = edge_of(&c);
		int			b = c.shared_buffers > edge ? -1 : columns(c.shared_buffers, edge);
		int			r = isnan(c.recommended) || c.recommended > edge ? -1 : columns(c.recommended, edge);
		int			lines;
		int			longest = 0;
		bool		bounds = false;
		bool		full = false;
		char		line[WS_CHART_WIDTH + 2];

		memset(buf, 'X', sizeof(buf));
		ws_chart_draw(&c, buf);
		overrun += memchr(buf, '\0', WS_CHART_SIZE) == NULL || memcmp(buf + WS_CHART_SIZE, "XXXXXXXX", 8) != 0;
		buf[WS_CHART_SIZE] = '\0';
		if (!well_formed(buf, &lines))
		{
			malformed++;
			continue;
		}

		/* rows, and the scale, which has the marks at its axis, too */
		for (int i = 0; i <= c.nrows; i++)
		{
			const WsChartRow *row = &c.rows[i < c.nrows ? i : 0];
			int			low = columns(row->low, edge);
			int			high = isinf(row->high) ? BARS : columns(row->high, edge);
			bool		shown = isinf(row->high) || high - low > 1;
			int			length = shown ? high : columns(row->bytes, edge);

			snprintf(line, sizeof(line), "%-78s", line_of(buf, 3 + i));
			for (int k = i < c.nrows ? 1 : 0; k <= BARS; k++)
			{
				char		want = k > length ? ' ' : !shown || k <= low ? '#' : '=';

				if (shown && k == high)
					want = isinf(row->high) ? '>' : '|';
				if (k == b || k == r)
				{
					marks += line[FIRST + k - 1] != (b == r ? '*' : k == b ? 'b' : 'r');
					covered += i < c.nrows && k < length;
				}
				else if (i < c.nrows)
					bars += line[FIRST + k - 1] != want;
				else
					bars += strchr("-+", line[FIRST + k - 1]) == NULL;
			}
			if (i == c.nrows)
				break;
			longest = length > longest ? length : longest;
			full |= isinf(row->high);
			bounds |= !isinf(row->high) && shown;
			bars += line[FIRST - 1] != '|' || (line[0] == 'p') != row->plateau;
		}
		words += wrong_words(&c, buf, b, r, bounds, full);
		/* less a column: what is not seen of its bounds counts, too */
		squashed += longest < BARS / 3 - 1 && c.rows[c.nrows - 1].bytes > 0;
		off += b < 0;
		together += b >= 0 && b == r;
	}
	is_int(malformed, 0, "random: printable ASCII, no line is wider than 78, nor are there too many");
	is_int(overrun, 0, "random: terminated within the buffer, and nothing behind it");
	is_int(bars, 0, "random: bars by the rule");
	is_int(marks, 0, "random: marks in all rows and on the scale");
	is_int(words, 0, "random: heads, verdict and status by the rule, and nothing else");
	is_int(squashed, 0, "random: the curve has a third of the width");
	ok(off > n / 10 && together > n / 100, "random: %ld times shared_buffers was off, %ld times both were one", off, together);
	ok(covered > n, "random: %ld marks were on a bar", covered);
}

/*
 * The scale: its labels are where they say.
 */
static void
test_scale(void)
{
	uint64_t	seed = seeded(10);
	long		wrong = 0;
	long		labels = 0;
	const int	n = trials(20000);

	for (int trial = 0; trial < n; trial++)
	{
		double		most = random_size(&seed) + 8192;
		WsChart		c = {.nrows = 1, .recommended = NAN};
		char		buf[WS_CHART_SIZE];
		char		line[WS_CHART_WIDTH + 1];
		char		below[WS_CHART_WIDTH + 1];
		int			seen = 0;
		int			crosses = 0;

		c.rows[0] = (WsChartRow) {1, most, most, most, true};
		ws_chart_draw(&c, buf);
		snprintf(line, sizeof(line), "%s", line_of(buf, 4));
		snprintf(below, sizeof(below), "%s", line_of(buf, 5));
		wrong += strlen(line) != WS_CHART_WIDTH;
		for (char *p = below + strspn(below, " "); *p;)
		{
			char	   *end;
			double		value = strtod(p, &end);
			const char *unit = "kB" "MB" "GB" "TB" "PB";

			if (end == p)
			{
				wrong++;
				break;
			}
			if (value > 0)
			{
				const char *found = strstr(unit, (char[]) {end[1], end[2], '\0'});

				/* they are round numbers */
				if (seen == 1)
					wrong += strspn(p, "0125") != strcspn(p, " ") || strspn(p + 1, "0") != strcspn(p + 1, " ");
				value *= pow(1024, 1 + (found - unit) / 2);
				end += 3;
			}
			/* a cross of the scale is above it, where the value belongs */
			{
				int			at = FIRST - 1 + (int) rint(value / most * BARS);

				wrong += line[at] != '+' && !(value == 0 && line[at] == 'b');
				wrong += at < p - below || at >= end - below;
			}
			seen++;
			p = end + strspn(end, " ");
			/* two of them are two */
			wrong += *p && p == end;
		}
		/* a label for each cross, but that shared_buffers is at the axis */
		for (char *p = line; *p; p++)
			crosses += *p == '+';
		wrong += crosses + 1 != seen;
		wrong += seen < 2 || seen > 6;
		labels += seen;
	}
	is_int(wrong, 0, "scale: labels are below what they name");
	ok(labels > 2.25 * n, "scale: there are enough of them: %.2f", (double) labels / n);
}

/*
 * ----------------------------------------------------------------
 * Reads from disk against memory
 * ----------------------------------------------------------------
 */

/* columns of such a line: reads, the sign of doubt, and the first of a bar */
#define READS		28
#define DOUBT		35
#define READS_FIRST 37
#define READS_BARS	41

#define MEMORY_HEAD \
	"Predicted reads from disk, by memory and the best shared_buffers for it\n"
#define MEMORY_LEGEND \
	"? not reliable: see note in working_set_memory_advice\n"

#define GOLDEN_MEMORY \
	MEMORY_HEAD \
	"            memory   shared reads/s  bars: 10 to 9000, logarithmic\n" \
	"           2048 MB    64 MB    9000?|#########################################\n" \
	"           4096 MB   128 MB    4000 |####################################\n" \
	"now        8192 MB  1024 MB     500 |########################\n" \
	"suggested  8192 MB   512 MB     300 |#####################\n" \
	"           8192 MB   256 MB     250 |####################\n" \
	"             12 GB   512 MB      12 |##\n" \
	"             16 GB   512 MB       0 |\n" \
	"             24 GB                 ?|\n" \
	MEMORY_LEGEND \
	"512 MB of shared_buffers would read 40 % less. 12 GB of memory would read 98 %\n" \
	"less."

static const WsMemoryChart golden_memory = {
	.nrows = 8, .present = 2, .suggested = 3, .best = 4,
	.rows = {
		{2 * GB, 64 * MB, 9000, "a note"}, {4 * GB, 128 * MB, 4000, NULL}, {8 * GB, 1 * GB, 500, NULL},
		{8 * GB, 512 * MB, 300, NULL}, {8 * GB, 256 * MB, 250, NULL}, {12 * GB, 512 * MB, 12, NULL},
		{16 * GB, 512 * MB, 0.4, NULL}, {24 * GB, 0, NAN, "another"},
	}
};

static void
is_memory_chart(const WsMemoryChart *c, const char *want, const char *name)
{
	char		buf[WS_CHART_SIZE];

	ws_memory_chart_draw(c, buf);
	if (!ok(strcmp(buf, want) == 0, "%s", name))
		diag("%s", buf);
}

/* NaN: not known, negative: not reliable */
static WsMemoryChartRow
memory_row(double memory, double buffers, double reads)
{
	return (WsMemoryChartRow) {memory, buffers, fabs(reads), reads >= 0 ? NULL : "not reliable", 0};
}

/*
 * What is concluded from the reads with less memory, now, with the best
 * division and the suggested one, and with more memory.
 */
static const char *
conclusion(double less, double now, double best, double suggested, double more, double most)
{
	static char buf[WS_CHART_SIZE];
	WsMemoryChart c = {
		.nrows = 7, .present = 2, .suggested = 3, .best = 4,
		.rows = {
			memory_row(2 * GB, 64 * MB, 0), memory_row(4 * GB, 128 * MB, less), memory_row(8 * GB, 1 * GB, now),
			memory_row(8 * GB, 512 * MB, suggested), memory_row(8 * GB, 256 * MB, best),
			memory_row(12 * GB, 512 * MB, more), memory_row(16 * GB, 512 * MB, most),
		}
	};
	const char *bars;

	ws_memory_chart_draw(&c, buf);
	bars = strrchr(buf, '|');
	bars += strcspn(bars, "\n") + 1;
	if (strncmp(bars, MEMORY_LEGEND, strlen(MEMORY_LEGEND)) == 0)
		bars += strlen(MEMORY_LEGEND);
	return bars;
}

static void
test_conclusions(void)
{
	is_string(conclusion(900, 100, 100, 100, 100, 95), "More memory would not read less.", "nothing to gain, and much to lose");
	is_string(conclusion(109, 100, 100, 100, 100, 95), "More memory would not read less. 2048 MB of memory would read hardly more.", "less is enough");
	is_string(conclusion(0, 0, 0, 0, 0, 0), "More memory would not read less. 2048 MB of memory would read hardly more.", "nothing is read at all");
	is_string(conclusion(NAN, 100, 100, 100, 100, 95), "More memory would not read less.", "what less memory reads is not known");
	is_string(conclusion(-100, 100, 100, 100, 100, 95), "More memory would not read less.", "or not reliable");
	is_string(conclusion(900, 1.2, 1.2, 1.2, 0.4, 0.4), "More memory would not read less.", "less than one a second is nothing to gain");
	is_string(conclusion(900, 100, 100, 100, 50, 50), "12 GB of memory would read 50 % less.", "half");
	is_string(conclusion(900, 100, 100, 100, 90, 40), "16 GB of memory would read 60 % less.", "the largest saves much more");
	is_string(conclusion(900, 100, 100, 100, 14, 5), "12 GB of memory would read 86 % less.", "the next saves nearly as much");
	is_string(conclusion(900, 100000, 100000, 100000, 1, 0.1), "12 GB of memory would read 99 % less.", "never all but one");
	is_string(conclusion(900, 100, 100, 100, 0.3, 0), "12 GB of memory would read nothing.", "nothing");
	is_string(conclusion(900, 100, 100, 100, NAN, 50), "16 GB of memory would read 50 % less.", "one of the larger sizes is not known");
	is_string(conclusion(900, 100, 100, 100, -10, 50), "16 GB of memory would read 50 % less.", "or not reliable");
	is_string(conclusion(900, 100, 100, 100, 50, -10), "12 GB of memory would read 50 % less.", "nor the largest");
	is_string(conclusion(900, 100, 100, 100, NAN, NAN), "What more memory would read is not known.", "no larger size is known");
	is_string(conclusion(900, 100, 40, 70, 38, 37), "512 MB of shared_buffers would read 30 % less. More memory would not read\nless.", "what is suggested is better");
	is_string(conclusion(900, 100, 40, 95, 38, 37), "256 MB of shared_buffers would read 60 % less. More memory would not read\nless.", "only another division is");
	is_string(conclusion(900, 100, 40, -70, 38, 37), "256 MB of shared_buffers would read 60 % less. More memory would not read\nless.", "what is suggested is not reliable");
	is_string(conclusion(900, 100, 40, 70, 20, 0), "512 MB of shared_buffers would read 30 % less. 16 GB of memory would read\nnothing.", "more memory is better still");
	is_string(conclusion(900, 100, 90.5, 140, 100, 100), "512 MB of shared_buffers would read 40 % more. More memory would not read\nless.", "what is suggested is worse");
	is_string(conclusion(900, 100, 100, 109, 100, 100), "More memory would not read less.", "but not much");
	is_string(conclusion(900, 0, 0, 0.9, 0, 0), "More memory would not read less.", "nor if it is less than one a second");
	is_string(conclusion(900, 100, 100, -140, 100, 100), "More memory would not read less.", "nor if that is not reliable");
	is_string(conclusion(900, 0.2, 0.2, 7, 0, 0), "512 MB of shared_buffers would read 7 a second. More memory would not read\nless.", "worse than nothing");
	is_string(conclusion(900, 100, 70, 140, 10, 10), "512 MB of shared_buffers would read 40 % more. 256 MB of shared_buffers would\nread 30 % less. 12 GB of memory would read 90 % less.", "what is suggested is worse, another division is better");
	is_string(conclusion(900, -100, 40, 80, 20, 20), "12 GB of memory would read 50 % less.", "no division is compared with what is not known");
	is_string(conclusion(900, NAN, 40, 40, 20, 20), "12 GB of memory would read 50 % less.", "what there is now is not known");
	is_string(conclusion(900, -100, 40, 40, 20, 20), "12 GB of memory would read 50 % less.", "or not reliable");
	is_string(conclusion(900, -100, -100, 100, 50, 50), "Do not rely on this: not reliable", "nothing is concluded from what is not reliable");
	is_string(conclusion(900, 100, -90, 100, 50, 50), "12 GB of memory would read 50 % less.", "but from the present division, if only the best is not");
}

static void
test_memory_charts(void)
{
	WsMemoryChart c = golden_memory;
	char		whole[WS_CHART_SIZE];
	uint64_t	seed = seeded(11);
	long		malformed = 0;
	long		bars = 0;
	long		marks = 0;
	long		compared = 0;
	long		widest = 0;
	long		wide = 0;
	long		overrun = 0;
	const int	ntrials = trials(20000);

	is_memory_chart(&c, GOLDEN_MEMORY, "a whole chart of memory");
	c.suggested = -1;
	c.remark = "The device reads ahead.";
	ws_memory_chart_draw(&c, whole);
	is_string(strrchr(whole, '\n') + 1, c.remark, "a remark is the last line");
	c.rows[c.present].note = c.rows[c.best].note = "why";
	ws_memory_chart_draw(&c, whole);
	is_string(strrchr(whole, '\n') + 1, "Do not rely on this: why", "but not where nothing is reliable");
	c.rows[c.present].note = c.rows[c.best].note = NULL;
	c.rows[c.present].error = 251;
	ws_memory_chart_draw(&c, whole);
	is_string(line_of(whole, 11), "12 GB of memory would read 98 % less.", "nor are divisions that the error may explain");
	c.rows[c.present].error = 249;
	ws_memory_chart_draw(&c, whole);
	is_string(line_of(whole, 5), "           8192 MB   512 MB     300 |#####################", "nothing is marked if nothing is suggested");
	is_string(line_of(whole, 11), "256 MB of shared_buffers would read 50 % less. 12 GB of memory would read 98 %", "and the best division is compared");
	c.rows[c.best].error = 251;
	ws_memory_chart_draw(&c, whole);
	is_string(line_of(whole, 11), "More memory would not read less.", "nor is memory that the error of the best may explain");
	c.nrows = 1;
	c.present = c.best = 0;
	c.rows[0] = (WsMemoryChartRow) {8 * GB, 1 * GB, NAN, "there is too little data yet", 0};
	is_memory_chart(&c, "Reads from disk are not known: there is too little data yet", "nothing is drawn for what is not known");

	for (int trial = 0; trial < ntrials; trial++)
	{
		char		buf[WS_CHART_SIZE + 8];
		char		lines[WS_MEMORY_CHART_ROWS][WS_CHART_WIDTH + 1];
		int			length[WS_MEMORY_CHART_ROWS];
		double		reads[WS_MEMORY_CHART_ROWS];
		double		most = 0;
		int			n;

		c.nrows = 3 + (int) random_below(&seed, WS_MEMORY_CHART_ROWS - 2);
		c.present = (int) random_below(&seed, (uint32_t) c.nrows - 2);
		c.suggested = random_below(&seed, 3) == 0 ? -1 : c.present + (int) random_below(&seed, 2);
		c.best = c.present + 1 + (c.suggested > c.present);
		c.remark = random_below(&seed, 2) ? "A remark, that is some words about the present sizes and the device, and longer than a line of it" : NULL;
		for (int i = 0; i < c.nrows; i++)
		{
			bool		known = i == 0 || random_below(&seed, 10) > 0;

			c.rows[i].memory = i > c.present && i <= c.best ? c.rows[c.present].memory :
				(i > 0 ? c.rows[i - 1].memory : 0) + 1 + random_size(&seed);
			c.rows[i].buffers = random_below(&seed, 10) == 0 ? 0 : random_size(&seed);
			c.rows[i].reads = !known ? NAN : random_below(&seed, 4) == 0 ? 0.8 * random_unit(&seed) :
				exp(random_unit(&seed) * log(random_below(&seed, 10) == 0 ? 1e9 : 1e5));
			c.rows[i].note = !known || random_below(&seed, 8) == 0 ? "a\tnote that is \xc3\xa9 long one, for it has words" : NULL;
		}
		memset(buf, 'X', sizeof(buf));
		ws_memory_chart_draw(&c, buf);
		overrun += memchr(buf, '\0', WS_CHART_SIZE) == NULL || memcmp(buf + WS_CHART_SIZE, "XXXXXXXX", 8) != 0;
		buf[WS_CHART_SIZE] = '\0';
		malformed += !well_formed(buf, &n) || n > c.nrows + 9;

		for (int i = 0; i < c.nrows; i++)
		{
			const char *mark = i == c.present ? (i == c.suggested ? "now, keep" : "now") : i == c.suggested ? "suggested" : "";
			char		want[16];
			char		number[16] = "";

			snprintf(lines[i], sizeof(lines[i]), "%s", line_of(buf, 2 + i));
			snprintf(want, sizeof(want), "%-9s ", mark);
			marks += strncmp(lines[i], want, strlen(want)) != 0;
			marks += lines[i][DOUBT] != (c.rows[i].note ? '?' : ' ') || lines[i][DOUBT + 1] != '|';
			reads[i] = fmin(rint(c.rows[i].reads), 9999999);
			if (isnan(c.rows[i].reads))
				reads[i] = 0;
			else
				sprintf(number, "%.0f", reads[i]);
			sprintf(want, "%7s", number);
			marks += strncmp(lines[i] + READS, want, 7) != 0;
			length[i] = (int) strlen(lines[i]) - READS_FIRST;
			bars += length[i] != (int) strspn(lines[i] + READS_FIRST, "#");
			bars += (length[i] == 0) != (reads[i] == 0);
			most = fmax(most, reads[i]);
		}
		for (int i = 0; i < c.nrows; i++)
		{
			/* none is longer than one of more reads, and ten times as many are longer */
			for (int j = 0; j < c.nrows; j++)
			{
				bars += reads[i] >= reads[j] ? length[i] < length[j] : length[i] > length[j];
				bars += reads[i] > 0 && reads[j] >= 10 * reads[i] && length[j] <= length[i] + 3;
				compared += reads[i] > 0 && reads[j] >= 10 * reads[i];
			}
			wide += reads[i] == most && most >= 10;
			widest += reads[i] == most && most >= 10 && length[i] == READS_BARS;
		}
	}
	is_int(malformed, 0, "memory: printable ASCII, no line is wider than 78, nor are there too many");
	is_int(overrun, 0, "memory: terminated within the buffer, and nothing behind it");
	is_int(marks, 0, "memory: what there is now and what is suggested are marked, and what is not reliable");
	is_int(bars, 0, "memory: a bar grows with the reads, and there is none without reads");
	ok(compared > 5L * ntrials, "memory: %ld times there were ten times as many", compared);
	ok(widest > wide * 9 / 10, "memory: the longest bar fills the width, %ld times of %ld", widest, wide);
}

int
main(void)
{
	plan(73);
	test_charts();
	test_words();
	test_windows();
	test_random();
	test_scale();
	test_conclusions();
	test_memory_charts();
	return done();
}
