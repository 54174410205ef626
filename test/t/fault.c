/*
 * fault.c
 *		For 005_refused.pl: a server with one fault, named by ws_test.fault.
 *
 * Preloaded after working_set, its hook comes first.  It finds the server's
 * header of the buffer lookup table, by the same source as the probe, and
 * then spoils one thing: the header, what working_set.so gets when it calls a
 * function of the server, or nothing.  Calls of the server itself are left alone, so
 * that it serves.
 */
#include "postgres.h"

#include <unistd.h>

#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/buf_internals.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/elog.h"
#include "utils/guc.h"

#include "buftable.h"
#include "rewire.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

/* settings of which only Windows and macOS make use */
extern PGDLLIMPORT char *event_source;
extern PGDLLIMPORT char *bonjour_name;

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;
static WsBufTable table;
static int	calls = 0;

#define MAPS "/proc/self/maps"
#define OTHER_MAPS "ws_test_maps"

static void **
word(HTAB *header, int i)
{
	return (void **) header + i;
}

/* ---------------------------------------------------------------- what is put in its place */

static uint32
other_hash(const void *key, Size keysize)
{
	return tag_hash(key, keysize);
}

static int
other_match(const void *a, const void *b, Size keysize)
{
	return memcmp(a, b, keysize);
}

static void *
other_keycopy(void *dest, const void *src, Size keysize)
{
	return memcpy(dest, src, keysize);
}

/* with another function than the one that was asked for */
static HTAB *
create_with_other_match(const char *name, long nelem, const HASHCTL *info, int flags)
{
	HASHCTL		other = *info;

	other.match = other_match;
	return hash_create(name, nelem, &other, flags);
}

/* under another name than the one that was asked for */
static HTAB *
create_renamed(const char *name, long nelem, const HASHCTL *info, int flags)
{
	char		other[256] = "not ";

	strlcat(other, name, sizeof(other));
	return hash_create(other, nelem, (HASHCTL *) info, flags);
}

static void *
no_shared_memory(const char *name, Size size, bool *found)
{
	elog(ERROR, "out of shared memory");
}

static uint32
hash_differently(BufferTag *tag)
{
	return ~BufTableHashCode(tag);
}

static long
count_nothing(HTAB *header)
{
	return 0;
}

static FILE *
open_without_proc(const char *name, const char *mode)
{
	return AllocateFile(strcmp(name, MAPS) == 0 ? "/proc/nowhere/maps" : name, mode);
}

static FILE *
open_other_maps(const char *name, const char *mode)
{
	return AllocateFile(strcmp(name, MAPS) == 0 ? OTHER_MAPS : name, mode);
}

static FILE *
create_other_maps(void)
{
	FILE	   *file = fopen(OTHER_MAPS, "w");

	if (file == NULL)
		elog(FATAL, "could not write \"%s\": %m", OTHER_MAPS);
	return file;
}

/*
 * No line of it is one of a list of memory.  The first one is so long that its
 * second kilobyte looks like such a line.
 */
static void
garble_maps(void)
{
	FILE	   *file = create_other_maps();

	for (int i = 0; i < 5000; i++)
		fputc('g' + i % 20, file);
	fseek(file, 1023, SEEK_SET);
	fputs("1000-2000 rw-p 0 0 0 ", file);
	fseek(file, 0, SEEK_END);
	fputs("\n\n-\nrw-p\n1-2\n1000-2000 r\n3000-4000 r-xp 0 0 0\nzz-zz rw-p\n", file);
	fwrite("\0\0\n\377\376 rw-p\n", 1, 11, file);
	fclose(file);
}

/* all memory but that of programs and libraries may not be read */
static void
withhold_maps(void)
{
	FILE	   *in = fopen(MAPS, "r");
	FILE	   *out = create_other_maps();
	char		line[8192];

	while (in != NULL && fgets(line, sizeof(line), in))
	{
		char	   *mode = strstr(line, " rw-p ");

		if (mode != NULL && strstr(line, " /") == NULL)
			memcpy(mode, " ---p ", 6);
		fputs(line, out);
	}
	if (in != NULL)
		fclose(in);
	fclose(out);
}

static int
no_program(int (*callback) (struct dl_phdr_info *, size_t, void *), void *data)
{
	return 0;
}

/* the first two times, when the bit is to be learnt, both modes are the same */
static bool
lock_alike(LWLock *lock, LWLockMode mode)
{
	if (lock == &MainLWLockArray[BUFFER_MAPPING_LWLOCK_OFFSET].lock && calls++ < 2)
		mode = LW_EXCLUSIVE;
	return LWLockAcquire(lock, mode);
}

static int
find_nothing(BufferTag *tag, uint32 hash)
{
	return -1;
}

/* leaves the page in the table for a moment, and with it a mark */
static int
find_by_making(BufferTag *tag, uint32 hash)
{
	int			found = BufTableLookup(tag, hash);

	if (found < 0)
	{
		BufTableInsert(tag, hash, 0);
		BufTableDelete(tag, hash);
	}
	return found;
}

static int
find_unseen(BufferTag *tag, uint32 hash)
{
	void	   *match = *word(table.header, table.match);
	int			found;

	*word(table.header, table.match) = memcmp;
	found = BufTableLookup(tag, hash);
	*word(table.header, table.match) = match;
	return found;
}

static int
enter_unseen(BufferTag *tag, uint32 hash, int buffer)
{
	void	   *keycopy = *word(table.header, table.keycopy);
	int			found;

	*word(table.header, table.keycopy) = memcpy;
	found = BufTableInsert(tag, hash, buffer);
	*word(table.header, table.keycopy) = keycopy;
	return found;
}

/* as a hit does */
static void
remove_under_shared_lock(BufferTag *tag, uint32 hash)
{
	LWLock	   *lock = BufMappingPartitionLock(hash);

	LWLockRelease(lock);
	LWLockAcquire(lock, LW_SHARED);
	BufTableDelete(tag, hash);
}

static void
remove_with_error(BufferTag *tag, uint32 hash)
{
	elog(ERROR, "shared buffer hash table corrupted");
}

/* ---------------------------------------------------------------- faults */

/* a header that is no header: the words of the server's, in other memory */
static void
plant_copy(void)
{
	void	  **copy = malloc(64 * sizeof(void *));

	memcpy(copy, table.header, 16 * sizeof(void *));
	event_source = (char *) copy;
}

/* memory that ends with these bytes; what comes next must not be read */
static void *
at_the_end(const void *bytes, size_t size)
{
	long		page = sysconf(_SC_PAGESIZE);
	char	   *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0)
		elog(FATAL, "could not map memory: %m");
	return memcpy(memory + page - size, bytes, size);
}

/*
 * More pieces of memory than most servers have, listed before all others:
 * every other page may not be read.
 */
#define PIECES 6000

static void
make_pieces(void)
{
	long		page = sysconf(_SC_PAGESIZE);
	char	   *memory = mmap((void *) (uintptr_t) 0x100000000, 2 * PIECES * page, PROT_NONE,
							  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (memory == MAP_FAILED)
		elog(FATAL, "could not map memory: %m");
	for (int i = 0; i < PIECES; i++)
		if (mprotect(memory + 2 * i * page, page, PROT_READ | PROT_WRITE) != 0)
			elog(FATAL, "could not map memory: %m");
}

/*
 * Words that look like pointers: to memory that must not be read, and to the
 * end of what may be, behind which it must not.
 */
static void
plant_wild_pointers(void)
{
	long		page = sysconf(_SC_PAGESIZE);
	char	   *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0 ||
		munmap(memory + 2 * page, page) != 0)
		elog(FATAL, "could not map memory: %m");

	/* would be the table's, were there more of it */
	*(void **) (memory + page - sizeof(void *)) = *word(table.header, 0);
	event_source = memory + page - sizeof(void *);
	bonjour_name = strcmp(GetConfigOption("ws_test.fault", false, false), "wild_pointers") == 0 ?
		memory + page : memory + 2 * page;
}

static void
spoil(const char *fault)
{
	char	   *kept_event_source = event_source;
	char	   *kept_bonjour_name = bonjour_name;
	void	   *kept_shared = *word(table.header, 0);
	void	   *kept_name = *word(table.header, table.name);
	LWLock	   *last = &MainLWLockArray[BUFFER_MAPPING_LWLOCK_OFFSET + NUM_BUFFER_PARTITIONS - 1].lock;

#define FAULT(name) (strcmp(fault, name) == 0)
	if (FAULT("no_memory"))
		REWIRE("ShmemInitStruct", no_shared_memory);
	else if (FAULT("no_functions"))
		REWIRE("BufTableHashCode", NULL);
	else if (FAULT("layout"))
		REWIRE("hash_create", create_with_other_match);
	else if (FAULT("layout_name"))
		REWIRE("hash_create", create_renamed);
	else if (FAULT("other_name"))
		*word(table.header, table.name) = at_the_end(WS_BUFTABLE_NAME " 2", sizeof(WS_BUFTABLE_NAME) + 2);
	else if (FAULT("unreadable_name"))
		*word(table.header, table.name) = (char *) at_the_end("", 1) + 1;
	else if (FAULT("no_name"))
		*word(table.header, table.name) = NULL;
	else if (FAULT("endless_name"))
		*word(table.header, table.name) = at_the_end(WS_BUFTABLE_NAME, strlen(WS_BUFTABLE_NAME));
	else if (FAULT("name_at_the_end"))
		*word(table.header, table.name) = at_the_end(WS_BUFTABLE_NAME, sizeof(WS_BUFTABLE_NAME));
	else if (FAULT("not_shared"))
		*word(table.header, 0) = table.header;
	else if (FAULT("pieces"))
		make_pieces();
	else if (FAULT("two_variables"))
		event_source = (char *) table.header;
	else if (FAULT("other_locks"))
		last->tranche = LWTRANCHE_LOCK_MANAGER;
	else if (FAULT("other_key"))
		REWIRE("BufTableHashCode", hash_differently);
	else if (FAULT("uncounted"))
		REWIRE("hash_get_num_entries", count_nothing);
	else if (FAULT("no_proc"))
		REWIRE("AllocateFile", open_without_proc);
	else if (FAULT("garbled_maps"))
	{
		garble_maps();
		REWIRE("AllocateFile", open_other_maps);
	}
	else if (FAULT("unreadable"))
	{
		withhold_maps();
		REWIRE("AllocateFile", open_other_maps);
	}
	else if (FAULT("no_program"))
		REWIRE("dl_iterate_phdr", no_program);
	else if (FAULT("copied_header"))
		plant_copy();
	else if (FAULT("wild_pointers") || FAULT("wilder_pointers"))
		plant_wild_pointers();
	else if (FAULT("server_hash"))
		*word(table.header, table.hash) = other_hash;
	else if (FAULT("server_match"))
		ws_buftable_set_functions(&table, other_match, NULL);
	else if (FAULT("server_keycopy"))
		ws_buftable_set_functions(&table, NULL, other_keycopy);
	else if (FAULT("unclear_bit"))
		REWIRE("LWLockAcquire", lock_alike);
	else if (FAULT("not_found"))
		REWIRE("BufTableLookup", find_nothing);
	else if (FAULT("miss_recorded"))
		REWIRE("BufTableLookup", find_by_making);
	else if (FAULT("insert_unseen"))
		REWIRE("BufTableInsert", enter_unseen);
	else if (FAULT("hit_unseen"))
		REWIRE("BufTableLookup", find_unseen);
	else if (FAULT("removal_recorded"))
		REWIRE("BufTableDelete", remove_under_shared_lock);
	else if (FAULT("removal_fails"))
		REWIRE("BufTableDelete", remove_with_error);
	else if (!FAULT("none"))
		elog(FATAL, "unknown fault \"%s\"", fault);

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	/* the server does not expect them to be what they are not */
	event_source = kept_event_source;
	bonjour_name = kept_bonjour_name;
	*word(table.header, 0) = kept_shared;
	*word(table.header, table.name) = kept_name;
	last->tranche = LWTRANCHE_BUFFER_MAPPING;
	unlink(OTHER_MAPS);
}

static void
startup(void)
{
	ws_buftable_find(&table);
	spoil(GetConfigOption("ws_test.fault", false, false));
}

void
_PG_init(void)
{
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
}
