// SPDX-License-Identifier: GPL-2.0
/*
 * Takes mutex_lock() and mutex_unlock() with direct-call trampolines of its
 * own, as a live patch or another tracer would. LockScope has to fall back to
 * another way of hooking them, and must not push this one out: its count goes
 * on rising.
 */
#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/mutex.h>

/* Keeps all registers and needs none: one memory operand, then back. */
void ls_taker_trampoline(void);
extern unsigned long ls_taker_hits;
unsigned long ls_taker_hits;

asm("	.pushsection .text, \"ax\", @progbits\n"
    "	.type ls_taker_trampoline, @function\n"
    "	.globl ls_taker_trampoline\n"
    "ls_taker_trampoline:\n"
    "	lock incq ls_taker_hits(%rip)\n"
    "	" ASM_RET
    "	.size ls_taker_trampoline, .-ls_taker_trampoline\n"
    "	.popsection\n");

module_param_named(hits, ls_taker_hits, ulong, 0444);
MODULE_PARM_DESC(hits, "calls that passed the trampoline");

static int __init ls_taker_init(void)
{
	int ret;

	ret = register_ftrace_direct((unsigned long)mutex_lock, (unsigned long)ls_taker_trampoline);
	if (ret)
		return ret;
	ret = register_ftrace_direct((unsigned long)mutex_unlock,
				     (unsigned long)ls_taker_trampoline);
	if (ret)
		unregister_ftrace_direct((unsigned long)mutex_lock,
					 (unsigned long)ls_taker_trampoline);
	return ret;
}

static void __exit ls_taker_exit(void)
{
	unregister_ftrace_direct((unsigned long)mutex_unlock, (unsigned long)ls_taker_trampoline);
	unregister_ftrace_direct((unsigned long)mutex_lock, (unsigned long)ls_taker_trampoline);
}

module_init(ls_taker_init);
module_exit(ls_taker_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: another user of direct ftrace calls");
