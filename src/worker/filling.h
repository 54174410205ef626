/*
 * filling.h
 *		Do shared buffers fill?
 */
#ifndef WS_FILLING_H
#define WS_FILLING_H

#include "datatype/timestamp.h"

/*
 * While shared buffers are not full nobody evicts anything: after a start, or
 * when much was dropped.
 */
extern bool ws_nobody_evicts(void);

/*
 * While shared buffers fill, more is read than if they were full, and in the
 * period of the counts after that.  That ends when they are full, or the
 * break-even time has passed and use does not grow.  Returns when that will be,
 * as it looks now, or 0: it is over.
 */
extern TimestampTz ws_filling_until(void);

#endif							/* WS_FILLING_H */
