/*
 * life.c
 *		Counting the pages that come back; see life.h.
 */
#include "life.h"

#include <math.h>
#include <string.h>

/* How long counts are remembered, in break-even times. */
#define MEMORY			(1.0 / 3)
#define MEMORY_FOR_AGE	0.1		/* more in older classes, which are rarer */
#define MEMORY_OF_MARKED 4.0

#define USE_TICKS		(5 * WS_TICKS_PER_SECOND)	/* count as one use */
#define LONG_STEP		3		/* so many times its length: not trusted */

size_t
ws_life_size(uint32_t nitems)
{
	return offsetof(WsLife, items) + nitems * sizeof(WsLifeItem);
}

void
ws_life_init(WsLife *life, uint32_t nitems, int break_even, int hold)
{
	memset(life, 0, ws_life_size(nitems));
	life->nitems = nitems;
	life->break_even = (uint32_t) break_even * WS_TICKS_PER_SECOND;
	life->hold = (uint32_t) hold * WS_TICKS_PER_SECOND;
}

static double
step_ticks(const WsLife *life)
{
	return (double) life->break_even / WS_LIFE_STEPS;
}

bool
ws_life_due(const WsLife *life, uint32_t now)
{
	return life->stepped == 0 || now >= life->stepped + step_ticks(life);
}

void
ws_life_begin_step(WsLife *life)
{
	WsLifeTable *t = &life->table;

	memset(life->at_risk, 0, sizeof(life->at_risk));
	memset(life->returned, 0, sizeof(life->returned));
	memset(t->population, 0, sizeof(t->population));
	t->in_use = t->idle = 0;
	life->steps++;
}

static uint32_t
idle_at(const WsLifeItem *item, uint32_t tick)
{
	return tick > item->last ? tick - item->last : 0;
}

/* Count an item that was at risk when the last step ended. */
static void
count_risk(WsLife *life, const WsLifeItem *item, bool used)
{
	uint32_t	idle = idle_at(item, life->stepped);
	int			class;

	/* a use ahead of the step that reports it was at risk in no step */
	if (item->reported != (uint16_t) (life->steps - 1) || item->last > life->stepped ||
		idle >= life->break_even)
		return;
	class = (int) ((uint64_t) idle * WS_LIFE_CLASSES / life->break_even);
	life->at_risk[item->group][class]++;
	life->returned[item->group][class] += used;
}

/* A page is used, which may change its group. */
static void
use(WsLife *life, WsLifeItem *item, uint32_t last, uint32_t before)
{
	bool		in_time = item->last != 0 && last - item->last <= life->break_even;

	if (item->marked)
	{
		life->table.marked += !item->given_up;
		life->table.came_back += in_time;
		item->marked = 0;
		item->given_up = 0;
	}
	if (in_time)
	{
		if (last - item->born >= USE_TICKS)
			item->group = last - item->born < life->break_even ? 1 : 2;
	}
	else
	{
		item->group = before != 0 && last - before <= life->break_even;
		item->born = item->group ? before : last;
	}
	item->last = last;
}

void
ws_life_item(WsLife *life, uint32_t i, uint32_t last, uint32_t before, uint32_t now)
{
	WsLifeTable *t = &life->table;
	WsLifeItem *item = &life->items[i];
	bool		used = last > item->last;
	uint32_t	idle;

	if (item->last != 0)
		count_risk(life, item, used);
	item->reported = (uint16_t) life->steps;
	if (used)
		use(life, item, last, item->last == 0 ? before : 0);
	idle = idle_at(item, now);
	if (item->marked && !item->given_up && idle >= life->hold)
	{
		item->given_up = 1;
		t->marked++;
	}
	if (item->last == 0 || idle >= life->break_even)
		return;
	t->population[item->group][(uint64_t) idle * WS_LIFE_STEPS / life->break_even]++;
	if (item->group == 0 || idle >= life->hold)
		return;
	if (idle < WS_LIFE_IN_USE * step_ticks(life))
		t->in_use++;
	else
	{
		t->idle++;
		if (life->mark)
			item->marked = 1;
	}
}

/* The share that is left of old counts after so many ticks. */
static double
remembered(const WsLife *life, double ticks, double memory)
{
	return exp(-ticks / (memory * life->break_even));
}

void
ws_life_end_step(WsLife *life, uint32_t now, bool trusted)
{
	WsLifeTable *t = &life->table;
	double		ticks = life->stepped != 0 && now > life->stepped ? now - life->stepped : 0;

	if (ticks > LONG_STEP * step_ticks(life) + WS_TICKS_PER_SECOND)
		trusted = false;
	for (int g = 0; g < WS_LIFE_GROUPS && trusted; g++)
		for (int c = 0; c < WS_LIFE_CLASSES; c++)
		{
			double		left = remembered(life, ticks, MEMORY + MEMORY_FOR_AGE *
										  (c + 0.5) / WS_LIFE_CLASSES);

			t->at_risk[g][c] = left * t->at_risk[g][c] + life->at_risk[g][c];
			t->returned[g][c] = left * t->returned[g][c] + life->returned[g][c];
		}
	t->marked *= remembered(life, ticks, MEMORY_OF_MARKED);
	t->came_back *= remembered(life, ticks, MEMORY_OF_MARKED);
	life->stepped = now;
}

void
ws_life_forget(WsLife *life, uint32_t item)
{
	memset(&life->items[item], 0, sizeof(WsLifeItem));
}
