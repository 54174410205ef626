/*
 * chart_t.c
 *		Tests of the chart.
 *
 * What a person sees is told by whole charts, to the letter.  What must hold
 * whatever is drawn is asked of random charts, by a second reading of the
 * rules.  Seeds are fixed, so a run either always passes or always fails.
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

/*
 * A row without a word on its bounds: they are so close that none are seen.
 */
static WsChartRow
row_of(double seconds, double bytes)
{
	return (WsChartRow) {.seconds = seconds, .bytes = bytes, .low = bytes * 0.999,
		.high = bytes * 1.001};
}

static WsChart
chart_of(const double rows[][2], int nrows)
{
	WsChart		c = {.nrows = nrows, .shared_buffers = 256 * MB, .recommended = 167 * MB,
	.verdict = "keep", .suggested = "168MB"};

	for (int i = 0; i < nrows; i++)
		c.rows[i] = row_of(rows[i][0], rows[i][1]);
	c.rows[nrows - 1].plateau = true;
	return c;
}

/* two workloads: a step after half a minute */
static WsChart
usual(void)
{
	static const double rows[][2] = {
		{1, 16 * MB}, {5, 16 * MB}, {10, 17 * MB}, {30, 17 * MB}, {60, 153 * MB}, {65, 153 * MB},
	};

	return chart_of(rows, 6);
}

/*
 * ----------------------------------------------------------------
 * Whole charts
 * ----------------------------------------------------------------
 */
#define GOLDEN_USUAL \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB   r recommended now 167 MB\n" \
	"      last     size 95 % bounds: too narrow to show  p plateau has not ended\n" \
	"       1 s    16 MB |####                                r                   b\n" \
	"       5 s    16 MB |####                                r                   b\n" \
	"      10 s    17 MB |####                                r                   b\n" \
	"      30 s    17 MB |####                                r                   b\n" \
	"     1 min   153 MB |##################################  r                   b\n" \
	"p     65 s   153 MB |##################################  r                   b\n" \
	"                    +---------------------+--------------r-------+-----------b\n" \
	"                    0                  100 MB                 200 MB\n" \
	"Verdict: keep shared_buffers as it is. Suggested for the busiest time: 168MB\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_STEP \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 1024 MB   r recommended now 1946 MB\n" \
	"      last     size 95 % bounds: too narrow to show  p end of the plateau\n" \
	"       1 s   600 MB |######    b        r\n" \
	"       5 s  1100 MB |############       r\n" \
	"      10 s  1300 MB |##############     r\n" \
	"      30 s  1500 MB |################   r\n" \
	"     1 min  1600 MB |#################  r\n" \
	"     2 min  1650 MB |#################  r\n" \
	"     5 min  1700 MB |################## r\n" \
	"    10 min  1710 MB |################## r\n" \
	"    15 min  1710 MB |################## r\n" \
	"p   17 min  1710 MB |################## r\n" \
	"    20 min  3072 MB |################################\n" \
	"    30 min  5120 MB |######################################################\n" \
	"    45 min  5325 MB |########################################################\n" \
	"    60 min  5427 MB |#########################################################\n" \
	"                    +----------b--------r+---------------------+--------------\n" \
	"                    0                  2 GB                  4 GB\n" \
	"Verdict: grow. ALTER SYSTEM SET shared_buffers = '5760MB'\n" \
	"Suggested for the busiest time; it needs a restart. r: enough for now.\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_BOUNDS \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB   r recommended now 255 MB   * both\n" \
	"      last     size =| 95 % bounds  p plateau has not ended\n" \
	"       1 s    16 MB |####                                                    *\n" \
	"       5 s    16 MB |####                                                    *\n" \
	"      10 s    17 MB |####                                                    *\n" \
	"      30 s    17 MB |####                                                    *\n" \
	"     1 min   153 MB |################################===|                    *\n" \
	"p     65 s   153 MB |################################===|                    *\n" \
	"                    +---------------------+----------------------+-----------*\n" \
	"                    0                  100 MB                 200 MB\n" \
	"Verdict: keep shared_buffers as it is. Suggested for the busiest time: 168MB\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_FULL \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB   r recommended now 190 MB\n" \
	"      last     size => no upper bound  p end of the plateau\n" \
	"       1 s    16 MB |####                                     r              b\n" \
	"       5 s    16 MB |####                                     r              b\n" \
	"      10 s    17 MB |####                                     r              b\n" \
	"      30 s    17 MB |####                                     r              b\n" \
	"     1 min   153 MB |################################========================>\n" \
	"p     65 s   153 MB |################################========================>\n" \
	"                    +---------------------+-------------------r--+-----------b\n" \
	"                    0                  100 MB                 200 MB\n" \
	"Verdict: keep shared_buffers as it is. Suggested for the busiest time: 168MB\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_EMPTY \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB   r recommended now 0 kB\n" \
	"      last     size 95 % bounds: too narrow to show  p plateau has not ended\n" \
	"       1 s     0 kB |                                                        b\n" \
	"       5 s     0 kB |                                                        b\n" \
	"      10 s     0 kB |                                                        b\n" \
	"      30 s     0 kB |                                                        b\n" \
	"     1 min     0 kB |                                                        b\n" \
	"p     90 s     0 kB |                                                        b\n" \
	"                    r---------------------+----------------------+-----------b\n" \
	"                    0                  100 MB                 200 MB\n" \
	"Verdict: keep shared_buffers as it is. Suggested for the busiest time: 168MB\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_ONE \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB (off right)   r recommended now: not known\n" \
	"      last     size =| 95 % bounds  p plateau has not ended\n" \
	"p      1 s     8 kB |========================================================|\n" \
	"                    +-----------------+-----------------+----------------+----\n" \
	"                    0               5 kB              10 kB            15 kB\n" \
	"Status: collecting: counting since 2026-11-21 11:10:43.882644+00; the first\n" \
	"recommendation comes after a minute"

#define GOLDEN_LARGE \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 10239 GB (off right)   r recommended now 10239 MB (off right)\n" \
	"      last     size 95 % bounds: too narrow to show  p plateau has not ended\n" \
	"       1 s    16 MB |######\n" \
	"       5 s    16 MB |######\n" \
	"      10 s    17 MB |######\n" \
	"      30 s    17 MB |######\n" \
	"     1 min   153 MB |#########################################################\n" \
	"p     65 s   153 MB |#########################################################\n" \
	"                    +------------------+-----------------+------------------+-\n" \
	"                    0                50 MB            100 MB            150 MB\n" \
	"Verdict: shrink. ALTER SYSTEM SET shared_buffers = '10240MB'\n" \
	"Suggested for the busiest time; it needs a restart. r: enough for now.\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_SMALL \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 128 kB   r recommended now 459 MB\n" \
	"      last     size 95 % bounds: too narrow to show  p plateau has not ended\n" \
	"       1 s    16 MB |##                                                      r\n" \
	"       5 s    16 MB |##                                                      r\n" \
	"      10 s    17 MB |##                                                      r\n" \
	"      30 s    17 MB |##                                                      r\n" \
	"     1 min   153 MB |###################                                     r\n" \
	"p     65 s   153 MB |###################                                     r\n" \
	"                    +b----------+------------+-----------+------------+------r\n" \
	"                    0        100 MB       200 MB      300 MB       400 MB\n" \
	"Verdict: exceeds memory. ALTER SYSTEM SET shared_buffers = '104857600MB'\n" \
	"Not all that the busiest time needs fits; this is the best. r is for now.\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_ALL \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB   r recommended now 110 TB\n" \
	"      last     size 95 % bounds: too narrow to show  p plateau has not ended\n" \
	"       1 s     8 kB |#                                                       r\n" \
	"       5 s   640 kB |#                                                       r\n" \
	"      10 s    10 MB |#                                                       r\n" \
	"      30 s    20 GB |#                                                       r\n" \
	"     1 min  9216 GB |#####                                                   r\n" \
	"     2 min    99 TB |###################################################     r\n" \
	"p  3.1 min   100 TB |####################################################    r\n" \
	"                    +b------------------------+-------------------------+----r\n" \
	"                    0                       50 TB                    100 TB\n" \
	"Verdict: grow. To what size is not known, since the memory limit is not\n" \
	"Why: SELECT reason FROM working_set_recommendation"

#define GOLDEN_STALE \
	"Working set: size of the distinct pages that clients used in the last ...\n" \
	"b shared_buffers 256 MB   r recommended now 167 MB\n" \
	"      last     size 95 % bounds: too narrow to show  p plateau has not ended\n" \
	"       1 s    16 MB |####                                r                   b\n" \
	"       5 s    16 MB |####                                r                   b\n" \
	"      10 s    17 MB |####                                r                   b\n" \
	"      30 s    17 MB |####                                r                   b\n" \
	"     1 min   153 MB |##################################  r                   b\n" \
	"p     65 s   153 MB |##################################  r                   b\n" \
	"                    +---------------------+--------------r-------+-----------b\n" \
	"                    0                  100 MB                 200 MB\n" \
	"Verdict: keep shared_buffers as it is. Suggested for the busiest time: 168MB\n" \
	"Status: stale: the background worker has not reported since 2026-11-21\n" \
	"11:10:43.882644+00; then: of the 153 MB used in the last 15 minutes, 152 ..."

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
	WsChart		c = usual();

	is_chart(&c, GOLDEN_USUAL, "two workloads, a minute known");

	/* an hour, with the plateau's end in the middle */
	{
		static const double rows[][2] = {
			{1, 600 * MB}, {5, 1100 * MB}, {10, 1300 * MB}, {30, 1500 * MB}, {60, 1600 * MB},
			{120, 1650 * MB}, {300, 1700 * MB}, {600, 1710 * MB}, {900, 1710 * MB},
			{1020, 1710 * MB}, {1200, 3 * GB}, {1800, 5 * GB}, {2700, 5.2 * GB}, {3600, 5.3 * GB},
		};

		c = chart_of(rows, 14);
		c.rows[13].plateau = false;
		c.rows[9].plateau = c.stepped = true;
		c.shared_buffers = 1 * GB;
		c.recommended = 1.9 * GB;
		c.verdict = "grow";
		c.suggested = "5760MB";
		is_chart(&c, GOLDEN_STEP, "a plateau with a step behind it, an hour known");
	}

	/* bounds that are seen; the two marks in one column */
	c = usual();
	for (int i = 0; i < c.nrows; i++)
	{
		c.rows[i].low = c.rows[i].bytes * 0.93;
		c.rows[i].high = c.rows[i].bytes * 1.07;
	}
	c.recommended = 255 * MB;
	is_chart(&c, GOLDEN_BOUNDS, "few registers: bounds are seen; and both marks in one column");

	/* and no upper bound */
	for (int i = 4; i < c.nrows; i++)
		c.rows[i].high = INFINITY;
	c.recommended = 190 * MB;
	c.stepped = true;
	is_chart(&c, GOLDEN_FULL, "a full sketch");

	/* nothing was used */
	{
		static const double rows[][2] = {{1, 0}, {5, 0}, {10, 0}, {30, 0}, {60, 0}, {90, 0}};

		c = chart_of(rows, 6);
		c.recommended = 0;
		is_chart(&c, GOLDEN_EMPTY, "nothing was used");
	}

	/* a reset a moment ago */
	{
		static const double rows[][2] = {{1, 8 * KB}};

		c = chart_of(rows, 1);
		c.rows[0].low = 0;
		c.rows[0].high = 16 * KB;
		c.recommended = NAN;
		c.verdict = c.suggested = NULL;
		c.status = "collecting";
		c.reason = "counting since 2026-11-21 11:10:43.882644+00; the first recommendation comes after a minute";
		is_chart(&c, GOLDEN_ONE, "one page in one window, a second after a reset");
	}

	/* marks off the chart, and at its very beginning */
	c = usual();
	c.shared_buffers = 10239 * GB;
	c.recommended = 10239 * MB;
	c.verdict = "shrink";
	c.suggested = "10240MB";
	is_chart(&c, GOLDEN_LARGE, "both marks are off the chart");
	c.shared_buffers = 128 * KB;
	c.recommended = 459 * MB;
	c.verdict = "exceeds memory";
	c.suggested = "104857600MB";
	is_chart(&c, GOLDEN_SMALL, "shared_buffers is far below, and the recommendation just on the chart");

	/* all sizes, of which the small ones are seen, too */
	{
		static const double rows[][2] = {
			{1, 8 * KB}, {5, 640 * KB}, {10, 10240 * KB}, {30, 20 * GB}, {60, 9 * TB},
			{120, 99 * TB}, {186, 100 * TB},
		};

		c = chart_of(rows, 7);
		c.recommended = 110 * TB;
		c.suggested = NULL;
		c.verdict = "grow";
		is_chart(&c, GOLDEN_ALL, "from 8 kB to 100 TB; the memory limit is not known");
	}

	/* what is left of a recommendation when the worker is gone */
	c = usual();
	c.status = "stale";
	c.reason = "the background worker has not reported since 2026-11-21 11:10:43.882644+00; then: "
		"of the 153 MB used in the last 15 minutes, 152 MB will probably be used again soon";
	is_chart(&c, GOLDEN_STALE, "stale: the status, cut to what fits");

	/* no chart at all */
	memset(&c, 0, sizeof(c));
	c.shared_buffers = 256 * MB;
	c.recommended = NAN;
	c.status = "not tracking";
	c.reason = "working_set.enabled is off";
	is_chart(&c, "Status: not tracking: working_set.enabled is off", "not tracking: one line");
	c.reason = "a b\tc\xc3\xa9\x7f";
	is_chart(&c, "Status: not tracking: a b?c???", "whatever is no printable ASCII is a question mark");
	c.reason = "0123456789012345678901234567890123456789012345678901234567890123456789"
		"012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
		"012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";
	is_chart(&c, GOLDEN_LONG, "a word that is longer than all lines");
	c.reason = NULL;
	is_chart(&c, "Status: not tracking:", "without a reason");
}

/*
 * Words are broken at blanks, into three lines at most; an ellipsis stands for
 * the words that do not fit, and for nothing else.
 */
static void
test_wrapping(void)
{
	uint64_t	seed = 11;
	long		wrong = 0;
	long		cut = 0;

	for (int trial = 0; trial < 20000; trial++)
	{
		WsChart		c = {.status = "stale"};
		char		reason[320];
		char		words[400];
		char		buf[WS_CHART_SIZE];
		const char *rest = words;
		int			lines = 0;
		bool		all = false;
		uint32_t	length = 100 + random_below(&seed, 150);

		for (uint32_t i = 0; i < length; i++)
			reason[i] = i > 0 && reason[i - 1] != ' ' && i + 1 < length &&
				random_below(&seed, 6) == 0 ? ' ' : 'x';
		reason[length] = '\0';
		c.reason = reason;
		snprintf(words, sizeof(words), "Status: stale: %s", reason);
		ws_chart_draw(&c, buf);
		for (char *line = strtok(buf, "\n"); line; line = strtok(NULL, "\n"))
		{
			size_t		n = strlen(line);
			bool		dots = n > 4 && strcmp(line + n - 4, " ...") == 0;

			lines++;
			wrong += n > WS_CHART_WIDTH || (dots && lines < 3);
			n -= dots ? 4 : 0;
			wrong += strncmp(rest, line, n) != 0;
			rest += n;
			/* as many words as fit, and no ellipsis if all do */
			if (dots || *rest == ' ')
			{
				wrong += *rest != ' ' || n + strlen(rest) <= WS_CHART_WIDTH ||
					n + 1 + strcspn(rest + 1, " ") <= WS_CHART_WIDTH - (lines == 3 ? 4 : 0);
				rest++;
			}
			all = !dots;
			cut += dots;
		}
		wrong += lines > 3 || all != (*rest == '\0');
	}
	is_int(wrong, 0, "words are broken at blanks, as many as fit");
	ok(cut > 4000 && cut < 16000, "%ld of 20000 texts were cut", cut);
}

/*
 * ----------------------------------------------------------------
 * Sizes and windows, as they are written
 * ----------------------------------------------------------------
 */

/* line i of a chart, counted from 0 */
static const char *
line_of(const char *chart, int i)
{
	static char line[WS_CHART_WIDTH + 1];

	while (i-- > 0)
		chart = strchr(chart, '\n') + 1;
	snprintf(line, sizeof(line), "%.*s", (int) strcspn(chart, "\n"), chart);
	return line;
}

/* what the first row says */
static const char *
written(double seconds, double bytes)
{
	static char buf[WS_CHART_SIZE];
	WsChart		c = {.nrows = 1, .recommended = NAN};
	char		window[9];
	char		size[9];

	c.rows[0] = row_of(seconds, bytes);
	ws_chart_draw(&c, buf);
	snprintf(window, sizeof(window), "%.8s", line_of(buf, 3) + 2);
	snprintf(size, sizeof(size), "%.8s", line_of(buf, 3) + 11);
	snprintf(buf, sizeof(buf), "%s, %s", window + strspn(window, " "), size + strspn(size, " "));
	return buf;
}

static void
test_words(void)
{
	static const struct
	{
		double		seconds;
		double		bytes;
		const char *want;
	}			table[] = {
		{1, 0, "1 s, 0 kB"}, {1, 8192, "1 s, 8 kB"}, {59, 640 * KB, "59 s, 640 kB"},
		{60, 10239 * KB, "1 min, 10239 kB"}, {61, 10239.5 * KB - 1, "61 s, 10239 kB"},
		{119, 10239.5 * KB, "119 s, 10 MB"}, {120, 10 * MB, "2 min, 10 MB"},
		{126, 10.5 * MB - 1, "2.1 min, 10 MB"}, {150, 10.5 * MB, "2.5 min, 11 MB"},
		{180, 10239.5 * MB - 1, "3 min, 10239 MB"}, {3594, 10239.5 * MB, "59.9 min, 10 GB"},
		{3600, 100 * TB, "60 min, 100 TB"}, {3600, 10240 * TB, "60 min, 10 PB"},
		{3600, 0x1p63, "60 min, 8192 PB"}, {3600, 0x1p80, "60 min, 8192 PB"},
	};
	uint64_t	seed = 7;
	long		wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		is_string(written(table[i].seconds, table[i].bytes), table[i].want, "as it is written");

	/* the smallest unit of which there are no more than four digits and 10239 */
	for (int i = 0; i < 20000; i++)
	{
		static const char *const units[] = {"kB", "MB", "GB", "TB"};
		double		bytes = 8192 * rint(exp(random_unit(&seed) * log(100 * TB / 8192)));
		double		value = bytes / 1024;
		char		want[32];
		int			u = 0;

		for (; floor(value + 0.5) >= 10240; u++)
			value /= 1024;
		snprintf(want, sizeof(want), "1 s, %.0f %s", floor(value + 0.5), units[u]);
		wrong += strcmp(written(1, bytes), want) != 0;
	}
	is_int(wrong, 0, "sizes from 8 kB to 100 TB");
}

/*
 * ----------------------------------------------------------------
 * Which windows
 * ----------------------------------------------------------------
 */

/*
 * Take a curve of which this is the size at each age, and say which windows
 * were chosen; the one at the plateau's end with a p.
 */
static const char *
chosen(uint32_t known, double (*size) (uint32_t age), bool *stepped)
{
	static char buf[256];
	uint32_t	ages[WS_CHART_WINDOWS];
	WsEstimate	estimates[WS_CHART_WINDOWS];
	WsChart		c = {0};
	int			n = ws_chart_windows(known, ages);
	size_t		at = 0;

	/* what is not known is flat */
	for (int i = 0; i < n; i++)
		estimates[i] = (WsEstimate) {size(ages[i] < known ? ages[i] : known), 0, false};
	ws_chart_take(&c, known, estimates, 8192, 5, 5, 3.0);
	*stepped = c.stepped;
	buf[0] = '\0';
	for (int i = 0; i < c.nrows; i++)
		at += (size_t) snprintf(buf + at, sizeof(buf) - at, "%s%g%s", i > 0 ? " " : "", c.rows[i].seconds,
								c.rows[i].plateau ? "p" : "");
	return buf;
}

static double
flat(uint32_t age)
{
	(void) age;
	return 1000;
}

static double
rising(uint32_t age)
{
	return 100.0 * age;
}

/* level from 3 minutes on, and another workload from 17 minutes on */
static double
two_workloads(uint32_t age)
{
	return age <= 17 * 600 ? 1000 * fmin(age / 1800.0, 1) + age / 100.0 : 5000;
}

static void
test_windows(void)
{
	static const struct
	{
		const char *name;
		uint32_t	known;		/* ticks */
		double		(*size) (uint32_t age);
		const char *want;
		bool		stepped;
	}			table[] = {
		{"nothing is known", 0, flat, "1p", false},
		{"a tick", 1, flat, "1p", false},
		{"a second", 10, flat, "1p", false},
		{"a tick more", 11, flat, "1 2p", false},
		{"half a minute", 300, flat, "1 5 10 30p", false},
		{"a tick more", 301, flat, "1 5 10 30 31p", false},
		{"a minute", 600, flat, "1 5 10 30 60p", false},
		{"a tick more than 62 seconds", 621, flat, "1 5 10 30 60 63p", false},
		{"two, almost", 1199, flat, "1 5 10 30 60 120p", false},
		{"two, and a tick", 1201, flat, "1 5 10 30 60 120 126p", false},
		{"seven and a third", 4400, flat, "1 5 10 30 60 120 300 444p", false},
		{"an hour, almost", 35999, flat, "1 5 10 30 60 120 300 600 900 1200 1800 2700 3600p", false},
		{"an hour", 36000, flat, "1 5 10 30 60 120 300 600 900 1200 1800 2700 3600p", false},
		{"much more", UINT32_MAX, flat, "1 5 10 30 60 120 300 600 900 1200 1800 2700 3600p", false},
		{"it rises all the time", 36000, rising,
		"1 5 10 30 60 120 300 600 900 1200 1800 2700 3600p", false},
		{"a step behind the plateau", 36000, two_workloads,
		"1 5 10 30 60 120 300 600 840p 900 1200 1800 2700 3600", true},
		{"with the step just known", 11000, two_workloads,
		"1 5 10 30 60 120 300 600 840p 900 1104", true},
		{"and not yet", 10200, two_workloads, "1 5 10 30 60 120 300 600 900 1020p", false},
	};
	uint64_t	seed = 8;
	long		wrong = 0;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
	{
		bool		stepped;
		const char *got = chosen(table[i].known, table[i].size, &stepped);

		ok(strcmp(got, table[i].want) == 0 && stepped == table[i].stepped,
		   "windows: %s: %s", table[i].name, got);
	}

	/* whatever is known: ascending, within bounds, and all that is drawn is known */
	for (int trial = 0; trial < 20000; trial++)
	{
		uint32_t	known = random_below(&seed, 2 * 36000) >> random_below(&seed, 16);
		uint32_t	ages[WS_CHART_WINDOWS + 1];
		WsEstimate	estimates[WS_CHART_WINDOWS];
		WsChart		c = {0};
		int			n = ws_chart_windows(known, ages);
		double		pages = 0;
		int			ends = 0;

		wrong += n > WS_CHART_WINDOWS;
		for (int i = 0; i < n; i++)
		{
			wrong += i > 0 && ages[i] <= ages[i - 1];
			if (random_below(&seed, 5) == 0)
				pages += random_below(&seed, 1000000);
			estimates[i] = (WsEstimate) {pages, pages / 10, random_below(&seed, 100) == 0};
		}
		ws_chart_take(&c, known, estimates, 8192, 5, 5, 3.0);
		wrong += c.nrows < 1 || c.nrows > WS_CHART_ROWS;
		for (int i = 0; i < c.nrows; i++)
		{
			int			k = 0;

			while (k < n && ages[k] != c.rows[i].seconds * WS_TICKS_PER_SECOND)
				k++;
			wrong += k == n || c.rows[i].bytes != estimates[k].pages * 8192 ||
				isinf(c.rows[i].high) != estimates[k].saturated ||
				!(c.rows[i].low <= c.rows[i].bytes && c.rows[i].bytes <= c.rows[i].high);
			wrong += i > 0 && c.rows[i].seconds <= c.rows[i - 1].seconds;
			ends += c.rows[i].plateau;
		}
		/* not a minute more than is known, and all of it */
		wrong += c.rows[c.nrows - 1].seconds * WS_TICKS_PER_SECOND < (known < 36000 ? known : 36000) ||
			c.rows[c.nrows - 1].seconds * WS_TICKS_PER_SECOND > known + 60;
		wrong += ends != 1;
	}
	is_int(wrong, 0, "windows: whatever is known and found");
}

/*
 * ----------------------------------------------------------------
 * Random charts
 * ----------------------------------------------------------------
 */
static double
random_size(uint64_t *seed)
{
	return random_below(seed, 20) == 0 ? 0 :
		8192 * rint(exp(random_unit(seed) * log(100 * TB / 8192)));
}

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

static void
test_random(void)
{
	uint64_t	seed = 9;
	long		malformed = 0;
	long		overrun = 0;
	long		miscounted = 0;
	long		bars = 0;
	long		marks = 0;
	long		legend = 0;
	long		squashed = 0;
	long		off = 0;
	long		together = 0;

	for (int trial = 0; trial < 100000; trial++)
	{
		WsChart		c = random_chart(&seed);
		char		buf[WS_CHART_SIZE + 8];
		const char *heads;
		double		edge = edge_of(&c);
		int			b = c.shared_buffers > edge ? -1 : columns(c.shared_buffers, edge);
		int			r = isnan(c.recommended) || c.recommended > edge ? -1 :
			columns(c.recommended, edge);
		int			lines;
		int			longest = 0;
		char		at_b = b == r ? '*' : 'b';
		char		at_r = b == r ? '*' : 'r';
		char		scale[WS_CHART_WIDTH + 2];

		memset(buf, 'X', sizeof(buf));
		ws_chart_draw(&c, buf);
		overrun += memchr(buf, '\0', WS_CHART_SIZE) == NULL || memcmp(buf + WS_CHART_SIZE, "XXXXXXXX", 8) != 0;
		buf[WS_CHART_SIZE] = '\0';
		if (!well_formed(buf, &lines))
		{
			malformed++;
			continue;
		}
		/* heads, rows, scale, and words if there are any */
		miscounted += lines < 3 + c.nrows + 2 || lines > 3 + c.nrows + 2 + 3 ||
			(lines > 3 + c.nrows + 2) != (c.verdict || c.status);

		for (int i = 0; i < c.nrows; i++)
		{
			const WsChartRow *row = &c.rows[i];
			char		line[WS_CHART_WIDTH + 2];
			int			low = columns(row->low, edge);
			int			high = isinf(row->high) ? BARS : columns(row->high, edge);
			int			length = strspn(line_of(buf, 3 + i) + FIRST, "#=|>");
			int			sure;

			snprintf(line, sizeof(line), "%-78s", line_of(buf, 3 + i));
			sure = strspn(line + FIRST, "#");
			longest = length > longest ? length : longest;
			bars += line[FIRST - 1] != '|' || (line[0] == 'p') != row->plateau;
			if (isinf(row->high))
				bars += length != BARS || line[FIRST + BARS - 1] != '>' || sure != low;
			else if (high - low > 1)
				bars += length != high || line[FIRST + high - 1] != '|' || sure != low;
			else
				bars += length != columns(row->bytes, edge) || sure != length;
			for (int k = length + 1; k <= BARS; k++)
				marks += line[FIRST + k - 1] != (k == b ? at_b : k == r ? at_r : ' ');
		}
		/* less a column: what is not seen of its bounds counts, too */
		squashed += longest < BARS / 3 - 1 && c.rows[c.nrows - 1].bytes > 0;

		snprintf(scale, sizeof(scale), "%s", line_of(buf, 3 + c.nrows));
		marks += b >= 0 && scale[FIRST - 1 + b] != at_b;
		marks += r >= 0 && scale[FIRST - 1 + r] != at_r;

		/* the head says where they are that are not on the chart */
		heads = line_of(buf, 1);
		legend += strstr(heads, "b shared_buffers ") != heads || !strstr(heads, "   r recommended now");
		legend += (strstr(heads, "(off right)   r") != NULL) != (b < 0);
		legend += (strstr(strstr(heads, "   r"), "(off right)") != NULL) != (r < 0 && !isnan(c.recommended));
		legend += (strstr(heads, "* both") != NULL) != (b >= 0 && b == r);
		legend += (strstr(heads, ": not known") != NULL) != isnan(c.recommended);
		off += b < 0;
		together += b >= 0 && b == r;
	}
	is_int(malformed, 0, "random: printable ASCII, no line is wider than 78, nor are there too many");
	is_int(overrun, 0, "random: terminated within the buffer, and nothing behind it");
	is_int(miscounted, 0, "random: so many lines as there is something to say");
	is_int(bars, 0, "random: bars by the rule");
	is_int(marks, 0, "random: marks wherever no bar is, and on the scale");
	is_int(legend, 0, "random: the head tells of them");
	is_int(squashed, 0, "random: the curve has a third of the width");
	ok(off > 10000 && together > 1000, "random: %ld times shared_buffers was off, %ld times both were one",
	   off, together);
}

/*
 * The scale: its labels are where they say.
 */
static void
test_scale(void)
{
	uint64_t	seed = 10;
	long		wrong = 0;
	long		labels = 0;

	for (int trial = 0; trial < 20000; trial++)
	{
		double		most = random_size(&seed) + 8192;
		WsChart		c = {.nrows = 1, .recommended = NAN};
		char		buf[WS_CHART_SIZE];
		char		line[WS_CHART_WIDTH + 1];
		char		below[WS_CHART_WIDTH + 1];
		int			seen = 0;

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
		wrong += seen < 2 || seen > 6;
		labels += seen;
	}
	is_int(wrong, 0, "scale: labels are below what they name");
	ok(labels > 3 * 20000 / 2 * 1.5, "scale: there are enough of them: %.2f", labels / 20000.0);
}

int
main(void)
{
	plan(61);
	test_charts();
	test_wrapping();
	test_words();
	test_windows();
	test_random();
	test_scale();
	return done();
}
