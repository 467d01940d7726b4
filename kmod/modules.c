// SPDX-License-Identifier: GPL-2.0
/*
 * Modules come and go: what is known of their addresses must not outlive them.
 * Before one goes, the worker resolves every address in it that the log names,
 * so that reports can still tell where they were.
 */
#include <linux/mm.h>
#include <linux/notifier.h>

#include "access.h"
#include "lockscope.h"
#include "wrapper/module.h"

static void area_going(unsigned long start, unsigned long end)
{
	ls_context_range_gone(start, end);
	ls_watchpoints_forget(start, end);
	ls_access_forget_benign(start, end);
	ls_worker_module_going(start, end);
	ls_classes_forget_range(&ls.classes, start, end);
	ls_alloc_forget(start, end);
	ls_identity_forget_names(start, end);
}

static int on_module(struct notifier_block *nb, unsigned long state, void *data)
{
	struct module *mod = data;
	unsigned long start, end;
	int i;

	if (mod == THIS_MODULE || (state != MODULE_STATE_COMING && state != MODULE_STATE_GOING))
		return NOTIFY_OK;
	for (i = 0; i < LS_MODULE_AREAS; i++) {
		ls_module_area(mod, i, &start, &end);
		if (start == end)
			continue;
		if (state == MODULE_STATE_COMING)
			ls_shadow_freed(start, end - start);
		else
			area_going(start, end);
	}
	ls_percpu_module(mod, state == MODULE_STATE_COMING);
	ls_allocators_module(mod, state == MODULE_STATE_COMING);
	if (state == MODULE_STATE_COMING)
		ls_annotations_module(mod);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = on_module };

#define MAX_STOCK 1024

/*
 * Modules that were there before us. The list is read under RCU, like everybody
 * does; looking for annotations sleeps, so each is kept until that is done.
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
	for (i = 0; i < nr; i++) {
		ls_annotations_module(stock[i]);
		ls_allocators_module(stock[i], true);
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
