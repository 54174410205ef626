/*
 * summary_t.c
 *		Tests of the words for each status and verdict, of the worth and of the
 *		confidence.
 *
 * A case is the facts of a usual server with some of them changed.  The words
 * are compared in full: people act on them.
 */
#include "tap.h"
#include "summary.h"

#define MB 0x1p20
#define GB 0x1p30
#define DAY 86400.0
#define USUAL_DATA 30 * DAY

#define LENGTH(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* A server with 64 MB that needed 180 MB on Tuesday, after six days. */
static const WsSummary usual = {
	.status = WS_STATUS_OK,
	.trouble = "",
	.withheld = "",
	.known = true,
	.verdict = WS_VERDICT_GROW,
	.shared_buffers = 64 * MB,
	.suggested = 188 * MB,
	.needed = 85 * MB,
	.now = 90 * MB,
	.now_reason = "all of the 82 MB used in the last 15 minutes will probably be used again soon",
	.peak = 187 * MB,
	.peak_at = "Tuesday 14:00",
	.history = 6 * DAY,
	.data = USUAL_DATA,
	.break_even = 900,
	.outgrown = "",
	.lookups = 10000,
	.hit_ratio = 0.77,
	.expected_hit_ratio = 0.96,
	.expected_error = 0.005,
	.saved_doubled = 900,
	.waits = NAN,
	.expected_waits = NAN,
	.read_ms = 0.2,
	.doubt = "",
	.memory = 24 * GB,
	.cacheable = 22 * GB,
	.memory_reason = "",
	.top = "accounts 150 MB, accounts_pkey 30 MB"
};

static WsSummary
sized(WsVerdict verdict, double shared_buffers, double suggested, double peak)
{
	WsSummary	s = usual;

	s.verdict = verdict;
	s.shared_buffers = shared_buffers;
	s.suggested = suggested;
	s.peak = peak;
	return s;
}

static void
is_reason(const WsSummary *s, const char *want, const char *name)
{
	char		buf[WS_SUMMARY_SIZE];

	ws_summary_reason(s, buf, sizeof(buf));
	is_string(buf, want, name);
}

static void
is_text(const WsSummary *s, const char *want, const char *name)
{
	char		buf[WS_SUMMARY_SIZE];

	ws_summary_text(s, buf, sizeof(buf));
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

#define NOW "; now, all of the 82 MB used in the last 15 minutes will probably be used again soon"
#define BASED(needed) ". Based on 6 days; the busiest time was Tuesday 14:00 and needed " needed NOW "."

/* ---------------------------------------------------------------- verdicts */

/* what the reason says of the present load */
static void
is_worth(const WsSummary *s, const char *want, const char *name)
{
	char		buf[WS_SUMMARY_SIZE];

	ws_summary_reason(s, buf, sizeof(buf));
	if (!ok(strstr(buf, want) != NULL, "%s", name))
		diag("%s", buf);
}

static void
test_grow(void)
{
	WsSummary	s = usual;

	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; now it would save 1,900 of "
			  "2,300 reads a second (about 0.4 s of waiting a second)" BASED("187 MB"), "grow");
	is_text(&s,
			"GROW shared_buffers 64 MB -> 188 MB           confidence MEDIUM: 6 days seen, wait a week\n"
			"Busiest time 187 MB (Tuesday 14:00); now 85 MB\n"
			"Hit ratio 77 % -> 96.0 %, reads 2,300/s -> 400/s, waiting for them 0.5 s -> 80 ms a second\n"
			"Memory 24 GB: fits\n"
			"Top: accounts 150 MB, accounts_pkey 30 MB\n"
			"Do: ALTER SYSTEM SET shared_buffers = '188MB';  then restart", "grow: in lines");
	s.loading = true;
	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; now it would save 1,900 of "
			  "2,300 reads a second (about 0.4 s of waiting a second). Based on 6 days; the busiest time was "
			  "Tuesday 14:00 and needed 187 MB" NOW ", though many of these pages were used only once.", "grow: after a load");
	is_line(&s, "Busiest time 187 MB (Tuesday 14:00); now 85 MB, or 90 MB with pages that were used once", "grow: after a load, in lines");
	s.loading = false;
	s.outgrown = "2026-12-12";
	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; now it would save 1,900 of "
			  "2,300 reads a second (about 0.4 s of waiting a second). Based on 6 days; the busiest time was "
			  "Tuesday 14:00 and needed 187 MB" NOW "; if growth goes on, the busiest time will need more than "
			  "64 MB from about 2026-12-12.", "grow: outgrown soon");
	s.outgrown = "";
	s.read_ms = NAN;
	s.by_cgroup = true;
	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; now it would save 1,900 of "
			  "2,300 reads a second (how long a read takes is not measured). Based on 6 days; the busiest time was "
			  "Tuesday 14:00 and needed 187 MB" NOW "; the control group allows 24 GB.", "grow: without I/O timing");
	is_line(&s, "Hit ratio 77 % -> 96.0 %, reads 2,300/s -> 400/s, time of a read not measured",
			"grow: without I/O timing, in lines");
	is_line(&s, "Memory 24 GB (control group): fits", "grow: by a control group");
	s.by_cgroup = false;
	s.waits = 400;
	is_line(&s, "Memory 24 GB: fits; reads from disk 400/s", "grow: reads from disk, now");
	s.expected_waits = 460;
	is_worth(&s, "it would save 1,900 of 2,300 reads a second, hardly any of them from disk (", "grow: reads of the page cache");
	s.expected_waits = 550;
	is_worth(&s, "it would save 1,900 of 2,300 reads a second, but 150 more would come from disk (", "grow: that is worse for the disk");
	s.read_ms = 0.2;
	is_worth(&s, "come from disk (but about 0.1 s more waiting a second)", "grow: the disk has more work, so clients wait longer");
	is_line(&s, "Hit ratio 77 % -> 96.0 %, reads 2,300/s -> 400/s, waiting for them 0.5 s -> 0.6 s a second", "grow: longer, in lines");
	/* a read from the page cache costs a fiftieth of one from disk: (waits + 400 / 50) / (waits + 2,300 / 50) */
	s.expected_waits = 300;
	ok(fabs(ws_summary_saved_ms(&s) - 460 * (1 - 308.0 / 446)) < 0.001, "grow: less waiting where less is from disk");
	s.expected_waits = 460;
	ok(fabs(ws_summary_saved_ms(&s) - 460 * (1 - 408.0 / 446)) < 0.001, "grow: nor more, where the error explains that more is");
	s.read_ms = NAN;
	s.expected_waits = 20;
	is_worth(&s, "it would save 1,900 of 2,300 reads a second, 380 of them from disk", "grow: reads from disk");
	is_line(&s, "Memory 24 GB: fits; reads from disk 400/s -> 20/s", "grow: reads from disk, then");
	s.waits = s.expected_waits = NAN;
	s.expected_hit_ratio = 0.76995;
	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; now it would save less than one "
			  "read a second" BASED("187 MB"), "grow: that saves nothing now");
	s.expected_hit_ratio = NAN;
	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; what another size would do is "
			  "not clear yet" BASED("187 MB"), "grow: nothing is predicted");
	s.doubt = "there is no cache advice, because working_set.sample_pages is 0";
	is_reason(&s, "Grow shared_buffers from 64 MB to 188 MB for the busiest time; there is no cache advice, "
			  "because working_set.sample_pages is 0" BASED("187 MB"), "grow: why nothing is predicted");
	is_line(&s, "Hit ratio 77 %, reads 2,300/s; there is no cache advice, because working_set.sample_pages is 0",
			"grow: why nothing is predicted, in lines");
	s.doubt = "";
	s.hit_ratio = NAN;
	is_line(&s, "Hit ratio not known: no page was looked up in the last 5 minutes", "grow: nothing happens");
}

static void
test_unknown_memory(void)
{
	WsSummary	s = sized(WS_VERDICT_GROW, 64 * MB, 0, 187 * MB);

	s.memory = s.cacheable = 0;
	s.memory_reason = "/proc/meminfo: Permission denied";
	s.expected_hit_ratio = NAN;
	is_reason(&s, "Grow shared_buffers, now 64 MB: the busiest time needed 187 MB; to what size is not known. "
			  "Based on 6 days; the busiest time was Tuesday 14:00 and needed 187 MB" NOW
			  "; the memory limit is not known: /proc/meminfo: Permission denied.", "memory not known: grow");
	is_text(&s,
			"GROW shared_buffers 64 MB -> not known        confidence MEDIUM: 6 days seen, wait a week\n"
			"Busiest time 187 MB (Tuesday 14:00); now 85 MB\n"
			"Hit ratio 77 %, reads 2,300/s; what another size would do is not clear yet\n"
			"Memory not known: /proc/meminfo: Permission denied\n"
			"Top: accounts 150 MB, accounts_pkey 30 MB\n"
			"Do: nothing yet; a size is suggested when the memory limit is known", "memory not known: in lines");
	s.verdict = WS_VERDICT_KEEP;
	s.peak = 60 * MB;
	is_reason(&s, "Keep shared_buffers at 64 MB: what the busiest time needed fits, and twice as much would now save "
			  "900 of 2,300 reads a second. Based on 6 days; the busiest time was Tuesday 14:00 and needed 60 MB" NOW
			  "; the memory limit is not known: /proc/meminfo: Permission denied.", "memory not known: keep");
	s.verdict = WS_VERDICT_SHRINK;
	s.shared_buffers = 1 * GB;
	is_reason(&s, "Shrink shared_buffers, now 1.0 GB: the busiest time needed 60 MB; to what size is not known. "
			  "Based on 6 days; the busiest time was Tuesday 14:00 and needed 60 MB" NOW
			  "; the memory limit is not known: /proc/meminfo: Permission denied.", "memory not known: shrink");
	is_line(&s, "SHRINK shared_buffers 1.0 GB -> not known     confidence MEDIUM: 6 days seen, wait a week",
			"memory not known: shrink, in lines");
}

static void
test_keep(void)
{
	WsSummary	s = sized(WS_VERDICT_KEEP, 200 * MB, 188 * MB, 187 * MB);

	s.saved_doubled = 0.4;
	s.hit_ratio = 0.9999;
	is_reason(&s, "Keep shared_buffers at 200 MB: what the busiest time needed fits, and more would save next to "
			  "nothing" BASED("187 MB"), "keep");
	is_text(&s,
			"KEEP shared_buffers 200 MB                    confidence MEDIUM: 6 days seen, wait a week\n"
			"Busiest time 187 MB (Tuesday 14:00); now 85 MB\n"
			"Hit ratio 99.99 %, reads 1/s; more would save next to nothing\n"
			"Memory 24 GB: fits\n"
			"Top: accounts 150 MB, accounts_pkey 30 MB\n"
			"Do: nothing; what the busiest time needed is covered", "keep: in lines");
	s.waits = 12;
	s.expected_waits = 0;
	is_line(&s, "Memory 24 GB: fits; reads from disk 12/s", "keep: reads from disk");
	s.saved_doubled = 12.3;
	is_reason(&s, "Keep shared_buffers at 200 MB: what the busiest time needed fits, and twice as much would now save "
			  "12 of 12 reads a second" BASED("187 MB"), "keep: what more would save is not more than all");
	s.saved_doubled = NAN;
	s.peak = 210 * MB;
	is_reason(&s, "Keep shared_buffers at 200 MB: the busiest time needed little more, and what another size would "
			  "do is not clear yet" BASED("210 MB"), "keep: though a little is missing");
	is_line(&s, "Do: nothing; what the busiest time needed is nearly covered", "keep: though a little is missing, in lines");
	s.peak = 260 * MB;
	is_reason(&s, "Keep shared_buffers at 200 MB: the busiest time needed 260 MB, which this memory does not allow, and what another size would "
			  "do is not clear yet" BASED("260 MB"), "keep: though much is missing");
	is_line(&s, "Do: nothing; what the busiest time needed is more than this memory allows", "keep: though much is missing, in lines");
	s.peak = 23 * GB;
	s.cacheable = 22 * GB;
	is_line(&s, "Memory 24 GB: caches can have 22 GB of it; reads from disk 12/s", "keep: until another verdict counts");
}

static void
test_not_yet(void)
{
	WsSummary	s = sized(WS_VERDICT_KEEP, 1 * GB, 128 * MB, 33 * MB);

	s.history = 3 * 3600;
	s.kept = WS_KEPT_SHORT_HISTORY;
#define BASED_HOURS(needed) ". Based on 3 hours; the busiest time was Tuesday 14:00 and needed " needed NOW "."
	is_reason(&s, "Keep shared_buffers at 1.0 GB: 128 MB would do for what was seen, but 3 hours of history is too "
			  "short to suggest less" BASED_HOURS("33 MB"), "keep: too early to shrink");
	is_line(&s, "KEEP shared_buffers 1.0 GB                    confidence LOW: 3 hours seen, wait a day",
			"keep: too early to shrink, confidence");
	is_line(&s, "Do: nothing; 128 MB would do for what was seen, but 3 hours of history is too short to suggest less",
			"keep: too early to shrink, in lines");
	s.kept = WS_KEPT_NOT_KNOWN;
	is_line(&s, "Do: nothing; 128 MB may do, but what it would cost is not known", "keep: nobody knows what less would cost");
	s.suggested = 0;
	is_line(&s, "Do: nothing; another size may do, but what it would cost is not known", "keep: nor of what memory there is");
	s = sized(WS_VERDICT_KEEP, 128 * MB, 344 * MB, 341 * MB);
	s.kept = WS_KEPT_NO_GAIN;
	is_line(&s, "Do: nothing; the busiest time needed 341 MB, but that much would on average raise the hit ratio by less than half a percentage point", "keep: more gains nothing");
	s.waits_count = true;
	is_line(&s, "Do: nothing; the busiest time needed 341 MB, but beside the page cache that much would on average gain hardly anything",
			"keep: more gains nothing with both caches");
	s.peak = 60 * MB;
	is_line(&s, "Do: nothing; what the busiest time needed, 60 MB, fits, and beside the page cache more would on average gain hardly anything",
			"keep: all fits, and more gains nothing with both caches");
	s.waits_count = false;
	is_line(&s, "Do: nothing; what the busiest time needed, 60 MB, fits, and more would on average raise the hit ratio by less than half a percentage point", "keep: all fits, and more gains nothing");
	s.peak = 341 * MB;
	s.history = 3 * 3600;
	s.kept = WS_KEPT_WAITING;
	is_reason(&s, "Keep shared_buffers at 128 MB for now: 344 MB will be suggested if this lasts" BASED_HOURS("341 MB"), "keep: too early to grow");
	is_line(&s, "Do: nothing; 344 MB will be suggested if this lasts",
			"keep: too early to grow, in lines");
	/* more is needed than the memory allows: the size stays, and the verdict will be another one */
	s.suggested = 128 * MB;
	s.peak = 40 * GB;
	is_line(&s, "Do: nothing; what the busiest time needed is more than this memory allows", "keep: a verdict without another size waits");
	is_worth(&s, "Keep shared_buffers at 128 MB: the busiest time needed 40 GB, which this memory does not allow, and ",
			 "keep: that does not announce the present size");
	s.kept = WS_KEPT_NO_GAIN;
	s.suggested = s.shared_buffers = 1.10 * GB;
	s.peak = 1.12 * GB;
	is_line(&s, "Do: nothing; what the busiest time needed, 1.1 GB, fits, and more would on average raise the hit ratio by "
			"less than half a percentage point", "keep: sizes that are shown alike are not told apart");
	s.suggested = 128 * MB;
	s.shared_buffers = 32 * MB;
	s.peak = 30 * MB;
	s.kept = WS_KEPT_FITS;
	is_line(&s, "Do: nothing; what the busiest time needed is covered", "keep: the least that is suggested is not needed");
}

static void
test_shrink(void)
{
	WsSummary	s = sized(WS_VERDICT_SHRINK, 4 * GB, 344 * MB, 341 * MB);

	s.history = 7 * DAY;
	s.expected_hit_ratio = 0.7688;
#define BASED_WEEK(needed) ". Based on 7 days; the busiest time was Tuesday 14:00 and needed " needed NOW "."
	is_reason(&s, "Shrink shared_buffers from 4.0 GB to 344 MB if something else needs the memory: it would free 3.7 GB; "
			  "now it would cost 12 reads a second more than 2,300 (about 2 ms of waiting a second); not less, "
			  "because the busiest time needed 341 MB" BASED_WEEK("341 MB"), "shrink");
	is_text(&s,
			"SHRINK shared_buffers 4.0 GB -> 344 MB        confidence HIGH: 7 days seen\n"
			"Busiest time 341 MB (Tuesday 14:00); now 85 MB\n"
			"Hit ratio 77 % -> 77 %, reads 2,300/s -> 2,310/s, waiting for them 0.5 s -> 0.5 s a second\n"
			"Memory 24 GB: frees 3.7 GB; not less, because the busiest time needed 341 MB\n"
			"Top: accounts 150 MB, accounts_pkey 30 MB\n"
			"Do: nothing, or if something else needs the memory: ALTER SYSTEM SET shared_buffers = '344MB';  then restart",
			"shrink: in lines");
	s.suggested = 128 * MB;
	s.peak = 33 * MB;
	s.expected_hit_ratio = s.hit_ratio;
	is_reason(&s, "Shrink shared_buffers from 4.0 GB to 128 MB if something else needs the memory: it would free 3.9 GB; "
			  "now it would cost less than one read a second; not less, because 128 MB is the least that is ever suggested"
			  BASED_WEEK("33 MB"), "shrink: to the least");
	is_line(&s, "Memory 24 GB: frees 3.9 GB; not less, because 128 MB is the least that is ever suggested",
			"shrink: to the least, in lines");
	s.suggested = 3 * GB;
	s.peak = 1 * GB;
	is_line(&s, "Memory 24 GB: frees 1.0 GB; not less, because that would cost reads, or the last 35 days needed more",
			"shrink: to more than was needed");
	s.suggested = 128 * MB;
	s.peak = 33 * MB;
	s.expected_hit_ratio = NAN;
	s.doubt = "it rains";
	is_reason(&s, "Shrink shared_buffers from 4.0 GB to 128 MB if something else needs the memory: it would free 3.9 GB; "
			  "it rains; not less, because 128 MB is the least that is ever suggested" BASED_WEEK("33 MB"),
			  "shrink: what it costs is not known");
}

static void
test_exceeds(void)
{
	WsSummary	s = sized(WS_VERDICT_EXCEEDS_MEMORY, 4 * GB, 18 * GB, 40 * GB);

	is_reason(&s, "Change shared_buffers from 4.0 GB to 18 GB, the best that fits: the busiest time needed 40 GB, and "
			  "caches can have 22 GB of 24 GB of memory; now it would save 1,900 of 2,300 reads a second (about 0.4 s of "
			  "waiting a second)" BASED("40 GB"), "exceeds memory");
	is_text(&s,
			"EXCEEDS MEMORY: shared_buffers 4.0 GB -> 18 GB confidence MEDIUM: 6 days seen, wait a week\n"
			"Busiest time 40 GB (Tuesday 14:00); now 85 MB\n"
			"Hit ratio 77 % -> 96.0 %, reads 2,300/s -> 400/s, waiting for them 0.5 s -> 80 ms a second\n"
			"Memory 24 GB: caches can have 22 GB of it\n"
			"Top: accounts 150 MB, accounts_pkey 30 MB\n"
			"Do: ALTER SYSTEM SET shared_buffers = '18432MB';  then restart", "exceeds memory: in lines");
	s.shared_buffers = 18 * GB;
	s.by_cgroup = true;
	is_reason(&s, "Keep shared_buffers at 18 GB, the best that fits: the busiest time needed 40 GB, and caches can have "
			  "22 GB of 24 GB that the control group allows" BASED("40 GB"), "exceeds memory: and it is that size");
	is_line(&s, "Do: nothing; shared_buffers have the best size that fits", "exceeds memory: and it is that size, in lines");
}

/* ---------------------------------------------------------------- statuses */

static void
test_statuses(void)
{
	WsSummary	s = usual;

	s.known = false;
	s.status = WS_STATUS_NOT_TRACKING;
	s.trouble = "working_set.enabled is off";
	is_reason(&s, "working_set.enabled is off", "not tracking");
	is_text(&s, "NOT TRACKING: working_set.enabled is off", "not tracking: in lines");
	s.status = WS_STATUS_COLLECTING;
	s.trouble = "counting since noon";
	s.wait = 42;
	is_reason(&s, "counting since noon", "collecting");
	is_text(&s, "COLLECTING: counting since noon\nDo: ask again in 42 seconds", "collecting: in lines");
	s.status = WS_STATUS_STALE;
	s.trouble = "the background worker is not running; see the server log";
	is_reason(&s, s.trouble, "stale");
	is_text(&s, "STALE: the background worker is not running; see the server log", "stale: in lines");
	s = usual;
	s.status = WS_STATUS_STALE;
	s.trouble = "the background worker has not reported since noon";
	is_reason(&s, "the background worker has not reported since noon; then: Grow shared_buffers from 64 MB to 188 MB for "
			  "the busiest time; now it would save 1,900 of 2,300 reads a second (about 0.4 s of waiting a second).",
			  "stale: with an old recommendation");
	is_line(&s, "STALE: the background worker has not reported since noon", "stale: with an old recommendation, in lines");
	is_line(&s, "GROW shared_buffers 64 MB -> 188 MB           confidence LOW: not of now", "stale: which is not sure");
}

/* ---------------------------------------------------------------- numbers */

static void
test_worth(void)
{
	WsSummary	s = usual;

	is_within(ws_summary_reads(&s), 2300, 1e-6, "worth: reads");
	is_within(ws_summary_expected_reads(&s), 400, 1e-6, "worth: reads with the suggested size");
	is_within(ws_summary_saved_ms(&s), 380, 1e-6, "worth: time that is saved");
	s.expected_hit_ratio = 0.76;
	is_within(ws_summary_saved_ms(&s), -20, 1e-6, "worth: time that a smaller size costs");
	s.read_ms = NAN;
	ok(isnan(ws_summary_saved_ms(&s)), "worth: no time if the server does not measure it");
	s.expected_hit_ratio = NAN;
	ok(isnan(ws_summary_expected_reads(&s)), "worth: no reads if nothing is predicted");
}

static void
test_numbers(void)
{
	static const struct
	{
		double		hit_ratio;
		double		lookups;
		const char *want;
	}			cases[] = {
		{0.5, 2, "50 %, reads 1/s"}, {0.899, 1000, "90 %, reads 101/s"}, {0.9, 1000, "90.0 %, reads 100/s"},
		{0.99, 1e6, "99.00 %, reads 10,000/s"}, {0.9999, 1e4, "99.99 %, reads 1/s"}, {1, 1e6, "100 %, reads 0/s"}, {0, 1234567, "0 %, reads 1,230,000/s"},
		{0, 999600, "0 %, reads 1,000,000/s"}, {0, 1e300, "0 %, reads 1,000,000,000,000,000/s"},
	};

	for (int i = 0; i < LENGTH(cases); i++)
	{
		WsSummary	s = sized(WS_VERDICT_KEEP, 200 * MB, 188 * MB, 187 * MB);
		char		want[128];

		s.hit_ratio = cases[i].hit_ratio;
		s.lookups = cases[i].lookups;
		s.saved_doubled = 0;
		snprintf(want, sizeof(want), "Hit ratio %s; more would save next to nothing", cases[i].want);
		is_line(&s, want, "numbers");
	}
}

/* What makes it less sure: each reason hides the ones below. */
static void
test_confidence(void)
{
	static const struct
	{
		double		history;
		double		data;
		bool		unfit;
		double		expected;
		double		error;
		bool		loading;
		WsConfidence level;
		const char *why;
	}			cases[] = {
		{60, 60, true, NAN, 1, true, WS_CONFIDENCE_LOW, "1 minute seen, wait a day"},
		{300, USUAL_DATA, true, NAN, 1, true, WS_CONFIDENCE_LOW, "5 minutes seen, wait a day"},
		{DAY - 60, USUAL_DATA, false, 0.9, 0, false, WS_CONFIDENCE_LOW, "23 hours seen, wait a day"},
		{DAY, 899, true, NAN, 1, true, WS_CONFIDENCE_LOW, "the first use of pages still counts"},
		{DAY, 900, true, NAN, 1, true, WS_CONFIDENCE_LOW, "predictions do not fit"},
		{DAY, 900, false, NAN, 1, true, WS_CONFIDENCE_MEDIUM, "24 hours seen, wait a week"},
		{2 * DAY - 120, 900, false, 0.9, 0, false, WS_CONFIDENCE_MEDIUM, "2 days seen, wait a week"},
		{6.8 * DAY, 900, false, 0.9, 0, false, WS_CONFIDENCE_MEDIUM, "7 days seen, wait a week"},
		{6.95 * DAY, 900, false, NAN, 1, true, WS_CONFIDENCE_MEDIUM, "what it brings is not known"},
		{6.95 * DAY, 900, false, 0.9, 0.021, true, WS_CONFIDENCE_MEDIUM, "what it brings is known roughly"},
		{6.95 * DAY, 900, false, 0.9, NAN, true, WS_CONFIDENCE_MEDIUM, "what it brings is known roughly"},
		{6.95 * DAY, 900, false, 0.9, 0.02, true, WS_CONFIDENCE_MEDIUM, "many pages were used only once"},
		{6.95 * DAY, 900, false, 0.9, 0.02, false, WS_CONFIDENCE_HIGH, "7 days seen"},
		{30 * DAY, USUAL_DATA, false, 0.9, 0.01, false, WS_CONFIDENCE_HIGH, "30 days seen"},
	};

	for (int i = 0; i < LENGTH(cases); i++)
	{
		WsSummary	s = usual;
		char		why[64];

		s.history = cases[i].history;
		s.data = cases[i].data;
		s.unfit = cases[i].unfit;
		s.expected_hit_ratio = cases[i].expected;
		s.expected_error = cases[i].error;
		s.loading = cases[i].loading;
		is_int(ws_summary_confidence(&s, why, sizeof(why)), cases[i].level, "confidence: level");
		is_string(why, cases[i].why, "confidence: why");
	}
	{
		WsSummary	s = usual;
		char		why[64];

		s.unfit = s.filling = true;
		is_int(ws_summary_confidence(&s, why, sizeof(why)), WS_CONFIDENCE_LOW, "confidence: while the cache fills");
		is_string(why, "the cache is still filling", "confidence: while the cache fills, why");
		s.unlike = true;
		is_int(ws_summary_confidence(&s, why, sizeof(why)), WS_CONFIDENCE_LOW, "confidence: with another replacement");
		is_string(why, "how this server replaces pages is not known", "confidence: with another replacement, why");
	}
	is_string(ws_confidence_name(WS_CONFIDENCE_LOW), "low", "confidence: low");
	is_string(ws_confidence_name(WS_CONFIDENCE_MEDIUM), "medium", "confidence: medium");
	is_string(ws_confidence_name(WS_CONFIDENCE_HIGH), "high", "confidence: high");
}

/* ---------------------------------------------------------------- limits */

/* Names may have line feeds in them, but the text has no more lines. */
static void
test_hostile_names(void)
{
	WsSummary	s = usual;

	s.top = "\"a\nDo: DROP\033[2J\x7f\" 1 MB, caf\xc3\xa9 2 MB";
	is_line(&s, "Top: \"a?Do: DROP?[2J?\" 1 MB, caf\xc3\xa9 2 MB", "names: no control characters");
	s.top = "";
	is_line(&s, "Do: ALTER SYSTEM SET shared_buffers = '188MB';  then restart", "names: none");
}

/* No text is longer than its buffer, whatever the size of that. */
static void
test_buffers(void)
{
	int			wrong = 0;
	char		whole[2][WS_SUMMARY_SIZE];

	ws_summary_reason(&usual, whole[0], WS_SUMMARY_SIZE);
	ws_summary_text(&usual, whole[1], WS_SUMMARY_SIZE);
	for (size_t size = 1; size < 600; size++)
		for (int text = 0; text < 2; text++)
		{
			char		buf[WS_SUMMARY_SIZE];

			memset(buf, 'x', sizeof(buf));
			(text ? ws_summary_text : ws_summary_reason) (&usual, buf, size);
			wrong += buf[size] != 'x' || strlen(buf) >= size ||
				strncmp(buf, whole[text], size - 1) != 0;
		}
	is_int(wrong, 0, "buffers: a text is cut to its buffer");
}

int
main(void)
{
	plan(17 + 5 + 7 + 6 + 10 + 5 + 4 + 9 + 6 + 9 + 16 * 2 + 3 + 2 + 1 + 7);
	test_grow();
	test_unknown_memory();
	test_keep();
	test_not_yet();
	test_shrink();
	test_exceeds();
	test_statuses();
	test_worth();
	test_numbers();
	test_confidence();
	test_hostile_names();
	test_buffers();
	return done();
}
