/*
 * history.h
 *		What was recommended when: a row a minute for a day, a row every 15
 *		minutes for 35 days, and a row a day for 400 days.
 *
 * A row belongs to a minute of the wall clock.  Its place is that minute's
 * number modulo the number of places, so a new row replaces the one of a day
 * (35 days, 400 days) before.  Nothing has to be moved, rows of different
 * origin merge place by place, and the numbers show the time that nobody
 * recorded.  Days are those of UTC, so each has 24 hours, and a row needs no
 * time zone.
 *
 * The row of a quarter of an hour, or of a day, has the sizes of its minute
 * with the highest recommendation, since a cache is sized for the peak.  Its
 * counts are sums.
 *
 * A wall clock that is set back leaves rows of a time that has not come yet;
 * ws_history_set_back() moves them.  Readers ask for rows up to now, and see no
 * others.  One process writes.  Readers copy under a lock of the caller's.
 *
 * The costs and the checks are part of it, so that they are saved with it.
 */
#ifndef WS_HISTORY_H
#define WS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "checks.h"
#include "costs.h"

#define WS_HISTORY_MINUTES	1440	/* places for minutes: a day */
#define WS_HISTORY_QUARTERS WS_COST_QUARTERS	/* for quarters: 35 days */
#define WS_HISTORY_DAYS		400 /* places for days */
#define WS_MINUTES_PER_QUARTER 15
#define WS_MINUTES_PER_DAY	1440

#define WS_HISTORY_WEEK		(INT64_C(7) * 86400)	/* seconds */

/* Both fit into a signed 64-bit number, the size of any page also in bytes. */
#define WS_HISTORY_PAGES_MAX	0x1p40
#define WS_HISTORY_LOOKUPS_MAX	((uint64_t) INT64_MAX)

/* Sizes are in pages, from 0 to WS_HISTORY_PAGES_MAX; NaN: not known. */
typedef struct WsHistoryRow
{
	int64_t		number;			/* minutes, quarters or days since 1970; 0: no
								 * row */
	double		working_set;
	double		recommended;	/* needed: a tenth on top, not projected */
	uint64_t	lookups;		/* at most WS_HISTORY_LOOKUPS_MAX */
	uint64_t	hits;			/* at most lookups */
} WsHistoryRow;

/* All zeros: empty. */
typedef struct WsHistory
{
	WsHistoryRow minutes[WS_HISTORY_MINUTES];
	WsHistoryRow quarters[WS_HISTORY_QUARTERS];
	WsHistoryRow days[WS_HISTORY_DAYS];
	WsChecks	checks;
	WsCosts		costs;
} WsHistory;

/* A row as it is read. */
typedef struct WsHistoryEntry
{
	int64_t		end;			/* in seconds since 1970; INT64_MAX at most */
	int			minutes;		/* 1, 15 or 1440: its length */
	WsHistoryRow row;
} WsHistoryEntry;

#define WS_HISTORY_ENTRIES	(WS_HISTORY_MINUTES + WS_HISTORY_QUARTERS + WS_HISTORY_DAYS)

/* The counters when they were last read.  All zeros: never read. */
typedef struct WsHistoryCount
{
	int64_t		since;			/* any number that identifies the reset */
	uint64_t	lookups;
	uint64_t	hits;
} WsHistoryCount;

/*
 * Put the lookups and hits since the last reading into the row, and make now
 * the last.  The first reading finds nothing, since earlier lookups may be of
 * another minute.  After a reset all are new.
 */
extern void ws_history_count(WsHistoryRow *row, WsHistoryCount *last, const WsHistoryCount *now);

/*
 * Add a row, at a time in seconds since 1970; row->number is ignored.  The
 * minute, its quarter and its day keep the sizes of the highest recommendation
 * (NaN is the lowest; of equals the last), and add up lookups and hits.  All
 * are cut to their maximum.  A row of a later time in the same place is
 * replaced: the present clock counts.  The first minute (quarter, day) of 1970
 * is ignored.
 */
extern void ws_history_add(WsHistory *history, int64_t time, const WsHistoryRow *row);

/*
 * The clock was set back by so many seconds (above 0) and now shows "now":
 * move rows after now back by as much, to the nearest minute, quarter or day.
 * A row there is joined as in ws_history_add(); if a younger row is there, the
 * moved row is lost.  None moves to before 1970.  Costs move, too, and
 * forecasts are forgotten.  Returns how many rows moved.
 */
extern int	ws_history_set_back(WsHistory *history, int64_t now, int64_t seconds);

/*
 * Add the rows, forecasts and costs of another history.  In each place the
 * younger stays, and of equals the one of more lookups.  Rows after now take
 * only free places.
 */
extern void ws_history_merge(WsHistory *history, const WsHistory *other, int64_t now);

/*
 * List the entries up to now, youngest first: the minutes of the last day with
 * the present one, from the beginning of a quarter on; then the quarters before
 * these of the last 35 days, from the beginning of a day on; then the days
 * before those of the last 400.  So no time is listed twice or left out.
 * WS_HISTORY_ENTRIES at most.  Returns how many there are.
 */
extern int	ws_history_read(const WsHistory *history, int64_t now, WsHistoryEntry *entries);

/*
 * Find the highest recommendation of the rows, listed or not, that begin in so
 * many seconds: of equals the youngest, its minute if stored.  False: none.
 */
extern bool ws_history_peak(const WsHistory *history, int64_t now, int64_t seconds,
							WsHistoryEntry *peak);

/*
 * The highest recommendation, in pages, of each of the last n days before the
 * present one, the oldest first; NaN: not known.
 */
extern void ws_history_daily(const WsHistory *history, int64_t now, double *peaks, int n);

/* NULL when all invariants hold, else what is wrong.  For data from outside. */
extern const char *ws_history_check(const WsHistory *history);

#endif							/* WS_HISTORY_H */
