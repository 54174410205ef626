/*
 * scans.h
 *		Which accesses belong to a sequential scan, and at which sizes of the
 *		cache would it go through a ring?
 *
 * PostgreSQL reads a table larger than a quarter of shared_buffers through a
 * ring.  So the same scan fills the cache at one size, and not at another.
 *
 * What sample_events.c reports of an access is evidence, not proof.  A run of
 * blocks in ascending order looks like a sequential scan, but an index scan in
 * the table's order and a bitmap heap scan make one too, and never go through
 * a ring.  If the table is larger than a quarter of the present cache, there
 * is proof: a sequential scan evicts pages that it has itself just read.
 * Otherwise a run counts as a sequential scan unless the process walks through
 * another relation alongside, as an index scan does through its index.
 *
 * The caller looks up sizes of relations.  Until then the highest sampled
 * block gives the size.  Sizes also show what the process that lets a page in
 * does not know: the page is new if its block is at or beyond the end that its
 * relation had a second ago, or if the relation did not exist then.  The
 * server numbers relations from a counter, which starts over after 2^32.  So a
 * relation is new if its number is among those that were given in this second.
 *
 * Relations and processes have entries of their own, for as many relations as
 * the largest sample has pages.  The memory that is touched grows with the
 * relations that were seen.  Evidence gets older with
 * the seconds in which the relation is used, not while it rests: of thousands
 * of tables, each has its turn only now and then.  One process uses it.
 */
#ifndef WS_SCANS_H
#define WS_SCANS_H

#include "stream.h"
#include "sweep.h"

/* Classes of accesses.  The hit ratio is about those of clients. */
typedef enum WsClass
{
	WS_CLASS_REST,				/* clients' look-ups */
	WS_CLASS_SCAN,				/* clients' sequential scans */
	WS_CLASS_MAINTENANCE		/* VACUUM and the like */
} WsClass;
#define WS_CLIENT_CLASSES 2

/* Does the scan of so many blocks use a ring, in so many shared buffers? */
extern bool ws_scans_uses_ring(double blocks, double nbuffers);

typedef struct WsScans WsScans;

/* Bytes needed; begin there, on a server with so many buffers. */
extern size_t ws_scans_size(void);
extern void ws_scans_init(WsScans *scans, double nbuffers);

/* Does the access's class depend on a size that is unknown, or too old? */
extern bool ws_scans_wants_size(WsScans *scans, const WsEvent *event);

/*
 * The relation of this page has so many blocks; 0: its file does not exist;
 * UINT32_MAX: nobody knows now.
 */
extern void ws_scans_set_size(WsScans *scans, const WsPageId *page, uint32_t blocks);

/* The type of the event; the read of a new page is WS_EVENT_EXTEND. */
extern WsEventType ws_scans_event_type(WsScans *scans, const WsEvent *event);

/*
 * Class of an event at this shift; fills in what *access has of the event, for
 * caches of these sizes, as multiples of the present one.
 */
extern WsClass ws_scans_classify(WsScans *scans, const WsEvent *event, uint32_t shift,
								 const double *factors, WsAccess *access);

/*
 * Was the size of the page's relation looked up lately?  *blocks are those that
 * are known exactly, or 0.
 */
extern bool ws_scans_knows_size(WsScans *scans, const WsPageId *page, uint32_t *blocks);

/*
 * Once a second.  "next" is the number that the next relation gets; 0: not
 * known.
 */
extern void ws_scans_age(WsScans *scans, uint32_t next);

/* The same, and the size of shared buffers, before events are classified. */
extern void ws_scans_set_server(WsScans *scans, uint32_t next, double nbuffers);

#endif							/* WS_SCANS_H */
