// SPDX-License-Identifier: GPL-2.0
/* The device as a file and as memory, its files in debugfs, the module's parameters. */
#define _GNU_SOURCE
#include "operations.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEBUGFS "/sys/kernel/debug/lockscope/"
#define PARAMETERS "/sys/module/lockscope/parameters/"

static int result(long rc)
{
	return rc < 0 ? errno : 0;
}

int op_open(struct worker *w)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_NONBLOCK, O_PATH,
				     O_RDWR | O_TRUNC, O_RDONLY | O_DIRECT, O_RDONLY | O_DIRECTORY };
	int *fd = &w->fds[below(w, NR_FDS)];
	int got = open(DEVICE, flags[below(w, sizeof(flags) / sizeof(flags[0]))] | O_CLOEXEC);

	if (got < 0)
		return errno;
	if (*fd >= 0)
		close(*fd);
	*fd = got;
	return 0;
}

int op_close(struct worker *w)
{
	int *fd = &w->fds[below(w, NR_FDS)], rc;

	if (*fd < 0)
		return 0;
	rc = close(*fd);
	*fd = -1;
	return result(rc);
}

int op_read(struct worker *w)
{
	return result(read(device(w), below(w, 4) ? w->arena : odd_pointer(w), below(w, ARENA_BYTES)));
}

/* From somewhere: a record's beginning, the middle of one, behind the end. */
int op_pread(struct worker *w)
{
	off_t at = (off_t)(below(w, 3) ? below(w, 1 << 20) / 8 * 8 : odd_number(w));

	return result(pread(device(w), below(w, 4) ? w->arena : odd_pointer(w),
			    below(w, 8) ? below(w, ARENA_BYTES) : odd_number(w), at));
}

int op_readv(struct worker *w)
{
	struct iovec to[4];
	int i;

	for (i = 0; i < 4; i++)
		to[i] = (struct iovec){ below(w, 4) ? w->arena + below(w, ARENA_BYTES / 2) : odd_pointer(w),
					below(w, 4096) };
	return result(preadv(device(w), to, (int)below(w, 5), (off_t)below(w, 1 << 16)));
}

int op_write(struct worker *w)
{
	return result(write(device(w), w->arena, below(w, 4096)));
}

int op_seek(struct worker *w)
{
	return result(lseek(device(w), (off_t)odd_number(w), (int)below(w, 7)));
}

int op_poll(struct worker *w)
{
	struct pollfd p = { .fd = device(w), .events = (short)below(w, 65536) };

	return result(poll(&p, 1, (int)below(w, 2)));
}

int op_epoll(struct worker *w)
{
	struct epoll_event e = { .events = (uint32_t)(below(w, 2) ? EPOLLIN | EPOLLET : odd_number(w)) };
	int poller = epoll_create1(EPOLL_CLOEXEC), rc;

	if (poller < 0)
		return errno;
	rc = result(epoll_ctl(poller, EPOLL_CTL_ADD, device(w), &e));
	epoll_wait(poller, &e, 1, 0);
	close(poller);
	return rc;
}

/* What a device has no reason to know. */
int op_other_call(struct worker *w)
{
	int fd = device(w), ends[2], rc;

	switch (below(w, 8)) {
	case 0: return result(ftruncate(fd, (off_t)below(w, 4096)));
	case 1: return result(fsync(fd));
	case 2: return result(fallocate(fd, 0, 0, 4096));
	case 3: return result(fcntl(fd, F_SETFL, (int)below(w, 65536)));
	case 4: return result(fcntl(fd, F_SETOWN, (int)below(w, 3)));
	case 5: return result(posix_fadvise(fd, 0, 0, (int)below(w, 7)));
	case 6:
		if (pipe(ends))
			return errno;
		rc = result(splice(fd, NULL, ends[1], NULL, below(w, 8192), SPLICE_F_NONBLOCK));
		close(ends[0]);
		close(ends[1]);
		return rc;
	default: return result(sendfile(fd, fd, NULL, below(w, 8192)));
	}
}

int op_mmap(struct worker *w)
{
	static const uint64_t offsets[] = { 0, 4096, 528384, 1056768, 2113536, 1ull << 62 };
	struct mapping *m = &w->maps[below(w, NR_MAPS)];
	size_t bytes = below(w, 2) ? 528384 : (below(w, 200) + 1) * 4096;
	uint64_t at = below(w, 4) ? offsets[below(w, 6)] : odd_number(w) & ~4095ull;
	void *got = mmap(NULL, bytes, (int)below(w, 8), below(w, 4) ? MAP_SHARED : MAP_PRIVATE,
			 device(w), (off_t)at);

	if (got == MAP_FAILED)
		return errno;
	if (m->at)
		munmap(m->at, m->bytes);
	*m = (struct mapping){ got, bytes };
	return 0;
}

/*
 * Changes of a mapping, and a read of it. A read or write that is not allowed kills the
 * process: use a child.
 */
int op_map_use(struct worker *w)
{
	struct mapping *m = &w->maps[below(w, NR_MAPS)];
	const uint64_t at = below(w, m->bytes);
	int status;
	void *moved;
	pid_t child;

	if (!m->at)
		return 0;
	switch (below(w, 8)) {
	case 0: return result(mprotect(m->at, m->bytes, (int)below(w, 8)));
	case 1: return result(madvise(m->at, m->bytes, (int)below(w, 26)));
	case 2: return result(munmap((char *)m->at + (at & ~4095ul), 4096));
	case 3: return result(msync(m->at, m->bytes, MS_SYNC));
	case 4:
		moved = mremap(m->at, m->bytes, (below(w, 300) + 1) * 4096, MREMAP_MAYMOVE);
		if (moved == MAP_FAILED)
			return errno;
		munmap(moved, m->bytes);
		m->at = NULL;
		return 0;
	case 5:
		child = fork();
		if (!child) {
			if (below(w, 2))
				*((volatile char *)m->at + at) = 1;
			_exit(*((volatile char *)m->at + at) & 0);
		}
		if (child < 0)
			return errno;
		waitpid(child, &status, 0);
		return 0;
	default:
		munmap(m->at, m->bytes);
		m->at = NULL;
		return 0;
	}
}

static int open_and(const char *path, int flags, const void *from, void *to, size_t bytes)
{
	int fd = open(path, flags | O_CLOEXEC), rc;

	if (fd < 0)
		return errno;
	rc = result(from ? write(fd, from, bytes) : read(fd, to, bytes));
	close(fd);
	return rc;
}

int op_debugfs_read(struct worker *w)
{
	static const char *const files[] = { DEBUGFS "stats", DEBUGFS "primitives", DEBUGFS "reset" };

	return open_and(files[below(w, 3)], O_RDONLY, NULL, below(w, 8) ? w->arena : odd_pointer(w),
			below(w, ARENA_BYTES));
}

/* Waits until all is judged. */
int op_findings_read(struct worker *w)
{
	return open_and(DEBUGFS "findings_total", O_RDONLY, NULL, w->arena, below(w, 64));
}

/* Never what forgets everything: op_reset does that. */
int op_debugfs_write(struct worker *w)
{
	static const char *const texts[] = { "0", "n", "", "\n", "2", "-1", "maybe", "0x1", "\xff\xfe" };
	static const char *const files[] = { DEBUGFS "reset", DEBUGFS "stats", DEBUGFS "findings_total" };
	const char *text = texts[below(w, sizeof(texts) / sizeof(texts[0]))];

	return open_and(files[below(w, 3)], O_WRONLY, below(w, 8) ? text : odd_pointer(w), NULL,
			below(w, 8) ? below(w, 3) : below(w, ARENA_BYTES));
}

int op_parameter_write(struct worker *w)
{
	static const char *const files[] = { PARAMETERS "splat", PARAMETERS "strict",
					     PARAMETERS "max_classes", PARAMETERS "accesses" };
	static const char *const texts[] = { "N", "0", "Y", "1", "", "7", "yes please", "\n" };

	return open_and(files[below(w, 8) ? below(w, 2) : below(w, 4)], O_WRONLY,
			below(w, 8) ? texts[below(w, 8)] : odd_pointer(w), NULL, below(w, 4));
}

int op_parameter_read(struct worker *w)
{
	static const char *const files[] = { PARAMETERS "splat", PARAMETERS "ring_kb",
					     PARAMETERS "accesses", PARAMETERS "shadow_mb" };

	return open_and(files[below(w, 4)], O_RDONLY, NULL, w->arena, below(w, 4096));
}
