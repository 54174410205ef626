/*
 * guc.h
 *		The settings; guc.c explains each.
 */
#ifndef WS_GUC_H
#define WS_GUC_H

extern bool ws_enabled;
extern int	ws_registers;
extern int	ws_sample_pages;	/* 0: no sample */
extern int	ws_interval;		/* seconds */
extern int	ws_method;			/* a WsMethod */
extern int	ws_break_even;		/* seconds */
extern int	ws_save;			/* seconds; 0: at shutdown only */
extern int	ws_history_period;	/* minutes */
extern int	ws_min_wait;		/* minutes */
extern int	ws_window_size;		/* minutes */
extern double ws_max_increase;
extern double ws_worth;			/* share of query time */

/* For _PG_init.  assign_enabled is the assign hook of working_set.enabled. */
extern void ws_guc_define(void (*assign_enabled) (bool newval, void *extra));

#endif							/* WS_GUC_H */
