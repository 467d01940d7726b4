// SPDX-License-Identifier: GPL-2.0
/* Hooks of wait queues, with waitqueues=1 only. Any context. */
#include <linux/hardirq.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "base/preempt.h"
#include "base/tracepoint.h"
#include "check/check.h"
#include "core/prims.h"
#include "core/state.h"
#include "hook/hook.h"

/* @frame: address of the return address @ip. */
void ls_hook_queue(unsigned long arg0, unsigned long arg1, unsigned long ip, unsigned long func5,
		   unsigned long frame)
{
	struct ls_cpu *pc;

	preempt_disable_notrace();
	if (unlikely(!ls_active))
		goto out;
	pc = this_cpu_ptr(&ls_cpus);
	switch (ls_desc_of(func5) & LS_OP_MASK) {
	case LS_OP_QUEUE:
		ls_queue_add(pc, arg0, arg1, ip, frame);
		break;
	case LS_OP_UNQUEUE:
		ls_queue_remove(pc, arg0);
		break;
	case LS_OP_SLEEP_FOR:
		if (arg0 != MAX_SCHEDULE_TIMEOUT)
			break;
		fallthrough;
	case LS_OP_SLEEP_ON:
		ls_queue_sleep(pc, ip, frame);
		break;
	case LS_OP_WAKE:
		ls_queue_wake(pc, arg0, ip);
		break;
	}
out:
	ls_leave();
}

static void on_waking(void *data, struct task_struct *task)
{
	if (!READ_ONCE(ls_active))
		return;
	preempt_disable_notrace();
	ls_queue_waking(task);
	ls_leave();
}

int ls_queues_attach(void)
{
	if (!ls_waitqueues)
		return 0;
	ls_waitqueues_init();
	return ls_tracepoint_attach("sched_waking", on_waking, NULL);
}

void ls_queues_detach(void)
{
	if (ls_waitqueues)
		ls_tracepoint_detach("sched_waking", on_waking, NULL);
}
