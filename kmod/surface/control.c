// SPDX-License-Identifier: GPL-2.0
/* What lockscope.ko exports for test suites that run inside the kernel. */
#include <linux/export.h>
#include <linux/preempt.h>

#include "base/preempt.h"
#include "control.h"
#include "core/context.h"
#include "core/prims.h"
#include "core/state.h"
#include "out/out.h"

int lockscope_control(u32 op)
{
	return ls_worker_control(op);
}
EXPORT_SYMBOL_GPL(lockscope_control);

u32 lockscope_findings(void)
{
	return ls_worker_findings();
}
EXPORT_SYMBOL_GPL(lockscope_findings);

void lockscope_set_rules(bool strict, bool recursive_reads)
{
	WRITE_ONCE(ls_strict, strict);
	ls_prims_readers(recursive_reads ? LS_RECURSIVE : LS_SHARED);
}
EXPORT_SYMBOL_GPL(lockscope_set_rules);

void lockscope_forget_held(void)
{
	struct ls_cpu *pc;
	u32 i;

	preempt_disable_notrace();
	pc = this_cpu_ptr(&ls_cpus);
	/* While nothing is recorded no task may become current. */
	if (ls_active)
		ls_held_clear(pc->cur == current ? pc->task : ls_ctx_fix(pc));
	for (i = 0; i < LS_NR_LEVELS - 1; i++)
		ls_held_clear(&pc->level[i]);
	pc->tail = 0;
	ls_leave();
}
EXPORT_SYMBOL_GPL(lockscope_forget_held);
