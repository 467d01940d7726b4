// SPDX-License-Identifier: GPL-2.0
/*
 * Live hooks: choose how to hook each primitive, attach and detach. Direct calls where
 * possible; ftrace_ops where a function already has another direct user (such as BPF fentry);
 * kretprobes for those if the return value matters.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "base/wrapper/ftrace.h"
#include "check/confirm.h"
#include "core/prims.h"
#include "core/state.h"
#include "hook/hook.h"

char *ls_hook_how = "auto";
DEFINE_PER_CPU(long, ls_inflight);

void ls_tramp_acquire(void);
void ls_tramp_spin(void);
void ls_tramp_release(void);
void ls_tramp_result(void);
void ls_tramp_fallible(void);
void ls_tramp_ww(void);
void ls_tramp_wait(void);
void ls_tramp_special(void);
void ls_tramp_sleep(void);
void ls_tramp_queue(void);

static void on_acquire(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	ls_hook_acquire(ftrace_regs_get_argument(fregs, 0), parent, ip + LS_FENTRY_CALL);
}

static void on_release(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	const unsigned long frame[] = { ip + LS_FENTRY_CALL, parent };

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
			parent, ip + LS_FENTRY_CALL);
}

static void on_queue(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		     struct ftrace_regs *fregs)
{
	ls_hook_queue(ftrace_regs_get_argument(fregs, 0), ftrace_regs_get_argument(fregs, 1),
		      parent, ip + LS_FENTRY_CALL, ftrace_regs_get_stack_pointer(fregs));
}

static DEFINE_MUTEX(groups_mutex);	/* which primitives are hooked, and how */
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
	[LS_G_FALLIBLE] = { .tramp = ls_tramp_result },
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
	func5 = (unsigned long)probe->kp.addr + LS_FENTRY_CALL;
	switch (ls_desc_of(func5) >> LS_DESC_KIND_SHIFT) {
	case LS_KIND_WW_MUTEX:
		ls_hook_ww(d->lock, d->arg1, d->ip);
		break;
	case LS_KIND_COMPLETION:
		ls_hook_wait(d->lock, d->arg1, d->ip, func5);
		break;
	default:
		if (ls_desc_of(func5) & LS_DESC_SLEEPS)
			ls_hook_fallible(d->lock, d->ip, func5);
		break;
	}
	return 0;
}

static int on_probe_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct probe_data *d = (struct probe_data *)ri->data;
	struct kretprobe *probe = get_kretprobe(ri);

	if (probe)
		ls_hook_result(d->lock, d->ip, (unsigned long)probe->kp.addr + LS_FENTRY_CALL, regs->ax,
			       d->arg1);
	return 0;
}

static void attach_kretprobe(u32 i)
{
	struct kretprobe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);
	int rc = -ENOMEM;

	if (probe) {
		probe->kp.addr = (void *)ls_prims[i].addr;
		probe->handler = on_probe_return;
		probe->entry_handler = on_probe_entry;
		probe->data_size = sizeof(struct probe_data);
		probe->maxactive = 256;
		rc = register_kretprobe(probe);
	}
	if (rc) {
		kfree(probe);
		ls_prims[i].state = LS_PRIM_FAILED;
		ls_prims[i].error = rc;
		return;
	}
	ls_prims[i].probe = probe;
	ls_prims[i].state = LS_PRIM_KRETPROBE;
}

/* Can this function be hooked by a direct call? */
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
	unsigned long ips[LS_NR_PRIMS];
	u32 i, nr = 0;

	for (i = 0; i < LS_NR_PRIMS; i++)
		if (ls_prim_table[i].group == group && ls_prims[i].addr && ls_prims[i].state == state)
			ips[nr++] = ls_prims[i].addr;
	if (!nr)
		return -ENOENT;
	return ftrace_set_filter_ips(ops, ips, nr, 0, 1);
}

static void set_state(u32 group, u32 from, u32 to, int error)
{
	u32 i;

	for (i = 0; i < LS_NR_PRIMS; i++) {
		if (ls_prim_table[i].group == group && ls_prims[i].addr && ls_prims[i].state == from) {
			ls_prims[i].state = to;
			ls_prims[i].error = error;
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
		/* One of them has another user: find out which, and hook the others. */
		for (i = 0; i < LS_NR_PRIMS; i++)
			if (ls_prim_table[i].group == group && ls_prims[i].addr &&
			    ls_prims[i].state == LS_PRIM_DIRECT && !direct_possible(g, ls_prims[i].addr))
				ls_prims[i].state = LS_PRIM_FTRACE;
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
		for (i = 0; i < LS_NR_PRIMS; i++)
			if (ls_prim_table[i].group == group && ls_prims[i].addr && ls_prims[i].state == LS_PRIM_FTRACE)
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
	LS_G_RELEASE, LS_G_SPECIAL, LS_G_SLEEP, LS_G_QUEUE, LS_G_RESULT, LS_G_FALLIBLE, LS_G_WW,
	LS_G_WAIT, LS_G_ACQUIRE, LS_G_SPIN
};

/*
 * From now on a task may be preempted on its way into a spinning lock; the direct calls of
 * those prevent it. ftrace_ops cannot, see enters_lock(). Stays on when the kernel changes
 * back, which costs a little. Sleeps.
 */
void ls_prims_keep_on_cpu(void)
{
	struct group *g = &groups[LS_G_SPIN];
	int rc = 0;

	mutex_lock(&groups_mutex);
	if (g->tramp != ls_tramp_spin && g->direct_on) {
		rc = ls_direct_modify(&g->direct, (unsigned long)ls_tramp_spin);
		if (rc)
			pr_warn("spinning locks are lost by tasks that are preempted (%d)\n", rc);
		else
			/*
			 * Wait for tasks in the short trampoline, where they must not be
			 * preempted.
			 */
			synchronize_rcu_tasks();
	}
	if (!rc)
		g->tramp = ls_tramp_spin;
	mutex_unlock(&groups_mutex);
}

/* See ls_confirm_switch. Functions with ftrace_ops always have them. */
static void switch_gates(bool on)
{
	struct group *g = &groups[LS_G_FALLIBLE];
	void (*tramp)(void) = on ? ls_tramp_fallible : ls_tramp_result;
	int rc = 0;

	mutex_lock(&groups_mutex);
	if (g->direct_on && g->tramp != tramp)
		rc = ls_direct_modify(&g->direct, (unsigned long)tramp);
	if (rc)
		pr_warn("acquisitions that can be interrupted have no gates (%d)\n", rc);
	else
		g->tramp = tramp;
	mutex_unlock(&groups_mutex);
}

int ls_prims_attach(void)
{
	bool direct = strcmp(ls_hook_how, "ftrace"), ops = strcmp(ls_hook_how, "direct");
	u32 i;
	int rc = 0;

	if (direct && ops && strcmp(ls_hook_how, "auto")) {
		pr_err("hook=%s: must be auto, direct or ftrace\n", ls_hook_how);
		return -EINVAL;
	}
	ls_confirm_switch = switch_gates;
	/* Where tasks are only preempted at preemption points, the short trampoline is enough. */
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
			pr_err("hooking group %u failed (%d)\n", group, rc);
			break;
		}
	}
	mutex_unlock(&groups_mutex);
	if (rc)
		return rc;
	/*
	 * Hooking methods other than direct calls may disable preemption before they call:
	 * then one level of it proves nothing.
	 */
	for (i = 0; i < LS_NR_PRIMS; i++)
		if (ls_prims[i].state == LS_PRIM_FTRACE || ls_prims[i].state == LS_PRIM_KRETPROBE)
			ls_slack = 2;
	return 0;
}

/* Tasks that sleep inside a hooked function and will return through the trampoline. */
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
 * Wait until all such tasks have returned, except those that were redirected. A task that died
 * in a hooked function never returns: after an oops the wait is limited to OOPS_WAIT.
 */
static void wait_for_sleepers(long redirected)
{
	unsigned long start = jiffies;
	bool printed = false;

	while (inflight() > redirected) {
		if (!printed && time_after(jiffies, start + 10 * HZ)) {
			pr_info("waiting for %ld tasks whose return is traced\n",
				inflight() - redirected);
			printed = true;
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
	for (i = 0; i < LS_NR_PRIMS; i++) {
		if (ls_prims[i].probe) {
			unregister_kretprobe(ls_prims[i].probe);
			kfree(ls_prims[i].probe);
			ls_prims[i].probe = NULL;
		}
	}
	/* No task enters a trampoline any more; wait for preempted ones to leave it. */
	synchronize_rcu_tasks();
	/* Tasks asleep in a hooked function are redirected around the trampoline where possible. */
	if (inflight()) {
		redirected = ls_unhook_sleepers();
		wait_for_sleepers(max(redirected, 0));
	}
	synchronize_rcu_tasks();
}
