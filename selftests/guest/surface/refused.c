// SPDX-License-Identifier: GPL-2.0
/*
 * refused: what the device must refuse to whoever may open it. Prints "NAME ERRNO" for each
 * attempt, 0 where it was allowed. Given an address, requests a probe there, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi.h"

static void say(const char *name, int failed)
{
	printf("%s %s\n", name, failed ? strerrorname_np(errno) : "0");
}

static void map(int fd, const char *name, size_t bytes, int protection, int flags, off_t at)
{
	void *got = mmap(NULL, bytes, protection, flags, fd, at);

	say(name, got == MAP_FAILED);
	if (got != MAP_FAILED)
		munmap(got, bytes);
}

int main(int argc, char **argv)
{
	int fd = open("/dev/lockscope", O_RDWR);
	struct ls_info info;
	struct ls_site site = {
		.base = 7, .index = LS_BASE_NONE, .scale = 1, .size = 8, .op = LS_ACC_READ,
	};
	struct ls_sites_req req = { .nr = 1, .buf = (__u64)(unsigned long)&site };
	struct ls_chains_req chains = { .from = 0, .nr = 1 };
	struct ls_follow_req follow = { .start = ~0ull - 8, .bytes = 4096 };
	struct ls_access_ctl ctl = { .share = 3 };
	__u32 op = 99;
	void *ring;

	say("open", fd < 0);
	if (fd < 0)
		return 1;
	say("info", ioctl(fd, LS_IOC_INFO, &info) < 0);
	map(fd, "map_write", info.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	map(fd, "map_write_private", info.ring_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0);
	map(fd, "map_too_long", info.ring_bytes + 4096, PROT_READ, MAP_SHARED, 0);
	map(fd, "map_between", 4096, PROT_READ, MAP_SHARED, 4096);
	map(fd, "map_no_cpu", 4096, PROT_READ, MAP_SHARED, (off_t)info.ring_bytes * info.nr_cpus);
	map(fd, "map_far", 4096, PROT_READ, MAP_SHARED, (off_t)1 << 62);
	ring = mmap(NULL, info.ring_bytes, PROT_READ, MAP_SHARED, fd, 0);
	say("map_read", ring == MAP_FAILED);
	say("protect", mprotect(ring, 4096, PROT_READ | PROT_WRITE));
	say("write", write(fd, &op, sizeof(op)) < 0);
	say("seek_behind", lseek(fd, (off_t)1 << 40, SEEK_SET) < 0);
	say("read_between", pread(fd, &info, sizeof(info), 4) < 0);
	say("ctl_unknown", ioctl(fd, LS_IOC_CTL, &op) < 0);
	say("chains_from_0", ioctl(fd, LS_IOC_CHAINS, &chains) < 0);
	say("follow_wraps", ioctl(fd, LS_IOC_FOLLOW, &follow) < 0);
	say("share_no_power", ioctl(fd, LS_IOC_ACCESS_CTL, &ctl) < 0);
	say("unknown_ioctl", ioctl(fd, _IO(LS_IOC_MAGIC, 200), 0) < 0);
	req.nr = 1u << 20;
	say("too_many_sites", ioctl(fd, LS_IOC_SITES, &req) < 0);
	req.nr = 1;
	site.size = 65;
	say("site_nonsense", ioctl(fd, LS_IOC_SITES, &req) < 0);
	site.size = 8;
	if (argc > 1) {
		site.ip = strtoull(argv[1], NULL, 16);
		say("probe", ioctl(fd, LS_IOC_SITES, &req) < 0);
		errno = -site.error;
		say("probe_error", site.error);
	}
	return 0;
}
