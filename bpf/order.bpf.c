// SPDX-License-Identifier: GPL-2.0
/*
 * Orders of sleeping locks without the module: what each task holds lies in its task
 * storage, and an acquisition under other locks that was not seen before claims a
 * place in a plain array by compare-and-swap. Contended spinlocks are seen through
 * lock:contention_begin.
 *
 * Nothing here that runs in a lock function updates a hash map or writes to a ring
 * buffer: these take locks. The table of initialisers is written where locks are made.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/ident.h"
#include "bpf/kernel.h"
#include "bpf/order.h"
#include "kmod/primitives.h"

char LICENSE[] SEC("license") = "GPL";

#define GOLDEN LS_ORDER_GOLDEN
#define LIVES 65536

#define PF_WQ_WORKER 0x20
#define PF_KTHREAD 0x200000

const volatile __u32 own_tgid;		/* whose locks are none of our business */
const volatile bool probes;		/* on_entry() and on_return() instead of a program a function */
const volatile struct ls_order_range freezers[LS_ORDER_FREEZERS];

struct held {
	__u64 lock;
	__u64 ip;
	__u64 below;		/* key of what was held before */
	__u32 val;
	__u32 stamp;		/* semaphores: given back by others so often */
};

struct task_locks {
	__u32 depth;
	__u32 lost;		/* acquired, but not kept */
	__u64 key;		/* of all that is held */
	struct held held[LS_ORDER_DEPTH];
	/* A function that may fail to take a lock, until it returns: probes only. */
	__u64 asked, asked_ip, asked_arg;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_locks);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LS_ORDER_SLOTS);
	__type(key, __u32);
	__type(value, struct ls_order_sight);
} sights SEC(".maps");

/* Pairs of instances told of a pair of places. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} pairs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, LS_ORDER_SEMAPHORES);
	__type(key, __u32);
	__type(value, struct ls_order_semaphore);
} semaphores SEC(".maps");

/* One of each processor: mapped, as nobody can map a per-CPU array. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ls_order_counts);
} counts SEC(".maps");

/* Lives of locks: memory that is used again is initialised again. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LIVES);
	__type(key, __u32);
	__type(value, __u32);
} lives SEC(".maps");

struct init {
	__u64 ip;
	char name[LS_ORDER_NAME];
};

/* Not written in lock functions. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, LS_ORDER_INITS);
	__type(key, __u64);
	__type(value, struct init);
} inits SEC(".maps");

static __always_inline void count(enum ls_order_count what)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ls_order_counts *c = bpf_map_lookup_elem(&counts, &cpu);

	/* Interrupts may come in between. */
	if (c)
		__sync_fetch_and_add(&c->n[what], 1);
}

/* Of this processor's own; what it was. Never below 0. */
static __always_inline __u64 add(enum ls_order_count what, long n)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct ls_order_counts *c = bpf_map_lookup_elem(&counts, &cpu);

	if (!c || (n < 0 && !c->n[what]))
		return 0;
	return __sync_fetch_and_add(&c->n[what], n);
}

static __always_inline struct ls_order_semaphore *semaphore(__u64 lock)
{
	__u32 slot = lock * GOLDEN >> LS_ORDER_SEMAPHORE_SHIFT;

	return bpf_map_lookup_elem(&semaphores, &slot);
}

static __always_inline __u64 mix(__u64 key, __u64 v)
{
	key = (key ^ v) * GOLDEN;
	return key ^ key >> 29;
}

static __always_inline __u32 kind_of(__u32 val)
{
	return val & LS_VAL_CLASS_MASK;
}

/* Does the lock itself say that somebody else has it, or nobody? */
static __always_inline bool is_stale(const struct held *h)
{
	__u64 me = bpf_get_current_task(), owner, lock = h->lock;
	struct ls_order_semaphore *s;

	switch ((enum ls_kind)kind_of(h->val)) {
	case LS_KIND_MUTEX:
	case LS_KIND_WW_MUTEX:
		owner = BPF_CORE_READ((struct mutex *)lock, owner.counter);
		return (owner & ~LS_OWNER_FLAGS) != me;
	case LS_KIND_RT_MUTEX:
		owner = (__u64)BPF_CORE_READ((struct rt_mutex *)lock, rtmutex.owner);
		return (owner & ~LS_OWNER_FLAGS) != me;
	case LS_KIND_RWSEM:
		if (h->val & LS_VAL_READ_MASK)
			return BPF_CORE_READ((struct rw_semaphore *)lock, count.counter) >> LS_RWSEM_READERS == 0;
		owner = BPF_CORE_READ((struct rw_semaphore *)lock, owner.counter);
		/* The last reader leaves its name there as well. */
		return (owner & LS_OWNER_READER) || (owner & ~LS_OWNER_FLAGS) != me;
	case LS_KIND_SEMAPHORE:
		/* Somebody else has given it back since. */
		s = semaphore(lock);
		return s && (__u32)s->unmatched != h->stamp;
	case LS_KIND_NONE:
	case LS_KIND_SPINLOCK:
	case LS_KIND_RWLOCK:
	case LS_KIND_SOCKET:
	case LS_KIND_PERCPU_RWSEM:
	case LS_KIND_PRIVATE:
	case LS_KIND_WORK:
	case LS_KIND_COMPLETION:
	case LS_KIND_WAITQUEUE:
	case LS_NR_KINDS:
		break;
	}
	return false;
}

/*
 * What follows until the programs themselves are functions of their own for the
 * verifier, which else would walk through all of it for every program anew.
 */

/* Give up what was missed: it must not stand below all that comes. How many entries it were. */
__noinline int drop_stale(struct task_locks *t)
{
	__u32 kept = 0, depth;
	__u64 key = 0;

	if (!t)
		return 0;
	depth = t->depth;
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		struct held h;

		if (i >= depth)
			break;
		h = t->held[i];
		if (is_stale(&h)) {
			count(LS_ORDER_STALE);
			continue;
		}
		h.below = key;
		key = mix(mix(key, h.ip), h.val);
		if (kept < LS_ORDER_DEPTH)
			t->held[kept] = h;
		kept++;
	}
	t->depth = kept;
	t->key = key;
	return depth - kept;
}

/* Take the topmost entry of @lock out. 1 when there was one. */
__noinline int give_back(struct task_locks *t, __u64 lock)
{
	__u32 at = LS_ORDER_DEPTH, depth;
	__u64 key;

	if (!t)
		return 0;
	depth = t->depth;
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++)
		if (i < depth && t->held[i].lock == lock)
			at = i;
	if (at >= LS_ORDER_DEPTH)
		return 0;
	key = t->held[at].below;
	for (__u32 i = 0; i < LS_ORDER_DEPTH - 1; i++) {
		if (i < at || i + 1 >= depth)
			continue;
		t->held[i] = t->held[i + 1];
		t->held[i].below = key;
		key = mix(mix(key, t->held[i].ip), t->held[i].val);
	}
	t->depth = depth - 1;
	t->key = key;
	return 1;
}

/* Does code that freezes or thaws a file system call from @ip? */
__noinline int freezes(__u64 ip)
{
	for (__u32 i = 0; i < LS_ORDER_FREEZERS; i++)
		if (ip - freezers[i].start < freezers[i].size)
			return 1;
	return 0;
}

__noinline int identify(__u64 lock, struct ls_order_ident *id)
{
	struct init *init;
	__u32 slot, *life;
	bool slab;

	if (!id)
		return 0;
	if (lock >= START_KERNEL)
		return 0;
	slot = lock * GOLDEN >> 48;
	life = bpf_map_lookup_elem(&lives, &slot);
	id->life = life ? *life : 0;
	slab = ls_slab_ident(lock, id);
	if (slab && !ls_is_kmalloc(id->name)) {
		id->sort = LS_ORDER_SLAB;
		return 0;
	}
	init = bpf_map_lookup_elem(&inits, &lock);
	if (init) {
		id->sort = LS_ORDER_INIT;
		id->ip = init->ip;
		__builtin_memcpy(id->name, init->name, sizeof(id->name));
	}
	return 0;
}

/* Where is counted how many pairs of instances were told; 0 when they cannot matter. */
__noinline int pair_slot(__u64 held, __u64 held_ip, __u64 lock, __u64 ip)
{
	return ls_classes_differ(held, lock) ? 0 : 1 + (mix(held_ip, ip) >> 52);
}

/* Two instances of a class perhaps: their order matters, pair by pair. */
static __always_inline __u64 *pairs_of(const struct held *h, __u64 lock, __u64 ip, __u32 val)
{
	__u32 slot;

	if (h->lock >= START_KERNEL || lock >= START_KERNEL || kind_of(h->val) != kind_of(val))
		return 0;
	slot = pair_slot(h->lock, h->ip, lock, ip);
	if (!slot--)
		return 0;
	return bpf_map_lookup_elem(&pairs, &slot);
}

/* What tells one acquisition from another: the places, and which locks where there are few. */
static __always_inline __u64 key_of(const struct task_locks *t, __u64 lock, __u64 ip, __u32 val)
{
	__u64 key = mix(mix(t->key, ip), val);

	if (lock >= START_KERNEL)
		key = mix(key, lock);
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		const struct held *h = &t->held[i];
		__u64 *n;

		if (i >= t->depth)
			break;
		if (h->lock == lock)
			key = mix(key, 1);
		else if (h->lock >= START_KERNEL)
			key = mix(key, h->lock);
		n = pairs_of(h, lock, ip, val);
		if (!n)
			continue;
		key = mix(key, h->lock < lock ? 2 : 3);
		if (*n < LS_ORDER_PAIRS)
			key = mix(mix(key, h->lock), lock);
	}
	return key | 1;
}

/* A new sight has used up some of what its pairs of places may tell. */
static __always_inline void count_pairs(const struct task_locks *t, __u64 lock, __u64 ip, __u32 val)
{
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		__u64 *n;

		if (i >= t->depth)
			break;
		n = pairs_of(&t->held[i], lock, ip, val);
		if (n && __sync_fetch_and_add(n, 1) + 1 == LS_ORDER_PAIRS)
			count(LS_ORDER_NO_PAIR);
	}
}

static __always_inline void fill(struct ls_order_sight *s, const struct task_locks *t, __u64 lock,
				 __u64 ip, __u32 val)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u64 ids = bpf_get_current_pid_tgid();
	__u32 flags = BPF_CORE_READ(task, flags), depth = t->depth;

	s->time_ns = bpf_ktime_get_ns();
	s->pid = ids;
	s->tgid = ids >> 32;
	s->cpu = bpf_get_smp_processor_id();
	s->task_flags = (flags & PF_KTHREAD ? LS_TASK_KTHREAD : 0) |
			(flags & PF_WQ_WORKER ? LS_TASK_WORKER : 0);
	bpf_get_current_comm(s->comm, sizeof(s->comm));
	for (__u32 i = 0; i < LS_ORDER_DEPTH; i++) {
		if (i >= depth)
			break;
		s->held[i].lock = t->held[i].lock;
		s->held[i].ip = t->held[i].ip;
		s->held[i].val = t->held[i].val;
		identify(t->held[i].lock, &s->idents[i]);
	}
	s->nr_held = depth;
	s->lock.lock = lock;
	s->lock.ip = ip;
	s->lock.val = val;
	if (depth <= LS_ORDER_DEPTH)
		identify(lock, &s->idents[depth]);
}

#define NEW_SIGHT 0x10000

/*
 * Count the acquisition of @lock with @t held. A place of the table and NEW_SIGHT when
 * nobody has seen the like: the stack is missing then.
 */
__noinline int see(struct task_locks *t, __u64 lock, __u64 ip, __u32 val)
{
	__u64 key;

	if (!t)
		return 0;
	key = key_of(t, lock, ip, val);
	for (__u32 i = 0; i < LS_ORDER_PROBES; i++) {
		__u32 at = ((key >> 40) + i) & (LS_ORDER_SLOTS - 1);
		struct ls_order_sight *s = bpf_map_lookup_elem(&sights, &at);

		if (!s)
			return 0;
		if (!s->key) {
			/* New. But is it true? */
			if (drop_stale(t))
				return 0;
			if (__sync_val_compare_and_swap(&s->key, 0, key) == 0) {
				count_pairs(t, lock, ip, val);
				__sync_fetch_and_add(&s->count, 1);
				fill(s, t, lock, ip, val);
				return at | NEW_SIGHT;
			}
		}
		if (s->key == key) {
			__sync_fetch_and_add(&s->count, 1);
			return 0;
		}
	}
	count(LS_ORDER_NO_SLOT);
	return 0;
}

/* @ctx: of the program. */
static __always_inline void see_with_stack(void *ctx, struct task_locks *t, __u64 lock, __u64 ip,
					   __u32 val)
{
	__u32 at = see(t, lock, ip, val);
	struct ls_order_sight *s;
	long n;

	if (!(at & NEW_SIGHT))
		return;
	at &= LS_ORDER_SLOTS - 1;
	s = bpf_map_lookup_elem(&sights, &at);
	if (!s)
		return;
	n = bpf_get_stack(ctx, s->stack, sizeof(s->stack), 0);
	s->nr_frames = n > 0 ? (__u32)n / 8 : 0;
	__sync_fetch_and_add(&s->ready, 1);
}

/*
 * Making room may take locks of the allocator, on kernels that are too old for probes: not
 * where some may be held.
 */
static __always_inline bool may_allocate(void)
{
	return probes || !ls_preempt_count();
}

static __always_inline struct task_locks *current_locks(bool create)
{
	return bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), 0,
				    create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

static __always_inline bool is_ours(void)
{
	return bpf_get_current_pid_tgid() >> 32 == own_tgid;
}

/* @ip: where the function was called from, 0 when that cannot be told. */
static __always_inline void acquire(void *ctx, __u64 ip, __u64 lock, __u32 val)
{
	struct ls_order_semaphore *s = 0;
	struct task_locks *t;
	__u32 d;

	if (is_ours())
		return;
	/* Trying is all that an interrupt may do, and it gives back before it ends. */
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
	/* Static locks and those of named caches have better names. */
	if (lock >= START_KERNEL || (ls_slab_ident(lock, &id) && !ls_is_kmalloc(id.name)))
		return;
	init.ip = ip;
	bpf_probe_read_kernel_str(init.name, sizeof(init.name), (void *)name);
	bpf_map_update_elem(&inits, &lock, &init, BPF_ANY);
}

/* kmod/primitives.h says what to attach to: of the sleeping locks, where the lock is. */
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

/* As a number: the verifier lets nobody count with what it knows to be a pointer. */
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
#define ON_WW(function, kind, bits, flags)					\
	SEC("fexit/" #function) int on_##function(__u64 *ctx)			\
	{									\
		return result(ctx, caller(ctx), ret(ctx), arg(ctx, 0), kind,		\
			      ww_bits(arg(ctx, 1), bits), flags);			\
	}
/* Only initialisers have a second argument that matters. */
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
 * A spinning lock somebody had to wait for, with sleeping ones held. Any context,
 * interrupts off or on, whatever lock the kernel is just after: nothing is made here.
 * @frame: of the stack, where the lock function was called from as a rule; userspace
 * knows for sure.
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

	/* LCB_F_SPIN; a mutex that spins has LCB_F_MUTEX as well. */
	if (!(flags & 1) || flags & 32)
		return 0;
	val = flags & 6 ? LS_KIND_RWLOCK : LS_KIND_SPINLOCK;
	if (flags & 2)
		val |= LS_SHARED << LS_VAL_READ_SHIFT;
	contended(ctx, ctx->args[0], val, 3);
	return 0;
}

/* Room for what a new task will hold: its first lock may come where none can be made. */
SEC("tp_btf/task_newtask")
int on_new_task(__u64 *ctx)
{
	bpf_task_storage_get(&tasks, (struct task_struct *)ctx[0], 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* And for those that are there already. */
SEC("iter/task")
int on_old_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/*
 * The same for kernels that preempt anybody. There a task may be preempted within a
 * program, and whoever runs meanwhile on its processor is not seen: programs are kept from
 * running twice at a time. Probes run with preemption off. They cost more, and one is for
 * all functions: its cookie says what it is at.
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

	/* That is counted only. */
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

/* A program of its own, so that what it misses is counted apart: see missed(). */
SEC("kprobe.multi")
int on_wait(struct pt_regs *regs)
{
	contended(regs, regs->di, bpf_get_attach_cookie(regs), 2);
	return 0;
}
