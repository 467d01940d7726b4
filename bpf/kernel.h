/* SPDX-License-Identifier: GPL-2.0 */
/* Properties of the running kernel for BPF programs. */
#ifndef LOCKSCOPE_BPF_KERNEL_H
#define LOCKSCOPE_BPF_KERNEL_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define START_KERNEL 0xffffffff80000000ull

/* Since 6.2 ("x86/percpu: Move preempt_count next to current_task") one of these exists. */
struct pcpu_hot___ls {
	int preempt_count;
} __attribute__((preserve_access_index));
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot___ls pcpu_hot __ksym __weak;

/* If it exists, the bits that count hardirqs and NMIs are eight higher. */
extern const unsigned int nmi_nesting __ksym __weak;

#define LS_SOFTIRQ_OFFSET 0x100
#define LS_IRQ_MASKS (&nmi_nesting ? 0x7f000000 : 0xff0000)	/* hardirqs and NMIs */
#define LS_COUNT_MASK 0x7fffffff	/* without the inverted need_resched bit */

static __always_inline int ls_preempt_count(void)
{
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count) & LS_COUNT_MASK;
	if (&pcpu_hot)
		return ((struct pcpu_hot___ls *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count &
		       LS_COUNT_MASK;
	return 0;
}

/* Is an interrupt or a softirq being served? */
static __always_inline int ls_in_interrupt(void)
{
	return ls_preempt_count() & (LS_IRQ_MASKS | LS_SOFTIRQ_OFFSET);
}

#define LS_FRAME_WORDS 12

/*
 * Caller of the traced function. @ctx lies in the trampoline's frame: it is followed by the
 * arguments, six at most, and the result, its frame pointer, the return address into the
 * function, and that of the function's caller. @function: from bpf_get_func_ip(). 0 when the
 * layout is different. The program's own frame would do as well, but newer kernels keep it
 * apart from the task's stack. They also jump to the trampolines that wait for a result, so
 * that the first of the two addresses is missing.
 */
static __always_inline __u64 ls_caller(const void *ctx, __u64 function)
{
	__u64 words[LS_FRAME_WORDS], caller = 0, n;

	if (bpf_probe_read_kernel(words, sizeof(words), ctx))
		return 0;
	for (__u32 i = 1; i < LS_FRAME_WORDS - 1; i++)
		if (words[i] - function <= 16)
			return words[i + 1];
	n = bpf_get_func_arg_cnt((void *)ctx);
	for (__u32 i = 2; i < LS_FRAME_WORDS; i++)
		if (i == n + 2)
			caller = words[i];
	return caller < START_KERNEL ? 0 : caller;
}

#endif /* LOCKSCOPE_BPF_KERNEL_H */
