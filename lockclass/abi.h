/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one header shared by lockscope.ko, the BPF programs and userspace.
 *
 * The module publishes what it recorded as an append-only log of records. pread() on LS_DEVICE
 * at offset N returns whole records from byte N on, so a reader that starts late or restarts
 * can continue from any record boundary, or from 0, and misses nothing. Values that change
 * (counts, losses) come from ioctls. All fields are little endian and naturally aligned; every
 * record starts at a multiple of 8 bytes.
 *
 * The layouts below, and those of abi_access.h, are compared across compilers by selftests/abi.
 */
#ifndef LOCKSCOPE_ABI_H
#define LOCKSCOPE_ABI_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#elif !defined(__bpf__)
#include <linux/ioctl.h>
#include <linux/types.h>
#endif

#include "finding_kinds.h"
#include "lock_kinds.h"
#include "losses.h"

/*
 * A reader refuses another major; a newer minor only adds record types and ioctls. Minor 1:
 * accesses. Minor 2: LS_IOC_COUNTS. A module or a store from before has no counts; then no
 * semaphore is a signal, and there are no rules. Minor 3: LS_IOC_SITE_HITS. Minor 4:
 * LS_IOC_WAITS, LS_IOC_SYMBOL, LS_FINDING_DEADLOCK. Minor 5: LS_COUNT_SHARED;
 * ls_guard_rec.lock_offset of VIA counts from the pointer. Minor 6: LS_REC_MODULE; instances
 * have lives, more instances of known dependencies are reported. Minor 8: LS_REC_SIDE; before
 * that a race only has the first accesses at its access sites. Minor 9: LS_IOC_CONFIRM.
 * Minor 12: LS_VAL_QUIET, ls_held_rec.passed; before that nothing is known of what was passed.
 */
#define LS_ABI_MAJOR 2
#define LS_ABI_MINOR 12

#define LS_DEVICE_NAME "lockscope"
#define LS_MAX_DEPTH 64		/* held locks per context */
#define LS_INSTANCE_SHIFT 44	/* an instance's life is in the bits from here up, if it has one */
#define LS_STACK_FRAMES 24	/* frames of a stack trace */
#define LS_NAME_MAX 120		/* class name, with the final zero */
#define LS_COMM_LEN 16
#define LS_SYMBOL_LEN 64
#define LS_MODULE_LEN 56

/*
 * One held or acquired lock in one word: class id, acquire mode and context. The fast path
 * hashes these words into chain keys.
 */
#define LS_VAL_CLASS_BITS 20
#define LS_VAL_CLASS_MASK ((1u << LS_VAL_CLASS_BITS) - 1)
#define LS_VAL_READ_SHIFT 20	/* 2 bits, enum ls_read */
#define LS_VAL_READ_MASK (3u << LS_VAL_READ_SHIFT)
#define LS_VAL_TRY (1u << 22)	/* could not wait: adds no incoming edge */
#define LS_VAL_LEVEL_SHIFT 23	/* 2 bits, enum ls_level */
#define LS_VAL_LEVEL_MASK (3u << LS_VAL_LEVEL_SHIFT)
#define LS_VAL_IRQ_OFF (1u << 25)	/* hardirqs were disabled */
#define LS_VAL_BH_OFF (1u << 26)	/* softirqs were disabled */
#define LS_VAL_CTX (1u << 27)	/* under a ww acquire context: no order among those */
#define LS_VAL_ATOMIC (1u << 28)	/* a lock that may sleep, where sleeping is not allowed */
#define LS_VAL_WAIT (1u << 29)	/* waited for, not acquired: has no holder */
/* Not acquired: nothing holds it meanwhile, as its net device does not transmit. A gate only. */
#define LS_VAL_QUIET (1u << 31)

enum ls_read {
	LS_EXCLUSIVE = 0,
	LS_SHARED = 1,		/* a waiting writer blocks it (lockdep: SR) */
	LS_RECURSIVE = 2,	/* recursive reader (lockdep: RR) */
};

enum ls_level {
	LS_TASK = 0,
	LS_SOFTIRQ = 1,
	LS_HARDIRQ = 2,
	LS_NMI = 3,
	LS_NR_LEVELS
};
#define LS_LEVEL_NAMES "task", "softirq", "hardirq", "nmi"

/* Source of a class's identity, best first. */
enum ls_origin {
	LS_ORIGIN_NONE = 0,
	LS_ORIGIN_STATIC,	/* symbol of the kernel or a module */
	LS_ORIGIN_PERCPU,	/* static per-CPU symbol */
	LS_ORIGIN_INIT,		/* initialiser's string and calling function */
	LS_ORIGIN_SLAB,		/* named slab cache and offset in the object */
	LS_ORIGIN_ALLOC,	/* kmalloc cache, allocation site and offset */
	LS_ORIGIN_PAGE,		/* inside struct page (split page-table locks) */
	LS_ORIGIN_SITE,		/* union of acquire sites: the last resort */
	LS_ORIGIN_ANNOTATED,	/* name from an annotation */
	LS_ORIGIN_FUNCTION,	/* address of a function: LS_KIND_WORK */
	LS_NR_ORIGINS
};

/*
 * How a class is used with respect to interrupts, lockdep's usage bits. IN: acquired in that
 * interrupt, by a context that may wait for it. ON: held while that interrupt is enabled.
 * _READ: as a reader only (IN: a recursive one).
 */
#define LS_USE_IN_HARDIRQ 1u
#define LS_USE_IN_HARDIRQ_READ 2u
#define LS_USE_IN_SOFTIRQ 4u
#define LS_USE_IN_SOFTIRQ_READ 8u
#define LS_USE_ON_HARDIRQ 16u
#define LS_USE_ON_HARDIRQ_READ 32u
#define LS_USE_ON_SOFTIRQ 64u
#define LS_USE_ON_SOFTIRQ_READ 128u

/*
 * Interrupts are two further classes of the graph [Eraser 3.4]: dependencies lead from a class
 * held with interrupts enabled to them, and from them to every class that they acquire. So a
 * deadlock with an interrupt is a strong cycle like any other. These ids occur in findings
 * only, never in LS_VAL_* words.
 */
#define LS_CLASS_HARDIRQ (1u << LS_VAL_CLASS_BITS)
#define LS_CLASS_SOFTIRQ ((1u << LS_VAL_CLASS_BITS) + 1)

/* Dependency kinds of prev -> next, lockdep's names, as a bit mask. */
#define LS_DEP_ER 1u	/* exclusive -> recursive reader */
#define LS_DEP_EN 2u	/* exclusive -> anything else */
#define LS_DEP_SR 4u	/* shared -> recursive reader */
#define LS_DEP_SN 8u	/* shared -> anything else */

enum ls_rec_type {
	LS_REC_CLASS = 1,
	LS_REC_STACK = 2,
	LS_REC_SIGHT = 3,
	LS_REC_FINDING = 4,
	LS_REC_SYMBOL = 5,
	LS_REC_INVERSION = 6,
	LS_REC_RESET = 7,	/* everything before is discarded; header only */
	LS_REC_DATA = 8,
	LS_REC_ACCESS = 9,
	LS_REC_RACE = 10,
	LS_REC_HISTORY = 11,
	LS_REC_MODULE = 12,
	LS_REC_SIDE = 13,
};

struct ls_rec {
	__u32 len;		/* whole record in bytes, a multiple of 8 */
	__u16 type;		/* enum ls_rec_type; skip unknown ones */
	__u16 flags;		/* 0 */
};

/*
 * A new lock class. When a module is reloaded, or two identities are found to be one lock, the
 * later id refers to the first one with the same name and kind through @canonical.
 */
struct ls_rec_class {
	struct ls_rec hdr;
	__u32 id;		/* 1 .. 2^20-1 */
	__u32 canonical;	/* == id unless merged with an older class */
	__u8 kind;		/* enum ls_kind */
	__u8 origin;		/* enum ls_origin */
	__u16 pad;
	__u32 offset;		/* in the object: SLAB, ALLOC, PAGE; in the symbol: STATIC, PERCPU */
	__u32 object_size;	/* bytes, SLAB and ALLOC, else 0 */
	__u32 pad2;
	char module[LS_MODULE_LEN];	/* owner of the symbol or site, "vmlinux" */
	char name[LS_NAME_MAX];		/* stable name, see docs/findings.md */
};

/* A stack, innermost frame first; ip[0] is the caller of the lock function. */
struct ls_rec_stack {
	struct ls_rec hdr;
	__u32 id;		/* 1 .. */
	__u32 nr;		/* <= LS_STACK_FRAMES */
	__u64 ip[];
};

struct ls_held_rec {
	__u32 val;		/* LS_VAL_* */
	/*
	 * Hashes of a gate and a lock, 0: not known. Low half: this lock was acquired under the
	 * gate, which was released since. High half, in any of the entries: the lock was acquired
	 * and released within the hold of the gate. Where such two of two contexts are equal they
	 * never meet (passed.h).
	 */
	__u32 passed;
	__u64 ip;		/* acquire site (return address) */
	__u64 lock;		/* instance: address, for comparing only */
};

/*
 * One acquisition that added something new: at least one dependency, dependency kind, context,
 * use in an interrupt or missing gate. held[] is the whole held-lock stack of the context,
 * oldest first, without the acquired lock.
 *
 * With @what other than LS_SIGHT_ACQUIRE it is another event, which adds nothing to the order
 * of locks:
 *
 * LS_SIGHT_RELEASE: @val is released, its context bits are those of the release.
 * LS_SIGHT_COMPLETE: @val is completed, or woken, by a context that needed the locks that
 * @new_mask marks in held[] to get there. There is one of these whenever fewer locks remain
 * that were held at all completions of @val: those make the wait-for edges @val -> lock.
 * LS_FINDING_*: a fault. @lock and @val are the lock that it is about, 0 for none; @new_mask
 * marks it, or all that matter, in held[].
 */
struct ls_rec_sight {
	struct ls_rec hdr;
	__u64 time_ns;		/* CLOCK_MONOTONIC (local_clock) */
	__u64 new_mask;		/* bit i: the edge held[i] -> val is new */
	__u64 ip;		/* caller of the lock function */
	__u64 lock;		/* instance: address and life of its object, for comparing only */
	__u32 val;		/* LS_VAL_* of the lock being acquired */
	__u32 chain;		/* chain index, 0 when it is not in the table */
	__u32 stack;		/* stack id, 0 when it was not logged */
	__u32 pid;
	__u32 tgid;
	__u32 task_flags;	/* LS_TASK_* */
	__u16 nr_held;
	__u16 cpu;
	__u32 what;		/* LS_SIGHT_* or enum ls_finding_kind (those of one observation) */
	/*
	 * COMPLETE: LS_COMPLETE_*. LONG_HOLD: nanoseconds waited; the entry that @new_mask
	 * marks is the owner's, not the waiting task's. DEADLOCK: a number that all
	 * observations of one deadlock share. ACQUIRE: LS_RELATED_*, LS_PAST_*. SLEEP_ATOMIC:
	 * LS_ATOMIC_*. AT_END: the same, of what was left. Else 0.
	 */
	__u64 extra;
	char comm[LS_COMM_LEN];
	struct ls_held_rec held[];
};
/* Why a task is atomic, as far as it is known; what LS_VAL_* of the observation says is not here. */
#define LS_ATOMIC_PREEMPT 1u	/* preemption is off */
#define LS_ATOMIC_RCU 2u	/* in an RCU read side */
#define LS_ATOMIC_BH 4u		/* softirqs are off; AT_END only, as the next one */
#define LS_ATOMIC_IRQ 8u	/* interrupts are off */
/*
 * How the objects of two nested instances of one class are related: the last of those that
 * @new_mask marks, and the acquired one.
 */
#define LS_RELATED_LOOKED 1u
#define LS_RELATED_BACK 2u	/* the inner object points to the outer one */
#define LS_RELATED_FORTH 4u	/* the outer object points to the inner one */
/*
 * ACQUIRE: what ls_held_rec.passed would say is not known, as fast paths were taken before, or
 * there was no room to compare it later.
 */
#define LS_PAST_UNKNOWN 8u
/*
 * ACQUIRE: up to three more facts like the low halves of ls_held_rec.passed, with the lock that
 * each is about among the last LS_PAST_DEPTH of those held: ls_past_more().
 */
#define LS_PAST_DEPTH 16
#define LS_PAST_MORE 3
#define LS_SIGHT_ACQUIRE 0u
#define LS_SIGHT_RELEASE 1u
#define LS_SIGHT_COMPLETE 2u
/*
 * LS_SIGHT_COMPLETE: there is no waiter yet, so the waiter itself may be completing it; no
 * wait-for edge follows until another context was observed to do so.
 */
#define LS_COMPLETE_OPEN 1u
/* Observed at a waiter: another context has completed what it waits for. No other information. */
#define LS_COMPLETE_CONFIRMED 2u
#define LS_SIGHT_IS_FAULT(what) ((what) >= LS_FINDING_WAIT_CONTEXT)
#define LS_TASK_KTHREAD 1u
#define LS_TASK_WORKER 2u	/* workqueue worker */
/*
 * Of a fault: the kernel had repaired the task's preemption count before, so it may be a
 * consequence of what made that necessary (kmod/core/repaired.c).
 */
#define LS_TASK_REPAIRED 4u

/*
 * One edge of a finding; sight is the ordinal (0-based) of the LS_REC_SIGHT. For an edge into
 * LS_CLASS_HARDIRQ or _SOFTIRQ it is an observation of @from held with that interrupt enabled,
 * for one out of it an observation of @to acquired there. A fault of one observation has one
 * edge, from and to being the lock's class or 0.
 */
struct ls_finding_edge {
	__u32 from;		/* canonical class ids, or LS_CLASS_HARDIRQ, _SOFTIRQ */
	__u32 to;
	__u32 kinds;		/* LS_DEP_* */
	__u32 sight;
};

/* A finding by the module itself. */
struct ls_rec_finding {
	struct ls_rec hdr;
	__u32 id;		/* 1 .. since load or reset */
	__u16 kind;		/* enum ls_finding_kind */
	__u16 nr_edges;
	struct ls_finding_edge edges[];
};

/* Symbol of an address in an unloaded module; valid for earlier records. */
struct ls_rec_symbol {
	struct ls_rec hdr;
	__u64 ip;
	__u32 offset;
	__u32 size;
	char function[LS_SYMBOL_LEN];
	char module[LS_MODULE_LEN];
};

enum ls_module_state {
	LS_MODULE_COMES = 1,	/* loading, or loaded before: its code is about to run */
	LS_MODULE_STARTED = 2,	/* its init sections are freed next */
	LS_MODULE_GOES = 3,
};

/*
 * Address ranges of a module's code, from this record on. Symbols of all addresses in that
 * code that earlier records use come before the record of its end.
 */
struct ls_rec_module {
	struct ls_rec hdr;
	__u32 state;		/* enum ls_module_state */
	__u32 pad;
	__u64 text, text_end;	/* core code */
	__u64 init, init_end;	/* init code; 0, 0: none, or freed before */
	char module[LS_MODULE_LEN];
};

/*
 * Two instances of one class taken in both orders, or one instance twice. @first and @second
 * are ordinals of observations.
 */
struct ls_rec_inversion {
	struct ls_rec hdr;
	__u32 class_id;
	__u32 same_instance;	/* 1: the same lock was acquired again */
	__u32 first;
	__u32 second;
};

struct ls_info {
	__u16 abi_major;
	__u16 abi_minor;
	__u32 active;		/* 1: hooks record */
	__u64 instance;		/* random, new with every load of the module */
	__u64 log_bytes;	/* length of the log; pread beyond returns 0 */
	__u64 acquisitions;	/* since load */
	__u64 releases;
	__u64 unknown_releases;	/* no acquire was seen: held at load, or handed over */
	__u64 deferred;		/* new chains deferred: buffer full; observed again */
	__u64 level_acquisitions[LS_NR_LEVELS];
	__u64 losses[LS_NR_LOSSES];
	__u32 classes;
	__u32 edges;
	__u32 chains;		/* chain indices 1 .. chains are valid */
	__u32 stacks;
	__u32 sights;
	__u32 findings;
	__u32 max_classes;
	__u32 max_edges;
	__u32 max_chains;
	__u32 nr_prims;
	__u32 ring_bytes;	/* per-CPU event ring, mmap length of one CPU */
	__u32 nr_cpus;		/* rings: offset cpu * ring_bytes */
	char release[64];	/* uname -r */
};

/* A chain: its last lock and the chain below it; 0 ends. */
struct ls_chain {
	__u32 parent;
	__u32 val;		/* LS_VAL_* */
	__u64 ip;		/* first acquire site */
	__u32 count;		/* acquisitions, sampled: estimates above 1 */
	__u32 looks;		/* internal: acquisitions whose instances are still to be checked */
};

struct ls_chains_req {
	__u32 from;		/* first index, >= 1 */
	__u32 nr;		/* in: room; out: filled */
	__u64 buf;		/* struct ls_chain[] */
};

/* Instances of one class nested in each other, by their relation. */
enum ls_nesting {
	LS_NEST_ASCENDING = 0,	/* pairs of instances: the inner one has the higher address */
	LS_NEST_DESCENDING,
	LS_NEST_LOOKED,		/* pairs of objects searched for pointers to each other */
	LS_NEST_BACK,		/* of these: the inner object points to the outer one */
	LS_NEST_FORTH,		/* of these: only the outer object points to the inner one */
	LS_NEST_ANNOTATED,	/* nestings whose order is annotated */
	LS_NR_NESTINGS
};

/* Counts of a class since load or reset. */
struct ls_class_counts {
	__u32 id;
	/*
	 * Semaphore instances, counted once in a life: those that were released, and of these
	 * the ones released by a context that had not acquired them. Both are scaled down on
	 * overflow; 0 from modules before ABI 2.6.
	 */
	__u16 instances;
	__u16 handed;
	/* Semaphores. */
	__u64 acquires;
	__u64 releases;
	__u64 unmatched_releases;	/* by a context that had not acquired it */
	__u64 unmatched_acquires;	/* released by another context, or acquired again before */
	/* A pair that was evicted meanwhile is counted again. */
	__u32 nested[LS_NR_NESTINGS];	/* enum ls_nesting */
};

struct ls_counts_req {
	__u32 from;		/* in: first class id, >= 1; out: where to continue */
	__u32 nr;		/* in: room; out: filled, classes without counts are skipped */
	__u64 buf;		/* struct ls_class_counts[] */
};

/* A task that sleeps for a lock, and the owner of the lock. */
#define LS_WAIT_OWNER 1u	/* the owner's fields are filled in */
#define LS_WAIT_OWNER_LOCK 2u	/* owner_val and owner_ip, too: its acquisition was seen */
struct ls_wait_rec {
	__u64 lock;		/* instance: address, for comparing only */
	__u64 since;		/* ns, local_clock(): identifies the wait */
	__u64 waited;		/* ns */
	__u64 ip;		/* caller of the lock function */
	__u64 owner_ip;		/* acquire site of the owner */
	__u32 val;		/* LS_VAL_*: class, and acquire mode */
	__u32 owner_val;
	__u32 flags;		/* LS_WAIT_* */
	__u32 pid;
	__u32 tgid;
	__u32 owner_pid;
	__u32 owner_tgid;
	__u32 nr;		/* frames of the stacks */
	__u32 owner_nr;		/* 0: it is running, or its stack is not available */
	__u32 nr_held;		/* locks that the task holds */
	char comm[LS_COMM_LEN];
	char owner_comm[LS_COMM_LEN];
	__u64 stack[LS_STACK_FRAMES];		/* innermost first, from the lock function's caller */
	__u64 owner_stack[LS_STACK_FRAMES];	/* from where it sleeps */
};

struct ls_waits_req {
	__u32 nr;		/* in: room; out: filled */
	__u32 total;		/* out: tasks that wait */
	__u64 buf;		/* struct ls_wait_rec[] */
};

enum ls_prim_state {
	LS_PRIM_ABSENT = 0,	/* not in this kernel */
	LS_PRIM_DIRECT,		/* direct-call trampoline */
	LS_PRIM_FTRACE,		/* ftrace_ops, the function has another direct user */
	LS_PRIM_KRETPROBE,	/* return value needed, direct not possible */
	LS_PRIM_COVERED,	/* calls another hooked primitive */
	LS_PRIM_FAILED,
	LS_PRIM_OFF,		/* not requested: waitqueues=0 */
	LS_NR_PRIM_STATES
};
#define LS_PRIM_STATE_NAMES "absent", "direct", "ftrace", "kretprobe", "covered", "failed", "off"

struct ls_prim_info {
	char function[40];
	__u8 kind;		/* enum ls_kind */
	__u8 state;		/* enum ls_prim_state */
	__u16 pad;
	__s32 error;		/* -errno with LS_PRIM_FAILED */
};

struct ls_prims_req {
	__u32 nr;		/* in: room; out: filled */
	__u32 pad;
	__u64 buf;		/* struct ls_prim_info[] */
};

enum ls_ctl_op {
	LS_CTL_STOP = 0,	/* hooks stay in place and return at once */
	LS_CTL_START = 1,
	LS_CTL_RESET = 2,	/* forget graph and findings, keep the hooks */
	LS_CTL_FLUSH = 3,	/* wait until everything recorded so far was processed */
};

#define LS_IOC_MAGIC 0xB7
#define LS_IOC_INFO _IOR(LS_IOC_MAGIC, 1, struct ls_info)
#define LS_IOC_CHAINS _IOWR(LS_IOC_MAGIC, 2, struct ls_chains_req)
#define LS_IOC_PRIMS _IOWR(LS_IOC_MAGIC, 3, struct ls_prims_req)
#define LS_IOC_CTL _IOW(LS_IOC_MAGIC, 4, __u32)
#define LS_IOC_COUNTS _IOWR(LS_IOC_MAGIC, 5, struct ls_counts_req)
#define LS_IOC_WAITS _IOWR(LS_IOC_MAGIC, 6, struct ls_waits_req)
/* Symbol at ip, while it exists: in ip, out the other fields except the header. ENOENT: none. */
#define LS_IOC_SYMBOL _IOWR(LS_IOC_MAGIC, 7, struct ls_rec_symbol)

/*
 * Per-CPU event ring, mapped read-only at offset cpu * ring_bytes: one header page, then data.
 * Hooks write it, the module's worker consumes it; a mapping only observes. head and tail are
 * byte counts since load.
 */
struct ls_ring_header {
	__u64 head;
	__u64 tail;
	__u64 deferred;		/* events that found no room */
	__u64 events;
	__u32 data_bytes;	/* power of two */
	__u32 cpu;
};

#include "abi_access.h"
#include "abi_anchor.h"
#include "abi_confirm.h"

#endif /* LOCKSCOPE_ABI_H */
