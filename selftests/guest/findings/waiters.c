// SPDX-License-Identifier: GPL-2.0
/*
 * waiters FILE: pipes, each with an epoll on it in which a process sleeps, as any daemon
 * has them: made before LockScope comes, used until it is killed. FILE is made
 * when all of them are there.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PIPES 3

static void drain(int from)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	char byte;

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, from, &event))
		err(1, "epoll");
	while (epoll_wait(epoll, &event, 1, -1) == 1)
		if (read(from, &byte, 1) != 1)
			break;
	_exit(0);
}

int main(int argc, char **argv)
{
	int pipes[PIPES][2], i;

	if (argc != 2)
		errx(2, "which file?");
	for (i = 0; i < PIPES; i++) {
		if (pipe(pipes[i]))
			err(1, "pipe");
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			drain(pipes[i][0]);
		}
	}
	usleep(200000);
	if (open(argv[1], O_CREAT | O_WRONLY, 0600) < 0)
		err(1, "%s", argv[1]);
	for (;;) {
		for (i = 0; i < PIPES; i++)
			if (write(pipes[i][1], "x", 1) != 1)
				err(1, "write");
		usleep(5000);
	}
}
