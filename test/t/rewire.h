/*
 * rewire.h
 *		Replacing a function that working_set.so calls, in this process and its
 *		children: its address is put where working_set.so keeps the address of
 *		that symbol, which is how the loader binds them.
 */
#ifndef WS_REWIRE_H
#define WS_REWIRE_H

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct Wire
{
	const char *symbol;
	void	   *function;
	int			found;
} Wire;

/* an address in the dynamic section: relocated by the loader, or not */
static ElfW(Addr)
address(ElfW(Addr) base, ElfW(Addr) p)
{
	return p < base ? base + p : p;
}

/* What the loader keeps of a library: its symbols, and where their addresses are. */
typedef struct Dynamic
{
	const		ElfW(Sym) * symbols;
	const char *names;
	const		ElfW(Rela) * rela[2];	/* of data, and of calls */
	size_t		bytes[2];
} Dynamic;

/* That of working_set.so; false if this is another one. */
static bool
read_dynamic(const struct dl_phdr_info *info, Dynamic *d)
{
	ElfW(Addr) base = info->dlpi_addr;
	const		ElfW(Dyn) * dyn = NULL;

	memset(d, 0, sizeof(*d));
	if (strstr(info->dlpi_name, "/working_set.so") == NULL)
		return false;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dyn = (void *) (base + info->dlpi_phdr[i].p_vaddr);
	for (; dyn->d_tag != DT_NULL; dyn++)
	{
		if (dyn->d_tag == DT_SYMTAB)
			d->symbols = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_STRTAB)
			d->names = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_RELA)
			d->rela[0] = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_RELASZ)
			d->bytes[0] = dyn->d_un.d_val;
		else if (dyn->d_tag == DT_JMPREL)
			d->rela[1] = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_PLTRELSZ)
			d->bytes[1] = dyn->d_un.d_val;
	}
	return true;
}

static int
rewire_object(struct dl_phdr_info *info, size_t size, void *data)
{
	Wire	   *wire = data;
	Dynamic		d;
	long		page = sysconf(_SC_PAGESIZE);

	if (!read_dynamic(info, &d))
		return 0;
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < d.bytes[k] / sizeof(ElfW(Rela)); i++)
		{
			const		ElfW(Rela) * r = &d.rela[k][i];
			size_t		symbol = sizeof(void *) == 8 ? r->r_info >> 32 : r->r_info >> 8;
			char	   *slot = (char *) (info->dlpi_addr + r->r_offset);

			if (symbol == 0 || strcmp(d.names + d.symbols[symbol].st_name, wire->symbol) != 0)
				continue;
			if (mprotect((void *) TYPEALIGN_DOWN(page, slot), page, PROT_READ | PROT_WRITE) != 0)
				elog(FATAL, "could not make room for %s: %m", wire->symbol);
			*(void **) slot = wire->function;
			wire->found++;
		}
	return 1;
}

pg_attribute_unused()
static void
rewire(const char *symbol, void *function)
{
	Wire		wire = {symbol, function, 0};

	dl_iterate_phdr(rewire_object, &wire);
	if (wire.found == 0)
		elog(FATAL, "working_set.so does not call %s", symbol);
}

#define REWIRE(symbol, function) rewire(symbol, (void *) (uintptr_t) (function))

#endif							/* WS_REWIRE_H */
