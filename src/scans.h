/*
 * scans.h
 *		Which accesses are those of a sequential scan, and at which sizes of the
 *		cache would it go through a ring?
 *
 * PostgreSQL reads a table through a ring if the table is larger than a
 * quarter of shared_buffers.  So the same scan fills the cache at one size and
 * leaves it alone at another, and whoever wants to know what another size
 * would do has to know who scans what.
 *
 * What the probe tells about an access is evidence, not proof.  A run of
 * blocks in ascending order looks like a sequential scan, but an index scan in
 * the table's order, or a bitmap heap scan, makes one too, and neither ever
 * goes through a ring.  If the table is larger than a quarter of the present
 * cache, there is proof: a sequential scan would have evicted pages that it
 * had itself just read.  If it is not, a run is taken for a sequential scan
 * unless the process walks through another relation alongside, as an index
 * scan does through its index.
 *
 * The caller looks up the size of a relation that seems to be scanned or to grow
 * (ws_scans_wants_size()).  Until then the size is learnt from the highest sampled
 * block.
 *
 * Sizes also tell a page that is read from a page by which its relation has grown.
 * The process that lets the page in does not know.  But a block that lies at or
 * beyond the end that its relation had a moment ago must have been made since, and
 * so must all blocks of a relation that did not exist a moment ago.  Numbers of
 * relations are given in ascending order.
 *
 * One process has all to itself.  This room knows nothing of PostgreSQL.
 */
#ifndef WS_SCANS_H
#define WS_SCANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"
#include "sweep.h"

/* What becomes of an access. */
typedef enum WsClass
{
	WS_CLASS_REST,				/* looked up by clients */
	WS_CLASS_SCAN,				/* read by clients' sequential scans */
	WS_CLASS_MAINTENANCE		/* of VACUUM and the like */
} WsClass;

/* Those that the hit ratio is about. */
#define WS_CLIENT_CLASSES 2

typedef struct WsScans WsScans;

extern size_t ws_scans_size(void);

/* Begin, in memory of that size, on a server with so many buffers. */
extern void ws_scans_init(WsScans *scans, double nbuffers);

/*
 * Does it depend on the size of its relation what becomes of this access, and is
 * that not known, or was it looked up too long ago?
 */
extern bool ws_scans_wants_size(WsScans *scans, const WsEvent *event);

/* The relation that a page is of has so many blocks; 0: there is none to know. */
extern void ws_scans_set_size(WsScans *scans, const WsPageId *page, uint32_t blocks);

/* What happened to the page: WS_EVENT_EXTEND for a read of one that is new. */
extern WsEventKind ws_scans_event_kind(WsScans *scans, const WsEvent *event);

/*
 * Judge an access while one page in 2^shift is sampled: its class, and in
 * *access all but the page.
 */
extern WsClass ws_scans_classify(WsScans *scans, const WsEvent *event, uint32_t shift,
								 WsAccess *access);

/*
 * Let evidence and sizes age; once a second.  Relations from the number next on
 * do not exist yet; 0: not known.
 */
extern void ws_scans_age(WsScans *scans, uint32_t next);

#endif							/* WS_SCANS_H */
