/*
 * guard.h
 *		Steps of the server's start that must not stop it.
 */
#ifndef WS_GUARD_H
#define WS_GUARD_H

/*
 * Run a step.  If it raises an error, release the lightweight locks that are
 * held, put the error's message into why, and return false.  In the postmaster
 * (or a single-user backend), which holds no lock of its own while it starts.
 */
extern bool ws_guard(void (*step) (void), char *why, size_t size);

#endif							/* WS_GUARD_H */
