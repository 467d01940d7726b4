// SPDX-License-Identifier: GPL-2.0
/*
 * Runs lockdep's suite, queries LockScope after each case, and keeps the matrix and one line
 * for each case in debugfs until the module is unloaded.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "abi.h"
#include "control.h"
#include "suite.h"

#define MATRIX_BYTES (64 << 10)
#define CASES_BYTES (128 << 10)

static bool trace;
module_param(trace, bool, 0444);
MODULE_PARM_DESC(trace, "name each case in the kernel log before it runs (default: N)");

/*
 * Cases that cannot be distinguished from correct code in the binary of a kernel without lock
 * debugging. They run, but do not count.
 */
#define WHY_RAW "raw_spinlock_t and spinlock_t are taken by one and the same function"
#define WHY_RECLAIM "fs_reclaim_acquire() and might_alloc() leave nothing in the binary"
#define WHY_DONE "ww_acquire_done() leaves nothing in the binary"
#define WHY_FINI "ww_acquire_fini() leaves nothing in the binary"
#define WHY_SLOW "ww_mutex_lock_slow() is ww_mutex_lock() in the binary"
#define WHY_CLASS "neither ww_mutex nor acquire context has a member that tells its class"

static struct {
	const char *function, *why;
	bool seen;
} not_expressible[] = {
	{ "SPINLOCK_in_NOTTHREADED_HARDIRQ", WHY_RAW },
	{ "SPINLOCK_in_RCU_SCHED", WHY_RAW },
	{ "SPINLOCK_in_RAW_SPINLOCK", WHY_RAW },
	{ "fs_reclaim_correct_nesting", WHY_RECLAIM },
	{ "fs_reclaim_wrong_nesting", WHY_RECLAIM },
	{ "fs_reclaim_protected_nesting", WHY_RECLAIM },
	{ "ww_test_unneeded_slow", WHY_SLOW },
	{ "ww_test_diff_class", WHY_CLASS },
	{ "ww_test_context_done_twice", WHY_DONE },
	{ "ww_test_context_fini_early", WHY_FINI },
	{ "ww_test_context_lock_after_done", WHY_DONE },
};

struct text {
	struct debugfs_blob_wrapper blob;
	size_t room;
};

static struct text matrix = { .room = MATRIX_BYTES };
static struct text cases = { .room = CASES_BYTES };
static struct dentry *folder;
static DECLARE_COMPLETION(done);

/* The case that runs or has run last. */
static struct {
	char function[64];
	char row[48];
	const char *why;	/* not expressible, because */
	int expected;		/* 1: is to be silent */
	u32 findings;		/* before it */
	bool unknown;		/* no verdict yet */
	bool over;		/* it was the last one */
} now;

/* 1: LockScope has found nothing. */
static int verdict = 1;

static void add(struct text *t, const char *fmt, va_list args)
{
	char *to = t->blob.data + t->blob.size;

	t->blob.size += vscnprintf(to, t->room - t->blob.size, fmt, args);
}

__printf(2, 3) static void addf(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(t, fmt, args);
	va_end(args);
}

/* printk(): a line begins. */
void suite_print(const char *fmt, ...)
{
	const char *text = matrix.blob.data;
	va_list args;

	/* What comes after the last case counts by other rules; only it begins a line so. */
	now.over = now.over || (now.function[0] && fmt[0] == '-');
	if (now.over)
		return;
	if (matrix.blob.size && text[matrix.blob.size - 1] != '\n')
		addf(&matrix, "\n");
	va_start(args, fmt);
	add(&matrix, fmt, args);
	va_end(args);

	/* As print_testname() does it; all other lines are constant. */
	if (!strcmp(fmt, "%33s:")) {
		va_start(args, fmt);
		strscpy(now.row, va_arg(args, const char *), sizeof(now.row));
		va_end(args);
	}
}

static void end_case(void)
{
	const char *result = "right", *cell = "  ok  |";

	if (now.why) {
		result = "na";
		cell = " n/a  |";
	} else if (verdict && !now.expected) {
		result = "missed";
		cell = "MISSED|";
	} else if (!verdict && now.expected) {
		result = "false";
		cell = "FALSE |";
	}
	addf(&matrix, "%s", cell);
	addf(&cases, "%s\t%s\t%s\t%s\t%s\n", result, now.expected ? "silent" : "report",
	     now.function, now.row, now.why ?: "");
}

void suite_print_cont(const char *fmt, ...)
{
	va_list args;

	if (now.over)
		return;
	/* How dotest() ends. */
	if (!strcmp(fmt, "  ok  |") || !strcmp(fmt, "FAILED|")) {
		end_case();
		return;
	}
	va_start(args, fmt);
	add(&matrix, fmt, args);
	va_end(args);
}

void suite_keep_count(void)
{
	if (!preempt_count())
		preempt_count_inc();
}

static const char *why_not(const char *function)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(not_expressible); i++) {
		/* Which names of locks in them are in capitals differs from kernel to kernel. */
		if (strcasecmp(function, not_expressible[i].function))
			continue;
		not_expressible[i].seen = true;
		return not_expressible[i].why;
	}
	return NULL;
}

/* Cases named above that the suite does not have. */
static void list_stale(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(not_expressible); i++)
		if (!not_expressible[i].seen)
			addf(&cases, "stale\t\t%s\t\t\n", not_expressible[i].function);
}

int *suite_before_case(void (*fn)(void), int expected)
{
	static int silent;

	if (!fn)
		return &silent;
	/* "name [module]" */
	snprintf(now.function, sizeof(now.function), "%ps", fn);
	now.function[strcspn(now.function, " ")] = '\0';
	now.why = why_not(now.function);
	now.expected = expected;
	now.unknown = true;
	if (trace)
		pr_info("case %s\n", now.function);

	lockscope_set_rules(true, force_read_lock_recursive);
	lockscope_control(LS_CTL_FLUSH);
	now.findings = lockscope_findings();
	lockscope_forget_held();
	return &silent;
}

int *suite_verdict(void)
{
	if (!now.unknown)
		return &verdict;
	now.unknown = false;

	/* Locks are still held, and the context may be anything. */
	lockscope_forget_held();
	if (irqs_disabled())
		local_irq_enable();
	preempt_count_set(0);

	lockscope_control(LS_CTL_FLUSH);
	verdict = lockscope_findings() == now.findings;
	/*
	 * Here and not before the next case: reset_locks() is called in between and defines
	 * which locks are of one class.
	 */
	lockscope_control(LS_CTL_RESET);
	return &verdict;
}

static int run(void *data)
{
	lockscope_control(LS_CTL_RESET);
	suite_run();
	list_stale();
	lockscope_set_rules(false, false);
	kthread_complete_and_exit(&done, 0);
}

static int __init ls_lockdep_init(void)
{
	struct task_struct *task;
	int err = -ENOMEM;

	matrix.blob.data = vzalloc(matrix.room);
	cases.blob.data = vzalloc(cases.room);
	if (!matrix.blob.data || !cases.blob.data)
		goto fail;

	/* One CPU: the suite plays the interrupts of the CPU it runs on. */
	task = kthread_create_on_cpu(run, NULL, 0, "ls_lockdep");
	if (IS_ERR(task)) {
		err = PTR_ERR(task);
		goto fail;
	}
	wake_up_process(task);
	wait_for_completion(&done);

	folder = debugfs_create_dir("lockscope_lockdep", NULL);
	debugfs_create_blob("matrix", 0400, folder, &matrix.blob);
	debugfs_create_blob("cases", 0400, folder, &cases.blob);
	return 0;
fail:
	vfree(matrix.blob.data);
	vfree(cases.blob.data);
	return err;
}

static void __exit ls_lockdep_exit(void)
{
	debugfs_remove(folder);
	vfree(matrix.blob.data);
	vfree(cases.blob.data);
}

module_init(ls_lockdep_init);
module_exit(ls_lockdep_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("lockdep's selftest with LockScope as the judge");
