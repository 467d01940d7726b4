/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints lockscope:* for perf, bpftrace and BPF.
 *
 * class, edge and finding fire in the worker thread: any program may be attached, including
 * those that use locks and maps.
 *
 * acquired, released and waited fire inside the lock functions, with interrupts off, at the
 * rate of acquisitions: per-CPU arrays and atomic operations only, no hash map, no ring
 * buffer, no other helper that takes a lock. Without an attached program they cost nothing.
 * Their arguments: the class, how it is held (LS_VAL_* of lockclass/abi.h), the instance, the
 * acquire site, nanoseconds.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lockscope

#if !defined(LOCKSCOPE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LOCKSCOPE_TRACE_H

#include <linux/tracepoint.h>

#include "finding_kinds.h"

#include "features.h"

#ifdef LS_HAVE_ASSIGN_STR_ONE
#define ls_assign_str(field) __assign_str(field)
#else
#define ls_assign_str(field) __assign_str(field, field)
#endif

#define LS_TRACE_KIND(symbol, value, enumerator, name, ...) , { value, name }

int ls_stat_on(void);
void ls_stat_off(void);

TRACE_EVENT(class,
	TP_PROTO(u32 id, const char *name, const char *kind),
	TP_ARGS(id, name, kind),
	TP_STRUCT__entry(
		__field(u32, id)
		__string(name, name)
		__string(kind, kind)
	),
	TP_fast_assign(
		__entry->id = id;
		ls_assign_str(name);
		ls_assign_str(kind);
	),
	TP_printk("id=%u kind=%s name=%s", __entry->id, __get_str(kind), __get_str(name))
);

TRACE_EVENT(edge,
	TP_PROTO(u32 from, u32 to, u32 kinds, const char *from_name, const char *to_name),
	TP_ARGS(from, to, kinds, from_name, to_name),
	TP_STRUCT__entry(
		__field(u32, from)
		__field(u32, to)
		__field(u32, kinds)
		__string(from_name, from_name)
		__string(to_name, to_name)
	),
	TP_fast_assign(
		__entry->from = from;
		__entry->to = to;
		__entry->kinds = kinds;
		ls_assign_str(from_name);
		ls_assign_str(to_name);
	),
	TP_printk("%u -> %u kinds=%#x %s -> %s", __entry->from, __entry->to, __entry->kinds,
		  __get_str(from_name), __get_str(to_name))
);

TRACE_EVENT(finding,
	TP_PROTO(u32 id, u32 kind, u32 length, const char *first),
	TP_ARGS(id, kind, length, first),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, kind)
		__field(u32, length)
		__string(first, first)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->kind = kind;
		__entry->length = length;
		ls_assign_str(first);
	),
	TP_printk("id=%u kind=%s length=%u first=%s", __entry->id,
		  __print_symbolic(__entry->kind, { 0, "unknown" } LS_FINDINGS(LS_TRACE_KIND)),
		  __entry->length, __get_str(first))
);

/*
 * A lock was acquired. If its function cannot fail, the caller may still have to wait; waited
 * reports that. released has the hold time since.
 */
TRACE_EVENT_FN(acquired,
	TP_PROTO(u32 id, u32 val, u64 lock, u64 ip),
	TP_ARGS(id, val, lock, ip),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, val)
		__field(u64, lock)
		__field(u64, ip)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->val = val;
		__entry->lock = lock;
		__entry->ip = ip;
	),
	TP_printk("id=%u val=%#x lock=%#llx ip=%pS", __entry->id, __entry->val, __entry->lock,
		  (void *)(long)__entry->ip),
	ls_stat_on, ls_stat_off
);

TRACE_EVENT_FN(released,
	TP_PROTO(u32 id, u32 val, u64 lock, u64 ip, u64 held_ns),
	TP_ARGS(id, val, lock, ip, held_ns),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, val)
		__field(u64, lock)
		__field(u64, ip)
		__field(u64, held_ns)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->val = val;
		__entry->lock = lock;
		__entry->ip = ip;
		__entry->held_ns = held_ns;
	),
	TP_printk("id=%u val=%#x lock=%#llx ip=%pS held=%lluns", __entry->id, __entry->val,
		  __entry->lock, (void *)(long)__entry->ip, __entry->held_ns),
	ls_stat_on, ls_stat_off
);

/* @ret: 0, or why the wait failed. */
TRACE_EVENT_FN(waited,
	TP_PROTO(u32 id, u32 val, u64 lock, u64 ip, u64 ns, int ret),
	TP_ARGS(id, val, lock, ip, ns, ret),
	TP_STRUCT__entry(
		__field(u32, id)
		__field(u32, val)
		__field(u64, lock)
		__field(u64, ip)
		__field(u64, ns)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->id = id;
		__entry->val = val;
		__entry->lock = lock;
		__entry->ip = ip;
		__entry->ns = ns;
		__entry->ret = ret;
	),
	TP_printk("id=%u val=%#x lock=%#llx ip=%pS waited=%lluns ret=%d", __entry->id, __entry->val,
		  __entry->lock, (void *)(long)__entry->ip, __entry->ns, __entry->ret),
	ls_stat_on, ls_stat_off
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH core
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
