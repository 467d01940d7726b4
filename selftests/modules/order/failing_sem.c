// SPDX-License-Identifier: GPL-2.0
/*
 * Acquisitions that can fail: semaphores and rwsems that give up on a signal or
 * after a time. Same shape as failing.c.
 */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>

#include "selftest.h"

static struct semaphore intr_sem_s = __SEMAPHORE_INITIALIZER(intr_sem_s, 1);
static DEFINE_MUTEX(intr_sem_m);

static __side void intr_sem_sm(void)
{
	ls_require(!down_interruptible(&intr_sem_s));
	mutex_lock(&intr_sem_m);
	mutex_unlock(&intr_sem_m);
	up(&intr_sem_s);
}

static __side void intr_sem_ms(void)
{
	mutex_lock(&intr_sem_m);
	ls_require(!down_interruptible(&intr_sem_s));
	up(&intr_sem_s);
	mutex_unlock(&intr_sem_m);
}

static struct semaphore intr_sem_ok_s = __SEMAPHORE_INITIALIZER(intr_sem_ok_s, 1);
static DEFINE_MUTEX(intr_sem_ok_m);

static void intr_sem_ok_take(void)
{
	down(&intr_sem_ok_s);
}

static void intr_sem_ok_give(void)
{
	up(&intr_sem_ok_s);
}

static __side void intr_sem_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(intr_sem_ok_take, intr_sem_ok_give);

	ls_raise(SIGUSR1);
	ls_require(down_interruptible(&intr_sem_ok_s) == -EINTR);
	ls_lower(SIGUSR1);
	mutex_lock(&intr_sem_ok_m);
	mutex_unlock(&intr_sem_ok_m);
	ls_unhold(holder);
}

static __side void intr_sem_ok_ms(void)
{
	mutex_lock(&intr_sem_ok_m);
	down(&intr_sem_ok_s);
	up(&intr_sem_ok_s);
	mutex_unlock(&intr_sem_ok_m);
}

static struct semaphore kill_sem_s = __SEMAPHORE_INITIALIZER(kill_sem_s, 1);
static DEFINE_MUTEX(kill_sem_m);

static __side void kill_sem_sm(void)
{
	ls_require(!down_killable(&kill_sem_s));
	mutex_lock(&kill_sem_m);
	mutex_unlock(&kill_sem_m);
	up(&kill_sem_s);
}

static __side void kill_sem_ms(void)
{
	mutex_lock(&kill_sem_m);
	ls_require(!down_killable(&kill_sem_s));
	up(&kill_sem_s);
	mutex_unlock(&kill_sem_m);
}

static struct semaphore kill_sem_ok_s = __SEMAPHORE_INITIALIZER(kill_sem_ok_s, 1);
static DEFINE_MUTEX(kill_sem_ok_m);

static void kill_sem_ok_take(void)
{
	down(&kill_sem_ok_s);
}

static void kill_sem_ok_give(void)
{
	up(&kill_sem_ok_s);
}

static __side void kill_sem_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(kill_sem_ok_take, kill_sem_ok_give);

	ls_raise(SIGKILL);
	ls_require(down_killable(&kill_sem_ok_s) == -EINTR);
	ls_lower(SIGKILL);
	mutex_lock(&kill_sem_ok_m);
	mutex_unlock(&kill_sem_ok_m);
	ls_unhold(holder);
}

static __side void kill_sem_ok_ms(void)
{
	mutex_lock(&kill_sem_ok_m);
	down(&kill_sem_ok_s);
	up(&kill_sem_ok_s);
	mutex_unlock(&kill_sem_ok_m);
}

static struct semaphore time_sem_s = __SEMAPHORE_INITIALIZER(time_sem_s, 1);
static DEFINE_MUTEX(time_sem_m);

static __side void time_sem_sm(void)
{
	ls_require(!down_timeout(&time_sem_s, HZ));
	mutex_lock(&time_sem_m);
	mutex_unlock(&time_sem_m);
	up(&time_sem_s);
}

static __side void time_sem_ms(void)
{
	mutex_lock(&time_sem_m);
	ls_require(!down_timeout(&time_sem_s, HZ));
	up(&time_sem_s);
	mutex_unlock(&time_sem_m);
}

static struct semaphore time_sem_ok_s = __SEMAPHORE_INITIALIZER(time_sem_ok_s, 1);
static DEFINE_MUTEX(time_sem_ok_m);

static void time_sem_ok_take(void)
{
	down(&time_sem_ok_s);
}

static void time_sem_ok_give(void)
{
	up(&time_sem_ok_s);
}

static __side void time_sem_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(time_sem_ok_take, time_sem_ok_give);

	ls_require(down_timeout(&time_sem_ok_s, 1) == -ETIME);
	mutex_lock(&time_sem_ok_m);
	mutex_unlock(&time_sem_ok_m);
	ls_unhold(holder);
}

static __side void time_sem_ok_ms(void)
{
	mutex_lock(&time_sem_ok_m);
	down(&time_sem_ok_s);
	up(&time_sem_ok_s);
	mutex_unlock(&time_sem_ok_m);
}

static DECLARE_RWSEM(kill_write_s);
static DEFINE_MUTEX(kill_write_m);

static __side void kill_write_sm(void)
{
	ls_require(!down_write_killable(&kill_write_s));
	mutex_lock(&kill_write_m);
	mutex_unlock(&kill_write_m);
	up_write(&kill_write_s);
}

static __side void kill_write_ms(void)
{
	mutex_lock(&kill_write_m);
	ls_require(!down_write_killable(&kill_write_s));
	up_write(&kill_write_s);
	mutex_unlock(&kill_write_m);
}

static DECLARE_RWSEM(kill_write_ok_s);
static DEFINE_MUTEX(kill_write_ok_m);

static void kill_write_ok_take(void)
{
	down_read(&kill_write_ok_s);
}

static void kill_write_ok_give(void)
{
	up_read(&kill_write_ok_s);
}

static __side void kill_write_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(kill_write_ok_take, kill_write_ok_give);

	ls_raise(SIGKILL);
	ls_require(down_write_killable(&kill_write_ok_s) == -EINTR);
	ls_lower(SIGKILL);
	mutex_lock(&kill_write_ok_m);
	mutex_unlock(&kill_write_ok_m);
	ls_unhold(holder);
}

static __side void kill_write_ok_ms(void)
{
	mutex_lock(&kill_write_ok_m);
	down_write(&kill_write_ok_s);
	up_write(&kill_write_ok_s);
	mutex_unlock(&kill_write_ok_m);
}

static DECLARE_RWSEM(intr_read_s);
static DEFINE_MUTEX(intr_read_m);

static __side void intr_read_sm(void)
{
	ls_require(!down_read_interruptible(&intr_read_s));
	mutex_lock(&intr_read_m);
	mutex_unlock(&intr_read_m);
	up_read(&intr_read_s);
}

static __side void intr_read_ms(void)
{
	mutex_lock(&intr_read_m);
	ls_require(!down_read_interruptible(&intr_read_s));
	up_read(&intr_read_s);
	mutex_unlock(&intr_read_m);
}

static DECLARE_RWSEM(intr_read_ok_s);
static DEFINE_MUTEX(intr_read_ok_m);

static void intr_read_ok_take(void)
{
	down_write(&intr_read_ok_s);
}

static void intr_read_ok_give(void)
{
	up_write(&intr_read_ok_s);
}

static __side void intr_read_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(intr_read_ok_take, intr_read_ok_give);

	ls_raise(SIGUSR1);
	ls_require(down_read_interruptible(&intr_read_ok_s) == -EINTR);
	ls_lower(SIGUSR1);
	mutex_lock(&intr_read_ok_m);
	mutex_unlock(&intr_read_ok_m);
	ls_unhold(holder);
}

static __side void intr_read_ok_ms(void)
{
	mutex_lock(&intr_read_ok_m);
	down_read(&intr_read_ok_s);
	up_read(&intr_read_ok_s);
	mutex_unlock(&intr_read_ok_m);
}

static DECLARE_RWSEM(kill_read_s);
static DEFINE_MUTEX(kill_read_m);

static __side void kill_read_sm(void)
{
	ls_require(!down_read_killable(&kill_read_s));
	mutex_lock(&kill_read_m);
	mutex_unlock(&kill_read_m);
	up_read(&kill_read_s);
}

static __side void kill_read_ms(void)
{
	mutex_lock(&kill_read_m);
	ls_require(!down_read_killable(&kill_read_s));
	up_read(&kill_read_s);
	mutex_unlock(&kill_read_m);
}

static DECLARE_RWSEM(kill_read_ok_s);
static DEFINE_MUTEX(kill_read_ok_m);

static void kill_read_ok_take(void)
{
	down_write(&kill_read_ok_s);
}

static void kill_read_ok_give(void)
{
	up_write(&kill_read_ok_s);
}

static __side void kill_read_ok_fails(void)
{
	struct ls_holder *holder = ls_hold(kill_read_ok_take, kill_read_ok_give);

	ls_raise(SIGKILL);
	ls_require(down_read_killable(&kill_read_ok_s) == -EINTR);
	ls_lower(SIGKILL);
	mutex_lock(&kill_read_ok_m);
	mutex_unlock(&kill_read_ok_m);
	ls_unhold(holder);
}

static __side void kill_read_ok_ms(void)
{
	mutex_lock(&kill_read_ok_m);
	down_write(&kill_read_ok_s);
	up_write(&kill_read_ok_s);
	mutex_unlock(&kill_read_ok_m);
}

const struct ls_case order_failing_sem_cases[] = {
	{ "intr_sem", LS_FAULT, LS_CYCLE, "down_interruptible succeeds",
	  "intr_sem_s intr_sem_m",
	  .side = { { intr_sem_sm }, { intr_sem_ms } } },
	{ "intr_sem_ok", LS_TWIN, LS_CYCLE, "down_interruptible is interrupted: not held",
	  "intr_sem_ok_s intr_sem_ok_m",
	  .side = { { intr_sem_ok_fails }, { intr_sem_ok_ms } } },
	{ "kill_sem", LS_FAULT, LS_CYCLE, "down_killable succeeds",
	  "kill_sem_s kill_sem_m",
	  .side = { { kill_sem_sm }, { kill_sem_ms } } },
	{ "kill_sem_ok", LS_TWIN, LS_CYCLE, "down_killable is killed: not held",
	  "kill_sem_ok_s kill_sem_ok_m",
	  .side = { { kill_sem_ok_fails }, { kill_sem_ok_ms } } },
	{ "time_sem", LS_FAULT, LS_CYCLE, "down_timeout succeeds",
	  "time_sem_s time_sem_m",
	  .side = { { time_sem_sm }, { time_sem_ms } } },
	{ "time_sem_ok", LS_TWIN, LS_CYCLE, "down_timeout runs out of time: not held",
	  "time_sem_ok_s time_sem_ok_m",
	  .side = { { time_sem_ok_fails }, { time_sem_ok_ms } } },
	{ "kill_write", LS_FAULT, LS_CYCLE, "down_write_killable succeeds",
	  "kill_write_s kill_write_m",
	  .side = { { kill_write_sm }, { kill_write_ms } } },
	{ "kill_write_ok", LS_TWIN, LS_CYCLE, "down_write_killable is killed: not held",
	  "kill_write_ok_s kill_write_ok_m",
	  .side = { { kill_write_ok_fails }, { kill_write_ok_ms } } },
	{ "intr_read", LS_FAULT, LS_CYCLE, "down_read_interruptible succeeds",
	  "intr_read_s intr_read_m",
	  .side = { { intr_read_sm }, { intr_read_ms } } },
	{ "intr_read_ok", LS_TWIN, LS_CYCLE, "down_read_interruptible is interrupted: not held",
	  "intr_read_ok_s intr_read_ok_m",
	  .side = { { intr_read_ok_fails }, { intr_read_ok_ms } } },
	{ "kill_read", LS_FAULT, LS_CYCLE, "down_read_killable succeeds",
	  "kill_read_s kill_read_m",
	  .side = { { kill_read_sm }, { kill_read_ms } } },
	{ "kill_read_ok", LS_TWIN, LS_CYCLE, "down_read_killable is killed: not held",
	  "kill_read_ok_s kill_read_ok_m",
	  .side = { { kill_read_ok_fails }, { kill_read_ok_ms } } },
	{ }
};
