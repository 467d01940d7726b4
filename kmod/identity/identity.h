/* SPDX-License-Identifier: GPL-2.0 */
/* From a lock's address to its class. Any context unless stated otherwise. */
#ifndef LOCKSCOPE_IDENTITY_H
#define LOCKSCOPE_IDENTITY_H

#include <linux/types.h>

#include "arrays.h"
#include "base/stack.h"
#include "classes.h"
#include "core/state.h"
#include "ranges.h"

struct module;

extern struct ls_arrays ls_lock_arrays;		/* in memory that many types share */

/* identity.c */
u32 ls_class_add(const struct ls_class *proto);
u32 ls_class_at(struct ls_ctx *ctx, u64 lock, u32 kind, u64 ip);
u32 ls_identify(unsigned long lock, u32 kind, unsigned long ip);
void ls_identity_cache_gone(unsigned long cache);
int ls_identity_init(void);
void ls_identity_exit(void);

/*
 * Map @lock to class @id by address, too. Without room it is identified again next time, so no
 * loss is counted: a table of thousands of locks (jfs, the ports of TCP) leaves room for locks
 * whose address is all that is known.
 */
static inline bool ls_file_class(unsigned long lock, u32 id)
{
	return ls_addrmap_offer(&ls.addrs, ls_addr_of_lock(lock), id);
}

/* named.c */
bool ls_identity_is_named(unsigned long lock);
void ls_identity_annotate(unsigned long lock, const char *name);
void ls_identity_forget_names(unsigned long start, unsigned long end);
u32 ls_named_class(unsigned long lock, u32 kind);
u32 ls_named_mark(void);
int ls_named_init(void);
void ls_named_exit(void);

/* objects.c */
void ls_identity_named(unsigned long lock, u32 kind, const char *name, unsigned long ip);
u32 ls_class_of_object(unsigned long lock, u32 kind, unsigned long ip);
u32 ls_class_of_area(unsigned long lock, u32 kind, const char *name, unsigned long ip);
u32 ls_class_of_device(unsigned long lock);
unsigned long ls_large_object(unsigned long lock);
void ls_objects_init(void);

/* netdev.c */
/*
 * The lock of the first transmit queue of the net device in whose memory @lock of class @id
 * lies, if that device does not transmit; else 0. ls_queue_class(): the class of such a lock,
 * 0: no room.
 */
u64 ls_quiet_queue(u64 lock, u32 id);
u32 ls_queue_class(u64 queue);

/* unnamed.c */
/* Class of @lock, which lies on the current task's stack; 0: its frame is not found. */
u32 ls_class_on_stack(unsigned long lock, u32 kind);
/* Class of @lock by its address and its acquire site @ip; 0: no room, or not for this kind. */
u32 ls_class_by_address(unsigned long lock, u32 kind, unsigned long ip);

/* percpu.c: per-CPU memory */
extern unsigned long ls_percpu_static_start, ls_percpu_static_size;
long ls_percpu_offset(unsigned long lock);
bool ls_percpu_find(unsigned long at, struct ls_range *out);
bool ls_percpu_module_name(unsigned long at, char *name, size_t len);
int ls_percpu_init(void);
void ls_percpu_exit(void);
void ls_percpu_attach(void);
void ls_percpu_detach(void);
void ls_percpu_module(struct module *mod, bool coming);
void ls_percpu_named(void __percpu *ptr, unsigned long size, const char *name);

/* roots.c */
void ls_roots_init(void);

#endif /* LOCKSCOPE_IDENTITY_H */
