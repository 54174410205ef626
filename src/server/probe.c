/*
 * probe.c
 *		The functions of the probe; see probe.h.
 */
#include "postgres.h"

#include "probe.h"

WsProbe		ws_probe;
