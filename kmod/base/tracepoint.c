// SPDX-License-Identifier: GPL-2.0
/* Attaching to tracepoints of the kernel that are not exported. */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "base/tracepoint.h"

struct find_tracepoint {
	const char *name;
	struct tracepoint *found;
};

static void match_tracepoint(struct tracepoint *tp, void *priv)
{
	struct find_tracepoint *f = priv;

	if (!strcmp(tp->name, f->name))
		f->found = tp;
}

/* Attach to a tracepoint of the kernel by name; -ENOENT when there is none. */
int ls_tracepoint_attach(const char *name, void *probe, void *data)
{
	struct find_tracepoint f = { .name = name };

	for_each_kernel_tracepoint(match_tracepoint, &f);
	return f.found ? tracepoint_probe_register(f.found, probe, data) : -ENOENT;
}

void ls_tracepoint_detach(const char *name, void *probe, void *data)
{
	struct find_tracepoint f = { .name = name };

	for_each_kernel_tracepoint(match_tracepoint, &f);
	if (f.found)
		tracepoint_probe_unregister(f.found, probe, data);
}
