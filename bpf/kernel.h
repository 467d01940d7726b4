/* SPDX-License-Identifier: GPL-2.0 */
/* What BPF programs ask about the kernel they run in. */
#ifndef LOCKSCOPE_BPF_KERNEL_H
#define LOCKSCOPE_BPF_KERNEL_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Since 6.2 ("x86/percpu: Move preempt_count next to current_task") one of these is there. */
struct pcpu_hot___ls {
	int preempt_count;
} __attribute__((preserve_access_index));
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot___ls pcpu_hot __ksym __weak;

/* Where it is there, the bits that count hardirqs and NMIs lie eight further up. */
extern const unsigned int nmi_nesting __ksym __weak;

#define LS_SOFTIRQ_OFFSET 0x100
#define LS_IRQ_MASKS (&nmi_nesting ? 0x7f000000 : 0xff0000)	/* hardirqs and NMIs */
#define LS_COUNT_MASK 0x7fffffff	/* without the inverted wish to reschedule */

static __always_inline int ls_preempt_count(void)
{
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count) & LS_COUNT_MASK;
	if (&pcpu_hot)
		return ((struct pcpu_hot___ls *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count &
		       LS_COUNT_MASK;
	return 0;
}

/* Do we serve an interrupt or a softirq? */
static __always_inline int ls_in_interrupt(void)
{
	return ls_preempt_count() & (LS_IRQ_MASKS | LS_SOFTIRQ_OFFSET);
}

/*
 * Where the traced function was called from. The trampoline has called us, and keeps
 * a frame: its frame pointer lies where ours points, its return address into the
 * function above that, then that of the function's caller. @function: as
 * bpf_get_func_ip() says, for a check. 0 when things look different.
 */
static __always_inline __u64 ls_caller(__u64 function)
{
	__u64 own, frame = 0, words[2] = {};

	asm volatile("%0 = r10" : "=r"(own));
	if (bpf_probe_read_kernel(&frame, sizeof(frame), (void *)own) ||
	    bpf_probe_read_kernel(words, sizeof(words), (void *)(frame + 8)) ||
	    words[0] - function > 16)
		return 0;
	return words[1];
}

#endif /* LOCKSCOPE_BPF_KERNEL_H */
