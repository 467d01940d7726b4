// SPDX-License-Identifier: GPL-2.0
/* Read locks admit several holders: not enough for a writer. */
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "races.h"

static unsigned long rw_spin_v __shared;
static DEFINE_RWLOCK(rw_spin_l);

static __side void rw_spin_a(void)
{
	read_lock(&rw_spin_l);
	rw_spin_v = ls_value();
	read_unlock(&rw_spin_l);
}

static __side void rw_spin_b(void)
{
	read_lock(&rw_spin_l);
	rw_spin_v = ls_value();
	read_unlock(&rw_spin_l);
}

static unsigned long rw_spin_ok_v __shared;
static DEFINE_RWLOCK(rw_spin_ok_l);

static __side void rw_spin_ok_a(void)
{
	write_lock(&rw_spin_ok_l);
	rw_spin_ok_v = ls_value();
	write_unlock(&rw_spin_ok_l);
}

static __side void rw_spin_ok_b(void)
{
	write_lock(&rw_spin_ok_l);
	rw_spin_ok_v = ls_value();
	write_unlock(&rw_spin_ok_l);
}

/* One writer only, but readers beside it. */
static unsigned int rw_sem_v __shared;
static DECLARE_RWSEM(rw_sem_l);

static __side void rw_sem_a(void)
{
	down_read(&rw_sem_l);
	rw_sem_v = ls_value();
	up_read(&rw_sem_l);
}

static __side void rw_sem_b(void)
{
	down_read(&rw_sem_l);
	ls_use(rw_sem_v);
	up_read(&rw_sem_l);
}

static unsigned int rw_sem_ok_v __shared;
static DECLARE_RWSEM(rw_sem_ok_l);

static __side void rw_sem_ok_a(void)
{
	down_write(&rw_sem_ok_l);
	rw_sem_ok_v = ls_value();
	up_write(&rw_sem_ok_l);
}

static __side void rw_sem_ok_b(void)
{
	down_read(&rw_sem_ok_l);
	ls_use(rw_sem_ok_v);
	up_read(&rw_sem_ok_l);
}

/* No longer a writer after downgrade_write. */
static unsigned int rw_down_v __shared;
static DECLARE_RWSEM(rw_down_l);

static __side void rw_down_a(void)
{
	down_write(&rw_down_l);
	downgrade_write(&rw_down_l);
	rw_down_v = ls_value();
	up_read(&rw_down_l);
}

static __side void rw_down_b(void)
{
	down_read(&rw_down_l);
	ls_use(rw_down_v);
	up_read(&rw_down_l);
}

static unsigned int rw_down_ok_v __shared;
static DECLARE_RWSEM(rw_down_ok_l);

static __side void rw_down_ok_a(void)
{
	down_write(&rw_down_ok_l);
	rw_down_ok_v = ls_value();
	downgrade_write(&rw_down_ok_l);
	ls_use(rw_down_ok_v);
	up_read(&rw_down_ok_l);
}

static __side void rw_down_ok_b(void)
{
	down_read(&rw_down_ok_l);
	ls_use(rw_down_ok_v);
	up_read(&rw_down_ok_l);
}

/* Readers without the lock that the writer takes. */
static unsigned long rw_bare_v __shared;
static DEFINE_RWLOCK(rw_bare_l);

static __side void rw_bare_a(void)
{
	write_lock(&rw_bare_l);
	rw_bare_v = ls_value();
	write_unlock(&rw_bare_l);
}

static __side void rw_bare_b(void)
{
	ls_use(rw_bare_v);
}

static unsigned long rw_bare_ok_v __shared;
static DEFINE_RWLOCK(rw_bare_ok_l);

static __side void rw_bare_ok_a(void)
{
	write_lock(&rw_bare_ok_l);
	rw_bare_ok_v = ls_value();
	write_unlock(&rw_bare_ok_l);
}

static __side void rw_bare_ok_b(void)
{
	read_lock(&rw_bare_ok_l);
	ls_use(rw_bare_ok_v);
	read_unlock(&rw_bare_ok_l);
}

/* An RCU read side keeps memory from being freed, but excludes no writer. */
static unsigned long rw_rcu_v __shared;

static __side void rw_rcu_a(void)
{
	rcu_read_lock();
	rw_rcu_v = ls_value();
	rcu_read_unlock();
}

static __side void rw_rcu_b(void)
{
	rcu_read_lock();
	rw_rcu_v = ls_value();
	rcu_read_unlock();
}

static unsigned long rw_rcu_ok_v __shared;
static DEFINE_SPINLOCK(rw_rcu_ok_s);

static __side void rw_rcu_ok_a(void)
{
	rcu_read_lock();
	spin_lock(&rw_rcu_ok_s);
	rw_rcu_ok_v = ls_value();
	spin_unlock(&rw_rcu_ok_s);
	rcu_read_unlock();
}

static __side void rw_rcu_ok_b(void)
{
	rcu_read_lock();
	spin_lock(&rw_rcu_ok_s);
	rw_rcu_ok_v = ls_value();
	spin_unlock(&rw_rcu_ok_s);
	rcu_read_unlock();
}

const struct ls_case race_rw_cases[] = {
	{ "rw_spin", LS_FAULT, LS_RACE, "two writers under read_lock",
	  "severity!=note variable=rw_spin_v", .side = { SIDE(rw_spin_a), SIDE(rw_spin_b) } },
	{ "rw_spin_ok", LS_TWIN, LS_RACE, "two writers under write_lock",
	  "", .side = { SIDE(rw_spin_ok_a), SIDE(rw_spin_ok_b) } },
	{ "rw_sem", LS_FAULT, LS_RACE, "writer and reader under down_read",
	  "severity!=note variable=rw_sem_v", .side = { SIDE(rw_sem_a), SIDE(rw_sem_b) } },
	{ "rw_sem_ok", LS_TWIN, LS_RACE, "writer under down_write, reader under down_read",
	  "", .side = { SIDE(rw_sem_ok_a), SIDE(rw_sem_ok_b) } },
	{ "rw_down", LS_FAULT, LS_RACE, "written after downgrade_write",
	  "severity!=note variable=rw_down_v", .side = { SIDE(rw_down_a), SIDE(rw_down_b) } },
	{ "rw_down_ok", LS_TWIN, LS_RACE, "written before downgrade_write",
	  "", .side = { SIDE(rw_down_ok_a), SIDE(rw_down_ok_b) } },
	{ "rw_bare", LS_FAULT, LS_RACE, "written under write_lock, read without",
	  "severity!=note variable=rw_bare_v", .side = { SIDE(rw_bare_a), SIDE(rw_bare_b) } },
	{ "rw_bare_ok", LS_TWIN, LS_RACE, "written under write_lock, read under read_lock",
	  "", .side = { SIDE(rw_bare_ok_a), SIDE(rw_bare_ok_b) } },
	{ "rw_rcu", LS_FAULT, LS_RACE, "two writers under rcu_read_lock",
	  "severity!=note variable=rw_rcu_v", .side = { SIDE(rw_rcu_a), SIDE(rw_rcu_b) } },
	{ "rw_rcu_ok", LS_TWIN, LS_RACE, "two writers under rcu_read_lock and a spinlock",
	  "", .side = { SIDE(rw_rcu_ok_a), SIDE(rw_rcu_ok_b) } },
	{ }
};
