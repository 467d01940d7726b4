// SPDX-License-Identifier: GPL-2.0
/*
 * Spinning locks that have to be waited for: the slow paths of the kernel's queued locks. What takes
 * a free lock does not get here.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/kernel.h>

#include "base/lookup.h"
#include "base/preempt.h"
#include "base/wrapper/ftrace.h"
#include "check/hang.h"
#include "hook/hook.h"

static void on_slow(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
		    struct ftrace_regs *fregs)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_spins(ftrace_regs_get_argument(fregs, 0));
	ls_leave();
}

static struct ftrace_ops slow = { .func = on_slow };
static bool attached;

static const char *const functions[] = {
	"native_queued_spin_lock_slowpath", "__pv_queued_spin_lock_slowpath",
	"queued_read_lock_slowpath", "queued_write_lock_slowpath",
};

/* The module works without. */
void ls_spins_attach(void)
{
	u32 i, nr = 0;
	int rc = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		unsigned long at = ls_symbol(functions[i]);

		if (at && !ftrace_set_filter_ip(&slow, at, 0, !nr))
			nr++;
	}
	if (nr)
		rc = register_ftrace_function(&slow);
	attached = !rc;
	if (rc)
		pr_warn("CPUs that spin for each other are not seen before they do (%d)\n", rc);
}

void ls_spins_detach(void)
{
	if (attached)
		unregister_ftrace_function(&slow);
	attached = false;
	ftrace_free_filter(&slow);
}
