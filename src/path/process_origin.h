/*
 * process_origin.h
 *		On whose behalf this process uses pages at present (origins.h).
 *
 * The query is that of the statement which the client sent, also while it runs
 * functions, as pg_stat_activity shows it.  A parallel worker has its leader's.
 * The role is the one that SET ROLE sets, not the owner of a function, as it
 * was when the last statement began, also if that was one of a function.
 */
#ifndef WS_PROCESS_ORIGIN_H
#define WS_PROCESS_ORIGIN_H

/*
 * The tag of the present origin, or of WS_ORIGIN_OTHER.  Only where pages are
 * sampled.  Called on the hot path: it calls no function of the server.
 */
extern uint32 ws_process_origin(void);

/* Follow the role from one statement to the next.  In the postmaster. */
extern void ws_process_origin_install(void);

/*
 * A transaction has ended: take the role over.  It may have had no statement,
 * as one that decodes the WAL.
 */
extern void ws_process_origin_take_role(void);

#endif							/* WS_PROCESS_ORIGIN_H */
