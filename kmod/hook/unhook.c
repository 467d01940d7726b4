// SPDX-License-Identifier: GPL-2.0
/*
 * Unload while tasks sleep inside a function that returns through a trampoline of this module.
 *
 * Waiting for them could take for ever (a reader of a terminal), so their return address is
 * changed instead: from ls_tramp_result_back to an epilogue in the kernel's own text that
 * restores the same four registers and returns. All CPUs are stopped meanwhile, so the stack
 * of every other task is as its last switch left it.
 *
 * A return tracer (function_graph, a kretprobe) on a function to which a hooked one jumps has
 * put its own address there, and keeps ours: such a task is not found and has to be waited
 * for.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>

#include "base/lookup.h"
#include "hook/hook.h"

extern char ls_tramp_result_back[];

/*
 * xor %eax,%eax; pop %rbx; pop %rbp; pop %r12; pop %r13; ret (or a jump to the return thunk).
 * Tasks return to the first pop. The xor is only for the unwinder, which looks one byte back:
 * its frame is the same there.
 */
static const u8 pattern[] = { 0x31, 0xc0, 0x5b, 0x5d, 0x41, 0x5c, 0x41, 0x5d };
#define PATTERN_SKIP 2

static unsigned long find_epilogue(void)
{
	const u8 *text = (const u8 *)ls_symbol("_stext"), *end = (const u8 *)ls_symbol("_etext");

	if (!text || !end)
		return 0;
	for (; text + sizeof(pattern) + 5 < end; text++) {
		const u8 *next = text + sizeof(pattern);

		if (*text != pattern[0] || memcmp(text, pattern, sizeof(pattern)))
			continue;
		if (*next == 0xc3 || (*next == 0xe9 && (unsigned long)next + 5 + *(s32 *)(next + 1) ==
						       ls_symbol("__x86_return_thunk")))
			return (unsigned long)text + PATTERN_SKIP;
	}
	return 0;
}

static int redirect(void *data)
{
	unsigned long to = (unsigned long)data, *at, *top;
	struct task_struct *g, *t;
	int found = 0;

	for_each_process_thread(g, t) {
		if (t == current || !refcount_read(&t->stack_refcount))
			continue;
		at = (unsigned long *)t->thread.sp;
		top = (unsigned long *)((char *)task_stack_page(t) + THREAD_SIZE);
		if (at < (unsigned long *)task_stack_page(t) || at >= top)
			continue;
		for (; at < top; at++) {
			if (*at == (unsigned long)ls_tramp_result_back) {
				*at = to;
				found++;
			}
		}
	}
	return found;
}

/*
 * Number of redirected tasks, below 0 when it is impossible. Process context. The hooks are
 * detached and no task runs in a trampoline any more.
 */
int ls_unhook_sleepers(void)
{
	unsigned long to = find_epilogue();

	if (!to) {
		pr_warn("no way round for sleeping tasks in this kernel: waiting for them\n");
		return -ENOENT;
	}
	return stop_machine(redirect, (void *)to, NULL);
}
