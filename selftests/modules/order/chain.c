// SPDX-License-Identifier: GPL-2.0
/* Circles of more than two locks: no two sides take the same pair. */
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>

#include "selftest.h"

static DEFINE_SPINLOCK(chain_three_a);
static DEFINE_SPINLOCK(chain_three_b);
static DEFINE_SPINLOCK(chain_three_c);

static __side void chain_three_ab(void)
{
	spin_lock(&chain_three_a);
	spin_lock(&chain_three_b);
	spin_unlock(&chain_three_b);
	spin_unlock(&chain_three_a);
}

static __side void chain_three_bc(void)
{
	spin_lock(&chain_three_b);
	spin_lock(&chain_three_c);
	spin_unlock(&chain_three_c);
	spin_unlock(&chain_three_b);
}

static __side void chain_three_ca(void)
{
	spin_lock(&chain_three_c);
	spin_lock(&chain_three_a);
	spin_unlock(&chain_three_a);
	spin_unlock(&chain_three_c);
}

static DEFINE_SPINLOCK(chain_three_ok_a);
static DEFINE_SPINLOCK(chain_three_ok_b);
static DEFINE_SPINLOCK(chain_three_ok_c);

static __side void chain_three_ok_ab(void)
{
	spin_lock(&chain_three_ok_a);
	spin_lock(&chain_three_ok_b);
	spin_unlock(&chain_three_ok_b);
	spin_unlock(&chain_three_ok_a);
}

static __side void chain_three_ok_bc(void)
{
	spin_lock(&chain_three_ok_b);
	spin_lock(&chain_three_ok_c);
	spin_unlock(&chain_three_ok_c);
	spin_unlock(&chain_three_ok_b);
}

static __side void chain_three_ok_ac(void)
{
	spin_lock(&chain_three_ok_a);
	spin_lock(&chain_three_ok_c);
	spin_unlock(&chain_three_ok_c);
	spin_unlock(&chain_three_ok_a);
}

/* Four locks of four kinds. */
static DEFINE_MUTEX(chain_four_m);
static DECLARE_RWSEM(chain_four_w);
static struct semaphore chain_four_s = __SEMAPHORE_INITIALIZER(chain_four_s, 1);
static DEFINE_MUTEX(chain_four_n);

static __side void chain_four_mw(void)
{
	mutex_lock(&chain_four_m);
	down_write(&chain_four_w);
	up_write(&chain_four_w);
	mutex_unlock(&chain_four_m);
}

static __side void chain_four_ws(void)
{
	down_read(&chain_four_w);
	down(&chain_four_s);
	up(&chain_four_s);
	up_read(&chain_four_w);
}

static __side void chain_four_sn(void)
{
	down(&chain_four_s);
	mutex_lock(&chain_four_n);
	mutex_unlock(&chain_four_n);
	up(&chain_four_s);
}

static __side void chain_four_nm(void)
{
	mutex_lock(&chain_four_n);
	mutex_lock(&chain_four_m);
	mutex_unlock(&chain_four_m);
	mutex_unlock(&chain_four_n);
}

static DEFINE_MUTEX(chain_four_ok_m);
static DECLARE_RWSEM(chain_four_ok_w);
static struct semaphore chain_four_ok_s = __SEMAPHORE_INITIALIZER(chain_four_ok_s, 1);
static DEFINE_MUTEX(chain_four_ok_n);

static __side void chain_four_ok_mw(void)
{
	mutex_lock(&chain_four_ok_m);
	down_write(&chain_four_ok_w);
	up_write(&chain_four_ok_w);
	mutex_unlock(&chain_four_ok_m);
}

static __side void chain_four_ok_ws(void)
{
	down_read(&chain_four_ok_w);
	down(&chain_four_ok_s);
	up(&chain_four_ok_s);
	up_read(&chain_four_ok_w);
}

static __side void chain_four_ok_sn(void)
{
	down(&chain_four_ok_s);
	mutex_lock(&chain_four_ok_n);
	mutex_unlock(&chain_four_ok_n);
	up(&chain_four_ok_s);
}

static __side void chain_four_ok_mn(void)
{
	mutex_lock(&chain_four_ok_m);
	mutex_lock(&chain_four_ok_n);
	mutex_unlock(&chain_four_ok_n);
	mutex_unlock(&chain_four_ok_m);
}

/*
 * One side holds three locks at once; the other closes the circle from the
 * innermost to the outermost, past the one in between.
 */
static DEFINE_MUTEX(chain_nested_a);
static DEFINE_MUTEX(chain_nested_b);
static DEFINE_MUTEX(chain_nested_c);

static __side void chain_nested_abc(void)
{
	mutex_lock(&chain_nested_a);
	mutex_lock(&chain_nested_b);
	mutex_lock(&chain_nested_c);
	mutex_unlock(&chain_nested_c);
	mutex_unlock(&chain_nested_b);
	mutex_unlock(&chain_nested_a);
}

static __side void chain_nested_ca(void)
{
	mutex_lock(&chain_nested_c);
	mutex_lock(&chain_nested_a);
	mutex_unlock(&chain_nested_a);
	mutex_unlock(&chain_nested_c);
}

static DEFINE_MUTEX(chain_nested_ok_a);
static DEFINE_MUTEX(chain_nested_ok_b);
static DEFINE_MUTEX(chain_nested_ok_c);

static __side void chain_nested_ok_abc(void)
{
	mutex_lock(&chain_nested_ok_a);
	mutex_lock(&chain_nested_ok_b);
	mutex_lock(&chain_nested_ok_c);
	mutex_unlock(&chain_nested_ok_c);
	mutex_unlock(&chain_nested_ok_b);
	mutex_unlock(&chain_nested_ok_a);
}

static __side void chain_nested_ok_bc(void)
{
	mutex_lock(&chain_nested_ok_b);
	mutex_lock(&chain_nested_ok_c);
	mutex_unlock(&chain_nested_ok_c);
	mutex_unlock(&chain_nested_ok_b);
}

const struct ls_case order_chain_cases[] = {
	{ "chain_three", LS_FAULT, LS_CYCLE, "circle of three spinlocks",
	  "chain_three_a chain_three_b chain_three_c",
	  .side = { { chain_three_ab }, { chain_three_bc }, { chain_three_ca } } },
	{ "chain_three_ok", LS_TWIN, LS_CYCLE, "three spinlocks in one order",
	  "chain_three_ok_a chain_three_ok_b chain_three_ok_c",
	  .side = { { chain_three_ok_ab }, { chain_three_ok_bc }, { chain_three_ok_ac } } },
	{ "chain_four", LS_FAULT, LS_CYCLE, "circle of mutex, rwsem, semaphore and mutex",
	  "chain_four_m chain_four_w chain_four_s chain_four_n",
	  .side = { { chain_four_mw }, { chain_four_ws }, { chain_four_sn }, { chain_four_nm } } },
	{ "chain_four_ok", LS_TWIN, LS_CYCLE, "mutex, rwsem, semaphore and mutex in one order",
	  "chain_four_ok_m chain_four_ok_w chain_four_ok_s chain_four_ok_n",
	  .side = { { chain_four_ok_mw }, { chain_four_ok_ws }, { chain_four_ok_sn },
		    { chain_four_ok_mn } } },
	{ "chain_nested", LS_FAULT, LS_CYCLE, "innermost of three against the outermost",
	  "chain_nested_a chain_nested_c",
	  .side = { { chain_nested_abc }, { chain_nested_ca } } },
	{ "chain_nested_ok", LS_TWIN, LS_CYCLE, "three nested mutexes, a part of them again",
	  "chain_nested_ok_a chain_nested_ok_c",
	  .side = { { chain_nested_ok_abc }, { chain_nested_ok_bc } } },
	{ }
};
