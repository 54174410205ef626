/*
 * history.h
 *		What was recommended when: a row a minute for a day, and a row every 15
 *		minutes for 30 days.
 *
 * The idea.  A row belongs to a minute of the wall clock, and has its place by
 * that minute's number: place = number modulo the places there are.  A place
 * that is written again loses what was there a day (30 days) before.  So
 * nothing has to be moved, rows of different origin merge place by place, and
 * time that nobody saw, the server being down or the machine asleep, is told
 * from the numbers.
 *
 * A quarter of an hour keeps the sizes of its minute of highest
 * recommendation, for it is the peak that a cache is sized for, and the sums
 * of its lookups and hits.
 *
 * The wall clock is set by people and programs.  Set forward, it leaves a gap.
 * Set back, it leaves rows of a time that has not come yet; they were written
 * by a clock that was ahead, and are moved back with it
 * (ws_history_set_back()).  Whoever reads asks for rows up to now, and never
 * sees others.
 *
 * Concurrency.  One process writes; who reads copies under a lock, which is
 * the caller's business.
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_HISTORY_H
#define WS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_HISTORY_MINUTES	1440	/* places for minutes: a day */
#define WS_HISTORY_QUARTERS 2880	/* places for quarters: 30 days */
#define WS_MINUTES_PER_QUARTER 15

/*
 * The largest size and the largest number of lookups of a row.  Both fit into
 * 64 bits with a sign, the size also in bytes, whatever the size of a page.
 */
#define WS_HISTORY_PAGES_MAX	0x1p40
#define WS_HISTORY_LOOKUPS_MAX	((uint64_t) INT64_MAX)

/*
 * What is known about a minute, or a quarter.  Pages, from 0 to
 * WS_HISTORY_PAGES_MAX; NaN: not known.
 */
typedef struct WsHistoryRow
{
	int64_t		number;			/* of the minute or quarter, counted from 1970 by
								 * UTC, at least 1; 0: no row */
	double		working_set;	/* pages */
	double		recommended;	/* pages */
	double		plateau_end;	/* pages */
	double		live;			/* pages */
	uint64_t	lookups;		/* in this minute or quarter, at most
								 * WS_HISTORY_LOOKUPS_MAX */
	uint64_t	hits;			/* of the lookups, at most as many */
} WsHistoryRow;

typedef struct WsHistory
{
	WsHistoryRow minutes[WS_HISTORY_MINUTES];
	WsHistoryRow quarters[WS_HISTORY_QUARTERS];
} WsHistory;

/* A row as it is read. */
typedef struct WsHistoryEntry
{
	int64_t		end;			/* seconds since 1970, UTC: end of the minute or
								 * quarter; INT64_MAX at most */
	int			minutes;		/* 1 or 15: how long it is */
	WsHistoryRow row;
} WsHistoryEntry;

/* No more entries than this are read at once. */
#define WS_HISTORY_ENTRIES	(WS_HISTORY_MINUTES + WS_HISTORY_QUARTERS)

/*
 * What had been counted, since a reset that is told by any number of its own,
 * when that was last looked at.  All zeros: never.
 */
typedef struct WsHistoryCount
{
	int64_t		since;
	uint64_t	lookups;
	uint64_t	hits;
} WsHistoryCount;

/*
 * Put into the row what was counted between the last look and this one, and
 * remember this one.  The first look finds nothing: what was counted before is
 * not known to be of this minute.  After a reset counters begin at 0, so all of
 * it is new.  A counter that is below its last value without a reset has
 * counted nothing.
 */
extern void ws_history_count(WsHistoryRow *row, WsHistoryCount *last, const WsHistoryCount *now);

/* Make an empty history. */
extern void ws_history_init(WsHistory *history);

/*
 * Add what was found now, in seconds since 1970.  row->number is ignored.
 * The row of a minute keeps the sizes that came with the highest
 * recommendation (one that is NaN is below any other; of equals the last), and
 * adds up lookups and hits; its quarter does the same.  Sizes and lookups
 * above their maximum are cut to it.  A row of a later time gives up its
 * place: the clock was ahead when that row was written, or is behind now, and
 * the present clock is the one that counts.  Times before 1970 are ignored;
 * its first minute and quarter have no number and are not kept.
 */
extern void ws_history_add(WsHistory *history, int64_t time, const WsHistoryRow *row);

/*
 * The clock was set back by so many seconds (above 0), and now it is "now":
 * move rows of minutes and quarters after now back by as much, to the nearest
 * minute or quarter.  A place that is taken by the same minute or quarter is
 * shared as in ws_history_add(); one that is taken by a younger one is left as
 * it is, and the row that would go there is lost; what would come before 1970
 * stays where it is.  Returns how many rows were moved.
 */
extern int	ws_history_set_back(WsHistory *history, int64_t now, int64_t seconds);

/*
 * Take over the rows of another history.  Of two rows for one place the
 * younger stays; of two for the same minute or quarter the one of more
 * lookups.  Rows after now take only places that are free: the clock may be
 * behind, and they count when it is set right.
 */
extern void ws_history_merge(WsHistory *history, const WsHistory *other, int64_t now);

/*
 * The entries of the past up to now, youngest first: minutes of the last day,
 * the present one among them, then the quarters that lie wholly before these,
 * of the last 30 days.  entries has room for WS_HISTORY_ENTRIES.  Returns how many.
 */
extern int	ws_history_read(const WsHistory *history, int64_t now, WsHistoryEntry *entries);

/*
 * The highest recommendation of the last so many seconds, up to now: its row,
 * whose minute is as exact as is known.  Rows count that begin in this time,
 * also those too old to be listed.  False: there is none.  Of equals the
 * youngest.
 */
extern bool ws_history_peak(const WsHistory *history, int64_t now, int64_t seconds,
							WsHistoryEntry *peak);

/*
 * How many minutes are known of the last so many seconds: of the entries that
 * ws_history_read() lists those that begin in this time, minutes that have a
 * row, and the quarters before them at 15 minutes each.
 */
extern int	ws_history_known(const WsHistory *history, int64_t now, int64_t seconds);

/*
 * NULL when all invariants hold, else what is wrong.  For memory whose
 * contents came from outside.
 */
extern const char *ws_history_check(const WsHistory *history);

#endif							/* WS_HISTORY_H */
