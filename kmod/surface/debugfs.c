// SPDX-License-Identifier: GPL-2.0
/* /sys/kernel/debug/lockscope: statistics to read, and two files for tests. */
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "base/memory.h"
#include "check/access/access.h"
#include "check/confirm.h"
#include "core/prims.h"
#include "core/state.h"
#include "identity/alloc.h"
#include "out/evidence.h"
#include "out/out.h"
#include "out/races/accesses.h"
#include "surface/surface.h"

static struct dentry *dir;

/*
 * Stricter than the mode of the files: root without the capability, as in a container, is
 * refused. Nothing in debugfs shows addresses.
 */
static int open_plain(struct inode *inode, struct file *file)
{
	return capable(CAP_SYS_ADMIN) ? simple_open(inode, file) : -EPERM;
}

static int open_text(struct file *file, int (*show)(struct seq_file *m, void *unused))
{
	return capable(CAP_SYS_ADMIN) ? single_open(file, show, NULL) : -EPERM;
}

/* A read waits until everything recorded so far has been checked. */
static ssize_t findings_read(struct file *file, char __user *buf, size_t len, loff_t *at)
{
	char text[16];
	int rc;

	if (!*at) {
		rc = ls_worker_flush();
		if (rc)
			return rc;
	}
	return simple_read_from_buffer(buf, len, at, text,
				       scnprintf(text, sizeof(text), "%u\n", ls_worker_findings()));
}

static const struct file_operations findings_fops = {
	.owner = THIS_MODULE, .open = open_plain, .read = findings_read, .llseek = default_llseek,
};

static ssize_t reset_write(struct file *file, const char __user *buf, size_t len, loff_t *at)
{
	bool on;
	int rc = kstrtobool_from_user(buf, len, &on);

	if (!rc && on)
		rc = ls_worker_control(LS_CTL_RESET);
	return rc ? rc : len;
}

static const struct file_operations reset_fops = {
	.owner = THIS_MODULE, .open = open_plain, .write = reset_write, .llseek = noop_llseek,
};

static const char *const losses[LS_NR_LOSSES] = {
#define LS_ROW(symbol, value, name, ...) [value] = name,
	LS_LOSSES(LS_ROW)
#undef LS_ROW
};

static int stats_show(struct seq_file *m, void *unused)
{
	struct ls_access_info accesses = { };
	struct ls_info info = { };
	u64 stale = 0, left_out = 0;
	u64 events = 0, taken = ls_worker_taken(), produced, written;
	unsigned long memory, peak;
	u32 i, sites, learnt;
	int cpu;

	ls_info_fill(&info);
	for_each_possible_cpu(cpu) {
		stale += per_cpu_ptr(&ls_cpus, cpu)->stale;
		left_out += READ_ONCE(per_cpu(ls_access_cpus, cpu).left_out);
		events += READ_ONCE(per_cpu_ptr(&ls_cpus, cpu)->ring.hdr->events);
	}
	ls_log_info(&produced, &written);
	seq_printf(m, "active            %u\n", info.active);
	seq_printf(m, "classes           %u of %u\n", info.classes, info.max_classes);
	sites = ls_alloc_sites(&learnt);
	seq_printf(m, "allocation sites  %u, %u found to be for others\n", sites, learnt);
	seq_printf(m, "edges             %u of %u\n", info.edges, info.max_edges);
	seq_printf(m, "chains            %u of %u\n", info.chains, info.max_chains);
	seq_printf(m, "stacks            %u\n", info.stacks);
	seq_printf(m, "sights            %u\n", info.sights);
	seq_printf(m, "findings          %u\n", info.findings);
	seq_printf(m, "unproven cycles   %u\n", ls_evidence_unproven());
	seq_printf(m, "log bytes         %llu\n", info.log_bytes);
	seq_printf(m, "records           %llu of %llu written\n", written, produced);
	seq_printf(m, "events            %llu of %llu taken\n", taken, events);
	ls_memory_info(&memory, &peak);
	seq_printf(m, "memory            %lu KiB, at most %lu KiB so far\n", memory >> 10, peak >> 10);
	seq_printf(m, "acquisitions      %llu (task %llu, softirq %llu, hardirq %llu, nmi %llu)\n",
		   info.acquisitions, info.level_acquisitions[0], info.level_acquisitions[1],
		   info.level_acquisitions[2], info.level_acquisitions[3]);
	seq_printf(m, "releases          %llu\n", info.releases);
	seq_printf(m, "unknown releases  %llu\n", info.unknown_releases);
	seq_printf(m, "stale entries     %llu\n", stale);
	seq_printf(m, "deferred          %llu\n", info.deferred);
	ls_access_info_fill(&accesses);
	seq_printf(m, "accesses          %llu\n", accesses.seen);
	seq_printf(m, "left out          %llu\n", left_out);
	seq_printf(m, "epochs            %u, cut short %u\n", accesses.epochs, accesses.resets);
	seq_printf(m, "shadow pages      %u of %u\n", accesses.pages, accesses.max_pages);
	seq_printf(m, "probes            %u\n", accesses.probes);
	seq_printf(m, "plans             %u\n", ls_confirm_plans());
	for (i = 0; i < LS_NR_LOSSES; i++)
		seq_printf(m, "lost %-14s%llu\n", losses[i], info.losses[i]);
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return open_text(file, stats_show);
}

static const struct file_operations stats_fops = {
	.owner = THIS_MODULE, .open = stats_open, .read = seq_read, .llseek = seq_lseek,
	.release = single_release,
};

static int primitives_show(struct seq_file *m, void *unused)
{
	static const char *const states[LS_NR_PRIM_STATES] = { LS_PRIM_STATE_NAMES };
	u32 i;

	for (i = 0; i < LS_NR_PRIMS; i++) {
		struct ls_prim_info p = { };

		ls_prims_info(i, &p);
		seq_printf(m, "%-32s %-12s %s", p.function, ls_kind_name(p.kind),
			   p.state < ARRAY_SIZE(states) ? states[p.state] : "?");
		if (p.error)
			seq_printf(m, " (%d)", p.error);
		seq_putc(m, '\n');
	}
	return 0;
}

static int primitives_open(struct inode *inode, struct file *file)
{
	return open_text(file, primitives_show);
}

static const struct file_operations primitives_fops = {
	.owner = THIS_MODULE, .open = primitives_open, .read = seq_read, .llseek = seq_lseek,
	.release = single_release,
};

void ls_debugfs_init(void)
{
	dir = debugfs_create_dir("lockscope", NULL);
	debugfs_create_file("findings_total", 0400, dir, NULL, &findings_fops);
	debugfs_create_file("reset", 0200, dir, NULL, &reset_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("primitives", 0400, dir, NULL, &primitives_fops);
}

void ls_debugfs_exit(void)
{
	debugfs_remove(dir);
}
