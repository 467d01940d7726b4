// SPDX-License-Identifier: GPL-2.0
/*
 * Statistics per lock class, from the module's tracepoints acquired, released and waited. They
 * fire inside the lock functions with interrupts off, so per-CPU arrays need no locking, and
 * nothing here may take a lock: no hash map, no ring buffer. An NMI that acquires locks in
 * between is missed; the kernel counts that.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/stat.h"

char LICENSE[] SEC("license") = "GPL";

/* Userspace sets the number of entries: new classes may appear at run time. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_stat_class);
} classes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LS_STAT_SITES);
	__type(key, __u32);
	__type(value, struct ls_stat_site);
} sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_stat_losses);
} losses SEC(".maps");

static __always_inline void lose(enum ls_stat_loss what)
{
	__u32 zero = 0;
	struct ls_stat_losses *l = bpf_map_lookup_elem(&losses, &zero);

	if (l)
		l->n[what]++;
}

/* Open addressing in this CPU's own array. */
static __always_inline struct ls_stat_site *site_of(__u32 id, __u64 ip)
{
	__u32 at = ((ip ^ (__u64)id << 48) * 0x9e3779b97f4a7c15ull) >> 40;

	for (int i = 0; i < LS_STAT_PROBES; i++) {
		__u32 k = (at + i) & (LS_STAT_SITES - 1);
		struct ls_stat_site *s = bpf_map_lookup_elem(&sites, &k);

		if (!s)
			return 0;
		if (s->ip == ip && s->id == id)
			return s;
		if (!s->ip) {
			s->ip = ip;
			s->id = id;
			return s;
		}
	}
	lose(LS_STAT_NO_SITE);
	return 0;
}

static __always_inline struct ls_stat_class *class_of(__u32 id)
{
	struct ls_stat_class *c = bpf_map_lookup_elem(&classes, &id);

	if (!c)
		lose(LS_STAT_NO_CLASS);
	return c;
}

/* Position of the highest bit. */
static __always_inline __u32 log2_of(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) {
		v >>= 32;
		r += 32;
	}
	if (v >> 16) {
		v >>= 16;
		r += 16;
	}
	if (v >> 8) {
		v >>= 8;
		r += 8;
	}
	if (v >> 4) {
		v >>= 4;
		r += 4;
	}
	if (v >> 2) {
		v >>= 2;
		r += 2;
	}
	return r + (v >> 1 ? 1 : 0);
}

static __always_inline void count_time(struct ls_stat_times *t, __u64 ns)
{
	__u32 bucket = log2_of(ns);

	t->count++;
	t->sum += ns;
	if (ns > t->max)
		t->max = ns;
	if (bucket >= LS_STAT_BUCKETS)
		bucket = LS_STAT_BUCKETS - 1;
	t->buckets[bucket]++;
}

static __always_inline __u32 level_of(__u32 val)
{
	return (val & LS_VAL_LEVEL_MASK) >> LS_VAL_LEVEL_SHIFT & 3;
}

/* id, val, lock, ip */
SEC("raw_tp/acquired")
int on_acquired(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 id = ctx->args[0], val = ctx->args[1];
	struct ls_stat_class *c = class_of(id);
	struct ls_stat_site *s;

	if (!c)
		return 0;
	c->acquired[level_of(val)]++;
	if (val & LS_VAL_READ_MASK)
		c->readers++;
	if (val & LS_VAL_TRY)
		c->trylocks++;
	s = site_of(id, ctx->args[3]);
	if (s)
		s->acquired++;
	return 0;
}

/* id, val, lock, ip, held_ns */
SEC("raw_tp/released")
int on_released(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 id = ctx->args[0];
	__u64 ns = ctx->args[4];
	struct ls_stat_class *c = class_of(id);
	struct ls_stat_site *s;

	if (!c)
		return 0;
	count_time(&c->holds, ns);
	s = site_of(id, ctx->args[3]);
	if (s)
		s->hold_ns += ns;
	return 0;
}

/* id, val, lock, ip, ns, ret */
SEC("raw_tp/waited")
int on_waited(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 id = ctx->args[0], val = ctx->args[1];
	__u64 ns = ctx->args[4];
	struct ls_stat_class *c = class_of(id);
	struct ls_stat_site *s;

	if (!c)
		return 0;
	c->contended[level_of(val)]++;
	if ((__s32)ctx->args[5])
		c->gave_up++;
	count_time(&c->waits, ns);
	s = site_of(id, ctx->args[3]);
	if (s) {
		s->contended++;
		s->wait_ns += ns;
	}
	return 0;
}
