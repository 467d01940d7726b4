// SPDX-License-Identifier: GPL-2.0
/*
 * Dependencies of sleeping locks without the module: the locks that a task holds are in its
 * task storage, and an acquisition with other locks held that was not observed before claims a
 * slot of a plain array by compare-and-swap. Contended spinlocks are observed through
 * lock:contention_begin.
 *
 * Programs that run in a lock function never update a hash map or write to a ring buffer:
 * these take locks. The table of initialisers is written where locks are initialised.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/held.h"
#include "bpf/kernel.h"
#include "bpf/order.h"
#include "bpf/observation.h"
#include "kmod/primitives.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct ls_order_range freezers[LS_ORDER_FREEZERS];

/* Is @ip in a function that freezes or thaws a file system? */
__noinline int freezes(__u64 ip)
{
	for (__u32 i = 0; i < LS_ORDER_FREEZERS; i++)
		if (ip - freezers[i].start < freezers[i].size)
			return 1;
	return 0;
}

/* @ip: caller of the function, 0 when it is not known. */
static __always_inline void acquire(void *ctx, __u64 ip, __u64 lock, __u32 val)
{
	struct ls_order_semaphore *s = 0;
	struct task_locks *t;
	__u32 d;

	if (is_ours())
		return;
	/* An interrupt can only try, and releases before it ends. */
	if (ls_in_interrupt()) {
		add(LS_ORDER_IN_INTERRUPT, 1);
		return;
	}
	if (kind_of(val) == LS_KIND_SEMAPHORE) {
		s = semaphore(lock);
		if (s)
			__sync_fetch_and_add(&s->acquires, 1);
	}
	count(LS_ORDER_ACQUISITIONS);
	t = current_locks(may_allocate());
	if (!t) {
		count(LS_ORDER_NO_TASK);
		return;
	}
	if (!ip) {
		count(LS_ORDER_NO_PLACE);
		t->lost++;
		return;
	}
	if (t->depth)
		see_with_stack(ctx, t, lock, ip, val);
	if (kind_of(val) == LS_KIND_PERCPU_RWSEM && freezes(ip))
		return;
	d = t->depth;
	if (d >= LS_ORDER_DEPTH) {
		count(LS_ORDER_TOO_DEEP);
		t->lost++;
		return;
	}
	t->held[d].lock = lock;
	t->held[d].ip = ip;
	t->held[d].below = t->key;
	t->held[d].val = val;
	t->held[d].stamp = s ? s->unmatched : 0;
	t->key = mix(mix(t->key, ip), val);
	t->depth = d + 1;
}

static __always_inline void release(__u64 lock, __u32 kind)
{
	struct ls_order_semaphore *s = kind == LS_KIND_SEMAPHORE ? semaphore(lock) : 0;
	bool interrupt = ls_in_interrupt();
	struct task_locks *t;

	if (is_ours())
		return;
	if (interrupt && add(LS_ORDER_IN_INTERRUPT, -1))
		return;
	count(LS_ORDER_RELEASES);
	if (s)
		__sync_fetch_and_add(&s->releases, 1);
	t = interrupt ? 0 : current_locks(false);
	if (t && t->depth && give_back(t, lock))
		return;
	if (t && t->lost) {
		t->lost--;
		return;
	}
	count(LS_ORDER_UNKNOWN_RELEASES);
	if (s)
		__sync_fetch_and_add(&s->unmatched, 1);
}

static __always_inline void downgrade(__u64 lock)
{
	struct task_locks *t = current_locks(false);

	for (__u32 i = 0; t && i < LS_ORDER_DEPTH; i++)
		if (i < t->depth && t->held[i].lock == lock)
			t->held[i].val |= LS_SHARED << LS_VAL_READ_SHIFT;
}

static __always_inline void initialised(__u64 ip, __u64 lock, __u64 name)
{
	__u32 slot = lock * GOLDEN >> 48, *life = bpf_map_lookup_elem(&lives, &slot);
	struct ls_order_ident id = {};
	struct init init = {};

	if (life)
		__sync_fetch_and_add(life, 1);
	/* Static locks and those in named caches have better names. */
	if (lock >= START_KERNEL || (ls_slab_ident(lock, &id) && !ls_is_kmalloc(id.name)))
		return;
	init.ip = ip;
	bpf_probe_read_kernel_str(init.name, sizeof(init.name), (void *)name);
	bpf_map_update_elem(&inits, &lock, &init, BPF_ANY);
}

/*
 * kmod/primitives.h has the functions to attach to, for sleeping locks with the argument that
 * is the lock.
 */
#define VAL(kind, bits) (kind | ((bits) & (LS_VAL_READ_MASK | LS_VAL_TRY | LS_VAL_CTX)))

static __always_inline int special(void *ctx, __u64 ip, __u64 lock, __u64 arg, __u32 kind, __u32 op)
{
	switch (op & LS_OP_MASK) {
	case LS_OP_ACQUIRE:
		acquire(ctx, ip, lock, kind);
		break;
	case LS_OP_RELEASE:
		if (kind == LS_KIND_PERCPU_RWSEM && freezes(ip))
			count(LS_ORDER_RELEASES);
		else
			release(lock, kind);
		break;
	case LS_OP_DOWNGRADE:
		downgrade(lock);
		break;
	case LS_OP_INIT:
		initialised(ip, lock, arg);
		break;
	case LS_OP_INIT_UNNAMED:
		initialised(ip, lock, 0);
		break;
	}
	return 0;
}

static __always_inline int result(void *ctx, __u64 ip, __u64 ret, __u64 lock, __u32 kind, __u32 bits,
				  __u32 flags)
{
	bool taken = flags & LS_P_BOOL ? ret & 0xff : (__u32)ret;

	if (flags & LS_P_ZERO)
		taken = !taken;
	if (taken)
		acquire(ctx, ip, lock, VAL(kind, bits));
	return 0;
}

/* Under an acquire context there is no order. */
static __always_inline __u32 ww_bits(__u64 context, __u32 bits)
{
	return context ? bits | LS_VAL_CTX : bits;
}

/* As a number: the verifier rejects arithmetic on what it knows to be a pointer. */
static __always_inline __u64 arg(void *ctx, __u32 n)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, n, &value);
	return value;
}

static __always_inline __u64 ret(void *ctx)
{
	__u64 value = 0;

	bpf_get_func_ret(ctx, &value);
	return value;
}

static __always_inline __u64 caller(void *ctx)
{
	return ls_caller(ctx, bpf_get_func_ip(ctx));
}

#define ON_ACQUIRE(function, kind, bits, flags)					\
	SEC("fentry/" #function) int on_##function(__u64 *ctx)			\
	{									\
		acquire(ctx, caller(ctx), arg(ctx, 0), VAL(kind, bits));		\
		return 0;							\
	}
#define ON_RELEASE(function, kind, bits, flags)					\
	SEC("fentry/" #function) int on_##function(__u64 *ctx)			\
	{									\
		release(arg(ctx, 0), kind);						\
		return 0;							\
	}
#define ON_RESULT(function, kind, bits, flags)					\
	SEC("fexit/" #function) int on_##function(__u64 *ctx)			\
	{									\
		return result(ctx, caller(ctx), ret(ctx), arg(ctx, 0), kind, bits, flags); \
	}
/* No gates here. */
#define ON_FALLIBLE ON_RESULT
#define ON_WW(function, kind, bits, flags)					\
	SEC("fexit/" #function) int on_##function(__u64 *ctx)			\
	{									\
		return result(ctx, caller(ctx), ret(ctx), arg(ctx, 0), kind,		\
			      ww_bits(arg(ctx, 1), bits), flags);			\
	}
/* The second argument only matters for initialisers. */
#define ON_SPECIAL(function, kind, bits, flags)					\
	SEC("fentry/" #function) int on_##function(__u64 *ctx)			\
	{									\
		return special(ctx, caller(ctx), arg(ctx, 0), SECOND_##function, kind, bits); \
	}
#define SECOND_downgrade_write 0
#define SECOND_down 0
#define SECOND_up 0
#define SECOND_rt_mutex_lock 0
#define SECOND_rt_mutex_unlock 0
#define SECOND_ww_mutex_unlock 0
#define SECOND_percpu_down_write 0
#define SECOND_percpu_up_write 0
#define SECOND___mutex_init arg(ctx, 1)
#define SECOND_mutex_init_generic 0
#define SECOND___init_rwsem arg(ctx, 1)
#define SECOND___rt_mutex_init arg(ctx, 1)
#define SECOND___percpu_init_rwsem arg(ctx, 1)

#define OF_MUTEX(function, group, bits, flags) ON_##group(function, LS_KIND_MUTEX, bits, flags)
#define OF_RWSEM(function, group, bits, flags) ON_##group(function, LS_KIND_RWSEM, bits, flags)
#define OF_SEMAPHORE(function, group, bits, flags) ON_##group(function, LS_KIND_SEMAPHORE, bits, flags)
#define OF_RT_MUTEX(function, group, bits, flags) ON_##group(function, LS_KIND_RT_MUTEX, bits, flags)
#define OF_WW_MUTEX(function, group, bits, flags) ON_##group(function, LS_KIND_WW_MUTEX, bits, flags)
#define OF_PERCPU_RWSEM(function, group, bits, flags) ON_##group(function, LS_KIND_PERCPU_RWSEM, bits, flags)
#define OF_SPINLOCK(function, group, bits, flags)
#define OF_RWLOCK(function, group, bits, flags)
#define OF_SOCKET(function, group, bits, flags)
#define OF_NONE(function, group, bits, flags)
#define OF_WORK(function, group, bits, flags)
#define OF_COMPLETION(function, group, bits, flags)
#define OF_WAITQUEUE(function, group, bits, flags)
#define PROGRAM(function, kind, group, bits, offset, flags) OF_##kind(function, group, bits, flags)

LS_PRIMITIVES(PROGRAM)

/*
 * A contended spinning lock, with sleeping locks held. Any context, interrupts off or on,
 * whatever lock the kernel holds: no allocation here. @frame: of the stack, usually the lock
 * function's caller; userspace resolves it exactly.
 */
static __always_inline void contended(void *ctx, __u64 lock, __u32 val, __u32 frame)
{
	struct task_locks *t;
	__u64 frames[12] = {};
	long n;

	count(LS_ORDER_WAITS);
	if (ls_in_interrupt() || is_ours())
		return;
	t = current_locks(false);
	if (!t || !t->depth)
		return;
	n = bpf_get_stack(ctx, frames, sizeof(frames), 0);
	see_with_stack(ctx, t, lock, n >= 8 * ((long)frame + 1) ? frames[frame] : 0, val);
}

SEC("raw_tp/contention_begin")
int on_contention(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 flags = ctx->args[1], val;

	/* LCB_F_SPIN; a spinning mutex has LCB_F_MUTEX as well. */
	if (!(flags & 1) || flags & 32)
		return 0;
	val = flags & 6 ? LS_KIND_RWLOCK : LS_KIND_SPINLOCK;
	if (flags & 2)
		val |= LS_SHARED << LS_VAL_READ_SHIFT;
	contended(ctx, ctx->args[0], val, 3);
	return 0;
}

/* Storage for the locks of a new task: at its first lock allocation may not be possible. */
SEC("tp_btf/task_newtask")
int on_new_task(__u64 *ctx)
{
	bpf_task_storage_get(&tasks, (struct task_struct *)ctx[0], 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* The same for existing tasks. */
SEC("iter/task")
int on_old_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/*
 * The same for kernels with full preemption. There a task may be preempted within a program,
 * and the next task on its CPU is missed: a program does not run twice at a time. Probes run
 * with preemption off. They cost more, and one program serves all functions: its cookie
 * identifies the function.
 */
SEC("kprobe.multi")
int on_entry(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs), lock = regs->di, second = regs->si, ip = 0;
	__u32 kind = LS_ORDER_COOKIE_KIND(cookie), bits = LS_ORDER_COOKIE_BITS(cookie);
	struct task_locks *t;

	bpf_probe_read_kernel(&ip, sizeof(ip), (void *)regs->sp);
	switch (LS_ORDER_COOKIE_GROUP(cookie)) {
	case LS_ORDER_ACQUIRE:
		acquire(regs, ip, lock, VAL(kind, bits));
		break;
	case LS_ORDER_RELEASE:
		release(lock, kind);
		break;
	case LS_ORDER_SPECIAL:
		special(regs, ip, lock, second, kind, bits);
		break;
	default:
		if (is_ours() || ls_in_interrupt())
			return 0;
		t = current_locks(may_allocate());
		if (!t) {
			count(LS_ORDER_NO_TASK);
			return 0;
		}
		t->asked = lock;
		t->asked_ip = ip;
		t->asked_arg = second;
	}
	return 0;
}

SEC("kprobe.multi")
int on_return(struct pt_regs *regs)
{
	__u64 cookie = bpf_get_attach_cookie(regs), lock;
	__u32 kind = LS_ORDER_COOKIE_KIND(cookie), bits = LS_ORDER_COOKIE_BITS(cookie);
	__u32 flags = LS_ORDER_COOKIE_FLAGS(cookie);
	struct task_locks *t;

	/* Only counted. */
	if (ls_in_interrupt())
		return result(regs, 0, regs->ax, 0, kind, bits, flags);
	t = current_locks(false);
	if (!t || !t->asked)
		return 0;
	lock = t->asked;
	t->asked = 0;
	if (LS_ORDER_COOKIE_GROUP(cookie) == LS_ORDER_WW)
		bits = ww_bits(t->asked_arg, bits);
	return result(regs, t->asked_ip, regs->ax, lock, kind, bits, flags);
}

/* A program of its own, so that its misses are counted separately: see missed(). */
SEC("kprobe.multi")
int on_wait(struct pt_regs *regs)
{
	contended(regs, regs->di, bpf_get_attach_cookie(regs), 2);
	return 0;
}
