// SPDX-License-Identifier: GPL-2.0
/*
 * Ordering between contexts, and objects handed from one to another: lockclass/order.h for
 * this kernel's contexts.
 */
#include <linux/kernel.h>

#include "check/access/access.h"
#include "check/access/handover.h"
#include "core/context.h"
#include "order.h"

static struct ls_order order;

static u32 me(void)
{
	u32 level;

	ls_context(this_cpu_ptr(&ls_cpus), &level);
	return ls_access_context(level);
}

void ls_completed(u64 what)
{
	ls_order_completed(&order, what, me(), &ls_acc->sync);
}

void ls_waited(u64 what)
{
	ls_order_waited(&order, what, me(), &ls_acc->sync);
}

void ls_handover_follow(struct ls_now *n)
{
	struct ls_access_cpu *c = this_cpu_ptr(&ls_access_cpus);

	n->way = (struct ls_way){
		.addr = n->addr, .start = n->start, .context = n->context, .lockset = n->lockset,
		.fixed = !n->start && n->addr >= __START_KERNEL_map,
	};
	n->object = ls_order_follow(&order, &n->way, &ls_acc->sets, &ls_acc->sync, &c->link_locked);
}

bool ls_ordered(void *cookie, u32 from, u32 to, u32 stamp)
{
	const struct ls_now *n = cookie;

	return ls_order_known(&order, &n->way, from, stamp);
}

void ls_handover_forget(u64 start)
{
	ls_order_forget(&order, start);
}

void ls_handover_clear(void)
{
	ls_order_clear(&order);
}
