/*
 * origins_t.c
 *		Tests of the table of origins: tags, places that are freed and taken
 *		again, a full table, names, and several processes at once.
 */
#include "tap.h"
#include "origins.h"
#include "traces.h"
#include "yardstick.h"

#include <pthread.h>

static WsOrigins *
new_origins(void)
{
	WsOrigins  *origins = aligned_memory(sizeof(WsOrigins));

	memset(origins, 0, sizeof(*origins));
	return origins;
}

static WsOrigin
make_origin(uint64_t number)
{
	WsOrigin	origin = {
		.query = mix64(number),
		.role = 10 + (uint32_t) number % 3,
		.database = 5 + (uint32_t) number % 2,
		.application = (uint32_t) number % 4
	};

	return origin;
}

static bool
same(const WsOrigin *a, const WsOrigin *b)
{
	return a->query == b->query && a->role == b->role && a->database == b->database &&
		a->application == b->application;
}

/* Does the tag lead to this origin? */
static bool
leads_to(const WsOrigins *origins, uint32_t tag, uint64_t number)
{
	WsOrigin	want = make_origin(number);
	WsOrigin	got;
	uint32_t	entry = ws_origins_entry(origins, tag);

	return entry != WS_ORIGIN_OTHER && ws_origins_get(origins, entry, &got) && same(&got, &want);
}

static uint32_t
enter(WsOrigins *origins, uint64_t number)
{
	WsOrigin	origin = make_origin(number);

	return ws_origins_enter(origins, &origin);
}

static void
test_tags(void)
{
	enum
	{
		FEW = 500, MANY = 100000
	};
	WsOrigins  *origins = new_origins();
	static uint32_t tags[FEW];
	WsOrigin	origin = make_origin(7);
	WsOrigin	changed[4];
	long		wrong = 0;
	long		others = 0;

	ok(ws_origins_entry(origins, 0) == WS_ORIGIN_OTHER && !ws_origins_get(origins, 7, &origin) &&
	   !ws_origins_taken(origins, 7), "a new table is empty");
	for (int i = 0; i < FEW; i++)
		tags[i] = enter(origins, (uint64_t) i);
	for (int i = 0; i < FEW; i++)
		wrong += !leads_to(origins, tags[i], (uint64_t) i) || tags[i] != enter(origins, (uint64_t) i) ||
			tags[i] >> WS_ORIGIN_TAG_BITS != 0;
	is_int(wrong, 0, "each of 500 origins has a tag of its own, and keeps it");

	for (int i = 0; i < 4; i++)
		changed[i] = make_origin(7);
	changed[0].query++;
	changed[1].role++;
	changed[2].database++;
	changed[3].application++;
	wrong = 0;
	for (int i = 0; i < 4; i++)
		wrong += ws_origins_enter(origins, &changed[i]) == tags[7];
	is_int(wrong, 0, "query, role, database and application make an origin");

	for (int i = 0; i < MANY; i++)
	{
		uint32_t	tag = enter(origins, (uint64_t) i);

		others += tag == WS_ORIGIN_OTHER;
		wrong += tag != WS_ORIGIN_OTHER && !leads_to(origins, tag, (uint64_t) i);
		if (i < FEW)
			wrong += tag != tags[i];
	}
	ok(wrong == 0 && others >= MANY - WS_ORIGINS && !ws_origins_taken(origins, WS_ORIGIN_OTHER),
	   "in a full table the others have no place, and the first keep theirs");
	free(origins);
}

static void
test_free(void)
{
	enum
	{
		TURNS = 600000
	};
	WsOrigins  *origins = new_origins();
	uint32_t	first = enter(origins, 1);
	uint32_t	before = first;
	long		wrong = 0;
	WsOrigin	origin;

	for (int i = 0; i < TURNS; i++)
	{
		uint32_t	entry = ws_origins_entry(origins, before);

		ws_origins_free(origins, entry);
		wrong += ws_origins_taken(origins, entry) || ws_origins_get(origins, entry, &origin) ||
			ws_origins_entry(origins, before) != WS_ORIGIN_OTHER;
		/* the same place, and another tag */
		wrong += leads_to(origins, before = enter(origins, 1), 1) != true;
		wrong += i < 100000 && ws_origins_entry(origins, first) != WS_ORIGIN_OTHER;
	}
	is_int(wrong, 0, "the tag of an entry that was freed is that of another, also when it is taken again");
	free(origins);
}

static int
count_taken(const WsOrigins *origins)
{
	int			taken = 0;

	for (uint32_t i = 0; i < WS_ORIGINS; i++)
		taken += ws_origins_taken(origins, i);
	return taken;
}

/* A table that was full, then half of it was freed, then new ones came. */
static void
test_places(void)
{
	enum
	{
		NEW = 100000
	};
	WsOrigins  *origins = new_origins();
	uint64_t	number = 0;
	int			others = 0;

	while (number < 5 * WS_ORIGINS)
		enter(origins, number++);
	for (uint32_t i = 1; i <= WS_ORIGINS / 2; i++)
		if (ws_origins_taken(origins, i))
			ws_origins_free(origins, i);
	while (count_taken(origins) < WS_ORIGINS * 3 / 4)
		enter(origins, number++);
	for (int i = 0; i < NEW; i++)
	{
		uint32_t	tag = enter(origins, number++);

		others += tag == WS_ORIGIN_OTHER;
		if (tag != WS_ORIGIN_OTHER)
			ws_origins_free(origins, ws_origins_entry(origins, tag));
	}
	/* 0.75^32 of them are 10; four standard errors above that */
	ok(others <= 10 + 13, "in a table that is three quarters full a new one has a place: not %d of %d", others, NEW);
	free(origins);
}

#define ROLE	16384

static void
test_names(void)
{
	WsOrigins  *origins = new_origins();
	char		name[2 * WS_ORIGIN_NAME_SIZE];
	uint32_t	numbers[WS_ORIGIN_NAMES];
	int			places = 0;
	long		wrong = 0;

	ok(ws_origins_application(origins, ROLE, "") == WS_APPLICATION_NONE &&
	   strcmp(ws_origins_name(origins, WS_APPLICATION_NONE), "") == 0 &&
	   ws_origins_name(origins, WS_APPLICATION_OTHER) == NULL &&
	   ws_origins_name(origins, 12345) == NULL, "an empty name needs no place, and unknown ones are not found");
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	numbers[0] = ws_origins_application(origins, ROLE, name);
	is_int(strlen(ws_origins_name(origins, numbers[0])), WS_ORIGIN_NAME_SIZE - 1, "a long name is cut");

	for (int i = 0; i < 1000; i++)
	{
		uint32_t	number;

		snprintf(name, sizeof(name), "job %d", i);
		number = ws_origins_application(origins, ROLE, name);
		wrong += number != ws_origins_application(origins, ROLE, name);
		if (number == WS_APPLICATION_OTHER)
			continue;
		places++;
		wrong += strcmp(ws_origins_name(origins, number), name) != 0;
	}
	ok(wrong == 0 && places == WS_ORIGIN_NAMES / 2 - 1, "a role's names have places until half are taken, then they count as other");

	/* one is used, by an origin of query 1 */
	snprintf(name, sizeof(name), "job 3");
	numbers[1] = ws_origins_application(origins, ROLE, name);
	(void) ws_origins_enter(origins, &(WsOrigin)
							{
								.query = 1, .application = numbers[1]
							});
	ws_origins_free_names(origins);
	ok(ws_origins_name(origins, numbers[1]) != NULL && ws_origins_name(origins, numbers[0]) == NULL &&
	   ws_origins_application(origins, ROLE, "new") != WS_APPLICATION_OTHER,
	   "names that no origin has are freed");
	free(origins);
}

/*
 * Roles that use names, some of them without end.  Whoever has fewer places than
 * are free gets one, nobody else does, and a name has one place.
 */
static void
test_shares(void)
{
	enum
	{
		ROLES = 5, TABLES = 200, TURNS = 100
	};
	uint64_t	seed = seeded(9);
	long		wrong = 0;

	for (int table = 0; table < TABLES; table++)
	{
		WsOrigins  *origins = new_origins();
		int			own[ROLES] = {0};
		int			left = WS_ORIGIN_NAMES;
		int			flooding = (int) random_below(&seed, ROLES);

		for (int turn = 0; turn < TURNS; turn++)
		{
			int			role = random_below(&seed, 4) == 0 ? (int) random_below(&seed, ROLES) : flooding;
			char		name[32];
			uint32_t	number;

			snprintf(name, sizeof(name), "%d of %d", turn, role);
			number = ws_origins_application(origins, ROLE + (uint32_t) role, name);
			wrong += (number != WS_APPLICATION_OTHER) != (own[role] < left);
			if (number == WS_APPLICATION_OTHER)
				continue;
			wrong += ws_origins_application(origins, ROLE + ROLES, name) != number;
			own[role]++;
			left--;
		}
		wrong += own[flooding] > WS_ORIGIN_NAMES / 2;
		free(origins);
	}
	is_int(wrong, 0, "a role gets a place while it has fewer than are free");
}

/* Processes that enter origins, while another frees entries. */
#define THREADS		3
#define ROUNDS		2000000
#define KINDS		900

typedef struct Process
{
	WsOrigins  *origins;
	uint64_t	seed;
	pthread_barrier_t *start;
	const bool *freed;			/* atomic: nothing is freed any more */
	uint32_t	tags[KINDS];
} Process;

static void *
run_process(void *arg)
{
	Process    *process = arg;

	pthread_barrier_wait(process->start);
	while (!__atomic_load_n(process->freed, __ATOMIC_ACQUIRE))
	{
		uint32_t	number = random_below(&process->seed, KINDS);

		process->tags[number] = enter(process->origins, number);
	}
	/* of every other origin, the tag is from after that, however slow the freeing was */
	for (uint32_t number = 0; number < KINDS; number += 2)
		process->tags[number] = enter(process->origins, number);
	return NULL;
}

static void
test_threads(void)
{
	WsOrigins  *origins = new_origins();
	pthread_t	threads[THREADS];
	static Process processes[THREADS];
	uint64_t	seed = seeded(77);
	pthread_barrier_t start;
	bool		freed = false;
	long		wrong = 0;
	long		right = 0;

	pthread_barrier_init(&start, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
	{
		processes[i].origins = origins;
		processes[i].start = &start;
		processes[i].freed = &freed;
		processes[i].seed = seeded(100 + (uint64_t) i);
		pthread_create(&threads[i], NULL, run_process, &processes[i]);
	}
	pthread_barrier_wait(&start);
	for (int i = 0; i < ROUNDS; i++)
	{
		uint32_t	entry = 1 + random_below(&seed, WS_ORIGINS - 1);
		WsOrigin	origin;

		if (ws_origins_get(origins, entry, &origin))
			ws_origins_free(origins, entry);
	}
	__atomic_store_n(&freed, true, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&start);
	for (int i = 0; i < THREADS; i++)
		for (uint64_t number = 0; number < KINDS; number++)
		{
			uint32_t	tag = processes[i].tags[number];

			if (ws_origins_entry(origins, tag) == WS_ORIGIN_OTHER)
				continue;
			right += leads_to(origins, tag, number);
			wrong += !leads_to(origins, tag, number);
		}
	ok(wrong == 0 && right > 0, "three processes enter, one frees: a tag leads to its own origin or to none");
	free(origins);
}

static void
test_parts(void)
{
	WsOrigin	origin = {77, 10, 5, 1000};
	WsOrigin	other = {77, 11, 5, WS_APPLICATION_OTHER};
	WsOrigin	part;
	WsOrigin	query = {77, 10, 5, 0};
	WsOrigin	role = {0, 10, 0, 0};
	WsOrigin	application = {0, 0, 0, 1000};

	ok(ws_origin_part(&origin, WS_BY_QUERY, &part) && same(&part, &query), "a query has its role and database");
	ok(ws_origin_part(&origin, WS_BY_ROLE, &part) && same(&part, &role), "a role has nothing else");
	ok(ws_origin_part(&origin, WS_BY_APPLICATION, &part) && same(&part, &application), "nor has an application");
	ok(!ws_origin_part(&other, WS_BY_APPLICATION, &part) && ws_origin_part(&other, WS_BY_ROLE, &part),
	   "one whose name has no place counts as other, but its role does not");
	for (int field = 0; field < 4; field++)
	{
		WsOrigin	differs = origin;

		differs.query += field == 0;
		differs.role += field == 1;
		differs.database += field == 2;
		differs.application += field == 3;
		ok(ws_origin_equal(&origin, &origin) && !ws_origin_equal(&origin, &differs), "equal in all fields: %d", field);
	}
}

int
main(void)
{
	plan(20);
	test_parts();
	test_tags();
	test_free();
	test_places();
	test_names();
	test_shares();
	test_threads();
	return done();
}
