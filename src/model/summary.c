/*
 * summary.c
 *		Confidence and words; see summary.h.
 */
#include "summary.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "heuristic.h"

#define WORDS			32		/* bytes of a size, a share, a time */
#define HOUR			3600.0
#define DAY				86400.0
#define USUAL_START		4		/* shared_buffers are a quarter of memory, by
								 * the PostgreSQL documentation, */
#define USUAL_MEMORY	0x1p30	/* from so much on */

const char *const ws_status_names[] = {"ok", "collecting", "stale", "not tracking"};
const char *const ws_confidence_names[] = {"low", "medium", "high"};

typedef struct Text
{
	char	   *buf;
	size_t		size;
	size_t		n;				/* bytes used, without the null */
	size_t		line;			/* where the present line begins */
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

/* One of eight buffers in turn: its words stay until seven others are made. */
static char *
next_buffer(void)
{
	static char buffers[8][WORDS];
	static unsigned int next;

	return buffers[next++ % 8];
}

static const char *
bytes(double size)
{
	char	   *buf = next_buffer();

	ws_format_bytes(size, buf, WORDS);
	return buf;
}

/* A share of query time, "6.1 %". */
static const char *
percent(double share)
{
	char	   *buf = next_buffer();
	double		value = 100 * fmax(share, 0);

	if (value < 0.05)
		snprintf(buf, WORDS, "under 0.1 %%");
	else
		snprintf(buf, WORDS, "%.*f %%", value < 9.95 ? 1 : 0, value);
	return buf;
}

/* "1 minute", "5 minutes", "20 hours", "6 days" */
static const char *
period(double seconds)
{
	char	   *buf = next_buffer();
	char		words[WORDS];
	bool		days = seconds >= 1.98 * DAY;

	ws_format_window(days ? rint(seconds / DAY) * DAY : seconds, words, sizeof(words));
	snprintf(buf, WORDS, "%s%.*s", strpbrk(words, "0123456789") ? "" : "1 ", WORDS - 3, words);
	return buf;
}

/*
 * Is the size kept although reads take long, because no size that is simulated
 * would save anything?
 */
static bool
is_at_end(const WsDecision *d)
{
	return d->verdict == WS_VERDICT_KEEP && d->timed && d->waiting > 0 && d->other <= 0 &&
		d->present.week >= WS_WORTH_DEFAULT && d->simulated < d->affordable;
}

WsConfidence
ws_confidence(const WsDecision *d, const WsEvidence *e, char *why, size_t size, double *wait)
{
	double		error = d->active > 0 ? sqrt(d->waiting) / d->active : 0;
	double		saved = fabs(d->present.week - d->suggested.week);

	*wait = 0;
	if (e->unsampled || !(d->affordable < INFINITY))
	{
		snprintf(why, size, e->unsampled ? "working_set.sample_pages is 0" : "the memory limit is not known");
		return WS_CONFIDENCE_LOW;
	}
	/* the history is counted in quarters of an hour */
	snprintf(why, size, "%s seen", period(fmax(d->history > HOUR ? d->history : fmin(d->history, e->data), 60)));
	if (d->history < WS_CONFIDENCE_DAY)
	{
		*wait = WS_CONFIDENCE_DAY - d->history;
		return WS_CONFIDENCE_LOW;
	}
	if (e->data < e->break_even)
	{
		*wait = e->break_even - e->data;
		snprintf(why, size, "the first use of pages still counts");
		return WS_CONFIDENCE_LOW;
	}
	if (e->unfit)
	{
		snprintf(why, size, e->unlike ? "how this server replaces pages is not known" :
				 e->filling ? "shared buffers are not full yet" : "predictions do not fit");
		return WS_CONFIDENCE_LOW;
	}
	if (isnan(d->present.week))
	{
		snprintf(why, size, "what other sizes would do is not known");
		return WS_CONFIDENCE_LOW;
	}
	if (d->history < WS_CONFIDENCE_WEEK)
	{
		*wait = WS_CONFIDENCE_WEEK - d->history;
		return WS_CONFIDENCE_MEDIUM;
	}
	if (d->settles > 0)
	{
		*wait = d->settles;
		snprintf(why, size, "kept a week after a change");
	}
	else if (!d->timed)
		snprintf(why, size, "no client was active, so reads count");
	else if (d->waiting == 0 && d->present.week > WS_WORTH_DEFAULT)
		snprintf(why, size, "few clients were seen at work, and none waiting for a read");
	else if (d->verdict == WS_VERDICT_GROW && 2 * error > saved / 2)
		snprintf(why, size, "few clients were seen waiting");
	else if (is_at_end(d))
		snprintf(why, size, "what more than %s would save is not known", bytes(d->simulated));
	else
		return WS_CONFIDENCE_HIGH;
	return WS_CONFIDENCE_MEDIUM;
}

/* Would more pay, and is how much still rising? */
static bool
is_rising(const WsDecision *d, WsConfidence confidence)
{
	return confidence > WS_CONFIDENCE_LOW && d->rising;
}

bool
ws_suggests_size(const WsDecision *d, WsConfidence confidence)
{
	return confidence > WS_CONFIDENCE_LOW && !is_rising(d, confidence) &&
		d->size > 0 && d->affordable < INFINITY;
}

/* Is one of this summary? */
static bool
suggests(const WsSummary *s)
{
	return s->known && s->status == WS_STATUS_OK && ws_suggests_size(&s->decision, s->confidence);
}

double
ws_summary_size(const WsSummary *s)
{
	return suggests(s) ? s->decision.size : 0;
}

double
ws_summary_saved(const WsSummary *s)
{
	return suggests(s) ? s->decision.present.week - s->decision.suggested.week : NAN;
}

/* What reads take, and what they would with another size. */
static void
put_share(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;
	bool		same = d->size == s->shared_buffers;
	double		saved = d->present.week - d->suggested.week;

	if (isnan(d->present.week))
		put(text, "what reads take is not known");
	else if (!d->timed && same)
		put(text, "no client was active; only replay or the like reads");
	else if (!d->timed)
		put(text, "%s of the reads %s", percent(fabs(saved) / fmax(d->present.week, 1e-9)), saved >= 0 ? "less" : "more");
	else if (d->waiting == 0)
	{
		put(text, "no client was seen waiting for a read");
		if (!same && !isnan(d->suggested.week))
			put(text, ", then under %s", percent(fmax(d->suggested.week, 0.001)));
	}
	else if (same || isnan(d->suggested.week) || !suggests(s))
		put(text, "reads take %s of query time", percent(d->present.week));
	else
		put(text, "reads take %s of query time, then %s", percent(d->present.week), percent(d->suggested.week));
}

/* The alternative, if there is one, between these. */
static void
put_other(Text *text, const WsSummary *s, const char *before, const char *after)
{
	const WsDecision *d = &s->decision;
	double		gain = d->present.week - d->suggested.week;
	double		saves = d->present.week - d->other_share;

	if (d->other <= 0)
	{
		/* where nobody was seen waiting nothing was compared */
		if (is_at_end(d))
			put(text, "%snothing is saved up to %s%s", before, bytes(d->simulated), after);
		else if (d->verdict == WS_VERDICT_KEEP && !isnan(d->present.week) && d->timed && d->waiting > 0)
			put(text, "%smore would save nothing to speak of%s", before, after);
		return;
	}
	if (d->verdict == WS_VERDICT_GROW)
		put(text, "%s%s would save %s of that%s", before, bytes(d->other), saves >= 0.9 * gain ? "nearly all" :
			saves >= 0.7 * gain ? "three quarters" : saves >= 0.62 * gain ? "two thirds" : "half", after);
	else
		put(text, "%s%s would save %s%s%s", before, bytes(d->other), percent(d->suggested.week - d->other_share),
			d->verdict == WS_VERDICT_KEEP && d->other > d->affordable ? ", with more memory" : "", after);
}

static void
put_upper(Text *text, const char *words)
{
	/* not toupper(), which depends on the locale */
	for (; *words != '\0'; words++)
		put(text, "%c", *words >= 'a' && *words <= 'z' ? *words - 'a' + 'A' : *words);
}

/* The verdict with its size. */
static void
put_change(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;

	put(text, "shared_buffers %s", bytes(s->shared_buffers));
	if (d->size != s->shared_buffers)
		put(text, " -> %s", bytes(d->size));
}

static void
put_verdict(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;
	const char *a = bytes(s->shared_buffers);
	const char *b = bytes(d->size);

	if (!suggests(s))
	{
		if (is_rising(d, s->confidence))
			put(text, "More shared_buffers than %s would pay, but how many is still rising", a);
		else
			put(text, "What shared_buffers should be is not known yet: %s", s->why);
		return;
	}
	switch (d->verdict)
	{
		case WS_VERDICT_GROW:
			put(text, "Grow shared_buffers from %s to %s: ", a, b);
			break;
		case WS_VERDICT_SHRINK:
			put(text, "Shrink shared_buffers from %s to %s if something else needs the memory: it would free %s; ",
				a, b, bytes(s->shared_buffers - d->size));
			break;
		case WS_VERDICT_EXCEEDS_MEMORY:
			put(text, d->size == s->shared_buffers ? "Keep shared_buffers at %s" : "Change shared_buffers from %s to %s", a, b);
			put(text, d->size < s->shared_buffers ? ", which leaves enough memory to processes: " : ", the best that this memory allows: ");
			break;
		default:
			put(text, "Keep shared_buffers at %s: ", a);
	}
	put_share(text, s);
	put_other(text, s, "; ", "");
}

void
ws_summary_reason(const WsSummary *s, char *buf, size_t size)
{
	Text		text = {buf, size, 0, 0};

	buf[0] = '\0';
	put(&text, "%s%s%s", s->withheld, s->withheld[0] != '\0' && s->trouble[0] != '\0' ? "; " : "", s->trouble);
	if (s->withheld[0] != '\0' && s->trouble[0] == '\0')
		put(&text, "; ");
	if (!s->known || s->status != WS_STATUS_OK)
		return;
	put_verdict(&text, s);
	put(&text, ".");
	if (suggests(s))
		put(&text, " Based on %s", period(s->decision.history));
	else if (s->ask_again[0] != '\0')
		put(&text, " Ask again after %s", s->ask_again);
	else
		return;
	if (s->outgrown[0] != '\0' && s->decision.verdict == WS_VERDICT_KEEP)
		put(&text, "; if growth goes on, more than %s will be needed from about %s",
			bytes(s->shared_buffers), s->outgrown);
	if (s->memory <= 0)
		put(&text, "; the memory limit is not known: %s", s->memory_reason);
	else if (s->by_cgroup)
		put(&text, "; the control group allows %s", bytes(s->memory));
	put(&text, ".");
}

void
ws_summary_job(const WsSummary *s, char *buf, size_t size)
{
	const WsJob *job = &s->decision.job;

	buf[0] = '\0';
	if (s->known && job->size > 0)
		snprintf(buf, size, "%s: %s would save %s of its time", s->job_at,
				 bytes(job->size), percent(job->gain));
}

/* The end of a line, which is cut to its width; an empty one is none. */
static void
end_line(Text *text)
{
	if (text->n == text->line)
		return;
	if (text->n - text->line > WS_SUMMARY_WIDTH)
	{
		text->n = text->line + WS_SUMMARY_WIDTH - 3;
		put(text, "...");
	}
	put(text, "\n");
	text->line = text->n;
}

/* The end of words that may take two lines. */
static void
end_words(Text *text)
{
	size_t		at = text->line + WS_SUMMARY_WIDTH;

	while (text->n > at && at > text->line && text->buf[at] != ' ')
		at--;
	if (text->n > at && at > text->line)
	{
		text->buf[at] = '\n';
		text->line = at + 1;
	}
	end_line(text);
}

static void
put_head(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;

	if (suggests(s))
	{
		put_upper(text, ws_verdict_names[d->verdict]);
		put(text, d->verdict == WS_VERDICT_EXCEEDS_MEMORY ? ": " : " ");
		put_change(text, s);
		put_other(text, s, " (", ")");
	}
	else if (is_rising(d, s->confidence))
		put(text, "STILL RISING: more than shared_buffers %s would pay", bytes(s->shared_buffers));
	else if (!isnan(s->filling))
		put(text, "FILLING: shared_buffers %s, about %s left", bytes(s->shared_buffers), period(fmax(s->filling, 60)));
	else
		put(text, "NOT KNOWN YET: shared_buffers %s", bytes(s->shared_buffers));
	end_line(text);
}

/* What is suggested when nobody knows better. */
static void
put_usual(Text *text, const WsSummary *s)
{
	if (s->memory >= USUAL_MEMORY)
		put(text, "Usual start until then: %s, a quarter of memory (PostgreSQL manual)",
			bytes(s->memory / USUAL_START));
}

/* That, or what was known before. */
static void
put_until_then(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;

	if (d->history >= WS_CONFIDENCE_DAY && !isnan(d->present.week) && d->affordable < INFINITY)
	{
		put(text, "Before that: %s ", ws_verdict_names[d->verdict]);
		put_change(text, s);
	}
	else
		put_usual(text, s);
}

static void
put_worth(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;

	if (!isnan(s->came))
		put(text, "Promised %s of query time for reads, measured %s in %s", percent(s->promised),
			percent(s->came), period(s->since));
	else if (!suggests(s) && !is_rising(d, s->confidence))
		put_until_then(text, s);
	else
	{
		put(text, "Worth: ");
		if (d->verdict == WS_VERDICT_SHRINK)
			put(text, "frees %s; ", bytes(s->shared_buffers - d->size));
		put_share(text, s);
	}
	end_line(text);
}

static void
put_confidence(Text *text, const WsSummary *s)
{
	put(text, "Confidence ");
	put_upper(text, ws_confidence_names[s->confidence]);
	put(text, ": %s", s->why);
	if (s->confidence == WS_CONFIDENCE_MEDIUM && s->ask_again[0] != '\0')
		put(text, "; surer after %s", s->ask_again);
	end_line(text);
}

static void
put_memory(Text *text, const WsSummary *s)
{
	const WsDecision *d = &s->decision;
	double		caches = d->cacheable;

	/* into both caches, but not into a larger one of the first kind */
	bool		fits = s->used <= caches && !(d->verdict == WS_VERDICT_EXCEEDS_MEMORY && d->other > 0);

	if (s->memory <= 0)
		put(text, "Memory not known: %s", s->memory_reason);
	else
	{
		put(text, "Memory %s%s", bytes(s->memory), s->by_cgroup ? " (control group)" : "");
		if (!isnan(s->used))
		{
			put(text, fits ? ": all that was used in %s, " : ": in %s ", period(s->used_seconds));
			put(text, fits ? "%s, fits" : "%s were used", bytes(s->used));
		}
		if (!fits)
			put(text, "; caches can have %s", bytes(caches));
	}
	end_line(text);
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
	end_line(text);
}

static void
put_action(Text *text, const WsSummary *s)
{
	static const char *const ways[] = {
		[WS_SET_BY_ALTER_SYSTEM] = "Do: %sALTER SYSTEM SET shared_buffers = '%s';  then restart",
		[WS_SET_BY_COMMAND_LINE] = "Do: %sset shared_buffers=%s where the server is started",
		[WS_SET_BY_FILES] = "Do: %sset shared_buffers = '%s' where the configuration is kept",
		[WS_SET_BY_CLOUDNATIVEPG] = "Do: %sshared_buffers: %s in the Cluster (memory request too)",
		[WS_SET_BY_PATRONI] = "Do: %sshared_buffers: %s (patronictl edit-config, or operator)"
	};
	const WsDecision *d = &s->decision;
	char		setting[WORDS];

	ws_format_setting(d->size, setting, sizeof(setting));
	if (suggests(s) && d->size != s->shared_buffers)
		put(text, ways[s->set_by], d->verdict == WS_VERDICT_SHRINK ? "nothing, or " : "", setting);
	else if (is_rising(d, s->confidence))
		put(text, "Do: ask again in an hour");
	else if (!suggests(s) && s->ask_again[0] != '\0')
		put(text, "Do: ask again after %s", s->ask_again);
	else
		put(text, "Do: nothing");
	end_line(text);
}

static void
put_recommendation(Text *text, const WsSummary *s)
{
	put_head(text, s);
	put_worth(text, s);
	put_confidence(text, s);
	/* what is withheld may have taken two lines */
	if (s->withheld[0] == '\0')
	{
		put_memory(text, s);
		put_top(text, s->top);
	}
	put_action(text, s);
}

void
ws_summary_text(const WsSummary *s, char *buf, size_t size)
{
	Text		text = {buf, size, 0, 0};

	buf[0] = '\0';
	if (s->status != WS_STATUS_OK)
	{
		put_upper(&text, ws_status_names[s->status]);
		put(&text, ": %s", s->trouble);
		end_words(&text);
	}
	if (s->withheld[0] != '\0')
	{
		put(&text, "History: %s", s->withheld);
		end_words(&text);
	}
	if (s->status == WS_STATUS_COLLECTING)
	{
		put_usual(&text, s);
		end_line(&text);
		put(&text, "Do: ask again in %d second%s", s->wait, s->wait == 1 ? "" : "s");
		end_line(&text);
	}
	if (s->known && s->status == WS_STATUS_OK)
		put_recommendation(&text, s);
	if (text.n > 0 && buf[text.n - 1] == '\n')
		buf[text.n - 1] = '\0';
}
