/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of abi.h, which includes it, that is about memory accesses: their records in
 * the log, and the ioctls that watch them.
 */
#ifndef LOCKSCOPE_ABI_ACCESS_H
#define LOCKSCOPE_ABI_ACCESS_H

/* Memory accesses: the type of object they touch, what they are, what races. */

enum ls_data_kind {
	LS_DATA_NONE = 0,
	LS_DATA_STATIC,		/* symbol of the kernel or a module */
	LS_DATA_PERCPU,		/* static per-CPU symbol */
	LS_DATA_SLAB,		/* object of a named slab cache */
	LS_DATA_ALLOC,		/* kmalloc object, by where it was allocated */
	LS_DATA_OTHER,		/* vmalloc, whole pages, not known: by the accessing function */
	LS_NR_DATA_KINDS
};

/* A symbol, or a type of object, that some access touched. */
struct ls_rec_data {
	struct ls_rec hdr;
	__u32 id;		/* 1 .. */
	__u32 object_size;	/* bytes, 0 when not known */
	__u8 kind;		/* enum ls_data_kind */
	__u8 pad[7];
	char module[LS_MODULE_LEN];	/* owner of the symbol or site, "vmlinux" */
	char name[LS_NAME_MAX];	/* symbol, slab cache, or function that allocates or accesses */
};

#define LS_ACC_READ 1u
#define LS_ACC_WRITE 2u		/* both: one instruction reads and writes */
#define LS_ACC_MARKED 4u	/* volatile: READ_ONCE, WRITE_ONCE */
#define LS_ACC_ATOMIC 8u
#define LS_ACC_RANGE 16u	/* structure or block */
#define LS_ACC_PROBE 32u	/* seen by a probe: ip is the instruction, else what follows it */
#define LS_ACC_TRAP 64u		/* seen by a watchpoint alone: whether it is marked is not known */

/* Where an access happened, beside LS_VAL_LEVEL_MASK, _IRQ_OFF and _BH_OFF. */
#define LS_WHERE_PREEMPT_OFF 1u
#define LS_WHERE_RCU 2u		/* in a read side */
#define LS_WHERE_SEQ_READ 4u	/* between two marked reads of a sequence counter */
#define LS_WHERE_SEQ_WRITE 8u	/* while a sequence counter is odd that the context counted up */
#define LS_WHERE_WAITING 16u	/* by a task that is about to sleep, in the condition of its wait */

/* How a held lock is tied to the object accessed [LOCKSMITH: existential correlation]. */
enum ls_relation {
	LS_REL_OTHER = 0,	/* some other object's, or memory not known */
	LS_REL_STATIC,		/* one for all: a static lock */
	LS_REL_SELF,		/* in the same object, at @lock_offset */
	LS_REL_VIA,		/* in an object that the pointer at @via of ours leads into */
	LS_REL_PERCPU,
};

struct ls_guard_rec {
	__u32 val;		/* LS_VAL_* */
	__u16 relation;		/* enum ls_relation */
	__u16 via;		/* VIA: offset of the pointer in the object accessed */
	__u32 lock_offset;	/* of the lock in its object: SELF, OTHER; VIA: from where the
				   pointer leads to, which may lie behind it: modulo 2^32 */
	__u32 pad;
	__u64 ip;		/* where it was acquired */
	__u64 lock;		/* instance: address, for comparing only */
};

/*
 * A way of accessing seen for the first time: the code, the data, and the locks
 * held as they are tied to the data, each with the place that took it. Later
 * accesses of the same way add to its count only.
 */
struct ls_rec_access {
	struct ls_rec hdr;
	__u32 id;		/* 1 .. */
	__u32 data;		/* id of the LS_REC_DATA, 0 when not kept */
	__u32 offset;		/* of the first byte, in the object or symbol */
	__u16 size;		/* bytes; the whole of a range, 65535: or more */
	__u16 op;		/* LS_ACC_* */
	__u64 ip;
	__u64 time_ns;
	__u32 where;		/* LS_WHERE_* and LS_VAL_LEVEL_MASK, _IRQ_OFF, _BH_OFF */
	__u32 stack;		/* stack id, 0 when it was not kept */
	__u32 pid;
	__u32 tgid;
	__u32 task_flags;	/* LS_TASK_* */
	__u16 nr_guards;
	__u16 cpu;
	char comm[LS_COMM_LEN];
	struct ls_guard_rec guards[];	/* oldest first */
};

/* States of a granule of 8 bytes [Eraser 2.2, figure 4]. */
enum ls_shadow_state {
	LS_VIRGIN = 0,
	LS_EXCLUSIVE_TO,	/* one context only so far, or since it was handed over */
	LS_SHARED_READ,		/* by several, who only read since */
	LS_SHARED_MODIFIED,
};

/* What a granule's shadow remembers of one access. */
struct ls_history_rec {
	__u32 access;		/* id of the LS_REC_ACCESS */
	__u16 context;		/* below 0x8000: low bits of the pid; else an interrupt of a CPU */
	__u8 bytes;		/* bit i: byte i of the granule */
	__u8 initial;		/* from the time when one context had it for itself */
};

#define LS_RACE_CAUGHT 1u	/* one side was stopped in its access while the other came by */
#define LS_RACE_CHANGED 2u	/* the value changed while a side was stopped in its access */

/* Two accesses that nothing keeps apart. Numbered like LS_REC_FINDING, in one sequence with them. */
struct ls_rec_race {
	struct ls_rec hdr;
	__u32 id;		/* of the finding */
	__u32 flags;		/* LS_RACE_* */
	__u32 first;		/* ids of LS_REC_ACCESS: the earlier one */
	__u32 second;		/* the later one, which showed the race */
	__u32 first_pid;	/* 0 for interrupts */
	__u32 second_pid;
	__u64 addr;		/* of the second access; for comparing only */
	__u64 time_ns;
	__u32 nr;		/* history, the oldest first, without the second access */
	__u32 pad;
	struct ls_history_rec history[];
};

#define LS_SIDE_SECOND 1u	/* the later side */
#define LS_SIDE_TASK 2u		/* tgid, task_flags, comm and all of pid are known */
#define LS_CPU_UNKNOWN 0xffffu

/*
 * One side of a race as it raced, after the record of the race. What it has in common with
 * the first access of its way, see ls_rec_access: the code, the data and the places where
 * its locks were taken. Not known of the earlier side, unless it was caught: its stack, and
 * the CPU of a task.
 */
struct ls_rec_side {
	struct ls_rec hdr;
	__u32 race;		/* id of the LS_REC_RACE */
	__u32 flags;		/* LS_SIDE_* */
	__u64 time_ns;		/* of that record: a race that is caught has a second one */
	__u32 access;		/* id of the LS_REC_ACCESS */
	__u32 stack;		/* stack id, 0: not known */
	__u32 pid;		/* interrupts: of the interrupted task; without LS_SIDE_TASK: low bits, or 0 */
	__u32 tgid;
	__u32 task_flags;	/* LS_TASK_* */
	__u16 cpu;		/* LS_CPU_UNKNOWN */
	__u16 nr_locks;
	char comm[LS_COMM_LEN];
	__u64 locks[];		/* instances of the access's guards, 0: not known; for comparing only */
};

/* A change of a granule that a user asked to follow (LS_IOC_FOLLOW) [Eraser 3.3]. */
struct ls_rec_history {
	struct ls_rec hdr;
	__u64 addr;
	__u64 time_ns;
	__u32 access;		/* id of the LS_REC_ACCESS */
	__u8 before;		/* enum ls_shadow_state */
	__u8 after;
	__u16 context;		/* as in ls_history_rec */
	__u32 candidates;	/* locks left that all accesses had in common, 0xffffffff: all of them */
	__u32 pid;
	__u64 locks[4];		/* the first of them: addresses, for comparing only */
};

enum ls_access_mode {
	LS_ACCESSES_OFF = 0,
	LS_ACCESSES_SAMPLED = 1,	/* some pages at a time, each in its turn */
	LS_ACCESSES_ALL = 2,
	LS_NR_ACCESS_MODES
};
#define LS_ACCESS_MODE_NAMES "off", "sampled", "all"

struct ls_access_info {
	__u32 mode;		/* enum ls_access_mode */
	__u32 share;		/* SAMPLED: one block of so many is watched at a time, a power of two */
	__u32 epoch_ms;		/* for so long */
	__u32 epochs;		/* since load */
	__u64 seen;		/* accesses in watched pages, lost ones included */
	__u64 losses[LS_NR_ALOSSES];
	__u32 pages;		/* of shadow memory in use */
	__u32 max_pages;
	__u32 page_bytes;	/* shadow memory for one page */
	__u32 locksets;
	__u32 max_locksets;
	__u32 sites;		/* ids of LS_REC_ACCESS 1 .. sites are valid */
	__u32 max_sites;
	__u32 resets;		/* times that the shadow was forgotten because it was full */
	__u32 handovers;	/* memory found to have passed from one context to another */
	__u32 races;		/* told so far */
	__u32 probes;		/* armed now */
	__u32 max_probes;
	__u64 probe_hits;
	__u32 watchpoints;	/* armed so far */
	__u32 caught;		/* races that they caught in the act */
};

/* Zero leaves what is. */
struct ls_access_ctl {
	__u32 mode;		/* 1 + enum ls_access_mode */
	__u32 share;
	__u32 epoch_ms;
	__u32 watchpoints;	/* 1: none, 2: use them */
};

/*
 * How often each way of accessing was seen, as far as it was watched. LS_COUNT_SHARED:
 * at some of these times others had had the memory as well, and nothing proved them done.
 */
#define LS_COUNT_SHARED 0x80000000u
struct ls_access_counts_req {
	__u32 from;		/* first id, >= 1 */
	__u32 nr;		/* in: room; out: filled */
	__u64 buf;		/* __u32[] */
};

/* Follow every change of the granules in [start, start + bytes). bytes 0: no more. */
struct ls_follow_req {
	__u64 start;
	__u64 bytes;		/* <= 4096 */
};

/* A memory access of unmodified code, for a probe. */
enum ls_operand_base {
	LS_BASE_NONE = 255,	/* rax .. r15 are 0 .. 15 in the instruction set's order */
	LS_BASE_RIP = 254,	/* disp is the address itself then */
};

struct ls_site {
	__u64 ip;		/* of the instruction */
	__s64 disp;
	__u8 base;		/* 0 .. 15 or enum ls_operand_base */
	__u8 index;		/* 0 .. 15 or LS_BASE_NONE */
	__u8 scale;		/* 1, 2, 4, 8 */
	__u8 percpu;		/* %gs */
	__u16 size;		/* bytes */
	__u16 op;		/* LS_ACC_* */
	__s32 error;		/* out: -errno when no probe can be there */
	__u32 pad;
};

/*
 * Replaces the probes that there are, and what is in both sets stays as it is when
 * both go by address. nr 0: none. They go with the open file that asked for them.
 */
struct ls_sites_req {
	__u32 nr;		/* <= max_probes */
	__u32 armed;		/* out */
	__u64 buf;		/* struct ls_site[] */
};

#define LS_IOC_ACCESS_INFO _IOR(LS_IOC_MAGIC, 16, struct ls_access_info)
#define LS_IOC_ACCESS_CTL _IOW(LS_IOC_MAGIC, 17, struct ls_access_ctl)
#define LS_IOC_ACCESS_COUNTS _IOWR(LS_IOC_MAGIC, 18, struct ls_access_counts_req)
#define LS_IOC_FOLLOW _IOW(LS_IOC_MAGIC, 19, struct ls_follow_req)
#define LS_IOC_SITES _IOWR(LS_IOC_MAGIC, 20, struct ls_sites_req)
/* About how often each probe was hit since it was armed: buf is __u32[], nr in: room, out: filled. */
#define LS_IOC_SITE_HITS _IOWR(LS_IOC_MAGIC, 21, struct ls_sites_req)

#endif /* LOCKSCOPE_ABI_ACCESS_H */
