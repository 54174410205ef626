/*
 * buftable.c
 *		Finding the server's buffer lookup table.
 *
 * The header of the table is private to dynahash.c and the pointer to it is
 * private to buf_table.c.  The search assumes nothing about the layout of the
 * first, nor about the place of the second:
 *
 *	1. A throw-away table, made with functions and a name that we know, shows
 *	   which word of a header holds which function, and which one leads to the
 *	   table's name.
 *	2. The server keeps a pointer to its header in a variable, that is in the
 *	   writable data of the main program.  The search looks at each word there,
 *	   for one that leads to a header: its first word is an address in shared
 *	   memory, and its name is that of the table.  The list of this process's
 *	   memory says what can be read, so the search reads nothing that could
 *	   fault.
 *	3. There must be exactly one such header, and its functions must be
 *	   tag_hash(), memcmp() and memcpy().
 *
 * The search does not attach to the table, because a server that has no table of
 * this name would make one, and one with another size would raise an error.
 * Nothing here raises an error on purpose: with exit_on_error = on the server
 * would not start.
 */
#include "postgres.h"

#include <link.h>

#include "common/hashfn.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "buftable.h"

/*
 * How many words of a header are looked at.
 */
#define HEADER_WORDS 16

/* where to say why not; valid while looking */
static char *refusal;
static size_t refusal_size;

static bool refuse(const char *fmt,...) pg_attribute_printf(1, 2);

static bool
refuse(const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	vsnprintf(refusal, refusal_size, fmt, args);
	va_end(args);
	return false;
}

/* a word of a table's private header */
static inline void **
header_word(HTAB *table, int i)
{
	return (void **) table + i;
}

/* function pointers as data, as dlsym() has it */
#define AS_DATA(function) ((void *) (uintptr_t) (function))

/* three functions to be recognized by their addresses, never called */
static uint32
marker_hash(const void *key, Size keysize)
{
	return 1;
}

static int
marker_match(const void *key1, const void *key2, Size keysize)
{
	return 2;
}

static void *
marker_keycopy(void *dest, const void *src, Size keysize)
{
	return dest;
}

/* a piece of memory, [start, end) */
typedef struct Range
{
	uintptr_t	start;
	uintptr_t	end;
} Range;

/*
 * The private, writable memory of this process, in ascending order: what can
 * be read without a fault, and where a header can be.  Nothing is freed until
 * the search is over, so that what the list says stays true.
 */
typedef struct Memory
{
	FILE	   *maps;			/* what the list is read from */
	Range	   *range;
	int			n;
	int			capacity;
} Memory;

#define MAPS "/proc/self/maps"

/* ranges that a list has room for at first, more than most servers have */
#define RANGES 1024

/*
 * Read the list as far as there is room for it.  Returns whether that was all.
 */
static bool
read_memory(Memory *memory)
{
	char		line[1024];
	bool		line_begins = true;

	memory->n = 0;
	while (fgets(line, sizeof(line), memory->maps))
	{
		bool		goes_on = !line_begins;
		unsigned long start;
		unsigned long end;
		char		mode[5];

		line_begins = strchr(line, '\n') != NULL;
		if (goes_on || sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 ||
			mode[0] != 'r' || mode[1] != 'w' || mode[3] != 'p')
			continue;

		/* neighbours are one */
		if (memory->n > 0 && memory->range[memory->n - 1].end == start)
			memory->range[memory->n - 1].end = end;
		else if (memory->n == memory->capacity)
			return false;
		else
			memory->range[memory->n++] = (Range) {start, end};
	}
	return true;
}

static void
free_memory_list(Memory *memory)
{
	if (memory->maps)
		FreeFile(memory->maps);
	pfree(memory->range);
}

/*
 * Room is made before the list is read, because to make room changes what the
 * list says.
 */
static bool
list_memory(Memory *memory)
{
	memory->n = 0;
	for (memory->capacity = RANGES;; memory->capacity *= 2)
	{
		memory->range = palloc(memory->capacity * sizeof(Range));
		memory->maps = AllocateFile(MAPS, "r");
		if (!memory->maps)
			return refuse("could not open file \"%s\": %m", MAPS);
		if (read_memory(memory))
			break;
		free_memory_list(memory);
	}
	if (memory->n == 0)
		return refuse("no private memory is listed in \"%s\"", MAPS);
	return true;
}

static bool
readable(const Memory *memory, const void *p, size_t size)
{
	uintptr_t	start = (uintptr_t) p;
	int			lo = 0;
	int			hi = memory->n;

	/* the first range that ends beyond start */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (memory->range[mid].end <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < memory->n && memory->range[lo].start <= start &&
		size <= memory->range[lo].end - start;
}

/* Is this string, of so many bytes with its end, at this address? */
static bool
string_at(const Memory *memory, const void *p, const char *string, size_t size)
{
	return readable(memory, p, size) && memcmp(p, string, size) == 0;
}

/*
 * A table with a name and functions that nobody else has, to learn the layout
 * of a header from.  A copy of the name follows the header, so that all words
 * looked at are there.
 */
static const char throw_away_name[] =
"working_set: a table that is made to learn the layout of its header, "
"and whose name is long enough for the words looked at to be readable";

StaticAssertDecl(sizeof(throw_away_name) > HEADER_WORDS * sizeof(void *), "name is long enough");

static HTAB *
make_throw_away(void)
{
	HASHCTL		info;

	memset(&info, 0, sizeof(info));
	info.keysize = sizeof(BufferTag);
	info.entrysize = sizeof(BufferTag);
	info.hash = marker_hash;
	info.match = marker_match;
	info.keycopy = marker_keycopy;
	return hash_create(throw_away_name, 16, &info,
					   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_KEYCOPY);
}

/* the number of a word, or -1 if there is another one already */
static void
note_word(int *word, int i)
{
	*word = *word == 0 ? i : -1;
}

/*
 * Where does a header keep its name and its functions?  Each has to be in
 * exactly one word.
 */
static bool
learn_layout(WsBufTable *layout, HTAB *known, const Memory *memory)
{
	layout->name = layout->hash = layout->match = layout->keycopy = 0;
	for (int i = 1; i < HEADER_WORDS; i++)
	{
		void	   *word = *header_word(known, i);

		if (word == AS_DATA(marker_hash))
			note_word(&layout->hash, i);
		else if (word == AS_DATA(marker_match))
			note_word(&layout->match, i);
		else if (word == AS_DATA(marker_keycopy))
			note_word(&layout->keycopy, i);
		else if (string_at(memory, word, throw_away_name, sizeof(throw_away_name)))
			note_word(&layout->name, i);
	}

	if (layout->name < 1 || layout->hash < 1 || layout->match < 1 || layout->keycopy < 1)
		return refuse("the layout of hash table headers was not recognized");
	return true;
}

/*
 * Is this the address of a header of the buffer lookup table?
 */
static bool
is_header(const WsBufTable *layout, const Memory *memory, uintptr_t address)
{
	HTAB	   *table = (HTAB *) address;

	return address % sizeof(void *) == 0 &&
		readable(memory, table, HEADER_WORDS * sizeof(void *)) &&
		ShmemAddrIsValid(*header_word(table, 0)) &&
		string_at(memory, *header_word(table, layout->name),
				  WS_BUFTABLE_NAME, sizeof(WS_BUFTABLE_NAME));
}

/* the search, for the loader to call with each program */
typedef struct Search
{
	const WsBufTable *layout;
	const Memory *memory;
	HTAB	   *found;			/* the first one */
	bool		several;		/* there is another one */
} Search;

/*
 * Look at the words of a piece of the program's data.  Several variables may
 * lead to the same header.
 */
static void
search_words(Search *search, uintptr_t at, uintptr_t end)
{
	for (; at + sizeof(void *) <= end; at += sizeof(void *))
	{
		uintptr_t	word;

		if (!readable(search->memory, (void *) at, sizeof(void *)))
		{
			/* nothing more in this page */
			at = TYPEALIGN_DOWN(4096, at) + 4096 - sizeof(void *);
			continue;
		}
		word = *(uintptr_t *) at;
		if (word == (uintptr_t) search->found || !is_header(search->layout, search->memory, word))
			continue;
		if (search->found)
			search->several = true;
		else
			search->found = (HTAB *) word;
	}
}

/*
 * The loader reports the main program first.
 */
static int
search_program(struct dl_phdr_info *info, size_t size, void *data)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * ph = &info->dlpi_phdr[i];
		uintptr_t	start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W))
			search_words(data, TYPEALIGN(sizeof(void *), start), start + ph->p_memsz);
	}
	return 1;					/* no further objects */
}

static bool
find_header(WsBufTable *table, const Memory *memory)
{
	Search		search = {table, memory, NULL, false};

	dl_iterate_phdr(search_program, &search);
	if (!search.found)
		return refuse("found no header of a shared hash table \"%s\"", WS_BUFTABLE_NAME);
	if (search.several)
		return refuse("found more than one header of \"%s\"", WS_BUFTABLE_NAME);
	table->header = search.found;
	return true;
}

/*
 * Are the functions of the header those that ours stand in for?
 */
static bool
verify_functions(const WsBufTable *table)
{
	if (*header_word(table->header, table->hash) != AS_DATA(tag_hash))
		return refuse("the header of \"%s\" does not hash with tag_hash()", WS_BUFTABLE_NAME);
	if (*header_word(table->header, table->match) != AS_DATA(memcmp))
		return refuse("the header of \"%s\" does not compare with memcmp()", WS_BUFTABLE_NAME);
	if (*header_word(table->header, table->keycopy) != AS_DATA(memcpy))
		return refuse("the header of \"%s\" does not copy with memcpy()", WS_BUFTABLE_NAME);
	return true;
}

bool
ws_buftable_find(WsBufTable *table, char *why, size_t size)
{
	HTAB	   *known = make_throw_away();
	Memory		memory;
	bool		found;

	refusal = why;
	refusal_size = size;

	found = list_memory(&memory) &&
		learn_layout(table, known, &memory) &&
		find_header(table, &memory) &&
		verify_functions(table);

	free_memory_list(&memory);
	hash_destroy(known);
	return found;
}

bool
ws_buftable_locks_are_expected(const LWLockPadded *all)
{
	const LWLockPadded *locks = &all[BUFFER_MAPPING_LWLOCK_OFFSET];

	for (int i = 0; i < NUM_BUFFER_PARTITIONS; i++)
		if (locks[i].lock.tranche != LWTRANCHE_BUFFER_MAPPING)
			return false;
	return locks[-1].lock.tranche != LWTRANCHE_BUFFER_MAPPING &&
		locks[NUM_BUFFER_PARTITIONS].lock.tranche != LWTRANCHE_BUFFER_MAPPING;
}

void
ws_buftable_set_functions(const WsBufTable *table, HashCompareFunc match,
					   HashCopyFunc keycopy)
{
	*header_word(table->header, table->match) = AS_DATA(match ? match : memcmp);
	*header_word(table->header, table->keycopy) = AS_DATA(keycopy ? keycopy : memcpy);
}

bool
ws_buftable_learn_exclusive_bit(LWLock *lock, uint32 *bits)
{
	uint32		shared;
	uint32		exclusive;

	LWLockAcquire(lock, LW_SHARED);
	shared = pg_atomic_read_u32(&lock->state);
	LWLockRelease(lock);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	exclusive = pg_atomic_read_u32(&lock->state);
	LWLockRelease(lock);

	*bits = exclusive & ~shared & ~pg_atomic_read_u32(&lock->state);
	if (*bits != 0 && (*bits & (*bits - 1)) == 0)
		return true;
	*bits = ~(uint32) 0;
	return false;
}
