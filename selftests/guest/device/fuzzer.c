// SPDX-License-Identifier: GPL-2.0
/*
 * fuzzer OPERATIONS WORKERS SEED: throws random operations at /dev/lockscope, its
 * files in debugfs and its parameters, from several processes at once, each with a
 * thread that changes arguments while they are read. Prints "operation NAME COUNT
 * FAILED" lines and "done COUNT"; exits 1 when an operation takes longer than a
 * minute or a worker dies. The same seed gives each worker the same operations.
 */
#define _GNU_SOURCE
#include "operations.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 16
#define MAX_CODE 4096
#define GUARD_BYTES (256ul << 20)
#define PATIENCE 60	/* seconds for one operation */

static const struct operation {
	const char *name;
	int (*run)(struct worker *w);
	unsigned int weight;
} operations[] = {
#define ENTRY(name, weight) { #name, op_##name, weight },
	OPERATIONS(ENTRY)
#undef ENTRY
};
#define NR_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* Each worker writes its own part. */
static struct progress {
	uint64_t count[NR_OPERATIONS], failed[NR_OPERATIONS];
	uint64_t done;
	uint64_t started;	/* seconds; when the operation that runs began */
	uint32_t operation;
} *progress;

static uint64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

/* xorshift64* */
uint64_t below(struct worker *w, uint64_t n)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return n ? (w->random * 0x2545F4914F6CDD1Dull >> 11) % n : 0;
}

uint64_t odd_number(struct worker *w)
{
	static const uint64_t edges[] = {
		0, 1, 7, 8, 4095, 4096, 65535, 65536, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff,
		0x100000000, 0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffff000,
		0xffffffffffffffff, 0xffff888000000000, 0xffffffff81000000, 0x00007ffffffff000,
	};
	const uint64_t edge = edges[below(w, sizeof(edges) / sizeof(edges[0]))];

	switch (below(w, 4)) {
	case 0: return edge;
	case 1: return edge + below(w, 17) - 8;
	case 2: return below(w, 1 << 20);
	default: return below(w, ~0ull) << below(w, 12);
	}
}

void *odd_pointer(struct worker *w)
{
	switch (below(w, 8)) {
	case 0: return NULL;
	case 1: return (void *)~0ul;
	case 2: return w->constant;
	case 3: return w->edge - below(w, 64);
	case 4: return w->edge;
	case 5: return w->arena + below(w, ARENA_BYTES);
	case 6: return (void *)(0xffffffff81000000ul + below(w, 1 << 24));
	default: return (void *)odd_number(w);
	}
}

int device(struct worker *w)
{
	int *fd = &w->fds[below(w, NR_FDS)];

	if (*fd < 0)
		*fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	return *fd;
}

/* Arguments change between two looks of the kernel's. */
static void *scribble(void *data)
{
	struct worker w = *(struct worker *)data;

	w.random ^= 0x9e3779b97f4a7c15ull;
	for (;;) {
		uint64_t at = below(&w, ARENA_BYTES / 8 / 2), value = odd_number(&w);

		memcpy(w.arena + at * 8, &value, sizeof(value));
		usleep(200);
	}
	return NULL;
}

/*
 * Beginnings of functions of a stock file system, and some of what must never have
 * a probe: lock functions and the module's own code.
 */
static size_t read_code(uint64_t *code)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	char line[512], name[256], type;
	unsigned long long at;
	size_t nr = 0;

	while (symbols && nr < MAX_CODE && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%llx %c %255s", &at, &type, name) != 3 || (type != 't' && type != 'T'))
			continue;
		if (!strncmp(name, "simple_", 7) || !strncmp(name, "vfs_", 4) || !strncmp(name, "ls_", 3) ||
		    !strncmp(name, "_raw_", 5) || !strncmp(name, "mutex_", 6) || !strncmp(name, "pipe_", 5))
			code[nr++] = at;
	}
	if (symbols)
		fclose(symbols);
	return nr;
}

/* @bytes of memory and nothing behind it for as far as the kernel may be asked to write. */
static unsigned char *alone(size_t bytes, int protection)
{
	unsigned char *at = mmap(NULL, bytes + GUARD_BYTES, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED || mprotect(at, bytes, protection))
		exit(3);
	return at;
}

static void work(unsigned int number, uint64_t share, uint64_t seed, const uint64_t *code, size_t nr_code)
{
	struct worker w = { .random = (seed + 1) * 0x9e3779b97f4a7c15ull + number, .code = code,
			    .nr_code = nr_code };
	struct progress *p = &progress[number];
	unsigned int sum = 0;
	pthread_t thread;
	size_t i;

	for (i = 0; i < NR_OPERATIONS; i++)
		sum += operations[i].weight;
	for (i = 0; i < NR_FDS; i++)
		w.fds[i] = -1;
	w.arena = alone(ARENA_BYTES, PROT_READ | PROT_WRITE);
	w.edge = alone(4096, PROT_READ | PROT_WRITE) + 4096;
	w.constant = alone(4096, PROT_READ);
	if (pthread_create(&thread, NULL, scribble, &w))
		exit(3);
	while (p->done < share) {
		uint64_t turn = below(&w, sum);

		for (i = 0; turn >= operations[i].weight; i++)
			turn -= operations[i].weight;
		p->operation = (uint32_t)i;
		__atomic_store_n(&p->started, seconds(), __ATOMIC_RELEASE);
		p->failed[i] += operations[i].run(&w) != 0;
		p->count[i]++;
		__atomic_store_n(&p->done, p->done + 1, __ATOMIC_RELEASE);
	}
	exit(0);
}

/* Which worker is stuck in which operation. */
static int watch(pid_t *workers, unsigned int nr)
{
	unsigned int left = nr, i;
	int status, rc = 0;

	while (left && !rc) {
		sleep(1);
		for (i = 0; i < nr; i++) {
			if (!workers[i])
				continue;
			if (waitpid(workers[i], &status, WNOHANG) == workers[i]) {
				workers[i] = 0;
				left--;
				if (status) {
					printf("died worker %u status %d in %s\n", i, status,
					       operations[progress[i].operation].name);
					rc = 1;
				}
			} else if (seconds() > __atomic_load_n(&progress[i].started, __ATOMIC_ACQUIRE) + PATIENCE) {
				printf("stuck worker %u in %s\n", i, operations[progress[i].operation].name);
				rc = 1;
			}
		}
	}
	for (i = 0; i < nr; i++)
		if (workers[i])
			kill(workers[i], SIGKILL);
	return rc;
}

int main(int argc, char **argv)
{
	static uint64_t code[MAX_CODE];
	uint64_t nr, seed, done = 0;
	pid_t workers[MAX_WORKERS];
	unsigned int nr_workers, i;
	size_t nr_code, op;
	int rc;

	if (argc != 4) {
		fprintf(stderr, "usage: fuzzer OPERATIONS WORKERS SEED\n");
		return 2;
	}
	nr = strtoull(argv[1], NULL, 0);
	nr_workers = (unsigned int)strtoul(argv[2], NULL, 0);
	seed = strtoull(argv[3], NULL, 0);
	nr_workers = nr_workers < 1 ? 1 : nr_workers > MAX_WORKERS ? MAX_WORKERS : nr_workers;
	progress = mmap(NULL, sizeof(*progress) * nr_workers, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (progress == MAP_FAILED || access(DEVICE, F_OK)) {
		fprintf(stderr, "fuzzer: no %s\n", DEVICE);
		return 3;
	}
	nr_code = read_code(code);
	for (i = 0; i < nr_workers; i++) {
		progress[i].started = seconds();
		workers[i] = fork();
		if (workers[i] < 0)
			return 3;
		if (!workers[i])
			work(i, nr / nr_workers + (i < nr % nr_workers), seed, code, nr_code);
	}
	rc = watch(workers, nr_workers);
	for (op = 0; op < NR_OPERATIONS; op++) {
		uint64_t count = 0, failed = 0;

		for (i = 0; i < nr_workers; i++) {
			count += progress[i].count[op];
			failed += progress[i].failed[op];
		}
		done += count;
		printf("operation %s %llu %llu\n", operations[op].name, (unsigned long long)count,
		       (unsigned long long)failed);
	}
	printf("done %llu\n", (unsigned long long)done);
	return rc;
}
