// SPDX-License-Identifier: GPL-2.0
/*
 * Access to user memory that is not there yet. The fault sleeps where it may;
 * elsewhere the access fails, and only then. These sides run in the task that
 * wrote to debugfs, with a fresh page of its memory each.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

#include "selftest.h"

static unsigned long user_page;

static int user_page_setup(void)
{
	user_page = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_ANONYMOUS | MAP_PRIVATE, 0);
	return IS_ERR_VALUE(user_page) ? (int)user_page : 0;
}

static void user_page_teardown(void)
{
	if (!IS_ERR_VALUE(user_page))
		vm_munmap(user_page, PAGE_SIZE);
}

static DEFINE_SPINLOCK(copy_spin_s);

static __side void copy_spin_caller(void)
{
	char text[16];

	spin_lock(&copy_spin_s);
	ls_require(copy_from_user(text, (void __user *)user_page, sizeof(text)));
	spin_unlock(&copy_spin_s);
}

static DEFINE_SPINLOCK(copy_spin_ok_s);

static __side void copy_spin_ok_caller(void)
{
	char text[16];

	ls_require(!copy_from_user(text, (void __user *)user_page, sizeof(text)));
	spin_lock(&copy_spin_ok_s);
	spin_unlock(&copy_spin_ok_s);
}

/* With page faults off it fails on purpose. */
static __side void copy_preempt_caller(void)
{
	preempt_disable();
	ls_require(put_user(1, (int __user *)user_page));
	preempt_enable();
}

static __side void copy_preempt_ok_caller(void)
{
	preempt_disable();
	pagefault_disable();
	ls_require(put_user(1, (int __user *)user_page));
	pagefault_enable();
	preempt_enable();
}

/* Nothing stops this fault from being served, within the read side. */
static __side void copy_rcu_caller(void)
{
	char text[16] = "";

	rcu_read_lock();
	ls_require(!copy_to_user((void __user *)user_page, text, sizeof(text)));
	rcu_read_unlock();
}

static __side void copy_rcu_ok_caller(void)
{
	char text[16] = "";

	rcu_read_lock();
	rcu_read_unlock();
	ls_require(!copy_to_user((void __user *)user_page, text, sizeof(text)));
}

const struct ls_case verdict_user_copy_cases[] = {
	{ "copy_spin", LS_FAULT, LS_SLEEP_ATOMIC, "copy_from_user faults under a spinlock",
	  "copy_spin_s", .setup = user_page_setup, .teardown = user_page_teardown,
	  .side = { { copy_spin_caller, LS_CALLER } } },
	{ "copy_spin_ok", LS_TWIN, LS_SLEEP_ATOMIC, "copy_from_user faults before the spinlock",
	  "copy_spin_ok_s", .setup = user_page_setup, .teardown = user_page_teardown,
	  .side = { { copy_spin_ok_caller, LS_CALLER } } },
	{ "copy_preempt", LS_FAULT, LS_SLEEP_ATOMIC, "put_user faults with preemption off", "",
	  .setup = user_page_setup, .teardown = user_page_teardown,
	  .side = { { copy_preempt_caller, LS_CALLER } } },
	{ "copy_preempt_ok", LS_TWIN, LS_SLEEP_ATOMIC, "put_user with page faults off", "",
	  .setup = user_page_setup, .teardown = user_page_teardown,
	  .side = { { copy_preempt_ok_caller, LS_CALLER } } },
	{ "copy_rcu", LS_FAULT, LS_SLEEP_ATOMIC, "copy_to_user faults in an RCU read side", "",
	  .setup = user_page_setup, .teardown = user_page_teardown,
	  .side = { { copy_rcu_caller, LS_CALLER } } },
	{ "copy_rcu_ok", LS_TWIN, LS_SLEEP_ATOMIC, "copy_to_user faults after an RCU read side", "",
	  .setup = user_page_setup, .teardown = user_page_teardown,
	  .side = { { copy_rcu_ok_caller, LS_CALLER } } },
	{ }
};
