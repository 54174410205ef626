/*
 * stream.c
 *		Writing to, and reading from, the ring of events; see stream.h.
 */
#include "stream.h"

#include <string.h>

_Static_assert(sizeof(WsEvent) == 32, "an event has no gaps");
_Static_assert(offsetof(WsStream, events) == 192, "events begin a cache line");

#define CLAIM_ATTEMPTS 16		/* then a writer gives up, and goes on */

size_t
ws_stream_size(uint32_t places)
{
	return offsetof(WsStream, events) + places * sizeof(WsEvent);
}

void
ws_stream_init(WsStream *stream, uint32_t places)
{
	memset(stream, 0, ws_stream_size(places));
	stream->size = places;
}

/* One byte over everything else in an event. */
static uint8_t
checksum(WsEvent event)
{
	uint64_t	words[4];
	uint64_t	sum;

	event.check = 0;
	memcpy(words, &event, sizeof(event));
	sum = words[0] * UINT64_C(0x9E3779B97F4A7C15);
	sum = (sum ^ words[1]) * UINT64_C(0xC2B2AE3D27D4EB4F);
	sum = (sum ^ words[2]) * UINT64_C(0x165667B19E3779F9);
	sum = (sum ^ words[3]) * UINT64_C(0x9E3779B97F4A7C15);
	return (uint8_t) (sum >> 56);
}

bool
ws_stream_write(WsStream *stream, const WsEvent *event)
{
	uint32_t	position = __atomic_load_n(&stream->head, __ATOMIC_RELAXED);
	WsEvent		e = *event;
	WsEvent    *place;

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

	place = &stream->events[position & (stream->size - 1)];
	e.stamp = position + 1;
	e.check = checksum(e);
	memcpy((char *) place + sizeof(place->stamp), (char *) &e + sizeof(e.stamp),
		   sizeof(e) - sizeof(e.stamp));
	__atomic_store_n(&place->stamp, position + 1, __ATOMIC_RELEASE);
	return true;
}

int
ws_stream_take(WsStream *stream, WsStreamWait *wait, WsEvent *events, int n, int *lost)
{
	uint32_t	position = __atomic_load_n(&stream->tail, __ATOMIC_RELAXED);
	int			taken = 0;

	while (taken < n && position != __atomic_load_n(&stream->head, __ATOMIC_RELAXED))
	{
		WsEvent    *place = &stream->events[position & (stream->size - 1)];
		WsEvent    *event = &events[taken];
		bool		whole = __atomic_load_n(&place->stamp, __ATOMIC_ACQUIRE) == position + 1;

		if (whole)
			*event = *place;
		else if (wait->turns < WS_STREAM_PATIENCE || wait->position != position)
			break;
		else
			wait->turns = 0;

		event->stamp = position + 1;
		if (whole && event->check == checksum(*event))
			taken++;
		else
			(*lost)++;
		/* release: the copy is made before a writer may claim the place */
		__atomic_store_n(&stream->tail, ++position, __ATOMIC_RELEASE);
	}
	return taken;
}

void
ws_stream_end_turn(const WsStream *stream, WsStreamWait *wait)
{
	uint32_t	tail = __atomic_load_n(&stream->tail, __ATOMIC_RELAXED);

	if (ws_stream_filled(stream) == 0 || wait->position != tail)
		wait->turns = 0;
	else
		wait->turns++;
	wait->position = tail;
}
