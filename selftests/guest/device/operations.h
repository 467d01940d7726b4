/* SPDX-License-Identifier: GPL-2.0 */
/* What the fuzzer of the device can do, and what an operation has to work with. */
#ifndef DEVICE_OPERATIONS_H
#define DEVICE_OPERATIONS_H

#include <stddef.h>
#include <stdint.h>

#define DEVICE "/dev/lockscope"
#define NR_FDS 6
#define NR_MAPS 6
#define ARENA_BYTES 65536u

struct mapping {
	void *at;
	size_t bytes;
};

/* One worker's state. Descriptors and mappings come and go. */
struct worker {
	uint64_t random;
	int fds[NR_FDS];		/* -1: none */
	struct mapping maps[NR_MAPS];
	unsigned char *arena;		/* ARENA_BYTES that a second thread scribbles on */
	unsigned char *edge;		/* end of a mapping: nothing lies behind it */
	unsigned char *constant;	/* a page that can only be read */
	const uint64_t *code;		/* instructions that may be requested as probes */
	size_t nr_code;
};

/* Uniform below @n, 0 for 0. */
uint64_t below(struct worker *w, uint64_t n);
/* A number that is likely to be at an edge of something. */
uint64_t odd_number(struct worker *w);
/* Where an argument might lie: good, read-only, half mapped, not mapped, the kernel's. */
void *odd_pointer(struct worker *w);
/* Some open descriptor of the device, opened when there is none. */
int device(struct worker *w);

/* X(NAME, WEIGHT): how often, against the others. Low where the kernel waits for others. */
#define OPERATIONS(X) \
	X(info, 400) X(chains, 900) X(prims, 500) X(counts, 900) X(waits, 300) X(symbol, 300) \
	X(stop_start, 2) X(flush, 10) \
	X(reset, 1) X(odd_ctl, 300) X(access_info, 400) X(access_ctl, 30) X(access_counts, 700) \
	X(follow, 10) X(sites, 6) X(sites_far, 6) X(sites_garbage, 60) X(site_hits, 500) \
	X(plan, 20) X(plan_end, 10) X(plan_garbage, 100) X(plan_state, 300) \
	X(any_ioctl, 900) X(known_odd_argument, 900) \
	X(open, 400) X(close, 300) X(read, 500) X(pread, 700) X(readv, 300) X(write, 200) \
	X(seek, 600) X(poll, 300) X(epoll, 200) X(other_call, 500) X(mmap, 500) X(map_use, 500) \
	X(debugfs_read, 60) X(findings_read, 5) X(debugfs_write, 200) X(parameter_write, 100) \
	X(parameter_read, 100)

/* Each returns 0, or the errno that it ended with. */
#define DECLARE(name, weight) int op_##name(struct worker *w);
OPERATIONS(DECLARE)
#undef DECLARE

#endif /* DEVICE_OPERATIONS_H */
