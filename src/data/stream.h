/*
 * stream.h
 *		A fixed, lock-free ring of events: what happened to the sampled pages.
 *
 * Any number of processes write, one reads, nobody waits.  A writer claims the
 * next place by moving the head on (compare-and-swap), fills it, and stamps it
 * with its position (release), so that the reader (acquire) knows that it is
 * whole.  When the ring is full the writer counts the event as lost.
 *
 * In a flood the writers thin the sample before the ring is full.  The ring has
 * marks: at three quarters of its places, and then each time that a quarter of
 * the free ones has filled.  At each mark one writer has to thin: to halve
 * the number of pages whose events are written.  So the rate of events falls
 * faster than the free places, a dozen times.  It is a flood if the first
 * mark is reached soon.  A reader that is late, with no more events than it
 * could take, loses some when the ring is full: that costs less than a sample
 * that has to become dense again.
 *
 * The system may stop a writer between claim and stamp.  The reader waits some
 * turns for such a pending place, and then gives it up.  If the writer wakes
 * up, its place is another's by now: the check byte, over content and
 * position, shows it, and the reader drops and counts the damaged event.
 */
#ifndef WS_STREAM_H
#define WS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The identity of a page, laid out as the buffer manager's tag. */
typedef struct WsPageId
{
	uint32_t	tablespace;
	uint32_t	database;
	uint32_t	relation;		/* number of its file */
	int32_t		fork;
	uint32_t	block;
} WsPageId;

typedef enum WsEventType
{
	WS_EVENT_HIT,				/* found in shared buffers */
	WS_EVENT_READ,				/* not found: it came in, read or made */
	WS_EVENT_EXTEND,			/* made, as the reader finds out, or by redo;
								 * or, by maintenance, brought in to warm the
								 * cache */
	WS_EVENT_REMOVE				/* left shared buffers: no use of the page */
} WsEventType;

/* Rings of buffers that the server uses instead of all of them. */
typedef enum WsRing
{
	WS_RING_READ,				/* sequential scans */
	WS_RING_VACUUM,
	WS_RING_WRITE				/* COPY and the like */
} WsRing;
#define WS_NRINGS 3

/* How much a process's accesses look like a sequential scan of the relation. */
#define WS_RUN_MAX		15
#define WS_RUN_SCAN		8		/* from here on a run, which may be a scan */

typedef struct WsEvent
{
	WsPageId	page;			/* its fork is 0 .. 15 */
	uint32_t	tick;			/* when */
	uint8_t		type;			/* a WsEventType */
	bool		maintenance;	/* by VACUUM or the like */
	bool		ring;			/* a read, or its removal, through a ring */
	uint8_t		run;			/* 0 .. WS_RUN_MAX; of a removal: is its
								 * relation dropped or cut off, perhaps? */
	uint16_t	process;		/* number of the backend */
	uint32_t	origin;			/* a tag of 28 bits (origins.h) */
} WsEvent;

/*
 * An event in the ring: half a cache line.  Bits are put together in registers:
 * a bit-field that is written and then read as part of its word makes the
 * processor wait.
 */
typedef struct WsPlace
{
	uint32_t	stamp;			/* position + 1, once the event is whole */
	uint32_t	tick;
	uint32_t	tablespace;
	uint32_t	database;
	uint32_t	relation;
	uint32_t	block;
	uint32_t	origin;			/* and, in the lowest 4 bits, the fork */
	uint32_t	rest;			/* from the lowest bit: type 2, maintenance 1,
								 * ring 1, run 4, check 8, process 16 */
} WsPlace;

typedef struct WsStream
{
	/* head and tail are atomic, and in cache lines of their own */
	uint32_t	head;			/* the next place to claim */
	uint32_t	tail __attribute__((aligned(64)));	/* the next place to read */
	uint32_t	mark;			/* atomic: filled places at the next mark */
	uint32_t	size __attribute__((aligned(64)));	/* places, a power of two */
	WsPlace		places[] __attribute__((aligned(64)));
} WsStream;

/* Bytes for so many places, a power of two; make it, empty, aligned to 64. */
extern size_t ws_stream_size(uint32_t places);
extern void ws_stream_init(WsStream *stream, uint32_t places);

/* Write an event; false if the stream is full, or too contended. */
extern bool ws_stream_write(WsStream *stream, const WsEvent *event);

/*
 * Does a flood fill the stream up to its next mark, at this tick?  True for one
 * writer at each mark.
 */
extern bool ws_stream_thins(WsStream *stream, uint32_t now);

/* How long the reader has waited for a pending place; zeros at first. */
typedef struct WsStreamWait
{
	uint32_t	position;
	uint32_t	turns;
} WsStreamWait;

/* The reader gives up a pending place after so many turns. */
#define WS_STREAM_PATIENCE 5

/* The reader takes up to n events; those damaged or given up go to *lost. */
extern int	ws_stream_take(WsStream *stream, WsStreamWait *wait, WsEvent *events, int n,
						   int *lost);

/*
 * End a turn of the reader: a place that is pending now has waited for it.  If
 * less than half of the stream is filled, the next mark is the first again.
 */
extern void ws_stream_end_turn(WsStream *stream, WsStreamWait *wait);

/* Places that are claimed and not yet read. */
static inline uint32_t
ws_stream_filled(const WsStream *stream)
{
	return __atomic_load_n(&stream->head, __ATOMIC_RELAXED) -
		__atomic_load_n(&stream->tail, __ATOMIC_RELAXED);
}

#endif							/* WS_STREAM_H */
