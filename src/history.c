/*
 * history.c
 *		What was recommended when; see history.h.
 *
 * Times are compared by their numbers, which are far from overflowing.  They
 * begin at 1, so that whatever a time before 1970 is divided to, no row has it.
 */
#include "history.h"

#include <math.h>
#include <string.h>

#define MINUTE 60
#define QUARTER (MINUTE * WS_MINUTES_PER_QUARTER)

/*
 * Numbers of the minutes and quarters that are listed, first and last of each.
 */
typedef struct Span
{
	int64_t		first_minute;
	int64_t		last_minute;
	int64_t		first_quarter;
	int64_t		last_quarter;
} Span;

void
ws_history_init(WsHistory *history)
{
	memset(history, 0, sizeof(*history));
}

/*
 * Is a recommendation below another?  NaN is below any other.
 */
static bool
below(double a, double b)
{
	return isnan(a) ? !isnan(b) : a < b;
}

/*
 * Hits stay at most as many as lookups, even at the maximum.  The first number
 * is not above it.
 */
static uint64_t
sum(uint64_t a, uint64_t b)
{
	return b <= WS_HISTORY_LOOKUPS_MAX - a ? a + b : WS_HISTORY_LOOKUPS_MAX;
}

/* NaN stays what it is */
static void
cut(double *pages)
{
	if (*pages > WS_HISTORY_PAGES_MAX)
		*pages = WS_HISTORY_PAGES_MAX;
}

/*
 * Put a row, which is in range, to its place, or share the one that is there.
 * False: there is a younger one, or there can be none.
 */
static bool
put(WsHistoryRow *rows, int places, int64_t number, const WsHistoryRow *row)
{
	WsHistoryRow *place;
	WsHistoryRow result = *row;

	if (number < 1)
		return false;
	place = &rows[number % places];
	if (place->number > number)
		return false;
	if (place->number == number)
	{
		if (below(row->recommended, place->recommended))
			result = *place;
		result.lookups = sum(place->lookups, row->lookups);
		result.hits = sum(place->hits, row->hits);
	}
	result.number = number;
	*place = result;
	return true;
}

/*
 * Put a row to its place, whatever later row may be there.
 */
static void
put_now(WsHistoryRow *rows, int places, int64_t number, const WsHistoryRow *row)
{
	if (number >= 1 && rows[number % places].number > number)
		rows[number % places].number = 0;
	put(rows, places, number, row);
}

void
ws_history_add(WsHistory *history, int64_t time, const WsHistoryRow *row)
{
	WsHistoryRow in_range = *row;

	cut(&in_range.working_set);
	cut(&in_range.recommended);
	cut(&in_range.plateau_end);
	cut(&in_range.live);
	in_range.lookups = sum(0, row->lookups);
	in_range.hits = sum(0, row->hits);
	put_now(history->minutes, WS_HISTORY_MINUTES, time / MINUTE, &in_range);
	put_now(history->quarters, WS_HISTORY_QUARTERS, time / QUARTER, &in_range);
}

static uint64_t
growth(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

void
ws_history_count(WsHistoryRow *row, WsHistoryCount *last, const WsHistoryCount *now)
{
	row->lookups = row->hits = 0;
	if (last->since == now->since)
	{
		row->lookups = growth(last->lookups, now->lookups);
		row->hits = growth(last->hits, now->hits);
	}
	else if (last->since != 0)
	{
		row->lookups = now->lookups;
		row->hits = now->hits;
	}
	if (row->hits > row->lookups)
		row->hits = row->lookups;
	*last = *now;
}

/*
 * All that move are taken out first: one may go where another was.  Among
 * themselves they keep their distances, so no two go to the same place.
 */
static int
move_back(WsHistoryRow *rows, int places, int64_t last, int64_t by)
{
	WsHistoryRow moving[WS_HISTORY_QUARTERS];
	int			n = 0;
	int			moved = 0;

	if (by <= 0)
		return 0;
	for (int i = 0; i < places; i++)
	{
		/* what would come before 1970 stays, for a clock set right again */
		if (rows[i].number > last && rows[i].number > by)
		{
			moving[n++] = rows[i];
			memset(&rows[i], 0, sizeof(rows[i]));
		}
	}
	for (int i = 0; i < n; i++)
		moved += put(rows, places, moving[i].number - by, &moving[i]);
	return moved;
}

static int64_t
nearest(int64_t seconds, int64_t unit)
{
	return seconds / unit + (seconds % unit >= unit / 2);
}

int
ws_history_set_back(WsHistory *history, int64_t now, int64_t seconds)
{
	return move_back(history->minutes, WS_HISTORY_MINUTES,
					 now / MINUTE, nearest(seconds, MINUTE)) +
		move_back(history->quarters, WS_HISTORY_QUARTERS,
				  now / QUARTER, nearest(seconds, QUARTER));
}

static void
merge(WsHistoryRow *rows, const WsHistoryRow *others, int places, int64_t last)
{
	for (int i = 0; i < places; i++)
		if (others[i].number > rows[i].number ?
			others[i].number <= last || rows[i].number == 0 :
			others[i].number == rows[i].number && others[i].lookups > rows[i].lookups)
			rows[i] = others[i];
}

void
ws_history_merge(WsHistory *history, const WsHistory *other, int64_t now)
{
	merge(history->minutes, other->minutes, WS_HISTORY_MINUTES, now / MINUTE);
	merge(history->quarters, other->quarters, WS_HISTORY_QUARTERS, now / QUARTER);
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static Span
span_up_to(int64_t now)
{
	Span		span;

	span.last_minute = now / MINUTE;
	span.first_minute = later(span.last_minute - (WS_HISTORY_MINUTES - 1), 1);
	/* the quarter that the day begins in may lie partly within: not listed */
	span.last_quarter = span.first_minute / WS_MINUTES_PER_QUARTER - 1;
	span.first_quarter = later(now / QUARTER - (WS_HISTORY_QUARTERS - 1), 1);
	return span;
}

/*
 * Number of the first minute or quarter that begins in the last so many
 * seconds, which are above 0, up to now, which is not before 1970.
 */
static int64_t
first_of(int64_t now, int64_t seconds, int64_t unit)
{
	return later((now - seconds) / unit + 1, 1);
}

static const WsHistoryRow *
find(const WsHistoryRow *rows, int places, int64_t number)
{
	const WsHistoryRow *row = &rows[number % places];

	return row->number == number ? row : NULL;
}

static WsHistoryEntry
entry_of(const WsHistoryRow *row, int minutes)
{
	int64_t		unit = minutes * MINUTE;
	WsHistoryEntry entry;

	/* the last minute that can be counted in seconds is cut short */
	entry.end = row->number < INT64_MAX / unit ? (row->number + 1) * unit : INT64_MAX;
	entry.minutes = minutes;
	entry.row = *row;
	return entry;
}

int
ws_history_read(const WsHistory *history, int64_t now, WsHistoryEntry *entries)
{
	Span		span = span_up_to(now);
	const WsHistoryRow *row;
	int			n = 0;

	for (int64_t i = span.last_minute; i >= span.first_minute; i--)
		if ((row = find(history->minutes, WS_HISTORY_MINUTES, i)) != NULL)
			entries[n++] = entry_of(row, 1);
	for (int64_t i = span.last_quarter; i >= span.first_quarter; i--)
		if ((row = find(history->quarters, WS_HISTORY_QUARTERS, i)) != NULL)
			entries[n++] = entry_of(row, WS_MINUTES_PER_QUARTER);
	return n;
}

/*
 * The row of the highest recommendation, of equals the youngest; NULL: there
 * is none.
 */
static const WsHistoryRow *
highest(const WsHistoryRow *rows, int places, int64_t first, int64_t last)
{
	const WsHistoryRow *best = NULL;

	for (int i = 0; i < places; i++)
	{
		const WsHistoryRow *row = &rows[i];

		if (row->number < first || row->number > last || isnan(row->recommended))
			continue;
		if (best == NULL || row->recommended > best->recommended ||
			(row->recommended == best->recommended && row->number > best->number))
			best = row;
	}
	return best;
}

bool
ws_history_peak(const WsHistory *history, int64_t now, int64_t seconds,
				WsHistoryEntry *peak)
{
	const WsHistoryRow *minute;
	const WsHistoryRow *quarter;

	if (now < 0 || seconds <= 0)
		return false;
	minute = highest(history->minutes, WS_HISTORY_MINUTES,
					 first_of(now, seconds, MINUTE), now / MINUTE);
	quarter = highest(history->quarters, WS_HISTORY_QUARTERS,
					  first_of(now, seconds, QUARTER), now / QUARTER);
	if (minute == NULL && quarter == NULL)
		return false;

	if (quarter == NULL ||
		(minute != NULL &&
		 (minute->recommended > quarter->recommended ||
		  (minute->recommended == quarter->recommended &&
		   minute->number / WS_MINUTES_PER_QUARTER >= quarter->number))))
		*peak = entry_of(minute, 1);
	else
		*peak = entry_of(quarter, WS_MINUTES_PER_QUARTER);
	return true;
}

int
ws_history_known(const WsHistory *history, int64_t now, int64_t seconds)
{
	Span		span = span_up_to(now);
	int			known = 0;

	if (now < 0 || seconds <= 0)
		return 0;
	span.first_minute = later(span.first_minute, first_of(now, seconds, MINUTE));
	span.first_quarter = later(span.first_quarter, first_of(now, seconds, QUARTER));
	for (int64_t i = span.first_minute; i <= span.last_minute; i++)
		if (find(history->minutes, WS_HISTORY_MINUTES, i) != NULL)
			known++;
	for (int64_t i = span.first_quarter; i <= span.last_quarter; i++)
		if (find(history->quarters, WS_HISTORY_QUARTERS, i) != NULL)
			known += WS_MINUTES_PER_QUARTER;
	return known;
}

static bool
possible(double pages)
{
	return isnan(pages) || (pages >= 0 && pages <= WS_HISTORY_PAGES_MAX);
}

static const char *
check(const WsHistoryRow *rows, int places, int64_t unit)
{
	for (int i = 0; i < places; i++)
	{
		const WsHistoryRow *row = &rows[i];

		if (row->number == 0)
			continue;
		if (row->number < 0 || row->number > INT64_MAX / unit)
			return "a row is of no time";
		if (row->number % places != i)
			return "a row is not in its place";
		if (row->hits > row->lookups)
			return "there are more hits than lookups";
		if (row->lookups > WS_HISTORY_LOOKUPS_MAX)
			return "there are more lookups than can be counted";
		if (!possible(row->working_set) || !possible(row->recommended) ||
			!possible(row->plateau_end) || !possible(row->live))
			return "a size is out of range";
	}
	return NULL;
}

const char *
ws_history_check(const WsHistory *history)
{
	const char *wrong = check(history->minutes, WS_HISTORY_MINUTES, MINUTE);

	return wrong ? wrong : check(history->quarters, WS_HISTORY_QUARTERS, QUARTER);
}
