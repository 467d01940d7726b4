// SPDX-License-Identifier: GPL-2.0
/* /dev/lockscope: the log by pread(), statistics by ioctl, the rings by mmap. */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "base/wrapper/mm.h"
#include "check/confirm.h"
#include "core/prims.h"
#include "core/state.h"
#include "hook/hook.h"
#include "out/out.h"
#include "surface/surface.h"

#define CHAIN_BATCH 512

/* The log has kernel addresses: opening it needs the right to see them. */
static int device_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN) || !capable(CAP_SYSLOG))
		return -EPERM;
	return 0;
}

static ssize_t device_read(struct file *file, char __user *buf, size_t len, loff_t *at)
{
	ssize_t n = ls_log_copy_to_user(buf, len, *at);

	if (n > 0)
		*at += n;
	return n;
}

static loff_t device_seek(struct file *file, loff_t to, int whence)
{
	return fixed_size_llseek(file, to, whence, ls_log_len());
}

static long read_chains(struct ls_chains_req __user *arg)
{
	struct ls_chains_req req;
	struct ls_chain *batch;
	u32 done = 0, last, n, i;
	long rc = 0;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (!req.from)
		return -EINVAL;
	batch = kmalloc_array(CHAIN_BATCH, sizeof(*batch), GFP_KERNEL);
	if (!batch)
		return -ENOMEM;
	last = ls_load_acquire(&ls.chains.nr);
	while (done < req.nr && req.from <= last && done <= last - req.from) {
		n = min3(req.nr - done, last - req.from - done + 1, (u32)CHAIN_BATCH);
		for (i = 0; i < n; i++) {
			struct ls_chain *c = ls_chains_get(&ls.chains, req.from + done + i);

			batch[i] = c ? *c : (struct ls_chain){ };
		}
		if (copy_to_user((struct ls_chain __user *)req.buf + done, batch, n * sizeof(*batch))) {
			rc = -EFAULT;
			break;
		}
		done += n;
		cond_resched();
	}
	kfree(batch);
	return rc ? rc : put_user(done, &arg->nr);
}

/* Classes with counts. */
static long read_counts(struct ls_counts_req __user *arg)
{
	struct ls_counts_req req;
	struct ls_class_counts counts;
	u32 last, done = 0;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (!req.from)
		return -EINVAL;
	last = ls_load_acquire(&ls.classes.nr);
	for (; req.from <= last && done < req.nr; req.from++) {
		cond_resched();
		if (!ls_classes_counts(&ls.classes, req.from, &counts))
			continue;
		if (copy_to_user((struct ls_class_counts __user *)req.buf + done, &counts, sizeof(counts)))
			return -EFAULT;
		done++;
	}
	req.nr = done;
	return copy_to_user(arg, &req, sizeof(req)) ? -EFAULT : 0;
}

static long read_prims(struct ls_prims_req __user *arg)
{
	struct ls_prims_req req;
	u32 i, n;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	n = min_t(u32, req.nr, LS_NR_PRIMS);
	for (i = 0; i < n; i++) {
		struct ls_prim_info info = { };

		ls_prims_info(i, &info);
		if (copy_to_user((struct ls_prim_info __user *)req.buf + i, &info, sizeof(info)))
			return -EFAULT;
	}
	return put_user(n, &arg->nr);
}

static long read_symbol(struct ls_rec_symbol __user *arg)
{
	struct ls_rec_symbol rec = { };

	if (get_user(rec.ip, &arg->ip))
		return -EFAULT;
	if (!ls_symbol_at(&rec))
		return -ENOENT;
	return copy_to_user(arg, &rec, sizeof(rec)) ? -EFAULT : 0;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct ls_info info;
	long rc;
	u32 op;

	switch (cmd) {
	case LS_IOC_INFO:
		memset(&info, 0, sizeof(info));
		ls_info_fill(&info);
		return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
	case LS_IOC_CHAINS:
		return read_chains(user);
	case LS_IOC_PRIMS:
		return read_prims(user);
	case LS_IOC_COUNTS:
		return read_counts(user);
	case LS_IOC_WAITS:
		return ls_waits_list(user);
	case LS_IOC_SYMBOL:
		return read_symbol(user);
	case LS_IOC_CTL:
		if (get_user(op, (u32 __user *)user))
			return -EFAULT;
		return ls_worker_control(op);
	}
	rc = ls_confirm_ioctl(file, cmd, user);
	return rc == -ENOTTY ? ls_access_ioctl(file, cmd, user) : rc;
}

/* Readable when the log reaches beyond the file's position. */
static __poll_t device_poll(struct file *file, poll_table *wait)
{
	poll_wait(file, &ls_log_wait, wait);
	return ls_log_len() > (u64)file->f_pos ? EPOLLIN | EPOLLRDNORM : 0;
}

/* One CPU's event ring, read-only: header page, then data. */
static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	unsigned long cpu = (vma->vm_pgoff << PAGE_SHIFT) / ls_ring_bytes;
	unsigned long len = vma->vm_end - vma->vm_start;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	if ((vma->vm_pgoff << PAGE_SHIFT) % ls_ring_bytes || len > ls_ring_bytes ||
	    cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	vm_flags_clear(vma, VM_MAYWRITE);
	return remap_vmalloc_range(vma, per_cpu_ptr(&ls_cpus, cpu)->ring.hdr, 0);
}

/* A recorder that was killed leaves no probes and no plan behind. */
static int device_release(struct inode *inode, struct file *file)
{
	ls_confirm_end(file);
	ls_probes_disown(file);
	return 0;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.read = device_read,
	.llseek = device_seek,
	.unlocked_ioctl = device_ioctl,
	.poll = device_poll,
	.mmap = device_mmap,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = LS_DEVICE_NAME,
	.fops = &device_fops,
	.mode = 0600,
};

int ls_chardev_init(void)
{
	return misc_register(&device);
}

void ls_chardev_exit(void)
{
	misc_deregister(&device);
}
