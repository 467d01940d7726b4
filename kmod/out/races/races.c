// SPDX-License-Identifier: GPL-2.0
/* Accesses and races in the log: the worker's half of memory accesses. Worker only. */
#include <linux/kernel.h>
#include <linux/string.h>

#include "base/lookup.h"
#include "base/memory.h"
#include "check/access/access.h"
#include "check/access/race_side.h"
#include "core/trace.h"
#include "hook/hook.h"
#include "out/console/splat.h"
#include "out/out.h"
#include "out/races/accesses.h"
#include "tagtab.h"
#include "races.h"

uint ls_shadow_mb = 48;

static struct ls_tagtab reported;	/* two functions, data -> 1 */
static u32 nr_races;
static u32 *places;			/* offset in the log, in units of 8, of LS_REC_ACCESS by id */

static void take_access(struct ls_rec_access *a)
{
	struct ls_access_object *o = (struct ls_access_object *)&a->guards[a->nr_guards];
	u32 frames = a->hdr.flags;
	u64 at;

	a->data = ls_data_id(o, &a->offset);
	a->hdr.flags = 0;
	a->hdr.len = sizeof(*a) + a->nr_guards * sizeof(a->guards[0]);
	a->stack = ls_worker_stack_id((u64 *)(o + 1), frames);
	if (!ls_log_append(a, a->hdr.len, NULL, 0, &at))
		return;
	places[a->id] = at / 8 + 1;
}

/* The first access at site @id, with room for LS_LOCKSET_LOCKS guards. */
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
	return (struct ls_race_place){ a, ls_function_of(a->ip) };
}

/*
 * Races whose access sites are not logged yet: their records are in another CPU's ring, and
 * known when all rings were drained.
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

/* Called in every round of the worker, when the rings were drained. */
void ls_races_work(void)
{
	u32 i;

	for (i = 0; i < nr_early; i++)
		take_race(&early[i], true);
	nr_early = 0;
	ls_epochs_work();
}

/* LS_CTL_RESET: forget findings and shadow. No hook runs. */
void ls_races_forget(void)
{
	memset(reported.slots, 0, sizeof(u64) * (reported.mask + 1));
	memset(places, 0, sizeof(u32) * LS_MAX_SITES);
	memset(ls_acc->sites.slots, 0, sizeof(u64) * (ls_acc->sites.mask + 1));
	memset(ls_acc->counts, 0, sizeof(ls_acc->counts));
	ls_acc->nr_sites = 0;
	ls_data_forget();
	nr_races = nr_early = 0;
	ls_access_report_again();
	ls_epochs_forget();
}

u32 ls_races_count(void)
{
	return nr_races;
}

/* Called when the hooks are attached. Process context. */
int ls_races_start(void)
{
	ls_probes_init();
	ls_access_site_init();
	if (ls_watchpoints_init())
		return -ENOMEM;
	return ls_epochs_start();
}

/* Nothing is watched after this. */
void ls_races_stop(void)
{
	ls_probes_exit();
	ls_watchpoints_exit();
	ls_epochs_stop();
}

int ls_races_init(void)
{
	int rc = ls_data_init();

	rc = rc ? rc : ls_worker_tagtab(&reported, 14);
	places = ls_zalloc(array_size(LS_MAX_SITES, sizeof(*places)));
	if (rc || !places)
		return -ENOMEM;
	return ls_access_init(clamp(ls_shadow_mb, 1u, 2048u));
}

void ls_races_exit(void)
{
	ls_access_exit();
	ls_data_exit();
	ls_free(reported.slots);
	ls_free(places);
}
