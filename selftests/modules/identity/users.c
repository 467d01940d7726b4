// SPDX-License-Identifier: GPL-2.0
/*
 * Memory that one function allocates for many: a lock of one user at the place where another
 * user has a lock, of another kind or of the same one, is another lock.
 */
#include <crypto/internal/hash.h>
#include <linux/err.h>
#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "selftest.h"

/* NAME: a helper's memory, with a mutex for one user, and for the other one with a spinlock. */
#define USERS_OF_HELPER(name, take, give)				\
static void *name##_of[2];						\
									\
static __side void *name##_new(void)					\
{									\
	char *memory = kzalloc(152, GFP_KERNEL);			\
									\
	/* So that the call of the allocator is no jump. */		\
	if (memory)							\
		memory[151] = 1;					\
	return memory;							\
}									\
									\
static int name##_setup(void)						\
{									\
	name##_of[0] = name##_new();					\
	name##_of[1] = name##_new();					\
	if (!name##_of[0] || !name##_of[1])				\
		return -ENOMEM;						\
	mutex_init((struct mutex *)name##_of[0]);			\
	spin_lock_init((spinlock_t *)name##_of[1]);			\
	return 0;							\
}									\
									\
static void name##_teardown(void)					\
{									\
	kfree(name##_of[0]);						\
	kfree(name##_of[1]);						\
	name##_of[0] = name##_of[1] = NULL;				\
}									\
									\
static __side void name##_mutex(void)					\
{									\
	mutex_lock(name##_of[0]);					\
	mutex_unlock(name##_of[0]);					\
}									\
									\
static __side void name##_softirq(void)					\
{									\
	spin_lock((spinlock_t *)name##_of[1]);				\
	spin_unlock((spinlock_t *)name##_of[1]);			\
}									\
									\
static __side void name##_task(void)					\
{									\
	take((spinlock_t *)name##_of[1]);				\
	give((spinlock_t *)name##_of[1]);				\
}

USERS_OF_HELPER(user_kind, spin_lock, spin_unlock)
USERS_OF_HELPER(user_kind_ok, spin_lock_bh, spin_unlock_bh)

/*
 * NAME: two subsystems of network namespaces whose memory, of one size, begins with a spinlock.
 * That of the first one is taken in softirq, that of number SECOND by a task with softirqs on.
 */
#define USERS_OF_NET(name, second)					\
static unsigned int name##_ids[2];					\
									\
static __net_init int name##_net(struct net *net)			\
{									\
	spin_lock_init((spinlock_t *)net_generic(net, name##_ids[0]));	\
	return 0;							\
}									\
									\
static __net_init int name##_other_net(struct net *net)			\
{									\
	spin_lock_init((spinlock_t *)net_generic(net, name##_ids[1]));	\
	return 0;							\
}									\
									\
static struct pernet_operations name##_ops = {				\
	.init = name##_net, .id = &name##_ids[0], .size = 152,		\
};									\
									\
static struct pernet_operations name##_other_ops = {			\
	.init = name##_other_net, .id = &name##_ids[1], .size = 152,	\
};									\
									\
static bool name##_there;						\
									\
static int name##_setup(void)						\
{									\
	int rc = register_pernet_subsys(&name##_ops);			\
									\
	if (rc)								\
		return rc;						\
	rc = register_pernet_subsys(&name##_other_ops);			\
	if (rc)								\
		unregister_pernet_subsys(&name##_ops);			\
	name##_there = !rc;						\
	return rc;							\
}									\
									\
static void name##_teardown(void)					\
{									\
	if (!name##_there)						\
		return;							\
	unregister_pernet_subsys(&name##_other_ops);			\
	unregister_pernet_subsys(&name##_ops);				\
	name##_there = false;						\
}									\
									\
static __side void name##_softirq(void)					\
{									\
	spin_lock((spinlock_t *)net_generic(&init_net, name##_ids[0]));	\
	spin_unlock((spinlock_t *)net_generic(&init_net, name##_ids[0]));	\
}									\
									\
static __side void name##_task(void)					\
{									\
	spin_lock((spinlock_t *)net_generic(&init_net, name##_ids[second]));	\
	spin_unlock((spinlock_t *)net_generic(&init_net, name##_ids[second]));	\
}

USERS_OF_NET(user_net, 0)
USERS_OF_NET(user_net_ok, 1)

/*
 * NAME: elements of two memory pools of one size, and number SECOND of them taken by a task with
 * softirqs on, the first in softirq.
 */
#define USERS_OF_POOL(name, second)					\
static struct {								\
	mempool_t *pool;						\
	spinlock_t *lock;						\
} name##_of[2];								\
									\
static __side int name##_first(void)					\
{									\
	name##_of[0].pool = mempool_create_kmalloc_pool(1, 152);	\
	if (!name##_of[0].pool)						\
		return -ENOMEM;						\
	name##_of[0].lock = mempool_alloc(name##_of[0].pool, GFP_KERNEL);	\
	spin_lock_init(name##_of[0].lock);				\
	return 0;							\
}									\
									\
static __side int name##_second(void)					\
{									\
	name##_of[1].pool = mempool_create_kmalloc_pool(1, 152);	\
	if (!name##_of[1].pool)						\
		return -ENOMEM;						\
	name##_of[1].lock = mempool_alloc(name##_of[1].pool, GFP_KERNEL);	\
	spin_lock_init(name##_of[1].lock);				\
	return 0;							\
}									\
									\
static int name##_setup(void)						\
{									\
	int rc = name##_first();					\
									\
	return rc ? rc : name##_second();				\
}									\
									\
static void name##_teardown(void)					\
{									\
	int i;								\
									\
	for (i = 0; i < 2; i++) {					\
		if (name##_of[i].lock)					\
			mempool_free(name##_of[i].lock, name##_of[i].pool);	\
		mempool_destroy(name##_of[i].pool);			\
		name##_of[i].lock = NULL;				\
		name##_of[i].pool = NULL;				\
	}								\
}									\
									\
static __side void name##_softirq(void)					\
{									\
	spin_lock(name##_of[0].lock);					\
	spin_unlock(name##_of[0].lock);					\
}									\
									\
static __side void name##_task(void)					\
{									\
	spin_lock(name##_of[second].lock);				\
	spin_unlock(name##_of[second].lock);				\
}

USERS_OF_POOL(user_pool, 0)
USERS_OF_POOL(user_pool_ok, 1)

/* NAME: the same with locks in the contexts of two algorithms. */
#define USERS_OF_CRYPTO(name, second)					\
static int name##_one_update(struct shash_desc *desc, const u8 *data, unsigned int len)	\
{									\
	return 0;							\
}									\
									\
static int name##_other_update(struct shash_desc *desc, const u8 *data, unsigned int len)	\
{									\
	return -EINVAL;							\
}									\
									\
static struct shash_alg name##_algs[2] = {				\
	{ .digestsize = 16, .update = name##_one_update, .base = {	\
		.cra_name = "lst-" #name "-one", .cra_driver_name = "lst-" #name "-one-module",	\
		.cra_blocksize = 1, .cra_ctxsize = 64, .cra_module = THIS_MODULE } },	\
	{ .digestsize = 16, .update = name##_other_update, .base = {	\
		.cra_name = "lst-" #name "-other", .cra_driver_name = "lst-" #name "-other-module",	\
		.cra_blocksize = 1, .cra_ctxsize = 64, .cra_module = THIS_MODULE } },	\
};									\
static struct {								\
	struct crypto_shash *tfm;					\
	bool registered;						\
} name##_of[2];								\
									\
static int name##_setup(void)						\
{									\
	struct crypto_shash *tfm;					\
	int i, rc;							\
									\
	for (i = 0; i < 2; i++) {					\
		rc = crypto_register_shash(&name##_algs[i]);		\
		if (rc)							\
			return rc;					\
		name##_of[i].registered = true;				\
		tfm = crypto_alloc_shash(name##_algs[i].base.cra_name, 0, 0);	\
		if (IS_ERR(tfm))					\
			return PTR_ERR(tfm);				\
		name##_of[i].tfm = tfm;					\
		spin_lock_init((spinlock_t *)crypto_tfm_ctx(crypto_shash_tfm(tfm)));	\
	}								\
	return 0;							\
}									\
									\
static void name##_teardown(void)					\
{									\
	int i;								\
									\
	for (i = 0; i < 2; i++) {					\
		if (name##_of[i].tfm)					\
			crypto_free_shash(name##_of[i].tfm);		\
		if (name##_of[i].registered)				\
			crypto_unregister_shash(&name##_algs[i]);	\
		name##_of[i].tfm = NULL;				\
		name##_of[i].registered = false;			\
	}								\
}									\
									\
static spinlock_t *name##_lock(int i)					\
{									\
	return crypto_tfm_ctx(crypto_shash_tfm(name##_of[i].tfm));	\
}									\
									\
static __side void name##_softirq(void)					\
{									\
	spin_lock(name##_lock(0));					\
	spin_unlock(name##_lock(0));					\
}									\
									\
static __side void name##_task(void)					\
{									\
	spin_lock(name##_lock(second));					\
	spin_unlock(name##_lock(second));				\
}

USERS_OF_CRYPTO(user_crypto, 0)
USERS_OF_CRYPTO(user_crypto_ok, 1)

const struct ls_case verdict_users_cases[] = {
	{ "user_kind", LS_FAULT, LS_IRQ_STATE, "a spinlock where another user of the allocator has a mutex",
	  "user_kind_new kind=spinlock", user_kind_setup, user_kind_teardown,
	  { { user_kind_mutex }, { user_kind_softirq, LS_TIMER }, { user_kind_task } } },
	{ "user_kind_ok", LS_TWIN, LS_IRQ_STATE, "the same with softirqs off: the mutex is another lock",
	  "user_kind_ok_new", user_kind_ok_setup, user_kind_ok_teardown,
	  { { user_kind_ok_mutex }, { user_kind_ok_softirq, LS_TIMER }, { user_kind_ok_task } } },
	{ "user_net", LS_FAULT, LS_IRQ_STATE, "the lock of a subsystem of network namespaces, with softirqs on",
	  "user_net_net kind=spinlock", user_net_setup, user_net_teardown,
	  { { user_net_softirq, LS_TIMER }, { user_net_task } } },
	{ "user_net_ok", LS_TWIN, LS_IRQ_STATE, "another subsystem's lock at the same place, with softirqs on",
	  "user_net_ok_net", user_net_ok_setup, user_net_ok_teardown,
	  { { user_net_ok_softirq, LS_TIMER }, { user_net_ok_task } } },
	{ "user_pool", LS_FAULT, LS_IRQ_STATE, "the lock in an element of a memory pool, with softirqs on",
	  "user_pool_first kind=spinlock", user_pool_setup, user_pool_teardown,
	  { { user_pool_softirq, LS_TIMER }, { user_pool_task } } },
	{ "user_pool_ok", LS_TWIN, LS_IRQ_STATE, "the lock in an element of another pool, with softirqs on",
	  "user_pool_ok_first", user_pool_ok_setup, user_pool_ok_teardown,
	  { { user_pool_ok_softirq, LS_TIMER }, { user_pool_ok_task } } },
	{ "user_crypto", LS_FAULT, LS_IRQ_STATE, "the lock in an algorithm's context, with softirqs on",
	  "user_crypto_one_update kind=spinlock", user_crypto_setup, user_crypto_teardown,
	  { { user_crypto_softirq, LS_TIMER }, { user_crypto_task } } },
	{ "user_crypto_ok", LS_TWIN, LS_IRQ_STATE, "the lock in another algorithm's context, with softirqs on",
	  "user_crypto_ok_one_update", user_crypto_ok_setup, user_crypto_ok_teardown,
	  { { user_crypto_ok_softirq, LS_TIMER }, { user_crypto_ok_task } } },
	{ }
};
