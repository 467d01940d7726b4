// SPDX-License-Identifier: GPL-2.0
/*
 * Module load and unload: what is recorded of a module's addresses must not outlive it. Before
 * a module is unloaded, and before its init sections are freed, the worker resolves every
 * address in them that the log refers to, so that reports can name it. The log records where
 * which module's code was, and when.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "base/wrapper/module.h"
#include "check/access/access.h"
#include "check/check.h"
#include "core/state.h"
#include "hash.h"
#include "hook/hook.h"
#include "identity/alloc.h"
#include "identity/identity.h"
#include "identity/wrappers.h"
#include "out/out.h"
#include "out/races/accesses.h"
#include "tagtab.h"

/* A call that does not return may be the last instruction: @ip is behind it. */
static bool lies_in(u64 ip, unsigned long start, unsigned long end)
{
	return ip > start && ip <= end;
}

static void name_going(u64 ip, unsigned long start, unsigned long end, struct ls_tagtab *done)
{
	u64 key = ls_mix(ip);

	if (!lies_in(ip, start, end) || ls_tagtab_find(done, key))
		return;
	ls_tagtab_insert(done, key, 1);
	ls_symbol_log(ip);
}

/* Places of accesses, and acquire sites of the locks held then. */
static void going_accesses(unsigned long start, unsigned long end, struct ls_tagtab *done)
{
	struct ls_guard_rec guards[LS_LOCKSET_LOCKS];
	struct ls_rec_access a;
	u32 id, i, nr = ls_load(&ls_acc->nr_sites);

	for (id = 1; id <= nr; id++) {
		if (!ls_access_get(id, &a, guards))
			continue;
		name_going(a.ip, start, end, done);
		for (i = 0; i < a.nr_guards; i++)
			name_going(guards[i].ip, start, end, done);
	}
}

/*
 * Module code at [start, end) is about to go. Process everything recorded, and log a symbol
 * for each address in it that the log refers to. May sleep.
 */
static void code_going(unsigned long start, unsigned long end)
{
	u64 ips[LS_STACK_FRAMES];
	struct ls_rec_sight s;
	struct ls_held_rec *held;
	struct ls_tagtab done;
	u32 id, i, nr;
	bool gone;

	/* A signal to the unloading task ends the wait: what is recorded by then is named. */
	if (!ls_worker_runs() || ls_worker_flush() == -ETIME || ls_worker_tagtab(&done, 14))
		return;
	held = kmalloc_array(LS_MAX_DEPTH, sizeof(*held), GFP_KERNEL);
	mutex_lock(&ls_work_mutex);
	for (id = 1; id <= ls_ledger_stacks(); id++) {
		nr = ls_worker_stack(id, ips);
		for (i = 0, gone = false; i < nr; i++) {
			gone |= lies_in(ips[i], start, end);
			name_going(ips[i], start, end, &done);
		}
		if (gone)
			ls_ledger_forget_stack(ips, nr);
	}
	/* Acquire sites of held locks may be in no stack. */
	for (id = 0; held && id < ls_ledger_observations(); id++) {
		if (!ls_worker_observation(id, &s, held))
			continue;
		for (i = 0; i < s.nr_held; i++)
			name_going(held[i].ip, start, end, &done);
	}
	going_accesses(start, end, &done);
	ls_names_keep(start, end);
	mutex_unlock(&ls_work_mutex);
	kfree(held);
	ls_free(done.slots);
}

static void area_going(unsigned long start, unsigned long end)
{
	ls_context_range_gone(start, end);
	ls_watchpoints_forget(start, end);
	ls_access_forget_benign(start, end);
	code_going(start, end);
	ls_classes_forget_range(&ls.classes, start, end);
	ls_alloc_forget(start, end);
	ls_wrappers_forget(start, end);
	ls_identity_forget_names(start, end);
}

static void log_module(const struct module *mod, u32 state)
{
	struct ls_rec_module rec = { .hdr = { sizeof(rec), LS_REC_MODULE }, .state = state };

	ls_module_text(mod, false, &rec.text, &rec.text_end);
	ls_module_text(mod, true, &rec.init, &rec.init_end);
	strscpy(rec.module, mod->name, sizeof(rec.module));
	ls_worker_log(&rec, sizeof(rec));
}

/* Areas [from, to) of @mod are added or (@going) removed. */
static void areas(const struct module *mod, int from, int to, bool going)
{
	unsigned long start, end;

	for (; from < to; from++) {
		ls_module_area(mod, from, &start, &end);
		if (start == end)
			continue;
		if (going)
			area_going(start, end);
		else
			ls_shadow_freed(start, end - start);
	}
}

static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;

	if (mod == THIS_MODULE)
		return NOTIFY_OK;
	switch (state) {
	case MODULE_STATE_COMING:
		log_module(mod, LS_MODULE_COMES);
		areas(mod, 0, LS_MODULE_ALL_AREAS, false);
		ls_percpu_module(mod, true);
		ls_allocators_module(mod, true);
		ls_wrappers_module(mod);
		ls_annotations_module(mod);
		break;
	case MODULE_STATE_LIVE:
		/* Init has returned, but its sections still exist. */
		areas(mod, LS_MODULE_AREAS, LS_MODULE_ALL_AREAS, true);
		log_module(mod, LS_MODULE_STARTED);
		break;
	case MODULE_STATE_GOING:
		/* Failed init: all sections still exist. */
		areas(mod, 0, LS_MODULE_ALL_AREAS, true);
		log_module(mod, LS_MODULE_GOES);
		ls_percpu_module(mod, false);
		ls_allocators_module(mod, false);
		break;
	}
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = on_module };

#define MAX_STOCK 1024

/*
 * Modules loaded before this one. The list is read under RCU, as in the kernel; searching for
 * annotations sleeps, so each holds a reference until that is done.
 */
static void take_stock(void)
{
	struct list_head *modules = (struct list_head *)ls_symbol("modules");
	struct module **stock = kvmalloc_array(MAX_STOCK, sizeof(*stock), GFP_KERNEL);
	struct module *mod;
	u32 nr = 0, i;

	if (!modules || !stock) {
		kvfree(stock);
		return;
	}
	preempt_disable();
	list_for_each_entry_rcu(mod, modules, list) {
		if (mod->state != MODULE_STATE_LIVE)
			continue;
		ls_percpu_module(mod, true);
		if (mod != THIS_MODULE && nr < MAX_STOCK && try_module_get(mod))
			stock[nr++] = mod;
	}
	preempt_enable();
	log_module(THIS_MODULE, LS_MODULE_COMES);
	for (i = 0; i < nr; i++) {
		log_module(stock[i], LS_MODULE_COMES);
		ls_annotations_module(stock[i]);
		ls_allocators_module(stock[i], true);
		ls_wrappers_module(stock[i]);
		module_put(stock[i]);
	}
	kvfree(stock);
}

int ls_modules_init(void)
{
	int rc = register_module_notifier(&notifier);

	if (!rc)
		take_stock();
	return rc;
}

void ls_modules_exit(void)
{
	unregister_module_notifier(&notifier);
}
