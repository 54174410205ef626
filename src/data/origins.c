/*
 * origins.c
 *		The table of origins; see origins.h.
 *
 * An entry is looked for in PROBES places, which its hash spreads over the
 * table: places side by side would more often all be taken.  A free place among
 * these does not end the search, because entries are freed in any order.  Two
 * processes may enter an origin twice, if a place becomes free at that moment;
 * readers add up what is of equal origin.
 */
#include "origins.h"

#include <string.h>

#define PROBES			32

/* A tag is the generation and the number of the entry, of so many bits. */
#define ENTRY_BITS		10
#define GENERATION_BITS	(WS_ORIGIN_TAG_BITS - ENTRY_BITS)
#define GENERATION_MASK	((UINT64_C(1) << GENERATION_BITS) - 1)

_Static_assert(WS_ORIGINS == 1 << ENTRY_BITS, "the number of an entry fits into a tag");

static uint64_t
mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0x9E3779B97F4A7C15);
	x ^= x >> 29;
	x *= UINT64_C(0xC2B2AE3D27D4EB4F);
	return x ^ x >> 32;
}

/* A hash of the origin, without the bits of the generation; not 0. */
static uint64_t
hash_origin(const WsOrigin *origin)
{
	uint64_t	hash = mix(origin->query + UINT64_C(0x165667B19E3779F9));

	hash = mix(hash ^ ((uint64_t) origin->role << 32 | origin->database));
	hash = mix(hash + origin->application) & ~GENERATION_MASK;
	return hash != 0 ? hash : GENERATION_MASK + 1;
}

/* The i-th entry at which an origin is looked for. */
static uint32_t
probe(uint64_t hash, uint32_t i)
{
	return (uint32_t) mix(hash + i) % WS_ORIGINS;
}

static uint32_t
make_tag(uint64_t word, uint32_t entry)
{
	return (uint32_t) (word & GENERATION_MASK) << ENTRY_BITS | entry;
}

bool
ws_origin_part(const WsOrigin *origin, WsBy by, WsOrigin *part)
{
	memset(part, 0, sizeof(*part));
	if (by == WS_BY_QUERY)
	{
		*part = *origin;
		part->application = 0;
	}
	else if (by == WS_BY_ROLE)
		part->role = origin->role;
	else if (origin->application == WS_APPLICATION_OTHER)
		return false;
	else
		part->application = origin->application;
	return true;
}

bool
ws_origin_equal(const WsOrigin *a, const WsOrigin *b)
{
	return a->query == b->query && a->role == b->role && a->database == b->database &&
		a->application == b->application;
}

uint32_t
ws_origins_enter(WsOrigins *origins, const WsOrigin *origin)
{
	uint64_t	hash = hash_origin(origin);

	for (uint32_t i = 0; i < PROBES; i++)
	{
		uint32_t	entry = probe(hash, i);
		uint64_t	word = __atomic_load_n(&origins->words[entry], __ATOMIC_RELAXED);

		if ((word & ~GENERATION_MASK) == hash && entry != WS_ORIGIN_OTHER)
			return make_tag(word, entry);
	}
	for (uint32_t i = 0; i < PROBES; i++)
	{
		uint32_t	entry = probe(hash, i);
		uint64_t	word = __atomic_load_n(&origins->words[entry], __ATOMIC_RELAXED);

		if (entry == WS_ORIGIN_OTHER)
			continue;
		if ((word & ~GENERATION_MASK) == 0 &&
			__atomic_compare_exchange_n(&origins->words[entry], &word, hash | word, false,
										__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		{
			origins->entries[entry].origin = *origin;
			__atomic_store_n(&origins->entries[entry].filled, hash | word, __ATOMIC_RELEASE);
			return make_tag(word, entry);
		}
		/* another process may have been faster with the same origin */
		if ((word & ~GENERATION_MASK) == hash)
			return make_tag(word, entry);
	}
	return WS_ORIGIN_OTHER;
}

uint32_t
ws_origins_entry(const WsOrigins *origins, uint32_t tag)
{
	uint32_t	entry = tag % WS_ORIGINS;
	uint64_t	word = __atomic_load_n(&origins->words[entry], __ATOMIC_RELAXED);

	if ((word & ~GENERATION_MASK) == 0 || make_tag(word, entry) != tag)
		return WS_ORIGIN_OTHER;
	return entry;
}

bool
ws_origins_taken(const WsOrigins *origins, uint32_t entry)
{
	return (__atomic_load_n(&origins->words[entry], __ATOMIC_RELAXED) & ~GENERATION_MASK) != 0;
}

bool
ws_origins_get(const WsOrigins *origins, uint32_t entry, WsOrigin *origin)
{
	uint64_t	filled = __atomic_load_n(&origins->entries[entry].filled, __ATOMIC_ACQUIRE);

	if (filled == 0 || filled != __atomic_load_n(&origins->words[entry], __ATOMIC_RELAXED))
		return false;
	*origin = origins->entries[entry].origin;
	return true;
}

void
ws_origins_free(WsOrigins *origins, uint32_t entry)
{
	uint64_t	word = __atomic_load_n(&origins->words[entry], __ATOMIC_RELAXED);

	/* release: whoever enters it next writes after what was there was read */
	__atomic_store_n(&origins->words[entry], (word + 1) & GENERATION_MASK, __ATOMIC_RELEASE);
}

/*
 * Has the role fewer places than are free?  Then others still find some,
 * however many it would take.  Places that are not filled yet count as its own.
 */
static bool
may_claim(const WsOrigins *origins, uint32_t role)
{
	int			unused = 0;
	int			own = 0;

	for (int i = 0; i < WS_ORIGIN_NAMES; i++)
		if (__atomic_load_n(&origins->names[i].hash, __ATOMIC_RELAXED) == 0)
			unused++;
		else
			own += __atomic_load_n(&origins->names[i].filled, __ATOMIC_ACQUIRE) == 0 ||
				__atomic_load_n(&origins->names[i].role, __ATOMIC_RELAXED) == role;
	return own < unused;
}

uint32_t
ws_origins_application(WsOrigins *origins, uint32_t role, const char *name)
{
	uint32_t	hash;
	uint64_t	mixed = 0;

	if (name[0] == '\0')
		return WS_APPLICATION_NONE;
	for (int i = 0; i < WS_ORIGIN_NAME_SIZE - 1 && name[i] != '\0'; i++)
		mixed = mix(mixed + (unsigned char) name[i]);
	hash = (uint32_t) mixed > WS_APPLICATION_OTHER ? (uint32_t) mixed : WS_APPLICATION_OTHER + 1;

	for (int claim = 0; claim == 0 || (claim == 1 && may_claim(origins, role)); claim++)
		for (uint32_t i = 0; i < WS_ORIGIN_NAMES; i++)
		{
			uint32_t	place = (hash + i) % WS_ORIGIN_NAMES;
			uint32_t	there = __atomic_load_n(&origins->names[place].hash, __ATOMIC_RELAXED);

			if (claim && there == 0 &&
				__atomic_compare_exchange_n(&origins->names[place].hash, &there, hash, false,
											__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			{
				__atomic_store_n(&origins->names[place].role, role, __ATOMIC_RELAXED);
				for (int j = 0; j < WS_ORIGIN_NAME_SIZE - 1 && name[j] != '\0'; j++)
					origins->names[place].text[j] = name[j];
				__atomic_store_n(&origins->names[place].filled, hash, __ATOMIC_RELEASE);
				return hash;
			}
			if (there == hash)
				return hash;
		}
	return WS_APPLICATION_OTHER;
}

const char *
ws_origins_name(const WsOrigins *origins, uint32_t application)
{
	if (application == WS_APPLICATION_NONE)
		return "";
	for (uint32_t i = 0; i < WS_ORIGIN_NAMES; i++)
	{
		uint32_t	place = (application + i) % WS_ORIGIN_NAMES;

		if (application != WS_APPLICATION_OTHER &&
			__atomic_load_n(&origins->names[place].filled, __ATOMIC_ACQUIRE) == application)
			return origins->names[place].text;
	}
	return NULL;
}

/* Has an origin this application? */
static bool
is_used(const WsOrigins *origins, uint32_t application)
{
	WsOrigin	origin;

	for (uint32_t i = 0; i < WS_ORIGINS; i++)
		if (ws_origins_get(origins, i, &origin) && origin.application == application)
			return true;
	return false;
}

void
ws_origins_free_names(WsOrigins *origins)
{
	int			taken = 0;

	for (int i = 0; i < WS_ORIGIN_NAMES; i++)
		taken += __atomic_load_n(&origins->names[i].hash, __ATOMIC_RELAXED) != 0;
	/* with fewer than these taken, no role has as many as are free */
	for (int i = 0; i < WS_ORIGIN_NAMES && taken >= WS_ORIGIN_NAMES / 2; i++)
	{
		uint32_t	hash = __atomic_load_n(&origins->names[i].filled, __ATOMIC_ACQUIRE);

		if (hash == 0 || is_used(origins, hash))
			continue;
		memset(origins->names[i].text, 0, WS_ORIGIN_NAME_SIZE);
		__atomic_store_n(&origins->names[i].filled, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&origins->names[i].hash, 0, __ATOMIC_RELEASE);
	}
}
