/*
 * stream.c
 *		Writing to, and reading from, the ring of events; see stream.h.
 */
#include "stream.h"

#include <string.h>

_Static_assert(sizeof(WsPlace) == 32, "a place has no gaps");
_Static_assert(offsetof(WsStream, places) == 192, "places begin a cache line");

#define CHECK_SHIFT		8
#define CHECK_MASK		(UINT32_C(0xFF) << CHECK_SHIFT)

#define CLAIM_ATTEMPTS 16		/* then a writer gives up, and goes on */

/* The first mark, and how far the next one is from a mark. */
#define FIRST_MARK(size)	((size) / 4 * 3)
#define MARK_STEP(size, mark)	(((size) - (mark)) / 4 + (size) / 512 + 1)

#define FLOOD_TICKS		2		/* a flood fills half of the stream in these */

size_t
ws_stream_size(uint32_t places)
{
	return offsetof(WsStream, places) + places * sizeof(WsPlace);
}

void
ws_stream_init(WsStream *stream, uint32_t places)
{
	memset(stream, 0, ws_stream_size(places));
	stream->size = places;
	stream->mark = FIRST_MARK(places);
}

/* One byte over everything else in a place. */
static inline uint32_t
checksum(const WsPlace *p)
{
	uint64_t	sum;

	sum = ((uint64_t) p->tick << 32 | p->stamp) * UINT64_C(0x9E3779B97F4A7C15);
	sum = (sum ^ ((uint64_t) p->database << 32 | p->tablespace)) * UINT64_C(0xC2B2AE3D27D4EB4F);
	sum = (sum ^ ((uint64_t) p->block << 32 | p->relation)) * UINT64_C(0x165667B19E3779F9);
	sum = (sum ^ ((uint64_t) (p->rest & ~CHECK_MASK) << 32 | p->origin)) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t) (sum >> 56) << CHECK_SHIFT;
}

/* Fill in a place that was claimed. */
static void
pack(WsPlace *place, const WsEvent *event, uint32_t position)
{
	WsPlace		filled = {
		.stamp = position + 1,
		.tick = event->tick,
		.tablespace = event->page.tablespace,
		.database = event->page.database,
		.relation = event->page.relation,
		.block = event->page.block,
		.origin = event->origin << 4 | ((uint32_t) event->page.fork & 0xF),
		.rest = (uint32_t) event->process << 16 | (uint32_t) event->run << 4 |
		(uint32_t) event->ring << 3 | (uint32_t) event->maintenance << 2 | event->type
	};

	place->tick = filled.tick;
	place->tablespace = filled.tablespace;
	place->database = filled.database;
	place->relation = filled.relation;
	place->block = filled.block;
	place->origin = filled.origin;
	place->rest = filled.rest | checksum(&filled);
	__atomic_store_n(&place->stamp, filled.stamp, __ATOMIC_RELEASE);
}

static WsEvent
unpack(const WsPlace *place)
{
	WsEvent		event = {
		.tick = place->tick,
		.type = place->rest & 3,
		.maintenance = place->rest >> 2 & 1,
		.ring = place->rest >> 3 & 1,
		.run = place->rest >> 4 & 0xF,
		.process = (uint16_t) (place->rest >> 16),
		.origin = place->origin >> 4
	};

	event.page.tablespace = place->tablespace;
	event.page.database = place->database;
	event.page.relation = place->relation;
	event.page.fork = (int32_t) (place->origin & 0xF);
	event.page.block = place->block;
	return event;
}

bool
ws_stream_write(WsStream *stream, const WsEvent *event)
{
	uint32_t	position = __atomic_load_n(&stream->head, __ATOMIC_RELAXED);

	for (int attempt = 0;; attempt++)
	{
		/* acquire: the reader is done with the place before it is reused */
		uint32_t	filled = position - __atomic_load_n(&stream->tail, __ATOMIC_ACQUIRE);

		if (attempt == CLAIM_ATTEMPTS || filled == stream->size)
			return false;
		if (filled > stream->size)	/* read since the head was looked at */
			position = __atomic_load_n(&stream->head, __ATOMIC_RELAXED);
		else if (__atomic_compare_exchange_n(&stream->head, &position, position + 1, false,
											 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			break;
	}

	pack(&stream->places[position & (stream->size - 1)], event, position);
	return true;
}

/* Was the last half of the stream written within FLOOD_TICKS? */
static bool
flooded(const WsStream *stream, uint32_t now)
{
	uint32_t	position = __atomic_load_n(&stream->head, __ATOMIC_RELAXED) - stream->size / 2;
	const WsPlace *place = &stream->places[position & (stream->size - 1)];

	return __atomic_load_n(&place->stamp, __ATOMIC_ACQUIRE) == position + 1 &&
		(int32_t) (now - place->tick) <= FLOOD_TICKS;
}

bool
ws_stream_thins(WsStream *stream, uint32_t now)
{
	/* acquire: with a mark that was put back, the tail from before that */
	uint32_t	mark = __atomic_load_n(&stream->mark, __ATOMIC_ACQUIRE);
	uint32_t	filled = ws_stream_filled(stream);

	/* more than all: the reader went on between two loads */
	if (filled < mark || filled > stream->size)
		return false;
	if (mark == FIRST_MARK(stream->size) && !flooded(stream, now))
		return false;
	return __atomic_compare_exchange_n(&stream->mark, &mark, mark + MARK_STEP(stream->size, mark),
									   false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int
ws_stream_take(WsStream *stream, WsStreamWait *wait, WsEvent *events, int n, int *lost)
{
	uint32_t	position = __atomic_load_n(&stream->tail, __ATOMIC_RELAXED);
	int			taken = 0;

	while (taken < n && position != __atomic_load_n(&stream->head, __ATOMIC_RELAXED))
	{
		WsPlace    *place = &stream->places[position & (stream->size - 1)];
		WsPlace		copy = {0};
		bool		whole = __atomic_load_n(&place->stamp, __ATOMIC_ACQUIRE) == position + 1;

		if (whole)
			copy = *place;
		else if (wait->turns < WS_STREAM_PATIENCE || wait->position != position)
			break;
		else
			wait->turns = 0;

		copy.stamp = position + 1;
		if (whole && (copy.rest & CHECK_MASK) == checksum(&copy))
			events[taken++] = unpack(&copy);
		else
			(*lost)++;
		/* release: the copy is made before a writer may claim the place */
		__atomic_store_n(&stream->tail, ++position, __ATOMIC_RELEASE);
	}
	return taken;
}

void
ws_stream_end_turn(WsStream *stream, WsStreamWait *wait)
{
	uint32_t	tail = __atomic_load_n(&stream->tail, __ATOMIC_RELAXED);
	uint32_t	filled = ws_stream_filled(stream);

	if (filled < stream->size / 2)
		__atomic_store_n(&stream->mark, FIRST_MARK(stream->size), __ATOMIC_RELEASE);
	if (filled == 0 || wait->position != tail)
		wait->turns = 0;
	else
		wait->turns++;
	wait->position = tail;
}
