// SPDX-License-Identifier: GPL-2.0
/*
 * Accesses of unmodified code: kprobes on instructions that userspace has decoded. A probe
 * computes the address that its instruction is about to access.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/memory.h"
#include "base/registers.h"
#include "check/access/access.h"
#include "hook/hook.h"

#define LOOKED_AT 20		/* bytes: of a jump, up to the end of its last instruction */

#define BATCH 64		/* probes removed at a time: they share a grace period */

struct ls_probe {
	struct ls_site site;	/* first member: a list of probes is a list of sites */
	struct kprobe kp;
	u32 hits;		/* approximate: CPUs count without synchronisation */
};

static DEFINE_MUTEX(probes_mutex);
static struct ls_site **probes;	/* sorted by address if the request was */
static u32 nr_probes;			/* in probes[], armed or not */
static u32 nr_armed;
static u64 missed_before;		/* by probes that were removed */
static const void *owner;		/* open file that set them */
u32 ls_max_probes = 4096;

static struct ls_probe *probe_of(struct ls_site *site)
{
	return container_of(site, struct ls_probe, site);
}

static int on_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct ls_probe *p = container_of(kp, struct ls_probe, kp);
	const struct ls_site *s = &p->site;
	unsigned long addr = ls_site_address(s, ls_register, regs, this_cpu_read(this_cpu_off));

	this_cpu_inc(ls_access_cpus.probe_hits);
	WRITE_ONCE(p->hits, p->hits + 1);
	/* User memory and non-canonical addresses are not checked. */
	if ((long)addr < 0 && (ls_watched(addr) || ls_sample_is_cold(&ls_sample, s->ip)))
		ls_access_trapped(addr, s->size, s->op | LS_ACC_PROBE, s->ip, regs);
	return 0;
}
NOKPROBE_SYMBOL(on_hit);

/*
 * A probe with a post handler is not optimised to a jump. Optimisation waits for all tasks,
 * with the mutex held that registration needs: too long for probes that stay a few seconds.
 */
static void after_hit(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}
NOKPROBE_SYMBOL(after_hit);

static void remove_batch(struct ls_probe **gone, u32 nr)
{
	struct kprobe *kps[BATCH];
	u32 i;

	for (i = 0; i < nr; i++)
		kps[i] = &gone[i]->kp;
	unregister_kprobes(kps, nr);
	for (i = 0; i < nr; i++) {
		WRITE_ONCE(missed_before, missed_before + gone[i]->kp.nmissed);
		kfree(gone[i]);
	}
	cond_resched();
}

/* Remove the probes in @all that are not NULL. */
static void drop(struct ls_site **all, u32 nr)
{
	struct ls_probe *gone[BATCH];
	u32 i, n = 0;

	for (i = 0; i < nr; i++) {
		if (!all[i])
			continue;
		if (all[i]->error) {
			kfree(probe_of(all[i]));
			continue;
		}
		gone[n++] = probe_of(all[i]);
		nr_armed--;
		if (n == BATCH) {
			remove_batch(gone, n);
			n = 0;
		}
	}
	remove_batch(gone, n);
}

static int arm(struct ls_site **at, const struct ls_site *site)
{
	struct ls_probe *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	p->site = *site;
	p->kp.addr = (kprobe_opcode_t *)site->ip;
	p->kp.pre_handler = on_hit;
	p->kp.post_handler = after_hit;
	/*
	 * This module runs inside hooks and probes. The kernel also reads the next bytes, and
	 * warns when a module's text ends there.
	 */
	if (within_module(site->ip, THIS_MODULE))
		p->site.error = -EINVAL;
	else if (site->ip >= MODULES_VADDR && PAGE_SIZE - (site->ip & ~PAGE_MASK) < LOOKED_AT)
		p->site.error = -ERANGE;
	else
		p->site.error = register_kprobe(&p->kp);
	nr_armed += !p->site.error;
	*at = &p->site;
	return 0;
}

/*
 * Replace the probes by those of @sites, whose errors are filled in; @file is the new owner.
 * Process context; may take long. -EINVAL, with nothing changed, when a site is invalid.
 */
int ls_probes_set(struct ls_site *sites, u32 nr, u32 *armed, const void *file)
{
	struct ls_site **next = NULL;
	u32 i;
	int rc = 0;

	for (i = 0; i < nr; i++)
		if (!ls_site_valid(&sites[i]))
			return -EINVAL;
	if (nr) {
		next = ls_zalloc(array_size(nr, sizeof(*next)));
		if (!next)
			return -ENOMEM;
	}
	mutex_lock(&probes_mutex);
	ls_sites_keep(next, sites, nr, probes, nr_probes);
	drop(probes, nr_probes);
	ls_free(probes);
	probes = next;
	owner = file;
	for (i = 0; !rc && i < nr; i++) {
		if (!next[i])
			rc = arm(&next[i], &sites[i]);
		if (!rc)
			sites[i].error = next[i]->error;
		cond_resched();
	}
	if (rc) {
		drop(next, nr);
		ls_free(next);
		probes = NULL;
		nr = 0;
	}
	nr_probes = nr;
	*armed = nr_armed;
	mutex_unlock(&probes_mutex);
	return rc;
}

/* The owner of the probes closes its file. */
void ls_probes_disown(const void *file)
{
	mutex_lock(&probes_mutex);
	if (owner == file) {
		drop(probes, nr_probes);
		ls_free(probes);
		probes = NULL;
		nr_probes = 0;
		owner = NULL;
	}
	mutex_unlock(&probes_mutex);
}

/* Hits of each probe since it was armed, in the order of the request. */
long ls_probes_hits(u32 __user *to, u32 room)
{
	long rc = 0;
	u32 i;

	mutex_lock(&probes_mutex);
	room = min(room, nr_probes);
	for (i = 0; !rc && i < room; i++)
		rc = put_user(READ_ONCE(probe_of(probes[i])->hits), to + i);
	mutex_unlock(&probes_mutex);
	return rc ? rc : room;
}

/* Hits that probes missed. */
u64 ls_probes_missed(void)
{
	u64 sum;
	u32 i;

	mutex_lock(&probes_mutex);
	sum = missed_before;
	for (i = 0; i < nr_probes; i++)
		sum += probe_of(probes[i])->kp.nmissed;
	mutex_unlock(&probes_mutex);
	return sum;
}

u32 ls_probes_armed(void)
{
	return READ_ONCE(nr_armed);
}

void ls_probes_init(void)
{
	ls_max_probes = clamp(ls_max_probes, 1u, 65536u);
}

void ls_probes_exit(void)
{
	ls_probes_disown(owner);
}
