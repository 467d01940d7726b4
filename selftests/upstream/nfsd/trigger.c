// SPDX-License-Identifier: GPL-2.0
/*
 * trigger FOLDER once | trigger FOLDER SECONDS: an NFS client gives up an owner of file locks
 * while another one's delegation of the same file is recalled. With "once" the one is done
 * before the other begins. FOLDER has the export and what both clients see of it.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define OWNERS 3

static const char *folder;
static atomic_uint file;
static time_t end;
static unsigned int seed;

static int open_file(const char *where, unsigned int nr, int flags)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s/%u-%u", folder, where, seed, nr);
	return open(path, flags | O_CLOEXEC, 0666);
}

static void lock(int fd, short type, off_t at)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

	if (fcntl(fd, F_SETLK, &l))
		err(1, "lock");
}

/* A file that one client has a delegation of, and that has a lock of the server's own. */
static int delegate(unsigned int nr)
{
	int fd, client;

	fd = open_file("export", nr, O_WRONLY | O_CREAT);
	if (fd < 0)
		err(1, "create");
	close(fd);
	fd = open_file("export", nr, O_RDONLY);
	client = open_file("delegated", nr, O_RDONLY);
	if (fd < 0 || client < 0)
		err(1, "open");
	close(client);
	lock(fd, F_RDLCK, 1000);
	return fd;
}

/* The owner of a lock goes with its last one: RELEASE_LOCKOWNER. Until it is another file's turn. */
static void own(unsigned int nr)
{
	int fd = open_file("locked", nr, O_RDONLY);

	if (fd < 0)
		return;
	do {
		lock(fd, F_RDLCK, 0);
		lock(fd, F_UNLCK, 0);
	} while (nr == file && time(NULL) < end);
	close(fd);
}

static void recall(unsigned int nr)
{
	int fd = open_file("export", nr, O_WRONLY | O_NONBLOCK);

	if (fd >= 0)
		close(fd);
	else if (errno != EWOULDBLOCK)
		err(1, "open for writing");
}

/* An owner of its own: owners are tables of open files. */
static void *owners(void *unused)
{
	if (unshare(CLONE_FILES))
		err(1, "unshare");
	do
		own(file);
	while (time(NULL) < end);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other[OWNERS];

	if (argc != 3)
		errx(2, "usage: trigger FOLDER once|SECONDS");
	folder = argv[1];
	seed = getpid();
	if (!strcmp(argv[2], "once")) {
		for (; file < 3; file++) {
			int fd = delegate(file);

			own(file);
			usleep(300000);
			recall(file);
			usleep(300000);
			close(fd);
		}
		return 0;
	}
	end = time(NULL) + atoi(argv[2]);
	for (unsigned int nr = 0; time(NULL) < end; nr++) {
		int fd = delegate(nr);

		/* Not before it is there: that it is not would be remembered for a while. */
		file = nr;
		for (int i = 0; !nr && i < OWNERS; i++)
			if (pthread_create(&other[i], NULL, owners, NULL))
				err(1, "thread");
		usleep(30000);
		recall(nr);
		usleep(10000);
		close(fd);
	}
	for (int i = 0; i < OWNERS; i++)
		pthread_join(other[i], NULL);
	return 0;
}
