// SPDX-License-Identifier: GPL-2.0
/*
 * Newer locktorture binds its tasks by a function that the kernel has only when
 * it is built with torture tests. Some kernels give it a third argument, which says
 * whether to warn.
 */
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

long torture_sched_setaffinity(pid_t pid, const struct cpumask *mask);
long torture_sched_setaffinity(pid_t pid, const struct cpumask *mask)
{
	struct task_struct *task;
	long rc = -ESRCH;

	rcu_read_lock();
	task = pid_task(find_vpid(pid), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	if (task) {
		rc = set_cpus_allowed_ptr(task, mask);
		put_task_struct(task);
	}
	return rc;
}
EXPORT_SYMBOL_GPL(torture_sched_setaffinity);
