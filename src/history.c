/*
 * history.c
 *		What was recommended when; see history.h.
 *
 * Times are compared by their numbers, which cannot overflow.  They begin at
 * 1, so that no row is of a time before 1970, however that time is divided.
 */
#include "history.h"

#include <math.h>
#include <string.h>

#define MINUTE 60
#define QUARTER (MINUTE * WS_MINUTES_PER_QUARTER)

void
ws_history_init(WsHistory *history)
{
	memset(history, 0, sizeof(*history));
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Add counts, at most to the maximum; a is not above it. */
static uint64_t
sum(uint64_t a, uint64_t b)
{
	return b <= WS_HISTORY_LOOKUPS_MAX - a ? a + b : WS_HISTORY_LOOKUPS_MAX;
}

/* Cut a size to its maximum; NaN stays NaN. */
static double
cut(double pages)
{
	return pages > WS_HISTORY_PAGES_MAX ? WS_HISTORY_PAGES_MAX : pages;
}

/* Store a row, or join one of its number; false: a younger one there stays. */
static bool
put(WsHistoryRow *rows, int places, int64_t number, const WsHistoryRow *row, bool replace)
{
	WsHistoryRow *place;
	WsHistoryRow result = *row;

	if (number < 1)
		return false;
	place = &rows[number % places];
	if (place->number > number && !replace)
		return false;
	if (place->number == number)
	{
		if (place->recommended > row->recommended ||
			(isnan(row->recommended) && !isnan(place->recommended)))
			result = *place;
		result.lookups = sum(place->lookups, row->lookups);
		result.hits = sum(place->hits, row->hits);
	}
	result.number = number;
	*place = result;
	return true;
}

void
ws_history_add(WsHistory *history, int64_t time, const WsHistoryRow *row)
{
	WsHistoryRow in_range = {
		.working_set = cut(row->working_set),
		.recommended = cut(row->recommended),
		.plateau_end = cut(row->plateau_end),
		.live = cut(row->live),
		.lookups = sum(0, row->lookups),
		.hits = sum(0, row->hits)
	};

	put(history->minutes, WS_HISTORY_MINUTES, time / MINUTE, &in_range, true);
	put(history->quarters, WS_HISTORY_QUARTERS, time / QUARTER, &in_range, true);
}

void
ws_history_count(WsHistoryRow *row, WsHistoryCount *last, const WsHistoryCount *now)
{
	WsHistoryCount from = {0};

	if (last->since == now->since)
		from = *last;
	else if (last->since == 0)
		from = *now;
	row->lookups = now->lookups > from.lookups ? now->lookups - from.lookups : 0;
	row->hits = now->hits > from.hits ? now->hits - from.hits : 0;
	if (row->hits > row->lookups)
		row->hits = row->lookups;
	*last = *now;
}

/* All rows are taken out first: one may go to the place of another. */
static int
move_back(WsHistoryRow *rows, int places, int64_t unit, int64_t now, int64_t seconds)
{
	WsHistoryRow moving[WS_HISTORY_QUARTERS];
	int64_t		by = seconds / unit + (seconds % unit >= unit / 2);
	int			n = 0;
	int			moved = 0;

	for (int i = 0; i < places && by > 0; i++)
		if (rows[i].number > now / unit && rows[i].number > by)
		{
			moving[n++] = rows[i];
			memset(&rows[i], 0, sizeof(rows[i]));
		}
	for (int i = 0; i < n; i++)
		moved += put(rows, places, moving[i].number - by, &moving[i], false);
	return moved;
}

int
ws_history_set_back(WsHistory *history, int64_t now, int64_t seconds)
{
	memset(&history->forecasts, 0, sizeof(history->forecasts));
	return move_back(history->minutes, WS_HISTORY_MINUTES, MINUTE, now, seconds) +
		move_back(history->quarters, WS_HISTORY_QUARTERS, QUARTER, now, seconds);
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
	ws_forecast_merge(&history->forecasts, &other->forecasts, now);
}

/* The first minute or quarter that begins in so many seconds up to now. */
static int64_t
first_of(int64_t now, int64_t seconds, int64_t unit)
{
	return later((now - seconds) / unit + 1, 1);
}

static WsHistoryEntry
entry_of(const WsHistoryRow *row, int minutes)
{
	int64_t		unit = minutes * MINUTE;
	WsHistoryEntry entry = {.end = INT64_MAX, .minutes = minutes, .row = *row};

	/* the last minute that can be counted in seconds is cut short */
	if (row->number < INT64_MAX / unit)
		entry.end = (row->number + 1) * unit;
	return entry;
}

/* Count the rows of these numbers, and list them unless entries is NULL. */
static int
list_rows(const WsHistoryRow *rows, int places, int minutes, int64_t first, int64_t last,
		  WsHistoryEntry *entries)
{
	int			n = 0;

	for (int64_t i = last; i >= first; i--)
	{
		if (rows[i % places].number != i)
			continue;
		if (entries)
			entries[n] = entry_of(&rows[i % places], minutes);
		n++;
	}
	return n;
}

/*
 * List the minutes of the last day and the quarters before, from a minute and
 * a quarter on, unless entries is NULL.  Count them; a quarter counts as many.
 * The quarter in which the day begins may be listed in part, and is left out.
 */
static int
list(const WsHistory *history, int64_t now, int64_t minute, int64_t quarter,
	 WsHistoryEntry *entries, int many)
{
	int64_t		day = later(now / MINUTE - (WS_HISTORY_MINUTES - 1), 1);
	int64_t		month = later(now / QUARTER - (WS_HISTORY_QUARTERS - 1), 1);
	int			n = list_rows(history->minutes, WS_HISTORY_MINUTES, 1,
							  later(day, minute), now / MINUTE, entries);
	int			quarters = list_rows(history->quarters, WS_HISTORY_QUARTERS,
									 WS_MINUTES_PER_QUARTER, later(month, quarter),
									 day / WS_MINUTES_PER_QUARTER - 1,
									 entries ? entries + n : NULL);

	return n + quarters * many;
}

int
ws_history_read(const WsHistory *history, int64_t now, WsHistoryEntry *entries)
{
	return list(history, now, 1, 1, entries, 1);
}

int
ws_history_known(const WsHistory *history, int64_t now, int64_t seconds)
{
	if (now < 0 || seconds <= 0)
		return 0;
	return list(history, now, first_of(now, seconds, MINUTE), first_of(now, seconds, QUARTER),
				NULL, WS_MINUTES_PER_QUARTER);
}

/* Take each row that is higher than the peak, or as high and begins later. */
static void
find_peak(const WsHistoryRow *rows, int places, int minutes, int64_t now, int64_t seconds,
		  WsHistoryEntry *peak)
{
	int64_t		first = first_of(now, seconds, minutes * MINUTE);
	int64_t		last = now / (minutes * MINUTE);

	for (const WsHistoryRow *row = rows; row < rows + places; row++)
		if (row->number >= first && row->number <= last &&
			(row->recommended > peak->row.recommended ||
			 (row->recommended == peak->row.recommended &&
			  row->number * minutes > peak->row.number * peak->minutes)))
			*peak = entry_of(row, minutes);
}

bool
ws_history_peak(const WsHistory *history, int64_t now, int64_t seconds, WsHistoryEntry *peak)
{
	WsHistoryEntry found = {.row.recommended = -INFINITY};

	if (now < 0 || seconds <= 0)
		return false;
	find_peak(history->minutes, WS_HISTORY_MINUTES, 1, now, seconds, &found);
	find_peak(history->quarters, WS_HISTORY_QUARTERS, WS_MINUTES_PER_QUARTER, now, seconds, &found);
	if (found.minutes > 0)
		*peak = found;
	return found.minutes > 0;
}

/* Is a size in its range, or NaN? */
static bool
possible(double pages)
{
	return !(pages < 0 || pages > WS_HISTORY_PAGES_MAX);
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
			return "the number of a row is out of range";
		if (row->number % places != i)
			return "a row is not in its place";
		if (row->hits > row->lookups)
			return "there are more hits than lookups";
		if (row->lookups > WS_HISTORY_LOOKUPS_MAX)
			return "there are too many lookups";
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
