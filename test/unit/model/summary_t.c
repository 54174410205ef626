/*
 * summary_t.c
 *		Tests of the words and of the confidence.
 *
 * Cases are compared in full: people act on the words.  Then thousands of
 * random states, possible or not, are held against the rules: one size, one
 * alternative at most, no command without confidence, six lines.
 */
#include "heuristic.h"
#include "tap.h"
#include "summary.h"
#include "yardstick.h"

#define MB 0x1p20
#define GB 0x1p30
#define DAY 86400.0

#define CONFIDENCE "Confidence MEDIUM: 6 days seen; surer after Tuesday 14:00\n"
#define MEMORY_AND_TOP "Memory 24 GB: all that was used in 6 days, 1.1 GB, fits\nTop: accounts 150 MB, accounts_pkey 30 MB\n"

/* 128 MB, 512 would do, after six days */
static WsSummary
usual(void)
{
	return (WsSummary)
	{
		.status = WS_STATUS_OK, .trouble = "", .withheld = "", .known = true,
			.decision = {
			.verdict = WS_VERDICT_GROW, .size = 512 * MB, .affordable = 16 * GB, .cacheable = 22 * GB,
			.history = 6 * DAY, .active = 500000, .waiting = 30000, .timed = true,
			.present = {0.061, 0}, .suggested = {0.019, -0.01}, .simulated = 2 * GB, .other_share = NAN
		},
			.shared_buffers = 128 * MB, .confidence = WS_CONFIDENCE_MEDIUM, .why = "6 days seen",
			.ask_again = "Tuesday 14:00", .filling = NAN, .promised = NAN, .came = NAN, .job_at = "02:15", .outgrown = "",
			.memory = 24 * GB, .memory_reason = "", .used = 1.1 * GB, .used_seconds = 6 * DAY,
			.top = "accounts 150 MB, accounts_pkey 30 MB"
	};
}

static void
is_text(const WsSummary *s, const char *want, const char *name)
{
	char		buf[WS_SUMMARY_SIZE];

	ws_summary_text(s, buf, sizeof(buf));
	is_string(buf, want, name);
}

static void
is_reason(const WsSummary *s, const char *want, const char *name)
{
	char		buf[WS_SUMMARY_SIZE];

	ws_summary_reason(s, buf, sizeof(buf));
	is_string(buf, want, name);
}

/* The line of the text that begins like this. */
static void
is_line(const WsSummary *s, const char *want, const char *name)
{
	char		buf[WS_SUMMARY_SIZE];
	size_t		head = strcspn(want, " ");
	char	   *line = buf;

	ws_summary_text(s, buf, sizeof(buf));
	while (line != NULL && strncmp(line, want, head) != 0)
		line = (line = strchr(line, '\n')) ? line + 1 : NULL;
	if (line != NULL)
		line[strcspn(line, "\n")] = '\0';
	is_string(line ? line : buf, want, name);
}

static void
test_verdicts(void)
{
	WsSummary	s = usual();

	is_text(&s,
			"GROW shared_buffers 128 MB -> 512 MB\n"
			"Worth: reads take 6.1 % of query time, then 1.9 %\n"
			CONFIDENCE MEMORY_AND_TOP
			"Do: ALTER SYSTEM SET shared_buffers = '512MB';  then restart", "grow");
	is_reason(&s, "Grow shared_buffers from 128 MB to 512 MB: reads take 6.1 % of query time, then 1.9 %. Based on 6 days.", "grow: the reason");
	s.decision.other = 256 * MB;
	s.decision.other_share = 0.033;
	is_line(&s, "GROW shared_buffers 128 MB -> 512 MB (256 MB would save two thirds of that)", "grow: with an alternative");
	s.confidence = WS_CONFIDENCE_HIGH;
	s.why = "9 days seen";
	s.ask_again = "";
	is_line(&s, "Confidence HIGH: 9 days seen", "grow: for sure");
	s.used = 30 * GB;
	s.by_cgroup = true;
	is_line(&s, "Memory 24 GB (control group): in 6 days 30 GB were used; caches can have 22 GB", "grow: more was used than fits");
	s.outgrown = "2026-12-12";
	is_reason(&s, "Grow shared_buffers from 128 MB to 512 MB: reads take 6.1 % of query time, then 1.9 %; 256 MB would save two thirds of that. "
			  "Based on 6 days; the control group allows 24 GB.", "grow: that more will be needed is said");

	s = usual();
	s.decision.verdict = WS_VERDICT_KEEP;
	s.decision.size = s.shared_buffers = 512 * MB;
	s.decision.suggested = s.decision.present = (WsShares)
	{
		0.003, 0
	};
	is_text(&s,
			"KEEP shared_buffers 512 MB (more would save nothing to speak of)\n"
			"Worth: reads take 0.3 % of query time\n"
			CONFIDENCE MEMORY_AND_TOP
			"Do: nothing", "keep");
	s.outgrown = "2026-12-12";
	is_reason(&s, "Keep shared_buffers at 512 MB: reads take 0.3 % of query time; more would save nothing to speak of. "
			  "Based on 6 days; if growth goes on, more than 512 MB will be needed from about 2026-12-12.", "keep: outgrown soon");
	s.outgrown = "";
	s.decision.present.week = s.decision.suggested.week = 0.78;
	is_line(&s, "KEEP shared_buffers 512 MB (nothing is saved up to 2.0 GB)", "keep: nobody knows what much more would bring");
	s.decision.present.week = s.decision.suggested.week = 0.012;
	s.decision.other = 1 * GB;
	s.decision.other_share = 0.003;
	is_line(&s, "KEEP shared_buffers 512 MB (1.0 GB would save 0.9 %)", "keep: what more would bring");
	s.why = "kept a week after a change";
	s.ask_again = "2026-12-01 14:00";
	is_line(&s, "Confidence MEDIUM: kept a week after a change; surer after 2026-12-01 14:00", "keep: the time is not cut");
	s.decision.other = 40 * GB;
	is_line(&s, "KEEP shared_buffers 512 MB (40 GB would save 0.9 %, with more memory)", "keep: what more memory would bring");
	s.decision.waiting = 0;
	s.decision.other = 0;
	is_line(&s, "Worth: no client was seen waiting for a read", "keep: nobody waits");
	s.decision.timed = false;
	is_line(&s, "Worth: no client was active; only replay or the like reads", "keep: nobody was active");

	s = usual();
	s.shared_buffers = 4 * GB;
	s.decision.verdict = WS_VERDICT_SHRINK;
	s.decision.size = 728 * MB;
	s.decision.present.week = 0.001;
	s.decision.suggested.week = 0.004;
	is_text(&s,
			"SHRINK shared_buffers 4.0 GB -> 728 MB\n"
			"Worth: frees 3.3 GB; reads take 0.1 % of query time, then 0.4 %\n"
			CONFIDENCE MEMORY_AND_TOP
			"Do: nothing, or ALTER SYSTEM SET shared_buffers = '728MB';  then restart", "shrink");
	is_reason(&s, "Shrink shared_buffers from 4.0 GB to 728 MB if something else needs the memory: it would free 3.3 GB; "
			  "reads take 0.1 % of query time, then 0.4 %. Based on 6 days.", "shrink: the reason");
	s.decision.suggested.week = 0.0002;
	s.decision.waiting = 0;
	is_line(&s, "Worth: frees 3.3 GB; no client was seen waiting for a read, then under 0.1 %", "shrink: nobody waits");
	s.decision.waiting = 5;
	s.decision.present.week = 0.0001;
	is_line(&s, "Worth: frees 3.3 GB; reads take under 0.1 % of query time, then under 0.1 %", "shrink: hardly anybody does");

	s = usual();
	s.decision.verdict = WS_VERDICT_EXCEEDS_MEMORY;
	s.decision.size = 16 * GB;
	s.decision.other = 40 * GB;
	s.decision.other_share = 0.001;
	s.used = 60 * GB;
	is_text(&s,
			"EXCEEDS MEMORY: shared_buffers 128 MB -> 16 GB (40 GB would save 1.8 %)\n"
			"Worth: reads take 6.1 % of query time, then 1.9 %\n"
			CONFIDENCE
			"Memory 24 GB: in 6 days 60 GB were used; caches can have 22 GB\n"
			"Top: accounts 150 MB, accounts_pkey 30 MB\n"
			"Do: ALTER SYSTEM SET shared_buffers = '16384MB';  then restart", "exceeds memory");
	s.used = 20 * GB;
	is_line(&s, "Memory 24 GB: in 6 days 20 GB were used; caches can have 22 GB", "exceeds memory: that all fits somewhere is no answer");
	s.shared_buffers = 20 * GB;
	s.decision.other = 0;
	is_reason(&s, "Change shared_buffers from 20 GB to 16 GB, which leaves enough memory to processes: reads take 6.1 % of query time, then 1.9 %. "
			  "Based on 6 days.", "exceeds memory: the setting does");
}

static void
test_not_yet(void)
{
	WsSummary	s = usual();
	char		buf[WS_SUMMARY_SIZE];

	s.confidence = WS_CONFIDENCE_LOW;
	s.why = "5 minutes seen";
	s.decision.history = 300;
	is_text(&s,
			"NOT KNOWN YET: shared_buffers 128 MB\n"
			"Usual start until then: 6.0 GB, a quarter of memory (PostgreSQL manual)\n"
			"Confidence LOW: 5 minutes seen\n"
			MEMORY_AND_TOP
			"Do: ask again after Tuesday 14:00", "the first day");
	is_reason(&s, "What shared_buffers should be is not known yet: 5 minutes seen. Ask again after Tuesday 14:00.", "the first day: the reason");
	ok(ws_summary_size(&s) == 0 && isnan(ws_summary_saved(&s)), "the first day: nothing is suggested");
	s.decision.history = 3 * DAY;
	s.why = "shared buffers are not full yet";
	s.filling = 660;
	s.ask_again = "";
	is_text(&s,
			"FILLING: shared_buffers 128 MB, about 11 minutes left\n"
			"Before that: grow shared_buffers 128 MB -> 512 MB\n"
			"Confidence LOW: shared buffers are not full yet\n"
			MEMORY_AND_TOP
			"Do: nothing", "after a restart");
	s = usual();
	s.decision.rising = true;
	is_text(&s,
			"STILL RISING: more than shared_buffers 128 MB would pay\n"
			"Worth: reads take 6.1 % of query time\n"
			CONFIDENCE MEMORY_AND_TOP
			"Do: ask again in an hour", "rising");
	s.decision.rising = false;
	s.decision.verdict = WS_VERDICT_KEEP;
	s.decision.size = s.shared_buffers;
	s.decision.other = 0;
	is_line(&s, "KEEP shared_buffers 128 MB (nothing is saved up to 2.0 GB)", "rising below what there is: that is kept");
	s.decision.waiting = 0;
	is_line(&s, "KEEP shared_buffers 128 MB", "nobody waits: nothing was compared");
	s = usual();
	s.confidence = WS_CONFIDENCE_LOW;
	s.why = "the memory limit is not known";
	s.decision.affordable = INFINITY;
	ws_summary_text(&s, buf, sizeof(buf));
	ok(!strstr(buf, "Before that") && ws_summary_size(&s) == 0, "memory not known: no size, not even before that");
	s = usual();
	s.decision.verdict = WS_VERDICT_KEEP;
	s.decision.size = s.shared_buffers;
	s.promised = 0.003;
	s.came = 0.004;
	s.since = 5 * 3600;
	is_line(&s, "Promised 0.3 % of query time for reads, measured 0.4 % in 5 hours", "after a change: what was promised and what came");
	s = usual();
	s.known = false;
	s.status = WS_STATUS_COLLECTING;
	s.trouble = "counting since 2026-11-29 14:00:00+00; the first recommendation comes after a minute";
	s.wait = 42;
	is_text(&s, "COLLECTING: counting since 2026-11-29 14:00:00+00; the first recommendation\n"
			"comes after a minute\n"
			"Usual start until then: 6.0 GB, a quarter of memory (PostgreSQL manual)\n"
			"Do: ask again in 42 seconds", "in the first minute");
	s.status = WS_STATUS_NOT_TRACKING;
	s.trouble = "working_set.enabled is off";
	is_text(&s, "NOT TRACKING: working_set.enabled is off", "not tracking");
	s = usual();
	s.withheld = "file \"pg_stat/working_set.saved\" cannot be read now: Permission denied";
	ws_summary_text(&s, buf, sizeof(buf));
	ok(strncmp(buf, "History: file \"pg_stat", 22) == 0 && strstr(buf, "\nGROW "), "what is withheld comes first");
}

static void
test_ways(void)
{
	WsSummary	s = usual();
	static const char *const ways[] = {
		[WS_SET_BY_COMMAND_LINE] = "Do: set shared_buffers=512MB where the server is started",
		[WS_SET_BY_FILES] = "Do: set shared_buffers = '512MB' where the configuration is kept",
		[WS_SET_BY_CLOUDNATIVEPG] = "Do: shared_buffers: 512MB in the Cluster (memory request too)",
		[WS_SET_BY_PATRONI] = "Do: shared_buffers: 512MB (patronictl edit-config, or operator)"
	};

	for (int way = WS_SET_BY_COMMAND_LINE; way <= WS_SET_BY_PATRONI; way++)
	{
		s.set_by = (WsSetBy) way;
		is_line(&s, ways[way], "set elsewhere");
	}
}

static void
is_confidence(WsDecision d, WsEvidence e, WsConfidence want, const char *why, double wait, const char *name)
{
	char		buf[64];
	double		got;
	WsConfidence confidence = ws_confidence(&d, &e, buf, sizeof(buf), &got);

	if (!ok(confidence == want && strcmp(buf, why) == 0 && fabs(got - wait) < 1, "%s", name))
		diag("%s: %s, %.0f s", ws_confidence_names[confidence], buf, got);
}

static void
test_confidence(void)
{
	WsDecision	d = usual().decision;
	const WsEvidence e = {.data = DAY, .break_even = 900};
	WsEvidence	f = e;

	d.history = 7 * DAY;
	is_confidence(d, e, WS_CONFIDENCE_HIGH, "7 days seen", 0, "a week");
	d.affordable = INFINITY;
	is_confidence(d, e, WS_CONFIDENCE_LOW, "the memory limit is not known", 0, "no limit");
	d.affordable = 16 * GB;
	d.history = 2 * DAY;
	is_confidence(d, e, WS_CONFIDENCE_MEDIUM, "2 days seen", 4.9 * DAY, "two days");
	d.history = 300;
	is_confidence(d, e, WS_CONFIDENCE_LOW, "5 minutes seen", DAY - 300, "five minutes");
	d.history = 0;
	is_confidence(d, e, WS_CONFIDENCE_LOW, "1 minute seen", DAY, "nothing");
	d.history = 7 * DAY;
	f.data = 100;
	is_confidence(d, f, WS_CONFIDENCE_LOW, "the first use of pages still counts", 800, "a new sketch");
	f = e;
	f.unfit = true;
	is_confidence(d, f, WS_CONFIDENCE_LOW, "predictions do not fit", 0, "wrong predictions");
	f.filling = true;
	is_confidence(d, f, WS_CONFIDENCE_LOW, "shared buffers are not full yet", 0, "after a start");
	f.unlike = true;
	is_confidence(d, f, WS_CONFIDENCE_LOW, "how this server replaces pages is not known", 0, "another server");
	d.verdict = WS_VERDICT_KEEP;
	is_confidence(d, e, WS_CONFIDENCE_MEDIUM, "what more than 2.0 GB would save is not known", 0, "nothing saves anything");
	d.settles = 4 * DAY;
	is_confidence(d, e, WS_CONFIDENCE_MEDIUM, "kept a week after a change", 4 * DAY, "a change");
	d.settles = 0;
	d.verdict = WS_VERDICT_GROW;
	d.waiting = 4;
	d.active = 100;
	is_confidence(d, e, WS_CONFIDENCE_MEDIUM, "few clients were seen waiting", 0, "few looks");
	d.timed = false;
	is_confidence(d, e, WS_CONFIDENCE_MEDIUM, "no client was active, so reads count", 0, "no looks");
	f = e;
	f.unsampled = true;
	is_confidence(d, f, WS_CONFIDENCE_LOW, "working_set.sample_pages is 0", 0, "no sample");
	d.present.week = NAN;
	is_confidence(d, e, WS_CONFIDENCE_LOW, "what other sizes would do is not known", 0, "no costs");
}

/* ---------------------------------------------------------------- random states */

static uint64_t seed;

static double
any(double least, double most)
{
	switch (random_below(&seed, 12))
	{
		case 0:
			return 0;
		case 1:
			return NAN;
		case 2:
			return most * 1000;
		default:
			return least * exp(random_unit(&seed) * log(most / least));
	}
}

static double
any_share(void)
{
	return random_below(&seed, 6) == 0 ? NAN : random_below(&seed, 5) == 0 ? 0 : pow(random_unit(&seed), 3);
}

static const char *
any_of(const char *a, const char *b)
{
	return random_below(&seed, 2) ? a : b;
}

static WsSummary
random_state(void)
{
	static const char long_text[] = "a long text without an end that somebody wrote who has a lot of time, or that came from a file \xc3\xa4\xc3\xb6\xc3\xbc, and so on and on";
	WsSummary	s = usual();
	WsDecision *d = &s.decision;

	s.status = random_below(&seed, 3) ? WS_STATUS_OK : (WsStatus) random_below(&seed, 4);
	s.trouble = s.status == WS_STATUS_OK ? "" : any_of("it is so", long_text);
	s.withheld = random_below(&seed, 8) ? "" : any_of("it cannot be read", long_text);
	s.known = s.status == WS_STATUS_OK || random_below(&seed, 2);
	s.shared_buffers = fmax(any(MB, 100 * GB), 131072);
	d->verdict = (WsVerdict) (1 + random_below(&seed, 4));
	d->size = d->verdict == WS_VERDICT_KEEP || random_below(&seed, 10) == 0 ? s.shared_buffers : any(MB, 100 * GB);
	if (!(d->size > 0))
		d->size = s.shared_buffers;
	d->history = fmax(any(1, 100 * DAY), 0);
	d->present.week = any_share();
	d->suggested.week = d->size == s.shared_buffers ? d->present.week : any_share();
	d->other = random_below(&seed, 2) ? 0 : any(MB, 1000 * GB);
	d->other_share = d->other > 0 && d->other != d->size ? any_share() : NAN;
	if (isnan(d->other_share))
		d->other = 0;
	d->timed = random_below(&seed, 5) != 0;
	d->waiting = random_below(&seed, 5) ? d->waiting : 0;
	d->rising = random_below(&seed, 6) == 0 && d->size > s.shared_buffers;
	d->simulated = random_below(&seed, 4) ? fmax(any(MB, 1000 * GB), 0) : INFINITY;
	s.confidence = (WsConfidence) random_below(&seed, 3);
	s.ask_again = any_of("", "2026-12-01 14:00");
	s.filling = random_below(&seed, 5) ? NAN : any(1, 1e6);
	s.promised = random_below(&seed, 5) ? NAN : any_share();
	s.came = isnan(s.promised) ? NAN : any_share();
	s.since = 100 + random_below(&seed, 86400);
	s.set_by = (WsSetBy) random_below(&seed, 5);
	s.memory = random_below(&seed, 5) ? fmax(any(64 * MB, 4000 * GB), 0) : 0;
	s.memory_reason = s.memory > 0 ? "" : any_of("it cannot be had", long_text);
	s.used = any(1, 4000 * GB);
	s.by_cgroup = random_below(&seed, 2);
	s.top = any_of("", long_text);
	return s;
}

/* How often is one in the other? */
static int
occurs(const char *text, const char *what)
{
	int			n = 0;

	for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
		n++;
	return n;
}

/* NULL, or which rule the text breaks */
static const char *
find_fault(const WsSummary *s, const char *text)
{
	bool		offered = ws_summary_size(s) > 0;
	int			lines = 1;
	int			columns = 0;
	char		setting[32];
	int			commands = occurs(text, "ALTER SYSTEM") + occurs(text, "set shared_buffers") + occurs(text, "edit-config") + occurs(text, "in the Cluster");

	for (const char *c = text; *c != '\0'; c++)
	{
		if (*c == '\n')
		{
			lines++;
			columns = 0;
		}
		else if ((*c & 0xC0) != 0x80 && ++columns > WS_SUMMARY_WIDTH)
			return "a line is too wide";
	}
	if (lines > 6)
		return "there are too many lines";
	if (text[0] == '\0' || strstr(text, "nan") || strstr(text, "inf") || strstr(text, "-0.") || strstr(text, "\n\n"))
		return "something is no text";
	if (occurs(text, " -> ") > 1)
		return "there are two sizes to set";
	if (occurs(text, "would save") + occurs(text, "usual start") > 1)
		return "there are two alternatives";
	if (commands > (offered && s->decision.size != s->shared_buffers ? 1 : 0))
		return "there is a command";
	if (offered && s->decision.size != s->shared_buffers && commands != 1)
		return "there is no command";
	if (s->confidence == WS_CONFIDENCE_LOW && (offered || strstr(text, "GROW ") || strstr(text, "SHRINK ") || strstr(text, "KEEP ")))
		return "a verdict is given without confidence";
	if (strstr(text, "under under") || strstr(text, "under less"))
		return "a bound of a bound";
	ws_format_setting(s->decision.size, setting, sizeof(setting));
	if (commands > 0 && !strstr(text, setting))
		return "the command is cut";
	if ((strstr(text, "nothing to speak of") || strstr(text, "nothing is saved")) && (s->decision.other > 0 || strstr(text, "take is not known")))
		return "more would save nothing, and something";
	if (strstr(text, "ask again") && strstr(text, "ALTER"))
		return "wait, and do it";
	return NULL;
}

static void
test_random(void)
{
	long		n = trials(20000);
	long		wrong = 0;
	long		offers = 0;

	seed = seeded(1);
	for (long i = 0; i < n; i++)
	{
		WsSummary	s = random_state();
		char		text[WS_SUMMARY_SIZE];
		char		reason[WS_SUMMARY_SIZE];
		const char *fault;

		ws_summary_text(&s, text, sizeof(text));
		ws_summary_reason(&s, reason, sizeof(reason));
		fault = find_fault(&s, text);
		if (!fault && (strstr(reason, "nan") || strstr(reason, "inf")))
			fault = "the reason is no text";
		if (!fault && ws_summary_size(&s) > 0)
		{
			char		size[32];

			offers++;
			ws_format_bytes(s.decision.size, size, sizeof(size));
			if (!strstr(text, size) || !strstr(reason, size))
				fault = "the size is not the one of the view";
		}
		if (fault && wrong++ < 5)
			diag("%ld: %s:\n%s\n%s", i, fault, text, reason);
	}
	is_int(wrong, 0, "random states: one size, one alternative, one command, six lines");
	ok(offers > n / 5 && offers < n, "random states: some have a size (%ld of %ld)", offers, n);
}

int
main(void)
{
	plan(21 + 13 + 4 + 14 + 2);

	test_verdicts();
	test_not_yet();
	test_ways();
	test_confidence();
	test_random();
	return done();
}
