/*
 * history_t.c
 *		Tests of the history: its places, the clock set back, what is read of it,
 *		and all of it against a plain list of everything that was ever added.
 *
 * Seeds are fixed, so a run either always passes or always fails.
 */
#include "tap.h"
#include "history.h"
#include "yardstick.h"

#define HOUR INT64_C(3600)
#define DAY (24 * HOUR)

/* a Tuesday of 2027, at the beginning of a quarter of an hour */
#define NOON (INT64_C(2000000) * 900)

static WsHistory h;
static WsHistory other;
static WsHistoryEntry entries[WS_HISTORY_ENTRIES];

/* a row whose sizes can be told from those of other tags */
static WsHistoryRow
row_of(double recommended, double tag, uint64_t lookups, uint64_t hits)
{
	WsHistoryRow row;

	row.number = -12345;		/* ignored */
	row.working_set = tag;
	row.recommended = recommended;
	row.plateau_end = tag + 0.25;
	row.live = tag + 0.5;
	row.lookups = lookups;
	row.hits = hits;
	return row;
}

static void
add(WsHistory *history, int64_t time, double recommended, double tag)
{
	WsHistoryRow row = row_of(recommended, tag, 10, 4);

	ws_history_add(history, time, &row);
}

static bool
same_size(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b;
}

static bool
same_row(const WsHistoryRow *a, const WsHistoryRow *b)
{
	return a->number == b->number && same_size(a->working_set, b->working_set) &&
		same_size(a->recommended, b->recommended) &&
		same_size(a->plateau_end, b->plateau_end) && same_size(a->live, b->live) &&
		a->lookups == b->lookups && a->hits == b->hits;
}

static bool
same_history(const WsHistory *a, const WsHistory *b)
{
	for (int i = 0; i < WS_HISTORY_MINUTES; i++)
		if (!same_row(&a->minutes[i], &b->minutes[i]))
			return false;
	for (int i = 0; i < WS_HISTORY_QUARTERS; i++)
		if (!same_row(&a->quarters[i], &b->quarters[i]))
			return false;
	return true;
}

static int
count_rows(const WsHistoryRow *rows, int places)
{
	int			n = 0;

	for (int i = 0; i < places; i++)
		n += rows[i].number != 0;
	return n;
}

static int
count_minutes(const WsHistory *history)
{
	return count_rows(history->minutes, WS_HISTORY_MINUTES);
}

static int
count_quarters(const WsHistory *history)
{
	return count_rows(history->quarters, WS_HISTORY_QUARTERS);
}

/* the rows of a time, whatever they are of now */
static WsHistoryRow *
minute_at(WsHistory *history, int64_t time)
{
	return &history->minutes[time / 60 % 1440];
}

static WsHistoryRow *
quarter_at(WsHistory *history, int64_t time)
{
	return &history->quarters[time / 900 % 2880];
}

/* is there a row of this time, with these sizes and counts? */
static bool
minute_is(int64_t time, double recommended, double tag, uint64_t lookups, uint64_t hits)
{
	WsHistoryRow want = row_of(recommended, tag, lookups, hits);

	want.number = time / 60;
	return same_row(minute_at(&h, time), &want);
}

static bool
quarter_is(int64_t time, double recommended, double tag, uint64_t lookups, uint64_t hits)
{
	WsHistoryRow want = row_of(recommended, tag, lookups, hits);

	want.number = time / 900;
	return same_row(quarter_at(&h, time), &want);
}

/* a minute of every one up to now is there, for so many days */
static void
fill(WsHistory *history, int64_t now, int days)
{
	int64_t		last = now / 60;

	ws_history_init(history);
	for (int64_t m = last - days * 1440 + 1; m <= last; m++)
		add(history, m * 60, (double) (m % 1000), (double) m);
}

static void
test_empty(void)
{
	WsHistoryEntry peak;

	memset(&h, 0x5A, sizeof(h));
	ws_history_init(&h);
	is_int(count_minutes(&h) + count_quarters(&h), 0, "a new history has no row");
	ok(ws_history_check(&h) == NULL, "and is valid");
	is_int(ws_history_read(&h, NOON, entries), 0, "nothing is read of it");
	is_int(ws_history_read(&h, 0, entries), 0, "nor in 1970");
	ok(!ws_history_peak(&h, NOON, DAY, &peak), "it has no peak");
	ok(!ws_history_peak(&h, 0, DAY, &peak), "nor in 1970, of times before");
	is_int(ws_history_known(&h, NOON, DAY), 0, "no minute is known");
	is_int(ws_history_set_back(&h, NOON, DAY), 0, "and there is nothing to move");
	ok(sizeof(WsHistory) == 56 * (1440 + 2880) && WS_HISTORY_ENTRIES == 1440 + 2880,
	   "it has the size that its description gives");
}

static bool
counted(WsHistoryCount *last, int64_t since, uint64_t lookups, uint64_t hits,
		uint64_t new_lookups, uint64_t new_hits)
{
	WsHistoryRow row = {.lookups = 99, .hits = 99};
	WsHistoryCount now = {since, lookups, hits};

	ws_history_count(&row, last, &now);
	return row.lookups == new_lookups && row.hits == new_hits &&
		last->since == since && last->lookups == lookups && last->hits == hits;
}

static void
test_count(void)
{
	WsHistoryCount last = {0};

	ok(counted(&last, 7, 1000, 900, 0, 0), "what was counted before the first look is of no minute");
	ok(counted(&last, 7, 1010, 905, 10, 5), "then what is new counts");
	ok(counted(&last, 7, 1010, 905, 0, 0), "or nothing");
	ok(counted(&last, 8, 3, 2, 3, 2), "after a reset all that there is");
	ok(counted(&last, 9, 500, 400, 500, 400), "also if that is more than before");
	ok(counted(&last, 9, 400, 410, 0, 0), "less without a reset is nothing, not nearly all numbers");
	ok(counted(&last, 9, 401, 440, 1, 1), "and hits are lookups");
	ok(counted(&last, 10, UINT64_MAX, 1, UINT64_MAX, 1) && counted(&last, 10, 5, 1, 0, 0),
	   "at the end of numbers, too");
}

static void
test_add(void)
{
	WsHistoryRow row = row_of(7, 70, 100, 30);
	WsHistoryRow before = row;

	ws_history_init(&h);
	ws_history_add(&h, NOON + 59, &row);
	ok(same_row(&row, &before), "what is added is not changed");
	ok(minute_is(NOON, 7, 70, 100, 30), "a minute has what was added, and its own number");
	ok(quarter_is(NOON, 7, 70, 100, 30), "so has its quarter");
	is_int(count_minutes(&h) * 1000 + count_quarters(&h), 1001, "and there is nothing else");

	row = row_of(5, 50, 1000, 1000);
	ws_history_add(&h, NOON, &row);
	ok(minute_is(NOON, 7, 70, 1100, 1030), "a lower recommendation adds its lookups and hits");
	ok(quarter_is(NOON, 7, 70, 1100, 1030), "also to the quarter");
	row = row_of(9, 90, 1, 0);
	ws_history_add(&h, NOON + 30, &row);
	ok(minute_is(NOON, 9, 90, 1101, 1030), "a higher one brings all its sizes");
	ok(quarter_is(NOON, 9, 90, 1101, 1030), "also to the quarter");
	row = row_of(9, 91, 0, 0);
	ws_history_add(&h, NOON + 31, &row);
	ok(minute_is(NOON, 9, 91, 1101, 1030) && quarter_is(NOON, 9, 91, 1101, 1030),
	   "of equal recommendations the last");
	row = row_of(NAN, 99, 5, 5);
	ws_history_add(&h, NOON + 32, &row);
	ok(minute_is(NOON, 9, 91, 1106, 1035) && quarter_is(NOON, 9, 91, 1106, 1035),
	   "one that is not known is below any other");

	row = row_of(8, 80, 20, 10);
	ws_history_add(&h, NOON + 60, &row);
	ok(minute_is(NOON, 9, 91, 1106, 1035) && minute_is(NOON + 60, 8, 80, 20, 10),
	   "the next minute is another");
	ok(quarter_is(NOON, 9, 91, 1126, 1045), "of the same quarter");
	row = row_of(10, 100, 30, 20);
	ws_history_add(&h, NOON + 899, &row);
	ok(quarter_is(NOON, 10, 100, 1156, 1065), "until its last second");
	ws_history_add(&h, NOON + 900, &row);
	ok(quarter_is(NOON, 10, 100, 1156, 1065) && quarter_is(NOON + 900, 10, 100, 30, 20),
	   "then comes the next");
	is_int(count_minutes(&h) * 1000 + count_quarters(&h), 4002, "which makes 4 and 2 rows");
	ok(ws_history_check(&h) == NULL, "and all is valid");

	ws_history_init(&h);
	row = row_of(NAN, 1, 5, 5);
	ws_history_add(&h, NOON, &row);
	ok(minute_is(NOON, NAN, 1, 5, 5), "a recommendation that is not known is a row");
	row = row_of(NAN, 2, 5, 5);
	ws_history_add(&h, NOON, &row);
	ok(minute_is(NOON, NAN, 2, 10, 10), "of two the last");
	row = row_of(0, 3, 5, 5);
	ws_history_add(&h, NOON, &row);
	ok(minute_is(NOON, 0, 3, 15, 15) && quarter_is(NOON, 0, 3, 15, 15),
	   "0 pages are above what is not known");
	row = row_of(NAN, NAN, 0, 0);
	ws_history_add(&h, NOON + 60, &row);
	ok(minute_is(NOON + 60, NAN, NAN, 0, 0) && ws_history_check(&h) == NULL,
	   "a minute of which nothing is known is valid");

	/* sizes are kept to the page, and compared so */
	ws_history_init(&h);
	add(&h, NOON, 0, 0);
	add(&h, NOON + 60, 1, 1);
	add(&h, NOON + 120, 0x1p40 - 1, 0x1p40 - 1);
	ok(minute_is(NOON, 0, 0, 10, 4) && minute_is(NOON + 60, 1, 1, 10, 4) &&
	   minute_is(NOON + 120, 0x1p40 - 1, 0x1p40 - 1, 10, 4), "0, 1 and 2^40 - 1 pages are kept");
	add(&h, NOON + 121, 0x1p40, 5);
	add(&h, NOON + 122, 0x1p40 - 1, 6);
	ok(minute_is(NOON + 120, 0x1p40, 5, 30, 12), "a page more is more");
	ok(ws_history_check(&h) == NULL, "and all is valid");

	/* but no more than fit in bytes */
	ws_history_init(&h);
	row = (WsHistoryRow) {0, INFINITY, 0x1p40 + 1, 1e300, 0x1p63, 1, 1};
	ws_history_add(&h, NOON, &row);
	ok(minute_at(&h, NOON)->working_set == 0x1p40 && minute_at(&h, NOON)->recommended == 0x1p40 &&
	   minute_at(&h, NOON)->plateau_end == 0x1p40 && quarter_at(&h, NOON)->live == 0x1p40,
	   "more than 2^40 pages are cut to 2^40");
	ok(ws_history_check(&h) == NULL, "which is valid");

	ws_history_init(&h);
	row = row_of(1, 1, INT64_MAX - 1, 10);
	ws_history_add(&h, NOON, &row);
	row = row_of(1, 1, 1, 1);
	ws_history_add(&h, NOON, &row);
	ok(minute_is(NOON, 1, 1, INT64_MAX, 11), "lookups fit up to the last");
	row = row_of(1, 1, UINT64_MAX, UINT64_MAX);
	ws_history_add(&h, NOON, &row);
	ok(minute_is(NOON, 1, 1, INT64_MAX, INT64_MAX) && ws_history_check(&h) == NULL,
	   "and beyond it do not become less than the hits");
}

static void
test_times(void)
{
	static const int64_t early[] = {-1, -59, -60, -61, -899, -900, -86400, -100 * DAY,
	INT64_MIN + 1, INT64_MIN, 0, 59};
	WsHistoryEntry peak;
	int			n;

	ws_history_init(&h);
	for (size_t i = 0; i < sizeof(early) / sizeof(*early); i++)
		add(&h, early[i], 1, 1);
	ws_history_init(&other);
	ok(same_history(&h, &other), "times before 1970, and its first minute, leave no trace");
	add(&h, 60, 1, 1);
	add(&h, 899, 2, 2);
	ok(minute_is(60, 1, 1, 10, 4) && minute_is(899, 2, 2, 10, 4),
	   "the second minute of all is kept");
	is_int(count_quarters(&h), 0, "the first quarter is not");
	add(&h, 900, 3, 3);
	ok(quarter_is(900, 3, 3, 10, 4), "but the second");
	is_int(ws_history_read(&h, 59, entries), 0, "in the first minute nothing is read");
	n = ws_history_read(&h, 60, entries);
	ok(n == 1 && entries[0].end == 120 && entries[0].minutes == 1, "in the second one row");
	is_int(ws_history_known(&h, 959, 100000), 3, "after 16 minutes 3 are known");
	is_int(ws_history_known(&h, 960, INT64_MAX), 3, "of all time");
	is_int(ws_history_known(&h, 960, 900), 2, "or of the last quarter");
	ok(ws_history_peak(&h, 960, INT64_MAX, &peak) && peak.end == 960 && peak.row.recommended == 3,
	   "the highest of all time is found");
	ok(ws_history_peak(&h, 899, 860, &peak) && peak.end == 900 && peak.row.recommended == 2,
	   "and the highest up to some time");

	for (size_t i = 0; i < 10; i++)
	{
		n = ws_history_read(&h, early[i], entries);
		n += ws_history_known(&h, early[i], INT64_MAX);
		n += ws_history_known(&h, early[i], INT64_MIN);
		n += ws_history_peak(&h, early[i], INT64_MAX, &peak);
		n += ws_history_peak(&h, early[i], INT64_MIN, &peak);
		ws_history_init(&other);
		ws_history_merge(&other, &h, early[i]);
		n += ws_history_read(&other, early[i], entries);
		if (n != 0)
			break;
	}
	is_int(n, 0, "before 1970 nothing was");

	/* the end of time, where the last minute has 8 seconds */
	add(&h, INT64_MAX, 7, 7);
	ok(minute_is(INT64_MAX, 7, 7, 10, 4) && quarter_is(INT64_MAX, 7, 7, 10, 4),
	   "at the end of time there is a row");
	add(&h, INT64_MAX - 8, 6, 6);
	ok(ws_history_check(&h) == NULL, "and it is valid");
	n = ws_history_read(&h, INT64_MAX, entries);
	ok(n == 2 && entries[0].end == INT64_MAX && entries[0].row.recommended == 7,
	   "a minute that cannot end ends at the end of time");
	is_int(entries[1].end, INT64_MAX - 7, "the one before it where it does");
	ok(ws_history_peak(&h, INT64_MAX, 8, &peak) && peak.row.recommended == 7,
	   "the highest of the last seconds of time");
	ok(!ws_history_peak(&h, INT64_MAX, 7, &peak), "is before the very last");
	is_int(ws_history_known(&h, INT64_MAX, INT64_MAX), 2, "two minutes of all time are known");
	is_int(ws_history_known(&h, INT64_MAX, INT64_MIN), 0, "none of a time less than none");
	ok(!ws_history_peak(&h, INT64_MAX, INT64_MIN, &peak), "nor has it a peak");
	quarter_at(&h, INT64_MAX)->recommended = 8;
	ok(ws_history_peak(&h, INT64_MAX, DAY, &peak) && peak.minutes == 15 && peak.end == INT64_MAX,
	   "nor can the last quarter end");
	quarter_at(&h, INT64_MAX - 8)->recommended = 9;
	ok(ws_history_peak(&h, INT64_MAX - 8, DAY, &peak) && peak.minutes == 15 &&
	   peak.end == INT64_MAX - 7, "the one before it can");
	ws_history_init(&other);
	ws_history_merge(&other, &h, INT64_MAX);
	ok(same_history(&other, &h), "all of it is taken over");

	ws_history_init(&h);
	add(&h, INT64_MAX, 7, 7);
	is_int(ws_history_set_back(&h, INT64_MAX - DAY, DAY), 2, "and moved back by a day");
	ok(minute_is(INT64_MAX - DAY, 7, 7, 10, 4) && quarter_is(INT64_MAX - DAY, 7, 7, 10, 4),
	   "to where it belongs");
	is_int(ws_history_set_back(&h, INT64_MAX - DAY, INT64_MAX), 0, "what is not after now is not");
	is_int(ws_history_set_back(&h, 0, INT64_MAX), 0, "nor what would come before 1970");
	is_int(ws_history_set_back(&h, 0, INT64_MIN), 0, "nor by less than nothing");
	is_int(ws_history_set_back(&h, INT64_MIN, INT64_MAX - 2 * DAY), 2, "nearly all of time");
	ok(minute_is(DAY, 7, 7, 10, 4) && quarter_is(DAY, 7, 7, 10, 4), "to the beginning");
}

static void
test_places(void)
{
	ws_history_init(&h);
	add(&h, NOON, 1, 1);
	add(&h, NOON + DAY - 60, 2, 2);
	ok(minute_is(NOON, 1, 1, 10, 4), "a minute less than a day later a row is still there");
	add(&h, NOON + DAY, 3, 3);
	ok(minute_is(NOON + DAY, 3, 3, 10, 4), "a day later its place is written again");
	ok(quarter_is(NOON, 1, 1, 10, 4), "the quarter's is not");
	is_int(count_minutes(&h), 2, "no other row is touched");

	add(&h, NOON, 9, 9);
	ok(minute_is(NOON, 9, 9, 10, 4), "a row of now takes the place of a later one");
	ok(quarter_is(NOON, 9, 9, 20, 8), "but to its quarter all the same");

	add(&h, NOON + 30 * DAY - 900, 4, 4);
	ok(quarter_is(NOON, 9, 9, 20, 8), "a quarter less than 30 days later it is still there");
	add(&h, NOON + 30 * DAY, 5, 5);
	ok(quarter_is(NOON + 30 * DAY, 5, 5, 10, 4), "30 days later its place is written again");
	add(&h, NOON, 9, 9);
	ok(quarter_is(NOON, 9, 9, 10, 4), "and again, when the clock is set back");
	ok(ws_history_check(&h) == NULL, "all is valid");

	fill(&h, NOON + 840, 31);
	is_int(count_minutes(&h), 1440, "after 31 days there is a minute for each of a day");
	is_int(count_quarters(&h), 2880, "and a quarter for each of 30 days");
	is_int(ws_history_read(&h, NOON + 840, entries), 1440 + 2784,
		   "which are listed, but quarters of that day");
	is_int(ws_history_read(&h, NOON + 899, entries), 1440 + 2784, "to the last second");
	ok(ws_history_check(&h) == NULL, "all is valid");
}

/* what is listed of whole days, as it is told in words */
static void
test_read(void)
{
	long		wrong = 0;
	long		sizes = 0;
	int			n;

	/* NOON begins a quarter: the day behind begins in the middle of another */
	fill(&h, NOON, 31);
	n = ws_history_read(&h, NOON, entries);
	is_int(n, 1440 + 2783, "31 days are a day of minutes and 29 of quarters");
	for (int i = 0; i < 1440; i++)
	{
		wrong += entries[i].end != NOON + 60 - 60 * i || entries[i].minutes != 1 ||
			entries[i].row.number != NOON / 60 - i;
		sizes += !same_row(&entries[i].row, minute_at(&h, NOON - 60 * i));
	}
	is_int(wrong, 0, "first the minutes, the present one first of all");
	is_int(sizes, 0, "with what is known about them");
	is_int(entries[1439].end, NOON - DAY + 120, "up to a day ago");
	wrong = 0;
	for (int i = 1440; i < n; i++)
	{
		wrong += entries[i].end != NOON - DAY - 900 * (i - 1440) || entries[i].minutes != 15 ||
			entries[i].row.number * 900 + 900 != entries[i].end;
		sizes += !same_row(&entries[i].row, quarter_at(&h, entries[i].end - 900));
	}
	is_int(wrong, 0, "then the quarters before these");
	is_int(sizes, 0, "with what is known about them, too");
	is_int(entries[n - 1].end, NOON + 900 - 30 * DAY + 900, "up to 30 days ago");

	n = ws_history_read(&h, NOON - 1, entries);
	ok(n == 1439 + 2783 && entries[0].end == NOON && entries[1438].end == NOON - DAY + 120 &&
	   entries[1439].end == NOON - DAY,
	   "a second before, the present minute had not come, nor had its quarter");
	n = ws_history_read(&h, NOON + 59, entries);
	ok(n == 1440 + 2783 && entries[0].end == NOON + 60, "it lasts for 60 seconds");
	n = ws_history_read(&h, NOON + 60, entries);
	ok(n == 1439 + 2783 && entries[0].end == NOON + 60 && entries[1438].end == NOON - DAY + 180,
	   "then the next begins, and the oldest is not of the last day");
	n = ws_history_read(&h, NOON + 780, entries);
	ok(n == 1427 + 2783 && entries[1427].end == NOON - DAY,
	   "a quarter is not listed while a minute of it is");
	n = ws_history_read(&h, NOON + 840, entries);
	ok(n == 1426 + 2784 && entries[1426].end == NOON - DAY + 900 &&
	   entries[n - 1].end == NOON + 900 - 30 * DAY + 900,
	   "and is when its last minute no longer is");
	n = ws_history_read(&h, NOON + 900, entries);
	ok(n == 1425 + 2783 && entries[n - 1].end == NOON + 900 - 30 * DAY + 1800,
	   "with the next quarter the oldest goes");

	n = ws_history_read(&h, NOON + DAY - 60, entries);
	ok(n == 1 + 2879 - 95 && entries[0].end == NOON + 60 && entries[0].minutes == 1 &&
	   entries[1].end == NOON,
	   "after nearly a day that nobody saw there is one minute");
	n = ws_history_read(&h, NOON + DAY, entries);
	ok(n == 2879 - 96 && entries[0].end == NOON, "then none, of minutes");
	n = ws_history_read(&h, NOON + DAY + 840, entries);
	ok(entries[0].end == NOON + 900 && entries[0].minutes == 15 && n == 2880 - 96,
	   "and when it is wholly past the quarter of that minute");
	n = ws_history_read(&h, NOON + 30 * DAY - 1, entries);
	ok(n == 1 && entries[0].end == NOON + 900 && entries[0].minutes == 15,
	   "for 30 days there is the last of the quarters");
	is_int(ws_history_read(&h, NOON + 30 * DAY, entries), 0, "then nothing");
	is_int(ws_history_read(&h, INT64_MAX, entries), 0, "ever");

	ws_history_init(&h);
	add(&h, NOON + 60, 1, 1);
	is_int(ws_history_read(&h, NOON + 59, entries), 0, "what is after now is not read");
	is_int(ws_history_read(&h, NOON + 60, entries), 1, "until its time comes");
	ws_history_init(&h);
	add(&h, NOON, 1, 1);
	add(&h, NOON + 10 * DAY, 1, 1);
	n = ws_history_read(&h, NOON + DAY + 900, entries);
	ok(n == 1 && entries[0].minutes == 15 && entries[0].end == NOON + 900,
	   "nor is a later quarter");
}

static void
test_peak(void)
{
	WsHistoryEntry peak;
	WsHistoryEntry untouched;
	long		wrong = 0;

	ws_history_init(&h);
	add(&h, NOON, 5, 50);
	add(&h, NOON + 300, 3, 30);
	ok(ws_history_peak(&h, NOON + 300, HOUR, &peak) && peak.minutes == 1 &&
	   peak.end == NOON + 60 && same_row(&peak.row, minute_at(&h, NOON)),
	   "the highest recommendation, of the minute rather than its quarter");
	ok(ws_history_peak(&h, NOON + 300, 301, &peak) && peak.end == NOON + 60,
	   "it counts if its minute began in the last so many seconds");
	ok(ws_history_peak(&h, NOON + 300, 300, &peak) && peak.minutes == 1 &&
	   peak.end == NOON + 360 && peak.row.recommended == 3, "else one that is lower");
	ok(ws_history_peak(&h, NOON + 300, 1, &peak) && peak.row.recommended == 3,
	   "in the second that it begins in");
	memset(&untouched, 0x77, sizeof(untouched));
	peak = untouched;
	ok(!ws_history_peak(&h, NOON + 301, 1, &peak) && peak.end == untouched.end &&
	   peak.minutes == untouched.minutes, "a second later that is not so");
	ok(!ws_history_peak(&h, NOON + 300, 0, &peak), "in no time there is none");
	ok(!ws_history_peak(&h, NOON + 300, -1, &peak), "nor in less");
	ok(!ws_history_peak(&h, NOON - 1, INT64_MAX, &peak), "what is after now does not count");
	ok(ws_history_peak(&h, NOON, 1, &peak) && peak.minutes == 1 && peak.row.recommended == 5,
	   "what begins now does");

	add(&h, NOON + 600, 5, 51);
	add(&h, NOON + 660, NAN, 52);
	ok(ws_history_peak(&h, NOON + 660, HOUR, &peak) && peak.minutes == 1 &&
	   peak.end == NOON + 660 && peak.row.working_set == 51, "of equals the youngest");
	ok(ws_history_peak(&h, NOON + 659, HOUR, &peak) && peak.end == NOON + 660,
	   "of which it does not matter how it ends");
	add(&h, NOON + 1800, 4, 40);
	ok(ws_history_peak(&h, NOON + 1800, 1140, &peak) && peak.row.recommended == 4,
	   "one that is not known is not above one that is");
	ok(!ws_history_peak(&h, NOON + 1799, 1199, &peak), "nor is it a peak by itself");

	/* a day later the quarter is all that is known */
	add(&h, NOON + DAY, 4, 40);
	add(&h, NOON + DAY + 600, 4, 41);
	ok(ws_history_peak(&h, NOON + DAY + 600, 2 * DAY, &peak) && peak.minutes == 15 &&
	   peak.end == NOON + 900 && same_row(&peak.row, quarter_at(&h, NOON)),
	   "where the minute is not known any more, the quarter");
	ok(ws_history_peak(&h, NOON + DAY + 600, DAY + 601, &peak) && peak.minutes == 15 &&
	   peak.row.recommended == 5, "it counts if it began in the last so many seconds");
	ok(ws_history_peak(&h, NOON + DAY + 600, DAY + 600, &peak) && peak.minutes == 1 &&
	   peak.end == NOON + DAY + 660 && peak.row.working_set == 41,
	   "else a younger and lower minute, of equals the youngest");

	/* equals of different length */
	ws_history_init(&h);
	add(&h, NOON, 6, 60);
	add(&h, NOON + 900, 6, 61);
	ok(ws_history_peak(&h, NOON + DAY, 2 * DAY, &peak) && peak.minutes == 1 &&
	   peak.end == NOON + 960, "of equal quarters and minutes the youngest minute");
	minute_at(&h, NOON + 900)->recommended = 5;
	ok(ws_history_peak(&h, NOON + DAY, 2 * DAY, &peak) && peak.minutes == 15 &&
	   peak.end == NOON + 1800 && peak.row.working_set == 61,
	   "of an older minute and an equal quarter the quarter");
	add(&h, NOON + 1800, 6, 62);
	quarter_at(&h, NOON + 1800)->recommended = 5;
	ok(ws_history_peak(&h, NOON + DAY, 2 * DAY, &peak) && peak.minutes == 1 &&
	   peak.end == NOON + 1860, "of an older quarter and an equal minute the minute");
	minute_at(&h, NOON + 1800)->number = 0;
	minute_at(&h, NOON)->number = 0;
	ok(ws_history_peak(&h, NOON + DAY, 2 * DAY, &peak) && peak.minutes == 15 &&
	   peak.end == NOON + 1800, "of equal quarters the youngest");
	ok(ws_history_peak(&h, NOON + 899, 2 * DAY, &peak) && peak.minutes == 15 &&
	   peak.end == NOON + 900, "that has begun");
	memset(h.quarters, 0, sizeof(h.quarters));
	ok(ws_history_peak(&h, NOON + DAY, 2 * DAY, &peak) && peak.minutes == 1 &&
	   peak.row.recommended == 5, "without quarters a minute is found");

	ws_history_init(&h);
	add(&h, NOON, 0, 1);
	ok(ws_history_peak(&h, NOON, 60, &peak) && peak.row.recommended == 0 && peak.minutes == 1,
	   "0 pages are a recommendation");
	add(&h, NOON + 60, 0x1p40, 1);
	add(&h, NOON + 120, 0x1p40 + 1, 1);
	add(&h, NOON + 180, 1, 1);
	ok(ws_history_peak(&h, NOON + 180, 600, &peak) && peak.end == NOON + 180,
	   "2^40 pages are fewer than a page more");

	/* each place, alone */
	for (int i = 0; i < 2880; i++)
	{
		int64_t		time = NOON + 900 * i;

		ws_history_init(&h);
		add(&h, NOON + 60 * i, 2, 2);
		memset(h.quarters, 0, sizeof(h.quarters));
		wrong += !ws_history_peak(&h, time, 30 * DAY, &peak) || peak.minutes != 1 ||
			peak.end != NOON + 60 * i + 60;
		ws_history_init(&h);
		add(&h, time, 2, 2);
		memset(h.minutes, 0, sizeof(h.minutes));
		wrong += !ws_history_peak(&h, time, 60, &peak) || peak.minutes != 15 ||
			peak.end != time + 900;
	}
	is_int(wrong, 0, "a single row is found in any place");

	/* rows of numbers that wrap around: the youngest is not in the last place */
	ws_history_init(&h);
	for (int64_t t = 0; t <= DAY; t += 60)
		add(&h, NOON + t, 3, (double) t);
	ok(ws_history_peak(&h, NOON + DAY, 2 * DAY, &peak) && peak.end == NOON + DAY + 60,
	   "of equals the youngest, wherever its place is");
	ok(ws_history_peak(&h, NOON + DAY + 40 * DAY, 60 * DAY, &peak) &&
	   peak.end == NOON + DAY + 60,
	   "what has its place is known, even when it is older than would be listed");
}

static void
test_known(void)
{
	ws_history_init(&h);
	for (int64_t t = 0; t < HOUR; t += 60)
		if (t != 600)
			add(&h, NOON + t, 1, 1);
	is_int(ws_history_known(&h, NOON + HOUR - 1, HOUR - 1), 58, "minutes that began in time");
	is_int(ws_history_known(&h, NOON + HOUR - 1, HOUR), 59, "are known but those without a row");
	is_int(ws_history_known(&h, NOON + HOUR - 1, INT64_MAX), 59, "longer ago there was none");
	is_int(ws_history_known(&h, NOON + HOUR - 1, 60), 1, "one is of the last minute");
	is_int(ws_history_known(&h, NOON + HOUR - 1, 59), 0, "but began no later");
	is_int(ws_history_known(&h, NOON + HOUR - 60, 1), 1, "it counts as soon as it has begun");
	is_int(ws_history_known(&h, NOON + HOUR - 61, 60), 1, "not before");
	is_int(ws_history_known(&h, NOON + 659, 60), 0, "what nobody saw is not known");
	is_int(ws_history_known(&h, NOON, 0), 0, "of no time nothing");
	is_int(ws_history_known(&h, NOON, -60), 0, "of less nothing");

	/* a day later there are minutes first, then quarters */
	is_int(ws_history_known(&h, NOON + DAY - 60, 2 * DAY), 59, "for a day they are minutes");
	is_int(ws_history_known(&h, NOON + DAY, 2 * DAY), 58, "then one after another goes");
	is_int(ws_history_known(&h, NOON + DAY + 780, 2 * DAY), 46, "until a quarter has gone");
	is_int(ws_history_known(&h, NOON + DAY + 840, 2 * DAY), 45 + 15, "and comes back as such");
	is_int(ws_history_known(&h, NOON + DAY + 840, DAY + 841), 45 + 15, "if it began in time");
	is_int(ws_history_known(&h, NOON + DAY + 840, DAY + 840), 45, "else it does not count");
	is_int(ws_history_known(&h, NOON + 2 * DAY, 30 * DAY), 60, "at last there are 4 quarters");
	is_int(ws_history_known(&h, NOON + 30 * DAY - 1, 60 * DAY), 60, "for 30 days");
	is_int(ws_history_known(&h, NOON + 30 * DAY, 60 * DAY), 45, "to the minute");

	fill(&h, NOON + 840, 31);
	is_int(ws_history_known(&h, NOON + 840, DAY), 1440, "of a full day all the minutes");
	is_int(ws_history_known(&h, NOON + 899, 30 * DAY), 30 * 1440,
		   "of 30 full days all the minutes, at the end of a quarter");
	is_int(ws_history_known(&h, NOON + 840, INT64_MAX), 30 * 1440, "and not more");
}

static void
test_set_back(void)
{
	static const int64_t backs[] = {HOUR, 10 * DAY, 40 * DAY};
	WsHistory  *expected = malloc(sizeof(WsHistory));
	WsHistoryRow row;

	/* a second */
	ws_history_init(&h);
	add(&h, NOON - 60, 1, 1);
	add(&h, NOON, 2, 2);
	is_int(ws_history_set_back(&h, NOON - 1, 1), 0, "a second back moves nothing");
	ok(minute_is(NOON, 2, 2, 10, 4) && quarter_is(NOON, 2, 2, 10, 4), "to the nearest minute");
	is_int(ws_history_set_back(&h, NOON - 1, 29), 0, "29 seconds move nothing");
	is_int(ws_history_set_back(&h, NOON - 1, 31), 1, "31 seconds move a minute");
	ok(minute_is(NOON - 60, 2, 2, 20, 8), "to the one before, which is shared");
	ok(quarter_is(NOON, 2, 2, 10, 4) && count_minutes(&h) == 1, "but not the quarter");
	is_int(ws_history_set_back(&h, NOON - 1, 449), 0, "449 seconds do not move a quarter");
	is_int(ws_history_set_back(&h, NOON - 1, 451), 1, "451 do");
	ok(quarter_is(NOON - 900, 2, 2, 20, 8) && count_quarters(&h) == 1, "and it is shared");
	is_int(ws_history_set_back(&h, NOON - DAY, 0), 0, "no time back moves nothing");
	is_int(ws_history_set_back(&h, NOON - DAY, -HOUR), 0, "nor does it move rows ahead");
	ok(minute_is(NOON - 60, 2, 2, 20, 8), "they are where they were");
	is_int(ws_history_set_back(&h, NOON - HOUR, 60 * 10 + 29), 2, "10:29 minutes back");
	ok(minute_is(NOON - 60 * 11, 2, 2, 20, 8), "are 10 for minutes");
	ok(quarter_is(NOON - 900 * 2, 2, 2, 20, 8), "and a quarter for quarters");

	/* what is after now */
	ws_history_init(&h);
	add(&h, NOON, 1, 1);
	add(&h, NOON + 60, 2, 2);
	add(&h, NOON + 900, 3, 3);
	is_int(ws_history_set_back(&h, NOON + 59, DAY), 3, "rows that begin after now are moved");
	ok(minute_is(NOON, 1, 1, 10, 4) && quarter_is(NOON, 2, 2, 20, 8),
	   "what has begun is not");
	ok(minute_is(NOON + 60 - DAY, 2, 2, 10, 4) && minute_is(NOON + 900 - DAY, 3, 3, 10, 4) &&
	   quarter_is(NOON + 900 - DAY, 3, 3, 10, 4), "the others are a day earlier");
	is_int(count_minutes(&h) * 1000 + count_quarters(&h), 3002, "and not where they were");

	/* the present quarter ends after now, and stays */
	ws_history_init(&h);
	add(&h, NOON + 600, 1, 1);
	is_int(ws_history_set_back(&h, NOON + 300, HOUR), 1, "the present quarter is not moved");
	ok(quarter_is(NOON, 1, 1, 10, 4) && minute_is(NOON + 600 - HOUR, 1, 1, 10, 4),
	   "but its minutes that have not come are");

	/* shared as when adding */
	ws_history_init(&h);
	add(&h, NOON - HOUR, 5, 50);
	add(&h, NOON, 4, 40);
	is_int(ws_history_set_back(&h, NOON - HOUR, HOUR), 2, "a row and its quarter are moved");
	ok(minute_is(NOON - HOUR, 5, 50, 20, 8) && quarter_is(NOON - HOUR, 5, 50, 20, 8),
	   "where the same minute is it is shared");
	ws_history_init(&h);
	add(&h, NOON - HOUR, NAN, 50);
	add(&h, NOON, 4, 40);
	ws_history_set_back(&h, NOON - HOUR, HOUR);
	ok(minute_is(NOON - HOUR, 4, 40, 20, 8) && quarter_is(NOON - HOUR, 4, 40, 20, 8),
	   "with the sizes of the higher recommendation");

	/* places that are taken by others: a day, and 30, are the same place */
	ws_history_init(&h);
	add(&h, NOON - DAY, 1, 1);
	add(&h, NOON - 30 * DAY, 1, 1);
	add(&h, NOON + HOUR, 2, 2);
	is_int(ws_history_set_back(&h, NOON, HOUR), 2, "a place taken by an older row");
	ok(minute_is(NOON, 2, 2, 10, 4) && quarter_is(NOON, 2, 2, 10, 4), "is overwritten");
	ws_history_init(&h);
	add(&h, NOON, 1, 1);
	add(&h, NOON + HOUR, 2, 2);
	is_int(ws_history_set_back(&h, NOON, DAY + HOUR), 1, "one taken by a younger minute");
	ok(minute_is(NOON, 1, 1, 10, 4), "is left as it is");
	ok(quarter_is(NOON + HOUR - DAY - HOUR, 2, 2, 10, 4), "the quarter has a place");
	is_int(count_minutes(&h) * 1000 + count_quarters(&h), 1002, "the minute has none any more");
	ws_history_init(&h);
	add(&h, NOON, 1, 1);
	add(&h, NOON + HOUR, 2, 2);
	is_int(ws_history_set_back(&h, NOON, 30 * DAY + HOUR), 0, "so it is with quarters");
	ok(quarter_is(NOON, 1, 1, 10, 4) && count_quarters(&h) == 1, "after 30 days");

	/* 1970 */
	ws_history_init(&h);
	add(&h, 2 * HOUR, 1, 1);
	add(&h, 3 * HOUR, 2, 2);
	is_int(ws_history_set_back(&h, HOUR, 2 * HOUR), 2, "nothing is moved to before 1970");
	ok(minute_is(2 * HOUR, 1, 1, 10, 4) && quarter_is(2 * HOUR, 1, 1, 10, 4),
	   "it stays where it is");
	ok(minute_is(HOUR, 2, 2, 10, 4) && quarter_is(HOUR, 2, 2, 10, 4), "the others are moved");
	is_int(count_minutes(&h) * 1000 + count_quarters(&h), 2002, "and nothing else is");
	is_int(ws_history_set_back(&h, HOUR, 2 * HOUR - 60), 1, "a row may come to minute 1");
	ok(minute_is(60, 1, 1, 10, 4) && quarter_is(2 * HOUR, 1, 1, 10, 4), "or stay as a quarter");
	add(&h, 2 * HOUR, 1, 1);
	is_int(ws_history_set_back(&h, HOUR, 2 * HOUR - 900), 2, "or come to quarter 1");
	ok(quarter_is(900, 1, 1, 20, 8) && minute_is(900, 1, 1, 10, 4), "with its minute");
	ws_history_init(&h);
	add(&h, NOON, 1, 1);
	row = *minute_at(&h, NOON);
	is_int(ws_history_set_back(&h, 0, NOON), 0, "a clock set to 1970 moves nothing");
	ok(same_row(minute_at(&h, NOON), &row), "for the time when it is set right");

	/*
	 * Full histories: all places are taken, and every row goes where another
	 * is.
	 */
	for (int i = 0; i < 3; i++)
	{
		int64_t		back = backs[i];
		int64_t		after_minutes = back < DAY ? back / 60 : 1440;
		int64_t		after_quarters = back < 30 * DAY ? back / 900 : 2880;
		long		wrong = 0;

		fill(&h, NOON - 60, 31);
		*expected = h;
		is_int(ws_history_set_back(&h, NOON - back - 60, back), after_minutes + after_quarters,
			   "full: all rows after now are moved");
		ok(ws_history_check(&h) == NULL, "full: to their places");
		for (int64_t t = NOON - 60; t > NOON - 60 - after_minutes * 60; t -= 60)
		{
			WsHistoryRow want = *minute_at(expected, t);
			WsHistoryRow same = *minute_at(expected, t - back);

			want.number -= back / 60;
			if (same.number == want.number)
			{
				want.lookups += same.lookups;
				want.hits += same.hits;
				if (same.recommended > want.recommended)
				{
					same.lookups = want.lookups;
					same.hits = want.hits;
					want = same;
				}
			}
			wrong += !same_row(minute_at(&h, t - back), &want);
		}
		is_int(wrong, 0, "full: each minute as far back as the clock");
		wrong = 0;
		for (int64_t t = NOON - 900; t > NOON - 900 - after_quarters * 900; t -= 900)
		{
			WsHistoryRow want = *quarter_at(expected, t);
			WsHistoryRow same = *quarter_at(expected, t - back);

			want.number -= back / 900;
			if (same.number == want.number)
			{
				want.lookups += same.lookups;
				want.hits += same.hits;
				if (same.recommended > want.recommended)
				{
					same.lookups = want.lookups;
					same.hits = want.hits;
					want = same;
				}
			}
			wrong += !same_row(quarter_at(&h, t - back), &want);
		}
		is_int(wrong, 0, "full: each quarter as far back as the clock");
		is_int(ws_history_set_back(&h, NOON - back - 60, back), 0, "full: then none is after now");
		is_int(count_minutes(&h), 1440 - (back < DAY ? back / 60 : 0),
			   "full: what was moved is not where it was");
	}
	free(expected);
}

static void
test_merge(void)
{
	WsHistory  *before = malloc(sizeof(WsHistory));

	ws_history_init(&h);
	fill(&other, NOON, 31);
	*before = other;
	ws_history_merge(&h, &other, NOON);
	ok(same_history(&h, &other), "an empty history takes over all of another");
	ok(same_history(before, &other), "which is not changed");
	ws_history_merge(&h, &other, NOON);
	ok(same_history(&h, &other), "once is as good as twice");
	ws_history_merge(&h, &h, NOON);
	ok(same_history(&h, &other), "with itself nothing is added");
	ws_history_init(&other);
	ws_history_merge(&h, &other, NOON);
	ok(same_history(before, &h), "of an empty one nothing is taken over");

	ws_history_init(&h);
	other = *before;
	ws_history_merge(&h, &other, NOON - 60);
	ok(same_history(&h, &other), "what is after now is taken over to free places");
	is_int(ws_history_read(&h, NOON - 60, entries),
		   ws_history_read(&other, NOON - 60, entries), "but not read");

	/* of two rows for one place the younger */
	ws_history_init(&h);
	ws_history_init(&other);
	add(&h, NOON - 30 * DAY, 1, 1);
	add(&other, NOON, 2, 2);
	ws_history_merge(&h, &other, NOON);
	ok(minute_is(NOON, 2, 2, 10, 4) && quarter_is(NOON, 2, 2, 10, 4),
	   "the younger replaces the older");
	is_int(count_minutes(&h) * 1000 + count_quarters(&h), 1001, "in one place");
	ws_history_init(&other);
	add(&other, NOON - 30 * DAY, 3, 3);
	add(&other, NOON - 30 * DAY, 3, 3);
	ws_history_merge(&h, &other, NOON);
	ok(minute_is(NOON, 2, 2, 10, 4) && quarter_is(NOON, 2, 2, 10, 4),
	   "not the older the younger, with any lookups");

	/* one after now does not take the place of another */
	ws_history_init(&other);
	add(&other, NOON + 30 * DAY, 3, 3);
	ws_history_merge(&h, &other, NOON + 30 * DAY - 1);
	ok(minute_is(NOON, 2, 2, 10, 4) && quarter_is(NOON, 2, 2, 10, 4),
	   "what is after now replaces nothing");
	ws_history_merge(&h, &other, NOON + 30 * DAY);
	ok(minute_is(NOON + 30 * DAY, 3, 3, 10, 4) && quarter_is(NOON + 30 * DAY, 3, 3, 10, 4),
	   "until its time comes");

	/* of two for the same minute the one of more lookups */
	for (int i = 0; i < 3; i++)
	{
		WsHistoryRow mine = row_of(9, 1, 100, 0);
		WsHistoryRow theirs = row_of(2, 2, 99 + (uint64_t) i, 50);

		ws_history_init(&h);
		ws_history_init(&other);
		ws_history_add(&h, NOON, &mine);
		ws_history_add(&other, NOON, &theirs);
		ws_history_merge(&h, &other, NOON);
		ok(i < 2 ? minute_is(NOON, 9, 1, 100, 0) && quarter_is(NOON, 9, 1, 100, 0) :
		   minute_is(NOON, 2, 2, 101, 50) && quarter_is(NOON, 2, 2, 101, 50),
		   "the same minute with 100 and %d lookups: that of %s", 99 + i,
		   i < 2 ? "100" : "101");
	}
	free(before);
}

/*
 * Damage one row of a full history at a time, in the first and the last place
 * and in that of the last time that there can be, and repair it.
 */
static const char *
check_with(WsHistoryRow *row, WsHistoryRow damaged)
{
	WsHistoryRow whole = *row;
	const char *found;

	*row = damaged;
	found = ws_history_check(&h);
	*row = whole;
	return found ? found : "";
}

static void
test_check(void)
{
	static const char *no_time = "the number of a row is out of range";
	static const char *place = "a row is not in its place";
	static const char *hits = "there are more hits than lookups";
	static const char *lookups = "there are too many lookups";
	static const char *size = "a size is out of range";
	WsHistoryRow *rows[6];
	int64_t		units[] = {60, 60, 60, 900, 900, 900};
	int			found = 0;

	fill(&h, NOON, 31);
	rows[0] = &h.minutes[0];
	rows[1] = &h.minutes[INT64_MAX / 60 % 1440];
	rows[2] = &h.minutes[WS_HISTORY_MINUTES - 1];
	rows[3] = &h.quarters[0];
	rows[4] = &h.quarters[INT64_MAX / 900 % 2880];
	rows[5] = &h.quarters[WS_HISTORY_QUARTERS - 1];
	ok(ws_history_check(&h) == NULL, "a full history is valid");

	for (int i = 0; i < 6; i++)
	{
		WsHistoryRow *row = rows[i];
		int64_t		places = units[i] == 60 ? 1440 : 2880;
		int64_t		last = INT64_MAX / units[i];
		WsHistoryRow bad = *row;

#define IS(want, name) is_string(check_with(row, bad), (want), name); bad = *row

		bad.number = 0;
		IS("", "no row is right in any place");
		bad.number = -1;
		IS(no_time, "a number below 0");
		bad.number = row->number - row->number / places * places - places;
		IS(no_time, "even in its place");
		bad.number = INT64_MIN;
		IS(no_time, "or far below 0");
		bad.number = last - (last - row->number) % places;
		IS("", "the last number of a place that can be a time");
		bad.number = last - (last - row->number) % places + places;
		IS(no_time, "the next is not a time");
		bad.number = INT64_MAX - (INT64_MAX - row->number) % places;
		IS(no_time, "nor the last of all");
		bad.number++;
		IS(place, "a number of the next place");
		bad.number--;
		IS(place, "a number of the place before");
		bad.number += places / 2;
		IS(place, "a number of the place across");
		bad.number += places;
		IS("", "a day or 30 later it is the same place");
		bad.hits = bad.lookups + 1;
		IS(hits, "more hits than lookups");
		bad.hits = bad.lookups;
		IS("", "as many are right");
		bad.hits = bad.lookups = INT64_MAX;
		IS("", "even if they are many");
		bad.lookups = (uint64_t) INT64_MAX + 1;
		IS(lookups, "but not too many to be counted");
		bad.hits = bad.lookups = UINT64_MAX;
		IS(lookups, "nor as many as there can be");
		bad.lookups = 0;
		IS(hits, "hits without lookups");

		for (int field = 0; field < 4; field++)
		{
			double	   *sizes[] = {&bad.working_set, &bad.recommended, &bad.plateau_end, &bad.live};

			*sizes[field] = -1;
			IS(size, "negative pages");
			*sizes[field] = -0x1p-1074;
			IS(size, "the least of negative pages");
			*sizes[field] = INFINITY;
			IS(size, "infinite pages");
			*sizes[field] = -INFINITY;
			IS(size, "negative infinite pages");
			*sizes[field] = NAN;
			IS("", "pages not known");
			*sizes[field] = 0;
			IS("", "0 pages");
			*sizes[field] = 0x1p40;
			IS("", "2^40 pages");
			*sizes[field] = nextafter(0x1p40, INFINITY);
			IS(size, "a little more");
			*sizes[field] = 1e300;
			IS(size, "absurdly many pages");
		}
#undef IS
	}
	ok(ws_history_check(&h) == NULL, "then it is valid again");

	/* a single row, wherever it is */
	for (int i = 0; i < 6; i++)
	{
		WsHistoryRow bad = *rows[i];

		ws_history_init(&other);
		bad.hits = bad.lookups + 1;
		if (units[i] == 60)
			other.minutes[rows[i] - h.minutes] = bad;
		else
			other.quarters[rows[i] - h.quarters] = bad;
		found += ws_history_check(&other) != NULL;
	}
	is_int(found, 6, "what is wrong is found among places that are empty");
}

/*
 * ----------------------------------------------------------------
 * The history, against a list
 * ----------------------------------------------------------------
 *
 * The list has everything that was ever added, once for the minute and once
 * for the quarter, and never folds anything.  What shares a place is looked
 * for by its remainder.
 */
typedef struct Fact
{
	int			length;			/* minutes: 1 or 15 */
	int			order;			/* in which it was added */
	WsHistoryRow row;
} Fact;

typedef struct List
{
	Fact	   *facts;
	int			count;
	int			room;
	int			added;			/* ever */
} List;

static int
places_of(int length)
{
	return length == 1 ? 1440 : 2880;
}

static bool
same_place(const Fact *a, const Fact *b)
{
	return a->length == b->length &&
		(a->row.number - b->row.number) % places_of(a->length) == 0;
}

static void
list_append(List *list, const Fact *fact)
{
	if (list->count == list->room)
	{
		list->room = list->room ? 2 * list->room : 1024;
		list->facts = realloc(list->facts, (size_t) list->room * sizeof(Fact));
	}
	list->facts[list->count] = *fact;
	list->facts[list->count++].order = list->added++;
}

/* what is later gives up its place to what is now */
static void
list_displace(List *list, const Fact *fact)
{
	int			kept = 0;

	for (int i = 0; i < list->count; i++)
		if (list->facts[i].row.number <= fact->row.number || !same_place(&list->facts[i], fact))
			list->facts[kept++] = list->facts[i];
	list->count = kept;
}

static bool
list_add(List *list, const Fact *fact)
{
	int			kept = 0;

	for (int i = 0; i < list->count; i++)
		if (same_place(&list->facts[i], fact) && list->facts[i].row.number > fact->row.number)
			return false;
	for (int i = 0; i < list->count; i++)
		if (list->facts[i].row.number >= fact->row.number || !same_place(&list->facts[i], fact))
			list->facts[kept++] = list->facts[i];
	list->count = kept;
	list_append(list, fact);
	return true;
}

static void
list_add_at(List *list, int64_t time, const WsHistoryRow *row)
{
	for (int length = 1; length <= 15; length += 14)
	{
		Fact		fact = {length, 0, *row};

		fact.row.number = (int64_t) floor((double) time / (60 * length));
		if (fact.row.number >= 1)
		{
			list_displace(list, &fact);
			list_add(list, &fact);
		}
	}
}

static bool
same_time(const Fact *a, const Fact *b)
{
	return a->length == b->length && a->row.number == b->row.number;
}

/* minutes first, the youngest first of all, what was added first before later */
static int
fact_order(const void *a, const void *b)
{
	const Fact *x = a;
	const Fact *y = b;

	if (x->length != y->length)
		return x->length - y->length;
	if (x->row.number != y->row.number)
		return x->row.number < y->row.number ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/*
 * All rows as they should be: minutes, then quarters, the youngest first.  The
 * caller frees them.
 */
static Fact *
list_rows(const List *list, int *n)
{
	Fact	   *sorted = malloc((size_t) (list->count + 1) * sizeof(Fact));

	if (list->count > 0)
		memcpy(sorted, list->facts, (size_t) list->count * sizeof(Fact));
	qsort(sorted, (size_t) list->count, sizeof(Fact), fact_order);

	*n = 0;
	for (int i = 0; i < list->count; i++)
	{
		Fact	   *row;
		double		highest;
		double		candidate = isnan(sorted[i].row.recommended) ? -1 : sorted[i].row.recommended;

		if (*n == 0 || !same_time(&sorted[*n - 1], &sorted[i]))
		{
			sorted[(*n)++] = sorted[i];
			continue;
		}
		row = &sorted[*n - 1];
		highest = isnan(row->row.recommended) ? -1 : row->row.recommended;
		sorted[i].row.lookups += row->row.lookups;
		sorted[i].row.hits += row->row.hits;
		if (candidate >= highest)
			*row = sorted[i];
		row->row.lookups = sorted[i].row.lookups;
		row->row.hits = sorted[i].row.hits;
	}
	return sorted;
}

static int
list_set_back(List *list, int64_t now, int64_t seconds)
{
	List		stay = {NULL, 0, 0, 0};
	int			moved = 0;
	Fact	   *rows;
	int			n;

	/* what is moved is moved as rows, to be counted */
	rows = list_rows(list, &n);
	for (int i = 0; i < list->count; i++)
	{
		Fact		f = list->facts[i];

		if (f.row.number * 60 * f.length <= now ||
			f.row.number - llround((double) seconds / (60 * f.length)) < 1 ||
			llround((double) seconds / (60 * f.length)) == 0)
			list_append(&stay, &f);
	}
	for (int i = 0; i < n; i++)
	{
		Fact		f = rows[i];
		int64_t		by = llround((double) seconds / (60 * f.length));

		if (f.row.number * 60 * f.length <= now || f.row.number - by < 1 || by == 0)
			continue;
		f.row.number -= by;
		moved += list_add(&stay, &f);
	}
	free(rows);
	free(list->facts);
	*list = stay;
	return moved;
}

static void
list_merge(List *list, const List *from, int64_t now)
{
	int			n;
	int			m;
	Fact	   *theirs = list_rows(from, &n);
	Fact	   *mine = list_rows(list, &m);

	for (int i = 0; i < n; i++)
	{
		bool		past = theirs[i].row.number * 60 * theirs[i].length <= now;
		bool		take = true;
		int			kept = 0;

		for (int j = 0; j < m; j++)
			if (same_time(&mine[j], &theirs[i]) ? mine[j].row.lookups >= theirs[i].row.lookups :
				!past && same_place(&mine[j], &theirs[i]))
				take = false;
		if (!take)
			continue;
		for (int j = 0; j < list->count; j++)
			if (!same_time(&list->facts[j], &theirs[i]))
				list->facts[kept++] = list->facts[j];
		list->count = kept;
		list_add(list, &theirs[i]);
	}
	free(theirs);
	free(mine);
}

typedef struct Wrong
{
	long		rows;
	long		read;
	long		peak;
	long		known;
	long		check;
	long		moved;
	/* what the sequences have come to, lest they come to nothing */
	long		listed;
	long		quarter_peaks;
	long		all_moved;
	long		longest;
} Wrong;

/* in words: where a quarter and a minute are equal, the one that is better */
static bool
better(const Fact *a, const Fact *b)
{
	int64_t		qa = a->row.number * a->length / 15;
	int64_t		qb = b->row.number * b->length / 15;

	if (a->row.recommended != b->row.recommended)
		return a->row.recommended > b->row.recommended;
	if (qa != qb)
		return qa > qb;
	if (a->length != b->length)
		return a->length == 1;
	return a->row.number > b->row.number;
}

static void
compare(const WsHistory *history, const List *list, int64_t now, int64_t seconds, Wrong *wrong)
{
	int			n;
	Fact	   *rows = list_rows(list, &n);
	int			nread = ws_history_read(history, now, entries);
	int			want = 0;
	int			known = 0;
	const Fact *best = NULL;
	WsHistoryEntry peak;
	bool		found;

	/* what is there, to be read or not */
	for (int i = 0; i < n; i++)
	{
		const WsHistoryRow *place = rows[i].length == 1 ?
			&history->minutes[rows[i].row.number % 1440] :
			&history->quarters[rows[i].row.number % 2880];

		wrong->rows += !same_row(place, &rows[i].row);
	}
	wrong->rows += n != count_minutes(history) + count_quarters(history);
	wrong->check += ws_history_check(history) != NULL;

	for (int i = 0; i < n; i++)
	{
		const Fact *f = &rows[i];
		int64_t		begin = f->row.number * 60 * f->length;
		bool		in_time = now - seconds < begin && begin <= now;
		bool		listed;

		if (f->length == 1)
			listed = f->row.number <= now / 60 && f->row.number > now / 60 - 1440;
		else
			listed = f->row.number > now / 900 - 2880 &&
				f->row.number * 15 + 14 < now / 60 - 1439;
		if (listed)
		{
			wrong->read += want >= nread || entries[want].minutes != f->length ||
				entries[want].end != begin + 60 * f->length ||
				!same_row(&entries[want].row, &f->row);
			want++;
		}
		if (listed && in_time)
			known += f->length;
		if (in_time && !isnan(f->row.recommended) && (best == NULL || better(f, best)))
			best = f;
	}
	wrong->read += want != nread;
	wrong->known += ws_history_known(history, now, seconds) != known;
	found = ws_history_peak(history, now, seconds, &peak);
	wrong->peak += found != (best != NULL);
	if (found && best != NULL)
	{
		wrong->peak += peak.minutes != best->length || !same_row(&peak.row, &best->row) ||
			peak.end != (best->row.number + 1) * 60 * best->length;
		wrong->quarter_peaks += best->length == 15;
	}
	wrong->listed += nread;
	if (list->count > wrong->longest)
		wrong->longest = list->count;
	free(rows);
}

static int64_t
random_step(uint64_t *seed, int pace)
{
	static const int64_t steps[] = {20, 61, 450, 2000};
	uint32_t	kind = random_below(seed, 1000);

	if (kind < 900)
		return random_below(seed, (uint32_t) (2 * steps[pace]));
	if (kind < 980)
		return 60 * (int64_t) random_below(seed, 60);
	if (kind < 998)
		return (int64_t) random_below(seed, 3 * HOUR);
	if (kind < 999)
		return (int64_t) random_below(seed, 3 * DAY);
	return (int64_t) random_below(seed, 3) * 15 * DAY;
}

static int64_t
random_back(uint64_t *seed)
{
	static const int64_t backs[] = {1, 45, 90, 600, 3600, 86400, 864000, 3456000};
	int64_t		back = backs[random_below(seed, 8)];

	return random_below(seed, 2) ? back : 1 + (int64_t) random_below(seed, (uint32_t) back);
}

static void
test_model(void)
{
	enum
	{
		STEPS = 6000
	};
	WsHistory  *histories = malloc(2 * sizeof(WsHistory));

	for (int pace = 0; pace < 4; pace++)
	{
		for (int early = 0; early < 2; early++)
		{
			uint64_t	seed = 100 + (uint64_t) (2 * pace + early);
			List		lists[2] = {{NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
			Wrong		wrong = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
			int64_t		now = early ? -300 : NOON;
			int			merges = 0;

			ws_history_init(&histories[0]);
			ws_history_init(&histories[1]);
			for (int i = 0; i < STEPS; i++)
			{
				uint32_t	kind = random_below(&seed, 1000);
				int			which = random_below(&seed, 4) == 0;
				WsHistory  *history = &histories[which];
				List	   *list = &lists[which];

				if (kind < 970)
				{
					WsHistoryRow row;
					uint64_t	lookups = random_below(&seed, 5);

					/* few values, for many equals */
					row = row_of(random_below(&seed, 8) == 0 ? NAN :
								 random_below(&seed, random_below(&seed, 2) ? 1000 : 10), i,
								 lookups, random_below(&seed, (uint32_t) lookups + 1));
					ws_history_add(history, now, &row);
					list_add_at(list, now, &row);
					now += random_step(&seed, pace);
				}
				else if (kind < 980)
				{
					int64_t		back = random_back(&seed);
					int			moved;

					/* sometimes the clock is found wrong by more, or not at all */
					now -= back;
					if (random_below(&seed, 5) == 0)
						back += random_back(&seed);
					if (random_below(&seed, 3) != 0)
					{
						for (int k = 0; k < 2; k++)
						{
							moved = list_set_back(&lists[k], now, back);
							wrong.moved += moved != ws_history_set_back(&histories[k], now, back);
							wrong.all_moved += moved;
						}
					}
				}
				else if (kind < 982)
				{
					int64_t		until = now - (random_below(&seed, 2) ? 0 : random_back(&seed));

					ws_history_merge(history, &histories[!which], until);
					list_merge(list, &lists[!which], until);
					merges++;
				}
				else
				{
					int64_t		when = now;

					if (random_below(&seed, 3) == 0)
						when += random_back(&seed) - random_back(&seed);
					compare(history, list, when,
							random_below(&seed, 2) ? random_back(&seed) : 60 * random_back(&seed),
							&wrong);
				}
				/* back to where times begin */
				if (early && (now > 50 * DAY || now < -300))
					now = -300;
			}
			compare(&histories[0], &lists[0], now, 31 * DAY, &wrong);
			compare(&histories[1], &lists[1], now, 31 * DAY, &wrong);

			ok(wrong.rows == 0 && wrong.check == 0,
			   "pace %d%s: all rows are what a list of up to %ld says, %ld and %ld times not",
			   pace, early ? " of 1970" : "", wrong.longest, wrong.rows, wrong.check);
			ok(wrong.moved == 0 && wrong.all_moved > 50,
			   "pace %d: as many are moved back (%ld), %ld times not", pace, wrong.all_moved,
			   wrong.moved);
			ok(wrong.read == 0 && wrong.listed > 1000,
			   "pace %d: as many are read (%ld), %ld times not", pace, wrong.listed, wrong.read);
			ok(wrong.peak == 0 && (early || wrong.quarter_peaks > 5) && merges > 3,
			   "pace %d: the peak is right (%ld were quarters), %ld times not", pace,
			   wrong.quarter_peaks, wrong.peak);
			is_int(wrong.known, 0, "as many minutes are known");
			free(lists[0].facts);
			free(lists[1].facts);
		}
	}
	free(histories);
}

int
main(void)
{
	plan(597);

	test_empty();
	test_count();
	test_add();
	test_times();
	test_places();
	test_read();
	test_peak();
	test_known();
	test_set_back();
	test_merge();
	test_check();
	test_model();

	return done();
}
