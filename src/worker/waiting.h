/*
 * waiting.h
 *		How much of their time clients wait for reads.
 *
 * The server measures the time of reads only with track_io_timing, which is
 * off by default.  But it always shows who waits for a read at this moment
 * (wait events), so the worker looks once a second.  Of the clients that are
 * active, the share that waits for a read is the share of query time that
 * reads take.  As with track_io_timing, a read that the kernel's page cache
 * answers is one, too.  n looks at a share p have a standard error of
 * sqrt(p (1 - p) / n).
 *
 * Active is a client's backend, or a parallel worker of its query, that does
 * not wait for its client or for work to do, which is what pg_stat_database's
 * active_time counts, but for parallel workers.  VACUUM and the like do not
 * count, nor do their reads.
 */
#ifndef WS_WAITING_H
#define WS_WAITING_H

/*
 * In the worker, as often as it likes: looks once a second at most.  woken: by
 * a client after a rest, so what it sees now is not typical of the time
 * before.
 */
extern void ws_waiting_tick(bool woken);

/*
 * In the worker: seconds that clients were active, and of these waited for
 * reads, added over all clients, since the last call.
 */
extern void ws_waiting_take(double *active, double *waiting);

#endif							/* WS_WAITING_H */
