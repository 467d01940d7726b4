// SPDX-License-Identifier: GPL-2.0
/*
 * Which cases can run in loops. Left out are those
 *
 *   - whose sides need an order: one leaves what another one needs, a semaphore is opened by
 *     a side, a completion is waited for that another side completes;
 *   - where a holder or a slow side makes them meet in every other round, unaided;
 *   - that go on after an attempt failed which cannot fail when sides run one by one;
 *   - twins that only the moments at which their sides run keep from a deadlock, and whose
 *     code alone allows one;
 *   - of one side only, with nothing to meet.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "loops.h"

/* A fault NAME and its twin NAME_ok. */
static const char * const ls_pairs[] = {
	/* order/ */
	"abba_spin", "abba_irqsave", "abba_irq", "abba_bh", "abba_raw",
	"abba_mutex", "abba_rwsem", "abba_readers", "abba_sem", "abba_rtmutex",
	"ww_noctx", "intr_ww", "abba_sock", "sock_fast",
	"rw_write", "rw_mixed", "rw_readers", "rrec_softirq", "rrec_three",
	"chain_three", "chain_four", "chain_nested",
	"obj_pair", "obj_moved", "obj_against", "obj_ring", "obj_types", "obj_walk",
	"try_mutex", "try_spin", "try_rwsem",
	"gate_side", "gate_shared", "gate_instance", "gate_dropped", "gate_other", "gate_each",
	"unorder", "downgrade", "again_mutex", "again_rwsem", "work_cancel", "work_delayed",
	"ctx_work", "ctx_timer", "ctx_tasklet", "ctx_hrtimer",
	/* context/ */
	"irq_hard", "irq_soft", "irq_bh_only", "irq_in_softirq", "irq_writer", "irq_reader",
	"irq_release", "irq_inner", "irq_bh_release", "irq_raw", "irq_try", "irq_object",
	"inv_one", "inv_two", "inv_three", "inv_writer", "inv_bh_writer", "inv_reader",
	"inv_release", "inv_mixed", "inv_mutex", "inv_gate",
	/* identity/ */
	"mem_kmalloc", "name_files", "name_mid", "name_local", "name_percpu", "name_init",
	"known_area", "known_sizes", "known_inits", "nest_role", "nest_one",
	"ref_inode", "ref_dir", "ref_quota", "ref_hidden", "ref_many", "ref_array",
	"ref_sock", "ref_proto", "ref_family",
	"role_super", "role_device", "role_queue", "role_level", "role_early", "role_disk",
	"role_leaf", "role_tree", "role_map", "role_tty", "role_port",
	"dev_driver", "dev_tree", "dev_peer", "dev_pair", "dev_late", "dev_far",
	/* held/, semaphore/ */
	"ann_class", "sem_few",
};

/* The other one of a pair cannot, or there is none. */
static const char * const ls_singles[] = {
	"abba_percpu_rwsem_ok", "abba_ww", "rwsem_tried", "rrec_irqoff", "rrec_hardirq_ok",
	"obj_late", "gate_late", "handover_ok", "signal_ok", "again_spin", "work_flush_ok",
	"intr_mutex", "kill_mutex", "intr_rtmutex", "intr_sem", "kill_sem", "kill_write",
	"intr_read", "kill_read",
	"irq_line",
	"mem_percpu_ok", "mem_allocpcpu", "mem_slab", "mem_vmalloc", "mem_page",
	"name_work_ok", "nest_moved",
	"sem_noise", "sem_buffer", "sem_event_ok", "sem_both_ok",
};

/*
 * Faults whose own sides never wait for each other in a ring: each uses another instance of a
 * class, or they only read and no side writes.
 */
static const char * const ls_never[] = {
	"abba_readers", "rw_readers", "rwsem_tried", "rrec_irqoff", "intr_read", "kill_read",
	"obj_types", "irq_object", "inv_reader", "mem_kmalloc", "mem_slab", "nest_role",
	"ref_inode", "ref_dir", "ref_quota", "ref_hidden", "ref_array",
	"ref_sock", "ref_proto", "ref_family",
	"role_super", "role_device", "role_queue", "role_level", "role_early", "role_disk",
	"role_leaf", "role_tree", "role_map", "role_tty", "role_port",
	"dev_peer", "ann_class",
};

static bool ls_named(const char * const *names, unsigned int nr, const char *name, size_t len)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

#define ls_is_one_of(names, name, len) ls_named(names, ARRAY_SIZE(names), name, len)

const char *ls_loops_mark(const struct ls_case *c)
{
	size_t len = strlen(c->name), first = len;

	if (c->verdict == LS_TWIN && len > 3 && !strcmp(c->name + len - 3, "_ok"))
		first -= 3;
	if (!ls_is_one_of(ls_pairs, c->name, first) && !ls_is_one_of(ls_singles, c->name, len))
		return NULL;
	return ls_is_one_of(ls_never, c->name, len) ? " meet=never" : "";
}
