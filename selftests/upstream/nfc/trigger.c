// SPDX-License-Identifier: GPL-2.0
/*
 * trigger MODULE once | trigger MODULE SECONDS: NFC is turned off by /dev/rfkill, and devices of
 * MODULE, a file, go. With "once" they are there before, and the one is done before the other
 * begins; else they come and go meanwhile.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/rfkill.h>

static const char *file;
static time_t end;

/* One that was killed may have left them there. */
static void come(void)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		err(1, "%s", file);
	close(fd);
}

static void go(void)
{
	if (syscall(SYS_delete_module, "nfcsim", O_NONBLOCK) && errno != EWOULDBLOCK)
		err(1, "nfcsim");
}

static void turn_off(void)
{
	const struct rfkill_event event = {
		.type = RFKILL_TYPE_NFC, .op = RFKILL_OP_CHANGE_ALL, .soft = 1,
	};
	int fd = open("/dev/rfkill", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, &event, sizeof(event)) < 0)
		err(1, "/dev/rfkill");
	close(fd);
}

static void *devices(void *unused)
{
	while (time(NULL) < end) {
		come();
		usleep(1000);
		go();
	}
	return unused;
}

static void *switches(void *unused)
{
	do {
		turn_off();
		usleep(500);
	} while (time(NULL) < end);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t one, other;

	if (argc != 3)
		errx(2, "usage: trigger MODULE once|SECONDS");
	file = argv[1];
	if (!strcmp(argv[2], "once")) {
		/* In a thread of its own: by two tasks, as it would be at the same time. */
		if (pthread_create(&one, NULL, switches, NULL) || pthread_join(one, NULL))
			err(1, "thread");
		go();
		return 0;
	}
	end = time(NULL) + atoi(argv[2]);
	if (pthread_create(&one, NULL, devices, NULL) || pthread_create(&other, NULL, switches, NULL))
		err(1, "thread");
	pthread_join(one, NULL);
	pthread_join(other, NULL);
	return 0;
}
