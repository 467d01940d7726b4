/* SPDX-License-Identifier: GPL-2.0 */
/* What devices, and buses and classes of devices, are: roles of refine.h. */
#ifndef LOCKSCOPE_DEVICES_H
#define LOCKSCOPE_DEVICES_H

#include "lockscope.h"

/* Process context, once. */
void ls_devices_init(void);

/* Is the mutex at @lock the one of a struct device that was initialised? Any context. */
bool ls_is_device_mutex(unsigned long lock);

/*
 * What the struct device at @dev is, or the bus or class of devices whose private data lie at
 * @subsystem: a number, 0 while nothing says so, and in words, LS_ROLE_LEN bytes at most. Any
 * context. Names are read letter by letter: for locks that are not taken often.
 */
u64 ls_role_of_device(u64 dev);
void ls_describe_device(u64 dev, char *role);
u64 ls_role_of_subsystem(u64 subsystem);
void ls_describe_subsystem(u64 subsystem, char *role);

#endif /* LOCKSCOPE_DEVICES_H */
