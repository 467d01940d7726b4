// SPDX-License-Identifier: GPL-2.0
/*
 * Semaphores that one context acquires and another one releases, as buffers under I/O
 * are: what is taken afterwards is not taken with them held.
 */
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/slab.h>

#include "selftest.h"

/*
 * Buffers, each locked by a semaphore of its own. Where it is always released by the
 * context that acquired it, the class is a lock like any other.
 */
struct ls_buffer {
	unsigned long payload[12];
	struct semaphore lock;
};

#define BUFFERS 80		/* more than a context can be seen to hold */
#define FIRST_BUFFERS 8
#define OWN_ROUNDS 24

static __side void sem_free(struct ls_buffer **buffer)
{
	unsigned int i;

	for (i = 0; i < BUFFERS; i++) {
		kfree(buffer[i]);
		buffer[i] = NULL;
	}
}

static struct ls_buffer *sem_buffer_all[BUFFERS];
static DEFINE_MUTEX(sem_buffer_m);

static __side struct ls_buffer *sem_buffer_new(void)
{
	struct ls_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (buffer)
		sema_init(&buffer->lock, 1);
	return buffer;
}

static int sem_buffer_setup(void)
{
	unsigned int i;

	for (i = 0; i < BUFFERS; i++) {
		sem_buffer_all[i] = sem_buffer_new();
		if (!sem_buffer_all[i])
			return -ENOMEM;
	}
	return 0;
}

static void sem_buffer_teardown(void)
{
	sem_free(sem_buffer_all);
}

static __side void sem_buffer_sm(void)
{
	unsigned int i;

	for (i = 0; i < BUFFERS; i++) {
		down(&sem_buffer_all[i]->lock);
		mutex_lock(&sem_buffer_m);
		mutex_unlock(&sem_buffer_m);
		up(&sem_buffer_all[i]->lock);
	}
}

static __side void sem_buffer_ms(void)
{
	mutex_lock(&sem_buffer_m);
	down(&sem_buffer_all[0]->lock);
	up(&sem_buffer_all[0]->lock);
	mutex_unlock(&sem_buffer_m);
}

/* Made closed and opened by their maker, which says nothing about their use later on. */
static struct ls_buffer *sem_opened_all[FIRST_BUFFERS];
static DEFINE_MUTEX(sem_opened_m);

static __side struct ls_buffer *sem_opened_new(void)
{
	struct ls_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (buffer)
		sema_init(&buffer->lock, 0);
	return buffer;
}

static void sem_opened_teardown(void)
{
	unsigned int i;

	for (i = 0; i < FIRST_BUFFERS; i++) {
		kfree(sem_opened_all[i]);
		sem_opened_all[i] = NULL;
	}
}

static int sem_opened_setup(void)
{
	unsigned int i;

	for (i = 0; i < FIRST_BUFFERS; i++) {
		sem_opened_all[i] = sem_opened_new();
		if (!sem_opened_all[i])
			return -ENOMEM;
		up(&sem_opened_all[i]->lock);
	}
	return 0;
}

static __side void sem_opened_sm(void)
{
	unsigned int i;

	for (i = 0; i < FIRST_BUFFERS * OWN_ROUNDS; i++) {
		down(&sem_opened_all[i % FIRST_BUFFERS]->lock);
		mutex_lock(&sem_opened_m);
		mutex_unlock(&sem_opened_m);
		up(&sem_opened_all[i % FIRST_BUFFERS]->lock);
	}
}

static __side void sem_opened_ms(void)
{
	mutex_lock(&sem_opened_m);
	down(&sem_opened_all[0]->lock);
	up(&sem_opened_all[0]->lock);
	mutex_unlock(&sem_opened_m);
}

/* Made closed and opened likewise, but each one is released by a work item from then on. */
static struct ls_buffer *sem_opened_ok_all[FIRST_BUFFERS];
static unsigned int sem_opened_ok_next;
static DEFINE_MUTEX(sem_opened_ok_m);

static __side struct ls_buffer *sem_opened_ok_new(void)
{
	struct ls_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (buffer)
		sema_init(&buffer->lock, 0);
	return buffer;
}

static void sem_opened_ok_teardown(void)
{
	unsigned int i;

	for (i = 0; i < FIRST_BUFFERS; i++) {
		kfree(sem_opened_ok_all[i]);
		sem_opened_ok_all[i] = NULL;
	}
}

static int sem_opened_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < FIRST_BUFFERS; i++) {
		sem_opened_ok_all[i] = sem_opened_ok_new();
		if (!sem_opened_ok_all[i])
			return -ENOMEM;
		up(&sem_opened_ok_all[i]->lock);
	}
	return 0;
}

static __side void sem_opened_ok_gives(void)
{
	up(&sem_opened_ok_all[sem_opened_ok_next]->lock);
}

static __side void sem_opened_ok_sm(void)
{
	unsigned int i;

	for (i = 0; i < FIRST_BUFFERS * OWN_ROUNDS; i++) {
		sem_opened_ok_next = i % FIRST_BUFFERS;
		down(&sem_opened_ok_all[sem_opened_ok_next]->lock);
		mutex_lock(&sem_opened_ok_m);
		mutex_unlock(&sem_opened_ok_m);
		ls_require(!ls_run_in(LS_WORK, "", sem_opened_ok_gives));
	}
}

static __side void sem_opened_ok_ms(void)
{
	mutex_lock(&sem_opened_ok_m);
	sem_opened_ok_next = 0;
	down(&sem_opened_ok_all[0]->lock);
	mutex_unlock(&sem_opened_ok_m);
	ls_require(!ls_run_in(LS_WORK, "", sem_opened_ok_gives));
}

/*
 * As xfs does: mostly a buffer is unlocked by the task that has locked it, but a buffer
 * that is written is unlocked by the completion of the I/O, in a worker.
 */
static struct ls_buffer *sem_buffer_ok_all[BUFFERS];
static unsigned int sem_buffer_ok_first, sem_buffer_ok_end;
static DEFINE_MUTEX(sem_buffer_ok_m);

static __side struct ls_buffer *sem_buffer_ok_new(void)
{
	struct ls_buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (buffer)
		sema_init(&buffer->lock, 1);
	return buffer;
}

static int sem_buffer_ok_setup(void)
{
	unsigned int i;

	for (i = 0; i < BUFFERS; i++) {
		sem_buffer_ok_all[i] = sem_buffer_ok_new();
		if (!sem_buffer_ok_all[i])
			return -ENOMEM;
	}
	return 0;
}

static void sem_buffer_ok_teardown(void)
{
	sem_free(sem_buffer_ok_all);
}

/* The I/O on buffers that were submitted is done. */
static __side void sem_buffer_ok_written(void)
{
	unsigned int i;

	for (i = sem_buffer_ok_first; i < sem_buffer_ok_end; i++)
		up(&sem_buffer_ok_all[i]->lock);
}

static __side void sem_buffer_ok_write(unsigned int first, unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++)
		down(&sem_buffer_ok_all[i]->lock);
	/* Submitted: they are the worker's to unlock. */
	mutex_lock(&sem_buffer_ok_m);
	mutex_unlock(&sem_buffer_ok_m);
	sem_buffer_ok_first = first;
	sem_buffer_ok_end = end;
	ls_require(!ls_run_in(LS_WORK, "", sem_buffer_ok_written));
}

static __side void sem_buffer_ok_sm(void)
{
	unsigned int i, k;

	for (i = 0; i < BUFFERS; i++) {
		for (k = 0; k < OWN_ROUNDS; k++) {
			down(&sem_buffer_ok_all[i]->lock);
			up(&sem_buffer_ok_all[i]->lock);
		}
	}
	for (i = 0; i < FIRST_BUFFERS; i++)
		sem_buffer_ok_write(i, i + 1);
	sem_buffer_ok_write(0, BUFFERS);
}

static __side void sem_buffer_ok_ms(void)
{
	mutex_lock(&sem_buffer_ok_m);
	down(&sem_buffer_ok_all[0]->lock);
	up(&sem_buffer_ok_all[0]->lock);
	mutex_unlock(&sem_buffer_ok_m);
}

/*
 * A lock but for one time: a work item leaves it to another context. What a worker
 * takes afterwards, in another item, is not taken with it held.
 */
#define WORK_ROUNDS 160

static struct semaphore sem_work_ok_s = __SEMAPHORE_INITIALIZER(sem_work_ok_s, 1);
static DEFINE_MUTEX(sem_work_ok_m);

static __side void sem_work_ok_ms(void)
{
	unsigned int i;

	for (i = 0; i < WORK_ROUNDS; i++) {
		mutex_lock(&sem_work_ok_m);
		down(&sem_work_ok_s);
		up(&sem_work_ok_s);
		mutex_unlock(&sem_work_ok_m);
	}
}

static __side void sem_work_ok_leaves(void)
{
	down(&sem_work_ok_s);
}

LS_TAKES(sem_work_ok_next, sem_work_ok_m, mutex_lock, mutex_unlock)

static __side void sem_work_ok_gives(void)
{
	up(&sem_work_ok_s);
}

/*
 * Far more semaphores are acquired by others while one is held than a stamp of 19 bits can
 * distinguish. Its owner releases it afterwards; the twin's was released by a work item.
 */
#define FAR 300000		/* more than half of 2^19 */

#define DISTANT(name)							\
	static struct semaphore name##_s = __SEMAPHORE_INITIALIZER(name##_s, 1); \
	static struct semaphore name##_other = __SEMAPHORE_INITIALIZER(name##_other, 1); \
	static DEFINE_MUTEX(name##_m);					\
									\
	static __side void name##_ms(void)				\
	{								\
		unsigned int i;						\
									\
		for (i = 0; i < WORK_ROUNDS; i++) {			\
			mutex_lock(&name##_m);				\
			down(&name##_s);				\
			up(&name##_s);					\
			mutex_unlock(&name##_m);			\
		}							\
	}								\
									\
	static __side void name##_pass(void)				\
	{								\
		unsigned int i;						\
									\
		for (i = 0; i < FAR; i++) {				\
			down(&name##_other);				\
			up(&name##_other);				\
			if (!(i % 1024))				\
				cond_resched();				\
		}							\
	}

DISTANT(sem_far)

static __side void sem_far_sm(void)
{
	down(&sem_far_s);
	ls_require(!ls_run_in(LS_WORK, "", sem_far_pass));
	mutex_lock(&sem_far_m);
	mutex_unlock(&sem_far_m);
	up(&sem_far_s);
}

DISTANT(sem_far_ok)

static __side void sem_far_ok_gives(void)
{
	sem_far_ok_pass();
	up(&sem_far_ok_s);
}

static __side void sem_far_ok_sm(void)
{
	down(&sem_far_ok_s);
	ls_require(!ls_run_in(LS_WORK, "", sem_far_ok_gives));
	mutex_lock(&sem_far_ok_m);
	mutex_unlock(&sem_far_ok_m);
}

const struct ls_case verdict_handed_cases[] = {
	{ "sem_buffer", LS_FAULT, LS_CYCLE, "semaphores of buffers, always unlocked by their takers",
	  "sem_buffer_new sem_buffer_m kind=semaphore severity=error",
	  sem_buffer_setup, sem_buffer_teardown, { { sem_buffer_sm }, { sem_buffer_ms } } },
	{ "sem_buffer_ok", LS_TWIN, LS_CYCLE, "semaphores of buffers, unlocked when they are written",
	  "sem_buffer_ok_new sem_buffer_ok_m", sem_buffer_ok_setup, sem_buffer_ok_teardown,
	  { { sem_buffer_ok_sm }, { sem_buffer_ok_ms } } },
	{ "sem_opened", LS_FAULT, LS_CYCLE, "semaphores of buffers, made closed and opened by their maker",
	  "sem_opened_new sem_opened_m kind=semaphore", sem_opened_setup, sem_opened_teardown,
	  { { sem_opened_sm }, { sem_opened_ms } } },
	{ "sem_opened_ok", LS_TWIN, LS_CYCLE, "such semaphores, released by a work item each time",
	  "sem_opened_ok_new sem_opened_ok_m", sem_opened_ok_setup, sem_opened_ok_teardown,
	  { { sem_opened_ok_sm }, { sem_opened_ok_ms } } },
	{ "sem_far", LS_FAULT, LS_CYCLE, "a semaphore held while others are acquired 300,000 times",
	  "sem_far_s sem_far_m kind=semaphore", NULL, NULL, { { sem_far_ms }, { sem_far_sm } } },
	{ "sem_far_ok", LS_TWIN, LS_CYCLE, "such a semaphore, which a work item has released then",
	  "sem_far_ok_s sem_far_ok_m", NULL, NULL, { { sem_far_ok_ms }, { sem_far_ok_sm } } },
	{ "sem_work_ok", LS_TWIN, LS_CYCLE, "a work item leaves a semaphore to another context",
	  "sem_work_ok_s sem_work_ok_m",
	  .side = { { sem_work_ok_ms }, { sem_work_ok_leaves, LS_WORK },
		    { sem_work_ok_next, LS_WORK }, { sem_work_ok_gives } } },
	{ }
};
