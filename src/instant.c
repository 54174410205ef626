/*
 * instant.c
 *		The one instant that all calls in a statement answer for; see
 *		instant.h.
 *
 * The executor prepares all calls of a statement in one memory context, which
 * lives as long as the execution.  So that context stands for the statement: an
 * instant is in memory below it, and goes with it.  A cursor's execution goes on
 * over several statements of the client; the time of these tells them apart.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "instant.h"

/* An instant lasts for so many ms. */
#define LASTS 1000

typedef struct Instant
{
	struct Instant *next;
	MemoryContext execution;	/* which it is of */
	MemoryContext context;		/* which it is in */
	MemoryContextCallback end;
	TimestampTz statement;		/* when the client's statement began */
	int64		since;			/* value of WsShared.since */
	int64		taken;			/* ms, by the clock that nobody sets */
	uint32		now;			/* the same in ticks */
	WsCurve    *curves[WS_OF_ALL + 1];	/* by whose; NULL: not asked for yet */
} Instant;

/* those of executions that have not ended; statements nest, so there are few */
static Instant *instants = NULL;

/* the memory of an instant is about to go */
static void
end_instant(void *arg)
{
	Instant   **link = &instants;

	while (*link != arg)
		link = &(*link)->next;
	*link = (*link)->next;
}

static bool
lasts(const Instant *instant)
{
	int64		age = ws_shmem_clock_ms() - instant->taken;

	return instant->statement == GetCurrentStatementStartTimestamp() &&
		instant->since == ws_shmem_since() &&
		age >= 0 && age < LASTS;
}

static Instant *
begin_instant(MemoryContext execution)
{
	MemoryContext context = AllocSetContextCreate(execution, "working_set instant",
												  ALLOCSET_SMALL_SIZES);
	Instant    *instant = MemoryContextAllocZero(context, sizeof(Instant));

	instant->execution = execution;
	instant->context = context;
	instant->statement = GetCurrentStatementStartTimestamp();
	instant->since = ws_shmem_since();
	instant->taken = ws_shmem_clock_ms();
	instant->now = ws_shmem_advance();
	instant->next = instants;
	instants = instant;
	instant->end.func = end_instant;
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
	if (instant != NULL && !lasts(instant))
	{
		MemoryContextDelete(instant->context);
		instant = NULL;
	}
	return instant != NULL ? instant : begin_instant(execution);
}

WsCurve *
ws_instant_curve(const FmgrInfo *function, int whose, uint32 *now)
{
	Instant    *instant = get_instant(function->fn_mcxt);

	if (instant->curves[whose] == NULL)
	{
		const WsSketch *sketches[WS_NKINDS];
		int			n = 0;
		WsCurve    *curve;

		for (int kind = 0; kind < WS_NKINDS; kind++)
			if (whose & WS_OF(kind))
				sketches[n++] = ws_shared->sketch[kind];
		curve = MemoryContextAlloc(instant->context,
								   ws_curve_size(UINT32_C(1) << ws_shared->log2m));
		ws_curve_take(curve, sketches, n, instant->now, UINT32_MAX);
		instant->curves[whose] = curve;
	}
	if (now)
		*now = instant->now;
	return instant->curves[whose];
}
