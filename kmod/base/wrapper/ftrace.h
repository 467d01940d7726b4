/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LOCKSCOPE_WRAPPER_FTRACE_H
#define LOCKSCOPE_WRAPPER_FTRACE_H

#include <linux/ftrace.h>

#include "features.h"

#ifdef LS_HAVE_DIRECT_MULTI
#define ls_direct_register(ops, tramp) register_ftrace_direct_multi(ops, tramp)
#define ls_direct_unregister(ops, tramp) unregister_ftrace_direct_multi(ops, tramp)
#define ls_direct_modify(ops, tramp) modify_ftrace_direct_multi(ops, tramp)
#else
#define ls_direct_register(ops, tramp) register_ftrace_direct(ops, tramp)
#define ls_direct_unregister(ops, tramp) unregister_ftrace_direct(ops, tramp, false)
#define ls_direct_modify(ops, tramp) modify_ftrace_direct(ops, tramp)
#endif

/*
 * Since 6.2 ("ftrace: abstract DYNAMIC_FTRACE_WITH_ARGS accesses") a function; read the
 * registers before.
 */
#ifndef ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) \
	((n) == 0 ? (fregs)->regs.di : (n) == 1 ? (fregs)->regs.si :	\
	 (n) == 2 ? (fregs)->regs.dx : (fregs)->regs.cx)
#define ftrace_regs_get_stack_pointer(fregs) ((fregs)->regs.sp)
#endif

#endif
