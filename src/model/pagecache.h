/*
 * pagecache.h
 *		A miniature of the kernel's page cache: what of the reads that shared
 *		buffers miss would a page cache of another size hold?
 *
 * As with the sweeps (sweep.h), a cache that sees one page in so many stands
 * for one that is larger by the same factor.
 *
 * The replacement is Linux's.  A page that is read goes to the head of the
 * inactive list, and to the active list when it is used again there.  Reclaim
 * takes from the tail of the inactive list.  A page that comes back after
 * fewer evictions and activations than the active list has pages would have
 * stayed, had the active list been smaller: it becomes active at once (the
 * refault distance).  While the active list is too large for the inactive one,
 * reclaim also moves pages from the tail of the active list to the inactive
 * one, in proportion to the two lists' sizes.  Writing a page makes it neither
 * active nor used.
 *
 * It also does so while pages come back and become active, as statistics show.
 * Since Linux 6.12, in a control group at its limit, these are up to two
 * seconds old, and it moves one batch each time they change: of 11,000 pages of
 * 4 kB evicted in a second, 15 were moved (6.18).  Where reclaim sees it so
 * late, that is left out.  The active list of that kernel is also a little
 * longer than this one: programs' files are on it, and it is seen late that it
 * is too long.  So the distance within which a page becomes active is the
 * length of the list and a sixteenth of the cache.  The sixteenth fits a
 * measured loop, with caches of 85 to 255 MB.
 *
 * Swap is not simulated; with it more pages become active.
 *
 * The kernel's other replacement, of generations (MGLRU), is not simulated.
 * Nor are large folios: where a file was read or written in order, the kernel
 * may keep and evict pieces of it as a whole.
 *
 * References: Linux, mm/workingset.c, mm/vmscan.c and mm/filemap.c (6.18).
 */
#ifndef WS_PAGECACHE_H
#define WS_PAGECACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WS_PAGECACHE_PAGES_MAX	16000

/* Many page caches are simulated, so a page takes one word in each. */
typedef struct WsPageCachePage
{
	uint32_t	held:1;
	uint32_t	active:1;
	uint32_t	referenced:1;
	/* on its list, towards the tail; if not held, the age at its eviction, */
	uint32_t	next:14;
	uint32_t	prev:14;		/* its upper half; 0: it never was evicted */
} WsPageCachePage;

typedef struct WsPageCache
{
	uint32_t	npages;
	double		wanted;			/* pages that it should hold, */
	uint32_t	capacity;		/* and that it may: no more than there are */
	uint32_t	held[2];		/* that it does, inactive and active */
	uint32_t	ratio;			/* active to inactive: at most */
	bool		late;			/* reclaim sees late that pages come back */
	uint32_t	age;			/* evictions and activations so far */
	double		refaults;		/* activated so for each evicted page, lately */
	double		owed;			/* pages to be moved off the active list */
	WsPageCachePage pages[];	/* then the heads of the two lists */
} WsPageCache;

/* Bytes for page numbers below this; make it, with a capacity of no page. */
extern size_t ws_pagecache_size(uint32_t pages);
extern void ws_pagecache_init(WsPageCache *cache, uint32_t pages);

/*
 * Let it hold so many of the pages, evicting what is over, for a page cache
 * that really has so many bytes: on these depends how large the active list
 * may be.  late: reclaim sees late that pages come back.
 */
extern void ws_pagecache_resize(WsPageCache *cache, double pages, double bytes, bool late);

/* Read a page; was it there? */
extern bool ws_pagecache_use(WsPageCache *cache, uint32_t page);

/* Bring in a page that nobody asked for, as the kernel reads ahead. */
extern void ws_pagecache_ahead(WsPageCache *cache, uint32_t page);

/* Write a whole page: only reads make a page active. */
extern void ws_pagecache_write(WsPageCache *cache, uint32_t page);

/* The page's number may be another's next time. */
extern void ws_pagecache_forget(WsPageCache *cache, uint32_t page);

/* Does it hold clearly less than it should? */
extern bool ws_pagecache_is_cold(const WsPageCache *cache);

extern bool ws_pagecache_holds(const WsPageCache *cache, uint32_t page);

#endif							/* WS_PAGECACHE_H */
