/*
 * sampler.c
 *		The table of sampled pages; see sampler.h.
 */
#include "sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sketch.h"

_Static_assert(sizeof(WsPageId) == 20, "pages are compared as bytes");

/*
 * The reader's share of a processor.  The shift rises only when the reader has
 * taken DEBT_LIMIT more, so a burst such as the filling of a cache passes: a
 * stratum that is given up has a history again only minutes later.  Few events
 * are never too many, because other processes may have the processor.
 */
#define BUSY_LIMIT		0.005	/* of a processor */
#define DEBT_LIMIT		0.03	/* processor seconds */
#define FEW_EVENTS		4000.0	/* a second */

/*
 * What the clients pay.  An event takes some half a microsecond, so FEW_EVENTS
 * take 0.2 % of a processor.  A hit on a sampled page that need not be reported
 * takes some 20 instructions more than on another.  If there are more of either
 * a second, half of the pages are enough as long as ENOUGH_PAGES remain: of a
 * relation that has a twentieth of so many, the standard error is a tenth.
 * With fewer pages, one in 2^FREE_SHIFT may always be sampled, and more while
 * there are fewer hits.
 */
#define FREE_SHIFT		4
#define FREE_LOOKS		20000.0
#define ENOUGH_PAGES	2048.0

/* The shift falls if less of the table is used, and so much more load fits. */
#define FILLED_LOW		0.4
#define MARGIN			2

/*
 * A part's excess over its limit is by chance if it is below so many standard
 * errors, and if so many of its pages are sampled when all are used: a sampled
 * page of a small part stands for others of its kind, which are not sampled.
 * So are fewer sampled pages in shared buffers than expected.
 */
#define CHANCE_ERRORS	3
#define CHANCE_PAGES	16

#define PRIOR_PAGES		16		/* added as if sampled exactly at the rate */

/* Seconds since the last change from which on the shift may rise, or fall. */
#define RISE_SECONDS	1.0
#define FALL_SECONDS	60.0
#define LOAD_SECONDS	10.0	/* over which loads are averaged */

/*
 * The reader reads the stream ten times a second, or less often if it waits
 * for a processor.  If more than FLOOD_PART of the stream fills in that time,
 * the shift rises at once, by FLOOD_STEPS at most.
 */
#define FLOOD_TURNS		10.0
#define FLOOD_PART		0.25
#define FLOOD_STEPS		3

/* Thinning frees one part in THIN_PART; one page in 2^LASTING_MOST lasts. */
#define THIN_PART		8
#define LASTING_MOST	3

#define BRIEF_TICKS		(1200 * WS_TICKS_PER_SECOND)	/* at first */
#define READ_TICKS		(150.0 * WS_TICKS_PER_SECOND)
#define MOST_TICKS		(WS_SAMPLE_SECONDS_MAX * WS_TICKS_PER_SECOND)

/* The head of the bucket of a hash. */
static uint32_t *
bucket(const WsSampler *sampler, uint32_t hash)
{
	return (uint32_t *) &sampler->samples[sampler->capacity] +
		ws_hash_bucket(hash, sampler->buckets);
}

size_t
ws_sampler_size(uint32_t capacity)
{
	return offsetof(WsSampler, samples) + capacity * sizeof(WsSample) +
		ws_hash_buckets(capacity) * sizeof(uint32_t);
}

void
ws_sampler_init(WsSampler *sampler, uint32_t capacity, uint32_t log2m,
				uint32_t shift, uint32_t tick)
{
	uint32_t   *heads = (uint32_t *) &sampler->samples[capacity];

	/* processes read what is fixed without the lock, also of a table in use */
	memset((char *) sampler + offsetof(WsSampler, shift), 0,
		   ws_sampler_size(capacity) - offsetof(WsSampler, shift));
	sampler->capacity = capacity;
	sampler->buckets = ws_hash_buckets(capacity);
	sampler->log2m = log2m;
	sampler->shift = sampler->lasting = shift;
	sampler->brief = BRIEF_TICKS;
	sampler->aged_at = tick;
	for (int i = 0; i < WS_STRATA; i++)
		sampler->admitted[i] = sampler->kept[i] = tick;
	for (uint32_t i = 0; i < capacity; i++)
		sampler->samples[i].next = i + 1 < capacity ? i + 1 : WS_NO_SAMPLE;
	for (uint32_t i = 0; i < sampler->buckets; i++)
		heads[i] = WS_NO_SAMPLE;
}

uint32_t
ws_sampler_find(const WsSampler *sampler, const WsPageId *page, uint32_t hash)
{
	uint32_t	entry = *bucket(sampler, hash);

	while (entry != WS_NO_SAMPLE &&
		   (sampler->samples[entry].hash != hash ||
			memcmp(&sampler->samples[entry].page, page, sizeof(*page)) != 0))
		entry = sampler->samples[entry].next;
	return entry;
}

uint32_t
ws_sampler_enter(WsSampler *sampler, const WsPageId *page, uint32_t hash, uint32_t tick)
{
	uint32_t	entry = sampler->free;
	uint32_t   *head = bucket(sampler, hash);
	WsSample   *sample;

	if (sampler->count == sampler->capacity ||
		ws_hash_stratum(hash, sampler->log2m) < sampler->shift)
		return WS_NO_SAMPLE;
	sample = &sampler->samples[entry];
	sampler->free = sample->next;
	sampler->count++;
	*sample = (WsSample)
	{
		.page = *page, .hash = hash, .touched = tick, .next = *head
	};
	*head = entry;
	return entry;
}

void
ws_sampler_touch(WsSampler *sampler, uint32_t entry, uint32_t tick, bool client)
{
	WsSample   *sample = &sampler->samples[entry];

	/* events of different processes are slightly out of order */
	if (tick > sample->touched)
		sample->touched = tick;
	if (!client)
		return;
	if (sample->use == 0 || tick >= sample->use + WS_USE_TICKS)
	{
		sample->before = sample->last;
		sample->use = tick;
	}
	if (tick > sample->last)
		sample->last = tick;
}

void
ws_sampler_hold(WsSampler *sampler, uint32_t entry, uint32_t tick, bool scan)
{
	WsSample   *sample = &sampler->samples[entry];
	uint32_t   *when = scan ? &sample->scanned : &sample->held;

	if (tick > *when)
		*when = tick;
}

static void
weigh_reads(WsSampler *sampler, float weight)
{
	for (uint32_t i = 0; i < sampler->capacity; i++)
		sampler->samples[i].reads *= weight;
}

void
ws_sampler_begin_reads(WsSampler *sampler, uint32_t tick)
{
	weigh_reads(sampler, 0);
	sampler->aged = 0;
	sampler->aged_at = tick;
}

static double
read_ticks(const WsSampler *sampler, uint32_t now)
{
	return sampler->aged + (now > sampler->aged_at ? now - sampler->aged_at : 0);
}

void
ws_sampler_age_reads(WsSampler *sampler, uint32_t tick)
{
	double		ticks = read_ticks(sampler, tick);
	float		weight = (float) exp((sampler->aged - ticks) / READ_TICKS);

	weigh_reads(sampler, weight);
	sampler->aged = weight * (float) ticks;
	sampler->aged_at = tick;
}

double
ws_sampler_read_seconds(const WsSampler *sampler, uint32_t now)
{
	return read_ticks(sampler, now) / WS_TICKS_PER_SECOND;
}

void
ws_sampler_die(WsSampler *sampler, uint32_t entry)
{
	WsSample   *sample = &sampler->samples[entry];

	sample->dead = 1;
	sample->resident = 0;
	sample->held = sample->scanned = 0;
}

void
ws_sampler_evict(WsSampler *sampler, uint32_t entry, WsEvicted evicted)
{
	WsSample   *sample = &sampler->samples[entry];
	uint32_t   *head = bucket(sampler, sample->hash);
	uint32_t	previous = *head;

	while (previous != entry && sampler->samples[previous].next != entry)
		previous = sampler->samples[previous].next;
	if (previous == entry)
		*head = sample->next;
	else
		sampler->samples[previous].next = sample->next;
	memset(sample, 0, sizeof(*sample));
	sample->next = sampler->free;
	sampler->free = entry;
	sampler->count--;
	if (evicted)
		evicted(entry);
}

static uint32_t
stratum_of(const WsSampler *sampler, uint32_t entry)
{
	return ws_hash_stratum(sampler->samples[entry].hash, sampler->log2m);
}

/* Is the entry's page, if any, untouched for more than so many ticks? */
static bool
idle_for(const WsSampler *sampler, uint32_t entry, uint32_t tick, uint32_t ticks)
{
	uint32_t	touched = sampler->samples[entry].touched;

	return touched != 0 && touched < tick && tick - touched > ticks;
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* For how long pages of strata that last are kept, in ticks. */
static uint32_t
long_ticks(const WsSampler *sampler)
{
	return larger(WS_SAMPLE_SECONDS * WS_TICKS_PER_SECOND, sampler->brief);
}

uint32_t
ws_sampler_expire(WsSampler *sampler, uint32_t tick, WsEvicted evicted)
{
	uint32_t	before = sampler->count;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (idle_for(sampler, i, tick, sampler->brief) &&
			(stratum_of(sampler, i) < sampler->lasting || idle_for(sampler, i, tick, long_ticks(sampler))))
			ws_sampler_evict(sampler, i, evicted);
	return before - sampler->count;
}

uint32_t
ws_sampler_evict_before(WsSampler *sampler, uint32_t floor, uint32_t tick, WsEvicted evicted)
{
	uint32_t	before = sampler->count;
	double		low = FILLED_LOW * sampler->capacity;
	uint32_t	used = 0;

	if (before < low || tick < floor || tick - floor < FALL_SECONDS * WS_TICKS_PER_SECOND)
		return 0;
	for (uint32_t i = 0; i < sampler->capacity; i++)
		used += sampler->samples[i].touched >= floor;
	if (used >= low)
		return 0;
	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 && sampler->samples[i].touched < floor &&
			!sampler->samples[i].resident)
			ws_sampler_evict(sampler, i, evicted);
	return before - sampler->count;
}

/* The tick since which pages have been kept that are kept for so many ticks. */
static uint32_t
since(uint32_t ticks, uint32_t tick)
{
	return tick > ticks ? tick - ticks : 0;
}

void
ws_sampler_set_brief(WsSampler *sampler, uint32_t ticks, uint32_t tick)
{
	/* a longer time comes too late for the pages that were evicted */
	for (uint32_t i = 0; i < WS_STRATA && ticks > sampler->brief; i++)
	{
		if (ticks > long_ticks(sampler))
			sampler->kept[i] = larger(sampler->kept[i], since(long_ticks(sampler), tick));
		sampler->admitted[i] = larger(sampler->admitted[i], i < sampler->lasting ?
									  since(sampler->brief, tick) : sampler->kept[i]);
	}
	sampler->brief = ticks < MOST_TICKS ? ticks : MOST_TICKS;
}

bool
ws_sampler_thin(WsSampler *sampler, uint32_t tick, WsEvicted evicted)
{
	uint32_t	goal = sampler->capacity / THIN_PART;
	uint32_t	freed = ws_sampler_expire(sampler, tick, evicted);
	uint32_t	most = (uint32_t) fmin(sampler->shift + LASTING_MOST, WS_STRATA - 1);
	uint32_t	old = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		old += idle_for(sampler, i, tick, sampler->brief) && stratum_of(sampler, i) < most;
	if (freed + old < goal)
		return false;
	for (; freed < goal; freed += ws_sampler_expire(sampler, tick, evicted))
		sampler->lasting++;		/* to "most" at most */
	return true;
}

/* One more stratum lasts, of which so far only the recent pages were kept. */
static void
lower_lasting(WsSampler *sampler, uint32_t tick)
{
	uint32_t	stratum = --sampler->lasting;

	sampler->kept[stratum] = larger(since(sampler->brief, tick), sampler->admitted[stratum]);
}

bool
ws_sampler_widen(WsSampler *sampler, uint32_t tick)
{
	if (sampler->lasting == sampler->shift ||
		sampler->count >= FILLED_LOW * sampler->capacity)
		return false;
	lower_lasting(sampler, tick);
	return true;
}

void
ws_sampler_set_shift(WsSampler *sampler, uint32_t shift, uint32_t tick, WsEvicted evicted)
{
	for (uint32_t i = shift; i < sampler->shift; i++)
		sampler->admitted[i] = tick;
	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 && stratum_of(sampler, i) < shift)
			ws_sampler_evict(sampler, i, evicted);
	if (shift < sampler->shift)
		lower_lasting(sampler, tick);
	sampler->shift = shift;
	sampler->lasting = larger(sampler->lasting, shift);
}

uint32_t
ws_sampler_mature_shift(const WsSampler *sampler, uint32_t now, uint32_t ticks, uint32_t floor)
{
	uint32_t	start = now > ticks && now - ticks > floor ? now - ticks : floor;
	bool		brief = now < start || now - start <= sampler->brief;
	uint32_t	lowest = brief ? sampler->shift : sampler->lasting;
	uint32_t	mature = WS_STRATA;

	/* the higher a stratum, the longer it has been admitted, and has lasted */
	while (mature > lowest && sampler->admitted[mature - 1] <= start &&
		   (brief || sampler->kept[mature - 1] <= start))
		mature--;
	return mature < WS_STRATA ? mature : lowest;
}

uint32_t
ws_sampler_known(const WsSampler *sampler, uint32_t now, uint32_t ticks, uint32_t floor)
{
	/* the highest stratum is the one that was admitted first */
	uint32_t	begin = sampler->admitted[WS_STRATA - 1];
	uint32_t	known = now > begin ? now - begin : 1;

	return begin <= floor || ticks < known ? ticks : known;
}

void
ws_sample_load_follow(WsSampleLoad *load, double seconds, double busy, double events,
					  double lookups, uint32_t recent)
{
	double		follow;

	load->recent = recent;
	load->settled += seconds;
	follow = fmin(seconds / fmin(load->settled, LOAD_SECONDS), 1);
	load->busy += follow * (busy / seconds - load->busy);
	load->events += follow * (events / seconds - load->events);
	load->lookups += follow * (lookups / seconds - load->lookups);
	load->debt = fmax(load->debt + busy - BUSY_LIMIT * seconds, 0);
}

/* Would too many lookups a second be of sampled pages? */
static bool
felt(uint32_t shift, double lookups)
{
	return shift < FREE_SHIFT && ldexp(lookups, -(int) shift) > FREE_LOOKS;
}

/* With this shift and so many times the load, would fewer pages be enough? */
static bool
dear(const WsSampleLoad *load, uint32_t shift, double factor, double margin)
{
	return load->recent * factor >= 2 * ENOUGH_PAGES &&
		(load->events * factor * margin > FEW_EVENTS ||
		 ldexp(load->lookups * margin, -(int) shift) > FREE_LOOKS);
}

uint32_t
ws_sampler_next_shift(const WsSampler *sampler, const WsSampleLoad *load)
{
	uint32_t	shift = sampler->shift;

	if (load->settled >= RISE_SECONDS && shift + 1 < WS_STRATA &&
		(sampler->count == sampler->capacity ||
		 (load->debt > DEBT_LIMIT && load->events > FEW_EVENTS) ||
		 felt(shift, load->lookups) || dear(load, shift, 1, 1)))
		return shift + 1;
	if (load->settled < (load->guessed ? LOAD_SECONDS : FALL_SECONDS))
		return shift;

	/* each step doubles work and events; hits are counted by the shift */
	for (double factor = 2; shift > 0 &&
		 sampler->count * factor < 2 * FILLED_LOW * sampler->capacity &&
		 (load->busy * factor * MARGIN <= BUSY_LIMIT ||
		  load->events * factor * MARGIN <= FEW_EVENTS) &&
		 !felt(shift - 1, load->lookups * MARGIN) && !dear(load, shift - 1, factor, MARGIN); factor *= 2)
		shift--;
	return shift;
}

uint32_t
ws_sampler_flood_steps(double events, double seconds, uint32_t places)
{
	double		limit = FLOOD_PART * places * fmax(FLOOD_TURNS * seconds, 1);
	uint32_t	steps = 0;

	while (steps < FLOOD_STEPS && ldexp(events, -(int) steps) > limit)
		steps++;
	return steps;
}

static const uint32_t *sorted;	/* by qsort() */

static int
latest_first(const void *a, const void *b)
{
	uint32_t	x = sorted[*(const uint32_t *) a];
	uint32_t	y = sorted[*(const uint32_t *) b];

	return (x < y) - (x > y);
}

uint32_t
ws_sampler_by_age(const WsSampler *sampler, uint32_t shift, const uint32_t *when,
				  uint32_t *entries)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (sampler->samples[i].touched != 0 && !sampler->samples[i].dead && when[i] != 0 &&
			stratum_of(sampler, i) >= shift)
			entries[n++] = i;
	sorted = when;
	qsort(entries, n, sizeof(*entries), latest_first);
	return n;
}

uint32_t
ws_sampler_resident(const WsSampler *sampler, uint32_t shift)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		n += sampler->samples[i].resident && stratum_of(sampler, i) >= shift;
	return n;
}

/* The share that sampled pages have of all, of strata shift and up. */
static double
share_of(double sampled, double all, uint32_t shift)
{
	return (sampled + PRIOR_PAGES) / (all + ldexp(PRIOR_PAGES, (int) shift));
}

double
ws_sampler_share(const WsSampler *sampler, uint32_t shift, double held)
{
	double		nominal = ldexp(1, -(int) shift);
	double		expected = held * nominal;
	double		resident = ws_sampler_resident(sampler, shift);

	if (resident < expected - CHANCE_ERRORS * sqrt(expected * (1 - nominal)))
		return nominal;
	return share_of(resident, held, shift);
}

uint32_t
ws_sampler_select(const WsSampler *sampler, uint32_t now, uint32_t ticks,
				  uint32_t floor, uint32_t shift, WsSample *out)
{
	uint32_t	n = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (ws_tick_within(sampler->samples[i].last, now, ticks, floor) && !sampler->samples[i].dead &&
			stratum_of(sampler, i) >= shift)
		{
			if (out)
				out[n] = sampler->samples[i];
			n++;
		}
	return n;
}

double
ws_sampler_alive(const WsSampler *sampler, uint32_t now, uint32_t ticks, uint32_t floor, uint32_t shift)
{
	uint32_t	alive = ws_sampler_select(sampler, now, ticks, floor, shift, NULL);
	uint32_t	dead = 0;

	for (uint32_t i = 0; i < sampler->capacity; i++)
		dead += sampler->samples[i].dead && ws_tick_within(sampler->samples[i].last, now, ticks, floor) &&
			stratum_of(sampler, i) >= shift;
	return dead > 0 ? alive / (double) (alive + dead) : 1;
}

void
ws_sampler_rates(const WsSampler *sampler, uint32_t now, uint32_t ticks, uint32_t floor,
				 double all, double rates[WS_STRATA])
{
	uint32_t	pages[WS_STRATA] = {0};
	uint32_t	above = 0;

	all *= ws_sampler_alive(sampler, now, ticks, floor, sampler->shift);
	for (uint32_t i = 0; i < sampler->capacity; i++)
		if (ws_tick_within(sampler->samples[i].last, now, ticks, floor) && !sampler->samples[i].dead)
			pages[stratum_of(sampler, i)]++;
	for (int s = WS_STRATA - 1; s >= 0; s--)
	{
		above += pages[s];
		rates[s] = fmin(share_of(above, all, (uint32_t) s), 1);
	}
}

double
ws_sample_error(double part, double all, double variance, uint32_t shift)
{
	double		share = all > 0 ? fmin(part / all, 1) : 0;
	double		rate = ldexp(1, -(int) shift);

	return sqrt(all * share * (1 - share) * (1 - rate) / rate + share * share * variance);
}

/* Would a part have so many pages over its limit by an error of sampling? */
static bool
by_chance(double estimate, double limit, double all, uint32_t shift)
{
	return ldexp(limit, -(int) shift) >= CHANCE_PAGES &&
		estimate - limit <= CHANCE_ERRORS * ws_sample_error(estimate, all, 0, shift);
}

void
ws_sample_divide(const uint32_t *sampled, const double *limit, int n, double all,
				 uint32_t shift, double *pages)
{
	double		rest = all;
	double		parts = 0;
	bool		again = true;

	for (int i = 0; i < n; i++)
	{
		parts += sampled[i];
		pages[i] = NAN;
	}
	while (again)
	{
		double		each = parts > 0 ? rest / parts : 0;

		again = false;
		for (int i = 0; i < n; i++)
		{
			double		estimate = each * sampled[i];

			if (!isnan(pages[i]) || estimate <= limit[i])
				continue;
			pages[i] = limit[i];
			parts -= sampled[i];
			rest -= by_chance(estimate, limit[i], all, shift) ? limit[i] : estimate;
			again = true;
		}
	}
	for (int i = 0; i < n; i++)
		if (isnan(pages[i]))
			pages[i] = parts > 0 ? rest * sampled[i] / parts : 0;
}
