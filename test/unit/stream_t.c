/*
 * stream_t.c
 *		Tests of the ring of events: order, room, positions that wrap, places
 *		that stay unwritten, damage, and several writers at once.
 *
 * Seeds are fixed.  The check byte lets one damaged event in 256 pass; where
 * that decides how many are noticed, the bound is K_SIGMA standard errors of a
 * binomial count.
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
		stream->events[(position - i) & (places - 1)].stamp = position - i + 1;
	return stream;
}

/*
 * An event with something in every field that the number decides.
 */
static WsEvent
make_event(uint64_t number)
{
	uint64_t	a = mix64(number);
	uint64_t	b = mix64(a + 1);
	uint64_t	c = mix64(b + 1);
	WsEvent		e;

	memset(&e, 0, sizeof(e));
	e.tick = (uint32_t) a;
	e.page.tablespace = (uint32_t) (a >> 32);
	e.page.database = (uint32_t) b;
	e.page.relation = (uint32_t) (b >> 32);
	e.page.fork = (int32_t) (uint32_t) c;
	e.page.block = (uint32_t) (c >> 32);
	c = mix64(c + 1);
	e.kind = c & 3;
	e.maintenance = c >> 2 & 1;
	e.ring = c >> 3 & 1;
	e.run = c >> 4 & 15;
	e.process = c >> 8 & 0xFFFF;
	return e;
}

/* all but what the stream fills in */
static bool
same_event(const WsEvent *a, const WsEvent *b)
{
	return a->tick == b->tick && a->page.tablespace == b->page.tablespace &&
		a->page.database == b->page.database && a->page.relation == b->page.relation &&
		a->page.fork == b->page.fork && a->page.block == b->page.block &&
		a->kind == b->kind && a->maintenance == b->maintenance && a->ring == b->ring &&
		a->run == b->run && a->process == b->process;
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

/* is this event the next one? */
static bool
reads_number(WsStream *stream, uint64_t number)
{
	WsEvent		want = make_event(number);
	WsEvent		got;

	return read_one(stream, &got) == EVENT && same_event(&got, &want);
}

static bool
reads_state(WsStream *stream, State state)
{
	WsEvent		got;

	return read_one(stream, &got) == state;
}

/*
 * Claim the next place and do not come back.
 */
static uint32_t
claim(WsStream *stream)
{
	return stream->head++;
}

/*
 * Give up the next place without a wait.
 */
static void
skip(WsStream *stream)
{
	stream->tail++;
}

/*
 * What a writer leaves in the place of this position.  To be copied there by
 * a test that stops a writer, and lets it go on later.
 */
static WsEvent
written_at(uint32_t places, uint32_t position, uint64_t number)
{
	WsStream   *other = used_stream(places, position);
	WsEvent		e;

	if (!write_number(other, number))
		abort();
	e = other->events[position & (places - 1)];
	free(other);
	return e;
}

static void
test_empty_and_order(void)
{
	WsStream   *stream = new_stream(8);
	WsEvent		e;
	bool		fine = true;

	is_int(ws_stream_size(8), 3 * 64 + 8 * sizeof(WsEvent), "a stream is three lines of cache and its places");
	ok(ws_stream_filled(stream) == 0 && reads_state(stream, EMPTY) &&
	   reads_state(stream, EMPTY) && stream->tail == 0,
	   "a new stream is empty, and stays where it is when read");

	for (uint64_t i = 0; i < 5; i++)
		fine &= write_number(stream, i);
	ok(fine && ws_stream_filled(stream) == 5, "five events are written");
	for (uint64_t i = 0; i < 5; i++)
		fine &= reads_number(stream, i);
	ok(fine && ws_stream_filled(stream) == 0 && reads_state(stream, EMPTY),
	   "and read in their order, each once");

	/* every field at its ends */
	memset(&e, 0xFF, sizeof(e));
	for (int i = 0; i < 2; i++)
	{
		WsEvent		got;

		e.stamp = 77;
		e.check = 88;
		fine &= ws_stream_write(stream, &e) &&
			read_one(stream, &got) == EVENT && same_event(&e, &got) &&
			got.stamp == stream->tail;
		memset(&e, 0, sizeof(e));
	}
	ok(fine, "all ones and all zeros survive, and stamp and check are the stream's own");
	e = make_event(1);
	e.kind = WS_EVENT_REMOVE;
	e.run = WS_RUN_MAX;
	{
		WsEvent		got;

		ok(ws_stream_write(stream, &e) && read_one(stream, &got) == EVENT &&
		   got.kind == WS_EVENT_REMOVE && got.run == WS_RUN_MAX,
		   "the last kind and the longest run have room in their bits");
	}
	free(stream);
}

static void
test_full(void)
{
	WsStream   *stream = new_stream(8);
	uint32_t	head;
	bool		fine = true;

	for (uint64_t i = 0; i < 8; i++)
		fine &= write_number(stream, i);
	ok(fine && ws_stream_filled(stream) == 8, "eight events fill eight places");
	head = stream->head;
	for (uint64_t i = 0; i < 20; i++)
		fine &= !write_number(stream, 100 + i);
	ok(fine && stream->head == head, "more are refused, and claim no place");
	ok(reads_number(stream, 0), "nothing was overwritten");
	ok(write_number(stream, 8) && !write_number(stream, 9),
	   "an event that is read makes room for one, and for no more");
	for (uint64_t i = 1; i <= 8; i++)
		fine &= reads_number(stream, i);
	ok(fine && reads_state(stream, EMPTY), "the rest come whole and in order");
	free(stream);
}

/*
 * Write and read at random against a queue in plain memory, which knows only
 * numbers.  Returns how often anything differed.
 */
static long
compare_with_queue(WsStream *stream, long steps, uint64_t seed, long *refused)
{
	uint64_t	first = 0;		/* the next number to come out */
	uint64_t	next = 0;		/* and to go in */
	long		wrong = 0;

	*refused = 0;
	for (long i = 0; i < steps; i++)
	{
		/* for some time rather more writing, then rather more reading */
		bool		writing = random_below(&seed, 100) < (i / 97 % 2 ? 62 : 38);

		if (writing)
		{
			bool		room = next - first < stream->size;

			wrong += write_number(stream, next) != room;
			next += room;
			*refused += !room;
		}
		else if (first == next)
			wrong += !reads_state(stream, EMPTY);
		else
			wrong += !reads_number(stream, first++);
		wrong += ws_stream_filled(stream) != next - first;
	}
	return wrong;
}

static void
test_wrap(void)
{
	static const uint32_t places[] = {1, 2, 8, 64};

	for (int i = 0; i < 4; i++)
	{
		WsStream   *stream = new_stream(places[i]);
		long		refused;
		long		wrong = compare_with_queue(stream, 60000, 31 + (uint64_t) i, &refused);

		ok(wrong == 0 && refused > 0 && stream->head > 100 * places[i],
		   "%u places: a queue, over and over again", places[i]);
		free(stream);

		/* positions pass 2^32 in the middle of it */
		stream = used_stream(places[i], UINT32_MAX - 9000);
		wrong = compare_with_queue(stream, 60000, 41 + (uint64_t) i, &refused);
		ok(wrong == 0 && refused > 0 && stream->head < UINT32_MAX / 2,
		   "%u places: and when positions wrap", places[i]);
		free(stream);
	}
}

static void
test_pending(void)
{
	static const uint32_t start[] = {0, 12345, UINT32_MAX - 1, UINT32_MAX};
	bool		waits = true;
	bool		skips = true;
	bool		late = true;
	bool		full = true;

	for (int i = 0; i < 4; i++)
	{
		WsStream   *stream = used_stream(8, start[i]);
		uint32_t	position;

		/* one is claimed, and the one behind it written */
		position = claim(stream);
		waits &= reads_state(stream, PENDING);
		waits &= write_number(stream, 1);
		for (int n = 0; n < 10; n++)
			waits &= reads_state(stream, PENDING);
		waits &= stream->tail == position && ws_stream_filled(stream) == 2;
		skip(stream);
		skips &= stream->tail == position + 1 && reads_number(stream, 1) &&
			reads_state(stream, EMPTY);

		/* one that is only late */
		position = claim(stream);
		write_number(stream, 3);
		late &= reads_state(stream, PENDING);
		stream->events[position & 7] = written_at(8, position, 2);
		late &= reads_number(stream, 2) && reads_number(stream, 3) &&
			reads_state(stream, EMPTY);

		/* a claim takes room like an event */
		for (int n = 0; n < 8; n++)
			claim(stream);
		full &= !write_number(stream, 4);
		for (int n = 0; n < 8; n++)
		{
			full &= reads_state(stream, PENDING);
			skip(stream);
			full &= write_number(stream, (uint64_t) n);
		}
		for (int n = 0; n < 8; n++)
			full &= reads_number(stream, (uint64_t) n);
		free(stream);
	}
	ok(waits, "the reader does not pass a place that is claimed and not written");
	ok(skips, "until it is skipped; what is behind it is not lost");
	ok(late, "a writer that is only late loses nothing");
	ok(full, "claims fill the stream, and skipping makes room");
}

/*
 * A writer that wakes up after its place was skipped, and meanwhile belongs to
 * another.
 */
static void
test_woken_writer(void)
{
	enum
	{
		TRIALS = 20000
	};
	long		noticed = 0;
	long		passed = 0;
	bool		held_up = true;

	for (uint64_t trial = 0; trial < TRIALS; trial++)
	{
		uint32_t	start = (uint32_t) mix64(trial);
		WsStream   *stream = used_stream(4, start);
		uint32_t	position = claim(stream);
		WsEvent		late = written_at(4, position, 2 * trial + 1);
		WsEvent    *place = &stream->events[position & 3];
		uint32_t	stamp;

		skip(stream);
		for (uint64_t n = 0; n < 4; n++)
			held_up &= write_number(stream, 1000000 + 4 * trial + n);
		for (uint64_t n = 0; n < 3; n++)
			held_up &= reads_number(stream, 1000000 + 4 * trial + n);

		/* its content, of which the last word may be still to come */
		stamp = place->stamp;
		if (trial % 2 == 0)
			*place = late;
		else
			memcpy(place, &late, sizeof(WsEvent) - sizeof(uint32_t));
		if (trial % 4 < 2)
		{
			/* and its stamp: not what the reader waits for */
			held_up &= place->stamp == position + 1 &&
				reads_state(stream, PENDING);
			skip(stream);
		}
		else
		{
			WsEvent		got;
			State state;

			place->stamp = stamp;
			state = read_one(stream, &got);
			noticed += state == DAMAGED;
			passed += state == EVENT;
		}
		held_up &= reads_state(stream, EMPTY) && write_number(stream, 5) &&
			reads_number(stream, 5);
		free(stream);
	}
	ok(held_up, "a writer that comes too late holds up one place, and the stream goes on");
	/* one in 256 has the same check byte: sqrt(N p (1 - p)) */
	ok(noticed + passed == TRIALS / 2 &&
	   passed - TRIALS / 2 / 256.0 <= K_SIGMA * sqrt(TRIALS / 2 / 256.0 * (255 / 256.0)),
	   "what it writes into another's event is noticed: all but %ld of %d", passed, TRIALS / 2);
}

/*
 * Content that changed by itself.
 */
static void
test_damage(void)
{
	enum
	{
		EVENTS = 300, BITS = (sizeof(WsEvent) - sizeof(uint32_t)) * 8
	};
	long		passed = 0;
	long		trials = 0;
	bool		goes_on = true;
	uint64_t	seed = 51;
	WsStream   *stream = new_stream(4);

	for (uint64_t n = 0; n < EVENTS; n++)
	{
		for (int bit = 0; bit < (int) BITS; bit++)
		{
			WsEvent    *place = &stream->events[stream->head & 3];
			uint32_t	tail = stream->tail;
			WsEvent		got;
			State state;

			goes_on &= write_number(stream, n);
			((uint8_t *) place)[4 + bit / 8] ^= (uint8_t) (1 << bit % 8);
			state = read_one(stream, &got);
			goes_on &= state == DAMAGED || state == EVENT;

			goes_on &= stream->tail == tail + 1;
			passed += state == EVENT;

			trials++;
		}
	}
	ok(goes_on && reads_state(stream, EMPTY), "a damaged event is taken, too");

	/*
	 * A single bit changes what is multiplied by a power of two, which is no
	 * random change of the check byte; but rarely none.
	 */
	ok(passed <= trials / 64, "a bit that changes is noticed: all but %ld of %ld", passed, trials);

	passed = trials = 0;
	for (uint64_t n = 0; n < 100000; n++)
	{
		WsEvent    *place = &stream->events[stream->head & 3];
		WsEvent		other = make_event(random64(&seed));
		uint32_t	words = 1 + random_below(&seed, sizeof(WsEvent) / 4 - 2);
		WsEvent		got;

		/* as many words of another event as the machine got round to */
		goes_on &= write_number(stream, n);
		memcpy((char *) place + 4, (char *) &other + 4, 4 * words);
		passed += read_one(stream, &got) == EVENT;
		trials++;
	}
	/* one in 256, binomial */
	ok(goes_on && passed - trials / 256.0 <= K_SIGMA * sqrt(trials / 256.0 * (255 / 256.0)),
	   "half an event is noticed: all but %ld of %ld", passed, trials);
	free(stream);
}

/*
 * The reader takes what there is, by turns, and gives up a place that stays
 * pending for too many of them.
 */
static void
test_turns(void)
{
	enum
	{
		SOME = 10
	};
	static const uint32_t start[] = {0, 777, UINT32_MAX - 3};
	bool		takes = true;
	bool		waits = true;
	bool		late = true;
	bool		again = true;

	for (int i = 0; i < 3; i++)
	{
		WsStream   *stream = used_stream(64, start[i]);
		WsStreamWait wait = {0, 0};
		WsEvent		events[SOME];
		WsEvent		want;
		uint32_t	position;
		int			lost = 7;
		int			turns;

		/* no more than asked for, in order, and no more than there are */
		for (uint64_t n = 0; n < 15; n++)
			write_number(stream, n);
		takes &= ws_stream_take(stream, &wait, events, SOME, &lost) == SOME;
		for (uint64_t n = 0; n < SOME; n++)
		{
			want = make_event(n);
			takes &= same_event(&events[n], &want);
		}
		/* the third of what is left is damaged: lost, and the others follow */
		stream->events[(stream->tail + 2) & 63].page.block ^= 0x5A5A5A5A;
		takes &= ws_stream_take(stream, &wait, events, SOME, &lost) == 4 && lost == 8;
		want = make_event(13);
		takes &= same_event(&events[2], &want);
		takes &= ws_stream_take(stream, &wait, events, SOME, &lost) == 0 && lost == 8;
		ws_stream_end_turn(stream, &wait);

		/* one before a pending place, one behind it */
		write_number(stream, 20);
		position = claim(stream);
		write_number(stream, 21);
		takes &= ws_stream_take(stream, &wait, events, SOME, &lost) == 1 && lost == 8;
		ws_stream_end_turn(stream, &wait);
		for (turns = 1; turns < 100; turns++)
		{
			int			n = ws_stream_take(stream, &wait, events, SOME, &lost);

			/* looking again in the same turn is no other turn */
			if (n == 0)
				n = ws_stream_take(stream, &wait, events, SOME, &lost);
			ws_stream_end_turn(stream, &wait);
			if (n > 0)
				break;
			waits &= lost == 8 && stream->tail == position;
		}
		want = make_event(21);
		waits &= turns >= WS_STREAM_PATIENCE && turns <= WS_STREAM_PATIENCE + 1 && lost == 9 &&
			same_event(&events[0], &want);

		/* two places, each of which is late, but not by too much */
		for (uint64_t n = 30; n < 32; n++)
		{
			position = claim(stream);
			for (turns = 0; turns < WS_STREAM_PATIENCE; turns++)
			{
				late &= ws_stream_take(stream, &wait, events, SOME, &lost) == 0;
				ws_stream_end_turn(stream, &wait);
			}
			stream->events[position & 63] = written_at(64, position, n);
			late &= ws_stream_take(stream, &wait, events, SOME, &lost) == 1 && lost == 9;
			want = make_event(n);
			late &= same_event(&events[0], &want);
		}
		/* two that are given up, the second one as late as the first */
		claim(stream);
		position = claim(stream);
		for (turns = 0; turns < 100 && lost < 10; turns++)
		{
			again &= ws_stream_take(stream, &wait, events, SOME, &lost) == 0;
			ws_stream_end_turn(stream, &wait);
		}
		again &= stream->tail == position;
		for (turns = 0; turns < 100 && lost < 11; turns++)
		{
			again &= ws_stream_take(stream, &wait, events, SOME, &lost) == 0;
			ws_stream_end_turn(stream, &wait);
		}
		again &= turns >= WS_STREAM_PATIENCE && turns <= WS_STREAM_PATIENCE + 2 &&
			ws_stream_filled(stream) == 0;
		free(stream);
	}
	ok(takes, "the reader takes whole events, and counts damaged ones");
	ok(waits, "it waits for a pending place for some turns, and then gives it up");
	ok(late, "what comes within that time is not lost");
	ok(again, "it waits as long for each place");
}

/*
 * Three writers and a reader.  Each writer counts its events, written or
 * refused, and notes which were written.
 */
#define WRITERS		3
#define ATTEMPTS	150000

typedef struct Writer
{
	WsStream   *stream;
	uint32_t	number;
	bool	   *written;
	bool	   *read;
	long		nwritten;
	long		nrefused;
	int		   *running;
} Writer;

static void *
write_many(void *arg)
{
	Writer	   *w = arg;

	for (uint32_t i = 0; i < ATTEMPTS; i++)
	{
		/* the tick is the number of the event, and process who wrote it */
		WsEvent		e = make_event((uint64_t) w->number << 32 | i);

		e.tick = i;
		e.process = w->number;
		w->written[i] = ws_stream_write(w->stream, &e);
		if (w->written[i])
			w->nwritten++;
		else
		{
			/*
			 * Wait a little for the reader.  On a busy machine each yield
			 * costs the time slices of all others, so that there are few of
			 * them.
			 */
			if (w->nrefused++ % 256 == 0)
				sched_yield();
			for (volatile int spin = 0; spin < 1000; spin++)
				;
		}
	}
	__atomic_fetch_sub(w->running, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void
test_threads(uint32_t places)
{
	WsStream   *stream = used_stream(places, UINT32_MAX - 20000);
	int			running = WRITERS;
	Writer		writer[WRITERS];
	pthread_t	thread[WRITERS];
	long		nread[WRITERS] = {0};
	uint32_t	next[WRITERS] = {0};
	long		not_whole = 0;
	long		out_of_order = 0;
	long		damaged = 0;
	long		attempted = 0;
	long		accounted = 0;
	long		total = 0;
	bool		last = false;
	bool		each = true;

	for (uint32_t i = 0; i < WRITERS; i++)
	{
		writer[i] = (Writer)
		{
			stream, i, zeroed(ATTEMPTS, sizeof(bool)),
				zeroed(ATTEMPTS, sizeof(bool)), 0, 0, &running
		};
		if (pthread_create(&thread[i], NULL, write_many, &writer[i]) != 0)
			abort();
	}
	for (;;)
	{
		WsEvent		got;
		State state = read_one(stream, &got);

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
			nread[w]++;
			writer[w].read[got.tick] = true;
		}
		else if (state == DAMAGED)
			damaged++;
		else if (state == PENDING)
			sched_yield();
		else if (last)
			break;
		else if (__atomic_load_n(&running, __ATOMIC_SEQ_CST) == 0)
			last = true;		/* look once more: all is written now */
		else
			sched_yield();
	}
	for (uint32_t i = 0; i < WRITERS; i++)
	{
		pthread_join(thread[i], NULL);
		/* in order, and as many as there are: then each once */
		each &= nread[i] == writer[i].nwritten &&
			memcmp(writer[i].read, writer[i].written, ATTEMPTS * sizeof(bool)) == 0;
		attempted += ATTEMPTS;
		accounted += writer[i].nrefused + nread[i];
		free(writer[i].written);
		free(writer[i].read);
	}
	ok(not_whole == 0 && damaged == 0, "%u places, three writers: every event is whole", places);
	ok(out_of_order == 0, "%u places, three writers: each one's are in order", places);
	ok(each,
	   "%u places, three writers: what was written is read, and once (%ld events)", places, total);
	ok(accounted == attempted && ws_stream_filled(stream) == 0,
	   "%u places, three writers: read and refused make all", places);
	free(stream);
}

int
main(void)
{
	plan(40);
	test_empty_and_order();
	test_full();
	test_wrap();
	test_pending();
	test_woken_writer();
	test_damage();
	test_turns();
	test_threads(16);
	test_threads(1024);
	return done();
}
