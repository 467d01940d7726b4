// SPDX-License-Identifier: GPL-2.0
/*
 * The socket lock: a spinlock and an owner flag that together behave like a
 * mutex. All sockets of a protocol share a class, so fault and twin use
 * protocols of their own.
 */
#include <linux/in.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "selftest.h"

static struct socket *abba_sock_socket;
static DEFINE_MUTEX(abba_sock_m);

static int abba_sock_setup(void)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &abba_sock_socket);
}

static void abba_sock_teardown(void)
{
	if (abba_sock_socket)
		sock_release(abba_sock_socket);
	abba_sock_socket = NULL;
}

static __side void abba_sock_sock_then_mutex(void)
{
	lock_sock(abba_sock_socket->sk);
	mutex_lock(&abba_sock_m);
	mutex_unlock(&abba_sock_m);
	release_sock(abba_sock_socket->sk);
}

static __side void abba_sock_mutex_then_sock(void)
{
	mutex_lock(&abba_sock_m);
	lock_sock(abba_sock_socket->sk);
	release_sock(abba_sock_socket->sk);
	mutex_unlock(&abba_sock_m);
}

static struct socket *abba_sock_ok_socket;
static DEFINE_MUTEX(abba_sock_ok_m);

static int abba_sock_ok_setup(void)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
				&abba_sock_ok_socket);
}

static void abba_sock_ok_teardown(void)
{
	if (abba_sock_ok_socket)
		sock_release(abba_sock_ok_socket);
	abba_sock_ok_socket = NULL;
}

static __side void abba_sock_ok_sock_then_mutex(void)
{
	lock_sock(abba_sock_ok_socket->sk);
	mutex_lock(&abba_sock_ok_m);
	mutex_unlock(&abba_sock_ok_m);
	release_sock(abba_sock_ok_socket->sk);
}

static __side void abba_sock_ok_apart(void)
{
	mutex_lock(&abba_sock_ok_m);
	mutex_unlock(&abba_sock_ok_m);
	lock_sock(abba_sock_ok_socket->sk);
	release_sock(abba_sock_ok_socket->sk);
}

/*
 * lock_sock_fast() only keeps the spinlock when the socket has no owner, and
 * unlock_sock_fast() releases what was acquired. The other side is what the receive path does:
 * the spinlock from inside another one.
 */
static struct socket *sock_fast_socket;
static DEFINE_SPINLOCK(sock_fast_l);

static int sock_fast_setup(void)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &sock_fast_socket);
}

static void sock_fast_teardown(void)
{
	if (sock_fast_socket)
		sock_release(sock_fast_socket);
	sock_fast_socket = NULL;
}

static __side void sock_fast_fast_then_spin(void)
{
	bool slow = lock_sock_fast(sock_fast_socket->sk);

	ls_require(!slow);
	spin_lock_bh(&sock_fast_l);
	spin_unlock_bh(&sock_fast_l);
	unlock_sock_fast(sock_fast_socket->sk, slow);
}

static __side void sock_fast_spin_then_sock(void)
{
	spin_lock_bh(&sock_fast_l);
	bh_lock_sock(sock_fast_socket->sk);
	bh_unlock_sock(sock_fast_socket->sk);
	spin_unlock_bh(&sock_fast_l);
}

static struct socket *sock_fast_ok_socket;
static DEFINE_MUTEX(sock_fast_ok_m);

static int sock_fast_ok_setup(void)
{
	return sock_create_kern(&init_net, AF_INET, SOCK_STREAM, IPPROTO_TCP,
				&sock_fast_ok_socket);
}

static void sock_fast_ok_teardown(void)
{
	if (sock_fast_ok_socket)
		sock_release(sock_fast_ok_socket);
	sock_fast_ok_socket = NULL;
}

/* Released on the fast path is released: no dependency from here. */
static __side void sock_fast_ok_apart(void)
{
	bool slow = lock_sock_fast(sock_fast_ok_socket->sk);

	ls_require(!slow);
	unlock_sock_fast(sock_fast_ok_socket->sk, slow);
	mutex_lock(&sock_fast_ok_m);
	mutex_unlock(&sock_fast_ok_m);
}

static __side void sock_fast_ok_mutex_then_sock(void)
{
	mutex_lock(&sock_fast_ok_m);
	lock_sock(sock_fast_ok_socket->sk);
	release_sock(sock_fast_ok_socket->sk);
	mutex_unlock(&sock_fast_ok_m);
}

const struct ls_case order_socket_cases[] = {
	{ "abba_sock", LS_FAULT, LS_CYCLE, "socket lock against a mutex",
	  "abba_sock_m",
	  .setup = abba_sock_setup, .teardown = abba_sock_teardown,
	  .side = { { abba_sock_sock_then_mutex }, { abba_sock_mutex_then_sock } } },
	{ "abba_sock_ok", LS_TWIN, LS_CYCLE, "socket lock before the mutex, one order",
	  "abba_sock_ok_m",
	  .setup = abba_sock_ok_setup, .teardown = abba_sock_ok_teardown,
	  .side = { { abba_sock_ok_sock_then_mutex }, { abba_sock_ok_apart } } },
	{ "sock_fast", LS_FAULT, LS_CYCLE, "lock_sock_fast against a spinlock held by the receive side",
	  "sock_fast_l",
	  .setup = sock_fast_setup, .teardown = sock_fast_teardown,
	  .side = { { sock_fast_fast_then_spin }, { sock_fast_spin_then_sock } } },
	{ "sock_fast_ok", LS_TWIN, LS_CYCLE, "lock_sock_fast given back before the mutex is taken",
	  "sock_fast_ok_m",
	  .setup = sock_fast_ok_setup, .teardown = sock_fast_ok_teardown,
	  .side = { { sock_fast_ok_apart }, { sock_fast_ok_mutex_then_sock } } },
	{ }
};
