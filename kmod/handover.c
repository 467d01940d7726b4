// SPDX-License-Identifier: GPL-2.0
/* Who has waited for whom. Direct-mapped tables: what falls out was not seen. */
#include <linux/kernel.h>

#include "access.h"
#include "handover.h"

#define ORDER_BITS 12

/* tag << 21 | stamp */
static u64 releases[1 << ORDER_BITS];	/* what was waited for -> stamp */
static u16 releasers[1 << ORDER_BITS];	/* and by whom it was let go */
static u64 joins[1 << ORDER_BITS];	/* (from, to) -> stamp */

static u64 tag_of(u64 key)
{
	return key & ~(u64)LS_STAMP_MASK;
}

u32 ls_order_tick(void)
{
	return (ls_fetch_add(&ls_acc->sync, 1) + 1) & LS_STAMP_MASK;
}

static u32 me(void)
{
	u32 level;

	ls_context(this_cpu_ptr(&ls_cpus), &level);
	return ls_access_context(level);
}

void ls_completed(u64 what)
{
	u64 key = ls_mix(what);
	u32 i = key >> (64 - ORDER_BITS);

	ls_store(&releasers[i], (u16)me());
	ls_store_release(&releases[i], tag_of(key << ORDER_BITS) | ls_order_tick());
}

void ls_waited(u64 what)
{
	u64 key = ls_mix(what), slot, pair;
	u32 i = key >> (64 - ORDER_BITS), from;

	slot = ls_load_acquire(&releases[i]);
	if (!slot || tag_of(slot) != tag_of(key << ORDER_BITS))
		return;
	from = ls_load(&releasers[i]);
	pair = ls_mix((u64)from << 16 | me());
	ls_store(&joins[pair >> (64 - ORDER_BITS)],
		 tag_of(pair << ORDER_BITS) | (slot & LS_STAMP_MASK));
}

bool ls_order_known(u32 from, u32 to, u32 stamp)
{
	u64 pair = ls_mix((u64)from << 16 | to);
	u64 slot = ls_load(&joins[pair >> (64 - ORDER_BITS)]);

	return slot && tag_of(slot) == tag_of(pair << ORDER_BITS) &&
	       ls_stamp_before(stamp, slot & LS_STAMP_MASK);
}

void ls_order_clear(void)
{
	memset(releases, 0, sizeof(releases));
	memset(joins, 0, sizeof(joins));
}
