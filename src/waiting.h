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
 * It is known if at 30 looks somebody waited.  It is rougher the shorter the
 * bursts are that the reads come in.
 *
 * VACUUM and the like do not count, nor do their reads.  Those of parallel
 * workers wait at once, and are counted when their query ends.  Reads of
 * temporary tables wait, and are not counted.
 */
#ifndef WS_WAITING_H
#define WS_WAITING_H

/*
 * In the worker, as often as it likes: looks once a second at most.  rested: a
 * client has woken it, so what it sees now is not typical of the time before.
 */
extern void ws_waiting_tick(bool rested);

/* In the worker: ms of a read; NaN: not known. */
extern double ws_waiting_read_ms(void);

#endif							/* WS_WAITING_H */
