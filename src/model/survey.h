/*
 * survey.h
 *		How much of each relation do the page caches hold, and where?
 *
 * What the kernel reads ahead depends on it: relations are divided into
 * regions, of which some share is cached (twotier.h).
 */
#ifndef WS_SURVEY_H
#define WS_SURVEY_H

#include "twotier.h"

/*
 * Find out, for each page cache, how much of each relation is in it, and where,
 * from the blocks that the relation has, and how much of the cache is in shared
 * buffers, too.  To be called every half minute or so.
 */
extern void ws_survey(WsTwoTier *tiers, const WsSweep *sweep);

#endif							/* WS_SURVEY_H */
