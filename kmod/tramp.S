/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Direct-call trampolines. A hooked function's first instruction calls one of
 * these, so on entry
 *
 *	  (%rsp)	function + 5, where the function goes on
 *	 8(%rsp)	return address into the caller: the acquire site
 *
 * and every argument register must be as it was when we return. Hooked
 * functions are ordinary C functions: only the arguments that the primitives
 * of a group take are saved (ACQUIRE one, RELEASE two, the others up to four).
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

.text

SYM_FUNC_START(ls_tramp_acquire)
	pushq	%rdi
	movq	16(%rsp), %rsi
	movq	8(%rsp), %rdx
	call	ls_hook_acquire
	popq	%rdi
	RET
SYM_FUNC_END(ls_tramp_acquire)

SYM_FUNC_START(ls_tramp_release)
	pushq	%rdi
	pushq	%rsi
	movq	16(%rsp), %rsi
	call	ls_hook_release
	popq	%rsi
	popq	%rdi
	RET
SYM_FUNC_END(ls_tramp_release)

SYM_FUNC_START(ls_tramp_special)
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

/*
 * The return value decides: call the body ourselves and come back here. The
 * task may sleep inside, so whoever unloads waits for ls_inflight to drain.
 * Our own return goes to the caller, past function + 5.
 */
SYM_FUNC_START(ls_tramp_result)
	incq	PER_CPU_VAR(ls_inflight)
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rdi
	pushq	%rsi
	movq	8(%rbp), %rax
	ANNOTATE_RETPOLINE_SAFE
	call	*%rax
	pushq	%rax
	movq	-8(%rbp), %rdi
	movq	-16(%rbp), %r8
	movq	16(%rbp), %rsi
	movq	8(%rbp), %rdx
	movq	%rax, %rcx
	call	ls_hook_result
	popq	%rax
	decq	PER_CPU_VAR(ls_inflight)
	leave
	addq	$8, %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(ls_tramp_result)
