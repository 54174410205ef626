/*
 * guc.c
 *		Every setting, with its purpose beside it.
 *
 * Settings that size shared memory are fixed at server start.
 */
#include "postgres.h"

#include "utils/guc.h"

#include "guc.h"
#include "heuristic.h"
#include "history.h"
#include "sampler.h"
#include "sketch.h"
#include "verdict.h"

/* The server gives each variable its default when the setting is defined. */
bool		ws_enabled;
int			ws_registers;
int			ws_sample_pages;
int			ws_interval;
int			ws_method = WS_METHOD_LIVE_SET;
int			ws_break_even;
int			ws_history_period;
int			ws_save;
int			ws_min_wait;
int			ws_window_size;
double		ws_max_increase;
double		ws_worth;

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

typedef struct IntSetting
{
	const char *name;
	const char *text;
	const char *more;
	int		   *variable;
	int			value;			/* the default */
	int			min;
	int			max;
	GucContext	context;
	int			unit;
	GucIntCheckHook check;
} IntSetting;

static const IntSetting int_settings[] = {
	/* The two sketches take 150 bytes for each register. */
	{"working_set.registers", "Sets the number of registers of the sketch.",
		"A power of two. The standard error is 0.589 divided by its square root.",
		&ws_registers, WS_REGISTERS_DEFAULT, WS_REGISTERS_MIN, WS_REGISTERS_MAX,
	PGC_POSTMASTER, 0, check_registers},

	/* Errors shrink with the square root; the worker's time is proportional. */
	{"working_set.sample_pages", "Sets the number of pages that are sampled.",
		"live_set, cache advice and relations need them. 0 takes no sample.", &ws_sample_pages, WS_SAMPLE_PAGES_DEFAULT, 0, WS_SAMPLE_PAGES_MAX,
	PGC_POSTMASTER, 0, check_sample_pages},

	{"working_set.interval", "Sets the time between two recommendations.", NULL,
	&ws_interval, 10, 1, 3600, PGC_SIGHUP, GUC_UNIT_S, NULL},

	/*
	 * To keep a page for this time costs as much as to read it again (Gray's
	 * five-minute rule, 1987).  Cheap memory or remote disks make it longer.
	 */
	{"working_set.break_even", "Sets the time within which a page must be used again to be worth its memory.",
		"For the heuristic live_set.",
		&ws_break_even, WS_BREAK_EVEN_DEFAULT, WS_BREAK_EVEN_MIN, WS_BREAK_EVEN_MAX,
	PGC_SIGHUP, GUC_UNIT_S, NULL},

	/* The default is a week, since most workloads repeat weekly. */
	{"working_set.history", "Sets how far back the busiest time is looked for.",
		"For peak_cache_bytes, the largest recommendation in this time.",
	&ws_history_period, 7 * 24 * 60, 1, WS_HISTORY_DAYS * WS_MINUTES_PER_DAY, PGC_SIGHUP, GUC_UNIT_MIN, NULL},

	/* A crash loses at most this much of the history. */
	{"working_set.save", "Sets the time between two saves of the history.",
	"0 saves it at shutdown only.", &ws_save, 300, 0, 86400, PGC_SIGHUP, GUC_UNIT_S, NULL},

	/* A value below window_size counts as window_size. */
	{"working_set.min_wait", "Sets the shortest window that plateau_end considers.",
		"A workload that pauses for less keeps its cache.",
	&ws_min_wait, WS_PLATEAU_MIN_WAIT, 2, 60, PGC_SIGHUP, GUC_UNIT_MIN, NULL},

	/* The rise over this many minutes, both ends counted, is compared. */
	{"working_set.window_size", "Sets the number of one-minute windows over which plateau_end compares slopes.", NULL,
	&ws_window_size, WS_PLATEAU_WINDOW_SIZE, 2, 30, PGC_SIGHUP, GUC_UNIT_MIN, NULL},
};

/* one for each of ws_method_names[], and a last that is all zeros */
static struct config_enum_entry method_options[WS_METHODS + 1];

void
ws_guc_define(void (*assign_enabled) (bool newval, void *extra))
{
	for (int i = 0; i < (int) lengthof(int_settings); i++)
	{
		const IntSetting *s = &int_settings[i];

		DefineCustomIntVariable(s->name, s->text, s->more, s->variable, s->value, s->min, s->max,
								s->context, s->unit, s->check, NULL, NULL);
	}

	/*
	 * Off costs nothing, because the table then has the server's own
	 * functions.  Data start over when it is turned on: there is a gap.
	 */
	DefineCustomBoolVariable("working_set.enabled", "Counts lookups of shared buffers.",
							 "When off, the server runs as if the extension were not there.",
							 &ws_enabled, true, PGC_SIGHUP, 0, NULL, assign_enabled, NULL);

	for (int i = 0; i < WS_METHODS; i++)
	{
		method_options[i].name = ws_method_names[i];
		method_options[i].val = i;
	}

	/* live_set follows the need of each workload of bench/scenarios better. */
	DefineCustomEnumVariable("working_set.method", "Selects the heuristic that is recommended.", NULL,
							 &ws_method, WS_METHOD_LIVE_SET, method_options,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);

	/* plateau_end stops where the rise grows by more than this factor. */
	DefineCustomRealVariable("working_set.max_increase",
							 "Sets how many times steeper the curve must become to end a plateau.", NULL,
							 &ws_max_increase, WS_PLATEAU_MAX_INCREASE, 1.0, 1000.0,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);

	/* A size counts as equally good within half of it. */
	DefineCustomRealVariable("working_set.worth",
							 "Sets the share of query time that a larger shared_buffers has to save.",
							 "0.02 suggests to grow, with a restart, for 2 percent.",
							 &ws_worth, WS_WORTH_DEFAULT, 0.001, 1.0, PGC_SIGHUP, 0, NULL, NULL, NULL);

	MarkGUCPrefixReserved("working_set");
}
