/*
 * history_t.c
 *		Tests of the history: all of it against a plain list of rows, for random
 *		sequences of all that can happen to it.
 *
 * Beside that there are some cases by hand, where a number is documented or a
 * time is at one of its ends.
 */
#include "tap.h"
#include "history.h"
#include "yardstick.h"

#define HOUR INT64_C(3600)
#define DAY (24 * HOUR)

/* a Tuesday of 2027, at the beginning of a quarter of an hour */
#define NOON (INT64_C(2000000) * 900)

static WsHistory h;
static WsHistoryEntry entries[WS_HISTORY_ENTRIES];

/* a row whose sizes differ from those of other tags */
static WsHistoryRow
row_of(double recommended, double tag, uint64_t lookups, uint64_t hits)
{
	return (WsHistoryRow)
	{
		.number = -12345,		/* ignored */
			.working_set = tag, .recommended = recommended, .lookups = lookups, .hits = hits
	};
}

static void
add(WsHistory *history, int64_t time, double recommended, double tag)
{
	WsHistoryRow row = row_of(recommended, tag, 10, 4);

	ws_history_add(history, time, &row);
}

static bool
same_row(const WsHistoryRow *a, const WsHistoryRow *b)
{
	return memcmp(a, b, sizeof(WsHistoryRow)) == 0;
}

static int
count_rows(const WsHistory *history)
{
	int			n = 0;

	for (int i = 0; i < WS_HISTORY_MINUTES; i++)
		n += history->minutes[i].number != 0;
	for (int i = 0; i < WS_HISTORY_QUARTERS; i++)
		n += history->quarters[i].number != 0;
	for (int i = 0; i < WS_HISTORY_DAYS; i++)
		n += history->days[i].number != 0;
	return n;
}

/* the lengths of rows in minutes, and how many places they have */
static const int lengths[] = {1, 15, 1440};

static int
places_of(int length)
{
	return length == 1 ? 1440 : length == 15 ? 3360 : 400;
}

/* the place of a minute, of a quarter, or of a day */
static WsHistoryRow *
place_of(WsHistory *history, int length, int64_t number)
{
	WsHistoryRow *rows = length == 1 ? history->minutes : length == 15 ? history->quarters : history->days;

	return &rows[number % places_of(length)];
}

/* a minute of every one up to now is there, for so many days */
static void
fill(WsHistory *history, int64_t now, int days)
{
	int64_t		last = now / 60;

	memset(history, 0, sizeof(*history));
	for (int64_t m = last - days * 1440 + 1; m <= last; m++)
		add(history, m * 60, (double) (m % 1000), (double) m);
}

/* ---------------------------------------------------------------- by hand */

static void
test_empty(void)
{
	WsHistoryEntry peak;

	memset(&h, 0, sizeof(h));
	ok(count_rows(&h) == 0 && ws_history_check(&h) == NULL && ws_history_read(&h, NOON, entries) == 0 &&
	   !ws_history_peak(&h, NOON, DAY, &peak) &&
	   !ws_history_peak(&h, 0, DAY, &peak) && ws_history_set_back(&h, NOON, DAY) == 0,
	   "a new history has no row");
	ok(sizeof(WsHistory) == 40 * (1440 + 3360 + 400) + 7 * (8 + 20 * 12) + 144 * 8 + 16 + 96 * 3360 && WS_HISTORY_ENTRIES == 1440 + 3360 + 400,
	   "it has the size that its description gives");
}

static void
test_count(void)
{
	static const struct
	{
		WsHistoryCount now;
		uint64_t	lookups;	/* that are new */
		uint64_t	hits;
		const char *name;
	}			table[] = {
		{{7, 1000, 900}, 0, 0, "the first reading finds nothing"},
		{{7, 1010, 905}, 10, 5, "the second finds what is new"},
		{{7, 1010, 905}, 0, 0, "or nothing"},
		{{8, 3, 2}, 3, 2, "after a reset all are new"},
		{{9, 500, 400}, 500, 400, "also if there are more than before"},
		{{9, 400, 410}, 0, 0, "fewer than before without a reset are none"},
		{{9, 401, 440}, 1, 1, "there are no more hits than lookups"},
		{{10, UINT64_MAX, 1}, UINT64_MAX, 1, "the greatest number of lookups"},
		{{10, 5, 1}, 0, 0, "fewer than that"},
	};
	WsHistoryCount last = {0};

	for (int i = 0; i < 9; i++)
	{
		WsHistoryRow row = {.lookups = 99, .hits = 99};

		ws_history_count(&row, &last, &table[i].now);
		ok(row.lookups == table[i].lookups && row.hits == table[i].hits &&
		   memcmp(&last, &table[i].now, sizeof(last)) == 0, "count: %s", table[i].name);
	}
}

/* Times that the random sequences do not have. */
static void
test_times(void)
{
	static const int64_t early[] = {-1, -900, INT64_MIN + 1, INT64_MIN, 0, 59};
	WsHistoryEntry peak = {.end = 77};
	int			n = 0;
	int			gaps = 0;

	fill(&h, NOON, 401);
	is_int(count_rows(&h), 1440 + 3360 + 400,
		   "full: a row for each minute of a day, each quarter of 35 days and each day of 400");
	for (int64_t now = NOON; now < NOON + DAY; now += 7 * HOUR + 420)
	{
		fill(&h, now, 401);
		n = ws_history_read(&h, now, entries);
		for (int i = 1; i < n; i++)
			gaps += entries[i].end != entries[i - 1].end - 60 * entries[i - 1].minutes;
	}
	is_int(gaps, 0, "full: no time is listed twice or left out");
	n = 0;
	fill(&h, NOON, 401);
	is_int(ws_history_set_back(&h, NOON - 500 * DAY, 500 * DAY), 1440 + 3360 + 400, "full: a clock set back by 500 days moves all rows");
	memset(&h, 0, sizeof(h));
	for (int i = 0; i < 6; i++)
		add(&h, early[i], 1, 1);
	is_int(count_rows(&h), 0, "1970: times before its second minute are ignored");
	add(&h, 900, 3, 3);
	ok(!ws_history_peak(&h, 961, 1, &peak) && peak.end == 77 && ws_history_peak(&h, 960, INT64_MAX, &peak),
	   "1970: a row is found for any number of seconds, and without one nothing is written");
	for (int i = 0; i < 6; i++)
		n += ws_history_read(&h, early[i], entries) + ws_history_peak(&h, early[i], INT64_MAX, &peak) +
			ws_history_peak(&h, early[i], INT64_MIN, &peak);
	is_int(n, 0, "1970: before its second minute nothing is listed");

	/* the last minute has 8 seconds */
	memset(&h, 0, sizeof(h));
	add(&h, INT64_MAX, 7, 7);
	ok(ws_history_read(&h, INT64_MAX, entries) == 1 && entries[0].end == INT64_MAX && ws_history_check(&h) == NULL,
	   "last second: the last minute is cut short");
	ok(ws_history_peak(&h, INT64_MAX, 8, &peak) && !ws_history_peak(&h, INT64_MAX, 7, &peak) &&
	   !ws_history_peak(&h, INT64_MAX, INT64_MIN, &peak), "last second: it has a peak");
	ok(ws_history_set_back(&h, 0, INT64_MAX) == 0 && ws_history_set_back(&h, 0, INT64_MIN) == 0,
	   "last second: a row does not move to before 1970, nor by a negative time");
	ok(ws_history_set_back(&h, INT64_MIN, INT64_MAX - 2 * DAY) == 3 && place_of(&h, 1440, 1)->recommended == 7,
	   "last second: a row moves by nearly all of time");
}

/* ---------------------------------------------------------------- days */

static void
test_days(void)
{
	double		peaks[500];
	int			wrong = 0;
	int			n;

	fill(&h, NOON, 450);
	ws_history_daily(&h, NOON, peaks, 500);
	/* of 1440 minutes in a row, at least one is a multiple of 1000 less 1 */
	for (int i = 0; i < 500; i++)
		wrong += i < 500 - 399 ? !isnan(peaks[i]) : peaks[i] != 999;
	is_int(wrong, 0, "days: the highest of each of the last 399 days, without the present one");
	ws_history_daily(&h, NOON + 10 * DAY, peaks, 12);
	ok(peaks[0] == 999 && peaks[1] == 999 && peaks[2] == 999 && isnan(peaks[3]), "days: those without a row are not known");
	ws_history_daily(&h, 2 * DAY, peaks, 5);
	n = 0;
	for (int i = 0; i < 5; i++)
		n += isnan(peaks[i]);
	is_int(n, 5, "days: nor those before 1970");
}

/* ---------------------------------------------------------------- damage */

/*
 * A row of a full history has numbers at a limit: in the first place of each
 * length, in the last, and in that of the last time.
 */
static void
test_check(void)
{
	const char *range = "the number of a row is out of range";
	const char *hits = "there are more hits than lookups";
	const char *lookups = "there are too many lookups";
	const char *size = "a size is out of range";
	const uint64_t most = INT64_MAX;
	const double above = nextafter(0x1p40, INFINITY);
	long		wrong = 0;

	fill(&h, NOON, 401);
	for (int i = 0; i < 9; i++)
	{
		int			length = lengths[i % 3];
		int			places = places_of(length);
		int64_t		end = INT64_MAX / 60 / length;
		int			place = i < 3 ? 0 : i < 6 ? places - 1 : (int) (end % places);
		int64_t		last = end / places * places + place - (place > end % places ? places : 0);
		WsHistoryRow *row = place_of(&h, length, place);
		WsHistoryRow whole = *row;
		const struct
		{
			WsHistoryRow row;
			const char *want;
		}			cases[] = {
			{{0, -1, -1, 0, 1}, ""}, {{last, 0, 0, 0, 0}, ""}, {{last, NAN, NAN, 1, 1}, ""},
			{{last, 0x1p40, 0x1p40, most, most}, ""},
			{{last + places, 1, 1, 1, 1}, range}, {{-1, 1, 1, 1, 1}, range}, {{place - places, 1, 1, 1, 1}, range},
			{{INT64_MAX, 1, 1, 1, 1}, range}, {{INT64_MIN, 1, 1, 1, 1}, range},
			{{last - 1, 1, 1, 1, 1}, "a row is not in its place"},
			{{last, 1, 1, 0, 1}, hits}, {{last, 1, 1, most, most + 1}, hits},
			{{last, 1, 1, most + 1, 0}, lookups}, {{last, 1, 1, UINT64_MAX, UINT64_MAX}, lookups},
			{{last, -0x1p-1074, 1, 1, 1}, size}, {{last, 1, -0x1p-1074, 1, 1}, size},
			{{last, above, 1, 1, 1}, size}, {{last, 1, above, 1, 1}, size},
			{{last, -INFINITY, 1, 1, 1}, size}, {{last, 1, INFINITY, 1, 1}, size},
		};

		for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
		{
			const char *found;

			*row = cases[c].row;
			found = ws_history_check(&h);
			wrong += strcmp(found ? found : "", cases[c].want) != 0;
		}
		*row = whole;
	}
	is_int(wrong, 0, "check: damage to any row is found");
	ok(ws_history_check(&h) == NULL, "check: the repaired history is valid");
}

/* ---------------------------------------------------------------- against a list */

/*
 * The list has the rows in any order.  A row that shares its place is looked
 * for by its remainder, and times are compared in seconds.
 */
typedef struct Fact
{
	int			length;			/* minutes: 1, 15 or 1440 */
	WsHistoryRow row;
} Fact;

typedef struct List
{
	int			count;
	Fact		facts[WS_HISTORY_ENTRIES + 1];
} List;

static int64_t
begin_of(const Fact *f)
{
	return f->row.number * 60 * f->length;
}

static bool
same_place(const Fact *a, const Fact *b)
{
	return a->length == b->length &&
		(a->row.number - b->row.number) % places_of(a->length) == 0;
}

static uint64_t
sum_of(uint64_t a, uint64_t b)
{
	__int128	sum = (__int128) a + b;

	return sum > INT64_MAX ? INT64_MAX : (uint64_t) sum;
}

/* the row that stays of two with the same number */
static Fact
joined(const Fact *old, const Fact *new)
{
	Fact		f = isnan(old->row.recommended) || new->row.recommended >= old->row.recommended ? *new : *old;

	f.row.lookups = sum_of(old->row.lookups, new->row.lookups);
	f.row.hits = sum_of(old->row.hits, new->row.hits);
	return f;
}

/* the row in the place of another, or NULL */
static Fact *
list_find(List *list, const Fact *fact)
{
	for (int i = 0; i < list->count; i++)
		if (same_place(&list->facts[i], fact))
			return &list->facts[i];
	return NULL;
}

/* a younger row in its place is replaced, or keeps it */
static bool
list_add(List *list, const Fact *fact, bool replace)
{
	Fact	   *old = list_find(list, fact);

	if (old == NULL)
		list->facts[list->count++] = *fact;
	else if (old->row.number == fact->row.number)
		*old = joined(old, fact);
	else if (replace || old->row.number < fact->row.number)
		*old = *fact;
	else
		return false;
	return true;
}

static void
list_add_at(List *list, int64_t time, const WsHistoryRow *row)
{
	for (int k = 0; k < 3; k++)
	{
		int			length = lengths[k];
		Fact		fact = {length, *row};
		double	   *sizes[] = {&fact.row.working_set, &fact.row.recommended};

		for (int i = 0; i < 2; i++)
			if (*sizes[i] > 0x1p40)
				*sizes[i] = 0x1p40;
		fact.row.number = time / 60 / length;
		if (fact.row.number >= 1)
			list_add(list, &fact, true);
	}
}

static int
list_set_back(List *list, int64_t now, int64_t seconds)
{
	static List moving;
	int			kept = 0;
	int			moved = 0;

	moving.count = 0;
	for (int i = 0; i < list->count; i++)
	{
		Fact		f = list->facts[i];
		int64_t		by = llround((double) seconds / (60 * f.length));

		if (begin_of(&f) <= now || f.row.number - by < 1 || by == 0)
			list->facts[kept++] = f;
		else
		{
			f.row.number -= by;
			moving.facts[moving.count++] = f;
		}
	}
	list->count = kept;
	for (int i = 0; i < moving.count; i++)
		moved += list_add(list, &moving.facts[i], false);
	return moved;
}

static void
list_merge(List *list, const List *from, int64_t now)
{
	for (int i = 0; i < from->count; i++)
	{
		const Fact *theirs = &from->facts[i];
		Fact	   *mine = list_find(list, theirs);

		if (mine == NULL)
			list->facts[list->count++] = *theirs;
		else if (mine->row.number == theirs->row.number ? mine->row.lookups < theirs->row.lookups :
				 mine->row.number < theirs->row.number && begin_of(theirs) <= now)
			*mine = *theirs;
	}
}

/* the shortest first, and of these the youngest */
static int
fact_order(const void *a, const void *b)
{
	const Fact *x = a;
	const Fact *y = b;

	if (x->length != y->length)
		return x->length - y->length;
	return x->row.number < y->row.number ? 1 : -1;
}

/* in words: the higher one, of equals the one that begins later, of these the shorter */
static bool
better(const Fact *a, const Fact *b)
{
	if (a->row.recommended != b->row.recommended)
		return a->row.recommended > b->row.recommended;
	if (begin_of(a) != begin_of(b))
		return begin_of(a) > begin_of(b);
	return a->length < b->length;
}

/* is it what is read of this row? */
static bool
is_entry_of(const WsHistoryEntry *entry, const Fact *f)
{
	int64_t		end = begin_of(f) > INT64_MAX - 60 * f->length ? INT64_MAX : begin_of(f) + 60 * f->length;

	return entry->minutes == f->length && entry->end == end && same_row(&entry->row, &f->row);
}

/* what differs from the list */
typedef struct Wrong
{
	long		rows;
	long		read;
	long		peak;
	long		moved;
} Wrong;

/* how much happened; a test of nothing is to fail */
static struct
{
	long		listed;
	long		quarter_peaks;
	long		moved;
	long		merges;
}			happened;

static void
compare(WsHistory *history, List *list, int64_t now, int64_t seconds, Wrong *wrong)
{
	int			nread = ws_history_read(history, now, entries);
	int			n = 0;
	const Fact *best = NULL;
	WsHistoryEntry peak;
	bool		found;

	wrong->rows += list->count != count_rows(history) || ws_history_check(history) != NULL;
	qsort(list->facts, (size_t) list->count, sizeof(Fact), fact_order);
	for (int i = 0; i < list->count; i++)
	{
		const Fact *f = &list->facts[i];
		bool		in_time = (__int128) now - seconds < begin_of(f) && begin_of(f) <= now;
		int64_t		minutes = now / 60 - 1439;	/* the first of each */
		int64_t		quarters = now / 900 - 3359;
		bool		listed;

		while (minutes > 1 && minutes % 15 != 0)
			minutes++;
		while (quarters > 1 && quarters % 96 != 0)
			quarters++;
		listed = f->length == 1 ? f->row.number <= now / 60 && f->row.number >= minutes :
			f->length == 15 ? f->row.number < minutes / 15 && f->row.number >= quarters :
			f->row.number > now / DAY - 400 && f->row.number < quarters / 96;

		wrong->rows += !same_row(place_of(history, f->length, f->row.number), &f->row);
		if (listed)
		{
			wrong->read += n >= nread || !is_entry_of(&entries[n], f);
			n++;
		}
		if (in_time && !isnan(f->row.recommended) && (best == NULL || better(f, best)))
			best = f;
	}
	wrong->read += n != nread;
	found = ws_history_peak(history, now, seconds, &peak);
	wrong->peak += found != (best != NULL) || (found && !is_entry_of(&peak, best));
	happened.quarter_peaks += best != NULL && best->length > 1;
	happened.listed += nread;
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

static int64_t
later_by(int64_t time, int64_t seconds)
{
	return time > INT64_MAX - seconds ? INT64_MAX : time + seconds;
}

/* few values, for many equals; at times as many as there can be */
static WsHistoryRow
random_row(uint64_t *seed, int tag)
{
	uint64_t	lookups = random_below(seed, 5);
	WsHistoryRow row = row_of(random_below(seed, 8) == 0 ? NAN : random_below(seed, random_below(seed, 2) ? 1000 : 10),
							  tag, lookups, random_below(seed, (uint32_t) lookups + 1));

	if (random_below(seed, 200) == 0)
		row.recommended = 0x1p40 + random_below(seed, 3) - 1;
	if (random_below(seed, 200) == 0)
		row.working_set = random_below(seed, 2) ? NAN : INFINITY;
	if (random_below(seed, 1000) == 0)
	{
		row.lookups = INT64_MAX - random_below(seed, 3);
		row.hits = row.lookups - random_below(seed, 3);
	}
	return row;
}

typedef struct Model
{
	WsHistory	histories[2];
	List		lists[2];
	int64_t		now;
	uint64_t	seed;
	Wrong		wrong;
} Model;

/* The clock is set back; sometimes it is found wrong by more, or not at all. */
static void
step_back(Model *m)
{
	int64_t		back = random_back(&m->seed);

	m->now -= back;
	if (random_below(&m->seed, 5) == 0)
		back += random_back(&m->seed);
	for (int k = 0; k < 2 && random_below(&m->seed, 3) != 0; k++)
	{
		int			moved = list_set_back(&m->lists[k], m->now, back);

		m->wrong.moved += moved != ws_history_set_back(&m->histories[k], m->now, back);
		happened.moved += moved;
	}
}

/* One random thing happens to a history and to its list. */
static void
step(Model *m, int pace, int tag)
{
	uint64_t   *seed = &m->seed;
	uint32_t	kind = random_below(seed, 1000);
	int			which = random_below(seed, 4) == 0;
	WsHistory  *history = &m->histories[which];
	List	   *list = &m->lists[which];

	if (kind < 950)
	{
		WsHistoryRow row = random_row(seed, tag);

		ws_history_add(history, m->now, &row);
		list_add_at(list, m->now, &row);
		m->now = later_by(m->now, random_step(seed, pace));
	}
	else if (kind < 970 && list->count > 0)
	{
		/* a minute and its quarter need not agree */
		Fact	   *f = &list->facts[random_below(seed, (uint32_t) list->count)];

		f->row.recommended = random_below(seed, 10);
		place_of(history, f->length, f->row.number)->recommended = f->row.recommended;
	}
	else if (kind < 980)
		step_back(m);
	else if (kind < 985)
	{
		int64_t		until = m->now - (random_below(seed, 2) ? 0 : random_back(seed));

		ws_history_merge(history, &m->histories[!which], until);
		list_merge(list, &m->lists[!which], until);
		happened.merges++;
	}
	else
	{
		int64_t		when = random_below(seed, 3) ? m->now : later_by(m->now - random_back(seed), random_back(seed));

		if (random_below(seed, 4) == 0)
			when -= when % 60;
		compare(history, list, when, random_below(seed, 2) ? random_back(seed) : 60 * random_back(seed), &m->wrong);
	}
}

/*
 * Two histories and two lists go through the same.  Times are of 1970, of
 * today, or of the end of all time.
 */
static void
test_model(int pace, int64_t start, const char *era)
{
	static Model m;
	const Wrong *wrong = &m.wrong;

	memset(&m, 0, sizeof(m));
	m.seed = seeded(100 + (uint64_t) (start ^ pace));
	m.now = start;
	for (int i = 0; i < trials(6000); i++)
	{
		step(&m, pace, i);
		/* back to where times begin */
		if (start < NOON && (m.now > 50 * DAY || m.now < start))
			m.now = start;
	}
	for (int k = 0; k < 2; k++)
		compare(&m.histories[k], &m.lists[k], m.now, 31 * DAY, &m.wrong);

	ok(wrong->rows == 0, "%s, pace %d: all rows are what a list has", era, pace);
	ok(wrong->moved == 0, "%s, pace %d: as many are moved back", era, pace);
	ok(wrong->read == 0, "%s, pace %d: the same are listed", era, pace);
	ok(wrong->peak == 0, "%s, pace %d: the peak is the same", era, pace);
}

int
main(void)
{
	plan(2 + 9 + 10 + 3 + 2 + 12 * 4 + 1);

	test_empty();
	test_count();
	test_times();
	test_days();
	test_check();
	for (int pace = 0; pace < 4; pace++)
	{
		test_model(pace, NOON, "today");
		test_model(pace, -300, "1970");
		test_model(pace, INT64_MAX - 20 * DAY, "the end of time");
	}
	ok(happened.moved > trials(600) && happened.listed > trials(12000) && happened.merges > trials(120) &&
	   (happened.quarter_peaks > 40 || !all_trials()), "all of it happened (%ld, %ld, %ld, %ld)", happened.moved,
	   happened.listed, happened.merges, happened.quarter_peaks);
	return done();
}
