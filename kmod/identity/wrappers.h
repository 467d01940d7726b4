/* SPDX-License-Identifier: GPL-2.0 */
/* Functions of drivers whose only work is to acquire or initialise a lock of their callers. */
#ifndef LOCKSCOPE_WRAPPERS_H
#define LOCKSCOPE_WRAPPERS_H

#include <linux/types.h>

#include "core/state.h"

struct module;

extern u32 ls_nr_wrappers;

void ls_wrappers_init(void);
void ls_wrappers_module(const struct module *mod);
void ls_wrappers_forget(unsigned long start, unsigned long end);
unsigned long ls_wrapper_caller(unsigned long ip);
u32 ls_wrapper_call(unsigned long place);
void ls_class_ask(unsigned long lock, u32 kind);

/*
 * The code that uses the lock which the code at @ip acquires or initialises: @ip itself, or the
 * caller of a wrapper. Any context, preemption off.
 */
static __always_inline unsigned long ls_lock_place(unsigned long ip)
{
	return likely(!ls_load(&ls_nr_wrappers)) ? ip : ls_wrapper_caller(ip);
}

#endif /* LOCKSCOPE_WRAPPERS_H */
