// SPDX-License-Identifier: GPL-2.0
/* Operations of /dev/lockscope that are about memory accesses. */
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/uaccess.h>

#include "base/memory.h"
#include "check/access/access.h"
#include "hook/hook.h"
#include "out/races/accesses.h"
#include "surface/surface.h"

static long set_sites(const void *file, struct ls_sites_req __user *arg)
{
	struct ls_sites_req req;
	struct ls_site *sites = NULL;
	u32 armed = 0;
	long rc = 0;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (req.nr > ls_max_probes)
		return -E2BIG;
	/* As for the kernel's own interfaces to probes. */
	if (req.nr && security_locked_down(LOCKDOWN_KPROBES))
		return -EPERM;
	if (req.nr) {
		sites = ls_zalloc(array_size(req.nr, sizeof(*sites)));
		if (!sites)
			return -ENOMEM;
		if (copy_from_user(sites, (void __user *)req.buf, req.nr * sizeof(*sites)))
			rc = -EFAULT;
	}
	rc = rc ? rc : ls_probes_set(sites, req.nr, &armed, file);
	if (!rc && req.nr && copy_to_user((void __user *)req.buf, sites, req.nr * sizeof(*sites)))
		rc = -EFAULT;
	ls_free(sites);
	return rc ? rc : put_user(armed, &arg->armed);
}

static long read_hits(struct ls_sites_req __user *arg)
{
	struct ls_sites_req req;
	long rc;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	rc = ls_probes_hits((u32 __user *)req.buf, req.nr);
	return rc < 0 ? rc : put_user((u32)rc, &arg->nr);
}

static int follow(const struct ls_follow_req *req)
{
	if (req->bytes > 4096 || req->start + req->bytes < req->start)
		return -EINVAL;
	WRITE_ONCE(ls_follow_bytes, 0);
	synchronize_rcu();
	WRITE_ONCE(ls_follow_start, req->start);
	WRITE_ONCE(ls_follow_bytes, req->bytes);
	return 0;
}

static long read_counts(struct ls_access_counts_req __user *arg)
{
	struct ls_access_counts_req req;
	u32 i, nr, count, last = READ_ONCE(ls_acc->nr_sites);

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (!req.from || last >= LS_MAX_SITES)
		return -EINVAL;
	nr = req.from <= last ? min(req.nr, last - req.from + 1) : 0;
	for (i = 0; i < nr; i++) {
		count = min(READ_ONCE(ls_acc->counts[req.from + i]), LS_COUNT_SHARED - 1);
		if (READ_ONCE(ls_acc->ops[req.from + i]) & LS_OP_SHARED)
			count |= LS_COUNT_SHARED;
		if (put_user(count, (u32 __user *)req.buf + i))
			return -EFAULT;
	}
	return put_user(nr, &arg->nr);
}

/* LS_IOC_ACCESS_*, LS_IOC_FOLLOW, LS_IOC_SITES, LS_IOC_SITE_HITS. @file: the open file. */
long ls_access_ioctl(const void *file, unsigned int cmd, void __user *arg)
{
	struct ls_access_info info = { };
	struct ls_access_ctl ctl;
	struct ls_follow_req req;

	switch (cmd) {
	case LS_IOC_ACCESS_INFO:
		ls_access_info_fill(&info);
		return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
	case LS_IOC_ACCESS_CTL:
		return copy_from_user(&ctl, arg, sizeof(ctl)) ? -EFAULT : ls_epochs_set(&ctl);
	case LS_IOC_ACCESS_COUNTS:
		return read_counts(arg);
	case LS_IOC_FOLLOW:
		return copy_from_user(&req, arg, sizeof(req)) ? -EFAULT : follow(&req);
	case LS_IOC_SITES:
		return set_sites(file, arg);
	case LS_IOC_SITE_HITS:
		return read_hits(arg);
	}
	return -ENOTTY;
}
