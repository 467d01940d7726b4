// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets, distinguished as by lockdep's keys: the kernel's own and those of tasks, protocols
 * and families that share memory of one kind.
 */
#include <linux/in.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "roles.h"

#define ref_sk(socket) ((socket)->sk)

static noinline struct socket *ref_udp(int kernel)
{
	struct socket *socket;

	if (kernel ? sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &socket) :
		     sock_create(AF_INET, SOCK_DGRAM, IPPROTO_UDP, &socket))
		return NULL;
	return socket;
}

static DEFINE_MUTEX(ref_sock_l);
static DEFINE_MUTEX(ref_sock_ok_l);
ROLE_PAIR(ref_sock, struct socket, ref_udp, sock_release, 1, 1)
ROLE_PAIR(ref_sock_ok, struct socket, ref_udp, sock_release, 1, 0)
ROLE_SIDES(ref_sock, lock_sock, release_sock, ref_sk, mutex_lock, mutex_unlock)
ROLE_SIDES(ref_sock_ok, lock_sock, release_sock, ref_sk, mutex_lock, mutex_unlock)

/* All protocols of netlink have their sockets from one kmalloc(). */
static noinline struct socket *ref_netlink(int protocol)
{
	struct socket *socket;

	return sock_create(AF_NETLINK, SOCK_RAW, protocol, &socket) ? NULL : socket;
}

static DEFINE_MUTEX(ref_proto_l);
static DEFINE_MUTEX(ref_proto_ok_l);
ROLE_PAIR(ref_proto, struct socket, ref_netlink, sock_release, NETLINK_USERSOCK, NETLINK_USERSOCK)
ROLE_PAIR(ref_proto_ok, struct socket, ref_netlink, sock_release, NETLINK_USERSOCK, NETLINK_GENERIC)
ROLE_SIDES(ref_proto, lock_sock, release_sock, ref_sk, mutex_lock, mutex_unlock)
ROLE_SIDES(ref_proto_ok, lock_sock, release_sock, ref_sk, mutex_lock, mutex_unlock)

/* A protocol for two families, as the one of TCP is for sockets that were made one from another. */
static struct proto ref_protocol = {
	.name = "LSFAMILY",
	.owner = THIS_MODULE,
	.obj_size = sizeof(struct sock),
};
static unsigned int ref_nr_socks;

static noinline struct sock *ref_family_new(int family)
{
	struct sock *sk;

	if (!ref_nr_socks && proto_register(&ref_protocol, 1))
		return NULL;
	sk = sk_alloc(&init_net, family, GFP_KERNEL, &ref_protocol, 0);
	if (sk) {
		sock_init_data(NULL, sk);
		ref_nr_socks++;
	} else if (!ref_nr_socks) {
		proto_unregister(&ref_protocol);
	}
	return sk;
}

static void ref_family_free(struct sock *sk)
{
	sk_free(sk);
	if (!--ref_nr_socks)
		proto_unregister(&ref_protocol);
}

#define ref_itself(sk) (sk)

static DEFINE_MUTEX(ref_family_l);
static DEFINE_MUTEX(ref_family_ok_l);
ROLE_PAIR(ref_family, struct sock, ref_family_new, ref_family_free, AF_CAN, AF_CAN)
ROLE_PAIR(ref_family_ok, struct sock, ref_family_new, ref_family_free, AF_CAN, AF_TIPC)
ROLE_SIDES(ref_family, lock_sock, release_sock, ref_itself, mutex_lock, mutex_unlock)
ROLE_SIDES(ref_family_ok, lock_sock, release_sock, ref_itself, mutex_lock, mutex_unlock)

const struct ls_case verdict_sockets_cases[] = {
	ROLE_CASE(ref_sock, LS_FAULT, "two of the kernel's own sockets in both orders with a mutex",
		  "ref_sock_l kernel"),
	ROLE_CASE(ref_sock_ok, LS_TWIN, "one of the kernel's own, one of a task's", "ref_sock_ok_l"),
	ROLE_CASE(ref_proto, LS_FAULT, "two sockets of one protocol of netlink in both orders with a mutex",
		  "ref_proto_l netlink"),
	ROLE_CASE(ref_proto_ok, LS_TWIN, "sockets of two protocols of netlink", "ref_proto_ok_l"),
	ROLE_CASE(ref_family, LS_FAULT, "two sockets of one family in both orders with a mutex",
		  "ref_family_l can"),
	ROLE_CASE(ref_family_ok, LS_TWIN, "sockets of two families with one protocol", "ref_family_ok_l"),
	{ }
};
