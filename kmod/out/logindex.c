// SPDX-License-Identifier: GPL-2.0

#include <linux/string.h>

#include "base/memory.h"
#include "out/logindex.h"

/* Is there room for one more entry? Called before each. Process context. */
bool ls_logindex_room(struct ls_logindex *x)
{
	u32 seg = x->nr >> LS_LOGINDEX_SEG_BITS;

	if (seg >= LS_LOGINDEX_SEGS)
		return false;
	if (!x->segs[seg])
		x->segs[seg] = ls_zalloc(sizeof(u32) << LS_LOGINDEX_SEG_BITS);
	return x->segs[seg];
}

/* Add an entry: offset @at in the log. There is room. */
void ls_logindex_add(struct ls_logindex *x, u64 at)
{
	x->segs[x->nr >> LS_LOGINDEX_SEG_BITS][x->nr & ((1u << LS_LOGINDEX_SEG_BITS) - 1)] = at / 8;
	x->nr++;
}

/* Offset of entry @i, from 0. */
bool ls_logindex_get(const struct ls_logindex *x, u32 i, u64 *at)
{
	if (i >= x->nr)
		return false;
	*at = (u64)x->segs[i >> LS_LOGINDEX_SEG_BITS][i & ((1u << LS_LOGINDEX_SEG_BITS) - 1)] * 8;
	return true;
}

void ls_logindex_free(struct ls_logindex *x)
{
	u32 i;

	for (i = 0; i < LS_LOGINDEX_SEGS; i++)
		ls_free(x->segs[i]);
	memset(x, 0, sizeof(*x));
}
