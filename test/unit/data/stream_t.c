/*
 * stream_t.c
 *		Tests of the ring of events: order, room, positions that wrap, places
 *		that stay unwritten, damage, marks, and several writers at once.
 *
 * The check byte lets one damaged event in 256 pass; where that decides how
 * many are noticed, the bound is K_SIGMA standard errors of a binomial count.
 */
#include "tap.h"
#include "stream.h"
#include "traces.h"

#include <pthread.h>
#include <sched.h>

#define K_SIGMA 5

static WsStream *
new_stream(uint32_t places)
{
	WsStream   *stream = aligned_memory(ws_stream_size(places));

	ws_stream_init(stream, places);
	return stream;
}

/*
 * A stream that has been in use up to this position.
 */
static WsStream *
used_stream(uint32_t places, uint32_t position)
{
	WsStream   *stream = new_stream(places);

	stream->head = stream->tail = position;
	for (uint32_t i = 1; i <= places; i++)
		stream->places[(position - i) & (places - 1)].stamp = position - i + 1;
	return stream;
}

/* with what fits into each field */
static WsEvent
cut_to_fit(WsEvent e)
{
	e.page.fork &= 15;
	e.type &= 3;
	e.run &= WS_RUN_MAX;
	e.origin &= (UINT32_C(1) << 28) - 1;
	return e;
}

/*
 * An event with something in every field that the number decides.
 */
static WsEvent
make_event(uint64_t number)
{
	uint64_t	a = mix64(seeded(number));
	uint64_t	b = mix64(a + 1);
	uint64_t	c = mix64(b + 1);
	uint64_t	d = mix64(c + 1);

	return cut_to_fit((WsEvent)
					  {
						  {a >> 32, b, b >> 32, c, c >> 32}, a, d, d >> 2 & 1, d >> 3 & 1, d >> 4, d >> 8, d >> 24
					  });
}

/* all but what the stream fills in */
static bool
same_event(const WsEvent *a, const WsEvent *b)
{
	return a->tick == b->tick && a->page.tablespace == b->page.tablespace &&
		a->page.database == b->page.database && a->page.relation == b->page.relation &&
		a->page.fork == b->page.fork && a->page.block == b->page.block &&
		a->type == b->type && a->maintenance == b->maintenance && a->ring == b->ring &&
		a->run == b->run && a->process == b->process && a->origin == b->origin;
}

/*
 * What the reader finds at a place.
 */
typedef enum State
{
	EVENT,						/* an event */
	EMPTY,						/* nothing */
	PENDING,					/* a place that is claimed but not whole */
	DAMAGED						/* an event that was lost */
} State;

static State
read_one(WsStream *stream, WsEvent *event)
{
	WsStreamWait wait = {0, 0};
	int			lost = 0;
	int			taken = ws_stream_take(stream, &wait, event, 1, &lost);

	if (lost > 0)
		return DAMAGED;
	if (taken > 0)
		return EVENT;
	return ws_stream_filled(stream) == 0 ? EMPTY : PENDING;
}

static bool
write_number(WsStream *stream, uint64_t number)
{
	WsEvent		e = make_event(number);

	return ws_stream_write(stream, &e);
}

/*
 * What a writer leaves in the place of this position.  To be copied there by
 * a test that stops a writer, and lets it go on later.
 */
static WsPlace
written_at(uint32_t places, uint32_t position, uint64_t number)
{
	WsStream   *other = used_stream(places, position);
	WsPlace		p;

	if (!write_number(other, number))
		abort();
	p = other->places[position & (places - 1)];
	free(other);
	return p;
}

static void
test_fields(void)
{
	WsStream   *stream = new_stream(8);
	WsEvent		e;
	bool		fine = true;

	is_int(ws_stream_size(8), 3 * 64 + 8 * sizeof(WsPlace), "a stream is three lines of cache and its places");
	ok(ws_stream_filled(stream) == 0 && read_one(stream, &e) == EMPTY && stream->tail == 0,
	   "a new stream is empty");
	for (int i = 0; i < 2; i++)
	{
		WsEvent		got;

		memset(&e, i == 0 ? 0xFF : 0, sizeof(e));
		e.maintenance = e.ring = i == 0;
		e = cut_to_fit(e);
		fine &= ws_stream_write(stream, &e) && read_one(stream, &got) == EVENT && same_event(&e, &got);
	}
	ok(fine, "all ones and all zeros survive");
	free(stream);
}

/*
 * ----------------------------------------------------------------
 * Against a queue
 * ----------------------------------------------------------------
 */

/*
 * Writers write, or claim a place and stop, for good or for a while; or what
 * they wrote is damaged.  The reader takes up to ten events in a turn, and looks
 * more than once in some.  A queue in plain memory has for each place its
 * number, and whether it is whole, pending or damaged.  The reader gives up a
 * place that was pending at the end of WS_STREAM_PATIENCE turns after the first
 * that found it.
 */
static void
test_queue(uint32_t places, uint32_t start)
{
	enum
	{
		STEPS = 60000, SOME = 10, MOST = 128
	};
	WsStream   *stream = used_stream(places, start);
	WsStreamWait wait = {start, 0};
	struct
	{
		State		state;
		uint64_t	number;
	}			queue[MOST];
	uint32_t	first = start;	/* the next position to come out */
	uint32_t	next = start;	/* and to go in */
	uint32_t	seen = start;	/* the first, when the last turn ended */
	int			turns = 0;		/* that have ended since then with it pending */
	uint64_t	seed = seeded(31 + places + start);
	int			lost = 7;
	int			want_lost = 7;
	long		wrong = 0;
	long		count[5] = {0};

	for (long i = 0; i < STEPS; i++)
	{
		/* for some time rather more writing, then rather more reading */
		uint32_t	writing = i / 97 % 2 ? 62 : 38;
		uint32_t	what = random_below(&seed, 100);

		if (what < writing)
		{
			bool		room = next - first < places;

			queue[next % MOST].number = (uint64_t) i;
			if (what < 3 && room)
			{
				queue[next % MOST].state = PENDING;
				stream->head++;
				count[PENDING]++;
			}
			else
			{
				queue[next % MOST].state = EVENT;
				wrong += write_number(stream, (uint64_t) i) != room;
				count[EMPTY] += !room;
			}
			if (what == 3 && room)
			{
				queue[next % MOST].state = DAMAGED;
				stream->places[next % places].rest ^= 1 << 8;
				count[DAMAGED]++;
			}
			next += room;
		}
		else if (what < 95)
		{
			WsEvent		events[SOME];
			int			most = random_below(&seed, 2) ? 1 : SOME;
			int			want = 0;
			int			n = ws_stream_take(stream, &wait, events, most, &lost);

			while (first != next && want < most)
			{
				WsEvent		event = make_event(queue[first % MOST].number);
				bool		pending = queue[first % MOST].state == PENDING;

				if (pending && (first != seen || turns < WS_STREAM_PATIENCE))
					break;
				if (pending)
					turns = 0;
				count[4] += pending;
				if (queue[first++ % MOST].state != EVENT)
					want_lost++;
				else if (++want <= n)
				{
					wrong += !same_event(&events[want - 1], &event);
					count[EVENT]++;
				}
			}
			wrong += n != want || lost != want_lost || stream->tail != first;
			if (random_below(&seed, 3) > 0)
			{
				turns = first != next && first == seen ? turns + 1 : 0;
				seen = first;
				ws_stream_end_turn(stream, &wait);
			}
		}
		else if (first != next)
		{
			/* one that was only late */
			uint32_t	late = first + random_below(&seed, next - first);

			if (queue[late % MOST].state == PENDING)
			{
				stream->places[late % places] = written_at(places, late, queue[late % MOST].number);
				queue[late % MOST].state = EVENT;
			}
		}
		wrong += ws_stream_filled(stream) != next - first;
	}
	ok(wrong == 0 && count[EVENT] > 1000 && count[EMPTY] > 20 && count[DAMAGED] > 50 &&
	   count[PENDING] > 200 && count[4] > 50 && next - start > 2000,
	   "%u places from %u: a queue, in which places stay pending, or are damaged", places, start);
	free(stream);
}

/* A writer that wakes up after its place was given up, and is another's by now. */
static void
test_woken_writer(void)
{
	enum
	{
		TRIALS = 1000
	};
	bool		held_up = true;

	for (uint64_t trial = 0; trial < TRIALS; trial++)
	{
		uint32_t	position = (uint32_t) mix64(seeded(trial));
		WsStream   *stream = used_stream(4, position);
		WsPlace		late = written_at(4, position, trial);
		WsEvent		event;

		stream->head++;
		stream->tail++;
		for (uint64_t n = 0; n < 4; n++)
			held_up &= write_number(stream, n);
		for (uint64_t n = 0; n < 3; n++)
			held_up &= read_one(stream, &event) == EVENT;
		/* with its stamp, which is not what the reader waits for */
		stream->places[position & 3] = late;
		held_up &= read_one(stream, &event) == PENDING;
		stream->tail++;
		held_up &= read_one(stream, &event) == EMPTY && write_number(stream, 5) && read_one(stream, &event) == EVENT;
		free(stream);
	}
	ok(held_up, "a writer that comes too late holds up one place, and the stream goes on");
}

/*
 * Content that changed: a bit by itself, or as many words as a writer got round
 * to that woke up too late, up to all but the stamp.
 */
static void
test_damage(void)
{
	enum
	{
		EVENTS = 300, WORDS = sizeof(WsPlace) / sizeof(uint32_t) - 1, BITS = WORDS * 32, HALVES = 100000
	};
	long		bits = 0;
	long		halves = 0;
	long		wrong = 0;
	uint64_t	seed = seeded(51);
	WsStream   *stream = new_stream(4);

	for (uint64_t n = 0; n < EVENTS * BITS + HALVES; n++)
	{
		WsPlace    *place = &stream->places[stream->head & 3];
		WsPlace		late = written_at(4, stream->head - 4, random64(&seed));
		uint32_t	words = 1 + random_below(&seed, WORDS);
		WsEvent		got;
		State		state;

		wrong += !write_number(stream, n);
		if (n < EVENTS * BITS)
			((uint8_t *) place)[4 + n % BITS / 8] ^= (uint8_t) (1 << n % 8);
		else
			memcpy((char *) place + 4, (char *) &late + 4, 4 * words);
		state = read_one(stream, &got);
		wrong += (state != DAMAGED && state != EVENT) || ws_stream_filled(stream) != 0;
		*(n < EVENTS * BITS ? &bits : &halves) += state == EVENT;
	}
	is_int(wrong, 0, "a damaged event is taken, too");

	/*
	 * A single bit changes what is multiplied by a power of two, which is no
	 * random change of the check byte; but rarely none.
	 */
	ok(bits <= EVENTS * BITS / 64, "a bit that changes is noticed: all but %ld of %d", bits, EVENTS * BITS);
	/* one in 256 has the same check byte: sqrt(N p (1 - p)) */
	ok(halves - HALVES / 256.0 <= K_SIGMA * sqrt(HALVES / 256.0 * (255 / 256.0)),
	   "half an event, or one of another position, is noticed: all but %ld of %d", halves, HALVES);
	free(stream);
}

/*
 * ----------------------------------------------------------------
 * Marks
 * ----------------------------------------------------------------
 */

/* As many marks as one writer finds. */
static int
marks_found(WsStream *stream, uint32_t now)
{
	int			n = 0;

	while (ws_stream_thins(stream, now))
		n++;
	return n;
}

static bool
write_at(WsStream *stream, uint32_t tick)
{
	WsEvent		e = make_event(tick);

	e.tick = tick;
	return ws_stream_write(stream, &e);
}

/* Events that are whole. */
static bool
reads(WsStream *stream, int n)
{
	WsEvent		got;

	while (n > 0 && read_one(stream, &got) == EVENT)
		n--;
	return n == 0;
}

static void
test_marks(void)
{
	enum
	{
		PLACES = 1024
	};
	static const uint32_t starts[] = {0, UINT32_MAX - 900};

	for (int i = 0; i < 2; i++)
	{
		WsStream   *stream = used_stream(PLACES, starts[i]);
		WsStreamWait wait = {0, 0};
		uint32_t	mark = PLACES * 3 / 4;
		int			found = 0;
		bool		right = true;

		for (uint32_t n = 1; n <= PLACES; n++)
		{
			bool		reached = n >= mark;

			right &= write_at(stream, 7) && marks_found(stream, 7) == reached;
			if (!reached)
				continue;
			/* a quarter of the free places, and three */
			mark += (PLACES - mark) / 4 + 3;
			found++;
		}
		ok(right && found > 10 && found < 14 && !write_at(stream, 7) && marks_found(stream, 7) == 0,
		   "from %u: a mark each time that a quarter of what is free has filled: %d", starts[i], found);

		right &= reads(stream, PLACES / 2);
		ws_stream_end_turn(stream, &wait);
		for (uint32_t n = 1; n <= PLACES / 2; n++)
			right &= write_at(stream, 7) && marks_found(stream, 7) == 0;
		ok(right, "from %u: none twice while half of the stream is filled", starts[i]);

		right &= reads(stream, PLACES / 2 + 1);
		ws_stream_end_turn(stream, &wait);
		while (ws_stream_filled(stream) < PLACES * 3 / 4)
			right &= marks_found(stream, 7) == 0 && write_at(stream, 7);
		ok(right && marks_found(stream, 7) == 1, "from %u: then the first is the next again", starts[i]);
		free(stream);
	}
}

/* Is it a flood when the last half of the stream is of these ticks? */
static bool
is_flood(uint32_t oldest, uint32_t rest, uint32_t now)
{
	enum
	{
		PLACES = 64
	};
	WsStream   *stream = used_stream(PLACES, 5);
	bool		flood;

	for (int i = 0; i < PLACES / 4 * 3; i++)
		if (!write_at(stream, i < PLACES / 4 ? 1 : i == PLACES / 4 ? oldest : rest))
			abort();
	flood = ws_stream_thins(stream, now);
	free(stream);
	return flood;
}

static void
test_late(void)
{
	WsStream   *stream = used_stream(64, 0);
	bool		right = true;

	ok(is_flood(100, 100, 102) && is_flood(100, 101, 102) && !is_flood(100, 102, 103) && !is_flood(100, 500, 500),
	   "late: it is a flood if half of the stream is of three ticks, whatever the rest");
	ok(is_flood(UINT32_MAX, 1, 1) && !is_flood(UINT32_MAX, 2, 2) && is_flood(102, 101, 100),
	   "late: ticks wrap, and may be out of order");
	for (uint32_t n = 0; n < 64; n++)
		right &= write_at(stream, n) && marks_found(stream, n) == 0;
	ok(right && !write_at(stream, 64), "late: a stream that fills slowly loses what does not fit");
	free(stream);

	stream = used_stream(64, 0);
	for (uint32_t n = 0; n < 48; n++)
		right &= write_at(stream, 1);
	stream->places[16].stamp--;
	ok(right && !ws_stream_thins(stream, 1), "late: what a place that is pending shows is nothing");
	free(stream);
}

/*
 * How many uses of random pages, so many in a ms, are not written while the
 * reader does not come for some time?  When a writer has to thin, half of
 * the pages are left out.  *shift: of how many pages they are written in the end.
 */
static long
flood(int each, int ms, uint32_t *shift)
{
	WsStream   *stream = new_stream(32768);
	uint64_t	seed = seeded(77);
	long		lost = 0;

	*shift = 0;
	for (int i = 0; i < each * ms; i++)
	{
		uint32_t	page = random_below(&seed, UINT32_MAX);
		uint32_t	tick = 1000 + i / (100 * each);

		if (*shift > 0 && page >> (32 - *shift) != 0)
			continue;
		*shift += ws_stream_thins(stream, tick);
		lost += !write_at(stream, tick);
	}
	free(stream);
	return lost;
}

static void
test_flood(void)
{
	uint32_t	shift;

	ok(flood(1000, 20, &shift) == 0 && shift == 0, "flood: a million events a second fit for 20 ms");
	ok(flood(1000, 100, &shift) == 0 && shift <= 6, "flood: then the sample is thinned, for 100 ms to one in 64");
	ok(flood(1000, 1000, &shift) == 0 && shift <= 12, "flood: and nothing is lost in a second");
	ok(flood(1000, 5000, &shift) > 0 && shift <= 14, "flood: but in five, since the sample is not thinned without end");
	ok(flood(90, 1000, &shift) == 0 && shift > 0 && shift <= 6, "flood: 90,000 events a second are one");
	ok(flood(50, 600, &shift) == 0 && shift == 0, "flood: 50,000 are none, and fit for half a second");
	ok(flood(50, 1000, &shift) > 10000 && shift == 0, "flood: from then on some are lost, but no stratum");
}

/*
 * ----------------------------------------------------------------
 * Three writers
 * ----------------------------------------------------------------
 */
#define WRITERS		3
#define ATTEMPTS	150000

typedef struct Writer
{
	WsStream   *stream;
	uint32_t	number;
	long		found;			/* marks */
	bool	   *written;		/* of each attempt */
	int		   *running;		/* atomic: how many writers are */
} Writer;

static void
start_writers(pthread_t *thread, void *(*work) (void *), Writer *writer, WsStream *stream)
{
	for (uint32_t i = 0; i < WRITERS; i++)
	{
		writer[i].stream = stream;
		writer[i].number = i;
		if (pthread_create(&thread[i], NULL, work, &writer[i]) != 0)
			abort();
	}
}

/* They all look for marks: each is found once. */
static void *
find_marks(void *arg)
{
	Writer	   *w = arg;

	do
		w->found += ws_stream_thins(w->stream, 1);
	while (write_at(w->stream, 1));
	w->found += ws_stream_thins(w->stream, 1);
	return NULL;
}

static void
test_finders(void)
{
	enum
	{
		TRIALS = 200, PLACES = 1024
	};
	long		wrong = 0;

	for (int trial = 0; trial < TRIALS; trial++)
	{
		WsStream   *stream = used_stream(PLACES, (uint32_t) mix64(seeded((uint64_t) trial)));
		Writer		writer[WRITERS] = {0};
		pthread_t	thread[WRITERS];
		long		more = 0;

		start_writers(thread, find_marks, writer, stream);
		for (uint32_t mark = PLACES * 3 / 4; mark <= PLACES; mark += (PLACES - mark) / 4 + 3)
			more--;
		for (int i = 0; i < WRITERS; i++)
		{
			pthread_join(thread[i], NULL);
			more += writer[i].found;
		}
		wrong += more + marks_found(stream, 1) != 0;
		free(stream);
	}
	is_int(wrong, 0, "three writers: each mark is found by one of them");
}

static void *
write_many(void *arg)
{
	Writer	   *w = arg;
	long		refused = 0;

	for (uint32_t i = 0; i < ATTEMPTS; i++)
	{
		/* the tick is the number of the event, and process who wrote it */
		WsEvent		e = make_event((uint64_t) w->number << 32 | i);

		e.tick = i;
		e.process = w->number;
		w->written[i] = ws_stream_write(w->stream, &e);
		if (w->written[i])
			continue;

		/*
		 * Wait a little for the reader.  On a busy machine each yield costs
		 * the time slices of all others, so that there are few of them.
		 */
		if (refused++ % 256 == 0)
			sched_yield();
		for (volatile int spin = 0; spin < 1000; spin++)
			;
	}
	__atomic_fetch_sub(w->running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Beside a reader, who notes what he has read. */
static void
test_threads(uint32_t places)
{
	WsStream   *stream = used_stream(places, UINT32_MAX - 20000);
	int			running = WRITERS;
	Writer		writer[WRITERS] = {0};
	pthread_t	thread[WRITERS];
	bool	   *seen[WRITERS];
	uint32_t	next[WRITERS] = {0};
	long		not_whole = 0;
	long		out_of_order = 0;
	long		total = 0;
	bool		last = false;
	bool		each = true;

	for (int i = 0; i < WRITERS; i++)
	{
		seen[i] = zeroed(ATTEMPTS, sizeof(bool));
		writer[i].written = zeroed(ATTEMPTS, sizeof(bool));
		writer[i].running = &running;
	}
	start_writers(thread, write_many, writer, stream);
	for (;;)
	{
		WsEvent		got;
		State		state = read_one(stream, &got);

		if (state == EVENT)
		{
			uint32_t	w = got.process;
			WsEvent		want;

			total++;
			if (w >= WRITERS || got.tick >= ATTEMPTS)
			{
				not_whole++;
				continue;
			}
			want = make_event((uint64_t) w << 32 | got.tick);
			want.tick = got.tick;
			want.process = w;
			not_whole += !same_event(&got, &want);
			out_of_order += got.tick < next[w];
			next[w] = got.tick + 1;
			seen[w][got.tick] = true;
		}
		else if (state == DAMAGED)
			not_whole++;
		else if (state == EMPTY && last)
			break;
		else if (state == EMPTY && __atomic_load_n(&running, __ATOMIC_SEQ_CST) == 0)
			last = true;		/* look once more: all is written now */
		else
			sched_yield();
	}
	for (int i = 0; i < WRITERS; i++)
	{
		pthread_join(thread[i], NULL);
		each &= memcmp(seen[i], writer[i].written, ATTEMPTS * sizeof(bool)) == 0;
		free(writer[i].written);
		free(seen[i]);
	}
	ok(not_whole == 0, "%u places, three writers: every event is whole", places);
	/* so that none is read twice */
	ok(out_of_order == 0, "%u places, three writers: each one's are in order", places);
	ok(each && ws_stream_filled(stream) == 0, "%u places, three writers: what was written is read, and once (%ld events)",
	   places, total);
	free(stream);
}

int
main(void)
{
	static const uint32_t places[] = {1, 2, 8, 64};

	plan(39);
	test_fields();
	for (int i = 0; i < 4; i++)
	{
		test_queue(places[i], 0);
		/* positions pass 2^32 in the middle of it */
		test_queue(places[i], UINT32_MAX - 1000);
	}
	test_woken_writer();
	test_damage();
	test_marks();
	test_late();
	test_flood();
	test_finders();
	test_threads(16);
	test_threads(1024);
	return done();
}
