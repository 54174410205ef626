/*
 * reader.h
 *		The worker's part that takes the events of sampled pages from the
 *		stream, keeps the sample table, and hands each event to the consumers
 *		(consumer.h).  Without a sample it counts lookups only.
 */
#ifndef WS_READER_H
#define WS_READER_H

#include "published.h"

/* Start or start over, with the pages of the table or with an empty one. */
extern void ws_reader_begin(bool empty);

extern void ws_reader_end(void);

/*
 * Read the events: at every tick, if a read is due (once a second, when the
 * stream fills, or for a step of the life table), or at once.
 */
extern void ws_reader_tick(void);
extern void ws_reader_drain(void);

/*
 * Have the consumers add what they know.  p->memory is read, and nothing is
 * added of counts from before p->since.
 */
extern void ws_reader_publish(WsPublished *p);

#endif							/* WS_READER_H */
