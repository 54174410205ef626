/*
 * waiting.h
 *		How long a client waits for a read, by how many wait.
 *
 * The server measures the time of reads only with track_io_timing, which is off
 * by default.  But it always shows who waits for a read at this moment (wait
 * events), so the worker looks once a second: the average number of clients
 * that wait is the number of reads a second times the time of one (Little
 * 1961).  As with track_io_timing, a read that the kernel's page cache answers
 * is one, too.
 *
 * The average is of the last quarter of an hour or so, the latest times most.
 * Of n that were seen waiting it is off by about 1 / sqrt(n); 30 are needed, a
 * standard error of 18 %.
 *
 * VACUUM and the like do not count, nor do their reads.
 */
#ifndef WS_WAITING_H
#define WS_WAITING_H

/* In the worker, as often as it likes: looks once a second at most. */
extern void ws_waiting_tick(void);

/* In the worker: ms of a read; NaN: not known. */
extern double ws_waiting_read_ms(void);

#endif							/* WS_WAITING_H */
