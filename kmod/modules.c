// SPDX-License-Identifier: GPL-2.0
/*
 * Modules come and go: what is known of their addresses must not outlive them.
 * Before one goes, and before the code for its start is freed, the worker resolves
 * every address in it that the log names, so that reports can still tell where they
 * were. The log has which module's code lay where, and when.
 */
#include <linux/mm.h>
#include <linux/notifier.h>

#include "check/access/access.h"
#include "out/accesses.h"
#include "lockscope.h"
#include "base/wrapper/module.h"

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

static void log_module(const struct module *mod, u32 state)
{
	struct ls_rec_module rec = { .hdr = { sizeof(rec), LS_REC_MODULE }, .state = state };

	ls_module_text(mod, false, &rec.text, &rec.text_end);
	ls_module_text(mod, true, &rec.init, &rec.init_end);
	strscpy(rec.module, mod->name, sizeof(rec.module));
	ls_worker_log(&rec, sizeof(rec));
}

/* Areas [from, to) of @mod come, or (@going) go. */
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
		ls_annotations_module(mod);
		break;
	case MODULE_STATE_LIVE:
		/* Its start is over, but what that needed is still there. */
		areas(mod, LS_MODULE_AREAS, LS_MODULE_ALL_AREAS, true);
		log_module(mod, LS_MODULE_STARTED);
		break;
	case MODULE_STATE_GOING:
		/* One that could not start still has all of it. */
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
	log_module(THIS_MODULE, LS_MODULE_COMES);
	for (i = 0; i < nr; i++) {
		log_module(stock[i], LS_MODULE_COMES);
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
