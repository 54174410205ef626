/*
 * gone_pages.c
 *		Looking after the sampled pages; see gone_pages.h.
 */
#include "postgres.h"

#include "storage/lwlock.h"

#include "attribution.h"
#include "consumer.h"
#include "gone_pages.h"
#include "probe.h"
#include "relsize.h"
#include "sampler.h"
#include "shared.h"
#include "statefile.h"

#define CYCLE_SECONDS	60		/* in which each page is looked at, */
#define FIRST_SECONDS	5		/* at the beginning sooner */
#define SUSPECTS		64		/* relations at a time */
#define LOOKS			6		/* at each: at once, 1, 3, 7, 15, 31 s later */
#define YOUNG_TICKS		(2 * WS_TICKS_PER_SECOND)

typedef struct Suspect
{
	WsPageId	page;			/* any page of it */
	int			looks;
	int64		due;			/* ms of the monotonic clock */
} Suspect;

static struct
{
	Suspect		suspects[SUSPECTS];
	int			n;
	uint32		next;			/* entry that the cycle is at */
	int64		stepped_at;		/* when it went on */
	int			steps;			/* in the first cycle */
}			state;

/* A page comes into shared buffers before its file is longer. */
static bool
is_candidate(const WsSample *sample, uint32 now)
{
	return sample->touched != 0 && !sample->dead && sample->touched + YOUNG_TICKS <= now;
}

/* These entries have pages that are gone. */
static void
bury(const uint32 *entries, uint32 n, WsEvicted died)
{
	if (n == 0)
		return;
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	for (uint32 i = 0; i < n; i++)
	{
		ws_attribution_forget(ws_shared->attribution, ws_shared->sampler->samples[entries[i]].hash);
		ws_sampler_die(ws_shared->sampler, entries[i]);
		died(entries[i]);
	}
	LWLockRelease(ws_shared->sample_lock);
	ws_life_consumer_died();
}

/* Look at so many entries, from the next one on. */
static void
look_at_entries(uint32 n, WsEvicted died)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32		now = ws_shared_advance();
	uint32	   *gone = palloc(Max(n, 1) * sizeof(uint32));
	uint32		ngone = 0;

	for (; n > 0; n--)
	{
		const WsSample *sample = &sampler->samples[state.next];

		if (is_candidate(sample, now) && ws_page_is_gone(&sample->page))
			gone[ngone++] = state.next;
		state.next = (state.next + 1) % sampler->capacity;
	}
	bury(gone, ngone, died);
	pfree(gone);
}

static bool
same_relation(const WsPageId *a, const WsPageId *b)
{
	return memcmp(a, b, offsetof(WsPageId, fork)) == 0;
}

static void
look_at_relation(const WsPageId *relation, WsEvicted died)
{
	const WsSampler *sampler = ws_shared->sampler;
	uint32		now = ws_shared_advance();
	uint32	   *gone = palloc(sampler->capacity * sizeof(uint32));
	uint32		ngone = 0;
	uint32		blocks[WS_STATEFILE_FORKS];
	bool		known[WS_STATEFILE_FORKS] = {false};

	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		const WsSample *sample = &sampler->samples[i];
		int			fork = sample->page.fork;

		if (!is_candidate(sample, now) || !same_relation(&sample->page, relation))
			continue;
		if (!known[fork])
			blocks[fork] = ws_relation_blocks(&sample->page);
		known[fork] = true;
		if (blocks[fork] != WS_BLOCKS_UNKNOWN && sample->page.block >= blocks[fork])
			gone[ngone++] = i;
	}
	bury(gone, ngone, died);
	pfree(gone);
}

void
ws_gone_pages_begin(WsEvicted died)
{
	memset(&state, 0, sizeof(state));
	state.stepped_at = ws_shared_clock_ms();
	look_at_entries(ws_shared->sampler->capacity, died);
}

void
ws_gone_pages_suspect(const WsPageId *page)
{
	Suspect    *suspect = state.suspects;

	while (suspect < state.suspects + state.n && !same_relation(&suspect->page, page))
		suspect++;
	if (suspect == state.suspects + state.n)
	{
		/* of more, the cycle finds what is gone */
		if (state.n == SUSPECTS)
			return;
		state.n++;
		suspect->page = *page;
	}
	suspect->looks = 0;
	suspect->due = 0;
}

void
ws_gone_pages_look(int64 now, WsEvicted died)
{
	int64		capacity = ws_shared->sampler->capacity;
	int64		cycle;			/* ms */

	for (int i = state.n - 1; i >= 0; i--)
	{
		Suspect    *suspect = &state.suspects[i];

		if (suspect->due > now)
			continue;
		look_at_relation(&suspect->page, died);
		suspect->due = now + (INT64CONST(1000) << suspect->looks);
		if (++suspect->looks == LOOKS)
			*suspect = state.suspects[--state.n];
	}
	if (now - state.stepped_at < 1000)
		return;
	/* what was too young at first is not any more */
	cycle = 1000 * (state.steps < FIRST_SECONDS ? FIRST_SECONDS : CYCLE_SECONDS);
	/* a worker that rests is here every ten seconds */
	look_at_entries((uint32) (capacity * Min(now - state.stepped_at, cycle) / cycle), died);
	state.stepped_at = now;
	state.steps += state.steps < FIRST_SECONDS;
}

void
ws_gone_pages_check_resident(void)
{
	WsSampler  *sampler = ws_shared->sampler;
	bool	   *resident = palloc(sampler->capacity * sizeof(bool));

	(void) ws_probe_resident(sampler->samples, sampler->capacity, resident, NULL);
	LWLockAcquire(ws_shared->sample_lock, LW_EXCLUSIVE);
	for (uint32 i = 0; i < sampler->capacity; i++)
	{
		WsSample   *sample = &sampler->samples[i];

		sample->resident = resident[i] && sample->touched != 0 && !sample->dead;
	}
	LWLockRelease(ws_shared->sample_lock);
	pfree(resident);
}
