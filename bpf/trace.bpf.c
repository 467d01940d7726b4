// SPDX-License-Identifier: GPL-2.0
/*
 * Every acquisition, release and wait with its time, from the module's tracepoints acquired,
 * released and waited. As in stat.bpf.c nothing here may take a lock: each CPU has a slice of
 * one array as its ring, which userspace maps and empties.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/trace.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 own_tgid;	/* its locks are left out: taking events makes more of them */
const volatile __u32 slots = LS_TRACE_LEAST_SLOTS;	/* of a ring, a power of two */

/* Userspace sets the number of entries: slots for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_trace_event);
} events SEC(".maps");

/* One per CPU, as a plain array: a per-CPU array cannot be mapped. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_trace_ring);
} rings SEC(".maps");

/* Tasks whose names are in the ring already, until another of the same slot comes. */
struct known {
	__u32 pid;
	__u32 pad;
	__u64 comm[LS_COMM_LEN / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LS_TRACE_NAMES);
	__type(key, __u32);
	__type(value, struct known);
} names SEC(".maps");

/*
 * A slot of this CPU's ring, 0: it is full. An NMI may come at any instruction and run another
 * of the programs: the one that moves the head owns the slot.
 */
static __always_inline struct ls_trace_event *claim(struct ls_trace_ring *ring, __u32 cpu,
						    __u64 *number)
{
	for (int i = 0; i < 3; i++) {
		__u64 head = *(volatile __u64 *)&ring->head;
		__u32 slot;

		if (head - *(volatile __u64 *)&ring->tail >= slots)
			return 0;
		if (__sync_val_compare_and_swap(&ring->head, head, head + 1) != head)
			continue;
		*number = head + 1;
		slot = cpu * slots + (head & (slots - 1));
		return bpf_map_lookup_elem(&events, &slot);
	}
	return 0;
}

/* Userspace takes the event when it has its number. Atomic, so that the rest is written before. */
static __always_inline void publish(struct ls_trace_event *e, __u64 number)
{
	__sync_lock_test_and_set(&e->number, number);
}

static __always_inline void put_name(struct ls_trace_ring *ring, __u32 cpu, __u64 ids)
{
	__u32 pid = ids, slot = pid & (LS_TRACE_NAMES - 1);
	struct known *known = bpf_map_lookup_elem(&names, &slot);
	__u64 comm[LS_COMM_LEN / 8] = {}, number;
	struct ls_trace_event *e;

	bpf_get_current_comm(comm, sizeof(comm));
	if (!known || (known->pid == pid && known->comm[0] == comm[0] && known->comm[1] == comm[1]))
		return;
	e = claim(ring, cpu, &number);
	/* The next event of the task tries again. */
	if (!e)
		return;
	e->time_ns = bpf_ktime_get_ns();
	e->kind = LS_TRACE_NAME;
	e->pid = pid;
	e->tgid = ids >> 32;
	e->lock = comm[0];
	e->ip = comm[1];
	publish(e, number);
	known->pid = pid;
	known->comm[0] = comm[0];
	known->comm[1] = comm[1];
}

static __always_inline int put(enum ls_trace_kind kind, __u32 val, __u64 lock, __u64 ip, __u64 ns)
{
	__u64 ids = bpf_get_current_pid_tgid(), number;
	__u32 cpu = bpf_get_smp_processor_id();
	struct ls_trace_ring *ring;
	struct ls_trace_event *e;

	if (ids >> 32 == own_tgid && (val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT == LS_TASK)
		return 0;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring)
		return 0;
	put_name(ring, cpu, ids);
	e = claim(ring, cpu, &number);
	if (!e) {
		__sync_fetch_and_add(&ring->lost, 1);
		return 0;
	}
	e->time_ns = bpf_ktime_get_ns();
	e->lock = lock;
	e->ip = ip;
	e->ns = ns;
	e->val = val;
	e->kind = kind;
	e->pid = ids;
	e->tgid = ids >> 32;
	publish(e, number);
	return 0;
}

/* id, val, lock, ip */
SEC("raw_tp/acquired")
int on_acquired(struct bpf_raw_tracepoint_args *ctx)
{
	return put(LS_TRACE_ACQUIRED, ctx->args[1], ctx->args[2], ctx->args[3], 0);
}

/* id, val, lock, ip, held_ns */
SEC("raw_tp/released")
int on_released(struct bpf_raw_tracepoint_args *ctx)
{
	return put(LS_TRACE_RELEASED, ctx->args[1], ctx->args[2], ctx->args[3], ctx->args[4]);
}

/* id, val, lock, ip, ns, ret */
SEC("raw_tp/waited")
int on_waited(struct bpf_raw_tracepoint_args *ctx)
{
	return put((__s32)ctx->args[5] ? LS_TRACE_GAVE_UP : LS_TRACE_WAITED, ctx->args[1],
		   ctx->args[2], ctx->args[3], ctx->args[4]);
}
