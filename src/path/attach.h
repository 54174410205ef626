/*
 * attach.h
 *		Seeing every lookup of a page in shared buffers.
 *
 * The probe attaches lookup.c to the server's buffer lookup table, or refuses a
 * server that differs from what it expects.  Others ask by probe.h.
 */
#ifndef WS_ATTACH_H
#define WS_ATTACH_H

/*
 * Find the server's buffer lookup table, verify it, and start to record.  For
 * the postmaster (or a single-user backend), each time that shared memory was
 * made.  A refusal is an error; the caller then detaches.
 */
extern void ws_attach(void);
extern void ws_detach(void);

/* Start or stop to record lookups in this process and those that it forks. */
extern void ws_attach_record(bool on);

#endif							/* WS_ATTACH_H */
