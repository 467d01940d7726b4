// SPDX-License-Identifier: GPL-2.0
/*
 * Races caught in the act. A thread arms a hardware watchpoint on memory that looks like a
 * race and stalls accessors of it for a moment. A concurrent access to the same bytes, seen by
 * a call-out, a probe or the watchpoint, is the other side.
 */
#include <linux/hw_breakpoint.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#include "base/lookup.h"
#include "base/registers.h"
#include "check/access/access.h"
#include "check/access/planned.h"
#include "check/access/race_side.h"

bool ls_watchpoints = true;

#define WANTED 16		/* addresses that wait to be watched */
#define TRIES 8			/* rounds for each */
#define WATCH_MS 100		/* length of a round */
#define STOPS 64		/* accessors stalled in a round, at most */
#define DECODED 256		/* instructions decoded in a round, at most */
#define UNCERTAIN 16		/* instructions that could not be decoded */
#define STOP_US 500
#define STOP_SPINS 20000	/* limit in case the clock stands still */
#define RECORD_SPINS 4000	/* wait for the other side to record itself */

#define CLAIMING (1ull << 32)

unsigned long ls_stop_at __read_mostly;
unsigned long ls_stop_mask __read_mostly = ~7ul;

/*
 * The stalled accessor. owner: its context + 1, or 0. The other fields are the owner's, except
 * caught, which the other side sets. caught includes the turn: an accessor that compared
 * itself with one owner must not be caught by the next.
 */
static struct {
	u64 owner;
	u64 value;		/* of the granule */
	u64 caught;
	unsigned long from;	/* address that the owner accesses */
	u32 bytes;
	u32 lockset, op;
	u32 turn, stops, decoded;
	u32 mixed;		/* turn in which a third side wrote the bytes as well */
	u32 size;		/* of the watchpoint */
	unsigned long addr;
	unsigned long uncertain[UNCERTAIN];
	/* The caught side, complete once recorded equals the turn; one writer at a time. */
	struct ls_race_side side;
	u32 writing, recorded;
} stop;

/* caught: turn, bytes of the granule that the other side writes, its PID, its access site. */
#define SITE_BITS 18
#define PID_BITS 22
#define SITE_MASK ((1ull << SITE_BITS) - 1)
#define PID_MASK ((1ull << PID_BITS) - 1)
static_assert(LS_MAX_SITES <= 1u << SITE_BITS);

static u64 catch(u32 turn, u32 written, u32 pid, u32 site)
{
	return (u64)turn << 48 | (u64)written << (SITE_BITS + PID_BITS) | (u64)pid << SITE_BITS | site;
}

static struct wanted {
	unsigned long addr;
	u32 size;
	u32 tries;
} wanted[WANTED];
static DEFINE_SPINLOCK(wanted_lock);	/* watchpoint thread and worker, process context */
static struct task_struct *thread;
static bool used;
static u32 armed, caught;

static typeof(__module_text_address) *module_at;

/* An instruction under a probe is executed in another place, which has no symbol. */
static bool is_moved(unsigned long ip)
{
	return ip >= MODULES_VADDR && !(module_at && module_at(ip));
}

static bool marked(u32 op)
{
	return op & (LS_ACC_MARKED | LS_ACC_ATOMIC);
}

/* One bit for each byte of the granule at @granule that lies in [from, from + bytes). */
static u32 bytes_in(unsigned long granule, unsigned long from, u32 bytes)
{
	unsigned long to = min(from + bytes, granule + 8);
	u32 i, mask = 0;

	for (i = 0; i < 8; i++)
		if (granule + i >= from && granule + i < to)
			mask |= 1u << i;
	return mask;
}

static bool overlaps_owner(const struct ls_now *n)
{
	unsigned long from = ls_load(&stop.from);

	return n->addr < from + ls_load(&stop.bytes) && from < n->addr + n->size;
}

/* For an access that only the watchpoint saw it is unknown whether it was marked. */
static bool race_with_owner(const struct ls_now *n)
{
	u32 op = ls_load(&stop.op);

	return ((op | n->op) & LS_ACC_WRITE) && !(marked(op) && (marked(n->op) || n->op & LS_ACC_TRAP)) &&
	       !ls_lockset_meet(&ls_acc->sets, ls_load(&stop.lockset), n->lockset).apart;
}

static bool is_caught(void)
{
	return ls_load_acquire(&stop.caught) & SITE_MASK;
}

/* Inlined: in a trap, the kernel's copy function would have to be unwound. */
static __always_inline bool read_granule(u64 *value)
{
	__get_kernel_nofault(value, (u64 *)(stop.addr & ~7ul), u64, gone);
	return true;
gone:
	return false;
}

/* Has one of @bytes changed since the accessor was stalled? */
static bool has_changed(u32 bytes)
{
	u64 now;
	u32 i;

	if (!bytes || !read_granule(&now))
		return false;
	for (i = 0; i < 8; i++)
		if (bytes >> i & 1 && (u8)((now ^ stop.value) >> (8 * i)))
			return true;
	return false;
}

/* Record side @n in @turn. One that comes while another is being recorded is dropped. */
static void record_side(const struct ls_now *n, u32 turn)
{
	u32 none = 0;

	if (!ls_cmpxchg(&stop.writing, &none, 1))
		return;
	if (ls_load_acquire(&stop.turn) == turn) {
		ls_side_now(n, &stop.side);
		ls_store_release(&stop.recorded, turn);
	}
	ls_store_release(&stop.writing, 0);
}

/*
 * Check whether @n conflicts with the stalled access. A change of the value is attributed to
 * @n if there was no other writer: the value was unchanged at its call-out, which precedes the
 * access, and no other write was seen later.
 */
static void meet(const struct ls_now *n, u32 site, u64 owner)
{
	u64 seen = ls_load_acquire(&stop.caught), own;
	u32 bytes = bytes_in(stop.addr & ~7ul, n->addr, n->size);

	if (ls_load_acquire(&stop.owner) != owner || !overlaps_owner(n))
		return;
	if (!(seen & SITE_MASK) && race_with_owner(n)) {
		if (!(n->op & LS_ACC_TRAP) && has_changed(bytes))
			ls_store(&stop.mixed, (u32)(seen >> 48));
		own = catch(seen >> 48, n->op & LS_ACC_WRITE ? bytes : 0, n->level ? 0 : current->pid, site);
		if (ls_cmpxchg(&stop.caught, &seen, own)) {
			record_side(n, own >> 48);
			return;
		}
	}
	if (n->op & LS_ACC_WRITE && site != (seen & SITE_MASK))
		ls_store(&stop.mixed, (u32)(seen >> 48));
}

/*
 * @n, at access site @site, accesses the watched memory. Either it meets an accessor that is
 * stalled there, or it is stalled itself. Any context, preemption off.
 */
void ls_stop(struct ls_now *n, u32 site)
{
	u64 owner = ls_load_acquire(&stop.owner), begin, other;
	u32 flags = LS_RACE_CAUGHT, spins = 0;

	if (unlikely(ls_accesses_planned())) {
		ls_access_planned(n);
		return;
	}
	if (n->addr >= stop.addr + stop.size || n->addr + n->size <= stop.addr)
		return;
	if (owner) {
		if (owner != CLAIMING && owner != n->context + 1)
			meet(n, site, owner);
		return;
	}
	/* Interrupts are not stalled, nor is any context with interrupts off. */
	if (n->level || n->irq_off || n->op & LS_ACC_TRAP || ls_load(&stop.stops) >= STOPS ||
	    !ls_cmpxchg(&stop.owner, &owner, CLAIMING))
		return;
	stop.stops++;
	stop.turn = (stop.turn + 1) & 0xffff;
	stop.mixed = ~0u;
	ls_store(&stop.recorded, ~0u);
	ls_store_release(&stop.caught, catch(stop.turn, 0, 0, 0));
	ls_store(&stop.from, n->addr);
	ls_store(&stop.bytes, n->size);
	ls_store(&stop.lockset, n->lockset);
	ls_store(&stop.op, n->op);
	if (!read_granule(&stop.value))
		stop.value = 0;
	ls_store_release(&stop.owner, n->context + 1);
	/* In cycles: with interrupts off, as in a trap, the scheduler's clock may stand still. */
	begin = rdtsc();
	while (!is_caught() && spins++ < STOP_SPINS &&
	       rdtsc() - begin < (u64)tsc_khz * STOP_US / 1000)
		cpu_relax();
	if (is_caught()) {
		other = ls_load(&stop.caught);
		/* In this order: another write is recorded before it changes the value. */
		if (has_changed(other >> (SITE_BITS + PID_BITS) & bytes_in(stop.addr & ~7ul, n->addr, n->size)) &&
		    ls_load_acquire(&stop.mixed) != stop.turn)
			flags |= LS_RACE_CHANGED;
		for (spins = 0; ls_load_acquire(&stop.recorded) != stop.turn && spins < RECORD_SPINS;
		     spins++)
			cpu_relax();
		ls_report_caught(n, stop.addr, other & SITE_MASK, site, other >> SITE_BITS & PID_MASK, flags,
				 ls_load_acquire(&stop.recorded) == stop.turn ? &stop.side : NULL);
		ls_fetch_add(&caught, 1);
	}
	ls_store_release(&stop.owner, 0);
}

/* Could the instruction before @ip not be decoded, in this round? */
static bool is_uncertain(unsigned long ip, bool from_now_on)
{
	unsigned long *slot = &stop.uncertain[ls_mix(ip) % UNCERTAIN];

	if (from_now_on)
		ls_store(slot, ip);
	return ls_load(slot) == ip;
}

/*
 * The watchpoint was hit: only matters while an accessor is stalled. Reads by this module do
 * not count. Context as in an NMI.
 */
static void on_watchpoint(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
	u64 owner = ls_load_acquire(&stop.owner);
	struct ls_site s;
	unsigned long addr;

	if (!owner || owner == CLAIMING || is_caught() || user_mode(regs) ||
	    within_module(regs->ip, THIS_MODULE) || is_moved(regs->ip) || is_uncertain(regs->ip, false) ||
	    ls_fetch_add(&stop.decoded, 1) >= DECODED)
		return;
	if (!ls_trapped_decode(regs, &s)) {
		is_uncertain(regs->ip, true);
		return;
	}
	addr = ls_site_address(&s, ls_register, regs, this_cpu_read(this_cpu_off));
	if (addr >= stop.addr + stop.size || addr + s.size <= stop.addr || ls_trapped_in_us(regs))
		return;
	ls_access_trapped(addr, s.size, s.op | LS_ACC_TRAP, regs->ip, regs);
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
	stop.stops = stop.decoded = 0;
	memset(stop.uncertain, 0, sizeof(stop.uncertain));
	/* Without a free debug register only call-outs and probes report accesses. */
	events = register_wide_hw_breakpoint(&attr, on_watchpoint, NULL);
	WRITE_ONCE(ls_stop_at, w->addr & ~7ul);
	armed++;
	schedule_timeout_interruptible(msecs_to_jiffies(WATCH_MS));
	WRITE_ONCE(ls_stop_at, 0);
	if (!IS_ERR_VALUE((unsigned long __force)events))
		unregister_wide_hw_breakpoint(events);
	/* Wait for the stalled accessor before the next address is watched. */
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

			if (!w->tries || !READ_ONCE(used) || ls_accesses_planned())
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

/* Queue [addr, addr + size), which looks like a race. Process context. */
void ls_watchpoints_want(unsigned long addr, u32 size)
{
	static u32 oldest;
	struct wanted *w = NULL;
	u32 i;

	/* The largest size within the access that a debug register supports. */
	size = min_t(u32, rounddown_pow_of_two(clamp(size, 1u, 8u)), 1u << __ffs(addr | 8));
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

/* Memory at [start, end) goes away: stop watching it. May sleep. */
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

	used = ls_watchpoints;
	module_at = (void *)ls_symbol("__module_text_address");
	ls_trapped_init();
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
