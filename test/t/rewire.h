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

static int
rewire_object(struct dl_phdr_info *info, size_t size, void *data)
{
	Wire	   *wire = data;
	ElfW(Addr) base = info->dlpi_addr;
	const		ElfW(Dyn) * dyn = NULL;
	const		ElfW(Sym) * symbols = NULL;
	const char *names = NULL;
	const		ElfW(Rela) * rela[2] = {NULL, NULL};
	size_t		bytes[2] = {0, 0};
	long		page = sysconf(_SC_PAGESIZE);

	if (strstr(info->dlpi_name, "/working_set.so") == NULL)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dyn = (void *) (base + info->dlpi_phdr[i].p_vaddr);
	for (; dyn->d_tag != DT_NULL; dyn++)
	{
		if (dyn->d_tag == DT_SYMTAB)
			symbols = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_STRTAB)
			names = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_RELA)
			rela[0] = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_RELASZ)
			bytes[0] = dyn->d_un.d_val;
		else if (dyn->d_tag == DT_JMPREL)
			rela[1] = (void *) address(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag == DT_PLTRELSZ)
			bytes[1] = dyn->d_un.d_val;
	}
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < bytes[k] / sizeof(ElfW(Rela)); i++)
		{
			const		ElfW(Rela) * r = &rela[k][i];
			size_t		symbol = sizeof(void *) == 8 ? r->r_info >> 32 : r->r_info >> 8;
			char	   *slot = (char *) (base + r->r_offset);

			if (symbol == 0 || strcmp(names + symbols[symbol].st_name, wire->symbol) != 0)
				continue;
			if (mprotect((void *) TYPEALIGN_DOWN(page, slot), page, PROT_READ | PROT_WRITE) != 0)
				elog(FATAL, "could not make room for %s: %m", wire->symbol);
			*(void **) slot = wire->function;
			wire->found++;
		}
	return 1;
}

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
