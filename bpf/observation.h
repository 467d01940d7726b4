/* SPDX-License-Identifier: GPL-2.0 */
/* Acquisitions under other locks that are new, and the identity of these locks. */
#ifndef LOCKSCOPE_BPF_OBSERVATION_H
#define LOCKSCOPE_BPF_OBSERVATION_H

#include "bpf/held.h"
#include "bpf/ident.h"

#define LIVES 65536

#define PF_WQ_WORKER 0x20
#define PF_KTHREAD 0x200000

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LS_ORDER_SLOTS);
	__type(key, __u32);
	__type(value, struct ls_order_observation);
} observations SEC(".maps");

/* Pairs of instances reported of a pair of places. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} pairs SEC(".maps");

/* Lives of locks: reused memory is initialised again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LIVES);
	__type(key, __u32);
	__type(value, __u32);
} lives SEC(".maps");

struct init {
	__u64 ip;
	char name[LS_ORDER_NAME];
};

/* Not written in lock functions. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LS_ORDER_INITS);
	__type(key, __u64);
	__type(value, struct init);
} inits SEC(".maps");

__noinline int identify(__u64 lock, struct ls_order_ident *id)
{
	struct init *init;
	__u32 slot, *life;
	bool slab;

	if (!id)
		return 0;
	if (lock >= START_KERNEL)
		return 0;
	slot = lock * GOLDEN >> 48;
	life = bpf_map_lookup_elem(&lives, &slot);
	id->life = life ? *life : 0;
	slab = ls_slab_ident(lock, id);
	if (slab && !ls_is_kmalloc(id->name)) {
		id->sort = LS_ORDER_SLAB;
		return 0;
	}
	init = bpf_map_lookup_elem(&inits, &lock);
	if (init) {
		id->sort = LS_ORDER_INIT;
		id->ip = init->ip;
		__builtin_memcpy(id->name, init->name, sizeof(id->name));
	}
	return 0;
}

/* Index + 1 of the counter of reported pairs of instances; 0 when they cannot matter. */
__noinline int pair_slot(__u64 held, __u64 held_ip, __u64 lock, __u64 ip)
{
	return ls_classes_differ(held, lock) ? 0 : 1 + (mix(held_ip, ip) >> 52);
}

/* Possibly two instances of a class: their order is checked pair by pair. */
static __always_inline __u64 *pairs_of(const struct held *h, __u64 lock, __u64 ip, __u32 val)
{
	__u32 slot;

	if (h->lock >= START_KERNEL || lock >= START_KERNEL || kind_of(h->val) != kind_of(val))
		return 0;
	slot = pair_slot(h->lock, h->ip, lock, ip);
	if (!slot--)
		return 0;
	return bpf_map_lookup_elem(&pairs, &slot);
}

/* Key of an acquisition: the acquire sites, and the instances where there are few. */
static __always_inline __u64 key_of(const struct task_locks *t, __u64 lock, __u64 ip, __u32 val)
{
	__u64 key = mix(mix(t->key, ip), val);

	if (lock >= START_KERNEL)
		key = mix(key, lock);
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		const struct held *h = &t->held[i];
		__u64 *n;

		if (i >= t->depth)
			break;
		if (h->lock == lock)
			key = mix(key, 1);
		else if (h->lock >= START_KERNEL)
			key = mix(key, h->lock);
		n = pairs_of(h, lock, ip, val);
		if (!n)
			continue;
		key = mix(key, h->lock < lock ? 2 : 3);
		if (*n < LS_ORDER_PAIRS)
			key = mix(mix(key, h->lock), lock);
	}
	return key | 1;
}

/* A new observation uses up some of the budget of its pairs of places. */
static __always_inline void count_pairs(const struct task_locks *t, __u64 lock, __u64 ip, __u32 val)
{
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		__u64 *n;

		if (i >= t->depth)
			break;
		n = pairs_of(&t->held[i], lock, ip, val);
		if (n && __sync_fetch_and_add(n, 1) + 1 == LS_ORDER_PAIRS)
			count(LS_ORDER_NO_PAIR);
	}
}

static __always_inline void fill(struct ls_order_observation *s, const struct task_locks *t, __u64 lock,
				 __u64 ip, __u32 val)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 ids = bpf_get_current_pid_tgid();
	__u32 flags = BPF_CORE_READ(task, flags), depth = t->depth;

	s->time_ns = bpf_ktime_get_ns();
	s->pid = ids;
	s->tgid = ids >> 32;
	s->cpu = bpf_get_smp_processor_id();
	s->task_flags = (flags & PF_KTHREAD ? LS_TASK_KTHREAD : 0) |
			(flags & PF_WQ_WORKER ? LS_TASK_WORKER : 0);
	bpf_get_current_comm(s->comm, sizeof(s->comm));
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		if (i >= depth)
			break;
		s->held[i].lock = t->held[i].lock;
		s->held[i].ip = t->held[i].ip;
		s->held[i].val = t->held[i].val;
		identify(t->held[i].lock, &s->idents[i]);
	}
	s->nr_held = depth;
	s->lock.lock = lock;
	s->lock.ip = ip;
	s->lock.val = val;
	if (depth <= LS_ORDER_DEPTH)
		identify(lock, &s->idents[depth]);
}

#define NEW_OBSERVATION 0x10000

/*
 * Count the acquisition of @lock with @t held. For a new observation returns its slot and
 * NEW_OBSERVATION: the stack is missing then.
 */
__noinline int see(struct task_locks *t, __u64 lock, __u64 ip, __u32 val)
{
	__u64 key;

	if (!t)
		return 0;
	key = key_of(t, lock, ip, val);
	for (__u32 i = 0; i < LS_ORDER_PROBES; i++) {
		__u32 at = ((key >> 40) + i) & (LS_ORDER_SLOTS - 1);
		struct ls_order_observation *s = bpf_map_lookup_elem(&observations, &at);

		if (!s)
			return 0;
		if (!s->key) {
			/* New, unless entries are stale. */
			if (drop_stale(t))
				return 0;
			if (__sync_val_compare_and_swap(&s->key, 0, key) == 0) {
				count_pairs(t, lock, ip, val);
				__sync_fetch_and_add(&s->count, 1);
				fill(s, t, lock, ip, val);
				return at | NEW_OBSERVATION;
			}
		}
		if (s->key == key) {
			__sync_fetch_and_add(&s->count, 1);
			return 0;
		}
	}
	count(LS_ORDER_NO_SLOT);
	return 0;
}

/* @ctx: the program's. */
static __always_inline void see_with_stack(void *ctx, struct task_locks *t, __u64 lock, __u64 ip,
					   __u32 val)
{
	__u32 at = see(t, lock, ip, val);
	struct ls_order_observation *s;
	long n;

	if (!(at & NEW_OBSERVATION))
		return;
	at &= LS_ORDER_SLOTS - 1;
	s = bpf_map_lookup_elem(&observations, &at);
	if (!s)
		return;
	n = bpf_get_stack(ctx, s->stack, sizeof(s->stack), 0);
	s->nr_frames = n > 0 ? (__u32)n / 8 : 0;
	__sync_fetch_and_add(&s->ready, 1);
}

#endif /* LOCKSCOPE_BPF_OBSERVATION_H */
