/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_REARM_H
#define LOCKSCOPE_WRAPPER_REARM_H

/* The kernel's __hrtimer_rearm_deferred(); size 0 where it is not found. */
extern unsigned long ls_rearm_start, ls_rearm_size;

#if __has_include("linux/hrtimer_rearm.h")
#define LS_HAS_REARM true
#else
#define LS_HAS_REARM false
#endif

/* Is @ip in it? */
static __always_inline bool ls_rearms(unsigned long ip)
{
	return LS_HAS_REARM && ip - ls_rearm_start < ls_rearm_size;
}

#endif
