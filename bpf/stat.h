/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of stat.bpf.c, as userspace reads them: one of each per CPU. */
#ifndef LOCKSCOPE_BPF_STAT_H
#define LOCKSCOPE_BPF_STAT_H

#include "lockclass/abi.h"

#define LS_STAT_BUCKETS 40	/* of a histogram: bucket i counts 2^i .. 2^(i+1) - 1 ns, 0 as well in the first */
#define LS_STAT_SITES 16384	/* slots of the table of acquire sites, a power of two */
#define LS_STAT_PROBES 16	/* slots searched for one site */

struct ls_stat_times {
	__u64 count;
	__u64 sum;		/* ns */
	__u64 max;
	__u32 buckets[LS_STAT_BUCKETS];
};

/* A lock class; the index is its id. */
struct ls_stat_class {
	__u64 acquired[LS_NR_LEVELS];	/* by enum ls_level */
	__u64 contended[LS_NR_LEVELS];
	__u64 readers;		/* of those acquired: shared */
	__u64 trylocks;		/* of those acquired: could not have waited */
	__u64 gave_up;		/* of those contended */
	struct ls_stat_times waits;
	struct ls_stat_times holds;
};

/* A place that acquires locks of a class. */
struct ls_stat_site {
	__u64 ip;		/* return address, 0: free */
	__u32 id;		/* class */
	__u32 pad;
	__u64 acquired;
	__u64 contended;
	__u64 wait_ns;
	__u64 hold_ns;
};

/* X(symbol, name): events of classes beyond the table; of sites that found no place. */
#define LS_STAT_LOSSES(X)				\
	X(NO_CLASS, "events_without_class")		\
	X(NO_SITE,  "events_without_site")

enum ls_stat_loss {
#define LS_ROW(symbol, name) LS_STAT_##symbol,
	LS_STAT_LOSSES(LS_ROW)
#undef LS_ROW
	LS_STAT_NR_LOSSES
};

struct ls_stat_losses {
	__u64 n[LS_STAT_NR_LOSSES];
};

#endif /* LOCKSCOPE_BPF_STAT_H */
