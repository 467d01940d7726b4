// SPDX-License-Identifier: GPL-2.0
/*
 * The thread's half of memory accesses: names of data, the log's records, races,
 * and which pages are watched when. Thread only (work_mutex held), but for the
 * ioctls.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "check/access/access.h"
#include "lockscope.h"
#include "out/accesses.h"
#include "races.h"
#include "core/trace.h"

static uint shadow_mb = 48;
module_param(shadow_mb, uint, 0400);
MODULE_PARM_DESC(shadow_mb, "most memory for the shadow of watched pages, in MiB (default 48)");

static char *accesses = "sampled";
module_param(accesses, charp, 0400);
MODULE_PARM_DESC(accesses, "memory accesses to judge: off, sampled (default) or all");

static uint access_share = 16;
module_param(access_share, uint, 0400);
MODULE_PARM_DESC(access_share, "sampled: one 32 KiB block of memory in so many is watched at a time, a power of two up to 4096 (default 16)");

static uint access_epoch_ms = 500;
module_param(access_epoch_ms, uint, 0400);
MODULE_PARM_DESC(access_epoch_ms, "sampled: for so many milliseconds (default 500)");

#define DATA_BITS 15
#define MAX_DATA (1u << DATA_BITS)
#define ERA (HZ / 20)			/* after which code may take memory into the watch again */

static DEFINE_MUTEX(mode_mutex);	/* what is watched */
static u32 mode, share, epoch_ms, epochs, resets;
static unsigned long epoch_end, era_end;
static u64 pages_lost;			/* when the epoch began */
static u32 stamps_from;			/* the clock of stamps, when all was forgotten */

static struct ls_tagtab data_ids;	/* symbol, cache or site -> id */
static struct ls_tagtab reported;	/* two functions, data -> 1 */
static DECLARE_BITMAP(objects, MAX_DATA);	/* ids of memory that is allocated as objects */
static u32 nr_data, nr_races;
static u32 *places;			/* offset in the log, in units of 8, of LS_REC_ACCESS by id */

static u64 sum_lost(u32 why)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(ls_access_cpus, cpu).losses[why]);
	return sum;
}

/* Nobody takes anything into the watch, and what is watched is what was asked for. */
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

/* Forget the shadow, and watch what is next. mode_mutex held. */
static void new_epoch(void)
{
	/* Where nothing was seen there is nothing to wait for, and nothing to forget. */
	if (mode != LS_ACCESSES_SAMPLED || !epochs || ls_load(&ls_acc->nr_pages) || stamps_due()) {
		watch(false);
		synchronize_rcu();
		ls_access_forget_all();
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

/* The data of an access: its id, and where in it the access begins. */
static u32 data_id(const struct ls_access_object *o, u32 *offset)
{
	struct ls_rec_data rec = {
		.hdr = { sizeof(rec), LS_REC_DATA }, .object_size = o->size, .kind = o->kind,
	};
	unsigned long at = o->type, rest = 0;
	u64 key;
	u32 id;

	ls_name_data(o->kind, o->type, o->label, rec.name, rec.module, &rest);
	if (o->kind == LS_DATA_STATIC || o->kind == LS_DATA_PERCPU) {
		*offset += rest;
		at -= rest;
	}
	key = ls_mix(ls_mix(at) + o->kind);
	id = ls_tagtab_find(&data_ids, key);
	if (id)
		return id;
	if (nr_data + 1 >= MAX_DATA) {
		ls_lose_access(LS_ALOSS_SITES);
		return 0;
	}
	rec.id = ++nr_data;
	if (o->kind == LS_DATA_SLAB || o->kind == LS_DATA_ALLOC)
		__set_bit(rec.id, objects);
	ls_log_append(&rec, sizeof(rec), NULL, 0, NULL);
	ls_tagtab_insert(&data_ids, key, rec.id);
	return rec.id;
}

/* Is data @id an object of a cache or an allocation? Worker only. */
bool ls_races_object(u32 id)
{
	return id < MAX_DATA && test_bit(id, objects);
}

static void take_access(struct ls_rec_access *a)
{
	struct ls_access_object *o = (struct ls_access_object *)&a->guards[a->nr_guards];
	u32 frames = a->hdr.flags;
	u64 at;

	a->data = data_id(o, &a->offset);
	a->hdr.flags = 0;
	a->hdr.len = sizeof(*a) + a->nr_guards * sizeof(a->guards[0]);
	a->stack = ls_worker_stack_id((u64 *)(o + 1), frames);
	if (!ls_log_append(a, a->hdr.len, NULL, 0, &at))
		return;
	places[a->id] = at / 8 + 1;
}

/* Access @id as it was first seen, with LS_LOCKSET_LOCKS of room for its guards. */
bool ls_access_get(u32 id, struct ls_rec_access *a, struct ls_guard_rec *guards)
{
	u64 at;

	if (!id || id >= LS_MAX_SITES || !places[id])
		return false;
	at = (u64)(places[id] - 1) * 8;
	return ls_log_read(at, a, sizeof(*a)) && a->nr_guards <= LS_LOCKSET_LOCKS &&
	       ls_log_read(at + sizeof(*a), guards, a->nr_guards * sizeof(*guards));
}

static struct ls_race_place place_of(const struct ls_rec_access *a)
{
	unsigned long size, offset;

	if (ls_size_offset && ls_size_offset(a->ip, &size, &offset))
		return (struct ls_race_place){ a, a->ip - offset };
	return (struct ls_race_place){ a, a->ip };
}

/*
 * Races that came before the records of their sides: those lie in another CPU's
 * ring, and are there when all rings have been drained.
 */
#define MAX_EARLY 64
static struct ls_race_event early[MAX_EARLY];
static u32 nr_early;

static void keep_for_later(const struct ls_race_event *e)
{
	if (nr_early == MAX_EARLY)
		ls_lose_access(LS_ALOSS_EVENTS);
	else
		early[nr_early++] = *e;
}

static void take_race(struct ls_race_event *e, bool again)
{
	struct ls_rec_race *race = &e->race;
	static struct ls_guard_rec guards[2][LS_LOCKSET_LOCKS];
	struct ls_rec_access a, b;
	const struct ls_rec_access *const accesses[] = { &a, &b };
	const struct ls_guard_rec *const both[] = { guards[0], guards[1] };
	struct ls_race_place first, second;

	race->hdr.len = sizeof(*race) + race->nr * sizeof(race->history[0]);
	if (!ls_access_get(race->first, &a, guards[0]) || !ls_access_get(race->second, &b, guards[1])) {
		if (again)
			ls_lose_access(LS_ALOSS_EVENTS);
		else
			keep_for_later(e);
		return;
	}
	first = place_of(&a);
	second = place_of(&b);
	race->id = ls_worker_findings() + 1;
	switch (ls_race_take(&reported, &first, &second, race->flags, &race->id)) {
	case LS_RACE_KNOWN:
		return;
	case LS_RACE_MORE:
		ls_log_append(race, race->hdr.len, NULL, 0, NULL);
		ls_sides_log(e, accesses, both);
		return;
	case LS_RACE_NO_ROOM:
		ls_lose_access(LS_ALOSS_EVENTS);
		return;
	case LS_RACE_NEW:
		break;
	}
	nr_races++;
	ls_worker_new_finding();
	ls_log_append(race, race->hdr.len, NULL, 0, NULL);
	ls_sides_log(e, accesses, both);
	ls_watchpoints_want(race->addr, b.size);
	trace_finding(race->id, LS_FINDING_RACE, 2, "");
	if (ls_splat)
		ls_splat_race(e);
}

/* An event about accesses. */
void ls_races_take(struct ls_event *e)
{
	struct ls_rec *rec = (struct ls_rec *)(e + 1);

	switch (rec->type) {
	case LS_REC_ACCESS:
		take_access((struct ls_rec_access *)rec);
		break;
	case LS_REC_RACE:
		take_race((struct ls_race_event *)rec, false);
		break;
	case LS_REC_HISTORY:
		rec->len = sizeof(struct ls_rec_history);
		ls_log_append(rec, rec->len, NULL, 0, NULL);
		break;
	}
}

/* Every round of the thread, when the rings have been drained. */
void ls_races_work(void)
{
	bool full;
	u32 i;

	for (i = 0; i < nr_early; i++)
		take_race(&early[i], true);
	nr_early = 0;

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
	mutex_unlock(&mode_mutex);
}

/* How long the thread may sleep when nobody wakes it, in jiffies. */
long ls_races_pause(void)
{
	return ls_load(&ls_sample.taken) ? ERA : HZ / 4;
}

/* LS_CTL_RESET: findings and shadow are forgotten. No hook runs. */
void ls_races_forget(void)
{
	mutex_lock(&mode_mutex);
	memset(reported.slots, 0, sizeof(u64) * (reported.mask + 1));
	memset(data_ids.slots, 0, sizeof(u64) * (data_ids.mask + 1));
	memset(places, 0, sizeof(u32) * LS_MAX_SITES);
	memset(ls_acc->sites.slots, 0, sizeof(u64) * (ls_acc->sites.mask + 1));
	memset(ls_acc->counts, 0, sizeof(ls_acc->counts));
	ls_acc->nr_sites = 0;
	bitmap_zero(objects, MAX_DATA);
	nr_data = nr_races = nr_early = 0;
	ls_watchpoints_forget(0, ~0ul);
	ls_access_untell();
	new_epoch();
	mutex_unlock(&mode_mutex);
}

static long set_sites(const void *who, struct ls_sites_req __user *arg)
{
	struct ls_sites_req req;
	struct ls_site *sites = NULL;
	u32 armed = 0;
	long rc = 0;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (req.nr > ls_max_probes)
		return -E2BIG;
	/* As with the kernel's own ways to probes. */
	if (req.nr && security_locked_down(LOCKDOWN_KPROBES))
		return -EPERM;
	if (req.nr) {
		sites = ls_zalloc(array_size(req.nr, sizeof(*sites)));
		if (!sites)
			return -ENOMEM;
		if (copy_from_user(sites, (void __user *)req.buf, req.nr * sizeof(*sites)))
			rc = -EFAULT;
	}
	rc = rc ? rc : ls_probes_set(sites, req.nr, &armed, who);
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
		.resets = resets, .races = nr_races, .probes = ls_probes_armed(),
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

/* For debugfs and the device. */
void ls_access_info_fill(struct ls_access_info *info)
{
	/* Whoever arms probes takes long; the thread is not to wait for that. */
	u64 missed = ls_probes_missed();

	mutex_lock(&mode_mutex);
	fill_info(info);
	mutex_unlock(&mode_mutex);
	info->losses[LS_ALOSS_PROBES] += missed;
}

static int set_mode(const struct ls_access_ctl *ctl)
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

/* LS_IOC_ACCESS_*, LS_IOC_FOLLOW, LS_IOC_SITES, LS_IOC_SITE_HITS. @who: the open file. */
long ls_access_ioctl(const void *who, unsigned int cmd, void __user *arg)
{
	struct ls_access_info info = { };
	struct ls_access_ctl ctl;
	struct ls_follow_req req;

	switch (cmd) {
	case LS_IOC_ACCESS_INFO:
		ls_access_info_fill(&info);
		return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
	case LS_IOC_ACCESS_CTL:
		return copy_from_user(&ctl, arg, sizeof(ctl)) ? -EFAULT : set_mode(&ctl);
	case LS_IOC_ACCESS_COUNTS:
		return read_counts(arg);
	case LS_IOC_FOLLOW:
		return copy_from_user(&req, arg, sizeof(req)) ? -EFAULT : follow(&req);
	case LS_IOC_SITES:
		return set_sites(who, arg);
	case LS_IOC_SITE_HITS:
		return read_hits(arg);
	}
	return -ENOTTY;
}

/* The hooks are there: begin to watch. */
int ls_races_start(void)
{
	static const char *const modes[] = { "off", "sampled", "all" };
	int m = match_string(modes, ARRAY_SIZE(modes), accesses);

	if (m < 0) {
		pr_err("lockscope: accesses=%s: must be off, sampled or all\n", accesses);
		return -EINVAL;
	}
	ls_probes_init();
	ls_access_site_init();
	if (ls_watchpoints_init())
		return -ENOMEM;
	mutex_lock(&mode_mutex);
	mode = m;
	share = rounddown_pow_of_two(clamp(access_share, 1u, LS_BLOCKS));
	epoch_ms = clamp(access_epoch_ms, 10u, 3600000u);
	new_epoch();
	mutex_unlock(&mode_mutex);
	return 0;
}

/* Nothing is watched from here on. */
void ls_races_stop(void)
{
	ls_probes_exit();
	ls_watchpoints_exit();
	mutex_lock(&mode_mutex);
	mode = LS_ACCESSES_OFF;
	watch(false);
	mutex_unlock(&mode_mutex);
	synchronize_rcu();
}

int ls_races_init(void)
{
	void *ids = ls_zalloc(ls_tagtab_bytes(DATA_BITS + 1)), *told = ls_zalloc(ls_tagtab_bytes(14));

	places = ls_zalloc(array_size(LS_MAX_SITES, sizeof(*places)));
	if (!ids || !told || !places) {
		ls_free(ids);
		ls_free(told);
		return -ENOMEM;
	}
	ls_tagtab_init(&data_ids, ids, DATA_BITS + 1);
	ls_tagtab_init(&reported, told, 14);
	return ls_access_init(clamp(shadow_mb, 1u, 2048u));
}

void ls_races_exit(void)
{
	ls_access_exit();
	ls_free(data_ids.slots);
	ls_free(reported.slots);
	ls_free(places);
}
