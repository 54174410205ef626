/*
 * history.c
 *		What was recommended when; see history.h.
 *
 * Times are compared by their numbers, which cannot overflow.  They begin at
 * 1, so that no row is of a time before 1970, however that time is divided.
 */
#include "history.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define MINUTE 60
#define DAY (MINUTE * WS_MINUTES_PER_DAY)

/* The rows of a length, in minutes. */
typedef struct Tier
{
	int			minutes;
	int			places;
	size_t		offset;
} Tier;

/* Of each, all places are longer than one row of the next. */
static const Tier tiers[] = {
	{1, WS_HISTORY_MINUTES, offsetof(WsHistory, minutes)},
	{WS_MINUTES_PER_QUARTER, WS_HISTORY_QUARTERS, offsetof(WsHistory, quarters)},
	{WS_MINUTES_PER_DAY, WS_HISTORY_DAYS, offsetof(WsHistory, days)}
};

#define TIERS ((int) (sizeof(tiers) / sizeof(tiers[0])))

static WsHistoryRow *
rows_of(const WsHistory *history, const Tier *tier)
{
	return (WsHistoryRow *) ((char *) history + tier->offset);
}

static int64_t
unit_of(const Tier *tier)
{
	return tier->minutes * (int64_t) MINUTE;
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
		.lookups = sum(0, row->lookups),
		.hits = sum(0, row->hits)
	};

	for (const Tier *t = tiers; t < tiers + TIERS; t++)
		put(rows_of(history, t), t->places, time / unit_of(t), &in_range, true);
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
	int			moved = 0;

	memset(&history->checks, 0, sizeof(history->checks));
	for (const Tier *t = tiers; t < tiers + TIERS; t++)
		moved += move_back(rows_of(history, t), t->places, unit_of(t), now, seconds);
	ws_costs_set_back(&history->costs, now, seconds);
	return moved;
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
	for (const Tier *t = tiers; t < tiers + TIERS; t++)
		merge(rows_of(history, t), rows_of(other, t), t->places, now / unit_of(t));
	ws_checks_merge(&history->checks, &other->checks, now);
	ws_costs_merge(&history->costs, &other->costs, now);
}

/* The first minute, quarter or day that begins in so many seconds up to now. */
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

int
ws_history_read(const WsHistory *history, int64_t now, WsHistoryEntry *entries)
{
	int64_t		until = INT64_MAX;	/* the minute that the tier before begins */
	int			n = 0;

	if (now < 0)
		return 0;
	for (const Tier *t = tiers; t < tiers + TIERS; t++)
	{
		const WsHistoryRow *rows = rows_of(history, t);
		int64_t		last = now / unit_of(t);
		int64_t		first = later(last - (t->places - 1), 1);

		/* they begin with a longer row, so that no time is left out */
		if (first > 1 && t < tiers + TIERS - 1)
			first = (first * t->minutes + t[1].minutes - 1) / t[1].minutes * (t[1].minutes / t->minutes);
		if (last > until / t->minutes - 1)
			last = until / t->minutes - 1;
		until = first * t->minutes;
		for (int64_t i = last; i >= first; i--)
			if (rows[i % t->places].number == i)
				entries[n++] = entry_of(&rows[i % t->places], t->minutes);
	}
	return n;
}

/* Take each row that is higher than the peak, or as high and begins later. */
static void
find_peak(const WsHistoryRow *rows, const Tier *tier, int64_t now, int64_t seconds,
		  WsHistoryEntry *peak)
{
	int64_t		first = first_of(now, seconds, unit_of(tier));
	int64_t		last = now / unit_of(tier);

	for (const WsHistoryRow *row = rows; row < rows + tier->places; row++)
		if (row->number >= first && row->number <= last &&
			(row->recommended > peak->row.recommended ||
			 (row->recommended == peak->row.recommended &&
			  row->number * tier->minutes > peak->row.number * peak->minutes)))
			*peak = entry_of(row, tier->minutes);
}

bool
ws_history_peak(const WsHistory *history, int64_t now, int64_t seconds, WsHistoryEntry *peak)
{
	WsHistoryEntry found = {.row.recommended = -INFINITY};

	if (now < 0 || seconds <= 0)
		return false;
	for (const Tier *t = tiers; t < tiers + TIERS; t++)
		find_peak(rows_of(history, t), t, now, seconds, &found);
	if (found.minutes > 0)
		*peak = found;
	return found.minutes > 0;
}

void
ws_history_daily(const WsHistory *history, int64_t now, double *peaks, int n)
{
	int64_t		today = now / DAY;

	for (int i = 0; i < n; i++)
	{
		int64_t		day = today - n + i;

		peaks[i] = NAN;
		if (day >= 1 && history->days[day % WS_HISTORY_DAYS].number == day)
			peaks[i] = history->days[day % WS_HISTORY_DAYS].recommended;
	}
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
		if (!possible(row->working_set) || !possible(row->recommended))
			return "a size is out of range";
	}
	return NULL;
}

const char *
ws_history_check(const WsHistory *history)
{
	const char *wrong = NULL;

	for (const Tier *t = tiers; t < tiers + TIERS && !wrong; t++)
		wrong = check(rows_of(history, t), t->places, unit_of(t));
	return wrong ? wrong : ws_costs_check(&history->costs);
}
