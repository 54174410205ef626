/*
 * guc.c
 *		Every setting, its story beside its variable.
 *
 * What sizes shared memory is fixed at server start; the rest follows a
 * reload.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "guc.h"
#include "heuristic.h"
#include "sampler.h"
#include "sketch.h"

/*
 * enabled: count lookups at all?  Off puts the server's own callbacks back in
 * place, so that it costs nothing.  What was known before is forgotten when
 * it is turned on again, for there is a hole in it.
 */
bool		ws_enabled = true;

/*
 * registers: cells per level of the sketch; the error is 0.589 over its
 * square root, the memory 150 bytes a register for the two sketches.
 */
int			ws_registers = WS_REGISTERS_DEFAULT;

/*
 * sample_pages: pages that are sampled at a time, for cache advice and for who
 * is in the set.  Whatever the size of the set, so many are enough: with more,
 * errors shrink by the square root, and the worker needs as much more time.
 * 0 takes no sample.
 */
int			ws_sample_pages = WS_SAMPLE_PAGES_DEFAULT;

/*
 * interval: how often the worker makes a recommendation.
 */
#define INTERVAL_DEFAULT	10
#define INTERVAL_MIN		1
#define INTERVAL_MAX		3600
int			ws_interval = INTERVAL_DEFAULT;

/*
 * method: which heuristic is recommended.  live_set follows what a workload
 * needs better in every one of the workloads of bench/scenarios.
 */
int			ws_method = WS_METHOD_LIVE_SET;

static const struct config_enum_entry method_options[] = {
	{"live_set", WS_METHOD_LIVE_SET, false},
	{"plateau_end", WS_METHOD_PLATEAU_END, false},
	{NULL, 0, false}
};

/*
 * break_even: live_set takes a page to be worth its memory if it is used again
 * within this time: what keeping it for so long costs is what reading it again
 * does.  Gray's five-minute rule for the disks of 1987; with a network between
 * a page and its processor, or memory that is cheap, it is longer.
 */
int			ws_break_even = WS_BREAK_EVEN_DEFAULT;

/*
 * hold: live_set keeps pages that were used more than once for so long after
 * they were last used, so that a pause does not cost the cache.  Never taken
 * as longer than break_even.  A verdict has to last as long before it counts.
 */
#define HOLD_MAX			WS_BREAK_EVEN_MAX
int			ws_hold = WS_HOLD_DEFAULT;

/*
 * history: how far back the busiest time is looked for, that shared_buffers is
 * sized for.  A week, since most workloads have one.
 */
#define HISTORY_DEFAULT		(7 * 24 * 60)
#define HISTORY_MIN			1
#define HISTORY_MAX			(30 * 24 * 60)
int			ws_history_period = HISTORY_DEFAULT;

/*
 * save: how often the history is written to disk, so that it survives a crash;
 * at shutdown it is in any case.
 */
#define SAVE_DEFAULT		300
#define SAVE_MAX			86400
int			ws_save = SAVE_DEFAULT;

/*
 * min_wait: plateau_end looks at no window shorter than this, so that a
 * workload that pauses this long keeps its cache.  Never taken as shorter
 * than window_size.
 */
#define MIN_WAIT_MIN		2
#define MIN_WAIT_MAX		60
int			ws_min_wait = WS_PLATEAU_MIN_WAIT;

/*
 * window_size: plateau_end compares the rise over this many minutes (both
 * ends counted) before and after a point.
 */
#define WINDOW_SIZE_MIN		2
#define WINDOW_SIZE_MAX		30
int			ws_window_size = WS_PLATEAU_WINDOW_SIZE;

/*
 * max_increase: plateau_end stops where the rise after a point is more than
 * this many times the rise before it.
 */
#define MAX_INCREASE_MIN	1.0
#define MAX_INCREASE_MAX	1000.0
double		ws_max_increase = WS_PLATEAU_MAX_INCREASE;

/*
 * headroom: recommend this share more than the heuristic says; clock sweep is
 * not a perfect policy, and the estimate has an error.
 */
#define HEADROOM_DEFAULT	0.1
#define HEADROOM_MAX		10.0
double		ws_headroom = HEADROOM_DEFAULT;

static bool
check_registers(int *newval, void **extra, GucSource source)
{
	if (ws_registers_valid(*newval))
		return true;
	GUC_check_errdetail("The number of registers must be a power of two from %d to %d.",
						WS_REGISTERS_MIN, WS_REGISTERS_MAX);
	return false;
}

static bool
check_sample_pages(int *newval, void **extra, GucSource source)
{
	if (*newval == 0 || *newval >= WS_SAMPLE_PAGES_MIN)
		return true;
	GUC_check_errdetail("The number of sampled pages must be 0, or from %d to %d.",
						WS_SAMPLE_PAGES_MIN, WS_SAMPLE_PAGES_MAX);
	return false;
}

const char *
ws_guc_method_name(int method)
{
	for (const struct config_enum_entry *e = method_options; e->name; e++)
		if (e->val == method)
			return e->name;
	return "?";
}

void
ws_guc_define(void (*assign_enabled) (bool newval, void *extra))
{
	DefineCustomBoolVariable("working_set.enabled",
							 "Counts lookups of shared buffers.",
							 "When off, the server runs as if the extension were not there.",
							 &ws_enabled,
							 true,
							 PGC_SIGHUP,
							 0,
							 NULL,
							 assign_enabled,
							 NULL);

	DefineCustomIntVariable("working_set.registers",
							"Sets the number of registers of the sketch.",
							"A power of two. The standard error is 0.589 divided by its square root.",
							&ws_registers,
							WS_REGISTERS_DEFAULT,
							WS_REGISTERS_MIN,
							WS_REGISTERS_MAX,
							PGC_POSTMASTER,
							0,
							check_registers,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.sample_pages",
							"Sets the number of pages that are sampled for cache advice and relations.",
							"0 takes no sample.",
							&ws_sample_pages,
							WS_SAMPLE_PAGES_DEFAULT,
							0,
							WS_SAMPLE_PAGES_MAX,
							PGC_POSTMASTER,
							0,
							check_sample_pages,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.interval",
							"Sets the time between two recommendations.",
							NULL,
							&ws_interval,
							INTERVAL_DEFAULT,
							INTERVAL_MIN,
							INTERVAL_MAX,
							PGC_SIGHUP,
							GUC_UNIT_S,
							NULL,
							NULL,
							NULL);

	DefineCustomEnumVariable("working_set.method",
							 "Selects the heuristic that is recommended.",
							 NULL,
							 &ws_method,
							 WS_METHOD_LIVE_SET,
							 method_options,
							 PGC_SIGHUP,
							 0,
							 NULL,
							 NULL,
							 NULL);

	DefineCustomIntVariable("working_set.break_even",
							"Sets the time within which a page must be used again to be worth its memory.",
							"For the heuristic live_set.",
							&ws_break_even,
							WS_BREAK_EVEN_DEFAULT,
							WS_BREAK_EVEN_MIN,
							WS_BREAK_EVEN_MAX,
							PGC_SIGHUP,
							GUC_UNIT_S,
							NULL,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.hold",
							"Sets the time for which live_set keeps pages of a workload that pauses.",
							"A new verdict counts when it has lasted as long.",
							&ws_hold,
							WS_HOLD_DEFAULT,
							0,
							HOLD_MAX,
							PGC_SIGHUP,
							GUC_UNIT_S,
							NULL,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.history",
							"Sets how far back the busiest time is looked for.",
							"shared_buffers is sized for the largest recommendation in this time.",
							&ws_history_period,
							HISTORY_DEFAULT,
							HISTORY_MIN,
							HISTORY_MAX,
							PGC_SIGHUP,
							GUC_UNIT_MIN,
							NULL,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.save",
							"Sets the time between two saves of the history.",
							"0 saves it at shutdown only.",
							&ws_save,
							SAVE_DEFAULT,
							0,
							SAVE_MAX,
							PGC_SIGHUP,
							GUC_UNIT_S,
							NULL,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.min_wait",
							"Sets the shortest window that plateau_end considers.",
							"A workload that pauses for less keeps its cache.",
							&ws_min_wait,
							WS_PLATEAU_MIN_WAIT,
							MIN_WAIT_MIN,
							MIN_WAIT_MAX,
							PGC_SIGHUP,
							GUC_UNIT_MIN,
							NULL,
							NULL,
							NULL);

	DefineCustomIntVariable("working_set.window_size",
							"Sets the number of one-minute windows over which plateau_end compares slopes.",
							NULL,
							&ws_window_size,
							WS_PLATEAU_WINDOW_SIZE,
							WINDOW_SIZE_MIN,
							WINDOW_SIZE_MAX,
							PGC_SIGHUP,
							GUC_UNIT_MIN,
							NULL,
							NULL,
							NULL);

	DefineCustomRealVariable("working_set.max_increase",
							 "Sets how many times steeper the curve must become to end a plateau.",
							 NULL,
							 &ws_max_increase,
							 WS_PLATEAU_MAX_INCREASE,
							 MAX_INCREASE_MIN,
							 MAX_INCREASE_MAX,
							 PGC_SIGHUP,
							 0,
							 NULL,
							 NULL,
							 NULL);

	DefineCustomRealVariable("working_set.headroom",
							 "Sets the share that is recommended beyond the working set.",
							 "0.1 recommends ten percent more.",
							 &ws_headroom,
							 HEADROOM_DEFAULT,
							 0.0,
							 HEADROOM_MAX,
							 PGC_SIGHUP,
							 0,
							 NULL,
							 NULL,
							 NULL);

	MarkGUCPrefixReserved("working_set");
}
