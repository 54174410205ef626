/*
 * verdict.c
 *		One size of shared_buffers; see verdict.h.
 */
#include "verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MB				1048576.0

#define BACKEND			(2 * MB)	/* an idle process */
#define RESERVED_MOST	0.5		/* for processes, as a share of the memory */
#define SHARED_MOST		0.75	/* shared buffers, as a share of the caches */
#define EFFECTIVE_MOST	0.75	/* effective_cache_size, of the memory */

#define LIKE_ALWAYS		10		/* looks at a client that waits */
#define NONE_SEEN		3.0		/* looks of which none may find any, 95 % */
#define SLOW_READ		0.001	/* seconds: a weighed read takes no longer, if
								 * nobody was seen waiting */
#define READS_SHARE		0.2		/* of query time, if nobody was active */
#define BUSY			0.1		/* of the average activity */
#define KNOWN			0.9		/* of the active time: the size is known */

#define SAME_SIZE		0.03	/* by logarithm */
#define LESS			(7 / 8.0)	/* of the present size: to shrink */
#define STAYS			0.75	/* of the worth: a verdict lasts */
#define NEARLY			1.25	/* times the loss that is allowed */
#define NOT_MUCH_LARGER 1.35
#define RISEN			1.1		/* times the target */
#define GROWS_BY		1.25	/* times the present size, at least */
#define SETTLES			(7 * 86400) /* seconds after a change */
#define URGENT			5		/* times the worth, before that is over */
#define QUARTERS		4		/* of a day, in which growing pays */
#define QUARTERS_STAY	2
#define HISTORY			(6.9 * 86400)	/* seconds to shrink: restarts leave
										 * gaps */

#define HALF			0.5		/* of the gain that is enough for a mention */
#define MUCH_SMALLER	0.65
#define LITTLE			0.001	/* of query time: not worth a mention */

#define JOB_GAIN		0.2
#define JOB_DAYS		3

#define SIZES			(WS_COST_SIZES + 1)

/*
 * Sizes to decide between, ascending, in bytes, with their shares of the week.
 */
typedef struct Candidates
{
	int			n;
	double		size[SIZES];
	double		share[SIZES];	/* NaN: not known */
} Candidates;

/*
 * What a weighed read usually takes, in seconds.  If nobody was seen waiting,
 * no more than three looks of all.
 */
static double
usual_time(double waiting, double reads)
{
	return waiting > 0 ? waiting / fmax(reads, 1e-9) : fmin(NONE_SEEN / fmax(reads, 1e-9), SLOW_READ);
}

/*
 * Set what a weighed read took in each quarter: few looks are chance, so there
 * are more of what is usual, in the week or before.  In the week all of them
 * take as long as clients were seen waiting.
 */
static void
set_times(WsQueryTime *t)
{
	double		waiting[2][2] = {{0}};	/* in the week or before, by kind of
										 * weights */
	double		reads[2][2] = {{0}};
	double		taken[2] = {0};

	for (int i = 0; i < t->n; i++)
	{
		waiting[i < t->week][t->row[i]->tiers] += t->row[i]->waiting;
		reads[i < t->week][t->row[i]->tiers] += t->row[i]->reads;
	}
	for (int i = 0; i < t->n; i++)
	{
		const WsCostRow *row = t->row[i];
		int			before = i < t->week;
		double		usual = usual_time(waiting[before][row->tiers], reads[before][row->tiers]);

		t->each[i] = waiting[before][row->tiers] > 0 ?
			(row->waiting + LIKE_ALWAYS) / (row->reads + LIKE_ALWAYS / usual) : usual;
		taken[row->tiers] += before ? 0 : t->each[i] * row->reads;
	}
	for (int i = t->week; i < t->n; i++)
		if (waiting[0][t->row[i]->tiers] > 0 && taken[t->row[i]->tiers] > 0)
			t->each[i] *= waiting[0][t->row[i]->tiers] / taken[t->row[i]->tiers];
}

/* Find the rows; fills in what reads took at the present size. */
void
ws_query_time(WsQueryTime *t, const WsVerdictFacts *f)
{
	int64_t		last = f->now / WS_COST_QUARTER;
	double		buffers = f->shared_buffers / f->buffer;
	double		active = 0;
	double		reads = 0;
	double		now = 0;
	double		known = 0;

	memset(t, 0, offsetof(WsQueryTime, row));
	t->facts = f;
	t->week_active = t->week_waiting = 0;
	for (int64_t i = last - WS_COST_QUARTERS + 1; i <= last; i++)
	{
		const WsCostRow *row = ws_cost_row(f->costs, i);

		if (i == last - WS_COST_WEEK + 1)
			t->week = t->n;
		if (row == NULL)
			continue;
		t->row[t->n] = row;
		t->n++;
		if (fabs(log(row->buffers / buffers)) > SAME_SIZE)
			t->changed = i;
		active += row->active;
		reads += row->reads;
		t->timed |= i > last - WS_COST_WEEK && row->active > 0;
	}
	set_times(t);
	t->least_active = t->n > 0 ? BUSY * (t->timed ? active : reads / READS_SHARE) / t->n : 0;
	for (int i = 0; i < t->n; i++)
	{
		const WsCostRow *row = t->row[i];

		t->active[i] = row->active;
		if (!t->timed)
		{
			t->each[i] = 1;
			t->active[i] = row->reads / READS_SHARE;
		}
		t->now[i] = t->each[i] * ws_cost_at(row, buffers);
		if (i < t->week)
			continue;
		t->week_active += t->active[i];
		t->week_waiting += row->waiting;
		if (isnan(t->now[i]))
			continue;
		now += t->now[i];
		known += t->active[i];
	}
	t->week_share = known > 0 && known >= KNOWN * t->week_active ? fmin(now / known, 1) : NAN;
}

/* By how much a quarter's share is larger with another size; NaN: not known. */
static double
loss(const WsQueryTime *t, int i, double buffers)
{
	return (t->each[i] * ws_cost_at(t->row[i], buffers) - t->now[i]) / t->active[i];
}

/* The week's share, by what changes from the present size. */
static double
week_share(const WsQueryTime *t, double bytes)
{
	double		buffers = bytes / t->facts->buffer;
	double		known = 0;
	double		more = 0;

	for (int i = t->week; i < t->n; i++)
	{
		double		other = t->each[i] * ws_cost_at(t->row[i], buffers) - t->now[i];

		if (isnan(other))
			continue;
		known += t->active[i];
		more += other;
	}
	if (!(known > 0) || known < KNOWN * t->week_active)
		return NAN;
	return fmin(fmax(t->week_share + more / known, 0), 1);
}

static bool
counts(const WsQueryTime *t, int i)
{
	return t->active[i] > 0 && t->active[i] >= t->least_active;
}

WsShares
ws_query_time_shares(const WsQueryTime *t, double bytes)
{
	WsShares	s = {.week = week_share(t, bytes), .loss = NAN};
	double		buffers = bytes / t->facts->buffer;

	for (int i = 0; i < t->n; i++)
		if (counts(t, i))
		{
			double		lost = loss(t, i, buffers);

			if (isnan(lost))
			{
				/* nobody knows how bad the worst is */
				s.loss = NAN;
				return s;
			}
			s.loss = fmax(s.loss, fmin(fmax(lost, -1), 1));
		}
	return s;
}

/* Whole MB, and about 1.5 % up: a size is not right by the page. */
static double
whole_mb(double bytes)
{
	double		unit = MB;

	while (bytes > 128 * unit)
		unit *= 2;
	return ceil(bytes / unit) * unit;
}

static void
set_memory(const WsVerdictFacts *f, WsDecision *d)
{
	double		processes = f->connections * (BACKEND + f->work_mem) + f->maintenance;

	d->affordable = INFINITY;
	if (f->memory <= 0)
		return;
	d->cacheable = f->memory - fmin(processes, RESERVED_MOST * f->memory);
	d->affordable = fmax(floor(SHARED_MOST * d->cacheable / MB), 1) * MB;
	d->effective = fmax(floor(fmin(d->cacheable, EFFECTIVE_MOST * f->memory) / MB), 1) * MB;
}

static void
add_candidate(Candidates *c, const WsQueryTime *t, double bytes)
{
	c->size[c->n] = bytes;
	c->share[c->n++] = week_share(t, bytes);
}

/* Sizes from the least that is suggested on, with the present one. */
static void
list_candidates(const WsQueryTime *t, double affordable, Candidates *c)
{
	const WsVerdictFacts *f = t->facts;
	double		least = fmin(WS_SUGGESTED_LEAST, affordable);
	bool		present = false;

	c->n = 0;
	for (int i = 0; i < WS_COST_SIZES; i++)
	{
		double		bytes = whole_mb(ws_cost_buffers(i) * f->buffer);

		if (!present && f->shared_buffers < bytes * exp(SAME_SIZE))
		{
			add_candidate(c, t, f->shared_buffers);
			present = true;
		}
		if (bytes >= least && fabs(log(bytes / f->shared_buffers)) > SAME_SIZE)
			add_candidate(c, t, bytes);
	}
}

/* The candidate of the least share up to "most", or beyond it; -1: none. */
static int
find_best(const Candidates *c, double most, bool beyond)
{
	int			best = -1;

	for (int i = 0; i < c->n; i++)
		if ((c->size[i] > most) == beyond && !isnan(c->share[i]) &&
			(best < 0 || c->share[i] < c->share[best]))
			best = i;
	return best;
}

/* The smallest candidate of at most that share; there is one. */
static int
find_good(const Candidates *c, double share)
{
	int			i = 0;

	while (!(c->share[i] <= share))
		i++;
	return i;
}

/* Would a quarter save "worth" by a change from some buffers to others? */
static bool
gains(const WsQueryTime *t, int i, double from, double to, double worth)
{
	return counts(t, i) && loss(t, i, from) - loss(t, i, to) >= worth;
}

/* The most quarters of a day that would. */
static int
quarters_of_gain(const WsQueryTime *t, double from, double to, double worth)
{
	int			first = t->week;
	int			n = 0;
	int			most = 0;

	for (int i = t->week; i < t->n; i++)
	{
		for (; t->row[first]->number <= t->row[i]->number - WS_COST_DAY; first++)
			n -= gains(t, first, from, to, worth);
		n += gains(t, i, from, to, worth);
		most = n > most ? n : most;
	}
	return most;
}

/* Seconds until a week has passed since the setting was changed, or 0. */
static double
settles(const WsQueryTime *t)
{
	int64_t		ago = t->facts->now - (t->changed + 1) * WS_COST_QUARTER;

	return t->changed > 0 && ago < SETTLES ? (double) (SETTLES - ago) : 0;
}

/* Would the change from one size and its share to another pay a restart? */
static bool
pays(const WsQueryTime *t, double from_bytes, double from, double to_bytes, double to, bool lasts)
{
	double		buffer = t->facts->buffer;
	double		worth = t->facts->worth * (lasts ? STAYS : settles(t) > 0 ? URGENT : 1);

	/* nobody who was seen waiting saves nothing */
	return (!t->timed || t->week_waiting > 0) && from - to >= worth &&
		quarters_of_gain(t, from_bytes / buffer, to_bytes / buffer, worth) >= (lasts ? QUARTERS_STAY : QUARTERS);
}

/*
 * Look at a part of the day, a quarter of an hour, on the last seven days: how
 * much of its time would the best size save on so many of them?
 */
static void
look_for_job(const WsQueryTime *t, const Candidates *c, int best, int quarter, WsJob *job, double *most)
{
	double		active = 0;
	double		now = 0;
	double		least = 0;
	double		buffers = c->size[best] / t->facts->buffer;
	int			days = 0;

	for (int i = t->week; i < t->n; i++)
		if (t->row[i]->number % WS_COST_DAY == quarter && counts(t, i) && -loss(t, i, buffers) >= JOB_GAIN)
		{
			days++;
			active += t->active[i];
			now += t->now[i];
			least += t->now[i] + loss(t, i, buffers) * t->active[i];
		}
	if (days < JOB_DAYS || now - least <= *most)
		return;
	*most = now - least;
	job->quarter = quarter;
	job->gain = fmin((now - least) / active, 1);
	for (int k = 0; k <= best; k++)
	{
		double		cost = 0;

		for (int i = t->week; i < t->n; i++)
			if (t->row[i]->number % WS_COST_DAY == quarter && counts(t, i) && -loss(t, i, buffers) >= JOB_GAIN)
				cost += t->now[i] + loss(t, i, c->size[k] / t->facts->buffer) * t->active[i];
		if (cost - least <= t->facts->worth / 2 * active)
		{
			job->size = c->size[k];
			return;
		}
	}
}

static void
find_job(const WsQueryTime *t, const Candidates *c, int best, WsDecision *d)
{
	double		most = 0;

	for (int quarter = 0; quarter < WS_COST_DAY; quarter++)
		look_for_job(t, c, best, quarter, &d->job, &most);
	/* what is suggested, or there is, may do */
	if (d->job.size <= fmax(d->size, t->facts->shared_buffers))
		d->job.size = 0;
}

/* The smallest size that no quarter loses by; 0: none. */
static double
find_smaller(const WsQueryTime *t, const Candidates *c, int target, const WsSteady *steady)
{
	double		allowed = t->facts->worth / 2;

	for (int i = target; i < c->n && c->size[i] <= LESS * t->facts->shared_buffers; i++)
	{
		bool		lasts = steady->verdict == WS_VERDICT_SHRINK && c->size[i] == steady->size;

		if (ws_query_time_shares(t, c->size[i]).loss <= allowed * (lasts ? NEARLY : 1))
			return c->size[i];
	}
	return 0;
}

/* Has the target risen within the hour? */
static bool
is_rising(const WsVerdictFacts *f, double target, WsSteady *steady)
{
	int64_t		hour = f->now / 3600;

	if (steady->hour != hour)
	{
		steady->before = steady->hour == 0 ? target : steady->target;
		steady->target = target;
		steady->hour = hour;
	}
	steady->target = fmax(steady->target, target);
	return target > RISEN * steady->before;
}

/* A size that was suggested stays while it is nearly as good as the target. */
static double
stays(const WsQueryTime *t, const WsSteady *steady, double target, double allowed)
{
	if (isnan(week_share(t, steady->size)))
		return target;
	if (steady->size >= target && steady->size <= NOT_MUCH_LARGER * target)
		return steady->size;
	if (steady->size * NOT_MUCH_LARGER >= target && steady->size < target && week_share(t, steady->size) <= allowed)
		return steady->size;
	return target;
}

/* One other size, and only with what it saves or costs. */
static void
set_other(const WsQueryTime *t, const Candidates *c, int best, int beyond, WsDecision *d)
{
	double		now = t->facts->shared_buffers;
	double		gain = d->present.week - d->suggested.week;
	int			other = -1;

	/* what nobody was seen waiting for is known as an upper bound only */
	if (t->timed && t->week_waiting == 0)
		return;
	switch (d->verdict)
	{
		case WS_VERDICT_GROW:
			for (int i = 0; i < c->n && c->size[i] <= MUCH_SMALLER * d->size && other < 0; i++)
				if (c->size[i] > now && d->present.week - c->share[i] >= HALF * gain)
					other = i;
			break;
		case WS_VERDICT_EXCEEDS_MEMORY:
			if (beyond >= 0 && c->share[best] - c->share[beyond] > LITTLE)
				other = find_good(c, c->share[beyond] + fmin(t->facts->worth / 2, (c->share[best] - c->share[beyond]) / 4));
			break;
		case WS_VERDICT_KEEP:
			if (c->size[best] > now && d->present.week - c->share[best] > LITTLE)
				other = find_good(c, c->share[best] + (d->present.week - c->share[best]) / 4);
			else if (beyond >= 0 && c->size[beyond] > now && d->present.week - c->share[beyond] > LITTLE)
				other = find_good(c, c->share[beyond] + (d->present.week - c->share[beyond]) / 4);
			break;
		default:
			break;
	}
	if (other < 0 || c->size[other] == now || c->size[other] == d->size)
		return;
	d->other = c->size[other];
	d->other_share = c->share[other];
}

/* The largest size that is known in each quarter of the week that counts. */
static double
simulated(const WsQueryTime *t)
{
	double		most = INFINITY;

	for (int i = t->week; i < t->n; i++)
		if (counts(t, i))
			most = fmin(most, ws_cost_most(t->row[i]) * t->facts->buffer);
	return most;
}

WsDecision
ws_decide(const WsQueryTime *t, WsSteady *steady)
{
	const WsVerdictFacts *f = t->facts;
	WsDecision	d = {.verdict = WS_VERDICT_KEEP, .size = f->shared_buffers};
	Candidates	c;
	int			best;
	int			beyond;
	int			target;
	double		enough;
	bool		affordable;
	bool		rising;
	double		smaller;

	set_memory(f, &d);
	d.history = (t->n - t->week) * (double) WS_COST_QUARTER;
	d.active = t->week_active;
	d.waiting = t->week_waiting;
	d.timed = t->timed;
	d.simulated = simulated(t);
	d.present = ws_query_time_shares(t, f->shared_buffers);
	d.suggested = d.present;
	d.other_share = NAN;
	affordable = f->shared_buffers <= d.affordable * exp(SAME_SIZE);
	list_candidates(t, d.affordable, &c);
	best = find_best(&c, fmax(d.affordable, affordable ? f->shared_buffers : 0), false);
	beyond = find_best(&c, fmax(d.affordable, affordable ? f->shared_buffers : 0), true);
	if (isnan(t->week_share) || best < 0)
	{
		if (!affordable)
			d.verdict = WS_VERDICT_EXCEEDS_MEMORY, d.size = d.affordable;
		*steady = (WsSteady)
		{
			0
		};
		return d;
	}
	enough = c.share[best] + f->worth / 2;
	target = find_good(&c, enough);
	rising = is_rising(f, c.size[target], steady);
	smaller = t->n * (double) WS_COST_QUARTER >= HISTORY ? find_smaller(t, &c, target, steady) : 0;

	if (!affordable)
	{
		/* how much less is for shrink to say, after a week with that */
		d.verdict = WS_VERDICT_EXCEEDS_MEMORY;
		d.size = d.affordable;
	}
	else if (beyond >= 0 && pays(t, c.size[best], c.share[best], c.size[beyond], c.share[beyond],
								 steady->verdict == WS_VERDICT_EXCEEDS_MEMORY))
	{
		d.verdict = WS_VERDICT_EXCEEDS_MEMORY;
		d.size = fmax(c.size[target], f->shared_buffers);
	}
	else if (c.size[target] > f->shared_buffers &&
			 pays(t, f->shared_buffers, t->week_share, c.size[best], c.share[best], steady->verdict == WS_VERDICT_GROW))
	{
		d.verdict = WS_VERDICT_GROW;
		d.size = fmin(fmax(c.size[target], whole_mb(GROWS_BY * f->shared_buffers)), d.affordable);
		/* no size of which nothing is known */
		if (isnan(week_share(t, d.size)))
			d.size = c.size[target];
	}
	else if (settles(t) > 0)
		d.settles = smaller > 0 || (c.size[target] > f->shared_buffers && t->week_share - c.share[best] >= f->worth) ?
			settles(t) : 0;
	else if (smaller > 0 && !rising)
	{
		d.verdict = WS_VERDICT_SHRINK;
		d.size = smaller;
	}
	d.rising = rising && affordable && d.size > f->shared_buffers;
	/* (find_smaller() has a dead band of its own) */
	if (d.verdict == steady->verdict && d.verdict != WS_VERDICT_KEEP && d.verdict != WS_VERDICT_SHRINK && d.size != f->shared_buffers &&
		steady->size <= d.affordable)
		d.size = stays(t, steady, d.size, c.share[best] + NEARLY * f->worth / 2);
	steady->verdict = d.verdict;
	steady->size = d.size;
	if (d.size != f->shared_buffers)
		d.suggested = ws_query_time_shares(t, d.size);
	set_other(t, &c, best, beyond, &d);
	find_job(t, &c, best, &d);
	return d;
}

const char *const ws_verdict_names[] = {NULL, "grow", "shrink", "keep", "exceeds memory"};

void
ws_format_setting(double bytes, char *buf, size_t size)
{
	if (fmod(bytes, MB) == 0)
		snprintf(buf, size, "%.0fMB", bytes / MB);
	else
		snprintf(buf, size, "%.0fkB", bytes / 1024);
}
