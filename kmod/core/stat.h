/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics of every acquisition. */
#ifndef LOCKSCOPE_STAT_H
#define LOCKSCOPE_STAT_H

#include <linux/jump_label.h>

#include "core/state.h"

DECLARE_STATIC_KEY_FALSE(ls_stat_key);	/* a program is attached to acquired, released or waited */
DECLARE_STATIC_KEY_FALSE(ls_each_key);	/* no acquisition takes the fast path */
void ls_each_on(void);
void ls_each_off(void);
void ls_stat_acquired(struct ls_ctx *ctx, u64 lock, u64 ip, u32 val, bool held);
void ls_stat_released(struct ls_ctx *ctx, u32 i);
void ls_stat_waited(struct ls_ctx *ctx, const struct ls_wait *w, int ret);

#endif /* LOCKSCOPE_STAT_H */
