/* SPDX-License-Identifier: GPL-2.0 */
/* What a task holds, and whether it still does. */
#ifndef LOCKSCOPE_BPF_HELD_H
#define LOCKSCOPE_BPF_HELD_H

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bpf/kernel.h"
#include "bpf/order.h"

#define GOLDEN LS_ORDER_GOLDEN

const volatile __u32 own_tgid;		/* its locks are ignored */
const volatile bool probes;		/* on_entry() and on_return() for all functions */

struct held {
	__u64 lock;
	__u64 ip;
	__u64 below;		/* key of the locks held before */
	__u32 val;
	__u32 stamp;		/* semaphores: number of releases by other contexts */
};

struct task_locks {
	__u32 depth;
	__u32 lost;		/* acquired, but not recorded */
	__u64 key;		/* of all held locks */
	struct held held[LS_ORDER_DEPTH];
	/* Arguments of a function that may fail to acquire, until it returns: probes only. */
	__u64 asked, asked_ip, asked_arg;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_locks);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LS_ORDER_SEMAPHORES);
	__type(key, __u32);
	__type(value, struct ls_order_semaphore);
} semaphores SEC(".maps");

/* One per CPU, as a plain array: a per-CPU array cannot be mapped. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_order_counts);
} counts SEC(".maps");

static __always_inline void count(enum ls_order_count what)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ls_order_counts *c = bpf_map_lookup_elem(&counts, &cpu);

	/* Interrupts may come in between. */
	if (c)
		__sync_fetch_and_add(&c->n[what], 1);
}

/* Add to this CPU's counter and return its old value. Never below 0. */
static __always_inline __u64 add(enum ls_order_count what, long n)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ls_order_counts *c = bpf_map_lookup_elem(&counts, &cpu);

	if (!c || (n < 0 && !c->n[what]))
		return 0;
	return __sync_fetch_and_add(&c->n[what], n);
}

static __always_inline struct ls_order_semaphore *semaphore(__u64 lock)
{
	__u32 slot = lock * GOLDEN >> LS_ORDER_SEMAPHORE_SHIFT;

	return bpf_map_lookup_elem(&semaphores, &slot);
}

static __always_inline __u64 mix(__u64 key, __u64 v)
{
	key = (key ^ v) * GOLDEN;
	return key ^ key >> 29;
}

static __always_inline __u32 kind_of(__u32 val)
{
	return val & LS_VAL_CLASS_MASK;
}

/* Does the lock word show another owner, or none? */
static __always_inline bool is_stale(const struct held *h)
{
	__u64 me = bpf_get_current_task(), owner, lock = h->lock;
	struct ls_order_semaphore *s;

	switch ((enum ls_kind)kind_of(h->val)) {
	case LS_KIND_MUTEX:
	case LS_KIND_WW_MUTEX:
		owner = BPF_CORE_READ((struct mutex *)lock, owner.counter);
		return (owner & ~LS_OWNER_FLAGS) != me;
	case LS_KIND_RT_MUTEX:
		owner = (__u64)BPF_CORE_READ((struct rt_mutex *)lock, rtmutex.owner);
		return (owner & ~LS_OWNER_FLAGS) != me;
	case LS_KIND_RWSEM:
		if (h->val & LS_VAL_READ_MASK)
			return BPF_CORE_READ((struct rw_semaphore *)lock, count.counter) >> LS_RWSEM_READERS == 0;
		owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter);
		/* The last reader is stored there as well. */
		return (owner & LS_OWNER_READER) || (owner & ~LS_OWNER_FLAGS) != me;
	case LS_KIND_SEMAPHORE:
		/* Released by another context since. */
		s = semaphore(lock);
		return s && (__u32)s->unmatched != h->stamp;
	case LS_KIND_NONE:
	case LS_KIND_SPINLOCK:
	case LS_KIND_RWLOCK:
	case LS_KIND_SOCKET:
	case LS_KIND_PERCPU_RWSEM:
	case LS_KIND_PRIVATE:
	case LS_KIND_WORK:
	case LS_KIND_COMPLETION:
	case LS_KIND_WAITQUEUE:
	case LS_NR_KINDS:
		break;
	}
	return false;
}

/*
 * What is not inlined, here and in observation.h, are functions of their own for the
 * verifier, which else would walk through all of it for every program anew.
 */

/*
 * Drop entries whose release was missed: they must not stand below all later ones. Returns
 * their number.
 */
__noinline int drop_stale(struct task_locks *t)
{
	__u32 kept = 0, depth;
	__u64 key = 0;

	if (!t)
		return 0;
	depth = t->depth;
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		struct held h;

		if (i >= depth)
			break;
		h = t->held[i];
		if (is_stale(&h)) {
			count(LS_ORDER_STALE);
			continue;
		}
		h.below = key;
		key = mix(mix(key, h.ip), h.val);
		if (kept < LS_ORDER_DEPTH)
			t->held[kept] = h;
		kept++;
	}
	t->depth = kept;
	t->key = key;
	return depth - kept;
}

/* Remove the topmost entry of @lock. 1 when there was one. */
__noinline int give_back(struct task_locks *t, __u64 lock)
{
	__u32 at = LS_ORDER_DEPTH, depth;
	__u64 key;

	if (!t)
		return 0;
	depth = t->depth;
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++)
		if (i < depth && t->held[i].lock == lock)
			at = i;
	if (at >= LS_ORDER_DEPTH)
		return 0;
	key = t->held[at].below;
	for (__u32 i = 0; i < LS_ORDER_DEPTH - 1; i++) {
		if (i < at || i + 1 >= depth)
			continue;
		t->held[i] = t->held[i + 1];
		t->held[i].below = key;
		key = mix(mix(key, t->held[i].ip), t->held[i].val);
	}
	t->depth = depth - 1;
	t->key = key;
	return 1;
}

/*
 * Allocation may take locks of the allocator, on kernels that are too old for probes: not with
 * spinlocks held.
 */
static __always_inline bool may_allocate(void)
{
	return probes || !ls_preempt_count();
}

static __always_inline struct task_locks *current_locks(bool create)
{
	return bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

static __always_inline bool is_ours(void)
{
	return bpf_get_current_pid_tgid() >> 32 == own_tgid;
}

#endif /* LOCKSCOPE_BPF_HELD_H */
