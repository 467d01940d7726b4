/* SPDX-License-Identifier: GPL-2.0 */
/* Interface of order.bpf.c to userspace: observations of locks acquired with others held. */
#ifndef LOCKSCOPE_BPF_ORDER_H
#define LOCKSCOPE_BPF_ORDER_H

#include "lockclass/abi.h"

#define LS_ORDER_DEPTH 16	/* sleeping locks held by one task */
#define LS_ORDER_SLOTS 8192	/* observations kept, a power of two */
#define LS_ORDER_PROBES 16	/* slots that one observation may be in */
#define LS_ORDER_NAME 48
#define LS_ORDER_INITS 32768	/* initialised locks remembered, least recently used are evicted */
#define LS_ORDER_PAIRS 128	/* pairs of instances reported of one pair of places */

/* Operation of a function of kmod/primitives.h, as the cookie of a probe. */
enum ls_order_group {
	LS_ORDER_ACQUIRE = 0,
	LS_ORDER_RELEASE,
	LS_ORDER_RESULT,
	LS_ORDER_WW,
	LS_ORDER_SPECIAL,
};

#define LS_ORDER_COOKIE(kind, group, bits, flags) \
	((__u64)(kind) | (__u64)(group) << 8 | (__u64)(flags) << 16 | (__u64)(bits) << 32)
#define LS_ORDER_COOKIE_KIND(cookie) ((__u32)(cookie) & 0xff)
#define LS_ORDER_COOKIE_GROUP(cookie) ((__u32)(cookie) >> 8 & 0xff)
#define LS_ORDER_COOKIE_FLAGS(cookie) ((__u32)(cookie) >> 16)
#define LS_ORDER_COOKIE_BITS(cookie) ((__u32)((cookie) >> 32))
#ifndef __cplusplus
_Static_assert(LS_NR_KINDS <= 1 << 8 && LS_ORDER_SPECIAL < 1 << 8, "kind and group have 8 bits each");
#endif

/* Code where per-CPU rwsems are waited for and not acquired, see LS_FREEZERS; size 0: none. */
#define LS_ORDER_FREEZERS 32
struct ls_order_range {
	__u64 start;
	__u64 size;
};

/* Memory around a lock, and its name, as far as known. */
enum ls_order_sort {
	LS_ORDER_OTHER = 0,	/* by its address, or by acquire site */
	LS_ORDER_SLAB,		/* name: the cache */
	LS_ORDER_INIT,		/* name: the initialiser's expression; ip: its caller */
};

struct ls_order_ident {
	__u32 sort;
	__u32 offset;		/* in the object */
	__u32 object_size;
	__u32 life;		/* initialisations at this address or hash */
	__u64 ip;
	char name[LS_ORDER_NAME];
};

/* LS_VAL_*, with an enum ls_kind in place of the class. */
struct ls_order_lock {
	__u64 lock;
	__u64 ip;
	__u32 val;
	__u32 pad;
};

struct ls_order_observation {
	__u64 key;		/* 0: free */
	__u64 ready;		/* everything below is complete, only count changes */
	__u64 count;		/* observations */
	__u64 time_ns;
	__u32 pid;
	__u32 tgid;
	__u32 task_flags;	/* LS_TASK_* */
	__u32 cpu;
	__u32 nr_held;
	__u32 nr_frames;
	char comm[LS_COMM_LEN];
	struct ls_order_lock held[LS_ORDER_DEPTH];	/* oldest first */
	struct ls_order_lock lock;
	struct ls_order_ident idents[LS_ORDER_DEPTH + 1];	/* of held, and of lock at nr_held */
	__u64 stack[LS_STACK_FRAMES + 8];	/* the programs' own frames first */
};

/* Counts of the semaphores that share a hash, see struct ls_class_counts. */
#define LS_ORDER_SEMAPHORES 4096
#define LS_ORDER_SEMAPHORE_SHIFT 52
#define LS_ORDER_GOLDEN 0x9e3779b97f4a7c15ull	/* times the address */
struct ls_order_semaphore {
	__u64 acquires;
	__u64 releases;
	__u64 unmatched;	/* releases by a context that had not acquired it */
};

enum ls_order_count {
	LS_ORDER_ACQUISITIONS = 0,
	LS_ORDER_RELEASES,
	LS_ORDER_UNKNOWN_RELEASES,	/* no acquire was seen */
	LS_ORDER_WAITS,			/* for spinning locks */
	LS_ORDER_STALE,			/* entries dropped: the lock has another owner, or none */
	LS_ORDER_NO_TASK,		/* lost: no task storage */
	LS_ORDER_TOO_DEEP,		/* lost: more than LS_ORDER_DEPTH held */
	LS_ORDER_NO_SLOT,		/* lost: observations without a slot */
	LS_ORDER_NO_PAIR,		/* pairs of instances beyond LS_ORDER_PAIRS */
	LS_ORDER_NO_PLACE,		/* lost: the caller could not be found */
	LS_ORDER_IN_INTERRUPT,		/* acquired by an interrupt now, on this CPU */
	LS_ORDER_NR_COUNTS
};

/* Of one CPU, on cache lines of its own. */
struct ls_order_counts {
	__u64 n[LS_ORDER_NR_COUNTS];
} __attribute__((aligned(64)));

#endif /* LOCKSCOPE_BPF_ORDER_H */
