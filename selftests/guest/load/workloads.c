// SPDX-License-Identifier: GPL-2.0
/*
 * Fixed amounts of work for comparing kernels: messages over pipes and
 * sockets, short-lived files, processes, futexes.
 *
 *   workloads NAME [DIRECTORY]
 *
 * prints how far the time stamp counter went. In a VM with -icount shift=0
 * that is the number of instructions executed, so one run is exact.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

enum {
	PEERS = 4,		/* senders, and as many receivers */
	MESSAGE_BYTES = 100,
	PIPE_ROUNDS = 500,
	SOCKET_ROUNDS = 300,
	FILE_PROCESSES = 2,
	FILES = 400,
	SPAWN_PROCESSES = 2,
	SPAWNS = 40,
	MAPPINGS = 4,
	MAPPED_PAGES = 32,
	PAGE = 4096,
	FUTEX_PAIRS = 2,
	FUTEX_ROUNDS = 2000,
	MUTEX_THREADS = 4,
	USER_LOOPS = 20000000,
};

static const char *self;

static void fail(const char *what)
{
	fprintf(stderr, "workloads: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(bool ok, const char *what)
{
	if (!ok)
		fail(what);
}

/* Starts one process for each i < n. */
static void start_processes(int n, void (*work)(int, void *), void *argument)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		check(pid >= 0, "fork");
		if (pid == 0) {
			work(i, argument);
			_exit(0);
		}
	}
}

/* Waits for n processes; any failure of theirs is ours. */
static void wait_for(int n)
{
	while (n-- > 0) {
		int status;

		check(wait(&status) > 0, "wait");
		check(status == 0, "child");
	}
}

static void in_processes(int n, void (*work)(int, void *), void *argument)
{
	start_processes(n, work, argument);
	wait_for(n);
}

/* --- messages: every sender writes to every receiver --- */

struct channels {
	int in[PEERS];
	int out[PEERS];
	int gate[2];		/* closing it starts all of them */
	int rounds;
};

static void receive(int fd, long bytes)
{
	char buffer[MESSAGE_BYTES];

	while (bytes > 0) {
		size_t want = bytes < MESSAGE_BYTES ? bytes : MESSAGE_BYTES;
		ssize_t got = read(fd, buffer, want);

		check(got > 0, "read");
		bytes -= got;
	}
}

static void send_all(const struct channels *c)
{
	char buffer[MESSAGE_BYTES];

	memset(buffer, 'm', sizeof(buffer));
	for (int round = 0; round < c->rounds; round++)
		for (int i = 0; i < PEERS; i++)
			for (size_t done = 0; done < sizeof(buffer);) {
				ssize_t n = write(c->out[i], buffer + done, sizeof(buffer) - done);

				check(n > 0, "write");
				done += n;
			}
}

/*
 * Each goes on until it has to wait: how often they preempt each other would differ from one run
 * to the next, by a third of the work.
 */
static void run_to_completion(void)
{
	struct sched_param first = {.sched_priority = 1};

	check(sched_setscheduler(0, SCHED_FIFO, &first) == 0, "sched_setscheduler");
}

static void peer(int i, void *argument)
{
	struct channels *c = argument;
	char byte;

	run_to_completion();
	close(c->gate[1]);
	check(read(c->gate[0], &byte, 1) >= 0, "gate");
	if (i < PEERS)
		receive(c->in[i], (long)c->rounds * PEERS * MESSAGE_BYTES);
	else
		send_all(c);
}

static void messages(bool sockets, int rounds)
{
	struct channels c = {.rounds = rounds};

	for (int i = 0; i < PEERS; i++) {
		int pair[2];
		int rc = sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, pair) : pipe(pair);

		check(rc == 0, "channel");
		c.in[i] = pair[0];
		c.out[i] = pair[1];
	}
	check(pipe(c.gate) == 0, "gate");
	start_processes(2 * PEERS, peer, &c);
	close(c.gate[0]);
	close(c.gate[1]);
	wait_for(2 * PEERS);
	for (int i = 0; i < PEERS; i++) {
		close(c.in[i]);
		close(c.out[i]);
	}
}

/* --- files: each lives for a handful of calls --- */

static void one_file(const char *name, const char *renamed)
{
	static char buffer[PAGE];
	struct stat st;
	int fd = open(name, O_CREAT | O_EXCL | O_RDWR, 0644);

	check(fd >= 0, name);
	check(write(fd, buffer, PAGE) == PAGE, "write");
	check(pread(fd, buffer, PAGE, 0) == PAGE, "pread");
	close(fd);
	check(stat(name, &st) == 0, "stat");
	check(rename(name, renamed) == 0, "rename");
	check(unlink(renamed) == 0, "unlink");
}

static void file_worker(int i, void *directory)
{
	char dir[PATH_MAX], name[PATH_MAX + 16], renamed[PATH_MAX + 16];

	snprintf(dir, sizeof(dir), "%s/worker%d", (const char *)directory, i);
	mkdir(dir, 0755);
	for (int n = 0; n < FILES; n++) {
		snprintf(name, sizeof(name), "%s/new%d", dir, n);
		snprintf(renamed, sizeof(renamed), "%s/old%d", dir, n);
		one_file(name, renamed);
	}
}

/* --- processes and their address spaces --- */

static void map_some(void)
{
	for (int i = 0; i < MAPPINGS; i++) {
		size_t bytes = (size_t)MAPPED_PAGES * PAGE;
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		check(memory != MAP_FAILED, "mmap");
		for (size_t at = 0; at < bytes; at += PAGE)
			memory[at] = 1;
		check(mprotect(memory, bytes / 2, PROT_READ) == 0, "mprotect");
		check(munmap(memory, bytes) == 0, "munmap");
	}
}

static void spawn_worker(int i, void *unused)
{
	(void)i;
	(void)unused;
	for (int n = 0; n < SPAWNS; n++) {
		int status;
		pid_t pid = fork();

		check(pid >= 0, "fork");
		if (pid == 0) {
			execl(self, self, "nothing", (char *)NULL);
			_exit(9);
		}
		check(waitpid(pid, &status, 0) == pid && status == 0, "exec");
		map_some();
	}
}

/* --- futexes: threads that wake each other, threads that share a mutex --- */

static atomic_int turn[FUTEX_PAIRS];

static long futex(atomic_int *word, int operation, int value)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Thread 2p waits for turn[p] == 0 and sets it to 1, thread 2p + 1 the other way. */
static void *take_turns(void *argument)
{
	intptr_t index = (intptr_t)argument;
	atomic_int *word = &turn[index / 2];
	int mine = index % 2;

	for (int i = 0; i < FUTEX_ROUNDS; i++) {
		while (atomic_load(word) != mine)
			futex(word, FUTEX_WAIT, !mine);
		atomic_store(word, !mine);
		futex(word, FUTEX_WAKE, 1);
	}
	return NULL;
}

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static atomic_int nobody;

static void *share_mutex(void *unused)
{
	for (int i = 0; i < FUTEX_ROUNDS; i++) {
		pthread_mutex_lock(&shared);
		if (i % 64 == 0)
			sched_yield();
		pthread_mutex_unlock(&shared);
		futex(&nobody, FUTEX_WAKE, 1);
	}
	return unused;
}

static void in_threads(int n, void *(*work)(void *))
{
	pthread_t thread[8];

	for (intptr_t i = 0; i < n; i++)
		check(pthread_create(&thread[i], NULL, work, (void *)i) == 0, "pthread_create");
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static void compute(void)
{
	volatile uint64_t x = 1;

	for (long i = 0; i < USER_LOOPS; i++)
		x = x * 6364136223846793005u + 1;
}

static int run(const char *name, char *directory)
{
	if (!strcmp(name, "pipe"))
		messages(false, PIPE_ROUNDS);
	else if (!strcmp(name, "sock"))
		messages(true, SOCKET_ROUNDS);
	else if (!strcmp(name, "files") && directory)
		in_processes(FILE_PROCESSES, file_worker, directory);
	else if (!strcmp(name, "forkexec"))
		in_processes(SPAWN_PROCESSES, spawn_worker, NULL);
	else if (!strcmp(name, "futex"))
		in_threads(2 * FUTEX_PAIRS, take_turns), in_threads(MUTEX_THREADS, share_mutex);
	else if (!strcmp(name, "user"))
		compute();
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t start;
	int status;

	self = argv[0];
	if (argc == 2 && !strcmp(argv[1], "nothing"))
		return 0;
	if (argc < 2)
		argv[1] = "";
	start = __rdtsc();
	status = run(argv[1], argc > 2 ? argv[2] : NULL);
	if (status) {
		fprintf(stderr, "workloads: pipe, sock, files DIRECTORY, forkexec, futex or user\n");
		return status;
	}
	printf("%llu\n", (unsigned long long)(__rdtsc() - start));
	return 0;
}
