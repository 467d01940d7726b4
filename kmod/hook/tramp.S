/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct-call trampolines. A hooked function's first instruction calls one of these, so on
 * entry
 *
 *	  (%rsp)	function + 5, where the function continues
 *	 8(%rsp)	return address into the caller: the acquire site
 *
 * and every argument register must be unchanged on return. Hooked functions are ordinary C
 * functions: only the arguments that the primitives of a group take are saved (ACQUIRE one,
 * RELEASE two, the others up to four).
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

#include "features.h"

/* Per-CPU location of the current task and preemption count. */
#ifdef LS_HOT_PREEMPT_COUNT
#define CURRENT_TASK	pcpu_hot + LS_HOT_CURRENT_TASK
#define PREEMPT_COUNT	pcpu_hot + LS_HOT_PREEMPT_COUNT
#else
#define CURRENT_TASK	current_task
#define PREEMPT_COUNT	__preempt_count
#endif

.text

/* Called and jumped to by address, never through a pointer: no ENDBR is needed. */
#ifndef SYM_F_ALIGN
#define SYM_F_ALIGN SYM_A_ALIGN
#endif
#define TRAMP_START(name) SYM_START(name, SYM_L_GLOBAL, SYM_F_ALIGN) ANNOTATE_NOENDBR

TRAMP_START(ls_tramp_acquire)
	pushq	%rdi
	movq	16(%rsp), %rsi
	movq	8(%rsp), %rdx
	call	ls_hook_acquire
	popq	%rdi
	RET
SYM_FUNC_END(ls_tramp_acquire)

#ifdef CONFIG_X86_KERNEL_IBT
/*
 * A jump to the address where a function continues behind its hook is not allowed by IBT; a
 * return to it is.
 */
SYM_FUNC_START_LOCAL(ls_tramp_go_on)
	pushq	%rax
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(ls_tramp_go_on)
#endif

/*
 * For locks that disable preemption, on fully preemptible kernels: from the hook to the
 * acquisition the task must not be switched out, or it would seem to hold the lock meanwhile.
 * So the body is called with preemption off. The slot of the trampoline's own return address
 * is kept.
 */
TRAMP_START(ls_tramp_spin)
	incl	PER_CPU_VAR(PREEMPT_COUNT)
	pushq	%rdi
	movq	16(%rsp), %rsi
	movq	8(%rsp), %rdx
	call	ls_hook_acquire
	popq	%rdi
	movq	(%rsp), %rax
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
#ifdef CONFIG_X86_KERNEL_IBT
	call	ls_tramp_go_on
#else
	ANNOTATE_RETPOLINE_SAFE
	call	*%rax
#endif
	decl	PER_CPU_VAR(PREEMPT_COUNT)
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(ls_tramp_spin)

/*
 * The function that changes the preemption model, with one argument: the hook calls the body,
 * and returns to the caller itself.
 */
TRAMP_START(ls_tramp_preempt)
	movq	(%rsp), %rsi
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	jmp	ls_hook_preempt
SYM_FUNC_END(ls_tramp_preempt)

/* Calls the second argument, which may be behind a hook, with the first. */
SYM_FUNC_START(ls_call_at)
	pushq	%rsi
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(ls_call_at)

TRAMP_START(ls_tramp_release)
	pushq	%rdi
	pushq	%rsi
	leaq	16(%rsp), %rsi
	call	ls_hook_release
	popq	%rsi
	popq	%rdi
	RET
SYM_FUNC_END(ls_tramp_release)

TRAMP_START(ls_tramp_special)
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	movq	32(%rsp), %rcx
	movq	40(%rsp), %rdx
	call	ls_hook_special
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	RET
SYM_FUNC_END(ls_tramp_special)

/* Like ls_tramp_special; also passes the address of the caller's return address: its frame. */
TRAMP_START(ls_tramp_queue)
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	%rcx
	movq	32(%rsp), %rcx
	movq	40(%rsp), %rdx
	leaq	40(%rsp), %r8
	call	ls_hook_queue
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	RET
SYM_FUNC_END(ls_tramp_queue)

/*
 * Places that may sleep take no arguments. Nearly all calls are where that is allowed:
 * preemption and interrupts on, no RCU read side.
 */
TRAMP_START(ls_tramp_sleep)
	testl	$0x7fffffff, PER_CPU_VAR(PREEMPT_COUNT)
	jnz	1f
	pushfq
	popq	%rax
	testl	$0x200, %eax
	jz	1f
	movq	PER_CPU_VAR(CURRENT_TASK), %rax
	cmpl	$0, ls_rcu_nesting(%rax)
	jne	1f
	RET
1:	movq	8(%rsp), %rdi
	jmp	ls_hook_sleep
SYM_FUNC_END(ls_tramp_sleep)

/* Like ls_tramp_result, with a gate before the call. */
TRAMP_START(ls_tramp_fallible)
	pushq	%rdi
	pushq	%rsi
	movq	24(%rsp), %rsi
	movq	16(%rsp), %rdx
	call	ls_hook_fallible
	popq	%rsi
	popq	%rdi
	jmp	ls_tramp_result
SYM_FUNC_END(ls_tramp_fallible)

/* The same, with a check. */
TRAMP_START(ls_tramp_ww)
	pushq	%rdi
	pushq	%rsi
	movq	24(%rsp), %rdx
	call	ls_hook_ww
	popq	%rsi
	popq	%rdi
	jmp	ls_tramp_result
SYM_FUNC_END(ls_tramp_ww)

/* Like that for waits; the function determines whether there is a timeout. */
TRAMP_START(ls_tramp_wait)
	pushq	%rdi
	pushq	%rsi
	movq	24(%rsp), %rdx
	movq	16(%rsp), %rcx
	call	ls_hook_wait
	popq	%rsi
	popq	%rdi
	jmp	ls_tramp_result
SYM_FUNC_END(ls_tramp_wait)

/*
 * The return value decides: call the body and return here. The task may sleep inside for any
 * time, and must not keep the module loaded: so the frame looks like that of a common kernel
 * function, four callee-saved registers below the return address (function + 5 is replaced by
 * r13, rbp is kept for the unwinder). unhook.c redirects sleepers around the trampoline at
 * unload.
 */
TRAMP_START(ls_tramp_result)
	incq	PER_CPU_VAR(ls_inflight)
	movq	(%rsp), %rax
	movq	%r13, (%rsp)
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=16 type=UNWIND_HINT_TYPE_CALL
	pushq	%r12
	pushq	%rbp
	pushq	%rbx
	movq	%rdi, %rbx
	movq	%rsi, %r12
	movq	%rax, %r13
#ifdef CONFIG_X86_KERNEL_IBT
	call	ls_tramp_go_on
#else
	ANNOTATE_RETPOLINE_SAFE
	call	*%rax
#endif
SYM_INNER_LABEL(ls_tramp_result_back, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	pushq	%rax
	movq	%rbx, %rdi
	movq	40(%rsp), %rsi
	movq	%r13, %rdx
	movq	%rax, %rcx
	movq	%r12, %r8
	call	ls_hook_result
	popq	%rax
	decq	PER_CPU_VAR(ls_inflight)
	popq	%rbx
	popq	%rbp
	popq	%r12
	popq	%r13
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(ls_tramp_result)
