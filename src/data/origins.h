/*
 * origins.h
 *		On whose behalf pages are used: query, role, database and application.
 *
 * All of that does not fit into an event.  So each origin has an entry in a
 * table in shared memory, and events carry a tag: the number of the entry and
 * its generation.  Any process may enter an origin, without waiting.  Only the
 * worker frees entries, which starts their next generation: a tag from before
 * leads to the entry WS_ORIGIN_OTHER, as does one for which there is no place.
 *
 * Names of applications are in a small table beside it.  An origin has the
 * hash of the name.  A role may enter a name while it has entered fewer than
 * there are free places, so that none takes the places of all others.  Beyond
 * that the application counts as other, so that names that are new each time do
 * not fill the table of origins.
 */
#ifndef WS_ORIGINS_H
#define WS_ORIGINS_H

#include <stdbool.h>
#include <stdint.h>

#define WS_ORIGINS			1024	/* entries, a power of two */
#define WS_ORIGIN_OTHER		0	/* the entry of all without one of their own */
#define WS_ORIGIN_NAMES		32	/* a power of two */
#define WS_ORIGIN_NAME_SIZE	64

/* Numbers of applications that are no hash of a name. */
#define WS_APPLICATION_NONE		0	/* the name is empty */
#define WS_APPLICATION_OTHER	1

typedef struct WsOrigin
{
	uint64_t	query;			/* 0: not known */
	uint32_t	role;			/* 0: none */
	uint32_t	database;		/* that the process is connected to; 0: none */
	uint32_t	application;
} WsOrigin;

/* What the use of the cache is divided by. */
typedef enum WsBy
{
	WS_BY_QUERY,				/* and its role and database */
	WS_BY_ROLE,
	WS_BY_APPLICATION,
	WS_BY_RELATION				/* of the page: no part of an origin */
} WsBy;
#define WS_BYS			(WS_BY_RELATION + 1)

/*
 * What an origin has in common with others of its query, role or application;
 * the rest is 0.  False: it counts with those that have no place of their own.
 */
extern bool ws_origin_part(const WsOrigin *origin, WsBy by, WsOrigin *part);
extern bool ws_origin_equal(const WsOrigin *a, const WsOrigin *b);

/* All zeros: empty. */
typedef struct WsOrigins
{
	/*
	 * Atomic: a hash of the origin, or 0 if the entry is free, and its
	 * generation in the last bits.
	 */
	uint64_t	words[WS_ORIGINS];

	/* written by the process that enters it, then made known by "filled" */
	struct
	{
		WsOrigin	origin;
		uint64_t	filled;		/* atomic: the word, once all is there */
	}			entries[WS_ORIGINS];

	struct
	{
		uint32_t	hash;		/* atomic; 0: free */
		uint32_t	filled;		/* atomic: the hash, once the name is there */
		uint32_t	role;		/* atomic: that entered it */
		char		text[WS_ORIGIN_NAME_SIZE];
	}			names[WS_ORIGIN_NAMES];
} WsOrigins;

/* The tag of an origin, which is entered if it is not there. */
extern uint32_t ws_origins_enter(WsOrigins *origins, const WsOrigin *origin);

/* Bits of a tag; the entry that it leads to. */
#define WS_ORIGIN_TAG_BITS 28
extern uint32_t ws_origins_entry(const WsOrigins *origins, uint32_t tag);

/* Copy the origin of an entry; false if it is free, or not filled yet. */
extern bool ws_origins_get(const WsOrigins *origins, uint32_t entry, WsOrigin *origin);

/* Is the entry taken, filled or not? */
extern bool ws_origins_taken(const WsOrigins *origins, uint32_t entry);

/*
 * Free an entry that is filled.  Only one process at a time may do that, and
 * none may read the origin of an entry meanwhile.
 */
extern void ws_origins_free(WsOrigins *origins, uint32_t entry);

/*
 * The number of the application of this name, which is entered on behalf of a
 * role if possible.
 */
extern uint32_t ws_origins_application(WsOrigins *origins, uint32_t role, const char *name);

/* The name of an application; NULL if it is not known. */
extern const char *ws_origins_name(const WsOrigins *origins, uint32_t application);

/* If half of the names are taken, free those that no origin has; as above. */
extern void ws_origins_free_names(WsOrigins *origins);

#endif							/* WS_ORIGINS_H */
