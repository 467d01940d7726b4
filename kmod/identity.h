/* SPDX-License-Identifier: GPL-2.0 */
/* What identity.c and unnamed.c share. All functions but the last: any context. */
#ifndef LOCKSCOPE_IDENTITY_H
#define LOCKSCOPE_IDENTITY_H

#include "arrays.h"
#include "base/stack.h"
#include "classes.h"
#include "lockscope.h"

extern struct ls_arrays ls_lock_arrays;		/* in memory that many types share */

u32 ls_class_add(const struct ls_class *proto);

/* Class of @lock, which does; 0: its frame is not found. */
u32 ls_class_on_stack(unsigned long lock, u32 kind);
/* Class of @lock by its address, and where it is acquired, at @ip; 0: no room, or none of its kind. */
u32 ls_class_by_address(unsigned long lock, u32 kind, unsigned long ip);
void ls_unnamed_init(void);

#endif /* LOCKSCOPE_IDENTITY_H */
