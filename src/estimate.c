/*
 * estimate.c
 *		Taking curves, one for each statement; see estimate.h.
 *
 * The executor prepares all calls of a statement in one memory context, which
 * lives as long as the execution.  So that context stands for the statement: an
 * instant is in memory below it, and is freed with it.  A cursor's execution
 * goes on over several statements of the client, which start at different times.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "estimate.h"

#define INSTANT_MS 1000

typedef struct Instant
{
	struct Instant *next;
	MemoryContext execution;	/* which it belongs to */
	MemoryContext context;		/* which it is in */
	MemoryContextCallback end;
	TimestampTz statement;		/* when the client's statement began */
	int64		since;			/* value of WsShared.since */
	int64		taken;			/* ms of the monotonic clock */
	uint32		now;			/* the same in ticks */
	WsCurve    *curves[WS_OF_ALL + 1];	/* by kinds; NULL: not taken yet */
} Instant;

/* Those of executions that have not ended; statements nest, so there are few. */
static Instant *instants = NULL;

static void
unlink_instant(void *arg)
{
	Instant   **link = &instants;

	while (*link != arg)
		link = &(*link)->next;
	*link = (*link)->next;
}

static bool
is_valid(const Instant *instant)
{
	int64		age = ws_shared_clock_ms() - instant->taken;

	return instant->statement == GetCurrentStatementStartTimestamp() &&
		instant->since == ws_shared_since() &&
		age >= 0 && age < INSTANT_MS;
}

static Instant *
make_instant(MemoryContext execution)
{
	MemoryContext context = AllocSetContextCreate(execution, "working_set instant",
												  ALLOCSET_SMALL_SIZES);
	Instant    *instant = MemoryContextAllocZero(context, sizeof(Instant));

	instant->execution = execution;
	instant->context = context;
	instant->statement = GetCurrentStatementStartTimestamp();
	instant->since = ws_shared_since();
	instant->taken = ws_shared_clock_ms();
	instant->now = ws_shared_advance();
	instant->next = instants;
	instants = instant;
	instant->end.func = unlink_instant;
	instant->end.arg = instant;
	MemoryContextRegisterResetCallback(context, &instant->end);
	return instant;
}

static Instant *
get_instant(MemoryContext execution)
{
	Instant    *instant = instants;

	while (instant != NULL && instant->execution != execution)
		instant = instant->next;
	if (instant != NULL && !is_valid(instant))
	{
		MemoryContextDelete(instant->context);
		instant = NULL;
	}
	return instant != NULL ? instant : make_instant(execution);
}

/* Take a curve of the clock's present tick, for windows up to the oldest age. */
static WsCurve *
take_curve(MemoryContext context, int kinds, uint32 now, uint32 oldest)
{
	const WsSketch *sketches[WS_NKINDS];
	int			n = 0;
	WsCurve    *curve = MemoryContextAlloc(context, ws_curve_size(UINT32_C(1) << ws_shared->log2m));

	for (int kind = 0; kind < WS_NKINDS; kind++)
		if (kinds & WS_OF(kind))
			sketches[n++] = ws_shared->sketch[kind];
	ws_curve_take(curve, sketches, n, now, oldest);
	return curve;
}

uint32
ws_estimate(MemoryContext statement, int kinds, const uint32 *ages, int n, WsEstimate *out)
{
	WsCurve    *curve;
	uint32		now;

	if (statement != NULL)
	{
		Instant    *instant = get_instant(statement);

		now = instant->now;
		if (n > 0 && instant->curves[kinds] == NULL)
			instant->curves[kinds] = take_curve(instant->context, kinds, now, UINT32_MAX);
		curve = instant->curves[kinds];
	}
	else
	{
		uint32		oldest = 0;

		for (int i = 0; i < n; i++)
			oldest = Max(oldest, ages[i]);
		now = ws_shared_advance();
		curve = take_curve(CurrentMemoryContext, kinds, now, oldest);
	}

	for (int i = 0; i < n; i++)
		out[i] = ages[i] > 0 ? ws_curve_window(curve, ages[i]) : (WsEstimate) {0};
	if (statement == NULL)
		pfree(curve);
	return now;
}
