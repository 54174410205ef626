/*
 * estimate.c
 *		Curves for the statements of a process; see estimate.h.
 *
 * The executor prepares all calls of a statement in one memory context, which
 * lives as long as the execution.  So it stands for the statement, and its
 * instant is freed with it.  A cursor's execution spans several statements of
 * the client, which start at different times.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "estimate.h"

#define INSTANT_MS 1000

typedef struct Instant
{
	struct Instant *next;
	MemoryContext execution;	/* stands for the statement */
	MemoryContext context;		/* a child of it, with all of the instant */
	MemoryContextCallback end;
	TimestampTz statement;		/* when the client's statement began */
	int64		since;			/* value of WsShared.since */
	int64		taken;			/* ms of the monotonic clock */
	uint32		now;			/* the same in ticks */
	struct
	{
		WsCurve    *young;		/* for windows up to "oldest", */
		WsCurve    *all;		/* and for the others; NULL: not taken yet */
		uint32		oldest;
	}			curves[WS_OF_ALL + 1];	/* by kinds */
} Instant;

/* One for each execution that has not ended.  Statements nest: a short list. */
static Instant *instants = NULL;

static void
unlink_instant(void *arg)
{
	Instant   **link = &instants;

	while (*link != arg)
		link = &(*link)->next;
	*link = (*link)->next;
}

/* The instant that an execution has, if that still holds, or a new one. */
static Instant *
get_instant(MemoryContext execution)
{
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	int64		since = ws_shared_since();
	int64		now = ws_shared_clock_ms();
	Instant    *instant = instants;
	MemoryContext context;

	while (instant != NULL && instant->execution != execution)
		instant = instant->next;
	if (instant != NULL)
	{
		if (instant->statement == statement && instant->since == since &&
			now >= instant->taken && now - instant->taken < INSTANT_MS)
			return instant;
		MemoryContextDelete(instant->context);
	}
	context = AllocSetContextCreate(execution, "working_set instant", ALLOCSET_SMALL_SIZES);
	instant = MemoryContextAllocZero(context, sizeof(Instant));
	instant->execution = execution;
	instant->context = context;
	instant->statement = statement;
	instant->since = since;
	instant->taken = now;
	instant->now = ws_shared_advance();
	instant->next = instants;
	instants = instant;
	instant->end.func = unlink_instant;
	instant->end.arg = instant;
	MemoryContextRegisterResetCallback(context, &instant->end);
	return instant;
}

/* For windows up to the oldest age. */
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

/*
 * A statement that asks only once needs no cells but those that count for it.
 * If it asks for an older window, pages were used meanwhile: a curve may still
 * not fall.
 */
static void
estimate_at(Instant *instant, int kinds, uint32 oldest, const uint32 *ages, int n, WsEstimate *out)
{
	WsCurve   **young = &instant->curves[kinds].young;
	WsCurve   **all = &instant->curves[kinds].all;
	uint32	   *limit = &instant->curves[kinds].oldest;
	WsEstimate	least;

	if (*young == NULL)
	{
		*young = take_curve(instant->context, kinds, instant->now, oldest);
		*limit = oldest;
	}
	if (*all == NULL && oldest > *limit)
		*all = take_curve(instant->context, kinds, instant->now, UINT32_MAX);
	least = ws_curve_window(*young, *limit);
	for (int i = 0; i < n; i++)
	{
		if (i % 64 == 0)
			CHECK_FOR_INTERRUPTS();
		out[i] = ws_curve_window(ages[i] <= *limit ? *young : *all, ages[i]);
		if (ages[i] > *limit && out[i].pages < least.pages)
			out[i] = least;
	}
}

uint32
ws_estimate(MemoryContext statement, int kinds, const uint32 *ages, int n, WsEstimate *out)
{
	static const WsEstimate none;
	Instant    *instant = statement ? get_instant(statement) : NULL;
	uint32		now = instant ? instant->now : ws_shared_advance();
	uint32		oldest = 0;

	for (int i = 0; i < n; i++)
		oldest = Max(oldest, ages[i]);
	if (n > 0 && instant)
		estimate_at(instant, kinds, oldest, ages, n, out);
	else if (n > 0)
	{
		WsCurve    *curve = take_curve(CurrentMemoryContext, kinds, now, oldest);

		for (int i = 0; i < n; i++)
			out[i] = ws_curve_window(curve, ages[i]);
		pfree(curve);
	}
	for (int i = 0; i < n; i++)
		if (ages[i] == 0)
			out[i] = none;
	return now;
}
