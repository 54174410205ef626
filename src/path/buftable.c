/*
 * buftable.c
 *		Finding the server's buffer lookup table; see buftable.h.
 *
 * The header of the table is private to dynahash.c, and the pointer to it to
 * buf_table.c.  The search assumes nothing about the layout of the first or the
 * place of the second:
 *
 *	1. A throw-away table, with a known name and the functions that the
 *	   server's table must have, shows which words of a header hold these.
 *	2. The pointer is in the writable data of the main program.  The search
 *	   looks at each word there for one that leads to a header: its first word
 *	   is an address in shared memory, and its name is that of the table.  It
 *	   reads only what is in the list of this process's memory.
 *	3. There must be exactly one such header, with the same functions.
 *
 * The table cannot be found by its name: a server without a table of this name
 * would make one, and one with a table of another size would raise an error.
 */
#include "postgres.h"

#include <link.h>

#include "common/hashfn.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "buftable.h"

#define MAPS "/proc/self/maps"

#define HEADER_WORDS 16			/* so many are looked at */
#define RANGES 65536			/* of memory: Linux's limit, by default */

/* a function pointer as data, as dlsym() has it */
#define AS_DATA(function) ((void *) (uintptr_t) (function))

#define refuse(...) ereport(ERROR, (errmsg_internal(__VA_ARGS__)))

typedef struct Range
{
	uintptr_t	start;
	uintptr_t	end;			/* the first address beyond */
} Range;

/*
 * The private, writable memory of this process, in ascending order: what can be
 * read without a fault.  Nothing is freed until the search is over, so that the
 * list stays true.
 */
struct Memory
{
	FILE	   *file;			/* the list itself */
	Range	   *range;
	int			n;
};

static struct Memory memory;

static inline void **
header_word(HTAB *header, int i)
{
	return (void **) header + i;
}

static void
list_memory(void)
{
	char		line[1024];
	bool		line_begins = true;

	/* allocate first, since that changes the list */
	memory.range = palloc(RANGES * sizeof(Range));
	memory.file = AllocateFile(MAPS, "r");
	if (!memory.file)
		refuse("could not open file \"%s\": %m", MAPS);

	while (memory.n < RANGES && fgets(line, sizeof(line), memory.file))
	{
		bool		goes_on = !line_begins;
		unsigned long start;
		unsigned long end;
		char		private;

		line_begins = strchr(line, '\n') != NULL;
		if (goes_on ||
			sscanf(line, "%lx-%lx rw%*c%c", &start, &end, &private) != 3 || private != 'p')
			continue;

		/* neighbours are one */
		if (memory.n == 0 || memory.range[memory.n - 1].end != start)
			memory.range[memory.n++].start = start;
		memory.range[memory.n - 1].end = end;
	}
	if (memory.n == 0)
		refuse("no private memory is listed in \"%s\"", MAPS);
}

static bool
readable(const void *p, size_t size)
{
	uintptr_t	start = (uintptr_t) p;
	int			lo = 0;
	int			hi = memory.n;

	/* the first range that ends beyond start */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (memory.range[mid].end <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < memory.n && memory.range[lo].start <= start &&
		size <= memory.range[lo].end - start;
}

/* Is this string, whose size includes its end, at this address? */
static bool
string_at(const void *p, const char *string, size_t size)
{
	return readable(p, size) && memcmp(p, string, size) == 0;
}

/* A copy follows the header, so that all its words can be read. */
static const char throw_away_name[] =
"working_set: a table that is made to learn the layout of its header, "
"and whose name is long enough for the words looked at to be readable";

StaticAssertDecl(sizeof(throw_away_name) > HEADER_WORDS * sizeof(void *), "name is long enough");

static HTAB *
make_throw_away(void)
{
	HASHCTL		info = {
		.keysize = sizeof(BufferTag),
		.entrysize = sizeof(BufferTag),
		.hash = tag_hash,
		.match = memcmp,
		.keycopy = memcpy
	};

	return hash_create(throw_away_name, 16, &info,
					   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_KEYCOPY);
}

/* The name and each function must be in exactly one word of a header. */
static void
learn_layout(WsBufTable *layout, HTAB *known)
{
	int			found = 0;

	memset(layout, 0, sizeof(*layout));
	for (int i = 1; i < HEADER_WORDS; i++)
	{
		void	   *word = *header_word(known, i);

		if (word == AS_DATA(tag_hash))
			layout->hash = i;
		else if (word == AS_DATA(memcmp))
			layout->match = i;
		else if (word == AS_DATA(memcpy))
			layout->keycopy = i;
		else if (string_at(word, throw_away_name, sizeof(throw_away_name)))
			layout->name = i;
		else
			continue;
		found++;
	}
	if (found != 4 || !layout->name || !layout->hash || !layout->match || !layout->keycopy)
		refuse("the layout of hash table headers was not recognized");
}

static bool
is_header(const WsBufTable *layout, HTAB *header)
{
	return (uintptr_t) header % sizeof(void *) == 0 &&
		readable(header, HEADER_WORDS * sizeof(void *)) &&
		ShmemAddrIsValid(*header_word(header, 0)) &&
		string_at(*header_word(header, layout->name), WS_BUFTABLE_NAME, sizeof(WS_BUFTABLE_NAME));
}

/* Returns how many words of the program's data lead to another header. */
static int
search_words(WsBufTable *table, uintptr_t at, uintptr_t end)
{
	int			found = 0;

	/* where a word is not readable, go on with the next page */
	for (; at + sizeof(void *) <= end; at += sizeof(void *))
	{
		HTAB	  **word = (HTAB **) at;

		if (!readable(word, sizeof(*word)))
			at = TYPEALIGN_DOWN(4096, at) + 4096 - sizeof(*word);
		else if (*word != table->header && is_header(table, *word))
		{
			table->header = *word;
			found++;
		}
	}
	return found;
}

/*
 * The loader calls this with the main program first, and holds a lock, so this
 * must not raise an error.  A result of 0 would ask for the next object.
 */
static int
search_program(struct dl_phdr_info *info, size_t size, void *table)
{
	int			found = 0;

	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * ph = &info->dlpi_phdr[i];
		uintptr_t	start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W))
			found += search_words(table, TYPEALIGN(sizeof(void *), start), start + ph->p_memsz);
	}
	return found > 0 ? found : -1;
}

static void
find_header(WsBufTable *table)
{
	int			found = dl_iterate_phdr(search_program, table);

	if (found <= 0)
		refuse("found no header of a shared hash table \"%s\"", WS_BUFTABLE_NAME);
	if (found > 1)
		refuse("found more than one header of \"%s\"", WS_BUFTABLE_NAME);

	if (*header_word(table->header, table->hash) != AS_DATA(tag_hash))
		refuse("the header of \"%s\" does not hash with tag_hash()", WS_BUFTABLE_NAME);
	if (*header_word(table->header, table->match) != AS_DATA(memcmp))
		refuse("the header of \"%s\" does not compare with memcmp()", WS_BUFTABLE_NAME);
	if (*header_word(table->header, table->keycopy) != AS_DATA(memcpy))
		refuse("the header of \"%s\" does not copy with memcpy()", WS_BUFTABLE_NAME);
}

void
ws_buftable_find(WsBufTable *table)
{
	HTAB	   *known = make_throw_away();

	PG_TRY();
	{
		list_memory();
		learn_layout(table, known);
		find_header(table);
	}
	PG_FINALLY();
	{
		if (memory.file)
			FreeFile(memory.file);
		if (memory.range)
			pfree(memory.range);
		memset(&memory, 0, sizeof(memory));
		hash_destroy(known);
	}
	PG_END_TRY();
}

void
ws_buftable_set_functions(const WsBufTable *table, HashCompareFunc match, HashCopyFunc keycopy)
{
	*header_word(table->header, table->match) = AS_DATA(match ? match : memcmp);
	*header_word(table->header, table->keycopy) = AS_DATA(keycopy ? keycopy : memcpy);
}

/* The locks are a row in MainLWLockArray, no longer and no shorter. */
static void
verify_locks(const LWLockPadded *locks)
{
	for (int i = -1; i <= NUM_BUFFER_PARTITIONS; i++)
	{
		bool		inside = i >= 0 && i < NUM_BUFFER_PARTITIONS;

		if ((locks[i].lock.tranche == LWTRANCHE_BUFFER_MAPPING) != inside)
			refuse("the locks of the buffer lookup table are not where they are expected");
	}
}

LWLockPadded *
ws_buftable_locks(uint32 *exclusive, bool *sure)
{
	LWLockPadded *locks = &MainLWLockArray[BUFFER_MAPPING_LWLOCK_OFFSET];
	LWLock	   *lock = &locks->lock;
	uint32		when_shared;
	uint32		when_exclusive;
	uint32		bits;

	verify_locks(locks);
	LWLockAcquire(lock, LW_SHARED);
	when_shared = pg_atomic_read_u32(&lock->state);
	LWLockRelease(lock);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	when_exclusive = pg_atomic_read_u32(&lock->state);
	LWLockRelease(lock);

	bits = when_exclusive & ~when_shared & ~pg_atomic_read_u32(&lock->state);
	*sure = bits != 0 && (bits & (bits - 1)) == 0;
	*exclusive = *sure ? bits : ~(uint32) 0;
	return locks;
}
