// SPDX-License-Identifier: GPL-2.0
#include "sample.h"

#define ERA_SHIFT 4
#define BACKOFF 15u

void ls_sample_turn(struct ls_sample *s, ls_u64 ip)
{
	ls_u32 *due = &s->due[ls_place(ip)], was = ls_load(due);
	ls_u32 era = ls_load(&s->now) >> ERA_SHIFT, backoff = was & BACKOFF;
	ls_u32 late = (era - (was >> ERA_SHIFT)) & (~0u >> ERA_SHIFT);

	/* Run again as soon as allowed: hot. Later than its wait required: cold again. */
	if (late >= 1u << backoff)
		backoff = 0;
	else if (backoff < LS_MAX_BACKOFF)
		backoff++;
	ls_store(due, (era + (1u << backoff)) << ERA_SHIFT | backoff);
}

void ls_sample_take(struct ls_sample *s, ls_u64 addr)
{
	ls_u32 b = ls_block(addr);

	if (ls_fetch_add(&s->taken, 1) + 1 >= LS_ERA_BLOCKS)
		ls_store(&s->open, 0);
	/* Before the bit: a CPU that sees the bit also sees the new term. */
	ls_store(&s->term[b], (ls_u16)(ls_load(&s->term[b]) + 1));
	ls_store(&s->left[b], LS_TERM_ACCESSES);
	ls_fetch_or(&s->watched[b / 64], 1ull << b % 64);
}

void ls_sample_spend(struct ls_sample *s, ls_u64 addr, bool last)
{
	ls_u32 b = ls_block(addr);
	ls_u16 left = ls_load(&s->left[b]);

	/* Concurrent updates may be lost: it is a limit, not an exact count. */
	if (left == LS_FOREVER)
		return;
	if (left > 1 && !last)
		ls_store(&s->left[b], (ls_u16)(left - 1));
	else
		ls_fetch_and(&s->watched[b / 64], ~(1ull << b % 64));
}

void ls_sample_epoch(struct ls_sample *s, ls_u32 share, ls_u32 phase, bool sampled)
{
	ls_u32 b;

	for (b = 0; b < LS_BLOCKS; b++) {
		ls_u64 bit = 1ull << b % 64;

		if (share && !((b ^ phase) & (share - 1))) {
			ls_store(&s->term[b], (ls_u16)(ls_load(&s->term[b]) + 1));
			ls_store(&s->left[b], sampled ? LS_SHARE_ACCESSES : LS_FOREVER);
			ls_fetch_or(&s->watched[b / 64], bit);
		} else {
			ls_store(&s->left[b], 0);
			ls_fetch_and(&s->watched[b / 64], ~bit);
		}
	}
	ls_store(&s->open, sampled);
}

void ls_sample_era(struct ls_sample *s)
{
	ls_store(&s->taken, 0);
	ls_store(&s->open, 1);
	ls_store(&s->now, ((ls_load(&s->now) >> ERA_SHIFT) + 1) << ERA_SHIFT | BACKOFF);
}
