/*
 * summary.c
 *		Worth, confidence and words; see summary.h.
 */
#include "summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "division.h"
#include "heuristic.h"

#define NO_READS	1			/* a second that do not matter */
#define SAME		0.02		/* suggested and present size differ by less */
#define LITTLE_MORE	1.2			/* times shared_buffers, which need not grow */
#define HEAD_WIDTH	46			/* columns before the confidence */
#define WORDS		32			/* bytes of a size, a number, a time */

const char *
ws_status_name(WsStatus status)
{
	static const char *const names[] = {"ok", "collecting", "stale", "not tracking"};

	return names[status];
}

const char *
ws_confidence_name(WsConfidence confidence)
{
	static const char *const names[] = {"low", "medium", "high"};

	return names[confidence];
}

static const char *
bytes(double size, char *buf)
{
	ws_format_bytes(size, buf, WORDS);
	return buf;
}

static const char *
with_commas(double whole, char *buf, size_t size)
{
	size_t		n = whole < 1000 ? 0 : strlen(with_commas(floor(whole / 1000), buf, size));

	snprintf(buf + n, size - n, n > 0 ? ",%03.0f" : "%.0f", fmod(whole, 1000));
	return buf;
}

/* Reads a second, with three digits: a prediction is no better. */
static const char *
reads(double number, char *buf)
{
	double		unit = number >= 100 ? pow(10, floor(log10(number)) - 2) : 1;

	return with_commas(fmin(rint(fmax(number, 0) / unit) * unit, 1e15), buf, WORDS);
}

/* The nearer to 100 %, the more digits. */
static const char *
percent(double ratio, char *buf)
{
	snprintf(buf, WORDS, "%.*f %%", ratio < 0.9 || ratio >= 0.99995 ? 0 : ratio < 0.99 ? 1 : 2, 100 * ratio);
	return buf;
}

/* A time of waiting in a second of all clients. */
static const char *
waiting(double ms, char *buf)
{
	snprintf(buf, WORDS, ms < 95 ? "%.0f ms" : "%.1f s", ms < 95 ? ms : ms / 1000);
	return buf;
}

/* "1 minute", "5 minutes", "20 hours", "6 days" */
static const char *
period(double seconds, char *buf)
{
	char		words[WORDS];
	bool		days = seconds >= 1.98 * 86400;

	ws_format_window(days ? rint(seconds / 86400) * 86400 : seconds, words, sizeof(words));
	snprintf(buf, WORDS, "%s%.*s", strpbrk(words, "0123456789") ? "" : "1 ", WORDS - 3, words);
	return buf;
}

/*
 * ----------------------------------------------------------------
 * Worth and confidence
 * ----------------------------------------------------------------
 */

double
ws_summary_reads(const WsSummary *s)
{
	return (1 - s->hit_ratio) * s->lookups;
}

double
ws_summary_expected_reads(const WsSummary *s)
{
	return (1 - s->expected_hit_ratio) * s->lookups;
}

/* Time of reads now, and with the suggested size, in ms of waiting a second. */
static double
get_ms(const WsSummary *s)
{
	return ws_summary_reads(s) * s->read_ms;
}

/* Waits for the disk that the suggested size saves; within the error, 0. */
static double
get_saved_waits(const WsSummary *s)
{
	double		saved = s->waits - s->expected_waits;

	return fabs(saved) < WS_DIVISION_ERROR * ws_summary_reads(s) ? 0 : saved;
}

static double
get_expected_ms(const WsSummary *s)
{
	double		now = ws_summary_reads(s);
	double		expected = ws_summary_expected_reads(s);
	double		waits = s->waits - get_saved_waits(s);

	if (isnan(waits) || now <= 0)
		return expected * s->read_ms;
	/* those that remain may wait for the disk more often than now */
	return get_ms(s) * (waits + WS_DIVISION_COPY * expected) / (s->waits + WS_DIVISION_COPY * now);
}

double
ws_summary_saved_ms(const WsSummary *s)
{
	return get_ms(s) - get_expected_ms(s);
}

WsConfidence
ws_summary_confidence(const WsSummary *s, char *why, size_t size)
{
	WsConfidence level = WS_CONFIDENCE_LOW;
	const char *words = NULL;	/* NULL: the history is why */
	const char *wait = "";
	char		seen[WORDS];

	if (s->status != WS_STATUS_OK)
		words = "not of now";
	else if (s->history < WS_CONFIDENCE_DAY)
		wait = ", wait a day";
	else if (s->data < s->break_even)
		words = "the first use of pages still counts";
	else if (s->unfit)
		words = s->unlike ? "how this server replaces pages is not known" :
			s->filling ? "the cache is still filling" : "predictions do not fit";
	else
	{
		level = WS_CONFIDENCE_MEDIUM;
		if (s->history < WS_CONFIDENCE_WEEK)
			wait = ", wait a week";
		else if (isnan(s->expected_hit_ratio))
			words = "what it brings is not known";
		else if (!(s->expected_error <= WS_CONFIDENCE_ERROR))
			words = "what it brings is known roughly";
		else if (s->loading)
			words = "many pages were used only once";
		else
			level = WS_CONFIDENCE_HIGH;
	}
	snprintf(why, size, "%s%s%s", words ? words : period(s->history, seen), words ? "" : " seen",
			 words ? "" : wait);
	return level;
}

/*
 * ----------------------------------------------------------------
 * The reason
 * ----------------------------------------------------------------
 */

typedef struct Text
{
	char	   *buf;
	size_t		size;
	size_t		n;				/* bytes used, without the null */
} Text;

static void
__attribute__((format(printf, 2, 3)))
put(Text *text, const char *format, ...)
{
	va_list		args;
	int			n;

	va_start(args, format);
	n = vsnprintf(text->buf + text->n, text->size - text->n, format, args);
	va_end(args);
	text->n += n < 0 ? 0 : (size_t) n;
	if (text->n >= text->size)
		text->n = text->size - 1;
}

/* Is shared_buffers what is suggested? */
static bool
has_suggested(const WsSummary *s)
{
	return fabs(s->suggested / s->shared_buffers - 1) < SAME;
}

/* Why nobody knows what another size would do. */
static const char *
unknown(const WsSummary *s)
{
	if (s->doubt[0] != '\0')
		return s->doubt;
	return isnan(s->hit_ratio) ? "no page was looked up in the last 5 minutes" :
		"what another size would do is not clear yet";
}

/* How many of the reads that are saved, or cost, are from disk?  NaN: unsure */
static void
put_waits_change(Text *text, double change, bool costs)
{
	char		a[WORDS];

	if (isnan(change))
		return;
	if (fabs(change) < NO_READS)
		put(text, ", hardly any of them from disk");
	else if (change < 0)
		put(text, ", but %s %s would come from disk", reads(-change, a), costs ? "fewer" : "more");
	else
		put(text, ", %s of them from disk", reads(change, a));
}

/* What the suggested size saves or costs, with the present load. */
static void
put_worth(Text *text, const WsSummary *s)
{
	bool		costs = s->verdict == WS_VERDICT_SHRINK;
	double		now = ws_summary_reads(s);
	double		change = (now - ws_summary_expected_reads(s)) * (costs ? -1 : 1);
	double		saved = ws_summary_saved_ms(s) * (costs ? -1 : 1);
	char		a[WORDS];
	char		b[WORDS];

	if (isnan(change))
	{
		put(text, "; %s", unknown(s));
		return;
	}
	if (change < NO_READS)
	{
		put(text, "; now it would %s less than one read a second", costs ? "cost" : "save");
		return;
	}
	put(text, costs ? "; now it would cost %s reads a second more than %s" :
		"; now it would save %s of %s reads a second", reads(change, a), reads(now, b));
	put_waits_change(text, get_saved_waits(s) * (costs ? -1 : 1), costs);
	if (isnan(saved))
		put(text, " (how long a read takes is not measured)");
	else if (saved < 0)
		put(text, " (but about %s %s waiting a second)", waiting(-saved, a), costs ? "less" : "more");
	else
		put(text, " (about %s of waiting a second)", waiting(saved, a));
}

/* What more than is kept would bring. */
static void
put_more(Text *text, const WsSummary *s)
{
	char		a[WORDS];
	char		b[WORDS];

	if (isnan(s->saved_doubled))
		put(text, "%s", unknown(s));
	else if (s->saved_doubled < NO_READS)
		put(text, "more would save next to nothing");
	else
		put(text, "twice as much would now save %s of %s reads a second",
			reads(s->saved_doubled, a), reads(fmax(ws_summary_reads(s), s->saved_doubled), b));
}

/* Does shared_buffers have what the busiest time needed, as far as is shown? */
static bool
covers_peak(const WsSummary *s)
{
	char		a[WORDS];
	char		b[WORDS];

	return s->peak <= s->shared_buffers ||
		strcmp(bytes(s->peak, a), bytes(s->shared_buffers, b)) == 0;
}

/* Why nothing is to be done although another size may be right, if so. */
static bool
put_not_yet(Text *text, const WsSummary *s)
{
	char		a[WORDS];
	char		b[WORDS];
	const char *other = s->suggested > 0 ? bytes(s->suggested, a) : "another size";
	bool		covers = covers_peak(s);

	switch (s->kept)
	{
		case WS_KEPT_FITS:
			return false;
		case WS_KEPT_NO_GAIN:
			put(text, covers ? "what the busiest time needed, %s, fits, and " :
				"the busiest time needed %s, but ", bytes(s->peak, a));
			put(text, "%s%s would on average %s", s->waits_count ? "beside the page cache " : "",
				covers ? "more" : "that much", s->waits_count ? "gain hardly anything" :
				"raise the hit ratio by less than half a percentage point");
			break;
		case WS_KEPT_SHORT_HISTORY:
			put(text, "%s would do for what was seen, but %s of history is too short to suggest less",
				other, period(s->history, b));
			break;
		case WS_KEPT_NOT_KNOWN:
			put(text, "%s may do, but what it would cost is not known", other);
			break;
		case WS_KEPT_WAITING:
			/* the size may stay, and only the verdict be another one */
			if (has_suggested(s))
				return false;
			put(text, "%s will be suggested if this lasts", other);
	}
	return true;
}

static void
put_keep(Text *text, const WsSummary *s)
{
	char		size[WORDS];

	put(text, "Keep shared_buffers at %s", bytes(s->shared_buffers, size));
	put(text, s->kept == WS_KEPT_WAITING && !has_suggested(s) ? " for now: " : ": ");
	if (put_not_yet(text, s))
		return;
	if (s->peak <= LITTLE_MORE * s->shared_buffers)
		put(text, covers_peak(s) ? "what the busiest time needed fits, and " :
			"the busiest time needed little more, and ");
	else
		put(text, "the busiest time needed %s, which this memory does not allow, and ", bytes(s->peak, size));
	put_more(text, s);
}

/* Why not less is suggested. */
static void
put_least(Text *text, const WsSummary *s)
{
	char		a[WORDS];

	if (s->peak < s->suggested && s->suggested <= WS_SIZING_LEAST)
		put(text, "not less, because %s is the least that is ever suggested",
			bytes(s->suggested, a));
	else if (s->peak * LITTLE_MORE < s->suggested)
		put(text, "not less, because that would cost reads, or the last 35 days needed more");
	else
		put(text, "not less, because the busiest time needed %s", bytes(s->peak, a));
}

static void
put_verdict(Text *text, const WsSummary *s)
{
	char		from[WORDS];
	char		to[WORDS];
	char		a[WORDS];
	char		b[WORDS];
	bool		same = has_suggested(s);

	(void) bytes(s->shared_buffers, from);
	(void) bytes(s->suggested, to);
	if (s->verdict == WS_VERDICT_KEEP)
		put_keep(text, s);
	else if (s->verdict == WS_VERDICT_EXCEEDS_MEMORY)
	{
		put(text, same ? "Keep shared_buffers at %s" : "Change shared_buffers from %s to %s", from, to);
		put(text, ", the best that fits: the busiest time needed %s, and caches can have %s of %s",
			bytes(s->peak, a), bytes(s->cacheable, b), bytes(s->memory, from));
		put(text, s->by_cgroup ? " that the control group allows" : " of memory");
		if (!same)
			put_worth(text, s);
	}
	else if (s->suggested <= 0)
		put(text, "%s shared_buffers, now %s: the busiest time needed %s; to what size is not known",
			s->verdict == WS_VERDICT_GROW ? "Grow" : "Shrink", from, bytes(s->peak, a));
	else if (s->verdict == WS_VERDICT_GROW)
	{
		put(text, "Grow shared_buffers from %s to %s for the busiest time", from, to);
		put_worth(text, s);
	}
	else
	{
		put(text, "Shrink shared_buffers from %s to %s if something else needs the memory: it would free %s",
			from, to, bytes(s->shared_buffers - s->suggested, a));
		put_worth(text, s);
		put(text, "; ");
		put_least(text, s);
	}
}

void
ws_summary_reason(const WsSummary *s, char *buf, size_t size)
{
	Text		text = {buf, size, 0};
	char		a[WORDS];
	char		b[WORDS];

	put(&text, "%s%s%s", s->withheld, s->withheld[0] != '\0' ? "; " : "", s->trouble);
	if (!s->known || (s->status != WS_STATUS_OK && s->status != WS_STATUS_STALE))
		return;
	if (s->status == WS_STATUS_STALE)
		put(&text, "; then: ");
	put_verdict(&text, s);
	put(&text, ".");
	if (s->status == WS_STATUS_STALE)
		return;
	put(&text, " Based on %s; the busiest time was %s and needed %s; now, %s",
		period(s->history, a), s->peak_at, bytes(s->peak, b), s->now_reason);
	if (s->loading)
		put(&text, ", though many of these pages were used only once");
	if (s->outgrown[0] != '\0')
		put(&text, "; if growth goes on, the busiest time will need more than %s from about %s",
			bytes(s->shared_buffers, a), s->outgrown);
	if (s->memory <= 0)
		put(&text, "; the memory limit is not known: %s", s->memory_reason);
	else if (s->by_cgroup && s->verdict != WS_VERDICT_EXCEEDS_MEMORY)
		put(&text, "; the control group allows %s", bytes(s->memory, a));
	put(&text, ".");
}

/*
 * ----------------------------------------------------------------
 * Six lines
 * ----------------------------------------------------------------
 */

static void
put_upper(Text *text, const char *words)
{
	/* not toupper(), which depends on the locale */
	for (; *words != '\0'; words++)
		put(text, "%c", *words >= 'a' && *words <= 'z' ? *words - 'a' + 'A' : *words);
}

static void
put_head(Text *text, const WsSummary *s)
{
	size_t		from = text->n;
	char		why[64];
	char		size[WORDS];
	WsConfidence confidence = ws_summary_confidence(s, why, sizeof(why));

	put_upper(text, ws_verdict_name(s->verdict));
	put(text, "%s shared_buffers %s", s->verdict == WS_VERDICT_EXCEEDS_MEMORY ? ":" : "",
		bytes(s->shared_buffers, size));
	if (s->verdict != WS_VERDICT_KEEP)
		put(text, " -> %s", s->suggested > 0 ? bytes(s->suggested, size) : "not known");
	put(text, "%*sconfidence ", (int) fmax(HEAD_WIDTH - (double) (text->n - from), 1), "");
	put_upper(text, ws_confidence_name(confidence));
	put(text, ": %s\n", why);
}

static void
put_hit_ratio(Text *text, const WsSummary *s)
{
	char		a[WORDS];
	char		b[WORDS];
	double		now = ws_summary_reads(s);
	double		expected = s->verdict == WS_VERDICT_KEEP ? NAN : ws_summary_expected_reads(s);

	if (isnan(s->hit_ratio))
		put(text, "Hit ratio not known: %s", unknown(s));
	else if (isnan(expected))
	{
		put(text, "Hit ratio %s, reads %s/s; ", percent(s->hit_ratio, a), reads(now, b));
		if (s->verdict == WS_VERDICT_KEEP)
			put_more(text, s);
		else
			put(text, "%s", unknown(s));
	}
	else
	{
		put(text, "Hit ratio %s -> %s, ", percent(s->hit_ratio, a), percent(s->expected_hit_ratio, b));
		put(text, "reads %s/s -> %s/s", reads(now, a), reads(expected, b));
		if (isnan(s->read_ms))
			put(text, ", time of a read not measured");
		else
			put(text, ", waiting for them %s -> %s a second", waiting(get_ms(s), a),
				waiting(get_expected_ms(s), b));
	}
	put(text, "\n");
}

/* What the page cache of the operating system does not have, either. */
static void
put_waits(Text *text, const WsSummary *s)
{
	char		a[WORDS];
	char		b[WORDS];

	if (isnan(s->waits))
		return;
	put(text, "; reads from disk %s/s", reads(s->waits, a));
	if (s->verdict != WS_VERDICT_KEEP && !isnan(s->expected_waits))
		put(text, " -> %s/s", reads(s->expected_waits, b));
}

static void
put_memory(Text *text, const WsSummary *s)
{
	char		a[WORDS];

	if (s->memory <= 0)
	{
		put(text, "Memory not known: %s\n", s->memory_reason);
		return;
	}
	put(text, "Memory %s%s: ", bytes(s->memory, a), s->by_cgroup ? " (control group)" : "");
	if (s->verdict == WS_VERDICT_SHRINK)
	{
		put(text, "frees %s; ", bytes(s->shared_buffers - s->suggested, a));
		put_least(text, s);
	}
	else if (s->verdict == WS_VERDICT_EXCEEDS_MEMORY || s->peak > s->cacheable)
		put(text, "caches can have %s of it", bytes(s->cacheable, a));
	else
		put(text, "fits");
	put_waits(text, s);
	put(text, "\n");
}

/* Names of relations may have any character in them, but no more lines. */
static void
put_top(Text *text, const char *top)
{
	if (top[0] == '\0')
		return;
	put(text, "Top: ");
	for (; *top != '\0'; top++)
		put(text, "%c", (unsigned char) *top < ' ' || *top == 0x7f ? '?' : *top);
	put(text, "\n");
}

static void
put_action(Text *text, const WsSummary *s)
{
	char		setting[WORDS];

	ws_format_setting(s->suggested, setting, sizeof(setting));
	put(text, "Do: ");
	if (s->verdict == WS_VERDICT_KEEP)
	{
		put(text, "nothing; ");
		if (!put_not_yet(text, s))
			put(text, "what the busiest time needed is %s", covers_peak(s) ? "covered" :
				s->peak <= LITTLE_MORE * s->shared_buffers ? "nearly covered" : "more than this memory allows");
	}
	else if (s->suggested <= 0)
		put(text, "nothing yet; a size is suggested when the memory limit is known");
	else if (s->verdict == WS_VERDICT_EXCEEDS_MEMORY && has_suggested(s))
		put(text, "nothing; shared_buffers have the best size that fits");
	else
		put(text, "%sALTER SYSTEM SET shared_buffers = '%s';  then restart",
			s->verdict == WS_VERDICT_SHRINK ? "nothing, or if something else needs the memory: " : "",
			setting);
}

void
ws_summary_text(const WsSummary *s, char *buf, size_t size)
{
	Text		text = {buf, size, 0};
	char		a[WORDS];
	char		b[WORDS];

	if (s->status != WS_STATUS_OK)
	{
		put_upper(&text, ws_status_name(s->status));
		put(&text, ": %s", s->trouble);
	}
	if (s->withheld[0] != '\0')
		put(&text, "%sHistory: %s", text.n > 0 ? "\n" : "", s->withheld);
	if (s->status == WS_STATUS_COLLECTING)
		put(&text, "\nDo: ask again in %d seconds", s->wait);
	if (!s->known || (s->status != WS_STATUS_OK && s->status != WS_STATUS_STALE))
		return;
	put(&text, "%s", text.n > 0 ? "\n" : "");
	put_head(&text, s);
	put(&text, "Busiest time %s (%s); now %s", bytes(s->peak, a), s->peak_at, bytes(s->needed, b));
	put(&text, s->loading && strcmp(bytes(s->now, a), b) != 0 ? ", or %s with pages that were used once\n" : "\n", a);
	put_hit_ratio(&text, s);
	put_memory(&text, s);
	put_top(&text, s->top);
	put_action(&text, s);
}
