// SPDX-License-Identifier: GPL-2.0
/*
 * A ring of semaphores, taken one after the other with the last one not released yet, as the log of
 * xfs does with its buffers: xlog_in_core.ic_sema is released by the completion of I/O. Where it is,
 * no task waits for what it holds itself.
 */
#include <linux/semaphore.h>

#include "objects.h"

struct ls_log_buffer {
	unsigned long payload[14];
	struct semaphore lock;
};

#define BUFFERS 4
#define OWN_ROUNDS 60

/*
 * NAME: at first each is taken and released by one task, so that few of all releases come from
 * elsewhere. Then two tasks write a half of the ring each, where RELEASE(NAME) releases the last but
 * one.
 */
#define RING(name, release)							\
LS_SEMAPHORES(name, ls_log_buffer, BUFFERS)					\
static unsigned int name##_at;						\
										\
static __side void name##_alone(void)						\
{										\
	unsigned int i;								\
										\
	for (i = 0; i < BUFFERS * OWN_ROUNDS; i++) {				\
		down(&name##_all[i % BUFFERS]->lock);				\
		up(&name##_all[i % BUFFERS]->lock);				\
	}									\
}										\
										\
static __side void name##_written(void)						\
{										\
	up(&name##_all[name##_at % BUFFERS]->lock);				\
}										\
										\
static __side void name##_write(unsigned int from, unsigned int to)		\
{										\
	down(&name##_all[from]->lock);						\
	for (name##_at = from; name##_at < to; name##_at++) {			\
		down(&name##_all[(name##_at + 1) % BUFFERS]->lock);		\
		release(name);							\
	}									\
	release(name);								\
}										\
										\
static __side void name##_front(void)						\
{										\
	name##_write(0, BUFFERS / 2);						\
}										\
										\
static __side void name##_back(void)						\
{										\
	name##_write(BUFFERS / 2, BUFFERS);					\
}

#define TAKER(name) name##_written()
#define COMPLETION(name) ls_require(!ls_run_in(LS_WORK, "", name##_written))

RING(sem_ring, TAKER)
RING(sem_ring_ok, COMPLETION)

const struct ls_case verdict_ring_cases[] = {
	{ "sem_ring", LS_FAULT, LS_RECURSIVE, "a ring of semaphores, the next taken before the last is released",
	  "sem_ring_new", sem_ring_setup, sem_ring_teardown,
	  { { sem_ring_alone }, { sem_ring_front }, { sem_ring_back } } },
	{ "sem_ring_ok", LS_TWIN, LS_RECURSIVE, "such a ring, released by a work item",
	  "sem_ring_ok_new", sem_ring_ok_setup, sem_ring_ok_teardown,
	  { { sem_ring_ok_alone }, { sem_ring_ok_front }, { sem_ring_ok_back } } },
	{ }
};
