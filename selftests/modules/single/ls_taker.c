// SPDX-License-Identifier: GPL-2.0
/*
 * Takes mutex_lock() and mutex_unlock() with direct-call trampolines of its
 * own, as a live patch or another tracer would. LockScope has to fall back to
 * another way of hooking them, and must not push this one out: its count goes
 * on rising.
 */
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <asm/ibt.h>

#include "base/wrapper/ftrace.h"

/* Keeps all registers and needs none: one memory operand, then back. */
void ls_taker_trampoline(void);
extern unsigned long ls_taker_hits;
unsigned long ls_taker_hits;

asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.type ls_taker_trampoline, @function\n"
    "	.globl ls_taker_trampoline\n"
    "ls_taker_trampoline:\n"
    "	" ASM_ENDBR "\n"
    "	lock incq ls_taker_hits(%rip)\n"
    "	" ASM_RET
    "	.size ls_taker_trampoline, .-ls_taker_trampoline\n"
    "	.popsection\n");

module_param_named(hits, ls_taker_hits, ulong, 0444);
MODULE_PARM_DESC(hits, "calls that passed the trampoline");

static struct ftrace_ops ops;

static int __init ls_taker_init(void)
{
	unsigned long functions[] = { (unsigned long)mutex_lock, (unsigned long)mutex_unlock };
	int ret = ftrace_set_filter_ips(&ops, functions, ARRAY_SIZE(functions), 0, 1);

	ret = ret ? ret : ls_direct_register(&ops, (unsigned long)ls_taker_trampoline);
	if (ret)
		ftrace_free_filter(&ops);
	return ret;
}

static void __exit ls_taker_exit(void)
{
	ls_direct_unregister(&ops, (unsigned long)ls_taker_trampoline);
	ftrace_free_filter(&ops);
}

module_init(ls_taker_init);
module_exit(ls_taker_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: another user of direct ftrace calls");
