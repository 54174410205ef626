/*
 * table.c
 *		Finding the server's buffer lookup table.
 *
 * The header of the table is private to dynahash.c and the pointer to it is
 * private to buf_table.c.  Nothing is assumed about either:
 *
 *	1. Where a header keeps its functions is learnt from a throw-away table of
 *	   our own, made with functions that we know.
 *	2. Attaching to the table by its name, as any process may, gives us a
 *	   header of our own.  It leads to the same shared part as the server's.
 *	3. The server keeps a pointer to its header in a variable, that is in the
 *	   writable data of the main program.  So each word there is looked at,
 *	   for one that leads to a structure that begins with the address of the
 *	   shared part.  What is no pointer, or leads nowhere, is told by the list
 *	   of this process's memory, so nothing is read that could not be.
 *	4. There must be exactly one, and its functions must be those of our own
 *	   attachment: tag_hash(), memcmp() and memcpy().
 */
#include "postgres.h"

#include <link.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#include "compat.h"
#include "table.h"

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

/*
 * The number of the only word of a header that has this value, or -1.
 */
static int
only_word(HTAB *table, void *value)
{
	int			found = -1;

	for (int i = 0; i < HEADER_WORDS; i++)
	{
		if (*header_word(table, i) != value)
			continue;
		if (found >= 0)
			return -1;
		found = i;
	}
	return found;
}

/*
 * Where does a header keep its functions?  Make a table with functions that
 * we know, and look.
 */
static bool
learn_layout(WsTable *layout)
{
	HASHCTL		info;
	HTAB	   *table;

	/* a copy of the name follows the header: all words looked at are there */
	static const char name[] =
		"working_set: a table that is made to learn the layout of its header, "
		"and whose name is long enough for the words looked at to be readable";

	StaticAssertStmt(sizeof(name) > HEADER_WORDS * sizeof(void *), "name is long enough");

	memset(&info, 0, sizeof(info));
	info.keysize = sizeof(BufferTag);
	info.entrysize = sizeof(BufferTag);
	info.hash = marker_hash;
	info.match = marker_match;
	info.keycopy = marker_keycopy;
	table = hash_create(name, 16, &info,
						HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_KEYCOPY);

	layout->hash = only_word(table, AS_DATA(marker_hash));
	layout->match = only_word(table, AS_DATA(marker_match));
	layout->keycopy = only_word(table, AS_DATA(marker_keycopy));
	hash_destroy(table);

	if (layout->hash < 1 || layout->match < 1 || layout->keycopy < 1)
		return refuse("the layout of hash table headers was not recognized");
	return true;
}

/*
 * Is there a structure of this name in shared memory?  To ask for it with a
 * size that it cannot have is an error if it exists, and makes a small useless
 * one if not.
 */
static bool
shmem_name_exists(const char *name)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool exists = false;

	PG_TRY();
	{
		bool		found;

		(void) ShmemInitStruct(name, 1, &found);
		exists = found;
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
		LWLockReleaseAll();		/* 19 leaves its own to the end of the process */
		exists = true;
	}
	PG_END_TRY();

	return exists;
}

/*
 * Attach to the table by its name, as any process may.  That gives a header
 * of our own, which leads to the same shared part.
 */
static HTAB *
attach_by_name(void)
{
	HASHCTL		info;

	if (!shmem_name_exists(WS_TABLE_NAME))
	{
		refuse("there is no shared hash table \"%s\"", WS_TABLE_NAME);
		return NULL;
	}

	/* as in InitBufTable() */
	memset(&info, 0, sizeof(info));
	info.keysize = sizeof(BufferTag);
	info.entrysize = MAXALIGN(sizeof(BufferTag) + sizeof(int));
	info.num_partitions = NUM_BUFFER_PARTITIONS;
	return ws_shmem_attach_hash(WS_TABLE_NAME, NBuffers + NUM_BUFFER_PARTITIONS, &info,
								HASH_ELEM | HASH_BLOBS | HASH_PARTITION);
}

/* a piece of memory, [start, end) */
typedef struct Range
{
	uintptr_t	start;
	uintptr_t	end;
} Range;

#define MAX_RANGES 4096

typedef struct Ranges
{
	int			n;
	Range		range[MAX_RANGES];
} Ranges;

/*
 * The writable data of the main program, of which the loader tells first.
 */
static int
collect_program_data(struct dl_phdr_info *info, size_t size, void *data)
{
	Ranges	   *ranges = data;

	for (int i = 0; i < info->dlpi_phnum; i++)
	{
		const		ElfW(Phdr) * ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W) && ranges->n < MAX_RANGES)
		{
			ranges->range[ranges->n].start = info->dlpi_addr + ph->p_vaddr;
			ranges->range[ranges->n].end = info->dlpi_addr + ph->p_vaddr + ph->p_memsz;
			ranges->n++;
		}
	}
	return 1;					/* no further objects */
}

/*
 * The private, writable memory of this process, in ascending order: what can
 * be read without a fault, and where a header can be.
 */
static bool
collect_private_memory(Ranges *ranges)
{
	FILE	   *maps = AllocateFile("/proc/self/maps", "r");
	char		line[1024];

	if (!maps)
		return refuse("could not open file \"%s\": %m", "/proc/self/maps");

	while (fgets(line, sizeof(line), maps))
	{
		unsigned long start;
		unsigned long end;
		char		mode[5];

		if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 ||
			mode[0] != 'r' || mode[1] != 'w' || mode[3] != 'p' ||
			ranges->n >= MAX_RANGES)
			continue;

		/* neighbours are one */
		if (ranges->n > 0 && ranges->range[ranges->n - 1].end == start)
			ranges->range[ranges->n - 1].end = end;
		else
		{
			ranges->range[ranges->n].start = start;
			ranges->range[ranges->n].end = end;
			ranges->n++;
		}
	}
	FreeFile(maps);

	if (ranges->n == 0)
		return refuse("no private memory is listed in \"%s\"", "/proc/self/maps");
	return true;
}

static bool
readable(const Ranges *ranges, uintptr_t start, size_t size)
{
	int			lo = 0;
	int			hi = ranges->n;

	/* the first range that ends beyond start */
	while (lo < hi)
	{
		int			mid = lo + (hi - lo) / 2;

		if (ranges->range[mid].end <= start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < ranges->n && ranges->range[lo].start <= start &&
		size <= ranges->range[lo].end - start;
}

/*
 * Find the server's own header of the table that "ours" is a header of.
 *
 * The server keeps a pointer to its header in a variable.  So look at all
 * words of the program's data for one that leads to a structure whose first
 * word leads to the shared part of the table.
 */
static HTAB *
find_header(HTAB *ours)
{
	Ranges	   *data = palloc0(sizeof(Ranges));
	Ranges	   *memory = palloc0(sizeof(Ranges));
	void	   *shared_part = *header_word(ours, 0);
	HTAB	   *found = NULL;
	int			nfound = 0;

	if (!ShmemAddrIsValid(shared_part))
		refuse("the header of \"%s\" does not begin with the address of its shared part", WS_TABLE_NAME);
	else if (collect_private_memory(memory))
	{
		dl_iterate_phdr(collect_program_data, data);
		for (int i = 0; i < data->n; i++)
		{
			uintptr_t	at = TYPEALIGN(sizeof(void *), data->range[i].start);

			for (; at + sizeof(void *) <= data->range[i].end; at += sizeof(void *))
			{
				uintptr_t	candidate;

				if (!readable(memory, at, sizeof(void *)))
				{
					/* nothing more in this page */
					at = TYPEALIGN_DOWN(4096, at) + 4096 - sizeof(void *);
					continue;
				}
				candidate = *(uintptr_t *) at;
				if (candidate == 0 || candidate % sizeof(void *) != 0 ||
					(HTAB *) candidate == ours || (HTAB *) candidate == found ||
					!readable(memory, candidate, HEADER_WORDS * sizeof(void *)) ||
					*header_word((HTAB *) candidate, 0) != shared_part)
					continue;
				found = (HTAB *) candidate;
				nfound++;
			}
		}
		if (nfound != 1)
		{
			refuse("found %d candidates for the header of \"%s\", not one",
				   nfound, WS_TABLE_NAME);
			found = NULL;
		}
	}

	pfree(data);
	pfree(memory);
	return found;
}

/*
 * Are the functions of a header those that we are going to stand in for?
 */
static bool
verify_functions(HTAB *table, const WsTable *layout, const char *whose)
{
	if (*header_word(table, layout->hash) != AS_DATA(tag_hash))
		return refuse("%s header of \"%s\" does not hash with tag_hash()", whose, WS_TABLE_NAME);
	if (*header_word(table, layout->match) != AS_DATA(memcmp))
		return refuse("%s header of \"%s\" does not compare with memcmp()", whose, WS_TABLE_NAME);
	if (*header_word(table, layout->keycopy) != AS_DATA(memcpy))
		return refuse("%s header of \"%s\" does not copy with memcpy()", whose, WS_TABLE_NAME);
	return true;
}

bool
ws_table_find(WsTable *table, char *why, size_t size)
{
	HTAB	   *ours;

	refusal = why;
	refusal_size = size;

	if (!learn_layout(table))
		return false;
	ours = attach_by_name();
	if (!ours || !verify_functions(ours, table, "our own"))
		return false;
	table->header = find_header(ours);
	return table->header &&
		verify_functions(table->header, table, "the server's");
}

void
ws_table_set_functions(const WsTable *table, HashCompareFunc match,
					   HashCopyFunc keycopy)
{
	*header_word(table->header, table->match) = AS_DATA(match ? match : memcmp);
	*header_word(table->header, table->keycopy) = AS_DATA(keycopy ? keycopy : memcpy);
}

bool
ws_table_learn_exclusive_bit(LWLock *lock, uint32 *bits)
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
