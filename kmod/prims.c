// SPDX-License-Identifier: GPL-2.0
/*
 * From the table of primitives to live hooks: find each function, choose how to
 * hook it, attach and detach. Direct calls where they can be had; ftrace_ops
 * where a function is already taken by another direct user (a BPF fentry, say);
 * kretprobes there if the return value matters.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/semaphore.h>
#include <net/sock.h>

#include "lockscope.h"
#include "base/wrapper/ftrace.h"

static char *hook = "auto";
module_param(hook, charp, 0444);
MODULE_PARM_DESC(hook, "how to hook: auto (direct calls, ftrace_ops where taken), direct, ftrace");

#define FENTRY_CALL 5	/* bytes of the patched call at a function's start */

static const struct {
	const char *function;
	u32 desc;
	u8 group;
	u8 flags;
} table[] = {
#define X(f, kind, group, bits, offset, flags) \
	{ #f, LS_DESC(kind, bits, offset, flags), LS_G_##group, flags },
	LS_PRIMITIVES(X)
#undef X
};
#define NR_PRIMS ARRAY_SIZE(table)

static struct prim {
	unsigned long start;	/* of the function */
	unsigned long addr;	/* of the call that is patched in: behind ENDBR, where there is one */
	u8 state;		/* enum ls_prim_state */
	s32 error;
	struct kretprobe *probe;
} prims[NR_PRIMS];

u32 ls_desc_table[1 << LS_DESC_BITS];
u64 ls_desc_mul __read_mostly;
DEFINE_PER_CPU(long, ls_inflight);
bool ls_ww_unlock_covered;

/*
 * Does the function call one of the hooked primitives? Then hooking it too
 * would count one acquire twice. Calls and tail calls are e8/e9 with a 32-bit
 * displacement; a false match in other bytes costs no more than a primitive
 * reported as covered.
 */
static bool calls_primitive(unsigned long addr)
{
	const u8 *code = (const u8 *)addr;
	u32 at, i;

	for (at = FENTRY_CALL; at < 96; at++) {
		unsigned long target;

		if (code[at] != 0xe8 && code[at] != 0xe9)
			continue;
		target = addr + at + 5 + *(s32 *)(code + at + 1);
		for (i = 0; i < NR_PRIMS; i++)
			/* might_sleep() is called from many and covers none. */
			if (prims[i].addr && prims[i].start == target &&
			    table[i].group != LS_G_SPECIAL &&
			    table[i].group != LS_G_SLEEP && table[i].group != LS_G_WAIT &&
			    table[i].group != LS_G_QUEUE &&
			    table[i].desc >> LS_DESC_KIND_SHIFT != LS_KIND_SPINLOCK)
				return true;
	}
	return false;
}

/* One multiplication tells any hooked function from any other. */
static int build_desc_table(void)
{
	u64 mul = LS_GOLDEN;
	int tries;

	for (tries = 0; tries < 100000; tries++, mul = mul * 6364136223846793005ull + 1442695040888963407ull) {
		bool clash = false;
		u32 i;

		memset(ls_desc_table, 0, sizeof(ls_desc_table));
		for (i = 0; i < NR_PRIMS && !clash; i++) {
			u32 *slot;

			if (!prims[i].addr)
				continue;
			slot = &ls_desc_table[(u64)(prims[i].addr + FENTRY_CALL) * (mul | 1) >> (64 - LS_DESC_BITS)];
			clash = *slot != 0;
			/* Kind NONE with operation 0 would look free; no entry has that. */
			*slot = table[i].desc;
		}
		if (!clash) {
			ls_desc_mul = mul | 1;
			return 0;
		}
	}
	return -ENOSPC;
}

int ls_prims_init(void)
{
	typeof(ftrace_location) *location;
	u32 i;

	location = (void *)ls_symbol("ftrace_location");
	if (!location) {
		pr_err("lockscope: this kernel has no dynamic ftrace\n");
		return -ENODEV;
	}
	for (i = 0; i < NR_PRIMS; i++) {
		if (table[i].group == LS_G_QUEUE && !ls_waitqueues) {
			prims[i].state = LS_PRIM_OFF;
			continue;
		}
		prims[i].start = ls_symbol(table[i].function);
		if (!prims[i].start)
			continue;
		/* Something there that cannot be traced is as good as absent. */
		prims[i].addr = location(prims[i].start);
		if (!prims[i].addr) {
			prims[i].state = LS_PRIM_FAILED;
			prims[i].error = -EINVAL;
		}
	}
	for (i = 0; i < NR_PRIMS; i++) {
		if (prims[i].addr && table[i].group == LS_G_SPECIAL &&
		    (table[i].desc & LS_OP_MASK) == LS_OP_WW_UNLOCK)
			ls_ww_unlock_covered = calls_primitive(prims[i].addr);
		if (prims[i].addr && (table[i].flags & LS_P_WRAPS) && calls_primitive(prims[i].addr)) {
			prims[i].addr = 0;
			prims[i].state = LS_PRIM_COVERED;
		}
	}
	return build_desc_table();
}

void ls_tramp_acquire(void);
void ls_tramp_spin(void);
void ls_tramp_release(void);
void ls_tramp_result(void);
void ls_tramp_ww(void);
void ls_tramp_wait(void);
void ls_tramp_special(void);
void ls_tramp_sleep(void);
void ls_tramp_queue(void);

static void on_acquire(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	ls_hook_acquire(ftrace_regs_get_argument(fregs, 0), parent, ip + FENTRY_CALL);
}

static void on_release(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	const unsigned long frame[] = { ip + FENTRY_CALL, parent };

	ls_hook_release(ftrace_regs_get_argument(fregs, 0), frame);
}

static void on_sleep(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	if (preempt_count() > ls_slack || irqs_disabled())
		ls_hook_sleep(parent);
}

static void on_special(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	ls_hook_special(ftrace_regs_get_argument(fregs, 0), ftrace_regs_get_argument(fregs, 1),
			parent, ip + FENTRY_CALL);
}

static void on_queue(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	ls_hook_queue(ftrace_regs_get_argument(fregs, 0), ftrace_regs_get_argument(fregs, 1),
		      parent, ip + FENTRY_CALL, ftrace_regs_get_stack_pointer(fregs));
}

static DEFINE_MUTEX(groups_mutex);	/* what is hooked, and how */
static struct group {
	struct ftrace_ops direct;
	struct ftrace_ops ops;
	void (*tramp)(void);
	ftrace_func_t func;		/* NULL: the return value is needed */
	bool direct_on, ops_on;
} groups[LS_NR_GROUPS] = {
	[LS_G_ACQUIRE] = { .tramp = ls_tramp_acquire, .func = on_acquire },
	[LS_G_SPIN] = { .tramp = ls_tramp_acquire, .func = on_acquire },
	[LS_G_RELEASE] = { .tramp = ls_tramp_release, .func = on_release },
	[LS_G_RESULT] = { .tramp = ls_tramp_result },
	[LS_G_WW] = { .tramp = ls_tramp_ww },
	[LS_G_WAIT] = { .tramp = ls_tramp_wait },
	[LS_G_SPECIAL] = { .tramp = ls_tramp_special, .func = on_special },
	[LS_G_SLEEP] = { .tramp = ls_tramp_sleep, .func = on_sleep },
	[LS_G_QUEUE] = { .tramp = ls_tramp_queue, .func = on_queue },
};

struct probe_data {
	unsigned long lock;
	unsigned long arg1;
	unsigned long ip;
};

static int on_probe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe_data *d = (struct probe_data *)ri->data;
	struct kretprobe *probe = get_kretprobe(ri);
	unsigned long func5;

	d->lock = regs->di;
	d->arg1 = regs->si;
	d->ip = *(unsigned long *)regs->sp;
	if (!probe)
		return 0;
	func5 = (unsigned long)probe->kp.addr + FENTRY_CALL;
	switch (ls_desc_of(func5) >> LS_DESC_KIND_SHIFT) {
	case LS_KIND_WW_MUTEX:
		ls_hook_ww(d->lock, d->arg1, d->ip);
		break;
	case LS_KIND_COMPLETION:
		ls_hook_wait(d->lock, d->arg1, d->ip, func5);
		break;
	}
	return 0;
}

static int on_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe_data *d = (struct probe_data *)ri->data;
	struct kretprobe *probe = get_kretprobe(ri);

	if (probe)
		ls_hook_result(d->lock, d->ip, (unsigned long)probe->kp.addr + FENTRY_CALL, regs->ax,
			       d->arg1);
	return 0;
}

static void attach_kretprobe(u32 i)
{
	struct kretprobe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	int rc = -ENOMEM;

	if (probe) {
		probe->kp.addr = (void *)prims[i].addr;
		probe->handler = on_probe_return;
		probe->entry_handler = on_probe_entry;
		probe->data_size = sizeof(struct probe_data);
		probe->maxactive = 256;
		rc = register_kretprobe(probe);
	}
	if (rc) {
		kfree(probe);
		prims[i].state = LS_PRIM_FAILED;
		prims[i].error = rc;
		return;
	}
	prims[i].probe = probe;
	prims[i].state = LS_PRIM_KRETPROBE;
}

/* Can this one function be had for a direct call? */
static bool direct_possible(struct group *g, unsigned long addr)
{
	struct ftrace_ops one = { };
	bool free;

	if (ftrace_set_filter_ip(&one, addr, 0, 1))
		return false;
	free = !ls_direct_register(&one, (unsigned long)g->tramp);
	if (free)
		ls_direct_unregister(&one, (unsigned long)g->tramp);
	ftrace_free_filter(&one);
	return free;
}

static int set_filter(struct ftrace_ops *ops, u32 group, u32 state)
{
	unsigned long ips[NR_PRIMS];
	u32 i, nr = 0;

	for (i = 0; i < NR_PRIMS; i++)
		if (table[i].group == group && prims[i].addr && prims[i].state == state)
			ips[nr++] = prims[i].addr;
	if (!nr)
		return -ENOENT;
	return ftrace_set_filter_ips(ops, ips, nr, 0, 1);
}

static void set_state(u32 group, u32 from, u32 to, int error)
{
	u32 i;

	for (i = 0; i < NR_PRIMS; i++) {
		if (table[i].group == group && prims[i].addr && prims[i].state == from) {
			prims[i].state = to;
			prims[i].error = error;
		}
	}
}

static int attach_direct(u32 group)
{
	struct group *g = &groups[group];
	int rc;
	u32 i;

	set_state(group, LS_PRIM_ABSENT, LS_PRIM_DIRECT, 0);
	rc = set_filter(&g->direct, group, LS_PRIM_DIRECT);
	if (!rc)
		rc = ls_direct_register(&g->direct, (unsigned long)g->tramp);
	if (rc == -EBUSY) {
		/* Somebody has one of them: find out which, take the others. */
		for (i = 0; i < NR_PRIMS; i++)
			if (table[i].group == group && prims[i].addr &&
			    prims[i].state == LS_PRIM_DIRECT && !direct_possible(g, prims[i].addr))
				prims[i].state = LS_PRIM_FTRACE;
		rc = set_filter(&g->direct, group, LS_PRIM_DIRECT);
		if (!rc)
			rc = ls_direct_register(&g->direct, (unsigned long)g->tramp);
	}
	g->direct_on = !rc;
	if (rc)
		set_state(group, LS_PRIM_DIRECT, LS_PRIM_FTRACE, 0);
	return rc;
}

static int attach_ops(u32 group)
{
	struct group *g = &groups[group];
	u32 i;
	int rc;

	if (!g->func) {
		for (i = 0; i < NR_PRIMS; i++)
			if (table[i].group == group && prims[i].addr && prims[i].state == LS_PRIM_FTRACE)
				attach_kretprobe(i);
		return 0;
	}
	rc = set_filter(&g->ops, group, LS_PRIM_FTRACE);
	if (rc == -ENOENT)
		return 0;
	g->ops.func = g->func;
	if (!rc)
		rc = register_ftrace_function(&g->ops);
	g->ops_on = !rc;
	if (rc)
		set_state(group, LS_PRIM_FTRACE, LS_PRIM_FAILED, rc);
	return rc;
}

/*
 * Releases first: an acquire whose release is not hooked yet would stay held
 * for ever. Nothing is recorded until ls_active is set.
 */
static const u8 order[LS_NR_GROUPS] = {
	LS_G_RELEASE, LS_G_SPECIAL, LS_G_SLEEP, LS_G_QUEUE, LS_G_RESULT, LS_G_WW, LS_G_WAIT,
	LS_G_ACQUIRE, LS_G_SPIN
};

/*
 * From now on a task may be preempted on its way into a spinning lock: the direct calls of
 * those keep that from happening. ftrace_ops cannot, see enters_lock(). Stays so when the
 * kernel goes back, which costs a little and harms nothing. Sleeps.
 */
void ls_prims_keep_on_cpu(void)
{
	struct group *g = &groups[LS_G_SPIN];
	int rc = 0;

	mutex_lock(&groups_mutex);
	if (g->tramp != ls_tramp_spin && g->direct_on) {
		rc = ls_direct_modify(&g->direct, (unsigned long)ls_tramp_spin);
		if (rc)
			pr_warn("lockscope: spinning locks are lost by tasks that are preempted (%d)\n", rc);
		else
			/* Tasks on the short way have left it before any is preempted. */
			synchronize_rcu_tasks();
	}
	if (!rc)
		g->tramp = ls_tramp_spin;
	mutex_unlock(&groups_mutex);
}

int ls_prims_attach(void)
{
	bool direct = strcmp(hook, "ftrace"), ops = strcmp(hook, "direct");
	u32 i;
	int rc = 0;

	if (direct && ops && strcmp(hook, "auto")) {
		pr_err("lockscope: hook=%s: must be auto, direct or ftrace\n", hook);
		return -EINVAL;
	}
	/* Where no task is preempted but where it asks for that, the short way will do. */
	if (preempt_model_preemptible())
		ls_prims_keep_on_cpu();
	mutex_lock(&groups_mutex);
	for (i = 0; i < LS_NR_GROUPS; i++) {
		u32 group = order[i];

		if (group == LS_G_QUEUE && !ls_waitqueues)
			continue;
		if (direct)
			rc = attach_direct(group);
		else
			set_state(group, LS_PRIM_ABSENT, LS_PRIM_FTRACE, rc = 0);
		if (ops)
			rc = attach_ops(group);
		else if (!rc)
			set_state(group, LS_PRIM_FTRACE, LS_PRIM_FAILED, -EBUSY);
		if (rc) {
			pr_err("lockscope: hooking group %u failed (%d)\n", group, rc);
			break;
		}
	}
	mutex_unlock(&groups_mutex);
	if (rc)
		return rc;
	/*
	 * Other ways than ours may turn preemption off before they call us: then
	 * one level of it proves nothing.
	 */
	for (i = 0; i < NR_PRIMS; i++)
		if (prims[i].state == LS_PRIM_FTRACE || prims[i].state == LS_PRIM_KRETPROBE)
			ls_slack = 2;
	return 0;
}

/* Tasks that sleep inside a hooked function and will come back through us. */
static long inflight(void)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu(ls_inflight, cpu);
	return sum;
}

#define OOPS_WAIT (60 * HZ)

/*
 * Wait until all have come back through us but those who need not. A task that died in
 * a hooked function never will: where the kernel has oopsed, nobody is waited for longer
 * than OOPS_WAIT.
 */
static void wait_for_sleepers(long redirected)
{
	unsigned long start = jiffies;
	bool told = false;

	while (inflight() > redirected) {
		if (!told && time_after(jiffies, start + 10 * HZ)) {
			pr_info("lockscope: waiting for %ld tasks whose return somebody traces\n",
				inflight() - redirected);
			told = true;
		}
		if (test_taint(TAINT_DIE) && time_after(jiffies, start + OOPS_WAIT))
			return;
		schedule_timeout_uninterruptible(HZ / 50);
	}
}

void ls_prims_detach(void)
{
	int redirected;
	u32 i;

	mutex_lock(&groups_mutex);
	for (i = LS_NR_GROUPS; i-- > 0;) {
		struct group *g = &groups[order[i]];

		if (g->ops_on)
			unregister_ftrace_function(&g->ops);
		if (g->direct_on)
			ls_direct_unregister(&g->direct, (unsigned long)g->tramp);
		g->ops_on = g->direct_on = false;
		ftrace_free_filter(&g->ops);
		ftrace_free_filter(&g->direct);
	}
	mutex_unlock(&groups_mutex);
	for (i = 0; i < NR_PRIMS; i++) {
		if (prims[i].probe) {
			unregister_kretprobe(prims[i].probe);
			kfree(prims[i].probe);
			prims[i].probe = NULL;
		}
	}
	/* Nobody enters any more; those preempted in a trampoline leave it. */
	synchronize_rcu_tasks();
	/* Those asleep in a hooked function need not come back through us, where they can be led past. */
	if (inflight()) {
		redirected = ls_unhook_sleepers();
		wait_for_sleepers(max(redirected, 0));
	}
	synchronize_rcu_tasks();
}

/* How every read_lock() counts from now on, where it does not depend on the context. */
void ls_prims_readers(enum ls_read read)
{
	u32 i;

	for (i = 0; i < NR_PRIMS; i++) {
		u32 *slot = &ls_desc_table[(u64)(prims[i].addr + FENTRY_CALL) * ls_desc_mul >> (64 - LS_DESC_BITS)];

		if (prims[i].addr && table[i].group != LS_G_RELEASE && table[i].desc & LS_VAL_READ_MASK &&
		    table[i].desc >> LS_DESC_KIND_SHIFT == LS_KIND_RWLOCK)
			WRITE_ONCE(*slot, (table[i].desc & ~LS_VAL_READ_MASK) | (u32)read << LS_VAL_READ_SHIFT);
	}
}

/* The hooked function that @ip lies in, NR_PRIMS for none. Any context. */
static u32 prim_around(unsigned long ip)
{
	unsigned long size, offset;
	u32 i;

	if (!ls_size_offset(ip, &size, &offset))
		return NR_PRIMS;
	for (i = 0; i < NR_PRIMS; i++)
		if (prims[i].addr && prims[i].start == ip - offset)
			break;
	return i;
}

/* Does @ip lie in a hooked function that waits asleep for a lock? Any context. */
bool ls_prims_acquire_in(unsigned long ip)
{
	u32 i = prim_around(ip);

	return i < NR_PRIMS && table[i].desc & LS_DESC_SLEEPS;
}

/* Does @ip lie in a hooked function that waits for a lock with preemption off? Any context. */
bool ls_prims_spins_in(unsigned long ip)
{
	u32 i = prim_around(ip);

	return i < NR_PRIMS && table[i].group == LS_G_SPIN;
}

/* Is @func5 where a hooked function goes on behind its hook? Any context. */
bool ls_prims_hooks(unsigned long func5)
{
	u32 i;

	for (i = 0; i < NR_PRIMS; i++)
		if (prims[i].addr && prims[i].addr + FENTRY_CALL == func5)
			return true;
	return false;
}

u32 ls_prims_count(void)
{
	return NR_PRIMS;
}

void ls_prims_info(u32 i, struct ls_prim_info *out)
{
	strscpy(out->function, table[i].function, sizeof(out->function));
	out->kind = table[i].desc >> LS_DESC_KIND_SHIFT;
	out->state = prims[i].state;
	out->error = prims[i].error;
}
