/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of abi.h, which includes it, that is about memory accesses: their records in
 * the log, and the ioctls that watch them.
 */
#ifndef LOCKSCOPE_ABI_ACCESS_H
#define LOCKSCOPE_ABI_ACCESS_H

/* Memory accesses: the accessed data, the access sites, and races. */

enum ls_data_kind {
	LS_DATA_NONE = 0,
	LS_DATA_STATIC,		/* symbol of the kernel or a module */
	LS_DATA_PERCPU,		/* static per-CPU symbol */
	LS_DATA_SLAB,		/* object of a named slab cache */
	LS_DATA_ALLOC,		/* kmalloc object, by allocation site */
	LS_DATA_OTHER,		/* vmalloc, whole pages, not known: by the accessing function */
	LS_NR_DATA_KINDS
};

/* A symbol, or a type of object, that was accessed. */
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
#define LS_ACC_PROBE 32u	/* seen by a probe: ip is the instruction, else the one after it */
#define LS_ACC_TRAP 64u		/* only seen by a watchpoint: it may be marked */

/* Context of an access, besides LS_VAL_LEVEL_MASK, _IRQ_OFF and _BH_OFF. */
#define LS_WHERE_PREEMPT_OFF 1u
#define LS_WHERE_RCU 2u		/* in an RCU read side */
#define LS_WHERE_SEQ_READ 4u	/* between two marked reads of a sequence counter */
#define LS_WHERE_SEQ_WRITE 8u	/* while a sequence counter that the context incremented is odd */
#define LS_WHERE_WAITING 16u	/* by a task that is about to sleep, testing its wait condition */

/* How a held lock relates to the object accessed [LOCKSMITH: existential correlation]. */
enum ls_relation {
	LS_REL_OTHER = 0,	/* in another object, or in unknown memory */
	LS_REL_STATIC,		/* a static lock, the same for all objects */
	LS_REL_SELF,		/* in the same object, at @lock_offset */
	LS_REL_VIA,		/* in the object that the pointer at @via leads to */
	LS_REL_PERCPU,
};

struct ls_guard_rec {
	__u32 val;		/* LS_VAL_* */
	__u16 relation;		/* enum ls_relation */
	__u16 via;		/* VIA: offset of the pointer in the object accessed */
	/*
	 * Of the lock in its object: SELF, OTHER; VIA: from where the pointer leads to, which
	 * may lie behind it: modulo 2^32.
	 */
	__u32 lock_offset;
	__u32 pad;
	__u64 ip;		/* acquire site */
	__u64 lock;		/* instance: address, for comparing only */
};

/*
 * A new access site: the code, the data, and the held locks with their relation to the data,
 * each with its acquire site. Later accesses at the same site only add to its count.
 */
struct ls_rec_access {
	struct ls_rec hdr;
	__u32 id;		/* 1 .. */
	__u32 data;		/* id of the LS_REC_DATA, 0 when it was not logged */
	__u32 offset;		/* of the first byte, in the object or symbol */
	__u16 size;		/* bytes; the whole of a range, 65535: or more */
	__u16 op;		/* LS_ACC_* */
	__u64 ip;
	__u64 time_ns;
	__u32 where;		/* LS_WHERE_* and LS_VAL_LEVEL_MASK, _IRQ_OFF, _BH_OFF */
	__u32 stack;		/* stack id, 0 when it was not logged */
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
	LS_EXCLUSIVE_TO,	/* accessed by one context so far, or since a hand-over */
	LS_SHARED_READ,		/* by several, which only read since */
	LS_SHARED_MODIFIED,
};

/* One access in the history of a granule. */
struct ls_history_rec {
	__u32 access;		/* id of the LS_REC_ACCESS */
	__u16 context;		/* below 0x8000: low bits of the pid; else an interrupt of a CPU */
	__u8 bytes;		/* bit i: byte i of the granule */
	__u8 initial;		/* from the time when one context owned it */
};

#define LS_RACE_CAUGHT 1u	/* one side was stalled in its access when the other one came */
#define LS_RACE_CHANGED 2u	/* the value changed while a side was stalled in its access */

/* Two accesses without synchronisation. Numbered in one sequence with LS_REC_FINDING. */
struct ls_rec_race {
	struct ls_rec hdr;
	__u32 id;		/* of the finding */
	__u32 flags;		/* LS_RACE_* */
	__u32 first;		/* access site (id of LS_REC_ACCESS) of the earlier side */
	__u32 second;		/* that of the later side, which showed the race */
	__u32 first_pid;	/* 0 for interrupts */
	__u32 second_pid;
	__u64 addr;		/* of the second access; for comparing only */
	__u64 time_ns;
	__u32 nr;		/* history, oldest first, without the second access */
	__u32 pad;
	struct ls_history_rec history[];
};

#define LS_SIDE_SECOND 1u	/* the later side */
#define LS_SIDE_TASK 2u		/* tgid, task_flags, comm and the full pid are known */
#define LS_CPU_UNKNOWN 0xffffu

/*
 * One side of a race, after the record of the race. The code, the data and the acquire sites
 * of its locks are those of its access site, see ls_rec_access. Not known of the earlier side,
 * unless it was caught: its stack, and the CPU of a task.
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
	__u64 locks[];		/* of the site's guards, 0: not known; for comparing only */
};

/* A state change of a granule that LS_IOC_FOLLOW requested [Eraser 3.3]. */
struct ls_rec_history {
	struct ls_rec hdr;
	__u64 addr;
	__u64 time_ns;
	__u32 access;		/* id of the LS_REC_ACCESS */
	__u8 before;		/* enum ls_shadow_state */
	__u8 after;
	__u16 context;		/* as in ls_history_rec */
	__u32 candidates;	/* number of candidate locks left, 0xffffffff: all locks */
	__u32 pid;
	__u64 locks[4];		/* the first of them: addresses, for comparing only */
};

enum ls_access_mode {
	LS_ACCESSES_OFF = 0,
	LS_ACCESSES_SAMPLED = 1,	/* some pages at a time, in turns */
	LS_ACCESSES_ALL = 2,
	LS_NR_ACCESS_MODES
};
#define LS_ACCESS_MODE_NAMES "off", "sampled", "all"

struct ls_access_info {
	__u32 mode;		/* enum ls_access_mode */
	__u32 share;		/* SAMPLED: one block of so many is watched at a time, a power of two */
	__u32 epoch_ms;		/* length of an epoch */
	__u32 epochs;		/* since load */
	__u64 seen;		/* accesses in watched pages, lost ones included */
	__u64 losses[LS_NR_ALOSSES];
	__u32 pages;		/* pages of shadow memory in use */
	__u32 max_pages;
	__u32 page_bytes;	/* shadow memory for one page */
	__u32 locksets;
	__u32 max_locksets;
	__u32 sites;		/* ids of LS_REC_ACCESS 1 .. sites are valid */
	__u32 max_sites;
	__u32 resets;		/* times that the shadow was reset because it was full */
	__u32 handovers;	/* hand-overs of memory from one context to another */
	__u32 races;		/* reported so far */
	__u32 probes;		/* armed now */
	__u32 max_probes;
	__u64 probe_hits;
	__u32 watchpoints;	/* armed so far */
	__u32 caught;		/* races caught in the act by them */
};

/* Zero keeps the current value. */
struct ls_access_ctl {
	__u32 mode;		/* 1 + enum ls_access_mode */
	__u32 share;
	__u32 epoch_ms;
	__u32 watchpoints;	/* 1: none, 2: use them */
};

/*
 * Accesses at each access site, as far as they were watched. LS_COUNT_SHARED: at some of them
 * the memory was shared, with no ordering to earlier accesses of others.
 */
#define LS_COUNT_SHARED 0x80000000u
struct ls_access_counts_req {
	__u32 from;		/* first id, >= 1 */
	__u32 nr;		/* in: room; out: filled */
	__u64 buf;		/* __u32[] */
};

/* Follow every state change of the granules in [start, start + bytes). bytes 0: stop. */
struct ls_follow_req {
	__u64 start;
	__u64 bytes;		/* <= 4096 */
};

/* A memory access in unmodified code, for a probe. */
enum ls_operand_base {
	LS_BASE_NONE = 255,	/* rax .. r15 are 0 .. 15 in the instruction set's order */
	LS_BASE_RIP = 254,	/* disp is the address itself */
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
	__s32 error;		/* out: -errno when it cannot be probed */
	__u32 pad;
};

/*
 * Replaces the present probes; those in both sets stay armed when both are sorted by address.
 * nr 0: none. Removed when the open file that set them is closed.
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
/* Approximate hits of each probe since it was armed: buf is __u32[], nr in: room, out: filled. */
#define LS_IOC_SITE_HITS _IOWR(LS_IOC_MAGIC, 21, struct ls_sites_req)

#endif /* LOCKSCOPE_ABI_ACCESS_H */
