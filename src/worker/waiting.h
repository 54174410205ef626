/*
 * waiting.h
 *		How much of their time clients wait for reads, and how long for one.
 *
 * The server measures the time of reads only with track_io_timing, which is
 * off by default.  But it always shows who waits for a read at this moment
 * (wait events), so the worker looks once a second.  Of the clients that are
 * active, the share that waits for a read is the share of query time that
 * reads take.  And the average number of clients that wait is the number of
 * reads a second times the time of one (Little 1961).  As with
 * track_io_timing, a read that the kernel's page cache answers is one, too.
 *
 * Active is a client's backend, or a parallel worker of its query, that does
 * not wait for its client or for work to do, which is what pg_stat_database's
 * active_time counts, but for parallel workers.  VACUUM and the like do not
 * count, nor do their reads.
 *
 * n looks at a share p have a standard error of sqrt(p (1 - p) / n).  The time
 * of a read is of the last quarter of an hour or so, the latest most.  It is
 * known if at 30 looks somebody waited.  It is rougher the shorter the bursts
 * are that the reads come in.  Those of parallel workers wait at once, and are
 * counted when their query ends.  Reads of temporary tables wait, and are not
 * counted.
 */
#ifndef WS_WAITING_H
#define WS_WAITING_H

/*
 * In the worker, as often as it likes: looks once a second at most.  woken: by
 * a client after a rest, so what it sees now is not typical of the time
 * before.
 */
extern void ws_waiting_tick(bool woken);

/* In the worker: ms of a read; NaN: not known. */
extern double ws_waiting_read_ms(void);

/*
 * In the worker: seconds that clients were active, and of these waited for
 * reads, added over all clients, since the last call.
 */
extern void ws_waiting_take(double *active, double *waiting);

#endif							/* WS_WAITING_H */
