/* SPDX-License-Identifier: GPL-2.0 */
/* Offsets of records in the log by number. One writer at a time. */
#ifndef LOCKSCOPE_LOGINDEX_H
#define LOCKSCOPE_LOGINDEX_H

#include <linux/types.h>

#define LS_LOGINDEX_SEG_BITS 12
#define LS_LOGINDEX_SEGS 1024

/* Log offset (in units of 8) per ordinal, in segments allocated as needed. */
struct ls_logindex {
	u32 *segs[LS_LOGINDEX_SEGS];
	u32 nr;
};

bool ls_logindex_room(struct ls_logindex *x);
void ls_logindex_add(struct ls_logindex *x, u64 at);
bool ls_logindex_get(const struct ls_logindex *x, u32 i, u64 *at);
void ls_logindex_free(struct ls_logindex *x);

#endif /* LOCKSCOPE_LOGINDEX_H */
