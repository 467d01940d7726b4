// SPDX-License-Identifier: GPL-2.0
/*
 * Races caught in the act. A thread arms a hardware watchpoint on memory that
 * looks like a race and lets accessors of it stop for a moment. Whoever comes by
 * meanwhile, by a call-out, a probe or the watchpoint, is the other side.
 */
#include <linux/hw_breakpoint.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#include "access.h"

static bool watchpoints = true;
module_param(watchpoints, bool, 0400);
MODULE_PARM_DESC(watchpoints, "try to catch races in the act: accessors may wait for half a millisecond (default 1)");

#define WANTED 16		/* places that wait for their turn */
#define TRIES 8			/* times that each is watched */
#define WATCH_MS 100		/* so long each time */
#define STOPS 64		/* accessors stopped each time, at most */
#define HITS 4096		/* of the watchpoint each time, at most */
#define STOP_US 500
#define STOP_SPINS 20000	/* whatever the clock says */

#define CLAIMING (1ull << 32)

unsigned long ls_stop_at __read_mostly;

/* The accessor that is stopped. owner says whether there is one: its context + 1. */
static struct {
	u64 owner;
	u64 value;
	u32 site, lockset, op, pid;
	u32 caught, caught_pid;
	u32 stops, hits;
	u32 size;
	unsigned long addr;
} stop;

static struct wanted {
	unsigned long addr;
	u32 size;
	u32 tries;
} wanted[WANTED];
static DEFINE_SPINLOCK(wanted_lock);	/* thread and worker, process context */
static struct task_struct *thread;
static bool used;
static u32 armed, caught;

static typeof(__module_text_address) *module_at;

/* An instruction that a probe stands on runs elsewhere, and that place has no name. */
static bool is_moved(unsigned long ip)
{
	return ip >= MODULES_VADDR && !(module_at && module_at(ip));
}

static bool marked(u32 op)
{
	return op & (LS_ACC_MARKED | LS_ACC_ATOMIC);
}

static bool race_with_owner(const struct ls_now *n)
{
	u32 op = ls_load(&stop.op);

	return ((op | n->op) & LS_ACC_WRITE) && !(marked(op) && marked(n->op)) &&
	       !ls_lockset_meet(&ls_acc->sets, ls_load(&stop.lockset), n->lockset).apart;
}

/*
 * @n accesses the memory that is watched, by way @site. Either somebody is stopped
 * there, or we are. Any context, preemption off.
 */
void ls_stop(struct ls_now *n, u32 site)
{
	u64 owner = ls_load_acquire(&stop.owner), begin, value;
	u32 other, flags = LS_RACE_CAUGHT, spins = 0;

	if (n->addr >= stop.addr + stop.size || n->addr + n->size <= stop.addr)
		return;
	if (owner) {
		if (owner != CLAIMING && owner != n->context + 1 && race_with_owner(n)) {
			ls_store(&stop.caught_pid, n->level ? 0 : current->pid);
			ls_store_release(&stop.caught, site);
		}
		return;
	}
	/* Interrupts do not wait, and nobody does so with them off. */
	if (n->level || n->irq_off || n->op & LS_ACC_WATCHED || ls_load(&stop.stops) >= STOPS ||
	    !ls_cmpxchg(&stop.owner, &owner, CLAIMING))
		return;
	stop.stops++;
	stop.site = site;
	stop.lockset = n->lockset;
	stop.op = n->op;
	stop.caught = 0;
	if (get_kernel_nofault(stop.value, (u64 *)(stop.addr & ~7ul)))
		stop.value = 0;
	ls_store_release(&stop.owner, n->context + 1);
	/* By cycles: with interrupts off, as in a trap, the scheduler's clock may stand still. */
	begin = rdtsc();
	while (!ls_load_acquire(&stop.caught) && spins++ < STOP_SPINS &&
	       rdtsc() - begin < (u64)tsc_khz * STOP_US / 1000)
		cpu_relax();
	other = ls_load_acquire(&stop.caught);
	if (other) {
		if (!get_kernel_nofault(value, (u64 *)(stop.addr & ~7ul)) && value != stop.value)
			flags |= LS_RACE_CHANGED;
		ls_tell_race(n, NULL, other, site, ls_load(&stop.caught_pid), flags);
		ls_fetch_add(&caught, 1);
	}
	ls_store_release(&stop.owner, 0);
}

/* The watchpoint: matters only while somebody is stopped. Like an NMI. */
static void on_watchpoint(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
	u64 owner = ls_load_acquire(&stop.owner), value;
	u32 op = LS_ACC_READ | LS_ACC_WATCHED;

	if (!owner || owner == CLAIMING || user_mode(regs) || is_moved(regs->ip) || ls_load(&stop.caught) ||
	    ls_fetch_add(&stop.hits, 1) > HITS)
		return;
	if (!get_kernel_nofault(value, (u64 *)(stop.addr & ~7ul)) && value != stop.value)
		op = LS_ACC_WRITE | LS_ACC_WATCHED;
	ls_access_trapped(stop.addr, stop.size, op, regs->ip, regs);
}

static void watch(const struct wanted *w)
{
	struct perf_event_attr attr;
	struct perf_event *__percpu *events;

	hw_breakpoint_init(&attr);
	attr.bp_addr = w->addr;
	attr.bp_len = w->size;
	attr.bp_type = HW_BREAKPOINT_R | HW_BREAKPOINT_W;
	stop.addr = w->addr;
	stop.size = w->size;
	stop.stops = stop.hits = 0;
	/* Without a free debug register the call-outs and probes alone have to do. */
	events = register_wide_hw_breakpoint(&attr, on_watchpoint, NULL);
	WRITE_ONCE(ls_stop_at, w->addr & ~7ul);
	armed++;
	schedule_timeout_interruptible(msecs_to_jiffies(WATCH_MS));
	WRITE_ONCE(ls_stop_at, 0);
	if (!IS_ERR_VALUE((unsigned long __force)events))
		unregister_wide_hw_breakpoint(events);
	/* Whoever is stopped goes on before the next is watched. */
	synchronize_rcu();
}

static int watcher(void *unused)
{
	u32 at = 0;

	while (!kthread_should_stop()) {
		struct wanted next = { };
		u32 i;

		spin_lock(&wanted_lock);
		for (i = 0; i < WANTED && !next.tries; i++) {
			struct wanted *w = &wanted[at++ % WANTED];

			if (!w->tries || !READ_ONCE(used))
				continue;
			next = *w;
			w->tries--;
		}
		spin_unlock(&wanted_lock);
		if (next.tries) {
			watch(&next);
			continue;
		}
		set_current_state(TASK_INTERRUPTIBLE);
		if (!kthread_should_stop())
			schedule_timeout(HZ / 4);
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

/* Something at [addr, addr + size) looks like a race. Process context. */
void ls_watchpoints_want(unsigned long addr, u32 size)
{
	static u32 oldest;
	struct wanted *w = NULL;
	u32 i;

	size = size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
	addr &= ~((unsigned long)size - 1);
	spin_lock(&wanted_lock);
	for (i = 0; i < WANTED; i++) {
		if (wanted[i].addr == addr || !wanted[i].tries)
			w = &wanted[i];
		if (wanted[i].addr == addr)
			break;
	}
	if (!w)
		w = &wanted[oldest++ % WANTED];
	*w = (struct wanted){ addr, size, TRIES };
	spin_unlock(&wanted_lock);
}

/* Memory at [start, end) goes away: it is not watched any more. May sleep. */
void ls_watchpoints_forget(unsigned long start, unsigned long end)
{
	u32 i;

	spin_lock(&wanted_lock);
	for (i = 0; i < WANTED; i++)
		if (wanted[i].addr >= start && wanted[i].addr < end)
			wanted[i].tries = wanted[i].addr = 0;
	spin_unlock(&wanted_lock);
}

void ls_watchpoints_use(bool on)
{
	WRITE_ONCE(used, on);
}

u32 ls_watchpoints_armed(void)
{
	return READ_ONCE(armed);
}

u32 ls_watchpoints_caught(void)
{
	return READ_ONCE(caught);
}

int ls_watchpoints_init(void)
{
	struct task_struct *t;

	used = watchpoints;
	module_at = (void *)ls_symbol("__module_text_address");
	t = kthread_run(watcher, NULL, "lockscope-watch");
	if (IS_ERR(t))
		return PTR_ERR(t);
	thread = t;
	return 0;
}

void ls_watchpoints_exit(void)
{
	if (thread)
		kthread_stop(thread);
	thread = NULL;
}
