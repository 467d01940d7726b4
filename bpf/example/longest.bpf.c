// SPDX-License-Identifier: GPL-2.0
/*
 * An example of your own program on LockScope's tracepoints: the longest hold time of any
 * lock, and the number of findings of each kind. See docs/bpf.md.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct hold {
	__u64 ns;
	__u64 ip;		/* acquire site */
	__u32 id;		/* lock class */
	__u32 pid;
	char comm[16];
};

/* released fires inside lock functions: per-CPU arrays only, and nothing that locks. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hold);
} longest SEC(".maps");

/* finding fires in LockScope's own thread, where any map may be used. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} findings SEC(".maps");

/* id, val, lock, ip, held_ns */
SEC("raw_tp/released")
int on_released(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct hold *h = bpf_map_lookup_elem(&longest, &zero);

	if (!h || ctx->args[4] <= h->ns)
		return 0;
	h->ns = ctx->args[4];
	h->ip = ctx->args[3];
	h->id = ctx->args[0];
	h->pid = bpf_get_current_pid_tgid();
	bpf_get_current_comm(h->comm, sizeof(h->comm));
	return 0;
}

/* id, kind, length, first */
SEC("raw_tp/finding")
int on_finding(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 kind = ctx->args[1];
	__u64 one = 1, *n = bpf_map_lookup_elem(&findings, &kind);

	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&findings, &kind, &one, BPF_NOEXIST);
	return 0;
}
