/*
 * consumer.h
 *		Who takes the events of sampled pages from the reader.
 *
 * The reader (reader.h) takes the events from the stream, finds out what they
 * are, and keeps the table of sampled pages.  Then they go through a fixed
 * table of consumers: a batch of them through use(), as the table is updated,
 * and then through event(), what is simulated of it.  A page that leaves
 * shared buffers is no event for consumers, and one that leaves the table is
 * forgotten.
 *
 * A consumer adapts a pure module.  A new question about the stream is one
 * file with a WsConsumer, a line below, and a line in reader.c;
 * attribution_consumer.c is a short one that keeps its data in shared memory;
 * without_consumer.c keeps them to itself and publishes.  What only counts
 * pages that are used or read takes use(); event() is for what simulates them.
 * All functions may be NULL, and are the worker's.
 *
 * A reset starts nobody over: who counts compares ws_shared_since(), and
 * leaves out what is older than the floor of the clients' sketch, since such
 * events may still come.  Lost events (WsCounters.dropped) are in no count.
 */
#ifndef WS_CONSUMER_H
#define WS_CONSUMER_H

#include <time.h>

#include "heuristic.h"
#include "published.h"
#include "recent.h"
#include "scans.h"
#include "sweep.h"

/*
 * An event, and what is found out about it.  event.type is WS_EVENT_HIT, a
 * client's or maintenance's read WS_EVENT_READ, and a page that is made
 * WS_EVENT_EXTEND.  Redo and background workers are clients.
 */
typedef struct WsSeen
{
	WsEvent		event;
	uint32		hash;
	bool		sampled;		/* still, after the shift has risen */
	WsClass		class;
	double		sampled_weight; /* of how many pages it is a sample */
	/* for event(): */
	double		simulated_weight;	/* the same of those that are simulated,
									 * which may be fewer */
	bool		counted;		/* does a client ask for it, and is it no new
								 * page? */
	WsAccess	access;			/* .page is the entry of the sample table, in
								 * use(), too; .known: it was there */
} WsSeen;

/* What the reader knows, and consumers read. */
typedef struct WsReading
{
	WsScans    *scans;
	const WsSweep *sweep;
	uint32		simulated_shift;	/* pages of strata from this are
									 * simulated, */
	double		rate;			/* in caches with so many buffers for each
								 * real one */
	uint32		began;			/* tick since which events are read */
	WsRecent	recent;
} WsReading;

extern WsReading ws_reading;

typedef struct WsConsumer
{
	/*
	 * The worker starts, or starts over after lookups were not recorded or
	 * the clock was restarted: with the pages of the table, or an empty one.
	 */
	void		(*begin) (bool empty);
	/* A sampled page, now in the table, is used.  With sample_lock held. */
	void		(*use) (const WsSeen *seen);
	/* A simulated page is used. */
	void		(*event) (WsSeen *seen);

	/*
	 * An entry of the table loses its page, or the page is gone from its file
	 * and the entry stays.  With sample_lock held.
	 */
	void		(*forget) (uint32 entry);

	/*
	 * Once a second, or more rarely while nothing happens, after the events
	 * were read.  ms is of the monotonic clock; events have ticks of
	 * ws_shared_advance().  Returns processor time, as clock() has it, that
	 * would not be less with a smaller sample; usually 0.
	 */
	clock_t		(*second) (int64 ms);

	/*
	 * Put what is known into "out", where later consumers find it.  Called
	 * without a sample, too, unlike all others.
	 */
	void		(*publish) (WsPublished *out);
} WsConsumer;

/* In the order in which they see an event. */
extern const WsConsumer ws_attribution_consumer;
extern const WsConsumer ws_sweep_consumer;
extern const WsConsumer ws_page_cache_consumer;
extern const WsConsumer ws_without_consumer;
extern const WsConsumer ws_life_consumer;

/* Strata below this are not sampled any more. */
extern void ws_sweep_consumer_thin(uint32 shift);

/* Simulate strata no more that do not last. */
extern void ws_sweep_consumer_remove_brief(void);

/* What hits to report, after so many seconds; often: see sweep.h. */
extern WsDamping ws_sweep_consumer_damping(double seconds, bool often);

/* From now on simulate so many buffers, too; 0: as before. */
extern void ws_sweep_consumer_follow(double buffers);

/* The size that is followed has jumped (twotier.h). */
extern void ws_page_cache_consumer_jump(void);

/*
 * Take a step of the life table if it is due; at every tick, after the events
 * were read, or else the sample lacks pages that the sketch has.
 */
extern void ws_life_consumer_tick(void);
extern bool ws_life_consumer_due(void);

/* Pages are gone, which still count until the next step. */
extern void ws_life_consumer_died(void);

/*
 * To be called with what is needed, each time that it is published.  What
 * counts pages that are gone is no peak: then no more is needed than before the
 * step.
 */
extern double ws_life_consumer_doubt(double needed);

/*
 * The answer of live_set at the last step, with a projection for a minute from
 * now, or a fifteenth of a shorter working_set.break_even.  It is about so many
 * seconds: working_set.break_even, or less after that was raised, since older
 * pages are not sampled.  At first and without a sample .known is false.
 */
extern WsLive ws_life_consumer_get(int *seconds);

#endif							/* WS_CONSUMER_H */
