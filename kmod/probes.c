// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses of unmodified code: kprobes on instructions that userspace has decoded.
 * A probe computes the address that its instruction is about to access.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "access.h"

static uint max_probes = 4096;
module_param(max_probes, uint, 0400);
MODULE_PARM_DESC(max_probes, "most instructions of unmodified code watched at a time (default 4096)");

struct ls_probe {
	struct kprobe kp;
	struct ls_site site;
};

static DEFINE_MUTEX(probes_mutex);
static struct ls_probe *probes;
static u32 nr_probes;			/* in probes[], armed or not */
static u32 nr_armed;
static u64 missed_before;		/* by probes that are gone */
u32 ls_max_probes;

/* Registers in the instruction set's order. */
static const u16 offsets[16] = {
	offsetof(struct pt_regs, ax), offsetof(struct pt_regs, cx),
	offsetof(struct pt_regs, dx), offsetof(struct pt_regs, bx),
	offsetof(struct pt_regs, sp), offsetof(struct pt_regs, bp),
	offsetof(struct pt_regs, si), offsetof(struct pt_regs, di),
	offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
	offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
	offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
	offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
};

static unsigned long reg(struct pt_regs *regs, u32 number)
{
	return *(unsigned long *)((char *)regs + offsets[number]);
}

static int on_hit(struct kprobe *kp, struct pt_regs *regs)
{
	const struct ls_site *s = &container_of(kp, struct ls_probe, kp)->site;
	unsigned long addr = s->disp;

	if (s->base < 16)
		addr += reg(regs, s->base);
	if (s->index < 16)
		addr += reg(regs, s->index) * s->scale;
	if (s->percpu)
		addr += this_cpu_read(this_cpu_off);
	this_cpu_inc(ls_access_cpus.probe_hits);
	/* Users' memory, and what is not canonical, is not ours to judge. */
	if ((long)addr < 0 && ls_watched(addr))
		ls_access_trapped(addr, s->size, s->op | LS_ACC_PROBE, s->ip, regs);
	return 0;
}
NOKPROBE_SYMBOL(on_hit);

static bool valid(const struct ls_site *s)
{
	return (s->base < 16 || s->base == LS_BASE_NONE || s->base == LS_BASE_RIP) &&
	       (s->index < 16 || s->index == LS_BASE_NONE) &&
	       (s->scale == 1 || s->scale == 2 || s->scale == 4 || s->scale == 8) && s->percpu < 2 &&
	       s->size && s->size <= 64 && s->op & (LS_ACC_READ | LS_ACC_WRITE) &&
	       !(s->op & ~(LS_ACC_READ | LS_ACC_WRITE | LS_ACC_ATOMIC | LS_ACC_MARKED));
}

static void remove_all(void)
{
	u32 i;

	for (i = 0; i < nr_probes; i++) {
		if (probes[i].site.error)
			continue;
		unregister_kprobe(&probes[i].kp);
		missed_before += probes[i].kp.nmissed;
	}
	nr_probes = nr_armed = 0;
	vfree(probes);
	probes = NULL;
}

/*
 * Replace the probes by those of @sites, whose errors are filled in. Process
 * context; may take long. -EINVAL, and nothing changed, when a site makes no sense.
 */
int ls_probes_set(struct ls_site *sites, u32 nr, u32 *armed)
{
	u32 i;
	int rc = 0;

	for (i = 0; i < nr; i++)
		if (!valid(&sites[i]))
			return -EINVAL;
	mutex_lock(&probes_mutex);
	remove_all();
	if (nr)
		probes = vzalloc(array_size(nr, sizeof(*probes)));
	if (nr && !probes)
		rc = -ENOMEM;
	for (i = 0; !rc && i < nr; i++) {
		struct ls_probe *p = &probes[i];

		p->site = sites[i];
		p->kp.addr = (kprobe_opcode_t *)sites[i].ip;
		p->kp.pre_handler = on_hit;
		p->site.error = sites[i].error = register_kprobe(&p->kp);
		nr_armed += !p->site.error;
		nr_probes++;
		cond_resched();
	}
	*armed = nr_armed;
	mutex_unlock(&probes_mutex);
	return rc;
}

/* Hits that no probe could look at. */
u64 ls_probes_missed(void)
{
	u64 sum;
	u32 i;

	mutex_lock(&probes_mutex);
	sum = missed_before;
	for (i = 0; i < nr_probes; i++)
		sum += probes[i].kp.nmissed;
	mutex_unlock(&probes_mutex);
	return sum;
}

u32 ls_probes_armed(void)
{
	return READ_ONCE(nr_armed);
}

void ls_probes_init(void)
{
	ls_max_probes = clamp(max_probes, 1u, 65536u);
}

void ls_probes_exit(void)
{
	mutex_lock(&probes_mutex);
	remove_all();
	mutex_unlock(&probes_mutex);
}
