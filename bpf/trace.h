/* SPDX-License-Identifier: GPL-2.0 */
/* Interface of trace.bpf.c to userspace: each event in the ring of its CPU. */
#ifndef LOCKSCOPE_BPF_TRACE_H
#define LOCKSCOPE_BPF_TRACE_H

#include "lockclass/abi.h"

#define LS_TRACE_SLOTS 65536	/* events in a ring, at most; powers of two */
#define LS_TRACE_LEAST_SLOTS 4096
#define LS_TRACE_NAMES 1024	/* tasks whose names a CPU remembers, a power of two */

/* Values of those before LS_TRACE_NAME are part of the store's schema. */
enum ls_trace_kind {
	LS_TRACE_ACQUIRED = 0,
	LS_TRACE_RELEASED,	/* ns: held */
	LS_TRACE_WAITED,	/* ns: waited, and then acquired */
	LS_TRACE_GAVE_UP,	/* ns: waited, in vain */
	LS_TRACE_LOST,		/* only in a store: ns is a number of events of that CPU */
	LS_TRACE_NAME,		/* only in a ring: comm of the task */
};
#define LS_TRACE_NR_STORED LS_TRACE_NAME

struct ls_trace_event {
	__u64 number;		/* of the ring's events, from 1; written last */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 lock;		/* instance: address, for comparing only. LS_TRACE_NAME: comm */
	__u64 ip;		/* acquire site. LS_TRACE_NAME: the rest of comm */
	__u64 ns;
	__u32 val;		/* LS_VAL_* */
	__u32 kind;		/* enum ls_trace_kind */
	__u32 pid;
	__u32 tgid;
};

/* Of one CPU. The program writes the first cache line, userspace the second. */
struct ls_trace_ring {
	__u64 head;		/* events so far */
	__u64 lost;		/* more of them, for which there was no room */
	__u64 pad[6];
	__u64 tail;		/* events taken */
	__u64 pad2[7];
};

/*
 * Why events are not in a trace.
 *
 *   X(symbol, stored, why)
 *
 * stored: its name as a counter in stores.
 * why: words of the report.
 */
#define LS_TRACE_LOSSES(X)						\
	X(OVERFLOW, "trace_overflow", "a ring was full")		\
	X(MISSED,   "trace_missed",   "an NMI came in between")		\
	X(SIZE,	    "trace_size",     "older than what --trace-size keeps")

enum ls_trace_loss {
#define LS_ROW(symbol, stored, why) LS_TRACE_LOSS_##symbol,
	LS_TRACE_LOSSES(LS_ROW)
#undef LS_ROW
	LS_TRACE_NR_LOSSES
};

#endif /* LOCKSCOPE_BPF_TRACE_H */
