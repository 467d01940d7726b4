// SPDX-License-Identifier: GPL-2.0
/* Operations of /dev/lockscope that are about plans. */
#include <linux/kernel.h>
#include <linux/uaccess.h>

#include "base/memory.h"
#include "check/confirm.h"
#include "surface/surface.h"

static long set_plan(const void *file, const struct ls_confirm_req __user *arg)
{
	struct ls_confirm_req req;
	struct ls_confirm_plan *plans;
	struct ls_confirm_point *points;
	long rc = -EFAULT;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (!req.nr_plans && !req.nr_points) {
		ls_confirm_end(file);
		return 0;
	}
	if (req.nr_plans > LS_CONFIRM_PLANS || req.nr_points > LS_CONFIRM_POINTS)
		return -E2BIG;
	if (!req.nr_plans || !req.nr_points)
		return -EINVAL;
	plans = ls_zalloc(array_size(req.nr_plans, sizeof(*plans)));
	points = ls_zalloc(array_size(req.nr_points, sizeof(*points)));
	if (!plans || !points)
		rc = -ENOMEM;
	else if (!copy_from_user(plans, (void __user *)req.plans, req.nr_plans * sizeof(*plans)) &&
		 !copy_from_user(points, (void __user *)req.points, req.nr_points * sizeof(*points)))
		rc = ls_confirm_set(plans, req.nr_plans, points, req.nr_points, file);
	ls_free(points);
	ls_free(plans);
	return rc;
}

static long read_state(const void *file, const struct ls_confirm_state_req __user *arg)
{
	struct ls_confirm_state_req req;
	struct ls_confirm_state *state;
	long rc;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (req.pad)
		return -EINVAL;
	state = ls_zalloc(sizeof(*state));
	if (!state)
		return -ENOMEM;
	rc = ls_confirm_read(req.plan, state, file);
	if (!rc && copy_to_user((void __user *)req.buf, state, sizeof(*state)))
		rc = -EFAULT;
	ls_free(state);
	return rc;
}

/* LS_IOC_CONFIRM, LS_IOC_CONFIRM_STATE; -ENOTTY: another. @file: the open file. */
long ls_confirm_ioctl(const void *file, unsigned int cmd, void __user *arg)
{
	switch (cmd) {
	case LS_IOC_CONFIRM:
		return set_plan(file, arg);
	case LS_IOC_CONFIRM_STATE:
		return read_state(file, arg);
	}
	return -ENOTTY;
}
