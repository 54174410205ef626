/*
 * worker.h
 *		The background worker that keeps the clock and makes recommendations.
 */
#ifndef WS_WORKER_H
#define WS_WORKER_H

/* Ask the postmaster to start the worker; from _PG_init. */
extern void ws_worker_register(void);

#endif							/* WS_WORKER_H */
