// SPDX-License-Identifier: GPL-2.0
/*
 * The preemption model, which root may change at any time (/sys/kernel/debug/sched/preempt).
 * Two things depend on it: places that may sleep are patched out under full preemption, and
 * hooks of spinning locks must then keep the task on its CPU (ls_prims_keep_on_cpu()).
 *
 * The function that makes the change is hooked and called by the hook. So there is no gap: the
 * first part is done before the first task is preempted, the second after the function has
 * patched.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/static_call.h>

#include "base/lookup.h"
#include "base/wrapper/ftrace.h"
#include "hook/hook.h"

#if defined(CONFIG_PREEMPT_DYNAMIC) && defined(CONFIG_HAVE_PREEMPT_DYNAMIC_CALL)
/* The kernel's own numbers: none, voluntary; from here on full preemption. */
#define MODE_FULL 2

/* tramp.S */
void ls_tramp_preempt(void);
void ls_call_at(int mode, unsigned long address);
void ls_hook_preempt(int mode, unsigned long func5);

static DEFINE_MUTEX(sleeps_mutex);
static struct ftrace_ops ops;
static bool hooked;

/*
 * Under full preemption, might_sleep() and cond_resched() are patched out. While the module is
 * loaded they call their function again, where the hook is; its check for a reschedule is
 * redundant then.
 */
static struct {
	const char *key, *tramp;
	void *was;		/* NULL: not changed */
} sleeps[] = {
	{ "__SCK__might_resched", "__SCT__might_resched" },
	{ "__SCK__cond_resched", "__SCT__cond_resched" },
};
static int mode_was;

static int preempt_mode(void)
{
	int *mode = (int *)ls_symbol("preempt_dynamic_mode");

	return mode ? READ_ONCE(*mode) : 0;
}

/* The kernel has just set both, at boot or by a change of the model. Sleeps. */
static void sleeps_attach(void)
{
	void *function = (void *)ls_symbol("__cond_resched");
	void *nothing = (void *)ls_symbol("__static_call_return0");
	u32 i;

	mutex_lock(&sleeps_mutex);
	mode_was = preempt_mode();
	for (i = 0; i < ARRAY_SIZE(sleeps); i++) {
		struct static_call_key *key = (void *)ls_symbol(sleeps[i].key);
		void *tramp = (void *)ls_symbol(sleeps[i].tramp);

		sleeps[i].was = NULL;
		if (!function || !nothing || !key || !tramp || READ_ONCE(key->func) != nothing)
			continue;
		sleeps[i].was = nothing;
		__static_call_update(key, tramp, function);
	}
	mutex_unlock(&sleeps_mutex);
}

static void sleeps_detach(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sleeps); i++) {
		/* A change that the hook missed has set them correctly. */
		if (sleeps[i].was && preempt_mode() == mode_was)
			__static_call_update((void *)ls_symbol(sleeps[i].key),
					     (void *)ls_symbol(sleeps[i].tramp), sleeps[i].was);
		sleeps[i].was = NULL;
	}
}

/*
 * sched_dynamic_update(@mode), whose body continues at @func5. Task context, may sleep: counts
 * as a task that sleeps in a hooked function (ls_prims_detach()).
 */
void ls_hook_preempt(int mode, unsigned long func5)
{
	this_cpu_inc(ls_inflight);
	if (mode >= MODE_FULL)
		ls_prims_keep_on_cpu();
	ls_call_at(mode, func5);
	sleeps_attach();
	this_cpu_dec(ls_inflight);
}

/* Before the hooks of locks. */
void ls_preempt_attach(void)
{
	unsigned long function = ls_symbol("sched_dynamic_update");
	int rc = function ? ftrace_set_filter_ip(&ops, function, 0, 1) : -ENOENT;

	rc = rc ? rc : ls_direct_register(&ops, (unsigned long)ls_tramp_preempt);
	hooked = !rc;
	if (rc)
		pr_warn("changes of the preemption model are not seen (%d)\n", rc);
	sleeps_attach();
}

/* No task enters the hook any more. ls_prims_detach() waits for those inside. */
void ls_preempt_unhook(void)
{
	if (hooked)
		ls_direct_unregister(&ops, (unsigned long)ls_tramp_preempt);
	hooked = false;
	ftrace_free_filter(&ops);
}

/* After ls_prims_detach(). */
void ls_preempt_detach(void)
{
	sleeps_detach();
}
#else
void ls_preempt_attach(void) { }
void ls_preempt_unhook(void) { }
void ls_preempt_detach(void) { }
#endif
