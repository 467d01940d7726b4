// SPDX-License-Identifier: GPL-2.0
/*
 * Selection of watched pages: all of them, or a sample for each epoch. Worker and process
 * context.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "check/access/access.h"
#include "check/confirm.h"
#include "hook/hook.h"
#include "out/out.h"
#include "out/races/accesses.h"

char *ls_accesses = "sampled";
uint ls_access_share = 16;
uint ls_access_epoch_ms = 500;

#define ERA (HZ / 20)			/* after which code may add memory to the sample again */

static DEFINE_MUTEX(mode_mutex);	/* what is watched */
static u32 mode, share, epoch_ms, epochs, resets;
static unsigned long epoch_end, era_end;
static u64 pages_lost;			/* at the start of the epoch */
static u32 stamps_from;			/* stamp clock when the shadow was last reset */

static u64 sum_lost(u32 why)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(ls_access_cpus, cpu).losses[why]);
	return sum;
}

/* Restart the sample; @on: watch what the mode selects. */
static void watch(bool on)
{
	bool sampled = mode == LS_ACCESSES_SAMPLED;

	ls_sample_epoch(&ls_sample, on && mode != LS_ACCESSES_OFF ? sampled ? share : 1 : 0,
			epochs & (share - 1), on && sampled);
}

static bool stamps_due(void)
{
	return ls_stamps_due(ls_load(&ls_acc->sync), stamps_from);
}

/* Reset the shadow, and watch the next selection. mode_mutex held. */
static void new_epoch(void)
{
	lockdep_assert_held(&mode_mutex);
	/* If nothing was watched there is nothing to wait for, and nothing to reset. */
	if (mode != LS_ACCESSES_SAMPLED || !epochs || ls_load(&ls_acc->nr_pages) || stamps_due()) {
		watch(false);
		synchronize_rcu();
		/* A side of a race waits with its lockset, which is gone then. */
		ls_confirm_pause();
		ls_access_forget_all();
		ls_confirm_resume();
		stamps_from = ls_load(&ls_acc->sync);
		pages_lost = sum_lost(LS_ALOSS_PAGES);
	}
	epoch_end = jiffies + msecs_to_jiffies(epoch_ms);
	if (mode == LS_ACCESSES_OFF)
		return;
	epochs++;
	watch(true);
	ls_access_provide();
}

/* mode_mutex held. */
static void fill_info(struct ls_access_info *info)
{
	u32 i;
	int cpu;

	*info = (struct ls_access_info){
		.mode = mode, .share = share, .epoch_ms = epoch_ms, .epochs = epochs,
		.pages = READ_ONCE(ls_acc->nr_pages), .max_pages = ls_acc->max_pages,
		.page_bytes = sizeof(struct ls_shadow_page),
		.locksets = READ_ONCE(ls_acc->sets.nr), .max_locksets = ls_acc->sets.max,
		.sites = READ_ONCE(ls_acc->nr_sites), .max_sites = LS_MAX_SITES - 1,
		.resets = resets, .races = ls_races_count(), .probes = ls_probes_armed(),
		.max_probes = ls_max_probes, .watchpoints = ls_watchpoints_armed(),
		.caught = ls_watchpoints_caught(),
	};
	for (i = 0; i < LS_NR_ALOSSES; i++)
		info->losses[i] = sum_lost(i);
	for_each_possible_cpu(cpu) {
		info->seen += READ_ONCE(per_cpu(ls_access_cpus, cpu).seen);
		info->handovers += READ_ONCE(per_cpu(ls_access_cpus, cpu).handovers);
		info->probe_hits += READ_ONCE(per_cpu(ls_access_cpus, cpu).probe_hits);
	}
}

/* Called in every round of the worker. */
void ls_epochs_work(void)
{
	struct ls_access_info info;
	bool full;

	mutex_lock(&mode_mutex);
	if (mode != LS_ACCESSES_OFF) {
		ls_access_provide();
		full = ls_acc->sets.nr > ls_acc->sets.max / 8 * 7 ||
		       (ls_acc->nr_pages >= ls_acc->max_pages && sum_lost(LS_ALOSS_PAGES) != pages_lost);
		full |= stamps_due();
		if (full)
			resets++;
		if (full || (mode == LS_ACCESSES_SAMPLED && time_after(jiffies, epoch_end)))
			new_epoch();
		if (mode == LS_ACCESSES_SAMPLED && time_after_eq(jiffies, era_end)) {
			ls_sample_era(&ls_sample);
			era_end = jiffies + ERA;
		}
	}
	fill_info(&info);
	mutex_unlock(&mode_mutex);
	ls_anchor_accesses(&info);
}

/* How long the worker may sleep without a wake-up, in jiffies. */
long ls_races_pause(void)
{
	return ls_load(&ls_sample.taken) ? ERA : HZ / 4;
}

/* Reset the shadow. No hook runs. */
void ls_epochs_forget(void)
{
	mutex_lock(&mode_mutex);
	ls_watchpoints_forget(0, ~0ul);
	new_epoch();
	mutex_unlock(&mode_mutex);
}

/* For debugfs and the device. */
void ls_access_info_fill(struct ls_access_info *info)
{
	/* Arming probes takes long; the worker must not wait for it. */
	u64 missed = ls_probes_missed();

	mutex_lock(&mode_mutex);
	fill_info(info);
	mutex_unlock(&mode_mutex);
	info->losses[LS_ALOSS_PROBES] += missed;
}

/* LS_IOC_ACCESS_CTL. Process context. */
int ls_epochs_set(const struct ls_access_ctl *ctl)
{
	if (ctl->mode > LS_ACCESSES_ALL + 1 || ctl->share > LS_BLOCKS || ctl->share & (ctl->share - 1) ||
	    (ctl->epoch_ms && (ctl->epoch_ms < 10 || ctl->epoch_ms > 3600000)) || ctl->watchpoints > 2)
		return -EINVAL;
	mutex_lock(&mode_mutex);
	if (ctl->mode)
		mode = ctl->mode - 1;
	if (ctl->share)
		share = ctl->share;
	if (ctl->epoch_ms)
		epoch_ms = ctl->epoch_ms;
	if (ctl->watchpoints)
		ls_watchpoints_use(ctl->watchpoints == 2);
	new_epoch();
	mutex_unlock(&mode_mutex);
	return 0;
}

/* Begin to watch. Process context. */
int ls_epochs_start(void)
{
	static const char *const modes[LS_NR_ACCESS_MODES] = { LS_ACCESS_MODE_NAMES };
	int m = match_string(modes, ARRAY_SIZE(modes), ls_accesses);

	if (m < 0) {
		pr_err("accesses=%s: must be off, sampled or all\n", ls_accesses);
		return -EINVAL;
	}
	mutex_lock(&mode_mutex);
	mode = m;
	share = rounddown_pow_of_two(clamp(ls_access_share, 1u, LS_BLOCKS));
	epoch_ms = clamp(ls_access_epoch_ms, 10u, 3600000u);
	new_epoch();
	mutex_unlock(&mode_mutex);
	return 0;
}

/* Nothing is watched after this. */
void ls_epochs_stop(void)
{
	mutex_lock(&mode_mutex);
	mode = LS_ACCESSES_OFF;
	watch(false);
	mutex_unlock(&mode_mutex);
	synchronize_rcu();
}
