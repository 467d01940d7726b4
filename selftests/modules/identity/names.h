/* SPDX-License-Identifier: GPL-2.0 */
/* The locks of names_other.c, which have the names of those of names.c. */
#ifndef LS_NAMES_H
#define LS_NAMES_H

#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct ls_named {
	struct mutex lock;
};

struct mutex *name_files_other(void);
struct mutex *name_files_ok_other(void);
struct mutex *name_mid_other(void);
struct mutex *name_mid_ok_other(void);
spinlock_t *name_percpu_other(void);
spinlock_t *name_percpu_ok_other(void);
struct ls_named *name_init_other(void);
struct ls_named *name_init_ok_other(void);

extern struct work_struct name_work_other, name_work_ok_other;
extern struct mutex name_work_m, name_work_ok_m;

#endif /* LS_NAMES_H */
