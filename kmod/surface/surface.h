/* SPDX-License-Identifier: GPL-2.0 */
/* The module's interfaces to user space. */
#ifndef LOCKSCOPE_SURFACE_H
#define LOCKSCOPE_SURFACE_H

#include <linux/types.h>

struct ls_info;

/* main.c */
extern u32 ls_ring_bytes;
void ls_info_fill(struct ls_info *info);

/* chardev.c, accesses.c, confirm.c */
int ls_chardev_init(void);
void ls_chardev_exit(void);
long ls_confirm_ioctl(const void *file, unsigned int cmd, void __user *arg);
long ls_access_ioctl(const void *file, unsigned int cmd, void __user *arg);

/* debugfs.c */
void ls_debugfs_init(void);
void ls_debugfs_exit(void);

#endif /* LOCKSCOPE_SURFACE_H */
