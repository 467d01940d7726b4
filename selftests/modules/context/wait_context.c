// SPDX-License-Identifier: GPL-2.0
/*
 * Locks that sleep, taken under locks that spin. They are free, so nothing really sleeps.
 * Trying is allowed, and so is the other order.
 */
#include <linux/in.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/ww_mutex.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "selftest.h"

static DEFINE_SPINLOCK(wait_mutex_s);
static DEFINE_MUTEX(wait_mutex_m);
LS_NESTS(wait_mutex_under, wait_mutex_s, spin_lock, spin_unlock,
	 wait_mutex_m, mutex_lock, mutex_unlock)

static DEFINE_SPINLOCK(wait_mutex_ok_s);
static DEFINE_MUTEX(wait_mutex_ok_m);
LS_NESTS(wait_mutex_ok_over, wait_mutex_ok_m, mutex_lock, mutex_unlock,
	 wait_mutex_ok_s, spin_lock, spin_unlock)

/* Between two mutexes, and with interrupts off. */
static DEFINE_MUTEX(wait_between_m);
static DEFINE_MUTEX(wait_between_n);
static DEFINE_SPINLOCK(wait_between_s);

static __side void wait_between_three(void)
{
	unsigned long flags;

	mutex_lock(&wait_between_m);
	spin_lock_irqsave(&wait_between_s, flags);
	mutex_lock(&wait_between_n);
	mutex_unlock(&wait_between_n);
	spin_unlock_irqrestore(&wait_between_s, flags);
	mutex_unlock(&wait_between_m);
}

static DEFINE_MUTEX(wait_between_ok_m);
static DEFINE_MUTEX(wait_between_ok_n);
static DEFINE_SPINLOCK(wait_between_ok_s);

static __side void wait_between_ok_three(void)
{
	unsigned long flags;

	mutex_lock(&wait_between_ok_m);
	spin_lock_irqsave(&wait_between_ok_s, flags);
	spin_unlock_irqrestore(&wait_between_ok_s, flags);
	mutex_lock(&wait_between_ok_n);
	mutex_unlock(&wait_between_ok_n);
	mutex_unlock(&wait_between_ok_m);
}

static DEFINE_RAW_SPINLOCK(wait_killable_s);
static DEFINE_MUTEX(wait_killable_m);

static __side void wait_killable_under(void)
{
	raw_spin_lock(&wait_killable_s);
	ls_require(!mutex_lock_killable(&wait_killable_m));
	mutex_unlock(&wait_killable_m);
	raw_spin_unlock(&wait_killable_s);
}

static DEFINE_RAW_SPINLOCK(wait_killable_ok_s);
static DEFINE_MUTEX(wait_killable_ok_m);

static __side void wait_killable_ok_under(void)
{
	raw_spin_lock(&wait_killable_ok_s);
	ls_require(mutex_trylock(&wait_killable_ok_m));
	mutex_unlock(&wait_killable_ok_m);
	raw_spin_unlock(&wait_killable_ok_s);
}

static DEFINE_RWLOCK(wait_read_s);
static DECLARE_RWSEM(wait_read_r);
LS_NESTS(wait_read_under, wait_read_s, read_lock, read_unlock, wait_read_r, down_read, up_read)

static DEFINE_RWLOCK(wait_read_ok_s);
static DECLARE_RWSEM(wait_read_ok_r);
LS_NESTS(wait_read_ok_over, wait_read_ok_r, down_read, up_read,
	 wait_read_ok_s, read_lock, read_unlock)

static DEFINE_RWLOCK(wait_write_s);
static DECLARE_RWSEM(wait_write_w);
LS_NESTS(wait_write_under, wait_write_s, write_lock_bh, write_unlock_bh,
	 wait_write_w, down_write, up_write)

static DEFINE_RWLOCK(wait_write_ok_s);
static DECLARE_RWSEM(wait_write_ok_w);

static __side void wait_write_ok_under(void)
{
	write_lock_bh(&wait_write_ok_s);
	ls_require(down_write_trylock(&wait_write_ok_w));
	up_write(&wait_write_ok_w);
	write_unlock_bh(&wait_write_ok_s);
}

static DEFINE_SPINLOCK(wait_sem_s);
static struct semaphore wait_sem_d = __SEMAPHORE_INITIALIZER(wait_sem_d, 1);
LS_NESTS(wait_sem_under, wait_sem_s, spin_lock, spin_unlock, wait_sem_d, down, up)

static DEFINE_SPINLOCK(wait_sem_ok_s);
static struct semaphore wait_sem_ok_d = __SEMAPHORE_INITIALIZER(wait_sem_ok_d, 1);

static __side void wait_sem_ok_under(void)
{
	spin_lock(&wait_sem_ok_s);
	ls_require(!down_trylock(&wait_sem_ok_d));
	up(&wait_sem_ok_d);
	spin_unlock(&wait_sem_ok_s);
}

static DEFINE_SPINLOCK(wait_rtmutex_s);
static DEFINE_RT_MUTEX(wait_rtmutex_r);
LS_NESTS(wait_rtmutex_under, wait_rtmutex_s, spin_lock, spin_unlock,
	 wait_rtmutex_r, rt_mutex_lock, rt_mutex_unlock)

static DEFINE_SPINLOCK(wait_rtmutex_ok_s);
static DEFINE_RT_MUTEX(wait_rtmutex_ok_r);
LS_NESTS(wait_rtmutex_ok_over, wait_rtmutex_ok_r, rt_mutex_lock, rt_mutex_unlock,
	 wait_rtmutex_ok_s, spin_lock, spin_unlock)

static DEFINE_WW_CLASS(wait_ww_class);
static DEFINE_SPINLOCK(wait_ww_s);
static struct ww_mutex wait_ww_w;

static int wait_ww_setup(void)
{
	ww_mutex_init(&wait_ww_w, &wait_ww_class);
	return 0;
}

static __side void wait_ww_under(void)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &wait_ww_class);
	spin_lock(&wait_ww_s);
	ls_require(!ww_mutex_lock(&wait_ww_w, &ctx));
	ww_mutex_unlock(&wait_ww_w);
	spin_unlock(&wait_ww_s);
	ww_acquire_fini(&ctx);
}

static DEFINE_WW_CLASS(wait_ww_ok_class);
static DEFINE_SPINLOCK(wait_ww_ok_s);
static struct ww_mutex wait_ww_ok_w;

static int wait_ww_ok_setup(void)
{
	ww_mutex_init(&wait_ww_ok_w, &wait_ww_ok_class);
	return 0;
}

static __side void wait_ww_ok_under(void)
{
	struct ww_acquire_ctx ctx;

	ww_acquire_init(&ctx, &wait_ww_ok_class);
	spin_lock(&wait_ww_ok_s);
	ls_require(ww_mutex_trylock(&wait_ww_ok_w, &ctx));
	ww_mutex_unlock(&wait_ww_ok_w);
	spin_unlock(&wait_ww_ok_s);
	ww_acquire_fini(&ctx);
}

/* All sockets of a protocol share a class: two protocols that are not used otherwise here. */
static struct socket *wait_sock_socket;
static DEFINE_SPINLOCK(wait_sock_s);

static int wait_sock_setup(void)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_RAW, IPPROTO_RAW, &wait_sock_socket);
}

static void wait_sock_teardown(void)
{
	if (wait_sock_socket)
		sock_release(wait_sock_socket);
	wait_sock_socket = NULL;
}

static __side void wait_sock_under(void)
{
	spin_lock(&wait_sock_s);
	lock_sock(wait_sock_socket->sk);
	release_sock(wait_sock_socket->sk);
	spin_unlock(&wait_sock_s);
}

static struct socket *wait_sock_ok_socket;
static DEFINE_SPINLOCK(wait_sock_ok_s);

static int wait_sock_ok_setup(void)
{
	return sock_create_kern(&init_net, AF_UNIX, SOCK_DGRAM, 0, &wait_sock_ok_socket);
}

static void wait_sock_ok_teardown(void)
{
	if (wait_sock_ok_socket)
		sock_release(wait_sock_ok_socket);
	wait_sock_ok_socket = NULL;
}

static __side void wait_sock_ok_over(void)
{
	lock_sock(wait_sock_ok_socket->sk);
	spin_lock(&wait_sock_ok_s);
	spin_unlock(&wait_sock_ok_s);
	release_sock(wait_sock_ok_socket->sk);
}

const struct ls_case verdict_wait_cases[] = {
	{ "wait_mutex", LS_FAULT, LS_WAIT_CONTEXT, "mutex under a spinlock",
	  "wait_mutex_m", .side = { { wait_mutex_under } } },
	{ "wait_mutex_ok", LS_TWIN, LS_WAIT_CONTEXT, "spinlock under a mutex",
	  "wait_mutex_ok_m", .side = { { wait_mutex_ok_over } } },
	{ "wait_between", LS_FAULT, LS_WAIT_CONTEXT, "mutex, spinlock with interrupts off, mutex",
	  "wait_between_n", .side = { { wait_between_three } } },
	{ "wait_between_ok", LS_TWIN, LS_WAIT_CONTEXT, "the spinlock is left before the second mutex",
	  "wait_between_ok_n", .side = { { wait_between_ok_three } } },
	{ "wait_killable", LS_FAULT, LS_WAIT_CONTEXT, "mutex_lock_killable under a raw spinlock",
	  "wait_killable_m", .side = { { wait_killable_under } } },
	{ "wait_killable_ok", LS_TWIN, LS_WAIT_CONTEXT, "mutex_trylock under a raw spinlock",
	  "wait_killable_ok_m", .side = { { wait_killable_ok_under } } },
	{ "wait_read", LS_FAULT, LS_WAIT_CONTEXT, "down_read under read_lock",
	  "wait_read_r", .side = { { wait_read_under } } },
	{ "wait_read_ok", LS_TWIN, LS_WAIT_CONTEXT, "read_lock under down_read",
	  "wait_read_ok_r", .side = { { wait_read_ok_over } } },
	{ "wait_write", LS_FAULT, LS_WAIT_CONTEXT, "down_write under write_lock_bh",
	  "wait_write_w", .side = { { wait_write_under } } },
	{ "wait_write_ok", LS_TWIN, LS_WAIT_CONTEXT, "down_write_trylock under write_lock_bh",
	  "wait_write_ok_w", .side = { { wait_write_ok_under } } },
	{ "wait_sem", LS_FAULT, LS_WAIT_CONTEXT, "down under a spinlock",
	  "wait_sem_d", .side = { { wait_sem_under } } },
	{ "wait_sem_ok", LS_TWIN, LS_WAIT_CONTEXT, "down_trylock under a spinlock",
	  "wait_sem_ok_d", .side = { { wait_sem_ok_under } } },
	{ "wait_rtmutex", LS_FAULT, LS_WAIT_CONTEXT, "rt_mutex under a spinlock",
	  "wait_rtmutex_r", .side = { { wait_rtmutex_under } } },
	{ "wait_rtmutex_ok", LS_TWIN, LS_WAIT_CONTEXT, "spinlock under an rt_mutex",
	  "wait_rtmutex_ok_r", .side = { { wait_rtmutex_ok_over } } },
	{ "wait_ww", LS_FAULT, LS_WAIT_CONTEXT, "ww_mutex with a context under a spinlock",
	  "wait_ww_w", .setup = wait_ww_setup, .side = { { wait_ww_under } } },
	{ "wait_ww_ok", LS_TWIN, LS_WAIT_CONTEXT, "ww_mutex_trylock under a spinlock",
	  "wait_ww_ok_w", .setup = wait_ww_ok_setup, .side = { { wait_ww_ok_under } } },
	{ "wait_sock", LS_FAULT, LS_WAIT_CONTEXT, "lock_sock under a spinlock", "",
	  .setup = wait_sock_setup, .teardown = wait_sock_teardown,
	  .side = { { wait_sock_under } } },
	{ "wait_sock_ok", LS_TWIN, LS_WAIT_CONTEXT, "spinlock under lock_sock", "",
	  .setup = wait_sock_ok_setup, .teardown = wait_sock_ok_teardown,
	  .side = { { wait_sock_ok_over } } },
	{ }
};
