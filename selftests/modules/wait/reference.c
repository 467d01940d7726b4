// SPDX-License-Identifier: GPL-2.0
/*
 * The last reference completes what the owner of the first one waits for, with a lock
 * held that other owners may need. Nothing waits in earnest, as in completion.c.
 */
#include <linux/completion.h>
#include <linux/container_of.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "selftest.h"

/* A side that does something about a completion under a lock. */
#define LS_UNDER(function, lock, take, give, what) \
	static __side void function(void) \
	{ \
		take(&(lock)); \
		what; \
		give(&(lock)); \
	}

/* The last reference completes: dropped by another context, or by the waiter. */
static DEFINE_MUTEX(cmp_self_m);
static DECLARE_COMPLETION(cmp_self_c);
static struct kref cmp_self_users;

static __side void cmp_self_release(struct kref *users)
{
	complete(&cmp_self_c);
}

static int cmp_self_setup(void)
{
	kref_init(&cmp_self_users);
	return 0;
}
LS_UNDER(cmp_self_puts, cmp_self_m, mutex_lock, mutex_unlock,
	 kref_put(&cmp_self_users, cmp_self_release))
LS_UNDER(cmp_self_waits, cmp_self_m, mutex_lock, mutex_unlock, wait_for_completion(&cmp_self_c))

static DEFINE_MUTEX(cmp_self_ok_m);
static DECLARE_COMPLETION(cmp_self_ok_c);
static struct kref cmp_self_ok_users;

static __side void cmp_self_ok_release(struct kref *users)
{
	complete(&cmp_self_ok_c);
}

static int cmp_self_ok_setup(void)
{
	kref_init(&cmp_self_ok_users);
	return 0;
}
LS_UNDER(cmp_self_ok_waits, cmp_self_ok_m, mutex_lock, mutex_unlock,
	 { kref_put(&cmp_self_ok_users, cmp_self_ok_release);
	   wait_for_completion(&cmp_self_ok_c); })

/*
 * A queue's requests, each of which has a reference; the flush drops the first one of
 * each queue and waits for the last one of all. Here requests are finished with the
 * mutex that the flush holds.
 */
#define FLUSH_QUEUES 4
struct ls_flush {
	struct {
		struct kref users;
		struct completion done;
	} queue[FLUSH_QUEUES];
};

static __side void ls_flush_begin(struct ls_flush *flush)
{
	unsigned int i;

	for (i = 0; i < FLUSH_QUEUES; i++) {
		kref_init(&flush->queue[i].users);
		init_completion(&flush->queue[i].done);
	}
}

static struct ls_flush *cmp_last;
static DEFINE_MUTEX(cmp_last_m);

static int cmp_last_setup(void)
{
	cmp_last = kzalloc(sizeof(*cmp_last), GFP_KERNEL);
	return cmp_last ? 0 : -ENOMEM;
}

static void cmp_last_teardown(void)
{
	kfree(cmp_last);
	cmp_last = NULL;
}

static __side void cmp_last_release(struct kref *users)
{
	complete(&container_of(users, typeof(cmp_last->queue[0]), users)->done);
}

static __side void cmp_last_put(void)
{
	unsigned int i;

	for (i = 0; i < FLUSH_QUEUES; i++)
		kref_put(&cmp_last->queue[i].users, cmp_last_release);
}

static __side void cmp_last_starts(void)
{
	unsigned int i;

	ls_flush_begin(cmp_last);
	for (i = 0; i < FLUSH_QUEUES; i++)
		kref_get(&cmp_last->queue[i].users);
	cmp_last_put();
}
LS_UNDER(cmp_last_finishes, cmp_last_m, mutex_lock, mutex_unlock, cmp_last_put())

static __side void cmp_last_waits(void)
{
	unsigned int i;

	mutex_lock(&cmp_last_m);
	for (i = 0; i < FLUSH_QUEUES; i++)
		wait_for_completion(&cmp_last->queue[i].done);
	mutex_unlock(&cmp_last_m);
}

/* As vhost-scsi does: nothing is on its way, so every last reference is the flush's. */
static struct ls_flush *cmp_last_ok;
static DEFINE_MUTEX(cmp_last_ok_m);

static int cmp_last_ok_setup(void)
{
	cmp_last_ok = kzalloc(sizeof(*cmp_last_ok), GFP_KERNEL);
	if (!cmp_last_ok)
		return -ENOMEM;
	ls_flush_begin(cmp_last_ok);
	return 0;
}

static void cmp_last_ok_teardown(void)
{
	kfree(cmp_last_ok);
	cmp_last_ok = NULL;
}

static __side void cmp_last_ok_release(struct kref *users)
{
	complete(&container_of(users, typeof(cmp_last_ok->queue[0]), users)->done);
}

static __side void cmp_last_ok_flushes(void)
{
	unsigned int i;

	mutex_lock(&cmp_last_ok_m);
	for (i = 0; i < FLUSH_QUEUES; i++)
		kref_put(&cmp_last_ok->queue[i].users, cmp_last_ok_release);
	for (i = 0; i < FLUSH_QUEUES; i++)
		wait_for_completion(&cmp_last_ok->queue[i].done);
	ls_flush_begin(cmp_last_ok);
	mutex_unlock(&cmp_last_ok_m);
}

const struct ls_case verdict_reference_cases[] = {
	{ "cmp_self", LS_FAULT, LS_CYCLE, "the last reference is dropped under the mutex of who waits",
	  "cmp_self_m cmp_self_c", .setup = cmp_self_setup,
	  .side = { { cmp_self_puts }, { cmp_self_waits } } },
	{ "cmp_self_ok", LS_TWIN, LS_CYCLE, "who waits drops the last reference itself", "",
	  .setup = cmp_self_ok_setup, .side = { { cmp_self_ok_waits } } },
	{ "cmp_last", LS_FAULT, LS_CYCLE, "the last reference of each queue is dropped under the mutex of the flush",
	  "cmp_last_m kind=completion", .setup = cmp_last_setup, .teardown = cmp_last_teardown,
	  .side = { { cmp_last_starts }, { cmp_last_finishes }, { cmp_last_waits } } },
	{ "cmp_last_ok", LS_TWIN, LS_CYCLE, "the flush drops the last reference of each queue itself", "",
	  .setup = cmp_last_ok_setup, .teardown = cmp_last_ok_teardown,
	  .side = { { cmp_last_ok_flushes }, { cmp_last_ok_flushes } } },
	{ }
};
