// SPDX-License-Identifier: GPL-2.0
/*
 * Poses as a lockscope.ko of another ABI: same device, another major version.
 * The tools have to refuse it in one line before they read anything else.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "abi.h"

static long ls_foreign_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct ls_info *info;
	long ret = 0;

	if (command != LS_IOC_INFO)
		return -ENOTTY;
	info = kzalloc(sizeof(*info), GFP_KERNEL);
	if (!info)
		return -ENOMEM;
	info->abi_major = LS_ABI_MAJOR + 1;
	if (copy_to_user((void __user *)argument, info, sizeof(*info)))
		ret = -EFAULT;
	kfree(info);
	return ret;
}

static const struct file_operations ls_foreign_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ls_foreign_ioctl,
};

static struct miscdevice ls_foreign_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = LS_DEVICE_NAME,
	.mode = 0600,
	.fops = &ls_foreign_fops,
};
module_misc_device(ls_foreign_device);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("LockScope selftest: a module with another ABI");
