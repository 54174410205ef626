/*
 * path.c
 *		For 022_path.pl: counts what working_set calls while the server is in one
 *		of the two functions that it put into the buffer lookup table.
 *
 * Preloaded after working_set, it puts functions of its own around these two, and
 * a few instructions in front of each function that working_set.so calls from
 * elsewhere: from the server or from a library, by an address that the loader
 * keeps for it.  They count the call if the process is inside.  All else that
 * allocates, waits, reports or calls the kernel has to be called so, and what the
 * library does by itself is memory and arithmetic.
 *
 * The functions around also enter a critical section, in which a server with
 * assertions allows no allocation, and any server makes an error a PANIC.
 */
#include "postgres.h"

#include <dlfcn.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"

#include "compat.h"
#include "buftable.h"
#include "rewire.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);
PG_FUNCTION_INFO_V1(ws_test_path);
PGDLLEXPORT Datum ws_test_path(PG_FUNCTION_ARGS);

#define MAX_CALLED 256

typedef struct Called
{
	const char *name;
	uint64		count;			/* atomic, by all processes */
} Called;

static shmem_startup_hook_type prev_shmem_startup_hook = NULL;
static HashCompareFunc real_match;
static HashCopyFunc real_insert;

static volatile int inside = 0;	/* is this process in one of the two? */
static Called *called;			/* in memory that all processes share; first are
								 * the two themselves */
static int	ncalled = 0;

static int
counted_match(const void *entry_key, const void *key, Size keysize)
{
	int			result;

	CritSectionCount++;
	inside = 1;
	result = real_match(entry_key, key, keysize);
	inside = 0;
	CritSectionCount--;
	__atomic_fetch_add(&called[0].count, 1, __ATOMIC_RELAXED);
	return result;
}

static void *
counted_insert(void *entry_key, const void *key, Size keysize)
{
	void	   *result;

	CritSectionCount++;
	inside = 1;
	result = real_insert(entry_key, key, keysize);
	inside = 0;
	CritSectionCount--;
	__atomic_fetch_add(&called[1].count, 1, __ATOMIC_RELAXED);
	return result;
}

/* Append a piece of code, which may end with an address. */
static char *
put_code(char *p, const char *bytes, int n, const void *address, int naddresses)
{
	memcpy(p, bytes, n);
	p += n;
	if (naddresses > 0)
	{
		memcpy(p, &address, sizeof(address));
		p += sizeof(address);
	}
	return p;
}

/*
 * if (inside) count++; goto function.  r11 is nobody's at a call.
 */
static char *
write_thunk(char *p, Called *c, void *function)
{
	p = put_code(p, "\x49\xBB", 2, (const void *) &inside, 1);	/* mov &inside, r11 */
	p = put_code(p, "\x41\x83\x3B\x00\x74\x0E", 6, NULL, 0);	/* cmp 0, (r11); je */
	p = put_code(p, "\x49\xBB", 2, &c->count, 1);	/* mov &count, r11 */
	p = put_code(p, "\xF0\x49\xFF\x03", 4, NULL, 0);	/* lock inc (r11) */
	p = put_code(p, "\x49\xBB", 2, function, 1);	/* mov function, r11 */
	return put_code(p, "\x41\xFF\xE3", 3, NULL, 0); /* jmp r11 */
}

static int
count_calls(struct dl_phdr_info *info, size_t size, void *data)
{
	Dynamic		d;
	size_t		page = sysconf(_SC_PAGESIZE);
	char	   *code;
	char	   *p;

	if (!read_dynamic(info, &d))
		return 0;
	code = p = mmap(NULL, 64 * MAX_CALLED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		elog(FATAL, "could not map memory for code: %m");
	for (size_t i = 0; i < d.bytes[1] / sizeof(ElfW(Rela)); i++)
	{
		const		ElfW(Sym) * symbol = &d.symbols[d.rela[1][i].r_info >> 32];
		const char *name = d.names + symbol->st_name;
		void	   *function = dlsym(RTLD_DEFAULT, name);
		char	   *slot = (char *) (info->dlpi_addr + d.rela[1][i].r_offset);

		if (symbol->st_shndx != 0 || function == NULL)
			continue;
		if (ncalled == MAX_CALLED)
			elog(FATAL, "too many functions are called");
		if (mprotect((void *) TYPEALIGN_DOWN(page, slot), page, PROT_READ | PROT_WRITE) != 0)
			elog(FATAL, "could not make room for %s: %m", name);
		called[ncalled].name = strdup(name);
		*(void **) slot = p;
		p = write_thunk(p, &called[ncalled], function);
		ncalled++;
	}
	if (mprotect(code, 64 * MAX_CALLED, PROT_READ | PROT_EXEC) != 0)
		elog(FATAL, "could not make code executable: %m");
	return 1;
}

static void
startup(void)
{
	static WsBufTable table;
	void	  **header;

	/* as it is before working_set's turn */
	ws_buftable_find(&table);
	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	header = (void **) table.header;
	real_match = (HashCompareFunc) header[table.match];
	real_insert = (HashCopyFunc) header[table.keycopy];
	ws_buftable_set_functions(&table, counted_match, counted_insert);
	dl_iterate_phdr(count_calls, NULL);
}

void
_PG_init(void)
{
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup;
	called = mmap(NULL, MAX_CALLED * sizeof(Called), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (called == MAP_FAILED)
		elog(FATAL, "could not map memory for counts: %m");
	called[ncalled++].name = "match()";
	called[ncalled++].name = "insert()";
}

/*
 * What was called, and how often: NAME COUNT in each line.
 */
Datum
ws_test_path(PG_FUNCTION_ARGS)
{
	StringInfoData lines;

	initStringInfo(&lines);
	for (int i = 0; i < ncalled; i++)
		if (called[i].count > 0)
			appendStringInfo(&lines, "%s %llu\n", called[i].name, (unsigned long long) called[i].count);
	PG_RETURN_TEXT_P(cstring_to_text(lines.data));
}
