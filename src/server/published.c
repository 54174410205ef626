/*
 * published.c
 *		What the worker publishes; see published.h.
 */
#include "postgres.h"

#include "published.h"

WsSharedPublished *ws_published = NULL;

bool
ws_cache_user_equal(const WsCacheUser *a, const WsCacheUser *b)
{
	if (a->by != b->by)
		return false;
	if (a->by != WS_BY_RELATION)
		return ws_origin_equal(&a->origin, &b->origin);
	return memcmp(&a->relation, &b->relation, offsetof(WsPageId, fork)) == 0;
}
