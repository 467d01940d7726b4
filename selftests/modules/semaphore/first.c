// SPDX-License-Identifier: GPL-2.0
/*
 * Semaphores whose first release is another context's. Of one that was acquired before,
 * that is handing over like any later one; not so of one that its maker opens, which
 * handed.c has.
 */
#include <linux/mutex.h>
#include <linux/semaphore.h>

#include "objects.h"

struct ls_page {
	unsigned long payload[10];
	struct semaphore lock;
};

#define PAGES 8
#define ROUNDS 24

/*
 * NAME: semaphores outside a mutex, and one of them inside. The first release of the last
 * HANDED ones is that of a work item; all others are the taker's.
 */
#define FIRST_PAGES(name, handed)						\
LS_SEMAPHORES(name, ls_page, PAGES)						\
static unsigned int name##_at;						\
static DEFINE_MUTEX(name##_m);						\
										\
static __side void name##_gives(void)						\
{										\
	up(&name##_all[name##_at]->lock);					\
}										\
										\
static __side void name##_sm(void)						\
{										\
	unsigned int i;								\
										\
	for (i = 0; i < PAGES * ROUNDS; i++) {					\
		name##_at = i % PAGES;						\
		down(&name##_all[name##_at]->lock);				\
		mutex_lock(&name##_m);						\
		mutex_unlock(&name##_m);					\
		if (i < PAGES && i >= PAGES - (handed))				\
			ls_require(!ls_run_in(LS_WORK, "", name##_gives));	\
		else								\
			up(&name##_all[name##_at]->lock);			\
	}									\
}										\
										\
static __side void name##_ms(void)						\
{										\
	mutex_lock(&name##_m);							\
	down(&name##_all[0]->lock);						\
	up(&name##_all[0]->lock);						\
	mutex_unlock(&name##_m);						\
}

FIRST_PAGES(sem_first, 1)
FIRST_PAGES(sem_some, 3)
FIRST_PAGES(sem_first_ok, PAGES)

/* Too few releases to call it either. */
static struct semaphore sem_few_s = __SEMAPHORE_INITIALIZER(sem_few_s, 1);
static DEFINE_MUTEX(sem_few_m);

static __side void sem_few_gives(void)
{
	up(&sem_few_s);
}

static __side void sem_few_sm(void)
{
	down(&sem_few_s);
	mutex_lock(&sem_few_m);
	mutex_unlock(&sem_few_m);
	ls_require(!ls_run_in(LS_WORK, "", sem_few_gives));
}

static __side void sem_few_ms(void)
{
	mutex_lock(&sem_few_m);
	down(&sem_few_s);
	up(&sem_few_s);
	mutex_unlock(&sem_few_m);
}

static struct semaphore sem_few_ok_s = __SEMAPHORE_INITIALIZER(sem_few_ok_s, 1);
static DEFINE_MUTEX(sem_few_ok_m);

static __side void sem_few_ok_gives(void)
{
	up(&sem_few_ok_s);
}

static __side void sem_few_ok_sm(void)
{
	down(&sem_few_ok_s);
	mutex_lock(&sem_few_ok_m);
	mutex_unlock(&sem_few_ok_m);
	ls_require(!ls_run_in(LS_WORK, "", sem_few_ok_gives));
}

const struct ls_case verdict_first_cases[] = {
	{ "sem_first", LS_FAULT, LS_CYCLE, "semaphores used as locks, one of them handed over at first",
	  "sem_first_new sem_first_m kind=semaphore severity=error", sem_first_setup, sem_first_teardown,
	  { { sem_first_sm }, { sem_first_ms } } },
	{ "sem_some", LS_FAULT, LS_CYCLE, "semaphores used as locks, three of eight handed over at first",
	  "sem_some_new sem_some_m kind=semaphore severity=warning", sem_some_setup, sem_some_teardown,
	  { { sem_some_sm }, { sem_some_ms } } },
	{ "sem_first_ok", LS_TWIN, LS_CYCLE, "semaphores each of which is handed over at first",
	  "sem_first_ok_new sem_first_ok_m", sem_first_ok_setup, sem_first_ok_teardown,
	  { { sem_first_ok_sm }, { sem_first_ok_ms } } },
	{ "sem_few", LS_FAULT, LS_CYCLE, "a semaphore handed over once, in both orders with a mutex",
	  "sem_few_s sem_few_m severity=note", .side = { { sem_few_sm }, { sem_few_ms } } },
	{ "sem_few_ok", LS_TWIN, LS_CYCLE, "a semaphore handed over twice, in one order",
	  "sem_few_ok_s sem_few_ok_m", .side = { { sem_few_ok_sm }, { sem_few_ok_sm } } },
	{ }
};
