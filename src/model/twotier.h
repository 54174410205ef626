/*
 * twotier.h
 *		Which reads would come from disk, with other sizes of shared buffers and
 *		of the kernel's page cache?
 *
 * What the sweep of a size of shared buffers misses goes to miniature page
 * caches (pagecache.h) of several sizes: one for each pair.  They see fewer
 * pages than the sweeps do, those of the highest strata, as many as fit.
 *
 * A miss costs a wait and a block, and what the kernel reads with it
 * (readahead.h): that depends on how much is cached near it, and other pages
 * from there come in, too.  So relations are divided into regions (survey.c),
 * of some simulated pages each.  In a sequential scan nothing is read that is
 * not asked for, but a process waits only once for as much as the device reads
 * ahead.  Written pages are cached without being read.  So is WAL: the same
 * files are written over and over, and take what they take from other pages.
 *
 * A page that was used before it is simulated, such as one of a stratum that
 * joins, may or may not be in the caches: its first miss of each size of shared
 * buffers is not counted.
 *
 * One process uses them.  Pages are numbers of entries in the sample table.
 */
#ifndef WS_TWOTIER_H
#define WS_TWOTIER_H

#include "pagecache.h"
#include "pagehash.h"
#include "readahead.h"
#include "stream.h"
#include "sweep.h"

/*
 * Sizes of shared buffers, those of sweeps, and of page caches, as multiples of
 * what the caller says, ascending.
 */
#define WS_TIER_BUFFERS		8
#define WS_TIER_CACHES		12
#define WS_TIER_PRESENT		2	/* the present size of shared buffers */
#define WS_TIER_FOLLOWER	7	/* the one that is followed: it may jump */
extern const int ws_tier_buffers[WS_TIER_BUFFERS];
extern const double ws_tier_caches[WS_TIER_CACHES];

#define WS_TIER_PAGES		4096	/* simulated */
#define WS_TIER_WAL			512 /* and of WAL, at most */
#define WS_TIER_REGION		64	/* simulated pages of a region, or more, or of
								 * a whole relation */
#define WS_TIER_NO_REGION	UINT16_MAX	/* of pages of new relations */
#define WS_TIER_HEADS		1024	/* of chains of relations; a power of two */

/* Counts of simulated accesses; all doubles, by groups of pages. */
typedef struct WsTierCounts
{
	double		asked[WS_TIER_BUFFERS][WS_ERROR_GROUPS];	/* misses of shared
															 * buffers */
	/* waits for the disk; blocks needed from there, and read ahead */
	double		waits[WS_TIER_BUFFERS][WS_TIER_CACHES][WS_ERROR_GROUPS];
	double		needed[WS_TIER_BUFFERS][WS_TIER_CACHES];
	double		ahead[WS_TIER_BUFFERS][WS_TIER_CACHES];
	/* needed by a cache that is not full: another might have had them */
	double		cold[WS_TIER_BUFFERS][WS_TIER_CACHES];
} WsTierCounts;

typedef struct WsTierPage
{
	uint16_t	entry;			/* or the next page that is free */
	uint16_t	relation;
	uint16_t	region;
	uint8_t		stratum;
	uint8_t		known;			/* behind which sizes of shared buffers, bits */
	uint8_t		dirty;			/* in which of them, bits */
	bool		clean;			/* in the server, or gone, or not seen yet */
	bool		checkpoint;		/* one began since it became dirty there */
	bool		held;			/* the caller's to set, when it looks for the
								 * page in a real page cache: is it in the
								 * simulated one, */
	float		cached;			/* and how much in that; NaN: since it came or
								 * was used, nobody looked */
	uint32_t	block;
} WsTierPage;

typedef struct WsTierRelation
{
	WsPageId	id;				/* of one of its pages */
	uint32_t	blocks;			/* the caller's to set; 0: not known */
	uint16_t	pages;			/* simulated; 0: none, a free entry */
	uint16_t	chained;		/* the next of its chain, or that is free, +
								 * 1; 0: none */
	uint16_t	region;			/* the first, of the last survey */
} WsTierRelation;

typedef struct WsTierRegion
{
	uint16_t	relation;
	uint32_t	block;			/* the first */
	uint16_t	first;			/* of its pages, in "order", */
	uint16_t	pages;			/* and how many there are */
	double		whole;			/* with those that nobody used */
	float		cached[WS_TIER_BUFFERS][WS_TIER_CACHES];	/* share of these */
} WsTierRegion;

typedef struct WsTwoTier
{
	uint32_t	shift;			/* pages of strata from this are simulated */
	uint32_t	used;			/* of the pages: how many, */
	uint32_t	free;			/* and the first that is not */
	uint32_t	block_bytes;
	double		rates[WS_STRATA];	/* of all pages, from a stratum on */
	double		rate;			/* simulated pages for each real one */
	double		bytes;			/* what page caches are multiples of */
	double		wal;			/* bytes of WAL that may be cached; of it: */
	uint32_t	wal_pages;		/* simulated; */
	/* behind each size of shared buffers: */
	uint32_t	wal_next[WS_TIER_BUFFERS];	/* the next one, */
	double		wal_owed[WS_TIER_BUFFERS];	/* and how many are to be written */
	uint64_t	seed;
	WsReadahead readahead;		/* the caller's to set, */
	bool		late;			/* and this: see pagecache.h */
	uint32_t	nrelations;		/* entries that are in use, or were; of those */
	uint16_t	free_relation;	/* that are not: the first, + 1; 0: none */
	uint16_t	heads[WS_TIER_HEADS];	/* first of the chain, + 1 */
	uint32_t	nregions;		/* of the last survey */
	uint32_t	single;			/* pages of relations that are one region: */
	uint16_t	order[WS_TIER_PAGES];	/* the first of all pages, by place */
	/* blocks to read ahead */
	double		owed[WS_TIER_BUFFERS][WS_TIER_CACHES];
	/* share of relations' pages that shared buffers lack; NaN: not full */
	float		only[WS_TIER_BUFFERS][WS_TIER_CACHES];
	WsPageCache *cache[WS_TIER_BUFFERS][WS_TIER_CACHES];
	WsTierPage	pages[WS_TIER_PAGES];
	/* not written until they are used */
	WsTierRelation relations[WS_TIER_PAGES];
	WsTierRegion regions[WS_TIER_PAGES];
	uint16_t	page[];			/* by entry; then the caches */
} WsTwoTier;

/* Bytes for entries below this; begin, aligned to 64. */
extern size_t ws_twotier_size(uint32_t entries);
extern void ws_twotier_init(WsTwoTier *tiers, uint32_t entries, uint32_t block_bytes);

/*
 * Strata from "shift" on may be simulated.  Those from s on, s at least shift,
 * have the share rates[s] of all pages, 0 to 1, as counted: by chance it is a
 * few percent off from 2^-s, and the page caches would be too small or too
 * large by as much.  These are multiples of so many bytes.  Call it now and
 * then, as the sample changes.
 */
extern void ws_twotier_resize(WsTwoTier *tiers, uint32_t shift, const double *rates, double bytes);

/*
 * The size that is followed has jumped: its page caches become copies of those
 * of the nearest other size, and nothing is counted for it.
 */
extern void ws_twotier_jump(WsTwoTier *tiers, const double *factors);
extern void ws_tier_counts_jump(WsTierCounts *counts);

/* Use a page, and count, unless counts is NULL. */
extern void ws_twotier_access(WsTwoTier *tiers, const WsAccess *access, WsTierCounts *counts);

/*
 * The page is in shared buffers and dirty, or not.  To be called for all pages
 * every second or so, and then, if one has begun, ws_twotier_checkpoint().
 *
 * While a page is dirty in the server it is dirty in every sweep that holds it.
 * (In one that has evicted it, and missed it since, it may really be clean.)
 * It is written when a sweep evicts it.  The server may write it before, such
 * as by the background writer: that counts at the present size only.  But a
 * checkpoint writes it at all sizes, either when it is clean in the server or
 * evicted by the present sweep, or before the next checkpoint begins.
 *
 * unseen: sizes that see no reads now (sweep.h).  So that their page caches
 * have as many writes for each read as others, they see no eviction either.
 */
extern void ws_twotier_seen(WsTwoTier *tiers, const WsSweep *sweep, uint32_t page, bool dirty,
							uint32_t unseen);
extern void ws_twotier_checkpoint(WsTwoTier *tiers);

/*
 * So many bytes of WAL were written since the last time, to files that have so
 * many; at least 1.  Of more than WS_TIER_WAL pages only these are simulated.
 * Behind sizes that see the reads of bursts only (sweep.h), it counts as much
 * less as these do.
 */
extern void ws_twotier_wal(WsTwoTier *tiers, double bytes, double files, uint32_t bursts_only);

/*
 * Blocks of a relation whose pages are simulated, and of those of its size of
 * which none is; of a new one, for those that were used.
 */
extern double ws_twotier_blocks(const WsTwoTier *tiers, const WsTierRelation *relation);

/*
 * Bytes of all relations, estimated from those whose pages are simulated, of a
 * new one as many as were used, and of WAL; NaN: there is none.
 */
extern double ws_twotier_whole(const WsTwoTier *tiers);

/* The entry in the sample table of page 0 to WS_TIER_PAGES - 1, or -1. */
extern int	ws_twotier_entry(const WsTwoTier *tiers, uint32_t page);

/* The entry's number may be another page's next time. */
extern void ws_twotier_forget(WsTwoTier *tiers, uint32_t page);

/* Forget all pages of the relation at this entry of "relations". */
extern void ws_twotier_forget_relation(WsTwoTier *tiers, uint32_t relation);

/*
 * Find out, for each page cache, how much of each relation is in it, and where,
 * from the blocks that the relation has, and how much of the cache is in shared
 * buffers, too (survey.c).  To be called every half minute or so.
 */
extern void ws_survey(WsTwoTier *tiers, const WsSweep *sweep);

#endif							/* WS_TWOTIER_H */
