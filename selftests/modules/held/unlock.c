// SPDX-License-Identifier: GPL-2.0
/*
 * Unlocks of locks that are not held, or are held by another context. The damage to the lock
 * on a kernel that does not check is repaired here at once.
 *
 * The unlock of a spinlock enables preemption: each one too many has a
 * preempt_disable() before it.
 */
#include <linux/atomic.h>
#include <linux/in.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/preempt.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "selftest.h"

static DEFINE_SPINLOCK(dbl_spin_s);

static __side void dbl_spin_task(void)
{
	spin_lock(&dbl_spin_s);
	spin_unlock(&dbl_spin_s);
	preempt_disable();
	spin_unlock(&dbl_spin_s);
}

static DEFINE_SPINLOCK(dbl_spin_ok_s);

static __side void dbl_spin_ok_task(void)
{
	spin_lock(&dbl_spin_ok_s);
	spin_unlock(&dbl_spin_ok_s);
	preempt_disable();
	preempt_enable();
}

/* The error path leaves, and the common end leaves again. */
static DEFINE_SPINLOCK(dbl_irq_s);

static __side void dbl_irq_task(void)
{
	unsigned long flags;

	spin_lock_irqsave(&dbl_irq_s, flags);
	spin_unlock_irqrestore(&dbl_irq_s, flags);
	preempt_disable();
	spin_unlock_irqrestore(&dbl_irq_s, flags);
}

static DEFINE_SPINLOCK(dbl_irq_ok_s);

static __side void dbl_irq_ok_task(void)
{
	unsigned long flags;

	spin_lock_irqsave(&dbl_irq_ok_s, flags);
	spin_unlock(&dbl_irq_ok_s);
	preempt_disable();
	spin_lock(&dbl_irq_ok_s);
	spin_unlock_irqrestore(&dbl_irq_ok_s, flags);
	preempt_enable();
}

static DEFINE_RWLOCK(dbl_read_r);

static __side void dbl_read_task(void)
{
	read_lock(&dbl_read_r);
	read_unlock(&dbl_read_r);
	preempt_disable();
	read_unlock(&dbl_read_r);
	atomic_set(&dbl_read_r.raw_lock.cnts, 0);
}

static DEFINE_RWLOCK(dbl_read_ok_r);

static __side void dbl_read_ok_task(void)
{
	read_lock(&dbl_read_ok_r);
	read_unlock(&dbl_read_ok_r);
	read_lock(&dbl_read_ok_r);
	read_unlock(&dbl_read_ok_r);
}

static DEFINE_RWLOCK(dbl_write_r);

static __side void dbl_write_task(void)
{
	write_lock_irq(&dbl_write_r);
	write_unlock_irq(&dbl_write_r);
	preempt_disable();
	write_unlock(&dbl_write_r);
}

static DEFINE_RWLOCK(dbl_write_ok_r);

static __side void dbl_write_ok_task(void)
{
	write_lock_irq(&dbl_write_ok_r);
	write_unlock_irq(&dbl_write_ok_r);
	write_lock(&dbl_write_ok_r);
	write_unlock(&dbl_write_ok_r);
}

static DEFINE_MUTEX(dbl_mutex_m);

static __side void dbl_mutex_task(void)
{
	mutex_lock(&dbl_mutex_m);
	mutex_unlock(&dbl_mutex_m);
	mutex_unlock(&dbl_mutex_m);
}

/* The second attempt is got by trying. */
static DEFINE_MUTEX(dbl_mutex_ok_m);

static __side void dbl_mutex_ok_task(void)
{
	mutex_lock(&dbl_mutex_ok_m);
	mutex_unlock(&dbl_mutex_ok_m);
	if (mutex_trylock(&dbl_mutex_ok_m))
		mutex_unlock(&dbl_mutex_ok_m);
}

/* Never acquired: for instance, a failure of the lock function was ignored. */
static DEFINE_MUTEX(dbl_never_m);

static __side void dbl_never_task(void)
{
	mutex_unlock(&dbl_never_m);
}

static DEFINE_MUTEX(dbl_never_ok_m);
LS_TAKES(dbl_never_ok_task, dbl_never_ok_m, mutex_lock, mutex_unlock)

static DECLARE_RWSEM(dbl_upread_r);

static __side void dbl_upread_task(void)
{
	down_read(&dbl_upread_r);
	up_read(&dbl_upread_r);
	up_read(&dbl_upread_r);
	atomic_long_set(&dbl_upread_r.count, 0);
}

static DECLARE_RWSEM(dbl_upread_ok_r);

static __side void dbl_upread_ok_task(void)
{
	down_write(&dbl_upread_ok_r);
	downgrade_write(&dbl_upread_ok_r);
	up_read(&dbl_upread_ok_r);
	down_read(&dbl_upread_ok_r);
	up_read(&dbl_upread_ok_r);
}

static DECLARE_RWSEM(dbl_upwrite_w);

static __side void dbl_upwrite_task(void)
{
	down_write(&dbl_upwrite_w);
	up_write(&dbl_upwrite_w);
	up_write(&dbl_upwrite_w);
	atomic_long_set(&dbl_upwrite_w.count, 0);
}

static DECLARE_RWSEM(dbl_upwrite_ok_w);

static __side void dbl_upwrite_ok_task(void)
{
	down_write(&dbl_upwrite_ok_w);
	up_write(&dbl_upwrite_ok_w);
	if (down_write_trylock(&dbl_upwrite_ok_w))
		up_write(&dbl_upwrite_ok_w);
}

static DEFINE_RT_MUTEX(dbl_rtmutex_r);

static __side void dbl_rtmutex_task(void)
{
	rt_mutex_lock(&dbl_rtmutex_r);
	rt_mutex_unlock(&dbl_rtmutex_r);
	rt_mutex_unlock(&dbl_rtmutex_r);
}

static DEFINE_RT_MUTEX(dbl_rtmutex_ok_r);

static __side void dbl_rtmutex_ok_task(void)
{
	rt_mutex_lock(&dbl_rtmutex_ok_r);
	rt_mutex_unlock(&dbl_rtmutex_ok_r);
	if (rt_mutex_trylock(&dbl_rtmutex_ok_r))
		rt_mutex_unlock(&dbl_rtmutex_ok_r);
}

/*
 * Another task has it. In the faults that task finds it gone and leaves it; in
 * the twins it gives it back itself.
 */
static DEFINE_MUTEX(bad_mutex_m);

static void bad_mutex_take(void)
{
	mutex_lock(&bad_mutex_m);
}

static void bad_mutex_gone(void)
{
	ls_require(!mutex_is_locked(&bad_mutex_m));
}

static __side void bad_mutex_other(void)
{
	struct ls_holder *holder = ls_hold(bad_mutex_take, bad_mutex_gone);

	mutex_unlock(&bad_mutex_m);
	ls_unhold(holder);
}

static DEFINE_MUTEX(bad_mutex_ok_m);

static void bad_mutex_ok_take(void)
{
	mutex_lock(&bad_mutex_ok_m);
}

static void bad_mutex_ok_give(void)
{
	mutex_unlock(&bad_mutex_ok_m);
}

static __side void bad_mutex_ok_other(void)
{
	struct ls_holder *holder = ls_hold(bad_mutex_ok_take, bad_mutex_ok_give);

	ls_require(!mutex_trylock(&bad_mutex_ok_m));
	ls_unhold(holder);
	mutex_lock(&bad_mutex_ok_m);
	mutex_unlock(&bad_mutex_ok_m);
}

static DEFINE_RT_MUTEX(bad_rtmutex_r);

static void bad_rtmutex_take(void)
{
	rt_mutex_lock(&bad_rtmutex_r);
}

static void bad_rtmutex_gone(void)
{
	ls_require(!rt_mutex_base_is_locked(&bad_rtmutex_r.rtmutex));
}

static __side void bad_rtmutex_other(void)
{
	struct ls_holder *holder = ls_hold(bad_rtmutex_take, bad_rtmutex_gone);

	rt_mutex_unlock(&bad_rtmutex_r);
	ls_unhold(holder);
}

static DEFINE_RT_MUTEX(bad_rtmutex_ok_r);

static void bad_rtmutex_ok_take(void)
{
	rt_mutex_lock(&bad_rtmutex_ok_r);
}

static void bad_rtmutex_ok_give(void)
{
	rt_mutex_unlock(&bad_rtmutex_ok_r);
}

static __side void bad_rtmutex_ok_other(void)
{
	struct ls_holder *holder = ls_hold(bad_rtmutex_ok_take, bad_rtmutex_ok_give);

	ls_require(!rt_mutex_trylock(&bad_rtmutex_ok_r));
	ls_unhold(holder);
}

/* A writer must release itself; readers of an rwsem may do it for each other. */
static DECLARE_RWSEM(bad_rwsem_w);

static void bad_rwsem_take(void)
{
	down_write(&bad_rwsem_w);
}

static void bad_rwsem_gone(void)
{
	ls_require(!rwsem_is_locked(&bad_rwsem_w));
}

static __side void bad_rwsem_other(void)
{
	struct ls_holder *holder = ls_hold(bad_rwsem_take, bad_rwsem_gone);

	up_write(&bad_rwsem_w);
	ls_unhold(holder);
}

static DECLARE_RWSEM(bad_rwsem_ok_w);

static void bad_rwsem_ok_take(void)
{
	down_read_non_owner(&bad_rwsem_ok_w);
}

static void bad_rwsem_ok_gone(void)
{
	ls_require(!rwsem_is_locked(&bad_rwsem_ok_w));
}

static __side void bad_rwsem_ok_other(void)
{
	struct ls_holder *holder = ls_hold(bad_rwsem_ok_take, bad_rwsem_ok_gone);

	up_read_non_owner(&bad_rwsem_ok_w);
	ls_unhold(holder);
}

/*
 * What is held when an error is made proves nothing, what is taken when all of that has
 * been released does: in chains that were known before as well as in new ones.
 */
static DEFINE_SPINLOCK(after_error_x);
static DEFINE_MUTEX(after_error_g);
static DEFINE_SPINLOCK(after_error_a);
static DEFINE_SPINLOCK(after_error_b);

static __side void make_error(void)
{
	spin_lock(&after_error_x);
	spin_unlock(&after_error_x);
	preempt_disable();
	spin_unlock(&after_error_x);
	/* Not as its last call: the error is this function's. */
	barrier();
}

static __side void after_error_ab(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		spin_lock(&after_error_a);
		if (i)
			spin_lock(&after_error_b);
		if (i)
			spin_unlock(&after_error_b);
		spin_unlock(&after_error_a);
		if (i)
			continue;
		mutex_lock(&after_error_g);
		make_error();
		mutex_unlock(&after_error_g);
	}
}

static __side void after_error_ba(void)
{
	spin_lock(&after_error_b);
	spin_lock(&after_error_a);
	spin_unlock(&after_error_a);
	spin_unlock(&after_error_b);
}

static DEFINE_MUTEX(after_error_ok_g);
static DEFINE_SPINLOCK(after_error_ok_a);
static DEFINE_SPINLOCK(after_error_ok_b);

static __side void after_error_ok_ab(void)
{
	mutex_lock(&after_error_ok_g);
	make_error();
	spin_lock(&after_error_ok_a);
	spin_lock(&after_error_ok_b);
	spin_unlock(&after_error_ok_b);
	spin_unlock(&after_error_ok_a);
	mutex_unlock(&after_error_ok_g);
}

static __side void after_error_ok_ba(void)
{
	spin_lock(&after_error_ok_b);
	spin_lock(&after_error_ok_a);
	spin_unlock(&after_error_ok_a);
	spin_unlock(&after_error_ok_b);
}

static struct socket *dbl_sock_socket;

static int dbl_sock_setup(void)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &dbl_sock_socket);
}

static void dbl_sock_teardown(void)
{
	if (dbl_sock_socket)
		sock_release(dbl_sock_socket);
	dbl_sock_socket = NULL;
}

/* The error path leaves, and the common end leaves again: the kernel itself does not mind. */
static __side void dbl_sock_task(void)
{
	lock_sock(dbl_sock_socket->sk);
	release_sock(dbl_sock_socket->sk);
	release_sock(dbl_sock_socket->sk);
	barrier();	/* no tail call: the place is here */
}

static __side void dbl_sock_ok_task(void)
{
	lock_sock(dbl_sock_socket->sk);
	release_sock(dbl_sock_socket->sk);
	lock_sock(dbl_sock_socket->sk);
	release_sock(dbl_sock_socket->sk);
	/* What is not contended is released without release_sock(). */
	unlock_sock_fast(dbl_sock_socket->sk, lock_sock_fast(dbl_sock_socket->sk));
}

const struct ls_case verdict_unlock_cases[] = {
	{ "dbl_spin", LS_FAULT, LS_DOUBLE_UNLOCK, "spin_unlock twice",
	  "dbl_spin_s", .side = { { dbl_spin_task } } },
	{ "dbl_spin_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "spin_unlock once",
	  "dbl_spin_ok_s", .side = { { dbl_spin_ok_task } } },
	{ "dbl_irq", LS_FAULT, LS_DOUBLE_UNLOCK, "spin_unlock_irqrestore twice",
	  "dbl_irq_s", .side = { { dbl_irq_task } } },
	{ "dbl_irq_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "spin_unlock, taken again, spin_unlock_irqrestore",
	  "dbl_irq_ok_s", .side = { { dbl_irq_ok_task } } },
	{ "dbl_read", LS_FAULT, LS_DOUBLE_UNLOCK, "read_unlock twice",
	  "dbl_read_r", .side = { { dbl_read_task } } },
	{ "dbl_read_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "read_unlock twice, and read_lock as well",
	  "dbl_read_ok_r", .side = { { dbl_read_ok_task } } },
	{ "dbl_write", LS_FAULT, LS_DOUBLE_UNLOCK, "write_unlock twice",
	  "dbl_write_r", .side = { { dbl_write_task } } },
	{ "dbl_write_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "write_unlock twice, and write_lock as well",
	  "dbl_write_ok_r", .side = { { dbl_write_ok_task } } },
	{ "dbl_mutex", LS_FAULT, LS_DOUBLE_UNLOCK, "mutex_unlock twice",
	  "dbl_mutex_m", .side = { { dbl_mutex_task } } },
	{ "dbl_mutex_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "mutex_unlock again after mutex_trylock",
	  "dbl_mutex_ok_m", .side = { { dbl_mutex_ok_task } } },
	{ "dbl_never", LS_FAULT, LS_DOUBLE_UNLOCK, "mutex_unlock of one never locked",
	  "dbl_never_m", .side = { { dbl_never_task } } },
	{ "dbl_never_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "mutex_unlock of one locked for the first time",
	  "dbl_never_ok_m", .side = { { dbl_never_ok_task } } },
	{ "dbl_upread", LS_FAULT, LS_DOUBLE_UNLOCK, "up_read twice",
	  "dbl_upread_r", .side = { { dbl_upread_task } } },
	{ "dbl_upread_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "up_read after downgrade_write, and again",
	  "dbl_upread_ok_r", .side = { { dbl_upread_ok_task } } },
	{ "dbl_upwrite", LS_FAULT, LS_DOUBLE_UNLOCK, "up_write twice",
	  "dbl_upwrite_w", .side = { { dbl_upwrite_task } } },
	{ "dbl_upwrite_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "up_write again after down_write_trylock",
	  "dbl_upwrite_ok_w", .side = { { dbl_upwrite_ok_task } } },
	{ "dbl_rtmutex", LS_FAULT, LS_DOUBLE_UNLOCK, "rt_mutex_unlock twice",
	  "dbl_rtmutex_r", .side = { { dbl_rtmutex_task } } },
	{ "dbl_rtmutex_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "rt_mutex_unlock again after rt_mutex_trylock",
	  "dbl_rtmutex_ok_r", .side = { { dbl_rtmutex_ok_task } } },
	{ "dbl_sock", LS_FAULT, LS_DOUBLE_UNLOCK, "release_sock twice",
	  "kind=socket", .setup = dbl_sock_setup, .teardown = dbl_sock_teardown,
	  .side = { { dbl_sock_task } } },
	{ "dbl_sock_ok", LS_TWIN, LS_DOUBLE_UNLOCK, "release_sock after each lock_sock, and lock_sock_fast",
	  "kind=socket", .setup = dbl_sock_setup, .teardown = dbl_sock_teardown,
	  .side = { { dbl_sock_ok_task } } },
	{ "bad_mutex", LS_FAULT, LS_BAD_UNLOCK, "mutex_unlock by another task",
	  "bad_mutex_m", .side = { { bad_mutex_other } } },
	{ "bad_mutex_ok", LS_TWIN, LS_BAD_UNLOCK, "mutex_unlock by each who locked it",
	  "bad_mutex_ok_m", .side = { { bad_mutex_ok_other } } },
	{ "bad_rtmutex", LS_FAULT, LS_BAD_UNLOCK, "rt_mutex_unlock by another task",
	  "bad_rtmutex_r", .side = { { bad_rtmutex_other } } },
	{ "bad_rtmutex_ok", LS_TWIN, LS_BAD_UNLOCK, "rt_mutex_unlock by the one who locked it",
	  "bad_rtmutex_ok_r", .side = { { bad_rtmutex_ok_other } } },
	{ "bad_rwsem", LS_FAULT, LS_BAD_UNLOCK, "up_write by another task",
	  "bad_rwsem_w", .side = { { bad_rwsem_other } } },
	{ "bad_rwsem_ok", LS_TWIN, LS_BAD_UNLOCK, "up_read_non_owner by another task",
	  "bad_rwsem_ok_w", .side = { { bad_rwsem_ok_other } } },
	{ "after_error", LS_FAULT, LS_CYCLE, "both orders, after an error and the release of what was held then",
	  "after_error_a after_error_b", .side = { { after_error_ab }, { after_error_ba } } },
	{ "after_error_ok", LS_TWIN, LS_CYCLE, "one of them under the lock that was held at the error",
	  "after_error_ok_a after_error_ok_b", .side = { { after_error_ok_ab }, { after_error_ok_ba } } },
	{ }
};
