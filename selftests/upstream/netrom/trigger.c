// SPDX-License-Identifier: GPL-2.0
/*
 * trigger DEVICE once | trigger DEVICE SECONDS: routes of NET/ROM come and go while others grow
 * old. With "once" the one is done before the other begins.
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/netrom.h>

#ifndef SIOCADDRT
#define SIOCADDRT 0x890B
#define SIOCDELRT 0x890C
#endif

static int sock;
static struct nr_route_struct route;
static time_t end;

/* As AX.25 writes call signs: six characters, each shifted by one bit, and a number. */
static void call_sign(ax25_address *a, const char *name)
{
	for (int i = 0; i < 6; i++)
		a->ax25_call[i] = name[i] << 1;
	a->ax25_call[6] = 0;
}

static void ask(unsigned long what, void *arg)
{
	if (ioctl(sock, what, arg))
		err(1, "ioctl %#lx", what);
}


static void come(void)
{
	ask(SIOCADDRT, &route);
}

static void go(void)
{
	ask(SIOCDELRT, &route);
}

static void grow_old(void)
{
	ask(SIOCNRDECOBS, NULL);
}

static void *routes(void *unused)
{
	while (time(NULL) < end) {
		come();
		usleep(2000);
		go();
	}
	return unused;
}

static void *ages(void *unused)
{
	while (time(NULL) < end) {
		grow_old();
		usleep(1000);
	}
	return unused;
}

/* In a thread of its own, which has ended afterwards. */
static void apart(void *(*side)(void *))
{
	pthread_t thread;

	end = time(NULL) + 1;
	if (pthread_create(&thread, NULL, side, NULL) || pthread_join(thread, NULL))
		err(1, "thread");
}

int main(int argc, char **argv)
{
	pthread_t one, other;

	if (argc != 3)
		errx(2, "usage: trigger DEVICE once|SECONDS");
	sock = socket(AF_NETROM, SOCK_SEQPACKET, 0);
	if (sock < 0)
		err(1, "socket");
	route.type = NETROM_NODE;
	call_sign(&route.callsign, "NODE  ");
	call_sign(&route.neighbour, "BESIDE");
	strncpy(route.device, argv[1], sizeof(route.device) - 1);
	strcpy(route.mnemonic, "NODE");
	route.quality = 10;
	route.obs_count = 0;
	if (!strcmp(argv[2], "once")) {
		apart(routes);
		come();
		apart(ages);
		go();
		return 0;
	}
	end = time(NULL) + atoi(argv[2]);
	if (pthread_create(&one, NULL, routes, NULL) || pthread_create(&other, NULL, ages, NULL))
		err(1, "thread");
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return 0;
}
