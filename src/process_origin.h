/*
 * process_origin.h
 *		On whose behalf this process uses pages at present (origins.h).
 *
 * The query is that of the statement which the client sent, also while it runs
 * functions, as pg_stat_activity shows it.  A parallel worker has its leader's.
 * The role is the one that SET ROLE sets, not the owner of a function.
 */
#ifndef WS_PROCESS_ORIGIN_H
#define WS_PROCESS_ORIGIN_H

/*
 * The tag of the present origin, or of WS_ORIGIN_OTHER.  Only where pages are
 * sampled.  Called on the buffer path: of the server it calls two functions
 * that return a variable.
 */
extern uint32 ws_process_origin(void);

#endif							/* WS_PROCESS_ORIGIN_H */
