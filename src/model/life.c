/*
 * life.c
 *		Counting the pages that come back; see life.h.
 */
#include "life.h"

#include <math.h>
#include <string.h>

/*
 * How long counts are remembered, in break-even times of up to 15 minutes, and
 * for the gap.  Of longer ones, a class is remembered for longer by so many
 * times its age, since its pages come back only after that.
 */
#define MEMORY			(1.0 / 3)
#define MEMORY_AGES		4
#define MEMORY_FOR_AGE	0.1		/* more in older classes, which are rarer */
#define MEMORY_OF_MARKED 4.0

#define USE_TICKS		(5 * WS_TICKS_PER_SECOND)	/* count as one use */
#define LONG_STEP		3		/* so many times its length: not trusted */

size_t
ws_life_size(uint32_t nitems)
{
	return offsetof(WsLife, items) + nitems * sizeof(WsLifeItem);
}

/* The break-even time, or the 15 minutes of it whose classes are narrow. */
static uint32_t
short_ticks(const WsLife *life)
{
	uint32_t	most = WS_BREAK_EVEN_DEFAULT * WS_TICKS_PER_SECOND;

	return life->break_even < most ? life->break_even : most;
}

static double
step_ticks(const WsLife *life)
{
	return (double) short_ticks(life) / WS_LIFE_BINS;
}

/* Of the ticks beyond the 15 minutes, the share that is before a class. */
static double
share_before(int class)
{
	return pow((double) class / WS_LIFE_CLASSES, 4);
}

static void
set_bins(WsLife *life)
{
	double		beyond = life->break_even - short_ticks(life);

	for (int c = 0; c < WS_LIFE_CLASSES; c++)
	{
		double		wider = beyond * (share_before(c + 1) - share_before(c)) / WS_LIFE_BINS_PER_CLASS;

		life->table.bin_steps[c] = 1 + wider / step_ticks(life);
		for (int i = 0; i < WS_LIFE_BINS_PER_CLASS; i++)
		{
			int			bin = c * WS_LIFE_BINS_PER_CLASS + i;

			/* a whole number of ticks stays one, whatever is rounded */
			life->bin[bin] = (uint32_t) ceil((double) bin * short_ticks(life) / WS_LIFE_BINS +
											 beyond * share_before(c) + i * wider - 1e-6);
		}
	}
	life->bin[WS_LIFE_BINS] = life->break_even;
}

/* The bin of an idle time below the break-even time. */
static int
bin_of(const WsLife *life, uint32_t idle)
{
	int			bin = 0;
	int			next = WS_LIFE_BINS;

	while (next - bin > 1)
	{
		int			middle = (bin + next) / 2;

		if (idle < life->bin[middle])
			next = middle;
		else
			bin = middle;
	}
	return bin;
}

void
ws_life_init(WsLife *life, uint32_t nitems, int break_even, int hold)
{
	memset(life, 0, ws_life_size(nitems));
	life->nitems = nitems;
	life->break_even = (uint32_t) break_even * WS_TICKS_PER_SECOND;
	life->hold = (uint32_t) (hold < break_even / 3 ? hold : break_even / 3) * WS_TICKS_PER_SECOND;
	set_bins(life);
}

bool
ws_life_due(const WsLife *life, uint32_t now)
{
	return life->stepped == 0 || now >= life->stepped + step_ticks(life);
}

void
ws_life_set_shift(WsLife *life, uint32_t shift)
{
	WsLifeTable *t = &life->table;
	double		factor = shift > life->shift ? ldexp(1, (int) life->shift - (int) shift) : 1;

	for (int g = 0; g < WS_LIFE_GROUPS; g++)
		for (int c = 0; c < WS_LIFE_CLASSES; c++)
		{
			t->at_risk[g][c] *= factor;
			t->returned[g][c] *= factor;
		}
	t->marked *= factor;
	t->came_back *= factor;
	life->shift = shift;
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

/* Count an item that was at risk when the last step ended, since then. */
static void
count_risk(WsLife *life, const WsLifeItem *item, bool used, uint32_t now)
{
	uint32_t	idle = idle_at(item, life->stepped);
	uint32_t	ticks = now > life->stepped ? now - life->stepped : 0;
	int			class;

	/* a use ahead of the step that reports it was at risk in no step */
	if (item->reported != (uint16_t) (life->steps - 1) || item->last > life->stepped ||
		idle >= life->break_even)
		return;
	class = bin_of(life, idle) / WS_LIFE_BINS_PER_CLASS;
	life->at_risk[item->group][class] += ticks / (step_ticks(life) * life->table.bin_steps[class]);
	life->returned[item->group][class] += used;
}

/* A page is used, which may change its group. */
static void
use(WsLife *life, WsLifeItem *item, uint32_t last, uint32_t before, bool scanned)
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
		uint32_t	known = last - item->born;

		if (known >= USE_TICKS && known < life->break_even && item->group < WS_LIFE_LONG)
			item->group = WS_LIFE_AGAIN;
		else if (known >= USE_TICKS)
		{
			item->group = WS_LIFE_GROUPS - 1 - (last - item->last) * WS_LIFE_GAPS / (life->break_even + 1);
			item->born = last;
		}
	}
	else if (before != 0 && last - before <= life->break_even)
	{
		item->group = WS_LIFE_AGAIN;
		item->born = before;
	}
	else
	{
		item->group = scanned ? WS_LIFE_SCANNED : WS_LIFE_ONCE;
		item->born = last;
	}
	item->last = last;
}

void
ws_life_item(WsLife *life, uint32_t i, uint32_t last, uint32_t before, bool scanned, uint32_t now)
{
	WsLifeTable *t = &life->table;
	WsLifeItem *item = &life->items[i];
	bool		used = last > item->last;
	uint32_t	idle;

	if (item->last != 0)
		count_risk(life, item, used, now);
	item->reported = (uint16_t) life->steps;
	if (used)
		use(life, item, last, item->last == 0 ? before : 0, scanned);
	idle = idle_at(item, now);
	if (item->marked && !item->given_up && idle >= life->hold)
	{
		item->given_up = 1;
		t->marked++;
	}
	if (item->last == 0 || idle >= life->break_even)
		return;
	t->population[item->group][bin_of(life, idle)]++;
	if (item->group <= WS_LIFE_ONCE || idle >= life->hold)
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

/*
 * The share that is left after so many ticks of old counts about idle times
 * from an age on.
 */
static double
remembered(const WsLife *life, double ticks, double memory, uint32_t age)
{
	return exp(-ticks / (memory * fmin(short_ticks(life) + MEMORY_AGES * (double) age, life->break_even)));
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
			double		gap = g < WS_LIFE_LONG ? 0 : (double) (WS_LIFE_GROUPS - 1 - g) / WS_LIFE_GAPS;
			double		left = remembered(life, ticks, MEMORY + gap + MEMORY_FOR_AGE * (c + 0.5) / WS_LIFE_CLASSES,
										  life->bin[c * WS_LIFE_BINS_PER_CLASS]);

			t->at_risk[g][c] = left * t->at_risk[g][c] + life->at_risk[g][c];
			t->returned[g][c] = left * t->returned[g][c] + life->returned[g][c];
		}
	t->marked *= remembered(life, ticks, MEMORY_OF_MARKED, 0);
	t->came_back *= remembered(life, ticks, MEMORY_OF_MARKED, 0);
	life->stepped = now;
}

void
ws_life_forget(WsLife *life, uint32_t item)
{
	memset(&life->items[item], 0, sizeof(WsLifeItem));
}
