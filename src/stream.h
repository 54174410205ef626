/*
 * stream.h
 *		A fixed, lock-free ring of events: what happened to the sampled pages.
 *
 * The idea.  Any number of processes write, one reads.  A writer claims the
 * next place by moving the head on, fills it, and then stamps it with its
 * position, so the reader knows that it is whole.  Nobody waits: when the ring
 * is full the event is not written, and the writer is told, so that it can be
 * counted.
 *
 * A writer may be stopped between claim and stamp for as long as its machine
 * likes.  The reader does not pass such a place by itself; after waiting long
 * enough it may skip it.  Should the writer then wake up and write into what
 * has meanwhile become another's place, the check byte, which covers content
 * and position, tells.  Damaged events are dropped, and counted.
 *
 * Concurrency.  head is moved by compare-and-swap, tail by the reader alone.
 * A stamp is stored with release and loaded with acquire; it guards the event
 * before it.  All else is relaxed.
 *
 * This room knows nothing of PostgreSQL.
 */
#ifndef WS_STREAM_H
#define WS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The identity of a page.  The same fields in the same order as the buffer
 * manager's tag, so that one can be copied to the other.
 */
typedef struct WsPageId
{
	uint32_t	tablespace;
	uint32_t	database;
	uint32_t	relation;		/* number of its file */
	int32_t		fork;
	uint32_t	block;
} WsPageId;

/* What happened to a page. */
typedef enum WsAct
{
	WS_ACT_HIT,					/* found in shared buffers */
	WS_ACT_READ,				/* not found, and let in: read, or made */
	WS_ACT_EXTEND,				/* made: the reader of the stream finds that out */
	WS_ACT_REMOVE				/* left shared buffers: no use of the page */
} WsAct;

/*
 * How much a process's accesses look like a sequential scan of the relation:
 * from 0 to the maximum, and from the limit up it is taken for one.
 */
#define WS_RUN_MAX		15
#define WS_RUN_SCAN		8

typedef struct WsEvent
{
	uint32_t	stamp;			/* position + 1, once the event is whole */
	uint32_t	tick;			/* when */
	WsPageId	page;
	unsigned int act:2;			/* a WsAct */
	unsigned int maintenance:1; /* by VACUUM or the like */
	unsigned int ring:1;		/* through a ring of buffers: reads, and the
								 * removals that make room for them */
	unsigned int run:4;			/* 0 .. WS_RUN_MAX */
	unsigned int check:8;
	unsigned int process:16;	/* number of the backend */
} WsEvent;

typedef struct WsStream
{
	/* atomic, and apart from each other */
	uint32_t	head;			/* the next place to claim */
	uint32_t	pad1[15];
	uint32_t	tail;			/* the next place to read */
	uint32_t	pad2[15];

	/* fixed when made */
	uint32_t	size;			/* places, a power of two */
	uint32_t	pad3[15];

	WsEvent		events[];
} WsStream;

/* Bytes of a stream of this many places, which must be a power of two. */
extern size_t ws_stream_size(uint32_t places);

/* Make an empty stream in memory of that size, aligned to 64. */
extern void ws_stream_init(WsStream *stream, uint32_t places);

/*
 * Write an event, of which stamp and check are filled in here.  False if the
 * stream is full, or so contended that it is better given up.
 */
extern bool ws_stream_write(WsStream *stream, const WsEvent *event);

/* What the reader finds. */
typedef enum WsStreamState
{
	WS_STREAM_EVENT,			/* an event */
	WS_STREAM_EMPTY,			/* nothing */
	WS_STREAM_PENDING,			/* a place that is claimed but not whole */
	WS_STREAM_DAMAGED			/* an event that was lost; go on */
} WsStreamState;

/* Take the next event.  The one reader only. */
extern WsStreamState ws_stream_read(WsStream *stream, WsEvent *event);

/* Give up the place that is pending.  The one reader only. */
extern void ws_stream_skip(WsStream *stream);

/*
 * How long the reader has been waiting for a pending place.  Begin with zeros.
 */
typedef struct WsStreamWait
{
	uint32_t	position;
	uint32_t	turns;
} WsStreamWait;

/* A pending place is given up after so many turns of the reader. */
#define WS_STREAM_PATIENCE 5

/*
 * Take up to n events; returns how many, and adds to *lost what was damaged or
 * had to be given up.  The one reader only.
 */
extern int	ws_stream_take(WsStream *stream, WsStreamWait *wait, WsEvent *events, int n,
						   int *lost);

/* The reader's turn ends: what is pending now has been for one more. */
extern void ws_stream_end_turn(const WsStream *stream, WsStreamWait *wait);

/* Places that are claimed and not yet read. */
static inline uint32_t
ws_stream_filled(const WsStream *stream)
{
	return __atomic_load_n(&stream->head, __ATOMIC_RELAXED) -
		__atomic_load_n(&stream->tail, __ATOMIC_RELAXED);
}

#endif							/* WS_STREAM_H */
