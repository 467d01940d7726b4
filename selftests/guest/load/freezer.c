// SPDX-License-Identifier: GPL-2.0
/*
 * freezer ONE OTHER THIRD ROUNDS: freezes the file systems mounted at ONE and OTHER, one
 * within the other and now this, now that first, and does all sorts of things with THIRD
 * meanwhile. Both are thawed by the task that froze them or by another, in either order.
 * Prints a line for each round.
 */
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void freeze(int fd)
{
	if (ioctl(fd, FIFREEZE, 0))
		err(1, "freeze");
}

static void thaw(int fd)
{
	if (ioctl(fd, FITHAW, 0))
		err(1, "thaw");
}

/* Another task does it; a copy of this one holds nothing that this one has taken. */
static void thaw_elsewhere(int fd, int then)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		err(1, "fork");
	if (child == 0) {
		thaw(fd);
		if (then >= 0)
			thaw(then);
		_exit(0);
	}
	if (waitpid(child, &status, 0) < 0 || status)
		errx(1, "thawing elsewhere ended with status %d", status);
}

static int enter(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		err(1, "%s", dir);
	return fd;
}

static void files(int dir, unsigned int round)
{
	char name[32], other[32], text[4096];
	unsigned int i;

	memset(text, 'x', sizeof(text));
	mkdirat(dir, "made", 0700);
	for (i = 0; i < 8; i++) {
		int fd;

		snprintf(name, sizeof(name), "made/%u", i);
		snprintf(other, sizeof(other), "renamed.%u", (i + round) % 8);
		fd = openat(dir, name, O_CREAT | O_RDWR | O_TRUNC, 0600);
		if (fd < 0)
			err(1, "%s", name);
		if (write(fd, text, sizeof(text)) != sizeof(text) || (i == 0 && fsync(fd)))
			err(1, "write %s", name);
		if (i == 1) {
			/* Through a page fault. */
			char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

			if (at == MAP_FAILED)
				err(1, "map %s", name);
			at[round % 4096] = 'y';
			munmap(at, 4096);
		}
		close(fd);
		if (renameat(dir, name, dir, other))
			err(1, "rename %s", name);
		if (i % 2)
			unlinkat(dir, other, 0);
	}
	unlinkat(dir, "made", AT_REMOVEDIR);
}

static void mounts(const char *third)
{
	char at[256];

	snprintf(at, sizeof(at), "%s/mounted", third);
	mkdir(at, 0700);
	if (mount("none", at, "tmpfs", 0, NULL) || mount(NULL, at, NULL, MS_REMOUNT | MS_RDONLY, NULL) ||
	    umount(at))
		err(1, "mount %s", at);
	rmdir(at);
}

static void read_all(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		err(1, "%s", path);
	while (read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

static void look_around(int frozen)
{
	static const char *const paths[] = {
		"/proc/self/mountinfo", "/proc/self/maps", "/proc/meminfo", "/proc/stat",
		"/proc/self/status", "/proc/modules", "/sys/kernel/mm/transparent_hugepage/enabled",
	};
	DIR *dir = fdopendir(dup(frozen));
	unsigned int i;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		read_all(paths[i]);
	/* Readers are not blocked. */
	if (!dir)
		err(1, "read the frozen directory");
	rewinddir(dir);
	while (readdir(dir))
		;
	closedir(dir);
}

int main(int argc, char **argv)
{
	unsigned int round, rounds;
	int one, other, third;

	if (argc != 5)
		errx(2, "four arguments are needed");
	one = enter(argv[1]);
	other = enter(argv[2]);
	third = enter(argv[3]);
	rounds = (unsigned int)atoi(argv[4]);
	for (round = 0; round < rounds; round++) {
		int outer = round & 1 ? other : one, inner = round & 1 ? one : other;

		freeze(outer);
		files(third, round);
		mounts(argv[3]);
		look_around(outer);
		freeze(inner);
		files(third, round + 3);
		mounts(argv[3]);
		switch (round / 2 % 5) {
		case 0:
			thaw(inner);
			thaw(outer);
			break;
		case 1:
			thaw(outer);
			files(third, round + 5);
			thaw(inner);
			break;
		case 2:
			thaw_elsewhere(inner, outer);
			break;
		case 3:
			thaw_elsewhere(outer, inner);
			break;
		case 4:
			thaw_elsewhere(outer, -1);
			files(third, round + 5);
			thaw(inner);
			break;
		}
		/* What would be left over from this round is below all this. */
		files(outer, round);
		files(third, round);
		printf("round %u\n", round);
		fflush(stdout);
	}
	return 0;
}
